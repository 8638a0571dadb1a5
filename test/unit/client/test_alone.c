/* SPDX-License-Identifier: BSD-3-Clause */
/* A process without a server: all calls that need no server, including topology, binding, locality
 * and distances. */
#include "../rt/rt_test.h"
#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "fake_server.h"
#include "pmix_server.h"
#include "pmix_version.h"
#include "px_test.h"
#include "seccomp.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void setup(void)
{
    setenv("HWLOC_XMLFILE", DEVICES_XML, 1); /* describes the node */
    client_alone();
}

PX_TEST(it_is_rank_0_of_a_job_of_its_own)
{
    char pid[32];

    snprintf(pid, sizeof(pid), ".%ld", (long)getpid());
    ck_assert(px_str_starts(client_self.nspace, "singleton."));
    ck_assert_ptr_nonnull(strstr(client_self.nspace, pid));
    ck_assert_uint_eq(client_self.rank, 0);
    ck_assert(PMIx_Initialized());
    const char *version = PMIx_Get_version();

    ck_assert_ptr_nonnull(strstr(version, "Tenon"));
    version += strcspn(version, "0123456789");
    ck_assert_int_eq(
        strncmp(version, TENON_CLAIMED_VERSION " ", sizeof(TENON_CLAIMED_VERSION)), 0);
    px_test_knows_itself(&client_self);
}

PX_TEST(the_version_of_the_abi_is_known_before_init_and_after_finalize)
{
    static const char *const keys[] = {PMIX_QUERY_STABLE_ABI_VERSION,
                                       PMIX_QUERY_PROVISIONAL_ABI_VERSION};
    pmix_query_t q[] = {PMIX_QUERY_STATIC_INIT, PMIX_QUERY_STATIC_INIT};
    pmix_info_t *results = NULL;
    size_t n = 0;

    PMIx_Argv_append_nosize(&q[0].keys, keys[0]);
    PMIx_Argv_append_nosize(&q[0].keys, keys[1]);
    PMIx_Argv_append_nosize(&q[1].keys, keys[0]);
    for (int life = 0; life < 2; life++) {
        ok(PMIx_Query_info(q, 2, &results, &n));
        ck_assert_uint_eq(n, 3);
        for (size_t i = 0; i < n; i++) {
            ck_assert_str_eq(results[i].key, keys[i % 2]);
            ck_assert_str_eq(results[i].value.data.string, "5.0");
        }
        PMIx_Info_free(results, n);
        ok(PMIx_Query_info(q, 2, NULL, NULL));
        PMIx_Argv_append_nosize(&q[1].keys, "other");
        ck_assert_int_eq(PMIx_Query_info(q, 2, &results, &n),
                         life ? PMIX_ERR_INIT : PMIX_ERR_PARTIAL_SUCCESS);
        if (!life) {
            ck_assert_uint_eq(n, 3);
            PMIx_Info_free(results, n);
            client_finalize();
        }
        free(q[1].keys[1]);
        q[1].keys[1] = NULL;
    }
    PMIx_Query_destruct(&q[0]);
    PMIx_Query_destruct(&q[1]);
}

