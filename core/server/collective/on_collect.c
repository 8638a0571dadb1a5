/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, connect, disconnect: all participants of this node first, then the host for
 * the other nodes. A set that is of this node alone needs no host: a fence does not ask
 * it, the others end here if it has nothing to say. One that leaves a namespace is a
 * collective of one. */
#include "core/server/collective/collective.h"

#include "core/base/clock.h"
#include "core/model/jobinfo.h"
#include "core/model/proc_names.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "pmix_connect.h"

#include <string.h>

struct px_collect {
    struct px_list list; /* of those in progress */
    struct px_msg recheck;
    bool recheck_posted;
};

static void check_all_later(struct px_server *srv);

static bool has_flag(const struct px_collective *c, const char *key)
{
    return px_info_flag(c->infos.v, c->infos.n, key);
}

static struct px_joint joint_of(const struct px_collective *c)
{
    return (struct px_joint){c->procs, c->n_procs, &c->infos, c->label};
}

static void collective_free(struct px_collective *c)
{
    px_list_remove(&c->link);
    px_timer_free(c->timer);
    px_charge_end(&c->charge);
    free(c->procs);
    free(c->told);
    free(c->refused);
    px_infos_cleanup(&c->infos);
    free(c);
}

/* ---- the end --------------------------------------------------------------------- */

/* After a connect of several namespaces each side learns the other's job. */
static void pack_jobs(const struct px_collective *c, struct px_peer *to, px_writer *w)
{
    const char *last = "";

    if (strcmp(c->procs[0].nspace, c->procs[c->n_procs - 1].nspace) == 0)
        return; /* sorted: there is but one */
    for (size_t i = 0; i < c->n_procs; i++) {
        const struct px_nspace *ns = px_nspace_find(px_process.model,
                                                    c->procs[i].nspace);

        if (strcmp(c->procs[i].nspace, last) == 0 || !ns)
            continue;
        last = c->procs[i].nspace;
        px_peer_pack_named(to, ns, w);
    }
}

static const char *name_of(const struct px_collective *c)
{
    return c->op == PX_OP_CONNECT      ? "connect"
           : c->op == PX_OP_DISCONNECT ? "disconnect"
                                       : "fence";
}

/* away: those that will not come; else all that have not. */
static void log_missing(const struct px_collective *c, bool away, const char *how)
{
    const struct px_names names = px_collective_missing(c, away);

    px_log(PX_LOG_WARN, "server", "cannot %s: %s %s", name_of(c), names.text, how);
}

static void take_out(struct px_req *req)
{
    px_list_remove(&req->link);
    if (req->peer->local)
        req->peer->local->n_meets--;
}

/* Those that wait here; the host may still hold it. */
static void end_waiting(struct px_collective *c, pmix_status_t status)
{
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        take_out(req);
        px_req_done(req, status);
    }
}

/* That of all ranks of a job, each of which has come, by its only connection: so it
 * means nothing else to those that sleep by it (adr/0023). NULL: all are sent
 * messages. */
static struct px_bell *bell_of(const struct px_collective *c)
{
    struct px_nspace *ns = NULL;
    bool some_read = false; /* where the bell is */
    size_t n = 0;

    if (c->kind == PX_OF_SET && c->n_procs == 1 &&
        c->procs[0].rank == PMIX_RANK_WILDCARD)
        ns = px_nspace_find(px_process.model, c->procs[0].nspace);
    if (!ns)
        return NULL;
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        const struct px_local *local = req->peer->local;

        if (!local || local->ns != ns || local->n_peers != 1 ||
            req->peer->commit_failed)
            return NULL;
        some_read = some_read || px_map_sget(&req->peer->stores, ns->name);
        n++;
    }
    return some_read && n == px_list_length(&ns->locals)
               ? px_store_hang_bell(&ns->store)
               : NULL;
}

