/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/link/iof.h"

#include "core/rt/log.h"
#include "core/rt/process.h"

/* ---- receivers ------------------------------------------------------------------- */

void px_iofs_init(struct px_iofs *iofs)
{
    *iofs = (struct px_iofs){0};
    px_list_init(&iofs->list);
}

void px_iof_add(struct px_iofs *iofs, struct px_iof *iof)
{
    if (iof->id == 0)
        iof->id = ++iofs->last_id;
    iof->in = iofs;
    px_list_append(&iofs->list, &iof->link);
}

struct px_iof *px_iof_find(const struct px_iofs *iofs, size_t id)
{
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        if (i->id == id && !i->ending)
            return i;
    return NULL;
}

static void destroy(struct px_iof *iof)
{
    void (*gone)(void *) = iof->gone;
    void *arg = iof->gone_arg;

    px_list_remove(&iof->link);
    iof->ops->destroy(iof);
    if (gone)
        gone(arg);
}

void px_iofs_fini(struct px_iofs *iofs)
{
    if (iofs->input_end)
        iofs->input_end(iofs);
    px_timer_free(px_take(&iofs->timer));
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        destroy(i);
}

/* ---- room ------------------------------------------------------------------------ */

/* Those of spawned processes come from any server. */
static bool is_from(const struct px_iof *iof, const pmix_proc_t *server)
{
    return iof->id == PX_IOF_UNASKED || px_proc_same(&iof->server, server);
}

bool px_iofs_full(const struct px_iofs *iofs, const pmix_proc_t *server)
{
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        if (i->held_b > i->limit_b && !i->ending && is_from(i, server))
            return true;
    return false;
}

static void go_on(struct px_iofs *iofs)
{
    if (iofs->client_goes_on)
        iofs->client_goes_on(iofs);
    if (iofs->server_goes_on)
        iofs->server_goes_on(iofs);
}

void px_iof_hold(struct px_iof *iof, ssize_t change)
{
    bool was_full = iof->held_b > iof->limit_b;

    iof->held_b += (size_t)change;
    if (was_full && iof->held_b <= iof->limit_b && !iof->ending)
        go_on(iof->in);
}

/* ---- ends ------------------------------------------------------------------------ */

void px_iofs_flush(struct px_iofs *iofs, const pmix_proc_t *server)
{
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        if (!i->ending && is_from(i, server))
            i->ops->flush(i);
}

void px_iof_end(struct px_iof *iof)
{
    bool was_full = iof->held_b > iof->limit_b;

    iof->ending = true;
    iof->ops->end(iof);
    if (was_full)
        go_on(iof->in);
}

static bool is_over(struct px_iofs *iofs)
{
    void (*over)(void *) = iofs->over;

    if (!over || !px_list_empty(&iofs->list))
        return false;
    px_timer_free(px_take(&iofs->timer));
    iofs->over = NULL;
    over(iofs->over_arg);
    return true;
}

/* Destroyed at once, they would be gone under the feet of what has called them. */
static void on_gone(struct px_msg *msg)
{
    struct px_iofs *iofs = PX_CONTAINER_OF(msg, struct px_iofs, msg);

    iofs->msg.run = NULL;
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        if (i->finished)
            destroy(i);
    (void)is_over(iofs);
}

void px_iof_gone(struct px_iof *iof)
{
    struct px_iofs *iofs = iof->in;

    iof->finished = true;
    if (iofs->msg.run)
        return;
    iofs->msg.run = on_gone;
    px_post(px_process.loop, &iofs->msg);
}

static size_t held_b(const struct px_iofs *iofs)
{
    size_t sum = 0;

    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        sum += i->held_b + i->ops->has(i);
    return sum;
}

size_t px_iofs_progress(const struct px_iofs *iofs, size_t *held)
{
    *held = held_b(iofs);
    return iofs->n_pieces ^ *held << 20;
}

/* The reader of this process's output has stopped reading, maybe for ever. */
static void on_stalled(void *arg)
{
    struct px_iofs *iofs = arg;
    size_t held = held_b(iofs);

    if (held != iofs->ending_b) {
        iofs->ending_b = held;
        px_timer_set(iofs->timer, px_process.iof_drain_ms);
        return;
    }
    px_log(PX_LOG_ERROR, "iof",
           "cannot write all of the forwarded output: it is not taken");
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        if (!i->finished)
            destroy(i);
    if (!iofs->msg.run) /* which sees to the others */
        (void)is_over(iofs);
}

void px_iofs_end(struct px_iofs *iofs, void (*over)(void *arg), void *arg)
{
    if (iofs->input_end)
        iofs->input_end(iofs);
    PX_LIST_EACH (&iofs->list, struct px_iof, i, link)
        if (!i->ending)
            px_iof_end(i);
    iofs->over = over;
    iofs->over_arg = arg;
    if (is_over(iofs))
        return;
    iofs->ending_b = held_b(iofs);
    iofs->timer = px_timer_create(px_process.loop, on_stalled, iofs);
    if (iofs->timer)
        px_timer_set(iofs->timer, px_process.iof_drain_ms);
    else
        on_stalled(iofs);
}

/* ---- pieces ---------------------------------------------------------------------- */

/* A server numbers output of spawned processes 0, or in a way of its own. */
static struct px_iof *receiver_of(struct px_iofs *iofs, size_t id)
{
    struct px_iof *iof = px_iof_find(iofs, id);

    if (iof || (id > 0 && id <= iofs->last_id))
        return iof;
    iof = px_iof_find(iofs, PX_IOF_UNASKED);
    if (iof || !iofs->make_unasked || iofs->over)
        return iof;
    iof = iofs->make_unasked();
    if (iof) {
        iof->id = PX_IOF_UNASKED;
        px_iof_add(iofs, iof);
    }
    return iof;
}

pmix_status_t px_iof_receive(struct px_iofs *iofs, px_reader *r)
{
    PX_AUTO(px_args) piece = {0};
    pmix_status_t rc = px_unpack_args(r, &piece, px_request_piece.args);
    struct px_iof *iof = rc ? NULL : receiver_of(iofs, piece.id);

    iofs->n_pieces++;
    if (!iof)
        return rc ? rc : PMIX_ERR_NOT_FOUND;
    iof->ops->take(iof, &piece);
    return PMIX_SUCCESS;
}
