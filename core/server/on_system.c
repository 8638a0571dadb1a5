/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host knows of the system around the jobs: allocations, resource blocks, sessions,
 * credentials, fabrics. */
#include "core/server/upcall.h"

/* ---- allocations --------------------------------------------------------------------------------- */

static pmix_status_t read_alloc(struct px_req *req, struct px_upcall *u)
{
    uint8_t directive;
    pmix_status_t rc = px_unpack_u8(&req->in, &directive, PMIX_ALLOC_DIRECTIVE);

    if (rc)
        return rc;
    u->number = directive;
    return px_upcall_read_user_infos(req, &u->args);
}

static pmix_status_t call_alloc(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->allocate ? m->allocate(&u->proc, (pmix_alloc_directive_t)u->number,
                                     u->args.v, u->args.n, px_upcall_info_cb, u)
                       : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_alloc(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_alloc, call_alloc, px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- resource blocks ----------------------------------------------------------------------------- */

/* Types that are younger than most dialects, in a message that is as young. */
static pmix_status_t read_block(struct px_req *req, struct px_upcall *u)
{
    uint8_t directive;
    pmix_status_t rc;

    req->in.codec = px_codec_newest(req->in.codec);
    rc = px_unpack_u8(&req->in, &directive, PMIX_RESBLOCK_DIRECTIVE);
    if (!rc)
        rc = px_unpack_str(&req->in, &u->str);
    if (!rc)
        rc = px_unpack_size(&req->in, &u->n_units);
    if (!rc)
        rc = px_unpack_array(&req->in, (void **)&u->units, u->n_units,
                             PMIX_RESOURCE_UNIT);
    if (rc) {
        u->n_units = 0;
        return rc;
    }
    u->number = directive;
    return u->str ? px_upcall_read_user_infos(req, &u->args) : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t call_block(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->resource_block
               ? m->resource_block(&u->proc, (pmix_resource_block_directive_t)u->number,
                                   u->str, u->units, u->n_units, u->args.v, u->args.n,
                                   px_upcall_op_cb, u)
               : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_block(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_block, call_block, px_upcall_reply_status};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- sessions ------------------------------------------------------------------------------------ */

static pmix_status_t read_session(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_unpack1(&req->in, &u->number, PMIX_UINT32);

    return rc ? rc : px_upcall_read_user_infos(req, &u->args);
}

static pmix_status_t call_session(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->session_control ? m->session_control(&u->proc, u->number, u->args.v,
                                                   u->args.n, px_upcall_info_cb, u)
                              : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_session(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_session, call_session,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- credentials --------------------------------------------------------------------------------- */

static pmix_status_t read_get_cred(struct px_req *req, struct px_upcall *u)
{
    return px_upcall_read_user_infos(req, &u->args);
}

static pmix_status_t call_get_cred(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->get_credential ? m->get_credential(&u->proc, u->args.v, u->args.n,
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
    static const struct px_pass pass = {read_get_cred, call_get_cred, reply_cred};

    return px_upcall_pass(srv, req, &pass);
}

static pmix_status_t read_validate(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_unpack_bytes(&req->in, &u->object);

    return rc ? rc : px_upcall_read_user_infos(req, &u->args);
}

static pmix_status_t call_validate(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->validate_credential
               ? m->validate_credential(&u->proc, &u->object, u->args.v, u->args.n,
                                        px_upcall_validation_cb, u)
               : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_validate(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_validate, call_validate,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- fabrics ------------------------------------------------------------------------------------- */

static pmix_status_t read_register(struct px_req *req, struct px_upcall *u)
{
    u->number = PMIX_FABRIC_REQUEST_INFO;
    return px_upcall_read_user_infos(req, &u->args);
}

static pmix_status_t read_update(struct px_req *req, struct px_upcall *u)
{
    size_t index;
    pmix_status_t rc = px_unpack_size(&req->in, &index);

    u->number = PMIX_FABRIC_UPDATE_INFO;
    if (!rc)
        rc = px_infos_add(&u->args, PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
    return rc ? rc : px_infos_set_user(&u->args, req->peer);
}

static pmix_status_t call_fabric(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->fabric ? m->fabric(&u->proc, (pmix_fabric_operation_t)u->number,
                                 u->args.v, u->args.n, px_upcall_info_cb, u)
                     : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_register(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_register, call_fabric,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

static pmix_status_t on_update(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_update, call_fabric,
                                        px_upcall_reply_infos};

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
