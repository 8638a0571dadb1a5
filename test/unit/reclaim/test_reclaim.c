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
                  .path = in("%s", name));
}

PX_TEST(a_scope_is_removed_and_no_other)
{
    file_in(1, 0, "a");
    file_in(2, 0, "b");
    make_dir(in("tree"));
    make_dir(in("tree/sub"));
    make_file(in("tree/sub/file"));
    append_tree(1, 1, in("tree"));
    ok(sweep_scope(1));
    ck_assert(!is_there(in("a")) && !is_there(in("tree")));
    ck_assert(is_there(in("b")));
    ck_assert_uint_eq(totals.files, 2);
    ck_assert_uint_eq(totals.dirs, 2);
    ck_assert_uint_eq(totals.failed + totals.foreign + totals.kept, 0);
}

PX_TEST(the_last_record_of_a_slot_counts)
{
    file_in(1, 3, "first");
    file_in(1, 3, "second");
    file_in(1, 4, "emptied");
    end_slot(1, 4);
    file_in(1, 5, "filled");
    end_slot(1, 5);
    append_item(1, 5, PX_RM_FILE, 0, in("filled"));
    ok(sweep_scope(1));
    ck_assert(is_there(in("first")) && is_there(in("emptied")));
    ck_assert(!is_there(in("second")) && !is_there(in("filled")));
}

PX_TEST(what_is_done_is_void_and_what_comes_after_is_not)
{
    file_in(1, 0, "a");
    file_in(1, 7, "b");
    file_in(2, 0, "c");
    end_scope(1);
    file_in(1, 7, "d");
    ok(sweep_scope(1));
    ck_assert(is_there(in("a")) && is_there(in("b")) && is_there(in("c")));
    ck_assert(!is_there(in("d")));
}

PX_TEST(what_any_user_wants_kept_is_kept)
{
    make_dir(in("tree"));
    file_in(1, 0, "tree/a");
    end_slot(1, 0);
    make_file(in("tree/b"));
    append_tree(1, 1, in("tree"));
    keep(1, 2, geteuid() + 1, "tree/a");
    ok(sweep_scope(1));
    ck_assert(is_there(in("tree/a")) && !is_there(in("tree/b")));
    ck_assert_uint_eq(totals.kept, 1);
}

PX_TEST(what_the_same_user_wants_kept_in_another_scope_is_kept)
{
    static const char *const names[] = {"tree/job", "tree/done", "tree/void",
                                        "tree/other"};

    make_dir(in("tree"));
    for (size_t i = 0; i < PX_COUNT(names); i++)
        make_file(in("%s", names[i]));
    append_tree(2, 0, in("tree"));
    keep(3, 0, geteuid(), "tree/job");
    keep(1, 0, geteuid(), "tree/done");
    end_scope(1);
    keep(4, 0, geteuid(), "tree/void");
    end_slot(4, 0);
    keep(5, 0, geteuid() + 1, "tree/other");
    file_in(3, 1, "file"); /* not in this scope */
    ok(sweep_scope(2));
    ck_assert(is_there(in("tree/job")) && is_there(in("file")));
    ck_assert(!is_there(in("tree/done")) && !is_there(in("tree/void")));
    ck_assert(!is_there(in("tree/other")));
}

PX_TEST(many_slots_in_any_order_are_all_found)
{
    enum { N = 900 };

    make_dir(in("d"));
    for (uint32_t i = 0; i < N; i++) {
        uint32_t slot = (i * 7919u) % N;
        char name[32];

        snprintf(name, sizeof(name), "d/%u", slot);
        append_item(1 + slot % 3, slot, PX_RM_FILE, 0, in("%s", name));
        make_file(in("%s", name));
    }
    for (uint64_t scope = 1; scope <= 3; scope++)
        ok(sweep_scope(scope));
    ck_assert_uint_eq(totals.files, N);
    ok(rmdir(in("d")));
}

