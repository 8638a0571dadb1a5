/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of registered clean-up that is due: runs, the journal, totals, and the server's end. */
#include "cleaner.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void setup(void)
{
    cleaner_setup();
    cleaner_server(&host_module, 4);
}

/* ---- what follows ------------------------------------------------------------------------------ */

START_TEST(what_comes_while_it_runs_is_for_the_next_run)
{
    struct cleaner_client c = cleaner_client("job", 0);

    cleaner_holds = true;
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    c = cleaner_client("job", 0);
    /* Even the opposite: that run is over for this process. */
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, KEEP, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_journal(), "/t/a file; /t/a keep");
    cleaner_let_go();
    ck_assert_str_eq(cleaner_journal(), "/t/a keep");
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    cleaner_await(2);
    cleaner_stop();
}
END_TEST

/* A process of that user. */
static struct cleaner_client client_as(uid_t uid, const char *nspace, pmix_rank_t rank)
{
    struct cleaner_client c;

    /* Of this thread, which is the child's. */
    ck_assert_int_eq(syscall(SYS_setresuid, -1, uid, -1), 0);
    c = cleaner_client(nspace, rank);
    ck_assert_int_eq(syscall(SYS_setresuid, -1, 0, -1), 0);
    return c;
}

START_TEST(one_user_does_not_have_all_that_runs)
{
    enum { HER = 12345, HIM = 12346, N = 4 };
    pmix_proc_t her = {.nspace = "hers"}, him = {.nspace = "his"};
    struct cleaner_client c;
    uint64_t his;

    PX_TEST_NEEDS(geteuid() == 0, "root");
    raw_add_job(her.nspace, N, 0, HER);
    raw_add_job(him.nspace, 1, 0, HIM);
    cleaner_holds = true;
    for (; her.rank < N; her.rank++) {
        c = client_as(HER, her.nspace, her.rank);
        ck_assert_int_eq(CLIENT_ASKS(&c, &her, FILES, "/t/a"), PMIX_SUCCESS);
        cleaner_client_ends(&c, 0);
    }
    cleaner_await(2);
    c = client_as(HIM, him.nspace, 0);
    ck_assert_int_eq(CLIENT_ASKS(&c, &him, FILES, "/t/a"), PMIX_SUCCESS);
    his = cleaner_scope_id(him.nspace, 0);
    cleaner_client_ends(&c, 0);
    cleaner_await(3);
    ck_assert_uint_eq(cleaner_ran[2], his);
    cleaner_runs_nothing(3); /* two of hers have to wait */
    ck_assert_uint_eq(cleaner_n_entries(), N + 1);
    cleaner_holds = false;
    cleaner_let_go();
    cleaner_await(N + 1);
    cleaner_stop();
}
END_TEST

START_TEST(what_the_component_cannot_do_stays_in_the_journal)
{
    struct cleaner_client c = cleaner_client("job", 0);

    cleaner_refuses = PMIX_ERR_NOT_AVAILABLE;
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    c = cleaner_client("job", 1);
    cleaner_client_ends(&c, 0); /* by now it was tried */
    cleaner_runs_nothing(0);
    ck_assert_str_eq(cleaner_journal(), "/t/a file");
    cleaner_refuses = PMIX_SUCCESS;
    cleaner_status = PMIX_ERR_NOMEM;
    c = cleaner_client("job", 0);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/b"), PMIX_SUCCESS);
    cleaner_await_pids(2);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    raw_on_loop(NULL, NULL);
    ck_assert_str_eq(cleaner_journal(), "/t/a file; /t/b file");
    cleaner_stop();
}
END_TEST

static void totals_are(uint64_t files, uint64_t dirs, uint64_t failed, uint64_t scopes)
{
    char *keys[] = {(char *)"tenon.cleanup", NULL};
    pmix_query_t q = {.keys = keys};
    pmix_info_t *got = NULL;
    size_t n = 0;
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {{"tenon.cleanup.files", files},
                {"tenon.cleanup.dirs", dirs},
                {"tenon.cleanup.failed", failed},
                {"tenon.cleanup.scopes", scopes}};

    ck_assert_int_eq(PMIx_Query_info(&q, 1, &got, &n), PMIX_SUCCESS);
    const pmix_data_array_t *a = got[0].value.data.darray;
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_info_t *info = px_info_find(a->array, a->size, rows[i].key);
        uint64_t value;

        ck_assert_ptr_nonnull(info);
        ck_assert(px_value_to_u64(&info->value, &value));
        ck_assert_msg(value == rows[i].value, "%s: %llu", rows[i].key,
                      (unsigned long long)value);
    }
    PMIx_Info_free(got, n);
}

START_TEST(totals_add_up)
{
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    totals_are(0, 0, 0, 1);
    cleaner_holds = true;
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    totals_are(0, 0, 0, 1); /* under way */
    cleaner_let_go();
    totals_are(3, 2, 5, 0);
    c = cleaner_client("job", 0);
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    cleaner_await(2);
    totals_are(6, 4, 10, 0);
    cleaner_stop();
}
END_TEST

