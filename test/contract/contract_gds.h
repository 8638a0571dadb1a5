/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two parts of the gds suite share: a namespace to store to, and short ways to
 * do so. Values are numbers where nothing else is said. */
#ifndef PX_CONTRACT_GDS_H
#define PX_CONTRACT_GDS_H

#include "contract.h"
#include "core/base/attr.h"
#include "tenon/gds.h"

/* The one these functions mean. */
extern struct px_gds_ns *gds_ns;

const struct px_gds_ops *gds_ops(void);
struct px_gds_ns *gds_create(const char *nspace);
void gds_destroy(struct px_gds_ns *n);
pmix_status_t gds_store(enum px_gds_table table, pmix_rank_t rank, const char *key,
                        const pmix_value_t *value);
void gds_put(enum px_gds_table table, pmix_rank_t rank, const char *key,
             uint32_t number);
void gds_discard(enum px_gds_table table, pmix_rank_t rank, const char *key);
const pmix_value_t *gds_find(enum px_gds_table table, pmix_rank_t rank,
                             const char *key);
/* -1: there is none. */
int64_t gds_get(enum px_gds_table table, pmix_rank_t rank, const char *key);

/* "rank/key=value " of each pair a walk gives. */
struct account {
    char text[4096];
    size_t n;
    size_t stop_at; /* 0: never */
};

/* A px_gds_walk_fn for it. */
pmix_status_t gds_note(void *arg, pmix_rank_t rank, const char *key,
                       const pmix_value_t *value);
/* That a walk gives just this. */
void gds_expect_walk(enum px_gds_table table, pmix_rank_t rank, const char *text);

/* Appends the tests of contract_gds_walk.c; returns how many. */
size_t gds_walk_tests(const TTest **tests);

#endif
