/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server makes in the file system: its private folder with the journal in it, folders of
 * the session, rendezvous files; and how all that goes away again, whoever does it. */
#ifndef PX_SERVER_CLEANUP_SESSION_H
#define PX_SERVER_CLEANUP_SESSION_H

#include "core/base/err.h"
#include "core/reclaim/journal.h"
#include "core/rt/call.h"
#include "core/server/server.h"
#include "tenon/pcleanup.h"

#include <sys/stat.h>

struct px_session; /* of srv->session */

/* The part makes srv->dir in srv->tmpdir, or if that is not there or not writable in srv->system_tmpdir,
 * or in /tmp; a server with more rights than its users passes over those in which others could replace it,
 * as long as one is better. Absent folders are made later, when something has to go there, as by then the
 * journal tells of them. The component of pcleanup, if there is one, is told before anything is made.
 * Takes the lock, begins the journal. Without a place for a folder: srv->dir is NULL, and
 * px_session_can_record false.
 * At the end it sweeps, unless that was done, and removes the private folder. With srv->cleanup_left, or
 * if there is no memory to sweep with, the private folder and the journal stay, for the component that
 * outlives us or the next server. */

/* The server ends: ends the call when leftovers of others are no longer looked for, at the latest
 * after the time given. */
void px_session_settle(struct px_server *srv, struct px_call *call,
                       uint64_t timeout_ms);
/* Removes what px_session_made and px_session_make_dir know, and all that is in srv->dir but the
 * journal. Blocks; any thread, while nobody else
 * uses the session. */
void px_session_sweep(struct px_server *srv);
/* The component of pcleanup that works for this server; NULL if there is none. */
const struct px_module *px_session_cleaner(const struct px_server *srv);

/* What was removed of dead servers, and by px_session_drop. */
const struct px_pcleanup_totals *px_session_removed(const struct px_server *srv);
/* In how many places leftovers of dead servers are still looked for; *done: where they were. */
unsigned px_session_reclaiming(const struct px_server *srv, unsigned *done);

/* Appends to the journal. PMIX_ERR_NOT_AVAILABLE without one, PMIX_ERR_OUT_OF_RESOURCE if the disk is
 * full; then nothing of it stands there. */
pmix_status_t px_session_record(struct px_server *srv,
                                const struct px_journal_record *r);
/* The same of several: all of them, or none. */
pmix_status_t px_session_record_all(struct px_server *srv,
                                    const struct px_journal_record *r, size_t n);
bool px_session_can_record(const struct px_server *srv);

/* Writes the journal anew without what is void, if that is worth it: each calls px_session_record for all that
 * it wants to have there (scopes but 0: cleanup.c). */
void px_session_compact(struct px_server *srv, void (*each)(struct px_server *srv));

/* Makes path and its absent parents with mode; what was made (only that) is journaled before it is made
 * and removed at the end, unless the host does that itself (PMIX_TDIR_RMCLEAN): the folder that
 * PMIX_SERVER_TMPDIR names with whatever is in it, as it is this session's; others if they are
 * empty, as their names are not only ours. */
pmix_status_t px_session_make_dir(struct px_server *srv, const char *path, mode_t mode,
                                  struct px_err *err);

#define PX_SESSION_NEW UINT32_MAX

/* A file that is about to be made, or a folder of whose content the end of the server leaves nothing;
 * path is a real one, without links. *slot is PX_SESSION_NEW, or of an earlier call, which this
 * one replaces. Without identity somebody may remove whatever is there under that name: only for names
 * that nobody else has. Without a journal only the server itself will remove it.
 * PMIX_ERR_OUT_OF_RESOURCE: it must not be made. */
pmix_status_t px_session_made(struct px_server *srv, const char *path, uint8_t kind,
                              uint8_t flags, const struct stat *identity,
                              uint32_t *slot);
/* It is gone, or was never made. */
void px_session_unmade(struct px_server *srv, uint32_t slot);
/* Removes a folder in srv->dir, with all that is in it, in the background: its time is over before
 * that of the server. What cannot be removed goes with srv->dir. */
void px_session_drop(struct px_server *srv, const char *path, const struct stat *st);

#endif
