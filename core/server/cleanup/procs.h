/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes behind connections, and how their end is noticed: it is the death of the process that
 * counts, not that of its socket. */
#ifndef PX_SERVER_CLEANUP_PROCS_H
#define PX_SERVER_CLEANUP_PROCS_H

#include "core/server/cleanup/registry.h"

/* A connection of a local process was made; false: there is no room for its process. */
bool px_cleanup_proc_here(struct px_cleanup *c, struct px_peer *peer);
/* A connection is gone. Says nothing of the process yet, unless its pid is unknown. */
void px_cleanup_proc_left(struct px_peer *peer);
/* We have started this process, which leads a group: all in it ends with us. */
pmix_status_t px_cleanup_proc_hold(struct px_cleanup *c, const pmix_proc_t *proc,
                                   pid_t pid);
/* The host says that the rank has ended. */
void px_cleanup_rank_reported(struct px_cleanup_rank *r);
void px_cleanup_procs_free(struct px_cleanup_job *job);
/* Known to live now. */
bool px_cleanup_proc_lives(const struct px_cleanup_proc *p);

/* The processes that the scope waits for are known, as far as they can be found, and stand in the journal.
 * The time this takes is the payer's. */
pmix_status_t px_cleanup_know_procs(struct px_cleanup_scope *s,
                                    struct px_cleanup_rank *payer);
/* From now on the end of these processes is noticed. px_cleanup.check has to follow: some may have ended
 * already. */
void px_cleanup_watch_procs(struct px_cleanup_scope *s);

/* Ends what is left in the groups of processes that we have started. */
void px_cleanup_end_groups(struct px_cleanup *c);

#endif
