/* SPDX-License-Identifier: BSD-3-Clause */
/* What a child needs to find us: its environment, and what hosts send along with a launch. */
#include "core/base/env.h"
#include "core/base/str.h"
#include "core/server/server.h"

#include <stdio.h>
#include <string.h>

static void drop_foreign(char **env)
{
    static const char *const prefixes[] = {"PMIX_SERVER_URI", "PMIX_DSTORE_",
                                           "TENON_SERVER_URI"};
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

static char *security_modes(void)
{
    size_t n;
    const struct px_module *m = px_modules("psec", &n);
    PX_AUTO(px_strv) names = NULL;

    for (size_t i = 0; i < n; i++)
        if (px_strv_append(&names, m[i].component->name))
            return NULL;
    return px_strv_join(names, ',');
}

pmix_status_t px_server_child_env(struct px_server *srv, const pmix_proc_t *proc,
                                  char ***env)
{
    PX_AUTOFREE char *modes = security_modes();
    char rank[16];
    pmix_status_t rc = PMIX_SUCCESS;

    if (!modes)
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
        {"PMIX_GDS_MODULE", "hash"},
        {"PMIX_SERVER_TMPDIR", srv->tmpdir},
        {"PMIX_SYSTEM_TMPDIR", srv->system_tmpdir},
        {"PMIX_HOSTNAME", px_process.model->hostname},
        {"PMIX_VERSION", PX_IMITATED_VERSION},
    };
    drop_foreign(*env);
    for (size_t i = 0; !rc && i < PX_COUNT(vars); i++)
        if (vars[i].value && vars[i].value[0])
            rc = px_env_set(env, vars[i].name, vars[i].value, true);
    return rc;
}

/* In the caller's thread: some hosts call it in the forked child, where no loop runs. All it reads
 * is fixed once the server has started. */
PX_EXPORT pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env)
{
    if (!px_process.server)
        return PMIX_ERR_INIT;
    if (!proc || !env)
        return PMIX_ERR_BAD_PARAM;
    return px_server_child_env(px_process.server, proc, env);
}

/* No fabric component contributes yet, so the launch needs nothing sent along: an empty answer, on
 * the loop as every other. */
struct setup {
    struct px_msg msg;
    pmix_setup_application_cbfunc_t app_cb;
    pmix_op_cbfunc_t op_cb;
    void *cbdata;
};

static void on_setup(struct px_msg *msg)
{
    struct setup *s = PX_CONTAINER_OF(msg, struct setup, msg);

    if (s->app_cb)
        s->app_cb(PMIX_SUCCESS, NULL, 0, s->cbdata, NULL, NULL);
    else
        s->op_cb(PMIX_SUCCESS, s->cbdata);
    free(s);
}

static pmix_status_t post_setup(const struct setup *setup)
{
    struct setup *s = malloc(sizeof *s);

    if (!s)
        return PMIX_ERR_NOMEM;
    *s = *setup;
    s->msg.run = on_setup;
    if (!px_process_post(&s->msg)) {
        free(s);
        return PMIX_ERR_INIT;
    }
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_server_setup_application(
    const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
    pmix_setup_application_cbfunc_t cbfunc, void *cbdata)
{
    struct setup s = {.app_cb = cbfunc, .cbdata = cbdata};

    if (!px_server_here())
        return PMIX_ERR_INIT;
    if (!nspace || !nspace[0] || !cbfunc || (ninfo && !info))
        return PMIX_ERR_BAD_PARAM;
    return post_setup(&s);
}

PX_EXPORT pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                                        pmix_info_t info[],
                                                        size_t ninfo,
                                                        pmix_op_cbfunc_t cbfunc,
                                                        void *cbdata)
{
    struct setup s = {.op_cb = cbfunc, .cbdata = cbdata};

    if (!px_server_here())
        return PMIX_ERR_INIT;
    if (!nspace || !nspace[0] || (ninfo && !info))
        return PMIX_ERR_BAD_PARAM;
    return cbfunc ? post_setup(&s) : PMIX_SUCCESS;
}
