/* SPDX-License-Identifier: BSD-3-Clause */
/* Trust in files, for a process with more rights than the user who started it. */
#ifndef PX_RT_OWNER_H
#define PX_RT_OWNER_H

#include "core/base/err.h"

#include <stdbool.h>

/* True if px_os_is_setuid or root. Files must be checked with px_path_check_owner
 * before they are read or loaded. */
bool px_is_privileged(void);

/* Checks that only trusted users can change a file or directory, its directory, and
 * everything above: root, this process's user, and the owners of the library and of /.
 * Returns PMIX_SUCCESS and the real path, malloc'd. Use the real path: symbolic links
 * that led to it are not checked. Returns PMIX_ERR_NO_PERMISSIONS, with the other user
 * in err, or PMIX_ERR_NOT_FOUND. */
pmix_status_t px_path_check_owner(const char *path, char **real, struct px_err *err);

/* Checks that only these users can move or replace files that this process makes in the
 * directory. Each directory above must be theirs, and sticky if others may write to it.
 * Returns the errors of px_path_check_owner. */
pmix_status_t px_path_check_holder(const char *dir, struct px_err *err);

/* Returns the path of the file that contains this library, malloc'd; NULL if
 * unknown. */
char *px_library_file(void);

#endif
