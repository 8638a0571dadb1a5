/* SPDX-License-Identifier: BSD-3-Clause */
/* Report on a job that has timed out: the states of its processes and their stacks. A
 * debugger of the system prints the stacks. */
#include "core/host/job.h"

#include <signal.h>
#include <stdio.h>

#include "core/base/path.h"
#include "core/os/proc.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "frameworks/framework.h"
#include "tenon/pfexec.h"

extern char **environ;

/* A debugger takes about a second for a process. */
enum { STACKS_TIMEOUT_MS = 10000 };

/* Report of stacks, one process after the other. */
struct px_traces {
    struct px_launch_job *job;
    uint32_t next; /* next rank */
    const char *const *args;
    char *program;
    pid_t pid; /* running debugger; 0: none */
    struct px_timer *timer;
    void (*then)(struct px_launch_job *job);
};

/* ---- states ---------------------------------------------------------------------- */

static const char *state_of(const struct px_task *task)
{
    return !task->pid                                ? "not started"
           : task->restart && task->restart->pending ? "to be started again"
           : !task->running                          ? "ended"
           : task->finalized                         ? "running, finalized"
           : task->connected                         ? "running, connected"
                                                     : "running, not connected";
}

static void report_states(const struct px_launch_job *job)
{
    struct px_osproc_stat st;

    for (uint32_t r = 0; r < job->n_tasks; r++) {
        const struct px_task *task = &job->tasks[r];
        bool known = task->running && px_osproc_stat(task->pid, &st);

        px_log(PX_LOG_WARN, "spawn", "rank %u of %s, pid %ld: %s%s%c", r,
               job->proc.nspace, (long)task->pid, state_of(task),
               known ? ", to the system " : "", known ? st.state : ' ');
    }
}

/* ---- stacks ---------------------------------------------------------------------- */

static void drop_child(struct px_traces *t)
{
    const struct px_module *m = t->job->launcher->pfexec;

    if (t->pid) {
        (void)PX_OPS(pfexec, m)->signal(m->self, t->pid, SIGKILL);
        PX_OPS(pfexec, m)->forget(m->self, t->pid);
    }
    t->pid = 0;
}

void px_job_drop_traces(struct px_launch_job *job)
{
    struct px_traces *t = px_take(&job->traces);

    if (!t)
        return;
    drop_child(t);
    px_timer_free(t->timer);
    free(t->program);
    free(t);
}

static void finish(struct px_traces *t)
{
    struct px_launch_job *job = t->job;
    void (*then)(struct px_launch_job * job) = t->then;

    px_job_drop_traces(job);
    then(job);
}

static void trace_next(struct px_traces *t);

static void on_traced(void *arg, pid_t pid PX_UNUSED, int wait_status PX_UNUSED,
                      const struct rusage *usage PX_UNUSED)
{
    struct px_traces *t = arg;

    t->pid = 0;
    trace_next(t);
}

static void on_started(void *arg, pid_t pid PX_UNUSED, pmix_status_t status,
                       const char *why)
{
    struct px_traces *t = arg;

    if (!status)
        return;
    px_log(PX_LOG_WARN, "spawn", "%s", why);
    t->pid = 0;
    trace_next(t);
}

/* Runs the debugger on a process. The output goes to stderr, like lines of the log. */
static pmix_status_t trace(struct px_traces *t, const struct px_task *task)
{
    const struct px_module *m = t->job->launcher->pfexec;
    PX_AUTOFREE char *pid = px_strf("%ld", (long)task->pid);
    PX_AUTO(px_strv) argv = NULL;
    pmix_status_t rc = pid ? px_strv_append(&argv, t->program) : PMIX_ERR_NOMEM;
    char why[256] = "";

    for (size_t i = 0; !rc && t->args[i]; i++)
        rc = px_strv_append(&argv, *t->args[i] ? t->args[i] : pid);
    const struct px_pfexec_spec spec = {.program = t->program,
                                        .argv = argv,
                                        .env = environ,
                                        .fds = {-1, STDERR_FILENO, STDERR_FILENO},
                                        .on_exit = on_traced,
                                        .on_start = on_started,
                                        .arg = t,
                                        .size = sizeof(spec)};
    px_log(PX_LOG_WARN, "spawn", "stack of rank %u of %s, pid %ld:", task->rank,
           t->job->proc.nspace, (long)task->pid);
    return rc ? rc
              : PX_OPS(pfexec, m)->spawn(m->self, &spec, &t->pid, why, sizeof(why));
}

static void trace_next(struct px_traces *t)
{
    const struct px_launch_job *job = t->job;

    while (t->next < job->n_tasks) {
        const struct px_task *task = &job->tasks[t->next++];
        pmix_status_t rc = task->running ? trace(t, task) : PMIX_ERR_NOT_FOUND;

        if (!rc)
            return;
        if (task->running)
            px_log(PX_LOG_WARN, "spawn", "cannot run %s: %s", t->program,
                   PMIx_Error_string(rc));
    }
    finish(t);
}

static void on_timeout(void *arg)
{
    struct px_traces *t = arg;

    px_log(PX_LOG_WARN, "spawn", "cannot wait longer for stacks: %s takes too long",
           t->program);
    finish(t);
}

/* Finds an installed debugger and its arguments, in which "" stands for the pid. */
static bool find_program(struct px_traces *t)
{
    static const char *const args[][8] = {
        {"eu-stack", "-p", ""},
        {"gstack", ""},
        {"pstack", ""},
        {"gdb", "-batch", "-nx", "-p", "", "-ex", "thread apply all backtrace"}};

    for (size_t i = 0; !t->program && i < PX_COUNT(args); i++) {
        (void)px_path_find_program(args[i][0], environ, NULL, &t->program, NULL);
        t->args = &args[i][1];
    }
    return t->program != NULL;
}

void px_job_report_timeout(struct px_launch_job *job,
                           void (*then)(struct px_launch_job *job))
{
    struct px_traces *t = NULL;

    if (job->plan.reports_state)
        report_states(job);
    if (job->plan.traces_stacks && !job->traces)
        job->traces = t = calloc(1, sizeof(*t));
    if (t) {
        *t = (struct px_traces){
            .job = job,
            .then = then,
            .timer = px_timer_create(job->launcher->loop, on_timeout, t)};
        if (t->timer && find_program(t)) {
            px_timer_set(t->timer, STACKS_TIMEOUT_MS);
            trace_next(t);
            return;
        }
        px_log(PX_LOG_WARN, "spawn",
               "cannot show stacks: no debugger found (expected eu-stack, gstack, "
               "pstack or gdb)");
        px_job_drop_traces(job);
    }
    then(job);
}
