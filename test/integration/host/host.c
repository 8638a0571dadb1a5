/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking calls and jobs of the host, see host.h. The upcalls are in host_module.c. */
#include "host.h"

#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_JOBS 8
#define WAIT_S   20 /* limit for the library's callbacks */

extern char **environ;

static struct host_job *jobs[MAX_JOBS];
static struct {
    bool is_set;
    uid_t uid;
    gid_t gid;
} owner;

/* ---- blocking calls -------------------------------------------------------------- */

double host_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void *host_alloc(size_t size)
{
    void *p = calloc(1, size);

    HOST_CHECK(p);
    return p;
}

struct waiter {
    volatile int done;
    volatile pmix_status_t status;
};

static void on_done(pmix_status_t status, void *arg)
{
    struct waiter *w = arg;

    w->status = status;
    __atomic_store_n(&w->done, 1, __ATOMIC_SEQ_CST);
}

static pmix_status_t finish(struct waiter *w, pmix_status_t rc)
{
    double end = host_now_s() + WAIT_S;

    if (rc == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS)
        return rc;
    while (!__atomic_load_n(&w->done, __ATOMIC_SEQ_CST)) {
        HOST_CHECK(host_now_s() < end);
        usleep(1000);
    }
    return w->status;
}

pmix_status_t host_init(pmix_server_module_t *module)
{
    const char *dir = getenv("TMPDIR");
    bool shares = getenv("HOST_SHARES_TOPOLOGY") != NULL;
    pmix_info_t info[3];
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_SHARE_TOPOLOGY, &shares, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&info[2]);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, dir ? dir : "/tmp", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, dir ? dir : "/tmp", PMIX_STRING);
    rc = PMIx_server_init(module, info, shares ? 3 : 2);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    return rc;
}

pmix_status_t host_register_client(const char *nspace, pmix_rank_t rank, void *object)
{
    struct waiter w = {0};
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, nspace, rank);
    return finish(&w, PMIx_server_register_client(
                          &p, owner.is_set ? owner.uid : getuid(),
                          owner.is_set ? owner.gid : getgid(), object, on_done, &w));
}

void host_owner(uid_t uid, gid_t gid)
{
    owner.is_set = uid != geteuid() || gid != getegid();
    owner.uid = uid;
    owner.gid = gid;
}

void host_deregister_nspace(const char *nspace)
{
    struct waiter w = {0};

    PMIx_server_deregister_nspace(nspace, on_done, &w);
    (void)finish(&w, PMIX_SUCCESS);
}

void host_deregister_client(const char *nspace, pmix_rank_t rank)
{
    struct waiter w = {0};
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, nspace, rank);
    PMIx_server_deregister_client(&p, on_done, &w);
    (void)finish(&w, PMIX_SUCCESS);
}

pmix_byte_object_t host_pack_infos(pmix_info_t *info, size_t n)
{
    pmix_data_buffer_t buffer;
    pmix_byte_object_t bytes;

    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    HOST_GOOD(PMIx_Data_pack(NULL, &buffer, &n, 1, PMIX_SIZE));
    if (n)
        HOST_GOOD(PMIx_Data_pack(NULL, &buffer, info, (int32_t)n, PMIX_INFO));
    HOST_GOOD(PMIx_Data_unload(&buffer, &bytes));
    return bytes;
}

pmix_info_t *host_unpack_infos(pmix_byte_object_t bytes, size_t *n)
{
    pmix_data_buffer_t buffer;
    pmix_info_t *info = NULL;
    int32_t one = 1, many;

    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    HOST_GOOD(PMIx_Data_load(&buffer, &bytes)); /* owns the bytes from here on */
    HOST_GOOD(PMIx_Data_unpack(NULL, &buffer, n, &one, PMIX_SIZE));
    if (*n)
        PMIX_INFO_CREATE(info, *n);
    many = (int32_t)*n;
    if (*n)
        HOST_GOOD(PMIx_Data_unpack(NULL, &buffer, info, &many, PMIX_INFO));
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return info;
}

pmix_byte_object_t host_pack_app(const pmix_app_t *app)
{
    pmix_data_buffer_t buffer;
    pmix_byte_object_t bytes;

    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    HOST_GOOD(PMIx_Data_pack(NULL, &buffer, (void *)app, 1, PMIX_APP));
    HOST_GOOD(PMIx_Data_unload(&buffer, &bytes));
    return bytes;
}

pmix_app_t *host_unpack_app(pmix_byte_object_t bytes)
{
    pmix_data_buffer_t buffer;
    pmix_app_t *app;
    int32_t one = 1;

    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    HOST_GOOD(PMIx_Data_load(&buffer, &bytes)); /* owns the bytes from here on */
    PMIX_APP_CREATE(app, 1);
    HOST_GOOD(PMIx_Data_unpack(NULL, &buffer, app, &one, PMIX_APP));
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return app;
}

