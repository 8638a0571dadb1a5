/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish, lookup, unpublish: passed to the host with the caller's user id added. */
#include "core/server/upcall.h"

/* Values larger or more numerous than any sane lookup are refused before they cost memory. */
#define MAX_LOOKUP_KEYS 65536u

/* UINT32 uid first: what the client claims is ignored, the connection's is known. */
static pmix_status_t skip_claimed_uid(px_reader *in)
{
    uint32_t uid;

    return px_unpack1(in, &uid, PMIX_UINT32);
}

static pmix_status_t read_keys(px_reader *in, char ***keys)
{
    size_t n;
    pmix_status_t rc = px_unpack_size(in, &n);

    if (!rc && n > MAX_LOOKUP_KEYS)
        rc = PMIX_ERR_BAD_PARAM;
    if (rc || n == 0)
        return rc;
    *keys = calloc(n + 1, sizeof **keys);
    if (!*keys)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        rc = px_unpack_str(in, &(*keys)[i]);
        if (!rc && !(*keys)[i]) /* would end the list early */
            rc = PMIX_ERR_BAD_PARAM;
    }
    return rc;
}

static pmix_status_t read_publish(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = skip_claimed_uid(&req->in);

    return rc ? rc : px_upcall_read_user_infos(req, &u->args);
}

static pmix_status_t call_publish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->publish ? m->publish(&u->proc, u->args.v, u->args.n, px_upcall_op_cb, u)
                      : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_publish(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_publish, call_publish,
                                        px_upcall_reply_status};

    return px_upcall_pass(srv, req, &pass);
}

/* No keys: everything the caller published. */
static pmix_status_t read_unpublish(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = skip_claimed_uid(&req->in);

    if (!rc)
        rc = read_keys(&req->in, &u->strv);
    return rc ? rc : px_upcall_read_user_infos(req, &u->args);
}

static pmix_status_t call_unpublish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->unpublish ? m->unpublish(&u->proc, u->strv, u->args.v, u->args.n,
                                       px_upcall_op_cb, u)
                        : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_unpublish(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_unpublish, call_unpublish,
                                        px_upcall_reply_status};

    return px_upcall_pass(srv, req, &pass);
}

static pmix_status_t read_lookup(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = read_unpublish(req, u);

    return !rc && !u->strv ? PMIX_ERR_BAD_PARAM : rc;
}

static pmix_status_t call_lookup(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->lookup ? m->lookup(&u->proc, u->strv, u->args.v, u->args.n,
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
    static const struct px_pass pass = {read_lookup, call_lookup, reply_found};

    return px_upcall_pass(srv, req, &pass);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_PUBLISH, on_publish},
    {PX_OP_LOOKUP, on_lookup},
    {PX_OP_UNPUBLISH, on_unpublish},
    {0},
};

const struct px_server_part px_publish_part = {.name = "publish", .rpcs = rpcs};
