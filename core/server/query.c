/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Query_info: the parts answer the keys they know, the host answers the rest. */
#include "core/role/support.h"
#include "core/server/data/memory.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

pmix_status_t px_answer(struct px_answers *a, const char *key, const void *data,
                        pmix_data_type_t type, size_t cost_b)
{
    cost_b += sizeof(pmix_info_t);
    if (cost_b > a->left_b)
        return PMIX_ERR_OUT_OF_RESOURCE;
    a->left_b -= cost_b;
    return px_infos_add(a->infos, key, data, type);
}

static const struct px_query_key *find_key(const struct px_server *srv, const char *key)
{
    for (const struct px_server_part *const *p = srv->parts; *p; p++)
        for (const struct px_query_key *k = (*p)->query_keys; k && k->key; k++)
            if (strcmp(k->key, key) == 0)
                return k;
    return NULL;
}

struct asked {
    struct px_server *srv;
    struct px_answers answers;
};

static pmix_status_t answer_key(void *asked, const pmix_query_t *q, const char *key)
{
    struct asked *a = asked;
    const struct px_query_key *k = find_key(a->srv, key);

    return k ? k->answer(a->srv, q, &a->answers) : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t answer_queries(struct px_server *srv, struct px_args *args,
                                    px_infos *known)
{
    struct asked a = {.srv = srv,
                      .answers = {.infos = known, .left_b = 2ull * PX_MAX_ANSWER_B}};
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_server_part *const *p = srv->parts; !rc && *p; p++)
        if ((*p)->query)
            rc = (*p)->query(srv, args->queries, &args->n_queries, known);
    return rc ? rc : px_query_keys(args->queries, &args->n_queries, answer_key, &a);
}

/* Checks the jobs that a query names. */
static pmix_status_t check_jobs(const struct px_peer *peer, const pmix_query_t *q)
{
    for (size_t i = 0; i < q->nqual; i++) {
        const pmix_value_t *v = &q->qualifiers[i].value;
        bool names = PMIx_Check_key(q->qualifiers[i].key, PMIX_NSPACE) ||
                     PMIx_Check_key(q->qualifiers[i].key, PMIX_PROCID);
        const char *job = !names                                 ? NULL
                          : v->type == PMIX_PROC && v->data.proc ? v->data.proc->nspace
                                                                 : px_value_string(v);

        if (job && !px_peer_may(peer, job))
            return PMIX_ERR_NO_PERMISSIONS;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t prepare_query(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t known_b = 0;

    for (size_t i = 0; !rc && i < u->args.n_queries; i++)
        rc = check_jobs(req->peer, &u->args.queries[i]);
    if (!rc)
        rc = answer_queries(req->peer->server, &u->args, &u->known);

    for (size_t i = 0; u->args.n_queries > 0 && i < u->known.n; i++)
        known_b += px_type_size(PMIX_INFO, &u->known.v[i]);
    if (!rc) /* the answers wait for the host's */
        rc = px_charge(&req->charge, req->peer, known_b);
    for (size_t i = 0; !rc && i < u->args.n_queries; i++) {
        pmix_query_t *q = &u->args.queries[i];
        px_infos l = {.v = q->qualifiers, .n = q->nqual, .cap = q->nqual};

        rc = px_infos_set_user(&l, req->peer);
        q->qualifiers = l.v;
        q->nqual = l.n;
    }
    return rc;
}

static pmix_status_t call_query(const pmix_server_module_t *m, struct px_upcall *u)
{
    if (u->args.n_queries == 0) /* everything was answered here */
        return u->known.n > 0 ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_FOUND;
    return m->query ? m->query(&u->proc, u->args.queries, u->args.n_queries,
                               px_upcall_info_cb, u)
                    : PMIX_ERR_NOT_SUPPORTED;
}

/* Replies with the answers made here, then those of the host. */
static void reply_query(void *arg, const struct px_upcall *answer)
{
    struct px_upcall both = {.status = answer->status};

    if (answer->known.n == 0) {
        px_upcall_reply_infos(arg, answer);
        return;
    }
    pmix_status_t rc = px_infos_add_copy(&both.infos, answer->known.v, answer->known.n);

    if (!rc)
        rc = px_infos_add_copy(&both.infos, answer->infos.v, answer->infos.n);
    if (rc)
        both.status = rc;
    else if (answer->status == PMIX_ERR_NOT_SUPPORTED ||
             answer->status == PMIX_ERR_NOT_FOUND)
        both.status = PMIX_ERR_PARTIAL_SUCCESS;
    px_upcall_reply_infos(arg, &both);
    px_infos_cleanup(&both.infos);
}

static const struct px_forward query = {
    .request = &px_request_query,
    .function = "PMIx_Query_info",
    .prepare = prepare_query,
    .call = call_query,
    .reply = reply_query,
};

static const struct px_rpc rpcs[] = {
    {PX_OP_QUERY, PX_BY_ANY, PX_BY_HOST, .forward = &query},
    {0},
};

const struct px_server_part px_query_part = {.name = "query", .rpcs = rpcs};
