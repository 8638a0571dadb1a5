/* SPDX-License-Identifier: BSD-3-Clause */
/* Services of the core for a component. Members are only appended: check size before
 * using a member that is newer than the oldest supported core. Loop thread only, except
 * log. */
#ifndef TENON_SERVICES_H
#define TENON_SERVICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct px_services;
struct px_watch;
struct px_timer;

enum px_watch_events { PX_READABLE = 1, PX_WRITABLE = 2 };
enum px_log_level { PX_LOG_ERROR, PX_LOG_WARN, PX_LOG_INFO, PX_LOG_DEBUG };
enum px_role { PX_ROLE_CLIENT = 1, PX_ROLE_SERVER = 2, PX_ROLE_TOOL = 4 };

typedef void (*px_watch_fn)(void *arg, int fd, unsigned events);
typedef void (*px_timer_fn)(void *arg);
/* Reports the end of a child. wait_status is that of waitpid. */
typedef void (*px_child_fn)(void *arg, pid_t pid, int wait_status);

struct px_services {
    uint32_t size;  /* of this structure, in bytes */
    uint32_t roles; /* enum px_role of this process, or-ed */

    /* Logs a line, without newline. Any thread. */
    void (*log)(const struct px_services *services, enum px_log_level level,
                const char *fmt, ...) __attribute__((format(printf, 3, 4)));

    /* Calls fn on the loop while fd is ready. Returns NULL if out of memory. The caller
     * keeps fd, and must unwatch fd before closing it. */
    struct px_watch *(*watch)(const struct px_services *services, int fd,
                              unsigned events, px_watch_fn fn, void *arg);
    void (*watch_set)(struct px_watch *watch, unsigned events); /* 0 pauses */
    void (*unwatch)(struct px_watch *watch);                    /* NULL is fine */

    struct px_timer *(*timer)(const struct px_services *services, px_timer_fn fn,
                              void *arg);
    void (*timer_set)(struct px_timer *timer,
                      uint64_t in_ms); /* fires once; replaces an earlier time */
    void (*timer_clear)(struct px_timer *timer);
    void (*timer_free)(struct px_timer *timer); /* NULL is fine */

    /* Calls fn once after this child has ended and was reaped. Reaps no other child.
     * Returns PMIX_SUCCESS or a negative status. */
    int (*child)(const struct px_services *services, pid_t pid, px_child_fn fn,
                 void *arg);
    void (*child_forget)(const struct px_services *services,
                         pid_t pid); /* cancels the call */

    /* Watches a child like child, with a pidfd of the child; -1: none. Takes pidfd,
     * also on failure. pidfd stays open until fn is called. */
    int (*child_pidfd)(const struct px_services *services, pid_t pid, int pidfd,
                       px_child_fn fn, void *arg);
    /* Returns the resource usage of the ended child, within fn. NULL: another part of
     * this program has reaped the child. */
    const struct rusage *(*child_usage)(const struct px_services *services);

    /* True if the component may start threads. False if the program runs the loop in
     * its own threads, and gets no other thread. */
    bool (*may_start_threads)(const struct px_services *services);
};

#endif
