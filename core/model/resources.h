/* SPDX-License-Identifier: BSD-3-Clause */
/* Resources: values that a host registers for every job. A job's own values take
 * precedence. */
#ifndef PX_MODEL_RESOURCES_H
#define PX_MODEL_RESOURCES_H

#include "core/model/nspace.h"

/* The values of a job, node, application, session or process. */
struct px_resource_row {
    uint8_t realm; /* enum px_key_realm */
    uint32_t id;   /* UINT32_MAX: named, or every job or session */
    char *name;    /* node, or the only job that has the values; NULL: see id. With the
                    * rank of a process: its job, or NULL for each job */
    px_infos values;
};

/* px_resources_set adds or replaces values; px_resources_drop removes keys. The members
 * of an array belong to the session, node, application, job or process of the array.
 * An array key without an array drops all rows of that realm. On failure nothing
 * changes, and a line is logged. Returns PMIX_ERR_NOMEM, PMIX_ERR_BAD_PARAM for a bad
 * key or array, or PMIX_ERR_NOT_SUPPORTED for an array of another realm. */
pmix_status_t px_resources_set(struct px_model *m, const pmix_info_t *info, size_t n);
pmix_status_t px_resources_drop(struct px_model *m, const pmix_info_t *info, size_t n);
void px_resources_clear(struct px_model *m);

/* Returns a value, or NULL. A job is identified by its namespace. A node is identified
 * by its name, or by its id if the host gave no name. A process is identified by its
 * rank and its namespace. Any thread inside the gate. */
const pmix_value_t *px_resource_find(const struct px_model *m, uint8_t realm,
                                     uint32_t id, const char *name, const char *key);
/* Returns the value of the first node that has the key, or NULL. Any thread inside the
 * gate. */
const pmix_value_t *px_resource_of_any_node(const struct px_model *m, const char *key);
/* Returns the key of the array that describes the row. *id_key is the key of the row's
 * id. */
const char *px_resource_array(const struct px_resource_row *row, const char **id_key);

#endif
