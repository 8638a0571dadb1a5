/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that the host does not meet, and that are a user for good; and knowing and
 * ending others. */
#ifndef PX_RECLAIM_PROCESS_H
#define PX_RECLAIM_PROCESS_H

#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"

/* A child as fork(2) makes it, but no signal tells the parent of its end and only
 * waitpid(pid, ..., __WALL) sees it: hosts that reap whatever ends do not meet it. In
 * the child all signals are blocked, and only async-signal-safe functions may be
 * called; nothing of the C library that sets ids, which would look for the threads of
 * the parent. -1 and errno. */
pid_t px_reclaim_fork(void);

/* Names of those that clean up, which no other that cleans up kills. */
#define PX_RECLAIM_JANITOR "tenon-janitor"
#define PX_RECLAIM_WORKER  "tenon-sweep"

/* In a child: all signals blocked and with their defaults, own session, "/" as folder,
 * umask 077, descriptors closed but those in keep[0..n) (sorted), 0-2 on /dev/null
 * (each stays if keep has it), named name, not dumpable. */
void px_reclaim_detach(const char *name, const int *keep, size_t n);
/* After that: it ends with the thread that has made it, which is of process parent. */
void px_reclaim_bind(pid_t parent);
/* Makes a child in which a component of a vendor runs, by the C library's fork, as the
 * component allocates. The child has left the host as above, ends with the calling
 * thread, blocks no signal, and has stderr and descriptor keep alone. Returns the
 * child's pid, 0 in the child, or -1 with errno. */
pid_t px_reclaim_fork_component(const char *name, int keep);

/* For good: groups, gid, uid, no capabilities (unless uid is root's), no new
 * privileges. The ids are left alone if it is that user already and, for root, that
 * group. Ends the process if any step fails or could be undone. */
void px_drop_privileges(uid_t uid, gid_t gid);
/* After that, where the kernel has Landlock: from now on this process may change
 * nothing in the file system but remove beneath the folders in which the items stand;
 * with NULL, remove anywhere. Ends the process if it cannot be told whether that holds.
 * False if there is no Landlock. */
bool px_reclaim_confine(const struct px_rm_item *items, size_t n);

/* A descriptor that is readable when the process, a child or not, has ended; -1. */
int px_reclaim_pidfd_open(int64_t pid);
/* True if the child has ended (*status as from waitpid) or is none of ours (-1). */
bool px_reclaim_reap(pid_t pid, int *status);
/* Waits for its end until that time (0: for ever). */
bool px_reclaim_reap_until(pid_t pid, uint64_t deadline_ms, int *status);
/* Kills it, and waits for its end. One that hangs in the kernel is given up. */
void px_reclaim_end(pid_t pid);

/* Ends the process that r is about (PROC with END) and its process group, which may be
 * without it by now, if they are still those. */
void px_reclaim_kill(const struct px_journal_record *r);

/* Kills it, unless it is one that cleans up. pidfd: opened before the caller had a
 * look at it, so that it is that process or none; -1 where there are none. False if it
 * lives on. */
bool px_reclaim_kill_one(int64_t pid, int pidfd);
/* Ends what process server, of that start time, has started and marked (px_osproc_rlimit_tag),
 * and what these have started. Not those that clean up after servers. wait: until there
 * are none, for a second at most. */
void px_reclaim_kill_marked(int64_t server, uint64_t start, bool wait);

#endif
