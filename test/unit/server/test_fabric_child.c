/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions that components make in a child process of the server: each way in which the child ends. */
#include "core/os/proc.h"
#include "core/base/str.h"
#include "fabric_scene.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const pmix_nspace_t job = "job";
static size_t n_given; /* infos of the last setup_application */

static pmix_status_t adds(px_pnet_add_fn add, void *arg)
{
    const pmix_info_t info = {.key = "vendor.key",
                              .value = {.type = PMIX_UINT32, .data.uint32 = 42}};

    return add(arg, &info);
}

static pmix_status_t crashes(px_pnet_add_fn add, void *arg)
{
    ok(adds(add, arg));
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    return PMIX_SUCCESS;
}

static pmix_status_t ends(px_pnet_add_fn add PX_UNUSED, void *arg PX_UNUSED)
{
    _exit(3);
}

static pmix_status_t hangs(px_pnet_add_fn add PX_UNUSED, void *arg PX_UNUSED)
{
    return (pmix_status_t)pause(); /* until it is killed */
}

static pmix_status_t fails_itself(px_pnet_add_fn add PX_UNUSED, void *arg PX_UNUSED)
{
    return PMIX_ERR_NOT_FOUND;
}

/* Adds pieces until they are refused. */
static pmix_status_t adds_too_much(px_pnet_add_fn add, void *arg)
{
    static char piece[32 << 20];
    const pmix_info_t info = {
        .key = "vendor.key",
        .value = {.type = PMIX_BYTE_OBJECT, .data.bo = {piece, sizeof(piece)}}};
    pmix_status_t rc = PMIX_SUCCESS;

    for (int i = 0; !rc && i < 100; i++)
        rc = add(arg, &info);
    fails(rc, OUT_OF_RESOURCE);
    return PMIX_SUCCESS;
}

static void on_given(pmix_status_t status, pmix_info_t l[] PX_UNUSED, size_t n,
                     void *cbdata, pmix_op_cbfunc_t cb, void *their_cbdata)
{
    n_given = n;
    if (cb)
        cb(PMIX_SUCCESS, their_cbdata);
    raw_on_end(status, cbdata);
}

/* The job goes on without the component, unless the component is required or decides itself. */
PX_TEST_LOOP(a_child_that_fails_does_not_fail_the_job, 2)
{
    static const struct {
        const char *line;
        pmix_status_t (*contribute)(px_pnet_add_fn add, void *arg);
        pmix_status_t required, not_required;
    } rows[] = {
        {NULL, adds, PMIX_SUCCESS, PMIX_SUCCESS},
        {"component pnet/best crashed (Aborted)", crashes, PMIX_ERR_NOT_AVAILABLE,
         PMIX_SUCCESS},
        {"component pnet/best ended (status 3) before it contributed", ends,
         PMIX_ERR_NOT_AVAILABLE, PMIX_SUCCESS},
        {"component pnet/best has not contributed within 3 s, its time limit", hangs,
         PMIX_ERR_NOT_AVAILABLE, PMIX_SUCCESS},
        {"component pnet/best contributes more than 64 MiB", adds_too_much,
         PMIX_ERR_NOT_AVAILABLE, PMIX_SUCCESS},
        {"component pnet/best cannot contribute to job job: ", fails_itself,
         PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_FOUND},
    };
    char log[16384];

    ck_assert_ptr_nonnull(freopen(px_test_path("log"), "a", stderr));
    setvbuf(stderr, NULL, _IONBF, 0);
    setenv("PMIX_MCA_server_fabric_timeout", "3s", 1);
    setenv("PMIX_MCA_pnet_best_required", _i ? "true" : "false", 1);
    fabric_in_children();
    fabric_start();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_status_t wanted = _i ? rows[i].required : rows[i].not_required;

        ok(ftruncate(STDERR_FILENO, 0));
        fakes[0].contribute = rows[i].contribute;
        ok(PMIx_server_setup_application(job, NULL, 0, on_given, &raw_ended));
        ck_assert_int_eq(raw_await_end(), wanted);
        ck_assert_uint_eq(n_given, i == 0 ? 1 : 0);
        ck_assert(px_osproc_read(px_test_path("log"), log, sizeof(log)));
        ck_assert_msg(!rows[i].line || strstr(log, rows[i].line), "%s: %s",
                      rows[i].line, log);
        ck_assert_int_eq(strstr(log, "goes on without it") != NULL,
                         rows[i].line && rows[i].contribute != fails_itself && !_i);
    }
}

/* A job that ends meanwhile is not launched. */
PX_TEST(a_child_that_hangs_ends_with_the_job_and_with_the_server)
{
    fabric_in_children();
    fabric_start();
    fakes[0].contribute = hangs;
    ok(PMIx_server_setup_application(job, NULL, 0, on_given, &raw_ended));
    PMIx_server_deregister_nspace(job, NULL, NULL);
    ck_assert_int_eq(raw_await_end(), PMIX_ERR_JOB_CANCELED);
    ok(PMIx_server_setup_application(job, NULL, 0, on_given, &raw_ended));
    ok(PMIx_server_finalize());
    ck_assert_int_ne(raw_await_end(), PMIX_SUCCESS);
}

PX_TEST_MAIN("server/fabric_child", NULL, host_end)
