/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in host: starts, watches and ends jobs on this node. To the server this
 * host is a module of functions like any other host. All processes belong to one user,
 * who may signal them anyway. */
#include "core/host/job.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/os/proc.h"
#include "core/base/strv.h"
#include "core/config/core_params.h"
#include "core/config/param.h"
#include "core/host/alloc.h"
#include "core/model/resources.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/host.h"

#define PX_MAX_CLUSTER 63u /* leaves room for namespaces behind it */

/* Descriptors of this process, and for each process that this host starts. */
enum { OWN_FDS = 64, PROCESS_FDS = 6 };

static struct px_launcher *launcher(void)
{
    return px_server_builtin_self();
}

/* ---- processes, data, events ---------------------------------------------------- */

static pmix_status_t host_connected(const pmix_proc_t *proc, void *object PX_UNUSED,
                                    pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                                    pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    struct px_task *task = px_task_find(launcher(), proc);

    if (task) {
        if (task->job->launcher->queue.n_slots > 0) /* others have their folders */
            px_task_make_dir(task);
        task->connected = true;
        task->finalized = false;
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_finalized(const pmix_proc_t *proc, void *object PX_UNUSED,
                                    pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    struct px_launcher *l = launcher();
    struct px_task *task = px_task_find(l, proc);

    if (task) {
        task->finalized = true;
    } else { /* not started by this host, which will not see the process end */
        px_pubs_gone(&l->pubs, proc);
        if (!px_job_find(l, proc->nspace))
            px_alloc_owner_gone(l, proc->nspace);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/* Completes at once: this node is the only one, so all data has been collected. */
static pmix_status_t host_fence(const pmix_proc_t procs[] PX_UNUSED,
                                size_t n_procs PX_UNUSED,
                                const pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                                char *data, size_t size, pmix_modex_cbfunc_t cb,
                                void *cbdata)
{
    cb(PMIX_SUCCESS, data, size, cbdata, free, data);
    return PMIX_SUCCESS;
}

static pmix_status_t host_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                  size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    return px_pubs_publish_in_turns(&launcher()->pubs, proc, info, n, cb, cbdata);
}

static pmix_status_t host_lookup(const pmix_proc_t *proc, char **keys,
                                 const pmix_info_t info[], size_t n,
                                 pmix_lookup_cbfunc_t cb PX_UNUSED, void *cbdata)
{
    return px_pubs_lookup(&launcher()->pubs, proc, keys, info, n, px_server_found,
                          cbdata);
}

static pmix_status_t host_unpublish(const pmix_proc_t *proc, char **keys,
                                    const pmix_info_t info[], size_t n,
                                    pmix_op_cbfunc_t cb, void *cbdata)
{
    return px_pubs_unpublish_in_turns(&launcher()->pubs, proc, keys, info, n, cb,
                                      cbdata);
}

/* Completes at once: all participants are on this node, and the server does the
 * rest. */
static pmix_status_t host_connect(const pmix_proc_t procs[] PX_UNUSED,
                                  size_t n_procs PX_UNUSED,
                                  const pmix_info_t info[] PX_UNUSED,
                                  size_t n PX_UNUSED, pmix_op_cbfunc_t cb PX_UNUSED,
                                  void *cbdata PX_UNUSED)
{
    return PMIX_OPERATION_SUCCEEDED;
}

/* Notifies no further process: all processes are on this node. */
static pmix_status_t host_notify(pmix_status_t code, const pmix_proc_t *source,
                                 pmix_data_range_t range PX_UNUSED, pmix_info_t info[],
                                 size_t n, pmix_op_cbfunc_t cb PX_UNUSED,
                                 void *cbdata PX_UNUSED)
{
    struct px_task *task = px_task_find(launcher(), source);

    if (task && code == PMIX_READY_FOR_DEBUG)
        px_task_is_ready(task, info, n);
    if (code == PMIX_DEBUGGER_RELEASE)
        px_debug_released(launcher(), info, n);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Names a tool that brings no name. Each such tool gets a namespace of its own. */
static pmix_status_t host_tool_connected(pmix_info_t info[], size_t n,
                                         pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    struct px_launcher *l = launcher();
    const char *nspace = px_info_str(info, n, PMIX_NSPACE);
    char made[PMIX_MAX_NSLEN + 1];
    pmix_proc_t name;

    px_proc_set(&name, nspace ? nspace : "", px_info_u32(info, n, PMIX_RANK, 0));
    while (!nspace && (!name.nspace[0] || px_server_has_peer(l->server, &name) ||
                       px_nspace_find(l->model, name.nspace))) {
        snprintf(made, sizeof(made), "tool-%u-of-%.200s", ++l->n_tools,
                 px_server_name(l->server)->nspace);
        px_proc_set(&name, made, 0);
    }
    cb(PMIX_SUCCESS, &name, cbdata);
    return PMIX_SUCCESS;
}

/* Drops the requests of a tool that wait for slots, and ends its tied jobs. Removes the
 * tool's entries and allocations, unless the tool has the name of a job here. */
static void tool_left(void *self, const pmix_proc_t *tool)
{
    struct px_launcher *l = self;

    if (!px_job_find(l, tool->nspace)) {
        px_pubs_tool_gone(&l->pubs, tool);
        px_alloc_owner_gone(l, tool->nspace);
    }
    px_queue_drop(&l->queue, tool, PMIX_ERR_LOST_CONNECTION);
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        if (job->plan.tied && px_proc_same(&job->parent, tool))
            px_job_end(job, SIGTERM, PMIX_ERR_JOB_KILLED_BY_CMD);
}

/* ---- queries -------------------------------------------------------------------- */

/* Fills the row of a process. The row borrows all texts. */
static bool describe(void *self, pmix_proc_info_t *row)
{
    const struct px_launcher *l = self;
    const struct px_task *task = px_task_find(l, &row->proc);

    if (!task)
        return false;
    row->hostname = l->model->hostname;
    row->executable_name = task->job->plan.apps[task->app].program;
    row->pid = task->pid;
    row->exit_code = task->running ? 0 : task->wait_status;
    if (!task->pid)
        row->state = PMIX_PROC_STATE_LAUNCH_UNDERWAY;
    else if (task->running)
        row->state = task->connected ? PMIX_PROC_STATE_CONNECTED
                                     : PMIX_PROC_STATE_RUNNING;
    else if (task->restart && task->restart->pending)
        row->state = PMIX_PROC_STATE_RESTART;
    else
        row->state = task->wait_status == 0 ? PMIX_PROC_STATE_TERMINATED
                                            : PMIX_PROC_STATE_ABORTED;
    return true;
}

static bool describe_output(void *self, const pmix_proc_t *proc, uint64_t *bytes)
{
    const struct px_task *task = px_task_find(self, proc);

    if (task)
        *bytes = task->outputs[0].n_b + task->outputs[1].n_b;
    return task != NULL;
}

/* Returns the command lines of a plan, "a b : c"; malloc'd, or NULL. */
static char *join_commands(const px_plan *plan)
{
    PX_AUTO(px_strv) words = NULL;

    for (size_t i = 0; i < plan->n_apps; i++) {
        if (i > 0 && px_strv_append(&words, ":"))
            return NULL;
        for (char **arg = plan->apps[i].argv; arg && *arg; arg++)
            if (px_strv_append(&words, *arg))
                return NULL;
    }
    return px_strv_join(words, ' ');
}

static bool describe_job(void *self, const char *nspace, struct px_host_job *out)
{
    const struct px_launch_job *job = px_job_find(self, nspace);
    uint64_t now_ms = px_clock_ms();

    if (!job)
        return false;
    *out = (struct px_host_job){.is_active = job->end != PX_JOB_ENDED,
                                .left_ms = UINT64_MAX,
                                .command = join_commands(&job->plan)};
    if (!out->is_active)
        out->status = job->verdict ? job->verdict : PMIX_EVENT_JOB_END;
    else if (job->limit_ms)
        out->left_ms = job->limit_ms > now_ms ? job->limit_ms - now_ms : 0;
    if (px_alloc_left(job->alloc, now_ms) < out->left_ms)
        out->left_ms = px_alloc_left(job->alloc, now_ms);
    return true;
}

bool px_launcher_has(const struct px_launcher *l, const pmix_proc_t *proc)
{
    return proc->rank == PMIX_RANK_WILDCARD ? px_job_find(l, proc->nspace) != NULL
                                            : px_task_find(l, proc) != NULL;
}

/* Data of other nodes is not found: the module has no direct_modex. */
static const pmix_server_module_t functions = {
    .client_connected2 = host_connected,
    .client_finalized = host_finalized,
    .abort = px_abort,
    .fence_nb = host_fence,
    .publish = host_publish,
    .lookup = host_lookup,
    .unpublish = host_unpublish,
    .spawn = px_launch,
    .connect = host_connect,
    .disconnect = host_connect,
    .notify_event = host_notify,
    .job_control = px_host_control,
    .allocate = px_allocate,
    .tool_connected2 = host_tool_connected,
    .iof_pull = px_iof_pull,
    .push_stdin = px_iof_push,
};

/* Sets PMIX_CLUSTER_ID for every job. */
static pmix_status_t name_cluster(struct px_model *m, const char *name,
                                  struct px_err *err)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc;

    if (!name || !name[0])
        return PMIX_SUCCESS;
    if (strchr(name, ':') || strlen(name) > PX_MAX_CLUSTER)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "embedded_cluster_id \"%s\": a name of at most %u bytes "
                          "without a colon is expected",
                          name, PX_MAX_CLUSTER);
    rc = px_infos_add(&infos, PMIX_CLUSTER_ID, name, PMIX_STRING);
    return rc ? rc : px_resources_set(m, infos.v, infos.n);
}

/* ---- life ----------------------------------------------------------------------- */

/* Adds the resource limit that tags our processes. The janitor finds their descendants
 * by the tag, also in other sessions. */
static void add_rlimit_tag(struct px_launcher *l)
{
    struct px_pfexec_limit tag = {.resource = PX_OSPROC_TAG_RESOURCE, .optional = true};
    struct px_osproc_stat st = {0};
    struct rlimit now;

    if (getrlimit(PX_OSPROC_TAG_RESOURCE, &now) < 0 || !px_osproc_stat(getpid(), &st))
        return;
    tag.limit.rlim_max = px_osproc_rlimit_tag(getpid(), st.start, now.rlim_max);
    tag.limit.rlim_cur = now.rlim_cur < tag.limit.rlim_max ? now.rlim_cur
                                                           : tag.limit.rlim_max;
    if (tag.limit.rlim_max > 0)
        l->limits[l->n_limits++] = tag;
}

/* Keeps the first limit for the processes, which may use select(). */
void px_launcher_make_room(struct px_launcher *l, uint32_t n)
{
    rlim_t needed = OWN_FDS + PROCESS_FDS * (rlim_t)n;
    struct rlimit now;
    bool kept = l->n_limits > 0 && l->limits[l->n_limits - 1].resource == RLIMIT_NOFILE;

    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        needed += PROCESS_FDS * (rlim_t)job->n_running;
    if (getrlimit(RLIMIT_NOFILE, &now) < 0 || now.rlim_cur >= needed ||
        now.rlim_cur >= now.rlim_max)
        return;
    const struct px_pfexec_limit old = {.resource = RLIMIT_NOFILE, .limit = now};
    now.rlim_cur = needed < now.rlim_max ? needed : now.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &now) < 0)
        px_log(PX_LOG_WARN, "spawn",
               "cannot raise the limit of descriptors to %llu: %m",
               (unsigned long long)now.rlim_cur);
    else if (!kept)
        l->limits[l->n_limits++] = old;
}