struct launch_info {
    struct waiter w;
    pmix_byte_object_t bytes;
};

static void on_launch_info(pmix_status_t status, pmix_info_t info[], size_t n,
                           void *arg, pmix_op_cbfunc_t cb, void *cbdata)
{
    struct launch_info *l = arg;

    l->bytes = host_pack_infos(info, n);
    if (cb)
        cb(PMIX_SUCCESS, cbdata);
    on_done(status, &l->w);
}

pmix_byte_object_t host_setup_application(const char *nspace, pmix_info_t *info,
                                          size_t n)
{
    struct launch_info l = {.w.done = 0};

    HOST_GOOD(finish(
        &l.w, PMIx_server_setup_application(nspace, info, n, on_launch_info, &l)));
    return l.bytes;
}

pmix_status_t host_setup_local_support(const char *nspace, pmix_info_t *info, size_t n)
{
    struct waiter w = {0};

    return finish(&w, PMIx_server_setup_local_support(nspace, info, n, on_done, &w));
}

pmix_status_t host_register_resources(pmix_info_t *info, size_t n)
{
    struct waiter w = {0};

    return finish(&w, PMIx_server_register_resources(info, n, on_done, &w));
}

/* ---- jobs ------------------------------------------------------------------------ */

static void load_u32(pmix_info_t *info, const char *key, uint32_t n)
{
    PMIX_INFO_LOAD(info, key, &n, PMIX_UINT32);
}

static void load_dir(pmix_info_t *info, const char *key, const char *top,
                     const char *below)
{
    char path[512];

    snprintf(path, sizeof(path), "%s%s", top, below);
    PMIX_INFO_LOAD(info, key, path, PMIX_STRING);
}

