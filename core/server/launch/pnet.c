/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of fabric components to a launch: gathered into one byte object where
 * the job is launched from, and taken apart again on each node. Nothing of it is
 * applied before all of it was read. */
#include "core/base/strv.h"
#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/server/launch/pnet.h"
#include "core/server/server.h"
#include "core/wire/codec.h"
#include "frameworks/pnet/pnet.h"

#include <stdatomic.h>
#include <string.h>

#define BLOB_KEY    "tenon.pnet"
#define BLOB_LAYOUT 1u

/* ---- variables of jobs ----------------------------------------------------------- */

/* Components give them to the processes of a job, in a list that can be read while it
 * changes: the loop writes it, PMIx_server_setup_fork reads in any thread, and in
 * forked children. A published one is never changed, only taken out of the list, and
 * freed once there is no reader. */
struct var {
    pmix_rank_t rank;
    char *name, *value;
};

struct env {
    struct env *_Atomic next;
    struct env *next_retired;
    pmix_nspace_t nspace;
    struct var *v;
    size_t n;
};

struct px_launch_envs { /* all zero is empty */
    struct env *_Atomic first;
    struct env *retired; /* taken out, but perhaps still being read */
    atomic_uint readers;
};

static struct env *env_create(const char *nspace)
{
    struct env *e = calloc(1, sizeof *e);

    if (e)
        px_str_copy(e->nspace, sizeof e->nspace, nspace);
    return e;
}

static void env_free(struct env *e)
{
    for (size_t i = 0; e && i < e->n; i++) {
        free(e->v[i].name);
        free(e->v[i].value);
    }
    if (e)
        free(e->v);
    free(e);
}

static struct var *find(struct env *e, pmix_rank_t rank, const char *name)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->v[i].rank == rank && strcmp(e->v[i].name, name) == 0)
            return &e->v[i];
    }
    return NULL;
}

/* A component that set those of the core would lead the process elsewhere. */
static bool may_be_set(const char *name)
{
    return name && *name && !strchr(name, '=') && !px_str_starts(name, "PMIX_") &&
           !px_str_starts(name, "TENON_");
}

/* A later variable of the same rank and name replaces the earlier. */
static pmix_status_t env_set(struct env *e, pmix_rank_t rank, const char *name,
                             const char *value)
{
    if (!may_be_set(name) || !value ||
        (rank >= PMIX_RANK_VALID && rank != PMIX_RANK_WILDCARD))
        return PMIX_ERR_BAD_PARAM;
    PX_AUTOFREE char *copy = strdup(value);
    PX_AUTOFREE char *name_copy = strdup(name);
    struct var *old = find(e, rank, name);

    if (!copy || !name_copy)
        return PMIX_ERR_NOMEM;
    if (old) {
        free(old->value);
        old->value = px_take(&copy);
        return PMIX_SUCCESS;
    }
    struct var *v = reallocarray(e->v, e->n + 1, sizeof *v);
    if (!v)
        return PMIX_ERR_NOMEM;
    e->v = v;
    e->v[e->n++] = (struct var){rank, px_take(&name_copy), px_take(&copy)};
    return PMIX_SUCCESS;
}

/* A reader that began before it was taken out may still be there; one that begins later
 * does not find it. */
static void free_retired(struct px_launch_envs *envs)
{
    if (atomic_load(&envs->readers) > 0)
        return;
    while (envs->retired) {
        struct env *e = envs->retired;

        envs->retired = e->next_retired;
        env_free(e);
    }
}

static void take_out(struct px_launch_envs *envs, const char *nspace,
                     struct env *_Atomic *at)
{
    for (struct env *e; (e = atomic_load(at)); at = &e->next) {
        if (strcmp(e->nspace, nspace) != 0)
            continue;
        atomic_store(at, atomic_load(&e->next));
        e->next_retired = envs->retired;
        envs->retired = e;
        break;
    }
    free_retired(envs);
}

/* Takes e over, in place of what the job had. */
static void env_publish(struct px_launch_envs *envs, struct env *e)
{
    atomic_store(&e->next, atomic_load(&envs->first));
    atomic_store(&envs->first, e);
    take_out(envs, e->nspace, &e->next);
}

static void destroy(struct px_server *srv)
{
    struct px_launch_envs *envs = srv->part.launch_envs;

    for (struct env *e; (e = atomic_load(&envs->first));)
        take_out(envs, e->nspace, &envs->first);
}

/* Those of all ranks first, which those of this one then replace. */
static pmix_status_t apply(const struct env *e, pmix_rank_t rank, char ***env)
{
    const pmix_rank_t order[] = {PMIX_RANK_WILDCARD, rank};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t k = 0; k < PX_COUNT(order); k++) {
        for (size_t i = 0; !rc && i < e->n; i++) {
            if (e->v[i].rank == order[k])
                rc = px_env_set(env, e->v[i].name, e->v[i].value, true);
        }
    }
    return rc;
}

pmix_status_t px_launch_envs_read(struct px_launch_envs *envs, const pmix_proc_t *proc,
                                  char ***env)
{
    pmix_status_t rc = PMIX_SUCCESS;
    const struct env *e;

    atomic_fetch_add(&envs->readers, 1);
    e = atomic_load(&envs->first);
    while (e && strncmp(e->nspace, proc->nspace, PMIX_MAX_NSLEN) != 0)
        e = atomic_load(&e->next);
    if (e)
        rc = apply(e, proc->rank, env);
    atomic_fetch_sub(&envs->readers, 1);
    return rc;
}

/* ---- components ------------------------------------------------------------------ */

static const struct px_module *modules(size_t *n)
{
    return px_modules("pnet", n);
}

static void forget(struct px_server *srv, const char *nspace)
{
    size_t n;
    const struct px_module *m = modules(&n);

    take_out(srv->part.launch_envs, nspace, &srv->part.launch_envs->first);
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
    return env_set(arg, rank, name, value);
}

/* Worst first: the last word is the best one's. */
static pmix_status_t apply_shares(struct px_server *srv, const char *nspace,
                                  const struct px_module *m, size_t n,
                                  const struct share *shares, struct px_err *err)
{
    struct env *env = env_create(nspace);
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
        env_free(env);
    else
        env_publish(srv->part.launch_envs, env);
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
    PX_PART_STATE(launch_envs, struct px_launch_envs),
    .destroy = destroy,
    .nspace_gone = nspace_gone,
};
