/* SPDX-License-Identifier: BSD-3-Clause */
/* Collecting job information in whatever form it comes, from a host or a server.
 * Nothing here touches a namespace: what is wrong with the information is found before
 * any of it counts. */
#include "core/model/jobinfo_impl.h"

#include <string.h>

#include "core/base/str.h"

void px_stage_init(struct px_stage *s, struct px_err *err)
{
    *s = (struct px_stage){.err = err, .this_node = UINT32_MAX, .session = UINT32_MAX};
}

void px_stage_cleanup(struct px_stage *s)
{
    for (size_t i = 0; i < s->n_owned; i++)
        px_kval_fini(&s->owned[i]);
    free(s->owned);
    free(s->entries);
    free(s->nodes);
    free(s->node_map);
    free(s->proc_map);
}

/* Room for one more of so many elements of a size. */
static pmix_status_t grow(struct px_stage *s, void *array, size_t n, size_t *cap,
                          size_t size)
{
    void *old, *more;

    if (n < *cap)
        return PMIX_SUCCESS;
    memcpy(&old, array, sizeof(old));
    more = reallocarray(old, *cap * 2 + 32, size);
    if (!more)
        return px_err_set(s->err, PMIX_ERR_NOMEM, "out of memory");
    memcpy(array, &more, sizeof(more));
    *cap = *cap * 2 + 32;
    return PMIX_SUCCESS;
}

pmix_status_t px_stage_own(struct px_stage *s, struct px_kval *kv)
{
    pmix_status_t rc = grow(s, &s->owned, s->n_owned, &s->cap_owned, sizeof(*s->owned));

    if (rc)
        px_kval_fini(kv);
    else
        s->owned[s->n_owned++] = *kv;
    return rc;
}

/* The infos of an array that has to be one. */
static pmix_status_t need_infos(struct px_stage *s, const char *key,
                                const pmix_value_t *value, const pmix_info_t **infos,
                                size_t *n)
{
    if (px_value_infos(value, infos, n))
        return PMIX_SUCCESS;
    return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "%s is not an array of infos", key);
}

/* ---- single values --------------------------------------------------------------- */

static pmix_status_t put_entry(struct px_stage *s, enum px_gds_table table,
                               pmix_rank_t rank, const char *key,
                               const pmix_value_t *value)
{
    pmix_status_t rc = grow(s, &s->entries, s->n_entries, &s->cap_entries,
                            sizeof(*s->entries));

    if (rc)
        return rc;
    struct px_stage_entry *e = &s->entries[s->n_entries++];
    *e = (struct px_stage_entry){.table = (uint8_t)table, .rank = rank, .key = key};
    px_job_value_convert(key, value, &e->value);
    return PMIX_SUCCESS;
}

/* Some readers cannot have compressed values: what is kept is plain. */
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
    rc = px_stage_own(s, &kv);
    return rc ? rc : put_entry(s, table, rank, kv.key, &kv.value);
}

/* A value with qualifiers: the value comes first, and counts for every reader. */
static pmix_status_t put_qualified(struct px_stage *s, enum px_gds_table table,
                                   pmix_rank_t rank, const pmix_value_t *value)
{
    const pmix_info_t *infos = NULL;
    size_t n = 0;

    if (!px_value_infos(value, &infos, &n) || n == 0 ||
        strcmp(infos[0].key, PMIX_QUALIFIED_VALUE) == 0)
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM,
                          "a qualified value holds no value");
    return px_stage_put(s, table, rank, infos[0].key, &infos[0].value);
}

static void note_apps(struct px_stage *s, const char *key, const pmix_value_t *value)
{
    uint32_t n;

    if (strcmp(key, PMIX_APPNUM) == 0 && px_value_to_u32(value, &n) && n > 0)
        s->many_apps = true;
    if (strcmp(key, PMIX_JOB_NUM_APPS) == 0 && px_value_to_u32(value, &n) && n > 1)
        s->many_apps = true;
}

pmix_status_t px_stage_put(struct px_stage *s, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_value_t *value)
{
    if (!key[0] || strlen(key) > PMIX_MAX_KEYLEN)
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "a key is empty or too long");
    if (strcmp(key, PMIX_QUALIFIED_VALUE) == 0)
        return put_qualified(s, table, rank, value);
    note_apps(s, key, value);
    if (value->type == PMIX_COMPRESSED_STRING ||
        value->type == PMIX_COMPRESSED_BYTE_OBJECT)
        return put_inflated(s, table, rank, key, value);
    return put_entry(s, table, rank, key, value);
}