PX_TEST(identity_is_compared_where_it_is_given)
{
    struct stat st;

    make_file(in("same"));
    make_file(in("other"));
    ck_assert_int_eq(stat(in("same"), &st), 0);
    struct px_journal_record r = {.type = PX_JOURNAL_ITEM,
                                  .kind = PX_RM_FILE,
                                  .flags = PX_RM_SAME,
                                  .scope = 1,
                                  .uid = geteuid(),
                                  .gid = getegid(),
                                  .x = st.st_dev,
                                  .y = st.st_ino,
                                  .path = in("same")};
    append(&r);
    r.slot = 1;
    r.path = in("other");
    append(&r);
    ok(sweep_scope(1));
    ck_assert(!is_there(in("same")) && is_there(in("other")));
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_uint_eq(totals.failed, 1);
}

/* ---- users ---------------------------------------------------------------------- */

PX_TEST(root_removes_as_each_user_what_the_user_can)
{
    PX_TEST_NEEDS_ROOT;
    make_dir(in("roots")); /* mode 0755: other users cannot remove its entries */
    for (uid_t i = 0; i < 3; i++) {
        uid_t uid = STRANGER + i / 2;
        gid_t gid = STRANGER + i % 2;

        make_dir(in("%u", i));
        make_file(in("%u/file", i));
        make_file(in("%u/roots", i));
        make_file(in("roots/%u", i));
        give(in("%u", i), uid, gid);
        give(in("%u/file", i), uid, gid);
        give(in("roots/%u", i), uid, gid);
        append_file_of(1, 3 * i, in("%u/file", i), uid, gid);
        append_file_of(1, 3 * i + 1, in("%u/roots", i), uid, gid);
        append_file_of(1, 3 * i + 2, in("roots/%u", i), uid, gid);
    }
    ok(sweep_scope(1));
    for (uid_t i = 0; i < 3; i++)
        ck_assert(!is_there(in("%u/file", i)) && is_there(in("%u/roots", i)) &&
                  is_there(in("roots/%u", i)));
    ck_assert_uint_eq(totals.files, 3);
    ck_assert_uint_eq(totals.foreign, 3);
    ck_assert_uint_eq(totals.failed, 3);
}

struct report {
    size_t n;
    enum px_rm_why why;
    int errnum;
};

static void on_report(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    struct report *report = arg;

    (void)path;
    *report = (struct report){.n = report->n + 1, .why = why, .errnum = errnum};
}

static int sweep_without_root(void)
{
    struct report report = {0};
    const struct px_reclaim s = {
        .journal = journal, .notify = on_report, .arg = &report};

    if (geteuid() == 0) {
        give(top, OTHER_STRANGER, OTHER_STRANGER);
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
    append_file_of(1, 1, in("another"), STRANGER, STRANGER);
    append_file_of(1, 2, in("roots"), 0, 0);
    ok(px_test_in_child(sweep_without_root));
}

/* ---- time ----------------------------------------------------------------------- */

/* Stops the walking process, as its user could. */
static void stop_walking(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    (void)arg;
    (void)path;
    (void)why;
    (void)errnum;
    kill(getpid(), SIGSTOP);
}

PX_TEST_LOOP(a_walk_that_does_not_end_is_ended, 2)
{
    const struct px_reclaim s = {
        .journal = journal, .notify = stop_walking, .timeout_ms = 200};
    static const unsigned denied[] = {SYS_getcpu, SYS_pidfd_open};

    PX_TEST_NEEDS(px_test_deny(denied[_i], ENOSYS), "seccomp");
    make_dir(in("tree"));
    make_file(in("tree/kept"));
    append_tree(1, 0, in("tree"));
    append_item(1, 1, PX_RM_KEEP, 0, in("tree/kept"));
    uint64_t began = px_clock_ms();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) { /* the child reports from this process */
        int errnum = px_reclaim_scope(&s, 1, &totals);
        _exit(errnum);
    }
    int status;
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status))
        kill(child, SIGCONT);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_ge(px_clock_ms() - began, 200);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
}

