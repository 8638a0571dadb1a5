/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in general: the authority of their senders, as tables; the host's answers within the
 * upcall, from a thread, late, by the return value, twice, after the end, or never; the finalize of
 * a client; and requests that a client would not make. */
#include "../rt/rt_test.h"
#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/frame.h"
#include "scene.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define LOST PMIX_ERR_LOST_CONNECTION

static const struct scene scenes[] = {
    SCENE("a held answer keeps only its own request waiting", 1, 0,
          {0, HOST_IS, HOST_HELD}, {0, PUBLISHES}, {0, HOST_AWAITS, 1, "publish"},
          {0, QUIET}, {0, PUTS, 1, "key"}, {0, HOST_ANSWERS, PMIX_ERR_TIMEOUT},
          {0, ENDS, PMIX_ERR_TIMEOUT}),
    SCENE("a host that calls back and returns an error counts once", 1, 0,
          {0, HOST_IS, HOST_BOTH}, {0, PUBLISHES}, {0, ENDS}, {0, QUIET},
          {0, PUBLISHES}, {0, ENDS}, {0, QUIET}),
    SCENE("a host that never answers does not keep the server from ending", 1, 0,
          {0, HOST_IS, HOST_HELD}, {0, PUBLISHES}, {0, HOST_AWAITS, 1, "publish"},
          {0, SERVER_STOPS}, {0, ENDS, LOST}, {0, CLOSED}, {0, HOST_ANSWERS}),
    SCENE("an answer for a client that has gone is dropped", 2, 0,
          {0, HOST_IS, HOST_HELD}, {0, PUBLISHES}, {0, HOST_AWAITS, 1, "publish"},
          {0, DIES}, {1, QUIET}, {0, HOST_ANSWERS}, {1, QUIET}),
    SCENE("a second finalize is answered and nothing else is done", 1, 0,
          {0, FINALIZES}, {0, FINALIZES}, {0, HOST_CALLED, 1, "client_finalized"}),
    SCENE("a client is let go when the host has answered", 1, 0,
          {0, HOST_IS, HOST_THREAD}, {0, FINALIZES}, {0, DIES}, {0, COMES},
          {0, HOST_IS, HOST_DONE}, {0, FINALIZES}, {0, DIES}, {0, COMES},
          {0, HOST_IS, HOST_ERROR, .tag = PMIX_ERR_NOT_SUPPORTED}, {0, FINALIZES}),
    SCENE("the host gets each return of a rank", 1, 0, {0, FINALIZES}, {0, DIES},
          {0, COMES}, {0, HOST_AWAITS, 2, "client_connected2"}, {0, FINALIZES},
          {0, HOST_CALLED, 2, "client_finalized"}),
};

PX_TEST_LOOP(each_scene_of_requests_goes_as_written, PX_COUNT(scenes))
{
    scene_play(&scenes[_i]);
}

static void start(void)
{
    raw_start(&host_module, 2, 0);
}

static struct {
    uid_t user;
    const char *nspace;
    bool may;
} rows[] = {
    {10, "theirs", true},   {11, "theirs", false}, {0, "theirs", true},
    {20, "named", true},    {21, "named", false},  {0, "named", true},
    {10, "unnamed", false}, {0, "unnamed", true}, /* of the server's user */
    {10, "nowhere", true},                        /* only the host can judge */
};

static void may_each(void *arg PX_UNUSED)
{
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_peer peer = {.server = px_process.server, .uid = rows[i].user};

        ck_assert_msg(px_peer_may(&peer, rows[i].nspace) == rows[i].may, "%u %s",
                      (unsigned)rows[i].user, rows[i].nspace);
    }
    ck_assert(px_peer_may(px_process.server->self, "theirs"));
}

PX_TEST(a_job_is_that_of_its_clients_users)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_nspace_t named = "named", unnamed = "unnamed";
    uint32_t owner = 20;

    ck_assert(px_user_may(10, 10) && px_user_may(0, 10));
    ck_assert(!px_user_may(10, 11) && !px_user_may(10, 0));
    start();
    raw_add_job("theirs", 2, 0, 10);
    ok(px_infos_add(&infos, PMIX_USERID, &owner, PMIX_UINT32));
    at_once(PMIx_server_register_nspace(named, 0, infos.v, infos.n, NULL, NULL));
    at_once(PMIx_server_register_nspace(unnamed, 0, NULL, 0, NULL, NULL));
    raw_on_loop(may_each, NULL);
}

