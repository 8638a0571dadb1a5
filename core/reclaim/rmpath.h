/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that clients give, and how the removal of trees (rmtree.h) reaches what they
 * name: from folder to folder, so that nothing which is renamed meanwhile leads
 * elsewhere. Async-signal-safe but for px_rm_path_resolve. */
#ifndef PX_RECLAIM_RMPATH_H
#define PX_RECLAIM_RMPATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PX_RM_MAX_PATH 4095

/* Checks a path by its text alone, and writes its normal form, without "." and doubled
 * or trailing slashes, to out (PX_RM_MAX_PATH + 1 bytes). NULL if it is good, else what
 * is wrong: it is empty, relative, too long, "/", in /proc or /sys, or has "..". */
const char *px_rm_path_check(const char *path, char *out);

/* The same for a path as a client of that uid and gid gives it, with ".." resolved, and
 * the symbolic links on the way that px_rm_open_way would follow for that client; the
 * last name is not followed. NULL, or what is wrong: also a link that is not followed.
 * A name that does not exist, is not for the client to see, or is on a file system that
 * may not answer (of other nodes, or of a user's program) is not looked at: there ".."
 * is taken off the text, and links are left to the removal. Does not wait, so it may be
 * called on the loop. Allocates. */
const char *px_rm_path_resolve(const char *path, uid_t uid, gid_t gid, char *out);

/* Whether path is folder, or beneath it; both in normal form. */
bool px_rm_path_is_in(const char *path, const char *folder);

/* The features that this kernel, or a filter above it, turned out not to have. Begins
 * zeroed. */
struct px_rm_sys {
    bool no_statx;
    bool no_mount_mark; /* px_rm_look can not tell mount points */
    bool no_links;      /* set by the caller: none is followed */
    bool no_wait; /* set by the caller: px_rm_look takes what the system has cached */
};

struct px_rm_node {
    dev_t dev;
    ino_t ino;
    uid_t uid;
    gid_t gid;
    mode_t mode;
    uint64_t links;
    bool mount;         /* something is mounted there */
    int64_t changed_ns; /* or made, since 1970 */
};

static inline bool px_rm_is(const struct px_rm_node *node, dev_t dev, ino_t ino)
{
    return node->dev == dev && node->ino == ino;
}

/* Finds out what name in the folder at is, be it a link; "": at itself. 0 or an
 * errno. */
int px_rm_look(struct px_rm_sys *sys, int at, const char *name, struct px_rm_node *out);

/* All give a descriptor (close-on-exec) of a folder, or minus an errno. */

/* One to stand in only (O_PATH). path is absolute. Of symbolic links in it, up to 40
 * are followed: root's in folders that only root may write to; and, if this process is
 * the client (else PX_RM_NO_CLIENT), the client's own, with one name only, in folders
 * of the client's or those of root's where no other user can rename it. -ELOOP at any
 * other. */
int px_rm_open_way(struct px_rm_sys *sys, const char *path, uid_t client);
#define PX_RM_NO_CLIENT ((uid_t)-1)
/* To read it. -ENOTDIR if it is none, be it a link to one. */
int px_rm_open_in(int at, const char *name);
/* The same, and looks at it, but -EXDEV if something is mounted there. at's device is
 * dev; *mount is kept for it from call to call, and is -1 at first. */
int px_rm_open_below(struct px_rm_sys *sys, int at, dev_t dev, int64_t *mount,
                     const char *name, struct px_rm_node *out);

/* Whether it is in a file system that is not for files: /proc, /sys and the like. */
bool px_rm_is_pseudo(int fd);

#endif