static void answer_all(struct px_collective *c, pmix_status_t status)
{
    struct px_bell *bell = status ? NULL : bell_of(c);
    size_t n_asleep = 0;

    px_list_remove(&c->link);
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        px_writer w;

        take_out(req);
        req->peer->commit_failed = false;
        if (bell && req->state && (uint32_t)(uintptr_t)req->state == bell->id) {
            px_req_drop(req);
            n_asleep++;
            continue;
        }
        px_reply_begin(req, &w, status);
        if (c->op == PX_OP_CONNECT && !status)
            pack_jobs(c, req->peer, &w);
        if (c->made && !status)
            px_peer_pack_named(req->peer, c->made, &w);
        px_req_reply(req, &w);
    }
    if (n_asleep > 0)
        px_bell_ring(bell);
    collective_free(c);
}

/* The end of a connect or disconnect for which some have gone. */
static pmix_status_t settle_lost(struct px_collective *c)
{
    log_missing(c, true, "has left before it took part");
    if (c->op == PX_OP_DISCONNECT)
        (void)px_connected_drop(c, true);
    return PMIX_ERR_LOST_CONNECTION;
}

/* A process leaves a namespace, whatever the host knows of it. */
static pmix_status_t settle_leave(struct px_collective *c, pmix_status_t status)
{
    if (status == PMIX_ERR_NOT_SUPPORTED && !c->needs_host)
        status = PMIX_SUCCESS;
    if (status)
        return status;
    px_joint_leave(c->server, c->label, &c->procs[0],
                   has_flag(c, PMIX_CONNECT_NOTIFY_EACH));
    check_all_later(c->server); /* it is awaited no more */
    return PMIX_SUCCESS;
}

static pmix_status_t settle_connect(struct px_collective *c, bool ours)
{
    bool given_up = px_list_empty(&c->reqs);
    struct px_joint j = joint_of(c);

    if (c->lost_some && !given_up)
        return settle_lost(c);
    if (has_flag(c, PMIX_CONNECT_XCHG_ONLY))
        return PMIX_SUCCESS;
    if (c->kind == PX_MAKES)
        return px_joint_make(c->server, &j, ours, given_up ? NULL : &c->made);
    return given_up ? PMIX_SUCCESS : px_connected_add(c, ours);
}

/* Connect and disconnect: what the host makes of it, and what follows here. */
static pmix_status_t settle_set(struct px_collective *c, pmix_status_t status)
{
    bool here = status == PMIX_ERR_NOT_SUPPORTED && !c->needs_host &&
                px_collective_is_here(c);
    pmix_status_t rc;

    if (c->kind == PX_OF_NSPACE)
        return settle_leave(c, status);
    if (here)
        status = PMIX_SUCCESS;
    if (status)
        return status;
    if (c->op == PX_OP_CONNECT)
        return settle_connect(c, here || c->server->host);
    if (px_list_empty(&c->reqs)) /* all have given up */
        return status;
    rc = px_connected_drop(c, false);
    return here || c->server->host ? rc : PMIX_SUCCESS; /* else it is the host's word */
}

/* Returns the name of the call that made the request. */
static const char *function_of(uint8_t op, enum px_collective_kind kind)
{
    return op == PX_OP_FENCE ? "PMIx_Fence"
           : op == PX_OP_CONNECT
               ? kind == PX_MAKES ? "PMIx_Connect_nspace" : "PMIx_Connect"
           : kind == PX_OF_NSPACE ? "PMIx_Disconnect_nspace"
                                  : "PMIx_Disconnect";
}

