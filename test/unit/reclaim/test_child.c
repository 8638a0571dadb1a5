/* SPDX-License-Identifier: BSD-3-Clause */
/* Children that nobody meets, and that are a user for good; also where kernel or
 * sandbox do not have what is newest. */
#include "core/base/attr.h"
#include "reclaim_fixture.h"
#include "seccomp.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { EXIT_SKIP = 77 };

/* In a child there is no Check: a number says where it failed. */
#define MUST(condition)                                                       \
    do {                                                                      \
        if (!(condition)) {                                                   \
            dprintf(messages, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                         \
        }                                                                     \
    } while (0)

static int messages = -1; /* where stderr was */

typedef void (*child_fn)(void);

/* What became of it: its exit status, or 128 and a signal. */
static int in_child(child_fn fn)
{
    int status = -1;

    messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 700);
    ck_assert_int_ge(messages, 0);
    pid_t child = px_reclaim_fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        fn();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, __WALL), child);
    close(messages);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int signum)
{
    (void)signum;
    n_signals++;
}

static void nobody_meets_it(void)
{
    int ends[2], status;
    char byte = 0;

    ck_assert_int_eq(pipe(ends), 0);
    signal(SIGCHLD, on_signal);
    pid_t child = px_reclaim_fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 5 : 6);
    }
    ck_assert_int_eq(waitpid(-1, &status, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(waitpid(child, &status, WNOHANG), -1);
    ck_assert_int_eq(waitpid(child, &status, WNOHANG | __WALL), 0);
    close(ends[0]);
    close(ends[1]);
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | __WALL), 0);
    ck_assert_int_eq(waitpid(-1, &status, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(waitpid(child, &status, __WALL), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    ck_assert_int_eq(n_signals, 0);
}

PX_TEST(a_host_that_waits_for_any_child_does_not_meet_it)
{
    nobody_meets_it();
}

PX_TEST_LOOP(nor_does_it_without_clone3, 2)
{
    PX_TEST_NEEDS(px_test_deny(SYS_clone3, _i ? EPERM : ENOSYS), "seccomp");
    nobody_meets_it();
}

PX_TEST(a_host_that_ignores_sigchld_can_still_be_told)
{
    int status;

    signal(SIGCHLD, SIG_IGN);
    pid_t child = px_reclaim_fork();
    if (child == 0)
        _exit(9);
    ck_assert_int_eq(waitpid(child, &status, __WALL), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

PX_TEST(no_process_left_to_make_is_an_errno)
{
    PX_TEST_NEEDS(px_test_deny(SYS_clone3, EAGAIN), "seccomp");
    ck_assert_int_eq(px_reclaim_fork(), -1);
    ck_assert_int_eq(errno, EAGAIN);
    sigset_t now;
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &now), 0);
    ck_assert(!sigismember(&now, SIGTERM));
}

/* ---- detached ------------------------------------------------------------------- */

enum { KEPT = 300 };

static bool is_null(int fd)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat("/dev/null", &b) == 0 && a.st_rdev == b.st_rdev &&
           S_ISCHR(a.st_mode);
}

static void look_detached(void)
{
    const int keep[] = {KEPT, 700};
    char name[16], cwd[16];
    sigset_t mask;
    struct sigaction action;

    px_reclaim_detach("a-name", keep, 2);
    for (int fd = 0; fd < 3; fd++)
        MUST(is_null(fd));
    for (int fd = 3; fd < 1024; fd++)
        MUST((fcntl(fd, F_GETFD) >= 0) == (fd == KEPT || fd == 700));
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

static int detached(void)
{
    ck_assert_int_eq(dup2(STDIN_FILENO, KEPT), KEPT);
    for (int fd = 100; fd < 500; fd += 50) {
        if (fd != KEPT)
            ck_assert_int_eq(dup2(STDIN_FILENO, fd), fd);
    }
    signal(SIGUSR1, on_signal);
    signal(SIGPIPE, SIG_IGN);
    return in_child(look_detached);
}

PX_TEST(a_detached_process_has_nothing_of_its_host)
{
    ck_assert_int_eq(detached(), 0);
}

PX_TEST_LOOP(nor_has_it_without_close_range, 2)
{
    PX_TEST_NEEDS(px_test_deny(SYS_close_range, _i ? EPERM : ENOSYS), "seccomp");
    ck_assert_int_eq(detached(), 0);
}

static void look_with_stderr(void)
{
    const int keep[] = {2, 700};
    struct stat before, after;

    MUST(fstat(2, &before) == 0);
    px_reclaim_detach("a-name", keep, 2);
    MUST(fstat(2, &after) == 0 && before.st_ino == after.st_ino &&
         before.st_dev == after.st_dev);
    MUST(is_null(0) && is_null(1));
}

PX_TEST(standard_error_stays_if_it_is_to_be_kept)
{
    ck_assert_int_eq(in_child(look_with_stderr), 0);
}

static void look_without_streams(void)
{
    const int keep[] = {700};

    close(0);
    close(1);
    close(2);
    px_reclaim_detach("a-name", keep, 1);
    for (int fd = 0; fd < 3; fd++)
        MUST(is_null(fd));
}

PX_TEST(streams_that_were_closed_are_null_too)
{
    ck_assert_int_eq(in_child(look_without_streams), 0);
}

/* ---- the user ------------------------------------------------------------------- */

static bool has_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};

    MUST(syscall(SYS_capget, &head, data) == 0);
    for (int i = 0; i < 2; i++) {
        if (data[i].effective || data[i].permitted || data[i].inheritable)
            return true;
    }
    return false;
}

