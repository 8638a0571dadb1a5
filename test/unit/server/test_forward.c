/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that go to the host, as a table: each arrives whole, with the user that the connection
 * proves whatever was claimed, and its answer comes back. Then what is special about some. */
#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CLAIMED 77u

static px_infos claims;

static void setup(void)
{
    uint32_t other = CLAIMED;

    raw_server_start(&host_module, 2);
    ok(px_infos_add(&host.infos, "pmix.answer", "yes", PMIX_STRING));
    host.nspace = "child";
    for (int twice = 0; twice < 2; twice++) {
        ok(px_infos_add(&claims, PMIX_USERID, &other, PMIX_UINT32));
        ok(px_infos_add(&claims, "pmix.how", "well", PMIX_STRING));
        ok(px_infos_add(&claims, PMIX_GRPID, &other, PMIX_UINT32));
    }
}

static void teardown(void)
{
    host_end();
    px_infos_cleanup(&claims);
}

static void restart(const pmix_server_module_t *module)
{
    raw_server_stop();
    raw_server_start(module, 2);
}

/* ---- requests --------------------------------------------------------------------------- */

static void pack_claims(px_writer *w)
{
    px_pack_infos(w, claims.v, claims.n);
}

static void pack_target(px_writer *w)
{
    pmix_proc_t target = raw_proc("job", 0);

    px_pack_procs(w, &target, 1);
}

static void spawn(px_writer *w)
{
    pmix_app_t app = {.cmd = (char *)(uintptr_t) "./prog", .maxprocs = 1};

    pack_claims(w);
    px_pack_size(w, 1);
    px_pack(w, &app, 1, PMIX_APP);
}

static void query(px_writer *w)
{
    char *keys[] = {(char *)(uintptr_t) "pmix.qry.ns", NULL};
    pmix_query_t q = {.keys = keys, .qualifiers = claims.v, .nqual = claims.n};

    px_pack_size(w, 1);
    px_pack(w, &q, 1, PMIX_QUERY);
}

static void log_at(px_writer *w, time_t stamp)
{
    pmix_info_t data;

    PMIx_Info_load(&data, PMIX_LOG_STDERR, "hello", PMIX_STRING);
    px_pack(w, &stamp, 1, PMIX_TIME);
    px_pack_infos(w, &data, 1);
    pack_claims(w);
    PMIx_Info_destruct(&data);
}

static void log_line(px_writer *w)
{
    log_at(w, 0);
}

static void job_control(px_writer *w)
{
    pack_target(w);
    pack_claims(w);
}

static void monitor(px_writer *w)
{
    pmix_info_t what;

    PMIx_Info_load(&what, PMIX_MONITOR_FILE, "/some/file", PMIX_STRING);
    px_pack(w, &what, 1, PMIX_INFO);
    px_pack_status(w, PMIX_MONITOR_FILE_ALERT);
    pack_claims(w);
    PMIx_Info_destruct(&what);
}

static void allocate(px_writer *w)
{
    px_pack_u8(w, PMIX_ALLOC_EXTEND, PMIX_ALLOC_DIRECTIVE);
    pack_claims(w);
}

static void block_of(px_writer *w, const char *name, size_t n_units)
{
    pmix_resource_unit_t units[] = {{.type = 1, .count = 4}, {.type = 2, .count = 9}};

    w->codec = px_codec_newest(w->codec);
    px_pack_u8(w, 3, PMIX_RESBLOCK_DIRECTIVE);
    px_pack_str(w, name);
    px_pack_size(w, n_units);
    if (n_units)
        px_pack(w, units, (int32_t)n_units, PMIX_RESOURCE_UNIT);
    pack_claims(w);
}

static void block(px_writer *w)
{
    block_of(w, "mine", 2);
}

static void session(px_writer *w)
{
    px_pack_u32(w, 4711);
    pack_claims(w);
}

static void validate(px_writer *w)
{
    px_pack_bytes(w, "secret", sizeof("secret"));
    pack_claims(w);
}

static void update(px_writer *w)
{
    px_pack_size(w, 12);
}

static void publish(px_writer *w)
{
    px_pack_u32(w, CLAIMED);
    pack_claims(w);
}

static void lookup(px_writer *w)
{
    px_pack_u32(w, CLAIMED);
    px_pack_size(w, 1);
    px_pack_str(w, "colour");
    pack_claims(w);
}

static void pull(px_writer *w)
{
    pmix_iof_channel_t out = PMIX_FWD_STDOUT_CHANNEL;

    pack_target(w);
    pack_claims(w);
    px_pack(w, &out, 1, PMIX_IOF_CHANNEL);
}

