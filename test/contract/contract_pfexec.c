/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: what a child gets from its parent and what it does not. How a
 * start fails is in contract_pfexec_fail.c, how children end in
 * contract_pfexec_life.c. */
#include "contract_pfexec.h"

#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

const struct px_pfexec_ops *pfexec_ops(void)
{
    return contract.component->ops;
}

static void on_exit_of_job(void *arg, pid_t pid, int wait_status)
{
    struct job *job = arg;

    ck_assert_int_eq(pid, job->pid);
    job->wait_status = wait_status;
    job->n_exits++;
}

struct job job_with(const char *program, char *const *argv)
{
    static char *const env[] = {(char *)"PATH=/usr/bin:/bin", NULL};

    return (struct job){
        .spec = {.program = program,
                 .argv = argv,
                 .env = env,
                 .fds = {-1, -1, -1},
                 .on_exit = on_exit_of_job},
        .wait_status = NOT_ENDED,
    };
}

struct job job_of_script(const char *script)
{
    static char *argv[4];

    argv[0] = (char *)"sh";
    argv[1] = (char *)"-c";
    argv[2] = (char *)script;
    return job_with("/bin/sh", argv);
}

struct job job_of(const char *program)
{
    static char *argv[2];

    argv[0] = (char *)program;
    return job_with(program, argv);
}

pmix_status_t job_try_spawn(struct job *job)
{
    job->pid = 0;
    job->spec.arg = job;
    return pfexec_ops()->spawn(contract.self, &job->spec, &job->pid, job->why,
                               sizeof(job->why));
}

void job_spawn(struct job *job)
{
    pmix_status_t rc = job_try_spawn(job);

    ck_assert_msg(rc == PMIX_SUCCESS, "%d: %s", rc, job->why);
    ck_assert_int_gt(job->pid, 0);
}

int job_pipe_stdout(struct job *job)
{
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    job->spec.fds[1] = ends[1];
    return ends[0];
}

void job_close_stdout(struct job *job)
{
    close(job->spec.fds[1]);
}

static bool has_ended(void *arg)
{
    return ((struct job *)arg)->n_exits > 0;
}

int job_wait(struct job *job)
{
    ck_assert_msg(fake_host_run(&contract.host, LATE_MS, has_ended, job),
                  "a child has not ended");
    ck_assert_int_eq(job->n_exits, 1);
    return job->wait_status;
}

char *job_output(struct job *job)
{
    PX_AUTOCLOSE int from = job_pipe_stdout(job);

    job_spawn(job);
    job_close_stdout(job);
    char *text = process_read_end(from, LATE_MS);
    ck_assert_int_eq(job_wait(job), 0);
    return text;
}

bool has_no_children(void)
{
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
}

static void expect_output(struct job *job, const char *text)
{
    PX_AUTOFREE char *got = job_output(job);

    ck_assert_str_eq(got, text);
}

/* ---- what a child gets ----------------------------------------------------------- */

START_TEST(arguments_arrive_as_they_are)
{
    static char *const argv[] = {(char *)"printf", (char *)"[%s]",      (char *)"a b",
                                 (char *)"",       (char *)"$HOME;'\"", NULL};
    struct job job = job_with("/usr/bin/printf", argv);

    expect_output(&job, "[a b][][$HOME;'\"]");
}
END_TEST

START_TEST(the_environment_is_just_the_one_given)
{
    static char *const env[] = {(char *)"A=1", (char *)"B=x y=z",
                                (char *)"EMPTY=", NULL};
    static char *const none[] = {NULL};
    struct job job = job_of("/usr/bin/env");
    struct job bare = job_of("/usr/bin/env");
    struct job null = job_of("/usr/bin/env");

    job.spec.env = env;
    expect_output(&job, "A=1\nB=x y=z\nEMPTY=\n");
    bare.spec.env = none;
    expect_output(&bare, "");
    null.spec.env = NULL;
    expect_output(&null, "");
}
END_TEST

START_TEST(runs_in_the_directory_given)
{
    struct job job = job_of("/bin/pwd");
    struct job same = job_of("/bin/pwd");
    PX_AUTOFREE char *here = getcwd(NULL, 0);
    PX_AUTOFREE char *real = realpath(contract.dir, NULL);
    PX_AUTOFREE char *there = px_strf("%s\n", real);
    PX_AUTOFREE char *here_line = px_strf("%s\n", here);

    job.spec.cwd = contract.dir;
    expect_output(&job, there);
    expect_output(&same, here_line);
    PX_AUTOFREE char *still_here = getcwd(NULL, 0);
    ck_assert_str_eq(still_here, here);
}
END_TEST

/* 3 is what ls reads the directory with. */
START_TEST(has_no_descriptor_above_2)
{
    static char *const argv[] = {(char *)"ls", (char *)"/proc/self/fd", NULL};
    struct job job = job_with("/bin/ls", argv);
    int low = dup(0);
    int high = fcntl(0, F_DUPFD, 900);

    ck_assert(low >= 3 && high >= 900);
    expect_output(&job, "0\n1\n2\n3\n");
    close(low);
    close(high);
}
END_TEST

