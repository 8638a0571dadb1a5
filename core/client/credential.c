/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials: made by the host, and checked by it. */
#include "core/client/ask.h"

/* ---- make ---------------------------------------------------------------------------------------- */

struct make_op {
    struct px_api api;
    const pmix_info_t *info;
    size_t n_info;
    pmix_byte_object_t made;
    pmix_info_t *about;
    size_t n_about;
    pmix_credential_cbfunc_t cb;
};

static const struct px_arg make_args[] = {
    PX_ARGS(struct make_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

static pmix_status_t read_made(struct make_op *op, px_reader *reply)
{
    pmix_status_t answer, rc = px_unpack_status(reply, &answer);

    if (rc || answer)
        return rc ? rc : answer;
    rc = px_unpack_bytes(reply, &op->made);
    return rc || px_reader_done(reply)
               ? rc
               : px_unpack_infos(reply, &op->about, &op->n_about);
}

static void drop_made(struct make_op *op)
{
    px_type_destruct(PMIX_BYTE_OBJECT, &op->made);
    px_type_free_array(PMIX_INFO, op->about, op->n_about);
    op->about = NULL;
    op->n_about = 0;
}

static void on_made(void *arg, pmix_status_t status, px_reader *reply)
{
    struct make_op *op = arg;

    if (!status)
        status = read_made(op, reply);
    if (status)
        drop_made(op);
    px_api_done(&op->api, status);
}

static void on_make(struct px_api *api)
{
    struct make_op *op = PX_CONTAINER_OF(api, struct make_op, api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_GET_CREDENTIAL);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, on_made);
}

static void finish_make(struct px_api *api)
{
    struct make_op *op = PX_CONTAINER_OF(api, struct make_op, api);

    op->cb(api->status, api->status ? NULL : &op->made, op->about, op->n_about,
           api->cbdata);
    drop_made(op);
}

PX_EXPORT pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                            pmix_byte_object_t *credential)
{
    struct make_op op = {.api = {.start = on_make}, .info = info, .n_info = ninfo};
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    if (!rc && !credential)
        rc = PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    rc = px_api_wait(&op.api);
    *credential = op.made;
    op.made = (pmix_byte_object_t){0};
    drop_made(&op);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                               pmix_credential_cbfunc_t cbfunc,
                                               void *cbdata)
{
    struct make_op op = {.api = {.start = on_make,
                                 .finish = finish_make,
                                 .args = make_args,
                                 .cbdata = cbdata},
                         .info = info,
                         .n_info = ninfo,
                         .cb = cbfunc};
    pmix_status_t rc = px_api_check(NULL, 0, info, ninfo);

    if (!rc && !cbfunc)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : px_api_post(&op.api, sizeof op);
}

/* ---- check --------------------------------------------------------------------------------------- */

struct check_op {
    struct px_ask ask;
    const pmix_byte_object_t *cred;
    const pmix_info_t *info;
    size_t n_info;
    pmix_validation_cbfunc_t cb;
};

static const struct px_arg check_args[] = {
    PX_ARG(struct check_op, cred, PMIX_BYTE_OBJECT),
    PX_ARGS(struct check_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

static void on_check(struct px_api *api)
{
    struct check_op *op = PX_CONTAINER_OF(api, struct check_op, ask.api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_VALIDATE_CRED);
    px_pack(&w, op->cred, 1, PMIX_BYTE_OBJECT);
    px_pack_infos(&w, op->info, op->n_info);
    px_ask_send(&op->ask, &w);
}

/* This callback has no release function: the results end with it. */
static void finish_check(struct px_api *api)
{
    struct check_op *op = PX_CONTAINER_OF(api, struct check_op, ask.api);

    op->cb(api->status, op->ask.results, op->ask.n_results, api->cbdata);
    px_type_free_array(PMIX_INFO, op->ask.results, op->ask.n_results);
}

static pmix_status_t check_cred(const pmix_byte_object_t *cred, const pmix_info_t *info,
                                size_t n_info)
{
    pmix_status_t rc = px_api_check(NULL, 0, info, n_info);

    return !rc && (!cred || (cred->size && !cred->bytes)) ? PMIX_ERR_BAD_PARAM : rc;
}

PX_EXPORT pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred,
                                                 const pmix_info_t info[], size_t ninfo,
                                                 pmix_info_t **results,
                                                 size_t *nresults)
{
    struct check_op op = {
        .ask.api = {.start = on_check}, .cred = cred, .info = info, .n_info = ninfo};
    pmix_status_t rc = check_cred(cred, info, ninfo);

    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred,
                                                    const pmix_info_t info[],
                                                    size_t ninfo,
                                                    pmix_validation_cbfunc_t cbfunc,
                                                    void *cbdata)
{
    struct check_op op = {.ask.api = {.start = on_check,
                                      .finish = finish_check,
                                      .args = check_args,
                                      .cbdata = cbdata},
                          .cred = cred,
                          .info = info,
                          .n_info = ninfo,
                          .cb = cbfunc};
    pmix_status_t rc = check_cred(cred, info, ninfo);

    if (!rc && !cbfunc)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : px_api_post(&op.ask.api, sizeof op);
}
