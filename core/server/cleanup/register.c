/* SPDX-License-Identifier: BSD-3-Clause */
/* Clean-up requests of clients, registered all or nothing. A request is checked before
 * anything changes, then written to the journal in one piece. Only then does it
 * count. */
#include "core/model/nspace.h"
#include "core/server/cleanup/cleanup.h"

#include "core/base/vec.h"
#include "core/server/cleanup/request.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

#include <string.h>

/* Bound of targets times paths, as each pair needs a lookup. */
#define MAX_LOOKUPS (16u * PX_CLEANUP_MAX_ENTRIES)

/* A change of a target's scope: a new entry, or other flags of a known entry. */
struct change {
    struct px_cleanup_entry *entry;
    uint16_t old_flags;
    bool is_new;
};

struct registration {
    struct px_cleanup *registry;
    struct px_peer *peer;
    const struct px_cleanup_request *request;
    struct px_cleanup_rank *payer;
    struct px_cleanup_scope **targets;
    size_t n_targets;
    struct change *changes;
    size_t n_changes, cap_changes;
};

/* ---- targets --------------------------------------------------------------------- */

/* True if the target is on this node. The user's authority was checked before. */
static bool is_here(const struct registration *q, const pmix_proc_t *target)
{
    struct px_server *srv = q->registry->server;
    const struct px_nspace *ns = px_nspace_find(srv->model, target->nspace);

    if (target->rank != PMIX_RANK_WILDCARD)
        return px_proc_same(target, &q->peer->proc) || px_local_find(srv, target);
    return strcmp(target->nspace, q->peer->proc.nspace) == 0 ||
           (ns && !px_list_empty(&ns->locals));
}

/* Adds a target's scope once. Finds its processes, which must be in the journal before
 * the paths to remove at their end. */
static pmix_status_t add_target(struct registration *q, const pmix_proc_t *target)
{
    struct px_cleanup_job *job = px_cleanup_job_get(q->registry, target->nspace);
    struct px_cleanup_scope *s = job ? px_cleanup_scope_get(job, target->rank) : NULL;

    if (!s)
        return PMIX_ERR_NOMEM;
    if (s->stamp == q->registry->last_stamp)
        return PMIX_SUCCESS;
    s->stamp = q->registry->last_stamp;
    q->targets[q->n_targets++] = s;
    return px_cleanup_find_procs(s, q->payer);
}

static pmix_status_t find_targets(struct registration *q, const pmix_proc_t *procs,
                                  size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t own;

    if (n == 0) {
        px_proc_set(&own, q->peer->proc.nspace, PMIX_RANK_WILDCARD);
        procs = &own;
        n = 1;
    }
    if (n > MAX_LOOKUPS / (q->request->n ? q->request->n : 1))
        return PMIX_ERR_OUT_OF_RESOURCE;
    for (size_t i = 0; i < n; i++)
        if (!is_here(q, &procs[i]))
            return PMIX_ERR_NOT_FOUND;
    if (px_list_empty(&q->request->wants))
        return PMIX_SUCCESS;
    q->payer = px_cleanup_payer(q->registry, q->peer);
    q->targets = q->payer ? calloc(n, sizeof(*q->targets)) : NULL;
    q->registry->last_stamp++;
    for (size_t i = 0; q->targets && !rc && i < n; i++)
        rc = add_target(q, &procs[i]);
    return q->targets ? rc : PMIX_ERR_NOMEM;
}

/* ---- changes for each target ----------------------------------------------------- */

/* Merges flags of two requests: RECURSE wins over EMPTY, and LEAVE_TOP wins. */
static uint16_t merge(uint16_t a, uint16_t b)
{
    return (uint16_t)(((a | b) & (PX_RM_RECURSE | PX_RM_LEAVE_TOP)) |
                      (a & b & PX_RM_EMPTY));
}

/* Plans the change for one path. Processes of one user must not ask to keep a path that
 * others ask to remove, whatever their scopes. */
