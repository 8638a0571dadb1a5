/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces that connects and groups have made, and the ends of their members. */
#include "core/server/nspaces/nspaces.h"

#include "core/base/map.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/model/proc_names.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/server/nspaces/identity.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "pmix_connect.h"

#include <string.h>

#define MAX_JOINTS 1024 /* namespaces with members of one job */

static struct px_nspace *nspace_of(const struct px_joined *j)
{
    return px_nspace_find(j->server->model, j->name);
}

struct px_joined *px_joined_find(const struct px_server *srv, const char *name)
{
    PX_LIST_EACH (&srv->part.joined, struct px_joined, j, link)
        if (strcmp(j->name, name) == 0)
            return j;
    return NULL;
}

static void joint_free(struct px_joined *j)
{
    px_list_remove(&j->link);
    free(j->id);
    free(j);
}

void px_joint_end(struct px_joined *j)
{
    if (!j)
        return;
    if (!j->of_host)
        px_nspace_remove(j->server->model, nspace_of(j));
    joint_free(j);
}

bool px_joined_has(const struct px_joined *j, const pmix_proc_t *proc)
{
    const struct px_assembly *a = nspace_of(j)->assembly;
    pmix_rank_t rank = px_assembly_rank(a, proc);

    return rank != PMIX_RANK_INVALID && a->presence[rank] != PX_LEFT;
}

/* ---- events ---------------------------------------------------------------------- */

static void notify_host(struct px_server *srv, pmix_status_t code,
                        const pmix_proc_t *source, const px_infos *infos)
{
    struct px_upcall *u = srv->module.notify_event ? px_upcall_new(srv, NULL, NULL)
                                                   : NULL;

    if (!u)
        return;
    u->proc = *source;
    if (px_infos_add_copy(&u->args.info, infos->v, infos->n))
        px_upcall_drop(u);
    else
        px_upcall_returned(u, srv->module.notify_event(
                                  code, &u->proc, PMIX_RANGE_CUSTOM, u->args.info.v,
                                  u->args.info.n, px_upcall_op_cb, u));
}

/* True if default handlers do not get the event, since some programs end in them. They
 * get only the end of a member that has not finalized. */
static bool is_for_handlers_of_code(struct px_server *srv, pmix_status_t code,
                                    const pmix_proc_t *proc)
{
    const struct px_local *local = px_local_find(srv, proc);

    return code != PMIX_ERR_INVALID_TERMINATION || !local || !local->lost;
}

/* True if the infos of the event have the processes that get it. */
static bool shows_members(pmix_status_t code)
{
    return code == PMIX_CONNECT_REQUESTED || code == PMIX_GROUP_LEFT ||
           code == PMIX_GROUP_MEMBER_FAILED || code == PMIX_GROUP_LEADER_FAILED ||
           code == PMIX_GROUP_LEADER_SELECTED;
}

static pmix_status_t describe(px_infos *infos, pmix_status_t code,
                              const pmix_proc_t *proc, pmix_proc_t *procs,
                              const struct px_joint *j, bool non_default)
{
    pmix_data_array_t all = {PMIX_PROC, j->n_procs, procs};
    const bool awaits = j->elects && code == PMIX_GROUP_LEADER_FAILED,
               found = j->elects && code == PMIX_GROUP_LEADER_SELECTED;
    const struct px_fact facts[] = {
        {PMIX_EVENT_AFFECTED_PROC, proc, PMIX_PROC},
        {PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_DATA_ARRAY},
        {PMIX_EVENT_NON_DEFAULT, non_default ? &non_default : NULL, PMIX_BOOL},
        {PMIX_GROUP_MEMBERSHIP, shows_members(code) ? &all : NULL, PMIX_DATA_ARRAY},
        {PMIX_CONNECT_ID, j->id[0] ? j->id : NULL, PMIX_STRING},
        {PX_GROUP_ELECTS, awaits ? &awaits : NULL, PMIX_BOOL},
        {PMIX_GROUP_LEADER, found ? proc : NULL, PMIX_PROC},
        {j->is_group ? PMIX_GROUP_ID : PMIX_NSPACE, j->nspace, PMIX_STRING},
    };

    return px_facts_add(infos, facts, PX_COUNT(facts));
}

