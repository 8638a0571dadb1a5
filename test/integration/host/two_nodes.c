/* SPDX-License-Identifier: BSD-3-Clause */
/* two_nodes CLIENT ARGS...: a job of four ranks on "two nodes": two server processes
 * on this machine, which exchange the contributions to fences and the data for
 * direct modex over a pair of sockets, as resource managers do over a network.
 * NODE_LIBRARY_0, NODE_LIBRARY_1: the folder of libpmix for each node's server and
 * ranks. */
#include "host.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define NSPACE  "two-nodes"
#define RANKS   4
#define BIGGEST (64u << 20)
#define WAIT_S  60

enum kind { FENCE = 1, ASK, TELL, DONE };

struct head {
    uint32_t kind;
    uint32_t n;  /* bytes that follow */
    uint64_t id; /* of a question, and its answer: the asker's */
    int32_t status;
    pmix_proc_t proc;     /* of ASK */
    char signature[1024]; /* of FENCE: who takes part */
};

/* One side's contribution to a fence: the first that has a counterpart is complete. */
struct part {
    struct part *next;
    char signature[1024];
    char *data;
    size_t n;
    pmix_modex_cbfunc_t cb; /* NULL: the other node's part */
    void *cbdata;
};

struct question {
    pmix_modex_cbfunc_t cb;
    void *cbdata;
};

static struct {
    int id, fd;
    pthread_mutex_t lock;
    struct part *parts;
    volatile int other_done;
} node = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- between the nodes ----------------------------------------------------------- */

static void write_all(const void *data, size_t n)
{
    const char *p = data;

    while (n > 0) {
        ssize_t k = send(node.fd, p, n, MSG_NOSIGNAL);

        HOST_CHECK(k > 0 || errno == EINTR);
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        }
    }
}

static bool read_all(void *data, size_t n)
{
    char *p = data;

    while (n > 0) {
        ssize_t k = recv(node.fd, p, n, 0);

        if (k == 0 || (k < 0 && errno != EINTR))
            return false;
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        }
    }
    return true;
}

static void tell_other(const struct head *h, const void *data)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&one_at_a_time);
    write_all(h, sizeof *h);
    write_all(data, h->n);
    pthread_mutex_unlock(&one_at_a_time);
}

/* ---- fences ---------------------------------------------------------------------- */

static struct part *take_part(const char *signature, bool ours)
{
    for (struct part **p = &node.parts; *p; p = &(*p)->next) {
        struct part *found = *p;

        if (!found->cb == !ours && strcmp(found->signature, signature) == 0) {
            *p = found->next;
            return found;
        }
    }
    return NULL;
}

static void keep_part(struct part *part)
{
    struct part **last = &node.parts;

    while (*last)
        last = &(*last)->next;
    *last = part;
}

/* Contributions in the order of the nodes, the same everywhere. */
static void complete(struct part *own, struct part *other)
{
    const struct part *a = node.id == 0 ? own : other, *b = node.id == 0 ? other : own;
    char *whole = host_alloc(a->n + b->n + 1);

    if (a->n)
        memcpy(whole, a->data, a->n);
    if (b->n)
        memcpy(whole + a->n, b->data, b->n);
    own->cb(PMIX_SUCCESS, whole, a->n + b->n, own->cbdata, free, whole);
    free(own->data);
    free(own);
    free(other->data);
    free(other);
}

static void add_part(const char *signature, const char *data, size_t n,
                     pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct part *part = host_alloc(sizeof *part), *match;

    *part = (struct part){.n = n, .cb = cb, .cbdata = cbdata};
    snprintf(part->signature, sizeof part->signature, "%s", signature);
    part->data = host_alloc(n + 1);
    if (n)
        memcpy(part->data, data, n);
    pthread_mutex_lock(&node.lock);
    match = take_part(signature, cb == NULL);
    if (!match)
        keep_part(part);
    pthread_mutex_unlock(&node.lock);
    if (match)
        complete(cb ? part : match, cb ? match : part);
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct head h = {.kind = FENCE, .n = (uint32_t)n};
    size_t len = 0;

    for (size_t i = 0; i < n_procs; i++)
        len += (size_t)snprintf(h.signature + len, sizeof h.signature - len, "%s:%d ",
                                procs[i].nspace, (int)procs[i].rank);
    tell_other(&h, data);
    add_part(h.signature, data, n, cb, cbdata);
    free(data); /* the host's: so it is with every library */
    return PMIX_SUCCESS;
}

/* ---- direct modex ---------------------------------------------------------------- */

static pmix_status_t on_dmodex(const pmix_proc_t *proc, const pmix_info_t info[],
                               size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct question *q = host_alloc(sizeof *q);
    struct head h = {.kind = ASK, .proc = *proc};

    *q = (struct question){cb, cbdata};
    memcpy(&h.id, &q, sizeof q);
    tell_other(&h, NULL);
    return PMIX_SUCCESS;
}

