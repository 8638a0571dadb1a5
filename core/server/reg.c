/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of namespaces and clients by the host. The public functions block
 * without a callback. On the loop thread, where hosts call from inside upcalls, they
 * run at once. */
#include "core/base/str.h"
#include "core/link/api.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/rt/loop.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/fabric/apply.h"
#include "core/server/fabric/values.h"
#include "core/server/host.h"
#include "core/server/nspaces/nspaces.h"
#include "core/server/op.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"
#include "core/server/peer/timeline.h"
#include "core/wire/requests.h"

#include <stdio.h>
#include <string.h>

struct reg {
    struct px_server_op op;
    pmix_proc_t proc;
    int n_local;
    uid_t uid;
    gid_t gid;
    void *object;
};

/* ---- on the loop ----------------------------------------------------------------- */

/* Removes the namespace of a tool or of a group: the host's registration of that name
 * replaces it. Returns a namespace that stays, or NULL. */
static struct px_nspace *free_name(struct px_server *srv, const char *nspace)
{
    struct px_nspace *ns = px_nspace_find(srv->model, nspace);
    struct px_joined *j = ns && ns->assembly ? px_joined_find(srv, nspace) : NULL;

    if (j && j->is_group) {
        px_joint_end(j);
        return px_nspace_find(srv->model, nspace); /* of the host */
    }
    if (!ns || !px_nspace_is_tools(ns))
        return ns;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
        PX_PARTS_NOTIFY(srv, local_gone, l);
        px_local_free(srv, l);
    }
    px_nspace_remove(srv->model, ns);
    return NULL;
}

pmix_status_t px_server_add_nspace(struct px_server *srv, const char *nspace,
                                   uint32_t n_local, const pmix_info_t *info, size_t n,
                                   struct px_err *err)
{
    struct px_nspace *ns = free_name(srv, nspace);
    const bool is_new = !ns;
    pmix_status_t rc = ns ? PMIX_SUCCESS : px_nspace_get(srv->model, nspace, &ns);

    if (rc)
        return px_err_set(err, rc, "cannot register namespace %s", nspace);
    if (!ns->hosted)
        px_store_share(&ns->store, nspace);
    if (!px_info_flag(info, n, PMIX_REGISTER_NODATA)) {
        rc = px_jobinfo_register(srv->model, ns, info, n, err);
        if (!rc)
            rc = px_values_registered(srv, ns, err);
        if (!rc)
            rc = px_pnet_registered(srv, nspace, err);
        if (rc) {
            if (is_new)
                px_nspace_remove(srv->model, ns);
            return rc;
        }
    }
    ns->n_local = n_local;
    ns->complete = ns->hosted = true;
    return PMIX_SUCCESS;
}

pmix_status_t px_server_describe_nspace(struct px_server *srv, const char *nspace,
                                        const pmix_info_t *info, size_t n,
                                        struct px_err *err)
{
    struct px_nspace *ns = px_nspace_find(srv->model, nspace);

    return ns ? px_jobinfo_register(srv->model, ns, info, n, err)
              : px_err_set(err, PMIX_ERR_NOT_FOUND,
                           "cannot describe namespace %s: it "
                           "is not registered",
                           nspace);
}

void px_server_drop_nspace(struct px_server *srv, const char *nspace)
{
    struct px_nspace *ns = px_nspace_find(srv->model, nspace);

    PX_PARTS_NOTIFY(srv, nspace_gone, nspace, ns);
    if (!ns)
        return;
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        if (strcmp(p->proc.nspace, ns->name) == 0)
            px_server_peer_lost(srv, p, PMIX_SUCCESS); /* the host is aware of it */
    }
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        px_local_free(srv, l);
    if (ns != srv->model->own) /* this process's own namespace stays */
        px_nspace_remove(srv->model, ns);
}

/* Closes tools of other users that took the name before it was registered. A tool of
 * the user is a connection of the rank. */
static void settle_tools(struct px_server *srv, const pmix_proc_t *proc,
                         struct px_local *local)
{
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        if (!p->tool || strcmp(p->proc.nspace, proc->nspace) != 0)
            continue;
        if (p->uid == local->uid) {
            if (!p->local && !p->finalized && p->proc.rank == proc->rank)
                px_local_join(local, p);
            continue;
        }
        px_log(PX_LOG_WARN, "server",
               "tool of uid %u disconnected: it had the name %s.%u", (unsigned)p->uid,
               p->proc.nspace, p->proc.rank);
        px_server_peer_lost(srv, p, PMIX_SUCCESS);
    }
}