/* ---- the policy of each request ------------------------------------------------------------ */

enum { ANY = PX_BY_ANY };

/* Policies of all requests. A request without a policy is refused. */
static const struct policy {
    uint8_t senders, reach;
} policies[UINT8_MAX + 1] = {
    [PX_OP_REQ] = {ANY, PX_OWN},
    [PX_OP_ABORT] = {ANY, PX_OF_USER},
    [PX_OP_COMMIT] = {ANY, PX_OWN},
    [PX_OP_FENCE] = {ANY, PX_MEMBERS},
    [PX_OP_GET] = {ANY, PX_OF_USER},
    [PX_OP_FINALIZE] = {ANY | PX_BY_LEAVING, PX_OWN},
    [PX_OP_PUBLISH] = {ANY, PX_BY_HOST},
    [PX_OP_LOOKUP] = {ANY, PX_BY_HOST},
    [PX_OP_UNPUBLISH] = {ANY, PX_BY_HOST},
    [PX_OP_SPAWN] = {ANY, PX_BY_HOST},
    [PX_OP_CONNECT] = {ANY, PX_MEMBERS},
    [PX_OP_DISCONNECT] = {ANY, PX_MEMBERS},
    [PX_OP_NOTIFY] = {ANY, PX_OWN},
    [PX_OP_REGEVENTS] = {ANY, PX_OWN},
    [PX_OP_DEREGEVENTS] = {ANY | PX_BY_LEAVING, PX_OWN},
    [PX_OP_QUERY] = {ANY, PX_BY_HOST},
    [PX_OP_LOG] = {ANY, PX_BY_HOST},
    [PX_OP_ALLOC] = {ANY, PX_BY_HOST},
    [PX_OP_JOB_CONTROL] = {ANY, PX_OF_USER},
    [PX_OP_MONITOR] = {ANY, PX_BY_HOST},
    [PX_OP_GET_CREDENTIAL] = {ANY, PX_BY_HOST},
    [PX_OP_VALIDATE_CRED] = {ANY, PX_BY_HOST},
    [PX_OP_IOF_PULL] = {ANY, PX_OF_USER},
    [PX_OP_IOF_PUSH] = {ANY, PX_OF_USER},
    [PX_OP_IOF_DEREG] = {ANY, PX_OWN},
    [PX_OP_GROUP_CONSTRUCT] = {ANY, PX_MEMBERS},
    [PX_OP_GROUP_DESTRUCT] = {ANY, PX_MEMBERS},
    [PX_OP_GROUP_LEAVE] = {ANY, PX_OWN},
    [PX_OP_FABRIC_REGISTER] = {ANY, PX_BY_HOST},
    [PX_OP_FABRIC_UPDATE] = {ANY, PX_BY_HOST},
    [PX_OP_FABRIC_DEREGISTER] = {PX_BY_SELF, PX_OWN},
    [PX_OP_DEVICE_DISTANCES] = {ANY, PX_OWN},
    [PX_OP_REFRESH_CACHE] = {ANY, PX_OF_USER},
    [PX_OP_RESBLK] = {ANY, PX_BY_HOST},
    [PX_OP_SESSION_CTRL] = {ANY, PX_BY_HOST},
    [PX_OP_RESOLVE_PEERS] = {ANY, PX_OF_USER},
    [PX_OP_RESOLVE_NODE] = {ANY, PX_OF_USER},
    [PX_OP_GDS_FALLBACK] = {PX_BY_CLIENT | PX_BY_TOOL, PX_OWN},
};

static const struct px_rpc *row_of(unsigned op, size_t *n)
{
    const struct px_rpc *found = NULL;

    *n = 0;
    for (const struct px_server_part *const *p = px_server_parts; *p; p++) {
        for (const struct px_rpc *rpc = (*p)->rpcs; rpc && rpc->senders; rpc++) {
            if (rpc->op == op) {
                found = rpc;
                ++*n;
            }
        }
    }
    return found;
}

