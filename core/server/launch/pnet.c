/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of fabric components to a launch, taken apart on each node. Nothing is
 * applied before all of it was read. */
#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/server/launch/blob.h"
#include "core/server/launch/environment.h"
#include "core/server/launch/gather.h"
#include "core/server/launch/pnet.h"
#include "core/server/launch/shares.h"
#include "core/server/launch/values.h"
#include "core/server/server.h"
#include "core/wire/codec.h"
#include "frameworks/pnet/pnet.h"

#include <string.h>

/* ---- on each node ---------------------------------------------------------------- */

static pmix_status_t set(void *arg, pmix_rank_t rank, const char *name,
                         const char *value)
{
    return px_launch_env_set(arg, rank, name, value);
}

static pmix_status_t failed(const struct px_module *m, const char *nspace,
                            pmix_status_t rc, struct px_err *err)
{
    return rc ? px_err_set(err, rc,
                           "component pnet/%s cannot prepare this node for job %s: %s",
                           m->component->name, nspace, PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* Worst first: the last word is the best one's, and after it the host's. */
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
                        px_pnet_ops(&m[i])->apply(m[i].self, nspace, shares[i].info,
                                                  shares[i].n),
                        err);
    if (!rc) /* from which they learn where its processes are */
        rc = px_values_applied(srv, nspace, shares, err);
    for (size_t i = n; !rc && i-- > 0;)
        if (shares[i].present)
            rc = failed(&m[i], nspace,
                        px_pnet_ops(&m[i])->envars(m[i].self, nspace, set, env), err);
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

pmix_status_t px_pnet_apply(struct px_server *srv, const char *nspace,
                            const pmix_info_t *info, size_t n, struct px_err *err)
{
    const pmix_info_t *blob = px_info_find(info, n, PX_BLOB_KEY);
    const px_infos host = {.v = (pmix_info_t *)info, .n = n};
    pmix_status_t rc = PMIX_SUCCESS;
    bool given = blob;

    for (size_t i = 0; i < n; i++)
        given |= px_launch_env_is_change(&info[i]);
    if (!given)
        return PMIX_SUCCESS;
    if (px_pnet_check_required(nspace, err))
        return err->status;
    struct px_share *shares = px_shares_create();
    if (!shares)
        return px_err_nomem(err, "prepare job %s", nspace);
    if (blob)
        rc = px_shares_read(shares, &blob->value, nspace, err);
    if (rc) {
        px_err_prefix(err, "cannot read what was added to job %s", nspace);
    } else {
        rc = apply_shares(srv, nspace, shares, &host, err);
        if (rc)
            px_pnet_forget(srv, nspace);
    }
    px_shares_free(shares);
    return rc;
}

/* Worst first, as before. Of jobs of others a component knows nothing. */
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
        rc = px_pnet_ops(&m[i])->envars(m[i].self, nspace, set, env);
        rc = failed(&m[i], nspace, rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc, err);
    }
    if (rc)
        px_launch_env_free(env);
    else if (env)
        px_launch_env_publish(srv, env);
    return rc;
}

/* ---- both, for the host inside the library --------------------------------------- */

struct px_server_setup {
    struct px_server *server;
    struct px_gather *gather;
    px_server_setup_fn fn;
    void *arg;
    pmix_nspace_t nspace;
};

static void on_gathered(void *arg, pmix_status_t status, px_infos *out,
                        const struct px_err *gathered)
{
    struct px_server_setup s = *(struct px_server_setup *)arg;
    struct px_err err = *gathered;

    free(arg);
    if (!status)
        status = px_pnet_apply(s.server, s.nspace, out->v, out->n, &err);
    px_infos_cleanup(out);
    s.fn(s.arg, status, err.text);
}

pmix_status_t px_server_setup_fabric(struct px_server *srv, const char *nspace,
                                     const pmix_info_t *info, size_t n,
                                     px_server_setup_fn fn, void *arg,
                                     struct px_server_setup **out, struct px_err *err)
{
    struct px_server_setup *s = calloc(1, sizeof *s);
    struct px_gather *g;

    *out = NULL;
    if (!s)
        return px_err_nomem(err, "prepare job %s", nspace);
    *s = (struct px_server_setup){.server = srv, .fn = fn, .arg = arg};
    px_str_copy(s->nspace, sizeof s->nspace, nspace);
    pmix_status_t rc = px_gather_start(srv, nspace, info, n, on_gathered, s, &g, err);
    if (rc) {
        free(s);
    } else if (g) {
        s->gather = g;
        *out = s;
    }
    return rc;
}

void px_server_setup_cancel(struct px_server_setup *s)
{
    if (s)
        px_gather_cancel(s->gather);
    free(s);
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
