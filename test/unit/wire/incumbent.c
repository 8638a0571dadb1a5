/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison with OpenPMIx, if it is installed. Both libraries write the same objects
 * in each common dialect and both buffer forms; the bytes must be equal. Each reads the
 * other's bytes, and the objects must be equal to the originals. A buffer may pass from
 * one library to the other. */
#include "core/base/attr.h"
#include "incumbent.h"
#include "pmix.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_SEEDS = 240, MAX_N = 3 };

/* ---- the other library ----------------------------------------------------------------------- */

/* clang-format off */
#define CALLS(X) \
    X(Init) X(Data_pack) X(Data_unpack) X(Data_copy_payload) X(Data_load) \
    X(Data_unload) X(Data_embed) X(Data_compress) X(Data_decompress)
/* clang-format on */
#define MEMBER(name)  __typeof__(PMIx_##name) *name;
#define LOOK_UP(name) *(void **)&lib.name = dlsym(handle, "PMIx_" #name);

static struct {
    CALLS(MEMBER)
} lib;

/* Initialises the other library as a singleton, which needs no server. */
static bool start(struct px_codec codec)
{
    void *handle = px_test_incumbent();
    pmix_proc_t me;

    if (!handle)
        return false;
    CALLS(LOOK_UP)
    if (!lib.Init || !lib.Data_pack)
        return false;
    clearenv();
    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_bfrops", codec.dialect->name, 1);
    setenv("PMIX_MCA_bfrops_base_default_type", codec.described ? "2" : "1", 1);
    pmix_status_t rc = lib.Init(&me, NULL, 0);
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_UNREACH;
}

enum { GOOD, BAD, MISSING = 77 };

typedef bool check_fn(struct px_codec codec);

/* Runs check in a process of its own, where the other library uses codec. The library
 * needs initialisation, starts threads, leaks, and crashes on some objects. */
