/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that carry infos to the server and bring results back: publish and lookup, spawn, query,
 * job control, log. */
#include "core/base/str.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>

static sem_t done;
static pmix_status_t done_status;

static void start(bool (*hook)(int fd, struct fake_req *req))
{
    sem_init(&done, 0, 0);
    fake.hook = hook;
    fake_start();
    ck_assert_int_eq(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
}

static void stop(void)
{
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    fake_stop();
}

static void on_op(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    sem_post(&done);
}

static pmix_info_t info(const char *key, const char *value)
{
    pmix_info_t i;

    PMIx_Info_load(&i, key, value, PMIX_STRING);
    return i;
}

/* ---- publish, lookup, unpublish ------------------------------------------------------------------ */

static char seen[256];
static pmix_status_t answer;
static const char *const *found_keys;
static size_t n_found;

static void reply_found(int fd, uint32_t tag)
{
    px_writer w = fake_begin();

    px_pack_status(&w, answer);
    if (n_found || !answer)
        px_pack_size(&w, n_found);
    for (size_t i = 0; i < n_found; i++) {
        pmix_pdata_t one = {
            .value = {.type = PMIX_UINT32, .data.uint32 = 10u + (unsigned)i}};
        px_writer element = fake_begin();

        PMIx_Load_key(one.key, found_keys[i]);
        px_proc_set(&one.proc, "job", 1);
        px_pack(&element, &one, 1, PMIX_PDATA);
        if (i == 0) /* one operation of n_found values: its count, then the elements */
            element.buf.data[0] = (uint8_t)(2 * n_found);
        ck_assert_int_eq(
            px_buf_add(&w.buf, element.buf.data + (i > 0), element.buf.len - (i > 0)),
            PMIX_SUCCESS);
        px_writer_cleanup(&element);
    }
    fake_reply(fd, tag, &w);
}

static bool data_store(int fd, struct fake_req *req)
{
    uint32_t uid;
    size_t n = 0;

    if (req->op != PX_OP_LOOKUP && req->op != PX_OP_UNPUBLISH &&
        req->op != PX_OP_PUBLISH)
        return false;
    ck_assert_int_eq(px_unpack1(&req->in, &uid, PMIX_UINT32), PMIX_SUCCESS);
    ck_assert_uint_eq(uid, geteuid());
    seen[0] = '\0';
    if (req->op != PX_OP_PUBLISH)
        ck_assert_int_eq(px_unpack_size(&req->in, &n), PMIX_SUCCESS);
    for (; n > 0; n--) {
        PX_AUTOFREE char *key = NULL;

        ck_assert_int_eq(px_unpack_str(&req->in, &key), PMIX_SUCCESS);
        strcat(strcat(seen, seen[0] ? " " : ""), key);
    }
    if (req->op == PX_OP_LOOKUP)
        reply_found(fd, req->tag);
    else
        fake_status(fd, req->tag, answer);
    return true;
}

START_TEST(publish_and_unpublish_return_the_servers_status)
{
    char *keys[] = {(char *)"colour", (char *)"shape", NULL};
    pmix_info_t data = info("colour", "red");

    start(data_store);
    for (int i = 0; i < 2; i++) {
        answer = i ? PMIX_ERR_DUPLICATE_KEY : PMIX_SUCCESS;
        ck_assert_int_eq(PMIx_Publish(&data, 1), answer);
        ck_assert_int_eq(PMIx_Publish_nb(&data, 1, on_op, &done), PMIX_SUCCESS);
        sem_wait(&done);
        ck_assert_int_eq(done_status, answer);
        ck_assert_int_eq(PMIx_Unpublish(keys, NULL, 0), answer);
        ck_assert_str_eq(seen, "colour shape");
        ck_assert_int_eq(PMIx_Unpublish(NULL, NULL, 0), answer); /* all */
        ck_assert_str_eq(seen, "");
        ck_assert_int_eq(PMIx_Unpublish_nb(keys, NULL, 0, on_op, &done), PMIX_SUCCESS);
        sem_wait(&done);
        ck_assert_int_eq(done_status, answer);
    }
    PMIx_Info_destruct(&data);
    stop();
}
END_TEST

START_TEST(values_found_go_to_the_entries_that_asked_for_them)
{
    static const char *const keys[] = {"shape", "colour", "surplus"};
    pmix_pdata_t data[] = {{.key = "colour"}, {.key = "nothing"}, {.key = "shape"}};

    found_keys = keys;
    n_found = 3;
    answer = PMIX_ERR_PARTIAL_SUCCESS;
    start(data_store);
    ck_assert_int_eq(PMIx_Lookup(data, 3, NULL, 0), PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_str_eq(seen, "colour nothing shape");
    ck_assert_uint_eq(data[0].value.data.uint32, 11);
    ck_assert_uint_eq(data[0].proc.rank, 1);
    ck_assert_int_eq(data[1].value.type, PMIX_UNDEF);
    ck_assert_uint_eq(data[2].value.data.uint32, 10);
    stop();
}
END_TEST

START_TEST(a_key_asked_for_twice_gets_each_value_once)
{
    static const char *const keys[] = {"colour", "colour"};
    pmix_pdata_t data[] = {{.key = "colour"}, {.key = "colour"}};

    found_keys = keys;
    n_found = 2;
    start(data_store);
    ck_assert_int_eq(PMIx_Lookup(data, 2, NULL, 0), PMIX_SUCCESS);
    ck_assert_uint_eq(data[0].value.data.uint32, 10);
    ck_assert_uint_eq(data[1].value.data.uint32, 11);
    stop();
}
END_TEST

static size_t n_looked_up;

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t n, void *cbdata)
{
    n_looked_up = n;
    if (n)
        ck_assert_str_eq(data[0].key, "colour");
    on_op(status, cbdata);
}

START_TEST(a_lookup_without_waiting_gets_what_was_found)
{
    static const char *const found[] = {"colour"};
    char *keys[] = {strdup("colour"), NULL};

    found_keys = found;
    n_found = 1;
    start(data_store);
    ck_assert_int_eq(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &done), PMIX_SUCCESS);
    free(keys[0]); /* was copied */
    sem_wait(&done);
    ck_assert_int_eq(done_status, PMIX_SUCCESS);
    ck_assert_uint_eq(n_looked_up, 1);
    keys[0] = (char *)"colour";
    n_found = 0;
    answer = PMIX_ERR_NOT_FOUND;
    ck_assert_int_eq(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &done), PMIX_SUCCESS);
    sem_wait(&done);
    ck_assert_int_eq(done_status, PMIX_ERR_NOT_FOUND);
    ck_assert_uint_eq(n_looked_up, 0);
    stop();
}
END_TEST

