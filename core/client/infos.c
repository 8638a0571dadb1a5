/* SPDX-License-Identifier: BSD-3-Clause */
/* Query, job control, log: infos in, infos or a status out. */
#include "core/client/client.h"

struct infos_op {
    struct px_api api;
    pmix_data_type_t what_type;
    const void *what; /* queries or target procs */
    size_t n_what;
    const pmix_info_t *info;
    size_t n_info;
    const pmix_info_t *directives;
    size_t n_directives;
    pmix_info_t *results;
    size_t n_results;
    pmix_info_cbfunc_t cb;
    pmix_op_cbfunc_t op_cb;
    void *cbdata;
};

/* STATUS, and infos also when it is an error (a partial answer). */
static pmix_status_t read_infos(struct infos_op *op, px_reader *reply)
{
    pmix_status_t answer, rc = px_unpack_status(reply, &answer);

    if (rc)
        return rc;
    if (px_reader_done(reply))
        return answer;
    rc = px_unpack_infos(reply, &op->results, &op->n_results);
    return answer ? answer : rc;
}

static void on_infos(void *arg, pmix_status_t status, px_reader *reply)
{
    struct infos_op *op = arg;

    px_api_done(&op->api, status ? status : read_infos(op, reply));
}

static void on_query(struct px_api *api)
{
    struct infos_op *op = PX_CONTAINER_OF(api, struct infos_op, api);
    px_writer w;

    px_uplink_begin(&px_process.model->uplink, &w, PX_OP_QUERY);
    px_pack_size(&w, op->n_what);
    px_pack(&w, op->what, (int32_t)op->n_what, PMIX_QUERY);
    px_api_request(api, &w, on_infos);
}

static void on_job_control(struct px_api *api)
{
    struct infos_op *op = PX_CONTAINER_OF(api, struct infos_op, api);
    px_writer w;

    px_uplink_begin(&px_process.model->uplink, &w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, op->what, op->n_what);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, on_infos);
}

static void on_log(struct px_api *api)
{
    struct infos_op *op = PX_CONTAINER_OF(api, struct infos_op, api);
    time_t stamp = time(NULL);
    px_writer w;

    px_uplink_begin(&px_process.model->uplink, &w, PX_OP_LOG);
    px_pack(&w, &stamp, 1, PMIX_TIME);
    px_pack_infos(&w, op->info, op->n_info);
    px_pack_infos(&w, op->directives, op->n_directives);
    px_api_request(api, &w, px_api_status_reply);
}

static void release_results(void *cbdata)
{
    struct infos_op *op = cbdata;

    px_type_free_array(PMIX_INFO, op->results, op->n_results);
    free(op);
}

static void drop_args(struct infos_op *op)
{
    px_type_free_array(op->what_type, (void *)op->what, op->n_what);
    px_type_free_array(PMIX_INFO, (void *)op->info, op->n_info);
    px_type_free_array(PMIX_INFO, (void *)op->directives, op->n_directives);
}

/* Programs free what they passed as soon as the call returns, callback or not. */
static pmix_status_t post_copy(const struct infos_op *op, pmix_data_type_t what_type)
{
    struct infos_op own = *op;
    void *what = NULL, *info = NULL, *directives = NULL;
    pmix_status_t rc = px_type_copy_array(what_type, &what, op->what, op->n_what);

    if (!rc)
        rc = px_type_copy_array(PMIX_INFO, &info, op->info, op->n_info);
    if (!rc)
        rc = px_type_copy_array(PMIX_INFO, &directives, op->directives, op->n_directives);
    own.what = what;
    own.info = info;
    own.directives = directives;
    own.what_type = what_type;
    own.n_what = what ? op->n_what : 0;
    own.n_info = info ? op->n_info : 0;
    own.n_directives = directives ? op->n_directives : 0;
    if (!rc)
        rc = px_api_post(&own.api, sizeof(own));
    if (rc)
        drop_args(&own);
    return rc;
}

