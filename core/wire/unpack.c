/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes -> types: a walk over the type table that believes nothing. The rules:
 *   - a count is checked against the bytes that are left before anything is allocated, arrays
 *     grow as their elements arrive, and all arrays of a message share one budget;
 *   - memory is zeroed before objects are read into it, and whoever fails midway destructs what
 *     it filled, so an error leaves nothing behind;
 *   - nesting passes through values and data arrays only, which count their depth. */
#include "core/wire/walk.h"

#include "core/base/strv.h"
#include "core/base/vec.h"

#define GROW_FIRST_B 4096 /* first allocation for an array of unproven length */

static pmix_status_t get_object(px_reader *r, void *dst, const struct px_type *t,
                                enum px_store store);

pmix_status_t px_get_known(const px_reader *r, pmix_data_type_t id,
                           const struct px_type **t)
{
    *t = px_dialect_knows(r->codec.dialect, id) ? px_type_find(id) : NULL;
    return *t ? PMIX_SUCCESS : PMIX_ERR_UNKNOWN_DATA_TYPE;
}

bool px_get_plausible(const px_reader *r, size_t n, const struct px_type *t)
{
    /* a tag that counts in the least size of one number stands once before many */
    size_t least = px_is_number((enum px_store)t->store) || !t->min_wire ? 1
                                                                         : t->min_wire;

    return n <= px_left(r) / least && n <= SIZE_MAX / 2 / t->size;
}

/* ---- arrays -------------------------------------------------------------------------------- */

pmix_status_t px_get_elements(px_reader *r, void *array, size_t n,
                              const struct px_type *t)
{
    enum px_store store = (enum px_store)t->store;
    char *at = array;

    if (px_is_number(store))
        return px_get_numbers(r, store, array, n);
    if (store == PX_BYTE1)
        return px_get_bytes(r, array, n);
    if (store == PX_POINTER) {
        if (n)
            memset(array, 0, n * t->size);
        return px_get_leaf(r, array, store);
    }
    for (size_t i = 0; i < n; i++, at += t->size) {
        memset(at, 0, t->size); /* one at a time: it stays in the processor's cache */
        pmix_status_t rc = get_object(r, at, t, store);

        if (rc) {
            while (i-- > 0)
                px_type_destruct(t->id, at -= t->size);
            return rc;
        }
    }
    return PMIX_SUCCESS;
}

/* Elements of at most a few bytes: that they can be in the message bounds their memory, and they
 * are read in one go. */
static bool is_small(enum px_store store)
{
    return px_is_number(store) || store == PX_BYTE1 || store == PX_POINTER;
}

/* Makes room for `cap` elements where there was for `had`. */
static pmix_status_t grow(px_reader *r, char **array, size_t had, size_t cap,
                          size_t size)
{
    size_t more = (cap - had) * size;

    if (more > r->budget)
        return PMIX_ERR_UNPACK_FAILURE;
    char *bigger = realloc(*array, cap * size);
    if (!bigger)
        return PMIX_ERR_NOMEM;
    r->budget -= more;
    *array = bigger;
    return PMIX_SUCCESS;
}

pmix_status_t px_get_array(px_reader *r, void **out, size_t n, const struct px_type *t)
{
    char *array = NULL;
    size_t have = 0, cap = GROW_FIRST_B / t->size + 1;
    pmix_status_t rc = PMIX_SUCCESS;

    *out = NULL;
    if (!px_get_plausible(r, n, t))
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    if (is_small((enum px_store)t->store))
        cap = n;
    while (!rc && have < n) {
        if (cap > n)
            cap = n;
        rc = grow(r, &array, have, cap, t->size);
        if (!rc)
            rc = px_get_elements(r, array + have * t->size, cap - have, t);
        if (!rc) {
            have = cap;
            cap *= 2;
        }
    }
    if (rc)
        px_type_free_array(t->id, array, have);
    else
        *out = array;
    return rc;
}

/* A count, then so many strings, as a vector ending in NULL; none gives NULL. */
static pmix_status_t get_strings(px_reader *r, char ***out, enum px_many many)
{
    size_t have = 0, cap = 0;
    PX_AUTO(px_strv) v = NULL;
    int32_t n;
    pmix_status_t rc = px_get_number(r, many == PX_STRV_INT ? PX_INT : PX_INT32, &n);

    if (rc || n == 0)
        return rc;
    if (n < 0)
        return PMIX_ERR_UNPACK_FAILURE;
    if ((size_t)n > px_left(r)) /* each takes a byte at least */
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    while (have < (size_t)n) {
        if (!px_vec_reserve(&v, have, &cap, 2)) /* it and a NULL */
            return PMIX_ERR_NOMEM;
        v[have] = NULL;
        rc = px_get_string(r, &v[have]);
        if (!rc && !v[have]) /* would end the vector early */
            rc = PMIX_ERR_UNPACK_FAILURE;
        if (rc)
            return rc;
        v[++have] = NULL;
    }
    *out = px_take(&v);
    return PMIX_SUCCESS;
}

