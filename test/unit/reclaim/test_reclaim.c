/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeping a scope: the final state of the journal is applied as the right user and in
 * time. Forged journals must do no harm. */
#include "reclaim_fixture.h"

static int sweep_scope(uint64_t scope)
{
    const struct px_reclaim s = {
        .journal = journal, .node = "node", .timeout_ms = 20000};

    return px_reclaim_scope(&s, scope, &totals);
}

static void end_slot(uint64_t scope, uint32_t slot)
{
    append_record(.type = PX_JOURNAL_NONE, .scope = scope, .slot = slot);
}

static void end_scope(uint64_t scope)
{
    append_record(.type = PX_JOURNAL_DONE, .scope = scope);
}

static void keep(uint64_t scope, uint32_t slot, uid_t uid, const char *name)
{
    append_record(.type = PX_JOURNAL_ITEM, .kind = PX_RM_KEEP, .slot = slot,
                  .scope = scope, .uid = uid, .gid = getegid() + 1,
                  .path = px_tree_path(name));
}

#define SERVERS SERVER "/ " SERVER "/journal" /* what is left of each tree */

PX_TEST(the_last_record_of_a_slot_counts)
{
    file_in(1, 3, "first");
    file_in(1, 3, "second");
    file_in(1, 4, "emptied");
    end_slot(1, 4);
    file_in(1, 5, "filled");
    end_slot(1, 5);
    append_item(1, 5, PX_RM_FILE, 0, px_tree_path("filled"));
    ok(sweep_scope(1));
    px_assert_tree("", "emptied first " SERVERS);
}

PX_TEST(what_is_done_is_void_and_what_comes_after_is_not)
{
    file_in(1, 0, "a");
    file_in(1, 7, "b");
    file_in(2, 0, "c");
    end_scope(1);
    file_in(1, 7, "d");
    ok(sweep_scope(1));
    px_assert_tree("", "a b c " SERVERS);
}

PX_TEST(what_any_user_wants_kept_is_kept)
{
    px_tree_make("tree/a tree/b");
    append_tree(1, 1, px_tree_path("tree"));
    keep(1, 2, geteuid() + 1, "tree/a");
    ok(sweep_scope(1));
    px_assert_tree("tree", "a");
    ck_assert_uint_eq(totals.kept, 1);
}

PX_TEST(what_the_same_user_wants_kept_in_another_scope_is_kept)
{
    px_tree_make("tree/job tree/done tree/void tree/other");
    append_tree(2, 0, px_tree_path("tree"));
    keep(3, 0, geteuid(), "tree/job");
    keep(1, 0, geteuid(), "tree/done");
    end_scope(1);
    keep(4, 0, geteuid(), "tree/void");
    end_slot(4, 0);
    keep(5, 0, geteuid() + 1, "tree/other");
    file_in(3, 1, "file"); /* not in this scope */
    ok(sweep_scope(2));
    px_assert_tree("", "file " SERVERS " tree/ tree/job");
}

PX_TEST(many_slots_in_any_order_are_all_found)
{
    enum { N = 900 };

    for (uint32_t i = 0; i < N; i++) {
        uint32_t slot = (i * 7919u) % N;
        char name[32];

        snprintf(name, sizeof(name), "d/%u", slot);
        file_in(1 + slot % 3, slot, name);
    }
    for (uint64_t scope = 1; scope <= 3; scope++)
        ok(sweep_scope(scope));
    ck_assert_uint_eq(totals.files, N);
    ok(rmdir(px_tree_path("d")));
}

/* ---- users ---------------------------------------------------------------------- */

PX_TEST(root_removes_as_each_user_what_the_user_can)
{
    PX_TEST_NEEDS_ROOT;
    /* "roots" has mode 0755: other users cannot remove its entries. */
    px_tree_make("0/f 0/roots roots/0 1/f 1/roots roots/1 2/f 2/roots roots/2");
    for (uid_t i = 0; i < 3; i++) {
        const uid_t uid = STRANGER + i / 2;
        const gid_t gid = STRANGER + i % 2;
        const char *const names[] = {in("%u/f", i), in("%u/roots", i),
                                     in("roots/%u", i)};

        ok(lchown(in("%u", i), uid, gid));
        ok(lchown(names[0], uid, gid));
        ok(lchown(names[2], uid, gid));
        for (uint32_t k = 0; k < PX_COUNT(names); k++)
            append_file_of(1, 3 * i + k, names[k], uid, gid);
    }
    ok(sweep_scope(1));
    px_assert_tree("", "0/ 0/roots 1/ 1/roots 2/ 2/roots " SERVERS
                       " roots/ roots/0 roots/1 roots/2");
    ck_assert_uint_eq(totals.files, 3);
    ck_assert_uint_eq(totals.foreign, 3);
    ck_assert_uint_eq(totals.failed, 3);
}

struct report {
    size_t n;
    enum px_rm_why why;
    int errnum;
};

static void on_report(void *arg, const char *path PX_UNUSED, enum px_rm_why why,
                      int errnum)
{
    struct report *report = arg;

    *report = (struct report){.n = report->n + 1, .why = why, .errnum = errnum};
}

static int sweep_without_root(void)
{
    struct report report = {0};
    const struct px_reclaim s = {
        .journal = journal, .notify = on_report, .arg = &report};

    if (geteuid() == 0) {
        px_tree_chown("", OTHER_STRANGER, OTHER_STRANGER);
        become(OTHER_STRANGER);
    }
    file_in(1, 0, "mine");
    ok(px_reclaim_scope(&s, 1, &totals));
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_uint_eq(totals.failed, 2);
    ck_assert_uint_eq(report.n, 2);
    ck_assert_int_eq(report.why, PX_RM_REFUSED);
    ck_assert_int_eq(report.errnum, EPERM);
    return 0;
}

