/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered clean-up: when each scope is due and what follows, and the registry's
 * start and end. */
#include "core/server/cleanup/cleanup.h"

#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/peer/peer.h"
#include "core/server/query/answers.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/pcleanup.h"

#include <string.h>

/* Scopes of one user that run at the same time. The user's processes may delay them, so
 * scopes of other users must get their turn. */
enum { AT_ONCE = 2 };

/* ---- due scopes ------------------------------------------------------------------ */

static bool rank_ended(const struct px_cleanup_rank *r)
{
    return px_list_empty(&r->procs) && (r->reported || (r->seen && !r->lost));
}

/* True if all ranks of the job on this node have ended. Clients that have not connected
 * yet count, also those of which the host registered only the number. */
static bool job_ended(const struct px_cleanup_job *job)
{
    const struct px_nspace *ns = px_cleanup_nspace(job);
    uint32_t n_registered = 0;

    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        if (!rank_ended(r) || (r->revives && !job->gone))
            return false;
    if (!ns)
        return true;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
        if (!px_cleanup_rank_find(job, l->rank))
            return false;
        n_registered++;
    }
    return n_registered >= ns->n_local;
}

static bool is_due(const struct px_cleanup_scope *s)
{
    const struct px_cleanup_job *job = s->job;

    if (s->n_entries == 0)
        return true;
    /* The job's scope runs last: paths that it keeps are kept for its ranks, too. */
    PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, other, link)
        if (!s->rank && other->rank &&
            (other->state == PX_CLEANUP_DUE || other->state == PX_CLEANUP_RUNS))
            return false;
    if (job->registry->stopping) {
        PX_CLEANUP_EACH_PROC (job, p)
            if (px_cleanup_waits_for(s, p->rank) && px_cleanup_proc_lives(p))
                return false;
        return true;
    }
    if (strcmp(job->nspace, job->registry->server->proc.nspace) == 0)
        return false; /* the server's own job */
    return s->rank ? rank_ended(s->rank) : job_ended(job);
}

/* ---- runs ------------------------------------------------------------------------ */

static bool is_own(const struct px_cleanup_scope *s)
{
    return s->job == s->job->registry->own;
}

static uid_t user_of(const struct px_cleanup_scope *s)
{
    return PX_CONTAINER_OF(s->entries.next, struct px_cleanup_entry, link)->r.uid;
}

static void scope_done(struct px_cleanup_scope *s)
{
    px_cleanup_record_done(s);
    px_cleanup_scope_free(s);
}

static void scope_failed(struct px_cleanup_scope *s, pmix_status_t status)
{
    if (is_own(s)) { /* its folder is removed with the private folder */
        scope_done(s);
        return;
    }
    px_log(PX_LOG_WARN, "cleanup", "cannot clean up after %s: %s", s->job->nspace,
           PMIx_Error_string(status));
    s->state = PX_CLEANUP_FAILED;
}

/* Ends the registry's work: the server ends, and no clean-up is running. */
static void finished(struct px_cleanup *c)
{
    PX_CLEANUP_EACH_SCOPE (c, s)
        c->left = c->left || (s->n_entries > 0 && !is_own(s));
    px_timer_free(px_take(&c->deadline));
    px_call_done(px_take(&c->waiter), PMIX_SUCCESS);
}

void px_cleanup_finish_if_idle(struct px_cleanup *c)
{
    if (c->waiter && c->n_running + c->server->part.session->n_reclaiming == 0)
        finished(c);
}

static void start_next_of(struct px_cleanup *c, uid_t user);

static void on_ran(void *arg, pmix_status_t status,
                   const struct px_pcleanup_totals *totals)
{
    struct px_cleanup_scope *s = arg;
    struct px_cleanup_job *job = s->job;
    struct px_cleanup *c = job->registry;
    uid_t user = user_of(s);

    c->n_running--;
    if (totals)
        px_pcleanup_add(is_own(s) ? &c->server->part.session->removed : &c->removed,
                        totals);
    if (status)
        scope_failed(s, status);
    else
        scope_done(s);
    px_cleanup_check(job);
    start_next_of(c, user);
    if (!c->stopping)
        px_cleanup_compact(c);
    px_cleanup_finish_if_idle(c);
}

/* Starts a scope. False if the component cannot remove it. */
static bool scope_start(struct px_cleanup_scope *s)
{
    struct px_cleanup *c = s->job->registry;
    const struct px_module *m = c->server->part.session->cleaner;
    pmix_status_t rc = PMIX_ERR_NOT_AVAILABLE;

    s->state = PX_CLEANUP_RUNS;
    if (m)
        rc = PX_OPS(pcleanup, m)->run(m->self, s->id, on_ran, s);
    if (!rc)
        return true;
    c->n_running--;
    scope_failed(s, rc);
    return false;
}

static void start_next_of(struct px_cleanup *c, uid_t user)
{
    PX_CLEANUP_EACH_SCOPE (c, s)
        if (s->state == PX_CLEANUP_DUE && user_of(s) == user && scope_start(s))
            return;
}

static void scope_run(struct px_cleanup_scope *s)
{
    struct px_cleanup *c = s->job->registry;
    unsigned n = 0;

    PX_CLEANUP_EACH_SCOPE (c, other)
        n += other->state == PX_CLEANUP_RUNS && user_of(other) == user_of(s);
    c->n_running++;
    if (n >= AT_ONCE)
        s->state = PX_CLEANUP_DUE;
    else
        (void)scope_start(s);
}