/* ---- spawn and abort -------------------------------------------------------------------------------- */

static const char *spawned;

static bool spawner(int fd, struct fake_req *req)
{
    px_writer w = fake_begin();

    if (req->op != PX_OP_SPAWN) {
        px_writer_cleanup(&w);
        return false;
    }
    px_pack_status(&w, answer);
    px_pack_str(&w, spawned);
    if (!answer)
        fake_usual_job_info(&w);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void on_spawned(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    ck_assert_str_eq(nspace, status ? "" : "child");
    on_op(status, cbdata);
}

START_TEST(a_spawned_job_is_named_and_known)
{
    char *argv[] = {(char *)"prog", NULL};
    pmix_app_t app = {.argv = argv, .maxprocs = 2};
    pmix_nspace_t nspace;
    pmix_value_t *v = NULL;
    pmix_proc_t p;

    spawned = "child";
    start(spawner);
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_SUCCESS);
    ck_assert_str_eq(nspace, "child");
    px_proc_set(&p, nspace, PMIX_RANK_WILDCARD);
    ck_assert_int_eq(PMIx_Get(&p, PMIX_JOB_SIZE, NULL, 0, &v), PMIX_SUCCESS);
    ck_assert_uint_eq(v->data.uint32, 2);
    PMIX_VALUE_RELEASE(v);
    ck_assert_int_eq(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, &done), PMIX_SUCCESS);
    sem_wait(&done);
    ck_assert_int_eq(done_status, PMIX_SUCCESS);
    stop();
}
END_TEST

START_TEST(a_failed_spawn_leaves_no_name)
{
    char *argv[] = {(char *)"prog", NULL};
    pmix_app_t app = {.argv = argv, .maxprocs = 2};
    pmix_nspace_t nspace = "before";

    answer = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    start(spawner);
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &app, 1, nspace), answer);
    ck_assert_str_eq(nspace, "");
    ck_assert_int_eq(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, &done), PMIX_SUCCESS);
    sem_wait(&done);
    ck_assert_int_eq(done_status, answer);
    answer = PMIX_SUCCESS; /* success without a name is none */
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_UNPACK_FAILURE);
    stop();
}
END_TEST

static bool take_abort(int fd, struct fake_req *req)
{
    PX_AUTOFREE char *text = NULL;
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    pmix_status_t code;
    size_t n;

    if (req->op != PX_OP_ABORT)
        return false;
    ck_assert_int_eq(px_unpack_status(&req->in, &code), PMIX_SUCCESS);
    ck_assert_int_eq(px_unpack_str(&req->in, &text), PMIX_SUCCESS);
    ck_assert_int_eq(px_unpack_procs(&req->in, &procs, &n), PMIX_SUCCESS);
    ck_assert(px_reader_done(&req->in));
    snprintf(seen, sizeof(seen), "%d %s %zu", code, text ? text : "-", n);
    fake_status(fd, req->tag, PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED);
    return true;
}

