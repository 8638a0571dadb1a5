/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of one pack operation, recorded from the field, written and read back; and
 * the dialects. */
#include "core/wire/codec.h"
#include "core/wire/ops.h"
#include "px_test.h"
#include "wire_test.h"

#include <limits.h>
#include <string.h>

#if SIZE_MAX > UINT32_MAX
#define LARGEST_SIZE "02 ff ff ff ff ff ff ff ff ff"
#else
#define LARGEST_SIZE "02 ff ff ff ff 0f"
#endif

struct example {
    const char *what;
    pmix_data_type_t type;
    int32_t n;
    const void *src;
    const char *bytes;
};

#define ONE(what, type, c_type, value, bytes)               \
    {                                                       \
        what, PMIX_##type, 1, &(const c_type){value}, bytes \
    }
#define MEMBERS(...) \
    {                \
        __VA_ARGS__  \
    }
#define STRUCT(what, type, c_type, members, bytes)          \
    {                                                       \
        what, PMIX_##type, 1, &(const c_type)members, bytes \
    }

static char *const strings[] = {(char *)"a", (char *)"bc"};
static const uint32_t numbers[] = {1, 2, 300};
static const pmix_info_t plain_info = {
    .key = "k", .value = {.type = PMIX_UINT32, .data.uint32 = 7}};
static const pmix_info_t required_info = {
    .key = "k",
    .flags = PMIX_INFO_REQD,
    .value = {.type = PMIX_UINT32, .data.uint32 = 7}};
static char *app_argv[] = {(char *)"c", (char *)"x", NULL};
static char *app_env[] = {(char *)"E=1", NULL};
static char *query_keys[] = {(char *)"pmix.qry.ns", NULL};

