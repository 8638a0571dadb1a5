/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, connect, disconnect: all participants of this node first, then the host for
 * the other nodes. */
#include "core/server/collective/collective.h"

#include "core/model/jobinfo.h"
#include "core/rt/log.h"

#include <string.h>

struct px_collect {
    struct px_list list; /* of those in progress */
    struct px_msg recheck;
    bool recheck_posted;
};

static void collective_free(struct px_collective *c)
{
    px_list_remove(&c->link);
    px_timer_free(c->timer);
    if (!c->handed_over)
        free(c->procs);
    px_infos_cleanup(&c->infos);
    free(c);
}

/* ---- participants ---------------------------------------------------------------- */

/* The order of procs. */
static int by_proc(const void *a, const void *b)
{
    return px_type_compare(PMIX_PROC, a, b);
}

static bool has_proc(const struct px_collective *c, const char *nspace,
                     pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    return bsearch(&p, c->procs, c->n_procs, sizeof p, by_proc);
}

static bool has_local(const struct px_collective *c, const struct px_local *local)
{
    const char *nspace = local->ns->name;

    return has_proc(c, nspace, local->rank) ||
           has_proc(c, nspace, PMIX_RANK_WILDCARD) ||
           has_proc(c, nspace, PMIX_RANK_LOCAL_NODE);
}

void px_collective_locals(const struct px_collective *c, px_local_fn fn, void *arg)
{
    const char *last = "";

    for (size_t i = 0; i < c->n_procs; i++) {
        struct px_nspace *ns = NULL;

        if (strcmp(c->procs[i].nspace, last) != 0)
            ns = px_nspace_find(px_process.model, c->procs[i].nspace);
        last = c->procs[i].nspace;
        if (!ns)
            continue;
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            if (has_local(c, l))
                fn(arg, l);
    }
}

static bool has_come(const struct px_collective *c, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&c->reqs, struct px_req, r, link)
        if (px_proc_same(&r->peer->proc, proc))
            return true;
    return false;
}

/* Local participants: all, those that will not come any more, those still awaited. */
struct census {
    const struct px_collective *c;
    size_t n_locals, n_away;
    size_t missing; /* still awaited */
    bool lost_some;
};

static bool is_away(const struct px_local *local)
{
    return local->lost || local->finalized;
}

static void count_local(void *arg, struct px_local *local)
{
    struct census *n = arg;

    n->n_locals++;
    n->n_away += is_away(local);
}

static void count_missing(void *arg, struct px_local *local)
{
    struct census *n = arg;
    pmix_proc_t proc;

    px_proc_set(&proc, local->ns->name, local->rank);
    if (has_come(n->c, &proc))
        return;
    if (is_away(local))
        n->lost_some = true;
    else
        n->missing++;
}

/* Local ranks still awaited, those the host announced but has not registered yet
 * included. */
static struct census take_census(const struct px_collective *c)
{
    struct census n = {.c = c, .lost_some = c->lost_some};

    for (size_t i = 0; i < c->n_procs; i++) {
        const struct px_nspace *ns = px_nspace_find(px_process.model,
                                                    c->procs[i].nspace);

        if (ns && c->procs[i].rank == PMIX_RANK_WILDCARD &&
            ns->n_local > px_list_length(&ns->locals))
            n.missing += ns->n_local - px_list_length(&ns->locals);
    }
    /* Most of the time their numbers show that it is too early to compare one by
     * one. */
    px_collective_locals(c, count_local, &n);
    if (n.missing == 0 && px_list_length(&c->reqs) + n.n_away < n.n_locals)
        n.missing = n.n_locals - px_list_length(&c->reqs) - n.n_away;
    if (n.missing == 0)
        px_collective_locals(c, count_missing, &n);
    return n;
}

/* A lost rank of ours is still of this node: its registration counts, not its
 * connection. */
static bool is_local(struct px_server *srv, const pmix_proc_t *p)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, p->nspace);

    if (p->rank == PMIX_RANK_LOCAL_NODE)
        return true;
    if (p->rank != PMIX_RANK_WILDCARD)
        return px_local_find(srv, p) != NULL;
    return ns && ns->job_size > 0 && px_list_length(&ns->locals) >= ns->job_size;
}

static bool all_local(const struct px_collective *c)
{
    for (size_t i = 0; i < c->n_procs; i++)
        if (!is_local(c->server, &c->procs[i]))
            return false;
    return true;
}

/* ---- the end --------------------------------------------------------------------- */

void px_collective_pack_job(const struct px_nspace *ns, px_writer *w)
{
    px_writer body;

    px_writer_init(&body, w->codec);
    px_pack_str(&body, ns->name);
    px_jobinfo_pack(px_process.model, ns, &body, true);
    if (body.status && !w->status)
        w->status = body.status;
    px_pack_bytes(w, body.buf.data, body.buf.len);
    px_writer_cleanup(&body);
}

/* After a connect of several namespaces each side learns the other's job. */
static void pack_jobs(const struct px_collective *c, px_writer *w)
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
        px_collective_pack_job(ns, w);
    }
}

static void answer_all(struct px_collective *c, pmix_status_t status)
{
    px_list_remove(&c->link);
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        px_writer w;

        px_list_remove(&req->link);
        px_reply_begin(req, &w, status);
        if (c->op == PX_OP_CONNECT && !status)
            pack_jobs(c, &w);
        px_req_reply(req, &w);
    }
    collective_free(c);
}

