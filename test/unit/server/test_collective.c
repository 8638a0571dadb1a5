/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, connect, disconnect: processes to wait for, requests to the host, errors, and the data of
 * collecting fences. The test plays the server of the other node. It reads the data that our server
 * sends, and writes the data that comes back. */
#include "core/server/collective/collective.h"

#include "scene.h"

#include "../rt/rt_test.h"

#include <string.h>

#define LOST           PMIX_ERR_LOST_CONNECTION
#define INVALID        PMIX_ERR_INVALID_OPERATION
#define UNKNOWN        PMIX_ERR_NOT_FOUND
#define BROKE_OFF      PMIX_ERR_INVALID_TERMINATION
#define FLAG_COLLECTED 0x01
#define FLAG_KEY_MAP   0x02

static const uint8_t ops[] = {PX_OP_FENCE, PX_OP_CONNECT, PX_OP_DISCONNECT};
static const pmix_proc_t all = {"job", PMIX_RANK_WILDCARD};

static const struct scene scenes[] = {
    SCENE("a fence within the node needs no host", 2, 0, {0, FENCES}, {0, QUIET},
          {1, FENCES}, {0, ENDS}, {1, ENDS}, {0, FENCES}, {1, FENCES}, {0, ENDS},
          {1, ENDS}, {0, HOST_CALLED, 0, "fence_nb"}),
    SCENE("different sets and operations do not mix", 3, 0, {0, FENCES},
          {0, ENTERS, PX_OP_FENCE, "01", 1}, {0, ENTERS, PX_OP_CONNECT, "01", 2},
          {1, ENTERS, PX_OP_FENCE, "01", 1}, {0, ENDS, .tag = 1}, {1, ENDS, .tag = 1},
          {1, ENTERS, PX_OP_CONNECT, "01", 2}, {0, ENDS, .tag = 2},
          {0, HOST_CALLED, 1, "connect"}, {1, FENCES}, {2, FENCES}, {0, ENDS},
          {0, HOST_CALLED, 0, "fence_nb"}),
    SCENE("a rank may be in the next fence before the host has ended the last", 1, 1,
          {0, HOST_IS, HOST_HELD}, {0, FENCES}, {0, HOST_AWAITS, 1, "fence_nb"},
          {0, FENCES, .tag = 1}, {0, HOST_AWAITS, 2, "fence_nb"}, {0, HOST_ANSWERS},
          {0, ENDS}, {0, HOST_ANSWERS, PMIX_ERR_TIMEOUT},
          {0, ENDS, PMIX_ERR_TIMEOUT, .tag = 1}),
    SCENE("a fence does not wait for a rank that finalizes", 2, 0, {0, FENCES},
          {0, QUIET}, {1, FINALIZES}, {0, ENDS, LOST}),
    SCENE("a rank that finalizes within its own fence gets an error", 2, 0, {0, FENCES},
          {0, QUIET}, {0, LEAVES, .tag = 1}, {0, ENDS, LOST}, {0, ENDS, .tag = 1}),
    SCENE("a rank that comes back is waited for again", 2, 0, {1, DIES}, {1, COMES},
          {0, FENCES}, {0, QUIET}, {1, FENCES}, {0, ENDS}, {1, ENDS}),
    SCENE("a death while the host has the fence changes nothing for the others", 2, 1,
          {0, HOST_IS, HOST_HELD}, {0, FENCES}, {1, FENCES},
          {0, HOST_AWAITS, 1, "fence_nb"}, {1, DIES}, {0, QUIET}, {0, HOST_ANSWERS},
          {0, ENDS}),
    SCENE("a fence with a deadline ends by it", 2, 0, {0, FENCES, 1},
          {0, ENDS, PMIX_ERR_TIMEOUT}, {1, FENCES}, {1, QUIET}, {0, FENCES}, {0, ENDS}),
    SCENE("a deadline holds while the host has the fence too", 1, 1,
          {0, HOST_IS, HOST_HELD}, {0, FENCES, 1}, {0, ENDS, PMIX_ERR_TIMEOUT},
          {0, HOST_ANSWERS}, {0, QUIET}),
    SCENE("ending the server ends every fence", 2, 1, {0, HOST_IS, HOST_HELD},
          {0, FENCES}, {0, ENTERS, PX_OP_FENCE, "02", 1},
          {0, HOST_AWAITS, 1, "fence_nb"}, {0, QUIET}, {0, SERVER_STOPS},
          {0, ENDS, LOST, .tag = 1}, {0, ENDS, LOST}),
    SCENE("a process that names others alone, or none, is refused", 2, 0,
          {0, ENTERS, PX_OP_FENCE, "1"}, {0, ENDS, PMIX_ERR_BAD_PARAM},
          {0, ENTERS, PX_OP_CONNECT, "1"}, {0, ENDS, PMIX_ERR_BAD_PARAM},
          {0, ENTERS, PX_OP_DISCONNECT, "1"}, {0, ENDS, PMIX_ERR_BAD_PARAM},
          {0, ENTERS, PX_OP_FENCE, ""}, {0, ENDS, PMIX_ERR_BAD_PARAM},
          {0, ENTERS, PX_OP_CONNECT, ""}, {0, ENDS, PMIX_ERR_BAD_PARAM}),
    /* Sets with the same members but different names. */
    SCENE("the wildcard and the list of all ranks are one set", 3, 0,
          {0, ENTERS, PX_OP_CONNECT, "*"}, {1, ENTERS, PX_OP_CONNECT, "210"},
          {2, ENTERS, PX_OP_CONNECT, "01122"}, {0, ENDS}, {1, ENDS}, {2, ENDS},
          {0, ENTERS, PX_OP_FENCE, "012"}, {1, FENCES}, {2, ENTERS, PX_OP_FENCE, "1*"},
          {0, ENDS}, {1, ENDS}, {2, ENDS}, {0, HOST_CALLED, 1, "connect"}),
    SCENE("all of this node is the list of its ranks", 2, 1,
          {0, ENTERS, PX_OP_FENCE, "L"}, {1, ENTERS, PX_OP_FENCE, "10"}, {0, ENDS},
          {1, ENDS}, {0, ENTERS, PX_OP_DISCONNECT, "L2"},
          {1, ENTERS, PX_OP_DISCONNECT, "*"}, {0, ENDS}, {1, ENDS},
          {0, HOST_CALLED, 1, "disconnect"}, {0, HOST_CALLED, 0, "fence_nb"}),
    SCENE("a process is in one connect of a set at a time, and in many of others", 3, 0,
          {0, ENTERS, PX_OP_CONNECT, "01"}, {0, ENTERS, PX_OP_CONNECT, "10", 1},
          {0, ENDS, INVALID, .tag = 1}, {0, ENTERS, PX_OP_CONNECT, "012", 2},
          {0, ENTERS, PX_OP_CONNECT, "02", 3}, {2, ENTERS, PX_OP_CONNECT, "*"},
          {2, ENTERS, PX_OP_CONNECT, "02", 3}, {0, ENDS, .tag = 3}, {2, ENDS, .tag = 3},
          {1, ENTERS, PX_OP_CONNECT, "*"}, {0, ENDS, .tag = 2}, {1, ENDS}, {2, ENDS},
          {1, ENTERS, PX_OP_CONNECT, "01", 1}, {0, ENDS}, {1, ENDS, .tag = 1}),
    SCENE("nor while the host has it", 1, 0, {0, HOST_IS, HOST_HELD},
          {0, ENTERS, PX_OP_CONNECT, "0"}, {0, HOST_AWAITS, 1, "connect"},
          {0, ENTERS, PX_OP_CONNECT, "0", 1}, {0, ENDS, INVALID, .tag = 1},
          {0, HOST_ANSWERS}, {0, ENDS}, {0, HOST_CALLED, 1, "connect"}),
    SCENE("a rank that cannot be is not found", 2, 1, {0, ENTERS, PX_OP_FENCE, "03"},
          {0, ENDS, UNKNOWN}, {0, ENTERS, PX_OP_CONNECT, "03"}, {0, ENDS, UNKNOWN},
          {0, ENTERS, PX_OP_DISCONNECT, "0L*3"}, {0, ENDS, UNKNOWN},
          {0, HOST_CALLED, 0, "connect"}),
    /* Members that leave. */
    SCENE("one that dies before it connects fails it for all at once", 3, 0,
          {0, ENTERS, PX_OP_CONNECT, "*"}, {0, QUIET}, {1, DIES}, {0, ENDS, LOST},
          {2, ENTERS, PX_OP_CONNECT, "*"}, {2, ENDS, LOST},
          {2, ENTERS, PX_OP_CONNECT, "02"}, {0, ENTERS, PX_OP_CONNECT, "02"}, {0, ENDS},
          {2, ENDS}, {0, HOST_CALLED, 1, "connect"}),
    SCENE("so does one that finalizes", 3, 0, {0, ENTERS, PX_OP_DISCONNECT, "*"},
          {0, QUIET}, {2, FINALIZES}, {0, ENDS, LOST},
          {1, ENTERS, PX_OP_DISCONNECT, "*"}, {1, ENDS, LOST},
          {0, HOST_CALLED, 0, "disconnect"}),
    SCENE("a host with processes elsewhere is asked once", 3, 1,
          {0, ENTERS, PX_OP_CONNECT, "*"}, {0, QUIET}, {1, DIES}, {0, ENDS, LOST},
          {2, ENTERS, PX_OP_CONNECT, "*"}, {2, ENDS, LOST},
          {0, HOST_CALLED, 1, "connect"}),
    SCENE("a host gets the failure of each connect that a dead rank cannot join", 3, 1,
          {1, DIES}, {0, ENTERS, PX_OP_CONNECT, "*"}, {0, ENDS, LOST},
          {0, HOST_CALLED, 1, "connect"}, {0, ENTERS, PX_OP_CONNECT, "*"},
          {0, ENDS, LOST}, {0, HOST_CALLED, 2, "connect"},
          {2, ENTERS, PX_OP_CONNECT, "*"}, {2, ENDS, LOST},
          {2, ENTERS, PX_OP_CONNECT, "*"}, {2, ENDS, LOST},
          {0, HOST_CALLED, 2, "connect"}, {2, ENTERS, PX_OP_CONNECT, "*"},
          {2, ENDS, LOST}, {0, HOST_CALLED, 3, "connect"}),
    SCENE("late participants of a failed connect are refused while the host has it", 3,
          1, {0, HOST_IS, HOST_HELD}, {1, DIES}, {0, ENTERS, PX_OP_CONNECT, "*"},
          {0, ENDS, LOST}, {0, HOST_AWAITS, 1, "connect"},
          {2, ENTERS, PX_OP_CONNECT, "*"}, {2, ENDS, LOST},
          {0, HOST_ANSWERS, PMIX_ERR_LOST_CONNECTION}, {1, COMES},
          {0, ENTERS, PX_OP_CONNECT, "*"}, {1, ENTERS, PX_OP_CONNECT, "*"},
          {2, ENTERS, PX_OP_CONNECT, "*"}, {0, HOST_AWAITS, 2, "connect"},
          {0, HOST_ANSWERS}, {0, ENDS}, {1, ENDS}, {2, ENDS}),
    SCENE("a rank that comes back has no part in the failed connect", 3, 1, {1, DIES},
          {0, ENTERS, PX_OP_CONNECT, "*"}, {0, ENDS, LOST}, {1, COMES},
          {1, ENTERS, PX_OP_CONNECT, "*"}, {1, QUIET}, {2, ENTERS, PX_OP_CONNECT, "*"},
          {2, ENDS, LOST}, {0, ENTERS, PX_OP_CONNECT, "*"},
          {2, ENTERS, PX_OP_CONNECT, "*"}, {0, ENDS}, {1, ENDS}, {2, ENDS},
          {0, HOST_CALLED, 2, "connect"}),
    SCENE("a failed connect is forgotten when all have come or died", 2, 1, {1, DIES},
          {0, ENTERS, PX_OP_CONNECT, "*"}, {0, ENDS, LOST}, {1, COMES},
          {0, ENTERS, PX_OP_CONNECT, "*"}, {0, QUIET}, {1, ENTERS, PX_OP_CONNECT, "*"},
          {0, ENDS}, {1, ENDS}, {0, HOST_CALLED, 2, "connect"}),
    /* Connects without a host that supports them. */
    SCENE("a connect of this node ends here if the host does not support it", 2, 1,
          {0, HOST_IS, HOST_ERROR, .tag = PMIX_ERR_NOT_SUPPORTED},
          {0, WANTS, BROKE_OFF}, {0, ENTERS, PX_OP_CONNECT, "01"},
          {1, ENTERS, PX_OP_CONNECT, "01"}, {0, ENDS}, {1, ENDS},
          {0, ENTERS, PX_OP_DISCONNECT, "0"}, {0, ENDS, INVALID},
          {0, ENTERS, PX_OP_CONNECT, "02"}, {0, ENDS, PMIX_ERR_NOT_SUPPORTED},
          {1, DIES}, {0, RECEIVES, BROKE_OFF}),
    SCENE_ALONE("what is not connected cannot be disconnected", 2,
                {0, ENTERS, PX_OP_DISCONNECT, "*"}, {0, ENDS, INVALID},
                {0, ENTERS, PX_OP_CONNECT, "*"}, {1, ENTERS, PX_OP_CONNECT, "*"},
                {0, ENDS}, {1, ENDS}, {0, ENTERS, PX_OP_DISCONNECT, "01"},
                {1, ENTERS, PX_OP_DISCONNECT, "*"}, {0, ENDS}, {1, ENDS},
                {1, ENTERS, PX_OP_DISCONNECT, "*"}, {1, ENDS, INVALID}),
    SCENE_ALONE("one that leaves while it is connected is an event for the others", 3,
                {0, WANTS, BROKE_OFF}, {2, WANTS, 0}, {0, ENTERS, PX_OP_CONNECT, "*"},
                {1, ENTERS, PX_OP_CONNECT, "*"}, {2, ENTERS, PX_OP_CONNECT, "*"},
                {0, ENDS}, {1, ENDS}, {2, ENDS}, {1, FINALIZES},
                {0, RECEIVES, BROKE_OFF}, {2, QUIET}, {1, DIES}, {0, QUIET}, {2, DIES},
                {0, RECEIVES, BROKE_OFF}),
    SCENE_ALONE("default handlers get the death of one, too", 2, {0, WANTS, 0},
                {0, ENTERS, PX_OP_CONNECT, "*"}, {1, ENTERS, PX_OP_CONNECT, "*"},
                {0, ENDS}, {1, ENDS}, {1, DIES}, {0, RECEIVES, BROKE_OFF}),
    SCENE_ALONE("one that has disconnected, or tried to, leaves in silence", 3,
                {0, WANTS, BROKE_OFF}, {0, ENTERS, PX_OP_CONNECT, "02"},
                {2, ENTERS, PX_OP_CONNECT, "02"}, {0, ENDS}, {2, ENDS},
                {2, ENTERS, PX_OP_DISCONNECT, "02"},
                {0, ENTERS, PX_OP_DISCONNECT, "02"}, {0, ENDS}, {2, ENDS},
                {2, FINALIZES}, {1, DIES}, {0, QUIET}),
    SCENE_ALONE("a disconnect after a loss fails, and settles it", 3,
                {1, WANTS, BROKE_OFF}, {0, ENTERS, PX_OP_CONNECT, "*"},
                {1, ENTERS, PX_OP_CONNECT, "*"}, {2, ENTERS, PX_OP_CONNECT, "*"},
                {0, ENDS}, {1, ENDS}, {2, ENDS}, {2, DIES}, {1, RECEIVES, BROKE_OFF},
                {0, ENTERS, PX_OP_DISCONNECT, "*"}, {0, ENDS, LOST}, {0, FINALIZES},
                {1, QUIET}, {1, ENTERS, PX_OP_DISCONNECT, "*"}, {1, ENDS, LOST}),
};

