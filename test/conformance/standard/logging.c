/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's section "Logging". */
#include "log_sockets.h"
#include "standard.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <syslog.h>
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

/* ---- the system's log ---------------------------------------------------------------------- */

/* A request: at most two data and two directives, for one client. */
struct request {
    const char *keys[2], *texts[2];
    struct {
        const char *key;
        pmix_data_type_t type;
        const void *value;
    } directives[2];
    pmix_status_t status;
    int n_received;          /* texts in the system's log */
    const char *received[2]; /* parts of these */
    const char *out, *err;   /* parts of pmixrun's output */
};
static const int debug = LOG_DEBUG;
static const time_t stamp = 1000000000; /* 2001-09-09 */
static const struct request requests[] = {
    {{PMIX_LOG_SYSLOG},
     {"to syslog"},
     {{0}},
     PMIX_SUCCESS,
     1,
     {"<11>", "to syslog"},
     NULL,
     NULL},
    {{PMIX_LOG_LOCAL_SYSLOG, PMIX_LOG_SYSLOG},
     {"the first", "the second"},
     {{0}},
     PMIX_SUCCESS,
     2,
     {"the first", "the second"},
     NULL,
     NULL},
    {{PMIX_LOG_SYSLOG},
     {"with priority"},
     {{PMIX_LOG_SYSLOG_PRI, PMIX_INT, &debug}},
     PMIX_SUCCESS,
     1,
     {"<15>", "with priority"},
     NULL,
     NULL},
    {{PMIX_LOG_SYSLOG, PMIX_LOG_STDOUT},
     {"stamped", "on each channel"},
     {{PMIX_LOG_TIMESTAMP, PMIX_TIME, &stamp}},
     PMIX_SUCCESS,
     1,
     {"2001-09-", "stamped"},
     "2001-09-",
     NULL},
    {{PMIX_LOG_SYSLOG, PMIX_LOG_STDERR},
     {"only once", "not this"},
     {{PMIX_LOG_ONCE, PMIX_BOOL, NULL}},
     PMIX_SUCCESS,
     1,
     {"only once"},
     NULL,
     NULL},
    {{PMIX_LOG_EMAIL, PMIX_LOG_STDERR},
     {"mail", "the channel that can"},
     {{PMIX_LOG_ONCE, PMIX_BOOL, NULL}},
     PMIX_SUCCESS,
     0,
     {NULL},
     NULL,
     "the channel that can"},
    {{PMIX_LOG_STDERR},
     {"tagged"},
     {{PMIX_LOG_TAG_OUTPUT, PMIX_BOOL, NULL}},
     PMIX_SUCCESS,
     0,
     {NULL},
     NULL,
     "<stderr>:tagged"},
    {{PMIX_LOG_STDOUT},
     {"<in xml>"},
     {{PMIX_LOG_XML_OUTPUT, PMIX_BOOL, NULL}},
     PMIX_SUCCESS,
     0,
     {NULL},
     "&lt;in xml&gt;",
     NULL},
    {{PMIX_LOG_STDERR},
     {"generated"},
     {{PMIX_LOG_GENERATE_TIMESTAMP, PMIX_BOOL, NULL}},
     PMIX_SUCCESS,
     0,
     {NULL},
     NULL,
     "<stderr>:generated"},
    {{PMIX_LOG_GLOBAL_DATASTORE},
     {"stored"},
     {{0}},
     PMIX_ERR_NOT_SUPPORTED,
     0,
     {NULL},
     NULL,
     "only a host has a data store"},
    {{PMIX_LOG_EMAIL},
     {"mail"},
     {{0}},
     PMIX_ERR_NOT_SUPPORTED,
     0,
     {NULL},
     NULL,
     "sends e-mail"},
    {{PMIX_LOG_GLOBAL_SYSLOG},
     {"far"},
     {{0}},
     PMIX_ERR_NOT_SUPPORTED,
     0,
     {NULL},
     NULL,
     "gateway"},
    {{PMIX_LOG_JOB_RECORD},
     {"record"},
     {{0}},
     PMIX_ERR_NOT_SUPPORTED,
     0,
     {NULL},
     NULL,
     PMIX_LOG_JOB_RECORD},
    {{PMIX_LOG_SYSLOG},
     {"wrong"},
     {{PMIX_LOG_SYSLOG_PRI, PMIX_STRING, "high"}},
     PMIX_ERR_BAD_PARAM,
     0,
     {NULL},
     NULL,
     PMIX_LOG_SYSLOG_PRI},
};

