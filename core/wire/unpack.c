/* SPDX-License-Identifier: BSD-3-Clause */
/* Unpacking. An operation has a count, tags in described buffers, then values. The walk
 * over the type table trusts no byte. The rules:
 *   - A failed operation leaves the reader where it was.
 *   - A count is checked against the remaining bytes before an allocation. Arrays grow
 *     as elements arrive. All memory of a message shares one budget.
 *   - Objects are read into zeroed memory. A function that fails destructs the objects
 *     that it has filled, so errors leave nothing behind.
 *   - Only values and data arrays nest; both count their depth. */
#include "core/wire/walk.h"

#include "core/os/os.h"
#include "core/base/strv.h"
#include "core/base/vec.h"

#define GROW_FIRST_B 4096u /* first allocation for an array of unproven length */
#define LEAST_B      32    /* size of the smallest allocation */
/* An array that takes at most this many bytes for each byte of the message is allocated
 * at once. The kernel backs the pages of a long array as elements arrive. */
#define PROVEN_B 64u
#define LONG_B   (1u << 20) /* a long array */
#define STEP_B   (1u << 18) /* backed at a time */

static pmix_status_t get_object(px_reader *r, void *dst, const struct px_type *t,
                                enum px_store store);

static pmix_status_t get_known(const px_reader *r, pmix_data_type_t id,
                               const struct px_type **t)
{
    *t = px_dialect_knows(r->codec.dialect, id) ? px_type_find(id) : NULL;
    return *t ? PMIX_SUCCESS : PMIX_ERR_UNKNOWN_DATA_TYPE;
}

/* Charges memory to the budget. A few bytes of a message can request much memory. */
static pmix_status_t spend(px_reader *r, size_t b)
{
    if (b > r->budget)
        return PMIX_ERR_OUT_OF_RESOURCE;
    r->budget -= b;
    return PMIX_SUCCESS;
}

/* True if n elements can be in the remaining bytes. Also bounds n times their size in
 * memory. */
static bool is_plausible(const px_reader *r, size_t n, const struct px_type *t)
{
    /* min_wire may include a tag, which precedes a whole array only once */
    size_t least = px_is_number((enum px_store)t->store) || !t->min_wire ? 1
                                                                         : t->min_wire;

    return n <= px_left(r) / least && n <= SIZE_MAX / 2 / t->size;
}

/* Counts n elements of a new array, before any is read. */
static pmix_status_t admit(px_reader *r, size_t n, const struct px_type *t)
{
    size_t n_items = t->flat ? 0 : n, n_infos = t->id == PMIX_INFO ? n : 0;
    size_t n_procs = t->id == PMIX_PROC ? n : 0;

    if (n * t->size > r->budget || n_items > r->items || n_infos > r->infos ||
        n_procs > r->procs)
        return PMIX_ERR_OUT_OF_RESOURCE;
    r->procs -= n_procs;
    r->items -= n_items;
    r->infos -= n_infos;
    return PMIX_SUCCESS;
}

/* ---- leaves: strings, bytes, times, truth values --------------------------------- */

/* *s is malloc'd, or NULL. */
static pmix_status_t get_string(px_reader *r, char **s)
{
    const char *text;
    size_t len;
    pmix_status_t rc = px_get_text(r, &text, &len);

    *s = NULL;
    if (!rc && text)
        rc = spend(r, LEAST_B);
    if (!rc && text)
        rc = px_dup_bytes((const uint8_t *)text, len + 1, s);
    return rc;
}

/* Reads a string into a char array, which the caller has zeroed. */
static pmix_status_t get_chars(px_reader *r, char *dst, size_t capacity)
{
    const char *text;
    size_t len;
    pmix_status_t rc = px_get_text(r, &text, &len);

    if (rc || !text)
        return rc;
    if (len >= capacity)
        return PMIX_ERR_UNPACK_FAILURE;
    memcpy(dst, text, len);
    return PMIX_SUCCESS;
}

pmix_status_t px_get_view(px_reader *r, const uint8_t **bytes, size_t *n)
{
    pmix_status_t rc = px_get_size(r, n);

    if (rc)
        return rc;
    *bytes = px_get_raw(r, *n);
    return *bytes ? PMIX_SUCCESS : PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
}

