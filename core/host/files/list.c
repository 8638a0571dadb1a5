/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the files that a job needs, and their names. */
#include "core/host/job.h"

#include <stdio.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/iof/name.h"
#include "core/model/nspace.h"

const char *const px_channel_names[2] = {"stdout", "stderr"};

/* Returns the width of ranks in file names. Leading zeros keep the names in order. */
static int rank_width(const struct px_launch_job *job)
{
    char last[16];

    return snprintf(last, sizeof(last), "%u", job->n_tasks - 1);
}

static pmix_status_t name_output(const struct px_task *task, int which, char **name,
                                 struct px_err *err)
{
    const struct px_output_plan *plan = &task->job->plan.apps[task->app].output;
    PX_AUTOFREE char *rank = px_strf("%0*u", rank_width(task->job), task->rank);
    const struct px_iof_of of = {.nspace = task->job->proc.nspace,
                                 .rank = rank,
                                 .channel = px_channel_names[which]};

    if (!rank)
        return px_err_nomem(err, "spawn");
    if (plan->is_pattern || plan->files != PX_FILES_RANK)
        return px_iof_file_name(plan->files == PX_FILES_DIR ? PX_IOF_DIR
                                : plan->is_pattern          ? PX_IOF_PATTERN
                                                            : PX_IOF_FILE,
                                plan->path, &of, name, err);
    *name = px_strf("%s.%s", plan->path, rank);
    return *name ? PMIX_SUCCESS : px_err_nomem(err, "spawn");
}

/* Returns the length of the part of the path that names folders of the user. */
static size_t given_part(const struct px_output_plan *plan)
{
    size_t n = plan->is_pattern ? strcspn(plan->path, "%") : strlen(plan->path);

    while (plan->files != PX_FILES_DIR && n > 0 && plan->path[n - 1] != '/')
        n--;
    return n;
}

static pmix_status_t list_output(struct px_task *task, int which, struct px_err *err)
{
    const struct px_output_plan *plan = &task->job->plan.apps[task->app].output;
    struct px_files *files = &task->job->files;
    struct px_file *file = &files->v[files->n];

    if (plan->files == PX_FILES_NONE || (which == 1 && plan->way.merged))
        return PMIX_SUCCESS;
    if (which == 1 && plan->files == PX_FILES_RANK && !plan->is_pattern) {
        task->outputs[1].file = task->outputs[0].file;
        return PMIX_SUCCESS;
    }
    *file = (struct px_file){.n_given = given_part(plan), .fd = -1};
    files->n++;
    task->outputs[which].file = file;
    return name_output(task, which, &file->to, err);
}

/* True if the file to copy is a program. Users name programs by links. */
static bool is_program(const px_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n_apps; i++)
        if (plan->apps[i].preloaded && strcmp(plan->apps[i].program, path) == 0)
            return true;
    return false;
}

/* Lists the files to copy. Preloaded programs run as copies. */
static pmix_status_t list_copies(struct px_launch_job *job, struct px_err *err)
{
    px_plan *plan = &job->plan;
    struct px_files *files = &job->files;

    if (plan->preload && !job->dir)
        return px_err_set(err, PMIX_ERR_JOB_FAILED_TO_LAUNCH,
                          "cannot preload %.300s: the job has no folder",
                          plan->preload[0]);
    for (char **path = plan->preload; path && *path; path++) {
        struct px_file *file = &files->v[files->n++];

        *file = (struct px_file){.from = strdup(*path),
                                 .to = px_path_join(job->dir, strrchr(*path, '/')),
                                 .follows = is_program(plan, *path),
                                 .fd = -1};
        if (!file->from || !file->to)
            return px_err_nomem(err, "spawn");
    }
    for (size_t i = 0; i < plan->n_apps; i++) {
        struct px_app_plan *app = &plan->apps[i];

        if (!app->preloaded)
            continue;
        char *copy = px_path_join(job->dir, strrchr(app->program, '/'));
        free(app->program);
        app->program = copy;
        if (!copy)
            return px_err_nomem(err, "spawn");
    }
    return PMIX_SUCCESS;
}

/* Lists the folders of processes. The server itself makes those of few processes, and
 * any that is missing, as the processes connect. */
static pmix_status_t list_folders(struct px_launch_job *job, struct px_err *err)
{
    struct px_files *files = &job->files;

    for (uint32_t r = 0; job->dir && job->n_tasks > PX_FEW_FOLDERS && r < job->n_tasks;
         r++) {
        struct px_file *file = &files->v[files->n++];

        *file = (struct px_file){
            .to = px_strf("%s/%u", job->dir, r), .is_folder = true, .fd = -1};
        if (!file->to)
            return px_err_nomem(err, "spawn");
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_job_list_files(struct px_launch_job *job, struct px_err *err)
{
    job->files.limit_b = job->launcher->preload_limit_b;
    job->files.v = calloc(px_strv_count(job->plan.preload) + 3 * (size_t)job->n_tasks,
                          sizeof(*job->files.v));
    if (!job->files.v)
        return px_err_nomem(err, "spawn");
    pmix_status_t rc = list_folders(job, err);
    if (!rc)
        rc = list_copies(job, err);
    for (uint32_t i = 0; !rc && i < 2 * job->n_tasks; i++)
        rc = list_output(&job->tasks[i / 2], (int)(i % 2), err);
    return rc;
}
