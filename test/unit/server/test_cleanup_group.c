/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that a started process leaves in its process group. They end with the server, or with
 * the next server that reads the journal. */
#include "cleaner.h"
#include "fake_host.h"
#include "px_test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

struct pair {
    pid_t leader, left;
};

/* Forks a leader of a process group. The leader leaves a process in its group and exits. */
static struct pair start_pair(void)
{
    struct pair pair;
    int fds[2];

    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    ck_assert_int_eq(pipe(fds), 0);
    pair.leader = fork();
    ck_assert_int_ge(pair.leader, 0);
    if (pair.leader == 0) {
        setpgid(0, 0);
        pair.left = fork();
        if (pair.left == 0)
            for (;;)
                pause();
        _exit(write(fds[1], &pair.left, sizeof(pair.left)) < 0);
    }
    ck_assert_int_eq(read(fds[0], &pair.left, sizeof(pair.left)), sizeof(pair.left));
    close(fds[0]);
    close(fds[1]);
    return pair;
}

static void starts(void *arg)
{
    const struct pair *pair = arg;
    pmix_proc_t proc;

    px_proc_set(&proc, "job", 0);
    px_cleanup_proc_started(px_process.server, &proc, pair->leader);
}

static void ended(void *arg PX_UNUSED)
{
    pmix_proc_t proc;

    px_proc_set(&proc, "job", 0);
    PX_PARTS_NOTIFY(px_process.server, proc_ended, &proc);
}

/* Returns a pair whose leader has ended, is reaped and is reported. */
static struct pair leave_one(void)
{
    struct pair pair = start_pair();

    raw_on_loop(starts, &pair);
    ck_assert_int_eq(waitpid(pair.leader, NULL, 0), pair.leader);
    raw_on_loop(ended, NULL);
    return pair;
}

PX_TEST(what_an_ended_process_leaves_behind_ends_with_the_server)
{
    struct pair pair = leave_one();
    int status;

    ck_assert_int_eq(kill(pair.left, 0), 0);
    cleaner_stop();
    ck_assert_int_eq(waitpid(pair.left, &status, 0), pair.left);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void fill_journal(void *arg PX_UNUSED)
{
    const struct px_journal_record none = {.scope = 77, .path = ""};

    for (int i = 0; i < 3000; i++)
        ok(px_session_record(px_process.server, &none, 1));
    px_cleanup_compact(px_process.server->part.cleanup);
}

PX_TEST(the_journal_knows_the_group_after_its_leader_has_ended)
{
    struct pair pair = leave_one();
    char pid[32];

    snprintf(pid, sizeof(pid), "%ld", (long)pair.leader);
    ck_assert_str_eq(cleaner_pids(1), pid);
    raw_on_loop(fill_journal, NULL);
    ck_assert_int_lt(cleaner_journal_b(), 3000);
    ck_assert_str_eq(cleaner_pids(1), pid);
    cleaner_stop();
    ck_assert_int_eq(waitpid(pair.left, NULL, 0), pair.left);
}

PX_TEST(empty_groups_make_room_for_others)
{
    for (int i = 0; i < 200; i++) {
        struct pair pair = leave_one();

        kill(pair.left, SIGKILL);
        ck_assert_int_eq(waitpid(pair.left, NULL, 0), pair.left);
    }
    ck_assert_uint_ge(px_process.server->part.cleanup->groups->n_entries, 1);
    ck_assert_uint_le(px_process.server->part.cleanup->groups->n_entries, 64);
}

/* A started process is in the journal even without a request. Its own requests wait until the host
 * reports its end. */
PX_TEST(a_process_of_ours_is_in_the_journal_without_having_asked)
{
    struct pair pair;

    PX_TEST_NEEDS_PROC;
    cleaner_play("a=0");
    pair.leader = cleaner_pid('a');
    raw_on_loop(starts, &pair);
    cleaner_play("pids 1;a:0 f=/t/a;a!;quiet");
    raw_on_loop(ended, NULL);
    cleaner_play("ran 0;pids 1"); /* pid of the group that the process led */
}

PX_TEST_MAIN("server/cleanup_group", cleaner_setup, cleaner_teardown)
