/* SPDX-License-Identifier: BSD-3-Clause */
/* unpack(pack(x)) == x for every type of the table, in every dialect and both buffer forms. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

enum { N_SEEDS = 40, MAX_N = 3, LAST_TYPE = 80 };

struct sample {
    struct px_codec codec;
    pmix_data_type_t type;
    int32_t n;
    char *values;
    px_writer w; /* the values, packed */
};

static void sample_make(struct sample *s, struct px_codec codec, pmix_data_type_t type,
                        uint64_t seed)
{
    struct gen g = {.state = seed * 1000003 + type, .dialect = codec.dialect};
    size_t size = px_type_find(type)->size;

    s->codec = codec;
    s->type = type;
    s->n = type == PMIX_POINTER ? 1 : (int32_t)gen_below(&g, MAX_N + 1);
    s->values = calloc(MAX_N + 1, size);
    for (int32_t i = 0; i < s->n; i++)
        gen_object(&g, type, s->values + (size_t)i * size);
    px_writer_init(&s->w, codec);
    px_pack(&s->w, s->values, s->n, type);
    ck_assert_msg(s->w.status == PMIX_SUCCESS, "type %u of %s: status %d", type,
                  codec.dialect->name, s->w.status);
}

static void sample_free(struct sample *s)
{
    px_type_free_array(s->type, s->values, (size_t)s->n);
    px_writer_cleanup(&s->w);
}

static void comes_back(struct sample *s)
{
    size_t size = px_type_find(s->type)->size;
    char *back = calloc(MAX_N + 1, size);
    int32_t n = MAX_N;
    px_reader r;

    px_reader_init(&r, s->codec, s->w.buf.data, s->w.buf.len);
    pmix_status_t rc = px_unpack(&r, back, &n, s->type);
    ck_assert_msg(rc == PMIX_SUCCESS && n == s->n && px_reader_done(&r),
                  "type %u of %s: status %d", s->type, s->codec.dialect->name, rc);
    for (int32_t i = 0; i < n; i++)
        ck_assert_msg(px_type_compare(s->type, back + (size_t)i * size,
                                      s->values + (size_t)i * size) == 0,
                      "type %u of %s: came back changed", s->type,
                      s->codec.dialect->name);
    px_type_free_array(s->type, back, (size_t)n);
}

/* Sets the byte at i to each of a few values: whatever is read, nothing bad happens. */
static void survives_damage(struct sample *s, size_t i)
{
    static const uint8_t wrong[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    uint8_t right = s->w.buf.data[i];

    for (size_t k = 0; k < sizeof(wrong); k++) {
        char *dst = calloc(MAX_N + 1, px_type_find(s->type)->size);
        int32_t n = MAX_N;
        px_reader r;

        s->w.buf.data[i] = wrong[k];
        px_reader_init(&r, s->codec, s->w.buf.data, s->w.buf.len);
        pmix_status_t rc = px_unpack(&r, dst, &n, s->type);
        px_type_free_array(s->type, dst, rc ? 0 : (size_t)n);
    }
    s->w.buf.data[i] = right;
}

static void truncated_is_no_crash(struct sample *s, size_t len)
{
    char *dst = calloc(MAX_N + 1, px_type_find(s->type)->size);
    uint8_t *part = malloc(len ? len : 1);
    int32_t n = MAX_N;
    px_reader r;

    memcpy(part, s->w.buf.data, len);
    px_reader_init(&r, s->codec, part, len);
    pmix_status_t rc = px_unpack(&r, dst, &n, s->type);
    /* all but the size of an array of no type is needed */
    ck_assert(rc < 0 || len > 1);
    px_type_free_array(s->type, dst, rc ? 0 : (size_t)n);
    free(part);
}

static void for_every_sample(unsigned n_seeds, void (*f)(struct sample *))
{
    for (size_t d = 0; d < 2 * n_dialects; d++) {
        struct px_codec codec = codec_of(all_dialects[d / 2], d & 1);
        struct gen g = {.dialect = codec.dialect};

        for (pmix_data_type_t type = 0; type < LAST_TYPE; type++)
            for (unsigned seed = 0; gen_can(&g, type) && seed < n_seeds; seed++) {
                struct sample s;

                sample_make(&s, codec, type, seed);
                f(&s);
                sample_free(&s);
            }
    }
}

START_TEST(every_type_comes_back_as_it_was)
{
    for_every_sample(N_SEEDS, comes_back);
}
END_TEST

static void is_cut_everywhere(struct sample *s)
{
    for (size_t len = 0; len < s->w.buf.len; len += 1 + len / 64)
        truncated_is_no_crash(s, len);
}

START_TEST(every_type_cut_short_is_refused_without_a_trace)
{
    for_every_sample(3, is_cut_everywhere);
}
END_TEST

static void is_damaged_everywhere(struct sample *s)
{
    for (size_t i = 0; i < s->w.buf.len; i += 1 + i / 64)
        survives_damage(s, i);
}

START_TEST(every_type_damaged_does_no_harm)
{
    for_every_sample(3, is_damaged_everywhere);
}
END_TEST

/* Running out of memory at each allocation in turn. */
static void reports_want_of_memory(struct sample *s)
{
    for (unsigned nth = 1;; nth++) {
        char *dst = calloc(MAX_N + 1, px_type_find(s->type)->size);
        int32_t n = MAX_N;
        px_reader r;

        px_reader_init(&r, s->codec, s->w.buf.data, s->w.buf.len);
        px_alloc_fail_at(nth);
        pmix_status_t rc = px_unpack(&r, dst, &n, s->type);
        bool failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        px_type_free_array(s->type, dst, rc ? 0 : (size_t)n);
        if (!failed)
            break;
    }
}

START_TEST(reading_reports_want_of_memory)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    for_every_sample(2, reports_want_of_memory);
}
END_TEST

START_TEST(writing_reports_want_of_memory)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    PX_AUTO(px_writer) w;
    px_writer_init(&w, px_codec_default);
    px_alloc_fail_at(1);
    px_pack_str(&w, "x");
    px_pack_str(&w, "y");

    ck_assert(px_alloc_fail_end());
    ck_assert_int_eq(w.status, PMIX_ERR_NOMEM);
    ck_assert_uint_eq(w.buf.len, 0);
}
END_TEST

START_TEST(writing_numbers_allocates_only_as_the_buffer_grows)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    PX_AUTO(px_writer) w;
    px_writer_init(&w, px_codec_default);
    px_alloc_fail_at(0);
    for (uint32_t i = 0; i < 10000; i++)
        px_pack_u32(&w, i);

    px_alloc_fail_end();
    ck_assert_int_eq(w.status, PMIX_SUCCESS);
    ck_assert_uint_lt(px_alloc_count(), 16);
}
END_TEST

PX_TEST_MAIN("wire/roundtrip", every_type_comes_back_as_it_was,
             every_type_cut_short_is_refused_without_a_trace,
             every_type_damaged_does_no_harm, reading_reports_want_of_memory,
             writing_reports_want_of_memory,
             writing_numbers_allocates_only_as_the_buffer_grows)