PX_TEST(a_key_is_answered_for_each_process_that_is_known)
{
    pmix_query_t q[] = {PMIX_QUERY_STATIC_INIT, PMIX_QUERY_STATIC_INIT};
    pmix_info_t *results = NULL;
    size_t n = 0;

    for (int i = 0; i < 2; i++)
        PMIx_Argv_append_nosize(&q[i].keys, PMIX_JOB_SIZE);
    PMIx_Query_qualifiers_create(&q[1], 1);
    PMIX_INFO_LOAD(q[1].qualifiers, PMIX_NSPACE, "unknown", PMIX_STRING);
    ck_assert_int_eq(PMIx_Query_info(q, 2, &results, &n), PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_uint_eq(n, 1);
    PMIx_Info_free(results, n);
    PMIx_Query_destruct(&q[0]);
    PMIx_Query_destruct(&q[1]);
}

PX_TEST(common_keys_have_values)
{
    static const struct {
        bool of_job;
        const char *key;
        uint32_t value;
    } rows[] = {
        {true, PMIX_JOB_SIZE, 1},    {true, PMIX_UNIV_SIZE, 1},
        {true, PMIX_LOCAL_SIZE, 1},  {true, PMIX_NUM_NODES, 1},
        {false, PMIX_LOCAL_RANK, 0}, {false, PMIX_NODE_RANK, 0},
        {false, PMIX_NODEID, 0},     {false, PMIX_APPNUM, 0},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_msg(own_u32(rows[i].of_job ? PMIX_RANK_WILDCARD : 0, rows[i].key) ==
                          rows[i].value,
                      "%s", rows[i].key);
}

PX_TEST(it_can_put_commit_fence_and_get)
{
    static const pmix_scope_t scopes[] = {PMIX_LOCAL, PMIX_REMOTE, PMIX_GLOBAL,
                                          PMIX_INTERNAL};
    pmix_value_t v = {.type = PMIX_UINT32}, *all = NULL;
    char key[8];

    for (uint32_t i = 0; i < PX_COUNT(scopes); i++) {
        snprintf(key, sizeof(key), "key%u", i);
        v.data.uint32 = i;
        ok(PMIx_Put(scopes[i], key, &v));
        v.data.uint32 = i + 10;
        ok(PMIx_Put(scopes[i], key, &v));
    }
    ok(PMIx_Commit());
    ok(PMIx_Commit());
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ok(PMIx_Fence(&client_self, 1, NULL, 0));
    finished(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &done), PMIX_SUCCESS);
    ok(PMIx_Connect(&client_self, 1, NULL, 0)); /* with itself, at once */
    ok(PMIx_Disconnect(&client_self, 1, NULL, 0));
    finished(PMIx_Connect_nb(&client_self, 1, NULL, 0, on_op, &done), PMIX_SUCCESS);
    finished(PMIx_Disconnect_nb(&client_self, 1, NULL, 0, on_op, &done), PMIX_SUCCESS);
    for (uint32_t i = 0; i < PX_COUNT(scopes); i++) {
        snprintf(key, sizeof(key), "key%u", i);
        ck_assert_uint_eq(own_u32(0, key), i + 10);
    }
    ck_assert_uint_eq(own_u32(0, "nothing"), UINT32_MAX);
    ck_assert_uint_eq(own_u32(1, "key0"), UINT32_MAX);
    ok(PMIx_Get(NULL, NULL, NULL, 0, &all)); /* everything, without a key */
    ck_assert_int_eq(all->type, PMIX_DATA_ARRAY);
    ck_assert_uint_eq(
        px_info_u32(all->data.darray->array, all->data.darray->size, "key0", 0), 10);
    PMIX_VALUE_RELEASE(all);
}

PX_TEST(it_resolves_itself)
{
    pmix_proc_t *procs = NULL;
    char *nodes = NULL;
    size_t n = 0;
    pmix_nspace_t unknown = "unknown";

    ok(PMIx_Resolve_peers(NULL, client_self.nspace, &procs, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert(px_proc_same(&procs[0], &client_self));
    free(procs);
    ok(PMIx_Resolve_peers(px_process.host, NULL, &procs, &n));
    ck_assert_uint_eq(n, 1);
    free(procs);
    fails(PMIx_Resolve_peers(NULL, unknown, &procs, &n), NOT_FOUND);
    ck_assert_ptr_null(procs);
    ok(PMIx_Resolve_nodes(client_self.nspace, &nodes));
    ck_assert_str_eq(nodes, px_process.host);
    free(nodes);
    ok(PMIx_Resolve_nodes(NULL, &nodes));
    free(nodes);
    fails(PMIx_Resolve_nodes(unknown, &nodes), NOT_FOUND);
    ck_assert_ptr_null(nodes);
}

PX_TEST(a_value_may_be_stored_for_any_process)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 9}, *got = NULL;
    pmix_proc_t other = proc_of("other", 3);

    ok(PMIx_Store_internal(&other, "colour", &v));
    ok(PMIx_Get(&other, "colour", NULL, 0, &got));
    ck_assert_uint_eq(got->data.uint32, 9);
    PMIX_VALUE_RELEASE(got);
    ok(PMIx_Store_internal(NULL, "own", &v));
    ck_assert_uint_eq(own_u32(0, "own"), 9);
    memset(other.nspace, 'x',
           sizeof(other.nspace)); /* unterminated; truncated by the library */
    ok(PMIx_Store_internal(&other, "colour", &v));
    ok(PMIx_Get(&other, "colour", NULL, 0, &got));
    PMIX_VALUE_RELEASE(got);
}

/* ---- life ------------------------------------------------------------------------ */

PX_TEST(each_init_needs_a_finalize)
{
    pmix_proc_t again;

    fails(PMIx_Init(&again, NULL, 0), UNREACH);
    ck_assert(px_proc_same(&again, &client_self));
    fails(PMIx_Init(NULL, NULL, 0), UNREACH);
    for (int i = 0; i < 2; i++) {
        ok(PMIx_Finalize(NULL, 0));
        ck_assert(PMIx_Initialized());
        ck_assert_uint_eq(own_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 1);
    }
    client_finalize();
    fails(PMIx_Finalize(NULL, 0), INIT);
    ck_assert(!PMIx_Initialized());
}

PX_TEST(repeated_lives_leak_no_descriptors)
{
    int before;

    client_finalize();
    before = (int)px_test_count_fds();
    for (int i = 0; i < 20; i++) {
        pmix_value_t v = {.type = PMIX_UINT32};

        client_alone();
        ck_assert_uint_eq(own_u32(0, "key"),
                          UINT32_MAX); /* not kept from the last life */
        ok(PMIx_Put(PMIX_GLOBAL, "key", &v));
        client_finalize();
    }
    ck_assert_int_eq((int)px_test_count_fds(), before);
}

/* The buffer of uncommitted values grows rarely. */
PX_TEST(puts_reuse_memory)
{
    PX_TEST_NEEDS_ALLOC;
    enum { PUTS = 100 };
    pmix_value_t v = {.type = PMIX_UINT32};
    pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, "key", &v);

    px_alloc_fail_at(0);
    for (int i = 0; !rc && i < PUTS; i++)
        rc = PMIx_Put(PMIX_GLOBAL, "key", &v);
    unsigned n = px_alloc_count();
    px_alloc_fail_end();
    ok(rc);
    ck_assert_uint_lt(n, PUTS / 2);
}

