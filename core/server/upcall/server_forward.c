/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests passed to the host as received, and the common replies. */
#include "core/server/upcall/server_forward.h"

#include "core/base/strv.h"
#include "core/rt/log.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/module.h"

#include <string.h>

/* Memory of an upcall beyond the decoded message: the object and the user's infos, and
 * the overhead of malloc. */
#define UPCALL_B (sizeof(struct px_upcall) + 2 * sizeof(pmix_info_t) + 4 * 16u)

/* Charges what an upcall and its host keep until the answer. */
static pmix_status_t charge(struct px_req *req, const struct px_upcall *u)
{
    const struct px_forward *f = req->rpc->forward;

    return px_charge(&req->charge, req->peer,
                     UPCALL_B + f->held_b +
                         px_strv_count(u->args.keys) * f->held_key_b);
}

pmix_status_t px_forward_user(struct px_req *req, struct px_upcall *u)
{
    return px_infos_set_user(&u->args.info, req->peer);
}

pmix_status_t px_forward(struct px_server *srv, struct px_req *req)
{
    const struct px_forward *f = req->rpc->forward;
    void (*function)(void) = NULL;
    struct px_upcall *u;
    pmix_status_t rc;

    if (f->slot > 0)
        memcpy(&function, (const char *)&srv->module + (f->slot - 1) * sizeof(function),
               sizeof(function));
    if (f->slot > 0 && !function) {
        px_req_refused(req, f->function,
                       srv->host ? "the built-in host has no function for that"
                                 : "the host has no function for that");
        return PMIX_ERR_NOT_SUPPORTED;
    }
    u = px_upcall_for(req, f->reply);
    if (!u)
        return PMIX_ERR_NOMEM;
    if (f->newest)
        req->in.codec = px_codec_newest(req->in.codec);
    rc = px_req_unpack(req, &u->args, f->request->args);
    if (!rc)
        rc = charge(req, u);
    if (!rc)
        rc = px_req_expand(req, &u->args);
    if (!rc)
        rc = px_req_may(req, u->args.procs, u->args.n_procs);
    if (!rc)
        rc = f->prepare ? f->prepare(req, u) : px_forward_user(req, u);
    if (!rc && f->checked)
        rc = px_builtin_required(srv, f->function, &u->args.info);
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    u->function = f->function;
    px_upcall_returned(u, f->call(&srv->module, u));
    return PX_DEFERRED;
}

void px_upcall_reply_status(void *arg, const struct px_upcall *answer)
{
    px_req_done(arg, answer->status);
}

void px_upcall_reply_infos(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    px_pack_infos(&w, answer->infos.v, answer->infos.n);
    px_req_reply(req, &w);
}
