/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Data_array_*: arrays of any type that know their type and length. */
#include "core/types/type.h"
#include "pmix_common.h"

PX_EXPORT void PMIx_Data_array_init(pmix_data_array_t *a, pmix_data_type_t type)
{
    if (a)
        *a = (pmix_data_array_t){.type = type};
}

PX_EXPORT void PMIx_Data_array_construct(pmix_data_array_t *a, size_t n,
                                         pmix_data_type_t type)
{
    if (!a)
        return;
    PMIx_Data_array_init(a, type);
    a->array = px_type_create_array(type, n);
    if (a->array)
        a->size = n;
}

PX_EXPORT pmix_data_array_t *PMIx_Data_array_create(size_t n, pmix_data_type_t type)
{
    pmix_data_array_t *a = malloc(sizeof(*a));

    PMIx_Data_array_construct(a, n, type);
    if (a && a->size != n) {
        free(a);
        return NULL;
    }
    return a;
}

PX_EXPORT void PMIx_Data_array_destruct(pmix_data_array_t *a)
{
    px_type_destruct(PMIX_DATA_ARRAY, a);
}

PX_EXPORT void PMIx_Data_array_free(pmix_data_array_t *a)
{
    px_type_free_array(PMIX_DATA_ARRAY, a, 1);
}
