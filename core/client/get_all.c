/* SPDX-License-Identifier: BSD-3-Clause */
/* Get without a key: everything known of a process, as an array of infos. */
#include "core/client/client.h"

struct gathering {
    px_infos infos;
};

static pmix_status_t gather(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                            const pmix_value_t *value)
{
    struct gathering *g = arg;

    /* Tables are walked in the order a lookup goes through them: the first to have a
     * key wins. */
    if (px_info_find(g->infos.v, g->infos.n, key))
        return PMIX_SUCCESS;
    return px_infos_add_value(&g->infos, key, value);
}

pmix_status_t px_client_get_all(const struct px_nspace *ns, pmix_rank_t rank,
                                pmix_value_t *out)
{
    static const enum px_gds_table tables[] = {PX_GDS_INTERNAL, PX_GDS_JOB,
                                               PX_GDS_LOCAL, PX_GDS_REMOTE};
    struct gathering g = {0};
    pmix_data_array_t *array;
    pmix_status_t rc = PMIX_SUCCESS;

    if (rank == PMIX_RANK_UNDEF) /* the job's; a walk would take it for every rank */
        rank = PMIX_RANK_WILDCARD;
    for (size_t i = 0; !rc && i < PX_COUNT(tables); i++)
        rc = px_store_walk(&ns->store, tables[i], rank, gather, &g);
    for (size_t i = 0; !rc && i < g.infos.n; i++)
        rc = px_value_inflate(&g.infos.v[i].value);
    if (!rc && g.infos.n == 0)
        rc = PMIX_ERR_NOT_FOUND;
    array = rc ? NULL : malloc(sizeof *array);
    if (!array) {
        px_infos_cleanup(&g.infos);
        return rc ? rc : PMIX_ERR_NOMEM;
    }
    *array = (pmix_data_array_t){
        .type = PMIX_INFO, .size = g.infos.n, .array = g.infos.v};
    *out = (pmix_value_t){.type = PMIX_DATA_ARRAY, .data.darray = array};
    return PMIX_SUCCESS;
}