static pmix_status_t put_all(struct px_stage *s, enum px_gds_table table,
                             pmix_rank_t rank, const pmix_info_t *infos, size_t n,
                             const char *but)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        if (strcmp(infos[i].key, but) != 0)
            rc = px_stage_put(s, table, rank, infos[i].key, &infos[i].value);
    return rc;
}

/* ---- realms ---------------------------------------------------------------------- */

static pmix_status_t proc_array(struct px_stage *s, const char *key,
                                const pmix_value_t *value)
{
    const pmix_info_t *infos = NULL, *rank_info;
    uint32_t rank;
    size_t n = 0;
    pmix_status_t rc = need_infos(s, key, value, &infos, &n);

    if (rc)
        return rc;
    rank_info = px_info_find(infos, n, PMIX_RANK);
    if (!rank_info || !px_value_to_u32(&rank_info->value, &rank) ||
        rank >= PMIX_RANK_VALID)
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "%s names no rank", key);
    return put_all(s, PX_GDS_JOB, rank, infos, n, PMIX_RANK);
}

static pmix_status_t app_array(struct px_stage *s, const char *key,
                               const pmix_value_t *value)
{
    const pmix_info_t *infos = NULL, *app_info;
    uint32_t app = 0; /* a job of one application need not number it */
    size_t n = 0;
    pmix_status_t rc = need_infos(s, key, value, &infos, &n);

    if (rc)
        return rc;
    app_info = px_info_find(infos, n, PMIX_APPNUM);
    if (app_info &&
        (!px_value_to_u32(&app_info->value, &app) || app >= PMIX_RANK_VALID))
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "%s has a bad application number",
                          key);
    if (app > 0)
        s->many_apps = true;
    return put_all(s, PX_GDS_APP, app, infos, n, PMIX_APPNUM);
}

static pmix_status_t name_session(struct px_stage *s, const pmix_value_t *value,
                                  uint32_t *id)
{
    if (!px_value_to_u32(value, id))
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "a session id is no number");
    return PMIX_SUCCESS;
}

/* The first session spoken of is the job's own. */
static pmix_status_t session_array(struct px_stage *s, const char *key,
                                   const pmix_value_t *value)
{
    const pmix_info_t *infos = NULL, *id_info;
    uint32_t id = UINT32_MAX;
    size_t n = 0;
    pmix_status_t rc = need_infos(s, key, value, &infos, &n);

    if (rc)
        return rc;
    id_info = px_info_find(infos, n, PMIX_SESSION_ID);
    if (id_info) {
        rc = name_session(s, &id_info->value, &id);
        if (rc)
            return rc;
    }
    if (!s->has_session) {
        s->has_session = true;
        s->session = id;
    }
    /* The default session has no id that anybody should ever see. */
    return put_all(s, PX_GDS_SESSION, id, infos, n,
                   id == UINT32_MAX ? PMIX_SESSION_ID : "");
}

pmix_status_t px_stage_node_new(struct px_stage *s, const char *name, uint32_t *node)
{
    if (s->n_nodes >= PX_MAX_NODES)
        return px_err_set(s->err, PMIX_ERR_OUT_OF_RESOURCE, "more than %u nodes",
                          PX_MAX_NODES);
    if (name && (!name[0] || strlen(name) > PX_MAX_NODE_NAME))
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM,
                          "a node name is empty or too long");
    pmix_status_t rc = grow(s, &s->nodes, s->n_nodes, &s->cap_nodes, sizeof(*s->nodes));
    if (rc)
        return rc;
    *node = (uint32_t)s->n_nodes;
    s->nodes[s->n_nodes++] = (struct px_stage_node){.name = name, .id = UINT32_MAX};
    return PMIX_SUCCESS;
}

/* A key of the node realm, of a staged node. */
static pmix_status_t node_put(struct px_stage *s, uint32_t node, const char *key,
                              const pmix_value_t *value)
{
    struct px_stage_node *at = &s->nodes[node];

    if (strcmp(key, PMIX_HOSTNAME) == 0) {
        const char *name = px_value_string(value);
        if (!name || !name[0] || strlen(name) > PX_MAX_NODE_NAME)
            return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "a host name is no name");
        at->name = name;
        return PMIX_SUCCESS; /* the row itself keeps it */
    }
    if (strcmp(key, PMIX_NODEID) == 0 && !px_value_to_u32(value, &at->id))
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "a node id is no number");
    if (strcmp(key, PMIX_LOCAL_PEERS) == 0)
        at->ranks = px_value_string(value);
    return px_stage_put(s, PX_GDS_NODE, node, key, value);
}

