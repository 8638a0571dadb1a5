/* SPDX-License-Identifier: BSD-3-Clause */
/* The recipients of an event: ranges, codes, affected processes. Chains run through the
 * API, as a singleton. */
#include "core/model/nspace.h"
#include "core/notify/notify.h"
#include "core/types/type.h"
#include "pmix.h"
#include "px_test.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t proc(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    return p;
}

PX_TEST(ranges_include_whom_they_name)
{
    PX_AUTO(px_infos) infos = {0};
    static const struct {
        pmix_data_range_t range;
        bool custom, self, job, other;
    } rows[] = {
        {PMIX_RANGE_UNDEF, false, true, true, true},
        {PMIX_RANGE_LOCAL, false, true, true, true},
        {PMIX_RANGE_NAMESPACE, false, true, true, false},
        {PMIX_RANGE_SESSION, false, true, true, true},
        {PMIX_RANGE_GLOBAL, false, true, true, true},
        {PMIX_RANGE_PROC_LOCAL, false, true, false, false},
        {PMIX_RANGE_RM, false, false, false, false},
        {PMIX_RANGE_INVALID, false, false, false, false},
        {PMIX_RANGE_CUSTOM, true, false, false, true},
        {PMIX_RANGE_CUSTOM, false, false, false, false}, /* without targets */
    };
    const pmix_proc_t source = proc("a", 0), job = proc("a", 1), other = proc("b", 7),
                      listed = proc("b", PMIX_RANK_WILDCARD);

    ok(px_infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &listed, PMIX_PROC));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_proc_t *const procs[] = {&source, &job, &other};
        const bool wanted[] = {rows[i].self, rows[i].job, rows[i].other};
        struct px_aim aim = px_aim_of(NULL, -1, infos.v, rows[i].custom ? infos.n : 0);

        for (size_t k = 0; k < PX_COUNT(procs); k++)
            ck_assert_msg(px_range_includes(&aim, rows[i].range, &source, procs[k]) ==
                              wanted[k],
                          "row %zu, process %zu", i, k);
        px_aim_fini(&aim);
    }
}

PX_TEST(affected_processes_must_match)
{
    const pmix_proc_t hit = proc("a", 3), miss = proc("a", 4);
    PX_AUTO(px_infos) plain = {0};
    PX_AUTO(px_infos) odd = {0};
    PX_AUTO(px_infos) affects = {0};
    const struct {
        const pmix_proc_t *affected;
        const px_infos *infos;
        bool wanted;
    } rows[] = {{NULL, &plain, true},   {NULL, &affects, true},
                {&hit, &affects, true}, {&miss, &affects, false},
                {&miss, &plain, true},  {&miss, &odd, true}};

    ok(px_infos_add(&odd, PMIX_EVENT_AFFECTED_PROC, "text", PMIX_STRING));
    ok(px_infos_add(&affects, PMIX_EVENT_AFFECTED_PROC, &hit, PMIX_PROC));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_aim aim = px_aim_of(NULL, -5, rows[i].infos->v, rows[i].infos->n);

        ck_assert_msg(px_aim_concerns(&aim, rows[i].affected,
                                      rows[i].affected != NULL) == rows[i].wanted,
                      "row %zu", i);
        px_aim_fini(&aim);
    }
}

PX_TEST(codes_are_sorted_once_each)
{
    pmix_status_t codes[] = {5, -1, 5, INT_MIN, INT_MAX, -1, 0};

    ck_assert_uint_eq(px_codes_sort(NULL, 0), 0);
    ck_assert(!px_codes_have(NULL, 0, 0));
    ck_assert_uint_eq(px_codes_sort(codes, PX_COUNT(codes)), 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert(px_codes_have(codes, 5, codes[i]) &&
                  (i == 0 || codes[i - 1] < codes[i]));
    ck_assert(!px_codes_have(codes, 5, 1));
}

/* ---- the chain, in a singleton --------------------------------------------------- */

/* Replaces the function of the C library. */
static atomic_long ahead_s;

int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);

    t->tv_sec += atomic_load(&ahead_s);
    return rc;
}

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

static void setup(void)
{
    sem_init(&called, 0, 0);
    unsetenv("PMIX_NAMESPACE");
    fails(PMIx_Init(NULL, NULL, 0), UNREACH);
}

static void teardown(void)
{
    PMIx_Finalize(NULL, 0);
}

