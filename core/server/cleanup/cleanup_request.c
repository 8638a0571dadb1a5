/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients ask to have cleaned up: checked against what is registered, and registered. All of a
 * request or nothing: it is read and checked before anything changes, then written to the journal in
 * one piece, and only then does it count. */
#include "core/server/cleanup/cleanup_impl.h"

#include "frameworks/pcleanup/pcleanup.h"

#include <string.h>

/* Times the entries: what has to be looked up. */
#define MAX_LOOKUPS (16u * PX_CLEANUP_MAX_ENTRIES)

/* What a target's scope gets: an entry, or other flags for one it has. */
struct change {
    struct px_cleanup_scope *scope;
    struct px_cleanup_entry *entry;
    uint8_t flags;
    bool is_new;
};

struct request {
    struct px_cleanup *registry;
    struct px_peer *peer;
    struct px_cleanup_wants wants;
    struct px_cleanup_scope **targets;
    size_t n_targets;
    struct change *changes;
    size_t n_changes, cap_changes;
    size_t n_new, new_b;
    struct px_cleanup_account *account;
};

/* ---- whose end it waits for --------------------------------------------------------------------- */

static pmix_status_t check_job(const struct request *q, const char *nspace)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, nspace);

    if (strcmp(nspace, q->peer->proc.nspace) == 0)
        return PMIX_SUCCESS;
    if (!ns || px_list_empty(&ns->locals))
        return PMIX_ERR_NOT_FOUND;
    return px_peer_may(q->peer, nspace) ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS;
}

static pmix_status_t check_target(const struct request *q, const pmix_proc_t *target)
{
    struct px_server *srv = q->registry->server;
    const struct px_local *local;

    if (target->rank == PMIX_RANK_WILDCARD)
        return check_job(q, target->nspace);
    if (px_proc_same(target, &q->peer->proc))
        return PMIX_SUCCESS;
    local = px_local_find(srv, target);
    if (!local)
        return PMIX_ERR_NOT_FOUND;
    return q->peer == srv->self || px_user_may(q->peer->uid, local->uid)
               ? PMIX_SUCCESS
               : PMIX_ERR_NO_PERMISSIONS;
}

/* Each once. */
static pmix_status_t add_target(struct request *q, const pmix_proc_t *target)
{
    struct px_cleanup_job *job = px_cleanup_job_get(q->registry, target->nspace);
    struct px_cleanup_scope *s = job ? px_cleanup_scope_get(job, target->rank) : NULL;

    if (!s)
        return PMIX_ERR_NOMEM;
    if (s->stamp != q->registry->last_stamp)
        q->targets[q->n_targets++] = s;
    s->stamp = q->registry->last_stamp;
    return PMIX_SUCCESS;
}

static pmix_status_t find_targets(struct request *q, const pmix_proc_t *procs, size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t own;

    px_proc_set(&own, q->peer->proc.nspace, PMIX_RANK_WILDCARD);
    if (n == 0) {
        procs = &own;
        n = 1;
    }
    if (n > MAX_LOOKUPS / (q->wants.n ? q->wants.n : 1))
        return PMIX_ERR_OUT_OF_RESOURCE;
    for (size_t i = 0; !rc && i < n; i++)
        rc = check_target(q, &procs[i]);
    if (rc || q->wants.n == 0)
        return rc;
    q->targets = calloc(n, sizeof *q->targets);
    q->registry->last_stamp++;
    rc = q->targets ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        rc = add_target(q, &procs[i]);
    return rc;
}

/* ---- what follows for each of them -------------------------------------------------------------- */

static pmix_status_t add_change(struct request *q, struct px_cleanup_scope *s,
                                struct px_cleanup_entry *e, uint8_t flags, bool is_new)
{
    struct change *bigger;
    size_t cap = q->cap_changes ? 2 * q->cap_changes : 16;

    if (q->n_changes == q->cap_changes) {
        bigger = realloc(q->changes, cap * sizeof *bigger);
        if (!bigger)
            return PMIX_ERR_NOMEM;
        q->changes = bigger;
        q->cap_changes = cap;
    }
    q->changes[q->n_changes++] = (struct change){s, e, flags, is_new};
    return PMIX_SUCCESS;
}

