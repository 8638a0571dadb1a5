/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of the clients, in the order of the table in docs/performance.md. */
#include "bench.h"

#include <alloca.h>
#include <pthread.h>
#include <semaphore.h>

enum { VALUE_B = 64, LARGE_B = 64 << 10, FENCE_B = 16 << 10, MODEX_B = 1 << 10 };

struct client bench;

/* ---- calls ------------------------------------------------------------------------------------------- */

struct get {
    pmix_proc_t proc;
    const char *key;
    pmix_info_t info[3];
    size_t n;
    pmix_status_t expected;
};

static pmix_status_t get(void *arg)
{
    const struct get *g = arg;
    pmix_value_t *value = NULL;
    pmix_status_t rc = PMIx_Get(&g->proc, g->key, g->info, g->n, &value);

    if (rc == PMIX_SUCCESS)
        PMIX_VALUE_RELEASE(value);
    if (rc == g->expected)
        return PMIX_SUCCESS;
    return rc ? rc : PMIX_ERROR;
}

static struct get get_of(pmix_rank_t rank, const char *key)
{
    struct get g = {.key = key};

    PMIX_LOAD_PROCID(&g.proc, bench.me.nspace, rank);
    return g;
}

static void with(struct get *g, const char *key, const void *data,
                 pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&g->info[g->n], key, data, type);
    g->n++;
}

struct put {
    size_t size;
    int i;
};

static pmix_status_t put_only(void *arg)
{
    static char bytes[LARGE_B];
    struct put *p = arg;
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    char key[32];

    memset(bytes, 'a' + p->i % 26, p->size);
    value.data.bo = (pmix_byte_object_t){bytes, p->size};
    snprintf(key, sizeof(key), "bench.%zu.%d", p->size, p->i++ % 16);
    return PMIx_Put(PMIX_GLOBAL, key, &value);
}

static pmix_status_t put_small(void *arg)
{
    struct put *p = arg;
    static char bytes[VALUE_B];
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, sizeof(bytes)}};

    p->i++;
    return PMIx_Put(PMIX_GLOBAL, "bench.small", &value);
}

static pmix_status_t commit(void *arg)
{
    return PMIx_Commit();
}

/* Puts and commits the same key with another value each time. */
static pmix_status_t put_and_commit(void *arg)
{
    pmix_status_t rc = put_only(arg);

    ((struct put *)arg)->i += 15;
    return rc ? rc : PMIx_Commit();
}

static pmix_status_t fence(void *arg)
{
    return PMIx_Fence(NULL, 0, NULL, 0);
}