static void push(px_writer *w)
{
    pack_target(w);
    pack_claims(w);
    px_pack_bytes(w, "in", 2);
}

static void regevents(px_writer *w)
{
    pmix_status_t code = PMIX_ERR_NODE_DOWN;

    px_pack_size(w, 1);
    px_pack(w, &code, 1, PMIX_STATUS);
    pack_claims(w);
}

enum { ANY = -1 };

static const struct row {
    void (*pack)(px_writer *w);
    const char *slot;
    int code; /* as the host records it, or ANY */
    uint8_t op;
    bool infos;  /* the reply is a status and the host's infos */
    bool nobody; /* the host is not told which process asks */
} rows[] = {
    {spawn, "spawn", 1, PX_OP_SPAWN, false, false},
    {query, "query", 1, PX_OP_QUERY, true, false},
    {log_line, "log", ANY, PX_OP_LOG, false, false},
    {job_control, "job_control", ANY, PX_OP_JOB_CONTROL, true, false},
    {monitor, "monitor", PMIX_MONITOR_FILE_ALERT, PX_OP_MONITOR, true, false},
    {allocate, "allocate", PMIX_ALLOC_EXTEND, PX_OP_ALLOC, true, false},
    {block, "resource_block", 3, PX_OP_RESBLK, false, false},
    {session, "session_control", 4711, PX_OP_SESSION_CTRL, true, false},
    {pack_claims, "get_credential", ANY, PX_OP_GET_CREDENTIAL, false, false},
    {validate, "validate_credential", sizeof("secret"), PX_OP_VALIDATE_CRED, true,
     false},
    {pack_claims, "fabric", PMIX_FABRIC_REQUEST_INFO, PX_OP_FABRIC_REGISTER, true,
     false},
    {update, "fabric", PMIX_FABRIC_UPDATE_INFO, PX_OP_FABRIC_UPDATE, true, false},
    {publish, "publish", ANY, PX_OP_PUBLISH, false, false},
    {lookup, "lookup", ANY, PX_OP_LOOKUP, false, false},
    {lookup, "unpublish", ANY, PX_OP_UNPUBLISH, false, false},
    {pull, "iof_pull", PMIX_FWD_STDOUT_CHANNEL, PX_OP_IOF_PULL, false, true},
    {push, "push_stdin", ANY, PX_OP_IOF_PUSH, false, false},
    {regevents, "register_events", PMIX_ERR_NODE_DOWN, PX_OP_REGEVENTS, false, true},
};

static pmix_status_t request(int fd, const struct row *row, px_reader *rest)
{
    px_writer w;

    raw_begin(&w, row->op);
    row->pack(&w);
    return raw_request(fd, &w, rest);
}

static const struct row *row_of(uint8_t op)
{
    size_t i = 0;

    while (rows[i].op != op)
        i++;
    return &rows[i];
}

static pmix_status_t ask(int fd, uint8_t op, px_reader *rest)
{
    return request(fd, row_of(op), rest);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static unsigned n_of(const char *key)
{
    unsigned n = 0;

    for (size_t i = 0; i < host.given.n; i++)
        n += PMIx_Check_key(host.given.v[i].key, key);
    return n;
}

static uint32_t given(const char *key)
{
    return px_info_u32(host.given.v, host.given.n, key, CLAIMED);
}

static void check_answer(px_reader *r)
{
    px_infos got = {0};

    ok(px_unpack_infos(r, &got.v, &got.n));
    ck_assert_str_eq(px_info_str(got.v, got.n, "pmix.answer"), "yes");
    ck_assert(px_reader_done(r));
    px_infos_cleanup(&got);
}

PX_TEST(each_reaches_the_host_as_the_user_that_the_connection_proves)
{
    static const enum host_how hows[] = {HOST_INSIDE, HOST_THREAD};
    int fd = raw_client(1);

    for (size_t i = 0; i < PX_COUNT(rows) * PX_COUNT(hows); i++) {
        const struct row *row = &rows[i / PX_COUNT(hows)];
        px_reader r;

        host.how = hows[i % PX_COUNT(hows)];
        host.status = row->infos && host.how == HOST_THREAD ? PMIX_ERR_PARTIAL_SUCCESS
                                                            : PMIX_SUCCESS;
        host.code = 0;
        ck_assert_int_eq(request(fd, row, &r), host.status);
        ck_assert_str_eq(host.name, row->slot);
        if (row->code != ANY)
            ck_assert_int_eq(host.code, row->code);
        if (!row->nobody)
            ck_assert_uint_eq(host.proc.rank, 1);
        ck_assert(host.args_lived);
        ck_assert_msg(n_of(PMIX_USERID) == 1 && given(PMIX_USERID) == geteuid(),
                      "user of %s", row->slot);
        ck_assert_msg(n_of(PMIX_GRPID) == 1 && given(PMIX_GRPID) == getegid(),
                      "group of %s", row->slot);
        if (row->pack != update)
            ck_assert_uint_eq(n_of("pmix.how"), 2);
        if (row->infos)
            check_answer(&r);
    }
}

PX_TEST(damaged_ones_never_reach_the_host)
{
    int fd = raw_client(0);
    unsigned n = 0;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_writer w;

        raw_begin(&w, rows[i].op);
        ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
        raw_begin(&w, rows[i].op);
        px_pack_str(&w, "nothing of the kind");
        px_pack_str(&w, "nor this");
        px_pack_size(&w, SIZE_MAX);
        if (rows[i].pack != update) /* whose index may be any */
            ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
        px_writer_cleanup(&w);
        n += host_calls(rows[i].slot);
    }
    ck_assert_uint_eq(n, 0);
}