/* Returns the name with the cluster, for processes on other nodes. */
static pmix_proc_t full_name(const struct px_server *srv, const pmix_proc_t *proc)
{
    pmix_proc_t full = {.rank = proc->rank};

    px_nspace_full_name(srv->model, proc->nspace, full.nspace);
    return full;
}

void px_joint_event(struct px_server *srv, const struct px_joint *j, pmix_status_t code,
                    const pmix_proc_t *proc, bool beyond)
{
    PX_AUTO(px_infos) here = {0};
    PX_AUTO(px_infos) there = {0};
    PX_AUTOFREE pmix_proc_t *procs = calloc(j->n_procs, sizeof(*procs));
    const pmix_proc_t full = full_name(srv, proc);
    const bool non_default = is_for_handlers_of_code(srv, code, proc);
    pmix_status_t rc = procs ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc) {
        memcpy(procs, j->procs, j->n_procs * sizeof(*procs));
        rc = describe(&here, code, proc, procs, j, non_default);
    }
    for (size_t i = 0; !rc && i < j->n_procs; i++)
        procs[i] = full_name(srv, &j->procs[i]);
    if (!rc)
        rc = describe(&there, code, &full, procs, j, non_default);
    if (rc) {
        px_log(PX_LOG_ERROR, "server", "cannot report %s of %s.%u: %s",
               PMIx_Error_string(code), proc->nspace, proc->rank,
               PMIx_Error_string(rc));
        return;
    }
    /* A source does not get its event, but the new leader does. */
    px_server_event(srv, code, code == PMIX_GROUP_LEADER_SELECTED ? NULL : proc,
                    PMIX_RANGE_CUSTOM, here.v, here.n);
    if (beyond && !srv->host)
        notify_host(srv, code, &full, &there);
}

/* True if every member is a process of this node. */
static bool is_here(const struct px_server *srv, const struct px_assembly *a)
{
    for (size_t i = 0; i < a->n_runs; i++) {
        const struct px_nspace *ns = px_nspace_find(srv->model, a->runs[i].nspace);

        if (!ns || px_list_length(&ns->locals) < ns->job_size)
            return false;
    }
    return true;
}

pmix_proc_t *px_joined_members(const struct px_joined *j, size_t *n)
{
    pmix_proc_t *procs = calloc(1, sizeof(*procs));

    *n = 1;
    if (procs)
        px_proc_set(procs, j->name, PMIX_RANK_WILDCARD);
    if (procs && px_procs_expand(j->server->model, &procs, n))
        free(px_take(&procs));
    return procs;
}

static void report_member(struct px_server *srv, const struct px_joined *j,
                          pmix_status_t code, const pmix_proc_t *proc)
{
    struct px_joint rest = {.id = j->id, .nspace = j->name, .is_group = j->is_group};
    PX_AUTOFREE pmix_proc_t *procs = px_joined_members(j, &rest.n_procs);

    rest.procs = procs;
    if (procs)
        px_joint_event(srv, &rest, code, proc, !is_here(srv, nspace_of(j)->assembly));
}

void px_joint_each(const struct px_server *srv, px_connected_fn fn, void *arg)
{
    PX_LIST_EACH (&srv->part.joined, struct px_joined, j, link) {
        size_t n;
        PX_AUTOFREE pmix_proc_t *procs = j->is_group ? NULL : px_joined_members(j, &n);

        if (procs)
            fn(arg, procs, n, j->may_end);
    }
}

/* ---- creation -------------------------------------------------------------------- */

/* Returns the namespace that the host registered for the connect, or NULL: see
 * PMIX_CONNECT_NSPACE. */
