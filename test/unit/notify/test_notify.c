/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom an event reaches: ranges, codes, affected processes. The chain itself is run through the
 * API, as a singleton. */
#include "core/notify/notify.h"
#include "core/types/type.h"
#include "pmix.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>

static pmix_proc_t proc(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    return p;
}

PX_TEST(ranges_include_whom_they_name)
{
    static const struct {
        pmix_data_range_t range;
        bool self, job, other;
    } rows[] = {
        {PMIX_RANGE_UNDEF, true, true, true},
        {PMIX_RANGE_LOCAL, true, true, true},
        {PMIX_RANGE_NAMESPACE, true, true, false},
        {PMIX_RANGE_SESSION, true, true, true},
        {PMIX_RANGE_GLOBAL, true, true, true},
        {PMIX_RANGE_PROC_LOCAL, true, false, false},
        {PMIX_RANGE_RM, false, false, false},
        {PMIX_RANGE_INVALID, false, false, false},
    };
    pmix_proc_t source = proc("a", 0), job = proc("a", 1), other = proc("b", 0);

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_int_eq(px_range_includes(rows[i].range, &source, NULL, 0, &source),
                         rows[i].self);
        ck_assert_int_eq(px_range_includes(rows[i].range, &source, NULL, 0, &job),
                         rows[i].job);
        ck_assert_int_eq(px_range_includes(rows[i].range, &source, NULL, 0, &other),
                         rows[i].other);
    }
}

PX_TEST(a_custom_range_includes_exactly_those_listed)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t source = proc("a", 0), listed = proc("b", PMIX_RANK_WILDCARD);
    pmix_proc_t in = proc("b", 7), out = proc("a", 0);

    ok(px_infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &listed, PMIX_PROC));

    ck_assert(px_range_includes(PMIX_RANGE_CUSTOM, &source, infos.v, infos.n, &in));
    ck_assert(!px_range_includes(PMIX_RANGE_CUSTOM, &source, infos.v, infos.n, &out));
    ck_assert(!px_range_includes(PMIX_RANGE_CUSTOM, &source, NULL, 0, &in));
}

PX_TEST(default_handlers_do_not_want_non_default_events)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t code = -5;

    ok(px_infos_add(&infos, PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL));

    ck_assert(px_event_wanted(NULL, 0, NULL, 0, -5, NULL, 0));
    ck_assert(!px_event_wanted(NULL, 0, NULL, 0, -5, infos.v, infos.n));
    ck_assert(px_event_wanted(&code, 1, NULL, 0, -5, infos.v, infos.n));
    ck_assert(!px_event_wanted(&code, 1, NULL, 0, -6, NULL, 0));
}

PX_TEST(affected_processes_must_match_where_both_name_some)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t hit = proc("a", 3), miss = proc("a", 4);

    ok(px_infos_add(&infos, PMIX_EVENT_AFFECTED_PROC, &hit, PMIX_PROC));

    ck_assert(px_event_wanted(NULL, 0, &hit, 1, -5, infos.v, infos.n));
    ck_assert(!px_event_wanted(NULL, 0, &miss, 1, -5, infos.v, infos.n));
    ck_assert(px_event_wanted(NULL, 0, &miss, 1, -5, NULL, 0));
}

/* ---- the chain, in a singleton --------------------------------------------------- */

static sem_t called;
static char calls[64];

static void record(const char *what, pmix_status_t answer,
                   pmix_event_notification_cbfunc_fn_t cb, void *cbdata)
{
    strcat(calls, what);
    cb(answer, NULL, 0, NULL, NULL, cbdata);
    sem_post(&called);
}

PX_TEST_HANDLER(first)
{
    record("1", PMIX_EVENT_NO_ACTION_TAKEN, cb, cbdata);
}

PX_TEST_HANDLER(second)
{
    record("2", PMIX_EVENT_ACTION_COMPLETE, cb, cbdata);
}

PX_TEST_HANDLER(third)
{
    record("3", PMIX_SUCCESS, cb, cbdata);
}

static void begin(void)
{
    sem_init(&called, 0, 0);
    unsetenv("PMIX_NAMESPACE");
    ok(PMIx_Init(NULL, NULL, 0));
}

PX_TEST(action_complete_ends_the_chain)
{
    pmix_status_t codes[] = {-901, -902};

    begin();
    ck_assert_int_ge(PMIx_Register_event_handler(NULL, 0, NULL, 0, third, NULL, NULL),
                     0);
    ck_assert_int_ge(PMIx_Register_event_handler(codes, 2, NULL, 0, second, NULL, NULL),
                     0);
    ck_assert_int_ge(PMIx_Register_event_handler(codes, 1, NULL, 0, first, NULL, NULL),
                     0);

    ok(PMIx_Notify_event(-901, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
    sem_wait(&called);
    sem_wait(&called);
    ok(PMIx_Notify_event(-903, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
    sem_wait(&called);

    ck_assert_str_eq(calls, "123");
    ok(PMIx_Finalize(NULL, 0));
}

PX_TEST(an_event_nobody_wanted_waits_for_who_asks_by_name)
{
    pmix_status_t code = -910;

    begin();
    ok(PMIx_Notify_event(code, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));

    ck_assert_int_ge(PMIx_Register_event_handler(&code, 1, NULL, 0, first, NULL, NULL),
                     0);
    sem_wait(&called);

    ck_assert_str_eq(calls, "1");
    ok(PMIx_Finalize(NULL, 0));
}

PX_TEST(a_deregistered_handler_is_not_called)
{
    pmix_status_t code = -920;
    int id;

    begin();
    id = PMIx_Register_event_handler(&code, 1, NULL, 0, third, NULL, NULL);
    ck_assert_int_ge(id, 0);
    ck_assert_int_ge(PMIx_Register_event_handler(NULL, 0, NULL, 0, first, NULL, NULL),
                     0);

    ok(PMIx_Deregister_event_handler((size_t)id, NULL, NULL));
    ck_assert_int_eq(PMIx_Deregister_event_handler((size_t)id, NULL, NULL),
                     PMIX_ERR_NOT_FOUND);
    ok(PMIx_Notify_event(code, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
    sem_wait(&called);

    ck_assert_str_eq(calls, "1");
    ok(PMIx_Finalize(NULL, 0));
}

PX_TEST(calls_before_init_say_so)
{
    ck_assert_int_eq(PMIx_Notify_event(-1, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                     PMIX_ERR_INIT);
    ck_assert_int_eq(PMIx_Register_event_handler(NULL, 0, NULL, 0, first, NULL, NULL),
                     PMIX_ERR_INIT);
    ck_assert_int_eq(PMIx_Deregister_event_handler(0, NULL, NULL), PMIX_ERR_INIT);
}

PX_TEST_MAIN("notify/notify", NULL, NULL)
