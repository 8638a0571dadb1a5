/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a namespace: a file in memory, written by one server and read by its
 * clients. Its first bytes are the header; from there on it only grows. Everything in
 * it is found by its offset.
 *
 * A file is used in windows, the first of PX_SHM_FIRST bytes, each further one as
 * large as all before it. Nothing lies across their borders, so a reader maps a window
 * when it first looks there, and what it has mapped stays where it is. The file ends
 * with a window: a page behind what is written, which a reader could make the kernel
 * fill, is in that window at most. */
#ifndef PX_GDS_SHM_SEGMENT_H
#define PX_GDS_SHM_SEGMENT_H

#include "core/base/attr.h"
#include "tenon/gds.h"

#include <stdatomic.h>

/* "tenons", the form of all that follows, and whose sizes it has. */
#define PX_SHM_MAGIC   (0x74656e6f6e730400u | sizeof(size_t))
#define PX_SHM_FIRST   ((uint64_t)1 << 18)
#define PX_SHM_WINDOWS 24u /* 2 TiB */
#define PX_SHM_STEPS   8u  /* sizes of records between two powers of two */

/* A word that one process writes and others read meanwhile. */
typedef _Atomic uint64_t px_shm_word;
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock would be this process's alone");

struct px_shm_header {
    uint64_t magic;
    px_shm_word retired; /* given up: there is a newer file */
    px_shm_word reused;  /* how often memory of former values went to new ones */
    px_shm_word lost; /* how often something of PX_GDS_INTERNAL went or was replaced */
    px_shm_word index;
    px_shm_word ranks[PX_GDS_N_TABLES]; /* the rank of each table that came last */
    /* Bits of the keys of each table: of true ranks, and of the job as a whole. */
    px_shm_word keys[2][PX_GDS_N_TABLES];
};

struct px_shm_segment {
    _Atomic(uint8_t *) windows[PX_SHM_WINDOWS]; /* NULL: not mapped */
    int fd;

    /* The writer's alone. */
    uint8_t *base;   /* its windows, one behind the other; NULL in a reader */
    int shown;       /* the same file for readers, cannot be written; -1: none yet */
    uint64_t size;   /* of the file */
    uint64_t limit;  /* of that */
    uint64_t taken;  /* all before this offset is in use, or left out */
    uint64_t backed; /* ... has memory behind it */
    uint64_t filled; /* bytes in use, and how many of them nothing refers to any more */
    uint64_t garbage;
    uint64_t patience; /* garbage that is put up with, after it could not be removed */
    uint64_t n_used;   /* slots of the index */

    /* Records of replaced values: those of `left` may be looked at, the others, by
     * size, are free. */
    uint64_t left, left_b;
    uint64_t spare[36][PX_SHM_STEPS];
    uint64_t largest; /* that a reader may copy at once */
};

/* The test of the protocol stops at every step of it. */
#ifdef PX_SHM_TEST
void px_shm_step(const px_shm_word *word, bool writes);
extern uint64_t px_shm_garbage, px_shm_spare;
#else
static inline void px_shm_step(const px_shm_word *word PX_UNUSED, bool writes PX_UNUSED)
{
}
static const uint64_t px_shm_garbage = (uint64_t)8 << 20; /* less is left where it is */
static const uint64_t px_shm_spare = (uint64_t)64 << 10;  /* less is not used again */
#endif

static inline uint64_t px_shm_load(const px_shm_word *word)
{
    px_shm_step(word, false);
    return atomic_load_explicit(word, memory_order_acquire);
}

/* All that was written before is seen by a reader that sees this. */
static inline void px_shm_publish(px_shm_word *word, uint64_t value)
{
    px_shm_step(word, true);
    atomic_store_explicit(word, value, memory_order_release);
    px_shm_step(word, true);
}

/* All before it, plain reading and writing, too, happens before all that follows. */
static inline void px_shm_fence(void)
{
#ifdef __SANITIZE_THREAD__ /* it knows none */
    atomic_signal_fence(memory_order_acq_rel);
#else
    atomic_thread_fence(memory_order_acq_rel);
#endif
}

static inline unsigned px_shm_window(uint64_t offset)
{
    offset /= PX_SHM_FIRST;
    return offset ? 64 - (unsigned)__builtin_clzll(offset) : 0;
}

static inline uint64_t px_shm_window_start(unsigned window)
{
    return window ? PX_SHM_FIRST << (window - 1) : 0;
}

static inline uint64_t px_shm_window_size(unsigned window)
{
    return PX_SHM_FIRST << (window ? window - 1 : 0);
}

/* A reader's: maps it, once. NULL if it is not there, or cannot be mapped. */
uint8_t *px_shm_map_window(struct px_shm_segment *s, unsigned window);

/* The bytes at that offset, and how many; NULL if none can be there. Any thread. */
static inline void *px_shm_span(struct px_shm_segment *s, uint64_t offset,
                                uint64_t *room)
{
    unsigned window = px_shm_window(offset);

    if (window >= PX_SHM_WINDOWS || offset % sizeof(uint64_t))
        return NULL;
    uint64_t within = offset - px_shm_window_start(window);
    uint8_t *start = atomic_load_explicit(&s->windows[window], memory_order_acquire);
    if (!start && !(start = px_shm_map_window(s, window)))
        return NULL;
    *room = px_shm_window_size(window) - within;
    return start + within;
}

/* n bytes at that offset; NULL if they cannot be there. */
static inline void *px_shm_at(struct px_shm_segment *s, uint64_t offset, uint64_t n)
{
    uint64_t room;
    void *at = px_shm_span(s, offset, &room);

    return at && n <= room ? at : NULL;
}

static inline struct px_shm_header *px_shm_head(struct px_shm_segment *s)
{
    return px_shm_at(s, 0, sizeof(struct px_shm_header));
}

/* An empty one of at most limit bytes. PMIX_ERR_NOMEM; PMIX_ERR_NOT_SUPPORTED where
 * such files cannot be had. */
pmix_status_t px_shm_segment_create(struct px_shm_segment *s, uint64_t limit);
/* A reader of the file, if nothing that is done to it can make reading crash; fd stays
 * the caller's. PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NOMEM. */
pmix_status_t px_shm_segment_attach(struct px_shm_segment *s, int fd);
/* Gives it up and its memory back; of the writer's, as soon as no reader has it. */
void px_shm_segment_close(struct px_shm_segment *s);
/* The writer's: the descriptor for readers, -1 if there can be none. */
int px_shm_segment_show(struct px_shm_segment *s);
/* The writer's: room for n bytes, all zero; 0 if there is none. All that
 * px_shm_at gave before may have moved. */
uint64_t px_shm_alloc(struct px_shm_segment *s, uint64_t n);

#endif
