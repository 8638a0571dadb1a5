/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces of connected processes (RFC 0003). The executable is separate, since other libraries lack
 * these functions. */
#include "../clients/client.h"

#include <pmix_connect.h>
#include <signal.h>

static atomic_int n_events, n_done;
static pmix_status_t event_code;
static pmix_proc_t event_source, event_set[8];
static size_t n_event_set;
static char event_id[64];

HANDLER(on_event)
{
    const pmix_info_t *set = find(info, n, PMIX_GROUP_MEMBERSHIP);
    const pmix_info_t *name = find(info, n, PMIX_CONNECT_ID);

    event_code = status;
    event_source = *from;
    n_event_set = 0;
    for (size_t i = 0; set && i < set->value.data.darray->size && i < 8; i++)
        event_set[n_event_set++] = ((pmix_proc_t *)set->value.data.darray->array)[i];
    snprintf(event_id, sizeof(event_id), "%s", name ? name->value.data.string : "");
    n_events++;
    HANDLED();
}

static void expect_event(pmix_status_t code, pmix_rank_t source)
{
    CHECK(wait_for(&n_events, 10));
    CHECK(event_code == code && event_source.rank == source);
    n_events--;
}

static void expect_no_event(void)
{
    sleep_ms(200);
    CHECK(n_events == 0);
}

/* True if the host simulates two nodes. */
static bool on_two_nodes(void)
{
    return getenv("TWO_RANKS") != NULL;
}

struct joint {
    pmix_nspace_t name;
    pmix_rank_t rank;
};

/* Connects with up to four flags, and with an id if id is not NULL. */
static pmix_status_t join(const pmix_proc_t *procs, size_t n, const char *id,
                          const char *const flags[4], struct joint *j)
{
    pmix_info_t infos[6] = {info_timeout(20)};
    size_t n_infos = 1;
    pmix_status_t rc;

    for (int i = 0; flags && i < 4 && flags[i]; i++)
        infos[n_infos++] = info_bool(flags[i]);
    if (id)
        PMIX_INFO_LOAD(&infos[n_infos++], PMIX_CONNECT_ID, id, PMIX_STRING);
    *j = (struct joint){.rank = PMIX_RANK_UNDEF};
    rc = PMIx_Connect_nspace(procs, n, infos, n_infos, j->name, &j->rank);
    if (id)
        PMIX_INFO_DESTRUCT(&infos[n_infos - 1]);
    return rc;
}

#define FLAGS(...) ((const char *const[4]){__VA_ARGS__})

static pmix_proc_t rank_in(const struct joint *j, pmix_rank_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, j->name, rank);
    return p;
}

static pmix_status_t fence_in(const struct joint *j, bool data)
{
    pmix_proc_t all = rank_in(j, PMIX_RANK_WILDCARD);
    pmix_info_t infos[2] = {info_timeout(20), info_bool(PMIX_COLLECT_DATA)};

    return PMIx_Fence(&all, 1, infos, data ? 2 : 1);
}

static pmix_status_t leave(const struct joint *j, bool each)
{
    pmix_info_t info = info_bool(PMIX_CONNECT_NOTIFY_EACH);

    return PMIx_Disconnect_nspace(j->name, &info, each);
}

