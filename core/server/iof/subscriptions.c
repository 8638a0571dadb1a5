/* SPDX-License-Identifier: BSD-3-Clause */
/* Subscriptions to output, and the sending of output to their peers. A reader that
 * keeps up is sent a piece at once. A reader that is behind has a cursor in the backlog
 * of the source. When its connection has drained, its cursors send one piece each in
 * turn. */
#include "core/server/iof/subscriptions.h"

#include "core/base/map.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/door/door.h"
#include "core/server/host.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

#define MAX_PULLS 1024 /* per peer */
/* A reader is behind with more unread bytes than this. */
#define AHEAD_B (256u * 1024u)

struct px_iof_reader *px_iof_reader_find(const struct px_server *srv,
                                         const struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.relay->readers, struct px_iof_reader, r, link)
        if (r->peer == peer)
            return r;
    return NULL;
}

size_t px_pulls_left(const struct px_relay *relay)
{
    size_t b = relay->backlogs.kept_b - relay->backlogs.unasked_b;

    PX_LIST_EACH (&relay->readers, const struct px_iof_reader, r, link)
        b += r->own_b + (r->peer->conn ? px_conn_unsent(r->peer->conn) : 0);
    return b;
}

size_t px_pulls_owed(const struct px_server *srv, const struct px_peer *peer)
{
    const struct px_iof_reader *r = px_iof_reader_find(srv, peer);
    size_t b = 0;

    if (!r || !peer->conn || (px_list_empty(&r->pulls) && px_list_empty(&r->ending)))
        return 0;
    PX_LIST_EACH (&r->ending, const struct px_subscription, p, link)
        PX_LIST_EACH (&p->cursors, const struct px_cursor, c, of_owner)
            for (size_t i = 0; i < PX_STREAMS; i++)
                b += c->streams[i].bytes;
    return b + px_conn_unsent(peer->conn) + 1;
}

static struct px_iof_reader *get_reader(struct px_server *srv, struct px_peer *peer)
{
    struct px_iof_reader *r = px_iof_reader_find(srv, peer);

    if (!r)
        r = calloc(1, sizeof(*r));
    if (!r || r->peer)
        return r;
    r->peer = peer;
    px_list_init(&r->pulls);
    px_list_init(&r->ending);
    px_list_init(&r->behind);
    px_list_append(&srv->part.relay->readers, &r->link);
    return r;
}

struct px_subscription *px_subscription_find(const struct px_iof_reader *r, size_t id)
{
    if (r)
        PX_LIST_EACH (&r->pulls, struct px_subscription, p, link)
            if (p->id == id)
                return p;
    return NULL;
}

static void end_cursor(struct px_relay *relay, struct px_cursor *c, bool keep)
{
    struct px_backlog *backlog = c->backlog;

    px_cursor_free(c, keep &&
                          px_nspace_find(relay->server->model, backlog->source.nspace));
    px_deliveries_wake(relay, backlog);
    px_backlog_settle(backlog);
}

void px_subscription_free(struct px_relay *relay, struct px_subscription *p, bool keep)
{
    if (!p)
        return;
    PX_LIST_EACH (&p->cursors, struct px_cursor, c, of_owner)
        end_cursor(relay, c, keep);
    px_list_remove(&p->link);
    p->reader->n_pulls--;
    px_infos_cleanup(&p->info);
    px_charge_end(&p->charge);
    free(p->procs);
    free(p);
}

/* ---- the end of a subscription --------------------------------------------------- */

/* Answers the deregistration; the status of the host changes nothing. */
static void on_host_stopped(void *arg, const struct px_upcall *answer PX_UNUSED)
{
    if (arg)
        px_req_done(arg, PMIX_SUCCESS);
}

static void on_stop(struct px_msg *msg)
{
    struct px_upcall *u = PX_CONTAINER_OF(msg, struct px_upcall, msg);
    const struct px_server *srv = px_process.server; /* NULL after the end */
    const pmix_server_module_t *m;

    if (u->orphan || !srv) {
        px_upcall_drop(u);
        return;
    }
    m = &srv->module;
    px_upcall_returned(u, m->iof_pull(u->args.procs, u->args.n_procs, u->args.info.v,
                                      u->args.info.n, PMIX_FWD_NO_CHANNELS,
                                      px_upcall_op_cb, u));
}

