/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups at the server: who has to come, the reply of each release, context ids, the host's part,
 * and what happens when members leave or end. */
#include "core/model/proc_names.h"
#include "core/notify/notify.h"
#include "core/server/collective/collective.h"

#include "pmix_connect.h"
#include "scene.h"

#include <string.h>

#define LOST    PMIX_ERR_LOST_CONNECTION
#define UNKNOWN PMIX_ERR_NOT_FOUND
#define PARTIAL PMIX_ERR_PARTIAL_SUCCESS
#define FAILED  PMIX_GROUP_MEMBER_FAILED

static const struct scene scenes[] = {
    SCENE("all that are named construct a group, whatever the names", 3, 0,
          {0, CONSTRUCTS, 0, "*"}, {1, CONSTRUCTS, 0, "210"}, {0, QUIET},
          {2, CONSTRUCTS, 0, "L"}, {0, ENDS}, {1, ENDS}, {2, ENDS},
          {0, HOST_CALLED, 0, "group"}, {0, DESTRUCTS}, {2, DESTRUCTS}, {0, QUIET},
          {1, DESTRUCTS}, {0, ENDS}, {1, ENDS}, {2, ENDS}, {1, DESTRUCTS},
          {1, ENDS, UNKNOWN}),
    SCENE("only members construct a group, and only they end it", 3, 0,
          {0, CONSTRUCTS, 0, "12"}, {0, ENDS, PMIX_ERR_BAD_PARAM},
          {0, CONSTRUCTS, 0, "09"}, {0, ENDS, UNKNOWN}, {0, CONSTRUCTS, 0, "01"},
          {2, CONSTRUCTS, 0, "2"}, {2, ENDS}, {0, QUIET}, {1, DESTRUCTS},
          {1, ENDS, UNKNOWN}, {2, PARTS}, {2, ENDS}, {2, PARTS}, {2, ENDS, UNKNOWN}),
    SCENE("a group has one name", 3, 0, {0, CONSTRUCTS, 0, "0"}, {0, ENDS},
          {1, CONSTRUCTS, 0, "1"}, {1, ENDS, PMIX_ERR_EXISTS}, {0, CONSTRUCTS, 0, "0"},
          {0, ENDS}, {0, DESTRUCTS}, {0, ENDS}, {1, CONSTRUCTS, 0, "1"}, {1, ENDS}),
    /* Members that end. */
    SCENE("a participant that ends fails the construction for all", 3, 0,
          {0, CONSTRUCTS, 0, "*"}, {0, QUIET}, {1, DIES}, {0, ENDS, LOST},
          {2, CONSTRUCTS, 0, "*"}, {2, ENDS, LOST}, {0, CONSTRUCTS, 0, "02"},
          {2, CONSTRUCTS, 0, "02"}, {0, ENDS}, {2, ENDS}),
    SCENE("an optional participant may end", 3, 0, {0, CONSTRUCTS, 0, "*o"}, {0, QUIET},
          {1, FINALIZES}, {0, QUIET}, {2, CONSTRUCTS, 0, "*o"}, {0, ENDS, PARTIAL},
          {2, ENDS, PARTIAL}, {0, DESTRUCTS}, {2, DESTRUCTS}, {0, ENDS}, {2, ENDS}),
    SCENE("all get the event of a participant that ends", 3, 0, {0, WANTS, FAILED},
          {2, WANTS, FAILED}, {0, CONSTRUCTS, 0, "*n"}, {0, QUIET}, {1, DIES},
          {0, RECEIVES, FAILED}, {2, RECEIVES, FAILED}, {2, CONSTRUCTS, 0, "*n"},
          {0, ENDS}, {2, ENDS}, {2, DIES}, {0, RECEIVES, FAILED}, {0, DESTRUCTS},
          {0, ENDS}),
    SCENE("also of one that has ended before", 3, 0, {1, DIES}, {0, WANTS, FAILED},
          {0, CONSTRUCTS, 0, "*n"}, {0, RECEIVES, FAILED}, {2, CONSTRUCTS, 0, "*n"},
          {0, ENDS}, {2, ENDS}),
    SCENE("a leader gets the event alone", 3, 0, {0, WANTS, FAILED}, {2, WANTS, FAILED},
          {0, CONSTRUCTS, 0, "*nl"}, {0, QUIET}, {1, DIES}, {0, RECEIVES, FAILED},
          {2, QUIET}, {2, CONSTRUCTS, 0, "*n"}, {0, ENDS}, {2, ENDS}),
    SCENE("a group that adjusts goes on without members that end", 3, 0,
          {0, CONSTRUCTS, 0, "*f"}, {1, CONSTRUCTS, 0, "*"}, {2, CONSTRUCTS, 0, "*f"},
          {0, ENDS}, {1, ENDS}, {2, ENDS}, {0, DESTRUCTS}, {1, DIES}, {0, QUIET},
          {2, DESTRUCTS}, {0, ENDS}, {2, ENDS}),
    SCENE("another group cannot be destructed any more", 3, 0, {0, CONSTRUCTS, 0, "01"},
          {1, CONSTRUCTS, 0, "01"}, {0, ENDS}, {1, ENDS}, {1, DIES}, {0, DESTRUCTS},
          {0, ENDS, LOST}, {0, DESTRUCTS}, {0, ENDS, UNKNOWN}),
    SCENE("members leave alone, and the others get an event", 3, 0,
          {0, WANTS, PMIX_GROUP_LEFT}, {0, CONSTRUCTS, 0, "*"}, {1, CONSTRUCTS, 0, "*"},
          {2, CONSTRUCTS, 0, "*"}, {0, ENDS}, {1, ENDS}, {2, ENDS}, {1, PARTS},
          {1, ENDS}, {0, RECEIVES, PMIX_GROUP_LEFT}, {0, DESTRUCTS}, {0, QUIET},
          {2, PARTS}, {2, ENDS}, {0, RECEIVES, PMIX_GROUP_LEFT}, {0, ENDS}),
    SCENE("a deadline ends the construction", 2, 0, {0, CONSTRUCTS, 0, "*t"},
          {0, ENDS, PMIX_ERR_TIMEOUT}, {1, CONSTRUCTS, 0, "*"}, {1, QUIET},
          {0, CONSTRUCTS, 0, "*"}, {0, ENDS}, {1, ENDS}),
    SCENE("or ends the wait for optional participants", 2, 0, {0, CONSTRUCTS, 0, "*ot"},
          {0, ENDS, PARTIAL}, {0, DESTRUCTS}, {0, ENDS}),
    /* Participants that are not named at first. */
    SCENE_ALONE("leaders that do not know each other bootstrap a group", 3,
                {2, CONSTRUCTS, 0, ""}, {0, CONSTRUCTS, 0, "0b"}, {0, QUIET},
                {1, CONSTRUCTS, 0, "1b+2"}, {0, ENDS}, {1, ENDS}, {2, ENDS},
                {0, DESTRUCTS}, {1, DESTRUCTS}, {0, QUIET}, {2, DESTRUCTS}, {0, ENDS}),
    SCENE_ALONE("an added member has to come", 3, {0, CONSTRUCTS, 0, "01+2"},
                {1, CONSTRUCTS, 0, "01"}, {0, QUIET}, {2, CONSTRUCTS, 0, ""}, {0, ENDS},
                {1, ENDS}, {2, ENDS}),
    SCENE_ALONE("leaders agree on their number", 2, {0, CONSTRUCTS, 0, "0b"},
                {1, CONSTRUCTS, 0, "1b"}, {0, ENDS}, {1, ENDS}, {0, PARTS}, {0, ENDS},
                {1, PARTS}, {1, ENDS}, {0, CONSTRUCTS, 0, ""}, {0, QUIET}, {0, DIES}),
    SCENE("the final order has all members", 2, 0, {0, CONSTRUCTS, 0, "*=1"},
          {1, CONSTRUCTS, 0, "*"}, {0, ENDS, PMIX_ERR_BAD_PARAM},
          {1, ENDS, PMIX_ERR_BAD_PARAM}, {0, CONSTRUCTS, 0, "*=10"},
          {1, CONSTRUCTS, 0, "*"}, {0, ENDS}, {1, ENDS}),
    /* The host. */
    SCENE("the host assigns context ids, and ends what it has constructed", 1, 0,
          {0, CONSTRUCTS, 0, "0a"}, {0, ENDS}, {0, HOST_CALLED, 1, "group"},
          {0, DESTRUCTS}, {0, ENDS}, {0, HOST_CALLED, 2, "group"}),
    SCENE("other nodes need the host", 1, 1, {0, HOST_IS, HOST_HELD},
          {0, CONSTRUCTS, 0, "*"}, {0, HOST_AWAITS, 1, "group"},
          {0, HOST_ANSWERS, PMIX_ERR_TIMEOUT}, {0, ENDS, PMIX_ERR_TIMEOUT},
          {0, CONSTRUCTS, 0, "*"}, {0, HOST_AWAITS, 2, "group"}, {0, HOST_ANSWERS},
          {0, ENDS}, {0, DESTRUCTS}, {0, HOST_AWAITS, 3, "group"}, {0, HOST_ANSWERS},
          {0, ENDS}),
    SCENE("a host that cannot is needed for other nodes only", 2, 1,
          {0, HOST_IS, HOST_ERROR, .tag = PMIX_ERR_NOT_SUPPORTED},
          {0, CONSTRUCTS, 0, "*"}, {1, CONSTRUCTS, 0, "*"},
          {0, ENDS, PMIX_ERR_NOT_SUPPORTED}, {1, ENDS, PMIX_ERR_NOT_SUPPORTED},
          {0, CONSTRUCTS, 0, "01a"}, {1, CONSTRUCTS, 0, "01a"}, {0, ENDS}, {1, ENDS},
          {0, HOST_CALLED, 2, "group"}, {0, DESTRUCTS}, {1, DESTRUCTS}, {0, ENDS},
          {0, HOST_CALLED, 2, "group"}),
    SCENE("the host finds the participants of a bootstrap", 2, 0,
          {0, HOST_IS, HOST_HELD}, {0, CONSTRUCTS, 0, "0b"}, {1, CONSTRUCTS, 0, ""},
          {0, HOST_AWAITS, 2, "group"}, {0, HOST_ANSWERS}, {0, ENDS}, {0, HOST_ANSWERS},
          {0, QUIET}, {1, ENDS, PMIX_ERR_EXISTS}),
};

