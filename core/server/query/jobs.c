/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries for jobs and their processes, from the built-in host, else from the
 * registration. An answer of another host counts first. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/assembly.h"
#include "core/model/lookup.h"
#include "core/model/query.h"
#include "core/server/host.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/query/query.h"
#include "core/server/server.h"
#include "pmix_tool.h"

#include <string.h>

/* Bytes of a row of a process table in a message, beside its namespace. */
#define ROW_B 64u

/* ---- jobs ------------------------------------------------------------------------ */

/* Describes a job that this server serves. job->command is malloc'd. */
static bool find_job(const struct px_server *srv, const struct px_nspace *ns,
                     struct px_host_job *job)
{
    *job = (struct px_host_job){.is_active = true, .left_ms = UINT64_MAX};
    if (srv->host)
        return srv->host->job && srv->host->job(srv->builtin, ns->name, job);
    return ns->hosted && !ns->assembly;
}

/* Work for a job that a list may have. */
#define JOB_ITEMS 16u

/* Finds the next job, active and in the peer's reach. PMIX_ERR_NOT_FOUND: no more. The
 * caller frees job->command. */
static pmix_status_t next_job(struct px_answers *a, size_t *pos,
                              const struct px_nspace **ns, struct px_host_job *job)
{
    const struct px_server *srv = a->req->peer->server;
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && (*ns = px_map_next(&srv->model->nspaces, pos, NULL, NULL))) {
        rc = px_answers_work(a, JOB_ITEMS);
        if (rc || !px_peer_may(a->req->peer, (*ns)->name) || !find_job(srv, *ns, job))
            continue;
        if (job->is_active)
            return PMIX_SUCCESS;
        free(job->command);
    }
    return rc ? rc : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t answer_namespaces(struct px_server *srv PX_UNUSED,
                                       const pmix_query_t *q PX_UNUSED, const char *key,
                                       struct px_answers *a)
{
    PX_AUTO(px_strv) names = NULL;
    const struct px_nspace *ns;
    struct px_host_job job;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t pos = 0, n = 0, cap = 0;

    while (!rc && !(rc = next_job(a, &pos, &ns, &job))) {
        free(job.command);
        rc = px_strv_add(&names, &n, &cap, ns->name);
    }
    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    PX_AUTOFREE char *text = px_strv_join(names, ',');
    return text ? px_answer_text(a, key, text) : PMIX_ERR_NOMEM;
}

/* Returns the command line of a job: the host's, or the one that it registered.
 * malloc'd; NULL if none is known. */
static char *command_of(const struct px_server *srv, const struct px_nspace *ns,
                        struct px_host_job *job)
{
    char *command = px_take(&job->command);
    struct px_lookup l;
    pmix_value_t v;

    px_lookup_init(&l, PMIX_CMD_LINE, PMIX_RANK_WILDCARD, NULL, 0);
    if (command || px_lookup_find(srv->model, ns, &l, &v))
        return command;
    if (px_value_string(&v))
        command = strdup(px_value_string(&v));
    px_type_destruct(PMIX_VALUE, &v);
    return command;
}

/* Adds an array about a job. */
static pmix_status_t add_job(const struct px_server *srv, const struct px_nspace *ns,
                             struct px_host_job *job, px_infos *jobs)
{
    PX_AUTOFREE char *command = command_of(srv, ns, job);
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = px_infos_add(&infos, PMIX_NSPACE, ns->name, PMIX_STRING);

    if (!rc && command)
        rc = px_infos_add(&infos, PMIX_CMD_LINE, command, PMIX_STRING);
    if (!rc && ns->job_size > 0)
        rc = px_infos_add(&infos, PMIX_JOB_SIZE, &ns->job_size, PMIX_UINT32);
    return rc ? rc : px_infos_add_array(jobs, PMIX_JOB_INFO_ARRAY, &infos);
}

static pmix_status_t answer_namespace_info(struct px_server *srv, const pmix_query_t *q,
                                           const char *key, struct px_answers *a)
{
    const char *named = px_info_str(q->qualifiers, q->nqual, PMIX_NSPACE);
    PX_AUTO(px_infos) jobs = {0};
    const struct px_nspace *ns;
    struct px_host_job job;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t pos = 0, cost_b = 0;

    while (!rc && !(rc = next_job(a, &pos, &ns, &job))) {
        if (!named || !named[0] || strcmp(named, ns->name) == 0)
            rc = add_job(srv, ns, &job, &jobs);
        free(job.command);
    }
    if (rc != PMIX_ERR_NOT_FOUND || (named && named[0] && jobs.n == 0))
        return rc;
    for (size_t i = 0; i < jobs.n; i++)
        cost_b += px_type_size(PMIX_INFO, &jobs.v[i]);
    return px_answer_array(a, key, jobs.v, jobs.n, PMIX_INFO, cost_b);
}

