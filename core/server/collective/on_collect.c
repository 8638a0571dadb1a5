/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of collectives. All participants of this node arrive first; then the host
 * is called for the other nodes. kinds.c has the differences between kinds of
 * collectives. */
#include "core/base/map.h"
#include "core/link/required.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/collective/collective.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/door/door.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"
#include "core/server/peer/timeline.h"
#include "core/server/upcall/module.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"
#include "pmix_connect.h"

/* Collectives of one process that wait for a reply. */
#define MAX_COLLECTING 256u

struct px_collect {
    struct px_server *server;
    struct px_list list;  /* px_collective.node: collectives in progress */
    struct px_list *next; /* in a recheck: the node to check next, else NULL */
    struct px_msg recheck;
    bool recheck_posted;
};

bool px_collective_has_flag(const struct px_collective *c, const char *key)
{
    return px_info_flag(c->infos.v, c->infos.n, key);
}

/* Removes the collective from the list. A recheck goes on behind it. */
static void unlist(struct px_collective *c)
{
    struct px_collect *all = c->server->part.collect;

    if (all->next == &c->node)
        all->next = c->node.next;
    px_list_remove(&c->node);
}

static void collective_free(struct px_collective *c)
{
    unlist(c);
    px_timer_free(c->timer);
    px_charge_end(&c->charge);
    free(c->procs);
    free(c->host_procs);
    free(c->refused);
    px_infos_cleanup(&c->infos);
    px_forming_free(c->forming);
    free(c);
}

/* ---- replies --------------------------------------------------------------------- */

static void take_out(struct px_req *req)
{
    px_list_remove(&req->link);
    if (req->peer->local)
        req->peer->local->n_collecting--;
}

/* Records that all participants leave, and the last one to enter. */
static void record_end(const struct px_collective *c)
{
    const struct px_list *tail = c->reqs.prev;
    const uint64_t now_ns = c->number ? px_clock_ns() : 0;
    const pmix_proc_t *last;

    if (!c->number || px_list_empty(&c->reqs))
        return;
    last = &PX_CONTAINER_OF(tail, struct px_req, link)->peer->proc;
    PX_LIST_EACH (&c->reqs, struct px_req, req, link)
        px_timeline_leave(req->peer->local, c->number, now_ns,
                          strcmp(req->peer->proc.nspace, last->nspace) == 0
                              ? last->rank
                              : PMIX_RANK_UNDEF);
}

/* Wakes participants that sleep on the futex of their job, but got messages. */
static void rouse(const struct px_nspace *ns)
{
    if (ns)
        px_fence_futex_rouse(&ns->store);
}

/* Returns the job on whose futex the sender sleeps; NULL if the sender waits for a
 * message only. */
static const struct px_nspace *sleeps_in(const struct px_req *req)
{
    return req->state && req->peer->local ? req->peer->local->ns : NULL;
}

/* Completes the local requests. The host may still hold the collective. */
static void end_waiting(struct px_collective *c, pmix_status_t status)
{
    const struct px_nspace *asleep = NULL; /* only one job can be the whole job */

    record_end(c);
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        asleep = asleep ? asleep : sleeps_in(req);
        take_out(req);
        px_req_done(req, status);
    }
    rouse(asleep);
}

/* Returns the word on which the participants sleep (adr/0023). NULL: every participant
 * needs a reply, because a rank of the job does not wait here by its only connection,
 * or waits for another collective, too. */
static struct px_fence_futex *futex_of(const struct px_collective *c)
{
    struct px_nspace *ns = NULL;
    bool some_read = false; /* the tables that hold the word */
    size_t n = 0;

    if (c->kind->wakes && c->n_procs == 1 && c->procs[0].rank == PMIX_RANK_WILDCARD)
        ns = px_nspace_find(c->server->model, c->procs[0].nspace);
    if (!ns)
        return NULL;
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        const struct px_local *local = req->peer->local;

        if (!local || local->ns != ns || local->n_peers != 1 ||
            local->n_collecting != 1 || req->peer->commit_failed)
            return NULL;
        some_read = some_read || px_map_sget(&req->peer->stores, ns->name);
        n++;
    }
    return some_read && n == px_list_length(&ns->locals)
               ? px_store_make_fence_futex(&ns->store)
               : NULL;
}

