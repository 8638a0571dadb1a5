/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: signals to children, and their end. */
#include "contract_pfexec.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "times.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_AT_ONCE = 64, NO_SUCH_PID = 0x3fffffff };

static pmix_status_t send_signal(const struct job *job, int signum)
{
    return pfexec_ops()->signal(contract.self, job->pid, signum);
}

/* Waits until the job has written "ready"; returns the read end. */
static int spawn_until_ready(struct job *job)
{
    char got[7] = "";
    int from = job_pipe_stdout(job);

    job_spawn(job);
    close(job->spec.fds[1]);
    ok(px_fd_read_all(from, got, 6, px_clock_ms() + LATE_MS));
    ck_assert_str_eq(got, "ready\n");
    return from;
}

/* ---- the end --------------------------------------------------------------------- */

PX_TEST(reports_once_the_exit_status_or_the_signal_and_leaves_no_zombie)
{
    static const char *const scripts[] = {"exit 7", "kill -KILL $$"};

    for (int killed = 0; killed < 2; killed++) {
        struct job job = job_of_script(scripts[killed]);

        job_spawn(&job);
        int status = job_wait(&job);
        ck_assert(killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                         : WIFEXITED(status) && WEXITSTATUS(status) == 7);
        fake_host_run(&contract.host, 50, NULL, NULL);
        ck_assert_int_eq(job.n_exits, 1);
        ck_assert_int_gt(job.usage.ru_maxrss, 0);
        ck_assert(has_no_children());
        ck_assert_uint_eq(fake_host_held(&contract.host), 0);
    }
}

static void start_next(void *arg, pid_t pid PX_UNUSED, int wait_status,
                       const struct rusage *usage PX_UNUSED)
{
    struct job *next = arg;

    ck_assert_int_eq(wait_status, 0);
    ok(job_begin(next));
}

PX_TEST(a_child_can_be_started_when_one_ends)
{
    struct job first = job_of("/bin/true");
    struct job second = job_of("/bin/true");

    first.spec.on_start = NULL;
    first.spec.on_exit = start_next;
    first.spec.arg = &second;
    ok(pfexec_ops()->spawn(contract.self, &first.spec, &first.pid, first.why,
                           sizeof(first.why)));
    ok(job_wait(&second));
}

struct stress {
    struct job jobs[N_AT_ONCE];
    long left, ended;
};

static bool go_on(void *arg)
{
    struct stress *s = arg;

    for (int i = 0; i < N_AT_ONCE; i++) {
        struct job *job = &s->jobs[i];

        if (job->n_exits) {
            ck_assert_int_eq(job->wait_status, 0);
            s->ended++;
            job->n_exits = 0;
            job->pid = 0;
        }
        if (job->pid == 0 && s->left > 0) {
            s->left--;
            ok(job_begin(job));
        }
    }
    return s->left == 0 && s->ended == (long)px_test_times(300, 10000);
}

/* The host has its own children, too; one of them has ended. */
PX_TEST(of_many_none_is_lost_and_none_is_left)
{
    static struct stress s;
    pid_t own = fork(), ended = own ? fork() : 0;
    int status;

    if (ended == 0) {
        if (own == 0)
            pause();
        _exit(9);
    }
    size_t n_fds = px_test_count_fds();
    s.left = px_test_times(300, 10000);
    for (int i = 0; i < N_AT_ONCE; i++)
        s.jobs[i] = job_of("/bin/true");

    ck_assert(fake_host_run(&contract.host, 60000 + s.left * 5, go_on, &s));

    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_int_eq(waitpid(ended, &status, WNOHANG), ended);
    ck_assert_int_eq(WEXITSTATUS(status), 9);
    ck_assert_int_eq(waitpid(-1, &status, WNOHANG | __WALL), 0);
    ok(kill(own, SIGKILL));
    ck_assert_int_eq(waitpid(own, &status, 0), own);
    ck_assert(has_no_children());
}

PX_TEST(a_forgotten_child_is_not_reported_and_leaves_no_zombie)
{
    struct job job = job_of_script("sleep 60");

    job_spawn(&job);
    pfexec_ops()->forget(contract.self, job.pid);
    pfexec_ops()->forget(contract.self, NO_SUCH_PID);
    ok(send_signal(&job, SIGKILL)); /* still running */

    uint64_t deadline_ms = px_clock_ms() + LATE_MS;
    while (fake_host_held(&contract.host) && px_clock_ms() < deadline_ms)
        fake_host_run(&contract.host, 10, NULL, NULL);
    ck_assert_int_eq(job.n_exits, 0);
    ck_assert(has_no_children());
    ck_assert_int_eq(send_signal(&job, 0), PMIX_ERR_NOT_FOUND);
}

/* Makes the kernel give this pid to the next process; false if that is not
 * permitted. */
static bool choose_next_pid(pid_t pid)
{
    PX_AUTOFREE char *text = px_strf("%d", pid - 1);
    PX_AUTOCLOSE int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) > 0;
}

