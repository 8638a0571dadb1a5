/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes behind connections, and how their end is noticed: it is the death of the process that
 * counts, not that of its socket. */
#include "core/server/cleanup/cleanup_impl.h"

#include "core/base/proc.h"
#include "core/reclaim/reclaim.h"
#include "core/rt/log.h"

#include <time.h>

enum {
    POLL_MS = 100,
    /* Of one rank: a client may have children without end, which connect, too, and its server has other
     * uses for descriptors. The end of those beyond is not waited for. */
    MAX_PROCS = 64,
    MAX_PIDFDS = 16,
};

/* In clock ticks since the system started, rounded up. */
static uint64_t ticks_now(void)
{
    struct timespec t = {0};
    uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

    clock_gettime(CLOCK_BOOTTIME, &t);
    return ((uint64_t)t.tv_sec + 1) * hz;
}

/* ---- who waits to be known -------------------------------------------------------------------- */

struct waiter {
    struct px_list link;
    void (*fn)(void *arg);
    void *arg;
};

bool px_cleanup_await_known(struct px_peer *peer, void (*fn)(void *arg), void *arg)
{
    struct px_cleanup_proc *p = peer->cleanup;
    struct waiter *w = p && px_list_linked(&p->search.link) ? calloc(1, sizeof *w)
                                                            : NULL;

    if (!w)
        return false;
    w->fn = fn;
    w->arg = arg;
    px_list_append(&p->waiters, &w->link);
    return true;
}

static void answer_waiters(struct px_cleanup_proc *p)
{
    PX_LIST_EACH (&p->waiters, struct waiter, w, link) {
        px_list_remove(&w->link);
        w->fn(w->arg);
        free(w);
    }
}

/* ---- making, finding ---------------------------------------------------------------------------- */

static struct px_cleanup_proc *proc_new(struct px_cleanup_rank *r, pid_t pid)
{
    struct px_cleanup_proc *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->rank = r;
    p->pid = pid;
    p->before = ticks_now();
    p->pidfd = -1;
    px_list_init(&p->waiters);
    px_list_append(&r->procs, &p->link);
    r->seen = r->seen || pid > 0;
    return p;
}

/* Its connections are nobody's, or another process's. */
static void move_peers(struct px_cleanup_proc *p, struct px_cleanup_proc *to)
{
    struct px_server *srv = p->rank->job->registry->server;

    PX_LIST_EACH (&srv->peers, struct px_peer, peer, link)
        if (peer->cleanup == p)
            peer->cleanup = to;
    if (to)
        to->n_conns += p->n_conns;
}

static void unwatch(struct px_cleanup_proc *p)
{
    px_watch_free(p->watch);
    p->watch = NULL;
    px_drop_fd(&p->pidfd);
    px_pidof_cancel(&p->search);
}

void px_cleanup_proc_free(struct px_cleanup_proc *p)
{
    if (p->n_conns > 0)
        move_peers(p, NULL);
    PX_LIST_EACH (&p->rank->job->scopes, struct px_cleanup_scope, s, link)
        px_cleanup_unseat(s, p);
    unwatch(p);
    px_list_remove(&p->link);
    answer_waiters(p);
    free(p);
}

/* A pid that somebody else has by now is dead, too. */
bool px_cleanup_lives(const struct px_cleanup_proc *p)
{
    struct px_proc_stat st;

    if (p->pid == 0 || px_proc_ended(p->pid, p->start))
        return false;
    return p->start || !px_proc_stat(p->pid, &st) || st.start <= p->before;
}

static struct px_cleanup_proc *proc_of_pid(struct px_cleanup_rank *r, pid_t pid)
{
    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        if (p->pid == pid && px_cleanup_lives(p))
            return p;
    return NULL;
}

/* Programs that came and went while nothing waited for their end. */
static void drop_dead(struct px_cleanup_rank *r)
{
    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        if (p->pid && !p->ours && !p->watch && !p->polled && !px_cleanup_lives(p))
            px_cleanup_proc_free(p);
}

static bool has_room(const struct px_cleanup_rank *r)
{
    unsigned n = 0;

    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        n++;
    return n < MAX_PROCS;
}

/* ---- their end ---------------------------------------------------------------------------------- */

