/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of other implementations: numbers, text and maps in forms that Tenon does
 * not write; and hostile bytes, each from a known decoder bug. */
#include "alloc_fail.h"
#include "core/wire/codec.h"
#include "core/wire/ops.h"
#include "px_test.h"
#include "wire_test.h"

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static union {
    pmix_app_t app;
    pmix_info_t info;
    pmix_value_t value;
    pmix_data_array_t darray;
    pmix_proc_t proc;
    pmix_byte_object_t bo;
    void *ptr;
    char *string;
    double number;
} dst;

/* 2^40 and the largest 64 bits, flexible */
#define N_2_40 "80 80 80 80 80 20"
#define N_2_64 "ff ff ff ff ff ff ff ff ff"

/* Fixed: one value follows. */
#define ONE  "00 00 00 01 "
#define BLOB "02 \"blob:\" 00 \"component=zlib:\" 00 "

enum {
    FAILURE = PMIX_ERR_UNPACK_FAILURE,
    PAST_END = PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
    UNKNOWN = PMIX_ERR_UNKNOWN_DATA_TYPE
};

static const struct {
    pmix_status_t status;
    pmix_data_type_t type;
    const char *dialect, *bytes;
} refused[] = {
    /* numbers too large for their type */
    {FAILURE, PMIX_INT16, "v41", "02 80 80 04"},
    {FAILURE, PMIX_INT16, "v41", "02 81 80 04"},
    {FAILURE, PMIX_INT32, "v41", "02 80 80 80 80 10"},
    {FAILURE, PMIX_INT32, "v41", "02 81 80 80 80 10"},
    {FAILURE, PMIX_UINT16, "v41", "02 80 80 04"},
    {FAILURE, PMIX_UINT32, "v41", "02 80 80 80 80 10"},
    {FAILURE, PMIX_PID, "v41", "02 0e 80 80 80 80 10"},
    {FAILURE, PMIX_INT, "v41", "02 ff ff ff ff ff ff ff ff ff"},
    {FAILURE, PMIX_DATA_TYPE, "v41", "02 80 80 04"},
    /* numbers without an end */
    {PAST_END, PMIX_SIZE, "v41", "02 80"},
    {PAST_END, PMIX_SIZE, "v41", "02 ff ff ff ff ff ff ff ff"},
    {PAST_END, PMIX_SIZE, "v41", "80"},
    {PAST_END, PMIX_SIZE, "v3", ONE "00 0f 00 00 00"},
    /* of another width, hence too large */
    {FAILURE, PMIX_SIZE, "v3", ONE "00 09 ff ff ff ff"},
    {FAILURE, PMIX_SIZE, "v3", ONE "00 07 ff"},
    {FAILURE, PMIX_INT, "v3", ONE "00 0e ff ff ff ff"},
    {FAILURE, PMIX_INT, "v3", ONE "00 0a 00 00 00 00 80 00 00 00"},
    {FAILURE, PMIX_INT, "v3", ONE "00 0a ff ff ff ff 7f ff ff ff"},
    {FAILURE, PMIX_UINT, "v3", ONE "00 0f 00 00 00 01 00 00 00 00"},
    {FAILURE, PMIX_PID, "v3", ONE "00 0f 00 00 00 01 00 00 00 00"},
    /* with the tag of a type other than an integer */
    {FAILURE, PMIX_PID, "v41", "02 03 02 00"},
    {FAILURE, PMIX_PID, "v41", "02 00 00"},
    {FAILURE, PMIX_PID, "v41", "02 06 02"},
    {FAILURE, PMIX_PID, "v41", "02 b4 24 02"},
    {FAILURE, PMIX_INT, "v3", ONE "00 01 00"},
    {FAILURE, PMIX_SIZE, "v3", ONE "ff ff 00 00 00 00"},
    /* text that is not a number: NULL or empty, other bytes; decimal comma,
     * unterminated; two numbers, trailing text */
    {FAILURE, PMIX_DOUBLE, "v41", "02 00 00 00"},
    {FAILURE, PMIX_FLOAT, "v41", "02 00 00 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 02 00 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 08 \"1,5\" 00"},
    {FAILURE, PMIX_FLOAT, "v41", "02 08 \"1,5\" 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 08 \"abc\" 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 08 \"1.5\" 61"},
    {FAILURE, PMIX_FLOAT, "v41", "02 0a \"1.5x\" 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 04 \"-\" 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 04 \".\" 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 0a \"1.5.\" 00"},
    {FAILURE, PMIX_DOUBLE, "v41", "02 08 \"1-5\" 00"},
    /* too large: refused rather than infinite */
    {FAILURE, PMIX_DOUBLE, "v41", "02 0c \"1e999\" 00"},
    {FAILURE, PMIX_FLOAT, "v41", "02 0a \"1e99\" 00"},
    /* maps with a false length */
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=4:\" 00 \"012\""},
    {PAST_END, PMIX_REGEX, "v41",
     BLOB "\"size=99999999999999999999999999:\" 00 \"012\""},
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=18446744073709551615:\" 00 \"012\""},
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=:\" 00 \"012\""},
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=-1:\" 00 \"012\""},
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=3\" 00 \"012\""},
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=3:012\""},
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=3\""},
    {PAST_END, PMIX_REGEX, "v41", BLOB "\"size=\""},
    {PAST_END, PMIX_REGEX, "v41", "02 \"pmix[n]\""},
    /* an invalid list of CPUs, which some parsers read as octal: 0, then -49 */
    {FAILURE, PMIX_PROC_CPUSET, "v41", "02 0c \"08-49\" 00"},
    /* negative lengths */
    {FAILURE, PMIX_STRING, "v41", "02 01 61 00"},
    {FAILURE, PMIX_STRING, "v3", ONE "ff ff ff ff 61 00"},
    {FAILURE, PMIX_APP, "v41", "02 02 00 01 00 02 00 00 00"},
    {FAILURE, PMIX_QUERY, "v41", "02 03 00"},
    /* beyond the end */
    {PAST_END, PMIX_STRING, "v41", "02 0e \"hello\" 00"},
    {PAST_END, PMIX_STRING, "v41", "02 fe ff ff ff 0f \"hello\" 00"},
    {PAST_END, PMIX_STRING, "v3", ONE "7f ff ff ff 61 00"},
    {PAST_END, PMIX_BYTE_OBJECT, "v41", "02 04 01 02 03"},
    {PAST_END, PMIX_DATA_BUFFER, "v41", "02 04 01 02 03"},
    /* counts of the largest size, and 3 infos or doubles, which need at least 9
     * bytes */
    {PAST_END, PMIX_DATA_ARRAY, "v41", "02 0e " N_2_64 " 01"},
    {PAST_END, PMIX_DATA_ARRAY, "v41", "02 18 " N_2_64 " 01"},
    {PAST_END, PMIX_BYTE_OBJECT, "v41", "02 " N_2_64 " 01"},
    {PAST_END, PMIX_COORD, "v41", "02 01 " N_2_64 " 01"},
    {PAST_END, PMIX_DATA_ARRAY, "v41", "02 18 03 02 00 00 00 02 00 00 00"},
    {PAST_END, PMIX_DATA_ARRAY, "v41", "02 11 03 04 31 00 04 31 00 04 31"},
    /* strings with a wrong end, or missing inside a list */
    {FAILURE, PMIX_STRING, "v41", "02 0a \"hello\""},
    {FAILURE, PMIX_STRING, "v41", "02 0a \"hello\" 00"},
    {FAILURE, PMIX_PROC, "v41", "02 04 \"ns\" 03"},
    {FAILURE, PMIX_INFO, "v41", "02 02 \"k\" 00 0e 07"},
    {FAILURE, PMIX_APP, "v41", "02 02 00 04 02 00 00 00 00 00 00"},
    {FAILURE, PMIX_QUERY, "v41", "02 04 02 00 00 00"},
    /* types that a value cannot hold, and types unknown to the dialect */
    {UNKNOWN, PMIX_VALUE, "v41", "02 18 02 00 00 00"},
    {UNKNOWN, PMIX_VALUE, "v41", "02 15 00"},
    {UNKNOWN, PMIX_VALUE, "v41", "02 22 00"},
    {UNKNOWN, PMIX_VALUE, "v41", "02 1a 01 00"},
    {UNKNOWN, PMIX_VALUE, "v41", "02 f4 03 00"},
    {UNKNOWN, PMIX_VALUE, "v3", ONE "00 39 00 00 00 00 00 00 00 01"},
    {UNKNOWN, PMIX_DATA_ARRAY, "v3", ONE "00 39 00 0f 00 00 00 00 00 00 00 01"},
    {UNKNOWN, PMIX_DEVTYPE, "v3", ONE "00 00 00 00 00 00 00 01"},
    {UNKNOWN, PMIX_DATA_ARRAY, "v41", "02 f3 03 00"},
    {UNKNOWN, PMIX_DEVICE, "v41", "02 02 00 02 00 04"},
    {UNKNOWN, 499, "v41", "02 00"},
    {UNKNOWN, PMIX_UNDEF, "v41", "02 00"},
};