static struct px_nspace *find_assigned(const struct px_server *srv,
                                       const char *proposed)
{
    struct px_nspace *ns;
    size_t pos = 0;

    while ((ns = px_map_next(&srv->model->nspaces, &pos, NULL, NULL))) {
        pmix_value_t v;
        bool is_it;

        if (ns->assembly || px_store_fetch(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD,
                                           PMIX_CONNECT_NSPACE, NULL, 0, &v))
            continue;
        is_it = px_value_string(&v) && strcmp(px_value_string(&v), proposed) == 0;
        px_type_destruct(PMIX_VALUE, &v);
        if (is_it)
            return ns;
    }
    return NULL;
}

static bool has_part(const struct px_assembly *a, const char *nspace)
{
    for (size_t i = 0; i < a->n_runs; i++)
        if (strcmp(a->runs[i].nspace, nspace) == 0)
            return true;
    return false;
}

static bool is_full(const struct px_server *srv, const struct px_joint *in)
{
    for (size_t i = 0; i < in->n_procs; i++) {
        size_t n = 0;

        if (i > 0 && strcmp(in->procs[i].nspace, in->procs[i - 1].nspace) == 0)
            continue;
        PX_LIST_EACH (&srv->part.joined, struct px_joined, j, link)
            n += has_part(nspace_of(j)->assembly, in->procs[i].nspace);
        if (n >= MAX_JOINTS)
            return true;
    }
    return false;
}

/* True if fn returns true for a member that is registered here. Calls fn for all. */
static bool any_local(const struct px_server *srv, struct px_assembly *a,
                      bool (*fn)(struct px_assembly *a, pmix_rank_t rank,
                                 const struct px_local *local))
{
    bool any = false;

    for (size_t i = 0; i < a->n_runs; i++) {
        const struct px_nspace *ns = px_nspace_find(srv->model, a->runs[i].nspace);
        pmix_proc_t proc;

        if (!ns)
            continue;
        PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
            pmix_rank_t rank;

            px_proc_set(&proc, ns->name, l->rank);
            rank = px_assembly_rank(a, &proc);
            any |= rank != PMIX_RANK_INVALID && fn(a, rank, l);
        }
    }
    return any;
}

static bool is_present(struct px_assembly *a, pmix_rank_t rank,
                       const struct px_local *local PX_UNUSED)
{
    return a->presence[rank] == PX_PRESENT;
}

/* Sets a member to left that ended before the others were connected. Such a member was
 * optional. */
static bool strike_out(struct px_assembly *a, pmix_rank_t rank,
                       const struct px_local *local)
{
    if (local->lost || local->finalized)
        a->presence[rank] = PX_LEFT;
    return false;
}

static pmix_status_t fill(struct px_server *srv, struct px_nspace *ns,
                          const struct px_identity *id)
{
    PX_AUTO(px_infos) infos = {0};
    struct px_err err = {0};
    pmix_status_t rc = px_identity_describe(id, &infos);

    if (!rc)
        rc = px_jobinfo_register(srv->model, ns, infos.v, infos.n, &err);
    if (!rc && !ns->assembly)
        rc = PMIX_ERR_NOMEM;
    if (rc)
        px_log(PX_LOG_ERROR, "server", "cannot make namespace %s: %s", ns->name,
               err.text[0] ? err.text : PMIx_Error_string(rc));
    else
        ns->complete = true;
    return rc;
}

pmix_status_t px_joint_name(const struct px_server *srv, const struct px_joint *j,
                            pmix_nspace_t name)
{
    PX_AUTO(px_identity) id = {0};
    pmix_status_t rc = px_identity_find(&id, srv->model, j);

    if (!rc)
        px_identity_name(&id, px_generation_last(&srv->part.generations, &id) + 1,
                         name);
    return rc;
}

