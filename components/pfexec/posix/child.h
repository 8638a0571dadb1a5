/* SPDX-License-Identifier: BSD-3-Clause */
/* The child between fork and exec. */
#ifndef PX_PFEXEC_POSIX_CHILD_H
#define PX_PFEXEC_POSIX_CHILD_H

#include "core/base/attr.h"
#include "tenon/pfexec.h"

enum px_child_step {
    PX_CHILD_GROUP,
    PX_CHILD_BOND, /* to the life of its parent */
    PX_CHILD_DIRECTORY,
    PX_CHILD_STREAMS,
    PX_CHILD_EXEC,
};

/* Sent through the report pipe if a step fails; nothing is if all succeed. Less than
 * PIPE_BUF, so whole or not at all. */
struct px_child_failure {
    enum px_child_step step;
    int errnum;
};

struct px_child_plan {
    const struct px_pfexec_spec *spec;
    pid_t parent;
    int null_fd; /* stands in for fds of -1 */
    int report;  /* write end, close-on-exec */
    int gate[2]; /* the program runs once a byte has come through; -1: at once */
};

/* In the new process, all signals blocked: becomes the program or reports and exits.
 * Calls nothing that is not async-signal-safe, as other threads of the parent may have
 * held any lock when it forked. */
PX_NORETURN void px_child_run(const struct px_child_plan *plan);

#endif
