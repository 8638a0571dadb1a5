/* SPDX-License-Identifier: BSD-3-Clause */
/* Key-value pairs of a segment, by table and rank. The writer publishes pairs while
 * readers in any thread and process search.
 *
 * A record does not change while it is in the index. The index leads to the newest
 * record of a key. The index is a table of offsets, each with bits of the hash; a full
 * index is replaced by a larger index. A later value is a new record, whose offset
 * replaces the earlier offset. Deletion sets a bit in the slot, which takes no memory.
 *
 * Committed values are replaced often, so the memory of their records is reused, even
 * under readers. Before each reuse the writer increments a counter. So a reader's
 * result is valid only if px_shm_holds is true afterwards.
 *
 * Each table has bits of all keys that it ever had (px_gds_key_bit). The bits save the
 * search for most absent keys.
 *
 * For walks, the first record of a key stays in the list of its rank until the rank is
 * cleared. Later records of the key refer to the first record. A walk skips a first
 * record to which no record in the index refers.
 *
 * A reader trusts no data: px_shm_at checks offsets, lists lead only forward, and
 * searches are limited. */
#ifndef PX_GDS_SHM_TABLE_H
#define PX_GDS_SHM_TABLE_H

#include "segment.h"

#include <limits.h>

struct px_shm_key {
    pmix_rank_t rank;
    uint8_t table;
    uint16_t length; /* 0: the rank itself */
    const char *text;
};

struct px_shm_value {
    const void *bytes; /* in the segment; a hostile server may change them */
    uint32_t n;
    pmix_data_type_t type;
    uint64_t turn; /* for px_shm_holds */
};

enum {
    PX_SHM_TRIES = 64,
    PX_SHM_AGAIN = INT_MAX, /* not a status */
};

/* Handles a pair of a walk. Returns PX_SHM_AGAIN if the copy does not hold. */
typedef pmix_status_t (*px_shm_walk_fn)(void *arg, const struct px_shm_key *key,
                                        const struct px_shm_value *value);

/* Finds a value. Any thread of any process. Always sets value->turn. */
bool px_shm_find(struct px_shm_segment *s, const struct px_shm_key *key,
                 struct px_shm_value *value);

static inline uint64_t px_shm_key_bit(const struct px_shm_key *key)
{
    return px_gds_key_bit(key->text, key->length);
}

static inline px_shm_word *px_shm_keys(struct px_shm_header *h,
                                       const struct px_shm_key *key)
{
    return &h->keys[key->rank == PMIX_RANK_WILDCARD][key->table];
}

/* False if the table never had the key. The bit is published before the key. */
static inline bool px_shm_may_have(struct px_shm_segment *s,
                                   const struct px_shm_key *key)
{
    struct px_shm_header *h = px_shm_head(s);

    return h && (px_shm_load(px_shm_keys(h, key)) & px_shm_key_bit(key));
}

static inline uint64_t px_shm_turn(struct px_shm_segment *s)
{
    const struct px_shm_header *h = px_shm_head(s);

    return h ? px_shm_load(&h->reused) : 0;
}

/* True if no memory was reused since value->turn, so data read since then are valid. */
static inline bool px_shm_holds(struct px_shm_segment *s,
                                const struct px_shm_value *value)
{
    px_shm_fence(); /* earlier reads must not move down */
    return px_shm_turn(s) == value->turn;
}

/* True if records of the table are never reused, so that values can be viewed in
 * place. */
static inline bool px_shm_stays(enum px_gds_table table)
{
    return table != PX_GDS_LOCAL && table != PX_GDS_REMOTE;
}

/* Walks pairs like walk of px_gds_ops. */
pmix_status_t px_shm_walk(struct px_shm_segment *s, enum px_gds_table table,
                          pmix_rank_t rank, px_shm_walk_fn fn, void *arg);

/* Stores a value. Writer only. PMIX_ERR_NOMEM: nothing changed. If most memory is
 * garbage, the rest moves to a new segment, which replaces *s. */
pmix_status_t px_shm_put(struct px_shm_segment *s, const struct px_shm_key *key,
                         struct px_shm_value value);
void px_shm_remove(struct px_shm_segment *s, const struct px_shm_key *key);
/* Removes the pairs of a rank; PMIX_RANK_UNDEF: of every rank. Writer only. */
void px_shm_clear(struct px_shm_segment *s, enum px_gds_table table, pmix_rank_t rank);

#endif