void px_subscription_end(struct px_server *srv, struct px_subscription *p)
{
    struct px_req *req = p->req;
    bool notifies = !srv->stopping && !p->forwards;
    struct px_upcall *u = notifies ? px_upcall_new(srv, on_host_stopped, req) : NULL;

    if (u && px_infos_add(&p->info, PMIX_IOF_STOP, NULL, PMIX_BOOL)) {
        px_upcall_drop(u);
        u = NULL;
    }
    if (u) {
        u->args.info = p->info;
        p->info = (px_infos){0};
        u->args.procs = px_take(&p->procs);
        u->args.n_procs = p->n_procs;
        u->msg.run = on_stop;
        px_post(srv->loop, &u->msg);
    } else if (req) {
        px_req_done(req, srv->stopping ? PMIX_ERR_LOST_CONNECTION : PMIX_ERR_NOMEM);
    }
    px_subscription_free(srv->part.relay, p, false);
}

/* ---- sending --------------------------------------------------------------------- */

static bool has_room(const struct px_iof_reader *r)
{
    const struct px_peer *peer = r->peer;

    if (peer == peer->server->self)
        return r->own_b <= AHEAD_B &&
               !px_iof_producer_is_stopped(&peer->server->part.relay->own);
    return peer->conn && px_conn_unsent(peer->conn) <= AHEAD_B;
}

struct own_piece {
    struct px_msg msg;
    px_buf payload;
};

static void on_own_piece(struct px_msg *msg)
{
    struct own_piece *own = PX_CONTAINER_OF(msg, struct own_piece, msg);
    struct px_server *srv = px_process.server; /* NULL after the end */
    struct px_iof_reader *reader = srv ? px_iof_reader_find(srv, srv->self) : NULL;
    px_reader r;

    px_reader_init(&r, px_codec_default, own->payload.data, own->payload.len);
    if (reader)
        reader->own_b -= own->payload.len < reader->own_b ? own->payload.len
                                                          : reader->own_b;
    if (px_process.client)
        (void)px_iof_receive(px_process.client->receivers, &r);
    px_buf_cleanup(&own->payload);
    free(own);
    if (srv)
        px_pulls_peer_room(srv, srv->self);
}

/* Posts a piece to the receivers of this process; their functions may change lists
 * that the caller walks. */
static pmix_status_t send_to_self(struct px_iof_reader *r, px_writer *w)
{
    struct own_piece *own = calloc(1, sizeof(*own));

    if (!own)
        return PMIX_ERR_NOMEM;
    own->payload = px_buf_take(&w->buf);
    own->msg.run = on_own_piece;
    r->own_b += own->payload.len;
    px_post(r->peer->server->loop, &own->msg);
    return PMIX_SUCCESS;
}

static pmix_status_t send_piece(const struct px_subscription *p, struct px_args *args,
                                struct px_payload *bytes)
{
    struct px_peer *peer = p->reader->peer;
    pmix_status_t rc;
    px_writer w;

    args->id = p->peer_id;
    args->n_procs = 1;
    args->bytes = (pmix_byte_object_t){.bytes = (char *)bytes->bytes.data,
                                       .size = bytes->bytes.len};
    px_writer_init(&w, peer->codec);
    if (peer == peer->server->self)
        px_pack_args(&w, args, px_request_piece.args);
    else
        px_pack_piece_head(&w, args);
    rc = w.status;
    if (!rc && peer == peer->server->self)
        rc = send_to_self(p->reader, &w);
    else if (!rc)
        rc = peer->conn ? px_conn_share(peer->conn, PX_TAG_IOF, &w.buf, bytes,
                                         false)
                        : PMIX_ERR_LOST_CONNECTION;
    px_writer_cleanup(&w);
    /* After a missing piece the peer must not take the next piece for all output. */
    if (rc == PMIX_ERR_NOMEM && peer->conn)
        px_conn_fail(peer->conn, rc);
    return rc;
}

/* Sends the next piece. PMIX_ERR_OUT_OF_RESOURCE: the connection has no room for now,
 * and the piece remains the next. */
