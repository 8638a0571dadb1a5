/* SPDX-License-Identifier: BSD-3-Clause */
/* Hostile strings, bytes and addresses. */
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

static union {
    pmix_info_t info;
    pmix_proc_t proc;
    pmix_byte_object_t bo;
    pmix_data_buffer_t dbuf;
    void *ptr;
    char *string;
} dst;

PX_TEST(a_length_beyond_the_buffer_is_refused)
{
    fails(read_text("v41", "02 0e \"hello\" 00", &dst, PMIX_STRING),
          UNPACK_READ_PAST_END_OF_BUFFER);
    fails(read_text("v41", "02 fe ff ff ff 0f \"hello\" 00", &dst, PMIX_STRING),
          UNPACK_READ_PAST_END_OF_BUFFER);
    fails(read_text("v41", "02 04 01 02 03", &dst, PMIX_BYTE_OBJECT),
          UNPACK_READ_PAST_END_OF_BUFFER);
    fails(read_text("v41", "02 04 01 02 03", &dst, PMIX_DATA_BUFFER),
          UNPACK_READ_PAST_END_OF_BUFFER);
    fails(read_text("v3", "00 00 00 01 7f ff ff ff 61 00", &dst, PMIX_STRING),
          UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(an_unterminated_string_is_refused)
{
    fails(read_text("v41", "02 0a \"hello\"", &dst, PMIX_STRING), UNPACK_FAILURE);
    fails(read_text("v41", "02 0a \"hello\" 00", &dst, PMIX_STRING), UNPACK_FAILURE);
    fails(read_text("v41", "02 04 \"ns\" 03", &dst, PMIX_PROC), UNPACK_FAILURE);
    fails(read_text("v41", "02 02 \"k\" 00 0e 07", &dst, PMIX_INFO), UNPACK_FAILURE);
    fails(read_text("v41", "02 \"pmix[n]\"", &dst, PMIX_REGEX),
          UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(a_string_ends_at_its_first_NUL)
{
    ok(read_text("v41", "02 0a \"ab\" 00 \"c\" 00", &dst, PMIX_STRING));
    ck_assert_str_eq(dst.string, "ab");
    free(dst.string);
}

/* A message of one string of n characters, with what follows it. */
static px_buf long_name(const char *head, size_t n, const char *tail)
{
    PX_AUTO(px_writer) w;
    px_buf b = bytes_of(head);
    PX_AUTO(px_buf) end = bytes_of(tail);
    PX_AUTOFREE char *name = malloc(n + 1);
    const char *s = name;

    memset(name, 'n', n);
    name[n] = '\0';
    px_writer_init(&w, px_codec_default);
    px_pack_bare(&w, &s, PMIX_STRING);
    px_buf_add(&b, w.buf.data, w.buf.len);
    px_buf_add(&b, end.data, end.len);
    return b;
}

PX_TEST(a_name_must_fit_its_array)
{
    static const struct {
        size_t n;
        const char *tail;
        pmix_data_type_t type;
        bool fits;
    } rows[] = {
        {PMIX_MAX_NSLEN, "03", PMIX_PROC, true},
        {PMIX_MAX_NSLEN + 1, "03", PMIX_PROC, false},
        {PMIX_MAX_KEYLEN, "00 00", PMIX_INFO, true},
        {PMIX_MAX_KEYLEN + 1, "00 00", PMIX_INFO, false},
        {100000, "00 00", PMIX_INFO, false},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_buf) b = long_name("02", rows[i].n, rows[i].tail);

        ck_assert_int_eq(read_bytes("v41", &b, &dst, rows[i].type),
                         rows[i].fits ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE);
    }
}

PX_TEST(an_address_from_elsewhere_is_never_taken_over)
{
    ok(read_text("v41", "02 ff", &dst, PMIX_POINTER));
    ck_assert_ptr_null(dst.ptr);
}

PX_TEST_MAIN("wire/unpack_leaf", NULL, NULL)
