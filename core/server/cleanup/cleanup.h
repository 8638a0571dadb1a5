/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered clean-up (RFC 0027): what processes want removed when they, or all of their job on
 * this node, have ended. The registry decides what, whose and when; a component of pcleanup
 * removes. */
#ifndef PX_SERVER_CLEANUP_CLEANUP_H
#define PX_SERVER_CLEANUP_CLEANUP_H

#include "core/server/server.h"

/* The server ends: runs what can be run, and calls done with whether scopes are left whose processes
 * live, at the latest after the time that parameter server_cleanup_timeout sets. Not to be called again. */
void px_cleanup_finish(struct px_server *srv, void (*done)(void *arg, bool left),
                       void *arg);

/* Takes from infos what asks for clean-up and registers it, all or nothing. *only: nothing else was
 * asked for. PMIX_SUCCESS also if there was nothing to take. PMIX_ERR_BAD_PARAM: a path (relative,
 * "..", too long, empty), a value of the wrong type, directives without a folder;
 * PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES: remove versus ignore; PMIX_ERR_NO_PERMISSIONS: of another user;
 * PMIX_ERR_NOT_FOUND: no such process here; PMIX_ERR_OUT_OF_RESOURCE: more than a client may have;
 * PMIX_ERR_NOT_SUPPORTED: no component, or none that this server accepts. */
pmix_status_t px_cleanup_take(struct px_server *srv, struct px_peer *peer,
                              const pmix_proc_t *procs, size_t n_procs, px_infos *infos,
                              bool *only);

/* Whose request was taken may die as soon as he has the answer, and must be known by then: calls fn when
 * it is clear which process he is, or that nobody finds out. A matter of milliseconds, and only of the
 * first request of one who came by TCP. False: it is clear now, fn is not called. */
bool px_cleanup_await_known(struct px_peer *peer, void (*fn)(void *arg), void *arg);
/* A connection of a local process was made: its process, if known, is watched from now on if anything
 * waits for its end. */
void px_cleanup_peer_here(struct px_server *srv, struct px_peer *peer);
/* A connection is gone. Says nothing of the process yet, unless its pid is unknown. */
void px_cleanup_peer_gone(struct px_server *srv, struct px_peer *peer);
/* We have started this process ourselves: it ends with us (PX_JOURNAL_END), and its end will be reported. */
void px_cleanup_proc_started(struct px_server *srv, const pmix_proc_t *proc, pid_t pid);
#endif
