/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for data that wait. Each hangs on the process that has the data, and on its
 * client. The reason that ends a wait finds its requests there. Many of them end over
 * several turns: see WALK. */
#include "core/server/data/gets.h"

#include "core/base/clock.h"
#include "core/link/conn.h"
#include "core/model/lookup.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/data/on_get.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"

#include <inttypes.h>
#include <string.h>

/* Requests that are checked or ended in one turn, for a commit, for an answer of the
 * host, and for all ends of processes together. */
#define WALK 512u

/* Requests that a walk checks or ends. */
enum which { HERE, ASKED, ALL }; /* they wait for the rank, for the host; both */

/* A process whose data are awaited. */
struct px_get_target {
    struct px_server *server;
    pmix_proc_t proc;
    struct px_list waits; /* the walk goes on with the first */
    size_t n, n_asked;    /* requests; of them, those that wait for the host */
    bool is_asked;        /* the host has not answered */
    unsigned n_uses;      /* callers on the stack */

    /* The walk through the requests. */
    struct px_list due; /* in px_gets.due until the walk ends */
    size_t n_left;      /* requests to be visited, at most */
    enum which which;
    pmix_status_t status; /* ends them; PMIX_SUCCESS: those whose data are here */
};

/* A peer that has left. */
struct leaver {
    struct px_list link; /* in px_gets.left */
    struct px_peer *peer;
};

/* ---- lists ----------------------------------------------------------------------- */

static struct px_get_target *find_target(const struct px_server *srv,
                                         const pmix_proc_t *proc)
{
    pmix_proc_t name;

    px_proc_set(&name, proc->nspace, proc->rank);
    return px_map_get(&srv->part.gets->targets, &name, sizeof(name));
}

/* Finds or adds a process. NULL if out of memory. */
static struct px_get_target *target_of(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_get_target *t = find_target(srv, proc);

    if (t)
        return t;
    t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->server = srv;
    px_proc_set(&t->proc, proc->nspace, proc->rank);
    px_list_init(&t->waits);
    if (px_map_put(&srv->part.gets->targets, &t->proc, sizeof(t->proc), t, NULL))
        free(px_take(&t));
    return t;
}

/* Ends a use of the target. A target without requests and uses is freed. */
static void release(struct px_get_target *t)
{
    if (--t->n_uses > 0 || t->n > 0)
        return;
    px_list_remove(&t->due);
    (void)px_map_remove(&t->server->part.gets->targets, &t->proc, sizeof(t->proc));
    free(t);
}

/* Returns one of the peer's lists: the requests that wait, or those that are ready. */
static struct px_list *list_of(struct px_peer *peer, bool is_ready)
{
    struct px_list *l = &peer->gets[is_ready];

    if (!px_list_linked(l))
        px_list_init(l);
    return l;
}

/* Lists the request. False: out of memory. */
static bool list(struct px_pending_get *w)
{
    struct px_get_target *t = target_of(w->server, &w->proc);

    if (!t)
        return false;
    w->target = t;
    t->n++;
    px_list_append(&t->waits, &w->link);
    if (w->req)
        px_list_append(list_of(w->req->peer, false), &w->own);
    return true;
}

static void unlist(struct px_pending_get *w)
{
    struct px_get_target *t = px_take(&w->target);

    px_list_remove(&w->link);
    px_list_remove(&w->own);
    if (!t)
        return;
    t->n_uses++;
    t->n--;
    t->n_asked -= w->asked_host;
    w->asked_host = false;
    release(t);
}

void px_pending_get_free(struct px_pending_get *w)
{
    unlist(w);
    px_timer_free(w->timer);
    px_buf_cleanup(&w->bytes);
    free(w->key);
    free(w);
}

void px_pending_get_ask(struct px_pending_get *w)
{
    w->target->n_asked += !w->asked_host;
    w->target->is_asked = w->asked_host = true;
}

bool px_gets_ask(const struct px_server *srv, const pmix_proc_t *proc)
{
    const struct px_get_target *t = find_target(srv, proc);

    return t && t->is_asked && t->n_asked > 0;
}

/* ---- answers --------------------------------------------------------------------- */

bool px_get_is_here(struct px_server *srv, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key)
{
    struct px_lookup l;
    pmix_value_t v;

    if (px_store_has(&ns->store, px_reply_table(srv, proc), proc->rank, key))
        return true;
    px_lookup_init(&l, key, proc->rank, NULL, 0);
    l.want_local = px_reply_table(srv, proc) == PX_GDS_LOCAL;
    l.want_remote = !l.want_local;
    l.skip_internal = true;
    if (px_lookup_find(srv->model, ns, &l, &v))
        return false;
    px_type_destruct(PMIX_VALUE, &v);
    return true;
}

