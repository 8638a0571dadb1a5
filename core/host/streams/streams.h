/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of processes: it goes on to this process's stdout and stderr in whole
 * lines. Nothing is lost, and the loop never blocks. Loop thread only. */
#ifndef PX_HOST_STREAMS_H
#define PX_HOST_STREAMS_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/host/streams/marks.h"
#include "core/rt/loop.h"

/* A longer line goes on in pieces, between which lines of others may come. */
#define PX_LINE_MAX_B 65536u

enum px_sink_kind {
    PX_SINK_BROKEN, /* closed, or nothing can be written any more */
    PX_SINK_OWN,    /* non-blocking, and ours alone: write and see */
    PX_SINK_SOCKET, /* non-blocking call by call */
    PX_SINK_SHARED, /* blocking: only as much as is sure not to block */
    PX_SINK_PLAIN,  /* file or device that is always ready */
};

struct px_sink {
    struct px_output *output;
    int fd;
    enum px_sink_kind kind;
    struct px_watch *watch; /* for when there is no room; made when first needed */
    struct px_list streams; /* px_stream.link */
    struct px_list
        queue; /* px_stream.turn_link: those that have lines, the next first */
};

struct px_output {
    struct px_loop *loop;       /* NULL: not begun */
    struct px_sink sinks[2];    /* for stdout and stderr */
    struct px_sink *sink_of[2]; /* both the first if they are one file */
    /* A sink has failed for a reason that is not its reader's. */
    void (*on_broken)(void *arg);
    void *arg;
};

struct px_stream;

enum px_tap {
    PX_TAP_TAKES = 1, /* the stream is of use, even if it has nowhere else to go */
    PX_TAP_ALONE = 2, /* the sink does not get it */
    PX_TAP_HOLDS = 4, /* no more is read before px_stream_resume() */
};

/* How the output of one process goes on. All is borrowed, but marks, which are
 * copied. */
struct px_stream_way {
    int which; /* the sink: 0 stdout, 1 stderr; -1: none, but the file */
    const struct px_marks *marks; /* NULL: lines go on as they come */
    /* Gets all bytes, as they come, before anything else does; n 0: the end. Returns
     * bits of enum px_tap. NULL: there is none. */
    unsigned (*tap)(void *arg, const uint8_t *bytes, size_t n);
    bool is_tapped; /* PX_TAP_TAKES, for now */
    int file;       /* gets the same bytes; -1: none */
    const char *file_name;
    /* Once the end has come and all before it has been written; the stream is gone
     * then. From the loop, once. */
    void (*done)(void *arg);
    /* The file cannot be written; it gets nothing any more. */
    void (*on_broken_file)(void *arg);
    void *arg;
};

void px_output_init(struct px_output *o, struct px_loop *loop,
                    void (*on_broken)(void *arg), void *arg);
/* All streams must be closed. Idempotent. */
void px_output_fini(struct px_output *o);

/* Begins to pass on what comes out of fd, a non-blocking pipe, which is taken on
 * success. *stream is NULL and fd closed if nothing can be written there any more. */
pmix_status_t px_stream_open(struct px_output *o, const struct px_stream_way *way,
                             int fd, struct px_stream **stream);
/* Passes on a text of whole lines, malloc'd, which is taken on success, behind what is
 * ready already. done is called as that of a way, perhaps within, before which *stream
 * is set. */
pmix_status_t px_stream_say(struct px_output *o, int which, char *text,
                            void (*done)(void *arg), void *arg,
                            struct px_stream **stream);
/* Changes its marks, if it has any, for lines to come. NULL is fine. */
void px_stream_set_marks(struct px_stream *s, const struct px_marks *marks);
/* There is room behind the tap. done may be called within. NULL is fine. */
void px_stream_resume(struct px_stream *s);
/* The writer we know of is gone: what is in the pipe now is all that is read, even if
 * others hold it open. done may be called within. */
void px_stream_finish(struct px_stream *s);
/* Ends it at once, with what it holds; done is not called. NULL is fine. */
void px_stream_close(struct px_stream *s);

#endif
