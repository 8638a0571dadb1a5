/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocation ends when it is released, when its time is over, or when its owner and
 * the jobs that run there have ended. Its process set has the processes of these jobs:
 * sets do not change, so each change defines the set anew. */
#include "core/host/alloc.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/host/job.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/host.h"
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "core/types/keys.h"

#define SET_B CPU_ALLOC_SIZE(PX_MAX_CPU)

struct px_alloc {
    struct px_list link;
    struct px_launcher *launcher;
    char *id, *request_id;     /* request_id NULL: none */
    pmix_proc_t owner;         /* rank WILDCARD */
    cpu_set_t *cpus;           /* CPUs that the allocation has */
    cpu_set_t *released;       /* CPUs that the allocation had: PMIX_ALLOC_REAQUIRE */
    uint64_t begin_ms, end_ms; /* end_ms 0: no limit */
    struct px_timer *timer;
    bool over; /* the time is over, or the owner has ended */
};

/* A request that has been read. */
struct ask {
    struct px_launcher *launcher;
    const pmix_proc_t *proc;
    const char *id, *request_id;
    bool whole_node;
    uint64_t n_cpus;   /* 0: not given */
    cpu_set_t *listed; /* NULL: not given */
    uint64_t limit_s;  /* 0: not given */
};

/* ---- sets of CPUs ---------------------------------------------------------------- */

static cpu_set_t *new_set(void)
{
    return calloc(1, SET_B);
}

static uint32_t count(const cpu_set_t *set)
{
    return (uint32_t)CPU_COUNT_S(SET_B, set);
}

static void add(cpu_set_t *to, const cpu_set_t *from)
{
    CPU_OR_S(SET_B, to, to, from);
}

/* Removes the CPUs of a set from another set. */
static void subtract(cpu_set_t *from, const cpu_set_t *set)
{
    CPU_OR_S(SET_B, from, from, set);
    CPU_XOR_S(SET_B, from, from, set);
}

static bool has_all(const cpu_set_t *set, const cpu_set_t *some)
{
    for (int cpu = 0; cpu < (int)PX_MAX_CPU; cpu++)
        if (CPU_ISSET_S(cpu, SET_B, some) && !CPU_ISSET_S(cpu, SET_B, set))
            return false;
    return true;
}

/* Keeps the n first CPUs of a set. */
static void keep_first(cpu_set_t *set, uint64_t n)
{
    for (int cpu = 0; cpu < (int)PX_MAX_CPU; cpu++)
        if (CPU_ISSET_S(cpu, SET_B, set) && n-- == 0)
            for (; cpu < (int)PX_MAX_CPU; cpu++)
                CPU_CLR_S(cpu, SET_B, set);
}

static pmix_status_t add_list(cpu_set_t *to, const char *list)
{
    PX_AUTOFREE cpu_set_t *set = NULL;
    size_t size;
    pmix_status_t rc = px_cpus_mask(list, &set, &size);

    if (!rc)
        add(to, set);
    return rc;
}

/* Adds the CPUs of this node that no allocation has. */
static pmix_status_t find_free(const struct px_launcher *l, cpu_set_t *set)
{
    PX_AUTOFREE char *list = NULL;
    pmix_status_t rc = px_binding_list(getpid(), &list);

    if (!rc)
        rc = add_list(set, list);
    PX_LIST_EACH (&l->allocs, struct px_alloc, a, link)
        subtract(set, a->cpus);
    return rc;
}

/* Adds the CPUs that processes of an allocation are bound to. A process that is not
 * bound uses all CPUs. */
static pmix_status_t find_used(const struct px_alloc *a, cpu_set_t *set)
{
    pmix_status_t rc = PMIX_SUCCESS;

    PX_LIST_EACH (&a->launcher->jobs, struct px_launch_job, job, link) {
        for (uint32_t r = 0; !rc && job->alloc == a && r < job->n_tasks; r++) {
            const char *cpus = job->plan.binds ? job->plan.positions[r].cpus : NULL;

            if (job->tasks[r].running && cpus)
                rc = add_list(set, cpus);
            else if (job->tasks[r].running || px_job_is_launching(job))
                add(set, a->cpus);
        }
    }
    return rc;
}

/* ---- the life of allocations ----------------------------------------------------- */

