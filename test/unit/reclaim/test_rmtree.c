/* SPDX-License-Identifier: BSD-3-Clause */
/* Removed files, left files and reports, without interference. */
#include "rm_run.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

enum { R = PX_RM_RECURSE, T = PX_RM_LEAVE_TOP, E = PX_RM_EMPTY };

/* The removal of a folder, or of a file if flags are -1. */
static const struct row {
    const char *what, *made, *removed;
    int flags;
    const char *kept, *left, *logged;
    unsigned files, dirs;
} rows[] = {
    {"with its files", "d/a d/b d/l@/etc o", "d", 0, NULL, "o", "", 3, 1},
    {"without recursion folders in it stay with all in them", "d/a d/sub/f d/empty/",
     "d", 0, NULL, "d/ d/empty/ d/sub/ d/sub/f", "", 1, 0},
    {"with recursion all of it goes",
     "d/a d/sub/f d/sub/deep/er/f d/empty/ d/sub/l@../.. x", "d", R, NULL, "x", "", 4,
     5},
    {"the top is left", "d/a d/sub/f", "d", T, NULL, "d/ d/sub/ d/sub/f", "", 1, 0},
    {"the top is left, with recursion", "d/a d/sub/f", "d", R | T, NULL, "d/", "", 2,
     1},
    {"an empty top is left", "d/", "d", R | T, NULL, "d/", "", 0, 0},
    {"only empty folders", "d/a/ d/b/c/ d/b/e/ d/x/y/f d/x/z/ d/l@/etc", "d", R | E,
     NULL, "d/ d/l@ d/x/ d/x/y/ d/x/y/f", "", 0, 5},
    {"a tree of empty folders", "d/a/ d/b/c/", "d", R | E, NULL, "", "", 0, 4},
    {"a tree of empty folders to below the top", "d/a/ d/b/c/", "d", R | E | T, NULL,
     "d/", "", 0, 3},
    {"an empty folder alone", "e/", "e", E, NULL, "", "", 0, 1},
    {"not one with folders", "d/a/", "d", E, NULL, "d/ d/a/", "", 0, 0},
    {"nor one with files", "f/g", "f", E, NULL, "f/ f/g", "", 0, 0},
    {"nor if it is to be left", "h/", "h", E | T, NULL, "h/", "", 0, 0},
    {"a file and nothing beside it", "a b", "a", -1, NULL, "b", "", 1, 0},
    {"a link and not the file that it leads to", "a l@a", "l", -1, NULL, "a", "", 1, 0},
    {"a link and not the folder", "d/f l@d", "l", -1, NULL, "d/ d/f", "", 1, 0},
    {"a folder named as a file", "d/", "d", -1, NULL, "d/", "REFUSED d", 0, 0},
    {"a file named as a folder", "f", "f", R, NULL, "f", "REFUSED f", 0, 0},
    {"a file that is gone", "", "none", -1, NULL, "", "", 0, 0},
    {"a file whose folder is gone", "", "none/deep/er", -1, NULL, "", "", 0, 0},
    {"a file below a file", "f", "f/g", -1, NULL, "f", "", 0, 0},
    {"a folder that is gone", "", "none", R, NULL, "", "", 0, 0},
    {"a folder whose folder is gone", "", "none/er", R, NULL, "", "", 0, 0},
    {"a folder below a file", "f", "f/g", R, NULL, "f", "", 0, 0},
    {"a file behind a link that leads nowhere", "bad@bad", "bad/g", -1, NULL, "bad@",
     "LINK bad/g", 0, 0},
    {"a folder behind one", "bad@bad", "bad/d", R, NULL, "bad@", "LINK bad/d", 0, 0},
    {"the last link is not followed", "real/g l@real", "l", R, NULL, "l@ real/ real/g",
     "LINK l", 0, 0},
    {"a file behind a link", "real/g l@real", "l/g", -1, NULL, "l@ real/", "", 1, 0},
    {"a folder behind a link", "real/d/f l@real", "l/d", R, NULL, "l@ real/", "", 1, 1},
    {"a kept file stays with its parents", "d/a d/s/keep d/s/b d/t/c", "d", R,
     "d/s/keep", "d/ d/s/ d/s/keep", "ASKED d/s/keep", 3, 1},
    {"a kept folder stays with all in it", "d/a d/s/b d/s/t/c", "d", R, "d/s",
     "d/ d/s/ d/s/b d/s/t/ d/s/t/c", "ASKED d/s", 1, 0},
    {"a kept top", "d/s/b", "d", R, "d", "d/ d/s/ d/s/b", "ASKED d", 0, 0},
    {"what is below a kept folder", "d/s/b", "d/s", R, "d", "d/ d/s/ d/s/b",
     "ASKED d/s", 0, 0},
    {"a name that only begins like a kept one", "d/keep d/keeper d/kee", "d", R,
     "d/keep", "d/ d/keep", "ASKED d/keep", 2, 0},
    {"a top that only begins like one", "d/f dd/f", "dd", R, "d", "d/ d/f", "", 1, 1},
    {"a kept name that is not there", "d/a l@d", "d", R, "d/b", "l@", "", 1, 1},
    {"a kept name behind a link", "d/a d/b l@d", "d", R, "l/a", "d/ d/a l@",
     "ASKED d/a", 1, 0},
    {"a kept name behind two", "d/s/b d/s/c l@d d/to@s", "d", R, "l/to/b",
     "d/ d/s/ d/s/b l@", "ASKED d/s/b", 2, 0},
    {"names of any bytes", "d/\n d/,,, d/\xff\xfe/\x80 d/.hidden d/... d/-rf/ d/*", "d",
     R, NULL, "", "", 6, 3},
};

