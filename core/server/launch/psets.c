/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets: the host names them, clients are told of them and ask about them. */
#include "core/base/strv.h"
#include "core/link/api.h"
#include "core/server/server.h"

#include <string.h>

struct px_psets {
    struct px_list list;
};

struct pset {
    struct px_list link; /* in px_psets.list */
    char *name;
    pmix_proc_t *procs;
    size_t n_procs;
};

static void pset_free(struct pset *s)
{
    if (!s)
        return;
    px_list_remove(&s->link);
    free(s->name);
    free(s->procs);
    free(s);
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    px_list_init(&srv->part.psets->list);
    return PMIX_SUCCESS;
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.psets->list, struct pset, s, link)
        pset_free(s);
}

static struct pset *find_pset(const struct px_server *srv, const char *name)
{
    PX_LIST_EACH (&srv->part.psets->list, struct pset, s, link)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static pmix_status_t add_array(px_infos *l, const char *key, void *array, size_t n,
                               pmix_data_type_t type)
{
    pmix_data_array_t borrowed = {.type = type, .size = n, .array = array};

    return px_infos_add(l, key, &borrowed, PMIX_DATA_ARRAY);
}

/* ---- define and delete -------------------------------------------------------------------------- */

/* Programs that end themselves in their default handlers are not told. */
static pmix_status_t make_event(px_infos *l, const struct pset *s, bool with_members)
{
    pmix_status_t rc = px_infos_add(l, PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);

    if (!rc)
        rc = px_infos_add(l, PMIX_PSET_NAME, s->name, PMIX_STRING);
    if (!rc && with_members)
        rc = add_array(l, PMIX_PSET_MEMBERS, s->procs, s->n_procs, PMIX_PROC);
    return rc;
}

struct pset_op {
    struct px_api api;
    const char *name;
    const pmix_proc_t *procs;
    size_t n_procs;
};

static struct pset *pset_create(const struct pset_op *op)
{
    struct pset *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->name = strdup(op->name);
    if (!s->name ||
        px_type_copy_array(PMIX_PROC, (void **)&s->procs, op->procs, op->n_procs)) {
        pset_free(s);
        return NULL;
    }
    s->n_procs = op->n_procs;
    return s;
}

static pmix_status_t define(struct px_server *srv, const struct pset_op *op)
{
    PX_AUTO(px_infos) event = {0};
    struct pset *s;
    pmix_status_t rc;

    if (find_pset(srv, op->name))
        return PMIX_ERR_EXISTS; /* sets do not change */
    s = pset_create(op);
    rc = s ? make_event(&event, s, true) : PMIX_ERR_NOMEM;
    if (rc) {
        pset_free(s);
        return rc;
    }
    px_list_append(&srv->part.psets->list, &s->link);
    px_server_event(srv, PMIX_PROCESS_SET_DEFINE, NULL, PMIX_RANGE_LOCAL, event.v,
                    event.n);
    return PMIX_SUCCESS;
}

static void on_define(struct px_api *api)
{
    const struct pset_op *op = PX_CONTAINER_OF(api, struct pset_op, api);
    struct px_server *srv = px_process.server;

    px_api_done(api, srv ? define(srv, op) : PMIX_ERR_INIT);
}

static pmix_status_t delete_set(struct px_server *srv, const struct pset_op *op)
{
    PX_AUTO(px_infos) event = {0};
    struct pset *s = find_pset(srv, op->name);
    pmix_status_t rc = s ? make_event(&event, s, false) : PMIX_ERR_NOT_FOUND;

    if (rc)
        return rc;
    pset_free(s);
    px_server_event(srv, PMIX_PROCESS_SET_DELETE, NULL, PMIX_RANGE_LOCAL, event.v,
                    event.n);
    return PMIX_SUCCESS;
}

static void on_delete(struct px_api *api)
{
    const struct pset_op *op = PX_CONTAINER_OF(api, struct pset_op, api);
    struct px_server *srv = px_process.server;

    px_api_done(api, srv ? delete_set(srv, op) : PMIX_ERR_INIT);
}

static bool name_ok(const char *name)
{
    return name && name[0] && strnlen(name, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;
}

PX_EXPORT pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members,
                                                       size_t nmembers,
                                                       const char *pset_name)
{
    struct pset_op op = {.api = {.start = on_define},
                         .name = pset_name,
                         .procs = members,
                         .n_procs = nmembers};

    if (!px_server_here())
        return PMIX_ERR_INIT;
    if (!members || nmembers == 0 || !name_ok(pset_name))
        return PMIX_ERR_BAD_PARAM;
    return px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_server_delete_process_set(char *pset_name)
{
    struct pset_op op = {.api = {.start = on_delete}, .name = pset_name};

    if (!px_server_here())
        return PMIX_ERR_INIT;
    return name_ok(pset_name) ? px_api_wait(&op.api) : PMIX_ERR_BAD_PARAM;
}

/* ---- queries -------------------------------------------------------------------------------- */

/* What has no room in a reply need not be made: else a few bytes that repeat the same key would
 * cost gigabytes. */
struct answers {
    px_infos *infos;
    size_t left_b;
};

static pmix_status_t spend(struct answers *a, size_t n)
{
    n += sizeof(pmix_info_t);
    if (n > a->left_b)
        return PMIX_ERR_OUT_OF_RESOURCE;
    a->left_b -= n;
    return PMIX_SUCCESS;
}

static pmix_status_t tell_names(const struct px_server *srv, struct answers *a)
{
    PX_AUTO(px_strv) names = NULL;
    size_t len = 0;

    PX_LIST_EACH (&srv->part.psets->list, struct pset, s, link)
        len += strlen(s->name) + 1;
    pmix_status_t rc = spend(a, len);

    PX_LIST_EACH (&srv->part.psets->list, struct pset, s, link)
        if (!rc)
            rc = px_strv_append(&names, s->name);
    return rc ? rc
              : add_array(a->infos, PMIX_QUERY_PSET_NAMES, names, px_strv_count(names),
                          PMIX_STRING);
}

static pmix_status_t tell_number(const struct px_server *srv, struct answers *a)
{
    pmix_status_t rc = spend(a, 0);
    size_t n = 0;

    PX_LIST_EACH (&srv->part.psets->list, struct pset, s, link)
        n++;
    return rc ? rc : px_infos_add(a->infos, PMIX_QUERY_NUM_PSETS, &n, PMIX_SIZE);
}

static pmix_status_t tell_members(const struct px_server *srv, const pmix_query_t *q,
                                  struct answers *a)
{
    const char *name = px_info_str(q->qualifiers, q->nqual, PMIX_PSET_NAME);
    const struct pset *s = name ? find_pset(srv, name) : NULL;
    pmix_status_t rc = s ? spend(a, s->n_procs * sizeof *s->procs) : PMIX_ERR_NOT_FOUND;

    return rc ? rc
              : add_array(a->infos, PMIX_QUERY_PSET_MEMBERSHIP, s->procs, s->n_procs,
                          PMIX_PROC);
}

/* PMIX_ERR_NOT_FOUND: nothing that is known here. */
static pmix_status_t answer_key(const struct px_server *srv, const pmix_query_t *q,
                                const char *key, struct answers *a)
{
    if (strcmp(key, PMIX_QUERY_NUM_PSETS) == 0)
        return tell_number(srv, a);
    if (strcmp(key, PMIX_QUERY_PSET_NAMES) == 0)
        return tell_names(srv, a);
    if (strcmp(key, PMIX_QUERY_PSET_MEMBERSHIP) == 0)
        return tell_members(srv, q, a);
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t answer_query(const struct px_server *srv, pmix_query_t *q,
                                  struct answers *a)
{
    size_t kept = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; q->keys && q->keys[i]; i++) {
        char *key = q->keys[i];

        if (!rc || rc == PMIX_ERR_NOT_FOUND)
            rc = answer_key(srv, q, key, a);
        if (!rc)
            free(key);
        else
            q->keys[kept++] = key;
    }
    if (q->keys)
        q->keys[kept] = NULL;
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

pmix_status_t px_psets_query(const struct px_server *srv, pmix_query_t *queries,
                             size_t *n, px_infos *answers)
{
    struct answers a = {.infos = answers, .left_b = 2ull * PX_MAX_FRAME_B};
    size_t kept = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < *n; i++) {
        pmix_query_t *q = &queries[i];
        bool asked = q->keys && q->keys[0];

        if (!rc)
            rc = answer_query(srv, q, &a);
        if (asked && !q->keys[0])
            px_type_destruct(PMIX_QUERY, q);
        else
            queries[kept++] = *q;
    }
    *n = kept;
    return rc;
}

const struct px_server_part px_psets_part = {
    .name = "psets",
    PX_PART_STATE(psets, struct px_psets),
    .create = create,
    .destroy = destroy,
};
