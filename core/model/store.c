/* SPDX-License-Identifier: BSD-3-Clause */
/* From namespaces to the components that hold their data. */
#include "core/model/store.h"

#include "core/base/strv.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "frameworks/gds/gds.h"

#include <string.h>

pmix_status_t px_store_create(struct px_stores *store, const char *nspace)
{
    size_t n = 0;
    const struct px_module *m = px_modules("gds", &n);
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;

    for (size_t i = 0; rc == PMIX_ERR_NOT_SUPPORTED && i < n; i++) {
        store->own.module = &m[i];
        rc = px_gds_ops(&m[i])->create(m[i].self, nspace, &store->own.ns);
    }
    return rc == PMIX_ERR_NOT_SUPPORTED ? PMIX_ERR_NOT_AVAILABLE : rc;
}

static void tables_destroy(struct px_tables *t)
{
    if (t->ns)
        px_gds_ops(t->module)->destroy(t->module->self, t->ns);
    *t = (struct px_tables){0};
}

void px_store_destroy(struct px_stores *store)
{
    tables_destroy(&store->shared);
    tables_destroy(&store->own);
}

/* ---- tables ---------------------------------------------------------------------- */

pmix_status_t px_store_put(struct px_stores *store, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_value_t *value)
{
    const struct px_module *m = store->own.module;

    px_gate_close(&px_process.model_gate);
    pmix_status_t rc = px_gds_ops(m)->store(m->self, store->own.ns, table, rank, key,
                                            value);
    px_gate_open(&px_process.model_gate);
    return rc;
}

void px_store_clear(struct px_stores *store, enum px_gds_table table, pmix_rank_t rank)
{
    const struct px_module *m = store->own.module;

    px_gate_close(&px_process.model_gate);
    px_gds_ops(m)->clear(m->self, store->own.ns, table, rank);
    px_gate_open(&px_process.model_gate);
}

/* Own tables first: what a process has put itself counts before what it was given. */
pmix_status_t px_store_walk(const struct px_stores *store, enum px_gds_table table,
                            pmix_rank_t rank, px_gds_walk_fn fn, void *arg)
{
    const struct px_tables *stores[] = {&store->own, &store->shared};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(stores) && stores[i]->ns; i++) {
        const struct px_module *m = stores[i]->module;
        rc = px_gds_ops(m)->walk(m->self, stores[i]->ns, table, rank, fn, arg);
    }
    return rc;
}

pmix_status_t px_store_fetch(const struct px_stores *store, enum px_gds_table table,
                             pmix_rank_t rank, const char *key,
                             const pmix_info_t *quals, size_t n_quals,
                             pmix_value_t *out)
{
    const struct px_tables *stores[] = {&store->own, &store->shared};
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (size_t i = 0;
         rc == PMIX_ERR_NOT_FOUND && i < PX_COUNT(stores) && stores[i]->ns; i++) {
        const struct px_module *m = stores[i]->module;
        rc = px_gds_ops(m)->fetch(m->self, stores[i]->ns, table, rank, key, quals,
                                  n_quals, out);
    }
    return rc;
}

bool px_store_has(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key)
{
    return px_store_fetch(store, table, rank, key, NULL, 0, NULL) == PMIX_SUCCESS;
}

bool px_store_u32(const struct px_stores *store, enum px_gds_table table,
                  pmix_rank_t rank, const char *key, uint32_t *n)
{
    pmix_value_t v;
    bool is_number;

    if (px_store_fetch(store, table, rank, key, NULL, 0, &v))
        return false;
    is_number = px_value_to_u32(&v, n);
    px_type_destruct(PMIX_VALUE, &v);
    return is_number;
}

/* ---- what a server and its reader agree on --------------------------------------- */

const struct px_module *px_store_choose(const char *names)
{
    PX_AUTO(px_strv) list = names ? px_strv_split(names, ',', false) : NULL;
    const struct px_module *by_messages = NULL;
    size_t n;
    const struct px_module *m = px_modules("gds", &n);

    for (size_t i = 0; i < n; i++) {
        if (px_strv_has(list, m[i].component->name))
            return &m[i];
        if (!by_messages && !px_gds_ops(&m[i])->describe)
            by_messages = &m[i];
    }
    return by_messages;
}

const struct px_module *px_store_of_peer(const char *name)
{
    const struct px_module *m = px_store_choose(name);

    return m && (!name[0] || strcmp(m->component->name, name) == 0) ? m : NULL;
}

void px_store_describe(const struct px_stores *store, const char *nspace,
                       const struct px_module *named, const pmix_proc_t *reader,
                       px_writer *w)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTO(px_infos) whole = {0};

    if (named != store->own.module || !px_gds_ops(named)->describe)
        return;
    int fd = -1;
    pmix_status_t rc = px_gds_ops(named)->describe(named->self, store->own.ns, reader,
                                                   &infos.v, &infos.n, &fd);
    if (!rc)
        rc = px_infos_add_array(&whole, named->component->name, &infos);
    if (rc) {
        px_log(PX_LOG_INFO, "gds", "cannot share the data of %s with rank %u: %s",
               nspace, reader->rank, PMIx_Error_string(rc));
        return;
    }
    pmix_data_array_t array = {.type = PMIX_INFO, .size = whole.n, .array = whole.v};
    const pmix_value_t value = {.type = PMIX_DATA_ARRAY, .data.darray = &array};
    px_pack_kval(w, PX_STORE_DESCRIPTION, &value);
}

static pmix_status_t attach(const char *nspace, const pmix_value_t *description,
                            struct px_tables *out)
{
    const pmix_info_t *named, *infos;
    size_t n;

    if (!px_value_infos(description, &named, &n) || n != 1 ||
        !px_value_infos(&named[0].value, &infos, &n))
        return PMIX_ERR_UNPACK_FAILURE;
    out->module = px_store_of_peer(named[0].key);
    if (!out->module || !px_gds_ops(out->module)->attach)
        return PMIX_ERR_NOT_SUPPORTED;
    return px_gds_ops(out->module)
        ->attach(out->module->self, nspace, infos, n, -1, &out->ns);
}

void px_store_attach(struct px_stores *store, const char *nspace,
                     const pmix_value_t *description)
{
    struct px_tables shared = {0};
    pmix_status_t rc = attach(nspace, description, &shared);

    if (rc) {
        px_log(PX_LOG_INFO, "gds", "cannot read the data of %s in place: %s", nspace,
               PMIx_Error_string(rc));
        return;
    }
    struct px_tables old = store->shared;
    px_gate_close(&px_process.model_gate);
    store->shared = shared;
    px_gate_open(&px_process.model_gate);
    tables_destroy(&old);
}
