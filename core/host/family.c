/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that are connected by a spawn or a connect. Their processes are notified of each
 * other's failures, and the jobs end together. */
#include "core/host/job.h"

#include <string.h>

#include "core/base/vec.h"
#include "core/server/host.h"

/* Search for the connected jobs of a job in which a process has failed. */
struct view {
    struct px_launcher *launcher;
    const pmix_proc_t *culprit;
    px_kin *kin;
    bool more; /* the last pass found more jobs */
    pmix_status_t status;
};

static bool is_alive(const struct px_launch_job *job, const pmix_proc_t *p)
{
    const struct px_task *task = p->rank < job->n_tasks ? &job->tasks[p->rank] : NULL;

    return job->end != PX_JOB_ENDED &&
           (!task || task->running || (task->restart && task->restart->pending));
}

/* True if a process of the job is in the set, and still runs or is the culprit. */
static bool has_part(const struct px_launch_job *job, const pmix_proc_t *procs,
                     size_t n, const pmix_proc_t *culprit)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(procs[i].nspace, job->proc.nspace) == 0 &&
            (is_alive(job, &procs[i]) ||
             (culprit && px_proc_match(&procs[i], culprit))))
            return true;
    return false;
}

static bool has_failing(const struct view *v, const pmix_proc_t *procs, size_t n)
{
    PX_LIST_EACH (&v->launcher->jobs, struct px_launch_job, job, link)
        if (job->failing && has_part(job, procs, n, v->culprit))
            return true;
    return false;
}

/* Marks the connected jobs that do not survive a failure as failing. */
static void spread(void *arg, const pmix_proc_t *procs, size_t n, bool apart)
{
    struct view *v = arg;

    if (apart || !has_failing(v, procs, n))
        return;
    PX_LIST_EACH (&v->launcher->jobs, struct px_launch_job, job, link) {
        if (job->failing || px_plan_goes_on(&job->plan) ||
            !has_part(job, procs, n, v->culprit))
            continue;
        job->failing = v->more = true;
    }
}

static void add_kin(struct view *v, const pmix_proc_t *procs, size_t n)
{
    for (size_t i = 0; i < n && !v->status; i++) {
        pmix_proc_t *p = px_vec_add(&v->kin->v, &v->kin->n, &v->kin->cap);

        if (p)
            *p = procs[i];
        else
            v->status = PMIX_ERR_NOMEM;
    }
}

static void add_set(void *arg, const pmix_proc_t *procs, size_t n, bool apart PX_UNUSED)
{
    struct view *v = arg;
    bool named = false;

    for (size_t i = 0; i < n; i++)
        named |= px_proc_match(&procs[i], v->culprit);
    if (!named && !has_failing(v, procs, n))
        return;
    add_kin(v, procs, n);
    PX_LIST_EACH (&v->launcher->jobs, struct px_launch_job, job, link)
        v->kin->stay |= !job->failing && has_part(job, procs, n, NULL);
}

pmix_status_t px_family_find(struct px_launch_job *job, const pmix_proc_t *culprit,
                             bool survived, px_kin *kin)
{
    struct view v = {
        .launcher = job->launcher, .culprit = culprit, .kin = kin, .more = !survived};
    const struct px_server *srv = job->launcher->server;

    job->failing = !survived;
    while (v.more) {
        v.more = false;
        px_server_connected(srv, spread, &v);
    }
    px_server_connected(srv, add_set, &v);
    if (kin->n > 0) /* and the failing jobs that are not in a set */
        PX_LIST_EACH (&job->launcher->jobs, struct px_launch_job, j, link)
            if (j->failing)
                add_kin(&v, &j->proc, 1);
    return v.status;
}

/* ---- orders ---------------------------------------------------------------------- */

struct tie {
    const struct px_launch_job *parent, *child;
    bool found;
};

static void find_tie(void *arg, const pmix_proc_t *procs, size_t n, bool apart)
{
    struct tie *t = arg;

    t->found |= !apart && has_part(t->parent, procs, n, NULL) &&
                has_part(t->child, procs, n, NULL);
}

bool px_family_has(const struct px_launch_job *parent,
                   const struct px_launch_job *child)
{
    struct tie t = {.parent = parent, .child = child};

    if (strcmp(child->parent.nspace, parent->proc.nspace) == 0)
        px_server_connected(parent->launcher->server, find_tie, &t);
    return t.found;
}
