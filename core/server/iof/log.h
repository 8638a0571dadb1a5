/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of processes that some readers have not had: a log for each process, which
 * holds pieces of its streams, and cursors, which say how far a reader that falls
 * behind has come. All cursors share the pieces. A reader that keeps up needs neither.
 * Knows nothing of servers and peers. Loop thread only. */
#ifndef PX_SERVER_IOF_LOG_H
#define PX_SERVER_IOF_LOG_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/link/conn.h"
#include "core/types/type.h"

/* Streams of a process: stdout, stderr, stddiag, and what comes on other channels. */
#define PX_STREAMS 4u
unsigned px_stream_of(pmix_iof_channel_t channel);

/* Of a few bytes, which cost more than they are. */
#define PX_PIECE_B 256u

struct px_logs {
    struct px_map map;        /* pmix_proc_t -> struct px_log */
    size_t stream_b, total_b; /* limits: of a stream's pieces, and of all */
    size_t kept_b, unasked_b; /* of all pieces; of those below */
    uint64_t last;            /* number of a piece */
};

struct px_log {
    struct px_logs *all;
    pmix_proc_t source;
    struct px_list pieces[PX_STREAMS], cursors;
    struct px_list waiting;       /* deliver.c: who waits for room */
    size_t unasked_b[PX_STREAMS]; /* of pieces that no cursor has before it */
    uint64_t dropped[PX_STREAMS]; /* bytes since the last piece */
};

struct px_piece {
    struct px_list link; /* in px_log.pieces */
    struct px_log *log;
    uint64_t number; /* rises within all logs */
    size_t
        n_ahead; /* of cursors that come to it; 0: kept for one that does not exist */
    pmix_iof_channel_t channel;
    struct px_payload *bytes;
    px_infos info;
    bool forwarded;   /* of no use to any other reader */
    uint64_t dropped; /* bytes of the stream before it */
};

/* When a cursor of the user has too much before it. */
enum px_drop {
    PX_DROP_NONE, /* the writer waits */
    PX_DROP_OLDEST,
    PX_DROP_NEWEST,
};
struct px_cache {
    size_t size_b; /* of a stream */
    enum px_drop drop;
};
/* PMIX_IOF_CACHE_SIZE and PMIX_IOF_DROP_*; at most limit_b, which is also the size if
 * there is none. PMIX_ERR_BAD_PARAM: both directions, or a size that is none. */
pmix_status_t px_cache_read(struct px_cache *cache, const pmix_info_t *info, size_t n,
                            size_t limit_b);

struct px_cursor {
    struct px_list link; /* in px_log.cursors */
    struct px_log *log;
    const struct px_cache *cache;
    void *owner;
    struct px_list of_owner, turn; /* free for the owner's lists */
    struct px_backlog {
        struct px_list steps; /* to pieces */
        size_t bytes, cost;
        uint64_t dropped; /* bytes since the last of them */
    } streams[PX_STREAMS];
};

void px_logs_init(struct px_logs *logs, size_t stream_b, size_t total_b);
/* With all that is in them. */
void px_logs_fini(struct px_logs *logs);

/* NULL: there is none. */
struct px_log *px_log_find(const struct px_logs *logs, const pmix_proc_t *source);
/* Made if it is not there. NULL: no memory. */
struct px_log *px_log_get(struct px_logs *logs, const pmix_proc_t *source);
/* Frees it unless it has pieces, cursors or waiting ones. */
void px_log_settle(struct px_log *log);

/* A piece, for cursors or to be kept; px_piece_settle follows. Takes another reference
 * of the bytes, and the infos on success. NULL: no memory. */
struct px_piece *px_log_add(struct px_log *log, pmix_iof_channel_t channel,
                            struct px_payload *bytes, px_infos *info);
/* Frees it unless a cursor comes to it, or it is to be kept. */
void px_piece_settle(struct px_piece *piece, bool keep);
/* Drops what no cursor comes to. */
void px_log_drop_unasked(struct px_log *log);

/* Makes room for bytes that no reader has asked for: *dropped is what had to go,
 * if that is allowed. PMIX_ERR_OUT_OF_RESOURCE: there is none. */
pmix_status_t px_log_make_room(struct px_log *log, unsigned stream, size_t bytes,
                               bool may_drop, size_t *dropped);
/* The writer has to wait: a cursor whose user wants nothing dropped has as much before
 * it as it may. */
bool px_log_is_full(const struct px_log *log, unsigned stream);
/* Nor may so many more bytes be taken from one that does not wait. */
bool px_log_refuses(const struct px_log *log, unsigned stream, size_t bytes);

/* Before it is what it is given: cache and owner are borrowed. NULL: no memory. */
struct px_cursor *px_cursor_create(struct px_log *log, const struct px_cache *cache,
                                   void *owner);
/* Puts a piece before it. PMIX_ERR_PARTIAL_SUCCESS: bytes were dropped, as its cache
 * says, perhaps these; PMIX_ERR_NOMEM. */
pmix_status_t px_cursor_add(struct px_cursor *cursor, struct px_piece *piece);
/* Puts all before it that no cursor had, or others still have, of these channels. */
pmix_status_t px_cursor_add_all(struct px_cursor *cursor, pmix_iof_channel_t channels);
/* The next piece, NULL: it is at the end; and the bytes of its stream that were dropped
 * before it. */
struct px_piece *px_cursor_next(const struct px_cursor *cursor, uint64_t *dropped);
/* Goes behind that. */
void px_cursor_pass(struct px_cursor *cursor);
/* At the end, with nothing to tell of what was dropped. */
bool px_cursor_is_done(const struct px_cursor *cursor);
/* keep: what no other cursor comes to stays for one that does not exist yet. Its log
 * may need px_log_settle. */
void px_cursor_free(struct px_cursor *cursor, bool keep);

#endif
