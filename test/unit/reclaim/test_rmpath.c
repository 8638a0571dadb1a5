/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths from clients, and opening them. */
#include "core/base/attr.h"
#include "core/os/os.h"
#include "core/reclaim/rmtree.h"
#include "px_test.h"
#include "seccomp.h"
#include "tree.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void begin(void)
{
    px_tree_begin("/tmp");
    px_test_deny_by_env();
}

PX_TEST(good_paths_are_made_normal)
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

PX_TEST(bad_paths_are_refused_with_a_reason)
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

PX_TEST(the_longest_name_and_the_longest_path_are_good_and_one_more_is_not)
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
    strcat(path, "/./"); /* disappears in the normal form */
    ck_assert_ptr_null(px_rm_path_check(path, out));
    path[PX_RM_MAX_PATH] = 'n';
    path[PX_RM_MAX_PATH + 1] = '\0';
    ck_assert_ptr_nonnull(strstr(px_rm_path_check(path, out), "4095"));
}

/* Opens the way to a folder of the tree. Returns 0 or minus an errno. */
static int way(const char *name, uid_t client)
{
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    struct stat st;
    PX_AUTOCLOSE int fd = px_rm_open_way(&sys, px_tree_path(name), client);

    if (fd < 0)
        return fd;
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ok(stat(px_tree_path(name), &st));
    ok(px_rm_probe(&sys, fd, "", &node));
    ck_assert(px_rm_is(&node, st.st_dev, st.st_ino));
    return 0;
}

PX_TEST(the_way_leads_there)
{
    struct px_rm_sys sys = {0};
    char name[257] = "";

    px_tree_make("a/b/ f l@f");
    ok(way("a/b", PX_RM_NO_CLIENT));
    ck_assert_int_eq(way("none/b", geteuid()), -ENOENT);
    ck_assert_int_eq(way("f/b", geteuid()), -ENOTDIR);
    ck_assert_int_eq(way("l", geteuid()), -ENOTDIR);
    memset(name, 'n', 256); /* longer than allowed; must not be truncated */
    ck_assert_int_eq(way(name, geteuid()), -ENAMETOOLONG);
    PX_AUTOCLOSE int top = px_rm_open_way(&sys, "/", PX_RM_NO_CLIENT);
    ck_assert_int_ge(top, 0);
}

/* All links and their folders belong to the client. */
PX_TEST(own_links_are_followed_as_the_system_would)
{
    static const char *const good[] = {"l",       "l/b",      "up/b", "a/b/back/l/b",
                                       "chain/b", "l/../l/b", "abs/b"};

    px_tree_make("a/b/ l@a a/up@. a/b/back@../.. up@a/b/../up chain@l loop@loop "
                 "to@fro fro@to dead@none");
    ok(symlink(px_tree_path("a"), px_tree_path("abs")));
    for (size_t i = 0; i < PX_COUNT(good); i++)
        ck_assert_msg(way(good[i], geteuid()) == 0, "%s", good[i]);
    ck_assert_int_eq(way("loop", geteuid()), -ELOOP);
    ck_assert_int_eq(way("to/b", geteuid()), -ELOOP);
    ck_assert_int_eq(way("dead/b", geteuid()), -ENOENT);
}

PX_TEST(so_many_links_are_followed_and_no_more)
{
    char name[32], target[32];

    px_tree_make("l0/");
    for (int i = 1; i <= 41; i++) {
        snprintf(name, sizeof(name), "l%d", i);
        snprintf(target, sizeof(target), "l%d", i - 1);
        ok(symlink(target, px_tree_path(name)));
    }
    ok(way("l40", geteuid()));
    ck_assert_int_eq(way("l41", geteuid()), -ELOOP);
}

/* Links that are followed for a client, and links that are not. Root uses another
 * uid. */
