/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces and the model that holds them; their data live in the datastore of
 * each. */
#include "core/model/nspace.h"

#include <string.h>

#include "core/base/str.h"
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
    px_iofs_init(&m->iofs);
    px_list_init(&m->groups);
    *model = m;
    return PMIX_SUCCESS;
}

static void nspace_free(struct px_nspace *ns)
{
    px_store_destroy(&ns->store);
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
    px_iofs_fini(&model->iofs);
    PX_LIST_EACH (&model->groups, struct px_group, g, link)
        free(g);
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
    struct px_nspace *ns = calloc(1, sizeof(*ns));

    if (!ns)
        return PMIX_ERR_NOMEM;
    px_list_init(&ns->locals);
    ns->this_node = ns->session = UINT32_MAX;
    px_str_copy(ns->name, sizeof(ns->name), name);
    pmix_status_t rc = px_store_create(&ns->store, ns->name);
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
