/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pcleanup: removal on request of the server, and the report about it.
 * Effects on the host are in contract_pcleanup_life.c, killed servers in
 * contract_pcleanup_kill.c. */
#include "contract_pcleanup.h"

#include "core/base/str.h"

#include <string.h>
#include <sys/stat.h>
#include "px_test.h"

/* ---- removal -------------------------------------------------------------------- */

PX_TEST(removes_the_journals_items_of_the_scope_and_nothing_else)
{
    struct srv s = srv_begin();
    const char *file = make_file("file");
    const char *tree = make_tree("tree", 20);
    const char *other = make_file("other");
    const char *stranger = make_file("stranger");

    srv_item(&s, SCOPE, file, PX_RM_FILE, 0);
    srv_item(&s, SCOPE, tree, PX_RM_DIR, PX_RM_RECURSE);
    srv_item(&s, SCOPE + 1, other, PX_RM_FILE, 0);
    sweep(&s, SCOPE);
    ck_assert(!is_there(file) && !is_there(tree));
    ck_assert(is_there(other) && is_there(stranger));
    sweep(&s, SCOPE + 1);
    ck_assert(!is_there(other));
    ck_assert(is_there(stranger));
    srv_end(&s);
}

PX_TEST(a_scope_may_be_run_before_anything_is_in_it_and_again)
{
    static const unsigned rows[] = {0, 1, 0};
    struct srv s = srv_begin();

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (i == 1)
            srv_item(&s, SCOPE, make_file("file"), PX_RM_FILE, 0);
        struct answer a = sweep(&s, SCOPE);
        ck_assert_uint_eq(a.totals.files, rows[i]);
        ck_assert_uint_eq(a.totals.dirs + a.totals.failed, 0);
    }
    srv_end(&s);
}

PX_TEST(totals_count_what_was_removed_and_what_stays)
{
    struct srv s = srv_begin();
    const char *tree = make_tree("tree", 3);
    const char *kept = in_dir("tree/file1");
    const char *folder = make_folder("folder");

    srv_item(&s, SCOPE, make_file("file"), PX_RM_FILE, 0);
    srv_item(&s, SCOPE, in_dir("missing"), PX_RM_FILE, 0);
    srv_item(&s, SCOPE, tree, PX_RM_DIR, PX_RM_RECURSE);
    srv_item(&s, SCOPE, kept, PX_RM_KEEP, 0);
    srv_item(&s, SCOPE, folder, PX_RM_DIR, 0);
    struct answer a = sweep(&s, SCOPE);
    ck_assert_uint_eq(a.totals.files, 3);
    ck_assert_uint_eq(a.totals.dirs, 1);
    ck_assert_uint_eq(a.totals.kept, 1);
    ck_assert_uint_eq(a.totals.foreign, 0);
    ck_assert_uint_eq(a.totals.failed, 0);
    ck_assert(is_there(kept) && !is_there(folder));
    srv_end(&s);
}

PX_TEST(what_belongs_to_another_stays)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    struct srv s = srv_begin();
    const char *tree = make_tree("tree", 3);
    const char *foreign = in_dir("tree/file1");

    ck_assert_int_eq(lchown(foreign, OTHER_UID, OTHER_UID), 0);
    srv_item(&s, SCOPE, tree, PX_RM_DIR, PX_RM_RECURSE);
    struct answer a = sweep(&s, SCOPE);
    ck_assert_uint_eq(a.totals.files, 2);
    ck_assert_uint_eq(a.totals.foreign, 1);
    ck_assert(is_there(foreign));
    srv_end(&s);
}

/* The folder belongs to root, so the file's owner has no right to remove the file. */
PX_TEST(roots_rights_are_not_used_for_others)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    struct srv s = srv_begin();
    struct px_journal_record r = {.type = PX_JOURNAL_ITEM,
                                  .kind = PX_RM_FILE,
                                  .slot = 1,
                                  .scope = SCOPE,
                                  .uid = OTHER_UID,
                                  .gid = OTHER_UID,
                                  .path = make_file("file")};

    ck_assert_int_eq(lchown(r.path, OTHER_UID, OTHER_UID), 0);
    srv_record(&s, &r);
    struct answer a = sweep(&s, SCOPE);
    ck_assert_uint_eq(a.totals.files, 0);
    ck_assert(is_there(r.path));
    ck_assert_int_eq(chmod(contract.dir, 0777), 0);
    ck_assert_uint_eq(sweep(&s, SCOPE).totals.files, 1);
    ck_assert(!is_there(r.path));
    srv_end(&s);
}

