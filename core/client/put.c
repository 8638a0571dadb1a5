/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, commit, and values for this process alone. */
#include "core/client/client.h"

#include <string.h>

struct put_op {
    struct px_api api;
    const pmix_proc_t *proc;
    const char *key;
    const pmix_value_t *value;
    pmix_scope_t scope;
};

static pmix_status_t add_pair(px_writer *w, const struct put_op *op)
{
    pmix_status_t rc;

    px_pack_kval(w, op->key, op->value);
    rc = w->status;
    w->status = PMIX_SUCCESS;
    return rc;
}

/* All or nothing: a value that this dialect can not carry must fail the put, not the
 * commit of all the others. */
static void on_put(struct px_api *api)
{
    struct put_op *op = PX_CONTAINER_OF(api, struct put_op, api);
    struct px_model *m = px_process.model;
    size_t had_local = m->put_local.buf.len, had_remote = m->put_remote.buf.len;
    pmix_status_t rc = PMIX_SUCCESS;

    if (op->scope == PMIX_LOCAL || op->scope == PMIX_GLOBAL)
        rc = add_pair(&m->put_local, op);
    if (!rc && (op->scope == PMIX_REMOTE || op->scope == PMIX_GLOBAL))
        rc = add_pair(&m->put_remote, op);
    if (!rc)
        rc = px_store_put(&m->own->store, PX_GDS_INTERNAL, m->self.rank, op->key,
                          op->value);
    if (rc) {
        m->put_local.buf.len = had_local;
        m->put_remote.buf.len = had_remote;
    }
    px_api_done(api, rc);
}

static void on_store(struct px_api *api)
{
    struct put_op *op = PX_CONTAINER_OF(api, struct put_op, api);
    struct px_nspace *ns = NULL;
    pmix_proc_t proc;
    pmix_status_t rc;

    if (op->proc)
        px_proc_set(&proc, op->proc->nspace, op->proc->rank);
    else
        proc = px_process.model->self;
    rc = px_nspace_get(px_process.model, proc.nspace, &ns);
    if (!rc)
        rc = px_store_put(&ns->store, PX_GDS_INTERNAL, proc.rank, op->key, op->value);
    if (!rc)
        ns->noted = true;
    px_api_done(api, rc);
}

static pmix_status_t call(struct put_op op)
{
    op.api.invalid |= !op.key || !op.key[0] || !op.value ||
                      strnlen(op.key, PMIX_MAX_KEYLEN + 1) > PMIX_MAX_KEYLEN;
    return px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[],
                                 pmix_value_t *val)
{
    bool ok = scope == PMIX_LOCAL || scope == PMIX_REMOTE || scope == PMIX_GLOBAL ||
              scope == PMIX_INTERNAL;

    return call((struct put_op){.api = {.start = on_put, .invalid = !ok},
                                .key = key,
                                .value = val,
                                .scope = scope});
}

PX_EXPORT pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char key[],
                                            pmix_value_t *val)
{
    return call((struct put_op){
        .api = {.start = on_store}, .proc = proc, .key = key, .value = val});
}

static void pack_scope(px_writer *w, pmix_scope_t scope, const px_writer *values)
{
    if (values->buf.len == 0)
        return;
    px_pack_u8(w, scope, PMIX_SCOPE);
    px_pack_buffer(w, &values->buf);
}

static void on_commit(struct px_api *api)
{
    struct px_model *m = px_process.model;
    pmix_status_t rc;
    px_writer w;

    if (!m->standalone) { /* alone, no process could ever ask */
        px_channel_begin(&m->channel, &w, PX_OP_COMMIT);
        pack_scope(&w, PMIX_LOCAL, &m->put_local);
        pack_scope(&w, PMIX_REMOTE, &m->put_remote);
        rc = px_channel_request(&m->channel, &w, px_api_status_reply, api);
        if (rc) { /* not sent: the next commit may have more luck */
            px_api_done(api, rc);
            return;
        }
    }
    m->put_local.buf.len = m->put_remote.buf.len = 0;
    if (m->standalone)
        px_api_done(api, PMIX_SUCCESS);
}

PX_EXPORT pmix_status_t PMIx_Commit(void)
{
    struct px_api op = {.start = on_commit};

    return px_api_wait(&op);
}
