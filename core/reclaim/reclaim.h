/* SPDX-License-Identifier: BSD-3-Clause */
/* Doing what a journal says, in processes of their own: per user a child that becomes
 * that user before it touches a path, and walks (rmtree.h). Shared by the components of
 * pcleanup. For processes made by a bare clone: no malloc, no stdio, no locks.
 * Blocks. */
#ifndef PX_RECLAIM_RECLAIM_H
#define PX_RECLAIM_RECLAIM_H

#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"

struct px_reclaim {
    int journal;      /* descriptor, open for reading */
    const char *node; /* this node's name */
    /* NULL; called in the child that walks, which has no descriptor but 2, or here for
     * what no child could be made for: must be safe in both */
    px_rm_notify_fn told;
    void *arg;
    /* for one user's walk; after it the child is killed. 0: none */
    uint32_t timeout_ms;
};

/* Removes what stands in the scope, as those it belongs to, and waits for that. Adds to
 * *totals; what a child has left that took too long counts as failed. A process that is
 * not root's refuses what is not its user's. 0 or an errno; ECHILD: a child was killed
 * by another process, and has not looked at everything. */
int px_reclaim_scope(const struct px_reclaim *s, uint64_t scope,
                     struct px_pcleanup_totals *totals);

/* One child that becomes uid and gid and removes the items. 0 if it was made, whatever
 * became of it: else an errno. */
int px_reclaim_walk(const struct px_reclaim *s, const struct px_rm_item *items,
                    size_t n, uid_t uid, gid_t gid, struct px_pcleanup_totals *totals);

/* Which of a server's own items; spare is its folder. */
struct px_reclaim_pick {
    enum {
        PX_RECLAIM_FILES, /* the files; what is in spare is passed over */
        PX_RECLAIM_TREES, /* all; spare stays */
        PX_RECLAIM_ABOVE, /* the folders that spare was in */
    } which;
    const char *spare;
};

/* Collects the items that the owner of one item has among those entries, the paths that
 * any user wants kept there, and, without pick, the items of the same user in other
 * scopes; items has room for one more than the view has entries. Marks as done what is
 * not to be looked at again. 0 if there is nothing to remove. */
size_t px_reclaim_collect(const struct px_journal_view *view, size_t first, size_t n,
                          const struct px_journal_record *owner,
                          const struct px_reclaim_pick *pick, struct px_rm_item *items);
/* The entries from first on that are of its scope, user by user; pick may be NULL. */
int px_reclaim_entries(const struct px_reclaim *s, const struct px_journal_view *view,
                       size_t first, const struct px_reclaim_pick *pick,
                       struct px_pcleanup_totals *totals);

#endif
