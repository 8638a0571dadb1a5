/* SPDX-License-Identifier: BSD-3-Clause */
/* See host.h. Upcalls come on the library's thread; what they answer is queued for
 * ours. */
#include "host.h"

#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_JOBS      8
#define MAX_PUBLISHED 64
#define WAIT_S        20 /* for the library's callbacks */

extern char **environ;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool running, stopping;
    enum host_answers how;
    struct reply *first, **last;
    int counts[UP_COUNT];
    int abort_status;
    struct host_job *jobs[MAX_JOBS];
    bool has_owner;
    uid_t uid;
    gid_t gid;
} host = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .abort_status = -1};

/* ---- answering ------------------------------------------------------------------- */

struct reply {
    struct reply *next;
    void (*fn)(void *arg);
    void *arg;
};

static void *answer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&host.lock);
    for (;;) {
        struct reply *r = host.first;

        if (!r && host.stopping)
            break;
        if (!r) {
            pthread_cond_wait(&host.changed, &host.lock);
            continue;
        }
        host.first = r->next;
        if (!host.first)
            host.last = &host.first;
        pthread_mutex_unlock(&host.lock);
        r->fn(r->arg);
        free(r);
        pthread_mutex_lock(&host.lock);
    }
    pthread_mutex_unlock(&host.lock);
    return NULL;
}

void host_answers(enum host_answers how)
{
    host.how = how;
    host.stopping = false;
    host.last = &host.first;
    host.running = true;
    HOST_CHECK(pthread_create(&host.thread, NULL, answer, NULL) == 0);
}

void host_stop_answering(void)
{
    if (!host.running)
        return;
    pthread_mutex_lock(&host.lock);
    host.stopping = true;
    pthread_cond_signal(&host.changed);
    pthread_mutex_unlock(&host.lock);
    pthread_join(host.thread, NULL);
    host.running = false;
}

void host_reply(void (*fn)(void *arg), void *arg)
{
    struct reply *r;

    if (host.how != HOST_LATER) {
        fn(arg);
        return;
    }
    r = calloc(1, sizeof *r);
    HOST_CHECK(r);
    r->fn = fn;
    r->arg = arg;
    pthread_mutex_lock(&host.lock);
    *host.last = r;
    host.last = &r->next;
    pthread_cond_signal(&host.changed);
    pthread_mutex_unlock(&host.lock);
}

static void count(enum host_upcall which)
{
    __atomic_add_fetch(&host.counts[which], 1, __ATOMIC_SEQ_CST);
}

int host_count(enum host_upcall which)
{
    return __atomic_load_n(&host.counts[which], __ATOMIC_SEQ_CST);
}

void host_reset_counts(void)
{
    for (int i = 0; i < UP_COUNT; i++)
        __atomic_store_n(&host.counts[i], 0, __ATOMIC_SEQ_CST);
    host.abort_status = -1;
}

int host_abort_status(void)
{
    return __atomic_load_n(&host.abort_status, __ATOMIC_SEQ_CST);
}

/* ---- answers of two kinds: a status, or bytes ------------------------------------ */

struct status_answer {
    pmix_status_t status;
    pmix_op_cbfunc_t cb;
    void *cbdata;
};

static void give_status(void *arg)
{
    struct status_answer *a = arg;

    if (a->cb)
        a->cb(a->status, a->cbdata);
    free(a);
}

static pmix_status_t with_status(pmix_status_t status, pmix_op_cbfunc_t cb,
                                 void *cbdata)
{
    struct status_answer *a;

    if (host.how == HOST_AT_ONCE)
        return status == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : status;
    a = calloc(1, sizeof *a);
    HOST_CHECK(a);
    *a = (struct status_answer){status, cb, cbdata};
    host_reply(give_status, a);
    return PMIX_SUCCESS;
}

struct data_answer {
    pmix_status_t status;
    char *data;
    size_t n;
    pmix_modex_cbfunc_t cb;
    void *cbdata;
};

static void give_data(void *arg)
{
    struct data_answer *a = arg;

    a->cb(a->status, a->data, a->n, a->cbdata, free, a->data);
    free(a);
}

static void with_data(pmix_status_t status, const char *data, size_t n,
                      pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct data_answer *a = calloc(1, sizeof *a);

    HOST_CHECK(a);
    *a = (struct data_answer){status, NULL, n, cb, cbdata};
    if (n > 0) {
        a->data = malloc(n);
        HOST_CHECK(a->data);
        memcpy(a->data, data, n);
    }
    host_reply(give_data, a);
}

/* ---- upcalls --------------------------------------------------------------------- */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
                                  pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                  void *cbdata)
{
    (void)proc, (void)object, (void)info, (void)n;
    count(UP_CONNECTED);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)proc, (void)object;
    count(UP_FINALIZED);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

