/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawn and abort: the calls that make and end processes. */
#include <string.h>

#include "core/base/str.h"
#include "core/client/client.h"

struct spawn_op {
    struct px_api api;
    const pmix_info_t *info;
    size_t n_info;
    const pmix_app_t *apps;
    size_t n_apps;
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_spawn_cbfunc_t cb;
};

static const struct px_arg spawn_args[] = {
    PX_ARGS(struct spawn_op, info, n_info, PMIX_INFO),
    PX_ARGS(struct spawn_op, apps, n_apps, PMIX_APP),
    PX_ARGS_END,
};

static pmix_status_t read_spawned(struct spawn_op *op, px_reader *reply)
{
    PX_AUTOFREE char *name = NULL;
    struct px_nspace *ns = NULL;
    pmix_status_t answer, rc = px_unpack_status(reply, &answer);

    if (rc || answer)
        return rc ? rc : answer;
    rc = px_unpack_str(reply, &name);
    if (!rc && (!name || !px_str_copy(op->nspace, sizeof op->nspace, name)))
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (rc || px_reader_done(reply))
        return rc;
    rc = px_nspace_get(px_process.model, op->nspace, &ns);
    /* A server process has registered the job itself: the reply tells it nothing. */
    if (!rc && !px_process.server)
        rc = px_jobinfo_unpack(px_process.model, ns, reply);
    return rc;
}

static void on_spawned(void *arg, pmix_status_t status, px_reader *reply)
{
    struct spawn_op *op = arg;

    px_api_done(&op->api, status ? status : read_spawned(op, reply));
}

static void on_spawn(struct px_api *api)
{
    struct spawn_op *op = PX_CONTAINER_OF(api, struct spawn_op, api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_SPAWN);
    px_pack_infos(&w, op->info, op->n_info);
    px_pack_size(&w, op->n_apps);
    px_pack(&w, op->apps, (int32_t)op->n_apps, PMIX_APP);
    px_api_request(api, &w, on_spawned);
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
    return (struct spawn_op){
        .api = {.start = on_spawn, .finish = finish_spawn, .args = spawn_args},
        .info = info,
        .n_info = n_info,
        .apps = apps,
        .n_apps = n_apps};
}

static pmix_status_t check(const struct spawn_op *op)
{
    pmix_status_t rc = px_api_check(op->apps, op->n_apps, op->info, op->n_info);

    if (rc)
        return rc;
    if (op->n_apps == 0)
        return PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; i < op->n_apps; i++)
        if (!op->apps[i].cmd && !(op->apps[i].argv && op->apps[i].argv[0]))
            return PMIX_ERR_BAD_PARAM;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo,
                                   const pmix_app_t apps[], size_t napps,
                                   pmix_nspace_t nspace)
{
    struct spawn_op op = make(job_info, ninfo, apps, napps);
    pmix_status_t rc = check(&op);

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
    pmix_status_t rc = check(&op);

    op.cb = cbfunc;
    op.api.cbdata = cbdata;
    return rc ? rc : px_api_post(&op.api, sizeof op);
}

struct abort_op {
    struct px_api api;
    int status;
    const char *msg;
    const pmix_proc_t *procs;
    size_t n_procs;
};

static void on_abort(struct px_api *api)
{
    struct abort_op *op = PX_CONTAINER_OF(api, struct abort_op, api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_ABORT);
    px_pack_status(&w, op->status);
    px_pack_str(&w, op->msg);
    px_pack_procs(&w, op->procs, op->n_procs);
    px_api_request(api, &w, px_api_status_reply);
}

PX_EXPORT pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[],
                                   size_t nprocs)
{
    struct abort_op op = {.api = {.start = on_abort},
                          .status = status,
                          .msg = msg,
                          .procs = procs,
                          .n_procs = nprocs};
    pmix_status_t rc = px_api_check(procs, nprocs, NULL, 0);

    return rc ? rc : px_api_wait(&op.api);
}
