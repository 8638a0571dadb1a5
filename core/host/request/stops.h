/* SPDX-License-Identifier: BSD-3-Clause */
/* Breakpoints of a debugger, and the ranks that stop there. */
#ifndef PX_HOST_STOPS_H
#define PX_HOST_STOPS_H

#include "pmix_types.h"

#include <stdbool.h>
#include <stdint.h>

enum px_stop {
    PX_STOP_ON_EXEC, /* at the first instruction */
    PX_STOP_IN_INIT,
    PX_STOP_IN_APP, /* where the program calls for it */
    PX_N_STOPS,
};

/* Ranks of one application that stop at one breakpoint. */
struct px_stops {
    bool all;
    bool of_app;        /* set by the application instead of the job */
    pmix_rank_t *ranks; /* malloc'd */
    size_t n;
};

/* Reads a flag for all ranks, a rank, PMIX_RANK_WILDCARD, or an array of ranks.
 * Replaces an earlier value. PMIX_ERR_BAD_PARAM for other values. */
pmix_status_t px_stops_read(struct px_stops *stops, const pmix_value_t *v, bool of_app);
bool px_stops_has(const struct px_stops *stops, pmix_rank_t rank);

#endif
