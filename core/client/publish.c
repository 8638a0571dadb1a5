/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish, lookup, unpublish. */
#include "core/base/strv.h"
#include "core/client/client.h"
#include "core/client/singleton/singleton.h"

#include <string.h>

struct lookup_op {
    struct px_api api;
    pmix_pdata_t *found;
    size_t n_found;
    pmix_lookup_cbfunc_t cb;
};

static void on_found(void *arg, pmix_status_t status, px_reader *reply)
{
    struct lookup_op *op = arg;
    pmix_status_t answer = PMIX_SUCCESS, rc = status;

    if (!rc)
        rc = px_unpack_status(reply, &answer);
    if (!rc && !px_reader_done(reply)) {
        rc = px_unpack_size(reply, &op->n_found);
        if (!rc)
            rc = px_unpack_array(reply, (void **)&op->found, op->n_found, PMIX_PDATA);
        if (rc)
            op->n_found = 0;
        for (size_t i = 0; !rc && i < op->n_found; i++)
            rc = px_value_inflate(&op->found[i].value);
    }
    px_api_done(&op->api, answer ? answer : rc);
}

static void finish_lookup(struct px_api *api)
{
    struct lookup_op *op = PX_CONTAINER_OF(api, struct lookup_op, api);

    op->cb(api->status, op->found, op->n_found, api->cbdata);
    px_type_free_array(PMIX_PDATA, op->found, op->n_found);
}

static struct px_api make_publish(const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){
        .start = px_singleton_send,
        .request = &px_request_publish,
        .args = {.number = geteuid(), .info = px_infos_borrow(info, n_info)},
        .invalid = n_info == 0};
}

PX_EXPORT pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo)
{
    return px_api_call(make_publish(info, ninfo));
}

PX_EXPORT pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo,
                                        pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return px_api_call_nb(make_publish(info, ninfo), cbfunc, cbdata);
}

/* Moves each value to the caller's first entry of the same key without a value. Entries
 * without a match stay UNDEF. */
static void fill(pmix_pdata_t *want, size_t n, struct lookup_op *op)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t f = 0; f < op->n_found; f++) {
            pmix_pdata_t *found = &op->found[f];

            if (found->value.type == PMIX_UNDEF ||
                strncmp(want[i].key, found->key, PMIX_MAX_KEYLEN) != 0)
                continue;
            want[i].proc = found->proc;
            want[i].value = found->value;
            found->value = (pmix_value_t){0};
            break;
        }
    }
}

static struct px_api make_for_keys(const struct px_request *request, char **keys,
                                   const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){.start = px_singleton_send,
                           .request = request,
                           .args = {.number = geteuid(),
                                    .keys = keys,
                                    .n_keys = px_strv_count(keys),
                                    .info = px_infos_borrow(info, n_info)}};
}

static struct lookup_op make_lookup(char **keys, const pmix_info_t *info, size_t n_info)
{
    struct lookup_op op = {
        .api = make_for_keys(&px_request_lookup, keys, info, n_info)};

    op.api.reply = on_found;
    return op;
}

PX_EXPORT pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata,
                                    const pmix_info_t info[], size_t ninfo)
{
    PX_AUTO(px_strv) keys = NULL;
    struct lookup_op op;
    pmix_status_t rc = px_initialized() ? PMIX_SUCCESS : PMIX_ERR_INIT;

    if (!rc && (!data || ndata == 0))
        rc = PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; !rc && i < ndata; i++)
        rc = data[i].key[0] && memchr(data[i].key, '\0', sizeof(data[i].key))
                 ? px_strv_append(&keys, data[i].key)
                 : PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    op = make_lookup(keys, info, ninfo);
    rc = px_api_wait(&op.api);
    fill(data, ndata, &op);
    px_type_free_array(PMIX_PDATA, op.found, op.n_found);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Lookup_nb(char **keys, const pmix_info_t info[],
                                       size_t ninfo, pmix_lookup_cbfunc_t cbfunc,
                                       void *cbdata)
{
    struct lookup_op op = make_lookup(keys, info, ninfo);

    op.cb = cbfunc;
    op.api.finish = finish_lookup;
    op.api.cbdata = cbdata;
    op.api.invalid = !cbfunc;
    return px_api_post(&op.api, sizeof(op));
}

PX_EXPORT pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[],
                                       size_t ninfo)
{
    return px_api_call(make_for_keys(&px_request_unpublish, keys, info, ninfo));
}

PX_EXPORT pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t info[],
                                          size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata)
{
    return px_api_call_nb(make_for_keys(&px_request_unpublish, keys, info, ninfo),
                          cbfunc, cbdata);
}
