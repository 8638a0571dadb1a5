/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pcleanup: it disturbs its host as little as possible, and it ends. */
#include "contract_pcleanup.h"

#include "alloc_fail.h"
#include "core/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "px_test.h"

enum { N_FILES = 1000, END_MS = 5000 };

static pmix_status_t run(struct srv *s, uint64_t scope, struct answer *a)
{
    return pcleanup_ops()->run(s->self, scope, on_done, a);
}

/* Registers a folder whose removal takes a while. */
static const char *make_work(struct srv *s)
{
    const char *tree = make_tree("work", N_FILES);

    srv_item(s, SCOPE, tree, PX_RM_DIR, PX_RM_RECURSE);
    return tree;
}

/* ---- order of calls ------------------------------------------------------------- */

PX_TEST(nothing_can_be_run_before_there_is_a_journal)
{
    struct answer a = {0};
    struct srv s = {.self = contract.self};

    ck_assert_int_eq(run(&s, SCOPE, &a), PMIX_ERR_INIT);
    ck_assert_int_eq(pcleanup_ops()->reclaim(contract.self, contract.dir, on_done, &a),
                     PMIX_ERR_INIT);
    s = srv_of(contract.self, "first1");
    ck_assert_int_eq(run(&s, SCOPE, &a), PMIX_ERR_INIT);
    fake_host_run(&contract.host, 20, NULL, NULL);
    ck_assert_uint_eq(a.n, 0);
    srv_end(&s);
}

PX_TEST(one_server_at_a_time)
{
    struct srv s = srv_begin();

    ck_assert_int_eq(pcleanup_ops()->start(s.self, in_dir("pmix-server.x"), "node"),
                     PMIX_ERR_EXISTS);
    srv_item(&s, SCOPE, make_file("file"), PX_RM_FILE, 0);
    ck_assert_uint_eq(sweep(&s, SCOPE).totals.files, 1);
    srv_end(&s);
}

PX_TEST(a_path_that_is_too_long_is_refused)
{
    char path[PX_RM_MAX_PATH + 2];
    struct answer a = {0};

    memset(path, 'x', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    ck_assert_int_eq(pcleanup_ops()->start(contract.self, path, "node"),
                     PMIX_ERR_BAD_PARAM);
    struct srv s = srv_begin();
    ck_assert_int_eq(pcleanup_ops()->reclaim(s.self, path, on_done, &a),
                     PMIX_ERR_BAD_PARAM);
    srv_end(&s);
}

PX_TEST(ends_a_hundred_times_and_leaves_nothing)
{
    adopt_orphans();
    size_t n_fds = px_test_count_fds();

    for (int i = 0; i < 100; i++) {
        struct srv s = srv_begin();
        srv_end(&s);
        ck_assert(i == 99 || are_all_gone(END_MS));
    }
    contract_close();
    ck_assert(are_all_gone(0));
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

static void end_during(int n_runs, bool by_closing)
{
    struct answer a = {0};
    size_t n_fds = px_test_count_fds();
    adopt_orphans();
    struct srv s = srv_begin();
    make_work(&s);
    for (int i = 0; i < n_runs; i++)
        ok(run(&s, SCOPE, &a));
    fake_host_run(&contract.host, 3, NULL, NULL);
    const unsigned n_before = a.n;
    if (by_closing)
        contract_close();
    else
        pcleanup_ops()->finish(s.self, false);
    ck_assert_msg(are_all_gone(n_runs ? END_MS : 0), "a process is left");
    ck_assert_uint_eq(px_test_count_fds(), n_fds + 2); /* the server's own two */
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
    fake_host_run(&contract.host, 20, NULL, NULL);
    ck_assert_uint_eq(a.n, n_before);
}

PX_TEST(closing_ends_it_too)
{
    end_during(0, true);
}

PX_TEST(finishing_during_a_run_leaves_no_process_and_calls_nothing_back)
{
    end_during(8, false);
}

PX_TEST(closing_during_a_run_leaves_no_process_and_calls_nothing_back)
{
    end_during(8, true);
}

static struct srv *ending;

static void on_done_and_finish(void *arg, pmix_status_t status,
                               const struct px_pcleanup_totals *totals)
{
    on_done(arg, status, totals);
    pcleanup_ops()->finish(ending->self, false);
}

PX_TEST(may_be_finished_from_within_done)
{
    struct answer a = {0};
    struct answer never = {0};
    struct srv s = srv_begin();

    ending = &s;
    ok(pcleanup_ops()->run(s.self, SCOPE, on_done_and_finish, &a));
    for (int i = 0; i < 20; i++)
        ok(run(&s, SCOPE, &never));
    answer_wait(&a);
    unsigned n = never.n;
    fake_host_run(&contract.host, 20, NULL, NULL);
    ck_assert_uint_eq(a.n, 1);
    ck_assert_uint_eq(never.n, n);
    srv_end(&s);
}

static void on_done_and_run(void *arg, pmix_status_t status,
                            const struct px_pcleanup_totals *totals)
{
    ok(run(ending, SCOPE + 1, arg));
    ok(status);
    ck_assert_uint_eq(totals->files, 0);
}

PX_TEST(may_be_asked_for_more_from_within_done)
{
    struct answer a = {0};
    struct srv s = srv_begin();

    ending = &s;
    srv_item(&s, SCOPE + 1, make_file("file"), PX_RM_FILE, 0);
    ok(pcleanup_ops()->run(s.self, SCOPE, on_done_and_run, &a));
    answer_wait(&a);
    ck_assert_uint_eq(a.totals.files, 1);
    srv_end(&s);
}

/* ---- effects on the host -------------------------------------------------------- */

static volatile sig_atomic_t n_sigchld;

static void on_sigchld(int signum PX_UNUSED)
{
    n_sigchld++;
}

static void run_some(struct srv *s)
{
    srv_item(s, SCOPE, make_tree("tree", 50), PX_RM_DIR, PX_RM_RECURSE);
    ck_assert_uint_eq(sweep(s, SCOPE).totals.files, 50);
}

PX_TEST(its_processes_are_no_children_to_the_host)
{
    signal(SIGCHLD, on_sigchld);
    struct srv s = srv_begin();

    run_some(&s);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    srv_end(&s);
    ck_assert_int_eq(n_sigchld, 0);
}

PX_TEST(works_where_children_are_ignored)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN, .sa_flags = SA_NOCLDWAIT};

    sigaction(SIGCHLD, &ignore, NULL);
    adopt_orphans();
    struct srv s = srv_begin();
    run_some(&s);
    srv_end(&s);
    ck_assert(are_all_gone(END_MS));
    ck_assert_str_eq(contract.host.last_log, "");
}