PX_TEST_LOOP(group, PX_COUNT(scenes))
{
    scene_play(&scenes[_i]);
}

/* ---- replies --------------------------------------------------------------------- */

static int client_of_release(pmix_rank_t rank, const char *release)
{
    struct px_hello h = raw_hello("job", rank);
    int fd;

    snprintf(h.version_text, sizeof(h.version_text), "%s", release);
    px_version_parse(release, &h.version);
    ok(raw_connect(&h, &fd));
    return fd;
}

/* Reads the rest of a reply to a release. Returns the context id, or SIZE_MAX. */
static size_t read_result(px_reader *r, const char *release, pmix_proc_t **procs,
                          size_t *n)
{
    size_t context = SIZE_MAX, n_infos;
    struct px_version v;
    bool given = true;

    *procs = NULL;
    *n = 0;
    px_version_parse(release, &v);
    if (px_version_since(&v, 4, 2, 4))
        ok(px_unpack_procs(r, procs, n));
    if (px_version_since(&v, 6, 0, 0))
        ok(px_unpack1(r, &given, PMIX_BOOL));
    if (given)
        ok(px_unpack_size(r, &context));
    if (px_version_since(&v, 6, 1, 0)) {
        ok(px_unpack_size(r, &n_infos));
        ck_assert_uint_eq(n_infos, 0);
    }
    ck_assert(px_reader_done(r));
    return context;
}

