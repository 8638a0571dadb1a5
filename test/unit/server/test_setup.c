/* SPDX-License-Identifier: BSD-3-Clause */
/* What a child is given to find its server, and what goes along with a launch. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/server/server.h"
#include "core/wire/codec.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>

static sem_t told;
static pmix_status_t told_status;

static void setup(void)
{
    sem_init(&told, 0, 0);
}

static pmix_proc_t rank(pmix_rank_t r)
{
    pmix_proc_t p = raw_proc("job", r);

    return p;
}

/* Value of a variable that must be there exactly once; NULL if it is not there. */
static const char *value(char *const *env, const char *name)
{
    const char *found = NULL;
    size_t n = strlen(name);

    for (; *env; env++) {
        if (strncmp(*env, name, n) != 0 || (*env)[n] != '=')
            continue;
        ck_assert_msg(!found, "%s is there twice", name);
        found = *env + n + 1;
    }
    return found;
}

PX_TEST(a_child_gets_exactly_what_the_protocol_asks_for)
{
    static const struct {
        const char *name, *value;
    } fixed[] = {
        {"PMIX_NAMESPACE", "job"},
        {"PMIX_RANK", "1"},
        {"PMIX_SECURITY_MODE", "native"},
        {"PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC"},
        {"PMIX_GDS_MODULE", "hash"},
        {"PMIX_VERSION", "4.2.9"},
    };
    static const char *const uris[] = {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                                       "PMIX_SERVER_URI3", "PMIX_SERVER_URI21"};
    PX_AUTO(px_strv) env = NULL;
    pmix_proc_t p = rank(1);

    setenv("PMIX_SERVER_TMPDIR", "/tmp", 1);
    setenv("PMIX_SYSTEM_TMPDIR", "/var/tmp", 1);
    raw_server_start(&host_module, 2);
    ok(PMIx_server_setup_fork(&p, &env));

    for (size_t i = 0; i < PX_COUNT(fixed); i++)
        ck_assert_str_eq(value(env, fixed[i].name), fixed[i].value);
    for (size_t i = 0; i < PX_COUNT(uris); i++)
        ck_assert_str_eq(value(env, uris[i]), px_process.server->uri);
    ck_assert(px_str_starts(strchr(px_process.server->uri, ';'), ";tcp4://127.0.0.1:"));
    ck_assert_str_eq(value(env, "TENON_SERVER_URI"), px_process.server->own_uri);
    ck_assert_str_eq(value(env, "PMIX_SERVER_TMPDIR"), "/tmp");
    ck_assert_str_eq(value(env, "PMIX_SYSTEM_TMPDIR"), "/var/tmp");
    ck_assert_str_eq(value(env, "PMIX_HOSTNAME"), px_process.host);
    ck_assert_uint_eq(px_strv_count(env), PX_COUNT(fixed) + PX_COUNT(uris) + 4);
}

PX_TEST(an_outer_servers_traces_go_and_everything_else_stays)
{
    static const char *const foreign[] = {"PMIX_SERVER_URI2=x",
                                          "PMIX_SERVER_URI61=x",
                                          "PMIX_SERVER_URI=x",
                                          "PMIX_SERVER_URI3=x",
                                          "PMIX_DSTORE_21_BASE_PATH=/x",
                                          "TENON_SERVER_URI=x;y",
                                          "PMIX_NAMESPACE=outer",
                                          "PMIX_MCA_server_report_uri=7",
                                          "PMIX_MCA_ptl_base_report_uri=7",
                                          "PMIX_MCA_ptl_tcp_report_uri=7"};
    static const char *const others[] = {"PATH=/bin", "PMIX_MCA_ptl=tcp",
                                         "URI=PMIX_SERVER_URI", "PMIX_SERVER_URi2=x"};
    PX_AUTO(px_strv) env = NULL;
    pmix_proc_t p = rank(0);

    for (size_t i = 0; i < PX_COUNT(foreign); i++)
        ok(px_strv_append(&env, foreign[i]));
    for (size_t i = 0; i < PX_COUNT(others); i++)
        ok(px_strv_append(&env, others[i]));
    raw_server_start(&host_module, 2);
    ok(PMIx_server_setup_fork(&p, &env));
    ok(PMIx_server_setup_fork(&p, &env)); /* changes nothing */

    for (size_t i = 0; i < PX_COUNT(foreign); i++)
        ck_assert_msg(!px_strv_has(env, foreign[i]), "%s", foreign[i]);
    for (size_t i = 0; i < PX_COUNT(others); i++)
        ck_assert_msg(px_strv_has(env, others[i]), "%s", others[i]);
    ck_assert_ptr_null(value(env, "PMIX_SERVER_URI2"));
    ck_assert_ptr_null(value(env, "PMIX_SERVER_URI61"));
    ck_assert_str_eq(value(env, "PMIX_NAMESPACE"), "job");
}