static off_t journal_b(void)
{
    char path[4096];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", px_process.server->dir, PX_JOURNAL_NAME);
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_size;
}

START_TEST(a_journal_that_is_written_anew_has_what_is_still_to_do)
{
    enum { N = 300 };
    static char list[N * 128], lasting[1 << 16], pids[64];
    struct cleaner_client c = cleaner_client("job", 1), d;
    off_t was = 0;

    for (size_t i = 0, n = 0; i < N; i++)
        n += (size_t)sprintf(list + n, "%s/t/%0100zu", i ? "," : "", i);
    ck_assert_int_eq(CLIENT_ASKS(&c, &other, FILES, list, KEEP, "/t/k"), PMIX_SUCCESS);
    ck_assert(px_str_copy(lasting, sizeof lasting, cleaner_journal()));
    ck_assert(px_str_copy(pids, sizeof pids, cleaner_journal_pids()));
    for (size_t i = 1; journal_b() >= was; i++) {
        ck_assert_uint_lt(i, PX_COUNT(cleaner_ran));
        was = journal_b();
        d = cleaner_client("job", 0);
        ck_assert_int_eq(CLIENT_ASKS(&d, &me, FILES, list), PMIX_SUCCESS);
        cleaner_client_ends(&d, 0);
        cleaner_await(i);
    }
    ck_assert_str_eq(cleaner_journal(), lasting);
    ck_assert_str_eq(cleaner_journal_pids(), pids);
    cleaner_client_ends(&c, 0);
    cleaner_stop();
}
END_TEST

/* Comes, and is gone before the next. */
static void come_and_go(void *arg)
{
    struct px_peer peer = {.server = px_process.server, .pid = *(const pid_t *)arg};

    px_proc_set(&peer.proc, "job", 1);
    px_cleanup_peer_here(px_process.server, &peer);
    px_cleanup_peer_gone(px_process.server, &peer);
}

START_TEST(processes_that_come_and_go_do_not_fill_the_journal)
{
    enum { N = 1500, RECORD_B = 64 };
    struct cleaner_client c = cleaner_client("job", 0);

    ck_assert_int_eq(CLIENT_ASKS(&c, &job, FILES, "/t/a"), PMIX_SUCCESS);
    for (int i = 0; i < N; i++) {
        pid_t pid = fork();

        if (pid == 0)
            for (;;)
                pause();
        raw_on_loop(come_and_go, &pid);
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    }
    ck_assert_int_lt(journal_b(), N * RECORD_B * 3 / 4);
    ck_assert_str_eq(cleaner_journal(), "/t/a file");
    cleaner_client_ends(&c, 0);
    cleaner_stop();
}
END_TEST

/* ---- the server's end --------------------------------------------------------------------------- */

START_TEST(at_its_end_the_server_runs_what_nobody_alive_waits_for)
{
    struct cleaner_client c = cleaner_client("job", 0), d = cleaner_client("job", 1);
    pmix_proc_t third = {.nspace = "job", .rank = 2};

    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(CLIENT_ASKS(&d, &third, FILES, "/t/b"), PMIX_SUCCESS);
    uint64_t id = cleaner_scope_id("job", 2);
    cleaner_await_pids(1);
    cleaner_stop(); /* which finds the journal left behind, and removes it */
    ck_assert_uint_eq(cleaner_ran[0], id);
    ck_assert_uint_eq(cleaner_ran[1], 0);
    cleaner_client_ends(&c, SIGKILL);
    cleaner_client_ends(&d, SIGKILL);
}
END_TEST

START_TEST(it_waits_for_that_no_longer_than_it_was_told)
{
    struct cleaner_client c;
    uint64_t begin;

    cleaner_stop();
    setenv("PMIX_MCA_server_cleanup_timeout", "200ms", 1);
    cleaner_server(&host_module, 1);
    c = cleaner_client("job", 0);
    cleaner_holds = true;
    ck_assert_int_eq(CLIENT_ASKS(&c, &me, FILES, "/t/a"), PMIX_SUCCESS);
    cleaner_await_pids(1);
    cleaner_client_ends(&c, 0);
    cleaner_await(1);
    begin = px_clock_ms();
    cleaner_stop();
    ck_assert_uint_ge(px_clock_ms() - begin, 200);
    ck_assert_uint_lt(px_clock_ms() - begin, 5000);
}
END_TEST

PX_TEST_MAIN_WITH("server/cleanup_run", setup, cleaner_teardown,
                  what_comes_while_it_runs_is_for_the_next_run,
                  one_user_does_not_have_all_that_runs,
                  what_the_component_cannot_do_stays_in_the_journal,
                  a_journal_that_is_written_anew_has_what_is_still_to_do,
                  processes_that_come_and_go_do_not_fill_the_journal, totals_add_up,
                  at_its_end_the_server_runs_what_nobody_alive_waits_for,
                  it_waits_for_that_no_longer_than_it_was_told)