static const char *const releases[] = {"3.2.5", "4.2.2", "4.2.9",
                                       "5.0.7", "6.0.0", "6.1.0"};

PX_TEST_LOOP(each_release_gets_its_form_of_the_reply, PX_COUNT(releases))
{
    const char *release = releases[_i];
    size_t last = 0;

    raw_server_start(NULL, 2, 0);
    int fds[] = {client_of_release(0, release), client_of_release(1, release)};

    for (int round = 0; round < 3; round++) {
        const bool asks = round < 2;
        size_t context[2], n;
        pmix_proc_t *procs;

        for (int i = 0; i < 2; i++)
            scene_construct(fds[i], 400, "g", asks ? "*a=10" : "*=10");
        for (int i = 0; i < 2; i++) {
            px_reader r;

            ok(raw_reply(fds[i], 400, &r));
            context[i] = read_result(&r, release, &procs, &n);
            ck_assert(n == 0 || (n == 2 && procs[0].rank == 1 && procs[1].rank == 0));
            ck_assert((n == 2) == (_i >= 2));
            free(procs);
        }
        ck_assert_uint_eq(context[0], context[1]);
        ck_assert((context[0] != SIZE_MAX) == asks);
        ck_assert_uint_ne(context[0], last);
        last = context[0];
        for (int i = 0; i < 2; i++)
            scene_end_group(fds[i], 401, PX_OP_GROUP_DESTRUCT, "g",
                            _i < 2 ? NULL : (pmix_proc_t[]){raw_proc("job", 0)}, 1);
        for (int i = 0; i < 2; i++)
            ok(raw_status(fds[i], 401));
    }
}

