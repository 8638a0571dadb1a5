/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files a process may believe that has more rights than the user who started
 * it. */
#ifndef PX_RT_OWNER_H
#define PX_RT_OWNER_H

#include "core/base/err.h"

#include <stdbool.h>

/* Started setuid, setgid or with file capabilities: nothing of the user's environment
 * counts. */
bool px_is_setuid(void);
/* The above, or root: files are checked with px_path_check_owner before they are read
 * or loaded. */
bool px_is_privileged(void);

/* PMIX_SUCCESS and the real path, malloc'd, if no user but root, this process's user
 * and the owner of the library can change what is there: the file or folder itself,
 * the folder that holds it, and everything above. Use the real path: symbolic links
 * that led to it are not checked. PMIX_ERR_NO_PERMISSIONS, and err says who can;
 * PMIX_ERR_NOT_FOUND. */
pmix_status_t px_path_check_owner(const char *path, char **real, struct px_err *err);

/* PMIX_SUCCESS if no user but those can move or replace what this process makes in the
 * folder: it, and each folder above it, is theirs, and sticky if others may write to
 * it. The same errors. */
pmix_status_t px_path_check_holder(const char *dir, struct px_err *err);

/* The file this library was loaded from, malloc'd; NULL if that cannot be told. */
char *px_library_file(void);

#endif