PX_TEST(a_module_without_slots_supports_none)
{
    static const pmix_server_module_t nothing = {0};

    restart(&nothing);
    int fd = raw_client(0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_reader r;
        pmix_status_t rc = request(fd, &rows[i], &r);

        if (rows[i].op == PX_OP_REGEVENTS) { /* the server sees to those itself */
            ok(rc);
            continue;
        }
        ck_assert_msg(rc == PMIX_ERR_NOT_SUPPORTED, "%s: %d", rows[i].slot, rc);
        if (rows[i].infos && !px_reader_done(&r)) {
            px_infos none = {0};

            ok(px_unpack_infos(&r, &none.v, &none.n));
            ck_assert_uint_eq(none.n, 0);
        }
    }
    ok(raw_finalize(fd));
}

PX_TEST(processes_of_another_user_are_not_named)
{
    static const uint8_t ops[] = {PX_OP_JOB_CONTROL, PX_OP_IOF_PULL, PX_OP_IOF_PUSH};
    int fd = raw_client(0);

    px_peer_find(px_process.server, &(pmix_proc_t){"job", 0})->uid = 4711;
    for (size_t i = 0; i < PX_COUNT(ops); i++) {
        ck_assert_int_eq(ask(fd, ops[i], NULL), PMIX_ERR_NO_PERMISSIONS);
        ck_assert_uint_eq(host_calls(row_of(ops[i])->slot), 0);
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

PX_TEST(a_group_that_is_not_known_is_not_claimed_either)
{
    pmix_proc_t proc = raw_proc("job", 1);
    int fd = raw_client(1);

    px_peer_find(px_process.server, &proc)->gid = (gid_t)-1;
    ok(ask(fd, PX_OP_GET_CREDENTIAL, NULL));
    ck_assert_uint_eq(n_of(PMIX_USERID), 1);
    ck_assert_uint_eq(n_of(PMIX_GRPID), 0);
}

static int unix_socket(void)
{
    static const char scheme[] = "usock://";
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *at = strstr(px_process.server->own_uri, scheme);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_ptr_nonnull(at);
    ck_assert(px_str_copy(a.sun_path, sizeof a.sun_path, at + strlen(scheme)));
    ok(connect(fd, (struct sockaddr *)&a, sizeof a));
    return fd;
}

PX_TEST(a_group_that_the_host_does_not_know_is_told_by_the_kernel)
{
    struct px_hello hello = raw_hello("job", 1);
    int by_tcp = raw_socket();

    ok(PMIx_server_register_client(&hello.proc, geteuid(), (gid_t)-1, NULL, NULL,
                                   NULL));
    ok(raw_say_hello(by_tcp, &hello));
    ck_assert_uint_eq(px_peer_find(px_process.server, &hello.proc)->gid, (gid_t)-1);
    close(by_tcp);
    raw_await_gone(1);
    ok(raw_say_hello(unix_socket(), &hello));
    ck_assert_uint_eq(px_peer_find(px_process.server, &hello.proc)->gid, getegid());
}

/* ---- spawn ----------------------------------------------------------------------------------- */

PX_TEST(a_spawn_reply_names_the_job_and_tells_all_about_it)
{
    int fd = raw_client(0);
    PX_AUTOFREE char *name = NULL;
    size_t n = 0;
    px_reader r;

    raw_add_job("child", 1, 0, geteuid());
    ok(ask(fd, PX_OP_SPAWN, &r));
    ck_assert_str_eq(host.text, "./prog");
    ok(px_unpack_str(&r, &name));
    ck_assert_str_eq(name, "child");
    for (; !px_reader_done(&r); n++) {
        struct px_kval kv = {0};

        ok(px_unpack_kval(&r, &kv));
        px_kval_fini(&kv);
    }
    ck_assert_uint_gt(n, 3);
}

PX_TEST(a_failed_spawn_names_no_job)
{
    int fd = raw_client(0);
    PX_AUTOFREE char *name = NULL;
    px_reader r;
    px_writer w;

    host.status = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    ck_assert_int_eq(ask(fd, PX_OP_SPAWN, &r), PMIX_ERR_JOB_FAILED_TO_LAUNCH);
    ok(px_unpack_str(&r, &name));
    ck_assert_ptr_null(name);
    ck_assert(px_reader_done(&r));

    raw_begin(&w, PX_OP_SPAWN); /* of no application */
    pack_claims(&w);
    px_pack_size(&w, 0);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(host_calls("spawn"), 1);
}

PX_TEST(the_parent_is_the_process_that_asks_whatever_it_claims)
{
    pmix_proc_t other = raw_proc("other", 9);
    int fd = raw_client(1);

    for (int claimed = 0; claimed < 3; claimed++) {
        ok(ask(fd, PX_OP_SPAWN, NULL));
        const pmix_info_t *parent = px_info_find(host.given.v, host.given.n,
                                                 PMIX_PARENT_ID);
        ck_assert_uint_eq(n_of(PMIX_PARENT_ID), 1);
        ck_assert_str_eq(parent->value.data.proc->nspace, "job");
        ck_assert_uint_eq(parent->value.data.proc->rank, 1);
        ck_assert_uint_eq(n_of(PMIX_REQUESTOR_IS_TOOL), 0);
        ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_REQUESTOR_IS_CLIENT));
        ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_SPAWNED));
        ok(px_infos_add(&claims, PMIX_PARENT_ID, &other, PMIX_PROC));
        ok(px_infos_add(&claims, PMIX_REQUESTOR_IS_TOOL, NULL, PMIX_BOOL));
    }
}

