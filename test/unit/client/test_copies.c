/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs free what they passed as soon as a call returns. Each call is made twice, while the
 * library's thread is kept busy: once with arguments that live on, once with arguments that are
 * overwritten and freed at once. The server must hear the same. */
#include "core/base/strv.h"
#include "core/client/client.h"
#include "alloc_fail.h"
#include "fake_server.h"
#include "px_test.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <string.h>

/* In place of the C library's: hwloc is not installed, so that distances are asked of the
 * server. */
void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int);

    if (file && strstr(file, "hwloc"))
        return NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return real(file, mode);
}

/* ---- arguments of every kind ------------------------------------------------------------------------- */

#define N 3

struct args {
    pmix_proc_t *procs;
    pmix_info_t *info, *monitor;
    pmix_app_t *apps;
    pmix_query_t *queries;
    pmix_resource_unit_t *units;
    pmix_status_t *codes;
    pmix_byte_object_t *object;
    char **keys;
    char *key;
};

static pmix_info_t *some_infos(size_t n)
{
    pmix_info_t *v = malloc(n * sizeof *v);

    for (size_t i = 0; i < n; i++) {
        char key[32];

        snprintf(key, sizeof key, "pmix.key%zu", i);
        PMIx_Info_load(&v[i], key, "a value long enough to be found", PMIX_STRING);
    }
    return v;
}

static struct args make_args(void)
{
    struct args a = {.procs = calloc(N, sizeof *a.procs),
                     .info = some_infos(N),
                     .monitor = some_infos(1),
                     .apps = calloc(N, sizeof *a.apps),
                     .queries = calloc(N, sizeof *a.queries),
                     .units = calloc(N, sizeof *a.units),
                     .codes = calloc(N, sizeof *a.codes),
                     .object = calloc(1, sizeof *a.object),
                     .key = strdup("a.key")};

    for (size_t i = 0; i < N; i++) {
        px_proc_set(&a.procs[i], "job", (pmix_rank_t)i);
        a.apps[i].cmd = strdup("program");
        a.apps[i].info = some_infos(i);
        a.apps[i].ninfo = i;
        a.units[i] = (pmix_resource_unit_t){.type = i, .count = 10 * i};
        a.codes[i] = -1000 - (int)i;
        ck_assert_int_eq(px_strv_append(&a.apps[i].argv, "argument"), 0);
        ck_assert_int_eq(px_strv_append(&a.queries[i].keys, "pmix.qry.ns"), 0);
        ck_assert_int_eq(px_strv_append(&a.keys, "published"), 0);
    }
    a.object->bytes = strdup("credential");
    a.object->size = sizeof("credential");
    return a;
}

static void spoil_memory(void *at, size_t n)
{
    memset(at, 0xa5, n);
    free(at);
}

static void spoil_string(char *s)
{
    spoil_memory(s, strlen(s) + 1);
}

static void spoil_strings(char **v)
{
    size_t n = px_strv_count(v);

    for (size_t i = 0; i < n; i++)
        spoil_string(v[i]);
    spoil_memory(v, n * sizeof *v);
}

static void spoil_infos(pmix_info_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        spoil_string(v[i].value.data.string);
    spoil_memory(v, n * sizeof *v);
}

static void spoil_args(struct args *a)
{
    for (size_t i = 0; i < N; i++) {
        spoil_string(a->apps[i].cmd);
        spoil_strings(a->apps[i].argv);
        spoil_infos(a->apps[i].info, i);
        spoil_strings(a->queries[i].keys);
    }
    spoil_string(a->object->bytes);
    spoil_strings(a->keys);
    spoil_string(a->key);
    spoil_infos(a->info, N);
    spoil_infos(a->monitor, 1);
    spoil_memory(a->procs, N * sizeof *a->procs);
    spoil_memory(a->apps, N * sizeof *a->apps);
    spoil_memory(a->queries, N * sizeof *a->queries);
    spoil_memory(a->units, N * sizeof *a->units);
    spoil_memory(a->codes, N * sizeof *a->codes);
    spoil_memory(a->object, sizeof *a->object);
}

/* ---- the calls --------------------------------------------------------------------------------------- */

static sem_t done;

static void on_op(pmix_status_t status PX_UNUSED, void *cbdata PX_UNUSED)
{
    sem_post(&done);
}

static void on_value(pmix_status_t status PX_UNUSED, pmix_value_t *v PX_UNUSED,
                     void *cbdata PX_UNUSED)
{
    sem_post(&done);
}

