/* SPDX-License-Identifier: BSD-3-Clause */
/* A checked spawn request. Only errors that depend on the started processes are found
 * later. */
#ifndef PX_HOST_PLAN_H
#define PX_HOST_PLAN_H

#include "core/base/env_edit.h"
#include "core/base/err.h"
#include "core/host/place/place.h"
#include "core/iof/format.h"
#include "pmix_types.h"

#include <sys/ioctl.h>
#include <termios.h>

/* Processes of one job. The bound protects the node from a typing error. */
#define PX_MAX_TASKS 16384u
/* Bounds on the request of another process: applications; infos, where those of the job
 * count for each application; strings of all arguments and variables; their bytes, as
 * exec counts them. */
#define PX_MAX_SPAWN_APPS    1024u
#define PX_MAX_SPAWN_INFOS   2048u
#define PX_MAX_SPAWN_STRINGS 16384u
#define PX_MAX_SPAWN_B       (2u * 1024u * 1024u)

enum px_stop {
    PX_STOP_ON_EXEC, /* at the first instruction */
    PX_STOP_IN_INIT,
    PX_STOP_IN_APP, /* where the program calls for it */
    PX_N_STOPS,
};

/* Ranks of one application that stop at one breakpoint of a debugger. */
struct px_stops {
    bool all;
    bool of_app;        /* set by the application instead of the job */
    pmix_rank_t *ranks; /* malloc'd */
    size_t n;
};

/* Destination of the output of an application's processes. */
struct px_output_plan {
    struct px_iof_way way;
    enum {
        PX_FILES_NONE,
        PX_FILES_DIR,     /* path/namespace/rank.N/stdout, stderr */
        PX_FILES_RANK,    /* path.N, for both */
        PX_FILES_CHANNEL, /* path.namespace.N.stdout, .stderr */
    } files;
    bool is_pattern; /* with CHANNEL: path.stdout, where path has %n, %r, %h and %% */
    bool files_only; /* stdout and stderr get nothing */
    bool path_of_app;
    char *path; /* absolute */
};

/* Application of a job, ready to be started. */
struct px_app_plan {
    char *program; /* path */
    char *agent;   /* as requested: program that starts the application; NULL: none.
                    * program and argv are those of the agent then */
    char **argv;
    char **env;          /* without the variables of each rank */
    px_env_edit changes; /* env until the attributes are read */
    char *cwd;           /* from the request; NULL: this process's directory */
    uint32_t n;
    uint32_t first;        /* first rank */
    bool in_job_dir;       /* cwd is the job's folder, once made */
    bool indexed;          /* argv[0] names the rank */
    bool preloaded;        /* runs a copy of the program in the job's folder */
    char **preload;        /* files to copy there: absolute paths; NULL: none */
    bool non_pmi;          /* environment has no variables of the server */
    uint32_t max_restarts; /* for each process that fails */
    struct px_output_plan output;
    pmix_iof_channel_t forwards; /* channels forwarded to the requester */
    bool pty;                    /* processes get a terminal */
    struct termios *termios;     /* of the terminal; NULL: default */
    struct winsize *winsize;
    struct px_placement placement; /* directives for its processes */
    struct px_stops stops[PX_N_STOPS];
    bool daemons;                /* debugger daemons; not counted among applications */
    uint32_t per_node, per_proc; /* numbers of daemons; 0: maxprocs counts */
    pmix_proc_t target;          /* debugged processes; without namespace: none */
    uint32_t n_targets;
    enum {
        PX_INPUT_NONE,
        PX_INPUT_OF_JOB,
        PX_INPUT_OWN
    } input; /* source of the
                                                                  * request */
};

/* Arguments of PMIx_Spawn. */
struct px_spawn_request {
    const struct px_model *model;
    const pmix_info_t *info;
    size_t n_info;
    const pmix_app_t *apps;
    size_t n_apps;
    /* Application whose environment and directory the new job inherits; NULL: this
     * process. */
    const struct px_app_plan *parent;
    bool own;                  /* requested by the program that runs this host */
    bool confined;             /* an allocation has the usable CPUs of node */
    struct px_place_node node; /* processes that run here already; no topology yet */
};

