/* SPDX-License-Identifier: BSD-3-Clause */
/* Errands: calls of components in child processes, where a component may wait, crash or
 * never return. The child writes its answer to a pipe, and a deadline ends the child.
 * Loop thread only. */
#ifndef PX_PLUGIN_ERRAND_H
#define PX_PLUGIN_ERRAND_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/rt/loop.h"

enum px_errand_end {
    PX_ERRAND_ENDED, /* wait_status is that of waitpid */
    PX_ERRAND_LATE,  /* the child has not ended before the deadline */
    PX_ERRAND_EXCESS /* the child writes more than max_b */
};

/* An errand, made of zeroes and the first members. */
struct px_errand {
    struct px_loop *loop;
    size_t max_b; /* limit of the answer */
    /* Called on the loop, once, with the complete answer. The child has ended, or is
     * killed. The function may start or stop the errand. */
    void (*done)(struct px_errand *e, enum px_errand_end how, int wait_status);
    px_buf answer; /* bytes that the child wrote so far; px_errand_read reads more */
    /* private */
    pid_t pid; /* 0: no child */
    int fd;
    bool is_open; /* fd */
    struct px_watch *watch;
    struct px_timer *timer;
};

/* Forks the child. limit_ms 0: no deadline. Returns 0 in the child, where *out is the
 * descriptor for the answer and the child ends with _exit. Returns the child's pid, or
 * -1 with the reason in err; then nothing runs. */
pid_t px_errand_start(struct px_errand *e, const char *name, uint64_t limit_ms,
                      int *out, struct px_err *err);
static inline bool px_errand_runs(const struct px_errand *e)
{
    return e->pid > 0;
}
/* Reads what the child has written. Returns false for more than max_b bytes, or out of
 * memory. */
bool px_errand_read(struct px_errand *e);
/* Blocks until the child has closed its answer, without a call of done. Returns false
 * after the deadline. */
bool px_errand_wait(struct px_errand *e, uint64_t deadline_ms);
/* Kills the child with its own children, and frees the answer. done is not called. */
void px_errand_stop(struct px_errand *e);

/* Runs a function in a child process, which writes its answer to out, and waits for the
 * complete answer, without a loop. Any thread; blocks for timeout_ms at most. Returns
 * PMIX_ERR_TIMEOUT, PMIX_ERR_OUT_OF_RESOURCE (no child, or more than max_b bytes) or
 * PMIX_ERR_NOMEM. */
pmix_status_t px_errand_run(const char *name, void (*run)(void *arg, int out),
                            void *arg, uint64_t timeout_ms, size_t max_b,
                            px_buf *answer);

#endif
