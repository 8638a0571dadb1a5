/* SPDX-License-Identifier: BSD-3-Clause */
/* What dead servers have left: all of it goes, whoever is killed on the way, and of
 * processes those that are meant. */
#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/proc.h"
#include "seccomp.h"
#include "server_fixture.h"

#include <errno.h>
#include <sys/syscall.h>

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

/* ---- the whole ------------------------------------------------------------------ */

PX_TEST(nothing_of_a_dead_server_stays)
{
    file_in(0, 0, "contact");
    file_in(1, 0, "a");
    file_in(2, 0, "b");
    make_dir(in("session"));
    make_dir(in("session/sub"));
    make_file(in("session/sub/file"));
    append_item(journal, 0, 1, PX_RM_DIR, PX_RM_RECURSE, in("session"));
    make_file(in("pmix-server.abcdef/socket"));
    make_dir(in("pmix-server.abcdef/shm"));
    make_file(in("pmix-server.abcdef/shm/segment"));
    ck_assert_int_eq(remains(true), 0);
    ck_assert(!is_there(dir) && !is_there(in("session")));
    ck_assert_int_eq(rmdir(top), 0);
    ck_assert_int_eq(mkdir(top, 0755), 0);
    ck_assert_uint_eq(totals.files, 7);
    ck_assert_uint_eq(totals.dirs, 4);
    ck_assert_uint_eq(totals.kept + totals.foreign + totals.failed, 0);
    ck_assert_int_eq(remains(true), 0); /* not there any more */
}

PX_TEST(the_folder_may_stand_in_one_that_was_made_for_it)
{
    close(journal);
    ck_assert_int_eq(unlink(in("pmix-server.abcdef/journal")), 0);
    ck_assert_int_eq(rmdir(dir), 0);
    make_dir(in("session"));
    make_dir(in("session/deeper"));
    make_server("session/deeper/pmix-server.x");
    append_item(journal, 0, 0, PX_RM_DIR, PX_RM_RECURSE, in("session"));
    append_item(journal, 0, 1, PX_RM_DIR, 0, in("session/deeper"));
    append_item(journal, 0, 2, PX_RM_DIR, PX_RM_RECURSE, dir);
    append_item(journal, 0, 3, PX_RM_FILE, 0,
                in("session/deeper/pmix-server.x/journal"));
    make_file(in("session/deeper/file"));
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(in("session")));
    ck_assert_uint_eq(totals.kept + totals.foreign + totals.failed, 0);
}

PX_TEST(what_has_to_stay_in_the_folder_keeps_the_folder_only)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    make_file(in("pmix-server.abcdef/his"));
    give(in("pmix-server.abcdef/his"), STRANGER, STRANGER);
    file_in(0, 0, "contact");
    ck_assert_int_eq(remains(true), 0);
    ck_assert(is_there(in("pmix-server.abcdef/his")) && !is_there(in("contact")));
    ck_assert(!is_there(in("pmix-server.abcdef/journal")));
    ck_assert_int_eq(remains(true), 0);
    ck_assert(is_there(in("pmix-server.abcdef/his")));
}

PX_TEST_LOOP(without_a_journal_the_folder_goes_alone, 3)
{
    if (_i == 1) /* nor has an empty one anything to say */
        ck_assert_int_eq(ftruncate(journal, 0), 0);
    file_in(0, 0, "a");
    if (_i == 0)
        ck_assert_int_eq(unlink(in("pmix-server.abcdef/journal")), 0);
    if (_i == 2)
        ck_assert_int_eq(ftruncate(journal, 5), 0);
    ck_assert_int_eq(remains(true), 0);
    ck_assert(!is_there(dir));
    ck_assert(is_there(in("a")));
}

PX_TEST_LOOP(of_another_boot_or_node_only_the_servers_own_goes, 2)
{
    char there[320];
    pid_t pid = start_process();

    px_journal_whereabouts(_i ? "node" : "another", there);
    there[0] ^= _i ? 1 : 0;
    ck_assert_int_eq(ftruncate(journal, 0), 0);
    append(journal, &(struct px_journal_record){
                        .type = PX_JOURNAL_HEAD, .x = 1, .y = 1, .path = there});
    append_proc(1, 0, pid, px_journal_start_time(pid), PX_JOURNAL_END);
    file_in(1, 1, "a");
    file_in(0, 0, "contact");
    ck_assert_int_eq(remains(true), 0);
    ck_assert(!is_there(dir) && !is_there(in("contact")));
    ck_assert(is_there(in("a")));
    ck_assert_int_eq(end(pid), 0);
}

