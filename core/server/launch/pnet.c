/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of fabric components to a launch: gathered into one byte object where
 * the job is launched from, and taken apart again on each node. Nothing of it is
 * applied before all of it was read. */
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/server/launch/blob.h"
#include "core/server/launch/environment.h"
#include "core/server/launch/pnet.h"
#include "core/server/server.h"
#include "core/wire/codec.h"
#include "frameworks/pnet/pnet.h"

#include <string.h>

#define BLOB_KEY "tenon.pnet"

/* ---- components ------------------------------------------------------------------ */

static const struct px_module *modules(size_t *n)
{
    return px_modules("pnet", n);
}

static void forget(struct px_server *srv, const char *nspace)
{
    size_t n;
    const struct px_module *m = modules(&n);

    px_launch_env_drop(srv, nspace);
    for (size_t i = 0; i < n; i++)
        px_pnet_ops(&m[i])->forget(m[i].self, nspace);
}

static pmix_status_t failed(const struct px_module *m, const char *what,
                            const char *nspace, pmix_status_t rc, struct px_err *err)
{
    return px_err_set(err, rc, "component pnet/%s cannot %s job %s: %s",
                      m->component->name, what, nspace, PMIx_Error_string(rc));
}

/* ---- where the job is launched from ---------------------------------------------- */

/* Directives of the host: variables, and all else. */
struct wanted {
    bool envars, others;
};

struct gathering {
    px_infos share;
    struct wanted wanted;
};

/* All, unless one is asked for. */
static struct wanted read_wanted(const pmix_info_t *info, size_t n)
{
    struct wanted w = {px_info_flag(info, n, PMIX_SETUP_APP_ENVARS),
                       px_info_flag(info, n, PMIX_SETUP_APP_NONENVARS)};

    if (w.envars == w.others || px_info_flag(info, n, PMIX_SETUP_APP_ALL))
        w = (struct wanted){true, true};
    return w;
}

/* Variables alone were asked for: a launch without them would go on as if there were
 * none to forward. */
static bool may_serve(struct wanted w)
{
    size_t n, i = 0;
    const struct px_module *m = modules(&n);

    while (i < n && !px_pnet_ops(&m[i])->forward)
        i++;
    return w.others || i < n;
}

/* Packs it for a try: a value that cannot travel is the component's mistake, and
 * refused. */
static pmix_status_t add(void *arg, const pmix_info_t *info)
{
    struct gathering *g = arg;
    PX_AUTO(px_writer) trial;

    px_writer_init(&trial, px_codec_default);
    if (!info || !info->key[0])
        return PMIX_ERR_BAD_PARAM;
    px_pack_infos(&trial, info, 1);
    if (trial.status)
        return trial.status == PMIX_ERR_NOMEM ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    if (px_launch_env_is_change(info) ? !g->wanted.envars : !g->wanted.others)
        return PMIX_SUCCESS;
    return px_infos_add_copy(&g->share, info, 1);
}

static pmix_status_t gather(const struct px_module *m, const char *nspace,
                            const pmix_info_t *info, size_t n, px_writer *body,
                            struct px_err *err)
{
    struct gathering g = {.wanted = read_wanted(info, n)};
    pmix_status_t rc = px_pnet_ops(m)->contribute(m->self, nspace, info, n, add, &g);

    if (!rc && g.share.n) {
        px_blob_add(body, m->component->name, m->component->version, &g.share);
        rc = body->status;
    }
    px_infos_cleanup(&g.share);
    return rc ? failed(m, "contribute to", nspace, rc, err) : PMIX_SUCCESS;
}

pmix_status_t px_pnet_contribute(struct px_server *srv, const char *nspace,
                                 const pmix_info_t *info, size_t n, px_infos *out,
                                 struct px_err *err)
{
    size_t n_modules;
    const struct px_module *m = modules(&n_modules);
    PX_AUTO(px_writer) body, sealed;
    pmix_status_t rc = PMIX_SUCCESS;

    px_writer_init(&body, px_codec_default);
    px_writer_init(&sealed, px_codec_default);
    if (!may_serve(read_wanted(info, n)))
        rc = px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                        "cannot gather variables for job %s: no component forwards any",
                        nspace);
    for (size_t i = 0; !rc && i < n_modules; i++)
        rc = gather(&m[i], nspace, info, n, &body, err);
    if (!rc && body.buf.len > 0) {
        rc = px_blob_seal(&body, &sealed);
        const pmix_byte_object_t blob = {(char *)sealed.buf.data, sealed.buf.len};

        if (!rc)
            rc = px_infos_add(out, BLOB_KEY, &blob, PMIX_BYTE_OBJECT);
        if (rc)
            px_err_set(err, rc, "cannot pack what is added to job %s: %s", nspace,
                       PMIx_Error_string(rc));
    }
    if (rc)
        forget(srv, nspace);
    return rc;
}

