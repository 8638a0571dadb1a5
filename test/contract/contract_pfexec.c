/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: what a child gets from its parent and what it does not,
 * how a start fails and that nothing is left then, how children are signalled and
 * how they end. */
#include "contract.h"

#include "alloc_fail.h"
#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "process.h"
#include "seccomp.h"
#include "tenon/pfexec.h"
#include "times.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    SOON_MS = 5000, /* for what takes a millisecond on a machine that is not busy */
    LATE_MS = 20000,
    NOT_ENDED = -1,
};

struct job {
    struct px_pfexec_spec spec; /* the streams are /dev/null unless set */
    pid_t pid;
    int n_starts;
    pmix_status_t started; /* what on_start said */
    int wait_status;       /* NOT_ENDED until on_exit */
    int n_exits;
    struct rusage usage;
    char why[512];
};

static const struct px_pfexec_ops *pfexec_ops(void)
{
    return contract.component->ops;
}

static void on_start_of_job(void *arg, pid_t pid, pmix_status_t status, const char *why)
{
    struct job *job = arg;

    ck_assert_int_eq(pid, job->pid);
    ck_assert_int_eq(job->n_exits, 0);
    job->n_starts++;
    job->started = status;
    px_str_copy(job->why, sizeof(job->why), why);
}

static void on_exit_of_job(void *arg, pid_t pid, int wait_status,
                           const struct rusage *usage)
{
    struct job *job = arg;

    ck_assert_int_eq(pid, job->pid);
    ck_assert_int_eq(job->n_starts, 1);
    ck_assert_int_eq(job->started, PMIX_SUCCESS);
    job->wait_status = wait_status;
    job->usage = usage ? *usage : (struct rusage){0};
    job->n_exits++;
}

static struct job job_with(const char *program, char *const *argv)
{
    static char *const env[] = {(char *)"PATH=/usr/bin:/bin", NULL};

    return (struct job){
        .spec = {.program = program,
                 .argv = argv,
                 .env = env,
                 .fds = {-1, -1, -1},
                 .on_start = on_start_of_job,
                 .on_exit = on_exit_of_job,
                 .size = sizeof(struct px_pfexec_spec)},
        .wait_status = NOT_ENDED,
    };
}

static struct job job_of_script(const char *script)
{
    static char *argv[4] = {(char *)"sh", (char *)"-c"};

    argv[2] = (char *)script;
    return job_with("/bin/sh", argv);
}

static struct job job_of(const char *program)
{
    static char *argv[2];

    argv[0] = (char *)program;
    return job_with(program, argv);
}

/* Nothing is called back before this has returned. */
static pmix_status_t job_begin(struct job *job)
{
    job->pid = 0;
    job->n_starts = job->n_exits = 0;
    job->spec.arg = job;
    pmix_status_t rc = pfexec_ops()->spawn(contract.self, &job->spec, &job->pid,
                                           job->why, sizeof(job->why));
    ck_assert_int_eq(job->n_starts + job->n_exits, 0);
    ck_assert_int_eq(rc == PMIX_SUCCESS, job->pid > 0);
    return rc;
}

static bool has_started(void *arg)
{
    return ((struct job *)arg)->n_starts > 0;
}

static pmix_status_t job_try_spawn(struct job *job)
{
    pmix_status_t rc = job_begin(job);

    if (rc)
        return rc;
    ck_assert_msg(fake_host_run(&contract.host, LATE_MS, has_started, job),
                  "nothing is told of a start");
    ck_assert_int_eq(job->n_starts, 1);
    if (job->started)
        job->pid = 0;
    return job->started;
}

static void job_spawn(struct job *job)
{
    pmix_status_t rc = job_try_spawn(job);

    ck_assert_msg(rc == PMIX_SUCCESS, "%d: %s", rc, job->why);
    ck_assert_int_gt(job->pid, 0);
}

static int job_pipe_stdout(struct job *job)
{
    int ends[2];

    ok(pipe2(ends, O_CLOEXEC));
    job->spec.fds[1] = ends[1];
    return ends[0];
}

static bool has_ended(void *arg)
{
    return ((struct job *)arg)->n_exits > 0;
}