static bool is_used(const struct px_alloc *a)
{
    PX_LIST_EACH (&a->launcher->jobs, const struct px_launch_job, job, link)
        if (job->alloc == a)
            return true;
    return false;
}

/* Defines the set of the processes of an allocation, or deletes the set if there are
 * none. */
static void define_set(const struct px_alloc *a)
{
    struct px_launcher *l = a->launcher;
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    size_t n = 0, cap = 0;
    bool complete = true;

    if (l->stopping)
        return;
    (void)px_server_delete_set(l->server, a->id);
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link) {
        for (uint32_t r = 0; job->alloc == a && r < job->n_tasks; r++) {
            pmix_proc_t *p = px_vec_add(&procs, &n, &cap);

            if (p)
                px_proc_set(p, job->proc.nspace, r);
            complete = complete && p;
        }
    }
    if (!complete || (n > 0 && px_server_define_set(l->server, a->id, procs, n, "")))
        px_log(PX_LOG_WARN, "host", "cannot define the process set %s: out of memory",
               a->id);
}

static void alloc_free(struct px_alloc *a)
{
    px_list_remove(&a->link);
    px_timer_free(a->timer);
    free(a->id);
    free(a->request_id);
    free(a->cpus);
    free(a->released);
    free(a);
}

/* Ends an allocation that no job uses. */
static void end_if_unused(struct px_alloc *a)
{
    if (is_used(a))
        return;
    px_log(PX_LOG_INFO, "host", "allocation %s ends", a->id);
    alloc_free(a);
}

static void on_time(void *arg)
{
    struct px_alloc *a = arg;
    struct px_launcher *l = a->launcher;
    char why[PMIX_MAX_NSLEN + 64];

    a->over = true;
    snprintf(why, sizeof(why), "the time of its allocation %s is over", a->id);
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        if (job->alloc == a && !job->end) /* the last job frees the allocation */
            px_job_end_by_limit(job, why);
    PX_LIST_EACH (&l->allocs, struct px_alloc, left, link)
        if (left == a)
            end_if_unused(a);
}

static void set_limit(struct px_alloc *a, uint64_t limit_s)
{
    const uint64_t now_ms = px_clock_ms();

    a->end_ms = a->begin_ms + 1000 * limit_s;
    px_timer_set(a->timer, a->end_ms > now_ms ? a->end_ms - now_ms : 0);
}

static struct px_alloc *alloc_create(const struct ask *ask)
{
    struct px_launcher *l = ask->launcher;
    struct px_alloc *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    px_list_append(&l->allocs, &a->link);
    a->launcher = l;
    a->id = px_strf("%.200s-alloc-%u", px_server_name(l->server)->nspace,
                    ++l->n_allocs);
    a->request_id = ask->request_id ? strdup(ask->request_id) : NULL;
    px_proc_set(&a->owner, ask->proc->nspace, PMIX_RANK_WILDCARD);
    a->cpus = new_set();
    a->released = new_set();
    a->timer = px_timer_create(l->loop, on_time, a);
    a->begin_ms = px_clock_ms();
    if (a->id && (a->request_id || !ask->request_id) && a->cpus && a->released &&
        a->timer)
        return a;
    alloc_free(a);
    return NULL;
}

void px_alloc_join(struct px_launch_job *job)
{
    if (job->alloc)
        define_set(job->alloc);
}

void px_alloc_owner_gone(struct px_launcher *l, const char *nspace)
{
    PX_LIST_EACH (&l->allocs, struct px_alloc, a, link) {
        if (strcmp(a->owner.nspace, nspace) != 0)
            continue;
        a->over = true;
        end_if_unused(a);
    }
}

void px_alloc_job_gone(struct px_launch_job *job)
{
    struct px_alloc *a = px_take(&job->alloc);

    if (a) {
        define_set(a);
        if (a->over)
            end_if_unused(a);
    }
    px_alloc_owner_gone(job->launcher, job->proc.nspace);
}

void px_alloc_fini(struct px_launcher *l)
{
    PX_LIST_EACH (&l->allocs, struct px_alloc, a, link)
        alloc_free(a);
}

/* ---- reading of requests --------------------------------------------------------- */

