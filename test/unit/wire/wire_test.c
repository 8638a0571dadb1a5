/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages written as text, and objects made from the type table; see wire_test.h. */
#include "wire_test.h"

#include "core/base/strv.h"

#include <assert.h>
#include <string.h>

const char *const all_dialects[] = {"v21", "v3", "v4", "v41", "v51", "v61"};
const size_t n_dialects = PX_COUNT(all_dialects);

struct px_codec codec_of(const char *dialect, bool described)
{
    return (struct px_codec){.dialect = px_dialect_find(dialect),
                             .described = described};
}

px_buf bytes_of(const char *text)
{
    px_buf b = {0};

    while (*text) {
        if (*text == ' ') {
            text++;
        } else if (*text == '"') {
            const char *end = strchr(text + 1, '"');
            px_buf_add(&b, text + 1, (size_t)(end - text - 1));
            text = end + 1;
        } else {
            char pair[3] = {text[0], text[1], 0};
            uint8_t byte = (uint8_t)strtoul(pair, NULL, 16);
            px_buf_add(&b, &byte, 1);
            text += 2;
        }
    }
    /* exactly as large as its content, so that a sanitizer sees a read beyond the end */
    uint8_t *exact = malloc(b.len ? b.len : 1);
    if (b.len)
        memcpy(exact, b.data, b.len);
    free(b.data);
    return (px_buf){exact, b.len, b.len ? b.len : 1};
}

pmix_status_t read_bytes(const char *dialect, const px_buf *b, void *dst,
                         pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);
    px_reader r;

    if (t) /* nothing may be expected of what is there */
        memset(dst, 0xa5, t->size);
    px_reader_init(&r, codec_of(dialect, false), b->data, b->len);
    pmix_status_t rc = px_unpack1(&r, dst, type);
    assert(rc == PMIX_SUCCESS || r.pos == b->data);
    return rc;
}

pmix_status_t read_text(const char *dialect, const char *text, void *dst,
                        pmix_data_type_t type)
{
    PX_AUTO(px_buf) b = bytes_of(text);

    return read_bytes(dialect, &b, dst, type);
}

/* ---- generated objects -------------------------------------------------------------------- */

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

bool gen_can(const struct gen *g, pmix_data_type_t id)
{
    const struct px_type *t = px_type_find(id);

    for (const pmix_data_type_t *out = g->leave_out; out && *out; out++)
        if (*out == id)
            return false;
    return t && t->store != PX_NONE && t->store != PX_TOPO &&
           px_dialect_knows(g->dialect, id);
}

/* Small, huge and odd ones in equal shares: lengths of flexible numbers differ. */
static uint64_t gen_spread(struct gen *g)
{
    return gen_number(g) >> gen_below(g, 64);
}

static void gen_text(struct gen *g, char *dst, size_t max)
{
    size_t n = gen_below(g, 8) ? gen_below(g, 12) : gen_below(g, 300);

    if (n > max)
        n = max;
    for (size_t i = 0; i < n; i++)
        dst[i] = (char)('a' + gen_below(g, 26));
    dst[n] = '\0';
}

static char *gen_string(struct gen *g)
{
    char text[301];

    gen_text(g, text, sizeof(text) - 1);
    return strdup(text);
}

static char *gen_maybe_string(struct gen *g)
{
    return gen_below(g, 4) ? gen_string(g) : NULL;
}

static size_t gen_count(struct gen *g)
{
    return g->depth > 3 ? 0 : gen_below(g, 4);
}

static void gen_bytes(struct gen *g, char **bytes, size_t *size)
{
    *size = gen_below(g, 3) ? gen_below(g, 40) : gen_below(g, 300);
    *bytes = *size ? malloc(*size) : NULL;
    for (size_t i = 0; i < *size; i++)
        (*bytes)[i] = (char)gen_number(g);
}

static void gen_regex(struct gen *g, pmix_byte_object_t *bo)
{
    static const char blob[] =
        "blob:\0component=zlib:\0size=5:\0\1\0\2\0"; /* and its NUL */

    if (gen_below(g, 2)) {
        bo->size = sizeof(blob);
        bo->bytes = malloc(bo->size);
        memcpy(bo->bytes, blob, bo->size);
    } else {
        bo->bytes = gen_string(g);
        bo->size = strlen(bo->bytes) + 1;
    }
}

