/* SPDX-License-Identifier: BSD-3-Clause */
/* Children hidden from the host's waits, and the permanent change of user; also without
 * the newest calls. */
#include "core/os/proc.h"
#include "reclaim_fixture.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sys/resource.h>

/* Check does not work in these children, so a message names the failed line. */
#define MUST(condition)                                                       \
    do {                                                                      \
        if (!(condition)) {                                                   \
            dprintf(messages, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                         \
        }                                                                     \
    } while (0)

static int messages = -1; /* copy of stderr */

/* Runs fn in a child. Returns its exit status, or 128 + its signal. */
static int in_child(void (*fn)(void))
{
    int status = -1;

    messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 700);
    pid_t child = px_reclaim_fork();
    ck_assert(messages >= 0 && child >= 0);
    if (child == 0) {
        fn();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, __WALL), child);
    close(messages);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int make_no_process(void)
{
    sigset_t now;

    deny(SYS_clone, EAGAIN);
    return px_reclaim_fork() != -1 || errno != EAGAIN ||
           sigprocmask(SIG_SETMASK, NULL, &now) || sigismember(&now, SIGTERM);
}

PX_TEST(no_process_left_to_make_is_an_errno)
{
    ok(px_test_in_child(make_no_process));
}

static void on_signal(int signum PX_UNUSED)
{
}

/* ---- detached ------------------------------------------------------------------- */

enum { KEPT = 300 };

static bool is_null(int fd)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat("/dev/null", &b) == 0 && a.st_rdev == b.st_rdev &&
           S_ISCHR(a.st_mode);
}

enum { BARE, WITH_STDERR, WITHOUT_STREAMS };
static int streams;

