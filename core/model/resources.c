/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that hold for every job, as the host registered them. */
#include "core/model/resources.h"

#include "core/rt/process.h"

#include <string.h>

/* Their members belong to tables of a job, which this is none of. */
static bool is_realm_array(const char *key)
{
    static const char *const keys[] = {
        PMIX_SESSION_INFO_ARRAY, PMIX_JOB_INFO_ARRAY,  PMIX_APP_INFO_ARRAY,
        PMIX_PROC_INFO_ARRAY,    PMIX_NODE_INFO_ARRAY, PMIX_SERVER_INFO_ARRAY,
        PMIX_GROUP_INFO_ARRAY,   PMIX_GROUP_INFO,      PMIX_GROUP_ENDPT_DATA,
    };

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static pmix_status_t check(const pmix_info_t *info, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!info[i].key[0] || !memchr(info[i].key, '\0', sizeof info[i].key))
            return PMIX_ERR_BAD_PARAM;
        if (is_realm_array(info[i].key))
            return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

/* The infos of l under none of the keys of info. */
static pmix_status_t copy_others(px_infos *out, const px_infos *l,
                                 const pmix_info_t *info, size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < l->n; i++)
        if (!px_info_find(info, n, l->v[i].key))
            rc = px_infos_add_copy(out, &l->v[i], 1);
    return rc;
}

/* The same key twice: the later one counts, as in register_nspace. */
static pmix_status_t add_last(px_infos *out, const pmix_info_t *info, size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        if (!px_info_find(info + i + 1, n - i - 1, info[i].key))
            rc = px_infos_add_copy(out, &info[i], 1);
    return rc;
}

static pmix_status_t replace(struct px_model *m, const pmix_info_t *info, size_t n,
                             bool add)
{
    PX_AUTO(px_infos) next = {0};
    pmix_status_t rc = check(info, n);

    if (!rc)
        rc = copy_others(&next, &m->resources, info, n);
    if (!rc && add)
        rc = add_last(&next, info, n);
    if (rc)
        return rc;
    px_infos old = m->resources;
    px_gate_close(&px_process.model_gate);
    m->resources = next;
    px_gate_open(&px_process.model_gate);
    next = old; /* freed */
    return PMIX_SUCCESS;
}

void px_resources_clear(struct px_model *m)
{
    px_gate_close(&px_process.model_gate);
    px_infos_cleanup(&m->resources);
    px_gate_open(&px_process.model_gate);
}

pmix_status_t px_resources_set(struct px_model *m, const pmix_info_t *info, size_t n)
{
    return replace(m, info, n, true);
}

pmix_status_t px_resources_drop(struct px_model *m, const pmix_info_t *info, size_t n)
{
    return replace(m, info, n, false);
}

const pmix_value_t *px_resource_find(const struct px_model *m, const char *key)
{
    const pmix_info_t *r = px_info_find(m->resources.v, m->resources.n, key);

    return r ? &r->value : NULL;
}