PX_TEST(each_command_has_one_row_or_is_refused)
{
    start();
    for (unsigned op = 0; op <= UINT8_MAX; op++) {
        const struct policy *policy = &policies[op];
        size_t n;
        const struct px_rpc *row = row_of(op, &n);

        ck_assert_msg(n == (policy->senders ? 1 : 0), "%zu rows for command %u", n, op);
        ck_assert_ptr_eq(px_part_rpc(px_process.server, (uint8_t)op), row);
        if (row) {
            ck_assert_msg(row->senders == policy->senders, "senders of %u", op);
            ck_assert_msg(row->reach == policy->reach, "reach of %u", op);
            ck_assert_msg(!row->handler != !row->forward, "handler of %u", op);
            ck_assert(!row->forward || row->forward->request->op == op);
        } else {
            fails(raw_request(one, raw_begin((uint8_t)op), NULL), NOT_SUPPORTED);
        }
    }
}

/* After a fork, the first write to each page copies the page. So states on few pages cost less. */
PX_TEST(the_states_of_all_parts_share_the_pages_of_the_server)
{
    enum { MOST_B = 3 * 4096 };

    start();
    char *srv = (char *)px_process.server, *end = srv + sizeof(struct px_server);

    for (const struct px_server_part *const *p = px_server_parts; *p; p++) {
        if (!(*p)->state_b)
            continue;
        char *state = *(char **)((char *)&px_process.server->part + (*p)->state_at);

        ck_assert_msg(state >= end && state + (*p)->state_b <= srv + MOST_B, "%s",
                      (*p)->name);
        end = state + (*p)->state_b;
    }
}

static void admit_each(void *arg PX_UNUSED)
{
    struct px_server *srv = px_process.server;
    struct px_peer client = {.server = srv}, tool = {.server = srv, .tool = true},
                   left = {.server = srv, .finalized = true},
                   left_tool = {.server = srv, .tool = true, .finalized = true};
    const struct {
        uint8_t as;
        struct px_peer *peer;
        pmix_status_t refusal;
    } senders[] = {
        {PX_BY_SELF, srv->self, PMIX_ERR_NOT_SUPPORTED},
        {PX_BY_CLIENT, &client, PMIX_ERR_NOT_SUPPORTED},
        {PX_BY_TOOL, &tool, PMIX_ERR_NOT_SUPPORTED},
        {PX_BY_LEAVING, &left, PMIX_ERR_INIT},
        {PX_BY_LEAVING, &left_tool, PMIX_ERR_INIT},
    };

    for (size_t i = 0; i < PX_COUNT(policies) * PX_COUNT(senders); i++) {
        size_t op = i / PX_COUNT(senders), k = i % PX_COUNT(senders), n;
        const struct policy *policy = &policies[op];
        const struct px_req req = {.rpc = row_of((unsigned)op, &n),
                                   .peer = senders[k].peer};

        ck_assert_msg(
            px_req_admit(&req) ==
                (policy->senders & senders[k].as ? PMIX_SUCCESS : senders[k].refusal),
            "command %zu by sender %zu", op, k);
    }
}

static void reach_each(void *arg PX_UNUSED)
{
    static const pmix_proc_t rank = {"mine", 0}, all = {"mine", PMIX_RANK_WILDCARD},
                             here = {"mine", PMIX_RANK_LOCAL_NODE}, next = {"mine", 1},
                             theirs = {"theirs", 0};
    static const struct {
        uint8_t reach;
        const pmix_proc_t *proc;
        pmix_status_t status;
    } rows[] = {
        {PX_OWN, &theirs, PMIX_SUCCESS},
        {PX_BY_HOST, &theirs, PMIX_SUCCESS},
        {PX_OF_USER, &next, PMIX_SUCCESS},
        {PX_OF_USER, &theirs, PMIX_ERR_NO_PERMISSIONS},
        {PX_MEMBERS, &rank, PMIX_SUCCESS},
        {PX_MEMBERS, &all, PMIX_SUCCESS},
        {PX_MEMBERS, &here, PMIX_SUCCESS},
        {PX_MEMBERS, &next, PMIX_ERR_BAD_PARAM},
        {PX_MEMBERS, &theirs, PMIX_ERR_BAD_PARAM},
        {0, &rank, PMIX_ERR_NO_PERMISSIONS}, /* a row without a reach */
    };
    struct px_peer peer = {.server = px_process.server, .uid = 10, .proc = rank};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const struct px_rpc rpc = {.reach = rows[i].reach};
        const struct px_req req = {.peer = &peer, .rpc = &rpc};
        const pmix_proc_t procs[] = {*rows[i].proc, theirs};

        peer.local = px_local_find(px_process.server, &rank);
        ck_assert_int_eq(px_req_may(&req, rows[i].proc, 1), rows[i].status);
        if (rows[i].reach == PX_OF_USER) /* each process counts */
            fails(px_req_may(&req, procs, 2), NO_PERMISSIONS);
        peer.local = NULL; /* a tool, or the server itself */
        if (rows[i].reach == PX_MEMBERS)
            fails(px_req_may(&req, rows[i].proc, 1), BAD_PARAM);
    }
}

