/* SPDX-License-Identifier: BSD-3-Clause */
/* Events between processes: registrations, delivery, and a cache for later
 * registrations. */
#include "core/base/clock.h"
#include "core/link/conn.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/host.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <limits.h>
#include <string.h>

#define MAX_CACHED    256   /* cached events; the oldest go first */
#define CACHE_MS      60000 /* maximum age */
#define MAX_CACHED_B  (16u * 1024u * 1024u)
#define MAX_CODES     4096
#define MAX_INTERESTS 4096 /* registrations of one peer */
#define MAX_AFFECTED  1024 /* processes that one registration names */

/* Info that shows hosts and servers that an event has passed a server. */
#define PASSED_SERVER "pmix.srvr.internal.notify"

/* One registration of a peer. */
struct interest {
    struct px_list link; /* in px_peer.interests */
    pmix_status_t *codes;
    size_t n_codes; /* 0: default handlers */
    pmix_proc_t *affected;
    size_t n_affected;
    struct px_charge charge;
};

/* An event that is being delivered. */
struct news {
    pmix_status_t code;
    const pmix_proc_t *source; /* borrowed, like the infos */
    uid_t uid;                 /* of the source; root's events reach all */
    pmix_data_range_t range;
    bool to_source; /* the source gets the event, too */
    bool lost;      /* a peer misses the event for lack of memory */
    unsigned done;  /* enum px_event_receivers: have the event already */
    const pmix_info_t *info;
    size_t n;
    struct px_payload *message; /* packed for the last peer, in its codec */
    struct px_codec codec;
};

struct cached {
    struct px_list link;
    uint64_t at_ms;
    size_t size_b;
    struct news news; /* of the source and infos below */
    pmix_proc_t source;
    px_infos infos;
};

static void interest_free(struct interest *i)
{
    if (!i)
        return;
    px_list_remove(&i->link);
    px_charge_end(&i->charge);
    free(i->codes);
    free(i->affected);
    free(i);
}

static void cached_free(struct px_server *srv, struct cached *c)
{
    px_list_remove(&c->link);
    srv->part.n_cached_events--;
    srv->part.cached_events_b -= c->size_b;
    px_infos_cleanup(&c->infos);
    free(c);
}

static void peer_left(struct px_server *srv PX_UNUSED, struct px_peer *peer)
{
    PX_LIST_EACH (&peer->interests, struct interest, i, link)
        interest_free(i);
}

/* ---- delivery -------------------------------------------------------------------- */

static bool is_wanted(const struct px_peer *peer, const struct interest *i,
                      const struct news *e)
{
    return px_event_wanted(peer->server->model, i->codes, i->n_codes, i->affected,
                           i->n_affected, e->code, e->info, e->n);
}

static bool peer_wants(const struct px_peer *peer, const struct news *e)
{
    PX_LIST_EACH (&peer->interests, struct interest, i, link)
        if (is_wanted(peer, i, e))
            return true;
    return false;
}

/* True if the peer may get the event. A source runs its own handlers itself. */
static bool may_reach(const struct news *e, const struct px_peer *peer)
{
    return (e->to_source || !px_proc_same(&peer->proc, e->source)) &&
           px_user_may(e->uid, peer->uid) &&
           px_range_includes(peer->server->model, e->range, e->source, e->info, e->n,
                             &peer->proc);
}

/* Packs the message, with info PASSED_SERVER. NULL, with a log line, on failure. */
static struct px_payload *pack(struct px_codec codec, const struct news *e)
{
    PX_AUTOFREE pmix_info_t *infos = calloc(e->n + 1, sizeof(*infos));
    struct px_payload *message = NULL;
    px_writer w;

    px_writer_init(&w, codec);
    if (infos) {
        if (e->n)
            memcpy(infos, e->info, e->n * sizeof(*infos));
        w.status = PMIx_Info_load(&infos[e->n], PASSED_SERVER, NULL, PMIX_BOOL);
        px_pack_op(&w, PX_OP_NOTIFY);
        px_pack_status(&w, e->code);
        px_pack(&w, e->source, 1, PMIX_PROC);
        px_pack_infos(&w, infos, e->n + 1);
        px_pack_u8(&w, e->range, PMIX_DATA_RANGE);
        message = w.status ? NULL : px_payload_take(&w.buf);
    }
    if (!message)
        px_log(PX_LOG_WARN, "server", "cannot pack event %s: %s",
               PMIx_Error_string(e->code),
               PMIx_Error_string(w.status ? w.status : PMIX_ERR_NOMEM));
    px_writer_cleanup(&w);
    return message;
}

