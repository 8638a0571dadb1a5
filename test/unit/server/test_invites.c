/* SPDX-License-Identifier: BSD-3-Clause */
/* Invitations to groups at the server: ends of leaders and of invited processes, and the choice of a
 * new leader, on one node and on two. */
#include "core/base/str.h"
#include "core/notify/notify.h"

#include "scene.h"

#include <stdlib.h>
#include <string.h>

/* Sends an event of group "g" to a rank. */
static void send_event(int fd, pmix_status_t code, pmix_rank_t rank)
{
    const pmix_proc_t to = raw_proc("job", rank);
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &to, PMIX_PROC));
    ok(px_infos_add(&infos, PMIX_GROUP_ID, "g", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL));
    ok(scene_notify(fd, code, PMIX_RANGE_CUSTOM, &infos));
}

static void want(int fd, pmix_status_t code)
{
    ok(raw_request(fd, raw_want(&code, 1, NULL), NULL));
}

PX_TEST(the_end_of_a_leader_reaches_the_invited)
{
    PX_AUTO(px_infos) infos = {0};

    raw_start(NULL, 3, 0);
    want(two, PMIX_GROUP_LEADER_FAILED);
    send_event(one, PMIX_GROUP_INVITED, 1);
    ck_assert_uint_gt(raw_charged_b(0), 0);
    close(one);
    ck_assert_int_eq(raw_next_event(two, &infos), PMIX_GROUP_LEADER_FAILED);
    ck_assert_str_eq(px_info_str(infos.v, infos.n, PMIX_GROUP_ID), "g");
}

PX_TEST(the_end_of_an_invited_process_reaches_the_leader)
{
    raw_start(NULL, 3, 0);
    want(one, PMIX_GROUP_INVITE_FAILED);
    send_event(one, PMIX_GROUP_INVITED, 1);
    close(two);
    ck_assert_int_eq(raw_next_event(one, NULL), PMIX_GROUP_INVITE_FAILED);
}

static const char *job = "job"; /* name of the job in events */

/* Adds the infos of an event of group "g" to some ranks. flag may be NULL. */
static void add_infos(px_infos *infos, const char *key, const char *ranks,
                      const char *flag)
{
    pmix_proc_t to[4];
    pmix_data_array_t range = {PMIX_PROC, 0, to};

    for (; *ranks; ranks++)
        to[range.size++] = raw_proc(job, (pmix_rank_t)(*ranks - '0'));
    ok(px_infos_add(infos, key, &range, PMIX_DATA_ARRAY));
    ok(px_infos_add(infos, PMIX_GROUP_ID, "g", PMIX_STRING));
    ok(px_infos_add(infos, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL));
    if (flag)
        ok(px_infos_add(infos, flag, NULL, PMIX_BOOL));
}

/* Sends an event of group "g" to some ranks, with a flag. The caller reads the reply. */
static void post_flagged(int fd, pmix_status_t code, const char *ranks,
                         const char *flag)
{
    px_writer w = raw_begin(PX_OP_NOTIFY);
    PX_AUTO(px_infos) infos = {0};

    add_infos(&infos, PMIX_EVENT_CUSTOM_RANGE, ranks, flag);
    px_pack_status(&w, code);
    px_pack_u8(&w, PMIX_RANGE_CUSTOM, PMIX_DATA_RANGE);
    px_pack_infos(&w, infos.v, infos.n);
    raw_send(fd, 410, w);
}

static void send_flagged(int fd, pmix_status_t code, const char *ranks,
                         const char *flag)
{
    post_flagged(fd, code, ranks, flag);
    ok(raw_status(fd, 410));
}