static void answer_all(struct px_collective *c, pmix_status_t status)
{
    const bool has_result = !status || status == PMIX_ERR_PARTIAL_SUCCESS;
    struct px_fence_futex *futex = status ? NULL : futex_of(c);
    const struct px_nspace *unaware = NULL; /* job of a sleeper that gets a message */
    uint64_t number;
    size_t n_asleep = 0;

    if (futex && c->kind->number) {
        if (c->kind->number(c, &number))
            px_fence_futex_set(futex, number);
        else
            futex = NULL;
    }
    unlist(c);
    record_end(c);
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        px_writer w;

        take_out(req);
        req->peer->commit_failed = false;
        if (futex && req->state && (uint32_t)(uintptr_t)req->state == futex->id) {
            px_req_drop(req);
            n_asleep++;
            continue;
        }
        unaware = unaware ? unaware : sleeps_in(req);
        px_reply_begin(req, &w, status);
        if (has_result && c->kind->pack_reply)
            c->kind->pack_reply(c, req->peer, &w);
        px_req_reply(req, &w);
    }
    if (n_asleep > 0)
        px_fence_futex_wake(futex);
    else
        rouse(unaware);
    collective_free(c);
}

/* Frees a failed collective that no process of this node can join. Returns false if a
 * participant is still to be refused, or the host has not answered. */
static bool forget(struct px_collective *c)
{
    if (c->held || (c->failed && px_collective_count(c).missing > 0))
        return false;
    collective_free(c);
    return true;
}

static void on_host_answer(void *arg, const struct px_upcall *answer)
{
    struct px_collective *c = arg;
    pmix_status_t status = answer->status;

    if (status == PMIX_ERR_NOT_SUPPORTED && c->needs_host)
        (void)px_required_check(c->kind->function, NULL, c->infos.v, c->infos.n);
    c->held = false;
    if (status == PMIX_ERR_NOT_SUPPORTED && c->lost_some)
        status = PMIX_ERR_LOST_CONNECTION; /* the reason for the call */
    else if (status == PMIX_ERR_NOT_SUPPORTED && !px_collective_knows_all(c))
        status = PMIX_ERR_NOT_FOUND; /* neither the host nor we know the namespace */
    status = c->kind->settle(c, status, answer);
    if (c->failed)
        (void)forget(c);
    else
        answer_all(c, status);
}

static void hand_over(struct px_collective *c)
{
    struct px_upcall *u = px_upcall_new(c->server, on_host_answer, c);
    pmix_status_t local = c->lost_some ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS;
    pmix_status_t rc;

    if (!u) {
        answer_all(c, PMIX_ERR_NOMEM);
        return;
    }
    rc = px_infos_add_copy(&u->args.info, c->infos.v, c->infos.n);
    px_infos_drop(&u->args.info, PMIX_TIMEOUT); /* this server keeps the time */
    if (!rc)
        rc = px_infos_add(&u->args.info, PMIX_SORTED_PROC_ARRAY, NULL, PMIX_BOOL);
    if (!rc)
        rc = px_infos_add(&u->args.info, PMIX_LOCAL_COLLECTIVE_STATUS, &local,
                          PMIX_STATUS);
    if (!rc && c->kind->describe)
        rc = c->kind->describe(c, &u->args.info);
    if (!rc && c->kind->pack)
        rc = c->kind->pack(c, &u->blob);
    if (!rc && c->charge.peer) /* the host keeps the data until it answers */
        rc = px_charge(&c->charge, NULL, u->blob.len);
    if (rc) {
        px_upcall_drop(u);
        answer_all(c, rc);
        return;
    }
    c->handed_over = c->held = true;
    u->args.procs = px_take(&c->host_procs);
    u->args.n_procs = c->n_host_procs;
    px_upcall_returned(u, c->kind->call_host(c, u));
}

/* Fails a collective that lacks a lost participant, for all local requests at once. The
 * host gets the failure if other nodes take part. May free c. */
static void give_up(struct px_collective *c)
{
    pmix_status_t why = c->kind->lost(c);

    (void)px_collective_fail(c);
    end_waiting(c, why);
    px_timer_free(px_take(&c->timer));
    if (px_collective_is_here(c))
        (void)forget(c);
    else
        hand_over(c);
}

/* Ends a collective of this node, or calls the host. May free c. The host's functions
 * may free others. */
static void complete(struct px_collective *c)
{
    pmix_status_t status = c->lost_some ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS;

    if (c->kind->local && !c->needs_host && px_collective_is_here(c) &&
        !(c->kind->wants_host && c->kind->wants_host(c)))
        answer_all(c, c->kind->settle(c, status, NULL));
    else
        hand_over(c);
}

