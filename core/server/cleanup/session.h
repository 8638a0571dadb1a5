/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a server: directories of the host, the private folder with the journal, and
 * other files (made.c). A component of pcleanup finishes their clean-up. Other files
 * are registered, and so in the journal, before they are made. They are removed at the
 * end. */
#ifndef PX_SERVER_CLEANUP_SESSION_H
#define PX_SERVER_CLEANUP_SESSION_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"
#include "tenon/pcleanup.h"

#include <sys/stat.h>

struct px_cleanup_entry;
struct px_cleanup;
struct px_cleanup_scope;
struct px_server;
struct px_server_start;

struct px_session {
    const struct px_module *cleaner; /* has the folder's name; NULL: no component */
    int dir_fd, journal_fd;          /* -1: none; dir_fd has the lock */
    dev_t device;                    /* of the folder */
    ino_t inode;
    bool keep_dirs;         /* the host removes the directories that the server makes */
    char *own_tmpdir;       /* normalized PMIX_SERVER_TMPDIR; NULL: not set */
    uint64_t length, fresh; /* of the journal: now, and after the last rewrite */
    px_buf *rewrite;        /* a journal that is being rewritten; or NULL */
    bool torn;              /* its torn end could not be truncated */
    bool unlocked;          /* the folder could not be locked */
    uint64_t n_reclaiming;  /* places where leftovers of dead servers are searched */
    uint64_t n_reclaimed;   /* places where that is done */
    struct px_pcleanup_totals removed; /* of dead servers, and the own folders */
    struct px_cleanup *cleanup;        /* waits for all places at the end; or NULL */
    bool swept;                        /* all made paths are removed (made.c) */
};

/* Chooses srv->tmpdir and srv->system_tmpdir from attributes, else from the
 * environment. PMIx_Get returns them, and other directories of the host. Makes
 * srv->dir, with lock and journal, in srv->tmpdir, or else in srv->system_tmpdir or
 * /tmp. Missing directories are made later, when needed, as the journal then has their
 * names. Without any place: PMIX_SUCCESS, srv->dir is NULL, and px_session_can_record
 * false. Returns PMIX_ERR_NOMEM if out of memory. */
pmix_status_t px_session_create(struct px_server *srv,
                                const struct px_server_start *start);
/* Removes the private folder. left: keeps the folder and its journal for the component
 * that outlives the server, or for the next server. */
void px_session_end(struct px_server *srv, bool left);
/* True if the private folder contains only the journal. */
bool px_session_is_bare(const struct px_session *s);

/* Logs a path that px_rm_run cannot remove. */
void px_session_log_kept(void *arg, const char *path, enum px_rm_why why, int errnum);

/* Appends to the journal, all records or none. PMIX_ERR_NOT_AVAILABLE without a
 * journal, PMIX_ERR_OUT_OF_RESOURCE if the disk is full. */
pmix_status_t px_session_record(struct px_server *srv,
                                const struct px_journal_record *r, size_t n);
bool px_session_can_record(const struct px_server *srv);
/* Rewrites the journal without void records, if that saves enough. each calls
 * px_session_record for all valid records. True if the journal was rewritten. */
bool px_session_compact(struct px_server *srv, void (*each)(struct px_server *srv));

/* ---- made files: made.c ---------------------------------------------------------- */

/* Makes path and its missing parents. They are removed at the end, unless the host does
 * that (PMIX_TDIR_RMCLEAN). The directory of PMIX_SERVER_TMPDIR is removed with its
 * content, as it belongs to this session; others only if they are empty. */
pmix_status_t px_made_dir(struct px_server *srv, const char *path, mode_t mode,
                          struct px_err *err);
/* Records a file before it is made, or a folder that is removed with its content. path
 * is resolved. *e is NULL, or the entry of an earlier call for this path, which is
 * replaced. Without identity any file of that name may be removed: only for unique
 * names. Without a journal only the server itself will remove it.
 * PMIX_ERR_OUT_OF_RESOURCE: it must not be made. */
pmix_status_t px_made_record(struct px_server *srv, const char *path, uint8_t kind,
                             uint8_t flags, const struct stat *identity,
                             struct px_cleanup_entry **e);
/* Removes the record of a file or process group that is gone, or was never made. NULL
 * is fine. */
void px_made_forget(struct px_server *srv, struct px_cleanup_entry *e);
/* Creates a scope for a folder in srv->dir that is removed before the server ends. NULL
 * after a failure. */
struct px_cleanup_scope *px_made_scope(struct px_server *srv, const char *path,
                                       const struct stat *st);
/* Removes everything that was made, and the content of srv->dir except the journal.
 * Blocks. Any thread, while no other uses the session. */
void px_made_remove(struct px_server *srv);

#endif
