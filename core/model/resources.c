/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of resources. A change works on a copy: readers see all of the change or
 * nothing. */
#include "core/model/resources.h"

#include <string.h>

#include "core/base/vec.h"
#include "core/model/lookup.h"
#include "core/rt/log.h"

#define MAX_DEPTH 2 /* a node's array in a session's array */

typedef struct px_resources rows;

static void rows_cleanup(struct px_resources *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].name);
        px_infos_cleanup(&l->v[i].values);
    }
    free(l->v);
    *l = (struct px_resources){0};
}

/* ---- rows ------------------------------------------------------------------------ */

/* Arrays of a realm, and the keys that identify a row. */
static const struct realm {
    const char *array, *name_key, *id_key;
    uint8_t realm;
    uint32_t default_id;
} realms[] = {
    {PMIX_JOB_INFO_ARRAY, PMIX_NSPACE, NULL, PX_KEY_JOB, UINT32_MAX},
    {PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, PMIX_NODEID, PX_KEY_NODE, UINT32_MAX},
    {PMIX_APP_INFO_ARRAY, NULL, PMIX_APPNUM, PX_KEY_APP, 0},
    {PMIX_SESSION_INFO_ARRAY, NULL, PMIX_SESSION_ID, PX_KEY_SESSION, UINT32_MAX},
    {PMIX_PROC_INFO_ARRAY, PMIX_NSPACE, PMIX_RANK, PX_KEY_PROC, UINT32_MAX},
};

static const struct realm *realm_of(const char *key)
{
    for (size_t i = 0; i < PX_COUNT(realms); i++)
        if (strcmp(key, realms[i].array) == 0)
            return &realms[i];
    return NULL;
}

