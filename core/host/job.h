/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in host and its jobs: their processes, how they end, and what follows from
 * that. Loop thread only. The server knows it by px_host_builtin alone
 * (core/server/host.h). */
#ifndef PX_HOST_JOB_H
#define PX_HOST_JOB_H

#include "core/base/list.h"
#include "core/host/files/files.h"
#include "core/host/pubs.h"
#include "core/host/request/plan.h"
#include "core/host/streams/input.h"
#include "core/iof/stream.h"
#include "core/rt/process.h"
#include "pmix_server.h"
#include "tenon/pfexec.h"

#include <sys/stat.h>

struct px_call;
struct px_server;

/* ---- jobs ------------------------------------------------------------------------ */

/* All that this host knows. */
struct px_launcher {
    struct px_server *server;
    const struct px_module *pfexec; /* NULL: nothing can be started */
    const struct px_restart_ops *restart;
    struct px_pubs pubs;
    struct px_list jobs;          /* px_launch_job.link, in the order started */
    const struct px_iof_std *std; /* our own streams, from the first job on */
    uint64_t grace_ms;            /* between TERM and KILL */
    bool output_required;         /* a job ends that cannot write */
    uint64_t preload_limit_b;
    struct px_pfexec_limit mark; /* px_proc_mark; 0: none */
    unsigned n_jobs;             /* started so far: makes the name of the next */
    uint32_t n_ranks; /* started so far: the next one's rank in the session */
    unsigned n_tools; /* named so far */
    bool stopping;
    struct px_call *waiter;    /* of px_launcher_end_jobs */
    struct px_timer *deadline; /* of its patience */
};

struct px_task_output {
    struct px_task *task;
    struct px_stream *stream;      /* NULL: ended */
    struct px_output_tap *tap;     /* for those that pull it; NULL: none */
    struct px_output_tap *forward; /* for the process that spawned the job, or NULL */
    struct px_file *file;          /* gets it, too, or alone; NULL: none */
};

/* Bytes of an abort's message that are kept, and of a failure's text around it. */
enum { PX_ABORT_TEXT_B = 4096, PX_FAILURE_B = PX_ABORT_TEXT_B + 512 };

/* The failure of a job, and of which of its processes. */
struct px_failure {
    pmix_status_t status;    /* PMIX_SUCCESS: nothing */
    pmix_status_t verdict;   /* on the job, that follows from it */
    pmix_rank_t rank;        /* PMIX_RANK_UNDEF: none in particular */
    pmix_nspace_t nspace;    /* of that rank; "": it is one of this job */
    bool whole;              /* the job ends, also one that goes on without some */
    int exit_code;           /* not 0 if there is a failure */
    char text[PX_FAILURE_B]; /* "killed by signal 9 (Killed)" */
};

/* Of a process that is started again when it fails. */
struct px_restart {
    uint32_t n;   /* times so far */
    bool pending; /* it counts as running, until it does or the job ends */
    bool due;     /* the pause before is over */
    struct px_timer *timer;
    struct px_failure failure; /* of its last life */
    pid_t pid;                 /* process that failed */
};

/* A process of a job. */
struct px_task {
    struct px_launch_job *job;
    pmix_rank_t rank;
    uint32_t app;
    pid_t pid; /* 0: not started */
    int wait_status;
    bool running;
    bool connected, finalized;
    bool named, aborted;              /* by an abort: named in it, and asked to end */
    bool ends;                        /* by an order: is not started again */
    unsigned stopped;                 /* bits of enum px_stop: has come there */
    struct px_restart *restart;       /* NULL: it has not failed so far */
    struct px_timer *timer;           /* from then on, until it is killed */
    struct px_task_output outputs[2]; /* stdout, stderr */
};

/* Restarts (restart.c), as job.c and launch.c know them. */
struct px_restart_ops {
    /* Of a process that has failed; false: it is not started again. */
    bool (*plan)(struct px_task *task, const struct px_failure *failure);
    void (*go_on)(struct px_task *task); /* its output has ended */
    /* It runs, or does not. Says so, if it is not for the first time. */
    void (*started)(struct px_task *task, pmix_status_t status, const char *why);
    void (*drop)(struct px_task *task); /* the job ends */
    void (*forget)(struct px_task *task);
};

