/* SPDX-License-Identifier: BSD-3-Clause */
/* Server whose folder, journal or rendezvous file cannot be made, or is taken away. The server
 * still starts, logs the problem, leaves no files, and touches no files of others. */
#include "core/base/path.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "core/server/door/door.h"
#include "core/server/cleanup/registry.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"
#include "seccomp.h"
#include "session_scene.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { STRANGER = 12345 };

static size_t n_in_top(void)
{
    size_t n = 0;
    DIR *d = opendir(px_tree_root());

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void start(void)
{
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, px_tree_root(), PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, px_tree_root(), PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL));
    ok(PMIx_server_init((pmix_server_module_t *)&host_module, infos.v, infos.n));
}

/* ---- the folder --------------------------------------------------------------------------- */

PX_TEST(without_room_for_a_journal_there_is_no_folder)
{
    struct rlimit none = {0, RLIM_INFINITY}, was;

    ok(getrlimit(RLIMIT_FSIZE, &was));
    signal(SIGXFSZ, SIG_IGN);
    none.rlim_max = was.rlim_max;
    ok(setrlimit(RLIMIT_FSIZE, &none));
    start();
    bool has_folder = server()->dir, records = px_session_can_record(server());
    size_t n = n_in_top();
    PMIx_server_finalize();
    ok(setrlimit(RLIMIT_FSIZE, &was)); /* Check writes files, too */
    ck_assert(!has_folder && !records);
    ck_assert_uint_eq(n, 0);
}

/* The server uses /tmp, which does not have this bit. */
PX_TEST(a_folder_that_cannot_be_made_private_is_given_up)
{
    ok(chmod(px_tree_root(), 02777));
    session_deny(SYS_fchmod, EPERM);
    start();
    ck_assert_ptr_nonnull(server()->dir);
    ck_assert_msg(px_str_starts(server()->dir, "/tmp/" PX_JOURNAL_DIR), "%s",
                  server()->dir);
    ck_assert_uint_eq(n_in_top(), 0);
}

PX_TEST(what_has_taken_the_folders_place_is_left_alone)
{
    start();
    ok(rename(server()->dir, at("moved")));
    ok(mkdir(server()->dir, 0755)); /* otherwise the folder could be a dead server's */
    touch(inside("canary"));
    PX_AUTOFREE char *canary = strdup(inside("canary"));
    PMIx_server_finalize();
    ok(unlink(canary));
    ok(rmdir(dirname(canary)));
    ok(unlink(at("moved/" PX_JOURNAL_NAME)));
    (void)unlink(at("moved/server.sock")); /* made by a component, if it is built */
    ok(rmdir(at("moved")));
}

PX_TEST(what_another_has_in_it_stays_and_the_folder_with_it)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    start();
    PX_AUTOFREE char *strange = strdup(inside("strange"));
    touch(strange);
    touch(inside("own"));
    ok(lchown(strange, STRANGER, STRANGER));
    PMIx_server_finalize();
    ok(unlink(strange));
    ok(rmdir(dirname(strange))); /* it has nothing else */
}

/* ---- the journal ---------------------------------------------------------------------------- */

/* Compacts on the loop's thread, which is the only thread that cannot rename. */
static void compact_without_rename(void *arg PX_UNUSED)
{
    session_deny(SYS_renameat, EIO);
    px_cleanup_compact(server()->part.cleanup);
}

PX_TEST(a_new_journal_that_cannot_have_the_name_is_dropped)
{
    const struct px_journal_record none = {.type = PX_JOURNAL_NONE, .scope = 7};
    struct stat before, after;

    start();
    for (int i = 0; i < 3000; i++)
        ok(px_session_record(server(), &none, 1));
    ok(stat(inside(PX_JOURNAL_NAME), &before));
    raw_on_loop(compact_without_rename, NULL);
    ok(stat(inside(PX_JOURNAL_NAME), &after));
    ck_assert(after.st_ino == before.st_ino && after.st_size == before.st_size);
    ck_assert(!is_there(inside(PX_JOURNAL_NAME ".new")));
    ok(px_session_record(server(), &none, 1));
    ck_assert_int_gt(journal_b(), before.st_size); /* the old journal is still in use */
}

PX_TEST(a_record_with_a_path_too_long_is_refused)
{
    char path[PX_RM_MAX_PATH + 2];
    struct px_journal_record r[2] = {{.type = PX_JOURNAL_NONE},
                                     {.type = PX_JOURNAL_ITEM, .path = path}};

    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    start();
    const off_t before = journal_b();
    fails(px_session_record(server(), r, 2), BAD_PARAM);
    ck_assert_int_eq(journal_b(), before); /* the valid record is not written either */
}

