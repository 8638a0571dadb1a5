/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard input of processes: bytes that are pushed to them, or that come into
 * this process's own. Nothing is lost, and the loop never blocks. Loop thread only. */
#ifndef PX_HOST_STREAMS_INPUT_H
#define PX_HOST_STREAMS_INPUT_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/rt/loop.h"
#include "pmix_callbacks.h"

/* So much may wait for one process before its pushes are held up. */
#define PX_FEED_MAX_B ((uint64_t)1024 * 1024)

/* ---- one process ----------------------------------------------------------------- */

/* The pipe that is its stdin, and what has not found room there. Bytes can be pushed
 * before it is opened. */
struct px_feed {
    struct px_loop *loop;
    struct px_watch *watch;
    int fd;           /* -1: not open */
    bool is_terminal; /* its end is told by a character, in lines */
    bool in_line;     /* one has begun, and not ended */
    bool shut;   /* the process has closed it, or ended: what is pushed is dropped */
    bool ended;  /* the last byte has been pushed */
    bool marked; /* of the push that is being made */
    uint64_t pushed_b, written_b;
    struct px_list queue;         /* items, in order */
    struct px_feed_item *outside; /* the first that waits to be within the bound */
};

void px_feed_init(struct px_feed *f, struct px_loop *loop);
/* *fd, which the caller closes, is what the process gets. Also for its next life. */
pmix_status_t px_feed_open(struct px_feed *f, int *fd, struct px_err *err);
/* The same to our end of a terminal, non-blocking, which is taken. */
pmix_status_t px_feed_open_terminal(struct px_feed *f, int fd, struct px_err *err);
/* Drops what waits; pushes go on without it. Idempotent. */
void px_feed_shut(struct px_feed *f);

/* Adds bytes behind those that wait, and their end if that is said: the pipe is closed
 * then. No two of the feeds may be the same.
 * PMIX_OPERATION_SUCCEEDED: all of it is within the bound of each feed.
 * PMIX_SUCCESS: it is as soon as done comes, once, perhaps within px_feed_shut, and
 * must not shut any. PMIX_ERR_NOMEM: nothing was added. */
pmix_status_t px_feed_push(struct px_feed *const feeds[], size_t n_feeds,
                           const void *bytes, size_t n, bool ends,
                           pmix_op_cbfunc_t done, void *arg);

/* ---- our own --------------------------------------------------------------------- */

struct px_input;

/* Whether a process can be given our stdin itself; *fd, which stays ours, is -1 if
 * there is none. */
bool px_input_is_shared(int *fd);
/* Begins to push what comes into our stdin to these, of which the list is taken on
 * success (malloc'd). */
pmix_status_t px_input_open(struct px_loop *loop, struct px_feed **feeds, size_t n,
                            struct px_input **input, struct px_err *err);
/* A process reads again, after none did. */
void px_input_go_on(struct px_input *input);
/* NULL is fine. */
void px_input_close(struct px_input *input);

#endif
