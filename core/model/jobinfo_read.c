/* SPDX-License-Identifier: BSD-3-Clause */
/* Reader of job information in every form: hosts' infos and servers' KVALs. A stage
 * collects and checks the information before the namespace changes. The content of a
 * server's message is trusted, its lengths are not. */
#include <string.h>

#include "core/base/str.h"
#include "core/base/vec.h"
#include "core/model/group_values.h"
#include "core/model/jobinfo_impl.h"

typedef struct px_stage stage;

static void stage_init(struct px_stage *s, struct px_err *err)
{
    *s = (struct px_stage){.err = err, .this_node = UINT32_MAX, .session = UINT32_MAX};
}

static void stage_cleanup(struct px_stage *s)
{
    for (size_t i = 0; i < s->n_owned; i++)
        px_kval_fini(&s->owned[i]);
    free(s->owned);
    free(s->entries);
    free(s->nodes);
    px_procmap_destroy(s->map);
    free(s->node_map);
    free(s->proc_map);
}

static pmix_status_t bad(struct px_stage *s, const char *key, const char *why)
{
    return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "%s %s", key, why);
}

static pmix_status_t no_memory(struct px_stage *s)
{
    return px_err_nomem(s->err, "store job information");
}

/* Keeps *kv until cleanup. Takes *kv also on failure. */
static pmix_status_t own(struct px_stage *s, struct px_kval *kv)
{
    struct px_kval *kept = px_vec_add(&s->owned, &s->n_owned, &s->cap_owned);

    if (kept)
        *kept = *kv;
    else
        px_kval_fini(kv);
    return kept ? PMIX_SUCCESS : no_memory(s);
}

/* ---- single values --------------------------------------------------------------- */

static pmix_status_t put_entry(struct px_stage *s, enum px_gds_table table,
                               pmix_rank_t rank, const char *key,
                               const pmix_value_t *value)
{
    struct px_stage_entry *e = px_vec_add(&s->entries, &s->n_entries, &s->cap_entries);

    if (!e)
        return no_memory(s);
    *e = (struct px_stage_entry){.table = (uint8_t)table, .rank = rank, .key = key};
    px_job_value_convert(key, value, &e->value);
    return PMIX_SUCCESS;
}

/* Stores a compressed value inflated, because some readers cannot inflate. */
static pmix_status_t put_inflated(struct px_stage *s, enum px_gds_table table,
                                  pmix_rank_t rank, const char *key,
                                  const pmix_value_t *value)
{
    struct px_kval kv = {.key = strdup(key)};
    pmix_status_t rc = kv.key ? px_type_copy(PMIX_VALUE, &kv.value, value)
                              : PMIX_ERR_NOMEM;

    if (!rc)
        rc = px_value_inflate(&kv.value);
    if (rc) {
        px_kval_fini(&kv);
        return px_err_set(s->err, rc, "cannot inflate %s", key);
    }
    rc = own(s, &kv);
    return rc ? rc : put_entry(s, table, rank, kv.key, &kv.value);
}

/* Stages a pair of a rank or row. key and value outlive the stage. */
static pmix_status_t put(struct px_stage *s, enum px_gds_table table, pmix_rank_t rank,
                         const char *key, const pmix_value_t *value)
{
    const pmix_info_t *infos;
    size_t n_infos;
    uint32_t n;

    if (!key[0] || strlen(key) > PMIX_MAX_KEYLEN)
        return bad(s, "a key", "is empty or too long");
    if (strcmp(key, PMIX_QUALIFIED_VALUE) == 0) {
        /* The value precedes its qualifiers. The value counts for every reader. */
        if (!px_value_infos(value, &infos, &n_infos) || n_infos == 0 ||
            strcmp(infos[0].key, PMIX_QUALIFIED_VALUE) == 0)
            return bad(s, key, "is not an array of a value and its qualifiers");
        return put(s, table, rank, infos[0].key, &infos[0].value);
    }
    if (px_value_to_u32(value, &n) && ((strcmp(key, PMIX_APPNUM) == 0 && n > 0) ||
                                       (strcmp(key, PMIX_JOB_NUM_APPS) == 0 && n > 1)))
        s->many_apps = true;
    if (px_value_is_compressed(value))
        return put_inflated(s, table, rank, key, value);
    return put_entry(s, table, rank, key, value);
}

