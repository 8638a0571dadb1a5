/* SPDX-License-Identifier: BSD-3-Clause */
/* NULL-terminated string vectors: argv, environ, lists of names. All is malloc'd. */
#ifndef PX_BASE_STRV_H
#define PX_BASE_STRV_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>

typedef char **px_strv;

size_t px_strv_count(char *const *v); /* NULL counts 0 */
/* Each copies s. *v may be NULL for an empty vector, and is unchanged on failure. */
pmix_status_t px_strv_append(char ***v, const char *s);
pmix_status_t px_strv_prepend(char ***v, const char *s);
pmix_status_t px_strv_append_unique(char ***v, const char *s);
bool px_strv_has(char *const *v, const char *s);
/* Splits at every sep. With keep_empty, n separators make n + 1 fields, so that "" has
 * one and joining gives s back; otherwise empty fields are dropped. NULL when out of
 * memory or when there is no field. */
char **px_strv_split(const char *s, int sep, bool keep_empty);
char *px_strv_join(char *const *v, int sep); /* "" for an empty vector */
char **px_strv_dup(char *const *v);          /* NULL for NULL or out of memory */
void px_strv_free(char **v);
void px_strv_cleanup(px_strv *v);

/* -- environments: "NAME=VALUE" as given to exec ----------------------------------- */

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