PX_TEST_LOOP(each_scene_of_a_collective_goes_as_written, PX_COUNT(scenes))
{
    scene_play(&scenes[_i]);
}

static void start(uint32_t n_local, uint32_t n_remote)
{
    raw_start(&host_module, n_local, n_remote);
}

/* Sends a fence of the whole job with tag 400. */
static void fence(int fd, bool collect)
{
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    raw_collect(fd, 400, PX_OP_FENCE, &all, 1, &info);
}

/* ---- the host --------------------------------------------------------------------------------- */

static pmix_status_t local_status(void)
{
    const pmix_info_t *info = px_info_find(host.given.v, host.given.n,
                                           PMIX_LOCAL_COLLECTIVE_STATUS);

    ck_assert_ptr_nonnull(info);
    ck_assert_int_eq(info->value.type, PMIX_STATUS);
    return info->value.data.status;
}

PX_TEST(the_host_is_asked_once_when_all_of_the_node_have_come)
{
    start(2, 2);
    fence(one, false);
    ck_assert(raw_quiet(one));
    ck_assert_uint_eq(host_calls("fence_nb"), 0);
    fence(two, false);
    ok(raw_status(one, 400));
    ok(raw_status(two, 400));
    ck_assert_uint_eq(host_calls("fence_nb"), 1);
    ck_assert_uint_eq(host.n_procs, 1);
    ck_assert(px_proc_same(&host.procs[0], &all));
    ck_assert(!host.data && host.n_data == 0);
    ok(local_status());
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_SORTED_PROC_ARRAY));
}