/* Ranks 1 and 2 have accepted, and their leader ends. Rank 3 has not answered. */
static void lose_leader(int four)
{
    const int fds[] = {two, three, four};

    for (int i = 0; i < 3; i++) {
        const pmix_status_t codes[] = {PMIX_GROUP_LEADER_FAILED,
                                       PMIX_GROUP_LEADER_SELECTED};
        ok(raw_request(fds[i], raw_want(codes, 2, NULL), NULL));
    }
    send_flagged(one, PMIX_GROUP_INVITED, "123", NULL);
    send_flagged(two, PMIX_GROUP_INVITE_ACCEPTED, "0", PX_GROUP_CONSTRUCTS);
    send_flagged(three, PMIX_GROUP_INVITE_ACCEPTED, "0", PX_GROUP_CONSTRUCTS);
    close(one);
    for (int i = 0; i < 3; i++) {
        PX_AUTO(px_infos) infos = {0};

        ck_assert_int_eq(raw_next_event(fds[i], &infos), PMIX_GROUP_LEADER_FAILED);
        ck_assert(px_info_flag(infos.v, infos.n, PX_GROUP_ELECTS));
    }
}

/* Returns the rank that an event of a chosen leader names, or PMIX_RANK_INVALID. */
static pmix_rank_t chosen(int fd)
{
    PX_AUTO(px_infos) infos = {0};
    const pmix_info_t *leader;

    ck_assert_int_eq(raw_next_event(fd, &infos), PMIX_GROUP_LEADER_SELECTED);
    ck_assert_str_eq(px_info_str(infos.v, infos.n, PMIX_GROUP_ID), "g");
    leader = px_info_find(infos.v, infos.n, PMIX_GROUP_LEADER);
    return leader ? leader->value.data.proc->rank : PMIX_RANK_INVALID;
}

PX_TEST(those_that_have_accepted_choose_a_new_leader)
{
    raw_start(NULL, 4, 0);
    int four = raw_client(3);
    lose_leader(four);
    send_flagged(four, PMIX_GROUP_LEADER_SELECTED, "0",
                 PMIX_GROUP_LEADER); /* no vote */
    send_flagged(two, PMIX_GROUP_LEADER_SELECTED, "0", NULL);
    ck_assert(raw_quiet(three));
    post_flagged(three, PMIX_GROUP_LEADER_SELECTED, "0", PMIX_GROUP_LEADER);
    ck_assert_uint_eq(chosen(three), 2);
    ck_assert_uint_eq(chosen(two), 2);
    ck_assert_uint_eq(chosen(four), 2);
    send_flagged(two, PMIX_GROUP_INVITE_ACCEPTED, "2", PX_GROUP_CONSTRUCTS);
    close(three); /* and the next one */
    ck_assert_int_eq(raw_next_event(two, NULL), PMIX_GROUP_LEADER_FAILED);
    post_flagged(two, PMIX_GROUP_LEADER_SELECTED, "2", PMIX_GROUP_LEADER);
    ck_assert_uint_eq(chosen(two), 1);
}

PX_TEST_LOOP(no_leader_is_chosen_without_a_candidate, 2)
{
    raw_start(NULL, 4, 0);
    int four = raw_client(3);
    lose_leader(four);
    send_flagged(three, PMIX_GROUP_LEADER_SELECTED, "0", _i ? PMIX_GROUP_LEADER : NULL);
    if (_i) { /* the candidate ends */
        close(three);
        raw_await_gone(2);
    }
    post_flagged(two, PMIX_GROUP_LEADER_SELECTED, "0", NULL);
    ck_assert_uint_eq(chosen(two), PMIX_RANK_INVALID);
    ck_assert_uint_eq(chosen(four), PMIX_RANK_INVALID);
    ok(raw_status(two, 410));
    send_flagged(two, PMIX_GROUP_LEADER_SELECTED, "0", PMIX_GROUP_LEADER);
    ck_assert(raw_quiet(four)); /* too late */
}

PX_TEST_LOOP(a_complete_or_declined_invitation_is_forgotten, 3)
{
    const pmix_status_t codes[] = {PMIX_GROUP_CONSTRUCT_COMPLETE,
                                   PMIX_GROUP_CONSTRUCT_ABORT,
                                   PMIX_GROUP_INVITE_DECLINED};
    size_t before;

    raw_start(NULL, 3, 0);
    want(one, PMIX_GROUP_INVITE_FAILED);
    before = raw_charged_b(0);
    send_event(one, PMIX_GROUP_INVITED, 1);
    send_event(_i == 2 ? two : one, codes[_i], _i == 2 ? 0 : 1);
    close(two);
    raw_await_gone(1);
    ck_assert(raw_quiet(one));
    ck_assert((raw_charged_b(0) == before) == (_i < 2));
}

