/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup: removes registered files and directories on request of the core, and in any
 * case when the server is gone. The core decides about paths, users and times, and
 * writes them to the server's journal (core/reclaim/journal.h), which components read.
 * Contract in frameworks/pcleanup/README.md. */
#ifndef TENON_PCLEANUP_H
#define TENON_PCLEANUP_H

#include "tenon/component.h"

#include <stdbool.h>

#define PX_PCLEANUP_ABI 1u

struct px_pcleanup_totals {
    uint64_t files, dirs; /* removed */
    uint64_t kept;        /* kept by directive */
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

/* Reports the end of run or reclaim. Runs once on the loop, never within the operation,
 * and not after finish. PMIX_SUCCESS even if some files could not be removed. Other
 * statuses: the component could not run, and nothing counts as removed. */
typedef void (*px_pcleanup_done_fn)(void *arg, pmix_status_t status,
                                    const struct px_pcleanup_totals *totals);

enum px_pcleanup_flag {
    /* A process of the component outlives a killed server, and removes each file as its
     * owner. Servers of root require this flag. */
    PX_PCLEANUP_OUTLIVES = 1,
};

/* Operations of pcleanup. Loop thread only; none blocks. All must be set. */
struct px_pcleanup_ops {
    /* Starts the work for a server that has made no files yet. dir: path of the folder
     * (0700, owned by the server) that the server will make, and that must not remain.
     * node: name of the node. Called once per server. */
    pmix_status_t (*start)(void *self, const char *dir, const char *node);
    /* Announces the journal. The folder exists; the caller keeps both descriptors. The
     * lock on dir (BSD, exclusive) belongs to this open file: a component that outlives
     * the server keeps the lock. Called again after the journal was rewritten. */
    pmix_status_t (*journal)(void *self, int dir_fd, int journal_fd);
    /* Removes the files that the journal lists for scope. The caller writes DONE to the
     * journal afterwards. */
    pmix_status_t (*run)(void *self, uint64_t scope, px_pcleanup_done_fn done,
                         void *arg);
    /* Finishes the clean-up of dead servers of this user in tmpdir. */
    pmix_status_t (*reclaim)(void *self, const char *tmpdir, px_pcleanup_done_fn done,
                             void *arg);
    /* Ends the work for a server that ends in order. No run or reclaim is pending, or
     * the caller stopped waiting. left: journal and folder remain, since some scopes
     * have live processes; a component that outlives the server cleans them up later.
     * start may be called again, by another server. */
    void (*finish)(void *self, bool left);
    uint64_t flags; /* enum px_pcleanup_flag */
};

#endif