/* Finds the job that a query names. required: the query must name it. */
static pmix_status_t named_job(struct px_server *srv, const pmix_query_t *q,
                               const struct px_answers *a, bool required,
                               pmix_proc_t *target, const struct px_nspace **ns)
{
    pmix_status_t rc = px_query_target(q, &a->req->peer->proc, target);

    if (!rc && required && !px_info_find(q->qualifiers, q->nqual, PMIX_PROCID) &&
        !px_info_find(q->qualifiers, q->nqual, PMIX_NSPACE))
        rc = PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    *ns = px_nspace_find(srv->model, target->nspace);
    return *ns ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Answers about the end of a job. */
static pmix_status_t answer_job(struct px_server *srv, const pmix_query_t *q,
                                const char *key, struct px_answers *a)
{
    bool is_time = strcmp(key, PMIX_TIME_REMAINING) == 0;
    const struct px_nspace *ns;
    struct px_host_job job;
    pmix_proc_t target;
    pmix_status_t rc = named_job(srv, q, a, !is_time, &target, &ns);

    if (rc || !find_job(srv, ns, &job))
        return rc ? rc : PMIX_ERR_NOT_FOUND;
    free(job.command);
    if (!is_time)
        return px_answer(a, key, &job.status, PMIX_STATUS, 0);
    if (job.left_ms == UINT64_MAX)
        return PMIX_ERR_NOT_FOUND;
    return px_answer(a, key, &(uint32_t){(uint32_t)(job.left_ms / 1000)}, PMIX_UINT32,
                     0);
}

/* ---- process tables -------------------------------------------------------------- */

static void begin_table(struct px_slow *s, px_writer *w)
{
    px_pack_array_head(w, s->key, PMIX_PROC_INFO, s->n);
}

/* True if the row differs from the mold in its rank at most. */
static bool fits(const struct px_mold *m, const pmix_proc_info_t *row)
{
    return m->end > 0 && row->pid == m->row.pid && row->state == m->row.state &&
           row->exit_code == m->row.exit_code && !row->executable_name &&
           row->hostname && strcmp(row->hostname, m->host) == 0;
}

/* Takes the row that begins here in the message as the mold. */
static void make_mold(struct px_mold *m, const pmix_proc_info_t *row, px_writer *w,
                      size_t begin)
{
    px_writer part;
    size_t before_rest, rank;

    m->end = 0;
    if (w->status || row->executable_name || !row->hostname ||
        strlen(row->hostname) >= sizeof(m->host))
        return;
    px_writer_init(&part, w->codec);
    px_pack_bare(&part, &row->proc, PMIX_PROC);
    before_rest = part.buf.len;
    px_pack_bare(&part, &row->proc.rank, PMIX_PROC_RANK);
    rank = part.buf.len - before_rest;
    m->begin = begin;
    m->rank = begin + before_rest - rank;
    m->rest = begin + before_rest;
    m->row = *row;
    px_str_copy(m->host, sizeof(m->host), row->hostname);
    m->end = part.status ? 0 : w->buf.len;
    px_writer_cleanup(&part);
}

static void copy_bytes(px_writer *w, size_t from, size_t to)
{
    memcpy(w->buf.data + w->buf.len, w->buf.data + from, to - from);
    w->buf.len += to - from;
}

/* Packs a row. Processes of a node mostly differ in their ranks only. */
static void pack_row(struct px_slow *s, const pmix_proc_info_t *row, px_writer *w)
{
    struct px_mold *m = &s->mold;
    const size_t begin = w->buf.len;

    if (s->procs || !fits(m, row)) {
        px_pack_bare(w, row, PMIX_PROC_INFO);
        if (!s->procs)
            make_mold(m, row, w, begin);
        return;
    }
    if (!w->status)
        w->status = px_buf_reserve(&w->buf, m->end - m->begin);
    if (w->status)
        return;
    copy_bytes(w, m->begin, m->rank);
    px_pack_bare(w, &row->proc.rank, PMIX_PROC_RANK);
    if (!w->status)
        w->status = px_buf_reserve(&w->buf, m->end - m->rest);
    if (!w->status)
        copy_bytes(w, m->rest, m->end);
}

static const struct px_slow_ops table_ops = {
    .items = 3, .again = 1, .begin = begin_table, .row = pack_row};

/* Lists the present members of a namespace of connected processes. */
static pmix_status_t list_members(const struct px_nspace *ns, pmix_proc_t **procs,
                                  size_t *n)
{
    const struct px_assembly *members = ns->assembly;

    *n = 0;
    *procs = calloc(members->size ? members->size : 1, sizeof(**procs));
    if (!*procs)
        return PMIX_ERR_NOMEM;
    for (pmix_rank_t r = 0; r < members->size; r++) {
        if (members->presence[r] == PX_LEFT)
            continue;
        px_proc_set(&(*procs)[*n], ns->name, r);
        (void)px_assembly_member(members, r, &(*procs)[(*n)++]);
    }
    return PMIX_SUCCESS;
}

/* Lists the processes on this node: the registered clients, else those of the map. */
static pmix_status_t list_locals(const struct px_server *srv,
                                 const struct px_nspace *ns, pmix_proc_t **procs,
                                 size_t *n)
{
    struct px_resolved found = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    if (px_list_empty(&ns->locals)) {
        rc = px_resolve_peers(srv->model, &found, ns);
        *procs = found.procs;
        *n = found.n_procs;
        return rc;
    }
    *n = 0;
    *procs = calloc(px_list_length(&ns->locals), sizeof(**procs));
    if (!*procs)
        return PMIX_ERR_NOMEM;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        px_proc_set(&(*procs)[(*n)++], ns->name, l->rank);
    return rc;
}

/* Returns the number of processes, ranks 0 to n - 1; 0 if it is unknown. */
static size_t size_of(const struct px_nspace *ns)
{
    return ns->job_size ? ns->job_size : ns->map ? ns->map->n_ranks : 0;
}

static pmix_status_t answer_table(struct px_server *srv, const pmix_query_t *q,
                                  const char *key, struct px_answers *a)
{
    bool local = strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE) == 0;
    const struct px_nspace *ns;
    pmix_proc_t target, *procs = NULL;
    pmix_status_t rc = named_job(srv, q, a, true, &target, &ns);
    size_t n;

    if (rc)
        return rc;
    px_query_find_pids(a, ns->name);
    n = size_of(ns);
    if (target.rank < PMIX_RANK_VALID) {
        if (n > 0 && target.rank >= n)
            return PMIX_ERR_NOT_FOUND;
        n = 1;
        procs = malloc(sizeof(*procs));
        rc = procs ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
        if (!rc)
            *procs = target;
    } else if (ns->assembly) {
        rc = list_members(ns, &procs, &n);
    } else if (n == 0 || (local && !srv->host)) {
        rc = list_locals(srv, ns, &procs, &n);
    }
    if (!rc && n == 0)
        rc = PMIX_ERR_NOT_FOUND;
    if (!rc && procs)
        rc = px_answers_work(a, n / 4 + 1); /* a copy of a name is cheap */
    if (rc) {
        free(procs);
        return rc;
    }
    return px_answer_slowly(a, key, &table_ops, ns->name, procs, n,
                            ROW_B + strlen(ns->name), NULL);
}

