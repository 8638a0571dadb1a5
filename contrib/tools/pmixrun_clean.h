/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the leftovers of dead servers. */
#ifndef PMIXRUN_CLEAN_H
#define PMIXRUN_CLEAN_H

#include "pmixrun_options.h"

/* Removes it, in the usual folders or those that the options name, and says how much
 * that was. The exit status. */
int clean(const struct options *o);

#endif