/* ---- values and data arrays ----------------------------------------------------------------- */

/* An array of UNDEF has a size of 0 behind its type, except that 6.x sends none for a NULL
 * array. What can follow an array (a key, a count, a tag) does not begin with a zero size. */
static void skip_empty_size(px_reader *r)
{
    px_reader ahead = *r;
    size_t n;

    if (px_get_size(&ahead, &n) == PMIX_SUCCESS && n == 0)
        *r = ahead;
}

static pmix_status_t get_darray(px_reader *r, pmix_data_array_t *a)
{
    const struct px_type *t;
    pmix_data_type_t type;
    void *array;
    size_t n;
    pmix_status_t rc = px_get_type(r, &type);

    if (!rc)
        rc = px_get_known(r, type, &t);
    if (rc)
        return rc;
    if (t->store == PX_NONE) {
        skip_empty_size(r);
        return PMIX_SUCCESS;
    }
    rc = px_get_size(r, &n);
    if (rc)
        return rc;
    if (r->depth == PX_MAX_DEPTH)
        return PMIX_ERR_UNPACK_FAILURE;
    r->depth++;
    rc = px_get_array(r, &array, n, t);
    r->depth--;
    if (rc)
        return rc;
    a->type = type;
    a->size = n;
    a->array = array;
    return PMIX_SUCCESS;
}

static pmix_status_t get_payload(px_reader *r, pmix_value_t *v, const struct px_type *t)
{
    PX_AUTOFREE void *object = NULL;
    pmix_status_t rc;

    if (t->in_value == PX_VALUE_INLINE)
        return get_object(r, &v->data, t, (enum px_store)t->store);
    object = calloc(1, t->size);
    if (!object)
        return PMIX_ERR_NOMEM;
    rc = get_object(r, object, t, (enum px_store)t->store);
    if (!rc)
        v->data.ptr = px_take(&object);
    return rc;
}

static pmix_status_t get_value(px_reader *r, pmix_value_t *v)
{
    const struct px_type *t;
    pmix_data_type_t type;
    pmix_status_t rc = px_get_type(r, &type);

    if (!rc)
        rc = px_get_known(r, type, &t);
    if (rc || t->store == PX_NONE)
        return rc;
    if (t->in_value == PX_VALUE_NO)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (r->depth == PX_MAX_DEPTH)
        return PMIX_ERR_UNPACK_FAILURE;
    r->depth++;
    rc = get_payload(r, v, t);
    r->depth--;
    if (!rc)
        v->type = type;
    return rc;
}

/* ---- structures ------------------------------------------------------------------------------ */

static pmix_status_t get_counted(px_reader *r, char *obj, const struct px_field *f)
{
    void *array;
    size_t n;
    pmix_status_t rc = px_get_size(r, &n);

    if (!rc)
        rc = px_get_array(r, &array, n, px_type_find(f->type));
    if (rc)
        return rc;
    memcpy(obj + f->offset, &array, sizeof(array));
    memcpy(obj + f->count_offset, &n, sizeof(n));
    return PMIX_SUCCESS;
}

/* A persistent info does not own its value; one that was read always does. */
static pmix_status_t get_directives(px_reader *r, pmix_info_directives_t *flags)
{
    pmix_status_t rc = px_get_number(r, PX_UINT32, flags);

    *flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    return rc;
}

static pmix_status_t get_member(px_reader *r, void *member, const struct px_field *f)
{
    if (f->type == PMIX_INFO_DIRECTIVES)
        return get_directives(r, member);
    return get_object(r, member, px_field_struct(f), (enum px_store)f->store);
}

static pmix_status_t get_struct(px_reader *r, char *obj, const struct px_type *t)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_field *f = t->fields; !rc && f < t->fields + t->n_fields;
         f++) {
        switch ((enum px_many)f->many) {
        case PX_ONE:
            rc = get_member(r, obj + f->offset, f);
            break;
        case PX_COUNTED:
            rc = get_counted(r, obj, f);
            break;
        case PX_STRV_INT:
        case PX_STRV_I32:
            rc = get_strings(r, (char ***)(void *)(obj + f->offset),
                             (enum px_many)f->many);
            break;
        }
    }
    if (rc)
        px_type_destruct(t->id, obj);
    return rc;
}

/* ---- one object of any type ------------------------------------------------------------------- */

/* dst is zeroed. */
static pmix_status_t get_object(px_reader *r, void *dst, const struct px_type *t,
                                enum px_store store)
{
    switch (store) {
    case PX_STRUCT:
        return get_struct(r, dst, t);
    case PX_VALUE:
        return get_value(r, dst);
    case PX_DARRAY:
        return get_darray(r, dst);
    default:
        return px_get_leaf(r, dst, store);
    }
}

pmix_status_t px_get_object(px_reader *r, void *dst, const struct px_type *t)
{
    memset(dst, 0, t->size);
    return get_object(r, dst, t, (enum px_store)t->store);
}
