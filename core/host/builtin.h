/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of last resort: jobs on this one node, started, watched and ended by the
 * library itself. What its files share; everything is for the loop thread only. */
#ifndef PX_HOST_BUILTIN_H
#define PX_HOST_BUILTIN_H

#include "core/rt/call.h"
#include "core/host/input.h"
#include "core/host/output.h"
#include "core/host/pubs.h"
#include "core/server/server.h"

#include <sys/stat.h>

extern const struct px_param px_embedded_params[]; /* embedded_* */

/* Processes of one job: a typing error must not bring the node down. */
#define PX_MAX_TASKS 16384u

struct px_embedded {
    struct px_server *server;
    const struct px_module *pfexec; /* NULL: nothing can be started */
    struct px_list jobs;            /* px_job.link, in the order started */
    struct px_pubs pubs;
    struct px_output output;
    uint64_t grace_ms; /* between TERM and KILL */
    unsigned n_jobs;   /* started so far: makes the name of the next */
    uint32_t n_ranks;  /* started so far: the next one's rank in the session */
    bool stopping;
    struct px_call *waiter;    /* PMIx_server_finalize, until the jobs have ended */
    struct px_timer *deadline; /* of its patience */
};

/* One application of a job, checked and ready to be started. */
struct px_app_plan {
    char *program; /* path */
    char **argv;
    char **env; /* without what each rank has of its own */
    char *cwd;  /* as asked for; NULL: that of this process */
    uint32_t n;
    uint32_t first; /* rank */
};

/* What PMIx_Spawn was asked for. */
struct px_spawn_request {
    const pmix_info_t *info;
    size_t n_info;
    const pmix_app_t *apps;
    size_t n_apps;
    /* Whose environment and directory the new job inherits; NULL: this process's. */
    const struct px_app_plan *parent;
};

typedef struct px_plan {
    struct px_app_plan *apps;
    size_t n_apps;
    uint32_t n_tasks;
    pmix_rank_t stdin_rank; /* PMIX_RANK_UNDEF: nobody has it */
    bool detached;          /* outlives its parent */
    bool notify;            /* the parent wants to know of the end */
} px_plan;

/* A process of a job. */
struct px_task {
    struct px_job *job;
    pmix_rank_t rank;
    uint32_t app;
    pid_t pid; /* 0: not started */
    int wait_status;
    bool running;
    bool connected, finalized;
    struct px_stream *streams[2]; /* NULL: ended */
};

/* What went wrong with a job, and with which of its processes. */
struct px_failure {
    pmix_status_t status; /* PMIX_SUCCESS: nothing */
    pmix_rank_t rank;     /* PMIX_RANK_UNDEF: nobody in particular */
    int exit_code;        /* not 0 if there is a failure */
    char text[512];       /* "killed by signal 9 (Killed)" */
};

/* How a job stands. The order matters. */
enum px_job_stage {
    PX_JOB_LAUNCHING,
    PX_JOB_RUNNING,
    PX_JOB_TERM,  /* has been asked to end */
    PX_JOB_KILL,  /* has been made to */
    PX_JOB_ENDED, /* told, and kept for those who still ask */
};

struct px_job {
    struct px_list link;
    struct px_embedded *host;
    pmix_proc_t proc;   /* name, rank WILDCARD */
    pmix_proc_t parent; /* who asked for it */
    px_plan plan;
    struct px_task *tasks;
    uint32_t n_tasks;
    uint32_t first; /* rank in the session of its rank 0 */
    uint32_t n_running, n_streams;
    struct px_input *input;
    char *dir; /* for scratch files; NULL: none */
    struct stat dir_is;
    enum px_job_stage stage;
    struct px_timer *timer; /* of the stage */
    /* the first thing that went wrong */
    struct px_failure failure;
    struct px_failure suspicion; /* perhaps; see px_job_fail */
    struct px_timer *suspicion_timer;
    pmix_status_t verdict; /* PMIX_SUCCESS: all is well */
    /* a launch that failed half-way is answered when all is cleared away */
    pmix_status_t launch_status;
    pmix_spawn_cbfunc_t launch_cb;
    void *launch_cbdata;
};

