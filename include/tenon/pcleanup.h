/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup: removes what was registered for removal, when the core says that its time
 * has come, and in any case when the server is gone. The core decides what, for whom
 * and when, and writes it into the server's journal (core/reclaim/journal.h); a
 * component reads it there. Contract in frameworks/pcleanup/README.md. */
#ifndef TENON_PCLEANUP_H
#define TENON_PCLEANUP_H

#include "tenon/component.h"

#include <stdbool.h>

#define PX_PCLEANUP_ABI 1u

struct px_pcleanup_totals {
    uint64_t files, dirs; /* removed */
    uint64_t kept;        /* because asked to */
    uint64_t foreign;     /* of another user or group */
    uint64_t failed;
};

static inline void px_pcleanup_add(struct px_pcleanup_totals *all,
                                   const struct px_pcleanup_totals *more)
{
    all->files += more->files;
    all->dirs += more->dirs;
    all->kept += more->kept;
    all->foreign += more->foreign;
    all->failed += more->failed;
}

/* Once, on the loop, never from within the operation it was given to, and not any more
 * after finish. status PMIX_SUCCESS also if something could not be removed; else the
 * component could not do it at all, and nothing may be taken as removed. */
typedef void (*px_pcleanup_done_fn)(void *arg, pmix_status_t status,
                                    const struct px_pcleanup_totals *totals);

enum px_pcleanup_flag {
    /* A process of the component outlives a server that is killed, and removes as the
     * owner of each thing. A server of root's uses no other component. */
    PX_PCLEANUP_OUTLIVES = 1,
};

/* All on the loop thread; none blocks. Every operation must be there. */
struct px_pcleanup_ops {
    /* A server starts, and has made nothing yet. dir: the path of the folder that it is
     * about to make (0700, its own) and of which nothing may stay; node: the node's
     * name. Once per server. */
    pmix_status_t (*start)(void *self, const char *dir, const char *node);
    /* The folder exists and holds the journal: descriptors of both, which stay the
     * caller's. The lock on dir (BSD, exclusive) is on this very descriptor: a
     * component that outlives the server keeps it. Again with another journal after
     * that was written anew. */
    pmix_status_t (*journal)(void *self, int dir_fd, int journal_fd);
    /* Removes now what the journal says of scope. The caller writes DONE into it
     * afterwards. */
    pmix_status_t (*run)(void *self, uint64_t scope, px_pcleanup_done_fn done,
                         void *arg);
    /* Finishes what dead servers of this user have left in tmpdir. */
    pmix_status_t (*reclaim)(void *self, const char *tmpdir, px_pcleanup_done_fn done,
                             void *arg);
    /* The server ends in order; no run or reclaim is under way any more, or the caller
     * does not want to wait longer. left: journal and folder are left behind, as there
     * are scopes whose processes live; who can outlive the server then sees to them.
     * Afterwards start may be called again, by another server. */
    void (*finish)(void *self, bool left);
    uint64_t flags; /* enum px_pcleanup_flag */
};

#endif
