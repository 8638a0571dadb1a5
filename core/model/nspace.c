/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces and the model that holds them; their data live in the datastore of
 * each. */
#include "core/model/nspace.h"

#include <string.h>

#include "core/base/str.h"
#include "core/model/group.h"
#include "core/model/iof.h"
#include "core/plugin/select.h"
#include "core/rt/process.h"

/* ---- model ----------------------------------------------------------------------- */

pmix_status_t px_model_create(struct px_model **model)
{
    struct px_model *m = calloc(1, sizeof(*m));

    if (!m)
        return PMIX_ERR_NOMEM;
    px_proc_set(&m->self, "", PMIX_RANK_UNDEF);
    m->channel.codec = px_codec_default;
    px_writer_init(&m->put_local, px_codec_default);
    px_writer_init(&m->put_remote, px_codec_default);
    px_str_copy(m->hostname, sizeof(m->hostname), px_process.host);
    px_list_init(&m->iofs);
    px_list_init(&m->groups);
    *model = m;
    return PMIX_SUCCESS;
}

static void nspace_free(struct px_nspace *ns)
{
    const struct px_gds_ops *ops = ns->gds->component->ops;

    if (ns->store)
        ops->destroy(ns->gds->self, ns->store);
    px_procmap_destroy(ns->map);
    for (uint32_t i = 0; i < ns->n_nodes; i++)
        free(ns->node_names[i]); /* not a vector ending in NULL: names may be missing */
    free(ns->node_names);
    free(ns);
}

void px_model_destroy(struct px_model *model)
{
    struct px_nspace *ns;
    size_t pos = 0;

    if (!model)
        return;
    while ((ns = px_map_next(&model->nspaces, &pos, NULL, NULL)))
        nspace_free(ns);
    px_map_fini(&model->nspaces);
    px_map_fini(&model->channel.pending);
    px_writer_cleanup(&model->put_local);
    px_writer_cleanup(&model->put_remote);
    px_iofs_fini(model);
    px_groups_fini(model);
    px_infos_cleanup(&model->resources);
    free(model);
}

/* ---- namespaces ------------------------------------------------------------------ */

struct px_nspace *px_nspace_find(const struct px_model *m, const char *name)
{
    return px_map_sget(&m->nspaces, name);
}

static pmix_status_t nspace_create(const char *name, struct px_nspace **out)
{
    size_t n_modules = 0;
    const struct px_module *modules = px_modules("gds", &n_modules);
    struct px_nspace *ns;

    if (n_modules == 0)
        return PMIX_ERR_NOT_AVAILABLE;
    ns = calloc(1, sizeof(*ns));
    if (!ns)
        return PMIX_ERR_NOMEM;
    px_list_init(&ns->locals);
    ns->this_node = ns->session = UINT32_MAX;
    ns->gds = &modules[0];
    px_str_copy(ns->name, sizeof(ns->name), name);

    const struct px_gds_ops *ops = ns->gds->component->ops;
    pmix_status_t rc = ops->create(ns->gds->self, ns->name, &ns->store);
    if (rc)
        free(ns);
    else
        *out = ns;
    return rc;
}

pmix_status_t px_nspace_get(struct px_model *m, const char *name,
                            struct px_nspace **out)
{
    struct px_nspace *ns;

    if (!name || !name[0] || strlen(name) > PMIX_MAX_NSLEN)
        return PMIX_ERR_BAD_PARAM;
    ns = px_nspace_find(m, name);
    if (!ns) {
        pmix_status_t rc = nspace_create(name, &ns);
        if (rc)
            return rc;
        px_gate_close(&px_process.model_gate);
        rc = px_map_sput(&m->nspaces, ns->name, ns, NULL);
        px_gate_open(&px_process.model_gate);
        if (rc) {
            nspace_free(ns);
            return rc;
        }
    }
    *out = ns;
    return PMIX_SUCCESS;
}

void px_nspace_remove(struct px_model *m, struct px_nspace *ns)
{
    if (!ns)
        return;
    px_gate_close(&px_process.model_gate);
    if (m->own == ns)
        m->own = NULL;
    px_map_sremove(&m->nspaces, ns->name);
    px_gate_open(&px_process.model_gate);
    nspace_free(ns); /* no reader can have it any more */
}

pmix_status_t px_model_set_self(struct px_model *m, const pmix_proc_t *self)
{
    struct px_nspace *own;
    pmix_status_t rc = px_nspace_get(m, self->nspace, &own);

    if (rc)
        return rc;
    px_gate_close(&px_process.model_gate);
    m->self = *self;
    m->own = own;
    px_gate_open(&px_process.model_gate);
    return PMIX_SUCCESS;
}

/* ---- tables ---------------------------------------------------------------------- */

pmix_status_t px_store_put(struct px_nspace *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_value_t *value)
{
    const struct px_gds_ops *ops = ns->gds->component->ops;

    px_gate_close(&px_process.model_gate);
    pmix_status_t rc = ops->store(ns->gds->self, ns->store, table, rank, key, value);
    px_gate_open(&px_process.model_gate);
    return rc;
}

pmix_status_t px_store_fetch(const struct px_nspace *ns, enum px_gds_table table,
                             pmix_rank_t rank, const char *key, pmix_value_t *out)
{
    const struct px_gds_ops *ops = ns->gds->component->ops;

    return ops->fetch(ns->gds->self, ns->store, table, rank, key, NULL, 0, out);
}

bool px_store_has(const struct px_nspace *ns, enum px_gds_table table, pmix_rank_t rank,
                  const char *key)
{
    return px_store_fetch(ns, table, rank, key, NULL) == PMIX_SUCCESS;
}

bool px_store_u32(const struct px_nspace *ns, enum px_gds_table table, pmix_rank_t rank,
                  const char *key, uint32_t *n)
{
    pmix_value_t v;
    bool is_number;

    if (px_store_fetch(ns, table, rank, key, &v))
        return false;
    is_number = px_value_to_u32(&v, n);
    px_type_destruct(PMIX_VALUE, &v);
    return is_number;
}

pmix_status_t px_store_walk(const struct px_nspace *ns, enum px_gds_table table,
                            pmix_rank_t rank, px_gds_walk_fn fn, void *arg)
{
    const struct px_gds_ops *ops = ns->gds->component->ops;

    return ops->walk(ns->gds->self, ns->store, table, rank, fn, arg);
}

void px_store_clear(struct px_nspace *ns, enum px_gds_table table, pmix_rank_t rank)
{
    const struct px_gds_ops *ops = ns->gds->component->ops;

    px_gate_close(&px_process.model_gate);
    ops->clear(ns->gds->self, ns->store, table, rank);
    px_gate_open(&px_process.model_gate);
}
