/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk over one tree, for rmtree.c alone. Async-signal-safe. */
#ifndef PX_RECLAIM_RMWALK_H
#define PX_RECLAIM_RMWALK_H

#include "core/reclaim/rmitem.h"
#include "core/reclaim/rmpath.h"

/* An item of kind KEEP. */
struct px_rm_keep {
    const char *path;
    dev_t dev;
    ino_t ino; /* 0: there is none */
};

/* A run over many items. Everything it needs is in one piece of memory, used as a
 * stack. */
struct px_rm_run {
    struct px_rm_sys sys;
    uid_t uid;
    gid_t gid;
    px_rm_told_fn told; /* may be NULL */
    void *arg;
    struct px_pcleanup_totals *totals;
    const struct px_rm_keep *by_path, *by_inode; /* both n_keep, in order */
    size_t n_keep;
    char *mem, *end; /* what is free */
    char *entries;   /* for getdents64 */
    uint64_t n_told;
    char path[PX_RM_MAX_PATH + 5]; /* for telling and keeping */
};

enum { PX_RM_ENTRIES_SIZE = 256 * 1024 };

/* That name stays, in the folder that is the first len bytes of run->path; NULL: the
 * folder. */
void px_rm_stays(struct px_rm_run *run, size_t len, const char *name,
                 enum px_rm_why why, int errnum);
bool px_rm_is_ours(const struct px_rm_run *run, const struct px_rm_node *node,
                   uint8_t flags);
/* Whether the path of run->path, or one that leads to it, is to be kept. */
bool px_rm_keeps_top(struct px_rm_run *run, size_t len);
int px_rm_by_path(const struct px_rm_keep *a, const struct px_rm_keep *b);
int px_rm_by_inode(const struct px_rm_keep *a, const struct px_rm_keep *b);
bool px_rm_keeps_node(const struct px_rm_run *run, const struct px_rm_node *node);

/* A folder to be removed: name in the folder at, opened as fd, which is closed. */
struct px_rm_top {
    uint8_t flags; /* the item's */
    int at, fd;
    const char *name;
    size_t path_len; /* all of run->path is its path */
    struct px_rm_node node;
};

void px_rm_walk(struct px_rm_run *run, const struct px_rm_top *top);

#endif
