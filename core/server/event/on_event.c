/* SPDX-License-Identifier: BSD-3-Clause */
/* Events between processes: registrations, delivery, and a cache for later
 * registrations. */
#include "core/base/clock.h"
#include "core/base/vec.h"
#include "core/link/conn.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/door/door.h"
#include "core/server/event/event.h"
#include "core/server/event/interests.h"
#include "core/server/host.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

/* Limits of cached events. The oldest go first. */
#define MAX_CACHED   256
#define MAX_CACHED_B (16u * 1024u * 1024u)
#define CACHE_MS     60000 /* maximum age */

/* Limits of an event of a peer. The processes are the affected ones and those of its
 * custom range. Beyond a limit the event ends with PMIX_ERR_OUT_OF_RESOURCE. */
#define MAX_EVENT_INFOS 2048u
#define MAX_EVENT_PROCS 4096u

/* Work that counts as one item; see px_work. */
#define PEERS_PER_ITEM  8u  /* peers that an event is compared with, or sent to */
#define MERGED_PER_ITEM 16u /* entries that a registration moves */

/* Info that shows hosts and servers that an event has passed a server. */
#define PASSED_SERVER "pmix.srvr.internal.notify"

/* An event that is being delivered. */
struct news {
    pmix_status_t code;
    const pmix_proc_t *source; /* borrowed, like the infos */
    uid_t uid;                 /* of the source; root's events reach all */
    struct px_peer *sender;    /* NULL: this server, or its host */
    pmix_data_range_t range;
    bool to_source; /* the source gets the event, too */
    bool lost;      /* a peer misses the event for lack of memory */
    unsigned done;  /* enum px_event_receivers: have the event already */
    const pmix_info_t *info;
    size_t n;
    struct px_aim aim;          /* of the infos */
    struct px_payload *message; /* packed for the last peer, in its codec */
    struct px_codec codec;
    size_t n_steps; /* work so far, in items; see px_work */
};

struct cached {
    struct px_list link;
    uint64_t number, at_ms;
    size_t size_b;
    struct px_charge charge; /* of the sender */
    bool for_peers;          /* for later registrations of peers */
    bool for_host;           /* for a later handler of this process: none had it */
    struct news news;        /* of the source and infos below */
    pmix_proc_t source;
    px_infos infos;
};

static void cached_free(struct px_server *srv, struct cached *c)
{
    px_list_remove(&c->link);
    srv->part.n_cached_events--;
    srv->part.cached_events_b -= c->size_b;
    px_charge_end(&c->charge);
    px_infos_cleanup(&c->infos);
    free(c);
}

static void peer_left(struct px_server *srv PX_UNUSED, struct px_peer *peer)
{
    px_interests_free(peer);
}

/* ---- delivery -------------------------------------------------------------------- */

static void begin(struct px_server *srv, struct news *e)
{
    e->aim = px_aim_of(srv->model, e->code, e->info, e->n);
    e->n_steps = e->n;
}

static void end(struct news *e)
{
    px_payload_unref(e->message);
    e->message = NULL;
    px_aim_fini(&e->aim);
}

/* True if the peer may get the event. A source runs its own handlers itself. */
static bool may_reach(struct news *e, const struct px_peer *peer)
{
    size_t before = e->aim.range.n_steps;
    bool may = (e->to_source || !px_proc_same(&peer->proc, e->source)) &&
               px_user_may(e->uid, peer->uid) &&
               px_range_includes(&e->aim, e->range, e->source, &peer->proc);

    e->n_steps += e->aim.range.n_steps - before;
    return may;
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
        e->n_steps += e->n;
    }
    e->lost |= !e->message;
    if (!e->message || !peer->conn)
        return;
    pmix_status_t rc = px_conn_share(peer->conn, PX_TAG_NOTIFY, NULL, e->message);
    e->lost |= rc == PMIX_ERR_NOMEM;
    if (rc == PMIX_ERR_OUT_OF_RESOURCE && e->message->bytes.len <= PX_MAX_FRAME_B)
        px_conn_fail(peer->conn, rc); /* it does not read; events must not be lost */
}

/* ---- the cache ------------------------------------------------------------------- */

