/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Query_info: the parts and the registered data answer the keys that this server
 * alone knows. The host answers the rest. Then the parts answer keys that the host does
 * not know. */
#include "core/server/query/query.h"

#include "core/base/strv.h"
#include "core/model/query.h"
#include "core/role/support.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/door/door.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

#include <pmix_tool.h>

/* Limits of one request. */
#define MAX_QUERIES 256u
#define MAX_KEYS    1024u  /* in all queries */
#define MAX_WORK    65536u /* items for answers that are made at once */
/* Work for a registered value that an answer of the host replaces. */
#define REFRESH_ITEMS 4096u

/* The value of PMIX_QUERY_SUPPORTED_QUALIFIERS in later releases. */
#define NEWER_QUALIFIERS "pmix.qry.supqual"

/* ---- answers --------------------------------------------------------------------- */

static bool is_qualifiers_key(const char *key)
{
    return strcmp(key, PMIX_QUERY_SUPPORTED_QUALIFIERS) == 0 ||
           strcmp(key, NEWER_QUALIFIERS) == 0;
}

/* A pass over the keys of a request: before the host answers, or after. */
struct pass {
    struct px_answers *a;
    bool after_host;
    size_t n_answered; /* after the host */
};

/* Answers a key from the registered and committed data. */
static pmix_status_t answer_value(const struct pass *pass, const pmix_query_t *q,
                                  const char *key)
{
    struct px_answers *a = pass->a;
    const struct px_peer *peer = a->req->peer;
    const struct px_nspace *ns;
    pmix_proc_t target;
    pmix_value_t v;
    pmix_status_t rc = px_query_target(q, &peer->proc, &target);

    if (rc)
        return rc;
    ns = px_peer_nspace(peer, target.nspace);
    /* Before the host answers, check_target has admitted the peer. */
    if (!ns || (pass->after_host && !px_peer_may(peer, target.nspace)))
        return PMIX_ERR_NOT_FOUND;
    bool local = px_local_of(ns, target.rank);
    rc = px_lookup_query(peer->server->model, ns, target.rank, q, key, local, !local,
                         &v);
    if (rc)
        return rc;
    rc = px_answers_charge(a, sizeof(pmix_info_t) + px_type_size(PMIX_VALUE, &v));
    if (!rc)
        rc = px_infos_add_value(&a->infos, key, &v);
    px_type_destruct(PMIX_VALUE, &v);
    return rc;
}

static pmix_status_t answer_row(const struct pass *pass, const struct px_query_key *k,
                                const pmix_query_t *q)
{
    if (px_query_flag(q, PMIX_QUERY_SUPPORTED_QUALIFIERS) ||
        px_query_flag(q, NEWER_QUALIFIERS))
        return px_answer_text(pass->a, k->key, k->qualifiers ? k->qualifiers : "");
    return k->after_host == pass->after_host
               ? k->answer(pass->a->req->peer->server, q, k->key, pass->a)
               : PMIX_ERR_NOT_FOUND;
}

/* Implements px_answer_key_fn. */
static pmix_status_t answer_key(void *arg, const pmix_query_t *q, const char *key)
{
    struct pass *pass = arg;
    size_t n;
    const struct px_query_key *const *rows = px_part_keys(pass->a->req->peer->server,
                                                          key, &n);
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; i < n && rc == PMIX_ERR_NOT_FOUND; i++)
        rc = answer_row(pass, rows[i], q);
    /* A refresh prefers what the host knows now. */
    if (rc == PMIX_ERR_NOT_FOUND &&
        pass->after_host == px_query_flag(q, PMIX_QUERY_REFRESH_CACHE))
        rc = answer_value(pass, q, key);
    if (rc == PMIX_SUCCESS || rc == PMIX_ERR_NOMEM || rc == PMIX_ERR_OUT_OF_RESOURCE)
        return rc;
    if (rc != PMIX_ERR_NOT_FOUND)
        pass->a->failure = rc;
    return PMIX_ERR_NOT_FOUND;
}

/* ---- the request ----------------------------------------------------------------- */

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