static int job_wait(struct job *job)
{
    ck_assert_msg(fake_host_run(&contract.host, LATE_MS, has_ended, job),
                  "a child has not ended");
    ck_assert_int_eq(job->n_exits, 1);
    return job->wait_status;
}

static bool has_no_children(void)
{
    return waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD;
}

static void expect_output(struct job *job, const char *text)
{
    PX_AUTOCLOSE int from = job_pipe_stdout(job);

    job_spawn(job);
    close(job->spec.fds[1]);
    PX_AUTOFREE char *got = process_read_end(from, LATE_MS);
    ok(job_wait(job));
    ck_assert_str_eq(got, text);
}

/* ---- what a child gets ----------------------------------------------------------- */

PX_TEST(arguments_arrive_as_they_are)
{
    static char *const argv[] = {(char *)"printf", (char *)"[%s]",      (char *)"a b",
                                 (char *)"",       (char *)"$HOME;'\"", NULL};
    struct job job = job_with("/usr/bin/printf", argv);

    expect_output(&job, "[a b][][$HOME;'\"]");
}

PX_TEST(the_environment_is_just_the_one_given)
{
    static char *const some[] = {(char *)"A=1", (char *)"B=x y=z",
                                 (char *)"EMPTY=", NULL};
    static char *const none[] = {NULL};
    static char *const *const envs[] = {some, none, NULL};

    for (size_t i = 0; i < PX_COUNT(envs); i++) {
        struct job job = job_of("/usr/bin/env");

        job.spec.env = envs[i];
        expect_output(&job, i == 0 ? "A=1\nB=x y=z\nEMPTY=\n" : "");
    }
}

PX_TEST(runs_in_the_directory_given)
{
    struct job there = job_of("/bin/pwd"), same = there;
    PX_AUTOFREE char *here = getcwd(NULL, 0);
    PX_AUTOFREE char *line = px_strf("%s\n", px_test_dir());
    PX_AUTOFREE char *here_line = px_strf("%s\n", here);

    there.spec.cwd = contract.dir;
    expect_output(&there, line);
    expect_output(&same, here_line);
}

/* 3 is what ls reads the directory with. */
PX_TEST(has_no_descriptor_above_2)
{
    PX_TEST_NEEDS_PROC;
    static char *const argv[] = {(char *)"ls", (char *)"/proc/self/fd", NULL};
    struct job job = job_with("/bin/ls", argv);
    int low = dup(0);
    int high = fcntl(0, F_DUPFD, 900);

    ck_assert(low >= 3 && high >= 900);
    expect_output(&job, "0\n1\n2\n3\n");
    close(low);
    close(high);
}

PX_TEST(streams_not_given_are_dev_null)
{
    PX_TEST_NEEDS_PROC;
    struct job job = job_of_script("readlink /proc/$$/fd/0; readlink /proc/$$/fd/2; "
                                   "cat; echo to nobody >&2");

    expect_output(&job, "/dev/null\n/dev/null\n");
}

PX_TEST(streams_stay_the_callers)
{
    int in[2];
    struct job job = job_of("/bin/cat");

    ok(pipe2(in, O_CLOEXEC | O_NONBLOCK));
    ck_assert_int_eq(write(in[1], "said", 4), 4);
    close(in[1]);
    job.spec.fds[0] = in[0];
    expect_output(&job, "said");
    ck_assert(fcntl(in[0], F_GETFD) & FD_CLOEXEC);
    ck_assert(fcntl(in[0], F_GETFL) & O_NONBLOCK);
    close(in[0]);
}

/* In a process that has its pipes at 0, 1 and 2, and gives them to a child in the order
 * given. By its result only, as nobody would read a message. */
static int give_in_order(void *arg)
{
    const int *order = arg;
    int in[2], out[2], err[2];
    struct job job = job_of_script("read a; echo \"out $a\"; echo \"err $a\" >&2");

    if (pipe(in) < 0 || pipe(out) < 0 || pipe(err) < 0 || write(in[1], "x\n", 2) != 2)
        return 1;
    dup3(in[0], order[0], O_CLOEXEC);
    dup3(out[1], order[1], O_CLOEXEC);
    dup3(err[1], order[2], O_CLOEXEC);
    memcpy(job.spec.fds, order, sizeof(job.spec.fds));
    if (job_try_spawn(&job))
        return 2;
    px_fd_close_range(0, 2);
    close(out[1]);
    close(err[1]);
    PX_AUTOFREE char *from_out = process_read_end(out[0], LATE_MS);
    PX_AUTOFREE char *from_err = process_read_end(err[0], LATE_MS);
    return job_wait(&job) != 0 || strcmp(from_out, "out x\n") != 0 ||
           strcmp(from_err, "err x\n") != 0;
}

