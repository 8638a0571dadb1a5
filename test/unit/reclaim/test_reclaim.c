/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeping a scope: what the journal says in the end is removed, as those it belongs
 * to, in time; and journals that no server has written harm nobody. */
#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/reclaim/reclaim.h"
#include "reclaim_fixture.h"
#include "seccomp.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int journal = -1;
static struct px_pcleanup_totals totals;

static void setup(void)
{
    make_top();
    journal = open(in("journal"), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
    ck_assert_int_ge(journal, 0);
    append(journal, &(struct px_journal_record){
                        .type = PX_JOURNAL_HEAD, .x = 1, .path = "here node"});
    totals = (struct px_pcleanup_totals){0};
}

static void teardown(void)
{
    close(journal);
    remove_top();
}

static int sweep(uint64_t scope)
{
    const struct px_reclaim s = {
        .journal = journal, .node = "node", .timeout_ms = 20000};

    return px_reclaim_scope(&s, scope, &totals);
}

static void end_slot(uint64_t scope, uint32_t slot)
{
    append(journal, &(struct px_journal_record){
                        .type = PX_JOURNAL_NONE, .scope = scope, .slot = slot});
}

static void end_scope(uint64_t scope)
{
    append(journal,
           &(struct px_journal_record){.type = PX_JOURNAL_DONE, .scope = scope});
}

/* "<top>/<name>" exists, and is in that slot. */
static void file_in(uint64_t scope, uint32_t slot, const char *name)
{
    if (!is_there(in("%s", name)))
        make_file(in("%s", name));
    append_item(journal, scope, slot, PX_RM_FILE, 0, in("%s", name));
}

PX_TEST(a_scope_is_removed_and_no_other)
{
    file_in(1, 0, "a");
    file_in(2, 0, "b");
    make_dir(in("tree"));
    make_dir(in("tree/sub"));
    make_file(in("tree/sub/file"));
    append_item(journal, 1, 1, PX_RM_DIR, PX_RM_RECURSE, in("tree"));
    ck_assert_int_eq(sweep(1), 0);
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
    file_in(1, 5, "filled");
    ck_assert_int_eq(sweep(1), 0);
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
    ck_assert_int_eq(sweep(1), 0);
    ck_assert(is_there(in("a")) && is_there(in("b")) && is_there(in("c")));
    ck_assert(!is_there(in("d")));
}

PX_TEST(what_is_to_be_kept_is_kept_whoever_asked)
{
    make_dir(in("tree"));
    file_in(1, 0, "tree/a");
    end_slot(1, 0);
    make_file(in("tree/b"));
    append_item(journal, 1, 1, PX_RM_DIR, PX_RM_RECURSE, in("tree"));
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                                .kind = PX_RM_KEEP,
                                                .slot = 2,
                                                .scope = 1,
                                                .uid = geteuid() + 1,
                                                .gid = getegid() + 1,
                                                .path = in("tree/a")});
    ck_assert_int_eq(sweep(1), 0);
    ck_assert(is_there(in("tree/a")) && !is_there(in("tree/b")));
    ck_assert_uint_eq(totals.kept, 1);
}

static void keep(uint64_t scope, uint32_t slot, uid_t uid, const char *name)
{
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                                .kind = PX_RM_KEEP,
                                                .slot = slot,
                                                .scope = scope,
                                                .uid = uid,
                                                .gid = getegid(),
                                                .path = in("%s", name)});
}

PX_TEST(what_the_same_user_wants_kept_in_another_scope_is_kept)
{
    static const char *const names[] = {"tree/job", "tree/done", "tree/void",
                                        "tree/other"};

    make_dir(in("tree"));
    for (size_t i = 0; i < PX_COUNT(names); i++)
        make_file(in("%s", names[i]));
    append_item(journal, 2, 0, PX_RM_DIR, PX_RM_RECURSE, in("tree"));
    keep(3, 0, geteuid(), "tree/job");
    keep(1, 0, geteuid(), "tree/done");
    end_scope(1);
    keep(4, 0, geteuid(), "tree/void");
    end_slot(4, 0);
    keep(5, 0, geteuid() + 1, "tree/other");
    file_in(3, 1, "file"); /* is not of this scope */
    ok(sweep(2));
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
        append_item(journal, 1 + slot % 3, slot, PX_RM_FILE, 0, in("%s", name));
        make_file(in("%s", name));
    }
    for (uint64_t scope = 1; scope <= 3; scope++)
        ck_assert_int_eq(sweep(scope), 0);
    ck_assert_uint_eq(totals.files, N);
    ck_assert_int_eq(rmdir(in("d")), 0);
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
    append(journal, &r);
    r.slot = 1;
    r.path = in("other");
    append(journal, &r);
    ck_assert_int_eq(sweep(1), 0);
    ck_assert(!is_there(in("same")) && is_there(in("other")));
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_uint_eq(totals.failed, 1);
}

