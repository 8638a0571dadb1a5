/* SPDX-License-Identifier: BSD-3-Clause */
/* Services of the host or of this library: job requests (spawn, job control, log,
 * monitoring), system requests (allocations, resource blocks, sessions, credentials),
 * and published data. */
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/server/cleanup/cleanup.h"
#include "core/server/cleanup/request.h"
#include "core/server/host.h"
#include "core/server/monitor/monitor.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"
#include "core/server/service/credential.h"
#include "core/server/service/log.h"
#include "core/server/upcall/control.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

/* ---- spawn ----------------------------------------------------------------------- */

/* Replies with STATUS, the new namespace, and its job data if it runs under this
 * server. */
static void reply_spawned(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    struct px_nspace *ns;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    px_pack_str(&w, answer->status ? NULL : answer->name.nspace);
    ns = answer->status ? NULL
                        : px_nspace_find(req->peer->server->model, answer->name.nspace);
    if (ns && ns->complete)
        px_peer_pack_job(req->peer, ns, &w, true);
    px_req_reply(req, &w);
}

/* Sets parent and requestor attributes from the connection, whatever the request
 * claims. */
static pmix_status_t prepare_spawn(struct px_req *req, struct px_upcall *u)
{
    const struct px_peer *peer = req->peer;
    px_infos *infos = &u->args.info;
    pmix_status_t rc = px_infos_set_user(infos, peer);

    if (!rc)
        rc = px_infos_set(infos, PMIX_PARENT_ID, &peer->proc, PMIX_PROC);
    if (!rc)
        rc = px_infos_set(infos, PMIX_SPAWNED, NULL, PMIX_BOOL);
    if (rc)
        return rc;
    px_infos_drop(infos, PMIX_REQUESTOR_IS_TOOL);
    px_infos_drop(infos, PMIX_REQUESTOR_IS_CLIENT);
    return px_infos_add(infos,
                        peer->tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT,
                        NULL, PMIX_BOOL);
}

static pmix_status_t call_spawn(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->spawn(&u->proc, u->args.info.v, u->args.info.n, u->args.apps,
                    u->args.n_apps, px_upcall_spawn_cb, u);
}

/* ---- job control ----------------------------------------------------------------- */

/* Separates clean-up, which this server does, from directives for the host. Beside such
 * directives clean-up is only checked, and registered after the host has agreed. So an
 * error leaves nothing registered. */
static void cleanup_read(struct px_upcall *u, pmix_status_t rc)
{
    px_forward_prepared(u, rc ? rc : px_forward_user(u->arg, u));
}

static pmix_status_t prepare_job_control(struct px_req *req, struct px_upcall *u)
{
    struct px_args *a = &u->args;
    bool host = false;
    pmix_status_t rc = px_cleanup_split(&a->info, &a->more, &host);

    u->done = a->more.n > 0 && !host;
    if (!rc && a->more.n > 0)
        rc = px_cleanup_begin(req, u, host, cleanup_read);
    return rc ? rc : px_forward_user(req, u);
}

static pmix_status_t call_job_control(const pmix_server_module_t *m,
                                      struct px_upcall *u)
{
    const struct px_args *a = &u->args;

    return m->job_control(&u->proc, a->procs, a->n_procs, a->info.v, a->info.n,
                          px_upcall_info_cb, u);
}

static void reply_job_control(void *arg, const struct px_upcall *answer)
{
    const struct px_req *req = arg;
    const struct px_args *a = &answer->args;
    struct px_upcall both = *answer;

    if (answer->cleanup && !answer->done && !both.status)
        both.status = px_cleanup_apply(req->peer->server, req->peer, a->procs,
                                       a->n_procs, answer->cleanup, false);
    px_upcall_reply_infos(arg, &both);
}

/* ---- log and monitoring ---------------------------------------------------------- */

static pmix_status_t prepare_more(struct px_req *req, struct px_upcall *u)
{
    return px_infos_set_user(&u->args.more, req->peer);
}