/* Completes a collective if no local participant is awaited. May free c. */
static void check_complete(struct px_collective *c)
{
    struct px_census n;

    if (c->handed_over || c->failed) {
        if (c->failed)
            (void)forget(c);
        return;
    }
    n = px_collective_count(c);
    c->n_awaited = n.n_absent;
    if ((n.missing > 0 || (c->kind->awaits_more && c->kind->awaits_more(c))) &&
        !(n.lost_some && c->kind->lost))
        return;
    c->lost_some = n.lost_some;
    if (c->lost_some && c->kind->lost)
        give_up(c);
    else
        complete(c);
}

/* Checks each collective once. */
static void on_recheck(struct px_msg *msg)
{
    struct px_collect *all = PX_CONTAINER_OF(msg, struct px_collect, recheck);
    struct px_server *srv = all->server;

    all->recheck_posted = false;
    PX_LIST_EACH (&all->list, struct px_collective, c, node)
        if (c->kind->renew && !c->handed_over)
            c->kind->renew(c);
    for (all->next = all->list.next; all->next != &all->list && !srv->stopping;) {
        struct px_list *node = all->next;

        all->next = node->next;
        check_complete(PX_CONTAINER_OF(node, struct px_collective, node));
    }
    all->next = NULL;
}

/* The caller may be walking through its own lists, so the check waits. */
void px_collectives_check_later(struct px_server *srv)
{
    struct px_collect *all = srv->part.collect;

    if (px_list_empty(&all->list))
        return;
    all->recheck.run = on_recheck;
    px_server_post(srv, &all->recheck, &all->recheck_posted);
}

static void on_deadline(void *arg)
{
    struct px_collective *c = arg;

    if (c->handed_over) {
        px_log(PX_LOG_WARN, "server", "cannot %s: the host does not answer in time",
               c->kind->name);
        end_waiting(c, PMIX_ERR_TIMEOUT);
    } else if (c->kind->goes_on && c->kind->goes_on(c)) {
        complete(c);
    } else {
        px_collective_log_timeout(c);
        answer_all(c, PMIX_ERR_TIMEOUT);
    }
}

static bool is_of(const struct px_collective *c, const px_collective_key *key)
{
    if (c->kind != key->kind || strcmp(c->label, key->label) != 0)
        return false;
    return c->kind->same ? c->kind->same(c, key)
                         : c->kind->renew || px_members_same(c->procs, c->n_procs,
                                                             key->set.v, key->set.n);
}

/* Returns the collective that the process may join, or in which the process is already;
 * NULL: the process is the first. */
static struct px_collective *find(struct px_server *srv, const struct px_req *req,
                                  const px_collective_key *key)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, node) {
        if (!is_of(c, key))
            continue;
        if (px_collective_has_come(c, req->peer->local, &req->peer->proc)
                ? !c->kind->pipelined && !c->failed
                : !c->handed_over || c->failed)
            return c;
    }
    return NULL;
}

/* Takes the processes of the arguments and of the key. */
static struct px_collective *begin(struct px_server *srv, struct px_args *a,
                                   px_collective_key *key)
{
    struct px_collective *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    px_list_init(&c->reqs);
    c->server = srv;
    c->number = px_timeline_number(srv);
    c->kind = key->kind;
    PMIx_Load_nspace(c->label, key->label);
    c->procs = px_take(&key->set.v);
    c->n_procs = key->set.n;
    c->host_procs = px_take(&a->procs);
    c->n_host_procs = a->n_procs;
    c->collect = px_info_flag(a->info.v, a->info.n, PMIX_COLLECT_DATA);
    c->forgives = key->forgives;
    c->user = key->user;
    px_list_append(&srv->part.collect->list, &c->node);
    return c;
}

/* Sets the earliest deadline of all requests. */
static pmix_status_t limit(struct px_collective *c, const px_infos *infos)
{
    const uint32_t limit_s = px_info_u32(infos->v, infos->n, PMIX_TIMEOUT, 0);
    const uint64_t ms = limit_s * 1000ull, at = px_clock_ms() + ms;

    if (!ms || (c->timer && c->deadline_ms <= at))
        return PMIX_SUCCESS;
    if (!c->timer)
        c->timer = px_timer_create(c->server->loop, on_deadline, c);
    if (!c->timer)
        return PMIX_ERR_NOMEM;
    c->deadline_ms = at;
    c->limit_s = limit_s;
    px_timer_set(c->timer, ms);
    return PMIX_SUCCESS;
}

