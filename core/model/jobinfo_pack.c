/* SPDX-License-Identifier: BSD-3-Clause */
/* Answer to a client's first request. Only clients of this library get the map. Other
 * clients compute nothing, so they get all derived values. */
#include <string.h>

#include "core/base/vec.h"
#include "core/model/jobinfo_impl.h"
#include "core/model/resources.h"
#include "pmix_version.h"

/* ---- members of an array or blob ------------------------------------------------- */

/* Infos with borrowed values, many of them from owned. */
struct members {
    px_writer *w;
    pmix_info_t *v;
    size_t n, cap;
    const char *but; /* a key to leave out, or NULL */
    enum px_job_form form;
    pmix_value_t *owned;
    size_t n_owned, cap_owned;
};

static void members_reset(struct members *l)
{
    for (size_t i = 0; i < l->n_owned; i++)
        px_type_destruct(PMIX_VALUE, &l->owned[i]);
    l->n = l->n_owned = 0;
    l->but = NULL;
}

static void members_cleanup(struct members *l)
{
    members_reset(l);
    free(l->v);
    free(l->owned);
}

static pmix_status_t fail(px_writer *w, pmix_status_t rc)
{
    if (!w->status)
        w->status = rc;
    return w->status;
}

/* True if the peer's dialect has a type for the value, or a substitute. Other values
 * are left out, because they would spoil the whole answer. */
static bool can_pack(const px_writer *w, const pmix_value_t *value)
{
    px_writer trial;

    if (px_dialect_knows(w->codec.dialect, value->type) &&
        value->type != PMIX_DATA_ARRAY)
        return true;
    px_writer_init(&trial, w->codec);
    px_pack(&trial, value, 1, PMIX_VALUE);
    bool ok = !trial.status || trial.status == PMIX_ERR_NOMEM;
    px_writer_cleanup(&trial);
    return ok;
}

static pmix_status_t members_add(struct members *l, const char *key,
                                 const pmix_value_t *value)
{
    if ((l->but && strcmp(key, l->but) == 0) || !can_pack(l->w, value))
        return PMIX_SUCCESS;
    pmix_info_t *info = px_vec_add(&l->v, &l->n, &l->cap);
    if (!info)
        return fail(l->w, PMIX_ERR_NOMEM);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value = *value;
    return PMIX_SUCCESS;
}

static pmix_status_t add_u32(struct members *l, const char *key, uint32_t n,
                             pmix_data_type_t type)
{
    pmix_value_t v;

    px_value_borrow(&v, &n, type);
    return members_add(l, key, &v);
}

/* Adds a value and takes *value. */
static pmix_status_t add_owned(struct members *l, const char *key, pmix_value_t *value)
{
    pmix_value_t *kept = px_vec_add(&l->owned, &l->n_owned, &l->cap_owned);

    if (!kept) {
        px_type_destruct(PMIX_VALUE, value);
        return fail(l->w, PMIX_ERR_NOMEM);
    }
    *kept = *value;
    return members_add(l, key, value);
}

/* Copies a value, which the store lends only during the call. */
static pmix_status_t on_stored(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                               const pmix_value_t *value)
{
    struct members *l = arg;
    pmix_value_t copy;
    pmix_status_t rc = px_type_copy(PMIX_VALUE, &copy, value);

    return rc ? fail(l->w, rc) : add_owned(l, key, &copy);
}

/* Adds facts from the map that were not given. A node's name and id always come
 * first. */
static void add_facts(struct members *l, const struct px_nspace *ns,
                      enum px_gds_table table, pmix_rank_t row)
{
    for (const char *const *key = px_facts(table, row); *key; key++) {
        pmix_value_t fact;
        bool leads = table == PX_GDS_NODE && (strcmp(*key, PMIX_HOSTNAME) == 0 ||
                                              strcmp(*key, PMIX_NODEID) == 0);

        if (!leads &&
            (l->form == PX_JOB_COMPACT || px_store_has(&ns->store, table, row, *key)))
            continue;
        pmix_status_t rc = px_fact(ns, table, row, px_job_key_find(*key), &fact);
        if (!rc)
            add_owned(l, *key, &fact);
        else if (rc != PMIX_ERR_NOT_FOUND)
            fail(l->w, rc);
    }
}

static void walk(struct members *l, const struct px_nspace *ns, enum px_gds_table table,
                 pmix_rank_t rank, px_gds_walk_fn fn, void *arg)
{
    pmix_status_t rc = px_store_walk(&ns->store, table, rank, fn, arg);

    if (rc)
        fail(l->w, rc);
}