PX_TEST(the_order_of_participants_does_not_matter_and_the_host_gets_them_sorted)
{
    pmix_proc_t up[] = {raw_proc("job", 0), raw_proc("job", 1), raw_proc("job", 3)};
    pmix_proc_t down[] = {up[2], up[1], up[0]};

    start(2, 2);
    raw_collect(one, 400, PX_OP_FENCE, up, 3, NULL);
    raw_collect(two, 400, PX_OP_FENCE, down, 3, NULL);
    ok(raw_status(one, 400));
    ok(raw_status(two, 400));
    ck_assert_uint_eq(host.n_procs, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert(px_proc_same(&host.procs[i], &up[i]));
}

PX_TEST(without_the_slot_it_is_done_within_the_node_alone)
{
    static const pmix_server_module_t nothing = {0};
    const pmix_proc_t procs[] = {{"elsewhere", 0}, {"job", 0}};

    raw_start(&nothing, 1, 1);
    for (size_t i = 0; i < PX_COUNT(ops); i++) {
        raw_collect(one, 400, ops[i], &procs[1], 1, NULL);
        ok(raw_status(one, 400));
        raw_collect(one, 400, ops[i], &all, 1, NULL);
        fails(raw_status(one, 400), NOT_SUPPORTED);
        raw_collect(one, 400, ops[i], procs, 2, NULL);
        fails(raw_status(one, 400), NOT_FOUND);
    }
}

/* Only a real host can know such a namespace. The built-in host refuses the namespace. */
PX_TEST(a_namespace_that_is_not_known_here_is_for_the_host_to_judge)
{
    const pmix_proc_t procs[] = {{"job", 1}, {"job", 0}, {"elsewhere", 0}};

    for (int alone = 0; alone < 2; alone++) {
        raw_start(alone ? NULL : &host_module, 1, 1);
        for (size_t i = 0; i < PX_COUNT(ops); i++) {
            raw_collect(one, 400, ops[i], procs, 3, NULL);
            ck_assert_int_eq(raw_status(one, 400), alone ? UNKNOWN : PMIX_SUCCESS);
            ck_assert_uint_eq(host_calls("fence_nb"), 1);
            /* The host gets each rank, as servers of "elsewhere" do not know that "job" has two
             * ranks. */
            ck_assert_uint_eq(host.n_procs, 3);
            for (size_t k = 0; k < 3; k++)
                ck_assert(px_proc_same(&host.procs[k], &procs[2 - k]));
        }
        raw_server_stop();
    }
}

/* ---- directives ---------------------------------------------------------------------------- */

PX_TEST(the_earliest_deadline_holds_and_the_host_does_not_get_it)
{
    uint32_t seconds[] = {60, 1};
    pmix_info_t info[2];

    start(2, 1);
    host.how = HOST_HELD;
    for (size_t i = 0; i < PX_COUNT(seconds); i++)
        PMIx_Info_load(&info[i], PMIX_TIMEOUT, &seconds[i], PMIX_UINT32);
    for (size_t i = 0; i < PX_COUNT(ops); i++) {
        raw_collect(one, 400, ops[i], &all, 1, &info[0]);
        raw_collect(two, 400, ops[i], &all, 1, &info[1]);
        fails(raw_status(one, 400), TIMEOUT);
        fails(raw_status(two, 400), TIMEOUT);
        ck_assert_ptr_null(px_info_find(host.given.v, host.given.n, PMIX_TIMEOUT));
        ck_assert(host_answer(PMIX_SUCCESS));
        ck_assert(raw_quiet(one));
    }
}

PX_TEST(an_algorithm_is_advice_unless_it_is_required)
{
    static const struct {
        enum host_how how; /* HOST_HELD: the built-in host */
        bool required;
        pmix_status_t wanted;
        unsigned n_asked;
    } rows[] = {{HOST_DONE, false, PMIX_SUCCESS, 2},
                {HOST_DONE, true, PMIX_SUCCESS, 3},
                {HOST_ERROR, false, PMIX_SUCCESS, 2},
                {HOST_ERROR, true, PMIX_ERR_NOT_SUPPORTED, 3},
                {HOST_HELD, false, PMIX_SUCCESS, 0},
                {HOST_HELD, true, PMIX_ERR_NOT_SUPPORTED, 0}};
    const pmix_proc_t self = raw_proc("job", 0);
    unsigned n_asked = 0;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        host.status = PMIX_SUCCESS; /* for clients that connect */
        raw_start(rows[i].how == HOST_HELD ? NULL : &host_module, 1, 0);
        host.how = rows[i].how;
        host.status = PMIX_ERR_NOT_SUPPORTED;
        for (size_t o = 0; o < PX_COUNT(ops); o++) {
            px_writer w = raw_begin(ops[o]);
            PX_AUTO(px_infos) infos = {0};

            ok(px_infos_add(&infos, PMIX_COLLECTIVE_ALGO, "recursive", PMIX_STRING));
            ok(px_infos_add(&infos, PMIX_COLLECTIVE_ALGO_REQD, &rows[i].required,
                            PMIX_BOOL));
            px_pack_procs(&w, &self, 1);
            px_pack_infos(&w, infos.v, infos.n);
            raw_send(one, 400, w);
            ck_assert_int_eq(raw_status(one, 400), rows[i].wanted);
        }
        n_asked += rows[i].n_asked;
        ck_assert_uint_eq(host_calls("fence_nb") + host_calls("connect") +
                              host_calls("disconnect"),
                          n_asked);
        raw_server_stop();
    }
}

