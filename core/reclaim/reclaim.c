/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing what stands in a scope: per user a child that becomes that user and walks,
 * while we look at the clock. */
#include "core/reclaim/reclaim.h"

#include "core/base/clock.h"
#include "core/reclaim/privilege.h"
#include "core/reclaim/process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a process that was killed may take to end. One that hangs in a file system
 * that does not answer never does: nobody waits for that. */
enum { LAST_GRACE_MS = 2000, POLL_MIN_MS = 1, POLL_MAX_MS = 20 };

/* With each removal Landlock climbs from there to the folder where removal is allowed:
 * in a tree of 10,000 levels that takes ten times as long as the rest. What takes
 * longer than this is taken up again by a child that may remove anywhere; as is what a
 * child leaves that could not be told where it may remove. */
enum { CONFINED_MS = 3000 };

/* What the child writes where its parent sees it, too: also what it did before it was
 * killed. */
struct report {
    struct px_pcleanup_totals totals;
    int errnum;
    bool confined;
    bool finished;
};

/* ---- the child ------------------------------------------------------------------ */

struct walk {
    const struct px_reclaim *sweep;
    const struct px_rm_item *items;
    size_t n;
    uid_t uid;
    gid_t gid;
    bool anywhere; /* may remove, as far as Landlock goes */
    struct report *report;
    pid_t parent;
};

/* It ends with its parent: who else would see to it that it ends? */
static void walk_in_child(const struct walk *w)
{
    const struct px_reclaim *s = w->sweep;

    px_reclaim_detach("tenon-sweep", s->keep, s->n_keep);
    px_drop_privileges(w->uid, w->gid);
    w->report->confined = !w->anywhere; /* also if it ends while it is about to be */
    w->report->confined = px_reclaim_confine(w->anywhere ? NULL : w->items, w->n) &&
                          !w->anywhere;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != w->parent)
        _exit(EXIT_FAILURE);
    w->report->errnum = px_rm_run(w->items, w->n, w->uid, w->gid, s->told, s->arg,
                                  &w->report->totals);
    w->report->finished = true;
    _exit(EXIT_SUCCESS);
}

/* ---- the parent ----------------------------------------------------------------- */

static bool has_ended(pid_t pid, int *status)
{
    pid_t got;

    *status = 0;
    do {
        got = waitpid(pid, status, __WALL | WNOHANG);
    } while (got < 0 && errno == EINTR);
    return got != 0; /* or somebody else has waited for it */
}

/* Until it ends, or that time has come (0: never). The child is not waited for, so its
 * pid is its own. */
static bool await_end(pid_t pid, int pidfd, uint64_t deadline_ms, int *status)
{
    int pause_ms = POLL_MIN_MS;

    for (;;) {
        if (has_ended(pid, status))
            return true;
        uint64_t now = px_clock_ms();
        if (deadline_ms && now >= deadline_ms)
            return false;
        uint64_t left = deadline_ms ? deadline_ms - now : INT_MAX;
        if (pidfd < 0 && left > (uint64_t)pause_ms)
            left = (uint64_t)pause_ms;
        struct pollfd ended = {.fd = pidfd, .events = POLLIN};
        poll(&ended, 1, left > INT_MAX ? INT_MAX : (int)left);
        if (pause_ms < POLL_MAX_MS)
            pause_ms *= 2;
    }
}

/* Whether it was killed, and not by us. */
static bool wait_or_kill(pid_t pid, const struct walk *w, uint64_t deadline_ms)
{
    int pidfd = px_reclaim_pidfd_open(pid);
    uint64_t first_ms = px_clock_ms() + CONFINED_MS;
    int status;

    if (deadline_ms && deadline_ms < first_ms)
        first_ms = deadline_ms;
    bool ended = await_end(pid, pidfd, first_ms, &status);
    if (!ended && !w->report->confined)
        ended = await_end(pid, pidfd, deadline_ms, &status);
    bool was_killed = ended && WIFSIGNALED(status);
    if (!ended) {
        kill(pid, SIGKILL);
        await_end(pid, pidfd, px_clock_ms() + LAST_GRACE_MS, &status);
    }
    if (pidfd >= 0)
        close(pidfd);
    return was_killed;
}

/* Nobody has looked at them, or not at all of them. */
static void give_up(const struct px_reclaim *s, const struct px_rm_item *items,
                    size_t n, enum px_rm_why why, int errnum,
                    struct px_pcleanup_totals *totals)
{
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind == PX_RM_KEEP)
            continue;
        totals->failed++;
        if (s->told)
            s->told(s->arg, items[i].path, why, errnum);
    }
}

/* 0 or an errno: no child could be made; or ECHILD, it was killed. */
static int walk_once(struct walk *w, uint64_t deadline_ms)
{
    pid_t child = px_reclaim_fork();

    if (child == 0)
        walk_in_child(w);
    if (child < 0)
        return errno;
    return wait_or_kill(child, w, deadline_ms) ? ECHILD : 0;
}

