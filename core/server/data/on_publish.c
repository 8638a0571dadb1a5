/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish, lookup, unpublish: passed to the host with the caller's user id added. The one
 * that the client claims is ignored. */
#include "core/server/upcall.h"

static pmix_status_t call_publish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->publish ? m->publish(&u->proc, u->args.info.v, u->args.info.n,
                                   px_upcall_op_cb, u)
                      : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_publish(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_publish, NULL, call_publish,
                                        px_upcall_reply_status};

    return px_upcall_pass(srv, req, &pass);
}

/* No keys: everything the caller published. */
static pmix_status_t call_unpublish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->unpublish ? m->unpublish(&u->proc, u->args.keys, u->args.info.v,
                                       u->args.info.n, px_upcall_op_cb, u)
                        : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_unpublish(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_unpublish, NULL, call_unpublish,
                                        px_upcall_reply_status};

    return px_upcall_pass(srv, req, &pass);
}

static pmix_status_t call_lookup(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->lookup ? m->lookup(&u->proc, u->args.keys, u->args.info.v, u->args.info.n,
                                 px_upcall_lookup_cb, u)
                     : PMIX_ERR_NOT_SUPPORTED;
}

static void reply_found(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    if (!answer->status || answer->n_pdata > 0) {
        px_pack_size(&w, answer->n_pdata);
        if (answer->n_pdata > 0)
            px_pack(&w, answer->pdata, (int32_t)answer->n_pdata, PMIX_PDATA);
    }
    px_req_reply(req, &w);
}

static pmix_status_t on_lookup(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_lookup, NULL, call_lookup,
                                        reply_found};

    return px_upcall_pass(srv, req, &pass);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_PUBLISH, on_publish},
    {PX_OP_LOOKUP, on_lookup},
    {PX_OP_UNPUBLISH, on_unpublish},
    {0},
};

const struct px_server_part px_publish_part = {.name = "publish", .rpcs = rpcs};
