/* SPDX-License-Identifier: BSD-3-Clause */
/* api_server SCENARIO CLIENTS: one scenario of a host and its server library (see scenario.h). Here:
 * before and after, how the host answers, odd orders. */
#include "api_server.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

char **client(const char *name, const char *arg)
{
    static char path[4096];
    static char *argv[3];

    snprintf(path, sizeof path, "%s/%s", clients, name);
    argv[0] = path;
    argv[1] = (char *)arg;
    argv[2] = NULL;
    return argv;
}

void wait_for_count(enum host_upcall which, int n)
{
    for (int i = 0; i < 2000 && host_count(which) < n; i++)
        usleep(5000);
    HOST_CHECK(host_count(which) >= n);
}

void wait_for_flag(volatile int *flag)
{
    for (int i = 0; i < 2000 && !*flag; i++)
        usleep(5000);
    HOST_CHECK(*flag);
}

void open_server(enum host_answers how)
{
    static pmix_server_module_t module;

    module = host_module;
    host_reset_counts();
    host_answers(how);
    HOST_GOOD(host_init(&module));
}

void close_server(void)
{
    host_stop_answering();
    HOST_GOOD(PMIx_server_finalize());
}

/* ---- before and after ------------------------------------------------------------ */

static void calls_before_init_are_refused(void)
{
    char **env = NULL, *text = NULL;
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, "none", 0);
    HOST_EXPECT(PMIx_server_register_nspace(p.nspace, 1, NULL, 0, NULL, NULL),
                PMIX_ERR_INIT);
    HOST_EXPECT(PMIx_server_register_client(&p, 0, 0, NULL, NULL, NULL), PMIX_ERR_INIT);
    HOST_EXPECT(PMIx_server_setup_fork(&p, &env), PMIX_ERR_INIT);
    HOST_EXPECT(PMIx_server_finalize(), PMIX_ERR_INIT);
    HOST_EXPECT(PMIx_server_dmodex_request(&p, NULL, NULL), PMIX_ERR_INIT);
    (void)PMIx_generate_regex("a,b", &text); /* needs no server, may want one */
    free(text);
}

static void bad_arguments_are_refused(void)
{
    const char *nothing = NULL;
    char **env = NULL;
    pmix_proc_t p;

    open_server(HOST_LATER);
    PMIX_LOAD_PROCID(&p, "job", 0);
    HOST_EXPECT(PMIx_server_register_nspace(nothing, 1, NULL, 0, NULL, NULL),
                PMIX_ERR_BAD_PARAM);
    HOST_EXPECT(PMIx_server_register_nspace(p.nspace, 1, NULL, 1, NULL, NULL),
                PMIX_ERR_BAD_PARAM);
    HOST_EXPECT(PMIx_server_register_client(NULL, 0, 0, NULL, NULL, NULL),
                PMIX_ERR_BAD_PARAM);
    HOST_EXPECT(PMIx_server_setup_fork(NULL, &env), PMIX_ERR_BAD_PARAM);
    HOST_EXPECT(PMIx_server_setup_fork(&p, NULL), PMIX_ERR_BAD_PARAM);
    close_server();
}

/* Also without a callback: then the calls wait. */
static void calls_without_callback_wait(void)
{
    struct host_job job;
    pmix_status_t rc;
    pmix_proc_t p;

    open_server(HOST_LATER);
    host_register_job(&job, "again", 2);
    PMIX_LOAD_PROCID(&p, "again", 0);
    rc = PMIx_server_register_client(&p, getuid(), getgid(), NULL, NULL, NULL);
    HOST_CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    host_start_all(&job, client("exchange", NULL));
    HOST_CHECK(host_wait(&job, 60) == 0);
    PMIx_server_deregister_client(&p, NULL, NULL);
    PMIx_server_deregister_nspace(p.nspace, NULL, NULL);
    close_server();
}