static struct cached *oldest(const struct px_server *srv)
{
    return px_list_empty(&srv->part.cached_events)
               ? NULL
               : PX_CONTAINER_OF(srv->part.cached_events.next, struct cached, link);
}

/* Frees the events that are too old, and wakes again when the next one is. */
static void on_age(void *arg)
{
    struct px_server *srv = arg;
    uint64_t now = px_clock_ms();
    struct cached *c;

    while ((c = oldest(srv)) && now - c->at_ms >= CACHE_MS)
        cached_free(srv, c);
    if (c)
        px_timer_set(srv->part.events_timer, CACHE_MS - (now - c->at_ms));
}

/* Lists the event, and frees the oldest ones beyond the limits. */
static void add_cached(struct px_server *srv, struct cached *c)
{
    struct px_server_parts *part = &srv->part;

    if (!oldest(srv) && part->events_timer)
        px_timer_set(part->events_timer, CACHE_MS);
    px_list_append(&part->cached_events, &c->link);
    part->n_cached_events++;
    part->cached_events_b += c->size_b;
    while (part->n_cached_events > MAX_CACHED || part->cached_events_b > MAX_CACHED_B)
        cached_free(srv, oldest(srv));
}

/* Caches the event for later registrations of peers, or for later handlers of this
 * process. The sender is charged. Without memory or room, the event is not cached. */
static void cache(struct px_server *srv, const struct news *e, bool for_peers,
                  bool for_host)
{
    size_t size_b = sizeof(struct cached);
    struct cached *c;

    for_peers &= e->range != PMIX_RANGE_PROC_LOCAL;
    if ((!for_peers && !for_host) ||
        px_info_flag(e->info, e->n, PMIX_EVENT_DO_NOT_CACHE))
        return;
    for (size_t i = 0; i < e->n; i++)
        size_b += px_type_size(PMIX_INFO, &e->info[i]);
    c = size_b <= MAX_CACHED_B ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return;
    if ((e->sender && px_charge(&c->charge, e->sender, size_b)) ||
        (e->n && px_infos_add_copy(&c->infos, e->info, e->n))) {
        px_charge_end(&c->charge);
        free(c);
        return;
    }
    c->number = srv->part.next_event++;
    c->at_ms = px_clock_ms();
    c->size_b = size_b;
    c->for_peers = for_peers;
    c->for_host = for_host;
    c->source = *e->source;
    c->news = (struct news){.code = e->code,
                            .source = &c->source,
                            .uid = e->uid,
                            .range = e->range,
                            .info = c->infos.v,
                            .n = c->infos.n};
    add_cached(srv, c);
}

/* Delivers the event to handlers of this process. Returns true if one gets the event.
 * The process itself caches its programming models. */
static bool deliver_here(struct px_server *srv, struct news *e)
{
    const px_infos infos = px_infos_borrow(e->info, e->n);
    bool taken = false;
    bool is_model = e->code == PMIX_MODEL_DECLARED &&
                    e->range == PMIX_RANGE_PROC_LOCAL &&
                    px_proc_same(e->source, &srv->proc);
    pmix_status_t rc = is_model ? px_notify_deliver(srv->notify, e->code, e->source,
                                                    e->range, e->info, e->n)
                                : px_notify_offer(srv->notify, &e->aim, e->source,
                                                  e->range, &infos, NULL, &taken);

    if (rc)
        px_log(PX_LOG_ERROR, "server", "cannot deliver event %s here: out of memory",
               PMIx_Error_string(e->code));
    else
        e->done |= PX_EVENT_HERE;
    return is_model || taken;
}

static size_t spread_to_peers(struct px_server *srv, struct news *e)
{
    size_t n_peers = 0, n_sent = 0;

    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        n_peers++;
        if (p->finalized ||
            !px_interests_want(p->interests, &e->aim, UINT64_MAX, &e->n_steps) ||
            !may_reach(e, p))
            continue;
        send_event(p, e);
        n_sent++;
    }
    e->n_steps += (n_peers + n_sent) / PEERS_PER_ITEM;
    if (!e->lost)
        e->done |= PX_EVENT_AT_PEERS;
    return n_sent;
}