static pmix_status_t fence_collecting(void *arg)
{
    bool collect = true;
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    rc = PMIx_Fence(NULL, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

/* ---- get, put ------------------------------------------------------------------------------------------ */

/* Puts the same keys in every client. Returns a peer, which may be the client itself. */
static pmix_rank_t publish_and_fence(void)
{
    struct put p = {.size = VALUE_B};

    must("put", put_only(&p));
    must("commit", PMIx_Commit());
    must("fence", fence_collecting(NULL));
    return (pmix_rank_t)((bench.index + 1) % bench.n);
}

#define KEY "bench.64.0"

static void run_get_first(void)
{
    static struct times t;
    struct cell *cell;

    publish_and_fence();
    cell = add_row("get.first", false);
    sync_clients();
    for (int i = 1; i < bench.n && !cell->status; i++) {
        struct get g = get_of((pmix_rank_t)((bench.index + i) % bench.n), KEY);

        cell->status = time_one(&t, get, &g);
    }
    cell->value = middle_of(&t);
    cell->p99 = t.n ? t.us[t.n - 1] : 0;
    sync_clients();
}

static void run_get(void)
{
    bool yes = true;
    uint32_t zero = 0;
    pmix_value_t number = {.type = PMIX_UINT32};
    pmix_rank_t peer = publish_and_fence();
    const pmix_rank_t all = PMIX_RANK_WILDCARD;
    struct get job = get_of(all, PMIX_JOB_SIZE), own = get_of(bench.me.rank, KEY),
               other = get_of(peer, KEY), local = get_of(peer, PMIX_LOCAL_RANK),
               host = get_of(peer, PMIX_HOSTNAME), node = get_of(all, PMIX_NODE_SIZE),
               app = get_of(all, PMIX_APP_SIZE), session = get_of(all, PMIX_UNIV_SIZE),
               kept = get_of(peer, "bench.kept"), optional = get_of(peer, "bench.none"),
               immediate = optional;

    with(&node, PMIX_NODE_INFO, &yes, PMIX_BOOL);
    with(&node, PMIX_NODEID, &zero, PMIX_UINT32);
    with(&app, PMIX_APP_INFO, &yes, PMIX_BOOL);
    with(&app, PMIX_APPNUM, &zero, PMIX_UINT32);
    with(&session, PMIX_SESSION_INFO, &yes, PMIX_BOOL);
    with(&session, PMIX_SESSION_ID, &zero, PMIX_UINT32);
    with(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    with(&immediate, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    optional.expected = immediate.expected = PMIX_ERR_NOT_FOUND;
    sample("get.job", get, &job);
    sample("get.own", get, &own);
    sample("get.peer", get, &other);
    sample("get.local", get, &local);
    sample("get.hostname", get, &host);
    sample("get.node", get, &node);
    sample("get.app", get, &app);
    sample("get.session", get, &session);
    must("store", PMIx_Store_internal(&kept.proc, kept.key, &number));
    sample("get.kept", get, &kept);
    sample("get.optional", get, &optional);
    sample("get.immediate", get, &immediate);
}

struct reader {
    pthread_t thread;
    struct get get;
    double us;
    pmix_status_t status;
};

static void *read_often(void *arg)
{
    enum { N = 2000 };
    static _Thread_local struct times t;
    struct reader *r = arg;
    double end = now() + 200000;

    while (t.n < N && !r->status && (t.n < 50 || now() < end))
        r->status = time_one(&t, get, &r->get);
    r->us = middle_of(&t);
    return NULL;
}

/* Begins the frames of a thread at a different address in each process, as the kernel does for the first thread. The address
 * changes the time of a get by 3 %. */
static void *begin_elsewhere(void *reader)
{
    enum { N_PLACES = 61, STEP_B = 16 };
    static void *(*volatile run)(void *) = read_often;
    volatile char *before = alloca((size_t)(getpid() % N_PLACES * STEP_B + 1));

    *before = 0;
    return run(reader);
}

/* Measures gets of x threads in each of two clients. */
static void run_threads(void)
{
    enum { MOST = 64 };
    static struct reader readers[MOST];
    pmix_rank_t peer = publish_and_fence();
    double us[MOST];
    struct cell *cell = add_row("get.threads", false);

    sync_clients();
    for (int i = 0; i < bench.x && i < MOST; i++) {
        readers[i].get = get_of(peer, KEY);
        must_do("thread",
                -pthread_create(&readers[i].thread, NULL, begin_elsewhere, &readers[i]));
    }
    for (int i = 0; i < bench.x && i < MOST; i++) {
        pthread_join(readers[i].thread, NULL);
        us[i] = readers[i].us;
        cell->status = cell->status ? cell->status : readers[i].status;
    }
    cell->value = median(us, (size_t)bench.x);
    sync_clients();
}

static void run_put(void)
{
    struct put p = {.size = VALUE_B}, large = {.size = LARGE_B};

    sample("put.64", put_small, &p);
    must("commit", PMIx_Commit());
    time_each("commit.64", 50, put_only, commit, &p);
    time_each("put.64k", 20, NULL, put_only, &large);
    must("commit", PMIx_Commit());
    time_each("commit.64k", 20, put_only, commit, &large);
}

/* ---- fences ---------------------------------------------------------------------------------------------- */

static void run_fence(void)
{
    must("fence", fence(NULL));
    time_all("fence.empty", 100, fence, NULL);
}

static void run_fence_data(void)
{
    struct put p = {.size = FENCE_B};

    must("fence", fence(NULL));
    time_each("fence.16k", 10, put_and_commit, fence_collecting, &p);
}

static pmix_status_t exchange(void *arg)
{
    const bool *collects = arg;
    struct put p = {.size = MODEX_B};
    pmix_status_t rc = put_and_commit(&p);

    if (!rc)
        rc = *collects ? fence_collecting(NULL) : fence(NULL);
    for (int i = 1; i < bench.n && !rc; i++) {
        struct get g = get_of((pmix_rank_t)((bench.index + i) % bench.n),
                              "bench.1024.0");

        rc = get(&g);
    }
    return rc;
}

static void run_modex(void)
{
    bool collects = true;

    time_each("modex.collect", 1, NULL, exchange, &collects);
}

static void run_direct(void)
{
    bool collects = false;

    time_each("modex.direct", 1, NULL, exchange, &collects);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static pmix_status_t construct_group(void *arg)
{
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Group_construct("bench.group", &bench.job, 1, NULL, 0,
                                            &results, &n);

    PMIX_INFO_FREE(results, n);
    return rc;
}

static pmix_status_t destruct_group(void *arg)
{
    return PMIx_Group_destruct("bench.group", NULL, 0);
}

/* Constructs a group of all, after a fence that collects 64 bytes of each. */
static void run_group(void)
{
    struct put p = {.size = 64};

    must("fence", fence(NULL));
    time_each("group.fence", 30, put_and_commit, fence_collecting, &p);
    must("group", construct_group(NULL));
    time_each("group", 30, destruct_group, construct_group, NULL);
    must("destruct", destruct_group(NULL));
}

/* ---- many gets at once -------------------------------------------------------------------------------- */

enum { FLOOD_KEYS = 1000 };

static sem_t answered;
static _Atomic int n_missing;

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    *(pmix_status_t *)cbdata = status;
    if (atomic_fetch_sub(&n_missing, 1) == 1)
        sem_post(&answered);
}

/* Commits 1000 values of 1 KiB in rank 0. Rank 1 requests x of them at once. */
static void run_flood(void)
{
    static char bytes[MODEX_B];
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, sizeof(bytes)}};
    char key[32];
    pmix_status_t *status = calloc((size_t)bench.x, sizeof(*status)), rc = 0;

    for (int i = 0; i < FLOOD_KEYS && bench.index == 0; i++) {
        snprintf(key, sizeof(key), "flood.%d", i);
        must("put", PMIx_Put(PMIX_GLOBAL, key, &value));
    }
    must("commit", PMIx_Commit());
    must("fence", fence(NULL));
    if (bench.index == 1) {
        struct get g = get_of(0, key);
        struct cell *cell = add_row("flood", true);
        double start = now();

        sem_init(&answered, 0, 0);
        n_missing = bench.x;
        for (int i = 0; i < bench.x && !rc; i++) {
            snprintf(key, sizeof(key), "flood.%d", i % FLOOD_KEYS);
            rc = PMIx_Get_nb(&g.proc, key, NULL, 0, on_value, &status[i]);
        }
        while (!rc && sem_wait(&answered))
            ;
        cell->value = now() - start;
        for (int i = 0; i < bench.x && !rc; i++)
            rc = status[i];
        cell->status = rc;
    } else {
        add_row("flood", true);
    }
    sync_clients();
    free(status);
}

/* ---- events -------------------------------------------------------------------------------------------- */

enum {
    N_EVENTS = 200,
    N_BURSTS = 7,
    EVENT = PMIX_EXTERNAL_ERR_BASE - 7,
    EVENT_WAIT_S = 10
};

static _Atomic int n_events, n_notified;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t cb,
                     void *cbdata)
{
    if ((atomic_fetch_add(&n_events, 1) + 1) % N_EVENTS == 0 && bench.index > 0) {
        bench.board->stamps[bench.index] = now();
        sem_post(&answered);
    }
    if (cb)
        cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_notified(pmix_status_t status, void *cbdata)
{
    if ((atomic_fetch_add(&n_notified, 1) + 1) % N_EVENTS == 0)
        sem_post(&answered);
}

/* Measures events: rank 0 sends bursts of N_EVENTS to the job, and the others wait for them. Rank 0 stamps
 * the begin, because other ranks may wake up after their events arrive. blocking: each call waits for its
 * callback. Returns the median time of a delivery. */
static double measure_bursts(bool blocking, pmix_status_t *status)
{
    double *stamps = bench.board->stamps, us[N_BURSTS] = {0};
    struct timespec end;

    for (int b = 0; b < N_BURSTS; b++) {
        pmix_status_t rc = PMIX_SUCCESS;

        sync_clients();
        if (bench.index == 0)
            stamps[0] = now();
        for (int i = 0; i < N_EVENTS && bench.index == 0 && rc >= 0; i++) {
            rc = PMIx_Notify_event(EVENT, &bench.me, PMIX_RANGE_NAMESPACE, NULL, 0,
                                   blocking ? NULL : on_notified, NULL);
            if (blocking)
                on_notified(rc, NULL);
        }
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += EVENT_WAIT_S;
        if (sem_timedwait(&answered, &end))
            *status = PMIX_ERR_TIMEOUT;
        sync_clients();
        if (bench.index > 0)
            us[b] = (stamps[bench.index] - stamps[0]) / N_EVENTS / (bench.n - 1);
    }
    return median(us, N_BURSTS);
}

static void run_event(void)
{
    pmix_status_t code = EVENT;
    struct cell *first = add_row("event.first", true);
    struct cell *burst = add_row("event.burst", true);
    struct cell *blocking = add_row("event.blocking", true);

    sem_init(&answered, 0, 0);
    sync_clients();
    double began = now();
    pmix_status_t rc = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL,
                                                   NULL);
    first->value = now() - began;
    must("register", rc > 0 ? 0 : rc);
    must("fence", fence(NULL));
    burst->value = measure_bursts(false, &burst->status);
    blocking->value = measure_bursts(true, &blocking->status);
}

/* ---- round trips to the host --------------------------------------------------------------------------- */

static pmix_status_t publish(void *arg)
{
    pmix_info_t info;
    uint32_t n = 1;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, "bench.published", &n, PMIX_UINT32);
    rc = PMIx_Publish(&info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static pmix_status_t look_up(void *arg)
{
    pmix_pdata_t data = {.key = "bench.published"};
    pmix_status_t rc = PMIx_Lookup(&data, 1, NULL, 0);

    PMIX_VALUE_DESTRUCT(&data.value);
    return rc;
}

static pmix_status_t query(void *arg)
{
    char *keys[] = {(char *)"bench.query", NULL};
    pmix_query_t q = {.keys = keys};
    pmix_info_t *found = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Query_info(&q, 1, &found, &n);

    if (found)
        PMIX_INFO_FREE(found, n);
    return rc;
}

static pmix_status_t control(void *arg)
{
    pmix_info_t info, *found = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_PAUSE, NULL, PMIX_BOOL);
    rc = PMIx_Job_control(&bench.me, 1, &info, 1, &found, &n);
    if (found)
        PMIX_INFO_FREE(found, n);
    return rc;
}

static pmix_status_t write_log(void *arg)
{
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_LOG_STDERR, "a line", PMIX_STRING);
    rc = PMIx_Log(&info, 1, NULL, 0);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

/* Connects or disconnects all clients, in turns. */
static pmix_status_t connect_all(void *arg)
{
    bool *is_connected = arg;

    *is_connected = !*is_connected;
    return *is_connected ? PMIx_Connect(&bench.job, 1, NULL, 0)
                         : PMIx_Disconnect(&bench.job, 1, NULL, 0);
}

static void run_trip(void)
{
    sample("trip.publish", publish, NULL);
    sample("trip.lookup", look_up, NULL);
    sample("trip.query", query, NULL);
    sample("trip.control", control, NULL);
}

static void run_log(void)
{
    sample("trip.log", write_log, NULL);
}

static void run_connect(void)
{
    bool is_connected = false;

    time_all("trip.connect", 100, connect_all, &is_connected);
}

/* ---- start and end ------------------------------------------------------------------------------------ */

static pmix_status_t init(void *arg)
{
    return PMIx_Init(&bench.me, NULL, 0);
}

static pmix_status_t finalize(void *arg)
{
    return PMIx_Finalize(NULL, 0);
}

static void run_start(void)
{
    struct cell *took = add_row("init", false), *added = add_row("memory", false);
    double before = private_kib();

    trace_row("init", 0);
    took->value = now();
    took->status = init(NULL);
    bench.board->stamps[bench.index] = now();
    took->value = bench.board->stamps[bench.index] - took->value;
    trace_row("init", 1);
    added->value = private_kib() - before;
    time_each("finalize", 1, NULL, finalize, NULL);
}

static pmix_status_t init_and_finalize(void *arg)
{
    pmix_status_t rc = init(arg);

    return rc ? rc : finalize(arg);
}

static void run_cycle(void)
{
    must("init and finalize", init_and_finalize(NULL));
    time_each("cycle", 10, NULL, init_and_finalize, NULL);
}

/* ---- jobs of many ranks --------------------------------------------------------------------------------- */

static pmix_status_t resolve_peers(void *arg)
{
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Resolve_peers(arg, bench.job.nspace, &procs, &n);

    if (rc == PMIX_SUCCESS && n != BIG_PPN)
        rc = PMIX_ERROR;
    free(procs);
    return rc;
}

static pmix_status_t resolve_nodes(void *arg)
{
    char *nodes = NULL;
    pmix_status_t rc = PMIx_Resolve_nodes(bench.job.nspace, &nodes);

    free(nodes);
    return rc;
}

static void run_big(void)
{
    struct cell *took = add_row("big.init", false),
                *added = add_row("big.memory", false), *first;
    double before = private_kib();
    pmix_rank_t last = (pmix_rank_t)bench.x - 1;
    struct get g = get_of(last, PMIX_HOSTNAME);
    char node[32];

    took->value = now();
    must("init", init(NULL));
    took->value = now() - took->value;
    added->value = private_kib() - before;
    snprintf(node, sizeof(node), "node%d", (bench.x - 1) / BIG_PPN);

    first = add_row("big.first", false);
    sync_clients();
    g = get_of(last, PMIX_HOSTNAME);
    first->value = now();
    first->status = get(&g);
    first->value = now() - first->value;
    sample("big.hostname", get, &g);
    g = get_of(last, PMIX_LOCAL_RANK);
    sample("big.local", get, &g);
    sample("big.peers", resolve_peers, node);
    sample("big.nodes", resolve_nodes, NULL);
    must("finalize", finalize(NULL));
}

/* Queries the table of all processes of the job. */
static pmix_status_t query_table(void *arg)
{
    char *keys[] = {(char *)PMIX_QUERY_PROC_TABLE, NULL};
    pmix_info_t of, *found = NULL;
    pmix_query_t q = {.keys = keys, .qualifiers = &of, .nqual = 1};
    size_t n = 0;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&of, PMIX_NSPACE, bench.job.nspace, PMIX_STRING);
    rc = PMIx_Query_info(&q, 1, &found, &n);
    if (!rc && (n != 1 || found->value.type != PMIX_DATA_ARRAY ||
                found->value.data.darray->size != (size_t)bench.x))
        rc = PMIX_ERROR;
    PMIX_INFO_DESTRUCT(&of);
    if (found)
        PMIX_INFO_FREE(found, n);
    return rc;
}