static pmix_status_t get_blob(px_reader *r, char **bytes, size_t *size)
{
    const uint8_t *view;
    size_t n;
    pmix_status_t rc = px_get_view(r, &view, &n);

    if (!rc)
        rc = spend(r, LEAST_B);
    if (!rc)
        rc = px_dup_bytes(view, n, bytes);
    if (!rc)
        *size = n;
    return rc;
}

static pmix_status_t get_timeval(px_reader *r, struct timeval *tv)
{
    int64_t part[2];
    pmix_status_t rc = px_get_number(r, PX_INT64, &part[0]);

    if (!rc)
        rc = px_get_number(r, PX_INT64, &part[1]);
    if (rc)
        return rc;
    tv->tv_sec = (time_t)part[0];
    tv->tv_usec = (suseconds_t)part[1];
    return tv->tv_sec == part[0] && tv->tv_usec == part[1] ? PMIX_SUCCESS
                                                           : PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t get_leaf(px_reader *r, void *dst, enum px_store store)
{
    pmix_byte_object_t *bo = dst;
    pmix_data_buffer_t *b = dst;
    pmix_status_t rc;
    uint8_t byte;

    switch (store) {
    case PX_NONE:
        return PMIX_SUCCESS;
    case PX_BOOL:
        rc = px_get_byte(r, &byte);
        if (!rc)
            *(bool *)dst = byte != 0;
        return rc;
    case PX_BYTE1:
        return px_get_byte(r, dst);
    case PX_TIMEVAL:
        return get_timeval(r, dst);
    case PX_FLOAT:
    case PX_DOUBLE:
        return px_get_real(r, store, dst);
    case PX_STRING:
        return get_string(r, dst);
    case PX_POINTER: /* one byte for all; the sender's addresses are useless */
        return px_get_byte(r, &byte);
    case PX_BYTES:
        return get_blob(r, &bo->bytes, &bo->size);
    case PX_DBUF:
        rc = get_blob(r, &b->base_ptr, &b->bytes_used);
        b->unpack_ptr = b->base_ptr;
        b->pack_ptr = b->base_ptr ? b->base_ptr + b->bytes_used : NULL;
        b->bytes_allocated = b->bytes_used;
        return rc;
    case PX_NSPACE:
        return get_chars(r, dst, sizeof(pmix_nspace_t));
    case PX_KEY:
        return get_chars(r, dst, sizeof(pmix_key_t));
    case PX_REGEX:
        return px_get_regex(r, dst);
    case PX_CPUSET:
        return px_get_cpuset(r, dst);
    case PX_TOPO:
        return px_get_topology(r, dst);
    default:
        return px_get_number(r, store, dst);
    }
}

/* ---- rows about processes -------------------------------------------------------- */

/* A row that has been read, and its bytes. The next row of a table mostly differs in
 * its rank only. */
struct px_read_row {
    const pmix_proc_info_t *row; /* NULL: none */
    const uint8_t *begin, *rank, *rest, *end;
};

/* Remembers a row whose bytes begin at `begin` and end at the reader's position. */
static void note_row(struct px_read_row *last, const px_reader *r, const uint8_t *begin,
                     const pmix_proc_info_t *row)
{
    px_reader part = *r;
    const char *nspace;
    pmix_rank_t rank;
    size_t n;

    part.pos = begin;
    *last = (struct px_read_row){.begin = begin, .end = r->pos};
    if (px_get_text(&part, &nspace, &n))
        return;
    last->rank = part.pos;
    if (px_get_number(&part, PX_UINT32, &rank))
        return;
    last->rest = part.pos;
    last->row = row;
}

static pmix_status_t dup_string(px_reader *r, const char *from, char **to)
{
    pmix_status_t rc = from ? spend(r, LEAST_B) : PMIX_SUCCESS;

    return rc || !from ? rc : px_dup_bytes((const uint8_t *)from, strlen(from) + 1, to);
}

/* Reads a row with the bytes of the last one, except for the rank. Returns false if the
 * bytes differ, and leaves the reader where it was. */
static bool get_row_again(px_reader *r, const struct px_read_row *last,
                          pmix_proc_info_t *row, pmix_status_t *rc)
{
    const size_t before = (size_t)(last->rank - last->begin),
                 after = (size_t)(last->end - last->rest);
    px_reader ahead = *r;
    pmix_rank_t rank;

    if (!last->row || px_left(r) < before || memcmp(r->pos, last->begin, before) != 0)
        return false;
    ahead.pos += before;
    if (px_get_number(&ahead, PX_UINT32, &rank) || px_left(&ahead) < after ||
        memcmp(ahead.pos, last->rest, after) != 0)
        return false;
    r->pos = ahead.pos + after;
    *row = *last->row;
    row->proc.rank = rank;
    row->hostname = row->executable_name = NULL;
    *rc = dup_string(r, last->row->hostname, &row->hostname);
    if (!*rc)
        *rc = dup_string(r, last->row->executable_name, &row->executable_name);
    if (*rc)
        px_type_destruct(PMIX_PROC_INFO, row);
    return true;
}

/* ---- arrays ---------------------------------------------------------------------- */

/* Reads rows about processes. Counts the valid rows in *n. */
static pmix_status_t get_rows(px_reader *r, pmix_proc_info_t *rows, size_t *n)
{
    const struct px_type *t = px_type_find(PMIX_PROC_INFO);
    const size_t wanted = *n;
    struct px_read_row last = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    for (*n = 0; !rc && *n < wanted; *n += !rc) {
        const uint8_t *begin = r->pos;

        if (get_row_again(r, &last, &rows[*n], &rc))
            continue;
        memset(&rows[*n], 0, sizeof(*rows));
        rc = get_object(r, &rows[*n], t, (enum px_store)t->store);
        if (!rc)
            note_row(&last, r, begin, &rows[*n]);
    }
    return rc;
}

pmix_status_t px_get_elements(px_reader *r, void *array, size_t n,
                              const struct px_type *t)
{
    enum px_store store = (enum px_store)t->store;
    pmix_status_t rc = PMIX_SUCCESS;
    char *at = array;
    size_t i = 0;

    if (px_is_number(store))
        return px_get_numbers(r, store, array, n);
    if (store == PX_BYTE1)
        return px_get_bytes(r, array, n);
    if (store == PX_POINTER) {
        if (n)
            memset(array, 0, n * t->size);
        return get_leaf(r, array, store);
    }
    if (t->id == PMIX_PROC_INFO) {
        i = n;
        rc = get_rows(r, array, &i);
        at += i * t->size;
    }
    for (; !rc && i < n; i++, at += t->size) {
        memset(at, 0, t->size); /* one by one, to keep the element in the cache */
        rc = get_object(r, at, t, store);
        if (rc)
            break;
    }
    while (rc && i-- > 0)
        px_type_destruct(t->id, at -= t->size);
    return rc;
}

/* Grows an array from `had` to `cap` elements. */
static pmix_status_t grow(px_reader *r, char **array, size_t had, size_t cap,
                          size_t size)
{
    pmix_status_t rc = spend(r, (cap - had) * size);

    if (rc)
        return rc;
    char *bigger = realloc(*array, cap * size);
    if (!bigger)
        return PMIX_ERR_NOMEM;
    *array = bigger;
    return PMIX_SUCCESS;
}

/* Returns the number of elements to allocate first. The message's size bounds their
 * memory. */
static size_t first_elements(const px_reader *r, size_t n, const struct px_type *t)
{
    const bool proven = px_is_number((enum px_store)t->store) || t->store == PX_BYTE1 ||
                        t->store == PX_POINTER || n * t->size <= PROVEN_B * px_left(r);

    return proven ? n : GROW_FIRST_B / t->size + 1;
}

/* Reads elements into the array, up to cap. Counts them in *have. */
static pmix_status_t get_some(px_reader *r, char *array, size_t *have, size_t cap,
                              const struct px_type *t)
{
    const bool is_long = (cap - *have) * t->size >= LONG_B;
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && *have < cap) {
        size_t step = is_long ? STEP_B / t->size + 1 : cap - *have;

        step = step < cap - *have ? step : cap - *have;
        if (is_long)
            px_os_populate(array + *have * t->size, step * t->size);
        rc = px_get_elements(r, array + *have * t->size, step, t);
        *have += rc ? 0 : step;
    }
    return rc;
}

