/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing files and trees that a user has named who may be hostile: no link is
 * followed in a tree, and on the way to it those only that px_rm_open_way allows; no
 * mount point is crossed, nothing touched that is not that user's (uid and gid), and
 * paths are taken apart descriptor by descriptor, so that nothing which is renamed
 * meanwhile leads elsewhere.
 *
 * It runs as whoever calls it; becoming the user first is the caller's
 * (core/reclaim/reclaim.h). Everything here is for processes made by a bare clone of a
 * threaded one: no malloc, no stdio, no locks; memory comes from mmap. It blocks on the
 * file system: never on the loop. */
#ifndef PX_RECLAIM_RMTREE_H
#define PX_RECLAIM_RMTREE_H

#include "core/reclaim/rmitem.h"
#include "core/reclaim/rmpath.h"

#include <stddef.h>
#include <sys/types.h>

/* Files first, then trees, the deepest path first. Only what has uid and gid as owner
 * is removed. told may be NULL. Adds to *totals. Returns 0, or an errno if it could not
 * even begin (memory); all that fails later is counted and told. */
int px_rm_run(const struct px_rm_item *items, size_t n, uid_t uid, gid_t gid,
              px_rm_told_fn told, void *arg, struct px_pcleanup_totals *totals);

#endif
