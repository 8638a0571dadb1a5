/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of PMIx_Job_control. An order is a row of a table. A request has one order,
 * and is checked before the order is carried out. A pause is kept until the pause is
 * cancelled, or its processes are resumed. */
#include "core/host/job.h"

#include <signal.h>
#include <string.h>

#include "core/base/vec.h"
#include "core/server/host.h"

#define MAX_PAUSES 1024u /* the oldest are forgotten, and cannot be cancelled */

struct pause {
    struct px_list link; /* in px_launcher.pauses, oldest first */
    pmix_proc_t requestor;
    char *id; /* NULL: none */
    pmix_proc_t *targets;
    size_t n_targets;
};

struct order {
    const struct row *row;
    const pmix_proc_t *requestor;
    const pmix_proc_t *targets; /* each a process or a job of this host */
    size_t n_targets;
    const pmix_value_t *value; /* of the directive */
    const char *id;
    int signum;
};

struct row {
    const char *key;
    int signum;
    bool ends; /* the order has to end the job, or the process for good */
    bool free; /* needs no targets */
    /* Checks the value. NULL: the value is a truth value. */
    pmix_status_t (*check)(struct px_launcher *l, struct order *o, struct px_err *err);
    pmix_status_t (*act)(struct px_launcher *l, const struct order *o,
                         struct px_err *err);
};

/* ---- processes ------------------------------------------------------------------- */

static bool covers(const pmix_proc_t *target, const pmix_proc_t *proc)
{
    return strcmp(target->nspace, proc->nspace) == 0 &&
           (target->rank == PMIX_RANK_WILDCARD || proc->rank == PMIX_RANK_WILDCARD ||
            target->rank == proc->rank);
}

/* Calls fn for each process of the targets. */
static void each_task(struct px_launcher *l, const pmix_proc_t *targets, size_t n,
                      void (*fn)(struct px_task *task))
{
    for (size_t i = 0; i < n; i++) {
        struct px_launch_job *job = px_job_find(l, targets[i].nspace);

        for (uint32_t r = 0; job && r < job->n_tasks; r++)
            if (targets[i].rank == PMIX_RANK_WILDCARD || targets[i].rank == r)
                fn(&job->tasks[r]);
    }
}

/* Signals processes or jobs. A process that ends by the signal counts as any other
 * end. */
