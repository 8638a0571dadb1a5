/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be removed, and why something stays. */
#ifndef PX_RECLAIM_RMITEM_H
#define PX_RECLAIM_RMITEM_H

#include "tenon/pcleanup.h"

#include <stdint.h>

enum px_rm_kind {
    PX_RM_FILE = 1, /* anything but a folder */
    PX_RM_DIR = 2,  /* what is in a folder, and the folder if that leaves it empty */
    PX_RM_KEEP =
        3, /* stays where an item of kind DIR would remove it; a folder with all in it */
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
    PX_RM_REFUSED, /* "/", /proc, /sys, cgroupfs, not the file that was meant (SAME), wrong kind */
    PX_RM_MOVED,  /* the tree changed under the walk */
    PX_RM_FAILED, /* the system said no: errnum */
};

/* For each entry that stays; parents that stay because of it are not told. */
typedef void (*px_rm_told_fn)(void *arg, const char *path, enum px_rm_why why,
                              int errnum);

#endif
