/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over objects by the type table: constructs, copies, destructs, compares and
 * measures. All memory is plain malloc memory; user programs may allocate some. */
#include "core/types/walk.h"

#include "core/os/os.h"
#include "core/types/number.h"

#define LONG_B (1u << 18) /* copies whose memory is backed at once */

static void *element(const void *array, size_t i, const struct px_type *t)
{
    return (char *)array + i * t->size;
}

/* ---- empty objects --------------------------------------------------------------- */

/* Sets the values of PMIX_*_STATIC_INIT: zero, except where zero would be a valid rank,
 * node or distance. */
void px_type_construct(pmix_data_type_t id, void *obj)
{
    const struct px_type *t = px_type_find(id);

    if (!t || !obj)
        return;
    memset(obj, 0, t->size);
    switch (id) {
    case PMIX_PROC_RANK:
        *(pmix_rank_t *)obj = PMIX_RANK_UNDEF;
        break;
    case PMIX_NODE_PID:
        ((pmix_node_pid_t *)obj)->nodeid = UINT32_MAX;
        break;
    case PMIX_DEVICE_DIST:
        ((pmix_device_distance_t *)obj)->mindist = UINT16_MAX;
        ((pmix_device_distance_t *)obj)->maxdist = UINT16_MAX;
        break;
    default:
        for (size_t i = 0; i < px_type_fields(t); i++) {
            const struct px_field *f = &t->fields[i];

            if (f->type == PMIX_PROC_RANK || f->type == PMIX_PROC)
                px_type_construct(f->type, px_at_mut(obj, f->offset));
        }
    }
}

void *px_type_create_array(pmix_data_type_t id, size_t n)
{
    const struct px_type *t = px_type_find(id);

    if (!t || t->store == PX_NONE || n == 0)
        return NULL;
    void *array = calloc(n, t->size);
    for (size_t i = 0; array && i < n; i++)
        px_type_construct(id, element(array, i, t));
    return array;
}

/* ---- copies ---------------------------------------------------------------------- */

/* Copies are made member by member in zeroed memory, so destructing undoes a
 * failure. */

/* Copies a string into an array. src may be shorter than the array, so nothing after
 * its NUL is read. */
static pmix_status_t copy_chars(char *dst, size_t size, const char *src)
{
    size_t len = strnlen(src, size - 1);

    memcpy(dst, src, len);
    memset(dst + len, 0, size - len);
    return PMIX_SUCCESS;
}

/* Copies n bytes. Sets *dst to NULL and *size to 0 if n is 0 or memory is out. */
static pmix_status_t copy_memory(char **dst, size_t *size, const char *src, size_t n)
{
    *dst = n ? malloc(n) : NULL;
    *size = *dst ? n : 0;
    if (*dst && n >= LONG_B)
        px_os_populate(*dst, n);
    if (*dst)
        memcpy(*dst, src, n);
    return *size == n ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t copy_dbuf(pmix_data_buffer_t *dst, const pmix_data_buffer_t *src)
{
    memset(dst, 0, sizeof(*dst));
    pmix_status_t rc = copy_memory(&dst->base_ptr, &dst->bytes_used, src->base_ptr,
                                   px_dbuf_len(src));
    if (!dst->base_ptr)
        return rc;
    dst->pack_ptr = dst->base_ptr + dst->bytes_used;
    dst->unpack_ptr = dst->base_ptr;
    if (src->unpack_ptr)
        dst->unpack_ptr += src->unpack_ptr - src->base_ptr;
    dst->bytes_allocated = dst->bytes_used;
    return PMIX_SUCCESS;
}

/* Copies source and handle. Only handle.h can copy the object behind the handle. */
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
    pmix_status_t rc = n ? px_type_copy_array(src->type, &dst->array, src->array, n)
                         : PMIX_SUCCESS;
    if (!rc)
        dst->size = n;
    return rc;
}

static pmix_status_t copy_string(void *dst, const void *src)
{
    const char *string = px_load_ptr(src), *copy = string ? strdup(string) : NULL;

    if (string && !copy)
        return PMIX_ERR_NOMEM;
    memcpy(dst, &copy, sizeof(copy));
    return PMIX_SUCCESS;
}