static const struct example v41[] = {
    ONE("a true bool", BOOL, bool, true, "02 01"),
    ONE("a string", STRING, char *, (char *)"hello", "02 0c 68 65 6c 6c 6f 00"),
    ONE("an empty string", STRING, char *, (char *)"", "02 02 00"),
    ONE("a NULL string", STRING, char *, NULL, "02 00"),
    {"two strings", PMIX_STRING, 2, strings, "04 04 61 00 06 62 63 00"},
    ONE("size 1", SIZE, size_t, 1, "02 01"),
    ONE("size 127", SIZE, size_t, 127, "02 7f"),
    ONE("size 128", SIZE, size_t, 128, "02 80 01"),
    ONE("size 300", SIZE, size_t, 300, "02 ac 02"),
    ONE("the largest size", SIZE, size_t, SIZE_MAX, LARGEST_SIZE),
    ONE("a pid", PID, pid_t, 4242, "02 0e 92 21"),
    {"three pids under one tag", PMIX_PID, 3, numbers, "06 0e 01 02 ac 02"},
    STRUCT("an array of pids under one tag", DATA_ARRAY, pmix_data_array_t,
           MEMBERS(PMIX_PID, 3, (void *)(uintptr_t)numbers), "02 05 03 0e 01 02 ac 02"),
    STRUCT("an array of no pids, with no tag", DATA_ARRAY, pmix_data_array_t,
           MEMBERS(PMIX_PID, 0, NULL), "02 05 00"),
    ONE("int 0", INT, int, 0, "02 00"),
    ONE("int -1", INT, int, -1, "02 01"),
    ONE("int -25", INT, int, -25, "02 31"),
    ONE("int 1000", INT, int, 1000, "02 d0 0f"),
    ONE("an unsigned int, as if it were signed", UINT, unsigned, 1000, "02 d0 0f"),
    ONE("int8 -2", INT8, int8_t, -2, "02 fe"),
    ONE("int16 -2", INT16, int16_t, -2, "02 03"),
    ONE("the least int32", INT32, int32_t, INT32_MIN, "02 ff ff ff ff 0f"),
    ONE("the least int64", INT64, int64_t, INT64_MIN, "02 ff ff ff ff ff ff ff ff ff"),
    ONE("a uint16", UINT16, uint16_t, 0x1234, "02 b4 24"),
    ONE("a uint32", UINT32, uint32_t, 0xdeadbeef, "02 ef fd b6 f5 0d"),
    ONE("a uint64", UINT64, uint64_t, 0x123456789abcdef0,
        "02 f0 bd f3 d5 89 cf 95 9a 12"),
    {"three uint32", PMIX_UINT32, 3, numbers, "06 01 02 ac 02"},
    ONE("a float", FLOAT, float, 1.5f, "02 12 31 2e 35 30 30 30 30 30 00"),
    ONE("a double", DOUBLE, double, 1.5, "02 12 \"1.500000\" 00"),
    STRUCT("a timeval", TIMEVAL, struct timeval, MEMBERS(10, 500000), "02 14 c0 84 3d"),
    ONE("a time", TIME, time_t, 1700000000, "02 80 e2 cf aa 06"),
    ONE("success", STATUS, pmix_status_t, 0, "02 00"),
    ONE("status -46", STATUS, pmix_status_t, -46, "02 5b"),
    ONE("status -31", STATUS, pmix_status_t, -31, "02 3d"),
    STRUCT("a proc", PROC, pmix_proc_t, MEMBERS("ns", 3), "02 06 6e 73 00 03"),
    STRUCT("a wildcard proc", PROC, pmix_proc_t, MEMBERS("ns", PMIX_RANK_WILDCARD),
           "02 06 6e 73 00 fe ff ff ff 0f"),
    ONE("an undefined rank", PROC_RANK, pmix_rank_t, PMIX_RANK_UNDEF,
        "02 ff ff ff ff 0f"),
    STRUCT("a uint32 value", VALUE, pmix_value_t,
           MEMBERS(.type = PMIX_UINT32, .data.uint32 = 7), "02 0e 07"),
    STRUCT("a string value", VALUE, pmix_value_t,
           MEMBERS(.type = PMIX_STRING, .data.string = (char *)"hi"),
           "02 03 06 68 69 00"),
    STRUCT("a value of no type", VALUE, pmix_value_t, MEMBERS(.type = PMIX_UNDEF),
           "02 00"),
    STRUCT("a pointer value, without the pointer", VALUE, pmix_value_t,
           MEMBERS(.type = PMIX_POINTER), "02 1f 01"),
    STRUCT("a byte object", BYTE_OBJECT, pmix_byte_object_t,
           MEMBERS((char *)"\1\2\3", 3), "02 03 01 02 03"),
    {"an info", PMIX_INFO, 1, &plain_info, "02 04 6b 00 00 0e 07"},
    {"a required info", PMIX_INFO, 1, &required_info, "02 04 6b 00 01 0e 07"},
    STRUCT("an array of uint32", DATA_ARRAY, pmix_data_array_t,
           MEMBERS(PMIX_UINT32, 2, (uint32_t[]){1, 500}), "02 0e 02 01 f4 03"),
    STRUCT("an array of infos", DATA_ARRAY, pmix_data_array_t,
           MEMBERS(PMIX_INFO, 1, (void *)&required_info), "02 18 01 04 6b 00 01 0e 07"),
    STRUCT("an array of no type, with its size", DATA_ARRAY, pmix_data_array_t,
           MEMBERS(PMIX_UNDEF, 0, NULL), "02 00 00"),
    ONE("a data type", DATA_TYPE, pmix_data_type_t, 300, "02 ac 02"),
    STRUCT("an environment variable", ENVAR, pmix_envar_t,
           MEMBERS((char *)"A", (char *)"b", ':'), "02 04 41 00 04 62 00 3a"),
    STRUCT("an app", APP, pmix_app_t,
           MEMBERS(.cmd = (char *)"c", .argv = app_argv, .env = app_env,
                   .cwd = (char *)"/", .maxprocs = 2),
           "02 04 63 00 04 04 63 00 04 78 00 02 08 45 3d 31 00 04 2f 00 04 00"),
    STRUCT("a query", QUERY, pmix_query_t, MEMBERS(.keys = query_keys),
           "02 02 18 70 6d 69 78 2e 71 72 79 2e 6e 73 00 00"),
    STRUCT("a published datum", PDATA, pmix_pdata_t,
           MEMBERS(.proc = {"ns", 1}, .key = "k", .value.type = PMIX_INT,
                   .value.data.integer = -3),
           "02 06 6e 73 00 01 04 6b 00 06 05"),
    STRUCT("what is known of a process", PROC_INFO, pmix_proc_info_t,
           MEMBERS(.proc = {"ns", 1}, .hostname = (char *)"h",
                   .executable_name = (char *)"x", .pid = 9, .state = 5),
           "02 06 6e 73 00 01 04 68 00 04 78 00 0e 09 05"),
    STRUCT("a coordinate", COORD, pmix_coord_t,
           MEMBERS(.view = 1, .coord = (uint32_t[]){1, 500}, .dims = 2),
           "02 01 02 01 f4 03"),
    STRUCT("a device distance", DEVICE_DIST, pmix_device_distance_t,
           MEMBERS((char *)"u", (char *)"o", 4, 1, 2), "02 04 75 00 04 6f 00 04 01 02"),
    STRUCT("an endpoint", ENDPOINT, pmix_endpoint_t,
           MEMBERS((char *)"u", (char *)"o", {(char *)"\xff", 1}),
           "02 04 75 00 04 6f 00 01 ff"),
    STRUCT("a regex, without a length", REGEX, pmix_byte_object_t,
           MEMBERS((char *)"pmix[n[1:1-3],n[2:10]]", 23),
           "02 \"pmix[n[1:1-3],n[2:10]]\" 00"),
    ONE("a command", COMMAND, uint8_t, 0, "02 00"),
};

