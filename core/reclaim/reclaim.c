/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the things of a scope. For each user a child becomes that user and walks,
 * while the parent enforces the timeout. */
#include "core/reclaim/reclaim.h"

#include "core/base/clock.h"
#include "core/reclaim/process.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limit of a confined walk. For each removal Landlock climbs to the folder with the
 * rule. In a tree of 10,000 levels this takes ten times as long as the rest. After the
 * limit a child that may remove anywhere continues. Such a child also continues when
 * confining failed. */
enum { CONFINED_MS = 3000 };

/* The result of a walk in shared memory, so the results of a killed child count,
 * too. */
struct report {
    struct px_pcleanup_totals totals;
    int errnum;
    bool finished;
};

struct walk {
    const struct px_reclaim *sweep;
    const struct px_rm_item *items;
    size_t n;
    uid_t uid;
    gid_t gid;
    bool anywhere; /* Landlock allows removal anywhere */
    struct report *report;
    pid_t parent;
};

static void walk_in_child(const struct walk *w)
{
    const struct px_reclaim *s = w->sweep;
    const int stderr_fd = STDERR_FILENO;

    px_reclaim_detach(PX_RECLAIM_WORKER, &stderr_fd, s->notify ? 1 : 0);
    px_drop_privileges(w->uid, w->gid);
    (void)px_reclaim_confine(w->anywhere ? NULL : w->items, w->n);
    px_reclaim_bind(w->parent);
    w->report->errnum = px_rm_run(w->items, w->n, w->uid, w->gid, s->notify, s->arg,
                                  &w->report->totals);
    w->report->finished = true;
    _exit(EXIT_SUCCESS);
}

/* Runs one walk in a child. Returns 0 or fork's errno; ECHILD if another process killed
 * the child. */
static int walk_once(struct walk *w, uint64_t deadline_ms)
{
    pid_t child = px_reclaim_fork();
    int status;

    if (child == 0)
        walk_in_child(w);
    if (child < 0)
        return errno;
    if (px_reclaim_reap_until(child, deadline_ms, &status))
        return WIFSIGNALED(status) ? ECHILD : 0;
    px_reclaim_end(child);
    return 0;
}

/* Counts all items as failed and reports each. */
static void give_up(const struct walk *w, enum px_rm_why why, int errnum,
                    struct px_pcleanup_totals *totals)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->items[i].kind == PX_RM_KEEP)
            continue;
        totals->failed++;
        if (w->sweep->notify)
            w->sweep->notify(w->sweep->arg, w->items[i].path, why, errnum);
    }
}

int px_reclaim_walk(const struct px_reclaim *s, const struct px_rm_item *items,
                    size_t n, uid_t uid, gid_t gid, struct px_pcleanup_totals *totals)
{
    const uint64_t now = px_clock_ms(), first = now + CONFINED_MS,
                   deadline = s->timeout_ms ? now + s->timeout_ms : 0;
    struct walk w = {
        .sweep = s, .items = items, .n = n, .uid = uid, .gid = gid, .parent = getpid()};

    if (geteuid() != 0 && uid != geteuid()) {
        give_up(&w, PX_RM_REFUSED, EPERM, totals);
        return 0;
    }
    struct report *report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return ENOMEM;
    w.report = report;
    int errnum = walk_once(&w, deadline && deadline < first ? deadline : first);
    if (!errnum && !report->finished && (!deadline || px_clock_ms() < deadline)) {
        report->totals = (struct px_pcleanup_totals){.files = report->totals.files,
                                                     .dirs = report->totals.dirs};
        w.anywhere = true;
        errnum = walk_once(&w, deadline);
    }
    px_pcleanup_add(totals, &report->totals);
    if (!errnum && report->finished)
        errnum = report->errnum;
    else if (!errnum)
        give_up(&w, PX_RM_FAILED, ETIMEDOUT, totals);
    munmap(report, sizeof(*report));
    return errnum;
}

/* ---- removal per user ----------------------------------------------------------- */

static bool is_picked(const struct px_journal_record *r,
                      const struct px_reclaim_pick *pick)
{
    if (!pick || r->kind == PX_RM_KEEP)
        return true;
    if (pick->which == PX_RECLAIM_ABOVE)
        return r->kind == PX_RM_DIR && strcmp(r->path, pick->spare) != 0 &&
               px_rm_path_is_in(pick->spare, r->path);
    return (pick->which == PX_RECLAIM_TREES || r->kind == PX_RM_FILE) &&
           !px_rm_path_is_in(r->path, pick->spare);
}

size_t px_reclaim_collect(const struct px_journal_view *view, size_t first, size_t n,
                          const struct px_journal_record *owner,
                          const struct px_reclaim_pick *pick, struct px_rm_item *items)
{
    size_t n_items = 0, n_kept = 0;

    for (size_t i = pick ? first : 0; i < (pick ? first + n : view->n); i++) {
        struct px_journal_entry *e = &view->entries[i];
        bool is_inside = i >= first && i < first + n;
        struct px_journal_record r;

        if (e->type != PX_JOURNAL_ITEM)
            continue;
        px_journal_view_get(view, e, &r);
        bool is_kept = r.kind == PX_RM_KEEP;
        if (is_inside ? !is_kept && (r.uid != owner->uid || r.gid != owner->gid)
                      : !is_kept || r.uid != owner->uid)
            continue;
        e->done = is_inside && !is_kept;
        if (!is_picked(&r, pick))
            continue;
        n_kept += is_kept;
        items[n_items++] = (struct px_rm_item){.path = r.path,
                                               .kind = r.kind,
                                               .flags = (uint8_t)r.flags,
                                               .device = r.x,
                                               .inode = r.y};
    }
    if (n_items == n_kept)
        return 0;
    if (pick && pick->which != PX_RECLAIM_ABOVE)
        items[n_items++] = (struct px_rm_item){.path = pick->spare, .kind = PX_RM_KEEP};
    return n_items;
}

int px_reclaim_entries(const struct px_reclaim *s, const struct px_journal_view *view,
                       size_t first, const struct px_reclaim_pick *pick,
                       struct px_pcleanup_totals *totals)
{
    struct px_journal_entry *entries = view->entries + first;
    size_t size_b = (view->n + 1) * sizeof(struct px_rm_item),
           n = px_journal_view_scope(view, first);
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

        px_journal_view_get(view, &entries[i], &r);
        if (entries[i].done || r.kind == PX_RM_KEEP)
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
    size_t first = 0;
    int errnum = px_journal_view_load(s->journal, &scope, &view);

    if (errnum)
        return errnum;
    while (first < view.n && view.entries[first].scope != scope)
        first++;
    errnum = px_reclaim_entries(s, &view, first, NULL, totals);
    px_journal_view_unload(&view);
    return errnum;
}
