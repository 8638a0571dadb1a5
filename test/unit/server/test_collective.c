/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, connect, disconnect: who is waited for, when the host is asked, and what ends them all. */
#include "core/server/collective/collective.h"

#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void start(uint32_t n_local, uint32_t n_remote)
{
    raw_server_start_part(&host_module, n_local, n_remote);
}

static void fence_with_timeout(int fd, uint32_t tag, uint32_t seconds)
{
    pmix_proc_t all = raw_proc("job", PMIX_RANK_WILDCARD);
    pmix_info_t info;
    px_writer w;

    PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_UINT32);
    raw_begin(&w, PX_OP_FENCE);
    px_pack_procs(&w, &all, 1);
    px_pack_infos(&w, &info, 1);
    raw_send(fd, tag, &w);
}

static pmix_status_t local_status(void)
{
    const pmix_info_t *info = px_info_find(host.given.v, host.given.n,
                                           PMIX_LOCAL_COLLECTIVE_STATUS);

    ck_assert_ptr_nonnull(info);
    ck_assert_int_eq(info->value.type, PMIX_STATUS);
    return info->value.data.status;
}

/* ---- whom it takes --------------------------------------------------------------------------- */

PX_TEST(a_fence_within_the_node_needs_no_host)
{
    start(2, 0);
    int one = raw_client(0), two = raw_client(1);

    for (uint32_t round = 0; round < 3; round++) {
        raw_fence(one, 400 + round, true);
        ck_assert(raw_quiet(one));
        raw_fence(two, 400 + round, true);
        ok(raw_status(one, 400 + round));
        ok(raw_status(two, 400 + round));
    }
    ck_assert_uint_eq(host_calls("fence_nb"), 0);
}

PX_TEST(the_host_is_asked_once_when_all_of_the_node_have_come)
{
    pmix_proc_t wanted = raw_proc("job", PMIX_RANK_WILDCARD);

    start(2, 2);
    int one = raw_client(0), two = raw_client(1);
    raw_fence(one, 400, false);
    ck_assert(raw_quiet(one));
    ck_assert_uint_eq(host_calls("fence_nb"), 0);
    raw_fence(two, 401, false);

    ok(raw_status(one, 400));
    ok(raw_status(two, 401));
    ck_assert_uint_eq(host_calls("fence_nb"), 1);
    ck_assert_uint_eq(host.n_procs, 1);
    ck_assert(px_proc_same(&host.procs[0], &wanted));
    ck_assert_ptr_null(host.data);
    ok(local_status());
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_SORTED_PROC_ARRAY));
}

