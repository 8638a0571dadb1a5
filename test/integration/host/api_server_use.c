/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of a server in use: what ends while it is needed, what must not accumulate, and the server as
 * a participant. */
#include "api_server.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- the end of things in use ---------------------------------------------------- */

/* A server and a job of three, which are in calls that wait. */
static void start_stayers(struct host_job *job, const char *nspace)
{
    open_server(HOST_LATER);
    host_register_job(job, nspace, 3);
    host_start_all(job, client("stay", "lost"));
    wait_for_count(UP_CONNECTED, 3);
    usleep(200000); /* into the calls */
}

static void namespace_can_go_while_connected(void)
{
    struct host_job job;

    start_stayers(&job, "going");
    host_deregister_nspace("going");
    HOST_CHECK(host_wait(&job, 20) == 0); /* they got an answer, and ended */
    HOST_CHECK(host_run("next", 2, client("exchange", NULL)) == 0);
    close_server();
}

static void client_can_go_while_connected(void)
{
    struct host_job job;

    start_stayers(&job, "going");
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

    start_stayers(&job, "going");
    close_server();
    HOST_CHECK(host_wait(&job, 20) == 0);
}

static void killed_client_is_not_waited_for(void)
{
    struct host_job job;

    start_stayers(&job, "killed");
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

const struct scenario api_use[] = {
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
    {NULL, NULL, 0},
};
