/* SPDX-License-Identifier: BSD-3-Clause */
/* Finishing the work of a dead server while the system says no: nothing is done by
 * halves that the next one could not do, and what is unclear is left alone. */
#include "core/base/attr.h"
#include "seccomp.h"
#include "server_fixture.h"

#include <linux/capability.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static void deny(long number, int errnum)
{
    ck_assert(px_test_deny(number, errnum));
}

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
    make_file(in("pmix-server.abcdef/socket"));
    ck_assert_int_eq(px_test_in_child(read_nothing), EIO);
    ck_assert(is_there(in("contact")) && is_there(in("a")));
    ck_assert(is_there(in("pmix-server.abcdef/socket")));
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(dir) && !is_there(in("contact")) && !is_there(in("a")));
}

static void make_too_large(const char *name)
{
    make_server(name);
    ck_assert_int_eq(ftruncate(journal, (off_t)PX_JOURNAL_MAX_B + 1), 0);
    close(journal);
}

/* Its size is a hole. */
PX_TEST(a_journal_that_is_too_large_keeps_nobody_from_the_others)
{
    close(journal);
    make_too_large("pmix-server.large1");
    make_too_large("pmix-server.large2");
    make_server("pmix-server.zzzzzz");
    file_in(1, 0, "a");
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, top, &totals), EFBIG);
    ck_assert(is_there(in("pmix-server.large1")) && is_there(in("pmix-server.large2")));
    ck_assert(!is_there(in("pmix-server.abcdef")) && !is_there(dir));
    ck_assert(!is_there(in("a")));
}

PX_TEST(a_socket_is_no_journal)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *path = in("pmix-server.abcdef/journal");

    ck_assert_int_eq(unlink(path), 0);
    PX_TEST_NEEDS(strlen(path) < sizeof(a.sun_path), "a short TMPDIR");
    strcpy(a.sun_path, path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(remains(true), EPERM);
    ck_assert(is_there(path));
    close(fd);
}

/* ---- a journal that cannot be written ------------------------------------------- */

static int write_few_bytes(void)
{
    struct stat st;

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(fstat(journal, &st), 0);
    struct rlimit few = {(rlim_t)st.st_size + 8, (rlim_t)st.st_size + 8};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
    return remains(false);
}

PX_TEST(a_note_that_has_no_room_is_cut_off_again)
{
    struct stat before, after;
    pid_t pid = start_process();

    file_in(1, 0, "a");
    file_in(2, 0, "b");
    append_proc(2, 1, pid, px_journal_start_time(pid), 0);
    ck_assert_int_eq(fstat(journal, &before), 0);
    ck_assert_int_eq(px_test_in_child(write_few_bytes), EBUSY);
    ck_assert(!is_there(in("a")) && is_there(in("b")));
    ck_assert_int_eq(fstat(journal, &after), 0);
    ck_assert_int_eq(after.st_size, before.st_size);
    ck_assert_int_eq(end(pid), 0);
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(in("b")) && !is_there(dir));
}

/* ---- processes that cannot be made ---------------------------------------------- */

static int make_no_process(void)
{
    deny(SYS_clone3, ENOSYS);
    deny(SYS_clone, EAGAIN);
    return remains(false);
}

PX_TEST_LOOP(what_nobody_can_be_made_for_is_left_to_the_next, 2)
{
    file_in(1, 0, "a");
    file_in(2, 0, "b");
    if (_i)
        file_in(0, 0, "contact");
    ck_assert_int_eq(px_test_in_child(make_no_process), EAGAIN);
    ck_assert(is_there(in("a")) && is_there(in("b")) && is_there(in("contact")) == _i);
    ck_assert(is_there(in("pmix-server.abcdef/journal")));
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(in("a")) && !is_there(in("b")) && !is_there(dir));
}

PX_TEST(without_a_limit_of_time_all_is_removed_too)
{
    const struct px_reclaim s = {.journal = -1, .node = "node"};

    file_in(0, 0, "contact");
    file_in(1, 0, "a");
    ck_assert_int_eq(px_reclaim_server_dir(&s, dir, -1, true, &totals), 0);
    ck_assert(!is_there(in("contact")) && !is_there(in("a")) && !is_there(dir));
    ck_assert_uint_eq(totals.failed, 0);
}

static int sweep_without_landlock(void)
{
    const struct px_reclaim s = {
        .journal = journal, .node = "node", .timeout_ms = 20000};

    deny(SYS_landlock_create_ruleset, ENOSYS);
    return px_reclaim_scope(&s, 1, &totals);
}

PX_TEST(without_landlock_all_is_removed_too)
{
    file_in(1, 0, "a");
    ck_assert_int_eq(px_test_in_child(sweep_without_landlock), 0);
    ck_assert(!is_there(in("a")));
}

/* ---- where others may have the file system, too --------------------------------- */

static int know_no_file_system(void)
{
    deny(SYS_fstatfs, EIO);
    return remains(false);
}

static void begin_again(int64_t pid, uint64_t start, const char *whereabouts)
{
    ck_assert_int_eq(ftruncate(journal, 0), 0);
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_HEAD,
                                                .x = (uint64_t)pid,
                                                .y = start,
                                                .path = whereabouts});
}

