/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes: found, watched, recorded in the journal, and forgotten when they have ended. */
#include "core/server/cleanup/procs.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/vec.h"
#include "core/reclaim/worker.h"
#include "core/rt/log.h"
#include "core/server/cleanup/pidof.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum {
    POLL_MS = 100,
    /* Of one rank: a client may have children without end, which connect, too, and its server has other
     * uses for descriptors. The end of those beyond is not waited for. */
    MAX_PROCS = 64,
    MAX_RANKS = PX_JOURNAL_MAX_SLOT / 2 / MAX_PROCS,
    MAX_PIDFDS = 16,
    /* One search, which holds up the loop; and all that a payer may ask for. */
    SEARCH_US = 10000,
    SEARCH_EACH_US = 200,
    SEARCH_MAX_US = 200000,
    GROUPS_LOOK_AT = 64, /* so many, before it is looked which of them are empty */
};

/* In clock ticks since the system started, rounded up. */
static uint64_t ticks_now(void)
{
    struct timespec t = {0};
    uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

    clock_gettime(CLOCK_BOOTTIME, &t);
    return ((uint64_t)t.tv_sec + 1) * hz;
}

/* ---- making, finding ---------------------------------------------------------------------------- */

static struct px_cleanup_proc *proc_new(struct px_cleanup_rank *r, pid_t pid)
{
    unsigned place = 0;
    struct px_cleanup_proc *p;

    while (place < MAX_PROCS && (r->places >> place & 1))
        place++;
    if (place == MAX_PROCS || r->index >= MAX_RANKS)
        return NULL;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->rank = r;
    p->place = place;
    p->pid = pid;
    p->before = ticks_now();
    p->pidfd = -1;
    r->places |= UINT64_C(1) << place;
    px_list_append(&r->procs, &p->link);
    r->seen = r->seen || pid > 0;
    return p;
}

/* Its connections become another process's, or none's. */
static void move_peers(struct px_cleanup_proc *p, struct px_cleanup_proc *to)
{
    struct px_server *srv = p->rank->job->registry->server;

    PX_LIST_EACH (&srv->peers, struct px_peer, peer, link)
        if (peer->cleanup == p)
            peer->cleanup = to;
    if (to)
        to->n_conns += p->n_conns;
    p->n_conns = 0;
}

static void proc_free(struct px_cleanup_proc *p)
{
    if (p->n_conns > 0)
        move_peers(p, NULL);
    px_watch_free(p->watch);
    px_drop_fd(&p->pidfd);
    p->rank->places &= ~(UINT64_C(1) << p->place);
    px_list_remove(&p->link);
    free(p);
}

void px_cleanup_procs_free(struct px_cleanup_job *job)
{
    PX_CLEANUP_EACH_PROC(job, p)
    proc_free(p);
}

/* A pid that another process has by now is dead, too. */
bool px_cleanup_proc_lives(const struct px_cleanup_proc *p)
{
    struct px_proc_stat st;

    if (p->pid == 0 || px_proc_ended(p->pid, p->start))
        return false;
    return p->start || !px_proc_stat(p->pid, &st) || st.start <= p->before;
}

static struct px_cleanup_proc *proc_of_pid(struct px_cleanup_rank *r, pid_t pid)
{
    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        if (p->pid == pid && px_cleanup_proc_lives(p))
            return p;
    return NULL;
}

/* Programs that came and went while nothing waited for their end. */
static void drop_dead(struct px_cleanup_rank *r)
{
    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        if (p->pid && !p->ours && !p->watch && !p->polled && !px_cleanup_proc_lives(p))
            proc_free(p);
}

/* ---- their end ---------------------------------------------------------------------------------- */

static void on_pidfd(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct px_cleanup_proc *p = arg;
    struct px_cleanup_job *job = p->rank->job;

    proc_free(p);
    job->registry->check(job);
}

static void on_poll(void *arg)
{
    struct px_cleanup *c = arg;
    bool any = false;

    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link) {
        PX_CLEANUP_EACH_PROC(job, p)
        {
            if (p->polled && !px_cleanup_proc_lives(p))
                proc_free(p);
            else
                any = any || p->polled;
        }
        c->check(job);
    }
    if (any)
        px_timer_set(c->poll, POLL_MS);
}

