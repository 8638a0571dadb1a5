/* SPDX-License-Identifier: BSD-3-Clause */
/* Doing what a journal says, in processes of their own: per user a child that becomes that user
 * before it touches a path, and walks (rmtree.h). Shared by the components of pcleanup. For
 * processes made by a bare clone: no malloc, no stdio, no locks. Blocks. */
#ifndef PX_BASE_SWEEP_H
#define PX_BASE_SWEEP_H

#include "core/base/rmtree.h"

#include <sys/types.h>

/* A child as fork(2) makes it, but no signal tells the parent of its end and only
 * waitpid(pid, ..., __WALL) sees it: hosts that reap whatever ends do not meet it. In the child
 * only async-signal-safe functions may be called. -1 and errno. */
pid_t px_sweep_fork(void);

/* In a child: all signals blocked or default, own session, "/" as folder, descriptors closed but
 * those in keep[0..n) (sorted), 0-2 on /dev/null (2 stays if keep has it), named name, not
 * dumpable. */
void px_sweep_detach(const char *name, const int *keep, size_t n);

/* For good: groups, gid, uid, no new privileges; Landlock where there is one. Does nothing but the last
 * two if it is that user already and not root. Ends the process if any step fails or could be undone. */
void px_sweep_become(uid_t uid, gid_t gid);

struct px_sweep {
    int journal;        /* descriptor, open for reading */
    const char *node;   /* this node's name */
    px_rm_told_fn told; /* NULL; called in the child that walks: must be safe there */
    void *arg;
    uint32_t
        timeout_ms; /* for one user's walk; after it the child is killed. 0: none */
};

/* Removes what stands in the scope, as those it belongs to, and waits for that. Adds to *totals. 0 or
 * an errno. */
int px_sweep_scope(const struct px_sweep *s, uint64_t scope,
                   struct px_rm_totals *totals);

/* What is left to do of a server that is no more; dir is its folder, by path, and gone afterwards
 * unless something in it has to stay. Kills what should have ended with it (PX_JOURNAL_END). Then, as
 * their processes end, sweeps the scopes, and at last scope 0 and dir. If the journal is of
 * another boot or node, only scope 0 and dir. wait false: scopes whose processes live are left
 * for another time, and so are journal and dir. Nothing happens while somebody holds the lock
 * (BSD, exclusive) on dir, unless has_lock. PMIX-free: 0, EBUSY (the lock, or processes that live),
 * EPERM (not a folder of ours: owner, mode 0700), or another errno. */
int px_sweep_remains(const struct px_sweep *s, const char *dir, bool has_lock,
                     bool wait, struct px_rm_totals *totals);

/* Calls px_sweep_remains without waiting for each folder PX_JOURNAL_DIR* of this user in tmpdir that
 * nobody holds the lock of; s->journal is not used. */
int px_sweep_reclaim(const struct px_sweep *s, const char *tmpdir,
                     struct px_rm_totals *totals);

#endif
