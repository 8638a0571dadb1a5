/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that the spawning program receives about a job, and processes that stop for a debugger.
 * Clients that stop in PMIx_Init are tested by test/integration/cross.sh. */
#include "jobs.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "core/server/host.h"

static struct event {
    pmix_status_t code;
    char nspace[PMIX_MAX_NSLEN + 1], where[32];
    time_t at;
} events[8];
static atomic_uint n_events;

PX_TEST_HANDLER(on_event)
{
    struct event *h = &events[n_events];
    const pmix_info_t *at = px_info_find(info, n, PMIX_EVENT_TIMESTAMP);

    h->code = code;
    h->at = at ? at->value.data.time : 0;
    px_str_copy(h->nspace, sizeof(h->nspace), px_info_str(info, n, PMIX_NSPACE));
    px_str_copy(h->where, sizeof(h->where), px_info_str(info, n, PMIX_BREAKPOINT));
    n_events++;
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void setup(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE,
                             PMIX_READY_FOR_DEBUG};

    jobs_setup();
    ck_assert_int_ge(PMIx_Register_event_handler(codes, PX_COUNT(codes), NULL, 0,
                                                 on_event, NULL, NULL),
                     0);
}

PX_TEST(the_start_of_a_job_is_notified_on_request)
{
    time_t began = time(NULL);

    spawn(1, "true");
    await_end(PMIX_SUCCESS);
    ck_assert_uint_eq(n_events, 0);
    ok(spawn_asking(PMIX_NOTIFY_JOB_EVENTS, &(bool){true}, PMIX_BOOL, 3, "true"));
    await_end(PMIX_SUCCESS);
    ck_assert_uint_eq(n_events, 2);
    ck_assert_int_eq(events[0].code, PMIX_EVENT_JOB_START);
    ck_assert_int_eq(events[1].code, PMIX_LAUNCH_COMPLETE);
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(events[i].nspace, job_name);
        ck_assert_int_ge(events[i].at, began);
    }
}

/* Processes stop before any of their own code runs. The spawning program gets an event when all
 * have stopped. */
PX_TEST(processes_stop_at_exec_until_they_are_continued)
{
    pmix_rank_t ranks[] = {1, 2};
    const pmix_rank_t one = 1, all = PMIX_RANK_WILDCARD;
    const pmix_data_array_t list = {PMIX_PROC_RANK, 2, ranks};
    const struct {
        const void *value;
        pmix_data_type_t type;
        bool stops[3];
    } rows[] = {{&one, PMIX_PROC_RANK, {false, true, false}},
                {&all, PMIX_PROC_RANK, {true, true, true}},
                {&list, PMIX_DATA_ARRAY, {false, true, true}},
                {&(bool){true}, PMIX_BOOL, {true, true, true}}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        n_events = 0;
        ok(spawn_asking(PMIX_DEBUG_STOP_ON_EXEC, rows[i].value, rows[i].type, 3,
                        "touch up$PMIX_RANK"));
        ck_assert_uint_eq(n_events, 1);
        ck_assert_int_eq(events[0].code, PMIX_READY_FOR_DEBUG);
        ck_assert_str_eq(events[0].where, "exec");
        ck_assert_str_eq(events[0].nspace, job_name);
        for (int r = 0; r < 3; r++)
            if (!rows[i].stops[r])
                await_file((const char *[]){"up0", "up1", "up2"}[r]);
        usleep(100000);
        ck_assert(!exists("up0") && !exists("up1") && !exists("up2"));
        ok(send_signal(SIGCONT, NULL));
        await_end(PMIX_SUCCESS);
        for (int r = 0; r < 3; r++)
            if (rows[i].stops[r])
                await_file((const char *[]){"up0", "up1", "up2"}[r]);
    }
}

PX_TEST(a_job_that_is_stopped_can_be_ended)
{
    ok(spawn_asking(PMIX_DEBUG_STOP_ON_EXEC, NULL, PMIX_BOOL, 2, "exec sleep 20"));
    ok(control(PMIX_JOB_CTRL_TERMINATE, NULL));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
}

/* Sets the time limit of stops. */
static void limit_stops(uint64_t ms)
{
    launcher()->debug_timeout_ms = ms;
}

PX_TEST(a_stop_that_no_debugger_ends_has_a_time_limit)
{
    limit_stops(300);
    ok(spawn_asking(PMIX_DEBUG_STOP_ON_EXEC, &(pmix_rank_t){1}, PMIX_PROC_RANK, 2,
                    "exec sleep 20"));
    await_failure(PMIX_ERR_TIMEOUT, PMIX_ERR_TIMEOUT, PMIX_RANK_UNDEF, 124,
                  "rank 1 has waited at exec for a debugger for 0.300 s, the limit "
                  "(embedded_debug_timeout)");
    /* No limit; then a job that goes on before the limit. */
    for (int limited = 0; limited < 2; limited++) {
        limit_stops(limited ? 1500 : 0);
        ok(spawn_asking(PMIX_DEBUG_STOP_ON_EXEC, NULL, PMIX_BOOL, 2,
                        limited ? "sleep 2; touch up$PMIX_RANK"
                                : "touch up$PMIX_RANK"));
        if (!limited)
            usleep(400000);
        ok(send_signal(SIGCONT, NULL));
        await_end(PMIX_SUCCESS);
        await_file("up0");
        await_file("up1");
    }
    ck_assert_int_eq(seen.n_failures, 0);
}