static void look_become(void)
{
    uid_t uids[3];
    gid_t gids[3], groups[64];

    px_drop_privileges(STRANGER, OTHER_STRANGER);
    MUST(getresuid(&uids[0], &uids[1], &uids[2]) == 0);
    MUST(getresgid(&gids[0], &gids[1], &gids[2]) == 0);
    for (int i = 0; i < 3; i++)
        MUST(uids[i] == STRANGER && gids[i] == OTHER_STRANGER);
    MUST(getgroups(64, groups) == 1 && groups[0] == OTHER_STRANGER);
    MUST(!has_capabilities());
    MUST(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    MUST(prctl(PR_GET_DUMPABLE) == 0);
    MUST(syscall(SYS_setuid, 0) < 0 && syscall(SYS_setgid, 0) < 0);
    MUST(syscall(SYS_setresuid, 0, 0, 0) < 0);
    MUST(syscall(SYS_setgroups, 0, NULL) < 0);
}

PX_TEST(root_becomes_a_user_and_never_returns)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    gid_t more[] = {0, 4, 27};
    ck_assert_int_eq(setgroups(3, more), 0);
    ck_assert_int_eq(in_child(look_become), 0);
}

static void keep_capabilities(void)
{
    MUST(prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP) == 0);
    look_become();
}

PX_TEST(a_host_that_keeps_its_capabilities_has_none_there)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(in_child(keep_capabilities), 0);
}

static void become_stranger(void)
{
    px_drop_privileges(STRANGER, STRANGER);
}

PX_TEST_LOOP(a_step_that_fails_ends_the_process, 8)
{
    static const unsigned steps[] = {SYS_setgroups, SYS_setresgid, SYS_setresuid,
                                     SYS_capset,    SYS_capget,    SYS_getresuid,
                                     SYS_getresgid, SYS_getgroups};

    PX_TEST_NEEDS(geteuid() == 0, "root");
    PX_TEST_NEEDS(px_test_deny(steps[_i], EPERM), "seccomp");
    ck_assert_int_eq(in_child(become_stranger), 126);
}

/* A filter that says it was done. */
PX_TEST_LOOP(a_step_that_only_claims_success_ends_the_process, 5)
{
    static const unsigned steps[] = {SYS_setgroups, SYS_setresgid, SYS_setresuid,
                                     SYS_setuid, SYS_capget};

    PX_TEST_NEEDS(geteuid() == 0, "root");
    PX_TEST_NEEDS(px_test_deny(steps[_i], 0), "seccomp");
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

PX_TEST(a_user_stays_himself_and_becomes_nobody_else)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(in_child(look_same_user), 126);
}

static void become_no_one(void)
{
    px_drop_privileges((uid_t)-1, STRANGER);
}

static void become_no_group(void)
{
    px_drop_privileges(STRANGER, (gid_t)-1);
}