static void on_host_answer(void *arg, const struct px_upcall *answer)
{
    struct px_collective *c = arg;
    pmix_status_t status = answer->status;

    if (status == PMIX_ERR_NOT_SUPPORTED && c->lost_some)
        status = PMIX_ERR_LOST_CONNECTION; /* why the host was asked at all */
    if (!status && c->op == PX_OP_FENCE && answer->bytes.len > 0) {
        status = px_modex_unpack(c, &answer->bytes);
        if (status)
            px_log(PX_LOG_ERROR, "server", "cannot read the data of a fence: %s",
                   PMIx_Error_string(status));
    }
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
        return call ? call(c->procs, c->n_procs, l->v, l->n, px_upcall_op_cb, u)
                    : PMIX_ERR_NOT_SUPPORTED;
    if (!m->fence_nb)
        return PMIX_ERR_NOT_SUPPORTED;
    px_buf data = px_buf_take(&u->blob);
    return m->fence_nb(c->procs, c->n_procs, l->v, l->n, (char *)data.data, data.len,
                       px_upcall_modex_cb, u);
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
    if (!rc)
        rc = px_infos_add(&u->args.info, PMIX_SORTED_PROC_ARRAY, NULL, PMIX_BOOL);
    if (!rc)
        rc = px_infos_add(&u->args.info, PMIX_LOCAL_COLLECTIVE_STATUS, &local,
                          PMIX_STATUS);
    if (!rc && c->op == PX_OP_FENCE && c->collect)
        rc = px_modex_pack(c, &u->blob);
    if (rc) {
        px_upcall_drop(u);
        answer_all(c, rc);
        return;
    }
    c->handed_over = true;
    u->args.procs = c->procs; /* the host may read them until it answers */
    u->args.n_procs = c->n_procs;
    px_upcall_returned(u, call_host(c, u));
}

/* If all local participants arrived, proceed: a fence within the node needs no host.
 * May free c. */
static bool check_complete(struct px_collective *c)
{
    struct census n;

    if (c->handed_over)
        return false;
    n = take_census(c);
    if (n.missing > 0)
        return false;
    c->lost_some = n.lost_some;
    if (c->op == PX_OP_FENCE && all_local(c))
        answer_all(c, c->lost_some ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS);
    else
        hand_over(c);
    return true;
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

    /* The host still holds it after a hand-over: only those who wait here go. */
    if (!c->handed_over) {
        answer_all(c, PMIX_ERR_TIMEOUT);
        return;
    }
    PX_LIST_EACH (&c->reqs, struct px_req, req, link) {
        px_list_remove(&req->link);
        px_req_done(req, PMIX_ERR_TIMEOUT);
    }
}

static struct px_collective *find(struct px_server *srv, uint8_t op,
                                  const pmix_proc_t *procs, size_t n,
                                  const pmix_proc_t *who)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link) {
        if (c->op != op || c->n_procs != n || c->handed_over || has_come(c, who))
            continue;
        size_t same = 0;
        while (same < n && px_proc_same(&c->procs[same], &procs[same]))
            same++;
        if (same == n)
            return c;
    }
    return NULL;
}

/* Takes the processes and infos. */
static struct px_collective *begin(struct px_server *srv, uint8_t op, struct px_args *a)
{
    uint32_t seconds = px_info_u32(a->info.v, a->info.n, PMIX_TIMEOUT, 0);
    struct px_collective *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    px_list_init(&c->reqs);
    c->server = srv;
    c->op = op;
    if (seconds) {
        c->timer = px_timer_create(px_process.loop, on_deadline, c);
        if (!c->timer) {
            free(c);
            return NULL;
        }
        px_timer_set(c->timer, seconds * 1000ull);
    }
    c->procs = px_take(&a->procs);
    c->n_procs = a->n_procs;
    c->collect = px_info_flag(a->info.v, a->info.n, PMIX_COLLECT_DATA);
    c->infos = a->info;
    a->info = (px_infos){0};
    px_list_append(&srv->part.collect->list, &c->link);
    return c;
}

static pmix_status_t join(struct px_server *srv, struct px_req *req, struct px_args *a)
{
    struct px_collective *c;

    qsort(a->procs, a->n_procs, sizeof *a->procs, by_proc);
    c = find(srv, req->op, a->procs, a->n_procs, &req->peer->proc);
    if (!c)
        c = begin(srv, req->op, a);
    if (!c)
        return PMIX_ERR_NOMEM;
    px_list_append(&c->reqs, &req->link);
    (void)check_complete(c);
    return PX_DEFERRED;
}

static pmix_status_t on_collective(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) args = {0};
    pmix_status_t rc = px_unpack_args(&req->in, &args, px_request_fence.args);

    if (!rc)
        rc = px_req_may(req, args.procs, args.n_procs);
    return rc ? rc : join(srv, req, &args);
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
        px_list_remove(&req->link);
        px_req_done(req, PMIX_ERR_LOST_CONNECTION);
        c->lost_some = true;
    }
    /* The registration of its rank shows as well that it was here and left. */
    if (px_list_empty(&c->reqs) && !c->handed_over)
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

static void local_gone(struct px_server *srv, struct px_local *local)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link)
        c->lost_some |= has_local(c, local);
    check_all_later(srv);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->part.collect->list, struct px_collective, c, link) {
        for (size_t i = 0; i < c->n_procs; i++) {
            if (strcmp(c->procs[i].nspace, nspace) != 0 || c->handed_over)
                continue;
            answer_all(c, PMIX_ERR_LOST_CONNECTION);
            break;
        }
    }
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
    .local_gone = local_gone,
    .nspace_gone = nspace_gone,
};
