/* SPDX-License-Identifier: BSD-3-Clause */
/* What is removed, what is left, and what is said of it, when nobody disturbs. */
#include "rm_run.h"
#include "seccomp.h"

#include "core/base/attr.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static void begin(void)
{
    px_tree_begin("/tmp");
    px_test_deny_by_env();
}

/* ---- flags ---------------------------------------------------------------------- */

PX_TEST(a_folder_is_removed_with_its_files)
{
    px_tree_make("d/a d/b d/l@/etc other");
    rm_dir("d", 0);
    px_assert_tree("", "other");
    rm_assert_said("");
    rm_assert_removed(3, 1);
}

PX_TEST(without_recursion_folders_in_it_stay_with_all_in_them)
{
    px_tree_make("d/a d/sub/f d/empty/");
    rm_dir("d", 0);
    px_assert_tree("d", "empty/ sub/ sub/f");
    rm_assert_said("");
    rm_assert_removed(1, 0);
}

PX_TEST(with_recursion_all_of_it_is_removed)
{
    px_tree_make("d/a d/sub/f d/sub/deep/er/f d/empty/ d/sub/l@../.. x");
    rm_dir("d", PX_RM_RECURSE);
    px_assert_tree("", "x");
    rm_assert_said("");
    rm_assert_removed(4, 5);
}

PX_TEST(the_top_is_left_if_asked_for)
{
    px_tree_make("d/a d/sub/f");
    rm_dir("d", PX_RM_LEAVE_TOP);
    px_assert_tree("d", "sub/ sub/f");
    rm_dir("d", PX_RM_RECURSE | PX_RM_LEAVE_TOP);
    px_assert_tree("", "d/");
    rm_assert_removed(1, 1);
    rm_dir("d", PX_RM_RECURSE | PX_RM_LEAVE_TOP);
    px_assert_tree("", "d/");
    rm_assert_removed(0, 0);
}

PX_TEST(only_empty_folders_are_removed_if_asked_for)
{
    px_tree_make("d/a/ d/b/c/ d/b/e/ d/x/y/f d/x/z/ d/l@/etc");
    rm_dir("d", PX_RM_RECURSE | PX_RM_EMPTY);
    px_assert_tree("d", "l@ x/ x/y/ x/y/f");
    rm_assert_said("");
    rm_assert_removed(0, 5);
}

PX_TEST(a_tree_of_empty_folders_is_removed_to_the_top_or_to_below_it)
{
    px_tree_make("d/a/ d/b/c/");
    rm_dir("d", PX_RM_RECURSE | PX_RM_EMPTY | PX_RM_LEAVE_TOP);
    px_assert_tree("", "d/");
    px_tree_make("d/b/c/");
    rm_dir("d", PX_RM_RECURSE | PX_RM_EMPTY);
    px_assert_tree("", "");
    rm_assert_removed(0, 3);
}

PX_TEST(an_empty_folder_alone_is_removed_if_asked_for_without_recursion)
{
    px_tree_make("d/a/ e/ f/g h/");
    rm_dir("d", PX_RM_EMPTY);
    rm_dir("f", PX_RM_EMPTY);
    rm_dir("h", PX_RM_EMPTY | PX_RM_LEAVE_TOP);
    px_assert_tree("", "d/ d/a/ e/ f/ f/g h/");
    rm_dir("e", PX_RM_EMPTY);
    px_assert_tree("", "d/ d/a/ f/ f/g h/");
    rm_assert_removed(0, 1);
    rm_assert_said("");
}

PX_TEST(only_the_folder_that_was_meant_is_removed)
{
    struct stat st;
    struct px_rm_item item = {.path = px_tree_path("d"),
                              .kind = PX_RM_DIR,
                              .flags = PX_RM_RECURSE | PX_RM_SAME};

    px_tree_make("d/f");
    ck_assert_int_eq(stat(item.path, &st), 0);
    item.device = st.st_dev;
    item.inode = st.st_ino + 1;
    rm_run_as(0, &item, 1);
    rm_assert_said("REFUSED d");
    item.device = st.st_dev + 1;
    item.inode = st.st_ino;
    rm_run_as(0, &item, 1);
    px_assert_tree("", "d/ d/f");
    item.device = st.st_dev;
    rm_run_as(0, &item, 1);
    px_assert_tree("", "");
}