/* Checks the process that a query names. */
static pmix_status_t check_target(const struct px_peer *peer, const pmix_query_t *q)
{
    pmix_proc_t target;
    pmix_status_t rc = px_query_target(q, &peer->proc, &target);

    return rc                                 ? rc
           : px_peer_may(peer, target.nspace) ? PMIX_SUCCESS
                                              : PMIX_ERR_NO_PERMISSIONS;
}

/* Makes a qualifier of PMIX_QUERY_SUPPORTED_QUALIFIERS among the keys: the key is about
 * the other keys. */
static pmix_status_t move_qualifiers_key(pmix_query_t *q)
{
    px_infos l = {.v = q->qualifiers, .n = q->nqual, .cap = q->nqual};
    size_t n = px_strv_count(q->keys), kept = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; n > 1 && i < n; i++) {
        if (is_qualifiers_key(q->keys[i]) && n - i + kept > 1) {
            free(q->keys[i]);
            rc = px_infos_set(&l, PMIX_QUERY_SUPPORTED_QUALIFIERS, NULL, PMIX_BOOL);
        } else {
            q->keys[kept++] = q->keys[i];
        }
    }
    if (n > 1)
        q->keys[kept] = NULL;
    q->qualifiers = l.v;
    q->nqual = l.n;
    return rc;
}

/* Answers what the parts know. */
static pmix_status_t answer_queries(struct px_server *srv, struct px_args *args,
                                    struct px_answers *a)
{
    struct pass pass = {.a = a};
    pmix_status_t rc = PMIX_SUCCESS;
    size_t known_b = 0;

    for (const struct px_server_part *const *p = srv->parts; !rc && *p; p++)
        if ((*p)->query)
            rc = (*p)->query(srv, args->queries, &args->n_queries, &a->infos);
    for (size_t i = 0; i < a->infos.n; i++)
        known_b += px_type_size(PMIX_INFO, &a->infos.v[i]);
    if (!rc)
        rc = px_charge(&a->req->charge, a->req->peer, known_b);
    return rc ? rc : px_query_keys(args->queries, &args->n_queries, answer_key, &pass);
}

static pmix_status_t prepare_query(struct px_req *req, struct px_upcall *u)
{
    struct px_server *srv = req->peer->server;
    pmix_status_t rc = check_counts(req->peer, &u->args);

    u->answers = malloc(sizeof(*u->answers));
    if (!u->answers)
        return PMIX_ERR_NOMEM;
    *u->answers = (struct px_answers){
        .left_b = 2ull * PX_MAX_ANSWER_B,
        .left_items = MAX_WORK,
        .req = req,
        .sources = px_query_source_asked(u->args.queries, u->args.n_queries)};
    for (size_t i = 0; !rc && i < u->args.n_queries; i++)
        rc = check_target(req->peer, &u->args.queries[i]);
    for (size_t i = 0; !rc && i < u->args.n_queries; i++)
        rc = move_qualifiers_key(&u->args.queries[i]);
    if (!rc)
        rc = answer_queries(srv, &u->args, u->answers);
    for (size_t i = 0; !rc && srv->module.query && i < u->args.n_queries; i++) {
        pmix_query_t *q = &u->args.queries[i];
        px_infos l = {.v = q->qualifiers, .n = q->nqual, .cap = q->nqual};

        u->answers->local_only |= px_query_flag(q, PMIX_QUERY_LOCAL_ONLY);
        u->answers->refreshes |= px_query_flag(q, PMIX_QUERY_REFRESH_CACHE);
        rc = px_infos_set_user(&l, req->peer);
        q->qualifiers = l.v;
        q->nqual = l.n;
    }
    return rc;
}

/* Asks the host. A query for local information is not for the host. */
static pmix_status_t call_query(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->query && u->args.n_queries > 0 && !u->answers->local_only
               ? m->query(&u->proc, u->args.queries, u->args.n_queries,
                          px_upcall_info_cb, u)
               : PMIX_ERR_NOT_FOUND;
}

/* ---- the host's answer ----------------------------------------------------------- */