PX_TEST(a_folder_that_cannot_be_made_is_reported_and_not_recorded)
{
    struct px_cleanup_entry *slot = NULL;
    struct px_err err = {0};

    session_deny(SYS_mkdirat, EROFS);
    start();
    off_t before = journal_b();
    ck_assert_int_ne(px_made_dir(server(), at("a/b"), 0700, &err), PMIX_SUCCESS);
    ck_assert_ptr_nonnull(strstr(err.text, at("a")));
    ck_assert_ptr_nonnull(strstr(err.text, strerror(EROFS)));
    ck_assert(!px_tree_has("a"));
    ck_assert_int_gt(journal_b(), before); /* a record, and a record that voids it */
    ok(px_made_record(server(), at("x"), PX_RM_FILE, 0, NULL, &slot));
    before = journal_b();
    px_made_forget(server(), NULL);
    px_made_forget(server(), slot);
    ck_assert_int_eq(journal_b() - before, 64); /* one record */
}

/* ---- rendezvous files ----------------------------------------------------------------------- */

static struct px_rendezvous_request request = {
    .name = "wanted", .text = "text\n", .well_known = true};

static pmix_status_t publish(struct px_err *err)
{
    *err = (struct px_err){0};
    request.dir = px_tree_root();
    return px_rendezvous_file_publish(server(), &request, err);
}

static void published(void)
{
    PX_AUTOFREE char *text = text_of_file(at("wanted"));

    ck_assert_str_eq(text, request.text);
}

PX_TEST_LOOP(what_cannot_be_finished_is_reported_and_leaves_no_file, 2)
{
    static const struct {
        long call;
        int errnum;
        const char *expected;
    } rows[] = {{SYS_renameat2, ENOSPC, "cannot make"},
                {SYS_fchmod, EROFS, "cannot write"}};
    struct px_err err;

    start();
    size_t before = n_in_top();
    session_deny(rows[_i].call, rows[_i].errnum);
    ck_assert_int_ne(publish(&err), PMIX_SUCCESS);
    ck_assert_ptr_nonnull(strstr(err.text, rows[_i].expected));
    ck_assert_ptr_nonnull(strstr(err.text, strerror(rows[_i].errnum)));
    ck_assert_uint_eq(n_in_top(), before);
}

PX_TEST_LOOP(where_no_name_can_be_taken_at_once_it_is_linked, 2)
{
    static const int errnums[] = {EINVAL, ENOSYS};
    struct px_err err;

    start();
    size_t before = n_in_top();
    session_deny(SYS_renameat2, errnums[_i]);
    ok(publish(&err));
    published();
    ck_assert_uint_eq(n_in_top(), before + 1);
}

PX_TEST(a_file_that_cannot_be_written_has_no_name)
{
    struct rlimit none, was;
    struct px_err err;

    start();
    size_t before = n_in_top();
    PX_AUTOFREE char *text = px_strf("%8192s", "x");
    ck_assert_ptr_nonnull(text);
    ok(getrlimit(RLIMIT_FSIZE, &was));
    signal(SIGXFSZ, SIG_IGN);
    none = was;
    none.rlim_cur = 4096;
    ok(setrlimit(RLIMIT_FSIZE, &none));
    request.text = text;
    pmix_status_t rc = publish(&err);
    request.text = "text\n";
    ok(setrlimit(RLIMIT_FSIZE, &was));
    ck_assert_int_ne(rc, PMIX_SUCCESS);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot write"));
    ck_assert_uint_eq(n_in_top(), before);
}

/* Root can take the name from the folder, but the folder cannot be removed. */
PX_TEST(a_squatters_full_folder_loses_the_name_and_nothing_else)
{
    struct px_err err;
    char aside[300] = "";

    PX_TEST_NEEDS(geteuid() == 0, "root");
    start();
    px_tree_make("wanted/canary");
    px_tree_chown("wanted", STRANGER, STRANGER);
    ok(publish(&err));
    published();
    PMIx_server_finalize();
    ck_assert(!px_tree_has("wanted"));
    DIR *d = opendir(px_tree_root());
    for (const struct dirent *e; (e = readdir(d));)
        if (px_str_starts(e->d_name, ".pmix."))
            px_str_copy(aside, sizeof(aside), at(e->d_name));
    closedir(d);
    PX_AUTOFREE char *canary = px_path_join(aside, "canary");
    ok(unlink(canary));
    ok(rmdir(aside));
}

PX_TEST(a_name_that_cannot_be_taken_from_its_squatter_is_given_up)
{
    struct px_err err;

    PX_TEST_NEEDS(geteuid() == 0, "root");
    start();
    px_tree_make("wanted");
    px_tree_chown("wanted", STRANGER, STRANGER);
    size_t before = n_in_top();
    session_deny(SYS_renameat, EROFS);
    ck_assert_int_eq(publish(&err), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot be replaced"));
    ck_assert_uint_eq(n_in_top(), before);
    session_left = "wanted";
}

PX_TEST_MAIN("server/session_faults", session_setup, session_teardown)