STANDARD_CLIENT(request)
{
    const struct request *r = &requests[atoi(getenv("STANDARD_ROW"))];
    pmix_info_t data[2], how[2];
    size_t n_data = r->keys[1] ? 2 : 1, n = 0;

    for (size_t i = 0; i < n_data; i++)
        PMIx_Info_load(&data[i], r->keys[i], r->texts[i], PMIX_STRING);
    for (; n < 2 && r->directives[n].key; n++)
        PMIx_Info_load(&how[n], r->directives[n].key, r->directives[n].value,
                       r->directives[n].type);
    const pmix_status_t rc = PMIx_Log(data, n_data, how, n);
    if (rc != r->status)
        fprintf(stderr, "%s, expected %s\n", PMIx_Error_string(rc),
                PMIx_Error_string(r->status));
    STANDARD_CHECK(rc == r->status);
}

PX_TEST_LOOP(syslog_and_its_priority_are_required,
             (int)(sizeof(requests) / sizeof(requests[0])))
{
    const struct request *r = &requests[_i];
    int fd = log_sockets_open();
    char text[4096] = "", row[16];
    size_t n = 0;

    STANDARD_NEEDS_PMIXRUN;
    PX_TEST_NEEDS(fd >= 0, "a mount namespace");
    snprintf(row, sizeof(row), "%d", _i);
    setenv("STANDARD_ROW", row, 1);
    standard_run("--mca plog ^journal -n 1", "request");
    for (int i = 0; i < r->n_received; i++)
        n += (size_t)log_sockets_receive(fd, text + n, sizeof(text) - n);
    for (int i = 0; i < 2 && r->received[i]; i++)
        ck_assert_msg(strstr(text, r->received[i]), "%s is not in %s", r->received[i],
                      text);
    ck_assert_msg(!r->out || strstr(standard_out, r->out), "%s", standard_out);
    ck_assert_msg(!r->err || strstr(standard_err, r->err), "%s", standard_err);
    ck_assert_uint_eq(standard_count(standard_err, "not this"), 0);
    close(fd);
}

PX_TEST(a_gateway_logs_to_the_global_syslog)
{
    static pmix_server_module_t module;
    int fd = log_sockets_open();
    pmix_info_t info[2];
    char text[4096];

    PX_TEST_NEEDS(fd >= 0, "a mount namespace");
    PMIx_Info_load(&info[0], PMIX_SERVER_GATEWAY, NULL, PMIX_BOOL);
    PMIx_Info_load(&info[1], "PMIX_MCA_plog", "^journal", PMIX_STRING);
    PMIx_Info_required(&info[0]);
    ok(PMIx_server_init(&module, info, 2));
    PMIx_Info_destruct(&info[1]);
    ok(log_to(PMIX_LOG_GLOBAL_SYSLOG, "for all nodes", NULL, 0));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_gt(log_sockets_receive(fd, text, sizeof(text)), 0);
        ck_assert_msg(strstr(text, "for all nodes"), "%s", text);
    }
    close(fd);
}

/* ---- arrays, the job record, limits -------------------------------------------------------- */

