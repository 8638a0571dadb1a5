/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to the server and their replies, matched by tag. */
#include "core/link/channel.h"

#include "core/rt/loop.h"
#include "core/wire/ops.h"

struct px_pending {
    px_reply_fn fn; /* NULL after the time limit: a late reply is dropped */
    void *arg;
    struct px_timer *limit; /* NULL: no limit, or the limit is over */
};

static void free_pending(struct px_pending *p)
{
    if (p && p->limit)
        px_timer_free(p->limit);
    free(p);
}

void px_channel_begin(const struct px_channel *up, px_writer *w, uint8_t op)
{
    px_writer_init(w, up->codec);
    px_pack_op(w, op);
}

pmix_status_t px_channel_request(struct px_channel *up, px_writer *w, px_reply_fn fn,
                                 void *arg)
{
    PX_AUTO(px_buf) payload = px_buf_take(&w->buf);
    struct px_pending *p;
    pmix_status_t rc;
    uint32_t tag;

    if (w->status)
        return w->status;
    if (!up->send)
        return PMIX_ERR_UNREACH;
    /* Wraps within the dynamic range and skips pending tags (after four billion
     * requests). */
    do {
        if (up->last_tag < PX_TAG_DYNAMIC || up->last_tag == UINT32_MAX)
            up->last_tag = PX_TAG_DYNAMIC;
        tag = ++up->last_tag;
    } while (px_map_get(&up->pending, &tag, sizeof(tag)));
    if (!fn)
        return up->send(up->ctx, tag, &payload);

    p = malloc(sizeof(*p));
    if (!p)
        return PMIX_ERR_NOMEM;
    *p = (struct px_pending){.fn = fn, .arg = arg};
    rc = px_map_put(&up->pending, &tag, sizeof(tag), p, NULL);
    if (!rc) {
        rc = up->send(up->ctx, tag, &payload);
        if (rc)
            px_map_remove(&up->pending, &tag, sizeof(tag));
    }
    if (rc)
        free(p);
    return rc;
}

static void on_limit(void *arg)
{
    struct px_pending *p = arg;
    px_reply_fn fn = p->fn;

    px_timer_free(p->limit);
    p->limit = NULL;
    p->fn = NULL;
    fn(p->arg, PMIX_ERR_TIMEOUT, NULL);
}

void px_channel_limit(struct px_channel *up, struct px_loop *loop, uint64_t ms)
{
    struct px_pending *p = px_map_get(&up->pending, &up->last_tag,
                                      sizeof(up->last_tag));

    if (p)
        p->limit = px_timer_create(loop, on_limit, p);
    if (p && p->limit)
        px_timer_set(p->limit, ms);
}

pmix_status_t px_channel_ask(struct px_channel *up, const struct px_request *request,
                             const struct px_args *args, px_reply_fn fn, void *arg)
{
    px_writer w;

    px_channel_begin(up, &w, request->op);
    px_pack_args(&w, args, request->args);
    return px_channel_request(up, &w, fn, arg);
}

pmix_status_t px_channel_signal(struct px_channel *up, uint32_t tag)
{
    PX_AUTO(px_buf) empty = {0};

    return up->send ? up->send(up->ctx, tag, &empty) : PMIX_ERR_UNREACH;
}

pmix_status_t px_channel_reply(struct px_channel *up, uint32_t tag,
                               const uint8_t *payload, size_t n)
{
    px_reader r;
    struct px_pending *p = px_map_remove(&up->pending, &tag, sizeof(tag));

    if (!p)
        return PMIX_ERR_NOT_FOUND;
    px_reader_init(&r, up->codec, payload, n);
    if (p->fn)
        p->fn(p->arg, PMIX_SUCCESS, &r);
    free_pending(p);
    return PMIX_SUCCESS;
}

void px_channel_forget(struct px_channel *up, uint32_t tag)
{
    free_pending(px_map_remove(&up->pending, &tag, sizeof(tag)));
}

void px_channel_fail(struct px_channel *up, pmix_status_t why)
{
    struct px_map pending = up->pending;
    struct px_pending *p;
    size_t pos = 0;

    /* Detach first: a callback may start a new request, which must fail, not get
     * lost. */
    up->pending = (struct px_map){0};
    up->send = NULL;
    up->ctx = NULL;
    while ((p = px_map_next(&pending, &pos, NULL, NULL))) {
        if (p->fn)
            p->fn(p->arg, why, NULL);
        free_pending(p);
    }
    px_map_fini(&pending);
}
