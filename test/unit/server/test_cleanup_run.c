/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of registered clean-up: the death of processes, whatever happens to their connections.
 * Clients connect by TCP, so that the server has to find their processes first. */
#include "cleaner.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/server/peer/peer.h"
#include "fake_host.h"
#include "px_test.h"
#include "seccomp.h"

#include <linux/capability.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SCRIPT_TEST(name, script) \
    PX_TEST(name)                 \
    {                             \
        PX_TEST_NEEDS_PROC;       \
        cleaner_play(script);     \
    }

/* ---- own scopes ------------------------------------------------------------------------------- */

SCRIPT_TEST(it_runs_when_the_process_has_exited, "a=0;a:0 f=/t/a;quiet;a!;ran 0;has ")

SCRIPT_TEST(it_runs_when_the_process_was_killed, "a=0;a:0 f=/t/a;pids 1;a!9;ran 0")

PX_TEST(a_client_that_dies_with_the_answer_is_known)
{
    PX_TEST_NEEDS_PROC;
    for (size_t i = 1; i <= 20; i++) {
        cleaner_play("a=0;a:0 f=/t/a;a!9");
        (void)cleaner_ran(i);
    }
}

SCRIPT_TEST(to_finalize_is_not_to_end,
            "a=0;a:0 f=/t/a;pids 1;a~;a-;gone 0;quiet;a!;ran 0")

/* A report of the host is not the end either, as long as the process exists. */
SCRIPT_TEST(a_lost_connection_is_not_the_end_either,
            "a=0;a:0 f=/t/a;pids 1;a-;gone 0;ended 0;quiet;a!9;ran 0")

SCRIPT_TEST(one_scope_does_not_wait_for_other_ranks,
            "a=0;b=1;a:0 f=/t/a;a:1 f=/t/b;pids 2;b!;ran 1;a!;ran 1 0")

SCRIPT_TEST(all_processes_of_a_rank_must_have_ended,
            "a=0;b=0;a:0 f=/t/a;pids 2;a!;quiet;b!;ran 0")

SCRIPT_TEST(a_rank_that_connects_again_is_alive_again,
            "a=0;a:0 f=/t/a;a!;ran 0;a=0;a:0 f=/t/a;quiet;a!;ran 0 0")

static void forget_inodes(void *arg PX_UNUSED)
{
    PX_LIST_EACH (&px_process.server->peers, struct px_peer, p, link)
        p->cleanup->inode = 1; /* not the inode of a socket */
}

/* The process may be alive, so the host has to report its end. */
PX_TEST(a_client_that_is_not_found_is_answered_all_the_same)
{
    PX_TEST_NEEDS_PROC;
    cleaner_play("a=0");
    raw_on_loop(forget_inodes, NULL);
    cleaner_play("a:0 f=/t/a;a:0 f=/t/b;has 0: /t/a file, /t/b file;pids 0;a!;quiet;"
                 "ended 0;ran 0");
}

/* No scope waited for rank 0 while it was connected, so the server did not watch the process. */
SCRIPT_TEST(a_client_that_ends_unseen_is_waited_for_until_the_host_reports_it,
            "a=0;a~;a-;gone 0;b=1;b:0 f=/t/a;a!;quiet;ended 0;ran 0;b!")

SCRIPT_TEST(a_client_that_never_came_ends_when_the_host_reports_it,
            "a=1;a:0 f=/t/a;quiet;ended 0;ran 0;a!")

/* ---- the job's -------------------------------------------------------------------------------- */

SCRIPT_TEST(the_job_s_waits_for_the_last_local_client,
            "a=0;a:job f=/t/a;b=1;b:- f=/t/a;c=2;c:job f=/t/a;d=3;d:- f=/t/a;"
            "has *: /t/a file;pids 4;a!;b!;c!9;quiet;d!;ran *")

SCRIPT_TEST(clients_that_have_not_come_yet_hold_the_job_s,
            "a=0;a:- f=/t/a;pids 1;a!;ended 1;ended 2;quiet;ended 3;ran *")

PX_TEST(clients_that_were_not_registered_yet_hold_it_too)
{
    pmix_proc_t p = {.nspace = "late"};

    PX_TEST_NEEDS_PROC;
    at_once(PMIx_server_register_nspace(p.nspace, 2, NULL, 0, NULL, NULL));
    for (p.rank = 0; p.rank < 2; p.rank++) {
        cleaner_play("quiet");
        at_once(
            PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL, NULL));
        cleaner_play(p.rank ? "a=late.1;a:- f=/t/a;a!" : "a=late.0;a:- f=/t/a;a!");
    }
    ck_assert_str_eq(cleaner_ran(1), "late.*");
}

