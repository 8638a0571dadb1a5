/* SPDX-License-Identifier: BSD-3-Clause */
/* A request out, infos or a status back. */
#include "core/client/info_call.h"

pmix_status_t px_info_call_read(struct px_info_call *c, pmix_status_t status,
                                px_reader *reply)
{
    pmix_status_t answer;

    if (!status)
        status = px_unpack_status(reply, &answer);
    if (status)
        return status;
    if (px_reader_done(reply))
        return answer;
    status = px_unpack_infos(reply, &c->results, &c->n_results);
    return answer ? answer : status;
}

void px_info_call_reply(void *op, pmix_status_t status, px_reader *reply)
{
    struct px_info_call *c = op;

    px_api_done(&c->api, px_info_call_read(c, status, reply));
}

pmix_status_t px_info_call_wait(struct px_info_call c, pmix_info_t **results, size_t *n)
{
    pmix_status_t rc = px_api_check(&c.api);

    if (rc)
        return rc;
    if (!c.api.reply)
        c.api.reply = px_info_call_reply;
    rc = px_api_wait(&c.api);
    if (results && n) {
        *results = c.results;
        *n = c.n_results;
    } else {
        px_type_free_array(PMIX_INFO, c.results, c.n_results);
    }
    return rc;
}

static void release_results(void *cbdata)
{
    pmix_data_array_t *kept = cbdata;

    px_type_free_array(PMIX_DATA_ARRAY, kept, 1);
}

static void finish(struct px_api *api)
{
    struct px_info_call *c = PX_CONTAINER_OF(api, struct px_info_call, api);
    pmix_data_array_t *kept = c->cb ? malloc(sizeof *kept) : NULL;

    if (kept) {
        *kept = (pmix_data_array_t){
            .type = PMIX_INFO, .size = c->n_results, .array = c->results};
        c->cb(api->status, c->results, c->n_results, api->cbdata, release_results,
              kept);
        return;
    }
    px_type_free_array(PMIX_INFO, c->results, c->n_results);
    if (c->cb)
        c->cb(PMIX_ERR_NOMEM, NULL, 0, api->cbdata, NULL, NULL);
}

pmix_status_t px_info_call_post(struct px_info_call c, pmix_info_cbfunc_t cb,
                                void *cbdata)
{
    c.cb = cb;
    c.api.cbdata = cbdata;
    c.api.finish = finish;
    if (!c.api.reply)
        c.api.reply = px_info_call_reply;
    return px_api_post(&c.api, sizeof c);
}
