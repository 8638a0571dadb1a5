/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to the server or host, mostly with infos: query, job control, log,
 * allocations, resource blocks, sessions, monitoring, credentials, fabrics. */
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/client/client.h"
#include "core/client/singleton/singleton.h"
#include "core/link/rendezvous.h"
#include "core/model/query.h"
#include "core/role/support.h"

#include <string.h>

/* ---- query ----------------------------------------------------------------------- */

/* Appends the server's results to the results of this library. */
static void on_rest(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *api = arg;
    px_infos known = {.v = px_take(&api->results), .n = api->n_results};

    known.cap = known.n;
    api->n_results = 0;
    status = px_api_read_infos(api, status, reply);
    (void)px_query_refresh(api->client->model, &api->client->model->self,
                           api->args.queries, api->args.n_queries, api->results,
                           api->n_results);
    px_infos rest = {.v = api->results, .n = api->n_results, .cap = api->n_results};
    if (status && status != PMIX_ERR_PARTIAL_SUCCESS) {
        px_infos_cleanup(&rest);
        status = known.n > 0 ? PMIX_ERR_PARTIAL_SUCCESS : status;
    }
    if (known.n > 0 && rest.n > 0) { /* moves infos, which have no pointers into
                                      * themselves */
        if (px_vec_reserve(&known.v, known.n, &known.cap, rest.n)) {
            memcpy(known.v + known.n, rest.v, rest.n * sizeof(*rest.v));
            known.n += rest.n;
            rest.n = 0;
        } else {
            status = PMIX_ERR_NOMEM;
        }
        px_infos_cleanup(&rest);
    }
    api->results = known.n > 0 ? known.v : rest.v;
    api->n_results = known.n > 0 ? known.n : rest.n;
    px_api_done(api, status);
}

/* Replaces the queries by a copy, which the caller frees. */
static pmix_status_t copy_queries(struct px_args *args, void **copy)
{
    pmix_status_t rc = px_type_copy_array(PMIX_QUERY, copy, args->queries,
                                          args->n_queries);

    args->queries = *copy;
    return rc;
}

struct local_answers {
    const struct px_api *api;
    px_infos infos;
};

/* Answers a key from the data of this process. A refresh bypasses these data. The
 * server answers keys of equal names, in the order of the queries. */
static pmix_status_t answer_here(void *arg, const pmix_query_t *q, const char *key)
{
    struct local_answers *a = arg;
    const struct px_client *client = a->api->client;
    PX_AUTO(px_strv) list = NULL;
    pmix_proc_t target;
    pmix_value_t v;
    pmix_status_t rc = px_abi_answer(&a->infos, q, key);

    if (rc != PMIX_ERR_NOT_FOUND || px_query_flag(q, PMIX_QUERY_SUPPORTED_QUALIFIERS))
        return rc;
    if (client->standalone && strcmp(key, PMIX_QUERY_SUPPORTED_KEYS) == 0) {
        rc = px_support_query_keys(&list);
        PX_AUTOFREE char *text = rc ? NULL : px_strv_join(list, ',');

        return text ? px_infos_add(&a->infos, key, text, PMIX_STRING) : PMIX_ERR_NOMEM;
    }
    if (!client->standalone &&
        (px_query_flag(q, PMIX_QUERY_REFRESH_CACHE) ||
         px_query_count(a->api->args.queries, a->api->args.n_queries, key) > 1))
        return PMIX_ERR_NOT_FOUND;
    rc = px_query_target(q, &client->model->self, &target);
    if (!rc)
        rc = px_lookup_query(client->model,
                             px_nspace_find(client->model, target.nspace), target.rank,
                             q, key, true, true, &v);
    if (!rc) {
        rc = px_infos_add_value(&a->infos, key, &v);
        px_type_destruct(PMIX_VALUE, &v);
    }
    return rc;
}

/* Answers queries about this library, and removes the answered ones. */
static pmix_status_t answer_support(struct local_answers *a, struct px_args *rest)
{
    struct px_support_table tables[PX_N_LEVELS];

    px_support_library(tables);
    tables[PX_LEVEL_CLIENT].here = tables[PX_LEVEL_TOOL].here = true;
    return px_support_query(tables, rest->queries, &rest->n_queries, &a->infos);
}

