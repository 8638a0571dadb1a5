/* SPDX-License-Identifier: BSD-3-Clause */
/* A sequence of steps that either all succeed, or leave nothing behind. Loop thread
 * only. */
#ifndef PX_HOST_STEPS_H
#define PX_HOST_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

/* The result of a start that has not finished: px_steps_finish follows, perhaps before
 * start returns. */
#define PX_STEP_PENDING ((pmix_status_t)1)

struct px_step {
    const char *name; /* for the log */
    /* Does the step, or begins it. An error comes with a text in err. */
    pmix_status_t (*start)(void *arg, struct px_err *err);
    /* Reverts the step, finished or not, also if start has failed. Returns false if
     * that takes time; px_steps_undo runs the undo again. NULL: nothing to revert. */
    bool (*undo)(void *arg);
};

struct px_sequence {
    const struct px_step *steps;
    size_t n;
    void (*done)(void *arg); /* all steps have succeeded */
    /* Takes the error of a step. The undos follow. */
    void (*failed)(void *arg, pmix_status_t status, const char *why);
    void (*undone)(void *arg); /* all undos have finished */
};

/* A run of a sequence. The hooks done and undone may free the run. */
struct px_steps {
    const struct px_sequence *sequence;
    const char *name; /* of the run, for the log */
    void *arg;        /* of all hooks */
    size_t at;        /* step in progress; sequence->n: all are done */
};

/* Starts the step in progress, and each later step when the step before has finished.
 * If a step fails, undoes all steps up to that step. The run may be freed then. */
void px_steps_run(struct px_steps *s);
/* Ends the pending step with its status, and goes on like px_steps_run. */
void px_steps_finish(struct px_steps *s, pmix_status_t status, const char *why);
/* Undoes the steps up to the step in progress, in reverse order, then calls undone.
 * Returns early if an undo takes time; the caller calls again when that undo is done.
 * Not to be called after the last step. */
void px_steps_undo(struct px_steps *s);

#endif
