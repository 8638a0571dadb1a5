/* SPDX-License-Identifier: BSD-3-Clause */
/* A total order over the content of objects of one type. What is absent comes before
 * what is there; an empty vector or array is the same as an absent one, as on the
 * wire. */
#include "core/types/number.h"
#include "core/types/walk.h"

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_addresses(const void *a, const void *b)
{
    return compare_sizes((uintptr_t)a, (uintptr_t)b);
}

static int compare_strings(const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static int compare_memory(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t n = n_a < n_b ? n_a : n_b;
    int order = n ? memcmp(a, b, n) : 0;

    return order ? order : compare_sizes(n_a, n_b);
}

static int compare_elements(pmix_data_type_t id, const void *a, size_t n_a,
                            const void *b, size_t n_b)
{
    const struct px_type *t = px_type_find(id);
    size_t n = n_a < n_b ? n_a : n_b;

    for (size_t i = 0; t && i < n; i++) {
        int order = px_type_compare(id, px_at(a, i * t->size), px_at(b, i * t->size));
        if (order)
            return order;
    }
    return compare_sizes(n_a, n_b);
}

static int compare_darrays(const pmix_data_array_t *a, const pmix_data_array_t *b)
{
    if (a->type != b->type)
        return compare_sizes(a->type, b->type);
    return compare_elements(a->type, a->array, px_darray_len(a), b->array,
                            px_darray_len(b));
}

static int compare_values(const pmix_value_t *a, const pmix_value_t *b)
{
    if (a->type != b->type)
        return compare_sizes(a->type, b->type);
    return px_type_compare(a->type, px_value_payload(a), px_value_payload(b));
}

static int compare_opaques(enum px_store store, const void *a, const void *b)
{
    struct px_opaque left = px_load_opaque(a), right = px_load_opaque(b);
    int order = compare_strings(left.source, right.source);

    return order ? order : px_handle_compare(store, &left, &right);
}

static int compare_times(const struct timeval *a, const struct timeval *b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_usec > b->tv_usec) - (a->tv_usec < b->tv_usec);
}

static int compare_field(const struct px_field *f, const void *a, const void *b)
{
    if (f->store == PX_KEY)
        return strncmp(px_at(a, f->offset), px_at(b, f->offset), sizeof(pmix_key_t));
    if (f->many == PX_ONE)
        return px_type_compare(f->type, px_at(a, f->offset), px_at(b, f->offset));
    return compare_elements(f->type, px_field_elements(f, a), px_field_count(f, a),
                            px_field_elements(f, b), px_field_count(f, b));
}

static int compare_fields(const struct px_type *t, const void *a, const void *b)
{
    for (size_t i = 0; i < px_type_fields(t); i++) {
        int order = compare_field(&t->fields[i], a, b);
        if (order)
            return order;
    }
    return 0;
}

/* Who owns the value is no part of what an info says. */
static int compare_infos(const pmix_info_t *a, const pmix_info_t *b)
{
    int order = strncmp(a->key, b->key, sizeof(a->key));

    if (!order)
        order = compare_sizes(a->flags & ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT,
                              b->flags & ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT);
    return order ? order : compare_values(&a->value, &b->value);
}

static int compare_numbers(const struct px_type *t, const void *a, const void *b)
{
    struct px_number left, right;

    if (px_number_read(t, a, &left) && px_number_read(t, b, &right))
        return px_number_compare(&left, &right);
    return memcmp(a, b, t->size);
}

static int compare_objects(const struct px_type *t, const void *a, const void *b)
{
    switch (t->store) {
    case PX_NONE:
        return 0;
    case PX_STRING:
        return compare_strings(px_load_ptr(a), px_load_ptr(b));
    case PX_POINTER:
        return compare_addresses(px_load_ptr(a), px_load_ptr(b));
    case PX_NSPACE:
        return strncmp(a, b, sizeof(pmix_nspace_t));
    case PX_BYTES:
    case PX_REGEX:
        return compare_memory(((const pmix_byte_object_t *)a)->bytes, px_bytes_len(a),
                              ((const pmix_byte_object_t *)b)->bytes, px_bytes_len(b));
    case PX_DBUF:
        return compare_memory(((const pmix_data_buffer_t *)a)->base_ptr, px_dbuf_len(a),
                              ((const pmix_data_buffer_t *)b)->base_ptr,
                              px_dbuf_len(b));
    case PX_VALUE:
        return compare_values(a, b);
    case PX_DARRAY:
        return compare_darrays(a, b);
    case PX_TIMEVAL:
        return compare_times(a, b);
    case PX_CPUSET:
    case PX_TOPO:
        return compare_opaques((enum px_store)t->store, a, b);
    case PX_STRUCT:
        return t->id == PMIX_INFO ? compare_infos(a, b) : compare_fields(t, a, b);
    default:
        return compare_numbers(t, a, b);
    }
}

int px_type_compare(pmix_data_type_t id, const void *a, const void *b)
{
    const struct px_type *t = px_type_find(id);

    if (a == b)
        return 0;
    if (!t || !a || !b)
        return compare_addresses(a, b);
    return compare_objects(t, a, b);
}