PX_TEST(each_sender_may_make_the_requests_of_its_rows_for_processes_in_reach)
{
    start();
    raw_add_job("mine", 2, 0, 10);
    raw_add_job("theirs", 1, 0, 11);
    raw_on_loop(admit_each, NULL);
    raw_on_loop(reach_each, NULL);
}

/* ---- the host's answers ---------------------------------------------------------------------- */

PX_TEST(however_the_host_answers_its_status_is_the_reply)
{
    static const struct {
        enum host_how how;
        pmix_status_t status, reply;
    } answers[] = {
        {HOST_INSIDE, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_INSIDE, PMIX_ERR_DUPLICATE_KEY, PMIX_ERR_DUPLICATE_KEY},
        {HOST_INSIDE, PMIX_OPERATION_SUCCEEDED, PMIX_SUCCESS},
        {HOST_THREAD, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_THREAD, PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS},
        {HOST_DONE, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_ERROR, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED},
        {HOST_ERROR, PMIX_ERR_TIMEOUT, PMIX_ERR_TIMEOUT},
    };

    start();
    for (uint32_t i = 0; i < PX_COUNT(answers); i++) {
        host.how = answers[i].how;
        host.status = answers[i].status;
        scene_publish(one, 200 + i);
        ck_assert_int_eq(raw_status(one, 200 + i), answers[i].reply);
        ck_assert(raw_quiet(one));
    }
}

/* Publishes as rank 0, and waits for call nth of the host. */
static void publish_held(unsigned nth)
{
    host.how = HOST_HELD;
    scene_publish(one, 200);
    host_await("publish", nth);
}

PX_TEST(an_answer_for_an_earlier_server_does_not_reach_the_next)
{
    start();
    publish_held(1);
    raw_server_stop();
    start();
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(raw_quiet(one));
}

static void *answer_now(void *arg)
{
    while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE))
        sched_yield();
    ck_assert(host_answer(PMIX_SUCCESS));
    return NULL;
}

PX_TEST(an_answer_may_come_while_the_server_ends)
{
    for (unsigned i = 1; i <= 50; i++) {
        pthread_t thread;
        int go = 0;

        start();
        publish_held(i);
        ok(pthread_create(&thread, NULL, answer_now, &go));
        __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
        raw_server_stop();
        pthread_join(thread, NULL);
        close(one);
        close(two);
    }
}

PX_TEST(a_host_may_deregister_the_job_from_within_an_upcall)
{
    static const enum host_how hows[] = {HOST_INSIDE, HOST_HELD, HOST_DONE};

    start();
    for (size_t i = 0; i < PX_COUNT(hows); i++) {
        host.how = hows[i];
        host.within = raw_drop_it;
        scene_publish(one, 200);
        ck_assert(raw_closed(one));
        host.within = NULL;
        raw_add_job("job", 2, 0, geteuid());
        one = raw_client(0);
    }
    ck_assert(host_answer(PMIX_SUCCESS));
}

static void *publish(void *arg)
{
    pmix_info_t info;

    PMIx_Info_load(&info, "colour", &(uint32_t){1}, PMIX_UINT32);
    *(pmix_status_t *)arg = PMIx_Publish(&info, 1);
    return NULL;
}

