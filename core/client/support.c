/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries for what is supported: this library answers for itself, the server for
 * itself and its host. */
#include "core/client/info_call.h"
#include "core/role/support.h"

struct support_call {
    struct px_info_call *call;
    px_infos known; /* here */
};

/* Takes what was known here into the results, before what came with rc from the
 * server. */
static void finish(struct support_call *s, pmix_status_t rc)
{
    struct px_info_call *call = s->call;
    pmix_status_t added = px_infos_add_copy(&s->known, call->results, call->n_results);

    if (added)
        rc = added;
    else if (rc && s->known.n > call->n_results)
        rc = PMIX_ERR_PARTIAL_SUCCESS;
    px_type_free_array(PMIX_INFO, call->results, call->n_results);
    call->results = s->known.v;
    call->n_results = s->known.n;
    free(s);
    px_api_done(&call->api, rc);
}

static void on_reply(void *arg, pmix_status_t status, px_reader *reply)
{
    struct support_call *s = arg;

    finish(s, px_info_call_read(s->call, status, reply));
}

static void send_rest(struct support_call *s, pmix_query_t *queries, size_t n)
{
    const struct px_args args = {.queries = queries, .n_queries = n};
    struct px_channel *up = px_process.channel;
    px_writer w;

    px_channel_begin(up, &w, PX_OP_QUERY);
    px_pack_args(&w, &args, px_request_query.args);
    pmix_status_t rc = px_channel_request(up, &w, on_reply, s);
    px_writer_cleanup(&w);
    if (rc)
        finish(s, rc);
}

static pmix_status_t answer_here(struct support_call *s, pmix_query_t *queries,
                                 size_t *n)
{
    struct px_support_table tables[PX_N_LEVELS];

    px_support_library(tables);
    tables[PX_LEVEL_CLIENT].here = true;
    tables[PX_LEVEL_TOOL].here = true;
    return px_support_query(tables, queries, n, &s->known);
}

bool px_info_call_support(struct px_info_call *call)
{
    const struct px_args *args = &call->api.args;
    size_t n = args->n_queries;
    struct support_call *s;
    void *copy = NULL;

    if (!px_support_asked(args->queries, n))
        return false;
    s = calloc(1, sizeof *s);
    if (!s || px_type_copy_array(PMIX_QUERY, &copy, args->queries, n)) {
        free(s);
        px_api_done(&call->api, PMIX_ERR_NOMEM);
        return true;
    }
    s->call = call;
    pmix_status_t rc = answer_here(s, copy, &n);
    if (rc)
        finish(s, rc);
    else if (n > 0)
        send_rest(s, copy, n);
    else
        finish(s, s->known.n > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    px_type_free_array(PMIX_QUERY, copy, n); /* those taken out hold nothing any more */
    return true;
}
