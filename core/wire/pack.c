/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing: a walk over the type table. The writer keeps the first error. */
#include "core/wire/walk.h"

#include "core/base/strv.h"

#include <limits.h>

static void put_object(px_writer *w, const void *src, const struct px_type *t,
                       enum px_store store);

void px_writer_init(px_writer *w, struct px_codec codec)
{
    memset(w, 0, sizeof(*w));
    w->codec = codec;
}

void px_writer_cleanup(px_writer *w)
{
    px_buf_cleanup(&w->buf);
    w->status = PMIX_SUCCESS;
}

/* Returns the type's row, or fails the writer if the type or the dialect's support is
 * missing. */
static const struct px_type *known_type(px_writer *w, pmix_data_type_t id)
{
    const struct px_type *t = px_dialect_knows(w->codec.dialect, id) ? px_type_find(id)
                                                                     : NULL;

    if (!t)
        px_writer_fail(w, PMIX_ERR_UNKNOWN_DATA_TYPE);
    return t;
}

/* ---- leaves ---------------------------------------------------------------------- */

static void put_chars(px_writer *w, const char *s, size_t capacity)
{
    size_t n = strnlen(s, capacity);

    if (n < capacity)
        px_put_text(w, s, n + 1);
    else
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
}

void px_put_blob(px_writer *w, const void *bytes, size_t n)
{
    if (n && !bytes) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    px_put_size(w, n);
    px_put_raw(w, bytes, n);
}

/* ---- values and arrays ----------------------------------------------------------- */

static bool enter(px_writer *w)
{
    if (++w->depth <= PX_MAX_DEPTH)
        return true;
    px_writer_fail(w, PMIX_ERR_BAD_PARAM);
    return false;
}

/* Writes a substitute for a value whose type the dialect lacks. False if there is
 * none. */
static bool put_substitute(px_writer *w, const pmix_value_t *v)
{
    pmix_value_t plain;
    pmix_status_t rc;

    if (px_dialect_knows(w->codec.dialect, v->type))
        return false;
    switch (v->type) {
    case PMIX_PROC_NSPACE:
        px_put_type(w, PMIX_STRING);
        if (v->data.nspace)
            put_chars(w, *v->data.nspace, sizeof(*v->data.nspace));
        else
            px_put_string(w, NULL);
        return true;
    case PMIX_COMPRESSED_STRING:
    case PMIX_COMPRESSED_BYTE_OBJECT:
        rc = px_inflate_value(v, &plain);
        if (rc) {
            px_writer_fail(w, rc);
            return true;
        }
        px_pack_bare(w, &plain, PMIX_VALUE);
        px_type_destruct(PMIX_VALUE, &plain);
        return true;
    default:
        return false;
    }
}

/* Prefetches an element while earlier elements are packed. */
static void fetch_early(const char *element, size_t size)
{
    __builtin_prefetch(element);
    __builtin_prefetch(element + size - 1);
}

static void put_elements(px_writer *w, const void *array, size_t n,
                         const struct px_type *t)
{
    enum px_store store = (enum px_store)t->store;
    const char *at = array;

    if (px_is_number(store)) {
        px_put_numbers(w, store, array, n);
    } else if (store == PX_BYTE1) { /* all at once */
        px_put_raw(w, array, n);
    } else if (store == PX_POINTER) { /* one byte for all elements, or none */
        put_object(w, array, t, store);
    } else {
        for (size_t i = 0; i < n && !w->status; i++, at += t->size) {
            fetch_early(at + (n - i > 3 ? 3 : 0) * t->size, t->size);
            put_object(w, at, t, store);
        }
    }
}

static void put_darray(px_writer *w, const pmix_data_array_t *a)
{
    const struct px_type *t = known_type(w, a->type);

    if (!t)
        return;
    px_put_type(w, t->id);
    if (t->store == PX_NONE) { /* every release reads a size of 0 here */
        px_put_size(w, 0);
        return;
    }
    if (a->size && !a->array) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    px_put_size(w, a->size);
    if (enter(w) && a->size)
        put_elements(w, a->array, a->size, t);
    w->depth--;
}

