/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process holds a socket? The kernel tells the inode and the user of one that came by TCP, not
 * its process: that has to be looked for in /proc, in small steps on the loop. */
#ifndef PX_SERVER_CLEANUP_PIDOF_H
#define PX_SERVER_CLEANUP_PIDOF_H

#include "core/base/list.h"
#include "core/rt/loop.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct px_pidof; /* who searches */

/* pid 0: no process of that user has it. start: its start time (core/base/proc.h). The search is over,
 * and may be begun anew. */
typedef void (*px_pidof_fn)(void *arg, pid_t pid, uint64_t start);

struct px_pidof_search { /* the caller's, zeroed before its first use */
    struct px_list link;
    uint64_t inode;
    uid_t uid;
    px_pidof_fn fn;
    void *arg;
    unsigned n_passes;
    pid_t pid;
    uint64_t start;
    pid_t above; /* an ancestor of pid that may have it, too; 0: none */
};

struct px_pidof *px_pidof_create(struct px_loop *loop); /* NULL: out of memory */
/* Searches that are under way end without an answer. NULL is fine. */
void px_pidof_destroy(struct px_pidof *p);
/* fn is called once, later, or in px_pidof_hurry. Of several processes that share the socket the oldest is meant. */
void px_pidof_begin(struct px_pidof *p, struct px_pidof_search *s);
/* One step at once, not later, if a search was begun since: a process that was started lately is found in
 * it as a rule. Calls back. */
void px_pidof_hurry(struct px_pidof *p);
/* Without an answer. Also fine if it is not under way. */
void px_pidof_cancel(struct px_pidof_search *s);

#endif