static pmix_status_t copy_value(pmix_value_t *dst, const pmix_value_t *src)
{
    const struct px_type *t = px_value_type(src);
    pmix_status_t rc = PMIX_SUCCESS;

    memset(dst, 0, sizeof(*dst));
    if (!t)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (t->store == PX_STRING)
        rc = copy_string(&dst->data, &src->data);
    else if (t->in_value == PX_VALUE_INLINE)
        rc = px_type_copy(t->id, &dst->data, &src->data);
    else if (src->data.ptr)
        rc = px_type_copy_array(t->id, &dst->data.ptr, src->data.ptr, 1);
    if (!rc)
        dst->type = src->type;
    return rc;
}

static pmix_status_t copy_field(const struct px_field *f, void *dst, const void *src)
{
    void *to = px_at_mut(dst, f->offset), *elements = NULL;
    const void *from = px_at(src, f->offset);
    size_t n = 0;

    if (f->store == PX_KEY)
        return copy_chars(to, sizeof(pmix_key_t), from);
    if (f->many == PX_ONE)
        return px_type_copy(f->type, to, from);
    if (f->many == PX_COUNTED) {
        n = px_field_count(f, src);
        pmix_status_t rc = px_type_copy_array(f->type, &elements,
                                              px_field_elements(f, src), n);
        if (rc)
            return rc;
        memcpy(px_at_mut(dst, f->count_offset), &n, sizeof(n));
    } else {
        elements = px_strv_dup(px_field_elements(f, src));
        if (!elements && px_field_elements(f, src))
            return PMIX_ERR_NOMEM;
    }
    memcpy(to, &elements, sizeof(elements));
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
    return PMIX_SUCCESS;
}

/* Copies an info, the most frequent large type, without zeroing first. Clears
 * PMIX_INFO_PERSISTENT, because the copy owns its value. */
pmix_status_t px_info_copy(pmix_info_t *dst, const pmix_info_t *src)
{
    pmix_status_t rc = copy_value(&dst->value, &src->value);

    if (rc)
        memset(dst, 0, sizeof(*dst));
    else
        copy_chars(dst->key, sizeof(dst->key), src->key);
    dst->flags = rc ? 0 : src->flags & ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    return rc;
}

pmix_status_t px_type_copy(pmix_data_type_t id, void *dst, const void *src)
{
    const struct px_type *t = px_type_find(id);
    const pmix_byte_object_t *bytes = src;

    if (!t)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    switch (t->store) {
    case PX_STRING:
        return copy_string(dst, src);
    case PX_NSPACE:
        return copy_chars(dst, sizeof(pmix_nspace_t), src);
    case PX_BYTES:
    case PX_REGEX:
        return copy_memory(&((pmix_byte_object_t *)dst)->bytes,
                           &((pmix_byte_object_t *)dst)->size, bytes->bytes,
                           px_bytes_len(bytes));
    case PX_DBUF:
        return copy_dbuf(dst, src);
    case PX_VALUE:
        return copy_value(dst, src);
    case PX_DARRAY:
        return copy_darray(dst, src);
    case PX_CPUSET:
    case PX_TOPO:
        return copy_opaque((enum px_store)t->store, dst, src);
    default:
        if (t->id == PMIX_INFO)
            return px_info_copy(dst, src);
        if (t->store == PX_STRUCT && !t->flat)
            return copy_fields(t, dst, src);
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
    void *copy = n ? calloc(n, t->size) : NULL;
    if (n && !copy)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        pmix_status_t rc = px_type_copy(id, element(copy, i, t), element(src, i, t));
        if (rc) {
            px_type_free_array(id, copy, i);
            return rc;
        }
    }
    *dst = copy;
    return PMIX_SUCCESS;
}

/* ---- destruction ----------------------------------------------------------------- */

static void destruct_fields(const struct px_type *t, void *obj)
{
    if (t->id == PMIX_INFO && ((pmix_info_t *)obj)->flags & PMIX_INFO_PERSISTENT)
        return;                                /* another object owns the value */
    for (size_t i = 0; i < t->n_fields; i++) { /* local fields own nothing */
        const struct px_field *f = &t->fields[i];

        if (f->many == PX_COUNTED)
            px_type_free_array(f->type, px_field_elements(f, obj),
                               px_field_count(f, obj));
        else if (f->many != PX_ONE)
            px_strv_free(px_field_elements(f, obj));
        else if (f->store != PX_KEY)
            px_type_destruct(f->type, px_at_mut(obj, f->offset));
    }
}