PX_TEST(what_is_wrong_is_refused)
{
    for (size_t i = 0; i < PX_COUNT(refused); i++) {
        pmix_status_t rc = read_text(refused[i].dialect, refused[i].bytes, &dst,
                                     refused[i].type);

        ck_assert_msg(rc == refused[i].status, "type %u, %s, \"%s\": %s",
                      refused[i].type, refused[i].dialect, refused[i].bytes,
                      PMIx_Error_string(rc));
    }
}

static const struct {
    pmix_data_type_t type;
    const char *dialect, *bytes;
    const void *value;
} accepted[] = {
    /* the ends of each range */
    {PMIX_INT16, "v41", "02 ff ff 03", &(int16_t){INT16_MIN}},
    {PMIX_INT16, "v41", "02 fe ff 03", &(int16_t){INT16_MAX}},
    {PMIX_INT, "v41", "02 ff ff ff ff 0f", &(int){INT_MIN}},
    {PMIX_INT, "v41", "02 fe ff ff ff 0f", &(int){INT_MAX}},
    {PMIX_UINT16, "v41", "02 ff ff 03", &(uint16_t){UINT16_MAX}},
    {PMIX_UINT32, "v41", "02 ff ff ff ff 0f", &(uint32_t){UINT32_MAX}},
    {PMIX_UINT64, "v41", "02 " N_2_64, &(uint64_t){UINT64_MAX}},
    {PMIX_INT64, "v41", "02 fe ff ff ff ff ff ff ff ff", &(int64_t){INT64_MAX}},
    {PMIX_UINT, "v41", "02 01", &(unsigned){UINT_MAX}},
    /* longer than necessary; in the native width of another sender */
    {PMIX_SIZE, "v41", "82 00 81 80 00", &(size_t){1}},
    {PMIX_SIZE, "v3", ONE "00 0e 00 00 00 07", &(size_t){7}},
    {PMIX_SIZE, "v3", ONE "00 0c 07", &(size_t){7}},
    {PMIX_SIZE, "v3", ONE "00 07 07", &(size_t){7}},
    {PMIX_INT, "v3", ONE "00 08 ff fe", &(int){-2}},
    {PMIX_INT, "v3", ONE "00 0a ff ff ff ff ff ff ff fe", &(int){-2}},
    {PMIX_UINT, "v3", ONE "00 0e ff ff ff fe", &(unsigned){0xfffffffe}},
    {PMIX_UINT, "v3", ONE "00 0f 00 00 00 00 ff ff ff fe", &(unsigned){0xfffffffe}},
    {PMIX_PID, "v3", ONE "00 09 00 00 10 92", &(pid_t){4242}},
    {PMIX_PID, "v41", "02 09 a4 42", &(pid_t){4242}},
    {PMIX_PID, "v41", "02 0f 92 21", &(pid_t){4242}},
    /* any byte but zero is true */
    {PMIX_BOOL, "v41", "02 ff", &(bool){true}},
    {PMIX_BOOL, "v41", "02 02", &(bool){true}},
    {PMIX_BOOL, "v41", "02 00", &(bool){false}},
    /* unlike the output of printf */
    {PMIX_DOUBLE, "v41", "02 0a \"1e99\" 00", &(double){1e99}},
    {PMIX_DOUBLE, "v41", "02 0e \"1e-999\" 00", &(double){0}},
    {PMIX_DOUBLE, "v41", "02 06 \".5\" 00", &(double){0.5}},
    {PMIX_FLOAT, "v41", "02 08 \"inf\" 00", &(float){INFINITY}},
    /* a string ends at its first NUL; text that only starts like a blob stays text */
    {PMIX_STRING, "v41", "02 0a \"ab\" 00 \"c\" 00", &(char *){(char *)"ab"}},
    {PMIX_REGEX, "v41", "02 \"blob:x\" 00", &(pmix_byte_object_t){(char *)"blob:x", 7}},
    /* a received address is always discarded */
    {PMIX_POINTER, "v41", "02 ff", &(void *){NULL}},
    /* a NULL object is an empty array, with and without its size */
    {PMIX_VALUE, "v41", "02 27 00 00",
     &(pmix_value_t){PMIX_DATA_ARRAY, {.darray = &(pmix_data_array_t){0}}}},
    {PMIX_VALUE, "v41", "02 27 00",
     &(pmix_value_t){PMIX_DATA_ARRAY, {.darray = &(pmix_data_array_t){0}}}},
    {PMIX_VALUE, "v3", ONE "00 27 00 00 00 0f 00 00 00 00 00 00 00 00",
     &(pmix_value_t){PMIX_DATA_ARRAY, {.darray = &(pmix_data_array_t){0}}}},
    /* the info owns the value */
    {PMIX_INFO, "v41", "02 04 6b 00 10 03 06 68 69 00",
     &(pmix_info_t){.key = "k", .value = {PMIX_STRING, {.string = (char *)"hi"}}}},
};