PX_TEST(nothing_stays_open_mapped_or_unwaited)
{
    size_t open_before = open_descriptors();

    file_in(1, 0, "a");
    ck_assert_int_eq(sweep(1), 0);
    ck_assert_int_eq(sweep(1), 0);
    ck_assert_uint_eq(open_descriptors(), open_before);
    ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
}

/* ---- users ---------------------------------------------------------------------- */

PX_TEST(root_removes_as_the_user_what_the_user_can)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    make_dir(in("his"));
    make_file(in("his/file"));
    give(in("his"), STRANGER, STRANGER);
    give(in("his/file"), STRANGER, STRANGER);
    make_dir(in("roots")); /* 0755: he has a file there, and cannot remove it */
    make_file(in("roots/file"));
    give(in("roots/file"), STRANGER, STRANGER);
    append_item_of(journal, 1, 0, in("his/file"), STRANGER, STRANGER);
    append_item_of(journal, 1, 1, in("roots/file"), STRANGER, STRANGER);
    ck_assert_int_eq(sweep(1), 0);
    ck_assert(!is_there(in("his/file")) && is_there(in("roots/file")));
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_uint_eq(totals.failed, 1);
}

PX_TEST(root_removes_nothing_of_its_own_for_a_user)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    make_dir(in("his"));
    give(in("his"), STRANGER, STRANGER);
    make_file(in("his/roots"));
    make_file(in("roots"));
    append_item_of(journal, 1, 0, in("his/roots"), STRANGER, STRANGER);
    append_item_of(journal, 1, 1, in("roots"), STRANGER, STRANGER);
    ck_assert_int_eq(sweep(1), 0);
    ck_assert(is_there(in("his/roots")) && is_there(in("roots")));
    ck_assert_uint_eq(totals.foreign, 2);
    ck_assert_uint_eq(totals.files, 0);
}

PX_TEST(each_of_several_users_is_swept)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    for (uid_t i = 0; i < 3; i++) {
        make_dir(in("%u", i));
        make_file(in("%u/file", i));
        give(in("%u", i), STRANGER + i, STRANGER);
        give(in("%u/file", i), STRANGER + i, STRANGER);
        append_item_of(journal, 1, i, in("%u/file", i), STRANGER + i, STRANGER);
    }
    ck_assert_int_eq(sweep(1), 0);
    ck_assert_uint_eq(totals.files, 3);
}

struct told {
    size_t n;
    enum px_rm_why why;
    int errnum;
};

static void on_told(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    struct told *told = arg;

    (void)path;
    *told = (struct told){.n = told->n + 1, .why = why, .errnum = errnum};
}

PX_TEST(who_is_not_root_refuses_what_is_not_his)
{
    struct told told = {0};
    const struct px_reclaim s = {.journal = journal, .told = on_told, .arg = &told};

    uid_t his = geteuid() == STRANGER ? OTHER_STRANGER + 1 : STRANGER;

    file_in(1, 0, "mine");
    append_item_of(journal, 1, 1, in("his"), his, his);
    append_item_of(journal, 1, 2, in("roots"), 0, 0);
    if (geteuid() == 0) {
        give(top, OTHER_STRANGER, OTHER_STRANGER);
        ck_assert_int_eq(setresgid(OTHER_STRANGER, OTHER_STRANGER, OTHER_STRANGER), 0);
        ck_assert_int_eq(setresuid(OTHER_STRANGER, OTHER_STRANGER, OTHER_STRANGER), 0);
    }
    ck_assert_int_eq(px_reclaim_scope(&s, 1, &totals), 0);
    ck_assert_uint_ge(totals.failed, 2);
    ck_assert_uint_ge(told.n, 2);
    ck_assert_int_eq(told.why, PX_RM_REFUSED);
    ck_assert_int_eq(told.errnum, EPERM);
}

PX_TEST(a_user_removes_his_own_without_root)
{
    if (geteuid() == 0) {
        give(top, STRANGER, STRANGER);
        ck_assert_int_eq(setresgid(STRANGER, STRANGER, STRANGER), 0);
        ck_assert_int_eq(setresuid(STRANGER, STRANGER, STRANGER), 0);
    }
    file_in(1, 0, "mine");
    ck_assert_int_eq(sweep(1), 0);
    ck_assert_uint_eq(totals.files, 1);
}

PX_TEST(without_the_right_to_become_him_nothing_is_removed)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    make_file(in("a"));
    give(in("a"), STRANGER, STRANGER);
    append_item_of(journal, 1, 0, in("a"), STRANGER, STRANGER);
    PX_TEST_NEEDS(px_test_deny(SYS_setresuid, EPERM), "seccomp");
    ck_assert_int_eq(sweep(1), 0);
    ck_assert(is_there(in("a")));
    ck_assert_uint_eq(totals.failed, 1);
    ck_assert_uint_eq(totals.files, 0);
    ck_assert_int_eq(unlink(in("a")), 0);
}

/* ---- time ----------------------------------------------------------------------- */