PX_TEST(members_get_the_job_of_each_other)
{
    px_reader r, job;
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    PX_AUTOFREE char *name = NULL;
    size_t n, context;

    raw_server_start(NULL, 1, 0);
    raw_add_job("kin", 1, 0, geteuid());
    int one = client_of_release(0, "5.0.7"), kin = raw_client_of("kin", 0);
    px_writer w[2] = {raw_begin(PX_OP_GROUP_CONSTRUCT),
                      raw_begin(PX_OP_GROUP_CONSTRUCT)};
    const pmix_proc_t both[] = {raw_proc("kin", 0), raw_proc("job", 0)};

    for (int i = 0; i < 2; i++) {
        px_pack_str(&w[i], "g");
        px_pack_procs(&w[i], both, 2);
        px_pack_infos(&w[i], NULL, 0);
        raw_send(i ? kin : one, 400, w[i]);
    }
    ok(raw_reply(one, 400, &r));
    ok(px_unpack_procs(&r, &procs, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(procs[0].nspace, "job");
    ok(px_unpack_size(&r, &context));
    ok(px_unpack_view(&r, &job, PMIX_BYTE_OBJECT)); /* of the own job */
    ok(px_unpack_view(&r, &job, PMIX_BYTE_OBJECT));
    ok(px_unpack_str(&job, &name));
    ck_assert_str_eq(name, "kin");
    ok(raw_status(kin, 400));
}

/* ---- values that members share --------------------------------------------------- */

/* Constructs a group of two, in which each member shares a number and its local id. The
 * second member's first request is wrong, and leaves nothing. */
static void send_sharing(const int fds[2], uint32_t number)
{
    const pmix_proc_t procs[] = {raw_proc("job", 0), raw_proc("job", 1)};

    for (uint32_t i = 0; i < 3; i++) {
        const bool second = i > 0, wrong = i == 1;
        px_writer w = raw_begin(PX_OP_GROUP_CONSTRUCT);
        PX_AUTO(px_infos) infos = {0};
        px_infos own = {0};

        if (second) /* later releases name the sender */
            ok(px_infos_add(&own, PMIX_PROCID, &procs[1], PMIX_PROC));
        ok(px_infos_add(&own, "number", &(uint32_t){number + second}, PMIX_UINT32));
        ok(px_infos_add(&own, PMIX_GROUP_LOCAL_CID, &(size_t){i}, PMIX_SIZE));
        ok(px_infos_add_array(&infos, PMIX_GROUP_INFO, &own));
        if (wrong)
            ok(px_infos_add(&infos, PMIX_GROUP_INFO, &number, PMIX_UINT32));
        ok(px_infos_add(&infos, PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL, PMIX_BOOL));
        px_pack_str(&w, "g");
        px_pack_procs(&w, procs, 2);
        px_pack_infos(&w, infos.v, infos.n);
        raw_send(fds[second], 400 + wrong, w);
        if (wrong)
            fails(raw_status(fds[1], 401), BAD_PARAM);
    }
}

/* Returns the context id that the first member gets. */
static size_t construct_sharing(const int fds[2], const char *release, uint32_t number)
{
    pmix_proc_t *members;
    size_t context, n;
    px_reader r;

    send_sharing(fds, number);
    ok(raw_reply(fds[0], 400, &r));
    context = read_result(&r, release, &members, &n);
    free(members);
    ok(raw_status(fds[1], 400));
    return context;
}

/* Gets a value by a context id, as a PMIX_QUALIFIED_VALUE. UINT32_MAX: not found. */
static uint32_t shared_value(int fd, pmix_rank_t rank, size_t context)
{
    const pmix_info_t id = {.key = PMIX_GROUP_CONTEXT_ID,
                            .value = {.type = PMIX_SIZE, .data.size = context}};
    px_writer w = raw_begin(PX_OP_GET);
    uint32_t found = UINT32_MAX;
    px_reader r;

    px_pack_str(&w, "job");
    px_pack_rank(&w, rank);
    px_pack_infos(&w, &id, 1);
    px_pack_str(&w, "number");
    if (raw_request(fd, w, &r))
        return found;
    while (!px_reader_done(&r)) {
        px_reader part = raw_part(&r);
        struct px_kval kv = {0};

        for (; raw_next_kval(&part, &kv); px_kval_fini(&kv)) {
            const pmix_info_t *two;
            size_t n;

            if (strcmp(kv.key, PMIX_QUALIFIED_VALUE) == 0 &&
                px_value_infos(&kv.value, &two, &n) && n == 2 &&
                strcmp(two[0].key, "number") == 0 &&
                two[1].value.data.size == context && PMIx_Info_is_qualifier(&two[1]))
                found = two[0].value.data.uint32;
        }
    }
    return found;
}

PX_TEST_LOOP(values_of_members_are_found_by_the_context_id, PX_COUNT(releases))
{
    size_t first, second;

    raw_server_start(NULL, 2, 0);
    int fds[] = {client_of_release(0, "5.0.7"), client_of_release(1, releases[_i])};
    first = construct_sharing(fds, "5.0.7", 10);
    for (int i = 0; i < 2; i++)
        scene_end_group(fds[i], 401, PX_OP_GROUP_DESTRUCT, "g",
                        i > 0 && _i < 2 ? NULL : (pmix_proc_t[]){raw_proc("job", 0)},
                        1);
    for (int i = 0; i < 2; i++)
        ok(raw_status(fds[i], 401));
    second = construct_sharing(fds, "5.0.7", 20);
    for (uint32_t rank = 0; rank < 2; rank++) {
        ck_assert_uint_eq(shared_value(fds[1], rank, first), 10 + rank);
        ck_assert_uint_eq(shared_value(fds[0], rank, second), 20 + rank);
        ck_assert_uint_eq(shared_value(fds[0], rank, second + 1), UINT32_MAX);
    }
    ck_assert_uint_eq(raw_value(fds[0], "job", 1, "number"), UINT32_MAX);
}

PX_TEST(a_reply_to_release_6_1_has_the_values)
{
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    size_t n, context;
    bool given;
    px_reader r;

    raw_server_start(NULL, 2, 0);
    int fds[] = {client_of_release(0, "6.1.0"), client_of_release(1, "5.0.7")};
    send_sharing(fds, 10);
    ok(raw_reply(fds[0], 400, &r));
    ok(px_unpack_procs(&r, &procs, &n));
    ok(px_unpack1(&r, &given, PMIX_BOOL));
    ck_assert(given);
    ok(px_unpack_size(&r, &context));
    ok(px_unpack_size(&r, &n));
    ck_assert_uint_eq(n, 2);
    for (uint32_t i = 0; i < n; i++) {
        const pmix_info_t *own;
        pmix_info_t info;
        size_t n_own;

        ok(px_unpack1(&r, &info, PMIX_INFO));
        ck_assert_str_eq(info.key, PMIX_GROUP_INFO);
        ck_assert(px_value_infos(&info.value, &own, &n_own) && n_own == 3);
        ck_assert_uint_eq(own[0].value.data.proc->rank, i);
        ck_assert_uint_eq(own[1].value.data.uint32, 10 + i);
        px_type_destruct(PMIX_INFO, &info);
    }
    ck_assert(px_reader_done(&r));
    ok(raw_status(fds[1], 400));
}

PX_TEST(nobody_shares_values_of_another)
{
    px_writer w = raw_begin(PX_OP_GROUP_CONSTRUCT);
    const pmix_proc_t self = raw_proc("job", 0), other = raw_proc("job", 1);
    PX_AUTO(px_infos) infos = {0};
    px_infos own = {0};

    raw_start(NULL, 2, 0);
    ok(px_infos_add(&own, PMIX_PROCID, &other, PMIX_PROC));
    ok(px_infos_add(&own, "number", &(uint32_t){1}, PMIX_UINT32));
    ok(px_infos_add_array(&infos, PMIX_GROUP_INFO, &own));
    px_pack_str(&w, "g");
    px_pack_procs(&w, &self, 1);
    px_pack_infos(&w, infos.v, infos.n);
    raw_send(one, 400, w);
    fails(raw_status(one, 400), BAD_PARAM);
}

/* ---- the name ------------------------------------------------------------------------ */

/* Constructs a group of two and waits for the ends. */
static void construct_pair(const char *text)
{
    scene_construct(one, 400, "g", text);
    scene_construct(two, 400, "g", text);
    ok(raw_status(one, 400));
    ok(raw_status(two, 400));
}

static pmix_status_t fence_in(int fd, const char *name)
{
    const pmix_proc_t all = raw_proc(name, PMIX_RANK_WILDCARD);

    raw_collect(fd, 401, PX_OP_FENCE, &all, 1, NULL);
    return raw_status(fd, 401);
}

PX_TEST(the_name_stands_for_the_members)
{
    const pmix_proc_t all = raw_proc("g", PMIX_RANK_WILDCARD),
                      own[] = {raw_proc("job", 1), raw_proc("job", 0)};

    raw_start(NULL, 3, 0);
    construct_pair("10=10");
    ok(raw_commit(two, "colour", 7));
    ck_assert_uint_eq(raw_value(one, "g", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
    raw_collect(one, 401, PX_OP_FENCE, &all, 1, NULL); /* both fences are one */
    raw_collect(two, 401, PX_OP_FENCE, own, 2, NULL);
    ok(raw_status(one, 401));
    ok(raw_status(two, 401));
    fails(fence_in(three, "g"), BAD_PARAM); /* not a member */
    scene_end_group(two, 402, PX_OP_GROUP_LEAVE, "g", NULL, 0);
    ok(raw_status(two, 402));
    ok(fence_in(one, "g"));
    fails(fence_in(two, "g"), BAD_PARAM);
}

PX_TEST(groups_of_a_process_are_found_by_their_names)
{
    px_reader r;

    raw_start(NULL, 3, 0);
    construct_pair("01");
    ok(raw_request(one, raw_get("job", 1, PMIX_GROUP_NAMES, NULL), &r));
    px_reader part = raw_part(&r);
    struct px_kval kv = {0};
    ck_assert(raw_next_kval(&part, &kv));
    ck_assert_str_eq(kv.key, PMIX_GROUP_NAMES);
    ck_assert_uint_eq(kv.value.data.darray->size, 1);
    ck_assert_str_eq(((char **)kv.value.data.darray->array)[0], "g");
    px_kval_fini(&kv);
    fails(raw_request(one, raw_get("job", 2, PMIX_GROUP_NAMES, NULL), &r), NOT_FOUND);
    scene_end_group(two, 402, PX_OP_GROUP_LEAVE, "g", NULL, 0);
    ok(raw_status(two, 402));
    fails(raw_request(one, raw_get("job", 1, PMIX_GROUP_NAMES, NULL), &r), NOT_FOUND);
}

PX_TEST(the_name_of_a_job_is_taken)
{
    raw_start(&host_module, 2, 0);
    scene_construct(one, 400, "job", "0");
    ck_assert_int_eq(raw_status(one, 400), PMIX_ERR_EXISTS);
    construct_pair("01");
    raw_add_job("g", 1, 0, geteuid()); /* the host's name wins */
    fails(fence_in(one, "g"), BAD_PARAM);
    scene_end_group(one, 402, PX_OP_GROUP_DESTRUCT, "g", NULL, 0);
    fails(raw_status(one, 402), NOT_FOUND);
}

PX_TEST(events_name_the_group_and_the_remaining_members)
{
    PX_AUTO(px_infos) infos = {0};
    const pmix_info_t *members, *affected;

    raw_start(NULL, 2, 0);
    ok(raw_request(one, raw_want((pmix_status_t[]){PMIX_GROUP_LEFT}, 1, NULL), NULL));
    construct_pair("01");
    scene_end_group(two, 402, PX_OP_GROUP_LEAVE, "g", NULL, 0);
    ok(raw_status(two, 402));
    ck_assert_int_eq(raw_next_event(one, &infos), PMIX_GROUP_LEFT);
    ck_assert_str_eq(px_info_str(infos.v, infos.n, PMIX_GROUP_ID), "g");
    members = px_info_find(infos.v, infos.n, PMIX_GROUP_MEMBERSHIP);
    affected = px_info_find(infos.v, infos.n, PMIX_EVENT_AFFECTED_PROC);
    ck_assert_uint_eq(members->value.data.darray->size, 1);
    ck_assert_uint_eq(affected->value.data.proc->rank, 1);
    ck_assert(px_info_flag(infos.v, infos.n, PMIX_EVENT_NON_DEFAULT));
}

/* ---- the host -------------------------------------------------------------------- */

/* The host joins the data of the servers as those of a fence that collects. */
PX_TEST(data_of_members_on_other_nodes_come_with_the_group)
{
    px_writer rank, server, other;
    pmix_byte_object_t bo;
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 7};
    const pmix_info_t *given;

    px_writer_init(&rank, px_codec_default);
    px_writer_init(&server, px_codec_default);
    px_writer_init(&other, px_codec_default);
    px_pack_rank(&rank, 1);
    px_pack_kval(&rank, "colour", &v);
    px_pack_u8(&server, 0x01, PMIX_BYTE);
    px_pack_bytes(&server, rank.buf.data, rank.buf.len);
    px_pack_bytes(&other, server.buf.data, server.buf.len);
    bo = (pmix_byte_object_t){(char *)other.buf.data, other.buf.len};
    raw_start(&host_module, 1, 1);
    ok(raw_commit(one, "shape", 5));
    ok(px_infos_add(&host.infos, PMIX_GROUP_ENDPT_DATA, &bo, PMIX_BYTE_OBJECT));
    scene_construct(one, 400, "g", "*");
    ok(raw_status(one, 400));
    ck_assert_uint_eq(raw_value(one, "job", 1, "colour"), 7);
    ck_assert_uint_eq(host_calls("direct_modex"), 0);
    given = px_info_find(host.given.v, host.given.n, PMIX_GROUP_ENDPT_DATA);
    ck_assert(given && memmem(given->value.data.bo.bytes, given->value.data.bo.size,
                              "shape", 5));
    px_writer_cleanup(&rank);
    px_writer_cleanup(&server);
    px_writer_cleanup(&other);
}

PX_TEST(the_hosts_result_counts)
{
    pmix_proc_t members[] = {raw_proc("job", 0), raw_proc("job", 1)};
    pmix_data_array_t array = {PMIX_PROC, 2, members};
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    size_t n;
    px_reader r;

    raw_server_start(&host_module, 1, 1);
    int fd = client_of_release(0, "5.0.7");
    ok(px_infos_add(&host.infos, PMIX_GROUP_CONTEXT_ID, &(uint32_t){77}, PMIX_UINT32));
    ok(px_infos_add(&host.infos, PMIX_GROUP_MEMBERSHIP, &array, PMIX_DATA_ARRAY));
    scene_construct(fd, 400, "g", "*an");
    ok(raw_reply(fd, 400, &r));
    ck_assert_uint_eq(read_result(&r, "5.0.7", &procs, &n), 77);
    ck_assert(n == 2 && procs[1].rank == 1);
    ck_assert_int_eq(host.code, PMIX_GROUP_CONSTRUCT);
    ck_assert_str_eq(host.text, "g");
    ck_assert(host.n_procs == 1 && host.procs[0].rank == PMIX_RANK_WILDCARD);
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_GROUP_ASSIGN_CONTEXT_ID));
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_GROUP_NOTIFY_TERMINATION));
    ck_assert(!px_info_flag(host.given.v, host.given.n, PMIX_GROUP_LOCAL_ONLY));
}

