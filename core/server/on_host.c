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

static pmix_status_t read_spawn(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_upcall_read_infos(req, &u->args);

    if (!rc)
        rc = px_unpack_size(&req->in, &u->n_apps);
    if (!rc)
        rc = px_unpack_array(&req->in, (void **)&u->apps, u->n_apps, PMIX_APP);
    if (rc)
        u->n_apps = 0;
    if (!rc && u->n_apps == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : set_requestor(&u->args, req->peer);
}

static pmix_status_t call_spawn(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->spawn(&u->proc, u->args.v, u->args.n, u->apps, u->n_apps,
                    px_upcall_spawn_cb, u);
}

static pmix_status_t on_spawn(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_spawn, call_spawn, reply_spawned};

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

static pmix_status_t read_query(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_unpack_size(&req->in, &u->n_queries);

    if (!rc)
        rc = px_unpack_array(&req->in, (void **)&u->queries, u->n_queries, PMIX_QUERY);
    if (rc) {
        u->n_queries = 0;
        return rc;
    }
    rc = px_attributes_query(req->peer->server, u->queries, &u->n_queries, &u->args);
    if (!rc)
        rc = px_psets_query(req->peer->server, u->queries, &u->n_queries, &u->args);
    if (!rc)
        rc = px_cleanup_query(req->peer->server, u->queries, &u->n_queries, &u->args);
    for (size_t i = 0; !rc && i < u->n_queries; i++)
        rc = set_query_user(&u->queries[i], req->peer);
    return rc;
}

static pmix_status_t call_query(const pmix_server_module_t *m, struct px_upcall *u)
{
    if (u->n_queries == 0) /* all was answered here, be it with nothing */
        return u->args.n > 0 ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_FOUND;
    return m->query ? m->query(&u->proc, u->queries, u->n_queries, px_upcall_info_cb, u)
                    : PMIX_ERR_NOT_SUPPORTED;
}

/* What was known here, then what the host knew. */
static void reply_query(void *arg, const struct px_upcall *answer)
{
    struct px_upcall both = {.status = answer->status};
    pmix_status_t rc = px_infos_add_copy(&both.infos, answer->args.v, answer->args.n);

    if (!rc)
        rc = px_infos_add_copy(&both.infos, answer->infos.v, answer->infos.n);
    if (rc)
        both.status = rc;
    else if (answer->args.n > 0 && (answer->status == PMIX_ERR_NOT_SUPPORTED ||
                                    answer->status == PMIX_ERR_NOT_FOUND))
        both.status = PMIX_ERR_PARTIAL_SUCCESS;
    px_upcall_reply_infos(arg, &both);
    px_infos_cleanup(&both.infos);
}

static pmix_status_t on_query(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_query, call_query, reply_query};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- job control --------------------------------------------------------------------------------- */

/* Clean-up is this server's own affair: the host hears nothing of it. */
static pmix_status_t read_job_control(struct px_req *req, struct px_upcall *u)
{
    bool done = false;
    pmix_status_t rc = px_unpack_procs(&req->in, &u->procs, &u->n_procs);

    if (!rc)
        rc = px_peer_may_all(req->peer, u->procs, u->n_procs);
    if (!rc)
        rc = px_upcall_read_infos(req, &u->args);
    if (!rc)
        rc = px_cleanup_take(req->peer->server, req->peer, u->procs, u->n_procs,
                             &u->args, &done);
    u->number = done;
    return rc ? rc : px_infos_set_user(&u->args, req->peer);
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
    if (u->number)
        return answer_clean_up(u);
    return m->job_control ? m->job_control(&u->proc, u->procs, u->n_procs, u->args.v,
                                           u->args.n, px_upcall_info_cb, u)
                          : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_job_control(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_job_control, call_job_control,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

/* ---- log ----------------------------------------------------------------------------------------- */

static pmix_status_t read_log(struct px_req *req, struct px_upcall *u)
{
    time_t stamp;
    pmix_status_t rc = px_unpack1(&req->in, &stamp, PMIX_TIME);

    if (!rc)
        rc = px_upcall_read_infos(req, &u->args);
    if (!rc)
        rc = px_upcall_read_user_infos(req, &u->args2);
    if (!rc && stamp)
        rc = px_infos_add(&u->args2, PMIX_LOG_TIMESTAMP, &stamp, PMIX_TIME);
    return rc;
}

/* The older slot returns nothing: its callback is the only answer. */
static pmix_status_t call_log(const pmix_server_module_t *m, struct px_upcall *u)
{
    if (m->log2)
        return m->log2(&u->proc, u->args.v, u->args.n, u->args2.v, u->args2.n,
                       px_upcall_op_cb, u);
    m->log(&u->proc, u->args.v, u->args.n, u->args2.v, u->args2.n, px_upcall_op_cb, u);
    return PMIX_SUCCESS;
}

static pmix_status_t on_log(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_log, call_log, px_upcall_reply_status};

    return srv->module.log2 || srv->module.log ? px_upcall_pass(srv, req, &pass)
                                               : PMIX_ERR_NOT_SUPPORTED;
}

/* ---- monitoring ---------------------------------------------------------------------------------- */

static pmix_status_t read_monitor(struct px_req *req, struct px_upcall *u)
{
    pmix_info_t monitor;
    pmix_status_t rc = px_unpack1(&req->in, &monitor, PMIX_INFO);

    if (rc)
        return rc;
    rc = px_infos_add_copy(&u->args, &monitor, 1);
    px_type_destruct(PMIX_INFO, &monitor);
    if (!rc)
        rc = px_unpack_status(&req->in, &u->code);
    return rc ? rc : px_upcall_read_user_infos(req, &u->args2);
}

static pmix_status_t call_monitor(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->monitor ? m->monitor(&u->proc, u->args.v, u->code, u->args2.v, u->args2.n,
                                   px_upcall_info_cb, u)
                      : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_monitor(struct px_server *srv, struct px_req *req)
{
    static const struct px_pass pass = {read_monitor, call_monitor,
                                        px_upcall_reply_infos};

    return px_upcall_pass(srv, req, &pass);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_SPAWN, on_spawn},     {PX_OP_QUERY, on_query},
    {PX_OP_LOG, on_log},         {PX_OP_JOB_CONTROL, on_job_control},
    {PX_OP_MONITOR, on_monitor}, {0},
};

const struct px_server_part px_host_part = {.name = "host", .rpcs = rpcs};
