/* SPDX-License-Identifier: BSD-3-Clause */
/* A debugger, and the processes that stop for the debugger. */
#include "client.h"

/* ---- debugger FILE: starts two processes "debugged". Rank 1 waits in PMIx_Init, and both ranks wait in
 * the program. The debugger follows the job's events and releases both ranks. ------------------ */

static atomic_int n_starts, n_launched, n_in_init, n_in_app, n_ends;

HANDLER(on_news)
{
    const pmix_info_t *where = find(info, n, PMIX_BREAKPOINT);

    CHECK(find(info, n, PMIX_NSPACE) && find(info, n, PMIX_EVENT_TIMESTAMP));
    CHECK((status == PMIX_READY_FOR_DEBUG) == (where != NULL));
    n_starts += status == PMIX_EVENT_JOB_START;
    n_launched += status == PMIX_LAUNCH_COMPLETE;
    n_ends += status == PMIX_EVENT_JOB_END;
    n_in_init += where && strcmp(where->value.data.string, "pmix-init") == 0;
    n_in_app += where && strcmp(where->value.data.string, "application") == 0;
    HANDLED();
}

static void release(const char *job, pmix_rank_t rank)
{
    pmix_info_t info[3] = {info_bool(PMIX_EVENT_NON_DEFAULT),
                           info_bool(PMIX_EVENT_DO_NOT_CACHE), info_bool("unused")};
    pmix_proc_t target;

    PMIX_LOAD_PROCID(&target, job, rank);
    PMIX_INFO_LOAD(&info[2], PMIX_EVENT_CUSTOM_RANGE, &target, PMIX_PROC);
    GOOD(PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, &me, PMIX_RANGE_CUSTOM, info, 3, NULL,
                           NULL));
    PMIX_INFO_DESTRUCT(&info[2]);
}

static void name_file(char name[4096], const char *base, pmix_rank_t rank)
{
    snprintf(name, 4096, "%s-%u", base, rank);
}

JOINS(debugger)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE,
                             PMIX_READY_FOR_DEBUG, PMIX_EVENT_JOB_END};
    pmix_info_t asked[3] = {info_bool(PMIX_NOTIFY_JOB_EVENTS), info_bool("unused"),
                            info_bool(PMIX_DEBUG_STOP_IN_APP)};
    char files[2][4096];
    pmix_rank_t one = 1;
    pmix_nspace_t job;

    CHECK(argc == 2);
    watch(codes, 4, NULL, 0, on_news);
    PMIX_INFO_LOAD(&asked[1], PMIX_DEBUG_STOP_IN_INIT, &one, PMIX_PROC_RANK);
    for (int i = 0; i < 3; i++)
        PMIX_INFO_REQUIRED(&asked[i]);
    pmix_app_t app = app_of(NULL, 2,
                            (const char *[]){"client", "debugged", argv[1], NULL});
    GOOD(PMIx_Spawn(asked, 3, &app, 1, job));
    PMIX_APP_DESTRUCT(&app);
    CHECK(wait_for(&n_in_init, 20));
    for (uint32_t r = 0; r < 2; r++)
        name_file(files[r], argv[1], r);
    for (int i = 0; i < 2000 && !exists(files[0]); i++)
        sleep_ms(5);
    sleep_ms(200);
    CHECK(exists(files[0]) && !exists(files[1]) && n_in_app == 0);
    release(job, 1);
    CHECK(wait_for(&n_in_app, 20));
    CHECK(exists(files[1]) && n_ends == 0);
    release(job, PMIX_RANK_WILDCARD);
    CHECK(wait_for(&n_ends, 20));
    CHECK(n_starts == 1 && n_launched == 1 && n_in_init == 1 && n_in_app == 1);
}

/* ---- left_stopped: starts two processes that wait in PMIx_Init. No debugger comes, and a time limit ends
 * their job. ----------------------------------------------------------------------------------- */

static atomic_int n_timed_out;

HANDLER(on_end_of_stopped)
{
    const pmix_info_t *verdict = find(info, n, PMIX_JOB_TERM_STATUS);

    CHECK(verdict && verdict->value.data.status == PMIX_ERR_TIMEOUT);
    n_timed_out++;
    HANDLED();
}

JOINS(left_stopped)
{
    pmix_status_t code = PMIX_EVENT_JOB_END;
    /* Release 4.2 does not know PMIX_SPAWN_CHILD_SEP. */
    pmix_info_t asked[3] = {info_bool(PMIX_NOTIFY_JOB_EVENTS),
                            info_bool(PMIX_DEBUG_STOP_IN_INIT),
                            info_bool("pmix.spchildsep")};
    pmix_nspace_t job;

    watch(&code, 1, NULL, 0, on_end_of_stopped);
    pmix_app_t app = app_of(NULL, 2,
                            (const char *[]){"client", "debugged", "no-file", NULL});
    GOOD(PMIx_Spawn(asked, 3, &app, 1, job));
    PMIX_APP_DESTRUCT(&app);
    CHECK(wait_for(&n_timed_out, 20));
}

/* ---- debugged: rank 1 waits in PMIx_Init. Each rank makes a file and waits in the program for its
 * release. A second PMIx_Init does not wait. --------------------------------------------------- */

static atomic_int n_released;

HANDLER(on_release)
{
    n_released++;
    HANDLED();
}

ALONE(debugged)
{
    pmix_info_t ready[2] = {info_bool(PMIX_EVENT_NON_DEFAULT), info_bool("unused")};
    pmix_status_t code = PMIX_DEBUGGER_RELEASE;
    char file[4096];

    begin();
    VALUE_OF(&everyone, PMIX_DEBUG_STOP_IN_APP, PMIX_BOOL, v->data.flag);
    name_file(file, argv[1], me.rank);
    watch(&code, 1, NULL, 0, on_release);
    make_file(file);
    PMIX_INFO_LOAD(&ready[1], PMIX_BREAKPOINT, "main", PMIX_STRING);
    GOOD(PMIx_Notify_event(PMIX_READY_FOR_DEBUG, &me, PMIX_RANGE_RM, ready, 2, NULL,
                           NULL));
    PMIX_INFO_DESTRUCT(&ready[1]);
    CHECK(wait_for(&n_released, 20));
    CHECK(unlink(file) == 0);
    GOOD(PMIx_Finalize(NULL, 0));
    begin();
    GOOD(PMIx_Finalize(NULL, 0));
    printf("OK debugged %u\n", me.rank);
}