PX_TEST_LOOP(what_is_named_goes_and_no_more, PX_COUNT(rows))
{
    const struct row *r = &rows[_i];

    px_tree_make(r->made);
    rm_one(r->removed, r->flags < 0 ? PX_RM_FILE : PX_RM_DIR,
           r->flags < 0 ? 0 : r->flags, r->kept);
    char *left = px_tree_list("");
    ck_assert_msg(strcmp(left, r->left) == 0, "%s: left \"%s\"", r->what, left);
    ck_assert_msg(strcmp(rm_logged, r->logged) == 0, "%s: \"%s\"", r->what, rm_logged);
    ck_assert_msg(rm_totals.files == r->files && rm_totals.dirs == r->dirs,
                  "%s: %ju files, %ju folders", r->what, (uintmax_t)rm_totals.files,
                  (uintmax_t)rm_totals.dirs);
    free(left);
}

PX_TEST_LOOP(only_what_was_meant_is_removed, 2)
{
    struct stat st;
    struct px_rm_item item = {.path = px_tree_path("d"),
                              .kind = _i ? PX_RM_DIR : PX_RM_FILE,
                              .flags = PX_RM_SAME | R};

    px_tree_make(_i ? "d/f" : "d");
    ok(stat(item.path, &st));
    item.device = st.st_dev;
    item.inode = st.st_ino + 1;
    rm_run_as(0, &item, 1);
    rm_assert_logged("REFUSED d");
    item.device = st.st_dev + 1;
    item.inode = st.st_ino;
    rm_run_as(0, &item, 1);
    rm_assert_logged("REFUSED d");
    item.device = st.st_dev;
    rm_run_as(0, &item, 1);
    px_assert_tree("", "");
}

/* ---- files ---------------------------------------------------------------------- */

