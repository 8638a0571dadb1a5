/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that clients give, and opening them. */
#include "core/base/attr.h"
#include "core/reclaim/rmpath.h"
#include "core/reclaim/rmtree.h"
#include "px_test.h"
#include "seccomp.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void begin(void)
{
    px_tree_begin("/tmp");
    px_test_deny_by_env();
}

START_TEST(good_paths_are_made_normal)
{
    static const char *const rows[][2] = {
        {"/a", "/a"},           {"/a/b", "/a/b"},
        {"//a///b", "/a/b"},    {"/a/", "/a"},
        {"/a/.", "/a"},         {"/./a/./b/.//", "/a/b"},
        {"/...", "/..."},       {"/a/..b/c..", "/a/..b/c.."},
        {"/.a", "/.a"},         {"/a,b\n\xff", "/a,b\n\xff"},
        {"/procs", "/procs"},   {"/system/x", "/system/x"},
        {"/a/proc", "/a/proc"},
    };
    char out[PX_RM_MAX_PATH + 1];

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_ptr_null(px_rm_path_check(rows[i][0], out));
        ck_assert_str_eq(out, rows[i][1]);
    }
}
END_TEST

START_TEST(bad_paths_are_refused_and_the_reason_told)
{
    static const char *const rows[][2] = {
        {"", "empty"},        {"a", "absolute"},       {"./a", "absolute"},
        {"../a", "absolute"}, {"/..", "\"..\""},       {"/a/../b", "\"..\""},
        {"/a/..", "\"..\""},  {"/a/../", "\"..\""},    {"/", "root folder"},
        {"///", "root"},      {"/./.", "root folder"}, {"/proc", "/proc"},
        {"//proc/", "/proc"}, {"/proc/1/x", "/proc"},  {"/./sys/fs", "/sys"},
        {"/sys", "/sys"},
    };
    char out[PX_RM_MAX_PATH + 1];

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const char *why = px_rm_path_check(rows[i][0], out);

        ck_assert_ptr_nonnull(why);
        ck_assert_msg(strstr(why, rows[i][1]), "%s: %s", rows[i][0], why);
    }
    ck_assert_ptr_nonnull(px_rm_path_check(NULL, out));
}
END_TEST

START_TEST(the_longest_name_and_the_longest_path_are_good_and_one_more_is_not)
{
    char path[2 * PX_RM_MAX_PATH] = "/", out[PX_RM_MAX_PATH + 1];

    memset(path + 1, 'n', 255);
    ck_assert_ptr_null(px_rm_path_check(path, out));
    path[256] = 'n';
    ck_assert_ptr_nonnull(strstr(px_rm_path_check(path, out), "255"));
    for (int i = 0; i < PX_RM_MAX_PATH; i++)
        path[i] = i % 200 ? 'n' : '/';
    path[PX_RM_MAX_PATH] = '\0';
    ck_assert_ptr_null(px_rm_path_check(path, out));
    ck_assert_str_eq(out, path);
    strcat(path, "/./"); /* nothing in its normal form */
    ck_assert_ptr_null(px_rm_path_check(path, out));
    path[PX_RM_MAX_PATH] = 'n';
    path[PX_RM_MAX_PATH + 1] = '\0';
    ck_assert_ptr_nonnull(strstr(px_rm_path_check(path, out), "4095"));
}
END_TEST

START_TEST(the_way_has_no_link_in_it)
{
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    struct stat st;

    px_tree_make("a/b/ l@a f");
    PX_AUTOCLOSE int fd = px_rm_open_way(&sys, px_tree_path("a/b"));
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(stat(px_tree_path("a/b"), &st), 0);
    ck_assert_int_eq(px_rm_look(&sys, fd, "", &node), 0);
    ck_assert(px_rm_is(&node, st.st_dev, st.st_ino));
    ck_assert_int_eq(px_rm_open_way(&sys, px_tree_path("l/b")), -ELOOP);
    ck_assert_int_eq(px_rm_open_way(&sys, px_tree_path("l")), -ELOOP);
    ck_assert_int_eq(px_rm_open_way(&sys, px_tree_path("none/b")), -ENOENT);
    ck_assert_int_eq(px_rm_open_way(&sys, px_tree_path("f/b")), -ENOTDIR);
    ck_assert_int_eq(px_rm_open_way(&sys, "/proc/self/root/tmp"), -ELOOP);
    PX_AUTOCLOSE int top = px_rm_open_way(&sys, "/");
    ck_assert_int_ge(top, 0);
}
END_TEST

