/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a namespace: a file in memory, written by one server and read by its
 * clients. The file begins with the header, and only grows. Data are found by their
 * offsets.
 *
 * A file consists of windows. The first has PX_SHM_FIRST bytes, and each further window
 * is as large as all windows before. Data do not cross windows. So a reader maps a
 * window at its first access, and mapped data never move. The file ends with a window,
 * so a reader can make the kernel fill pages of the last window only. */
#ifndef PX_GDS_SHM_SEGMENT_H
#define PX_GDS_SHM_SEGMENT_H

#include "core/base/attr.h"
#include "tenon/gds.h"

#include <stdatomic.h>

/* "tenons", the version of the format, and the size of size_t. */
#define PX_SHM_MAGIC   (0x74656e6f6e730400u | sizeof(size_t))
#define PX_SHM_FIRST   ((uint64_t)1 << 18)
#define PX_SHM_WINDOWS 24u /* 2 TiB */
#define PX_SHM_POWERS  36u /* powers of two that sizes of records reach */
#define PX_SHM_STEPS   8u  /* sizes of records between two powers of two */

/* Word that one process writes while others read. */
typedef _Atomic uint64_t px_shm_word;
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock would be this process's alone");

struct px_shm_header {
    uint64_t magic;
    px_shm_word retired; /* given up: a newer file exists */
    px_shm_word reused;  /* number of times that memory of old values was reused */
    px_shm_word lost;    /* number of PX_GDS_INTERNAL entries that were removed or
                       * replaced */
    px_shm_word index;
    px_shm_word ranks[PX_GDS_N_TABLES]; /* newest rank of each table */
    /* Bits of the keys of each table, for ranks and for the job. */
    px_shm_word keys[2][PX_GDS_N_TABLES];
};

struct px_shm_segment {
    _Atomic(uint8_t *) windows[PX_SHM_WINDOWS]; /* NULL: not mapped */
    int fd;

    /* The writer's members. */
    uint8_t *base;      /* all windows, contiguous; NULL in a reader */
    int shown;          /* read-only descriptor of the file for readers; -1: none yet */
    uint64_t size;      /* size of the file */
    uint64_t limit;     /* limit of this size */
    uint64_t taken;     /* offset below which all bytes are in use or skipped */
    uint64_t backed;    /* offset below which all bytes have memory */
    uint64_t filled;    /* bytes in use */
    uint64_t garbage;   /* bytes in use without a reference */
    uint64_t tolerated; /* garbage that is tolerated after a failed renewal */
    uint64_t n_used;    /* used slots of the index */

    /* Records of replaced values. Readers may still read the records of "left". The
     * records of "spare" are free, listed by size. Few namespaces replace enough values
     * to have this table: NULL before. */
    uint64_t left, left_b;
    uint64_t (*spare)[PX_SHM_STEPS];
    uint64_t largest; /* largest value that a reader may copy */
};

/* Hook of the protocol's test, called at every step. */
#ifdef PX_SHM_TEST
void px_shm_step(const px_shm_word *word, bool writes);
extern uint64_t px_shm_garbage, px_shm_spare;
#else
static inline void px_shm_step(const px_shm_word *word PX_UNUSED, bool writes PX_UNUSED)
{
}
static const uint64_t px_shm_garbage = (uint64_t)8 << 20; /* less garbage is not
                                                           * removed */
static const uint64_t px_shm_spare = (uint64_t)64 << 10;  /* less memory is not
                                                           * reused */
#endif

static inline uint64_t px_shm_load(const px_shm_word *word)
{
    px_shm_step(word, false);
    return atomic_load_explicit(word, memory_order_acquire);
}

/* Stores value. A reader that sees the value also sees all earlier writes. */
static inline void px_shm_publish(px_shm_word *word, uint64_t value)
{
    px_shm_step(word, true);
    atomic_store_explicit(word, value, memory_order_release);
    px_shm_step(word, true);
}

/* Orders all earlier reads and writes before all later ones, plain accesses
 * included. */
static inline void px_shm_fence(void)
{
#ifdef __SANITIZE_THREAD__ /* TSan does not support fences */
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

/* Maps a window for a reader, once. NULL: missing, or cannot be mapped. */
uint8_t *px_shm_map_window(struct px_shm_segment *s, unsigned window);

/* Returns the bytes at an offset, and their number up to the end of the window. NULL:
 * an impossible offset. Any thread. */
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

/* Returns n bytes at an offset; NULL: impossible. */
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

/* Makes an empty segment of at most limit bytes. PMIX_ERR_NOMEM;
 * PMIX_ERR_NOT_SUPPORTED: the system lacks such files. */
pmix_status_t px_shm_segment_create(struct px_shm_segment *s, uint64_t limit);
/* Opens a segment for reading if no action of other processes can make reads crash. The
 * caller keeps fd. PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NOMEM. */
pmix_status_t px_shm_segment_attach(struct px_shm_segment *s, int fd);
/* Closes the segment. The memory is freed when writer and readers have closed it. */
void px_shm_segment_close(struct px_shm_segment *s);
/* Returns the descriptor for readers, or -1. Writer only. */
int px_shm_segment_show(struct px_shm_segment *s);
/* Allocates n zeroed bytes; 0: no memory. Earlier results of px_shm_at may have moved.
 * Writer only. */
uint64_t px_shm_alloc(struct px_shm_segment *s, uint64_t n);

#endif