static pmix_status_t send_next(struct px_cursor *c)
{
    const struct px_subscription *p = c->owner;
    PX_AUTO(px_infos) with_count = {0};
    uint64_t dropped = 0;
    const struct px_piece *piece = px_cursor_next(c, &dropped);
    struct px_args args = {
        .procs = &c->backlog->source, .channels = piece->channel, .info = piece->info};
    const pmix_proc_t *reader = &p->reader->peer->proc;
    pmix_status_t rc = PMIX_SUCCESS;

    if (dropped) {
        rc = px_infos_add_copy(&with_count, piece->info.v, piece->info.n);
        if (!rc)
            rc = px_infos_add(&with_count, TENON_IOF_DROPPED, &dropped, PMIX_UINT64);
        args.info = with_count;
    }
    if (!rc)
        rc = send_piece(p, &args, piece->bytes);
    if (rc == PMIX_ERR_OUT_OF_RESOURCE)
        return rc;
    if (rc && rc != PMIX_ERR_LOST_CONNECTION)
        px_log(PX_LOG_WARN, "server", "cannot send output of %s.%u to %s.%u: %s",
               c->backlog->source.nspace, c->backlog->source.rank, reader->nspace,
               reader->rank, PMIx_Error_string(rc));
    else if (!rc && dropped)
        px_log(PX_LOG_INFO, "server",
               "%llu bytes of output of %s.%u dropped: %s.%u reads too slowly",
               (unsigned long long)dropped, c->backlog->source.nspace,
               c->backlog->source.rank, reader->nspace, reader->rank);
    px_cursor_pass(c);
    return rc;
}

/* Moves a cursor to the end of the turn, or frees a cursor at the end. An ending
 * subscription ends with its last cursor. */
static void pass_on(struct px_server *srv, struct px_cursor *c)
{
    struct px_subscription *p = c->owner;
    struct px_iof_reader *r = p->reader;

    px_list_remove(&c->turn);
    if (px_cursor_next(c, NULL)) {
        px_list_append(&r->behind, &c->turn);
        px_deliveries_wake(srv->part.relay, c->backlog);
        return;
    }
    if (px_cursor_is_done(c) || p->ends)
        end_cursor(srv->part.relay, c, false);
    else
        px_deliveries_wake(srv->part.relay, c->backlog);
    if (p->ends && px_list_empty(&p->cursors))
        px_subscription_end(srv, p);
}

static void send_behind(struct px_server *srv, struct px_iof_reader *r)
{
    r->due = false;
    while (!px_list_empty(&r->behind) && has_room(r)) {
        struct px_cursor *c = PX_CONTAINER_OF(r->behind.next, struct px_cursor, turn);

        if (send_next(c) == PMIX_ERR_OUT_OF_RESOURCE)
            break;
        pass_on(srv, c);
    }
    if (!px_list_empty(&r->behind) && r->peer->conn)
        px_conn_await_room(r->peer->conn);
}

void px_pulls_peer_room(struct px_server *srv, struct px_peer *peer)
{
    struct px_iof_reader *r = px_iof_reader_find(srv, peer);

    if (r)
        send_behind(srv, r);
}

/* ---- begin and finish ------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    return px_type_compare(PMIX_PROC, a, b);
}

static bool names(const struct px_subscription *p, const pmix_proc_t *source)
{
    pmix_proc_t all = *source;

    all.rank = PMIX_RANK_WILDCARD;
    if (bsearch(source, p->procs, p->n_procs, sizeof(*source), compare) ||
        bsearch(&all, p->procs, p->n_procs, sizeof(all), compare))
        return true;
    /* Output of a whole job is output of each rank. */
    for (size_t i = 0; source->rank == PMIX_RANK_WILDCARD && i < p->n_procs; i++)
        if (strcmp(p->procs[i].nspace, source->nspace) == 0)
            return true;
    return false;
}

/* True if the peer may read the output. Checked for each delivery: the namespace may
 * have been registered after the request. */
static bool may_read(const struct px_iof_reader *r, const pmix_proc_t *source)
{
    return !r->peer->finalized && !px_proc_same(&r->peer->proc, source) &&
           px_peer_may(r->peer, source->nspace);
}

