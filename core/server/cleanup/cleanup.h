/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered clean-up (RFC 0027): paths to remove when a process, or all of its job on
 * this node, have ended. The registry has the paths, their owners and their time; a
 * component of pcleanup removes them. */
#ifndef PX_SERVER_CLEANUP_CLEANUP_H
#define PX_SERVER_CLEANUP_CLEANUP_H

#include "core/server/cleanup/registry.h"

struct px_cleanup_request;
struct px_req;
struct px_upcall;

/* Runs the scopes that can run when the server ends. Completes the call when neither a
 * clean-up nor a reclaim of dead servers' files is running, at the latest after the
 * time of parameter server_cleanup_timeout. Must be called only once. */
void px_cleanup_finish(struct px_server *srv, struct px_call *call);

/* Registers a request that has been read, all or nothing; or only checks the request.
 * Finds the client's processes first, as the client may exit after the reply.
 * PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES: remove and ignore; PMIX_ERR_NO_PERMISSIONS:
 * another user's process; PMIX_ERR_NOT_FOUND: no such process here;
 * PMIX_ERR_OUT_OF_RESOURCE: beyond the limits of a client; PMIX_ERR_NOT_SUPPORTED: no
 * component that this server accepts. register.c */
pmix_status_t px_cleanup_apply(struct px_server *srv, struct px_peer *peer,
                               const pmix_proc_t *procs, size_t n_procs,
                               const struct px_cleanup_request *request,
                               bool only_check);

/* Called on the loop when a request has been read, and registered or checked. */
typedef void (*px_cleanup_read_fn)(struct px_upcall *u, pmix_status_t rc);
/* Reads the clean-up that u->args.more asks for (only clean-up: px_cleanup_split) into
 * u->cleanup, and registers or only checks the request. Returns the status of
 * px_cleanup_request_begin, px_cleanup_request_read or px_cleanup_apply. Returns
 * PX_DEFERRED if that takes several turns of the loop: then fn gets the status. A peer
 * that leaves before drops the request and u. reading.c */
pmix_status_t px_cleanup_begin(struct px_req *req, struct px_upcall *u, bool only_check,
                               px_cleanup_read_fn fn);

/* Registers a process that this server started: it ends with the server
 * (PX_JOURNAL_END), and its end will be reported. */
void px_cleanup_proc_started(struct px_server *srv, const pmix_proc_t *proc, pid_t pid);

/* Searches for the pids of a job's clients that connected by TCP, at the peer's
 * expense: see search() in procs.c. */
void px_cleanup_find_pids(struct px_server *srv, struct px_peer *peer,
                          const char *nspace);
/* Returns the pid of a peer's process; 0: unknown. */
pid_t px_cleanup_pid(const struct px_peer *peer);

/* Removes a folder in srv->dir, with its content, in the background, before the server
 * ends. Content that cannot be removed is removed with srv->dir. */
void px_cleanup_drop(struct px_server *srv, const char *path, const struct stat *st);

#endif
