/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that is its own host and runs out of memory while it starts a job: the job runs, or nothing of
 * it does. */
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "core/host/builtin.h"
#include "host_scene.h"
#include "px_test.h"

static void kill_all(void)
{
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    ck_assert_int_eq(px_infos_add(&infos, PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL), 0);
    ck_assert_int_eq(PMIx_Job_control(NULL, 0, infos.v, infos.n, NULL, NULL),
                     PMIX_SUCCESS);
}

/* Standard input is forwarded, and the environment changed: all that a request may say. */
static void ask_for_much(px_infos *infos)
{
    char name[] = "NAME", value[] = "value";
    const pmix_envar_t envar = {name, value, ':'};
    uint32_t last = 1;
    bool yes = true;

    ck_assert_int_eq(px_infos_add(infos, PMIX_PREPEND_ENVAR, &envar, PMIX_ENVAR), 0);
    ck_assert_int_eq(px_infos_add(infos, PMIX_STDIN_TGT, &last, PMIX_UINT32), 0);
    ck_assert_int_eq(px_infos_add(infos, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL), 0);
}

START_TEST(a_job_that_finds_no_memory_runs_or_leaves_nothing)
{
    PX_AUTO(px_infos) infos = {0};
    unsigned n_refused = 0;
    /* Else some, and few of those far from the beginning. */
    const bool all = getenv("PX_TEST_BIG");

    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    ask_for_much(&infos);
    for (unsigned nth = 1;; nth += all ? 1 : 1 + nth / 4) {
        embedded_job[0] = '\0';
        px_alloc_fail_at(nth);
        pmix_status_t rc = spawn_with(&infos, 2, "exec sleep 20");
        bool failed = px_alloc_fail_end();

        if (rc == PMIX_SUCCESS) {
            kill_all();
            await_end();
        } else {
            n_refused++;
            ck_assert_msg(rc == PMIX_ERR_NOMEM || rc == PMIX_ERR_JOB_FAILED_TO_LAUNCH,
                          "allocation %u: %s", nth, PMIx_Error_string(rc));
            ck_assert_str_eq(embedded_job, "");
        }
        if (!failed) {
            ck_assert_int_eq(rc, PMIX_SUCCESS);
            break;
        }
    }
    ck_assert_uint_gt(n_refused, 10);
    spawn(1, "touch ran");
    await_end();
    remove_file("ran");
}
END_TEST

PX_TEST_MAIN_WITH("server/embedded_nomem", embedded_setup, embedded_teardown,
                  a_job_that_finds_no_memory_runs_or_leaves_nothing)