bool px_get_is_out_of_scope(struct px_server *srv, const struct px_nspace *ns,
                            const pmix_proc_t *proc, const char *key)
{
    return key && px_local_find(srv, proc) &&
           px_store_has(&ns->store, PX_GDS_REMOTE, proc->rank, key);
}

static void reply_to_host(struct px_msg *msg)
{
    struct px_pending_get *w = PX_CONTAINER_OF(msg, struct px_pending_get, msg);

    w->host_cb(w->status, (char *)w->bytes.data, w->bytes.len, w->host_cbdata);
    px_pending_get_free(w);
}

/* Posts the reply: in its callback the host may change the list that the caller
 * walks. */
static void answer_host(struct px_pending_get *w, const struct px_nspace *ns,
                        pmix_status_t status)
{
    PX_AUTO(px_writer) body;

    px_writer_init(&body, px_codec_default);
    if (!status) {
        px_reply_pack_remote(&body, w->server, ns, w->proc.rank);
        status = body.status;
    }
    if (!status)
        w->bytes = px_buf_take(&body.buf);
    w->status = status;
    px_timer_free(px_take(&w->timer));
    w->msg.run = reply_to_host;
    px_post(w->server->loop, &w->msg);
}

void px_pending_get_end(struct px_pending_get *w, pmix_status_t status)
{
    struct px_nspace *ns = px_nspace_find(w->server->model, w->proc.nspace);

    unlist(w);
    if (!status &&
        (!ns || (w->key && !px_get_is_here(w->server, ns, &w->proc, w->key))))
        status = PMIX_ERR_NOT_FOUND;
    if (!w->req) {
        answer_host(w, ns, status);
        return;
    }
    struct px_peer *peer = w->req->peer;
    if (!status && peer->conn && px_conn_is_full(peer->conn)) {
        /* More replies to a peer that does not read would pile up. */
        px_list_append(list_of(peer, true), &w->own);
        px_timer_free(px_take(&w->timer));
        return;
    }
    if (status)
        px_req_done(w->req, status);
    else
        px_reply_found(w->req, ns, &w->proc, w->key, w->extent);
    px_pending_get_free(w);
}

/* Ends one of several requests. Of consecutive requests of one client, only the first
 * gets all values. *last is the client of the request before. */
static void end_next(struct px_pending_get *w, const struct px_peer **last)
{
    const struct px_peer *peer = w->req ? w->req->peer : NULL;

    if (peer && peer == *last)
        w->extent = PX_REPLY_KEY;
    *last = peer;
    px_pending_get_end(w, PMIX_SUCCESS);
}

/* ---- waiting --------------------------------------------------------------------- */

/* Logs which process waits for which key of which process. A program that waits for a
 * key that is never put looks as if the library hung. */
static void report(const struct px_pending_get *w, uint64_t now_ms)
{
    const pmix_proc_t *asker = w->req ? &w->req->peer->proc : &w->server->proc;

    px_log(PX_LOG_WARN, "get",
           "%s%s:%u has waited %" PRIu64 " s for %s%s%s of %s:%u, which %s",
           w->req ? "" : "the host of ", asker->nspace, asker->rank,
           (now_ms - w->begin_ms) / 1000, w->key ? "key \"" : "all keys",
           w->key ? w->key : "", w->key ? "\"" : "", w->proc.nspace, w->proc.rank,
           w->asked_host ? "the host has not brought" : "has not committed such a key");
}

static void set_timer(struct px_pending_get *w, uint64_t now_ms)
{
    uint64_t at = w->end_ms;

    if (w->report_ms && (!at || w->report_ms < at))
        at = w->report_ms;
    if (at)
        px_timer_set(w->timer, at > now_ms ? at - now_ms : 0);
}

static void on_time(void *arg)
{
    struct px_pending_get *w = arg;
    uint64_t now_ms = px_clock_ms();

    if (w->report_ms && now_ms >= w->report_ms) {
        report(w, now_ms);
        w->report_ms = 0;
    }
    if (w->end_ms && now_ms >= w->end_ms)
        px_pending_get_end(w, PMIX_ERR_TIMEOUT);
    else
        set_timer(w, now_ms);
}

