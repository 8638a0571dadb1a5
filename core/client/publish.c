/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish, lookup, unpublish. */
#include "core/base/strv.h"
#include "core/client/client.h"

#include <string.h>

struct publish_op {
    struct px_api api;
    char *const *keys; /* lookup, unpublish */
    size_t n_keys;
    const pmix_info_t *info;
    size_t n_info;
    pmix_pdata_t *pdata; /* found */
    size_t n_pdata;
    pmix_lookup_cbfunc_t lookup_cb;
};

static const struct px_arg args[] = {
    PX_ARGS(struct publish_op, keys, n_keys, PMIX_STRING),
    PX_ARGS(struct publish_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

static void pack_keys(px_writer *w, const struct publish_op *op)
{
    px_pack_size(w, op->n_keys);
    for (size_t i = 0; i < op->n_keys; i++)
        px_pack_str(w, op->keys[i]);
}

static void send(struct publish_op *op, uint8_t command, px_reply_fn reply)
{
    px_writer w;

    px_channel_begin(px_process.channel, &w, command);
    px_pack_u32(&w, (uint32_t)geteuid());
    if (command != PX_OP_PUBLISH)
        pack_keys(&w, op);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(&op->api, &w, reply);
}

static void on_publish(struct px_api *api)
{
    send(PX_CONTAINER_OF(api, struct publish_op, api), PX_OP_PUBLISH,
         px_api_status_reply);
}

static void on_unpublish(struct px_api *api)
{
    send(PX_CONTAINER_OF(api, struct publish_op, api), PX_OP_UNPUBLISH,
         px_api_status_reply);
}

static pmix_status_t read_found(struct publish_op *op, px_reader *reply)
{
    pmix_status_t answer, rc = px_unpack_status(reply, &answer);

    if (rc)
        return rc;
    if (px_reader_done(reply))
        return answer;
    rc = px_unpack_size(reply, &op->n_pdata);
    if (!rc)
        rc = px_unpack_array(reply, (void **)&op->pdata, op->n_pdata, PMIX_PDATA);
    if (rc)
        op->n_pdata = 0;
    for (size_t i = 0; !rc && i < op->n_pdata; i++)
        rc = px_value_inflate(&op->pdata[i].value);
    return answer ? answer : rc;
}

static void on_found(void *arg, pmix_status_t status, px_reader *reply)
{
    struct publish_op *op = arg;

    px_api_done(&op->api, status ? status : read_found(op, reply));
}

static void on_lookup(struct px_api *api)
{
    send(PX_CONTAINER_OF(api, struct publish_op, api), PX_OP_LOOKUP, on_found);
}

static void finish_lookup(struct px_api *api)
{
    struct publish_op *op = PX_CONTAINER_OF(api, struct publish_op, api);

    op->lookup_cb(api->status, op->pdata, op->n_pdata, api->cbdata);
    px_type_free_array(PMIX_PDATA, op->pdata, op->n_pdata);
}

static pmix_status_t check_publish(const pmix_info_t *info, size_t n_info)
{
    pmix_status_t rc = px_api_check(NULL, 0, info, n_info);

    return !rc && n_info == 0 ? PMIX_ERR_BAD_PARAM : rc;
}

PX_EXPORT pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo)
{
    struct publish_op op = {
        .api = {.start = on_publish}, .info = info, .n_info = ninfo};
    pmix_status_t rc = check_publish(info, ninfo);

    return rc ? rc : px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo,
                                        pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct publish_op op = {
        .api = {.start = on_publish, .args = args, .cb = cbfunc, .cbdata = cbdata},
        .info = info,
        .n_info = ninfo};
    pmix_status_t rc = check_publish(info, ninfo);

    return rc ? rc : px_api_post(&op.api, sizeof op);
}

/* Each value moves to the caller's first entry of that key that has none yet; the others stay
 * UNDEF. */
static void fill(pmix_pdata_t *want, size_t n, struct publish_op *op)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t f = 0; f < op->n_pdata; f++) {
            pmix_pdata_t *found = &op->pdata[f];

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

static bool key_ok(const char *key)
{
    return key[0] && strnlen(key, PMIX_MAX_KEYLEN + 1) <= PMIX_MAX_KEYLEN;
}

PX_EXPORT pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata,
                                    const pmix_info_t info[], size_t ninfo)
{
    struct publish_op op = {.api = {.start = on_lookup}, .info = info, .n_info = ninfo};
    PX_AUTO(px_strv) keys = NULL;
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    if (!rc && (!data || ndata == 0))
        rc = PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; !rc && i < ndata; i++)
        rc = key_ok(data[i].key) ? px_strv_append(&keys, data[i].key)
                                 : PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    op.keys = keys;
    op.n_keys = ndata;
    rc = px_api_wait(&op.api);
    fill(data, ndata, &op);
    px_type_free_array(PMIX_PDATA, op.pdata, op.n_pdata);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Lookup_nb(char **keys, const pmix_info_t info[],
                                       size_t ninfo, pmix_lookup_cbfunc_t cbfunc,
                                       void *cbdata)
{
    struct publish_op op = {.api = {.start = on_lookup,
                                    .finish = finish_lookup,
                                    .args = args,
                                    .cbdata = cbdata},
                            .keys = keys,
                            .n_keys = px_strv_count(keys),
                            .info = info,
                            .n_info = ninfo,
                            .lookup_cb = cbfunc};
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    if (!rc && (!op.n_keys || !cbfunc))
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : px_api_post(&op.api, sizeof op);
}

static struct publish_op make_unpublish(char **keys, const pmix_info_t *info,
                                        size_t n_info)
{
    return (struct publish_op){.api = {.start = on_unpublish, .args = args},
                               .keys = keys,
                               .n_keys = px_strv_count(keys),
                               .info = info,
                               .n_info = n_info};
}

PX_EXPORT pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[],
                                       size_t ninfo)
{
    struct publish_op op = make_unpublish(keys, info, ninfo);
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    return rc ? rc : px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t info[],
                                          size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata)
{
    struct publish_op op = make_unpublish(keys, info, ninfo);
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    op.api.cb = cbfunc;
    op.api.cbdata = cbdata;
    return rc ? rc : px_api_post(&op.api, sizeof op);
}
