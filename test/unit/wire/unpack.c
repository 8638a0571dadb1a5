/* SPDX-License-Identifier: BSD-3-Clause */
/* Hostile bytes: each of these once brought a decoder down somewhere. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "core/wire/ops.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

static union {
    pmix_app_t app;
    pmix_info_t info;
    pmix_value_t value;
    pmix_data_array_t darray;
    pmix_query_t query;
    pmix_coord_t coord;
    pmix_byte_object_t bo;
    char *string;
    uint64_t number;
} dst;

/* 2^40 and the largest 64 bits, flexible */
#define N_2_40 "80 80 80 80 80 20"
#define N_2_64 "ff ff ff ff ff ff ff ff ff"

PX_TEST(a_negative_length_is_refused)
{
    fails(read_text("v41", "02 01 61 00", &dst, PMIX_STRING), UNPACK_FAILURE);
    fails(read_text("v3", "00 00 00 01 ff ff ff ff 61 00", &dst, PMIX_STRING),
          UNPACK_FAILURE);
    fails(read_text("v41", "02 02 00 01 00 02 00 00 00", &dst, PMIX_APP),
          UNPACK_FAILURE);
    fails(read_text("v41", "02 03 00", &dst, PMIX_QUERY), UNPACK_FAILURE);
}

PX_TEST(a_count_of_2_to_the_40_allocates_nothing)
{
    static const struct {
        const char *bytes;
        pmix_data_type_t type;
    } rows[] = {
        {"02 0e " N_2_40 " 01 02", PMIX_DATA_ARRAY},
        {"02 18 " N_2_40 " 00 00 00", PMIX_DATA_ARRAY},
        {"02 02 " N_2_40 " 00 00", PMIX_DATA_ARRAY},
        {"02 01 " N_2_40 " 01 02", PMIX_COORD},
        {"02 00 " N_2_40 " 00 00", PMIX_QUERY},
        {"02 " N_2_40, PMIX_BYTE_OBJECT},
        {"02 27 0e " N_2_40 " 00", PMIX_VALUE},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_buf) b = bytes_of(rows[i].bytes);

        px_alloc_fail_at(0);
        pmix_status_t rc = read_bytes("v41", &b, &dst, rows[i].type);
        px_alloc_fail_end();
        fails(rc, UNPACK_READ_PAST_END_OF_BUFFER);
        ck_assert_uint_le(px_alloc_count(), 1); /* the data array object itself */
    }
}