static pmix_data_type_t gen_type(struct gen *g, bool for_value)
{
    for (;;) {
        pmix_data_type_t id = (pmix_data_type_t)(1 + gen_below(g, 80));

        if (gen_can(g, id) && (!for_value || px_type_find(id)->in_value != PX_VALUE_NO))
            return id;
    }
}

static void *gen_array(struct gen *g, pmix_data_type_t id, size_t n)
{
    const struct px_type *t = px_type_find(id);
    char *array = n ? calloc(n, t->size) : NULL;

    for (size_t i = 0; i < n; i++)
        gen_object(g, id, array + i * t->size);
    return array;
}

static void gen_darray(struct gen *g, pmix_data_array_t *a)
{
    if (!gen_below(g, 5))
        return; /* UNDEF */
    a->type = gen_type(g, false);
    a->size = gen_count(g);
    if (a->type == PMIX_POINTER && a->size) /* more would need more bytes behind them */
        a->size = 1;
    a->array = gen_array(g, a->type, a->size);
}

static void gen_value(struct gen *g, pmix_value_t *v)
{
    if (!gen_below(g, 8))
        return; /* UNDEF */
    v->type = gen_type(g, true);

    const struct px_type *t = px_type_find(v->type);
    if (t->in_value == PX_VALUE_INLINE)
        gen_object(g, t->id, &v->data);
    else
        v->data.ptr = gen_array(g, t->id, 1);
}

static void gen_struct(struct gen *g, const struct px_type *t, char *obj)
{
    for (const struct px_field *f = t->fields; f < t->fields + t->n_fields; f++) {
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
    if (t->id == PMIX_INFO) /* would not own its value */
        ((pmix_info_t *)(void *)obj)->flags &= ~(
            pmix_info_directives_t)PMIX_INFO_PERSISTENT;
}

static void gen_real(struct gen *g, enum px_store store, void *obj)
{
    /* what six decimals hold exactly, in a float too */
    double wide = ((int64_t)gen_below(g, 1 << 20) - (1 << 19)) / 64.0;
    float narrow = (float)wide;

    if (store == PX_FLOAT)
        memcpy(obj, &narrow, sizeof(narrow));
    else
        memcpy(obj, &wide, sizeof(wide));
}

static void gen_dbuf(struct gen *g, pmix_data_buffer_t *b)
{
    gen_bytes(g, &b->base_ptr, &b->bytes_used);
    b->unpack_ptr = b->base_ptr;
    b->pack_ptr = b->base_ptr ? b->base_ptr + b->bytes_used : NULL;
    b->bytes_allocated = b->bytes_used;
}

void gen_object(struct gen *g, pmix_data_type_t id, void *obj)
{
    const struct px_type *t = px_type_find(id);
    pmix_byte_object_t *bo = obj;
    uint64_t n = gen_spread(g);
    char *string;

    memset(obj, 0, t->size);
    g->depth++;
    switch (t->store) {
    case PX_NONE:
    case PX_POINTER: /* does not survive the journey */
    case PX_CPUSET:
    case PX_TOPO:
        break;
    case PX_BOOL:
        *(bool *)obj = n & 1;
        break;
    case PX_TIMEVAL:
        *(struct timeval *)obj = (struct timeval){(time_t)n,
                                                  (suseconds_t)gen_spread(g)};
        break;
    case PX_FLOAT:
    case PX_DOUBLE:
        gen_real(g, (enum px_store)t->store, obj);
        break;
    case PX_STRING:
        string = gen_maybe_string(g);
        memcpy(obj, &string, sizeof(string));
        break;
    case PX_BYTES:
        gen_bytes(g, &bo->bytes, &bo->size);
        break;
    case PX_DBUF:
        gen_dbuf(g, obj);
        break;
    case PX_VALUE:
        gen_value(g, obj);
        break;
    case PX_DARRAY:
        gen_darray(g, obj);
        break;
    case PX_NSPACE:
        gen_text(g, obj, PMIX_MAX_NSLEN);
        break;
    case PX_REGEX:
        gen_regex(g, bo);
        break;
    case PX_STRUCT:
        gen_struct(g, t, obj);
        break;
    default: /* a number: any bits will do, on a little-endian host the low ones */
        assert(t->size <= sizeof(n));
        memcpy(obj, &n, t->size);
        break;
    }
    g->depth--;
}