static pmix_info_t *hosts_info(const px_infos *hosts, const char *key)
{
    for (size_t i = 0; i < hosts->n; i++) {
        const pmix_info_t *in;
        size_t n;

        if (PMIx_Check_key(hosts->v[i].key, key))
            return &hosts->v[i];
        if (PMIx_Check_key(hosts->v[i].key, PMIX_QUERY_RESULTS) &&
            px_value_infos(&hosts->v[i].value, &in, &n) && px_info_find(in, n, key))
            return &hosts->v[i];
    }
    return NULL;
}

/* Adds the keys of this server to the host's list. */
static pmix_status_t merge_keys(struct px_server *srv, const px_infos *hosts)
{
    pmix_info_t *info = hosts_info(hosts, PMIX_QUERY_SUPPORTED_KEYS);
    const char *text = info ? px_value_string(&info->value) : NULL;
    PX_AUTO(px_strv) list = text ? px_strv_split(text, ',', false) : NULL;
    char *joined;

    if (!text)
        return PMIX_SUCCESS;
    pmix_status_t rc = px_server_query_keys(srv, &list);
    joined = rc ? NULL : px_strv_join(list, ',');
    if (!joined)
        return PMIX_ERR_NOMEM;
    free(info->value.data.string);
    info->value.data.string = joined;
    return PMIX_SUCCESS;
}

/* Answers the keys that the host has not answered. Counts all keys. */
static pmix_status_t answer_rest(struct pass *pass, const struct px_upcall *answer,
                                 size_t *n_keys)
{
    const struct px_args *args = &answer->args;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < args->n_queries; i++)
        for (char **key = args->queries[i].keys; !rc && key && *key; key++) {
            ++*n_keys;
            if (hosts_info(&answer->infos, *key))
                continue;
            rc = answer_key(pass, &args->queries[i], *key);
            pass->n_answered += !rc;
            if (rc == PMIX_ERR_NOT_FOUND)
                rc = PMIX_SUCCESS;
        }
    return rc;
}

/* Completes the answers, and returns the status of the whole request. */
static pmix_status_t judge(struct pass *pass, const struct px_upcall *answer)
{
    const pmix_status_t hosts = answer->status;
    bool is_partial = hosts == PMIX_ERR_PARTIAL_SUCCESS;
    size_t n_keys = 0, n_answered;
    pmix_status_t rc = answer_rest(pass, answer, &n_keys);

    if (!rc)
        rc = merge_keys(pass->a->req->peer->server, &answer->infos);
    if (rc || (is_partial && pass->n_answered == 0))
        return rc ? rc : hosts;
    n_answered = pass->n_answered + (is_partial ? answer->infos.n : 0);
    if (pass->a->infos.n > 0 || pass->a->slow || answer->infos.n > 0)
        return n_answered >= n_keys ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
    return pass->a->failure ? pass->a->failure : hosts;
}

/* Names the parts that have answered, if the request asks for them. */
static pmix_status_t name_sources(struct px_answers *a, const px_infos *hosts)
{
    const bool here = a->infos.n > 0 || a->slow;
    pmix_status_t rc = PMIX_SUCCESS;

    if (a->sources && here)
        rc = px_answer_text(a, TENON_QUERY_SOURCE, "server");
    if (!rc && a->sources && hosts->n > 0)
        rc = px_answer_text(a, TENON_QUERY_SOURCE, "host");
    return rc;
}

/* Registers newer values among the host's answers. */
static void keep_refreshed(struct px_req *req, const struct px_upcall *answer)
{
    const pmix_status_t rc = answer->status;

    if (answer->answers && answer->answers->refreshes &&
        (rc == PMIX_SUCCESS || rc == PMIX_ERR_PARTIAL_SUCCESS) &&
        px_query_refresh(req->peer->server->model, &req->peer->proc,
                         answer->args.queries, answer->args.n_queries, answer->infos.v,
                         answer->infos.n))
        (void)px_work(req->peer, REFRESH_ITEMS);
}

/* Replies with the answers made here, the answers of the host, and the answers for
 * which the host was asked first. A host that refuses the request ends the query,
 * unless an answer was made here. */
