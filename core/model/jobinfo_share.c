/* SPDX-License-Identifier: BSD-3-Clause */
/* Job information that clients read in place. The shared tables hold the values, and a
 * record holds the other parts of the namespace. The record exists only while the
 * tables hold all information. */
#include <string.h>

#include "core/model/jobinfo_impl.h"
#include "core/rt/log.h"

#define MAP        "map"      /* record with the map's block */
#define MAX_LISTED (1u << 17) /* limit of nodes for the record of names */

/* ---- the server's side ----------------------------------------------------------- */

static pmix_status_t note_bytes(struct px_nspace *ns, const char *key,
                                const void *bytes, size_t n)
{
    const pmix_byte_object_t object = {.bytes = (char *)(uintptr_t)bytes, .size = n};
    pmix_value_t v;

    px_value_borrow(&v, &object, PMIX_BYTE_OBJECT);
    return px_store_note(&ns->store, key, &v);
}

/* Shares the node list, unless the list is long. A reader makes a long list in the time
 * of its first access to a shared one. */
static void note_nodes(struct px_nspace *ns)
{
    bool is_large = ns->map->n_nodes > MAX_LISTED;
    size_t n = 0;
    PX_AUTOFREE char *list = is_large ? NULL : px_procmap_names(ns->map, &n);

    (void)px_store_note(&ns->store, PX_STORE_NODES, NULL);
    if (list)
        (void)note_bytes(ns, PX_STORE_NODES, list, n);
}

/* Shares the map unless the shared map is the same. */
static pmix_status_t note_map(struct px_nspace *ns)
{
    const void *bytes, *noted;
    size_t size, n;

    if (!ns->map)
        return PMIX_SUCCESS;
    bytes = px_procmap_bytes(ns->map, &size);
    if (px_store_view(&ns->store, MAP, &noted, &n) == PMIX_SUCCESS && n == size &&
        memcmp(noted, bytes, n) == 0)
        return PMIX_SUCCESS;
    note_nodes(ns);
    return note_bytes(ns, MAP, bytes, size);
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

void px_jobinfo_note(struct px_nspace *ns)
{
    PX_AUTO(px_writer) w;
    pmix_status_t rc = PMIX_SUCCESS;

    px_writer_init(&w, px_codec_default);
    if (!ns->store.is_writer)
        return;
    (void)px_store_note(&ns->store, PX_STORE_JOB, NULL);
    if (!is_all_shared(ns))
        return;
    rc = note_map(ns);
    px_pack_u32(&w, ns->job_size);
    px_pack_u32(&w, ns->this_node);
    px_pack_u32(&w, ns->session);
    px_pack_u32(&w, ns->many_apps);
    if (!rc)
        rc = w.status ? w.status : note_bytes(ns, PX_STORE_JOB, w.buf.data, w.buf.len);
    if (rc)
        px_log(PX_LOG_INFO, "gds", "cannot share the information of %s: %s", ns->name,
               PMIx_Error_string(rc));
}

/* ---- the reader's side ----------------------------------------------------------- */

/* Parts of a namespace in the record. */
typedef struct record {
    struct px_procmap *map;
    uint32_t job_size, this_node, session, many_apps;
    uint64_t changes;
} record;

static void record_cleanup(struct record *r)
{
    px_procmap_destroy(r->map);
}

static pmix_status_t read_record(const struct px_stores *store, struct record *to)
{
    uint32_t *const numbers[] = {&to->job_size, &to->this_node, &to->session,
                                 &to->many_apps};
    const void *bytes;
    size_t n;
    pmix_value_t v = {0};
    px_reader r;
    pmix_status_t rc = px_store_noted(store, PX_STORE_JOB, &v);

    if (!rc && v.type != PMIX_BYTE_OBJECT)
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        px_reader_init(&r, px_codec_default, v.data.bo.bytes, v.data.bo.size);
    for (size_t i = 0; !rc && i < PX_COUNT(numbers); i++)
        rc = px_unpack1(&r, numbers[i], PMIX_UINT32);
    if (!rc && px_store_view(store, MAP, &bytes, &n) == PMIX_SUCCESS)
        rc = px_procmap_borrow(bytes, n, &to->map);
    px_type_destruct(PMIX_VALUE, &v);
    return rc;
}

/* Moves the record into the namespace; *r then holds the old map. */
static void take_record(const struct px_model *m, struct px_nspace *ns,
                        struct record *r)
{
    struct px_procmap *old = ns->map;
    uint32_t node = ns == m->own && r->map
                        ? px_procmap_node_of(r->map, m->self.rank, NULL)
                        : UINT32_MAX;

    px_read_gate_close(ns->store.gate);
    ns->map = r->map;
    ns->this_node = node != UINT32_MAX ? node : r->this_node;
    ns->job_size = r->job_size;
    ns->session = r->session;
    ns->many_apps = r->many_apps;
    ns->store.shared.changes = r->changes;
    px_read_gate_open(ns->store.gate);
    r->map = old;
}

/* Copies a map that lies in the shared tables, before the tables go. */
static void keep_map(struct px_nspace *ns)
{
    struct px_procmap *old = ns->map, *copy = NULL;

    if (!old || old->bytes == old->own)
        return;
    (void)px_procmap_extend(old, NULL, 0, &copy);
    px_read_gate_close(ns->store.gate);
    ns->map = copy;
    px_read_gate_open(ns->store.gate);
    px_procmap_destroy(old);
}

void px_jobinfo_detach(struct px_nspace *ns)
{
    keep_map(ns);
    px_store_detach(&ns->store);
}

static pmix_status_t attach(struct px_model *m, struct px_nspace *ns,
                            const pmix_value_t *description, int fd)
{
    PX_AUTO(record) r = {0};

    keep_map(ns);
    pmix_status_t rc = px_store_attach(&ns->store, ns->name, description, fd);

    if (rc)
        return rc;
    r.changes = px_store_changes(&ns->store);
    rc = read_record(&ns->store, &r);
    if (!rc)
        take_record(m, ns, &r);
    else if (rc != PMIX_ERR_NOT_FOUND) /* messages bring the job information */
        px_jobinfo_detach(ns);
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