/* The user may keep the results until he calls the release function, which outlives the call. */
static void finish(struct px_api *api)
{
    struct infos_op *op = PX_CONTAINER_OF(api, struct infos_op, api);
    struct infos_op *kept;

    drop_args(op);
    if (op->op_cb) {
        op->op_cb(api->status, op->cbdata);
        return;
    }
    kept = malloc(sizeof *kept);
    if (kept)
        *kept = *op;
    if (op->cb && kept) {
        op->cb(api->status, op->results, op->n_results, op->cbdata, release_results,
               kept);
        return;
    }
    if (op->cb)
        op->cb(PMIX_ERR_NOMEM, NULL, 0, op->cbdata, NULL, NULL);
    px_type_free_array(PMIX_INFO, op->results, op->n_results);
    free(kept);
}

static pmix_status_t check(const void *what, size_t n_what, const pmix_info_t *info,
                           size_t n_info)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    return (n_what && !what) || n_what > INT32_MAX || (n_info && !info)
               ? PMIX_ERR_BAD_PARAM
               : PMIX_SUCCESS;
}

static pmix_status_t wait_for_infos(struct infos_op *op, pmix_info_t **results,
                                    size_t *n)
{
    pmix_status_t rc = px_api_wait(&op->api);

    if (results && n) {
        *results = op->results;
        *n = op->n_results;
    } else {
        px_type_free_array(PMIX_INFO, op->results, op->n_results);
    }
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                                        pmix_info_t **results, size_t *nresults)
{
    struct infos_op op = {
        .api = {.start = on_query}, .what = queries, .n_what = nqueries};
    pmix_status_t rc = check(queries, nqueries, NULL, 0);

    if (!rc && nqueries == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : wait_for_infos(&op, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct infos_op op = {.api = {.start = on_query, .finish = finish},
                          .what = queries,
                          .n_what = nqueries,
                          .cb = cbfunc,
                          .cbdata = cbdata};
    pmix_status_t rc = check(queries, nqueries, NULL, 0);

    if (!rc && nqueries == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : post_copy(&op, PMIX_QUERY);
}

PX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                                         const pmix_info_t directives[], size_t ndirs,
                                         pmix_info_t **results, size_t *nresults)
{
    struct infos_op op = {.api = {.start = on_job_control},
                          .what = targets,
                          .n_what = ntargets,
                          .info = directives,
                          .n_info = ndirs};
    pmix_status_t rc = check(targets, ntargets, directives, ndirs);

    if (!rc && ndirs == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : wait_for_infos(&op, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[],
                                            size_t ntargets,
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct infos_op op = {.api = {.start = on_job_control, .finish = finish},
                          .what = targets,
                          .n_what = ntargets,
                          .info = directives,
                          .n_info = ndirs,
                          .cb = cbfunc,
                          .cbdata = cbdata};
    pmix_status_t rc = check(targets, ntargets, directives, ndirs);

    if (!rc && ndirs == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : post_copy(&op, PMIX_PROC);
}

PX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                                 const pmix_info_t directives[], size_t ndirs)
{
    struct infos_op op = {.api = {.start = on_log},
                          .info = data,
                          .n_info = ndata,
                          .directives = directives,
                          .n_directives = ndirs};
    pmix_status_t rc = check(directives, ndirs, data, ndata);

    if (!rc && ndata == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                                    const pmix_info_t directives[], size_t ndirs,
                                    pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct infos_op op = {.api = {.start = on_log, .finish = finish},
                          .info = data,
                          .n_info = ndata,
                          .directives = directives,
                          .n_directives = ndirs,
                          .op_cb = cbfunc,
                          .cbdata = cbdata};
    pmix_status_t rc = check(directives, ndirs, data, ndata);

    if (!rc && (ndata == 0 || !cbfunc))
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : post_copy(&op, PMIX_PROC);
}
