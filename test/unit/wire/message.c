/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of payloads as recorded from live traffic; and operations: counts, tags, and
 * the unchanged reader after a failure. */
#include "core/wire/number.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

static px_writer w;
static px_buf message;
static px_reader r;

static void begin_writing(const char *dialect, bool described)
{
    px_writer_cleanup(&w);
    w = writer_in(codec_of(dialect, described));
}

static void begin_reading(const char *dialect, bool described, const char *text)
{
    px_buf_cleanup(&message);
    message = bytes_of(text);
    r = reader_of(codec_of(dialect, described), &message);
}

static void teardown(void)
{
    px_writer_cleanup(&w);
    px_buf_cleanup(&message);
}

static const pmix_proc_t everyone = {"job-ns", PMIX_RANK_WILDCARD};
static const pmix_info_t collect = {.key = "pmix.collect",
                                    .value = {.type = PMIX_BOOL, .data.flag = true}};

#define V3_FENCE                                               \
    "00 00 00 01 03"                                           \
    "00 00 00 01 00 0f 00 00 00 00 00 00 00 01"                \
    "00 00 00 01 00 00 00 07 6a 6f 62 2d 6e 73 00 ff ff ff fe" \
    "00 00 00 01 00 0f 00 00 00 00 00 00 00 01"                \
    "00 00 00 01 00 00 00 0d \"pmix.collect\" 00 00 00 00 00 00 01 01"

PX_TEST(a_fence_of_3_2_is_written_and_read_as_recorded)
{
    pmix_proc_t *procs;
    pmix_info_t *info;
    size_t n_procs, n_info;
    uint8_t op;

    begin_writing("v3", false);
    px_pack_op(&w, 3);
    px_pack_procs(&w, &everyone, 1);
    px_pack_infos(&w, &collect, 1);
    assert_wrote(&w, V3_FENCE);

    begin_reading("v3", false, V3_FENCE);
    ok(px_unpack_u8(&r, &op, PMIX_COMMAND));
    ok(px_unpack_procs(&r, &procs, &n_procs));
    ok(px_unpack_infos(&r, &info, &n_info));
    ck_assert(px_reader_done(&r));
    ck_assert_uint_eq(n_procs, 1);
    ck_assert(px_proc_same(procs, &everyone));
    ck_assert_uint_eq(n_info, 1);
    ck_assert(px_info_flag(info, n_info, "pmix.collect"));
    free(procs);
    px_type_free_array(PMIX_INFO, info, n_info);
}

PX_TEST(empty_lists_are_a_size_alone)
{
    pmix_info_t *info = (pmix_info_t *)&w;
    size_t n = 9;

    begin_writing("v41", false);
    px_pack_infos(&w, NULL, 0);
    px_pack_procs(&w, NULL, 0);
    assert_wrote(&w, "02 00 02 00");
    begin_reading("v41", false, "02 00 02 00");
    ok(px_unpack_infos(&r, &info, &n));
    ck_assert_ptr_null(info);
    ck_assert_uint_eq(n, 0);
}

PX_TEST(a_list_must_have_as_many_as_its_size)
{
    pmix_info_t *info;
    size_t n;

    begin_reading("v41", false, "02 02 02 04 6b 00 00 0e 07"); /* states 2, holds one */
    fails(px_unpack_infos(&r, &info, &n), UNPACK_FAILURE);
    ck_assert_ptr_eq(r.pos, message.data);
    begin_reading("v41", false, "02 01");
    fails(px_unpack_infos(&r, &info, &n), UNPACK_READ_PAST_END_OF_BUFFER);
    begin_reading("v41", false, "02 ff ff ff ff ff ff ff ff ff 02 00");
    ck_assert_int_lt(px_unpack_infos(&r, &info, &n), 0);
}

PX_TEST(an_event_notification_is_written_as_recorded)
{
    pmix_proc_t source = {"job-ns", 0};
    pmix_info_t internal = {.key = "pmix.srvr.internal.notify",
                            .value = {.type = PMIX_BOOL, .data.flag = true}};

    begin_writing("v41", false);
    px_pack_op(&w, 12);
    px_pack_status(&w, -7);
    px_pack(&w, &source, 1, PMIX_PROC);
    px_pack_infos(&w, &internal, 1);
    px_pack_u8(&w, 3, PMIX_DATA_RANGE);
    assert_wrote(&w, "02 0c 02 0d 02 0e \"job-ns\" 00 00 02 01"
                     "02 34 \"pmix.srvr.internal.notify\" 00 00 01 01 02 03");
}

