/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout of a map's block: a head, then the parts in order. Each part is an array of
 * records of one kind. A rank's place is its number when the ranks of all nodes are
 * counted in order. Private to core/model/procmap*. */
#ifndef PX_MODEL_PROCMAP_IMPL_H
#define PX_MODEL_PROCMAP_IMPL_H

#include "core/model/procmap.h"

#define PX_MAP_MAGIC      0x70616d31u
#define PX_MAP_MAX_PIECES 32u

struct px_procmap_head {
    uint32_t magic, n_nodes, n_rows, n_ranks, n_mapped;
    uint32_t depth; /* length - 1 of the longest chain of groups in ORDER that may share
                     * names */
    uint32_t n[PX_MAP_N_PARTS];
};

/* Consecutive names of a prefix, a number with width digits, and a suffix. The group
 * ends at the next group's node. Width 0: a single name without a number. */
struct px_procmap_group {
    uint32_t node, number;
    uint32_t text; /* offset of prefix and suffix in TEXT */
    uint32_t hash;
    uint8_t prefix, suffix, width, unused;
};

/* Nodes with the same number of ranks each, up to the next count's node. */
struct px_procmap_count {
    uint32_t node, place;
};

/* Regular order of ranks from this place on: n times reps times run ranks. */
struct px_procmap_piece {
    uint32_t place, base, run, reps, n;
    uint32_t outer, step; /* distance between two reps, two n; UINT32_MAX for a single
                           * one */
};

struct px_procmap_run {
    uint32_t place, rank;
};

/* Parts of a name. */
struct px_procmap_name {
    const char *prefix, *suffix;
    size_t n_prefix, n_suffix, width;
};

extern const uint32_t px_procmap_sizes[PX_MAP_N_PARTS]; /* record size of each part */
/* Fills *map to read the block in place. Returns PMIX_ERR_BAD_PARAM if the bytes are
 * not a block. */
pmix_status_t px_procmap_open(struct px_procmap *map, const void *bytes, size_t n);
/* Changes the byte order of a block in place. is_foreign: the block has the other order
 * before. Leaves what is not a block incomplete. */
void px_procmap_swap(void *bytes, size_t n, bool is_foreign);
uint32_t px_procmap_hash(const struct px_procmap_name *name);
static inline bool px_procmap_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
