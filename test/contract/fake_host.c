/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of the fake host. Each pass polls watched descriptors, fires due timers and
 * checks each child. Callbacks may change any of these, so each search runs at most one
 * callback. */
#include "fake_host.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "pmix_common.h"

#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum {
    PASS_MS = 2,
    MAX_WATCHES = 64,
};

struct px_watch {
    struct px_list link;
    int fd;
    unsigned events;
    px_watch_fn fn;
    void *arg;
};

struct px_timer {
    struct px_list link;
    uint64_t due_ms; /* 0: not set */
    px_timer_fn fn;
    void *arg;
};

struct child {
    struct px_list link;
    pid_t pid;
    int pidfd;      /* -1: none */
    px_child_fn fn; /* NULL: forgotten, but not yet reaped */
    void *arg;
};

/* The thread of the loop. Services without a host argument need a global; each process
 * has one loop. */
static pthread_t loop_thread;
static atomic_uint n_strangers;

static void notice_thread(void)
{
    if (!pthread_equal(loop_thread, pthread_self()))
        atomic_fetch_add(&n_strangers, 1);
}

unsigned fake_host_strangers(void)
{
    return atomic_load(&n_strangers);
}

static struct fake_host *fake_of(const struct px_services *host)
{
    return (struct fake_host *)host;
}

/* ---- services for the component -------------------------------------------------- */

static void __attribute__((format(printf, 3, 4)))
host_log(const struct px_services *host, enum px_log_level level, const char *fmt, ...)
{
    struct fake_host *h = fake_of(host);
    va_list args;

    if (level > PX_LOG_WARN)
        return;
    va_start(args, fmt);
    vsnprintf(h->last_log, sizeof(h->last_log), fmt, args);
    va_end(args);
}

static struct px_watch *host_watch(const struct px_services *host, int fd,
                                   unsigned events, px_watch_fn fn, void *arg)
{
    notice_thread();
    struct px_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;

    *w = (struct px_watch){.fd = fd, .events = events, .fn = fn, .arg = arg};
    px_list_append(&fake_of(host)->watches, &w->link);
    return w;
}

static void host_watch_set(struct px_watch *w, unsigned events)
{
    notice_thread();
    w->events = events;
}

static void host_unwatch(struct px_watch *w)
{
    notice_thread();
    if (w)
        px_list_remove(&w->link);
    free(w);
}

static struct px_timer *host_timer(const struct px_services *host, px_timer_fn fn,
                                   void *arg)
{
    notice_thread();
    struct px_timer *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;

    *t = (struct px_timer){.fn = fn, .arg = arg};
    px_list_append(&fake_of(host)->timers, &t->link);
    return t;
}

static void host_timer_set(struct px_timer *t, uint64_t in_ms)
{
    notice_thread();
    t->due_ms = px_clock_ms() + in_ms;
}

static void host_timer_clear(struct px_timer *t)
{
    notice_thread();
    t->due_ms = 0;
}

static void host_timer_free(struct px_timer *t)
{
    notice_thread();
    if (t)
        px_list_remove(&t->link);
    free(t);
}

static int host_child_pidfd(const struct px_services *host, pid_t pid, int pidfd,
                            px_child_fn fn, void *arg)
{
    notice_thread();
    PX_AUTOCLOSE int taken = pidfd;
    struct fake_host *h = fake_of(host);
    siginfo_t info;

    if (h->child_fails == PMIX_ERR_NOT_FOUND) { /* a child that has ended */
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | __WALL),
                         0);
    }
    if (h->child_fails)
        return h->child_fails;
    struct child *c = calloc(1, sizeof(*c));
    if (!c)
        return PMIX_ERR_NOMEM;
    *c = (struct child){.pid = pid, .pidfd = px_take_fd(&taken), .fn = fn, .arg = arg};
    px_list_append(&h->children, &c->link);
    return PMIX_SUCCESS;
}

static int host_child(const struct px_services *host, pid_t pid, px_child_fn fn,
                      void *arg)
{
    return host_child_pidfd(host, pid, -1, fn, arg);
}

static bool host_may_start_threads(const struct px_services *host PX_UNUSED)
{
    return true;
}

static const struct rusage *host_child_usage(const struct px_services *host)
{
    notice_thread();
    return &fake_of(host)->usage;
}

