/* SPDX-License-Identifier: BSD-3-Clause */
/* One source of output on its way to a sink, in whole lines: read from a descriptor, or
 * handed over. Nothing is lost: a source is not read while its sink has no room. Loop
 * thread only. */
#ifndef PX_IOF_STREAM_H
#define PX_IOF_STREAM_H

#include "core/iof/ends.h"
#include "core/iof/format.h"

/* A longer line goes on in pieces, between which lines of others may come. */
#define PX_LINE_MAX_B 65536u
/* No stream holds more, whatever it is to gather. */
#define PX_STREAM_MAX_B (1024u * 1024u)

struct px_stream;

enum px_tap {
    PX_TAP_TAKES = 1, /* the stream is of use, even if it has nowhere else to go */
    PX_TAP_ALONE = 2, /* the sink does not get it */
    PX_TAP_HOLDS = 4, /* no more is read before px_stream_resume() */
};

/* How bytes go on. All but the sinks is copied. Sink, copy and tap each may be NULL; a
 * stream that none of them takes any more ends, and its writers learn it. */
struct px_stream_way {
    struct px_iof_way how;
    struct px_iof_origin origin; /* for marks, if how has some */
    struct px_iof_sink *sink;    /* by turns with its other streams */
    /* Takes over when the reader of sink has gone, from the turn that sink has not
     * taken. Needs a sink that takes a turn whole or not at all. May be NULL. */
    struct px_iof_sink *spare;
    struct px_iof_sink *copy; /* gets the same bytes before; always has room */
    /* Gets all bytes as they come, before anything else does; n 0: the end. Returns
     * bits of enum px_tap. May not close the stream. */
    unsigned (*tap)(void *arg, const uint8_t *bytes, size_t n);
    bool is_tapped; /* PX_TAP_TAKES, for now */
    /* Once the end has come, all before it has been written and no tap holds it; the
     * stream is gone then. From the loop, once. */
    void (*done)(void *arg);
    /* The sink, or the copy, has failed for a reason that is not its reader's, and gets
     * nothing any more; the log says so already. True: bytes without a reader are
     * discarded from now on; else the writer learns it. May be NULL. */
    bool (*on_broken)(void *arg);
    /* There is room again after px_stream_put took less than it was given. */
    void (*on_room)(void *arg);
    void *arg;
};

/* Begins to pass on what comes out of fd, which is non-blocking and taken on success;
 * -1: px_stream_put brings it. *stream is NULL and fd closed if nothing can be written
 * any more. PMIX_ERR_NOMEM. */
pmix_status_t px_stream_open(const struct px_stream_way *way, int fd,
                             struct px_stream **stream);
/* How many of the bytes it has taken, all or less, as there is room: on_room follows.
 * Not after its end. done may be called within, if its sink breaks: then all is
 * taken. */
size_t px_stream_put(struct px_stream *s, const uint8_t *bytes, size_t n);
/* Passes on what is gathered now, lines without end too. done may be called within. */
void px_stream_flush(struct px_stream *s);
/* No more will come, or no more is wanted: of a descriptor, what is in it now is all
 * that is read, even if others hold it open. done follows, perhaps within. */
void px_stream_finish(struct px_stream *s);
/* Passes on a text of whole lines, malloc'd, which is taken on success, behind what is
 * ready already. done is called as that of a way, perhaps within, before which *stream
 * is set. PMIX_ERR_NOMEM. */
pmix_status_t px_stream_report(struct px_iof_sink *sink, char *text,
                               void (*done)(void *arg), void *arg,
                               struct px_stream **stream);
/* Changes the marks of lines to come, if there are some. NULL is fine. */
void px_stream_set_origin(struct px_stream *s, const struct px_iof_origin *origin);
/* There is room behind the tap. done may be called within. NULL is fine. */
void px_stream_resume(struct px_stream *s);
/* Bytes that have not been written. */
size_t px_stream_held(const struct px_stream *s);
/* Ends it at once, with what it holds; done is not called. NULL is fine. */
void px_stream_close(struct px_stream *s);

#endif