static const size_t sizes[] = {1, 2};
static char *const no_string[] = {NULL};
static const pmix_info_t collect = {.key = "pmix.collect",
                                    .value = {.type = PMIX_BOOL, .data.flag = true}};

static const struct example v3[] = {
    ONE("a command", COMMAND, uint8_t, 3, "00 00 00 01 03"),
    ONE("a size with its tag", SIZE, size_t, 1,
        "00 00 00 01 00 0f 00 00 00 00 00 00 00 01"),
    STRUCT("a wildcard proc", PROC, pmix_proc_t, MEMBERS("job-ns", PMIX_RANK_WILDCARD),
           "00 00 00 01 00 00 00 07 6a 6f 62 2d 6e 73 00 ff ff ff fe"),
    {"an info", PMIX_INFO, 1, &collect,
     "00 00 00 01 00 00 00 0d \"pmix.collect\" 00 00 00 00 00 00 01 01"},
    ONE("success", STATUS, pmix_status_t, 0, "00 00 00 01 00 00 00 00"),
    {"two sizes under one tag", PMIX_SIZE, 2, sizes,
     "00 00 00 02 00 0f 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 02"},
    ONE("an int with its tag", INT, int, -2, "00 00 00 01 00 09 ff ff ff fe"),
    ONE("an unsigned int under the tag of an int", UINT, unsigned, 0xfffffffe,
        "00 00 00 01 00 09 ff ff ff fe"),
    ONE("a pid with its tag", PID, pid_t, 4242, "00 00 00 01 00 0e 00 00 10 92"),
    ONE("int16 -2", INT16, int16_t, -2, "00 00 00 01 ff fe"),
    ONE("int64 -2", INT64, int64_t, -2, "00 00 00 01 ff ff ff ff ff ff ff fe"),
    ONE("a uint64", UINT64, uint64_t, 0x123456789abcdef0,
        "00 00 00 01 12 34 56 78 9a bc de f0"),
    {"a NULL string", PMIX_STRING, 1, no_string, "00 00 00 01 00 00 00 00"},
    STRUCT("a timeval", TIMEVAL, struct timeval, MEMBERS(10, 500000),
           "00 00 00 01 00 00 00 00 00 00 00 0a 00 00 00 00 00 07 a1 20"),
    STRUCT("a byte object", BYTE_OBJECT, pmix_byte_object_t,
           MEMBERS((char *)"\1\2\3", 3),
           "00 00 00 01 00 0f 00 00 00 00 00 00 00 03 01 02 03"),
};