PX_TEST(a_count_of_the_largest_size_is_refused)
{
    fails(read_text("v41", "02 0e " N_2_64 " 01", &dst, PMIX_DATA_ARRAY),
          UNPACK_READ_PAST_END_OF_BUFFER);
    fails(read_text("v41", "02 18 " N_2_64 " 01", &dst, PMIX_DATA_ARRAY),
          UNPACK_READ_PAST_END_OF_BUFFER);
    fails(read_text("v41", "02 " N_2_64 " 01", &dst, PMIX_BYTE_OBJECT),
          UNPACK_READ_PAST_END_OF_BUFFER);
    fails(read_text("v41", "02 01 " N_2_64 " 01", &dst, PMIX_COORD),
          UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(a_count_that_the_rest_cannot_hold_is_refused_before_reading_it)
{
    /* 3 infos need 9 bytes at least */
    fails(read_text("v41", "02 18 03 02 00 00 00 02 00 00 00", &dst, PMIX_DATA_ARRAY),
          UNPACK_READ_PAST_END_OF_BUFFER);
    /* 3 doubles likewise */
    fails(read_text("v41", "02 11 03 04 31 00 04 31 00 04 31", &dst, PMIX_DATA_ARRAY),
          UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(a_message_of_many_tiny_objects_is_refused_in_time)
{
    /* nothing but empty infos: three bytes each, and half a kilobyte in memory */
    enum { N = 4000, BUDGET_B = N * sizeof(pmix_info_t) };
    PX_AUTO(px_writer) w;
    pmix_info_t *info = calloc(N, sizeof(*info));
    void *array;

    px_writer_init(&w, px_codec_default);
    px_pack(&w, info, N, PMIX_INFO);
    free(info);
    for (size_t over = 0; over < 2; over++) {
        px_reader r;

        px_reader_init(&r, w.codec, w.buf.data, w.buf.len);
        ck_assert_uint_eq(r.budget, PX_MAX_DECODED_B);
        r.budget = BUDGET_B - over;
        ck_assert_int_eq(px_unpack_array(&r, &array, N, PMIX_INFO),
                         over ? PMIX_ERR_UNPACK_FAILURE : PMIX_SUCCESS);
        px_type_free_array(PMIX_INFO, array, N);
    }
}

/* `bytes` of nested arrays: each level is type DATA_ARRAY, size 1. */
static px_buf nest(size_t bytes)
{
    px_buf b = {0};
    const uint8_t level[] = {PMIX_DATA_ARRAY, 1};

    px_buf_add(&b, "\x02", 1);
    while (b.len < bytes)
        px_buf_add(&b, level, sizeof(level));
    return b;
}

PX_TEST(nesting_of_110_KB_is_refused)
{
    PX_AUTO(px_buf) b = nest(110 * 1024);

    fails(read_bytes("v41", &b, &dst, PMIX_DATA_ARRAY), UNPACK_FAILURE);
}

PX_TEST(nesting_is_accepted_up_to_the_limit)
{
    for (size_t over = 0; over < 2; over++) {
        PX_AUTO(px_buf) b = nest(1 + 2 * (PX_MAX_DEPTH + over));

        px_buf_add(&b, "\0\0", 2);
        pmix_status_t rc = read_bytes("v41", &b, &dst, PMIX_DATA_ARRAY);
        ck_assert_int_eq(rc, over ? PMIX_ERR_UNPACK_FAILURE : PMIX_SUCCESS);
        if (!rc)
            px_type_destruct(PMIX_DATA_ARRAY, &dst);
    }
}

PX_TEST(nesting_through_infos_is_limited_too)
{
    PX_AUTO(px_buf) b = bytes_of("02");
    /* array of one info "" whose value is an array of one info ... */
    const uint8_t level[] = {PMIX_DATA_ARRAY, PMIX_INFO, 1, 0, 0};

    for (size_t i = 0; i < 10000; i++)
        px_buf_add(&b, level, sizeof(level));

    fails(read_bytes("v41", &b, &dst, PMIX_VALUE), UNPACK_FAILURE);
}

PX_TEST(a_NULL_string_inside_a_list_is_refused)
{
    fails(read_text("v41", "02 02 00 04 02 00 00 00 00 00 00", &dst, PMIX_APP),
          UNPACK_FAILURE);
    fails(read_text("v41", "02 04 02 00 00 00", &dst, PMIX_QUERY), UNPACK_FAILURE);
}

PX_TEST(a_NULL_object_is_an_empty_array)
{
    /* with and without its size */
    ok(read_text("v41", "02 27 00 00", &dst, PMIX_VALUE));
    ck_assert_int_eq(dst.value.type, PMIX_DATA_ARRAY);
    ck_assert_uint_eq(dst.value.data.darray->size, 0);
    ck_assert_ptr_null(dst.value.data.darray->array);
    px_type_destruct(PMIX_VALUE, &dst);

    ok(read_text("v41", "02 27 00", &dst, PMIX_VALUE));
    px_type_destruct(PMIX_VALUE, &dst);

    ok(read_text("v3", "00 00 00 01 00 27 00 00 00 0f 00 00 00 00 00 00 00 00", &dst,
                 PMIX_VALUE));
    px_type_destruct(PMIX_VALUE, &dst);
}

PX_TEST(what_follows_an_array_of_no_type_is_read_right_in_both_forms)
{
    static const char *const forms[] = {"04 02 00 00 27 00 00 02 00 00 0e 07",
                                        "04 02 00 00 27 00 02 00 00 0e 07"};

    for (size_t i = 0; i < PX_COUNT(forms); i++) {
        PX_AUTO(px_buf) b = bytes_of(forms[i]);
        pmix_info_t info[2];
        int32_t n = 2;
        px_reader r;

        px_reader_init(&r, px_codec_default, b.data, b.len);
        ok(px_unpack(&r, info, &n, PMIX_INFO));
        ck_assert(px_reader_done(&r));
        ck_assert_uint_eq(info[1].value.data.uint32, 7);
        px_type_destruct(PMIX_INFO, &info[0]);
    }
}

PX_TEST(a_type_that_is_no_value_is_refused_inside_a_value)
{
    fails(read_text("v41", "02 18 02 00 00 00", &dst, PMIX_VALUE), UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 15 00", &dst, PMIX_VALUE), UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 22 00", &dst, PMIX_VALUE), UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 1a 01 00", &dst, PMIX_VALUE), UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 f4 03 00", &dst, PMIX_VALUE), UNKNOWN_DATA_TYPE);
}

PX_TEST(a_type_unknown_to_the_dialect_is_refused)
{
    fails(
        read_text("v3", "00 00 00 01 00 39 00 00 00 00 00 00 00 01", &dst, PMIX_VALUE),
        UNKNOWN_DATA_TYPE);
    fails(read_text("v3", "00 00 00 01 00 39 00 0f 00 00 00 00 00 00 00 01", &dst,
                    PMIX_DATA_ARRAY),
          UNKNOWN_DATA_TYPE);
    fails(read_text("v3", "00 00 00 01 00 00 00 00 00 00 00 01", &dst, PMIX_DEVTYPE),
          UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 f3 03 00", &dst, PMIX_DATA_ARRAY), UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 02 00 02 00 04", &dst, PMIX_DEVICE), UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 00", &dst, 499), UNKNOWN_DATA_TYPE);
    fails(read_text("v41", "02 00", &dst, PMIX_UNDEF), UNKNOWN_DATA_TYPE);
}

PX_TEST(an_info_that_was_read_owns_its_value)
{
    ok(read_text("v41", "02 04 6b 00 10 03 06 68 69 00", &dst, PMIX_INFO));
    ck_assert_uint_eq(dst.info.flags & PMIX_INFO_PERSISTENT, 0);
    px_type_destruct(PMIX_INFO, &dst); /* or a sanitizer sees the leak */
}

PX_TEST(a_late_error_in_a_large_array_leaves_nothing_behind)
{
    PX_AUTO(px_writer) w;
    enum { N = 3000 };
    pmix_info_t *info = calloc(N, sizeof(*info));
    pmix_data_array_t array = {PMIX_INFO, N, info};

    for (size_t i = 0; i < N; i++) {
        strcpy(info[i].key, "key");
        info[i].value.type = PMIX_STRING;
        info[i].value.data.string = (char *)"text";
    }
    px_writer_init(&w, px_codec_default);
    px_pack(&w, &array, 1, PMIX_DATA_ARRAY);
    free(info);
    w.buf.data[w.buf.len - 1] = 'x'; /* the last string does not end */

    fails(read_bytes("v41", &w.buf, &dst, PMIX_DATA_ARRAY), UNPACK_FAILURE);

    w.buf.data[w.buf.len - 1] = '\0';
    ok(read_bytes("v41", &w.buf, &dst, PMIX_DATA_ARRAY));
    ck_assert_str_eq(((pmix_info_t *)dst.darray.array)[N - 1].value.data.string,
                     "text");
    px_type_destruct(PMIX_DATA_ARRAY, &dst);
}

PX_TEST_MAIN("wire/unpack", NULL, NULL)
