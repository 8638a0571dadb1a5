/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts and tags of operations, and what a failed one leaves: the reader where it stood. */
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

static px_buf message;
static px_reader r;

static void begin(const char *dialect, bool described, const char *text)
{
    px_buf_cleanup(&message);
    message = bytes_of(text);
    px_reader_init(&r, codec_of(dialect, described), message.data, message.len);
}

static void teardown(void)
{
    px_buf_cleanup(&message);
}

PX_TEST(reads_up_to_as_many_values_as_there_is_room_for)
{
    uint32_t v[4] = {9, 9, 9, 9};
    int32_t n = 4;

    begin("v41", false, "06 01 02 ac 02");

    ok(px_unpack(&r, v, &n, PMIX_UINT32));
    ck_assert_int_eq(n, 3);
    ck_assert_uint_eq(v[2], 300);
    ck_assert_uint_eq(v[3], 9);
    ck_assert(px_reader_done(&r));
}

PX_TEST(refuses_more_values_than_there_is_room_for)
{
    uint32_t v[2];
    int32_t n = 2;

    begin("v41", false, "06 01 02 ac 02");

    fails(px_unpack(&r, v, &n, PMIX_UINT32), UNPACK_INADEQUATE_SPACE);
    ck_assert_ptr_eq(r.pos, message.data);
    fails(px_unpack1(&r, v, PMIX_UINT32), UNPACK_INADEQUATE_SPACE);
}

PX_TEST(accepts_an_operation_of_no_values_except_where_one_is_needed)
{
    uint32_t v;
    int32_t n = 1;

    begin("v41", false, "00");
    fails(px_unpack1(&r, &v, PMIX_UINT32), UNPACK_FAILURE);
    ck_assert_ptr_eq(r.pos, message.data);
    ok(px_unpack(&r, &v, &n, PMIX_UINT32));
    ck_assert_int_eq(n, 0);
}

PX_TEST(refuses_a_negative_count)
{
    uint32_t v;
    int32_t n = 1;

    begin("v41", false, "01 01");
    fails(px_unpack(&r, &v, &n, PMIX_UINT32), UNPACK_FAILURE);
    begin("v3", false, "ff ff ff ff 00 00 00 00");
    fails(px_unpack1(&r, &v, PMIX_UINT32), UNPACK_FAILURE);
}

PX_TEST(tells_the_end_of_the_message)
{
    uint8_t op;

    begin("v41", false, "");

    ck_assert(px_reader_done(&r));
    fails(px_unpack1(&r, &op, PMIX_COMMAND), UNPACK_READ_PAST_END_OF_BUFFER);
    px_reader_init(&r, px_codec_default, NULL, 0);
    ck_assert(px_reader_done(&r));
    fails(px_unpack1(&r, &op, PMIX_COMMAND), UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(a_wrong_tag_is_a_mismatch)
{
    uint8_t op;

    begin("v41", true, "09 02 23 00"); /* another type than asked for */
    fails(px_unpack1(&r, &op, PMIX_COMMAND), PACK_MISMATCH);
    ck_assert_ptr_eq(r.pos, message.data);
    begin("v41", true, "0a 02 22 00"); /* a count that is no INT32 */
    fails(px_unpack1(&r, &op, PMIX_COMMAND), PACK_MISMATCH);
    begin("v3", true, "00 09 00 00 00 01 00 23 00");
    fails(px_unpack1(&r, &op, PMIX_COMMAND), PACK_MISMATCH);
}

PX_TEST(an_array_has_exactly_the_announced_number)
{
    void *array;

    begin("v41", false, "06 01 02 ac 02");
    fails(px_unpack_array(&r, &array, 2, PMIX_UINT32), UNPACK_INADEQUATE_SPACE);
    fails(px_unpack_array(&r, &array, 4, PMIX_UINT32), UNPACK_FAILURE);
    ck_assert_ptr_null(array);
    ok(px_unpack_array(&r, &array, 3, PMIX_UINT32));
    ck_assert_uint_eq(((uint32_t *)array)[2], 300);
    ck_assert(px_reader_done(&r));
    free(array);
}

PX_TEST(an_operation_of_no_type_is_refused)
{
    void *array;
    int32_t n = 1;

    begin("v41", false, "02 00");
    fails(px_unpack_array(&r, &array, 1, PMIX_UNDEF), UNKNOWN_DATA_TYPE);
    fails(px_unpack(&r, &array, &n, PMIX_UNDEF), UNKNOWN_DATA_TYPE);
}

PX_TEST(an_array_of_none_reads_nothing)
{
    void *array = &array;

    begin("v41", false, "06 01 02 ac 02");
    ok(px_unpack_array(&r, &array, 0, PMIX_UINT32));
    ck_assert_ptr_null(array);
    ck_assert_ptr_eq(r.pos, message.data);
}

PX_TEST(bare_values_have_no_count)
{
    pmix_proc_t proc;

    begin("v41", true, "06 6e 73 00 03 00");
    ok(px_unpack_bare(&r, &proc, PMIX_PROC));
    ck_assert_str_eq(proc.nspace, "ns");
    ck_assert_uint_eq(proc.rank, 3);
    const uint8_t *at = r.pos;
    fails(px_unpack_bare(&r, &proc, PMIX_PROC), UNPACK_READ_PAST_END_OF_BUFFER);
    ck_assert_ptr_eq(r.pos, at);
}

PX_TEST_MAIN("wire/unpack_op", NULL, teardown)
