/* SPDX-License-Identifier: BSD-3-Clause */
/* A request to spawn, checked and worked out: all that can be found wrong with it, but
 * by the processes themselves, is found before anything is started. */
#ifndef PX_HOST_PLAN_H
#define PX_HOST_PLAN_H

#include "core/base/err.h"
#include "core/host/place/place.h"
#include "core/host/request/stops.h"
#include "core/iof/format.h"
#include "pmix_types.h"

#include <sys/ioctl.h>
#include <termios.h>

/* Processes of one job: a typing error must not bring the node down. */
#define PX_MAX_TASKS 16384u

/* The way of the output of an application's processes. */
struct px_output_plan {
    struct px_iof_way way;
    enum {
        PX_FILES_NONE,
        PX_FILES_DIR,     /* path/namespace/rank.N/stdout, stderr */
        PX_FILES_RANK,    /* path.N, for both */
        PX_FILES_CHANNEL, /* path.namespace.N.stdout, .stderr */
    } files;
    bool is_pattern; /* with CHANNEL: path.stdout, where path has %n, %r, %h and %% */
    bool files_only; /* nothing goes on to stdout and stderr */
    bool path_of_app;
    char *path; /* absolute */
};

/* One application of a job, ready to be started. */
struct px_app_plan {
    char *program; /* path */
    char **argv;
    char **env; /* without what each rank has of its own */
    char *cwd;  /* as asked for; NULL: that of this process */
    uint32_t n;
    uint32_t first;        /* rank */
    bool in_job_dir;       /* cwd is the job's folder, once there is one */
    bool indexed;          /* argv[0] tells the rank */
    bool preloaded;        /* a copy of the program runs, in the job's folder */
    char **preload;        /* files to copy there: absolute paths; NULL: none */
    bool non_pmi;          /* is told nothing of its server */
    uint32_t max_restarts; /* of each process that fails */
    struct px_output_plan output;
    pmix_iof_channel_t forwards; /* channels that go to the process that asks */
    bool pty;                    /* its processes have a terminal */
    struct termios *termios;     /* of it; NULL: as the library has it */
    struct winsize *winsize;
    struct px_placement placement; /* where its processes go */
    struct px_stops stops[PX_N_STOPS];
    bool daemons;                /* of a debugger: no part of the applications here */
    uint32_t per_node, per_proc; /* so many of them; 0: as many as are asked for */
    pmix_proc_t target;          /* what they look at; without namespace: nothing */
    uint32_t n_targets;
    enum { PX_INPUT_NONE, PX_INPUT_OF_JOB, PX_INPUT_OWN } input; /* as asked for */
};

/* The arguments of PMIx_Spawn. */
struct px_spawn_request {
    const struct px_model *model;
    const pmix_info_t *info;
    size_t n_info;
    const pmix_app_t *apps;
    size_t n_apps;
    /* The new job inherits its environment and directory; NULL: this process's. */
    const struct px_app_plan *parent;
    bool own;                  /* by the program that has this host */
    struct px_place_node node; /* what runs here already; no topology yet */
};

typedef struct px_plan {
    struct px_app_plan *apps;
    size_t n_apps;
    uint32_t n_tasks;
    struct px_position *positions; /* of each rank; NULL: no wish needs that */
    bool binds;                    /* processes are bound as the seats say */
    bool shows_map, shows_bindings;
    char **preload;         /* all files and programs to copy, each once; NULL: none */
    pmix_rank_t stdin_rank; /* PMIX_RANK_UNDEF: none has it; WILDCARD: all have */
    bool has_target;        /* that rank was asked for */
    bool stdin_pushed;      /* by others; else it is our own */
    bool detached;          /* outlives its parent */
    bool notify;            /* the parent wants an event at the end */
    bool job_events;        /* and at the beginning */
    /* Either way it goes on without processes that fail. */
    bool recoverable, continuous;
    /* seconds; 0: no limit */
    bool reports_state, traces_stacks;        /* when one of these is over */
    uint32_t limit_s;                         /* of the job */
    uint32_t launch_limit_s, request_limit_s; /* of its launch: the lower counts */
} px_plan;

pmix_status_t px_plan_make(px_plan *plan, const struct px_spawn_request *request,
                           struct px_err *err);
void px_plan_cleanup(px_plan *plan);

/* Do its processes count among those of the node? Daemons of debuggers do not. */
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

/* Read the attributes of a request (attributes.c): those of the job; of one
 * application, whose environment is complete but for them; do the applications agree?
 * One that is required and cannot be done is PMIX_ERR_NOT_SUPPORTED, else a line in the
 * log. */
pmix_status_t px_attributes_of_job(px_plan *plan, const struct px_spawn_request *req,
                                   struct px_err *err);
pmix_status_t px_attributes_of_app(px_plan *plan, struct px_app_plan *app,
                                   const pmix_app_t *asked,
                                   const struct px_spawn_request *req,
                                   struct px_err *err);
/* Files for output, and to be copied (files.c): as an attribute of the job, or of one
 * application, says; and all of those to be copied. */
pmix_status_t px_plan_files(struct px_app_plan *app, const pmix_info_t *info,
                            bool of_app, const struct px_spawn_request *req,
                            struct px_err *err);
pmix_status_t px_plan_preload(px_plan *plan, struct px_err *err);
pmix_status_t px_attributes_agree(const struct px_spawn_request *req,
                                  struct px_err *err);
/* The keys of those that are known, from the first on; NULL: that was all. */
const char *px_attribute_key(size_t i);
/* Read a directive on where processes go (px_placement_read); carry all of them out
 * (seating.c). */
pmix_status_t px_plan_placement(struct px_app_plan *app, const pmix_info_t *info,
                                struct px_err *err);
/* So many processes as are asked for of each object, where no number is said. */
pmix_status_t px_plan_count(struct px_app_plan *app, struct px_err *err);
pmix_status_t px_plan_positions(px_plan *plan, const struct px_spawn_request *req,
                                struct px_err *err);

#endif