START_TEST(streams_not_given_are_dev_null)
{
    struct job job = job_of_script("readlink /proc/$$/fd/0; readlink /proc/$$/fd/2; "
                                   "cat; echo to nobody >&2");

    expect_output(&job, "/dev/null\n/dev/null\n");
}
END_TEST

START_TEST(streams_stay_the_callers)
{
    int in[2];
    struct job job = job_of("/bin/cat");

    ck_assert_int_eq(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    ck_assert_int_eq(write(in[1], "said", 4), 4);
    close(in[1]);
    job.spec.fds[0] = in[0];
    expect_output(&job, "said");
    ck_assert(fcntl(in[0], F_GETFD) & FD_CLOEXEC);
    ck_assert(fcntl(in[0], F_GETFL) & O_NONBLOCK);
    close(in[0]);
}
END_TEST

/* In a process that has its pipes at 0, 1 and 2, and gives them to a child in the order
 * given. By its result only, as nobody would read a message. */
static int give_in_order(void *arg)
{
    const int *order = arg;
    int in[2];
    int out[2];
    int err[2];
    struct job job = job_of_script("read a; echo \"out $a\"; echo \"err $a\" >&2");

    if (pipe(in) < 0 || pipe(out) < 0 || pipe(err) < 0 || write(in[1], "x\n", 2) != 2)
        return 1;
    dup3(in[0], order[0], O_CLOEXEC);
    dup3(out[1], order[1], O_CLOEXEC);
    dup3(err[1], order[2], O_CLOEXEC);
    memcpy(job.spec.fds, order, sizeof(job.spec.fds));
    if (job_try_spawn(&job))
        return 2;
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    close(out[1]);
    close(err[1]);
    PX_AUTOFREE char *from_out = process_read_end(out[0], LATE_MS);
    PX_AUTOFREE char *from_err = process_read_end(err[0], LATE_MS);
    if (job_wait(&job) != 0)
        return 3;
    return strcmp(from_out, "out x\n") != 0 || strcmp(from_err, "err x\n") != 0;
}

START_TEST(streams_may_stand_where_others_have_to_go)
{
    static int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                              {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (size_t i = 0; i < PX_COUNT(orders); i++) {
        pid_t pid = process_fork(give_in_order, orders[i]);
        ck_assert_int_eq(process_wait(pid, LATE_MS), 0);
    }
}
END_TEST

static int start_with_nothing_open(void *arg PX_UNUSED)
{
    struct job job = job_of_script("test -e /proc/$$/fd/2 -a ! -e /proc/$$/fd/3");

    struct job missing = job_of("/no/such/program");

    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (job_try_spawn(&missing) != PMIX_ERR_NOT_FOUND) /* the report has a place, too */
        return 1;
    return job_try_spawn(&job) ? 2 : job_wait(&job) != 0;
}

START_TEST(starts_where_nothing_is_open)
{
    pid_t pid = process_fork(start_with_nothing_open, NULL);

    ck_assert_int_eq(process_wait(pid, LATE_MS), 0);
}
END_TEST

START_TEST(leads_a_process_group_of_its_own)
{
    struct job job = job_of_script(
        "read pid comm state ppid pgrp rest </proc/$$/stat; "
        "test $$ = $pgrp -a $pid = $pgrp -a $ppid = $PARENT");
    PX_AUTOFREE char *parent = px_strf("PARENT=%d", getpid());
    char *const env[] = {parent, NULL};

    job.spec.env = env;
    job_spawn(&job);
    ck_assert_int_eq(getpgid(job.pid), job.pid); /* from the start */
    ck_assert_int_eq(job_wait(&job), 0);
}
END_TEST

static void on_signal(int signum PX_UNUSED)
{
}

START_TEST(has_default_signals_and_an_empty_mask)
{
    static char *const argv[] = {(char *)"grep", (char *)"^Sig[BI]",
                                 (char *)"/proc/self/status", NULL};
    struct job job = job_with("/bin/grep", argv);
    sigset_t blocked;
    sigset_t was;
    sigset_t now;

    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGRTMAX, SIG_IGN);
    signal(SIGUSR1, on_signal);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &was);

    expect_output(&job, "SigBlk:\t0000000000000000\n"
                        "SigIgn:\t0000000000000000\n");
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int signum = 1; signum <= SIGRTMAX; signum++)
        ck_assert_int_eq(sigismember(&was, signum), sigismember(&now, signum));
}
END_TEST

size_t contract_pfexec(const TTest **tests)
{
    const TTest *const own[] = {
        arguments_arrive_as_they_are,
        the_environment_is_just_the_one_given,
        runs_in_the_directory_given,
        has_no_descriptor_above_2,
        streams_not_given_are_dev_null,
        streams_stay_the_callers,
        streams_may_stand_where_others_have_to_go,
        starts_where_nothing_is_open,
        leads_a_process_group_of_its_own,
        has_default_signals_and_an_empty_mask,
    };
    size_t n = PX_COUNT(own);

    memcpy(tests, own, sizeof(own));
    n += pfexec_fail_tests(tests + n);
    n += pfexec_life_tests(tests + n);
    return n;
}
