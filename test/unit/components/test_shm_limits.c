/* SPDX-License-Identifier: BSD-3-Clause */
/* gds/shm without memory, address space, descriptors or system calls: each failure
 * gives one status and keeps the old data; and the release of resources. */
#include "core/types/type.h"
#include "alloc_fail.h"
#include "components/gds/shm/table.h"
#include "px_test.h"
#include "seccomp.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { LARGE = 100000 };

uint64_t px_shm_garbage, px_shm_spare;
extern const struct px_component px_gds_shm_component;
static struct px_shm_segment writer, reader;
static char bytes[LARGE];

void px_shm_step(const px_shm_word *word PX_UNUSED, bool writes PX_UNUSED)
{
}

static void setup(void)
{
    px_shm_garbage = UINT64_MAX;
    px_shm_spare = LARGE;
}

static struct px_shm_key key_of(unsigned i, char text[16])
{
    struct px_shm_key key = {.table = PX_GDS_JOB, .text = text};

    key.length = (uint16_t)snprintf(text, 16, "key.%u", i);
    return key;
}

static pmix_status_t put(unsigned i, uint32_t n)
{
    char text[16];
    struct px_shm_key key = key_of(i, text);

    memset(bytes, (int)i, n);
    return px_shm_put(
        &writer, &key,
        (struct px_shm_value){.bytes = bytes, .n = n, .type = PMIX_BYTE_OBJECT});
}

/* True if the segment has the value that put stores. */
static bool has(struct px_shm_segment *s, unsigned i)
{
    char text[16];
    struct px_shm_key key = key_of(i, text);
    struct px_shm_value v;

    if (!px_shm_find(s, &key, &v))
        return false;
    ck_assert(px_shm_may_have(s, &key));
    memset(bytes, (int)i, v.n);
    ck_assert_mem_eq(v.bytes, bytes, v.n);
    return true;
}

static void drop(unsigned i)
{
    char text[16];
    struct px_shm_key key = key_of(i, text);

    px_shm_remove(&writer, &key);
}

static void begin(uint64_t limit)
{
    ok(px_shm_segment_create(&writer, limit));
    ok(px_shm_segment_attach(&reader, px_shm_segment_show(&writer)));
}

/* Checks that from n on nothing can be stored, and that everything else works. */
static void is_full_from(unsigned n)
{
    fails(put(n, LARGE), NOMEM);
    for (unsigned i = 0; i < n; i++) {
        ck_assert(has(&writer, i));
        ck_assert(has(&reader, i));
    }
    ck_assert(!has(&writer, n));
    ck_assert(!has(&reader, n));
    fails(put(0, LARGE), NOMEM); /* unchanged */
    ck_assert(has(&reader, 0));
    drop(0);
    ck_assert(!has(&reader, 0));
    px_shm_clear(&writer, PX_GDS_JOB, PMIX_RANK_UNDEF);
    for (unsigned i = 0; i < n; i++)
        ck_assert(!has(&reader, i));
}

static unsigned fill(void)
{
    unsigned n = 0;

    while (n < 1000 && !put(n, LARGE))
        n++;
    return n;
}

/* A key is not searched if its last character or its length differs from all keys
 * present. */
PX_TEST(keys_that_it_never_had_are_not_looked_for)
{
    struct px_shm_key key = {.table = PX_GDS_JOB, .text = "key.2", .length = 5};

    begin(UINT64_MAX);
    ok(put(1, 1));
    ck_assert(!px_shm_may_have(&reader, &key));
    ok(put(2, 1));
    ck_assert(px_shm_may_have(&reader, &key));
    key.length--;
    ck_assert(!px_shm_may_have(&reader, &key));
    key.length++;
    key.rank = PMIX_RANK_WILDCARD;
    ck_assert(!px_shm_may_have(&reader, &key));
    key.table = PX_GDS_LOCAL; /* a large value is stored elsewhere */
    ck_assert(!px_shm_may_have(&reader, &key));
    ok(px_shm_put(&writer, &key, (struct px_shm_value){.bytes = bytes, .n = LARGE}));
    ck_assert(px_shm_may_have(&reader, &key));
}