static void run_in_process(int (*run)(void *arg), void *arg)
{
    ok(process_wait(process_fork(run, arg), LATE_MS));
}

PX_TEST(streams_may_stand_where_others_have_to_go)
{
    static int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                              {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (size_t i = 0; i < PX_COUNT(orders); i++)
        run_in_process(give_in_order, orders[i]);
}

static int start_with_nothing_open(void *arg PX_UNUSED)
{
    struct job job = job_of_script("test -e /proc/$$/fd/2 -a ! -e /proc/$$/fd/3");
    struct job missing = job_of("/no/such/program");

    px_fd_close_range(0, 2);
    if (job_try_spawn(&missing) != PMIX_ERR_NOT_FOUND) /* the report has a place, too */
        return 1;
    return job_try_spawn(&job) ? 2 : job_wait(&job) != 0;
}

PX_TEST(starts_where_nothing_is_open)
{
    PX_TEST_NEEDS_PROC;
    run_in_process(start_with_nothing_open, NULL);
}

PX_TEST(leads_a_process_group_of_its_own)
{
    PX_TEST_NEEDS_PROC;
    struct job job = job_of_script(
        "read pid comm state ppid pgrp rest </proc/$$/stat; "
        "test $$ = $pgrp -a $pid = $pgrp -a $ppid = $PARENT");
    PX_AUTOFREE char *parent = px_strf("PARENT=%d", getpid());
    char *const env[] = {parent, NULL};

    job.spec.env = env;
    ok(job_begin(&job));
    ck_assert_int_eq(getpgid(job.pid), job.pid); /* from the start */
    ok(job_wait(&job));
}

static void on_signal(int signum PX_UNUSED)
{
}

PX_TEST(has_default_signals_and_an_empty_mask)
{
    PX_TEST_NEEDS_PROC;
    static char *const argv[] = {(char *)"grep", (char *)"^Sig[BI]",
                                 (char *)"/proc/self/status", NULL};
    struct job job = job_with("/bin/grep", argv);
    sigset_t blocked, was, now;

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

/* ---- how a start fails --- */

/* Nothing of it is left, and nobody hears of it again. */
static void expect_failure(struct job *job, pmix_status_t status, const char *why)
{
    size_t n_fds = px_test_count_fds();

    ck_assert_int_eq(job_try_spawn(job), status);
    ck_assert_str_eq(job->why, why);
    ck_assert_int_eq(job->pid, 0);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
    ck_assert(has_no_children());
    ck_assert_int_eq(job->n_exits, 0);
}

PX_TEST(a_failure_names_the_program_and_the_reason)
{
    static const struct {
        const char *name, *text; /* of a file, "": the folder; NULL: not there */
        mode_t mode;
        pmix_status_t status;
        const char *reason;
    } rows[] = {
        {"missing", NULL, 0, PMIX_ERR_NOT_FOUND, "No such file or directory"},
        {"script", "#!/no/such/interpreter\n", 0755, PMIX_ERR_NOT_FOUND,
         "its interpreter does not exist"},
        {"plain", "#!/bin/sh\n", 0644, PMIX_ERR_NO_PERMISSIONS, "Permission denied"},
        {"", NULL, 0, PMIX_ERR_NO_PERMISSIONS, "Permission denied"},
        {"noise", "\001\002 no program\n", 0755, PMIX_ERROR, "Exec format error"},
    };
    PX_AUTO(px_strv) argv = NULL;
    PX_AUTOFREE char *big = px_strf("%0200000d", 0);
    struct job job = job_of("/bin/true");

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const char *program = px_test_path(rows[i].name);
        struct job bad = job_of(program);
        PX_AUTOFREE char *why = px_strf("cannot run %s: %s", program, rows[i].reason);

        if (rows[i].text)
            process_write_file(program, rows[i].text, rows[i].mode);
        expect_failure(&bad, rows[i].status, why);
    }
    PX_AUTOFREE char *why = px_strf(
        "cannot enter directory %s: No such file or directory",
        px_test_path("missing"));
    job.spec.cwd = px_test_path("missing");
    expect_failure(&job, PMIX_ERR_JOB_WDIR_NOT_FOUND, why);
    job = job_of("/bin/true");
    job.spec.fds[1] = 12345;
    expect_failure(&job, PMIX_ERR_BAD_PARAM,
                   "cannot give /bin/true its standard streams: Bad file descriptor");
    ok(px_strv_append(&argv, big));
    job = job_with("/bin/true", argv);
    expect_failure(&job, PMIX_ERR_BAD_PARAM,
                   "cannot run /bin/true: Argument list too long");
}

PX_TEST(a_name_of_any_length_leaves_room_for_the_reason)
{
    PX_AUTOFREE char *longer = px_strf("/%03000d", 0);
    struct job job = job_of(longer);

    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(job.why, ": File name too long"));
    job.spec.program = NULL;
    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_BAD_PARAM);
    job = job_of("/bin/true");
    job.spec.argv = NULL;
    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_BAD_PARAM);
}