typedef struct px_plan {
    struct px_app_plan *apps;
    size_t n_apps;
    uint32_t n_tasks;
    uint32_t n_slots;              /* of a job elsewhere; 0: the processes run here */
    bool may_exceed;               /* n_slots may be more than the host has */
    struct px_position *positions; /* for each rank; NULL: no directive needs
                                    * positions */
    bool binds;                    /* processes are bound to the positions */
    bool shows_map, shows_bindings;
    char **preload;         /* all files and programs to copy, each once; NULL: none */
    char *command;          /* command that the requester names; NULL: none */
    pmix_rank_t stdin_rank; /* PMIX_RANK_UNDEF: no rank reads input; WILDCARD: all
                             * ranks */
    bool has_target;        /* stdin_rank was requested */
    bool stdin_pushed;      /* other processes push the input; otherwise our own
                             * stdin */
    bool no_wait;           /* is refused if slots are taken */
    bool detached;          /* outlives its parent */
    bool tied;              /* ends with the tool that asked */
    bool notify;            /* the parent wants an event at the end */
    bool job_events;        /* the parent wants an event at the start */
    bool silent;            /* the parent wants no event at a normal end */
    /* The parent wants an event at the end of each process, or of each failed one. */
    bool proc_ends, proc_failures;
    /* Both let the job go on without failed processes. */
    bool recoverable, continuous;
    /* Limits in seconds; 0: no limit. */
    bool reports_state, traces_stacks;        /* reports at a timeout */
    uint32_t limit_s;                         /* for the job */
    uint32_t launch_limit_s, request_limit_s; /* for the launch: the lower one counts */
} px_plan;

pmix_status_t px_plan_make(px_plan *plan, const struct px_spawn_request *request,
                           struct px_err *err);
void px_plan_cleanup(px_plan *plan);

/* True if the processes count among those of the node. Debugger daemons do not
 * count. */
static inline bool px_plan_counts(const px_plan *plan)
{
    for (size_t i = 0; i < plan->n_apps; i++)
        if (!plan->apps[i].daemons)
            return true;
    return false;
}

static inline bool px_plan_goes_on(const px_plan *plan)
{
    return plan->recoverable || plan->continuous;
}

/* Read the attributes of a request (attributes.c), for the job or for one application
 * whose changes of the environment begin with its own variables. px_attributes_agree
 * checks that applications do not contradict each other on attributes of the whole job.
 * An unsupported attribute is PMIX_ERR_NOT_SUPPORTED if required, otherwise a line in
 * the log. */
pmix_status_t px_attributes_of_job(px_plan *plan, const struct px_spawn_request *req,
                                   struct px_err *err);
pmix_status_t px_attributes_of_app(px_plan *plan, struct px_app_plan *app,
                                   const pmix_app_t *asked,
                                   const struct px_spawn_request *req,
                                   struct px_err *err);
/* Read an attribute about output files or files to copy (files.c). px_plan_preload
 * lists all files to copy. */
pmix_status_t px_plan_files(struct px_app_plan *app, const pmix_info_t *info,
                            bool of_app, const struct px_spawn_request *req,
                            struct px_err *err);
pmix_status_t px_plan_preload(px_plan *plan, struct px_err *err);
pmix_status_t px_attributes_agree(const struct px_spawn_request *req,
                                  struct px_err *err);
/* True if name, up to len, means this node, whose name is here. Accepts "host:slots"
 * and a name without domain. */
bool px_host_is_here(const char *here, const char *name, size_t len);
/* Returns the key of attribute i; NULL after the last attribute. */
const char *px_attribute_key(size_t i);
/* Read a placement directive (px_placement_read), and place all processes
 * (positions.c). */
pmix_status_t px_plan_placement(struct px_app_plan *app, const pmix_info_t *info,
                                struct px_err *err);
/* Sets the number of processes from a number per object, if the request has no
 * number. */
pmix_status_t px_plan_count(struct px_app_plan *app, const struct px_spawn_request *req,
                            struct px_err *err);
pmix_status_t px_plan_positions(px_plan *plan, const struct px_spawn_request *req,
                                struct px_err *err);

#endif