/* Counts the members of group "g" that have not left. */
static void count_members(void *n)
{
    const struct px_joined *j = px_joined_find(px_process.server, "g");

    for (pmix_rank_t r = 0; r < 4; r++)
        *(size_t *)n += px_joined_has(j, &(pmix_proc_t){"job", r});
}

/* Sends an event from a rank of another node, through the host. */
static void report_from(pmix_rank_t source, pmix_status_t code, pmix_rank_t about)
{
    const pmix_proc_t from = raw_proc("job", source), of = raw_proc("job", about);
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_GROUP_ID, "g", PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_EVENT_AFFECTED_PROC, &of, PMIX_PROC));
    ok(PMIx_Notify_event(code, &from, PMIX_RANGE_CUSTOM, infos.v, infos.n, NULL, NULL));
}

PX_TEST(members_of_other_nodes_leave_by_their_own_word)
{
    static const struct {
        pmix_rank_t source, about;
        pmix_status_t code;
        size_t n;
    } rows[] = {
        {3, 2, PMIX_GROUP_LEFT, 4},          {3, 0, PMIX_GROUP_MEMBER_FAILED, 4},
        {2, 2, PMIX_PROC_HAS_CONNECTED, 4},  {2, 2, PMIX_PROC_HAS_DISCONNECTED, 4},
        {2, 2, PMIX_GROUP_LEFT, 3},          {2, 2, PMIX_GROUP_LEFT, 3},
        {3, 3, PMIX_GROUP_MEMBER_FAILED, 2},
    };

    raw_start(&host_module, 2, 2);
    construct_pair("*");
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        size_t n = 0;

        report_from(rows[i].source, rows[i].code, rows[i].about);
        raw_on_loop(count_members, &n);
        ck_assert_uint_eq(n, rows[i].n);
    }
}