PX_TEST(nothing_stays_open_or_unwaited)
{
    size_t open_before = open_descriptors();

    file_in(1, 0, "a");
    ck_assert_int_eq(remains(true), 0);
    ck_assert_uint_eq(open_descriptors(), open_before);
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
    make_dir(in("session"));
    append_item(journal, 0, 1, PX_RM_DIR, PX_RM_RECURSE, in("session"));
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(is_there(in("its")) && is_there(in("session")) && is_there(dir));
    ck_assert(!is_there(in("free")) && !is_there(in("contact")));
    make_file(in("free")); /* by somebody else, since */
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert(is_there(in("free")));
    ck_assert_int_eq(end(pid), 0);
    ck_assert_int_eq(remains(false), 0);
    ck_assert(is_there(in("free")));
    ck_assert(!is_there(in("its")) && !is_there(in("session")) && !is_there(dir));
}

static void wait_for_two(void)
{
    pid_t first = start_process(), second = start_process();

    append_proc(1, 0, first, px_journal_start_time(first), 0);
    append_proc(1, 1, second, px_journal_start_time(second), 0);
    file_in(1, 2, "a");
    pid_t killer = fork();
    if (killer == 0) {
        usleep(150000);
        kill(first, SIGKILL);
        usleep(150000);
        _exit(!is_there(in("a")) || kill(second, SIGKILL) < 0);
    }
    uint64_t began = px_clock_ms();
    ck_assert_int_eq(remains(true), 0);
    ck_assert_uint_ge(px_clock_ms() - began, 300);
    ck_assert_uint_lt(px_clock_ms() - began, 10000);
    ck_assert(!is_there(dir) && !is_there(in("a")));
    int status;
    ck_assert_int_eq(waitpid(killer, &status, 0), killer);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(ended_by(first), SIGKILL);
    ck_assert_int_eq(ended_by(second), SIGKILL);
}

PX_TEST(who_waits_waits_for_the_last_process)
{
    wait_for_two();
}

PX_TEST_LOOP(who_waits_does_so_without_pidfds, 2)
{
    PX_TEST_NEEDS(px_test_deny(SYS_pidfd_open, _i ? EPERM : ENOSYS), "seccomp");
    wait_for_two();
}

PX_TEST(more_processes_than_can_be_watched_are_waited_for)
{
    enum { N = 80 };
    pid_t pids[N];
    int status;

    for (int i = 0; i < N; i++) {
        pids[i] = start_process();
        append_proc(1 + (uint64_t)i, 0, pids[i], px_journal_start_time(pids[i]), 0);
    }
    pid_t killer = fork();
    if (killer == 0) {
        usleep(50000);
        for (int i = N; i-- > 0;)
            kill(pids[i], SIGKILL);
        _exit(0);
    }
    ck_assert_int_eq(remains(true), 0);
    ck_assert_int_eq(waitpid(killer, &status, 0), killer);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(ended_by(pids[i]), SIGKILL);
}

static void deny_new_calls(int errnum)
{
    static const unsigned calls[] = {SYS_clone3,     SYS_close_range,
                                     SYS_pidfd_open, SYS_pidfd_send_signal,
                                     SYS_openat2,    SYS_landlock_create_ruleset};

    for (size_t i = 0; i < PX_COUNT(calls); i++)
        ck_assert(px_test_deny(calls[i], errnum));
}

/* _i 1: only signals by pidfd are denied; 2, 3: all that is new. */
PX_TEST_LOOP(what_ends_with_the_server_is_killed_and_then_swept, 4)
{
    pid_t pid = start_process(), other = start_process();

    if (_i == 1)
        ck_assert(px_test_deny(SYS_pidfd_send_signal, EPERM));
    if (_i > 1)
        deny_new_calls(_i == 2 ? ENOSYS : EPERM);
    append_proc(1, 0, pid, px_journal_start_time(pid), PX_JOURNAL_END);
    file_in(1, 1, "its");
    append_proc(2, 0, other, px_journal_start_time(other), 0);
    append_item(journal, 2, 1, PX_RM_FILE, 0, in("none"));
    ck_assert_int_eq(remains(false), EBUSY); /* for the other */
    ck_assert(!is_there(in("its")));
    ck_assert_int_eq(ended_by(pid), SIGKILL);
    ck_assert_int_eq(end(other), 0);
    ck_assert_int_eq(remains(false), 0);
}