/* ---- calls made in callbacks (docs/callbacks.md) ------------------------------------ */

#define CODE (-701)
static atomic_uint n_events;
static size_t spare_id; /* handler that the callback deregisters */
static pmix_status_t inside[4];

PX_TEST_HANDLER(count_event)
{
    n_events++;
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void call_without_callbacks(pmix_status_t status PX_UNUSED,
                                   void *cbdata PX_UNUSED)
{
    pmix_byte_object_t bo = {.bytes = (char[]){"x"}, .size = 1};

    inside[0] = PMIx_Notify_event(CODE, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL);
    inside[1] = PMIx_Deregister_event_handler(spare_id, NULL, NULL);
    inside[2] = PMIx_IOF_push(&client_self, 1, &bo, NULL, 0, NULL, NULL);
    inside[3] = PMIx_IOF_deregister(4711, NULL, 0, NULL, NULL);
    sem_post(&done);
}

/* Input needs a server. conformance/callbacks makes every call in each kind of callback. */
PX_TEST(a_call_in_a_callback_without_one_of_its_own_has_its_effect_or_a_line)
{
    pmix_status_t spare = CODE - 1;
    struct rt_capture c;

    handle_code(CODE, count_event);
    spare_id = (size_t)PMIx_Register_event_handler(&spare, 1, NULL, 0, count_event,
                                                   NULL, NULL);
    c = rt_capture_begin();
    ok(PMIx_Fence_nb(NULL, 0, NULL, 0, call_without_callbacks, NULL));
    sem_wait(&done);
    for (size_t i = 0; i < PX_COUNT(inside); i++)
        ok(inside[i]);
    ok(PMIx_Fence(NULL, 0, NULL, 0)); /* ends after the posted messages */
    PX_AUTOFREE char *text = rt_capture_end(&c);
    for (int i = 0; i < 10000 && n_events == 0; i++)
        usleep(1000);
    ck_assert_uint_eq(n_events, 1);
    fails(PMIx_Deregister_event_handler(spare_id, NULL, NULL), NOT_FOUND);
    ck_assert_int_eq(rt_count(text, "cannot finish PMIx_IOF_push: "), 1);
    ck_assert_int_eq(rt_count(text, "cannot finish PMIx_IOF_deregister: "), 1);
}

static void swap_client(struct px_call *call, void *args)
{
    struct px_client **other = args, *was = px_process.client;

    px_process.client = *other;
    *other = was;
    px_call_done(call, PMIX_SUCCESS);
}

/* Simulates a call of another thread while the last role ends. */
PX_TEST(a_call_after_the_end_returns_err_init)
{
    struct px_client *client = NULL;

    ok(px_call(px_process.loop, swap_client, &client));
    fails(PMIx_Commit(), INIT);
    finished(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &done), PMIX_ERR_INIT);
    ok(px_call(px_process.loop, swap_client, &client));
}

