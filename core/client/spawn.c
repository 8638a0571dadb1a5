/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Spawn and PMIx_Abort: start and end processes. */
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/client/singleton/singleton.h"
#include "core/rt/log.h"

struct spawn_op {
    struct px_api api;
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_spawn_cbfunc_t cb;
};

/* True if info asks for output of the new processes. */
static bool forwards(const pmix_info_t *info, size_t n)
{
    return px_info_flag(info, n, PMIX_FWD_STDOUT) ||
           px_info_flag(info, n, PMIX_FWD_STDERR) ||
           px_info_flag(info, n, PMIX_FWD_STDDIAG);
}

static bool wants_output(const struct px_args *args)
{
    bool wants = forwards(args->info.v, args->info.n);

    for (size_t i = 0; i < args->n_apps; i++)
        wants |= forwards(args->apps[i].info, args->apps[i].ninfo);
    return wants;
}

/* Starts the loop's thread if output will arrive between calls. */
static void on_spawn(struct px_api *api)
{
    pmix_status_t rc = wants_output(&api->args) ? px_loop_need_thread(api->loop)
                                                : PMIX_SUCCESS;

    if (rc)
        px_api_done(api, rc);
    else
        px_singleton_send(api);
}

static void on_spawned(void *arg, pmix_status_t status, px_reader *reply)
{
    struct spawn_op *op = arg;
    struct px_model *m = op->api.client->model;
    PX_AUTOFREE char *name = NULL;
    struct px_nspace *ns = NULL;
    pmix_status_t rc = px_api_answer(status, reply);

    if (!rc)
        rc = px_unpack_str(reply, &name);
    if (!rc && (!name || !px_str_copy(op->nspace, sizeof(op->nspace), name)))
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc && !px_reader_done(reply)) {
        rc = px_nspace_get(m, op->nspace, &ns);
        /* A process that serves the job has registered the job itself. */
        if (!rc && !ns->hosted)
            rc = px_jobinfo_unpack(m, ns, reply);
        if (!rc)
            px_nspace_received(m, ns);
    }
    px_api_done(&op->api, rc);
}

static void finish_spawn(struct px_api *api)
{
    struct spawn_op *op = PX_CONTAINER_OF(api, struct spawn_op, api);

    if (op->cb)
        op->cb(api->status, op->nspace, api->cbdata);
}

static struct spawn_op make(const pmix_info_t *info, size_t n_info,
                            const pmix_app_t *apps, size_t n_apps)
{
    struct spawn_op op = {.api = {.start = on_spawn,
                                  .reply = on_spawned,
                                  .finish = finish_spawn,
                                  .request = &px_request_spawn,
                                  .args = {.info = px_infos_borrow(info, n_info),
                                           .apps = (pmix_app_t *)apps,
                                           .n_apps = n_apps}}};

    for (size_t i = 0; apps && i < n_apps; i++) /* every app names a program */
        op.api.invalid |= !apps[i].cmd && !(apps[i].argv && apps[i].argv[0]);
    return op;
}

/* Checks the call. Prepares the receivers if output of the new processes is
 * requested. */
static pmix_status_t prepare(const struct px_api *op)
{
    struct px_err err = {0};
    pmix_status_t rc = px_api_check(op);

    if (!rc && wants_output(&op->args))
        rc = px_iof_receivers_prepare(&err);
    if (err.text[0])
        px_log(PX_LOG_ERROR, "client", "PMIx_Spawn: %s", err.text);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo,
                                   const pmix_app_t apps[], size_t napps,
                                   pmix_nspace_t nspace)
{
    struct spawn_op op = make(job_info, ninfo, apps, napps);
    pmix_status_t rc = prepare(&op.api);

    if (rc)
        return rc;
    rc = px_api_wait(&op.api);
    if (nspace)
        px_str_copy(nspace, PMIX_MAX_NSLEN + 1, rc ? "" : op.nspace);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo,
                                      const pmix_app_t apps[], size_t napps,
                                      pmix_spawn_cbfunc_t cbfunc, void *cbdata)
{
    struct spawn_op op = make(job_info, ninfo, apps, napps);
    pmix_status_t rc = prepare(&op.api);

    op.cb = cbfunc;
    op.api.cbdata = cbdata;
    return rc ? rc : px_api_post(&op.api, sizeof(op));
}

PX_EXPORT pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[],
                                   size_t nprocs)
{
    struct px_api op = {
        .request = &px_request_abort,
        .args = {
            .code = status, .text = (char *)msg, .procs = procs, .n_procs = nprocs}};

    return px_api_wait(&op);
}