static size_t add(pmix_status_t *codes, size_t n, pmix_notification_fn_t fn)
{
    int id = PMIx_Register_event_handler(codes, n, NULL, 0, fn, NULL, NULL);

    ck_assert_int_ge(id, 0);
    return (size_t)id;
}

static void notify(pmix_status_t code)
{
    ok(PMIx_Notify_event(code, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
}

PX_TEST(action_complete_ends_the_chain)
{
    pmix_status_t codes[] = {-901, -902};

    add(NULL, 0, third);
    add(codes, 2, second);
    add(codes, 1, first);

    notify(-901);
    sem_wait(&called);
    sem_wait(&called);
    notify(-903);
    sem_wait(&called);

    ck_assert_str_eq(calls, "123");
}

PX_TEST(an_unhandled_event_waits_for_a_handler_of_its_code)
{
    pmix_status_t code = -910;

    notify(code);
    add(&code, 1, first);
    sem_wait(&called);

    ck_assert_str_eq(calls, "1");
}

static void notify_much(pmix_status_t code, size_t size_b, const char *key)
{
    PX_AUTOFREE char *bytes = calloc(1, size_b);
    pmix_byte_object_t bo = {bytes, size_b};
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, key, &bo, PMIX_BYTE_OBJECT));
    ok(PMIx_Notify_event(code, NULL, PMIX_RANGE_PROC_LOCAL, infos.v, infos.n, NULL,
                         NULL));
}

/* The last row is notified without a handler, so that the cache first trims itself. */
PX_TEST(unhandled_events_are_kept_by_number_bytes_and_age)
{
    enum { MB = 1 << 20, OTHERS = -999 };
    static const struct {
        size_t size_b, n_before, n_after; /* bytes; small events before and after */
        time_t later_s;
        bool kept;
    } rows[] = {{1, 70, 0, 0, true},       {1, 0, 63, 0, true},
                {1, 0, 64, 0, false},      {15 * MB, 0, 0, 0, true},
                {17 * MB, 0, 0, 0, false}, {15 * MB, 0, 1, 0, true},
                {1, 0, 0, 59, true},       {1, 0, 0, 61, false}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_status_t code = -950 - (pmix_status_t)i, end = -1000 - (pmix_status_t)i;

        for (size_t k = 0; k < rows[i].n_before; k++)
            notify(OTHERS);
        notify_much(code, rows[i].size_b, "much");
        for (size_t k = 0; k < rows[i].n_after; k++)
            notify(OTHERS);
        atomic_fetch_add(&ahead_s, rows[i].later_s);
        calls[0] = '\0';
        add(&code, 1, first);
        add(&end, 1, third);
        notify(end);
        for (int k = 0; k < 1 + rows[i].kept; k++)
            sem_wait(&called);
        ck_assert_msg(strcmp(calls, rows[i].kept ? "13" : "3") == 0, "row %zu", i);
    }
}

/* ---- programming models ---------------------------------------------------------- */

PX_TEST_HANDLER(declared)
{
    static const char *const keys[] = {PMIX_PROGRAMMING_MODEL, PMIX_MODEL_LIBRARY_NAME,
                                       PMIX_THREADING_MODEL, PMIX_MODEL_NUM_THREADS,
                                       PMIX_EVENT_NON_DEFAULT};

    ck_assert_int_eq(code, PMIX_MODEL_DECLARED);
    ck_assert(px_proc_same(source, &px_process.model->self));
    ck_assert_uint_eq(n, PX_COUNT(keys));
    for (size_t i = 0; i < n; i++)
        ck_assert_str_eq(info[i].key, keys[i]);
    record(info[0].value.data.string, PMIX_SUCCESS, cb, cbdata);
}

/* Calls PMIx_Init as a library that offers this model; NULL: none. */
static void declare(const char *model)
{
    uint32_t n = 4;
    pmix_info_t info[5];

    PMIx_Info_load(&info[0], PMIX_MODEL_NUM_THREADS, &n, PMIX_UINT32);
    PMIx_Info_load(&info[1], PMIX_MODEL_LIBRARY_VERSION, &n, PMIX_UINT32);
    PMIx_Info_load(&info[2], PMIX_THREADING_MODEL, "PTHREAD", PMIX_STRING);
    PMIx_Info_load(&info[3], PMIX_MODEL_LIBRARY_NAME, "lib", PMIX_STRING);
    PMIx_Info_load(&info[4], PMIX_PROGRAMMING_MODEL, model, PMIX_STRING);
    PMIx_Info_required(&info[4]);
    fails(PMIx_Init(NULL, info, model ? 5 : 2), UNREACH);
    ok(PMIx_Finalize(NULL, 0));
    for (size_t i = 0; i < PX_COUNT(info); i++)
        PMIx_Info_destruct(&info[i]);
}