PX_TEST(running_out_of_descriptors_is_an_error)
{
    struct job job = job_of("/bin/true");

    for (size_t n = 0; n < 3; n++) {
        process_limit_fds(n);
        pmix_status_t rc = job_try_spawn(&job);
        process_limit_fds(SIZE_MAX);
        ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
        ck_assert_ptr_nonnull(strstr(job.why, ": Too many open files"));
        ck_assert(has_no_children());
    }
    job_spawn(&job);
    ok(job_wait(&job));
}

static int start_without_processes(void *arg PX_UNUSED)
{
    const struct rlimit none = {0, 0};
    struct job job = job_of("/bin/true");

    if (geteuid() == 0) /* root is not bound by the limit */
        process_become_other();
    if (setrlimit(RLIMIT_NPROC, &none) < 0)
        return 1;
    if (job_try_spawn(&job) != PMIX_ERR_OUT_OF_RESOURCE)
        return 2;
    if (strcmp(job.why, "cannot run /bin/true: cannot fork: "
                        "Resource temporarily unavailable") != 0)
        return 3;
    return !has_no_children();
}

PX_TEST(running_out_of_processes_is_an_error)
{
    run_in_process(start_without_processes, NULL);
}

PX_TEST(starting_without_memory_fails)
{
    PX_TEST_NEEDS_ALLOC;
    struct job job = job_of("/bin/true");

    job.spec.arg = &job;
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_status_t rc = pfexec_ops()->spawn(contract.self, &job.spec, &job.pid,
                                               job.why, sizeof(job.why));

        if (!px_alloc_check(rc))
            break;
        ck_assert_ptr_nonnull(strstr(job.why, "out of memory"));
        ck_assert(has_no_children());
    }
    ok(job_wait(&job));
}

PX_TEST(a_child_that_cannot_be_watched_is_ended)
{
    static char *const argv[] = {(char *)"sleep", (char *)"60", NULL};
    struct job job = job_with("/bin/sleep", argv);

    contract.host.child_fails = PMIX_ERR_NOMEM;
    expect_failure(&job, PMIX_ERR_NOMEM,
                   "cannot run /bin/sleep: cannot watch it: out of memory");
    contract.host.child_fails = 0;
}

