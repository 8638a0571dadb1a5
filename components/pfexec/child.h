/* SPDX-License-Identifier: BSD-3-Clause */
/* From fork to exec: the steps of a new process, for every component of pfexec. */
#ifndef PX_PFEXEC_CHILD_H
#define PX_PFEXEC_CHILD_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "tenon/pfexec.h"

struct px_pfexec_plan {
    const struct px_pfexec_spec *spec;
    pid_t parent;
    int null_fd; /* stands in for fds of -1 */
    /* Sequenced-packet socket, close-on-exec: the program runs once something has
     * come in, a failure goes out, and exec closes it. */
    int line;
    int far_end;       /* of the line: the parent's */
    int members;       /* of the control group that it joins, to be written; -1: none */
    bool may_stay_out; /* of that group, if it cannot be joined */
};

/* Sent if a step fails. */
struct px_pfexec_failure {
    int step;
    int errnum;
    char interpreter[256]; /* missing one, as the "#!" line names it; "": unknown */
};

enum { PX_PFEXEC_NOT_IN_TIME = -1 }; /* a step that only the parent knows */

/* In the new process, all signals blocked: becomes the program or reports and exits.
 * Calls nothing that is not async-signal-safe, as other threads of the parent may
 * have held any lock when it forked. */
PX_NORETURN void px_pfexec_run_child(const struct px_pfexec_plan *plan);

/* The failure as a line: "cannot enter directory /x: Permission denied". */
pmix_status_t px_pfexec_describe(const struct px_pfexec_failure *failure,
                                 const char *program, const char *cwd,
                                 struct px_err *err);

/* For names in such a line: cut, so that a long one does not push the reason out of
 * the text. */
#define PX_PFEXEC_NAME "%.300s"

#endif
