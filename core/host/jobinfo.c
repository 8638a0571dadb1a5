/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of a job: all that launchers in the field tell of theirs. */
#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/host/builtin.h"

/* A list that remembers that something did not fit. */
struct list {
    px_infos infos;
    pmix_status_t status;
};

static void add(struct list *l, const char *key, const void *data,
                pmix_data_type_t type)
{
    if (!l->status)
        l->status = px_infos_add(&l->infos, key, data, type);
}

static void add_u32(struct list *l, const char *key, uint32_t value)
{
    add(l, key, &value, PMIX_UINT32);
}

static void add_u16(struct list *l, const char *key, uint32_t value)
{
    uint16_t small = value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;

    add(l, key, &small, PMIX_UINT16);
}

static void add_rank(struct list *l, const char *key, pmix_rank_t value)
{
    add(l, key, &value, PMIX_PROC_RANK);
}

/* Takes s, which may be NULL for want of memory. */
static void add_made(struct list *l, const char *key, char *s)
{
    if (s)
        add(l, key, s, PMIX_STRING);
    else if (!l->status)
        l->status = PMIX_ERR_NOMEM;
    free(s);
}

static void add_list(struct list *l, const char *key, struct list *members)
{
    if (!l->status)
        l->status = members->status;
    if (!l->status)
        l->status = px_infos_add_array(&l->infos, key, &members->infos);
    px_infos_cleanup(&members->infos);
}

static bool is_spawned(const struct px_job *job)
{
    return !px_proc_same(&job->parent, &job->host->server->proc);
}

/* Processes that run on this node, this job's among them. */
static uint32_t node_size(const struct px_job *job)
{
    uint32_t n = job->n_tasks;

    PX_LIST_EACH (&job->host->jobs, struct px_job, j, link)
        n += j == job ? 0 : j->n_running;
    return n;
}

/* Room for as many as there are CPUs, and for those that are there whatever the
 * CPUs. */
static uint32_t universe_size(const struct px_job *job)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = node_size(job);

    return n_cpus > (long)n ? (uint32_t)n_cpus : n;
}

/* "0,1,2": some readers of peers take no ranges. */
static char *all_ranks(const struct px_job *job)
{
    size_t room = (size_t)job->n_tasks * sizeof("4294967295,"), at = 0;
    char *text = malloc(room);

    for (uint32_t r = 0; text && r < job->n_tasks; r++)
        at += (size_t)snprintf(text + at, room - at, "%s%u", r > 0 ? "," : "", r);
    return text;
}

static void add_maps(struct list *l, const struct px_job *job)
{
    PX_AUTOFREE char *ranks = all_ranks(job);
    char *nodes = NULL, *procs = NULL;

    if (!ranks || px_map_pack_nodes(px_process.model->hostname, &nodes) ||
        px_map_pack_ranks(ranks, &procs))
        l->status = PMIX_ERR_NOMEM;
    add_made(l, PMIX_NODE_MAP, nodes);
    add_made(l, PMIX_PROC_MAP, procs);
    if (ranks)
        add(l, PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
}

/* Open MPI, for one, puts all its files there, and leaves them to us. */
static void add_dirs(struct list *l, const struct px_job *job)
{
    bool yes = true;

    if (!job->dir)
        return;
    add_made(l, PMIX_TMPDIR, px_job_top_dir(job));
    add(l, PMIX_NSDIR, job->dir, PMIX_STRING);
    add(l, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL);
}

static void add_job(struct list *l, const struct px_job *job)
{
    const struct px_server *srv = job->host->server;
    bool yes = true;

    add(l, PMIX_SERVER_NSPACE, srv->proc.nspace, PMIX_STRING);
    add_rank(l, PMIX_SERVER_RANK, srv->proc.rank);
    add(l, PMIX_JOBID, job->proc.nspace, PMIX_STRING);
    add_maps(l, job);
    add_dirs(l, job);
    add_u32(l, PMIX_NODEID, 0);
    add_u32(l, PMIX_NODE_SIZE, node_size(job));
    add_u32(l, PMIX_NUM_NODES, 1);
    add_u32(l, PMIX_UNIV_SIZE, universe_size(job));
    add_u32(l, PMIX_MAX_PROCS, universe_size(job));
    add_u32(l, PMIX_JOB_SIZE, job->n_tasks);
    add_u32(l, PMIX_JOB_NUM_APPS, (uint32_t)job->plan.n_apps);
    add_u32(l, PMIX_LOCAL_SIZE, job->n_tasks);
    add_rank(l, PMIX_LOCALLDR, 0);
    add_rank(l, PMIX_NPROC_OFFSET, job->first);
    if (is_spawned(job)) {
        add(l, PMIX_SPAWNED, &yes, PMIX_BOOL);
        add(l, PMIX_PARENT_ID, &job->parent, PMIX_PROC);
    }
}

static void add_app(struct list *l, const struct px_job *job, uint32_t number)
{
    const struct px_app_plan *app = &job->plan.apps[number];
    struct list members = {0};

    add_u32(&members, PMIX_APPNUM, number);
    add_u32(&members, PMIX_APP_SIZE, app->n);
    add_rank(&members, PMIX_APPLDR, app->first);
    add_made(&members, PMIX_APP_ARGV, px_strv_join(app->argv, ' '));
    add_made(&members, PMIX_WDIR, app->cwd ? strdup(app->cwd) : get_current_dir_name());
    add_list(l, PMIX_APP_INFO_ARRAY, &members);
}

static void add_task(struct list *l, const struct px_job *job,
                     const struct px_task *task)
{
    const struct px_app_plan *app = &job->plan.apps[task->app];
    struct list members = {0};
    bool yes = true;

    add_rank(&members, PMIX_RANK, task->rank);
    add_rank(&members, PMIX_GLOBAL_RANK, job->first + task->rank);
    add_u32(&members, PMIX_APPNUM, task->app);
    add_rank(&members, PMIX_APP_RANK, task->rank - app->first);
    add_rank(&members, PMIX_APPLDR, app->first);
    add_u16(&members, PMIX_LOCAL_RANK, task->rank);
    add_u16(&members, PMIX_NODE_RANK, job->first + task->rank);
    add_u32(&members, PMIX_NODEID, 0);
    add(&members, PMIX_HOSTNAME, px_process.model->hostname, PMIX_STRING);
    add_u32(&members, PMIX_REINCARNATION, 0);
    if (job->dir)
        add_made(&members, PMIX_PROCDIR, px_task_dir(task));
    if (is_spawned(job)) {
        add(&members, PMIX_SPAWNED, &yes, PMIX_BOOL);
        add(&members, PMIX_PARENT_ID, &job->parent, PMIX_PROC);
    }
    add_list(l, PMIX_PROC_DATA, &members);
}

pmix_status_t px_job_describe(const struct px_job *job, px_infos *out)
{
    struct list l = {0};

    add_job(&l, job);
    for (uint32_t a = 0; a < job->plan.n_apps; a++)
        add_app(&l, job, a);
    for (uint32_t r = 0; r < job->n_tasks; r++)
        add_task(&l, job, &job->tasks[r]);
    if (l.status)
        px_infos_cleanup(&l.infos);
    *out = l.infos;
    return l.status;
}