PX_TEST(each_handler_of_its_code_learns_of_each_model_in_this_process)
{
    pmix_status_t code = PMIX_MODEL_DECLARED;

    add(NULL, 0, third);
    declare("A");
    add(&code, 1, declared);
    sem_wait(&called);
    declare("B");
    declare("B");
    declare(NULL);
    sem_wait(&called);
    sem_wait(&called);
    add(&code, 1, declared);
    sem_wait(&called);
    sem_wait(&called);
    notify(-903);
    sem_wait(&called);

    ck_assert_str_eq(calls, "ABBAB3");
}

static atomic_bool slow_has_run;

PX_TEST_HANDLER(slow)
{
    usleep(20000);
    atomic_store(&slow_has_run, true);
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

PX_TEST(a_handler_learns_of_a_model_before_init_returns)
{
    pmix_status_t code = PMIX_MODEL_DECLARED;

    add(&code, 1, slow);
    declare("A");
    ck_assert(atomic_load(&slow_has_run));
}

PX_TEST(a_deregistered_handler_is_not_called)
{
    pmix_status_t code = -920;
    size_t id = add(&code, 1, third);

    add(NULL, 0, first);
    ok(PMIx_Deregister_event_handler(id, NULL, NULL));
    fails(PMIx_Deregister_event_handler(id, NULL, NULL), NOT_FOUND);
    notify(code);
    sem_wait(&called);

    ck_assert_str_eq(calls, "1");
}

/* A handler that answers from a thread; the first handler waits for the answer. */
static struct late {
    pmix_event_notification_cbfunc_fn_t cb;
    void *cbdata;
} late;

static void *answer_late(void *unused)
{
    pmix_info_t result = {.key = "result", .value = {.type = PMIX_BOOL}};

    late.cb(PMIX_EVENT_PARTIAL_ACTION_TAKEN, &result, 1, NULL, NULL, late.cbdata);
    return unused;
}

static void by_thread(const char *what, pmix_event_notification_cbfunc_fn_t cb,
                      void *cbdata, bool wait)
{
    pthread_t thread;

    strcat(calls, what);
    late = (struct late){cb, cbdata};
    ok(pthread_create(&thread, NULL, answer_late, NULL));
    ck_assert_int_eq(wait ? pthread_join(thread, NULL) : pthread_detach(thread), 0);
}

PX_TEST_HANDLER(answered_meanwhile)
{
    ck_assert_uint_eq(n + n_results, 1);
    by_thread("m", cb, cbdata, true);
}

PX_TEST_HANDLER(answered_afterwards)
{
    ck_assert_uint_eq(n + n_results, 2);
    by_thread("a", cb, cbdata, false);
}

PX_TEST_HANDLER(answered_at_once)
{
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(info->key, "detail");
    ck_assert_uint_eq(n_results, 2);
    record("o", PMIX_SUCCESS, cb, cbdata);
}

/* All handlers get the infos of the event and the results of earlier handlers; the next
 * event follows. */
PX_TEST(answers_count_whenever_and_wherever_they_come_from)
{
    pmix_info_t info = {.key = "detail", .value = {.type = PMIX_BOOL}};
    pmix_status_t both[] = {-930, -931};

    add(both, 1, answered_meanwhile);
    add(both, 2, answered_afterwards);
    add(NULL, 0, answered_at_once);
    for (int i = 0; i < 3; i++) {
        ok(PMIx_Notify_event(-930, NULL, PMIX_RANGE_PROC_LOCAL, &info, 1, NULL, NULL));
        sem_wait(&called);
    }
    ck_assert_str_eq(calls, "maomaomao");
}

/* Holds if each handler answers at once. */
PX_TEST(a_chain_ends_before_the_next_event_is_delivered)
{
    pmix_status_t code = -940;

    add(&code, 1, first);
    add(NULL, 0, third);
    for (int i = 0; i < 10; i++)
        notify(code);
    for (int i = 0; i < 20; i++)
        sem_wait(&called);
    ck_assert_str_eq(calls, "13131313131313131313");
}

PX_TEST_MAIN("notify/notify", setup, teardown)
