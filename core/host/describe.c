/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a job: the keys that existing launchers provide. Facts that follow
 * from the maps are left out, and values that all ranks share stand in the job's row.
 * So a rank costs some hundred bytes. */
#include "core/host/job.h"

#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/host/alloc.h"
#include "core/model/nspace.h"
#include "core/server/host.h"
#include "core/topo/topo.h"
#include "pmix_version.h"

static const bool yes = true;
static const uint32_t zero, one = 1;

/* Texts of a description, kept until all facts are copied. */
struct texts {
    char *ranks, *top, *nodes, *procs, *aliases, *command, *cpus;
};

static void texts_cleanup(struct texts *t)
{
    char *const all[] = {t->ranks,   t->top,     t->nodes, t->procs,
                         t->aliases, t->command, t->cpus};

    for (size_t i = 0; i < PX_COUNT(all); i++)
        free(all[i]);
}

const pmix_proc_t *px_job_parent(const struct px_launch_job *job)
{
    return px_proc_same(&job->parent, px_server_name(job->launcher->server))
               ? NULL
               : &job->parent;
}

uint32_t px_job_node_size(const struct px_launch_job *job)
{
    uint32_t n = job->n_tasks;

    PX_LIST_EACH (&job->launcher->jobs, struct px_launch_job, j, link)
        n += j == job || !px_plan_counts(&j->plan) ? 0 : j->n_running;
    return n;
}

/* Returns "3,4,5", malloc'd: some readers of peers accept no ranges. */
static char *rank_list(uint32_t first, uint32_t n)
{
    size_t room = (size_t)n * sizeof("4294967295,") + 1, at = 0;
    char *text = calloc(1, room);

    for (uint32_t r = 0; text && r < n; r++)
        at += (size_t)snprintf(text + at, room - at, "%s%u", r > 0 ? "," : "",
                               first + r);
    return text;
}

/* Returns the job that this job debugs, or NULL. */
static const pmix_proc_t *target_of(const struct px_launch_job *job)
{
    for (size_t i = 0; i < job->plan.n_apps; i++)
        if (job->plan.apps[i].n_targets > 0)
            return &job->plan.apps[i].target;
    return NULL;
}

/* Returns the names of this node, malloc'd. */
static char *aliases_of(const char *host)
{
    const int short_b = (int)strcspn(host, ".");

    return host[short_b] ? px_strf("%s,%.*s,localhost", host, short_b, host)
                         : px_strf("%s,localhost", host);
}

/* Returns the arguments of all applications, malloc'd, with ':' between them. */
static char *command_of(const px_plan *plan)
{
    char *text = plan->command ? strdup(plan->command) : NULL;

    for (size_t i = 0; !plan->command && i < plan->n_apps; i++) {
        PX_AUTOFREE char *argv = px_strv_join(plan->apps[i].argv, ' ');
        char *longer = !argv  ? NULL
                       : text ? px_strf("%s : %s", text, argv)
                              : px_take(&argv);

        free(text);
        text = longer;
        if (!text)
            return NULL;
    }
    return text;
}

/* Returns PMIX_CPUSET of the processes that are not bound, malloc'd; they inherit the
 * CPUs of this thread. NULL if the system does not report them. */
