/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that is killed between any two system calls that change the file system. The test traces
 * the server and kills it after the first, the second, ... such call. Nothing remains once the
 * janitor or the next server has cleaned up. PX_TEST_STEP=1 kills after every call. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/types/type.h"
#include "pmix_server.h"
#include "others.h"
#include "px_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

enum {
    NOBODY = PX_TEST_OTHER,
    STEP = 5,          /* number of calls from one kill to the next */
    TIMEOUT_MS = 5000, /* for a busy machine */
    MAX_TRACEES = 64,
};

static const char *top;

static void setup(void)
{
    top = px_test_dir();
    ok(chmod(top, 0777));
    setenv("TMPDIR", top, 1);
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
}

/* Returns the first name in the folder, or NULL if the folder is empty. */
static const char *found(void)
{
    static char name[256];
    DIR *d = opendir(top);

    ck_assert_ptr_nonnull(d);
    name[0] = '\0';
    for (const struct dirent *e; !name[0] && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            px_str_copy(name, sizeof(name), e->d_name);
    closedir(d);
    return name[0] ? name : NULL;
}

/* Detaches children that the server forked as it was killed. Such children stop at their start,
 * after the server's end. */
static void let_late_ones_go(void)
{
    pid_t tid;
    int status;

    while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
        if (WIFSTOPPED(status))
            ptrace(PTRACE_DETACH, tid, NULL, 0);
}

/* ---- the server ---------------------------------------------------------------------------------- */

static void become(uid_t uid)
{
    if (uid && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
        _exit(90);
}

/* Runs a server that makes all it can: absent folders, every file, a socket. */
static void live(void)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTOFREE char *own = px_strf("%s/absent/own", top);
    PX_AUTOFREE char *file = px_strf("%s/new/launcher", top);
    PX_AUTOFREE char *system = px_strf("%s/system/absent", top);
    static const char *const flags[] = {
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SESSION_SUPPORT,
        PMIX_SERVER_TOOL_SUPPORT, PMIX_SERVER_SCHEDULER};
    bool yes = true;

    for (size_t i = 0; i < PX_COUNT(flags); i++)
        px_infos_add(&infos, flags[i], &yes, PMIX_BOOL);
    px_infos_add(&infos, PMIX_SERVER_TMPDIR, own, PMIX_STRING);
    px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, system, PMIX_STRING);
    px_infos_add(&infos, PMIX_LAUNCHER_RENDEZVOUS_FILE, file, PMIX_STRING);
    if (PMIx_server_init(NULL, infos.v, infos.n))
        _exit(91);
    PMIx_server_finalize();
    _exit(0);
}

/* ---- tracing ---------------------------------------------------------------------------------------- */

struct tracee {
    pid_t tid;
    bool in_change; /* the present call changes files */
    bool own;       /* thread of the server; otherwise a process that cleans up */
};

struct trace {
    pid_t server;
    struct tracee tracees[MAX_TRACEES];
    size_t n;
    unsigned calls; /* number of calls that changed the file system */
};

static bool is_of_the_server(pid_t server, pid_t tid)
{
    PX_AUTOFREE char *path = px_strf("/proc/%d/task/%d", (int)server, (int)tid);
    struct stat st;

    return stat(path, &st) == 0;
}

static struct tracee *tracee_of(struct trace *t, pid_t tid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->tracees[i].tid == tid)
            return &t->tracees[i];
    ck_assert_uint_lt(t->n, MAX_TRACEES);
    t->tracees[t->n] = (struct tracee){.tid = tid,
                                       .own = is_of_the_server(t->server, tid)};
    return &t->tracees[t->n++];
}

static bool changes_files(const struct __ptrace_syscall_info *info)
{
    switch (info->entry.nr) {
    case SYS_openat:
        return info->entry.args[2] & O_CREAT;
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_linkat:
    case SYS_symlinkat:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_write:
    case SYS_ftruncate:
    case SYS_fchmod:
    case SYS_flock:
    case SYS_bind:
    case SYS_clone:
#ifdef SYS_mkdir
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_unlink:
    case SYS_link:
    case SYS_rename:
#endif
        return true;
    default:
        return false;
    }
}

