/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in host and its jobs: the processes of jobs, how jobs end, and the effects
 * of an end. Loop thread only. The server uses px_host_builtin only
 * (core/server/host.h). */
#ifndef PX_HOST_JOB_H
#define PX_HOST_JOB_H

#include "core/base/list.h"
#include "core/base/str.h"
#include "core/host/files/files.h"
#include "core/host/pubs/pubs.h"
#include "core/host/request/plan.h"
#include "core/host/request/queue.h"
#include "core/host/streams/streams_input.h"
#include "core/iof/stream.h"
#include "core/rt/process.h"
#include "pmix_server.h"
#include "tenon/pfexec.h"

#include <sys/stat.h>

struct px_alloc;
struct px_call;
struct px_server;

/* ---- jobs ------------------------------------------------------------------------ */

/* State of the built-in host. */
struct px_launcher {
    struct px_server *server;
    struct px_loop *loop;
    struct px_model *model;
    const struct px_module *pfexec;      /* NULL: nothing can be started */
    const struct tenon_spawner *spawner; /* of jobs elsewhere; NULL: jobs run here */
    struct px_pubs pubs;
    struct px_queue queue;
    struct px_list jobs;          /* px_launch_job.link, oldest first */
    struct px_list pauses;        /* control.c */
    struct px_list allocs;        /* px_alloc.link, oldest first */
    const struct px_iof_std *std; /* our own streams; NULL before the first job */
    uint64_t grace_ms;            /* between TERM and KILL */
    uint64_t notice_ms;           /* between the event of a failure and TERM */
    uint64_t debug_timeout_ms;    /* of a stop for a debugger; 0: no limit */
    bool output_required;         /* a job ends if its output cannot be written */
    bool offers_pmi;              /* processes get a socket for PMI-1 and PMI-2 */
    uint64_t preload_limit_b;
    struct px_pfexec_limit limits[2]; /* of processes: see builtin.c */
    size_t n_limits;
    unsigned n_jobs;   /* started so far; part of a job's name */
    uint32_t n_ranks;  /* started so far; the session's rank of the next process */
    unsigned n_tools;  /* named so far */
    unsigned n_allocs; /* so far; part of an allocation's name */
    struct px_timer *starts; /* runs in the turn after a start; NULL before the first */
    unsigned n_starts;       /* in this turn of the loop; see may_start */
    unsigned starts_at_once; /* of one job, without a result */
    uint64_t n_turns;        /* with starts, before this turn */
    uint64_t last_start;     /* the turn of the loop */
    uint64_t n_pauses;       /* after starts, for other jobs */
    bool stopping;
    struct px_call *waiter;    /* of px_launcher_end_jobs */
    struct px_timer *deadline; /* of the waiter */
};

struct px_task_output {
    struct px_task *task;
    struct px_stream *stream;      /* NULL: ended */
    struct px_output_tap *tap;     /* for tools that pull the output; NULL: none */
    struct px_output_tap *forward; /* for the process that spawned the job, or NULL */
    struct px_file *file;          /* copy, or the only destination; NULL: none */
    uint64_t n_b;                  /* bytes that the process has written */
};

/* Sizes of an abort's message, and of a failure's text with such a message. */
enum { PX_ABORT_TEXT_B = 4096, PX_FAILURE_B = PX_ABORT_TEXT_B + 512 };

/* The failure of a job or of one process. */
struct px_failure {
    pmix_status_t status;    /* PMIX_SUCCESS: no failure */
    pmix_status_t verdict;   /* on the job */
    pmix_rank_t rank;        /* PMIX_RANK_UNDEF: none in particular */
    pmix_nspace_t nspace;    /* of that rank; "": this job's */
    bool whole;              /* ends also a job that survives failed processes */
    int exit_code;           /* not 0 for a failure */
    char text[PX_FAILURE_B]; /* "killed by signal 9 (Killed)" */
};