/* A later job of the same name is another job. */
PX_TEST(the_end_of_the_namespace_is_that_of_all_that_are_not_known_to_live)
{
    PX_TEST_NEEDS_PROC;
    cleaner_play("a=0;a:- f=/t/a;a:0 f=/t/b;pids 2;ended *;quiet");
    raw_add_job("job", 1, 0, geteuid());
    cleaner_play("b=0;b:0 f=/t/b;has *: /t/a file | 0: /t/b file | 0: /t/b file;"
                 "a!;ran 0 *;quiet;b!;ran 0 * 0");
}

PX_TEST(namespaces_of_one_user_end_apart)
{
    PX_TEST_NEEDS_PROC;
    raw_add_job("mine", 1, 0, geteuid());
    cleaner_play("a=0;b=mine.0;a:mine.* f=/t/a;a:- f=/t/a;pids 2;b!;ran mine.*;a!");
}

/* ---- files to ignore ----------------------------------------------------------------------------- */

/* A file that one process ignores stays until the job of this process has ended. */
SCRIPT_TEST(an_ignore_lasts_as_long_as_its_job,
            "a=0;b=1;a:0 k=/t/d/x f=/t/a;b:job d=/t/d recurse;b:1 d=/t/e;a!;ran 0;"
            "has *: /t/d dir recurse, /t/d/x keep | 1: /t/e dir;b!;ran 0 1;"
            "ended 0;ended 1;ended 2;ended 3;ran 0 1 *;has ")

SCRIPT_TEST(the_job_s_scope_is_there_for_it,
            "a=0;b=1;a:0 k=/t/x,/t/y;b:0,1 k=/t/x;a!;b:1 d=/t;b!;ran 0 1;"
            "has *: /t/y keep, /t/x keep;ended *;ran 0 1 *")

/* The job's scope runs after the scopes of its ranks. */
SCRIPT_TEST(the_job_s_comes_last,
            "hold;a=0;b=1;a:0 f=/t/a;b:job k=/t/b;pids 3;ended *;a!;b!;ran 0;quiet;go;"
            "ran 0 *")

/* ---- tools ---------------------------------------------------------------------------------------- */

PX_TEST(a_tool_is_a_process_like_any_other)
{
    PX_TEST_NEEDS_PROC;
    cleaner_restart(NULL, 1);
    cleaner_play("a=0;t=tool.0;t:tool.0 f=/t/own;t:- f=/t/job;t:0 f=/t/a;"
                 "has 0: /t/a file | tool.0: /t/own file | tool.*: /t/job file;pids 3;"
                 "quiet;t!9;ran tool.0 tool.*;quiet;a!;ran tool.0 tool.* 0");
}

PX_TEST(tools_of_one_user_share_what_one_may_have)
{
    PX_AUTOFREE char *list = cleaner_numbered("t=tool.0;t:job f=", 0, 4096, 4);

    PX_TEST_NEEDS_PROC;
    cleaner_restart(NULL, 1);
    cleaner_play(list);
    ck_assert_uint_eq(px_process.server->part.cleanup->n_entries, 4096);
    cleaner_play("t!;t=tool2.0");
    ck_assert_int_eq(cleaner_client_asks('t', "tool2.0 f=/t/more"),
                     PMIX_ERR_OUT_OF_RESOURCE);
    cleaner_play("t!");
}

/* ---- other ways ------------------------------------------------------------------------------------ */

PX_TEST(without_pidfds_it_is_noticed_a_little_later)
{
    cleaner_stop();
    PX_TEST_NEEDS(px_test_deny(SYS_pidfd_open, ENOSYS), "seccomp");
    cleaner_setup();
    PX_TEST_NEEDS_PROC;
    cleaner_play("a=0;a:0 f=/t/a;pids 1;a-;quiet;a!;ran 0");
}

static unsigned n_pidfds(void)
{
    char path[64], text[64];
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ssize_t len = readlink(path, text, sizeof(text) - 1);

        text[len > 0 ? len : 0] = '\0';
        n += strstr(text, "pidfd") != NULL;
    }
    return n;
}