static int walk(struct walk *w, struct px_pcleanup_totals *totals)
{
    const struct px_reclaim *s = w->sweep;
    uint64_t deadline = s->timeout_ms ? px_clock_ms() + s->timeout_ms : 0;
    int errnum = walk_once(w, deadline);

    if (!errnum && !w->report->finished && w->report->confined &&
        (!deadline || px_clock_ms() < deadline)) {
        const struct px_pcleanup_totals removed = {.files = w->report->totals.files,
                                                   .dirs = w->report->totals.dirs};

        *w->report = (struct report){.totals = removed};
        w->anywhere = true;
        errnum = walk_once(w, deadline);
    }
    px_pcleanup_add(totals, &w->report->totals);
    if (!errnum && !w->report->finished)
        give_up(s, w->items, w->n, PX_RM_FAILED, ETIMEDOUT, totals);
    return errnum ? errnum : w->report->finished ? w->report->errnum : 0;
}

int px_reclaim_walk(const struct px_reclaim *s, const struct px_rm_item *items,
                    size_t n, uid_t uid, gid_t gid, struct px_pcleanup_totals *totals)
{
    struct walk w = {.sweep = s, .items = items, .n = n, .uid = uid, .gid = gid};

    if (geteuid() != 0 && uid != geteuid()) {
        give_up(s, items, n, PX_RM_REFUSED, EPERM, totals);
        return 0;
    }
    struct report *report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return ENOMEM;
    w.report = report;
    w.parent = getpid();
    int errnum = walk(&w, totals);
    munmap(report, sizeof(*report));
    return errnum;
}

/* ---- user by user --------------------------------------------------------------- */

static bool is_picked(const struct px_journal_record *r,
                      const struct px_reclaim_pick *pick)
{
    if (!pick || r->kind == PX_RM_KEEP)
        return true;
    return !(pick->files_only && r->kind != PX_RM_FILE) &&
           !(pick->spare && px_rm_path_is_in(r->path, pick->spare));
}

static bool is_for(const struct px_journal_record *r, uid_t uid, gid_t gid)
{
    return r->kind == PX_RM_KEEP || (r->uid == uid && r->gid == gid);
}

/* What other scopes of the same user want kept. */
static size_t collect_kept(const struct px_journal_view *view, size_t first, size_t n,
                           uid_t uid, struct px_rm_item *items)
{
    size_t n_items = 0;

    for (size_t i = 0; i < view->n; i++) {
        struct px_journal_record r;

        if ((i >= first && i < first + n) || view->entries[i].type != PX_JOURNAL_ITEM)
            continue;
        px_journal_view_get(view, &view->entries[i], &r);
        if (r.kind == PX_RM_KEEP && r.uid == uid)
            items[n_items++] = (struct px_rm_item){.path = r.path, .kind = PX_RM_KEEP};
    }
    return n_items;
}

size_t px_reclaim_collect(const struct px_journal_view *view, size_t first, size_t n,
                          const struct px_journal_record *owner,
                          const struct px_reclaim_pick *pick, struct px_rm_item *items)
{
    struct px_journal_entry *entries = view->entries + first;
    size_t n_items = 0, n_kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct px_journal_record r;

        if (entries[i].type != PX_JOURNAL_ITEM)
            continue;
        px_journal_view_get(view, &entries[i], &r);
        if (!is_for(&r, owner->uid, owner->gid))
            continue;
        entries[i].done = r.kind != PX_RM_KEEP;
        if (!is_picked(&r, pick))
            continue;
        n_kept += r.kind == PX_RM_KEEP;
        items[n_items++] = (struct px_rm_item){.path = r.path,
                                               .kind = r.kind,
                                               .flags = (uint8_t)r.flags,
                                               .device = r.x,
                                               .inode = r.y};
    }
    if (n_items == n_kept)
        return 0;
    if (!pick)
        n_items += collect_kept(view, first, n, owner->uid, items + n_items);
    else if (pick->spare)
        items[n_items++] = (struct px_rm_item){.path = pick->spare, .kind = PX_RM_KEEP};
    return n_items;
}

int px_reclaim_entries(const struct px_reclaim *s, const struct px_journal_view *view,
                       size_t first, size_t n, const struct px_reclaim_pick *pick,
                       struct px_pcleanup_totals *totals)
{
    struct px_journal_entry *entries = view->entries + first;
    size_t size_b = (view->n + 1) * sizeof(struct px_rm_item);
    int result = 0;

    if (n == 0)
        return 0;
    struct px_rm_item *items = px_reclaim_map(size_b);
    if (!items)
        return ENOMEM;
    for (size_t i = 0; i < n; i++)
        entries[i].done = entries[i].type != PX_JOURNAL_ITEM;
    for (size_t i = 0; i < n; i++) {
        struct px_journal_record r;

        if (entries[i].done)
            continue;
        px_journal_view_get(view, &entries[i], &r);
        if (r.kind == PX_RM_KEEP)
            continue;
        size_t n_items = px_reclaim_collect(view, first, n, &r, pick, items);
        int errnum = n_items ? px_reclaim_walk(s, items, n_items, r.uid, r.gid, totals)
                             : 0;
        if (!result)
            result = errnum;
    }
    px_reclaim_unmap(items, size_b);
    return result;
}

int px_reclaim_scope(const struct px_reclaim *s, uint64_t scope,
                     struct px_pcleanup_totals *totals)
{
    struct px_journal_view view;
    int errnum = px_journal_view_load(s->journal, &scope, &view);

    if (errnum)
        return errnum;
    size_t first = 0;
    while (first < view.n && view.entries[first].scope != scope)
        first++;
    errnum = px_reclaim_entries(
        s, &view, first, first < view.n ? px_journal_view_scope(&view, first) : 0, NULL,
        totals);
    px_journal_view_unload(&view);
    return errnum;
}