/* Fills an info with a value of a rank. The code avoids macros whose functions some libraries lack. */
static void load_of_rank(pmix_info_t *info, int r, const char *key, const void *value,
                         pmix_data_type_t type)
{
    pmix_rank_t rank = (pmix_rank_t)r;
    pmix_data_array_t array = {.type = PMIX_INFO, .size = 2};
    pmix_info_t *members;

    PMIX_INFO_CREATE(members, 2);
    PMIX_INFO_LOAD(&members[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&members[1], key, value, type);
    array.array = members;
    PMIX_INFO_LOAD(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(members, 2);
}

/* Fills infos with directories below HOST_DIRS, which may not exist. Returns the number of infos. */
static size_t load_dirs(pmix_info_t *info, int n)
{
    const char *top = getenv("HOST_DIRS");
    char path[512];

    if (!top)
        return 0;
    load_dir(&info[0], PMIX_TMPDIR, top, "");
    load_dir(&info[1], PMIX_NSDIR, top, "/job");
    for (int r = 0; r < n; r++) {
        snprintf(path, sizeof(path), "%s/job/%d", top, r);
        load_of_rank(&info[2 + r], r, PMIX_PROCDIR, path, PMIX_STRING);
    }
    return 2 + (size_t)n;
}

void host_register_map(struct host_job *job, const char *nspace, int n,
                       const struct host_map *map)
{
    pmix_info_t info[8 + 2 + 2 * HOST_MAX_RANKS];
    struct waiter w = {0};
    char *nodes, *ppn;
    size_t n_info;

    memset(job, 0, sizeof(*job));
    HOST_CHECK(n <= HOST_MAX_RANKS);
    snprintf(job->nspace, sizeof(job->nspace), "%s", nspace);
    job->size = n;
    for (int r = 0; r < n; r++)
        job->status[r] = -1;
    HOST_GOOD(PMIx_generate_regex(map->nodes, &nodes));
    HOST_GOOD(PMIx_generate_ppn(map->ranks, &ppn));
    load_u32(&info[0], PMIX_UNIV_SIZE, (uint32_t)n);
    load_u32(&info[1], PMIX_JOB_SIZE, (uint32_t)n);
    load_u32(&info[2], PMIX_LOCAL_SIZE, (uint32_t)map->n_local);
    load_u32(&info[3], PMIX_NUM_NODES, (uint32_t)map->n_nodes);
    load_u32(&info[4], PMIX_NODEID, (uint32_t)map->node);
    PMIX_INFO_LOAD(&info[5], PMIX_LOCAL_PEERS, map->local, PMIX_STRING);
    PMIX_INFO_LOAD(&info[6], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[7], PMIX_PROC_MAP, ppn, PMIX_REGEX);
    n_info = 8 + load_dirs(&info[8], n);
    for (int r = 0; map->parent && r < n; r++)
        load_of_rank(&info[n_info++], r, PMIX_PARENT_ID, map->parent, PMIX_PROC);
    HOST_GOOD(finish(&w, PMIx_server_register_nspace(nspace, map->n_local, info, n_info,
                                                     on_done, &w)));
    for (size_t i = 0; i < n_info; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    free(nodes);
    free(ppn);
}

void host_register_job_of(struct host_job *job, const char *nspace, int n, void *object)
{
    char ranks[HOST_MAX_RANKS * 4] = "", name[256] = "";

    gethostname(name, sizeof(name) - 1);
    for (int r = 0; r < n; r++)
        sprintf(ranks + strlen(ranks), "%s%d", r ? "," : "", r);
    host_register_map(job, nspace, n,
                      &(struct host_map){name, ranks, ranks, 1, n, 0, NULL});
    HOST_GOOD(host_setup_local_support(nspace, NULL, 0));
    for (int r = 0; r < n; r++)
        HOST_GOOD(host_register_client(nspace, (pmix_rank_t)r, object));
}

void host_register_job(struct host_job *job, const char *nspace, int n)
{
    host_register_job_of(job, nspace, n, NULL);
}

static void keep_job(struct host_job *job)
{
    int free_slot = -1;

    for (int j = MAX_JOBS; j-- > 0;) {
        if (jobs[j] == job)
            return;
        if (!jobs[j])
            free_slot = j;
    }
    HOST_CHECK(free_slot >= 0);
    jobs[free_slot] = job;
}

/* Returns the environment of a rank. HOST_CLIENT_LIBRARY is the folder of another libpmix for ranks. */
static char **environment_of(struct host_job *job, int rank)
{
    const char *library = getenv("HOST_CLIENT_LIBRARY");
    char **env;
    pmix_proc_t p;
    size_t n = 0;

    while (environ[n])
        n++;
    env = host_alloc((n + 2) * sizeof(*env));
    n = 0;
    for (char **e = environ; *e; e++)
        if (!library || strncmp(*e, "LD_LIBRARY_PATH=", 16) != 0)
            env[n++] = strdup(*e);
    if (library)
        HOST_CHECK(asprintf(&env[n], "LD_LIBRARY_PATH=%s", library) > 0);
    PMIX_LOAD_PROCID(&p, job->nspace, (pmix_rank_t)rank);
    HOST_GOOD(PMIx_server_setup_fork(&p, &env));
    return env;
}

void host_start_with(struct host_job *job, int rank, char *const argv[], char **env)
{
    keep_job(job);
    job->pids[rank] = fork();
    HOST_CHECK(job->pids[rank] >= 0);
    if (job->pids[rank] == 0) {
        if (owner.is_set &&
            (setgroups(0, NULL) || setgid(owner.gid) || setuid(owner.uid)))
            _exit(126);
        execve(argv[0], argv, env);
        _exit(127);
    }
}

void host_start_rank(struct host_job *job, int rank, char *const argv[])
{
    char **env = environment_of(job, rank);

    host_start_with(job, rank, argv, env);
    for (int i = 0; env[i]; i++)
        free(env[i]);
    free(env);
}

void host_start_all(struct host_job *job, char *const argv[])
{
    for (int r = 0; r < job->size; r++)
        host_start_rank(job, r, argv);
}

/* Reaps exited ranks; true if no rank is left. */
static bool reap(struct host_job *job)
{
    bool all = true;

    for (int r = 0; r < job->size; r++) {
        int how;

        if (job->pids[r] <= 0)
            continue;
        if (waitpid(job->pids[r], &how, WNOHANG) != job->pids[r]) {
            all = false;
            continue;
        }
        job->pids[r] = 0;
        job->status[r] = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    }
    return all;
}

int host_wait(struct host_job *job, int seconds)
{
    double end = host_now_s() + seconds;
    int worst = 0;

    while (!reap(job)) {
        HOST_CHECK(host_now_s() < end);
        usleep(2000);
    }
    for (int r = 0; r < job->size; r++)
        worst = job->status[r] > worst ? job->status[r] : worst;
    for (int j = 0; j < MAX_JOBS; j++)
        if (jobs[j] == job)
            jobs[j] = NULL;
    return worst;
}

int host_run(const char *nspace, int n, char *const argv[])
{
    struct host_job job;
    int rc;

    host_register_job(&job, nspace, n);
    host_start_all(&job, argv);
    rc = host_wait(&job, 60);
    host_deregister_nspace(nspace);
    return rc;
}

void host_kill_job(const char *nspace)
{
    for (int j = 0; j < MAX_JOBS; j++)
        for (int r = 0; jobs[j] && r < jobs[j]->size; r++)
            if ((!nspace || strcmp(jobs[j]->nspace, nspace) == 0) &&
                jobs[j]->pids[r] > 0)
                kill(jobs[j]->pids[r], SIGKILL);
}
