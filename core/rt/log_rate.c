/* SPDX-License-Identifier: BSD-3-Clause */
/* A fixed number of counters: those who cause lines must not cause memory either. */
#include "core/rt/log_rate.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNTERS = 16 };

struct counter {
    uid_t uid;
    pmix_status_t reason; /* PMIX_SUCCESS: free */
    unsigned n_lines, n_more;
    const char *area;
};

struct px_log_rate {
    struct counter counters[COUNTERS];
    struct px_timer *timer; /* ends the period that all of them count in */
    uint64_t period_ms;
    bool runs;
};

static void report(struct px_log_rate *r)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        struct counter *c = &r->counters[i];
        char who[40] = "others";

        if (i + 1 < COUNTERS)
            snprintf(who, sizeof(who), "uid %ld, %s", (long)(int32_t)c->uid,
                     PMIx_Error_string(c->reason));
        if (c->n_more)
            px_log(PX_LOG_WARN, c->area, "%u more like it: %s", c->n_more, who);
        *c = (struct counter){0};
    }
    r->runs = false;
}

static void on_timer(void *arg)
{
    report(arg);
}

struct px_log_rate *px_log_rate_create(struct px_loop *loop, uint64_t period_ms)
{
    struct px_log_rate *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->period_ms = period_ms;
    r->timer = px_timer_create(loop, on_timer, r);
    if (!r->timer) {
        free(r);
        return NULL;
    }
    return r;
}

void px_log_rate_destroy(struct px_log_rate *r)
{
    if (!r)
        return;
    report(r);
    px_timer_free(r->timer);
    free(r);
}

/* The last one is shared by those who find no other. */
static struct counter *counter_of(struct px_log_rate *r, uid_t uid,
                                  pmix_status_t reason)
{
    size_t i = 0;

    while (i + 1 < COUNTERS && r->counters[i].reason &&
           (r->counters[i].uid != uid || r->counters[i].reason != reason))
        i++;
    return &r->counters[i];
}

void px_log_limited(struct px_log_rate *r, uid_t uid, pmix_status_t reason,
                    const char *area, const char *fmt, ...)
{
    struct counter *c = counter_of(r, uid, reason);
    va_list args;

    c->uid = uid;
    c->reason = reason;
    c->area = area;
    if (!r->runs)
        px_timer_set(r->timer, r->period_ms);
    r->runs = true;
    if (c->n_lines == PX_LOG_RATE_LINES) {
        c->n_more++;
        return;
    }
    c->n_lines++;
    va_start(args, fmt);
    px_vlog(PX_LOG_WARN, area, fmt, args);
    va_end(args);
}
