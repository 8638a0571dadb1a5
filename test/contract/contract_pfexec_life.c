/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: how children are signalled, how they end and who hears of
 * it. */
#include "contract_pfexec.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { N_AT_ONCE = 64, NO_SUCH_PID = 0x3fffffff };

static pmix_status_t send_signal(const struct job *job, int signum)
{
    return pfexec_ops()->signal(contract.self, job->pid, signum);
}

/* Waits until the job has written so much. */
static void expect_said(int fd, const char *text)
{
    char got[64] = "";

    ck_assert_int_eq(px_fd_read_all(fd, got, strlen(text), px_clock_ms() + LATE_MS),
                     PMIX_SUCCESS);
    ck_assert_str_eq(got, text);
}

/* ---- how they end ---------------------------------------------------------------- */

START_TEST(tells_the_exit_status)
{
    struct job job = job_of_script("exit 7");

    job_spawn(&job);
    int status = job_wait(&job);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
END_TEST

START_TEST(tells_the_signal_that_ended_it)
{
    struct job job = job_of_script("kill -KILL $$");

    job_spawn(&job);
    int status = job_wait(&job);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

START_TEST(tells_once_and_leaves_no_zombie)
{
    struct job job = job_of("/bin/true");

    job_spawn(&job);
    job_wait(&job);
    fake_host_run(&contract.host, 50, NULL, NULL);
    ck_assert_int_eq(job.n_exits, 1);
    ck_assert(has_no_children());
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}
END_TEST

static bool have_all_ended(void *arg)
{
    const struct job *jobs = arg;
    int n = 0;

    for (int i = 0; i < N_AT_ONCE; i++)
        n += jobs[i].n_exits;
    return n == N_AT_ONCE;
}

START_TEST(runs_64_at_once)
{
    static struct job jobs[N_AT_ONCE];
    char script[N_AT_ONCE][32];
    size_t n_fds = process_count_fds();

    for (int i = 0; i < N_AT_ONCE; i++) {
        snprintf(script[i], sizeof(script[i]), "sleep 0.2; exit %d", i);
        jobs[i] = job_of_script(script[i]);
        job_spawn(&jobs[i]);
    }
    ck_assert_uint_eq(process_count_fds(), n_fds);
    ck_assert(fake_host_run(&contract.host, LATE_MS, have_all_ended, jobs));
    for (int i = 0; i < N_AT_ONCE; i++) {
        ck_assert_int_eq(jobs[i].n_exits, 1);
        ck_assert_int_eq(WEXITSTATUS(jobs[i].wait_status), i);
    }
    ck_assert(has_no_children());
}
END_TEST

static void start_next(void *arg, pid_t pid PX_UNUSED, int wait_status)
{
    struct job *next = arg;

    ck_assert_int_eq(wait_status, 0);
    job_spawn(next);
}

START_TEST(a_child_can_be_started_when_one_ends)
{
    struct job first = job_of("/bin/true");
    struct job second = job_of("/bin/true");

    first.spec.on_exit = start_next;
    first.spec.arg = &second;
    ck_assert_int_eq(pfexec_ops()->spawn(contract.self, &first.spec, &first.pid,
                                         first.why, sizeof(first.why)),
                     PMIX_SUCCESS);
    ck_assert_int_eq(job_wait(&second), 0);
}
END_TEST

START_TEST(who_forgets_hears_nothing_and_leaves_no_zombie)
{
    struct job job = job_of_script("sleep 0.1");

    job_spawn(&job);
    pfexec_ops()->forget(contract.self, job.pid);
    pfexec_ops()->forget(contract.self, NO_SUCH_PID);
    ck_assert_int_eq(send_signal(&job, 0), PMIX_SUCCESS); /* it is still there */

    uint64_t deadline_ms = px_clock_ms() + LATE_MS;
    while (fake_host_held(&contract.host) && px_clock_ms() < deadline_ms)
        fake_host_run(&contract.host, 10, NULL, NULL);
    ck_assert_int_eq(job.n_exits, 0);
    ck_assert(has_no_children());
    ck_assert_int_eq(send_signal(&job, 0), PMIX_ERR_NOT_FOUND);
}
END_TEST

/* ---- signals --------------------------------------------------------------------- */

/* The pipe ends when both are gone. */
START_TEST(a_signal_reaches_the_grandchild_too)
{
    struct job job = job_of_script("sleep 60 & echo ready; wait");
    PX_AUTOCLOSE int from = job_pipe_stdout(&job);

    job_spawn(&job);
    job_close_stdout(&job);
    expect_said(from, "ready\n");
    ck_assert_int_eq(send_signal(&job, SIGTERM), PMIX_SUCCESS);

    int status = job_wait(&job);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    PX_AUTOFREE char *rest = process_read_end(from, LATE_MS);
    ck_assert_str_eq(rest, "");
}
END_TEST

START_TEST(a_signal_can_be_handled)
{
    struct job job = job_of_script("trap 'n=x$n' USR1; trap 'echo $n; exit' TERM; "
                                   "echo ready; while :; do sleep 0.01; done");
    PX_AUTOCLOSE int from = job_pipe_stdout(&job);

    job_spawn(&job);
    job_close_stdout(&job);
    expect_said(from, "ready\n");
    ck_assert_int_eq(send_signal(&job, SIGUSR1), PMIX_SUCCESS);
    process_pause(100);
    ck_assert_int_eq(send_signal(&job, SIGTERM), PMIX_SUCCESS);

    PX_AUTOFREE char *rest = process_read_end(from, LATE_MS);
    ck_assert_str_eq(rest, "x\n");
    job_wait(&job);
}
END_TEST

/* Into the group of this process. perl, because the shell cannot. */
START_TEST(a_signal_reaches_who_has_left_the_group)
{
    static char *argv[] = {(char *)"perl", (char *)"-e", NULL, NULL};
    PX_AUTOFREE char *code = px_strf(
        "setpgrp(0, %d) or die; $| = 1; print qq(ready\n); "
        "sleep 60",
        getpgrp());
    struct job job = job_of("/usr/bin/perl");
    PX_AUTOCLOSE int from = job_pipe_stdout(&job);

    PX_TEST_NEEDS(access("/usr/bin/perl", X_OK) == 0, "perl");
    argv[2] = code;
    job.spec.argv = argv;
    job_spawn(&job);
    job_close_stdout(&job);
    expect_said(from, "ready\n");
    ck_assert_int_eq(getpgid(job.pid), getpgrp());
    ck_assert_int_eq(send_signal(&job, SIGTERM), PMIX_SUCCESS);
    int status = job_wait(&job);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
END_TEST

START_TEST(only_own_children_are_signalled)
{
    struct job job = job_of("/bin/true");
    struct job unknown = {.pid = NO_SUCH_PID};
    struct job parent = {.pid = getppid()};
    struct job everybody = {.pid = -1};
    struct job this_group = {.pid = 0};

    job_spawn(&job);
    job_wait(&job);
    ck_assert_int_eq(send_signal(&job, SIGKILL), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(send_signal(&unknown, SIGKILL), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(send_signal(&parent, 0), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(send_signal(&everybody, 0), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(send_signal(&this_group, 0), PMIX_ERR_NOT_FOUND);
}
END_TEST

START_TEST(a_signal_that_is_none_is_refused)
{
    struct job job = job_of_script("sleep 60");

    job_spawn(&job);
    ck_assert_int_eq(send_signal(&job, 9999), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(send_signal(&job, -1), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(send_signal(&job, SIGKILL), PMIX_SUCCESS);
    job_wait(&job);
}
END_TEST

/* It has ended and nobody has looked yet: its pid is still its own. */
START_TEST(who_ends_unseen_can_be_signalled)
{
    struct job job = job_of("/bin/true");
    siginfo_t info;

    job_spawn(&job);
    ck_assert_int_eq(waitid(P_PID, (id_t)job.pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(send_signal(&job, SIGTERM), PMIX_SUCCESS);
    ck_assert_int_eq(job_wait(&job), 0);
}
END_TEST

/* ---- no longer than the parent --------------------------------------------------- */

/* Starts a sleeper, says its pid and waits to be killed. */
static int start_and_wait(void *arg)
{
    struct job job = job_of_script("exec sleep 60");

    if (job_try_spawn(&job) ||
        write(*(int *)arg, &job.pid, sizeof(job.pid)) != sizeof(job.pid))
        return 1;
    process_pause(LATE_MS);
    return 2;
}

/* This process inherits the orphan, and so can tell how it ended. */
START_TEST(dies_with_its_parent)
{
    int ends[2];
    pid_t orphan = 0;

    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = process_fork(start_and_wait, &ends[1]);
    ck_assert_int_eq(
        px_fd_read_all(ends[0], &orphan, sizeof(orphan), px_clock_ms() + LATE_MS),
        PMIX_SUCCESS);

    ck_assert_int_eq(kill(parent, SIGKILL), 0);

    ck_assert_int_eq(process_wait(parent, SOON_MS), 128 + SIGKILL);
    ck_assert_int_eq(process_wait(orphan, SOON_MS), 128 + SIGKILL);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

struct gate {
    struct job job;
    const char *file; /* that the program makes */
    pid_t pid;
    int n_calls;
    bool ran;
};

/* Gives the program time to run, if nothing holds it. */
static void on_forked(void *arg, pid_t pid)
{
    struct gate *g = PX_CONTAINER_OF(arg, struct gate, job);

    g->n_calls++;
    g->pid = pid;
    fake_host_run(&contract.host, 100, NULL, NULL);
    g->ran = access(g->file, F_OK) == 0;
}

START_TEST(the_program_waits_for_what_is_done_about_its_process)
{
    char file[] = "/tmp/pfexec.XXXXXX", script[64];

    close(mkstemp(file));
    ck_assert_int_eq(unlink(file), 0);
    snprintf(script, sizeof(script), "echo >%s", file);
    struct gate g = {.job = job_of_script(script), .file = file};
    g.job.spec.forked = on_forked;

    job_spawn(&g.job);

    ck_assert_int_eq(job_wait(&g.job), 0);
    ck_assert_int_eq(g.n_calls, 1);
    ck_assert_int_eq(g.pid, g.job.pid);
    ck_assert(!g.ran);
    ck_assert_int_eq(unlink(file), 0); /* it has run since */
}
END_TEST

START_TEST(closing_ends_what_runs)
{
    struct job job = job_of_script("sleep 60 & echo ready; wait");
    PX_AUTOCLOSE int from = job_pipe_stdout(&job);

    job_spawn(&job);
    job_close_stdout(&job);
    expect_said(from, "ready\n");

    contract_close();

    PX_AUTOFREE char *rest = process_read_end(from, SOON_MS);
    ck_assert_str_eq(rest, "");
    fake_host_run(&contract.host, 50, NULL, NULL);
    ck_assert_int_eq(job.n_exits, 0);
}
END_TEST

size_t pfexec_life_tests(const TTest **tests)
{
    const TTest *const own[] = {
        tells_the_exit_status,
        tells_the_signal_that_ended_it,
        tells_once_and_leaves_no_zombie,
        runs_64_at_once,
        a_child_can_be_started_when_one_ends,
        who_forgets_hears_nothing_and_leaves_no_zombie,
        a_signal_reaches_the_grandchild_too,
        a_signal_can_be_handled,
        a_signal_reaches_who_has_left_the_group,
        only_own_children_are_signalled,
        a_signal_that_is_none_is_refused,
        who_ends_unseen_can_be_signalled,
        dies_with_its_parent,
        the_program_waits_for_what_is_done_about_its_process,
        closing_ends_what_runs,
    };

    memcpy(tests, own, sizeof(own));
    return PX_COUNT(own);
}