static void poll_it(struct px_cleanup_proc *p)
{
    struct px_cleanup *c = p->rank->job->registry;

    if (!c->poll)
        c->poll = px_timer_create(px_process.loop, on_poll, c);
    if (!c->poll) {
        px_log(PX_LOG_WARN, "cleanup", "cannot watch process %ld: out of memory",
               (long)p->pid);
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

/* By pidfd if there is one, which then is of this very process: its start is asked for again. */
static void watch(struct px_cleanup_proc *p)
{
    struct px_proc_stat st;

    if (p->ours || p->watch || p->polled || !p->pid)
        return;
    if (px_proc_stat(p->pid, &st))
        p->start = st.start;
    p->pidfd = px_reclaim_pidfd_open(p->pid);
    if (!px_cleanup_proc_lives(p) || p->start > p->before) {
        proc_free(p);
        return;
    }
    if (p->pidfd >= 0 && n_watched(p->rank) >= MAX_PIDFDS)
        px_drop_fd(&p->pidfd);
    if (p->pidfd >= 0)
        p->watch = px_watch_create(px_process.loop, p->pidfd, PX_READABLE, on_pidfd, p);
    if (!p->watch)
        poll_it(p);
}

void px_cleanup_watch_procs(struct px_cleanup_scope *s)
{
    PX_CLEANUP_EACH_PROC(s->job, p)
    if (px_cleanup_waits_for(s, p->rank))
        watch(p);
}

/* ---- in the journal ----------------------------------------------------------------------------- */

static bool is_awaited(const struct px_cleanup_scope *s,
                       const struct px_cleanup_rank *r)
{
    return s->n_entries > 0 && s->state == PX_CLEANUP_WAITS &&
           px_cleanup_waits_for(s, r);
}

static pmix_status_t record(const struct px_cleanup_scope *s, struct px_cleanup_proc *p)
{
    struct px_proc_stat st;

    if (p->pid && !p->start && px_proc_stat(p->pid, &st) && st.start <= p->before)
        p->start = st.start;
    return px_cleanup_record_proc(s, p);
}

/* What waits for this process knows of it from now on. It may be gone afterwards. */
static void join_scopes(struct px_cleanup_proc *p)
{
    pmix_status_t rc = PMIX_SUCCESS;
    bool awaited = false;

    PX_LIST_EACH (&p->rank->job->scopes, struct px_cleanup_scope, s, link) {
        if (!is_awaited(s, p->rank))
            continue;
        awaited = true;
        if (!rc)
            rc = record(s, p);
    }
    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "cannot note in the journal which process rank %u of %s is: %s",
               p->rank->rank, p->rank->job->nspace, PMIx_Error_string(rc));
    p->recorded = !rc;
    if (awaited)
        watch(p);
}

/* ---- which process it is ------------------------------------------------------------------------ */

/* Time comes back, slowly: no client has the loop for itself, however often it connects. */
static uint64_t search_limit(struct px_cleanup_rank *payer, size_t n)
{
    uint64_t now = px_clock_ms(), limit = SEARCH_US + SEARCH_EACH_US * (uint64_t)n;
    uint64_t left = payer->search_us + (now - payer->searched_ms);

    if (!payer->searched_ms || left > SEARCH_MAX_US)
        left = SEARCH_MAX_US;
    payer->searched_ms = now;
    payer->search_us = left;
    return limit < left ? limit : left;
}

static void found(struct px_cleanup_proc *p, const struct px_pidof *answer)
{
    struct px_cleanup_proc *known = proc_of_pid(p->rank, answer->pid);

    p->rank->seen = true;
    if (known) {
        move_peers(p, known);
        proc_free(p);
        return;
    }
    p->pid = answer->pid;
    p->start = answer->start;
    join_scopes(p);
}

/* All of the scope's processes that came by TCP and are not known, in one search. */
static void search(struct px_cleanup_scope *s, struct px_cleanup_rank *payer)
{
    PX_AUTOFREE struct px_pidof *searches = NULL;
    size_t n = 0, cap = 0;

    PX_CLEANUP_EACH_PROC(s->job, p)
    {
        struct px_pidof *one;

        if (!px_cleanup_waits_for(s, p->rank) || p->pid || !p->inode)
            continue;
        one = px_vec_add(&searches, &n, &cap);
        if (one)
            *one = (struct px_pidof){.proc = p, .inode = p->inode, .uid = p->uid};
    }
    if (n == 0 || !payer)
        return;
    uint64_t limit = search_limit(payer, n), took = px_pidof_find(searches, n, limit);
    payer->search_us -= took < payer->search_us ? took : payer->search_us;
    for (size_t i = 0; i < n; i++) {
        struct px_cleanup_proc *p = searches[i].proc;

        if (searches[i].pid)
            found(p, &searches[i]);
        else if (took < limit)
            p->inode = 0; /* until its connection ends it lives */
    }
}

pmix_status_t px_cleanup_know_procs(struct px_cleanup_scope *s,
                                    struct px_cleanup_rank *payer)
{
    pmix_status_t rc = PMIX_SUCCESS;

    search(s, payer);
    PX_CLEANUP_EACH_PROC(s->job, p)
    if (!rc && px_cleanup_waits_for(s, p->rank) && (s->n_entries == 0 || !p->recorded))
        rc = record(s, p);
    return rc;
}

/* ---- coming and going --------------------------------------------------------------------------- */

static struct px_cleanup_proc *proc_of_peer(struct px_cleanup_rank *r,
                                            const struct px_peer *peer)
{
    struct px_cleanup_proc *p;

    drop_dead(r);
    p = peer->pid ? proc_of_pid(r, peer->pid) : NULL;
    if (!p)
        p = proc_new(r, peer->pid);
    if (p && !peer->pid) {
        p->inode = peer->inode;
        p->uid = peer->uid;
    }
    return p;
}

bool px_cleanup_proc_here(struct px_cleanup *c, struct px_peer *peer)
{
    struct px_cleanup_job *job = px_cleanup_job_get(c, peer->proc.nspace);
    struct px_cleanup_rank *r = job ? px_cleanup_rank_get(job, peer->proc.rank) : NULL;
    struct px_cleanup_proc *p = r ? proc_of_peer(r, peer) : NULL;

    if (!p)
        return false;
    r->reported = false;
    p->n_conns++;
    peer->cleanup = p;
    if (p->pid) {
        join_scopes(p);
        return true;
    }
    PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
        if (is_awaited(s, r))
            search(s, px_cleanup_payer(c, peer));
    return true;
}

void px_cleanup_proc_left(struct px_peer *peer)
{
    struct px_cleanup_proc *p = peer->cleanup;

    peer->cleanup = NULL;
    if (--p->n_conns > 0 || p->pid)
        return;
    p->rank->lost = true;
    proc_free(p);
}

void px_cleanup_rank_reported(struct px_cleanup_rank *r)
{
    r->reported = true;
    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        if (p->ours)
            proc_free(p);
}

/* ---- processes of ours, and their groups -------------------------------------------------------- */

/* What is in a group ends with us, also when the process that led it has ended long before: so each
 * stands in the journal, in a scope of nothing but processes, until it is empty. */
static bool is_empty(const struct px_journal_record *r)
{
    return px_proc_ended((int64_t)r->x, r->y) && kill(-(pid_t)r->x, 0) < 0 &&
           errno == ESRCH;
}

/* Its number may be another's from now on. If that cannot be written: the next reader looks at the start
 * time. */
static void forget_empty_groups(struct px_cleanup *c)
{
    PX_LIST_EACH (&c->groups->entries, struct px_cleanup_entry, e, link) {
        const struct px_journal_record none = {
            .scope = PX_CLEANUP_GROUPS, .slot = e->r.slot, .path = ""};

        if (!is_empty(&e->r))
            continue;
        (void)px_session_record(c->server, &none, 1);
        px_cleanup_entry_free(e);
    }
    c->groups_look_at = 2 * c->groups->n_entries;
    if (c->groups_look_at < GROUPS_LOOK_AT)
        c->groups_look_at = GROUPS_LOOK_AT;
}

static pmix_status_t group_add(struct px_cleanup *c, pid_t pid)
{
    struct px_cleanup_entry *e;
    struct px_proc_stat st;
    struct px_journal_record r = {.type = PX_JOURNAL_PROC,
                                  .flags = PX_JOURNAL_END,
                                  .uid = geteuid(),
                                  .gid = getegid(),
                                  .x = (uint64_t)pid,
                                  .path = ""};
    pmix_status_t rc;

    if (!px_session_can_record(c->server) || !px_proc_stat(pid, &st))
        return PMIX_SUCCESS;
    r.y = st.start;
    if (c->groups->n_entries >= c->groups_look_at)
        forget_empty_groups(c);
    rc = px_cleanup_entry_add(c->groups, NULL, &r, &e);
    if (!rc)
        rc = px_session_record(c->server, &e->r, 1);
    return rc;
}

/* Also before anything is registered: if we are killed, it is to end. */
pmix_status_t px_cleanup_proc_hold(struct px_cleanup *c, const pmix_proc_t *proc,
                                   pid_t pid)
{
    struct px_cleanup_job *job = px_cleanup_job_get(c, proc->nspace);
    struct px_cleanup_rank *r = job ? px_cleanup_rank_get(job, proc->rank) : NULL;
    struct px_cleanup_proc *p = r ? proc_new(r, pid) : NULL;

    if (!p)
        return PMIX_ERR_NOMEM;
    p->ours = true;
    r->reported = false;
    join_scopes(p);
    return group_add(c, pid);
}

void px_cleanup_end_groups(struct px_cleanup *c)
{
    const bool any = c->groups->n_entries > 0;

    PX_LIST_EACH (&c->groups->entries, struct px_cleanup_entry, e, link) {
        px_reclaim_kill(&e->r);
        px_cleanup_entry_free(e);
    }
    if (any && px_session_can_record(c->server))
        px_cleanup_record_done(c->groups);
}