/* True if an algorithm is required; others are advice. */
static bool wants_algo(const px_infos *l)
{
    const pmix_info_t *algo = px_info_find(l->v, l->n, PMIX_COLLECTIVE_ALGO);

    return algo && (PMIX_INFO_IS_REQUIRED(algo) ||
                    px_info_flag(l->v, l->n, PMIX_COLLECTIVE_ALGO_REQD));
}

/* Takes the directives of the first request, or of the first that needs the host. */
static pmix_status_t take_infos(struct px_collective *c, const struct px_req *req,
                                px_infos *infos)
{
    bool needs_host = wants_algo(infos) ||
                      px_required_unknown(c->kind->function, NULL, infos->v, infos->n);
    pmix_status_t rc;

    if (!px_list_empty(&c->reqs) &&
        (infos->n == 0 || (c->infos.v && (c->needs_host || !needs_host))))
        return PMIX_SUCCESS;
    rc = px_charge(&c->charge, req->peer, req->charge.size_b);
    if (rc)
        return rc;
    px_infos_cleanup(&c->infos);
    c->infos = *infos;
    *infos = (px_infos){0};
    c->needs_host = needs_host;
    return PMIX_SUCCESS;
}

static pmix_status_t refuse(struct px_collective *c, const struct px_req *req)
{
    pmix_status_t rc = px_collective_refuse(c, &req->peer->proc);

    (void)forget(c);
    return rc ? rc : PMIX_ERR_LOST_CONNECTION;
}

static pmix_status_t join(struct px_server *srv, struct px_req *req, struct px_args *a,
                          px_collective_key *key)
{
    const struct px_local *local = req->peer->local;
    struct px_collective *c;
    bool first;
    pmix_status_t rc;

    if (local && local->n_collecting >= MAX_COLLECTING) {
        px_log_limited(srv->part.door->rate, local->uid, PMIX_ERR_OUT_OF_RESOURCE,
                       "server", "cannot %s: %u collectives of %s.%u wait",
                       key->kind->name, MAX_COLLECTING, local->ns->name, local->rank);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    c = find(srv, req, key);
    first = !c;
    if (c && c->failed)
        return refuse(c, req);
    if (c && px_collective_has_come(c, local, &req->peer->proc))
        return PMIX_ERR_INVALID_OPERATION; /* its last request is not answered yet */
    if (first)
        c = begin(srv, a, key);
    rc = c ? limit(c, &a->info) : PMIX_ERR_NOMEM;
    if (!rc && first)
        rc = px_charge(&c->charge, req->peer,
                       sizeof(*c) + (c->n_procs + c->n_host_procs) * sizeof(*c->procs));
    if (!rc && c->kind->contribute)
        rc = c->kind->contribute(c, req, a, key);
    if (!rc)
        rc = take_infos(c, req, &a->info);
    if (rc) {
        if (first && c)
            collective_free(c);
        return rc;
    }
    px_list_append(&c->reqs, &req->link);
    if (req->peer->local)
        req->peer->local->n_collecting++;
    px_timeline_enter(srv, req->peer->local, c->number, req->op);
    if (c->kind->joined)
        c->kind->joined(c, key, &req->peer->proc, first);
    if (c->n_awaited > 1) /* saves a count of all participants for each arrival */
        c->n_awaited--;
    else
        check_complete(c);
    return PX_DEFERRED;
}

/* ---- requests -------------------------------------------------------------------- */

/* Returns the first kind with the command of the request. */
static const struct px_collective_kind *const *first_kind(uint8_t op)
{
    const struct px_collective_kind *const *kind = px_collective_kinds;

    while ((*kind)->request->op != op)
        kind++;
    return kind;
}

/* Returns the fields of the request, by the version of the client. */
static const struct px_request *fields_of(const struct px_req *req,
                                          const struct px_collective_kind *kind)
{
    return kind->old_request && req->peer->conn &&
                   !px_version_since(&req->peer->version, 4, 2, 4)
               ? kind->old_request
               : kind->request;
}

/* True if the peer may send events to all members of the set. */
static bool may_ask(const struct px_peer *peer, const px_members *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (!px_peer_may(peer, set->v[i].nspace))
            return false;
    return true;
}

/* Reads the fields and the kind of a request. */
static pmix_status_t read_request(struct px_server *srv, struct px_req *req,
                                  struct px_args *args, px_collective_key *key)
{
    const struct px_collective_kind *const *kind = first_kind(req->op);
    pmix_status_t rc;
    uint32_t word_id;

    key->user = req->peer->uid;
    rc = px_req_unpack(req, args, fields_of(req, *kind)->args);
    if (rc)
        return rc;
    if (req->peer->reads_in_place && !px_reader_done(&req->in) &&
        !px_unpack1(&req->in, &word_id, PMIX_UINT32))
        req->state = (void *)(uintptr_t)word_id;
    while ((*kind)->matches && !(*kind)->matches(srv, args))
        kind++;
    key->kind = *kind;
    key->notifies_each = px_info_flag(args->info.v, args->info.n,
                                      PMIX_CONNECT_NOTIFY_EACH);
    key->asks_others = px_info_flag(args->info.v, args->info.n,
                                    PMIX_CONNECT_NOTIFY_REQ);
    return key->kind->prepare ? key->kind->prepare(srv, req, args, key) : PMIX_SUCCESS;
}

/* Checks the directives and the members of a request. */
static pmix_status_t admit(struct px_server *srv, const struct px_req *req,
                           const px_infos *infos, const px_collective_key *key)
{
    const struct px_collective_kind *kind = key->kind;
    pmix_status_t rc = PMIX_SUCCESS;

    if (srv->host && wants_algo(infos)) /* the built-in host offers no algorithm */
        rc = PMIX_ERR_NOT_SUPPORTED;
    if (!rc)
        rc = px_builtin_required(srv, kind->function, infos);
    if (!rc && srv->host && kind->admit)
        rc = kind->admit(srv, key);
    if (!rc && (key->asks_others || key->notifies_each) &&
        !may_ask(req->peer, &key->set))
        rc = PMIX_ERR_NO_PERMISSIONS;
    return rc;
}

pmix_status_t px_collective_request(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) args = {0};
    PX_AUTO(px_collective_key) key = {0};
    pmix_status_t rc = read_request(srv, req, &args, &key);

    if (!rc)
        rc = px_req_expand(req, &args);
    if (!rc)
        rc = px_req_may(req, args.procs, args.n_procs);
    if (!rc)
        rc = key.kind->single ? px_members_single(args.procs, &key.set)
                              : px_members_settle(srv, &args, &key.set);
    if (!rc)
        rc = admit(srv, req, &args.info, &key);
    return rc ? rc : join(srv, req, &args, &key);
}