PX_TEST(a_leader_has_a_limited_number_of_invitations)
{
    size_t before = 0;

    raw_start(NULL, 2, 0);
    for (int i = 0; i < 40; i++) {
        const pmix_proc_t to = raw_proc("job", 1);
        PX_AUTO(px_infos) infos = {0};
        char name[16];

        snprintf(name, sizeof(name), "g%d", i);
        ok(px_infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &to, PMIX_PROC));
        ok(px_infos_add(&infos, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL));
        ok(px_infos_add(&infos, PMIX_GROUP_ID, name, PMIX_STRING));
        ok(scene_notify(one, PMIX_GROUP_INVITED, PMIX_RANGE_CUSTOM, &infos));
        if (i == 31)
            before = raw_charged_b(0);
    }
    ck_assert_uint_eq(raw_charged_b(0), before);
}

/* ---- ranks 2 and 3 are on another node ---------------------------------------------------- */

/* Delivers an event of a rank of the other node, or of its server, as the host does. */
static void report_from(pmix_rank_t source, pmix_status_t code, const char *ranks,
                        const char *flag, const pmix_proc_t *leader)
{
    const pmix_proc_t from = raw_proc(job, source);
    PX_AUTO(px_infos) infos = {0};

    add_infos(&infos, PMIX_EVENT_CUSTOM_RANGE, ranks, flag);
    if (leader) {
        add_infos(&infos, PMIX_GROUP_MEMBERSHIP, ranks, NULL);
        ok(px_infos_add(&infos, PMIX_GROUP_LEADER, leader, PMIX_PROC));
    }
    ok(PMIx_Notify_event(code, &from, PMIX_RANGE_CUSTOM, infos.v, infos.n, NULL, NULL));
}

/* Rank 0 invites all. Ranks 1 and 2 have accepted, and the leader ends. */
static void lose_leader_of_two_nodes(void)
{
    PX_AUTO(px_infos) infos = {0};

    raw_start(&host_module, 2, 2);
    want(two, PMIX_GROUP_LEADER_FAILED);
    want(two, PMIX_GROUP_LEADER_SELECTED);
    send_flagged(one, PMIX_GROUP_INVITED, "123", NULL);
    report_from(2, PMIX_GROUP_INVITE_ACCEPTED, "0", PX_GROUP_CONSTRUCTS, NULL);
    send_flagged(two, PMIX_GROUP_INVITE_ACCEPTED, "0", PX_GROUP_CONSTRUCTS);
    close(one);
    ck_assert_int_eq(raw_next_event(two, &infos), PMIX_GROUP_LEADER_FAILED);
    ck_assert(px_info_flag(infos.v, infos.n, PX_GROUP_ELECTS));
}

/* Events that end the choice, and the leader. Rank 3 has not accepted, and does not speak for 2. */
static const struct {
    pmix_status_t code;
    const char *flag;
    pmix_rank_t leader;
} answers[] = {
    {PMIX_GROUP_LEADER_SELECTED, PMIX_GROUP_LEADER, 2},
    {PMIX_GROUP_LEADER_SELECTED, NULL, PMIX_RANK_INVALID},
    {PMIX_GROUP_INVITE_FAILED, NULL, PMIX_RANK_INVALID},
    {PMIX_GROUP_INVITE_DECLINED, NULL, PMIX_RANK_INVALID},
};

PX_TEST_LOOP(processes_of_both_nodes_choose_a_new_leader, PX_COUNT(answers))
{
    lose_leader_of_two_nodes();
    post_flagged(two, PMIX_GROUP_LEADER_SELECTED, "0", NULL);
    ok(raw_status(two, 410));
    report_from(3, answers[_i].code, "0", answers[_i].flag, NULL);
    report_from(2, answers[_i].code, "3", answers[_i].flag,
                NULL); /* of another group */
    if (answers[_i].code == PMIX_GROUP_INVITE_FAILED)
        ck_assert_uint_eq(chosen(two), PMIX_RANK_INVALID);
    else
        ck_assert(raw_quiet(two));
    if (answers[_i].code == PMIX_GROUP_INVITE_FAILED)
        return;
    report_from(2, answers[_i].code, "0", answers[_i].flag, NULL);
    ck_assert_uint_eq(chosen(two), answers[_i].leader);
}

