/* SPDX-License-Identifier: BSD-3-Clause */
/* Input on its way to the host. Input of one process for the same targets is a queue:
 * the host gets the next piece when it has answered the one before. The answer of the
 * host is the answer to the process, which may then reuse its buffer. */
#include "core/link/api.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/host.h"
#include "core/server/iof/server_iof.h"
#include "core/server/op.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

/* Limits of one process: queues, and pieces in one of them. */
#define MAX_QUEUES  1024u
#define MAX_WAITING 1024u

/* Input of one process for the same targets; in px_relay.queues until the end of the
 * input or of the process, also while no piece waits. */
struct queue {
    struct px_list link;
    bool open;    /* the input has no end yet */
    bool spawner; /* the process has spawned the targets, and has pushed nothing */
    bool ends;    /* the process has left: an end is to follow what waits */
    bool refused; /* the host does not support input for the targets */
    struct px_charge charge;
    struct px_peer *peer; /* referenced: what it pushed goes on when it has gone */
    pmix_proc_t *procs;
    size_t n_procs;
    struct px_list waiting;    /* struct px_req, whose state is its upcall */
    struct px_upcall *current; /* at the host; NULL: none */
    size_t n_waiting, waiting_b;
};

struct paused {
    struct px_list link; /* in px_relay.paused */
    pmix_proc_t proc;
};

static bool is_for(const struct queue *q, const struct px_upcall *u)
{
    const struct px_req *req = u->arg;

    if (q->spawner || q->peer != req->peer || q->n_procs != u->args.n_procs)
        return false;
    for (size_t i = 0; i < q->n_procs; i++)
        if (!px_proc_same(&q->procs[i], &u->args.procs[i]))
            return false;
    return true;
}

static struct queue *find_queue(struct px_relay *relay, const struct px_upcall *u)
{
    PX_LIST_EACH (&relay->queues, struct queue, q, link)
        if (is_for(q, u))
            return q;
    return NULL;
}

static struct queue *make_queue(struct px_relay *relay, struct px_peer *peer,
                                const pmix_proc_t *procs, size_t n_procs)
{
    struct queue *q = calloc(1, sizeof(*q));

    if (!q || px_type_copy_array(PMIX_PROC, (void **)&q->procs, procs, n_procs)) {
        free(q);
        return NULL;
    }
    if (px_charge(&q->charge, peer, sizeof(*q) + n_procs * sizeof(*procs))) {
        free(q->procs);
        free(q);
        return NULL;
    }
    q->n_procs = n_procs;
    q->peer = peer;
    px_peer_ref(q->peer);
    px_list_init(&q->waiting);
    px_list_append(&relay->queues, &q->link);
    return q;
}

static void settle(struct queue *q)
{
    if (q->current || !px_list_empty(&q->waiting) || q->open || q->ends || q->refused)
        return;
    px_list_remove(&q->link);
    px_charge_end(&q->charge);
    px_peer_unref(q->peer);
    free(q->procs);
    free(q);
}

/* Removes a waiting request, and returns its upcall. */
static struct px_upcall *take(struct queue *q, struct px_req *req)
{
    struct px_upcall *u = req->state;

    px_list_remove(&req->link);
    q->n_waiting--;
    q->waiting_b -= u->args.bytes.size;
    return u;
}

static void call_host(const struct px_server *srv, struct px_upcall *u)
{
    px_upcall_returned(u, srv->module.push_stdin(
                              &u->proc, u->args.procs, u->args.n_procs, u->args.info.v,
                              u->args.info.n, &u->args.bytes, px_upcall_op_cb, u));
}

/* Ends the input of a process that has left. The targets may be gone, too, so that no
 * answer is an error. */
