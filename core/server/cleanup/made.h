/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server makes in the file system: directories of the session, rendezvous files, folders of its
 * jobs. It stands in the registry, and so in the journal, before it is made, and is removed at the end. */
#ifndef PX_SERVER_CLEANUP_MADE_H
#define PX_SERVER_CLEANUP_MADE_H

#include "core/server/cleanup/registry.h"

#include <sys/stat.h>

/* Makes path and its absent parents with mode; what was made (only that) is removed at the end, unless the
 * host does that itself (PMIX_TDIR_RMCLEAN): the directory that PMIX_SERVER_TMPDIR names with whatever is
 * in it, as it is this session's; others if they are empty, as their names are not only ours. */
pmix_status_t px_made_dir(struct px_server *srv, const char *path, mode_t mode,
                          struct px_err *err);

/* A file that is about to be made, or a folder of whose content the end of the server leaves nothing;
 * path is a real one, without links. *e is NULL, or of an earlier call for the same path, which this one
 * replaces. Without identity whatever is there under that name may be removed: only for names that no
 * other process has. Without a journal only the server itself will remove it.
 * PMIX_ERR_OUT_OF_RESOURCE: it must not be made. */
pmix_status_t px_made_record(struct px_server *srv, const char *path, uint8_t kind,
                             uint8_t flags, const struct stat *identity,
                             struct px_cleanup_entry **e);
/* It is gone, or was never made. NULL is fine. */
void px_made_forget(struct px_server *srv, struct px_cleanup_entry *e);
/* A scope of its own for a folder in srv->dir that is removed before the server ends. */
pmix_status_t px_made_scope(struct px_server *srv, const char *path,
                            const struct stat *st, struct px_cleanup_scope **out);

/* Removes what was made, and all that is in srv->dir but the journal. Blocks; any thread, while no other
 * uses the session. */
void px_made_remove(struct px_server *srv);
#endif
