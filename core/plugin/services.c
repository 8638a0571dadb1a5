/* SPDX-License-Identifier: BSD-3-Clause */
/* The core's implementation of tenon/services.h. Each service finds the loop and the
 * log prefix from the component's own table. */
#include "core/plugin/services.h"

#include "core/rt/child.h"
#include "core/rt/log.h"

#include <stdio.h>

static struct px_services_impl *impl_of(const struct px_services *services)
{
    return PX_CONTAINER_OF(services, struct px_services_impl, services);
}

static void PX_PRINTF(3, 4) service_log(const struct px_services *services,
                                        enum px_log_level level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    px_vlog(level, impl_of(services)->area, fmt, args);
    va_end(args);
}

static struct px_watch *service_watch(const struct px_services *services, int fd,
                                      unsigned events, px_watch_fn fn, void *arg)
{
    return px_watch_create(impl_of(services)->loop, fd, events, fn, arg);
}

static struct px_timer *service_timer(const struct px_services *services,
                                      px_timer_fn fn, void *arg)
{
    return px_timer_create(impl_of(services)->loop, fn, arg);
}

static int service_child(const struct px_services *services, pid_t pid, px_child_fn fn,
                         void *arg)
{
    return px_child_watch(impl_of(services)->loop, pid, fn, arg);
}

static int service_child_pidfd(const struct px_services *services, pid_t pid, int pidfd,
                               px_child_fn fn, void *arg)
{
    return px_child_watch_pidfd(impl_of(services)->loop, pid, pidfd, fn, arg);
}

static void service_watch_set(struct px_watch *watch, unsigned events)
{
    (void)px_watch_set(watch, events);
}

static const struct rusage *service_child_usage(const struct px_services *services)
{
    return px_child_usage(impl_of(services)->loop);
}

static void service_child_forget(const struct px_services *services, pid_t pid)
{
    px_child_forget(impl_of(services)->loop, pid);
}

static bool service_may_start_threads(const struct px_services *services)
{
    return !px_loop_is_external(impl_of(services)->loop);
}

void px_services_init(struct px_services_impl *impl, struct px_loop *loop,
                      const char *framework, const char *component)
{
    *impl = (struct px_services_impl){
        .services =
            {
                .size = sizeof(struct px_services),
                .log = service_log,
                .watch = service_watch,
                .watch_set = service_watch_set,
                .unwatch = px_watch_free,
                .timer = service_timer,
                .timer_set = px_timer_set,
                .timer_clear = px_timer_clear,
                .timer_free = px_timer_free,
                .child = service_child,
                .child_forget = service_child_forget,
                .child_pidfd = service_child_pidfd,
                .child_usage = service_child_usage,
                .may_start_threads = service_may_start_threads,
            },
        .loop = loop,
    };
    snprintf(impl->area, sizeof(impl->area), "%s/%s", framework, component);
}