static void host_child_forget(const struct px_services *host, pid_t pid)
{
    notice_thread();
    PX_LIST_EACH (&fake_of(host)->children, struct child, c, link) {
        if (c->pid == pid)
            c->fn = NULL;
    }
}

/* ---- the loop -------------------------------------------------------------------- */

static bool fire_timer(struct fake_host *h)
{
    PX_LIST_EACH (&h->timers, struct px_timer, t, link) {
        if (t->due_ms && t->due_ms <= px_clock_ms()) {
            t->due_ms = 0;
            t->fn(t->arg);
            return true;
        }
    }
    return false;
}

static bool reap_child(struct fake_host *h)
{
    PX_LIST_EACH (&h->children, struct child, c, link) {
        const struct child was = *c;
        int status;
        pid_t r = wait4(c->pid, &status, WNOHANG | __WALL, &h->usage);

        if (r == 0 || (r > 0 && WIFSTOPPED(status)))
            continue;
        px_drop_fd(&c->pidfd);
        if (r < 0)
            ck_abort_msg("process %ld was reaped outside the component", (long)c->pid);
        px_list_remove(&c->link);
        free(c);
        if (was.fn)
            was.fn(was.arg, was.pid, status);
        return true;
    }
    return false;
}

static bool call_watch(struct fake_host *h, int timeout_ms)
{
    struct pollfd fds[MAX_WATCHES];
    struct px_watch *watches[MAX_WATCHES];
    nfds_t n = 0;

    PX_LIST_EACH (&h->watches, struct px_watch, w, link) {
        if (!w->events || n == MAX_WATCHES)
            continue;
        short events = (w->events & PX_READABLE ? POLLIN : 0) |
                       (w->events & PX_WRITABLE ? POLLOUT : 0);
        watches[n] = w;
        fds[n++] = (struct pollfd){.fd = w->fd, .events = events};
    }
    if (poll(fds, n, timeout_ms) <= 0)
        return false;
    for (nfds_t i = 0; i < n; i++) {
        if (!fds[i].revents)
            continue;
        unsigned ready = (fds[i].revents & ~POLLOUT ? PX_READABLE : 0) |
                         (fds[i].revents & ~POLLIN ? PX_WRITABLE : 0);
        struct px_watch *w = watches[i];
        w->fn(w->arg, w->fd, ready & w->events);
        return true;
    }
    return false;
}

bool fake_host_run(struct fake_host *h, uint64_t timeout_ms, bool (*done)(void *arg),
                   void *arg)
{
    const uint64_t deadline_ms = px_clock_ms() + timeout_ms;

    for (;;) {
        if (done && done(arg))
            return true;
        if (px_clock_ms() >= deadline_ms)
            return false;
        if (!fire_timer(h) && !reap_child(h))
            call_watch(h, PASS_MS);
    }
}

size_t fake_host_held(const struct fake_host *h)
{
    return px_list_length(&h->watches) + px_list_length(&h->timers) +
           px_list_length(&h->children);
}

void fake_host_init(struct fake_host *h)
{
    *h = (struct fake_host){
        .host = {.size = sizeof(struct px_services),
                 .roles = PX_ROLE_CLIENT | PX_ROLE_SERVER,
                 .log = host_log,
                 .watch = host_watch,
                 .watch_set = host_watch_set,
                 .unwatch = host_unwatch,
                 .timer = host_timer,
                 .timer_set = host_timer_set,
                 .timer_clear = host_timer_clear,
                 .timer_free = host_timer_free,
                 .child = host_child,
                 .child_forget = host_child_forget,
                 .child_pidfd = host_child_pidfd,
                 .child_usage = host_child_usage,
                 .may_start_threads = host_may_start_threads},
    };
    loop_thread = pthread_self();
    atomic_store(&n_strangers, 0);
    px_list_init(&h->watches);
    px_list_init(&h->timers);
    px_list_init(&h->children);
}

static bool has_no_child(void *arg)
{
    struct fake_host *h = arg;

    return px_list_empty(&h->children);
}

/* Reaps forgotten children, too; a child that does not end fails the test. */
void fake_host_fini(struct fake_host *h)
{
    ck_assert_msg(fake_host_run(h, 5000, has_no_child, h), "a child has not ended");
    ck_assert_uint_eq(fake_host_held(h), 0);
}
