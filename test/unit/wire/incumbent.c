/* SPDX-License-Identifier: BSD-3-Clause */
/* The other implementation, if it is installed, writes the same objects as we, in each dialect it
 * has and both buffer forms: the bytes must be equal, and then what we read of ours
 * (wire/roundtrip) we read of its. It wants to be initialised, starts threads, leaks, and crashes
 * on some objects, so each codec gets a process of its own. PX_TEST_INCUMBENT names a library
 * other than the system's. */
#include "core/wire/codec.h"
#include "px_test.h"
#include "wire_test.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>

enum { SKIPPED = 77, N_SEEDS = 60, MAX_N = 3 };

struct incumbent {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t n);
    pmix_status_t (*pack)(const pmix_proc_t *target, pmix_data_buffer_t *buffer,
                          void *src, int32_t n, pmix_data_type_t type);
};

/* What 4.2.2 crashes on. */
static const pmix_data_type_t leave_out[] = {
    PMIX_REGEX,       /* inside a value it is read through one pointer too many */
    PMIX_DATA_BUFFER, /* likewise */
    PMIX_NODE_STATS,  /* its lists are taken to start at the pointer to them */
    PMIX_PROC_CPUSET, /* has to come from its topology library */
    PMIX_UNDEF,
};

/* By its whole path: the bare name could find ours. */
static bool load(struct incumbent *lib)
{
    static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libpmix.so.2",
                                        "/usr/lib/aarch64-linux-gnu/libpmix.so.2",
                                        "/usr/lib64/libpmix.so.2",
                                        "/usr/lib/libpmix.so.2"};
    const char *named = getenv("PX_TEST_INCUMBENT");
    void *handle = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *(*version)(void);

    for (size_t i = 0; !handle && i < PX_COUNT(paths); i++)
        handle = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    *(void **)&version = dlsym(handle, "PMIx_Get_version");
    *(void **)&lib->init = dlsym(handle, "PMIx_Init");
    *(void **)&lib->pack = dlsym(handle, "PMIx_Data_pack");
    return version && strstr(version(), "OpenPMIx") && lib->init && lib->pack;
}

/* As a process that nobody launched: it finds no server, and needs none. */
static bool start(struct incumbent *lib, struct px_codec codec)
{
    pmix_proc_t me;

    if (!load(lib))
        return false;
    clearenv();
    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_bfrops", codec.dialect->name, 1);
    setenv("PMIX_MCA_bfrops_base_default_type", codec.described ? "2" : "1", 1);
    pmix_status_t rc = lib->init(&me, NULL, 0);
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_UNREACH;
}

static void print_bytes(const char *who, const void *bytes, size_t n)
{
    printf("  %s:", who);
    for (size_t i = 0; i < n && i < 120; i++)
        printf(" %02x", ((const uint8_t *)bytes)[i]);
    printf("\n");
}

/* n objects of a type, generated; true if both write them alike. */
static bool writes_alike(const struct incumbent *lib, struct px_codec codec,
                         pmix_data_type_t type, unsigned seed)
{
    struct gen g = {
        .state = seed * 77 + type, .dialect = codec.dialect, .leave_out = leave_out};
    const struct px_type *t = px_type_find(type);
    int32_t n = 1 + (int32_t)(seed % MAX_N);
    char *objects = calloc(MAX_N, t->size);
    pmix_data_buffer_t theirs = {0};
    px_writer ours;

    for (int32_t i = 0; i < n; i++)
        gen_object(&g, type, objects + (size_t)i * t->size);
    px_writer_init(&ours, codec);
    px_pack(&ours, objects, n, type);
    pmix_status_t rc = lib->pack(NULL, &theirs, objects, n, type);
    if (rc == ours.status && theirs.bytes_used == ours.buf.len &&
        memcmp(theirs.base_ptr, ours.buf.data, ours.buf.len) == 0)
        return true;
    printf("%s %s, seed %u: %d and %d\n", codec.dialect->name, t->name, seed, rc,
           ours.status);
    print_bytes("theirs", theirs.base_ptr, theirs.bytes_used);
    print_bytes("ours  ", ours.buf.data, ours.buf.len);
    return false;
}

static bool writes_all_alike(const struct incumbent *lib, struct px_codec codec)
{
    struct gen g = {.dialect = codec.dialect, .leave_out = leave_out};
    bool alike = true;

    for (pmix_data_type_t type = 1; type <= PMIX_STOR_ACCESS_TYPE; type++)
        for (unsigned seed = 0; gen_can(&g, type) && seed < N_SEEDS; seed++)
            if (!writes_alike(lib, codec, type, seed)) {
                alike = false;
                break;
            }
    return alike;
}

/* The user's call: a regex is a char * there. */
static bool writes_regex_alike(const struct incumbent *lib,
                               struct px_codec codec PX_UNUSED)
{
    char *regex[] = {(char *)"pmix[n[1:1-3],n[2:10]]", (char *)"raw:a,b"};
    pmix_data_buffer_t theirs = {0}, ours = {0};

    return lib->pack(NULL, &theirs, regex, 2, PMIX_REGEX) == PMIX_SUCCESS &&
           PMIx_Data_pack(NULL, &ours, regex, 2, PMIX_REGEX) == PMIX_SUCCESS &&
           theirs.bytes_used == ours.bytes_used &&
           memcmp(theirs.base_ptr, ours.base_ptr, ours.bytes_used) == 0;
}

static int apart(struct px_codec codec,
                 bool (*check)(const struct incumbent *, struct px_codec))
{
    int status = -1;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct incumbent lib = {0};
        int result = EXIT_FAILURE;

        if (!start(&lib, codec))
            result = SKIPPED;
        else if (check(&lib, codec))
            result = EXIT_SUCCESS;
        fflush(NULL);
        _exit(result);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

START_TEST(both_write_every_type_alike)
{
    static const char *const dialects[] = {"v41", "v4", "v3", "v21"};

    for (size_t i = 0; i < 2 * PX_COUNT(dialects); i++) {
        struct px_codec codec = codec_of(dialects[i / 2], i & 1);
        int result = apart(codec, writes_all_alike);

        PX_TEST_NEEDS(result != SKIPPED, "the other implementation");
        ck_assert_msg(result == EXIT_SUCCESS, "%s, described %d: %d",
                      codec.dialect->name, codec.described, result);
    }
}
END_TEST

START_TEST(both_write_a_users_regex_alike)
{
    int result = apart(px_codec_default, writes_regex_alike);

    PX_TEST_NEEDS(result != SKIPPED, "the other implementation");
    ck_assert_int_eq(result, EXIT_SUCCESS);
}
END_TEST

PX_TEST_MAIN("wire/incumbent", both_write_every_type_alike,
             both_write_a_users_regex_alike)