/* The order matters. */
enum px_job_stage {
    PX_JOB_LAUNCHING,
    PX_JOB_RUNNING,
    PX_JOB_TOLD,  /* ends, when those that hear of it have had time for that */
    PX_JOB_TERM,  /* was asked to end */
    PX_JOB_KILL,  /* was killed */
    PX_JOB_ENDED, /* reported, and kept for queries */
};

struct px_launch_job {
    struct px_list link;
    struct px_launcher *launcher;
    pmix_proc_t proc;    /* name, rank WILDCARD */
    unsigned number;     /* among those of this host, from 1 */
    pmix_proc_t parent;  /* it asked for this job */
    bool parent_is_here; /* this host's, or connected, when it asked */
    px_plan plan;
    struct px_task *tasks;
    uint32_t n_tasks;
    uint32_t first; /* rank in the session of its rank 0 */
    uint32_t n_begun,
        n_starting; /* LAUNCHING: those that were begun; of them, not yet known */
    bool announced; /* one of them has started */
    bool crowded;   /* more processes than CPUs were on this node at its launch */
    uint32_t n_running, n_streams;    /* running: or starting */
    struct px_task_output notices[2]; /* what is told of its seats, as outputs are */
    struct px_feed *feeds; /* of all processes, or of the only one that has one */
    size_t n_feeds;
    struct px_input *input;        /* our stdin for them; NULL: it is not read here */
    struct px_server_setup *setup; /* under way before that; NULL: none */
    struct px_files files;         /* made before it starts */
    char *dir;                     /* for scratch files; NULL: none */
    struct stat dir_is;
    enum px_job_stage stage;
    struct px_timer *timer;    /* of the stage */
    struct px_timer *limit;    /* of its time; NULL: it may run for ever */
    struct px_traces *traces;  /* while they are made */
    bool unwritten;            /* output of it, which was told */
    bool failing;              /* it ends with the one that fails; see px_family_find */
    struct px_failure failure; /* the first */
    struct px_failure suspicion; /* perhaps the first; see px_job_fail */
    struct px_timer *suspicion_timer;
    pmix_status_t verdict; /* PMIX_SUCCESS: all is well */
    /* The launch is answered when all have been started, or all is cleared away
     * after one that was not, or after an order to end. */
    pmix_status_t launch_status; /* what has prevented it */
    pmix_spawn_cbfunc_t launch_cb;
    void *launch_cbdata;
};

pmix_status_t px_job_create(struct px_launcher *l, const pmix_proc_t *parent,
                            px_plan *plan, /* takes it */
                            struct px_launch_job **job);
struct px_launch_job *px_job_find(const struct px_launcher *l, const char *nspace);
struct px_task *px_task_find(const struct px_launcher *l, const pmix_proc_t *proc);
pmix_proc_t px_task_name(const struct px_task *task);
char **px_task_argv(const struct px_task *task); /* malloc'd; NULL: no memory */
/* Folders for scratch files, malloc'd: those of all jobs, that of a process. NULL if
 * there are none, or no memory. */
char *px_job_top_dir(const struct px_launch_job *job);
char *px_task_dir(const struct px_task *task);

/* Reports of a started process. arg is the task, and its px_task_output. */
void px_job_task_ended(void *arg, pid_t pid, int wait_status,
                       const struct rusage *usage);
void px_job_stream_ended(void *arg);

extern const char *const px_channel_names[2]; /* stdout, stderr */
/* Lists the files that the job needs (files/list.c). */
pmix_status_t px_job_list_files(struct px_launch_job *job, struct px_err *err);
/* Where the output of a process goes (output.c), and its input comes from. fds are what
 * it gets as its streams, of which two may be one; the caller closes them, but not its
 * own stdin. -1: nothing. */
pmix_status_t px_task_open_streams(struct px_task *task, int fds[3],
                                   struct px_err *err);
/* Ends it at once, with what is on its way. Idempotent. */
void px_task_output_drop(struct px_task_output *o);
/* Ends an output whose stream has come to its end. */
void px_task_output_ended(struct px_task_output *o);
void px_task_mark_output(struct px_task *task); /* its pid is known now */
/* Shows where the processes of a job go, if that is asked for: on stdout the map, on
 * stderr the bindings. */