/* Handles the beginning or the end of a call. */
static void on_call(struct trace *t, struct tracee *who)
{
    struct __ptrace_syscall_info info = {0};

    if (ptrace(PTRACE_GET_SYSCALL_INFO, who->tid, sizeof(info), &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        who->in_change = changes_files(&info);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && who->in_change) {
        who->in_change = false;
        t->calls++;
    }
}

static void on_stop(struct trace *t, struct tracee *who, int status)
{
    int signum = WSTOPSIG(status);
    unsigned long born;

    if (signum == (SIGTRAP | 0x80))
        on_call(t, who);
    else if (status >> 16 && ptrace(PTRACE_GETEVENTMSG, who->tid, NULL, &born) == 0)
        (void)tracee_of(t, (pid_t)born);
    if (signum == (SIGTRAP | 0x80) || signum == SIGTRAP || signum == SIGSTOP)
        signum = 0;
    ptrace(PTRACE_SYSCALL, who->tid, NULL, signum);
}

/* Detaches the processes that clean up, so that they do not stay stopped. */
static void let_all_go(struct trace *t)
{
    while (t->n > 0) {
        struct tracee *last = &t->tracees[t->n - 1];

        if (!last->own && waitpid(last->tid, NULL, __WALL) == last->tid)
            ptrace(PTRACE_DETACH, last->tid, NULL, 0);
        t->n--;
    }
}

/* Kills a server after this number of calls. Returns false if the server ended earlier. */
static bool kill_after(unsigned calls, uid_t uid)
{
    struct trace t = {.server = fork()};
    int status;
    pid_t tid;

    if (t.server == 0) {
        become(uid);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(92);
        raise(SIGSTOP);
        live();
    }
    ck_assert_int_eq(waitpid(t.server, &status, __WALL), t.server);
    ck_assert_msg(WIFSTOPPED(status), "status %x", (unsigned)status);
    ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, t.server, NULL,
                            PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                                PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK),
                     0);
    ptrace(PTRACE_SYSCALL, t.server, NULL, 0);
    while ((tid = waitpid(-1, &status, __WALL)) > 0 &&
           (tid != t.server || WIFSTOPPED(status))) {
        struct tracee *who = tracee_of(&t, tid);

        if (!WIFSTOPPED(status) || !who->own) {
            /* No effect if the process has ended. */
            ptrace(PTRACE_DETACH, tid, NULL, 0);
            *who = t.tracees[--t.n];
        } else if (t.calls < calls) {
            on_stop(&t, who, status);
        }
        if (t.calls >= calls)
            kill(t.server, SIGKILL);
    }
    let_all_go(&t);
    if (tid == t.server && WIFEXITED(status)) {
        ck_assert_int_eq(WEXITSTATUS(status), 0);
        return false;
    }
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %x",
                  (unsigned)status);
    return true;
}

static unsigned step(void)
{
    const char *text = getenv("PX_TEST_STEP");
    uint64_t n;

    return px_str_to_u64(text, 1, 1000, &n) ? (unsigned)n : STEP;
}

static bool tracing_works(void)
{
    struct __ptrace_syscall_info info;
    pid_t pid = fork();
    bool works;

    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(1);
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    works = WIFSTOPPED(status) &&
            ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0;
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return works;
}

/* ---- clean-up --------------------------------------------------------------------------------------- */

/* Kills servers of a user after some, more, ... calls. clean_up must leave nothing each time. */
static void kill_at_each_step(uid_t uid, void (*clean_up)(void))
{
    unsigned calls = 1 + (unsigned)getpid() % step(), n = 0;

    for (; kill_after(calls, uid); calls += step(), n++) {
        clean_up();
        ck_assert_msg(!found(), "killed after %u calls: %s is left", calls, found());
    }
    ck_assert_uint_gt(calls, 60);
    ck_assert(!found());
    printf("killed at %u of %u calls\n", n, calls);
}

static void await_empty(void)
{
    uint64_t began = px_clock_ms();

    while (found() && px_clock_ms() < began + TIMEOUT_MS) {
        let_late_ones_go();
        (void)nanosleep(&(struct timespec){.tv_nsec = 2 * 1000000}, NULL);
    }
}

PX_TEST(nothing_is_left_with_the_janitor)
{
    PX_TEST_NEEDS(tracing_works(), "ptrace");
    setenv("PMIX_MCA_pcleanup", "janitor", 1);
    kill_at_each_step(0, await_empty);
}

/* Starts another server, which ends at once. */
static void start_another(uid_t uid)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        become(uid);
        if (PMIx_server_init(NULL, NULL, 0))
            _exit(93);
        PMIx_server_finalize();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "status %x", (unsigned)status);
}

/* A child of the killed server holds the server's lock until the child has ended. */
static void start_others(void)
{
    uint64_t began = px_clock_ms();

    while (found() && px_clock_ms() < began + TIMEOUT_MS) {
        let_late_ones_go();
        start_another(NOBODY);
    }
}

PX_TEST(nothing_is_left_after_the_next_server_without_it)
{
    PX_TEST_NEEDS(px_test_others_load_it(), "root, and a build that others can read");
    PX_TEST_NEEDS(tracing_works(), "ptrace");
    setenv("PMIX_MCA_pcleanup", "inproc", 1);
    kill_at_each_step(NOBODY, start_others);
}

PX_TEST_MAIN("server/killed", setup, NULL)
