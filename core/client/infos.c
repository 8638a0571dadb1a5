/* SPDX-License-Identifier: BSD-3-Clause */
/* Query, job control, log. */
#include "core/client/ask.h"

/* ---- query ------------------------------------------------------------------------------------- */

struct query_op {
    struct px_ask ask;
    const pmix_query_t *queries;
    size_t n;
};

static const struct px_arg query_args[] = {
    PX_ARGS(struct query_op, queries, n, PMIX_QUERY),
    PX_ARGS_END,
};

static void on_query(struct px_api *api)
{
    struct query_op *op = PX_CONTAINER_OF(api, struct query_op, ask.api);
    px_writer w;

    if (px_ask_support(&op->ask, op->queries, op->n))
        return;
    px_channel_begin(px_process.channel, &w, PX_OP_QUERY);
    px_pack_size(&w, op->n);
    px_pack(&w, op->queries, (int32_t)op->n, PMIX_QUERY);
    px_ask_send(&op->ask, &w);
}

static struct query_op make_query(const pmix_query_t *queries, size_t n)
{
    return (struct query_op){
        .ask.api = {.start = on_query, .args = query_args}, .queries = queries, .n = n};
}

static pmix_status_t check_query(const pmix_query_t *queries, size_t n)
{
    pmix_status_t rc = px_api_check(queries, n, NULL, 0);

    return !rc && n == 0 ? PMIX_ERR_BAD_PARAM : rc;
}

PX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                                        pmix_info_t **results, size_t *nresults)
{
    struct query_op op = make_query(queries, nqueries);
    pmix_status_t rc = check_query(queries, nqueries);

    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct query_op op = make_query(queries, nqueries);
    pmix_status_t rc = check_query(queries, nqueries);

    return rc ? rc : px_ask_post(&op.ask, sizeof op, cbfunc, cbdata);
}

/* ---- job control --------------------------------------------------------------------------------- */

struct control_op {
    struct px_ask ask;
    const pmix_proc_t *targets;
    size_t n_targets;
    const pmix_info_t *info;
    size_t n_info;
};

static const struct px_arg control_args[] = {
    PX_ARGS(struct control_op, targets, n_targets, PMIX_PROC),
    PX_ARGS(struct control_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

static void on_job_control(struct px_api *api)
{
    struct control_op *op = PX_CONTAINER_OF(api, struct control_op, ask.api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, op->targets, op->n_targets);
    px_pack_infos(&w, op->info, op->n_info);
    px_ask_send(&op->ask, &w);
}

static struct control_op make_control(const pmix_proc_t *targets, size_t n_targets,
                                      const pmix_info_t *info, size_t n_info)
{
    return (struct control_op){
        .ask.api = {.start = on_job_control, .args = control_args},
        .targets = targets,
        .n_targets = n_targets,
        .info = info,
        .n_info = n_info};
}

static pmix_status_t check_control(const struct control_op *op)
{
    pmix_status_t rc = px_api_check(op->targets, op->n_targets, op->info, op->n_info);

    return !rc && op->n_info == 0 ? PMIX_ERR_BAD_PARAM : rc;
}

PX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                                         const pmix_info_t directives[], size_t ndirs,
                                         pmix_info_t **results, size_t *nresults)
{
    struct control_op op = make_control(targets, ntargets, directives, ndirs);
    pmix_status_t rc = check_control(&op);

    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[],
                                            size_t ntargets,
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct control_op op = make_control(targets, ntargets, directives, ndirs);
    pmix_status_t rc = check_control(&op);

    return rc ? rc : px_ask_post(&op.ask, sizeof op, cbfunc, cbdata);
}

/* ---- log ------------------------------------------------------------------------------------------ */

struct log_op {
    struct px_api api;
    const pmix_info_t *data;
    size_t n_data;
    const pmix_info_t *directives;
    size_t n_directives;
};

static const struct px_arg log_args[] = {
    PX_ARGS(struct log_op, data, n_data, PMIX_INFO),
    PX_ARGS(struct log_op, directives, n_directives, PMIX_INFO),
    PX_ARGS_END,
};

static void on_log(struct px_api *api)
{
    struct log_op *op = PX_CONTAINER_OF(api, struct log_op, api);
    time_t stamp = time(NULL);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_LOG);
    px_pack(&w, &stamp, 1, PMIX_TIME);
    px_pack_infos(&w, op->data, op->n_data);
    px_pack_infos(&w, op->directives, op->n_directives);
    px_api_request(api, &w, px_api_status_reply);
}

static struct log_op make_log(const pmix_info_t *data, size_t n_data,
                              const pmix_info_t *directives, size_t n_directives)
{
    return (struct log_op){.api = {.start = on_log, .args = log_args},
                           .data = data,
                           .n_data = n_data,
                           .directives = directives,
                           .n_directives = n_directives};
}

static pmix_status_t check_log(const struct log_op *op)
{
    pmix_status_t rc = px_api_check(op->data, op->n_data, op->directives,
                                    op->n_directives);

    return !rc && op->n_data == 0 ? PMIX_ERR_BAD_PARAM : rc;
}

PX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                                 const pmix_info_t directives[], size_t ndirs)
{
    struct log_op op = make_log(data, ndata, directives, ndirs);
    pmix_status_t rc = check_log(&op);

    return rc ? rc : px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                                    const pmix_info_t directives[], size_t ndirs,
                                    pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct log_op op = make_log(data, ndata, directives, ndirs);
    pmix_status_t rc = check_log(&op);

    if (!rc && !cbfunc)
        rc = PMIX_ERR_BAD_PARAM;
    op.api.cb = cbfunc;
    op.api.cbdata = cbdata;
    return rc ? rc : px_api_post(&op.api, sizeof op);
}
