/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs N WINDOW PROGRAM [ARG]...: submits N jobs of one process to a server that stays, by
 * one connection, WINDOW at a time. Prints jobs in a second. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <pmix_tool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_running, n_failed;

static void fail(const char *what, pmix_status_t status)
{
    fprintf(stderr, "jobs: cannot %s: %s\n", what, PMIx_Error_string(status));
    _exit(1);
}

static void job_ended(bool failed)
{
    pthread_mutex_lock(&lock);
    n_running--;
    n_failed += failed;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source,
                   pmix_info_t info[], size_t n, pmix_info_t *results, size_t n_results,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    bool failed = false;

    (void)id;
    (void)code;
    (void)source;
    (void)results;
    (void)n_results;
    for (size_t i = 0; i < n; i++)
        failed |= PMIx_Check_key(info[i].key, PMIX_EXIT_CODE) &&
                  info[i].value.data.integer != 0;
    job_ended(failed);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_spawned(pmix_status_t status, char nspace[], void *cbdata)
{
    (void)nspace;
    (void)cbdata;
    if (status)
        job_ended(true);
}

static void await_at_most(int n)
{
    while (n_running > n)
        pthread_cond_wait(&changed, &lock);
}

static void submit(char **argv)
{
    static const char *const keys[] = {PMIX_NOTIFY_COMPLETION, PMIX_FWD_STDOUT,
                                       PMIX_FWD_STDERR};
    enum { N = sizeof(keys) / sizeof(keys[0]) };
    pmix_app_t app = {.cmd = argv[0], .argv = argv, .maxprocs = 1};
    pmix_info_t info[N];
    const bool yes = true;
    pmix_status_t rc;

    for (int i = 0; i < N; i++)
        PMIx_Info_load(&info[i], keys[i], &yes, PMIX_BOOL);
    rc = PMIx_Spawn_nb(info, N, &app, 1, on_spawned, NULL);
    if (rc)
        fail("spawn", rc);
}

int main(int argc, char **argv)
{
    pmix_status_t code = PMIX_EVENT_JOB_END, rc;
    struct timespec begin, end;
    char name[64];
    pmix_info_t server;
    pmix_proc_t me;

    if (argc < 4)
        return 2;
    const int n = atoi(argv[1]), window = atoi(argv[2]);
    snprintf(name, sizeof(name), "tenon-dvm-%lu", (unsigned long)geteuid());
    PMIx_Info_load(&server, PMIX_SERVER_NSPACE, name, PMIX_STRING);
    if ((rc = PMIx_tool_init(&me, &server, 1)))
        fail("connect", rc);
    if ((rc = PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL)) < 0)
        fail("wait for jobs", rc);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        await_at_most(window - 1);
        n_running++;
        pthread_mutex_unlock(&lock);
        submit(argv + 3);
        pthread_mutex_lock(&lock);
    }
    await_at_most(0);
    pthread_mutex_unlock(&lock);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.1f\n", n / ((double)(end.tv_sec - begin.tv_sec) +
                          (double)(end.tv_nsec - begin.tv_nsec) / 1e9));
    PMIx_tool_finalize();
    return n_failed > 0;
}
