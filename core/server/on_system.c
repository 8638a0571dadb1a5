/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host knows of the system around the jobs: allocations, resource blocks, sessions,
 * credentials, fabrics. */
#include "core/server/upcall.h"

/* ---- allocations --------------------------------------------------------------------------------- */

static pmix_status_t call_alloc(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->allocate ? m->allocate(&u->proc, u->args.directive, u->args.info.v,
                                     u->args.info.n, px_upcall_info_cb, u)
                       : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_alloc(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_alloc, NULL, call_alloc,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- resource blocks ----------------------------------------------------------------------------- */

static pmix_status_t call_block(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->resource_block
               ? m->resource_block(&u->proc, u->args.directive, u->args.text,
                                   u->args.units, u->args.n_units, u->args.info.v,
                                   u->args.info.n, px_upcall_op_cb, u)
               : PMIX_ERR_NOT_SUPPORTED;
}

/* Types that are younger than most dialects, in a message that is as young. */
static pmix_status_t on_block(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_block, NULL, call_block,
                                        px_upcall_reply_status};

    req->in.codec = px_codec_newest(req->in.codec);
    return px_upcall_pass(srv, req, &pass);
}

/* ---- sessions ------------------------------------------------------------------------------------ */

static pmix_status_t call_session(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->session_control
               ? m->session_control(&u->proc, u->args.number, u->args.info.v,
                                    u->args.info.n, px_upcall_info_cb, u)
               : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_session(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_session, NULL, call_session,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- credentials --------------------------------------------------------------------------------- */

static pmix_status_t call_get_cred(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->get_credential
               ? m->get_credential(&u->proc, u->args.info.v, u->args.info.n,
                                   px_upcall_credential_cb, u)
               : PMIX_ERR_NOT_SUPPORTED;
}

/* STATUS; the credential and infos if there is one. */
static void reply_cred(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    if (!answer->status) {
        px_pack_bytes(&w, answer->bytes.data, answer->bytes.len);
        px_pack_infos(&w, answer->infos.v, answer->infos.n);
    }
    px_req_reply(req, &w);
}

static pmix_status_t on_get_cred(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_get_cred, NULL, call_get_cred,
                                        reply_cred};

    return px_upcall_pass(srv, req, &pass);
}

static pmix_status_t call_validate(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->validate_credential
               ? m->validate_credential(&u->proc, &u->args.bytes, u->args.info.v,
                                        u->args.info.n, px_upcall_validation_cb, u)
               : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_validate(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_validate_cred, NULL, call_validate,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- fabrics ------------------------------------------------------------------------------------- */

static pmix_status_t check_register(struct px_req *req, struct px_upcall *u)
{
    u->args.number = PMIX_FABRIC_REQUEST_INFO;
    return px_upcall_set_user(req, u);
}

static pmix_status_t check_update(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_infos_add(&u->args.info, PMIX_FABRIC_INDEX, &u->args.id,
                                    PMIX_SIZE);

    u->args.number = PMIX_FABRIC_UPDATE_INFO;
    return rc ? rc : px_upcall_set_user(req, u);
}

static pmix_status_t call_fabric(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->fabric ? m->fabric(&u->proc, (pmix_fabric_operation_t)u->args.number,
                                 u->args.info.v, u->args.info.n, px_upcall_info_cb, u)
                     : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_register(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_fabric_register, check_register,
                                        call_fabric, px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

static pmix_status_t on_update(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_fabric_update, check_update,
                                        call_fabric, px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_ALLOC, on_alloc},
    {PX_OP_RESBLK, on_block},
    {PX_OP_SESSION_CTRL, on_session},
    {PX_OP_GET_CREDENTIAL, on_get_cred},
    {PX_OP_VALIDATE_CRED, on_validate},
    {PX_OP_FABRIC_REGISTER, on_register},
    {PX_OP_FABRIC_UPDATE, on_update},
    {0},
};

const struct px_server_part px_system_part = {.name = "system", .rpcs = rpcs};
