/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pfexec: the options of a start. */
#include "contract_pfexec.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

PX_TEST(runs_on_the_cpus_given)
{
    PX_TEST_NEEDS_PROC;
    struct job job = job_of_script("grep -w Cpus_allowed_list /proc/$$/status");
    cpu_set_t mine, one;
    int last = CPU_SETSIZE - 1;

    ok(sched_getaffinity(0, sizeof(mine), &mine));
    while (!CPU_ISSET(last, &mine))
        last--;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    job.spec.cpus = &one;
    job.spec.cpus_size = sizeof(one);
    PX_AUTOFREE char *line = px_strf("Cpus_allowed_list:\t%d\n", last);

    job_expect_output(&job, line);
    ok(sched_getaffinity(0, sizeof(one), &one));
    ck_assert(CPU_EQUAL(&one, &mine));
}

PX_TEST(has_the_limits_and_the_umask_given)
{
    static const struct px_pfexec_limit limits[] = {{RLIMIT_NOFILE, false, {33, 33}},
                                                    {9999, true, {0, 0}},
                                                    {RLIMIT_CORE, true, {0, 0}},
                                                    {RLIMIT_CPU, false, {77, 78}}};
    static const mode_t mask = 0027;
    struct job job = job_of_script("ulimit -n; ulimit -Hc; ulimit -t; umask");

    job.spec.limits = limits;
    job.spec.n_limits = PX_COUNT(limits);
    job.spec.umask = &mask;
    job_expect_output(&job, "33\n0\n77\n0027\n");
}

PX_TEST(leads_a_session_if_asked_to)
{
    PX_TEST_NEEDS_PROC;
    struct job job = job_of_script("read pid comm state ppid pgrp sid rest "
                                   "</proc/$$/stat; test $$ = $pgrp -a $$ = $sid");

    job.spec.flags = PX_PFEXEC_SESSION;
    job_spawn(&job);
    ok(job_wait(&job));
}

/* The terminal is stdout; stdin may be something else. */
PX_TEST(has_a_terminal_that_controls_its_session)
{
    struct job job = job_of_script("test -t 1 && exec 3<>/dev/tty && echo here >&3");
    char text[8] = "";

    PX_AUTOCLOSE int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    PX_TEST_NEEDS(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0,
                  "pseudo terminals");
    PX_AUTOCLOSE int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    PX_TEST_NEEDS(slave >= 0, "pseudo terminals");
    job.spec.flags = PX_PFEXEC_SESSION | PX_PFEXEC_TERMINAL;
    job.spec.fds[1] = slave;
    job_spawn(&job);
    ok(job_wait(&job));
    ck_assert_int_eq(read(master, text, 4), 4);
    ck_assert_str_eq(text, "here");
}

static const gid_t other_groups[] = {OTHER_UID - 1, OTHER_UID - 2};
static const struct px_pfexec_user other = {OTHER_UID, OTHER_UID - 3, other_groups, 2},
                                   alone = {OTHER_UID, OTHER_UID - 3, NULL, 0};

PX_TEST(becomes_the_user_given)
{
    static const struct px_pfexec_user *const users[] = {&other, &alone};
    struct job job = job_of_script("id -u; id -ru; id -g; id -rg; id -G; grep CapPrm "
                                   "/proc/self/status");

    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS(geteuid() == 0, "root");
    for (size_t i = 0; i < PX_COUNT(users); i++) {
        job.spec.user = users[i];
        job_expect_output(&job, i == 0 ? "65534\n65534\n65531\n65531\n"
                                         "65531 65532 65533\n"
                                         "CapPrm:\t0000000000000000\n"
                                       : "65534\n65534\n65531\n65531\n"
                                         "65531\n"
                                         "CapPrm:\t0000000000000000\n");
    }
}

/* Returns state and tracer of a process. */
static char *look_at(pid_t pid)
{
    PX_AUTOFREE char *path = px_strf("/proc/%ld/status", (long)pid);
    PX_AUTOFREE char *text = process_read_file(path, NULL);
    const char *state = strstr(text, "\nState:\t");
    const char *tracer = strstr(text, "\nTracerPid:\t");

    return px_strf("%c %d", state[8], atoi(tracer + 12));
}

