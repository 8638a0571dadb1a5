/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of every call that sends a request. Tests check the request field by field and the result of
 * the call, blocking or not. Programs may free their arguments as soon as a call returns. */
#include "core/base/strv.h"
#include "core/client/client.h"
#include "alloc_fail.h"
#include "fake_server.h"
#include "px_test.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

/* Replaces the C library's dlopen. Without hwloc the client requests distances from the server. */
void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *, int);

    if (file && strstr(file, "hwloc"))
        return NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return real(file, mode);
}

/* ---- arguments of every kind ----------------------------------------------------- */

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

/* Memory of all arguments and of everything the arguments point to. */
static _Alignas(max_align_t) char arena[16384];
static size_t used;

static void *take(size_t n)
{
    void *at = arena + used;

    used += (n + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    ck_assert_uint_le(used, sizeof(arena));
    return memset(at, 0, n);
}

static char *text(const char *s)
{
    return strcpy(take(strlen(s) + 1), s);
}

static pmix_info_t *some_infos(size_t n)
{
    pmix_info_t *v = take(n * sizeof(*v));

    for (size_t i = 0; i < n; i++) {
        snprintf(v[i].key, sizeof(v[i].key), "pmix.key%zu", i);
        v[i].value.type = PMIX_STRING;
        v[i].value.data.string = text("a value long enough to be found");
    }
    return v;
}

static char **some_texts(size_t n, const char *s)
{
    char **v = take((n + 1) * sizeof(*v));

    for (size_t i = 0; i < n; i++)
        v[i] = text(s);
    return v;
}

static struct args make_args(void)
{
    struct args a = {.procs = take(N * sizeof(*a.procs)),
                     .info = some_infos(N),
                     .monitor = some_infos(1),
                     .apps = take(N * sizeof(*a.apps)),
                     .queries = take(N * sizeof(*a.queries)),
                     .units = take(N * sizeof(*a.units)),
                     .codes = take(N * sizeof(*a.codes)),
                     .object = take(sizeof(*a.object)),
                     .keys = some_texts(N, "published"),
                     .key = text("a.key")};

    for (size_t i = 0; i < N; i++) {
        a.procs[i] = rank((pmix_rank_t)i);
        a.apps[i].cmd = text("program");
        a.apps[i].argv = some_texts(1, "argument");
        a.apps[i].info = some_infos(i);
        a.apps[i].ninfo = i;
        a.units[i] = (pmix_resource_unit_t){.type = i, .count = 10 * i};
        a.codes[i] = -1000 - (int)i;
        a.queries[i].keys = some_texts(1, "pmix.qry.ns");
    }
    a.object->bytes = text("credential");
    a.object->size = sizeof("credential");
    return a;
}

static void spoil_args(void)
{
    memset(arena, 0xa5, sizeof(arena));
    used = 0;
}

/* ---- results --------------------------------------------------------------------- */

static pmix_info_t *results;
static size_t n_results;
static pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT;

static void on_value(pmix_status_t status, pmix_value_t *v PX_UNUSED, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_lookup(pmix_status_t status, pmix_pdata_t d[] PX_UNUSED,
                      size_t n PX_UNUSED, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_spawn(pmix_status_t status, pmix_nspace_t ns PX_UNUSED, void *cbdata)
{
    on_op(status, cbdata);
}

static pmix_release_cbfunc_t give_back;
static void *given;

/* Keeps the infos after the call, until release_results(). */
static void on_info(pmix_status_t status, pmix_info_t *v, size_t n, void *cbdata,
                    pmix_release_cbfunc_t release, void *data)
{
    results = v;
    n_results = n;
    give_back = release;
    given = data;
    on_op(status, cbdata);
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *dist PX_UNUSED,
                         size_t n PX_UNUSED, void *cbdata,
                         pmix_release_cbfunc_t release, void *data)
{
    if (release)
        release(data);
    on_op(status, cbdata);
}

static void on_credential(pmix_status_t status, pmix_byte_object_t *bo, pmix_info_t v[],
                          size_t n, void *cbdata)
{
    ck_assert(!bo == (status != PMIX_SUCCESS));
    if (bo) {
        ck_assert_uint_eq(bo->size, 5);
        ck_assert_mem_eq(bo->bytes, "\0cred", 5);
    }
    ck_assert_uint_eq(n, bo ? 2 : 0);
    ck_assert_ptr_eq(px_info_find(v, n, "pmix.answer"), bo ? v : NULL);
    on_op(status, cbdata);
}

static void on_validation(pmix_status_t status, pmix_info_t v[], size_t n, void *cbdata)
{
    if (n > 0)
        ck_assert_str_eq(px_info_str(v, n, "pmix.answer"), "yes");
    on_op(status, cbdata);
}

static size_t registered;

static void on_handler(pmix_status_t status, size_t id, void *cbdata)
{
    registered = id;
    on_op(status, cbdata);
}

PX_TEST_HANDLER(on_event)
{
}

/* ---- the calls ------------------------------------------------------------------- */

#define R &results, &n_results
#define D &done

static bool is_uncalled; /* the non-blocking forms get no callback */

static struct row {
    uint8_t op;
    enum { BARE, SOME_INFOS, OTHER } reply; /* part of the reply after the status */
    pmix_status_t (*wait)(struct args *a);
    pmix_status_t (*post)(struct args *a);
    void (*expected)(px_writer *w, struct args *a); /* packs the expected request */
} rows[32];
static size_t n_rows;

/* Adds a row: the call in blocking and non-blocking form, and the expected request. */
#define CALL(name, op_, reply_, wait_, post_, ...)                                   \
    static pmix_status_t name##_wait(struct args *a PX_UNUSED)                       \
    {                                                                                \
        return wait_;                                                                \
    }                                                                                \
    static pmix_status_t name##_post(struct args *a PX_UNUSED)                       \
    {                                                                                \
        return post_;                                                                \
    }                                                                                \
    static void name##_expected(px_writer *w PX_UNUSED, struct args *a PX_UNUSED)    \
    {                                                                                \
        __VA_ARGS__;                                                                 \
    }                                                                                \
    __attribute__((constructor)) static void name##_list(void)                       \
    {                                                                                \
        rows[n_rows++] = (struct row){PX_OP_##op_, reply_, name##_wait, name##_post, \
                                      name##_expected};                              \
    }

static void pack_units(px_writer *w, const struct args *a)
{
    px_pack_size(w, N);
    px_pack(w, a->units, N, PMIX_RESOURCE_UNIT);
}

static void pack_keys(px_writer *w, const struct args *a)
{
    px_pack_u32(w, geteuid());
    px_pack_size(w, N);
    for (size_t i = 0; i < N; i++)
        px_pack_str(w, a->keys[i]);
}

/* Packs a get request, with the attribute for replies in parts. */
static void pack_get(px_writer *w, const struct args *a)
{
    PX_AUTO(px_infos) infos = {0};

    px_pack_str(w, "job");
    px_pack_rank(w, 1);
    ok(px_infos_add_copy(&infos, a->info, N));
    ok(px_infos_add(&infos, PX_GET_PARTS, NULL, PMIX_BOOL));
    px_pack_infos(w, infos.v, infos.n);
    px_pack_str(w, a->key);
}

/* clang-format off */
#define CB(fn) (is_uncalled ? NULL : fn)
#define INFOS px_pack_infos(w, a->info, N)
#define PROCS px_pack_procs(w, a->procs, N)
#define NONE  PMIX_ERR_NOT_SUPPORTED

CALL(fence, FENCE, BARE, PMIx_Fence(a->procs, N, a->info, N),
     PMIx_Fence_nb(a->procs, N, a->info, N, CB(on_op), D), PROCS; INFOS)
CALL(join, CONNECT, BARE, PMIx_Connect(a->procs, N, a->info, N),
     PMIx_Connect_nb(a->procs, N, a->info, N, CB(on_op), D), PROCS; INFOS)
CALL(part, DISCONNECT, BARE, PMIx_Disconnect(a->procs, N, a->info, N),
     PMIx_Disconnect_nb(a->procs, N, a->info, N, CB(on_op), D), PROCS; INFOS)
CALL(publish, PUBLISH, BARE, PMIx_Publish(a->info, N),
     PMIx_Publish_nb(a->info, N, CB(on_op), D),
     px_pack_u32(w, geteuid()); INFOS)
CALL(look_up, LOOKUP, OTHER, NONE, PMIx_Lookup_nb(a->keys, a->info, N, CB(on_lookup), D),
     pack_keys(w, a); INFOS)
CALL(unpublish, UNPUBLISH, BARE, PMIx_Unpublish(a->keys, a->info, N),
     PMIx_Unpublish_nb(a->keys, a->info, N, CB(on_op), D), pack_keys(w, a); INFOS)
CALL(withdraw, UNPUBLISH, BARE, PMIx_Unpublish(NULL, a->info, N),
     PMIx_Unpublish_nb(NULL, a->info, N, CB(on_op), D),
     px_pack_u32(w, geteuid()); px_pack_size(w, 0); INFOS)
CALL(spawn, SPAWN, OTHER, NONE, PMIx_Spawn_nb(a->info, N, a->apps, N, CB(on_spawn), D),
     INFOS; px_pack_size(w, N); px_pack(w, a->apps, N, PMIX_APP))
CALL(get, GET, OTHER, NONE, PMIx_Get_nb(&a->procs[1], a->key, a->info, N, CB(on_value), D),
     pack_get(w, a))
CALL(query, QUERY, SOME_INFOS, PMIx_Query_info(a->queries, N, R),
     PMIx_Query_info_nb(a->queries, N, CB(on_info), D),
     px_pack_size(w, N); px_pack(w, a->queries, N, PMIX_QUERY))
CALL(control, JOB_CONTROL, SOME_INFOS, PMIx_Job_control(a->procs, N, a->info, N, R),
     PMIx_Job_control_nb(a->procs, N, a->info, N, CB(on_info), D), PROCS; INFOS)
CALL(report, LOG, BARE, PMIx_Log(a->info, N, a->monitor, 1),
     PMIx_Log_nb(a->info, N, a->monitor, 1, CB(on_op), D),
     INFOS; px_pack_infos(w, a->monitor, 1))
CALL(notify, NOTIFY, BARE,
     PMIx_Notify_event(-1234, &a->procs[0], PMIX_RANGE_RM, a->info, N,
       NULL, NULL),
     PMIx_Notify_event(-1234, &a->procs[0], PMIX_RANGE_RM, a->info, N, CB(on_op), D),
     px_pack_status(w, -1234); px_pack_u8(w, PMIX_RANGE_RM, PMIX_DATA_RANGE);
       INFOS)
CALL(handle, REGEVENTS, OTHER, NONE,
     PMIx_Register_event_handler(a->codes, N, a->info, N, on_event, CB(on_handler), D),
     px_pack_size(w, N); px_pack(w, a->codes, N, PMIX_STATUS); INFOS)
CALL(allocate, ALLOC, SOME_INFOS,
     PMIx_Allocation_request(PMIX_ALLOC_EXTEND, a->info, N, R),
     PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, a->info, N, CB(on_info), D),
     px_pack_u8(w, PMIX_ALLOC_EXTEND, PMIX_ALLOC_DIRECTIVE); INFOS)
CALL(block, RESBLK, BARE, PMIx_Resource_block(2, a->key, a->units, N, a->info, N),
     PMIx_Resource_block_nb(2, a->key, a->units, N, a->info, N, CB(on_op), D),
     w->codec = px_codec_newest(w->codec); px_pack_u8(w, 2, PMIX_RESBLOCK_DIRECTIVE);
       px_pack_str(w, a->key); pack_units(w, a); INFOS)
CALL(session, SESSION_CTRL, SOME_INFOS, NONE,
     PMIx_Session_control(77, a->info, N, CB(on_info), D),
     px_pack_u32(w, 77); INFOS)
CALL(make, GET_CREDENTIAL, OTHER, NONE,
     PMIx_Get_credential_nb(a->info, N, CB(on_credential), D), INFOS)
CALL(validate, VALIDATE_CRED, SOME_INFOS,
     PMIx_Validate_credential(a->object, a->info, N, R),
     PMIx_Validate_credential_nb(a->object, a->info, N, CB(on_validation), D),
     px_pack_bytes(w, a->object->bytes, a->object->size); INFOS)
CALL(monitor, MONITOR, SOME_INFOS, PMIx_Process_monitor(a->monitor, -5, a->info, N, R),
     PMIx_Process_monitor_nb(a->monitor, -5, a->info, N, CB(on_info), D),
     px_pack(w, a->monitor, 1, PMIX_INFO); px_pack_status(w, -5); INFOS)
CALL(distances, DEVICE_DISTANCES, OTHER, NONE,
     PMIx_Compute_distances_nb(NULL, NULL, a->info, N, CB(on_distances), D),
     const pmix_topology_t none = {0}; const pmix_cpuset_t here = {0}; px_pack(w,
       &none, 1, PMIX_TOPO); px_pack(w, &here, 1, PMIX_PROC_CPUSET); INFOS)
CALL(fabric_register, FABRIC_REGISTER, OTHER, NONE,
     PMIx_Fabric_register_nb(&fabric, a->info, N, CB(on_op), D),
     INFOS)
CALL(abort_job, ABORT, BARE, PMIx_Abort(3, a->key, a->procs, N), NONE,
     px_pack_status(w, 3); px_pack_str(w, a->key); PROCS)
CALL(leave, GROUP_LEAVE, BARE, PMIx_Group_leave(a->key, a->info, N),
     PMIx_Group_leave_nb(a->key, a->info, N, CB(on_op), D), px_pack_str(w, a->key); INFOS)
CALL(construct, GROUP_CONSTRUCT, OTHER, NONE,
     PMIx_Group_construct_nb(a->key, a->procs, N, a->info, N, CB(on_info), D),
     px_pack_str(w, a->key); PROCS; INFOS)
CALL(destruct, GROUP_DESTRUCT, BARE, PMIx_Group_destruct(a->key, a->info, N),
     PMIx_Group_destruct_nb(a->key, a->info, N, CB(on_op), D),
     px_pack_str(w, a->key); px_pack_procs(w, NULL, 0); INFOS)
/* clang-format on */

/* ---- the server, and a busy thread ----------------------------------------------- */

static uint8_t received_op;
static px_buf received; /* last request, after its command */
static pmix_info_t found[2];

static void add_infos(px_writer *w, const struct fake_req *req PX_UNUSED)
{
    px_pack_infos(w, found, PX_COUNT(found));
}

static void add_credential(px_writer *w, const struct fake_req *req)
{
    if (fake.answer)
        return;
    px_pack_bytes(w, "\0cred", 5);
    add_infos(w, req);
}

static bool receive(int fd PX_UNUSED, struct fake_req *req)
{
    time_t stamp;

    if (req->op == PX_OP_REQ || req->op == PX_OP_FINALIZE ||
        req->op == PX_OP_DEREGEVENTS)
        return false;
    received_op = req->op;
    if (req->op == PX_OP_LOG) /* the time stamp always differs */
        ok(px_unpack1(&req->in, &stamp, PMIX_TIME));
    px_buf_cleanup(&received);
    ok(px_buf_add(&received, req->in.pos, (size_t)(req->in.end - req->in.pos)));
    return false;
}

static struct px_msg busy;
static sem_t free_again, stands;

static void on_busy(struct px_msg *msg PX_UNUSED)
{
    sem_post(&stands);
    sem_wait(&free_again);
}

/* Blocks the loop until free_again, after all earlier messages have run. */
static void make_busy(void)
{
    busy.run = on_busy;
    ck_assert(px_process_post(&busy));
    sem_wait(&stands);
}

static void release_results(void)
{
    if (give_back)
        give_back(given);
    give_back = NULL;
    results = NULL;
    n_results = 0;
}

static void wait_for(const struct row *row, pmix_status_t wanted)
{
    sem_wait(&done);
    ck_assert_uint_eq(received_op, row->op);
    if (row->op == PX_OP_REGEVENTS) /* succeeds whatever the server replies */
        ok(PMIx_Deregister_event_handler(registered, NULL, NULL));
    else
        ck_assert_int_eq(done_status, wanted);
}

static void finish_call(const struct row *row)
{
    sem_post(&free_again);
    wait_for(row, PMIX_ERR_NOT_SUPPORTED);
    release_results();
}

static void setup(void)
{
    size_t index = 3;

    sem_init(&free_again, 0, 0);
    sem_init(&stands, 0, 0);
    fake.answer = PMIX_ERR_NOT_SUPPORTED;
    PMIx_Info_load(&found[0], "pmix.answer", "yes", PMIX_STRING);
    PMIx_Info_load(&found[1], PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
    client_of_hook(receive);
}

static void teardown(void)
{
    client_end();
    px_buf_cleanup(&received);
    PMIx_Info_destruct(&found[0]);
    PMIx_Info_destruct(&found[1]);
}

/* ---- rows ------------------------------------------------------------------------ */

static void has_sent(const struct row *row, struct args *a)
{
    px_writer w = fake_begin();

    row->expected(&w, a);
    ok(w.status);
    ck_assert_uint_eq(received_op, row->op);
    ck_assert_uint_eq(received.len, w.buf.len);
    ck_assert_mem_eq(received.data, w.buf.data, received.len);
    px_writer_cleanup(&w);
}

/* Checks the results, which belong to the caller. */
static void has_results(const struct row *row)
{
    /* A query that fails has no results. */
    bool none = row->op == PX_OP_QUERY && fake.answer == PMIX_ERR_NOT_SUPPORTED;

    ck_assert_uint_eq(n_results, row->reply == SOME_INFOS && fake.add && !none ? 2 : 0);
    if (n_results > 0)
        ck_assert_str_eq(px_info_str(results, n_results, "pmix.answer"), "yes");
    else
        ck_assert_ptr_null(results);
}

static void call_both_ways(const struct row *row, struct args *a)
{
    pmix_status_t rc = row->wait(a);

    if (received_op) {
        ck_assert_int_eq(rc, fake.answer);
        has_sent(row, a);
        has_results(row);
        px_type_free_array(PMIX_INFO, results, n_results);
        results = NULL;
        n_results = 0;
    }
    if (row->post(a) != PMIX_SUCCESS)
        return; /* the call has only the blocking form */
    wait_for(row, fake.answer);
    if (row->op != PX_OP_REGEVENTS)
        has_sent(row, a);
    if (row->op != PX_OP_VALIDATE_CRED) /* these results are freed after the callback */
        has_results(row);
    release_results();
}

PX_TEST(a_call_sends_its_arguments_and_returns_the_reply)
{
    static const pmix_status_t answers[] = {PMIX_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS,
                                            PMIX_ERR_NOT_SUPPORTED};

    for (size_t i = 0; i < n_rows; i++) {
        struct args a = make_args();

        /* Other tests cover replies of the kind OTHER. */
        for (size_t k = rows[i].reply == OTHER ? 2 : 0; k < PX_COUNT(answers); k++) {
            received_op = 0;
            fake.answer = answers[k];
            fake.add = rows[i].reply == SOME_INFOS ? add_infos : NULL;
            call_both_ways(&rows[i], &a);
        }
        fake.add = NULL; /* only a status, as for an unknown command */
        received_op = 0;
        call_both_ways(&rows[i], &a);
        spoil_args();
    }
}

PX_TEST(arguments_may_go_as_soon_as_the_call_returns)
{
    for (size_t i = 0; i < n_rows; i++) {
        struct args a = make_args();
        px_buf wanted;

        make_busy();
        if (rows[i].post(&a)) { /* only the blocking form */
            sem_post(&free_again);
            spoil_args();
            continue;
        }
        finish_call(&rows[i]);
        wanted = px_buf_take(&received);
        ck_assert_uint_gt(wanted.len, 20);

        make_busy();
        ok(rows[i].post(&a));
        spoil_args();
        finish_call(&rows[i]);
        ck_assert_uint_eq(received.len, wanted.len);
        ck_assert_mem_eq(received.data, wanted.data, wanted.len);
        px_buf_cleanup(&wanted);
    }
}

/* Fails each allocation of a call in turn. The library's thread is blocked. */
static void fail_each_allocation(const struct row *row, struct args *a)
{
    free(px_process_alloc_msg(1)); /* frees the blocks of earlier calls, too */
    for (unsigned nth = 0; px_alloc_next(&nth);)
        (void)px_alloc_check(row->post(a));
}

PX_TEST(a_call_without_memory_returns_nomem_and_keeps_nothing)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    for (size_t i = 0; i < n_rows; i++) {
        struct args a = make_args();

        if (rows[i].op != PX_OP_ABORT) { /* abort has only the blocking form */
            make_busy();
            fail_each_allocation(&rows[i], &a);
            finish_call(&rows[i]);
        }
        spoil_args();
    }
}

PX_TEST(without_a_server_a_call_ends_at_once)
{
    static const struct {
        uint8_t op;
        pmix_status_t wanted;
    } others[] = {
        {PX_OP_GET, PMIX_ERR_NOT_FOUND},     {PX_OP_FENCE, PMIX_ERR_NOT_FOUND},
        {PX_OP_CONNECT, PMIX_ERR_NOT_FOUND}, {PX_OP_DISCONNECT, PMIX_ERR_NOT_FOUND},
        {PX_OP_NOTIFY, PMIX_SUCCESS},        {PX_OP_REGEVENTS, PMIX_SUCCESS}};

    client_end();
    client_alone();
    for (size_t i = 0; i < n_rows; i++) {
        pmix_status_t rc, wanted = PMIX_ERR_UNREACH;
        struct args a = make_args();

        for (size_t k = 0; k < PX_COUNT(others); k++)
            if (rows[i].op == others[k].op)
                wanted = others[k].wanted;
        rc = rows[i].wait(&a);
        ck_assert(rc == wanted || rc == NONE);
        has_results(&rows[i]);
        if (rows[i].op != PX_OP_ABORT) { /* abort has only the blocking form */
            finished(rows[i].post(&a), wanted);
            has_results(&rows[i]);
            release_results();
        }
        spoil_args();
    }
    pmix_info_t beat = flag(PMIX_SEND_HEARTBEAT);
    fails(PMIx_Process_monitor(&beat, PMIX_SUCCESS, NULL, 0, NULL, NULL), UNREACH);
}

enum { SERVED, LEFT, ALONE, ENDED, N_STATES };

static bool leave(int fd, struct fake_req *req PX_UNUSED)
{
    shutdown(fd, SHUT_RDWR);
    return true;
}

static void enter(int state)
{
    if (state == LEFT) {
        fake.hook = leave;
        fails(PMIx_Fence(NULL, 0, NULL, 0), LOST_CONNECTION);
    } else if (state > LEFT) {
        client_end();
    }
    if (state == ALONE)
        client_alone();
}

struct posting {
    const struct row *row;
    struct args *args;
    int n_done; /* callbacks that ran before the call returned */
};

static void do_post(struct px_call *call, void *arg)
{
    struct posting *p = arg;
    pmix_status_t rc = p->row->post(p->args);

    sem_getvalue(&done, &p->n_done);
    px_call_done(call, rc);
}

/* Makes the calls in the thread that runs callbacks. */
PX_TEST_LOOP(no_callback_runs_within_its_call, N_STATES)
{
    enter(_i);
    for (size_t i = 0; i < n_rows; i++) {
        struct args a = make_args();
        struct posting p = {&rows[i], &a, 0};
        pmix_status_t rc = _i == ENDED ? rows[i].post(&a)
                                       : px_call(px_process.loop, do_post, &p);

        ck_assert_int_eq(p.n_done, 0);
        ck_assert(rc == NONE || rc == (_i == ENDED ? PMIX_ERR_INIT : PMIX_SUCCESS));
        if (!rc && _i == SERVED)
            wait_for(&rows[i], fake.answer);
        else if (!rc)
            sem_wait(&done);
        release_results();
        spoil_args();
    }
    ck_assert_int_ne(sem_trywait(&done), 0);
}

/* ---- special calls --------------------------------------------------------------- */

/* Calls without a callback for the result (docs/adr/0030). */
PX_TEST(a_call_without_its_callback_answers_as_in_the_table)
{
    static const uint8_t refused[] = {PX_OP_LOOKUP,          PX_OP_LOG,
                                      PX_OP_GET_CREDENTIAL,  PX_OP_VALIDATE_CRED,
                                      PX_OP_GROUP_CONSTRUCT, PX_OP_GROUP_DESTRUCT,
                                      PX_OP_GROUP_LEAVE,     PX_OP_GET,
                                      PX_OP_DEVICE_DISTANCES};
    static const uint8_t blocking[] = {PX_OP_NOTIFY, PX_OP_REGEVENTS,
                                       PX_OP_SESSION_CTRL, PX_OP_ABORT};

    is_uncalled = true;
    for (size_t i = 0; i < n_rows; i++) {
        struct args a = make_args();

        if (!memchr(blocking, rows[i].op, sizeof(blocking)))
            ck_assert_int_eq(rows[i].post(&a),
                             memchr(refused, rows[i].op, sizeof(refused))
                                 ? PMIX_ERR_BAD_PARAM
                                 : PMIX_SUCCESS);
        spoil_args();
    }
}

PX_TEST(results_are_optional)
{
    struct args a = make_args();

    fake.add = add_infos;
    ck_assert_int_eq(PMIx_Job_control(NULL, 0, a.info, N, NULL, NULL), fake.answer);
    ok(PMIx_Job_control_nb(NULL, 0, a.info, N, NULL, NULL));
    ok(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, NULL, 0, NULL, NULL));
    ck_assert_int_eq(PMIx_Session_control(77, a.info, N, NULL, NULL), fake.answer);
    fake.answer = PMIX_SUCCESS;
    ck_assert_int_eq(PMIx_Session_control(77, a.info, N, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    spoil_args();
}

PX_TEST(heartbeats_get_no_reply)
{
    pmix_info_t beat = flag(PMIX_SEND_HEARTBEAT);

    fake.answer = PMIX_SUCCESS;
    PMIx_Heartbeat();
    ok(PMIx_Process_monitor(&beat, PMIX_SUCCESS, NULL, 0, NULL, NULL));
    ck_assert_int_eq(PMIx_Process_monitor_nb(&beat, PMIX_SUCCESS, NULL, 0, on_info, D),
                     PMIX_OPERATION_SUCCEEDED);
    ck_assert_int_eq(PMIx_Process_monitor_nb(&beat, PMIX_SUCCESS, NULL, 0, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    ok(PMIx_Log(&found[0], 1, NULL, 0)); /* arrives after the heartbeats */
    ck_assert_uint_eq(__atomic_load_n(&fake.n_beats, __ATOMIC_SEQ_CST), 4);
    ck_assert_uint_eq(fake.n_ops[PX_OP_MONITOR], 0);
}

PX_TEST(old_servers_do_not_support_resource_blocks)
{
    client_end();
    fake.codec.dialect = px_dialect_find("v3");
    fake.uri_variable = "PMIX_SERVER_URI3";
    client_begin();
    fails(PMIx_Resource_block(2, (char *)"mine", NULL, 0, found, 1), NOT_SUPPORTED);
    ck_assert_uint_eq(fake.n_ops[PX_OP_RESBLK], 0);
}

PX_TEST(a_credential_is_the_callers)
{
    pmix_byte_object_t bo;

    fake.add = add_credential;
    fake.answer = PMIX_SUCCESS;
    ok(PMIx_Get_credential(found, 1, &bo));
    ck_assert_uint_eq(bo.size, 5);
    ck_assert_mem_eq(bo.bytes, "\0cred", 5);
    free(bo.bytes);
    finished(PMIx_Get_credential_nb(found, 1, on_credential, D), PMIX_SUCCESS);
    fake.answer = PMIX_ERR_NO_PERMISSIONS;
    fails(PMIx_Get_credential(found, 1, &bo), NO_PERMISSIONS);
    ck_assert_ptr_null(bo.bytes);
    ck_assert_uint_eq(bo.size, 0);
    fake.answer = PMIX_SUCCESS;
    fake.add = NULL; /* success without a credential is an error */
    ck_assert_int_lt(PMIx_Get_credential(found, 1, &bo), 0);
}

PX_TEST(a_fabric_keeps_the_hosts_infos)
{
    const pmix_info_t *before;
    pmix_fabric_t f;

    fake.add = add_infos;
    PMIx_Fabric_construct(&f);
    PMIx_Fabric_construct(NULL);
    f.name = (char *)"mine";
    fails(PMIx_Fabric_register(&f, NULL, 0), NOT_SUPPORTED);
    ck_assert_uint_eq(f.index, SIZE_MAX); /* unchanged by a failure */
    ck_assert_ptr_null(f.info);
    fake.answer = PMIX_SUCCESS;
    finished(PMIx_Fabric_register_nb(&f, found, 1, on_op, D), PMIX_SUCCESS);
    before = f.info;
    fake.answer = PMIX_ERR_NOT_FOUND;
    finished(PMIx_Fabric_update_nb(&f, on_op, D), PMIX_ERR_NOT_FOUND);
    ck_assert_ptr_eq(f.info, before);
    ck_assert_int_eq(PMIx_Fabric_deregister_nb(&f, on_op, D), PMIX_OPERATION_SUCCEEDED);
    ck_assert_ptr_null(f.info);
    fake.answer = PMIX_SUCCESS;
    ok(PMIx_Fabric_register(&f, found, 1));
    ck_assert_uint_eq(f.index, 3);
    ck_assert_str_eq(px_info_str(f.info, f.ninfo, "pmix.answer"), "yes");
    ok(PMIx_Fabric_update(&f));
    ck_assert_uint_eq(received_op, PX_OP_FABRIC_UPDATE);
    PX_AUTO(px_writer) w = fake_begin();
    px_pack_size(&w, 3);
    ck_assert_uint_eq(received.len, w.buf.len);
    ck_assert_mem_eq(received.data, w.buf.data, received.len);
    ck_assert_uint_eq(f.ninfo, 2);
    received_op = 0;
    ok(PMIx_Fabric_deregister(&f));
    ck_assert_uint_eq(received_op, 0); /* the server gets no request */
    ck_assert_ptr_null(f.info);
    ck_assert_uint_eq(f.ninfo, 0);
    ck_assert_uint_eq(f.index, SIZE_MAX);
    ck_assert_str_eq(f.name, "mine");
}

PX_TEST_MAIN("client/calls", setup, teardown)