/* ---- bounds ---------------------------------------------------------------------- */

static void count_nspaces(void *n)
{
    *(size_t *)n = px_process.model->nspaces.n_used;
}

PX_TEST(many_groups_one_after_the_other_leave_nothing)
{
    size_t before, after;

    raw_start(NULL, 2, 0);
    raw_on_loop(count_nspaces, &before);
    for (int cycle = 0; cycle < 1100; cycle++) {
        construct_pair("01a");
        scene_end_group(one, 402, PX_OP_GROUP_DESTRUCT, "g", NULL, 0);
        scene_end_group(two, 402, PX_OP_GROUP_DESTRUCT, "g", NULL, 0);
        ok(raw_status(one, 402));
        ok(raw_status(two, 402));
    }
    raw_on_loop(count_nspaces, &after);
    ck_assert_uint_eq(after, before);
    ck_assert_uint_eq(raw_charged_b(0), 0);
}

PX_TEST(a_process_has_a_limited_number_of_groups)
{
    pmix_status_t rc = PMIX_SUCCESS;
    char name[32];
    int n = 0;

    raw_server_start(NULL, 1, 0);
    int fd = raw_client(0);
    for (; !rc && n <= 1024; n++) {
        snprintf(name, sizeof(name), "g%d", n);
        scene_construct(fd, 400, name, "0");
        rc = raw_status(fd, 400);
    }
    ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(n, 1025);
    scene_end_group(fd, 402, PX_OP_GROUP_DESTRUCT, "g7", NULL, 0);
    ok(raw_status(fd, 402));
    scene_construct(fd, 400, name, "0");
    ok(raw_status(fd, 400));
}