PX_TEST(what_others_write_is_read)
{
    for (size_t i = 0; i < PX_COUNT(accepted); i++) {
        pmix_data_type_t type = accepted[i].type;
        const char *bytes = accepted[i].bytes;

        ck_assert_msg(read_text(accepted[i].dialect, bytes, &dst, type) ==
                              PMIX_SUCCESS &&
                          px_type_compare(type, &dst, accepted[i].value) == 0,
                      "type %u, %s, \"%s\"", type, accepted[i].dialect, bytes);
        px_type_destruct(type, &dst);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

PX_TEST(takes_the_ninth_byte_as_the_last_whatever_its_top_bit)
{
    /* ten bytes of ordinary LEB128; the tenth does not belong to the number */
    PX_AUTO(px_buf) b = bytes_of("02 ff ff ff ff ff ff ff ff ff 01");
    px_reader r = reader_of(px_codec_default, &b);
    size_t size;

    ok(px_unpack_size(&r, &size));
    ck_assert_uint_eq(size, SIZE_MAX);
    ck_assert_uint_eq((size_t)(r.end - r.pos), 1);
}

/* Returns numbers of every encoded length, in both signs. */
static uint64_t some_number(int i)
{
    uint64_t v = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1) >> (i * 7) % 64;

    return i % 3 ? v : ~v;
}

static void runs_come_back(struct px_codec codec, pmix_data_type_t type)
{
    enum { N = 1000 };
    const size_t size = px_type_find(type)->size;
    uint8_t from[N * sizeof(uint64_t)], to[N * sizeof(uint64_t)];

    for (int i = 0; i < N; i++)
        memcpy(from + (size_t)i * size, &(uint64_t){some_number(i)}, size);
    for (int32_t n = 0; n < N; n = n < 70 ? n + 1 : n + 111) {
        PX_AUTO(px_writer) w = writer_in(codec);
        int32_t got = n;

        px_pack(&w, from, n, type);
        px_reader r = reader_of(codec, &w.buf);
        ok(px_unpack(&r, to, &got, type));
        ck_assert(got == n && px_reader_done(&r));
        ck_assert_mem_eq(from, to, (size_t)n * size);
        px_reader_init(&r, codec, w.buf.data, w.buf.len - 1);
        if (n > 0)
            fails(px_unpack(&r, to, &got, type), UNPACK_READ_PAST_END_OF_BUFFER);
    }
}

PX_TEST(runs_of_numbers_of_all_lengths_come_back)
{
    static const pmix_data_type_t types[] = {
        PMIX_INT16,  PMIX_INT32, PMIX_INT64, PMIX_UINT16, PMIX_UINT32,
        PMIX_UINT64, PMIX_INT,   PMIX_UINT,  PMIX_SIZE,   PMIX_PID};

    for (size_t i = 0; i < PX_COUNT(types); i++) {
        runs_come_back(codec_of("v41", false), types[i]);
        runs_come_back(codec_of("v3", false), types[i]);
    }
}

PX_TEST(a_number_too_large_is_refused_wherever_it_stands)
{
    uint16_t u16[4];
    uint32_t u32[4];
    PX_AUTO(px_buf) small = bytes_of("08 01 ff ff 03 80 80 04 01 00 00 00 00 00 00");
    PX_AUTO(px_buf) large = bytes_of(
        "08 01 ff ff ff ff 0f 80 80 80 80 10 01 00 00 00 00");
    px_reader r = reader_of(px_codec_default, &small);
    int32_t n = 4;

    fails(px_unpack(&r, u16, &n, PMIX_UINT16), UNPACK_FAILURE);
    r = reader_of(px_codec_default, &small);
    fails(px_unpack(&r, u16, &n, PMIX_INT16), UNPACK_FAILURE);
    r = reader_of(px_codec_default, &large);
    fails(px_unpack(&r, u32, &n, PMIX_UINT32), UNPACK_FAILURE);
}

/* ---- text ------------------------------------------------------------------------------------ */

static double carried(double v)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    double back = 0;

    px_pack(&w, &v, 1, PMIX_DOUBLE);
    ok(w.status);
    px_reader r = reader_of(w.codec, &w.buf);
    ok(px_unpack1(&r, &back, PMIX_DOUBLE));
    return back;
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
    ok(read_text("v41", "02 08 \"1.5\" 00", &f, PMIX_FLOAT));
    ck_assert(f == 1.5f);
    ck_assert_str_eq(setlocale(LC_ALL, NULL), set);
}

