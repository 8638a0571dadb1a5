/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of the server API: init and finalize, kinds of replies, unusual orders, objects that end while in
 * use, leaks, and the server as a participant. */
#include "scenario.h"

#include <dirent.h>

static void wait_for_count(enum host_upcall which, int n)
{
    for (int i = 0; i < 2000 && host_count(which) < n; i++)
        usleep(5000);
    HOST_CHECK(host_count(which) >= n);
}

static void wait_for_number(volatile int *number, int n)
{
    for (int i = 0; i < 2000 && *number < n; i++)
        usleep(5000);
    HOST_CHECK(*number == n);
}

/* ---- init and finalize ----------------------------------------------------------- */

SCENARIO(calls_without_callback_wait, FOREIGN | SERVED)
{
    struct host_job job;
    pmix_status_t rc;
    pmix_proc_t p;

    host_register_job(&job, "again", 2);
    PMIX_LOAD_PROCID(&p, "again", 0);
    rc = PMIx_server_register_client(&p, getuid(), getgid(), NULL, NULL, NULL);
    HOST_CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    host_start_all(&job, client("exchange"));
    HOST_CHECK(host_wait(&job, 60) == 0);
    PMIx_server_deregister_client(&p, NULL, NULL);
    PMIx_server_deregister_nspace(p.nspace, NULL, NULL);
}

SCENARIO(second_init_counts, 0)
{
    pmix_server_module_t module = host_module;

    open_server(HOST_LATER, NULL);
    HOST_GOOD(PMIx_server_init(&module, NULL, 0));
    HOST_GOOD(PMIx_server_finalize());
    run_job("still", 2, "exchange");
    close_server();
    HOST_EXPECT(PMIx_server_finalize(), PMIX_ERR_INIT);
}

/* ---- the host's replies ---------------------------------------------------------- */

static void run_everything(enum host_answers how)
{
    static const char *const programs[] = {"exchange", "direct", "publish", "events",
                                           "resolve"};

    open_server(how, NULL);
    for (int i = 0; i < 5; i++)
        run_job(programs[i], 3, programs[i]);
    HOST_CHECK(host_count(UP_CONNECTED) == 15);
    wait_for_count(UP_FINALIZED, 15);
    HOST_CHECK(host_count(UP_FINALIZED) == 15);
    HOST_CHECK(host_count(UP_PUBLISH) == 2 && host_count(UP_UNPUBLISH) == 2);
    HOST_CHECK(host_count(UP_LOOKUP) >= 15);
    HOST_CHECK(host_count(UP_NOTIFY) >= 1);
    close_server();
}

SCENARIO(answers_from_another_thread_work, FOREIGN)
{
    run_everything(HOST_LATER);
}

SCENARIO(answers_from_inside_the_upcall_work, 0)
{
    run_everything(HOST_INSIDE);
}

SCENARIO(answers_by_return_value_work, FOREIGN)
{
    run_everything(HOST_AT_ONCE);
}

SCENARIO(empty_slots_mean_not_supported, FOREIGN)
{
    static const pmix_server_module_t nothing;

    open_server(HOST_LATER, &nothing);
    run_job("nulls", 2, "nulls");
    close_server();
}

SCENARIO(texts_are_logged_without_a_function_of_the_host, 0)
{
    static const pmix_server_module_t nothing;

    open_server(HOST_LATER, &nothing);
    run_job("log", 1, "log");
    close_server();
}

SCENARIO(abort_reaches_the_host, FOREIGN | SERVED)
{
    struct host_job job;

    start_job(&job, "abort", 3, "abort 1 17");
    end_job(&job, 128 + SIGKILL);
    HOST_CHECK(host_count(UP_ABORT) == 1 && host_abort_status() == 17);
}

/* Object of the host that the older upcalls get, as client_connected2 does. */
static int object, objects_seen;

static pmix_status_t on_object(const pmix_proc_t *proc, void *given,
                               pmix_op_cbfunc_t cb, void *cbdata)
{
    objects_seen += given == &object && proc->rank == 0;
    return PMIX_OPERATION_SUCCEEDED;
}

SCENARIO(the_hosts_object_comes_back, FOREIGN)
{
    pmix_server_module_t module = host_module;
    struct host_job job;

    module.client_connected2 = NULL;
    module.client_connected = on_object;
    module.client_finalized = on_object;
    open_server(HOST_LATER, &module);
    host_register_job_of(&job, "object", 1, &object);
    host_start_all(&job, client("exchange"));
    end_job(&job, 0);
    HOST_CHECK(objects_seen == 2);
    close_server();
}

