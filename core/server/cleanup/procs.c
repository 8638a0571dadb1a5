/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of clients: found, watched, recorded in the journal, and removed after
 * their end. */
#include "core/server/cleanup/cleanup.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/os/os.h"
#include "core/os/proc.h"
#include "core/base/vec.h"
#include "core/reclaim/process.h"
#include "core/rt/log.h"
#include "core/os/pidof.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

#include <errno.h>
#include <signal.h>

enum {
    POLL_MS = 100,
    /* Processes of one rank. A client may have children without end that connect, too,
     * and the server needs descriptors for others. The end of more processes is not
     * waited for. */
    MAX_PROCS = 64,
    MAX_RANKS = PX_JOURNAL_MAX_SLOT / 2 / MAX_PROCS,
    MAX_PIDFDS = 16,
    /* One search, which blocks the loop, and the sum of searches for one payer. */
    SEARCH_US = 20000,
    SEARCH_MAX_US = 200000,
    GROUPS_CHECK_AT = 64, /* number of groups at which empty ones are removed */
};

/* ---- creating -------------------------------------------------------------------- */

static struct px_cleanup_proc *proc_new(struct px_cleanup_rank *r, pid_t pid)
{
    struct px_cleanup_proc *p;
    struct px_osproc_stat st;
    unsigned place = 0;

    while (place < MAX_PROCS && (r->places >> place & 1))
        place++;
    if (place == MAX_PROCS || r->index >= MAX_RANKS)
        return NULL;
    p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->rank = r;
    p->place = place;
    p->pid = pid;
    p->start = pid && px_osproc_stat(pid, &st) ? st.start : 0;
    p->pidfd = -1;
    r->places |= UINT64_C(1) << place;
    px_list_append(&r->procs, &p->link);
    r->seen = r->seen || pid > 0;
    return p;
}

/* Assigns the connections of p to another process, or to none. */
static void move_peers(struct px_cleanup_proc *p, struct px_cleanup_proc *to)
{
    PX_LIST_EACH (&p->rank->job->registry->server->peers, struct px_peer, peer, link)
        if (peer->cleanup == p)
            peer->cleanup = to;
    if (to)
        to->n_conns += p->n_conns;
    p->n_conns = 0;
}

void px_cleanup_proc_free(struct px_cleanup_proc *p)
{
    if (p->n_conns > 0)
        move_peers(p, NULL);
    px_watch_free(p->watch);
    px_drop_fd(&p->pidfd);
    p->rank->places &= ~(UINT64_C(1) << p->place);
    px_list_remove(&p->link);
    free(p);
}

bool px_cleanup_proc_lives(const struct px_cleanup_proc *p)
{
    return p->pid && !px_osproc_ended(p->pid, p->start);
}

/* ---- their end ------------------------------------------------------------------- */

static void on_pidfd(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct px_cleanup_proc *p = arg;
    struct px_cleanup_job *job = p->rank->job;

    px_cleanup_proc_free(p);
    px_cleanup_check(job);
}

static void on_poll(void *arg)
{
    struct px_cleanup *c = arg;
    bool any = false;

    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link) {
        PX_CLEANUP_EACH_PROC (job, p) {
            if (p->polled && !px_cleanup_proc_lives(p))
                px_cleanup_proc_free(p);
            else
                any = any || p->polled;
        }
        px_cleanup_check(job);
    }
    if (any)
        px_timer_set(c->poll, POLL_MS);
}

static void poll_it(struct px_cleanup_proc *p)
{
    struct px_cleanup *c = p->rank->job->registry;

    if (!c->poll)
        c->poll = px_timer_create(c->server->loop, on_poll, c);
    if (!c->poll) {
        px_log(PX_LOG_WARN, "cleanup", "cannot watch process %ld: out of memory",
               (long)p->pid);
        return;
    }
    p->polled = true;
    px_timer_set(c->poll, POLL_MS);
}