PX_TEST(a_call_of_the_server_itself_goes_to_its_host_and_ends_with_it)
{
    pmix_status_t status = 0;
    pthread_t thread;

    start();
    host.status = PMIX_ERR_DUPLICATE_KEY;
    publish(&status);
    fails(status, DUPLICATE_KEY);
    ck_assert(px_proc_same(&host.proc, &px_process.model->self));
    host.how = HOST_HELD;
    ok(pthread_create(&thread, NULL, publish, &status));
    host_await("publish", 2);
    raw_server_stop();
    pthread_join(thread, NULL);
    fails(status, LOST_CONNECTION);
}

static pmix_status_t abort_procs(int fd, const pmix_proc_t *procs, size_t n)
{
    px_writer w = raw_begin(PX_OP_ABORT);

    px_pack_status(&w, 42);
    px_pack_str(&w, "no more");
    px_pack_procs(&w, procs, n);
    return raw_request(fd, w, NULL);
}

PX_TEST(an_abort_goes_to_the_host_with_all_its_arguments)
{
    pmix_proc_t p = raw_proc("job", 0);

    start();
    ok(abort_procs(two, &p, 1));
    ck_assert_int_eq(host.code, 42);
    ck_assert_str_eq(host.text, "no more");
    ck_assert_uint_eq(host.n_procs, 1);
    ck_assert(px_proc_same(&host.procs[0], &p));
    ck_assert_ptr_eq(host.object, raw_object(1));
    ok(abort_procs(two, NULL, 0));
    ck_assert_uint_eq(host.n_procs, 0);
}

/* ---- finalize ----------------------------------------------------------------------------- */

PX_TEST(a_host_that_does_not_answer_keeps_a_client_for_a_while_only)
{
    setenv("PMIX_MCA_server_finalize_timeout", "20ms", 1);
    start();
    host.how = HOST_HELD;
    ok(raw_finalize(one));
    close(one);
    raw_await_gone(0);
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(host.args_lived);
}

PX_TEST(a_finalized_client_has_nothing_to_ask)
{
    px_writer w = raw_begin(PX_OP_DEREGEVENTS);

    start();
    ok(raw_finalize(one));
    fails(raw_commit(one, "a", 1), INIT);
    raw_collect(one, 700, PX_OP_FENCE, NULL, 0, NULL);
    fails(raw_status(one, 700), INIT);
    px_pack_status(&w, -1);
    raw_send(one, 701, w); /* has no reply, before or after finalize */
    ck_assert(raw_quiet(one));
}

PX_TEST(without_slots_a_client_lives_and_ends_all_the_same)
{
    static const pmix_server_module_t nothing = {0};

    raw_start(&nothing, 1, 0);
    fails(abort_procs(one, NULL, 0), NOT_SUPPORTED);
    ok(raw_finalize(one));
}

/* ---- strange requests ----------------------------------------------------------------------- */

PX_TEST(messages_that_are_no_requests_are_ignored_or_refused)
{
    px_writer w;

    start();
    for (uint32_t tag = 0; tag < 100; tag += 33)
        raw_send(one, tag, raw_begin(PX_OP_COMMIT));
    px_writer_init(&w, px_codec_default);
    raw_send(one, PX_TAG_HEARTBEAT, w); /* no process watches for it */
    ck_assert(raw_quiet(one));
    px_writer_init(&w, px_codec_default);
    fails(raw_request(one, w, NULL), BAD_PARAM);
}

