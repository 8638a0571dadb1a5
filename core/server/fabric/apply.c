/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of fabric components to a launch, applied on each node. Everything is
 * read before anything is applied. */
#include "core/server/fabric/apply.h"

#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/fabric/blob.h"
#include "core/server/fabric/gather.h"
#include "core/server/fabric/shares.h"
#include "core/server/fabric/values.h"
#include "core/server/host.h"
#include "core/server/node/environment.h"
#include "core/server/server.h"
#include "core/wire/codec.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

#include <string.h>

/* ---- on each node ---------------------------------------------------------------- */

static pmix_status_t failed(const struct px_module *m, const char *nspace,
                            pmix_status_t rc, struct px_err *err)
{
    return rc ? px_err_set(err, rc,
                           "component pnet/%s cannot prepare this node for job %s: %s",
                           m->component->name, nspace, PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* Applies the shares from the worst component to the best, so that the best sets a
 * variable last. The host's variables follow. */
static pmix_status_t apply_shares(struct px_server *srv, const char *nspace,
                                  const struct px_share *shares, const px_infos *host,
                                  struct px_err *err)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);
    struct px_launch_env *env = px_launch_env_create(nspace);
    pmix_status_t rc = PMIX_SUCCESS;

    if (!env)
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot prepare job %s: out of memory",
                          nspace);
    for (size_t i = n; !rc && i-- > 0;)
        if (shares[i].present)
            rc = failed(&m[i], nspace,
                        PX_OPS(pnet, &m[i])
                            ->apply(m[i].self, nspace, shares[i].info, shares[i].n),
                        err);
    if (!rc) /* gives components the places of the processes */
        rc = px_values_applied(srv, nspace, shares, err);
    for (size_t i = n; !rc && i-- > 0;)
        if (shares[i].present)
            rc = failed(
                &m[i], nspace,
                PX_OPS(pnet, &m[i])->envars(m[i].self, nspace, px_launch_env_set, env),
                err);
    for (size_t i = 0; !rc && i < host->n; i++) {
        rc = px_launch_env_change(env, &host->v[i]);
        if (rc)
            px_err_set(err, rc, "cannot prepare job %s: bad value of %.64s: %s", nspace,
                       host->v[i].key, PMIx_Error_string(rc));
    }
    if (rc)
        px_launch_env_free(env);
    else
        px_launch_env_publish(srv, env);
    return rc;
}

/* Reads the shares. *shares is NULL if neither components nor environment change. */
static pmix_status_t read_shares(const char *nspace, const pmix_info_t *info, size_t n,
                                 struct px_share **shares, struct px_err *err)
{
    const pmix_info_t *blob = px_info_find(info, n, PX_BLOB_KEY);
    bool given = blob;

    *shares = NULL;
    for (size_t i = 0; !given && i < n; i++)
        given = px_launch_env_directive(&info[i]);
    if (!given)
        return PMIX_SUCCESS;
    if (px_pnet_check_required(nspace, err))
        return err->status;
    *shares = px_shares_create();
    if (!*shares)
        return px_err_nomem(err, "prepare job %s", nspace);
    pmix_status_t rc = blob ? px_shares_read(*shares, &blob->value, nspace, err)
                            : PMIX_SUCCESS;
    if (rc) {
        px_err_prefix(err, "cannot read the contributions to job %s", nspace);
        px_shares_free(px_take(shares));
    }
    return rc;
}

/* Applies the shares, which may be NULL. */
static pmix_status_t apply_or_forget(struct px_server *srv, const char *nspace,
                                     const struct px_share *shares,
                                     const pmix_info_t *info, size_t n,
                                     struct px_err *err)
{
    const px_infos host = {.v = (pmix_info_t *)info, .n = n};
    pmix_status_t rc = shares ? apply_shares(srv, nspace, shares, &host, err)
                              : PMIX_SUCCESS;

    if (rc)
        px_pnet_forget(srv, nspace);
    return rc;
}

pmix_status_t px_pnet_apply_untried(struct px_server *srv, const char *nspace,
                                    const pmix_info_t *info, size_t n,
                                    struct px_err *err)
{
    struct px_share *shares;
    pmix_status_t rc = read_shares(nspace, info, n, &shares, err);

    if (!rc)
        rc = apply_or_forget(srv, nspace, shares, info, n, err);
    px_shares_free(shares);
    return rc;
}

/* ---- the same, after a gather and a trial ---------------------------------------- */

