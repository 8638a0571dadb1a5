/* SPDX-License-Identifier: BSD-3-Clause */
/* monitored FOLDER: requests of monitors, whose alerts come from the server: heartbeats, a file, and usage
 * of resources. ordered: job control. Each step waits for its effect, so a slow machine changes nothing. */
#include "client.h"

#include <glob.h>

/* newer than release 5.0 */
#ifndef PMIX_MONITOR_PROC_RESOURCE_USAGE
#define PMIX_MONITOR_PROC_RESOURCE_USAGE "pmix.monitor.presuse"
#define PMIX_MONITOR_NODE_RESOURCE_USAGE "pmix.monitor.ndresuse"
#define PMIX_MONITOR_RESOURCE_RATE       "pmix.monitor.resrate"
#define PMIX_PROC_RESOURCE_USAGE         "pmix.proc.res"
#define PMIX_NODE_RESOURCE_USAGE         "pmix.node.res"
#define PMIX_PROC_RSS                    "pmix.proc.rss"
#endif

enum { ALERTS = -5000, STALE = -5001, UPDATES = -5002, WAIT_S = 30 };

static atomic_int n_alerts, n_stale, n_updates, is_wrong;

static void check_event(const pmix_info_t *info, size_t n, const char *id)
{
    const pmix_info_t *got = find(info, n, PMIX_MONITOR_ID);

    if (!got || strcmp(got->value.data.string, id) != 0)
        is_wrong = 1;
}

HANDLER(on_alert)
{
    const pmix_info_t *who = find(info, n, PMIX_EVENT_AFFECTED_PROC);

    if (status == ALERTS) {
        check_event(info, n, "beats");
        if (!who || who->value.type != PMIX_PROC ||
            who->value.data.proc->rank != me.rank)
            is_wrong = 1;
        n_alerts++;
    } else if (status == STALE) {
        check_event(info, n, "file");
        if (!find(info, n, PMIX_MONITOR_FILE))
            is_wrong = 1;
        n_stale++;
    } else {
        check_event(info, n, "usage");
        if (!find(info, n, PMIX_NODE_RESOURCE_USAGE))
            is_wrong = 1;
        n_updates++;
    }
    HANDLED();
}

