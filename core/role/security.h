/* SPDX-License-Identifier: BSD-3-Clause */
/* Security modules of connections: the components of psec that never wait. */
#ifndef PX_ROLE_SECURITY_H
#define PX_ROLE_SECURITY_H

#include "core/base/strv.h"
#include "tenon/psec.h"

/* Returns the modules' names, best first, separated by commas; malloc'd. */
char *px_security_names(void);
/* Returns the best module that is in names, or the best of all if names is NULL. NULL:
 * there is none. Any thread. */
const struct px_module *px_security_find(char *const *names);

#endif
