/* SPDX-License-Identifier: BSD-3-Clause */
/* Job information that clients read in place: values lie in the shared tables, and what
 * a namespace is made of besides in a record there, for as long as this and they are
 * all there is. */
#include <string.h>

#include "core/base/strv.h"
#include "core/model/jobinfo_impl.h"
#include "core/rt/log.h"
#include "core/rt/process.h"

#define NODES "nodes" /* the maps, as text */
#define RANKS "ranks"

/* ---- the server's side ----------------------------------------------------------- */

static pmix_status_t note_text(struct px_stores *store, const char *key,
                               const char *text)
{
    const pmix_value_t v = {.type = PMIX_STRING,
                            .data.string = (char *)(uintptr_t)text};

    return px_store_note(store, key, text ? &v : NULL);
}

/* Numbers, then the names of nodes that are not in the map. */
static void pack_record(px_writer *w, const struct px_nspace *ns)
{
    uint32_t mapped = ns->map ? ns->map->n_nodes : 0;

    px_pack_u32(w, ns->job_size);
    px_pack_u32(w, ns->this_node);
    px_pack_u32(w, ns->session);
    px_pack_u32(w, ns->many_apps);
    px_pack_u32(w, ns->n_nodes);
    for (uint32_t i = mapped; i < ns->n_nodes; i++)
        px_pack_str(w, ns->node_names[i]);
}

static bool is_all_shared(const struct px_nspace *ns)
{
    static const enum px_gds_table tables[] = {PX_GDS_JOB, PX_GDS_NODE, PX_GDS_APP,
                                               PX_GDS_SESSION};

    for (size_t i = 0; i < PX_COUNT(tables); i++)
        if (px_store_keeps(&ns->store, tables[i], PMIX_RANK_UNDEF))
            return false;
    return !ns->assembly;
}

void px_jobinfo_note(const struct px_stage *s, struct px_nspace *ns)
{
    PX_AUTO(px_writer) w;
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_value_t v;

    px_writer_init(&w, px_codec_default);
    if (!ns->store.is_writer)
        return;
    (void)px_store_note(&ns->store, PX_STORE_JOB, NULL);
    if (!is_all_shared(ns))
        return;
    if (s->node_map || s->proc_map) {
        rc = note_text(&ns->store, NODES, s->node_map);
        if (!rc)
            rc = note_text(&ns->store, RANKS, s->proc_map);
    }
    pack_record(&w, ns);
    const pmix_byte_object_t bytes = {.bytes = (char *)w.buf.data, .size = w.buf.len};
    px_value_borrow(&v, &bytes, PMIX_BYTE_OBJECT);
    if (!rc)
        rc = w.status ? w.status : px_store_note(&ns->store, PX_STORE_JOB, &v);
    if (rc)
        px_log(PX_LOG_INFO, "gds", "cannot share the information of %s: %s", ns->name,
               PMIx_Error_string(rc));
}

/* ---- the reader's side ----------------------------------------------------------- */

/* Parts of a namespace as the record tells them. */
typedef struct record {
    struct px_procmap *map;
    char **names;
    uint32_t n_names;
    uint32_t job_size, this_node, session, many_apps, n_nodes;
} record;

static void record_cleanup(struct record *r)
{
    px_procmap_destroy(r->map);
    for (uint32_t i = 0; i < r->n_names; i++)
        free(r->names[i]);
    free(r->names);
}

static pmix_status_t read_map(const struct px_stores *store, struct px_procmap **map)
{
    pmix_value_t nodes = {0}, ranks = {0};
    pmix_status_t rc = px_store_noted(store, NODES, &nodes);

    if (!rc || rc == PMIX_ERR_NOT_FOUND)
        rc = px_store_noted(store, RANKS, &ranks);
    if (rc == PMIX_ERR_NOT_FOUND)
        rc = PMIX_SUCCESS;
    const char *names = px_value_string(&nodes), *lists = px_value_string(&ranks);
    if (!rc && (names || lists))
        rc = px_procmap_create(names, lists, map, NULL);
    px_type_destruct(PMIX_VALUE, &nodes);
    px_type_destruct(PMIX_VALUE, &ranks);
    return rc;
}

