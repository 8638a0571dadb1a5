/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of fabric components to a launch: gathered into one byte object where
 * the job is launched from, and taken apart again on each node. Nothing of it is
 * applied before all of it was read. */
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/server/launch/environment.h"
#include "core/server/launch/pnet.h"
#include "core/server/server.h"
#include "core/wire/codec.h"
#include "frameworks/pnet/pnet.h"

#include <string.h>

#define BLOB_KEY    "tenon.pnet"
#define BLOB_LAYOUT 1u

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

/* Packs it for a try: a value that cannot travel is the component's mistake, and
 * refused. */
static pmix_status_t add(void *arg, const pmix_info_t *info)
{
    px_infos *share = arg;
    PX_AUTO(px_writer) trial;

    px_writer_init(&trial, px_codec_default);
    if (!info || !info->key[0])
        return PMIX_ERR_BAD_PARAM;
    px_pack_infos(&trial, info, 1);
    if (trial.status)
        return trial.status == PMIX_ERR_NOMEM ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    return px_infos_add_copy(share, info, 1);
}

static pmix_status_t gather(const struct px_module *m, const char *nspace,
                            const pmix_info_t *info, size_t n, px_writer *w,
                            struct px_err *err)
{
    PX_AUTO(px_infos) share = {0};
    PX_AUTO(px_writer) inside;
    pmix_status_t rc;

    px_writer_init(&inside, px_codec_default);
    rc = px_pnet_ops(m)->contribute(m->self, nspace, info, n, add, &share);
    if (rc)
        return failed(m, "contribute to", nspace, rc, err);
    if (!share.n)
        return PMIX_SUCCESS;
    px_pack_infos(&inside, share.v, share.n);
    if (inside.status && !w->status)
        w->status = inside.status;
    px_pack_str(w, m->component->name);
    px_pack_bytes(w, inside.buf.data, inside.buf.len);
    return PMIX_SUCCESS;
}

pmix_status_t px_pnet_contribute(struct px_server *srv, const char *nspace,
                                 const pmix_info_t *info, size_t n, px_infos *out,
                                 struct px_err *err)
{
    size_t n_modules;
    const struct px_module *m = modules(&n_modules);
    PX_AUTO(px_writer) w;
    pmix_status_t rc = PMIX_SUCCESS;

    px_writer_init(&w, px_codec_default);
    px_pack_u32(&w, BLOB_LAYOUT);
    const size_t empty = w.buf.len;
    for (size_t i = 0; !rc && i < n_modules; i++)
        rc = gather(&m[i], nspace, info, n, &w, err);
    if (!rc && w.status)
        rc = px_err_set(err, w.status, "cannot pack what is added to job %s", nspace);
    if (!rc && w.buf.len > empty) {
        const pmix_byte_object_t blob = {(char *)w.buf.data, w.buf.len};

        rc = px_infos_add(out, BLOB_KEY, &blob, PMIX_BYTE_OBJECT);
        if (rc)
            px_err_set(err, rc, "cannot add to job %s: out of memory", nspace);
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

static pmix_status_t read_share(px_reader *r, const struct px_module *m, size_t n,
                                struct share *shares)
{
    PX_AUTOFREE char *name = NULL;
    px_reader inside;
    pmix_status_t rc = px_unpack_str(r, &name);

    if (!rc)
        rc = px_unpack_view(r, &inside, PMIX_BYTE_OBJECT);
    if (rc)
        return rc;
    size_t i = 0;
    while (i < n && strcmp(m[i].component->name, name ? name : "") != 0)
        i++;
    if (i == n) {
        px_log(PX_LOG_WARN, "pnet",
               "this node has no component pnet/%.64s: what it adds is left out",
               name ? name : "?");
        return PMIX_SUCCESS;
    }
    if (shares[i].present)
        return PMIX_ERR_UNPACK_FAILURE;
    shares[i].present = true;
    rc = px_unpack_infos(&inside, &shares[i].info, &shares[i].n);
    return rc || px_reader_done(&inside) ? rc : PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t read_blob(const pmix_value_t *v, const struct px_module *m,
                               size_t n, struct share *shares)
{
    uint32_t layout;
    px_reader r;

    if (v->type != PMIX_BYTE_OBJECT)
        return PMIX_ERR_BAD_PARAM;
    px_reader_init(&r, px_codec_default, (const uint8_t *)v->data.bo.bytes,
                   v->data.bo.bytes ? v->data.bo.size : 0);
    pmix_status_t rc = px_unpack1(&r, &layout, PMIX_UINT32);
    if (!rc && layout != BLOB_LAYOUT)
        rc = PMIX_ERR_UNPACK_FAILURE;
    while (!rc && !px_reader_done(&r))
        rc = read_share(&r, m, n, shares);
    return rc;
}

static pmix_status_t set(void *arg, pmix_rank_t rank, const char *name,
                         const char *value)
{
    return px_launch_env_set(arg, rank, name, value);
}

/* Worst first: the last word is the best one's. */
static pmix_status_t apply_shares(struct px_server *srv, const char *nspace,
                                  const struct px_module *m, size_t n,
                                  const struct share *shares, struct px_err *err)
{
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
    size_t n_modules;
    const struct px_module *m = modules(&n_modules);

    if (!blob)
        return PMIX_SUCCESS;
    struct share *shares = calloc(n_modules + 1, sizeof *shares);
    if (!shares)
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot prepare job %s: out of memory",
                          nspace);
    pmix_status_t rc = read_blob(&blob->value, m, n_modules, shares);
    if (rc) {
        px_err_set(err, rc, "cannot read what was added to job %s: %s", nspace,
                   PMIx_Error_string(rc));
    } else {
        rc = apply_shares(srv, nspace, m, n_modules, shares, err);
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