pmix_status_t px_get_array(px_reader *r, void **out, size_t n, const struct px_type *t)
{
    char *array = NULL;
    size_t have = 0, cap;
    pmix_status_t rc = PMIX_SUCCESS;

    *out = NULL;
    if (!is_plausible(r, n, t))
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    rc = admit(r, n, t);
    for (cap = first_elements(r, n, t); !rc && have < n; cap *= 2) {
        if (cap > n)
            cap = n;
        rc = grow(r, &array, have, cap, t->size);
        if (!rc)
            rc = get_some(r, array, &have, cap, t);
    }
    if (rc)
        px_type_free_array(t->id, array, have);
    else
        *out = array;
    return rc;
}

/* Reads a count and strings into a NULL-terminated vector. A count of 0 gives NULL. */
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
    if ((size_t)n > px_left(r)) /* each string takes at least a byte */
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    rc = admit(r, (size_t)n, px_type_find(PMIX_STRING));
    while (!rc && have < (size_t)n) {
        if (!px_vec_reserve(&v, have, &cap, 2)) /* the string and a NULL */
            return PMIX_ERR_NOMEM;
        v[have] = NULL;
        rc = get_string(r, &v[have]);
        if (!rc && !v[have]) /* NULL would end the vector early */
            rc = PMIX_ERR_UNPACK_FAILURE;
        if (!rc)
            v[++have] = NULL;
    }
    if (!rc)
        *out = px_take(&v);
    return rc;
}

