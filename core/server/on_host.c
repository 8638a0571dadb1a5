/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the host can do for a job: spawn, query, log, job control, monitoring. Decoded, handed
 * over, its answer packed. */
#include "core/model/jobinfo.h"
#include "core/server/cleanup/cleanup.h"
#include "core/server/upcall.h"

/* ---- spawn --------------------------------------------------------------------------------------- */

/* STATUS, name of the new namespace, and all of its job data if it runs under this server. */
static void reply_spawned(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    struct px_nspace *ns;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    px_pack_str(&w, answer->status ? NULL : answer->nspace);
    ns = answer->status ? NULL : px_nspace_find(px_process.model, answer->nspace);
    if (ns && ns->complete)
        px_jobinfo_pack(px_process.model, ns, &w, true);
    px_req_reply(req, &w);
}

/* Whatever the client claimed: who asks is the parent, and is what his connection is. */
static pmix_status_t set_requestor(px_infos *infos, const struct px_peer *peer)
{
    pmix_status_t rc = px_infos_set_user(infos, peer);

    if (!rc)
        rc = px_infos_set(infos, PMIX_PARENT_ID, &peer->proc, PMIX_PROC);
    if (!rc)
        rc = px_infos_set(infos, PMIX_SPAWNED, NULL, PMIX_BOOL);
    if (rc)
        return rc;
    px_infos_drop(infos, PMIX_REQUESTOR_IS_TOOL);
    px_infos_drop(infos, PMIX_REQUESTOR_IS_CLIENT);
    return px_infos_add(infos,
                        peer->tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT,
                        NULL, PMIX_BOOL);
}

static pmix_status_t check_spawn(struct px_req *req, struct px_upcall *u)
{
    return set_requestor(&u->args.info, req->peer);
}

static pmix_status_t call_spawn(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->spawn(&u->proc, u->args.info.v, u->args.info.n, u->args.apps,
                    u->args.n_apps, px_upcall_spawn_cb, u);
}

static pmix_status_t on_spawn(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_spawn, check_spawn, call_spawn,
                                        reply_spawned};

    return srv->module.spawn ? px_upcall_pass(srv, req, &pass) : PMIX_ERR_NOT_SUPPORTED;
}

/* ---- query --------------------------------------------------------------------------------------- */

static pmix_status_t set_query_user(pmix_query_t *q, const struct px_peer *peer)
{
    px_infos l = {.v = q->qualifiers, .n = q->nqual, .cap = q->nqual};
    pmix_status_t rc = px_infos_set_user(&l, peer);

    q->qualifiers = l.v;
    q->nqual = l.n;
    return rc;
}

static pmix_status_t check_query(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_attributes_query(req->peer->server, u->args.queries,
                                           &u->args.n_queries, &u->args.info);
    if (!rc)
        rc = px_psets_query(req->peer->server, u->args.queries, &u->args.n_queries,
                            &u->args.info);
    if (!rc)
        rc = px_cleanup_query(req->peer->server, u->args.queries, &u->args.n_queries,
                              &u->args.info);
    for (size_t i = 0; !rc && i < u->args.n_queries; i++)
        rc = set_query_user(&u->args.queries[i], req->peer);
    return rc;
}

static pmix_status_t call_query(const pmix_server_module_t *m, struct px_upcall *u)
{
    if (u->args.n_queries == 0) /* all was answered here, be it with nothing */
        return u->args.info.n > 0 ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_FOUND;
    return m->query ? m->query(&u->proc, u->args.queries, u->args.n_queries,
                               px_upcall_info_cb, u)
                    : PMIX_ERR_NOT_SUPPORTED;
}

/* What was known here, then what the host knew. */
static void reply_query(void *arg, const struct px_upcall *answer)
{
    struct px_upcall both = {.status = answer->status};
    pmix_status_t rc = px_infos_add_copy(&both.infos, answer->args.info.v,
                                         answer->args.info.n);

    if (!rc)
        rc = px_infos_add_copy(&both.infos, answer->infos.v, answer->infos.n);
    if (rc)
        both.status = rc;
    else if (answer->args.info.n > 0 && (answer->status == PMIX_ERR_NOT_SUPPORTED ||
                                         answer->status == PMIX_ERR_NOT_FOUND))
        both.status = PMIX_ERR_PARTIAL_SUCCESS;
    px_upcall_reply_infos(arg, &both);
    px_infos_cleanup(&both.infos);
}

static pmix_status_t on_query(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_query, check_query, call_query,
                                        reply_query};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- job control --------------------------------------------------------------------------------- */

/* Clean-up is this server's own affair: the host hears nothing of it. */
static pmix_status_t check_job_control(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_peer_may_all(req->peer, u->args.procs, u->args.n_procs);

    if (!rc)
        rc = px_cleanup_take(req->peer->server, req->peer, u->args.procs,
                             u->args.n_procs, &u->args.info, &u->done);
    return rc ? rc : px_upcall_set_user(req, u);
}

static void on_known(void *arg)
{
    px_upcall_info_cb(PMIX_SUCCESS, NULL, 0, arg, NULL, NULL);
}

static pmix_status_t answer_clean_up(struct px_upcall *u)
{
    const struct px_req *req = u->arg;

    return px_cleanup_await_known(req->peer, on_known, u) ? PMIX_SUCCESS
                                                          : PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t call_job_control(const pmix_server_module_t *m,
                                      struct px_upcall *u)
{
    if (u->done)
        return answer_clean_up(u);
    return m->job_control
               ? m->job_control(&u->proc, u->args.procs, u->args.n_procs,
                                u->args.info.v, u->args.info.n, px_upcall_info_cb, u)
               : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_job_control(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_job_control, check_job_control,
                                        call_job_control, px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- log ----------------------------------------------------------------------------------------- */

static pmix_status_t check_log(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_infos_set_user(&u->args.more, req->peer);

    if (!rc && u->args.stamp)
        rc = px_infos_add(&u->args.more, PMIX_LOG_TIMESTAMP, &u->args.stamp, PMIX_TIME);
    return rc;
}

/* The older slot returns nothing: its callback is the only answer. */
static pmix_status_t call_log(const pmix_server_module_t *m, struct px_upcall *u)
{
    if (m->log2)
        return m->log2(&u->proc, u->args.info.v, u->args.info.n, u->args.more.v,
                       u->args.more.n, px_upcall_op_cb, u);
    m->log(&u->proc, u->args.info.v, u->args.info.n, u->args.more.v, u->args.more.n,
           px_upcall_op_cb, u);
    return PMIX_SUCCESS;
}

static pmix_status_t on_log(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_log, check_log, call_log,
                                        px_upcall_reply_status};

    return srv->module.log2 || srv->module.log ? px_upcall_pass(srv, req, &pass)
                                               : PMIX_ERR_NOT_SUPPORTED;
}

/* ---- monitoring ---------------------------------------------------------------------------------- */

static pmix_status_t check_monitor(struct px_req *req, struct px_upcall *u)
{
    return px_infos_set_user(&u->args.more, req->peer);
}

static pmix_status_t call_monitor(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->monitor ? m->monitor(&u->proc, u->args.info.v, u->args.code,
                                   u->args.more.v, u->args.more.n, px_upcall_info_cb, u)
                      : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_monitor(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {&px_request_monitor, check_monitor,
                                        call_monitor, px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_SPAWN, on_spawn},     {PX_OP_QUERY, on_query},
    {PX_OP_LOG, on_log},         {PX_OP_JOB_CONTROL, on_job_control},
    {PX_OP_MONITOR, on_monitor}, {0},
};

const struct px_server_part px_host_part = {.name = "host", .rpcs = rpcs};