static void reply_query(void *arg, const struct px_upcall *answer)
{
    static const px_infos none = {0};
    struct px_req *req = arg;
    struct pass pass = {.a = answer->answers, .after_host = true};
    const px_infos *hosts = &answer->infos;
    pmix_status_t status = answer->status;

    keep_refreshed(req, answer);
    switch (pass.a ? status : PMIX_ERR_LOST_CONNECTION) {
    case PMIX_ERR_LOST_CONNECTION: /* the server stops */
        break;
    case PMIX_SUCCESS:
        status = merge_keys(req->peer->server, hosts);
        break;
    case PMIX_ERR_PARTIAL_SUCCESS:
    case PMIX_ERR_NOT_FOUND:
    case PMIX_ERR_NOT_SUPPORTED:
        status = judge(&pass, answer);
        break;
    default:
        hosts = &none;
        if (pass.a->infos.n > 0 || pass.a->slow)
            status = PMIX_ERR_PARTIAL_SUCCESS;
    }
    if (status == PMIX_ERR_NOT_SUPPORTED)
        px_req_refused(req, "PMIx_Query_info", "the host does not support the request");
    if (pass.a && (status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS) &&
        name_sources(pass.a, hosts))
        status = PMIX_ERR_NOMEM;
    if (pass.a && (status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS))
        px_query_reply(req, status, pass.a, hosts);
    else
        px_req_done(req, status);
}

/* ---- keys ------------------------------------------------------------------------ */

pmix_status_t px_server_query_keys(const struct px_server *srv, char ***list)
{
    pmix_status_t rc = px_support_query_keys(list);

    for (const struct px_server_part *const *p = srv->parts; !rc && *p; p++)
        for (const struct px_query_key *k = (*p)->query_keys; !rc && k && k->key; k++)
            if (!px_strv_has(*list, k->key))
                rc = px_strv_append(list, k->key);
    return rc;
}

static pmix_status_t answer_keys(struct px_server *srv, const pmix_query_t *q PX_UNUSED,
                                 const char *key, struct px_answers *a)
{
    PX_AUTO(px_strv) list = NULL;
    pmix_status_t rc = px_server_query_keys(srv, &list);
    PX_AUTOFREE char *text = rc ? NULL : px_strv_join(list, ',');

    return text ? px_answer_text(a, key, text) : PMIX_ERR_NOMEM;
}

static pmix_status_t answer_abi(struct px_server *srv PX_UNUSED, const pmix_query_t *q,
                                const char *key, struct px_answers *a)
{
    return px_abi_answer(&a->infos, q, key);
}

static pmix_status_t answer_uri(struct px_server *srv, const pmix_query_t *q,
                                const char *key, struct px_answers *a)
{
    return srv->uri[0] && px_query_is_here(srv, q, a) ? px_answer_text(a, key, srv->uri)
                                                      : PMIX_ERR_NOT_FOUND;
}

static const struct px_query_key keys[] = {
    {PMIX_QUERY_SUPPORTED_KEYS, answer_keys, NULL, true},
    {PMIX_QUERY_STABLE_ABI_VERSION, answer_abi, NULL, false},
    {PMIX_QUERY_PROVISIONAL_ABI_VERSION, answer_abi, NULL, false},
    {PMIX_SERVER_URI, answer_uri, PMIX_HOSTNAME "," PMIX_NODEID, false},
    {TENON_QUERY_SERVER, px_answer_server, NULL, false},
    {0},
};

static const struct px_forward query = {
    .request = &px_request_query,
    .prepare = prepare_query,
    .call = call_query,
    .reply = reply_query,
};

static const struct px_rpc rpcs[] = {
    {PX_OP_QUERY, PX_BY_ANY, PX_BY_HOST, .forward = &query},
    {0},
};

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    px_list_init(&srv->part.queries->replies);
    return PMIX_SUCCESS;
}

const struct px_server_part px_query_part = {
    .name = "query",
    .rpcs = rpcs,
    .query_keys = keys,
    PX_PART_STATE(queries, struct px_queries),
    .create = create,
    .stop = px_slow_stop,
    .peer_turn = px_slow_turn,
    .peer_gone = px_slow_gone,
};
