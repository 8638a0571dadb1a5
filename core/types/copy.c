/* SPDX-License-Identifier: BSD-3-Clause */
/* Deep copies. A copy is made into zeroed memory member by member, so that a failure
 * can be undone by destructing what there is. */
#include "core/types/walk.h"

static pmix_status_t copy_string(void *dst, const void *src)
{
    const char *from = px_load_ptr(src);
    char *to = NULL;

    if (from && !(to = strdup(from)))
        return PMIX_ERR_NOMEM;
    px_store_ptr(dst, to);
    return PMIX_SUCCESS;
}

/* A source may be a string shorter than the array, so nothing behind its end is
 * read. */
static void copy_chars(char *dst, size_t size, const char *src)
{
    memset(dst, 0, size);
    memcpy(dst, src, strnlen(src, size - 1));
}

static pmix_status_t copy_memory(char **dst, const char *src, size_t n)
{
    *dst = NULL;
    if (n == 0)
        return PMIX_SUCCESS;
    *dst = malloc(n);
    if (!*dst)
        return PMIX_ERR_NOMEM;
    memcpy(*dst, src, n);
    return PMIX_SUCCESS;
}

static pmix_status_t copy_bytes(pmix_byte_object_t *dst, const pmix_byte_object_t *src)
{
    size_t n = px_bytes_len(src);
    pmix_status_t rc = copy_memory(&dst->bytes, src->bytes, n);

    dst->size = rc ? 0 : n;
    return rc;
}

static pmix_status_t copy_dbuf(pmix_data_buffer_t *dst, const pmix_data_buffer_t *src)
{
    size_t n = px_dbuf_len(src);

    memset(dst, 0, sizeof(*dst));
    pmix_status_t rc = copy_memory(&dst->base_ptr, src->base_ptr, n);
    if (rc || n == 0)
        return rc;
    dst->pack_ptr = dst->base_ptr + n;
    dst->unpack_ptr = dst->base_ptr;
    if (src->unpack_ptr)
        dst->unpack_ptr += src->unpack_ptr - src->base_ptr;
    dst->bytes_allocated = dst->bytes_used = n;
    return PMIX_SUCCESS;
}

/* What hangs on the handle is another library's, which core/types does not know. */
static pmix_status_t copy_opaque(enum px_store store, void *dst, const void *src)
{
    struct px_opaque from = px_load_opaque(src), to = {0};

    if (from.source && !(to.source = strdup(from.source)))
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = from.handle ? px_handle_dup(store, &from, &to.handle)
                                   : PMIX_SUCCESS;
    if (rc) {
        free(to.source);
        return rc;
    }
    memcpy(dst, &to, sizeof(to));
    return PMIX_SUCCESS;
}

static pmix_status_t copy_darray(pmix_data_array_t *dst, const pmix_data_array_t *src)
{
    size_t n = px_darray_len(src);

    *dst = (pmix_data_array_t){.type = src->type};
    if (n == 0)
        return PMIX_SUCCESS;
    pmix_status_t rc = px_type_copy_array(src->type, &dst->array, src->array, n);
    if (!rc)
        dst->size = n;
    return rc;
}

static pmix_status_t copy_value(pmix_value_t *dst, const pmix_value_t *src)
{
    const struct px_type *t = px_value_type(src);

    memset(dst, 0, sizeof(*dst));
    if (!t)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    pmix_status_t rc = PMIX_SUCCESS;
    if (t->in_value == PX_VALUE_INLINE)
        rc = px_type_copy(t->id, &dst->data, &src->data);
    else if (src->data.ptr)
        rc = px_type_copy_array(t->id, &dst->data.ptr, src->data.ptr, 1);
    if (!rc)
        dst->type = src->type;
    return rc;
}

static pmix_status_t copy_strv(void *dst, char *const *src)
{
    char **copy = px_strv_dup(src);

    if (src && !copy)
        return PMIX_ERR_NOMEM;
    px_store_ptr(dst, copy);
    return PMIX_SUCCESS;
}

static pmix_status_t copy_field(const struct px_field *f, void *dst, const void *src)
{
    void *to = px_at_mut(dst, f->offset);
    const void *from = px_at(src, f->offset);

    if (f->store == PX_KEY) {
        copy_chars(to, sizeof(pmix_key_t), from);
        return PMIX_SUCCESS;
    }
    if (f->many == PX_ONE)
        return px_type_copy(f->type, to, from);
    if (f->many != PX_COUNTED)
        return copy_strv(to, px_field_elements(f, src));

    size_t n = px_field_count(f, src);
    void *elements = NULL;
    pmix_status_t rc = px_type_copy_array(f->type, &elements, px_field_elements(f, src),
                                          n);
    if (rc)
        return rc;
    px_store_ptr(to, elements);
    memcpy(px_at_mut(dst, f->count_offset), &n, sizeof(n));
    return PMIX_SUCCESS;
}

static pmix_status_t copy_fields(const struct px_type *t, void *dst, const void *src)
{
    memset(dst, 0, t->size);
    for (size_t i = 0; i < px_type_fields(t); i++) {
        pmix_status_t rc = copy_field(&t->fields[i], dst, src);
        if (rc) {
            px_type_destruct(t->id, dst);
            return rc;
        }
    }
    /* The mark says that the value is somebody else's; the copy's is its own. */
    if (t->id == PMIX_INFO)
        ((pmix_info_t *)dst)->flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    return PMIX_SUCCESS;
}

pmix_status_t px_type_copy(pmix_data_type_t id, void *dst, const void *src)
{
    const struct px_type *t = px_type_find(id);

    if (!t)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    switch (t->store) {
    case PX_NONE:
        return PMIX_SUCCESS;
    case PX_STRING:
        return copy_string(dst, src);
    case PX_NSPACE:
        copy_chars(dst, sizeof(pmix_nspace_t), src);
        return PMIX_SUCCESS;
    case PX_BYTES:
    case PX_REGEX:
        return copy_bytes(dst, src);
    case PX_DBUF:
        return copy_dbuf(dst, src);
    case PX_VALUE:
        return copy_value(dst, src);
    case PX_DARRAY:
        return copy_darray(dst, src);
    case PX_CPUSET:
    case PX_TOPO:
        return copy_opaque((enum px_store)t->store, dst, src);
    case PX_STRUCT:
        if (!t->flat)
            return copy_fields(t, dst, src);
        memcpy(dst, src, t->size);
        return PMIX_SUCCESS;
    default:
        memcpy(dst, src, t->size);
        return PMIX_SUCCESS;
    }
}

pmix_status_t px_type_copy_array(pmix_data_type_t id, void **dst, const void *src,
                                 size_t n)
{
    const struct px_type *t = px_type_find(id);

    if (!t || t->store == PX_NONE)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (n == 0) {
        *dst = NULL;
        return PMIX_SUCCESS;
    }
    char *copy = calloc(n, t->size);
    if (!copy)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        pmix_status_t rc = px_type_copy(id, copy + i * t->size,
                                        px_at(src, i * t->size));
        if (rc) {
            px_type_free_array(id, copy, i);
            return rc;
        }
    }
    *dst = copy;
    return PMIX_SUCCESS;
}