START_TEST(an_abort_says_what_whom_and_why)
{
    pmix_proc_t p;

    px_proc_set(&p, "job", 1);
    start(take_abort);
    ck_assert_int_eq(PMIx_Abort(3, "enough", &p, 1),
                     PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED);
    ck_assert_str_eq(seen, "3 enough 1");
    ck_assert_int_eq(PMIx_Abort(-4, NULL, NULL, 0), PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED);
    ck_assert_str_eq(seen, "-4 - 0");
    stop();
}
END_TEST

/* ---- query, job control, log -------------------------------------------------------------------------- */

static bool results(int fd, struct fake_req *req)
{
    pmix_info_t one = info("pmix.answer", "yes");
    px_writer w = fake_begin();

    if (req->op != PX_OP_QUERY && req->op != PX_OP_JOB_CONTROL) {
        PMIx_Info_destruct(&one);
        px_writer_cleanup(&w);
        return false;
    }
    px_pack_status(&w, answer);
    if (answer != PMIX_ERR_NOT_SUPPORTED)
        px_pack_infos(&w, &one, 1);
    PMIx_Info_destruct(&one);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void (*give_back)(void *cbdata);
static void *given;

static void on_infos(pmix_status_t status, pmix_info_t *got, size_t n, void *cbdata,
                     pmix_release_cbfunc_t release, void *release_data)
{
    ck_assert(release);
    if (status != PMIX_ERR_NOT_SUPPORTED)
        ck_assert_str_eq(px_info_str(got, n, "pmix.answer"), "yes");
    give_back = release;
    given = release_data;
    on_op(status, cbdata);
}

START_TEST(results_come_with_any_status_and_are_the_callers)
{
    static const pmix_status_t answers[] = {PMIX_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS,
                                            PMIX_ERR_NOT_SUPPORTED};
    char *keys[] = {(char *)"pmix.qry.ns", NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t directive = info("pmix.jctrl.kill", "x"), *got;
    size_t n;

    start(results);
    for (size_t i = 0; i < PX_COUNT(answers); i++) {
        size_t wanted = answers[i] != PMIX_ERR_NOT_SUPPORTED;

        answer = answers[i];
        ck_assert_int_eq(PMIx_Query_info(&query, 1, &got, &n), answer);
        ck_assert_uint_eq(n, wanted);
        px_type_free_array(PMIX_INFO, got, n);
        ck_assert_int_eq(PMIx_Job_control(NULL, 0, &directive, 1, &got, &n), answer);
        ck_assert_uint_eq(n, wanted);
        px_type_free_array(PMIX_INFO, got, n);
        ck_assert_int_eq(PMIx_Job_control(NULL, 0, &directive, 1, NULL, NULL), answer);
        ck_assert_int_eq(PMIx_Query_info_nb(&query, 1, on_infos, &done), PMIX_SUCCESS);
        sem_wait(&done);
        ck_assert_int_eq(done_status, answer);
        give_back(given); /* as late as the caller likes */
        ck_assert_int_eq(PMIx_Job_control_nb(NULL, 0, &directive, 1, on_infos, &done),
                         PMIX_SUCCESS);
        sem_wait(&done);
        give_back(given);
        ck_assert_int_eq(PMIx_Job_control_nb(NULL, 0, &directive, 1, NULL, NULL),
                         PMIX_SUCCESS); /* whoever does not care */
    }
    PMIx_Info_destruct(&directive);
    stop();
}
END_TEST

START_TEST(a_log_returns_the_servers_status)
{
    pmix_info_t line = info(PMIX_LOG_STDERR, "hello");

    start(NULL);
    ck_assert_int_eq(PMIx_Log(&line, 1, NULL, 0), PMIX_SUCCESS);
    ck_assert_int_eq(PMIx_Log_nb(&line, 1, NULL, 0, on_op, &done), PMIX_SUCCESS);
    sem_wait(&done);
    ck_assert_int_eq(done_status, PMIX_SUCCESS);
    ck_assert_uint_eq(fake.n_ops[PX_OP_LOG], 2);
    PMIx_Info_destruct(&line);
    stop();
}
END_TEST

PX_TEST_MAIN("client/infos", publish_and_unpublish_return_the_servers_status,
             values_found_go_to_the_entries_that_asked_for_them,
             a_key_asked_for_twice_gets_each_value_once,
             a_lookup_without_waiting_gets_what_was_found,
             a_spawned_job_is_named_and_known, a_failed_spawn_leaves_no_name,
             an_abort_says_what_whom_and_why,
             results_come_with_any_status_and_are_the_callers,
             a_log_returns_the_servers_status)
