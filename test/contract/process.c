/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of tests on their own process, on other processes and on files. */
#include "process.h"

#include "core/base/attr.h"
#include "core/base/buf.h"
#include "core/base/clock.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 1 };

/* ---- this process ---------------------------------------------------------------- */

/* Limits the descriptors. The limit applies to the number itself, so gaps below it are
 * filled first. */
void process_limit_fds(size_t n)
{
    static struct rlimit before;
    struct rlimit limit;
    int lowest;

    if (before.rlim_cur == 0)
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    if (n != SIZE_MAX) {
        int last = -1;
        for (size_t i = 0; i <= n; i++) { /* the numbers of the next descriptors */
            lowest = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, last + 1);
            ck_assert_int_ge(lowest, 0);
            close(lowest);
            last = lowest;
        }
        limit.rlim_cur = (rlim_t)last;
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

void process_pause(uint64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000),
                            .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

void process_become_other(void)
{
    if (setgroups(0, NULL) < 0 || setresgid(OTHER_UID, OTHER_UID, OTHER_UID) < 0 ||
        setresuid(OTHER_UID, OTHER_UID, OTHER_UID) < 0 || geteuid() != OTHER_UID)
        abort();
}

static bool raise_loopback(void)
{
    struct ifreq lo = {.ifr_name = "lo"};
    PX_AUTOCLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo) < 0)
        return false;
    lo.ifr_flags |= IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &lo) == 0;
}

bool process_own_network(unsigned first)
{
    FILE *range;

    if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0 || !raise_loopback())
        return false;
    range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "we");
    if (!range)
        return false;
    bool is_written = fprintf(range, "%u %u\n", first, first + 1) > 0;
    return fclose(range) == 0 && is_written;
}

/* ---- other processes ------------------------------------------------------------- */

pid_t process_fork(int (*run)(void *arg), void *arg)
{
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(run(arg));
    return pid;
}

int process_wait(pid_t pid, uint64_t timeout_ms)
{
    const uint64_t deadline_ms = px_clock_ms() + timeout_ms;
    int status = 0;
    pid_t r;

    while ((r = waitpid(pid, &status, WNOHANG)) == 0) {
        if (px_clock_ms() >= deadline_ms) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            ck_abort_msg("a child did not end in time");
        }
        process_pause(NAP_MS);
    }
    ck_assert_int_eq(r, pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- files ----------------------------------------------------------------------- */

char *process_read_end(int fd, uint64_t timeout_ms)
{
    const uint64_t deadline_ms = px_clock_ms() + timeout_ms;
    PX_AUTO(px_buf) all = {0};

    for (;;) {
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        uint64_t now = px_clock_ms();
        char part[4096];

        if (poll(&wanted, 1, deadline_ms > now ? (int)(deadline_ms - now) : 0) == 0)
            ck_abort_msg("a pipe does not end; so far: %.*s", (int)all.len,
                         all.data ? (char *)all.data : "");
        ssize_t n = read(fd, part, sizeof(part));
        ck_assert_int_ge(n, 0);
        if (n == 0)
            break;
        ck_assert_int_eq(px_buf_add(&all, part, (size_t)n), 0);
    }
    ck_assert_int_eq(px_buf_add(&all, "", 1), 0);
    return (char *)px_buf_take(&all).data;
}

char *process_read_file(const char *path, size_t *size)
{
    PX_AUTO(px_buf) all = {0};
    char part[4096];
    size_t n;
    FILE *f = fopen(path, "re");

    ck_assert_msg(f != NULL, "cannot open %s: %m", path);
    while ((n = fread(part, 1, sizeof(part), f)) > 0)
        ck_assert_int_eq(px_buf_add(&all, part, n), 0);
    fclose(f);
    if (size)
        *size = all.len;
    ck_assert_int_eq(px_buf_add(&all, "", 1), 0);
    return (char *)px_buf_take(&all).data;
}

void process_write_file(const char *path, const char *text, mode_t mode)
{
    PX_AUTOCLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    ck_assert_msg(fd >= 0, "cannot make %s: %m", path);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    ck_assert_int_eq(fchmod(fd, mode), 0); /* independent of the umask */
}
