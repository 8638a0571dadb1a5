/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream of output from a source to a sink, in whole lines. Bytes come from a
 * descriptor or px_stream_put. Nothing is lost: a source is not read while its sink has
 * no room. Loop thread only. */
#ifndef PX_IOF_STREAM_H
#define PX_IOF_STREAM_H

#include "core/iof/ends.h"
#include "core/iof/format.h"

/* Maximum length of a line. Longer lines are split, and other streams' lines may come
 * between. */
#define PX_LINE_MAX_B 65536u
/* Maximum number of bytes that a stream gathers. */
#define PX_STREAM_MAX_B (1024u * 1024u)

struct px_stream;

enum px_tap {
    PX_TAP_TAKES = 1, /* the tap uses the bytes, so the stream continues without a
                       * sink */
    PX_TAP_ALONE = 2, /* the sink does not get the bytes */
    PX_TAP_HOLDS = 4, /* reading stops until px_stream_resume() */
};

/* Destinations and format of a stream. px_stream_open copies all members except the
 * sinks. Sink, copy and tap may be NULL. A stream that none of them takes ends, and its
 * writers get an error. */
struct px_stream_way {
    struct px_iof_way how;
    struct px_iof_origin origin; /* for heads, if the format has them */
    struct px_iof_sink *sink;    /* shared with other streams, in turns */
    /* Replaces sink after its reader has gone, beginning with the unwritten turn.
     * Requires a sink that takes a turn whole or not at all. May be NULL. */
    struct px_iof_sink *spare;
    struct px_iof_sink *copy; /* gets the same bytes before sink; always has room */
    /* Receives all bytes on arrival; n 0 is the end. Returns bits of enum px_tap. Must
     * not close the stream. */
    unsigned (*tap)(void *arg, const uint8_t *bytes, size_t n);
    bool is_tapped; /* current value of PX_TAP_TAKES */
    /* Called on the loop, once, after the end: all bytes are written and the tap does
     * not hold the stream. The stream is freed before. */
    void (*done)(void *arg);
    /* Called after the sink or copy failed for another reason than a closed reader. The
     * log has a line about the failure. True: bytes without a reader are discarded from
     * now on. False: the writer gets an error. May be NULL. */
    bool (*on_broken)(void *arg);
    /* Called when there is room again after px_stream_put took less than all bytes. */
    void (*on_room)(void *arg);
    void *arg;
};

/* Opens a stream that reads fd, which is non-blocking and taken on success. fd -1:
 * px_stream_put brings the bytes. *stream is NULL and fd closed if nothing can be
 * written. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_stream_open(const struct px_stream_way *way, int fd,
                             struct px_stream **stream);
/* Takes as many bytes as there is room for, and returns their number. on_room follows
 * if the number is less than n. Not after the end. done may be called within if the
 * sink breaks; all bytes are taken then. */
size_t px_stream_put(struct px_stream *s, const uint8_t *bytes, size_t n);
/* Passes on gathered bytes now, also incomplete lines. done may be called within. */
void px_stream_flush(struct px_stream *s);
/* Ends the input. A descriptor is read only up to its present content, even if others
 * hold it open. done follows, perhaps within. */
void px_stream_finish(struct px_stream *s);
/* Writes a text of whole lines behind the lines that are ready. text is malloc'd and
 * taken on success. done is called like the done of a way, perhaps within; *stream is
 * set before. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_stream_report(struct px_iof_sink *sink, char *text,
                               void (*done)(void *arg), void *arg,
                               struct px_stream **stream);
/* Changes the heads of later lines, if there are any. NULL is allowed. */
void px_stream_set_origin(struct px_stream *s, const struct px_iof_origin *origin);
/* Continues after PX_TAP_HOLDS. done may be called within. NULL is allowed. */
void px_stream_resume(struct px_stream *s);
/* Returns the number of unwritten bytes. */
size_t px_stream_held(const struct px_stream *s);
/* Writes as many bytes of a sink's streams as the sink takes. Not reentrant. */
void px_stream_serve(struct px_iof_sink *sink);
/* Frees the stream with its bytes; done is not called. NULL is allowed. */
void px_stream_close(struct px_stream *s);

#endif