static int run_apart(struct px_codec codec, check_fn *check)
{
    int status = -1;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int result = !start(codec) ? MISSING : check(codec) ? GOOD : BAD;

        fflush(NULL);
        _exit(result);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return BAD;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- limits of the other library; each list ends in UNDEF ------------------------------------ */

/* Types on which 4.2.2 crashes. BUFFER, KVAL and MODEX, 26 to 29, are internal to
 * it. */
static const pmix_data_type_t leave_out[] = {
    PMIX_REGEX,       /* inside a value, read through one pointer too many */
    PMIX_DATA_BUFFER, /* likewise */
    PMIX_NODE_STATS,  /* list heads are mistaken for the pointers to them */
    PMIX_PROC_CPUSET, /* must come from its topology library */
    PMIX_TOPO,        /* likewise */
    PMIX_UNDEF,
};

/* Types that OpenPMIx reads differently from its own output, in dialects with flexible
 * numbers. */
static const pmix_data_type_t unreadable[] = {
    PMIX_DATA_TYPE,  /* written unsigned, read as signed */
    PMIX_REGATTR,    /* contains a data type */
    PMIX_PROC_STATS, /* peak_vsize is written last, but read before the processor */
    PMIX_REGEX,      PMIX_DATA_BUFFER,
    PMIX_NODE_STATS, PMIX_PROC_CPUSET, /* see leave_out */
    PMIX_TOPO,       PMIX_UNDEF,
};

/* OpenPMIx writes arrays of any type, but cannot create arrays of these for reading. */
static const pmix_data_type_t unreadable_in_array[] = {
    PMIX_COMMAND,      PMIX_DATA_ARRAY,  PMIX_JOB_STATE,
    PMIX_DEVTYPE,      PMIX_LOCTYPE,     PMIX_COMPRESSED_BYTE_OBJECT,
    PMIX_STOR_MEDIUM,  PMIX_STOR_ACCESS, PMIX_STOR_ACCESS_TYPE,
    PMIX_STOR_PERSIST, PMIX_UNDEF,
};

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Objects of one type, written by both libraries. */
struct subject {
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
    s->ours = writer_in(s->codec);
    px_pack(&s->ours, s->objects, s->n, s->type->id);
    pmix_status_t rc = lib.Data_pack(NULL, &s->theirs, s->objects, s->n, s->type->id);

    return rc == s->ours.status && s->theirs.bytes_used == s->ours.buf.len &&
           memcmp(s->theirs.base_ptr, s->ours.buf.data, s->ours.buf.len) == 0;
}

/* Reads from a copy of our bytes, because OpenPMIx buffers own their bytes. */
static bool is_read_by_them(struct subject *s)
{
    char *objects = calloc(MAX_N, s->type->size);
    int32_t n = MAX_N;
    pmix_byte_object_t bo = {malloc(s->ours.buf.len), s->ours.buf.len};
    pmix_data_buffer_t buffer = {0};

    memcpy(bo.bytes, s->ours.buf.data, bo.size);
    pmix_status_t rc = lib.Data_load(&buffer, &bo);
    if (!rc)
        rc = lib.Data_unpack(NULL, &buffer, objects, &n, s->type->id);
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

/* Sends n generated objects of a type both ways: once all that OpenPMIx can write, and
 * once all that it can read. */
static bool type_passes(struct px_codec codec, pmix_data_type_t type, unsigned seed)
{
    struct gen g = {.state = (gen_seed() * 613 + seed) * 77 + type,
                    .dialect = codec.dialect,
                    .leave_out = leave_out,
                    .wild = seed % 4 == 3};
    struct subject s = {.codec = codec,
                        .type = px_type_find(type),
                        .n = type == PMIX_POINTER ? 1 : 1 + (int32_t)(seed % MAX_N)};
    struct subject again = s;

    s.objects = gen_array(&g, type, (size_t)s.n);
    if (!passes(&s, seed, false))
        return false;
    if (codec.dialect->encoding == PX_ENC_FLEX)
        g.leave_out = unreadable;
    g.not_in_array = unreadable_in_array;
    if (!gen_can(&g, type))
        return true;
    again.objects = gen_array(&g, type, (size_t)again.n);
    return passes(&again, seed, true);
}

static bool all_types_pass(struct px_codec codec)
{
    struct gen g = {.dialect = codec.dialect, .leave_out = leave_out};
    bool good = lib.Data_load && lib.Data_unpack;

    for (pmix_data_type_t type = 1; type <= PMIX_STOR_ACCESS_TYPE; type++) {
        bool all = true;

        for (unsigned seed = 0; gen_can(&g, type) && all && seed < N_SEEDS; seed++)
            all = type_passes(codec, type, seed);
        good = good && all;
    }
    return good;
}

/* Tests types that fail only inside other objects, or only with all members set. */
static bool difficult_types_pass(struct px_codec codec)
{
    static const pmix_data_type_t types[] = {PMIX_DATA_BUFFER, PMIX_NODE_STATS};
    bool good = true;

    for (unsigned i = 0; good && i < PX_COUNT(types) * N_SEEDS; i++) {
        pmix_data_type_t type = types[i % PX_COUNT(types)];
        struct gen g = {.state = gen_seed() * 613 + i, .dialect = codec.dialect};
        struct subject s = {.codec = codec, .type = px_type_find(type), .n = 1};

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

/* 4.2.2 fails to write a non-empty set, but reads one. A set without a handle gets the
 * reader's library as its source. */
static bool cpusets_pass(struct px_codec codec)
{
    bool good = true;

    for (unsigned i = 0; good && i < N_SEEDS; i++) {
        struct gen g = {
            .state = gen_seed() * 613 + i, .dialect = codec.dialect, .wild = i & 1};
        struct subject s = {
            .codec = codec, .type = px_type_find(PMIX_PROC_CPUSET), .n = 1};

        s.objects = gen_array(&g, PMIX_PROC_CPUSET, 1);
        if (!((pmix_cpuset_t *)(void *)s.objects)->bitmap) {
            good = passes(&s, i, false);
            continue;
        }
        s.ours = writer_in(codec);
        px_pack(&s.ours, s.objects, 1, PMIX_PROC_CPUSET);
        good = s.ours.status == PMIX_SUCCESS && is_read_by_them(&s);
        px_type_free_array(PMIX_PROC_CPUSET, s.objects, 1);
        px_writer_cleanup(&s.ours);
    }
    return good;
}

/* Uses the public call, where a regex is a char *. Each library reads the other's
 * bytes. */
static bool regex_passes(struct px_codec codec PX_UNUSED)
{
    char *regex[] = {(char *)"pmix[n[1:1-3],n[2:10]]", (char *)"raw:a,b"};
    char *theirs_read[2] = {0}, *ours_read[2] = {0};
    int32_t n_theirs = 2, n_ours = 2;
    pmix_data_buffer_t theirs = {0}, ours = {0};
    bool good = !lib.Data_pack(NULL, &theirs, regex, 2, PMIX_REGEX) &&
                !PMIx_Data_pack(NULL, &ours, regex, 2, PMIX_REGEX) &&
                theirs.bytes_used == ours.bytes_used &&
                memcmp(theirs.base_ptr, ours.base_ptr, ours.bytes_used) == 0 &&
                !lib.Data_unpack(NULL, &ours, theirs_read, &n_theirs, PMIX_REGEX) &&
                !PMIx_Data_unpack(NULL, &theirs, ours_read, &n_ours, PMIX_REGEX) &&
                n_theirs == 2 && n_ours == 2;

    for (int i = 0; good && i < 2; i++)
        good = strcmp(theirs_read[i], regex[i]) == 0 &&
               strcmp(ours_read[i], regex[i]) == 0;
    return good;
}

/* ---- buffers and bytes ----------------------------------------------------------------------- */

static bool holds(const pmix_data_buffer_t *b, const char *bytes, size_t n)
{
    return b->bytes_used == n && memcmp(b->base_ptr, bytes, n) == 0 &&
           b->unpack_ptr == b->base_ptr && b->pack_ptr == b->base_ptr + n;
}

/* Packs alternately into one buffer, then unpacks alternately. */
static bool share_a_buffer(struct px_codec codec PX_UNUSED)
{
    pmix_data_buffer_t b = {0}, end = {0};
    pmix_byte_object_t bo = {0}, rest = {0};
    bool good = true;

    for (uint32_t i = 0; good && i < 400; i++)
        good = !(i & 1 ? PMIx_Data_pack : lib.Data_pack)(NULL, &b, &i, 1, PMIX_UINT32);
    good = good &&
           !PMIx_Data_embed(&end, &(pmix_byte_object_t){b.base_ptr, b.bytes_used}) &&
           holds(&end, b.base_ptr, b.bytes_used) && !lib.Data_copy_payload(&end, &b) &&
           !PMIx_Data_copy_payload(&end, &b) && end.bytes_used == 3 * b.bytes_used &&
           !lib.Data_unload(&end, &bo) && !end.base_ptr && !PMIx_Data_load(&end, &bo) &&
           !bo.bytes;
    for (uint32_t i = 0; good && i < 1200; i++) {
        uint32_t v = UINT32_MAX;
        int32_t n = 1;

        if (i == 700) /* the rest moves through a buffer of the other library */
            good = !PMIx_Data_unload(&end, &rest) && !lib.Data_load(&end, &rest) &&
                   !rest.bytes;
        good = good &&
               !(i & 2 ? PMIx_Data_unpack : lib.Data_unpack)(NULL, &end, &v, &n,
                                                             PMIX_UINT32) &&
               v == i % 400;
        if (!good)
            printf("at %u: %u\n", i, v);
    }
    free(b.base_ptr);
    free(end.base_ptr);
    return good;
}

static bool comes_back(const uint8_t *plain, size_t n, const uint8_t *packed,
                       size_t n_packed, __typeof__(PMIx_Data_decompress) *decompress)
{
    PX_AUTOFREE uint8_t *out = NULL;
    size_t n_out = 0;

    return decompress(packed, n_packed, &out, &n_out) && n_out == n &&
           memcmp(out, plain, n) == 0;
}

/* 4.2.2 never compresses here: its output buffer is smaller than zlib's bound. Other
 * releases do compress. */
static bool compress_for_each_other(struct px_codec codec PX_UNUSED)
{
    struct gen g = {.state = gen_seed()};
    bool good = true;

    for (size_t n = 1; good && n < 3000000; n = 3 * n + 1) {
        PX_AUTOFREE uint8_t *plain = malloc(n);
        PX_AUTOFREE uint8_t *ours = NULL;
        PX_AUTOFREE uint8_t *theirs = NULL;
        size_t n_ours, n_theirs;

        for (size_t i = 0; i < n; i++)
            plain[i] = (uint8_t)('a' + gen_below(&g, 4));
        if (PMIx_Data_compress(plain, n, &ours, &n_ours))
            good = comes_back(plain, n, ours, n_ours, lib.Data_decompress) &&
                   comes_back(plain, n, ours, n_ours, PMIx_Data_decompress);
        else
            good = n < 4096;
        if (good && lib.Data_compress(plain, n, &theirs, &n_theirs))
            good = comes_back(plain, n, theirs, n_theirs, PMIx_Data_decompress);
        if (!good)
            printf("%zu bytes\n", n);
    }
    return good;
}

/* ---- all checks ------------------------------------------------------------------------------ */

PX_TEST_LOOP(both_write_and_read_every_type_alike, 8)
{
    static const char *const dialects[] = {"v41", "v4", "v3", "v21"};
    int result = run_apart(codec_of(dialects[_i / 2], _i & 1), all_types_pass);

    PX_TEST_NEEDS(result != MISSING, "the other implementation");
    ck_assert_msg(result == GOOD, "%s, described %d: %d", dialects[_i / 2], _i & 1,
                  result);
}

static const struct {
    const char *name;
    check_fn *check;
} checks[] = {
    {"write and read the difficult types", difficult_types_pass},
    {"read our cpusets", cpusets_pass},
    {"write and read a user's regex", regex_passes},
    {"pass a buffer from one to the other", share_a_buffer},
    {"decompress what either compressed", compress_for_each_other},
};

PX_TEST_LOOP(both_do_alike, (int)PX_COUNT(checks))
{
    int result = run_apart(px_codec_default, checks[_i].check);

    PX_TEST_NEEDS(result != MISSING, "the other implementation");
    ck_assert_msg(result == GOOD, "%s: %d", checks[_i].name, result);
}

PX_TEST_MAIN("wire/incumbent", NULL, NULL)
