/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials: calls of a vendor's component, made in a child process first. */
#ifndef PX_PLUGIN_TRIAL_H
#define PX_PLUGIN_TRIAL_H

#include "core/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps of a trial, in order. */
enum px_trial_step { PX_TRIAL_LOAD, PX_TRIAL_OPEN, PX_TRIAL_QUERY, PX_TRIAL_CLOSE };

/* Runs fn(arg, fd) in a child process, and waits at most limit_ms for the child's end.
 * Kills remaining processes of the child's group. Returns false and the reason in how
 * ("crashed in open (Aborted)") if fn did not return. Returns true also if making the
 * child fails. fd is for px_trial_step. Blocks. Any thread. */
bool px_trial_run(void (*fn)(void *arg, int fd), void *arg, uint64_t limit_ms,
                  char *how, size_t size);
/* Reports in the child that a step begins. fd -1: this process is not a trial's
 * child. */
void px_trial_step(int fd, enum px_trial_step step);

#endif