static int live_anew(void)
{
    pmix_value_t v = {.type = PMIX_UINT32}, *got = NULL;
    pmix_proc_t child;

    const pmix_status_t rcs[] = {
        PMIx_Put(PMIX_GLOBAL, "key", &v),
        PMIx_Commit(),
        PMIx_Fence(NULL, 0, NULL, 0),
        PMIx_Get(&client_self, PMIX_JOB_SIZE, NULL, 0, &got),
        PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &done),
        PMIx_Register_event_handler(NULL, 0, NULL, 0, ignore_event, NULL, NULL),
        PMIx_Deregister_event_handler(0, NULL, NULL),
        PMIx_Notify_event(-1, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
        PMIx_Finalize(NULL, 0)};

    for (size_t i = 0; i < PX_COUNT(rcs); i++)
        if (rcs[i] != PMIX_ERR_INIT || PMIx_Initialized())
            return 1 + (int)i;
    PMIx_Progress();
    if (PMIx_Init(&child, NULL, 0) != PMIX_ERR_UNREACH ||
        PMIx_Put(PMIX_GLOBAL, "key", &v) || PMIx_Get(&child, "key", NULL, 0, &got))
        return 20;
    PMIX_VALUE_RELEASE(got);
    return PMIx_Finalize(NULL, 0) ? 21 : 0;
}

static void fork_here(pmix_status_t status PX_UNUSED, void *cbdata)
{
    pid_t *pid = cbdata;

    *pid = fork();
    if (*pid == 0)
        _exit(live_anew());
    sem_post(&done);
}

PX_TEST(a_forked_child_must_init_itself_and_can)
{
    _Atomic uint8_t *stamp = px_process.stamp;
    pid_t pid = -1;

    for (int i = 0; i < 4; i++) {
        if (i == 1)
            px_process.stamp = NULL; /* then the library compares process ids */
        if (i == 2)
            px_process_lock();
        ck_assert(PMIx_Initialized());
        if (i < 3)
            fork_here(PMIX_SUCCESS, &pid);
        else
            ok(PMIx_Fence_nb(NULL, 0, NULL, 0, fork_here, &pid));
        if (i == 2)
            px_process_unlock();
        sem_wait(&done);
        exits_with_0(pid);
        px_process.stamp = stamp;
    }
    ck_assert_uint_eq(own_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 1);
}

PX_TEST(external_progress_works)
{
    pmix_info_t external = flag(PMIX_EXTERNAL_PROGRESS);

    client_finalize();
    fails(PMIx_Init(&client_self, &external, 1), UNREACH);
    ck_assert_uint_eq(own_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 1);
    ok(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &done));
    while (sem_trywait(&done))
        PMIx_Progress();
    ok(done_status);
}

