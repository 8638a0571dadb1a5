/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/request/stops.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/attr.h"
#include "core/types/type.h"

static pmix_status_t copy(struct px_stops *out, const pmix_rank_t *ranks, size_t n)
{
    out->ranks = calloc(n, sizeof(*ranks));
    if (!out->ranks)
        return PMIX_ERR_NOMEM;
    memcpy(out->ranks, ranks, n * sizeof(*ranks));
    out->n = n;
    return PMIX_SUCCESS;
}

pmix_status_t px_stops_read(struct px_stops *stops, const pmix_value_t *v, bool of_app)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    struct px_stops read = {.of_app = of_app};
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_rank_t rank;

    if (v->type == PMIX_BOOL || v->type == PMIX_UNDEF)
        read.all = px_value_truth(v);
    else if (a && (a->type == PMIX_PROC_RANK || a->type == PMIX_UINT32) && a->size > 0)
        rc = copy(&read, a->array, a->size);
    else if (!px_value_to_u32(v, &rank))
        rc = PMIX_ERR_BAD_PARAM;
    else if (rank == PMIX_RANK_WILDCARD)
        read.all = true;
    else
        rc = copy(&read, &rank, 1);
    if (rc)
        return rc;
    free(stops->ranks);
    *stops = read;
    return PMIX_SUCCESS;
}

bool px_stops_has(const struct px_stops *stops, pmix_rank_t rank)
{
    for (size_t i = 0; i < stops->n; i++)
        if (stops->ranks[i] == rank || stops->ranks[i] == PMIX_RANK_WILDCARD)
            return true;
    return stops->all;
}
