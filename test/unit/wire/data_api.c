/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Data_*, as a user of the library sees them. */
#include "alloc_fail.h"
#include "core/base/attr.h"
#include "px_test.h"
#include "pmix_common.h"

#include <string.h>

static pmix_data_buffer_t buffer;

static void setup(void)
{
    memset(&buffer, 0, sizeof(buffer));
}

static void teardown(void)
{
    free(buffer.base_ptr);
}

static pmix_status_t pack_u32(uint32_t v)
{
    return PMIx_Data_pack(NULL, &buffer, &v, 1, PMIX_UINT32);
}

static uint32_t unpack_u32(void)
{
    uint32_t v = 0;
    int32_t n = 1;

    ok(PMIx_Data_unpack(NULL, &buffer, &v, &n, PMIX_UINT32));
    ck_assert_int_eq(n, 1);
    return v;
}

/* ---- pack and unpack ------------------------------------------------------------------------ */

PX_TEST(what_is_packed_comes_out_in_order)
{
    char *strings[2] = {(char *)"one", NULL}, *back[2];
    int32_t n = 2;

    ok(pack_u32(300));
    ok(PMIx_Data_pack(NULL, &buffer, strings, 2, PMIX_STRING));
    ck_assert_ptr_eq(buffer.pack_ptr, buffer.base_ptr + buffer.bytes_used);
    ck_assert_uint_ge(buffer.bytes_allocated, buffer.bytes_used);

    ck_assert_uint_eq(unpack_u32(), 300);
    ok(PMIx_Data_unpack(NULL, &buffer, back, &n, PMIX_STRING));
    ck_assert_str_eq(back[0], "one");
    ck_assert_ptr_null(back[1]);
    ck_assert_ptr_eq(buffer.unpack_ptr, buffer.pack_ptr);
    free(back[0]);
}

PX_TEST(packing_more_keeps_the_place_of_unpacking)
{
    ok(pack_u32(1));
    ck_assert_uint_eq(unpack_u32(), 1);
    for (uint32_t i = 0; i < 1000; i++) /* moves the memory */
        ok(pack_u32(i));
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(unpack_u32(), i);
}

PX_TEST(a_failed_pack_leaves_the_buffer_unchanged)
{
    pmix_value_t bad[2] = {{.type = PMIX_BOOL}, {.type = PMIX_PROC}};

    ok(pack_u32(1));
    size_t used = buffer.bytes_used;
    fails(PMIx_Data_pack(NULL, &buffer, bad, 2, PMIX_VALUE), BAD_PARAM);
    fails(PMIx_Data_pack(NULL, &buffer, bad, 1, 499), UNKNOWN_DATA_TYPE);
    ck_assert_uint_eq(buffer.bytes_used, used);
    ok(pack_u32(2));
    ck_assert_uint_eq(unpack_u32(), 1);
    ck_assert_uint_eq(unpack_u32(), 2);
}

PX_TEST(bad_arguments_are_refused)
{
    uint32_t v = 0;
    int32_t n = 1, none = -1;
    pmix_data_buffer_t broken = {.bytes_used = 3};

    fails(PMIx_Data_pack(NULL, NULL, &v, 1, PMIX_UINT32), BAD_PARAM);
    fails(PMIx_Data_pack(NULL, &buffer, NULL, 1, PMIX_UINT32), BAD_PARAM);
    fails(PMIx_Data_pack(NULL, &buffer, &v, -1, PMIX_UINT32), BAD_PARAM);
    fails(PMIx_Data_pack(NULL, &broken, &v, 1, PMIX_UINT32), BAD_PARAM);
    fails(PMIx_Data_unpack(NULL, NULL, &v, &n, PMIX_UINT32), BAD_PARAM);
    fails(PMIx_Data_unpack(NULL, &buffer, NULL, &n, PMIX_UINT32), BAD_PARAM);
    fails(PMIx_Data_unpack(NULL, &buffer, &v, NULL, PMIX_UINT32), BAD_PARAM);
    fails(PMIx_Data_unpack(NULL, &buffer, &v, &none, PMIX_UINT32), BAD_PARAM);
}

