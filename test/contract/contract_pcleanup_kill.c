/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pcleanup: servers that are killed, at once or by the next server of the user; and
 * for the janitor, which does the former, what becomes of it. */
#include "contract_pcleanup.h"

#include "core/base/clock.h"
#include "core/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "px_test.h"

/* It is a second for a machine that is not busy. */
enum { GONE_MS = 3000, END_MS = 5000 };

#define NEEDS_JANITOR \
    PX_TEST_NEEDS(strcmp(contract.component->name, "janitor") == 0, "a janitor")

static bool is_gone_within(const char *path, uint64_t ms)
{
    const uint64_t deadline_ms = px_clock_ms() + ms;

    while (is_there(path)) {
        if (px_clock_ms() >= deadline_ms)
            return false;
        process_pause(1);
    }
    return true;
}

/* ---- a server in a process of its own ------------------------------------------- */

struct killed {
    pid_t pid;
    char path[PATH_MAX]; /* of its folder */
};

static void *open_another(void)
{
    void *self;

    ok(contract.component->open(&contract.host.host, contract.conf, &self));
    return self;
}

/* Runs begin in another process, which says so and then waits to be killed. */
static struct killed server_process(void (*begin)(struct srv *s))
{
    struct killed k = {0};
    int ends[2];
    char ready;

    snprintf(k.path, sizeof(k.path), "%s/" PX_JOURNAL_DIR "killed", contract.dir);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    k.pid = fork();
    ck_assert_int_ge(k.pid, 0);
    if (k.pid == 0) {
        struct srv s = srv_of(open_another(), "killed");
        begin(&s);
        if (write(ends[1], "", 1) == 1)
            fake_host_run(&contract.host, 2 * LATE_MS, NULL, NULL);
        _exit(EXIT_FAILURE);
    }
    close(ends[1]);
    ok(px_fd_read_all(ends[0], &ready, 1, px_clock_ms() + LATE_MS));
    close(ends[0]);
    return k;
}

static void kill_server(const struct killed *k)
{
    int status;

    kill(k->pid, SIGKILL);
    ck_assert_int_eq(waitpid(k->pid, &status, 0), k->pid);
    ck_assert(WIFSIGNALED(status));
}

static void next_server_reclaims(void)
{
    struct answer a = {0};
    struct srv s = srv_of(contract.self, "next01");

    ok(pcleanup_ops()->reclaim(contract.self, contract.dir, on_done, &a));
    answer_wait(&a);
    srv_end(&s);
}

static void register_all(struct srv *s)
{
    srv_make_journal(s);
    srv_item(s, SCOPE, in_dir("file"), PX_RM_FILE, 0);
    srv_item(s, SCOPE, in_dir("tree"), PX_RM_DIR, PX_RM_RECURSE);
    srv_item(s, 0, in_dir("made"), PX_RM_DIR, PX_RM_RECURSE);
}

static void make_all(void)
{
    make_file("file");
    make_tree("tree", 20);
    make_folder("made");
}

static bool is_any_there(void)
{
    return is_there(in_dir("file")) || is_there(in_dir("tree")) ||
           is_there(in_dir("made"));
}

START_TEST(what_a_killed_server_leaves_is_gone_at_the_latest_after_the_next_start)
{
    adopt_orphans();
    make_all();
    struct killed k = server_process(register_all);

    kill_server(&k);
    if (!is_gone_within(k.path, GONE_MS))
        next_server_reclaims();
    ck_assert(!is_there(k.path) && !is_any_there());
    ck_assert(are_all_gone(END_MS));
}
END_TEST

START_TEST(a_killed_server_leaves_nothing_for_a_second)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    struct killed k = server_process(register_all);

    kill_server(&k);
    ck_assert(is_gone_within(k.path, GONE_MS));
    ck_assert(!is_any_there());
    ck_assert(are_all_gone(END_MS));
}
END_TEST

static void begin_nothing(struct srv *s PX_UNUSED)
{
}

START_TEST(a_server_killed_before_it_has_made_anything_leaves_nothing)
{
    NEEDS_JANITOR;
    adopt_orphans();
    struct killed k = server_process(begin_nothing);

    kill_server(&k);
    ck_assert(are_all_gone(END_MS));
    ck_assert(!is_there(k.path));
}
END_TEST

START_TEST(a_server_killed_before_it_has_told_of_its_folder_leaves_nothing)
{
    NEEDS_JANITOR;
    adopt_orphans();
    struct killed k = server_process(srv_make_dir);

    kill_server(&k);
    ck_assert(is_gone_within(k.path, GONE_MS));
    ck_assert(are_all_gone(END_MS));
}
END_TEST

static void be_killed_at_once(struct srv *s)
{
    register_all(s);
    kill(getpid(), SIGKILL);
}