/* Sends the event to a peer. Consecutive peers of the same codec share the message. */
static void send_event(struct px_peer *peer, struct news *e)
{
    if (e->codec.dialect != peer->codec.dialect ||
        e->codec.described != peer->codec.described) {
        px_payload_unref(e->message);
        e->codec = peer->codec;
        e->message = pack(peer->codec, e);
    }
    e->lost |= !e->message;
    if (!e->message || !peer->conn)
        return;
    pmix_status_t rc = px_conn_share(peer->conn, PX_TAG_NOTIFY, NULL, e->message);
    e->lost |= rc == PMIX_ERR_NOMEM;
    if (rc == PMIX_ERR_OUT_OF_RESOURCE && e->message->bytes.len <= PX_MAX_FRAME_B)
        px_conn_fail(peer->conn, rc); /* it does not read; events must not be lost */
}

/* Caches the event for later registrations. Out of memory, only those miss it. */
static void cache(struct px_server *srv, const struct news *e)
{
    size_t size_b = sizeof(struct cached);
    struct cached *c;

    if (e->range == PMIX_RANGE_PROC_LOCAL ||
        px_info_flag(e->info, e->n, PMIX_EVENT_DO_NOT_CACHE))
        return;
    for (size_t i = 0; i < e->n; i++)
        size_b += px_type_size(PMIX_INFO, &e->info[i]);
    c = size_b <= MAX_CACHED_B ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return;
    if (e->n && px_infos_add_copy(&c->infos, e->info, e->n)) {
        free(c);
        return;
    }
    c->at_ms = px_clock_ms();
    c->size_b = size_b;
    c->source = *e->source;
    c->news = (struct news){.code = e->code,
                            .source = &c->source,
                            .uid = e->uid,
                            .range = e->range,
                            .info = c->infos.v,
                            .n = c->infos.n};
    px_list_append(&srv->part.cached_events, &c->link);
    srv->part.n_cached_events++;
    srv->part.cached_events_b += size_b;
    while (srv->part.n_cached_events > MAX_CACHED ||
           srv->part.cached_events_b > MAX_CACHED_B)
        cached_free(srv,
                    PX_CONTAINER_OF(srv->part.cached_events.next, struct cached, link));
}

static size_t spread_to_peers(struct px_server *srv, struct news *e)
{
    size_t n_sent = 0;

    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        if (p->finalized || !peer_wants(p, e) || !may_reach(e, p))
            continue;
        send_event(p, e);
        n_sent++;
    }
    px_payload_unref(e->message);
    if (e->lost)
        return n_sent;
    cache(srv, e);
    e->done |= PX_EVENT_AT_PEERS;
    return n_sent;
}

/* Delivers an event to peers and own handlers that do not have the event. Returns the
 * number of peers. */
static size_t spread(struct px_server *srv, struct news *e)
{
    size_t n_sent = e->done & PX_EVENT_AT_PEERS ? 0 : spread_to_peers(srv, e);

    if (e->done & PX_EVENT_HERE)
        return n_sent;
    if (px_notify_deliver(srv->notify, e->code, e->source, e->range, e->info, e->n))
        px_log(PX_LOG_ERROR, "server", "cannot deliver event %s here: out of memory",
               PMIx_Error_string(e->code));
    else
        e->done |= PX_EVENT_HERE;
    return n_sent;
}

size_t px_server_event_on(struct px_server *srv, pmix_status_t code,
                          const pmix_proc_t *source, pmix_data_range_t range,
                          const pmix_info_t *info, size_t n, unsigned *done)
{
    const char *job = px_info_str(info, n, PMIX_NSPACE);
    /* A process that aborts another job is not the one that notifies. */
    bool to_source = code == PMIX_ERR_PROC_REQUESTED_ABORT && source && job &&
                     strcmp(job, source->nspace) != 0;
    struct news e = {.code = code,
                     .source = source ? source : &srv->proc,
                     .range = range,
                     .to_source = to_source,
                     .done = *done,
                     .info = info,
                     .n = n};
    size_t n_sent = spread(srv, &e);

    *done = e.done;
    return n_sent;
}

size_t px_server_event(struct px_server *srv, pmix_status_t code,
                       const pmix_proc_t *source, pmix_data_range_t range,
                       const pmix_info_t *info, size_t n)
{
    unsigned done = 0;

    return px_server_event_on(srv, code, source, range, info, n, &done);
}

/* ---- requests -------------------------------------------------------------------- */

/* True if the peer's library relies on the server's cache for its own events. OpenPMIx
 * before 4.2.3 keeps all own events for later handlers, other libraries those for
 * chosen processes. */
