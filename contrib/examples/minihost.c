/* SPDX-License-Identifier: BSD-3-Clause */
/* minihost N PROGRAM [ARGUMENT]...: a small host of two processes. Each is the PMIx
 * server of one "node" and starts N processes of one job; a socket connects the two.
 * The library runs in their libevent loop, so each has one thread, and no function
 * below needs a lock. docs/integrating-a-host.md goes through this file. */
#include <event2/event.h>
#include <pmix_server.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                               \
    do {                                                                          \
        pmix_status_t rc_ = (call);                                               \
        if (rc_ != PMIX_SUCCESS && rc_ != PMIX_OPERATION_SUCCEEDED) {             \
            fprintf(stderr, "minihost: %s: %s\n", #call, PMIx_Error_string(rc_)); \
            exit(EXIT_FAILURE);                                                   \
        }                                                                         \
    } while (0)

static struct event_base *base;
static int node, peer; /* 0 or 1; the socket to the other host */
static pid_t second;   /* the other host, in the first one */
static unsigned n_running, n_jobs;
static int exit_status;

/* ---- jobs ------------------------------------------------------------------------ */

struct job {
    pmix_nspace_t nspace;
    uint32_t size, first, n; /* processes in all; first rank and number on this node */
    char *const *argv;       /* the caller's, until the job has started */
    uint32_t n_registered;
    pmix_info_t info[2]; /* the library borrows it until the namespace is registered */
    char *peers;
    pmix_spawn_cbfunc_t done; /* NULL: not the job of a PMIx_Spawn */
    void *cbdata;
};

/* Starts one process with the variables by which its library finds this server. */
static pmix_status_t start_process(const struct job *job, pmix_rank_t rank)
{
    char **env = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, job->nspace, rank);
    pmix_status_t rc = PMIx_server_setup_fork(&proc, &env);
    pid_t pid = rc ? -1 : fork();
    if (pid == 0) {
        for (char **e = env; e && *e; e++)
            putenv(*e);
        execvp(job->argv[0], job->argv);
        perror(job->argv[0]);
        _exit(127);
    }
    n_running += pid > 0;
    PMIx_Argv_free(env);
    return rc ? rc : pid > 0 ? PMIX_SUCCESS : PMIX_ERR_JOB_FAILED_TO_LAUNCH;
}

static void end_registration(struct job *job, pmix_status_t rc)
{
    for (uint32_t i = 0; !rc && i < job->n; i++)
        rc = start_process(job, job->first + i);
    if (job->done)
        job->done(rc, job->nspace, job->cbdata);
    else
        CHECK(rc);
    PMIX_INFO_DESTRUCT(&job->info[1]); /* its text */
    free(job->peers);
    free(job);
}

static void on_client(pmix_status_t rc, void *cbdata)
{
    struct job *job = cbdata;

    CHECK(rc);
    if (++job->n_registered == job->n)
        end_registration(job, PMIX_SUCCESS);
}

static void on_nspace(pmix_status_t rc, void *cbdata)
{
    struct job *job = cbdata;
    const uint32_t n = job->n, first = job->first;

    if (rc && rc != PMIX_OPERATION_SUCCEEDED) {
        end_registration(job, rc);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        pmix_proc_t proc;

        PMIX_LOAD_PROCID(&proc, job->nspace, first + i);
        rc = PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, on_client,
                                         job);
        if (rc) /* PMIX_OPERATION_SUCCEEDED: done, without a call of on_client */
            on_client(rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc, job);
    }
}

/* Registers and starts a job. The library needs its name, its size and the ranks of
 * this node; all other information is optional. */
static pmix_status_t begin_job(const char *nspace, uint32_t size, uint32_t first,
                               uint32_t n, char *const *argv, pmix_spawn_cbfunc_t done,
                               void *cbdata)
{
    struct job *job = calloc(1, sizeof(*job));
    const size_t room = 12 * (size_t)n;
    size_t at = 0;

    if (!job || !(job->peers = malloc(room)))
        return PMIX_ERR_NOMEM;
    PMIX_LOAD_NSPACE(job->nspace, nspace);
    job->size = size;
    job->first = first;
    job->n = n;
    job->argv = argv;
    job->done = done;
    job->cbdata = cbdata;
    for (uint32_t i = 0; i < n; i++)
        at += (size_t)snprintf(job->peers + at, room - at, "%s%u", i ? "," : "",
                               first + i);
    PMIX_INFO_LOAD(&job->info[0], PMIX_JOB_SIZE, &job->size, PMIX_UINT32);
    PMIX_INFO_LOAD(&job->info[1], PMIX_LOCAL_PEERS, job->peers, PMIX_STRING);
    pmix_status_t rc = PMIx_server_register_nspace(job->nspace, (int)n, job->info, 2,
                                                   on_nspace, job);
    if (rc) /* done or failed, without a call of on_nspace */
        on_nspace(rc, job);
    return PMIX_SUCCESS;
}

/* Collects ended processes, and leaves the loop after the last one of this node. */
static void on_child(evutil_socket_t signum, short what, void *arg)
{
    int status;
    pid_t pid;

    (void)signum, (void)what, (void)arg;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == second)
            second = 0;
        else
            n_running--;
        if (status && !exit_status)
            exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    }
    if (n_running == 0)
        event_base_loopbreak(base);
}