/* It may be dead before its janitor has come to look. */
START_TEST(last_words_are_heard)
{
    NEEDS_JANITOR;
    adopt_orphans();
    for (int i = 0; i < 20; i++) {
        make_all();
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            struct srv s = srv_of(open_another(), "killed");
            be_killed_at_once(&s);
        }
        ck_assert_int_eq(process_wait(pid, LATE_MS), 128 + SIGKILL);
        ck_assert(is_gone_within(in_dir(PX_JOURNAL_DIR "killed"), GONE_MS));
        ck_assert(!is_any_there());
        ck_assert(are_all_gone(END_MS));
    }
}
END_TEST

static void begin_and_run(struct srv *s)
{
    static struct answer a[10];

    register_all(s);
    for (size_t i = 0; i < PX_COUNT(a); i++)
        ok(pcleanup_ops()->run(s->self, SCOPE, on_done, &a[i]));
}

START_TEST(a_server_killed_during_runs_leaves_nothing)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    struct killed k = server_process(begin_and_run);

    kill_server(&k);
    ck_assert(is_gone_within(k.path, GONE_MS));
    ck_assert(!is_any_there());
    ck_assert(are_all_gone(END_MS));
}
END_TEST

/* Such a copy holds all that the server has open, and lives on. */
static void begin_with_a_copy(struct srv *s)
{
    register_all(s);
    pid_t pid = fork();
    if (pid == 0) {
        process_pause(END_MS);
        _exit(EXIT_SUCCESS);
    }
}

START_TEST(a_forked_copy_of_a_killed_server_delays_nothing)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    struct killed k = server_process(begin_with_a_copy);

    kill_server(&k);
    ck_assert(is_gone_within(k.path, GONE_MS));
    ck_assert(!is_any_there());
    ck_assert(are_all_gone(2 * END_MS));
}
END_TEST

static void become_another_program(struct srv *s)
{
    register_all(s);
    execl("/bin/sleep", "sleep", "20", (char *)NULL);
    abort();
}

START_TEST(a_server_whose_process_becomes_another_program_leaves_nothing)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct srv s = srv_of(open_another(), "killed");
        become_another_program(&s);
    }
    process_pause(100);
    ck_assert(is_gone_within(in_dir(PX_JOURNAL_DIR "killed"), GONE_MS));
    ck_assert(!is_any_there());
    kill(pid, SIGKILL);
    ck_assert(are_all_gone(END_MS));
}
END_TEST

/* ---- processes that live on ----------------------------------------------------- */

/* Lives until it is killed. */
static pid_t living_process(void)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        process_pause(3 * LATE_MS);
        _exit(EXIT_SUCCESS);
    }
    return pid;
}

static pid_t waited_for;
static unsigned how_it_ends;

static void register_with_a_process(struct srv *s)
{
    register_all(s);
    srv_proc(s, SCOPE, waited_for, how_it_ends);
}

START_TEST(what_a_living_process_uses_stays_until_that_has_ended)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    waited_for = living_process();
    how_it_ends = 0;
    struct killed k = server_process(register_with_a_process);

    kill_server(&k);
    process_pause(200);
    ck_assert(is_there(in_dir("file")) && is_there(in_dir("tree")));
    kill(waited_for, SIGKILL);
    ck_assert_int_eq(waitpid(waited_for, NULL, 0), waited_for);
    ck_assert(is_gone_within(k.path, GONE_MS));
    ck_assert(!is_any_there());
    ck_assert(are_all_gone(END_MS));
}
END_TEST

START_TEST(what_ends_with_the_server_is_ended)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    waited_for = living_process();
    setpgid(waited_for, waited_for);
    how_it_ends = PX_JOURNAL_END;
    struct killed k = server_process(register_with_a_process);

    kill_server(&k);
    ck_assert_int_eq(process_wait(waited_for, GONE_MS), 128 + SIGKILL);
    ck_assert(is_gone_within(k.path, GONE_MS));
    ck_assert(!is_any_there());
    ck_assert(are_all_gone(END_MS));
}
END_TEST

START_TEST(what_is_left_at_an_orderly_end_is_removed_when_its_time_has_come)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    waited_for = living_process();
    how_it_ends = 0;
    struct srv s = srv_of(contract.self, "left01");
    const uint64_t begin_ms = px_clock_ms();

    register_with_a_process(&s);
    pcleanup_ops()->finish(contract.self, true);
    ck_assert_uint_lt(px_clock_ms() - begin_ms, GONE_MS);
    close(s.dir);
    close(s.journal);
    process_pause(200);
    ck_assert(is_there(in_dir("file")));
    kill(waited_for, SIGKILL);
    ck_assert_int_eq(waitpid(waited_for, NULL, 0), waited_for);
    ck_assert(is_gone_within(s.path, GONE_MS));
    ck_assert(!is_any_there());
    ck_assert(are_all_gone(END_MS));
}
END_TEST

/* ---- the janitor itself --------------------------------------------------------- */

/* It has its name soon after it was made. */
static pid_t find_janitor(void)
{
    const uint64_t deadline_ms = px_clock_ms() + LATE_MS;
    pid_t pid;

    while (!(pid = find_process("tenon-janitor")) && px_clock_ms() < deadline_ms)
        process_pause(1);
    ck_assert_int_gt(pid, 0);
    return pid;
}

