/* SPDX-License-Identifier: BSD-3-Clause */
/* PX_OP_COMMIT: decodes and checks all values before the first is stored. A commit of
 * many values takes several turns, in which its sender rests. Readers of the tables may
 * then see a part of the commit. */
#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/server/data/memory.h"
#include "core/server/data/on_get.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/server/peer/timeline.h"

enum {
    SMALL_B = 64 * 1024,
    UNSENT_B = 1024,
    READ_ITEMS = 16,  /* work of decoding a value, besides its bytes; see px_work */
    STORE_ITEMS = 32, /* the same of storing a value */
    GET_ITEMS = 2,    /* work of a waiting get that is checked */
};

/* Values of one commit. Text and bytes stay in the message where possible. */
typedef struct commit {
    px_reader message, values; /* the rest of the message; of its present section */
    uint8_t scope;             /* of the section */
    struct committed {
        const char *key;
        pmix_value_t value;
        bool is_view;
        uint8_t scope;
        size_t size_b; /* in the store */
    } * v;
    size_t n, cap, n_stored;
    size_t size_b; /* total size in the store */
} commit;

/* A commit that takes several turns. */
struct long_commit {
    struct px_list link; /* in part.commits */
    struct px_req *req;
    px_buf message;
    commit commit;
};

static void commit_cleanup(commit *c)
{
    for (size_t i = c->n_stored; i < c->n; i++)
        if (!c->v[i].is_view)
            px_type_destruct(PMIX_VALUE, &c->v[i].value);
    free(c->v);
}

static pmix_status_t read_kval(commit *c)
{
    struct committed *one = px_vec_add(&c->v, &c->n, &c->cap);
    pmix_status_t rc = one ? px_view_kval(&c->values, &one->key, &one->value,
                                          &one->is_view)
                           : PMIX_ERR_NOMEM;

    if (rc) {
        c->n -= one != NULL;
        return rc;
    }
    if (!one->key[0])
        return PMIX_ERR_BAD_PARAM;
    one->scope = c->scope;
    one->size_b = px_memory_of(one->key, &one->value);
    c->size_b += one->size_b;
    if (c->scope == PMIX_GLOBAL)
        c->size_b += one->size_b < PX_STORE_ONCE_B ? one->size_b : PX_STORE_ONCE_B;
    return PMIX_SUCCESS;
}

static pmix_status_t read_section(commit *c)
{
    pmix_status_t rc = px_unpack_u8(&c->message, &c->scope, PMIX_SCOPE);

    if (!rc)
        rc = px_unpack_view(&c->message, &c->values, PMIX_BUFFER);
    if (!rc && c->scope != PMIX_LOCAL && c->scope != PMIX_REMOTE &&
        c->scope != PMIX_GLOBAL)
        rc = PMIX_ERR_BAD_PARAM;
    return rc;
}

static commit commit_of(px_reader message)
{
    commit c = {.message = message};

    c.message.items =
        SIZE_MAX; /* the number of values has no limit, but the memory that stays */
    return c;
}

static bool is_read(const commit *c)
{
    return px_reader_done(&c->values) && px_reader_done(&c->message);
}

/* Returns the work that a peer may have in a turn. */
static size_t most_items(const struct px_peer *peer)
{
    return peer->conn ? PX_TURN_ITEMS : SIZE_MAX;
}

/* Decodes values until their work is that of a turn, and counts the work. */
static pmix_status_t read_some(struct px_peer *peer, commit *c)
{
    const size_t most = most_items(peer);
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n_items = 0;

    while (!rc && n_items < most && !is_read(c)) {
        const bool is_head = px_reader_done(&c->values);

        rc = is_head ? read_section(c) : read_kval(c);
        n_items += READ_ITEMS;
        if (!rc && !is_head && !c->v[c->n - 1].is_view)
            n_items += c->v[c->n - 1].size_b / PX_ITEM_B;
    }
    (void)px_work(peer, n_items);
    return rc;
}

/* Stores values until their work is that of a turn, and counts the work. Readers see
 * all these values or none. */
static pmix_status_t store_some(struct px_server *srv, struct px_nspace *ns,
                                struct px_peer *peer, commit *c)
{
    const size_t most = most_items(peer);
    const pmix_rank_t rank = peer->proc.rank;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n_items = 0;

