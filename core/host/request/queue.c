/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/request/queue.h"

#include "core/base/clock.h"
#include "core/types/type.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"

struct px_waiting {
    struct px_list link;
    struct px_queue *queue;
    struct px_asked asked;
    uint32_t n_slots;
    uint64_t end_ms;        /* of the time limit for the launch; 0: no limit */
    struct px_timer *limit; /* NULL: no limit */
};

/* ---- entries --------------------------------------------------------------------- */

static void waiting_free(struct px_waiting *w)
{
    px_list_remove(&w->link);
    px_timer_free(w->limit);
    free(w);
}

/* Answers a request that is not served. */
static void refuse(struct px_waiting *w, pmix_status_t status)
{
    const struct px_asked asked = w->asked;

    waiting_free(w);
    asked.cb(status, NULL, asked.cbdata);
}

static void serve(void *arg);

/* Serves the queue in the next turn. */
static pmix_status_t serve_soon(struct px_queue *q)
{
    if (!q->timer)
        q->timer = px_timer_create(q->loop, serve, q);
    if (q->timer)
        px_timer_set(q->timer, 0);
    return q->timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static void on_limit(void *arg)
{
    struct px_waiting *w = arg;
    struct px_queue *q = w->queue;

    px_log(
        PX_LOG_ERROR, "spawn",
        "cannot spawn for %s.%u: the time limit for the launch is over, and slots are "
        "still taken",
        w->asked.proc.nspace, w->asked.proc.rank);
    refuse(w, PMIX_ERR_TIMEOUT);
    (void)serve_soon(q); /* a smaller job may be the first one now */
}

static uint32_t limit_of(const px_plan *plan)
{
    const uint32_t a = plan->launch_limit_s, b = plan->request_limit_s;

    return !a || (b && b < a) ? b : a;
}

static pmix_status_t wait_for_slots(struct px_queue *q, const struct px_asked *asked,
                                    const px_plan *plan, uint32_t n_slots)
{
    struct px_waiting *w = calloc(1, sizeof(*w));
    const uint32_t limit_s = limit_of(plan);

    if (!w)
        return PMIX_ERR_NOMEM;
    *w = (struct px_waiting){.queue = q, .asked = *asked, .n_slots = n_slots};
    px_list_append(&q->waiting, &w->link);
    if (limit_s)
        w->limit = px_timer_create(q->loop, on_limit, w);
    if ((limit_s && !w->limit) || serve_soon(q)) {
        waiting_free(w);
        return PMIX_ERR_NOMEM;
    }
    if (limit_s) {
        w->end_ms = px_clock_ms() + UINT64_C(1000) * limit_s;
        px_timer_set(w->limit, UINT64_C(1000) * limit_s);
    }
    px_log(PX_LOG_INFO, "spawn", "%s.%u waits for %u slots", asked->proc.nspace,
           asked->proc.rank, n_slots);
    return PMIX_OPERATION_IN_PROGRESS;
}

/* ---- slots ----------------------------------------------------------------------- */

/* Counts the slots of a plan. over: the plan accepts fewer slots than processes. */
static uint32_t count_slots(const px_plan *plan, bool *over)
{
    uint32_t n = plan->n_slots;

    *over = !n || plan->may_exceed;
    for (size_t i = 0; !plan->n_slots && i < plan->n_apps; i++) {
        n += plan->apps[i].daemons ? 0 : plan->apps[i].n;
        *over = *over && plan->apps[i].placement.over;
    }
    return n;
}

/* True if a request for any slot would wait. */
static bool is_full(const struct px_queue *q)
{
    return q->n_slots > 0 && (q->n_taken >= q->n_slots || !px_list_empty(&q->waiting));
}

pmix_status_t px_queue_ask(struct px_queue *q, const struct px_asked *asked,
                           const px_plan *plan, uint32_t *n_slots, struct px_err *err)
{
    const bool waits = !asked->is_exempt;
    bool over;

    *n_slots = count_slots(plan, &over);
    if (!q->n_slots) {
        *n_slots = 0;
        return PMIX_SUCCESS;
    }
    if (waits && *n_slots > q->n_slots && !over)
        return px_err_set(err, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
                          "cannot spawn: %u processes need as many slots (this server "
                          "has %u)",
                          *n_slots, q->n_slots);
    if (*n_slots > q->n_slots)
        *n_slots = q->n_slots;
    if (waits && *n_slots > 0 && (is_full(q) || *n_slots > q->n_slots - q->n_taken)) {
        if (plan->no_wait)
            return px_err_set(err, PMIX_ERR_RESOURCE_BUSY,
                              "cannot spawn at once: %u of %u slots are taken",
                              q->n_taken, q->n_slots);
        pmix_status_t rc = wait_for_slots(q, asked, plan, *n_slots);
        return rc == PMIX_ERR_NOMEM ? px_err_nomem(err, "spawn") : rc;
    }
    q->n_taken += *n_slots;
    return PMIX_SUCCESS;
}

/* Starts the first request if its slots are free, one in each turn. */
static void serve(void *arg)
{
    struct px_queue *q = arg;
    struct px_waiting *w;

    if (px_list_empty(&q->waiting))
        return;
    w = PX_CONTAINER_OF(q->waiting.next, struct px_waiting, link);
    if (q->n_taken + w->n_slots > q->n_slots)
        return;
    const struct px_asked asked = w->asked;
    const uint32_t n_slots = w->n_slots;
    const uint64_t now_ms = px_clock_ms();
    const uint64_t left_ms = w->end_ms > now_ms ? w->end_ms - now_ms : w->end_ms > 0;

    waiting_free(w);
    q->n_taken += n_slots;
    q->start(q->arg, &asked, n_slots, left_ms);
    if (!px_list_empty(&q->waiting))
        (void)serve_soon(q);
}

void px_queue_give_back(struct px_queue *q, uint32_t n_slots)
{
    q->n_taken -= n_slots;
    if (n_slots > 0 && !px_list_empty(&q->waiting))
        (void)serve_soon(q);
}

void px_queue_drop(struct px_queue *q, const pmix_proc_t *proc, pmix_status_t status)
{
    PX_LIST_EACH (&q->waiting, struct px_waiting, w, link)
        if (!proc || px_proc_same(&w->asked.proc, proc))
            refuse(w, status);
    if (!px_list_empty(&q->waiting))
        (void)serve_soon(q);
}

void px_queue_fini(struct px_queue *q)
{
    px_queue_drop(q, NULL, PMIX_ERR_NOT_AVAILABLE);
    px_timer_free(px_take(&q->timer));
}