/* Returns numbers of every size, including halves of the last digit and their
 * neighbours. */
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
        PX_AUTO(px_writer) w = writer_in(px_codec_default);

        snprintf(expected, sizeof(expected), "%f", v);
        px_pack_bare(&w, &v, PMIX_DOUBLE);
        px_reader r = reader_of(w.codec, &w.buf);
        ok(px_unpack_bare(&r, &read, PMIX_DOUBLE));
        ck_assert_uint_eq(w.buf.len, strlen(expected) + 2);
        ck_assert_str_eq((char *)w.buf.data + 1, expected);
        ck_assert(read == strtod(expected, NULL));
        ck_assert(signbit(read) == signbit(v));
    }
}

static pmix_status_t write_regex(const char *bytes, size_t size, px_buf *out)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    pmix_byte_object_t bo = {(char *)(uintptr_t)bytes, size};

    px_pack(&w, &bo, 1, PMIX_REGEX);
    pmix_status_t rc = w.status;
    *out = px_buf_take(&w.buf);
    return rc;
}

PX_TEST(a_blob_has_its_own_length)
{
    PX_AUTO(px_buf) b = bytes_of(BLOB "\"size=12:\" 00 \"0123456789\" 00 00 05");
    px_reader r = reader_of(px_codec_default, &b);
    pmix_byte_object_t bo;

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

PX_TEST(a_map_is_sent_as_long_as_its_reader_will_take_it_for)
{
    static const char lying_blob[] = "blob:\0component=zlib:\0size=5:\0\1\2";
    static const struct {
        pmix_status_t status;
        const char *map;
        size_t size, sent;
        const char *bytes;
    } rows[] = {
        {PMIX_SUCCESS, "raw:n1", 6, 8, "\x02raw:n1"}, /* a NUL is appended */
        {PMIX_SUCCESS, NULL, 0, 2, "\x02"},
        {PMIX_ERR_BAD_PARAM, "raw:n1\0more", 11, 0, ""},
        {PMIX_ERR_BAD_PARAM, lying_blob, 32, 0, ""},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_buf) b = {0};

        ck_assert_int_eq(write_regex(rows[i].map, rows[i].size, &b), rows[i].status);
        ck_assert(rows[i].status || b.len == rows[i].sent);
        ck_assert(rows[i].status || memcmp(b.data, rows[i].bytes, b.len) == 0);
    }
}