    px_read_gate_close(srv->gate);
    while (!rc && n_items < most && c->n_stored < c->n) {
        struct committed *one = &c->v[c->n_stored++];

        n_items += STORE_ITEMS + one->size_b / PX_ITEM_B;
        rc = one->scope == PMIX_GLOBAL
                 ? px_store_put_global(&ns->store, rank, one->key, &one->value)
             : one->scope == PMIX_LOCAL
                 ? px_store_put(&ns->store, PX_GDS_LOCAL, rank, one->key, &one->value)
                 : px_store_keep(&ns->store, PX_GDS_REMOTE, rank, one->key,
                                 &one->value);
        if (!one->is_view) /* here, where the turn counts */
            px_type_destruct(PMIX_VALUE, &one->value);
    }
    px_read_gate_open(srv->gate);
    (void)px_work(peer, n_items);
    return rc;
}

/* Counts the memory of the decoded values. */
static pmix_status_t keep(struct px_server *srv, const struct px_req *req,
                          const struct px_nspace *ns, const commit *c)
{
    return req->peer == srv->self ? PMIX_SUCCESS
                                  : px_memory_keep(srv, ns, req->peer->uid, c->size_b);
}

/* Ends a commit that succeeded, and returns as a handler.
 *
 * A client that reads in place waits only for the reply to a commit without values. So
 * its other replies may be delayed. Other clients get each reply at once, which limits
 * their unanswered bytes. A reply also goes out at once if many bytes wait to be sent:
 * a fence that ends by a futex (adr/0023) sends none of them. */
static pmix_status_t succeed(struct px_server *srv, struct px_req *req,
                             const struct px_nspace *ns, const commit *c)
{
    if (req->peer->local) {
        req->peer->local->committed = true;
        req->peer->local->commit_status = PMIX_SUCCESS;
    }
    px_timeline_stamp(req->peer->local, PX_STEP_COMMIT);
    (void)px_work(req->peer,
                  GET_ITEMS * px_get_data_arrived(srv, &req->peer->proc, PMIX_SUCCESS));
    if (!px_map_sget(&req->peer->stores, ns->name) || c->n == 0 ||
        c->size_b >= SMALL_B || !req->peer->conn ||
        px_conn_unsent(req->peer->conn) >= UNSENT_B)
        return PMIX_SUCCESS;
    px_req_done_meanwhile(req);
    return PX_DEFERRED;
}

/* Ends a commit that failed. Its values do not come, so requests that wait for them
 * end. */
static void on_failed(struct px_server *srv, struct px_peer *peer, pmix_status_t why)
{
    peer->commit_failed = true;
    if (!peer->local)
        return;
    peer->local->commit_status = why;
    (void)px_work(peer, GET_ITEMS * px_get_data_arrived(srv, &peer->proc, why));
}

/* ---- commits of several turns ---------------------------------------------------- */

static void long_commit_free(struct long_commit *l)
{
    px_list_remove(&l->link);
    commit_cleanup(&l->commit);
    px_buf_cleanup(&l->message);
    free(l);
}

/* Returns the place in a copy of a message. */
static void *moved(const void *at, const px_reader *message, const px_buf *copy)
{
    return at ? copy->data + ((const uint8_t *)at - message->pos) : NULL;
}

static void move_reader(px_reader *r, const px_reader *message, const px_buf *copy)
{
    r->pos = moved(r->pos, message, copy);
    r->end = moved(r->end, message, copy);
}

/* Has a commit refer to a copy of its message. */
static void move_commit(commit *c, const px_reader *message, const px_buf *copy)
{
    move_reader(&c->message, message, copy);
    move_reader(&c->values, message, copy);
    for (size_t i = 0; i < c->n; i++) {
        struct committed *one = &c->v[i];

        one->key = moved(one->key, message, copy);
        if (!one->is_view)
            continue;
        if (one->value.type == PMIX_STRING)
            one->value.data.string = moved(one->value.data.string, message, copy);
        else
            one->value.data.bo.bytes = moved(one->value.data.bo.bytes, message, copy);
    }
}

/* Keeps the message of a commit, without a copy if it has memory of its own. */
static pmix_status_t keep_message(struct long_commit *l, const struct px_req *req,
                                  commit *c)
{
    const size_t n = (size_t)(req->in.end - req->in.pos);

    l->message = px_conn_take_payload(req->peer->conn);
    if (l->message.data)
        return PMIX_SUCCESS;
    pmix_status_t rc = px_buf_add(&l->message, req->in.pos, n);
    if (!rc)
        move_commit(c, &req->in, &l->message);
    return rc;
}