PX_TEST(without_a_faster_transport_none_is_named)
{
    PX_AUTO(px_strv) env = NULL;
    pmix_proc_t p = rank(0);

    setenv("PMIX_MCA_ptl", "tcp", 1);
    raw_server_start(&host_module, 1);
    ok(PMIx_server_setup_fork(&p, &env));
    ck_assert_ptr_null(value(env, "TENON_SERVER_URI"));
    ck_assert_ptr_nonnull(value(env, "PMIX_SERVER_URI41"));
}

PX_TEST(it_works_in_a_forked_child_where_some_hosts_call_it)
{
    pmix_proc_t p = rank(0);
    int status;

    raw_server_start(&host_module, 1);
    pid_t pid = fork();
    if (pid == 0) {
        char **env = NULL;

        _exit(PMIx_server_setup_fork(&p, &env) || !value(env, "PMIX_SERVER_URI41"));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* ---- launch support -------------------------------------------------------------------------- */

static void on_application(pmix_status_t status, pmix_info_t info[], size_t n,
                           void *cbdata, pmix_op_cbfunc_t cb, void *their_cbdata)
{
    ck_assert_ptr_eq(cbdata, &told);
    ck_assert(!info && n == 0);
    if (cb)
        cb(PMIX_SUCCESS, their_cbdata);
    told_status = status;
    sem_post(&told);
}

static void on_local(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &told);
    told_status = status;
    sem_post(&told);
}

PX_TEST(nothing_need_go_along_with_a_launch)
{
    pmix_nspace_t job = "job", empty = "";

    raw_server_start(&host_module, 1);
    ok(PMIx_server_setup_application(job, NULL, 0, on_application, &told));
    sem_wait(&told);
    ok(told_status);
    ok(PMIx_server_setup_local_support(job, NULL, 0, on_local, &told));
    sem_wait(&told);
    ok(told_status);
    ok(PMIx_server_setup_local_support(job, NULL, 0, NULL, NULL));

    ck_assert_int_eq(PMIx_server_setup_application(job, NULL, 0, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(
        PMIx_server_setup_application(empty, NULL, 0, on_application, &told),
        PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_server_setup_local_support(job, NULL, 1, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
}

/* Bytes of somebody else in place of what a component has contributed. */
static pmix_status_t support_with(const void *bytes, size_t n)
{
    pmix_nspace_t job = "job";
    pmix_byte_object_t bo = {(char *)bytes, n};
    pmix_info_t info;

    ok(PMIx_Info_load(&info, "tenon.pnet", &bo, PMIX_BYTE_OBJECT));
    pmix_status_t rc = PMIx_server_setup_local_support(job, &info, 1, NULL, NULL);
    PMIx_Info_destruct(&info);
    return rc;
}

PX_TEST(a_blob_that_is_none_is_refused)
{
    pmix_nspace_t job = "job";
    pmix_info_t text;
    px_writer later, w;

    raw_server_start(&host_module, 1);
    px_writer_init(&later, px_codec_default);
    px_pack_u32(&later, 9);
    ck_assert_int_eq(support_with(later.buf.data, later.buf.len),
                     PMIX_ERR_UNPACK_FAILURE);
    px_writer_init(&w, px_codec_default);
    px_pack_u32(&w, 1);
    const size_t layout = w.buf.len;
    px_pack_str(&w, "unknown");
    px_pack_bytes(&w, "!", 1); /* what its component would refuse */
    for (size_t n = 0; n < w.buf.len; n++) {
        pmix_status_t rc = support_with(w.buf.data, n);
        ck_assert_msg(n == layout ? rc == PMIX_SUCCESS : rc < 0, "%zu bytes: %d", n,
                      rc);
    }
    ok(support_with(w.buf.data, w.buf.len));
    px_writer_cleanup(&later);
    px_writer_cleanup(&w);
    ok(PMIx_Info_load(&text, "tenon.pnet", "x", PMIX_STRING));
    ck_assert_int_eq(PMIx_server_setup_local_support(job, &text, 1, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&text);
}

PX_TEST(without_a_server_nothing_is_set_up)
{
    pmix_nspace_t job = "job";
    pmix_proc_t p = rank(0);
    char **env = NULL;

    ck_assert_int_eq(PMIx_server_setup_fork(&p, &env), PMIX_ERR_INIT);
    ck_assert_int_eq(PMIx_server_setup_application(job, NULL, 0, on_application, &told),
                     PMIX_ERR_INIT);
    ck_assert_int_eq(PMIx_server_setup_local_support(job, NULL, 0, NULL, NULL),
                     PMIX_ERR_INIT);
    ck_assert_ptr_null(env);
}

PX_TEST_MAIN("server/setup", setup, host_end)