static void connect_many(void *arg)
{
    pmix_proc_t procs[] = {{"job", 0}, {"other", 0}};
    struct px_collective c = {
        .server = px_process.server, .procs = procs, .n_procs = 2};
    unsigned *n = arg;

    for (*n = 0; !px_connected_add(&c, true); ++*n)
        procs[1].rank++;
}

PX_TEST(what_is_connected_is_bounded_and_goes_with_its_job)
{
    raw_start(NULL, 1, 0);
    for (int i = 0; i < 2; i++) {
        unsigned n = 0;

        raw_on_loop(connect_many, &n);
        ck_assert_uint_eq(n, 1024);
        raw_drop_job("other");
    }
}

static const pmix_proc_t jobs[] = {{"job", PMIX_RANK_WILDCARD},
                                   {"other", PMIX_RANK_WILDCARD}};

/* Checks that a reply has both jobs. Each BYTE_OBJECT of the reply begins with the name of a job. */
static void assert_both_jobs(int fd)
{
    px_reader r, job;
    size_t n = 0;

    ok(raw_reply(fd, 400, &r));
    for (; !px_reader_done(&r); n++) {
        PX_AUTOFREE char *name = NULL;

        ok(px_unpack_view(&r, &job, PMIX_BYTE_OBJECT));
        ok(px_unpack_str(&job, &name));
        ck_assert_str_eq(name, jobs[n].nspace);
    }
    ck_assert_uint_eq(n, 2);
}

