/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials of tools on other machines. A child process asks the service that
 * validates them, because the service may not answer. Loop thread only. */
#ifndef PX_SERVER_DOOR_REMOTE_H
#define PX_SERVER_DOOR_REMOTE_H

#include "core/base/list.h"
#include "core/types/type.h"

struct px_module;
struct px_remote;
struct px_server;

/* A credential to check, filled by the caller, who keeps the bytes. */
struct px_remote_check {
    struct px_list link;
    const uint8_t *cred;
    size_t cred_b;
    /* Called on the loop, once. PMIX_SUCCESS: the credential proves uid and gid. */
    void (*done)(struct px_remote_check *c, pmix_status_t status, uid_t uid, gid_t gid);
};

/* Creates the checker for credentials of a component of psec. Returns NULL if out of
 * memory. */
struct px_remote *px_remote_create(struct px_server *srv, const struct px_module *psec);
/* Ends the child process. The checks have been cancelled. remote may be NULL. */
void px_remote_destroy(struct px_remote *remote);
/* Begins a check. Checks run one after the other, in order. done is not called inside
 * this function. Returns PMIX_ERR_INVALID_CRED for a credential that is too long. */
pmix_status_t px_remote_check(struct px_remote *remote, struct px_remote_check *c);
/* Cancels a check: done will not be called. No effect without a check. */
void px_remote_cancel(struct px_remote *remote, struct px_remote_check *c);

#endif
