/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: the environment, descriptors and limits that a child
 * inherits, or not. */
#include "contract_pfexec.h"

#include "alloc_fail.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

PX_TEST(arguments_arrive_as_they_are)
{
    static char *const argv[] = {(char *)"printf", (char *)"[%s]",      (char *)"a b",
                                 (char *)"",       (char *)"$HOME;'\"", NULL};
    struct job job = job_with("/usr/bin/printf", argv);

    job_expect_output(&job, "[a b][][$HOME;'\"]");
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
        job_expect_output(&job, i == 0 ? "A=1\nB=x y=z\nEMPTY=\n" : "");
    }
}

PX_TEST(runs_in_the_directory_given)
{
    struct job there = job_of("/bin/pwd"), same = there;
    PX_AUTOFREE char *here = getcwd(NULL, 0);
    PX_AUTOFREE char *line = px_strf("%s\n", px_test_dir());
    PX_AUTOFREE char *here_line = px_strf("%s\n", here);

    there.spec.cwd = contract.dir;
    job_expect_output(&there, line);
    job_expect_output(&same, here_line);
}

/* Descriptor 3 is the directory that ls reads. */
PX_TEST(has_no_descriptor_above_2)
{
    PX_TEST_NEEDS_PROC;
    static char *const argv[] = {(char *)"ls", (char *)"/proc/self/fd", NULL};
    struct job job = job_with("/bin/ls", argv);
    int low = dup(0);
    int high = fcntl(0, F_DUPFD, 900);

    ck_assert(low >= 3 && high >= 900);
    job_expect_output(&job, "0\n1\n2\n3\n");
    close(low);
    close(high);
}

/* The number here may be that of any descriptor of the start. */
PX_TEST(one_more_descriptor_becomes_3)
{
    int ends[2];

    for (int at = 3; at < 12; at++) {
        struct job job = job_of_script("echo text >&3");

        ok(pipe2(ends, O_CLOEXEC));
        int more = fcntl(ends[1], F_DUPFD_CLOEXEC, at);
        job.spec.more = &more;
        job_expect_output(&job, "");
        close(more);
        close(ends[1]);
        char text[8] = "";
        ck_assert_int_eq(read(ends[0], text, sizeof(text)), 5);
        ck_assert_str_eq(text, "text\n");
        ck_assert_int_eq(read(ends[0], text, sizeof(text)), 0); /* no copy is left */
        close(ends[0]);
    }
}

PX_TEST(streams_not_given_are_dev_null)
{
    PX_TEST_NEEDS_PROC;
    struct job job = job_of_script("readlink /proc/$$/fd/0; readlink /proc/$$/fd/2; "
                                   "cat; echo lost >&2");

    job_expect_output(&job, "/dev/null\n/dev/null\n");
}

PX_TEST(streams_stay_the_callers)
{
    int in[2];
    struct job job = job_of("/bin/cat");

    ok(pipe2(in, O_CLOEXEC | O_NONBLOCK));
    ck_assert_int_eq(write(in[1], "text", 4), 4);
    close(in[1]);
    job.spec.fds[0] = in[0];
    job_expect_output(&job, "text");
    ck_assert(fcntl(in[0], F_GETFD) & FD_CLOEXEC);
    ck_assert(fcntl(in[0], F_GETFL) & O_NONBLOCK);
    close(in[0]);
}

/* Puts the pipes at 0, 1 and 2 and passes them to a child in the given order. Reports
 * only by its return value, because stderr is not readable here. */
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
    if (job_try_spawn(&missing) !=
        PMIX_ERR_NOT_FOUND) /* the report needs a descriptor, too */
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
    ck_assert_int_eq(getpgid(job.pid), job.pid); /* a group of its own from the start */
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
    static const long ignored[16] = {(long)SIG_IGN}; /* of the kernel */
    struct job job = job_with("/bin/grep", argv);
    sigset_t blocked, was, now;

    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGRTMAX, SIG_IGN);
    /* glibc's posix_spawn, which ninja uses, leaves these signals ignored. */
    for (int signum = 32; signum < SIGRTMIN; signum++)
        syscall(SYS_rt_sigaction, signum, ignored, NULL, 8);
    signal(SIGUSR1, on_signal);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &was);

    job_expect_output(&job, "SigBlk:\t0000000000000000\n"
                            "SigIgn:\t0000000000000000\n");
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int signum = 1; signum <= SIGRTMAX; signum++)
        ck_assert_int_eq(sigismember(&was, signum), sigismember(&now, signum));
}

struct gate {
    struct job job;
    const char *file; /* file that the program creates */
    pid_t pid;
    int n_calls;
    bool ran;
};

/* Waits long enough for an unheld program to run. */
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
    ok(unlink(file)); /* the program has run now */
}

/* Returns the page faults of this process. */
static long faults(void)
{
    struct rusage usage;

    ok(getrusage(RUSAGE_SELF, &usage));
    return usage.ru_minflt;
}

/* A copy of the page tables makes the first write to each page a fault. */
PX_TEST(a_start_does_not_copy_the_memory_of_this_process)
{
    enum { PAGES = 2000, STARTS = 3 };
    const size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
    long before;

    PX_TEST_NEEDS(strcmp(contract.component->name, "linux") == 0 && px_alloc_can_fail(),
                  "a component whose children share memory");
    ck_assert_ptr_ne(memory, MAP_FAILED);
    (void)madvise(memory, size, MADV_NOHUGEPAGE);
    memset(memory, 1, size);
    before = faults();
    for (int i = 0; i < STARTS; i++) {
        struct job job = job_of("/bin/true");

        job_spawn(&job);
        memset(memory, i, size);
        ok(job_wait(&job));
    }
    ck_assert_int_lt(faults() - before, PAGES);
    ok(munmap(memory, size));
}

static int start_again(void *arg PX_UNUSED)
{
    struct job job = job_of_script("exit 6");

    return job_try_spawn(&job) ? 1 : job_wait(&job) != 6 << 8;
}

PX_TEST(a_forked_copy_of_this_process_can_start_programs)
{
    struct job job = job_of("/bin/true");

    job_spawn(&job);
    ok(job_wait(&job));
    run_in_process(start_again, NULL);
}