PX_TEST(a_rank_with_children_without_end_takes_few_descriptors)
{
    enum { MOST = 64, N = 70, FIRST = 0x80 };
    unsigned before = n_pidfds();
    char step[64];

    PX_TEST_NEEDS_PROC;
    for (int c = FIRST; c < FIRST + N; c++) {
        snprintf(step, sizeof(step), "%c=0", c);
        cleaner_play(step);
        if (c == FIRST)
            cleaner_play("\x80:0 f=/t/a");
        (void)cleaner_pids(c - FIRST < MOST ? (size_t)(c - FIRST + 1) : MOST);
        snprintf(step, sizeof(step), "%c-", c);
        if (c - FIRST > 10)
            cleaner_play(step);
    }
    ck_assert_uint_le(n_pidfds() - before, 16);
    for (int c = FIRST; c < FIRST + N; c++) {
        if (c == FIRST + MOST - 1)
            cleaner_runs_nothing(0);
        snprintf(step, sizeof(step), "%c!", c);
        cleaner_play(step);
    }
    (void)cleaner_ran(1);
}

/* ---- runs ---------------------------------------------------------------------------------------- */

/* A request during a run counts for the next run, even if the request contradicts the present run. */
SCRIPT_TEST(what_comes_while_it_runs_is_for_the_next_run,
            "hold;a=0;a:0 f=/t/a;pids 1;a!;ran 0;a=0;a:0 k=/t/a;"
            "has 0: /t/a file | 0: /t/a keep;go;has 0: /t/a keep;pids 1;a!;ran 0 0")

static void own_to(uid_t uid)
{
    /* Changes the user of this thread only; a child process inherits the user. */
    ck_assert_int_eq(syscall(SYS_setresuid, -1, uid, -1), 0);
}

PX_TEST(one_user_does_not_have_all_that_runs)
{
    enum { FIRST_UID = 12345, SECOND_UID = 12346, N = 4 };
    char script[64];

    PX_TEST_NEEDS_ROOT;
    /* To read /proc files of other users. */
    PX_TEST_NEEDS(px_test_may(CAP_SYS_PTRACE), "CAP_SYS_PTRACE");
    PX_TEST_NEEDS_PROC;
    raw_add_job("first", N, 0, FIRST_UID);
    raw_add_job("second", 1, 0, SECOND_UID);
    cleaner_holds = true;
    own_to(FIRST_UID);
    for (int i = 0; i < N; i++) {
        snprintf(script, sizeof(script), "a=first.%d;a:first.%d f=/t/a;a!", i, i);
        cleaner_play(script);
    }
    own_to(0);
    (void)cleaner_ran(2);
    own_to(SECOND_UID);
    cleaner_play("a=second.0;a:second.0 f=/t/a;a!");
    own_to(0);
    ck_assert_str_eq(cleaner_ran(3), "first.0 first.1 second.0");
    cleaner_runs_nothing(3); /* two runs of the first user have to wait */
    cleaner_let_go();
    (void)cleaner_ran(N + 1);
}

PX_TEST(what_the_component_cannot_do_stays_in_the_journal)
{
    PX_TEST_NEEDS_PROC;
    cleaner_refuses = PMIX_ERR_NOT_AVAILABLE;
    cleaner_play("a=0;a:0 f=/t/a;pids 1;a!;b=1;b!;quiet;has 0: /t/a file");
    cleaner_refuses = PMIX_SUCCESS;
    cleaner_status = PMIX_ERR_NOMEM;
    cleaner_play("a=0;a:0 f=/t/b;pids 2;a!;ran 0;has 0: /t/a file | 0: /t/b file");
}