/* ---- arrays of a realm ----------------------------------------------------------- */

/* Returns the infos of an array, or an error if the value is not an array of infos. */
static pmix_status_t need_infos(struct px_stage *s, const char *key,
                                const pmix_value_t *value, const pmix_info_t **infos,
                                size_t *n)
{
    return px_value_infos(value, infos, n) ? PMIX_SUCCESS
                                           : bad(s, key, "is not an array of infos");
}

/* Arrays in which one info identifies the row of the others. */
static const struct realm_array {
    const char *key, *id_key;
    enum px_gds_table table;
    uint64_t end; /* exclusive upper bound of ids */
    uint32_t default_id;
    bool id_needed;
} realm_arrays[] = {
    /* also known as PMIX_PROC_DATA */
    {PMIX_PROC_INFO_ARRAY, PMIX_RANK, PX_GDS_JOB, PMIX_RANK_VALID, .id_needed = true},
    /* the only application of a job need not have a number */
    {PMIX_APP_INFO_ARRAY, PMIX_APPNUM, PX_GDS_APP, PMIX_RANK_VALID, .default_id = 0},
    {PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, PX_GDS_SESSION, UINT64_MAX,
     .default_id = UINT32_MAX},
};

static pmix_status_t realm_array(struct px_stage *s, const struct realm_array *r,
                                 const pmix_value_t *value)
{
    const pmix_info_t *infos = NULL, *named;
    uint32_t id = r->default_id;
    size_t n = 0;
    pmix_status_t rc = need_infos(s, r->key, value, &infos, &n);

    if (rc)
        return rc;
    named = px_info_find(infos, n, r->id_key);
    if (named ? !px_value_to_u32(&named->value, &id) || id >= r->end : r->id_needed)
        return bad(s, r->key, "has a missing or invalid id");
    if (r->table == PX_GDS_APP && id > 0)
        s->many_apps = true;
    if (r->table == PX_GDS_SESSION && !s->has_session) {
        s->has_session = true; /* the first session is the job's own */
        s->session = id;
    }
    /* A session stores its id as a value. The default session has no id. */
    bool keeps_id = r->table == PX_GDS_SESSION && id != UINT32_MAX;
    for (size_t i = 0; !rc && i < n; i++)
        if (keeps_id || strcmp(infos[i].key, r->id_key) != 0)
            rc = put(s, r->table, id, infos[i].key, &infos[i].value);
    return rc;
}

/* ---- nodes ----------------------------------------------------------------------- */

static pmix_status_t new_node(struct px_stage *s, const char *name, uint32_t *node)
{
    if (s->n_nodes >= PX_MAX_NODES)
        return px_err_set(s->err, PMIX_ERR_OUT_OF_RESOURCE, "more than %u nodes",
                          PX_MAX_NODES);
    if (name && (!name[0] || strlen(name) > PX_MAX_NODE_NAME))
        return bad(s, "a node's name", "is empty or too long");
    struct px_stage_node *added = px_vec_add(&s->nodes, &s->n_nodes, &s->cap_nodes);
    if (!added)
        return no_memory(s);
    *node = (uint32_t)s->n_nodes - 1;
    *added = (struct px_stage_node){.name = name, .id = UINT32_MAX};
    return PMIX_SUCCESS;
}

/* Stages a node-realm key of a staged node. */
static pmix_status_t node_put(struct px_stage *s, uint32_t node, const char *key,
                              const pmix_value_t *value)
{
    struct px_stage_node *at = &s->nodes[node];

    if (strcmp(key, PMIX_HOSTNAME) == 0) {
        const char *name = px_value_string(value);
        if (!name || !name[0] || strlen(name) > PX_MAX_NODE_NAME)
            return bad(s, key, "is not a name");
        at->name = name;
        return PMIX_SUCCESS; /* the row stores the name */
    }
    if (strcmp(key, PMIX_NODEID) == 0 && !px_value_to_u32(value, &at->id))
        return bad(s, key, "is not a number");
    if (strcmp(key, PMIX_LOCAL_PEERS) == 0)
        at->ranks = px_value_string(value);
    return put(s, PX_GDS_NODE, node, key, value);
}