/* There a lock may be one of this node only. */
PX_TEST(a_lock_says_nothing_of_a_server_elsewhere)
{
    begin_again(1, 1, "boot.1 another");
    file_in(0, 0, "contact");
    ck_assert_int_eq(px_test_in_child(know_no_file_system), EBUSY);
    ck_assert(is_there(in("contact")) && is_there(dir));
}

PX_TEST(there_a_server_of_this_node_is_known_by_its_process)
{
    char here[320];
    pid_t pid = start_process();

    px_journal_whereabouts("node", here);
    begin_again(pid, px_journal_start_time(pid), here);
    file_in(0, 0, "contact");
    ck_assert_int_eq(px_test_in_child(know_no_file_system), EBUSY);
    ck_assert(is_there(in("contact")) && is_there(dir));
    ck_assert_int_eq(end(pid), 0);
}

static int reclaim_without_proc(void)
{
    if (unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        umount2("/proc", MNT_DETACH) < 0)
        return ENOSYS;
    ck_assert_int_eq(chdir(top), 0);
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, ".", &totals), EINVAL);
    return px_reclaim_tmpdir(&sweep, top, &totals);
}

/* Nobody knows whether its processes live, then: only what the server has made is
 * removed. */
PX_TEST(without_proc_the_servers_own_goes_and_scopes_stay)
{
    PX_TEST_NEEDS(px_test_may(CAP_SYS_ADMIN), "CAP_SYS_ADMIN");
    PX_TEST_NEEDS_PROC; /* to take it away */
    file_in(0, 0, "contact");
    file_in(1, 0, "a");
    ck_assert_int_eq(px_test_in_child(reclaim_without_proc), 0);
    ck_assert(!is_there(in("contact")) && !is_there(dir) && is_there(in("a")));
}

/* ---- the server's own ----------------------------------------------------------- */

PX_TEST(what_only_begins_like_the_folder_is_not_in_it)
{
    file_in(0, 0, "pmix-server.abcdefg");
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(in("pmix-server.abcdefg")) && !is_there(dir));
}

PX_TEST(the_servers_own_may_be_kept_too)
{
    make_dir(in("session"));
    make_file(in("session/kept"));
    append_item(journal, 0, 0, PX_RM_KEEP, 0, in("session/kept"));
    append_item(journal, 0, 1, PX_RM_DIR, PX_RM_RECURSE, in("session"));
    ck_assert_int_eq(remains(false), 0);
    ck_assert(is_there(in("session/kept")) && !is_there(dir));
}

/* Somebody has written that into the journal. */
PX_TEST(neither_a_process_nor_another_users_folder_is_an_ancestor)
{
    strcpy(dir, in("session/pmix-server.abcdef"));
    make_dir(in("session"));
    ck_assert_int_eq(rename(in("pmix-server.abcdef"), dir), 0);
    append_proc(0, 0, 1, 1, 0);
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                                .kind = PX_RM_DIR,
                                                .slot = 1,
                                                .uid = STRANGER,
                                                .gid = STRANGER,
                                                .path = in("session")});
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(dir) && is_there(in("session")));
}

PX_TEST(each_group_of_a_user_is_one_to_become)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(chmod(top, 0777), 0);
    make_file(in("a"));
    make_file(in("b"));
    give(in("a"), STRANGER, STRANGER);
    give(in("b"), STRANGER, OTHER_STRANGER);
    append_item_of(journal, 1, 0, in("a"), STRANGER, STRANGER);
    append_item_of(journal, 1, 1, in("b"), STRANGER, OTHER_STRANGER);
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(in("a")) && !is_there(in("b")));
    ck_assert_uint_eq(totals.files, 3); /* and the journal */
    ck_assert_uint_eq(totals.foreign, 0);
}

static void tell_path(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    char text[PATH_MAX + 32];
    int n = snprintf(text, sizeof(text), "%d %s %d\n", why, path, errnum);

    if (write(*(const int *)arg, text, (size_t)n) != n)
        _exit(1);
}

PX_TEST(what_stays_is_told_but_not_that_the_journal_does)
{
    int ends[2];
    char told[2 * PATH_MAX] = "", expected[PATH_MAX + 32];

    PX_TEST_NEEDS(geteuid() == 0, "root");
    make_file(in("pmix-server.abcdef/strange"));
    make_file(in("pmix-server.abcdef/own"));
    give(in("pmix-server.abcdef/strange"), STRANGER, 0);
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    const struct px_reclaim s = {.journal = -1,
                                 .node = "node",
                                 .told = tell_path,
                                 .arg = &ends[1],
                                 .keep = &ends[1],
                                 .n_keep = 1};
    ck_assert_int_eq(px_reclaim_server_dir(&s, dir, -1, true, &totals), 0);
    ck_assert_int_gt(read(ends[0], told, sizeof(told) - 1), 0);
    snprintf(expected, sizeof(expected), "%d %s/strange 0\n", PX_RM_FOREIGN, dir);
    ck_assert_ptr_eq(strstr(told, expected), told);
    ck_assert_ptr_null(strstr(told, PX_JOURNAL_NAME "\n"));
    ck_assert_ptr_null(strstr(told, "/" PX_JOURNAL_NAME " "));
    ck_assert(!is_there(in("pmix-server.abcdef/own")));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    return px_test_run("reclaim/reclaim_faults", setup, teardown);
}
