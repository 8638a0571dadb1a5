/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_value_t: one object of any type that the union can hold, inline or by
 * pointer. */
#include "core/types/number.h"
#include "core/types/walk.h"
#include "pmix_common.h"

#include <strings.h>

pmix_status_t px_value_borrow(pmix_value_t *v, const void *data, pmix_data_type_t type)
{
    memset(v, 0, sizeof(*v));
    v->type = type;
    const struct px_type *t = px_value_type(v);
    if (!t) {
        v->type = PMIX_UNDEF;
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (!data) /* a flag without data is true */
        v->data.flag = t->store == PX_BOOL;
    else if (t->in_value == PX_VALUE_POINTER || t->store == PX_STRING ||
             t->store == PX_POINTER)
        v->data.ptr = (void *)data;
    else if (t->store == PX_REGEX) /* data is the text from PMIx_generate_regex */
        v->data.bo = (pmix_byte_object_t){.bytes = (char *)data,
                                          .size = strlen(data) + 1};
    else
        memcpy(&v->data, data, t->size);
    return PMIX_SUCCESS;
}

static bool read_number(const pmix_value_t *v, struct px_number *n)
{
    const struct px_type *t = px_value_type(v);

    return t && t->in_value == PX_VALUE_INLINE && px_number_read(t, &v->data, n);
}

static bool to_integer(const pmix_value_t *v, pmix_data_type_t type, void *out)
{
    struct px_number n;

    return read_number(v, &n) && n.kind != PX_REAL &&
           px_number_write(px_type_find(type), out, &n) == PMIX_SUCCESS;
}

bool px_value_to_u64(const pmix_value_t *v, uint64_t *out)
{
    return to_integer(v, PMIX_UINT64, out);
}

bool px_value_to_u32(const pmix_value_t *v, uint32_t *out)
{
    if (v->type == PMIX_UINT32) { /* the most frequent type */
        *out = v->data.uint32;
        return true;
    }
    return to_integer(v, PMIX_UINT32, out);
}

bool px_value_to_i64(const pmix_value_t *v, int64_t *out)
{
    return to_integer(v, PMIX_INT64, out);
}

const char *px_value_string(const pmix_value_t *v)
{
    return v->type == PMIX_STRING ? v->data.string : NULL;
}

bool px_value_infos(const pmix_value_t *v, const pmix_info_t **infos, size_t *n)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    if (!a || (a->size > 0 && (a->type != PMIX_INFO || !a->array)))
        return false;
    *infos = a->array;
    *n = a->size;
    return true;
}

bool px_value_truth(const pmix_value_t *v)
{
    static const struct px_number zero = {.kind = PX_UNSIGNED};
    struct px_number n;

    if (v->type == PMIX_BOOL)
        return v->data.flag;
    if (read_number(v, &n))
        return px_number_compare(&n, &zero) != 0;
    return PMIx_Value_true(v) == PMIX_BOOL_TRUE;
}

/* -- public: contracts in pmix_data.h ---------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Value_load(pmix_value_t *v, const void *data,
                                        pmix_data_type_t type)
{
    pmix_value_t borrowed;

    if (!v)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_value_borrow(&borrowed, data, type);
    if (rc) {
        PMIx_Value_construct(v);
        return rc;
    }
    const struct px_type *t = px_value_type(&borrowed);
    if (!t->flat || t->in_value != PX_VALUE_INLINE)
        return PMIx_Value_xfer(v, &borrowed);
    *v = borrowed;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Value_xfer(pmix_value_t *dst, const pmix_value_t *src)
{
    if (!dst || !src)
        return PMIX_ERR_BAD_PARAM;
    return px_type_copy(PMIX_VALUE, dst, src);
}

/* Copies a string or byte object. Returns the characters or bytes without the
 * object. */
static pmix_status_t unload_text(const struct px_type *t, const pmix_value_t *v,
                                 void **data, size_t *size)
{
    pmix_value_t copy;
    pmix_status_t rc = px_type_copy(PMIX_VALUE, &copy, v);

    if (rc)
        return rc;
    if (t->store == PX_STRING) {
        *data = copy.data.string;
        *size = copy.data.string ? strlen(copy.data.string) : 0;
    } else {
        *data = copy.data.bo.bytes;
        *size = copy.data.bo.size;
    }
    return PMIX_SUCCESS;
}