/* Continues a commit in later turns. Takes the commit. */
static pmix_status_t begin_long(struct px_server *srv, struct px_req *req, commit *c)
{
    const size_t n = (size_t)(req->in.end - req->in.pos);
    struct long_commit *l = calloc(1, sizeof(*l));
    pmix_status_t rc = l ? px_charge(&req->charge, req->peer,
                                     sizeof(*l) + n + c->n * sizeof(*c->v))
                         : PMIX_ERR_NOMEM;

    if (!rc)
        rc = keep_message(l, req, c);
    if (rc) {
        free(l);
        return rc;
    }
    l->req = req;
    l->commit = *c;
    *c = (commit){0};
    px_list_append(&srv->part.commits, &l->link);
    px_rest(req->peer);
    return PX_DEFERRED;
}

/* Continues a commit for a turn. *is_over: the result is that of the handler. */
static pmix_status_t continue_long(struct px_server *srv, struct long_commit *l,
                                   bool *is_over)
{
    struct px_peer *peer = l->req->peer;
    struct px_nspace *ns = px_nspace_find(srv->model, peer->proc.nspace);
    commit *c = &l->commit;
    const size_t before = c->n;
    pmix_status_t rc = PMIX_SUCCESS;

    *is_over = true;
    if (!ns)
        return PMIX_ERR_NOT_FOUND;
    if (!is_read(c)) {
        rc = read_some(peer, c);
        if (!rc)
            rc = px_charge(&l->req->charge, peer, (c->n - before) * sizeof(*c->v));
        if (!rc && is_read(c))
            rc = keep(srv, l->req, ns, c);
        *is_over = rc;
        return rc;
    }
    rc = store_some(srv, ns, peer, c);
    *is_over = rc || c->n_stored == c->n;
    return rc || !*is_over ? rc : succeed(srv, l->req, ns, c);
}

static void peer_turn(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.commits, struct long_commit, l, link) {
        struct px_req *req = l->req;
        bool is_over;

        if (req->peer != peer)
            continue;
        pmix_status_t rc = continue_long(srv, l, &is_over);
        if (!is_over) {
            px_rest(peer);
            continue;
        }
        long_commit_free(l);
        if (rc == PX_DEFERRED)
            continue;
        if (rc)
            on_failed(srv, peer, rc);
        px_req_done(req, rc);
    }
}

static void peer_gone(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.commits, struct long_commit, l, link) {
        struct px_req *req = l->req;

        if (req->peer != peer)
            continue;
        long_commit_free(l);
        px_req_drop(req);
    }
}

static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.commits, struct long_commit, l, link) {
        struct px_req *req = l->req;

        long_commit_free(l);
        px_req_done(req, PMIX_ERR_LOST_CONNECTION);
    }
}

/* ---- the request ----------------------------------------------------------------- */

static pmix_status_t on_commit(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(commit) c = commit_of(req->in);
    struct px_nspace *ns;
    /* The data of a tool without a rank would never be freed. */
    pmix_status_t rc = req->peer->tool && !req->peer->local
                           ? PMIX_ERR_NOT_SUPPORTED
                           : px_nspace_get(srv->model, req->peer->proc.nspace, &ns);

    if (!rc)
        rc = read_some(req->peer, &c);
    if (!rc && !is_read(&c))
        rc = begin_long(srv, req, &c);
    else if (!rc)
        rc = keep(srv, req, ns, &c);
    if (!rc)
        rc = store_some(srv, ns, req->peer, &c);
    if (!rc && c.n_stored < c.n)
        rc = begin_long(srv, req, &c);
    if (rc && rc != PX_DEFERRED)
        on_failed(srv, req->peer, rc);
    return rc ? rc : succeed(srv, req, ns, &c);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_COMMIT, PX_BY_ANY, PX_OWN, .passing = true, .handler = on_commit,
     .failed = on_failed},
    {0},
};

const struct px_server_part px_commit_part = {
    .name = "commit",
    .rpcs = rpcs,
    .stop = stop,
    .peer_turn = peer_turn,
    .peer_gone = peer_gone,
};
