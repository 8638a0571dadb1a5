/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers read: limits, tags of foreign widths, and everything that must not be believed. */
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <limits.h>
#include <string.h>

#define READS(dialect, text, TYPE, c_type, expected)    \
    do {                                                \
        c_type v_ = 0;                                  \
        ok(read_text(dialect, text, &v_, PMIX_##TYPE)); \
        ck_assert(v_ == (c_type)(expected));            \
    } while (0)

#define REFUSES(dialect, text, TYPE, status)                                  \
    do {                                                                      \
        uint64_t v_ = 0;                                                      \
        ck_assert_int_eq(read_text(dialect, text, &v_, PMIX_##TYPE), status); \
    } while (0)

PX_TEST(reads_the_ends_of_each_range)
{
    READS("v41", "02 ff ff 03", INT16, int16_t, INT16_MIN);
    READS("v41", "02 fe ff 03", INT16, int16_t, INT16_MAX);
    READS("v41", "02 ff ff ff ff 0f", INT, int, INT_MIN);
    READS("v41", "02 fe ff ff ff 0f", INT, int, INT_MAX);
    READS("v41", "02 ff ff 03", UINT16, uint16_t, UINT16_MAX);
    READS("v41", "02 ff ff ff ff 0f", UINT32, uint32_t, UINT32_MAX);
    READS("v41", "02 ff ff ff ff ff ff ff ff ff", UINT64, uint64_t, UINT64_MAX);
    READS("v41", "02 fe ff ff ff ff ff ff ff ff", INT64, int64_t, INT64_MAX);
    READS("v41", "02 01", UINT, unsigned, UINT_MAX);
}

PX_TEST(refuses_a_number_too_large_for_its_type)
{
    REFUSES("v41", "02 80 80 04", INT16, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 81 80 04", INT16, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 80 80 80 80 10", INT32, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 81 80 80 80 10", INT32, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 80 80 04", UINT16, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 80 80 80 80 10", UINT32, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 0e 80 80 80 80 10", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 ff ff ff ff ff ff ff ff ff", INT, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 80 80 04", DATA_TYPE, PMIX_ERR_UNPACK_FAILURE);
}

PX_TEST(takes_the_ninth_byte_as_the_last_whatever_its_top_bit)
{
    /* ten bytes of ordinary LEB128: the tenth is no part of the number */
    PX_AUTO(px_buf) b = bytes_of("02 ff ff ff ff ff ff ff ff ff 01");
    size_t size;
    px_reader r;

    px_reader_init(&r, px_codec_default, b.data, b.len);

    ok(px_unpack_size(&r, &size));
    ck_assert_uint_eq(size, SIZE_MAX);
    ck_assert_uint_eq((size_t)(r.end - r.pos), 1);
}

PX_TEST(refuses_a_number_that_does_not_end)
{
    REFUSES("v41", "02 80", SIZE, PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    REFUSES("v41", "02 ff ff ff ff ff ff ff ff", SIZE,
            PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    REFUSES("v41", "80", SIZE, PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    REFUSES("v3", "00 00 00 01 00 0f 00 00 00", SIZE,
            PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(accepts_longer_forms_than_needed)
{
    READS("v41", "82 00 81 80 00", SIZE, size_t, 1);
}

PX_TEST(converts_from_the_native_width_of_another_sender)
{
    READS("v3", "00 00 00 01 00 0e 00 00 00 07", SIZE, size_t, 7);
    READS("v3", "00 00 00 01 00 0c 07", SIZE, size_t, 7);
    READS("v3", "00 00 00 01 00 07 07", SIZE, size_t, 7);
    READS("v3", "00 00 00 01 00 08 ff fe", INT, int, -2);
    READS("v3", "00 00 00 01 00 0a ff ff ff ff ff ff ff fe", INT, int, -2);
    READS("v3", "00 00 00 01 00 0e ff ff ff fe", UINT, unsigned, 0xfffffffe);
    READS("v3", "00 00 00 01 00 0f 00 00 00 00 ff ff ff fe", UINT, unsigned,
          0xfffffffe);
    READS("v3", "00 00 00 01 00 09 00 00 10 92", PID, pid_t, 4242);
    READS("v41", "02 09 a4 42", PID, pid_t, 4242);
    READS("v41", "02 0f 92 21", PID, pid_t, 4242);
}

PX_TEST(refuses_a_tagged_number_that_does_not_fit)
{
    REFUSES("v3", "00 00 00 01 00 09 ff ff ff ff", SIZE, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 07 ff", SIZE, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 0e ff ff ff ff", INT, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 0a 00 00 00 00 80 00 00 00", INT,
            PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 0a ff ff ff ff 7f ff ff ff", INT,
            PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 0f 00 00 00 01 00 00 00 00", UINT,
            PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 0f 00 00 00 01 00 00 00 00", PID,
            PMIX_ERR_UNPACK_FAILURE);
}

PX_TEST(refuses_a_tag_that_is_no_integer)
{
    REFUSES("v41", "02 03 02 00", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 00 00", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 06 02", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 b4 24 02", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 01 00", INT, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 ff ff 00 00 00 00", SIZE, PMIX_ERR_UNPACK_FAILURE);
}

PX_TEST(takes_any_byte_but_zero_as_true)
{
    READS("v41", "02 ff", BOOL, bool, true);
    READS("v41", "02 02", BOOL, bool, true);
    READS("v41", "02 00", BOOL, bool, false);
}

/* Every length a number can have, among others and at the end, in both signs. */
static uint64_t some_number(int i)
{
    uint64_t v = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1) >> (i * 7) % 64;

    return i % 3 ? v : ~v;
}

#define RUN_OF(c_type, TYPE)                                                      \
    do {                                                                          \
        c_type from_[1000], to_[1000];                                            \
        for (int i_ = 0; i_ < 1000; i_++)                                         \
            from_[i_] = (c_type)some_number(i_);                                  \
        for (int32_t n_ = 0; n_ < 1000; n_ = n_ < 70 ? n_ + 1 : n_ + 111) {       \
            PX_AUTO(px_writer) w_;                                                \
            px_reader r_;                                                         \
            int32_t got_ = n_;                                                    \
            px_writer_init(&w_, codec);                                           \
            px_pack(&w_, from_, n_, PMIX_##TYPE);                                 \
            px_reader_init(&r_, codec, w_.buf.data, w_.buf.len);                  \
            ok(px_unpack(&r_, to_, &got_, PMIX_##TYPE));                          \
            ck_assert_int_eq(got_, n_);                                           \
            ck_assert(px_reader_done(&r_));                                       \
            ck_assert_int_eq(memcmp(from_, to_, (size_t)n_ * sizeof(c_type)), 0); \
            if (n_ > 0) {                                                         \
                px_reader_init(&r_, codec, w_.buf.data, w_.buf.len - 1);          \
                ck_assert_int_eq(px_unpack(&r_, to_, &got_, PMIX_##TYPE),         \
                                 PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);        \
            }                                                                     \
        }                                                                         \
    } while (0)

PX_TEST(runs_of_numbers_of_all_lengths_come_back)
{
    static const char *const dialects[] = {"v41", "v3"};

    for (size_t d = 0; d < PX_COUNT(dialects); d++) {
        struct px_codec codec = {px_dialect_find(dialects[d]), false};

        RUN_OF(int16_t, INT16);
        RUN_OF(int32_t, INT32);
        RUN_OF(int64_t, INT64);
        RUN_OF(uint16_t, UINT16);
        RUN_OF(uint32_t, UINT32);
        RUN_OF(uint64_t, UINT64);
        RUN_OF(int, INT);
        RUN_OF(unsigned, UINT);
        RUN_OF(size_t, SIZE);
        RUN_OF(pid_t, PID);
    }
}

PX_TEST(a_number_too_large_is_refused_wherever_it_stands)
{
    uint16_t u16[4];
    uint32_t u32[4];
    PX_AUTO(px_buf) small = bytes_of("08 01 ff ff 03 80 80 04 01 00 00 00 00 00 00");
    PX_AUTO(px_buf) large = bytes_of(
        "08 01 ff ff ff ff 0f 80 80 80 80 10 01 00 00 00 00");
    int32_t n = 4;
    px_reader r;

    px_reader_init(&r, px_codec_default, small.data, small.len);
    fails(px_unpack(&r, u16, &n, PMIX_UINT16), UNPACK_FAILURE);
    px_reader_init(&r, px_codec_default, small.data, small.len);
    fails(px_unpack(&r, u16, &n, PMIX_INT16), UNPACK_FAILURE);
    px_reader_init(&r, px_codec_default, large.data, large.len);
    fails(px_unpack(&r, u32, &n, PMIX_UINT32), UNPACK_FAILURE);
}

PX_TEST_MAIN("wire/number", NULL, NULL)
