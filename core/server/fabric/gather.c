/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of fabric components in child processes. A vendor's component may wait for a
 * fabric manager, block, or crash. The loop goes on, and a deadline ends the children.
 * A log line names a component whose child did not finish. */
#include "core/server/fabric/gather.h"

#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/plugin/errand.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/fabric/blob.h"
#include "core/server/fabric/job.h"
#include "core/server/fabric/shares.h"
#include "core/server/fabric/values.h"
#include "core/server/node/environment.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

struct wanted {
    bool envars, others;
};

/* Steps of a trial: the child writes one byte before each call, and one at the end. */
enum { IN_APPLY = 1, IN_ENVARS, TRIED };

/* One component's part in a gather or trial. */
struct part {
    struct px_gather *gather;
    const struct px_module *module;
    struct px_share *given; /* in a trial, the share to apply; else NULL */
    px_infos share;
    size_t share_b;          /* packed */
    bool oversize;           /* share_b exceeds the limit */
    struct px_errand errand; /* without a child: needs none, or the child has ended */
};

struct px_gather {
    struct px_list link; /* in px_server_parts.gathers */
    struct px_server *server;
    px_job_view view;
    struct wanted wanted;
    size_t n_waiting;
    struct px_timer *timer; /* while it waits */
    struct px_err err;      /* the first failure */
    px_gather_fn fn;
    void *arg;
    size_t n_parts;
    struct part parts[];
};

/* ---- components ------------------------------------------------------------------ */

void px_pnet_forget(struct px_server *srv, const char *nspace)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    px_launch_env_drop(srv, nspace);
    px_values_drop(srv, nspace);
    for (size_t i = 0; i < n; i++)
        PX_OPS(pnet, &m[i])->forget(m[i].self, nspace);
}

pmix_status_t px_pnet_check_required(const char *nspace, struct px_err *err)
{
    char *const *name = px_required_components("pnet");

    for (; name && *name; name++)
        if (!px_module_find("pnet", *name))
            return px_err_set(
                err, PMIX_ERR_NOT_AVAILABLE,
                "cannot launch job %s: component pnet/%.64s cannot be used "
                "here, and pnet_%.64s_required is set: %.300s",
                nspace, *name, *name, px_component_unused("pnet", *name));
    return PMIX_SUCCESS;
}

/* ---- what is wanted -------------------------------------------------------------- */

/* Reads what to gather: everything, unless one kind is asked for. */
static struct wanted read_wanted(const pmix_info_t *info, size_t n)
{
    struct wanted w = {px_info_flag(info, n, PMIX_SETUP_APP_ENVARS),
                       px_info_flag(info, n, PMIX_SETUP_APP_NONENVARS)};

    if (w.envars == w.others || px_info_flag(info, n, PMIX_SETUP_APP_ALL))
        w = (struct wanted){true, true};
    return w;
}

static pmix_status_t add(void *arg, const pmix_info_t *info)
{
    struct part *p = arg;
    const struct wanted *w = &p->gather->wanted;
    size_t packed_b = 0;
    pmix_status_t rc = px_share_try(info, &packed_b);

    if (rc || (px_launch_env_directive(info) ? !w->envars : !w->others))
        return rc;
    p->share_b += packed_b;
    p->oversize |= p->share_b > PX_BLOB_MAX_B;
    return p->oversize ? PMIX_ERR_OUT_OF_RESOURCE
                       : px_infos_add_copy(&p->share, info, 1);
}

static pmix_status_t call(struct part *p)
{
    const struct px_pnet_ops *ops = PX_OPS(pnet, p->module);
    const struct px_pnet_job *job = &p->gather->view.job;
    void *self = p->module->self;

    return ops->gather
               ? ops->gather(self, job, add, p)
               : ops->contribute(self, job->nspace, job->info, job->n_info, add, p);
}

/* ---- the child ------------------------------------------------------------------- */

static void write_step(int fd)
{
    if (px_fd_write_all(fd, "", 1, 0))
        _exit(EXIT_FAILURE);
}

/* Calls apply and envars as the server is about to do on its loop. Results and log
 * lines come from the server's calls. */
