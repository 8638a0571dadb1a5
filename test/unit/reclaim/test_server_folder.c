/* SPDX-License-Identifier: BSD-3-Clause */
/* The folders of dead servers: found wherever they are, left alone while somebody holds
 * their lock; and what only looks like one stays as it is. */
#include "core/base/attr.h"
#include "seccomp.h"
#include "server_fixture.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/syscall.h>

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

/* ---- locks ---------------------------------------------------------------------- */

PX_TEST(a_folder_that_is_locked_is_left_alone)
{
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    file_in(0, 0, "a");
    make_file(in("pmix-server.abcdef/socket"));
    ck_assert_int_eq(remains(true), EBUSY);
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(is_there(in("a")) && is_there(in("pmix-server.abcdef/socket")));
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, dir, lock, true, &totals), 0);
    ck_assert(!is_there(dir) && !is_there(in("a")));
    close(lock);
}

PX_TEST(a_descriptor_without_the_lock_is_of_no_use)
{
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int other = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, dir, other, true, &totals), EBUSY);
    ck_assert(is_there(dir));
    close(other);
    other = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* 0755 */
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, dir, other, true, &totals), EPERM);
    ck_assert(is_there(dir));
    close(other);
    close(lock);
}

/* 0: another folder is in its place; 1: none; 2: its place leads elsewhere. */
PX_TEST_LOOP(a_folder_that_was_moved_is_found_by_its_descriptor, 3)
{
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    file_in(1, 0, "a");
    file_in(0, 0, "contact");
    ck_assert_int_eq(rename(dir, in("elsewhere")), 0);
    if (_i == 0) {
        ck_assert_int_eq(mkdir(dir, 0700), 0);
        make_file(in("pmix-server.abcdef/canary"));
    }
    if (_i == 2)
        ck_assert_int_eq(symlink("/etc", dir), 0);
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, dir, lock, true, &totals), 0);
    ck_assert(!is_there(in("a")) && !is_there(in("contact")));
    ck_assert(!is_there(in("elsewhere")));
    ck_assert_int_eq(is_there(in("pmix-server.abcdef/canary")), _i == 0);
    ck_assert_int_eq(is_there(dir), _i != 1);
    close(lock);
}

/* As those do who tidy up in /tmp. */
PX_TEST_LOOP(a_folder_that_was_removed_does_not_keep_the_rest, 2)
{
    const struct px_reclaim s = {
        .journal = journal, .node = "node", .timeout_ms = 20000};
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    file_in(1, 0, "a");
    file_in(0, 0, "contact");
    ck_assert_int_eq(unlink(in("pmix-server.abcdef/journal")), 0);
    if (_i)
        ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_eq(px_reclaim_server_dir(&s, dir, lock, true, &totals), 0);
    ck_assert(!is_there(in("a")) && !is_there(in("contact")) && !is_there(dir));
    close(lock);
}

static pid_t start_server(uint16_t flags)
{
    char here[320];
    pid_t pid = start_process();

    px_journal_whereabouts("node", here);
    ck_assert_int_eq(ftruncate(journal, 0), 0);
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_HEAD,
                                                .flags = flags,
                                                .x = (uint64_t)pid,
                                                .y = px_journal_start_time(pid),
                                                .path = here});
    return pid;
}

static void its_process_tells(pid_t pid)
{
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(is_there(dir));
    ck_assert_int_eq(end(pid), 0);
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(dir));
}

PX_TEST(without_locks_the_servers_process_tells)
{
    pid_t pid = start_server(0);

    PX_TEST_NEEDS(px_test_deny(SYS_flock, ENOLCK), "seccomp");
    its_process_tells(pid);
}

PX_TEST(of_a_server_that_got_no_lock_its_process_tells)
{
    its_process_tells(start_server(PX_JOURNAL_UNLOCKED));
}

PX_TEST(whoever_has_the_descriptor_of_such_a_server_knows_that_it_is_over)
{
    pid_t pid = start_server(PX_JOURNAL_UNLOCKED);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, dir, fd, true, &totals), 0);
    ck_assert(!is_there(dir));
    ck_assert_int_eq(end(pid), 0);
    close(fd);
}

PX_TEST(without_locks_nothing_is_known_of_another_node)
{
    PX_TEST_NEEDS(px_test_deny(SYS_flock, EBADF), "seccomp");
    ck_assert_int_eq(ftruncate(journal, 0), 0);
    append(journal, &(struct px_journal_record){
                        .type = PX_JOURNAL_HEAD, .x = 1, .y = 1, .path = "x node"});
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert_int_eq(ftruncate(journal, 0), 0);
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(is_there(dir));
}

/* ---- what only looks like it ---------------------------------------------------- */

static void spared(int errnum)
{
    ck_assert_int_eq(remains(true), errnum);
    ck_assert(is_there(dir));
    ck_assert_uint_eq(totals.files + totals.dirs, 0);
}

PX_TEST_LOOP(a_folder_that_others_may_enter_is_not_ours, 6)
{
    static const mode_t modes[] = {0755, 0701, 0710, 0500, 0777, 01777};

    ck_assert_int_eq(chmod(dir, modes[_i]), 0);
    spared(EPERM);
    ck_assert_int_eq(chmod(dir, 0700), 0);
}

PX_TEST(a_folder_of_another_user_is_not_ours)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    give(dir, STRANGER, 0);
    spared(EPERM);
}

