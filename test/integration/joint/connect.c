/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces of connected processes (RFC 0003): an executable of its own, as other libraries have no such
 * functions. */
#include "../clients/client.h"

#include <pmix_connect.h>

static atomic_int n_heard, n_done;
static pmix_status_t heard_code;
static pmix_proc_t heard_source, heard_set[8];
static size_t n_heard_set;
static char heard_id[64];

HANDLER(on_event)
{
    const pmix_info_t *set = find(info, n, PMIX_GROUP_MEMBERSHIP);
    const pmix_info_t *name = find(info, n, PMIX_CONNECT_ID);

    heard_code = status;
    heard_source = *from;
    n_heard_set = 0;
    for (size_t i = 0; set && i < set->value.data.darray->size && i < 8; i++)
        heard_set[n_heard_set++] = ((pmix_proc_t *)set->value.data.darray->array)[i];
    snprintf(heard_id, sizeof heard_id, "%s", name ? name->value.data.string : "");
    n_heard++;
    HANDLED();
}

static void hears(pmix_status_t code, pmix_rank_t source)
{
    CHECK(wait_for(&n_heard, 10));
    CHECK(heard_code == code && heard_source.rank == source);
    n_heard--;
}

static void hears_nothing(void)
{
    sleep_ms(200);
    CHECK(n_heard == 0);
}

struct joint {
    pmix_nspace_t name;
    pmix_rank_t rank;
};

/* With up to four flags, and an id unless it is NULL. */
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

/* Its members are members[0 ... n - 1] of this job. */
static void look_around(const struct joint *j, const pmix_rank_t *members, uint32_t n)
{
    pmix_proc_t all = rank_in(j, PMIX_RANK_WILDCARD), *peers = NULL;
    char key[32], *nodes = NULL;
    size_t n_peers = 0;

    snprintf(key, sizeof key, "of-%u", n);
    put_u32(PMIX_GLOBAL, key, me.rank + 100);
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
        VALUE_OF(&p, PMIX_LOCAL_RANK, PMIX_UINT16, v->data.uint16 == r);
    }
    GOOD(PMIx_Resolve_nodes(j->name, &nodes));
    GOOD(PMIx_Resolve_peers(nodes, j->name, &peers, &n_peers));
    CHECK(n_peers == n && PMIX_CHECK_NSPACE(peers[0].nspace, j->name));
    free(peers);
    free(nodes);
}

static void on_connected(pmix_status_t status, char nspace[], int rank, void *arg)
{
    struct joint *j = arg;

    CHECK(status == PMIX_SUCCESS);
    PMIX_LOAD_NSPACE(j->name, nspace);
    j->rank = (pmix_rank_t)rank;
    n_done++;
}