PX_TEST(takes_no_more_than_the_limit)
{
    struct stat st;

    begin(4 * PX_SHM_FIRST);
    is_full_from(fill());
    ok(fstat(reader.fd, &st));
    ck_assert_uint_le((uint64_t)st.st_size, 4 * PX_SHM_FIRST);
    ck_assert_uint_le((uint64_t)st.st_blocks * 512, 4 * PX_SHM_FIRST);
}

/* Deleted values are reused. */
PX_TEST(garbage_makes_room)
{
    begin(4 * PX_SHM_FIRST);
    px_shm_garbage = LARGE;
    for (unsigned i = 0; i < 500; i++) {
        pmix_status_t rc = put(i, LARGE / 10);
        ck_assert_msg(!rc || !put(i, LARGE / 10), "%u does not go in", i);
        if (i >= 10)
            drop(i - 10);
    }
    for (unsigned i = 0; i < 500; i++)
        ck_assert_int_eq(has(&writer, i), i >= 490);
    ck_assert_uint_le(writer.taken, 4 * PX_SHM_FIRST);
    ck_assert(!has(&reader, 499)); /* in the first segment, which was replaced */
}

/* Memory of replaced values is reused while readers use the file, which does not grow.
 * Values of one size need only the slots of waiting readers, values of many sizes
 * slightly more. */
PX_TEST_LOOP(values_that_are_replaced_make_room, 2)
{
    enum { KEYS = 8, ROUNDS = 300 };
    struct px_shm_key key = {.table = PX_GDS_LOCAL, .length = 1, .text = "k"};
    uint64_t backed = 0;

    begin(64 * PX_SHM_FIRST);
    ck_assert_ptr_null(writer.spare);
    for (unsigned i = 0; i < KEYS * ROUNDS; i++) {
        struct px_shm_value found,
            v = {.bytes = bytes, .n = LARGE / 2, .type = PMIX_BYTE_OBJECT};

        key.rank = i % KEYS;
        v.n -= _i ? i * 7919 % (LARGE / 4) : 0;
        memset(bytes, (int)i, v.n);
        ok(px_shm_put(&writer, &key, v));
        ck_assert(px_shm_find(&reader, &key, &found));
        ck_assert_uint_eq(found.n, v.n);
        ck_assert_mem_eq(found.bytes, bytes, v.n);
        ck_assert(px_shm_holds(&reader, &found));
        if (i == 3 * KEYS)
            backed = writer.backed;
    }
    ck_assert_uint_le(writer.backed, _i ? 3 * KEYS * LARGE / 2 : backed);
    ck_assert_ptr_nonnull(writer.spare);
    ck_assert_ptr_null(reader.spare);
}

/* Without memory for the table of free records, a value takes new memory of the file. */
PX_TEST(a_value_is_replaced_without_the_table_of_free_records)
{
    PX_TEST_NEEDS_ALLOC;
    const struct px_shm_key key = {.table = PX_GDS_LOCAL, .length = 1, .text = "k"};
    struct px_shm_value found, v = {.bytes = bytes, .n = LARGE / 2};
    bool failed = false;

    begin(64 * PX_SHM_FIRST);
    for (unsigned i = 0; i < 16 && !failed; i++) {
        memset(bytes, (int)i, v.n);
        px_alloc_fail_at(1);
        pmix_status_t rc = px_shm_put(&writer, &key, v);
        failed = px_alloc_fail_end();
        ok(rc);
        ck_assert(px_shm_find(&reader, &key, &found));
        ck_assert_mem_eq(found.bytes, bytes, v.n);
        ck_assert_ptr_null(writer.spare);
    }
    ck_assert(failed);
    ok(px_shm_put(&writer, &key, v));
    ck_assert_ptr_nonnull(writer.spare);
}

/* A stored value may come from the segment, which moves, or from the memory behind it:
 * mappings grow downwards. */
