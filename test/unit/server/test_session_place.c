/* SPDX-License-Identifier: BSD-3-Clause */
/* Private folder of root's server: never in a place where a user could replace the folder. */
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/server/cleanup/session.h"
#include "core/server/server.h"
#include "fake_host.h"
#include "px_test.h"
#include "tree.h"

#include <sys/stat.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define USER 12345

static void setup(void)
{
    px_tree_begin("/tmp");
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
    setenv("TMPDIR", px_tree_root(), 1);
}

static void teardown(void)
{
    host_done();
    px_tree_end();
}

static void start(const char *tmpdir)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, px_tree_path(tmpdir), PMIX_STRING));
    ok(PMIx_server_init((pmix_server_module_t *)&host_module, infos.v, infos.n));
    ck_assert_ptr_nonnull(px_process.server->dir);
}

/* True if the private folder is in this folder. "": the root of the tree. */
static bool is_in(const char *name)
{
    PX_AUTOFREE char *begin = px_strf("%s/" PX_JOURNAL_DIR,
                                      *name ? px_tree_path(name) : px_tree_root());

    return px_str_starts(px_process.server->dir, begin);
}

PX_TEST(a_folder_of_a_user_is_none_for_root)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    px_tree_make("own/ user/deep/ open/ sticky/");
    px_tree_chown("user", USER, USER);
    ok(chmod(px_tree_path("open"), 0777));
    ok(chmod(px_tree_path("sticky"), 01777));
    start("own");
    ck_assert(is_in("own"));
    PMIx_server_finalize();
    start("sticky");
    ck_assert(is_in("sticky"));
    PMIx_server_finalize();
    start("user");
    ck_assert(is_in(""));
    PMIx_server_finalize();
    start("user/deep");
    ck_assert(is_in(""));
    PMIx_server_finalize();
    start("open");
    ck_assert(is_in(""));
    PMIx_server_finalize();
    px_assert_tree("", "open/ own/ sticky/ user/ user/deep/");
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
    start("absent");
    ck_assert(px_str_starts(px_process.server->dir, "/tmp/" PX_JOURNAL_DIR));
    PMIx_server_finalize();
    ok(umount("/tmp"));
}

/* The user replaces the private folder by a link to a folder with files of the same names. */
PX_TEST(a_user_who_replaces_it_has_nothing_of_others_removed)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    px_tree_make("user/ victim/server.sock victim/journal");
    px_tree_chown("user", USER, USER);
    start("user");
    PX_AUTOFREE char *dir = strdup(px_process.server->dir);
    PX_AUTOFREE char *moved = px_strf("%s.moved", dir);
    const char *name = strrchr(dir, '/') + 1;
    PX_AUTOFREE char *target = px_strf("%s/%s", px_tree_path("user"), name);

    if (strcmp(target, dir) == 0) { /* the user can replace the folder only then */
        ok(rename(dir, moved));
        ok(symlink(px_tree_path("victim"), dir));
    }
    PMIx_server_finalize();
    px_assert_tree("victim", "journal server.sock");
}

PX_TEST_MAIN("server/session_place", setup, teardown)