/* Restarts of a process that failed. */
struct px_restart {
    uint32_t n;    /* times so far */
    bool pending;  /* the process counts as running before it is started again */
    bool due;      /* the pause is over */
    bool by_order; /* the last restart is not the effect of a failure */
    struct px_timer *timer;
    struct px_failure failure; /* the last failure */
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
    bool named, aborted;        /* named in an abort; asked to end by one */
    bool was_lost;              /* its connection broke before the abort */
    bool ends;                  /* ended by order: is not started again */
    bool again;                 /* killed by order, and is started again */
    unsigned n_pauses;          /* orders to pause that last */
    unsigned stopped;           /* bits of enum px_stop that were reached */
    unsigned held;              /* stops without a release so far */
    struct px_restart *restart; /* NULL: no failure so far */
    struct px_timer *timer;     /* until the process is killed; NULL: none */
    struct px_pmi *pmi;         /* its socket for PMI-1 and PMI-2; NULL: none (pmi/) */
    struct px_task_output outputs[2]; /* stdout, stderr */
};

/* The order matters: a job only moves on. */
enum px_job_stage {
    /* Steps of a launch, in the order of the table in launch.c. */
    PX_JOB_NSPACE,  /* registers the namespace */
    PX_JOB_FABRIC,  /* waits for fabric components */
    PX_JOB_CLIENTS, /* registers the processes */
    PX_JOB_PARENT,  /* connects the job with its parent */
    PX_JOB_NAMES,   /* names the files of the job */
    PX_JOB_MAP,     /* shows where processes go */
    PX_JOB_FILES,   /* makes the files */
    PX_JOB_INPUT,   /* opens the input */
    PX_JOB_TASKS,   /* starts the processes */

    PX_JOB_RUNNING,
    PX_JOB_NOTIFIED, /* ends when handlers of its failure have had some time */
    PX_JOB_TERM,     /* was asked to end */
    PX_JOB_KILL,     /* was killed */
    PX_JOB_ENDED,    /* was reported; kept for queries */
};

struct px_launch_job {
    struct px_list link;
    struct px_launcher *launcher;
    pmix_proc_t proc;    /* name, rank WILDCARD */
    unsigned number;     /* among the jobs of this host, from 1 */
    pmix_proc_t parent;  /* process that asked for the job */
    bool parent_is_here; /* the parent was this host's, or connected, at the request */
    px_plan plan;
    struct px_alloc *alloc; /* in which the job runs; NULL: on the whole node */
    struct px_task *tasks;
    uint32_t n_tasks;
    uint32_t n_slots;       /* of the queue, that the job has taken */
    uint32_t first;         /* rank in the session of the job's rank 0 */
    enum px_job_stage step; /* of the launch, in progress; PX_JOB_RUNNING: all done */
    enum px_job_stage end;  /* PX_JOB_NOTIFIED or later; 0: the job does not end */
    uint32_t n_done;        /* ranks that the step in progress has handled */
    bool yields;            /* the step goes on with other ranks in the next turn */
    px_infos description;   /* until fabric components have it */
    struct px_server_setup *setup; /* pending work of fabric components; NULL: none */
    uint32_t n_begun, n_starting;  /* PX_JOB_TASKS: starts; starts without a result */
    bool announced;                /* the start of the first process was reported */
    bool crowded; /* more processes than CPUs were on this node at the launch */
    uint32_t n_running, n_streams;    /* running: or starting */
    struct px_map pmi_keys;           /* key of PMI -> rank that has put it, + 1 */
    uint32_t n_pmi_waits;             /* processes that wait for such a key */
    struct px_task_output notices[2]; /* the map and the bindings, on their way out */
    struct px_feed *feeds; /* of all processes, or of the only one that reads input */
    size_t n_feeds;
    struct px_input *input; /* our stdin for the feeds; NULL: not read here */
    struct px_files files;
    char *dir;                     /* for scratch files; NULL: none */
    struct stat dir_is;            /* st_ino 0: not made yet */
    struct px_timer *timer;        /* of the stage */
    struct px_timer *limit;        /* of the time to run; NULL: no limit */
    uint64_t limit_ms;             /* when that time is over; 0: no limit */
    struct px_timer *held_limit;   /* of stops for a debugger; NULL: no limit */
    struct px_traces *traces;      /* while they are made; NULL: none */
    unsigned reported;             /* receivers of the end: enum px_event_receivers */
    bool unwritten;                /* output was lost, and that was reported */
    bool failing;                  /* ends with a failed job; see px_family_find */
    struct px_failure failure;     /* the first */
    struct px_failure unconfirmed; /* perhaps the first; see px_job_fail */
    struct px_timer *unconfirmed_timer;
    pmix_status_t verdict; /* PMIX_SUCCESS: no failure */
    /* The launch is answered when all processes have been started, or nothing is left
     * of a launch that failed or was ended by order. */
    pmix_status_t launch_status; /* reason for the failure; PMIX_SUCCESS: none */
    pmix_spawn_cbfunc_t launch_cb;
    void *launch_cbdata;
};

