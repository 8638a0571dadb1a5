/* SPDX-License-Identifier: BSD-3-Clause */
/* Leftovers of dead servers: all of them are removed, even if the removing process is
 * killed; only the intended processes end. A folder is found after a move and left
 * alone while its lock is held. Similar folders stay untouched. */
#include "core/os/proc.h"
#include "reclaim_fixture.h"

#include <sys/file.h>

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

/* ---- a complete cleanup --------------------------------------------------------- */

PX_TEST(nothing_of_a_dead_server_stays)
{
    file_in(0, 0, "contact");
    file_in(1, 0, "a");
    file_in(2, 0, "b");
    px_tree_make("session/sub/file " SERVER "/socket " SERVER "/shm/segment");
    append_tree(0, 1, px_tree_path("session"));
    ok(remains(true));
    px_assert_tree("", "");
    ck_assert_uint_eq(totals.files, 7);
    ck_assert_uint_eq(totals.dirs, 4);
    ck_assert_uint_eq(totals.kept + totals.foreign + totals.failed, 0);
    ok(remains(true)); /* already removed */
}

PX_TEST(the_folder_may_stand_in_one_that_was_made_for_it)
{
    close(journal);
    px_tree_make("session/deeper/file");
    make_server("session/deeper/pmix-server.x");
    append_tree(0, 0, px_tree_path("session"));
    append_item(0, 1, PX_RM_DIR, 0, px_tree_path("session/deeper"));
    append_tree(0, 2, dir);
    append_item(0, 3, PX_RM_FILE, 0, in("%s", "session/deeper/pmix-server.x/journal"));
    ok(remains(false));
    ck_assert(!px_tree_has("session"));
    ck_assert_uint_eq(totals.kept + totals.foreign + totals.failed, 0);
}

PX_TEST(what_has_to_stay_in_the_folder_keeps_the_folder_only)
{
    PX_TEST_NEEDS_ROOT;
    px_tree_make(SERVER "/foreign");
    px_tree_chown(SERVER "/foreign", STRANGER, STRANGER);
    file_in(0, 0, "contact");
    ok(remains(true));
    ck_assert(px_tree_has(SERVER "/foreign") && !px_tree_has("contact"));
    ck_assert(!px_tree_has(SERVER "/journal"));
    ok(remains(true));
    ck_assert(px_tree_has(SERVER "/foreign"));
}

PX_TEST_LOOP(without_a_journal_the_folder_goes_alone, 3)
{
    if (_i == 1) /* an empty journal has no records either */
        ok(ftruncate(journal, 0));
    file_in(0, 0, "a");
    if (_i == 0)
        ok(unlink(px_tree_path(SERVER "/journal")));
    if (_i == 2)
        ok(ftruncate(journal, 5));
    ok(remains(true));
    ck_assert(!is_there(dir));
    ck_assert(px_tree_has("a"));
}

PX_TEST_LOOP(of_another_boot_or_node_only_the_servers_own_goes, 2)
{
    char there[320];
    pid_t pid = start_process();

    px_journal_whereabouts(_i ? "node" : "another", there);
    there[0] ^= _i ? 1 : 0;
    begin_journal(1, 1, 0, there);
    append_proc(1, 0, pid, px_journal_start_time(pid), PX_JOURNAL_END);
    file_in(1, 1, "a");
    file_in(0, 0, "contact");
    ok(remains(true));
    ck_assert(!is_there(dir) && !px_tree_has("contact"));
    ck_assert(px_tree_has("a"));
    ok(end(pid));
}

PX_TEST(nothing_stays_open_or_unwaited)
{
    size_t open_before = px_test_count_fds();

    file_in(1, 0, "a");
    ok(remains(true));
    ck_assert_uint_eq(px_test_count_fds(), open_before);
    ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
}

/* ---- processes ------------------------------------------------------------------ */

PX_TEST(a_scope_waits_for_its_processes)
{
    pid_t pid = start_process();

    append_proc(1, 0, pid, px_journal_start_time(pid), 0);
    file_in(1, 1, "its");
    file_in(2, 0, "free");
    file_in(0, 0, "contact");
    px_tree_make("session/");
    append_tree(0, 1, px_tree_path("session"));
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(px_tree_has("its") && px_tree_has("session") && is_there(dir));
    ck_assert(!px_tree_has("free") && !px_tree_has("contact"));
    px_tree_make("free"); /* a new file of another process */
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(px_tree_has("free"));
    ok(end(pid));
    ok(remains(false));
    ck_assert(px_tree_has("free"));
    ck_assert(!px_tree_has("its") && !px_tree_has("session") && !is_there(dir));
}