/* An array that names no node speaks of this one. */
pmix_status_t px_stage_node_array(struct px_stage *s, const char *name,
                                  const pmix_value_t *value)
{
    const pmix_info_t *infos = NULL;
    uint32_t node;
    size_t n = 0;
    pmix_status_t rc = need_infos(s, PMIX_NODE_INFO_ARRAY, value, &infos, &n);

    if (!rc)
        rc = px_stage_node_new(s, name, &node);
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
        rc = px_stage_node_new(s, NULL, &s->this_node);
        if (rc) {
            s->this_node = UINT32_MAX;
            return rc;
        }
        s->nodes[s->this_node].is_this = true;
    }
    return node_put(s, s->this_node, key, value);
}

static pmix_status_t lone_session_key(struct px_stage *s, const char *key,
                                      const pmix_value_t *value)
{
    if (strcmp(key, PMIX_SESSION_ID) == 0) {
        pmix_status_t rc = name_session(s, value, &s->session);
        if (rc)
            return rc;
        s->has_session = true;
    }
    /* Which session that is may yet have to be said: settled when applied. */
    return px_stage_put(s, PX_GDS_SESSION, PMIX_RANK_INVALID, key, value);
}

/* ---- the job level --------------------------------------------------------------- */

static pmix_status_t map_text(struct px_stage *s, const char *key,
                              const pmix_value_t *value, char **text)
{
    const char *string = px_value_string(value);
    char *made = NULL;
    pmix_status_t rc;

    if (string)
        rc = px_map_text(string, strlen(string), &made, s->err);
    else if ((value->type == PMIX_REGEX || value->type == PMIX_BYTE_OBJECT) &&
             (value->data.bo.bytes || value->data.bo.size == 0))
        rc = px_map_text(value->data.bo.bytes, value->data.bo.size, &made, s->err);
    else if (value->type == PMIX_REGEX2)
        rc = px_regex2_text(value->data.regex2, &made, s->err);
    else
        rc = px_err_set(s->err, PMIX_ERR_BAD_PARAM,
                        "%s is neither a string nor a regex", key);
    if (!rc) {
        free(*text);
        *text = made;
    }
    return rc;
}

static pmix_status_t add(struct px_stage *s, const char *key, const pmix_value_t *value,
                         bool nested);

static pmix_status_t job_array(struct px_stage *s, const char *key,
                               const pmix_value_t *value, bool nested)
{
    const pmix_info_t *infos = NULL;
    size_t n = 0;
    pmix_status_t rc = need_infos(s, key, value, &infos, &n);

    if (nested)
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "%s within itself", key);
    for (size_t i = 0; !rc && i < n; i++)
        rc = add(s, infos[i].key, &infos[i].value, true);
    return rc;
}

static pmix_status_t add(struct px_stage *s, const char *key, const pmix_value_t *value,
                         bool nested)
{
    if (strcmp(key, PMIX_NODE_MAP) == 0)
        return map_text(s, key, value, &s->node_map);
    if (strcmp(key, PMIX_PROC_MAP) == 0)
        return map_text(s, key, value, &s->proc_map);
    if (strcmp(key, PMIX_PROC_INFO_ARRAY) == 0) /* also known as PMIX_PROC_DATA */
        return proc_array(s, key, value);
    if (strcmp(key, PMIX_NODE_INFO_ARRAY) == 0)
        return px_stage_node_array(s, NULL, value);
    if (strcmp(key, PMIX_APP_INFO_ARRAY) == 0)
        return app_array(s, key, value);
    if (strcmp(key, PMIX_SESSION_INFO_ARRAY) == 0)
        return session_array(s, key, value);
    if (strcmp(key, PMIX_JOB_INFO_ARRAY) == 0)
        return job_array(s, key, value, nested);
    switch (px_job_key_home(key)) {
    case PX_HOME_NODE:
        return lone_node_key(s, key, value);
    case PX_HOME_SESSION:
        return lone_session_key(s, key, value);
    case PX_HOME_APP:
        return px_stage_put(s, PX_GDS_APP, 0, key, value);
    default:
        return px_stage_put(s, PX_GDS_JOB, PMIX_RANK_WILDCARD, key, value);
    }
}

pmix_status_t px_stage_add(struct px_stage *s, const char *key,
                           const pmix_value_t *value)
{
    return add(s, key, value, false);
}