pmix_status_t px_job_show_seats(struct px_launch_job *job, struct px_err *err);

/* Where the input of a process comes from (input.c). *fd is what it gets as stdin; with
 * a terminal, of which our end is given, it has that already. */
pmix_status_t px_job_open_input(struct px_launch_job *job, struct px_err *err);
pmix_status_t px_task_open_input(struct px_task *task, int *fd, int terminal,
                                 struct px_err *err);
void px_job_close_input(struct px_launch_job *job);       /* none reads any more */
struct px_feed *px_task_feed(const struct px_task *task); /* NULL: none */

/* The streams of processes for others, as the host module's functions (forward.c). */
pmix_status_t px_iof_pull(const pmix_proc_t procs[], size_t n_procs,
                          const pmix_info_t directives[], size_t n,
                          pmix_iof_channel_t channels, pmix_op_cbfunc_t cb,
                          void *cbdata);
pmix_status_t px_iof_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                          size_t n_targets, const pmix_info_t directives[],
                          size_t n_directives, const pmix_byte_object_t *bytes,
                          pmix_op_cbfunc_t cb, void *cbdata);

/* When a limit of its time is over (debug/timeout.c): reports on its processes as the
 * job has asked for, which may take some seconds, then calls then. */
void px_job_report_timeout(struct px_launch_job *job,
                           void (*then)(struct px_launch_job *job));
/* No more of it. */
void px_job_drop_traces(struct px_launch_job *job);

/* PMIx_Abort, as the host module's function (abort.c). */
pmix_status_t px_abort(const pmix_proc_t *proc, void *object, int status,
                       const char msg[], pmix_proc_t procs[], size_t n,
                       pmix_op_cbfunc_t cb, void *cbdata);

/* ---- jobs that a spawn or a connect has joined (family.c) ------------------------ */

/* Those that hear of a failure. */
typedef struct px_kin {
    pmix_proc_t *v;
    size_t n, cap;
    bool stay; /* some of them go on: programs that take any event for their end should
                  not */
} px_kin;

static inline void px_kin_cleanup(px_kin *k)
{
    free(k->v);
}

/* A process of the job has failed, which the job survives or not: marks the jobs that
 * end by that as failing, and lists those that are connected with it. Without memory
 * for the list it has as many as there was memory for. */
pmix_status_t px_family_find(struct px_launch_job *job, const pmix_proc_t *culprit,
                             bool survived, px_kin *kin);
/* Has the parent, or one of its processes, spawned the child, and are they still
 * connected, so that one ends when the other is ended by order? */
bool px_family_has(const struct px_launch_job *parent,
                   const struct px_launch_job *child);

/* ---- how they end ---------------------------------------------------------------- */

/* To those that still run. */
void px_task_signal(struct px_task *task, int signum);
/* SIGTERM, and SIGKILL when it does not end; its job need not end with it. */
void px_task_end(struct px_task *task);
void px_job_signal(struct px_launch_job *job, int signum);
/* SIGTERM asks the job to end, and SIGKILL follows when it does not; its children too.
 * verdict counts if nothing has gone wrong before. */
void px_job_end(struct px_launch_job *job, int signum, pmix_status_t verdict);
/* Something has gone wrong: reports it, and ends the job, or lets it go on if that is
 * what was asked for. Its first failure is the one that counts for the job. */
void px_job_fail(struct px_launch_job *job, const struct px_failure *failure);
/* All run: answers. Failures that came meanwhile have their effect now. */
void px_job_launched(struct px_launch_job *job);
/* A launch has failed: ends what was started, without events, then answers. */
void px_job_abandon(struct px_launch_job *job, pmix_status_t status);
/* A process was not started after all, and nothing is left of it. */
void px_job_task_failed(struct px_task *task, pmix_status_t status);

/* Ends all jobs; call is done when they have ended, or will not. */
void px_launcher_end_jobs(struct px_call *call, void *launcher);
void px_launcher_fini(struct px_launcher *l);

#endif