/* 0: with pidfds; 1, 2: without. */
PX_TEST_LOOP(the_last_process_is_waited_for, 3)
{
    pid_t first = start_process(), second = start_process();

    if (_i)
        PX_TEST_NEEDS(px_test_deny(SYS_pidfd_open, _i > 1 ? EPERM : ENOSYS), "seccomp");
    append_proc(1, 0, first, px_journal_start_time(first), 0);
    append_proc(1, 1, second, px_journal_start_time(second), 0);
    file_in(1, 2, "a");
    uint64_t began = px_clock_ms();
    pid_t killer = fork();
    if (killer == 0) {
        usleep(150000);
        kill(first, SIGKILL);
        usleep(150000);
        _exit(!px_tree_has("a") || kill(second, SIGKILL) < 0);
    }
    ok(remains(true));
    ck_assert_uint_ge(px_clock_ms() - began, 300);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
    ck_assert(!is_there(dir) && !px_tree_has("a"));
    int status;
    ck_assert_int_eq(waitpid(killer, &status, 0), killer);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(ended_by(first), SIGKILL);
    ck_assert_int_eq(ended_by(second), SIGKILL);
}

/* _i 1: only signals by pidfd are denied; 2, 3: all new calls. */
PX_TEST_LOOP(what_ends_with_the_server_is_killed_and_then_swept, 4)
{
    static const unsigned calls[] = {SYS_pidfd_send_signal, SYS_pidfd_open,
                                     SYS_close_range, SYS_landlock_create_ruleset};
    pid_t pid = start_process(), other = start_process();

    for (int i = 0; i < (_i > 1 ? 4 : _i); i++)
        deny(calls[i], _i == 2 ? ENOSYS : EPERM);
    append_proc(1, 0, pid, px_journal_start_time(pid), PX_JOURNAL_END);
    file_in(1, 1, "its");
    append_proc(2, 0, other, px_journal_start_time(other), 0);
    append_item(2, 1, PX_RM_FILE, 0, px_tree_path("none"));
    uint64_t began = px_clock_ms();
    ck_assert_int_eq(remains(false), EBUSY); /* the other process is not waited for */
    ck_assert_uint_lt(px_clock_ms() - began, 1500);
    ck_assert(!px_tree_has("its"));
    ck_assert_int_eq(ended_by(pid), SIGKILL);
    ok(end(other));
    ok(remains(false));
}

/* Starts a group leader and a member and returns both pids. leave: the leader has
 * ended. */
static pid_t start_group(pid_t *member, bool leave)
{
    int ends[2], status;

    ok(pipe(ends));
    ok(prctl(PR_SET_CHILD_SUBREAPER, 1));
    pid_t leader = fork();
    ck_assert_int_ge(leader, 0);
    if (leader == 0) {
        setpgid(0, 0);
        pid_t pid = fork();
        if (pid > 0 && write(ends[1], &pid, sizeof(pid)) != sizeof(pid))
            _exit(1);
        if (pid > 0 && leave) {
            pause();
            _exit(0);
        }
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ends[0], member, sizeof(*member)), sizeof(*member));
    close(ends[0]);
    close(ends[1]);
    append_proc(1, 0, leader, px_journal_start_time(leader), PX_JOURNAL_END);
    if (leave) {
        kill(leader, SIGKILL);
        ck_assert_int_eq(waitpid(leader, &status, 0), leader);
    }
    return leader;
}

/* 1: the leader has ended before. */
PX_TEST_LOOP(its_process_group_ends_with_it, 2)
{
    pid_t member, leader = start_group(&member, _i);

    ok(remains(false));
    ck_assert_int_eq(ended_by(member), SIGKILL);
    if (!_i)
        ck_assert_int_eq(ended_by(leader), SIGKILL);
}

/* 0: the group belongs to another user; 1: the group is older than the leader. */
PX_TEST_LOOP(a_group_of_another_process_is_none_of_it, 2)
{
    pid_t member;
    pid_t leader = start_group(&member, true);

    append_record(.type = PX_JOURNAL_PROC, .flags = PX_JOURNAL_END, .scope = 1,
                  .uid = geteuid() + !_i, .x = (uint64_t)leader,
                  .y = _i ? px_journal_start_time(member) + 1 : 1);
    ok(remains(false));
    ok(end(member));
}