PX_TEST(only_the_file_that_was_meant_is_removed)
{
    struct stat st;
    struct px_rm_item item = {
        .path = px_tree_path("f"), .kind = PX_RM_FILE, .flags = PX_RM_SAME};

    px_tree_make("f");
    ck_assert_int_eq(stat(item.path, &st), 0);
    item.device = st.st_dev;
    item.inode = st.st_ino + 1;
    rm_run_as(0, &item, 1);
    rm_assert_said("REFUSED f");
    px_assert_tree("", "f");
    item.inode--;
    rm_run_as(0, &item, 1);
    px_assert_tree("", "");
}

/* ---- files ---------------------------------------------------------------------- */

PX_TEST(a_file_is_removed_and_nothing_beside_it)
{
    px_tree_make("a b");
    rm_file("a");
    px_assert_tree("", "b");
    rm_assert_removed(1, 0);
}

PX_TEST(a_link_named_as_a_file_is_removed_and_not_what_it_leads_to)
{
    px_tree_make("a l@a d/f ld@d");
    rm_file("l");
    rm_file("ld");
    px_assert_tree("", "a d/ d/f");
}

PX_TEST(a_folder_named_as_a_file_is_refused)
{
    px_tree_make("d/");
    rm_file("d");
    px_assert_tree("", "d/");
    rm_assert_said("REFUSED d");
}

PX_TEST(a_file_named_as_a_folder_is_refused)
{
    px_tree_make("f");
    rm_dir("f", PX_RM_RECURSE);
    px_assert_tree("", "f");
    rm_assert_said("REFUSED f");
}

PX_TEST(what_is_gone_already_is_not_spoken_of)
{
    px_tree_make("f");
    rm_file("none");
    rm_file("none/deep/er");
    rm_file("f/g");
    rm_dir("none", PX_RM_RECURSE);
    rm_dir("none/er", PX_RM_RECURSE);
    rm_dir("f/g", PX_RM_RECURSE);
    px_assert_tree("", "f");
    rm_assert_said("");
}

PX_TEST(links_on_the_way_are_followed_but_not_the_last_one)
{
    px_tree_make("real/d/f real/g l@real bad@bad");
    rm_file("bad/g");
    rm_assert_said("LINK bad/g");
    rm_dir("bad/d", PX_RM_RECURSE);
    rm_assert_said("LINK bad/d");
    rm_dir("l", PX_RM_RECURSE);
    rm_assert_said("LINK l");
    px_assert_tree("", "bad@ l@ real/ real/d/ real/d/f real/g");
    rm_file("l/g");
    rm_assert_said("");
    rm_dir("l/d", PX_RM_RECURSE);
    rm_assert_said("");
    px_assert_tree("", "bad@ l@ real/");
}

static void make_special(const char *name, mode_t type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = px_tree_path(name);

    if (type != S_IFSOCK) {
        ck_assert_int_eq(mknod(path, type | 0600, makedev(1, 3)), 0);
        return;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
}

PX_TEST(pipes_and_sockets_are_removed_without_being_opened)
{
    px_tree_make("d/");
    make_special("d/fifo", S_IFIFO);
    make_special("d/socket", S_IFSOCK);
    make_special("fifo", S_IFIFO);
    rm_dir("d", PX_RM_RECURSE);
    rm_file("fifo");
    px_assert_tree("", "");
    make_special("fifo", S_IFIFO);
    rm_dir("fifo", PX_RM_RECURSE);
    rm_assert_said("REFUSED fifo");
}

PX_TEST(devices_are_removed_without_being_opened)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    px_tree_make("d/");
    make_special("d/null", S_IFCHR);
    make_special("d/block", S_IFBLK);
    rm_dir("d", PX_RM_RECURSE);
    px_assert_tree("", "");
    rm_assert_removed(2, 1);
}

PX_TEST(a_hard_link_is_removed_and_the_file_lives_on)
{
    px_tree_make("file d/");
    ck_assert_int_eq(link(px_tree_path("file"), px_tree_path("d/one")), 0);
    ck_assert_int_eq(link(px_tree_path("file"), px_tree_path("d/two")), 0);
    rm_dir("d", PX_RM_RECURSE);
    px_assert_tree("", "file");
    rm_assert_removed(2, 1);
}

