/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Event Notification". */
#include "standard.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { CODE = -4711, OTHER = -4712, QUIET_MS = 200, LATE_MS = 20000 };

/* Names of the handlers that were called, in order. The status of each is in the results that later
 * handlers get. */
static char called[256];
static atomic_int n_called;
static pmix_status_t answer = PMIX_SUCCESS;
static bool text_passed, proxy_passed, object_passed, results_passed;
static int object;

static void on_event(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                     const pmix_proc_t *source PX_UNUSED, pmix_info_t info[], size_t n,
                     pmix_info_t results[], size_t n_results,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_info_t *name = standard_find(info, n, PMIX_EVENT_HDLR_NAME);
    const pmix_info_t *own = standard_find(info, n, PMIX_EVENT_RETURN_OBJECT);
    pmix_info_t result;

    strcat(called, name ? name->value.data.string : "?");
    object_passed |= own && own->value.data.ptr == &object;
    text_passed |= standard_find(info, n, PMIX_EVENT_TEXT_MESSAGE) != NULL;
    proxy_passed |= standard_find(info, n, PMIX_EVENT_PROXY) != NULL;
    results_passed |= standard_find(results, n_results, "example.result") != NULL;
    PMIx_Info_load(&result, "example.result", "text", PMIX_STRING);
    n_called++;
    done(answer, &result, 1, NULL, NULL, arg);
    PMIx_Info_destruct(&result);
}

static atomic_int last_id = -1;

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    last_id = (int)id;
    standard_on_op(status, cbdata);
}

/* Registers a handler for a code, or 0 for all, with a name and a directive, or NULL. */
static void handle(pmix_status_t code, const char *name, const char *how,
                   const void *value, pmix_data_type_t type)
{
    pmix_info_t info[3];

    PMIx_Info_load(&info[0], PMIX_EVENT_HDLR_NAME, name, PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_EVENT_RETURN_OBJECT, &object, PMIX_POINTER);
    PMIx_Info_load(&info[2], how ? how : "example.own", value, how ? type : PMIX_BOOL);
    for (size_t i = 0; i < (how ? 3 : 2); i++)
        PMIx_Info_required(&info[i]);
    last_id = -1;
    pmix_status_t rc = PMIx_Register_event_handler(code ? &code : NULL, code ? 1 : 0,
                                                   info, how ? 3 : 2, on_event,
                                                   on_registered, NULL);
    STANDARD_CHECK(standard_wait(rc) == PMIX_SUCCESS && last_id >= 0);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[2]);
}

