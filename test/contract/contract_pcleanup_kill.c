/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pcleanup: cleanup after killed servers, at once by the janitor or
 * later by the user's next server; and the end of the janitor. */
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

/* An idle machine needs about one second. */
enum { GONE_MS = 3000, END_MS = 5000 };

#define NEEDS_JANITOR \
    PX_TEST_NEEDS(strcmp(contract.component->name, "janitor") == 0, "a janitor")

/* ---- a server in a process of its own ------------------------------------------- */

struct killed {
    pid_t pid;
    char path[PATH_MAX]; /* path of the server's folder */
};

static int ready[2];

static void report_ready(void)
{
    if (write(ready[1], "", 1) != 1)
        _exit(EXIT_FAILURE);
}

/* Runs begin in another process, which then reports and waits until it is killed. */
static struct killed server_process(void (*begin)(struct srv *s))
{
    struct killed k = {0};
    char byte;

    snprintf(k.path, sizeof(k.path), "%s/" PX_JOURNAL_DIR "killed", contract.dir);
    ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
    k.pid = fork();
    ck_assert_int_ge(k.pid, 0);
    if (k.pid == 0) {
        void *self;

        ok(contract.component->open(&contract.host.host, contract.conf, &self));
        struct srv s = srv_of(self, "killed");
        begin(&s);
        report_ready();
        fake_host_run(&contract.host, 2 * LATE_MS, NULL, NULL);
        _exit(EXIT_FAILURE);
    }
    close(ready[1]);
    ok(px_fd_read_all(ready[0], &byte, 1, px_clock_ms() + LATE_MS));
    close(ready[0]);
    return k;
}

static void kill_process(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(process_wait(pid, LATE_MS), 128 + SIGKILL);
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

static bool is_gone_within(const char *path, uint64_t ms)
{
    const uint64_t deadline_ms = px_clock_ms() + ms;

    while (is_there(path)) {
        if (px_clock_ms() >= deadline_ms)
            return false;
        process_pause(1);
    }
    return !is_there(in_dir("file")) && !is_there(in_dir("tree")) &&
           !is_there(in_dir("made"));
}

PX_TEST(what_a_killed_server_leaves_is_gone_at_the_latest_after_the_next_start)
{
    adopt_orphans();
    make_all();
    struct killed k = server_process(register_all);

    kill_process(k.pid);
    if (!is_gone_within(k.path, GONE_MS)) {
        struct answer a = {0};
        struct srv s = srv_of(contract.self, "next01");

        ok(pcleanup_ops()->reclaim(contract.self, contract.dir, on_done, &a));
        answer_wait(&a);
        srv_end(&s);
    }
    ck_assert(is_gone_within(k.path, 0));
    ck_assert(are_all_gone(END_MS));
}

static void begin_nothing(struct srv *s PX_UNUSED)
{
}

static void begin_and_run(struct srv *s)
{
    static struct answer a[10];

    register_all(s);
    for (size_t i = 0; i < PX_COUNT(a); i++)
        ok(pcleanup_ops()->run(s->self, SCOPE, on_done, &a[i]));
}

/* The forked copy holds all open descriptors of the server and outlives it. */
static void begin_with_a_copy(struct srv *s)
{
    register_all(s);
    if (fork() == 0) {
        process_pause(END_MS);
        _exit(EXIT_SUCCESS);
    }
}

/* The server may be dead before its janitor first checks it. */
static void be_killed_at_once(struct srv *s)
{
    register_all(s);
    report_ready();
    kill(getpid(), SIGKILL);
}

static void become_another_program(struct srv *s)
{
    register_all(s);
    report_ready();
    execl("/bin/sleep", "sleep", "20", (char *)NULL);
    abort();
}

PX_TEST(a_killed_server_leaves_nothing_for_a_second)
{
    static const struct {
        const char *when;
        void (*begin)(struct srv *s);
        bool registers, ends_itself;
        int n;
    } rows[] = {
        {"with a journal", register_all, true, false, 1},
        {"before it has made anything", begin_nothing, false, false, 1},
        {"before it has passed its folder on", srv_make_dir, false, false, 1},
        {"during runs", begin_and_run, true, false, 1},
        {"beside a forked copy", begin_with_a_copy, true, false, 1},
        {"right after its report", be_killed_at_once, true, true, 20},
        {"when its process is another program", become_another_program, true, true, 1},
    };

    NEEDS_JANITOR;
    adopt_orphans();
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        for (int n = 0; n < rows[i].n; n++) {
            if (rows[i].registers)
                make_all();
            struct killed k = server_process(rows[i].begin);

            if (!rows[i].ends_itself)
                kill_process(k.pid);
            ck_assert_msg(is_gone_within(k.path, GONE_MS), "%s", rows[i].when);
            if (rows[i].ends_itself)
                kill_process(k.pid);
            ck_assert_msg(are_all_gone(2 * END_MS), "%s", rows[i].when);
        }
}

/* ---- processes that live on ----------------------------------------------------- */

/* Forks a process that lives until it is killed. */
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

static void is_waited_for(const char *path)
{
    process_pause(200);
    ck_assert(is_there(in_dir("file")) && is_there(in_dir("tree")));
    kill_process(waited_for);
    ck_assert(is_gone_within(path, GONE_MS));
    ck_assert(are_all_gone(END_MS));
}

PX_TEST(what_ends_with_the_server_is_ended)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    waited_for = living_process();
    setpgid(waited_for, waited_for);
    how_it_ends = PX_JOURNAL_END;
    struct killed k = server_process(register_with_a_process);

    kill_process(k.pid);
    ck_assert_int_eq(process_wait(waited_for, GONE_MS), 128 + SIGKILL);
    ck_assert(is_gone_within(k.path, GONE_MS));
    ck_assert(are_all_gone(END_MS));
}