static pmix_status_t read_names(px_reader *r, struct record *to)
{
    uint32_t mapped = to->map ? to->map->n_nodes : 0;
    pmix_status_t rc = PMIX_SUCCESS;

    if (to->n_nodes > PX_MAX_NODES || to->n_nodes < mapped)
        return PMIX_ERR_UNPACK_FAILURE;
    to->names = calloc((size_t)to->n_nodes + 1, sizeof *to->names);
    if (!to->names)
        return PMIX_ERR_NOMEM;
    for (; !rc && to->n_names < to->n_nodes; to->n_names++) {
        char **name = &to->names[to->n_names];

        if (to->n_names >= mapped)
            rc = px_unpack_str(r, name);
        else if (!(*name = strdup(to->map->nodes[to->n_names])))
            rc = PMIX_ERR_NOMEM;
    }
    return rc;
}

static pmix_status_t read_record(const struct px_stores *store, struct record *to)
{
    uint32_t *const numbers[] = {&to->job_size, &to->this_node, &to->session,
                                 &to->many_apps, &to->n_nodes};
    pmix_value_t v = {0};
    px_reader r;
    pmix_status_t rc = px_store_noted(store, PX_STORE_JOB, &v);

    if (!rc && v.type != PMIX_BYTE_OBJECT)
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc) {
        px_reader_init(&r, px_codec_default, v.data.bo.bytes, v.data.bo.size);
        rc = read_map(store, &to->map);
    }
    for (size_t i = 0; !rc && i < PX_COUNT(numbers); i++)
        rc = px_unpack1(&r, numbers[i], PMIX_UINT32);
    if (!rc)
        rc = read_names(&r, to);
    px_type_destruct(PMIX_VALUE, &v);
    return rc;
}

/* *r has the old parts then. */
static void take_record(const struct px_model *m, struct px_nspace *ns,
                        struct record *r)
{
    const struct px_procmap *map = r->map;
    struct record old = {
        .map = ns->map, .names = ns->node_names, .n_names = ns->n_nodes};
    bool placed = ns == m->own && map && m->self.rank < map->n_ranks &&
                  map->node_of[m->self.rank] != UINT32_MAX;

    px_gate_close(&px_process.model_gate);
    ns->map = r->map;
    ns->node_names = r->names;
    ns->n_nodes = r->n_nodes;
    ns->this_node = placed ? map->node_of[m->self.rank] : r->this_node;
    ns->job_size = r->job_size;
    ns->session = r->session;
    ns->many_apps = r->many_apps;
    px_gate_open(&px_process.model_gate);
    *r = old;
}

static pmix_status_t attach(struct px_model *m, struct px_nspace *ns,
                            const pmix_value_t *description, int fd)
{
    PX_AUTO(record) r = {0};
    pmix_status_t rc = px_store_attach(&ns->store, ns->name, description, fd);

    if (rc)
        return rc;
    rc = read_record(&ns->store, &r);
    if (!rc)
        take_record(m, ns, &r);
    else if (rc != PMIX_ERR_NOT_FOUND) /* that comes in messages */
        px_store_detach(&ns->store);
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

pmix_status_t px_jobinfo_attach(struct px_model *m, px_reader *r, int fd)
{
    PX_AUTOFREE char *name = NULL;
    pmix_value_t description = {0};
    struct px_nspace *ns = NULL;
    pmix_status_t rc = px_unpack_str(r, &name);

    if (!rc && (!name || !name[0] || strlen(name) > PMIX_MAX_NSLEN))
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        rc = px_unpack1(r, &description, PMIX_VALUE);
    if (!rc)
        rc = px_nspace_get(m, name, &ns);
    if (!rc && !ns->hosted)
        rc = attach(m, ns, &description, fd);
    if (rc)
        px_log(PX_LOG_INFO, "gds", "cannot read the data of %s in place: %s",
               name ? name : "a job", PMIx_Error_string(rc));
    px_type_destruct(PMIX_VALUE, &description);
    return rc;
}
