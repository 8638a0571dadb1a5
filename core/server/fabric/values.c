/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of fabric components, stored like the host's values. Clients find them in the
 * data sent first, or in the tables that they read. */
#include "core/server/fabric/values.h"

#include "core/base/str.h"
#include "core/model/jobinfo.h"
#include "core/model/lookup.h"
#include "core/model/nspace.h"
#include "core/plugin/select.h"
#include "core/server/fabric/job.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

#include <string.h>

/* A job whose contributions come from components with values. */
struct applied {
    struct applied *next;
    pmix_nspace_t nspace;
    bool by[]; /* true for each contributing component */
};

struct px_values {
    struct applied *first;
};

/* Returns the link to the job's entry; *link is NULL if there is none. */
static struct applied **find_applied(const struct px_server *srv, const char *nspace)
{
    struct applied **at = &srv->part.values->first;

    while (*at && strcmp((*at)->nspace, nspace) != 0)
        at = &(*at)->next;
    return at;
}

static void drop(struct applied **at)
{
    struct applied *a = *at;

    if (a)
        *at = a->next;
    free(a);
}

void px_values_drop(struct px_server *srv, const char *nspace)
{
    drop(find_applied(srv, nspace));
}

static void destroy(struct px_server *srv)
{
    while (srv->part.values->first)
        drop(&srv->part.values->first);
}

/* ---- one value ------------------------------------------------------------------- */

struct putting {
    struct px_server *server;
    struct px_nspace *ns;
    px_infos job; /* values of the whole job, registered together */
    px_writer trial;
};

/* True if a component must not set the key. Only the host sets places of ranks, and
 * readers expect one value for each key. */
static bool is_refused(const char *key, const struct px_job_key *known)
{
    return (known && known->means > PX_KEY_EVERY_RANKS) ||
           strcmp(key, PMIX_NODE_MAP) == 0 || strcmp(key, PMIX_PROC_MAP) == 0 ||
           strcmp(key, PMIX_QUALIFIED_VALUE) == 0;
}

/* Packs a value to check that it can be sent to clients that do not read in place.
 * Compressed values are refused, as some clients cannot inflate them. */
static pmix_status_t try_value(px_writer *trial, const pmix_value_t *v)
{
    if (v->type == PMIX_UNDEF || v->type == PMIX_POINTER || px_value_is_compressed(v))
        return PMIX_ERR_BAD_PARAM;
    trial->buf.len = 0;
    trial->status = PMIX_SUCCESS;
    px_pack_bare(trial, v, PMIX_VALUE);
    return !trial->status || trial->status == PMIX_ERR_NOMEM ? trial->status
                                                             : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t put(void *arg, pmix_rank_t rank, const pmix_info_t *info)
{
    struct putting *p = arg;
    const bool of_job = rank == PMIX_RANK_WILDCARD;
    const uint32_t size = p->ns->job_size;
    pmix_value_t v;

    if (!info || !info->key[0] || !memchr(info->key, '\0', sizeof(info->key)) ||
        is_refused(info->key, px_job_key_find(info->key)) ||
        (!of_job && (rank >= PMIX_RANK_VALID || (size > 0 && rank >= size))))
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = try_value(&p->trial, &info->value);
    if (rc || of_job)
        return rc ? rc : px_infos_add_copy(&p->job, info, 1);
    px_job_value_convert(info->key, &info->value, &v);
    return px_store_put(&p->ns->store, PX_GDS_JOB, rank, info->key, &v);
}

/* ---- all of a job ---------------------------------------------------------------- */

/* Calls the components from worst to best, so that the best sets a key last. */
static pmix_status_t call(const struct applied *a, const struct px_pnet_job *job,
                          struct putting *p, struct px_err *err)
{
    size_t i;
    const struct px_module *m = px_modules("pnet", &i);
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && i-- > 0) {
        if (!a->by[i])
            continue;
        rc = PX_OPS(pnet, &m[i])->values(m[i].self, job, put, p);
        if (rc)
            px_err_set(err, rc,
                       "component pnet/%s cannot give values to the processes of job "
                       "%s: %s",
                       m[i].component->name, job->nspace, PMIx_Error_string(rc));
    }
    return rc || !p->job.n
               ? rc
               : px_jobinfo_register(p->server->model, p->ns, p->job.v, p->job.n, err);
}

static pmix_status_t give_values(struct px_server *srv, const struct applied *a,
                                 struct px_nspace *ns, struct px_err *err)
{
    struct putting p = {.server = srv, .ns = ns};
    px_job_view v;
    pmix_status_t rc = px_job_view_of_map(&v, srv->model->hostname, ns->name, ns->map,
                                          err);

    if (rc)
        return rc;
    if (ns->this_node < v.job.n_nodes) /* the host may have set it */
        v.job.this_node = ns->this_node;
    px_writer_init(&p.trial, px_codec_default);
    px_read_gate_close(srv->gate); /* once for all values */
    rc = call(a, &v.job, &p, err);
    px_read_gate_open(srv->gate);
    px_writer_cleanup(&p.trial);
    px_infos_cleanup(&p.job);
    px_job_view_cleanup(&v);
    return rc;
}

pmix_status_t px_values_applied(struct px_server *srv, const char *nspace,
                                const struct px_share *shares, struct px_err *err)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);
    struct px_nspace *ns = px_nspace_find(srv->model, nspace);
    struct applied **at = find_applied(srv, nspace);

    for (size_t i = 0; i < n; i++) {
        if (!shares[i].present || !PX_OPS(pnet, &m[i])->values)
            continue;
        if (!*at)
            *at = calloc(1, sizeof(**at) + n * sizeof((*at)->by[0]));
        if (!*at)
            return px_err_nomem(err, "prepare job %s", nspace);
        px_str_copy((*at)->nspace, sizeof(*at)->nspace, nspace);
        (*at)->by[i] = true;
    }
    return *at && ns && ns->hosted && ns->complete ? give_values(srv, *at, ns, err)
                                                   : PMIX_SUCCESS;
}

pmix_status_t px_values_registered(struct px_server *srv, struct px_nspace *ns,
                                   struct px_err *err)
{
    const struct applied *a = *find_applied(srv, ns->name);

    return a ? give_values(srv, a, ns, err) : PMIX_SUCCESS;
}

const struct px_server_part px_values_part = {
    .name = "values",
    PX_PART_STATE(values, struct px_values),
    .destroy = destroy,
};
