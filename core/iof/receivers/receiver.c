/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/receivers/receiver.h"

#include <stdlib.h>

#include "core/iof/receivers/outlet.h"
#include "core/iof/receivers/receivers.h"
#include "core/link/api.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"

/* ---- room ------------------------------------------------------------------------ */

void px_iof_receiver_hold(struct px_iof_receiver *r, ssize_t change)
{
    bool was_full = px_iof_receiver_is_full(r);

    r->held_b += (size_t)change;
    if (was_full && !px_iof_receiver_is_full(r) && !r->ending)
        px_iof_receivers_resume(r->in);
}

void px_iof_receiver_settle(struct px_iof_receiver *r)
{
    if (r->ending && r->n_live == 0 && px_list_empty(&r->calls) && !r->finished)
        px_iof_receivers_release(r);
}

/* ---- the program's function ------------------------------------------------------ */

struct call {
    struct px_msg msg;
    struct px_list node;        /* in px_iof_receiver.calls */
    struct px_iof_receiver *of; /* NULL: the receiver has been destroyed */
    struct px_args args;
};

static void wake_outlets(struct px_iof_receiver *r)
{
    struct px_iof_outlet *o;
    size_t pos = 0;

    while ((o = px_map_next(&r->outlets, &pos, NULL, NULL)))
        px_iof_outlet_wake(o);
}

static void on_call(struct px_msg *msg)
{
    struct call *c = PX_CONTAINER_OF(msg, struct call, msg);
    struct px_args *a = &c->args;
    struct px_iof_receiver *r = c->of;

    if (r) {
        bool was_full = px_iof_receiver_is_full(r);

        r->fn(r->id, a->channels, a->procs, &a->bytes, a->info.v, a->info.n);
        px_list_remove(&c->node);
        px_iof_receiver_hold(r, -(ssize_t)a->bytes.size);
        if (was_full && !px_iof_receiver_is_full(r))
            wake_outlets(r);
        px_iof_receiver_settle(r);
    }
    px_args_cleanup(a);
    free(c);
}

void px_iof_receiver_call(struct px_iof_receiver *r, struct px_args *piece)
{
    struct call *c = malloc(sizeof(*c));
    bool is_next = px_list_empty(&r->calls);

    if (!c) {
        px_log(PX_LOG_ERROR, "iof", "forwarded output lost: no memory");
        return;
    }
    *c = (struct call){.msg.run = on_call, .of = r, .args = *piece};
    *piece = (struct px_args){0};
    px_list_append(&r->calls, &c->node);
    px_iof_receiver_hold(r, (ssize_t)c->args.bytes.size);
    if (!is_next) {
        c->msg.for_user = true;
        px_post(px_process.loop, &c->msg);
    } else if (!px_loop_defer(px_process.loop, &c->msg)) {
        on_call(&c->msg);
    }
}

/* ---- pieces ---------------------------------------------------------------------- */

void px_iof_receiver_take(struct px_iof_receiver *r, struct px_args *piece)
{
    const px_infos *info = &piece->info;
    const pmix_info_t *dropped = px_info_find(info->v, info->n, TENON_IOF_DROPPED);
    struct px_iof_outlet *o = NULL;

    if (r->way.merged && piece->channels == PMIX_FWD_STDERR_CHANNEL)
        piece->channels = PMIX_FWD_STDOUT_CHANNEL;
    if (!r->plain || dropped) {
        o = px_iof_outlet_get(r, piece->procs, piece->channels);
        if (!o) {
            px_log(PX_LOG_ERROR, "iof", "forwarded output lost: no memory");
            return;
        }
        px_iof_outlet_note(o, info);
    }
    if (r->plain)
        px_iof_receiver_call(r, piece);
    else
        px_iof_outlet_take(o, piece);
}

void px_iof_receiver_flush(struct px_iof_receiver *r)
{
    struct px_iof_outlet *o;
    size_t pos = 0;

    while ((o = px_map_next(&r->outlets, &pos, NULL, NULL)))
        px_iof_outlet_flush(o);
}