pmix_status_t px_pending_get_begin(struct px_pending_get *w, struct px_server *srv,
                                   uint64_t timeout_ms)
{
    const struct px_server_conf *conf = &srv->conf;

    w->server = srv;
    w->begin_ms = px_clock_ms();
    if (conf->get_timeout && (!timeout_ms || conf->get_timeout < timeout_ms))
        timeout_ms = conf->get_timeout;
    w->end_ms = timeout_ms ? w->begin_ms + timeout_ms : 0;
    w->report_ms = conf->get_report ? w->begin_ms + conf->get_report : 0;
    if (!list(w))
        return PMIX_ERR_NOMEM;
    if (!w->end_ms && !w->report_ms)
        return PMIX_SUCCESS;
    w->timer = px_timer_create(srv->loop, on_time, w);
    if (!w->timer)
        return PMIX_ERR_NOMEM;
    set_timer(w, w->begin_ms);
    return PMIX_SUCCESS;
}

struct px_pending_get *px_pending_get_new(struct px_req *req, const pmix_proc_t *proc,
                                          const char *key, const pmix_info_t *info,
                                          size_t n)
{
    uint32_t seconds = px_info_u32(info, n, PMIX_TIMEOUT, 0);
    struct px_pending_get *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->req = req;
    w->proc = *proc;
    w->key = key ? strdup(key) : NULL;
    w->extent = px_info_flag(info, n, PX_GET_PARTS) ? PX_REPLY_PARTS : PX_REPLY_ALL;
    if (px_pending_get_begin(w, req->peer->server, seconds * 1000ull) ||
        (key && !w->key)) {
        px_pending_get_free(w);
        return NULL;
    }
    return w;
}

/* ---- what ends a wait ------------------------------------------------------------ */

static void visit(struct px_get_target *t, struct px_pending_get *w,
                  const struct px_peer **last)
{
    const struct px_nspace *ns;
    bool is_here;

    if (t->which != ALL && w->asked_host != (t->which == ASKED))
        return;
    if (t->which != HERE) {
        if (t->status)
            px_pending_get_end(w, t->status);
        else
            end_next(w, last);
        return;
    }
    ns = px_nspace_find(t->server->model, t->proc.nspace);
    is_here = w->key && ns ? px_get_is_here(t->server, ns, &t->proc, w->key)
                           : !t->status;
    if (is_here)
        end_next(w, last);
    else if (t->status || px_get_is_out_of_scope(t->server, ns, &t->proc, w->key))
        px_pending_get_end(w, t->status ? t->status : PMIX_ERR_NOT_FOUND);
}

/* Continues the walk with up to *n requests, and subtracts them. Each goes to the end
 * of the list, and stays there if it goes on waiting. */
static void walk(struct px_get_target *t, size_t *n)
{
    const struct px_peer *last = NULL;

    t->n_uses++;
    while (*n > 0 && t->n_left > 0 && t->n > 0) {
        struct px_list *first = t->waits.next;

        --*n;
        t->n_left--;
        px_list_remove(first);
        px_list_append(&t->waits, first);
        visit(t, PX_CONTAINER_OF(first, struct px_pending_get, link), &last);
    }
    if (t->n_left == 0 || t->n == 0) {
        t->n_left = 0;
        px_list_remove(&t->due);
    }
    release(t);
}

/* Visits the requests of a process, up to *n of them at once, and subtracts these. A
 * walk through other requests ends before. */
static void begin_walk(struct px_get_target *t, enum which which, pmix_status_t status,
                       size_t *n)
{
    struct px_gets *all = t->server->part.gets;
    size_t rest = SIZE_MAX;

    t->n_uses++;
    if (t->n_left > 0 && which != ALL && which != t->which)
        walk(t, &rest);
    if (which != HERE)
        t->is_asked = false;
    t->which = which;
    t->status = status;
    t->n_left = t->n;
    walk(t, n);
    if (t->n_left > 0 && !px_list_linked(&t->due))
        px_list_append(&all->due, &t->due);
    if (t->n_left > 0)
        px_timer_set(all->timer, 0);
    release(t);
}

/* Returns the number of visits that ends of processes may still make in this turn. */
static size_t *left_for_ends(const struct px_server *srv)
{
    struct px_gets *all = srv->part.gets;
    const uint64_t turn = px_loop_turn(srv->loop);

    if (all->turn != turn)
        all->n_left = WALK;
    all->turn = turn;
    return &all->n_left;
}

/* Ends up to *n requests of a peer, and subtracts them. Returns true if none is
 * left. */
