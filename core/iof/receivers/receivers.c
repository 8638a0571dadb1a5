/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/receivers/receivers.h"

#include "core/iof/iof_input.h"
#include "core/rt/log.h"
#include "core/rt/process.h"

/* ---- the set --------------------------------------------------------------------- */

pmix_status_t px_iof_receivers_create(struct px_iof_receivers **out)
{
    struct px_iof_receivers *all = calloc(1, sizeof(*all));

    if (!all)
        return PMIX_ERR_NOMEM;
    px_list_init(&all->list);
    px_list_init(&all->producers);
    *out = all;
    return PMIX_SUCCESS;
}

void px_iof_receivers_add(struct px_iof_receivers *all, struct px_iof_receiver *r)
{
    if (r->id == 0)
        r->id = ++all->last_id;
    r->in = all;
    px_list_append(&all->list, &r->node);
}

struct px_iof_receiver *px_iof_receivers_find(const struct px_iof_receivers *all,
                                              size_t id)
{
    PX_LIST_EACH (&all->list, struct px_iof_receiver, r, node)
        if (r->id == id && !r->ending)
            return r;
    return NULL;
}

static void drop(struct px_iof_receiver *r)
{
    void (*gone)(void *) = r->gone;
    void *arg = r->gone_arg;

    px_list_remove(&r->node);
    px_iof_receiver_destroy(r);
    if (gone)
        gone(arg);
}

void px_iof_receivers_destroy(struct px_iof_receivers *all)
{
    if (!all)
        return;
    px_stdin_pusher_free(all);
    px_timer_free(all->timer);
    PX_LIST_EACH (&all->list, struct px_iof_receiver, r, node)
        drop(r);
    free(all);
}

void px_stdin_pusher_free(struct px_iof_receivers *all)
{
    struct px_stdin_pusher *p = px_take(&all->pusher);

    if (!p)
        return;
    px_iof_input_close(p->input);
    px_args_free(&p->args, px_request_iof_push.args);
    free(p);
}

/* ---- producers ------------------------------------------------------------------- */

void px_iof_producer_attach(struct px_iof_producer *p, struct px_iof_receivers *all)
{
    p->receivers = all;
    px_list_append(&all->producers, &p->node);
}

void px_iof_producer_detach(struct px_iof_producer *p)
{
    px_list_remove(&p->node);
}

/* True if the receiver gets output from this server. PX_IOF_UNASKED gets output from
 * any server. */
static bool is_from(const struct px_iof_receiver *r, const pmix_proc_t *server)
{
    return r->id == PX_IOF_UNASKED || px_proc_same(&r->server, server);
}

bool px_iof_producer_is_stopped(const struct px_iof_producer *p)
{
    PX_LIST_EACH (&p->receivers->list, const struct px_iof_receiver, r, node)
        if (px_iof_receiver_is_full(r) && !r->ending && is_from(r, &p->server))
            return true;
    return false;
}

void px_iof_receivers_resume(struct px_iof_receivers *all)
{
    PX_LIST_EACH (&all->producers, struct px_iof_producer, p, node)
        if (!px_iof_producer_is_stopped(p))
            p->resume(p->arg);
}

void px_iof_receivers_flush(struct px_iof_receivers *all, const pmix_proc_t *server)
{
    PX_LIST_EACH (&all->list, struct px_iof_receiver, r, node)
        if (!r->ending && is_from(r, server))
            px_iof_receiver_flush(r);
}

/* ---- the end --------------------------------------------------------------------- */

static bool is_over(struct px_iof_receivers *all)
{
    void (*over)(void *) = all->over;

    if (!over || !px_list_empty(&all->list))
        return false;
    px_timer_free(px_take(&all->timer));
    all->over = NULL;
    over(all->over_arg);
    return true;
}

static void on_released(struct px_msg *msg)
{
    struct px_iof_receivers *all = PX_CONTAINER_OF(msg, struct px_iof_receivers, msg);

    all->msg.run = NULL;
    PX_LIST_EACH (&all->list, struct px_iof_receiver, r, node)
        if (r->finished)
            drop(r);
    (void)is_over(all);
}

/* Posts the release, because functions of the receiver may be on the stack. */
void px_iof_receivers_release(struct px_iof_receiver *r)
{
    struct px_iof_receivers *all = r->in;

    r->finished = true;
    if (all->msg.run)
        return;
    all->msg.run = on_released;
    px_post(px_process.loop, &all->msg);
}

static size_t held_b(const struct px_iof_receivers *all)
{
    size_t sum = 0;

    PX_LIST_EACH (&all->list, const struct px_iof_receiver, r, node)
        sum += px_iof_receiver_held(r);
    return sum;
}

size_t px_iof_receivers_progress(const struct px_iof_receivers *all, size_t *held)
{
    *held = held_b(all);
    return all->n_pieces ^ *held << 20;
}

/* Drops receivers without progress: the reader of the output may never read. */
static void on_stalled(void *arg)
{
    struct px_iof_receivers *all = arg;
    size_t held = held_b(all);

    if (held != all->ending_b) {
        all->ending_b = held;
        px_timer_set(all->timer, px_process.iof_drain_ms);
        return;
    }
    px_log(PX_LOG_ERROR, "iof", "forwarded output lost: the reader stopped reading");
    PX_LIST_EACH (&all->list, struct px_iof_receiver, r, node)
        if (!r->finished)
            drop(r);
    if (!all->msg.run) /* otherwise on_released checks */
        (void)is_over(all);
}

void px_iof_receivers_end(struct px_iof_receivers *all, void (*over)(void *arg),
                          void *arg)
{
    px_stdin_pusher_free(all);
    PX_LIST_EACH (&all->list, struct px_iof_receiver, r, node)
        if (!r->ending)
            px_iof_receiver_end(r);
    all->over = over;
    all->over_arg = arg;
    if (is_over(all))
        return;
    all->ending_b = held_b(all);
    all->timer = px_timer_create(px_process.loop, on_stalled, all);
    if (all->timer)
        px_timer_set(all->timer, px_process.iof_drain_ms);
    else
        on_stalled(all);
}

/* ---- pieces ---------------------------------------------------------------------- */

/* Returns the receiver of a piece, or NULL. For output of spawned processes, servers
 * use id 0 or numbers of their own. */
static struct px_iof_receiver *receiver_of(struct px_iof_receivers *all, size_t id)
{
    struct px_iof_receiver *r = px_iof_receivers_find(all, id);

    if (r || (id > 0 && id <= all->last_id))
        return r;
    r = px_iof_receivers_find(all, PX_IOF_UNASKED);
    if (r || !all->shows_unasked || all->over)
        return r;
    r = px_iof_receiver_create_unasked();
    if (r)
        px_iof_receivers_add(all, r);
    return r;
}

pmix_status_t px_iof_receive(struct px_iof_receivers *all, px_reader *reader)
{
    PX_AUTO(px_args) piece = {0};
    pmix_status_t rc = px_unpack_args(reader, &piece, px_request_piece.args);
    struct px_iof_receiver *r = rc ? NULL : receiver_of(all, piece.id);

    all->n_pieces++;
    if (!r)
        return rc ? rc : PMIX_ERR_NOT_FOUND;
    px_iof_receiver_take(r, &piece);
    return PMIX_SUCCESS;
}