/* Checks the table of processes, which pmixrun provides. */
static void check_table(const struct joint *j, const pmix_rank_t *members, size_t n)
{
    char *keys[] = {(char *)PMIX_QUERY_PROC_TABLE, NULL};
    pmix_info_t in, *found = NULL;
    pmix_query_t query = {.keys = keys, .qualifiers = &in, .nqual = 1};
    const pmix_proc_info_t *rows;
    size_t n_found = 0;

    PMIX_INFO_LOAD(&in, PMIX_NSPACE, j->name, PMIX_STRING);
    GOOD(PMIx_Query_info(&query, 1, &found, &n_found));
    PMIX_INFO_DESTRUCT(&in);
    CHECK(n_found == 1 && found->value.type == PMIX_DATA_ARRAY &&
          found->value.data.darray->type == PMIX_PROC_INFO &&
          found->value.data.darray->size == n);
    rows = found->value.data.darray->array;
    for (size_t i = 0; i < n; i++) {
        CHECK(PMIX_CHECK_NSPACE(rows[i].proc.nspace, me.nspace) &&
              rows[i].proc.rank == members[i]);
        CHECK(strstr(rows[i].executable_name, "connector") && rows[i].hostname &&
              rows[i].state == PMIX_PROC_STATE_CONNECTED);
        CHECK((rows[i].pid == getpid()) == (members[i] == me.rank));
    }
    PMIX_INFO_FREE(found, n_found);
}

/* Checks a namespace whose members are members[0 ... n - 1] of this job. */
static void check_namespace(const struct joint *j, const pmix_rank_t *members,
                            uint32_t n)
{
    pmix_proc_t all = rank_in(j, PMIX_RANK_WILDCARD), *peers = NULL;
    char key[32], *nodes = NULL;
    size_t n_peers = 0;

    snprintf(key, sizeof(key), "of-%u", n);
    put_u32(PMIX_GLOBAL, key, me.rank + 100);
    if (!on_two_nodes())
        check_table(j, members, n);
    GOOD(PMIx_Commit());
    GOOD(fence_in(j, true));
    VALUE_OF(&all, PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == n);
    VALUE_OF(&all, PMIX_GROUP_MEMBERSHIP, PMIX_DATA_ARRAY,
             v->data.darray->type == PMIX_PROC && v->data.darray->size == n);
    for (pmix_rank_t r = 0; r < n; r++) {
        pmix_proc_t p = rank_in(j, r);

        CHECK((members[r] == me.rank) == (r == j->rank));
        VALUE_OF(&p, PMIX_PROCID, PMIX_PROC,
                 v->data.proc->rank == members[r] &&
                     PMIX_CHECK_NSPACE(v->data.proc->nspace, me.nspace));
        VALUE_OF(&p, key, PMIX_UINT32, v->data.uint32 == members[r] + 100);
        if (!on_two_nodes())
            VALUE_OF(&p, PMIX_LOCAL_RANK, PMIX_UINT16, v->data.uint16 == r);
    }
    GOOD(PMIx_Resolve_nodes(j->name, &nodes));
    CHECK((strchr(nodes, ',') != NULL) == (on_two_nodes() && n > 1));
    nodes[strcspn(nodes, ",")] = '\0';
    GOOD(PMIx_Resolve_peers(nodes, j->name, &peers, &n_peers));
    CHECK(on_two_nodes() ? n_peers > 0 : n_peers == n);
    CHECK(PMIX_CHECK_NSPACE(peers[0].nspace, j->name));
    free(peers);
    free(nodes);
}

#define MAX_RANKS 6
#define FROM_ONE  ((const pmix_rank_t[]){1, 2, 3, 4, 5})

static void on_connected(pmix_status_t status, char nspace[], int rank, void *arg)
{
    struct joint *j = arg;

    CHECK(status == PMIX_SUCCESS);
    PMIX_LOAD_NSPACE(j->name, nspace);
    j->rank = (pmix_rank_t)rank;
    n_done++;
}