/* The host has already reaped the first child; its end is not reported yet. */
PX_TEST(the_last_child_of_a_pid_is_the_one_to_be_forgotten)
{
    struct job first = job_of_script("exit 3"), last = job_of_script("sleep 60");

    contract.host.child_fails = PMIX_ERR_NOT_FOUND;
    ok(job_begin(&first));
    contract.host.child_fails = 0;
    ok(kill(first.pid, SIGKILL));
    ck_assert_int_eq(waitpid(first.pid, NULL, __WALL), first.pid);
    PX_TEST_NEEDS(choose_next_pid(first.pid), "a right to choose pids");
    ok(job_begin(&last));
    PX_TEST_NEEDS(last.pid == first.pid, "a pid that no other process takes");

    pfexec_ops()->forget(contract.self, last.pid);

    ck_assert_int_eq(job_wait(&first), 255 << 8);
    ok(send_signal(&last, SIGKILL));
    while (fake_host_held(&contract.host))
        fake_host_run(&contract.host, 10, NULL, NULL);
    ck_assert_int_eq(last.n_starts + last.n_exits, 0);
}

/* ---- signals --------------------------------------------------------------------- */

/* The pipe ends when both processes have ended. */
PX_TEST(a_signal_reaches_the_grandchild_too)
{
    struct job job = job_of_script("sleep 60 & echo ready; wait");
    PX_AUTOCLOSE int from = spawn_until_ready(&job);

    ok(send_signal(&job, SIGTERM));

    ck_assert_int_eq(job_wait(&job), SIGTERM); /* wait status of a kill by SIGTERM */
    PX_AUTOFREE char *rest = process_read_end(from, LATE_MS);
    ck_assert_str_eq(rest, "");
}

PX_TEST(a_signal_can_be_handled)
{
    struct job job = job_of_script("trap 'n=x$n' USR1; trap 'echo $n; exit' TERM; "
                                   "echo ready; while :; do sleep 0.01; done");
    PX_AUTOCLOSE int from = spawn_until_ready(&job);

    ok(send_signal(&job, SIGUSR1));
    process_pause(100);
    ok(send_signal(&job, SIGTERM));

    PX_AUTOFREE char *rest = process_read_end(from, LATE_MS);
    ck_assert_str_eq(rest, "x\n");
    job_wait(&job);
}

/* Moves the child into the group of this process, with perl because a shell cannot. */
PX_TEST(a_signal_reaches_a_child_that_has_left_the_group)
{
    static char *argv[] = {(char *)"perl", (char *)"-e", NULL, NULL};
    PX_AUTOFREE char *code = px_strf(
        "setpgrp(0, %d) or die; $| = 1; print qq(ready\n); "
        "sleep 60",
        getpgrp());
    struct job job = job_of("/usr/bin/perl");

    PX_TEST_NEEDS(access("/usr/bin/perl", X_OK) == 0, "perl");
    argv[2] = code;
    job.spec.argv = argv;
    int from = spawn_until_ready(&job);
    ck_assert_int_eq(getpgid(job.pid), getpgrp());
    ok(send_signal(&job, SIGTERM));
    ck_assert_int_eq(job_wait(&job), SIGTERM); /* wait status of a kill by SIGTERM */
    close(from);
}

PX_TEST(only_own_children_are_signalled_and_only_by_signals)
{
    const pid_t pids[] = {NO_SUCH_PID, getppid(), -1, 0};
    struct job job = job_of("/bin/true"), running = job_of_script("sleep 60");
    siginfo_t info;

    ok(job_begin(&job));
    /* The child has ended but is not reaped, so its pid is not reused. */
    ok(waitid(P_PID, (id_t)job.pid, &info, WEXITED | WNOWAIT | __WALL));
    ok(send_signal(&job, SIGTERM));
    ok(job_wait(&job));
    ck_assert_int_eq(send_signal(&job, SIGKILL), PMIX_ERR_NOT_FOUND);
    for (size_t i = 0; i < PX_COUNT(pids); i++)
        ck_assert_int_eq(send_signal(&(struct job){.pid = pids[i]}, 0),
                         PMIX_ERR_NOT_FOUND);
    job_spawn(&running);
    ck_assert_int_eq(send_signal(&running, 9999), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(send_signal(&running, -1), PMIX_ERR_BAD_PARAM);
    ok(send_signal(&running, SIGKILL));
    job_wait(&running);
}

PX_TEST(closing_ends_what_runs)
{
    struct job job = job_of_script("sleep 60 & echo ready; wait");
    PX_AUTOCLOSE int from = spawn_until_ready(&job);

    contract_close();

    PX_AUTOFREE char *rest = process_read_end(from, SOON_MS);
    ck_assert_str_eq(rest, "");
    fake_host_run(&contract.host, 50, NULL, NULL);
    ck_assert_int_eq(job.n_exits, 0);
}
