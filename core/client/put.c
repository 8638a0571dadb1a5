/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, commit, and values for this process alone. */
#include "core/client/client.h"
#include "core/rt/log.h"
#include "core/wire/ops.h"

#include <string.h>

#define ON_ITS_WAY_B (16u * 1024u * 1024u)
#define KEPT_B       (4u * 1024u) /* of the section */

struct put_op {
    struct px_api api;
    const pmix_proc_t *proc;
    const char *key;
    const pmix_value_t *value;
    pmix_scope_t scope;
};

/* A section of its own: a later value of a key counts, whatever the scopes. */
static pmix_status_t add_section(struct px_model *m, const struct put_op *op)
{
    px_writer *all = &m->put, *one = &m->section;

    one->codec = all->codec;
    px_pack_kval(one, op->key, op->value);
    if (all->buf.len == 0)
        px_pack_op(all, PX_OP_COMMIT);
    px_pack_u8(all, op->scope, PMIX_SCOPE);
    px_pack_buffer(all, &one->buf);
    pmix_status_t rc = one->status ? one->status : all->status;
    all->status = one->status = PMIX_SUCCESS;
    one->buf.len = 0;
    if (one->buf.cap > KEPT_B)
        px_buf_cleanup(&one->buf);
    return rc;
}

/* The dialect of a server that the process may still connect to is unknown. */
static pmix_status_t note_scope(const struct put_op *op)
{
    return px_map_sput(&px_process.client->put_alone, op->key,
                       (void *)(uintptr_t)op->scope, NULL);
}

pmix_status_t px_client_put_again(void)
{
    struct px_model *m = px_process.model;
    pmix_status_t rc = PMIX_SUCCESS;
    const void *key;
    size_t pos = 0;
    void *scope;

    m->put.buf.len = 0;
    while (!rc &&
           (scope = px_map_next(&px_process.client->put_alone, &pos, &key, NULL))) {
        struct put_op op = {.key = key, .scope = (pmix_scope_t)(uintptr_t)scope};
        pmix_value_t value;

        rc = px_store_fetch(&m->own->store, PX_GDS_INTERNAL, m->self.rank, key, NULL, 0,
                            &value);
        if (rc)
            break;
        op.value = &value;
        rc = add_section(m, &op);
        px_type_destruct(PMIX_VALUE, &value);
    }
    if (rc)
        m->put.buf.len = 0;
    return rc;
}

/* All or nothing: a value that this dialect cannot carry must fail the put, not the
 * commit of all the others. */
static void on_put(struct px_api *api)
{
    struct put_op *op = PX_CONTAINER_OF(api, struct put_op, api);
    struct px_model *m = px_process.model;
    size_t before = m->put.buf.len;
    pmix_status_t rc = op->scope == PMIX_INTERNAL ? PMIX_SUCCESS
                       : m->standalone            ? note_scope(op)
                                                  : add_section(m, op);

    if (!rc)
        rc = px_store_put(&m->own->store, PX_GDS_INTERNAL, m->self.rank, op->key,
                          op->value);
    if (rc)
        m->put.buf.len = before;
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

pmix_status_t px_client_commit_status(void)
{
    struct px_model *m = px_process.model;
    pmix_status_t rc = m->commit_failed;

    m->commit_failed = PMIX_SUCCESS;
    return rc;
}

/* To a commit that no thread waits for. */
static void on_answer(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_model *m = px_process.model;

    m->unanswered_b -= (uintptr_t)arg;
    m->n_unanswered--;
    status = px_api_answer(status, reply);
    if (!status)
        return;
    px_log(PX_LOG_WARN, "client", "cannot commit: %s", PMIx_Error_string(status));
    m->commit_failed = status;
}

/* To a commit of nothing, which the server answers after all that came before. */
static void on_all_answered(void *arg, pmix_status_t status, px_reader *reply)
{
    pmix_status_t failed = px_client_commit_status();

    status = px_api_answer(status, reply);
    px_api_done(arg, status ? status : failed);
}

/* Returns before the server has it, whose later answers are to what it has. So much may
 * be on its way; more waits. */
static void on_commit(struct px_api *api)
{
    struct px_model *m = px_process.model;
    size_t size_b = m->put.buf.len;
    bool waits = m->unanswered_b > ON_ITS_WAY_B;
    pmix_status_t rc = px_client_commit_status();

    if (!rc && m->standalone) {
        px_api_done(api, rc); /* see px_client_put_again */
        return;
    }
    if (!rc && !m->channel.send) { /* the next commit may have more luck */
        rc = PMIX_ERR_UNREACH;
    } else if (!rc && size_b > PX_MAX_FRAME_B) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    } else if (!rc) {
        if (size_b == 0)
            px_pack_op(&m->put, PX_OP_COMMIT);
        rc = px_channel_request(&m->channel, &m->put, on_answer,
                                (void *)(uintptr_t)size_b);
        if (!rc) {
            m->unanswered_b += size_b;
            m->n_unanswered++;
        }
        if (!rc && waits) {
            px_pack_op(&m->put, PX_OP_COMMIT);
            rc = px_channel_request(&m->channel, &m->put, on_all_answered, api);
            if (!rc)
                return;
        }
    }
    px_api_done(api, rc);
}

PX_EXPORT pmix_status_t PMIx_Commit(void)
{
    struct px_api op = {.start = on_commit};

    return px_api_wait(&op);
}