pmix_status_t px_server_add_client(struct px_server *srv, const pmix_proc_t *proc,
                                   uid_t uid, gid_t gid, void *object)
{
    struct px_nspace *ns = free_name(srv, proc->nspace);
    /* Hosts register clients before their namespace, too. */
    pmix_status_t rc = ns ? PMIX_SUCCESS : px_nspace_get(srv->model, proc->nspace, &ns);
    const struct px_local *before = rc ? NULL : px_local_before(ns, proc->rank);
    struct px_local *local = rc ? NULL : px_local_get(ns, proc->rank);

    if (!local)
        return rc ? rc : PMIX_ERR_NOMEM;
    if (!local->timeline && px_timeline_create(srv, &local->timeline)) {
        if (local != before)
            px_local_free(srv, local);
        return PMIX_ERR_NOMEM;
    }
    if (!ns->hosted)
        px_store_share(&ns->store, ns->name);
    ns->hosted = true;
    local->uid = uid;
    local->gid = gid;
    local->object = object;
    local->end_reported &= !local->of_tool;
    local->of_tool = false;
    settle_tools(srv, proc, local);
    return PMIX_SUCCESS;
}

static void drop_client(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_local *local = px_local_find(srv, proc);

    if (!local)
        return;
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        if (p->local == local)
            px_server_peer_lost(srv, p, PMIX_SUCCESS);
    }
    PX_PARTS_NOTIFY(srv, rank_gone, proc);
    PX_PARTS_NOTIFY(srv, local_gone, local);
    PX_PARTS_NOTIFY(srv, proc_ended, proc);
    if (local->ns->n_local > 0)
        local->ns->n_local--;
    px_local_free(srv, local);
}

/* ---- jobs of one process --------------------------------------------------------- */

pmix_status_t px_server_describe_one(const struct px_server *srv, pmix_rank_t rank,
                                     uid_t uid, px_infos *infos)
{
    const uint32_t one = 1;
    char text[16];
    const struct px_fact facts[] = {
        {PMIX_NODE_MAP, srv->model->hostname, PMIX_STRING},
        {PMIX_PROC_MAP, text, PMIX_STRING},
        {PMIX_JOB_SIZE, &one, PMIX_UINT32},
        {PMIX_USERID, &uid, PMIX_UINT32}, /* other users may not read the job */
    };

    snprintf(text, sizeof(text), "%u", rank);
    return px_facts_add(infos, facts, PX_COUNT(facts));
}

pmix_status_t px_server_add_singleton(struct px_server *srv, const char *name,
                                      struct px_err *err)
{
    const char *dot = strrchr(name, '.');
    const size_t len = dot ? (size_t)(dot - name) : 0;
    PX_AUTO(px_infos) infos = {0};
    const uint32_t one = 1;
    pmix_proc_t proc;
    uint64_t rank;

    if (len == 0 || len > PMIX_MAX_NSLEN ||
        !px_str_to_u64(dot + 1, 0, PMIX_RANK_VALID - 1, &rank))
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot serve PMIX_SINGLETON \"%s\": expected a namespace, a "
                          "dot and a rank",
                          name);
    PX_AUTOFREE char *nspace = strndup(name, len);
    pmix_status_t rc = nspace ? px_server_describe_one(srv, (pmix_rank_t)rank,
                                                       geteuid(), &infos)
                              : PMIX_ERR_NOMEM;
    if (!rc)
        rc = px_infos_add(&infos, PMIX_UNIV_SIZE, &one, PMIX_UINT32);
    if (rc)
        return px_err_nomem(err, "register a singleton");
    px_proc_set(&proc, nspace, (pmix_rank_t)rank);
    rc = px_server_add_nspace(srv, nspace, 1, infos.v, infos.n, err);
    return rc ? rc : px_server_add_client(srv, &proc, geteuid(), getegid(), NULL);
}

/* ---- ends ------------------------------------------------------------------------ */

void px_server_client_ended(struct px_server *srv, const pmix_proc_t *proc,
                            int exit_code)
{
    struct px_local *local = px_local_find(srv, proc);

    if (local) {
        local->exited = true;
        local->exit_code = exit_code;
    }
    PX_PARTS_NOTIFY(srv, proc_ended, proc);
    if (!local)
        return;
    if (!local->finalized)
        px_local_lost(srv, local);
    PX_PARTS_NOTIFY(srv, rank_gone, proc);
}

/* ---- the public functions -------------------------------------------------------- */

static pmix_status_t run_add_nspace(struct px_server *srv,
                                    const struct px_server_op *op)
{
    const struct reg *r = PX_CONTAINER_OF(op, struct reg, op);
    struct px_err err = {0};
    pmix_status_t rc = px_server_add_nspace(srv, r->proc.nspace, (uint32_t)r->n_local,
                                            op->api.args.info.v, op->api.args.info.n,
                                            &err);

    if (rc)
        px_log(PX_LOG_ERROR, "server", "cannot register namespace %s: %s",
               r->proc.nspace, err.text);
    return rc;
}