/* n_live includes the receiver itself meanwhile, so that no outlet releases it. */
void px_iof_receiver_end(struct px_iof_receiver *r)
{
    bool was_full = px_iof_receiver_is_full(r);
    struct px_iof_outlet *o;
    size_t pos = 0;

    r->ending = true;
    r->n_live++;
    while ((o = px_map_next(&r->outlets, &pos, NULL, NULL)))
        px_iof_outlet_finish(o);
    r->n_live--;
    px_iof_receiver_settle(r);
    if (was_full)
        px_iof_receivers_resume(r->in);
}

size_t px_iof_receiver_held(const struct px_iof_receiver *r)
{
    const struct px_iof_outlet *o;
    size_t pos = 0, sum = r->held_b;

    while ((o = px_map_next(&r->outlets, &pos, NULL, NULL)))
        sum += px_iof_outlet_held(o);
    return sum;
}

/* ---- life ------------------------------------------------------------------------ */

static struct px_iof_receiver *make_receiver(pmix_iof_cbfunc_t fn)
{
    struct px_iof_receiver *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->fn = fn;
    r->way = px_iof_way_default();
    px_list_init(&r->calls);
    return r;
}

void px_iof_receiver_destroy(struct px_iof_receiver *r)
{
    struct px_iof_outlet *o;
    size_t pos = 0;

    if (!r)
        return;
    PX_LIST_EACH (&r->calls, struct call, c, node) {
        px_list_remove(&c->node);
        c->of = NULL;
    }
    while ((o = px_map_next(&r->outlets, &pos, NULL, NULL)))
        px_iof_outlet_destroy(o);
    px_map_fini(&r->outlets);
    if (r->std)
        px_iof_std_put();
    free(r->path);
    free(r);
}

pmix_status_t px_iof_receivers_prepare(struct px_err *err)
{
    pmix_status_t rc;
    size_t n;

    if (!px_process_on_loop())
        px_process_lock();
    else if (px_modules("piof", &n))
        return PMIX_SUCCESS;
    else if (!px_process_trylock()) /* the lock's holder may be waiting for this
                                     * thread */
        return px_err_set(err, PMIX_ERR_WOULD_BLOCK,
                          "cannot open components of piof in a callback: the library "
                          "begins or ends in another thread");
    rc = px_initialized() ? px_modules_open_deferred(err) : PMIX_ERR_INIT;
    px_process_unlock();
    return rc;
}

pmix_status_t px_iof_receiver_create(pmix_iof_cbfunc_t fn, const pmix_info_t *info,
                                     size_t n, px_infos *rest,
                                     struct px_iof_receiver **out, struct px_err *err)
{
    struct px_iof_receiver *r = make_receiver(fn);
    px_infos others = {0};
    pmix_status_t rc = r ? px_iof_receiver_read(r, info, n, &others, err)
                         : px_err_nomem(err, "pull output");

    if (!rc && (!fn || r->files != PX_IOF_NO_FILES))
        rc = px_iof_receivers_prepare(err);
    if (rc) {
        free(others.v);
        px_iof_receiver_destroy(r);
        return rc;
    }
    *rest = others;
    *out = r;
    return PMIX_SUCCESS;
}

pmix_status_t px_iof_receiver_start(struct px_iof_receiver *r)
{
    return r->fn ? PMIX_SUCCESS : px_iof_std_get(&r->std);
}

struct px_iof_receiver *px_iof_receiver_create_unasked(void)
{
    struct px_iof_receiver *r = make_receiver(NULL);
    px_infos none = {0};

    if (!r)
        return NULL;
    r->id = PX_IOF_UNASKED;
    if (px_iof_receiver_read(r, NULL, 0, &none, NULL) || px_iof_receiver_start(r)) {
        px_iof_receiver_destroy(r);
        return NULL;
    }
    return r;
}
