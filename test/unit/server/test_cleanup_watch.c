/* SPDX-License-Identifier: BSD-3-Clause */
/* When registered clean-up is due: at the death of processes, whatever their connections do. Clients
 * here come by TCP, so that their processes have to be found first. What follows is in
 * test_cleanup_run.c. */
#include "cleaner.h"
#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"
#include "seccomp.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static void setup(void)
{
    cleaner_setup();
    cleaner_server(&host_module, 4);
}

static void deregister(pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, "job", rank);
    PMIx_server_deregister_client(&p, NULL, NULL);
}

/* ---- own scopes ------------------------------------------------------------------------------- */

START_TEST(it_runs_when_the_process_has_exited)
{
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    uint64_t id = cleaner_scope_id("job", 0);
    ck_assert_uint_ne(id, 0);
    cleaner_runs_nothing(0);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    ck_assert_uint_eq(cleaner_ran[0], id);
    ck_assert_uint_eq(cleaner_n_entries(), 0);
    ck_assert_str_eq(cleaner_journal(), "");
    cleaner_stop();
}
END_TEST

START_TEST(it_runs_when_the_process_was_killed)
{
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_ends(&c, SIGKILL);
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(who_dies_with_the_answer_in_his_hands_is_known)
{
    for (size_t i = 1; i <= 20; i++) {
        struct cleaner_client c = cleaner_client("job", 0);

        ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
        cleaner_client_ends(&c, SIGKILL);
        cleaner_await(i);
    }
    cleaner_stop();
}
END_TEST

static void forget_inodes(void *arg PX_UNUSED)
{
    PX_LIST_EACH (&px_process.server->peers, struct px_peer, p, link)
        ((struct px_cleanup_proc *)p->cleanup)->search.inode = 1; /* nobody's */
}

START_TEST(who_is_not_found_is_answered_all_the_same)
{
    struct cleaner_client c = cleaner_client("job", 0);

    raw_on_loop(forget_inodes, NULL);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/b"), PMIX_SUCCESS);
    ck_assert_uint_eq(cleaner_n_entries(), 2);
    cleaner_await_pids(0);
    cleaner_client_ends(&c, 0);
    cleaner_runs_nothing(0); /* perhaps it lives */
    deregister(0);
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(a_server_that_ends_answers_who_waits_to_be_known)
{
    px_writer w = cleaner_request(&me, (const char *const[]){FILES, "/t/a", NULL});
    int fd = raw_client(0);

    raw_on_loop(forget_inodes, NULL);
    raw_send(fd, PX_TAG_DYNAMIC + 7, &w);
    cleaner_stop();
    close(fd);
}
END_TEST

START_TEST(to_finalize_is_not_to_end)
{
    struct cleaner_client c = cleaner_client("job", 0);
    char pid[32];

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    snprintf(pid, sizeof pid, "%ld", (long)c.pid);
    ck_assert_str_eq(cleaner_journal_pids(), pid);
    cleaner_client_finalizes(&c);
    cleaner_client_disconnects(&c);
    raw_await_gone(0);
    cleaner_runs_nothing(0);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(a_lost_connection_is_not_the_end_either)
{
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_disconnects(&c);
    raw_await_gone(0);
    /* Nor is what the host says, as long as the process is there. */
    deregister(0);
    cleaner_runs_nothing(0);
    cleaner_client_ends(&c, SIGKILL);
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(one_scope_does_not_wait_for_other_ranks)
{
    struct cleaner_client c = cleaner_client("job", 0), d = cleaner_client("job", 1);

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(CLIENT_ASKS(&c, &other, FILES, "/t/b"), PMIX_SUCCESS);
    uint64_t own = cleaner_scope_id("job", 0), others = cleaner_scope_id("job", 1);
    cleaner_await_pids(2);
    cleaner_client_ends(&d, 0);
    cleaner_await(1);
    ck_assert_uint_eq(cleaner_ran[0], others);
    cleaner_client_ends(&c, 0);
    cleaner_await(2);
    ck_assert_uint_eq(cleaner_ran[1], own);
    cleaner_stop();
}
END_TEST

START_TEST(all_processes_of_a_rank_must_have_ended)
{
    struct cleaner_client c = cleaner_client("job", 0),
                          child = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(2);
    cleaner_client_ends(&c, 0);
    cleaner_runs_nothing(0);
    cleaner_client_ends(&child, 0);
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(a_rank_that_connects_again_is_alive_again)
{
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    c = cleaner_client("job", 0);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_runs_nothing(1);
    cleaner_client_ends(&c, 0);
    cleaner_await(2);
    ck_assert_uint_ne(cleaner_ran[0], cleaner_ran[1]);
    cleaner_stop();
}
END_TEST

START_TEST(who_ends_before_he_is_found_is_waited_for_until_the_host_tells)
{
    struct cleaner_client c = cleaner_client("job", 0);

    /* Nothing waits for it yet, so nobody looks for it. */
    cleaner_client_finalizes(&c);
    cleaner_client_disconnects(&c);
    raw_await_gone(0);
    struct cleaner_client d = cleaner_client("job", 1);
    ck_assert_int_eq(CLIENT_ASKS(&d, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_client_ends(&c, 0);
    cleaner_runs_nothing(0);
    deregister(0);
    cleaner_await(1);
    cleaner_client_ends(&d, 0);
    cleaner_stop();
}
END_TEST

START_TEST(who_has_never_come_ends_when_the_host_says_so)
{
    struct cleaner_client d = cleaner_client("job", 1);

    ck_assert_int_eq(CLIENT_ASKS(&d, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_runs_nothing(0);
    deregister(0);
    cleaner_await(1);
    cleaner_client_ends(&d, 0);
    cleaner_stop();
}
END_TEST

static unsigned n_pidfds(void)
{
    char path[64], text[64];
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t len = readlink(path, text, sizeof text - 1);

        text[len > 0 ? len : 0] = '\0';
        n += strstr(text, "pidfd") != NULL;
    }
    return n;
}

START_TEST(a_rank_with_children_without_end_takes_few_descriptors)
{
    static struct cleaner_client c[70];
    unsigned before = n_pidfds();

    c[0] = cleaner_client("job", 0);
    ck_assert_int_eq(CLIENT_ASKS(&c[0], &me, FILES, "/t/a"), PMIX_SUCCESS);
    for (size_t i = 1; i < PX_COUNT(c); i++) {
        c[i] = cleaner_client("job", 0);
        cleaner_await_pids(i < 64 ? i + 1 : 64);
        if (i > 10)
            cleaner_client_disconnects(&c[i]);
    }
    ck_assert_uint_le(n_pidfds() - before, 16);
    for (size_t i = 0; i < PX_COUNT(c); i++) {
        if (i == 63)
            cleaner_runs_nothing(0);
        cleaner_client_ends(&c[i], 0);
    }
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

/* ---- the job's -------------------------------------------------------------------------------- */

START_TEST(the_job_s_waits_for_the_last_local_client)
{
    struct cleaner_client c[4];

    for (pmix_rank_t r = 0; r < 4; r++) {
        c[r] = cleaner_client("job", r);
        ck_assert_int_eq(CLIENT_ASKS(&c[r], r % 2 ? NULL : &job, FILES, "/t/a"),
                         PMIX_SUCCESS);
    }
    ck_assert_uint_eq(cleaner_n_entries(), 1);
    cleaner_await_pids(4);
    for (pmix_rank_t r = 0; r < 4; r++) {
        cleaner_runs_nothing(0);
        cleaner_client_ends(&c[r], r == 2 ? SIGKILL : 0);
    }
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(clients_that_have_not_come_yet_hold_the_job_s)
{
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    cleaner_runs_nothing(0);
    for (pmix_rank_t r = 1; r < 4; r++) {
        ck_assert_uint_eq(cleaner_n_ran(), 0);
        deregister(r);
    }
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(clients_that_were_not_registered_yet_hold_it_too)
{
    pmix_proc_t p = {.nspace = "late"};
    struct cleaner_client c;

    ck_assert_int_eq(PMIx_server_register_nspace(p.nspace, 2, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    for (p.rank = 0; p.rank < 2; p.rank++) {
        cleaner_runs_nothing(0);
        ck_assert_int_eq(
            PMIx_server_register_client(&p, geteuid(), getegid(), NULL, NULL, NULL),
            PMIX_SUCCESS);
        c = cleaner_client("late", p.rank);
        ck_assert_int_eq(CLIENT_ASKS(&c, NULL, FILES, "/t/a"), PMIX_SUCCESS);
        cleaner_client_ends(&c, 0);
    }
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

START_TEST(the_end_of_the_namespace_is_that_of_all_who_are_not_known_to_live)
{
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/b"), PMIX_SUCCESS);
    cleaner_await_pids(2);
    PMIx_server_deregister_nspace(job.nspace, NULL, NULL);
    cleaner_runs_nothing(0);
    /* A job of the same name is another one. */
    raw_add_job("job", 1, 0, geteuid());
    struct cleaner_client d = cleaner_client("job", 0);
    ck_assert_int_eq(CLIENT_ASKS(&d, &me, FILES, "/t/b"), PMIX_SUCCESS);
    ck_assert_uint_eq(cleaner_n_entries(), 3);
    cleaner_client_ends(&c, 0);
    cleaner_await(2);
    cleaner_runs_nothing(2);
    cleaner_client_ends(&d, 0);
    cleaner_await(3);
    cleaner_stop();
}
END_TEST

START_TEST(namespaces_of_one_user_end_apart)
{
    pmix_proc_t target = {.nspace = "second", .rank = WILD};

    raw_add_job("second", 1, 0, geteuid());
    struct cleaner_client c = cleaner_client("job", 0), d = cleaner_client("second", 0);
    ck_assert_int_eq(CLIENT_ASKS(&c, &target, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(CLIENT_ASKS(&c, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    uint64_t id = cleaner_scope_id("second", WILD);
    cleaner_await_pids(2);
    cleaner_client_ends(&d, 0);
    cleaner_await(1);
    ck_assert_uint_eq(cleaner_ran[0], id);
    cleaner_client_ends(&c, 0);
    cleaner_stop();
}
END_TEST

/* ---- tools -------------------------------------------------------------------------------------- */

START_TEST(a_tool_is_a_process_like_any_other)
{
    pmix_proc_t own = {.nspace = "tool", .rank = 0};

    cleaner_stop();
    cleaner_server(NULL, 1);
    struct cleaner_client c = cleaner_client("job", 0), tool = cleaner_tool("tool");
    ck_assert_int_eq(CLIENT_ASKS(&tool, &own, FILES, "/t/own"), PMIX_SUCCESS);
    ck_assert_int_eq(CLIENT_ASKS(&tool, NULL, FILES, "/t/job"), PMIX_SUCCESS);
    ck_assert_int_eq(CLIENT_ASKS(&tool, &me, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("tool", 0), "/t/own file");
    ck_assert_str_eq(cleaner_scope("tool", WILD), "/t/job file");
    cleaner_await_pids(3); /* two scopes wait for it, one for the client */
    cleaner_runs_nothing(0);
    cleaner_client_ends(&tool, SIGKILL);
    cleaner_await(2);
    cleaner_runs_nothing(2);
    cleaner_client_ends(&c, 0);
    cleaner_await(3);
    cleaner_stop();
}
END_TEST

START_TEST(tools_of_one_user_share_what_one_may_have)
{
    enum { MOST = 4096 };
    static char list[MOST * 8];
    pmix_proc_t next = {.nspace = "next", .rank = 0};

    for (size_t i = 0, n = 0; i < MOST; i++)
        n += (size_t)sprintf(list + n, "%s/t/%zx", i ? "," : "", i);
    cleaner_stop();
    cleaner_server(NULL, 1);
    struct cleaner_client tool = cleaner_tool("tool");
    ck_assert_int_eq(CLIENT_ASKS(&tool, &job, FILES, list), PMIX_SUCCESS);
    cleaner_client_ends(&tool, 0);
    tool = cleaner_tool("next");
    ck_assert_int_eq(CLIENT_ASKS(&tool, &next, FILES, "/t/one-more"),
                     PMIX_ERR_OUT_OF_RESOURCE);
    cleaner_client_ends(&tool, 0);
    cleaner_stop();
    ck_assert_uint_ne(cleaner_ran[0], 0);
}
END_TEST

/* ---- other ways ---------------------------------------------------------------------------------- */

START_TEST(without_pidfds_it_is_noticed_a_little_later)
{
    struct cleaner_client c;

    cleaner_stop();
    PX_TEST_NEEDS(px_test_deny(SYS_pidfd_open, ENOSYS), "seccomp");
    cleaner_server(&host_module, 1);
    c = cleaner_client("job", 0);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_disconnects(&c);
    cleaner_runs_nothing(0);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    cleaner_stop();
}
END_TEST

static void tell_started(void *arg)
{
    px_cleanup_proc_started(px_process.server, &me, *(pid_t *)arg);
}

static void tell_ended(void *arg PX_UNUSED)
{
    PX_PARTS_NOTIFY(px_process.server, proc_ended, &me);
}

START_TEST(who_was_started_here_is_in_the_journal_without_having_asked)
{
    struct cleaner_client c = cleaner_client("job", 0);

    raw_on_loop(tell_started, &c.pid);
    cleaner_await_pids(1);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    pid_t pid = c.pid;
    cleaner_client_ends(&c, 0);
    ck_assert_int_ne(pid, 0);
    raw_on_loop(tell_ended, NULL);
    cleaner_await(1);
    cleaner_await_pids(1); /* of the group that it has led */
    cleaner_stop();
}
END_TEST

PX_TEST_MAIN_WITH("server/cleanup_watch", setup, cleaner_teardown,
                  it_runs_when_the_process_has_exited,
                  it_runs_when_the_process_was_killed,
                  who_dies_with_the_answer_in_his_hands_is_known,
                  who_is_not_found_is_answered_all_the_same,
                  a_server_that_ends_answers_who_waits_to_be_known,
                  to_finalize_is_not_to_end, a_lost_connection_is_not_the_end_either,
                  one_scope_does_not_wait_for_other_ranks,
                  all_processes_of_a_rank_must_have_ended,
                  a_rank_that_connects_again_is_alive_again,
                  who_ends_before_he_is_found_is_waited_for_until_the_host_tells,
                  who_has_never_come_ends_when_the_host_says_so,
                  a_rank_with_children_without_end_takes_few_descriptors,
                  the_job_s_waits_for_the_last_local_client,
                  clients_that_have_not_come_yet_hold_the_job_s,
                  clients_that_were_not_registered_yet_hold_it_too,
                  the_end_of_the_namespace_is_that_of_all_who_are_not_known_to_live,
                  namespaces_of_one_user_end_apart, a_tool_is_a_process_like_any_other,
                  tools_of_one_user_share_what_one_may_have,
                  without_pidfds_it_is_noticed_a_little_later,
                  who_was_started_here_is_in_the_journal_without_having_asked)