/* The limit counts again when the debugger has left. */
PX_TEST(an_attached_debugger_may_stop_a_process_without_limit)
{
    limit_stops(1500);
    ok(spawn_asking(PMIX_DEBUG_STOP_ON_EXEC, NULL, PMIX_BOOL, 1, "exec sleep 20"));
    const pid_t pid = px_job_find(launcher(), job_name)->tasks[0].pid;

    PX_TEST_NEEDS(ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0, "ptrace");
    usleep(2000000);
    ck_assert_int_eq(seen.n_failures, 0);
    ok(kill(pid, 0));
    ok(ptrace(PTRACE_DETACH, pid, NULL, NULL));
    await_end(PMIX_ERR_TIMEOUT);
}

static pmix_status_t spawn_daemons(const char *count, const char *nspace)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t target;

    px_proc_set(&target, nspace, PMIX_RANK_WILDCARD);
    ok(px_infos_add(&infos, PMIX_DEBUGGER_DAEMONS, NULL, PMIX_BOOL));
    ok(px_infos_add(&infos, count, &(uint16_t){2}, PMIX_UINT16));
    if (*nspace)
        ok(px_infos_add(&infos, PMIX_DEBUG_TARGET, &target, PMIX_PROC));
    for (size_t i = 0; i < infos.n; i++)
        PMIx_Info_required(&infos.v[i]);
    return spawn_with(&infos, 1, "while test ! -e go; do sleep 0.01; done");
}

/* The target job determines the number of daemons, and daemons can read its name. Global ranks and
 * node sizes do not count daemons. */
PX_TEST(debugger_daemons_are_no_part_of_the_applications)
{
    static const struct {
        const char *count;
        uint32_t n;
    } rows[] = {{PMIX_DEBUG_DAEMONS_PER_PROC, 6}, {PMIX_DEBUG_DAEMONS_PER_NODE, 2}};
    char target[PMIX_MAX_NSLEN + 1];
    pmix_value_t *v;

    spawn_sleepers(3);
    px_str_copy(target, sizeof(target), job_name);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(spawn_daemons(rows[i].count, target));
        v = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
        ck_assert_uint_eq(v->data.uint32, rows[i].n);
        PMIx_Value_free(v, 1);
        v = get(PMIX_RANK_WILDCARD, PMIX_DEBUG_TARGET);
        ck_assert_str_eq(v->data.proc->nspace, target);
        PMIx_Value_free(v, 1);
        spawn(1, "exec sleep 1");
        v = get(0, PMIX_GLOBAL_RANK);
        ck_assert_uint_eq(v->data.rank, 3 + i);
        PMIx_Value_free(v, 1);
        v = get(PMIX_RANK_WILDCARD, PMIX_NODE_SIZE);
        ck_assert_uint_eq(v->data.uint32, 4);
        PMIx_Value_free(v, 1);
        await_end(PMIX_SUCCESS);
        make_file("go");
        await_end(PMIX_SUCCESS);
        remove_file("go");
    }
    fails(spawn_daemons(PMIX_DEBUG_DAEMONS_PER_PROC, ""), BAD_PARAM);
    fails(spawn_daemons(PMIX_DEBUG_DAEMONS_PER_PROC, "no-such-job"), NOT_FOUND);
}

PX_TEST(ranks_that_are_not_there_cannot_stop)
{
    static const char *const keys[] = {PMIX_DEBUG_STOP_ON_EXEC, PMIX_DEBUG_STOP_IN_INIT,
                                       PMIX_DEBUG_STOP_IN_APP};
    const pmix_rank_t two = 2;
    const float wrong = 1.5F;
    pmix_data_array_t array = {PMIX_FLOAT, 1, (void *)&wrong};

    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        fails(spawn_asking(keys[i], &two, PMIX_PROC_RANK, 2, "true"), BAD_PARAM);
        fails(spawn_asking(keys[i], &wrong, PMIX_FLOAT, 2, "true"), BAD_PARAM);
        fails(spawn_asking(keys[i], &array, PMIX_DATA_ARRAY, 2, "true"), BAD_PARAM);
        fails(spawn_asking(keys[i], "1", PMIX_STRING, 2, "true"), BAD_PARAM);
    }
}

PX_TEST_MAIN("host/debug", setup, jobs_teardown)