static pmix_status_t prepare_log(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = prepare_more(req, u);

    if (rc || !u->args.stamp)
        return rc;
    return px_infos_add(&u->args.more, PMIX_LOG_TIMESTAMP, &u->args.stamp, PMIX_TIME);
}

/* Calls the host's log function. The older slot returns nothing: its callback is the
 * only answer. */
static pmix_status_t call_log2(const pmix_server_module_t *m, struct px_upcall *u)
{
    const px_infos *data = &u->args.info, *more = &u->args.more;

    if (m->log2)
        return m->log2(&u->proc, data->v, data->n, more->v, more->n, px_upcall_op_cb,
                       u);
    m->log(&u->proc, data->v, data->n, more->v, more->n, px_upcall_op_cb, u);
    return PMIX_SUCCESS;
}

static pmix_status_t call_monitor(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->monitor(&u->proc, u->args.info.v, u->args.code, u->args.more.v,
                      u->args.more.n, px_upcall_info_cb, u);
}

/* ---- allocations, resource blocks, sessions -------------------------------------- */

static pmix_status_t call_allocate(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->allocate(&u->proc, u->args.directive, u->args.info.v, u->args.info.n,
                       px_upcall_info_cb, u);
}

static pmix_status_t call_resource_block(const pmix_server_module_t *m,
                                         struct px_upcall *u)
{
    const struct px_args *a = &u->args;

    return m->resource_block(&u->proc, a->directive, a->text, a->units, a->n_units,
                             a->info.v, a->info.n, px_upcall_op_cb, u);
}

static pmix_status_t call_session_control(const pmix_server_module_t *m,
                                          struct px_upcall *u)
{
    return m->session_control(&u->proc, u->args.number, u->args.info.v, u->args.info.n,
                              px_upcall_info_cb, u);
}

/* ---- credentials ----------------------------------------------------------------- */

static pmix_status_t call_get_credential(const pmix_server_module_t *m,
                                         struct px_upcall *u)
{
    return m->get_credential(&u->proc, u->args.info.v, u->args.info.n,
                             px_upcall_credential_cb, u);
}

/* Replies with STATUS, and after success the credential and infos. */
static void reply_cred(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    if (!answer->status) {
        px_pack_bytes(&w, answer->bytes.data, answer->bytes.len);
        px_pack_infos(&w, answer->infos.v, answer->infos.n);
    }
    px_req_reply(req, &w);
}

static pmix_status_t call_validate_credential(const pmix_server_module_t *m,
                                              struct px_upcall *u)
{
    return m->validate_credential(&u->proc, &u->args.bytes, u->args.info.v,
                                  u->args.info.n, px_upcall_validation_cb, u);
}

/* ---- publish, lookup, unpublish -------------------------------------------------- */

static pmix_status_t call_publish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->publish(&u->proc, u->args.info.v, u->args.info.n, px_upcall_op_cb, u);
}

/* Calls unpublish. NULL keys: everything the caller published. */
static pmix_status_t call_unpublish(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->unpublish(&u->proc, u->args.keys, u->args.info.v, u->args.info.n,
                        px_upcall_op_cb, u);
}

static pmix_status_t call_lookup(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->lookup(&u->proc, u->args.keys, u->args.info.v, u->args.info.n,
                     px_upcall_lookup_cb, u);
}

static void reply_found(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    if (!answer->status || answer->n_pdata > 0) {
        px_pack_size(&w, answer->n_pdata);
        if (answer->n_pdata > 0)
            px_pack(&w, answer->pdata, (int32_t)answer->n_pdata, PMIX_PDATA);
    }
    px_req_reply(req, &w);
}

/* ---- the table ------------------------------------------------------------------- */

/* A comment before a row describes how the library itself serves the request. The table
 * of services in docs/coverage.md repeats the comment. */
