/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations, resource blocks, sessions, credentials, monitoring, fabrics: what they say to the
 * server, byte for byte, and what they make of its answer. */
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>

static sem_t done;
static pmix_status_t done_status, answer;
static px_buf said;                /* the last request, after its command */
static uint8_t asked;              /* its command */
static void (*add)(px_writer *w);  /* what stands in the answer after the status */
static pmix_info_t info, found[2]; /* an argument; what the server answers */

static void add_infos(px_writer *w)
{
    px_pack_infos(w, found, PX_COUNT(found));
}

static void add_credential(px_writer *w)
{
    if (answer)
        return;
    px_pack_bytes(w, "\0cred", 5);
    add_infos(w);
}

static bool listen_to(int fd, struct fake_req *req)
{
    px_writer w;

    if (req->op == PX_OP_REQ || req->op == PX_OP_FINALIZE)
        return false;
    asked = req->op;
    px_buf_cleanup(&said);
    ck_assert_int_eq(
        px_buf_add(&said, req->in.pos, (size_t)(req->in.end - req->in.pos)), 0);
    w = fake_begin();
    px_pack_status(&w, answer);
    if (add)
        add(&w);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void setup(void)
{
    size_t index = 3;

    sem_init(&done, 0, 0);
    PMIx_Info_load(&info, "pmix.how", "well", PMIX_STRING);
    PMIx_Info_load(&found[0], "pmix.answer", "yes", PMIX_STRING);
    PMIx_Info_load(&found[1], PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
    add = add_infos;
    fake.hook = listen_to;
    fake_start();
    ck_assert_int_eq(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
}

static void teardown(void)
{
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    fake_stop();
    px_buf_cleanup(&said);
    PMIx_Info_destruct(&info);
    PMIx_Info_destruct(&found[0]);
    PMIx_Info_destruct(&found[1]);
}

static void was_said(uint8_t op, px_writer *w)
{
    ck_assert_int_eq(w->status, PMIX_SUCCESS);
    ck_assert_uint_eq(asked, op);
    ck_assert_uint_eq(said.len, w->buf.len);
    ck_assert_mem_eq(said.data, w->buf.data, said.len);
    px_writer_cleanup(w);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    sem_post(&done);
}

static void on_infos(pmix_status_t status, pmix_info_t *got, size_t n, void *cbdata,
                     pmix_release_cbfunc_t release, void *release_data)
{
    ck_assert_str_eq(px_info_str(got, n, "pmix.answer"), "yes");
    release(release_data);
    on_op(status, cbdata);
}

static void finished(pmix_status_t rc, pmix_status_t with)
{
    ck_assert_int_eq(rc, PMIX_SUCCESS);
    sem_wait(&done);
    ck_assert_int_eq(done_status, with);
}

/* These are the caller's. */
static void good_results(pmix_info_t *got, size_t n)
{
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(px_info_str(got, n, "pmix.answer"), "yes");
    px_type_free_array(PMIX_INFO, got, n);
}

/* ---- calls answered with infos -------------------------------------------------------------------- */

static void said_alloc(void)
{
    px_writer w = fake_begin();

    px_pack_u8(&w, PMIX_ALLOC_EXTEND, PMIX_ALLOC_DIRECTIVE);
    px_pack_infos(&w, &info, 1);
    was_said(PX_OP_ALLOC, &w);
}

START_TEST(an_allocation_request_is_answered_with_infos)
{
    static const pmix_status_t answers[] = {PMIX_SUCCESS, PMIX_ERR_NOT_SUPPORTED};
    pmix_info_t *got;
    size_t n;

    for (size_t i = 0; i < PX_COUNT(answers); i++) {
        answer = answers[i];
        ck_assert_int_eq(PMIx_Allocation_request(PMIX_ALLOC_EXTEND, &info, 1, &got, &n),
                         answer);
        good_results(got, n);
        said_alloc();
        ck_assert_int_eq(
            PMIx_Allocation_request(PMIX_ALLOC_EXTEND, &info, 1, NULL, NULL), answer);
        finished(
            PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, &info, 1, on_infos, &done),
            answer);
        said_alloc();
        ck_assert_int_eq(
            PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, NULL, 0, NULL, NULL),
            PMIX_SUCCESS);
    }
    add = NULL; /* a bare status, as for a command that the server does not know */
    ck_assert_int_eq(PMIx_Allocation_request(PMIX_ALLOC_NEW, NULL, 0, &got, &n),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_ptr_null(got);
    ck_assert_uint_eq(n, 0);
}
END_TEST

static void said_session(void)
{
    px_writer w = fake_begin();

    px_pack_u32(&w, 77);
    px_pack_infos(&w, &info, 1);
    was_said(PX_OP_SESSION_CTRL, &w);
}

START_TEST(session_control_waits_where_nobody_is_to_be_called_back)
{
    ck_assert_int_eq(PMIx_Session_control(77, &info, 1, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    said_session();
    finished(PMIx_Session_control(77, &info, 1, on_infos, &done), PMIX_SUCCESS);
    said_session();
    answer = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_eq(PMIx_Session_control(77, NULL, 0, NULL, NULL),
                     PMIX_ERR_NO_PERMISSIONS);
}
END_TEST

static void said_monitor(const pmix_info_t *what)
{
    px_writer w = fake_begin();

    px_pack(&w, what, 1, PMIX_INFO);
    px_pack_status(&w, PMIX_MONITOR_FILE_ALERT);
    px_pack_infos(&w, &info, 1);
    was_said(PX_OP_MONITOR, &w);
}

START_TEST(a_monitor_request_says_what_and_how_to_warn)
{
    pmix_info_t what, *got;
    size_t n;

    PMIx_Info_load(&what, PMIX_MONITOR_FILE, "/a/file", PMIX_STRING);
    ck_assert_int_eq(
        PMIx_Process_monitor(&what, PMIX_MONITOR_FILE_ALERT, &info, 1, &got, &n),
        PMIX_SUCCESS);
    good_results(got, n);
    said_monitor(&what);
    finished(PMIx_Process_monitor_nb(&what, PMIX_MONITOR_FILE_ALERT, &info, 1, on_infos,
                                     &done),
             PMIX_SUCCESS);
    said_monitor(&what);
    PMIx_Info_destruct(&what);
}
END_TEST

START_TEST(heartbeats_ask_for_nothing)
{
    pmix_info_t beat;

    PMIx_Info_load(&beat, PMIX_SEND_HEARTBEAT, NULL, PMIX_BOOL);
    PMIx_Heartbeat();
    ck_assert_int_eq(PMIx_Process_monitor(&beat, PMIX_SUCCESS, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    ck_assert_int_eq(
        PMIx_Process_monitor_nb(&beat, PMIX_SUCCESS, NULL, 0, on_infos, &done),
        PMIX_OPERATION_SUCCEEDED);
    ck_assert_int_eq(PMIx_Log(&info, 1, NULL, 0), PMIX_SUCCESS); /* comes after them */
    ck_assert_uint_eq(__atomic_load_n(&fake.n_beats, __ATOMIC_SEQ_CST), 3);
    ck_assert_uint_eq(fake.n_ops[PX_OP_MONITOR], 0);
}
END_TEST

/* ---- resource blocks --------------------------------------------------------------------------------- */

static void said_block(const pmix_resource_unit_t *units, size_t n)
{
    px_writer w = fake_begin();

    w.codec = px_codec_newest(w.codec);
    px_pack_u8(&w, 2, PMIX_RESBLOCK_DIRECTIVE);
    px_pack_str(&w, "mine");
    px_pack_size(&w, n);
    if (n)
        px_pack(&w, units, (int32_t)n, PMIX_RESOURCE_UNIT);
    px_pack_infos(&w, &info, 1);
    was_said(PX_OP_RESBLK, &w);
}

START_TEST(a_resource_block_is_answered_with_a_status)
{
    const pmix_resource_unit_t units[] = {{.type = 1, .count = 2},
                                          {.type = 4, .count = 8}};

    add = NULL;
    ck_assert_int_eq(PMIx_Resource_block(2, (char *)"mine", units, 2, &info, 1),
                     PMIX_SUCCESS);
    said_block(units, 2);
    answer = PMIX_ERR_NOT_FOUND;
    finished(PMIx_Resource_block_nb(2, (char *)"mine", NULL, 0, &info, 1, on_op, &done),
             PMIX_ERR_NOT_FOUND);
    said_block(NULL, 0);
}
END_TEST

START_TEST(an_old_server_cannot_be_asked_for_resource_blocks)
{
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    fake_stop();
    fake.codec.dialect = px_dialect_find("v3");
    fake.uri_variable = "PMIX_SERVER_URI3";
    fake_start();
    ck_assert_int_eq(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    ck_assert_int_eq(PMIx_Resource_block(2, (char *)"mine", NULL, 0, &info, 1),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_uint_eq(fake.n_ops[PX_OP_RESBLK], 0);
}
END_TEST

/* ---- credentials ------------------------------------------------------------------------------------- */

static void said_infos(uint8_t op)
{
    px_writer w = fake_begin();

    px_pack_infos(&w, &info, 1);
    was_said(op, &w);
}

static void on_credential(pmix_status_t status, pmix_byte_object_t *bo,
                          pmix_info_t about[], size_t n, void *cbdata)
{
    if (status) {
        ck_assert_ptr_null(bo);
        ck_assert_uint_eq(n, 0);
    } else {
        ck_assert_uint_eq(bo->size, 5);
        ck_assert_mem_eq(bo->bytes, "\0cred", 5);
        ck_assert_str_eq(px_info_str(about, n, "pmix.answer"), "yes");
    }
    on_op(status, cbdata);
}

START_TEST(a_credential_is_the_callers)
{
    pmix_byte_object_t bo;

    add = add_credential;
    ck_assert_int_eq(PMIx_Get_credential(&info, 1, &bo), PMIX_SUCCESS);
    said_infos(PX_OP_GET_CREDENTIAL);
    ck_assert_uint_eq(bo.size, 5);
    ck_assert_mem_eq(bo.bytes, "\0cred", 5);
    free(bo.bytes);
    finished(PMIx_Get_credential_nb(&info, 1, on_credential, &done), PMIX_SUCCESS);
    said_infos(PX_OP_GET_CREDENTIAL);
    answer = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_eq(PMIx_Get_credential(&info, 1, &bo), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_ptr_null(bo.bytes);
    ck_assert_uint_eq(bo.size, 0);
    finished(PMIx_Get_credential_nb(NULL, 0, on_credential, &done),
             PMIX_ERR_NO_PERMISSIONS);
    answer = PMIX_SUCCESS;
    add = NULL; /* success without a credential is none */
    ck_assert_int_lt(PMIx_Get_credential(&info, 1, &bo), 0);
}
END_TEST

static void on_validation(pmix_status_t status, pmix_info_t got[], size_t n,
                          void *cbdata)
{
    ck_assert_str_eq(px_info_str(got, n, "pmix.answer"), "yes");
    on_op(status, cbdata);
}

static void said_validate(const char *bytes, size_t size)
{
    px_writer w = fake_begin();

    px_pack_bytes(&w, bytes, size);
    px_pack_infos(&w, &info, 1);
    was_said(PX_OP_VALIDATE_CRED, &w);
}

START_TEST(a_credential_is_checked_by_the_server)
{
    const pmix_byte_object_t bo = {.bytes = (char *)"\1\0\2", .size = 3};
    pmix_info_t *got;
    size_t n;

    ck_assert_int_eq(PMIx_Validate_credential(&bo, &info, 1, &got, &n), PMIX_SUCCESS);
    said_validate(bo.bytes, 3);
    good_results(got, n);
    answer = PMIX_ERR_INVALID_CRED;
    finished(PMIx_Validate_credential_nb(&bo, &info, 1, on_validation, &done),
             PMIX_ERR_INVALID_CRED);
    said_validate(bo.bytes, 3);
}
END_TEST

/* ---- fabrics ----------------------------------------------------------------------------------------- */

START_TEST(a_fabric_knows_what_the_host_told)
{
    pmix_fabric_t f;
    px_writer w;

    PMIx_Fabric_construct(&f);
    PMIx_Fabric_construct(NULL);
    ck_assert_uint_eq(f.index, SIZE_MAX);
    ck_assert_ptr_null(f.info);
    f.name = (char *)"mine";
    ck_assert_int_eq(PMIx_Fabric_register(&f, &info, 1), PMIX_SUCCESS);
    said_infos(PX_OP_FABRIC_REGISTER);
    ck_assert_uint_eq(f.index, 3);
    ck_assert_str_eq(px_info_str(f.info, f.ninfo, "pmix.answer"), "yes");
    ck_assert_int_eq(PMIx_Fabric_update(&f), PMIX_SUCCESS);
    w = fake_begin();
    px_pack_size(&w, 3);
    was_said(PX_OP_FABRIC_UPDATE, &w);
    ck_assert_uint_eq(f.ninfo, 2);
    ck_assert_int_eq(PMIx_Fabric_deregister(&f), PMIX_SUCCESS);
    ck_assert_uint_eq(asked, PX_OP_FABRIC_UPDATE); /* nobody was told */
    ck_assert_ptr_null(f.info);
    ck_assert_uint_eq(f.ninfo, 0);
    ck_assert_uint_eq(f.index, SIZE_MAX);
    ck_assert_str_eq(f.name, "mine");
}
END_TEST

START_TEST(a_fabric_is_unchanged_by_a_failure)
{
    pmix_fabric_t f = PMIX_FABRIC_STATIC_INIT;
    const pmix_info_t *before;

    answer = PMIX_ERR_NOT_SUPPORTED;
    ck_assert_int_eq(PMIx_Fabric_register(&f, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_ptr_null(f.info);
    ck_assert_uint_eq(f.index, SIZE_MAX);
    answer = PMIX_SUCCESS;
    finished(PMIx_Fabric_register_nb(&f, &info, 1, on_op, &done), PMIX_SUCCESS);
    said_infos(PX_OP_FABRIC_REGISTER);
    before = f.info;
    answer = PMIX_ERR_NOT_FOUND;
    finished(PMIx_Fabric_update_nb(&f, on_op, &done), PMIX_ERR_NOT_FOUND);
    ck_assert_ptr_eq(f.info, before);
    ck_assert_int_eq(PMIx_Fabric_deregister_nb(&f, on_op, &done),
                     PMIX_OPERATION_SUCCEEDED);
    ck_assert_ptr_null(f.info);
}
END_TEST

PX_TEST_MAIN_WITH("client/system", setup, teardown,
                  an_allocation_request_is_answered_with_infos,
                  session_control_waits_where_nobody_is_to_be_called_back,
                  a_monitor_request_says_what_and_how_to_warn,
                  heartbeats_ask_for_nothing,
                  a_resource_block_is_answered_with_a_status,
                  an_old_server_cannot_be_asked_for_resource_blocks,
                  a_credential_is_the_callers, a_credential_is_checked_by_the_server,
                  a_fabric_knows_what_the_host_told, a_fabric_is_unchanged_by_a_failure)
