/* SPDX-License-Identifier: BSD-3-Clause */
/* Driver of steps: starts run in order, undos in reverse order from the step that failed. In
 * traces, "a" is the start of the first step, "A" its undo. */
#include "core/host/steps.h"

#include <string.h>

#include "core/base/str.h"
#include "px_test.h"

#define N 4

/* Time at which a step finishes: with its start, within its start, or later. */
enum way { NOW, WITHIN, LATER, N_WAYS };

static struct run {
    struct px_steps steps;
    enum way way;
    int fails;     /* index of a step; -1: none */
    int slow_undo; /* index of a step whose undo takes time; -1: none */
    bool is_slow;  /* the slow undo has run once */
    bool pending;  /* a step has not finished */
    pmix_status_t status;
    char why[16];
    char trace[64];
} run;

static void note(char c)
{
    run.trace[strlen(run.trace)] = c;
}

static void finish(bool fails)
{
    run.pending = false;
    px_steps_finish(&run.steps, fails ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS,
                    fails ? "the reason" : NULL);
}

static pmix_status_t start(void *arg, struct px_err *err)
{
    const int at = (int)run.steps.at;
    const bool fails = at == run.fails;

    ck_assert_ptr_eq(arg, &run);
    note((char)('a' + at));
    if (run.way == NOW)
        return fails ? px_err_set(err, PMIX_ERR_NOT_FOUND, "the reason") : PMIX_SUCCESS;
    run.pending = true;
    if (run.way == WITHIN)
        finish(fails);
    return PX_STEP_PENDING;
}

static bool undo(void *arg)
{
    const int at = (int)run.steps.at;
    const bool waits = at == run.slow_undo && !run.is_slow;

    ck_assert_ptr_eq(arg, &run);
    note((char)('A' + at));
    run.is_slow |= waits;
    return !waits;
}

static void on_done(void *arg)
{
    ck_assert_ptr_eq(arg, &run);
    note('!');
}

static void on_failed(void *arg, pmix_status_t status, const char *why)
{
    ck_assert_ptr_eq(arg, &run);
    note('?');
    run.status = status;
    px_str_copy(run.why, sizeof(run.why), why);
}

static void on_undone(void *arg)
{
    ck_assert_ptr_eq(arg, &run);
    note('.');
}

/* The third step has nothing to undo in some runs. */
static const struct px_step all[N] = {
    {"a", start, undo}, {"b", start, undo}, {"c", start, undo}, {"d", start, undo}};
static const struct px_step some[N] = {
    {"a", start, undo}, {"b", start, undo}, {"c", start, NULL}, {"d", start, undo}};
static const struct px_sequence sequences[] = {
    {all, N, on_done, on_failed, on_undone}, {some, N, on_done, on_failed, on_undone}};

static void begin(enum way way, int fails, int slow_undo, bool no_undo)
{
    run = (struct run){
        .steps = {.sequence = &sequences[no_undo], .name = "run", .arg = &run},
        .way = way,
        .fails = fails,
        .slow_undo = slow_undo};
    px_steps_run(&run.steps);
    while (run.pending)
        finish((int)run.steps.at == run.fails);
}

static const struct {
    int fails;
    const char *trace, *without_c;
} rows[] = {
    {-1, "abcd!", "abcd!"},         {0, "a?A.", "a?A."},
    {1, "ab?BA.", "ab?BA."},        {2, "abc?CBA.", "abc?BA."},
    {3, "abcd?DCBA.", "abcd?DBA."},
};

PX_TEST_LOOP(a_failed_step_undoes_all_before_it, PX_COUNT(rows))
{
    for (enum way way = NOW; way < N_WAYS; way++) {
        for (int no_undo = 0; no_undo < 2; no_undo++) {
            begin(way, rows[_i].fails, -1, no_undo);
            ck_assert_str_eq(run.trace, no_undo ? rows[_i].without_c : rows[_i].trace);
            ck_assert_int_eq(run.status,
                             rows[_i].fails < 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
            ck_assert_str_eq(run.why, rows[_i].fails < 0 ? "" : "the reason");
            ck_assert_uint_eq(run.steps.at, rows[_i].fails < 0 ? N : 0);
        }
    }
}

/* An undo that takes time runs twice, and the undos after it wait. */
PX_TEST_LOOP(undos_wait_for_one_that_takes_time, N)
{
    static const char *const before[N] = {"abcd?DCBA", "abcd?DCB", "abcd?DC", "abcd?D"};
    static const char *const after[N] = {"A.", "BA.", "CBA.", "DCBA."};

    for (enum way way = NOW; way < N_WAYS; way++) {
        begin(way, N - 1, _i, false);
        ck_assert_str_eq(run.trace, before[_i]);
        ck_assert_uint_eq(run.steps.at, _i);
        memset(run.trace, 0, sizeof(run.trace));
        px_steps_undo(&run.steps);
        ck_assert_str_eq(run.trace, after[_i]);
    }
}

/* An order to end a job undoes a run while a step is pending. */
PX_TEST_LOOP(a_run_can_be_undone_at_each_step, N)
{
    static const char *const traces[N] = {"aA.", "abBA.", "abcCBA.", "abcdDCBA."};

    run = (struct run){.steps = {.sequence = &sequences[0], .name = "run", .arg = &run},
                       .way = LATER,
                       .fails = -1,
                       .slow_undo = -1};
    px_steps_run(&run.steps);
    for (int i = 0; i < _i; i++)
        finish(false);
    px_steps_undo(&run.steps);
    ck_assert_str_eq(run.trace, traces[_i]);
    ck_assert_int_eq(run.status, PMIX_SUCCESS);
}

PX_TEST_MAIN("host/steps", NULL, NULL)