/* Copies plain data to where *data points, because programs pass the address of a
 * pointer to their variable. Refuses a scalar without storage. Open MPI 5.0 passes the
 * address of a zeroed number, and would interpret a new pointer as the number. */
PX_EXPORT pmix_status_t PMIx_Value_unload(pmix_value_t *v, void **data, size_t *size)
{
    if (!v || !data || !size)
        return PMIX_ERR_BAD_PARAM;
    const struct px_type *t = px_value_type(v);
    if (!t || t->store == PX_NONE)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    const void *payload = px_value_payload(v);
    if (!payload)
        return PMIX_ERR_EMPTY;

    if (t->store == PX_STRING || t->store == PX_BYTES || t->store == PX_REGEX)
        return unload_text(t, v, data, size);
    pmix_status_t rc = PMIX_SUCCESS;
    if (t->store == PX_POINTER)
        *data = v->data.ptr;
    else if (t->flat && t->in_value == PX_VALUE_INLINE && !*data)
        rc = PMIX_ERR_BAD_PARAM;
    else if (t->flat && *data)
        memcpy(*data, payload, t->size);
    else
        rc = px_type_copy_array(t->id, data, payload, 1);
    if (!rc)
        *size = t->size;
    return rc;
}

PX_EXPORT pmix_value_cmp_t PMIx_Value_compare(pmix_value_t *a, pmix_value_t *b)
{
    struct px_number left, right;
    int order;

    if (!a || !b || !px_value_type(a) || !px_value_type(b))
        return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    if (a->type == b->type)
        order = px_type_compare(PMIX_VALUE, a, b);
    else if (read_number(a, &left) && read_number(b, &right) && left.kind != PX_REAL &&
             right.kind != PX_REAL)
        order = px_number_compare(&left, &right);
    else
        return PMIX_VALUE_TYPE_DIFFERENT;
    if (order == 0)
        return PMIX_EQUAL;
    return order > 0 ? PMIX_VALUE1_GREATER : PMIX_VALUE2_GREATER;
}

/* Adds the sizes of the value and of its data, as if inline data were separate. */
PX_EXPORT pmix_status_t PMIx_Value_get_size(const pmix_value_t *v, size_t *size)
{
    if (!v || !size)
        return PMIX_ERR_BAD_PARAM;
    const struct px_type *t = px_value_type(v);
    if (!t || t->store == PX_NONE)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    *size = sizeof(*v) + px_type_size(t->id, px_value_payload(v));
    if (t->store == PX_STRING) /* the data are the characters, not the pointer */
        *size -= sizeof(char *);
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Value_get_number(const pmix_value_t *v, void *dst,
                                              pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);
    struct px_number n;

    if (!v || !dst || !t || !read_number(v, &n))
        return PMIX_ERR_BAD_PARAM;
    return px_number_write(t, dst, &n);
}

static pmix_boolean_t truth_of_text(const char *s)
{
    static const char *const words[][2] = {
        {"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"}, {"enable", "disable"},
    };
    static const char space[] = " \t\n\v\f\r";

    s += strspn(s, space);
    if (!*s) /* only the presence of the key counts */
        return PMIX_BOOL_TRUE;
    if (*s >= '0' && *s <= '9') {
        s += strspn(s, "0");
        return *s >= '1' && *s <= '9' ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    }
    for (size_t i = 0; i < PX_COUNT(words); i++) {
        if (strcasecmp(s, words[i][0]) == 0)
            return PMIX_BOOL_TRUE;
        if (strcasecmp(s, words[i][1]) == 0)
            return PMIX_BOOL_FALSE;
    }
    return PMIX_NON_BOOL;
}

PX_EXPORT pmix_boolean_t PMIx_Value_true(const pmix_value_t *v)
{
    if (!v)
        return PMIX_NON_BOOL;
    switch (v->type) {
    case PMIX_UNDEF:
        return PMIX_BOOL_TRUE;
    case PMIX_BOOL:
        return v->data.flag ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    case PMIX_STRING:
        return truth_of_text(v->data.string ? v->data.string : "");
    default:
        return PMIX_NON_BOOL;
    }
}
