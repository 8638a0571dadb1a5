/* SPDX-License-Identifier: BSD-3-Clause */
/* The guard: a thread of pmixrun that reads the signals for the main thread. A vendor's
 * component may never return to the main thread. The guard then ends the program, and
 * processes and files are cleaned up as after a kill of pmixrun. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pmixrun.h"

static struct {
    int signal_fd, wake_fd;
    int news_fds[2];   /* to the main thread */
    atomic_int status; /* exit status of pmixrun; 0: pmixrun is not to end */
    atomic_bool is_over;
} guard;

static void wake(void)
{
    const uint64_t one = 1;

    while (write(guard.wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void guard_expect_end(int status)
{
    int none = 0;

    if (atomic_compare_exchange_strong(&guard.status, &none, status))
        wake();
}

void guard_end(void)
{
    atomic_store(&guard.is_over, true);
    wake();
}

bool guard_is_passed_on(int signum)
{
    return signum == SIGUSR1 || signum == SIGUSR2 || signum == SIGCONT ||
           signum == SIGTSTP;
}

static void take_signals(void)
{
    int signum;

    while ((signum = os_next_signal(guard.signal_fd))) {
        if (!guard_is_passed_on(signum))
            guard_expect_end(EXIT_SIGNAL + signum);
        while (write(guard.news_fds[1], &signum, sizeof(signum)) < 0 && errno == EINTR)
            ;
    }
}

int guard_next_signal(int fd)
{
    int signum;

    return read(fd, &signum, sizeof(signum)) == (ssize_t)sizeof(signum) ? signum : 0;
}

static void *run(void *arg)
{
    struct pollfd fds[] = {{.fd = guard.signal_fd, .events = POLLIN},
                           {.fd = guard.wake_fd, .events = POLLIN}};
    int64_t deadline_ms = INT64_MAX;
    uint64_t n;

    while (!atomic_load(&guard.is_over)) {
        const bool counts = atomic_load(&guard.status) != 0;

        if (counts && deadline_ms == INT64_MAX)
            deadline_ms = now_ms() + GUARD_MS;
        const int64_t left_ms = deadline_ms - now_ms();
        if (left_ms <= 0) {
            complain(
                "cannot end the job: the library, or a component, has not answered "
                "for %d ms",
                GUARD_MS);
            _exit(guard.status);
        }
        (void)poll(fds, 2, counts ? (int)left_ms : -1);
        while (read(guard.wake_fd, &n, sizeof(n)) > 0)
            ;
        take_signals();
    }
    return arg;
}

int guard_begin(int signal_fd)
{
    pthread_t thread;

    guard.signal_fd = signal_fd;
    guard.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (guard.wake_fd < 0 || pipe2(guard.news_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    errno = pthread_create(&thread, NULL, run, NULL);
    if (errno)
        return -1;
    pthread_detach(thread);
    return guard.news_fds[0];
}
