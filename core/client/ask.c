/* SPDX-License-Identifier: BSD-3-Clause */
/* Infos in, infos or a status out. */
#include "core/client/ask.h"

pmix_status_t px_ask_read(px_reader *reply, pmix_info_t **results, size_t *n)
{
    pmix_status_t answer, rc = px_unpack_status(reply, &answer);

    if (rc)
        return rc;
    if (px_reader_done(reply))
        return answer;
    rc = px_unpack_infos(reply, results, n);
    return answer ? answer : rc;
}

static void on_reply(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_ask *ask = arg;

    px_api_done(&ask->api,
                status ? status : px_ask_read(reply, &ask->results, &ask->n_results));
}

void px_ask_send(struct px_ask *ask, px_writer *w)
{
    px_api_request(&ask->api, w, on_reply);
}

pmix_status_t px_ask_wait(struct px_ask *ask, pmix_info_t **results, size_t *n)
{
    pmix_status_t rc = px_api_wait(&ask->api);

    if (results && n) {
        *results = ask->results;
        *n = ask->n_results;
    } else {
        px_type_free_array(PMIX_INFO, ask->results, ask->n_results);
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
    struct px_ask *ask = PX_CONTAINER_OF(api, struct px_ask, api);
    pmix_data_array_t *kept = ask->cb ? malloc(sizeof *kept) : NULL;

    if (kept) {
        *kept = (pmix_data_array_t){
            .type = PMIX_INFO, .size = ask->n_results, .array = ask->results};
        ask->cb(api->status, ask->results, ask->n_results, api->cbdata, release_results,
                kept);
        return;
    }
    px_type_free_array(PMIX_INFO, ask->results, ask->n_results);
    if (ask->cb)
        ask->cb(PMIX_ERR_NOMEM, NULL, 0, api->cbdata, NULL, NULL);
}

pmix_status_t px_ask_post(struct px_ask *ask, size_t size, pmix_info_cbfunc_t cb,
                          void *cbdata)
{
    ask->cb = cb;
    ask->api.cbdata = cbdata;
    ask->api.finish = finish;
    return px_api_post(&ask->api, size);
}