static void look_detached(void)
{
    const int keep[] = {2, KEPT, 700};
    char name[16], cwd[16];
    sigset_t mask;
    struct sigaction action;

    for (int fd = 0; streams == WITHOUT_STREAMS && fd < 3; fd++)
        close(fd);
    if (streams == WITH_STDERR)
        px_reclaim_detach("a-name", keep, 3);
    else
        px_reclaim_detach("a-name", keep + 1, 2);
    for (int fd = 0; fd < 3; fd++)
        MUST(is_null(fd) == !(fd == 2 && streams == WITH_STDERR));
    for (int fd = 0; fd < 1024; fd++)
        MUST((fcntl(fd, F_GETFD) >= 0) == (fd < 3 || fd == KEPT || fd == 700));
    MUST(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a-name") == 0);
    MUST(prctl(PR_GET_DUMPABLE) == 0);
    MUST(getsid(0) == getpid());
    MUST(getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/") == 0);
    MUST(umask(0) == 077);
    MUST(sigprocmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGTERM) &&
         sigismember(&mask, SIGINT));
    MUST(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    MUST(sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
}

/* 3, 4: without close_range. */
PX_TEST_LOOP(a_detached_process_has_nothing_of_its_host, 5)
{
    if (_i > WITHOUT_STREAMS)
        PX_TEST_NEEDS(px_test_deny(SYS_close_range, _i > 3 ? EPERM : ENOSYS),
                      "seccomp");
    for (int fd = 100; fd < 500; fd += 50)
        ck_assert_int_eq(dup2(STDIN_FILENO, fd), fd);
    signal(SIGUSR1, on_signal);
    signal(SIGPIPE, SIG_IGN);
    streams = _i > WITHOUT_STREAMS ? BARE : _i;
    ok(in_child(look_detached));
}

/* ---- launched ------------------------------------------------------------------- */

/* Launches a shell. Returns the number of bytes that the shell writes to ends[1]. */
static ssize_t launched(const char *program, const char *script, char *text,
                        size_t size)
{
    const char *const argv[] = {program, "-c", script, NULL};
    int in[2], out[2], ends[2] = {KEPT, KEPT + 1};
    siginfo_t child;
    ssize_t n;

    ok(pipe2(in, O_CLOEXEC));
    ok(pipe2(out, O_CLOEXEC));
    ck_assert_int_eq(dup3(in[0], ends[0], O_CLOEXEC), ends[0]);
    ck_assert_int_eq(dup3(out[1], ends[1], O_CLOEXEC), ends[1]);
    close(in[0]);
    close(out[1]);
    ck_assert(px_reclaim_launch((char *const *)argv, ends, ends[1]));
    close(ends[0]);
    close(ends[1]);
    ck_assert_int_eq(waitid(P_ALL, 0, &child, WEXITED | __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
    n = read(out[0], text, size);
    close(in[1]);
    close(out[0]);
    return n;
}

PX_TEST(a_launched_program_is_no_child_and_has_two_descriptors)
{
    char text[512] = "";
    int errnum = 0;

    signal(SIGUSR1, on_signal);
    ck_assert_int_eq(dup2(STDIN_FILENO, 100), 100);
    ck_assert_int_gt(launched("/bin/sh",
                              "ls /proc/$$/fd | tr '\\n' ' ' >/proc/self/fd/301", text,
                              sizeof(text) - 1),
                     0);
    ck_assert_ptr_nonnull(strstr(text, "300 "));
    ck_assert_ptr_nonnull(strstr(text, "301 "));
    ck_assert_ptr_null(strstr(text, "100 "));
    ck_assert_int_eq(launched("/nonexistent", "", (char *)&errnum, sizeof(errnum)),
                     sizeof(errnum));
    ck_assert_int_eq(errnum, ENOENT);
}

/* ---- change of user ------------------------------------------------------------- */

static void look_become(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2], none[2] = {{0}};
    uid_t uids[3];
    gid_t gids[3], groups[64];

    px_drop_privileges(STRANGER, OTHER_STRANGER);
    MUST(getresuid(&uids[0], &uids[1], &uids[2]) == 0);
    MUST(getresgid(&gids[0], &gids[1], &gids[2]) == 0);
    for (int i = 0; i < 3; i++)
        MUST(uids[i] == STRANGER && gids[i] == OTHER_STRANGER);
    MUST(getgroups(64, groups) == 1 && groups[0] == OTHER_STRANGER);
    MUST(syscall(SYS_capget, &head, data) == 0 && !memcmp(data, none, sizeof(none)));
    MUST(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    MUST(prctl(PR_GET_DUMPABLE) == 0);
    MUST(syscall(SYS_setuid, 0) < 0 && syscall(SYS_setgid, 0) < 0);
    MUST(syscall(SYS_setresuid, 0, 0, 0) < 0);
    MUST(syscall(SYS_setgroups, 0, NULL) < 0);
}

/* 1: with a host that keeps its capabilities. */
PX_TEST_LOOP(root_becomes_a_user_and_never_returns, 2)
{
    PX_TEST_NEEDS_ROOT;
    gid_t more[] = {0, 4, 27};
    ok(setgroups(3, more));
    if (_i)
        ok(prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP));
    ok(in_child(look_become));
}

static void become_stranger(void)
{
    px_drop_privileges(STRANGER, STRANGER);
}

/* errnum 0: the filter fakes success. */
static const struct {
    unsigned call;
    int errnum;
} steps[] = {
    {SYS_setgroups, EPERM}, {SYS_setresgid, EPERM}, {SYS_setresuid, EPERM},
    {SYS_capset, EPERM},    {SYS_capget, EPERM},    {SYS_getresuid, EPERM},
    {SYS_getresgid, EPERM}, {SYS_getgroups, EPERM}, {SYS_setgroups, 0},
    {SYS_setresgid, 0},     {SYS_setresuid, 0},     {SYS_setuid, 0},
    {SYS_capget, 0},
};

PX_TEST_LOOP(a_step_that_fails_or_claims_success_ends_the_process, PX_COUNT(steps))
{
    PX_TEST_NEEDS_ROOT;
    PX_TEST_NEEDS(px_test_deny(steps[_i].call, steps[_i].errnum), "seccomp");
    ck_assert_int_eq(in_child(become_stranger), 126);
}

static void look_same_user(void)
{
    MUST(setgroups(0, NULL) == 0 && setresgid(STRANGER, STRANGER, STRANGER) == 0 &&
         setresuid(STRANGER, STRANGER, STRANGER) == 0);
    px_drop_privileges(STRANGER, OTHER_STRANGER);
    MUST(geteuid() == STRANGER && getegid() == STRANGER);
    MUST(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    px_drop_privileges(0, 0);
    MUST(false);
}

PX_TEST(a_user_stays_that_user_and_becomes_no_other)
{
    PX_TEST_NEEDS_ROOT;
    ck_assert_int_eq(in_child(look_same_user), 126);
}

static bool no_group;

static void become_no_one(void)
{
    px_drop_privileges(no_group ? STRANGER : (uid_t)-1,
                       no_group ? (gid_t)-1 : STRANGER);
}

PX_TEST_LOOP(ids_that_mean_no_change_are_refused, 2)
{
    no_group = _i;
    ck_assert_int_eq(in_child(become_no_one), 126);
}

static void look_root(void)
{
    px_drop_privileges(0, STRANGER);
    MUST(geteuid() == 0 && getegid() == STRANGER && getgroups(0, NULL) == 1);
    px_drop_privileges(0, STRANGER);
}

PX_TEST(root_may_stay_root_with_another_group)
{
    PX_TEST_NEEDS_ROOT;
    ok(in_child(look_root));
}

/* ---- confined ------------------------------------------------------------------- */

static bool has_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

static struct px_rm_item confined_to(const char *path, uint8_t kind)
{
    return (struct px_rm_item){.path = path, .kind = kind, .flags = PX_RM_RECURSE};
}

static void look_confined(void)
{
    const struct px_rm_item items[] = {
        confined_to(px_tree_path("a/file"), PX_RM_FILE),
        confined_to(px_tree_path("b/tree"), PX_RM_DIR),
        confined_to(px_tree_path("none/there"), PX_RM_DIR),
        confined_to(px_tree_path("c/kept"), PX_RM_KEEP),
    };

    px_drop_privileges(geteuid(), getegid());
    px_reclaim_confine(items, PX_COUNT(items));
    MUST(unlink(px_tree_path("a/file")) == 0);
    MUST(unlink(px_tree_path("b/tree/deep/file")) == 0 &&
         rmdir(px_tree_path("b/tree/deep")) == 0 && rmdir(px_tree_path("b/tree")) == 0);
    MUST(unlink(px_tree_path("c/kept")) < 0 && errno == EACCES);
    MUST(open(px_tree_path("a/new"), O_CREAT | O_WRONLY, 0600) < 0 && errno == EACCES);
    MUST(open(px_tree_path("c/kept"), O_WRONLY) < 0 && errno == EACCES);
    MUST(mkdir(px_tree_path("a/new"), 0700) < 0 && errno == EACCES);
    MUST(symlink("x", px_tree_path("a/new")) < 0 && errno == EACCES);
    MUST(rename(px_tree_path("c/kept"), px_tree_path("a/kept")) < 0);
    MUST(link(px_tree_path("c/kept"), px_tree_path("a/kept")) < 0);
    MUST(open(px_tree_path("c/kept"), O_RDONLY) >= 0);
    MUST(open(px_tree_path("c"), O_RDONLY | O_DIRECTORY) >= 0);
}

PX_TEST(a_confined_process_can_remove_its_items_and_do_nothing_else)
{
    PX_TEST_NEEDS(has_landlock(), "Landlock");
    px_tree_make("a/file b/tree/deep/file c/kept");
    ok(in_child(look_confined));
}

static void look_not_confined(void)
{
    const struct px_rm_item items[] = {confined_to(px_tree_path("a/file"), PX_RM_FILE)};

    px_reclaim_confine(items, 1);
    MUST(unlink(px_tree_path("a/file")) == 0);
}

PX_TEST_LOOP(a_kernel_without_landlock_confines_nothing, 2)
{
    px_tree_make("a/file b/tree/deep/file c/kept");
    PX_TEST_NEEDS(px_test_deny(SYS_landlock_create_ruleset, _i ? EOPNOTSUPP : ENOSYS),
                  "seccomp");
    ok(in_child(look_not_confined));
}

PX_TEST_LOOP(half_confined_is_the_end, 2)
{
    PX_TEST_NEEDS(has_landlock(), "Landlock");
    px_tree_make("a/file b/tree/deep/file c/kept");
    PX_TEST_NEEDS(
        px_test_deny(_i ? SYS_landlock_add_rule : SYS_landlock_restrict_self, EPERM),
        "seccomp");
    ck_assert_int_eq(in_child(look_not_confined), 125);
    ck_assert(px_tree_has("a/file"));
}

static void confine_often(void)
{
    const struct px_rm_item items[] = {confined_to(px_tree_path("a/file"), PX_RM_FILE)};

    for (int i = 0; i < 20; i++)
        px_reclaim_confine(items, 1);
    MUST(unlink(px_tree_path("a/file")) == 0);
}

PX_TEST(a_host_that_has_confined_itself_to_the_limit_is_no_obstacle)
{
    PX_TEST_NEEDS(has_landlock(), "Landlock");
    px_tree_make("a/file b/tree/deep/file c/kept");
    PX_TEST_NEEDS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    ok(in_child(confine_often));
}

/* ---- killing -------------------------------------------------------------------- */

static struct px_journal_record victim;

static void set_victim(pid_t pid)
{
    victim = (struct px_journal_record){.type = PX_JOURNAL_PROC,
                                        .flags = PX_JOURNAL_END,
                                        .uid = geteuid(),
                                        .x = (uint64_t)pid,
                                        .y = px_journal_start_time(pid)};
}

static int kill_without_proc(void)
{
    deny(SYS_openat, EACCES);
    px_reclaim_kill(&victim);
    return 0;
}

PX_TEST(where_proc_is_hidden_no_process_is_killed)
{
    PX_TEST_NEEDS_PROC;
    pid_t pid = start_process();

    set_victim(pid);
    ok(px_test_in_child(kill_without_proc));
    ok(end(pid));
}

/* The leader of the group has ended. */
PX_TEST(a_process_does_not_end_the_group_that_it_is_in)
{
    PX_TEST_NEEDS_PROC;
    int ends[2], status;
    char byte = 0;

    ok(pipe(ends));
    pid_t leader = fork();
    if (leader == 0) {
        setpgid(0, 0);
        set_victim(getpid());
        if (fork() == 0) {
            while (kill((pid_t)victim.x, 0) == 0)
                usleep(1000);
            px_reclaim_kill(&victim);
            _exit(write(ends[1], "x", 1) != 1);
        }
        _exit(0);
    }
    close(ends[1]);
    ck_assert_int_eq(waitpid(leader, &status, 0), leader);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1); /* a byte, not the end of the pipe */
    close(ends[0]);
}

/* Starts a process with the rlimit tag of a server started at start; the process calls
 * does(). */
static pid_t start_tagged(uint64_t start, void (*does)(void))
{
    const uint64_t tag = px_osproc_rlimit_tag(getpid(), start, RLIM_INFINITY);
    char byte;
    int ends[2];

    ok(pipe(ends));
    pid_t pid = fork();
    if (pid == 0) {
        if (setrlimit(RLIMIT_RTTIME, &(struct rlimit){tag, tag}) < 0)
            _exit(1);
        if (does)
            does();
        close(ends[0]);
        close(ends[1]);
        pause();
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* the child is ready */
    close(ends[0]);
    return pid;
}

static void begin_session(void)
{
    setsid();
}

static void be_a_janitor(void)
{
    prctl(PR_SET_NAME, PX_RECLAIM_JANITOR);
}

PX_TEST_LOOP(tagged_processes_end_and_no_others, 3)
{
    PX_TEST_NEEDS_PROC;
    const uint64_t start = px_journal_start_time(getpid());
    pid_t ours[] = {start_tagged(start, NULL), start_tagged(start, begin_session)},
          others[] = {start_process(), start_tagged(start, be_a_janitor),
                      start_tagged(start + 1, NULL)};

    if (_i)
        PX_TEST_NEEDS(
            px_test_deny(_i == 1 ? SYS_pidfd_open : SYS_pidfd_send_signal, ENOSYS),
            "seccomp");
    px_reclaim_kill_tagged(getpid(), 0, true);
    px_reclaim_kill_tagged(getpid(), start, true);
    for (size_t i = 0; i < PX_COUNT(ours); i++)
        ck_assert_int_eq(end(ours[i]), SIGKILL);
    for (size_t i = 0; i < PX_COUNT(others); i++)
        ck_assert_int_eq(end(others[i]), 0);
}

PX_TEST(what_is_no_child_is_not_waited_for)
{
    int status = 0;

    ck_assert(px_reclaim_reap(getppid(), &status));
    ck_assert_int_eq(status, -1);
}

/* 0: with pidfds; 1: without. */
PX_TEST_LOOP(a_child_is_waited_for_until_a_time_and_ended_after_it, 2)
{
    int status;

    if (_i)
        PX_TEST_NEEDS(px_test_deny(SYS_pidfd_open, ENOSYS), "seccomp");
    pid_t pid = px_reclaim_fork();
    if (pid == 0)
        for (;;)
            pause();
    ck_assert(!px_reclaim_reap_until(pid, px_clock_ms() + 10, &status));
    px_reclaim_end(pid);
    ck_assert_int_eq(waitpid(pid, &status, __WALL), -1);
}

static int detach_without_devices(void)
{
    char byte;
    struct stat st;

    ok(chroot(px_tree_root()));
    close(1);
    px_reclaim_detach("test", NULL, 0);
    for (int fd = 0; fd < 3; fd++)
        if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode) || read(fd, &byte, 1) != -1 ||
            write(fd, "x", 1) != -1)
            return 10 + fd;
    return fcntl(3, F_GETFD) >= 0;
}

PX_TEST(without_a_null_device_streams_lead_nowhere)
{
    PX_TEST_NEEDS(px_test_may(CAP_SYS_CHROOT), "CAP_SYS_CHROOT");
    ok(px_test_in_child(detach_without_devices));
}

PX_TEST_MAIN("reclaim/process", setup, teardown)