STANDARD_CLIENT(messages)
{
    pmix_info_t parts[3], data[2];
    pmix_data_array_t array = {.type = PMIX_INFO, .size = 3, .array = parts};

    PMIx_Info_load(&parts[0], PMIX_LOG_MSG, "message one", PMIX_STRING);
    PMIx_Info_load(&parts[1], "example.own", NULL, PMIX_BOOL);
    PMIx_Info_load(&parts[2], PMIX_LOG_MSG, "message two", PMIX_STRING);
    PMIx_Info_load(&data[0], PMIX_LOG_STDERR, &array, PMIX_DATA_ARRAY);
    PMIx_Info_load(&data[1], PMIX_LOG_JOB_RECORD, &array, PMIX_DATA_ARRAY);
    STANDARD_CHECK(PMIx_Log(data, 2, NULL, 0) == PMIX_SUCCESS);
    array.size = 0;
    PMIx_Info_load(&data[0], PMIX_LOG_STDERR, &array, PMIX_DATA_ARRAY);
    STANDARD_CHECK(PMIx_Log(data, 2, NULL, 0) == PMIX_ERR_BAD_PARAM);
}

PX_TEST(the_job_record_gets_the_messages_of_an_array)
{
    const char *record = px_test_path("record");
    char options[4200], text[256];

    STANDARD_NEEDS_PMIXRUN;
    snprintf(options, sizeof(options), "--mca plog_file_path %s -n 2", record);
    standard_run(options, "messages");
    ck_assert_uint_eq(standard_count(standard_err, "message one"), 2);
    ck_assert_uint_eq(standard_count(standard_err, "message two"), 2);
    FILE *f = fopen(record, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    ck_assert_uint_eq(standard_count(text, "message one"), 2);
    ck_assert_uint_eq(standard_count(text, "message two"), 2);
}

STANDARD_CLIENT(limits)
{
    enum { MAX_TEXTS = 512 };
    static char lines[100000];
    pmix_info_t *data = PMIx_Info_create(MAX_TEXTS + 1), tag;

    for (size_t i = 0; i <= MAX_TEXTS; i++)
        PMIx_Info_load(&data[i], PMIX_LOG_STDOUT, "a line", PMIX_STRING);
    STANDARD_CHECK(PMIx_Log(data, MAX_TEXTS, NULL, 0) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Log(data, MAX_TEXTS + 1, NULL, 0) == PMIX_ERR_OUT_OF_RESOURCE);
    memset(lines, '\n', sizeof(lines) - 1); /* each with a head */
    PMIx_Info_load(&data[0], PMIX_LOG_STDOUT, lines, PMIX_STRING);
    PMIx_Info_load(&tag, PMIX_LOG_TAG_OUTPUT, NULL, PMIX_BOOL);
    STANDARD_CHECK(PMIx_Log(data, 1, &tag, 1) == PMIX_ERR_OUT_OF_RESOURCE);
}

PX_TEST(a_request_beyond_a_limit_is_refused)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 1", "limits");
    ck_assert_uint_eq(standard_count(standard_out, "a line"), 512);
}

/* slurmstepd has the stderr of a process as its own, and later awaits the end of that pipe. */
PX_TEST(a_stream_that_the_host_replaces_is_released)
{
    static pmix_server_module_t module;
    const int old = dup(STDERR_FILENO);
    struct pollfd end = {.events = POLLIN};
    char text[64] = "";
    pmix_info_t data;
    int ends[2];

    ok(PMIx_server_init(&module, NULL, 0));
    ck_assert(pipe2(ends, O_CLOEXEC) == 0 && old >= 0);
    PMIx_Info_load(&data, PMIX_LOG_STDERR, "to the pipe", PMIX_STRING);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    const pmix_status_t rc = PMIx_Log(&data, 1, NULL, 0);
    ck_assert_int_eq(dup2(old, STDERR_FILENO), STDERR_FILENO);
    close(old);
    close(ends[1]);
    ok(rc);
    ck_assert_int_eq(read(ends[0], text, sizeof(text) - 1), 12);
    ck_assert_str_eq(text, "to the pipe\n");
    end.fd = ends[0];
    ck_assert_int_eq(poll(&end, 1, 20000), 1);
    ck_assert_int_eq(read(ends[0], text, sizeof(text)), 0);
    close(ends[0]);
    PMIx_Info_destruct(&data);
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