/* Watches a process by its pidfd, or by polling. The start time is checked after the
 * pidfd is open, so that the pidfd is of this very process. */
static void watch(struct px_cleanup_proc *p)
{
    struct px_loop *loop = p->rank->job->registry->server->loop;

    if (p->ours || p->watch || p->polled || !p->pid)
        return;
    if (p->place < MAX_PIDFDS)
        p->pidfd = px_os_pidfd_open(p->pid);
    if (!px_cleanup_proc_lives(p)) {
        px_cleanup_proc_free(p);
        return;
    }
    if (p->pidfd >= 0)
        p->watch = px_watch_create(loop, p->pidfd, PX_READABLE, on_pidfd, p);
    if (!p->watch)
        poll_it(p);
}

void px_cleanup_watch_procs(struct px_cleanup_scope *s)
{
    PX_CLEANUP_EACH_PROC (s->job, p)
        if (px_cleanup_waits_for(s, p->rank))
            watch(p);
}

/* ---- finding --------------------------------------------------------------------- */

static bool is_awaited(const struct px_cleanup_scope *s,
                       const struct px_cleanup_rank *r)
{
    return s->n_entries > 0 && s->state == PX_CLEANUP_WAITS &&
           px_cleanup_waits_for(s, r);
}

/* Records the process for the scopes that wait for it. p may be freed. */
static void join_scopes(struct px_cleanup_proc *p)
{
    pmix_status_t rc = PMIX_SUCCESS;
    bool awaited = false;

    PX_LIST_EACH (&p->rank->job->scopes, struct px_cleanup_scope, s, link) {
        if (!is_awaited(s, p->rank))
            continue;
        awaited = true;
        if (!rc)
            rc = px_cleanup_record_proc(s, p);
    }
    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "cannot record the process of rank %u of %s in the journal: %s",
               p->rank->rank, p->rank->job->nspace, PMIx_Error_string(rc));
    p->recorded = !rc;
    if (awaited)
        watch(p);
}

static void found(struct px_cleanup_proc *p, const struct px_pidof *answer)
{
    p->rank->seen = true;
    PX_LIST_EACH (&p->rank->procs, struct px_cleanup_proc, known, link) {
        if (known->pid != answer->pid || !px_cleanup_proc_lives(known))
            continue;
        move_peers(p, known);
        px_cleanup_proc_free(p);
        return;
    }
    p->pid = answer->pid;
    p->start = answer->start;
    join_scopes(p);
}

/* Searches for all unknown processes of the job that connected by TCP. If each rank
 * registers something, the first pays for all. The payer gains a thousandth of the time
 * that passes, so that no client can block the loop by connecting often. */
static void search(struct px_cleanup_job *job, struct px_cleanup_rank *payer)
{
    PX_AUTOFREE struct px_pidof *searches = NULL;
    struct px_pidof *one;
    size_t n = 0, cap = 0;

    PX_CLEANUP_EACH_PROC (job, p)
        if (!p->pid && p->inode && (one = px_vec_add(&searches, &n, &cap)))
            *one = (struct px_pidof){.proc = p, .inode = p->inode, .uid = p->uid};
    if (n == 0 || !payer)
        return;
    uint64_t now_ms = px_clock_ms(), left_us = now_ms - payer->searched_ms;
    if (left_us > SEARCH_MAX_US)
        left_us = SEARCH_MAX_US;
    uint64_t limit_us = left_us < SEARCH_US ? left_us : SEARCH_US;
    uint64_t took_us = px_pidof_find(searches, n, limit_us);
    payer->searched_ms = now_ms - left_us + (took_us < left_us ? took_us : left_us);
    for (size_t i = 0; i < n; i++) {
        struct px_cleanup_proc *p = searches[i].proc;

        if (searches[i].pid)
            found(p, &searches[i]);
        else if (took_us < limit_us)
            p->inode = 0; /* it lives until its connection ends */
    }
}

