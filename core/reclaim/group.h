/* SPDX-License-Identifier: BSD-3-Clause */
/* The control group for processes that a server starts, below the server's own group.
 * Version 2 if mounted and delegated, otherwise version 1 (freezer, pids). The server's
 * pid and start time give the group's name. Nothing here allocates, locks or uses
 * stdio. */
#ifndef PX_RECLAIM_GROUP_H
#define PX_RECLAIM_GROUP_H

#include <stdint.h>

/* Creates the group. Returns a descriptor of the group's folder, or -1 with errno. */
int px_group_make(int64_t server, uint64_t start);
/* Kills all members like px_reclaim_kill_tagged and removes the group. Takes at most a
 * second. */
void px_group_end(int64_t server, uint64_t start);

#endif