static bool leaves_own(const struct px_peer *peer, const struct news *e)
{
    return peer->conn && px_version_since(&peer->version, 4, 2, 3) &&
           e->range != PMIX_RANGE_CUSTOM;
}

/* Sends cached events to a new registration, except those that an earlier registration
 * of the peer has received. Only for registered codes: events of all kinds would reach
 * programs that end in default handlers. */
static void replay(struct px_server *srv, struct px_peer *peer,
                   const struct interest *fresh)
{
    uint64_t now = px_clock_ms();

    if (fresh->n_codes == 0)
        return;
    PX_LIST_EACH (&srv->part.cached_events, struct cached, c, link) {
        struct news e = c->news;
        bool had = false;

        if (now - c->at_ms > CACHE_MS) {
            cached_free(srv, c);
            continue;
        }
        PX_LIST_EACH (&peer->interests, struct interest, i, link)
            had |= i != fresh && is_wanted(peer, i, &e);
        e.to_source = leaves_own(peer, &e);
        if (!had && is_wanted(peer, fresh, &e) && may_reach(&e, peer))
            send_event(peer, &e);
        px_payload_unref(e.message);
    }
}

/* Fills the interest, and takes the codes. */
static pmix_status_t fill_interest(struct interest *i, struct px_args *a)
{
    const px_infos *l = &a->info;
    const pmix_info_t *about = px_info_find(l->v, l->n, PMIX_EVENT_AFFECTED_PROC);
    pmix_status_t rc = PMIX_SUCCESS;

    i->codes = px_take(&a->codes);
    i->n_codes = a->n_codes;
    if (!about)
        about = px_info_find(l->v, l->n, PMIX_EVENT_AFFECTED_PROCS);
    if (about)
        rc = px_value_procs(&about->value, &i->affected, &i->n_affected);
    return !rc && (i->n_codes > MAX_CODES || i->n_affected > MAX_AFFECTED)
               ? PMIX_ERR_BAD_PARAM
               : rc;
}

/* Replies, then sends the cached events. The interest may have been removed during the
 * call of the host, so it must still be listed. */
static void registered(struct px_req *req, pmix_status_t status)
{
    struct px_peer *peer = req->peer;
    const struct interest *fresh = req->state;

    px_peer_ref(peer);
    px_req_done(req, status);
    PX_LIST_EACH (&peer->interests, struct interest, i, link) {
        if (i == fresh) {
            replay(peer->server, peer, fresh);
            break;
        }
    }
    px_peer_unref(peer);
}

/* Handles the host's answer. A host without system events is not an obstacle to events
 * of clients. */
static void on_host_registered(void *arg, const struct px_upcall *answer)
{
    registered(arg, answer->status == PMIX_ERR_NOT_SUPPORTED ? PMIX_SUCCESS
                                                             : answer->status);
}

/* Registers the system events among the codes with the host, which produces no others.
 * Takes the infos. */
static pmix_status_t notify_host(struct px_server *srv, struct px_req *req,
                                 const struct interest *i, struct px_args *a)
{
    struct px_upcall *u;
    pmix_status_t *codes;
    size_t n = 0;

    for (size_t c = 0; c < i->n_codes; c++)
        n += PMIX_SYSTEM_EVENT(i->codes[c]);
    if (n == 0 || !srv->module.register_events)
        return PMIX_SUCCESS;
    u = px_upcall_for(req, on_host_registered);
    codes = u ? calloc(n, sizeof(*codes)) : NULL;
    if (!codes || px_infos_set_user(&a->info, req->peer)) {
        free(codes);
        px_upcall_drop(u);
        return PMIX_ERR_NOMEM;
    }
    for (size_t c = 0; c < i->n_codes; c++)
        if (PMIX_SYSTEM_EVENT(i->codes[c]))
            codes[u->args.n_codes++] = i->codes[c];
    u->args.codes = codes;
    u->args.info = a->info;
    a->info = (px_infos){0};
    px_upcall_returned(u,
                       srv->module.register_events(codes, n, u->args.info.v,
                                                   u->args.info.n, px_upcall_op_cb, u));
    return PX_DEFERRED;
}

static pmix_status_t add_and_notify(struct px_server *srv, struct px_req *req,
                                    struct px_args *a)
{
    struct interest *i = calloc(1, sizeof(*i));
    pmix_status_t rc = i ? fill_interest(i, a) : PMIX_ERR_NOMEM;

