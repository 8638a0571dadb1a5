/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals of clean-up, by query: how much is registered, what was removed and what was not. */
#include "core/server/cleanup/cleanup_impl.h"

#define KEY "tenon.cleanup"

/* One answer, however often it is asked for. */
static pmix_status_t answer(struct px_server *srv, const pmix_query_t *q PX_UNUSED,
                            struct px_answers *a)
{
    const struct px_cleanup *c = srv->cleanup;
    const struct px_pcleanup_totals *own = px_session_removed(srv);
    PX_AUTO(px_infos) members = {0};
    unsigned n_reclaimed = 0;
    uint64_t n_entries = c->n_entries, n_scopes = 0;
    uint64_t n_reclaiming = px_session_reclaiming(srv, &n_reclaimed);
    uint64_t n_places = n_reclaimed;

    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
            n_scopes += s->n_entries > 0 && s->state != PX_CLEANUP_FAILED;
    const struct {
        const char *key;
        const uint64_t *value;
    } rows[] = {
        {KEY ".registered", &n_entries},
        {KEY ".scopes", &n_scopes},
        {KEY ".files", &c->totals.files},
        {KEY ".dirs", &c->totals.dirs},
        {KEY ".kept", &c->totals.kept},
        {KEY ".foreign", &c->totals.foreign},
        {KEY ".failed", &c->totals.failed},
        {KEY ".reclaimed.files", &own->files},
        {KEY ".reclaimed.dirs", &own->dirs},
        {KEY ".reclaimed.kept", &own->kept},
        {KEY ".reclaimed.foreign", &own->foreign},
        {KEY ".reclaimed.failed", &own->failed},
        {KEY ".reclaimed.places", &n_places},
        {KEY ".reclaiming", &n_reclaiming},
    };
    pmix_status_t rc = PMIX_SUCCESS;

    if (px_info_find(a->infos->v, a->infos->n, KEY))
        return PMIX_SUCCESS;
    for (size_t i = 0; !rc && i < PX_COUNT(rows); i++)
        rc = px_infos_add(&members, rows[i].key, rows[i].value, PMIX_UINT64);
    return rc ? rc : px_infos_add_array(a->infos, KEY, &members);
}

const struct px_query_key px_cleanup_query_keys[] = {{KEY, answer}, {0}};
