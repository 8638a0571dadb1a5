/* SPDX-License-Identifier: BSD-3-Clause */
/* Cleanup after a dead server while system calls fail: unfinished work is left for the
 * next run, and unclear items are not touched. */
#include "reclaim_fixture.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

/* ---- a journal that cannot be read ---------------------------------------------- */

static int read_nothing(void)
{
    deny(SYS_pread64, EIO);
    return remains(false);
}

PX_TEST(a_journal_that_cannot_be_read_changes_nothing)
{
    file_in(0, 0, "contact");
    file_in(1, 0, "a");
    px_tree_make(SERVER "/socket");
    ck_assert_int_eq(px_test_in_child(read_nothing), EIO);
    ck_assert(px_tree_has("contact") && px_tree_has("a"));
    ck_assert(px_tree_has(SERVER "/socket"));
    ok(remains(false));
    ck_assert(!is_there(dir) && !px_tree_has("contact") && !px_tree_has("a"));
}

static void make_too_large(const char *name)
{
    make_server(name);
    ok(ftruncate(journal, (off_t)PX_JOURNAL_MAX_B + 1));
    close(journal);
}

/* The large journals are sparse files. */
PX_TEST(a_journal_that_is_too_large_does_not_keep_the_others)
{
    close(journal);
    make_too_large("pmix-server.large1");
    make_too_large("pmix-server.large2");
    make_server("pmix-server.zzzzzz");
    file_in(1, 0, "a");
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, px_tree_root(), &totals), EFBIG);
    ck_assert(px_tree_has("pmix-server.large1") && px_tree_has("pmix-server.large2"));
    ck_assert(!px_tree_has(SERVER) && !is_there(dir));
    ck_assert(!px_tree_has("a"));
}

PX_TEST(a_socket_is_no_journal)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *path = px_tree_path(SERVER "/journal");

    ok(unlink(path));
    PX_TEST_NEEDS(strlen(path) < sizeof(a.sun_path), "a short TMPDIR");
    strcpy(a.sun_path, path);
    ok(bind(fd, (struct sockaddr *)&a, sizeof(a)));
    ok(chmod(path, 0600));
    ck_assert_int_eq(remains(true), EPERM);
    ck_assert(is_there(path));
    close(fd);
}

/* ---- a journal that cannot be written ------------------------------------------- */

static int write_few_bytes(void)
{
    struct stat st;

    signal(SIGXFSZ, SIG_IGN);
    ok(fstat(journal, &st));
    struct rlimit few = {(rlim_t)st.st_size + 8, (rlim_t)st.st_size + 8};
    ok(setrlimit(RLIMIT_FSIZE, &few));
    return remains(false);
}

PX_TEST(a_note_that_has_no_room_is_cut_off_again)
{
    struct stat before, after;
    pid_t pid = start_process();

    file_in(1, 0, "a");
    file_in(2, 0, "b");
    append_proc(2, 1, pid, px_journal_start_time(pid), 0);
    ok(fstat(journal, &before));
    ck_assert_int_eq(px_test_in_child(write_few_bytes), EBUSY);
    ck_assert(!px_tree_has("a") && px_tree_has("b"));
    ok(fstat(journal, &after));
    ck_assert_int_eq(after.st_size, before.st_size);
    ok(end(pid));
    ok(remains(false));
    ck_assert(!px_tree_has("b") && !is_there(dir));
}

/* ---- processes that cannot be made ---------------------------------------------- */

static int make_no_process(void)
{
    deny(SYS_clone, EAGAIN);
    return remains(false);
}

PX_TEST_LOOP(what_no_process_can_be_made_for_is_left_to_the_next, 2)
{
    file_in(1, 0, "a");
    file_in(2, 0, "b");
    if (_i)
        file_in(0, 0, "contact");
    ck_assert_int_eq(px_test_in_child(make_no_process), EAGAIN);
    ck_assert(px_tree_has("a") && px_tree_has("b") && px_tree_has("contact") == _i);
    ck_assert(px_tree_has(SERVER "/journal"));
    ok(remains(false));
    ck_assert(!px_tree_has("a") && !px_tree_has("b") && !is_there(dir));
}

/* ---- file systems shared with other nodes --------------------------------------- */

static int know_no_file_system(void)
{
    deny(SYS_fstatfs, EIO);
    return remains(false);
}

