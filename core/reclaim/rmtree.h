/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing files and trees that a user has named who may be hostile: no link is
 * followed in a tree, and on the way to it those only that px_rm_open_way allows; no
 * mount point is crossed, nothing touched that is not that user's (uid and gid), and
 * nothing that is renamed meanwhile leads elsewhere.
 *
 * It runs as the process that calls it, which becomes the user first (process.h). For
 * processes made by a bare clone of a threaded one: no malloc, no stdio, no locks. It
 * blocks on the file system: never on the loop. */
#ifndef PX_RECLAIM_RMTREE_H
#define PX_RECLAIM_RMTREE_H

#include "core/reclaim/rmpath.h"
#include "tenon/pcleanup.h"

enum px_rm_kind {
    PX_RM_FILE = 1, /* anything but a folder */
    PX_RM_DIR = 2,  /* what is in a folder, and the folder if that leaves it empty */
    /* stays where an item of kind DIR would remove it; a folder with all in it */
    PX_RM_KEEP = 3,
};

enum px_rm_flag {
    PX_RM_RECURSE = 1,   /* DIR: folders in it, too */
    PX_RM_LEAVE_TOP = 2, /* DIR: but not the folder itself */
    PX_RM_EMPTY = 4,     /* DIR: only folders that are empty; no files */
    PX_RM_ANY_GID = 8,   /* whatever group it has */
    PX_RM_SAME = 16,     /* only if device and inode are those given */
};

struct px_rm_item {
    const char *path; /* absolute, normal (px_rm_path_check) */
    uint8_t kind;
    uint8_t flags;
    uint64_t device, inode; /* with PX_RM_SAME */
};

/* Why something stays. */
enum px_rm_why {
    PX_RM_ASKED = 1, /* of kind KEEP */
    PX_RM_FOREIGN,   /* of another user or group */
    PX_RM_MOUNT,     /* a mount point below the top */
    PX_RM_LINK,      /* the way to it has a symbolic link that may be others' */
    /* "/", /proc, /sys, cgroupfs, not the file that was meant (SAME), wrong kind */
    PX_RM_REFUSED,
    PX_RM_MOVED,  /* the tree changed under the walk */
    PX_RM_FAILED, /* the system said no: errnum */
};

/* For each entry that stays; parents that stay because of it are not told. */
typedef void (*px_rm_notify_fn)(void *arg, const char *path, enum px_rm_why why,
                                int errnum);

/* Files first, then trees, the deepest path first. Only what has uid and gid as owner
 * is removed. told may be NULL. Adds to *totals. Returns 0, or an errno if it could not
 * even begin (memory); all that fails later is counted and told. */
int px_rm_run(const struct px_rm_item *items, size_t n, uid_t uid, gid_t gid,
              px_rm_notify_fn told, void *arg, struct px_pcleanup_totals *totals);

/* Memory without an allocator, zero; NULL if there is none. */
void *px_reclaim_map(size_t size_b);
void px_reclaim_unmap(void *mapped, size_t size_b);

#endif
