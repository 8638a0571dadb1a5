/* SPDX-License-Identifier: BSD-3-Clause */
/* File descriptors. Whole transfers wait in poll, not in read or write, so deadlines
 * also hold for blocking descriptors. */
#include "core/base/fd.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

/* The kernel's default maximum of RLIMIT_NOFILE. Closing this many numbers takes 0.1
 * s. */
enum { MAX_FD = 1 << 20 };

static pmix_status_t add_flag(int fd, int get, int set, int flag)
{
    int flags = fcntl(fd, get);

    if (flags < 0 || ((flags & flag) != flag && fcntl(fd, set, flags | flag) < 0))
        return px_status_of_errno(errno);
    return PMIX_SUCCESS;
}

bool px_fd_socket_is_served(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    PX_AUTOCLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(address.sun_path, path, strlen(path));
    return fd >= 0 && (connect(fd, (const void *)&address, sizeof(address)) == 0 ||
                       errno == EPROTOTYPE); /* a socket of another type */
}

pmix_status_t px_fd_nonblock(int fd)
{
    return add_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK);
}

pmix_status_t px_fd_cloexec(int fd)
{
    return add_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC);
}

void px_fd_make_room(int n)
{
    struct rlimit limit;
    int low = eventfd(0, EFD_CLOEXEC);

    if (low < 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)n)
        n = (int)limit.rlim_cur;
    int high = fcntl(low, F_DUPFD_CLOEXEC, n - 1);
    if (high >= 0)
        close(high);
    close(low);
}

pmix_status_t px_fd_await(int fd, short events, uint64_t deadline_ms)
{
    struct pollfd wanted = {.fd = fd, .events = events};

    for (;;) {
        int n = poll(&wanted, 1, deadline_ms ? px_clock_left(deadline_ms) : -1);

        if (n > 0) /* the transfer that follows gets an error */
            return PMIX_SUCCESS;
        if (n < 0 && errno != EINTR)
            return px_status_of_errno(errno);
        if (n == 0 && px_clock_ms() >= deadline_ms)
            return PMIX_ERR_TIMEOUT;
    }
}

/* Blocks SIGPIPE and SIGXFSZ in this thread and consumes the signal that the write
 * raised. Pipes and files at RLIMIT_FSIZE have no MSG_NOSIGNAL, and a library must not
 * change signal handlers. A partial write can raise SIGPIPE, too. */
ssize_t px_fd_writev(int fd, const struct iovec *v, int n)
{
    sigset_t ours, mask_was, pending_was;

    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigpending(&pending_was);
    pthread_sigmask(SIG_BLOCK, &ours, &mask_was);

    ssize_t done = PX_RETRY(writev(fd, v, n));
    int errnum = errno;
    bool is_cut = done < 0 ? errnum == EPIPE : (size_t)done < v->iov_len;
    int raised = is_cut ? SIGPIPE : done < 0 && errnum == EFBIG ? SIGXFSZ : 0;
    if (raised && !sigismember(&pending_was, raised)) {
        sigemptyset(&ours);
        sigaddset(&ours, raised);
        (void)PX_RETRY(sigtimedwait(&ours, NULL, &(struct timespec){0}));
    }
    pthread_sigmask(SIG_SETMASK, &mask_was, NULL);
    errno = errnum;
    return done;
}

ssize_t px_fd_write(int fd, const void *bytes, size_t n)
{
    return px_fd_writev(fd, &(struct iovec){(void *)bytes, n}, 1);
}

static bool is_transient(int errnum)
{
    return errnum == EINTR || errnum == EAGAIN;
}

pmix_status_t px_fd_write_all(int fd, const void *bytes, size_t n, uint64_t deadline_ms)
{
    const uint8_t *from = bytes;
    pmix_status_t rc = PMIX_SUCCESS;

    for (bool is_pipe = false; n > 0 && !rc;) {
        /* With a deadline, write only as much as a ready pipe surely takes. A blocking
         * write would wait until all bytes fit. */
        ssize_t done = is_pipe ? px_fd_write(fd, from,
                                             deadline_ms && n > PIPE_BUF ? PIPE_BUF : n)
                               : send(fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        is_pipe |= done < 0 && errno == ENOTSOCK;
        if (done > 0) {
            from += done;
            n -= (size_t)done;
        } else if (done < 0 && errno != ENOTSOCK && !is_transient(errno)) {
            return px_status_of_errno(errno);
        }
        if (n > 0 && (done < 0 || is_pipe))
            rc = px_fd_await(fd, POLLOUT, deadline_ms);
    }
    return rc;
}

pmix_status_t px_fd_read_all(int fd, void *bytes, size_t n, uint64_t deadline_ms)
{
    uint8_t *to = bytes;

    while (n > 0) {
        pmix_status_t rc = px_fd_await(fd, POLLIN, deadline_ms);
        if (rc)
            return rc;
        ssize_t done = read(fd, to, n);
        if (done == 0)
            return PMIX_ERR_UNREACH;
        if (done < 0 && !is_transient(errno))
            return px_status_of_errno(errno);
        if (done > 0) {
            to += done;
            n -= (size_t)done;
        }
    }
    return PMIX_SUCCESS;
}

void px_fd_close_range(int from, int last)
{
    struct rlimit limit;

    if (from < 0)
        from = 0;
    if (last < from)
        return;
    if (px_os_close_range(from, last))
        return;
    /* Descriptors opened before the soft limit was lowered may be above the soft
     * limit. */
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max > MAX_FD)
        limit.rlim_max = MAX_FD;
    for (int fd = from; fd <= last && fd < (int)limit.rlim_max; fd++)
        close(fd);
}

void px_fd_close_from(int from)
{
    px_fd_close_range(from, INT_MAX);
}
