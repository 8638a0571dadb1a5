/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that those we have started leave behind. */
#ifndef PMIXRUN_ORPHANS_H
#define PMIXRUN_ORPHANS_H

/* From now on they become children of this process. Those it has already stay out of
 * it. */
void orphans_adopt(void);
/* Kills and reaps them all. No thread may be starting processes any more. */
void orphans_end(void);

#endif