enum { CLIENT = 4711, OTHER = 4712 };
static const struct link_row {
    uid_t link, folder;
    mode_t mode; /* mode of the folder */
    bool twice;  /* the link has a second hard link */
    bool is_followed;
} link_rows[] = {
    {.link = 0, .folder = 0, .mode = 0755, .is_followed = true},
    {.link = 0, .folder = 0, .mode = 0755, .twice = true, .is_followed = true},
    {.link = 0, .folder = 0, .mode = 01777},
    {.link = 0, .folder = 0, .mode = 0775},
    {.link = 0, .folder = CLIENT, .mode = 0755},
    {.link = 0, .folder = OTHER, .mode = 0755},
    {.link = CLIENT, .folder = 0, .mode = 0755, .is_followed = true},
    {.link = CLIENT, .folder = 0, .mode = 01777, .is_followed = true},
    {.link = CLIENT, .folder = 0, .mode = 01777, .twice = true},
    {.link = CLIENT, .folder = 0, .mode = 0777},
    {.link = CLIENT, .folder = CLIENT, .mode = 0755, .is_followed = true},
    {.link = CLIENT, .folder = CLIENT, .mode = 0777, .is_followed = true},
    {.link = CLIENT, .folder = CLIENT, .mode = 0700, .twice = true},
    {.link = CLIENT, .folder = OTHER, .mode = 01777},
    {.link = CLIENT, .folder = OTHER, .mode = 0755},
    {.link = OTHER, .folder = 0, .mode = 01777},
    {.link = OTHER, .folder = OTHER, .mode = 0777},
    {.link = OTHER, .folder = CLIENT, .mode = 0755},
};

static int go_as_client(void)
{
    ok(setresgid(CLIENT, CLIENT, CLIENT));
    ok(setresuid(CLIENT, CLIENT, CLIENT));
    return -way("in/l/d", CLIENT);
}

PX_TEST_LOOP(links_are_followed_where_no_other_user_can_put_them, PX_COUNT(link_rows))
{
    const struct link_row *row = &link_rows[_i];
    char out[PX_RM_MAX_PATH + 1];

    PX_TEST_NEEDS_ROOT;
    px_tree_make("in/l@../there there/d/ twice/");
    px_tree_chown("in/l", row->link, row->link);
    px_tree_chown("in", row->folder, row->folder);
    ok(chmod(px_tree_path("in"), row->mode));
    if (row->twice)
        ok(link(px_tree_path("in/l"), px_tree_path("twice/l")));
    ck_assert_int_eq(px_test_in_child(go_as_client), row->is_followed ? 0 : ELOOP);
    /* For another client only links of root are followed. */
    ck_assert_int_eq(way("in/l/d", CLIENT),
                     row->is_followed && row->link == 0 ? 0 : -ELOOP);
    const char *why = px_rm_path_resolve(px_tree_path("in/l/d"), CLIENT, CLIENT, out);
    if (row->is_followed) {
        ck_assert_ptr_null(why);
        ck_assert_str_eq(out, px_tree_path("there/d"));
    } else {
        ck_assert_ptr_nonnull(strstr(why, "symbolic link"));
    }
}

static void assert_resolved(const char *name, const char *expected)
{
    char out[PX_RM_MAX_PATH + 1];

    ck_assert_msg(!px_rm_path_resolve(px_tree_path(name), geteuid(), getegid(), out),
                  "%s", name);
    ck_assert_str_eq(out, px_tree_path(expected));
}

PX_TEST(a_path_is_resolved_but_for_its_last_name)
{
    static const char *const rows[][2] = {
        {"a/b/c", "a/b/c"},    {"l", "l"},
        {"l/", "l"},           {"l/./", "l"},
        {"l/c", "a/b/c"},      {"l/../f", "a/f"},
        {"l/..", "a"},         {"a/../l", "l"},
        {"abs/x", "a/x"},      {"a/abs/../y", "y"},
        {"none/../f", "f"},    {"none/x/l", "none/x/l"},
        {"f/../x", "x"},       {"dead/x", "none/x"},
        {"l/l/../x", "a/b/x"}, {"a//./b/./c/", "a/b/c"},
    };

    px_tree_make("a/b/ f l@a/b dead@none");
    ok(symlink(px_tree_path("a"), px_tree_path("abs")));
    ok(symlink(px_tree_path("a"), px_tree_path("a/abs")));
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        assert_resolved(rows[i][0], rows[i][1]);
}

PX_TEST(a_path_that_cannot_be_resolved_is_refused_with_the_reason)
{
    char out[PX_RM_MAX_PATH + 1], path[3 * PX_RM_MAX_PATH];

    px_tree_make("loop@loop proc@/proc d/ root@/");
    static const char *const rows[][2] = {{"loop/x", "too many"},
                                          {"proc/self", "/proc"},
                                          {"root/proc/1", "/proc"},
                                          {"root/x/..", "root"},
                                          {"root/sys/../proc", "/proc"}};
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const char *why = px_rm_path_resolve(px_tree_path(rows[i][0]), geteuid(),
                                             getegid(), out);
        ck_assert_msg(why && strstr(why, rows[i][1]), "%s: %s", rows[i][0], why);
    }
    static const char *const bare[][2] = {
        {NULL, "empty"},    {"", "empty"},       {"a", "absolute"},    {"/..", "root"},
        {"/../..", "root"}, {"/tmp/..", "root"}, {"/../proc", "/proc"}};
    for (size_t i = 0; i < PX_COUNT(bare); i++)
        ck_assert_ptr_nonnull(strstr(
            px_rm_path_resolve(bare[i][0], geteuid(), getegid(), out), bare[i][1]));
    memset(path, 'n', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    ck_assert_ptr_nonnull(px_rm_path_resolve(path, 0, 0, out));
    path[257] = '\0';
    ck_assert_ptr_nonnull(strstr(px_rm_path_resolve(path, 0, 0, out), "255"));
}