/* More than the client may have is told before it is all made. */
static pmix_status_t count_new(struct request *q, const char *path)
{
    const struct px_cleanup_account *a = q->account;

    q->n_new++;
    q->new_b += strlen(path);
    return a->n + q->n_new > PX_CLEANUP_MAX_ENTRIES ||
                   a->path_b + q->new_b > PX_CLEANUP_MAX_PATH_B
               ? PMIX_ERR_OUT_OF_RESOURCE
               : PMIX_SUCCESS;
}

static pmix_status_t add_entry(struct request *q, struct px_cleanup_scope *s,
                               const struct px_cleanup_want *w, const uint8_t *key,
                               size_t len)
{
    struct px_cleanup_entry *e;
    pmix_status_t rc = count_new(q, w->path);

    if (!rc && s->n_slots + q->n_new > PX_JOURNAL_MAX_SLOT)
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    e = rc ? NULL : calloc(1, sizeof *e + strlen(w->path) + 1);
    if (!e)
        return rc ? rc : PMIX_ERR_NOMEM;
    e->uid = q->peer->uid;
    e->gid = q->peer->gid;
    e->kind = w->kind;
    e->flags = w->kind == PX_RM_DIR ? q->wants.flags : 0;
    e->account = q->account;
    memcpy(e->path, w->path, strlen(w->path) + 1);
    rc = add_change(q, s, e, e->flags, true);
    if (rc) {
        free(e);
        return rc;
    }
    return px_map_put(&s->index, key, len, e, NULL);
}

/* Recursive wins, also over "only empty ones"; to leave the top wins. */
static uint8_t merge(uint8_t a, uint8_t b)
{
    return (uint8_t)((a | b) & (PX_RM_RECURSE | PX_RM_LEAVE_TOP)) |
           (uint8_t)(a & b & PX_RM_EMPTY);
}

static pmix_status_t plan_want(struct request *q, struct px_cleanup_scope *s,
                               const struct px_cleanup_want *w)
{
    uint8_t key[PX_CLEANUP_KEY_B];
    size_t len = px_cleanup_key(q->peer->uid, q->peer->gid, w->kind, w->path, key);
    struct px_cleanup_entry *e = px_map_get(&s->index, key, len);
    uint8_t flags;

    if (!e)
        return add_entry(q, s, w, key, len);
    if (e->kind != w->kind)
        return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    flags = e->kind == PX_RM_DIR ? merge(e->flags, q->wants.flags) : e->flags;
    return flags == e->flags ? PMIX_SUCCESS : add_change(q, s, e, flags, false);
}

static pmix_status_t plan(struct request *q)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < q->n_targets; i++)
        PX_LIST_EACH (&q->wants.list, struct px_cleanup_want, w, link)
            if (!rc)
                rc = plan_want(q, q->targets[i], w);
    return rc;
}

/* ---- who pays ----------------------------------------------------------------------------------- */

/* Tools come and go under new names; it is their user who has limits. */
static pmix_status_t find_account(struct request *q)
{
    struct px_cleanup *c = q->registry;
    const bool tool = q->peer->tool;
    struct px_cleanup_account *a;

    PX_LIST_EACH (&c->accounts, struct px_cleanup_account, old, link) {
        if (tool ? !old->proc.nspace[0] && old->uid == q->peer->uid
                 : px_proc_same(&old->proc, &q->peer->proc)) {
            q->account = old;
            return PMIX_SUCCESS;
        }
    }
    a = calloc(1, sizeof *a);
    if (!a)
        return PMIX_ERR_NOMEM;
    a->uid = q->peer->uid;
    if (!tool)
        a->proc = q->peer->proc;
    px_list_append(&c->accounts, &a->link);
    q->account = a;
    return PMIX_SUCCESS;
}

static void drop_empty_account(struct px_cleanup_account *a)
{
    if (!a || a->n > 0)
        return;
    px_list_remove(&a->link);
    free(a);
}

/* ---- all or nothing ----------------------------------------------------------------------------- */