/* Finds or creates the namespace of a connect or group, and sets of_host. */
static pmix_status_t make_nspace(struct px_server *srv, const struct px_joint *in,
                                 const px_identity *id, uint32_t generation,
                                 struct px_joined *j, struct px_nspace **ns)
{
    pmix_nspace_t name;

    if (is_full(srv, in))
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (in->is_group)
        return px_nspace_find(srv->model, in->nspace)
                   ? PMIX_ERR_EXISTS
                   : px_nspace_get(srv->model, in->nspace, ns);
    px_identity_name(id, generation, name);
    *ns = find_assigned(srv, name);
    j->of_host = *ns != NULL;
    return *ns ? PMIX_SUCCESS : px_nspace_get(srv->model, name, ns);
}

/* Copies the directives of a connect. The members of a group set the group's own. */
static void direct(struct px_joined *j, const struct px_joint *in)
{
    const px_infos *l = in->infos;

    j->is_group = in->is_group;
    j->each = px_info_flag(l->v, l->n,
                           in->is_group ? PMIX_GROUP_NOTIFY_TERMINATION
                                        : PMIX_CONNECT_NOTIFY_EACH);
    j->may_end = px_info_flag(l->v, l->n,
                              in->is_group ? PMIX_GROUP_FT_COLLECTIVE
                                           : PMIX_CONNECT_EARLY_TERM_ALLOWED) ||
                 (in->is_group && j->each);
}

pmix_status_t px_joint_make(struct px_server *srv, const struct px_joint *in, bool ours,
                            const struct px_nspace **made)
{
    PX_AUTO(px_identity) id = {0};
    struct px_joined *j = calloc(1, sizeof(*j));
    struct px_nspace *ns = NULL;
    uint32_t generation = 0;
    pmix_status_t rc = j && (j->id = strdup(in->id))
                           ? px_identity_find(&id, srv->model, in)
                           : PMIX_ERR_NOMEM;

    if (!rc && !in->is_group)
        rc = px_generation_next(&srv->part.generations, &id, &generation);
    if (!rc && made)
        rc = make_nspace(srv, in, &id, generation, j, &ns);
    if (!rc && made)
        rc = fill(srv, ns, &id);
    if (rc || !made) {
        if (ns && !j->of_host)
            px_nspace_remove(srv->model, ns);
        if (j)
            free(j->id);
        free(j);
        return rc;
    }
    PMIx_Load_nspace(j->name, ns->name);
    j->server = srv;
    j->ours = ours;
    direct(j, in);
    px_list_append(&srv->part.joined, &j->link);
    (void)any_local(srv, ns->assembly, strike_out);
    *made = ns;
    return PMIX_SUCCESS;
}

/* ---- members that leave ---------------------------------------------------------- */

/* Removes the namespace if no member of this node is present. */
static void end_if_empty(struct px_joined *j)
{
    if (!any_local(j->server, nspace_of(j)->assembly, is_present))
        px_joint_end(j);
}

void px_joint_leave(struct px_server *srv, const char *name, const pmix_proc_t *proc,
                    bool each)
{
    struct px_joined *j = px_joined_find(srv, name);
    struct px_assembly *a = j ? nspace_of(j)->assembly : NULL;
    pmix_rank_t rank = a ? px_assembly_rank(a, proc) : PMIX_RANK_INVALID;

    if (rank == PMIX_RANK_INVALID)
        return;
    a->presence[rank] = PX_LEFT;
    if (j->each || each)
        report_member(srv, j,
                      j->is_group ? PMIX_GROUP_LEFT : PMIX_PROC_HAS_DISCONNECTED, proc);
    end_if_empty(j);
}

/* Handles the end of a member. Called more than once for a rank, also while other
 * connections of it remain. */