static pmix_status_t unbound_cpus(char **text)
{
    PX_AUTOFREE char *list = NULL;
    pmix_status_t rc = px_binding_list(0, &list);

    if (rc)
        return rc == PMIX_ERR_NOMEM ? rc : PMIX_SUCCESS;
    *text = px_strf("hwloc:%s", list);
    return *text ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t write_texts(struct texts *t, const struct px_launch_job *job)
{
    const char *host = job->launcher->model->hostname;

    t->ranks = rank_list(0, job->n_tasks);
    t->top = job->dir ? px_job_top_dir(job) : NULL;
    t->aliases = aliases_of(host);
    t->command = command_of(&job->plan);
    if (!t->ranks || (job->dir && !t->top) || !t->aliases || !t->command ||
        px_procmap_pack_nodes(host, &t->nodes) ||
        px_procmap_pack_ranks(t->ranks, &t->procs))
        return PMIX_ERR_NOMEM;
    return unbound_cpus(&t->cpus);
}

/* Returns the word of PMIX_BINDTO for an application. */
static const char *binding_of(const px_plan *plan, const struct px_app_plan *app)
{
    const struct px_position *p = plan->binds && app->n > 0
                                      ? &plan->positions[app->first]
                                      : NULL;

    return !p || !p->cpus        ? px_unit_name(PX_UNIT_NONE)
           : app->placement.bind ? px_unit_name(app->placement.bind)
                                 : px_unit_name(p->level);
}

static const char *mapping_of(const struct px_app_plan *app)
{
    return app->placement.per   ? "ppr"
           : app->placement.map ? px_unit_name(app->placement.map)
                                : "slot";
}

static uint64_t memory_b(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_b = sysconf(_SC_PAGESIZE);

    return pages > 0 && page_b > 0 ? (uint64_t)pages * (uint64_t)page_b : 0;
}

static pmix_status_t describe_session(px_infos *out, const struct px_launch_job *job,
                                      const struct texts *t, uint32_t universe)
{
    const uint32_t session = (uint32_t)getpid();
    const struct px_fact facts[] = {
        {PMIX_SESSION_ID, &session, PMIX_UINT32},
        {PMIX_RM_NAME, "tenon", PMIX_STRING},
        {PMIX_RM_VERSION, TENON_VERSION_STRING, PMIX_STRING},
        {PMIX_HOSTNAME_KEEP_FQDN, &yes, PMIX_BOOL},
        {PMIX_UNIV_SIZE, &universe, PMIX_UINT32},
        /* Open MPI puts all its files there, and never removes them. */
        {PMIX_TMPDIR, t->top, PMIX_STRING},
        {PMIX_TDIR_RMCLEAN, job->dir ? &yes : NULL, PMIX_BOOL},
    };

    return px_facts_add(out, facts, PX_COUNT(facts));
}

static pmix_status_t add_array(px_infos *out, const char *key,
                               const struct px_fact *facts, size_t n)
{
    PX_AUTO(px_infos) members = {0};
    pmix_status_t rc = px_facts_add(&members, facts, n);

    return rc ? rc : px_infos_add_array(out, key, &members);
}

static pmix_status_t describe_node(px_infos *out, const struct px_launch_job *job,
                                   const struct texts *t, uint32_t n, uint32_t universe)
{
    const uint64_t bytes = memory_b();
    const struct px_fact facts[] = {
        {PMIX_HOSTNAME, job->launcher->model->hostname, PMIX_STRING},
        {PMIX_HOSTNAME_ALIASES, t->aliases, PMIX_STRING},
        {PMIX_AVAIL_PHYS_MEMORY, bytes ? &bytes : NULL, PMIX_UINT64},
        {PMIX_NODE_SIZE, &n, PMIX_UINT32},
        {PMIX_MAX_PROCS, &universe, PMIX_UINT32},
        {PMIX_NUM_SLOTS, &universe, PMIX_UINT32},
        /* Open MPI 5 looks for the key alone, so a false value must not be there. */
        {PMIX_NODE_OVERSUBSCRIBED, job->crowded ? &yes : NULL, PMIX_BOOL},
    };

    return add_array(out, PMIX_NODE_INFO_ARRAY, facts, PX_COUNT(facts));
}

static pmix_status_t describe_job(px_infos *out, const struct px_launch_job *job,
                                  const struct texts *t, uint32_t universe)
{
    const pmix_proc_t *server = px_server_name(job->launcher->server);
    const pmix_proc_t *parent = px_job_parent(job);
    const char *host = job->launcher->model->hostname;
    const struct px_app_plan *app = job->plan.apps;
    const uint32_t n_apps = (uint32_t)job->plan.n_apps;
    const bool spawned = parent;
    const struct px_fact facts[] = {
        {PMIX_SERVER_NSPACE, server->nspace, PMIX_STRING},
        {PMIX_SERVER_RANK, &server->rank, PMIX_PROC_RANK},
        {PMIX_JOBID, job->proc.nspace, PMIX_STRING},
        {PMIX_NODE_MAP, t->nodes, PMIX_STRING},
        {PMIX_PROC_MAP, t->procs, PMIX_STRING},
        {PMIX_NSDIR, job->dir, PMIX_STRING},
        {PMIX_CMD_LINE, t->command, PMIX_STRING},
        {PMIX_MAPBY, mapping_of(app), PMIX_STRING},
        {PMIX_RANKBY, px_unit_name(app->placement.rank), PMIX_STRING},
        {PMIX_BINDTO, binding_of(&job->plan, app), PMIX_STRING},
        {PMIX_NUM_NODES, &one, PMIX_UINT32},
        {PMIX_NUM_ALLOCATED_NODES, &one, PMIX_UINT32},
        {PMIX_ALLOCATED_NODELIST, host, PMIX_STRING},
        {PMIX_MAX_PROCS, &universe, PMIX_UINT32},
        {PMIX_NUM_SLOTS, &universe, PMIX_UINT32},
        {PMIX_JOB_SIZE, &job->n_tasks, PMIX_UINT32},
        {PMIX_JOB_NUM_APPS, &n_apps, PMIX_UINT32},
        {PMIX_NPROC_OFFSET, px_plan_counts(&job->plan) ? &job->first : NULL,
         PMIX_PROC_RANK},
        {PMIX_DEBUG_TARGET, target_of(job), PMIX_PROC},
        /* of each rank that has no value of its own */
        {PMIX_CPUSET, t->cpus, PMIX_STRING},
        {PMIX_REINCARNATION, &zero, PMIX_UINT32},
        {PMIX_SPAWNED, &spawned, PMIX_BOOL},
        {PMIX_PARENT_ID, parent, PMIX_PROC},
    };

    return px_facts_add(out, facts, PX_COUNT(facts));
}

static pmix_status_t describe_app(px_infos *out, const struct px_launch_job *job,
                                  uint32_t number, const struct texts *t,
                                  uint32_t universe)
{
    const struct px_app_plan *app = &job->plan.apps[number];
    PX_AUTOFREE char *argv = px_strv_join(app->argv, ' ');
    PX_AUTOFREE char *cwd = app->cwd ? strdup(app->cwd) : get_current_dir_name();
    PX_AUTOFREE char *ranks = rank_list(app->first, app->n);
    PX_AUTOFREE char *map = NULL;
    const char *host = job->launcher->model->hostname;

    if (!argv || !cwd || !ranks || px_procmap_pack_ranks(ranks, &map))
        return PMIX_ERR_NOMEM;
    const struct px_fact facts[] = {
        {PMIX_APPNUM, &number, PMIX_UINT32},
        {PMIX_APP_SIZE, &app->n, PMIX_UINT32},
        {PMIX_APPLDR, &app->first, PMIX_PROC_RANK},
        {PMIX_APP_ARGV, argv, PMIX_STRING},
        {PMIX_WDIR, cwd, PMIX_STRING},
        {PMIX_APP_MAP_TYPE, mapping_of(app), PMIX_STRING},
        {PMIX_APP_MAP_REGEX, map, PMIX_STRING},
        {PMIX_NUM_NODES, &one, PMIX_UINT32},
        {PMIX_NODE_LIST, host, PMIX_STRING},
        {PMIX_NODE_MAP, t->nodes, PMIX_STRING},
        {PMIX_PROC_MAP, map, PMIX_STRING},
        {PMIX_MAX_PROCS, &universe, PMIX_UINT32},
        {PMIX_NUM_SLOTS, &universe, PMIX_UINT32},
        {PMIX_LOCAL_SIZE, &app->n, PMIX_UINT32},
    };

    return add_array(out, PMIX_APP_INFO_ARRAY, facts, PX_COUNT(facts));
}

/* ---- processes ------------------------------------------------------------------- */

/* A package of the node, and the bound ranks that it has so far. */
struct package {
    uint32_t number;
    int32_t n;
};

/* Returns the package that a process is bound within, or UINT32_MAX. locality:
 * "SK0:L30:...:NM0"; NULL: not bound. */
static uint32_t package_of(const char *locality)
{
    const char *at = locality ? strstr(locality, "SK") : NULL;
    char *end;

    if (!at || (at > locality && at[-1] != ':'))
        return UINT32_MAX;
    const unsigned long number = strtoul(at + 2, &end, 10);
    return end == at + 2 || (*end && *end != ':') ? UINT32_MAX : (uint32_t)number;
}

/* Sets the position of each rank on its package. */
static pmix_status_t rank_in_packages(const struct px_launch_job *job)
{
    PX_AUTOFREE struct package *all = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t r = 0; job->plan.binds && r < job->n_tasks; r++) {
        struct px_position *position = &job->plan.positions[r];
        const uint32_t number = package_of(position->locality);
        size_t i = 0;

        position->package_rank = -1;
        while (i < n && all[i].number != number)
            i++;
        if (number != UINT32_MAX && i == n) {
            if (!px_vec_add(&all, &n, &cap))
                return PMIX_ERR_NOMEM;
            all[i].number = number;
        }
        if (number != UINT32_MAX)
            position->package_rank = all[i].n++;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_task_describe(px_infos *out, const struct px_task *task)
{
    const struct px_launch_job *job = task->job;
    const struct px_app_plan *app = &job->plan.apps[task->app];
    PX_AUTOFREE char *dir = job->dir ? px_task_dir(task) : NULL;
    const pmix_rank_t global = job->first + task->rank,
                      in_app = task->rank - app->first;
    const uint16_t node = global < UINT16_MAX ? (uint16_t)global : UINT16_MAX;
    const struct px_position *position = job->plan.binds
                                             ? &job->plan.positions[task->rank]
                                             : NULL;
    PX_AUTOFREE char *cpus = position && position->cpus
                                 ? px_strf("hwloc:%s", position->cpus)
                                 : NULL;
    const uint16_t in_package = position ? (uint16_t)position->package_rank : 0;
    const bool in_one = cpus && position->package_rank >= 0;
    const struct px_fact facts[] = {
        {PMIX_RANK, &task->rank, PMIX_PROC_RANK},
        {PMIX_GLOBAL_RANK, px_plan_counts(&job->plan) ? &global : NULL, PMIX_PROC_RANK},
        {PMIX_APPNUM, &task->app, PMIX_UINT32},
        {PMIX_APP_RANK, &in_app, PMIX_PROC_RANK},
        {PMIX_APPLDR, &app->first, PMIX_PROC_RANK},
        {PMIX_NODE_RANK, px_plan_counts(&job->plan) ? &node : NULL, PMIX_UINT16},
        {PMIX_PROCDIR, dir, PMIX_STRING},
        {PMIX_CPUSET, cpus, PMIX_STRING},
        {PMIX_LOCALITY_STRING, cpus ? position->locality : NULL, PMIX_STRING},
        {PMIX_PACKAGE_RANK, in_one ? &in_package : NULL, PMIX_UINT16},
        {PMIX_DEBUG_STOP_IN_INIT, px_task_stops(task, PX_STOP_IN_INIT) ? &yes : NULL,
         PMIX_BOOL},
        {PMIX_DEBUG_STOP_IN_APP, px_task_stops(task, PX_STOP_IN_APP) ? &yes : NULL,
         PMIX_BOOL},
    };

    return (job->dir && !dir) || (position && position->cpus && !cpus)
               ? PMIX_ERR_NOMEM
               : add_array(out, PMIX_PROC_DATA, facts, PX_COUNT(facts));
}

pmix_status_t px_job_describe(px_infos *out, const struct px_launch_job *job)
{
    __attribute__((cleanup(texts_cleanup))) struct texts t = {0};
    const long n_cpus = job->alloc ? (long)px_alloc_size(job->alloc)
                                   : sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t n = px_job_node_size(job);
    const uint32_t universe = n_cpus > (long)n ? (uint32_t)n_cpus : n;
    pmix_status_t rc = write_texts(&t, job);

    if (!rc)
        rc = describe_session(out, job, &t, universe);
    if (!rc)
        rc = describe_node(out, job, &t, n, universe);
    if (!rc)
        rc = describe_job(out, job, &t, universe);
    for (uint32_t a = 0; !rc && a < job->plan.n_apps; a++)
        rc = describe_app(out, job, a, &t, universe);
    return rc ? rc : rank_in_packages(job);
}