/* Frees a failed collective that no process of this node can join any more. False if a
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
        (void)px_required_check(function_of(c->op, c->kind), NULL, c->infos.v,
                                c->infos.n);
    c->held = false;
    if (status == PMIX_ERR_NOT_SUPPORTED && c->lost_some)
        status = PMIX_ERR_LOST_CONNECTION; /* why the host was asked at all */
    else if (status == PMIX_ERR_NOT_SUPPORTED && !px_collective_knows_all(c))
        status = PMIX_ERR_NOT_FOUND; /* neither it nor we */
    if (c->op != PX_OP_FENCE)
        status = settle_set(c, status);
    if (!status && c->op == PX_OP_FENCE && answer->bytes.len > 0) {
        status = px_modex_unpack(c, &answer->bytes);
        if (status)
            px_log(PX_LOG_ERROR, "server", "cannot read the data of a fence: %s",
                   PMIx_Error_string(status));
    }
    if (c->failed)
        (void)forget(c);
    else
        answer_all(c, status);
}

/* Hosts free the data of a fence: that is how all of them were written, whatever the
 * Standard says. */
static pmix_status_t call_host(const struct px_collective *c, struct px_upcall *u)
{
    const pmix_server_module_t *m = &c->server->module;
    pmix_server_connect_fn_t call = c->op == PX_OP_CONNECT ? m->connect : m->disconnect;
    const px_infos *l = &u->args.info;

    if (c->op != PX_OP_FENCE)
        return call ? call(u->args.procs, u->args.n_procs, l->v, l->n, px_upcall_op_cb,
                           u)
                    : PMIX_ERR_NOT_SUPPORTED;
    if (!m->fence_nb)
        return PMIX_ERR_NOT_SUPPORTED;
    px_buf data = px_buf_take(&u->blob);
    return m->fence_nb(u->args.procs, u->args.n_procs, l->v, l->n, (char *)data.data,
                       data.len, px_upcall_modex_cb, u);
}

/* The namespace that it is about; of one that is to be made, what it will be called, if
 * that is known before the host has answered. */
static pmix_status_t name_nspace(const struct px_collective *c, px_infos *infos)
{
    struct px_joint j = joint_of(c);
    const char *id = px_joint_id(c->server, c->label);
    pmix_nspace_t name;

    if (c->kind == PX_OF_NSPACE && id[0] &&
        px_infos_set(infos, PMIX_CONNECT_ID, id, PMIX_STRING))
        return PMIX_ERR_NOMEM;
    PMIx_Load_nspace(name, c->label);
    if (c->kind == PX_OF_SET ||
        (c->kind == PX_MAKES &&
         (has_flag(c, PMIX_CONNECT_XCHG_ONLY) || px_joint_name(c->server, &j, name))))
        return PMIX_SUCCESS;
    return px_infos_set(infos, PMIX_NSPACE, name, PMIX_STRING);
}

static void hand_over(struct px_collective *c)
{
    struct px_upcall *u = px_upcall_new(on_host_answer, c);
    pmix_status_t local = c->lost_some ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS;
    pmix_status_t rc;

    if (!u) {
        answer_all(c, PMIX_ERR_NOMEM);
        return;
    }
    rc = px_infos_add_copy(&u->args.info, c->infos.v, c->infos.n);
    px_infos_drop(&u->args.info, PMIX_TIMEOUT); /* ours to keep; one is enough */
    if (!rc)
        rc = px_infos_add(&u->args.info, PMIX_SORTED_PROC_ARRAY, NULL, PMIX_BOOL);
    if (!rc)
        rc = px_infos_add(&u->args.info, PMIX_LOCAL_COLLECTIVE_STATUS, &local,
                          PMIX_STATUS);
    if (!rc)
        rc = name_nspace(c, &u->args.info);
    if (!rc && c->op == PX_OP_FENCE && c->collect)
        rc = px_modex_pack(c, &u->blob);
    if (!rc && c->charge.peer) /* the host keeps them until it answers */
        rc = px_charge(&c->charge, NULL, u->blob.len);
    if (rc) {
        px_upcall_drop(u);
        answer_all(c, rc);
        return;
    }
    c->handed_over = c->held = true;
    u->args.procs = px_take(&c->told); /* the host may read them until it answers */
    u->args.n_procs = c->n_told;
    px_upcall_returned(u, call_host(c, u));
}

