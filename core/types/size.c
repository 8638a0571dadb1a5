/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory an object takes: itself and all it owns. */
#include "core/types/walk.h"

static size_t owned(const struct px_type *t, const void *obj);

static size_t string_size(const char *s)
{
    return s ? strlen(s) + 1 : 0;
}

static size_t elements_size(const struct px_type *t, const void *array, size_t n)
{
    size_t size = n * t->size;

    for (size_t i = 0; !t->flat && i < n; i++)
        size += owned(t, px_at(array, i * t->size));
    return size;
}

static size_t value_owned(const pmix_value_t *v)
{
    const struct px_type *t = px_value_type(v);

    if (!t)
        return 0;
    if (t->in_value == PX_VALUE_INLINE)
        return owned(t, &v->data);
    return v->data.ptr ? elements_size(t, v->data.ptr, 1) : 0;
}

static size_t strv_size(char *const *v)
{
    size_t size = v ? sizeof(*v) : 0;

    for (; v && *v; v++)
        size += sizeof(*v) + string_size(*v);
    return size;
}

static size_t field_owned(const struct px_field *f, const void *obj)
{
    const struct px_type *t = px_type_find(f->type);

    if (f->many == PX_COUNTED)
        return elements_size(t, px_field_elements(f, obj), px_field_count(f, obj));
    if (f->many != PX_ONE)
        return strv_size(px_field_elements(f, obj));
    return f->store == PX_KEY ? 0 : owned(t, px_at(obj, f->offset));
}

static size_t fields_owned(const struct px_type *t, const void *obj)
{
    size_t size = 0;

    for (size_t i = 0; i < t->n_fields; i++) /* local ones own nothing */
        size += field_owned(&t->fields[i], obj);
    return size;
}

static size_t darray_owned(const pmix_data_array_t *a)
{
    const struct px_type *t = px_type_find(a->type);

    return t ? elements_size(t, a->array, px_darray_len(a)) : 0;
}

/* What is behind a handle counts as much as its text: that it is large shows there, too. */
static size_t opaque_size(enum px_store store, struct px_opaque o)
{
    PX_AUTOFREE char *text = NULL;

    if (o.handle && px_handle_text(store, &o, &text))
        return string_size(o.source);
    return string_size(o.source) + string_size(text);
}

static size_t owned(const struct px_type *t, const void *obj)
{
    switch (t->store) {
    case PX_STRING:
        return string_size(px_load_ptr(obj));
    case PX_BYTES:
    case PX_REGEX:
        return px_bytes_len(obj);
    case PX_DBUF: {
        const pmix_data_buffer_t *b = obj;
        return b->base_ptr ? b->bytes_allocated : 0;
    }
    case PX_VALUE:
        return value_owned(obj);
    case PX_DARRAY:
        return darray_owned(obj);
    case PX_CPUSET:
    case PX_TOPO:
        return opaque_size((enum px_store)t->store, px_load_opaque(obj));
    case PX_STRUCT:
        return fields_owned(t, obj);
    default:
        return 0;
    }
}

size_t px_type_size(pmix_data_type_t id, const void *obj)
{
    const struct px_type *t = px_type_find(id);

    return t && obj ? elements_size(t, obj, 1) : 0;
}
