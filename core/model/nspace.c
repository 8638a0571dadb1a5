/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces and the model that contains them. A datastore component holds each
 * namespace's data. */
#include "core/model/nspace.h"

#include <string.h>

#include "core/base/str.h"
#include "core/model/resources.h"

/* ---- model ----------------------------------------------------------------------- */

pmix_status_t px_model_create(struct px_read_gate *gate, const char *hostname,
                              struct px_model **model)
{
    struct px_model *m = calloc(1, sizeof(*m));

    if (!m)
        return PMIX_ERR_NOMEM;
    m->gate = gate;
    px_proc_set(&m->self, "", PMIX_RANK_UNDEF);
    px_str_copy(m->hostname, sizeof(m->hostname), hostname);
    *model = m;
    return PMIX_SUCCESS;
}

static void nspace_free(struct px_nspace *ns)
{
    px_store_destroy(&ns->store);
    px_procmap_destroy(ns->map);
    free(ns->assembly);
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
    px_resources_clear(model);
    px_buf_cleanup(&model->last_packed.bytes);
    free(model);
}

/* ---- namespaces ------------------------------------------------------------------ */

struct px_nspace *px_nspace_find(const struct px_model *m, const char *name)
{
    struct px_nspace *likely = atomic_load_explicit(&m->likely, memory_order_acquire);

    return likely && strcmp(name, likely->name) == 0 ? likely
                                                     : px_map_sget(&m->nspaces, name);
}

/* Readers in the gate may use the previous namespace, which stays until they leave. */
void px_nspace_expect(struct px_model *m, const char *name)
{
    struct px_nspace *ns = px_nspace_find(m, name);

    if (ns)
        atomic_store_explicit(&m->likely, ns, memory_order_release);
}

pmix_status_t px_nspace_get(struct px_model *m, const char *name,
                            struct px_nspace **out)
{
    struct px_nspace *ns;

    if (!name || !name[0] || strlen(name) > PMIX_MAX_NSLEN)
        return PMIX_ERR_BAD_PARAM;
    *out = px_nspace_find(m, name);
    if (*out)
        return PMIX_SUCCESS;
    ns = calloc(1, sizeof(*ns));
    if (!ns)
        return PMIX_ERR_NOMEM;
    px_list_init(&ns->locals);
    ns->this_node = ns->session = UINT32_MAX;
    px_str_copy(ns->name, sizeof(ns->name), name);
    pmix_status_t rc = px_store_create(&ns->store, m->gate, ns->name);
    if (!rc) {
        px_read_gate_close(m->gate);
        rc = px_map_sput(&m->nspaces, ns->name, ns, NULL);
        px_read_gate_open(m->gate);
    }
    if (rc)
        nspace_free(ns);
    else
        *out = ns;
    return rc;
}

void px_nspace_remove(struct px_model *m, struct px_nspace *ns)
{
    if (!ns)
        return;
    px_read_gate_close(m->gate);
    if (m->own == ns)
        m->own = NULL;
    if (m->likely == ns)
        m->likely = m->own;
    px_map_sremove(&m->nspaces, ns->name);
    px_read_gate_open(m->gate);
    nspace_free(ns); /* readers have left: the gate was closed */
}

static bool may_go(const struct px_model *m, const struct px_nspace *ns)
{
    return ns->received && ns != m->own && !ns->hosted && !ns->noted && !ns->assembly;
}

void px_nspace_received(struct px_model *m, struct px_nspace *ns)
{
    struct px_nspace *oldest = NULL, *next;
    size_t pos = 0, n = 0;

    ns->received = ++m->n_received;
    if (!may_go(m, ns))
        return;
    while ((next = px_map_next(&m->nspaces, &pos, NULL, NULL))) {
        if (!may_go(m, next))
            continue;
        n++;
        if (!oldest || next->received < oldest->received)
            oldest = next;
    }
    if (n > PX_MAX_RECEIVED)
        px_nspace_remove(m, oldest);
}

pmix_status_t px_model_set_self(struct px_model *m, const pmix_proc_t *self)
{
    struct px_nspace *own;
    pmix_status_t rc = px_nspace_get(m, self->nspace, &own);
    pmix_value_t v;

    if (!rc)
        rc = px_value_borrow(&v, self, PMIX_PROC);
    if (!rc)
        rc = px_store_put(&own->store, PX_GDS_INTERNAL, self->rank, PMIX_PROCID, &v);
    if (!rc)
        rc = px_value_borrow(&v, &self->rank, PMIX_PROC_RANK);
    if (!rc)
        rc = px_store_put(&own->store, PX_GDS_INTERNAL, self->rank, PMIX_RANK, &v);
    if (rc)
        return rc;
    px_read_gate_close(m->gate);
    m->self = *self;
    m->own = own;
    m->likely = own;
    px_read_gate_open(m->gate);
    return PMIX_SUCCESS;
}
