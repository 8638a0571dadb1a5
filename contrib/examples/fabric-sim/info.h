/* SPDX-License-Identifier: BSD-3-Clause */
/* Infos that borrow texts and arrays from the caller, because the library copies each
 * info that a component adds or puts. Checked reading of foreign infos. */
#ifndef SIM_INFO_H
#define SIM_INFO_H

#include <stdbool.h>

#include <pmix_common.h>

pmix_info_t sim_info(const char *key, pmix_value_t value);
pmix_info_t sim_info_text(const char *key, const char *text);
pmix_info_t sim_info_number(const char *key, uint32_t number); /* PMIX_UINT32 */
pmix_info_t sim_info_size(const char *key, size_t size);
pmix_info_t sim_info_array(const char *key, pmix_data_array_t *array);

/* Returns the first info of that key, or NULL. */
const pmix_info_t *sim_info_find(const pmix_info_t *info, size_t n, const char *key);
/* Returns the first info of that key if its value is a text, else NULL. */
const char *sim_info_find_text(const pmix_info_t *info, size_t n, const char *key);
/* Reads an array of infos; false if the value has another type. */
bool sim_info_list(const pmix_value_t *value, const pmix_info_t **info, size_t *n);

#endif
