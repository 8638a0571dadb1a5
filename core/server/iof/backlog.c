/* SPDX-License-Identifier: BSD-3-Clause */
/* Backlogs and cursors. A cursor has a list of steps, so that a piece dropped for one
 * cursor remains for the others. Pieces and steps are in the order of arrival. The last
 * cursor that passes a piece frees it. */
#include "core/server/iof/backlog.h"

#include <stdlib.h>

struct step {
    struct px_list link; /* in px_cursor.steps */
    struct px_piece *piece;
    uint64_t dropped; /* bytes dropped before the piece */
};

unsigned px_stream_of(pmix_iof_channel_t channel)
{
    switch (channel) {
    case PMIX_FWD_STDOUT_CHANNEL:
        return 0;
    case PMIX_FWD_STDERR_CHANNEL:
        return 1;
    case PMIX_FWD_STDDIAG_CHANNEL:
        return 2;
    default:
        return 3;
    }
}

static size_t cost_of(size_t bytes)
{
    return bytes < PX_PIECE_B ? PX_PIECE_B : bytes;
}

pmix_status_t px_cache_read(struct px_cache *cache, const pmix_info_t *info, size_t n,
                            size_t limit_b)
{
    const pmix_info_t *size = px_info_find(info, n, PMIX_IOF_CACHE_SIZE);
    bool oldest = px_info_flag(info, n, PMIX_IOF_DROP_OLDEST);
    bool newest = px_info_flag(info, n, PMIX_IOF_DROP_NEWEST);
    uint64_t b = limit_b;

    if ((oldest && newest) || (size && !px_value_to_u64(&size->value, &b)))
        return PMIX_ERR_BAD_PARAM;
    *cache = (struct px_cache){.size_b = b < limit_b ? (size_t)b : limit_b,
                               .drop = oldest   ? PX_DROP_OLDEST
                                       : newest ? PX_DROP_NEWEST
                                                : PX_DROP_NONE};
    return PMIX_SUCCESS;
}

/* ---- backlogs -------------------------------------------------------------------- */

void px_backlogs_init(struct px_backlogs *backlogs, size_t stream_b, size_t total_b)
{
    *backlogs = (struct px_backlogs){.stream_b = stream_b, .total_b = total_b};
}

struct px_backlog *px_backlog_find(const struct px_backlogs *backlogs,
                                   const pmix_proc_t *source)
{
    pmix_proc_t key;

    px_proc_set(&key, source->nspace, source->rank); /* zeros behind the name */
    return px_map_get(&backlogs->map, &key, sizeof(key));
}

struct px_backlog *px_backlog_get(struct px_backlogs *backlogs,
                                  const pmix_proc_t *source)
{
    struct px_backlog *backlog = px_backlog_find(backlogs, source);

    if (backlog)
        return backlog;
    backlog = calloc(1, sizeof(*backlog));
    if (!backlog)
        return NULL;
    px_proc_set(&backlog->source, source->nspace, source->rank);
    backlog->all = backlogs;
    px_list_init(&backlog->cursors);
    px_list_init(&backlog->waiting);
    px_list_init(&backlog->pieces);
    if (!px_map_put(&backlogs->map, &backlog->source, sizeof(backlog->source), backlog,
                    NULL))
        return backlog;
    free(backlog);
    return NULL;
}

void px_backlog_settle(struct px_backlog *backlog)
{
    if (!px_list_empty(&backlog->cursors) || !px_list_empty(&backlog->waiting) ||
        !px_list_empty(&backlog->pieces))
        return;
    (void)px_map_remove(&backlog->all->map, &backlog->source, sizeof(backlog->source));
    free(backlog);
}

void px_backlogs_fini(struct px_backlogs *backlogs)
{
    struct px_backlog *backlog;
    size_t pos = 0;

    while ((backlog = px_map_next(&backlogs->map, &pos, NULL, NULL))) {
        PX_LIST_EACH (&backlog->cursors, struct px_cursor, c, link)
            px_cursor_free(c, false);
        px_backlog_drop_unasked(backlog);
        px_backlog_settle(backlog);
    }
    px_map_fini(&backlogs->map);
}

/* ---- pieces ---------------------------------------------------------------------- */

static void count_unasked(struct px_backlog *backlog, unsigned stream, int64_t change)
{
    backlog->unasked_b[stream] += (size_t)change;
    backlog->all->unasked_b += (size_t)change;
}

struct px_piece *px_backlog_add(struct px_backlog *backlog, pmix_iof_channel_t channel,
                                struct px_payload *bytes, px_infos *info)
{
    struct px_piece *p = calloc(1, sizeof(*p));
    unsigned s = px_stream_of(channel);

