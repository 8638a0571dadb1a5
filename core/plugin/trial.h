/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials: calls of a component of a vendor that are made in a child process first. */
#ifndef PX_PLUGIN_TRIAL_H
#define PX_PLUGIN_TRIAL_H

#include "core/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The steps of a trial, in their order. */
enum px_trial_step { PX_TRIAL_LOAD, PX_TRIAL_OPEN, PX_TRIAL_QUERY, PX_TRIAL_CLOSE };

/* Runs fn(arg, fd) in a child process, and waits for the child's end, limit_ms at most.
 * Kills what the child leaves behind in its process group. Returns false, with the
 * reason in how ("crashed in open (Aborted)"), if fn has not returned; true also where
 * no child can be made. fd is for px_trial_step. Blocks. Any thread. */
bool px_trial_run(void (*fn)(void *arg, int fd), void *arg, uint64_t limit_ms,
                  char *how, size_t size);
/* Notes, in that child, that a step begins. fd -1: this is no such child. */
void px_trial_step(int fd, enum px_trial_step step);

#endif
