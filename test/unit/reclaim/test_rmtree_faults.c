/* SPDX-License-Identifier: BSD-3-Clause */
/* Removal while system calls fail, from the start or from some point of the walk: each
 * file left is reported, no descriptor is lost, and the walk ends. */
#include "rm_run.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void deny(long number, int errnum)
{
    if (!px_test_deny(number, errnum)) {
        printf("SKIP %s: needs seccomp\n", tcase_name());
        _exit(0);
    }
}

/* ---- failures from the start ---------------------------------------------------- */

static int remove_without_a_look(void)
{
    deny(SYS_statx, EIO);
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_logged("FAILED d EIO");
    rm_one("f", PX_RM_FILE, 0, NULL);
    rm_assert_logged("FAILED f EIO");
    return 0;
}

PX_TEST(what_cannot_be_examined_stays_and_is_reported)
{
    px_tree_make("d/a d/s/b f");
    ok(px_test_in_child(remove_without_a_look));
    px_assert_tree("", "d/ d/a d/s/ d/s/b f");
}

static int remove_without_a_second_reading(void)
{
    deny(SYS_lseek, EIO);
    rm_dir("d", PX_RM_RECURSE | PX_RM_LEAVE_TOP);
    rm_assert_logged("FAILED d ENOTEMPTY");
    rm_assert_removed(2, 1);
    return 0;
}

PX_TEST(a_folder_that_cannot_be_read_again_is_reported)
{
    px_tree_make("d/a d/s/b");
    ok(px_test_in_child(remove_without_a_second_reading));
    px_assert_tree("", "d/");
}

/* ---- mounts, for kernels that do not report them -------------------------------- */

/* Leaves room for n more descriptors. */
static void leave_descriptors(unsigned n)
{
    PX_AUTOCLOSE int next = open("/", O_PATH | O_CLOEXEC);
    struct rlimit few = {(rlim_t)next + n, (rlim_t)next + n};

    ok(setrlimit(RLIMIT_NOFILE, &few));
}

static int open_with_one_descriptor(void)
{
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    int64_t mount = -1;

    deny(SYS_statx, ENOSYS);
    PX_AUTOCLOSE int at = px_rm_open_in(AT_FDCWD, px_tree_path("d"));
    ok(px_rm_probe(&sys, at, "", &node));
    leave_descriptors(1);
    ck_assert_int_eq(px_rm_open_below(&sys, at, node.dev, &mount, "s", &node), -EMFILE);
    leave_descriptors(1); /* as many as before: none leaked */
    ck_assert_int_eq(px_rm_open_below(&sys, at, node.dev, &mount, "s", &node), -EMFILE);
    return 0;
}

PX_TEST(a_folder_whose_mount_cannot_be_asked_for_is_not_entered)
{
    px_tree_make("d/s/");
    ok(px_test_in_child(open_with_one_descriptor));
}

static int remove_without_proc(void)
{
    deny(SYS_statx, ENOSYS);
    if (unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        umount2("/proc", MNT_DETACH) < 0) {
        printf("SKIP %s: needs a mount namespace\n", tcase_name());
        _exit(0);
    }
    px_tree_make("d/a d/s/b d/other/");
    ok(mount("none", px_tree_path("d/other"), "tmpfs", 0, NULL));
    px_tree_make("d/other/f");
    rm_dir("d", PX_RM_RECURSE);
    rm_assert_logged("MOUNT d/other");
    rm_assert_removed(2, 1);
    ck_assert(px_tree_has("d/other/f"));
    return 0;
}

PX_TEST(without_proc_other_file_systems_are_still_known)
{
    ok(px_test_in_child(remove_without_proc));
}

/* ---- failures from some point on ------------------------------------------------ */

static long denied_later;
static int errnum_later;

static void deny_and_log(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    if (denied_later)
        deny(denied_later, errnum_later);
    denied_later = 0;
    rm_notified(arg, path, why, errnum);
}

/* Denies the call from the moment the walk finds the kept file. */
static void deny_from(const char *kept)
{
    const struct px_rm_item items[] = {
        {px_tree_path(kept), PX_RM_KEEP, 0, 0, 0},
        {px_tree_path("d"), PX_RM_DIR, PX_RM_RECURSE, 0, 0},
    };

    ck_assert_int_eq(px_rm_run(items, PX_COUNT(items), geteuid(), getegid(),
                               deny_and_log, rm_logged, &rm_totals),
                     0);
}

static int look_no_further(void)
{
    deny_from("d/s/kept");
    rm_assert_logged("ASKED d/s/kept, FAILED d/s/t EIO");
    rm_assert_removed(1, 0); /* d/a came first */
    return 0;
}

PX_TEST(what_is_entered_and_cannot_be_looked_at_stays)
{
    px_tree_make("d/a d/s/kept d/s/t/b");
    denied_later = SYS_statx;
    errnum_later = EIO;
    ok(px_test_in_child(look_no_further));
    px_assert_tree("", "d/ d/s/ d/s/kept d/s/t/ d/s/t/b");
}

enum { N_FILES = 40 };

/* The order of entries in the folder does not matter. */
static int look_at_no_more_files(void)
{
    deny_from("d/kept");
    ck_assert_uint_eq(rm_totals.files + rm_totals.failed, N_FILES);
    ck_assert_uint_eq(rm_totals.kept, 1);
    size_t left = 0;
    for (int i = 0; i < N_FILES; i++) {
        char name[16];

        snprintf(name, sizeof(name), "d/f%02d", i);
        left += px_tree_has(name);
        ck_assert_int_eq(px_tree_has(name), strstr(rm_logged, name) != NULL);
    }
    ck_assert_uint_eq(left, rm_totals.failed);
    return 0;
}

PX_TEST(each_file_goes_or_is_reported)
{
    char name[16];

    px_tree_make("d/kept");
    for (int i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof(name), "d/f%02d", i);
        px_tree_make(name);
    }
    denied_later = SYS_statx;
    errnum_later = EIO;
    ok(px_test_in_child(look_at_no_more_files));
    ck_assert(px_tree_has("d/kept"));
}

#define DEEP "d/1/2/3/4/5/6/7/8/9/10/11/12"

static int go_up_no_more(void)
{
    deny_from(DEEP "/kept");
    ck_assert_msg(strncmp(rm_logged, "ASKED " DEEP "/kept, MOVED d/", 30) == 0, "%s",
                  rm_logged);
    ck_assert_uint_eq(rm_totals.failed, 1);
    return 0;
}

/* Only the last folders on the way down are still open. */
PX_TEST(a_way_up_that_is_lost_is_reported_and_ends_the_walk)
{
    static const long calls[] = {SYS_openat, SYS_statx};

    px_tree_make(DEEP "/kept");
    for (size_t i = 0; i < PX_COUNT(calls); i++) {
        denied_later = calls[i];
        errnum_later = EACCES;
        ok(px_test_in_child(go_up_no_more));
        ck_assert(px_tree_has(DEEP "/kept"));
    }
}

PX_TEST_MAIN("reclaim/rmtree_faults", rm_begin, px_tree_end)
