/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment of the user who started this process. */
#ifndef PX_BASE_ENV_H
#define PX_BASE_ENV_H

#include <stdlib.h>

/* Returns a variable of the environment, or NULL. A program with more rights than its
 * user (setuid, setgid, file capabilities) has no variables: the user must not choose
 * its server, files or components. All code of the library reads variables here. */
static inline const char *px_env(const char *name)
{
    return secure_getenv(name);
}

#endif