static pmix_status_t write_down(struct request *q)
{
    struct px_journal_record *records;
    pmix_status_t rc = PMIX_SUCCESS;

    /* Before what is to be removed at their end: see wants. */
    for (size_t i = 0; !rc && i < q->n_targets; i++)
        rc = px_cleanup_seat_all(q->targets[i]);
    if (rc || q->n_changes == 0)
        return rc;
    records = calloc(q->n_changes, sizeof *records);
    if (!records)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < q->n_changes; i++) {
        const struct change *ch = &q->changes[i];

        if (ch->is_new)
            ch->entry->slot = ch->scope->n_slots++;
        records[i] = px_cleanup_item(ch->scope, ch->entry);
        records[i].flags = ch->flags;
    }
    rc = px_session_record_all(q->registry->server, records, q->n_changes);
    for (size_t i = 0; rc && i < q->n_changes; i++)
        q->changes[i].scope->n_slots -= q->changes[i].is_new;
    free(records);
    return rc;
}

static void commit(struct request *q)
{
    for (size_t i = 0; i < q->n_changes; i++) {
        const struct change *ch = &q->changes[i];

        ch->entry->flags = ch->flags;
        if (!ch->is_new)
            continue;
        px_list_append(&ch->scope->entries, &ch->entry->link);
        ch->scope->n_entries++;
    }
    q->registry->n_entries += q->n_new;
    q->account->n += q->n_new;
    q->account->path_b += q->new_b;
    for (size_t i = 0; i < q->n_targets; i++)
        px_cleanup_watch_scope(q->targets[i]);
}

static void undo(struct request *q)
{
    for (size_t i = q->n_changes; i-- > 0;) {
        const struct change *ch = &q->changes[i];

        if (ch->is_new)
            px_cleanup_entry_free(ch->scope, ch->entry);
    }
}

static pmix_status_t apply(struct request *q, const pmix_proc_t *procs, size_t n)
{
    pmix_status_t rc = find_targets(q, procs, n);

    if (rc || q->wants.n == 0)
        return rc;
    rc = find_account(q);
    if (!rc)
        rc = plan(q);
    if (!rc)
        rc = write_down(q);
    if (rc)
        undo(q);
    else
        commit(q);
    drop_empty_account(q->account);
    return rc;
}

/* ---- the way in --------------------------------------------------------------------------------- */

/* Without a group that the kernel or the host tells there is nothing to compare files with. */
static pmix_status_t is_possible(const struct px_server *srv,
                                 const struct px_peer *peer)
{
    if (!px_session_cleaner(srv) || peer->gid == (gid_t)-1)
        return PMIX_ERR_NOT_SUPPORTED;
    return srv->cleanup->stopping || !px_session_can_record(srv)
               ? PMIX_ERR_NOT_AVAILABLE
               : PMIX_SUCCESS;
}

/* What is left says how, not what. */
static bool are_qualifiers(const px_infos *infos)
{
    static const char *const qualifiers[] = {PMIX_USERID, PMIX_GRPID, PMIX_TIMEOUT,
                                             PMIX_JOB_CTRL_ID};

    for (size_t i = 0; i < infos->n; i++) {
        bool is_one = false;

        for (size_t k = 0; k < PX_COUNT(qualifiers); k++)
            is_one = is_one || PMIx_Check_key(infos->v[i].key, qualifiers[k]);
        if (!is_one)
            return false;
    }
    return true;
}

pmix_status_t px_cleanup_take(struct px_server *srv, struct px_peer *peer,
                              const pmix_proc_t *procs, size_t n_procs, px_infos *infos,
                              bool *only)
{
    struct request q = {.registry = srv->cleanup, .peer = peer};
    pmix_status_t rc;

    *only = false;
    rc = px_cleanup_wants_read(&q.wants, infos);
    if (q.wants.n_taken > 0) {
        if (!rc)
            rc = is_possible(srv, peer);
        if (!rc)
            rc = apply(&q, procs, n_procs);
        *only = are_qualifiers(infos);
    }
    px_cleanup_wants_fini(&q.wants);
    free(q.targets);
    free(q.changes);
    /* Who dies as soon as he has our answer must be known before. */
    if (q.n_targets > 0)
        px_pidof_hurry(srv->cleanup->pidof);
    /* Scopes may be due, as their processes have ended meanwhile, or have remained without an entry. */
    if (q.n_targets > 0)
        PX_LIST_EACH (&srv->cleanup->jobs, struct px_cleanup_job, job, link)
            px_cleanup_check(job);
    return rc;
}