/* ---- hooks of the part ----------------------------------------------------------- */

static void leave(struct px_collective *c, const struct px_peer *peer)
{
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        if (req->peer != peer)
            continue;
        take_out(req);
        px_req_done(req, PMIX_ERR_LOST_CONNECTION);
        c->lost_some |= !c->forgives;
    }
    /* The registration of the rank still shows the loss. */
    if (px_list_empty(&c->reqs) && !c->handed_over && !c->failed)
        collective_free(c);
}

static void peer_left(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, node)
        leave(c, peer);
    px_collectives_check_later(srv);
}

static void rank_gone(struct px_server *srv, const pmix_proc_t *proc PX_UNUSED)
{
    px_collectives_check_later(srv);
}

/* A process of another node may have left a namespace. */
static void host_event(struct px_server *srv, pmix_status_t code,
                       const pmix_proc_t *source PX_UNUSED,
                       const px_infos *infos PX_UNUSED)
{
    if (code == PMIX_PROC_HAS_DISCONNECTED || code == PMIX_GROUP_LEFT ||
        code == PMIX_GROUP_MEMBER_FAILED)
        px_collectives_check_later(srv);
}

static void local_gone(struct px_server *srv, struct px_local *local)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, node)
        c->lost_some |= !c->forgives && px_collective_has_local(c, local);
    px_collectives_check_later(srv);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, node) {
        for (size_t i = 0; i < c->n_procs; i++) {
            if (strcmp(c->procs[i].nspace, nspace) != 0 || c->forgives || c->held)
                continue;
            if (c->failed)
                collective_free(c);
            else if (c->kind->lost)
                c->lost_some = true; /* the host gets the failure, too */
            else
                answer_all(c, PMIX_ERR_LOST_CONNECTION);
            break;
        }
    }
    px_collectives_check_later(srv);
}

static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, node)
        answer_all(c, PMIX_ERR_LOST_CONNECTION);
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    srv->part.collect->server = srv;
    px_list_init(&srv->part.collect->list);
    return PMIX_SUCCESS;
}

const struct px_server_part px_collect_part = {
    .name = "collect",
    .rpcs = px_collective_rpcs,
    PX_PART_STATE(collect, struct px_collect),
    .create = create,
    .stop = stop,
    .peer_left = peer_left,
    .rank_gone = rank_gone,
    .host_event = host_event,
    .local_gone = local_gone,
    .nspace_gone = nspace_gone,
};