static pmix_status_t on_connected_refuse(const pmix_proc_t *proc, void *given,
                                         pmix_info_t info[], size_t n,
                                         pmix_op_cbfunc_t cb, void *cbdata)
{
    return PMIX_ERR_NO_PERMISSIONS;
}

SCENARIO(a_refusing_host_keeps_clients_out, 0)
{
    pmix_server_module_t module = host_module;

    module.client_connected2 = on_connected_refuse;
    open_server(HOST_LATER, &module);
    HOST_CHECK(host_run("refused", 2, client("exchange")) == 99);
    close_server();
}

/* ---- unusual orders -------------------------------------------------------------- */

SCENARIO(registration_in_any_order_works, SERVED)
{
    struct host_job job;

    for (pmix_rank_t r = 0; r < 3; r++)
        HOST_GOOD(host_register_client("odd", r, NULL)); /* before the namespace */
    HOST_GOOD(host_setup_local_support("odd", NULL, 0));
    host_register_job(&job, "odd", 3);
    start_job(&job, "odd", 3, "exchange"); /* registered twice */
    HOST_CHECK(host_wait(&job, 60) == 0);
    host_deregister_client("odd", 1);
    host_deregister_client("odd", 1);
    host_deregister_client("unknown", 1);
    host_deregister_nspace("odd");
    host_deregister_nspace("odd");
    run_job("odd", 3, "exchange"); /* reuses the name */
}

SCENARIO(jobs_side_by_side_do_not_mix, FOREIGN | SERVED)
{
    static const char *const names[] = {"left", "middle", "right"};
    static struct host_job jobs[3];

    for (int i = 0; i < 3; i++)
        host_register_job(&jobs[i], names[i], 2);
    for (int i = 0; i < 3; i++)
        host_start_all(&jobs[i], client("direct"));
    for (int i = 0; i < 3; i++)
        end_job(&jobs[i], 0);
}

/* The first rank waits for ranks that start later, one after another. */
SCENARIO(late_ranks_are_waited_for, FOREIGN | SERVED)
{
    struct host_job job;

    host_register_job(&job, "late", 3);
    for (int r = 2; r >= 0; r--) {
        host_start_rank(&job, r, client("exchange"));
        usleep(200000);
    }
    end_job(&job, 0);
}

/* ---- objects that end in use ----------------------------------------------------- */

/* Starts a job of three ranks that wait in blocking calls. */
static void start_stayers(struct host_job *job)
{
    start_job(job, "going", 3, "stay lost");
    wait_for_count(UP_CONNECTED, 3);
    usleep(200000); /* until the ranks wait in their calls */
}

SCENARIO(namespace_can_go_while_connected, SERVED)
{
    struct host_job job;

    start_stayers(&job);
    host_deregister_nspace("going");
    HOST_CHECK(host_wait(&job, 20) == 0); /* the ranks got a reply and ended */
    run_job("next", 2, "exchange");
}

SCENARIO(client_can_go_while_connected, SERVED)
{
    struct host_job job;

    start_stayers(&job);
    for (pmix_rank_t r = 0; r < 3; r++)
        host_deregister_client("going", r);
    end_job(&job, 0);
    run_job("next", 2, "exchange");
}

SCENARIO(server_can_go_while_connected, 0)
{
    struct host_job job;

    open_server(HOST_LATER, NULL);
    start_stayers(&job);
    close_server();
    HOST_CHECK(host_wait(&job, 20) == 0);
}

SCENARIO(killed_client_is_not_waited_for, FOREIGN | SERVED)
{
    struct host_job job;

    start_stayers(&job);
    kill(job.pids[0], SIGKILL); /* the fence waits for this rank */
    end_job(&job, 128 + SIGKILL);
    HOST_CHECK(job.status[1] == 0 && job.status[2] == 0);
    run_job("next", 2, "exchange");
}

/* Callbacks that the host calls after the end of the client or of the server. */
static pmix_op_cbfunc_t kept_cb[2];
static void *kept_cbdata[2];
static volatile int n_kept;

static pmix_status_t on_publish_keep(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    kept_cb[n_kept] = cb;
    kept_cbdata[n_kept] = cbdata;
    n_kept++;
    return PMIX_SUCCESS;
}

