/* SPDX-License-Identifier: BSD-3-Clause */
/* Becoming a user who cannot come back, and who may only remove. */
#ifndef PX_RECLAIM_PRIVILEGE_H
#define PX_RECLAIM_PRIVILEGE_H

#include "core/reclaim/rmitem.h"

#include <stddef.h>
#include <sys/types.h>

/* For good: groups, gid, uid, no capabilities (unless uid is root's), no new
 * privileges. The ids are left alone if it is that user already and, for root, that
 * group. Ends the process if any step fails or could be undone. */
void px_drop_privileges(uid_t uid, gid_t gid);
/* After that, where the kernel has Landlock: from now on this process may change
 * nothing in the file system but remove beneath the folders in which the items stand;
 * with NULL, remove anywhere. Ends the process if it cannot be told whether that holds.
 * False if there is no Landlock. */
bool px_reclaim_confine(const struct px_rm_item *items, size_t n);

#endif