static size_t memory_b(void)
{
    PX_AUTOFREE char *text = text_of_file("/proc/self/statm");
    size_t pages = 0;

    ck_assert_int_eq(sscanf(text, "%*u %zu", &pages), 1);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

enum { N_ASKED = 10000, N_BYTES = 20000 };

/* Sends many requests without reading the replies. */
static void ask_much(void)
{
    for (uint32_t i = 0; i < N_ASKED; i++)
        raw_send(one, 1000 + i, raw_get("job", 1, "large", NULL));
}

static void read_much(void)
{
    for (uint32_t i = 0; i < N_ASKED; i++)
        ok(raw_status(one, 1000 + i));
}

/* Sends a frame of the largest size byte by byte, and does not complete it. */
static void send_slowly(void)
{
    uint8_t bytes[PX_FRAME_HEADER_B + 1] = {0};

    px_frame_encode(bytes, &(struct px_frame){.tag = 1000, .nbytes = PX_MAX_FRAME_B});
    ok(px_fd_write_all(one, bytes, PX_FRAME_HEADER_B, 0));
    for (unsigned i = 0; i < N_BYTES; i++)
        ok(px_fd_write_all(one, &bytes[PX_FRAME_HEADER_B], 1, 0));
}

PX_TEST_LOOP(a_client_that_overdoes_it_costs_little_and_keeps_no_other_waiting, 2)
{
    static const struct {
        void (*begin)(void), (*end)(void);
    } rows[] = {{ask_much, read_much}, {send_slowly, NULL}};
    static char bytes[1000];
    const pmix_value_t large = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, 1000}};

    PX_TEST_NEEDS(px_test_has_proc(), "/proc");
    raw_start(&host_module, 2, 0);
    ok(raw_request(two, raw_commit_of(PMIX_LOCAL, "large", &large), NULL));
    size_t before = memory_b();
    rows[_i].begin();
    ok(raw_commit(two, "good", 7));
    ck_assert_uint_eq(raw_value(two, "job", 1, "good"), 7);
    PX_TEST_NEEDS_ALLOC; /* a sanitizer keeps freed memory */
    ck_assert_uint_le(memory_b(), before + 2 * PX_UNREAD_B);
    if (rows[_i].end)
        rows[_i].end();
    close(one);
    raw_await_gone(0);
}

/* ---- what requests cost ------------------------------------------------------------------ */

/* The size of a request includes the call of the host, and what the built-in host keeps. */
PX_TEST(a_request_at_the_host_is_charged_at_its_real_size)
{
    enum { REQUEST_B = 1024, N_KEYS = 7, KEYS_B = N_KEYS * 32, WAITER_B = 344 };
    const size_t call_b = sizeof(struct px_upcall) + 2 * sizeof(pmix_info_t);
    const struct {
        uint8_t op;
        size_t least_b;
    } rows[] = {{PX_OP_GET, REQUEST_B},
                {PX_OP_PUBLISH, REQUEST_B + call_b},
                {PX_OP_LOOKUP, REQUEST_B + call_b + 2 * KEYS_B + WAITER_B}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_writer w = rows[i].op == PX_OP_GET ? raw_get("job", 1, "colour", NULL)
                                              : raw_begin(rows[i].op);

        raw_start(&host_module, 2, 0);
        host.how = HOST_HELD;
        if (rows[i].op != PX_OP_GET)
            px_pack_u32(&w, geteuid());
        if (rows[i].op == PX_OP_LOOKUP)
            px_pack_size(&w, N_KEYS);
        for (size_t k = 0; rows[i].op == PX_OP_LOOKUP && k < N_KEYS; k++)
            px_pack_str(&w, "key");
        if (rows[i].op != PX_OP_GET)
            px_pack_infos(&w, NULL, 0);
        raw_send(one, 600, w);
        ck_assert(raw_quiet(one));
        size_t kept_b = raw_charged_b(0);
        ck_assert_msg(kept_b >= rows[i].least_b && kept_b < 2 * rows[i].least_b,
                      "command %u: %zu bytes, at least %zu", rows[i].op, kept_b,
                      rows[i].least_b);
        (void)host_answer(PMIX_SUCCESS);
        raw_server_stop();
    }
}