/* Stages a node's array. An array without name and id describes this node. */
static pmix_status_t node_array(struct px_stage *s, const char *name,
                                const pmix_value_t *value)
{
    const pmix_info_t *infos = NULL;
    uint32_t node;
    size_t n = 0;
    pmix_status_t rc = need_infos(s, PMIX_NODE_INFO_ARRAY, value, &infos, &n);

    if (!rc)
        rc = new_node(s, name, &node);
    for (size_t i = 0; !rc && i < n; i++)
        rc = node_put(s, node, infos[i].key, &infos[i].value);
    if (!rc && !s->nodes[node].name && s->nodes[node].id == UINT32_MAX)
        s->nodes[node].is_this = true;
    return rc;
}

static pmix_status_t lone_node_key(struct px_stage *s, const char *key,
                                   const pmix_value_t *value)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (s->this_node == UINT32_MAX) {
        rc = new_node(s, NULL, &s->this_node);
        if (rc) {
            s->this_node = UINT32_MAX;
            return rc;
        }
        s->nodes[s->this_node].is_this = true;
    }
    return node_put(s, s->this_node, key, value);
}

/* ---- the job level --------------------------------------------------------------- */

static pmix_status_t map_text(struct px_stage *s, const char *key,
                              const pmix_value_t *value, char **text)
{
    char *made;
    pmix_status_t rc = px_procmap_of_value(value, &made, s->err);

    if (rc) {
        px_err_prefix(s->err, "%s", key);
    } else {
        free(*text);
        *text = made;
    }
    return rc;
}

static pmix_status_t add(struct px_stage *s, const char *key, const pmix_value_t *value,
                         bool nested)
{
    const pmix_info_t *infos = NULL;
    size_t n = 0;
    pmix_status_t rc;

    if (strcmp(key, PMIX_NODE_MAP) == 0)
        return map_text(s, key, value, &s->node_map);
    if (strcmp(key, PMIX_PROC_MAP) == 0)
        return map_text(s, key, value, &s->proc_map);
    for (size_t i = 0; i < PX_COUNT(realm_arrays); i++)
        if (strcmp(key, realm_arrays[i].key) == 0)
            return realm_array(s, &realm_arrays[i], value);
    if (strcmp(key, PMIX_NODE_INFO_ARRAY) == 0)
        return node_array(s, NULL, value);
    if (strcmp(key, PMIX_JOB_INFO_ARRAY) == 0) {
        if (nested)
            return bad(s, key, "contains itself");
        rc = need_infos(s, key, value, &infos, &n);
        for (size_t i = 0; !rc && i < n; i++)
            rc = add(s, infos[i].key, &infos[i].value, true);
        return rc;
    }
    switch (px_key_realm(key)) {
    case PX_KEY_NODE:
        return lone_node_key(s, key, value);
    case PX_KEY_SESSION:
        if (strcmp(key, PMIX_SESSION_ID) == 0 && !px_value_to_u32(value, &s->session))
            return bad(s, key, "is not a number");
        s->has_session |= strcmp(key, PMIX_SESSION_ID) == 0;
        /* The session may still be unknown here; px_stage_apply determines it. */
        return put(s, PX_GDS_SESSION, PMIX_RANK_INVALID, key, value);
    case PX_KEY_APP:
        return put(s, PX_GDS_APP, 0, key, value);
    default:
        return put(s, PX_GDS_JOB, PMIX_RANK_WILDCARD, key, value);
    }
}

/* ---- from a host ----------------------------------------------------------------- */

