/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_info_t: a key, a value and flags; arrays of infos, which requests carry. */
#include "core/base/vec.h"
#include "core/types/walk.h"
#include "pmix_common.h"

const pmix_info_t *px_info_find(const pmix_info_t *info, size_t n, const char *key)
{
    const size_t length = n > 0 ? strnlen(key, PMIX_MAX_KEYLEN) : 0;

    for (size_t i = 0; i < n; i++)
        if (!info[i].key[length] && memcmp(info[i].key, key, length) == 0)
            return &info[i];
    return NULL;
}

bool px_info_flag(const pmix_info_t *info, size_t n, const char *key)
{
    const pmix_info_t *found = px_info_find(info, n, key);

    return found && px_value_truth(&found->value);
}

uint32_t px_info_u32(const pmix_info_t *info, size_t n, const char *key, uint32_t def)
{
    const pmix_info_t *found = px_info_find(info, n, key);
    uint32_t value;

    return found && px_value_to_u32(&found->value, &value) ? value : def;
}

const char *px_info_str(const pmix_info_t *info, size_t n, const char *key)
{
    const pmix_info_t *found = px_info_find(info, n, key);

    return found ? px_value_string(&found->value) : NULL;
}

/* -- growing arrays ---------------------------------------------------------------- */

pmix_status_t px_infos_add(px_infos *l, const char *key, const void *data,
                           pmix_data_type_t type)
{
    if (!px_vec_reserve(&l->v, l->n, &l->cap, 1))
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = PMIx_Info_load(&l->v[l->n], key, data, type);
    l->n += !rc;
    return rc;
}

pmix_status_t px_facts_add(px_infos *l, const struct px_fact *facts, size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        if (facts[i].data)
            rc = px_infos_add(l, facts[i].key, facts[i].data, facts[i].type);
    return rc;
}

pmix_status_t px_infos_add_value(px_infos *l, const char *key,
                                 const pmix_value_t *value)
{
    pmix_status_t rc = px_infos_add(l, key, NULL, PMIX_UNDEF);

    if (rc)
        return rc;
    rc = px_type_copy(PMIX_VALUE, &l->v[l->n - 1].value, value);
    if (rc)
        l->n--;
    return rc;
}

pmix_status_t px_infos_add_copy(px_infos *l, const pmix_info_t *info, size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t had = l->n;

    if (!px_vec_reserve(&l->v, had, &l->cap, n))
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        rc = px_type_copy(PMIX_INFO, &l->v[l->n], &info[i]);
        if (!rc)
            l->n++;
    }
    while (rc && l->n > had)
        PMIx_Info_destruct(&l->v[--l->n]);
    return rc;
}

void px_infos_drop(px_infos *l, const char *key)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (PMIx_Check_key(l->v[i].key, key))
            px_type_destruct(PMIX_INFO, &l->v[i]);
        else
            l->v[kept++] = l->v[i];
    }
    l->n = kept;
}

pmix_status_t px_infos_set(px_infos *l, const char *key, const void *data,
                           pmix_data_type_t type)
{
    px_infos_drop(l, key);
    return px_infos_add(l, key, data, type);
}

pmix_status_t px_infos_add_array(px_infos *l, const char *key, px_infos *members)
{
    pmix_data_array_t *array = malloc(sizeof(*array));

    if (!array)
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = px_infos_add(l, key, NULL, PMIX_DATA_ARRAY);
    if (rc) {
        free(array);
        return rc;
    }
    if (members->n == 0)
        px_infos_cleanup(members); /* an empty array must not own memory */
    *array = (pmix_data_array_t){
        .type = PMIX_INFO, .size = members->n, .array = members->v};
    *members = (px_infos){0};
    l->v[l->n - 1].value.data.darray = array;
    return PMIX_SUCCESS;
}

void px_infos_cleanup(px_infos *l)
{
    if (l->v)
        px_type_free_array(PMIX_INFO, l->v, l->n);
    *l = (px_infos){0};
}

/* -- public ------------------------------------------------------------------------ */

/* On failure *info is constructed, because many callers ignore the status. */
PX_EXPORT pmix_status_t PMIx_Info_load(pmix_info_t *info, const char *key,
                                       const void *data, pmix_data_type_t type)
{
    if (!info)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Info_construct(info);
    const size_t length = key ? strnlen(key, sizeof(info->key)) : sizeof(info->key);
    if (length == sizeof(info->key))
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = PMIx_Value_load(&info->value, data, type);
    if (!rc)
        memcpy(info->key, key, length);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Info_xfer(pmix_info_t *dst, const pmix_info_t *src)
{
    if (!dst || !src)
        return PMIX_ERR_BAD_PARAM;
    if (src->flags & PMIX_INFO_PERSISTENT) {
        *dst = *src;
        return PMIX_SUCCESS;
    }
    return px_info_copy(dst, src);
}

PX_EXPORT pmix_status_t PMIx_Info_get_size(const pmix_info_t *info, size_t *size)
{
    if (!info || !size)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = PMIx_Value_get_size(&info->value, size);
    if (!rc)
        *size += sizeof(*info) - sizeof(info->value);
    return rc;
}

PX_EXPORT pmix_boolean_t PMIx_Info_true(const pmix_info_t *info)
{
    return info ? PMIx_Value_true(&info->value) : PMIX_NON_BOOL;
}

#define SETS(verb, flag)                               \
    PX_EXPORT void PMIx_Info_##verb(pmix_info_t *info) \
    {                                                  \
        if (info)                                      \
            info->flags |= (flag);                     \
    }
SETS(persistent, PMIX_INFO_PERSISTENT)
SETS(processed, PMIX_INFO_REQD_PROCESSED)
SETS(qualifier, PMIX_INFO_QUALIFIER)
SETS(required, PMIX_INFO_REQD)
SETS(set_end, PMIX_INFO_ARRAY_END)

PX_EXPORT void PMIx_Info_optional(pmix_info_t *info)
{
    if (info)
        info->flags &= ~(pmix_info_directives_t)PMIX_INFO_REQD;
}

#define ASKS(question, flag)                                     \
    PX_EXPORT bool PMIx_Info_##question(const pmix_info_t *info) \
    {                                                            \
        return info && (info->flags & (flag));                   \
    }
ASKS(is_end, PMIX_INFO_ARRAY_END)
ASKS(is_persistent, PMIX_INFO_PERSISTENT)
ASKS(is_qualifier, PMIX_INFO_QUALIFIER)
ASKS(is_required, PMIX_INFO_REQD)
ASKS(was_processed, PMIX_INFO_REQD_PROCESSED)

PX_EXPORT bool PMIx_Info_is_optional(const pmix_info_t *info)
{
    return info && !PMIx_Info_is_required(info);
}
