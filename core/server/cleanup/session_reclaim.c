/* SPDX-License-Identifier: BSD-3-Clause */
/* What servers of this user have left that were killed, and nobody was there to finish their work:
 * looked for when a server starts, and waited for when it ends. */
#include "core/rt/log.h"
#include "core/server/cleanup/session_impl.h"

#include <string.h>

const struct px_pcleanup_totals *px_session_removed(const struct px_server *srv)
{
    return &srv->session->removed;
}

unsigned px_session_reclaiming(const struct px_server *srv, unsigned *done)
{
    *done = srv->session->n_reclaimed;
    return srv->session->n_reclaiming;
}

static void stop_waiting(void *arg)
{
    struct px_session *s = arg;
    struct px_call *waiter = s->waiter;

    s->waiter = NULL;
    px_timer_free(s->patience);
    s->patience = NULL;
    px_call_done(waiter, PMIX_SUCCESS);
}

static void on_reclaimed(void *arg, pmix_status_t status,
                         const struct px_pcleanup_totals *t)
{
    struct px_session *s = arg;

    s->n_reclaiming--;
    if (status) {
        s->removed.failed++;
        px_log(PX_LOG_INFO, "cleanup", "not all that servers have left was removed: %s",
               PMIx_Error_string(status));
    } else {
        s->n_reclaimed++;
        px_pcleanup_add(&s->removed, t);
        if (t->files + t->dirs > 0)
            px_log(PX_LOG_INFO, "cleanup",
                   "removed what killed servers have left: %llu files, %llu "
                   "directories",
                   (unsigned long long)t->files, (unsigned long long)t->dirs);
    }
    if (s->n_reclaiming == 0 && s->waiter)
        stop_waiting(s);
}

void px_session_settle(struct px_server *srv, struct px_call *call, uint64_t timeout_ms)
{
    struct px_session *s = srv->session;

    if (s->n_reclaiming == 0) {
        px_call_done(call, PMIX_SUCCESS);
        return;
    }
    s->waiter = call;
    s->patience = px_timer_create(px_process.loop, stop_waiting, s);
    if (s->patience)
        px_timer_set(s->patience, timeout_ms);
    else
        stop_waiting(s);
}

void px_session_reclaim(struct px_server *srv, char *const *places, size_t n)
{
    struct px_session *s = srv->session;

    for (size_t i = 0; s->cleaner && i < n; i++) {
        size_t k = 0;

        while (places[i] && k < i && (!places[k] || strcmp(places[k], places[i]) != 0))
            k++;
        if (!places[i] || k < i)
            continue;
        s->n_reclaiming++;
        pmix_status_t rc = px_session_ops(s)->reclaim(s->cleaner->self, places[i],
                                                      on_reclaimed, s);
        if (rc)
            on_reclaimed(s, rc, NULL);
    }
}