    if (!rc && px_list_length(&req->peer->interests) >= MAX_INTERESTS)
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (!rc)
        rc = px_charge(&i->charge, req->peer,
                       sizeof(*i) + i->n_codes * sizeof(*i->codes) +
                           i->n_affected * sizeof(*i->affected));
    if (!rc) {
        px_list_append(&req->peer->interests, &i->link);
        req->state = i;
        rc = notify_host(srv, req, i, a);
    }
    if (rc == PX_DEFERRED)
        return rc;
    if (rc) {
        interest_free(i);
        return rc;
    }
    registered(req, PMIX_SUCCESS);
    return PX_DEFERRED;
}

static pmix_status_t on_regevents(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) args = {0};
    pmix_status_t rc = px_req_unpack(req, &args, px_request_regevents.args);

    return rc ? rc : add_and_notify(srv, req, &args);
}

static void drop_code(struct px_peer *peer, pmix_status_t code)
{
    PX_LIST_EACH (&peer->interests, struct interest, i, link) {
        /* Both numbers stand for default handlers. */
        bool drop = i->n_codes == 0 && (code == INT_MAX || code == INT_MIN);
        size_t kept = 0;

        for (size_t c = 0; c < i->n_codes; c++)
            if (i->codes[c] != code)
                i->codes[kept++] = i->codes[c];
        drop |= i->n_codes > 0 && kept == 0;
        i->n_codes = kept;
        if (drop)
            interest_free(i);
    }
}

static pmix_status_t on_deregevents(struct px_server *srv PX_UNUSED, struct px_req *req)
{
    pmix_status_t code;

    while (!px_reader_done(&req->in) && !px_unpack_status(&req->in, &code))
        drop_code(req->peer, code);
    px_req_drop(req); /* no reply to this command */
    return PX_DEFERRED;
}

/* Delivers an event of a peer. Events that stay on the node skip the host and are
 * answered at once, as many come together. */
static pmix_status_t on_notify(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) a = {0};
    pmix_status_t rc = px_req_unpack(req, &a, px_request_notify.args);
    struct news e = {.code = a.code,
                     .source = &req->peer->proc,
                     .uid = req->peer->uid,
                     .range = a.directive,
                     .info = a.info.v,
                     .n = a.info.n};
    struct px_upcall *u;

    if (!rc && a.directive > PMIX_RANGE_PROC_LOCAL)
        rc = PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    spread(srv, &e);
    if (!srv->module.notify_event || a.directive == PMIX_RANGE_LOCAL ||
        a.directive == PMIX_RANGE_PROC_LOCAL ||
        px_info_flag(a.info.v, a.info.n, PMIX_EVENT_STAYS_LOCAL))
        return PMIX_SUCCESS;
    rc = px_infos_add(&a.info, PASSED_SERVER, NULL, PMIX_BOOL);
    u = rc ? NULL : px_upcall_for(req, px_upcall_reply_status);
    if (!u)
        return PMIX_ERR_NOMEM;
    u->args = a;
    a = (px_args){0};
    px_upcall_returned(u, srv->module.notify_event(u->args.code, &u->proc,
                                                   u->args.directive, u->args.info.v,
                                                   u->args.info.n, px_upcall_op_cb, u));
    return PX_DEFERRED;
}

static const struct px_rpc rpcs[] = {
    /* reaches processes of the sender's user only */
    {PX_OP_NOTIFY, PX_BY_ANY, PX_OWN, .handler = on_notify},
    {PX_OP_REGEVENTS, PX_BY_ANY, PX_OWN, .handler = on_regevents},
    {PX_OP_DEREGEVENTS, PX_BY_ANY | PX_BY_LEAVING, PX_OWN, .passing = true,
     .handler = on_deregevents},
    {0},
};

/* Sends an event at any end of a tool. */
static void peer_gone(struct px_server *srv, struct px_peer *peer)
{
    if (peer->tool && !srv->stopping)
        px_server_event(srv, PMIX_ERR_LOST_CONNECTION, &peer->proc,
                        PMIX_RANGE_PROC_LOCAL, NULL, 0);
}

static void rank_lost(struct px_server *srv, const pmix_proc_t *proc)
{
    px_server_event(srv, PMIX_ERR_LOST_CONNECTION, proc, PMIX_RANGE_PROC_LOCAL, NULL,
                    0);
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.cached_events, struct cached, c, link)
        cached_free(srv, c);
}

const struct px_server_part px_events_part = {
    .name = "events",
    .rpcs = rpcs,
    .destroy = destroy,
    .peer_left = peer_left,
    .peer_gone = peer_gone,
    .rank_lost = rank_lost,
};
