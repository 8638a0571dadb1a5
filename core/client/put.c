/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, commit, and values for this process only. */
#include "core/client/client.h"
#include "core/rt/log.h"
#include "core/wire/ops.h"

#include <string.h>

#define ON_ITS_WAY_B (16u * 1024u * 1024u)

struct put_op {
    struct px_api api;
    const pmix_proc_t *proc;
    const char *key;
    const pmix_value_t *value;
    pmix_scope_t scope;
};

/* Packs a value in a section of its own. A later value of the same key then overrides
 * an earlier one of any scope. */
static pmix_status_t add_section(struct px_client *client, const struct put_op *op)
{
    px_writer *all = &client->put;

    if (all->buf.len == 0)
        px_pack_op(all, PX_OP_COMMIT);
    px_pack_u8(all, op->scope, PMIX_SCOPE);
    const struct px_pack_nest section = px_pack_buffer_begin(all);
    px_pack_kval(all, op->key, op->value);
    px_pack_buffer_end(all, section);
    pmix_status_t rc = all->status;
    all->status = PMIX_SUCCESS;
    return rc;
}

enum { SCOPE_BITS = 8 };

/* Records the scope of a value put without a server, and the number of commits before.
 * The value is packed later, because the server's dialect is not known yet. */
static pmix_status_t note_scope(struct px_client *client, const struct put_op *op)
{
    const uintptr_t note = (uintptr_t)client->commits_alone << SCOPE_BITS | op->scope;

    return px_map_sput(&client->put_alone, op->key, (void *)note, NULL);
}

enum { ALL, COMMITTED, NOT_COMMITTED };

/* Packs values that were put without a server. */
static pmix_status_t pack_again(struct px_client *client, int which)
{
    const struct px_model *m = client->model;
    pmix_status_t rc = PMIX_SUCCESS;
    const void *key;
    size_t pos = 0;
    void *found;

    client->put.buf.len = 0;
    while (!rc && (found = px_map_next(&client->put_alone, &pos, &key, NULL))) {
        const uintptr_t note = (uintptr_t)found;
        const bool committed = note >> SCOPE_BITS < client->commits_alone;
        struct put_op op = {.key = key, .scope = note & ((1u << SCOPE_BITS) - 1)};
        pmix_value_t value;

        if (which == (committed ? NOT_COMMITTED : COMMITTED))
            continue;
        rc = px_store_fetch(&m->own->store, PX_GDS_INTERNAL, m->self.rank, key, NULL, 0,
                            &value);
        if (rc)
            break;
        op.value = &value;
        rc = add_section(client, &op);
        px_type_destruct(PMIX_VALUE, &value);
    }
    if (rc)
        client->put.buf.len = 0;
    return rc;
}

pmix_status_t px_client_put_again(struct px_client *client)
{
    return pack_again(client, ALL);
}

/* Stores and packs a value, or neither: a value that this dialect cannot carry fails
 * the put, not the commit of all values. */
static void on_put(struct px_api *api)
{
    struct put_op *op = PX_CONTAINER_OF(api, struct put_op, api);
    struct px_client *client = api->client;
    const struct px_model *m = client->model;
    size_t before = client->put.buf.len;
    pmix_status_t rc = op->scope == PMIX_INTERNAL ? PMIX_SUCCESS
                       : client->standalone       ? note_scope(client, op)
                                                  : add_section(client, op);

    px_client_stamp(client->role, PX_OWN_PUT);
    if (!rc)
        rc = px_store_put(&m->own->store, PX_GDS_INTERNAL, m->self.rank, op->key,
                          op->value);
    if (rc)
        client->put.buf.len = before;
    px_api_done(api, rc);
}