PX_TEST(names_of_any_bytes_are_removed)
{
    char name[300] = "d/";

    px_tree_make("d/\n d/,,, d/\xff\xfe/\x80 d/.hidden d/... d/-rf/ d/*");
    memset(name + 2, 'n', 255);
    px_tree_make(name);
    rm_dir("d", PX_RM_RECURSE);
    px_assert_tree("", "");
    rm_assert_removed(7, 3);
}

/* ---- kept ----------------------------------------------------------------------- */

PX_TEST(a_kept_file_stays_with_its_parents)
{
    px_tree_make("d/a d/s/keep d/s/b d/t/c");
    rm_dir_but("d", PX_RM_RECURSE, "d/s/keep");
    px_assert_tree("", "d/ d/s/ d/s/keep");
    rm_assert_said("ASKED d/s/keep");
    rm_assert_removed(3, 1);
}

PX_TEST(a_kept_folder_stays_with_all_in_it)
{
    px_tree_make("d/a d/s/b d/s/t/c");
    rm_dir_but("d", PX_RM_RECURSE, "d/s");
    px_assert_tree("", "d/ d/s/ d/s/b d/s/t/ d/s/t/c");
    rm_assert_said("ASKED d/s");
}

PX_TEST(a_kept_top_and_what_is_below_a_kept_folder_stay)
{
    px_tree_make("d/s/b");
    rm_dir_but("d", PX_RM_RECURSE, "d");
    rm_assert_said("ASKED d");
    rm_dir_but("d/s", PX_RM_RECURSE, "d");
    rm_assert_said("ASKED d/s");
    px_assert_tree("", "d/ d/s/ d/s/b");
    rm_dir_but("d", PX_RM_RECURSE, "d/");
    ck_assert_uint_eq(rm_totals.kept, 0);
}

PX_TEST(a_name_that_only_begins_like_a_kept_one_does_not_stay)
{
    px_tree_make("d/keep d/keeper d/kee dd/f");
    rm_dir_but("d", PX_RM_RECURSE, "d/keep");
    px_assert_tree("", "d/ d/keep dd/ dd/f");
    rm_dir_but("dd", PX_RM_RECURSE, "d");
    px_assert_tree("", "d/ d/keep");
}

PX_TEST(a_kept_file_stays_under_another_name)
{
    px_tree_make("d/keep d/s/a");
    ck_assert_int_eq(link(px_tree_path("d/keep"), px_tree_path("d/s/alias")), 0);
    rm_dir_but("d", PX_RM_RECURSE, "d/keep");
    px_assert_tree("", "d/ d/keep d/s/ d/s/alias");
    ck_assert_uint_eq(rm_totals.kept, 2);
}

PX_TEST(a_kept_name_that_is_not_there_keeps_nothing)
{
    px_tree_make("d/a l@d");
    rm_dir_but("d", PX_RM_RECURSE, "d/b");
    px_assert_tree("", "l@");
}

PX_TEST(what_is_to_be_kept_is_found_behind_links_too)
{
    px_tree_make("d/a d/s/b d/s/c l@d d/to@s");
    rm_dir_but("d", PX_RM_RECURSE, "l/a");
    px_assert_tree("", "d/ d/a l@");
    px_tree_make("d/s/b d/s/c d/to@s");
    rm_dir_but("d", PX_RM_RECURSE, "l/to/b");
    px_assert_tree("", "d/ d/s/ d/s/b l@");
    rm_dir_but("l", PX_RM_RECURSE, "d/no"); /* what is to go is not */
    px_assert_tree("", "d/ d/s/ d/s/b l@");
}

PX_TEST(of_many_kept_files_each_stays)
{
    static struct px_rm_item items[102];
    static char paths[100][PATH_MAX];
    char name[32];

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "d/%d/f%d", i % 10, i);
        px_tree_make(name);
        if (i % 3)
            continue;
        snprintf(paths[i / 3], PATH_MAX, "%s", px_tree_path(name));
        items[i / 3] = (struct px_rm_item){.path = paths[i / 3], .kind = PX_RM_KEEP};
    }
    items[100] = (struct px_rm_item){
        .path = px_tree_path("d"), .kind = PX_RM_DIR, .flags = PX_RM_RECURSE};
    rm_run_as(0, items, 101);
    ck_assert_uint_eq(rm_totals.kept, 100);
    rm_assert_removed(200, 0);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(access(paths[i], F_OK), 0);
}