/* Stops the process that walks: as its user could. */
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
        .journal = journal, .told = stop_walking, .timeout_ms = 200};
    static const unsigned denied[] = {SYS_getcpu, SYS_pidfd_open};

    PX_TEST_NEEDS(px_test_deny(denied[_i], ENOSYS), "seccomp");
    make_dir(in("tree"));
    make_file(in("tree/kept"));
    append_item(journal, 1, 0, PX_RM_DIR, PX_RM_RECURSE, in("tree"));
    append_item(journal, 1, 1, PX_RM_KEEP, 0, in("tree/kept"));
    uint64_t began = px_clock_ms();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) { /* what cannot be removed is told here, too */
        int errnum = px_reclaim_scope(&s, 1, &totals);
        _exit(errnum);
    }
    int status;
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status))
        kill(child, SIGCONT);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_ge(px_clock_ms() - began, 200);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
    close(journal);
    journal = -1;
    ck_assert_int_eq(unlink(in("tree/kept")), 0);
    ck_assert_int_eq(rmdir(in("tree")), 0);
    ck_assert_int_eq(unlink(in("journal")), 0);
}

/* Goes on only where removal is not confined to the items' folders. */
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
        .journal = journal, .told = wait_for_freedom, .timeout_ms = 20000};

    PX_TEST_NEEDS(syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0, "Landlock");
    make_file(in("outside"));
    make_dir(in("a"));
    make_dir(in("a/tree"));
    make_file(in("a/tree/kept"));
    append_item(journal, 1, 0, PX_RM_DIR, PX_RM_RECURSE, in("a/tree"));
    append_item(journal, 1, 1, PX_RM_KEEP, 0, in("a/tree/kept"));
    ck_assert_int_eq(px_reclaim_scope(&s, 1, &totals), 0);
    ck_assert(!is_there(in("outside")));
    ck_assert_uint_eq(totals.kept, 1);
    ck_assert_uint_eq(totals.failed, 0);
}

/* ---- journals of nobody --------------------------------------------------------- */

PX_TEST(a_journal_that_ends_in_mid_record_counts_up_to_there)
{
    struct stat st;

    file_in(1, 0, "a");
    file_in(1, 1, "b");
    ck_assert_int_eq(fstat(journal, &st), 0);
    ck_assert_int_eq(ftruncate(journal, st.st_size - 1), 0);
    ck_assert_int_eq(sweep(1), 0);
    ck_assert(!is_there(in("a")) && is_there(in("b")));
}

PX_TEST(an_empty_journal_says_nothing)
{
    ck_assert_int_eq(ftruncate(journal, 0), 0);
    ck_assert_int_eq(sweep(1), 0);
    ck_assert_uint_eq(totals.files + totals.failed, 0);
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
        ck_assert_int_eq(sweep(1), EFBIG);
    ck_assert_int_eq(ftruncate(journal, 0), 0);
}

PX_TEST(a_journal_that_changes_while_it_is_read_harms_nobody)
{
    int status;

    for (uint32_t i = 0; i < 200; i++)
        append_item(journal, 1, i, PX_RM_FILE, 0, in("never-%u", i));
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

        ck_assert_int_eq(px_journal_view_load(s.journal, NULL, &view), 0);
        px_journal_view_unload(&view);
    }
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

/* ---- older kernels, stricter sandboxes ------------------------------------------ */

PX_TEST_LOOP(a_scope_is_removed_without_what_is_new, 2)
{
    static const unsigned calls[] = {SYS_clone3, SYS_close_range, SYS_pidfd_open,
                                     SYS_landlock_create_ruleset};

    for (size_t i = 0; i < PX_COUNT(calls); i++)
        PX_TEST_NEEDS(px_test_deny(calls[i], _i ? EPERM : ENOSYS), "seccomp");
    file_in(1, 0, "a");
    ck_assert_int_eq(sweep(1), 0);
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_int_eq(unlink(in("journal")), 0);
}

PX_TEST(what_cannot_be_confined_to_its_folders_is_removed_all_the_same)
{
    PX_TEST_NEEDS(px_test_deny(SYS_landlock_add_rule, ENOMEM), "seccomp");
    file_in(1, 0, "a");
    ck_assert_int_eq(sweep(1), 0);
    ck_assert_uint_eq(totals.files, 1);
    ck_assert_uint_eq(totals.failed, 0);
}

PX_TEST(without_processes_it_is_an_errno)
{
    PX_TEST_NEEDS(px_test_deny(SYS_clone3, EAGAIN), "seccomp");
    file_in(1, 0, "a");
    ck_assert_int_eq(sweep(1), EAGAIN);
    ck_assert(is_there(in("a")));
    ck_assert_int_eq(unlink(in("a")), 0);
    ck_assert_int_eq(unlink(in("journal")), 0);
}

PX_TEST(without_memory_it_is_an_errno)
{
    file_in(1, 0, "a");
    PX_TEST_NEEDS(px_test_deny(SYS_mmap, ENOMEM), "seccomp");
    ck_assert_int_eq(sweep(1), ENOMEM);
    _exit(unlink(in("a")) || unlink(in("journal")) || rmdir(top));
}

int main(void)
{
    return px_test_run("reclaim/reclaim", setup, teardown);
}
