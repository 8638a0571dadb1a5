/* SPDX-License-Identifier: BSD-3-Clause */
/* Short forms for what payloads are made of: scalars, buffers within buffers, key-value pairs,
 * and counted lists of infos and procs. */
#include "core/wire/walk.h"

/* ---- writing ------------------------------------------------------------------------------- */

void px_pack_op(px_writer *w, uint8_t op)
{
    px_pack(w, &op, 1, PMIX_COMMAND);
}

void px_pack_u8(px_writer *w, uint8_t v, pmix_data_type_t type)
{
    px_pack(w, &v, 1, type);
}

void px_pack_u32(px_writer *w, uint32_t v)
{
    px_pack(w, &v, 1, PMIX_UINT32);
}

void px_pack_rank(px_writer *w, pmix_rank_t v)
{
    px_pack(w, &v, 1, PMIX_PROC_RANK);
}

void px_pack_size(px_writer *w, size_t v)
{
    px_pack(w, &v, 1, PMIX_SIZE);
}

void px_pack_status(px_writer *w, pmix_status_t v)
{
    px_pack(w, &v, 1, PMIX_STATUS);
}

void px_pack_str(px_writer *w, const char *v)
{
    px_pack(w, &v, 1, PMIX_STRING);
}

void px_pack_bytes(px_writer *w, const void *bytes, size_t n)
{
    px_put_head(w, 1, PMIX_BYTE_OBJECT);
    px_put_blob(w, bytes, n);
}

void px_pack_buffer(px_writer *w, const px_buf *body)
{
    px_put_head(w, 1, PMIX_BUFFER);
    px_put_byte(w, w->codec.described ? PX_BUFFER_DESCRIBED : PX_BUFFER_PLAIN);
    px_put_blob(w, body->data, body->len);
}

void px_pack_kval(px_writer *w, const char *key, const pmix_value_t *value)
{
    if (!key || !value) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    px_put_head(w, 1, PMIX_KVAL);
    px_put_string(w, key);
    px_pack_bare(w, value, PMIX_VALUE);
}

/* SIZE n, then the elements as one operation if there are any. */
static void pack_list(px_writer *w, const void *array, size_t n, pmix_data_type_t type)
{
    if (n > INT32_MAX) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    px_pack_size(w, n);
    if (n)
        px_pack(w, array, (int32_t)n, type);
}

void px_pack_infos(px_writer *w, const pmix_info_t *info, size_t n)
{
    pack_list(w, info, n, PMIX_INFO);
}

void px_pack_procs(px_writer *w, const pmix_proc_t *procs, size_t n)
{
    pack_list(w, procs, n, PMIX_PROC);
}

/* ---- reading ------------------------------------------------------------------------------- */

pmix_status_t px_unpack_u8(px_reader *r, uint8_t *v, pmix_data_type_t type)
{
    return px_unpack1(r, v, type);
}

pmix_status_t px_unpack_size(px_reader *r, size_t *v)
{
    return px_unpack1(r, v, PMIX_SIZE);
}

pmix_status_t px_unpack_status(px_reader *r, pmix_status_t *v)
{
    return px_unpack1(r, v, PMIX_STATUS);
}

pmix_status_t px_unpack_rank(px_reader *r, pmix_rank_t *v)
{
    return px_unpack1(r, v, PMIX_PROC_RANK);
}

pmix_status_t px_unpack_str(px_reader *r, char **v)
{
    return px_unpack1(r, v, PMIX_STRING);
}

pmix_status_t px_unpack_bytes(px_reader *r, pmix_byte_object_t *v)
{
    return px_unpack1(r, v, PMIX_BYTE_OBJECT);
}

static pmix_status_t get_inside(px_reader *r, px_reader *inside, pmix_data_type_t type)
{
    struct px_codec codec = r->codec;
    const uint8_t *bytes;
    size_t n;
    uint8_t kind;
    pmix_status_t rc = px_get_head1(r, type);

    if (!rc && type == PMIX_BUFFER) {
        rc = px_get_byte(r, &kind);
        if (!rc && kind != PX_BUFFER_PLAIN && kind != PX_BUFFER_DESCRIBED)
            rc = PMIX_ERR_UNPACK_FAILURE;
        codec.described = !rc && kind == PX_BUFFER_DESCRIBED;
    }
    if (!rc)
        rc = px_get_view(r, &bytes, &n);
    if (!rc)
        px_reader_init(inside, codec, bytes, n);
    if (!rc)
        inside->trusted = r->trusted;
    return rc;
}

pmix_status_t px_unpack_view(px_reader *r, px_reader *inside, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    pmix_status_t rc;

    if (type != PMIX_BYTE_OBJECT && type != PMIX_BUFFER)
        return PMIX_ERR_BAD_PARAM;
    rc = get_inside(r, inside, type);
    if (rc)
        r->pos = start;
    return rc;
}

static pmix_status_t unpack_list(px_reader *r, void **array, size_t *n,
                                 pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    void *elements = NULL;
    size_t count;
    pmix_status_t rc = px_unpack_size(r, &count);

    if (!rc)
        rc = px_unpack_array(r, &elements, count, type);
    if (rc) {
        r->pos = start;
        return rc;
    }
    *array = elements;
    *n = count;
    return PMIX_SUCCESS;
}

pmix_status_t px_unpack_infos(px_reader *r, pmix_info_t **info, size_t *n)
{
    void *array;
    pmix_status_t rc = unpack_list(r, &array, n, PMIX_INFO);

    if (!rc)
        *info = array;
    return rc;
}

pmix_status_t px_unpack_procs(px_reader *r, pmix_proc_t **procs, size_t *n)
{
    void *array;
    pmix_status_t rc = unpack_list(r, &array, n, PMIX_PROC);

    if (!rc)
        *procs = array;
    return rc;
}

pmix_status_t px_unpack_kval(px_reader *r, struct px_kval *kv)
{
    const uint8_t *start = r->pos;
    PX_AUTOFREE char *key = NULL;
    pmix_status_t rc = px_get_head1(r, PMIX_KVAL);

    if (!rc)
        rc = px_get_string(r, &key);
    if (!rc && (!key || strlen(key) > PMIX_MAX_KEYLEN))
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        rc = px_unpack_bare(r, &kv->value, PMIX_VALUE);
    if (rc) {
        memset(kv, 0, sizeof(*kv));
        r->pos = start;
        return rc;
    }
    kv->key = px_take(&key);
    return PMIX_SUCCESS;
}

void px_kval_fini(struct px_kval *kv)
{
    free(kv->key);
    px_type_destruct(PMIX_VALUE, &kv->value);
    memset(kv, 0, sizeof(*kv));
}