void px_cleanup_search(struct px_cleanup_job *job, const struct px_peer *payer)
{
    if (payer->conn)
        search(job, px_cleanup_payer(job->registry, payer));
}

pmix_status_t px_cleanup_find_procs(struct px_cleanup_scope *s,
                                    struct px_cleanup_rank *payer)
{
    pmix_status_t rc = PMIX_SUCCESS;

    search(s->job, payer);
    PX_CLEANUP_EACH_PROC (s->job, p)
        if (!rc && px_cleanup_waits_for(s, p->rank) &&
            (s->n_entries == 0 || !p->recorded))
            rc = px_cleanup_record_proc(s, p);
    return rc;
}

void px_cleanup_find_pids(struct px_server *srv, struct px_peer *peer,
                          const char *nspace)
{
    struct px_cleanup_job *job = px_cleanup_job_find(srv->part.cleanup, nspace);

    if (job)
        search(job, px_cleanup_payer(srv->part.cleanup, peer));
}

pid_t px_cleanup_pid(const struct px_peer *peer)
{
    return peer->pid ? peer->pid : peer->cleanup ? peer->cleanup->pid : 0;
}

/* ---- connections and ends -------------------------------------------------------- */

static struct px_cleanup_rank *rank_get(struct px_cleanup *c, const pmix_proc_t *proc)
{
    struct px_cleanup_job *job = px_cleanup_job_get(c, proc->nspace);

    return job ? px_cleanup_rank_get(job, proc->rank) : NULL;
}

static struct px_cleanup_proc *proc_of_peer(struct px_cleanup_rank *r,
                                            const struct px_peer *peer)
{
    struct px_cleanup_proc *p = NULL;

    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, old, link) {
        const bool is_peer = old->pid && old->pid == peer->pid;
        const bool unwatched = old->pid && !old->ours && !old->watch && !old->polled;
        const bool lives = (!is_peer && !unwatched) || px_cleanup_proc_lives(old);

        if (unwatched && !lives) /* it ended while nothing waited for that */
            px_cleanup_proc_free(old);
        else if (is_peer && lives)
            p = old;
    }
    if (!p)
        p = proc_new(r, peer->pid);
    if (p && !peer->pid) {
        p->inode = peer->inode;
        p->uid = peer->uid;
    }
    return p;
}

void px_cleanup_peer_here(struct px_server *srv, struct px_peer *peer)
{
    struct px_cleanup_rank *r = rank_get(srv->part.cleanup, &peer->proc);
    struct px_cleanup_proc *p = r ? proc_of_peer(r, peer) : NULL;
    bool awaited = false;

    if (p) {
        r->reported = false;
        p->n_conns++;
        peer->cleanup = p;
        PX_LIST_EACH (&r->job->scopes, struct px_cleanup_scope, s, link)
            awaited = awaited || is_awaited(s, r);
        if (p->pid)
            join_scopes(p);
        else if (awaited)
            search(r->job, px_cleanup_payer(srv->part.cleanup, peer));
    } else {
        px_log(PX_LOG_INFO, "cleanup",
               "cannot watch a process of %s.%u: no room for it", peer->proc.nspace,
               peer->proc.rank);
    }
    if (r)
        px_cleanup_check(r->job);
    px_cleanup_compact(srv->part.cleanup);
}

/* Handles the end of a connection. The process may still live, unless its pid is
 * unknown. */
void px_cleanup_peer_gone(struct px_server *srv PX_UNUSED, struct px_peer *peer)
{
    struct px_cleanup_proc *p = px_take(&peer->cleanup);
    struct px_cleanup_job *job = p ? p->rank->job : NULL;

    if (!p)
        return;
    if (--p->n_conns == 0 && !p->pid) {
        p->rank->lost = true;
        px_cleanup_proc_free(p);
    }
    px_cleanup_check(job);
}

