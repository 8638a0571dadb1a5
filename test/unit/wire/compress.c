/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed values become plain, and a bomb stays small. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "core/wire/ops.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>
#include <zlib.h>

/* As a peer sends it: u32 in host order, then a zlib stream; claims `claimed` bytes. */
static pmix_value_t compressed(const void *bytes, size_t n, uint32_t claimed,
                               pmix_data_type_t type)
{
    uLongf len = compressBound(n);
    char *to = malloc(4 + len);

    ck_assert_int_eq(compress((Bytef *)to + 4, &len, bytes, n), Z_OK);
    memcpy(to, &claimed, 4);
    return (pmix_value_t){.type = type, .data.bo = {to, 4 + len}};
}

static const char text[] = "a text a text a text a text a text a text a text";

PX_TEST(a_compressed_string_becomes_a_string)
{
    /* its length does not count the NUL */
    pmix_value_t v = compressed(text, sizeof(text) - 1, sizeof(text) - 1,
                                PMIX_COMPRESSED_STRING);

    ok(px_value_inflate(&v));
    ck_assert_int_eq(v.type, PMIX_STRING);
    ck_assert_str_eq(v.data.string, text);
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(a_compressed_byte_object_becomes_a_byte_object)
{
    pmix_value_t v = compressed(text, sizeof(text), sizeof(text),
                                PMIX_COMPRESSED_BYTE_OBJECT);

    ok(px_value_inflate(&v));
    ck_assert_int_eq(v.type, PMIX_BYTE_OBJECT);
    ck_assert_uint_eq(v.data.bo.size, sizeof(text));
    ck_assert_mem_eq(v.data.bo.bytes, text, sizeof(text));
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(other_values_stay_as_they_are)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 7};

    ok(px_value_inflate(&v));
    ck_assert_int_eq(v.type, PMIX_UINT32);
    ck_assert_uint_eq(v.data.uint32, 7);
}

PX_TEST(nothing_compressed_is_nothing)
{
    pmix_value_t v = compressed("", 0, 0, PMIX_COMPRESSED_STRING);

    ok(px_value_inflate(&v));
    ck_assert_str_eq(v.data.string, "");
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(bytes_after_the_stream_are_ignored)
{
    pmix_value_t v = compressed(text, sizeof(text) - 1, sizeof(text) - 1,
                                PMIX_COMPRESSED_STRING);

    v.data.bo.bytes = realloc(v.data.bo.bytes, v.data.bo.size + 9);
    memset(v.data.bo.bytes + v.data.bo.size, 0xee, 9);
    v.data.bo.size += 9;
    ok(px_value_inflate(&v));
    ck_assert_str_eq(v.data.string, text);
    px_type_destruct(PMIX_VALUE, &v);
}

static void stays_refused(pmix_value_t *v)
{
    pmix_data_type_t type = v->type;

    fails(px_value_inflate(v), UNPACK_FAILURE);
    ck_assert_int_eq(v->type, type); /* as it was */
    px_type_destruct(PMIX_VALUE, v);
}

PX_TEST(a_wrong_length_is_refused)
{
    pmix_value_t more = compressed(text, sizeof(text), sizeof(text) + 1,
                                   PMIX_COMPRESSED_STRING);
    pmix_value_t less = compressed(text, sizeof(text), sizeof(text) - 1,
                                   PMIX_COMPRESSED_STRING);

    stays_refused(&more);
    stays_refused(&less);
}

PX_TEST(damaged_data_is_refused)
{
    for (size_t cut = 0; cut < 12; cut++) {
        pmix_value_t v = compressed(text, sizeof(text), sizeof(text),
                                    PMIX_COMPRESSED_STRING);

        v.data.bo.size = cut;
        stays_refused(&v);
    }
    pmix_value_t v = compressed(text, sizeof(text), sizeof(text),
                                PMIX_COMPRESSED_STRING);
    v.data.bo.bytes[8] ^= 0x55;
    stays_refused(&v);
    pmix_value_t none = {.type = PMIX_COMPRESSED_STRING};
    stays_refused(&none);
}

PX_TEST(a_length_no_stream_could_inflate_to_allocates_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    pmix_value_t v = compressed(text, sizeof(text), PX_MAX_INFLATED_B,
                                PMIX_COMPRESSED_STRING);

    px_alloc_fail_at(0);
    pmix_status_t rc = px_value_inflate(&v);
    px_alloc_fail_end();

    fails(rc, UNPACK_FAILURE);
    ck_assert_uint_eq(px_alloc_count(), 0);
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(an_inflate_bomb_is_refused)
{
    size_t n = PX_MAX_INFLATED_B + 1;
    char *zeros = calloc(1, n);
    /* honest about its size, and lying about it */
    pmix_value_t honest = compressed(zeros, n, (uint32_t)n, PMIX_COMPRESSED_STRING);
    pmix_value_t liar = compressed(zeros, n, 4096, PMIX_COMPRESSED_STRING);

    free(zeros);
    stays_refused(&honest);
    stays_refused(&liar);
}

PX_TEST(inflating_reports_want_of_memory)
{
    PX_TEST_NEEDS_ALLOC;
    pmix_value_t v = compressed(text, sizeof(text) - 1, sizeof(text) - 1,
                                PMIX_COMPRESSED_STRING);

    px_alloc_fail_at(1);
    pmix_status_t rc = px_value_inflate(&v);
    px_alloc_fail_end();

    fails(rc, NOMEM);
    ck_assert_int_eq(v.type, PMIX_COMPRESSED_STRING);
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(peers_that_cannot_inflate_get_plain_values)
{
    PX_AUTO(px_writer) w;
    PX_AUTO(px_buf) expected = bytes_of("00 00 00 01 00 03 00 00 00 03 \"hi\" 00");
    pmix_value_t v = compressed("hi", 2, 2, PMIX_COMPRESSED_STRING);

    px_writer_init(&w, codec_of("v3", false));
    px_pack(&w, &v, 1, PMIX_VALUE);

    ok(w.status);
    ck_assert_uint_eq(w.buf.len, expected.len);
    ck_assert_mem_eq(w.buf.data, expected.data, expected.len);
    ck_assert_int_eq(v.type, PMIX_COMPRESSED_STRING);
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(what_cannot_be_made_plain_is_not_sent)
{
    PX_AUTO(px_writer) w;
    pmix_value_t v = {.type = PMIX_COMPRESSED_BYTE_OBJECT,
                      .data.bo = {(char *)"xxxxxxxx", 8}};

    px_writer_init(&w, codec_of("v3", false));
    px_pack(&w, &v, 1, PMIX_VALUE);
    fails(w.status, UNPACK_FAILURE);
}

PX_TEST_MAIN("wire/compress", NULL, NULL)