PX_TEST(takes_values_from_anywhere)
{
    struct px_shm_value v = {.n = 2 * PX_SHM_FIRST, .type = PMIX_BYTE_OBJECT}, found;
    uint8_t *behind = mmap(NULL, v.n, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char text[16], other[16];
    struct px_shm_key key = key_of(0, text);

    ck_assert_ptr_ne(behind, MAP_FAILED);
    begin(PX_SHM_FIRST << 10);
    memset(behind, 7, v.n);
    v.bytes = behind;
    ok(px_shm_put(&writer, &key, v));
    for (unsigned k = 1; k < 9; k++) {
        struct px_shm_key to = key_of(k, other);

        ck_assert(px_shm_find(&writer, &key, &found));
        ok(px_shm_put(&writer, &to, found));
        ck_assert(px_shm_find(&reader, &to, &found));
        ck_assert_mem_eq(found.bytes, behind, v.n);
    }
}

static void limit(int resource, rlim_t most)
{
    struct rlimit l;

    ok(getrlimit(resource, &l));
    l.rlim_cur = most;
    ok(setrlimit(resource, &l));
}

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

PX_TEST(a_limit_of_files_is_no_signal)
{
    begin(PX_SHM_FIRST << 10);
    limit(RLIMIT_FSIZE, 2 * PX_SHM_FIRST);
    is_full_from(fill());
    limit(RLIMIT_FSIZE, PX_SHM_FIRST / 2);
    fails(px_shm_segment_create(&writer, PX_SHM_FIRST), NOMEM);
}

PX_TEST(a_writer_without_address_space_goes_on)
{
    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS_ALLOC; /* sanitizers use address space */
    begin(PX_SHM_FIRST << 10);
    ok(put(0, LARGE));
    limit(RLIMIT_AS, address_space() + 3 * PX_SHM_FIRST);
    unsigned n = fill();
    ck_assert_uint_lt(n, 10);
    for (unsigned i = 0; i < n; i++)
        ck_assert(has(&writer, i));
    limit(RLIMIT_AS, RLIM_INFINITY);
    ok(put(n, LARGE));
    ck_assert(has(&reader, n));
}

/* The reader finds the values in mapped memory, and all values once it can map the
 * rest. */
PX_TEST(a_reader_without_address_space_finds_less)
{
    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS_ALLOC; /* sanitizers use address space */
    begin(PX_SHM_FIRST << 10);
    for (unsigned i = 0; i < 29; i++)
        ok(put(i, LARGE));
    limit(RLIMIT_AS, address_space() + PX_SHM_FIRST);
    ck_assert(has(&reader, 0));
    ck_assert(!has(&reader, 28));
    ck_assert(has(&reader, 1));
    limit(RLIMIT_AS, RLIM_INFINITY);
    for (unsigned i = 0; i < 29; i++)
        ck_assert(has(&reader, i));
}

PX_TEST(without_descriptors_there_is_none)
{
    struct px_shm_segment none;

    PX_TEST_NEEDS_ALLOC; /* sanitizers open files at the end */
    begin(PX_SHM_FIRST);
    limit(RLIMIT_NOFILE, 3);
    fails(px_shm_segment_create(&none, PX_SHM_FIRST), NOT_SUPPORTED);
    fails(px_shm_segment_attach(&none, writer.fd), NOMEM);
}

/* The failing system call, and the status of the operation. */
static const struct {
    long call;
    int errnum;
    pmix_status_t create, attach;
    bool shown;
} denied[] = {
    {SYS_memfd_create, ENOSYS, PMIX_ERR_NOT_SUPPORTED, 0, true},
    {SYS_memfd_create, ENOMEM, PMIX_ERR_NOMEM, 0, true},
    {SYS_ftruncate, ENOMEM, PMIX_ERR_NOMEM, 0, true},
    {SYS_fallocate, ENOSPC, PMIX_ERR_NOMEM, 0, true},
    {SYS_mmap, ENOMEM, PMIX_ERR_NOMEM, PMIX_ERR_NOMEM, true},
    {SYS_fcntl, EINVAL, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED, true},
    {SYS_openat, EACCES, 0, 0, false},
    {SYS_fchmod, EPERM, 0, 0, false},
};

PX_TEST_LOOP(a_call_that_fails_is_an_error, (int)PX_COUNT(denied))
{
    struct px_shm_segment made;
    size_t n_fds;

    PX_TEST_NEEDS_ALLOC; /* sanitizers map memory */
    ok(px_shm_segment_create(&writer, PX_SHM_FIRST << 4));
    ok(put(0, LARGE));
    n_fds = px_test_count_fds();
    if (denied[_i].call == SYS_openat)
        n_fds = 0; /* descriptors cannot be counted without it */
    PX_TEST_NEEDS(px_test_deny(denied[_i].call, denied[_i].errnum), "seccomp");
    pmix_status_t rc = px_shm_segment_create(&made, PX_SHM_FIRST);
    ck_assert_int_eq(rc, denied[_i].create);
    if (!rc)
        px_shm_segment_close(&made);
    rc = px_shm_segment_attach(&made, writer.fd);
    ck_assert_int_eq(rc, denied[_i].attach);
    if (!rc)
        px_shm_segment_close(&made);
    if (n_fds)
        ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_int_eq(px_shm_segment_show(&writer) >= 0, denied[_i].shown);
    ck_assert(has(&writer, 0));
    if (denied[_i].call == SYS_fallocate || denied[_i].call == SYS_ftruncate)
        ck_assert_uint_lt(fill(), 4);
    ck_assert(has(&writer, 0));
}

/* A file is refused even if it cannot shrink. */
PX_TEST(a_file_that_is_none_of_ours_is_refused)
{
    static const uint64_t sizes[] = {0, 4096, PX_SHM_FIRST - 1, PX_SHM_FIRST};

    for (size_t i = 0; i < PX_COUNT(sizes); i++) {
        int fd = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        ok(ftruncate(fd, (off_t)sizes[i]));
        fails(px_shm_segment_attach(&reader, fd), NOT_SUPPORTED);
        ok(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
        ck_assert_int_ne(px_shm_segment_attach(&reader, fd), 0);
        close(fd);
    }
}

/* ---- jobs come and go ------------------------------------------------------------ */

static void one_job(const struct px_gds_ops *ops, void *self)
{
    const pmix_value_t value = {.type = PMIX_STRING, .data.string = (char *)"text"};
    pmix_proc_t who = {.nspace = "job"};
    struct px_gds_ns *ns, *theirs;
    pmix_info_t *infos;
    size_t n;
    int fd;

    ok(ops->create(self, "job", &ns));
    ok(ops->store(self, ns, PX_GDS_JOB, 0, "a", &value));
    ok(ops->describe(self, ns, &who, &infos, &n, &fd));
    ok(ops->attach(self, "job", infos, n, fd, &theirs));
    ok(ops->fetch(self, theirs, PX_GDS_JOB, 0, "a", NULL, 0, NULL));
    px_type_free_array(PMIX_INFO, infos, n);
    ops->destroy(self, ns);
    ok(ops->fetch(self, theirs, PX_GDS_JOB, 0, "a", NULL, 0, NULL));
    ops->destroy(self, theirs);
}

PX_TEST(a_hundred_thousand_jobs_leave_nothing)
{
    PX_TEST_NEEDS_PROC;
    const uint64_t conf = PX_SHM_FIRST;
    const struct px_gds_ops *ops = px_gds_shm_component.ops;
    void *self = (void *)(uintptr_t)&conf;

    one_job(ops, self);
    size_t n_fds = px_test_count_fds();
    rlim_t space = address_space();
    px_alloc_fail_at(0);
    for (unsigned i = 0; i < px_test_times(1000, 100000); i++)
        one_job(ops, self);
    px_alloc_fail_end();
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_le(address_space(), space + PX_SHM_FIRST);
}

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

PX_TEST_MAIN("components/shm_limits", setup, NULL)