/* Returns the number of processes that may start at once: some for each CPU keep the
 * machine busy, and more would delay other programs. */
static unsigned count_starts(void)
{
    enum { OF_CPU = 2, MOST = 16 };
    cpu_set_t cpus;
    int n = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? OF_CPU * CPU_COUNT(&cpus)
                                                           : MOST;

    return n < MOST ? (unsigned)n : MOST;
}

static pmix_status_t builtin_create(struct px_server *srv, const pmix_info_t *info,
                                    size_t n_info, pmix_server_module_t *module,
                                    void **self, struct px_err *err)
{
    const pmix_info_t *spawner = px_info_find(info, n_info, TENON_SERVER_SPAWNER);
    struct px_launcher *l = malloc(sizeof(*l));
    struct px_host_builtin_conf conf = {0};
    size_t n;

    if (!l)
        return px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
    pmix_status_t rc = px_params_parse(px_process.params, "embedded_",
                                       px_host_builtin_params, &conf, err);
    if (!rc)
        rc = name_cluster(px_process.model, conf.cluster_id, err);
    if (rc) {
        free(l);
        return rc;
    }
    const struct px_module *m = px_modules("pfexec", &n);
    *l = (struct px_launcher){.server = srv,
                              .loop = px_process.loop,
                              .model = px_process.model,
                              .pfexec = n > 0 ? m : NULL,
                              .spawner = spawner && spawner->value.type == PMIX_POINTER
                                             ? spawner->value.data.ptr
                                             : NULL,
                              .grace_ms = conf.grace,
                              .notice_ms = conf.notice,
                              .debug_timeout_ms = conf.debug_timeout,
                              .preload_limit_b = conf.preload_limit,
                              .output_required = conf.output_required,
                              .offers_pmi = conf.pmi,
                              .queue = {.loop = px_process.loop,
                                        .n_slots = (uint32_t)conf.slots,
                                        .start = px_launch_queued,
                                        .arg = l},
                              .starts_at_once = count_starts()};
    px_list_init(&l->jobs);
    px_list_init(&l->pauses);
    px_list_init(&l->queue.waiting);
    px_list_init(&l->allocs);
    px_pubs_init(&l->pubs, l->loop);
    add_rlimit_tag(l);
    px_launcher_make_room(l, 0);
    *module = functions;
    *self = l;
    return PMIX_SUCCESS;
}