/* Fails a collective that lacks a lost participant, for those that wait here at once.
 * The host gets the failure once if other nodes take part. May free c. */
static void give_up(struct px_collective *c)
{
    pmix_status_t why = settle_lost(c);

    (void)px_collective_fail(c);
    end_waiting(c, why);
    px_timer_free(px_take(&c->timer));
    if (px_collective_is_here(c))
        (void)forget(c);
    else
        hand_over(c);
}

/* If all local participants arrived, proceed: a fence within the node needs no host.
 * May free c. */
static bool check_complete(struct px_collective *c)
{
    struct px_census n;

    if (c->handed_over || c->failed)
        return c->failed && forget(c);
    n = px_collective_count(c);
    c->n_awaited = n.n_absent;
    if (n.missing > 0 && (!n.lost_some || c->op == PX_OP_FENCE))
        return false;
    c->lost_some = n.lost_some;
    if (c->lost_some && c->op != PX_OP_FENCE)
        give_up(c);
    else if (c->op == PX_OP_FENCE && !c->needs_host && px_collective_is_here(c))
        answer_all(c, c->lost_some ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS);
    else
        hand_over(c);
    return true;
}

/* Those that have left a namespace are not awaited in its fence. */
static void renew(struct px_collective *c)
{
    PX_AUTO(px_args) a = {.n_procs = 1};
    PX_AUTO(px_members) set = {0};

    if (c->kind != PX_OF_NSPACE || c->op != PX_OP_FENCE || c->handed_over ||
        !px_joint_is_nspace(c->server, c->label) ||
        !(a.procs = calloc(1, sizeof *a.procs)))
        return;
    px_proc_set(a.procs, c->label, PMIX_RANK_WILDCARD);
    if (px_procs_expand(px_process.model, &a.procs, &a.n_procs) ||
        px_members_settle(c->server, &a, &set))
        return;
    free(c->procs);
    free(c->told);
    c->procs = px_take(&set.v);
    c->n_procs = set.n;
    c->told = px_take(&a.procs);
    c->n_told = a.n_procs;
}

/* The host, when it is called, may do what changes the list: look anew after each. */
static bool complete_one(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link) {
        if (check_complete(c))
            return true;
    }
    return false;
}

static void on_recheck(struct px_msg *msg)
{
    struct px_collect *all = PX_CONTAINER_OF(msg, struct px_collect, recheck);
    struct px_server *srv = px_process.server;

    all->recheck_posted = false;
    PX_LIST_EACH (&all->list, struct px_collective, c, link)
        renew(c);
    while (!srv->stopping && complete_one(srv))
        ;
}

/* Ranks have left: collectives that wait for no other any more end. Not at once: the
 * caller is in the middle of its own lists. */
static void check_all_later(struct px_server *srv)
{
    struct px_collect *all = srv->part.collect;

    if (all->recheck_posted || px_list_empty(&all->list))
        return;
    all->recheck_posted = true;
    all->recheck.run = on_recheck;
    px_post(px_process.loop, &all->recheck);
}

static void on_deadline(void *arg)
{
    struct px_collective *c = arg;

    if (c->handed_over)
        px_log(PX_LOG_WARN, "server", "cannot %s: the host does not answer in time",
               name_of(c));
    else
        log_missing(c, false, "has not taken part in time");
    /* The host still holds it after a hand-over: only those who wait here go. */
    if (c->handed_over)
        end_waiting(c, PMIX_ERR_TIMEOUT);
    else
        answer_all(c, PMIX_ERR_TIMEOUT);
}

/* That which a request is about. */
typedef struct meeting {
    uint8_t kind;
    pmix_nspace_t label;
    px_members set;
} meeting;

static void meeting_cleanup(meeting *m)
{
    px_members_cleanup(&m->set);
}

