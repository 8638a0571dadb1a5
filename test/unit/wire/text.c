/* SPDX-License-Identifier: BSD-3-Clause */
/* Floating point and maps, which travel as text. */
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static pmix_status_t read_one(const char *text, void *dst, pmix_data_type_t type)
{
    PX_AUTO(px_buf) b = bytes_of(text);
    px_reader r;

    px_reader_init(&r, px_codec_default, b.data, b.len);
    pmix_status_t rc = px_unpack1(&r, dst, type);
    if (!rc)
        ck_assert(px_reader_done(&r));
    return rc;
}

static double carried(double v)
{
    PX_AUTO(px_writer) w;
    px_reader r;
    double back = 0;

    px_writer_init(&w, px_codec_default);
    px_pack(&w, &v, 1, PMIX_DOUBLE);
    ok(w.status);
    px_reader_init(&r, w.codec, w.buf.data, w.buf.len);
    ok(px_unpack1(&r, &back, PMIX_DOUBLE));
    return back;
}

PX_TEST(doubles_keep_six_decimals)
{
    ck_assert(carried(-0.015625) == -0.015625);
    ck_assert(carried(123456789.25) == 123456789.25);
    ck_assert(carried(1e-9) == 0.0);
}

PX_TEST(the_largest_double_and_the_odd_ones_travel)
{
    ck_assert(carried(DBL_MAX) == DBL_MAX);
    ck_assert(carried(-DBL_MAX) == -DBL_MAX);
    ck_assert(isinf(carried(INFINITY)));
    ck_assert(carried(-INFINITY) < 0);
    ck_assert(isnan(carried(NAN)));
}

PX_TEST(the_locale_makes_no_difference)
{
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE",
                                         "nl_NL.UTF-8"};
    const char *set = NULL;
    float f;

    for (size_t i = 0; !set && i < PX_COUNT(commas); i++)
        set = setlocale(LC_ALL, commas[i]);
    PX_TEST_NEEDS(set, "a locale that writes a comma");
    ck_assert(carried(1.5) == 1.5);
    ok(read_one("02 08 \"1.5\" 00", &f, PMIX_FLOAT));
    ck_assert(f == 1.5f);
    ck_assert_str_eq(setlocale(LC_ALL, NULL), set);
}

PX_TEST(text_that_is_no_number_is_refused)
{
    static const char *const texts[] = {
        "02 00 00 00",                           /* NULL, and bytes of something else */
        "02 02 00 00",                           /* empty, likewise */
        "02 08 \"1,5\" 00",                      /* another locale's */
        "02 08 \"abc\" 00",  "02 08 \"1.5\" 61", /* unterminated */
        "02 0a \"1.5x\" 00",
    };
    double d;
    float f;

    for (size_t i = 0; i < PX_COUNT(texts); i++) {
        fails(read_one(texts[i], &d, PMIX_DOUBLE), UNPACK_FAILURE);
        fails(read_one(texts[i], &f, PMIX_FLOAT), UNPACK_FAILURE);
    }
}

PX_TEST(a_number_too_large_is_refused_not_infinite)
{
    double d;
    float f;

    fails(read_one("02 0c \"1e999\" 00", &d, PMIX_DOUBLE), UNPACK_FAILURE);
    fails(read_one("02 0a \"1e99\" 00", &f, PMIX_FLOAT), UNPACK_FAILURE);
    ok(read_one("02 0a \"1e99\" 00", &d, PMIX_DOUBLE));
    ok(read_one("02 0e \"1e-999\" 00", &d, PMIX_DOUBLE));
    ok(read_one("02 08 \"inf\" 00", &f, PMIX_FLOAT));
}

/* ---- maps ------------------------------------------------------------------------------------ */

#define BLOB_HEAD "\"blob:\" 00 \"component=zlib:\" 00 "

static pmix_status_t write_regex(const char *bytes, size_t size, px_buf *out)
{
    PX_AUTO(px_writer) w;
    pmix_byte_object_t bo = {(char *)(uintptr_t)bytes, size};

    px_writer_init(&w, px_codec_default);
    px_pack(&w, &bo, 1, PMIX_REGEX);
    pmix_status_t rc = w.status;
    *out = px_buf_take(&w.buf);
    return rc;
}

PX_TEST(a_blob_tells_its_own_length)
{
    PX_AUTO(px_buf) b = bytes_of("02 " BLOB_HEAD
                                 "\"size=12:\" 00 \"0123456789\" 00 00 05");
    pmix_byte_object_t bo;
    px_reader r;

    px_reader_init(&r, px_codec_default, b.data, b.len);
    ok(px_unpack1(&r, &bo, PMIX_REGEX));
    ck_assert_uint_eq(bo.size, 12 + 29 + 2); /* n + 29 + digits of n */
    ck_assert_uint_eq((size_t)(r.end - r.pos), 1);
    ck_assert_mem_eq(bo.bytes, b.data + 1, bo.size);

    PX_AUTO(px_buf) again = {0};
    ok(write_regex(bo.bytes, bo.size, &again));
    ck_assert_uint_eq(again.len, b.len - 1);
    ck_assert_mem_eq(again.data, b.data, again.len);
    free(bo.bytes);
}

