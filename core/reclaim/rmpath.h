/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that clients provide, and how the removal of trees (rmtree.h) opens them. Each
 * step opens one folder, so a concurrent rename cannot redirect the removal.
 * Async-signal-safe except px_rm_path_resolve. */
#ifndef PX_RECLAIM_RMPATH_H
#define PX_RECLAIM_RMPATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PX_RM_MAX_PATH 4095

/* Checks a path by its text alone and writes its normal form to out (PX_RM_MAX_PATH + 1
 * bytes). The normal form has no "." and no doubled or trailing slash. Returns NULL, or
 * the problem: empty, relative, too long, "/", in /proc or /sys, or with "..". */
const char *px_rm_path_check(const char *path, char *out);

/* Checks a path like px_rm_path_check for a client with uid and gid. Resolves ".." and
 * the symbolic links that px_rm_open_way would follow for this client, but does not
 * follow the last name. Returns NULL, or the problem, e.g. a link that must not be
 * followed.  Does not examine names that are absent or not visible to the client. Does
 * not examine file systems that may block (network or FUSE), either. There, ".." is
 * resolved by text, and links are left to the removal. Does not block, so the loop may
 * call this function. Allocates. */
const char *px_rm_path_resolve(const char *path, uid_t uid, gid_t gid, char *out);

/* True if path is folder or below it. Both are in normal form. */
bool px_rm_path_is_in(const char *path, const char *folder);

/* Features that this kernel, or a filter above it, lacks. Starts zeroed. */
struct px_rm_sys {
    bool no_statx;
    bool no_mount_flag; /* px_rm_probe cannot detect mount points */
    bool no_links;      /* set by the caller: links are not followed */
    bool no_wait;       /* set by the caller: px_rm_probe accepts cached attributes */
};

struct px_rm_node {
    dev_t dev;
    ino_t ino;
    uid_t uid;
    gid_t gid;
    mode_t mode;
    uint64_t links;
    bool mount;         /* a mount point */
    int64_t changed_ns; /* time of creation or last change, since 1970 */
};

static inline bool px_rm_is(const struct px_rm_node *node, dev_t dev, ino_t ino)
{
    return node->dev == dev && node->ino == ino;
}

/* Reads the attributes of name in folder at, without following a link; "" is at itself.
 * Returns 0 or an errno. */
int px_rm_probe(struct px_rm_sys *sys, int at, const char *name,
                struct px_rm_node *out);

/* Functions that return a close-on-exec descriptor of a folder, or minus an errno. */

/* Opens an absolute path with O_PATH. Follows up to 40 symbolic links; any other link
 * gives -ELOOP. Root's links are followed in folders that only root can write. If this
 * process is the client (otherwise PX_RM_NO_CLIENT), the client's own links with one
 * name are followed. Their folder must be the client's, or root's where no other user
 * can rename the link. */
int px_rm_open_way(struct px_rm_sys *sys, const char *path, uid_t client);
#define PX_RM_NO_CLIENT ((uid_t)-1)
/* Opens a folder for reading. Returns -ENOTDIR for other files, also for links to
 * folders. */
int px_rm_open_in(int at, const char *name);
/* Opens a folder like px_rm_open_in and reads its attributes. Returns -EXDEV for a
 * mount point. dev is at's device. *mount caches at's mount id between calls and starts
 * as -1. */
int px_rm_open_below(struct px_rm_sys *sys, int at, dev_t dev, int64_t *mount,
                     const char *name, struct px_rm_node *out);

#endif