/* embedded.c */
struct px_embedded *px_embedded_host(void);
/* Made when first needed: a host that starts nothing leaves its stdout and stderr
 * alone. */
struct px_output *px_embedded_output(struct px_embedded *host);
/* A job has ended or is gone: who waits for that may have waited enough. */
void px_embedded_check_idle(struct px_embedded *host);

/* embedded_env.c: changes a malloc'd environment as infos ask for. */
pmix_status_t px_env_direct(char ***env, const pmix_info_t *info, size_t n,
                            struct px_err *err);

/* embedded_plan.c: all that can be found wrong with a request is found here. */
pmix_status_t px_plan_make(px_plan *plan, const struct px_spawn_request *request,
                           struct px_err *err);
void px_plan_cleanup(px_plan *plan);

/* embedded_jobinfo.c: what a host tells of a job it registers. */
pmix_status_t px_job_describe(const struct px_job *job, px_infos *out);

/* embedded_dirs.c: makes folders for the job and its processes, if that can be; their job's end is
 * theirs. The paths are malloc'd; NULL if there are no folders or no memory. */
void px_job_dirs_make(struct px_job *job);
void px_job_dirs_drop(struct px_job *job);
char *px_job_top_dir(const struct px_job *job);
char *px_task_dir(const struct px_task *task);

/* embedded_spawn.c: the host module's function. */
pmix_status_t px_embedded_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[],
                                size_t n_info, const pmix_app_t apps[], size_t n_apps,
                                pmix_spawn_cbfunc_t cb, void *cbdata);

/* embedded_job.c */
pmix_status_t px_job_create(struct px_embedded *host, const pmix_proc_t *parent,
                            px_plan *plan, struct px_job **job); /* takes the plan */
void px_job_free(struct px_job *job);
struct px_job *px_job_find(const struct px_embedded *host, const char *nspace);
struct px_task *px_task_find(const struct px_embedded *host, const pmix_proc_t *proc);
/* Reports of a started process. arg is the task. */
void px_job_task_ended(void *arg, pid_t pid, int wait_status);
void px_job_stdout_ended(void *arg);
void px_job_stderr_ended(void *arg);
/* To those that still run. */
void px_task_signal(struct px_task *task, int signum);
void px_job_signal(struct px_job *job, int signum);
/* Asks it to end (TERM), and makes it (KILL) when it does not; its children too.
 * verdict counts if nothing has gone wrong before. */
void px_job_end(struct px_job *job, pmix_status_t verdict);
void px_job_kill(struct px_job *job, pmix_status_t verdict);
/* Something has gone wrong: tells, and ends the job. Only the first failure of a job
 * counts. */
void px_job_fail(struct px_job *job, const struct px_failure *failure);
/* A launch has failed: ends what was started, unnoticed, then answers. */
void px_job_abandon(struct px_job *job, pmix_status_t status, pmix_spawn_cbfunc_t cb,
                    void *cbdata);

/* embedded_report.c: events for this process's own handlers, the end for the parent
 * too. */
void px_job_report_failure(const struct px_job *job);
void px_job_report_end(const struct px_job *job);

/* embedded_control.c: host module functions. */
pmix_status_t px_embedded_control(const pmix_proc_t *requestor,
                                  const pmix_proc_t targets[], size_t n_targets,
                                  const pmix_info_t directives[], size_t n,
                                  pmix_info_cbfunc_t cb, void *cbdata);
pmix_status_t px_embedded_query(pmix_proc_t *requestor, pmix_query_t *queries, size_t n,
                                pmix_info_cbfunc_t cb, void *cbdata);
pmix_status_t px_embedded_abort(const pmix_proc_t *proc, void *object, int status,
                                const char msg[], pmix_proc_t procs[], size_t n,
                                pmix_op_cbfunc_t cb, void *cbdata);

#endif