_Noreturn static void run_trial(const struct part *p, int fd)
{
    const struct px_pnet_ops *ops = PX_OPS(pnet, p->module);
    const char *nspace = p->gather->view.nspace;
    void *self = p->module->self;
    struct px_launch_env *env = px_launch_env_create(nspace);

    atomic_store(&px_process.log_level, -1);
    write_step(fd);
    pmix_status_t rc = ops->apply(self, nspace, p->given->info, p->given->n);
    write_step(fd);
    if (!rc && env)
        (void)ops->envars(self, nspace, px_launch_env_set, env);
    write_step(fd);
    _exit(EXIT_SUCCESS);
}

_Noreturn static void run_child(struct part *p, int fd)
{
    PX_AUTO(px_writer) w;

    px_writer_init(&w, px_codec_default);
    pmix_status_t rc = call(p);
    px_pack_u32(&w, (uint32_t)rc);
    px_pack_u8(&w, p->oversize, PMIX_UINT8);
    px_pack_infos(&w, p->share.v, rc ? 0 : p->share.n);
    _exit(w.status || px_fd_write_all(fd, w.buf.data, w.buf.len, 0) ? EXIT_FAILURE
                                                                    : EXIT_SUCCESS);
}

/* ---- the end --------------------------------------------------------------------- */

static void gather_free(struct px_gather *g)
{
    for (size_t i = 0; i < g->n_parts; i++) {
        px_errand_stop(&g->parts[i].errand);
        px_infos_cleanup(&g->parts[i].share);
    }
    px_list_remove(&g->link);
    px_timer_free(g->timer);
    px_job_view_cleanup(&g->view);
    free(g);
}

static void end(struct px_gather *g, px_infos *out, struct px_err *err)
{
    const px_gather_fn fn = g->fn;
    void *arg = g->arg;

    gather_free(g);
    fn(arg, out, err);
}

static pmix_status_t seal(const struct px_gather *g, px_infos *out)
{
    PX_AUTO(px_writer) body;

    px_writer_init(&body, px_codec_default);
    for (size_t i = 0; i < g->n_parts; i++) {
        const struct px_component *c = g->parts[i].module->component;

        if (g->parts[i].share.n)
            px_blob_add(&body, c->name, c->version, &g->parts[i].share);
    }
    return body.status || body.buf.len == 0 ? body.status
                                            : px_shares_seal(&body, PX_BLOB_KEY, out);
}

static bool has_share(const struct px_gather *g, const char *key)
{
    size_t i = 0;

    while (i < g->n_parts &&
           !px_info_find(g->parts[i].share.v, g->parts[i].share.n, key))
        i++;
    return i < g->n_parts;
}

/* Checks that a component has answered each fabric request, under the request's id. */
static void check_requests(struct px_gather *g)
{
    const struct px_pnet_job *job = &g->view.job;
    const pmix_info_t *parts;
    size_t n;

    for (size_t i = 0; g->wanted.others && !g->err.status && i < job->n_info; i++) {
        const pmix_info_t *request = &job->info[i];
        const char *id = PMIx_Check_key(request->key, PMIX_ALLOC_FABRIC) &&
                                 px_value_infos(&request->value, &parts, &n)
                             ? px_info_str(parts, n, PMIX_ALLOC_FABRIC_ID)
                             : NULL;
        const char *type = id ? px_info_str(parts, n, PMIX_ALLOC_FABRIC_TYPE) : NULL;

        if (!id || has_share(g, id))
            continue;
        if (PMIx_Info_is_required(request))
            px_err_set(
                &g->err, PMIX_ERR_NOT_SUPPORTED,
                "cannot allocate %.64s of type %.64s for job %s: no component has "
                "any",
                id, type ? type : "any", job->nspace);
        else
            px_log(PX_LOG_WARN, "pnet",
                   "job %s gets no %.64s of type %.64s: no component has any",
                   job->nspace, id, type ? type : "any");
    }
}

static void finish(struct px_gather *g)
{
    px_infos out = {0};

    check_requests(g);
    struct px_err err = g->err;

    /* A trial has no contributions, so nothing is sealed. */
    pmix_status_t rc = err.status ? PMIX_SUCCESS : seal(g, &out);
    if (rc)
        px_err_set(&err, rc, "cannot pack the contributions to job %s", g->view.nspace);
    if (err.status)
        px_pnet_forget(g->server, g->view.nspace);
    end(g, &out, &err);
}

/* Returns where to put a failure; NULL, which px_err_set accepts, after the first. */
static struct px_err *first_of(struct px_gather *g)
{
    return g->err.status ? NULL : &g->err;
}

