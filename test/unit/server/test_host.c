/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the host can do: spawn, query, log, allocation, job control. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    raw_server_start(&host_module, 2);
}

/* STATUS, then infos. */
static pmix_status_t ask(int fd, px_writer *w, px_infos *results)
{
    px_reader r;
    pmix_status_t rc = raw_request(fd, w, &r);

    *results = (px_infos){0};
    if (!px_reader_done(&r))
        ok(px_unpack_infos(&r, &results->v, &results->n));
    results->cap = results->n;
    return rc;
}

/* ---- spawn -------------------------------------------------------------------------------- */

static px_writer spawn(const px_infos *infos, size_t n_apps)
{
    char *argv[] = {(char *)"./prog", NULL};
    pmix_app_t app = {.cmd = (char *)"./prog", .argv = argv, .maxprocs = 2};
    px_writer w;

    raw_begin(&w, PX_OP_SPAWN);
    px_pack_infos(&w, infos ? infos->v : NULL, infos ? infos->n : 0);
    px_pack_size(&w, n_apps);
    if (n_apps)
        px_pack(&w, &app, 1, PMIX_APP);
    return w;
}

START_TEST(a_spawn_reply_names_the_job_and_tells_all_about_it)
{
    int fd = raw_client(0);
    PX_AUTOFREE char *name = NULL;
    px_writer w = spawn(NULL, 1);
    size_t n = 0;
    px_reader r;

    raw_add_job("child", 1, 0, geteuid());
    host.nspace = "child";
    ok(raw_request(fd, &w, &r));
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
END_TEST

START_TEST(a_failed_spawn_names_no_job)
{
    int fd = raw_client(0);
    PX_AUTOFREE char *name = NULL;
    px_writer w = spawn(NULL, 1);
    px_reader r;

    host.status = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    ck_assert_int_eq(raw_request(fd, &w, &r), PMIX_ERR_JOB_FAILED_TO_LAUNCH);
    ok(px_unpack_str(&r, &name));
    ck_assert_ptr_null(name);
    ck_assert(px_reader_done(&r));

    w = spawn(NULL, 0);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(host_calls("spawn"), 1);
}
END_TEST

START_TEST(whoever_asks_is_the_parent_whatever_he_claims)
{
    PX_AUTO(px_infos) infos = {0};
    int fd = raw_client(1);
    const pmix_info_t *parent;
    pmix_proc_t other;
    px_writer w;

    px_proc_set(&other, "other", 9);
    host.nspace = "child";
    ok(px_infos_add(&infos, PMIX_PARENT_ID, &other, PMIX_PROC));
    for (int claimed = 0; claimed < 2; claimed++) {
        w = spawn(claimed ? &infos : NULL, 1);
        ok(raw_request(fd, &w, NULL));
        parent = px_info_find(host.given.v, host.given.n, PMIX_PARENT_ID);
        ck_assert_ptr_nonnull(parent);
        ck_assert_str_eq(parent->value.data.proc->nspace, "job");
        ck_assert_uint_eq(parent->value.data.proc->rank, 1);
    }
}
END_TEST

/* ---- query, allocation, job control --------------------------------------------------------- */

static px_writer query(void)
{
    char *keys[] = {(char *)"pmix.qry.ns", NULL};
    pmix_query_t q = {.keys = keys};
    px_writer w;

    raw_begin(&w, PX_OP_QUERY);
    px_pack_size(&w, 1);
    px_pack(&w, &q, 1, PMIX_QUERY);
    return w;
}

static px_writer allocate(void)
{
    px_writer w;

    raw_begin(&w, PX_OP_ALLOC);
    px_pack_u8(&w, PMIX_ALLOC_EXTEND, PMIX_ALLOC_DIRECTIVE);
    px_pack_infos(&w, NULL, 0);
    return w;
}

static px_writer control(const char *nspace)
{
    pmix_proc_t target;
    px_writer w;

    px_proc_set(&target, nspace, PMIX_RANK_WILDCARD);
    raw_begin(&w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, &target, 1);
    px_pack_infos(&w, NULL, 0);
    return w;
}

START_TEST(infos_of_the_host_come_back_with_its_status)
{
    int fd = raw_client(0);
    px_writer asks[] = {query(), allocate(), control("job")};
    static const char *const names[] = {"query", "allocate", "job_control"};
    px_infos got;

    ok(px_infos_add(&host.infos, "pmix.answer", "yes", PMIX_STRING));
    for (size_t i = 0; i < PX_COUNT(asks); i++) {
        host.status = i == 1 ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
        ck_assert_int_eq(ask(fd, &asks[i], &got), host.status);
        ck_assert_str_eq(host.name, names[i]);
        ck_assert_str_eq(px_info_str(got.v, got.n, "pmix.answer"), "yes");
        px_infos_cleanup(&got);
    }
    ck_assert_str_eq(host.procs[0].nspace, "job");
    ck_assert_str_eq(host.keys[0], "pmix.qry.ns");
}
END_TEST

START_TEST(damaged_requests_never_reach_the_host)
{
    static const uint8_t ops[] = {PX_OP_SPAWN, PX_OP_QUERY, PX_OP_LOG, PX_OP_ALLOC,
                                  PX_OP_JOB_CONTROL};
    int fd = raw_client(0);

    for (size_t i = 0; i < PX_COUNT(ops); i++) {
        px_writer w;

        raw_begin(&w, ops[i]);
        ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
        raw_begin(&w, ops[i]);
        px_pack_size(&w, SIZE_MAX);
        ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
    }
    ck_assert_uint_eq(host_calls("spawn") + host_calls("query") + host_calls("log") +
                          host_calls("allocate") + host_calls("job_control"),
                      0);
}
END_TEST

START_TEST(a_job_of_another_user_is_not_controlled)
{
    int fd = raw_client(0);

    raw_add_job("theirs", 1, 0, geteuid() + 1);
    px_peer_find(px_process.server, &(pmix_proc_t){"job", 0})->uid = 4711;
    px_writer w = control("theirs");
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_eq(host_calls("job_control"), 0);
}
END_TEST

/* ---- log ------------------------------------------------------------------------------------- */

static px_writer log_line(time_t stamp)
{
    pmix_info_t data;
    px_writer w;

    PMIx_Info_load(&data, PMIX_LOG_STDERR, "hello", PMIX_STRING);
    raw_begin(&w, PX_OP_LOG);
    px_pack(&w, &stamp, 1, PMIX_TIME);
    px_pack_infos(&w, &data, 1);
    px_pack_infos(&w, NULL, 0);
    PMIx_Info_destruct(&data);
    return w;
}

START_TEST(a_log_carries_its_time_and_ends_with_the_callback)
{
    int fd = raw_client(0);
    px_writer w = log_line(1700000000);

    host.how = HOST_THREAD;
    host.status = PMIX_ERR_NOT_AVAILABLE;
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_AVAILABLE);
    ck_assert_str_eq(px_info_str(host.given_data.v, host.given_data.n, PMIX_LOG_STDERR),
                     "hello");
    ck_assert_ptr_nonnull(px_info_find(host.given.v, host.given.n, PMIX_LOG_TIMESTAMP));
    host.how = HOST_INSIDE;
    w = log_line(0);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_AVAILABLE);
    ck_assert_ptr_null(px_info_find(host.given.v, host.given.n, PMIX_LOG_TIMESTAMP));
}
END_TEST

START_TEST(a_module_without_slots_supports_none_of_it)
{
    static const pmix_server_module_t nothing = {0};
    px_infos got;

    raw_server_stop();
    raw_server_start(&nothing, 1);
    int fd = raw_client(0);
    px_writer asks[] = {spawn(NULL, 1), query(), allocate(), control("job"),
                        log_line(0)};
    for (size_t i = 0; i < PX_COUNT(asks); i++) {
        ck_assert_int_eq(ask(fd, &asks[i], &got), PMIX_ERR_NOT_SUPPORTED);
        ck_assert_uint_eq(got.n, 0);
    }
    ok(raw_finalize(fd));
}
END_TEST

PX_TEST_MAIN_WITH("server/host", setup, host_end,
                  a_spawn_reply_names_the_job_and_tells_all_about_it,
                  a_failed_spawn_names_no_job,
                  whoever_asks_is_the_parent_whatever_he_claims,
                  infos_of_the_host_come_back_with_its_status,
                  damaged_requests_never_reach_the_host,
                  a_job_of_another_user_is_not_controlled,
                  a_log_carries_its_time_and_ends_with_the_callback,
                  a_module_without_slots_supports_none_of_it)