static bool is_of(const struct px_collective *c, const struct px_req *req,
                  const struct meeting *m)
{
    if (c->op != req->op || c->kind != m->kind || strcmp(c->label, m->label) != 0)
        return false;
    return (c->kind == PX_OF_NSPACE && c->op == PX_OP_FENCE) ||
           px_members_same(c->procs, c->n_procs, m->set.v, m->set.n);
}

/* One that the process may join, or in which it is already; NULL: it is the first. A
 * process may be in the next fence while the host has the last. */
static struct px_collective *find(struct px_server *srv, const struct px_req *req,
                                  const struct meeting *m)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link) {
        if (!is_of(c, req, m))
            continue;
        if (px_collective_has_come(c, req->peer->local, &req->peer->proc)
                ? c->op != PX_OP_FENCE && !c->failed
                : !c->handed_over || c->failed)
            return c;
    }
    return NULL;
}

/* Takes the processes. */
static struct px_collective *begin(struct px_server *srv, uint8_t op, struct px_args *a,
                                   struct meeting *m)
{
    struct px_collective *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    px_list_init(&c->reqs);
    c->server = srv;
    c->op = op;
    c->kind = m->kind;
    PMIx_Load_nspace(c->label, m->label);
    c->procs = px_take(&m->set.v);
    c->n_procs = m->set.n;
    c->told = px_take(&a->procs);
    c->n_told = a->n_procs;
    c->collect = px_info_flag(a->info.v, a->info.n, PMIX_COLLECT_DATA);
    c->forgives = op == PX_OP_CONNECT
                      ? px_info_flag(a->info.v, a->info.n, PMIX_CONNECT_OPTIONAL)
                      : c->kind == PX_OF_NSPACE && px_joint_may_end(srv, c->label);
    px_list_append(&srv->part.collect->list, &c->link);
    return c;
}

/* The earliest deadline of all that have one. */
static pmix_status_t limit(struct px_collective *c, const px_infos *infos)
{
    uint64_t ms = px_info_u32(infos->v, infos->n, PMIX_TIMEOUT, 0) * 1000ull;
    uint64_t at = px_clock_ms() + ms;

    if (!ms || (c->timer && c->deadline_ms <= at))
        return PMIX_SUCCESS;
    if (!c->timer)
        c->timer = px_timer_create(px_process.loop, on_deadline, c);
    if (!c->timer)
        return PMIX_ERR_NOMEM;
    c->deadline_ms = at;
    px_timer_set(c->timer, ms);
    return PMIX_SUCCESS;
}

/* An algorithm is advice, unless it is required. */
static bool wants_algo(const px_infos *l)
{
    const pmix_info_t *algo = px_info_find(l->v, l->n, PMIX_COLLECTIVE_ALGO);

    return algo && (PMIX_INFO_IS_REQUIRED(algo) ||
                    px_info_flag(l->v, l->n, PMIX_COLLECTIVE_ALGO_REQD));
}