/* ---- packing of members ---------------------------------------------------------- */

static void write_array(struct members *l, const char *key)
{
    pmix_data_array_t array = {.type = PMIX_INFO, .size = l->n, .array = l->v};
    const pmix_value_t v = {.type = PMIX_DATA_ARRAY, .data.darray = &array};

    px_pack_kval(l->w, key, &v);
}

static void write_pairs(struct members *l, px_writer *w)
{
    for (size_t i = 0; i < l->n; i++)
        px_pack_kval(w, l->v[i].key, &l->v[i].value);
}

static void write_blob(struct members *l, pmix_rank_t rank)
{
    PX_AUTO(px_writer) body;
    pmix_value_t v;

    px_writer_init(&body, l->w->codec);
    px_pack_rank(&body, rank);
    write_pairs(l, &body);
    if (body.status) {
        fail(l->w, body.status);
        return;
    }
    const pmix_byte_object_t bytes = {.bytes = (char *)body.buf.data,
                                      .size = body.buf.len};
    px_value_borrow(&v, &bytes, PMIX_BYTE_OBJECT);
    px_pack_kval(l->w, PMIX_PROC_BLOB, &v);
}

/* ---- levels ---------------------------------------------------------------------- */

/* Packs the pairs that every job has besides its own values and resources. */
static void pack_common(struct members *l, const struct px_nspace *ns)
{
    pmix_value_t fact;

    if (!px_store_has(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, PMIX_BFROPS_MODULE)) {
        fact = (pmix_value_t){.type = PMIX_STRING,
                              .data.string = (char *)(uintptr_t)TENON_CLAIMED_VERSION};
        members_add(l, PMIX_BFROPS_MODULE, &fact);
    }
    write_pairs(l, l->w);
    members_reset(l);
}

/* Returns the id of a resource row for a job. */
static uint32_t id_for(const struct px_nspace *ns, const struct px_resource_row *row)
{
    return row->realm == PX_KEY_SESSION && row->id == UINT32_MAX ? ns->session
                                                                 : row->id;
}

/* True if a value of the job or a more specific row takes precedence. */
static bool is_hidden(const struct px_model *m, const struct px_nspace *ns,
                      const struct px_resource_row *row, const pmix_info_t *info)
{
    static const enum px_gds_table tables[] = {[PX_KEY_PROC] = PX_GDS_JOB,
                                               [PX_KEY_NODE] = PX_GDS_NODE,
                                               [PX_KEY_APP] = PX_GDS_APP,
                                               [PX_KEY_SESSION] = PX_GDS_SESSION};
    uint32_t id = id_for(ns, row);
    pmix_value_t fact;

    if (row->realm == PX_KEY_NODE)
        id = row->name ? px_node_by_name(ns, row->name) : px_node_by_id(ns, id);
    else if (px_resource_find(m, row->realm, id, ns->name, info->key) != &info->value)
        return true;
    if (row->realm == PX_KEY_JOB)
        return px_job_has_value(m, ns, info->key);
    if (row->realm == PX_KEY_SESSION)
        id = px_session_row(id);
    if (px_store_has(&ns->store, tables[row->realm], id, info->key))
        return true;
    if ((row->realm != PX_KEY_NODE && row->realm != PX_KEY_PROC) ||
        px_fact(ns, tables[row->realm], id, px_job_key_find(info->key), &fact))
        return false;
    px_type_destruct(PMIX_VALUE, &fact);
    return true;
}

/* Packs the job's values as pairs. Packs each other row as an array that begins with
 * its id. */
static void pack_resources(struct members *l, const struct px_model *m,
                           const struct px_nspace *ns)
{
    for (size_t i = 0; i < m->resources.n; i++) {
        const struct px_resource_row *row = &m->resources.v[i];
        const bool is_job = row->realm == PX_KEY_JOB,
                   is_proc = row->realm == PX_KEY_PROC;
        const bool is_blob = is_proc && l->form == PX_JOB_BLOBS;
        const char *id_key, *array = px_resource_array(row, &id_key);
        pmix_value_t name = {.type = PMIX_STRING, .data.string = row->name};

        if ((is_job || is_proc) && row->name && strcmp(row->name, ns->name) != 0)
            continue;
        if (is_proc && ns->job_size && row->id >= ns->job_size)
            continue;
        if (!is_job && !is_proc && row->name)
            members_add(l, id_key, &name);
        else if (!is_job && !is_blob)
            add_u32(l, id_key, id_for(ns, row), is_proc ? PMIX_PROC_RANK : PMIX_UINT32);
        for (size_t k = 0; k < row->values.n; k++)
            if (!is_hidden(m, ns, row, &row->values.v[k]))
                members_add(l, row->values.v[k].key, &row->values.v[k].value);
        if (is_job)
            write_pairs(l, l->w);
        else if (is_blob && l->n > 0)
            write_blob(l, row->id);
        else if (l->n > 1 && !is_blob)
            write_array(l, array);
        members_reset(l);
    }
}