/* Checks names, ranks and data of namespaces, at the same time and one after another. */
static void identities(void)
{
    const pmix_rank_t last = job_size - 1, ends[] = {0, last};
    pmix_proc_t listed[MAX_RANKS], two[] = {rank_of(last), rank_of(0)};
    pmix_rank_t all_ranks[MAX_RANKS];
    struct joint a, b, c, d;

    for (pmix_rank_t r = 0; r < job_size; r++) {
        all_ranks[r] = r;
        listed[last - r] = rank_of(r);
    }
    if (me.rank == last)
        GOOD(join(listed, job_size, NULL, NULL, &a));
    else
        GOOD(join(&everyone, 1, NULL, NULL, &a));
    CHECK(a.rank == me.rank && strchr(a.name, ':') == NULL);
    check_namespace(&a, all_ranks, job_size);
    GOOD(PMIx_Connect_nspace_nb(&everyone, 1, NULL, 0, on_connected, &d));
    GOOD(join(&everyone, 1, "b", NULL, &b)); /* beside the connect without an id */
    CHECK(wait_for(&n_done, 20));
    CHECK(!PMIX_CHECK_NSPACE(a.name, b.name) && !PMIX_CHECK_NSPACE(a.name, d.name) &&
          d.rank == me.rank);
    GOOD(leave(&a, false));
    GOOD(leave(&d, false));
    if (me.rank == 0 || me.rank == last) {
        GOOD(join(two, 2, "b", NULL, &c));
        check_namespace(&c, ends, last ? 2 : 1);
        GOOD(leave(&c, false));
    }
    CHECK(fence_in(&a, false) != PMIX_SUCCESS);
    EXPECT(leave(&a, false), PMIX_ERR_NOT_FOUND);
    EXPECT(PMIx_Disconnect_nspace(me.nspace, NULL, 0), PMIX_ERR_NOT_FOUND);
    EXPECT(PMIx_Disconnect(&everyone, 1, NULL, 0), PMIX_ERR_INVALID_OPERATION);
    barrier();
    GOOD(join(&everyone, 1, "b", NULL, &c));
    CHECK(!PMIX_CHECK_NSPACE(b.name, c.name) &&
          strncmp(b.name, c.name, strlen(b.name) - 1) == 0);
    GOOD(fence_in(&b, false));
    GOOD(fence_in(&c, false));
    GOOD(leave(&b, false));
    GOOD(leave(&c, false));
    GOOD(join(&everyone, 1, NULL, FLAGS(PMIX_CONNECT_XCHG_ONLY), &a));
    CHECK(a.name[0] == '\0' && a.rank == PMIX_RANK_INVALID);
    EXPECT(join(&everyone, 1, "", NULL, &a), PMIX_ERR_BAD_PARAM);
}

/* Checks events: rank 0 invites the others by an event, and leaves first. */
static void events(void)
{
    const pmix_rank_t last = job_size - 1;
    pmix_status_t codes[] = {PMIX_PROC_HAS_CONNECTED, PMIX_PROC_HAS_DISCONNECTED,
                             PMIX_CONNECT_REQUESTED, PMIX_ERR_INVALID_TERMINATION,
                             PMIX_ERR_NODE_DOWN};
    size_t handler = watch(codes, 5, NULL, 0, on_event);
    pmix_data_array_t all = {PMIX_PROC, 1, NULL};
    pmix_proc_t target;
    pmix_info_t info;
    struct joint j;

    barrier();
    if (me.rank == 0) {
        GOOD(join(&everyone, 1, "asked", FLAGS(PMIX_CONNECT_NOTIFY_REQ), &j));
    } else {
        expect_event(PMIX_CONNECT_REQUESTED, 0);
        CHECK(n_event_set == 1 && strcmp(event_id, "asked") == 0);
        GOOD(join(event_set, n_event_set, event_id, NULL, &j));
    }
    GOOD(fence_in(&j, false)); /* then the servers of all nodes have the namespace */
    target = rank_in(&j, PMIX_RANK_WILDCARD);
    all.array = &target;
    if (me.rank == last) {
        PMIX_INFO_LOAD(&info, PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_DATA_ARRAY);
        GOOD(PMIx_Notify_event(PMIX_ERR_NODE_DOWN, &me, PMIX_RANGE_CUSTOM, &info, 1,
                               NULL, NULL));
        PMIX_INFO_DESTRUCT(&info);
    }
    expect_event(PMIX_ERR_NODE_DOWN, last);
    GOOD(fence_in(&j, false));
    if (me.rank == 0) {
        GOOD(leave(&j, true));
    } else {
        expect_event(PMIX_PROC_HAS_DISCONNECTED, 0);
        if (!on_two_nodes())
            check_table(&j, FROM_ONE, last);
        GOOD(fence_in(&j, false));
        GOOD(leave(&j, false));
    }
    expect_no_event();
    barrier();
    if (me.rank == 0)
        sleep_ms(300); /* rank 0 connects last */
    GOOD(join(&everyone, 1, NULL, FLAGS(PMIX_CONNECT_NOTIFY_EACH), &j));
    if (me.rank > 0 && !on_two_nodes()) { /* events of this node */
        CHECK(wait_for(&n_events, 10));
        while (event_source.rank != 0)
            sleep_ms(5);
        CHECK(event_code == PMIX_PROC_HAS_CONNECTED);
    }
    barrier();
    n_events = 0;
    barrier();
    if (me.rank == last)
        GOOD(leave(&j, false));
    else
        expect_event(PMIX_PROC_HAS_DISCONNECTED, last);
    GOOD(PMIx_Deregister_event_handler(handler, NULL, NULL));
    barrier();
    if (me.rank != last)
        GOOD(leave(&j, false));
}

