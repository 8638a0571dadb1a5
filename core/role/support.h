/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIX_QUERY_ATTRIBUTE_SUPPORT: functions and their supported attributes at each level.
 * Levels are the client part of the library, its server part, its tool part, and the
 * host. */
#ifndef PX_ROLE_SUPPORT_H
#define PX_ROLE_SUPPORT_H

#include "core/link/required.h"

/* Functions and attributes that one level supports. */
struct px_support_table {
    const struct px_support *rows;
    size_t n;
    const char *functions; /* names separated by commas; NULL: the names in rows */
    bool here;             /* this process answers for the level */
};

/* Functions of each level, from the headers. */
extern const char *const px_support_functions[PX_N_LEVELS];
/* Fills tables with the library's functions and attributes. Sets all levels to not
 * here; the host's level is empty. */
void px_support_library(struct px_support_table tables[PX_N_LEVELS]);

/* True if a query has the key PMIX_QUERY_ATTRIBUTE_SUPPORT. */
bool px_support_asked(const pmix_query_t *queries, size_t n);
/* Answers queries about the levels that are here, and removes them. *n queries for
 * others remain. Adds qualifiers for all levels to a query without a level. Returns
 * PMIX_SUCCESS also without such queries. Returns PMIX_ERR_NOMEM, or
 * PMIX_ERR_OUT_OF_RESOURCE if the request repeats names too often. */
pmix_status_t px_support_query(const struct px_support_table tables[PX_N_LEVELS],
                               pmix_query_t *queries, size_t *n, px_infos *answers);

/* Answers a key of query q. PMIX_ERR_NOT_FOUND leaves the key to others; any other
 * error ends the pass. */
typedef pmix_status_t (*px_answer_key_fn)(void *ctx, const pmix_query_t *q,
                                          const char *key);
/* Removes each key that answer() takes, and each query whose last key is removed. *n
 * queries remain. Returns the status that ended the pass, or PMIX_SUCCESS. */
pmix_status_t px_query_keys(pmix_query_t *queries, size_t *n, px_answer_key_fn answer,
                            void *ctx);

/* Adds the name of the part that has made the answers, if a query asks for it by
 * TENON_QUERY_SOURCE. */
pmix_status_t px_query_source(px_infos *answers, const pmix_query_t *queries, size_t n,
                              const char *part);
/* True if a query has TENON_QUERY_SOURCE. */
bool px_query_source_asked(const pmix_query_t *queries, size_t n);

/* Appends the keys that each process of this library answers. */
pmix_status_t px_support_query_keys(char ***list);
/* Adds the Standard's ABI version to ctx, a px_infos, if key requests the stable or
 * provisional version. */
pmix_status_t px_abi_answer(void *ctx, const pmix_query_t *q, const char *key);

#endif