PX_TEST_LOOP(a_pid_that_is_another_process_now_is_spared, 2)
{
    pid_t member, leader = start_group(&member, false);
    uint64_t start = px_journal_start_time(leader);

    append_proc(1, 0, leader, _i ? start + 1 : start - 1, PX_JOURNAL_END);
    file_in(1, 1, "a");
    ok(remains(false));
    ck_assert(!px_tree_has("a"));
    ok(end(leader));
    ok(end(member));
}

PX_TEST(a_process_without_a_start_time_is_not_killed_but_waited_for)
{
    pid_t pid = start_process();

    append_proc(1, 0, pid, 0, PX_JOURNAL_END);
    ck_assert_int_eq(remains(false), EBUSY);
    ok(end(pid));
    ok(remains(false));
}

PX_TEST(neither_we_nor_the_first_process_are_killed)
{
    append_proc(1, 0, getpid(), px_journal_start_time(getpid()), PX_JOURNAL_END);
    append_proc(2, 0, 1, px_journal_start_time(1), PX_JOURNAL_END);
    ck_assert_int_eq(remains(false), EBUSY);
    append_proc(1, 0, 1, 1, 0);
    append_proc(2, 0, 1, 1, 0);
    ok(remains(false));
}

/* ---- kills during the cleanup --------------------------------------------------- */

static void make_much(void)
{
    char name[32];

    for (uint32_t scope = 0; scope < 6; scope++) {
        for (uint32_t i = 0; i < 10; i++) {
            snprintf(name, sizeof(name), "d%u/%u", scope, i);
            px_tree_make(name);
        }
        append_tree(scope, 0, in("d%u", scope));
        snprintf(name, sizeof(name), "f%u", scope);
        file_in(scope, 1, name);
        snprintf(name, sizeof(name), SERVER "/%u", scope);
        px_tree_make(name);
    }
}

PX_TEST(killed_at_any_point_it_is_completed_by_the_next)
{
    enum {
        POINTS = 25,
        MAX_US = 60000,
        ENOUGH_MS = 10000
    }; /* generous limits for busy machines */
    unsigned killed = 0;
    uint64_t whole_us = 0, until = px_clock_ms() + ENOUGH_MS;
    int point = 0;

    for (; point <= POINTS && px_clock_ms() < until; point++) {
        int status;

        if (point > 0) {
            close(journal);
            make_server(SERVER);
        }
        make_much();
        uint64_t began = px_clock_ns();
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            setpgid(0, 0);
            _exit(remains(true));
        }
        setpgid(child, child);
        if (point > 0) { /* the first run is not interrupted */
            usleep((useconds_t)(whole_us * (uint64_t)point / POINTS));
            kill(child, SIGKILL);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        if (point == 0)
            whole_us = (px_clock_ns() - began) / 1000;
        if (whole_us > MAX_US)
            whole_us = MAX_US;
        killed += WIFSIGNALED(status);
        ck_assert(WIFSIGNALED(status) || status == 0);
        ok(remains(true));
        ck_assert_msg(rmdir(px_tree_root()) == 0, "point %d: %s is not empty", point,
                      px_tree_root());
        ok(mkdir(px_tree_root(), 0755));
    }
    printf("killed %u of %d\n", killed, point - 1);
    ck_assert_uint_gt(killed, 0);
}

/* ---- locks ---------------------------------------------------------------------- */

static pid_t start_server(uint16_t flags)
{
    pid_t pid = start_process();

    begin_journal(pid, px_journal_start_time(pid), flags, NULL);
    return pid;
}

PX_TEST(a_folder_that_is_locked_is_left_alone)
{
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = start_server(0);

    ok(flock(lock, LOCK_EX));
    file_in(0, 0, "a");
    px_tree_make(SERVER "/socket");
    ck_assert_int_eq(remains(true), EBUSY);
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(px_tree_has("a") && px_tree_has(SERVER "/socket"));
    ok(px_reclaim_server_dir(&sweep, dir, lock, true, &totals));
    ck_assert(!is_there(dir) && !px_tree_has("a"));
    close(lock);
    ok(end(pid));
}