static void rank_ended(struct px_cleanup_rank *r)
{
    r->reported = true;
    PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
        if (p->ours)
            px_cleanup_proc_free(p);
}

void px_cleanup_proc_ended(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_cleanup_job *job = px_cleanup_job_find(srv->part.cleanup, proc->nspace);
    struct px_cleanup_rank *r = job ? px_cleanup_rank_get(job, proc->rank) : NULL;

    if (r)
        rank_ended(r);
    if (job)
        px_cleanup_check(job);
}

void px_cleanup_nspace_gone(struct px_server *srv, const char *nspace,
                            struct px_nspace *known)
{
    struct px_cleanup_job *job = px_cleanup_job_find(srv->part.cleanup, nspace);

    if (!job ||
        (known && px_nspace_is_tools(known))) /* a tool outlives its connection */
        return;
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        rank_ended(r);
    job->gone = true;
    px_cleanup_check(job);
}

/* ---- processes that this server started, and their groups ------------------------ */

/* Removes the groups that are empty. The processes of a group end with the server, even
 * if the group's leader ended long before. So each group is in the journal, in a scope
 * of processes only, until it is empty. Then its number may be given to another
 * group. */
static void forget_empty_groups(struct px_cleanup *c)
{
    PX_LIST_EACH (&c->groups->entries, struct px_cleanup_entry, e, link)
        if (px_osproc_ended((int64_t)e->r.x, e->r.y) && kill(-(pid_t)e->r.x, 0) < 0 &&
            errno == ESRCH)
            px_made_forget(c->server, e);
    c->groups_check_at = 2 * c->groups->n_entries;
    if (c->groups_check_at < GROUPS_CHECK_AT)
        c->groups_check_at = GROUPS_CHECK_AT;
}

static pmix_status_t group_add(struct px_cleanup *c, const struct px_cleanup_proc *p)
{
    const struct px_journal_record r = {.type = PX_JOURNAL_PROC,
                                        .flags = PX_JOURNAL_END,
                                        .uid = geteuid(),
                                        .gid = getegid(),
                                        .x = (uint64_t)p->pid,
                                        .y = p->start,
                                        .path = ""};
    struct px_cleanup_entry *e;
    pmix_status_t rc;

    if (!px_session_can_record(c->server) || !p->start)
        return PMIX_SUCCESS;
    if (c->groups->n_entries >= c->groups_check_at)
        forget_empty_groups(c);
    rc = px_cleanup_entry_add(c->groups, NULL, &r, &e);
    return rc ? rc : px_session_record(c->server, &e->r, 1);
}

/* Registers a process even if it has registered nothing: it must end if this server is
 * killed. */
void px_cleanup_proc_started(struct px_server *srv, const pmix_proc_t *proc, pid_t pid)
{
    struct px_cleanup_rank *r = rank_get(srv->part.cleanup, proc);
    struct px_cleanup_proc *p = r ? proc_new(r, pid) : NULL;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (p) {
        p->ours = true;
        r->reported = r->revives = false;
        join_scopes(p);
        rc = group_add(srv->part.cleanup, p);
    }
    if (rc)
        px_log(
            PX_LOG_WARN, "cleanup",
            "cannot record process %ld in the journal, so it may outlive this server: %s",
            (long)pid, PMIx_Error_string(rc));
    px_cleanup_compact(srv->part.cleanup);
}

void px_cleanup_end_groups(struct px_cleanup *c)
{
    const bool any = c->groups->n_entries > 0;

    PX_LIST_EACH (&c->groups->entries, struct px_cleanup_entry, e, link) {
        px_reclaim_kill(&e->r);
        px_cleanup_entry_free(e);
    }
    if (any)
        px_reclaim_kill_tagged(getpid(), px_journal_start_time(getpid()), false);
    if (any && px_session_can_record(c->server))
        px_cleanup_record_done(c->groups);
}
