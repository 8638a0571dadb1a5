/* SPDX-License-Identifier: BSD-3-Clause */
/* Starters: threads that make children which share the memory of this process until
 * exec. So neither page tables nor pages are copied, however large this process is. */
#ifndef PX_PFEXEC_STARTER_H
#define PX_PFEXEC_STARTER_H

#include "components/pfexec/child.h"

struct px_starters;

/* Makes a child that runs the plan, which has to live until the child's exec or end.
 * Returns the child's process number and its pidfd. Returns 0 if no starter is free or
 * can be made; the caller then forks. *starters is NULL before the first call. */
pid_t px_starters_run(struct px_starters **starters, const struct px_pfexec_plan *plan,
                      int *pidfd);
/* Records that the child of the plan has run its program, or has ended. */
void px_starters_release(struct px_starters *starters,
                         const struct px_pfexec_plan *plan);
/* Ends the starters, whose children have been killed. False: a child hangs in a file
 * system, and its starter ends with the child. starters may be NULL. */
bool px_starters_end(struct px_starters *starters);

#endif