/* What resource managers do: end the namespace of the one who asks. */
static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
                              const char message[], pmix_proc_t procs[], size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)object, (void)procs, (void)n, (void)message;
    count(UP_ABORT);
    __atomic_store_n(&host.abort_status, status, __ATOMIC_SEQ_CST);
    for (int j = 0; j < MAX_JOBS; j++)
        for (int r = 0; host.jobs[j] && r < host.jobs[j]->size; r++)
            if (strcmp(host.jobs[j]->nspace, proc->nspace) == 0 &&
                host.jobs[j]->pids[r] > 0)
                kill(host.jobs[j]->pids[r], SIGKILL);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

/* One node: what goes round comes back. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    (void)procs, (void)n_procs, (void)info, (void)n_info;
    count(UP_FENCE);
    with_data(PMIX_SUCCESS, data, n, cb, cbdata);
    free(
        data); /* the host's: so it is with every library, whatever the Standard says */
    return PMIX_SUCCESS;
}

static pmix_status_t on_dmodex(const pmix_proc_t *proc, const pmix_info_t info[],
                               size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    (void)proc, (void)info, (void)n;
    count(UP_DMODEX);
    with_data(PMIX_ERR_NOT_FOUND, NULL, 0, cb, cbdata);
    return PMIX_SUCCESS;
}

/* Upcalls of several threads' making, and the answering thread, meet here under
 * host.lock. */
static struct published {
    bool used;
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_value_t value;
    pmix_proc_t owner;
} published[MAX_PUBLISHED];

static struct published *find_published(const char *key)
{
    for (int i = 0; i < MAX_PUBLISHED; i++)
        if (published[i].used && strcmp(published[i].key, key) == 0)
            return &published[i];
    return NULL;
}

static void forget_published(struct published *p)
{
    PMIX_VALUE_DESTRUCT(&p->value);
    memset(p, 0, sizeof *p);
}

static pmix_status_t add_published(const pmix_proc_t *owner, const pmix_info_t *info)
{
    if (find_published(info->key))
        return PMIX_ERR_DUPLICATE_KEY;
    for (int i = 0; i < MAX_PUBLISHED; i++) {
        if (published[i].used)
            continue;
        published[i].used = true;
        published[i].owner = *owner;
        memcpy(published[i].key, info->key, sizeof published[i].key);
        return PMIx_Value_xfer(&published[i].value, &info->value);
    }
    return PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    pmix_status_t rc = PMIX_SUCCESS;

    count(UP_PUBLISH);
    pthread_mutex_lock(&host.lock);
    for (size_t i = 0; i < n && rc == PMIX_SUCCESS; i++)
        if (strncmp(info[i].key, "pmix.", 5) != 0)
            rc = add_published(proc, &info[i]);
    pthread_mutex_unlock(&host.lock);
    return with_status(rc, cb, cbdata);
}

struct lookup_answer {
    pmix_pdata_t *found;
    size_t n;
    pmix_lookup_cbfunc_t cb;
    void *cbdata;
};

static void give_lookup(void *arg)
{
    struct lookup_answer *a = arg;

    a->cb(a->n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, a->found, a->n, a->cbdata);
    for (size_t i = 0; i < a->n; i++)
        PMIX_VALUE_DESTRUCT(&a->found[i].value);
    free(a->found);
    free(a);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys,
                               const pmix_info_t info[], size_t n_info,
                               pmix_lookup_cbfunc_t cb, void *cbdata)
{
    struct lookup_answer *a = calloc(1, sizeof *a);
    size_t n = 0;

    (void)proc, (void)info, (void)n_info;
    count(UP_LOOKUP);
    while (keys[n])
        n++;
    HOST_CHECK(a);
    *a = (struct lookup_answer){
        .found = calloc(n + 1, sizeof(pmix_pdata_t)), .cb = cb, .cbdata = cbdata};
    HOST_CHECK(a->found);
    pthread_mutex_lock(&host.lock);
    for (size_t i = 0; i < n; i++) {
        const struct published *p = find_published(keys[i]);
        pmix_pdata_t *to = &a->found[a->n];

        if (!p)
            continue;
        to->proc = p->owner;
        memcpy(to->key, p->key, sizeof to->key);
        HOST_GOOD(PMIx_Value_xfer(&to->value, &p->value));
        a->n++;
    }
    pthread_mutex_unlock(&host.lock);
    host_reply(give_lookup, a);
    return PMIX_SUCCESS;
}