static void on_data(pmix_status_t status, char *data, size_t n, void *arg)
{
    struct head *h = arg;

    h->kind = TELL;
    h->status = status;
    h->n = status == PMIX_SUCCESS ? (uint32_t)n : 0;
    tell_other(h, data);
    free(h);
}

static void answer_question(const struct head *asked)
{
    struct head *h = host_alloc(sizeof *h);
    pmix_status_t rc;

    *h = *asked;
    rc = PMIx_server_dmodex_request(&h->proc, on_data, h);
    if (rc != PMIX_SUCCESS)
        on_data(rc, NULL, 0, h);
}

static void hand_over(const struct head *h, char *data)
{
    struct question *q;

    memcpy(&q, &h->id, sizeof q);
    q->cb(h->status, data, h->n, q->cbdata, free, data);
    free(q);
}

static void *listen_to_other(void *unused)
{
    struct head h;

    while (read_all(&h, sizeof h)) {
        char *data = malloc(h.n + 1u);

        HOST_CHECK(h.n < BIGGEST && data && read_all(data, h.n));
        switch (h.kind) {
        case FENCE:
            add_part(h.signature, data, h.n, NULL, NULL);
            break;
        case ASK:
            answer_question(&h);
            break;
        case TELL:
            hand_over(&h, data); /* it frees the data */
            continue;
        case DONE:
            node.other_done = 1;
            break;
        }
        free(data);
    }
    node.other_done = 1;
    return NULL;
}

/* ---- a node ---------------------------------------------------------------------- */

static int run_node(int id, int fd, char *const argv[])
{
    pmix_server_module_t module = host_module;
    struct head done = {.kind = DONE};
    struct host_job job;
    pthread_t listener;
    int rc;

    node.id = id;
    node.fd = fd;
    module.fence_nb = on_fence;
    module.direct_modex = on_dmodex;
    host_answers(HOST_LATER);
    HOST_GOOD(host_init(&module));
    host_register_map(
        &job, NSPACE, RANKS,
        &(struct host_map){"nodeA,nodeB", "0,1;2,3", id ? "2,3" : "0,1", 2, 2, id});
    for (pmix_rank_t r = 0; r < 2; r++)
        HOST_GOOD(host_register_client(NSPACE, (pmix_rank_t)id * 2 + r, NULL));
    HOST_CHECK(pthread_create(&listener, NULL, listen_to_other, NULL) == 0);
    for (int r = 0; r < 2; r++)
        host_start_rank(&job, id * 2 + r, argv);
    rc = host_wait(&job, WAIT_S);
    tell_other(&done, NULL);
    for (int i = 0; i < WAIT_S * 100 && !node.other_done; i++)
        usleep(10000);
    host_deregister_nspace(NSPACE);
    shutdown(fd, SHUT_RDWR);
    pthread_join(listener, NULL);
    host_stop_answering();
    HOST_GOOD(PMIx_server_finalize());
    return rc;
}

/* Each in a process of its own, which is this program again. */
static pid_t start_node(int id, const int fds[2], char *argv[])
{
    char name[32], number[16], descriptor[16];
    char *args[64] = {argv[0], (char *)"--node", number, descriptor};
    const char *library;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    close(fds[1 - id]);
    snprintf(name, sizeof name, "NODE_LIBRARY_%d", id);
    library = getenv(name);
    if (library)
        setenv("LD_LIBRARY_PATH", library, 1);
    setenv("PMIX_HOSTNAME", id ? "nodeB" : "nodeA", 1);
    snprintf(number, sizeof number, "%d", id);
    snprintf(descriptor, sizeof descriptor, "%d", fds[id]);
    for (int i = 1; argv[i] && i < 50; i++)
        args[i + 3] = argv[i];
    execv("/proc/self/exe", args);
    _exit(127);
}

int main(int argc, char **argv)
{
    int fds[2], how, worst = 0;
    pid_t pids[2];

    if (argc > 4 && strcmp(argv[1], "--node") == 0)
        return run_node(atoi(argv[2]), atoi(argv[3]), argv + 4);
    if (argc < 2) {
        fprintf(stderr, "usage: two_nodes CLIENT ARGS...\n");
        return 2;
    }
    HOST_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    for (int id = 0; id < 2; id++)
        pids[id] = start_node(id, fds, argv);
    close(fds[0]);
    close(fds[1]);
    for (int id = 0; id < 2; id++) {
        HOST_CHECK(waitpid(pids[id], &how, 0) == pids[id]);
        how = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
        worst = how > worst ? how : worst;
    }
    return worst;
}