/* ---- others ---------------------------------------------------------------------------------- */

PX_TEST(what_requests_carry_is_what_the_host_gets)
{
    int fd = raw_client(0);

    ok(ask(fd, PX_OP_JOB_CONTROL, NULL));
    ck_assert_str_eq(host.procs[0].nspace, "job");
    ok(ask(fd, PX_OP_QUERY, NULL));
    ck_assert_str_eq(host.keys[0], "pmix.qry.ns");
    ok(ask(fd, PX_OP_VALIDATE_CRED, NULL));
    ck_assert_str_eq(host.text, "secret");
    ok(ask(fd, PX_OP_MONITOR, NULL));
    ck_assert_str_eq(
        px_info_str(host.given_data.v, host.given_data.n, PMIX_MONITOR_FILE),
        "/some/file");
    ok(ask(fd, PX_OP_FABRIC_UPDATE, NULL));
    const pmix_info_t *index = px_info_find(host.given.v, host.given.n,
                                            PMIX_FABRIC_INDEX);
    ck_assert_ptr_nonnull(index);
    ck_assert_uint_eq(index->value.data.size, 12);
}

PX_TEST(a_resource_block_is_named_and_made_of_units)
{
    int fd = raw_client(0);
    px_reader r;
    px_writer w;

    ok(ask(fd, PX_OP_RESBLK, &r));
    ck_assert(px_reader_done(&r));
    ck_assert_str_eq(host.text, "mine");
    ck_assert_uint_eq(host.n_keys, 9);
    raw_begin(&w, PX_OP_RESBLK);
    block_of(&w, "mine", 0);
    host.status = PMIX_ERR_NOT_FOUND;
    host.how = HOST_ERROR;
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_FOUND);
    raw_begin(&w, PX_OP_RESBLK);
    block_of(&w, NULL, 1);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(host_calls("resource_block"), 2);
}

PX_TEST(a_credential_comes_with_infos_or_not_at_all)
{
    int fd = raw_client(0);
    pmix_byte_object_t bo;
    px_reader r;

    host.bytes = "\0\1\2";
    host.n_bytes = 3;
    host.how = HOST_THREAD;
    ok(ask(fd, PX_OP_GET_CREDENTIAL, &r));
    ok(px_unpack_bytes(&r, &bo));
    ck_assert_uint_eq(bo.size, 3);
    ck_assert_mem_eq(bo.bytes, "\0\1\2", 3);
    check_answer(&r);
    px_type_destruct(PMIX_BYTE_OBJECT, &bo);
    host.status = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_eq(ask(fd, PX_OP_GET_CREDENTIAL, &r), PMIX_ERR_NO_PERMISSIONS);
    ck_assert(px_reader_done(&r));
}