static inline enum px_job_stage px_job_stage(const struct px_launch_job *job)
{
    return job->end ? job->end : job->step;
}

static inline bool px_job_is_launching(const struct px_launch_job *job)
{
    return px_job_stage(job) < PX_JOB_RUNNING;
}

static inline pmix_proc_t px_task_name(const struct px_task *task)
{
    pmix_proc_t name = task->job->proc;

    name.rank = task->rank;
    return name;
}

pmix_status_t px_job_create(struct px_launcher *l, const pmix_proc_t *parent,
                            px_plan *plan, /* takes it */
                            struct px_launch_job **job);
struct px_launch_job *px_job_find(const struct px_launcher *l, const char *nspace);
struct px_task *px_task_find(const struct px_launcher *l, const pmix_proc_t *proc);
/* True for a process, and for all processes of a job (PMIX_RANK_WILDCARD). */
bool px_launcher_has(const struct px_launcher *l, const pmix_proc_t *proc);
char **px_task_argv(const struct px_task *task); /* malloc'd; NULL: no memory */
/* Return the folder for scratch files of all jobs, and of a process; malloc'd. NULL: no
 * folder, or no memory. */
char *px_job_top_dir(const struct px_launch_job *job);
static inline char *px_task_dir(const struct px_task *task)
{
    return task->job->dir ? px_strf("%s/%u", task->job->dir, task->rank) : NULL;
}
enum { PX_FEW_FOLDERS = 8 }; /* processes whose folders need no child process */
/* Makes the folders of a process and of its job that do not exist. A failure is
 * logged. */
void px_task_make_dir(const struct px_task *task);

/* Returns the process that asked for the job; NULL for the program of this host. */
const pmix_proc_t *px_job_parent(const struct px_launch_job *job);
/* Returns the number of processes on this node once the job runs. */
uint32_t px_job_node_size(const struct px_launch_job *job);
/* Add the information of a job without its processes, and then of each process
 * (describe.c). */
pmix_status_t px_job_describe(px_infos *out, const struct px_launch_job *job);
pmix_status_t px_task_describe(px_infos *out, const struct px_task *task);
/* Raises the soft limit of descriptors to what n more processes need, as far as the
 * hard limit permits (builtin.c). */
void px_launcher_make_room(struct px_launcher *l, uint32_t n);

/* PMIx_Spawn: a function of the host module (launch.c). In the end either all processes
 * run, or nothing of the job is left. */
pmix_status_t px_launch(const pmix_proc_t *proc, const pmix_info_t info[],
                        size_t n_info, const pmix_app_t apps[], size_t n_apps,
                        pmix_spawn_cbfunc_t cb, void *cbdata);
/* px_queue.start of this host (launch.c). arg: the launcher. */
void px_launch_queued(void *arg, const struct px_asked *asked, uint32_t n_slots,
                      uint64_t left_ms);
/* Refuses other users than ours and root: their processes would run as ours. verb is
 * for the log. May return PMIX_ERR_NO_PERMISSIONS. */
pmix_status_t px_host_check_user(const pmix_proc_t *proc, const pmix_info_t *info,
                                 size_t n, const char *verb);
/* Begins to start one process of a job. The result is reported on the loop. */
pmix_status_t px_task_start(struct px_task *task, struct px_err *err);
/* Undoes the steps of a launch that has not finished, without events. Returns early
 * while processes run: the end of the last process calls this function again. Then the
 * launch is answered, and the job is gone. */
void px_job_abandon(struct px_launch_job *job, pmix_status_t status);

/* Callbacks of a started process. arg is the task, and its px_task_output. */
void px_job_task_ended(void *arg, pid_t pid, int wait_status,
                       const struct rusage *usage);
void px_job_stream_ended(void *arg);

