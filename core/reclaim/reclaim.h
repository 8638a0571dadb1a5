/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the removals of a journal. For each user a child becomes that user before it
 * touches a path, and walks (rmtree.h). The components of pcleanup share these
 * functions. Nothing here uses malloc, stdio or locks, because processes made by a bare
 * clone call them. The calls block. */
#ifndef PX_RECLAIM_RECLAIM_H
#define PX_RECLAIM_RECLAIM_H

#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"

struct px_reclaim {
    int journal;      /* descriptor, open for reading */
    const char *node; /* this node's name */
    /* May be NULL. Called in the walking child, whose only descriptor is 2, or in this
     * process for items without a child. Must be safe in both. */
    px_rm_notify_fn notify;
    void *arg;
    /* Limit of one user's walk, after which the child is killed. 0: no limit. */
    uint32_t timeout_ms;
};

/* Removes the things of a scope as the users that own them, waits, and adds to *totals.
 * Items of a child that timed out count as failed. A process without root's rights
 * refuses other users' items. Returns 0 or an errno. ECHILD: another process killed a
 * child before its end. */
int px_reclaim_scope(const struct px_reclaim *s, uint64_t scope,
                     struct px_pcleanup_totals *totals);

/* Makes a child that becomes uid and gid and removes the items. Returns 0, even if
 * items remain, or an errno. ECHILD: as for px_reclaim_scope. */
int px_reclaim_walk(const struct px_reclaim *s, const struct px_rm_item *items,
                    size_t n, uid_t uid, gid_t gid, struct px_pcleanup_totals *totals);

/* A selection of a server's own items. spare is the server's folder. */
struct px_reclaim_pick {
    enum {
        PX_RECLAIM_FILES, /* files outside spare */
        PX_RECLAIM_TREES, /* everything outside spare */
        PX_RECLAIM_ABOVE, /* parent folders of spare */
    } which;
    const char *spare;
};

/* Collects the items of owner's user and group among entries [first, first + n), and
 * the KEEP paths there. Without pick, adds the user's KEEP paths of other scopes. items
 * has room for view->n + 1 items. Sets done in entries that are complete. Returns 0 if
 * nothing is to be removed. */
size_t px_reclaim_collect(const struct px_journal_view *view, size_t first, size_t n,
                          const struct px_journal_record *owner,
                          const struct px_reclaim_pick *pick, struct px_rm_item *items);
/* Removes the entries of one scope, which begins at first, user by user. pick may be
 * NULL. */
int px_reclaim_entries(const struct px_reclaim *s, const struct px_journal_view *view,
                       size_t first, const struct px_reclaim_pick *pick,
                       struct px_pcleanup_totals *totals);

#endif