/* Names, ranks, data; several at once; one after the other. */
static void identities(void)
{
    const pmix_rank_t all_ranks[] = {0, 1, 2}, two_ranks[] = {0, 2};
    pmix_proc_t listed[3] = {rank_of(2), rank_of(0), rank_of(1)},
                two[2] = {rank_of(2), rank_of(0)};
    struct joint a, b, c, d;

    if (me.rank == 1)
        GOOD(join(listed, 3, NULL, NULL, &a));
    else
        GOOD(join(&everyone, 1, NULL, NULL, &a));
    CHECK(a.rank == me.rank && strchr(a.name, ':') == NULL);
    look_around(&a, all_ranks, 3);
    GOOD(PMIx_Connect_nspace_nb(&everyone, 1, NULL, 0, on_connected, &d));
    GOOD(join(&everyone, 1, "b", NULL, &b)); /* beside the one of no id */
    CHECK(wait_for(&n_done, 20));
    CHECK(!PMIX_CHECK_NSPACE(a.name, b.name) && !PMIX_CHECK_NSPACE(a.name, d.name) &&
          d.rank == me.rank);
    GOOD(leave(&a, false));
    GOOD(leave(&d, false));
    if (me.rank != 1) {
        GOOD(join(two, 2, "b", NULL, &c));
        look_around(&c, two_ranks, 2);
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

/* Rank 0 asks, hears who comes, is told of, and leaves first. */
static void events(void)
{
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
        hears(PMIX_CONNECT_REQUESTED, 0);
        CHECK(n_heard_set == 1 && strcmp(heard_id, "asked") == 0);
        GOOD(join(heard_set, n_heard_set, heard_id, NULL, &j));
    }
    target = rank_in(&j, PMIX_RANK_WILDCARD);
    all.array = &target;
    if (me.rank == 1) {
        PMIX_INFO_LOAD(&info, PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_DATA_ARRAY);
        GOOD(PMIx_Notify_event(PMIX_ERR_NODE_DOWN, &me, PMIX_RANGE_CUSTOM, &info, 1,
                               NULL, NULL));
        PMIX_INFO_DESTRUCT(&info);
    }
    hears(PMIX_ERR_NODE_DOWN, 1);
    GOOD(fence_in(&j, false));
    if (me.rank == 0) {
        GOOD(leave(&j, true));
    } else {
        hears(PMIX_PROC_HAS_DISCONNECTED, 0);
        GOOD(fence_in(&j, false));
        GOOD(leave(&j, false));
    }
    hears_nothing();
    barrier();
    if (me.rank == 0)
        sleep_ms(300); /* the last to come */
    GOOD(join(&everyone, 1, NULL, FLAGS(PMIX_CONNECT_NOTIFY_EACH), &j));
    if (me.rank > 0) {
        CHECK(wait_for(&n_heard, 10));
        while (heard_source.rank != 0)
            sleep_ms(5);
        CHECK(heard_code == PMIX_PROC_HAS_CONNECTED);
    }
    barrier();
    n_heard = 0;
    barrier();
    if (me.rank == 1)
        GOOD(leave(&j, false));
    else
        hears(PMIX_PROC_HAS_DISCONNECTED, 1);
    GOOD(PMIx_Deregister_event_handler(handler, NULL, NULL));
    barrier();
    if (me.rank != 1)
        GOOD(leave(&j, false));
}

JOINS(joint)
{
    CHECK(job_size == 3);
    identities();
    events();
}

/* A server of another implementation, which connects and no more; release 4.2.2 does not end after a connect with a
 * timeout. */
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

/* Rank 2 ends before it has connected, or left: joint_ends optional|early|error. */
ALONE(joint_ends)
{
    pmix_status_t code = PMIX_ERR_INVALID_TERMINATION;
    bool optional = strcmp(argv[1], "optional") == 0,
         early = strcmp(argv[1], "early") == 0;
    struct joint j;

    begin();
    watch(&code, 1, NULL, 0, on_event);
    barrier();
    if (optional && me.rank == 2)
        sleep_ms(200); /* the others wait for it by then */
    else if (optional)
        GOOD(join(&everyone, 1, NULL, FLAGS(PMIX_CONNECT_OPTIONAL), &j));
    else
        GOOD(join(&everyone, 1, NULL,
                  FLAGS(early ? PMIX_CONNECT_EARLY_TERM_ALLOWED : NULL), &j));
    if (me.rank < 2) {
        if (!optional && !early) {
            hears(PMIX_ERR_INVALID_TERMINATION, 2);
            EXPECT(fence_in(&j, false), PMIX_ERR_LOST_CONNECTION);
        } else {
            GOOD(fence_in(&j, false)); /* which rank 2 ends in, or before */
            hears_nothing();
        }
        GOOD(leave(&j, false));
    } else if (early) {
        sleep_ms(200);
    }
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK joint_ends %u\n", me.rank);
}

/* ---- the example of RFC 0003: two clusters, each with ranks 0 and 1 of a job ------------------------- */

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

/* The same example to its end, and then what the namespace is for. */
JOINS(clusters)
{
    pmix_status_t code = PMIX_PROC_HAS_DISCONNECTED;
    pmix_nspace_t my_cluster, my_id, remote_id, cluster, nspace;
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
    CHECK(j.rank == me.rank + (west ? 2 : 0)); /* "east" comes before "west" */

    all = rank_in(&j, PMIX_RANK_WILDCARD);
    watch(&code, 1, NULL, 0, on_event);
    VALUE_OF(&all, PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == 4);
    VALUE_OF(&procs[1], PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == 2);
    put_u32(PMIX_GLOBAL, "collected", j.rank + 100);
    GOOD(PMIx_Commit());
    GOOD(fence_in(&j, true));
    put_u32(PMIX_GLOBAL, "asked for", j.rank + 200);
    GOOD(PMIx_Commit());
    GOOD(fence_in(&j, false));
    for (pmix_rank_t r = 0; r < 4; r++) {
        pmix_proc_t p = rank_in(&j, r);
        bool mine = (r >= 2) == west;

        VALUE_OF(
            &p, PMIX_PROCID, PMIX_PROC,
            v->data.proc->rank == r % 2 &&
                PMIX_CHECK_NSPACE(v->data.proc->nspace, mine ? me.nspace : remote_id));
        VALUE_OF(&p, PMIX_HOSTNAME, PMIX_STRING,
                 strcmp(v->data.string, r >= 2 ? "nodeA" : "nodeB") == 0);
        VALUE_OF(&p, "collected", PMIX_UINT32, v->data.uint32 == r + 100);
        VALUE_OF(&p, "asked for", PMIX_UINT32, v->data.uint32 == r + 200);
    }
    PMIX_LOAD_PROCID(&procs[0], my_id,
                     me.rank); /* by the name that others have for it */
    VALUE_OF(&procs[0], "collected", PMIX_UINT32, v->data.uint32 == j.rank + 100);
    GOOD(fence_in(&j, false));
    if (west && me.rank == 1) {
        GOOD(leave(&j, true));
    } else {
        hears(PMIX_PROC_HAS_DISCONNECTED, 1);
        CHECK(PMIX_CHECK_NSPACE(heard_source.nspace, west ? me.nspace : remote_id));
        GOOD(fence_in(&j, false)); /* without it, in both clusters */
        GOOD(leave(&j, false));
    }
}
