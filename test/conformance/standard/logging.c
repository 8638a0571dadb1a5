/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's section "Logging". */
#include "standard.h"

#include <string.h>
#include <unistd.h>

/* ---- a host with a log function ------------------------------------------------------------ */

static struct {
    pmix_info_t data[4], directives[8];
    size_t n_data, n_directives;
    pmix_status_t answer;
    unsigned n_calls;
} host;

static void keep(pmix_info_t *to, size_t *n, size_t max, const pmix_info_t *from,
                 size_t n_from)
{
    ck_assert_uint_le(n_from, max);
    for (*n = 0; *n < n_from; ++*n)
        ok(PMIx_Info_xfer(&to[*n], &from[*n]));
}

static pmix_status_t host_log(const pmix_proc_t *client PX_UNUSED,
                              const pmix_info_t data[], size_t n_data,
                              const pmix_info_t directives[], size_t n_directives,
                              pmix_op_cbfunc_t cb PX_UNUSED, void *cbdata PX_UNUSED)
{
    host.n_calls++;
    keep(host.data, &host.n_data, 4, data, n_data);
    keep(host.directives, &host.n_directives, 8, directives, n_directives);
    return host.answer;
}

static void start_host(pmix_status_t answer)
{
    static pmix_server_module_t module = {.log2 = host_log};

    host.answer = answer;
    ok(PMIx_server_init(&module, NULL, 0));
}

/* Logs a text to a channel, by the blocking form and by the other. Both must have the same status. */
static pmix_status_t log_to(const char *channel, const char *text,
                            pmix_info_t *directives, size_t n)
{
    pmix_info_t data;
    pmix_status_t rc;

    PMIx_Info_load(&data, channel, text, PMIX_STRING);
    rc = PMIx_Log(&data, 1, directives, n);
    ck_assert_int_eq(
        standard_wait(PMIx_Log_nb(&data, 1, directives, n, standard_on_op, NULL)), rc);
    PMIx_Info_destruct(&data);
    return rc;
}

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

PX_TEST(attributes_must_be_passed_to_the_host)
{
    pmix_info_t how[2];
    int priority = 3;

    start_host(PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_load(&how[0], PMIX_LOG_SYSLOG_PRI, &priority, PMIX_INT);
    PMIx_Info_load(&how[1], "example.own", "text", PMIX_STRING);
    ok(log_to(PMIX_LOG_GLOBAL_SYSLOG, "to the gateway", how, 2));
    ck_assert_uint_eq(host.n_calls, 2);
    const pmix_info_t *data = standard_find(host.data, host.n_data,
                                            PMIX_LOG_GLOBAL_SYSLOG);
    const pmix_info_t *pri = standard_find(host.directives, host.n_directives,
                                           PMIX_LOG_SYSLOG_PRI);
    ck_assert(data && strcmp(data->value.data.string, "to the gateway") == 0);
    ck_assert(pri && pri->value.data.integer == priority);
    ck_assert(standard_find(host.directives, host.n_directives, "example.own"));
}

PX_TEST(directives_must_include_the_user_and_the_group)
{
    start_host(PMIX_OPERATION_SUCCEEDED);
    ok(log_to(PMIX_LOG_STDERR, "text", NULL, 0));
    const pmix_info_t *uid = standard_find(host.directives, host.n_directives,
                                           PMIX_USERID);
    const pmix_info_t *gid = standard_find(host.directives, host.n_directives,
                                           PMIX_GRPID);
    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
}

PX_TEST(an_error_must_be_returned_if_the_host_has_no_job_record)
{
    start_host(PMIX_ERR_NOT_SUPPORTED);
    fails(log_to(PMIX_LOG_JOB_RECORD, "text", NULL, 0), NOT_SUPPORTED);
    ck_assert_uint_eq(host.n_calls, 2);
}

/* ---- the library serves -------------------------------------------------------------------- */

STANDARD_CLIENT(streams)
{
    pmix_info_t data[2];

    PMIx_Info_load(&data[0], PMIX_LOG_STDERR, "to stderr", PMIX_STRING);
    PMIx_Info_load(&data[1], PMIX_LOG_STDOUT, "to stdout", PMIX_STRING);
    STANDARD_CHECK(PMIx_Log(data, 2, NULL, 0) == PMIX_SUCCESS);
}

PX_TEST(stderr_is_required_as_data)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 2", "streams");
    ck_assert_uint_eq(standard_count(standard_err, "to stderr"), 2);
    ck_assert_uint_eq(standard_count(standard_out, "to stderr"), 0);
}

PX_TEST(stdout_is_required_as_data)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 2", "streams");
    ck_assert_uint_eq(standard_count(standard_out, "to stdout"), 2);
    ck_assert_uint_eq(standard_count(standard_err, "to stdout"), 0);
}

STANDARD_CLIENT(once)
{
    pmix_info_t data[2], only;

    PMIx_Info_load(&data[0], PMIX_LOG_STDERR, "the first channel", PMIX_STRING);
    PMIx_Info_load(&data[1], PMIX_LOG_STDOUT, "the second channel", PMIX_STRING);
    PMIx_Info_load(&only, PMIX_LOG_ONCE, NULL, PMIX_BOOL);
    PMIx_Info_required(&only);
    STANDARD_CHECK(PMIx_Log(data, 2, &only, 1) == PMIX_SUCCESS);
}

PX_TEST(once_is_required_as_a_directive)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 1", "once");
    ck_assert_uint_eq(standard_count(standard_err, "the first channel"), 1);
    ck_assert_uint_eq(standard_count(standard_out, "the second channel"), 0);
}

PX_TEST(the_callback_of_an_incorrect_request_will_not_be_called)
{
    pmix_info_t data;

    start_host(PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_load(&data, PMIX_LOG_STDERR, "text", PMIX_STRING);
    fails(PMIx_Log_nb(NULL, 1, NULL, 0, standard_on_op, NULL), BAD_PARAM);
    ok(standard_wait(PMIx_Log_nb(&data, 1, NULL, 0, standard_on_op, NULL)));
    ck_assert_uint_eq(standard_answers(), 1);
}

STANDARD_MAIN("standard/logging", NULL, stop)