/* A child still holds the lock that its killed server had just taken. */
PX_TEST(a_lock_that_outlives_its_server_is_waited_for)
{
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ok(flock(lock, LOCK_EX));
    pid_t pid = fork();
    if (pid == 0) {
        usleep(100000);
        _exit(0);
    }
    close(lock);
    ok(px_reclaim_tmpdir(&sweep, px_tree_root(), &totals));
    ck_assert(!is_there(dir));
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

PX_TEST(a_descriptor_without_the_lock_is_of_no_use)
{
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int other = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ok(flock(lock, LOCK_EX));
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, dir, other, true, &totals), EBUSY);
    ck_assert(is_there(dir));
    close(other);
    other = open(px_tree_root(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* mode 0755 */
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, dir, other, true, &totals), EPERM);
    ck_assert(is_there(dir));
    close(other);
    close(lock);
}

/* 0: another folder is at its old path; 1: no folder; 2: a link to elsewhere. */
PX_TEST_LOOP(a_folder_that_was_moved_is_found_by_its_descriptor, 3)
{
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ok(flock(lock, LOCK_EX));
    file_in(1, 0, "a");
    file_in(0, 0, "contact");
    ok(rename(dir, px_tree_path("elsewhere")));
    if (_i == 0) {
        ok(mkdir(dir, 0700));
        px_tree_make(SERVER "/canary");
    }
    if (_i == 2)
        ok(symlink("/etc", dir));
    ok(px_reclaim_server_dir(&sweep, dir, lock, true, &totals));
    ck_assert(!px_tree_has("a") && !px_tree_has("contact"));
    ck_assert(!px_tree_has("elsewhere"));
    ck_assert_int_eq(px_tree_has(SERVER "/canary"), _i == 0);
    ck_assert_int_eq(is_there(dir), _i != 1);
    close(lock);
}

/* Programs that tidy up /tmp remove folders like this. */
PX_TEST_LOOP(a_folder_that_was_removed_does_not_keep_the_rest, 2)
{
    const struct px_reclaim s = {
        .journal = journal, .node = "node", .timeout_ms = 20000};
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ok(flock(lock, LOCK_EX));
    file_in(1, 0, "a");
    file_in(0, 0, "contact");
    ok(unlink(px_tree_path(SERVER "/journal")));
    if (_i)
        ok(rmdir(dir));
    ok(px_reclaim_server_dir(&s, dir, lock, true, &totals));
    ck_assert(!px_tree_has("a") && !px_tree_has("contact") && !is_there(dir));
    close(lock);
}

/* 0: the file system has no locks; 1: the server could not get one. */
PX_TEST_LOOP(without_a_lock_the_servers_process_counts, 2)
{
    pid_t pid = start_server(_i ? PX_JOURNAL_UNLOCKED : 0);

    if (!_i)
        PX_TEST_NEEDS(px_test_deny(SYS_flock, ENOLCK), "seccomp");
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(is_there(dir));
    ok(end(pid));
    ok(remains(false));
    ck_assert(!is_there(dir));
}

PX_TEST(the_descriptor_of_such_a_server_proves_its_end)
{
    pid_t pid = start_server(PX_JOURNAL_UNLOCKED);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ok(px_reclaim_server_dir(&sweep, dir, fd, true, &totals));
    ck_assert(!is_there(dir));
    ok(end(pid));
    close(fd);
}

PX_TEST(without_locks_nothing_is_known_of_another_node)
{
    PX_TEST_NEEDS(px_test_deny(SYS_flock, EBADF), "seccomp");
    begin_journal(1, 1, 0, "x node");
    ck_assert_int_eq(remains(false), EBUSY);
    ok(ftruncate(journal, 0));
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(is_there(dir));
}

/* ---- similar folders ------------------------------------------------------------ */

static void spared(int errnum)
{
    ck_assert_int_eq(remains(true), errnum);
    ck_assert(is_there(dir));
    ck_assert_uint_eq(totals.files + totals.dirs, 0);
}

static const struct {
    mode_t mode;
    uid_t owner;
    const char *made, *path; /* of something else than the folder */
} others[] = {{.mode = 0755},
              {.mode = 0701},
              {.mode = 0710},
              {.mode = 0500},
              {.mode = 0777},
              {.mode = 01777},
              {.owner = STRANGER},
              {.made = "pmix-server.file", .path = "pmix-server.file"},
              {.made = "pmix-server.link@" SERVER, .path = "pmix-server.link"},
              {.made = "link@.", .path = "link/" SERVER}};