PX_TEST(a_folder_of_another_name_is_not_ours)
{
    ck_assert_int_eq(rename(dir, in("pmix-serves.abcdef")), 0);
    strcpy(dir, in("pmix-serves.abcdef"));
    spared(EPERM);
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, "/", -1, true, &totals), EPERM);
    ck_assert_int_eq(
        px_reclaim_server_dir(&sweep, "pmix-server.abcdef", -1, true, &totals), EPERM);
}

PX_TEST(what_is_no_folder_is_not_ours)
{
    make_file(in("pmix-server.file"));
    strcpy(dir, in("pmix-server.file"));
    spared(EPERM);
    ck_assert_int_eq(symlink("pmix-server.abcdef", in("pmix-server.link")), 0);
    strcpy(dir, in("pmix-server.link"));
    spared(EPERM);
    ck_assert_int_eq(symlink(top, in("link")), 0);
    strcpy(dir, in("link/pmix-server.abcdef"));
    spared(EPERM);
    ck_assert(is_there(in("pmix-server.abcdef/journal")));
}

PX_TEST_LOOP(a_journal_that_is_no_plain_file_of_ours_is_none, 6)
{
    const char *path = in("pmix-server.abcdef/journal");

    ck_assert_int_eq(rename(path, in("moved")), 0);
    switch (_i) {
    case 0:
        ck_assert_int_eq(symlink(in("moved"), path), 0);
        break;
    case 1:
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        break;
    case 2:
        ck_assert_int_eq(link(in("moved"), path), 0);
        break;
    case 3:
        make_dir(path);
        break;
    case 4:
        ck_assert_int_eq(rename(in("moved"), path), 0);
        ck_assert_int_eq(chmod(path, 0644), 0);
        break;
    default:
        PX_TEST_NEEDS(geteuid() == 0, "root");
        ck_assert_int_eq(rename(in("moved"), path), 0);
        give(path, STRANGER, 0);
    }
    spared(EPERM);
}

PX_TEST_LOOP(a_journal_that_says_what_it_may_not_counts_up_to_there, 6)
{
    static const struct px_journal_record wrong[] = {
        {.type = PX_JOURNAL_ITEM,
         .kind = PX_RM_FILE,
         .scope = 1,
         .path = "/tmp/../etc"},
        {.type = PX_JOURNAL_ITEM, .kind = PX_RM_FILE, .scope = 1, .path = "etc"},
        {.type = PX_JOURNAL_ITEM, .kind = 9, .scope = 1, .path = "/tmp/x"},
        {.type = PX_JOURNAL_NONE, .slot = PX_JOURNAL_MAX_SLOT, .scope = 1},
        {.type = PX_JOURNAL_PROC, .scope = 1, .x = 1ull << 40},
        {.type = 77, .scope = 1},
    };

    file_in(1, 0, "a");
    append(journal, &wrong[_i]);
    file_in(1, 1, "b");
    ck_assert_int_eq(remains(true), 0);
    ck_assert(!is_there(dir) && !is_there(in("a")) && is_there(in("b")));
}

PX_TEST(who_is_not_root_removes_nothing_of_others)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    make_file(in("roots"));
    append_item_of(journal, 1, 0, in("roots"), 0, 0);
    append_item_of(journal, 0, 0, in("roots"), 0, 0);
    give(top, STRANGER, STRANGER);
    give(dir, STRANGER, STRANGER);
    give(in("pmix-server.abcdef/journal"), STRANGER, STRANGER);
    ck_assert_int_eq(setresgid(STRANGER, STRANGER, STRANGER), 0);
    ck_assert_int_eq(setresuid(STRANGER, STRANGER, STRANGER), 0);
    ck_assert_int_eq(remains(true), 0);
    ck_assert(is_there(in("roots")) && !is_there(dir));
    ck_assert_uint_ge(totals.failed, 2);
}

/* ---- all of a folder ------------------------------------------------------------ */

PX_TEST(reclaim_finishes_what_dead_servers_left_and_spares_the_rest)
{
    make_file(in("file"));
    append_item(journal, 0, 0, PX_RM_FILE, 0, in("file"));
    close(journal);
    make_server("pmix-server.live");
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    make_dir(in("pmix-server.open")); /* 0755 */
    make_dir(in("pmix-other"));
    make_file(in("pmix-server.file"));
    ck_assert_int_eq(mkdir(in("pmix-server.bare"), 0700), 0);
    ck_assert_int_eq(symlink(top, in("link")), 0);
    /* the administrator may name the folder by a link */
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, in("link"), &totals), 0);
    ck_assert(!is_there(in("pmix-server.abcdef")) && !is_there(in("file")));
    ck_assert(!is_there(in("pmix-server.bare")));
    ck_assert(is_there(in("pmix-server.live/journal")));
    ck_assert(is_there(in("pmix-server.open")) && is_there(in("pmix-other")) &&
              is_there(in("pmix-server.file")));
    close(lock);
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, top, &totals), 0);
    ck_assert(!is_there(in("pmix-server.live")));
}

PX_TEST(reclaim_of_many_finds_them_all)
{
    enum { N = 150 };

    for (int i = 0; i < N; i++)
        ck_assert_int_eq(mkdir(in("pmix-server.%060d", i), 0700), 0);
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, top, &totals), 0);
    ck_assert_uint_eq(totals.dirs, N + 1);
    ck_assert_int_eq(rmdir(top), 0);
    ck_assert_int_eq(mkdir(top, 0755), 0);
}

PX_TEST(reclaim_where_nothing_is_finds_nothing)
{
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, in("none"), &totals), 0);
    make_file(in("file"));
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, in("file"), &totals), ENOTDIR);
}

int main(void)
{
    return px_test_run("reclaim/server_folder", setup, teardown);
}