/* ---- values and data arrays ------------------------------------------------------ */

static pmix_status_t get_darray(px_reader *r, pmix_data_array_t *a)
{
    const struct px_type *t;
    pmix_data_type_t type;
    void *array;
    size_t n;
    pmix_status_t rc = px_get_type(r, &type);

    if (!rc)
        rc = get_known(r, type, &t);
    if (rc)
        return rc;
    /* The type of an UNDEF array is followed by a size of 0. 6.x omits the size for a
     * NULL array. Data that can follow an array (key, count or tag) does not begin with
     * a zero size. */
    if (t->store == PX_NONE) {
        px_reader ahead = *r;

        if (px_get_size(&ahead, &n) == PMIX_SUCCESS && n == 0)
            *r = ahead;
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
    rc = spend(r, t->size);
    if (rc)
        return rc;
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
        rc = get_known(r, type, &t);
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

/* ---- structures ------------------------------------------------------------------ */

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

static pmix_status_t get_struct(px_reader *r, char *obj, const struct px_type *t)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (const struct px_field *f = t->fields; !rc && f < t->fields + t->n_fields;
         f++) {
        switch ((enum px_many)f->many) {
        case PX_ONE:
            rc = get_object(r, obj + f->offset, px_field_struct(f),
                            (enum px_store)f->store);
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
    /* An unpacked info always owns its value. */
    if (t->id == PMIX_INFO)
        ((pmix_info_t *)(void *)obj)->flags &= ~(
            pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    if (rc)
        px_type_destruct(t->id, obj);
    return rc;
}

/* ---- one object of any type ------------------------------------------------------ */

/* Reads an object into zeroed memory. */
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
        return get_leaf(r, dst, store);
    }
}

/* ---- operations ------------------------------------------------------------------ */

void px_reader_init(px_reader *r, struct px_codec codec, const void *bytes, size_t n)
{
    static const uint8_t nothing[1];

    if (!bytes) {
        bytes = nothing;
        n = 0;
    }
    *r = (px_reader){.codec = codec,
                     .pos = bytes,
                     .end = (const uint8_t *)bytes + n,
                     .budget = PX_MAX_DECODED_B,
                     .infos = SIZE_MAX,
                     .items = SIZE_MAX,
                     .procs = SIZE_MAX};
}

void px_reader_limit(px_reader *r)
{
    size_t most_b = PX_MAX_REQUEST_B(px_left(r));

    r->budget = most_b < PX_MAX_DECODED_B ? most_b : PX_MAX_DECODED_B;
    r->infos = PX_MAX_REQUEST_INFOS;
    r->items = PX_MAX_REQUEST_ITEMS;
    r->procs = PX_MAX_REQUEST_PROCS;
}

bool px_reader_done(const px_reader *r)
{
    return r->pos == r->end;
}

static pmix_status_t get_tag(px_reader *r, pmix_data_type_t expected)
{
    pmix_data_type_t tag;
    pmix_status_t rc = r->codec.described ? px_get_type(r, &tag) : PMIX_SUCCESS;

    return rc || !r->codec.described || tag == expected ? rc : PMIX_ERR_PACK_MISMATCH;
}

static pmix_status_t get_op_type(const px_reader *r, pmix_data_type_t id,
                                 const struct px_type **t)
{
    pmix_status_t rc = get_known(r, id, t);

    return !rc && (*t)->store == PX_NONE ? PMIX_ERR_UNKNOWN_DATA_TYPE : rc;
}

static pmix_status_t get_count(px_reader *r, int32_t *n, pmix_data_type_t type)
{
    pmix_status_t rc = get_tag(r, PMIX_INT32);

    if (!rc)
        rc = px_get_i32(r, n);
    if (!rc && *n < 0)
        rc = PMIX_ERR_UNPACK_FAILURE;
    return rc ? rc : get_tag(r, type);
}

pmix_status_t px_get_head(px_reader *r, int32_t *n, const struct px_type **t,
                          pmix_data_type_t type)
{
    pmix_status_t rc = get_op_type(r, type, t);

    if (!rc)
        rc = get_count(r, n, type);
    return rc || is_plausible(r, (size_t)*n, *t)
               ? rc
               : PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
}

pmix_status_t px_get_head1(px_reader *r, pmix_data_type_t type)
{
    int32_t n;
    pmix_status_t rc = get_count(r, &n, type);

    if (rc)
        return rc;
    return n > 1    ? PMIX_ERR_UNPACK_INADEQUATE_SPACE
           : n == 1 ? PMIX_SUCCESS
                    : PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t unpack_some(px_reader *r, void *dst, int32_t *n,
                                 pmix_data_type_t type)
{
    const struct px_type *t;
    int32_t found;
    pmix_status_t rc = px_get_head(r, &found, &t, type);

    if (rc)
        return rc;
    if (found > *n)
        return PMIX_ERR_UNPACK_INADEQUATE_SPACE;
    rc = px_get_elements(r, dst, (size_t)found, t);
    if (!rc)
        *n = found;
    return rc;
}

pmix_status_t px_unpack(px_reader *r, void *dst, int32_t *n, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    pmix_status_t rc = unpack_some(r, dst, n, type);

    if (rc)
        r->pos = start;
    return rc;
}

pmix_status_t px_unpack1(px_reader *r, void *dst, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    int32_t n = 1;
    pmix_status_t rc = px_unpack(r, dst, &n, type);

    if (!rc && n == 0) {
        r->pos = start;
        rc = PMIX_ERR_UNPACK_FAILURE;
    }
    return rc;
}

pmix_status_t px_unpack_bare(px_reader *r, void *dst, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    const struct px_type *t;
    pmix_status_t rc = get_known(r, type, &t);

    if (!rc)
        rc = get_object(r, memset(dst, 0, t->size), t, (enum px_store)t->store);
    if (rc)
        r->pos = start;
    return rc;
}

pmix_status_t px_unpack_array(px_reader *r, void **dst, size_t n, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    const struct px_type *t;
    int32_t found;
    pmix_status_t rc = get_op_type(r, type, &t);

    if (!rc && n) {
        rc = get_count(r, &found, type);
        if (!rc && (size_t)found != n)
            rc = (size_t)found > n ? PMIX_ERR_UNPACK_INADEQUATE_SPACE
                                   : PMIX_ERR_UNPACK_FAILURE;
    }
    if (!rc)
        rc = px_get_array(r, dst, n, t);
    if (rc) {
        *dst = NULL;
        r->pos = start;
    }
    return rc;
}