/* A leader, and one of its group; both pids. With leave, the leader has ended. */
static pid_t start_group(pid_t *member, bool leave)
{
    int ends[2], status;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
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

PX_TEST(its_process_group_ends_with_it)
{
    pid_t member, leader = start_group(&member, false);

    ck_assert_int_eq(remains(false), 0);
    ck_assert_int_eq(ended_by(leader), SIGKILL);
    ck_assert_int_eq(ended_by(member), SIGKILL);
}

PX_TEST(its_process_group_ends_even_if_it_has_ended_before)
{
    pid_t member;

    start_group(&member, true);
    ck_assert_int_eq(remains(false), 0);
    ck_assert_int_eq(ended_by(member), SIGKILL);
}

PX_TEST(a_group_of_another_user_is_none_of_it)
{
    pid_t member;

    PX_TEST_NEEDS(geteuid() == 0, "root");
    pid_t leader = start_group(&member, true);
    append(journal, &(struct px_journal_record){.type = PX_JOURNAL_PROC,
                                                .flags = PX_JOURNAL_END,
                                                .scope = 1,
                                                .uid = STRANGER,
                                                .x = (uint64_t)leader,
                                                .y = 1});
    ck_assert_int_eq(remains(false), 0);
    ck_assert_int_eq(end(member), 0);
}

PX_TEST(a_group_older_than_its_leader_is_none_of_it)
{
    pid_t member;
    pid_t leader = start_group(&member, true);

    append_proc(1, 0, leader, px_journal_start_time(member) + 1, PX_JOURNAL_END);
    ck_assert_int_eq(remains(false), 0);
    ck_assert_int_eq(end(member), 0);
}

PX_TEST_LOOP(a_pid_that_is_another_process_now_is_spared, 2)
{
    pid_t member, leader = start_group(&member, false);
    uint64_t start = px_journal_start_time(leader);

    append_proc(1, 0, leader, _i ? start + 1 : start - 1, PX_JOURNAL_END);
    file_in(1, 1, "a");
    ck_assert_int_eq(remains(false), 0);
    ck_assert(!is_there(in("a")));
    ck_assert_int_eq(end(leader), 0);
    ck_assert_int_eq(end(member), 0);
}

PX_TEST(a_process_without_a_start_time_is_not_killed_but_waited_for)
{
    pid_t pid = start_process();

    append_proc(1, 0, pid, 0, PX_JOURNAL_END);
    ck_assert_int_eq(remains(false), EBUSY);
    ck_assert_int_eq(end(pid), 0);
    ck_assert_int_eq(remains(false), 0);
}

PX_TEST(neither_we_nor_the_first_process_are_killed)
{
    append_proc(1, 0, getpid(), px_journal_start_time(getpid()), PX_JOURNAL_END);
    append_proc(2, 0, 1, px_journal_start_time(1), PX_JOURNAL_END);
    ck_assert_int_eq(remains(false), EBUSY);
    append_proc(1, 0, 1, 1, 0);
    append_proc(2, 0, 1, 1, 0);
    ck_assert_int_eq(remains(false), 0);
}

/* ---- killed on the way ---------------------------------------------------------- */

static void make_much(void)
{
    for (uint32_t scope = 0; scope < 6; scope++) {
        make_dir(in("d%u", scope));
        for (uint32_t i = 0; i < 10; i++)
            make_file(in("d%u/%u", scope, i));
        append_item(journal, scope, 0, PX_RM_DIR, PX_RM_RECURSE, in("d%u", scope));
        char name[16];
        snprintf(name, sizeof(name), "f%u", scope);
        file_in(scope, 1, name);
        make_file(in("pmix-server.abcdef/%u", scope));
    }
}

/* For a moment a child of who was killed may still have its lock. */
static void complete(void)
{
    uint64_t until = px_clock_ms() + 5000;
    int errnum;

    while ((errnum = remains(true)) == EBUSY && px_clock_ms() < until)
        usleep(1000);
    ck_assert_int_eq(errnum, 0);
}

PX_TEST(killed_at_any_point_it_is_completed_by_the_next)
{
    enum { POINTS = 25, MAX_US = 60000, ENOUGH_MS = 10000 }; /* machines are busy */
    unsigned killed = 0;
    uint64_t whole_us = 0, until = px_clock_ms() + ENOUGH_MS;
    int point = 0;

    for (; point <= POINTS && px_clock_ms() < until; point++) {
        int status;

        if (point > 0) {
            close(journal);
            make_server("pmix-server.abcdef");
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
        if (point > 0) { /* the first takes as long as it takes */
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
        complete();
        ck_assert_msg(rmdir(top) == 0, "point %d: %s is not empty", point, top);
        ck_assert_int_eq(mkdir(top, 0755), 0);
    }
    printf("killed %u of %d\n", killed, point - 1);
    ck_assert_uint_gt(killed, 0);
}

int main(void)
{
    return px_test_run("reclaim/server_dir", setup, teardown);
}