PX_TEST(a_log_carries_its_time_and_ends_with_the_callback)
{
    int fd = raw_client(0);
    px_writer w;

    host.how = HOST_THREAD;
    host.status = PMIX_ERR_NOT_AVAILABLE;
    for (int timed = 1; timed >= 0; timed--) {
        raw_begin(&w, PX_OP_LOG);
        log_at(&w, timed ? 1700000000 : 0);
        ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_AVAILABLE);
        ck_assert_uint_eq(n_of(PMIX_LOG_TIMESTAMP), timed);
        ck_assert_str_eq(
            px_info_str(host.given_data.v, host.given_data.n, PMIX_LOG_STDERR),
            "hello");
        host.how = HOST_INSIDE;
    }
}

PX_TEST(the_newer_form_of_a_slot_is_used_where_it_is_there)
{
    pmix_server_module_t both = host_module;
    const pmix_server_module_t alone = {.log2 = host_log2};

    both.log2 = host_log2;
    restart(&both);
    int fd = raw_client(0);
    host.how = HOST_THREAD;
    ok(ask(fd, PX_OP_LOG, NULL));
    host.how = HOST_ERROR; /* which the older one cannot say */
    host.status = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_eq(ask(fd, PX_OP_LOG, NULL), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_eq(host_calls("log2"), 2);
    ck_assert_uint_eq(host_calls("log"), 0);
    host.status = PMIX_SUCCESS;
    host.how = HOST_INSIDE;
    restart(&alone);
    ok(ask(raw_client(0), PX_OP_LOG, NULL));
    ck_assert_uint_eq(host_calls("log2"), 3);
}

/* No reply, no end of the connection, no upcall. */
PX_TEST(a_heartbeat_that_is_not_watched_for_is_ignored)
{
    int fd = raw_client(0);
    px_writer w;

    px_writer_init(&w, px_codec_default);
    raw_send(fd, PX_TAG_HEARTBEAT, &w);
    ck_assert(raw_quiet(fd));
    ck_assert_uint_eq(host_calls("monitor"), 0);
    ok(raw_finalize(fd));
}

/* The server's own calls go to its host as those of any client. */
PX_TEST(a_server_asks_its_own_host)
{
    pmix_byte_object_t cred = {.bytes = (char *)"secret", .size = sizeof("secret")};
    pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT;
    pmix_resource_unit_t unit = {.type = 1, .count = 5};
    pmix_byte_object_t made;
    pmix_info_t *got, what;
    size_t n, index = 6;

    host.how = HOST_THREAD;
    host.bytes = "made";
    host.n_bytes = 4;
    ok(px_infos_add(&host.infos, PMIX_FABRIC_INDEX, &index, PMIX_SIZE));
    ok(PMIx_Allocation_request(PMIX_ALLOC_NEW, NULL, 0, &got, &n));
    ck_assert_str_eq(px_info_str(got, n, "pmix.answer"), "yes");
    px_type_free_array(PMIX_INFO, got, n);
    ck_assert(px_proc_same(&host.proc, &px_process.server->proc));
    ok(PMIx_Resource_block(1, (char *)"mine", &unit, 1, NULL, 0));
    ck_assert_str_eq(host.text, "mine");
    ck_assert_int_eq(PMIx_Session_control(8, NULL, 0, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    ck_assert_int_eq(host.code, 8);
    ok(PMIx_Get_credential(NULL, 0, &made));
    ck_assert_mem_eq(made.bytes, "made", 4);
    px_type_destruct(PMIX_BYTE_OBJECT, &made);
    ok(PMIx_Validate_credential(&cred, NULL, 0, NULL, NULL));
    ck_assert_str_eq(host.text, "secret");
    PMIx_Info_load(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL);
    ok(PMIx_Process_monitor(&what, PMIX_MONITOR_HEARTBEAT_ALERT, NULL, 0, NULL, NULL));
    ck_assert_int_eq(host.code, PMIX_MONITOR_HEARTBEAT_ALERT);
    ok(PMIx_Fabric_register(&fabric, NULL, 0));
    ck_assert_uint_eq(fabric.index, 6);
    ok(PMIx_Fabric_update(&fabric));
    ck_assert_int_eq(host.code, PMIX_FABRIC_UPDATE_INFO);
    ok(PMIx_Fabric_deregister(&fabric));
    PMIx_Heartbeat();
}

PX_TEST_MAIN("server/forward", setup, teardown)
