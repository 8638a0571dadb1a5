/* SPDX-License-Identifier: BSD-3-Clause */
/* Private folder of root's server: never in a place where a user could replace the folder. */
#include "core/base/str.h"
#include "core/reclaim/rmtree.h"
#include "px_test.h"
#include "session_scene.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#define USER 12345

/* A directory, and the directory of root's private folder. */
static const char *const rows[][2] = {{"own", "own/"},
                                      {"sticky", "sticky/"},
                                      {"user", ""},
                                      {"user/deep", ""},
                                      {"open", ""}};

PX_TEST_LOOP(a_folder_of_a_user_is_none_for_root, PX_COUNT(rows))
{
    PX_TEST_NEEDS_ROOT;
    px_tree_make("own/ user/deep/ open/ sticky/");
    px_tree_chown("user", USER, USER);
    ok(chmod(at("open"), 0777));
    ok(chmod(at("sticky"), 01777));
    session_left = "open/ own/ sticky/ user/ user/deep/";
    session_start(rows[_i][0]);
    PX_AUTOFREE char *begin = px_strf("%s/%s" PX_JOURNAL_DIR, px_tree_root(),
                                      rows[_i][1]);
    ck_assert_msg(px_str_starts(server()->dir, begin), "%s", server()->dir);
}

/* Gives /tmp to a user. The components are mounted elsewhere, as they may be in /tmp. */
static bool give_tmp_away(void)
{
    static const char path[] = "PMIX_MCA_mca_base_component_path";

    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/mnt", "tmpfs", 0, "mode=0755") == 0 &&
           mkdir("/mnt/pmix", 0755) == 0 &&
           mount(getenv(path), "/mnt/pmix", NULL, MS_BIND, NULL) == 0 &&
           setenv(path, "/mnt/pmix", 1) == 0 &&
           mount("none", "/tmp", "tmpfs", 0, "uid=12345,mode=0700") == 0;
}

PX_TEST(if_there_is_no_other_it_will_do)
{
    PX_TEST_NEEDS(give_tmp_away(), "root and mounts");
    session_start("absent");
    ck_assert(px_str_starts(server()->dir, "/tmp/" PX_JOURNAL_DIR));
    PMIx_server_finalize();
    ok(umount("/tmp"));
}

/* The user replaces the private folder by a link to a folder with files of the same names. */
PX_TEST(a_user_who_replaces_it_has_nothing_of_others_removed)
{
    PX_TEST_NEEDS_ROOT;
    px_tree_make("user/ victim/server.sock victim/journal");
    px_tree_chown("user", USER, USER);
    session_left = "user/ victim/ victim/journal victim/server.sock";
    session_start("user");
    PX_AUTOFREE char *moved = px_strf("%s.moved", server()->dir);

    /* Only in that directory the user could replace the folder. */
    if (px_str_starts(server()->dir, at("user/"))) {
        ok(rename(server()->dir, moved));
        ok(symlink(at("victim"), server()->dir));
    }
}

PX_TEST_MAIN("server/session_place", session_setup, session_teardown)
