/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of a component under test: a poll loop without threads that runs when the
 * test says so, and that knows what has been asked of it and not given back. */
#ifndef PX_FAKE_HOST_H
#define PX_FAKE_HOST_H

#include "core/base/list.h"
#include "tenon/services.h"

#include <stdbool.h>

struct fake_host {
    struct px_services host; /* first: its functions get here from it */
    struct px_list watches, timers, children;
    int child_fails;     /* what host.child answers, if not 0 */
    struct rusage usage; /* of the child that was reaped last */
    char last_log[512];  /* the last line that users see by default */
};

void fake_host_init(struct fake_host *h);
void fake_host_fini(struct fake_host *h);
/* Runs until done(arg), at most so long; returns what done said last. done NULL: all
 * that time. */
bool fake_host_run(struct fake_host *h, uint64_t timeout_ms, bool (*done)(void *arg),
                   void *arg);
/* How often the host was called from a thread that is not the one of fake_host_init,
 * whose loop it is. */
unsigned fake_host_strangers(void);
/* Watches, timers and children that the component still has. */
size_t fake_host_held(const struct fake_host *h);

#endif