/* ---- key-value pairs ------------------------------------------------------------------------ */

PX_TEST(a_key_value_pair_has_the_recorded_forms)
{
    static const struct {
        const char *dialect, *key;
        pmix_value_t value;
        const char *bytes;
    } rows[] = {
        {"v3",
         "key2",
         {.type = PMIX_UINT32, .data.uint32 = 77},
         "00 00 00 01 00 00 00 05 6b 65 79 32 00 00 0e 00 00 00 4d"},
        {"v41",
         "key1",
         {.type = PMIX_STRING, .data.string = (char *)"val"},
         "02 0a \"key1\" 00 03 08 \"val\" 00"},
        {"v41",
         "pmix.job.size",
         {.type = PMIX_UINT32, .data.uint32 = 2},
         "02 1c \"pmix.job.size\" 00 0e 02"},
        {"v41",
         "b",
         {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)"\0\1\2", 3}},
         "02 04 62 00 1b 03 00 01 02"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_kval kv;
        pmix_value_t value;
        const char *key;
        bool is_view;

        begin_writing(rows[i].dialect, false);
        px_pack_kval(&w, rows[i].key, &rows[i].value);
        assert_wrote(&w, rows[i].bytes);
        begin_reading(rows[i].dialect, false, rows[i].bytes);
        ok(px_unpack_kval(&r, &kv));
        ck_assert_str_eq(kv.key, rows[i].key);
        ck_assert_int_eq(px_type_compare(PMIX_VALUE, &kv.value, &rows[i].value), 0);
        px_kval_fini(&kv);
        ck_assert_ptr_null(kv.key);

        begin_reading(rows[i].dialect, false, rows[i].bytes);
        ok(px_view_kval(&r, &key, &value, &is_view));
        ck_assert(px_reader_done(&r));
        ck_assert(key > (char *)message.data &&
                  key < (char *)message.data + message.len);
        ck_assert_str_eq(key, rows[i].key);
        ck_assert_int_eq(px_type_compare(PMIX_VALUE, &value, &rows[i].value), 0);
        ck_assert_int_eq(
            is_view, value.type != PMIX_UINT32); /* such a value needs no destructor */
    }
}

