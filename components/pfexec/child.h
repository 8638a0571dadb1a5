/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a new process from fork to exec, shared by all components of pfexec. */
#ifndef PX_PFEXEC_CHILD_H
#define PX_PFEXEC_CHILD_H

#include "core/base/attr.h"
#include "core/base/err.h"
#include "tenon/pfexec.h"

struct px_pfexec_plan {
    const struct px_pfexec_spec *spec;
    pid_t parent;
    int null_fd; /* stands for descriptors of -1 */
    /* Sequenced-packet socket, close-on-exec. The program runs after a byte has come
     * in. A failure goes out. exec closes the socket. */
    int line;
    int far_end;       /* parent's end of the line */
    int members;       /* members file of the control group to join; -1: none */
    bool may_stay_out; /* a failure to join the group is ignored */
};

/* Message about a failed step. */
struct px_pfexec_failure {
    int step;
    int errnum;
    char interpreter[256]; /* missing interpreter named by the "#!" line; "": unknown */
};

enum { PX_PFEXEC_NOT_IN_TIME = -1 }; /* step: the parent's time limit has passed */

/* Returns a copy of the plan with everything that the plan refers to, except a user;
 * malloc'd in one piece. NULL: no memory. */
struct px_pfexec_plan *px_pfexec_plan_copy(const struct px_pfexec_plan *plan);

/* Becomes the program, or reports a failure and exits. Runs in the new process with all
 * signals blocked. Calls only async-signal-safe functions, since other threads of the
 * parent may have held any lock at the fork. Changes no memory but its stack and errno,
 * since the parent may share its memory. */
PX_NORETURN void px_pfexec_run_child(const struct px_pfexec_plan *plan);

/* Describes the failure: "cannot enter directory /x: Permission denied". */
pmix_status_t px_pfexec_describe(const struct px_pfexec_failure *failure,
                                 const char *program, const char *cwd,
                                 struct px_err *err);

/* Format of a name in such a text. A long name is cut so that the reason stays
 * visible. */
#define PX_PFEXEC_NAME "%.300s"

#endif