/* True if this process answers a key of the queries, or fails to. May add an answer. */
static bool answers_any(struct local_answers *a, const struct px_args *args)
{
    for (size_t i = 0; i < args->n_queries; i++)
        for (char **key = args->queries[i].keys; key && *key; key++)
            if (answer_here(a, &args->queries[i], *key) != PMIX_ERR_NOT_FOUND)
                return true;
    return false;
}

/* Answers queries as far as this process can. Sets rest to the other queries: the
 * caller's array, or *copy. Most queries are for the server alone, and need no copy. */
static pmix_status_t answer_locally(struct local_answers *a, struct px_args *rest,
                                    void **copy)
{
    const struct px_args *args = &a->api->args;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t before;

    *rest = (struct px_args){.queries = args->queries, .n_queries = args->n_queries};
    if (px_support_asked(args->queries, args->n_queries)) {
        rc = copy_queries(rest, copy);
        if (!rc)
            rc = answer_support(a, rest);
    }
    before = a->infos.n;
    if (rc || !answers_any(a, rest))
        return rc;
    while (a->infos.n > before) /* the walk below adds the answer again */
        PMIx_Info_destruct(&a->infos.v[--a->infos.n]);
    rc = *copy ? PMIX_SUCCESS : copy_queries(rest, copy);
    return rc ? rc : px_query_keys(rest->queries, &rest->n_queries, answer_here, a);
}

/* Answers queries about this library and about the data of this process. Sends the
 * other queries to the server and its host. */
static void on_query(struct px_api *api)
{
    struct px_args rest;
    struct local_answers a = {.api = api,
                              .infos = {.v = px_take(&api->results),
                                        .n = api->n_results,
                                        .cap = api->n_results}};
    void *copy = NULL;
    pmix_status_t rc = answer_locally(&a, &rest, &copy);
    bool is_rest;

    if (!rc)
        rc = px_query_source(&a.infos, api->args.queries, api->args.n_queries,
                             "library");
    api->results = a.infos.v;
    api->n_results = a.infos.n;
    is_rest = !rc && rest.n_queries > 0;
    if (is_rest)
        rc = px_channel_ask(&api->client->channel, api->request, &rest, on_rest, api);
    else if (!rc && a.infos.n == 0)
        rc = PMIX_ERR_NOT_FOUND;
    if (rc || !is_rest)
        px_api_done(api, rc && a.infos.n > 0 ? PMIX_ERR_PARTIAL_SUCCESS : rc);
    /* px_support_query and px_query_keys leave removed queries empty. */
    px_type_free_array(PMIX_QUERY, copy, rest.n_queries);
}

/* Lists the servers of this node for a query, once. */
static pmix_status_t answer_servers(void *known, const pmix_query_t *q PX_UNUSED,
                                    const char *key)
{
    PX_AUTO(px_infos) servers = {0};
    pmix_status_t rc;

    if (strcmp(key, PMIX_QUERY_AVAIL_SERVERS) != 0)
        return PMIX_ERR_NOT_FOUND;
    if (px_info_find(((px_infos *)known)->v, ((px_infos *)known)->n, key))
        return PMIX_SUCCESS;
    rc = px_rendezvous_list(&servers);
    return rc ? rc : px_infos_add_array(known, key, &servers);
}

/* Lists the servers of this node if a query asks for them: in the caller's thread, as
 * files are read. *copy are the other queries, which op borrows; NULL: unchanged. */
static pmix_status_t list_servers(struct px_api *op, void **copy, size_t *n)
{
    struct px_args rest = {.queries = op->args.queries,
                           .n_queries = op->args.n_queries};
    bool asked = false;
    px_infos known = {0};
    pmix_status_t rc = px_api_check(op);

    for (size_t i = 0; !rc && i < op->args.n_queries; i++)
        asked |= px_strv_has(op->args.queries[i].keys, PMIX_QUERY_AVAIL_SERVERS);
    if (rc || !asked)
        return rc;
    *n = op->args.n_queries;
    rc = copy_queries(&rest, copy);
    if (!rc)
        rc = px_query_keys(*copy, n, answer_servers, &known);
    if (!rc)
        rc = px_query_source(&known, op->args.queries, op->args.n_queries, "library");
    op->args.queries = rest.queries;
    op->args.n_queries = *n;
    op->results = known.v;
    op->n_results = known.n;
    if (rc)
        px_type_free_array(PMIX_INFO, px_take(&op->results), op->n_results);
    return rc;
}

