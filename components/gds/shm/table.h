/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of key and value, by table and rank, in a segment: published by its writer,
 * found by readers in any thread and process meanwhile.
 *
 * A record does not change while the index has it. The index finds the newest of a
 * pair; it is a table of offsets, each with bits of the hash, and when it is full a
 * larger one takes its place. A later value is another record, whose offset replaces
 * the earlier in the index; deleting marks the offset there, which takes no memory.
 *
 * Committed values are replaced again and again, so their records are used again, under
 * readers that still look: before the writer does so it counts that, and all that a
 * reader found, or did not find, is true only if px_shm_holds afterwards.
 *
 * Each table has bits of all keys that it ever had (px_gds_key_bit): most keys that it
 * has not are not looked for.
 *
 * For walking, the record under which a key came into a rank (the first) stays in the
 * rank's list, as long as the rank is not cleared; later records of the key name it. If
 * the index finds none that does so, that place in the list is passed over.
 *
 * A reader trusts nothing: px_shm_at checks where it looks, lists only go one way, and
 * searches give up. */
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
    const void *bytes; /* where they are; others may change them (a hostile server) */
    uint32_t n;
    pmix_data_type_t type;
    uint64_t turn; /* for px_shm_holds */
};

enum {
    PX_SHM_TRIES = 64,
    PX_SHM_AGAIN = INT_MAX, /* no status */
};

/* PX_SHM_AGAIN: what was copied does not hold. */
typedef pmix_status_t (*px_shm_walk_fn)(void *arg, const struct px_shm_key *key,
                                        const struct px_shm_value *value);

/* Any thread, of any process. Sets value->turn, whatever it returns. */
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

/* Whether a search can find it: its bit comes into the table before it. */
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

/* No memory has been used again since value->turn: what was read since is true. */
static inline bool px_shm_holds(struct px_shm_segment *s,
                                const struct px_shm_value *value)
{
    px_shm_fence(); /* what was read is not read later */
    return px_shm_turn(s) == value->turn;
}

/* Its values may be viewed where they are: no record of it is used again. */
static inline bool px_shm_stays(enum px_gds_table table)
{
    return table != PX_GDS_LOCAL && table != PX_GDS_REMOTE;
}

/* As walk of px_gds_ops. */
pmix_status_t px_shm_walk(struct px_shm_segment *s, enum px_gds_table table,
                          pmix_rank_t rank, px_shm_walk_fn fn, void *arg);

/* The writer's. PMIX_ERR_NOMEM, and no change. If most of the memory is garbage then,
 * the rest moves to a new segment, and *s is that. */
pmix_status_t px_shm_put(struct px_shm_segment *s, const struct px_shm_key *key,
                         struct px_shm_value value);
void px_shm_remove(struct px_shm_segment *s, const struct px_shm_key *key);
/* PMIX_RANK_UNDEF: of every rank. */
void px_shm_clear(struct px_shm_segment *s, enum px_gds_table table, pmix_rank_t rank);

#endif