static void rank_gone(struct px_server *srv, const pmix_proc_t *proc)
{
    const struct px_local *local = px_local_find(srv, proc);

    if (srv->stopping || !local || local->n_peers > 0)
        return;
    PX_LIST_EACH (&srv->part.joined, struct px_joined, j, link) {
        struct px_assembly *a = nspace_of(j)->assembly;
        pmix_rank_t rank = px_assembly_rank(a, proc);

        if (rank == PMIX_RANK_INVALID || a->presence[rank] != PX_PRESENT)
            continue;
        a->presence[rank] = j->may_end ? PX_LEFT : PX_LOST;
        if (j->may_end && j->each)
            report_member(srv, j,
                          j->is_group ? PMIX_GROUP_MEMBER_FAILED
                                      : PMIX_PROC_HAS_DISCONNECTED,
                          proc);
        else if (!j->may_end && j->ours && !j->is_group)
            report_member(srv, j, PMIX_ERR_INVALID_TERMINATION, proc);
        end_if_empty(j);
    }
}

/* True if the source may report the end of proc: it is proc, or the host. */
static bool is_witness(const struct px_server *srv, const pmix_proc_t *source,
                       const pmix_proc_t *proc)
{
    return px_proc_same(source, proc) ||
           strcmp(source->nspace, srv->proc.nspace) == 0 ||
           !px_nspace_find(srv->model, source->nspace);
}

/* Ends the presence of a member on another node that has left or ended. */
static void host_event(struct px_server *srv, pmix_status_t code,
                       const pmix_proc_t *source, const px_infos *infos)
{
    const bool of_group = code == PMIX_GROUP_LEFT || code == PMIX_GROUP_MEMBER_FAILED;
    const char *name = px_info_str(infos->v, infos->n,
                                   of_group ? PMIX_GROUP_ID : PMIX_NSPACE);
    const pmix_info_t *i = px_info_find(infos->v, infos->n, PMIX_EVENT_AFFECTED_PROC);
    const struct px_joined *j = name ? px_joined_find(srv, name) : NULL;
    struct px_assembly *a = j && j->is_group == of_group ? nspace_of(j)->assembly
                                                         : NULL;
    pmix_proc_t proc, from = *source;
    pmix_rank_t rank;

    if ((code != PMIX_PROC_HAS_DISCONNECTED && !of_group) || !a || !i ||
        i->value.type != PMIX_PROC || !i->value.data.proc)
        return;
    proc = *i->value.data.proc;
    px_proc_localize(srv->model, &proc);
    px_proc_localize(srv->model, &from);
    rank = px_assembly_rank(a, &proc);
    if (rank != PMIX_RANK_INVALID && is_witness(srv, &from, &proc))
        a->presence[rank] = PX_LEFT;
}

/* Ends the presence of all processes of a job. Each end was reported when it
 * happened. */
static void strike_job(struct px_joined *j, const char *nspace)
{
    struct px_assembly *a = nspace_of(j)->assembly;
    pmix_rank_t rank = 0;

    for (size_t i = 0; i < a->n_runs; rank += a->runs[i++].n)
        for (uint32_t k = 0; strcmp(a->runs[i].nspace, nspace) == 0 && k < a->runs[i].n;
             k++)
            if (a->presence[rank + k] == PX_PRESENT)
                a->presence[rank + k] = j->may_end ? PX_LEFT : PX_LOST;
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    px_generations_forget(&srv->part.generations, nspace);
    PX_LIST_EACH (&srv->part.joined, struct px_joined, j, link) {
        if (strcmp(j->name, nspace) == 0) {
            joint_free(j); /* the host removes the namespace */
        } else if (has_part(nspace_of(j)->assembly, nspace)) {
            strike_job(j, nspace);
            end_if_empty(j);
        }
    }
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.joined, struct px_joined, j, link)
        px_joint_end(j);
    px_generations_forget(&srv->part.generations, NULL);
}

const struct px_server_part px_nspaces_part = {
    .name = "nspaces",
    .destroy = destroy,
    .rank_gone = rank_gone,
    .host_event = host_event,
    .nspace_gone = nspace_gone,
};
