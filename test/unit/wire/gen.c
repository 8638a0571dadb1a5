/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes objects by walking the type table; see gen.h. */
#include "gen.h"

#include "core/base/strv.h"
#include "core/types/handle.h"
#include "core/wire/ops.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TEXT = 300, MAX_WILD_TEXT = 6000, MAX_WILD_COUNT = 600, MAX_OBJECTS = 1500 };

uint64_t gen_seed(void)
{
    const char *text = getenv("PX_TEST_SEED");

    return text ? strtoull(text, NULL, 0) : 1;
}

uint64_t gen_number(struct gen *g) /* splitmix64 */
{
    uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t gen_below(struct gen *g, size_t n)
{
    return (size_t)(gen_number(g) % n);
}

/* True once in n times if g->wild. */
static bool is_wild(struct gen *g, size_t n)
{
    return g->wild && !gen_below(g, n);
}

static bool is_listed(const pmix_data_type_t *list, pmix_data_type_t id)
{
    for (; list && *list; list++)
        if (*list == id)
            return true;
    return false;
}

bool gen_can(const struct gen *g, pmix_data_type_t id)
{
    const struct px_type *t = px_type_find(id);

    if (!t || t->store == PX_NONE || is_listed(g->leave_out, id))
        return false;
    return !g->dialect || px_dialect_knows(g->dialect, id);
}

/* ---- leaves -------------------------------------------------------------------------------- */

/* Returns small, huge and odd numbers in equal shares, because flexible numbers differ
 * in length. */
static uint64_t gen_spread(struct gen *g)
{
    static const uint64_t ends[] = {
        0,          UINT64_MAX, INT64_MAX,           (uint64_t)INT64_MIN,
        UINT32_MAX, INT32_MAX,  (uint32_t)INT32_MIN, (uint64_t)(int64_t)INT32_MIN,
        UINT16_MAX, INT16_MAX,  (uint16_t)INT16_MIN, UINT8_MAX,
        INT8_MAX,   0x80};

    if (is_wild(g, 2))
        return ends[gen_below(g, PX_COUNT(ends))];
    return gen_number(g) >> gen_below(g, 64);
}

static void gen_text(struct gen *g, char *dst, size_t max)
{
    size_t n = gen_below(g, 8) ? gen_below(g, 12) : gen_below(g, MAX_TEXT);
    bool any = is_wild(g, 2) || (!g->dialect && gen_below(g, 2));

    if (n > max || is_wild(g, 6))
        n = max;
    for (size_t i = 0; i < n; i++)
        dst[i] = (char)(any ? 1 + gen_below(g, 255) : 'a' + gen_below(g, 26));
    dst[n] = '\0';
}

static char *gen_string(struct gen *g)
{
    char text[MAX_WILD_TEXT + 1];

    gen_text(g, text, is_wild(g, 20) ? MAX_WILD_TEXT : MAX_TEXT);
    return strdup(text);
}

static void gen_bytes(struct gen *g, char **bytes, size_t *size)
{
    *size = gen_below(g, 3) ? gen_below(g, 40) : gen_below(g, MAX_TEXT);
    if (is_wild(g, 20))
        *size = MAX_WILD_TEXT;
    *bytes = *size ? malloc(*size) : NULL;
    for (size_t i = 0; i < *size; i++)
        (*bytes)[i] = (char)gen_number(g);
}

static void gen_regex(struct gen *g, pmix_byte_object_t *bo)
{
    static const char blob[] =
        "blob:\0component=zlib:\0size=5:\0\1\0\2\0"; /* ends with its NUL */

    if (gen_below(g, 2)) {
        bo->size = sizeof(blob);
        bo->bytes = malloc(bo->size);
        memcpy(bo->bytes, blob, bo->size);
    } else {
        bo->bytes = gen_string(g);
        bo->size = strlen(bo->bytes) + 1;
    }
}

/* Makes a number that six decimals hold exactly, also in a float, or a number without
 * decimals. */
static void gen_real(struct gen *g, enum px_store store, void *obj)
{
    const double ends[] = {INFINITY, -INFINITY, NAN,     0.0,  -0.0,
                           DBL_MAX,  -DBL_MAX,  1.0e300, 1e16, -1.0};
    double wide = ((int64_t)gen_below(g, 1 << 20) - (1 << 19)) / 64.0;
    float narrow;

    if (is_wild(g, 2))
        wide = ends[gen_below(g, PX_COUNT(ends))];
    narrow = (float)(wide > FLT_MAX && isfinite(wide)    ? FLT_MAX
                     : wide < -FLT_MAX && isfinite(wide) ? -FLT_MAX
                                                         : wide);
    if (store == PX_FLOAT)
        memcpy(obj, &narrow, sizeof(narrow));
    else
        memcpy(obj, &wide, sizeof(wide));
}

static void gen_dbuf(struct gen *g, pmix_data_buffer_t *b)
{
    gen_bytes(g, &b->base_ptr, &b->bytes_used);
    b->bytes_allocated = b->bytes_used;
    if (!b->base_ptr)
        return;
    b->pack_ptr = b->base_ptr + b->bytes_used;
    b->unpack_ptr = b->base_ptr + (g->dialect ? 0 : gen_below(g, b->bytes_used));
}

/* Lists CPUs in ascending order; the list may end in an open range. */
static void gen_cpus(struct gen *g, char *list, size_t size)
{
    const size_t gap = is_wild(g, 4) ? 9000 : 70;
    size_t n = gen_below(g, 5), cpu = 0, len = 0;

    list[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t first = cpu + gen_below(g, gap);

        cpu = first + gen_below(g, gap);
        len += (size_t)snprintf(list + len, size - len, "%s%zu-%zu", i ? "," : "",
                                first, cpu);
        cpu += 2;
    }
    if (!gen_below(g, 6))
        snprintf(list + len, size - len, "%s%zu-", n ? "," : "", cpu);
}

/* Makes an hwloc set if hwloc is installed, or none. A topology would not be equal to
 * its copy, because its handle is an address. Objects of an unknown source do not
 * travel. */
static void gen_opaque(struct gen *g, enum px_store store, void *obj)
{
    struct px_opaque o = {0};
    char list[128];

    gen_cpus(g, list, sizeof(list));
    if (store == PX_CPUSET && gen_below(g, 4) &&
        px_handle_parse(store, list, &o.handle) == PMIX_SUCCESS)
        o.source = strdup("hwloc");
    else if (!g->dialect)
        o.source = gen_below(g, 4) ? gen_string(g) : NULL;
    memcpy(obj, &o, sizeof(o));
}

/* ---- containers ----------------------------------------------------------------------------- */

static size_t gen_count(struct gen *g)
{
    if (g->depth > 3 || g->n_made > MAX_OBJECTS)
        return 0;
    return is_wild(g, 40) ? gen_below(g, MAX_WILD_COUNT) : gen_below(g, 4);
}

static pmix_data_type_t gen_type(struct gen *g, bool for_value)
{
    for (;;) {
        pmix_data_type_t id = (pmix_data_type_t)(1 + gen_below(g, 80));

        if (gen_can(g, id) && (for_value ? px_type_find(id)->in_value != PX_VALUE_NO
                                         : !is_listed(g->not_in_array, id)))
            return id;
    }
}

void *gen_array(struct gen *g, pmix_data_type_t id, size_t n)
{
    const struct px_type *t = px_type_find(id);
    char *array = n ? calloc(n, t->size) : NULL;

    for (size_t i = 0; i < n; i++)
        gen_object(g, id, array + i * t->size);
    return array;
}

/* Nests arrays of one array, or of one value that holds an array, to the maximum
 * depth. */
static void gen_tower(struct gen *g, pmix_data_array_t *a)
{
    bool only_values = is_listed(g->not_in_array, PMIX_DATA_ARRAY);
    unsigned levels = g->levels;

    while (levels + (only_values ? 2 : 1) <= PX_MAX_DEPTH) {
        a->size = 1;
        if (only_values || (gen_below(g, 2) && levels + 2 <= PX_MAX_DEPTH)) {
            pmix_value_t *v = calloc(1, sizeof(*v));

            a->type = PMIX_VALUE;
            a->array = v;
            v->type = PMIX_DATA_ARRAY;
            v->data.darray = calloc(1, sizeof(*v->data.darray));
            a = v->data.darray;
            levels += 2;
        } else {
            a->type = PMIX_DATA_ARRAY;
            a->array = calloc(1, sizeof(*a));
            a = a->array;
            levels++;
        }
    }
    a->type = PMIX_UINT16;
    a->size = 3;
    a->array = gen_array(g, a->type, a->size);
}

static void gen_darray(struct gen *g, pmix_data_array_t *a)
{
    if (!gen_below(g, 5))
        return; /* UNDEF */
    g->levels++;
    if (is_wild(g, 20)) {
        gen_tower(g, a);
    } else {
        a->type = gen_type(g, false);
        a->size = gen_count(g);
        if (g->dialect && a->type == PMIX_POINTER &&
            a->size) /* pointers take no bytes, so a larger count is refused */
            a->size = 1;
        a->array = gen_array(g, a->type, a->size);
    }
    g->levels--;
}

static void gen_value(struct gen *g, pmix_value_t *v)
{
    if (!gen_below(g, 8))
        return; /* UNDEF */
    v->type = gen_type(g, true);

    const struct px_type *t = px_type_find(v->type);
    g->levels++;
    if (t->in_value == PX_VALUE_INLINE)
        gen_object(g, t->id, &v->data);
    else if (g->dialect || gen_below(g, 4))
        v->data.ptr = gen_array(g, t->id, 1);
    g->levels--;
}

static void gen_member(struct gen *g, const struct px_field *f, char *obj)
{
    char *member = obj + f->offset;
    size_t n = gen_count(g);

    if (f->store == PX_KEY) {
        gen_text(g, member, PMIX_MAX_KEYLEN);
    } else if (f->many == PX_ONE) {
        gen_object(g, f->type, member);
    } else if (f->many == PX_COUNTED) {
        void *array = gen_array(g, f->type, n);
        memcpy(member, &array, sizeof(array));
        memcpy(obj + f->count_offset, &n, sizeof(n));
    } else {
        char **v = NULL;
        while (n--) {
            PX_AUTOFREE char *s = gen_string(g);
            px_strv_append(&v, s);
        }
        memcpy(member, &v, sizeof(v));
    }
}

static void gen_struct(struct gen *g, const struct px_type *t, char *obj)
{
    size_t n = t->n_fields + (g->dialect ? 0u : t->n_local);

    for (size_t i = 0; i < n; i++)
        gen_member(g, &t->fields[i], obj);
    if (t->id == PMIX_INFO) /* an info with this flag does not own its value */
        ((pmix_info_t *)(void *)obj)->flags &= ~(
            pmix_info_directives_t)PMIX_INFO_PERSISTENT;
}

void gen_object(struct gen *g, pmix_data_type_t id, void *obj)
{
    const struct px_type *t = px_type_find(id);
    enum px_store store = (enum px_store)t->store;
    pmix_byte_object_t *bo = obj;
    struct timeval *tv = obj;
    uint64_t n = gen_spread(g);
    const void *p;

    memset(obj, 0, t->size);
    g->n_made++;
    g->depth++;
    switch (store) {
    case PX_NONE:
        break;
    case PX_POINTER: /* a valid address; pointers do not travel */
        p = !g->dialect && gen_below(g, 2) ? "pointed to" : NULL;
        memcpy(obj, &p, sizeof(p));
        break;
    case PX_CPUSET:
    case PX_TOPO:
        gen_opaque(g, store, obj);
        break;
    case PX_BOOL:
        *(bool *)obj = n & 1;
        break;
    case PX_TIMEVAL:
        tv->tv_sec = (time_t)n;
        tv->tv_usec = (suseconds_t)gen_spread(g);
        break;
    case PX_FLOAT:
    case PX_DOUBLE:
        gen_real(g, store, obj);
        break;
    case PX_VALUE:
        gen_value(g, obj);
        break;
    case PX_DARRAY:
        gen_darray(g, obj);
        break;
    case PX_STRUCT:
        gen_struct(g, t, obj);
        break;
    case PX_STRING:
        p = gen_below(g, 4) ? gen_string(g) : NULL;
        memcpy(obj, &p, sizeof(p));
        break;
    case PX_NSPACE:
        gen_text(g, obj, PMIX_MAX_NSLEN);
        break;
    case PX_KEY:
        gen_text(g, obj, PMIX_MAX_KEYLEN);
        break;
    case PX_BYTES:
        gen_bytes(g, &bo->bytes, &bo->size);
        break;
    case PX_REGEX:
        gen_regex(g, bo);
        break;
    case PX_DBUF:
        gen_dbuf(g, obj);
        break;
    default:
        if (store != PX_BYTE1 && (store < PX_INT16 || store > PX_TIME)) {
            fprintf(stderr, "gen.c: no generator for storage %d\n", store);
            abort();
        }
        memcpy(obj, &n,
               t->size); /* any bits are valid; on a little-endian host the low ones */
    }
    g->depth--;
}