static pmix_status_t send_signal(struct px_launcher *l, const struct order *o,
                                 struct px_err *err PX_UNUSED)
{
    for (size_t i = 0; i < o->n_targets; i++) {
        struct px_launch_job *job = px_job_find(l, o->targets[i].nspace);
        struct px_task *task = px_task_find(l, &o->targets[i]);

        if (task) {
            task->ends |= o->row->ends;
            px_task_signal(task, o->signum);
        } else if (o->row->ends) {
            px_job_end(job, o->signum, PMIX_ERR_JOB_KILLED_BY_CMD);
        } else {
            px_job_signal(job, o->signum);
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t check_signal(struct px_launcher *l PX_UNUSED, struct order *o,
                                  struct px_err *err)
{
    int64_t number = 0;

    if (!px_value_to_i64(o->value, &number) || number < 1 || number >= NSIG)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot send signal %lld: expected 1 to %d in %s",
                          (long long)number, NSIG - 1, o->row->key);
    o->signum = (int)number;
    return PMIX_SUCCESS;
}

/* ---- pauses ---------------------------------------------------------------------- */

static void pause_free(struct pause *p)
{
    px_list_remove(&p->link);
    free(p->targets);
    free(p->id);
    free(p);
}

void px_pauses_fini(struct px_launcher *l)
{
    PX_LIST_EACH (&l->pauses, struct pause, p, link)
        pause_free(p);
}

static void pause_task(struct px_task *task)
{
    task->n_pauses++;
    /* The program of a job elsewhere passes SIGTSTP and SIGCONT on. */
    px_task_signal(task, task->job->plan.n_slots ? SIGTSTP : SIGSTOP);
}

static void resume_task(struct px_task *task)
{
    task->n_pauses = 0;
    px_task_signal(task, SIGCONT);
}

/* Ends one of the pauses of a process. */
static void unpause_task(struct px_task *task)
{
    if (task->n_pauses > 0 && --task->n_pauses == 0)
        px_task_signal(task, SIGCONT);
}

static pmix_status_t stop(struct px_launcher *l, const struct order *o,
                          struct px_err *err PX_UNUSED)
{
    struct pause *p = calloc(1, sizeof(*p));

    if (!p)
        return PMIX_ERR_NOMEM;
    px_list_append(&l->pauses, &p->link);
    p->requestor = *o->requestor;
    p->n_targets = o->n_targets;
    p->id = o->id ? strdup(o->id) : NULL;
    if ((o->id && !p->id) ||
        px_type_copy_array(PMIX_PROC, (void **)&p->targets, o->targets, o->n_targets)) {
        pause_free(p);
        return PMIX_ERR_NOMEM;
    }
    each_task(l, o->targets, o->n_targets, pause_task);
    if (px_list_length(&l->pauses) > MAX_PAUSES)
        pause_free(PX_CONTAINER_OF(l->pauses.next, struct pause, link));
    return PMIX_SUCCESS;
}

/* Resumes processes, whatever has paused them. */
static pmix_status_t resume(struct px_launcher *l, const struct order *o,
                            struct px_err *err PX_UNUSED)
{
    each_task(l, o->targets, o->n_targets, resume_task);
    PX_LIST_EACH (&l->pauses, struct pause, p, link) {
        bool over = false;

        for (size_t i = 0; !over && i < p->n_targets; i++)
            for (size_t k = 0; !over && k < o->n_targets; k++)
                over = covers(&o->targets[k], &p->targets[i]);
        if (over)
            pause_free(p);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t check_cancel(struct px_launcher *l PX_UNUSED, struct order *o,
                                  struct px_err *err)
{
    return o->value->type == PMIX_STRING || o->value->type == PMIX_UNDEF
               ? PMIX_SUCCESS
               : px_err_set(err, PMIX_ERR_BAD_PARAM, "%s has no id: got %s",
                            o->row->key, PMIx_Data_type_string(o->value->type));
}

/* Ends the requestor's pauses of that id. Other orders are carried out at once. */
static pmix_status_t cancel(struct px_launcher *l, const struct order *o,
                            struct px_err *err)
{
    const char *id = px_value_string(o->value);
    size_t n = 0;

    if (id && !id[0]) /* all requests of the requestor; dialects lack a NULL string */
        id = NULL;
    PX_LIST_EACH (&l->pauses, struct pause, p, link) {
        if (!px_proc_same(&p->requestor, o->requestor) ||
            (id && (!p->id || strcmp(p->id, id) != 0)))
            continue;
        each_task(l, p->targets, p->n_targets, unpause_task);
        pause_free(p);
        n++;
    }
    return n > 0 || !id
               ? PMIX_SUCCESS
               : px_err_set(err, PMIX_ERR_NOT_FOUND,
                            "cannot cancel request %.255s: it is unknown, or was "
                            "carried out",
                            id);
}

/* ---- restarts -------------------------------------------------------------------- */

static pmix_status_t check_restart(struct px_launcher *l, struct order *o,
                                   struct px_err *err)
{
    const char *checkpoint = px_value_string(o->value);

    if (checkpoint && checkpoint[0])
        return px_err_set(err, PMIX_ERR_NOT_FOUND,
                          "cannot restart from checkpoint %.255s: this host makes no "
                          "checkpoints; an empty name starts the program again",
                          checkpoint);
    for (size_t i = 0; i < o->n_targets; i++) {
        const struct px_launch_job *job = px_job_find(l, o->targets[i].nspace);

        if (job->plan.n_slots)
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                              "cannot restart processes of %s: they run elsewhere",
                              job->proc.nspace);
        if (job->end || px_job_is_launching(job))
            return px_err_set(err, PMIX_ERR_NOT_AVAILABLE,
                              "cannot restart processes of %s: the job %s",
                              job->proc.nspace, job->end ? "ends" : "starts");
    }
    return PMIX_SUCCESS;
}

/* Kills a process. The host's report of the end starts the process again. */
static void restart_task(struct px_task *task)
{
    if (!task->running || task->ends)
        return;
    task->again = true;
    px_task_signal(task, SIGKILL);
}

static pmix_status_t restart(struct px_launcher *l, const struct order *o,
                             struct px_err *err PX_UNUSED)
{
    each_task(l, o->targets, o->n_targets, restart_task);
    return PMIX_SUCCESS;
}

/* ---- process sets ---------------------------------------------------------------- */

static pmix_status_t check_set(struct px_launcher *l PX_UNUSED, struct order *o,
                               struct px_err *err)
{
    const char *name = px_value_string(o->value);

    return name && name[0] && strlen(name) <= PMIX_MAX_NSLEN
               ? PMIX_SUCCESS
               : px_err_set(err, PMIX_ERR_BAD_PARAM,
                            "%s has no name of 1 to %d bytes: got %s", o->row->key,
                            PMIX_MAX_NSLEN, PMIx_Data_type_string(o->value->type));
}

/* Defines a set of the targets. */
static pmix_status_t define_set(struct px_launcher *l, const struct order *o,
                                struct px_err *err)
{
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    size_t n = 0, cap = 0;
    pmix_status_t rc;

    for (size_t i = 0; i < o->n_targets; i++) {
        const struct px_launch_job *job = px_job_find(l, o->targets[i].nspace);

        for (uint32_t r = 0; r < job->n_tasks; r++) {
            pmix_proc_t *p = o->targets[i].rank == PMIX_RANK_WILDCARD ||
                                     o->targets[i].rank == r
                                 ? px_vec_add(&procs, &n, &cap)
                                 : NULL;

            if (p)
                px_proc_set(p, job->proc.nspace, r);
        }
    }
    if (n == 0)
        return PMIX_ERR_NOMEM;
    rc = px_server_define_set(l->server, px_value_string(o->value), procs, n,
                              o->requestor->nspace);
    return rc ? px_err_set(err, rc, "cannot define the process set %.255s: %s",
                           px_value_string(o->value), PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* ---- requests -------------------------------------------------------------------- */

static const struct row rows[] = {
    {.key = PMIX_JOB_CTRL_KILL, .signum = SIGKILL, .ends = true, .act = send_signal},
    {.key = PMIX_JOB_CTRL_TERMINATE,
     .signum = SIGTERM,
     .ends = true,
     .act = send_signal},
    {.key = PMIX_JOB_CTRL_SIGNAL, .check = check_signal, .act = send_signal},
    {.key = PMIX_JOB_CTRL_PAUSE, .act = stop},
    {.key = PMIX_JOB_CTRL_RESUME, .act = resume},
    {.key = PMIX_JOB_CTRL_RESTART, .check = check_restart, .act = restart},
    {.key = PMIX_JOB_CTRL_DEFINE_PSET, .check = check_set, .act = define_set},
    {.key = PMIX_JOB_CTRL_CANCEL, .free = true, .check = check_cancel, .act = cancel},
};

static const struct row *find_row(const pmix_info_t *info)
{
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (PMIx_Check_key(info->key, rows[i].key))
            return &rows[i];
    return NULL;
}

/* Reads the order of a request. */
static pmix_status_t read_order(const pmix_info_t *info, size_t n, struct order *o,
                                struct px_err *err)
{
    static const char family[] = "pmix.jctrl.";
    const char *unknown = NULL;

    o->id = px_info_str(info, n, PMIX_JOB_CTRL_ID);
    for (size_t i = 0; i < n; i++) {
        const struct row *row = find_row(&info[i]);

        if (!row && strncmp(info[i].key, family, strlen(family)) == 0 &&
            !PMIx_Check_key(info[i].key, PMIX_JOB_CTRL_ID))
            unknown = info[i].key;
        if (!row || (!row->check && !px_value_truth(&info[i].value)))
            continue;
        if (o->row && o->row != row)
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "cannot carry out two orders in one request: %s and %s",
                              o->row->key, row->key);
        o->row = row;
        o->value = &info[i].value;
        o->signum = row->signum;
    }
    if (unknown || !o->row)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "the built-in host cannot carry out %.255s",
                          unknown ? unknown : "a request without an order");
    return PMIX_SUCCESS;
}

/* Lists the jobs that a request without targets is for: the requestor's, or all jobs of
 * the server. */
static pmix_status_t own_jobs(const struct px_launcher *l, struct order *o,
                              pmix_proc_t **jobs)
{
    const bool from_server = px_proc_same(o->requestor, px_server_name(l->server));
    size_t n = 0, cap = 0;

    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link) {
        pmix_proc_t *p;

        if (!from_server && strcmp(job->proc.nspace, o->requestor->nspace) != 0)
            continue;
        p = px_vec_add(jobs, &n, &cap);
        if (!p)
            return PMIX_ERR_NOMEM;
        *p = job->proc;
    }
    o->targets = *jobs;
    o->n_targets = n;
    return PMIX_SUCCESS;
}

static pmix_status_t serve(struct px_launcher *l, struct order *o,
                           const pmix_info_t *info, size_t n, struct px_err *err)
{
    PX_AUTOFREE pmix_proc_t *jobs = NULL;
    pmix_status_t rc = read_order(info, n, o, err);

    for (size_t i = 0; !rc && i < o->n_targets; i++)
        if (!px_launcher_has(l, &o->targets[i]))
            rc = px_err_set(err, PMIX_ERR_NOT_FOUND,
                            "rank %lld of %.255s is not a process of this host",
                            o->targets[i].rank == PMIX_RANK_WILDCARD
                                ? -1
                                : (long long)o->targets[i].rank,
                            o->targets[i].nspace);
    if (!rc && o->n_targets == 0)
        rc = own_jobs(l, o, &jobs);
    if (!rc && o->n_targets == 0 && !o->row->free)
        return PMIX_SUCCESS; /* the requestor has no job */
    if (!rc && o->row->check)
        rc = o->row->check(l, o, err);
    return rc ? rc : o->row->act(l, o, err);
}

/* True if a tool orders the end of a server that stays: such an order has no targets.
 * The same order of a process ends the process's own job. */
static bool ends_server(const struct px_launcher *l, const struct order *o,
                        const pmix_info_t *info, size_t n)
{
    return l->queue.n_slots > 0 && o->n_targets == 0 &&
           px_info_flag(info, n, PMIX_JOB_CTRL_TERMINATE) &&
           !px_proc_same(o->requestor, px_server_name(l->server)) &&
           !px_job_find(l, o->requestor->nspace);
}

/* Notifies the program of this host, which ends the server. */
static pmix_status_t end_server(const struct px_launcher *l, const struct order *o,
                                const pmix_info_t *info, size_t n)
{
    PX_AUTO(px_infos) infos = {0};
    const struct px_fact fact = {PMIX_NSPACE, px_server_name(l->server)->nspace,
                                 PMIX_STRING};
    pmix_status_t rc = px_host_check_user(o->requestor, info, n, "end the server");

    if (!rc)
        rc = px_facts_add(&infos, &fact, 1);
    if (!rc)
        (void)px_server_event(l->server, PMIX_ERR_JOB_KILLED_BY_CMD, o->requestor,
                              PMIX_RANGE_PROC_LOCAL, infos.v, infos.n);
    return rc;
}

pmix_status_t px_host_control(const pmix_proc_t *requestor, const pmix_proc_t targets[],
                              size_t n_targets, const pmix_info_t directives[],
                              size_t n, pmix_info_cbfunc_t cb, void *cbdata)
{
    struct order o = {
        .requestor = requestor, .targets = targets, .n_targets = n_targets};
    struct px_launcher *l = px_server_builtin_self();
    struct px_err err = {0};
    pmix_info_t why;
    pmix_status_t rc = ends_server(l, &o, directives, n)
                           ? end_server(l, &o, directives, n)
                           : serve(l, &o, directives, n, &err);

    if (!rc)
        return PMIX_OPERATION_SUCCEEDED;
    if (!err.status ||
        PMIx_Info_load(&why, PMIX_EVENT_TEXT_MESSAGE, err.text, PMIX_STRING))
        return rc;
    cb(rc, &why, 1, cbdata, NULL, NULL);
    PMIx_Info_destruct(&why);
    return PMIX_SUCCESS;
}