static void notify(pmix_data_range_t range, const char *key, const void *value,
                   pmix_data_type_t type)
{
    pmix_info_t info;

    PMIx_Info_load(&info, key ? key : "example.own", value, key ? type : PMIX_BOOL);
    STANDARD_CHECK(standard_wait(PMIx_Notify_event(CODE, NULL, range, &info, 1,
                                                   standard_on_op, NULL)) ==
                   PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
}

/* Waits until n handlers were called, or a short time that no more is called. */
static bool await(int n)
{
    const int limit_ms = n > n_called ? LATE_MS : QUIET_MS;

    for (int ms = 0; ms < limit_ms && (n > n_called || limit_ms == QUIET_MS); ms += 5)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return n_called == n;
}

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

/* ---- registration -------------------------------------------------------------------------- */

PX_TEST(the_order_of_handlers_is_required)
{
    ok(PMIx_server_init(NULL, NULL, 0));
    handle(CODE, "a", PMIX_EVENT_HDLR_APPEND, NULL, PMIX_BOOL);
    handle(CODE, "b", PMIX_EVENT_HDLR_PREPEND, NULL, PMIX_BOOL);
    handle(0, "i", NULL, NULL, PMIX_BOOL); /* a default handler */
    handle(CODE, "d", PMIX_EVENT_HDLR_LAST, NULL, PMIX_BOOL);
    handle(CODE, "c", PMIX_EVENT_HDLR_FIRST, NULL, PMIX_BOOL);
    handle(CODE, "e", PMIX_EVENT_HDLR_BEFORE, "a", PMIX_STRING);
    handle(CODE, "f", PMIX_EVENT_HDLR_AFTER, "a", PMIX_STRING);
    handle(CODE, "g", PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, NULL, PMIX_BOOL);
    handle(CODE, "h", PMIX_EVENT_HDLR_LAST_IN_CATEGORY, NULL, PMIX_BOOL);
    notify(PMIX_RANGE_PROC_LOCAL, NULL, NULL, PMIX_BOOL);
    ck_assert(await(9));
    ck_assert_str_eq(called, "cgbeafhid");
    ck_assert(object_passed && results_passed);
}

PX_TEST(a_handler_shall_return_action_complete_if_no_further_action_is_required)
{
    ok(PMIx_server_init(NULL, NULL, 0));
    answer = PMIX_EVENT_ACTION_COMPLETE;
    handle(CODE, "a", NULL, NULL, PMIX_BOOL);
    handle(CODE, "b", PMIX_EVENT_HDLR_APPEND, NULL, PMIX_BOOL);
    notify(PMIX_RANGE_PROC_LOCAL, NULL, NULL, PMIX_BOOL);
    ck_assert(await(1) && await(1));
}

PX_TEST_LOOP(handlers_for_affected_processes_are_required, 2)
{
    pmix_proc_t procs[] = {{"job", 1}, {"job", 2}, {"job", 3}};
    pmix_data_array_t two = {.type = PMIX_PROC, .size = 2, .array = procs};

    ok(PMIx_server_init(NULL, NULL, 0));
    if (_i == 0)
        handle(CODE, "a", PMIX_EVENT_AFFECTED_PROC, &procs[1], PMIX_PROC);
    else
        handle(CODE, "a", PMIX_EVENT_AFFECTED_PROCS, &two, PMIX_DATA_ARRAY);
    notify(PMIX_RANGE_PROC_LOCAL, PMIX_EVENT_AFFECTED_PROC, &procs[2], PMIX_PROC);
    ck_assert(await(0));
    notify(PMIX_RANGE_PROC_LOCAL, PMIX_EVENT_AFFECTED_PROC, &procs[1], PMIX_PROC);
    ck_assert(await(1));
}

/* ---- notification -------------------------------------------------------------------------- */

PX_TEST(attributes_of_an_event_will_be_passed_to_all_handlers)
{
    ok(PMIx_server_init(NULL, NULL, 0));
    handle(CODE, "a", NULL, NULL, PMIX_BOOL);
    notify(PMIX_RANGE_PROC_LOCAL, PMIX_EVENT_TEXT_MESSAGE, "text", PMIX_STRING);
    ck_assert(await(1) && text_passed);
    notify(PMIX_RANGE_PROC_LOCAL, PMIX_EVENT_PROXY, &(pmix_proc_t){"job", 1},
           PMIX_PROC);
    ck_assert(await(2) && proxy_passed);
}

PX_TEST(default_handlers_and_later_handlers_may_be_left_out)
{
    ok(PMIx_server_init(NULL, NULL, 0));
    handle(0, "a", NULL, NULL, PMIX_BOOL);
    notify(PMIX_RANGE_PROC_LOCAL, PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
    ck_assert(await(0));
    handle(CODE, "b", NULL, NULL, PMIX_BOOL); /* gets the event later */
    ck_assert(await(1));
    stop();
    ok(PMIx_server_init(NULL, NULL, 0));
    notify(PMIX_RANGE_PROC_LOCAL, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL);
    handle(CODE, "c", NULL, NULL, PMIX_BOOL);
    ck_assert(await(1));
}

static unsigned n_echoes;

static pmix_status_t host_notify(pmix_status_t code PX_UNUSED,
                                 const pmix_proc_t *source PX_UNUSED,
                                 pmix_data_range_t range PX_UNUSED,
                                 pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                                 pmix_op_cbfunc_t cb PX_UNUSED, void *cbdata PX_UNUSED)
{
    n_echoes++;
    return PMIX_OPERATION_SUCCEEDED;
}

PX_TEST(events_of_the_host_must_not_be_echoed_and_are_required_to_be_cached)
{
    static pmix_server_module_t module = {.notify_event = host_notify};

    ok(PMIx_server_init(&module, NULL, 0));
    notify(PMIX_RANGE_GLOBAL, NULL, NULL, PMIX_BOOL);
    handle(CODE, "a", NULL, NULL, PMIX_BOOL);
    ck_assert(await(1));
    ck_assert_uint_eq(n_echoes, 0);
}

static void fence(void)
{
    STANDARD_CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
}

STANDARD_CLIENT(ranges)
{
    pmix_proc_t second = standard_me;
    bool is_second = standard_me.rank == 1;

    second.rank = 1;
    handle(CODE, "a", NULL, NULL, PMIX_BOOL);
    fence();
    if (standard_me.rank == 0)
        notify(PMIX_RANGE_CUSTOM, PMIX_EVENT_CUSTOM_RANGE, &second, PMIX_PROC);
    STANDARD_CHECK(await(is_second ? 1 : 0));
    fence();
    if (standard_me.rank == 0)
        notify(PMIX_RANGE_NAMESPACE, NULL, NULL, PMIX_BOOL);
    STANDARD_CHECK(await((is_second ? 1 : 0) + 1));
    fence();
    notify(PMIX_RANGE_PROC_LOCAL, NULL, NULL, PMIX_BOOL);
    STANDARD_CHECK(await((is_second ? 1 : 0) + 2));
    fence();
}

PX_TEST(notifications_shall_be_delivered_across_their_range)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 3", "ranges");
}

STANDARD_MAIN("standard/events", NULL, stop)