/* A construction without named participants belongs to its user. */
PX_TEST(users_do_not_meet_in_a_group)
{
    PX_TEST_NEEDS_ROOT;
    raw_server_start(NULL, 1, 0);
    raw_add_job("anns", 1, 0, 1001);
    raw_add_job("bobs", 1, 0, 1002);
    int ann = raw_client_as(1001, "anns", 0), bob = raw_client_as(1002, "bobs", 0);
    px_writer w = raw_begin(PX_OP_GROUP_CONSTRUCT);
    const pmix_proc_t own = raw_proc("bobs", 0);

    scene_construct(ann, 400, "g", "");
    px_pack_str(&w, "g");
    px_pack_procs(&w, &own, 1);
    px_pack_infos(&w, NULL, 0);
    raw_send(bob, 400, w);
    ok(raw_status(bob, 400));
    ck_assert(raw_quiet(ann));
    scene_end_group(ann, 401, PX_OP_GROUP_LEAVE, "g", NULL, 0);
    fails(raw_status(ann, 401), NOT_FOUND);
    scene_end_group(ann, 401, PX_OP_GROUP_DESTRUCT, "g", NULL, 0);
    fails(raw_status(ann, 401), NOT_FOUND);
}

PX_TEST_MAIN("server/groups", NULL, host_end)