/* Answers with a member of the row of a process. */
static pmix_status_t answer_process(struct px_server *srv, const pmix_query_t *q,
                                    const char *key, struct px_answers *a)
{
    struct px_view view = {.server = srv};
    const struct px_nspace *ns;
    pmix_proc_t target;
    pmix_proc_info_t row;
    pmix_status_t rc = named_job(srv, q, a, false, &target, &ns);

    if (rc || target.rank >= PMIX_RANK_VALID)
        return rc ? rc : PMIX_ERR_NOT_FOUND;
    px_query_find_pids(a, ns->name);
    row.proc = target;
    px_view_process(&view, &row);
    px_view_fini(&view);
    if (strcmp(key, PMIX_PROC_PID) == 0)
        return row.pid > 0 ? px_answer(a, key, &row.pid, PMIX_PID, 0)
                           : PMIX_ERR_NOT_FOUND;
    return row.state != PMIX_PROC_STATE_UNDEF
               ? px_answer(a, key, &row.state, PMIX_PROC_STATE, 0)
               : PMIX_ERR_NOT_FOUND;
}

/* Answers with the bytes of output of each process of a job. */
static pmix_status_t answer_output(struct px_server *srv, const pmix_query_t *q,
                                   const char *key, struct px_answers *a)
{
    PX_AUTOFREE uint64_t *bytes = NULL;
    const struct px_nspace *ns;
    pmix_proc_t proc;
    pmix_status_t rc = srv->host ? named_job(srv, q, a, true, &proc, &ns)
                                 : PMIX_ERR_NOT_FOUND;
    const size_t n = rc ? 0 : size_of(ns);

    if (!rc)
        rc = px_answers_work(a, n);
    if (rc)
        return rc;
    bytes = calloc(n + 1, sizeof(*bytes));
    if (!bytes)
        return PMIX_ERR_NOMEM;
    for (proc.rank = 0; proc.rank < n; proc.rank++)
        if (!srv->host->output(srv->builtin, &proc, &bytes[proc.rank]))
            return PMIX_ERR_NOT_FOUND;
    return px_answer_array(a, key, bytes, n, PMIX_UINT64, n * sizeof(*bytes));
}