void px_jobinfo_pack_in_place(const struct px_model *m, const struct px_nspace *ns,
                              px_writer *w)
{
    __attribute__((cleanup(members_cleanup))) struct members l = {.w = w};
    const pmix_value_t yes = {.type = PMIX_BOOL, .data.flag = true};

    px_pack_kval(w, PX_STORE_JOB, &yes);
    pack_common(&l, ns);
    pack_resources(&l, m, ns);
}

/* Groups a table's values by row. The walk is ordered by row. */
struct rows {
    struct members *l;
    const char *array_key, *id_key;
    pmix_rank_t row, but; /* but: a row to skip */
    bool open;
    bool lone_too; /* also writes each member as a pair */
};

static void end_row(struct rows *rows)
{
    if (!rows->open)
        return;
    write_array(rows->l, rows->array_key);
    if (rows->lone_too && rows->l->n > 0) {
        struct members pairs = *rows->l;
        pairs.v++; /* skips the id */
        pairs.n--;
        write_pairs(&pairs, rows->l->w);
    }
    members_reset(rows->l);
    rows->open = false;
}

static pmix_status_t on_row(void *arg, pmix_rank_t row, const char *key,
                            const pmix_value_t *value)
{
    struct rows *rows = arg;

    if (row == rows->but)
        return PMIX_SUCCESS;
    if (rows->open && rows->row != row)
        end_row(rows);
    if (!rows->open) {
        rows->open = true;
        rows->row = row;
        add_u32(rows->l, rows->id_key, row == PMIX_RANK_WILDCARD ? UINT32_MAX : row,
                PMIX_UINT32);
        rows->l->but = rows->id_key;
    }
    return on_stored(rows->l, row, key, value);
}

/* Packs the job's own session first, because some clients take the first session as
 * their own. Libraries with the fixed encoding read only lone values, not arrays. */
static void pack_sessions(struct members *l, const struct px_nspace *ns)
{
    pmix_rank_t own = px_session_row(ns->session);
    struct rows rows = {.l = l,
                        .array_key = PMIX_SESSION_INFO_ARRAY,
                        .id_key = PMIX_SESSION_ID,
                        .but = PMIX_RANK_INVALID,
                        .lone_too = l->w->codec.dialect->encoding == PX_ENC_FIXED};

    walk(l, ns, PX_GDS_SESSION, own, on_row, &rows);
    end_row(&rows);
    rows.lone_too = false;
    rows.but = own;
    walk(l, ns, PX_GDS_SESSION, PMIX_RANK_UNDEF, on_row, &rows);
    end_row(&rows);
}

static void pack_node(struct members *l, const struct px_nspace *ns, uint32_t row)
{
    add_facts(l, ns, PX_GDS_NODE, row);
    l->but = PMIX_NODEID;
    walk(l, ns, PX_GDS_NODE, row, on_stored, l);
    if (l->n > 0)
        write_array(l, PMIX_NODE_INFO_ARRAY);
    members_reset(l);
}

static void pack_rank(struct members *l, const struct px_nspace *ns, pmix_rank_t rank)
{
    const bool as_arrays = l->form != PX_JOB_BLOBS;
    size_t n_before;

    if (as_arrays)
        add_u32(l, PMIX_RANK, rank, PMIX_PROC_RANK);
    n_before = l->n;
    add_facts(l, ns, PX_GDS_JOB, rank);
    l->but = PMIX_RANK;
    walk(l, ns, PX_GDS_JOB, rank, on_stored, l);
    if (l->n > n_before && as_arrays)
        write_array(l, PMIX_PROC_INFO_ARRAY);
    else if (l->n > n_before)
        write_blob(l, rank);
    members_reset(l);
}

/* Nodes or ranks with values of the host that have not been packed yet. */
struct extras {
    struct members *l;
    const struct px_nspace *ns;
    enum px_gds_table table;
    pmix_rank_t next; /* lower rows are done */
};

