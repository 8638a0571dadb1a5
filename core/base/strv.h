/* SPDX-License-Identifier: BSD-3-Clause */
/* NULL-terminated string vectors: argv, environ, lists of names. All memory is
 * malloc'd. */
#ifndef PX_BASE_STRV_H
#define PX_BASE_STRV_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>

typedef char **px_strv;

size_t px_strv_count(char *const *v); /* NULL counts 0 */
/* Add a copy of s. *v may be NULL for an empty vector; a failure leaves *v
 * unchanged. */
pmix_status_t px_strv_append(char ***v, const char *s);
/* Appends to a vector of *n strings, which this function alone has made, in constant
 * time. n and cap begin with 0. */
pmix_status_t px_strv_add(char ***v, size_t *n, size_t *cap, const char *s);
pmix_status_t px_strv_prepend(char ***v, const char *s);
pmix_status_t px_strv_append_unique(char ***v, const char *s);
bool px_strv_has(char *const *v, const char *s);
/* Splits s at every sep. With keep_empty, n separators make n + 1 fields: "" has one
 * field, and joining restores s. Otherwise empty fields are dropped. Returns NULL when
 * out of memory or without any field. */
char **px_strv_split(const char *s, int sep, bool keep_empty);
char *px_strv_join(char *const *v, int sep); /* "" for an empty vector */
char **px_strv_dup(char *const *v);          /* NULL for NULL or out of memory */
void px_strv_free(char **v);
void px_strv_cleanup(px_strv *v);

/* -- environments: "NAME=VALUE" as passed to exec ---------------------------------- */

/* Returns the value of the first entry of name, borrowed, or NULL. env may be NULL. */
const char *px_env_get(char *const *env, const char *name);
/* Sets name to value (NULL is ""). *env and its strings are malloc'd; NULL is an empty
 * environment. An existing name keeps its value unless overwrite is set; the call
 * succeeds anyway. Overwriting also drops further entries of name. Returns
 * PMIX_ERR_BAD_PARAM if name is NULL, empty or contains '='. */
pmix_status_t px_env_set(char ***env, const char *name, const char *value,
                         bool overwrite);
/* Removes and frees every entry of name. */
void px_env_unset(char **env, const char *name);

#endif
