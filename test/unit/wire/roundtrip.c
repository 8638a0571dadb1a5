/* SPDX-License-Identifier: BSD-3-Clause */
/* unpack(pack(x)) == x for every type of the table, in every dialect and both buffer forms; and
 * what is no message does no harm. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "px_test.h"
#include "sample.h"

#include <string.h>

/* ---- there and back ------------------------------------------------------------------------- */

static void comes_back(struct sample *s)
{
    size_t size = px_type_find(s->type)->size;
    char *back = sample_room(s);
    int32_t n = SAMPLE_MAX_N;
    px_reader r;
    px_writer again;

    px_reader_init(&r, s->codec, s->w.buf.data, s->w.buf.len);
    SAMPLE_MUST(s, px_unpack(&r, back, &n, s->type) == PMIX_SUCCESS);
    SAMPLE_MUST(s, n == s->n);
    SAMPLE_MUST(s, px_reader_done(&r));
    for (size_t i = 0; i < (size_t)n; i++)
        SAMPLE_MUST(
            s, px_type_compare(s->type, back + i * size, s->values + i * size) == 0);
    px_writer_init(&again, s->codec);
    px_pack(&again, back, n, s->type);
    SAMPLE_MUST(s, again.status == PMIX_SUCCESS && again.buf.len == s->w.buf.len);
    SAMPLE_MUST(s, memcmp(again.buf.data, s->w.buf.data, again.buf.len) == 0);
    px_writer_cleanup(&again);
    sample_drop(s, back, n);
}

PX_TEST(every_type_comes_back_as_it_was)
{
    sample_every((struct sample_plan){.n = 60}, comes_back);
}

PX_TEST(the_largest_and_deepest_come_back_as_they_were)
{
    sample_every((struct sample_plan){.n = 45, .wild = true}, comes_back);
}

/* ---- damage --------------------------------------------------------------------------------- */

static void is_cut(const struct sample *s, size_t len)
{
    uint8_t *part = malloc(len ? len : 1); /* a sanitizer sees reads beyond */

    memcpy(part, s->w.buf.data, len);
    /* all but the size of an array of no type is needed */
    SAMPLE_MUST(s, sample_try(s, part, len) < 0 || len > 1);
    free(part);
}

/* At every byte, of long messages not quite. */
static void is_cut_everywhere(struct sample *s)
{
    for (size_t len = 0; len < s->w.buf.len; len += 1 + len / 256)
        is_cut(s, len);
}

PX_TEST(every_type_cut_short_is_refused_without_a_trace)
{
    sample_every((struct sample_plan){.n = 3}, is_cut_everywhere);
}

static void is_damaged_everywhere(struct sample *s)
{
    static const uint8_t wrong[] = {0x00, 0x01, 0x7f, 0x80, 0xff};

    for (size_t i = 0; i < s->w.buf.len; i += 1 + i / 64) {
        uint8_t right = s->w.buf.data[i];

        for (size_t k = 0; k < sizeof(wrong); k++) {
            s->w.buf.data[i] = wrong[k];
            sample_try(s, s->w.buf.data, s->w.buf.len);
        }
        s->w.buf.data[i] = right;
    }
}

PX_TEST(every_type_damaged_does_no_harm)
{
    sample_every((struct sample_plan){.n = 3}, is_damaged_everywhere);
}

/* Bits turned over one after the other, so that the damage grows. */
static void has_bits_turned(struct sample *s)
{
    struct gen g = {.state = s->seed * 31 + s->type};

    for (unsigned i = 0; s->w.buf.len && i < 12; i++) {
        s->w.buf.data[gen_below(&g, s->w.buf.len)] ^= (uint8_t)(1 << gen_below(&g, 8));
        sample_try(s, s->w.buf.data, s->w.buf.len);
    }
}

PX_TEST(turned_bits_do_no_harm)
{
    sample_every((struct sample_plan){.first = 50, .n = 20, .wild = true},
                 has_bits_turned);
}

/* ---- no memory ------------------------------------------------------------------------------ */

/* Running out of memory at each allocation in turn. */
static void reading_lacks_memory(struct sample *s)
{
    for (unsigned nth = 1;; nth++) {
        char *dst = sample_room(s);
        int32_t n = SAMPLE_MAX_N;
        px_reader r;

        px_reader_init(&r, s->codec, s->w.buf.data, s->w.buf.len);
        px_alloc_fail_at(nth);
        pmix_status_t rc = px_unpack(&r, dst, &n, s->type);
        bool failed = px_alloc_fail_end();
        SAMPLE_MUST(s, rc == (failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS));
        SAMPLE_MUST(s, !failed || px_alloc_balance() == 0);
        sample_drop(s, dst, rc ? 0 : n);
        if (!failed)
            break;
    }
}

PX_TEST(reading_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    sample_every((struct sample_plan){.n = 3}, reading_lacks_memory);
}

static void writing_lacks_memory(struct sample *s)
{
    for (unsigned nth = 1;; nth++) {
        px_writer w;

        px_alloc_fail_at(nth);
        px_writer_init(&w, s->codec);
        px_pack(&w, s->values, s->n, s->type);
        pmix_status_t rc = w.status;
        px_writer_cleanup(&w);
        bool failed = px_alloc_fail_end();
        SAMPLE_MUST(s, rc == (failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS));
        SAMPLE_MUST(s, px_alloc_balance() == 0);
        if (!failed)
            break;
    }
}

PX_TEST(writing_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    sample_every((struct sample_plan){.n = 3}, writing_lacks_memory);
}

PX_TEST(writing_numbers_allocates_only_as_the_buffer_grows)
{
    PX_TEST_NEEDS_ALLOC;
    PX_AUTO(px_writer) w;
    px_writer_init(&w, px_codec_default);
    px_alloc_fail_at(0);
    for (uint32_t i = 0; i < 10000; i++)
        px_pack_u32(&w, i);

    px_alloc_fail_end();
    ok(w.status);
    ck_assert_uint_lt(px_alloc_count(), 16);
}

PX_TEST_MAIN("wire/roundtrip", NULL, NULL)