static struct px_api make_query(pmix_query_t *queries, size_t n)
{
    const pmix_proc_t nobody = {0};
    struct px_api op = {.start = on_query,
                        .request = &px_request_query,
                        .args = {.queries = queries, .n_queries = n},
                        .invalid = n == 0};
    pmix_proc_t target;

    for (size_t i = 0; queries && i < n; i++)
        op.invalid |= px_query_target(&queries[i], &nobody, &target) != PMIX_SUCCESS;
    return op;
}

/* Answers queries in the caller's thread if every key asks for an ABI version. Returns
 * PMIX_ERR_NOT_FOUND if queries has another key or no key. */
static pmix_status_t query_abi(const pmix_query_t *queries, size_t n, px_infos *known)
{
    pmix_status_t rc = n > 0 && queries ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; !rc && i < n; i++) {
        const pmix_query_t *q = &queries[i];

        if (!q->keys || !q->keys[0])
            rc = PMIX_ERR_NOT_FOUND;
        for (char **key = q->keys; !rc && *key; key++)
            rc = px_abi_answer(known, q, *key);
    }
    return rc;
}

/* Answers queries for ABI versions also before PMIx_Init and after PMIx_Finalize. */
PX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                                        pmix_info_t **results, size_t *nresults)
{
    PX_AUTO(px_infos) known = {0};
    pmix_status_t rc = query_abi(queries, nqueries, &known);
    void *copy = NULL;
    size_t n_copy = 0;

    if (!rc)
        rc = px_query_source(&known, queries, nqueries, "library");
    if (!rc && results && nresults) {
        *results = known.v;
        *nresults = known.n;
        known = (px_infos){0};
    }
    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    struct px_api op = make_query(queries, nqueries);
    rc = list_servers(&op, &copy, &n_copy);
    if (!rc)
        rc = px_api_infos(op, results, nresults);
    px_type_free_array(PMIX_QUERY, copy, n_copy);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct px_api op = make_query(queries, nqueries);
    void *copy = NULL;
    size_t n_copy = 0;
    pmix_status_t rc = list_servers(&op, &copy, &n_copy);

    if (!rc) {
        rc = px_api_infos_nb(op, cbfunc, cbdata);
        if (rc)
            px_type_free_array(PMIX_INFO, op.results, op.n_results);
    }
    px_type_free_array(PMIX_QUERY, copy, n_copy);
    return rc;
}

/* ---- job control ----------------------------------------------------------------- */

static struct px_api make_control(const pmix_proc_t *targets, size_t n_targets,
                                  const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){.request = &px_request_job_control,
                           .args = {.procs = (pmix_proc_t *)targets,
                                    .n_procs = n_targets,
                                    .info = px_infos_borrow(info, n_info)},
                           .invalid = n_info == 0};
}

PX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                                         const pmix_info_t directives[], size_t ndirs,
                                         pmix_info_t **results, size_t *nresults)
{
    return px_api_infos(make_control(targets, ntargets, directives, ndirs), results,
                        nresults);
}

PX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[],
                                            size_t ntargets,
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                            void *cbdata)
{
    return px_api_infos_nb(make_control(targets, ntargets, directives, ndirs), cbfunc,
                           cbdata);
}

/* ---- log ------------------------------------------------------------------------- */

static struct px_api make_log(const pmix_info_t *data, size_t n_data,
                              const pmix_info_t *directives, size_t n_directives)
{
    const bool stamped = n_directives > 0 && directives &&
                         px_info_flag(directives, n_directives,
                                      PMIX_LOG_GENERATE_TIMESTAMP);

    return (struct px_api){.start = px_singleton_send,
                           .request = &px_request_log,
                           .args = {.stamp = stamped ? time(NULL) : 0,
                                    .info = px_infos_borrow(data, n_data),
                                    .more = px_infos_borrow(directives, n_directives)},
                           .invalid = n_data == 0};
}

PX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                                 const pmix_info_t directives[], size_t ndirs)
{
    return px_api_call(make_log(data, ndata, directives, ndirs));
}

PX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                                    const pmix_info_t directives[], size_t ndirs,
                                    pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct px_api op = make_log(data, ndata, directives, ndirs);

    op.invalid |= !cbfunc;
    return px_api_call_nb(op, cbfunc, cbdata);
}

/* ---- allocations ----------------------------------------------------------------- */

