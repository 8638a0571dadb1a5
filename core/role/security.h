/* SPDX-License-Identifier: BSD-3-Clause */
/* Security modules of connections: the components of psec that never wait, and the one
 * whose credentials prove users of other machines. */
#ifndef PX_ROLE_SECURITY_H
#define PX_ROLE_SECURITY_H

#include "core/base/strv.h"
#include "tenon/psec.h"

/* Returns the modules' names, best first, separated by commas; malloc'd. */
char *px_security_names(void);
/* Returns the best module that is in names, or the best of all if names is NULL. NULL:
 * there is none. Any thread. */
const struct px_module *px_security_find(char *const *names);
/* Returns the best module whose credentials prove users of other machines, or NULL. Any
 * thread. */
const struct px_module *px_security_remote(void);
/* Makes a credential of this process, malloc'd. A module that may wait makes it in a
 * child process, for timeout_ms at most. Returns PMIX_ERR_NOT_AVAILABLE,
 * PMIX_ERR_TIMEOUT, or another status of create. Any thread; blocks. */
pmix_status_t px_security_create(const struct px_module *m, uint64_t timeout_ms,
                                 uint8_t **cred, size_t *n);

#endif