PX_TEST(keeps_no_descriptor_of_the_host_open)
{
    int before[2], after[2];

    ck_assert_int_eq(pipe2(before, O_CLOEXEC), 0);
    struct srv s = srv_begin();
    ck_assert_int_eq(pipe2(after, O_CLOEXEC), 0);
    const char *tree = make_work(&s);
    struct answer a = {0};
    ok(run(&s, SCOPE, &a));
    fake_host_run(&contract.host, 3, NULL, NULL);
    close(before[1]);
    close(after[1]);
    /* Reading to the end fails unless all writers have ended. */
    PX_AUTOFREE PX_UNUSED char *from_before = process_read_end(before[0], END_MS);
    PX_AUTOFREE PX_UNUSED char *from_after = process_read_end(after[0], END_MS);
    close(before[0]);
    close(after[0]);
    answer_wait(&a);
    ck_assert(!is_there(tree));
    srv_end(&s);
}

static int be_signalled(void *arg PX_UNUSED)
{
    struct answer a = {0};

    setpgid(0, 0);
    for (int i = 1; i < NSIG; i++) {
        if (i != SIGKILL && i != SIGSTOP)
            signal(i, SIG_IGN);
    }
    struct srv s = srv_of(contract.self, "signal");
    srv_make_journal(&s);
    const char *tree = make_work(&s);
    if (run(&s, SCOPE, &a))
        return 1;
    for (int i = 0; i < 20 && !a.n; i++) {
        kill(0, SIGINT);
        kill(0, SIGHUP);
        kill(0, SIGTERM);
        fake_host_run(&contract.host, 1, NULL, NULL);
    }
    answer_wait(&a);
    if (a.status || is_there(tree) || a.totals.files != N_FILES)
        return 2;
    srv_end(&s);
    return contract.host.last_log[0] ? 3 : 0;
}

PX_TEST(signals_to_the_hosts_group_do_not_reach_it)
{
    pid_t pid = process_fork(be_signalled, NULL);

    ck_assert_int_eq(process_wait(pid, LATE_MS), 0);
}

static void *allocate(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        free(malloc(100));
    return NULL;
}

