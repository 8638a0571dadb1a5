/* SPDX-License-Identifier: BSD-3-Clause */
/* base_host KEY N PROGRAM [ARGUMENT]...: a host whose only loop is a libevent base. The attribute KEY
 * passes the base to the library, which runs in the base without a thread. The host spawns N processes,
 * forwards their output, and leaves its loop when the job has ended. At the end the host prints its
 * greatest number of threads, the state of its own timer, and the job's status. */
#include "host.h"

#include <dirent.h>
#include <event2/event.h>
#include <pmix_deprecated.h>

static struct event_base *base;
static struct event *ticker;
static unsigned n_ticks;
static int most_threads;
static pmix_status_t job_status = PMIX_ERR_NOT_FOUND;

static void count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = -2; /* "." and ".." */

    HOST_CHECK(tasks);
    while (readdir(tasks))
        n++;
    closedir(tasks);
    if (n > most_threads)
        most_threads = n;
}

static void on_tick(int fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    n_ticks++;
    count_threads();
}

static void on_job_end(size_t id, pmix_status_t status, const pmix_proc_t *source,
                       pmix_info_t *info, size_t n, pmix_info_t *results,
                       size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                       void *cbdata)
{
    (void)id, (void)status, (void)source, (void)results, (void)n_results;
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_JOB_TERM_STATUS))
            job_status = info[i].value.data.status;
    count_threads();
    event_base_loopbreak(base);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_spawned(pmix_status_t status, char *nspace, void *cbdata)
{
    (void)nspace, (void)cbdata;
    HOST_GOOD(status);
}

static void spawn(int n, char **argv)
{
    const bool yes = true;
    pmix_info_t info[2];
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(argv[0]);
    for (char **a = argv; *a; a++)
        HOST_GOOD(PMIx_Argv_append_nosize(&app.argv, *a));
    app.maxprocs = n;
    PMIX_INFO_LOAD(&info[0], PMIX_FWD_STDOUT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
    HOST_GOOD(PMIx_Spawn_nb(info, 2, &app, 1, on_spawned, NULL));
    PMIX_APP_DESTRUCT(&app);
}

int main(int argc, char **argv)
{
    const struct timeval tick = {.tv_usec = 20000};
    pmix_status_t ended = PMIX_EVENT_JOB_END;
    pmix_info_t info;

    HOST_CHECK(argc > 3);
    base = event_base_new();
    ticker = event_new(base, -1, EV_PERSIST, on_tick, NULL);
    event_add(ticker, &tick);
    PMIX_INFO_LOAD(&info, argv[1], base, PMIX_POINTER);
    HOST_GOOD(PMIx_server_init(NULL, &info, 1));
    HOST_CHECK(
        PMIx_Register_event_handler(&ended, 1, NULL, 0, on_job_end, NULL, NULL) >= 0);
    spawn(atoi(argv[2]), argv + 3);
    event_base_dispatch(base);
    while (n_ticks == 0) /* the job was faster than a tick */
        event_base_loop(base, EVLOOP_ONCE);
    HOST_GOOD(PMIx_server_finalize());
    count_threads();
    event_free(ticker);
    event_base_free(base);
    printf("threads %d, timer %s, status %s\n", most_threads,
           n_ticks > 0 ? "went on" : "stood", PMIx_Error_string(job_status));
    return 0;
}