/* ---- topology -------------------------------------------------------------------- */

static bool has_hwloc(void)
{
    pmix_cpuset_t set = {0};
    pmix_status_t rc = px_cpuset_parse("0", &set);

    PMIx_Cpuset_destruct(&set);
    return rc == PMIX_SUCCESS;
}

#define NEEDS_HWLOC() PX_TEST_NEEDS(has_hwloc(), "hwloc")

static void on_distances(pmix_status_t status, pmix_device_distance_t *dist, size_t n,
                         void *cbdata, pmix_release_cbfunc_t release,
                         void *release_data)
{
    size_t *count = cbdata;

    ck_assert_int_eq(status, n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    if (n)
        ck_assert_str_eq(dist[0].osname, "eth0");
    *count = n;
    if (release)
        release(release_data);
    sem_post(&done);
}

PX_TEST(nonsense_is_refused)
{
    pmix_topology_t none = {0};
    pmix_cpuset_t set = {0};
    pmix_device_distance_t *dist = NULL;
    char *text;
    size_t n;

    NEEDS_HWLOC();
    const pmix_status_t rcs[] = {
        PMIx_Parse_cpuset_string("hwloc:x", &set),
        PMIx_Compute_distances(&none, NULL, NULL, 0, &dist, &n),
        PMIx_Compute_distances(NULL, &set, NULL, 0, &dist, &n),
        PMIx_server_generate_cpuset_string(&set, &text),
    };

    for (size_t i = 0; i < PX_COUNT(rcs); i++)
        ck_assert_msg(rcs[i] == PMIX_ERR_BAD_PARAM, "row %zu: %d", i, rcs[i]);
    ck_assert_ptr_null(set.bitmap);
    ck_assert_ptr_null(dist);
}

PX_TEST(other_topology_sources_are_not_supported)
{
    pmix_topology_t other = {.source = strdup("other")};
    pmix_topology_t newer = {.source = strdup("hwloc:99")};
    pmix_topology_t same = {.source = strdup("HWLOC")};
    pmix_cpuset_t set = {.source = strdup("other")};
    char *text = NULL;

    NEEDS_HWLOC();
    fails(PMIx_Load_topology(&other), NOT_SUPPORTED);
    fails(PMIx_Load_topology(&newer), NOT_SUPPORTED);
    ck_assert_ptr_null(newer.topology);
    ok(PMIx_Load_topology(&same));
    ck_assert_ptr_nonnull(same.topology);
    fails(PMIx_Get_cpuset(&set, PMIX_CPUBIND_THREAD), NOT_SUPPORTED);
    fails(PMIx_server_generate_locality_string(&set, &text), NOT_SUPPORTED);
    PMIx_Topology_destruct(&other);
    PMIx_Topology_destruct(&newer);
    PMIx_Topology_destruct(&same);
    PMIx_Cpuset_destruct(&set);
}

PX_TEST(a_binding_can_be_written_and_read)
{
    pmix_cpuset_t set = {0}, again = {0};
    cpu_set_t one;

    NEEDS_HWLOC();
    ck_assert_int_eq(sched_getaffinity(0, sizeof(one), &one), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &one))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    ok(PMIx_Get_cpuset(&set, PMIX_CPUBIND_THREAD));
    PX_AUTOFREE char *text = NULL;
    ok(PMIx_server_generate_cpuset_string(&set, &text));
    ck_assert_int_eq(strncmp(text, "hwloc:", 6), 0);
    ck_assert_int_eq(atoi(text + 6), cpu);
    ok(PMIx_server_generate_cpuset(text, &again));
    ck_assert_int_eq(px_type_compare(PMIX_PROC_CPUSET, &set, &again), 0);
    PMIx_Cpuset_destruct(&set);
    PMIx_Cpuset_destruct(&again);
}