static const struct example v41_described[] = {
    ONE("a command", COMMAND, uint8_t, 0, "09 02 22 00"),
    STRUCT("a proc", PROC, pmix_proc_t, MEMBERS("ns", 3), "09 02 16 06 6e 73 00 03"),
};

static const struct example v3_described[] = {
    ONE("a command", COMMAND, uint8_t, 0, "00 09 00 00 00 01 00 22 00"),
};

/* ---- checks for every example -------------------------------------------------------------- */

static void packs_to(const struct example *e, struct px_codec codec)
{
    PX_AUTO(px_writer) w = writer_in(codec);
    PX_AUTO(px_buf) expected = bytes_of(e->bytes);

    px_pack(&w, e->src, e->n, e->type);

    ck_assert_msg(w.status == PMIX_SUCCESS, "%s: status %d", e->what, w.status);
    ck_assert_msg(w.buf.len == expected.len &&
                      memcmp(w.buf.data, expected.data, expected.len) == 0,
                  "%s: other bytes than recorded", e->what);
}

static void unpacks_to(const struct example *e, struct px_codec codec)
{
    PX_AUTO(px_buf) b = bytes_of(e->bytes);
    size_t size = px_type_find(e->type)->size;
    char *dst = malloc((size_t)e->n * size);
    int32_t n = e->n;
    px_reader r = reader_of(codec, &b);
    pmix_status_t rc = px_unpack(&r, dst, &n, e->type);

    ck_assert_msg(rc == PMIX_SUCCESS && n == e->n, "%s: status %d", e->what, rc);
    ck_assert_msg(px_reader_done(&r), "%s: bytes left", e->what);
    for (int32_t i = 0; i < n; i++)
        ck_assert_msg(px_type_compare(e->type, dst + (size_t)i * size,
                                      (const char *)e->src + (size_t)i * size) == 0,
                      "%s: reads back as something else", e->what);
    px_type_free_array(e->type, dst, (size_t)n);
}

static void all_hold(const struct example *e, size_t n, const char *dialect,
                     bool described)
{
    struct px_codec codec = codec_of(dialect, described);

    for (const struct example *end = e + n; e < end; e++) {
        packs_to(e, codec);
        unpacks_to(e, codec);
    }
}

PX_TEST(writes_and_reads_v41_as_recorded)
{
    all_hold(v41, PX_COUNT(v41), "v41", false);
}

PX_TEST(writes_the_later_and_earlier_flexible_dialects_like_v41)
{
    for (size_t i = 0; i < PX_COUNT(v41); i++) {
        packs_to(&v41[i], codec_of("v4", false));
        packs_to(&v41[i], codec_of("v51", false));
        packs_to(&v41[i], codec_of("v61", false));
    }
}

PX_TEST(writes_and_reads_v3_as_recorded)
{
    all_hold(v3, PX_COUNT(v3), "v3", false);
    all_hold(v3, PX_COUNT(v3), "v21", false);
}

PX_TEST(describes_each_operation_in_described_buffers)
{
    all_hold(v41_described, PX_COUNT(v41_described), "v41", true);
    all_hold(v3_described, PX_COUNT(v3_described), "v3", true);
}

/* ---- errors --------------------------------------------------------------------------------- */

PX_TEST(keeps_the_first_error_and_goes_quiet)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);

    px_pack_op(&w, 1);
    px_pack(&w, &w, 1, 499);
    size_t len = w.buf.len;
    px_pack(&w, NULL, 1, PMIX_STRING);
    px_pack_str(&w, "unseen");
    px_pack_kval(&w, NULL, NULL);
    px_pack_bytes(&w, "x", 1);

    fails(w.status, UNKNOWN_DATA_TYPE);
    ck_assert_uint_eq(w.buf.len, len);
}

static pmix_status_t pack_status(const char *dialect, const void *src, int32_t n,
                                 pmix_data_type_t type)
{
    PX_AUTO(px_writer) w = writer_in(codec_of(dialect, false));

    px_pack(&w, src, n, type);
    return w.status;
}

