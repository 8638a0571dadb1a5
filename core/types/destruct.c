/* SPDX-License-Identifier: BSD-3-Clause */
/* Giving back what an object owns. Everything is plain malloc memory, some of it
 * allocated by the user's program. */
#include "core/types/walk.h"

static void destruct_value(pmix_value_t *v)
{
    const struct px_type *t = px_value_type(v);

    if (!t)
        return;
    if (t->in_value == PX_VALUE_INLINE)
        px_type_destruct(t->id, &v->data);
    else
        px_type_free_array(t->id, v->data.ptr, 1);
}

static void destruct_field(const struct px_field *f, void *obj)
{
    if (f->many == PX_COUNTED)
        px_type_free_array(f->type, px_field_elements(f, obj), px_field_count(f, obj));
    else if (f->many != PX_ONE)
        px_strv_free(px_field_elements(f, obj));
    else if (f->store != PX_KEY)
        px_type_destruct(f->type, px_at_mut(obj, f->offset));
}

static void destruct_fields(const struct px_type *t, void *obj)
{
    if (t->id == PMIX_INFO && ((pmix_info_t *)obj)->flags & PMIX_INFO_PERSISTENT)
        return; /* its only owning member belongs to somebody else */
    for (size_t i = 0; i < t->n_fields; i++) /* local ones own nothing */
        destruct_field(&t->fields[i], obj);
}

static void destruct_opaque(enum px_store store, struct px_opaque o)
{
    px_handle_free(store, &o);
    free(o.source);
}

void px_type_destruct(pmix_data_type_t id, void *obj)
{
    const struct px_type *t = px_type_find(id);

    if (!t || !obj)
        return;
    switch (t->store) {
    case PX_STRING:
        free(px_load_ptr(obj));
        break;
    case PX_BYTES:
    case PX_REGEX:
        free(((pmix_byte_object_t *)obj)->bytes);
        break;
    case PX_DBUF:
        free(((pmix_data_buffer_t *)obj)->base_ptr);
        break;
    case PX_VALUE:
        destruct_value(obj);
        break;
    case PX_DARRAY: {
        const pmix_data_array_t *a = obj;
        px_type_free_array(a->type, a->array, a->size);
        break;
    }
    case PX_CPUSET:
    case PX_TOPO:
        destruct_opaque((enum px_store)t->store, px_load_opaque(obj));
        break;
    case PX_STRUCT:
        if (!t->flat)
            destruct_fields(t, obj);
        break;
    default:
        break;
    }
    memset(obj, 0, t->size);
}

void px_type_free_array(pmix_data_type_t id, void *array, size_t n)
{
    const struct px_type *t = px_type_find(id);

    if (!array)
        return;
    for (size_t i = 0; t && !t->flat && i < n; i++)
        px_type_destruct(id, px_at_mut(array, i * t->size));
    free(array);
}
