/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to members that the table describes. Private to core/types. Pointers and
 * counts are read by memcpy, because the table does not know the C type behind a
 * pointer. */
#ifndef PX_TYPES_WALK_H
#define PX_TYPES_WALK_H

#include "core/base/strv.h"
#include "core/types/handle.h"

#include <string.h>

static inline const void *px_at(const void *obj, size_t offset)
{
    return (const char *)obj + offset;
}

static inline void *px_at_mut(void *obj, size_t offset)
{
    return (char *)obj + offset;
}

static inline void *px_load_ptr(const void *at)
{
    void *p;

    memcpy(&p, at, sizeof(p));
    return p;
}

/* Returns the number of fields, including those that are never written. */
static inline size_t px_type_fields(const struct px_type *t)
{
    return (size_t)t->n_fields + t->n_local;
}

/* Return the elements of a field other than PX_ONE, and their count. */
static inline void *px_field_elements(const struct px_field *f, const void *obj)
{
    return px_load_ptr(px_at(obj, f->offset));
}

static inline size_t px_field_count(const struct px_field *f, const void *obj)
{
    void *elements = px_field_elements(f, obj);
    size_t n;

    if (f->many != PX_COUNTED)
        return px_strv_count(elements);
    memcpy(&n, px_at(obj, f->count_offset), sizeof(n));
    return elements ? n : 0;
}

/* Return the number of valid bytes: 0 for a NULL pointer. */
static inline size_t px_bytes_len(const pmix_byte_object_t *bo)
{
    return bo->bytes ? bo->size : 0;
}

static inline size_t px_dbuf_len(const pmix_data_buffer_t *b)
{
    return b->base_ptr ? b->bytes_used : 0;
}

/* Returns the number of valid elements: 0 for a NULL pointer or PMIX_UNDEF. */
static inline size_t px_darray_len(const pmix_data_array_t *a)
{
    return a->array && a->type != PMIX_UNDEF ? a->size : 0;
}

/* px_type_copy for infos and px_type_destruct for values. */
pmix_status_t px_info_copy(pmix_info_t *dst, const pmix_info_t *src);
void px_value_destruct(pmix_value_t *v);

/* Returns the type of a value's content, or NULL if values cannot hold the type. */
static inline const struct px_type *px_value_type(const pmix_value_t *v)
{
    const struct px_type *t = px_type_find(v->type);

    return t && t->in_value != PX_VALUE_NO ? t : NULL;
}

#endif
