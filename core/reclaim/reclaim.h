/* SPDX-License-Identifier: BSD-3-Clause */
/* Doing what a journal says, in processes of their own: per user a child that becomes
 * that user before it touches a path, and walks (rmtree.h). Shared by the components of
 * pcleanup. For processes made by a bare clone: no malloc, no stdio, no locks.
 * Blocks. */
#ifndef PX_RECLAIM_RECLAIM_H
#define PX_RECLAIM_RECLAIM_H

#include "core/reclaim/journal_view.h"
#include "core/reclaim/rmtree.h"

#include <sys/types.h>

struct px_reclaim {
    int journal;      /* descriptor, open for reading */
    const char *node; /* this node's name */
    px_rm_told_fn
        told; /* NULL; called in the child that walks, or here for what no child
                           could be made for: must be safe in both */
    void *arg;
    const int *keep; /* sorted: the descriptors told needs; the child has no others */
    size_t n_keep;
    uint32_t
        timeout_ms; /* for one user's walk; after it the child is killed. 0: none */
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

/* Which of a scope's items. */
struct px_reclaim_pick {
    bool files_only;
    const char
        *spare; /* NULL, or a folder: stays, and items beneath it are passed over */
};

/* What the owner of one item has among those entries, and what anybody wants kept
 * there, and, without pick, the same user in other scopes; items has room for one more
 * than the view has entries. Marks as done what is not to be looked at again. 0 if
 * there is nothing to remove. */
size_t px_reclaim_collect(const struct px_journal_view *view, size_t first, size_t n,
                          const struct px_journal_record *owner,
                          const struct px_reclaim_pick *pick, struct px_rm_item *items);
/* The n entries from first on, all of one scope, user by user. pick may be NULL. */
int px_reclaim_entries(const struct px_reclaim *s, const struct px_journal_view *view,
                       size_t first, size_t n, const struct px_reclaim_pick *pick,
                       struct px_pcleanup_totals *totals);

#endif
