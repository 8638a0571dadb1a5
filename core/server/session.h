/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server makes in the file system: its private folder with the journal in it, folders of
 * the session, rendezvous files; and how all that goes away again, whoever does it. */
#ifndef PX_SERVER_SESSION_H
#define PX_SERVER_SESSION_H

#include "core/base/err.h"
#include "core/base/journal.h"
#include "core/server/server.h"

#include <sys/stat.h>

struct px_session; /* of srv->session */

/* Makes srv->dir, and before that the session directory if it is absent, tells the component of
 * pcleanup (if there is one) before anything is made, takes the lock, begins the journal. Without a place for
 * a folder: PMIX_SUCCESS, srv->dir NULL, and px_session_can_record false. PMIX_ERR_NOMEM. */
pmix_status_t px_session_begin(struct px_server *srv, const pmix_info_t *info, size_t n,
                               struct px_err *err);
/* Removes what was made. left: the journal's scopes still have processes, so the private folder
 * and the journal stay, for the component that outlives us or the next server. */
void px_session_end(struct px_server *srv, bool left);

/* Appends to the journal. PMIX_ERR_NOT_AVAILABLE without one, PMIX_ERR_OUT_OF_RESOURCE if the disk is
 * full; then nothing of it stands there. */
pmix_status_t px_session_record(struct px_server *srv,
                                const struct px_journal_record *r);
bool px_session_can_record(const struct px_server *srv);

/* Writes the journal anew without what is void, if that is worth it: each calls px_session_record for all that
 * it wants to have there (scopes but 0: cleanup.c). */
void px_session_compact(struct px_server *srv, void (*each)(struct px_server *srv));

/* Makes path and its absent parents with mode; what was made (only that) is journaled before it is made
 * and removed at the end, with whatever is in it unless the host does that itself
 * (PMIX_TDIR_RMCLEAN). */
pmix_status_t px_session_make_dir(struct px_server *srv, const char *path, mode_t mode,
                                  struct px_err *err);
/* A file that is about to be made, or a folder of whose content the end of the server leaves nothing.
 * *slot is for px_session_unmade. */
pmix_status_t px_session_made(struct px_server *srv, const char *path, uint8_t kind,
                              uint8_t flags, const struct stat *identity,
                              uint32_t *slot);
void px_session_unmade(struct px_server *srv, uint32_t slot);

#endif
