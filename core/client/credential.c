/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials: made by the host, and checked by it. */
#include "core/client/info_call.h"

/* ---- make ------------------------------------------------------------------------ */

struct make_op {
    struct px_api api;
    pmix_byte_object_t made;
    pmix_info_t *about;
    size_t n_about;
    pmix_credential_cbfunc_t cb;
};

static pmix_status_t read_made(struct make_op *op, px_reader *reply)
{
    pmix_status_t rc = px_unpack_bytes(reply, &op->made);

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

    status = px_api_answer(status, reply);
    if (!status)
        status = read_made(op, reply);
    if (status)
        drop_made(op);
    px_api_done(&op->api, status);
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
    struct make_op op = {.api = {.reply = on_made,
                                 .request = &px_request_get_cred,
                                 .args.info = px_infos_borrow(info, ninfo),
                                 .invalid = !credential}};
    pmix_status_t rc = px_api_check(&op.api);

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
    struct make_op op = {.api = {.reply = on_made,
                                 .finish = finish_make,
                                 .request = &px_request_get_cred,
                                 .args.info = px_infos_borrow(info, ninfo),
                                 .invalid = !cbfunc,
                                 .cbdata = cbdata},
                         .cb = cbfunc};

    return px_api_post(&op.api, sizeof op);
}

/* ---- check ----------------------------------------------------------------------- */

struct check_op {
    struct px_info_call call;
    pmix_validation_cbfunc_t cb;
};

/* This callback has no release function: the results end with it. */
static void finish_check(struct px_api *api)
{
    struct check_op *op = PX_CONTAINER_OF(api, struct check_op, call.api);

    op->cb(api->status, op->call.results, op->call.n_results, api->cbdata);
    px_type_free_array(PMIX_INFO, op->call.results, op->call.n_results);
}

static struct check_op make_check(const pmix_byte_object_t *cred,
                                  const pmix_info_t *info, size_t n_info)
{
    return (struct check_op){
        .call.api = {.reply = px_info_call_reply,
                     .request = &px_request_validate_cred,
                     .args = {.bytes = cred ? *cred : (pmix_byte_object_t){0},
                              .info = px_infos_borrow(info, n_info)},
                     .invalid = !cred}};
}

PX_EXPORT pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred,
                                                 const pmix_info_t info[], size_t ninfo,
                                                 pmix_info_t **results,
                                                 size_t *nresults)
{
    struct check_op op = make_check(cred, info, ninfo);

    return px_info_call_wait(op.call, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred,
                                                    const pmix_info_t info[],
                                                    size_t ninfo,
                                                    pmix_validation_cbfunc_t cbfunc,
                                                    void *cbdata)
{
    struct check_op op = make_check(cred, info, ninfo);

    op.cb = cbfunc;
    op.call.api.finish = finish_check;
    op.call.api.cbdata = cbdata;
    op.call.api.invalid |= !cbfunc;
    return px_api_post(&op.call.api, sizeof op);
}
