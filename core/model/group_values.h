/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that a process shares with the members of a group (PMIX_GROUP_INFO).
 * PMIx_Get finds such a value by the key and the qualifier PMIX_GROUP_CONTEXT_ID.
 * Tables have the value under a name that is made of both. */
#ifndef PX_MODEL_GROUP_VALUES_H
#define PX_MODEL_GROUP_VALUES_H

#include "core/types/type.h"
#include "tenon/gds.h"

#include <stdint.h>

struct px_nspace;

typedef char px_group_name[PMIX_MAX_KEYLEN + 1];

/* Writes the name of a key's value in the group. PMIX_ERR_BAD_PARAM: the key is empty
 * or too long. */
pmix_status_t px_group_name_of(const char *key, uint64_t context, px_group_name out);
/* Replaces *key by the name, written to out, if infos have the qualifier. key may be
 * NULL. PMIX_ERR_BAD_PARAM: the qualifier is not a number, or the key is too long. */
pmix_status_t px_group_name_read(const char **key, const pmix_info_t *info, size_t n,
                                 px_group_name out);
/* Returns the key in a name, and sets *context if that is not NULL; or returns NULL if
 * the text is not such a name. */
const char *px_group_name_key(const char *name, uint64_t *context);

/* Stores the values of a rank. PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM. */
pmix_status_t px_group_values_put(struct px_nspace *ns, enum px_gds_table table,
                                  pmix_rank_t rank, const pmix_info_t *infos, size_t n,
                                  uint64_t context);

/* Fills the two infos of a PMIX_QUALIFIED_VALUE: the value, which is borrowed, and the
 * qualifier. */
void px_group_value_qualify(const char *key, const pmix_value_t *value,
                            uint64_t context, pmix_info_t two[2]);
/* Returns the value in a PMIX_QUALIFIED_VALUE with the qualifier, and writes the name;
 * NULL: not such a value. */
const pmix_value_t *px_group_value_read(const pmix_value_t *qualified,
                                        px_group_name name);

/* Jobs with at most this many ranks are listed rank by rank in the members of a
 * group. */
#define PX_GROUP_MOST_LISTED 4096u

#endif