extern const char *const px_channel_names[2]; /* stdout, stderr */
/* Lists the files that the job needs (files/list.c). */
pmix_status_t px_job_list_files(struct px_launch_job *job, struct px_err *err);
/* Opens the streams of a process (output.c). fds become its stdin, stdout, stderr, of
 * which two may be the same; -1: none. The caller closes them, except its own stdin. */
pmix_status_t px_task_open_streams(struct px_task *task, int fds[3],
                                   struct px_err *err);
/* Ends an output at once, and drops pending bytes. Idempotent. */
void px_task_output_drop(struct px_task_output *o);
/* Ends an output whose stream has ended. */
void px_task_output_ended(struct px_task_output *o);
/* Adds the pid, known by now, to the origin of further output. */
void px_task_mark_output(struct px_task *task);
/* Shows where the processes of a job are placed, if the plan asks for that. The map
 * goes to stdout, the bindings go to stderr. */
pmix_status_t px_job_show_positions(struct px_launch_job *job, struct px_err *err);

/* Drops all output of a job. Idempotent. */
void px_job_silence(struct px_launch_job *job);

/* Input of processes (host_input.c). *fd becomes the stdin of the task. terminal: our
 * end of the terminal that is the stdin of the task already, or -1. */
pmix_status_t px_job_open_input(struct px_launch_job *job, struct px_err *err);
pmix_status_t px_task_open_input(struct px_task *task, int *fd, int terminal,
                                 struct px_err *err);
void px_job_close_input(struct px_launch_job *job);       /* idempotent */
struct px_feed *px_task_feed(const struct px_task *task); /* NULL: none */

/* Restarts of processes that fail (restart.c). The first function plans a restart.
 * False: the process stays ended. */
bool px_restart_plan(struct px_task *task, const struct px_failure *failure);
/* Starts the process again if its pause is over and its output has ended. */
void px_restart_go_on(struct px_task *task);
/* Reports a process that runs again, or why it cannot. Does nothing for a process that
 * starts for the first time. */
void px_restart_started(struct px_task *task, pmix_status_t status, const char *why);
/* Ends the pause of a process whose job ends. */
void px_restart_drop(struct px_task *task);
/* Frees the record of earlier lives. */
void px_restart_forget(struct px_task *task);

/* Forwarding of streams: functions of the host module (forward.c). */
pmix_status_t px_iof_pull(const pmix_proc_t procs[], size_t n_procs,
                          const pmix_info_t directives[], size_t n,
                          pmix_iof_channel_t channels, pmix_op_cbfunc_t cb,
                          void *cbdata);
pmix_status_t px_iof_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                          size_t n_targets, const pmix_info_t directives[],
                          size_t n_directives, const pmix_byte_object_t *bytes,
                          pmix_op_cbfunc_t cb, void *cbdata);

/* Processes that stop for a debugger (debug/debug.c). */
bool px_task_stops(const struct px_task *task, enum px_stop where);
/* True if the plan has processes that stop. */
bool px_plan_stops(const px_plan *plan);
/* Records that a process has reached a breakpoint, and begins the time limit. Notifies
 * the debugger when the last process of the job has reached that breakpoint. */
void px_task_stopped(struct px_task *task, enum px_stop where);
/* Handles the event by which a process reports that it has reached a breakpoint. */
void px_task_is_ready(struct px_task *task, const pmix_info_t *info, size_t n);
/* True if a process still waits at the end of the time limit, and no debugger is
 * attached. why becomes the text of the failure. Begins the limit again otherwise. */
bool px_job_is_held(struct px_launch_job *job, char *why, size_t size);
/* Handles the event by which a debugger releases the processes in its range. */
void px_debug_released(struct px_launcher *l, const pmix_info_t *info, size_t n);
/* Reports on the processes of a job that has timed out, in the form that its plan
 * names. Calls then afterwards; the report may take some seconds. */
void px_job_report_timeout(struct px_launch_job *job,
                           void (*then)(struct px_launch_job *job));
/* Ends the report. */
void px_job_drop_traces(struct px_launch_job *job);

/* PMIx_Job_control: a function of the host module (control.c). */
pmix_status_t px_host_control(const pmix_proc_t *requestor, const pmix_proc_t targets[],
                              size_t n_targets, const pmix_info_t directives[],
                              size_t n, pmix_info_cbfunc_t cb, void *cbdata);
void px_pauses_fini(struct px_launcher *l);