PX_TEST_LOOP(what_is_not_a_folder_of_ours_alone_is_spared, PX_COUNT(others))
{
    if (others[_i].owner) {
        PX_TEST_NEEDS_ROOT;
        px_tree_chown(SERVER, others[_i].owner, 0);
    }
    ok(chmod(dir, others[_i].mode ? others[_i].mode : 0700));
    if (others[_i].made) {
        px_tree_make(others[_i].made);
        strcpy(dir, px_tree_path(others[_i].path));
    }
    spared(EPERM);
    ok(chmod(px_tree_path(SERVER), 0700));
    ck_assert(px_tree_has(SERVER "/journal"));
}

PX_TEST(a_path_that_is_not_absolute_or_the_root_is_not_ours)
{
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, "/", -1, true, &totals), EPERM);
    ck_assert_int_eq(px_reclaim_server_dir(&sweep, SERVER, -1, true, &totals), EPERM);
}

PX_TEST_LOOP(a_journal_that_is_no_plain_file_of_ours_is_none, 6)
{
    const char *path = px_tree_path(SERVER "/journal");

    ok(rename(path, px_tree_path("moved")));
    switch (_i) {
    case 0:
        ok(symlink(px_tree_path("moved"), path));
        break;
    case 1:
        ok(mkfifo(path, 0600));
        break;
    case 2:
        ok(link(px_tree_path("moved"), path));
        break;
    case 3:
        ok(mkdir(path, 0755));
        break;
    case 4:
        ok(rename(px_tree_path("moved"), path));
        ok(chmod(path, 0644));
        break;
    default:
        PX_TEST_NEEDS_ROOT;
        ok(rename(px_tree_path("moved"), path));
        ok(lchown(path, STRANGER, 0));
    }
    spared(EPERM);
}

PX_TEST(without_root_nothing_of_others_is_removed)
{
    PX_TEST_NEEDS_ROOT;
    px_tree_make("roots");
    append_file_of(1, 0, px_tree_path("roots"), 0, 0);
    append_file_of(0, 0, px_tree_path("roots"), 0, 0);
    px_tree_chown("", STRANGER, STRANGER);
    px_tree_chown(SERVER, STRANGER, STRANGER);
    px_tree_chown(SERVER "/journal", STRANGER, STRANGER);
    become(STRANGER);
    ok(remains(true));
    ck_assert(px_tree_has("roots") && !is_there(dir));
    ck_assert_uint_ge(totals.failed, 2);
}

/* ---- all servers of a folder ---------------------------------------------------- */

PX_TEST(reclaim_finishes_what_dead_servers_left_and_spares_the_rest)
{
    px_tree_make("file");
    append_item(0, 0, PX_RM_FILE, 0, px_tree_path("file"));
    close(journal);
    make_server("pmix-server.live");
    pid_t pid = start_server(0);
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok(flock(lock, LOCK_EX));
    px_tree_make("pmix-server.open/"); /* mode 0755 */
    px_tree_make("pmix-other/ pmix-server.file");
    ok(mkdir(px_tree_path("pmix-server.bare"), 0700));
    ok(symlink(px_tree_root(), px_tree_path("link")));
    /* the administrator may pass the folder as a symbolic link */
    ok(px_reclaim_tmpdir(&sweep, px_tree_path("link"), &totals));
    ck_assert(!px_tree_has(SERVER) && !px_tree_has("file"));
    ck_assert(!px_tree_has("pmix-server.bare"));
    ck_assert(px_tree_has("pmix-server.live/journal"));
    ck_assert(px_tree_has("pmix-server.open") && px_tree_has("pmix-other") &&
              px_tree_has("pmix-server.file"));
    close(lock);
    ok(px_reclaim_tmpdir(&sweep, px_tree_root(), &totals));
    ck_assert(!px_tree_has("pmix-server.live"));
    ok(end(pid));
}

PX_TEST(reclaim_where_nothing_is_finds_nothing)
{
    ok(px_reclaim_tmpdir(&sweep, px_tree_path("none"), &totals));
    px_tree_make("file");
    ck_assert_int_eq(px_reclaim_tmpdir(&sweep, px_tree_path("file"), &totals), ENOTDIR);
}

PX_TEST_MAIN("reclaim/server_dir", setup, teardown)
