/* SPDX-License-Identifier: BSD-3-Clause */
/* Retained output: pieces that some readers have not been sent. Each process has a
 * backlog with the pieces of its streams. A cursor is the position of a reader that is
 * behind. All cursors share the pieces; a reader that keeps up needs no cursor.
 * Independent of servers and peers. Loop thread only. */
#ifndef PX_SERVER_IOF_BACKLOG_H
#define PX_SERVER_IOF_BACKLOG_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/link/conn.h"
#include "core/types/type.h"

/* Streams of a process: stdout, stderr, stddiag, and all other channels together. */
#define PX_STREAMS 4u
unsigned px_stream_of(pmix_iof_channel_t channel);

/* Least cost of a piece: a small piece takes more memory than its bytes. */
#define PX_PIECE_B 256u

struct px_backlogs {
    struct px_map map;        /* pmix_proc_t -> struct px_backlog */
    size_t stream_b, total_b; /* limits: the pieces of a stream, and all pieces */
    size_t kept_b, unasked_b; /* cost of all pieces, and of those without a cursor */
};

struct px_backlog {
    struct px_backlogs *all;
    pmix_proc_t source;
    struct px_list pieces, cursors;
    struct px_list waiting;       /* deliveries, until there is room */
    size_t unasked_b[PX_STREAMS]; /* cost of pieces without a cursor */
    uint64_t dropped[PX_STREAMS]; /* bytes dropped since the last piece */
};

struct px_piece {
    struct px_list link; /* in px_backlog.pieces */
    struct px_backlog *backlog;
    size_t n_ahead; /* cursors before the piece; 0: retained for a later reader */
    pmix_iof_channel_t channel;
    struct px_payload *bytes;
    px_infos info;
    bool forwarded;   /* only for the process that spawned the source */
    uint64_t dropped; /* bytes of the stream dropped before the piece */
};

/* Reaction to a cursor that is too far behind. */
enum px_drop {
    PX_DROP_NONE, /* the writer waits */
    PX_DROP_OLDEST,
    PX_DROP_NEWEST,
};
struct px_cache {
    size_t size_b; /* limit of a stream */
    enum px_drop drop;
};
/* Reads PMIX_IOF_CACHE_SIZE and PMIX_IOF_DROP_*. limit_b is the largest size and the
 * default. PMIX_ERR_BAD_PARAM: both PMIX_IOF_DROP_*, or a size that is not a number. */
pmix_status_t px_cache_read(struct px_cache *cache, const pmix_info_t *info, size_t n,
                            size_t limit_b);

struct px_cursor {
    struct px_list link; /* in px_backlog.cursors */
    struct px_backlog *backlog;
    const struct px_cache *cache;
    void *owner;
    struct px_list of_owner, turn; /* for lists of the owner */
    struct px_list steps;          /* to pieces */
    struct px_cursor_stream {
        size_t bytes, cost;
        uint64_t dropped; /* bytes dropped since the last step */
    } streams[PX_STREAMS];
};

void px_backlogs_init(struct px_backlogs *backlogs, size_t stream_b, size_t total_b);
/* Frees all backlogs, pieces and cursors. */
void px_backlogs_fini(struct px_backlogs *backlogs);

/* Returns the backlog of a process, or NULL. */
struct px_backlog *px_backlog_find(const struct px_backlogs *backlogs,
                                   const pmix_proc_t *source);
/* Returns the backlog of a process, new if there is none. NULL: out of memory. */
struct px_backlog *px_backlog_get(struct px_backlogs *backlogs,
                                  const pmix_proc_t *source);
/* Frees a backlog without pieces, cursors and waiting deliveries. */
void px_backlog_settle(struct px_backlog *backlog);

/* Adds a piece for cursors or a later reader; px_piece_settle follows. References the
 * bytes, and takes the infos on success. NULL: out of memory. */
struct px_piece *px_backlog_add(struct px_backlog *backlog, pmix_iof_channel_t channel,
                                struct px_payload *bytes, px_infos *info);
/* Frees a piece that no cursor is before, unless keep. */
void px_piece_settle(struct px_piece *piece, bool keep);
/* Frees the pieces that no cursor is before. */
void px_backlog_drop_unasked(struct px_backlog *backlog);

/* Makes room for bytes that no reader has asked for. may_drop: older ones may go, and
 * *dropped counts their bytes. PMIX_ERR_OUT_OF_RESOURCE: there is not enough room. */
pmix_status_t px_backlog_make_room(struct px_backlog *backlog, unsigned stream,
                                   size_t bytes, bool may_drop, size_t *dropped);
/* True if the writer has to wait: a cursor with PX_DROP_NONE is at its limit. */
bool px_backlog_is_full(const struct px_backlog *backlog, unsigned stream);
/* True if so many more bytes exceed the limit for a writer that does not wait. */
bool px_backlog_refuses(const struct px_backlog *backlog, unsigned stream,
                        size_t bytes);

/* Returns a cursor without pieces; cache and owner are borrowed. NULL: out of
 * memory. */
struct px_cursor *px_cursor_create(struct px_backlog *backlog,
                                   const struct px_cache *cache, void *owner);
/* Puts a piece before the cursor. PMIX_ERR_PARTIAL_SUCCESS: the cache had bytes
 * dropped, perhaps these; PMIX_ERR_NOMEM. */
pmix_status_t px_cursor_add(struct px_cursor *cursor, struct px_piece *piece);
/* Puts all pieces of these channels before the cursor. */
pmix_status_t px_cursor_add_all(struct px_cursor *cursor, pmix_iof_channel_t channels);
/* Returns the next piece, or NULL at the end. *dropped: bytes of the stream that were
 * dropped before the piece. */
struct px_piece *px_cursor_next(const struct px_cursor *cursor, uint64_t *dropped);
/* Moves the cursor behind the next piece. */
void px_cursor_pass(struct px_cursor *cursor);
/* True at the end if no dropped bytes are left to report. */
bool px_cursor_is_done(const struct px_cursor *cursor);
/* Frees a cursor; px_backlog_settle may follow. keep: pieces that no other cursor is
 * before stay for a later reader. */
void px_cursor_free(struct px_cursor *cursor, bool keep);

#endif
