/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers read: limits, tags of foreign widths, and everything that must not be believed. */
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <limits.h>
#include <string.h>

#define READS(dialect, text, TYPE, c_type, expected)                                \
    do {                                                                            \
        c_type v_ = 0;                                                              \
        ck_assert_int_eq(read_text(dialect, text, &v_, PMIX_##TYPE), PMIX_SUCCESS); \
        ck_assert(v_ == (c_type)(expected));                                        \
    } while (0)

#define REFUSES(dialect, text, TYPE, status)                                  \
    do {                                                                      \
        uint64_t v_ = 0;                                                      \
        ck_assert_int_eq(read_text(dialect, text, &v_, PMIX_##TYPE), status); \
    } while (0)

START_TEST(reads_the_ends_of_each_range)
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
END_TEST

START_TEST(refuses_a_number_too_large_for_its_type)
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
END_TEST

START_TEST(takes_the_ninth_byte_as_the_last_whatever_its_top_bit)
{
    /* ten bytes of ordinary LEB128: the tenth is no part of the number */
    PX_AUTO(px_buf) b = bytes_of("02 ff ff ff ff ff ff ff ff ff 01");
    size_t size;
    px_reader r;

    px_reader_init(&r, px_codec_default, b.data, b.len);

    ck_assert_int_eq(px_unpack_size(&r, &size), PMIX_SUCCESS);
    ck_assert_uint_eq(size, SIZE_MAX);
    ck_assert_uint_eq((size_t)(r.end - r.pos), 1);
}
END_TEST

START_TEST(refuses_a_number_that_does_not_end)
{
    REFUSES("v41", "02 80", SIZE, PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    REFUSES("v41", "02 ff ff ff ff ff ff ff ff", SIZE,
            PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    REFUSES("v41", "80", SIZE, PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    REFUSES("v3", "00 00 00 01 00 0f 00 00 00", SIZE,
            PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
}
END_TEST

START_TEST(accepts_longer_forms_than_needed)
{
    READS("v41", "82 00 81 80 00", SIZE, size_t, 1);
}
END_TEST

START_TEST(converts_from_the_native_width_of_another_sender)
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
END_TEST

START_TEST(refuses_a_tagged_number_that_does_not_fit)
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
END_TEST

START_TEST(refuses_a_tag_that_is_no_integer)
{
    REFUSES("v41", "02 03 02 00", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 00 00", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 06 02", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v41", "02 b4 24 02", PID, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 00 01 00", INT, PMIX_ERR_UNPACK_FAILURE);
    REFUSES("v3", "00 00 00 01 ff ff 00 00 00 00", SIZE, PMIX_ERR_UNPACK_FAILURE);
}
END_TEST

START_TEST(takes_any_byte_but_zero_as_true)
{
    READS("v41", "02 ff", BOOL, bool, true);
    READS("v41", "02 02", BOOL, bool, true);
    READS("v41", "02 00", BOOL, bool, false);
}
END_TEST

PX_TEST_MAIN("wire/number", reads_the_ends_of_each_range,
             refuses_a_number_too_large_for_its_type,
             takes_the_ninth_byte_as_the_last_whatever_its_top_bit,
             refuses_a_number_that_does_not_end, accepts_longer_forms_than_needed,
             converts_from_the_native_width_of_another_sender,
             refuses_a_tagged_number_that_does_not_fit,
             refuses_a_tag_that_is_no_integer, takes_any_byte_but_zero_as_true)