START_TEST(the_newest_calls_are_used_where_there_are_some)
{
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    const char *denied = getenv("PX_TEST_DENY");

    PX_AUTOCLOSE int fd = px_rm_open_way(&sys, "/");
    ck_assert_int_eq(px_rm_look(&sys, fd, "", &node), 0);
    ck_assert(!denied || sys.no_openat2 == !!strstr(denied, "openat2"));
    ck_assert(!denied || sys.no_statx == !!strstr(denied, "statx"));
    ck_assert(!sys.no_statx || sys.no_mount_mark);
}
END_TEST

START_TEST(what_something_is_is_told_of_a_link_itself)
{
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    struct stat st;

    px_tree_make("f l@f");
    PX_AUTOCLOSE int at = px_rm_open_way(&sys, px_tree_root());
    ck_assert_int_eq(px_rm_look(&sys, at, "l", &node), 0);
    ck_assert(S_ISLNK(node.mode));
    ck_assert_int_eq(px_rm_look(&sys, at, "f", &node), 0);
    ck_assert_int_eq(stat(px_tree_path("f"), &st), 0);
    ck_assert(px_rm_is(&node, st.st_dev, st.st_ino));
    ck_assert_uint_eq(node.uid, st.st_uid);
    ck_assert_uint_eq(node.gid, st.st_gid);
    ck_assert_uint_eq(node.mode, st.st_mode);
    ck_assert(!node.mount);
    ck_assert_int_eq(px_rm_look(&sys, at, "none", &node), ENOENT);
}
END_TEST

START_TEST(below_only_a_folder_of_this_mount_is_opened)
{
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    int64_t mount = -1;

    px_tree_make("d/ l@d f");
    PX_AUTOCLOSE int at = px_rm_open_in(AT_FDCWD, px_tree_root());
    ck_assert_int_eq(px_rm_look(&sys, at, "", &node), 0);
    PX_AUTOCLOSE int fd = px_rm_open_below(&sys, at, node.dev, &mount, "d");
    ck_assert_int_ge(fd, 0);
    int rc = px_rm_open_below(&sys, at, node.dev, &mount, "l");
    ck_assert(rc == -ENOTDIR || rc == -ELOOP);
    ck_assert_int_eq(px_rm_open_below(&sys, at, node.dev, &mount, "f"), -ENOTDIR);
    PX_AUTOCLOSE int top = px_rm_open_in(AT_FDCWD, "/");
    ck_assert_int_eq(px_rm_look(&sys, top, "", &node), 0);
    mount = -1;
    ck_assert_int_eq(px_rm_open_below(&sys, top, node.dev, &mount, "proc"), -EXDEV);
}
END_TEST

START_TEST(file_systems_of_the_kernel_are_known)
{
    PX_AUTOCLOSE int proc = open("/proc/self", O_PATH | O_CLOEXEC);
    PX_AUTOCLOSE int sys = open("/sys/kernel", O_PATH | O_CLOEXEC);
    PX_AUTOCLOSE int tmp = open("/tmp", O_PATH | O_CLOEXEC);
    PX_AUTOCLOSE int shm = open("/dev/shm", O_PATH | O_CLOEXEC);

    ck_assert(px_rm_is_pseudo(proc));
    ck_assert(px_rm_is_pseudo(sys));
    ck_assert(!px_rm_is_pseudo(tmp));
    ck_assert(shm < 0 || !px_rm_is_pseudo(shm));
    ck_assert(px_rm_is_pseudo(-1));
}
END_TEST

PX_TEST_MAIN_WITH("reclaim/rmpath", begin, px_tree_end, good_paths_are_made_normal,
                  bad_paths_are_refused_and_the_reason_told,
                  the_longest_name_and_the_longest_path_are_good_and_one_more_is_not,
                  the_way_has_no_link_in_it,
                  the_newest_calls_are_used_where_there_are_some,
                  what_something_is_is_told_of_a_link_itself,
                  below_only_a_folder_of_this_mount_is_opened,
                  file_systems_of_the_kernel_are_known)
