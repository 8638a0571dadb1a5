/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

pmix_info_t sim_info(const char *key, pmix_value_t value)
{
    pmix_info_t info = {.value = value};

    PMIX_LOAD_KEY(info.key, key);
    return info;
}

pmix_info_t sim_info_text(const char *key, const char *text)
{
    return sim_info(key,
                    (pmix_value_t){.type = PMIX_STRING, .data.string = (char *)text});
}

pmix_info_t sim_info_number(const char *key, uint32_t number)
{
    return sim_info(key, (pmix_value_t){.type = PMIX_UINT32, .data.uint32 = number});
}

pmix_info_t sim_info_size(const char *key, size_t size)
{
    return sim_info(key, (pmix_value_t){.type = PMIX_SIZE, .data.size = size});
}

pmix_info_t sim_info_array(const char *key, pmix_data_array_t *array)
{
    return sim_info(key, (pmix_value_t){.type = PMIX_DATA_ARRAY, .data.darray = array});
}

const pmix_info_t *sim_info_find(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

const char *sim_info_find_text(const pmix_info_t *info, size_t n, const char *key)
{
    const pmix_info_t *found = sim_info_find(info, n, key);

    return found && found->value.type == PMIX_STRING ? found->value.data.string : NULL;
}

bool sim_info_list(const pmix_value_t *value, const pmix_info_t **info, size_t *n)
{
    const pmix_data_array_t *array = value->type == PMIX_DATA_ARRAY ? value->data.darray
                                                                    : NULL;

    if (!array || (array->size > 0 && (array->type != PMIX_INFO || !array->array)))
        return false;
    *info = array->array;
    *n = array->size;
    return true;
}