static void give_back(const struct px_type *t, void *obj);

static void give_back_held(pmix_value_t *v)
{
    const struct px_type *held = px_value_type(v);

    if (held && held->store == PX_STRING)
        free(v->data.string);
    else if (held && held->in_value == PX_VALUE_POINTER)
        px_type_free_array(held->id, v->data.ptr, 1);
    else if (held && !held->flat)
        give_back(held, &v->data);
}

/* Frees the memory that obj owns and leaves obj's own bytes unchanged. */
static void give_back(const struct px_type *t, void *obj)
{
    pmix_data_array_t *a = obj;
    struct px_opaque o;

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
        give_back_held(obj);
        break;
    case PX_DARRAY:
        px_type_free_array(a->type, a->array, a->size);
        break;
    case PX_CPUSET:
    case PX_TOPO:
        o = px_load_opaque(obj);
        px_handle_free((enum px_store)t->store, &o);
        free(o.source);
        break;
    case PX_STRUCT:
        if (!t->flat)
            destruct_fields(t, obj);
        break;
    default:
        break;
    }
}

void px_type_destruct(pmix_data_type_t id, void *obj)
{
    const struct px_type *t = px_type_find(id);

    if (!t || !obj)
        return;
    give_back(t, obj);
    memset(obj, 0, t->size);
}

void px_value_destruct(pmix_value_t *v)
{
    give_back_held(v);
    memset(v, 0, sizeof(*v));
}

void px_type_free_array(pmix_data_type_t id, void *array, size_t n)
{
    const struct px_type *t = array ? px_type_find(id) : NULL;

    for (size_t i = 0; t && !t->flat && i < n; i++)
        give_back(t, element(array, i, t));
    free(array);
}

/* ---- order ----------------------------------------------------------------------- */

/* NULL members come first. Empty vectors and arrays equal absent ones, as on the
 * wire. */

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
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
    int order = 0;

    for (size_t i = 0; t && !order && i < n_a && i < n_b; i++)
        order = px_type_compare(id, element(a, i, t), element(b, i, t));
    return order ? order : compare_sizes(n_a, n_b);
}

static int compare_values(const pmix_value_t *a, const pmix_value_t *b)
{
    if (a->type != b->type)
        return compare_sizes(a->type, b->type);
    return px_type_compare(a->type, px_value_payload(a), px_value_payload(b));
}

static int compare_fields(const struct px_type *t, const void *a, const void *b)
{
    int order = 0;

    for (size_t i = 0; !order && i < px_type_fields(t); i++) {
        const struct px_field *f = &t->fields[i];
        const void *left = px_at(a, f->offset), *right = px_at(b, f->offset);

        if (f->store == PX_KEY)
            order = strncmp(left, right, sizeof(pmix_key_t));
        else if (f->many == PX_ONE)
            order = px_type_compare(f->type, left, right);
        else
            order = compare_elements(f->type, px_field_elements(f, a),
                                     px_field_count(f, a), px_field_elements(f, b),
                                     px_field_count(f, b));
    }
    return order;
}

/* Compares infos; the owner of the value does not count. */
static int compare_infos(const pmix_info_t *a, const pmix_info_t *b)
{
    const pmix_info_directives_t mask = ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    int order = strncmp(a->key, b->key, sizeof(a->key));

    if (!order)
        order = compare_sizes(a->flags & mask, b->flags & mask);
    return order ? order : compare_values(&a->value, &b->value);
}

static int compare_darrays(const pmix_data_array_t *a, const pmix_data_array_t *b)
{
    if (a->type != b->type)
        return compare_sizes(a->type, b->type);
    return compare_elements(a->type, a->array, px_darray_len(a), b->array,
                            px_darray_len(b));
}

static int compare_opaques(enum px_store store, const void *a, const void *b)
{
    struct px_opaque left = px_load_opaque(a), right = px_load_opaque(b);
    int order = compare_strings(left.source, right.source);

    return order ? order : px_handle_compare(store, &left, &right);
}

