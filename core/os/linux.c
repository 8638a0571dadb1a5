/* SPDX-License-Identifier: BSD-3-Clause */
/* Linux: threads that wait, sets of descriptors, processes, memory and rights. */
#include "core/os/os.h"

#include "core/base/attr.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/landlock.h>
#include <linux/posix_types.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Newer than the headers of some supported systems. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open        434
#endif
#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef WCOREFLAG
#define WCOREFLAG 0x80 /* of the kernel; musl has no name for the flag */
#endif

enum { TO_GROUP = 1 << 2 }; /* PIDFD_SIGNAL_PROCESS_GROUP, since Linux 6.9 */

/* ---- futex ----------------------------------------------------------------------- */

void px_os_futex_wait(const _Atomic int *word, int seen, unsigned ms)
{
    /* The kernel's timespec; on 32-bit machines libc's may have wider members. */
    const __kernel_long_t t[] = {ms / 1000, ms % 1000 * 1000000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, t, NULL, 0);
}

bool px_os_futex_wait_both(const _Atomic int *word, int seen, const void *shared,
                           uint32_t shared_seen, unsigned ms)
{
#ifdef SYS_futex_waitv /* Linux 5.16 */
    struct futex_waitv on[] = {
        {(uint64_t)seen, (uintptr_t)word, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0},
        {shared_seen, (uintptr_t)shared, FUTEX_32, 0}};
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = now.tv_nsec + (int64_t)ms * 1000000;
    int64_t until[] = {now.tv_sec + ns / 1000000000, ns % 1000000000};
    return syscall(SYS_futex_waitv, on, PX_COUNT(on), 0, until, CLOCK_MONOTONIC) >= 0 ||
           errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR || errno == EFAULT;
#else
    (void)word, (void)seen, (void)shared, (void)shared_seen, (void)ms;
    return false;
#endif
}

void px_os_futex_wake(const void *word, bool shared)
{
    syscall(SYS_futex, word, shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE,
            shared ? INT_MAX : 1, NULL, NULL, 0);
}

/* ---- epoll ----------------------------------------------------------------------- */

