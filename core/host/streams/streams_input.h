/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input of processes: pushed bytes, or bytes of this process's stdin. Nothing
 * is lost, and the loop never blocks. Loop thread only. */
#ifndef PX_HOST_STREAMS_INPUT_H
#define PX_HOST_STREAMS_INPUT_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/rt/loop.h"
#include "pmix_callbacks.h"

/* Bytes that may wait for one process before its pushes are held up. */
#define PX_FEED_MAX_B ((uint64_t)1024 * 1024)

/* ---- one process ----------------------------------------------------------------- */

/* Pipe to the stdin of a process, and bytes that wait for room. Bytes can be pushed
 * before the pipe is opened. */
struct px_feed {
    struct px_loop *loop;
    struct px_watch *watch;
    int fd;           /* -1: not open */
    bool is_terminal; /* a character ends input in line mode */
    bool in_line;     /* the last byte written does not end a line */
    bool shut;        /* the process has ended or closed stdin: pushes are dropped */
    bool ended;       /* the last byte has been pushed */
    bool marked;      /* listed for the current push */
    uint64_t pushed_b, written_b;
    struct px_list queue;         /* items, in order */
    struct px_feed_item *outside; /* first item beyond the bound */
};

void px_feed_init(struct px_feed *f, struct px_loop *loop);
/* Opens the pipe, also for a restarted process. *fd becomes its read end, which the
 * caller closes. */
pmix_status_t px_feed_open(struct px_feed *f, int *fd, struct px_err *err);
/* Opens the feed on our end of a terminal. Takes fd, which is non-blocking. */
pmix_status_t px_feed_open_terminal(struct px_feed *f, int fd, struct px_err *err);
/* Drops waiting bytes; pushes to other feeds go on. Idempotent. */
void px_feed_shut(struct px_feed *f);

/* Adds bytes behind waiting bytes. ends: closes the pipe after them. A feed may be
 * listed once only.
 * PMIX_OPERATION_SUCCEEDED: all bytes are within the bound of each feed.
 * PMIX_SUCCESS: done will run once when they are, perhaps within px_feed_shut. done
 * must not shut a feed. PMIX_ERR_NOMEM: nothing was added. */
pmix_status_t px_feed_push(struct px_feed *const feeds[], size_t n_feeds,
                           const void *bytes, size_t n, bool ends,
                           pmix_op_cbfunc_t done, void *arg);

/* ---- our own --------------------------------------------------------------------- */

struct px_input;

/* True if a process can be given our stdin itself. *fd stays ours; -1: stdin is
 * closed. */
bool px_input_is_shared(int *fd);
/* Begins to push our stdin to these feeds. */
pmix_status_t px_input_open(struct px_loop *loop, struct px_feed *feeds, size_t n,
                            struct px_input **input, struct px_err *err);
/* Resumes reading after a process reads again. */
void px_input_go_on(struct px_input *input);
/* Accepts NULL. */
void px_input_close(struct px_input *input);

#endif