/* Makes a message with a string of n characters between head and tail. */
static px_buf long_name(const char *head, size_t n, const char *tail)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    px_buf b = bytes_of(head);
    PX_AUTO(px_buf) end = bytes_of(tail);
    PX_AUTOFREE char *name = malloc(n + 1);
    const char *s = name;

    memset(name, 'n', n);
    name[n] = '\0';
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

/* ---- counts, nesting and errors late --------------------------------------------------------- */

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
        if (sizeof(size_t) > 4)
            fails(rc, UNPACK_READ_PAST_END_OF_BUFFER);
        else
            fails(rc, UNPACK_FAILURE);
        ck_assert_uint_le(px_alloc_count(), 1); /* the data array object itself */
    }
}

/* Each object takes few bytes in the message but much memory; a string costs its
 * pointer and its text. */
PX_TEST(a_message_of_many_tiny_objects_is_refused_in_time)
{
    enum { N = 4000, TEXT_B = 32 };
    static const struct {
        pmix_data_type_t type;
        size_t size_b, budget_b;
    } rows[] = {{PMIX_INFO, sizeof(pmix_info_t), sizeof(pmix_info_t)},
                {PMIX_STRING, sizeof(char *), sizeof(char *) + TEXT_B}};

    for (size_t i = 0; i < 2 * PX_COUNT(rows); i++) {
        size_t size_b = rows[i / 2].size_b, over = i % 2;
        pmix_data_type_t type = rows[i / 2].type;
        PX_AUTOFREE char *objects = calloc(N, size_b);
        PX_AUTO(px_writer) w = writer_in(px_codec_default);
        void *array;

        for (size_t at = 0; type == PMIX_STRING && at < N; at++)
            ((const char **)(void *)objects)[at] = "";
        px_pack(&w, objects, N, type);
        px_reader r = reader_of(w.codec, &w.buf);
        ck_assert_uint_eq(r.budget, PX_MAX_DECODED_B);
        r.budget = N * rows[i / 2].budget_b - over;
        ck_assert_int_eq(px_unpack_array(&r, &array, N, type),
                         over ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS);
        if (!over)
            px_type_free_array(type, array, N);
    }
}

