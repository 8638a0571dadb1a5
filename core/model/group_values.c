/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/model/group_values.h"

#include "core/base/str.h"
#include "core/model/nspace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX   "pmix.grp.at." /* reserved: no process commits such a key */
#define DIGITS   16
#define PREFIX_N (sizeof(PREFIX) - 1)

pmix_status_t px_group_name_of(const char *key, uint64_t context, px_group_name out)
{
    const size_t size_b = sizeof(px_group_name);
    int n = snprintf(out, size_b, PREFIX "%016" PRIx64 ".%s", context, key);

    return key[0] && n > 0 && (size_t)n < size_b ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

pmix_status_t px_group_name_read(const char **key, const pmix_info_t *info, size_t n,
                                 px_group_name out)
{
    const pmix_info_t *id = *key ? px_info_find(info, n, PMIX_GROUP_CONTEXT_ID) : NULL;
    uint64_t context;
    pmix_status_t rc;

    if (!id)
        return PMIX_SUCCESS;
    rc = px_value_to_u64(&id->value, &context) ? px_group_name_of(*key, context, out)
                                               : PMIX_ERR_BAD_PARAM;
    if (!rc)
        *key = out;
    return rc;
}

const char *px_group_name_key(const char *name, uint64_t *context)
{
    if (!px_str_starts(name, PREFIX) || strlen(name) <= PREFIX_N + DIGITS + 1)
        return NULL;
    if (context)
        *context = strtoull(name + PREFIX_N, NULL, 16);
    return name + PREFIX_N + DIGITS + 1;
}

pmix_status_t px_group_values_put(struct px_nspace *ns, enum px_gds_table table,
                                  pmix_rank_t rank, const pmix_info_t *infos, size_t n,
                                  uint64_t context)
{
    px_group_name name;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++) {
        rc = px_group_name_of(infos[i].key, context, name);
        if (!rc)
            rc = px_store_put(&ns->store, table, rank, name, &infos[i].value);
    }
    return rc;
}

void px_group_value_qualify(const char *key, const pmix_value_t *value,
                            uint64_t context, pmix_info_t two[2])
{
    memset(two, 0, 2 * sizeof(*two));
    PMIx_Load_key(two[0].key, key);
    two[0].value = *value;
    PMIx_Load_key(two[1].key, PMIX_GROUP_CONTEXT_ID);
    two[1].flags = PMIX_INFO_QUALIFIER;
    two[1].value.type = PMIX_SIZE;
    two[1].value.data.size = context;
}

const pmix_value_t *px_group_value_read(const pmix_value_t *qualified,
                                        px_group_name name)
{
    const pmix_info_t *infos;
    const char *key;
    size_t n;

    if (!px_value_infos(qualified, &infos, &n) || n < 2)
        return NULL;
    key = infos[0].key;
    return px_group_name_read(&key, infos + 1, n - 1, name) || key != name
               ? NULL
               : &infos[0].value;
}