static void on_pidfd(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct px_cleanup_proc *p = arg;
    struct px_cleanup_job *job = p->rank->job;

    px_cleanup_proc_free(p);
    px_cleanup_check(job);
}

static bool any_polled(const struct px_cleanup *c)
{
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
            PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
                if (p->polled)
                    return true;
    return false;
}

static void poll_job(struct px_cleanup_job *job)
{
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
            if (p->polled && !px_cleanup_lives(p))
                px_cleanup_proc_free(p);
    px_cleanup_check(job);
}

static void on_poll(void *arg)
{
    struct px_cleanup *c = arg;

    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        poll_job(job);
    if (any_polled(c))
        px_timer_set(c->poll, POLL_MS);
}

static void poll_it(struct px_cleanup_proc *p)
{
    struct px_cleanup *c = p->rank->job->registry;

    if (!c->poll)
        c->poll = px_timer_create(px_process.loop, on_poll, c);
    if (!c->poll) {
        px_log(PX_LOG_WARN, "cleanup",
               "the end of pid %ld will not be seen: out of memory", (long)p->pid);
        return;
    }
    p->polled = true;
    px_timer_set(c->poll, POLL_MS);
}

static unsigned n_watched(const struct px_cleanup_rank *r)
{
    unsigned n = 0;

    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        n += p->watch != NULL;
    return n;
}

/* By pidfd if there is one, which then is of this very process: it is asked for again. */
static void watch_pid(struct px_cleanup_proc *p)
{
    struct px_proc_stat st;

    if (px_proc_stat(p->pid, &st))
        p->start = st.start;
    p->pidfd = px_reclaim_pidfd_open(p->pid);
    if (!px_cleanup_lives(p) || p->start > p->before) {
        px_cleanup_proc_free(p);
        return;
    }
    if (p->pidfd >= 0 && n_watched(p->rank) >= MAX_PIDFDS) {
        close(p->pidfd);
        p->pidfd = -1;
    }
    if (p->pidfd >= 0)
        p->watch = px_watch_create(px_process.loop, p->pidfd, PX_READABLE, on_pidfd, p);
    if (!p->watch)
        poll_it(p);
}

/* ---- which process it is ------------------------------------------------------------------------ */

static void watch_rank(struct px_cleanup_rank *r);

static void on_found(void *arg, pid_t pid, uint64_t start)
{
    struct px_cleanup_proc *p = arg;
    struct px_cleanup_rank *r = p->rank;
    struct px_cleanup_proc *known = pid ? proc_of_pid(r, pid) : NULL;

    answer_waiters(p);
    if (pid == 0)
        return; /* until its connection ends it lives */
    r->seen = true;
    if (known) {
        move_peers(p, known);
        p->n_conns = 0;
        px_cleanup_proc_free(p);
    } else {
        p->pid = pid;
        p->start = start;
    }
    watch_rank(r);
}

static void watch(struct px_cleanup_proc *p)
{
    if (p->ours || p->watch || p->polled || px_list_linked(&p->search.link))
        return;
    if (p->pid)
        watch_pid(p);
    else if (p->search.inode && p->search.n_passes == 0)
        px_pidof_begin(p->rank->job->registry->pidof, &p->search);
}

/* Does anything wait for its end? */
static bool is_awaited(const struct px_cleanup_scope *s,
                       const struct px_cleanup_rank *r)
{
    return s->n_entries > 0 && s->state == PX_CLEANUP_WAITS &&
           px_cleanup_waits_for(s, r);
}

/* Of a process that is not watched yet. */
static void ask_start(struct px_cleanup_proc *p)
{
    struct px_proc_stat st;

    if (p->pid && !p->start && px_proc_stat(p->pid, &st) && st.start <= p->before)
        p->start = st.start;
}

static pmix_status_t seat_rank(struct px_cleanup_scope *s, struct px_cleanup_rank *r)
{
    struct px_server *srv = s->job->registry->server;
    struct px_journal_record record;
    pmix_status_t rc;

    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link) {
        ask_start(p);
        rc = px_cleanup_seat(s, p, &record);
        if (rc == PMIX_ERR_NOT_FOUND)
            continue;
        if (!rc)
            rc = px_session_record(srv, &record);
        if (!rc)
            continue;
        px_cleanup_unseat(s, p);
        return rc;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_cleanup_seat_all(struct px_cleanup_scope *s)
{
    pmix_status_t rc = PMIX_SUCCESS;

    PX_LIST_EACH (&s->job->ranks, struct px_cleanup_rank, r, link)
        if (!rc && px_cleanup_waits_for(s, r))
            rc = seat_rank(s, r);
    return rc;
}

static void watch_for(struct px_cleanup_scope *s, struct px_cleanup_rank *r)
{
    pmix_status_t rc;

    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        watch(p);
    rc = seat_rank(s, r);
    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "the journal does not say who rank %u of %s is: %s", r->rank,
               r->job->nspace, PMIx_Error_string(rc));
}

