/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated objects of every type in every codec; see sample.h. */
#include "sample.h"

#include "wire_test.h"

/* The n objects of a type as one array, or the first of them as one value. */
static void put_inside(struct sample *s, struct gen *g, pmix_data_type_t element)
{
    const struct px_type *t = px_type_find(element);
    pmix_data_array_t *a;

    g->levels++;
    if (s->type == PMIX_VALUE) {
        pmix_value_t *v = calloc(1, sizeof(*v));

        v->type = element;
        if (t->in_value == PX_VALUE_INLINE)
            gen_object(g, element, &v->data);
        else
            v->data.ptr = gen_array(g, element, 1);
        s->values = (char *)v;
    } else {
        a = calloc(1, sizeof(*a));
        a->type = element;
        a->size = element == PMIX_POINTER ? 1 : (size_t)s->n;
        a->array = gen_array(g, element, a->size);
        s->values = (char *)a;
    }
    s->n = 1;
}

static void make(struct sample *s, pmix_data_type_t type, bool wild)
{
    struct gen g = {.state = (gen_seed() * 7919 + s->seed) * 1000003 + type,
                    .dialect = s->codec.dialect,
                    .wild = wild};

    s->type = type;
    s->n = type == PMIX_POINTER ? 1 : (int32_t)gen_below(&g, SAMPLE_MAX_N + 1);
    if (s->seed % 3 == 1) {
        s->type = PMIX_DATA_ARRAY;
        put_inside(s, &g, type);
    } else if (s->seed % 3 == 2 && px_type_find(type)->in_value != PX_VALUE_NO) {
        s->type = PMIX_VALUE;
        put_inside(s, &g, type);
    } else {
        s->values = gen_array(&g, type, (size_t)s->n);
    }
    px_writer_init(&s->w, s->codec);
    px_pack(&s->w, s->values, s->n, s->type);
    SAMPLE_MUST(s, s->w.status == PMIX_SUCCESS);
}

void sample_every(struct sample_plan plan, void (*f)(struct sample *))
{
    for (size_t d = 0; d < 2 * n_dialects; d++) {
        struct px_codec codec = codec_of(all_dialects[d / 2], d & 1);
        struct gen g = {.dialect = codec.dialect};

        for (pmix_data_type_t type = 0; type < SAMPLE_LAST_TYPE; type++)
            for (unsigned i = 0; gen_can(&g, type) && i < plan.n; i++) {
                struct sample s = {.codec = codec, .seed = plan.first + i};

                make(&s, type, plan.wild);
                f(&s);
                px_type_free_array(s.type, s.values, (size_t)s.n);
                px_writer_cleanup(&s.w);
            }
    }
}

char *sample_room(const struct sample *s)
{
    return calloc(SAMPLE_MAX_N + 1, px_type_find(s->type)->size);
}

void sample_drop(const struct sample *s, char *room, int32_t n)
{
    px_type_free_array(s->type, room, (size_t)n);
}

pmix_status_t sample_try(const struct sample *s, const void *bytes, size_t len)
{
    char *room = sample_room(s);
    int32_t n = SAMPLE_MAX_N;
    px_reader r;

    px_reader_init(&r, s->codec, bytes, len);
    pmix_status_t rc = px_unpack(&r, room, &n, s->type);
    if (rc)
        SAMPLE_MUST(s, r.pos == (const uint8_t *)bytes);
    sample_drop(s, room, rc ? 0 : n);
    return rc;
}
