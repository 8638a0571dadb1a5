/* SPDX-License-Identifier: BSD-3-Clause */
/* Deep and wide trees under resource limits; ten times as large in the long form. */
#include "rm_run.h"

#include "alloc_fail.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { OTHER = 12346 };

static void limit(int what, rlim_t n)
{
    struct rlimit l;

    ok(getrlimit(what, &l));
    l.rlim_cur = n;
    ok(setrlimit(what, &l));
}

/* Makes a chain of folders of that name, each relative to the one above. */
static void make_deep(const char *top, const char *name, unsigned int depth)
{
    px_tree_make(top);
    int at = open(px_tree_path(top), O_PATH | O_CLOEXEC);
    for (unsigned int i = 0; i < depth; i++) {
        ok(mkdirat(at, name, 0755));
        int next = openat(at, name, O_PATH | O_CLOEXEC);
        close(at);
        at = next;
    }
    ok(symlinkat("x", at, "bottom"));
    close(at);
}

PX_TEST(a_tree_is_removed_however_deep_with_few_descriptors)
{
    unsigned int depth = 10000 * px_test_times(1, 10);

    make_deep("d/", "n", depth);
    limit(RLIMIT_NOFILE, 16);
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_logged("");
    rm_assert_removed(1, depth + 1);
    px_assert_tree("", "");
}

PX_TEST(a_path_longer_than_the_system_allows_is_reported_cut)
{
    char name[201] = "", expected[PX_RM_MAX_PATH * 2];
    struct px_rm_item items[] = {{px_tree_path("d"), PX_RM_DIR, PX_RM_RECURSE, 0, 0}};

    memset(name, 'n', 200);
    make_deep("d/", name, 1000);
    /* The walk does not reach the bottom: a path of that length cannot be kept, so the
     * descriptors run out. */
    limit(RLIMIT_NOFILE, 3);
    rm_run_as(0, items, 1);
    ck_assert_uint_eq(rm_totals.failed, 1);
    limit(RLIMIT_NOFILE, 64);
    PX_TEST_NEEDS_ROOT;
    int at = open(px_tree_path("d"), O_PATH | O_CLOEXEC);
    for (int i = 0, next; (next = openat(at, name, O_PATH | O_CLOEXEC)) >= 0; i++) {
        close(at);
        at = next;
    }
    ok(fchownat(at, "bottom", OTHER, OTHER, AT_SYMLINK_NOFOLLOW));
    rm_run_as(0, items, 1);
    ck_assert_uint_eq(rm_totals.foreign, 1);
    rm_assert_removed(0, 0);
    size_t len = (size_t)sprintf(expected, "FOREIGN d");
    while (strlen(px_tree_root()) + 1 + (len - strlen("FOREIGN ")) + 201 <=
           PX_RM_MAX_PATH)
        len += (size_t)sprintf(expected + len, "/%s", name);
    strcpy(expected + len, "/...");
    rm_assert_logged(expected);
    ok(fchownat(at, "bottom", 0, 0, AT_SYMLINK_NOFOLLOW));
    close(at);
    rm_run_as(0, items, 1);
    px_assert_tree("", "");
}

PX_TEST(without_descriptors_what_stays_is_reported)
{
    px_tree_make("d/a d/s/f");
    int used = dup(0);
    close(used);
    limit(RLIMIT_NOFILE, (rlim_t)used + 2); /* for the path and the top */
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_logged("FAILED d/s EMFILE");
    limit(RLIMIT_NOFILE, (rlim_t)used + 1);
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_logged("FAILED d EMFILE");
    limit(RLIMIT_NOFILE, (rlim_t)used);
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_logged("FAILED d EMFILE");
    limit(RLIMIT_NOFILE, (rlim_t)used + 3);
    px_assert_tree("", "d/ d/s/ d/s/f");
    make_deep("d/", "n", 20); /* older systems need one to read /proc */
    limit(RLIMIT_NOFILE, (rlim_t)used + 5);
    rm_dir("d", PX_RM_RECURSE);
    limit(RLIMIT_NOFILE, 64);
    rm_assert_logged("");
    px_assert_tree("", "");
}

/* Returns the peak memory of a process that removes the tree. */
static long peak_of_removing(const char *name, unsigned int n_files)
{
    struct rusage usage;
    int status;

    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        rm_dir(name, 0);
        _exit(rm_totals.files != n_files || rm_totals.dirs != 1);
    }
    ck_assert_int_eq(wait4(pid, &status, 0, &usage), pid);
    ck_assert_int_eq(status, 0);
    return usage.ru_maxrss;
}

