/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding a value of a namespace: what was given comes before what follows from the
 * maps. */
#include <string.h>

#include "core/model/jobinfo_impl.h"
#include "core/model/resources.h"

void px_lookup_init(struct px_lookup *l, const char *key, pmix_rank_t rank,
                    const pmix_info_t *info, size_t n)
{
    *l = (struct px_lookup){.key = key, .rank = rank, .quals = info, .n_quals = n};
    l->hostname = px_info_str(info, n, PMIX_HOSTNAME);
    l->node_id = px_info_u32(info, n, PMIX_NODEID, UINT32_MAX);
    l->app = px_info_u32(info, n, PMIX_APPNUM, UINT32_MAX);
    l->session = px_info_u32(info, n, PMIX_SESSION_ID, UINT32_MAX);

    /* Naming a node asks for it, whether or not the realm is named too. */
    enum px_home home = px_job_key_home(key);
    bool named_node = l->hostname || l->node_id != UINT32_MAX;
    if (px_info_flag(info, n, PMIX_NODE_INFO) || (named_node && home == PX_HOME_NODE))
        l->realm = PX_REALM_NODE;
    else if (px_info_flag(info, n, PMIX_APP_INFO) ||
             (l->app != UINT32_MAX && home == PX_HOME_APP))
        l->realm = PX_REALM_APP;
    else if (px_info_flag(info, n, PMIX_SESSION_INFO) ||
             (l->session != UINT32_MAX && home == PX_HOME_SESSION))
        l->realm = PX_REALM_SESSION;
}

/* ---- tables ---------------------------------------------------------------------- */

static pmix_status_t fetch(const struct px_nspace *ns, const struct px_lookup *l,
                           enum px_gds_table table, pmix_rank_t row, pmix_value_t *out)
{
    return px_store_fetch(ns, table, row, l->key, l->quals, l->n_quals, out);
}

/* The tables that hold values of ranks, first choice first; ends in PX_GDS_N_TABLES. */
static void choose_tables(const struct px_lookup *l, enum px_gds_table tables[5])
{
    size_t n = 0;

    if (!l->skip_internal)
        tables[n++] = PX_GDS_INTERNAL;
    tables[n++] = PX_GDS_JOB;
    if (l->want_local)
        tables[n++] = PX_GDS_LOCAL;
    if (l->want_remote)
        tables[n++] = PX_GDS_REMOTE;
    tables[n] = PX_GDS_N_TABLES;
}

static pmix_status_t find_given(const struct px_nspace *ns, const struct px_lookup *l,
                                pmix_value_t *out)
{
    enum px_gds_table tables[5];
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    choose_tables(l, tables);
    for (size_t i = 0; rc == PMIX_ERR_NOT_FOUND && tables[i] != PX_GDS_N_TABLES; i++)
        rc = fetch(ns, l, tables[i], l->rank, out);
    return rc;
}

struct any_rank {
    const char *key;
    pmix_value_t *out;
    bool found;
};

static pmix_status_t match_key(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                               const pmix_value_t *value)
{
    struct any_rank *any = arg;

    if (strcmp(key, any->key) != 0)
        return PMIX_SUCCESS;
    any->found = true;
    pmix_status_t rc = px_type_copy(PMIX_VALUE, any->out, value);
    return rc ? rc : PMIX_EXISTS; /* ends the walk */
}

static pmix_status_t find_any_rank(const struct px_nspace *ns,
                                   const struct px_lookup *l, pmix_value_t *out)
{
    struct any_rank any = {.key = l->key, .out = out};
    enum px_gds_table tables[5];

    choose_tables(l, tables);
    for (size_t i = 0; tables[i] != PX_GDS_N_TABLES; i++) {
        pmix_status_t rc = px_store_walk(ns, tables[i], PMIX_RANK_UNDEF, match_key,
                                         &any);
        if (any.found)
            return rc == PMIX_EXISTS ? PMIX_SUCCESS : rc;
        if (rc)
            return rc;
    }
    return PMIX_ERR_NOT_FOUND;
}

/* ---- realms ---------------------------------------------------------------------- */

static uint32_t which_node(const struct px_nspace *ns, const struct px_lookup *l)
{
    if (l->hostname)
        return px_node_by_name(ns, l->hostname);
    if (l->node_id != UINT32_MAX)
        return px_node_by_id(ns, l->node_id);
    return ns->this_node;
}

static pmix_status_t find_node(const struct px_nspace *ns, const struct px_lookup *l,
                               pmix_value_t *out)
{
    uint32_t node = which_node(ns, l);

    if (node == UINT32_MAX)
        return PMIX_ERR_NOT_FOUND;
    pmix_status_t rc = fetch(ns, l, PX_GDS_NODE, node, out);
    return rc == PMIX_ERR_NOT_FOUND ? px_node_fact(ns, node, l->key, out) : rc;
}