/* In each dialect, in lists and inside values and apps. */
PX_TEST(a_request_has_a_limited_number_of_infos)
{
    enum { MOST = PX_MAX_REQUEST_INFOS };
    static const char *const dialects[] = {"v21", "v3", "v4", "v41", "v51", "v61"};
    PX_AUTOFREE pmix_info_t *infos = calloc(MOST + 1, sizeof(*infos));

    for (size_t i = 0; i < PX_COUNT(dialects) * 2 * 3; i++) {
        bool over = i % 2;
        pmix_data_array_t array = {PMIX_INFO, MOST + over, infos};
        pmix_value_t value = {.type = PMIX_DATA_ARRAY, .data.darray = &array};
        pmix_app_t app = {.info = infos, .ninfo = MOST + over};
        const struct {
            const void *src;
            pmix_data_type_t type;
            int32_t n;
        } rows[] = {{infos, PMIX_INFO, MOST + over},
                    {&value, PMIX_VALUE, 1},
                    {&app, PMIX_APP, 1}},
          *row = &rows[i / 2 % 3];
        PX_AUTO(px_writer) w;
        pmix_status_t rc;
        px_reader r;
        void *out;

        px_writer_init(&w, codec_of(dialects[i / 6], false));
        px_pack(&w, row->src, row->n, row->type);
        px_reader_init(&r, w.codec, w.buf.data, w.buf.len);
        px_reader_limit(&r);
        px_alloc_fail_at(0);
        rc = px_unpack_array(&r, &out, (size_t)row->n, row->type);
        px_alloc_fail_end();
        ck_assert_int_eq(rc, over ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS);
        if (over && px_alloc_can_fail())
            ck_assert_uint_le(px_alloc_count(), 4); /* none for the infos */
        if (!over)
            px_type_free_array(row->type, out, (size_t)row->n);
    }
}

/* Elements that own memory count, in lists and members, and so do processes. */
PX_TEST(a_request_has_a_limited_number_of_items)
{
    enum { MOST = PX_MAX_REQUEST_ITEMS };
    PX_AUTOFREE char **strings = calloc(MOST + 2, sizeof(*strings));
    PX_AUTOFREE pmix_value_t *values = calloc(MOST + 1, sizeof(*values));
    PX_AUTOFREE pmix_proc_t *procs = calloc(MOST + 1, sizeof(*procs));
    const pmix_app_t app = {.argv = strings};
    const struct {
        const void *src;
        pmix_data_type_t type;
        size_t n, n_strings; /* n_strings: in each element */
        bool over;
    } rows[] = {{strings, PMIX_STRING, MOST, 0, false},
                {strings, PMIX_STRING, MOST + 1, 0, true},
                {values, PMIX_VALUE, MOST, 0, false},
                {values, PMIX_VALUE, MOST + 1, 0, true},
                {&app, PMIX_APP, 1, MOST - 1, false},
                {&app, PMIX_APP, 1, MOST, true},
                {procs, PMIX_PROC, PX_MAX_REQUEST_PROCS, 0, false},
                {procs, PMIX_PROC, PX_MAX_REQUEST_PROCS + 1, 0, true}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_writer) w;
        px_reader r;
        void *out;

        for (size_t k = 0; k <= MOST; k++)
            strings[k] = rows[i].n_strings && k >= rows[i].n_strings ? NULL
                                                                     : (char *)"";
        px_writer_init(&w, px_codec_default);
        px_pack(&w, rows[i].src, (int32_t)rows[i].n, rows[i].type);
        px_reader_init(&r, w.codec, w.buf.data, w.buf.len);
        px_reader_limit(&r);
        px_alloc_fail_at(0);
        pmix_status_t rc = px_unpack_array(&r, &out, rows[i].n, rows[i].type);
        px_alloc_fail_end();
        ck_assert_int_eq(rc, rows[i].over ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS);
        if (rc && px_alloc_can_fail())
            ck_assert_uint_le(px_alloc_count(), 2); /* none for what is counted */
        if (!rc)
            px_type_free_array(rows[i].type, out, rows[i].n);
    }
}

