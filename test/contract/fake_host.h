/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of a component under test: a poll loop without threads, run only on request
 * of the test. It counts the resources that the component has not released. */
#ifndef PX_FAKE_HOST_H
#define PX_FAKE_HOST_H

#include "core/base/list.h"
#include "tenon/services.h"

#include <stdbool.h>

struct fake_host {
    struct px_services host; /* must be first: callbacks convert a pointer to host */
    struct px_list watches, timers, children;
    int child_fails;     /* status that host.child returns, if not 0 */
    struct rusage usage; /* usage of the child reaped last */
    char last_log[512];  /* last log line visible at the default verbosity */
};

void fake_host_init(struct fake_host *h);
void fake_host_fini(struct fake_host *h);
/* Runs the loop until done(arg) returns true, for at most timeout_ms. Returns the last
 * result of done. done NULL: runs for the whole time. */
bool fake_host_run(struct fake_host *h, uint64_t timeout_ms, bool (*done)(void *arg),
                   void *arg);
/* Returns the number of calls from threads other than the one that called
 * fake_host_init. */
unsigned fake_host_strangers(void);
/* Returns the number of watches, timers and children that the component still has. */
size_t fake_host_held(const struct fake_host *h);

#endif