static void make_files(unsigned int n)
{
    char name[32];

    px_tree_make("d/");
    PX_AUTOCLOSE int at = open(px_tree_path("d"), O_PATH | O_CLOEXEC);
    for (unsigned int i = 0; i < n; i++) {
        sprintf(name, "file-%08u", i);
        ok(mknodat(at, name, S_IFREG | 0600, 0));
    }
}

PX_TEST(many_files_in_a_folder_take_no_more_memory_than_some)
{
    unsigned int n = 20000 * px_test_times(1, 10);

    PX_TEST_NEEDS_ALLOC;
    make_files(10000); /* fills the buffer for directory entries */
    long some = peak_of_removing("d", 10000);
    make_files(n);
    long many = peak_of_removing("d", n);
    px_assert_tree("", "");
    ck_assert_int_le(many, some + 256);
}

/* Leaves memory for the smallest arena only. */
static void leave_little_memory(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    ck_assert_int_eq(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + (3 << 19));
}

static void make_wide(int n)
{
    char name[256];

    px_tree_make("d/");
    PX_AUTOCLOSE int at = open(px_tree_path("d"), O_PATH | O_CLOEXEC);
    for (int i = 0; i < n; i++) {
        sprintf(name, "%0250d", i);
        ok(mkdirat(at, name, 0755));
    }
}

PX_TEST(more_folders_than_there_is_memory_for_go_in_several_passes)
{
    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS_ALLOC;
    make_wide(6000);
    leave_little_memory();
    rm_dir("d", PX_RM_RECURSE);
    limit(RLIMIT_AS, RLIM_INFINITY);
    rm_assert_logged("");
    rm_assert_removed(0, 6001);
    px_assert_tree("", "");
}

PX_TEST(what_there_is_no_memory_for_is_reported_once)
{
    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS_ROOT;
    PX_TEST_NEEDS_ALLOC;
    make_wide(6000);
    px_tree_make("d/root");
    px_tree_chown("d/root", OTHER, OTHER);
    leave_little_memory();
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_logged("FOREIGN d/root, FAILED d ENOMEM");
    ck_assert_uint_gt(rm_totals.dirs, 1000);
    ck_assert_uint_lt(rm_totals.dirs, 6000);
    px_tree_chown("d/root", 0, 0);
    rm_dir("d", PX_RM_RECURSE);
    limit(RLIMIT_AS, RLIM_INFINITY);
    rm_assert_logged("");
    px_assert_tree("", "");
}

PX_TEST(a_tree_too_deep_for_the_memory_is_left_and_reported)
{
    PX_TEST_NEEDS_PROC;
    PX_TEST_NEEDS_ALLOC;
    make_deep("d/", "n", 20000);
    px_tree_make("d/f d/s/f");
    leave_little_memory();
    rm_dir("d", PX_RM_RECURSE);
    limit(RLIMIT_AS, RLIM_INFINITY);
    ck_assert_uint_eq(rm_totals.failed, 1);
    rm_assert_removed(2, 1);
    ck_assert_ptr_nonnull(strstr(rm_logged, "/... ENOMEM"));
    rm_dir("d", PX_RM_RECURSE);
    px_assert_tree("", "");
}

PX_TEST(without_any_memory_nothing_begins)
{
    struct px_rm_item item = {px_tree_path("d"), PX_RM_DIR, 0, 0, 0};
    struct px_pcleanup_totals totals = {0};

    PX_TEST_NEEDS_ALLOC;
    px_tree_make("d/f");
    limit(RLIMIT_AS, 1 << 20);
    int rc = px_rm_run(&item, 1, geteuid(), getegid(), NULL, NULL, &totals);
    limit(RLIMIT_AS, RLIM_INFINITY);
    ck_assert_int_eq(rc, ENOMEM);
    ck_assert_uint_eq(totals.files + totals.dirs + totals.failed, 0);
    px_assert_tree("", "d/ d/f");
}

PX_TEST(nothing_is_asked_of_malloc)
{
    struct px_rm_item items[] = {{px_tree_path("d"), PX_RM_DIR, PX_RM_RECURSE, 0, 0},
                                 {px_tree_path("d/s/k"), PX_RM_KEEP, 0, 0, 0},
                                 {px_tree_path("f"), PX_RM_FILE, 0, 0, 0}};
    struct px_pcleanup_totals totals = {0};

    PX_TEST_NEEDS_ALLOC;
    px_tree_make("d/a d/s/k d/s/b f");
    px_alloc_fail_at(0);
    int rc = px_rm_run(items, PX_COUNT(items), geteuid(), getegid(), NULL, NULL,
                       &totals);
    px_alloc_fail_end();
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(px_alloc_count(), 0);
    px_assert_tree("", "d/ d/s/ d/s/k");
}

PX_TEST_MAIN("reclaim/rmtree_much", rm_begin, px_tree_end)