static pmix_status_t run_drop_nspace(struct px_server *srv,
                                     const struct px_server_op *op)
{
    const struct reg *r = PX_CONTAINER_OF(op, struct reg, op);

    px_server_drop_nspace(srv, r->proc.nspace);
    return PMIX_SUCCESS;
}

static void on_local_support(void *arg, pmix_status_t status, const char *why)
{
    if (status)
        px_log(PX_LOG_ERROR, "server", "%s", why);
    px_api_done(arg, status);
}

/* Runs at once, without a trial, in a blocking call from an upcall: that call runs on
 * the loop and cannot wait. */
static pmix_status_t run_local_support(struct px_server *srv,
                                       const struct px_server_op *op)
{
    struct reg *r = PX_CONTAINER_OF(op, struct reg, op);
    const px_infos *info = &op->api.args.info;
    struct px_err err = {0};

    if (op->api.call || op->api.cb) {
        px_pnet_apply(srv, r->proc.nspace, info->v, info->n, on_local_support,
                      &r->op.api);
        return PX_DEFERRED;
    }
    pmix_status_t rc = px_pnet_apply_untried(srv, r->proc.nspace, info->v, info->n,
                                             &err);
    if (rc)
        px_log(PX_LOG_ERROR, "server", "%s", err.text);
    return rc;
}

static pmix_status_t run_add_client(struct px_server *srv,
                                    const struct px_server_op *op)
{
    const struct reg *r = PX_CONTAINER_OF(op, struct reg, op);

    return px_server_add_client(srv, &r->proc, r->uid, r->gid, r->object);
}

static pmix_status_t run_drop_client(struct px_server *srv,
                                     const struct px_server_op *op)
{
    const struct reg *r = PX_CONTAINER_OF(op, struct reg, op);

    drop_client(srv, &r->proc);
    return PMIX_SUCCESS;
}

static struct reg reg_of(pmix_status_t (*run)(struct px_server *srv,
                                              const struct px_server_op *op),
                         const pmix_info_t *info, size_t n, pmix_op_cbfunc_t cb,
                         void *cbdata)
{
    return (struct reg){.op = {.run = run,
                               .api = {.request = info || n ? &px_request_infos : NULL,
                                       .args.info = px_infos_borrow(info, n),
                                       .cb = cb,
                                       .cbdata = cbdata}}};
}

/* Runs the call for a namespace or one of its ranks. */
static pmix_status_t submit(struct reg *r, const char *nspace, pmix_rank_t rank)
{
    bool sound = nspace && nspace[0] &&
                 strnlen(nspace, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;

    if (sound)
        px_proc_set(&r->proc, nspace, rank);
    return px_server_submit(&r->op, sizeof(*r), sound);
}

PX_EXPORT pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace,
                                                    int nlocalprocs, pmix_info_t info[],
                                                    size_t ninfo,
                                                    pmix_op_cbfunc_t cbfunc,
                                                    void *cbdata)
{
    struct reg r = reg_of(run_add_nspace, info, ninfo, cbfunc, cbdata);

    r.n_local = nlocalprocs > 0 ? nlocalprocs : 0;
    return px_server_answer(submit(&r, nspace, PMIX_RANK_UNDEF), cbfunc);
}

PX_EXPORT void PMIx_server_deregister_nspace(const pmix_nspace_t nspace,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct reg r = reg_of(run_drop_nspace, NULL, 0, cbfunc, cbdata);
    pmix_status_t rc = submit(&r, nspace, PMIX_RANK_UNDEF);

    if (rc && cbfunc)
        cbfunc(rc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                                        pmix_info_t info[],
                                                        size_t ninfo,
                                                        pmix_op_cbfunc_t cbfunc,
                                                        void *cbdata)
{
    struct reg r = reg_of(run_local_support, info, ninfo, cbfunc, cbdata);

    r.op.api.function = "PMIx_server_setup_local_support";
    return px_server_answer(submit(&r, nspace, PMIX_RANK_UNDEF), cbfunc);
}

PX_EXPORT pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid,
                                                    gid_t gid, void *server_object,
                                                    pmix_op_cbfunc_t cbfunc,
                                                    void *cbdata)
{
    struct reg r = reg_of(run_add_client, NULL, 0, cbfunc, cbdata);
    bool sound = proc && proc->rank < PMIX_RANK_VALID;

    r.uid = uid;
    r.gid = gid;
    r.object = server_object;
    return px_server_answer(
        submit(&r, sound ? proc->nspace : NULL, sound ? proc->rank : 0), cbfunc);
}

PX_EXPORT void PMIx_server_deregister_client(const pmix_proc_t *proc,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct reg r = reg_of(run_drop_client, NULL, 0, cbfunc, cbdata);
    pmix_status_t rc = submit(&r, proc ? proc->nspace : NULL, proc ? proc->rank : 0);

    if (rc && cbfunc)
        cbfunc(rc, cbdata);
}
