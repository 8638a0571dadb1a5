/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of the built-in host that end by a failure, with other jobs or by abort. Also the remains of
 * ended jobs. */
#include "jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/os/proc.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/cleanup/session.h"
#include "core/server/peer/peer.h"

/* ---- ends ------------------------------------------------------------------------ */

PX_TEST(the_first_failure_is_reported_and_ends_the_job)
{
    static const struct {
        const char *script;
        pmix_status_t failure, verdict;
        const char *text;
        int exit_code;
    } rows[] = {{"test $PMIX_RANK != 1 || exit 3; exec sleep 20",
                 PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_JOB_NON_ZERO_TERM,
                 "exited with status 3", 3},
                {"test $PMIX_RANK != 1 || kill -9 $$; exec sleep 20",
                 PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_JOB_ABORTED_BY_SIG,
                 "killed by signal 9 (Killed)", 137}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        spawn(3, rows[i].script);
        await_failure(rows[i].failure, rows[i].verdict, 1, rows[i].exit_code,
                      rows[i].text);
    }
}

/* A process that waits at a FIFO ends when the FIFO is opened and closed. */
PX_TEST(each_end_is_reported_whichever_allocation_fails)
{
    PX_AUTOFREE char *fifo = strdup(px_test_path("fifo"));
    unsigned n_rounds = 0;

    PX_TEST_NEEDS_ALLOC;
    ok(mkfifo(fifo, 0600));
    for (bool failed = true; failed; n_rounds++) {
        struct timespec until;

        spawn(1, "exec cat fifo");
        const int fd = open(fifo, O_WRONLY | O_CLOEXEC);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 10;
        px_alloc_fail_at(n_rounds + 1);
        close(fd);
        const int rc = sem_timedwait(&seen.ended, &until);
        failed = px_alloc_fail_end();
        ck_assert_msg(rc == 0, "allocation %u", n_rounds + 1);
        ck_assert_int_eq(seen.verdict, PMIX_SUCCESS);
    }
    ck_assert_uint_gt(n_rounds, 5); /* an end allocates */
    unlink(fifo);
}

PX_TEST(a_process_that_ignores_term_is_killed)
{
    spawn(2, "trap '' TERM; touch up$PMIX_RANK; test $PMIX_RANK = 1 || "
             "{ while test ! -e go; do sleep 0.01; done; exit 1; }; "
             "while :; do sleep 0.05; done");
    await_file("up0");
    await_file("up1");
    uint64_t began = px_clock_ms();
    make_file("go");
    await_end(PMIX_ERR_JOB_NON_ZERO_TERM);
    ck_assert_uint_ge(px_clock_ms() - began, 300);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    ck_assert_int_eq(seen.n_failures, 1);
}

static void do_lose_rank_0(struct px_call *call, void *args PX_UNUSED)
{
    pmix_proc_t proc;

    px_proc_set(&proc, job_name, 0);
    px_local_find(px_process.server, &proc)->lost = true;
    px_call_done(call, PMIX_SUCCESS);
}

/* The broken connection of rank 0 shows that rank 0 is about to die. Rank 1 fails as a consequence.
 * When its end is known, rank 0 dies, or lives on. */
PX_TEST(the_process_that_dies_first_is_named_not_one_that_fails_over_that)
{
#define FIRST_RANK_1                                                           \
    "echo $$ >pid$PMIX_RANK; touch up$PMIX_RANK; "                             \
    "while test ! -e go; do sleep 0.01; done; test $PMIX_RANK = 0 || exit 3; " \
    "while kill -0 $(cat pid1) 2>/dev/null; do sleep 0.01; done; "
    for (int dies = 0; dies < 2; dies++) {
        spawn(2, dies ? FIRST_RANK_1 "kill -9 $$" : FIRST_RANK_1 "exec sleep 20");
        await_file("up0");
        await_file("up1");
        ok(px_call(px_process.loop, do_lose_rank_0, NULL));
        make_file("go");
        if (dies)
            await_failure(PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_JOB_ABORTED_BY_SIG, 0,
                          137, "killed by signal 9 (Killed)");
        else
            await_failure(PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_JOB_NON_ZERO_TERM, 1, 3,
                          "exited with status 3");
        remove_file("go");
    }
}

