/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish, lookup, unpublish: the host's, with the caller's user. */
#include "core/server/upcall.h"

static pmix_status_t call_publish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->publish(&u->proc, u->args.info.v, u->args.info.n, px_upcall_op_cb, u);
}

/* No keys: everything the caller published. */
static pmix_status_t call_unpublish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->unpublish(&u->proc, u->args.keys, u->args.info.v, u->args.info.n,
                        px_upcall_op_cb, u);
}

static pmix_status_t call_lookup(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->lookup(&u->proc, u->args.keys, u->args.info.v, u->args.info.n,
                     px_upcall_lookup_cb, u);
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

static const struct px_forward publish = {.request = &px_request_publish,
                                          .slot = PX_SLOT(publish),
                                          .call = call_publish,
                                          .reply = px_upcall_reply_status},
                               lookup = {.request = &px_request_lookup,
                                         .slot = PX_SLOT(lookup),
                                         .call = call_lookup,
                                         .reply = reply_found},
                               unpublish = {.request = &px_request_unpublish,
                                            .slot = PX_SLOT(unpublish),
                                            .call = call_unpublish,
                                            .reply = px_upcall_reply_status};

static const struct px_rpc rpcs[] = {
    {PX_OP_PUBLISH, PX_BY_ANY, PX_BY_HOST, .forward = &publish},
    {PX_OP_LOOKUP, PX_BY_ANY, PX_BY_HOST, .forward = &lookup},
    {PX_OP_UNPUBLISH, PX_BY_ANY, PX_BY_HOST, .forward = &unpublish},
    {0},
};

const struct px_server_part px_publish_part = {.name = "publish", .rpcs = rpcs};