static struct px_api make_alloc(pmix_alloc_directive_t directive,
                                const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){
        .request = &px_request_alloc,
        .args = {.directive = directive, .info = px_infos_borrow(info, n_info)}};
}

PX_EXPORT pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
                                                pmix_info_t *info, size_t ninfo,
                                                pmix_info_t **results, size_t *nresults)
{
    return px_api_infos(make_alloc(directive, info, ninfo), results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
                                                   pmix_info_t *info, size_t ninfo,
                                                   pmix_info_cbfunc_t cbfunc,
                                                   void *cbdata)
{
    return px_api_infos_nb(make_alloc(directive, info, ninfo), cbfunc, cbdata);
}

/* ---- resource blocks ------------------------------------------------------------- */

/* Sends the request with the newest codec: older dialects lack the types of this
 * command. */
static void on_block(struct px_api *api)
{
    struct px_codec codec = px_codec_newest(api->client->channel.codec);
    px_writer w;

    if (!px_dialect_knows(codec.dialect, PMIX_RESOURCE_UNIT)) {
        px_api_done(api, PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    px_channel_begin(&api->client->channel, &w, PX_OP_RESBLK);
    w.codec = codec;
    px_pack_args(&w, &api->args, api->request->args);
    px_api_request(api, &w, px_api_status_reply);
}

static struct px_api make_block(pmix_resource_block_directive_t directive,
                                const char *block, const pmix_resource_unit_t *units,
                                size_t n_units, const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){.start = on_block,
                           .request = &px_request_block,
                           .args = {.directive = directive,
                                    .text = (char *)block,
                                    .units = (pmix_resource_unit_t *)units,
                                    .n_units = n_units,
                                    .info = px_infos_borrow(info, n_info)}};
}

PX_EXPORT pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
                                            char *block,
                                            const pmix_resource_unit_t *units,
                                            size_t nunits, const pmix_info_t *info,
                                            size_t ninfo)
{
    return px_api_call(make_block(directive, block, units, nunits, info, ninfo));
}

PX_EXPORT pmix_status_t PMIx_Resource_block_nb(
    pmix_resource_block_directive_t directive, char *block,
    const pmix_resource_unit_t *units, size_t nunits, const pmix_info_t *info,
    size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return px_api_call_nb(make_block(directive, block, units, nunits, info, ninfo),
                          cbfunc, cbdata);
}

/* ---- sessions -------------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Session_control(uint32_t sessionID,
                                             const pmix_info_t info[], size_t ninfo,
                                             pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const struct px_api op = {
        .request = &px_request_session,
        .args = {.number = sessionID, .info = px_infos_borrow(info, ninfo)}};
    pmix_status_t rc;

    if (cbfunc)
        return px_api_infos_nb(op, cbfunc, cbdata);
    rc = px_api_infos(op, NULL, NULL);
    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

/* ---- monitoring ------------------------------------------------------------------ */

static void on_heartbeat(struct px_api *api)
{
    px_api_done(api, px_channel_signal(&api->client->channel, PX_TAG_HEARTBEAT));
}

static bool is_heartbeat(const pmix_info_t *monitor)
{
    return monitor && PMIx_Check_key(monitor->key, PMIX_SEND_HEARTBEAT);
}

static struct px_api make_monitor(const pmix_info_t *monitor, pmix_status_t error,
                                  const pmix_info_t *directives, size_t n)
{
    return (struct px_api){.start = is_heartbeat(monitor) ? on_heartbeat : NULL,
                           .request = &px_request_monitor,
                           .args = {.info = px_infos_borrow(monitor, 1),
                                    .code = error,
                                    .more = px_infos_borrow(directives, n)}};
}

PX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor,
                                             pmix_status_t error,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_t **results,
                                             size_t *nresults)
{
    return px_api_infos(make_monitor(monitor, error, directives, ndirs), results,
                        nresults);
}

PX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor,
                                                pmix_status_t error,
                                                const pmix_info_t directives[],
                                                size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                void *cbdata)
{
    const struct px_api op = make_monitor(monitor, error, directives, ndirs);
    bool beats = is_heartbeat(monitor); /* a heartbeat has no answer */
    pmix_status_t rc = px_api_infos_nb(op, beats ? NULL : cbfunc, cbdata);

    return rc || !beats ? rc : PMIX_OPERATION_SUCCEEDED;
}

