/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders for the scratch files of jobs: one for each job and in it one for each process, in the
 * private folder of the server. So they go with that, however it ends; and before that with
 * their job. */
#include "core/host/builtin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/rt/log.h"
#include "core/server/cleanup/session.h"

#define TOP "jobs"

char *px_job_top_dir(const struct px_job *job)
{
    const char *dir = job->host->server->dir;

    return dir ? px_strf("%s/" TOP, dir) : NULL;
}

char *px_task_dir(const struct px_task *task)
{
    return task->job->dir ? px_strf("%s/%u", task->job->dir, task->rank) : NULL;
}

/* Leads to the folder in which there is one for each job; -1 and errno. */
static int open_top(const struct px_job *job)
{
    PX_AUTOFREE char *top = px_job_top_dir(job);

    if (!top) {
        errno = ENOENT;
        return -1;
    }
    if (mkdir(top, 0700) < 0 && errno != EEXIST)
        return -1;
    return open(top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool make_in(int top, struct px_job *job, const char *name)
{
    PX_AUTOCLOSE int dir = -1;
    char rank[16];

    if (mkdirat(top, name, 0700) < 0)
        return false;
    dir = openat(top, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || fstat(dir, &job->dir_is) < 0)
        return false;
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        snprintf(rank, sizeof(rank), "%u", r);
        if (mkdirat(dir, rank, 0700) < 0)
            return false;
    }
    return true;
}

/* Short names: they are in the paths of sockets. */
void px_job_dirs_make(struct px_job *job)
{
    PX_AUTOFREE char *top = px_job_top_dir(job);
    PX_AUTOCLOSE int fd = -1;
    char name[16];

    if (!top)
        return;
    snprintf(name, sizeof(name), "%u", job->host->n_jobs);
    fd = open_top(job);
    job->dir = fd >= 0 ? px_strf("%s/%s", top, name) : NULL;
    if (job->dir && make_in(fd, job, name))
        return;
    px_log(PX_LOG_WARN, "spawn", "no directories for job %s: %m", job->proc.nspace);
    px_job_dirs_drop(job);
}

void px_job_dirs_drop(struct px_job *job)
{
    if (job->dir && job->dir_is.st_ino)
        px_session_drop(job->host->server, job->dir, &job->dir_is);
    free(job->dir);
    job->dir = NULL;
}