    if (!p)
        return NULL;
    *p = (struct px_piece){.backlog = backlog,
                           .channel = channel,
                           .bytes = px_payload_ref(bytes),
                           .info = *info,
                           .dropped = backlog->dropped[s]};
    *info = (px_infos){0};
    backlog->dropped[s] = 0;
    px_list_append(&backlog->pieces, &p->link);
    backlog->all->kept_b += cost_of(bytes->bytes.len);
    count_unasked(backlog, s, (int64_t)cost_of(bytes->bytes.len));
    return p;
}

void px_piece_settle(struct px_piece *p, bool keep)
{
    size_t cost = cost_of(p->bytes->bytes.len);

    if (p->n_ahead > 0 || keep)
        return;
    count_unasked(p->backlog, px_stream_of(p->channel), -(int64_t)cost);
    p->backlog->all->kept_b -= cost;
    px_list_remove(&p->link);
    px_payload_unref(p->bytes);
    px_infos_cleanup(&p->info);
    free(p);
}

void px_backlog_drop_unasked(struct px_backlog *backlog)
{
    PX_LIST_EACH (&backlog->pieces, struct px_piece, p, link)
        px_piece_settle(p, false);
}

/* Drops a piece. The next piece of the stream, or the next to come, has the count. */
static void drop_unasked(struct px_piece *p, unsigned stream, size_t *dropped)
{
    const struct px_list *l = p->link.next;
    uint64_t *count = NULL;

    for (; !count && l != &p->backlog->pieces; l = l->next) {
        struct px_piece *next = PX_CONTAINER_OF(l, struct px_piece, link);

        if (px_stream_of(next->channel) == stream)
            count = &next->dropped;
    }
    if (!count)
        count = &p->backlog->dropped[stream];
    *count += p->dropped + p->bytes->bytes.len;
    *dropped += p->bytes->bytes.len;
    px_piece_settle(p, false);
}

pmix_status_t px_backlog_make_room(struct px_backlog *backlog, unsigned stream,
                                   size_t bytes, bool may_drop, size_t *dropped)
{
    const struct px_backlogs *all = backlog->all;
    size_t cost = cost_of(bytes), own = backlog->unasked_b[stream];
    /* The end of a stream may take the room that is left. */
    size_t stream_b = bytes > 0 ? all->stream_b : 2 * all->stream_b;
    size_t total_b = bytes > 0 ? all->total_b / 2 : all->total_b;

    *dropped = 0;
    if (own + cost <= stream_b && all->unasked_b + cost <= total_b)
        return PMIX_SUCCESS;
    if (!may_drop || cost > stream_b || all->unasked_b - own + cost > total_b)
        return PMIX_ERR_OUT_OF_RESOURCE;
    PX_LIST_EACH (&backlog->pieces, struct px_piece, p, link) {
        if (backlog->unasked_b[stream] + cost <= stream_b &&
            all->unasked_b + cost <= total_b)
            break;
        if (p->n_ahead == 0 && px_stream_of(p->channel) == stream)
            drop_unasked(p, stream, dropped);
    }
    return PMIX_SUCCESS;
}

/* ---- limits ---------------------------------------------------------------------- */

/* True if the pieces before cursors take too much. Each stream then has one piece, so
 * that none stops for ever. */
static bool is_tight(const struct px_backlogs *all)
{
    return all->kept_b - all->unasked_b > all->total_b / 2;
}

/* True if so much more exceeds the limits of the cursor. */
static bool is_beyond(const struct px_cursor *c, const struct px_cursor_stream *b,
                      size_t bytes, size_t cost)
{
    if (is_tight(c->backlog->all))
        return b->cost > 0;
    return b->bytes + bytes > c->cache->size_b ||
           b->cost + cost > c->backlog->all->stream_b;
}

bool px_backlog_is_full(const struct px_backlog *backlog, unsigned stream)
{
    PX_LIST_EACH (&backlog->cursors, const struct px_cursor, c, link)
        if (c->cache->drop == PX_DROP_NONE && c->streams[stream].cost > 0 &&
            is_beyond(c, &c->streams[stream], 0, 0))
            return true;
    return false;
}

bool px_backlog_refuses(const struct px_backlog *backlog, unsigned stream, size_t bytes)
{
    if (!px_backlog_is_full(backlog, stream))
        return false;
    PX_LIST_EACH (&backlog->cursors, const struct px_cursor, c, link)
        if (c->cache->drop == PX_DROP_NONE &&
            c->streams[stream].cost + cost_of(bytes) > 2 * backlog->all->stream_b)
            return true;
    return is_tight(backlog->all);
}