/* Returns only if removal is not confined to the folders of the items. */
static void wait_for_freedom(void *arg, const char *path, enum px_rm_why why,
                             int errnum)
{
    (void)arg;
    (void)path;
    (void)why;
    (void)errnum;
    while (unlink(in("outside")) < 0 && errno == EACCES)
        pause();
}

PX_TEST(what_landlock_makes_too_slow_is_done_without)
{
    const struct px_reclaim s = {
        .journal = journal, .notify = wait_for_freedom, .timeout_ms = 20000};

    PX_TEST_NEEDS(syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0, "Landlock");
    make_file(in("outside"));
    make_dir(in("a"));
    make_dir(in("a/tree"));
    make_file(in("a/tree/kept"));
    append_tree(1, 0, in("a/tree"));
    append_item(1, 1, PX_RM_KEEP, 0, in("a/tree/kept"));
    ok(px_reclaim_scope(&s, 1, &totals));
    ck_assert(!is_there(in("outside")));
    ck_assert_uint_eq(totals.kept, 1);
    ck_assert_uint_eq(totals.failed, 0);
}

/* ---- forged journals ------------------------------------------------------------ */

PX_TEST(a_journal_that_ends_in_mid_record_counts_up_to_there)
{
    struct stat st;

    file_in(1, 0, "a");
    file_in(1, 1, "b");
    ck_assert_int_eq(fstat(journal, &st), 0);
    ck_assert_int_eq(ftruncate(journal, st.st_size - 1), 0);
    ok(sweep_scope(1));
    ck_assert(!is_there(in("a")) && is_there(in("b")));
}

PX_TEST(what_is_no_file_is_no_journal)
{
    const struct px_reclaim s = {.journal = open(top, O_RDONLY | O_CLOEXEC)};
    const struct px_reclaim closed = {.journal = -1};

    ck_assert_int_eq(px_reclaim_scope(&s, 1, &totals), EPERM);
    ck_assert_int_eq(px_reclaim_scope(&closed, 1, &totals), EBADF);
    close(s.journal);
}

PX_TEST(a_file_too_large_to_be_a_journal_is_not_read)
{
    if (ftruncate(journal, (off_t)PX_JOURNAL_MAX_B + 1) == 0)
        ck_assert_int_eq(sweep_scope(1), EFBIG);
    ck_assert_int_eq(ftruncate(journal, 0), 0);
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

/* 0, 1: without new calls; 2: Landlock accepts no rule; 3: without Landlock. */
PX_TEST_LOOP(a_scope_is_removed_without_what_is_new, 4)
{
    static const unsigned calls[] = {SYS_close_range, SYS_pidfd_open,
                                     SYS_landlock_create_ruleset};

    for (size_t i = 0; _i < 2 && i < PX_COUNT(calls); i++)
        PX_TEST_NEEDS(px_test_deny(calls[i], _i ? EPERM : ENOSYS), "seccomp");
    if (_i == 2)
        PX_TEST_NEEDS(px_test_deny(SYS_landlock_add_rule, ENOMEM), "seccomp");
    if (_i == 3)
        PX_TEST_NEEDS(px_test_deny(SYS_landlock_create_ruleset, ENOSYS), "seccomp");
    file_in(1, 0, "a");
    ok(sweep_scope(1));
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_uint_eq(totals.failed, 0);
}

static int sweep_without_processes(void)
{
    deny(SYS_clone, EAGAIN);
    return sweep_scope(1);
}

PX_TEST(without_processes_it_is_an_errno)
{
    file_in(1, 0, "a");
    ck_assert_int_eq(px_test_in_child(sweep_without_processes), EAGAIN);
    ck_assert(is_there(in("a")));
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
    ck_assert(is_there(in("a")));
}

PX_TEST_MAIN("reclaim/reclaim", setup, teardown)