/* Leaves out a component that failed without a decision of its own. The job goes on,
 * unless the component is required. */
static void PX_PRINTF(2, 3) leave_out(struct part *p, const char *fmt, ...)
{
    const char *name = p->module->component->name, *job = p->gather->view.nspace;
    char what[128];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    px_infos_cleanup(&p->share);
    if (p->given)
        p->given->present = false;
    if (px_component_is_required("pnet", name))
        px_err_set(first_of(p->gather), PMIX_ERR_NOT_AVAILABLE,
                   "cannot launch job %s: component pnet/%.64s %s, and "
                   "pnet_%.64s_required is set",
                   job, name, what, name);
    else
        px_log(PX_LOG_ERROR, "pnet", "component pnet/%s %s: job %s goes on without it",
               name, what, job);
}

/* Handles the result of a component. */
static void settle(struct part *p, pmix_status_t rc)
{
    if (p->oversize)
        leave_out(p, "contributes more than %u MiB", PX_BLOB_MAX_B >> 20);
    else if (rc)
        px_err_set(first_of(p->gather), rc,
                   "component pnet/%s cannot contribute to job %s: %s",
                   p->module->component->name, p->gather->view.nspace,
                   PMIx_Error_string(rc));
}

/* Counts a finished part. A failure ends the gather without waiting for the others. */
static void part_done(struct part *p)
{
    struct px_gather *g = p->gather;

    px_errand_stop(&p->errand);
    if (--g->n_waiting == 0 || g->err.status)
        finish(g);
}

/* ---- running children ------------------------------------------------------------ */

static pmix_status_t read_answer(struct part *p, pmix_status_t *rc)
{
    px_reader r;
    uint32_t status;
    uint8_t oversize;

    px_reader_init(&r, px_codec_default, p->errand.answer.data, p->errand.answer.len);
    if (px_unpack1(&r, &status, PMIX_UINT32) ||
        px_unpack_u8(&r, &oversize, PMIX_UINT8) ||
        px_unpack_infos(&r, &p->share.v, &p->share.n) || !px_reader_done(&r))
        return PMIX_ERR_UNPACK_FAILURE;
    p->share.cap = p->share.n;
    p->oversize = oversize;
    *rc = (pmix_status_t)status;
    return PMIX_SUCCESS;
}

/* Returns the function in which the child of a trial runs or has ended, or NULL. */
static const char *tried_function(struct part *p)
{
    (void)px_errand_read(&p->errand);
    const size_t steps = p->errand.answer.len;
    return steps >= TRIED ? NULL : steps == IN_ENVARS ? "envars" : "apply";
}

static void on_trial_end(struct part *p, int status)
{
    const char *function = tried_function(p);

    if (function && WIFSIGNALED(status))
        leave_out(p, "crashed in %s (%s)", function, strsignal(WTERMSIG(status)));
    else if (function)
        leave_out(p, "ended its process in %s (status %d)", function,
                  WEXITSTATUS(status));
}

static void on_end(struct px_errand *errand, enum px_errand_end how, int status)
{
    struct part *p = PX_CONTAINER_OF(errand, struct part, errand);
    pmix_status_t rc;

    if (how == PX_ERRAND_EXCESS)
        leave_out(p, "contributes too much");
    else if (p->given)
        on_trial_end(p, status);
    else if (WIFSIGNALED(status))
        leave_out(p, "crashed (%s)", strsignal(WTERMSIG(status)));
    else if (read_answer(p, &rc))
        leave_out(p, "ended (status %d) before it contributed", WEXITSTATUS(status));
    else
        settle(p, rc);
    part_done(p);
}

static void on_deadline(void *arg)
{
    struct px_gather *g = arg;
    const double limit_s = (double)g->server->conf.fabric_timeout / 1000;

    for (size_t i = 0; i < g->n_parts; i++) {
        struct part *p = &g->parts[i];
        const char *function = p->given ? tried_function(p) : NULL;

        if (px_errand_runs(&p->errand) && function)
            leave_out(p, "has not returned from %s within %g s, its time limit",
                      function, limit_s);
        else if (px_errand_runs(&p->errand) && !p->given)
            leave_out(p, "has not contributed within %g s, its time limit", limit_s);
    }
    finish(g);
}

static void start_child(struct part *p, struct px_err *err)
{
    int out;
    pid_t pid = px_errand_start(&p->errand, p->given ? "tenon-apply" : "tenon-fabric",
                                0, &out, err);

    if (pid == 0 && p->given)
        run_trial(p, out);
    if (pid == 0)
        run_child(p, out);
    p->gather->n_waiting++;
}