static pmix_status_t plan_want(struct registration *q, struct px_cleanup_scope *s,
                               const struct px_cleanup_want *w)
{
    const uint16_t flags = w->kind == PX_RM_DIR ? q->request->flags : 0;
    const struct px_journal_record r = {.type = PX_JOURNAL_ITEM,
                                        .kind = w->kind,
                                        .flags = flags,
                                        .uid = q->peer->uid,
                                        .gid = q->peer->gid,
                                        .path = w->path};
    struct px_cleanup_entry *known = NULL;
    struct change change = {0};

    for (struct px_cleanup_entry *e =
             px_cleanup_find(q->registry, r.uid, r.kind, w->path);
         e; e = e->same) {
        if (e->scope->state != PX_CLEANUP_WAITS)
            continue;
        if (e->r.kind != w->kind)
            return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
        if (e->scope == s && e->r.gid == r.gid)
            known = e;
    }
    if (known && merge(known->r.flags, flags) == known->r.flags)
        return PMIX_SUCCESS;
    if (!known && (q->payer->n_paid == PX_CLEANUP_MAX_ENTRIES ||
                   q->payer->paid_b + strlen(w->path) > PX_CLEANUP_MAX_PATH_B))
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (!px_vec_reserve(&q->changes, q->n_changes, &q->cap_changes, 1))
        return PMIX_ERR_NOMEM;
    if (known) {
        change = (struct change){known, known->r.flags, false};
        known->r.flags = merge(known->r.flags, flags);
    } else {
        pmix_status_t rc = px_cleanup_entry_add(s, q->payer, &r, &change.entry);

        if (rc)
            return rc;
        change.is_new = true;
    }
    q->changes[q->n_changes++] = change;
    return PMIX_SUCCESS;
}

static void undo(struct registration *q)
{
    while (q->n_changes > 0) {
        const struct change *change = &q->changes[--q->n_changes];

        change->entry->r.flags = change->old_flags;
        if (change->is_new)
            px_cleanup_entry_free(change->entry);
    }
}

static pmix_status_t write_down(struct registration *q)
{
    PX_AUTOFREE struct px_journal_record *records = NULL;

    if (q->n_changes == 0)
        return PMIX_SUCCESS;
    records = calloc(q->n_changes, sizeof(*records));
    if (!records)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < q->n_changes; i++)
        records[i] = q->changes[i].entry->r;
    return px_session_record(q->registry->server, records, q->n_changes);
}

/* ---- the way in ------------------------------------------------------------------ */

pmix_status_t px_cleanup_apply(struct px_server *srv, struct px_peer *peer,
                               const pmix_proc_t *procs, size_t n_procs,
                               const struct px_cleanup_request *request,
                               bool only_check)
{
    struct registration q = {
        .registry = srv->part.cleanup, .peer = peer, .request = request};
    pmix_status_t rc = PMIX_SUCCESS;

    /* Without a group from kernel or host, files have nothing to be compared with. */
    if (!srv->part.session->cleaner || peer->gid == (gid_t)-1)
        rc = PMIX_ERR_NOT_SUPPORTED;
    if (!rc && (srv->part.cleanup->stopping || !px_session_can_record(srv)))
        rc = PMIX_ERR_NOT_AVAILABLE;
    if (!rc)
        rc = find_targets(&q, procs, n_procs);
    for (size_t i = 0; i < q.n_targets; i++)
        PX_LIST_EACH (&request->wants, struct px_cleanup_want, w, link)
            if (!rc)
                rc = plan_want(&q, q.targets[i], w);
    if (!rc && !only_check)
        rc = write_down(&q);
    if (rc || only_check)
        undo(&q);
    for (size_t i = 0; i < q.n_targets; i++)
        px_cleanup_watch_procs(q.targets[i]);
    free(q.targets);
    free(q.changes);
    /* Scopes may be due, as their processes have ended meanwhile. Others may be left
     * without an entry. */
    if (q.n_targets > 0)
        PX_LIST_EACH (&srv->part.cleanup->jobs, struct px_cleanup_job, job, link)
            px_cleanup_check(job);
    return rc;
}