static struct px_cursor *make_cursor(struct px_backlog *backlog,
                                     struct px_subscription *p)
{
    struct px_cursor *c = px_cursor_create(backlog, &p->cache, p);

    if (c)
        px_list_append(&p->cursors, &c->of_owner);
    return c;
}

/* Makes cursors before all retained pieces that the subscription wants. */
static pmix_status_t add_retained(struct px_relay *relay, struct px_subscription *p)
{
    pmix_status_t rc = PMIX_SUCCESS;
    struct px_backlog *backlog;
    size_t pos = 0;

    while (!rc && (backlog = px_map_next(&relay->backlogs.map, &pos, NULL, NULL))) {
        struct px_cursor *c;

        if (!names(p, &backlog->source) || !may_read(p->reader, &backlog->source))
            continue;
        c = make_cursor(backlog, p);
        rc = c ? px_cursor_add_all(c, p->channels) : PMIX_ERR_NOMEM;
        if (c && px_cursor_is_done(c))
            end_cursor(relay, c, true);
    }
    return rc;
}

pmix_status_t px_subscription_make(struct px_server *srv, struct px_req *req,
                                   const struct px_args *a,
                                   const struct px_cache *cache, size_t id)
{
    struct px_iof_reader *r = get_reader(srv, req->peer);
    struct px_subscription *p = r && r->n_pulls < MAX_PULLS ? calloc(1, sizeof(*p))
                                                            : NULL;
    pmix_status_t rc;

    if (!p)
        return r && r->n_pulls >= MAX_PULLS ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_NOMEM;
    *p = (struct px_subscription){
        .reader = r,
        .id = id,
        .peer_id = a->id,
        .n_procs = a->n_procs,
        .channels = a->channels,
        .cache = *cache,
        .redirects = px_info_flag(a->info.v, a->info.n, PMIX_IOF_REDIRECT)};
    px_list_init(&p->cursors);
    px_list_append(&r->pulls, &p->link);
    r->n_pulls++;
    rc = px_charge(&p->charge, req->peer, sizeof(*p) + a->n_procs * sizeof(*p->procs));
    if (!rc)
        rc = px_type_copy_array(PMIX_PROC, (void **)&p->procs, a->procs, a->n_procs);
    if (!rc) {
        qsort(p->procs, p->n_procs, sizeof(*p->procs), compare);
        rc = add_retained(srv->part.relay, p);
    }
    if (rc)
        px_subscription_free(srv->part.relay, p, true);
    return rc;
}

void px_subscription_begin(struct px_server *srv, struct px_subscription *p)
{
    p->agreed = true;
    PX_LIST_EACH (&p->cursors, struct px_cursor, c, of_owner)
        if (px_cursor_next(c, NULL))
            px_list_append(&p->reader->behind, &c->turn);
    send_behind(srv, p->reader);
}

void px_subscription_finish(struct px_server *srv, struct px_subscription *p)
{
    struct px_iof_reader *r = p->reader;

    p->ends = true;
    px_list_remove(&p->link);
    px_list_append(&r->ending, &p->link);
    PX_LIST_EACH (&p->cursors, struct px_cursor, c, of_owner)
        if (!p->agreed || !px_cursor_next(c, NULL))
            end_cursor(srv->part.relay, c, !p->agreed);
    if (px_list_empty(&p->cursors))
        px_subscription_end(srv, p);
    send_behind(srv, r);
}

/* ---- deliveries ------------------------------------------------------------------ */

enum px_iof_interest px_server_iof_interest(const struct px_server *srv,
                                            const pmix_proc_t *source,
                                            pmix_iof_channel_t channel)
{
    enum px_iof_interest interest = srv->part.door->tools_asked ? PX_IOF_LATER : PX_IOF_NONE;

    PX_LIST_EACH (&srv->part.relay->readers, const struct px_iof_reader, r, link) {
        bool may = may_read(r, source);

        PX_LIST_EACH (&r->pulls, const struct px_subscription, p, link) {
            if (!may || p->forwards || !(p->channels & channel) || !names(p, source))
                continue;
            if (p->redirects)
                return PX_IOF_REDIRECTED;
            interest = PX_IOF_COPIED;
        }
    }
    return interest;
}

