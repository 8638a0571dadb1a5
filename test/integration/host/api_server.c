/* SPDX-License-Identifier: BSD-3-Clause */
/* api_server SCENARIO CLIENTS: one scenario of a host and its server library;
 * CLIENTS is the folder of the client programs. Without arguments: the names of the
 * scenarios, those that the reference implementation can play too with a star.
 * Prints "OK scenario" when all was as it should be. */
#include "host.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *clients;

static char **client(const char *name, const char *arg)
{
    static char path[4096];
    static char *argv[3];

    snprintf(path, sizeof path, "%s/%s", clients, name);
    argv[0] = path;
    argv[1] = (char *)arg;
    argv[2] = NULL;
    return argv;
}

static void wait_for_count(enum host_upcall which, int n)
{
    for (int i = 0; i < 2000 && host_count(which) < n; i++)
        usleep(5000);
    HOST_CHECK(host_count(which) >= n);
}

static void wait_for_flag(volatile int *flag)
{
    for (int i = 0; i < 2000 && !*flag; i++)
        usleep(5000);
    HOST_CHECK(*flag);
}

static void open_server(enum host_answers how)
{
    static pmix_server_module_t module;

    module = host_module;
    host_reset_counts();
    host_answers(how);
    HOST_GOOD(host_init(&module));
}

static void close_server(void)
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

/* ---- the end of things in use ---------------------------------------------------- */

static void namespace_can_go_while_connected(void)
{
    struct host_job job;

    open_server(HOST_LATER);
    host_register_job(&job, "going", 3);
    host_start_all(&job, client("stay", "lost"));
    wait_for_count(UP_CONNECTED, 3);
    usleep(200000); /* into the calls that wait */
    host_deregister_nspace("going");
    HOST_CHECK(host_wait(&job, 20) == 0); /* they got an answer, and ended */
    HOST_CHECK(host_run("next", 2, client("exchange", NULL)) == 0);
    close_server();
}

static void client_can_go_while_connected(void)
{
    struct host_job job;

    open_server(HOST_LATER);
    host_register_job(&job, "going", 3);
    host_start_all(&job, client("stay", "lost"));
    wait_for_count(UP_CONNECTED, 3);
    usleep(200000);
    for (pmix_rank_t r = 0; r < 3; r++)
        host_deregister_client("going", r);
    HOST_CHECK(host_wait(&job, 20) == 0);
    host_deregister_nspace("going");
    HOST_CHECK(host_run("next", 2, client("exchange", NULL)) == 0);
    close_server();
}

static void server_can_go_while_connected(void)
{
    struct host_job job;

    open_server(HOST_LATER);
    host_register_job(&job, "going", 3);
    host_start_all(&job, client("stay", "lost"));
    wait_for_count(UP_CONNECTED, 3);
    usleep(200000);
    close_server();
    HOST_CHECK(host_wait(&job, 20) == 0);
}

static void killed_client_is_not_waited_for(void)
{
    struct host_job job;

    open_server(HOST_LATER);
    host_register_job(&job, "killed", 3);
    host_start_all(&job, client("stay", "lost"));
    wait_for_count(UP_CONNECTED, 3);
    usleep(200000);
    kill(job.pids[0], SIGKILL); /* the one the fence is waiting for */
    HOST_CHECK(host_wait(&job, 20) == 128 + SIGKILL);
    HOST_CHECK(job.status[1] == 0 && job.status[2] == 0);
    host_deregister_nspace("killed");
    HOST_CHECK(host_run("next", 2, client("exchange", NULL)) == 0);
    close_server();
}

/* A host may come with its answer when the asker, or the whole server, is gone. */
static pmix_op_cbfunc_t kept_cb[2];
static void *kept_cbdata[2];
static volatile int n_kept;

static pmix_status_t on_publish_keep(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)proc, (void)info, (void)n;
    kept_cb[n_kept] = cb;
    kept_cbdata[n_kept] = cbdata;
    n_kept++;
    return PMIX_SUCCESS;
}