PX_TEST(refuses_what_the_peer_does_not_know_and_what_is_not_there)
{
    uint64_t devtype = 1;
    pmix_data_array_t in_array = {PMIX_DEVTYPE, 1, &devtype},
                      no_elements = {PMIX_INT, 3, NULL};
    pmix_proc_t endless;
    pmix_info_t endless_key = {.key = ""};
    const struct {
        const char *dialect;
        pmix_data_type_t type;
        int32_t n;
        const void *src;
        pmix_status_t status;
    } rows[] = {
        {"v3", PMIX_DEVTYPE, 1, &devtype, PMIX_ERR_UNKNOWN_DATA_TYPE},
        {"v3", PMIX_VALUE, 1, &(pmix_value_t){PMIX_DEVTYPE, {.devtype = 1}},
         PMIX_ERR_UNKNOWN_DATA_TYPE},
        {"v3", PMIX_DATA_ARRAY, 1, &in_array, PMIX_ERR_UNKNOWN_DATA_TYPE},
        {"v4", PMIX_DEVTYPE, 1, &devtype, PMIX_SUCCESS},
        {"v41", PMIX_DISK_STATS, 1, &(pmix_disk_stats_t){0}, PMIX_SUCCESS},
        {"v51", PMIX_DISK_STATS, 1, &(pmix_disk_stats_t){0},
         PMIX_ERR_UNKNOWN_DATA_TYPE},
        {"v41", PMIX_VALUE, 1, &(pmix_value_t){.type = PMIX_INFO},
         PMIX_ERR_UNKNOWN_DATA_TYPE},
        {"v41", PMIX_VALUE, 1, &(pmix_value_t){.type = PMIX_PROC}, PMIX_ERR_BAD_PARAM},
        {"v41", PMIX_BYTE_OBJECT, 1, &(pmix_byte_object_t){NULL, 3},
         PMIX_ERR_BAD_PARAM},
        {"v41", PMIX_DATA_ARRAY, 1, &no_elements, PMIX_ERR_BAD_PARAM},
        {"v41", PMIX_APP, 1, &(pmix_app_t){.ninfo = 2}, PMIX_ERR_BAD_PARAM},
        {"v41", PMIX_INT, 1, NULL, PMIX_ERR_BAD_PARAM},
        {"v41", PMIX_COMMAND, -1, &devtype, PMIX_ERR_BAD_PARAM},
        {"v41", PMIX_PROC, 1, &endless, PMIX_ERR_BAD_PARAM},
        {"v41", PMIX_INFO, 1, &endless_key, PMIX_ERR_BAD_PARAM},
    };

    memset(&endless, 'x', sizeof(endless));
    memset(endless_key.key, 'x', sizeof(endless_key.key));
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_msg(pack_status(rows[i].dialect, rows[i].src, rows[i].n,
                                  rows[i].type) == rows[i].status,
                      "row %zu", i);
}

PX_TEST(packs_a_missing_array_as_one_of_no_type)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    pmix_value_t v = {.type = PMIX_DATA_ARRAY};

    px_pack(&w, &v, 1, PMIX_VALUE);

    assert_wrote(&w, "02 27 00 00");
}

/* Builds arrays in arrays and packs the outermost. */
static pmix_status_t pack_nested(size_t depth)
{
    pmix_data_array_t level[64] = {{PMIX_UNDEF, 0, NULL}};

    for (size_t i = 1; i < depth; i++)
        level[i] = (pmix_data_array_t){PMIX_DATA_ARRAY, 1, &level[i - 1]};
    return pack_status("v41", &level[depth - 1], 1, PMIX_DATA_ARRAY);
}

PX_TEST(refuses_nesting_that_no_reader_would_accept)
{
    ok(pack_nested(PX_MAX_DEPTH + 1));
    fails(pack_nested(PX_MAX_DEPTH + 2), BAD_PARAM);
}