/* ---- fences between the hosts ---------------------------------------------------- */

/* The fence of all processes in progress. The processes begin the next one only after
 * this one has ended, so there is one at a time. */
static struct fence {
    pmix_modex_cbfunc_t done; /* NULL: the processes of this node have not arrived */
    void *cbdata;
    char *bytes; /* their data, followed by the data of the other node */
    size_t n;
    char *other; /* data of the other node */
    size_t n_other;
    bool has_other;
} fence;

/* Sends or receives all bytes. A real host would not wait here. */
static bool transfer(bool sending, void *bytes, size_t n)
{
    for (char *at = bytes; n > 0;) {
        ssize_t m = sending ? send(peer, at, n, MSG_NOSIGNAL) : recv(peer, at, n, 0);

        if (m <= 0)
            return false;
        at += m;
        n -= (size_t)m;
    }
    return true;
}

/* Ends the fence when the data of both nodes are here. */
static void end_fence(void)
{
    if (!fence.done || !fence.has_other)
        return;
    const struct fence f = fence;
    char *all = realloc(f.bytes, f.n + f.n_other + 1);

    if (all)
        memcpy(all + f.n, f.other, f.n_other);
    free(f.other);
    memset(&fence, 0, sizeof(fence));
    f.done(all ? PMIX_SUCCESS : PMIX_ERR_NOMEM, all, all ? f.n + f.n_other : 0,
           f.cbdata, free, all);
}

/* Receives the length and the data of the other host. */
static void on_peer(evutil_socket_t fd, short what, void *arg)
{
    uint64_t n = 0;

    (void)fd, (void)what;
    if (!transfer(false, &n, sizeof(n)) || !(fence.other = malloc(n + 1)) ||
        !transfer(false, fence.other, n)) {
        event_del(*(struct event **)arg); /* the other host has left */
        return;
    }
    fence.n_other = n;
    fence.has_other = true;
    end_fence();
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t done, void *cbdata)
{
    uint64_t length = n;

    for (size_t i = 0; i < n_info; i++)
        if (PMIX_INFO_IS_REQUIRED(&info[i]) &&
            !PMIX_CHECK_KEY(&info[i], PMIX_COLLECT_DATA))
            return PMIX_ERR_NOT_SUPPORTED; /* others are advice */
    if (n_procs != 1 || procs[0].rank != PMIX_RANK_WILDCARD || fence.done)
        return PMIX_ERR_NOT_SUPPORTED;
    if (strcmp(procs[0].nspace, "minihost") != 0) { /* a spawned job is on one node */
        done(PMIX_SUCCESS, data, n, cbdata, free, data);
        return PMIX_SUCCESS;
    }
    if (!transfer(true, &length, sizeof(length)) || !transfer(true, data, n))
        return PMIX_ERR_UNREACH;
    fence.done = done;
    fence.cbdata = cbdata;
    fence.bytes = data; /* the host's, which frees it */
    fence.n = n;
    end_fence();
    return PMIX_SUCCESS;
}

/* PMIx_Spawn: one application, whose processes all run on this node. */
static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t info[],
                              size_t n_info, const pmix_app_t apps[], size_t n_apps,
                              pmix_spawn_cbfunc_t done, void *cbdata)
{
    char nspace[64];

    (void)proc;
    for (size_t i = 0; i < n_info; i++)
        if (PMIX_INFO_IS_REQUIRED(&info[i]))
            return PMIX_ERR_NOT_SUPPORTED;
    if (n_apps != 1 || apps[0].maxprocs < 1 || !apps[0].argv)
        return PMIX_ERR_NOT_SUPPORTED;
    snprintf(nspace, sizeof(nspace), "minihost-%d-%u", node, ++n_jobs);
    return begin_job(nspace, (uint32_t)apps[0].maxprocs, 0, (uint32_t)apps[0].maxprocs,
                     apps[0].argv, done, cbdata);
}

/* Functions that are missing are refused by the library with PMIX_ERR_NOT_SUPPORTED. */
static pmix_server_module_t module = {.fence_nb = on_fence, .spawn = on_spawn};

int main(int argc, char **argv)
{
    const uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    int ends[2], status = 0;
    pmix_info_t info[3];
    pmix_rank_t rank;
    struct event *child, *other;

    if (n < 1 || n > 1000 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        fprintf(stderr, "usage: minihost N PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    second = fork(); /* before the library has made anything */
    node = second == 0;
    peer = ends[node];
    close(ends[!node]);
    base = event_base_new();
    child = evsignal_new(base, SIGCHLD, on_child, NULL);
    other = event_new(base, peer, EV_READ | EV_PERSIST, on_peer, &other);
    event_add(child, NULL);
    event_add(other, NULL);
    rank = (pmix_rank_t)node;
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_NSPACE, "minihost-server", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[2], PMIX_EXTERNAL_AUX_EVENT_BASE, base, PMIX_POINTER);
    CHECK(PMIx_server_init(&module, info, 3));
    CHECK(begin_job("minihost", 2 * n, (uint32_t)node * n, n, argv + 2, NULL, NULL));
    event_base_dispatch(base); /* all else happens inside */
    CHECK(PMIx_server_finalize());
    event_free(child);
    event_free(other);
    event_base_free(base);
    if (second > 0 && waitpid(second, &status, 0) == second && !exit_status)
        exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    return exit_status;
}
