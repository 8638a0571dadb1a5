/* SPDX-License-Identifier: BSD-3-Clause */
/* The core's side of tenon/host.h: each service finds the loop and the log prefix from
 * the component's own table. */
#include "core/plugin/services.h"

#include "core/rt/log.h"

#include <stdio.h>

static struct px_host_impl *impl_of(const struct px_host *host)
{
    return PX_CONTAINER_OF(host, struct px_host_impl, host);
}

static void PX_PRINTF(3, 4)
    host_log(const struct px_host *host, enum px_log_level level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    px_vlog(level, impl_of(host)->area, fmt, args);
    va_end(args);
}

static struct px_watch *host_watch(const struct px_host *host, int fd, unsigned events,
                                   px_watch_fn fn, void *arg)
{
    return px_watch_create(impl_of(host)->loop, fd, events, fn, arg);
}

static struct px_timer *host_timer(const struct px_host *host, px_timer_fn fn,
                                   void *arg)
{
    return px_timer_create(impl_of(host)->loop, fn, arg);
}

static int host_child(const struct px_host *host, pid_t pid, px_child_fn fn, void *arg)
{
    return px_child_watch(impl_of(host)->loop, pid, fn, arg);
}

static void host_child_forget(const struct px_host *host, pid_t pid)
{
    px_child_forget(impl_of(host)->loop, pid);
}

void px_host_init(struct px_host_impl *impl, struct px_loop *loop,
                  const char *framework, const char *component)
{
    *impl = (struct px_host_impl){
        .host =
            {
                .size = sizeof(struct px_host),
                .log = host_log,
                .watch = host_watch,
                .watch_set = px_watch_set,
                .unwatch = px_watch_free,
                .timer = host_timer,
                .timer_set = px_timer_set,
                .timer_clear = px_timer_clear,
                .timer_free = px_timer_free,
                .child = host_child,
                .child_forget = host_child_forget,
            },
        .loop = loop,
    };
    snprintf(impl->area, sizeof(impl->area), "%s/%s", framework, component);
}