/* ---- allocations ----------------------------------------------------------------- */

static bool is_text(const char *asked, const char *text)
{
    return asked && text && strcmp(asked, text) == 0;
}

/* Describes a named allocation, or lists the allocations in the reach of the peer. */
static pmix_status_t answer_allocations(struct px_server *srv, const pmix_query_t *q,
                                        const char *key, struct px_answers *a)
{
    const char *id = px_info_str(q->qualifiers, q->nqual, PMIX_ALLOC_ID);
    const char *request = px_info_str(q->qualifiers, q->nqual, PMIX_ALLOC_REQ_ID);
    PX_AUTO(px_strv) ids = NULL;
    struct px_host_allocation one;
    pmix_status_t rc = srv->host && srv->host->allocation ? PMIX_SUCCESS
                                                          : PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; !rc && srv->host->allocation(srv->builtin, i, &one); i++) {
        const bool is_named = id ? is_text(id, one.id)
                                 : is_text(request, one.request_id);
        PX_AUTO(px_infos) infos = one.infos;

        rc = px_answers_work(a, JOB_ITEMS);
        if (rc || !px_peer_may(a->req->peer, one.owner))
            continue;
        if (is_named)
            return one.status ? one.status
                              : px_answer_array(a, key, infos.v, infos.n, PMIX_INFO,
                                                infos.n * sizeof(*infos.v));
        if (!id && !request)
            rc = px_strv_append(&ids, one.id);
    }
    if (rc || id || request)
        return rc ? rc : PMIX_ERR_NOT_FOUND;
    PX_AUTOFREE char *text = px_strv_join(ids, ',');
    return text ? px_answer_text(a, key, text) : PMIX_ERR_NOMEM;
}

/* ---- what one node has not ------------------------------------------------------- */

/* Answers that the built-in host has no queues and storage systems. A named queue is
 * not found. */
static pmix_status_t answer_none(struct px_server *srv, const pmix_query_t *q,
                                 const char *key, struct px_answers *a)
{
    bool named = px_info_find(q->qualifiers, q->nqual, PMIX_ALLOC_QUEUE);

    return srv->host && !named ? px_answer_text(a, key, "") : PMIX_ERR_NOT_FOUND;
}

#define OF_PROC PMIX_PROCID "," PMIX_NSPACE "," PMIX_RANK

static const struct px_query_key keys[] = {
    {PMIX_QUERY_NAMESPACES, answer_namespaces, NULL, true},
    {PMIX_QUERY_NAMESPACE_INFO, answer_namespace_info, PMIX_NSPACE, true},
    {PMIX_QUERY_JOB_STATUS, answer_job, PMIX_NSPACE, true},
    {PMIX_TIME_REMAINING, answer_job, PMIX_NSPACE, true},
    {PMIX_QUERY_PROC_TABLE, answer_table, OF_PROC, true},
    {TENON_QUERY_OUTPUT, answer_output, PMIX_NSPACE, false},
    {PMIX_QUERY_LOCAL_PROC_TABLE, answer_table, OF_PROC, true},
    {PMIX_PROC_PID, answer_process, OF_PROC, true},
    {PMIX_PROC_STATE_STATUS, answer_process, OF_PROC, true},
    {PMIX_QUERY_QUEUE_LIST, answer_none, NULL, true},
    {PMIX_QUERY_QUEUE_STATUS, answer_none, PMIX_ALLOC_QUEUE, true},
    {PMIX_QUERY_ALLOC_STATUS, answer_allocations, PMIX_ALLOC_ID "," PMIX_ALLOC_REQ_ID,
     true},
    {PMIX_QUERY_STORAGE_LIST, answer_none, NULL, true},
    {0},
};

const struct px_server_part px_jobs_part = {.name = "jobs", .query_keys = keys};
