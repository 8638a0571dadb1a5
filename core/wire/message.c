/* SPDX-License-Identifier: BSD-3-Clause */
/* Short forms for the parts of payloads: scalars, nested buffers, key-value pairs, and
 * counted lists of infos and procs. */
#include "core/wire/walk.h"

/* ---- writing --------------------------------------------------------------------- */

#define PACKS(name, c_type, TYPE)               \
    void px_pack_##name(px_writer *w, c_type v) \
    {                                           \
        px_pack(w, &v, 1, PMIX_##TYPE);         \
    }
PACKS(op, uint8_t, COMMAND)
PACKS(u32, uint32_t, UINT32)
PACKS(rank, pmix_rank_t, PROC_RANK)
PACKS(size, size_t, SIZE)
PACKS(status, pmix_status_t, STATUS)
PACKS(str, const char *, STRING)

void px_pack_u8(px_writer *w, uint8_t v, pmix_data_type_t type)
{
    px_pack(w, &v, 1, type);
}

void px_pack_bytes(px_writer *w, const void *bytes, size_t n)
{
    px_put_head(w, 1, PMIX_BYTE_OBJECT);
    px_put_blob(w, bytes, n);
}

void px_pack_bytes_head(px_writer *w, size_t n)
{
    px_put_head(w, 1, PMIX_BYTE_OBJECT);
    px_put_size(w, n);
}

struct px_pack_nest px_pack_buffer_begin(px_writer *w)
{
    px_put_head(w, 1, PMIX_BUFFER);
    px_put_byte(w, w->codec.described ? PX_BUFFER_DESCRIBED : PX_BUFFER_PLAIN);
    const size_t size_at = w->buf.len;
    if (px_put_room(w, PX_SIZE_MAX_B))
        w->buf.len += PX_SIZE_MAX_B;
    return (struct px_pack_nest){size_at, w->buf.len};
}

void px_pack_buffer_end(px_writer *w, struct px_pack_nest nest)
{
    if (w->status)
        return;
    const size_t n = w->buf.len - nest.from;
    w->buf.len = nest.size_at;
    px_put_size(w, n);
    memmove(w->buf.data + w->buf.len, w->buf.data + nest.from, n);
    w->buf.len += n;
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

/* Packs SIZE n, then the elements as one operation if n > 0. */
#define PACKS_LIST(name, c_type, TYPE)                               \
    void px_pack_##name(px_writer *w, const c_type *array, size_t n) \
    {                                                                \
        px_pack_size(w, n);                                          \
        if (n > INT32_MAX)                                           \
            px_writer_fail(w, PMIX_ERR_BAD_PARAM);                   \
        else if (n)                                                  \
            px_pack(w, array, (int32_t)n, PMIX_##TYPE);              \
    }
PACKS_LIST(infos, pmix_info_t, INFO)
PACKS_LIST(procs, pmix_proc_t, PROC)

/* ---- reading --------------------------------------------------------------------- */

#define UNPACKS(name, c_type, TYPE)                         \
    pmix_status_t px_unpack_##name(px_reader *r, c_type *v) \
    {                                                       \
        return px_unpack1(r, v, PMIX_##TYPE);               \
    }
UNPACKS(rank, pmix_rank_t, PROC_RANK)
UNPACKS(size, size_t, SIZE)
UNPACKS(status, pmix_status_t, STATUS)
UNPACKS(str, char *, STRING)
UNPACKS(bytes, pmix_byte_object_t, BYTE_OBJECT)

pmix_status_t px_unpack_u8(px_reader *r, uint8_t *v, pmix_data_type_t type)
{
    return px_unpack1(r, v, type);
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
    if (rc)
        return rc;
    px_reader_init(inside, codec, bytes, n);
    inside->trusted = r->trusted;
    inside->budget = r->budget;
    inside->infos = r->infos;
    inside->items = r->items;
    return PMIX_SUCCESS;
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
    size_t count;
    pmix_status_t rc = px_unpack_size(r, &count);

    if (!rc)
        rc = px_unpack_array(r, array, count, type);
    if (rc)
        r->pos = start;
    else
        *n = count;
    return rc;
}

#define UNPACKS_LIST(name, c_type, TYPE)                                    \
    pmix_status_t px_unpack_##name(px_reader *r, c_type **array, size_t *n) \
    {                                                                       \
        void *list;                                                         \
        pmix_status_t rc = unpack_list(r, &list, n, PMIX_##TYPE);           \
        if (!rc)                                                            \
            *array = list;                                                  \
        return rc;                                                          \
    }
UNPACKS_LIST(infos, pmix_info_t, INFO)
UNPACKS_LIST(procs, pmix_proc_t, PROC)

static pmix_status_t view_key(px_reader *r, const char **key)
{
    size_t len;
    pmix_status_t rc = px_get_head1(r, PMIX_KVAL);

    if (!rc)
        rc = px_get_text(r, key, &len);
    return !rc && (!*key || len > PMIX_MAX_KEYLEN) ? PMIX_ERR_UNPACK_FAILURE : rc;
}

pmix_status_t px_unpack_kval(px_reader *r, struct px_kval *kv)
{
    const uint8_t *start = r->pos;
    PX_AUTOFREE char *key = NULL;
    const char *text;
    pmix_status_t rc = view_key(r, &text);

    if (!rc && !(key = strdup(text)))
        rc = PMIX_ERR_NOMEM;
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

static pmix_status_t view_value(px_reader *r, pmix_value_t *v, bool *is_view)
{
    px_reader inside = *r;
    const uint8_t *bytes = NULL;
    pmix_value_t seen = {0};
    const char *text = NULL;
    size_t n;
    pmix_status_t rc = px_get_type(&inside, &seen.type);

    *is_view = !rc && (seen.type == PMIX_STRING || seen.type == PMIX_BYTE_OBJECT);
    if (!*is_view)
        return px_unpack_bare(r, v, PMIX_VALUE);
    rc = seen.type == PMIX_STRING ? px_get_text(&inside, &text, &n)
                                  : px_get_view(&inside, &bytes, &n);
    if (rc)
        return rc;
    if (seen.type == PMIX_STRING)
        seen.data.string = (char *)text;
    else
        seen.data.bo = (pmix_byte_object_t){n ? (char *)bytes : NULL, n};
    *v = seen;
    r->pos = inside.pos;
    return PMIX_SUCCESS;
}

pmix_status_t px_view_kval(px_reader *r, const char **key, pmix_value_t *value,
                           bool *is_view)
{
    const uint8_t *start = r->pos;
    pmix_status_t rc = view_key(r, key);

    if (!rc)
        rc = view_value(r, value, is_view);
    if (rc)
        r->pos = start;
    return rc;
}

void px_kval_fini(struct px_kval *kv)
{
    free(kv->key);
    px_type_destruct(PMIX_VALUE, &kv->value);
    memset(kv, 0, sizeof(*kv));
}
