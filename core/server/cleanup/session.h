/* SPDX-License-Identifier: BSD-3-Clause */
/* A server's place in the file system: the directories it was given, its private folder
 * with the journal in it, the component of pcleanup that finishes its work, and what
 * else it makes (made.c). That stands in the registry, and so in the journal, before it
 * is made, and is removed at the end. */
#ifndef PX_SERVER_CLEANUP_SESSION_H
#define PX_SERVER_CLEANUP_SESSION_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"
#include "tenon/pcleanup.h"

#include <sys/stat.h>

struct px_cleanup_entry;
struct px_cleanup_scope;
struct px_server;
struct px_server_start;

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
    uint64_t n_reclaiming;  /* places where leftovers of dead servers are looked for */
    uint64_t n_reclaimed;   /* and were */
    struct px_pcleanup_totals removed; /* of dead servers, and of our own */
    void (*settled)(void *arg);        /* when that has ended; may be NULL */
    void *settled_arg;
    bool swept; /* what was made has been removed (made.c) */
};

/* Chooses srv->tmpdir and srv->system_tmpdir: attributes, else the environment.
 * PMIx_Get answers which they are, and what else the host said of directories. Makes
 * srv->dir in srv->tmpdir, or if that is not there or not writable in
 * srv->system_tmpdir, or in /tmp; with the lock and the journal. Absent directories are
 * made later, when something has to go there, as by then the journal names them.
 * Without a place for a folder: PMIX_SUCCESS, srv->dir NULL, and px_session_can_record
 * false. PMIX_ERR_NOMEM. */
pmix_status_t px_session_create(struct px_server *srv,
                                const struct px_server_start *start);
/* Removes the private folder. left: that and the journal stay, for the component that
 * outlives us or the next server. */
void px_session_end(struct px_server *srv, bool left);
/* There is nothing in the private folder but the journal. */
bool px_session_is_bare(const struct px_session *s);

/* For px_rm_run: a line for what cannot be removed. */
void px_session_log_kept(void *arg, const char *path, enum px_rm_why why, int errnum);

/* Appends to the journal, all of the records or none. PMIX_ERR_NOT_AVAILABLE without
 * one, PMIX_ERR_OUT_OF_RESOURCE if the disk is full. */
pmix_status_t px_session_record(struct px_server *srv,
                                const struct px_journal_record *r, size_t n);
bool px_session_can_record(const struct px_server *srv);
/* Writes the journal anew without what is void, if that is worth it: each calls
 * px_session_record for all that it has to say. True if it was done. */
bool px_session_compact(struct px_server *srv, void (*each)(struct px_server *srv));

/* ---- what is made: made.c -------------------------------------------------------- */

/* Makes path and its absent parents; what was made is removed at the end, unless the
 * host does that itself (PMIX_TDIR_RMCLEAN): the directory that PMIX_SERVER_TMPDIR
 * names with whatever is in it, as it is this session's; others if they are empty, as
 * their names are not only ours. */
pmix_status_t px_made_dir(struct px_server *srv, const char *path, mode_t mode,
                          struct px_err *err);
/* A file that is about to be made, or a folder of whose content the end of the
 * server leaves nothing; path is a real one, without links. *e is NULL, or of an
 * earlier call for the same path, which this one replaces. Without identity whatever
 * is there under that name may be removed: only for names that no other process has.
 * Without a journal only the server itself will remove it. PMIX_ERR_OUT_OF_RESOURCE:
 * it must not be made. */
pmix_status_t px_made_record(struct px_server *srv, const char *path, uint8_t kind,
                             uint8_t flags, const struct stat *identity,
                             struct px_cleanup_entry **e);
/* It is gone, or was never made. NULL is fine. */
void px_made_forget(struct px_server *srv, struct px_cleanup_entry *e);
/* A scope of its own for a folder in srv->dir that is removed before the server ends;
 * NULL: there can be none. */
struct px_cleanup_scope *px_made_scope(struct px_server *srv, const char *path,
                                       const struct stat *st);
/* Removes what was made, and all that is in srv->dir but the journal. Blocks; any
 * thread, while no other uses the session. */
void px_made_remove(struct px_server *srv);

#endif
