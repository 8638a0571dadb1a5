/* SPDX-License-Identifier: BSD-3-Clause */
/* Resources of a host, of no job in particular: job-level values of every job that has
 * none of its own under the key. Loop thread only. */
#ifndef PX_MODEL_RESOURCES_H
#define PX_MODEL_RESOURCES_H

#include "core/model/nspace.h"

/* Adds, or replaces what is there under the same key. On failure nothing changes:
 * PMIX_ERR_NOMEM; PMIX_ERR_BAD_PARAM for a key that is empty or does not end;
 * PMIX_ERR_NOT_SUPPORTED for arrays that describe one node, application, ... */
pmix_status_t px_resources_set(struct px_model *m, const pmix_info_t *info, size_t n);
/* Takes the keys out, those that are there. The same errors. */
pmix_status_t px_resources_drop(struct px_model *m, const pmix_info_t *info, size_t n);
void px_resources_clear(struct px_model *m);
/* Borrowed; NULL if there is none. */
const pmix_value_t *px_resource_find(const struct px_model *m, const char *key);

#endif
