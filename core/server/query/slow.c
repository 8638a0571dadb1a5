/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers about many processes, made and packed in the turns of the peer. A table of
 * 100,000 processes takes about six turns. */
#include "core/server/query/query.h"

#include "core/os/os.h"
#include "core/base/vec.h"
#include "core/model/assembly.h"
#include "core/model/nspace.h"
#include "core/server/cleanup/cleanup.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <string.h>

/* ---- one process ----------------------------------------------------------------- */

struct px_view_pid {
    pmix_rank_t rank;
    pid_t pid;
};

static int by_rank(const void *a, const void *b)
{
    const struct px_view_pid *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Begins with a namespace: lists the connected processes. Without memory their pids
 * are missing. */
static void enter_nspace(struct px_view *v, const char *nspace)
{
    v->ns = px_nspace_find(v->server->model, nspace);
    v->local = v->ns ? v->ns->locals.next : NULL;
    v->n_pids = 0;
    v->node = UINT32_MAX;
    v->has_host = false;
    PX_LIST_EACH (&v->server->peers, struct px_peer, p, link) {
        struct px_view_pid *it = NULL;

        if (!p->gone && strcmp(p->proc.nspace, nspace) == 0)
            it = px_vec_add(&v->pids, &v->n_pids, &v->cap);
        if (it)
            *it = (struct px_view_pid){.rank = p->proc.rank, .pid = px_cleanup_pid(p)};
    }
    if (v->n_pids > 1)
        qsort(v->pids, v->n_pids, sizeof(*v->pids), by_rank);
}

/* Returns the registered client, or NULL. Ranks mostly ascend. */
static const struct px_local *find_local(struct px_view *v, pmix_rank_t rank)
{
    const struct px_local *l = NULL;

    if (v->local == &v->ns->locals ||
        PX_CONTAINER_OF(v->local, struct px_local, link)->rank > rank)
        v->local = v->ns->locals.next;
    for (; v->local != &v->ns->locals; v->local = v->local->next) {
        l = PX_CONTAINER_OF(v->local, struct px_local, link);
        if (l->rank >= rank)
            return l->rank == rank ? l : NULL;
    }
    return NULL;
}

static pmix_proc_state_t state_of(const struct px_local *l)
{
    return l->n_peers > 0                 ? PMIX_PROC_STATE_CONNECTED
           : l->lost                      ? PMIX_PROC_STATE_COMM_FAILED
           : l->connected || l->finalized ? PMIX_PROC_STATE_RUNNING
                                          : PMIX_PROC_STATE_UNDEF;
}

/* Counts the ranks from this one on that are on the same node without being registered
 * clients. at: position of the rank on the node. */
static size_t count_alike(const struct px_view *v, uint32_t node, uint16_t at,
                          pmix_rank_t rank)
{
    const pmix_rank_t client =
        v->local == &v->ns->locals
            ? PMIX_RANK_VALID
            : PX_CONTAINER_OF(v->local, struct px_local, link)->rank;
    uint32_t first = 0;
    const uint32_t n = px_procmap_run(v->ns->map, node, at, &first);

    if (n == 0 || first != rank)
        return 1;
    return n < client - rank ? n : client - rank;
}

/* Describes a process by its registration and its connection. */
static void describe(struct px_view *v, pmix_proc_info_t *row)
{
    const struct px_view_pid asked = {.rank = row->proc.rank};
    const struct px_local *l = find_local(v, row->proc.rank);
    uint16_t at = 0;
    uint32_t node = v->ns->map ? px_procmap_node_of(v->ns->map, row->proc.rank, &at)
                               : UINT32_MAX;
    const struct px_view_pid *pid = NULL;

    if (node != v->node) /* neighbours mostly share a node */
        v->has_host = node != UINT32_MAX &&
                      px_procmap_name(v->ns->map, node, v->host) > 0;
    v->node = node;
    if (v->has_host)
        row->hostname = v->host;
    else if (l)
        row->hostname = v->server->model->hostname;
    if (!l) {
        v->n_alike = v->has_host ? count_alike(v, node, at, row->proc.rank) : 1;
        return;
    }
    row->state = state_of(l);
    if (v->n_pids > 0)
        pid = bsearch(&asked, v->pids, v->n_pids, sizeof(*v->pids), by_rank);
    if (pid)
        row->pid = pid->pid;
}

void px_view_process(struct px_view *v, pmix_proc_info_t *row)
{
    const struct px_builtin_host *host = v->server->host;

    v->n_alike = 1;
    row->hostname = row->executable_name = NULL;
    row->pid = 0;
    row->exit_code = 0;
    row->state = PMIX_PROC_STATE_UNDEF;
    if (host && host->describe && host->describe(v->server->builtin, row))
        return;
    if (!v->ns || strcmp(v->ns->name, row->proc.nspace) != 0)
        enter_nspace(v, row->proc.nspace);
    if (v->ns)
        describe(v, row);
}

void px_query_find_pids(const struct px_answers *a, const char *nspace)
{
    struct px_server *srv = a->req->peer->server;

    if (!srv->host)
        px_cleanup_find_pids(srv, a->req->peer, nspace);
}

void px_view_fini(struct px_view *v)
{
    free(v->pids);
    *v = (struct px_view){.server = v->server};
}

/* ---- replies --------------------------------------------------------------------- */

struct px_slow_reply {
    struct px_list link; /* in px_queries.replies */
    struct px_req *req;
    px_writer w;
    struct px_answers a; /* slow answers that are not complete */
};

static void reply_free(struct px_slow_reply *r)
{
    px_list_remove(&r->link);
    px_answers_cleanup(&r->a);
    px_writer_cleanup(&r->w);
    free(r);
}

/* Bytes of a message whose pages are backed before rows are written there. */
#define AHEAD_B (128u * 1024u)

/* Has the next pages of the message backed when the rows reach *backed. */
static void back_pages(const px_writer *w, size_t *backed)
{
    const size_t room = w->buf.cap - w->buf.len, n = room < AHEAD_B ? room : AHEAD_B;

    if (w->buf.len < *backed)
        return;
    px_os_populate(w->buf.data + w->buf.len, n);
    *backed = w->buf.len + n;
}

/* Makes the rows of an answer until the peer has used up its turn. True: all are
 * packed. */
static bool make_rows(struct px_slow *s, struct px_peer *peer, px_writer *w)
{
    struct px_view view = {.server = peer->server};
    pmix_proc_info_t row = {.proc = s->job};
    size_t alike_to = 0, backed = 0;
    bool rests = false;

    for (; s->at < s->n && !rests; s->at++) {
        row.proc.rank = (pmix_rank_t)s->at;
        if (s->procs)
            row.proc = s->procs[s->at];
        const bool is_alike = s->at < alike_to && !s->procs;
        if (!is_alike) {
            px_view_process(&view, &row);
            alike_to = s->at + view.n_alike;
        }
        back_pages(w, &backed);
        s->ops->row(s, &row, w);
        rests = px_work(peer, is_alike ? s->ops->again : s->ops->items);
    }
    px_view_fini(&view);
    return s->at == s->n;
}

/* Continues a reply, and sends it once it is complete. */
static void go_on(struct px_slow_reply *r)
{
    struct px_req *req = r->req;

    while (r->a.slow) {
        struct px_slow *s = r->a.slow;

        if (s->at == 0) /* a failure shows when rows are packed */
            (void)px_buf_reserve(&r->w.buf, s->n * s->row_b);
        if (s->at == 0 && s->ops->begin)
            s->ops->begin(s, &r->w);
        if (!make_rows(s, req->peer, &r->w))
            return;
        if (s->ops->end)
            s->ops->end(s, &r->w);
        r->a.slow = s->next;
        px_slow_free(s);
    }
    px_writer w = r->w;
    r->w = (px_writer){0};
    reply_free(r);
    px_req_reply(req, &w);
}

void px_query_reply(struct px_req *req, pmix_status_t status, struct px_answers *a,
                    const px_infos *hosts)
{
    size_t n = a->infos.n + hosts->n;
    struct px_slow_reply *r = NULL;
    px_writer w;

    for (const struct px_slow *s = a->slow; s; s = s->next)
        n++;
    if (a->slow && !(r = calloc(1, sizeof(*r)))) {
        px_req_done(req, PMIX_ERR_NOMEM);
        return;
    }
    px_reply_begin(req, &w, status);
    px_pack_infos_head(&w, n);
    for (size_t i = 0; i < a->infos.n; i++)
        px_pack_bare(&w, &a->infos.v[i], PMIX_INFO);
    for (size_t i = 0; i < hosts->n; i++)
        px_pack_bare(&w, &hosts->v[i], PMIX_INFO);
    if (!r) {
        px_req_reply(req, &w);
        return;
    }
    *r = (struct px_slow_reply){.req = req, .w = w, .a.slow = px_take(&a->slow)};
    px_list_append(&req->peer->server->part.queries->replies, &r->link);
    go_on(r);
}

void px_slow_turn(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.queries->replies, struct px_slow_reply, r, link)
        if (r->req->peer == peer && !peer->rests)
            go_on(r);
}

void px_slow_gone(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.queries->replies, struct px_slow_reply, r, link) {
        struct px_req *req = r->req;

        if (req->peer != peer)
            continue;
        reply_free(r);
        px_req_drop(req);
    }
}

void px_slow_stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.queries->replies, struct px_slow_reply, r, link) {
        struct px_req *req = r->req;

        reply_free(r);
        px_req_done(req, PMIX_ERR_LOST_CONNECTION);
    }
}
