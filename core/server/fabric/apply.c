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
            rc = failed(&m[i], nspace,
                        PX_OPS(pnet, &m[i])->envars(m[i].self, nspace, set, env), err);
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
    for (size_t i = 0; i < n; i++)
        given |= px_launch_env_is_change(&info[i]);
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

/* Applies the shares and frees them. shares may be NULL. */
static pmix_status_t take_shares(struct px_server *srv, const char *nspace,
                                 struct px_share *shares, const pmix_info_t *info,
                                 size_t n, struct px_err *err)
{
    const px_infos host = {.v = (pmix_info_t *)info, .n = n};
    pmix_status_t rc = shares ? apply_shares(srv, nspace, shares, &host, err)
                              : PMIX_SUCCESS;

    if (rc)
        px_pnet_forget(srv, nspace);
    px_shares_free(shares);
    return rc;
}

pmix_status_t px_pnet_apply_untried(struct px_server *srv, const char *nspace,
                                    const pmix_info_t *info, size_t n,
                                    struct px_err *err)
{
    struct px_share *shares;
    pmix_status_t rc = read_shares(nspace, info, n, &shares, err);

    return rc ? rc : take_shares(srv, nspace, shares, info, n, err);
}

/* ---- the same, after a trial ----------------------------------------------------- */

struct px_pnet_apply {
    struct px_server *server;
    pmix_nspace_t nspace;
    struct px_share *shares;
    const pmix_info_t *info; /* borrowed */
    size_t n_info;
    struct px_gather *trial;
    px_pnet_applied_fn fn;
    void *arg;
};

static bool any_tried(const struct px_share *shares)
{
    size_t n, i = 0;

    (void)px_modules("pnet", &n);
    while (shares && i < n && !px_shares_is_tried(shares, i))
        i++;
    return shares && i < n;
}

static void on_tried(void *arg, pmix_status_t status, px_infos *none PX_UNUSED,
                     const struct px_err *tried)
{
    const struct px_pnet_apply a = *(struct px_pnet_apply *)arg;
    struct px_err err = *tried;

    free(arg);
    if (status)
        px_shares_free(a.shares);
    else
        status = take_shares(a.server, a.nspace, a.shares, a.info, a.n_info, &err);
    a.fn(a.arg, status, &err);
}

pmix_status_t px_pnet_apply(struct px_server *srv, const char *nspace,
                            const pmix_info_t *info, size_t n, px_pnet_applied_fn fn,
                            void *arg, struct px_pnet_apply **out, struct px_err *err)
{
    struct px_share *shares;
    struct px_gather *trial;
    pmix_status_t rc = read_shares(nspace, info, n, &shares, err);

    *out = NULL;
    if (rc)
        return rc;
    if (!any_tried(shares)) {
        rc = take_shares(srv, nspace, shares, info, n, err);
        if (!rc)
            fn(arg, PMIX_SUCCESS, err);
        return rc;
    }
    struct px_pnet_apply *a = malloc(sizeof(*a));
    if (!a) {
        px_shares_free(shares);
        return px_err_nomem(err, "prepare job %s", nspace);
    }
    *a = (struct px_pnet_apply){.server = srv,
                                .shares = shares,
                                .info = info,
                                .n_info = n,
                                .fn = fn,
                                .arg = arg};
    px_str_copy(a->nspace, sizeof(a->nspace), nspace);
    rc = px_gather_try(srv, nspace, shares, on_tried, a, &trial, err);
    if (rc) {
        px_shares_free(shares);
        free(a);
    } else if (trial) {
        a->trial = trial;
        *out = a;
    }
    return rc;
}

static void apply_cancel(struct px_pnet_apply *a)
{
    if (!a)
        return;
    px_gather_cancel(a->trial);
    px_shares_free(a->shares);
    free(a);
}

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
        rc = PX_OPS(pnet, &m[i])->envars(m[i].self, nspace, set, env);
        rc = failed(&m[i], nspace, rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc, err);
    }
    if (rc)
        px_launch_env_free(env);
    else if (env)
        px_launch_env_publish(srv, env);
    return rc;
}

/* ---- gather and apply, for the built-in host ------------------------------------- */

struct px_server_setup {
    struct px_server *server;
    struct px_gather *gather;
    struct px_pnet_apply *apply;
    px_infos gathered;
    bool *over; /* set when fn is called inside px_server_setup_fabric; else NULL */
    px_server_setup_fn fn;
    void *arg;
    pmix_nspace_t nspace;
};

static void on_applied(void *arg, pmix_status_t status, const struct px_err *err)
{
    struct px_server_setup *s = arg;
    const px_server_setup_fn fn = s->fn;
    void *fn_arg = s->arg;

    if (s->over)
        *s->over = true;
    px_infos_cleanup(&s->gathered);
    free(s);
    fn(fn_arg, status, err->text);
}

static void on_gathered(void *arg, pmix_status_t status, px_infos *out,
                        const struct px_err *gathered)
{
    struct px_server_setup *s = arg;
    struct px_err err = *gathered;

    s->gather = NULL;
    s->gathered = *out;
    if (!status) /* s may be freed after success */
        status = px_pnet_apply(s->server, s->nspace, out->v, out->n, on_applied, s,
                               &s->apply, &err);
    if (status)
        on_applied(s, status, &err);
}

pmix_status_t px_server_setup_fabric(struct px_server *srv, const char *nspace,
                                     const pmix_info_t *info, size_t n,
                                     px_server_setup_fn fn, void *arg,
                                     struct px_server_setup **out, struct px_err *err)
{
    struct px_server_setup *s = calloc(1, sizeof(*s));
    struct px_gather *g;
    bool over = false;

    *out = NULL;
    if (!s)
        return px_err_nomem(err, "prepare job %s", nspace);
    *s = (struct px_server_setup){.server = srv, .over = &over, .fn = fn, .arg = arg};
    px_str_copy(s->nspace, sizeof(s->nspace), nspace);
    pmix_status_t rc = px_gather_start(srv, nspace, info, n, on_gathered, s, &g, err);
    if (rc) {
        free(s);
    } else if (!over) {
        s->over = NULL;
        s->gather = g;
        *out = s;
    }
    return rc;
}

void px_server_setup_cancel(struct px_server_setup *s)
{
    if (!s)
        return;
    px_gather_cancel(s->gather);
    apply_cancel(s->apply);
    px_infos_cleanup(&s->gathered);
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
