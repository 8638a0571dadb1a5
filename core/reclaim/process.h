/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that the host does not meet, and knowing and ending others. */
#ifndef PX_RECLAIM_PROCESS_H
#define PX_RECLAIM_PROCESS_H

#include "core/reclaim/journal.h"

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

/* A descriptor that is readable when the process has ended, whoever it is; -1. */
int px_reclaim_pidfd_open(int64_t pid);
/* The same of the process with that start time; -1 also if it has ended. */
int px_reclaim_pidfd(int64_t pid, uint64_t start);

/* Ends the process that r is about (PROC with END) and its process group, which may be
 * without it by now, if they are still those. */
void px_reclaim_kill(const struct px_journal_record *r);

#endif