/* A child that takes a C library lock held by another thread at the fork would hang. */
PX_TEST(works_beside_threads_that_are_busy)
{
    pthread_t threads[2];
    int stop = 0;

    for (size_t i = 0; i < PX_COUNT(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate, &stop), 0);
    for (int i = 0; i < 20; i++) {
        struct srv s = srv_begin();
        run_some(&s);
        srv_end(&s);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < PX_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}

/* A forked copy has all descriptors of the server, but the state does not belong to
 * it. */
static int end_a_copy(void *arg PX_UNUSED)
{
    contract_close();
    return 0;
}

PX_TEST(a_forked_copy_of_the_host_that_ends_does_no_harm)
{
    struct srv s = srv_begin();
    pid_t pid = process_fork(end_a_copy, NULL);

    ck_assert_int_eq(process_wait(pid, LATE_MS), 0);
    run_some(&s);
    ck_assert_str_eq(contract.host.last_log, "");
    srv_end(&s);
}

/* ---- shortage ------------------------------------------------------------------- */

static void nothing_was_kept(size_t n_fds)
{
    ck_assert(are_all_gone(END_MS));
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

PX_TEST(without_memory_it_does_not_start)
{
    PX_TEST_NEEDS_ALLOC;
    PX_AUTOFREE char *path = strdup(in_dir(PX_JOURNAL_DIR "x"));
    size_t n_fds = px_test_count_fds();

    adopt_orphans();
    for (unsigned nth = 0; px_alloc_next(&nth);)
        if (px_alloc_check(pcleanup_ops()->start(contract.self, path, "node")))
            nothing_was_kept(n_fds);
    pcleanup_ops()->finish(contract.self, false);
    nothing_was_kept(n_fds);
}

/* An operation that cannot begin is refused; an accepted one is done. */
PX_TEST(without_memory_nothing_is_run_and_nothing_lost)
{
    PX_TEST_NEEDS_ALLOC;
    struct srv s = srv_begin();
    const char *file = make_file("file");

    srv_item(&s, SCOPE, file, PX_RM_FILE, 0);
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        struct answer a = {0};
        pmix_status_t rc = run(&s, SCOPE, &a);
        if (!rc) {
            for (int i = 0; i < 500 && !a.n; i++)
                fake_host_run(&contract.host, 2, NULL, NULL);
        }
        (void)px_alloc_fail_end();
        ck_assert_int_eq(rc ? PMIX_ERR_NOMEM : rc, rc);
        ck_assert_uint_eq(a.n, rc ? 0 : 1);
        ok(a.status);
        ck_assert_uint_lt(nth, 100);
    }
    ck_assert(!is_there(file));
    srv_end(&s);
}

PX_TEST(without_descriptors_it_does_not_start)
{
    PX_AUTOFREE char *path = strdup(in_dir(PX_JOURNAL_DIR "x"));
    size_t n_fds = px_test_count_fds();
    size_t n = 0;
    pmix_status_t rc;

    adopt_orphans();
    do {
        process_limit_fds(n);
        rc = pcleanup_ops()->start(contract.self, path, "node");
        process_limit_fds(SIZE_MAX);
        if (rc) {
            ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
            nothing_was_kept(n_fds);
        }
        ck_assert_uint_lt(n++, 10);
    } while (rc);
    pcleanup_ops()->finish(contract.self, false);
    ck_assert(are_all_gone(END_MS));
}

/* Without processes, either no server can start, or the server can run nothing. */
static int run_without_processes(void *arg PX_UNUSED)
{
    struct rlimit limit = {0, 0};
    struct answer a = {0};

    process_become_other();
    if (setrlimit(RLIMIT_NPROC, &limit) < 0)
        return 1;
    pmix_status_t rc = pcleanup_ops()->start(contract.self,
                                             in_dir("pmix-server.other1"), "node");
    if (rc)
        return rc == PMIX_ERR_OUT_OF_RESOURCE ? 0 : 2;
    pcleanup_ops()->finish(contract.self, false);
    struct srv s = srv_of(contract.self, "other1");
    srv_make_journal(&s);
    rc = run(&s, SCOPE, &a);
    if (!rc) {
        answer_wait(&a);
        rc = a.status;
    }
    srv_end(&s);
    return rc == PMIX_ERR_OUT_OF_RESOURCE ? 0 : 3;
}

PX_TEST(without_processes_it_fails)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    ck_assert_int_eq(chmod(contract.dir, 0777), 0);
    pid_t pid = process_fork(run_without_processes, NULL);

    ck_assert_int_eq(process_wait(pid, LATE_MS), 0);
}