/* Moves the paths that a process wanted kept to the job's scope. They are kept until
 * the job has ended. */
static void leave_ignored(struct px_cleanup_scope *s)
{
    PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link) {
        struct px_cleanup_entry *other;
        struct px_cleanup_scope *all;
        pmix_status_t rc;

        if (!s->rank || e->r.kind != PX_RM_KEEP)
            continue;
        all = px_cleanup_scope_get(s->job, PMIX_RANK_WILDCARD);
        other = px_cleanup_find(s->job->registry, e->r.uid, e->r.kind, e->path);
        while (other && (other->scope != all || other->r.gid != e->r.gid))
            other = other->same;
        if (other)
            continue;
        rc = all ? px_cleanup_entry_add(all, e->payer, &e->r, &other) : PMIX_ERR_NOMEM;
        if (!rc)
            rc = px_session_record(s->job->registry->server, &other->r, 1);
        if (rc)
            px_log(PX_LOG_WARN, "cleanup", "cannot keep ignoring %s: %s", e->path,
                   PMIx_Error_string(rc));
    }
}

static void end_due(struct px_cleanup_job *job, bool of_ranks)
{
    PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link) {
        if (!s->rank == of_ranks || s->state != PX_CLEANUP_WAITS || !is_due(s))
            continue;
        leave_ignored(s);
        if (s->n_entries > 0)
            scope_run(s);
        else
            scope_done(s);
    }
}

void px_cleanup_check(struct px_cleanup_job *job)
{
    const struct px_cleanup *c = job->registry;

    if (job == c->own || (c->stopping && !c->waiter))
        return;
    end_due(job, true);
    end_due(job, false);
    px_cleanup_job_release(job);
}

void px_cleanup_drop(struct px_server *srv, const char *path, const struct stat *st)
{
    struct px_cleanup_scope *s = NULL;

    if (srv->part.session->cleaner && px_session_can_record(srv))
        s = px_made_scope(srv, path, st);
    if (s)
        scope_run(s);
}

/* ---- totals, by query ------------------------------------------------------------ */

#define KEY "tenon.cleanup"

/* Answers with an array of infos, only once if the query repeats the key. */
static pmix_status_t answer(struct px_server *srv, const pmix_query_t *q PX_UNUSED,
                            const char *key PX_UNUSED, struct px_answers *a)
{
    struct px_cleanup *c = srv->part.cleanup;
    const struct px_pcleanup_totals *own = &srv->part.session->removed;
    PX_AUTO(px_infos) members = {0};
    uint64_t n_scopes = 0;
    const struct {
        const char *key;
        const uint64_t *value;
    } rows[] = {
        {KEY ".registered", &c->n_entries},
        {KEY ".scopes", &n_scopes},
        {KEY ".files", &c->removed.files},
        {KEY ".dirs", &c->removed.dirs},
        {KEY ".kept", &c->removed.kept},
        {KEY ".foreign", &c->removed.foreign},
        {KEY ".failed", &c->removed.failed},
        {KEY ".reclaimed.files", &own->files},
        {KEY ".reclaimed.dirs", &own->dirs},
        {KEY ".reclaimed.kept", &own->kept},
        {KEY ".reclaimed.foreign", &own->foreign},
        {KEY ".reclaimed.failed", &own->failed},
        {KEY ".reclaimed.places", &srv->part.session->n_reclaimed},
        {KEY ".reclaiming", &srv->part.session->n_reclaiming},
    };
    pmix_status_t rc = PMIX_SUCCESS;

    if (px_info_find(a->infos.v, a->infos.n, KEY))
        return PMIX_SUCCESS;
    PX_CLEANUP_EACH_SCOPE (c, s)
        n_scopes += !is_own(s) && s->n_entries > 0 && s->state != PX_CLEANUP_FAILED;
    for (size_t i = 0; !rc && i < PX_COUNT(rows); i++)
        rc = px_infos_add(&members, rows[i].key, rows[i].value, PMIX_UINT64);
    return rc ? rc : px_infos_add_array(&a->infos, KEY, &members);
}

static const struct px_query_key query_keys[] = {{KEY, answer, NULL, false}, {0}};

/* ---- life ------------------------------------------------------------------------ */

static void on_deadline(void *arg)
{
    struct px_cleanup *c = arg;

    if (c->n_running > 0)
        px_log(PX_LOG_WARN, "cleanup",
               "cannot wait for %zu clean-ups (server_cleanup_timeout)", c->n_running);
    finished(c);
}

void px_cleanup_finish(struct px_server *srv, struct px_call *call)
{
    struct px_cleanup *c = srv->part.cleanup;

    c->stopping = true;
    px_cleanup_end_groups(c);
    c->waiter = call;
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        px_cleanup_check(job);
    c->deadline = px_timer_create(srv->loop, on_deadline, c);
    if (c->deadline)
        px_timer_set(c->deadline, srv->conf.cleanup_timeout);
    else
        on_deadline(c);
    px_cleanup_finish_if_idle(c);
}

const struct px_server_part px_cleanup_part = {
    .name = "cleanup",
    PX_PART_STATE(cleanup, struct px_cleanup),
    .query_keys = query_keys,
    .create = px_registry_create,
    .destroy = px_registry_destroy,
    .peer_here = px_cleanup_peer_here,
    .peer_gone = px_cleanup_peer_gone,
    .proc_ended = px_cleanup_proc_ended,
    .nspace_gone = px_cleanup_nspace_gone,
};