PX_TEST(jobs_that_connect_learn_about_each_other_until_one_goes)
{
    start(1, 0);
    raw_add_job("other", 1, 0, geteuid());
    int other = raw_client_of("other", 0);
    raw_collect(one, 400, PX_OP_CONNECT, jobs, 2, NULL);
    ck_assert(raw_quiet(one));
    raw_collect(other, 400, PX_OP_CONNECT, jobs, 2, NULL);
    assert_both_jobs(one);
    assert_both_jobs(other);
    raw_collect(one, 401, PX_OP_CONNECT, jobs, 2, NULL);
    ck_assert(raw_quiet(one));
    raw_drop_job("other");
    fails(raw_status(one, 401), LOST_CONNECTION);
}

/* ---- ranks that leave -------------------------------------------------------------------------- */

PX_TEST(the_parent_of_a_forked_child_does_not_finalize_for_it)
{
    start(2, 0);
    int child = raw_client(0);
    fence(two, false);
    ck_assert(raw_quiet(two));
    ok(raw_finalize(one));
    close(one);
    ck_assert_uint_eq(host_calls("client_finalized"), 0);
    ck_assert(raw_quiet(two)); /* rank 0 still has a connection */
    fence(child, false);
    ok(raw_status(two, 400));
    ok(raw_status(child, 400));
    ok(raw_finalize(child));
    ck_assert_uint_eq(host_calls("client_finalized"), 1);
}