/* Those of a request, if they are the first that count; they may outlive it. */
static pmix_status_t take_infos(struct px_collective *c, const struct px_req *req,
                                px_infos *infos)
{
    bool needs_host = wants_algo(infos) ||
                      px_required_unknown(function_of(c->op, c->kind), NULL, infos->v,
                                          infos->n);
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

/* One has come to a connect, and perhaps asks the others to come too. */
static void announce(struct px_collective *c, const pmix_proc_t *proc, bool each,
                     bool request)
{
    const struct px_joint j = joint_of(c);

    if (each || has_flag(c, PMIX_CONNECT_NOTIFY_EACH))
        px_joint_event(c->server, &j, PMIX_PROC_HAS_CONNECTED, proc, false);
    if (request && !c->requested)
        px_joint_event(c->server, &j, PMIX_CONNECT_REQUESTED, proc,
                       !px_collective_is_here(c));
    c->requested |= request;
}

static pmix_status_t refuse(struct px_collective *c, const struct px_req *req)
{
    pmix_status_t rc = px_collective_refuse(c, &req->peer->proc);

    (void)forget(c);
    return rc ? rc : PMIX_ERR_LOST_CONNECTION;
}

static pmix_status_t join(struct px_server *srv, struct px_req *req, struct px_args *a,
                          struct meeting *m)
{
    bool each = px_info_flag(a->info.v, a->info.n, PMIX_CONNECT_NOTIFY_EACH);
    bool request = px_info_flag(a->info.v, a->info.n, PMIX_CONNECT_NOTIFY_REQ);
    struct px_collective *c = find(srv, req, m);
    bool first = !c;
    pmix_status_t rc;

    if (c && c->failed)
        return refuse(c, req);
    if (c && px_collective_has_come(c, req->peer->local, &req->peer->proc))
        return PMIX_ERR_INVALID_OPERATION; /* the last one is not done yet */
    if (first)
        c = begin(srv, req->op, a, m);
    rc = c ? limit(c, &a->info) : PMIX_ERR_NOMEM;
    if (!rc && first)
        rc = px_charge(&c->charge, req->peer,
                       sizeof *c + (c->n_procs + c->n_told) * sizeof *c->procs);
    if (!rc)
        rc = take_infos(c, req, &a->info);
    if (rc) {
        if (first && c)
            collective_free(c);
        return rc;
    }
    px_list_append(&c->reqs, &req->link);
    if (req->peer->local)
        req->peer->local->n_meets++;
    if (c->op == PX_OP_CONNECT && !(first && px_collective_count(c).lost_some))
        announce(c, &req->peer->proc, each, request);
    if (c->n_awaited > 1) /* with less than one pass over all for each that comes */
        c->n_awaited--;
    else
        (void)check_complete(c);
    return PX_DEFERRED;
}

/* A connect may have an id, and make a namespace. A request that names such a one is
 * about that, and the processes that are in it now. */
static pmix_status_t classify(struct px_server *srv, const struct px_req *req,
                              struct px_args *a, struct meeting *m)
{
    const pmix_info_t *id = px_info_find(a->info.v, a->info.n, PMIX_CONNECT_ID);
    const char *name = a->n_procs == 1 ? a->procs[0].nspace : "";

    if (req->op != PX_OP_FENCE && id) {
        const char *text = px_value_string(&id->value);

        if (!text || !text[0] || strlen(text) > PMIX_MAX_NSLEN)
            return PMIX_ERR_BAD_PARAM;
        PMIx_Load_nspace(m->label, text);
    }
    if (req->op == PX_OP_CONNECT) {
        if (px_info_flag(a->info.v, a->info.n, PX_CONNECT_MAKES))
            m->kind = PX_MAKES;
        px_infos_drop(&a->info, PX_CONNECT_MAKES);
        return PMIX_SUCCESS;
    }
    if (!px_joint_is_nspace(srv, name) ||
        (req->op == PX_OP_FENCE && a->procs[0].rank != PMIX_RANK_WILDCARD))
        return PMIX_SUCCESS;
    m->kind = PX_OF_NSPACE;
    PMIx_Load_nspace(m->label, name);
    if (!px_joint_has(srv, name, &req->peer->proc))
        return PMIX_ERR_NOT_FOUND;
    if (req->op == PX_OP_DISCONNECT)
        a->procs[0] = req->peer->proc;
    return PMIX_SUCCESS;
}

/* Those that are to hear that they should come. */
static bool may_ask(const struct px_peer *peer, const px_members *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (!px_peer_may(peer, set->v[i].nspace))
            return false;
    return true;
}

static pmix_status_t on_collective(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) args = {0};
    PX_AUTO(meeting) m = {0};
    pmix_status_t rc = px_req_unpack(req, &args, px_request_fence.args);
    uint32_t bell_id;

    if (!rc && req->peer->reads_in_place && !px_reader_done(&req->in) &&
        !px_unpack1(&req->in, &bell_id, PMIX_UINT32))
        req->state = (void *)(uintptr_t)bell_id;
    if (!rc)
        rc = classify(srv, req, &args, &m);
    if (!rc)
        rc = px_req_expand(req, &args);
    if (!rc)
        rc = px_req_may(req, args.procs, args.n_procs);
    if (!rc)
        rc = m.kind == PX_OF_NSPACE && req->op == PX_OP_DISCONNECT
                 ? px_members_single(args.procs, &m.set)
                 : px_members_settle(srv, &args, &m.set);
    /* The host inside the library has no algorithm to offer, and knows of no sets but
     * those that are noted here. */
    if (!rc && srv->host && wants_algo(&args.info))
        rc = PMIX_ERR_NOT_SUPPORTED;
    if (!rc)
        rc = px_builtin_required(srv, function_of(req->op, m.kind), &args.info);
    if (!rc && srv->host && req->op == PX_OP_DISCONNECT && m.kind == PX_OF_SET &&
        !px_connected_has(srv, &m.set, m.label))
        rc = PMIX_ERR_INVALID_OPERATION;
    if (!rc && px_info_flag(args.info.v, args.info.n, PMIX_CONNECT_NOTIFY_REQ) &&
        !may_ask(req->peer, &m.set))
        rc = PMIX_ERR_NO_PERMISSIONS;
    return rc ? rc : join(srv, req, &args, &m);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_FENCE, PX_BY_ANY, PX_MEMBERS, .handler = on_collective},
    {PX_OP_CONNECT, PX_BY_ANY, PX_MEMBERS, .handler = on_collective},
    {PX_OP_DISCONNECT, PX_BY_ANY, PX_MEMBERS, .handler = on_collective},
    {0},
};