/* Another process can then trace the child. */
PX_TEST(is_stopped_at_its_first_instruction)
{
    PX_TEST_NEEDS_PROC;
    struct job job = job_of_script("exit 7"), missing = job_of("/no/such/program");

    job.spec.flags = missing.spec.flags = PX_PFEXEC_STOP_AT_EXEC;
    job_expect_failure(&missing, PMIX_ERR_NOT_FOUND,
                       "cannot run /no/such/program: No such file or directory");
    for (int killed = 0; killed < 2; killed++) {
        job_spawn(&job);
        PX_AUTOFREE char *seen = look_at(job.pid);
        for (int tries = 0; tries < 100 && strcmp(seen, "T 0") != 0; tries++) {
            fake_host_run(&contract.host, 50, NULL, NULL);
            free(seen);
            seen = look_at(job.pid);
        }
        PX_AUTOFREE char *exe = px_strf("/proc/%ld/exe", (long)job.pid);
        PX_AUTOFREE char *program = realpath(exe, NULL);
        PX_AUTOFREE char *shell = realpath("/bin/sh", NULL);
        ck_assert_str_eq(seen, "T 0");
        ck_assert_str_eq(program, shell);
        ck_assert_int_eq(job.n_exits, 0);
        ok(pfexec_ops()->signal(contract.self, job.pid, killed ? SIGKILL : SIGCONT));
        ck_assert_int_eq(job_wait(&job), killed ? SIGKILL : 7 << 8);
    }
}