static bool is_named(char **keys, const char *key)
{
    for (int k = 0; keys && keys[k]; k++)
        if (strcmp(keys[k], key) == 0)
            return true;
    return !keys;
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys,
                                  const pmix_info_t info[], size_t n,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)info, (void)n;
    count(UP_UNPUBLISH);
    pthread_mutex_lock(&host.lock);
    for (int i = 0; i < MAX_PUBLISHED; i++)
        if (published[i].used && PMIX_CHECK_PROCID(&published[i].owner, proc) &&
            is_named(keys, published[i].key))
            forget_published(&published[i]);
    pthread_mutex_unlock(&host.lock);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t n_procs,
                                const pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                void *cbdata)
{
    (void)procs, (void)n_procs, (void)info, (void)n;
    count(UP_CONNECT);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_disconnect(const pmix_proc_t procs[], size_t n_procs,
                                   const pmix_info_t info[], size_t n,
                                   pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)procs, (void)n_procs, (void)info, (void)n;
    count(UP_DISCONNECT);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_register_events(pmix_status_t *codes, size_t n_codes,
                                        const pmix_info_t info[], size_t n,
                                        pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)codes, (void)n_codes, (void)info, (void)n;
    count(UP_REGISTER_EVENTS);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_deregister_events(pmix_status_t *codes, size_t n_codes,
                                          pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)codes, (void)n_codes;
    count(UP_DEREGISTER_EVENTS);
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t n,
                               pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)code, (void)source, (void)range, (void)info, (void)n;
    count(UP_NOTIFY);
    if (getenv("HOST_NOTIFY_AT_ONCE"))
        return PMIX_OPERATION_SUCCEEDED;
    return with_status(PMIX_SUCCESS, cb, cbdata);
}

const pmix_server_module_t host_module = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_dmodex,
    .publish = on_publish,
    .lookup = on_lookup,
    .unpublish = on_unpublish,
    .connect = on_connect,
    .disconnect = on_disconnect,
    .register_events = on_register_events,
    .deregister_events = on_deregister_events,
    .notify_event = on_notify,
};

/* ---- calls that wait ------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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
    double end = now_s() + WAIT_S;

    if (rc == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS)
        return rc;
    while (!__atomic_load_n(&w->done, __ATOMIC_SEQ_CST)) {
        HOST_CHECK(now_s() < end);
        usleep(1000);
    }
    return w->status;
}

pmix_status_t host_init(pmix_server_module_t *module)
{
    const char *dir = getenv("TMPDIR");
    pmix_info_t info[2];
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, dir ? dir : "/tmp", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, dir ? dir : "/tmp", PMIX_STRING);
    rc = PMIx_server_init(module, info, 2);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    return rc;
}

pmix_status_t host_register_nspace(const char *nspace, int n_local, pmix_info_t *info,
                                   size_t n)
{
    struct waiter w = {0};

    return finish(&w,
                  PMIx_server_register_nspace(nspace, n_local, info, n, on_done, &w));
}

pmix_status_t host_register_client(const char *nspace, pmix_rank_t rank, void *object)
{
    struct waiter w = {0};
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, nspace, rank);
    return finish(&w, PMIx_server_register_client(
                          &p, host.has_owner ? host.uid : getuid(),
                          host.has_owner ? host.gid : getgid(), object, on_done, &w));
}

void host_owner(uid_t uid, gid_t gid)
{
    host.has_owner = uid != geteuid() || gid != getegid();
    host.uid = uid;
    host.gid = gid;
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

pmix_status_t host_setup_local_support(const char *nspace)
{
    struct waiter w = {0};

    return finish(&w, PMIx_server_setup_local_support(nspace, NULL, 0, on_done, &w));
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

    snprintf(path, sizeof path, "%s%s", top, below);
    PMIX_INFO_LOAD(info, key, path, PMIX_STRING);
}

/* What a rank is told of its own directory. By hand, as not every library has the functions that
 * the macros of a header may call. */