static void on_lookup(pmix_status_t status PX_UNUSED, pmix_pdata_t d[] PX_UNUSED,
                      size_t n PX_UNUSED, void *cbdata PX_UNUSED)
{
    sem_post(&done);
}

static void on_spawn(pmix_status_t status PX_UNUSED, pmix_nspace_t ns PX_UNUSED,
                     void *cbdata PX_UNUSED)
{
    sem_post(&done);
}

static void on_info(pmix_status_t status PX_UNUSED, pmix_info_t *v PX_UNUSED,
                    size_t n PX_UNUSED, void *cbdata PX_UNUSED,
                    pmix_release_cbfunc_t release, void *data)
{
    release(data);
    sem_post(&done);
}

static void on_distances(pmix_status_t status PX_UNUSED,
                         pmix_device_distance_t *dist PX_UNUSED, size_t n PX_UNUSED,
                         void *cbdata PX_UNUSED, pmix_release_cbfunc_t release,
                         void *data)
{
    if (release)
        release(data);
    sem_post(&done);
}

static void on_credential(pmix_status_t status PX_UNUSED,
                          pmix_byte_object_t *bo PX_UNUSED, pmix_info_t v[] PX_UNUSED,
                          size_t n PX_UNUSED, void *cbdata PX_UNUSED)
{
    sem_post(&done);
}

static void on_validation(pmix_status_t status PX_UNUSED, pmix_info_t v[] PX_UNUSED,
                          size_t n PX_UNUSED, void *cbdata PX_UNUSED)
{
    sem_post(&done);
}

static size_t registered;

static void on_handler(pmix_status_t status, size_t id, void *cbdata PX_UNUSED)
{
    ck_assert_int_eq(status, PMIX_SUCCESS);
    registered = id;
    sem_post(&done);
}

static void on_event(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                     const pmix_proc_t *source PX_UNUSED, pmix_info_t v[] PX_UNUSED,
                     size_t n PX_UNUSED, pmix_info_t *results PX_UNUSED,
                     size_t n_results PX_UNUSED,
                     pmix_event_notification_cbfunc_fn_t cb PX_UNUSED,
                     void *cbdata PX_UNUSED)
{
}

#define CALL(name, call)                      \
    static pmix_status_t name(struct args *a) \
    {                                         \
        return call;                          \
    }

static pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT;

CALL(fence, PMIx_Fence_nb(a->procs, N, a->info, N, on_op, NULL))
CALL(join, PMIx_Connect_nb(a->procs, N, a->info, N, on_op, NULL))
CALL(part, PMIx_Disconnect_nb(a->procs, N, a->info, N, on_op, NULL))
CALL(publish, PMIx_Publish_nb(a->info, N, on_op, NULL))
CALL(look_up, PMIx_Lookup_nb(a->keys, a->info, N, on_lookup, NULL))
CALL(unpublish, PMIx_Unpublish_nb(a->keys, a->info, N, on_op, NULL))
CALL(spawn, PMIx_Spawn_nb(a->info, N, a->apps, N, on_spawn, NULL))
CALL(get, PMIx_Get_nb(&a->procs[1], a->key, a->info, N, on_value, NULL))
CALL(query, PMIx_Query_info_nb(a->queries, N, on_info, NULL))
CALL(control, PMIx_Job_control_nb(a->procs, N, a->info, N, on_info, NULL))
CALL(report, PMIx_Log_nb(a->info, N, a->monitor, 1, on_op, NULL))
CALL(notify, PMIx_Notify_event(-1234, &a->procs[0], PMIX_RANGE_SESSION, a->info, N,
                               on_op, NULL))
CALL(handle,
     PMIx_Register_event_handler(a->codes, N, a->info, N, on_event, on_handler, NULL))
CALL(allocate, PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, a->info, N, on_info, NULL))
CALL(block, PMIx_Resource_block_nb(1, a->key, a->units, N, a->info, N, on_op, NULL))
CALL(session, PMIx_Session_control(7, a->info, N, on_info, NULL))
CALL(make, PMIx_Get_credential_nb(a->info, N, on_credential, NULL))
CALL(validate, PMIx_Validate_credential_nb(a->object, a->info, N, on_validation, NULL))
CALL(monitor, PMIx_Process_monitor_nb(a->monitor, -5, a->info, N, on_info, NULL))
CALL(fabric_register, PMIx_Fabric_register_nb(&fabric, a->info, N, on_op, NULL))
CALL(distances, PMIx_Compute_distances_nb(NULL, NULL, a->info, N, on_distances, NULL))

