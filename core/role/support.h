/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIX_QUERY_ATTRIBUTE_SUPPORT: which functions there are, and which attributes each
 * honours, told apart by who does: the client half of the library, its server half, the
 * tools' part, the host. */
#ifndef PX_ROLE_SUPPORT_H
#define PX_ROLE_SUPPORT_H

#include "core/link/required.h"

/* The functions and attributes that are supported at one level. */
struct px_support_table {
    const struct px_support *rows;
    size_t n;
    const char
        *functions; /* names of all of them, separated by commas; NULL: those of rows */
    bool here;      /* answered by this process */
};

/* The functions of each level, from the headers. */
extern const char *const px_support_functions[PX_N_LEVELS];
/* Fills in what the library itself supports; nothing is here yet, and the host's level
 * is empty. */
void px_support_library(struct px_support_table tables[PX_N_LEVELS]);

/* Whether any of the queries asks for this. */
bool px_support_asked(const pmix_query_t *queries, size_t n);
/* Answers what is asked of the levels that are here, and takes it out of the queries;
 * those left, *n of them, are for others. In a query that names no level, the share of
 * each level is put into words. PMIX_SUCCESS, also if there was nothing to answer;
 * PMIX_ERR_NOMEM; PMIX_ERR_OUT_OF_RESOURCE: the same is asked too often for one
 * request. */
pmix_status_t px_support_query(const struct px_support_table tables[PX_N_LEVELS],
                               pmix_query_t *queries, size_t *n, px_infos *answers);

/* Answers a key of query q: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND leaves the key to others;
 * any other status ends the pass. */
typedef pmix_status_t (*px_answer_key_fn)(void *ctx, const pmix_query_t *q,
                                          const char *key);
/* Removes each key that answer() takes, and each query whose last key is gone. *n
 * queries are left. Returns the status that ended the pass, or PMIX_SUCCESS. */
pmix_status_t px_query_keys(pmix_query_t *queries, size_t *n, px_answer_key_fn answer,
                            void *ctx);

/* Adds the version of the Standard's ABI to ctx, a px_infos, if key asks for the stable
 * or the provisional version. */
pmix_status_t px_abi_answer(void *ctx, const pmix_query_t *q, const char *key);
/* Returns true if a key of the queries asks for a version of the ABI. */
bool px_abi_asked(const pmix_query_t *queries, size_t n);

#endif
