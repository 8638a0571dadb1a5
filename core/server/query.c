/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Query_info: the parts answer the keys they know, the host answers the rest. */
#include "core/base/strv.h"
#include "core/role/support.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/door/door.h"
#include "core/server/host.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

/* Limits of one request. */
#define MAX_QUERIES 256u
#define MAX_KEYS    1024u /* in all queries */

struct px_answers *px_server_answers(void *cbdata)
{
    return &((struct px_upcall *)cbdata)->answers;
}

pmix_status_t px_answer(struct px_answers *a, const char *key, const void *data,
                        pmix_data_type_t type, size_t cost_b)
{
    pmix_status_t rc;

    cost_b += sizeof(pmix_info_t);
    if (cost_b > a->left_b)
        return PMIX_ERR_OUT_OF_RESOURCE;
    rc = px_charge(&a->req->charge, a->req->peer, cost_b);
    if (rc)
        return rc;
    a->left_b -= cost_b;
    return px_infos_add(&a->infos, key, data, type);
}

static const struct px_query_key *find_key(const struct px_server *srv, const char *key)
{
    for (const struct px_server_part *const *p = srv->parts; *p; p++)
        for (const struct px_query_key *k = (*p)->query_keys; k && k->key; k++)
            if (strcmp(k->key, key) == 0)
                return k;
    return NULL;
}

static pmix_status_t answer_key(void *answers, const pmix_query_t *q, const char *key)
{
    struct px_answers *a = answers;
    struct px_server *srv = a->req->peer->server;
    const struct px_query_key *k = find_key(srv, key);

    return k ? k->answer(srv, q, a) : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t check_counts(const struct px_peer *peer,
                                  const struct px_args *args)
{
    size_t n_keys = 0;

    for (size_t i = 0; i < args->n_queries; i++)
        n_keys += px_strv_count(args->queries[i].keys);
    if (args->n_queries <= MAX_QUERIES && n_keys <= MAX_KEYS)
        return PMIX_SUCCESS;
    px_log_limited(peer->server->part.door->rate, peer->uid, PMIX_ERR_OUT_OF_RESOURCE,
                   "server",
                   "cannot serve PMIx_Query_info of %s.%u: got %zu queries with %zu "
                   "keys, expected at most %u with %u",
                   peer->proc.nspace, peer->proc.rank, args->n_queries, n_keys,
                   MAX_QUERIES, MAX_KEYS);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* Answers what the parts know. */
static pmix_status_t answer_queries(struct px_server *srv, struct px_args *args,
                                    struct px_answers *a)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t known_b = 0;

    for (const struct px_server_part *const *p = srv->parts; !rc && *p; p++)
        if ((*p)->query)
            rc = (*p)->query(srv, args->queries, &args->n_queries, &a->infos);
    for (size_t i = 0; i < a->infos.n; i++)
        known_b += px_type_size(PMIX_INFO, &a->infos.v[i]);
    if (!rc)
        rc = px_charge(&a->req->charge, a->req->peer, known_b);
    return rc ? rc : px_query_keys(args->queries, &args->n_queries, answer_key, a);
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
    struct px_server *srv = req->peer->server;
    pmix_status_t rc = check_counts(req->peer, &u->args);

    u->answers = (struct px_answers){.left_b = 2ull * PX_MAX_ANSWER_B, .req = req};
    for (size_t i = 0; !rc && i < u->args.n_queries; i++)
        rc = check_jobs(req->peer, &u->args.queries[i]);
    if (!rc)
        rc = answer_queries(srv, &u->args, &u->answers);
    /* The built-in host does not read the user. */
    for (size_t i = 0; !rc && !srv->host && i < u->args.n_queries; i++) {
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
        return u->answers.infos.n > 0 ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_FOUND;
    return m->query ? m->query(&u->proc, u->args.queries, u->args.n_queries,
                               px_upcall_info_cb, u)
                    : PMIX_ERR_NOT_SUPPORTED;
}

/* Replies with the answers made here, then those of the host. */
static void reply_query(void *arg, const struct px_upcall *answer)
{
    const px_infos *own = &answer->answers.infos, *hosts = &answer->infos;
    struct px_upcall both = {.status = answer->status, .infos = *own};
    PX_AUTOFREE pmix_info_t *borrowed = NULL;

    if (own->n == 0) {
        px_upcall_reply_infos(arg, answer);
        return;
    }
    if (answer->status == PMIX_ERR_NOT_SUPPORTED ||
        answer->status == PMIX_ERR_NOT_FOUND)
        both.status = PMIX_ERR_PARTIAL_SUCCESS;
    if (hosts->n > 0) {
        borrowed = malloc((own->n + hosts->n) * sizeof(*borrowed));
        if (!borrowed) {
            px_req_done(arg, PMIX_ERR_NOMEM);
            return;
        }
        memcpy(borrowed, own->v, own->n * sizeof(*borrowed));
        memcpy(borrowed + own->n, hosts->v, hosts->n * sizeof(*borrowed));
        both.infos = px_infos_borrow(borrowed, own->n + hosts->n);
    }
    px_upcall_reply_infos(arg, &both);
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
