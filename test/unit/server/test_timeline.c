/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded times of processes, and the query for them. */
#include "fake_host.h"
#include "raw.h"

#include "core/base/clock.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/timeline.h"
#include "pmix_tool.h"

#include <string.h>

enum { COLUMNS = 5, NUMBER = 0, KIND, ENTERED, LEFT, LAST };

static const pmix_proc_t all = {"job", PMIX_RANK_WILDCARD};
static uint64_t steps[PX_N_STEPS], rows[8][COLUMNS], n_rows, n_dropped;

/* Sets the parameter, and returns a host that leaves queries to the server. */
static const pmix_server_module_t *host_with(const char *limit)
{
    static pmix_server_module_t m;

    setenv("PMIX_MCA_server_timeline", limit, 1);
    m = host_module;
    m.query = NULL;
    return &m;
}

static void start(const char *limit, uint32_t n_local)
{
    raw_start(host_with(limit), n_local, 0);
}

/* Copies an array of numbers, and returns their count. */
static size_t take(const pmix_info_t *info, uint64_t *to, size_t most)
{
    const pmix_data_array_t *array = info->value.data.darray;

    ck_assert_int_eq(info->value.type, PMIX_DATA_ARRAY);
    ck_assert_int_eq(array->type, PMIX_UINT64);
    ck_assert_uint_le(array->size, most);
    if (array->size > 0)
        memcpy(to, array->array, array->size * sizeof(*to));
    return array->size;
}

/* Queries the times of a rank of "job". */
static pmix_status_t ask(pmix_rank_t rank)
{
    char key[] = TENON_QUERY_TIMELINE, *keys[] = {key, NULL};
    pmix_proc_t proc = raw_proc("job", rank);
    pmix_info_t about, *found = NULL;
    pmix_query_t query = {.keys = keys, .qualifiers = &about, .nqual = 1};
    const pmix_info_t *in;
    size_t n = 0, n_in;

    ok(PMIx_Info_load(&about, PMIX_PROCID, &proc, PMIX_PROC));
    pmix_status_t rc = PMIx_Query_info(&query, 1, &found, &n);
    if (!rc) {
        ck_assert_uint_eq(n, 1);
        ck_assert(px_value_infos(&found->value, &in, &n_in));
        ck_assert_uint_eq(n_in, 3);
        ck_assert_uint_eq(take(&in[0], steps, PX_N_STEPS), PX_N_STEPS);
        n_rows = take(&in[1], rows[0], sizeof(rows) / sizeof(rows[0][0])) / COLUMNS;
        n_dropped = in[2].value.data.uint64;
    }
    PMIx_Info_free(found, n);
    PMIx_Info_destruct(&about);
    return rc;
}

static void fence(void)
{
    const uint32_t tag = 300;

    raw_collect(one, tag, PX_OP_FENCE, &all, 1, NULL);
    ck_assert(raw_quiet(one));
    raw_collect(two, tag, PX_OP_FENCE, &all, 1, NULL);
    ok(raw_status(one, tag));
    ok(raw_status(two, tag));
}

/* Finalizes a rank with times of its own. */
static pmix_status_t finalize_with(int fd, const uint64_t *times, int32_t n)
{
    px_writer w = raw_begin(PX_OP_FINALIZE);

    px_pack(&w, times, n, PMIX_UINT64);
    return raw_request(fd, w, NULL);
}

PX_TEST(steps_are_recorded_in_their_order)
{
    start("8", 2);
    const pmix_proc_t first = raw_proc("job", 0);
    px_reader reply;

    raw_send(one, 200, raw_begin(PX_OP_REQ));
    ck_assert(raw_recv(one, 200, &reply));
    ok(raw_commit(one, "key", 1));
    ok(raw_commit(one, "key", 2));
    ok(raw_finalize(one));
    ok(ask(0));
    ck_assert_uint_gt(steps[PX_STEP_CONNECT], 0);
    ck_assert_uint_gt(steps[PX_STEP_JOB], steps[PX_STEP_CONNECT]);
    ck_assert_uint_gt(steps[PX_STEP_COMMIT], steps[PX_STEP_JOB]);
    ck_assert_uint_gt(steps[PX_STEP_FINALIZE], steps[PX_STEP_COMMIT]);
    ck_assert_uint_le(steps[PX_STEP_FINALIZE], px_clock_ns());
    static const enum px_step unseen[] = {PX_STEP_FORK,  PX_STEP_EXEC, PX_STEP_INIT,
                                          PX_STEP_READY, PX_STEP_PUT,  PX_STEP_EXIT};
    for (size_t i = 0; i < PX_COUNT(unseen); i++)
        ck_assert_uint_eq(steps[unseen[i]], 0);
    PMIx_server_deregister_client(&first, NULL, NULL);
    fails(ask(0), NOT_FOUND);
}

static void host_starts(void *arg)
{
    px_server_client_started(px_process.server, arg, getpid());
}

static void host_runs(void *arg)
{
    px_server_client_runs(px_process.server, arg);
}

static void host_ends(void *arg)
{
    px_server_client_ended(px_process.server, arg, 0);
}