static pmix_status_t find_app(const struct px_model *m, const struct px_nspace *ns,
                              const struct px_lookup *l, pmix_value_t *out)
{
    uint32_t app = l->app != UINT32_MAX ? l->app : ns == m->own ? m->appnum : 0;

    return fetch(ns, l, PX_GDS_APP, app, out);
}

static pmix_status_t find_session(const struct px_nspace *ns, const struct px_lookup *l,
                                  pmix_value_t *out)
{
    uint32_t id = l->session != UINT32_MAX ? l->session : ns->session;

    return fetch(ns, l, PX_GDS_SESSION, px_session_row(id), out);
}

/* A key of the job as a whole, or of the realm it belongs to, as the job itself has
 * it. */
static pmix_status_t find_own_job(const struct px_model *m, const struct px_nspace *ns,
                                  const struct px_lookup *l, pmix_value_t *out)
{
    struct px_lookup job = *l;
    pmix_status_t rc;

    job.rank = PMIX_RANK_WILDCARD;
    rc = find_given(ns, &job, out);
    if (rc == PMIX_ERR_NOT_FOUND)
        rc = px_job_fact(ns, l->key, out);
    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    switch (px_job_key_home(l->key)) {
    case PX_HOME_NODE:
        return find_node(ns, l, out);
    case PX_HOME_APP:
        return find_app(m, ns, l, out);
    case PX_HOME_SESSION:
        return find_session(ns, l, out);
    default:
        return PMIX_ERR_NOT_FOUND;
    }
}

/* What the job does not say holds for it as for every other. */
static pmix_status_t find_job(const struct px_model *m, const struct px_nspace *ns,
                              const struct px_lookup *l, pmix_value_t *out)
{
    pmix_status_t rc = find_own_job(m, ns, l, out);

    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    const pmix_value_t *v = px_resource_find(m, l->key);
    return v ? px_type_copy(PMIX_VALUE, out, v) : rc;
}

bool px_job_says(const struct px_model *m, const struct px_nspace *ns, const char *key)
{
    struct px_lookup l;
    pmix_value_t v;

    px_lookup_init(&l, key, PMIX_RANK_WILDCARD, NULL, 0);
    if (find_own_job(m, ns, &l, &v))
        return false;
    px_type_destruct(PMIX_VALUE, &v);
    return true;
}

static pmix_status_t find_rank(const struct px_nspace *ns, const struct px_lookup *l,
                               pmix_value_t *out)
{
    pmix_status_t rc = find_given(ns, l, out);

    if (rc == PMIX_ERR_NOT_FOUND)
        rc = px_rank_fact(ns, l->rank, l->key, out);
    /* Programs ask for the session's values by their own rank. */
    if (rc == PMIX_ERR_NOT_FOUND && px_job_key_home(l->key) == PX_HOME_SESSION)
        rc = find_session(ns, l, out);
    return rc;
}

static bool names_a_rank(const struct px_lookup *l)
{
    return l->rank < PMIX_RANK_VALID;
}

static pmix_status_t find_default(const struct px_model *m, const struct px_nspace *ns,
                                  const struct px_lookup *l, pmix_value_t *out)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (names_a_rank(l))
        return find_rank(ns, l, out);
    if (l->rank == PMIX_RANK_UNDEF)
        rc = find_any_rank(ns, l, out);
    return rc == PMIX_ERR_NOT_FOUND ? find_job(m, ns, l, out) : rc;
}

pmix_status_t px_lookup_find(const struct px_model *m, const struct px_nspace *ns,
                             const struct px_lookup *l, pmix_value_t *out)
{
    bool own = l->hostname == NULL && l->node_id == UINT32_MAX;
    pmix_status_t rc;

    switch (l->realm) {
    case PX_REALM_NODE:
        /* Host name and the like of a rank are asked for as of a node, too. */
        rc = own && names_a_rank(l) ? find_rank(ns, l, out) : PMIX_ERR_NOT_FOUND;
        return rc == PMIX_ERR_NOT_FOUND ? find_node(ns, l, out) : rc;
    case PX_REALM_APP:
        return find_app(m, ns, l, out);
    case PX_REALM_SESSION:
        rc = find_session(ns, l, out);
        /* Some of the session's facts are kept with the job: number of nodes, ... */
        return rc == PMIX_ERR_NOT_FOUND && l->session == UINT32_MAX
                   ? find_job(m, ns, l, out)
                   : rc;
    default:
        return find_default(m, ns, l, out);
    }
}