/* ---- order ---------------------------------------------------------------------- */

PX_TEST(files_go_first_and_then_the_deepest_tree)
{
    /* Were "d" first, "d/a" would be entered without recursion, and stay. */
    struct px_rm_item items[] = {
        {px_tree_path("d"), PX_RM_DIR, 0, 0, 0},
        {px_tree_path("d/a/b"), PX_RM_DIR, 0, 0, 0},
        {px_tree_path("d/a"), PX_RM_DIR, 0, 0, 0},
        {px_tree_path("e"), PX_RM_DIR, PX_RM_EMPTY, 0, 0},
        {px_tree_path("d/a/b/c/f"), PX_RM_FILE, 0, 0, 0},
        {px_tree_path("e/f"), PX_RM_FILE, 0, 0, 0},
        {px_tree_path("d/a/b/c"), PX_RM_DIR, PX_RM_EMPTY, 0, 0},
    };

    px_tree_make("d/a/b/c/f e/f");
    rm_run_as(0, items, PX_COUNT(items));
    px_assert_tree("", "");
    rm_assert_removed(2, 5);
}

PX_TEST(totals_are_added_to_what_was_there)
{
    struct px_rm_item item = {px_tree_path("d"), PX_RM_DIR, PX_RM_RECURSE, 0, 0};
    struct px_pcleanup_totals totals = {.files = 10, .dirs = 20, .foreign = 30};

    px_tree_make("d/a d/b/c");
    ck_assert_int_eq(px_rm_run(&item, 1, geteuid(), getegid(), NULL, NULL, &totals), 0);
    ck_assert_uint_eq(totals.files, 12);
    ck_assert_uint_eq(totals.dirs, 22);
    ck_assert_uint_eq(totals.foreign, 30);
    ck_assert_int_eq(px_rm_run(NULL, 0, 0, 0, NULL, NULL, &totals), 0);
}

/* ---- refused -------------------------------------------------------------------- */

PX_TEST(paths_that_are_not_normal_are_refused)
{
    static const char *const suffixes[] = {"/",     "/.",   "//f",         "/../d",
                                           "/s/..", "/./s", "/s/../../d/s"};
    char path[PATH_MAX];

    px_tree_make("d/f d/s/g");
    for (size_t i = 0; i < PX_COUNT(suffixes); i++)
        for (int kind = PX_RM_FILE; kind <= PX_RM_DIR; kind++) {
            struct px_rm_item item = {path, (uint8_t)kind, PX_RM_RECURSE, 0, 0};

            snprintf(path, sizeof(path), "%s%s", px_tree_path("d"), suffixes[i]);
            rm_run_as(0, &item, 1);
            ck_assert_uint_eq(rm_totals.failed, 1);
        }
    px_assert_tree("", "d/ d/f d/s/ d/s/g");
}

PX_TEST(relative_paths_and_unknown_kinds_are_refused)
{
    struct px_rm_item items[] = {{"d", PX_RM_DIR, PX_RM_RECURSE, 0, 0},
                                 {"", PX_RM_DIR, PX_RM_RECURSE, 0, 0},
                                 {px_tree_path("d"), 4, PX_RM_RECURSE, 0, 0},
                                 {px_tree_path("d"), 0, PX_RM_RECURSE, 0, 0}};

    px_tree_make("d/f");
    ck_assert_int_eq(chdir(px_tree_root()), 0);
    rm_run_as(0, items, PX_COUNT(items));
    rm_assert_said("REFUSED d, REFUSED d, REFUSED d, REFUSED ");
    px_assert_tree("", "d/ d/f");
}

PX_TEST(file_systems_of_the_kernel_are_refused)
{
    static const char *const paths[] = {"/", "/proc", "/proc/self", "/sys",
                                        "/sys/kernel"};

    for (size_t i = 0; i < PX_COUNT(paths); i++) {
        struct px_rm_item item = {paths[i], PX_RM_DIR, PX_RM_EMPTY | PX_RM_LEAVE_TOP, 0,
                                  0};

        rm_run_as(0, &item, 1);
        ck_assert_uint_eq(rm_totals.failed, 1);
        ck_assert(!strncmp(rm_said, "REFUSED", 7));
    }
}

PX_TEST_MAIN("reclaim/rmtree", begin, px_tree_end)
