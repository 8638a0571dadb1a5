/* SPDX-License-Identifier: BSD-3-Clause */
/* Services of the server for the built-in host alone. host.h names the files of the
 * other services. */
#include "core/server/host.h"

#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/cleanup/cleanup.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"
#include "core/server/peer/timeline.h"

#include <string.h>

void *px_server_builtin_self(void)
{
    return px_process.server->builtin;
}

const pmix_proc_t *px_server_name(const struct px_server *srv)
{
    return &srv->proc;
}

const char *px_server_dir(const struct px_server *srv)
{
    return srv->dir;
}

void px_server_drop_dir(struct px_server *srv, const char *path, const struct stat *st)
{
    px_cleanup_drop(srv, path, st);
}

bool px_server_has_peer(struct px_server *srv, const pmix_proc_t *proc)
{
    return px_peer_find(srv, proc) != NULL;
}

bool px_server_others_work(const struct px_server *srv, const pmix_proc_t *proc,
                           const char *nspace, uint64_t turn)
{
    PX_LIST_EACH (&srv->peers, const struct px_peer, p, link)
        if (p->turn >= turn && !px_proc_same(&p->proc, proc) &&
            strcmp(p->proc.nspace, nspace) != 0)
            return true;
    return false;
}

void px_server_client_started(struct px_server *srv, const pmix_proc_t *proc, pid_t pid)
{
    struct px_local *local = px_local_find(srv, proc);

    if (local)
        local->pid = pid;
    px_timeline_stamp(local, PX_STEP_FORK);
    px_cleanup_proc_started(srv, proc, pid);
}

void px_server_client_runs(struct px_server *srv, const pmix_proc_t *proc)
{
    px_timeline_stamp(px_local_find(srv, proc), PX_STEP_EXEC);
}

void px_server_client_revives(struct px_server *srv, const pmix_proc_t *proc,
                              bool revives)
{
    struct px_cleanup_job *job = px_cleanup_job_find(srv->part.cleanup, proc->nspace);
    struct px_cleanup_rank *r = job ? px_cleanup_rank_find(job, proc->rank) : NULL;

    if (r)
        r->revives = revives;
    if (job && !revives)
        px_cleanup_check(job);
}

bool px_server_client_settled(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_cleanup_job *job = px_cleanup_job_find(srv->part.cleanup, proc->nspace);

    if (!job)
        return true;
    PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
        if ((!s->rank || s->rank->rank == proc->rank) &&
            (s->state == PX_CLEANUP_DUE || s->state == PX_CLEANUP_RUNS))
            return false;
    return true;
}

/* Resets a client before its restart. Connections of the old process are closed: a
 * child that it left behind may still have them. */
pmix_status_t px_server_restart_client(struct px_server *srv, const pmix_proc_t *proc,
                                       uint32_t n)
{
    const pmix_value_t count = {.type = PMIX_UINT32, .data.uint32 = n};
    struct px_local *local = px_local_find(srv, proc);

    if (!local)
        return PMIX_ERR_NOT_FOUND;
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (p->local == local)
            px_server_peer_lost(srv, p, PMIX_SUCCESS);
    local->connected = local->finalized = local->committed = false;
    local->lost = local->last_ms = 0;
    local->commit_status = PMIX_SUCCESS;
    local->end_reported = local->exited = false;
    px_timeline_reset(local);
    px_store_clear(&local->ns->store, PX_GDS_LOCAL, proc->rank);
    px_store_clear(&local->ns->store, PX_GDS_REMOTE, proc->rank);
    return px_store_put(&local->ns->store, PX_GDS_JOB, proc->rank, PMIX_REINCARNATION,
                        &count);
}

uint64_t px_server_client_lost(struct px_server *srv, const pmix_proc_t *proc)
{
    const struct px_local *local = px_local_find(srv, proc);

    return local ? local->lost : 0;
}

bool px_server_any_lost(const char *nspace, uint64_t before,
                        bool (*counts)(void *arg, pmix_rank_t rank), void *arg)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, nspace);

    if (!ns)
        return false;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        if (l->lost && (!before || l->lost < before) && counts(arg, l->rank))
            return true;
    return false;
}
