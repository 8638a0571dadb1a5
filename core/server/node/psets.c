/* SPDX-License-Identifier: BSD-3-Clause */
/* Process sets: the host defines them; clients get events about them and query them. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/proc_names.h"
#include "core/server/host.h"
#include "core/server/op.h"
#include "core/server/query/answers.h"
#include "core/server/server.h"

#include <string.h>

struct pset {
    struct px_list link; /* in part.psets */
    char *name;
    pmix_proc_t *procs;
    size_t n_procs;
    char definer[PMIX_MAX_NSLEN + 1]; /* namespace of a process; "": the host */
};

#define MAX_SETS_OF_PROCESSES 1024u

static void pset_free(struct pset *s)
{
    px_list_remove(&s->link);
    free(s->name);
    free(s->procs);
    free(s);
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.psets, struct pset, s, link)
        pset_free(s);
}

static struct pset *find_pset(const struct px_server *srv, const char *name)
{
    PX_LIST_EACH (&srv->part.psets, struct pset, s, link)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

pmix_status_t px_psets_of(const struct px_server *srv, const pmix_proc_t *proc,
                          char ***names, size_t *work)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n = 0, cap = 0;

    PX_LIST_EACH (&srv->part.psets, struct pset, s, link) {
        bool has = !proc;

        for (size_t i = 0; !has && i < s->n_procs; i++, ++*work)
            has = px_proc_means(srv->model, &s->procs[i], proc);
        if (has && !rc)
            rc = px_strv_add(names, &n, &cap, s->name);
    }
    return rc;
}

/* ---- define and delete ----------------------------------------------------------- */

/* Sends an event about a set. Default handlers do not get it, since some programs end
 * in them. */
static pmix_status_t announce(struct px_server *srv, pmix_status_t code,
                              const struct pset *s)
{
    const pmix_data_array_t members = {
        .type = PMIX_PROC, .size = s->n_procs, .array = s->procs};
    PX_AUTO(px_infos) l = {0};
    pmix_status_t rc = px_infos_add(&l, PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);

    if (!rc)
        rc = px_infos_add(&l, PMIX_PSET_NAME, s->name, PMIX_STRING);
    if (!rc && code == PMIX_PROCESS_SET_DEFINE)
        rc = px_infos_add(&l, PMIX_PSET_MEMBERS, &members, PMIX_DATA_ARRAY);
    if (!rc)
        px_server_event(srv, code, NULL, PMIX_RANGE_LOCAL, l.v, l.n);
    return rc;
}

pmix_status_t px_server_define_set(struct px_server *srv, const char *name,
                                   const pmix_proc_t *procs, size_t n,
                                   const char *definer)
{
    struct pset *s;
    pmix_status_t rc;
    size_t n_sets = 0;

    if (find_pset(srv, name))
        return PMIX_ERR_EXISTS; /* sets do not change */
    PX_LIST_EACH (&srv->part.psets, struct pset, known, link)
        n_sets += known->definer[0] != '\0';
    if (definer[0] && n_sets >= MAX_SETS_OF_PROCESSES)
        return PMIX_ERR_OUT_OF_RESOURCE;
    s = calloc(1, sizeof(*s));
    if (!s)
        return PMIX_ERR_NOMEM;
    px_list_append(&srv->part.psets, &s->link);
    s->name = strdup(name);
    s->n_procs = n;
    px_str_copy(s->definer, sizeof(s->definer), definer);
    rc = s->name ? px_type_copy_array(PMIX_PROC, (void **)&s->procs, procs, n)
                 : PMIX_ERR_NOMEM;
    if (!rc)
        rc = announce(srv, PMIX_PROCESS_SET_DEFINE, s);
    if (rc)
        pset_free(s);
    return rc;
}

static pmix_status_t define(struct px_server *srv, const struct px_server_op *op)
{
    const struct px_args *args = &op->api.args;

    return px_server_define_set(srv, args->text, args->procs, args->n_procs, "");
}

/* Deletes the sets that processes of the namespace have defined. Sets of tools stay. */
static void nspace_gone(struct px_server *srv, const char *nspace, struct px_nspace *ns)
{
    if (ns && px_nspace_is_tools(ns))
        return;
    PX_LIST_EACH (&srv->part.psets, struct pset, s, link)
        if (strcmp(s->definer, nspace) == 0) {
            (void)announce(srv, PMIX_PROCESS_SET_DELETE, s);
            pset_free(s);
        }
}

pmix_status_t px_server_delete_set(struct px_server *srv, const char *name)
{
    struct pset *s = find_pset(srv, name);
    pmix_status_t rc = s ? announce(srv, PMIX_PROCESS_SET_DELETE, s)
                         : PMIX_ERR_NOT_FOUND;

    if (!rc)
        pset_free(s);
    return rc;
}

static pmix_status_t delete_set(struct px_server *srv, const struct px_server_op *op)
{
    return px_server_delete_set(srv, op->api.args.text);
}

static bool name_ok(const char *name)
{
    return name && name[0] && strnlen(name, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;
}

PX_EXPORT pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members,
                                                       size_t nmembers,
                                                       const char *pset_name)
{
    struct px_server_op op = {.run = define,
                              .api.args = {.text = (char *)pset_name,
                                           .procs = (pmix_proc_t *)members,
                                           .n_procs = nmembers}};

    return px_server_submit(&op, sizeof(op),
                            members && nmembers > 0 && name_ok(pset_name));
}

PX_EXPORT pmix_status_t PMIx_server_delete_process_set(char *pset_name)
{
    struct px_server_op op = {.run = delete_set, .api.args.text = pset_name};

    return px_server_submit(&op, sizeof(op), name_ok(pset_name));
}

/* ---- queries --------------------------------------------------------------------- */

static pmix_status_t answer_names(struct px_server *srv,
                                  const pmix_query_t *q PX_UNUSED, const char *key,
                                  struct px_answers *a)
{
    PX_AUTO(px_strv) names = NULL;
    size_t work = 0;
    pmix_status_t rc = px_psets_of(srv, NULL, &names, &work);

    return rc ? rc : px_answer_names(a, key, names);
}

static pmix_status_t answer_number(struct px_server *srv,
                                   const pmix_query_t *q PX_UNUSED, const char *key,
                                   struct px_answers *a)
{
    size_t n = px_list_length(&srv->part.psets);

    return px_answer(a, key, &n, PMIX_SIZE, 0);
}

static pmix_status_t answer_members(struct px_server *srv, const pmix_query_t *q,
                                    const char *key, struct px_answers *a)
{
    const char *name = px_info_str(q->qualifiers, q->nqual, PMIX_PSET_NAME);
    const struct pset *s = name ? find_pset(srv, name) : NULL;

    return s ? px_answer_array(a, key, s->procs, s->n_procs, PMIX_PROC,
                               s->n_procs * sizeof(*s->procs))
             : PMIX_ERR_NOT_FOUND;
}

static const struct px_query_key keys[] = {
    {PMIX_QUERY_NUM_PSETS, answer_number, NULL, false},
    {PMIX_QUERY_PSET_NAMES, answer_names, NULL, false},
    {PMIX_QUERY_PSET_MEMBERSHIP, answer_members, PMIX_PSET_NAME, false},
    {0},
};

const struct px_server_part px_psets_part = {
    .name = "psets",
    .query_keys = keys,
    .nspace_gone = nspace_gone,
    .destroy = destroy,
};
