/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the built-in host that restart after a failure. */
#include "jobs.h"

#include <signal.h>

#include "core/base/clock.h"
#include "core/server/host.h"

/* Shell code that sets $n to the number of the current life of a rank. */
#define LIVES "n=1; while ! mkdir life$PMIX_RANK-$n; do n=$((n+1)); done 2>/dev/null; "

static pmix_status_t spawn_again(uint32_t max, const char *policy, int n,
                                 const char *script)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_MAX_RESTARTS, &max, PMIX_UINT32));
    ok(px_infos_add(&infos, policy ? policy : PMIX_INDEX_ARGV, NULL, PMIX_BOOL));
    for (size_t i = 0; i < infos.n; i++)
        PMIx_Info_required(&infos.v[i]);
    return spawn_with(&infos, n, script);
}

/* Returns the number of lives of rank 0, and removes their folders. */
static int count_lives(void)
{
    int n = 0;

    for (;;) {
        PX_AUTOFREE char *name = px_strf("life0-%d", n + 1);

        if (!exists(name))
            return n;
        ok(rmdir(px_test_path(name)));
        n++;
    }
}

PX_TEST(a_process_that_fails_is_started_again_within_the_limit)
{
    static const struct {
        uint32_t max;
        const char *policy, *script;
        int lives;
        pmix_status_t failure, verdict;
        const char *text; /* text of the last restart */
    } rows[] = {{2, NULL, LIVES "test $n = 3", 3, 0, PMIX_SUCCESS,
                 "exited with status 1, and was started again (2 of 2)"},
                {1, NULL, LIVES "test $n = 3 || kill -9 $$", 2,
                 PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_JOB_ABORTED_BY_SIG,
                 "killed by signal 9 (Killed), and was started again (1 of 1)"},
                {5, PMIX_JOB_RECOVERABLE, LIVES "exit 7", 6, PMIX_ERR_EXIT_NONZERO_TERM,
                 PMIX_ERR_JOB_NON_ZERO_TERM,
                 "exited with status 7, and was started again (5 of 5)"},
                {1, PMIX_JOB_CONTINUOUS, LIVES "test $n = 2", 2, 0, PMIX_SUCCESS,
                 "exited with status 1, and was started again (1 of 1)"},
                {0, PMIX_JOB_CONTINUOUS, LIVES "exit 7", 1, PMIX_ERR_EXIT_NONZERO_TERM,
                 PMIX_ERR_JOB_NON_ZERO_TERM, ""},
                {3, NULL, LIVES "true", 1, 0, PMIX_SUCCESS, ""}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        seen.n_failures = seen.n_restarts = 0;
        seen.restart[0] = '\0';
        ok(spawn_again(rows[i].max, rows[i].policy, 1, rows[i].script));
        await_end(rows[i].verdict);
        ck_assert_int_eq(seen.n_failures, rows[i].failure != 0);
        ck_assert_int_eq(seen.n_restarts, rows[i].lives - 1);
        ck_assert_int_eq(count_lives(), rows[i].lives);
        ck_assert_str_eq(seen.restart, rows[i].text);
        ck_assert(!rows[i].failure || seen.failure == rows[i].failure);
    }
}

/* The restart of a process does not disturb the others. */
PX_TEST(the_others_stay_and_the_new_life_is_known)
{
    pmix_value_t *times;

    ok(spawn_again(1, NULL, 2,
                   LIVES "touch up$PMIX_RANK$n; test $PMIX_RANK$n != 01 || "
                         "{ echo $$ >failed; exit 1; }; "
                         "while test ! -e go; do sleep 0.01; done"));
    await_file("up02");
    await_file("up11");
    times = get(0, PMIX_REINCARNATION);
    ck_assert_uint_eq(times->data.uint32, 1);
    PMIx_Value_free(times, 1);
    times = get(1, PMIX_REINCARNATION);
    ck_assert_uint_eq(times->data.uint32, 0);
    PMIx_Value_free(times, 1);
    make_file("go");
    await_end(PMIX_SUCCESS);
    ck_assert(!exists("up12"));
    FILE *f = fopen(px_test_path("failed"), "re");
    int pid = 0;
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
    fclose(f);
    remove_file("failed");
    /* Pid of the failed process, not of the new one. */
    ck_assert_int_eq(seen.restarted, pid);
}

/* No restart follows an order to end, an abort or the end of the job. The end of the job also
 * cancels a restart that is due. */
PX_TEST(what_was_ordered_to_end_is_not_started_again)
{
    enum { SOON_MS = 600 };
    uint64_t took_ms = SOON_MS;
    pmix_proc_t first;

    ok(spawn_again(9, NULL, 2, LIVES "touch up$PMIX_RANK; exec sleep 20"));
    await_file("up0");
    await_file("up1");
    px_proc_set(&first, job_name, 0);
    ok(control(PMIX_JOB_CTRL_TERMINATE, &first));
    await_end(PMIX_ERR_JOB_ABORTED_BY_SIG);
    ck_assert_int_eq(count_lives(), 1);
    /* On a busy machine one of several tries is fast enough. */
    for (int try = 0; try < 5 && took_ms >= SOON_MS; try++) {
        seen.n_restarts = 0;
        ok(spawn_again(99, NULL, 1, LIVES "test $n -lt 8 || touch up; exit 1"));
        await_file("up"); /* the pause before a restart is a second by now */
        usleep(200000);
        took_ms = px_clock_ms();
        ok(control(PMIX_JOB_CTRL_TERMINATE, NULL));
        await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
        took_ms = px_clock_ms() - took_ms;
        ck_assert_int_eq(count_lives(), 8 + (seen.n_restarts - 7));
    }
    ck_assert_uint_lt(took_ms, SOON_MS);
    ck_assert_int_eq(seen.n_restarts, 7);
}

PX_TEST(a_process_that_cannot_be_started_again_has_failed)
{
    make_file("once");
    ok(chmod(px_test_path("once"), 0700));
    FILE *f = fopen(px_test_path("once"), "we");
    fputs("#!/bin/sh\nrm \"$0\"\nexit 4\n", f);
    fclose(f);
    const uint32_t max = 3;
    PX_AUTO(px_infos) infos = {0};
    const pmix_app_t app = {.cmd = (char *)px_test_path("once"), .maxprocs = 1};

    ok(px_infos_add(&infos, PMIX_MAX_RESTARTS, &max, PMIX_UINT32));
    ok(PMIx_Spawn(infos.v, infos.n, &app, 1, NULL));
    await_end(PMIX_ERR_JOB_NON_ZERO_TERM);
    ck_assert_int_eq(seen.n_failures, 1);
    ck_assert_int_eq(seen.exit_code, 4);
    ck_assert(px_str_starts(seen.text, "exited with status 4, and cannot be started "
                                       "again: "));
}

/* The restart waits for output left in the pipes. The wait has a limit, as a child may keep the
 * pipes open. */
PX_TEST(the_end_of_the_earlier_output_is_waited_for)
{
    uint64_t began = px_clock_ms();

    ok(spawn_again(1, NULL, 1, LIVES "sleep 3 & test $n = 2"));
    await_end(PMIX_SUCCESS);
    ck_assert_uint_lt(px_clock_ms() - began, 2000);
    ck_assert_int_eq(count_lives(), 2);
}

PX_TEST_MAIN("host/restart", jobs_setup, jobs_teardown)