static pmix_status_t on_extra(void *arg, pmix_rank_t row, const char *key PX_UNUSED,
                              const pmix_value_t *value PX_UNUSED)
{
    struct extras *x = arg;

    if (row < x->next || row >= PMIX_RANK_VALID)
        return PMIX_SUCCESS;
    if (x->table == PX_GDS_NODE)
        pack_node(x->l, x->ns, row);
    else
        pack_rank(x->l, x->ns, row);
    x->next = row + 1;
    return x->l->w->status;
}

static void pack_map(struct members *l, const struct px_procmap *map)
{
    pmix_byte_object_t block;
    pmix_value_t v;

    block.bytes = (char *)(uintptr_t)px_procmap_bytes(map, &block.size);
    px_value_borrow(&v, &block, PMIX_BYTE_OBJECT);
    px_pack_kval(l->w, PX_JOB_MAP, &v);
}

void px_jobinfo_pack(const struct px_model *m, const struct px_nspace *ns, px_writer *w,
                     enum px_job_form form)
{
    __attribute__((cleanup(members_cleanup))) struct members l = {.w = w, .form = form};
    bool all = form != PX_JOB_COMPACT;
    struct rows apps = {.l = &l,
                        .array_key = PMIX_APP_INFO_ARRAY,
                        .id_key = PMIX_APPNUM,
                        .but = PMIX_RANK_INVALID};
    struct extras nodes = {&l, ns, PX_GDS_NODE, all ? px_node_rows(ns) : 0};
    struct extras ranks = {&l, ns, PX_GDS_JOB, all && ns->map ? ns->map->n_ranks : 0};

    if (!all && ns->map)
        pack_map(&l, ns->map);
    add_facts(&l, ns, PX_GDS_JOB, PMIX_RANK_WILDCARD);
    walk(&l, ns, PX_GDS_JOB, PMIX_RANK_WILDCARD, on_stored, &l);
    pack_common(&l, ns);
    pack_sessions(&l, ns);
    for (uint32_t node = 0; !w->status && node < nodes.next; node++)
        pack_node(&l, ns, node);
    walk(&l, ns, PX_GDS_NODE, PMIX_RANK_UNDEF, on_extra, &nodes);
    walk(&l, ns, PX_GDS_APP, PMIX_RANK_UNDEF, on_row, &apps);
    end_row(&apps);
    for (pmix_rank_t rank = 0; !w->status && rank < ranks.next; rank++)
        pack_rank(&l, ns, rank);
    walk(&l, ns, PX_GDS_JOB, PMIX_RANK_UNDEF, on_extra, &ranks);
    pack_resources(&l, m, ns);
}

void px_jobinfo_pack_again(struct px_model *m, const struct px_nspace *ns, px_writer *w,
                           enum px_job_form form)
{
    struct px_packed_job *last = &m->last_packed;
    const uint64_t changes = m->gate->changes;
    size_t before = w->buf.len;

    if (last->ns == ns && last->changes == changes && last->form == form &&
        last->codec.dialect == w->codec.dialect &&
        last->codec.described == w->codec.described) {
        if (px_buf_add(&w->buf, last->bytes.data, last->bytes.len))
            fail(w, PMIX_ERR_NOMEM);
        return;
    }
    px_jobinfo_pack(m, ns, w, form);
    px_buf_cleanup(&last->bytes);
    last->ns = NULL;
    if (w->status ||
        px_buf_add(&last->bytes, w->buf.data + before, w->buf.len - before))
        return;
    last->ns = ns;
    last->codec = w->codec;
    last->form = form;
    last->changes = changes;
}

/* ---- the parent's job ------------------------------------------------------------ */

const struct px_nspace *px_jobinfo_parent(const struct px_model *m,
                                          const struct px_nspace *ns, pmix_rank_t rank)
{
    const struct px_nspace *parent = NULL;
    pmix_value_t v;

    if (px_store_fetch(&ns->store, PX_GDS_JOB, rank, PMIX_PARENT_ID, NULL, 0, &v) &&
        px_store_fetch(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, PMIX_PARENT_ID, NULL,
                       0, &v))
        return NULL;
    if (v.type == PMIX_PROC && v.data.proc)
        parent = px_nspace_find(m, v.data.proc->nspace);
    px_type_destruct(PMIX_VALUE, &v);
    return parent != ns && parent && parent->complete ? parent : NULL;
}