/* Returns a total by a query, which the server answers alone. */
static uint64_t total(const char *name)
{
    char *keys[] = {(char *)"tenon.cleanup", NULL};
    PX_AUTOFREE char *key = px_strf("%s.%s", keys[0], name);
    pmix_query_t q = {.keys = keys};
    pmix_info_t *got = NULL;
    size_t n = 0;
    uint64_t value;

    ok(PMIx_Query_info(&q, 1, &got, &n));
    ck_assert_uint_eq(host_calls("query"), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(got[0].key, keys[0]);
    ck_assert_uint_eq(got[0].value.type, PMIX_DATA_ARRAY);
    const pmix_data_array_t *a = got[0].value.data.darray;
    ck_assert_uint_eq(a->type, PMIX_INFO);
    const pmix_info_t *info = px_info_find(a->array, a->size, key);
    ck_assert_ptr_nonnull(info);
    ck_assert(px_value_to_u64(&info->value, &value));
    PMIx_Info_free(got, n);
    return value;
}

PX_TEST(totals_add_up)
{
    PX_TEST_NEEDS_PROC;
    cleaner_play("a=0;a:0 f=/t/a,/t/b;a:- f=/t/a;hold;pids 2");
    ck_assert_uint_eq(total("registered"), 3);
    ck_assert_uint_eq(total("scopes"), 2);
    cleaner_play("a!;ran 0");
    ck_assert_uint_eq(total("scopes"), 2); /* one run is under way */
    ck_assert_uint_eq(total("files"), 0);
    cleaner_play("go;a=0;a:0 f=/t/a;pids 2;a!;ran 0 0");
    ck_assert_uint_eq(total("scopes"), 1);
    ck_assert_uint_eq(total("files"), 6);
    ck_assert_uint_eq(total("dirs"), 4);
    ck_assert_uint_eq(total("failed"), 10);
    ck_assert_uint_eq(total("reclaimed.files"), 0);
}

PX_TEST(a_journal_that_is_written_anew_has_what_is_still_to_do)
{
    PX_AUTOFREE char *lasting = cleaner_numbered("b=1;b:1 k=/t/k f=", 0, 300, 100),
                     *passing = cleaner_numbered("a=0;a:0 f=", 0, 300, 100);
    static char was[1 << 16], pids[64];
    off_t was_b = 0;

    PX_TEST_NEEDS_PROC;
    cleaner_play(lasting);
    ck_assert(px_str_copy(was, sizeof(was), cleaner_registry()));
    ck_assert(px_str_copy(pids, sizeof(pids), cleaner_pids(1)));
    for (size_t i = 1; cleaner_journal_b() >= was_b; i++) {
        ck_assert_uint_lt(i, 100);
        was_b = cleaner_journal_b();
        cleaner_play(passing);
        cleaner_play("a!");
        (void)cleaner_ran(i);
    }
    ck_assert_str_eq(cleaner_registry(), was);
    ck_assert_str_eq(cleaner_pids(1), pids);
    cleaner_play("b!");
}

/* Reports a peer as here, and then as gone. */
static void come_and_go(void *arg)
{
    struct px_peer peer = {.server = px_process.server, .pid = *(const pid_t *)arg};

    px_proc_set(&peer.proc, "job", 1);
    PX_PARTS_NOTIFY(px_process.server, peer_here, &peer);
    PX_PARTS_NOTIFY(px_process.server, peer_gone, &peer);
}

PX_TEST(processes_that_come_and_go_do_not_fill_the_journal)
{
    enum { N = 1500, RECORD_B = 64 };

    PX_TEST_NEEDS_PROC;
    cleaner_play("a=0;a:job f=/t/a");
    for (int i = 0; i < N; i++) {
        pid_t pid = fork();

        if (pid == 0)
            for (;;)
                pause();
        raw_on_loop(come_and_go, &pid);
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    }
    ck_assert_int_lt(cleaner_journal_b(), N * RECORD_B * 3 / 4);
    cleaner_play("has *: /t/a file;a!");
}

/* ---- the server's end ------------------------------------------------------------------------------ */

PX_TEST(at_its_end_the_server_runs_what_nothing_alive_waits_for)
{
    PX_TEST_NEEDS_PROC;
    cleaner_play("a=0;b=1;a:0 f=/t/a;b:2 f=/t/b;pids 1");
    cleaner_stop(); /* also removes the journal that the server leaves behind */
    ck_assert_str_eq(cleaner_ran(1), "2");
    cleaner_play("a!9;b!9");
}

PX_TEST(it_waits_for_that_no_longer_than_its_timeout)
{
    uint64_t begin;

    PX_TEST_NEEDS_PROC;
    cleaner_stop();
    setenv("PMIX_MCA_server_cleanup_timeout", "200ms", 1);
    cleaner_setup();
    cleaner_play("a=0;hold;a:0 f=/t/a;pids 1;a!;ran 0");
    begin = px_clock_ms();
    cleaner_stop();
    ck_assert_uint_ge(px_clock_ms() - begin, 200);
    ck_assert_uint_lt(px_clock_ms() - begin, 5000);
}

PX_TEST_MAIN("server/cleanup_run", cleaner_setup, cleaner_teardown)