static void push_end(struct px_server *srv, struct queue *q)
{
    struct px_upcall *u = px_upcall_new(srv, NULL, NULL);
    pmix_status_t rc = u ? px_infos_set_user(&u->args.info, q->peer) : PMIX_ERR_NOMEM;

    q->ends = false;
    if (!rc)
        rc = px_type_copy_array(PMIX_PROC, (void **)&u->args.procs, q->procs,
                                q->n_procs);
    if (rc) {
        px_log(PX_LOG_ERROR, "server", "cannot end the input of %s.%u: %s",
               q->procs->nspace, q->procs->rank, PMIx_Error_string(rc));
        px_upcall_drop(u);
        return;
    }
    u->args.n_procs = q->n_procs;
    u->proc = q->peer->proc;
    call_host(srv, u);
}

/* Calls the host with the next piece, or the end. The host may answer within. */
static void call_next(struct px_server *srv, struct queue *q)
{
    const struct px_relay *relay = srv->part.relay;
    bool ends = px_list_empty(&q->waiting);

    if (q->current || (ends && !q->ends) || srv->stopping || relay->all_paused)
        return;
    PX_LIST_EACH (&relay->paused, const struct paused, p, link)
        if (px_proc_match(&p->proc, &q->peer->proc))
            return;
    if (ends) {
        push_end(srv, q);
        return;
    }
    q->current = take(q, PX_CONTAINER_OF(q->waiting.next, struct px_req, link));
    call_host(srv, q->current);
}

/* Answers a request that the host never had. */
static void end_unasked(struct px_upcall *u, pmix_status_t why)
{
    px_req_done(u->arg, why);
    px_upcall_drop(u);
}

/* Refuses all that waits, and all later input for these targets. */
static void refuse_input(struct queue *q)
{
    q->refused = true;
    PX_LIST_EACH (&q->waiting, struct px_req, req, link)
        end_unasked(take(q, req), PMIX_ERR_NOT_SUPPORTED);
}

static void on_pushed(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    struct px_server *srv = req->peer->server;
    struct px_upcall *u = req->state;
    struct queue *q = u ? find_queue(srv->part.relay, u) : NULL;

    if (q && px_list_linked(&req->link)) {
        end_unasked(take(q, req), answer->status);
    } else {
        if (q)
            q->current = NULL;
        if (q && answer->status < 0 && answer->status != PMIX_OPERATION_SUCCEEDED)
            q->open = false; /* the targets get no input */
        px_req_done(req, answer->status);
    }
    if (!q)
        return;
    if (answer->status == PMIX_ERR_NOT_SUPPORTED)
        refuse_input(q);
    call_next(srv, q);
    settle(q);
}

static bool fits(const struct queue *q, size_t n, size_t limit_b)
{
    return q->waiting_b + n <= limit_b && q->n_waiting < MAX_WAITING;
}