PX_TEST(what_a_child_cannot_be_given_is_named)
{
    static const cpu_set_t none;
    static const struct px_pfexec_limit no_limit = {9999, false, {0, 0}};
    static const char no_memory[] = "";
    const struct {
        struct px_pfexec_spec spec;
        const char *why;
    } rows[] = {
        {{.cpus = &none, .cpus_size = sizeof(none)},
         "cannot bind /bin/true to its CPUs: Invalid argument"},
        {{.cpus = no_memory, .cpus_size = 1},
         "cannot bind /bin/true to its CPUs: Invalid argument"},
        {{.limits = &no_limit, .n_limits = 1},
         "cannot set limits of /bin/true: Invalid argument"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct job job = job_of("/bin/true");

        job.spec.cpus = rows[i].spec.cpus;
        job.spec.cpus_size = rows[i].spec.cpus_size;
        job.spec.limits = rows[i].spec.limits;
        job.spec.n_limits = rows[i].spec.n_limits;
        job_expect_failure(&job, PMIX_ERR_JOB_SYS_OP_FAILED, rows[i].why);
    }
}

/* Reports only by its return value, because a message would be lost. */
static int ask_for_more_than_a_user_may(void *arg PX_UNUSED)
{
    static const struct px_pfexec_limit more = {RLIMIT_CORE, false, {1, 1}};
    const struct rlimit none = {0, 0};
    struct job limited = job_of("/bin/true"), changed = limited;

    limited.spec.limits = &more;
    limited.spec.n_limits = 1;
    changed.spec.user = &alone;
    if (geteuid() == 0)
        process_become_other();
    if (setrlimit(RLIMIT_CORE, &none) < 0)
        return 1;
    if (job_try_spawn(&limited) != PMIX_ERR_JOB_SYS_OP_FAILED ||
        strcmp(limited.why, "cannot set limits of /bin/true: "
                            "Operation not permitted") != 0)
        return 2;
    if (job_try_spawn(&changed) != PMIX_ERR_JOB_SYS_OP_FAILED ||
        strcmp(changed.why, "cannot run /bin/true as another user: "
                            "Operation not permitted") != 0)
        return 3;
    return !has_no_children();
}

PX_TEST(a_user_gets_no_more_than_users_may)
{
    run_in_process(ask_for_more_than_a_user_may, NULL);
}

/* A spec from a caller of a later release has unknown members. */
PX_TEST(what_it_does_not_know_is_not_ignored)
{
    struct {
        struct px_pfexec_spec spec;
        uint64_t more;
    } later = {.spec = job_of("/bin/true").spec, .more = 1};
    struct job job = job_of("/bin/true");
    pid_t pid;

    job.spec.flags = 1u << 31;
    ck_assert_int_eq(job_try_spawn(&job), PMIX_ERR_NOT_SUPPORTED);
    later.spec.size = sizeof(later);
    ck_assert_int_eq(
        pfexec_ops()->spawn(contract.self, &later.spec, &pid, job.why, sizeof(job.why)),
        PMIX_ERR_NOT_SUPPORTED);
    later.more = 0;
    later.spec.arg = &job;
    ok(pfexec_ops()->spawn(contract.self, &later.spec, &job.pid, job.why,
                           sizeof(job.why)));
    ok(job_wait(&job));
}

/* The grandchild keeps only its cgroup; environment, session and limits are gone. */
static void keep_in_group(void)
{
    struct job job = job_of_script(
        "cat /proc/self/cgroup; env -i setsid prlimit --rttime=1000000 sleep 60 & wait");
    char text[4096] = "";

    for (int must = 0; must < 2; must++) {
        struct job any = job_of("/bin/true");

        ok(contract_reopen("cgroup", must ? "yes" : "try"));
        pmix_status_t rc = job_try_spawn(&any);
        if (must && rc == PMIX_ERR_JOB_SYS_OP_FAILED) {
            ck_assert_ptr_nonnull(strstr(any.why, "control group"));
            contract_skip("a control group of its own");
            return;
        }
        ok(rc);
        ok(job_wait(&any));
    }
    PX_AUTOCLOSE int from = job_pipe_stdout(&job);
    job_spawn(&job);
    close(job.spec.fds[1]);
    while (!strstr(text, "tenon."))
        ck_assert_int_gt(read(from, text + strlen(text), 1000), 0);

    fake_host_run(&contract.host, 100, NULL, NULL);
    ck_assert_int_eq(job.n_exits, 0);

    contract_close();

    PX_AUTOFREE char *rest = process_read_end(from,
                                              SOON_MS); /* all processes have ended */
    ck_assert_ptr_nonnull(rest);
    const char *name = strstr(text, "tenon.");
    PX_AUTOFREE char *look = px_strf("test -z \"$(find /sys/fs/cgroup -name %.*s)\"",
                                     (int)strcspn(name, "\n"), name);
    ok(system(look));
}

PX_TEST(can_be_kept_in_a_control_group)
{
    PX_TEST_NEEDS_PROC;
    keep_in_group();
}

PX_TEST(can_be_kept_in_a_control_group_of_version_1)
{
    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS(access("/sys/fs/cgroup/freezer/cgroup.procs", W_OK) == 0,
                  "root, and control groups of version 1");
    PX_TEST_NEEDS(unshare(CLONE_NEWNS) == 0 &&
                      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
                  "a namespace for mounts");
    (void)umount2("/sys/fs/cgroup/unified", MNT_DETACH);
    keep_in_group();
}

/* ---- death with the parent ------------------------------------------------------- */

struct orphan {
    const struct px_pfexec_user *user;
    int pid_to; /* write end for the pid */
};

/* Starts a sleeper, writes its pid and waits to be killed. */
static int start_and_wait(void *arg)
{
    const struct orphan *o = arg;
    struct job job = job_of_script("exec sleep 60");

    job.spec.user = o->user;
    if (job_try_spawn(&job) ||
        write(o->pid_to, &job.pid, sizeof(job.pid)) != sizeof(job.pid))
        return 1;
    process_pause(LATE_MS);
    return 2;
}

/* This process is a subreaper, so it inherits the orphan and gets its exit status. */
PX_TEST(dies_with_its_parent)
{
    static const struct px_pfexec_user *const users[] = {NULL, &other};

    ok(prctl(PR_SET_CHILD_SUBREAPER, 1));
    for (size_t i = 0; i < (geteuid() == 0 ? 2 : 1); i++) {
        int ends[2];
        pid_t orphan = 0;

        ok(pipe2(ends, O_CLOEXEC));
        pid_t parent = process_fork(start_and_wait,
                                    &(struct orphan){users[i], ends[1]});
        ok(px_fd_read_all(ends[0], &orphan, sizeof(orphan), px_clock_ms() + LATE_MS));

        ok(kill(parent, SIGKILL));

        ck_assert_int_eq(process_wait(parent, SOON_MS), 128 + SIGKILL);
        ck_assert_int_eq(process_wait(orphan, SOON_MS), 128 + SIGKILL);
        close(ends[0]);
        close(ends[1]);
    }
}
