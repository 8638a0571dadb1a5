/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that go to the host as they come: resource blocks, sessions, credentials, monitoring,
 * fabrics; and logs in their newer form. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    raw_server_start(&host_module, 2);
    ok(px_infos_add(&host.infos, "pmix.answer", "yes", PMIX_STRING));
}

static pmix_info_t directive(void)
{
    pmix_info_t i;

    PMIx_Info_load(&i, "pmix.how", "well", PMIX_STRING);
    return i;
}

static px_writer begin(uint8_t op)
{
    px_writer w;

    raw_begin(&w, op);
    return w;
}

static void end(px_writer *w)
{
    pmix_info_t i = directive();

    px_pack_infos(w, &i, 1);
    PMIx_Info_destruct(&i);
}

static px_writer block(const char *name, size_t n_units)
{
    pmix_resource_unit_t units[] = {{.type = 1, .count = 4}, {.type = 2, .count = 9}};
    px_writer w = begin(PX_OP_RESBLK);

    w.codec = px_codec_newest(w.codec);
    px_pack_u8(&w, 3, PMIX_RESBLOCK_DIRECTIVE);
    px_pack_str(&w, name);
    px_pack_size(&w, n_units);
    if (n_units)
        px_pack(&w, units, (int32_t)n_units, PMIX_RESOURCE_UNIT);
    end(&w);
    return w;
}

static px_writer session(void)
{
    px_writer w = begin(PX_OP_SESSION_CTRL);

    px_pack_u32(&w, 4711);
    end(&w);
    return w;
}

static px_writer get_cred(void)
{
    px_writer w = begin(PX_OP_GET_CREDENTIAL);

    end(&w);
    return w;
}

static px_writer validate(void)
{
    px_writer w = begin(PX_OP_VALIDATE_CRED);

    px_pack_bytes(&w, "secret", sizeof("secret"));
    end(&w);
    return w;
}

static px_writer monitor(void)
{
    pmix_info_t what;
    px_writer w = begin(PX_OP_MONITOR);

    PMIx_Info_load(&what, PMIX_MONITOR_FILE, "/some/file", PMIX_STRING);
    px_pack(&w, &what, 1, PMIX_INFO);
    px_pack_status(&w, PMIX_MONITOR_FILE_ALERT);
    end(&w);
    PMIx_Info_destruct(&what);
    return w;
}

static px_writer fabric_register(void)
{
    px_writer w = begin(PX_OP_FABRIC_REGISTER);

    end(&w);
    return w;
}

static px_writer fabric_update(void)
{
    px_writer w = begin(PX_OP_FABRIC_UPDATE);

    px_pack_size(&w, 12);
    return w;
}

static const struct {
    px_writer (*make)(void);
    const char *slot;
    int code; /* what the host records */
    uint8_t op;
} passed[] = {
    {session, "session_control", 4711, PX_OP_SESSION_CTRL},
    {validate, "validate_credential", sizeof("secret"), PX_OP_VALIDATE_CRED},
    {monitor, "monitor", PMIX_MONITOR_FILE_ALERT, PX_OP_MONITOR},
    {fabric_register, "fabric", PMIX_FABRIC_REQUEST_INFO, PX_OP_FABRIC_REGISTER},
    {fabric_update, "fabric", PMIX_FABRIC_UPDATE_INFO, PX_OP_FABRIC_UPDATE},
};

/* STATUS, infos, nothing more. */
static void answer_is(int fd, px_writer *w, pmix_status_t status)
{
    pmix_info_t *v;
    px_reader r;
    size_t n;

    ck_assert_int_eq(raw_request(fd, w, &r), status);
    ok(px_unpack_infos(&r, &v, &n));
    ck_assert_str_eq(px_info_str(v, n, "pmix.answer"), "yes");
    ck_assert(px_reader_done(&r));
    px_type_free_array(PMIX_INFO, v, n);
}

START_TEST(requests_reach_the_host_and_its_infos_come_back)
{
    static const enum host_how hows[] = {HOST_INSIDE, HOST_THREAD};
    int fd = raw_client(1);

    for (size_t i = 0; i < PX_COUNT(passed); i++) {
        for (size_t h = 0; h < PX_COUNT(hows); h++) {
            px_writer w = passed[i].make();

            host.how = hows[h];
            host.status = h ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
            host.code = 0;
            answer_is(fd, &w, host.status);
            ck_assert_str_eq(host.name, passed[i].slot);
            ck_assert_int_eq(host.code, passed[i].code);
            ck_assert_uint_eq(host.proc.rank, 1);
            ck_assert(host.args_lived);
            if (passed[i].op != PX_OP_FABRIC_UPDATE)
                ck_assert_str_eq(px_info_str(host.given.v, host.given.n, "pmix.how"),
                                 "well");
        }
    }
    ck_assert_str_eq(host.text, "secret");
    ck_assert_str_eq(
        px_info_str(host.given_data.v, host.given_data.n, PMIX_MONITOR_FILE),
        "/some/file");
    const pmix_info_t *index = px_info_find(host.given.v, host.given.n,
                                            PMIX_FABRIC_INDEX);
    ck_assert_ptr_nonnull(index);
    ck_assert_uint_eq(index->value.data.size, 12);
}
END_TEST

