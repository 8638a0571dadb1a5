/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a debugger wants processes to stop, and which. */
#ifndef PX_HOST_STOPS_H
#define PX_HOST_STOPS_H

#include "pmix_types.h"

#include <stdbool.h>
#include <stdint.h>

enum px_stop {
    PX_STOP_ON_EXEC, /* at its first instruction */
    PX_STOP_IN_INIT,
    PX_STOP_IN_APP, /* where the program itself says */
    PX_N_STOPS,
};

/* Those of one application that stop at one place. */
struct px_stops {
    bool all;
    bool of_app;        /* the application says it, not the job */
    pmix_rank_t *ranks; /* malloc'd */
    size_t n;
};

/* A flag for all, a rank or PMIX_RANK_WILDCARD, or an array of ranks. In place of what
 * was said before. PMIX_ERR_BAD_PARAM: none of these. */
pmix_status_t px_stops_read(struct px_stops *stops, const pmix_value_t *v, bool of_app);
bool px_stops_has(const struct px_stops *stops, pmix_rank_t rank);

#endif