PX_TEST(sends_a_namespace_as_a_string_to_peers_that_lack_the_type)
{
    PX_AUTO(px_writer) w = writer_in(codec_of("v3", false));
    pmix_nspace_t ns = "a";
    pmix_value_t v = {.type = PMIX_PROC_NSPACE, .data.nspace = &ns};

    px_pack(&w, &v, 1, PMIX_VALUE);
    assert_wrote(&w, "00 00 00 01 00 03 00 00 00 02 61 00");
}

/* ---- dialects -------------------------------------------------------------------------------- */

PX_TEST(finds_exactly_the_dialects_in_use)
{
    static const char *const others[] = {"v12", "v20", "v411", "", NULL};

    for (size_t i = 0; i < n_dialects; i++) {
        struct px_codec c = codec_of(all_dialects[i], i % 2);
        struct px_codec newest = px_codec_newest(c);
        bool flex = i >= 2;

        ck_assert_str_eq(c.dialect->name, all_dialects[i]);
        ck_assert_int_eq(c.dialect->encoding, flex ? PX_ENC_FLEX : PX_ENC_FIXED);
        ck_assert_int_eq(newest.dialect->encoding, c.dialect->encoding);
        ck_assert_int_eq(newest.described, c.described);
        ck_assert_int_eq(px_dialect_knows(newest.dialect, PMIX_RESOURCE_UNIT), flex);
    }
    for (size_t i = 0; i < PX_COUNT(others); i++)
        ck_assert_ptr_null(px_dialect_find(others[i]));
    ck_assert_ptr_eq(px_codec_default.dialect, px_dialect_find("v41"));
    ck_assert(!px_codec_default.described);
}

static bool knows(const char *dialect, pmix_data_type_t id)
{
    return px_dialect_knows(px_dialect_find(dialect), id);
}

PX_TEST(knows_the_types_of_its_release)
{
    static const struct {
        pmix_data_type_t first, last;
        const char *from,
            *before;      /* oldest release with the type; newest release without it */
        const char *gone; /* release that dropped the type */
    } rows[] = {
        {PMIX_UNDEF, PMIX_QUERY, "v21", NULL, NULL},
        {PMIX_ALLOC_DIRECTIVE, PMIX_ALLOC_DIRECTIVE, "v21", NULL, NULL},
        {PMIX_IOF_CHANNEL, PMIX_ENVAR, "v3", "v21", NULL},
        {PMIX_COORD, PMIX_COMPRESSED_BYTE_OBJECT, "v4", "v3", NULL},
        {PMIX_COMPRESSED_STRING, PMIX_COMPRESSED_STRING, "v4", "v3", NULL},
        {PMIX_PROC_NSPACE, PMIX_PROC_NSPACE, "v41", "v4", NULL},
        {PMIX_PROC_STATS, PMIX_NODE_STATS, "v41", "v4", "v51"},
        {PMIX_DATA_BUFFER, PMIX_STOR_ACCESS_TYPE, "v41", "v4", NULL},
        {PMIX_DEVICE, PMIX_RESOURCE_UNIT, "v51", "v41", NULL},
        {PMIX_NODE_PID, PMIX_ALLOC_INHERIT, "v61", "v51", NULL},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        for (pmix_data_type_t id = rows[i].first; id <= rows[i].last; id++) {
            ck_assert_msg(knows(rows[i].from, id), "%s knows %u", rows[i].from, id);
            if (rows[i].before)
                ck_assert_msg(!knows(rows[i].before, id), "%s lacks %u", rows[i].before,
                              id);
            ck_assert_msg(knows("v61", id) == !rows[i].gone, "v61 and %u", id);
            if (rows[i].gone)
                ck_assert_msg(!knows(rows[i].gone, id), "%s lacks %u", rows[i].gone,
                              id);
        }
}

PX_TEST(knows_no_number_beyond_its_table)
{
    for (unsigned id = PMIX_ALLOC_INHERIT + 1; id <= UINT16_MAX; id++)
        ck_assert(!knows("v61", (pmix_data_type_t)id));
}

PX_TEST_MAIN("wire/pack", NULL, NULL)