PX_TEST(the_order_of_participants_does_not_matter_and_the_host_gets_them_sorted)
{
    pmix_proc_t up[] = {raw_proc("job", 0), raw_proc("job", 1), raw_proc("job", 3)};
    pmix_proc_t down[] = {up[2], up[1], up[0]};

    start(2, 2);
    int one = raw_client(0), two = raw_client(1);
    raw_collect(one, 400, PX_OP_FENCE, up, 3);
    raw_collect(two, 401, PX_OP_FENCE, down, 3);

    ok(raw_status(one, 400));
    ok(raw_status(two, 401));
    ck_assert_uint_eq(host.n_procs, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert(px_proc_same(&host.procs[i], &up[i]));
}

PX_TEST(different_sets_and_operations_do_not_mix)
{
    pmix_proc_t all = raw_proc("job", PMIX_RANK_WILDCARD);
    pmix_proc_t two[] = {raw_proc("job", 0), raw_proc("job", 1)};

    start(3, 0);
    int fd[] = {raw_client(0), raw_client(1), raw_client(2)};
    raw_collect(fd[0], 400, PX_OP_FENCE, &all, 1);
    raw_collect(fd[0], 401, PX_OP_FENCE, two, 2);
    raw_collect(fd[0], 402, PX_OP_CONNECT, two, 2);
    raw_collect(fd[1], 401, PX_OP_FENCE, two, 2);
    ok(raw_status(fd[0], 401));
    ok(raw_status(fd[1], 401));
    raw_collect(fd[1], 402, PX_OP_CONNECT, two, 2);
    ok(raw_status(fd[0], 402));
    ck_assert_uint_eq(host_calls("connect"), 1);
    raw_collect(fd[1], 400, PX_OP_FENCE, &all, 1);
    raw_collect(fd[2], 400, PX_OP_FENCE, &all, 1);
    ok(raw_status(fd[0], 400));
    ck_assert_uint_eq(host_calls("fence_nb"), 0);
}

PX_TEST(a_rank_may_be_in_the_next_fence_before_the_host_has_ended_the_last)
{
    start(1, 1);
    int fd = raw_client(0);

    host.how = HOST_HELD;
    raw_fence(fd, 400, false);
    host_await("fence_nb", 1);
    raw_fence(fd, 401, false);
    host_await("fence_nb", 2);
    ck_assert(host_answer(PMIX_SUCCESS));
    ok(raw_status(fd, 400));
    ck_assert(host_answer(PMIX_ERR_TIMEOUT));
    ck_assert_int_eq(raw_status(fd, 401), PMIX_ERR_TIMEOUT);
}

PX_TEST(who_is_not_in_it_and_who_names_nobody_is_refused)
{
    pmix_proc_t other = raw_proc("job", 1),
                nobody = raw_proc("nojob", PMIX_RANK_WILDCARD);

    start(2, 0);
    int fd = raw_client(0);
    for (uint8_t op = PX_OP_FENCE; op <= PX_OP_DISCONNECT; op++) {
        if (op != PX_OP_FENCE && op != PX_OP_CONNECT && op != PX_OP_DISCONNECT)
            continue;
        raw_collect(fd, 400, op, &other, 1);
        ck_assert_int_eq(raw_status(fd, 400), PMIX_ERR_BAD_PARAM);
        raw_collect(fd, 400, op, &nobody, 1);
        ck_assert_int_eq(raw_status(fd, 400), PMIX_ERR_BAD_PARAM);
        raw_collect(fd, 400, op, NULL, 0);
        ck_assert_int_eq(raw_status(fd, 400), PMIX_ERR_BAD_PARAM);
    }
}

/* ---- the host --------------------------------------------------------------------------------- */

PX_TEST(however_the_host_answers_everybody_gets_its_status)
{
    static const struct {
        enum host_how how;
        pmix_status_t status, reply;
    } rows[] = {
        {HOST_INSIDE, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_THREAD, PMIX_ERR_TIMEOUT, PMIX_ERR_TIMEOUT},
        {HOST_DONE, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_ERROR, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED},
    };
    static const uint8_t ops[] = {PX_OP_FENCE, PX_OP_CONNECT, PX_OP_DISCONNECT};
    pmix_proc_t all = raw_proc("job", PMIX_RANK_WILDCARD);

    start(2, 1);
    int one = raw_client(0), two = raw_client(1);
    for (size_t i = 0; i < PX_COUNT(rows) * PX_COUNT(ops); i++) {
        uint8_t op = ops[i % PX_COUNT(ops)];

        host.how = rows[i / PX_COUNT(ops)].how;
        host.status = rows[i / PX_COUNT(ops)].status;
        raw_collect(one, 400, op, &all, 1);
        raw_collect(two, 400, op, &all, 1);
        ck_assert_int_eq(raw_status(one, 400), rows[i / PX_COUNT(ops)].reply);
        ck_assert_int_eq(raw_status(two, 400), rows[i / PX_COUNT(ops)].reply);
    }
}

PX_TEST(a_host_without_the_slot_supports_it_within_the_node_at_most)
{
    static const pmix_server_module_t nothing = {0};
    pmix_proc_t all = raw_proc("job", PMIX_RANK_WILDCARD), one = raw_proc("job", 0);

    raw_server_start_part(&nothing, 1, 1);
    int fd = raw_client(0);
    raw_collect(fd, 400, PX_OP_FENCE, &one, 1);
    ok(raw_status(fd, 400));
    raw_collect(fd, 401, PX_OP_FENCE, &all, 1);
    ck_assert_int_eq(raw_status(fd, 401), PMIX_ERR_NOT_SUPPORTED);
    raw_collect(fd, 402, PX_OP_CONNECT, &one, 1);
    ck_assert_int_eq(raw_status(fd, 402), PMIX_ERR_NOT_SUPPORTED);
    raw_collect(fd, 403, PX_OP_DISCONNECT, &one, 1);
    ck_assert_int_eq(raw_status(fd, 403), PMIX_ERR_NOT_SUPPORTED);
}

/* Each BYTE_OBJECT of a connect reply begins with a name. */
static size_t n_jobs_named(px_reader *r, const char *const *names)
{
    size_t n = 0;

    for (; !px_reader_done(r); n++) {
        PX_AUTOFREE char *name = NULL;
        px_reader job;

        ok(px_unpack_view(r, &job, PMIX_BYTE_OBJECT));
        ok(px_unpack_str(&job, &name));
        ck_assert_str_eq(name, names[n]);
    }
    return n;
}

PX_TEST(jobs_that_connect_learn_about_each_other)
{
    static const char *const names[] = {"job", "other"};
    pmix_proc_t both[] = {raw_proc("job", PMIX_RANK_WILDCARD),
                          raw_proc("other", PMIX_RANK_WILDCARD)};
    pmix_status_t status;
    px_reader r;

    start(1, 0);
    raw_add_job("other", 1, 0, geteuid());
    int one = raw_client(0), two = raw_client_of("other", 0);
    raw_collect(one, 400, PX_OP_CONNECT, both, 2);
    ck_assert(raw_quiet(one));
    raw_collect(two, 400, PX_OP_CONNECT, both, 2);

    for (int i = 0; i < 2; i++) {
        ck_assert(raw_recv(i ? two : one, 400, &r));
        ok(px_unpack_status(&r, &status));
        ok(status);
        ck_assert_uint_eq(n_jobs_named(&r, names), 2);
    }
}

/* ---- who leaves -------------------------------------------------------------------------------- */

PX_TEST(who_dies_in_a_fence_ends_it_for_those_here_and_the_host_is_told)
{
    start(2, 1);
    int one = raw_client(0), two = raw_client(1);

    host.status = PMIX_ERR_PARTIAL_SUCCESS;
    raw_fence(two, 400, false);
    ck_assert(raw_quiet(two));
    close(two);
    raw_await_gone(1);
    raw_fence(one, 400, false);

    ck_assert_int_eq(raw_status(one, 400), PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_int_eq(local_status(), PMIX_ERR_LOST_CONNECTION);
}

PX_TEST(who_finalizes_instead_is_waited_for_no_more)
{
    start(2, 0);
    int one = raw_client(0), two = raw_client(1);

    raw_fence(one, 400, false);
    ck_assert(raw_quiet(one));
    ok(raw_finalize(two));
    ck_assert_int_eq(raw_status(one, 400), PMIX_ERR_LOST_CONNECTION);
}

PX_TEST(who_finalizes_within_his_own_fence_is_told_so)
{
    start(2, 0);
    int one = raw_client(0);

    raw_fence(one, 400, false);
    ck_assert(raw_quiet(one));
    px_writer w;
    raw_begin(&w, PX_OP_FINALIZE);
    raw_send(one, 401, &w);
    ck_assert_int_eq(raw_status(one, 400), PMIX_ERR_LOST_CONNECTION);
    ok(raw_status(one, 401));
}

PX_TEST(the_parent_of_a_forked_child_does_not_finalize_for_it)
{
    start(2, 0);
    int parent = raw_client(0), child = raw_client(0), other = raw_client(1);

    raw_fence(other, 400, false);
    ck_assert(raw_quiet(other));
    ok(raw_finalize(parent));
    close(parent);
    ck_assert_uint_eq(host_calls("client_finalized"), 0);
    ck_assert(raw_quiet(other)); /* the rank is still there */
    raw_fence(child, 401, false);

    ok(raw_status(other, 400));
    ok(raw_status(child, 401));
    ok(raw_finalize(child));
    ck_assert_uint_eq(host_calls("client_finalized"), 1);
}

PX_TEST(a_rank_whose_last_connection_dies_is_lost_even_if_another_finalized)
{
    start(2, 0);
    int parent = raw_client(0), child = raw_client(0), other = raw_client(1);

    ok(raw_finalize(parent));
    close(child);
    raw_fence(other, 400, false);
    ck_assert_int_eq(raw_status(other, 400), PMIX_ERR_LOST_CONNECTION);
}

PX_TEST(a_rank_that_comes_back_is_waited_for_again)
{
    start(2, 0);
    int one = raw_client(0), two = raw_client(1);

    close(two);
    raw_await_gone(1);
    two = raw_client(1);
    raw_fence(one, 400, false);
    ck_assert(raw_quiet(one));
    raw_fence(two, 400, false);
    ok(raw_status(one, 400));
    ok(raw_status(two, 400));
}

PX_TEST(who_dies_while_the_host_has_the_fence_changes_nothing_for_the_others)
{
    start(2, 1);
    int one = raw_client(0), two = raw_client(1);

    host.how = HOST_HELD;
    raw_fence(one, 400, false);
    raw_fence(two, 400, false);
    host_await("fence_nb", 1);
    close(two);
    ck_assert(raw_quiet(one));
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(host.args_lived);
    ok(raw_status(one, 400));
}

PX_TEST(deregistering_a_job_ends_what_another_shares_with_it)
{
    pmix_proc_t both[] = {raw_proc("job", PMIX_RANK_WILDCARD),
                          raw_proc("other", PMIX_RANK_WILDCARD)};
    pmix_nspace_t gone = "other";

    start(1, 0);
    raw_add_job("other", 1, 0, geteuid());
    int fd = raw_client(0);
    raw_collect(fd, 400, PX_OP_CONNECT, both, 2);
    ck_assert(raw_quiet(fd));
    PMIx_server_deregister_nspace(gone, NULL, NULL);
    ck_assert_int_eq(raw_status(fd, 400), PMIX_ERR_LOST_CONNECTION);
}

/* ---- other ends -------------------------------------------------------------------------------- */

PX_TEST(a_fence_with_a_deadline_ends_by_it)
{
    start(2, 0);
    int one = raw_client(0), two = raw_client(1);

    fence_with_timeout(one, 400, 1);
    ck_assert_int_eq(raw_status(one, 400), PMIX_ERR_TIMEOUT);
    raw_fence(two, 401, false); /* another one: the first is over */
    ck_assert(raw_quiet(two));
    raw_fence(one, 401, false);
    ok(raw_status(one, 401));
}

PX_TEST(a_deadline_holds_while_the_host_has_the_fence_too)
{
    start(1, 1);
    int fd = raw_client(0);

    host.how = HOST_HELD;
    fence_with_timeout(fd, 400, 1);
    ck_assert_int_eq(raw_status(fd, 400), PMIX_ERR_TIMEOUT);
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(raw_quiet(fd));
}

PX_TEST(ending_the_server_ends_every_fence)
{
    start(2, 1);
    int one = raw_client(0);
    (void)raw_client(1);
    pmix_proc_t self = raw_proc("job", 0), remote[] = {self, raw_proc("job", 2)};

    host.how = HOST_HELD;
    raw_fence(one, 400, true);
    raw_collect(one, 401, PX_OP_FENCE, remote, 2); /* which the host has */
    host_await("fence_nb", 1);
    ck_assert(raw_quiet(one));
    raw_server_stop();
    ck_assert_int_eq(raw_status(one, 401), PMIX_ERR_LOST_CONNECTION);
    ck_assert_int_eq(raw_status(one, 400), PMIX_ERR_LOST_CONNECTION);
}

static void deregister_all(void)
{
    pmix_nspace_t job = "job", other = "other";

    PMIx_server_deregister_nspace(other, NULL, NULL);
    PMIx_server_deregister_nspace(job, NULL, NULL);
}

/* The loss of one rank ends several fences; the host of the first tears everything down. */
PX_TEST(a_host_may_deregister_everything_while_losses_are_worked_off)
{
    pmix_proc_t some[] = {raw_proc("job", 0), raw_proc("job", 1), raw_proc("job", 3)};

    start(3, 1);
    raw_add_job("other", 1, 0, geteuid());
    int one = raw_client(0), two = raw_client(1), three = raw_client(2);
    raw_fence(one, 400, false);
    raw_fence(three, 400, false);
    raw_collect(one, 401, PX_OP_FENCE, some, 3);
    raw_collect(one, 402, PX_OP_CONNECT, some, 3);
    ck_assert(raw_quiet(one));
    ck_assert(raw_quiet(three));
    host.within = deregister_all;
    close(two);

    ck_assert(raw_closed(three) || raw_closed(three));
    host.within = NULL;
}

PX_TEST_MAIN("server/collective", NULL, host_end)