/* The leader, rank 2, invites ranks 0, 1 and 3. */
static void invited_from_there(void)
{
    raw_start(&host_module, 2, 2);
    report_from(2, PMIX_GROUP_INVITED, "013", NULL, NULL);
}

/* Ends rank 1. Returns the rank that the host is to notify, or PMIX_RANK_INVALID. */
static pmix_rank_t notified_of_end(void)
{
    const unsigned before = host_calls("notify_event");
    const pmix_info_t *range;

    close(two);
    raw_await_gone(1);
    if (host_calls("notify_event") == before)
        return PMIX_RANK_INVALID;
    ck_assert_int_eq(host.code, PMIX_GROUP_INVITE_FAILED);
    ck_assert_uint_eq(host.proc.rank, 1);
    range = px_info_find(host.given.v, host.given.n, PMIX_EVENT_CUSTOM_RANGE);
    ck_assert(range && range->value.type == PMIX_DATA_ARRAY);
    return ((const pmix_proc_t *)range->value.data.darray->array)->rank;
}

/* Events before the end of an invited process. Only the leader, or after its end the new one, is
 * believed. */
static const struct {
    pmix_rank_t source;
    pmix_status_t code;
    const char *flag;
    pmix_rank_t leader;   /* or PMIX_RANK_INVALID */
    pmix_rank_t notified; /* or PMIX_RANK_INVALID */
} before_end[] = {
    {2, PMIX_GROUP_INVITED, NULL, PMIX_RANK_INVALID, 2}, /* again */
    {2, PMIX_GROUP_CONSTRUCT_COMPLETE, NULL, PMIX_RANK_INVALID, PMIX_RANK_INVALID},
    {2, PMIX_GROUP_CONSTRUCT_ABORT, NULL, PMIX_RANK_INVALID, PMIX_RANK_INVALID},
    {2, PMIX_GROUP_LEADER_FAILED, NULL, PMIX_RANK_INVALID, PMIX_RANK_INVALID},
    {2, PMIX_GROUP_LEADER_FAILED, PX_GROUP_ELECTS, PMIX_RANK_INVALID, 2},
    {3, PMIX_GROUP_CONSTRUCT_COMPLETE, NULL, PMIX_RANK_INVALID, 2},
    {3, PMIX_GROUP_CONSTRUCT_ABORT, NULL, PMIX_RANK_INVALID, 2},
    {3, PMIX_GROUP_LEADER_FAILED, NULL, PMIX_RANK_INVALID, 2},
    {3, PMIX_GROUP_LEADER_SELECTED, NULL, 3, 2},
    {3, PMIX_GROUP_LEADER_SELECTED, NULL, PMIX_RANK_INVALID, 2},
};

PX_TEST_LOOP(a_leader_of_another_node_gets_the_end_of_the_invited, PX_COUNT(before_end))
{
    const pmix_proc_t leader = raw_proc("job", before_end[_i].leader);

    invited_from_there();
    report_from(before_end[_i].source, before_end[_i].code, "013", before_end[_i].flag,
                before_end[_i].leader == PMIX_RANK_INVALID ? NULL : &leader);
    ck_assert_uint_eq(notified_of_end(), before_end[_i].notified);
}

/* New leaders of the other node: rank 3, and rank 2 again, which has ended. */
static const pmix_rank_t new_leaders[][2] = {{3, 3}, {2, 2}};

PX_TEST_LOOP(a_new_leader_of_another_node_takes_its_place, PX_COUNT(new_leaders))
{
    const pmix_proc_t leader = raw_proc("job", new_leaders[_i][0]);

    invited_from_there();
    report_from(2, PMIX_GROUP_LEADER_FAILED, "013", PX_GROUP_ELECTS, NULL);
    report_from(leader.rank, PMIX_GROUP_LEADER_SELECTED, "013", NULL, &leader);
    ck_assert_uint_eq(notified_of_end(), new_leaders[_i][1]);
}