static bool end_some(struct px_peer *peer, size_t *n)
{
    for (int is_ready = 0; is_ready < 2; is_ready++)
        PX_LIST_EACH (list_of(peer, is_ready), struct px_pending_get, w, own) {
            if (*n == 0)
                return false;
            --*n;
            px_pending_get_end(w, PMIX_ERR_LOST_CONNECTION);
        }
    return true;
}

static void leaver_free(struct leaver *l)
{
    px_list_remove(&l->link);
    px_peer_unref(l->peer);
    free(l);
}

static void on_timer(void *arg)
{
    const struct px_server *srv = arg;
    struct px_gets *all = srv->part.gets;
    size_t *n = left_for_ends(srv);

    PX_LIST_EACH (&all->left, struct leaver, l, link)
        if (end_some(l->peer, n))
            leaver_free(l);
    while (*n > 0 && !px_list_empty(&all->due))
        walk(PX_CONTAINER_OF(all->due.next, struct px_get_target, due), n);
    if (!px_list_empty(&all->left) || !px_list_empty(&all->due))
        px_timer_set(all->timer, 0);
}

/* A key that was not in this commit may be in the next. */
size_t px_get_data_arrived(struct px_server *srv, const pmix_proc_t *proc,
                           pmix_status_t status)
{
    struct px_get_target *t = find_target(srv, proc);
    size_t n = WALK;

    if (t)
        begin_walk(t, HERE, status, &n);
    return WALK - n;
}

void px_gets_answered(struct px_server *srv, const pmix_proc_t *proc,
                      pmix_status_t status)
{
    struct px_get_target *t = find_target(srv, proc);
    size_t n = WALK;

    if (t)
        begin_walk(t, ASKED, status, &n);
}

void px_gets_rank_gone(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_get_target *t = find_target(srv, proc);

    if (t)
        begin_walk(t, HERE, PMIX_ERR_NOT_FOUND, left_for_ends(srv));
}

void px_gets_nspace_gone(struct px_server *srv, const char *nspace,
                         struct px_nspace *ns PX_UNUSED)
{
    struct px_get_target *t;
    size_t pos = 0;

    while ((t = px_map_next(&srv->part.gets->targets, &pos, NULL, NULL)))
        if (strcmp(t->proc.nspace, nspace) == 0)
            begin_walk(t, ALL, PMIX_ERR_NOT_FOUND, left_for_ends(srv));
}

void px_gets_peer_room(struct px_server *srv PX_UNUSED, struct px_peer *peer)
{
    PX_LIST_EACH (list_of(peer, true), struct px_pending_get, w, own) {
        if (!peer->conn || px_conn_is_full(peer->conn))
            break;
        px_pending_get_end(w, PMIX_SUCCESS);
    }
}

void px_gets_peer_gone(struct px_server *srv, struct px_peer *peer)
{
    struct px_gets *all = srv->part.gets;
    size_t n = SIZE_MAX;
    struct leaver *l;

    if (end_some(peer, srv->stopping ? &n : left_for_ends(srv)))
        return;
    l = malloc(sizeof(*l));
    if (!l) {
        (void)end_some(peer, &n);
        return;
    }
    *l = (struct leaver){.peer = peer};
    px_peer_ref(peer);
    px_list_append(&all->left, &l->link);
    px_timer_set(all->timer, 0);
}

/* ---- the part -------------------------------------------------------------------- */

pmix_status_t px_gets_create(struct px_server *srv,
                             const struct px_server_start *start PX_UNUSED)
{
    struct px_gets *all = srv->part.gets;

    px_list_init(&all->due);
    px_list_init(&all->left);
    all->timer = px_timer_create(srv->loop, on_timer, srv);
    return all->timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

void px_gets_stop(struct px_server *srv)
{
    struct px_gets *all = srv->part.gets;
    struct px_get_target *t;
    size_t pos = 0, n = SIZE_MAX;

    PX_LIST_EACH (&all->left, struct leaver, l, link) {
        (void)end_some(l->peer, &n);
        leaver_free(l);
    }
    while ((t = px_map_next(&all->targets, &pos, NULL, NULL))) {
        t->which = ALL;
        t->status = PMIX_ERR_LOST_CONNECTION;
        t->n_left = t->n;
        walk(t, &n);
    }
}

void px_gets_destroy(struct px_server *srv)
{
    px_timer_free(srv->part.gets->timer);
    px_map_fini(&srv->part.gets->targets);
}