static pid_t kill_janitor(void)
{
    pid_t pid = find_janitor();

    kill(pid, SIGKILL);
    return pid;
}

static bool has_another(void *first)
{
    pid_t pid = find_process("tenon-janitor");

    return pid && pid != *(pid_t *)first;
}

START_TEST(a_janitor_that_is_killed_is_replaced_and_no_user_is_bothered)
{
    NEEDS_JANITOR;
    adopt_orphans();
    struct srv s = srv_begin();

    for (int i = 0; i < 4; i++) {
        pid_t killed = kill_janitor();

        ck_assert(fake_host_run(&contract.host, LATE_MS, has_another, &killed));
    }
    ck_assert_str_eq(contract.host.last_log, "");
    srv_end(&s);
    ck_assert(are_all_gone(END_MS));
}
END_TEST

/* As Slurm's proctrack/linuxproc does at the end of a step. */
static int kill_for_a_while(void *arg)
{
    const uint64_t end_ms = px_clock_ms() + *(const uint64_t *)arg;

    while (px_clock_ms() < end_ms)
        kill_all_below(getppid());
    return 0;
}

START_TEST(a_host_that_kills_all_below_it_ends_no_clean_up)
{
    struct answer a[12] = {{0}};
    uint64_t storm_ms = 1500;
    struct srv s = srv_begin();

    srv_item(&s, SCOPE, make_tree("tree", 20000), PX_RM_DIR, PX_RM_RECURSE);
    srv_item(&s, SCOPE + 1, make_file("file"), PX_RM_FILE, 0);
    pid_t killer = process_fork(kill_for_a_while, &storm_ms);
    for (size_t i = 0; i < PX_COUNT(a); i++)
        ok(pcleanup_ops()->run(s.self, SCOPE + i % 2, on_done, &a[i]));
    for (size_t i = 0; i < PX_COUNT(a); i++) {
        answer_wait(&a[i]);
        ok(a[i].status);
        ck_assert_uint_eq(a[i].totals.failed, 0);
    }
    ck_assert(!is_there(in_dir("tree")) && !is_there(in_dir("file")));
    ck_assert_str_eq(contract.host.last_log, "");
    ck_assert_int_eq(process_wait(killer, LATE_MS), 0);
    srv_end(&s);
}
END_TEST

START_TEST(only_what_is_left_to_the_next_server_is_worth_a_line)
{
    NEEDS_JANITOR;
    waited_for = living_process();
    struct srv s = srv_begin();

    srv_proc(&s, SCOPE, waited_for, 0);
    kill(find_janitor(), SIGSTOP);
    pcleanup_ops()->finish(contract.self, true);
    ck_assert_msg(strstr(contract.host.last_log, "next server"), "%s",
                  contract.host.last_log);
    ck_assert(is_there(s.path));
    srv_end(&s);
    kill(waited_for, SIGKILL);
    ck_assert_int_eq(waitpid(waited_for, NULL, 0), waited_for);
}
END_TEST

START_TEST(a_janitor_that_is_stopped_delays_no_end)
{
    NEEDS_JANITOR;
    adopt_orphans();
    struct answer a = {0};
    struct srv s = srv_begin();
    const uint64_t begin_ms = px_clock_ms();

    kill(find_janitor(), SIGSTOP);
    for (int i = 0; i < 1000; i++) { /* more than a socket holds */
        ok(pcleanup_ops()->run(s.self, SCOPE, on_done, &a));
        ok(pcleanup_ops()->journal(s.self, s.dir, s.journal));
    }
    srv_end(&s);
    ck_assert_uint_lt(px_clock_ms() - begin_ms, END_MS);
    ck_assert(are_all_gone(END_MS));
}
END_TEST

size_t pcleanup_kill_tests(const TTest **tests)
{
    const TTest *const own[] = {
        what_a_killed_server_leaves_is_gone_at_the_latest_after_the_next_start,
        a_killed_server_leaves_nothing_for_a_second,
        a_server_killed_before_it_has_made_anything_leaves_nothing,
        a_server_killed_before_it_has_told_of_its_folder_leaves_nothing,
        last_words_are_heard,
        a_server_killed_during_runs_leaves_nothing,
        a_forked_copy_of_a_killed_server_delays_nothing,
        a_server_whose_process_becomes_another_program_leaves_nothing,
        what_a_living_process_uses_stays_until_that_has_ended,
        what_ends_with_the_server_is_ended,
        what_is_left_at_an_orderly_end_is_removed_when_its_time_has_come,
        a_janitor_that_is_killed_is_replaced_and_no_user_is_bothered,
        a_host_that_kills_all_below_it_ends_no_clean_up,
        only_what_is_left_to_the_next_server_is_worth_a_line,
        a_janitor_that_is_stopped_delays_no_end,
    };

    memcpy(tests, own, sizeof(own));
    return PX_COUNT(own);
}
