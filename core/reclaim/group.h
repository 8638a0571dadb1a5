/* SPDX-License-Identifier: BSD-3-Clause */
/* The control group of what a server starts, below the server's own: where version 2 is
 * there and delegated, or else of version 1 (freezer, pids). It stands for the server
 * with that pid and start time. Nothing allocates, locks or formats. */
#ifndef PX_RECLAIM_GROUP_H
#define PX_RECLAIM_GROUP_H

#include <stdint.h>

/* Makes it. A descriptor of its folder; -1 and errno. */
int px_group_make(int64_t server, uint64_t start);
/* Kills all in it, as px_reclaim_kill_marked does, and removes it: for a second at
 * most. */
void px_group_end(int64_t server, uint64_t start);

#endif
