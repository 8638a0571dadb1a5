/* SPDX-License-Identifier: BSD-3-Clause */
/* Many changes of one environment: each takes the time of its text, however many
 * variables there are. */
#ifndef PX_BASE_ENV_EDIT_H
#define PX_BASE_ENV_EDIT_H

#include "core/base/map.h"
#include "pmix_common.h"

#include <stddef.h>

struct px_env_entry;

/* An environment that is being changed; all zero: empty. */
typedef struct px_env_edit {
    struct px_env_entry *v;
    size_t n, cap;
    struct px_map at; /* name -> index of the first entry + 1 */
} px_env_edit;

enum px_env_how {
    PX_ENV_SET,
    PX_ENV_ADD,     /* unless the variable is there */
    PX_ENV_PREPEND, /* with a separator, which may be NUL: none */
    PX_ENV_APPEND,
    PX_ENV_FIRST, /* as PREPEND, unless the value is the first already */
    PX_ENV_UNSET,
};

/* Begins with a copy of an environment, which may be NULL. */
pmix_status_t px_env_edit_begin(px_env_edit *d, char *const *env);
/* Changes a variable as px_env_set does: further entries of the name go. The name has
 * name_len bytes, without '='; value is unused by PX_ENV_UNSET. PMIX_ERR_BAD_PARAM for
 * a bad name. */
pmix_status_t px_env_edit_change(px_env_edit *d, enum px_env_how how, const char *name,
                                 size_t name_len, const char *value, char separator);
/* Moves the result to *env, malloc'd like its strings, and empties d. */
pmix_status_t px_env_edit_end(px_env_edit *d, char ***env);
void px_env_edit_cleanup(px_env_edit *d);

#endif