PX_TEST(a_rank_whose_last_connection_dies_is_lost_even_if_another_finalized)
{
    start(2, 0);
    int child = raw_client(0);
    ok(raw_finalize(one));
    close(child);
    fence(two, false);
    fails(raw_status(two, 400), LOST_CONNECTION);
}

/* A process dies before or after the others have come, or has come itself. */
PX_TEST(the_host_is_given_the_failure_whenever_the_process_dies)
{
    enum { LATE, EARLY, WITHIN, N_TIMES };

    for (size_t i = 0; i < PX_COUNT(ops) * N_TIMES; i++) {
        uint8_t op = ops[i / N_TIMES];

        start(2, 1);
        if (i % N_TIMES != EARLY) {
            int first = i % N_TIMES == LATE ? one : two;
            raw_collect(first, 400, op, &all, 1, NULL);
            ck_assert(raw_quiet(first));
        }
        close(two);
        raw_await_gone(1);
        if (i % N_TIMES != LATE)
            raw_collect(one, 400, op, &all, 1, NULL);
        ck_assert_int_eq(raw_status(one, 400), op == PX_OP_FENCE ? PMIX_SUCCESS : LOST);
        fails(local_status(), LOST_CONNECTION);
        raw_server_stop();
    }
}

/* The limit holds for one process alone, and ends with the replies. */
PX_TEST(a_process_waits_in_so_many_collectives_and_no_more)
{
    enum { MOST = 256, FIRST_TAG = 1000 };
    static const struct {
        bool dies; /* or comes, too */
        pmix_status_t wanted;
    } rows[] = {{false, PMIX_SUCCESS}, {true, PMIX_ERR_LOST_CONNECTION}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        start(2, 0);
        for (uint32_t k = 0; k <= MOST; k++)
            raw_collect(one, FIRST_TAG + k, PX_OP_FENCE, &all, 1, NULL);
        fails(raw_status(one, FIRST_TAG + MOST), OUT_OF_RESOURCE);
        ck_assert(raw_quiet(one));
        for (uint32_t k = 0; !rows[i].dies && k < MOST; k++)
            raw_collect(two, FIRST_TAG + k, PX_OP_FENCE, &all, 1, NULL);
        if (rows[i].dies)
            close(two);
        for (uint32_t k = 0; k < MOST; k++)
            ck_assert_int_eq(raw_status(one, FIRST_TAG + k), rows[i].wanted);
        raw_collect(one, 400, PX_OP_FENCE, &(pmix_proc_t){"job", 0}, 1, NULL);
        ok(raw_status(one, 400));
        raw_server_stop();
    }
}

static void drop_all(void)
{
    raw_drop_job("other");
    raw_drop_job("job");
}

/* The loss of one rank ends several fences. The host drops all jobs in the first upcall. */
PX_TEST(a_host_may_deregister_everything_while_losses_are_worked_off)
{
    pmix_proc_t some[] = {raw_proc("job", 0), raw_proc("job", 1), raw_proc("job", 3)};

    start(3, 1);
    raw_add_job("other", 1, 0, geteuid());
    fence(one, false);
    fence(three, false);
    raw_collect(one, 401, PX_OP_FENCE, some, 3, NULL);
    raw_collect(one, 402, PX_OP_CONNECT, some, 3, NULL);
    ck_assert(raw_quiet(one));
    ck_assert(raw_quiet(three));
    host.within = drop_all;
    close(two);
    ck_assert(raw_closed(three) || raw_closed(three));
    host.within = NULL;
}

