/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that the servers of a job exchange in a collecting fence, packed and unpacked.
 * Ranks are numbered through all participating namespaces. */
#include "core/model/nspace.h"
#include "core/model/proc_names.h"
#include "core/server/collective/collective.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

#include <string.h>

#define COLLECTED 0x01
#define KEY_MAP   0x02
#define MAX_KEYS  65536u

/* True if namespace a comes before b. Full names with the cluster decide, so that the
 * order is the same at every server. */
static bool comes_before(const struct px_model *m, const char *a, const char *b)
{
    pmix_nspace_t x, y;

    if (!strchr(a, ':') && !strchr(b, ':')) /* at most one cluster: short names do */
        return strcmp(a, b) < 0;
    px_nspace_full_name(m, a, x);
    px_nspace_full_name(m, b, y);
    return strcmp(x, y) < 0;
}

/* Returns the number of the first rank of a namespace. */
static uint32_t base_of(const struct px_collective *c, const char *nspace)
{
    uint32_t base = 0;

    for (size_t i = 0; i < c->n_procs; i = px_next_nspace(c->procs, c->n_procs, i)) {
        const char *name = c->procs[i].nspace;
        const struct px_nspace *ns = px_nspace_find(c->server->model, name);

        if (ns && comes_before(c->server->model, name, nspace))
            base += ns->job_size;
    }
    return base;
}

static struct px_nspace *nspace_of(const struct px_collective *c, uint32_t number,
                                   pmix_rank_t *rank)
{
    for (size_t i = 0; i < c->n_procs; i = px_next_nspace(c->procs, c->n_procs, i)) {
        struct px_nspace *ns = px_nspace_find(c->server->model, c->procs[i].nspace);
        uint32_t base = ns ? base_of(c, ns->name) : 0;

        if (!ns || number < base || (ns->job_size > 0 && number - base >= ns->job_size))
            continue;
        *rank = number - base;
        return *rank < PMIX_RANK_VALID ? ns : NULL;
    }
    return NULL;
}

struct packing {
    const struct px_collective *c;
    px_writer w;
};

static pmix_status_t pack_pair(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                               const pmix_value_t *value)
{
    px_writer *w = arg;

    px_pack_kval(w, key, value);
    return w->status;
}

static void pack_local(void *arg, struct px_local *local)
{
    struct packing *p = arg;

    if (!local->committed)
        return;
    PX_AUTO(px_writer) one;
    px_writer_init(&one, px_codec_default);
    px_pack_rank(&one, local->rank + base_of(p->c, local->ns->name));
    (void)px_store_walk(&local->ns->store, PX_GDS_REMOTE, local->rank, pack_pair, &one);
    if (one.status && !p->w.status)
        p->w.status = one.status;
    px_pack_bytes(&p->w, one.buf.data, one.buf.len);
}

/* Inserts the head in place: the data of a node may be large. */
static pmix_status_t put_before(px_buf *data, const px_buf *head)
{
    pmix_status_t rc = px_buf_reserve(data, head->len);

    if (rc)
        return rc;
    memmove(data->data + head->len, data->data, data->len);
    memcpy(data->data, head->data, head->len);
    data->len += head->len;
    return PMIX_SUCCESS;
}

pmix_status_t px_modex_pack(const struct px_collective *c, px_buf *out)
{
    struct packing p = {.c = c};
    PX_AUTO(px_writer) head;

    px_writer_init(&p.w, px_codec_default);
    px_pack_u8(&p.w, COLLECTED, PMIX_BYTE);
    px_collective_locals(c, pack_local, &p);
    px_writer_init(&head, px_codec_default);
    px_pack_bytes_head(&head, p.w.buf.len);
    pmix_status_t rc = p.w.status ? p.w.status : head.status;
    if (!rc)
        rc = put_before(&p.w.buf, &head.buf);
    if (!rc)
        *out = px_buf_take(&p.w.buf);
    px_writer_cleanup(&p.w);
    return rc;
}

/* Reads one KVAL. With a key map, reads the index of the key and the VALUE instead. */
static pmix_status_t unpack_pair(px_reader *r, char *const *keys, uint32_t n_keys,
                                 struct px_kval *kv)
{
    uint32_t index;
    pmix_status_t rc;

    if (!keys)
        return px_unpack_kval(r, kv);
    rc = px_unpack1(r, &index, PMIX_UINT32);
    if (!rc && index >= n_keys)
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        rc = px_unpack1(r, &kv->value, PMIX_VALUE);
    if (rc)
        return rc;
    kv->key = strdup(keys[index]);
    return kv->key ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Stores the values of one rank. Values of local ranks are skipped: the server has them
 * first-hand, and perhaps newer ones. */
static pmix_status_t unpack_rank(const struct px_collective *c, px_reader *r,
                                 char *const *keys, uint32_t n_keys)
{
    uint32_t number;
    pmix_proc_t proc;
    struct px_nspace *ns;
    pmix_status_t rc = px_unpack_rank(r, &number);

    if (rc)
        return rc;
    ns = nspace_of(c, number, &proc.rank);
    if (!ns)
        return PMIX_ERR_UNPACK_FAILURE;
    px_proc_set(&proc, ns->name, proc.rank);
    if (px_local_find(c->server, &proc))
        return PMIX_SUCCESS;
    while (!rc && !px_reader_done(r)) {
        struct px_kval kv = {0};

        rc = unpack_pair(r, keys, n_keys, &kv);
        if (!rc)
            rc = px_store_put(&ns->store, PX_GDS_REMOTE, proc.rank, kv.key, &kv.value);
        px_kval_fini(&kv);
    }
    return rc;
}

static pmix_status_t unpack_server(const struct px_collective *c, px_reader *r)
{
    uint8_t flags;
    uint32_t n_keys = 0;
    char **keys = NULL;
    pmix_status_t rc = px_unpack_u8(r, &flags, PMIX_BYTE);

    if (!rc && (flags & KEY_MAP)) {
        rc = px_unpack1(r, &n_keys, PMIX_UINT32);
        if (!rc && n_keys > MAX_KEYS)
            rc = PMIX_ERR_UNPACK_FAILURE;
        if (!rc)
            rc = px_unpack_array(r, (void **)&keys, n_keys, PMIX_STRING);
    }
    for (uint32_t i = 0; !rc && i < n_keys; i++)
        if (!keys[i])
            rc = PMIX_ERR_UNPACK_FAILURE;
    while (!rc && !px_reader_done(r)) {
        px_reader one;

        rc = px_unpack_view(r, &one, PMIX_BYTE_OBJECT);
        if (!rc)
            rc = unpack_rank(c, &one, keys, n_keys);
    }
    px_type_free_array(PMIX_STRING, keys, n_keys);
    return rc;
}

pmix_status_t px_modex_unpack(const struct px_collective *c, const px_buf *in)
{
    px_reader r;
    pmix_status_t rc = PMIX_SUCCESS;

    px_reader_init(&r, px_codec_default, in->data, in->len);
    px_read_gate_close(c->server->gate); /* readers see all values or none */
    while (!rc && !px_reader_done(&r)) {
        px_reader one;

        rc = px_unpack_view(&r, &one, PMIX_BYTE_OBJECT);
        if (!rc)
            rc = unpack_server(c, &one);
    }
    px_read_gate_open(c->server->gate);
    return rc;
}
