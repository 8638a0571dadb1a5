/* SPDX-License-Identifier: BSD-3-Clause */
/* The other implementation writes the same objects as we, in each dialect it has and both buffer
 * forms: the bytes must be equal. It reads what we wrote, and we read what it wrote, and both
 * times the objects are those that were written. */
#include "incumbent_lib.h"
#include "px_test.h"
#include "sample.h"
#include "wire_test.h"

#include <string.h>

enum { N_SEEDS = 240, MAX_N = 3 };

/* What 4.2.2 writes, but reads differently, in dialects with flexible numbers. */
static const pmix_data_type_t unreadable[] = {
    PMIX_DATA_TYPE,  /* written unsigned, read as if signed */
    PMIX_REGATTR,    /* has one */
    PMIX_PROC_STATS, /* peak_vsize is written last, but read before the processor */
    PMIX_REGEX,      PMIX_DATA_BUFFER, PMIX_NODE_STATS, PMIX_PROC_CPUSET, /* as ever */
    PMIX_TOPO,       PMIX_UNDEF,
};

/* It writes arrays of any type; of these it does not know how to make one to read into. */
static const pmix_data_type_t unreadable_in_array[] = {
    PMIX_COMMAND,      PMIX_DATA_ARRAY,  PMIX_JOB_STATE,
    PMIX_DEVTYPE,      PMIX_LOCTYPE,     PMIX_COMPRESSED_BYTE_OBJECT,
    PMIX_STOR_MEDIUM,  PMIX_STOR_ACCESS, PMIX_STOR_ACCESS_TYPE,
    PMIX_STOR_PERSIST, PMIX_UNDEF,
};

/* Some objects of one type, written by both. */
struct subject {
    const struct incumbent *lib;
    struct px_codec codec;
    const struct px_type *type;
    int32_t n;
    char *objects;
    px_writer ours;
    pmix_data_buffer_t theirs;
};

static void print_bytes(const char *who, const void *bytes, size_t n)
{
    printf("  %s:", who);
    for (size_t i = 0; i < n && i < 120; i++)
        printf(" %02x", ((const uint8_t *)bytes)[i]);
    printf("\n");
}

static bool is_same(const struct subject *s, const char *objects, int32_t n)
{
    for (size_t i = 0; n == s->n && i < (size_t)n; i++) {
        const void *is = objects + i * s->type->size,
                   *was = s->objects + i * s->type->size;

        if (px_type_compare(s->type->id, is, was)) {
            PX_AUTOFREE char *text = px_type_print(s->type->id, is);
            PX_AUTOFREE char *right = px_type_print(s->type->id, was);

            printf("  %.500s\n  %.500s\n", right, text);
            return false;
        }
    }
    return n == s->n;
}

static bool is_written_alike(struct subject *s)
{
    px_writer_init(&s->ours, s->codec);
    px_pack(&s->ours, s->objects, s->n, s->type->id);
    pmix_status_t rc = s->lib->pack(NULL, &s->theirs, s->objects, s->n, s->type->id);

    return rc == s->ours.status && s->theirs.bytes_used == s->ours.buf.len &&
           memcmp(s->theirs.base_ptr, s->ours.buf.data, s->ours.buf.len) == 0;
}

/* From a copy of our bytes, as its buffers own theirs. */
static bool is_read_by_them(struct subject *s)
{
    char *objects = calloc(MAX_N, s->type->size);
    int32_t n = MAX_N;
    pmix_byte_object_t bo = {malloc(s->ours.buf.len), s->ours.buf.len};
    pmix_data_buffer_t buffer = {0};

    memcpy(bo.bytes, s->ours.buf.data, bo.size);
    pmix_status_t rc = s->lib->load(&buffer, &bo);
    if (!rc)
        rc = s->lib->unpack(NULL, &buffer, objects, &n, s->type->id);
    if (rc)
        printf("  status %d\n", rc);
    bool good = rc == PMIX_SUCCESS && is_same(s, objects, n);
    px_type_free_array(s->type->id, objects, good ? (size_t)n : 0);
    free(buffer.base_ptr);
    return good;
}