static void put_value(px_writer *w, const pmix_value_t *v)
{
    static const pmix_data_array_t no_array = {.type = PMIX_UNDEF};
    const struct px_type *t;
    const void *payload;

    if (put_substitute(w, v))
        return;
    t = known_type(w, v->type);
    if (!t)
        return;
    if (t->in_value == PX_VALUE_NO) {
        px_writer_fail(w, PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    px_put_type(w, t->id);
    if (t->store == PX_NONE)
        return;
    payload = px_value_payload(v);
    if (!payload && t->store == PX_DARRAY)
        payload = &no_array;
    if (!payload) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    if (enter(w))
        put_object(w, payload, t, t->store);
    w->depth--;
}

/* ---- structures ------------------------------------------------------------------ */

static void put_strings(px_writer *w, char *const *v, enum px_many many)
{
    size_t n = px_strv_count(v);
    int32_t count = (int32_t)n;

    if (n > INT32_MAX) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    px_put_number(w, many == PX_STRV_INT ? PX_INT : PX_INT32, &count);
    for (size_t i = 0; i < n; i++)
        px_put_string(w, v[i]);
}

static void put_counted(px_writer *w, const void *array, size_t n,
                        const struct px_field *f)
{
    const struct px_type *t = px_type_find(f->type);

    if (n && !array) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    px_put_size(w, n);
    if (n)
        put_elements(w, array, n, t);
}

/* Writes a member. Members of infos, the most frequent type, take a fast path. */
static void put_member(px_writer *w, const void *member, const struct px_field *f)
{
    enum px_store store = (enum px_store)f->store;

    if (store == PX_KEY)
        put_chars(w, member, sizeof(pmix_key_t));
    else if (store == PX_VALUE)
        put_value(w, member);
    else if (px_is_number(store))
        px_put_number(w, store, member);
    else
        put_object(w, member, px_field_struct(f), store);
}

static void put_struct(px_writer *w, const char *src, const struct px_type *t)
{
    for (const struct px_field *f = t->fields; f < t->fields + t->n_fields; f++) {
        const void *member = src + f->offset;
        size_t n;

        switch ((enum px_many)f->many) {
        case PX_ONE:
            put_member(w, member, f);
            break;
        case PX_COUNTED:
            memcpy(&n, src + f->count_offset, sizeof(n));
            put_counted(w, *(void *const *)member, n, f);
            break;
        case PX_STRV_INT:
        case PX_STRV_I32:
            put_strings(w, *(char **const *)member, (enum px_many)f->many);
            break;
        }
    }
}

/* ---- one object of any type ------------------------------------------------------ */

static void put_bytes_or_text(px_writer *w, const void *src, enum px_store store)
{
    const pmix_byte_object_t *bo = src;
    const pmix_data_buffer_t *dbuf = src;
    char *string;

    switch (store) {
    case PX_STRING:
        memcpy(&string, src, sizeof(string));
        px_put_string(w, string);
        break;
    case PX_NSPACE:
        put_chars(w, src, sizeof(pmix_nspace_t));
        break;
    case PX_BYTES:
        px_put_blob(w, bo->bytes, bo->size);
        break;
    case PX_DBUF:
        px_put_blob(w, dbuf->base_ptr, dbuf->bytes_used);
        break;
    case PX_REGEX:
        px_put_regex(w, bo);
        break;
    default:
        px_writer_fail(w, PMIX_ERR_NOT_SUPPORTED);
        break;
    }
}

static void put_object(px_writer *w, const void *src, const struct px_type *t,
                       enum px_store store)
{
    const struct timeval *tv = src;
    float narrow;
    double wide;

    if (w->status)
        return;
    if (px_is_number(store)) {
        px_put_number(w, store, src);
        return;
    }
    switch (store) {
    case PX_NONE:
        break;
    case PX_BOOL:
        px_put_byte(w, *(const uint8_t *)src ? 1 : 0);
        break;
    case PX_BYTE1:
        px_put_byte(w, *(const uint8_t *)src);
        break;
    case PX_TIMEVAL:
        px_put_number(w, PX_INT64, &(int64_t){tv->tv_sec});
        px_put_number(w, PX_INT64, &(int64_t){tv->tv_usec});
        break;
    case PX_FLOAT:
        memcpy(&narrow, src, sizeof(narrow));
        px_put_real(w, narrow);
        break;
    case PX_DOUBLE:
        memcpy(&wide, src, sizeof(wide));
        px_put_real(w, wide);
        break;
    case PX_POINTER:
        px_put_byte(w, 1); /* an address is meaningless to the receiver */
        break;
    case PX_VALUE:
        put_value(w, src);
        break;
    case PX_DARRAY:
        put_darray(w, src);
        break;
    case PX_CPUSET:
        px_put_cpuset(w, src);
        break;
    case PX_TOPO:
        px_put_topology(w, src);
        break;
    case PX_STRUCT:
        put_struct(w, src, t);
        break;
    default:
        put_bytes_or_text(w, src, store);
        break;
    }
}

/* ---- operations ------------------------------------------------------------------ */

void px_put_head(px_writer *w, int32_t n, pmix_data_type_t type)
{
    if (w->codec.described)
        px_put_type(w, PMIX_INT32);
    px_put_i32(w, n);
    if (w->codec.described)
        px_put_type(w, type);
}

void px_pack(px_writer *w, const void *src, int32_t n, pmix_data_type_t type)
{
    const struct px_type *t = w->status ? NULL : known_type(w, type);

    if (!t)
        return;
    if (n < 0 || (n && !src) || t->store == PX_NONE) {
        px_writer_fail(w, n < 0 || (n && !src) ? PMIX_ERR_BAD_PARAM
                                               : PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    px_put_head(w, n, type);
    put_elements(w, src, (size_t)n, t);
}

void px_pack_bare(px_writer *w, const void *src, pmix_data_type_t type)
{
    const struct px_type *t = w->status ? NULL : known_type(w, type);

    if (t)
        put_object(w, src, t, (enum px_store)t->store);
}

void px_pack_infos_head(px_writer *w, size_t n)
{
    px_pack_size(w, n);
    if (n > INT32_MAX)
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
    else if (n && !w->status)
        px_put_head(w, (int32_t)n, PMIX_INFO);
}

void px_pack_array_head(px_writer *w, const char *key, pmix_data_type_t type, size_t n)
{
    pmix_data_array_t none = {.type = type};
    pmix_info_t info = {.value = {.type = PMIX_DATA_ARRAY, .data.darray = &none}};
    size_t end;

    PMIx_Load_key(info.key, key);
    px_pack_bare(w, &info, PMIX_INFO);
    /* Replaces the size, which an empty array ends with. */
    end = w->buf.len;
    px_put_size(w, 0);
    if (w->status)
        return;
    w->buf.len = end - (w->buf.len - end);
    px_put_size(w, n);
}