/* ---- data of this server ----------------------------------------------------------------------- */

static px_writer fresh(void)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    return w;
}

/* Appends w to another writer as a BYTE_OBJECT. */
static void put_inside(px_writer *to, px_writer w)
{
    ok(w.status);
    px_pack_bytes(to, w.buf.data, w.buf.len);
    px_writer_cleanup(&w);
}

static void put_rank(px_writer *server, uint32_t rank, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};
    px_writer w = fresh();

    px_pack_rank(&w, rank);
    px_pack_kval(&w, key, &v);
    put_inside(server, w);
}

static px_writer server_with(uint8_t flags)
{
    px_writer w = fresh();

    px_pack_u8(&w, flags, PMIX_BYTE);
    return w;
}

static void start_nodes(void)
{
    start(2, 2);
    host.how = HOST_HELD;
}

/* Runs a collecting fence of both ranks. The host appends the data of the other server to the data
 * of this server. */
static pmix_status_t fence_with(px_writer other)
{
    static unsigned n_fences;
    px_writer joined = fresh();

    fence(one, true);
    fence(two, true);
    host_await("fence_nb", ++n_fences);
    ok(px_buf_add(&joined.buf, host.data, host.n_data));
    put_inside(&joined, other);
    host.bytes = joined.buf.data;
    host.n_bytes = joined.buf.len;
    ck_assert(host_answer(PMIX_SUCCESS));
    px_writer_cleanup(&joined);
    pmix_status_t rc = raw_status(one, 400);
    ck_assert_int_eq(raw_status(two, 400), rc);
    return rc;
}

PX_TEST(the_data_is_the_remote_scope_of_each_committed_rank)
{
    uint8_t flags = 0;
    px_reader whole, server, part;
    struct px_kval kv = {0};
    pmix_rank_t rank;

    start_nodes();
    ok(fence_with(server_with(0)));
    ck_assert_uint_gt(host.n_data, 0); /* flags, though no rank has committed */
    ok(raw_commit(two, "colour", 7));  /* rank 0 commits nothing */
    ok(fence_with(server_with(0)));
    px_reader_init(&whole, px_codec_default, host.data, host.n_data);
    ok(px_unpack_view(&whole, &server, PMIX_BYTE_OBJECT));
    ck_assert(px_reader_done(&whole));
    ok(px_unpack_u8(&server, &flags, PMIX_BYTE));
    ck_assert_uint_eq(flags, FLAG_COLLECTED);
    ok(px_unpack_view(&server, &part, PMIX_BYTE_OBJECT));
    ck_assert(px_reader_done(&server));
    ok(px_unpack_rank(&part, &rank));
    ck_assert_uint_eq(rank, 1);
    ok(px_unpack_kval(&part, &kv));
    ck_assert_str_eq(kv.key, "colour");
    ck_assert_uint_eq(kv.value.data.uint32, 7);
    ck_assert(px_reader_done(&part));
    px_kval_fini(&kv);
}

PX_TEST(the_data_is_the_hosts_to_free_whatever_it_answers)
{
    start_nodes();
    ok(raw_commit(one, "colour", 7));
    host.how = HOST_ERROR;
    host.status = PMIX_ERR_NOT_SUPPORTED;
    fence(one, true);
    fence(two, true);
    fails(raw_status(one, 400), NOT_SUPPORTED);
    ck_assert_ptr_nonnull(host.data); /* host_done frees the data */
}

/* ---- data of the other server -------------------------------------------------------------------- */

PX_TEST(keys_of_another_nodes_ranks_can_be_read_after_the_fence)
{
    px_writer other = server_with(FLAG_COLLECTED);

    start_nodes();
    ok(raw_commit(one, "colour", 8));
    put_rank(&other, 0, "colour", 7); /* value at the beginning of the fence */
    put_rank(&other, 2, "colour", 22);
    put_rank(&other, 3, "colour", 33);
    ok(fence_with(other));
    ck_assert_uint_eq(raw_value(two, "job", 2, "colour"), 22);
    ck_assert_uint_eq(raw_value(one, "job", 3, "colour"), 33);
    ck_assert_uint_eq(raw_value(two, "job", 0, "colour"), 8);
    ck_assert_uint_eq(host_calls("direct_modex"), 0);
    ok(fence_with(server_with(0))); /* the next fence sends the new value */
    ck_assert_ptr_nonnull(memmem(host.data, host.n_data, "colour\0\x0e\x08", 9));
}