JOINS(joint)
{
    CHECK(job_size <= MAX_RANKS);
    identities();
    events();
}

/* Program for a server of another implementation, which only connects. The program sets no timeout, since
 * release 4.2.2 does not end after a connect with a timeout. */
JOINS(foreign)
{
    pmix_info_t info = info_bool(PMIX_CONNECT_XCHG_ONLY);
    struct joint j = {.rank = 0};

    EXPECT(PMIx_Connect_nspace(&everyone, 1, NULL, 0, j.name, &j.rank),
           PMIX_ERR_NOT_SUPPORTED);
    GOOD(PMIx_Connect_nspace(&everyone, 1, &info, 1, j.name, &j.rank));
    CHECK(j.name[0] == '\0' && j.rank == PMIX_RANK_INVALID);
    EXPECT(leave(&j, false), PMIX_ERR_BAD_PARAM);
    EXPECT(PMIx_Disconnect_nspace("connected", NULL, 0), PMIX_ERR_NOT_FOUND);
}

/* joint_ends optional|early|error: the last rank ends before its connect or its disconnect. */
ALONE(joint_ends)
{
    pmix_status_t code = PMIX_ERR_INVALID_TERMINATION;
    bool optional = strcmp(argv[1], "optional") == 0,
         early = strcmp(argv[1], "early") == 0;
    struct joint j;

    begin();
    const pmix_rank_t last = job_size - 1;
    watch(&code, 1, NULL, 0, on_event);
    barrier();
    if (optional && me.rank == last)
        sleep_ms(200); /* until the others wait for this rank */
    else if (optional)
        GOOD(join(&everyone, 1, NULL, FLAGS(PMIX_CONNECT_OPTIONAL), &j));
    else
        GOOD(join(&everyone, 1, NULL,
                  FLAGS(early ? PMIX_CONNECT_EARLY_TERM_ALLOWED : NULL), &j));
    if (me.rank < last) {
        if (!optional && !early) {
            expect_event(PMIX_ERR_INVALID_TERMINATION, last);
            EXPECT(fence_in(&j, false), PMIX_ERR_LOST_CONNECTION);
        } else {
            GOOD(fence_in(&j,
                          false)); /* the last rank ends before or during the fence */
            expect_no_event();
        }
        GOOD(leave(&j, false));
    } else if (early) {
        sleep_ms(200);
    }
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK joint_ends %u\n", me.rank);
}

