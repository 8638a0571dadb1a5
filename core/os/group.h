/* SPDX-License-Identifier: BSD-3-Clause */
/* The control group for processes that a server starts, below the server's own
 * group. The server's pid and start time give the group's name. Nothing here allocates,
 * locks or uses stdio. */
#ifndef PX_OS_GROUP_H
#define PX_OS_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Creates the group. Returns a descriptor of the group's folder, or -1 with errno. */
int px_group_make(int64_t server, uint64_t start);
/* Kills a process, which pidfd means, too. False if the process lives on. */
typedef bool (*px_group_kill_fn)(int64_t pid, int pidfd);
/* Kills all members and removes the group. Takes at most a second. */
void px_group_end(int64_t server, uint64_t start, px_group_kill_fn end);

#endif