/* A lock there may be visible on this node only. */
PX_TEST(a_lock_proves_nothing_about_a_server_elsewhere)
{
    begin_journal(1, 1, 0, "boot.1 another");
    file_in(0, 0, "contact");
    ck_assert_int_eq(px_test_in_child(know_no_file_system), EBUSY);
    ck_assert(px_tree_has("contact") && is_there(dir));
}

PX_TEST(there_a_server_of_this_node_is_known_by_its_process)
{
    pid_t pid = start_process();

    begin_journal(pid, px_journal_start_time(pid), 0, NULL);
    file_in(0, 0, "contact");
    ck_assert_int_eq(px_test_in_child(know_no_file_system), EBUSY);
    ck_assert(px_tree_has("contact") && is_there(dir));
    ok(end(pid));
}

static int reclaim_without_proc(void)
{
    if (unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        umount2("/proc", MNT_DETACH) < 0)
        return ENOSYS;
    ok(chdir(px_tree_root()));
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, ".", &totals), EINVAL);
    return px_reclaim_tmpdir(&sweep, px_tree_root(), &totals);
}

/* Without /proc the state of the server's processes is unknown, so only the server's
 * own files are removed. */
PX_TEST(without_proc_the_servers_own_goes_and_scopes_stay)
{
    PX_TEST_NEEDS(px_test_may(CAP_SYS_ADMIN), "CAP_SYS_ADMIN");
    PX_TEST_NEEDS_PROC; /* needed to hide /proc */
    file_in(0, 0, "contact");
    file_in(1, 0, "a");
    const int rc = px_test_in_child(reclaim_without_proc);
    PX_TEST_NEEDS(rc != ENOSYS,
                  "a root that is a mount"); /* a chroot has no such root */
    ok(rc);
    ck_assert(!px_tree_has("contact") && !is_there(dir) && px_tree_has("a"));
}

/* ---- the server's own files ----------------------------------------------------- */

PX_TEST(what_only_begins_like_the_folder_is_not_in_it)
{
    file_in(0, 0, "pmix-server.abcdefg");
    ok(remains(false));
    ck_assert(!px_tree_has("pmix-server.abcdefg") && !is_there(dir));
}

PX_TEST(the_servers_own_may_be_kept_too)
{
    px_tree_make("session/ session/kept");
    append_item(0, 0, PX_RM_KEEP, 0, px_tree_path("session/kept"));
    append_tree(0, 1, px_tree_path("session"));
    ok(remains(false));
    ck_assert(px_tree_has("session/kept") && !is_there(dir));
}

/* A forged record. */
PX_TEST(neither_a_process_nor_another_users_folder_is_an_ancestor)
{
    strcpy(dir, px_tree_path("session/pmix-server.abcdef"));
    px_tree_make("session/");
    ok(rename(px_tree_path(SERVER), dir));
    append_proc(0, 0, 1, 1, 0);
    append_record(.type = PX_JOURNAL_ITEM, .kind = PX_RM_DIR, .slot = 1,
                  .uid = STRANGER, .gid = STRANGER, .path = px_tree_path("session"));
    ok(remains(false));
    ck_assert(!is_there(dir) && px_tree_has("session"));
}

static void report_path(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    (void)arg;
    dprintf(STDERR_FILENO, "%d %s %d\n", why, path, errnum);
}

static int sweep_and_report(void)
{
    const struct px_reclaim s = {.journal = -1, .node = "node", .notify = report_path};

    ck_assert_int_eq(
        dup2(open(px_tree_path("report"), O_CREAT | O_RDWR, 0600), STDERR_FILENO),
        STDERR_FILENO);
    return px_reclaim_server_dir(&s, dir, -1, true, &totals);
}

PX_TEST(what_stays_is_reported)
{
    char report[2 * PATH_MAX] = "", expected[PATH_MAX + 32];

    PX_TEST_NEEDS_ROOT;
    px_tree_make(SERVER "/strange");
    px_tree_make(SERVER "/own");
    px_tree_chown(SERVER "/strange", STRANGER, 0);
    ok(px_test_in_child(sweep_and_report));
    int fd = open(px_tree_path("report"), O_RDONLY | O_CLOEXEC);
    ck_assert_int_gt(read(fd, report, sizeof(report) - 1), 0);
    snprintf(expected, sizeof(expected), "%d %s/strange 0\n", PX_RM_FOREIGN, dir);
    ck_assert_ptr_nonnull(strstr(report, expected));
    ck_assert(!px_tree_has(SERVER "/own"));
    close(fd);
}

PX_TEST_MAIN("reclaim/reclaim_faults", setup, teardown)