/* joint_dead early|late: the last rank ends before or during the calls of the others. */
ALONE(joint_dead)
{
    pmix_info_t timeout = info_timeout(20);
    struct joint j;

    begin();
    barrier();
    bool early = strcmp(argv[1], "early") == 0, dies = me.rank == job_size - 1;
    if (early != dies)
        sleep_ms(300); /* any order has the same result */
    if (!dies) {
        EXPECT(join(&everyone, 1, NULL, NULL, &j), PMIX_ERR_LOST_CONNECTION);
        for (int i = 0; i < 2; i++)
            EXPECT(PMIx_Connect(&everyone, 1, &timeout, 1), PMIX_ERR_LOST_CONNECTION);
    }
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK joint_dead %u\n", me.rank);
}

/* ---- joint_family [child]: rank 0 spawns a separate job of the same size. All processes connect and
 * leave. Then the child processes kill themselves, and the parents get no event. --------------- */

static void spawn_child(pmix_nspace_t job)
{
    char self[4096] = "",
         *argv[] = {(char *)"connector", (char *)"joint_family", (char *)"child", NULL};
    pmix_app_t app = {.cmd = self, .argv = argv, .maxprocs = (int)job_size};
    pmix_info_t apart = info_bool(PMIX_SPAWN_CHILD_SEP);

    CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    GOOD(PMIx_Spawn(&apart, 1, &app, 1, job));
}

static void find_other_job(bool is_child, pmix_nspace_t job)
{
    pmix_value_t name = {.type = PMIX_STRING, .data.string = job};

    if (is_child) {
        VALUE_OF(&me, PMIX_PARENT_ID, PMIX_PROC,
                 snprintf(job, sizeof(pmix_nspace_t), "%s", v->data.proc->nspace) > 0);
        return;
    }
    if (me.rank == 0) {
        spawn_child(job);
        GOOD(PMIx_Put(PMIX_GLOBAL, "job", &name));
        GOOD(PMIx_Commit());
    }
    barrier();
    VALUE_IS(0, "job", PMIX_STRING,
             snprintf(job, sizeof(pmix_nspace_t), "%s", v->data.string) > 0);
}

ALONE(joint_family)
{
    pmix_status_t code = PMIX_ERR_INVALID_TERMINATION;
    bool is_child = argc > 1;
    pmix_nspace_t job;
    pmix_proc_t both[2], peer;
    uint32_t pid = 0;
    struct joint j;

    begin();
    watch(&code, 1, NULL, 0, on_event);
    find_other_job(is_child, job);
    both[0] = everyone;
    PMIX_LOAD_PROCID(&both[1], job, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&peer, job, me.rank);
    GOOD(join(both, 2, NULL, NULL, &j));
    put_u32(PMIX_GLOBAL, "pid", (uint32_t)getpid());
    GOOD(PMIx_Commit());
    GOOD(fence_in(&j, true));
    VALUE_OF(&peer, "pid", PMIX_UINT32, (pid = v->data.uint32) > 0);
    GOOD(leave(&j, false));
    barrier(); /* all ranks of this job have left */
    if (is_child) {
        sleep_ms(200);
        kill(getpid(), SIGKILL);
    }
    for (double end = now_s() + 20; kill((pid_t)pid, 0) == 0; sleep_ms(10))
        CHECK(now_s() < end);
    expect_no_event();
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK joint_family %u\n", me.rank);
}

/* ---- the example of RFC 0003: two clusters, each with a job of the same size ---------------------- */

static void look_up_id(const char *key, pmix_nspace_t id)
{
    double end = now_s() + 20;
    pmix_pdata_t data;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    while (PMIx_Lookup(&data, 1, NULL, 0) != PMIX_SUCCESS) {
        CHECK(now_s() < end);
        sleep_ms(20);
    }
    PMIX_LOAD_NSPACE(id, data.value.data.string);
    PMIX_PDATA_DESTRUCT(&data);
}