static bool is_read_by_us(struct subject *s)
{
    char *objects = calloc(MAX_N, s->type->size);
    int32_t n = MAX_N;
    px_reader r;

    px_reader_init(&r, s->codec, s->theirs.base_ptr, s->theirs.bytes_used);
    pmix_status_t rc = px_unpack(&r, objects, &n, s->type->id);
    bool good = rc == PMIX_SUCCESS && px_reader_done(&r) && is_same(s, objects, n);
    px_type_free_array(s->type->id, objects, rc ? 0 : (size_t)n);
    return good;
}

static bool passes(struct subject *s, unsigned seed, bool they_read)
{
    const char *wrong = !is_written_alike(s) ? "written differently"
                        : they_read && !is_read_by_them(s)
                            ? "not read by them as it was written"
                        : !is_read_by_us(s) ? "not read by us as it was written"
                                            : NULL;
    if (wrong) {
        printf("%s%s %s, seed %u of PX_TEST_SEED=%llu: %s\n", s->codec.dialect->name,
               s->codec.described ? " described" : "", s->type->name, seed,
               (unsigned long long)gen_seed(), wrong);
        print_bytes("theirs", s->theirs.base_ptr, s->theirs.bytes_used);
        print_bytes("ours  ", s->ours.buf.data, s->ours.buf.len);
    }
    px_type_free_array(s->type->id, s->objects, (size_t)s->n);
    px_writer_cleanup(&s->ours);
    free(s->theirs.base_ptr);
    return !wrong;
}

/* n objects of a type, generated, there and back: of all that it can write, and again of what it
 * can read. */
static bool type_passes(const struct incumbent *lib, struct px_codec codec,
                        pmix_data_type_t type, unsigned seed)
{
    struct gen g = {.state = (gen_seed() * 613 + seed) * 77 + type,
                    .dialect = codec.dialect,
                    .leave_out = incumbent_leave_out,
                    .wild = seed % 4 == 3};
    struct subject s = {.lib = lib,
                        .codec = codec,
                        .type = px_type_find(type),
                        .n = 1 + (int32_t)(seed % MAX_N)};

    if (type == PMIX_POINTER)
        s.n = 1;
    struct subject again = s;
    s.objects = gen_array(&g, type, (size_t)s.n);
    if (!passes(&s, seed, false))
        return false;
    g.leave_out = codec.dialect->encoding == PX_ENC_FLEX ? unreadable
                                                         : incumbent_leave_out;
    g.not_in_array = unreadable_in_array;
    if (!gen_can(&g, type))
        return true;
    again.objects = gen_array(&g, type, (size_t)again.n);
    return passes(&again, seed, true);
}

static bool all_types_pass(const struct incumbent *lib, struct px_codec codec)
{
    struct gen g = {.dialect = codec.dialect, .leave_out = incumbent_leave_out};
    bool good = lib->load && lib->unpack;

    for (pmix_data_type_t type = 1; type <= PMIX_STOR_ACCESS_TYPE; type++) {
        bool all = true;

        for (unsigned seed = 0; gen_can(&g, type) && all && seed < N_SEEDS; seed++)
            all = type_passes(lib, codec, type, seed);
        good = good && all;
    }
    return good;
}

/* Types that it has trouble with only inside of others, or as full as they can be. */
static bool difficult_types_pass(const struct incumbent *lib, struct px_codec codec)
{
    static const pmix_data_type_t types[] = {PMIX_DATA_BUFFER, PMIX_NODE_STATS};
    bool good = true;

    for (unsigned i = 0; good && i < PX_COUNT(types) * N_SEEDS; i++) {
        pmix_data_type_t type = types[i % PX_COUNT(types)];
        struct gen g = {.state = gen_seed() * 613 + i, .dialect = codec.dialect};
        struct subject s = {
            .lib = lib, .codec = codec, .type = px_type_find(type), .n = 1};

        s.objects = gen_array(&g, type, 1);
        if (type == PMIX_NODE_STATS) {
            pmix_node_stats_t *stats = (void *)s.objects;

            px_type_free_array(PMIX_DISK_STATS, stats->diskstats, stats->ndiskstats);
            px_type_free_array(PMIX_NET_STATS, stats->netstats, stats->nnetstats);
            stats->diskstats = NULL;
            stats->netstats = NULL;
            stats->ndiskstats = stats->nnetstats = 0;
        }
        good = passes(&s, i, true);
    }
    return good;
}

/* 4.2.2 fails to write a set with bits in it, but reads one; a set without a handle gets the
 * reader's library as its source. */