static void second_init_counts(void)
{
    pmix_server_module_t module = host_module;

    open_server(HOST_LATER);
    HOST_GOOD(PMIx_server_init(&module, NULL, 0));
    HOST_GOOD(PMIx_server_finalize());
    HOST_CHECK(host_run("still", 2, client("exchange", NULL)) == 0);
    close_server();
    HOST_EXPECT(PMIx_server_finalize(), PMIX_ERR_INIT);
}

/* ---- how the host answers -------------------------------------------------------- */

static void run_everything(enum host_answers how)
{
    open_server(how);
    HOST_CHECK(host_run("one", 3, client("exchange", NULL)) == 0);
    HOST_CHECK(host_run("two", 3, client("direct", NULL)) == 0);
    HOST_CHECK(host_run("three", 3, client("publish", NULL)) == 0);
    HOST_CHECK(host_run("four", 3, client("events", NULL)) == 0);
    HOST_CHECK(host_run("five", 3, client("resolve", NULL)) == 0);
    HOST_CHECK(host_count(UP_CONNECTED) == 15);
    wait_for_count(UP_FINALIZED, 15);
    HOST_CHECK(host_count(UP_FINALIZED) == 15);
    HOST_CHECK(host_count(UP_PUBLISH) == 2 && host_count(UP_UNPUBLISH) == 2);
    HOST_CHECK(host_count(UP_LOOKUP) >= 15);
    HOST_CHECK(host_count(UP_NOTIFY) >= 1);
    close_server();
}

static void answers_from_another_thread_work(void)
{
    run_everything(HOST_LATER);
}

static void answers_from_inside_the_upcall_work(void)
{
    run_everything(HOST_INSIDE);
}

static void answers_by_return_value_work(void)
{
    run_everything(HOST_AT_ONCE);
}

static void empty_slots_mean_not_supported(void)
{
    static pmix_server_module_t nothing;

    host_answers(HOST_LATER);
    HOST_GOOD(host_init(&nothing));
    HOST_CHECK(host_run("nulls", 2, client("nulls", NULL)) == 0);
    close_server();
}

static void abort_reaches_the_host(void)
{
    struct host_job job;
    static char *argv[4];

    open_server(HOST_LATER);
    memcpy(argv, client("abort", "1"), 2 * sizeof *argv);
    argv[2] = (char *)"17";
    host_register_job(&job, "abort", 3);
    host_start_all(&job, argv);
    HOST_CHECK(host_wait(&job, 60) == 128 + SIGKILL);
    HOST_CHECK(host_count(UP_ABORT) == 1 && host_abort_status() == 17);
    host_deregister_nspace("abort");
    close_server();
}

/* The older slot gets the host's object, as the newer one does. */
static int object, objects_seen;

static pmix_status_t on_connected_old(const pmix_proc_t *proc, void *given,
                                      pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)cb, (void)cbdata; /* such hosts answer by the return value */
    objects_seen += given == &object && proc->rank == 0;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized_object(const pmix_proc_t *proc, void *given,
                                         pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)cb, (void)cbdata;
    objects_seen += given == &object && proc->rank == 0;
    return PMIX_OPERATION_SUCCEEDED;
}

static void the_hosts_object_comes_back(void)
{
    pmix_server_module_t module = host_module;
    struct host_job job;

    module.client_connected2 = NULL;
    module.client_connected = on_connected_old;
    module.client_finalized = on_finalized_object;
    host_answers(HOST_LATER);
    HOST_GOOD(host_init(&module));
    host_register_job_of(&job, "object", 1, &object);
    host_start_all(&job, client("exchange", NULL));
    HOST_CHECK(host_wait(&job, 60) == 0);
    HOST_CHECK(objects_seen == 2);
    host_deregister_nspace("object");
    close_server();
}