PX_TEST(a_journal_written_anew_counts_from_then_on)
{
    struct srv s = srv_begin();
    const char *before = make_file("before");
    const char *after = make_file("after");

    srv_item(&s, SCOPE, before, PX_RM_FILE, 0);
    srv_make_journal(&s);
    srv_item(&s, SCOPE, after, PX_RM_FILE, 0);
    sweep(&s, SCOPE);
    ck_assert(is_there(before));
    ck_assert(!is_there(after));
    srv_end(&s);
}

static bool have_all_come(void *arg)
{
    const struct answer *a = arg;

    for (int i = 0; i < 500; i++) {
        if (a[i].n == 0)
            return false;
    }
    return true;
}

PX_TEST(five_hundred_runs_are_all_done)
{
    static struct answer a[500];
    char name[32];
    struct srv s = srv_begin();
    size_t n_fds = px_test_count_fds();

    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "file%d", i);
        srv_item(&s, 1 + (uint64_t)i, make_file(name), PX_RM_FILE, 0);
    }
    for (int i = 0; i < 500; i++)
        ok(pcleanup_ops()->run(s.self, 1 + (uint64_t)i, on_done, &a[i]));
    ck_assert(fake_host_run(&contract.host, 50000, have_all_come, a));
    for (int i = 0; i < 500; i++) {
        ck_assert_uint_eq(a[i].n, 1);
        ok(a[i].status);
        ck_assert_uint_eq(a[i].totals.files, 1);
    }
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    srv_end(&s);
}

/* ---- reports -------------------------------------------------------------------- */

PX_TEST(is_silent_about_what_stays_unless_asked)
{
    struct srv s = srv_begin();

    srv_item(&s, SCOPE, make_file("file"), PX_RM_FILE,
             PX_RM_SAME); /* the wrong record for this path */
    struct answer a = sweep(&s, SCOPE);
    fake_host_run(&contract.host, 20, NULL, NULL);
    ck_assert_uint_eq(a.totals.failed, 1);
    ck_assert_str_eq(contract.host.last_log, "");
    srv_end(&s);
}

static bool has_logged(void *arg PX_UNUSED)
{
    return contract.host.last_log[0];
}

PX_TEST(at_verbosity_10_reports_what_stays_and_why)
{
    PX_TEST_NEEDS(contract_has_param("verbose"), "a parameter verbose");
    ok(contract_reopen("verbose", "10"));
    struct srv s = srv_begin();
    const char *name = make_file("a\nb");

    srv_item(&s, SCOPE, name, PX_RM_FILE, PX_RM_SAME);
    ck_assert_uint_eq(sweep(&s, SCOPE).totals.failed, 1);
    ck_assert(fake_host_run(&contract.host, LATE_MS, has_logged, NULL));
    const char *line = contract.host.last_log;
    ck_assert_msg(px_str_starts(line, "cannot remove /") && strstr(line, "/a?b: "),
                  "\"%s\"", line);
    srv_end(&s);
}

/* ---- leftovers of dead servers -------------------------------------------------- */

/* Closes the server's folder and journal without removing them, like a killed
 * server. */
static void leave_behind(struct srv *s)
{
    close(s->dir);
    close(s->journal);
    s->dir = s->journal = -1;
}

/* Makes a server whose journal the component under test is not given. */
static struct srv stranger(const char *name)
{
    struct srv s = {.dir = -1, .journal = -1, .self = contract.self};

    snprintf(s.path, sizeof(s.path), "%s/" PX_JOURNAL_DIR "%s", contract.dir, name);
    srv_make_dir(&s);
    srv_begin_journal(&s, 1);
    return s;
}

static struct answer reclaim(const char *tmpdir)
{
    struct answer a = {0};

    ok(pcleanup_ops()->reclaim(contract.self, tmpdir, on_done, &a));
    ck_assert_uint_eq(a.n, 0);
    answer_wait(&a);
    return a;
}

PX_TEST(reclaims_what_a_server_has_left_once_it_is_dead)
{
    struct srv s = srv_begin(); /* the server's own folder, too */
    struct srv alive = stranger("alive1");
    const char *file = make_file("file");
    const char *made = make_folder("made");

    srv_item(&alive, SCOPE, file, PX_RM_FILE, 0);
    srv_item(&alive, 0, made, PX_RM_DIR, PX_RM_RECURSE);
    srv_item(&s, SCOPE, file, PX_RM_FILE, 0);
    ok(reclaim(contract.dir).status);
    ck_assert(is_there(file) && is_there(alive.path) && is_there(s.path));
    leave_behind(&alive);
    ok(reclaim(in_dir("missing")).status);
    struct answer a = reclaim(contract.dir);
    ok(a.status);
    ck_assert_uint_ge(a.totals.files, 1);
    ck_assert(!is_there(file) && !is_there(made) && !is_there(alive.path));
    srv_end(&s);
}
