/* SPDX-License-Identifier: BSD-3-Clause */
/* Events between processes: registrations, delivery, and a cache for later
 * registrations. */
#include "core/base/clock.h"
#include "core/base/vec.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/door/door.h"
#include "core/server/event/event.h"
#include "core/server/event/interests.h"
#include "core/server/event/news.h"
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

/* Work in items; see px_work. */
#define MERGED_PER_ITEM 16u /* entries that a registration moves */

/* An event on its way to many peers, which takes several turns. */
struct delivery {
    struct px_list link; /* in part.deliveries */
    struct px_req *req;  /* of the sender, which rests meanwhile if it is connected;
                          * NULL: an event of the server itself */
    px_args args;
    pmix_proc_t source;
    struct px_news news; /* of the source and infos above */
};

struct cached {
    struct px_list link;
    uint64_t at_ms;
    size_t size_b;
    struct px_charge charge; /* of the sender */
    bool for_peers;          /* for later registrations of peers */
    bool for_host;           /* for a later handler of this process: none had it */
    struct px_news news;     /* of the source and infos below */
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
static void cache(struct px_server *srv, const struct px_news *e, bool for_peers,
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
    c->at_ms = px_clock_ms();
    c->size_b = size_b;
    c->for_peers = for_peers;
    c->for_host = for_host;
    c->source = *e->source;
    c->news = (struct px_news){.number = e->number,
                               .code = e->code,
                               .source = &c->source,
                               .uid = e->uid,
                               .range = e->range,
                               .info = c->infos.v,
                               .n = c->infos.n,
                               .aim.is_custom = e->aim.is_custom};
    add_cached(srv, c);
}

/* True unless a peer has sent the event with a custom range that leaves this process
 * out. */
static bool is_for_us(const struct px_server *srv, struct px_news *e)
{
    return !e->sender || !e->aim.is_custom ||
           px_range_includes(&e->aim, e->range, e->source, &srv->proc) ||
           px_range_includes(&e->aim, e->range, e->source, &srv->model->self);
}

/* Delivers the event to handlers of this process. Returns true if one gets the event,
 * or none may. The process itself caches its programming models. */
static bool deliver_here(struct px_server *srv, struct px_news *e)
{
    const px_infos infos = px_infos_borrow(e->info, e->n);
    bool taken = false;
    bool is_model = e->code == PMIX_MODEL_DECLARED &&
                    e->range == PMIX_RANGE_PROC_LOCAL &&
                    px_proc_same(e->source, &srv->proc);

    if (!is_for_us(srv, e)) {
        e->done |= PX_EVENT_HERE;
        return true;
    }
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

/* Delivers an event to peers and own handlers that do not have the event. Returns false
 * if peers are left for later turns: all peers of an event that follows another.
 * *n_sent becomes the number of peers. */
static bool spread(struct px_server *srv, struct px_news *e, size_t *n_sent)
{
    const unsigned before = e->done;

    *n_sent = 0;
    e->number = srv->part.next_event++;
    bool all = before & PX_EVENT_AT_PEERS ||
               (!e->follows && px_news_spread(srv, e, n_sent));
    bool taken = !(before & PX_EVENT_HERE) && deliver_here(srv, e);
    const unsigned fresh = e->done & ~before;

    cache(srv, e, !all || fresh & PX_EVENT_AT_PEERS, fresh & PX_EVENT_HERE && !taken);
    px_news_end_turn(e);
    if (all)
        px_news_end(e);
    return all;
}

/* True if an earlier event of the peer is on its way. NULL: of the server itself. */
static bool is_delivering(const struct px_server *srv, const struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.deliveries, const struct delivery, d, link)
        if (d->req ? d->req->peer == peer : !peer)
            return true;
    return false;
}

static void add_delivery(struct px_server *srv, struct delivery *d,
                         const struct px_news *e)
{
    d->news = *e;
    px_list_append(&srv->part.deliveries, &d->link);
    px_timer_set(srv->part.deliveries_timer, 0);
}

/* Delivers the rest of an event of the server itself in later turns, with copies; or
 * now, without memory. */
static void deliver_own_later(struct px_server *srv, struct px_news *e, size_t *n_sent)
{
    struct delivery *d = calloc(1, sizeof(*d));

    if (!d || (e->n && px_infos_add_copy(&d->args.info, e->info, e->n))) {
        free(d);
        e->is_bounded = false;
        px_news_begin(srv, e);
        (void)px_news_spread(srv, e, n_sent);
        px_news_end(e);
        return;
    }
    d->source = *e->source;
    e->source = &d->source;
    e->info = d->args.info.v;
    e->done |= PX_EVENT_AT_PEERS;
    add_delivery(srv, d, e);
}

size_t px_server_event_on(struct px_server *srv, pmix_status_t code,
                          const pmix_proc_t *source, pmix_data_range_t range,
                          const pmix_info_t *info, size_t n, unsigned *done)
{
    const char *job = px_info_str(info, n, PMIX_NSPACE);
    /* A process that aborts another job is not the one that notifies. */
    bool to_source = code == PMIX_ERR_PROC_REQUESTED_ABORT && source && job &&
                     strcmp(job, source->nspace) != 0;
    struct px_news e = {.code = code,
                        .source = source ? source : &srv->proc,
                        .range = range,
                        .to_source = to_source,
                        .done = *done,
                        .is_bounded = !srv->stopping,
                        .follows = is_delivering(srv, NULL),
                        .info = info,
                        .n = n};
    size_t n_sent;

    px_news_begin(srv, &e);
    if (!spread(srv, &e, &n_sent)) {
        deliver_own_later(srv, &e, &n_sent);
        n_sent += n_sent == 0;
    }
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
static bool leaves_own(const struct px_peer *peer, const struct px_news *e)
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
    struct px_news e = c->news;

    if (!c->for_peers || !px_interest_has(all, fresh, e.code))
        return 1;
    e.to_source = leaves_own(peer, &e);
    if (!px_news_may_concern(&e, peer)) /* before the infos are read */
        return 1;
    px_news_begin(peer->server, &e);
    if (px_interest_wants(all, fresh, &e.aim, &e.n_steps) &&
        px_news_may_reach(&e, peer) &&
        !px_interests_want(all, &e.aim, fresh->id, UINT64_MAX, &e.n_steps))
        px_news_send(peer, &e);
    px_news_end(&e);
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
            if (c->news.number < fresh->next)
                continue;
            if (c->news.number >= fresh->end)
                break;
            fresh->next = c->news.number + 1;
            if (px_work(peer, replay_one(peer, fresh, c)))
                return;
        }
        px_list_remove(&fresh->due);
    }
}