PX_TEST(what_is_left_at_an_orderly_end_is_removed_when_its_time_has_come)
{
    NEEDS_JANITOR;
    adopt_orphans();
    make_all();
    waited_for = living_process();
    struct srv s = srv_of(contract.self, "left01");
    const uint64_t begin_ms = px_clock_ms();

    register_with_a_process(&s);
    pcleanup_ops()->finish(contract.self, true);
    ck_assert_uint_lt(px_clock_ms() - begin_ms, GONE_MS);
    close(s.dir);
    close(s.journal);
    is_waited_for(s.path);
}

/* ---- the janitor itself --------------------------------------------------------- */

/* Finds the janitor, which sets its name soon after its start. */
static pid_t find_janitor(void)
{
    const uint64_t deadline_ms = px_clock_ms() + LATE_MS;
    pid_t pid;

    while (!(pid = find_process("tenon-janitor")) && px_clock_ms() < deadline_ms)
        process_pause(1);
    ck_assert_int_gt(pid, 0);
    return pid;
}

static bool has_another(void *first)
{
    pid_t pid = find_process("tenon-janitor");

    return pid && pid != *(pid_t *)first;
}

PX_TEST(a_janitor_that_is_killed_is_replaced_and_no_user_is_bothered)
{
    NEEDS_JANITOR;
    adopt_orphans();
    struct srv s = srv_begin();

    for (int i = 0; i < 4; i++) {
        pid_t killed = find_janitor();

        kill(killed, SIGKILL);
        ck_assert(fake_host_run(&contract.host, LATE_MS, has_another, &killed));
    }
    ck_assert_str_eq(contract.host.last_log, "");
    srv_end(&s);
    ck_assert(are_all_gone(END_MS));
}

/* Kills all processes below for a while, like Slurm's proctrack/linuxproc at the end of
 * a step. */
static int kill_for_a_while(void *arg)
{
    const uint64_t end_ms = px_clock_ms() + *(const uint64_t *)arg;

    while (px_clock_ms() < end_ms)
        kill_all_below(getppid());
    return 0;
}

PX_TEST(a_host_that_kills_all_below_it_ends_no_clean_up)
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

PX_TEST(only_what_is_left_to_the_next_server_is_worth_a_line)
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
    kill_process(waited_for);
}

PX_TEST(a_janitor_that_is_stopped_delays_no_end)
{
    NEEDS_JANITOR;
    adopt_orphans();
    struct answer a = {0};
    struct srv s = srv_begin();
    const uint64_t begin_ms = px_clock_ms();

    kill(find_janitor(), SIGSTOP);
    for (int i = 0; i < 1000; i++) { /* more than a socket buffers */
        ok(pcleanup_ops()->run(s.self, SCOPE, on_done, &a));
        ok(pcleanup_ops()->journal(s.self, s.dir, s.journal));
    }
    srv_end(&s);
    contract_close();
    ck_assert_uint_lt(px_clock_ms() - begin_ms, END_MS);
    ck_assert(are_all_gone(0));
}