/* Asks for a monitor with an id, the range of the own process, and a period of a second. */
static void ask(pmix_info_t what, pmix_status_t code, const char *id,
                const char *period, pmix_info_t more)
{
    pmix_info_t how[4], *results = NULL;
    pmix_data_range_t range = PMIX_RANGE_CUSTOM;
    uint32_t second = 1;
    size_t n = 0;

    PMIX_INFO_LOAD(&how[0], PMIX_MONITOR_ID, id, PMIX_STRING);
    PMIX_INFO_LOAD(&how[1], period, &second, PMIX_UINT32);
    PMIX_INFO_LOAD(&how[2], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    how[3] = more;
    GOOD(PMIx_Process_monitor(&what, code, how, 4, &results, &n));
    for (int i = 0; i < 4; i++)
        PMIX_INFO_DESTRUCT(&how[i]);
    PMIX_INFO_DESTRUCT(&what);
    if (results)
        PMIX_INFO_FREE(results, n);
}

static void cancel(const char *id)
{
    pmix_info_t what, *results = NULL;
    size_t n = 0;

    PMIX_INFO_LOAD(&what, PMIX_MONITOR_CANCEL, id, PMIX_STRING);
    GOOD(PMIx_Process_monitor(&what, PMIX_SUCCESS, NULL, 0, &results, &n));
    PMIX_INFO_DESTRUCT(&what);
}

/* Each beat after an alert allows the next alert, which shows that the server counts it. */
static void beats(void)
{
    ask(info_bool(PMIX_MONITOR_HEARTBEAT), ALERTS, "beats", PMIX_MONITOR_HEARTBEAT_TIME,
        info_bool(PMIX_MONITOR_APP_CONTROL));
    for (int i = 1; i <= 2; i++) {
        double end = now_s() + WAIT_S;

        while (n_alerts < i && now_s() < end)
            sleep_ms(5);
        CHECK(n_alerts == i);
        PMIx_Heartbeat();
    }
    cancel("beats");
}

static void file(const char *folder)
{
    char path[4096];
    pmix_info_t what;

    snprintf(path, sizeof(path), "%s/monitored.%u", folder, me.rank);
    PMIX_INFO_LOAD(&what, PMIX_MONITOR_FILE, path, PMIX_STRING);
    CHECK(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0);
    ask(what, STALE, "file", PMIX_MONITOR_FILE_CHECK_TIME,
        info_bool(PMIX_MONITOR_FILE_SIZE));
    CHECK(wait_for(&n_stale, WAIT_S));
    cancel("file");
    unlink(path);
}

/* Returns the figure of a process in an array of results, or NULL. */
static const pmix_info_t *figure(const pmix_info_t *result, const char *key)
{
    const pmix_data_array_t *array = result->value.type == PMIX_DATA_ARRAY
                                         ? result->value.data.darray
                                         : NULL;

    CHECK(array && array->type == PMIX_INFO && array->size > 0);
    return find(array->array, array->size, key);
}

static void usage(void)
{
    pmix_info_t what = info_bool(PMIX_MONITOR_PROC_RESOURCE_USAGE), *results = NULL;
    bool found = false;
    size_t n = 0;

    GOOD(PMIx_Process_monitor(&what, PMIX_SUCCESS, NULL, 0, &results, &n));
    CHECK(n == job_size);
    for (size_t i = 0; i < n; i++) {
        const pmix_info_t *name = figure(&results[i], PMIX_PROCID),
                          *pid = figure(&results[i], PMIX_PROC_PID),
                          *rss = figure(&results[i], PMIX_PROC_RSS);

        CHECK(PMIX_CHECK_KEY(&results[i], PMIX_PROC_RESOURCE_USAGE));
        CHECK(name && pid && rss && rss->value.data.fval > 0);
        if (name->value.data.proc->rank != me.rank)
            continue;
        CHECK(pid->value.data.pid == getpid());
        found = true;
    }
    CHECK(found);
    PMIX_INFO_FREE(results, n);
    ask(info_bool(PMIX_MONITOR_NODE_RESOURCE_USAGE), UPDATES, "usage",
        PMIX_MONITOR_RESOURCE_RATE, info_bool(PMIX_MONITOR_APP_CONTROL));
    CHECK(wait_for(&n_updates, WAIT_S));
    cancel("usage");
}

JOINS(monitored)
{
    pmix_status_t codes[] = {ALERTS, STALE, UPDATES};

    CHECK(argc > 1);
    watch(codes, 3, NULL, 0, on_alert);
    barrier();
    beats();
    file(argv[1]);
    usage();
    CHECK(!is_wrong);
    barrier();
}

/* ---- ordered: rank 0 pauses rank 1, which waits in a fence -------------------------------------- */

static void order(pmix_rank_t rank, const char *key, const char *value, const char *id,
                  pmix_status_t wanted)
{
    pmix_proc_t target = rank_of(rank);
    pmix_info_t how[2], *results = NULL;
    size_t n = 0;

    if (value)
        PMIX_INFO_LOAD(&how[0], key, value, PMIX_STRING);
    else
        how[0] = info_bool(key);
    PMIX_INFO_LOAD(&how[1], PMIX_JOB_CTRL_ID, id, PMIX_STRING);
    EXPECT(PMIx_Job_control(&target, 1, how, 2, &results, &n), wanted);
    PMIX_INFO_DESTRUCT(&how[0]);
    PMIX_INFO_DESTRUCT(&how[1]);
    if (results)
        PMIX_INFO_FREE(results, n);
}

/* Returns true if the server reports this state of the rank. */
static bool is_state(pmix_rank_t rank, char state)
{
    pmix_info_t what = info_bool(PMIX_MONITOR_PROC_RESOURCE_USAGE), *results = NULL;
    bool is = false;
    size_t n = 0;

    GOOD(PMIx_Process_monitor(&what, PMIX_SUCCESS, NULL, 0, &results, &n));
    for (size_t i = 0; i < n; i++) {
        const pmix_info_t *name = figure(&results[i], PMIX_PROCID),
                          *letter = figure(&results[i], "pmix.proc.osstate");

        is |= name && letter && name->value.data.proc->rank == rank &&
              letter->value.data.string[0] == state;
    }
    if (results)
        PMIX_INFO_FREE(results, n);
    return is;
}

static void await_state(pmix_rank_t rank, char state)
{
    double end = now_s() + WAIT_S;

    while (!is_state(rank, state)) {
        CHECK(now_s() < end);
        sleep_ms(10);
    }
}

JOINS(ordered)
{
    barrier();
    if (me.rank == 0) {
        await_state(1, 'S');
        order(1, PMIX_JOB_CTRL_PAUSE, NULL, "p", PMIX_SUCCESS);
        await_state(1, 'T');
        order(1, PMIX_JOB_CTRL_CANCEL, "other", "c", PMIX_ERR_NOT_FOUND);
        order(1, PMIX_JOB_CTRL_CANCEL, "p", "c", PMIX_SUCCESS);
        await_state(1, 'S');
        order(1, PMIX_JOB_CTRL_PAUSE, NULL, "q", PMIX_SUCCESS);
        await_state(1, 'T');
        order(1, PMIX_JOB_CTRL_RESUME, NULL, "r", PMIX_SUCCESS);
        await_state(1, 'S');
        order(1, PMIX_JOB_CTRL_CHECKPOINT_EVENT, NULL, "e", PMIX_ERR_NOT_SUPPORTED);
    }
    barrier();
}

/* ---- heartbeats N MS: each rank has a monitor with a period of a second, and beats N times, one beat
 * each MS. Rank 0 counts how often the server, its parent, has slept: heartbeats do not wake the server.
 * It reads sockets of other libraries each half second, and a socket with several heartbeats at once. -- */

/* Returns how often the threads of a process have slept so far. */
static long sleeps_of(pid_t pid)
{
    char text[256];
    glob_t tasks;
    long sum = 0, n;

    snprintf(text, sizeof(text), "/proc/%ld/task/*/status", (long)pid);
    CHECK(glob(text, 0, NULL, &tasks) == 0);
    for (size_t i = 0; i < tasks.gl_pathc; i++) {
        FILE *f = fopen(tasks.gl_pathv[i], "re");

        while (f && fgets(text, sizeof(text), f))
            if (sscanf(text, "voluntary_ctxt_switches: %ld", &n) == 1)
                sum += n;
        if (f)
            fclose(f);
    }
    globfree(&tasks);
    return sum;
}

JOINS(heartbeats)
{
    const int n = argc > 2 ? atoi(argv[1]) : 1, ms = argc > 2 ? atoi(argv[2]) : 1;
    double began;
    long slept;

    ask(info_bool(PMIX_MONITOR_HEARTBEAT), ALERTS, "beats", PMIX_MONITOR_HEARTBEAT_TIME,
        info_bool(PMIX_MONITOR_APP_CONTROL));
    barrier();
    sleep_ms(me.rank ? 0 : 300); /* the other ranks begin earlier, and end later */
    slept = -sleeps_of(getppid());
    began = now_s();
    for (int i = 0; i < n; i++) {
        PMIx_Heartbeat();
        sleep_ms(ms);
    }
    slept += sleeps_of(getppid());
    if (me.rank == 0) {
        printf("SLEPT %ld in %.1f s, %u heartbeats\n", slept, now_s() - began,
               (unsigned)n * job_size);
        CHECK(slept <= 10 * (now_s() - began + 1));
    } else {
        sleep_ms(1000);
    }
    barrier();
    cancel("beats");
}