static void on_store(struct px_api *api)
{
    struct put_op *op = PX_CONTAINER_OF(api, struct put_op, api);
    struct px_model *m = api->client->model;
    struct px_nspace *ns = NULL;
    pmix_proc_t proc;
    pmix_status_t rc;

    if (op->proc)
        px_proc_set(&proc, op->proc->nspace, op->proc->rank);
    else
        proc = m->self;
    rc = px_nspace_get(m, proc.nspace, &ns);
    if (!rc)
        rc = px_store_put(&ns->store, PX_GDS_INTERNAL, proc.rank, op->key, op->value);
    if (!rc)
        ns->noted = true;
    px_api_done(api, rc);
}

static pmix_status_t call(struct put_op op)
{
    op.api.at_once = true;
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

pmix_status_t px_client_commit_status(struct px_client *client)
{
    pmix_status_t rc = client->commit_failed;

    client->commit_failed = PMIX_SUCCESS;
    return rc;
}

/* A commit whose caller does not wait for the answer. */
struct commit {
    struct px_client *client;
    size_t size_b;
};

static void on_answer(void *arg, pmix_status_t status, px_reader *reply)
{
    struct commit *commit = arg;
    struct px_client *client = commit->client;

    client->unanswered_b -= commit->size_b;
    client->n_unanswered--;
    free(commit);
    status = px_api_answer(status, reply);
    if (!status)
        return;
    px_log(PX_LOG_WARN, "client", "cannot commit: %s", PMIx_Error_string(status));
    client->commit_failed = status;
}

static pmix_status_t send_commit(struct px_client *client)
{
    struct commit *commit = malloc(sizeof(*commit));
    pmix_status_t rc;

    if (!commit)
        return PMIX_ERR_NOMEM;
    *commit = (struct commit){.client = client, .size_b = client->put.buf.len};
    if (commit->size_b == 0)
        px_pack_op(&client->put, PX_OP_COMMIT);
    client->unanswered_b += commit->size_b;
    client->n_unanswered++;
    rc = px_channel_request(&client->channel, &client->put, on_answer, commit);
    if (rc) {
        client->unanswered_b -= commit->size_b;
        client->n_unanswered--;
        free(commit);
    }
    return rc;
}

pmix_status_t px_client_commit_again(struct px_client *client)
{
    pmix_status_t rc = pack_again(client, COMMITTED);

    if (!rc && client->put.buf.len > PX_MAX_FRAME_B)
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (!rc && client->put.buf.len > 0)
        rc = send_commit(client);
    return rc ? rc : pack_again(client, NOT_COMMITTED);
}

/* Completes the call after an empty commit, which acts as a barrier. */
static void on_all_answered(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *api = arg;
    pmix_status_t failed = px_client_commit_status(api->client);

    status = px_api_answer(status, reply);
    px_api_done(api, status ? status : failed);
}

/* Asynchronous; waits for all answers while ON_ITS_WAY_B bytes are unacknowledged. A
 * callback cannot wait. */
static void on_commit(struct px_api *api)
{
    struct px_client *client = api->client;
    bool waits = client->unanswered_b > ON_ITS_WAY_B;
    pmix_status_t rc = waits && api->inside ? PMIX_ERR_WOULD_BLOCK
                                            : px_client_commit_status(client);

    if (!rc && client->standalone) {
        client->commits_alone++;
        px_api_done(api, rc); /* px_client_put_again packs the values later */
        return;
    }
    if (!rc && !client->channel.send) { /* keeps the values for the next commit */
        rc = PMIX_ERR_UNREACH;
    } else if (!rc && client->put.buf.len > PX_MAX_FRAME_B) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    } else if (!rc) {
        rc = send_commit(client);
        if (!rc && waits) {
            px_pack_op(&client->put, PX_OP_COMMIT);
            rc = px_channel_request(&client->channel, &client->put, on_all_answered,
                                    api);
            if (!rc)
                return;
        }
    }
    px_api_done(api, rc);
}

PX_EXPORT pmix_status_t PMIx_Commit(void)
{
    struct px_api op = {.start = on_commit, .at_once = true};

    return px_api_wait(&op);
}