/* Runs the example, then uses the namespace for data, fences and events. */
JOINS(clusters)
{
    pmix_status_t code = PMIX_PROC_HAS_DISCONNECTED;
    pmix_nspace_t my_cluster, my_id, remote_id, cluster, nspace;
    const pmix_rank_t n = job_size, last = job_size - 1;
    bool west;
    pmix_value_t *v;
    pmix_info_t infos[2];
    pmix_proc_t procs[2], all;
    struct joint j;

    GOOD(PMIx_Get(&everyone, PMIX_CLUSTER_ID, NULL, 0, &v));
    PMIX_LOAD_NSPACE(my_cluster, v->data.string);
    PMIX_VALUE_RELEASE(v);
    west = strcmp(my_cluster, "west") == 0;
    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(my_id, my_cluster, me.nspace);
    if (me.rank == 0) {
        pmix_data_range_t range = PMIX_RANGE_GLOBAL;

        PMIX_INFO_LOAD(&infos[0], west ? "west-key" : "east-key", my_id, PMIX_STRING);
        PMIX_INFO_LOAD(&infos[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
        GOOD(PMIx_Publish(infos, 2));
        PMIX_INFO_DESTRUCT(&infos[0]);
    }
    look_up_id(west ? "east-key" : "west-key", remote_id);
    PMIX_MULTICLUSTER_NSPACE_PARSE(remote_id, cluster, nspace);
    CHECK(strcmp(cluster, west ? "east" : "west") == 0 &&
          PMIX_CHECK_NSPACE(nspace, me.nspace));
    PMIX_LOAD_PROCID(&procs[0], my_id, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&procs[1], remote_id, PMIX_RANK_WILDCARD);
    GOOD(join(procs, 2, "myconnect", NULL, &j));
    CHECK(j.rank == me.rank + (west ? n : 0)); /* "east" comes before "west" */

    all = rank_in(&j, PMIX_RANK_WILDCARD);
    watch(&code, 1, NULL, 0, on_event);
    VALUE_OF(&all, PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == 2 * n);
    VALUE_OF(&procs[1], PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == n);
    put_u32(PMIX_GLOBAL, "collected", j.rank + 100);
    GOOD(PMIx_Commit());
    GOOD(fence_in(&j, true));
    put_u32(PMIX_GLOBAL, "asked for", j.rank + 200);
    GOOD(PMIx_Commit());
    GOOD(fence_in(&j, false));
    for (pmix_rank_t r = 0; r < 2 * n; r++) {
        pmix_proc_t p = rank_in(&j, r);
        bool mine = (r >= n) == west;

        VALUE_OF(
            &p, PMIX_PROCID, PMIX_PROC,
            v->data.proc->rank == r % n &&
                PMIX_CHECK_NSPACE(v->data.proc->nspace, mine ? me.nspace : remote_id));
        VALUE_OF(&p, PMIX_HOSTNAME, PMIX_STRING,
                 strcmp(v->data.string, r >= n ? "nodeA" : "nodeB") == 0);
        VALUE_OF(&p, "collected", PMIX_UINT32, v->data.uint32 == r + 100);
        VALUE_OF(&p, "asked for", PMIX_UINT32, v->data.uint32 == r + 200);
    }
    PMIX_LOAD_PROCID(&procs[0], my_id, me.rank); /* the name on the other cluster */
    VALUE_OF(&procs[0], "collected", PMIX_UINT32, v->data.uint32 == j.rank + 100);
    GOOD(fence_in(&j, false));
    if (west && me.rank == last) {
        GOOD(leave(&j, true));
    } else {
        expect_event(PMIX_PROC_HAS_DISCONNECTED, last);
        CHECK(PMIX_CHECK_NSPACE(event_source.nspace, west ? me.nspace : remote_id));
        GOOD(fence_in(&j, false)); /* without the rank that left */
        if (n > 1 && !west && me.rank == 0) {
            GOOD(leave(&j, false)); /* without an event for the other cluster */
            return;
        }
        if (n > 1)
            GOOD(fence_in(&j, false));
        GOOD(leave(&j, false));
    }
}