/* Delivers an event to peers and own handlers that do not have the event, and ends it.
 * Returns the number of peers. */
static size_t spread(struct px_server *srv, struct news *e)
{
    const unsigned before = e->done;
    size_t n_sent = before & PX_EVENT_AT_PEERS ? 0 : spread_to_peers(srv, e);
    bool taken = !(before & PX_EVENT_HERE) && deliver_here(srv, e);
    const unsigned fresh = e->done & ~before;

    cache(srv, e, fresh & PX_EVENT_AT_PEERS, fresh & PX_EVENT_HERE && !taken);
    if (e->sender)
        (void)px_work(e->sender, e->n_steps);
    end(e);
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
    size_t n_sent;

    begin(srv, &e);
    n_sent = spread(srv, &e);
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

/* Sends a cached event to a new registration, unless an earlier registration of the
 * peer has received the event, or will. Returns the work in items. */
static size_t replay_one(struct px_peer *peer, const struct px_interest *fresh,
                         const struct cached *c)
{
    const struct px_interests *all = peer->interests;
    struct news e = c->news;

    if (!c->for_peers || !px_interest_has(all, fresh, e.code))
        return 1;
    begin(peer->server, &e);
    e.to_source = leaves_own(peer, &e);
    if (px_interest_wants(all, fresh, &e.aim, &e.n_steps) && may_reach(&e, peer) &&
        !px_interests_want(all, &e.aim, fresh->id, &e.n_steps))
        send_event(peer, &e);
    end(&e);
    return 1 + e.n_steps;
}

/* Sends cached events to new registrations of a peer, in order, while the peer has its
 * turn. Only for registered codes: events of all kinds would reach programs that end in
 * default handlers. */
static void replay(struct px_server *srv, struct px_peer *peer)
{
    if (!peer->interests)
        return;
    PX_LIST_EACH (&peer->interests->due, struct px_interest, fresh, due) {
        PX_LIST_EACH (&srv->part.cached_events, struct cached, c, link) {
            if (c->number < fresh->next)
                continue;
            if (c->number >= fresh->end)
                break;
            fresh->next = c->number + 1;
            if (px_work(peer, replay_one(peer, fresh, c)))
                return;
        }
        px_list_remove(&fresh->due);
    }
}

void px_server_replay(void *ctx, const struct px_handler *h)
{
    struct px_server *srv = ctx;

    PX_LIST_EACH (&srv->part.cached_events, struct cached, c, link) {
        struct news e = c->news;
        bool taken = false;

        if (!c->for_host)
            continue;
        begin(srv, &e);
        if (px_notify_offer(srv->notify, &e.aim, e.source, e.range, &c->infos, h,
                            &taken))
            px_log(PX_LOG_ERROR, "server",
                   "cannot deliver event %s here: out of memory",
                   PMIx_Error_string(e.code));
        end(&e);
        c->for_host = !taken;
        if (!c->for_host && !c->for_peers)
            cached_free(srv, c);
    }
}

/* Reads the processes that a registration names. Returns a copy, or NULL for none. */
static pmix_status_t read_affected(const px_infos *l, pmix_proc_t **procs, size_t *n)
{
    const pmix_info_t *about = px_info_find(l->v, l->n, PMIX_EVENT_AFFECTED_PROC);
    const pmix_proc_t *named;
    pmix_status_t rc;

    *procs = NULL;
    *n = 0;
    if (!about)
        about = px_info_find(l->v, l->n, PMIX_EVENT_AFFECTED_PROCS);
    rc = about ? px_value_borrow_procs(&about->value, &named, n) : PMIX_SUCCESS;
    if (rc || !about)
        return rc;
    return *n > PX_MAX_AFFECTED
               ? PMIX_ERR_BAD_PARAM
               : px_type_copy_array(PMIX_PROC, (void **)procs, named, *n);
}

/* Replies, then sends the cached events. The registration may have been removed during
 * the call of the host. */
static void registered(struct px_req *req, pmix_status_t status)
{
    struct px_peer *peer = req->peer;
    uint64_t id = (uintptr_t)req->state;
    struct px_interest *fresh;

    px_peer_ref(peer);
    px_req_done(req, status);
    fresh = px_interests_find(peer->interests, id);
    if (fresh && !fresh->is_default) {
        fresh->end = peer->server->part.next_event;
        px_list_append(&peer->interests->due, &fresh->due);
        replay(peer->server, peer);
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
                                 struct px_args *a)
{
    struct px_upcall *u;
    pmix_status_t *codes;
    size_t n = 0;

    for (size_t c = 0; c < a->n_codes; c++)
        n += PMIX_SYSTEM_EVENT(a->codes[c]);
    if (n == 0 || !srv->module.register_events)
        return PMIX_SUCCESS;
    u = px_upcall_for(req, on_host_registered);
    codes = u ? calloc(n, sizeof(*codes)) : NULL;
    if (!codes || px_infos_set_user(&a->info, req->peer)) {
        free(codes);
        px_upcall_drop(u);
        return PMIX_ERR_NOMEM;
    }
    for (size_t c = 0; c < a->n_codes; c++)
        if (PMIX_SYSTEM_EVENT(a->codes[c]))
            codes[u->args.n_codes++] = a->codes[c];
    u->args.codes = codes;
    u->args.info = a->info;
    a->info = (px_infos){0};
    px_upcall_returned(u,
                       srv->module.register_events(codes, n, u->args.info.v,
                                                   u->args.info.n, px_upcall_op_cb, u));
    return PX_DEFERRED;
}

/* Logs the limits that a registration exceeds. */
static void log_limits(const struct px_peer *peer, pmix_status_t status)
{
    px_log_limited(
        peer->server->part.door->rate, peer->uid, status, "server",
        "cannot register events for %s.%u: more than %u codes or %u processes "
        "at once, or %u registrations, %u codes or %u processes in all",
        peer->proc.nspace, peer->proc.rank, PX_MAX_CODES, PX_MAX_AFFECTED,
        PX_MAX_INTERESTS, PX_MAX_INTEREST_CODES, PX_MAX_INTEREST_PROCS);
}

static pmix_status_t add_and_notify(struct px_server *srv, struct px_req *req,
                                    struct px_args *a)
{
    struct px_peer *peer = req->peer;
    pmix_proc_t *affected;
    struct px_interest *i;
    size_t n;
    pmix_status_t rc = read_affected(&a->info, &affected, &n);

    if (!rc)
        rc = px_interests_add(peer, a->codes, a->n_codes, affected, n, &i);
    if (rc) {
        free(affected);
        if (rc != PMIX_ERR_NOMEM)
            log_limits(peer, rc);
        return rc;
    }
    (void)px_work(peer, a->n_codes + n + peer->interests->n / MERGED_PER_ITEM);
    req->state = (void *)(uintptr_t)i->id;
    rc = notify_host(srv, req, a);
    if (rc == PX_DEFERRED)
        return rc;
    if (rc) {
        px_interest_remove(peer->interests, i);
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

/* Reads codes to the end of the request. Returns PMIX_ERR_OUT_OF_RESOURCE if they are
 * more than a peer can have. */
static pmix_status_t read_codes(px_reader *in, pmix_status_t **codes, size_t *n)
{
    size_t cap = 0;
    pmix_status_t code;

    while (!px_reader_done(in) && !px_unpack_status(in, &code)) {
        pmix_status_t *place = *n < PX_MAX_INTEREST_CODES ? px_vec_add(codes, n, &cap)
                                                          : NULL;

        if (!place)
            return PMIX_ERR_OUT_OF_RESOURCE;
        *place = code;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t on_deregevents(struct px_server *srv, struct px_req *req)
{
    struct px_interests *all = req->peer->interests;
    PX_AUTOFREE pmix_status_t *codes = NULL;
    size_t n = 0;

    if (read_codes(&req->in, &codes, &n)) {
        px_log_limited(
            srv->part.door->rate, req->peer->uid, PMIX_ERR_OUT_OF_RESOURCE, "server",
            "cannot remove event registrations of %s.%u: more than %u codes, "
            "or out of memory",
            req->peer->proc.nspace, req->peer->proc.rank, PX_MAX_INTEREST_CODES);
    } else {
        (void)px_work(req->peer, n + (all ? all->n : 0));
        px_interests_drop(all, codes, px_codes_sort(codes, n));
    }
    px_req_drop(req); /* no reply to this command */
    return PX_DEFERRED;
}

/* True if an event of a peer exceeds its limits, with a log line. */
static bool is_too_large(const struct news *e)
{
    const struct px_peer *peer = e->sender;
    size_t n_procs = e->aim.range.n + e->aim.affected.n;

    if ((e->n <= MAX_EVENT_INFOS && n_procs <= MAX_EVENT_PROCS) ||
        peer == peer->server->self)
        return false;
    px_log_limited(peer->server->part.door->rate, peer->uid, PMIX_ERR_OUT_OF_RESOURCE,
                   "server",
                   "cannot deliver event %s of %s.%u: it has %zu infos and names %zu "
                   "processes, expected at most %u and %u",
                   PMIx_Error_string(e->code), peer->proc.nspace, peer->proc.rank, e->n,
                   n_procs, MAX_EVENT_INFOS, MAX_EVENT_PROCS);
    return true;
}

/* Passes an event to the host for processes on other nodes. fn gets the answer; NULL
 * drops the answer. Takes over infos. */
static pmix_status_t pass(struct px_server *srv, const struct news *e, px_infos *infos,
                          px_upcall_fn fn, void *arg)
{
    pmix_status_t rc = px_infos_add(infos, PASSED_SERVER, NULL, PMIX_BOOL);
    struct px_upcall *u = rc ? NULL : px_upcall_new(srv, fn, arg);

    if (!u)
        return PMIX_ERR_NOMEM;
    u->proc = *e->source;
    u->args.info = *infos;
    *infos = (px_infos){0};
    px_upcall_returned(u, srv->module.notify_event(e->code, &u->proc, e->range,
                                                   u->args.info.v, u->args.info.n,
                                                   px_upcall_op_cb, u));
    return PMIX_SUCCESS;
}

static bool stays_here(const struct px_server *srv, pmix_data_range_t range,
                       const px_infos *infos)
{
    return !srv->module.notify_event || range == PMIX_RANGE_LOCAL ||
           range == PMIX_RANGE_PROC_LOCAL ||
           px_info_flag(infos->v, infos->n, PMIX_EVENT_STAYS_LOCAL);
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
                     .sender = req->peer,
                     .range = a.directive,
                     .info = a.info.v,
                     .n = a.info.n};

    if (!rc && a.directive > PMIX_RANGE_PROC_LOCAL)
        rc = PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    begin(srv, &e);
    if (is_too_large(&e)) {
        end(&e);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    spread(srv, &e);
    if (stays_here(srv, a.directive, &a.info))
        return PMIX_SUCCESS;
    rc = pass(srv, &e, &a.info, px_upcall_reply_status, req);
    return rc ? rc : PX_DEFERRED;
}

void px_server_event_for(struct px_peer *peer, const pmix_proc_t *source,
                         pmix_status_t code, pmix_data_range_t range, px_infos *infos)
{
    struct px_server *srv = peer->server;
    struct news e = {.code = code,
                     .source = source,
                     .uid = peer->uid,
                     .sender = peer,
                     .range = range,
                     .to_source = true,
                     .info = infos->v,
                     .n = infos->n};

    begin(srv, &e);
    spread(srv, &e);
    if (!stays_here(srv, range, infos) && pass(srv, &e, infos, NULL, NULL))
        px_log(PX_LOG_WARN, "server", "cannot pass event %s to the host: out of memory",
               PMIx_Error_string(code));
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

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    srv->part.events_timer = px_timer_create(srv->loop, on_age, srv);
    return srv->part.events_timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static void destroy(struct px_server *srv)
{
    px_timer_free(srv->part.events_timer);
    srv->part.events_timer = NULL;
    PX_LIST_EACH (&srv->part.cached_events, struct cached, c, link)
        cached_free(srv, c);
}

const struct px_server_part px_events_part = {
    .name = "events",
    .rpcs = rpcs,
    .create = create,
    .destroy = destroy,
    .peer_left = peer_left,
    .peer_turn = replay,
    .peer_gone = peer_gone,
    .rank_lost = rank_lost,
};