PX_TEST(a_blob_that_lies_about_its_length_is_refused)
{
    static const char *const texts[] = {
        "02 " BLOB_HEAD "\"size=4:\" 00 \"012\"",
        "02 " BLOB_HEAD "\"size=99999999999999999999999999:\" 00 \"012\"",
        "02 " BLOB_HEAD "\"size=18446744073709551615:\" 00 \"012\"",
        "02 " BLOB_HEAD "\"size=:\" 00 \"012\"",
        "02 " BLOB_HEAD "\"size=-1:\" 00 \"012\"",
        "02 " BLOB_HEAD "\"size=3\" 00 \"012\"",
        "02 " BLOB_HEAD "\"size=3:012\"",
        "02 " BLOB_HEAD "\"size=3\"",
        "02 " BLOB_HEAD "\"size=\"",
    };
    pmix_byte_object_t bo;

    for (size_t i = 0; i < PX_COUNT(texts); i++)
        ck_assert_int_lt(read_one(texts[i], &bo, PMIX_REGEX), 0);
}

PX_TEST(what_only_begins_like_a_blob_is_text)
{
    pmix_byte_object_t bo;

    ok(read_one("02 \"blob:x\" 00", &bo, PMIX_REGEX));
    ck_assert_str_eq(bo.bytes, "blob:x");
    free(bo.bytes);
}

PX_TEST(text_gets_the_NUL_it_was_counted_without)
{
    PX_AUTO(px_buf) b = {0};

    ok(write_regex("raw:n1", 6, &b));
    ck_assert_uint_eq(b.len, 1 + 7);
    ck_assert_mem_eq(b.data, "\x02raw:n1", 8);
}

PX_TEST(a_map_whose_length_would_mislead_the_reader_is_not_sent)
{
    PX_AUTO(px_buf) b = {0};

    fails(write_regex("raw:n1\0more", 11, &b), BAD_PARAM);
    px_buf_cleanup(&b);
    fails(write_regex("blob:\0component=zlib:\0size=5:\0\1\2", 32, &b), BAD_PARAM);
}

PX_TEST(no_map_is_an_empty_one)
{
    PX_AUTO(px_buf) b = {0};

    ok(write_regex(NULL, 0, &b));
    ck_assert_mem_eq(b.data, "\x02", 2);
}

/* Numbers of every size, halves of the last digit and their neighbours among them. */
static double some_double(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t r = *state >> 11;
    double v = (double)(r & 0xfffff) / (double)(1u << (r >> 20 & 31)) *
               pow(10, (double)(r >> 25 & 15) - 6);
    double half = (floor(v * 1e6) + 0.5) / 1e6;

    switch (r >> 29 & 3) {
    case 0:
        v = half;
        break;
    case 1:
        v = nextafter(half, r & 1 ? 0 : DBL_MAX);
        break;
    case 2:
        v = (double)(r & 0xffffff) / (1 << 7); /* a tie: seven binary places */
        break;
    default:
        break;
    }
    return r & 1u << 31 ? -v : v;
}

PX_TEST(doubles_are_written_as_by_printf_and_read_as_by_strtod)
{
    uint64_t state = 4711;

    for (int i = 0; i < 20000; i++) {
        double v = some_double(&state), read = 0;
        char expected[400];
        PX_AUTO(px_writer) w;
        px_reader r;

        snprintf(expected, sizeof(expected), "%f", v);
        px_writer_init(&w, px_codec_default);
        px_pack_bare(&w, &v, PMIX_DOUBLE);
        px_reader_init(&r, w.codec, w.buf.data, w.buf.len);
        ok(px_unpack_bare(&r, &read, PMIX_DOUBLE));
        ck_assert_uint_eq(w.buf.len, strlen(expected) + 2);
        ck_assert_str_eq((char *)w.buf.data + 1, expected);
        ck_assert(read == strtod(expected, NULL));
        ck_assert(signbit(read) == signbit(v));
    }
}

PX_TEST(what_only_looks_like_a_short_number_is_refused)
{
    static const char *const bad[] = {"02 04 \"-\" 00", "02 04 \".\" 00",
                                      "02 0a \"1.5.\" 00", "02 08 \"1-5\" 00"};
    double v;

    for (size_t i = 0; i < PX_COUNT(bad); i++)
        fails(read_one(bad[i], &v, PMIX_DOUBLE), UNPACK_FAILURE);
    ok(read_one("02 06 \".5\" 00", &v, PMIX_DOUBLE));
    ck_assert(v == 0.5);
}

PX_TEST_MAIN("wire/text", NULL, NULL)