START_TEST(a_resource_block_is_named_and_made_of_units)
{
    int fd = raw_client(0);
    px_writer w = block("mine", 2);
    px_reader r;

    host.how = HOST_THREAD;
    ok(raw_request(fd, &w, &r));
    ck_assert(px_reader_done(&r));
    ck_assert_str_eq(host.name, "resource_block");
    ck_assert_str_eq(host.text, "mine");
    ck_assert_int_eq(host.code, 3);
    ck_assert_uint_eq(host.n_keys, 9);
    w = block("mine", 0);
    host.status = PMIX_ERR_NOT_FOUND;
    host.how = HOST_ERROR;
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_FOUND);
    w = block(NULL, 1);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(host_calls("resource_block"), 2);
}
END_TEST

START_TEST(a_credential_comes_with_infos_or_not_at_all)
{
    int fd = raw_client(0);
    px_writer w = get_cred();
    pmix_byte_object_t bo;
    pmix_info_t *v;
    px_reader r;
    size_t n;

    host.bytes = "\0\1\2";
    host.n_bytes = 3;
    host.how = HOST_THREAD;
    ok(raw_request(fd, &w, &r));
    ck_assert_str_eq(host.name, "get_credential");
    ok(px_unpack_bytes(&r, &bo));
    ck_assert_uint_eq(bo.size, 3);
    ck_assert_mem_eq(bo.bytes, "\0\1\2", 3);
    ok(px_unpack_infos(&r, &v, &n));
    ck_assert_str_eq(px_info_str(v, n, "pmix.answer"), "yes");
    px_type_free_array(PMIX_INFO, v, n);
    px_type_destruct(PMIX_BYTE_OBJECT, &bo);
    host.status = PMIX_ERR_NO_PERMISSIONS;
    w = get_cred();
    ck_assert_int_eq(raw_request(fd, &w, &r), PMIX_ERR_NO_PERMISSIONS);
    ck_assert(px_reader_done(&r));
}
END_TEST

START_TEST(damaged_requests_never_reach_the_host)
{
    static const uint8_t ops[] = {
        PX_OP_RESBLK,  PX_OP_SESSION_CTRL,    PX_OP_GET_CREDENTIAL, PX_OP_VALIDATE_CRED,
        PX_OP_MONITOR, PX_OP_FABRIC_REGISTER, PX_OP_FABRIC_UPDATE};
    int fd = raw_client(0);

    for (size_t i = 0; i < PX_COUNT(ops); i++) {
        px_writer w = begin(ops[i]);

        ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
        w = begin(ops[i]);
        px_pack_str(&w, "nothing of the kind");
        px_pack_str(&w, "nor this");
        px_pack_size(&w, SIZE_MAX);
        if (ops[i] != PX_OP_FABRIC_UPDATE) /* whose index may be any */
            ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
        px_writer_cleanup(&w);
    }
    ck_assert_uint_eq(host_calls("monitor") + host_calls("fabric") +
                          host_calls("get_credential") + host_calls("session_control") +
                          host_calls("validate_credential") +
                          host_calls("resource_block"),
                      0);
}
END_TEST

START_TEST(a_module_without_slots_supports_none_of_it)
{
    static const pmix_server_module_t nothing = {0};

    raw_server_stop();
    raw_server_start(&nothing, 1);
    int fd = raw_client(0);
    px_writer w = block("mine", 1);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    w = get_cred();
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    for (size_t i = 0; i < PX_COUNT(passed); i++) {
        w = passed[i].make();
        ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    }
}
END_TEST

static pmix_status_t log_a_line(int fd)
{
    px_writer w = begin(PX_OP_LOG);
    time_t stamp = 0;

    px_pack(&w, &stamp, 1, PMIX_TIME);
    end(&w);
    end(&w);
    return raw_request(fd, &w, NULL);
}

START_TEST(the_newer_form_of_a_slot_is_used_where_both_are_there)
{
    pmix_server_module_t module = host_module;

    module.log2 = host_log2;
    raw_server_stop();
    raw_server_start(&module, 1);
    int fd = raw_client(0);
    host.how = HOST_THREAD;
    ok(log_a_line(fd));
    host.how = HOST_ERROR; /* which the older one cannot say */
    host.status = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_eq(log_a_line(fd), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_eq(host_calls("log2"), 2);
    ck_assert_uint_eq(host_calls("log"), 0);
    host.status = PMIX_SUCCESS;
    host.how = HOST_INSIDE;
}
END_TEST

START_TEST(a_newer_slot_alone_is_enough)
{
    pmix_server_module_t module = {.log2 = host_log2};

    raw_server_stop();
    raw_server_start(&module, 1);
    int fd = raw_client(0);
    ok(log_a_line(fd));
    ck_assert_uint_eq(host_calls("log2"), 1);
}
END_TEST

/* No reply, no end of the connection, no upcall. */
START_TEST(a_heartbeat_that_nobody_watches_for_is_ignored)
{
    int fd = raw_client(0);
    px_writer w;

    px_writer_init(&w, px_codec_default);
    raw_send(fd, PX_TAG_HEARTBEAT, &w);
    ck_assert(raw_quiet(fd));
    ck_assert_uint_eq(host_calls("monitor"), 0);
    ok(raw_finalize(fd));
}
END_TEST

/* The server's own calls go to its host as those of any client. */
START_TEST(a_server_asks_its_own_host)
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
END_TEST

PX_TEST_MAIN_WITH(
    "server/system", setup, host_end, requests_reach_the_host_and_its_infos_come_back,
    a_resource_block_is_named_and_made_of_units,
    a_credential_comes_with_infos_or_not_at_all, damaged_requests_never_reach_the_host,
    a_module_without_slots_supports_none_of_it,
    the_newer_form_of_a_slot_is_used_where_both_are_there, a_newer_slot_alone_is_enough,
    a_heartbeat_that_nobody_watches_for_is_ignored, a_server_asks_its_own_host)
