/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: joining, random names, finding programs. */
#ifndef PX_BASE_PATH_H
#define PX_BASE_PATH_H

#include "core/base/err.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Returns "dir/name" with exactly one slash between, even if name begins with a slash.
 * Returns name if dir is NULL or "". malloc'd; NULL when out of memory. */
char *px_path_join(const char *dir, const char *name);
/* True if both stats are of the same file. */
static inline bool px_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}
/* Fills name[0..n) with letters and digits that other processes cannot guess. */
void px_path_random(char *name, size_t n);
/* Finds an executable like execvp, with PATH from env, relative to cwd (NULL: this
 * process's). *out is malloc'd. Returns PMIX_ERR_NOT_FOUND if no file has this name.
 * Returns PMIX_ERR_NO_PERMISSIONS, with the reason in err, if no such file is
 * executable. A later exec may still fail. */
pmix_status_t px_path_find_program(const char *name, char *const *env, const char *cwd,
                                   char **out, struct px_err *err);

#endif