static void builtin_end_jobs(void *self)
{
    struct px_launcher *l = self;

    (void)px_call(l->loop, px_launcher_end_jobs, l);
}

static void builtin_destroy(void *self)
{
    px_launcher_fini(self);
    px_alloc_fini(self);
    free(self);
}

static const struct px_support support[] = {
    {"PMIx_Spawn",
     "PMIX_ALLOC_NOT_WAITING,PMIX_WDIR,PMIX_SET_SESSION_CWD,PMIX_PREFIX,PMIX_HOST,"
     "PMIX_HOSTFILE,PMIX_ADD_HOST,PMIX_ADD_HOSTFILE,PMIX_SET_ENVAR,"
     "PMIX_ADD_ENVAR,PMIX_UNSET_ENVAR,PMIX_PREPEND_ENVAR,"
     "PMIX_APPEND_ENVAR,PMIX_FWD_ENVIRONMENT,PMIX_FWD_STDIN,"
     "PMIX_FWD_STDOUT,PMIX_FWD_STDERR,PMIX_FWD_STDDIAG,PMIX_TAG_OUTPUT,"
     "PMIX_IOF_TAG_OUTPUT,PMIX_IOF_TAG_FULLNAME_OUTPUT,"
     "PMIX_IOF_TAG_DETAILED_OUTPUT,"
     "PMIX_IOF_RANK_OUTPUT,PMIX_TIMESTAMP_OUTPUT,"
     "PMIX_IOF_TIMESTAMP_OUTPUT,PMIX_MERGE_STDERR_STDOUT,"
     "PMIX_IOF_MERGE_STDERR_STDOUT,PMIX_OUTPUT_TO_FILE,"
     "PMIX_OUTPUT_TO_DIRECTORY,PMIX_OUTPUT_NOCOPY,"
     "PMIX_IOF_OUTPUT_TO_FILE,PMIX_IOF_OUTPUT_TO_DIRECTORY,"
     "PMIX_SPAWN_PTY,PMIX_PTY_TERMIO,PMIX_PTY_WSIZE,PMIX_IOF_XML_OUTPUT,PMIX_IOF_OUTPUT_RAW,PMIX_IOF_BUFFERING_SIZE,"
     "PMIX_IOF_BUFFERING_TIME,PMIX_IOF_FILE_PATTERN,PMIX_IOF_FILE_ONLY,PMIX_PRELOAD_BIN,"
     "PMIX_PRELOAD_FILES,PMIX_STDIN_TGT,PMIX_CMD_LINE,"
     "PMIX_MAPBY,PMIX_RANKBY,PMIX_BINDTO,PMIX_PPR,PMIX_MAPPER,"
     "PMIX_CPUS_PER_PROC,PMIX_CPU_LIST,PMIX_NO_OVERSUBSCRIBE,"
     "PMIX_DISPLAY_MAP,PMIX_REPORT_BINDINGS,PMIX_INDEX_ARGV,"
     "PMIX_NON_PMI,PMIX_SPAWN_CHILD_SEP,PMIX_NOTIFY_COMPLETION,"
     "PMIX_NOTIFY_JOB_EVENTS,PMIX_DEBUG_STOP_ON_EXEC,"
     "PMIX_DEBUGGER_DAEMONS,PMIX_DEBUG_TARGET,PMIX_DEBUG_DAEMONS_PER_NODE,PMIX_DEBUG_DAEMONS_PER_PROC,"
     "PMIX_DEBUG_STOP_IN_INIT,PMIX_DEBUG_STOP_IN_APP,"
     "PMIX_JOB_RECOVERABLE,PMIX_JOB_CONTINUOUS,PMIX_MAX_RESTARTS,"
     "PMIX_TIMEOUT_REPORT_STATE,PMIX_TIMEOUT_STACKTRACES,PMIX_JOB_TIMEOUT,"
     "PMIX_SPAWN_TIMEOUT,PMIX_TIMEOUT,PMIX_PERSONALITY,PMIX_ALLOC_ID,"
     "PMIX_FIRST_ENVAR,PMIX_EXEC_AGENT,PMIX_NOTIFY_PROC_TERMINATION,"
     "PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION,PMIX_EVENT_SILENT_TERMINATION,PMIX_NOHUP"},
    {"PMIx_Publish",
     "PMIX_RANGE,PMIX_PERSISTENCE,PMIX_ACCESS_PERMISSIONS,PMIX_ACCESS_USERIDS,"
     "PMIX_ACCESS_GRPIDS"},
    {"PMIx_Lookup", "PMIX_RANGE,PMIX_WAIT,PMIX_TIMEOUT"},
    {"PMIx_Unpublish", "PMIX_RANGE"},
    {"PMIx_Allocation_request",
     "PMIX_ALLOC_ID,PMIX_ALLOC_REQ_ID,PMIX_ALLOC_NUM_CPUS,PMIX_ALLOC_NUM_CPU_LIST,"
     "PMIX_ALLOC_CPU_LIST,PMIX_ALLOC_NUM_NODES,PMIX_ALLOC_NODE_LIST,PMIX_ALLOC_TIME,"
     "PMIX_ALLOC_NOT_WAITING"},
    {"PMIx_Job_control",
     "PMIX_JOB_CTRL_KILL,PMIX_JOB_CTRL_TERMINATE,PMIX_JOB_CTRL_SIGNAL,"
     "PMIX_JOB_CTRL_PAUSE,PMIX_JOB_CTRL_RESUME,PMIX_JOB_CTRL_RESTART,"
     "PMIX_JOB_CTRL_DEFINE_PSET,PMIX_JOB_CTRL_CANCEL,PMIX_JOB_CTRL_ID"},
};

const struct px_builtin_host px_host_builtin = {
    .create = builtin_create,
    .end_jobs = builtin_end_jobs,
    .destroy = builtin_destroy,
    .tool_left = tool_left,
    .describe = describe,
    .job = describe_job,
    .output = describe_output,
    .allocation = px_alloc_describe,
    .support = support,
    .n_support = PX_COUNT(support),
};