void px_server_replay(struct px_server *srv, const struct px_handler *h)
{
    PX_LIST_EACH (&srv->part.cached_events, struct cached, c, link) {
        struct px_news e = c->news;
        bool taken = false;

        if (!c->for_host)
            continue;
        px_news_begin(srv, &e);
        if (px_notify_offer(srv->notify, &e.aim, e.source, e.range, &c->infos, h,
                            &taken))
            px_log(PX_LOG_ERROR, "server",
                   "cannot deliver event %s here: out of memory",
                   PMIx_Error_string(e.code));
        px_news_end(&e);
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
static bool is_too_large(const struct px_news *e)
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
static pmix_status_t pass(struct px_server *srv, const struct px_news *e,
                          px_infos *infos, px_upcall_fn fn, void *arg)
{
    pmix_status_t rc = px_infos_add(infos, PX_PASSED_SERVER, NULL, PMIX_BOOL);
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

/* Passes a delivered event of a request on to the host, with the infos. Events that
 * stay on the node are answered at once, as many come together. The sender of an event
 * that a peer misses gets PMIX_ERR_NOMEM. */
static pmix_status_t finish(struct px_server *srv, struct px_req *req,
                            const struct px_news *e, px_infos *infos)
{
    if (e->lost)
        return PMIX_ERR_NOMEM;
    if (stays_here(srv, e->range, infos))
        return PMIX_SUCCESS;
    pmix_status_t rc = pass(srv, e, infos, px_upcall_reply_status, req);
    return rc ? rc : PX_DEFERRED;
}

static void delivery_free(struct delivery *d)
{
    px_list_remove(&d->link);
    px_news_end(&d->news);
    px_args_cleanup(&d->args);
    free(d);
}

/* Continues a delivery for one turn. Returns the work in items; *done: the delivery is
 * finished and freed. */
static size_t continue_delivery(struct px_server *srv, struct delivery *d, bool *done)
{
    struct px_news *e = &d->news;
    pmix_status_t rc;
    size_t n_sent = 0, n_steps;

    px_news_begin(srv, e);
    *done = px_news_spread(srv, e, &n_sent);
    px_news_end_turn(e);
    n_steps = e->n_steps;
    if (!*done)
        return n_steps;
    rc = d->req ? finish(srv, d->req, e, &d->args.info) : PX_DEFERRED;
    if (rc != PX_DEFERRED)
        px_req_done(d->req, rc);
    delivery_free(d);
    return n_steps;
}

/* Continues deliveries, the oldest first, so that peers get events in order. */
static void on_deliveries(void *arg)
{
    struct px_server *srv = arg;
    struct px_list *all = &srv->part.deliveries;
    size_t n_steps = 0;
    bool done = true;

    while (done && n_steps <= PX_TURN_ITEMS && !px_list_empty(all))
        n_steps += continue_delivery(
            srv, PX_CONTAINER_OF(all->next, struct delivery, link), &done);
    if (!px_list_empty(all))
        px_timer_set(srv->part.deliveries_timer, 0);
}

/* Finishes the deliveries of the server itself. */
static void finish_own(struct px_server *srv)
{
    bool done;

    PX_LIST_EACH (&srv->part.deliveries, struct delivery, d, link)
        if (!d->req) {
            d->news.is_bounded = false;
            (void)continue_delivery(srv, d, &done);
        }
}

/* Delivers the rest of an event in later turns. A connected sender rests meanwhile, so
 * that its next request comes after the event. Takes the arguments. */
static pmix_status_t deliver_later(struct px_server *srv, struct px_req *req,
                                   px_args *a, struct px_news *e)
{
    struct delivery *d = malloc(sizeof(*d));

    if (!d) {
        px_news_end(e);
        return PMIX_ERR_NOMEM;
    }
    *d = (struct delivery){.req = req, .args = *a};
    *a = (px_args){0};
    add_delivery(srv, d, e);
    px_rest(req->peer);
    return PX_DEFERRED;
}

static pmix_status_t on_notify(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) a = {0};
    pmix_status_t rc = px_req_unpack(req, &a, px_request_notify.args);
    struct px_news e = {.code = a.code,
                        .source = &req->peer->proc,
                        .uid = req->peer->uid,
                        .sender = req->peer,
                        .range = a.directive,
                        .is_bounded = true,
                        .follows = is_delivering(srv, req->peer),
                        .info = a.info.v,
                        .n = a.info.n};
    size_t n_sent;

    if (!rc && a.directive > PMIX_RANGE_PROC_LOCAL)
        rc = PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    px_news_begin(srv, &e);
    if (is_too_large(&e)) {
        px_news_end(&e);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PX_PARTS_NOTIFY(srv, peer_event, req->peer, a.code, &a.info);
    return spread(srv, &e, &n_sent) ? finish(srv, req, &e, &a.info)
                                    : deliver_later(srv, req, &a, &e);
}

void px_server_event_for(struct px_peer *peer, const pmix_proc_t *source,
                         pmix_status_t code, pmix_data_range_t range, px_infos *infos)
{
    struct px_server *srv = peer->server;
    struct px_news e = {.code = code,
                        .source = source,
                        .uid = peer->uid,
                        .sender = peer,
                        .range = range,
                        .to_source = true,
                        .info = infos->v,
                        .n = infos->n};
    size_t n_sent;

    px_news_begin(srv, &e);
    (void)spread(srv, &e, &n_sent);
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

/* A sender rests until its event has been delivered. */
static void peer_turn(struct px_server *srv, struct px_peer *peer)
{
    if (is_delivering(srv, peer))
        px_rest(peer);
    replay(srv, peer);
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_server_parts *part = &srv->part;

    part->events_timer = px_timer_create(srv->loop, on_age, srv);
    part->deliveries_timer = px_timer_create(srv->loop, on_deliveries, srv);
    if (part->events_timer && part->deliveries_timer)
        return PMIX_SUCCESS;
    px_timer_free(px_take(&part->events_timer));
    px_timer_free(px_take(&part->deliveries_timer));
    return PMIX_ERR_NOMEM;
}

static void stop(struct px_server *srv)
{
    finish_own(srv);
    PX_LIST_EACH (&srv->part.deliveries, struct delivery, d, link) {
        px_req_done(d->req, PMIX_ERR_LOST_CONNECTION);
        delivery_free(d);
    }
}

static void destroy(struct px_server *srv)
{
    px_timer_free(px_take(&srv->part.events_timer));
    px_timer_free(px_take(&srv->part.deliveries_timer));
    PX_LIST_EACH (&srv->part.cached_events, struct cached, c, link)
        cached_free(srv, c);
}

const struct px_server_part px_events_part = {
    .name = "events",
    .rpcs = rpcs,
    .create = create,
    .stop = stop,
    .destroy = destroy,
    .peer_left = peer_left,
    .peer_turn = peer_turn,
    .peer_gone = peer_gone,
    .rank_lost = rank_lost,
};