/* A client must not learn about links that it cannot see. */
PX_TEST(what_a_client_may_not_see_is_not_looked_at_for_it)
{
    char out[PX_RM_MAX_PATH + 1];

    PX_TEST_NEEDS_ROOT;
    px_tree_make("in/l@../there there/d/");
    px_tree_chown("in/l", OTHER, OTHER);
    ok(chmod(px_tree_path("in"), 0750));
    ck_assert_ptr_null(px_rm_path_resolve(px_tree_path("in/l/d"), CLIENT, 1, out));
    ck_assert_str_eq(out, px_tree_path("in/l/d"));
    ck_assert_ptr_nonnull(px_rm_path_resolve(px_tree_path("in/l/d"), CLIENT, 0, out));
}

PX_TEST(a_link_is_identified_as_a_link)
{
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    struct stat st;

    px_tree_make("f l@f");
    PX_AUTOCLOSE int at = px_rm_open_way(&sys, px_tree_root(), geteuid());
    ok(px_rm_probe(&sys, at, "l", &node));
    ck_assert(S_ISLNK(node.mode));
    ok(px_rm_probe(&sys, at, "f", &node));
    ok(stat(px_tree_path("f"), &st));
    ck_assert(px_rm_is(&node, st.st_dev, st.st_ino));
    ck_assert_uint_eq(node.uid, st.st_uid);
    ck_assert_uint_eq(node.gid, st.st_gid);
    ck_assert_uint_eq(node.mode, st.st_mode);
    ck_assert(!node.mount);
    ck_assert_int_eq(px_rm_probe(&sys, at, "none", &node), ENOENT);
    const char *denied = getenv("PX_TEST_DENY");
    ck_assert_int_eq(sys.no_statx, denied && strstr(denied, "statx"));
    ck_assert(!sys.no_statx || sys.no_mount_flag);
}

PX_TEST(below_only_a_folder_of_this_mount_is_opened)
{
    PX_TEST_NEEDS_PROC;
    struct px_rm_sys sys = {0};
    struct px_rm_node node;
    int64_t mount = -1;

    px_tree_make("d/ l@d f");
    PX_AUTOCLOSE int at = px_rm_open_in(AT_FDCWD, px_tree_root());
    ok(px_rm_probe(&sys, at, "", &node));
    PX_AUTOCLOSE int fd = px_rm_open_below(&sys, at, node.dev, &mount, "d", &node);
    ck_assert_int_ge(fd, 0);
    int rc = px_rm_open_below(&sys, at, node.dev, &mount, "l", &node);
    ck_assert(rc == -ENOTDIR || rc == -ELOOP);
    ck_assert_int_eq(px_rm_open_below(&sys, at, node.dev, &mount, "f", &node),
                     -ENOTDIR);
    PX_AUTOCLOSE int top = px_rm_open_in(AT_FDCWD, "/");
    ok(px_rm_probe(&sys, top, "", &node));
    mount = -1;
    ck_assert_int_eq(px_rm_open_below(&sys, top, node.dev, &mount, "proc", &node),
                     -EXDEV);
}

PX_TEST(file_systems_of_the_kernel_are_known)
{
    PX_AUTOCLOSE int proc = open("/proc/self", O_PATH | O_CLOEXEC);
    PX_AUTOCLOSE int sys = open("/sys/kernel", O_PATH | O_CLOEXEC);
    PX_AUTOCLOSE int tmp = open("/tmp", O_PATH | O_CLOEXEC);
    PX_AUTOCLOSE int shm = open("/dev/shm", O_PATH | O_CLOEXEC);

    ck_assert(px_os_fs_is_pseudo(proc));
    ck_assert(px_os_fs_is_pseudo(sys));
    ck_assert(!px_os_fs_is_pseudo(tmp));
    ck_assert(shm < 0 || !px_os_fs_is_pseudo(shm));
    ck_assert(px_os_fs_is_pseudo(-1));
}

int main(void)
{
    return px_test_run("reclaim/rmpath", begin, px_tree_end);
}
