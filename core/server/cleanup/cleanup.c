/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered clean-up: when the time of a scope has come, and what follows; its beginning and end. */
#include "core/server/cleanup/cleanup_impl.h"

#include "core/rt/log.h"
#include "frameworks/pcleanup/pcleanup.h"

#include <string.h>

/* Scopes of one user: he can hold up what becomes him, and others shall have their turn all the same. */
enum { AT_ONCE = 2 };

/* ---- their time --------------------------------------------------------------------------------- */

static bool rank_ended(const struct px_cleanup_rank *r)
{
    return px_list_empty(&r->procs) && (r->reported || (r->seen && !r->lost));
}

/* Clients that have not come yet count, too, and those whom the host has announced by their number only:
 * their job is not over. */
static bool job_ended(const struct px_cleanup_job *job)
{
    const struct px_nspace *ns = px_cleanup_nspace(job);
    uint32_t n_registered = 0;

    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        if (!rank_ended(r))
            return false;
    if (!ns)
        return true;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
        if (!l->cleanup)
            return false;
        n_registered++;
    }
    return n_registered >= ns->n_local;
}

/* Nothing is to be removed: it stands there for the processes that end with this one. */
static bool any_ours(const struct px_cleanup_job *job)
{
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
            if (p->ours)
                return true;
    return false;
}

static bool is_due(const struct px_cleanup_scope *s)
{
    const struct px_cleanup_job *job = s->job;

    if (s->n_entries == 0)
        return !any_ours(job);
    if (strcmp(job->nspace, job->registry->server->proc.nspace) == 0)
        return false; /* this very process's */
    return s->who ? rank_ended(s->who) : job_ended(job);
}

static bool any_left(const struct px_cleanup *c)
{
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
            if (s->n_entries > 0 || any_ours(job))
                return true;
    return false;
}

static void finished(struct px_cleanup *c)
{
    void (*done)(void *arg, bool left) = c->done;

    c->done = NULL;
    px_timer_free(c->deadline);
    c->deadline = NULL;
    done(c->done_arg, any_left(c));
}

static void scope_done(struct px_cleanup_scope *s)
{
    px_cleanup_record_done(s);
    px_cleanup_scope_free(s);
}

static uid_t user_of(const struct px_cleanup_scope *s)
{
    return PX_CONTAINER_OF(s->entries.next, struct px_cleanup_entry, link)->uid;
}

static unsigned n_runs_of(const struct px_cleanup *c, uid_t user)
{
    unsigned n = 0;

    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
            n += s->state == PX_CLEANUP_RUNS && user_of(s) == user;
    return n;
}

static void scope_failed(struct px_cleanup_scope *s, pmix_status_t status)
{
    px_log(PX_LOG_WARN, "cleanup", "cannot clean up after %s: %s", s->job->nspace,
           PMIx_Error_string(status));
    s->state = PX_CLEANUP_FAILED;
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
        px_pcleanup_add(&c->totals, totals);
    if (status)
        scope_failed(s, status);
    else
        scope_done(s);
    px_cleanup_job_tidy(job);
    start_next_of(c, user);
    if (!c->stopping)
        px_session_compact(c->server, px_cleanup_rewrite);
    if (c->done && c->n_running == 0)
        finished(c);
}

/* False if nobody can do it. */
static bool scope_start(struct px_cleanup_scope *s)
{
    struct px_cleanup *c = s->job->registry;
    const struct px_module *m = px_session_cleaner(c->server);
    pmix_status_t rc = PMIX_ERR_NOT_AVAILABLE;

    s->state = PX_CLEANUP_RUNS;
    if (m)
        rc = px_pcleanup_ops(m)->run(m->self, s->id, on_ran, s);
    if (!rc)
        return true;
    scope_failed(s, rc);
    c->n_running--;
    return false;
}

static void start_next_of(struct px_cleanup *c, uid_t user)
{
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
            if (s->state == PX_CLEANUP_DUE && user_of(s) == user && scope_start(s))
                return;
}

static void scope_run(struct px_cleanup_scope *s)
{
    struct px_cleanup *c = s->job->registry;

    c->n_running++;
    if (n_runs_of(c, user_of(s)) >= AT_ONCE)
        s->state = PX_CLEANUP_DUE;
    else
        (void)scope_start(s);
}

