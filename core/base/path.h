/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: joining, random names, finding programs. */
#ifndef PX_BASE_PATH_H
#define PX_BASE_PATH_H

#include "core/base/err.h"

#include <stdbool.h>
#include <sys/stat.h>

/* "dir/name" with one slash between, even if name begins with one; just name if dir is
 * NULL or "". malloc'd; NULL when out of memory. */
char *px_path_join(const char *dir, const char *name);
/* Whether two stats are of one file. */
static inline bool px_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}
/* Fills name[0..n) with letters and digits that no other process can guess. */
void px_path_random(char *name, size_t n);
/* Finds an executable as execvp would, with PATH from env and relative to cwd (NULL:
 * this process's); malloc'd. PMIX_ERR_NOT_FOUND, or PMIX_ERR_NO_PERMISSIONS if all
 * there is by that name is not executable or a directory; err says which. The exec may
 * still fail. */
pmix_status_t px_path_find_program(const char *name, char *const *env, const char *cwd,
                                   char **out, struct px_err *err);

#endif
