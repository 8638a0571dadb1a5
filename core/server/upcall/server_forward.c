/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for a service of the host or of this library, and the common replies. */
#include "core/server/upcall/server_forward.h"

#include "core/base/strv.h"
#include "core/link/required.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/host.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/server/upcall/module.h"

#include <stdio.h>
#include <string.h>

/* Memory of an upcall beyond the decoded message: the object and the user's infos, and
 * the overhead of malloc. */
#define UPCALL_B (sizeof(struct px_upcall) + 2 * sizeof(pmix_info_t) + 4 * 16u)

/* Work in items, besides that of any request; see px_work. */
#define FORWARD_ITEMS 32u
#define ELEMENT_ITEMS 2u /* of a key or an info, at the host */

/* Charges what an upcall and its host keep until the answer, and counts the work. */
static pmix_status_t charge(struct px_req *req, const struct px_upcall *u)
{
    const struct px_forward *f = req->rpc->forward;
    const size_t n_keys = px_strv_count(u->args.keys);

    (void)px_work(req->peer, FORWARD_ITEMS + ELEMENT_ITEMS * (n_keys + u->args.info.n) +
                                 req->n_args_b / PX_ITEM_B); /* the host copies them */
    return px_charge(&req->charge, req->peer,
                     UPCALL_B + f->held_b + n_keys * f->held_key_b);
}

pmix_status_t px_forward_user(struct px_req *req, struct px_upcall *u)
{
    return px_infos_set_user(&u->args.info, req->peer);
}

static bool has_function(const struct px_server *srv, size_t slot)
{
    void (*function)(void) = NULL;

    if (slot > 0)
        memcpy(&function, (const char *)&srv->module + (slot - 1) * sizeof(function),
               sizeof(function));
    return function != NULL;
}

/* Checks directives that no other party reads. by_host: the host has a function. */
static pmix_status_t check_required(struct px_server *srv, const struct px_upcall *u,
                                    const struct px_forward *f, bool by_host)
{
    const px_infos *info = &u->args.info, *more = &u->args.more;
    pmix_status_t rc = PMIX_SUCCESS;

    if (by_host)
        return f->checked ? px_builtin_required(srv, f->function, info) : rc;
    rc = px_required_check(f->function, NULL, more->v, more->n);
    return rc ? rc : px_required_check(f->function, NULL, info->v, info->n);
}

/* Adds the required attribute that was refused to the results. */
static void explain(const struct px_server *srv, struct px_upcall *u,
                    const struct px_forward *f, bool by_host)
{
    const struct px_support_rows own = {.rows = by_host ? srv->host->support : NULL,
                                        .n = by_host ? srv->host->n_support : 0};
    const px_infos *lists[] = {&u->args.more, &u->args.info};
    const pmix_info_t *unknown = NULL;
    char why[PMIX_MAX_KEYLEN + 64];

    for (size_t i = 0; !unknown && i < PX_COUNT(lists); i++)
        unknown = px_required_unknown(f->function, &own, lists[i]->v, lists[i]->n);
    snprintf(why, sizeof(why), "the required attribute %s is not supported",
             unknown ? unknown->key : "");
    (void)px_infos_add(&u->infos, PMIX_EVENT_TEXT_MESSAGE, why, PMIX_STRING);
}

/* Unpacks a request, and prepares the request for the function that serves it. */
static pmix_status_t prepare(struct px_req *req, struct px_upcall *u)
{
    const struct px_forward *f = req->rpc->forward;
    pmix_status_t rc;

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
    return rc;
}

static pmix_status_t serve(struct px_server *srv, struct px_upcall *u,
                           const struct px_forward *f, bool by_host)
{
    pmix_status_t rc;

    if (u->done)
        return PMIX_OPERATION_SUCCEEDED;
    if (by_host && !f->own_first)
        return f->call(&srv->module, u);
    rc = f->own(srv, u);
    if (rc != PMIX_ERR_NOT_SUPPORTED || !by_host)
        return rc;
    px_infos_cleanup(&u->infos);
    return f->call(&srv->module, u);
}

static bool is_by_host(const struct px_server *srv, const struct px_forward *f)
{
    return !f->slot || has_function(srv, f->slot) || has_function(srv, f->older);
}

/* Serves a request that has been prepared. */
static void go_on(struct px_server *srv, struct px_upcall *u,
                  const struct px_forward *f)
{
    const bool by_host = is_by_host(srv, f);
    pmix_status_t rc = f->own_first ? PMIX_SUCCESS : check_required(srv, u, f, by_host);

    if (rc)
        explain(srv, u, f, by_host);
    else
        u->function = f->function;
    px_upcall_returned(u, rc ? rc : serve(srv, u, f, by_host));
}

void px_forward_prepared(struct px_upcall *u, pmix_status_t rc)
{
    struct px_req *req = u->arg;

    if (rc) {
        px_upcall_drop(u);
        px_req_done(req, rc);
        return;
    }
    go_on(req->peer->server, u, req->rpc->forward);
}

pmix_status_t px_forward(struct px_server *srv, struct px_req *req)
{
    const struct px_forward *f = req->rpc->forward;
    struct px_upcall *u;
    pmix_status_t rc;

    if (!is_by_host(srv, f) && !f->own) {
        px_req_refused(req, f->function,
                       srv->host ? "the built-in host has no function for that"
                                 : "the host has no function for that");
        return PMIX_ERR_NOT_SUPPORTED;
    }
    u = px_upcall_for(req, f->reply);
    if (!u)
        return PMIX_ERR_NOMEM;
    rc = prepare(req, u);
    if (rc == PX_DEFERRED)
        return rc;
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    go_on(srv, u, f);
    return PX_DEFERRED;
}

pmix_status_t px_upcall_deny(struct px_upcall *u, const struct px_err *err)
{
    const struct px_peer *peer = ((struct px_req *)u->arg)->peer;

    px_log_limited(peer->server->part.door->rate, peer->uid, err->status, "server",
                   "cannot serve %s of %s.%u: %s", u->function, peer->proc.nspace,
                   peer->proc.rank, err->text);
    (void)px_infos_add(&u->infos, PMIX_EVENT_TEXT_MESSAGE, err->text, PMIX_STRING);
    return err->status;
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
