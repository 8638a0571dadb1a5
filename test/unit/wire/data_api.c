/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Data_* calls of users; and compressed values, which are expanded on arrival
 * without memory for false sizes. */
#include "alloc_fail.h"
#include "core/base/attr.h"
#include "core/wire/ops.h"
#include "pmix_common.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>
#include <zlib.h>

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
    for (uint32_t i = 0; i < 1000; i++) /* moves the buffer */
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

    ok(pack_u32(400)); /* longer than the rest of the buffer, read as a string */
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

/* ---- payloads --------------------------------------------------------------------------------- */

PX_TEST(load_takes_the_payload_over)
{
    pmix_byte_object_t payload = {strdup("\x02\x07"), 2};
    char *bytes = payload.bytes;

    ok(pack_u32(1)); /* replaces the payload */
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

PX_TEST(copies_are_deep_strings_and_regexes_are_copied_as_such)
{
    static const char blob[] = "blob:\0component=zlib:\0size=3:\0\1\0\2";
    pmix_envar_t e = {(char *)"A", (char *)"b", ':'}, *envar = NULL;
    char *copy = NULL;

    ok(PMIx_Data_copy((void **)&envar, &e, PMIX_ENVAR));
    ck_assert_ptr_ne(envar->envar, e.envar);
    ck_assert_str_eq(envar->value, "b");
    px_type_free_array(PMIX_ENVAR, envar, 1);
    ok(PMIx_Data_copy((void **)&copy, (void *)"text", PMIX_STRING));
    ck_assert_str_eq(copy, "text");
    free(copy);
    ok(PMIx_Data_copy((void **)&copy, (void *)(uintptr_t)blob, PMIX_REGEX));
    ck_assert_mem_eq(copy, blob, sizeof(blob) - 1);
    free(copy);
}

PX_TEST(printing_begins_with_the_prefix)
{
    const struct {
        const char *prefix;
        const void *src;
        pmix_data_type_t type;
        pmix_status_t status;
        const char *begins, *has;
    } rows[] = {
        {"> ", &(pmix_proc_t){"ns", 3}, PMIX_PROC, PMIX_SUCCESS, "> ", "ns"},
        {NULL, "words", PMIX_STRING, PMIX_SUCCESS, "", "words"},
        {NULL, NULL, PMIX_STRING, PMIX_SUCCESS, "", ""},
        {NULL, "raw:n1", PMIX_REGEX, PMIX_SUCCESS, "", ""},
        {NULL, NULL, PMIX_PROC, PMIX_ERR_BAD_PARAM, NULL, NULL},
        {NULL, "x", 499, PMIX_ERR_UNKNOWN_DATA_TYPE, NULL, NULL},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        char *text = (char *)"";

        ck_assert_int_eq(PMIx_Data_print(&text, (char *)(uintptr_t)rows[i].prefix,
                                         (void *)(uintptr_t)rows[i].src, rows[i].type),
                         rows[i].status);
        ck_assert(rows[i].status ? !text
                                 : strstr(text, rows[i].begins) == text &&
                                       strstr(text, rows[i].has));
        free(text);
    }
}

/* ---- compression ----------------------------------------------------------------------------- */

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
    uint8_t noise[8192] = {0}, *out = noise;
    size_t n = 1;
    uint32_t x = 1;

    ck_assert(!PMIx_Data_compress(noise, 4095, &out, &n)); /* output buffer too small */
    ck_assert(!out && n == 0);
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    ck_assert(!PMIx_Data_compress(noise, sizeof(noise), &out, &n));
}

/* Compresses as a peer does: u32 in host order, then a zlib stream. claimed: the size
 * the message states. */
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

PX_TEST(compressed_values_become_plain)
{
    enum { N = sizeof(text) };
    static const struct {
        pmix_data_type_t type, becomes;
        size_t n, claimed; /* without the NUL of a string */
        size_t after;      /* ignored bytes behind the stream */
    } rows[] = {
        {PMIX_COMPRESSED_STRING, PMIX_STRING, N - 1, N - 1, 0},
        {PMIX_COMPRESSED_STRING, PMIX_STRING, N - 1, N - 1, 9},
        {PMIX_COMPRESSED_STRING, PMIX_STRING, 0, 0, 0},
        {PMIX_COMPRESSED_BYTE_OBJECT, PMIX_BYTE_OBJECT, N, N, 0},
        /* a wrong length is refused and changes nothing */
        {PMIX_COMPRESSED_STRING, PMIX_COMPRESSED_STRING, N, N + 1, 0},
        {PMIX_COMPRESSED_STRING, PMIX_COMPRESSED_STRING, N, N - 1, 0},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_value_t v = compressed(text, rows[i].n, (uint32_t)rows[i].claimed,
                                    rows[i].type);
        bool refused = rows[i].becomes == rows[i].type;

        v.data.bo.bytes = realloc(v.data.bo.bytes, v.data.bo.size + rows[i].after);
        memset(v.data.bo.bytes + v.data.bo.size, 0xee, rows[i].after);
        v.data.bo.size += rows[i].after;
        ck_assert_int_eq(px_value_inflate(&v), refused ? PMIX_ERR_UNPACK_FAILURE : 0);
        ck_assert_int_eq(v.type, rows[i].becomes);
        if (v.type == PMIX_STRING) {
            ck_assert_uint_eq(strlen(v.data.string), rows[i].n);
            ck_assert_mem_eq(v.data.string, text, rows[i].n);
        } else if (!refused) {
            ck_assert_uint_eq(v.data.bo.size, N);
            ck_assert_mem_eq(v.data.bo.bytes, text, N);
        }
        px_type_destruct(PMIX_VALUE, &v);
    }
    pmix_value_t other = {.type = PMIX_UINT32, .data.uint32 = 7};
    ok(px_value_inflate(&other));
    ck_assert_uint_eq(other.data.uint32, 7);
}

static void stays_refused(pmix_value_t *v)
{
    pmix_data_type_t type = v->type;

    fails(px_value_inflate(v), UNPACK_FAILURE);
    ck_assert_int_eq(v->type, type); /* unchanged */
    px_type_destruct(PMIX_VALUE, v);
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
    /* a value with its true size, and one with a false size */
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
    PX_AUTO(px_writer) w = writer_in(codec_of("v3", false));
    pmix_value_t v = compressed("hi", 2, 2, PMIX_COMPRESSED_STRING);

    px_pack(&w, &v, 1, PMIX_VALUE);

    assert_wrote(&w, "00 00 00 01 00 03 00 00 00 03 \"hi\" 00");
    ck_assert_int_eq(v.type, PMIX_COMPRESSED_STRING);
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(what_cannot_be_made_plain_is_not_sent)
{
    PX_AUTO(px_writer) w = writer_in(codec_of("v3", false));
    pmix_value_t v = {.type = PMIX_COMPRESSED_BYTE_OBJECT,
                      .data.bo = {(char *)"xxxxxxxx", 8}};

    px_pack(&w, &v, 1, PMIX_VALUE);
    fails(w.status, UNPACK_FAILURE);
}

PX_TEST_MAIN("wire/data_api", setup, teardown)