static void make_special(const char *name, mode_t type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = px_tree_path(name);

    if (type != S_IFSOCK) {
        ok(mknod(path, type | 0600, makedev(1, 3)));
        return;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    ok(bind(fd, (struct sockaddr *)&address, sizeof(address)));
    close(fd);
}

/* 1: devices. */
PX_TEST_LOOP(special_files_are_removed_without_being_opened, 2)
{
    px_tree_make("d/");
    PX_TEST_NEEDS(!_i || mknod(px_tree_path("d/try"), S_IFCHR, makedev(1, 3)) == 0,
                  "the right to make devices");
    make_special("d/a", _i ? S_IFCHR : S_IFIFO);
    make_special("d/b", _i ? S_IFBLK : S_IFSOCK);
    make_special("fifo", S_IFIFO);
    rm_dir("fifo", R);
    rm_assert_logged("REFUSED fifo");
    rm_one("fifo", PX_RM_FILE, 0, NULL);
    rm_dir("d", R);
    rm_assert_removed(_i ? 3 : 2, 1);
    px_assert_tree("", "");
}

PX_TEST(a_hard_link_is_removed_and_the_file_lives_on)
{
    px_tree_make("file d/");
    ok(link(px_tree_path("file"), px_tree_path("d/one")));
    ok(link(px_tree_path("file"), px_tree_path("d/two")));
    rm_dir("d", R);
    px_assert_tree("", "file");
    rm_assert_removed(2, 1);
}

/* ---- kept ----------------------------------------------------------------------- */

PX_TEST(a_kept_file_stays_under_another_name)
{
    px_tree_make("d/keep d/s/a");
    ok(link(px_tree_path("d/keep"), px_tree_path("d/s/alias")));
    rm_one("d", PX_RM_DIR, R, "d/keep");
    px_assert_tree("", "d/ d/keep d/s/ d/s/alias");
    ck_assert_uint_eq(rm_totals.kept, 2);
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
        .path = px_tree_path("d"), .kind = PX_RM_DIR, .flags = R};
    rm_run_as(0, items, 101);
    ck_assert_uint_eq(rm_totals.kept, 100);
    rm_assert_removed(200, 0);
    for (int i = 0; i < 100; i++)
        ok(access(paths[i], F_OK));
}

/* ---- order ---------------------------------------------------------------------- */

PX_TEST(files_go_first_and_then_the_deepest_tree)
{
    /* If "d" went first, "d/a" would be entered without PX_RM_RECURSE and stay. */
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
    struct px_rm_item item = {px_tree_path("d"), PX_RM_DIR, R, 0, 0};
    struct px_pcleanup_totals totals = {.files = 10, .dirs = 20, .foreign = 30};

    px_tree_make("d/a d/b/c");
    ok(px_rm_run(&item, 1, geteuid(), getegid(), NULL, NULL, &totals));
    ck_assert_uint_eq(totals.files, 12);
    ck_assert_uint_eq(totals.dirs, 22);
    ck_assert_uint_eq(totals.foreign, 30);
    ok(px_rm_run(NULL, 0, 0, 0, NULL, NULL, &totals));
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
            struct px_rm_item item = {path, (uint8_t)kind, R, 0, 0};

            snprintf(path, sizeof(path), "%s%s", px_tree_path("d"), suffixes[i]);
            rm_run_as(0, &item, 1);
            ck_assert_uint_eq(rm_totals.failed, 1);
        }
    px_assert_tree("", "d/ d/f d/s/ d/s/g");
}

PX_TEST(relative_paths_and_unknown_kinds_are_refused)
{
    struct px_rm_item items[] = {{"d", PX_RM_DIR, R, 0, 0},
                                 {"", PX_RM_DIR, R, 0, 0},
                                 {px_tree_path("d"), 4, R, 0, 0},
                                 {px_tree_path("d"), 0, R, 0, 0}};

    px_tree_make("d/f");
    ok(chdir(px_tree_root()));
    rm_run_as(0, items, PX_COUNT(items));
    rm_assert_logged("REFUSED d, REFUSED d, REFUSED d, REFUSED ");
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
        ck_assert(!strncmp(rm_logged, "REFUSED", 7));
    }
}

PX_TEST_MAIN("reclaim/rmtree", rm_begin, px_tree_end)