static pmix_status_t on_connected_refuse(const pmix_proc_t *proc, void *given,
                                         pmix_info_t info[], size_t n,
                                         pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)proc, (void)given, (void)info, (void)n, (void)cb, (void)cbdata;
    return PMIX_ERR_NO_PERMISSIONS;
}

static void a_refusing_host_keeps_clients_out(void)
{
    pmix_server_module_t module = host_module;

    module.client_connected2 = on_connected_refuse;
    host_answers(HOST_LATER);
    HOST_GOOD(host_init(&module));
    HOST_CHECK(host_run("refused", 2, client("exchange", NULL)) == 99);
    close_server();
}

/* ---- odd orders ------------------------------------------------------------------ */

static void registration_in_any_order_works(void)
{
    struct host_job job;

    open_server(HOST_LATER);
    for (pmix_rank_t r = 0; r < 3; r++)
        HOST_GOOD(host_register_client("odd", r, NULL)); /* before its namespace */
    HOST_GOOD(host_setup_local_support("odd"));
    host_register_job(&job, "odd", 3);
    host_register_job(&job, "odd", 3); /* twice */
    host_start_all(&job, client("exchange", NULL));
    HOST_CHECK(host_wait(&job, 60) == 0);
    host_deregister_client("odd", 1);
    host_deregister_client("odd", 1);
    host_deregister_client("unheard of", 1);
    host_deregister_nspace("odd");
    host_deregister_nspace("odd");
    HOST_CHECK(host_run("odd", 3, client("exchange", NULL)) == 0); /* the name again */
    close_server();
}

static void jobs_side_by_side_do_not_mix(void)
{
    static struct host_job jobs[3];
    static const char *const names[] = {"left", "middle", "right"};

    open_server(HOST_LATER);
    for (int i = 0; i < 3; i++)
        host_register_job(&jobs[i], names[i], 2);
    for (int i = 0; i < 3; i++)
        host_start_all(&jobs[i], client("direct", NULL));
    for (int i = 0; i < 3; i++)
        HOST_CHECK(host_wait(&jobs[i], 60) == 0);
    for (int i = 0; i < 3; i++)
        host_deregister_nspace(names[i]);
    close_server();
}

/* Ranks come one after the other, long after the first one waits for them. */
static void late_ranks_are_waited_for(void)
{
    struct host_job job;

    open_server(HOST_LATER);
    host_register_job(&job, "late", 3);
    for (int r = 2; r >= 0; r--) {
        host_start_rank(&job, r, client("exchange", NULL));
        usleep(200000);
    }
    HOST_CHECK(host_wait(&job, 60) == 0);
    host_deregister_nspace("late");
    close_server();
}

/* ---- what is played -------------------------------------------------------------- */

static const struct scenario starts[] = {
    {"calls_before_init_are_refused", calls_before_init_are_refused, 1},
    {"bad_arguments_are_refused", bad_arguments_are_refused, 0},
    {"calls_without_callback_wait", calls_without_callback_wait, 1},
    {"second_init_counts", second_init_counts, 0},
    {"answers_from_another_thread_work", answers_from_another_thread_work, 1},
    {"answers_from_inside_the_upcall_work", answers_from_inside_the_upcall_work, 0},
    {"answers_by_return_value_work", answers_by_return_value_work, 1},
    {"empty_slots_mean_not_supported", empty_slots_mean_not_supported, 1},
    {"abort_reaches_the_host", abort_reaches_the_host, 1},
    {"the_hosts_object_comes_back", the_hosts_object_comes_back, 1},
    {"a_refusing_host_keeps_clients_out", a_refusing_host_keeps_clients_out, 0},
    {"registration_in_any_order_works", registration_in_any_order_works, 0},
    {"jobs_side_by_side_do_not_mix", jobs_side_by_side_do_not_mix, 1},
    {"late_ranks_are_waited_for", late_ranks_are_waited_for, 1},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    const struct scenario *const lists[] = {starts, api_use, NULL};

    return scenario_main(argc, argv, lists);
}
