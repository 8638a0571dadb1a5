/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of a map holds a head, then the parts in their order, each an array of one
 * kind of record. Ranks are numbered twice: as such, and by their place when nodes
 * are gone through in order. Private to core/model/procmap*. */
#ifndef PX_MODEL_PROCMAP_IMPL_H
#define PX_MODEL_PROCMAP_IMPL_H

#include "core/model/procmap.h"

#define PX_MAP_MAGIC      0x70616d31u
#define PX_MAP_MAX_PIECES 32u

struct px_procmap_head {
    uint32_t magic, n_nodes, n_rows, n_ranks, n_mapped;
    uint32_t depth; /* so many groups before one of ORDER may have the same names */
    uint32_t n[PX_MAP_N_PARTS];
};

/* Names of a prefix, a number of width digits, and a suffix: from this number on, up to
 * the next group's node. Of width 0: one name without a number. */
struct px_procmap_group {
    uint32_t node, number;
    uint32_t text; /* where in TEXT prefix and suffix stand */
    uint32_t hash;
    uint8_t prefix, suffix, width, unused;
};

/* Each of the nodes from this one up to the next count's has equally many ranks. */
struct px_procmap_count {
    uint32_t node, place;
};

/* Places from this one on: n times reps times run ranks. */
struct px_procmap_piece {
    uint32_t place, base, run, reps, n;
    uint32_t outer, step; /* between two of reps, of n; UINT32_MAX: there is one */
};

struct px_procmap_run {
    uint32_t place, rank;
};

/* Of a name taken apart. */
struct px_procmap_name {
    const char *prefix, *suffix;
    size_t n_prefix, n_suffix, width;
};

extern const uint32_t px_procmap_sizes[PX_MAP_N_PARTS]; /* of records */
/* Fills *map to read the block; no byte is copied. PMIX_ERR_BAD_PARAM. */
pmix_status_t px_procmap_open(struct px_procmap *map, const void *bytes, size_t n);
uint32_t px_procmap_hash(const struct px_procmap_name *name);
static inline bool px_procmap_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