static pmix_status_t read_id(struct ask *a, const pmix_value_t *v)
{
    a->id = px_value_string(v);
    return a->id && a->id[0] ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t read_request_id(struct ask *a, const pmix_value_t *v)
{
    a->request_id = px_value_string(v);
    return a->request_id && a->request_id[0] && strlen(a->request_id) <= PMIX_MAX_NSLEN
               ? PMIX_SUCCESS
               : PMIX_ERR_BAD_PARAM;
}

/* Reads a positive number, also as a text. */
static bool read_positive(const pmix_value_t *v, uint64_t *out)
{
    const char *text = px_value_string(v);

    return text ? px_str_to_u64(text, 1, UINT32_MAX, out)
                : px_value_to_u64(v, out) && *out > 0 && *out <= UINT32_MAX;
}

static pmix_status_t read_number(struct ask *a, const pmix_value_t *v)
{
    const uint64_t before = a->n_cpus;

    return read_positive(v, &a->n_cpus) && (!before || before == a->n_cpus)
               ? PMIX_SUCCESS
               : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t read_list(struct ask *a, const pmix_value_t *v)
{
    const char *text = px_value_string(v);
    size_t size;

    if (!text || !text[0] || a->listed)
        return PMIX_ERR_BAD_PARAM;
    return px_cpus_mask(text, &a->listed, &size);
}

static pmix_status_t read_nodes(struct ask *a, const pmix_value_t *v)
{
    uint64_t n;

    if (!read_positive(v, &n))
        return PMIX_ERR_BAD_PARAM;
    a->whole_node = true;
    return n == 1 ? PMIX_SUCCESS : PMIX_ERR_JOB_ALLOC_FAILED;
}

static pmix_status_t read_node_list(struct ask *a, const pmix_value_t *v)
{
    const char *text = px_value_string(v);

    if (!text || !text[0])
        return PMIX_ERR_BAD_PARAM;
    a->whole_node = true;
    return px_host_is_here(a->launcher->model->hostname, text, strlen(text))
               ? PMIX_SUCCESS
               : PMIX_ERR_JOB_ALLOC_FAILED;
}

static pmix_status_t read_time(struct ask *a, const pmix_value_t *v)
{
    return read_positive(v, &a->limit_s) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* Grants or refuses at once, so the flag holds either way. */
static pmix_status_t read_not_waiting(struct ask *a PX_UNUSED,
                                      const pmix_value_t *v PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static const struct row {
    const char *key;
    pmix_status_t (*read)(struct ask *a, const pmix_value_t *v);
} rows[] = {
    {PMIX_ALLOC_ID, read_id},
    {PMIX_ALLOC_REQ_ID, read_request_id},
    {PMIX_ALLOC_NUM_CPUS, read_number},
    {PMIX_ALLOC_NUM_CPU_LIST, read_number},
    {PMIX_ALLOC_CPU_LIST, read_list},
    {PMIX_ALLOC_NUM_NODES, read_nodes},
    {PMIX_ALLOC_NODE_LIST, read_node_list},
    {PMIX_ALLOC_TIME, read_time},
    {PMIX_ALLOC_NOT_WAITING, read_not_waiting},
};

static pmix_status_t read_info(struct ask *a, const pmix_info_t *info,
                               struct px_err *err)
{
    const struct px_key *key = px_key_by_string(info->key);
    const char *name = key ? key->name : info->key;
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;

    if (!px_str_starts(info->key, "pmix.alloc."))
        return PMIX_SUCCESS;
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (PMIx_Check_key(info->key, rows[i].key))
            rc = rows[i].read(a, &info->value);
    switch (rc) {
    case PMIX_ERR_NOT_SUPPORTED:
        return px_err_set(err, rc,
                          "cannot allocate by %.255s: this host allocates CPUs of "
                          "this node only",
                          name);
    case PMIX_ERR_JOB_ALLOC_FAILED:
        return px_err_set(err, rc,
                          "cannot allocate by %.255s: this node is the only one", name);
    case PMIX_ERR_BAD_PARAM:
        return px_err_set(err, rc, "cannot allocate: bad value of %.255s", name);
    default:
        return rc ? px_err_nomem(err, "allocate") : rc;
    }
}

static pmix_status_t read_all(struct ask *a, const pmix_info_t *info, size_t n,
                              struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        rc = read_info(a, &info[i], err);
    if (!rc && a->listed && a->n_cpus && a->n_cpus != count(a->listed))
        rc = px_err_set(err, PMIX_ERR_BAD_PARAM,
                        "cannot allocate: PMIX_ALLOC_CPU_LIST has %u CPUs, "
                        "PMIX_ALLOC_NUM_CPUS is %llu",
                        count(a->listed), (unsigned long long)a->n_cpus);
    return rc;
}

/* ---- directives ------------------------------------------------------------------ */

static struct px_alloc *find(const struct px_launcher *l, const char *id)
{
    PX_LIST_EACH (&l->allocs, struct px_alloc, a, link)
        if (strcmp(a->id, id) == 0)
            return a;
    return NULL;
}

/* Finds the allocation that a request is about: the named one, else that of the
 * requestor's job. */
static struct px_alloc *find_asked(const struct ask *ask)
{
    const struct px_launch_job *job = px_job_find(ask->launcher, ask->proc->nspace);

    if (ask->id)
        return find(ask->launcher, ask->id);
    if (!ask->request_id)
        return job ? job->alloc : NULL;
    PX_LIST_EACH (&ask->launcher->allocs, struct px_alloc, a, link)
        if (strcmp(a->owner.nspace, ask->proc->nspace) == 0 && a->request_id &&
            strcmp(a->request_id, ask->request_id) == 0)
            return a;
    return NULL;
}

/* Reduces a set to the CPUs that a request chooses: the listed ones, the n first ones,
 * or all. */
static pmix_status_t choose(const struct ask *ask, cpu_set_t *from, const char *what,
                            struct px_err *err)
{
    const uint32_t n = count(from);

    if (ask->listed && !has_all(from, ask->listed))
        return px_err_set(err, PMIX_ERR_JOB_ALLOC_FAILED,
                          "cannot allocate: a CPU of PMIX_ALLOC_CPU_LIST is not %s",
                          what);
    if (ask->n_cpus > n || n == 0)
        return px_err_set(err, PMIX_ERR_JOB_ALLOC_FAILED,
                          "cannot allocate %llu CPUs: %u are %s",
                          (unsigned long long)(ask->n_cpus ? ask->n_cpus : 1), n, what);
    if (ask->listed)
        memcpy(from, ask->listed, SET_B);
    else if (ask->n_cpus)
        keep_first(from, ask->n_cpus);
    return PMIX_SUCCESS;
}

/* Checks a limit before anything changes. */
static pmix_status_t check_limit(const struct ask *ask, const struct px_alloc *a,
                                 struct px_err *err)
{
    const uint64_t used_ms = px_clock_ms() - a->begin_ms;

    return ask->limit_s && 1000 * ask->limit_s <= used_ms
               ? px_err_set(err, PMIX_ERR_BAD_PARAM,
                            "cannot extend: PMIX_ALLOC_TIME is the total time, of "
                            "which %llu s are over",
                            (unsigned long long)(used_ms / 1000))
               : PMIX_SUCCESS;
}

/* Requests CPUs for a new allocation, or for a. */
static pmix_status_t grow(const struct ask *ask, struct px_alloc **out,
                          struct px_err *err)
{
    PX_AUTOFREE cpu_set_t *set = new_set();
    struct px_alloc *a = *out;
    pmix_status_t rc;

    if (!set || find_free(ask->launcher, set))
        return px_err_nomem(err, "allocate");
    rc = choose(ask, set, "free", err);
    if (!rc && !a && !(a = alloc_create(ask)))
        rc = px_err_nomem(err, "allocate");
    if (rc)
        return rc;
    add(a->cpus, set);
    *out = a;
    return rc;
}

static pmix_status_t make(const struct ask *ask, struct px_alloc **a,
                          struct px_err *err)
{
    pmix_status_t rc;

    if (ask->id)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot allocate: this host chooses PMIX_ALLOC_ID itself");
    if (*a)
        return px_err_set(err, PMIX_ERR_EXISTS,
                          "cannot allocate: request %s has an allocation",
                          ask->request_id);
    if (!ask->n_cpus && !ask->listed && !ask->whole_node)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot allocate: the request names no CPUs");
    rc = grow(ask, a, err);
    if (!rc && ask->limit_s)
        set_limit(*a, ask->limit_s);
    return rc;
}

static pmix_status_t extend(const struct ask *ask, struct px_alloc **a,
                            struct px_err *err)
{
    pmix_status_t rc = check_limit(ask, *a, err);

    if (!rc && (ask->n_cpus || ask->listed))
        rc = grow(ask, a, err);
    else if (!rc && !ask->limit_s)
        rc = px_err_set(err, PMIX_ERR_BAD_PARAM,
                        "cannot extend %s: the request names no CPUs and no time",
                        (*a)->id);
    if (!rc && ask->limit_s)
        set_limit(*a, ask->limit_s);
    return rc;
}

static pmix_status_t release(const struct ask *ask, struct px_alloc **out,
                             struct px_err *err)
{
    PX_AUTOFREE cpu_set_t *set = new_set(), *used = new_set();
    const bool all = !ask->n_cpus && !ask->listed;
    struct px_alloc *a = *out;
    pmix_status_t rc;

    if (!set || !used || find_used(a, used))
        return px_err_nomem(err, "release");
    if (ask->limit_s)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "cannot lend CPUs by PMIX_ALLOC_TIME: PMIX_ALLOC_REAQUIRE "
                          "gets released CPUs back at any time, if they are free");
    if (all && is_used(a))
        return px_err_set(err, PMIX_ERR_RESOURCE_BUSY,
                          "cannot release %s: jobs run there", a->id);
    add(set, a->cpus);
    subtract(set, used);
    rc = choose(ask, set, "unused in the allocation", err);
    if (rc)
        return rc == PMIX_ERR_JOB_ALLOC_FAILED
                   ? px_err_set(err, PMIX_ERR_RESOURCE_BUSY,
                                "cannot release CPUs of %s: processes run there, or "
                                "the allocation does not have the CPUs",
                                a->id)
                   : rc;
    subtract(a->cpus, set);
    add(a->released, set);
    if (all) {
        end_if_unused(a);
        *out = NULL;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t reacquire(const struct ask *ask, struct px_alloc **a,
                               struct px_err *err)
{
    PX_AUTOFREE cpu_set_t *set = new_set();
    pmix_status_t rc;

    if (!set || find_free(ask->launcher, set))
        return px_err_nomem(err, "allocate");
    CPU_AND_S(SET_B, set, set, (*a)->released);
    rc = choose(ask, set, "free and were released by the allocation", err);
    if (rc)
        return rc;
    add((*a)->cpus, set);
    subtract((*a)->released, set);
    return rc;
}

static const struct {
    pmix_alloc_directive_t directive;
    bool of_one; /* needs an allocation */
    /* *a: the allocation of the request, or NULL. Leaves the allocation to report. */
    pmix_status_t (*act)(const struct ask *ask, struct px_alloc **a,
                         struct px_err *err);
} directives[] = {
    {PMIX_ALLOC_NEW, false, make},
    {PMIX_ALLOC_EXTEND, true, extend},
    {PMIX_ALLOC_RELEASE, true, release},
    {PMIX_ALLOC_REAQUIRE, true, reacquire},
};

/* ---- results --------------------------------------------------------------------- */

static pmix_status_t describe(const struct px_alloc *a, px_infos *out)
{
    static const uint64_t one = 1;
    const uint64_t n = count(a->cpus), left_ms = px_alloc_left(a, px_clock_ms());
    const uint32_t left_s = (uint32_t)(left_ms / 1000);
    PX_AUTOFREE char *cpus = NULL;
    pmix_status_t rc = px_cpus_text(a->cpus, &cpus);
    const struct px_fact facts[] = {
        {PMIX_ALLOC_ID, a->id, PMIX_STRING},
        {PMIX_ALLOC_REQ_ID, a->request_id, PMIX_STRING},
        {PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64},
        {PMIX_ALLOC_NODE_LIST, a->launcher->model->hostname, PMIX_STRING},
        {PMIX_ALLOC_NUM_CPUS, &n, PMIX_UINT64},
        {PMIX_ALLOC_CPU_LIST, cpus, PMIX_STRING},
        {PMIX_TIME_REMAINING, a->end_ms ? &left_s : NULL, PMIX_UINT32},
    };

    return rc ? rc : px_facts_add(out, facts, PX_COUNT(facts));
}

bool px_alloc_describe(void *launcher, size_t i, struct px_host_allocation *out)
{
    const struct px_launcher *l = launcher;

    PX_LIST_EACH (&l->allocs, const struct px_alloc, a, link) {
        if (i-- > 0)
            continue;
        *out = (struct px_host_allocation){
            .id = a->id, .request_id = a->request_id, .owner = a->owner.nspace};
        out->status = describe(a, &out->infos);
        return true;
    }
    return false;
}

static pmix_status_t serve(struct ask *ask, pmix_alloc_directive_t directive,
                           const pmix_info_t *info, size_t n, px_infos *results,
                           struct px_err *err)
{
    pmix_status_t rc = px_host_check_user(ask->proc, info, n, "allocate");

    if (rc)
        return px_err_set(err, rc, "cannot allocate for another user");
    rc = read_all(ask, info, n, err);
    for (size_t i = 0; !rc && i < PX_COUNT(directives); i++) {
        struct px_alloc *a;

        if (directives[i].directive != directive)
            continue;
        a = directives[i].of_one || ask->request_id ? find_asked(ask) : NULL;
        if (directives[i].of_one && (!a || a->over))
            return px_err_set(err, PMIX_ERR_NOT_FOUND,
                              "the request is for an allocation that is unknown, or "
                              "for the whole node");
        rc = directives[i].act(ask, &a, err);
        return rc || !a ? rc : describe(a, results);
    }
    return rc ? rc
              : px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                           "unknown directive for allocations: %u", directive);
}

pmix_status_t px_allocate(const pmix_proc_t *proc, pmix_alloc_directive_t directive,
                          const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cb,
                          void *cbdata)
{
    struct ask ask = {.launcher = px_server_builtin_self(), .proc = proc};
    PX_AUTO(px_infos) results = {0};
    struct px_err err = {0};
    pmix_status_t rc = serve(&ask, directive, info, n, &results, &err);

    free(ask.listed);
    if (rc && err.status)
        (void)px_infos_add(&results, PMIX_EVENT_TEXT_MESSAGE, err.text, PMIX_STRING);
    if (!rc && results.n == 0)
        return PMIX_OPERATION_SUCCEEDED;
    cb(rc, results.v, results.n, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

/* ---- jobs in an allocation ------------------------------------------------------- */

pmix_status_t px_alloc_for_spawn(struct px_launcher *l,
                                 const struct px_launch_job *parent,
                                 const pmix_info_t *info, size_t n,
                                 const pmix_app_t *apps, size_t n_apps,
                                 struct px_alloc **found, struct px_err *err)
{
    const char *id = px_info_str(info, n, PMIX_ALLOC_ID);

    for (size_t i = 0; !id && i < n_apps; i++)
        id = px_info_str(apps[i].info, apps[i].ninfo, PMIX_ALLOC_ID);
    *found = id ? find(l, id) : parent ? parent->alloc : NULL;
    if (id && !*found)
        return px_err_set(err, PMIX_ERR_NOT_FOUND,
                          "cannot spawn: allocation %.255s is unknown", id);
    if (*found && ((*found)->over || count((*found)->cpus) == 0))
        return px_err_set(err, PMIX_ERR_JOB_ALLOC_FAILED,
                          "cannot spawn: allocation %s is over, or has no CPU",
                          (*found)->id);
    return PMIX_SUCCESS;
}

pmix_status_t px_alloc_cpus(struct px_launcher *l, const struct px_alloc *alloc,
                            char **cpus)
{
    PX_AUTOFREE cpu_set_t *set = NULL;

    *cpus = NULL;
    if (alloc)
        return px_cpus_text(alloc->cpus, cpus);
    if (px_list_empty(&l->allocs))
        return PMIX_SUCCESS;
    set = new_set();
    if (!set || find_free(l, set))
        return PMIX_ERR_NOMEM;
    return px_cpus_text(set, cpus);
}

uint32_t px_alloc_size(const struct px_alloc *alloc)
{
    return count(alloc->cpus);
}

uint64_t px_alloc_left(const struct px_alloc *alloc, uint64_t now_ms)
{
    if (!alloc || !alloc->end_ms)
        return UINT64_MAX;
    return alloc->end_ms > now_ms ? alloc->end_ms - now_ms : 0;
}