/* As when the host program reaps whatever it finds, and the child is killed at once. */
PX_TEST(a_child_that_is_gone_already_has_ended)
{
    struct job job = job_of_script("exit 3");

    contract.host.child_fails = PMIX_ERR_NOT_FOUND;
    job_spawn(&job);
    contract.host.child_fails = 0;

    ck_assert_int_eq(job_wait(&job), 255 << 8);
    ck_assert_int_eq(job.usage.ru_maxrss, 0);
    ck_assert_int_eq(waitpid(-1, NULL, __WALL),
                     job.pid); /* of which it knows nothing */
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

static void *close_later(void *fd)
{
    process_pause(50);
    close(*(int *)fd);
    return NULL;
}

/* By another process mostly, forked while the file was written. */
PX_TEST(a_program_that_is_still_open_for_writing_is_waited_for)
{
    const char *program = px_test_path("new");
    struct job job = job_of(program);
    pthread_t closer;

    process_write_file(program, "#!/bin/sh\n", 0755);
    int fd = open(program, O_RDWR | O_CLOEXEC);
    ok(pthread_create(&closer, NULL, close_later, &fd));
    job_spawn(&job);
    ok(job_wait(&job));
    pthread_join(closer, NULL);
    fd = open(program, O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_RESOURCE_BUSY);
    ck_assert_ptr_nonnull(strstr(job.why, ": Text file busy"));
    close(fd);
}

static int start_without_clone3(void *arg PX_UNUSED)
{
    struct px_query answer = {0};
    struct job job = job_of_script("exit 6");

    if (!px_test_deny(SYS_clone3, ENOSYS))
        return 1;
    if (contract.component->query(contract.self, &answer))
        return strstr(answer.reason, "Function not implemented") ? 0 : 2;
    return job_try_spawn(&job) ? 3 : job_wait(&job) != 6 << 8;
}

PX_TEST(declines_or_works_on_an_old_kernel)
{
    run_in_process(start_without_clone3, NULL);
}

/* To open a file of which another process holds a write lease, exec has to wait. */
PX_TEST(a_start_that_takes_too_long_is_given_up_and_delays_no_other)
{
    const char *program = px_test_path("slow");
    PX_AUTOFREE char *why = px_strf("cannot run %s: not started within 1000 ms",
                                    program);
    struct job job = job_of(program), others[5];

    ck_assert(contract_has_param("start_timeout"));
    ok(contract_reopen("start_timeout", "1s"));
    process_write_file(program, "#!/bin/sh\n", 0755);
    PX_AUTOCLOSE int fd = open(program, O_RDWR | O_CLOEXEC);
    signal(SIGIO, SIG_IGN); /* asks to give the lease up */
    PX_TEST_NEEDS(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "a file system with leases");
    size_t n_fds = px_test_count_fds();
    uint64_t start_ms = px_clock_ms();

    ok(job_begin(&job));
    for (size_t i = 0; i < PX_COUNT(others); i++) {
        others[i] = job_of("/bin/true");
        job_spawn(&others[i]);
        ok(job_wait(&others[i]));
    }
    ck_assert_int_eq(job.n_starts, 0);
    ck_assert_uint_lt(px_clock_ms() - start_ms, 1000);

    ck_assert(fake_host_run(&contract.host, SOON_MS, has_started, &job));
    ck_assert_uint_ge(px_clock_ms() - start_ms, 900);
    ck_assert_int_eq(job.started, PMIX_ERR_TIMEOUT);
    ck_assert_str_eq(job.why, why);
    ck_assert_int_eq(job.n_exits, 0);
    ck_assert(has_no_children());
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

PX_TEST(a_start_can_be_signalled_forgotten_and_closed)
{
    const char *program = px_test_path("slow");
    struct job jobs[3] = {job_of(program), job_of(program), job_of(program)};

    process_write_file(program, "#!/bin/sh\n", 0755);
    PX_AUTOCLOSE int fd = open(program, O_RDWR | O_CLOEXEC);
    signal(SIGIO, SIG_IGN);
    PX_TEST_NEEDS(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "a file system with leases");
    for (size_t i = 0; i < PX_COUNT(jobs); i++)
        ok(job_begin(&jobs[i]));
    pfexec_ops()->forget(contract.self, jobs[1].pid);
    for (size_t i = 0; i < 2; i++)
        ok(pfexec_ops()->signal(contract.self, jobs[i].pid, SIGTERM));
    ck_assert_int_eq(job_wait(&jobs[0]), SIGTERM); /* an end, not a failed start */

    contract_close();

    while (fake_host_held(&contract.host))
        fake_host_run(&contract.host, 10, NULL, NULL);
    ck_assert(has_no_children());
    ck_assert_int_eq(jobs[1].n_starts + jobs[1].n_exits, 0);
    ck_assert_int_eq(jobs[2].n_starts + jobs[2].n_exits, 0);
}

enum { N_AT_ONCE = 64, NO_SUCH_PID = 0x3fffffff };

static pmix_status_t send_signal(const struct job *job, int signum)
{
    return pfexec_ops()->signal(contract.self, job->pid, signum);
}

/* Waits until the job has written "ready"; returns the end to read. */
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

/* ---- how they end ---------------------------------------------------------------- */

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

static bool have_all_ended(void *arg)
{
    const struct job *jobs = arg;
    int n = 0;

    for (int i = 0; i < N_AT_ONCE; i++)
        n += jobs[i].n_exits;
    return n == N_AT_ONCE;
}

PX_TEST(runs_64_at_once)
{
    static struct job jobs[N_AT_ONCE];
    char script[N_AT_ONCE][32];
    size_t n_fds = px_test_count_fds();

    for (int i = 0; i < N_AT_ONCE; i++) {
        snprintf(script[i], sizeof(script[i]), "sleep 0.2; exit %d", i);
        jobs[i] = job_of_script(script[i]);
        job_spawn(&jobs[i]);
    }
    ck_assert_uint_le(px_test_count_fds(), n_fds + N_AT_ONCE);
    ck_assert(fake_host_run(&contract.host, LATE_MS, have_all_ended, jobs));
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    for (int i = 0; i < N_AT_ONCE; i++) {
        ck_assert_int_eq(jobs[i].n_exits, 1);
        ck_assert_int_eq(WEXITSTATUS(jobs[i].wait_status), i);
    }
    ck_assert(has_no_children());
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
    return s->left == 0 && s->ended == px_test_times(1000, 10000);
}

/* The host has children of its own, one of which has ended. */
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
    s.left = px_test_times(1000, 10000);
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
    ok(send_signal(&job, SIGKILL)); /* it is still there */

    uint64_t deadline_ms = px_clock_ms() + LATE_MS;
    while (fake_host_held(&contract.host) && px_clock_ms() < deadline_ms)
        fake_host_run(&contract.host, 10, NULL, NULL);
    ck_assert_int_eq(job.n_exits, 0);
    ck_assert(has_no_children());
    ck_assert_int_eq(send_signal(&job, 0), PMIX_ERR_NOT_FOUND);
}

/* ---- signals --------------------------------------------------------------------- */

/* The pipe ends when both are gone. */
PX_TEST(a_signal_reaches_the_grandchild_too)
{
    struct job job = job_of_script("sleep 60 & echo ready; wait");
    PX_AUTOCLOSE int from = spawn_until_ready(&job);

    ok(send_signal(&job, SIGTERM));

    ck_assert_int_eq(job_wait(&job), SIGTERM); /* as a wait status: killed by it */
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

/* Into the group of this process. perl, because the shell cannot. */
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
    ck_assert_int_eq(job_wait(&job), SIGTERM); /* as a wait status: killed by it */
    close(from);
}

PX_TEST(only_own_children_are_signalled_and_only_by_signals)
{
    const pid_t pids[] = {NO_SUCH_PID, getppid(), -1, 0};
    struct job job = job_of("/bin/true"), running = job_of_script("sleep 60");
    siginfo_t info;

    ok(job_begin(&job));
    /* It has ended, which has not been seen yet: its pid is still its own. */
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
PX_TEST(dies_with_its_parent)
{
    int ends[2];
    pid_t orphan = 0;

    ok(prctl(PR_SET_CHILD_SUBREAPER, 1));
    ok(pipe2(ends, O_CLOEXEC));
    pid_t parent = process_fork(start_and_wait, &ends[1]);
    ok(px_fd_read_all(ends[0], &orphan, sizeof(orphan), px_clock_ms() + LATE_MS));

    ok(kill(parent, SIGKILL));

    ck_assert_int_eq(process_wait(parent, SOON_MS), 128 + SIGKILL);
    ck_assert_int_eq(process_wait(orphan, SOON_MS), 128 + SIGKILL);
    close(ends[0]);
    close(ends[1]);
}

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

PX_TEST(the_program_waits_until_forked_has_returned)
{
    const char *file = px_test_path("ran");
    PX_AUTOFREE char *script = px_strf("echo >%s", file);
    struct gate g = {.job = job_of_script(script), .file = file};
    g.job.spec.forked = on_forked;

    job_spawn(&g.job);

    ok(job_wait(&g.job));
    ck_assert_int_eq(g.n_calls, 1);
    ck_assert_int_eq(g.pid, g.job.pid);
    ck_assert(!g.ran);
    ok(unlink(file)); /* it has run since */
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
