/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes files and trees that a possibly hostile user has named. No link inside a tree
 * is followed, and on the path to a tree only links that px_rm_open_way allows. No
 * mount point is crossed. Only entries of that user (uid and gid) are removed. A
 * concurrent rename cannot redirect the removal.  The calling process must first become
 * the user (process.h). Nothing here uses malloc, stdio or locks, because these
 * functions run in bare clones of threaded processes. They block on the file system and
 * must not run on the loop. */
#ifndef PX_RECLAIM_RMTREE_H
#define PX_RECLAIM_RMTREE_H

#include "core/reclaim/rmpath.h"
#include "tenon/pcleanup.h"

enum px_rm_kind {
    PX_RM_FILE = 1, /* anything except a folder */
    PX_RM_DIR = 2,  /* the content of a folder, and the folder if it becomes empty */
    /* Excluded from removal by items of kind DIR; a folder with its whole content. */
    PX_RM_KEEP = 3,
};

enum px_rm_flag {
    PX_RM_RECURSE = 1,   /* DIR: subfolders, too */
    PX_RM_LEAVE_TOP = 2, /* DIR: all except the folder itself */
    PX_RM_EMPTY = 4,     /* DIR: empty folders only; files stay */
    PX_RM_ANY_GID = 8,   /* with any group */
    PX_RM_SAME = 16,     /* only with the given device and inode */
};

struct px_rm_item {
    const char *path; /* absolute, in normal form (px_rm_path_check) */
    uint8_t kind;
    uint8_t flags;
    uint64_t device, inode; /* with PX_RM_SAME */
};

/* Reasons why an entry stays. */
enum px_rm_why {
    PX_RM_ASKED = 1, /* matched by an item of kind KEEP */
    PX_RM_FOREIGN,   /* owned by another user or group */
    PX_RM_MOUNT,     /* a mount point below the top */
    PX_RM_LINK,      /* a symbolic link on the path that another user may have made */
    /* "/", /proc, /sys, cgroupfs, another file than meant (SAME), or the wrong kind. */
    PX_RM_REFUSED,
    PX_RM_MOVED,  /* the tree changed during the walk */
    PX_RM_FAILED, /* a system call failed: errnum */
};

/* Called for each entry that stays, but not for parents that stay with it. */
typedef void (*px_rm_notify_fn)(void *arg, const char *path, enum px_rm_why why,
                                int errnum);

/* Removes the files first, then the trees, deepest path first. Only entries of uid and
 * gid are removed. notify may be NULL. Adds to *totals. Returns 0, or an errno if
 * memory for the run is missing. Later failures are counted and reported. */
int px_rm_run(const struct px_rm_item *items, size_t n, uid_t uid, gid_t gid,
              px_rm_notify_fn notify, void *arg, struct px_pcleanup_totals *totals);

/* Maps zeroed memory without an allocator. Returns NULL on failure. */
void *px_reclaim_map(size_t size_b);
void px_reclaim_unmap(void *mapped, size_t size_b);

#endif
