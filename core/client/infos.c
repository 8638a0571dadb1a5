/* SPDX-License-Identifier: BSD-3-Clause */
/* Query, job control, log. */
#include "core/client/info_call.h"

/* ---- query ----------------------------------------------------------------------- */

static void on_query(struct px_api *api)
{
    struct px_info_call *c = PX_CONTAINER_OF(api, struct px_info_call, api);

    if (!px_info_call_support(c))
        px_api_send(api);
}

static struct px_info_call make_query(pmix_query_t *queries, size_t n)
{
    return (struct px_info_call){.api = {.start = on_query,
                                         .request = &px_request_query,
                                         .args = {.queries = queries, .n_queries = n},
                                         .invalid = n == 0}};
}

PX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                                        pmix_info_t **results, size_t *nresults)
{
    return px_info_call_wait(make_query(queries, nqueries), results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return px_info_call_post(make_query(queries, nqueries), cbfunc, cbdata);
}

/* ---- job control ----------------------------------------------------------------- */

static struct px_info_call make_control(const pmix_proc_t *targets, size_t n_targets,
                                        const pmix_info_t *info, size_t n_info)
{
    return (struct px_info_call){
        .api = {.request = &px_request_job_control,
                .args = {.procs = (pmix_proc_t *)targets,
                         .n_procs = n_targets,
                         .info = px_infos_borrow(info, n_info)},
                .invalid = n_info == 0}};
}

PX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                                         const pmix_info_t directives[], size_t ndirs,
                                         pmix_info_t **results, size_t *nresults)
{
    return px_info_call_wait(make_control(targets, ntargets, directives, ndirs),
                             results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[],
                                            size_t ntargets,
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                            void *cbdata)
{
    return px_info_call_post(make_control(targets, ntargets, directives, ndirs), cbfunc,
                             cbdata);
}

/* ---- log ------------------------------------------------------------------------- */

static struct px_api make_log(const pmix_info_t *data, size_t n_data,
                              const pmix_info_t *directives, size_t n_directives)
{
    return (struct px_api){.request = &px_request_log,
                           .args = {.stamp = time(NULL),
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

    op.cb = cbfunc;
    op.cbdata = cbdata;
    op.invalid |= !cbfunc;
    return px_api_post(&op, sizeof op);
}