/* PMIx_Abort: a function of the host module (abort.c). */
pmix_status_t px_abort(const pmix_proc_t *proc, void *object, int status,
                       const char msg[], pmix_proc_t procs[], size_t n,
                       pmix_op_cbfunc_t cb, void *cbdata);

/* ---- events (events.c) ----------------------------------------------------------- */

/* Sends an event about a job. Returns the number of other processes that are notified.
 * done: see px_server_event_on; NULL: receivers may miss the event. */
size_t px_job_event(const struct px_launch_job *job, pmix_status_t code,
                    const pmix_proc_t *source, pmix_data_range_t range,
                    const struct px_fact *facts, size_t n, unsigned *done);
/* Notifies the process that asked for the job of a step of the launch, or of a
 * breakpoint that its processes have reached. breakpoint: NULL for other events. */
void px_job_announce(const struct px_launch_job *job, pmix_status_t code,
                     const char *breakpoint);

/* Notifies the process that asked for the job of the end of one of its processes. */
void px_task_announce_end(const struct px_task *task, const struct px_failure *failure);

/* ---- jobs that are connected by a spawn or a connect (family.c) ------------------ */

/* Processes that are notified of a failure. */
typedef struct px_kin {
    pmix_proc_t *v;
    size_t n, cap;
    bool stay; /* some go on: only handlers of the event's code are notified */
} px_kin;

static inline void px_kin_cleanup(px_kin *k)
{
    free(k->v);
}

/* Marks the jobs that end by the failure of a process as failing, and lists the
 * processes that are connected with the job. Without memory the list is incomplete. */
pmix_status_t px_family_find(struct px_launch_job *job, const pmix_proc_t *culprit,
                             bool survived, px_kin *kin);
/* True if the parent job has spawned the child, and both are still connected. Then an
 * order that ends the parent ends the child. */
bool px_family_has(const struct px_launch_job *parent,
                   const struct px_launch_job *child);

/* ---- the end of jobs ------------------------------------------------------------- */

/* Sends a signal to a process that still runs. */
void px_task_signal(struct px_task *task, int signum);
/* Sends SIGTERM, and SIGKILL if the process does not end. The job may go on. */
void px_task_end(struct px_task *task);
void px_job_signal(struct px_launch_job *job, int signum);
/* Ends a job and its children: SIGTERM, and SIGKILL for processes that do not end; or
 * SIGKILL at once. verdict counts unless there is a failure already. */
void px_job_end(struct px_launch_job *job, int signum, pmix_status_t verdict);
/* Answer a launch. After a success, failures of processes take effect now. After the
 * undos, the job is freed. */
void px_job_launched(struct px_launch_job *job);
void px_job_undone(struct px_launch_job *job);
/* Ends the job after its last process has ended, all output is written, and the reason
 * of a failure is known. */
void px_job_check_finished(struct px_launch_job *job);
/* Handles a start that has failed, and left nothing. */
void px_job_task_failed(struct px_task *task, pmix_status_t status);

/* ---- failures (failure.c) -------------------------------------------------------- */

/* Returns the failure of an ended process; status PMIX_SUCCESS: no failure. */
struct px_failure px_task_judge(const struct px_task *task);
/* Reports a failure, and ends the job unless its plan survives failures. Only the first
 * failure counts. */
void px_job_fail(struct px_launch_job *job, const struct px_failure *failure);
/* Ends a job whose time is over. why is the text of the failure. The job must not
 * have ended. */
void px_job_end_by_limit(struct px_launch_job *job, const char *why);
/* Reports a failure, or the end of a job, to handlers of this process and of kin, which
 * may be empty. end: receivers that have the report of an end; NULL: a failure. Returns
 * the number of other processes that are notified. */
size_t px_job_report(const struct px_launch_job *job, const struct px_failure *f,
                     const px_kin *kin, unsigned *end);
/* Makes the timers of a job for its time limits and for a failure that is not
 * confirmed. */
pmix_status_t px_job_set_limits(struct px_launch_job *job);

/* ---- the end of all jobs --------------------------------------------------------- */

/* Ends all jobs. call is done when all have ended, or the time for that is over. */
void px_launcher_end_jobs(struct px_call *call, void *launcher);
void px_launcher_fini(struct px_launcher *l);

#endif