/* True for arrays that resources cannot hold. */
static bool is_refused(const char *key)
{
    static const char *const keys[] = {PMIX_SERVER_INFO_ARRAY, PMIX_GROUP_INFO_ARRAY,
                                       PMIX_GROUP_INFO, PMIX_GROUP_ENDPT_DATA};

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

const char *px_resource_array(const struct px_resource_row *row, const char **id_key)
{
    const struct realm *r = realms;

    while (r->realm != row->realm)
        r++;
    *id_key = row->name && row->realm != PX_KEY_PROC ? r->name_key : r->id_key;
    return r->array;
}

static bool is_same_row(const struct px_resource_row *a,
                        const struct px_resource_row *b)
{
    return a->realm == b->realm && a->id == b->id && !a->name == !b->name &&
           (!a->name || strcmp(a->name, b->name) == 0);
}

/* Finds or adds a row, and copies the name. Returns NULL if memory is exhausted. */
static struct px_resource_row *row_get(struct px_resources *l,
                                       const struct px_resource_row *which)
{
    for (size_t i = 0; i < l->n; i++)
        if (is_same_row(&l->v[i], which))
            return &l->v[i];
    char *name = which->name ? strdup(which->name) : NULL;
    struct px_resource_row *row = which->name && !name
                                      ? NULL
                                      : px_vec_add(&l->v, &l->n, &l->cap);
    if (row)
        *row = (struct px_resource_row){
            .realm = which->realm, .id = which->id, .name = name};
    else
        free(name);
    return row;
}

/* True if other rows of the object are less specific. */
static bool is_exact(const struct px_resource_row *row)
{
    return row->name || (row->id != UINT32_MAX && row->realm != PX_KEY_PROC);
}

/* True if the row applies to the object. A job without a session matches every
 * session. */
static bool describes(const struct px_resource_row *row, uint8_t realm, uint32_t id,
                      const char *name)
{
    if (row->realm != realm)
        return false;
    if (realm == PX_KEY_PROC)
        return row->id == id && (!row->name || strcmp(row->name, name) == 0);
    if (row->name)
        return name && (realm == PX_KEY_NODE ? px_same_host(row->name, name)
                                             : strcmp(row->name, name) == 0);
    return row->id == id || !is_exact(row) ||
           (realm == PX_KEY_SESSION && id == UINT32_MAX);
}

const pmix_value_t *px_resource_find(const struct px_model *m, uint8_t realm,
                                     uint32_t id, const char *name, const char *key)
{
    const pmix_info_t *found = NULL;

    for (size_t i = 0; i < m->resources.n; i++) {
        const struct px_resource_row *row = &m->resources.v[i];
        const pmix_info_t *info = describes(row, realm, id, name)
                                      ? px_info_find(row->values.v, row->values.n, key)
                                      : NULL;

        if (info && is_exact(row))
            return &info->value;
        found = info ? info : found;
    }
    return found ? &found->value : NULL;
}

const pmix_value_t *px_resource_of_any_node(const struct px_model *m, const char *key)
{
    const pmix_info_t *info = NULL;

    for (size_t i = 0; !info && i < m->resources.n; i++)
        if (m->resources.v[i].realm == PX_KEY_NODE)
            info = px_info_find(m->resources.v[i].values.v, m->resources.v[i].values.n,
                                key);
    return info ? &info->value : NULL;
}

/* ---- changes --------------------------------------------------------------------- */

struct change {
    struct px_model *model;
    struct px_resources *rows; /* the copy */
    bool add;
    const char *job; /* whose array is being read; NULL: none */
    unsigned depth;  /* nesting level of arrays */
};

static pmix_status_t refuse(pmix_status_t rc, const char *key, const char *why)
{
    px_log(PX_LOG_ERROR, "server", "cannot change resource %.*s: %s", PMIX_MAX_KEYLEN,
           key, why);
    return rc;
}

/* Reads the members that identify the row. A node without name and id is this node. A
 * process is a rank of the job, or of each job. */
static pmix_status_t identify(const struct change *c, const struct realm *r,
                              const pmix_info_t *info, size_t n,
                              struct px_resource_row *row)
{
    const char *name = r->name_key ? px_info_str(info, n, r->name_key) : NULL;
    const pmix_info_t *id = r->id_key ? px_info_find(info, n, r->id_key) : NULL;

    *row = (struct px_resource_row){.realm = r->realm, .id = r->default_id};
    if ((!name || r->realm == PX_KEY_PROC) && id &&
        !px_value_to_u32(&id->value, &row->id))
        return refuse(PMIX_ERR_BAD_PARAM, r->array, "its id is not a number");
    if (r->realm == PX_KEY_PROC && row->id >= PMIX_RANK_VALID)
        return refuse(PMIX_ERR_BAD_PARAM, r->array,
                      "PMIX_RANK is not that of a process");
    if (!name && !id && r->realm == PX_KEY_NODE)
        name = c->model->hostname;
    if (!name && r->realm == PX_KEY_PROC)
        name = c->job;
    row->name = (char *)(uintptr_t)name;
    return PMIX_SUCCESS;
}

static pmix_status_t change_array(struct change *c, const struct realm *r,
                                  const pmix_value_t *value);

/* Changes the row which, and rows of arrays among the members. */
static pmix_status_t change_row(struct change *c, const struct px_resource_row *which,
                                const pmix_info_t *info, size_t n)
{
    const char *id_key = NULL;
    bool is_lone = which->realm == PX_KEY_JOB && !which->name;
    bool is_proc = which->realm == PX_KEY_PROC;
    pmix_status_t rc = PMIX_SUCCESS;

    (void)px_resource_array(which, &id_key);
    for (size_t i = 0; !rc && i < n; i++) {
        const char *key = info[i].key;
        if (!key[0] || !memchr(key, '\0', sizeof(info[i].key)))
            return refuse(PMIX_ERR_BAD_PARAM, key, "the key is empty or too long");
        const struct realm *r = realm_of(key);
        if (is_refused(key)) {
            rc = refuse(
                PMIX_ERR_NOT_SUPPORTED, key,
                "got the array of another realm, expected session, job, application, node or process");
        } else if (r) {
            rc = change_array(c, r, &info[i].value);
        } else if (!(is_proc && strcmp(key, PMIX_NSPACE) == 0) &&
                   (is_lone || !id_key || strcmp(key, id_key) != 0)) {
            struct px_resource_row *row = row_get(c->rows, which);
            if (row)
                px_infos_drop(&row->values, key);
            if (!row || (c->add && px_infos_add_copy(&row->values, &info[i], 1)))
                rc = PMIX_ERR_NOMEM;
        }
    }
    return rc;
}

static pmix_status_t change_array(struct change *c, const struct realm *r,
                                  const pmix_value_t *value)
{
    struct px_resource_row which;
    const pmix_info_t *info;
    size_t n;
    pmix_status_t rc;

    if (!px_value_infos(value, &info, &n)) {
        if (c->add || r->realm == PX_KEY_JOB)
            return refuse(PMIX_ERR_BAD_PARAM, r->array,
                          "the value is not an array of infos");
        for (size_t i = 0; i < c->rows->n; i++)
            if (c->rows->v[i].realm == r->realm)
                px_infos_cleanup(&c->rows->v[i].values);
        return PMIX_SUCCESS;
    }
    if (c->depth == MAX_DEPTH)
        return refuse(PMIX_ERR_BAD_PARAM, r->array, "arrays are nested too deep");
    rc = identify(c, r, info, n, &which);
    const char *job = c->job;
    if (r->realm == PX_KEY_JOB)
        c->job = which.name;
    c->depth++;
    if (!rc)
        rc = change_row(c, &which, info, n);
    c->depth--;
    c->job = job;
    return rc;
}

static pmix_status_t rows_copy(struct px_resources *to, const struct px_resources *from)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < from->n; i++) {
        const px_infos *values = &from->v[i].values;
        struct px_resource_row *row = values->n ? row_get(to, &from->v[i]) : NULL;
        if (values->n)
            rc = row ? px_infos_add_copy(&row->values, values->v, values->n)
                     : PMIX_ERR_NOMEM;
    }
    return rc;
}

static pmix_status_t change(struct px_model *m, const pmix_info_t *info, size_t n,
                            bool add)
{
    const struct px_resource_row every_job = {.realm = PX_KEY_JOB, .id = UINT32_MAX};
    PX_AUTO(rows) next = {0};
    struct change c = {.model = m, .rows = &next, .add = add};
    pmix_status_t rc = rows_copy(&next, &m->resources);

    if (!rc)
        rc = change_row(&c, &every_job, info, n);
    if (rc)
        return rc;
    struct px_resources old = m->resources;
    px_read_gate_close(m->gate);
    m->resources = next;
    px_read_gate_open(m->gate);
    next = old; /* rows_cleanup frees the old rows */
    return PMIX_SUCCESS;
}

pmix_status_t px_resources_set(struct px_model *m, const pmix_info_t *info, size_t n)
{
    return change(m, info, n, true);
}

pmix_status_t px_resources_drop(struct px_model *m, const pmix_info_t *info, size_t n)
{
    return change(m, info, n, false);
}

void px_resources_clear(struct px_model *m)
{
    px_read_gate_close(m->gate);
    rows_cleanup(&m->resources);
    px_read_gate_open(m->gate);
}
