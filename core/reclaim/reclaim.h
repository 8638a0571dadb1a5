/* SPDX-License-Identifier: BSD-3-Clause */
/* Doing what a journal says, in processes of their own: per user a child that becomes
 * that user before it touches a path, and walks (rmtree.h). Shared by the components of
 * pcleanup. For processes made by a bare clone: no malloc, no stdio, no locks.
 * Blocks. */
#ifndef PX_RECLAIM_RECLAIM_H
#define PX_RECLAIM_RECLAIM_H

#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"

#include <sys/types.h>

/* A child as fork(2) makes it, but no signal tells the parent of its end and only
 * waitpid(pid, ..., __WALL) sees it: hosts that reap whatever ends do not meet it. In
 * the child all signals are blocked, and only async-signal-safe functions may be
 * called; nothing of the C library that sets ids, which would look for the threads of
 * the parent. -1 and errno. */
pid_t px_reclaim_fork(void);

/* In a child: all signals blocked and with their defaults, own session, "/" as folder,
 * umask 077, descriptors closed but those in keep[0..n) (sorted), 0-2 on /dev/null
 * (each stays if keep has it), named name, not dumpable. */
void px_reclaim_detach(const char *name, const int *keep, size_t n);

/* For good: groups, gid, uid, no capabilities (unless uid is root's), no new
 * privileges. The ids are left alone if it is that user already and, for root, that
 * group. Ends the process if any step fails or could be undone. */
void px_drop_privileges(uid_t uid, gid_t gid);
/* After that, where the kernel has Landlock: from now on this process may change
 * nothing in the file system but remove beneath the folders in which the items stand;
 * with NULL, remove anywhere. Ends the process if it cannot be told whether that holds.
 * False if there is no Landlock. */
bool px_reclaim_confine(const struct px_rm_item *items, size_t n);

/* A descriptor that is readable when the process has ended, whoever it is; -1. */
int px_reclaim_pidfd_open(int64_t pid);
/* The same of the process with that start time; -1 also if it has ended. */
int px_reclaim_pidfd(int64_t pid, uint64_t start);

/* Ends the process that r is about (PROC with END) and its process group, which may be
 * without it by now, if they are still those. */
void px_reclaim_kill(const struct px_journal_record *r);

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
 * not root's refuses what is not its user's. 0 or an errno; ECHILD: a child was killed by
 * another process, and has not looked at everything. */
int px_reclaim_scope(const struct px_reclaim *s, uint64_t scope,
                     struct px_pcleanup_totals *totals);

/* What is left to do of a server that is no more; dir is its folder, by path, and gone
 * afterwards unless something in it has to stay. Kills what should have ended with it
 * (PX_JOURNAL_END). Then, as their processes end, sweeps the scopes, and at last scope
 * 0 and dir. If the journal is of another boot or node, only scope 0 and dir; without a
 * journal only dir. wait false: scopes whose processes live are left for another time,
 * and so are journal and dir.
 *
 * Nothing happens while somebody holds the lock (BSD, exclusive) on dir. locked is -1,
 * or the caller's descriptor of dir with that lock: then it counts, and dir may have
 * been moved or removed; s->journal is used if the journal is not in it any more, and
 * else not. Nothing either if the journal is not one: no file, linked elsewhere,
 * another's.
 *
 * 0 (also if dir is not there); EBUSY (the lock, or processes that live); EPERM (not a
 * folder or a journal of ours: name, owner, mode 0700 and 0600), or another errno. May
 * be killed anywhere: whoever calls it next does the rest. */
int px_reclaim_server_dir(const struct px_reclaim *s, const char *dir, int locked,
                          bool wait, struct px_pcleanup_totals *totals);

/* Whether only this node has the file system; then its locks tell of every server, and
 * what is removed while somebody has it open is gone. */
bool px_reclaim_is_local(int fd);

/* Calls px_reclaim_server_dir without waiting for each folder PX_JOURNAL_DIR* of this
 * user in tmpdir that nobody holds the lock of; s->journal is not used. 0 also if some
 * are left to others or for later, else the first errno. */
int px_reclaim_tmpdir(const struct px_reclaim *s, const char *tmpdir,
                      struct px_pcleanup_totals *totals);

#endif
