/* SPDX-License-Identifier: BSD-3-Clause */
/* unpack(pack(x)) == x for every type of the table, in every dialect and both buffer forms; and
 * what is no message does no harm. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "px_test.h"
#include "sample.h"
#include "wire_test.h"

#include <string.h>

static bool some_dialect_can(pmix_data_type_t type)
{
    for (size_t d = 0; d < n_dialects; d++) {
        struct gen g = {.dialect = px_dialect_find(all_dialects[d])};

        if (gen_can(&g, type))
            return true;
    }
    return false;
}

/* gen_object itself aborts on a type it cannot make. */
PX_TEST(there_is_an_object_of_every_type_in_the_table)
{
    struct gen g = {0};

    for (unsigned type = 1; type <= UINT16_MAX; type++) {
        const struct px_type *t = px_type_find((pmix_data_type_t)type);

        if (!t)
            continue;
        ck_assert_msg(type < SAMPLE_LAST_TYPE, "%s is beyond the last", t->name);
        ck_assert_msg(gen_can(&g, t->id), "%s has no generator", t->name);
        ck_assert_msg(some_dialect_can(t->id), "%s travels nowhere", t->name);
    }
}

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

/* Two samples of one type are equal exactly if their messages are. */
static void equals_what_is_packed_alike(struct sample *s)
{
    size_t size = px_type_find(s->type)->size;
    px_writer w[2];

    if (s->n < 2 || s->type == PMIX_POINTER)
        return;
    for (size_t i = 0; i < 2; i++) {
        px_writer_init(&w[i], s->codec);
        px_pack(&w[i], s->values + i * size, 1, s->type);
    }
    bool alike = w[0].buf.len == w[1].buf.len &&
                 memcmp(w[0].buf.data, w[1].buf.data, w[0].buf.len) == 0;
    bool equal = px_type_compare(s->type, s->values, s->values + size) == 0;
    SAMPLE_MUST(s, alike == equal);
    px_writer_cleanup(&w[0]);
    px_writer_cleanup(&w[1]);
}

PX_TEST(objects_are_equal_if_their_messages_are)
{
    sample_every((struct sample_plan){.first = 100, .n = 30},
                 equals_what_is_packed_alike);
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
    char *dst = sample_room(s);

    for (unsigned nth = 0; px_alloc_next(&nth);) {
        int32_t n = SAMPLE_MAX_N;
        px_reader r;

        px_reader_init(&r, s->codec, s->w.buf.data, s->w.buf.len);
        if (!px_alloc_check(px_unpack(&r, dst, &n, s->type)))
            sample_drop(s, dst, n);
    }
}

PX_TEST(reading_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    sample_every((struct sample_plan){.n = 3}, reading_lacks_memory);
}

static void writing_lacks_memory(struct sample *s)
{
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        px_writer w;

        px_writer_init(&w, s->codec);
        px_pack(&w, s->values, s->n, s->type);
        pmix_status_t rc = w.status;
        px_writer_cleanup(&w);
        px_alloc_check(rc);
    }
}

PX_TEST(writing_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    sample_every((struct sample_plan){.n = 3}, writing_lacks_memory);
}

PX_TEST_MAIN("wire/roundtrip", NULL, NULL)
