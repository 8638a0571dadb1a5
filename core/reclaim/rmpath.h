/* SPDX-License-Identifier: BSD-3-Clause */
/* How the removal of trees (rmtree.h) reaches what it looks at: without following a link, by the newest
 * system calls there are, else by older ones to the same effect. Async-signal-safe. */
#ifndef PX_RECLAIM_RMPATH_H
#define PX_RECLAIM_RMPATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PX_RM_NS_PER_S INT64_C(1000000000)

/* What this kernel, or a filter above it, turned out not to have. Begins zeroed. */
struct px_rm_sys {
    bool no_openat2;
    bool no_statx;
    bool no_mount_mark; /* px_rm_look can not tell mount points */
};

/* Who and what something is. */
struct px_rm_node {
    dev_t dev;
    ino_t ino;
    uid_t uid;
    gid_t gid;
    mode_t mode;
    bool mount;         /* something is mounted there */
    int64_t changed_ns; /* or made, since 1970 */
};

static inline bool px_rm_is(const struct px_rm_node *node, dev_t dev, ino_t ino)
{
    return node->dev == dev && node->ino == ino;
}

/* What name in the folder at is, be it a link; "": at itself. 0 or an errno. */
int px_rm_look(struct px_rm_sys *sys, int at, const char *name, struct px_rm_node *out);

/* All give a descriptor (close-on-exec) of a folder, or minus an errno. */

/* One to stand in only (O_PATH). -ELOOP if there is a symbolic link in path, which is absolute. */
int px_rm_open_way(struct px_rm_sys *sys, const char *path);
/* To read it. -ENOTDIR if it is none, be it a link to one. */
int px_rm_open_in(int at, const char *name);
/* The same, but -EXDEV if something is mounted there. at's device is dev; *mount is kept for it from
 * call to call, and is -1 at first. */
int px_rm_open_below(struct px_rm_sys *sys, int at, dev_t dev, int64_t *mount,
                     const char *name);

/* Whether it is in a file system that is not for files: /proc, /sys and the like. */
bool px_rm_is_pseudo(int fd);

#endif