void px_cleanup_watch_scope(struct px_cleanup_scope *s)
{
    PX_LIST_EACH (&s->job->ranks, struct px_cleanup_rank, r, link)
        if (px_cleanup_waits_for(s, r))
            watch_for(s, r);
}

static void watch_rank(struct px_cleanup_rank *r)
{
    PX_LIST_EACH (&r->job->scopes, struct px_cleanup_scope, s, link)
        if (is_awaited(s, r))
            watch_for(s, r);
    px_cleanup_check(r->job);
}

/* ---- coming and going --------------------------------------------------------------------------- */

static struct px_cleanup_proc *proc_of_peer(struct px_cleanup_job *job,
                                            const struct px_peer *peer)
{
    struct px_cleanup_rank *r = px_cleanup_rank_get(job, peer->proc.rank);
    struct px_cleanup_proc *p;

    if (!r)
        return NULL;
    drop_dead(r);
    p = peer->pid ? proc_of_pid(r, peer->pid) : NULL;
    if (!p && has_room(r))
        p = proc_new(r, peer->pid);
    if (!p)
        return NULL;
    if (!peer->pid)
        p->search = (struct px_pidof_search){
            .inode = peer->inode, .uid = peer->uid, .fn = on_found, .arg = p};
    r->reported = false;
    return p;
}

void px_cleanup_peer_here(struct px_server *srv, struct px_peer *peer)
{
    struct px_cleanup_job *job = px_cleanup_job_get(srv->cleanup, peer->proc.nspace);
    struct px_cleanup_proc *p = job ? proc_of_peer(job, peer) : NULL;

    if (!p) {
        px_log(PX_LOG_INFO, "cleanup",
               "the end of a process of %s.%u will not be seen: no room for it",
               peer->proc.nspace, peer->proc.rank);
        return;
    }
    p->n_conns++;
    peer->cleanup = p;
    watch_rank(p->rank);
    px_session_compact(srv, px_cleanup_rewrite);
}

void px_cleanup_peer_gone(struct px_server *srv PX_UNUSED, struct px_peer *peer)
{
    struct px_cleanup_proc *p = peer->cleanup;
    struct px_cleanup_job *job;

    peer->cleanup = NULL;
    if (!p)
        return;
    job = p->rank->job;
    if (--p->n_conns == 0 && p->pid == 0) {
        p->rank->lost = true;
        px_cleanup_proc_free(p);
    }
    px_cleanup_check(job);
}

/* Also before anybody has registered anything: if we are killed, it is to end. */
static pmix_status_t hold(struct px_cleanup_job *job, pmix_rank_t rank, pid_t pid)
{
    struct px_cleanup_rank *r = px_cleanup_rank_get(job, rank);
    struct px_cleanup_proc *p = r ? proc_new(r, pid) : NULL;
    struct px_cleanup_scope *s;
    pmix_status_t rc;

    if (!p)
        return PMIX_ERR_NOMEM;
    p->ours = true;
    r->reported = false;
    rc = px_cleanup_group_add(job->registry, pid);
    s = px_cleanup_scope_find(job, PMIX_RANK_WILDCARD);
    return !rc && s && is_awaited(s, r) ? seat_rank(s, r) : rc;
}

void px_cleanup_proc_started(struct px_server *srv, const pmix_proc_t *proc, pid_t pid)
{
    struct px_cleanup_job *job = px_cleanup_job_get(srv->cleanup, proc->nspace);
    pmix_status_t rc = job ? hold(job, proc->rank, pid) : PMIX_ERR_NOMEM;

    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "pid %ld is not in the journal, and would outlive this process: %s",
               (long)pid, PMIx_Error_string(rc));
    px_session_compact(srv, px_cleanup_rewrite);
}