/* Returns data of rank 2 or 3 with a key map. The value of the second key comes first. */
static px_writer mapped(pmix_rank_t number, const char *const *keys, uint32_t n_keys)
{
    px_writer other = server_with(FLAG_COLLECTED | FLAG_KEY_MAP), rank = fresh();
    pmix_value_t v[] = {{.type = PMIX_UINT32, .data.uint32 = 5},
                        {.type = PMIX_UINT32, .data.uint32 = 6}};

    px_pack_u32(&other, n_keys);
    px_pack(&other, keys, (int32_t)n_keys, PMIX_STRING);
    px_pack_rank(&rank, number);
    for (uint32_t i = 0; i < 2; i++) {
        px_pack_u32(&rank, 1 - i);
        px_pack(&rank, &v[i], 1, PMIX_VALUE);
    }
    put_inside(&other, rank);
    return other;
}

static const char *const two_keys[] = {"colour", "shape"};

PX_TEST(the_form_with_a_key_map_is_understood_too)
{
    start_nodes();
    ok(fence_with(mapped(3, two_keys, 2)));
    ck_assert_uint_eq(raw_value(one, "job", 3, "shape"), 5);
    ck_assert_uint_eq(raw_value(one, "job", 3, "colour"), 6);
}

PX_TEST(damaged_data_is_an_error_and_no_crash)
{
    static const uint8_t junk[] = {0x02, 0xff, 0xff, 0xff, 0x7f, 0x01};
    px_writer cases[6] = {
        server_with(FLAG_COLLECTED),
        server_with(FLAG_COLLECTED),
        server_with(FLAG_COLLECTED),
        server_with(FLAG_KEY_MAP),
        mapped(2, two_keys, 1), /* an index beyond the key map */
        fresh(),                /* without flags */
    };

    start_nodes();
    put_rank(&cases[0], 4, "colour", 1); /* a rank that no job has */
    put_rank(&cases[1], PMIX_RANK_WILDCARD, "colour", 1);
    ok(px_buf_add(&cases[2].buf, junk, sizeof(junk)));
    px_pack_u32(&cases[3], UINT32_MAX); /* more keys than bytes */
    for (size_t i = 0; i < PX_COUNT(cases); i++)
        ck_assert_int_lt(fence_with(cases[i]), 0);
    ok(raw_commit(one, "colour", 1));
}

PX_TEST(ranks_are_numbered_through_all_jobs_that_take_part)
{
    pmix_proc_t both[] = {raw_proc("job", 1), raw_proc("kin", PMIX_RANK_WILDCARD)};
    px_writer joined = fresh(), other = server_with(FLAG_COLLECTED);
    pmix_info_t collect;

    start(2, 2);
    raw_add_job("kin", 1, 2, geteuid()); /* sorts after "job", which has 4 ranks */
    int kin = raw_client_of("kin", 0);
    PMIx_Info_load(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    put_rank(&other, 4 + 2, "colour", 42);
    put_inside(&joined, other);
    host.bytes = joined.buf.data;
    host.n_bytes = joined.buf.len;
    raw_collect(two, 400, PX_OP_FENCE, both, 2, &collect);
    raw_collect(kin, 400, PX_OP_FENCE, both, 2, &collect);
    ok(raw_status(two, 400));
    ok(raw_status(kin, 400));
    ck_assert_uint_eq(raw_value(kin, "kin", 2, "colour"), 42);
    px_writer_cleanup(&joined);
}

/* ---- time limits ------------------------------------------------------------------------------ */

PX_TEST(missing_ranks_are_named_with_their_last_request)
{
    static const struct {
        uint8_t op;
        const char *line;
    } lines[] = {{PX_OP_FENCE, "cannot fence job: time limit of 1 s: "},
                 {PX_OP_CONNECT, "cannot connect job: time limit of 1 s: "}};
    pmix_info_t limit;

    PMIx_Info_load(&limit, PMIX_TIMEOUT, &(uint32_t){1}, PMIX_UINT32);
    raw_start(&host_module, 4, 0); /* rank 3 does not connect */
    ok(raw_commit(two, "key", 1));
    for (size_t i = 0; i < PX_COUNT(lines); i++) {
        struct rt_capture capture = rt_capture_begin();
        raw_collect(one, 400, lines[i].op, &all, 1, &limit);
        raw_collect(three, 400, lines[i].op, &all, 1, &limit);
        fails(raw_status(one, 400), TIMEOUT);
        fails(raw_status(three, 400), TIMEOUT);
        PX_AUTOFREE char *text = rt_capture_end(&capture);
        ck_assert_msg(strstr(text, lines[i].line), "%s", text);
        ck_assert_msg(strstr(text, "ranks 1 ("), "%s", text);
        ck_assert_msg(strstr(text, "last: commit "), "%s", text);
        ck_assert_msg(strstr(text, "3 (not connected) on "), "%s", text);
        ck_assert_msg(strstr(text, " have not entered\n"), "%s", text);
    }
}

PX_TEST_MAIN("server/collective", NULL, host_end)