static void load_rank_dir(pmix_info_t *info, const char *top, int r)
{
    pmix_rank_t rank = (pmix_rank_t)r;
    pmix_data_array_t array = {.type = PMIX_INFO, .size = 2};
    pmix_info_t *members;
    char below[32];

    PMIX_INFO_CREATE(members, 2);
    PMIX_INFO_LOAD(&members[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    snprintf(below, sizeof below, "/job/%d", r);
    load_dir(&members[1], PMIX_PROCDIR, top, below);
    array.array = members;
    PMIX_INFO_LOAD(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(members, 2);
}

/* HOST_DIRS names a directory to tell of, there or not. Returns how many infos it took. */
static size_t load_dirs(pmix_info_t *info, int n)
{
    const char *top = getenv("HOST_DIRS");

    if (!top)
        return 0;
    load_dir(&info[0], PMIX_TMPDIR, top, "");
    load_dir(&info[1], PMIX_NSDIR, top, "/job");
    for (int r = 0; r < n; r++)
        load_rank_dir(&info[2 + r], top, r);
    return 2 + (size_t)n;
}

static pmix_status_t register_one_node(const char *nspace, int n)
{
    char ranks[HOST_MAX_RANKS * 4] = "", name[256] = "", *nodes, *ppn;
    pmix_info_t info[8 + 2 + HOST_MAX_RANKS];
    size_t n_info;
    pmix_status_t rc;

    gethostname(name, sizeof name - 1);
    for (int r = 0; r < n; r++)
        sprintf(ranks + strlen(ranks), "%s%d", r ? "," : "", r);
    HOST_GOOD(PMIx_generate_regex(name, &nodes));
    HOST_GOOD(PMIx_generate_ppn(ranks, &ppn));
    load_u32(&info[0], PMIX_UNIV_SIZE, (uint32_t)n);
    load_u32(&info[1], PMIX_JOB_SIZE, (uint32_t)n);
    load_u32(&info[2], PMIX_LOCAL_SIZE, (uint32_t)n);
    load_u32(&info[3], PMIX_NUM_NODES, 1);
    load_u32(&info[4], PMIX_NODEID, 0);
    PMIX_INFO_LOAD(&info[5], PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
    PMIX_INFO_LOAD(&info[6], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[7], PMIX_PROC_MAP, ppn, PMIX_REGEX);
    n_info = 8 + load_dirs(&info[8], n);
    rc = host_register_nspace(nspace, n, info, n_info);
    for (size_t i = 0; i < n_info; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    free(nodes);
    free(ppn);
    return rc;
}

void host_register_job_of(struct host_job *job, const char *nspace, int n, void *object)
{
    memset(job, 0, sizeof *job);
    HOST_CHECK(n <= HOST_MAX_RANKS);
    snprintf(job->nspace, sizeof job->nspace, "%s", nspace);
    job->size = n;
    for (int r = 0; r < n; r++)
        job->status[r] = -1;
    HOST_GOOD(register_one_node(nspace, n));
    HOST_GOOD(host_setup_local_support(nspace));
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
        if (host.jobs[j] == job)
            return;
        if (!host.jobs[j])
            free_slot = j;
    }
    HOST_CHECK(free_slot >= 0);
    host.jobs[free_slot] = job;
}

static void drop_job(const struct host_job *job)
{
    for (int j = 0; j < MAX_JOBS; j++)
        if (host.jobs[j] == job)
            host.jobs[j] = NULL;
}

/* HOST_CLIENT_LIBRARY: the folder of the libpmix for the ranks, if it is to be
 * another than ours. */
static char **environment_of(struct host_job *job, int rank)
{
    const char *library = getenv("HOST_CLIENT_LIBRARY");
    char **env;
    pmix_proc_t p;
    size_t n = 0;

    while (environ[n])
        n++;
    env = calloc(n + 2, sizeof *env);
    HOST_CHECK(env);
    n = 0;
    for (char **e = environ; *e; e++)
        if (!library || strncmp(*e, "LD_LIBRARY_PATH=", 16) != 0)
            env[n++] = strdup(*e);
    if (library) {
        env[n] = malloc(strlen(library) + 17);
        HOST_CHECK(env[n]);
        sprintf(env[n], "LD_LIBRARY_PATH=%s", library);
    }
    PMIX_LOAD_PROCID(&p, job->nspace, (pmix_rank_t)rank);
    HOST_GOOD(PMIx_server_setup_fork(&p, &env));
    return env;
}

void host_start_rank(struct host_job *job, int rank, char *const argv[])
{
    char **env = environment_of(job, rank);

    keep_job(job);
    job->pids[rank] = fork();
    HOST_CHECK(job->pids[rank] >= 0);
    if (job->pids[rank] == 0) {
        if (host.has_owner &&
            (setgroups(0, NULL) || setgid(host.gid) || setuid(host.uid)))
            _exit(126);
        execve(argv[0], argv, env);
        _exit(127);
    }
    for (int i = 0; env[i]; i++)
        free(env[i]);
    free(env);
}

void host_start_all(struct host_job *job, char *const argv[])
{
    for (int r = 0; r < job->size; r++)
        host_start_rank(job, r, argv);
}

/* True when none is left to wait for. */
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
    double end = now_s() + seconds;
    int worst = 0;

    while (!reap(job)) {
        HOST_CHECK(now_s() < end);
        usleep(2000);
    }
    for (int r = 0; r < job->size; r++)
        worst = job->status[r] > worst ? job->status[r] : worst;
    drop_job(job);
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

void host_kill_all(void)
{
    for (int j = 0; j < MAX_JOBS; j++)
        for (int r = 0; host.jobs[j] && r < host.jobs[j]->size; r++)
            if (host.jobs[j]->pids[r] > 0)
                kill(host.jobs[j]->pids[r], SIGKILL);
}