bool px_pulls_want(struct px_server *srv, const pmix_proc_t *source,
                   pmix_iof_channel_t channels, bool forwarded)
{
    const struct px_backlog *backlog = px_backlog_find(&srv->part.relay->backlogs,
                                                       source);
    bool any = false;

    PX_LIST_EACH (&srv->part.relay->readers, struct px_iof_reader, r, link) {
        bool may = may_read(r, source);

        PX_LIST_EACH (&r->pulls, struct px_subscription, p, link) {
            p->wants = may && p->forwards == forwarded && (p->channels & channels) &&
                       names(p, source);
            p->here = NULL;
            any |= p->wants;
        }
    }
    if (any && backlog)
        PX_LIST_EACH (&backlog->cursors, struct px_cursor, c, link)
            ((struct px_subscription *)c->owner)->here = c;
    return any;
}

struct delivery {
    struct px_relay *relay;
    const pmix_proc_t *source;
    struct px_payload *bytes;
    struct px_args args; /* without the number of each subscription */
    px_infos *info;
    struct px_piece *piece; /* NULL: all readers keep up so far */
};

/* Adds the piece to the backlog, before the cursor of a reader that is behind. */
static pmix_status_t put_off(struct delivery *d, struct px_subscription *p)
{
    struct px_backlog *backlog = px_backlog_get(&d->relay->backlogs, d->source);
    pmix_status_t rc;

    if (!backlog)
        return PMIX_ERR_NOMEM;
    if (!d->piece)
        d->piece = px_backlog_add(backlog, d->args.channels, d->bytes, d->info);
    if (d->piece)
        d->piece->forwarded = p->forwards;
    if (d->piece && !p->here)
        p->here = make_cursor(backlog, p);
    rc = d->piece && p->here ? px_cursor_add(p->here, d->piece) : PMIX_ERR_NOMEM;
    if (!d->piece)
        px_backlog_settle(backlog);
    if (p->here && p->agreed && !px_list_linked(&p->here->turn) &&
        px_cursor_next(p->here, NULL))
        px_list_append(&p->reader->behind, &p->here->turn);
    p->reader->due = true;
    if (rc == PMIX_ERR_NOMEM && p->reader->peer->conn)
        px_conn_fail(p->reader->peer->conn, rc);
    return rc;
}

static pmix_status_t deliver(struct delivery *d, struct px_subscription *p)
{
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;

    if (!p->here && px_list_empty(&p->reader->behind) && has_room(p->reader)) {
        d->args.info = d->piece ? d->piece->info : *d->info;
        rc = send_piece(p, &d->args, d->bytes);
    }
    if (rc == PMIX_ERR_LOST_CONNECTION)
        return PMIX_SUCCESS; /* the peer is about to leave */
    return rc == PMIX_ERR_OUT_OF_RESOURCE ? put_off(d, p) : rc;
}

pmix_status_t px_pulls_give(struct px_server *srv, const pmix_proc_t *source,
                            pmix_iof_channel_t channel, struct px_payload *bytes,
                            px_infos *info)
{
    struct delivery d = {.relay = srv->part.relay,
                         .source = source,
                         .bytes = bytes,
                         .args = {.procs = (pmix_proc_t *)source, .channels = channel},
                         .info = info};
    pmix_status_t first = PMIX_SUCCESS;

    PX_LIST_EACH (&d.relay->readers, struct px_iof_reader, r, link)
        PX_LIST_EACH (&r->pulls, struct px_subscription, p, link) {
            pmix_status_t rc = p->wants ? deliver(&d, p) : PMIX_SUCCESS;

            if (rc && (!first || first == PMIX_ERR_PARTIAL_SUCCESS))
                first = rc;
        }
    if (d.piece) {
        struct px_backlog *backlog = d.piece->backlog;

        px_piece_settle(d.piece, false);
        px_backlog_settle(backlog);
    }
    PX_LIST_EACH (&d.relay->readers, struct px_iof_reader, r, link)
        if (r->due)
            send_behind(srv, r);
    px_infos_cleanup(info);
    return first;
}