static void do_find_pid(struct px_call *call, void *args)
{
    *(pid_t *)args = px_job_find(launcher(), job_name)->tasks[0].pid;
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(finalize_ends_all_that_still_run)
{
    pid_t pid = 0;

    spawn_sleepers(1);
    ok(px_call(px_process.loop, do_find_pid, &pid));
    ok(kill(pid, 0));
    ok(PMIx_server_finalize());
    ck_assert_int_lt(kill(pid, 0), 0);
    ok(PMIx_server_init(NULL, NULL, 0)); /* for teardown */
}

PX_TEST(finalize_ends_what_an_ended_job_has_left_in_sessions_of_its_own)
{
    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS(px_process.server->part.session->cleaner, "a component of pcleanup");
    int pid = 0;

    spawn(1, "setsid sleep 60 & echo $! >pid");
    await_end(PMIX_SUCCESS);
    FILE *file = fopen(px_test_path("pid"), "re");
    ck_assert(file && fscanf(file, "%d", &pid) == 1);
    fclose(file);
    remove_file("pid");
    ck_assert(!px_osproc_ended(pid, 0));
    ok(PMIx_server_finalize());
    for (int ms = 0; !px_osproc_ended(pid, 0) && ms < 5000; ms++)
        usleep(1000);
    ck_assert(px_osproc_ended(pid, 0));
    ok(PMIx_server_init(NULL, NULL, 0)); /* for teardown */
}

PX_TEST(left_behind_processes_do_not_hold_up_the_end)
{
    uint64_t began = px_clock_ms();

    spawn(1, "(sleep 3) & exit 0");
    await_end(PMIX_SUCCESS);
    ck_assert_uint_lt(px_clock_ms() - began, 2000);
}

static void do_check_known(struct px_call *call, void *args)
{
    *(bool *)args = !px_list_empty(&launcher()->jobs) ||
                    px_nspace_find(px_process.model, job_name);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(an_ended_job_is_forgotten_after_a_while)
{
    bool known = true;

    spawn(1, "true");
    await_end(PMIX_SUCCESS);
    for (int i = 0; i < 5000 && known; i++) {
        usleep(1000);
        ok(px_call(px_process.loop, do_check_known, &known));
    }
    ck_assert(!known);
}

static void do_count_jobs(struct px_call *call, void *args)
{
    *(size_t *)args = px_list_length(&launcher()->jobs);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(few_ended_jobs_are_kept)
{
    enum { N = 100 };
    size_t n = N;

    for (int i = 0; i < N; i++)
        spawn_sleepers(1);
    ok(control(PMIX_JOB_CTRL_KILL, NULL));
    for (int i = 0; i < N; i++)
        await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    /* Shorter than the time for which an ended job is kept. */
    for (int i = 0; i < 50 && n > 64; i++) {
        usleep(1000);
        ok(px_call(px_process.loop, do_count_jobs, &n));
    }
    ck_assert_uint_le(n, 64);
}

PX_TEST(a_job_has_folders_until_it_ends)
{
    struct stat st;

    PX_TEST_NEEDS(px_process.server->part.session->cleaner, "a component of pcleanup");
    spawn(2, "while test ! -e go; do sleep 0.01; done");
    pmix_value_t *dirs[] = {get(PMIX_RANK_WILDCARD, PMIX_TMPDIR),
                            get(PMIX_RANK_WILDCARD, PMIX_NSDIR), get(1, PMIX_PROCDIR)};
    const char *top = dirs[0]->data.string, *job = dirs[1]->data.string,
               *rank = dirs[2]->data.string;
    ck_assert(px_str_starts(rank, job) && px_str_starts(job, top) &&
              px_str_starts(top, px_process.server->dir));
    ok(lstat(rank, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    for (int i = 0; i < 100; i++) {
        PX_AUTOFREE char *dir = px_strf("%s/%d", i % 2 ? job : rank, 1000 + i);

        ok(mkdir(dir, 0700));
    }
    make_file("go");
    await_end(PMIX_SUCCESS);
    for (int i = 0; i < 1000 && lstat(job, &st) == 0; i++)
        usleep(5000);
    ck_assert_int_ne(lstat(job, &st), 0);
    ok(lstat(top, &st)); /* the next job uses the same folder */
    for (size_t i = 0; i < PX_COUNT(dirs); i++)
        PMIx_Value_free(dirs[i], 1);
}

/* ---- abort ----------------------------------------------------------------------- */

struct request {
    const char *nspace;
    int status;
    const char *text;
    pmix_proc_t *procs;
    size_t n;
};

/* Aborts as rank 1 of q->nspace. */
static void do_abort(struct px_call *call, void *arg)
{
    const struct request *q = arg;
    pmix_proc_t from;

    px_proc_set(&from, q->nspace, 1);
    px_call_done(call, px_process.server->module.abort(&from, NULL, q->status, q->text,
                                                       q->procs, q->n, NULL, NULL));
}

static pmix_status_t abort_from(const char *nspace, int status, const char *text,
                                pmix_proc_t *procs, size_t n)
{
    return px_call(px_process.loop, do_abort,
                   &(struct request){nspace, status, text, procs, n});
}

PX_TEST(abort_ends_the_job_and_names_its_caller)
{
    static const struct {
        int status;
        const char *text, *expected;
        int exit_code;
    } rows[] = {{7, "no more", "called abort with status 7: no more", 7},
                {0, NULL, "called abort with status 0", 1},
                {256, "", "called abort with status 256", 1},
                {-1, NULL, "called abort with status -1", 255}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        spawn_sleepers(2);
        ck_assert_int_eq(abort_from(job_name, rows[i].status, rows[i].text, NULL, 0),
                         PMIX_OPERATION_SUCCEEDED);
        await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1,
                      rows[i].exit_code, rows[i].expected);
    }
}

PX_TEST(a_long_message_of_an_abort_is_cut_between_characters_and_marked)
{
    static const struct {
        size_t n, kept; /* in bytes */
        const char *end;
    } rows[] = {
        {PX_ABORT_TEXT_B, PX_ABORT_TEXT_B, ""},
        {PX_ABORT_TEXT_B + 904, PX_ABORT_TEXT_B, "... (cut, 5000 bytes in all)"}};
    char text[2 * PX_ABORT_TEXT_B], expected[sizeof(text)];

    for (size_t i = 0; i < 2 * PX_COUNT(rows); i++) {
        /* All characters but the first have two bytes. */
        const bool wide = i >= PX_COUNT(rows);
        const size_t row = i % PX_COUNT(rows), n = rows[row].n;
        const size_t kept = rows[row].kept - (wide && n > rows[row].kept);

        for (size_t k = 0; k < n; k++)
            text[k] = (char)(wide && k > 0 ? (k % 2 ? 0xc3 : 0xa4) : 'a');
        text[n] = '\0';
        snprintf(expected, sizeof(expected), "called abort with status 7: %.*s%s",
                 (int)kept, text, rows[row].end);
        spawn_sleepers(2);
        ck_assert_int_eq(abort_from(job_name, 7, text, NULL, 0),
                         PMIX_OPERATION_SUCCEEDED);
        await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1, 7,
                      expected);
    }
}

PX_TEST(abort_of_another_job_ends_that_one_and_its_caller_is_named)
{
    char first[sizeof(job_name)], expected[2 * sizeof(first)];
    pmix_proc_t procs[3];

    spawn_sleepers(2);
    memcpy(first, job_name, sizeof(first));
    spawn_sleepers(2);
    px_proc_set(&procs[0], job_name, 0); /* both ranks, so the whole job */
    px_proc_set(&procs[1], job_name, 1);
    for (uint32_t i = 0; i < 3; i++) { /* an unknown process prevents the whole abort */
        px_proc_set(&procs[2], i ? job_name : "unknown", i == 1 ? 2 : PMIX_RANK_UNDEF);
        ck_assert_int_eq(abort_from(first, 3, NULL, procs, 3), PMIX_ERR_NOT_FOUND);
    }
    ck_assert_int_eq(abort_from("unknown", 3, NULL, NULL, 0), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(seen.n_failures, 0);
    ck_assert_int_eq(abort_from(first, 3, NULL, procs, 2), PMIX_OPERATION_SUCCEEDED);
    snprintf(expected, sizeof(expected), "aborted job %s with status 3", job_name);
    await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1, 3, expected);
    ck_assert_str_eq(seen.culprit.nspace, first);
    ck_assert_int_eq(abort_from(first, 3, NULL, NULL, 0), PMIX_OPERATION_SUCCEEDED);
    await_end(PMIX_ERR_JOB_ABORTED);
}

/* Rank 1 aborts ranks 0 and 2 of four. The aborted ranks end even if they ignore TERM. A job that
 * goes on does so without these ranks. A second abort of the same ranks comes too late. */
PX_TEST(abort_of_some_ranks_ends_them_and_policy_decides_on_the_others)
{
    static const struct {
        const char *key, *expected;
        bool goes_on;
    } rows[] = {
        {PMIX_TAG_OUTPUT, "aborted ranks 0,2 with status 3; the job ends: why", false},
        {PMIX_JOB_RECOVERABLE, "aborted ranks 0,2 with status 3; the others go on: why",
         true},
        {PMIX_JOB_CONTINUOUS, "aborted ranks 0,2 with status 3; the others go on: why",
         true}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_proc_t procs[2];

        ok(spawn_asking(rows[i].key, NULL, PMIX_BOOL, 4,
                        "test $PMIX_RANK != 2 || trap '' TERM; touch up$PMIX_RANK; "
                        "while test ! -e go; do sleep 0.01; done; "
                        "touch on$PMIX_RANK"));
        for (int r = 0; r < 4; r++)
            await_file((const char *[]){"up0", "up1", "up2", "up3"}[r]);
        px_proc_set(&procs[0], job_name, 2);
        px_proc_set(&procs[1], job_name, 0);
        for (int again = 0; again < 2; again++)
            ck_assert_int_eq(abort_from(job_name, 3 + again, "why", procs, 2),
                             PMIX_OPERATION_SUCCEEDED);
        await_running(job_name, rows[i].goes_on ? 2 : 0);
        make_file("go");
        await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1, 3,
                      rows[i].expected);
        remove_file("go");
        ck_assert(!exists("on0") && !exists("on2"));
        ck_assert(exists("on1") == rows[i].goes_on && exists("on3") == rows[i].goes_on);
        for (int r = 1; rows[i].goes_on && r < 4; r += 2)
            remove_file(r == 1 ? "on1" : "on3");
    }
}

PX_TEST(a_job_that_goes_on_reports_each_failure_and_ends_with_the_first)
{
    ok(spawn_asking(PMIX_JOB_CONTINUOUS, NULL, PMIX_BOOL, 3,
                    "case $PMIX_RANK in 0) touch ran;; 1) exit 3;; "
                    "2) while test ! -e go; do sleep 0.01; done; kill -9 $$;; esac"));
    await_file("ran");
    for (int i = 0; i < 5000 && seen.n_failures == 0; i++)
        usleep(1000);
    ck_assert_int_eq(sem_trywait(&seen.ended), -1);
    make_file("go");
    await_end(PMIX_ERR_JOB_NON_ZERO_TERM);
    remove_file("go");
    ck_assert_int_eq(seen.n_failures, 2);
    ck_assert_int_eq(seen.exit_code, 3);
}

PX_TEST_MAIN("host/end", jobs_setup, jobs_teardown)