PX_TEST(a_list_of_pairs_ends_with_the_message)
{
    struct px_kval kv;
    int n = 0;

    begin_reading("v41", false, "02 04 61 00 0e 01 02 04 62 00 0e 02");
    while (!px_reader_done(&r)) {
        ok(px_unpack_kval(&r, &kv));
        ck_assert_uint_eq(kv.value.data.uint32, ++n);
        px_kval_fini(&kv);
    }
    ck_assert_int_eq(n, 2);
    fails(px_unpack_kval(&r, &kv), UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(a_pair_without_a_usable_key_is_refused)
{
    struct px_kval kv;
    char key[PMIX_MAX_KEYLEN + 2];
    pmix_value_t value = {.type = PMIX_BOOL};
    const char *text;
    bool is_view;

    begin_reading("v41", false, "02 00 0e 07");
    fails(px_unpack_kval(&r, &kv), UNPACK_FAILURE);
    fails(px_view_kval(&r, &text, &value, &is_view), UNPACK_FAILURE);
    ck_assert_ptr_eq(r.pos, message.data);
    begin_reading("v41", false, "02 04 62 00 1b 03 00 01"); /* one byte is missing */
    fails(px_view_kval(&r, &text, &value, &is_view), UNPACK_READ_PAST_END_OF_BUFFER);
    ck_assert_ptr_eq(r.pos, message.data);

    memset(key, 'k', sizeof(key));
    key[sizeof(key) - 1] = '\0';
    begin_writing("v41", false);
    px_pack_kval(&w, key, &value);
    r = reader_of(w.codec, &w.buf);
    fails(px_unpack_kval(&r, &kv), UNPACK_FAILURE);

    begin_writing("v41", false);
    px_pack_kval(&w, NULL, &value);
    fails(w.status, BAD_PARAM);
}

PX_TEST(a_pair_with_a_damaged_value_leaves_nothing)
{
    struct px_kval kv;

    begin_reading("v41", false, "02 04 6b 00 03 08 \"vals\"");
    fails(px_unpack_kval(&r, &kv), UNPACK_FAILURE);
    ck_assert_ptr_null(kv.key);
    ck_assert_ptr_eq(r.pos, message.data);
}

/* ---- buffers in buffers ---------------------------------------------------------------------- */

PX_TEST(a_commit_of_two_scopes_is_written_as_recorded)
{
    pmix_value_t value = {.type = PMIX_STRING, .data.string = (char *)"val"};

    begin_writing("v41", false);
    px_pack_op(&w, 2);
    px_pack_u8(&w, PMIX_LOCAL, PMIX_SCOPE);
    const struct px_pack_nest body = px_pack_buffer_begin(&w);
    px_pack_kval(&w, "key1", &value);
    px_pack_buffer_end(&w, body);
    assert_wrote(&w, "02 02 02 01 02 01 0d 02 0a \"key1\" 00 03 08 \"val\" 00");
}

PX_TEST(a_buffer_of_3_2_has_the_recorded_head)
{
    const uint8_t zeros[42] = {0};

    begin_writing("v3", false);
    const struct px_pack_nest body = px_pack_buffer_begin(&w);
    ok(px_buf_add(&w.buf, zeros, sizeof(zeros)));
    px_pack_buffer_end(&w, body);
    ck_assert_mem_eq(w.buf.data + 4, "\x01\x00\x0f\x00\x00\x00\x00\x00\x00\x00\x2a",
                     11);
    ck_assert_uint_eq(w.buf.len, 4 + 11 + 42);
}

/* px_pack_buffer_end writes the size of the contents, which takes one to ten bytes. */
PX_TEST_LOOP(a_buffer_keeps_its_contents, 6 * 2 * 3)
{
    static const size_t sizes[] = {0, 100, 20000};
    static char bytes[20000];
    const size_t n = sizes[_i % 3];
    px_reader inside;

    memset(bytes, 'b', n);
    begin_writing(all_dialects[_i / 6], _i / 3 % 2);
    const struct px_pack_nest nest = px_pack_buffer_begin(&w);
    ok(px_buf_add(&w.buf, bytes, n));
    px_pack_buffer_end(&w, nest);
    ok(w.status);
    r = reader_of(w.codec, &w.buf);
    ok(px_unpack_view(&r, &inside, PMIX_BUFFER));
    ck_assert(px_reader_done(&r));
    ck_assert_uint_eq(px_left(&inside), n);
    ck_assert_mem_eq(inside.pos, bytes, n);
}

PX_TEST(a_buffer_is_read_in_its_own_form)
{
    px_reader inside;
    uint8_t op;

    /* described inside undescribed, and vice versa */
    begin_reading("v41", false, "02 02 04 09 02 22 05");
    ok(px_unpack_view(&r, &inside, PMIX_BUFFER));
    ck_assert(px_reader_done(&r));
    ok(px_unpack_u8(&inside, &op, PMIX_COMMAND));
    ck_assert_uint_eq(op, 5);
    ck_assert(px_reader_done(&inside));

    begin_reading("v41", true, "09 02 1a 01 02 02 05");
    ok(px_unpack_view(&r, &inside, PMIX_BUFFER));
    ok(px_unpack_u8(&inside, &op, PMIX_COMMAND));
}

PX_TEST(a_buffer_of_an_unknown_form_is_refused)
{
    px_reader inside;

    begin_reading("v41", false, "02 03 01 00");
    fails(px_unpack_view(&r, &inside, PMIX_BUFFER), UNPACK_FAILURE);
    ck_assert_ptr_eq(r.pos, message.data);
}

PX_TEST(a_view_copies_nothing_and_stays_inside)
{
    px_reader inside;

    begin_reading("v41", false, "02 03 02 0e 07 02 0e");
    ok(px_unpack_view(&r, &inside, PMIX_BYTE_OBJECT));
    ck_assert_ptr_eq(inside.pos, message.data + 2);
    ck_assert_ptr_eq(inside.end, message.data + 5);
    ck_assert_ptr_eq(r.pos, message.data + 5);

    begin_reading("v41", false, "02 08 02 0e 07");
    fails(px_unpack_view(&r, &inside, PMIX_BYTE_OBJECT),
          UNPACK_READ_PAST_END_OF_BUFFER);
    begin_reading("v41", false, "04 01 00 01 00");
    fails(px_unpack_view(&r, &inside, PMIX_BYTE_OBJECT), UNPACK_INADEQUATE_SPACE);
    fails(px_unpack_view(&r, &inside, PMIX_STRING), BAD_PARAM);
}

PX_TEST(a_fence_contribution_is_read_as_recorded)
{
    px_reader server, rank;
    struct px_kval kv;
    pmix_rank_t rel;
    uint8_t info;

    begin_reading("v41", false,
                  "02 13 02 01 02 0f 02 00 02 0a \"key1\" 00 03 08 \"val\" 00");

    ok(px_unpack_view(&r, &server, PMIX_BYTE_OBJECT));
    ok(px_unpack_u8(&server, &info, PMIX_BYTE));
    ck_assert_uint_eq(info, 1);
    ok(px_unpack_view(&server, &rank, PMIX_BYTE_OBJECT));
    ok(px_unpack_rank(&rank, &rel));
    ok(px_unpack_kval(&rank, &kv));
    ck_assert_str_eq(kv.value.data.string, "val");
    ck_assert(px_reader_done(&rank) && px_reader_done(&server) && px_reader_done(&r));
    px_kval_fini(&kv);
}

/* ---- operations ------------------------------------------------------------------------------ */

static const struct {
    const char *dialect;
    bool described;
    pmix_data_type_t type;
    const char *bytes;
    pmix_status_t status;
} refused[] = {
    /* more than one, none, fewer than asked for; an empty message */
    {"v41", false, PMIX_UINT32, "06 01 02 ac 02", PMIX_ERR_UNPACK_INADEQUATE_SPACE},
    {"v41", false, PMIX_UINT32, "00", PMIX_ERR_UNPACK_FAILURE},
    {"v41", false, PMIX_UINT32, "01 01", PMIX_ERR_UNPACK_FAILURE},
    {"v3", false, PMIX_UINT32, "ff ff ff ff 00 00 00 00", PMIX_ERR_UNPACK_FAILURE},
    {"v41", false, PMIX_COMMAND, "", PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER},
    /* another type than requested, and a count whose tag is not INT32 */
    {"v41", true, PMIX_COMMAND, "09 02 23 00", PMIX_ERR_PACK_MISMATCH},
    {"v41", true, PMIX_COMMAND, "0a 02 22 00", PMIX_ERR_PACK_MISMATCH},
    {"v3", true, PMIX_COMMAND, "00 09 00 00 00 01 00 23 00", PMIX_ERR_PACK_MISMATCH},
    {"v41", false, PMIX_UNDEF, "02 00", PMIX_ERR_UNKNOWN_DATA_TYPE},
};

PX_TEST(an_operation_of_one_value_has_one_of_the_type_asked_for)
{
    uint32_t v[2];
    int32_t n = 1;

    for (size_t i = 0; i < PX_COUNT(refused); i++) {
        begin_reading(refused[i].dialect, refused[i].described, refused[i].bytes);
        ck_assert_msg(px_unpack1(&r, v, refused[i].type) == refused[i].status,
                      "type %u, %s, \"%s\"", refused[i].type, refused[i].dialect,
                      refused[i].bytes);
        ck_assert_ptr_eq(r.pos, message.data);
    }
    begin_reading("v41", false, "00"); /* no value is enough here */
    ok(px_unpack(&r, v, &n, PMIX_UINT32));
    ck_assert_int_eq(n, 0);
    px_reader_init(&r, px_codec_default, NULL, 0);
    ck_assert(px_reader_done(&r));
    fails(px_unpack1(&r, v, PMIX_COMMAND), UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(an_array_has_exactly_the_announced_number)
{
    void *array;

    begin_reading("v41", false, "06 01 02 ac 02");
    fails(px_unpack_array(&r, &array, 2, PMIX_UINT32), UNPACK_INADEQUATE_SPACE);
    fails(px_unpack_array(&r, &array, 4, PMIX_UINT32), UNPACK_FAILURE);
    ck_assert_ptr_null(array);
    fails(px_unpack_array(&r, &array, 1, PMIX_UNDEF), UNKNOWN_DATA_TYPE);
    array = &array;
    ok(px_unpack_array(&r, &array, 0, PMIX_UINT32)); /* reads nothing */
    ck_assert_ptr_null(array);
    ck_assert_ptr_eq(r.pos, message.data);
    ok(px_unpack_array(&r, &array, 3, PMIX_UINT32));
    ck_assert_uint_eq(((uint32_t *)array)[2], 300);
    ck_assert(px_reader_done(&r));
    free(array);
}

PX_TEST(bare_values_have_no_count)
{
    pmix_proc_t proc;

    begin_reading("v41", true, "06 6e 73 00 03 00");
    ok(px_unpack_bare(&r, &proc, PMIX_PROC));
    ck_assert_str_eq(proc.nspace, "ns");
    ck_assert_uint_eq(proc.rank, 3);
    const uint8_t *at = r.pos;
    fails(px_unpack_bare(&r, &proc, PMIX_PROC), UNPACK_READ_PAST_END_OF_BUFFER);
    ck_assert_ptr_eq(r.pos, at);
}

PX_TEST_MAIN("wire/message", NULL, teardown)