static void scope_end(struct px_cleanup_scope *s)
{
    if (s->n_entries > 0)
        scope_run(s);
    else
        scope_done(s);
}

void px_cleanup_check(struct px_cleanup_job *job)
{
    if (job->registry->stopping)
        return;
    PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
        if (s->state == PX_CLEANUP_WAITS && is_due(s))
            scope_end(s);
    px_cleanup_job_tidy(job);
}

/* ---- what the host reports ---------------------------------------------------------------------- */

static void rank_reported(struct px_cleanup_rank *r)
{
    r->reported = true;
    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        if (p->ours)
            px_cleanup_proc_free(p);
}

static void proc_ended(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_cleanup_job *job = px_cleanup_job_find(srv->cleanup, proc->nspace);
    struct px_cleanup_rank *r;

    if (!job)
        return;
    r = px_cleanup_rank_get(job, proc->rank);
    if (r)
        rank_reported(r);
    px_cleanup_check(job);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *known PX_UNUSED)
{
    struct px_cleanup_job *job = px_cleanup_job_find(srv->cleanup, nspace);
    struct px_nspace *ns = job ? px_cleanup_nspace(job) : NULL;

    if (!job)
        return;
    if (ns)
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            l->cleanup = NULL;
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        rank_reported(r);
    job->gone = true;
    px_cleanup_check(job);
}

/* ---- life --------------------------------------------------------------------------------------- */

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_cleanup *c = calloc(1, sizeof *c);

    if (!c)
        return PMIX_ERR_NOMEM;
    c->server = srv;
    px_list_init(&c->jobs);
    px_list_init(&c->accounts);
    px_list_init(&c->groups);
    c->last_id = PX_CLEANUP_GROUPS;
    c->pidof = px_pidof_create(px_process.loop);
    if (!c->pidof) {
        free(c);
        return PMIX_ERR_NOMEM;
    }
    srv->cleanup = c;
    return PMIX_SUCCESS;
}

static bool anybody_lives(const struct px_cleanup_scope *s)
{
    PX_LIST_EACH (&s->job->ranks, struct px_cleanup_rank, r, link) {
        if (!px_cleanup_waits_for(s, r))
            continue;
        PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
            if (px_cleanup_lives(p))
                return true;
    }
    return false;
}

static void on_deadline(void *arg)
{
    struct px_cleanup *c = arg;

    px_log(PX_LOG_WARN, "cleanup", "%zu clean-ups do not end", c->n_running);
    finished(c);
}

void px_cleanup_finish(struct px_server *srv, void (*done)(void *arg, bool left),
                       void *arg)
{
    struct px_cleanup *c = srv->cleanup;

    if (!c) {
        done(arg, false);
        return;
    }
    c->stopping = true;
    px_cleanup_groups_end(c);
    c->done = done;
    c->done_arg = arg;
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
            if (s->state == PX_CLEANUP_WAITS && !anybody_lives(s))
                scope_end(s);
    c->deadline = c->n_running > 0 ? px_timer_create(px_process.loop, on_deadline, c)
                                   : NULL;
    if (c->deadline)
        px_timer_set(c->deadline, srv->conf.cleanup_timeout);
    else
        finished(c);
}

static void destroy(struct px_server *srv)
{
    struct px_cleanup *c = srv->cleanup;

    if (!c)
        return;
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link) {
        PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
            px_cleanup_scope_free(s);
        px_cleanup_job_free(job);
    }
    PX_LIST_EACH (&c->groups, struct px_cleanup_group, g, link)
        free(g);
    px_pidof_destroy(c->pidof);
    px_timer_free(c->poll);
    px_timer_free(c->deadline);
    free(c);
    srv->cleanup = NULL;
}

const struct px_server_part px_cleanup_part = {
    .name = "cleanup",
    .query_keys = px_cleanup_query_keys,
    .create = create,
    .destroy = destroy,
    .peer_here = px_cleanup_peer_here,
    .peer_gone = px_cleanup_peer_gone,
    .proc_ended = proc_ended,
    .nspace_gone = nspace_gone,
};