static void start_asker(struct host_job *job, const char *nspace, int nth)
{
    host_register_job(job, nspace, 1);
    host_start_all(job, client("publish", NULL));
    for (int i = 0; i < 2000 && n_kept < nth; i++)
        usleep(5000);
    HOST_CHECK(n_kept == nth);
}

static void answers_after_the_end_do_no_harm(void)
{
    pmix_server_module_t module = host_module;
    struct host_job job;

    module.publish = on_publish_keep;
    host_answers(HOST_LATER);
    HOST_GOOD(host_init(&module));
    start_asker(&job, "first", 1);
    kill(job.pids[0], SIGKILL);
    HOST_CHECK(host_wait(&job, 20) == 128 + SIGKILL);
    host_deregister_nspace("first");
    kept_cb[0](PMIX_SUCCESS, kept_cbdata[0]);
    HOST_CHECK(host_run("between", 2, client("exchange", NULL)) == 0);
    start_asker(&job, "second", 2);
    close_server();
    kept_cb[1](PMIX_SUCCESS, kept_cbdata[1]);
    HOST_CHECK(host_wait(&job, 20) == 99); /* it was told that the server is gone */
}

/* ---- nothing accumulates --------------------------------------------------------- */

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    HOST_CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void many_cycles_leave_nothing(void)
{
    const char *tmp = getenv("TMPDIR");
    int fds = 0, threads = 0, files = entries(tmp);

    for (int i = 0; i < 20; i++) {
        open_server(HOST_LATER);
        HOST_CHECK(host_run("cycle", 2, client("exchange", NULL)) == 0);
        close_server();
        if (i == 0) { /* what is made once and kept is fine */
            fds = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
        }
        HOST_CHECK(entries("/proc/self/fd") == fds);
        HOST_CHECK(entries("/proc/self/task") == threads);
        HOST_CHECK(entries(tmp) == files);
    }
}

/* ---- the server as a participant ------------------------------------------------- */

static volatile int n_data;
static pmix_status_t data_status;
static size_t data_size;

static void on_data(pmix_status_t status, char *data, size_t n, void *arg)
{
    (void)data, (void)arg;
    data_status = status;
    data_size = n;
    n_data++;
}

static void dmodex_request_waits_for_the_data(void)
{
    struct host_job job;
    pmix_proc_t p;

    open_server(HOST_LATER);
    host_register_job(&job, "asked", 2);
    PMIX_LOAD_PROCID(&p, "asked", 1);
    HOST_GOOD(PMIx_server_dmodex_request(&p, on_data, NULL)); /* nobody runs yet */
    usleep(100000);
    HOST_CHECK(n_data == 0);
    host_start_all(&job, client("exchange", NULL));
    wait_for_flag(&n_data);
    HOST_GOOD(data_status);
    HOST_CHECK(data_size > 1000000); /* exchange puts more than a megabyte */
    HOST_CHECK(host_wait(&job, 60) == 0);
    host_deregister_nspace("asked");
    close_server();
}

static void dmodex_request_ends_with_the_namespace(void)
{
    struct host_job job;
    pmix_proc_t p;

    open_server(HOST_LATER);
    host_register_job(&job, "asked", 2);
    PMIX_LOAD_PROCID(&p, "asked", 1);
    HOST_GOOD(PMIx_server_dmodex_request(&p, on_data, NULL));
    host_deregister_nspace("asked");
    wait_for_flag(&n_data);
    HOST_CHECK(data_status != PMIX_SUCCESS);
    close_server();
}

#define FROM_HOST (PMIX_EXTERNAL_ERR_BASE - 21) /* as in listener.c */

static volatile int registered, n_lost;
static pmix_proc_t lost;

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    (void)id, (void)arg;
    HOST_GOOD(status);
    registered = 1;
}