PX_TEST(distances_come_at_once_or_by_callback)
{
    pmix_device_type_t type = PMIX_DEVTYPE_NETWORK, none = PMIX_DEVTYPE_DMA;
    pmix_device_distance_t *dist = NULL;
    pmix_cpuset_t set = {0};
    pmix_topology_t topo = {0};
    pmix_info_t info;
    size_t n = 0, later = 0;

    NEEDS_HWLOC();
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    ok(PMIx_Compute_distances(NULL, NULL, &info, 1, &dist, &n));
    ck_assert_uint_eq(n, 2);
    PMIx_Device_distance_free(dist, n);
    ok(PMIx_Load_topology(&topo));
    ok(PMIx_Parse_cpuset_string("0-1", &set));
    ok(PMIx_Compute_distances_nb(&topo, &set, &info, 1, on_distances, &later));
    PMIx_Topology_destruct(&topo); /* the call has copied its arguments */
    PMIx_Cpuset_destruct(&set);
    sem_wait(&done);
    ck_assert_uint_eq(later, 2);
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, &none, PMIX_DEVTYPE);
    fails(PMIx_Compute_distances(NULL, NULL, &info, 1, &dist, &n), NOT_FOUND);
    fails(PMIx_Compute_distances_nb(NULL, NULL, &info, 1, on_distances, &later),
          NOT_FOUND);
}

static void on_size(pmix_status_t status, pmix_value_t *value PX_UNUSED, void *cbdata)
{
    pmix_topology_t *topo = cbdata;

    ok(status);
    ok(PMIx_Load_topology(topo));
    sem_post(&done);
}

PX_TEST(a_callback_may_load_the_topology_first)
{
    pmix_topology_t topo = {0};
    pmix_proc_t job = {.rank = PMIX_RANK_WILDCARD};

    NEEDS_HWLOC();
    ok(PMIx_Get_nb(&job, PMIX_JOB_SIZE, NULL, 0, on_size, &topo));
    sem_wait(&done);
    ck_assert_ptr_nonnull(topo.topology);
    PMIx_Topology_destruct(&topo);
}

PX_TEST(init_may_be_given_a_topology)
{
    pmix_topology_t given = {0}, copy, topo = {0};
    pmix_info_t info;

    NEEDS_HWLOC();
    ok(PMIx_Load_topology(&given));
    ok(px_type_copy(PMIX_TOPO, &copy, &given));
    PMIx_Topology_destruct(&given);
    client_end();
    setenv("HWLOC_XMLFILE", "/nonexistent", 1);
    PMIx_Info_load(&info, PMIX_TOPOLOGY2, &copy, PMIX_TOPO);
    fails(PMIx_Init(NULL, &info, 1), UNREACH);
    PMIx_Info_destruct(&info);
    ok(PMIx_Load_topology(&topo));
    topo.source[5] = '\0'; /* compares only up to "hwloc" */
    copy.source[5] = '\0';
    ck_assert_int_eq(px_type_compare(PMIX_TOPO, &topo, &copy), 0);
    PMIx_Topology_destruct(&topo);
    PMIx_Topology_destruct(&copy);
}

static void handler(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                    const pmix_proc_t *source PX_UNUSED, pmix_info_t info[] PX_UNUSED,
                    size_t n PX_UNUSED, pmix_info_t *results PX_UNUSED,
                    size_t n_results PX_UNUSED,
                    pmix_event_notification_cbfunc_fn_t answer PX_UNUSED,
                    void *arg PX_UNUSED)
{
}

PX_TEST(a_handler_is_registered_only_with_a_thread)
{
    PX_TEST_NEEDS_ALLOC; /* the leak checker needs a thread */
    PX_TEST_NEEDS(px_test_deny(SYS_clone3, EAGAIN) && px_test_deny(SYS_clone, EAGAIN),
                  "seccomp");
    for (int i = 0; i < 2; i++)
        fails(PMIx_Register_event_handler(NULL, 0, NULL, 0, handler, NULL, NULL),
              OUT_OF_RESOURCE);
    fails(PMIx_Deregister_event_handler(0, NULL, NULL), NOT_FOUND);
}

PX_TEST_MAIN("client/alone", setup, client_end)
