/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in host runs out of memory while it starts a job: all of the job runs, or
 * nothing of it does. Its name may find no memory on the way back; then the job runs
 * all the same. */
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "core/host/job.h"
#include "core/rt/call.h"
#include "host_scene.h"

/* Standard input is forwarded, and the environment changed: all that a request may
 * say. */
static void ask_for_much(px_infos *infos)
{
    char name[] = "NAME", value[] = "value";
    const pmix_envar_t envar = {name, value, ':'};
    uint32_t last = 1;
    bool yes = true;

    ok(px_infos_add(infos, PMIX_PREPEND_ENVAR, &envar, PMIX_ENVAR));
    ok(px_infos_add(infos, PMIX_STDIN_TGT, &last, PMIX_UINT32));
    ok(px_infos_add(infos, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL));
}

static void do_count(struct px_call *call, void *args)
{
    PX_LIST_EACH (&launcher()->jobs, struct px_launch_job, job, link)
        *(uint32_t *)args += job->n_running;
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(a_job_that_finds_no_memory_runs_or_leaves_nothing)
{
    PX_AUTO(px_infos) infos = {0};
    unsigned n_refused = 0;
    /* Else some, and few of those far from the beginning. */
    const bool all = px_test_times(0, 1);

    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    ask_for_much(&infos);
    for (unsigned nth = 1;; nth += all ? 1 : 1 + nth / 4) {
        job_name[0] = '\0';
        px_alloc_fail_at(nth);
        pmix_status_t rc = spawn_with(&infos, 2, "exec sleep 20");
        bool failed = px_alloc_fail_end();

        uint32_t n_running = 0;
        ok(px_call(px_process.loop, do_count, &n_running));
        ck_assert_msg(n_running == 2 || (rc && n_running == 0),
                      "allocation %u: %s, %u processes run", nth, PMIx_Error_string(rc),
                      n_running);
        if (n_running > 0) {
            ok(control(PMIX_JOB_CTRL_KILL, 0, NULL));
            await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
        }
        if (rc) {
            n_refused++;
            ck_assert_msg(rc == PMIX_ERR_NOMEM || rc == PMIX_ERR_JOB_FAILED_TO_LAUNCH,
                          "allocation %u: %s", nth, PMIx_Error_string(rc));
            ck_assert_str_eq(job_name, "");
        }
        if (!failed) {
            ok(rc);
            break;
        }
    }
    ck_assert_uint_gt(n_refused, 10);
    spawn(1, "touch ran");
    await_end(PMIX_SUCCESS);
    remove_file("ran");
}

PX_TEST_MAIN("host/nomem", host_setup, host_teardown)