/* ---- cursors --------------------------------------------------------------------- */

struct px_cursor *px_cursor_create(struct px_backlog *backlog,
                                   const struct px_cache *cache, void *owner)
{
    struct px_cursor *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->backlog = backlog;
    c->cache = cache;
    c->owner = owner;
    px_list_init(&c->steps);
    px_list_append(&backlog->cursors, &c->link);
    return c;
}

static struct step *first_of(const struct px_cursor *c)
{
    return px_list_empty(&c->steps) ? NULL
                                    : PX_CONTAINER_OF(c->steps.next, struct step, link);
}

static void take_step(struct px_cursor *c, struct step *s, bool keep)
{
    struct px_piece *p = s->piece;
    struct px_cursor_stream *b = &c->streams[px_stream_of(p->channel)];
    size_t bytes = p->bytes->bytes.len;

    b->bytes -= bytes;
    b->cost -= cost_of(bytes);
    px_list_remove(&s->link);
    free(s);
    if (--p->n_ahead > 0)
        return;
    count_unasked(p->backlog, px_stream_of(p->channel), (int64_t)cost_of(bytes));
    px_piece_settle(p, keep);
}

/* Drops the first step of a stream. The next step of the stream, or the next to come,
 * has the count. */
static void drop_first(struct px_cursor *c, unsigned stream)
{
    uint64_t *count = &c->streams[stream].dropped, dropped = 0;
    struct step *first = NULL;

    PX_LIST_EACH (&c->steps, struct step, s, link) {
        if (px_stream_of(s->piece->channel) != stream)
            continue;
        if (first) {
            count = &s->dropped;
            break;
        }
        first = s;
    }
    dropped = first->dropped + first->piece->bytes->bytes.len;
    take_step(c, first, false);
    *count += dropped;
}

pmix_status_t px_cursor_add(struct px_cursor *c, struct px_piece *piece)
{
    unsigned stream = px_stream_of(piece->channel);
    struct px_cursor_stream *b = &c->streams[stream];
    size_t bytes = piece->bytes->bytes.len, cost = cost_of(bytes);
    enum px_drop drop = bytes > 0 ? c->cache->drop : PX_DROP_NONE;
    pmix_status_t rc = PMIX_SUCCESS;
    struct step *s;

    if (drop == PX_DROP_NEWEST && b->cost > 0 && is_beyond(c, b, bytes, cost)) {
        b->dropped += bytes;
        return PMIX_ERR_PARTIAL_SUCCESS;
    }
    s = calloc(1, sizeof(*s));
    if (!s)
        return PMIX_ERR_NOMEM;
    if (piece->n_ahead++ == 0)
        count_unasked(c->backlog, stream, -(int64_t)cost);
    while (drop == PX_DROP_OLDEST && b->cost > 0 && is_beyond(c, b, bytes, cost)) {
        drop_first(c, stream);
        rc = PMIX_ERR_PARTIAL_SUCCESS;
    }
    *s = (struct step){.piece = piece, .dropped = piece->dropped + b->dropped};
    b->dropped = 0;
    b->bytes += bytes;
    b->cost += cost;
    px_list_append(&c->steps, &s->link);
    return rc;
}

pmix_status_t px_cursor_add_all(struct px_cursor *c, pmix_iof_channel_t channels)
{
    PX_LIST_EACH (&c->backlog->pieces, struct px_piece, p, link) {
        pmix_status_t rc = p->channel & channels && !p->forwarded ? px_cursor_add(c, p)
                                                                  : PMIX_SUCCESS;

        if (rc == PMIX_ERR_NOMEM)
            return rc;
    }
    return PMIX_SUCCESS;
}

struct px_piece *px_cursor_next(const struct px_cursor *c, uint64_t *dropped)
{
    const struct step *s = first_of(c);

    if (s && dropped)
        *dropped = s->dropped;
    return s ? s->piece : NULL;
}

void px_cursor_pass(struct px_cursor *c)
{
    take_step(c, first_of(c), false);
}

bool px_cursor_is_done(const struct px_cursor *c)
{
    for (size_t i = 0; i < PX_STREAMS; i++)
        if (c->streams[i].cost > 0 || c->streams[i].dropped > 0)
            return false;
    return true;
}

void px_cursor_free(struct px_cursor *c, bool keep)
{
    while (!px_list_empty(&c->steps))
        take_step(c, first_of(c), keep);
    px_list_remove(&c->link);
    px_list_remove(&c->of_owner);
    px_list_remove(&c->turn);
    free(c);
}