/* Makes room for a piece of n bytes. One end of the input has room beyond the limit. */
static pmix_status_t make_room(struct queue *q, const struct px_cache *cache, size_t n)
{
    if (n == 0)
        return q->n_waiting <= MAX_WAITING ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    if (fits(q, n, q->waiting_b == 0 ? SIZE_MAX : cache->size_b))
        return PMIX_SUCCESS;
    if (cache->drop != PX_DROP_OLDEST)
        return cache->drop == PX_DROP_NONE && fits(q, n, 2 * cache->size_b)
                   ? PMIX_SUCCESS
                   : PMIX_ERR_OUT_OF_RESOURCE;
    PX_LIST_EACH (&q->waiting, struct px_req, req, link) {
        const struct px_upcall *u = req->state;

        if (fits(q, n, cache->size_b))
            break;
        if (u->args.bytes.size > 0)
            end_unasked(take(q, req), PMIX_ERR_OUT_OF_RESOURCE);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t prepare(struct px_req *req, struct px_upcall *u)
{
    const struct queue *q = find_queue(req->peer->server->part.relay, u);
    struct px_cache cache;
    pmix_status_t rc = px_cache_read(&cache, u->args.info.v, u->args.info.n,
                                     req->peer->server->conf.output_per_stream);

    if (!rc && q && q->refused)
        rc = PMIX_ERR_NOT_SUPPORTED;
    return rc ? rc : px_forward_user(req, u);
}

static bool has_many_queues(struct px_relay *relay, const struct px_peer *peer)
{
    size_t n = 0;

    PX_LIST_EACH (&relay->queues, struct queue, q, link)
        n += q->peer == peer;
    return n >= MAX_QUEUES;
}

/* Queues a piece. An error is the answer to the process. */
static pmix_status_t enqueue(const pmix_server_module_t *m PX_UNUSED,
                             struct px_upcall *u)
{
    struct px_req *req = u->arg;
    struct px_server *srv = req->peer->server;
    struct queue *q = find_queue(srv->part.relay, u);
    struct px_cache cache;
    pmix_status_t rc;

    if (!q && has_many_queues(srv->part.relay, req->peer))
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (!q)
        q = make_queue(srv->part.relay, req->peer, u->args.procs, u->args.n_procs);
    if (!q)
        return PMIX_ERR_NOMEM;
    (void)px_cache_read(&cache, u->args.info.v, u->args.info.n,
                        srv->conf.output_per_stream); /* checked */
    rc = make_room(q, &cache, u->args.bytes.size);
    if (rc)
        return rc;
    req->state = u;
    /* Other hosts learn the end of a process themselves, and expect bytes here. */
    q->open = srv->host && req->peer != srv->self && u->args.bytes.size > 0 &&
              !px_info_flag(u->args.info.v, u->args.info.n, PMIX_IOF_COMPLETE);
    px_list_append(&q->waiting, &req->link);
    q->n_waiting++;
    q->waiting_b += u->args.bytes.size;
    call_next(srv, q);
    return PMIX_SUCCESS;
}

/* ---- the end of a process that pushes -------------------------------------------- */

static bool overlap(const struct queue *a, const struct queue *b)
{
    for (size_t i = 0; i < a->n_procs; i++)
        for (size_t k = 0; k < b->n_procs; k++)
            if (px_proc_match(&a->procs[i], &b->procs[k]) ||
                px_proc_match(&b->procs[k], &a->procs[i]))
                return true;
    return false;
}

/* Returns the queue of another process that pushes to the same targets, or NULL. */
static struct queue *find_other(struct px_relay *relay, const struct queue *q)
{
    PX_LIST_EACH (&relay->queues, struct queue, other, link)
        if (other->open && !other->spawner && other->peer != q->peer &&
            overlap(other, q))
            return other;
    return NULL;
}

/* Makes the queue of a process that is to end the input of targets. */
static pmix_status_t make_heir(struct px_relay *relay, struct px_peer *peer,
                               const pmix_proc_t *procs, size_t n_procs)
{
    struct queue *q = make_queue(relay, peer, procs, n_procs);

    if (!q)
        return PMIX_ERR_NOMEM;
    q->spawner = q->open = true;
    return PMIX_SUCCESS;
}

/* Ends a queue. The last process that pushes to a target ends the target's input;
 * until then another process inherits the end. */
static void leave_queue(struct px_server *srv, struct queue *q)
{
    struct queue *other = find_other(srv->part.relay, q);

    q->open = false;
    if (!srv->stopping && other) {
        (void)make_heir(srv->part.relay, other->peer, q->procs, q->n_procs);
    } else if (!srv->stopping) {
        q->ends = true;
        call_next(srv, q);
    }
    settle(q);
}

void px_pushes_peer_left(struct px_server *srv, const struct px_peer *peer)
{
    struct queue *found;

    PX_LIST_EACH (&srv->part.relay->queues, struct queue, q, link)
        if (q->peer == peer && q->refused) {
            q->refused = false;
            settle(q);
        }
    do { /* the host may change the list */
        found = NULL;
        PX_LIST_EACH (&srv->part.relay->queues, struct queue, q, link)
            if (q->peer == peer && q->open)
                found = q;
        if (found)
            leave_queue(srv, found);
    } while (found);
}

void px_pushes_nspace_gone(struct px_server *srv, const char *nspace)
{
    PX_LIST_EACH (&srv->part.relay->queues, struct queue, q, link)
        if (q->n_procs > 0 && strcmp(q->procs->nspace, nspace) == 0) {
            q->open = q->ends = q->refused = false;
            settle(q);
        }
}

pmix_status_t px_server_iof_feed(struct px_server *srv, const pmix_proc_t *from,
                                 const char *nspace)
{
    struct px_peer *peer = px_peer_find(srv, from);
    pmix_proc_t all;

    if (!peer || peer->finalized)
        return PMIX_ERR_NOT_FOUND;
    px_proc_set(&all, nspace, PMIX_RANK_WILDCARD);
    return make_heir(srv->part.relay, peer, &all, 1);
}

const struct px_forward px_push_forward = {
    .request = &px_request_iof_push,
    .function = "PMIx_IOF_push",
    .checked = true,
    .slot = PX_SLOT(push_stdin),
    .prepare = prepare,
    .call = enqueue,
    .reply = on_pushed,
};

/* ---- flow control ---------------------------------------------------------------- */

struct flow {
    struct px_server_op op;
    struct paused paused;
    bool all, xoff;
};

static pmix_status_t pause_one(struct px_relay *relay, const pmix_proc_t *proc,
                               bool xoff)
{
    struct paused *p;

    PX_LIST_EACH (&relay->paused, struct paused, old, link)
        if (px_proc_same(&old->proc, proc)) {
            px_list_remove(&old->link);
            free(old);
        }
    if (!xoff)
        return PMIX_SUCCESS;
    p = calloc(1, sizeof(*p));
    if (!p)
        return PMIX_ERR_NOMEM;
    p->proc = *proc;
    px_list_append(&relay->paused, &p->link);
    return PMIX_SUCCESS;
}

static pmix_status_t run_flow(struct px_server *srv, const struct px_server_op *op)
{
    const struct flow *f = PX_CONTAINER_OF(op, struct flow, op);
    struct px_relay *relay = srv->part.relay;
    pmix_status_t rc = PMIX_SUCCESS;

    if (f->all)
        relay->all_paused = f->xoff;
    else
        rc = pause_one(relay, &f->paused.proc, f->xoff);
    PX_LIST_EACH (&relay->queues, struct queue, q, link) {
        call_next(srv, q);
        settle(q);
    }
    return rc;
}

PX_EXPORT pmix_status_t PMIx_server_IOF_flow_control(
    const pmix_proc_t *source, pmix_iof_channel_t channel, bool xoff,
    const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct flow f = {.op = {.run = run_flow,
                            .calls_host = true,
                            .api = {.function = "PMIx_server_IOF_flow_control",
                                    .request = &px_request_infos,
                                    .args.info = px_infos_borrow(directives, ndirs),
                                    .cb = cbfunc,
                                    .cbdata = cbdata}},
                     .all = !source,
                     .xoff = xoff};

    if (px_server_here() && px_api_check(&f.op.api) == PMIX_SUCCESS &&
        channel != PMIX_FWD_STDIN_CHANNEL)
        return PMIX_ERR_NOT_SUPPORTED; /* output pauses when its writer does */
    if (source)
        px_proc_set(&f.paused.proc, source->nspace, source->rank);
    return px_server_submit(&f.op, sizeof(f), true);
}

void px_push_cleanup(struct px_relay *relay)
{
    PX_LIST_EACH (&relay->queues, struct queue, q, link) {
        q->open = q->ends = q->refused = false;
        settle(q);
    }
    PX_LIST_EACH (&relay->paused, struct paused, p, link) {
        px_list_remove(&p->link);
        free(p);
    }
}