static bool cpusets_pass(const struct incumbent *lib, struct px_codec codec)
{
    bool good = true;

    for (unsigned i = 0; good && i < N_SEEDS; i++) {
        struct gen g = {
            .state = gen_seed() * 613 + i, .dialect = codec.dialect, .wild = i & 1};
        struct subject s = {
            .lib = lib, .codec = codec, .type = px_type_find(PMIX_PROC_CPUSET), .n = 1};

        s.objects = gen_array(&g, PMIX_PROC_CPUSET, 1);
        if (!((pmix_cpuset_t *)(void *)s.objects)->bitmap) {
            good = passes(&s, i, false);
            continue;
        }
        px_writer_init(&s.ours, codec);
        px_pack(&s.ours, s.objects, 1, PMIX_PROC_CPUSET);
        good = s.ours.status == PMIX_SUCCESS && is_read_by_them(&s);
        px_type_free_array(PMIX_PROC_CPUSET, s.objects, 1);
        px_writer_cleanup(&s.ours);
    }
    return good;
}

/* The user's call: a regex is a char * there. Each reads what the other wrote. */
static bool regex_passes(const struct incumbent *lib, struct px_codec codec PX_UNUSED)
{
    char *regex[] = {(char *)"pmix[n[1:1-3],n[2:10]]", (char *)"raw:a,b"};
    char *theirs_read[2] = {0}, *ours_read[2] = {0};
    int32_t n_theirs = 2, n_ours = 2;
    pmix_data_buffer_t theirs = {0}, ours = {0};
    bool good = lib->pack(NULL, &theirs, regex, 2, PMIX_REGEX) == PMIX_SUCCESS &&
                PMIx_Data_pack(NULL, &ours, regex, 2, PMIX_REGEX) == PMIX_SUCCESS &&
                theirs.bytes_used == ours.bytes_used &&
                memcmp(theirs.base_ptr, ours.base_ptr, ours.bytes_used) == 0;

    good = good &&
           lib->unpack(NULL, &ours, theirs_read, &n_theirs, PMIX_REGEX) ==
               PMIX_SUCCESS &&
           PMIx_Data_unpack(NULL, &theirs, ours_read, &n_ours, PMIX_REGEX) ==
               PMIX_SUCCESS &&
           n_theirs == 2 && n_ours == 2;
    for (int i = 0; good && i < 2; i++)
        good = strcmp(theirs_read[i], regex[i]) == 0 &&
               strcmp(ours_read[i], regex[i]) == 0;
    return good;
}

static void both_agree(const char *dialect)
{
    for (int described = 0; described < 2; described++) {
        int result = incumbent_apart(codec_of(dialect, described), all_types_pass);

        PX_TEST_NEEDS(result != INCUMBENT_MISSING, "the other implementation");
        ck_assert_msg(result == INCUMBENT_GOOD, "%s, described %d: %d", dialect,
                      described, result);
    }
}

PX_TEST(both_write_and_read_every_type_of_v41_alike)
{
    both_agree("v41");
}

PX_TEST(both_write_and_read_every_type_of_v4_alike)
{
    both_agree("v4");
}

PX_TEST(both_write_and_read_every_type_of_v3_alike)
{
    both_agree("v3");
}

PX_TEST(both_write_and_read_every_type_of_v21_alike)
{
    both_agree("v21");
}

PX_TEST(both_write_and_read_the_difficult_types_alike)
{
    int result = incumbent_apart(px_codec_default, difficult_types_pass);

    PX_TEST_NEEDS(result != INCUMBENT_MISSING, "the other implementation");
    ck_assert_int_eq(result, INCUMBENT_GOOD);
}

PX_TEST(it_reads_our_cpusets)
{
    int result = incumbent_apart(px_codec_default, cpusets_pass);

    PX_TEST_NEEDS(result != INCUMBENT_MISSING, "the other implementation");
    ck_assert_int_eq(result, INCUMBENT_GOOD);
}

PX_TEST(both_write_and_read_a_users_regex_alike)
{
    int result = incumbent_apart(px_codec_default, regex_passes);

    PX_TEST_NEEDS(result != INCUMBENT_MISSING, "the other implementation");
    ck_assert_int_eq(result, INCUMBENT_GOOD);
}

PX_TEST_MAIN("wire/incumbent", NULL, NULL)