/* The bytes of a request limit its memory. Nested buffers share the limits. */
PX_TEST(a_request_has_limited_memory)
{
    enum { N = 250000 };
    PX_AUTOFREE pmix_proc_t *procs = calloc(N, sizeof(*procs));
    PX_AUTO(px_writer) outer;
    px_reader r, inside;
    void *out;

    px_writer_init(&outer, px_codec_default);
    const struct px_pack_nest nest = px_pack_buffer_begin(&outer);
    px_pack(&outer, procs, N, PMIX_PROC);
    px_pack_buffer_end(&outer, nest);
    px_reader_init(&r, outer.codec, outer.buf.data, outer.buf.len);
    px_reader_limit(&r);
    r.procs = N;
    ck_assert_uint_eq(r.budget, PX_MAX_REQUEST_B(outer.buf.len));
    ok(px_unpack_view(&r, &inside, PMIX_BUFFER));
    fails(px_unpack_array(&inside, &out, N, PMIX_PROC), OUT_OF_RESOURCE);
    ck_assert_uint_eq(inside.budget, r.budget);
    ck_assert_uint_eq(inside.infos, PX_MAX_REQUEST_INFOS);
}

/* Makes `bytes` bytes of nested arrays: each level is type DATA_ARRAY, size 1. */
static px_buf nest(size_t bytes)
{
    px_buf b = {0};
    const uint8_t level[] = {PMIX_DATA_ARRAY, 1};

    px_buf_add(&b, "\x02", 1);
    while (b.len < bytes)
        px_buf_add(&b, level, sizeof(level));
    return b;
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

PX_TEST(what_follows_an_array_of_no_type_is_read_right_in_both_forms)
{
    static const char *const forms[] = {"04 02 00 00 27 00 00 02 00 00 0e 07",
                                        "04 02 00 00 27 00 02 00 00 0e 07"};

    for (size_t i = 0; i < PX_COUNT(forms); i++) {
        PX_AUTO(px_buf) b = bytes_of(forms[i]);
        px_reader r = reader_of(px_codec_default, &b);
        pmix_info_t info[2];
        int32_t n = 2;

        ok(px_unpack(&r, info, &n, PMIX_INFO));
        ck_assert(px_reader_done(&r));
        ck_assert_uint_eq(info[1].value.data.uint32, 7);
        px_type_destruct(PMIX_INFO, &info[0]);
    }
}

PX_TEST(a_late_error_in_a_large_array_leaves_nothing_behind)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    enum { N = 3000 };
    pmix_info_t *info = calloc(N, sizeof(*info));
    pmix_data_array_t array = {PMIX_INFO, N, info};

    for (size_t i = 0; i < N; i++) {
        strcpy(info[i].key, "key");
        info[i].value.type = PMIX_STRING;
        info[i].value.data.string = (char *)"text";
    }
    px_pack(&w, &array, 1, PMIX_DATA_ARRAY);
    free(info);
    w.buf.data[w.buf.len - 1] = 'x'; /* removes the NUL of the last string */

    fails(read_bytes("v41", &w.buf, &dst, PMIX_DATA_ARRAY), UNPACK_FAILURE);

    w.buf.data[w.buf.len - 1] = '\0';
    ok(read_bytes("v41", &w.buf, &dst, PMIX_DATA_ARRAY));
    ck_assert_str_eq(((pmix_info_t *)dst.darray.array)[N - 1].value.data.string,
                     "text");
    px_type_destruct(PMIX_DATA_ARRAY, &dst);
}

PX_TEST_MAIN("wire/unpack", NULL, NULL)
