/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the host can do: spawn, query, log, allocation, job control. Decoded, handed over,
 * its answer packed. */
#include "core/model/jobinfo.h"
#include "core/server/upcall.h"

static pmix_status_t unpack_list(struct px_req *req, px_infos *out)
{
    pmix_status_t rc = px_unpack_infos(&req->in, &out->v, &out->n);

    out->cap = out->n;
    return rc;
}

/* STATUS, then infos. */
static void reply_infos(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    px_pack_infos(&w, answer->infos.v, answer->infos.n);
    px_req_reply(req, &w);
}

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

/* Whatever the client claimed: who asks is the parent. */
static pmix_status_t set_parent(px_infos *infos, const pmix_proc_t *parent)
{
    for (size_t i = 0; i < infos->n; i++) {
        if (PMIx_Check_key(infos->v[i].key, PMIX_PARENT_ID)) {
            px_type_destruct(PMIX_VALUE, &infos->v[i].value);
            return PMIx_Value_load(&infos->v[i].value, parent, PMIX_PROC);
        }
    }
    return px_infos_add(infos, PMIX_PARENT_ID, parent, PMIX_PROC);
}

static pmix_status_t read_spawn(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = unpack_list(req, &u->args);

    if (!rc)
        rc = px_unpack_size(&req->in, &u->n_apps);
    if (!rc)
        rc = px_unpack_array(&req->in, (void **)&u->apps, u->n_apps, PMIX_APP);
    if (rc)
        u->n_apps = 0;
    if (!rc && u->n_apps == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : set_parent(&u->args, &u->proc);
}

static pmix_status_t on_spawn(struct px_server *srv, struct px_req *req)
{
    struct px_upcall *u;
    pmix_status_t rc;

    if (!srv->module.spawn)
        return PMIX_ERR_NOT_SUPPORTED;
    u = px_upcall_for(req, reply_spawned);
    if (!u)
        return PMIX_ERR_NOMEM;
    rc = read_spawn(req, u);
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    px_upcall_returned(u, srv->module.spawn(&u->proc, u->args.v, u->args.n, u->apps,
                                            u->n_apps, px_upcall_spawn_cb, u));
    return PX_DEFERRED;
}

static pmix_status_t on_query(struct px_server *srv, struct px_req *req)
{
    struct px_upcall *u = px_upcall_for(req, reply_infos);
    pmix_status_t rc;

    if (!u)
        return PMIX_ERR_NOMEM;
    rc = px_unpack_size(&req->in, &u->n_queries);
    if (!rc)
        rc = px_unpack_array(&req->in, (void **)&u->queries, u->n_queries, PMIX_QUERY);
    if (rc) {
        u->n_queries = 0;
        px_upcall_drop(u);
        return rc;
    }
    rc = srv->module.query ? srv->module.query(&u->proc, u->queries, u->n_queries,
                                               px_upcall_info_cb, u)
                           : PMIX_ERR_NOT_SUPPORTED;
    px_upcall_returned(u, rc);
    return PX_DEFERRED;
}

static pmix_status_t on_alloc(struct px_server *srv, struct px_req *req)
{
    struct px_upcall *u = px_upcall_for(req, reply_infos);
    uint8_t directive;
    pmix_status_t rc;

    if (!u)
        return PMIX_ERR_NOMEM;
    rc = px_unpack_u8(&req->in, &directive, PMIX_ALLOC_DIRECTIVE);
    if (!rc)
        rc = unpack_list(req, &u->args);
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    rc = srv->module.allocate ? srv->module.allocate(&u->proc, directive, u->args.v,
                                                     u->args.n, px_upcall_info_cb, u)
                              : PMIX_ERR_NOT_SUPPORTED;
    px_upcall_returned(u, rc);
    return PX_DEFERRED;
}

static pmix_status_t on_job_control(struct px_server *srv, struct px_req *req)
{
    struct px_upcall *u = px_upcall_for(req, reply_infos);
    pmix_status_t rc;

    if (!u)
        return PMIX_ERR_NOMEM;
    rc = px_unpack_procs(&req->in, &u->procs, &u->n_procs);
    if (!rc)
        rc = px_peer_may_all(req->peer, u->procs, u->n_procs);
    if (!rc)
        rc = unpack_list(req, &u->args);
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    rc = srv->module.job_control
             ? srv->module.job_control(&u->proc, u->procs, u->n_procs, u->args.v,
                                       u->args.n, px_upcall_info_cb, u)
             : PMIX_ERR_NOT_SUPPORTED;
    px_upcall_returned(u, rc);
    return PX_DEFERRED;
}

/* The log slot returns nothing: its callback is the only answer. */
static pmix_status_t on_log(struct px_server *srv, struct px_req *req)
{
    struct px_upcall *u;
    time_t stamp;
    pmix_status_t rc;

    if (!srv->module.log)
        return PMIX_ERR_NOT_SUPPORTED;
    u = px_upcall_for(req, px_upcall_reply_status);
    if (!u)
        return PMIX_ERR_NOMEM;
    rc = px_unpack1(&req->in, &stamp, PMIX_TIME);
    if (!rc)
        rc = unpack_list(req, &u->args);
    if (!rc)
        rc = unpack_list(req, &u->args2);
    if (!rc && stamp)
        rc = px_infos_add(&u->args2, PMIX_LOG_TIMESTAMP, &stamp, PMIX_TIME);
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    srv->module.log(&u->proc, u->args.v, u->args.n, u->args2.v, u->args2.n,
                    px_upcall_op_cb, u);
    return PX_DEFERRED;
}

const struct px_rpc px_rpcs_host[] = {
    {PX_OP_SPAWN, on_spawn},
    {PX_OP_QUERY, on_query},
    {PX_OP_LOG, on_log},
    {PX_OP_ALLOC, on_alloc},
    {PX_OP_JOB_CONTROL, on_job_control},
    {0},
};