struct px_server_setup {
    struct px_server *server;
    pmix_nspace_t nspace;
    px_infos gathered;       /* for the built-in host */
    const pmix_info_t *info; /* borrowed */
    size_t n_info;
    struct px_share *shares;
    px_server_setup_fn fn;
    void *arg;
};

/* Without memory calls fn and returns NULL. */
static struct px_server_setup *setup_create(struct px_server *srv, const char *nspace,
                                            px_server_setup_fn fn, void *arg)
{
    struct px_server_setup *s = calloc(1, sizeof(*s));
    struct px_err err = {0};

    if (!s) {
        px_err_nomem(&err, "prepare job %s", nspace);
        fn(arg, err.status, err.text);
        return NULL;
    }
    *s = (struct px_server_setup){.server = srv, .fn = fn, .arg = arg};
    px_str_copy(s->nspace, sizeof(s->nspace), nspace);
    return s;
}

static void setup_free(struct px_server_setup *s)
{
    px_infos_cleanup(&s->gathered);
    px_shares_free(s->shares);
    free(s);
}

static void on_tried(void *arg, px_infos *none PX_UNUSED, struct px_err *err)
{
    struct px_server_setup *s = arg;
    const px_server_setup_fn fn = s->fn;
    void *fn_arg = s->arg;
    pmix_status_t rc = err->status;

    if (!rc)
        rc = apply_or_forget(s->server, s->nspace, s->shares, s->info, s->n_info, err);
    setup_free(s);
    fn(fn_arg, rc, err->text);
}

static void try_and_apply(struct px_server_setup *s)
{
    struct px_err err = {0};

    if (read_shares(s->nspace, s->info, s->n_info, &s->shares, &err) || !s->shares)
        on_tried(s, NULL, &err);
    else
        px_gather_try(s->server, s->nspace, s->shares, on_tried, s);
}

void px_pnet_apply(struct px_server *srv, const char *nspace, const pmix_info_t *info,
                   size_t n, px_server_setup_fn fn, void *arg)
{
    struct px_server_setup *s = setup_create(srv, nspace, fn, arg);

    if (!s)
        return;
    s->info = info;
    s->n_info = n;
    try_and_apply(s);
}

static void on_gathered(void *arg, px_infos *out, struct px_err *err)
{
    struct px_server_setup *s = arg;

    s->gathered = *out;
    s->info = out->v;
    s->n_info = out->n;
    if (err->status)
        on_tried(s, NULL, err);
    else
        try_and_apply(s);
}

void px_server_setup_fabric(struct px_server *srv, const char *nspace,
                            const pmix_info_t *info, size_t n, px_server_setup_fn fn,
                            void *arg, struct px_server_setup **out)
{
    struct px_server_setup *s = setup_create(srv, nspace, fn, arg);

    if (!s)
        return;
    *out = s; /* not later, as fn may run, and may free what has *out */
    px_gather_start(srv, nspace, info, n, on_gathered, s);
}

void px_server_setup_cancel(struct px_server_setup *s)
{
    if (!s)
        return;
    px_gather_cancel(s->server, s);
    setup_free(s);
}

/* ---- registered jobs ------------------------------------------------------------- */

/* Adds variables of components to a registered job, from the worst component to the
 * best. A component without a share in the job returns PMIX_ERR_NOT_FOUND. */
pmix_status_t px_pnet_registered(struct px_server *srv, const char *nspace,
                                 struct px_err *err)
{
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);
    struct px_launch_env *env = NULL;
    pmix_status_t rc = px_launch_env_dup(srv, nspace, &env);

    if (rc)
        return px_err_nomem(err, "prepare job %s", nspace);
    for (size_t i = n; env && !rc && i-- > 0;) {
        rc = PX_OPS(pnet, &m[i])->envars(m[i].self, nspace, px_launch_env_set, env);
        rc = failed(&m[i], nspace, rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc, err);
    }
    if (rc)
        px_launch_env_free(env);
    else if (env)
        px_launch_env_publish(srv, env);
    return rc;
}

/* ---- the part -------------------------------------------------------------------- */

static void stop(struct px_server *srv)
{
    px_gather_drop(srv, NULL);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    px_gather_drop(srv, nspace);
    px_pnet_forget(srv, nspace);
}

const struct px_server_part px_pnet_part = {
    .name = "pnet",
    .stop = stop,
    .nspace_gone = nspace_gone,
};