static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source,
                    pmix_info_t info[], size_t n, pmix_info_t results[],
                    size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                    void *arg)
{
    (void)id, (void)status, (void)info, (void)n, (void)results, (void)n_results;
    lost = *source;
    n_lost++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* What has not been committed yet a server may wait for, or not find. */
static uint32_t own_get(const char *nspace, pmix_rank_t rank, const char *key)
{
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    pmix_proc_t p;
    uint32_t n;

    PMIX_LOAD_PROCID(&p, nspace, rank);
    for (int i = 0; rc == PMIX_ERR_NOT_FOUND && i < 1000; i++) {
        usleep(i ? 5000 : 0);
        rc = PMIx_Get(&p, key, NULL, 0, &v);
    }
    HOST_GOOD(rc);
    HOST_CHECK(v->type == PMIX_UINT32);
    n = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return n;
}

static void host_and_clients_exchange_events_and_data(void)
{
    struct host_job job;
    pmix_status_t rc;
    pmix_proc_t self;

    open_server(HOST_LATER);
    host_register_job(&job, "listen", 2);
    HOST_CHECK(own_get("listen", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) == 2);
    host_start_all(&job, client("listener", NULL));
    wait_for_count(UP_CONNECTED, 2);
    HOST_CHECK(own_get("listen", 1, "listening") == 8);
    HOST_CHECK(own_get("listen", 0, "listening") == 7);
    PMIX_LOAD_PROCID(&self, "host", 0);
    rc = PMIx_Notify_event(FROM_HOST, &self, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL);
    HOST_CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    HOST_CHECK(host_wait(&job, 60) == 0);
    wait_for_count(UP_NOTIFY, 2); /* one of each client */
    host_deregister_nspace("listen");
    close_server();
}

static void loss_of_a_client_is_an_event(void)
{
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    struct host_job job;

    open_server(HOST_LATER);
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_lost, on_registered, NULL);
    wait_for_flag(&registered);
    host_register_job(&job, "lossy", 2);
    host_start_all(&job, client("stay", NULL));
    wait_for_count(UP_CONNECTED, 2);
    usleep(100000);
    kill(job.pids[1], SIGKILL);
    wait_for_flag(&n_lost);
    HOST_CHECK(lost.rank == 1 && strcmp(lost.nspace, "lossy") == 0);
    kill(job.pids[0], SIGKILL);
    HOST_CHECK(host_wait(&job, 20) == 128 + SIGKILL);
    host_deregister_nspace("lossy");
    close_server();
}

/* ---- what is played -------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*play)(void);
    int foreign; /* release 4.2.2 can do it too */
} scenarios[] = {
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
    {"namespace_can_go_while_connected", namespace_can_go_while_connected, 0},
    {"client_can_go_while_connected", client_can_go_while_connected, 0},
    {"server_can_go_while_connected", server_can_go_while_connected, 0},
    {"killed_client_is_not_waited_for", killed_client_is_not_waited_for, 1},
    {"answers_after_the_end_do_no_harm", answers_after_the_end_do_no_harm, 0},
    {"many_cycles_leave_nothing", many_cycles_leave_nothing, 0},
    {"dmodex_request_waits_for_the_data", dmodex_request_waits_for_the_data, 1},
    {"dmodex_request_ends_with_the_namespace", dmodex_request_ends_with_the_namespace,
     0},
    {"host_and_clients_exchange_events_and_data",
     host_and_clients_exchange_events_and_data, 1},
    {"loss_of_a_client_is_an_event", loss_of_a_client_is_an_event, 1},
};

int main(int argc, char **argv)
{
    size_t n = sizeof scenarios / sizeof *scenarios;

    for (size_t i = 0; argc != 3 && i < n; i++)
        printf("%s%s\n", scenarios[i].name, scenarios[i].foreign ? " *" : "");
    if (argc != 3)
        return 0;
    clients = argv[2];
    for (size_t i = 0; i < n; i++) {
        if (strcmp(scenarios[i].name, argv[1]) != 0)
            continue;
        scenarios[i].play();
        printf("OK %s\n", argv[1]);
        return 0;
    }
    fprintf(stderr, "api_server: no scenario %s\n", argv[1]);
    return 2;
}