SCENARIO(answers_after_the_end_do_no_harm, 0)
{
    pmix_server_module_t module = host_module;
    struct host_job job;

    module.publish = on_publish_keep;
    open_server(HOST_LATER, &module);
    start_job(&job, "first", 1, "publish");
    wait_for_number(&n_kept, 1);
    kill(job.pids[0], SIGKILL);
    end_job(&job, 128 + SIGKILL);
    kept_cb[0](PMIX_SUCCESS, kept_cbdata[0]);
    run_job("between", 2, "exchange");
    start_job(&job, "second", 1, "publish");
    wait_for_number(&n_kept, 2);
    close_server();
    kept_cb[1](PMIX_SUCCESS, kept_cbdata[1]);
    HOST_CHECK(host_wait(&job, 20) == 99); /* the client lost its server */
}

/* ---- leaks ----------------------------------------------------------------------- */

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

SCENARIO(many_cycles_leave_nothing, 0)
{
    const char *tmp = getenv("TMPDIR");
    int fds = 0, threads = 0, files = entries(tmp);

    for (int i = 0; i < 20; i++) {
        open_server(HOST_LATER, NULL);
        run_job("cycle", 2, "exchange");
        close_server();
        if (i == 0) { /* objects of the first cycle may stay */
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
    data_status = status;
    data_size = n;
    n_data++;
}

/* Requests the data of rank 1, which does not run yet. */
static void ask_for_data(struct host_job *job)
{
    pmix_proc_t p;

    host_register_job(job, "asked", 2);
    PMIX_LOAD_PROCID(&p, "asked", 1);
    HOST_GOOD(PMIx_server_dmodex_request(&p, on_data, NULL));
}

SCENARIO(dmodex_request_waits_for_the_data, FOREIGN | SERVED)
{
    struct host_job job;

    ask_for_data(&job);
    usleep(100000);
    HOST_CHECK(n_data == 0);
    host_start_all(&job, client("exchange"));
    wait_for_number(&n_data, 1);
    HOST_GOOD(data_status);
    HOST_CHECK(data_size > 1000000); /* exchange puts more than a megabyte */
    end_job(&job, 0);
}

SCENARIO(dmodex_request_ends_with_the_namespace, SERVED)
{
    struct host_job job;

    ask_for_data(&job);
    host_deregister_nspace("asked");
    wait_for_number(&n_data, 1);
    HOST_CHECK(data_status != PMIX_SUCCESS);
}

/* Gets a number of a client. Before the commit a server may wait or return PMIX_ERR_NOT_FOUND. */
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

#define FROM_HOST (PMIX_EXTERNAL_ERR_BASE - 21) /* as in the client "listener" */

SCENARIO(host_and_clients_exchange_events_and_data, FOREIGN | SERVED)
{
    struct host_job job;
    pmix_status_t rc;
    pmix_proc_t self;

    host_register_job(&job, "listen", 2);
    HOST_CHECK(own_get("listen", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) == 2);
    host_start_all(&job, client("listener"));
    wait_for_count(UP_CONNECTED, 2);
    HOST_CHECK(own_get("listen", 1, "listening") == 8);
    HOST_CHECK(own_get("listen", 0, "listening") == 7);
    PMIX_LOAD_PROCID(&self, "host", 0);
    rc = PMIx_Notify_event(FROM_HOST, &self, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL);
    HOST_CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    HOST_CHECK(host_wait(&job, 60) == 0);
    wait_for_count(UP_NOTIFY, 2); /* an event of each client */
    host_deregister_nspace("listen");
}

static volatile int n_registered, n_lost;
static pmix_proc_t lost;

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    HOST_GOOD(status);
    n_registered++;
}

static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source,
                    pmix_info_t info[], size_t n, pmix_info_t results[],
                    size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                    void *arg)
{
    lost = *source;
    n_lost++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

SCENARIO(loss_of_a_client_is_an_event, FOREIGN | SERVED)
{
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    struct host_job job;

    PMIx_Register_event_handler(&code, 1, NULL, 0, on_lost, on_registered, NULL);
    wait_for_number(&n_registered, 1);
    start_job(&job, "lossy", 2, "stay");
    wait_for_count(UP_CONNECTED, 2);
    usleep(100000);
    kill(job.pids[1], SIGKILL);
    wait_for_number(&n_lost, 1);
    HOST_CHECK(lost.rank == 1 && strcmp(lost.nspace, "lossy") == 0);
    kill(job.pids[0], SIGKILL);
    end_job(&job, 128 + SIGKILL);
}
