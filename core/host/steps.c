/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/steps.h"

#include "core/rt/log.h"

void px_steps_undo(struct px_steps *s)
{
    const struct px_sequence *sequence = s->sequence;

    for (;; s->at--) {
        const struct px_step *step = &sequence->steps[s->at];

        px_log(PX_LOG_DEBUG, "spawn", "%s: undo %s", s->name, step->name);
        if (step->undo && !step->undo(s->arg))
            return;
        if (s->at == 0)
            break;
    }
    sequence->undone(s->arg);
}

static void fail(struct px_steps *s, pmix_status_t status, const char *why)
{
    s->sequence->failed(s->arg, status, why);
    px_steps_undo(s);
}

void px_steps_run(struct px_steps *s)
{
    const struct px_sequence *sequence = s->sequence;
    struct px_err err = {0};

    for (; s->at < sequence->n; s->at++) {
        const struct px_step *step = &sequence->steps[s->at];

        px_log(PX_LOG_DEBUG, "spawn", "%s: %s", s->name, step->name);
        pmix_status_t rc = step->start(s->arg, &err);
        if (rc == PX_STEP_PENDING) /* the run may have ended meanwhile */
            return;
        if (rc) {
            fail(s, rc, err.text);
            return;
        }
    }
    sequence->done(s->arg);
}

void px_steps_finish(struct px_steps *s, pmix_status_t status, const char *why)
{
    if (status) {
        fail(s, status, why);
        return;
    }
    s->at++;
    px_steps_run(s);
}