PX_TEST(the_end_of_the_buffer_is_told)
{
    uint32_t v;
    int32_t n = 1;

    fails(PMIx_Data_unpack(NULL, &buffer, &v, &n, PMIX_UINT32),
          UNPACK_READ_PAST_END_OF_BUFFER);
    ck_assert_int_eq(n, 0);
}

PX_TEST(too_little_room_gets_what_fits_and_may_try_again)
{
    uint32_t v[3] = {1, 2, 3}, back[3] = {0};
    int32_t n = 2;

    ok(PMIx_Data_pack(NULL, &buffer, v, 3, PMIX_UINT32));
    fails(PMIx_Data_unpack(NULL, &buffer, back, &n, PMIX_UINT32),
          UNPACK_INADEQUATE_SPACE);
    ck_assert_int_eq(n, 2);
    ck_assert_uint_eq(back[1], 2);
    ck_assert_uint_eq(back[2], 0);
    n = 3;
    ok(PMIx_Data_unpack(NULL, &buffer, back, &n, PMIX_UINT32));
    ck_assert_uint_eq(back[2], 3);
}

PX_TEST(a_failed_unpack_keeps_its_place)
{
    int32_t n = 1;
    char *s;

    ok(pack_u32(400)); /* as a string: too long */
    char *place = buffer.unpack_ptr;
    ck_assert_int_lt(PMIx_Data_unpack(NULL, &buffer, &s, &n, PMIX_STRING), 0);
    ck_assert_int_eq(n, 0);
    ck_assert_ptr_eq(buffer.unpack_ptr, place);
}

PX_TEST(regexes_are_plain_pointers_for_the_user)
{
    static const char blob[] = "blob:\0component=zlib:\0size=3:\0\1\0\2";
    char *regex[2] = {(char *)"pmix[n[1:1-3]]", (char *)(uintptr_t)blob}, *back[2];
    int32_t n = 2;

    ok(PMIx_Data_pack(NULL, &buffer, regex, 2, PMIX_REGEX));
    ok(PMIx_Data_unpack(NULL, &buffer, back, &n, PMIX_REGEX));
    ck_assert_str_eq(back[0], regex[0]);
    ck_assert_mem_eq(back[1], blob, sizeof(blob) - 1);
    free(back[0]);
    free(back[1]);
}