PX_TEST(without_root_what_is_another_users_is_refused)
{
    append_file_of(1, 1, px_tree_path("another"), STRANGER, STRANGER);
    append_file_of(1, 2, px_tree_path("roots"), 0, 0);
    ok(px_test_in_child(sweep_without_root));
}

/* ---- time ----------------------------------------------------------------------- */

/* Stops the walking process, as its user could. */
static void stop_walking(void *arg PX_UNUSED, const char *path PX_UNUSED,
                         enum px_rm_why why PX_UNUSED, int errnum PX_UNUSED)
{
    kill(getpid(), SIGSTOP);
}

PX_TEST_LOOP(a_walk_that_does_not_end_is_ended, 2)
{
    const struct px_reclaim s = {
        .journal = journal, .notify = stop_walking, .timeout_ms = 200};
    static const unsigned denied[] = {SYS_getcpu, SYS_pidfd_open};

    PX_TEST_NEEDS(px_test_deny(denied[_i], ENOSYS), "seccomp");
    px_tree_make("tree/ tree/kept");
    append_tree(1, 0, px_tree_path("tree"));
    append_item(1, 1, PX_RM_KEEP, 0, px_tree_path("tree/kept"));
    uint64_t began = px_clock_ms();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) /* the child reports from this process */
        _exit(px_reclaim_scope(&s, 1, &totals));
    int status;
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status))
        kill(child, SIGCONT);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_ge(px_clock_ms() - began, 200);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
}

/* Returns only if removal is not confined to the folders of the items. */
static void wait_for_freedom(void *arg PX_UNUSED, const char *path PX_UNUSED,
                             enum px_rm_why why PX_UNUSED, int errnum PX_UNUSED)
{
    while (unlink(px_tree_path("outside")) < 0 && errno == EACCES)
        pause();
}

PX_TEST(what_landlock_makes_too_slow_is_done_without)
{
    const struct px_reclaim s = {
        .journal = journal, .notify = wait_for_freedom, .timeout_ms = 20000};

    PX_TEST_NEEDS(syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0, "Landlock");
    px_tree_make("outside a/ a/tree/ a/tree/kept");
    append_tree(1, 0, px_tree_path("a/tree"));
    append_item(1, 1, PX_RM_KEEP, 0, px_tree_path("a/tree/kept"));
    ok(px_reclaim_scope(&s, 1, &totals));
    ck_assert(!px_tree_has("outside"));
    ck_assert_uint_eq(totals.kept, 1);
    ck_assert_uint_eq(totals.failed, 0);
}

/* ---- forged journals ------------------------------------------------------------ */

PX_TEST(what_is_no_file_is_no_journal)
{
    const struct px_reclaim s = {.journal = open(px_tree_root(), O_RDONLY | O_CLOEXEC)};
    const struct px_reclaim closed = {.journal = -1};

    ck_assert_int_eq(px_reclaim_scope(&s, 1, &totals), EPERM);
    ck_assert_int_eq(px_reclaim_scope(&closed, 1, &totals), EBADF);
    close(s.journal);
}

PX_TEST(a_journal_that_changes_while_it_is_read_does_no_harm)
{
    int status;

    for (uint32_t i = 0; i < 200; i++)
        append_item(1, i, PX_RM_FILE, 0, in("never-%u", i));
    pid_t child = fork();
    if (child == 0) {
        for (;;) {
            for (off_t size = 0; size < 40000; size += 1009) {
                if (ftruncate(journal, size) < 0 || ftruncate(journal, 40000) < 0)
                    _exit(1);
            }
        }
    }
    for (int i = 0; i < 300; i++) {
        const struct px_reclaim s = {.journal = journal};
        struct px_journal_view view;

        ok(px_journal_view_load(s.journal, NULL, &view));
        px_journal_view_unload(&view);
    }
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

/* ---- older kernels, stricter sandboxes ------------------------------------------ */

static const struct {
    unsigned calls[3];
    int errnum;
} lacks[] = {
    {{SYS_close_range, SYS_pidfd_open, SYS_landlock_create_ruleset}, ENOSYS},
    {{SYS_close_range, SYS_pidfd_open, SYS_landlock_create_ruleset}, EPERM},
    {{SYS_landlock_add_rule}, ENOMEM},
    {{SYS_landlock_create_ruleset}, ENOSYS},
};

PX_TEST_LOOP(a_scope_is_removed_without_what_is_new, PX_COUNT(lacks))
{
    for (const unsigned *call = lacks[_i].calls; call < lacks[_i].calls + 3 && *call;
         call++)
        PX_TEST_NEEDS(px_test_deny(*call, lacks[_i].errnum), "seccomp");
    file_in(1, 0, "a");
    ok(sweep_scope(1));
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_uint_eq(totals.failed, 0);
}

static int sweep_without_memory(void)
{
    deny(SYS_mmap, ENOMEM);
    return sweep_scope(1);
}

PX_TEST(without_memory_it_is_an_errno)
{
    file_in(1, 0, "a");
    ck_assert_int_eq(px_test_in_child(sweep_without_memory), ENOMEM);
    ck_assert(px_tree_has("a"));
}

PX_TEST_MAIN("reclaim/reclaim", setup, teardown)