PX_EXPORT void PMIx_Heartbeat(void)
{
    const struct px_api op = {.start = on_heartbeat};

    (void)px_api_post(&op, sizeof(op)); /* a lost heartbeat is equivalent to a late
                                    * heartbeat */
}

/* ---- credentials: the host makes and validates credentials ----------------------- */

struct cred_op {
    struct px_api api;
    pmix_byte_object_t made;
    pmix_credential_cbfunc_t made_cb;
    pmix_validation_cbfunc_t checked_cb;
};

static void on_made(void *arg, pmix_status_t status, px_reader *reply)
{
    struct cred_op *op = arg;

    status = px_api_answer(status, reply);
    if (!status)
        status = px_unpack_bytes(reply, &op->made);
    if (!status && !px_reader_done(reply))
        status = px_unpack_infos(reply, &op->api.results, &op->api.n_results);
    if (status)
        px_type_destruct(PMIX_BYTE_OBJECT, &op->made);
    px_api_done(&op->api, status);
}

static void finish_made(struct px_api *api)
{
    struct cred_op *op = PX_CONTAINER_OF(api, struct cred_op, api);

    op->made_cb(api->status, api->status ? NULL : &op->made, api->results,
                api->n_results, api->cbdata);
    px_type_destruct(PMIX_BYTE_OBJECT, &op->made);
}

PX_EXPORT pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                            pmix_byte_object_t *credential)
{
    struct cred_op op = {.api = {.reply = on_made,
                                 .request = &px_request_get_cred,
                                 .args.info = px_infos_borrow(info, ninfo),
                                 .invalid = !credential}};
    pmix_status_t rc = px_api_check(&op.api);

    if (rc)
        return rc;
    rc = px_api_wait(&op.api);
    *credential = op.made;
    px_type_free_array(PMIX_INFO, op.api.results, op.api.n_results);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                               pmix_credential_cbfunc_t cbfunc,
                                               void *cbdata)
{
    struct cred_op op = {.api = {.reply = on_made,
                                 .finish = finish_made,
                                 .request = &px_request_get_cred,
                                 .args.info = px_infos_borrow(info, ninfo),
                                 .invalid = !cbfunc,
                                 .cbdata = cbdata},
                         .made_cb = cbfunc};

    return px_api_post(&op.api, sizeof(op));
}

/* Delivers the results, which live until the callback returns: this callback has no
 * release function. */
static void finish_checked(struct px_api *api)
{
    PX_CONTAINER_OF(api, struct cred_op, api)
        ->checked_cb(api->status, api->results, api->n_results, api->cbdata);
}

static struct px_api make_check(const pmix_byte_object_t *cred, const pmix_info_t *info,
                                size_t n_info)
{
    return (struct px_api){.reply = px_api_infos_reply,
                           .request = &px_request_validate_cred,
                           .args = {.bytes = cred ? *cred : (pmix_byte_object_t){0},
                                    .info = px_infos_borrow(info, n_info)},
                           .invalid = !cred};
}

