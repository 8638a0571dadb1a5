/* SPDX-License-Identifier: BSD-3-Clause */
/* "NAME=VALUE" vectors as given to exec. */
#ifndef PX_BASE_ENV_H
#define PX_BASE_ENV_H

#include "core/base/strv.h"

/* The value of the first entry of name, borrowed, or NULL. env may be NULL. */
const char *px_env_get(char *const *env, const char *name);
/* *env and its strings are malloc'd; NULL is empty. A name that exists keeps its value,
 * with success, unless overwrite, which also drops further entries of it. A NULL value
 * is "". PMIX_ERR_BAD_PARAM if name is NULL, empty or has a '='. */
pmix_status_t px_env_set(char ***env, const char *name, const char *value,
                         bool overwrite);
/* Removes and frees every entry of name. */
void px_env_unset(char **env, const char *name);

#endif