static int compare_objects(const struct px_type *t, const void *a, const void *b)
{
    const pmix_byte_object_t *bo_a = a, *bo_b = b;
    const pmix_data_buffer_t *db_a = a, *db_b = b;
    const struct timeval *tv_a = a, *tv_b = b;
    struct px_number left, right;

    switch (t->store) {
    case PX_NONE:
        return 0;
    case PX_STRING:
        return compare_strings(px_load_ptr(a), px_load_ptr(b));
    case PX_POINTER:
        return compare_sizes((uintptr_t)px_load_ptr(a), (uintptr_t)px_load_ptr(b));
    case PX_NSPACE:
        return strncmp(a, b, sizeof(pmix_nspace_t));
    case PX_BYTES:
    case PX_REGEX:
        return compare_memory(bo_a->bytes, px_bytes_len(a), bo_b->bytes,
                              px_bytes_len(b));
    case PX_DBUF:
        return compare_memory(db_a->base_ptr, px_dbuf_len(a), db_b->base_ptr,
                              px_dbuf_len(b));
    case PX_VALUE:
        return compare_values(a, b);
    case PX_DARRAY:
        return compare_darrays(a, b);
    case PX_TIMEVAL:
        if (tv_a->tv_sec != tv_b->tv_sec)
            return tv_a->tv_sec < tv_b->tv_sec ? -1 : 1;
        return (tv_a->tv_usec > tv_b->tv_usec) - (tv_a->tv_usec < tv_b->tv_usec);
    case PX_CPUSET:
    case PX_TOPO:
        return compare_opaques((enum px_store)t->store, a, b);
    case PX_STRUCT:
        return t->id == PMIX_INFO ? compare_infos(a, b) : compare_fields(t, a, b);
    default:
        if (px_number_read(t, a, &left) && px_number_read(t, b, &right))
            return px_number_compare(&left, &right);
        return memcmp(a, b, t->size);
    }
}

int px_type_compare(pmix_data_type_t id, const void *a, const void *b)
{
    const struct px_type *t = px_type_find(id);

    if (a == b)
        return 0;
    return t && a && b ? compare_objects(t, a, b)
                       : compare_sizes((uintptr_t)a, (uintptr_t)b);
}

/* ---- size ------------------------------------------------------------------------ */

static size_t owned(const struct px_type *t, const void *obj);

static size_t string_size(const char *s)
{
    return s ? strlen(s) + 1 : 0;
}

static size_t elements_size(const struct px_type *t, const void *array, size_t n)
{
    size_t size = n * t->size;

    for (size_t i = 0; !t->flat && i < n; i++)
        size += owned(t, element(array, i, t));
    return size;
}

static size_t fields_owned(const struct px_type *t, const void *obj)
{
    size_t size = 0;

    for (size_t i = 0; i < t->n_fields; i++) { /* local fields own nothing */
        const struct px_field *f = &t->fields[i];
        const struct px_type *of = px_type_find(f->type);
        char *const *v = f->many == PX_ONE ? NULL : px_field_elements(f, obj);

        if (f->many == PX_ONE)
            size += f->store == PX_KEY ? 0 : owned(of, px_at(obj, f->offset));
        else if (v) /* includes the NULL of a vector */
            size += elements_size(of, v, px_field_count(f, obj)) +
                    (f->many == PX_COUNTED ? 0 : sizeof(*v));
    }
    return size;
}

static size_t owned(const struct px_type *t, const void *obj)
{
    const pmix_data_buffer_t *b = obj;
    const pmix_data_array_t *a = obj;
    const pmix_value_t *v = obj;
    const struct px_type *held;
    PX_AUTOFREE char *text = NULL;
    struct px_opaque o;

    switch (t->store) {
    case PX_STRING:
        return string_size(px_load_ptr(obj));
    case PX_BYTES:
    case PX_REGEX:
        return px_bytes_len(obj);
    case PX_DBUF:
        return b->base_ptr ? b->bytes_allocated : 0;
    case PX_VALUE:
        held = px_value_type(v);
        if (held && held->in_value == PX_VALUE_INLINE)
            return owned(held, &v->data);
        return held && v->data.ptr ? elements_size(held, v->data.ptr, 1) : 0;
    case PX_DARRAY:
        held = px_type_find(a->type);
        return held ? elements_size(held, a->array, px_darray_len(a)) : 0;
    case PX_CPUSET:
    case PX_TOPO: /* the length of the text stands for the handle's size */
        o = px_load_opaque(obj);
        if (o.handle && px_handle_text((enum px_store)t->store, &o, &text))
            return string_size(o.source);
        return string_size(o.source) + string_size(text);
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
