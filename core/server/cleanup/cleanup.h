/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered clean-up (RFC 0027): what processes want removed when they, or all of
 * their job on this node, have ended. The registry knows what, whose and when; a
 * component of pcleanup removes. */
#ifndef PX_SERVER_CLEANUP_CLEANUP_H
#define PX_SERVER_CLEANUP_CLEANUP_H

#include "core/server/cleanup/registry.h"

/* Runs the scopes that can be run when the server ends. Calls done once when no
 * clean-up is under way, nor of what dead servers have left; at the latest after the
 * time that parameter server_cleanup_timeout sets. Not to be called again. */
void px_cleanup_finish(struct px_server *srv, void (*done)(void *arg), void *arg);

/* Registers what infos (all of clean-up: px_cleanup_split) ask for, all or nothing; or
 * only checks that. The client's process is known afterwards, as it may exit as soon as
 * it has the answer. PMIX_ERR_BAD_PARAM: a path that is none or cannot be reached, a
 * value of the wrong type; PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES: remove versus
 * ignore; PMIX_ERR_NO_PERMISSIONS: of another user; PMIX_ERR_NOT_FOUND: no such process
 * here; PMIX_ERR_OUT_OF_RESOURCE: more than a client may have; PMIX_ERR_NOT_SUPPORTED:
 * no component, or none that this server accepts. register.c */
pmix_status_t px_cleanup_register(struct px_server *srv, struct px_peer *peer,
                                  const pmix_proc_t *procs, size_t n_procs,
                                  const px_infos *infos, bool only_check);

/* We have started this process ourselves: it ends with us (PX_JOURNAL_END), and its end
 * will be reported. */
void px_cleanup_proc_started(struct px_server *srv, const pmix_proc_t *proc, pid_t pid);

/* Removes a folder in srv->dir, with all that is in it, in the background: its time is
 * over before that of the server. The part that cannot be removed goes with
 * srv->dir. */
void px_cleanup_drop(struct px_server *srv, const char *path, const struct stat *st);

#endif