/* ---- the beginning --------------------------------------------------------------- */

/* Creates a gather with a part for each component. Without memory calls fn and returns
 * NULL. */
static struct px_gather *gather_create(struct px_server *srv, const char *nspace,
                                       px_gather_fn fn, void *arg)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);
    struct px_gather *g = calloc(1, sizeof(*g) + n * sizeof(g->parts[0]));
    struct px_err err = {0};

    if (!g) {
        px_err_nomem(&err, "prepare job %s", nspace);
        fn(arg, &(px_infos){0}, &err);
        return NULL;
    }
    g->server = srv;
    g->fn = fn;
    g->arg = arg;
    g->n_parts = n;
    for (size_t i = 0; i < n; i++)
        g->parts[i] = (struct part){.gather = g,
                                    .module = &m[i],
                                    .errand = {.loop = srv->loop,
                                               .max_b = 2 * (size_t)PX_BLOB_MAX_B,
                                               .done = on_end}};
    px_str_copy(g->view.nspace, sizeof(g->view.nspace), nspace);
    px_list_append(&srv->part.gathers, &g->link);
    return g;
}

static pmix_status_t prepare(struct px_gather *g, const char *nspace,
                             const pmix_info_t *info, size_t n, struct px_err *err)
{
    g->wanted = read_wanted(info, n);
    /* Without variables the launch would go on as if there were none to forward. */
    if (!g->wanted.others && !px_served_at(offsetof(struct px_pnet_ops, forward)))
        return px_err_set(
            err, PMIX_ERR_NOT_SUPPORTED,
            "cannot gather variables for job %s: no component forwards any", nspace);
    pmix_status_t rc = px_pnet_check_required(nspace, err);
    return rc ? rc
              : px_job_view_of_infos(&g->view, g->server->model->hostname, nspace, info,
                                     n, err);
}

/* Waits for the children, or finishes at once. */
static void wait_or_finish(struct px_gather *g)
{
    if (g->n_waiting > 0 && !g->err.status) {
        g->timer = px_timer_create(g->server->loop, on_deadline, g);
        if (!g->timer)
            px_err_nomem(&g->err, "prepare job %s", g->view.nspace);
    }
    if (g->n_waiting == 0 || g->err.status)
        finish(g);
    else
        px_timer_set(g->timer, g->server->conf.fabric_timeout);
}

void px_gather_start(struct px_server *srv, const char *nspace, const pmix_info_t *info,
                     size_t n, px_gather_fn fn, void *arg)
{
    struct px_gather *g = gather_create(srv, nspace, fn, arg);
    struct px_err err = {0};

    if (!g)
        return;
    if (prepare(g, nspace, info, n, &err)) {
        end(g, &(px_infos){0}, &err);
        return;
    }
    for (size_t i = 0; !g->err.status && i < g->n_parts; i++) {
        struct part *p = &g->parts[i];

        if (PX_OPS(pnet, p->module)->flags & PX_PNET_IN_PLACE)
            settle(p, call(p));
        else
            start_child(p, &g->err);
    }
    wait_or_finish(g);
}

void px_gather_try(struct px_server *srv, const char *nspace, struct px_share *shares,
                   px_gather_fn fn, void *arg)
{
    struct px_gather *g = gather_create(srv, nspace, fn, arg);

    if (!g)
        return;
    for (size_t i = 0; !g->err.status && i < g->n_parts; i++) {
        if (!px_share_is_tried(&shares[i]))
            continue;
        g->parts[i].given = &shares[i];
        start_child(&g->parts[i], &g->err);
    }
    wait_or_finish(g);
}

void px_gather_cancel(struct px_server *srv, const void *arg)
{
    PX_LIST_EACH (&srv->part.gathers, struct px_gather, g, link)
        if (g->arg == arg)
            gather_free(g);
}

void px_gather_drop(struct px_server *srv, const char *nspace)
{
    PX_LIST_EACH (&srv->part.gathers, struct px_gather, g, link) {
        if (nspace && strcmp(g->view.nspace, nspace) != 0)
            continue;
        px_err_set(first_of(g), PMIX_ERR_JOB_CANCELED,
                   "job %s ends before it was launched", g->view.nspace);
        finish(g);
    }
}