int px_os_set_create(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

int px_os_set_change(int set, enum px_os_change what, int fd, unsigned ready, void *arg)
{
    struct epoll_event e = {.events = ready, .data.ptr = arg};

    return epoll_ctl(set, (int)what, fd, &e);
}

int px_os_set_wait(int set, void *args[2], int n, unsigned *ready, int ms)
{
    struct epoll_event e[2];
    const int found = epoll_wait(set, e, n, ms);

    for (int i = 0; i < found; i++)
        args[i] = e[i].data.ptr;
    *ready = found > 0 ? e[0].events : 0;
    return found;
}

/* ---- processes ------------------------------------------------------------------- */

/* The order of clone's arguments depends on the machine, but all are zero. */
pid_t px_os_fork_unseen(void)
{
    return (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
}

int px_os_pidfd_open(int64_t pid)
{
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

int px_os_pidfd_signal(int pidfd, int signum, bool group)
{
    if (pidfd < 0)
        return ENOSYS;
    return syscall(SYS_pidfd_send_signal, pidfd, signum, NULL, group ? TO_GROUP : 0)
               ? errno
               : 0;
}

/* Returns the status of a child that was reaped elsewhere. Since Linux 6.15 the kernel
 * keeps the status until the pidfd is closed. */
static int recall_status(int pidfd, int *status)
{
    struct { /* the first 64 bytes of struct pidfd_info */
        uint64_t mask, cgroup;
        uint32_t ids[11];
        int32_t exit_code;
    } info = {.mask = 1 << 3}; /* PIDFD_INFO_EXIT */

    if (pidfd < 0 || ioctl(pidfd, _IOWR(0xff, 11, info), &info) < 0 ||
        !(info.mask & 1 << 3))
        return -1;
    *status = info.exit_code;
    return 2;
}

/* The kernel's struct rusage. On 32-bit machines libc's may have wider times. */
struct kernel_usage {
    struct {
        __kernel_long_t s;
        __kernel_suseconds_t us;
    } user, system;
    __kernel_long_t counts[14];
};

static void take_usage(const struct kernel_usage *from, struct rusage *to)
{
    *to = (struct rusage){.ru_utime = {from->user.s, from->user.us},
                          .ru_stime = {from->system.s, from->system.us}};
    memcpy((char *)to + offsetof(struct rusage, ru_maxrss), from->counts,
           sizeof(from->counts));
}

/* Uses the system call, because libc's waitid does not return the usage. */
int px_os_reap(pid_t pid, int pidfd, int *status, struct rusage *usage)
{
    const int how = WEXITED | WNOHANG | __WALL;
    struct kernel_usage taken;
    siginfo_t i = {0};
    long r = -1;

    errno = EINVAL;
    if (pidfd >= 0)
        r = PX_RETRY(syscall(SYS_waitid, P_PIDFD, pidfd, &i, how, &taken));
    if (r < 0 && errno == EINVAL) /* Linux 5.3 has pidfds, but cannot wait for them */
        r = PX_RETRY(syscall(SYS_waitid, P_PID, pid, &i, how, &taken));
    if (r < 0)
        return recall_status(pidfd, status);
    if (i.si_pid == 0)
        return 0;
    take_usage(&taken, usage);
    *status = i.si_code == CLD_EXITED   ? i.si_status << 8
              : i.si_code == CLD_DUMPED ? i.si_status | WCOREFLAG
                                        : i.si_status;
    return 1;
}

bool px_os_end_with_parent(int signum)
{
    return prctl(PR_SET_PDEATHSIG, signum, 0, 0, 0) == 0;
}

void px_os_name_thread(const char *name)
{
    (void)prctl(PR_SET_NAME, name);
}

/* The C library refuses to set the signals that it keeps. */
void px_os_reset_signals(void)
{
    enum { SET_SIZE = (NSIG + 62) / 64 * 8 };
    static const long by_default[16]; /* all zero on every machine */

    for (int signum = 1; signum < NSIG; signum++)
        syscall(SYS_rt_sigaction, signum, by_default, NULL, SET_SIZE,
                SET_SIZE); /* the fourth argument, on some machines the fifth */
}

bool px_os_trace_me(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

bool px_os_untrace_stopped(pid_t pid)
{
    return ptrace(PTRACE_DETACH, pid, NULL, SIGSTOP) == 0;
}

bool px_os_is_setuid(void)
{
    return getauxval(AT_SECURE) != 0;
}

bool px_os_peer(int fd, struct px_os_peer *peer)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || len != sizeof(cred))
        return false;
    *peer = (struct px_os_peer){.pid = cred.pid, .uid = cred.uid, .gid = cred.gid};
    return true;
}

char *px_os_program_file(void)
{
    return realpath("/proc/self/exe", NULL);
}

const char *px_os_exec_name(void)
{
    return (const char *)(uintptr_t)getauxval(AT_EXECFN);
}

/* ---- memory ---------------------------------------------------------------------- */

void px_os_populate(void *at, size_t n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)at & ~(page - 1);
    const uintptr_t to = ((uintptr_t)at + n + page - 1) & ~(page - 1);

    if (n > 0)
        (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

bool px_os_wipe_on_fork(void *page, size_t n)
{
#ifdef MADV_WIPEONFORK
    return madvise(page, n, MADV_WIPEONFORK) == 0;
#else
    (void)page, (void)n;
    return false;
#endif
}

uint64_t px_os_find_hole(size_t size_b)
{
    enum { ALIGN_B = 2 << 20 };
    FILE *maps = fopen("/proc/self/maps", "re");
    uint64_t last = 0, begin, end, hole = 0, hole_b = 0;
    char line[512];

    while (maps && fgets(line, sizeof(line), maps)) {
        char *at;

        begin = strtoull(line, &at, 16);
        end = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
        if (end <= begin || *at != ' ' || begin >> 63)
            continue; /* the rest of a long line; a page of the kernel */
        if (last && begin > last && begin - last > hole_b) {
            hole_b = begin - last;
            hole = last;
        }
        last = end > last ? end : last;
    }
    if (maps)
        fclose(maps);
    return hole_b / 4 > size_b ? (hole + hole_b / 2) & ~(uint64_t)(ALIGN_B - 1) : 0;
}

void px_os_trim(void)
{
#ifdef __GLIBC__ /* other libraries return memory themselves */
    malloc_trim(0);
#endif
}

/* ---- rights, in a process with one thread ---------------------------------------- */

/* Numbers of the system calls that set ids. The C library's functions would wait for
 * threads that exist in the parent only. They would also take locks that no thread
 * releases here. On 32-bit systems the plain calls take 16-bit ids. */
#ifdef SYS_setresuid32
#define NR_OF(call) SYS_##call##32
#else
#define NR_OF(call) SYS_##call
#endif

bool px_os_set_ids(uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
    return syscall(NR_OF(setgroups), n, groups) == 0 &&
           syscall(NR_OF(setresgid), gid, gid, gid) == 0 &&
           syscall(NR_OF(setresuid), uid, uid, uid) == 0;
}

/* The kernel drops capabilities with root's uid unless the host asked for
 * PR_SET_KEEPCAPS. */
bool px_os_drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}},
                                  left[PX_COUNT(none)];
    const uid_t same = (uid_t)-1;
    bool is_bare = true;

    memset(left, 0xff, sizeof(left)); /* assume all until capget has answered */
    if (syscall(SYS_capset, &head, none) || syscall(SYS_capget, &head, left))
        return false;
    for (size_t i = 0; i < PX_COUNT(left); i++)
        is_bare &= !left[i].effective && !left[i].permitted && !left[i].inheritable;
    return is_bare && syscall(NR_OF(setuid), 0L) < 0 &&
           syscall(NR_OF(setresuid), same, 0L, same) < 0;
}

bool px_os_refuse_new_rights(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0;
}

bool px_os_hide_memory(void)
{
    return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) == 0;
}

/* ---- Landlock -------------------------------------------------------------------- */

/* All rights that change or run something, except removal. Truncation by path and
 * device requests are not restricted, because Landlock would then check every opened
 * folder as well. LANDLOCK_ACCESS_FS_REFER exists from version 2 on. */
static const uint64_t removal = LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE,
                      changes = LANDLOCK_ACCESS_FS_EXECUTE |
                                LANDLOCK_ACCESS_FS_WRITE_FILE |
                                LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR |
                                LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                LANDLOCK_ACCESS_FS_MAKE_SYM,
                      moves = LANDLOCK_ACCESS_FS_REFER;

int px_os_confine_begin(bool removes)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                             LANDLOCK_CREATE_RULESET_VERSION);
    const struct landlock_ruleset_attr attr = {
        .handled_access_fs = changes | (abi >= 2 ? moves : 0) |
                             (removes ? removal : 0)};

    return abi < 1 /* unknown, switched off or not permitted */
               ? -1
               : (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

bool px_os_confine_allow(int rules, int folder)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = removal,
                                              .parent_fd = folder};

    return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule,
                   0) == 0;
}

bool px_os_confine(int rules)
{
    return syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}