PX_EXPORT pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred,
                                                 const pmix_info_t info[], size_t ninfo,
                                                 pmix_info_t **results,
                                                 size_t *nresults)
{
    return px_api_infos(make_check(cred, info, ninfo), results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred,
                                                    const pmix_info_t info[],
                                                    size_t ninfo,
                                                    pmix_validation_cbfunc_t cbfunc,
                                                    void *cbdata)
{
    struct cred_op op = {.api = make_check(cred, info, ninfo), .checked_cb = cbfunc};

    op.api.finish = finish_checked;
    op.api.cbdata = cbdata;
    op.api.invalid |= !cbfunc;
    return px_api_post(&op.api, sizeof(op));
}

/* ---- fabrics: the caller's object keeps the host's description of a fabric ------- */

struct fabric_op {
    struct px_api api;
    pmix_fabric_t *fabric; /* the caller's, filled in on the loop */
};

static void drop_infos(pmix_fabric_t *f)
{
    px_type_free_array(PMIX_INFO, f->info, f->ninfo);
    f->info = NULL;
    f->ninfo = 0;
}

/* True if the server in this process answers. */
static bool is_own_server(const struct px_client *client)
{
    return client->own.send && client->channel.ctx == client->own.ctx;
}

/* Turns the cost matrix back into a pointer, which a message carries as a number. */
static void restore_matrix(pmix_fabric_t *f)
{
    for (size_t i = 0; i < f->ninfo; i++) {
        pmix_value_t *v = &f->info[i].value;

        if (!PMIx_Check_key(f->info[i].key, PMIX_FABRIC_COST_MATRIX) ||
            v->type != PMIX_UINT64)
            continue;
        v->data.ptr = (void *)(uintptr_t)v->data.uint64;
        v->type = PMIX_POINTER;
    }
}

static void on_fabric_reply(void *arg, pmix_status_t status, px_reader *reply)
{
    struct fabric_op *op = arg;
    struct px_api *api = &op->api;
    pmix_fabric_t *f = op->fabric;
    const pmix_info_t *index;
    uint64_t n;

    status = px_api_read_infos(api, status, reply);
    if (status) {
        px_type_free_array(PMIX_INFO, px_take(&api->results), api->n_results);
    } else {
        /* A fabric that is being registered owns nothing yet: its members may be
         * uninitialised. */
        if (api->request == &px_request_fabric_update)
            drop_infos(f);
        f->info = px_take(&api->results);
        f->ninfo = api->n_results;
        if (is_own_server(api->client))
            restore_matrix(f);
        index = px_info_find(f->info, f->ninfo, PMIX_FABRIC_INDEX);
        if (index && px_value_to_u64(&index->value, &n))
            f->index = n;
    }
    api->n_results = 0;
    px_api_done(api, status);
}

/* Reads the index on the loop, where a pending registration sets it. */
static void on_update(struct px_api *api)
{
    api->args.id = PX_CONTAINER_OF(api, struct fabric_op, api)->fabric->index;
    px_api_send(api);
}

/* Makes a fabric operation; info belongs to a registration. */
static struct fabric_op make_fabric(const struct px_request *request,
                                    pmix_fabric_t *fabric, const pmix_info_t *info,
                                    size_t n_info)
{
    return (struct fabric_op){
        .api = {.start = request == &px_request_fabric_update ? on_update : NULL,
                .reply = on_fabric_reply,
                .request = request,
                .args.info = px_infos_borrow(info, n_info),
                .invalid = !fabric},
        .fabric = fabric};
}

static pmix_status_t post_fabric(struct fabric_op op, pmix_op_cbfunc_t cb, void *cbdata)
{
    op.api.cb = cb;
    op.api.cbdata = cbdata;
    return px_api_post(&op.api, sizeof(op));
}

PX_EXPORT void PMIx_Fabric_construct(pmix_fabric_t *fabric)
{
    if (fabric)
        *fabric = (pmix_fabric_t)PMIX_FABRIC_STATIC_INIT;
}

PX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric,
                                             const pmix_info_t info[], size_t ninfo)
{
    struct fabric_op op = make_fabric(&px_request_fabric_register, fabric, info, ninfo);

    return px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric,
                                                const pmix_info_t info[], size_t ninfo,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return post_fabric(make_fabric(&px_request_fabric_register, fabric, info, ninfo),
                       cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric)
{
    struct fabric_op op = make_fabric(&px_request_fabric_update, fabric, NULL, 0);

    return px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return post_fabric(make_fabric(&px_request_fabric_update, fabric, NULL, 0), cbfunc,
                       cbdata);
}

/* Deregisters at the server in this process. The protocol has no message for other
 * servers. */
static void on_deregister(struct px_api *api)
{
    struct px_channel *up = &api->client->channel;
    pmix_status_t rc = PMIX_SUCCESS;
    px_writer w;

    if (is_own_server(api->client)) {
        px_channel_begin(up, &w, PX_OP_FABRIC_DEREGISTER);
        px_pack_size(&w, api->args.id);
        rc = px_channel_request(up, &w, NULL, NULL);
    }
    px_api_done(api, rc);
}

PX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric)
{
    const struct px_api op = {.start = on_deregister,
                              .args.id = fabric ? fabric->index : SIZE_MAX,
                              .invalid = !fabric};
    pmix_status_t rc = px_process.server && op.args.id != SIZE_MAX
                           ? px_api_post(&op, sizeof(op))
                           : px_api_check(&op);

    if (rc)
        return rc;
    drop_infos(fabric);
    fabric->index = SIZE_MAX;
    fabric->module = NULL;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric,
                                                  pmix_op_cbfunc_t cbfunc PX_UNUSED,
                                                  void *cbdata PX_UNUSED)
{
    pmix_status_t rc = PMIx_Fabric_deregister(fabric);

    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}
