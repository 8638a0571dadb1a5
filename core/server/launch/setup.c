/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment by which a child finds this server, and contributions to a launch. */
#include "core/base/strv.h"
#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/server/launch/pnet.h"

#include <stdio.h>
#include <string.h>

/* Parameters that say where to report an address were for this server; the descriptor
 * of that number is something else to a child that is a server, too. */
static void drop_foreign(char **env)
{
    static const char *const prefixes[] = {"PMIX_SERVER_URI",
                                           "PMIX_DSTORE_",
                                           "TENON_SERVER_URI",
                                           "PMIX_MCA_server_report_uri=",
                                           "PMIX_MCA_ptl_base_report_uri=",
                                           "PMIX_MCA_ptl_tcp_report_uri="};
    size_t kept = 0;

    for (size_t i = 0; env && env[i]; i++) {
        bool foreign = false;

        for (size_t p = 0; p < PX_COUNT(prefixes); p++)
            foreign |= px_str_starts(env[i], prefixes[p]);
        if (foreign)
            free(env[i]);
        else
            env[kept++] = env[i];
    }
    if (env)
        env[kept] = NULL;
}

pmix_status_t px_server_child_env(struct px_server *srv, const pmix_proc_t *proc,
                                  char ***env)
{
    PX_AUTOFREE char *modes = px_module_names("psec");
    PX_AUTOFREE char *stores = px_module_names("gds");
    char rank[16];
    pmix_status_t rc = PMIX_SUCCESS;

    if (!modes || !stores)
        return PMIX_ERR_NOMEM;
    snprintf(rank, sizeof rank, "%u", proc->rank);
    const struct {
        const char *name, *value;
    } vars[] = {
        {"PMIX_NAMESPACE", proc->nspace},
        {"PMIX_RANK", rank},
        {"PMIX_SERVER_URI41", srv->uri},
        {"PMIX_SERVER_URI4", srv->uri},
        {"PMIX_SERVER_URI3", srv->uri},
        {"PMIX_SERVER_URI21", srv->uri},
        {"TENON_SERVER_URI", srv->own_uri},
        {"PMIX_SECURITY_MODE", modes},
        {"PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC"},
        {"PMIX_GDS_MODULE", stores},
        {"PMIX_SERVER_TMPDIR", srv->tmpdir},
        {"PMIX_SYSTEM_TMPDIR", srv->system_tmpdir},
        {"PMIX_HOSTNAME", px_process.model->hostname},
        {"PMIX_VERSION", PX_IMITATED_VERSION},
    };
    drop_foreign(*env);
    for (size_t i = 0; !rc && i < PX_COUNT(vars); i++)
        if (vars[i].value && vars[i].value[0])
            rc = px_env_set(env, vars[i].name, vars[i].value, true);
    return rc ? rc : px_launch_envs_read(srv->part.launch_envs, proc, env);
}

/* In the caller's thread: some hosts call it in the forked child, where no loop runs.
 * All it reads is fixed once the server has started. */
PX_EXPORT pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env)
{
    if (!px_process.server)
        return PMIX_ERR_INIT;
    if (!proc || !env)
        return PMIX_ERR_BAD_PARAM;
    return px_server_child_env(px_process.server, proc, env);
}

/* ---- what goes along with a launch ----------------------------------------------- */

struct setup {
    struct px_server_op op;
    pmix_nspace_t nspace;
    px_infos answer;
    pmix_setup_application_cbfunc_t cb;
};

static pmix_status_t contribute(struct px_server *srv, const struct px_server_op *op)
{
    struct setup *s = PX_CONTAINER_OF(op, struct setup, op);
    const px_infos *info = &op->api.args.info;
    struct px_err err = {0};
    pmix_status_t rc = px_pnet_contribute(srv, s->nspace, info->v, info->n, &s->answer,
                                          &err);

    if (err.text[0])
        px_log(PX_LOG_ERROR, "server", "%s", err.text);
    return rc;
}

/* The host has read the answer. In any thread. */
static void on_read(pmix_status_t status PX_UNUSED, void *cbdata)
{
    px_infos *answer = cbdata;

    px_infos_cleanup(answer);
    free(answer);
}

static void finish_setup(struct px_api *api)
{
    struct setup *s = PX_CONTAINER_OF(api, struct setup, op.api);
    px_infos *kept = s->answer.n ? malloc(sizeof(*kept)) : NULL;

    if (kept) {
        *kept = s->answer;
        s->cb(api->status, kept->v, kept->n, api->cbdata, on_read, kept);
        return;
    }
    s->cb(s->answer.n ? PMIX_ERR_NOMEM : api->status, NULL, 0, api->cbdata, NULL, NULL);
    px_infos_cleanup(&s->answer);
}

PX_EXPORT pmix_status_t PMIx_server_setup_application(
    const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
    pmix_setup_application_cbfunc_t cbfunc, void *cbdata)
{
    struct setup s = {.op = {.run = contribute,
                             .api = {.finish = finish_setup,
                                     .request = &px_request_infos,
                                     .args.info = px_infos_borrow(info, ninfo),
                                     .cbdata = cbdata}},
                      .cb = cbfunc};
    bool sound = nspace && nspace[0] && cbfunc &&
                 px_str_copy(s.nspace, sizeof s.nspace, nspace);

    return px_server_submit(&s.op, sizeof s, sound);
}