/* ---- on each node ---------------------------------------------------------------- */

struct share { /* of one module */
    pmix_info_t *info;
    size_t n;
    bool present;
};

/* Where the contribution belongs; n: to none, which is said. */
static size_t module_of(const struct px_blob_share *from, const char *nspace,
                        const struct px_module *m, size_t n)
{
    size_t i = 0;

    while (i < n && strcmp(m[i].component->name, from->component) != 0)
        i++;
    if (i == n)
        px_log(PX_LOG_WARN, "pnet",
               "this node has no component pnet/%.64s (%.32s): what it adds to job %s "
               "is left out",
               from->component, from->version, nspace);
    return i;
}

static pmix_status_t read_shares(const pmix_value_t *v, const char *nspace,
                                 const struct px_module *m, size_t n,
                                 struct share *shares, struct px_err *err)
{
    PX_AUTOFREE uint8_t *plain = NULL;
    px_reader body;

    if (v->type != PMIX_BYTE_OBJECT)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "it is no byte object");
    pmix_status_t rc = px_blob_open(v->data.bo.bytes, v->data.bo.size, &body, &plain,
                                    err);
    if (rc)
        return rc;
    while (!rc && !px_reader_done(&body)) {
        struct px_blob_share from;

        rc = px_blob_next(&body, &from);
        if (rc)
            break;
        const size_t i = module_of(&from, nspace, m, n);
        if (i < n && shares[i].present)
            rc = PMIX_ERR_UNPACK_FAILURE;
        else if (i < n) {
            shares[i].present = true;
            rc = px_unpack_infos(&from.infos, &shares[i].info, &shares[i].n);
            if (!rc && !px_reader_done(&from.infos))
                rc = PMIX_ERR_UNPACK_FAILURE;
        }
        px_blob_share_fini(&from);
    }
    return rc ? px_err_set(err, rc, "%s", PMIx_Error_string(rc)) : PMIX_SUCCESS;
}

static pmix_status_t set(void *arg, pmix_rank_t rank, const char *name,
                         const char *value)
{
    return px_launch_env_set(arg, rank, name, value);
}

/* Worst first: the last word is the best one's, and after it the host's. */
static pmix_status_t apply_shares(struct px_server *srv, const char *nspace,
                                  const struct share *shares, const px_infos *host,
                                  struct px_err *err)
{
    size_t n;
    const struct px_module *m = modules(&n);
    struct px_launch_env *env = px_launch_env_create(nspace);
    pmix_status_t rc = PMIX_SUCCESS;

    if (!env)
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot prepare job %s: out of memory",
                          nspace);
    for (size_t i = n; !rc && i-- > 0;) {
        if (!shares[i].present)
            continue;
        rc = px_pnet_ops(&m[i])->apply(m[i].self, nspace, shares[i].info, shares[i].n);
        if (!rc)
            rc = px_pnet_ops(&m[i])->envars(m[i].self, nspace, set, env);
        if (rc)
            failed(&m[i], "prepare this node for", nspace, rc, err);
    }
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
    const pmix_info_t *blob = px_info_find(info, n, BLOB_KEY);
    const px_infos host = {.v = (pmix_info_t *)info, .n = n};
    pmix_status_t rc = PMIX_SUCCESS;
    bool given = blob;
    size_t n_modules;
    const struct px_module *m = modules(&n_modules);

    for (size_t i = 0; i < n; i++)
        given |= px_launch_env_is_change(&info[i]);
    if (!given)
        return PMIX_SUCCESS;
    struct share *shares = calloc(n_modules + 1, sizeof *shares);
    if (!shares)
        return px_err_nomem(err, "prepare job %s", nspace);
    if (blob)
        rc = read_shares(&blob->value, nspace, m, n_modules, shares, err);
    if (rc) {
        px_err_prefix(err, "cannot read what was added to job %s", nspace);
    } else {
        rc = apply_shares(srv, nspace, shares, &host, err);
        if (rc)
            forget(srv, nspace);
    }
    for (size_t i = 0; i < n_modules; i++)
        PMIx_Info_free(shares[i].info, shares[i].n);
    free(shares);
    return rc;
}

pmix_status_t px_server_setup_fabric(struct px_server *srv, const char *nspace,
                                     const pmix_info_t *info, size_t n,
                                     struct px_err *err)
{
    PX_AUTO(px_infos) blob = {0};
    pmix_status_t rc = px_pnet_contribute(srv, nspace, info, n, &blob, err);

    return rc ? rc : px_pnet_apply(srv, nspace, blob.v, blob.n, err);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    forget(srv, nspace);
}

const struct px_server_part px_pnet_part = {
    .name = "pnet",
    .nspace_gone = nspace_gone,
};