PX_TEST(ids_that_mean_no_change_are_refused)
{
    ck_assert_int_eq(in_child(become_no_one), 126);
    ck_assert_int_eq(in_child(become_no_group), 126);
}

static void look_root(void)
{
    px_drop_privileges(0, STRANGER);
    MUST(geteuid() == 0 && getegid() == STRANGER && getgroups(0, NULL) == 1);
    px_drop_privileges(0, STRANGER);
}

PX_TEST(root_may_stay_root_with_another_group)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(in_child(look_root), 0);
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
        confined_to(in("a/file"), PX_RM_FILE),
        confined_to(in("b/tree"), PX_RM_DIR),
        confined_to(in("none/there"), PX_RM_DIR),
        confined_to(in("c/kept"), PX_RM_KEEP),
    };

    px_drop_privileges(geteuid(), getegid());
    px_reclaim_confine(items, PX_COUNT(items));
    MUST(unlink(in("a/file")) == 0);
    MUST(unlink(in("b/tree/deep/file")) == 0 && rmdir(in("b/tree/deep")) == 0 &&
         rmdir(in("b/tree")) == 0);
    MUST(unlink(in("c/kept")) < 0 && errno == EACCES);
    MUST(open(in("a/new"), O_CREAT | O_WRONLY, 0600) < 0 && errno == EACCES);
    MUST(open(in("c/kept"), O_WRONLY) < 0 && errno == EACCES);
    MUST(mkdir(in("a/new"), 0700) < 0 && errno == EACCES);
    MUST(symlink("x", in("a/new")) < 0 && errno == EACCES);
    MUST(rename(in("c/kept"), in("a/kept")) < 0);
    MUST(link(in("c/kept"), in("a/kept")) < 0);
    MUST(open(in("c/kept"), O_RDONLY) >= 0);
    MUST(open(in("c"), O_RDONLY | O_DIRECTORY) >= 0);
}

static void make_trees(void)
{
    make_dir(in("a"));
    make_dir(in("b"));
    make_dir(in("c"));
    make_dir(in("b/tree"));
    make_dir(in("b/tree/deep"));
    make_file(in("a/file"));
    make_file(in("b/tree/deep/file"));
    make_file(in("c/kept"));
}

PX_TEST(who_is_confined_can_remove_his_items_and_do_nothing_else)
{
    PX_TEST_NEEDS(has_landlock(), "Landlock");
    make_trees();
    ck_assert_int_eq(in_child(look_confined), 0);
}

static void look_not_confined(void)
{
    const struct px_rm_item items[] = {confined_to(in("a/file"), PX_RM_FILE)};

    px_reclaim_confine(items, 1);
    MUST(unlink(in("a/file")) == 0);
}

PX_TEST_LOOP(a_kernel_without_landlock_confines_nobody, 2)
{
    make_trees();
    PX_TEST_NEEDS(px_test_deny(SYS_landlock_create_ruleset, _i ? EOPNOTSUPP : ENOSYS),
                  "seccomp");
    ck_assert_int_eq(in_child(look_not_confined), 0);
}

PX_TEST_LOOP(half_confined_is_the_end, 2)
{
    PX_TEST_NEEDS(has_landlock(), "Landlock");
    make_trees();
    PX_TEST_NEEDS(
        px_test_deny(_i ? SYS_landlock_add_rule : SYS_landlock_restrict_self, EPERM),
        "seccomp");
    ck_assert_int_eq(in_child(look_not_confined), 125);
    ck_assert(is_there(in("a/file")));
}

static void confine_often(void)
{
    const struct px_rm_item items[] = {confined_to(in("a/file"), PX_RM_FILE)};

    for (int i = 0; i < 20; i++)
        px_reclaim_confine(items, 1);
    MUST(unlink(in("a/file")) == 0);
}

PX_TEST(a_host_that_has_confined_itself_to_the_limit_is_no_obstacle)
{
    PX_TEST_NEEDS(has_landlock(), "Landlock");
    make_trees();
    PX_TEST_NEEDS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    ck_assert_int_eq(in_child(confine_often), 0);
}

int main(void)
{
    return px_test_run("reclaim/child", make_top, remove_top);
}
