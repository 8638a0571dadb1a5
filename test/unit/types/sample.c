/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates objects of any type by walking its row of the table. */
#include "sample.h"

#include "core/base/strv.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 3, MAX_ELEMENTS = 4, MAX_TEXT = 12 };

struct source {
    uint64_t state;
    unsigned depth;
};

static void fill(struct source *s, const struct px_type *t, void *obj);

/* xorshift64*: quality does not matter, being the same everywhere does */
static uint64_t draw(struct source *s)
{
    s->state ^= s->state >> 12;
    s->state ^= s->state << 25;
    s->state ^= s->state >> 27;
    return s->state * UINT64_C(2685821657736338717);
}

static size_t below(struct source *s, size_t limit)
{
    return (size_t)(draw(s) >> 33) % limit;
}

static void fill_text(struct source *s, char *to)
{
    static const char letters[] = "abcXYZ019._-:/ \"\\\n\xc3\xa9";
    size_t n = below(s, MAX_TEXT);

    for (size_t i = 0; i < n; i++)
        to[i] = letters[below(s, sizeof(letters) - 1)];
    to[n] = '\0';
}

static char *make_text(struct source *s)
{
    char text[MAX_TEXT];

    if (below(s, 4) == 0)
        return NULL;
    fill_text(s, text);
    return strdup(text);
}

static void *make_elements(struct source *s, const struct px_type *t, size_t n)
{
    char *array = calloc(n, t->size);

    for (size_t i = 0; array && i < n; i++)
        fill(s, t, array + i * t->size);
    return array;
}

static const struct px_type *draw_type(struct source *s, bool for_value)
{
    for (;;) {
        const struct px_type *t = px_type_find(below(s, SAMPLE_MAX_ID + 1));

        if (t && !(for_value && t->in_value == PX_VALUE_NO) &&
            (s->depth < MAX_DEPTH || t->flat))
            return t;
    }
}

static void fill_value(struct source *s, pmix_value_t *v)
{
    const struct px_type *t = draw_type(s, true);

    v->type = t->id;
    if (t->in_value == PX_VALUE_INLINE)
        fill(s, t, &v->data);
    else if (below(s, 4))
        v->data.ptr = make_elements(s, t, 1);
}

static void fill_darray(struct source *s, pmix_data_array_t *a)
{
    const struct px_type *t = draw_type(s, false);

    a->type = t->id;
    if (t->store == PX_NONE || below(s, 4) == 0)
        return;
    a->size = 1 + below(s, MAX_ELEMENTS);
    a->array = make_elements(s, t, a->size);
}

static void fill_bytes(struct source *s, char **bytes, size_t *n)
{
    *n = below(s, 3) ? 1 + below(s, 70) : 0;
    *bytes = *n ? malloc(*n) : NULL;
    for (size_t i = 0; i < *n; i++)
        (*bytes)[i] = (char)draw(s);
}

static void fill_dbuf(struct source *s, pmix_data_buffer_t *b)
{
    fill_bytes(s, &b->base_ptr, &b->bytes_used);
    b->bytes_allocated = b->bytes_used;
    if (b->base_ptr) {
        b->pack_ptr = b->base_ptr + b->bytes_used;
        b->unpack_ptr = b->base_ptr + below(s, b->bytes_used);
    }
}

static char **make_strv(struct source *s)
{
    char **v = NULL, text[MAX_TEXT];

    for (size_t n = below(s, MAX_ELEMENTS); n > 0; n--) {
        fill_text(s, text);
        if (px_strv_append(&v, text))
            abort();
    }
    return v;
}

static void fill_field(struct source *s, const struct px_field *f, char *obj)
{
    const struct px_type *t = px_type_find(f->type);
    void *elements = NULL;
    size_t n;

    if (f->store == PX_KEY) {
        fill_text(s, obj + f->offset);
        return;
    }
    if (f->many == PX_ONE) {
        fill(s, t, obj + f->offset);
        return;
    }
    if (f->many == PX_COUNTED) {
        n = s->depth < MAX_DEPTH ? below(s, MAX_ELEMENTS) : 0;
        if (n)
            elements = make_elements(s, t, n);
        memcpy(obj + f->count_offset, &n, sizeof(n));
    } else {
        elements = make_strv(s);
    }
    memcpy(obj + f->offset, &elements, sizeof(elements));
}

/* What most numbers are in practice is small; what breaks code are the ends. */
static uint64_t draw_number(struct source *s)
{
    switch (below(s, 4)) {
    case 0:
        return below(s, 256);
    case 1:
        return UINT64_MAX - below(s, 3);
    default:
        return draw(s);
    }
}

static void fill_leaf(struct source *s, const struct px_type *t, void *obj)
{
    uint64_t number = draw_number(s);
    double d = (double)(int32_t)number / 8; /* what "%f" can carry */
    float f = (float)(int16_t)number / 8;
    struct timeval tv = {.tv_sec = (int32_t)number, .tv_usec = (long)below(s, 1000000)};

    switch (t->store) {
    case PX_BOOL:
        *(bool *)obj = number & 1;
        break;
    case PX_FLOAT:
        memcpy(obj, &f, sizeof(f));
        break;
    case PX_DOUBLE:
        memcpy(obj, &d, sizeof(d));
        break;
    case PX_TIMEVAL:
        memcpy(obj, &tv, sizeof(tv));
        break;
    case PX_POINTER:
        memcpy(obj, &(const void *){number & 1 ? "pointed to" : NULL}, sizeof(void *));
        break;
    default:
        memcpy(obj, &number, t->size); /* little endian: the low bytes */
    }
}

static void fill(struct source *s, const struct px_type *t, void *obj)
{
    memset(obj, 0, t->size);
    s->depth++;
    switch (t->store) {
    case PX_NONE:
        break;
    case PX_STRING:
    case PX_CPUSET: /* its first member; the handle stays NULL */
    case PX_TOPO:
        memcpy(obj, &(char *){make_text(s)}, sizeof(char *));
        break;
    case PX_NSPACE:
        fill_text(s, obj);
        break;
    case PX_BYTES:
    case PX_REGEX:
        fill_bytes(s, &((pmix_byte_object_t *)obj)->bytes,
                   &((pmix_byte_object_t *)obj)->size);
        break;
    case PX_DBUF:
        fill_dbuf(s, obj);
        break;
    case PX_VALUE:
        fill_value(s, obj);
        break;
    case PX_DARRAY:
        fill_darray(s, obj);
        break;
    case PX_STRUCT:
        for (size_t i = 0; i < (size_t)t->n_fields + t->n_local; i++)
            fill_field(s, &t->fields[i], obj);
        break;
    default:
        fill_leaf(s, t, obj);
    }
    if (t->id == PMIX_INFO) /* else it would not own its value */
        ((pmix_info_t *)obj)->flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    s->depth--;
}

bool sample_type(pmix_data_type_t *id)
{
    while (*id <= SAMPLE_MAX_ID && !px_type_find(*id))
        ++*id;
    return *id <= SAMPLE_MAX_ID;
}

void sample_fill(pmix_data_type_t id, void *obj, unsigned seed)
{
    struct source s = {.state = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1) ^ id};

    fill(&s, px_type_find(id), obj);
}
