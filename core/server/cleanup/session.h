/* SPDX-License-Identifier: BSD-3-Clause */
/* A server's place in the file system: the directories it was given, its private folder with the journal
 * in it, and the component of pcleanup that finishes its work. What else it makes is in made.h. */
#ifndef PX_SERVER_CLEANUP_SESSION_H
#define PX_SERVER_CLEANUP_SESSION_H

#include "core/base/err.h"
#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"
#include "core/server/server.h"
#include "tenon/pcleanup.h"

struct px_session {
    const struct px_module *cleaner; /* knows of the folder; NULL: there is none */
    int dir_fd, journal_fd;          /* -1: none; dir_fd has the lock */
    dev_t device;                    /* of the folder */
    ino_t inode;
    bool keep_dirs;         /* those we make are the host's to remove */
    char *own_tmpdir;       /* what PMIX_SERVER_TMPDIR says, normal; NULL: nothing */
    uint64_t length, fresh; /* of the journal: now, and after it was written anew */
    px_buf *rewrite;        /* the journal that is written anew; NULL: none is */
    bool torn;              /* its end can not be mended */
    bool unlocked;          /* there was no lock to be had */
    unsigned n_reclaiming;  /* places where leftovers of dead servers are looked for */
    unsigned n_reclaimed;   /* and were */
    struct px_pcleanup_totals removed; /* of dead servers, and of our own */
    void (*settled)(void *arg);        /* when that has ended; may be NULL */
    void *settled_arg;
    bool swept; /* what was made has been removed (made.c) */
};

/* Chooses srv->tmpdir and srv->system_tmpdir: attributes, else the environment; attributes that are no
 * path get a line in the log. PMIx_Get answers which they are, and what else the host said of
 * directories.
 * Makes srv->dir in srv->tmpdir, or if that is not there or not writable in srv->system_tmpdir, or in
 * /tmp; a server with more rights than its users passes over those in which others could replace it, as
 * long as one is better. Absent directories are made later, when something has to go there, as by then
 * the journal names them. The component of pcleanup, if there is one, knows the folder before it
 * exists. Takes the lock, begins the journal. Without a place for a folder: PMIX_SUCCESS, srv->dir NULL,
 * and px_session_can_record false. PMIX_ERR_NOMEM. */
pmix_status_t px_session_create(struct px_server *srv,
                                const struct px_server_start *start);
/* Removes the private folder. left: that and the journal stay, for the component that outlives us or the
 * next server. */
void px_session_end(struct px_server *srv, bool left);

/* The component of pcleanup that works for this server; NULL if there is none. */
const struct px_module *px_session_cleaner(const struct px_server *srv);
/* For px_rm_run: a line for what cannot be removed. */
void px_session_log_kept(void *arg, const char *path, enum px_rm_why why, int errnum);

/* Appends to the journal, all of the records or none. PMIX_ERR_NOT_AVAILABLE without one,
 * PMIX_ERR_OUT_OF_RESOURCE if the disk is full. */
pmix_status_t px_session_record(struct px_server *srv,
                                const struct px_journal_record *r, size_t n);
bool px_session_can_record(const struct px_server *srv);
/* Writes the journal anew without what is void, if that is worth it: each calls px_session_record for all
 * that it has to say. True if it was done. */
bool px_session_compact(struct px_server *srv, void (*each)(struct px_server *srv));

#endif