PX_TEST(want_of_memory_leaves_the_buffer_as_it_was)
{
    PX_TEST_NEEDS_ALLOC;
    char long_text[4096];
    char *s = long_text;

    memset(long_text, 'x', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = '\0';
    ok(pack_u32(1));
    px_alloc_fail_at(1);
    pmix_status_t rc = PMIx_Data_pack(NULL, &buffer, &s, 1, PMIX_STRING);
    px_alloc_fail_end();
    fails(rc, NOMEM);
    ck_assert_uint_eq(unpack_u32(), 1);
    ck_assert_ptr_eq(buffer.unpack_ptr, buffer.pack_ptr);
}

/* ---- copy and print -------------------------------------------------------------------------- */

PX_TEST(a_copy_is_deep)
{
    pmix_envar_t e = {(char *)"A", (char *)"b", ':'}, *copy = NULL;

    ok(PMIx_Data_copy((void **)&copy, &e, PMIX_ENVAR));
    ck_assert_ptr_ne(copy->envar, e.envar);
    ck_assert_str_eq(copy->envar, "A");
    ck_assert_str_eq(copy->value, "b");
    free(copy->envar);
    free(copy->value);
    free(copy);
}

PX_TEST(strings_and_regexes_are_copied_as_such)
{
    static const char blob[] = "blob:\0component=zlib:\0size=3:\0\1\0\2";
    char *copy = NULL;

    ok(PMIx_Data_copy((void **)&copy, (void *)"text", PMIX_STRING));
    ck_assert_str_eq(copy, "text");
    free(copy);
    ok(PMIx_Data_copy((void **)&copy, (void *)(uintptr_t)blob, PMIX_REGEX));
    ck_assert_mem_eq(copy, blob, sizeof(blob) - 1);
    free(copy);
}

PX_TEST(a_copy_of_nothing_is_refused)
{
    void *copy = &copy;
    int v = 0;

    fails(PMIx_Data_copy(&copy, NULL, PMIX_INT), BAD_PARAM);
    fails(PMIx_Data_copy(NULL, &v, PMIX_INT), BAD_PARAM);
    fails(PMIx_Data_copy(&copy, &v, PMIX_UNDEF), UNKNOWN_DATA_TYPE);
    ck_assert_ptr_null(copy);
    fails(PMIx_Data_copy(&copy, &v, 499), UNKNOWN_DATA_TYPE);
}

PX_TEST(printing_begins_with_the_prefix)
{
    pmix_proc_t proc = {"ns", 3};
    char *text = NULL;

    ok(PMIx_Data_print(&text, (char *)"> ", &proc, PMIX_PROC));
    ck_assert(strncmp(text, "> ", 2) == 0);
    ck_assert_ptr_nonnull(strstr(text, "ns"));
    free(text);
    ok(PMIx_Data_print(&text, NULL, (void *)"words", PMIX_STRING));
    ck_assert_ptr_nonnull(strstr(text, "words"));
    free(text);
    ok(PMIx_Data_print(&text, NULL, NULL, PMIX_STRING));
    free(text);
    ok(PMIx_Data_print(&text, NULL, (void *)"raw:n1", PMIX_REGEX));
    free(text);
    fails(PMIx_Data_print(&text, NULL, NULL, PMIX_PROC), BAD_PARAM);
    fails(PMIx_Data_print(&text, NULL, &proc, 499), UNKNOWN_DATA_TYPE);
    ck_assert_ptr_null(text);
}

/* ---- payloads --------------------------------------------------------------------------------- */

PX_TEST(unload_gives_what_is_not_yet_unpacked)
{
    pmix_byte_object_t payload;

    ok(pack_u32(1));
    ok(pack_u32(2));
    ck_assert_uint_eq(unpack_u32(), 1);

    ok(PMIx_Data_unload(&buffer, &payload));
    ck_assert_uint_eq(payload.size, 2);
    ck_assert_mem_eq(payload.bytes, "\x02\x02", 2);
    ck_assert_ptr_null(buffer.base_ptr);
    ck_assert_uint_eq(buffer.bytes_used, 0);
    free(payload.bytes);
}

PX_TEST(load_takes_the_payload_over)
{
    pmix_byte_object_t payload = {strdup("\x02\x07"), 2};
    char *bytes = payload.bytes;

    ok(pack_u32(1)); /* replaced */
    ok(PMIx_Data_load(&buffer, &payload));
    ck_assert_ptr_null(payload.bytes);
    ck_assert_uint_eq(payload.size, 0);
    ck_assert_ptr_eq(buffer.base_ptr, bytes);
    ck_assert_uint_eq(unpack_u32(), 7);
    ok(pack_u32(8));
    ck_assert_uint_eq(unpack_u32(), 8);
}

PX_TEST(embed_copies_the_payload)
{
    const pmix_byte_object_t payload = {(char *)"\x02\x07", 2};

    ok(PMIx_Data_embed(&buffer, &payload));
    ck_assert_ptr_ne(buffer.base_ptr, payload.bytes);
    ck_assert_uint_eq(unpack_u32(), 7);
    ok(PMIx_Data_embed(&buffer, &(pmix_byte_object_t){NULL, 0}));
    ck_assert_uint_eq(buffer.bytes_used, 0);
    fails(PMIx_Data_embed(&buffer, &(pmix_byte_object_t){NULL, 3}), BAD_PARAM);
}

PX_TEST(copy_payload_appends_the_rest)
{
    pmix_data_buffer_t src = buffer;

    ok(pack_u32(1));
    ok(pack_u32(2));
    ck_assert_uint_eq(unpack_u32(), 1);
    src = buffer;
    memset(&buffer, 0, sizeof(buffer));
    ok(pack_u32(5));

    ok(PMIx_Data_copy_payload(&buffer, &src));
    ck_assert_uint_eq(unpack_u32(), 5);
    ck_assert_uint_eq(unpack_u32(), 2);
    ck_assert_ptr_eq(src.unpack_ptr, src.base_ptr + 2);
    free(src.base_ptr);
}

PX_TEST(a_buffer_may_be_appended_to_itself)
{
    for (uint32_t i = 0; i < 100; i++)
        ok(pack_u32(i));
    ok(PMIx_Data_copy_payload(&buffer, &buffer));
    for (uint32_t i = 0; i < 200; i++)
        ck_assert_uint_eq(unpack_u32(), i % 100);
}

PX_TEST(missing_buffers_and_payloads_are_refused)
{
    pmix_byte_object_t payload = {NULL, 0};

    fails(PMIx_Data_load(NULL, &payload), BAD_PARAM);
    fails(PMIx_Data_load(&buffer, NULL), BAD_PARAM);
    fails(PMIx_Data_unload(NULL, &payload), BAD_PARAM);
    fails(PMIx_Data_unload(&buffer, NULL), BAD_PARAM);
    fails(PMIx_Data_embed(NULL, &payload), BAD_PARAM);
    fails(PMIx_Data_embed(&buffer, NULL), BAD_PARAM);
    fails(PMIx_Data_copy_payload(NULL, &buffer), BAD_PARAM);
    fails(PMIx_Data_copy_payload(&buffer, NULL), BAD_PARAM);
    ok(PMIx_Data_copy_payload(&buffer, &buffer));
}

/* ---- compression -------------------------------------------------------------------------------- */

PX_TEST(what_is_compressed_can_be_expanded)
{
    uint8_t plain[8192], *small = NULL, *back = NULL;
    size_t n_small, n_back;

    memset(plain, 'x', sizeof(plain));
    ck_assert(PMIx_Data_compress(plain, sizeof(plain), &small, &n_small));
    ck_assert_uint_lt(n_small, 100);
    ck_assert(PMIx_Data_decompress(small, n_small, &back, &n_back));
    ck_assert_uint_eq(n_back, sizeof(plain));
    ck_assert_mem_eq(back, plain, sizeof(plain));
    free(small);
    free(back);
}

PX_TEST(what_gains_nothing_is_not_compressed)
{
    uint8_t noise[8192], *out = noise;
    size_t n = 1;
    uint32_t x = 1;

    memset(noise, 0, sizeof(noise));
    ck_assert(!PMIx_Data_compress(noise, 4095, &out, &n)); /* too small */
    ck_assert_ptr_null(out);
    ck_assert_uint_eq(n, 0);
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    ck_assert(!PMIx_Data_compress(noise, sizeof(noise), &out, &n));
    ck_assert(!PMIx_Data_compress(NULL, 8192, &out, &n));
    ck_assert(!PMIx_Data_compress(noise, sizeof(noise), NULL, &n));
}

PX_TEST(what_was_never_compressed_is_not_expanded)
{
    uint8_t *out = NULL;
    size_t n = 1;

    ck_assert(!PMIx_Data_decompress((const uint8_t *)"no zlib stream", 14, &out, &n));
    ck_assert_ptr_null(out);
    ck_assert_uint_eq(n, 0);
    ck_assert(!PMIx_Data_decompress(NULL, 14, &out, &n));
    ck_assert(!PMIx_Data_decompress((const uint8_t *)"no zlib stream", 14, NULL, NULL));
}

PX_TEST_MAIN("wire/data_api", setup, teardown)