static void host_restarts(void *arg)
{
    ok(px_server_restart_client(px_process.server, arg, 1));
}

PX_TEST(the_host_records_starts_and_ends_and_a_restart_empties_the_record)
{
    pmix_proc_t proc = raw_proc("job", 0);

    raw_server_start(host_with("8"), 2, 0);
    raw_on_loop(host_starts, &proc);
    one = raw_client(0); /* before the exec is noticed */
    raw_on_loop(host_runs, &proc);
    raw_on_loop(host_ends, &proc);
    ok(ask(0));
    ck_assert_uint_gt(steps[PX_STEP_FORK], 0);
    ck_assert_uint_gt(steps[PX_STEP_EXEC], steps[PX_STEP_FORK]);
    ck_assert_uint_eq(steps[PX_STEP_EXEC], steps[PX_STEP_CONNECT]);
    ck_assert_uint_gt(steps[PX_STEP_EXIT], steps[PX_STEP_CONNECT]);
    raw_on_loop(host_restarts, &proc);
    ok(ask(0));
    for (int i = 0; i < PX_N_STEPS; i++)
        ck_assert_uint_eq(steps[i], 0);
}

PX_TEST(a_collective_has_its_times_and_its_last_rank)
{
    static const pmix_proc_t both[] = {{"job", 0}, {"job", 1}};

    start("8", 2);
    fence();
    raw_collect(two, 400, PX_OP_CONNECT, both, 2, NULL);
    ck_assert(raw_quiet(two));
    ok(ask(1));
    ck_assert_uint_eq(rows[1][LEFT], 0); /* not yet */
    ck_assert_uint_eq(rows[1][LAST], PMIX_RANK_UNDEF);
    raw_collect(one, 400, PX_OP_CONNECT, both, 2, NULL);
    ok(raw_status(one, 400));
    for (pmix_rank_t r = 0; r < 2; r++) {
        ok(ask(r));
        ck_assert_uint_eq(n_rows, 2);
        ck_assert_uint_eq(n_dropped, 0);
        ck_assert_uint_eq(rows[0][KIND], PX_OP_FENCE);
        ck_assert_uint_eq(rows[0][LAST], 1);
        ck_assert_uint_eq(rows[1][KIND], PX_OP_CONNECT);
        ck_assert_uint_eq(rows[1][LAST], 0);
        ck_assert_uint_gt(rows[1][NUMBER], rows[0][NUMBER]);
        for (int i = 0; i < 2; i++)
            ck_assert_uint_ge(rows[i][LEFT], rows[i][ENTERED]);
    }
}

PX_TEST(collectives_beyond_the_limit_are_counted)
{
    start("2", 2);
    for (int i = 0; i < 5; i++)
        fence();
    ok(ask(0));
    ck_assert_uint_eq(n_rows, 2);
    ck_assert_uint_eq(n_dropped, 3);
}

PX_TEST(a_rank_that_ends_has_not_left)
{
    start("8", 2);
    raw_collect(one, 400, PX_OP_FENCE, &all, 1, NULL);
    ck_assert(raw_quiet(one));
    ok(raw_finalize(one));
    ok(ask(0));
    ck_assert_uint_eq(n_rows, 1);
    ck_assert_uint_eq(rows[0][LEFT], 0);
}

/* Messages with times. The clock is the test's own. */
PX_TEST(own_times_count_if_they_are_in_the_life_of_the_process)
{
    const uint64_t now = px_clock_ns(), hour = UINT64_C(3600000000000);
    const uint64_t good[] = {now - 3, now - 2, now - 1},
                   mixed[] = {now - 3, now + hour, 0}, more[] = {1, 2, 3, 4};
    const struct {
        const uint64_t *times;
        int32_t n;
        uint64_t init, ready, put;
    } messages[] = {
        {good, 3, now - 3, now - 2, now - 1},
        {mixed, 3, now - 3, 0, 0},
        {more, 4, 0, 0, 0},
        {more, 2, 0, 0, 0},
    };

    raw_server_start(host_with("8"), PX_COUNT(messages), 0);
    for (pmix_rank_t r = 0; r < PX_COUNT(messages); r++) {
        ok(finalize_with(raw_client(r), messages[r].times, messages[r].n));
        ok(ask(r));
        ck_assert_uint_eq(steps[PX_STEP_INIT], messages[r].init);
        ck_assert_uint_eq(steps[PX_STEP_READY], messages[r].ready);
        ck_assert_uint_eq(steps[PX_STEP_PUT], messages[r].put);
        ck_assert_uint_gt(steps[PX_STEP_FINALIZE], 0);
    }
}

static void has_no_record(void *arg)
{
    pmix_proc_t proc = raw_proc("job", 0);

    *(bool *)arg = !px_local_find(px_process.server, &proc)->timeline;
}

PX_TEST(without_the_parameter_nothing_is_recorded)
{
    const uint64_t times[3] = {1, 2, 3};
    bool none = false;

    start("0", 2);
    fence();
    raw_on_loop(has_no_record, &none);
    ck_assert(none);
    fails(ask(0), NOT_FOUND);
    ok(finalize_with(one, times, 3));
}

PX_TEST_MAIN("server/timeline", NULL, host_end)
