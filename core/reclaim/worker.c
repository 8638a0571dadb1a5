/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs in a worker is async-signal-safe. */
#include "core/reclaim/worker.h"

#include "core/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum {
    N_STREAMS = 3, /* 0, 1 and 2 are no place for anything else */
    TELL_MS = 1000,
    STOP_MS = 1000,
    NAP_US = 500,
};

#define MSG_B offsetof(struct px_worker_msg, line) /* without a line */

/* ---- msg ------------------------------------------------------------------------ */

int px_worker_socket(int ends[2])
{
    int made[2];
    int errnum = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, made) < 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        if (made[i] >= N_STREAMS)
            continue;
        int lifted = fcntl(made[i], F_DUPFD_CLOEXEC, N_STREAMS);
        if (lifted < 0) {
            errnum = errno;
            break;
        }
        close(made[i]);
        made[i] = lifted;
    }
    if (!errnum && fcntl(made[0], F_SETFL, O_NONBLOCK) < 0)
        errnum = errno;
    if (errnum) {
        close(made[0]);
        close(made[1]);
        return errnum;
    }
    memcpy(ends, made, sizeof(made));
    return 0;
}

static bool send_msg(int fd, const struct px_worker_msg *msg, size_t size, int flags)
{
    ssize_t n;

    do {
        n = send(fd, msg, size, MSG_NOSIGNAL | flags);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

static bool is_good(const struct px_worker_msg *msg, size_t size)
{
    if (size < MSG_B)
        return false;
    if (msg->type == PX_WORKER_ENDED)
        return size == MSG_B;
    return msg->type == PX_WORKER_LINE && size > MSG_B &&
           msg->line[size - MSG_B - 1] == '\0';
}

bool px_worker_is_transient(int errnum)
{
    return errnum == EINTR || errnum == EAGAIN || errnum == EWOULDBLOCK ||
           errnum == ENOMEM || errnum == ENOBUFS;
}

int px_worker_read(int fd, struct px_worker_msg *msg)
{
    for (;;) {
        ssize_t n = recv(fd, msg, sizeof(*msg), MSG_DONTWAIT);

        if (n > 0 && is_good(msg, (size_t)n))
            return 1;
        if (n == 0)
            return -1;
        if (n < 0 && errno != EINTR)
            return px_worker_is_transient(errno) ? 0 : -1;
    }
}

/* ---- telling -------------------------------------------------------------------- */

static const char *reason(enum px_rm_why why, int errnum)
{
    const char *text = NULL;

    switch (why) {
    case PX_RM_ASKED:
        return NULL;
    case PX_RM_FOREIGN:
        return "of another user or group";
    case PX_RM_MOUNT:
        return "a mount point";
    case PX_RM_LINK:
        return "a symbolic link is on the way";
    case PX_RM_REFUSED:
        return "such a thing is never removed";
    case PX_RM_MOVED:
        return "moved meanwhile";
    case PX_RM_FAILED:
        break;
    }
#if __GLIBC_PREREQ(2, 32)
    text = strerrordesc_np(errnum); /* unlike strerror, a constant */
#else
    (void)errnum;
#endif
    return text ? text : "the system refuses";
}

/* Cuts what is too long, and leaves room for what follows. */
static size_t append(char *line, size_t at, const char *text, size_t room)
{
    for (; *text && at < PX_WORKER_LINE_B - 1 - room; text++) {
        unsigned char c = (unsigned char)*text;
        line[at++] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    return at;
}

/* Whoever reads descriptor 2 may have stopped: he is waited for once. */
static bool write_line(const struct px_worker_msg *msg, size_t len)
{
    struct pollfd wanted = {.fd = PX_WORKER_REPORT_FD, .events = POLLOUT};

    if (poll(&wanted, 1, TELL_MS) <= 0)
        return false;
    if (send_msg(PX_WORKER_REPORT_FD, msg, MSG_B + len + 1, MSG_DONTWAIT))
        return true;
    if (errno != ENOTSOCK)
        return errno == EPIPE || errno == ECONNRESET; /* nobody to wait for */
    char text[PX_WORKER_LINE_B];
    memcpy(text, msg->line, len);
    text[len] = '\n';
    return write(PX_WORKER_REPORT_FD, text, len + 1) == (ssize_t)len + 1;
}

void px_worker_report(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    enum { REASON_B = 128 };
    struct px_worker_reporter *teller = arg;
    struct px_worker_msg msg = {.type = PX_WORKER_LINE};
    const char *text = reason(why, errnum);
    int was = errno;

    if (!text || teller->in_vain)
        return;
    size_t len = append(msg.line, 0, "cannot remove ", REASON_B);
    len = append(msg.line, len, path, REASON_B);
    len = append(msg.line, len, ": ", 0);
    len = append(msg.line, len, text, 0);
    msg.line[len] = '\0';
    teller->in_vain = !write_line(&msg, len);
    errno = was;
}

/* ---- workers -------------------------------------------------------------------- */

/* Not before the detaching, which clears it. */
static void bind_to(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
        _exit(EXIT_FAILURE);
}

static PX_NORETURN void work(const struct px_reclaim *s,
                             const struct px_worker_order *order, int msgs,
                             pid_t parent)
{
    static const int report_fd = PX_WORKER_REPORT_FD;
    struct px_worker_reporter reporter = {0};
    struct px_worker_msg msg = {.type = PX_WORKER_ENDED, .id = order->id};
    struct px_reclaim mine = *s;
    bool has_journal = mine.journal >= 0 && !order->tmpdir;
    const int keep[] = {has_journal && mine.journal < msgs ? mine.journal : msgs,
                        mine.journal > msgs ? mine.journal : msgs};

    px_reclaim_detach("tenon-sweep", keep, has_journal ? 2 : 1);
    if (parent)
        bind_to(parent);
    if (mine.told && dup2(msgs, PX_WORKER_REPORT_FD) < 0)
        mine.told = NULL;
    mine.arg = &reporter;
    mine.keep = &report_fd;
    mine.n_keep = mine.told ? 1 : 0;
    msg.errnum = order->tmpdir ? px_reclaim_tmpdir(&mine, order->tmpdir, &msg.totals)
                               : px_reclaim_scope(&mine, order->scope, &msg.totals);
    _exit(!send_msg(msgs, &msg, MSG_B, 0));
}

pid_t px_worker_start(const struct px_reclaim *s, const struct px_worker_order *order,
                      int msgs, bool bound)
{
    const pid_t parent = bound ? getpid() : 0;
    pid_t pid = px_reclaim_fork();

    if (pid == 0)
        work(s, order, msgs, parent);
    return pid;
}

bool px_reclaim_reap(pid_t pid, int *status)
{
    pid_t r;

    *status = -1;
    do {
        r = waitpid(pid, status, WNOHANG | __WALL);
    } while (r < 0 && errno == EINTR);
    return r != 0;
}

bool px_reclaim_reap_until(pid_t pid, uint64_t deadline_ms, int *status)
{
    const struct timespec nap = {.tv_nsec = NAP_US * 1000L};

    while (!px_reclaim_reap(pid, status)) {
        if (px_clock_ms() >= deadline_ms)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

bool px_reclaim_reap_within(pid_t pid, uint64_t ms)
{
    int status;

    return px_reclaim_reap_until(pid, px_clock_ms() + ms, &status);
}

/* The group has its number for as long as the child is not reaped: that it has ended
 * has to be known before. */
bool px_worker_reap(pid_t pid, int *status)
{
    siginfo_t info = {0};
    int r;

    do {
        r = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
    } while (r < 0 && errno == EINTR);
    if (r == 0 && info.si_pid != pid)
        return false;
    if (r == 0)
        kill(-pid, SIGKILL);
    return px_reclaim_reap(pid, status);
}

/* A process with a signal to kill it pending makes no children, so that those it has
 * are in its group. */
void px_worker_stop(pid_t pid)
{
    kill(pid, SIGKILL);
    kill(-pid, SIGKILL);
    (void)px_reclaim_reap_within(pid, STOP_MS);
}