static void run_table(void)
{
    time_each("query.first", 1, NULL, query_table, NULL);
    time_each("query.table", 5, NULL, query_table, NULL);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

const struct scene scenes[] = {
    {.name = "start", .inits = true, .run = run_start},
    {.name = "cycle", .inits = true, .run = run_cycle},
    {.name = "get", .run = run_get},
    {.name = "first", .run = run_get_first},
    {.name = "threads", .n_clients = 2, .run = run_threads},
    {.name = "put", .run = run_put},
    {.name = "fence", .run = run_fence},
    {.name = "fence16k", .run = run_fence_data},
    {.name = "modex", .run = run_modex},
    {.name = "direct", .run = run_direct},
    {.name = "group", .run = run_group},
    {.name = "flood", .n_clients = 2, .run = run_flood},
    {.name = "event", .run = run_event},
    {.name = "trip", .run = run_trip},
    {.name = "log", .n_clients = 1, .run = run_log},
    {.name = "connect", .run = run_connect},
    {.name = "big", .n_clients = 2, .of_many = true, .inits = true, .run = run_big},
    {.name = "table", .n_clients = 1, .of_many = true, .run = run_table},
    {.name = "codec", .run = run_codec},
    {.name = "register", .run_host = run_register},
    {.name = "maps", .run_host = run_maps},
    {.name = "parse", .run_host = run_parse},
    {.name = "floor.get", .alone = true, .run_host = floor_get},
    {.name = "floor.copy", .alone = true, .run_host = floor_copy},
    {.name = "floor.trip", .alone = true, .run_host = floor_trip},
    {.name = "floor.connect", .alone = true, .run_host = floor_connect},
    {.name = "floor.fence", .alone = true, .run_host = floor_fence},
    {.name = "floor.futex", .alone = true, .run_host = floor_futex},
    {.name = "floor.spawn", .alone = true, .run_host = floor_spawn},
    {0},
};