/* Queries are limited before the host is called, and charged before they are answered. */
PX_TEST(queries_and_their_answers_are_limited)
{
    static const struct {
        const pmix_server_module_t *module; /* NULL: the built-in host answers */
        const char *limit;                  /* memory of the user */
        size_t n_queries, n_keys;           /* n_keys: of each query */
        pmix_status_t wanted;
        size_t n_infos; /* in the answer */
        unsigned n_calls;
    } rows[] = {
        {NULL, "1m", 1, 1024, PMIX_SUCCESS, 1024, 0},
        {NULL, "1m", 1, 1025, PMIX_ERR_OUT_OF_RESOURCE, 0, 0},
        {NULL, "1m", 256, 4, PMIX_SUCCESS, 1024, 0},
        {NULL, "1m", 257, 1, PMIX_ERR_OUT_OF_RESOURCE, 0, 0},
        {NULL, "320k", 1, 1024, PMIX_ERR_OUT_OF_RESOURCE, 0, 0},
        {&host_module, "1m", 256, 4, PMIX_SUCCESS, 0, 1},
        {&host_module, "1m", 257, 1, PMIX_ERR_OUT_OF_RESOURCE, 0, 1},
    };
    static char *keys[1026];

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_query_t queries[257] = {{0}};
        px_writer w;
        px_reader rest;

        setenv("PMIX_MCA_server_committed_per_user", rows[i].limit, 1);
        raw_start(rows[i].module, 2, 0);
        memset(keys, 0, sizeof(keys));
        for (size_t k = 0; k < rows[i].n_keys; k++)
            keys[k] = (char *)PMIX_QUERY_NAMESPACES;
        for (size_t k = 0; k < rows[i].n_queries; k++)
            queries[k].keys = keys;
        w = raw_begin(PX_OP_QUERY);
        px_pack_size(&w, rows[i].n_queries);
        px_pack(&w, queries, (int32_t)rows[i].n_queries, PMIX_QUERY);
        ck_assert_int_eq(raw_request(one, w, &rest), rows[i].wanted);
        if (!rows[i].wanted) {
            PX_AUTO(px_infos) infos = {0};

            ok(px_unpack_infos(&rest, &infos.v, &infos.n));
            ck_assert_uint_eq(infos.n, rows[i].n_infos);
        }
        ck_assert_uint_eq(host_calls("query"), rows[i].n_calls);
        ck_assert_uint_eq(raw_charged_b(0), 0);
        raw_server_stop();
    }
}

#ifdef __GLIBC__
/* Replaces the function of the C library. */
static atomic_uint n_trims;
static sem_t trimmed;

int malloc_trim(size_t pad)
{
    atomic_fetch_add(&n_trims, 1 + (unsigned)pad);
    sem_post(&trimmed);
    return 0;
}

/* Sends n gets for a key of rank 1 that wait. Each has n_infos. */
static void get_waiting(const char *key, uint32_t n, size_t n_infos)
{
    PX_AUTOFREE pmix_info_t *empty = calloc(n_infos + 1, sizeof(*empty));

    for (uint32_t i = 0; i < n; i++) {
        px_writer w = raw_begin(PX_OP_GET);

        px_pack_str(&w, "job");
        px_pack_rank(&w, 1);
        px_pack_infos(&w, empty, n_infos);
        px_pack_str(&w, key);
        raw_send(one, 600 + i, w);
    }
    ck_assert(raw_quiet(one));
}

/* Also while others send requests. A part is what the requests that end in some turns have
 * occupied, so that no turn returns much memory. */
PX_TEST(much_memory_of_a_user_goes_back_to_the_system_in_parts)
{
    enum { PART_B = 12 * 1024 * 1024, TURNS_B = 10 * 1024 * 1024 };
    static const struct {
        const char *key;
        uint32_t n_gets;
        size_t n_infos;
    } rows[] = {{"colour", 1, 16000}, {"shape", 8 * 1024, 16}}; /* 9 MB, 80 MB */

    sem_init(&trimmed, 0, 0);
    raw_start(&host_module, 2, 0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        get_waiting(rows[i].key, rows[i].n_gets, rows[i].n_infos);
        const size_t freed_b = raw_charged_b(0);
        atomic_store(&n_trims, 0);
        ok(raw_commit(two, rows[i].key, 7));
        for (uint32_t k = 0; k < rows[i].n_gets; k++)
            ok(raw_status(one, 600 + k));
        while (sem_trywait(&trimmed))
            ok(raw_request(two, raw_get("job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL),
                           NULL));
        raw_on_loop(NULL, NULL);
        ck_assert_uint_ge(n_trims, freed_b / (PART_B + TURNS_B));
        ck_assert_uint_le(n_trims, 1 + freed_b / PART_B);
    }
}

#endif

PX_TEST_MAIN("server/request", NULL, host_end)