#define FORWARD(name, Function, ...)        \
    static const struct px_forward name = { \
        .request = &px_request_##name, .function = "PMIx_" #Function, __VA_ARGS__}
#define HOST(name) .slot = PX_SLOT(name), .call = call_##name
#define CHECKED    .checked = true
#define INFOS      .reply = px_upcall_reply_infos
#define PLAIN      .reply = px_upcall_reply_status

FORWARD(spawn, Spawn, HOST(spawn), .prepare = prepare_spawn, .reply = reply_spawned,
        .held_b = PX_SPAWN_B);
/* registration of files and directories for clean-up; signal, kill, terminate, pause
 * and resume of processes of this node */
FORWARD(job_control, Job_control, CHECKED, HOST(job_control), .own = px_control,
        .prepare = prepare_job_control, .reply = reply_job_control);
/* components of `plog`: standard streams, the system's log, a file */
FORWARD(log, Log, HOST(log2), .older = PX_SLOT(log), .own = px_log_serve,
        .prepare = prepare_log, PLAIN);
/* heartbeats, files and usage of resources on this node, also where the host has a
 * function; other requests are refused: `PMIX_ERR_NOT_SUPPORTED` */
FORWARD(monitor, Process_monitor, HOST(monitor), .own = px_monitor, .own_first = true,
        .prepare = prepare_more, INFOS);
FORWARD(alloc, Allocation_request, CHECKED, HOST(allocate), INFOS);
FORWARD(block, Resource_block, CHECKED, HOST(resource_block), .newest = true, PLAIN);
FORWARD(session, Session_control, CHECKED, HOST(session_control), INFOS);
/* components of `psec`: `native` for processes of this server, `munge` */
FORWARD(get_cred, Get_credential, CHECKED, HOST(get_credential),
        .own = px_credential_issue, .reply = reply_cred);
/* components of `psec`, as above */
FORWARD(validate_cred, Validate_credential, CHECKED, HOST(validate_credential),
        .own = px_credential_check, INFOS);
FORWARD(publish, Publish, HOST(publish), PLAIN);
FORWARD(lookup, Lookup, CHECKED, HOST(lookup), .reply = reply_found,
        .held_b = PX_LOOKUP_B, .held_key_b = PX_LOOKUP_KEY_B);
FORWARD(unpublish, Unpublish, CHECKED, HOST(unpublish), PLAIN);

static const struct px_rpc rpcs[] = {
    {PX_OP_PUBLISH, PX_BY_ANY, PX_BY_HOST, .forward = &publish},
    {PX_OP_LOOKUP, PX_BY_ANY, PX_BY_HOST, .forward = &lookup},
    {PX_OP_UNPUBLISH, PX_BY_ANY, PX_BY_HOST, .forward = &unpublish},
    {PX_OP_SPAWN, PX_BY_ANY, PX_BY_HOST, .forward = &spawn},
    {PX_OP_JOB_CONTROL, PX_BY_ANY, PX_OF_USER, .forward = &job_control},
    {PX_OP_LOG, PX_BY_ANY, PX_BY_HOST, .forward = &log},
    {PX_OP_MONITOR, PX_BY_ANY, PX_BY_HOST, .forward = &monitor},
    {PX_OP_ALLOC, PX_BY_ANY, PX_BY_HOST, .forward = &alloc},
    {PX_OP_RESBLK, PX_BY_ANY, PX_BY_HOST, .forward = &block},
    {PX_OP_SESSION_CTRL, PX_BY_ANY, PX_BY_HOST, .forward = &session},
    {PX_OP_GET_CREDENTIAL, PX_BY_ANY, PX_BY_HOST, .forward = &get_cred},
    {PX_OP_VALIDATE_CRED, PX_BY_ANY, PX_BY_HOST, .forward = &validate_cred},
    {0},
};

static void peer_left(struct px_server *srv, struct px_peer *peer)
{
    if (peer->tool && srv->builtin)
        srv->host->tool_left(srv->builtin, &peer->proc);
}

const struct px_server_part px_host_part = {
    .name = "host", .rpcs = rpcs, .peer_left = peer_left};