static const struct {
    pmix_status_t (*call)(struct args *a);
    uint8_t op;
} calls[] = {
    {fence, PX_OP_FENCE},
    {join, PX_OP_CONNECT},
    {part, PX_OP_DISCONNECT},
    {publish, PX_OP_PUBLISH},
    {look_up, PX_OP_LOOKUP},
    {unpublish, PX_OP_UNPUBLISH},
    {spawn, PX_OP_SPAWN},
    {get, PX_OP_GET},
    {query, PX_OP_QUERY},
    {control, PX_OP_JOB_CONTROL},
    {report, PX_OP_LOG},
    {notify, PX_OP_NOTIFY},
    {handle, PX_OP_REGEVENTS},
    {allocate, PX_OP_ALLOC},
    {block, PX_OP_RESBLK},
    {session, PX_OP_SESSION_CTRL},
    {make, PX_OP_GET_CREDENTIAL},
    {validate, PX_OP_VALIDATE_CRED},
    {monitor, PX_OP_MONITOR},
    {fabric_register, PX_OP_FABRIC_REGISTER},
    {distances, PX_OP_DEVICE_DISTANCES},
};

/* ---- the server, and a busy thread ------------------------------------------------------------------- */

static uint8_t heard_op;
static px_buf heard;

static bool hear(int fd, struct fake_req *req)
{
    time_t stamp;

    if (req->op == PX_OP_REQ || req->op == PX_OP_FINALIZE ||
        req->op == PX_OP_DEREGEVENTS)
        return false;
    heard_op = req->op;
    if (req->op == PX_OP_LOG) /* says when, which is never the same */
        ck_assert_int_eq(px_unpack1(&req->in, &stamp, PMIX_TIME), PMIX_SUCCESS);
    px_buf_cleanup(&heard);
    ck_assert_int_eq(
        px_buf_add(&heard, req->in.pos, (size_t)(req->in.end - req->in.pos)), 0);
    fake_status(fd, req->tag, PMIX_ERR_NOT_SUPPORTED);
    return true;
}

static struct px_msg busy;
static sem_t free_again;

static void on_busy(struct px_msg *msg PX_UNUSED)
{
    sem_wait(&free_again);
}

static void make_busy(void)
{
    busy.run = on_busy;
    ck_assert(px_process_post(&busy));
}

static void finish_call(size_t i)
{
    sem_post(&free_again);
    sem_wait(&done);
    ck_assert_uint_eq(heard_op, calls[i].op);
    if (calls[i].op == PX_OP_REGEVENTS)
        ck_assert_int_eq(PMIx_Deregister_event_handler(registered, NULL, NULL), 0);
}

static void setup(void)
{
    sem_init(&done, 0, 0);
    sem_init(&free_again, 0, 0);
    fake.hook = hear;
    fake_start();
    ck_assert_int_eq(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
}

static void teardown(void)
{
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    fake_stop();
    px_buf_cleanup(&heard);
}

START_TEST(arguments_may_go_as_soon_as_the_call_returns)
{
    for (size_t i = 0; i < PX_COUNT(calls); i++) {
        struct args a = make_args();
        px_buf wanted;

        make_busy();
        ck_assert_int_eq(calls[i].call(&a), PMIX_SUCCESS);
        finish_call(i);
        wanted = px_buf_take(&heard);
        ck_assert_uint_gt(wanted.len, 20);

        make_busy();
        ck_assert_int_eq(calls[i].call(&a), PMIX_SUCCESS);
        spoil_args(&a);
        finish_call(i);
        ck_assert_uint_eq(heard.len, wanted.len);
        ck_assert_mem_eq(heard.data, wanted.data, wanted.len);
        px_buf_cleanup(&wanted);
    }
}
END_TEST

/* The library's thread stands still: every allocation is the caller's. */
static void fail_each_allocation(size_t i, struct args *a)
{
    bool failed = true;

    for (unsigned nth = 1; failed; nth++) {
        px_alloc_fail_at(nth);
        pmix_status_t rc = calls[i].call(a);
        int balance = px_alloc_balance();
        failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        if (failed)
            ck_assert_int_eq(balance, 0);
    }
}

START_TEST(without_memory_a_call_keeps_nothing_and_says_so)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    for (size_t i = 0; i < PX_COUNT(calls); i++) {
        struct args a = make_args();

        make_busy();
        fail_each_allocation(i, &a);
        spoil_args(&a);
        finish_call(i);
    }
}
END_TEST

PX_TEST_MAIN_WITH("client/copies", setup, teardown,
                  arguments_may_go_as_soon_as_the_call_returns,
                  without_memory_a_call_keeps_nothing_and_says_so)
