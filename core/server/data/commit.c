/* SPDX-License-Identifier: BSD-3-Clause */
/* PX_OP_COMMIT: decodes and checks all values before the first is stored. */
#include "core/server/data/commit.h"

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

enum {
    SMALL_B = 64 * 1024,
    UNSENT_B = 1024,
    VALUE_ITEMS = 8, /* work of a value; see px_work */
    GET_ITEMS = 2,   /* work of a waiting get that is checked */
};

/* Values of one commit. Text and bytes stay in the message where possible. */
typedef struct commit {
    struct committed {
        const char *key;
        pmix_value_t value;
        bool is_view;
        uint8_t scope;
    } * v;
    size_t n, cap;
    size_t size_b; /* total size in the store */
} commit;

static void commit_cleanup(commit *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!c->v[i].is_view)
            px_type_destruct(PMIX_VALUE, &c->v[i].value);
    free(c->v);
}

static pmix_status_t read_kval(px_reader *r, uint8_t scope, struct commit *c)
{
    struct committed *one = px_vec_add(&c->v, &c->n, &c->cap);
    pmix_status_t rc = one ? px_view_kval(r, &one->key, &one->value, &one->is_view)
                           : PMIX_ERR_NOMEM;

    if (rc) {
        c->n -= one != NULL;
        return rc;
    }
    if (!one->key[0])
        return PMIX_ERR_BAD_PARAM;
    one->scope = scope;
    const size_t size_b = px_memory_of(one->key, &one->value);
    c->size_b += size_b;
    if (scope == PMIX_GLOBAL)
        c->size_b += size_b < PX_STORE_ONCE_B ? size_b : PX_STORE_ONCE_B;
    return PMIX_SUCCESS;
}

static pmix_status_t read_commit(px_reader r, struct commit *c)
{
    pmix_status_t rc = PMIX_SUCCESS;

    r.items =
        SIZE_MAX; /* the number of values has no limit, but the memory that stays */
    while (!rc && !px_reader_done(&r)) {
        px_reader values;
        uint8_t scope;

        rc = px_unpack_u8(&r, &scope, PMIX_SCOPE);
        if (!rc)
            rc = px_unpack_view(&r, &values, PMIX_BUFFER);
        if (!rc && scope != PMIX_LOCAL && scope != PMIX_REMOTE && scope != PMIX_GLOBAL)
            rc = PMIX_ERR_BAD_PARAM;
        while (!rc && !px_reader_done(&values))
            rc = read_kval(&values, scope, c);
    }
    return rc;
}

static pmix_status_t store_commit(struct px_server *srv, struct px_nspace *ns,
                                  pmix_rank_t rank, const struct commit *c)
{
    pmix_status_t rc = PMIX_SUCCESS;

    px_read_gate_close(srv->gate); /* readers see the whole commit or nothing */
    for (size_t i = 0; !rc && i < c->n; i++) {
        const struct committed *one = &c->v[i];

        rc = one->scope == PMIX_GLOBAL
                 ? px_store_put_global(&ns->store, rank, one->key, &one->value)
             : one->scope == PMIX_LOCAL
                 ? px_store_put(&ns->store, PX_GDS_LOCAL, rank, one->key, &one->value)
                 : px_store_keep(&ns->store, PX_GDS_REMOTE, rank, one->key,
                                 &one->value);
    }
    px_read_gate_open(srv->gate);
    return rc;
}

static pmix_status_t accept_commit(struct px_server *srv, const struct px_req *req,
                                   struct px_nspace **ns, struct commit *c)
{
    pmix_status_t rc = px_nspace_get(srv->model, req->peer->proc.nspace, ns);

    if (!rc)
        rc = read_commit(req->in, c);
    if (!rc && req->peer != srv->self)
        rc = px_memory_keep(srv, *ns, req->peer->uid, c->size_b);
    return rc ? rc : store_commit(srv, *ns, req->peer->proc.rank, c);
}

pmix_status_t px_commit_request(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(commit) c = {0};
    struct px_nspace *ns;
    pmix_status_t rc = accept_commit(srv, req, &ns, &c);

    req->peer->commit_failed |= rc != PMIX_SUCCESS;
    if (rc)
        return rc;
    if (req->peer->local)
        req->peer->local->committed = true;
    (void)px_work(req->peer,
                  VALUE_ITEMS * c.n +
                      GET_ITEMS * px_get_data_arrived(srv, &req->peer->proc));
    /* A client that reads in place waits only for the reply to a commit without values.
     * So its other replies may be delayed. Other clients get each reply at once, which
     * limits their unanswered bytes. A reply also goes out at once if many bytes wait
     * to be sent: a fence that ends by a futex (adr/0023) sends none of them. */
    if (!px_map_sget(&req->peer->stores, ns->name) || c.n == 0 || c.size_b >= SMALL_B ||
        !req->peer->conn || px_conn_unsent(req->peer->conn) >= UNSENT_B)
        return PMIX_SUCCESS;
    px_req_done_meanwhile(req);
    return PX_DEFERRED;
}