pmix_status_t px_jobinfo_register(struct px_model *m, struct px_nspace *ns,
                                  const pmix_info_t *info, size_t n, struct px_err *err)
{
    PX_AUTO(stage) s;
    pmix_status_t rc = PMIX_SUCCESS;

    stage_init(&s, err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = add(&s, info[i].key, &info[i].value, false);
    if (!rc)
        rc = px_stage_apply(&s, m, ns, false);
    if (rc)
        px_err_prefix(err, "cannot register namespace %s", ns->name);
    return rc;
}

/* ---- from a server --------------------------------------------------------------- */

/* Reads the next pair; the stage owns *kv. */
static pmix_status_t next_pair(struct px_stage *s, px_reader *r, struct px_kval *kv)
{
    memset(kv, 0, sizeof(*kv));
    pmix_status_t rc = px_unpack_kval(r, kv);

    /* Entries borrow the key and the value's data, which do not move. */
    return rc ? rc : own(s, kv);
}

static bool open_blob(const px_reader *outer, const pmix_value_t *value,
                      px_reader *inner)
{
    if (value->type != PMIX_BYTE_OBJECT ||
        (!value->data.bo.bytes && value->data.bo.size > 0))
        return false;
    px_reader_init(inner, outer->codec, value->data.bo.bytes, value->data.bo.size);
    inner->trusted = outer->trusted;
    return true;
}

/* Reads a blob: PROC_RANK, then pairs to the end. */
static pmix_status_t proc_blob(struct px_stage *s, const px_reader *outer,
                               const pmix_value_t *value)
{
    px_reader r;
    struct px_kval kv;
    pmix_rank_t rank;

    if (!open_blob(outer, value, &r))
        return PMIX_ERR_UNPACK_FAILURE;
    pmix_status_t rc = px_unpack_rank(&r, &rank);
    if (!rc && rank >= PMIX_RANK_VALID)
        rc = PMIX_ERR_UNPACK_FAILURE;
    while (!rc && !px_reader_done(&r)) {
        rc = next_pair(s, &r, &kv);
        if (!rc)
            rc = put(s, PX_GDS_JOB, rank, kv.key, &kv.value);
    }
    return rc;
}

/* Reads a blob: SIZE n, then n pairs of a node's name and its ranks. */
static pmix_status_t map_blob(struct px_stage *s, const px_reader *outer,
                              const pmix_value_t *value)
{
    px_reader r;
    struct px_kval kv;
    size_t n;

    if (!open_blob(outer, value, &r))
        return PMIX_ERR_UNPACK_FAILURE;
    pmix_status_t rc = px_unpack_size(&r, &n);
    for (; !rc && n > 0; n--) {
        uint32_t node;
        rc = next_pair(s, &r, &kv);
        if (!rc)
            rc = new_node(s, kv.key, &node);
        if (!rc)
            s->nodes[node].ranks = px_value_string(&kv.value);
    }
    return rc;
}

static pmix_status_t map_block(struct px_stage *s, const pmix_value_t *value)
{
    struct px_procmap *map = NULL, *own_map = NULL;
    const pmix_byte_object_t block = value->data.bo;

    if (value->type != PMIX_BYTE_OBJECT)
        return PMIX_ERR_UNPACK_FAILURE;
    px_procmap_take_order(block.bytes, block.size);
    pmix_status_t rc = px_procmap_borrow(block.bytes, block.size, &map);
    if (!rc)
        rc = px_procmap_extend(map, NULL, 0, &own_map);
    px_procmap_destroy(map);
    if (rc)
        return rc;
    px_procmap_destroy(s->map);
    s->map = own_map;
    return PMIX_SUCCESS;
}

/* True for a node's array under the node's name, the form for the oldest clients.
 * Arrays under keys of hosts or clients contain other keys. */
static bool is_named_node(const struct px_kval *kv)
{
    const pmix_info_t *infos;
    size_t n;

    if (px_str_starts(kv->key, "pmix.") || strlen(kv->key) > PX_MAX_NODE_NAME ||
        !px_value_infos(&kv->value, &infos, &n) || n == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (px_key_realm(infos[i].key) != PX_KEY_NODE)
            return false;
    return true;
}

static pmix_status_t add_pair(struct px_stage *s, const px_reader *r,
                              const struct px_kval *kv)
{
    if (strcmp(kv->key, PMIX_PROC_BLOB) == 0)
        return proc_blob(s, r, &kv->value);
    if (strcmp(kv->key, PMIX_MAP_BLOB) == 0)
        return map_blob(s, r, &kv->value);
    if (strcmp(kv->key, PX_JOB_MAP) == 0)
        return map_block(s, &kv->value);
    if (strcmp(kv->key, PX_STORE_JOB) == 0) {
        s->in_place = true;
        return PMIX_SUCCESS;
    }
    if (strcmp(kv->key, PX_PARENT_JOB) == 0) {
        s->parent = kv->value;
        return PMIX_SUCCESS;
    }
    if (is_named_node(kv))
        return node_array(s, kv->key, &kv->value);
    return add(s, kv->key, &kv->value, false);
}

/* Sets the application number of this process, which selects its app realm. */
static void learn_own_app(struct px_model *m, const struct px_nspace *ns)
{
    struct px_lookup l;
    pmix_value_t v;
    uint32_t app;

    if (ns != m->own || m->self.rank >= PMIX_RANK_VALID)
        return;
    px_lookup_init(&l, PMIX_APPNUM, m->self.rank, NULL, 0);
    if (px_lookup_find(m, ns, &l, &v) != PMIX_SUCCESS)
        return;
    if (px_value_to_u32(&v, &app)) {
        px_read_gate_close(m->gate);
        m->appnum = app;
        px_read_gate_open(m->gate);
    }
    px_type_destruct(PMIX_VALUE, &v);
}

static pmix_status_t unpack(struct px_stage *s, struct px_model *m,
                            struct px_nspace *ns, px_reader *r)
{
    struct px_kval kv;
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && !px_reader_done(r)) {
        rc = next_pair(s, r, &kv);
        if (!rc)
            rc = add_pair(s, r, &kv);
    }
    if (!rc)
        rc = px_stage_apply(s, m, ns, true);
    if (rc)
        return rc;
    px_read_gate_close(m->gate);
    ns->in_place = s->in_place;
    ns->complete = !px_nspace_is_lost(ns);
    px_read_gate_open(m->gate);
    learn_own_app(m, ns);
    return rc;
}

/* Unpacks the name of the parent's job and its KVALs. */
static pmix_status_t unpack_parent(struct px_model *m, const px_reader *outer,
                                   const pmix_value_t *value)
{
    PX_AUTO(stage) s;
    PX_AUTOFREE char *name = NULL;
    struct px_nspace *ns;
    px_reader r;
    pmix_status_t rc = PMIX_ERR_UNPACK_FAILURE;

    stage_init(&s, NULL);
    if (open_blob(outer, value, &r))
        rc = px_unpack_str(&r, &name);
    if (!rc && (!name || !name[0] || strlen(name) > PMIX_MAX_NSLEN))
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        rc = px_nspace_get(m, name, &ns);
    /* A process that serves the parent's job has registered that job itself. */
    return rc || ns->hosted || ns == m->own ? rc : unpack(&s, m, ns, &r);
}

pmix_status_t px_jobinfo_unpack(struct px_model *m, struct px_nspace *ns, px_reader *r)
{
    PX_AUTO(stage) s;
    pmix_status_t rc;

    stage_init(&s, NULL);
    rc = unpack(&s, m, ns, r);
    return !rc && s.parent.type != PMIX_UNDEF && ns == m->own
               ? unpack_parent(m, r, &s.parent)
               : rc;
}

/* Stores a value of a rank. A value that a group qualifies has a name of its own. */
static pmix_status_t put_of_rank(struct px_nspace *ns, pmix_rank_t rank,
                                 const struct px_kval *kv)
{
    const char *key = kv->key;
    const pmix_value_t *value = NULL;
    px_group_name name;

    if (strcmp(key, PMIX_QUALIFIED_VALUE) == 0)
        value = px_group_value_read(&kv->value, name);
    return px_store_put(&ns->store, PX_GDS_REMOTE, rank, value ? name : key,
                        value ? value : &kv->value);
}

pmix_status_t px_jobinfo_unpack_rank(struct px_model *m, struct px_nspace *ns,
                                     pmix_rank_t rank, px_reader *r)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (rank == PMIX_RANK_WILDCARD)
        return px_jobinfo_unpack(m, ns, r);
    px_read_gate_close(m->gate); /* readers see all values or none */
    while (!rc && !px_reader_done(r)) {
        struct px_kval kv = {0};

        rc = px_unpack_kval(r, &kv);
        if (!rc)
            rc = put_of_rank(ns, rank, &kv);
        px_kval_fini(&kv);
    }
    px_read_gate_open(m->gate);
    return rc;
}