PX_TEST_LOOP(a_new_leader_of_this_node_is_followed_here, 2)
{
    const pmix_proc_t leader = raw_proc("job", 1);

    invited_from_there();
    want(one, PMIX_GROUP_LEADER_FAILED);
    want(two, PMIX_GROUP_LEADER_SELECTED);
    if (_i)
        report_from(2, PMIX_GROUP_LEADER_FAILED, "013", PX_GROUP_ELECTS, NULL);
    if (_i)
        ck_assert_int_eq(raw_next_event(one, NULL), PMIX_GROUP_LEADER_FAILED);
    report_from(1, PMIX_GROUP_LEADER_SELECTED, "013", NULL, &leader);
    ck_assert_uint_eq(chosen(two), 1);
    close(two);
    if (_i)
        ck_assert_int_eq(raw_next_event(one, NULL), PMIX_GROUP_LEADER_FAILED);
    raw_await_gone(1);
    ck_assert(raw_quiet(one));
}

PX_TEST(leaders_of_other_nodes_have_a_limited_number_of_invitations)
{
    raw_start(&host_module, 2, 2);
    for (int i = 0; i < 40; i++) {
        const pmix_proc_t from = raw_proc("job", 2), to = raw_proc("job", 1);
        PX_AUTO(px_infos) infos = {0};
        char name[16];

        snprintf(name, sizeof(name), "g%d", i);
        ok(px_infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &to, PMIX_PROC));
        ok(px_infos_add(&infos, PMIX_GROUP_ID, name, PMIX_STRING));
        ok(PMIx_Notify_event(PMIX_GROUP_INVITED, &from, PMIX_RANGE_CUSTOM, infos.v,
                             infos.n, NULL, NULL));
    }
    close(two);
    raw_await_gone(1);
    host_await("notify_event", 32);
    ck_assert(raw_quiet(one));
    ck_assert_uint_eq(host_calls("notify_event"), 32);
}

/* Memory for one invitation of three processes. */
#define ROOM_B (2 * PMIX_MAX_NSLEN + 7 * sizeof(pmix_proc_t))

PX_TEST_LOOP(the_user_of_a_leader_of_another_node_is_charged, 2)
{
    PX_AUTOFREE char *room = px_strf("%zu", _i ? ROOM_B : (size_t)1024);

    setenv("PMIX_MCA_server_committed_per_user", room, 1);
    invited_from_there();
    unsetenv("PMIX_MCA_server_committed_per_user");
    if (_i) { /* the end of an invitation makes room for another */
        report_from(2, PMIX_GROUP_CONSTRUCT_COMPLETE, "013", NULL, NULL);
        report_from(2, PMIX_GROUP_INVITED, "013", NULL, NULL);
    }
    ck_assert_uint_eq(notified_of_end(), _i ? 2 : PMIX_RANK_INVALID);
}

/* Events have the name of the job with its cluster. */
PX_TEST_LOOP(names_with_the_cluster_mean_the_same_processes, 3)
{
    pmix_info_t cluster;

    PMIx_Info_load(&cluster, PMIX_CLUSTER_ID, "west", PMIX_STRING);
    raw_start(&host_module, 2, 2);
    ck_assert_int_eq(PMIx_server_register_resources(&cluster, 1, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&cluster);
    job = "west:job";
    if (_i == 0) { /* the leader is on the other node */
        report_from(2, PMIX_GROUP_INVITED, "013", NULL, NULL);
        ck_assert_uint_eq(notified_of_end(), 2);
    } else {
        PX_AUTO(px_infos) infos = {0};

        want(two, PMIX_GROUP_LEADER_FAILED);
        send_flagged(one, PMIX_GROUP_INVITED, "123", NULL);
        if (_i == 1)
            send_flagged(two, PMIX_GROUP_INVITE_ACCEPTED, "0", PX_GROUP_CONSTRUCTS);
        else
            report_from(2, PMIX_GROUP_INVITE_ACCEPTED, "0", PX_GROUP_CONSTRUCTS, NULL);
        close(one);
        ck_assert_int_eq(raw_next_event(two, &infos), PMIX_GROUP_LEADER_FAILED);
        ck_assert(px_info_flag(infos.v, infos.n, PX_GROUP_ELECTS));
    }
    job = "job";
}

PX_TEST_MAIN("server/invites", NULL, host_end)