static void leave(struct px_collective *c, const struct px_peer *peer)
{
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        if (req->peer != peer)
            continue;
        take_out(req);
        px_req_done(req, PMIX_ERR_LOST_CONNECTION);
        c->lost_some |= !c->forgives;
    }
    /* The registration of its rank shows as well that it was here and left. */
    if (px_list_empty(&c->reqs) && !c->handed_over && !c->failed)
        collective_free(c);
}

static void peer_left(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link)
        leave(c, peer);
    check_all_later(srv);
}

static void rank_gone(struct px_server *srv, const pmix_proc_t *proc PX_UNUSED)
{
    check_all_later(srv);
}

/* One of another node may have left a namespace. */
static void host_event(struct px_server *srv, pmix_status_t code,
                       const pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED)
{
    if (code == PMIX_PROC_HAS_DISCONNECTED)
        check_all_later(srv);
}

static void local_gone(struct px_server *srv, struct px_local *local)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link)
        c->lost_some |= !c->forgives && px_collective_has_local(c, local);
    check_all_later(srv);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link) {
        for (size_t i = 0; i < c->n_procs; i++) {
            if (strcmp(c->procs[i].nspace, nspace) != 0 || c->forgives || c->held)
                continue;
            if (c->failed)
                collective_free(c);
            else if (c->op == PX_OP_FENCE)
                answer_all(c, PMIX_ERR_LOST_CONNECTION);
            else
                c->lost_some = true; /* the host gets the failure, too */
            break;
        }
    }
    check_all_later(srv);
}

static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link)
        answer_all(c, PMIX_ERR_LOST_CONNECTION);
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    px_list_init(&srv->part.collect->list);
    return PMIX_SUCCESS;
}

const struct px_server_part px_collect_part = {
    .name = "collect",
    .rpcs = rpcs,
    PX_PART_STATE(collect, struct px_collect),
    .create = create,
    .stop = stop,
    .peer_left = peer_left,
    .rank_gone = rank_gone,
    .host_event = host_event,
    .local_gone = local_gone,
    .nspace_gone = nspace_gone,
};
