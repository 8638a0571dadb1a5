/* SPDX-License-Identifier: BSD-3-Clause */
/* Commit, get and direct modex: present data, gets that wait, and requests to the host. */
#include "../rt/rt_test.h"
#include "alloc_fail.h"

#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/rpc.h"
#include "core/wire/frame.h"
#include "core/wire/requests.h"
#include "scene.h"

#include <semaphore.h>
#include <string.h>

#define NOT_FOUND PMIX_ERR_NOT_FOUND

static const struct scene scenes[] = {
    SCENE("a get waits for the commit", 3, 0, {0, GETS, 1, "colour"},
          {0, GETS, 1, NULL, 1}, {0, QUIET}, {1, PUTS, 7, "colour"},
          {0, HAS, 7, "colour"}, {0, HAS, 7, "colour", 1}),
    SCENE("a later commit adds and replaces", 2, 0, {0, PUTS, 1, "a"},
          {0, PUTS, 2, "b"}, {0, PUTS, 3, "a"}, {1, GETS, 0, "a"}, {1, HAS, 3, "a"},
          {1, GETS, 0, "b"}, {1, HAS, 2, "b"}),
    SCENE("what can not come is not found at once", 3, 0, {0, GETS, 1, "pmix.shape"},
          {0, ENDS, NOT_FOUND}, {0, GETS, 9, "shape"}, {0, ENDS, NOT_FOUND}),
    SCENE("a rank that has committed may commit more", 2, 0, {1, PUTS, 7, "colour"},
          {0, GETS, 1, "shape"}, {0, QUIET}, {1, PUTS, 8, "size"}, {0, QUIET},
          {1, PUTS, 9, "shape"}, {0, HAS, 9, "shape"}, {0, GETS, 1, "weight"},
          {0, GETS, 1, "pmix.shape", 1}, {0, ENDS, NOT_FOUND, NULL, 1}, {1, FINALIZES},
          {0, ENDS, NOT_FOUND}),
    SCENE("a waiting get ends when its owner dies", 2, 0, {0, GETS, 1, "colour"},
          {0, QUIET}, {1, DIES}, {0, ENDS, NOT_FOUND}, {0, GETS, 1, "colour"},
          {0, ENDS, NOT_FOUND}),
    SCENE("a waiting get ends when the rank finalizes without a commit", 2, 0,
          {0, GETS, 1, "colour"}, {0, QUIET}, {1, FINALIZES}, {0, ENDS, NOT_FOUND},
          {0, GETS, 1, "colour"}, {0, ENDS, NOT_FOUND}),
    SCENE("an undefined rank finds the rank that has the key", 2, 0,
          {0, GETS, (int)PMIX_RANK_UNDEF, "colour"}, {0, ENDS, NOT_FOUND},
          {1, PUTS, 7, "colour"}, {0, GETS, (int)PMIX_RANK_UNDEF, "colour"},
          {0, HAS, 7, "colour"}),
};

PX_TEST_LOOP(each_scene_of_data_goes_as_written, PX_COUNT(scenes))
{
    scene_play(&scenes[_i]);
}

/* Starts a job with ranks 0 and 1 here, and ranks 2 and 3 on another node. */
static void start(void)
{
    raw_start(&host_module, 2, 2);
}

static void send_get(int fd, uint32_t tag, pmix_rank_t rank, const char *key)
{
    raw_send(fd, tag, raw_get("job", rank, key, NULL));
}

static pmix_status_t get(int fd, const char *nspace, pmix_rank_t rank, const char *key)
{
    return raw_request(fd, raw_get(nspace, rank, key, NULL), NULL);
}

static sem_t answered;
static pmix_status_t answer_status;
static char answer_data[4096];
static size_t answer_n;

static void on_data(pmix_status_t status, char *data, size_t n, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &answered);
    ck_assert_uint_le(n, sizeof(answer_data));
    answer_status = status;
    answer_n = n;
    if (n)
        memcpy(answer_data, data, n);
    sem_post(&answered);
}

static void ask_for(pmix_rank_t rank)
{
    pmix_proc_t p = raw_proc("job", rank);

    ok(PMIx_server_dmodex_request(&p, on_data, &answered));
}

static pmix_status_t await_answer(void)
{
    sem_wait(&answered);
    return answer_status;
}

static pmix_status_t answer_for(pmix_rank_t rank)
{
    ask_for(rank);
    return await_answer();
}

static const pmix_value_t number = {.type = PMIX_UINT32, .data.uint32 = 1};

static pmix_status_t commit(int fd, uint8_t scope, const char *key)
{
    return raw_request(fd, raw_commit_of(scope, key, &number), NULL);
}

/* ---- commit ------------------------------------------------------------------------------- */

PX_TEST(scopes_and_keys_that_make_no_sense_are_refused)
{
    static const struct {
        uint8_t scope;
        const char *key;
    } rows[] = {{PMIX_INTERNAL, "a"}, {0, "a"}, {77, "a"}, {PMIX_LOCAL, ""}};
    PX_AUTOFREE char *longer = px_strf("%0*d", PMIX_MAX_KEYLEN + 1, 1);

    start();
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        fails(commit(one, rows[i].scope, rows[i].key), BAD_PARAM);
    ck_assert_int_lt(commit(one, PMIX_LOCAL, longer), 0);
    ok(commit(one, PMIX_REMOTE, "far")); /* for other nodes only */
    ck_assert_uint_eq(raw_value(two, "job", 0, "a"), UINT32_MAX);
    ck_assert_uint_eq(raw_value(two, "job", 0, "far"), UINT32_MAX);
}

PX_TEST(a_get_ends_when_its_key_is_committed_out_of_scope)
{
    start();
    send_get(one, 300, 1, "far");
    ck_assert(raw_quiet(one));
    ok(commit(two, PMIX_REMOTE, "far"));
    fails(raw_status(one, 300), NOT_FOUND);
    fails(get(one, "job", 1, "far"), NOT_FOUND);
    ok(commit(two, PMIX_LOCAL, "far"));
    ck_assert_uint_eq(raw_value(one, "job", 1, "far"), 1);
}

PX_TEST(a_long_wait_is_reported_and_ends_at_the_limit_of_the_site)
{
    struct rt_capture c;

    setenv("PMIX_MCA_server_get_report", "1s", 1);
    setenv("PMIX_MCA_server_get_timeout", "2s", 1);
    start();
    host.how = HOST_HELD;
    c = rt_capture_begin();
    send_get(one, 300, 1, "colour");
    send_get(two, 301, 2, NULL);
    fails(raw_status(one, 300), TIMEOUT);
    fails(raw_status(two, 301), TIMEOUT);
    PX_AUTOFREE char *text = rt_capture_end(&c);
    ck_assert_int_eq(rt_count(text, "get: job:0 has waited 1 s for key \"colour\" of "
                                    "job:1, which has not committed such a key\n"),
                     1);
    ck_assert_int_eq(rt_count(text, "get: job:1 has waited 1 s for all keys of job:2, "
                                    "which the host has not brought\n"),
                     1);
    ck_assert_int_eq(rt_count(text, "\n"), 2);
}

PX_TEST(a_damaged_commit_changes_nothing)
{
    px_writer w = raw_begin(PX_OP_COMMIT);

    start();
    px_pack_u8(&w, PMIX_LOCAL, PMIX_SCOPE);
    const struct px_pack_nest body = px_pack_buffer_begin(&w);
    px_pack_kval(&w, "good", &number);
    ok(px_buf_add(&w.buf, "\x02\xff", 2));
    px_pack_buffer_end(&w, body);
    ck_assert_int_ne(raw_request(two, w, NULL), PMIX_SUCCESS);
    ck_assert_uint_eq(raw_value(one, "job", 1, "good"), UINT32_MAX);
}

/* ---- get ---------------------------------------------------------------------------- */

PX_TEST(what_no_process_can_provide_is_not_found)
{
    static const pmix_server_module_t nothing = {0};

    raw_start(&nothing, 1, 1);
    fails(get(one, "stranger", 0, "shape"), NOT_FOUND);
    fails(get(one, "job", 1, "colour"), NOT_FOUND); /* rank of another node */
}

PX_TEST(a_get_may_wait_with_a_deadline)
{
    px_writer w = raw_begin(PX_OP_GET);
    pmix_info_t info;

    start();
    PMIx_Info_load(&info, PMIX_TIMEOUT, &(uint32_t){1}, PMIX_UINT32);
    px_pack_str(&w, "job");
    px_pack_rank(&w, 1);
    px_pack_infos(&w, &info, 1);
    px_pack_str(&w, "colour");
    fails(raw_request(one, w, NULL), TIMEOUT);
}

PX_TEST(ranks_that_cannot_have_data_are_refused)
{
    static const pmix_rank_t ranks[] = {PMIX_RANK_VALID, PMIX_RANK_LOCAL_NODE,
                                        PMIX_RANK_INVALID, PMIX_RANK_LOCAL_PEERS};
    PX_AUTOFREE char *longer = px_strf("%0300d", 1);

    start();
    for (size_t i = 0; i < PX_COUNT(ranks); i++)
        fails(get(one, "job", ranks[i], "colour"), BAD_PARAM);
    fails(get(one, longer, 0, "colour"), BAD_PARAM);
    ck_assert_uint_eq(host_calls("direct_modex"), 0);
}

PX_TEST(a_value_the_readers_dialect_lacks_does_not_hide_the_others)
{
    struct px_hello h = raw_hello("job", 0);
    pmix_value_t odd = {.type = PMIX_LINK_STATE, .data.linkstate = 1};
    struct px_codec v3 = {.dialect = px_dialect_find("v3")};
    struct px_kval kv = {0};
    pmix_status_t status;
    px_reader r;
    px_writer w;
    int fd;

    start();
    ok(raw_request(two, raw_commit_of(PMIX_LOCAL, "odd", &odd), NULL));
    ok(commit(two, PMIX_LOCAL, "plain"));
    strcpy(h.dialect, "v3");
    ok(raw_connect(&h, &fd));
    px_writer_init(&w, v3);
    px_pack_op(&w, PX_OP_GET);
    px_pack_str(&w, "job");
    px_pack_rank(&w, 1);
    px_pack_infos(&w, NULL, 0);
    px_pack_str(&w, "plain");
    raw_send(fd, 300, w);
    ck_assert(raw_recv(fd, 300, &r));
    r.codec = v3;
    ok(px_unpack_status(&r, &status));
    ok(status);
    px_reader part = raw_part(&r);
    ck_assert(raw_next_kval(&part, &kv));
    ck_assert_str_eq(kv.key, "plain");
    ck_assert(px_reader_done(&part));
    px_kval_fini(&kv);
}

PX_TEST(a_job_of_another_user_is_not_read)
{
    PX_TEST_NEEDS_ROOT;
    start();
    raw_add_job("theirs", 1, 0, 4711);
    int theirs = raw_client_as(4711, "theirs", 0);
    ok(raw_commit(theirs, "colour", 7));
    fails(get(theirs, "job", 0, "colour"), NO_PERMISSIONS);
    fails(get(theirs, "job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), NO_PERMISSIONS);
    ok(get(theirs, "theirs", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE));
}

static pmix_status_t commit_of(int fd, const char *key, size_t n)
{
    PX_AUTOFREE char *bytes = calloc(1, n);
    const pmix_value_t v = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, n}};

    return raw_request(fd, raw_commit_of(PMIX_LOCAL, key, &v), NULL);
}

PX_TEST_LOOP(users_and_all_of_them_may_only_commit_so_much, 2)
{
    enum { SIZE_B = 300000 };

    setenv(_i ? "PMIX_MCA_server_committed_total"
              : "PMIX_MCA_server_committed_per_user",
           "1m", 1);
    start();
    for (int i = 0; i < 10; i++) /* a new value replaces the old value */
        ok(commit_of(one, "a", SIZE_B));
    fails(commit_of(two, "b", 3 * SIZE_B), OUT_OF_RESOURCE);
    fails(get(one, "job", 1, "pmix.b"), NOT_FOUND);
    ck_assert_uint_eq(raw_value(one, "job", 1, "b"), UINT32_MAX);
    ok(raw_commit(two, "b", 7));
    ck_assert_uint_eq(raw_value(one, "job", 1, "b"), 7);
    raw_add_job("next", 1, 0, geteuid());
    raw_drop_it(); /* makes room again */
    ok(commit_of(raw_client_as(geteuid(), "next", 0), "a", 3 * SIZE_B));
}

/* ---- large amounts ---------------------------------------------------------------- */

/* Commits n values of size_b as one commit. Their keys are "k0" and so on. Returns the status. */
static pmix_status_t commit_many_of(int fd, unsigned n, size_t size_b)
{
    PX_AUTOFREE char *bytes = calloc(1, size_b);
    pmix_value_t v = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, size_b}};
    px_writer w = raw_begin(PX_OP_COMMIT);
    char key[16];

    px_pack_u8(&w, PMIX_LOCAL, PMIX_SCOPE);
    const struct px_pack_nest body = px_pack_buffer_begin(&w);
    for (unsigned i = 0; i < n; i++) {
        snprintf(key, sizeof(key), "k%u", i);
        px_pack_kval(&w, key, &v);
    }
    px_pack_buffer_end(&w, body);
    return raw_request(fd, w, NULL);
}

static void commit_many(int fd, unsigned n, size_t size_b)
{
    ok(commit_many_of(fd, n, size_b));
}

/* Returns the numbers of the keys in a reply about rank 1, as bits. */
static unsigned keys_in(px_reader *r)
{
    unsigned keys = 0;
    px_reader part = raw_part(r);
    struct px_kval kv = {0};

    while (raw_next_kval(&part, &kv)) {
        keys |= 1u << atoi(kv.key + 1);
        px_kval_fini(&kv);
    }
    return keys;
}

/* The values "k0" and so on have 600 KB each. In the end "k0" has 3 MB. */
PX_TEST(much_of_a_rank_comes_in_parts_that_do_not_repeat)
{
    static const struct {
        const char *key, *flag;
        unsigned keys;
    } rows[] = {
        {"k0", PX_GET_PARTS, 0x7},
        {"k1", PX_GET_PARTS, 0x3a}, /* and the following keys */
        {"k0", PX_GET_PARTS, 0xc1},
        {"k2", PX_GET_PARTS, 0x4},
        {"k7", NULL, 0xff}, /* a client without support for parts */
    };

    start();
    commit_many(two, 8, 600000);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_reader r;

        ok(raw_request(one, raw_get("job", 1, rows[i].key, rows[i].flag), &r));
        ck_assert_msg(keys_in(&r) == rows[i].keys, "%zu", i);
    }
    /* A large value goes alone, and does not delay other values. */
    commit_many(two, 1, 3000000);
    for (unsigned i = 0; i < 2; i++) {
        int fresh = raw_client(0);
        px_reader r;

        ok(raw_request(fresh, raw_get("job", 1, i ? "k0" : "k1", PX_GET_PARTS), &r));
        ck_assert_uint_eq(keys_in(&r), i ? 0xf : 0xe);
        close(fresh);
    }
}

static void measure_unsent(void *arg)
{
    pmix_proc_t proc = raw_proc("job", 0);

    *(size_t *)arg = px_conn_unsent(px_peer_find(px_process.server, &proc)->conn);
}

/* Gets of present data, or of data that comes while the gets wait. */
PX_TEST_LOOP(answers_do_not_pile_up_for_a_client_that_does_not_read, 2)
{
    enum { N = 30, SIZE_B = 900000 };
    size_t unsent;
    char key[16];

    start();
    if (_i)
        commit_many(two, N, SIZE_B);
    for (unsigned i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "k%u", i);
        raw_send(one, 700 + i, raw_get("job", 1, key, PX_GET_PARTS));
    }
    if (!_i) {
        raw_on_loop(NULL, NULL);
        commit_many(two, N, SIZE_B);
    }
    ok(raw_commit(two, "colour", 7)); /* the server serves others meanwhile */
    raw_on_loop(measure_unsent, &unsent);
    ck_assert_uint_le(unsent, PX_UNREAD_B + 3 * SIZE_B);
    for (unsigned i = 0; i < N; i++)
        ok(raw_status(one, 700 + i));
}

/* The commit takes several turns, and fails in the last. */
PX_TEST(gets_end_when_a_long_commit_fails)
{
    setenv("PMIX_MCA_server_committed_per_user", "1m", 1);
    start();
    send_get(one, 300, 1, "k0");
    ask_for(1);
    ck_assert(raw_quiet(one));
    fails(commit_many_of(two, 10000, 1), OUT_OF_RESOURCE);
    fails(raw_status(one, 300), OUT_OF_RESOURCE);
    fails(await_answer(), OUT_OF_RESOURCE);
    fails(get(one, "job", 1, "k0"), OUT_OF_RESOURCE);
    fails(answer_for(1), OUT_OF_RESOURCE);
    ck_assert_uint_eq(raw_value(one, "job", 1, "k0"), UINT32_MAX);
    ok(raw_commit(two, "colour", 7)); /* more may follow now */
    ok(answer_for(1));
    send_get(one, 301, 1, "k0");
    ck_assert(raw_quiet(one));
}

static struct {
    char key[16];
    unsigned nth;
    bool failed;
    pmix_status_t status; /* of the commit, as the server keeps it */
} scarce;

/* Takes a commit of rank 1 with a failing allocation. */
static void commit_scarcely(void *arg PX_UNUSED)
{
    const pmix_proc_t who = raw_proc("job", 1);
    px_writer w = raw_commit_of(PMIX_GLOBAL, scarce.key, &number);
    struct px_peer *peer = px_peer_find(px_process.server, &who);

    px_alloc_fail_at(++scarce.nth);
    px_server_dispatch(px_process.server, peer, 900, w.buf.data, w.buf.len);
    scarce.failed = px_alloc_fail_end();
    scarce.status = peer->local->commit_status;
    px_writer_cleanup(&w);
}

/* Each allocation of a commit fails in turn. */
PX_TEST(gets_end_when_a_commit_has_no_memory)
{
    unsigned n_failed = 0;

    PX_TEST_NEEDS_ALLOC;
    start();
    do {
        snprintf(scarce.key, sizeof(scarce.key), "key%u", scarce.nth);
        send_get(one, 300, 1, scarce.key);
        ck_assert(raw_quiet(one));
        raw_on_loop(commit_scarcely, NULL);
        pmix_status_t status = raw_status(two, 900), got = raw_status(one, 300);
        ck_assert(status == PMIX_SUCCESS || status == PMIX_ERR_NOMEM);
        ck_assert(got == PMIX_SUCCESS || got == PMIX_ERR_NOMEM);
        ck_assert(!scarce.status || status == scarce.status);
        n_failed += scarce.status != PMIX_SUCCESS;
        if (scarce.status)
            fails(get(one, "job", 1, "missing"), NOMEM);
        ok(commit(two, PMIX_LOCAL, "other")); /* gets wait again */
    } while (scarce.failed);
    ck_assert_uint_gt(n_failed, 3);
}

/* ---- incomplete frames ------------------------------------------------------------ */

/* Sends some bytes of a frame with an unknown request. The server replies when the frame is
 * complete. */
static void send_part(int fd, uint32_t tag, uint32_t frame_b, size_t from, size_t to)
{
    PX_AUTOFREE uint8_t *bytes = calloc(1, PX_FRAME_HEADER_B + frame_b);
    px_writer w = raw_begin(PX_OP_MAX);

    px_frame_encode(bytes, &(struct px_frame){.tag = tag, .nbytes = frame_b});
    memcpy(bytes + PX_FRAME_HEADER_B, w.buf.data, w.buf.len);
    px_writer_cleanup(&w);
    ok(px_fd_write_all(fd, bytes + from, to - from, 0));
}

struct load {
    pmix_rank_t rank;
    size_t unsent; /* on all connections */
    bool stopped;
};

static void measure_load(void *arg)
{
    struct load *l = arg;

    l->unsent = 0;
    PX_LIST_EACH (&px_process.server->peers, struct px_peer, p, link) {
        l->unsent += px_conn_unsent(p->conn);
        if (p->proc.rank == l->rank && strcmp(p->proc.nspace, "job") == 0)
            l->stopped = px_conn_is_held(p->conn);
    }
}

static void await_stopped(pmix_rank_t rank)
{
    for (struct load l = {.rank = rank}; !l.stopped; sched_yield())
        raw_on_loop(measure_load, &l);
}

/* Rank 0 completes its frame, or is silent until its timeout. The limit is that of a user, or of
 * all users. */
PX_TEST_LOOP(a_frame_without_room_waits_for_those_of_its_user_that_have_it, 4)
{
    enum { FRAME_B = 12 << 20, PART_B = 100000, END = PX_FRAME_HEADER_B + FRAME_B };
    const bool is_silent = _i % 2;

    setenv(_i / 2 ? "PMIX_MCA_server_committed_total"
                  : "PMIX_MCA_server_committed_per_user",
           "1m", 1);
    setenv("PMIX_MCA_server_unread_timeout", is_silent ? "1200ms" : "1h", 1);
    raw_start(&host_module, 3, 0);
    raw_add_job("theirs", 1, 0, 4711);
    send_part(one, 300, FRAME_B, 0, PART_B);
    ck_assert(raw_quiet(two));
    send_part(two, 301, FRAME_B, 0, PART_B);
    if (!is_silent) {
        await_stopped(1);
        ok(raw_commit(three, "a", 1)); /* small requests go on */
        if (geteuid() == 0) {          /* as do other users */
            int theirs = raw_client_as(4711, "theirs", 0);

            send_part(theirs, 302, FRAME_B, 0, END);
            fails(raw_status(theirs, 302), NOT_SUPPORTED);
        }
        send_part(one, 300, FRAME_B, PART_B, END);
        fails(raw_status(one, 300), NOT_SUPPORTED);
    } else {
        ck_assert(raw_closed(one));
    }
    send_part(two, 301, FRAME_B, PART_B, END);
    fails(raw_status(two, 301), NOT_SUPPORTED);
}

/* Values may need more memory than their frames. */
PX_TEST(frames_that_have_begun_can_end_in_less_room)
{
    enum { FRAME_B = 12 << 20, PART_B = 100000, END = PX_FRAME_HEADER_B + FRAME_B };
    enum { VALUES = 120000 };

    setenv("PMIX_MCA_server_committed_per_user", "45m", 1);
    raw_start(&host_module, 4, 0);
    const int fds[] = {one, two, three};
    for (unsigned i = 0; i < 3; i++)
        send_part(fds[i], 300, FRAME_B, 0, PART_B);
    raw_on_loop(NULL, NULL);
    commit_many(raw_client(3), VALUES, 1);
    for (unsigned i = 0; i < 3; i++) {
        send_part(fds[i], 300, FRAME_B, PART_B, END);
        fails(raw_status(fds[i], 300), NOT_SUPPORTED);
    }
}

PX_TEST(answers_do_not_pile_up_for_one_user_however_many_connections_there_are)
{
    enum { N = 20, SIZE_B = 6 << 20, LIMIT_B = 24 << 20 };
    struct load l = {0};
    int fds[N];

    setenv("PMIX_MCA_server_committed_per_user", "24m", 1);
    start();
    commit_many(two, 1, SIZE_B);
    for (unsigned i = 0; i < N; i++) {
        fds[i] = raw_client(0);
        raw_send(fds[i], 700, raw_get("job", 1, "k0", PX_GET_PARTS));
    }
    raw_on_loop(NULL, NULL);
    raw_on_loop(measure_load, &l);
    ck_assert_uint_le(l.unsent, LIMIT_B);
    for (unsigned i = 0; i < N; i++) {
        ok(raw_status(fds[i], 700));
        close(fds[i]);
    }
}

PX_TEST(who_never_reads_is_disconnected_and_waited_for_no_longer)
{
    enum { N = 12, SIZE_B = 900000 };
    const pmix_proc_t both[] = {raw_proc("job", 0), raw_proc("job", 1)};

    setenv("PMIX_MCA_server_unread_timeout", "1200ms", 1);
    raw_start(&host_module, 2, 0);
    commit_many(two, N, SIZE_B);
    for (unsigned i = 0; i < N; i++)
        raw_send(one, 700 + i, raw_get("job", 1, "k0", NULL));
    raw_collect(two, 800, PX_OP_CONNECT, both, 2, NULL);
    fails(raw_status(two, 800), LOST_CONNECTION);
    raw_await_gone(0);
    int again = raw_client(0);
    ok(raw_request(again, raw_get("job", 1, "k0", PX_GET_PARTS), NULL));
}

/* ---- requests to the host ---------------------------------------------------------------------- */

/* Makes the host answer with data that another node's server would send for a rank. */
static void host_brings(const char *key, uint32_t n)
{
    static px_writer w;
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    px_writer_init(&w, px_codec_default);
    px_pack_kval(&w, key, &v);
    host.bytes = w.buf.data;
    host.n_bytes = w.buf.len;
}

PX_TEST(the_host_is_asked_once_for_a_rank_however_many_wait)
{
    px_reader r;

    start();
    host.how = HOST_HELD;
    send_get(one, 300, 2, "colour");
    send_get(one, 301, 2, "shape");
    ck_assert(raw_quiet(one));
    send_get(two, 302, 2, "colour");
    ck_assert(raw_quiet(two));
    ck_assert_uint_eq(host_calls("direct_modex"), 1);
    ck_assert_uint_eq(host.proc.rank, 2);
    ck_assert_str_eq(px_info_str(host.given.v, host.given.n, PMIX_REQUIRED_KEY),
                     "colour");
    host_brings("colour", 7);
    ck_assert(host_answer(PMIX_SUCCESS));

    ok(raw_reply(one, 300, &r));
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 7);
    fails(raw_status(one, 301), NOT_FOUND); /* the answer does not have this key */
    ok(raw_status(two, 302));
    ok(get(two, "job", 2, "colour")); /* present now */
    ck_assert_uint_eq(host_calls("direct_modex"), 1);
}

PX_TEST(an_answer_that_is_an_error_or_damaged_or_empty_is_the_reply)
{
    start();
    host.status = PMIX_ERR_TIMEOUT;
    fails(get(one, "job", 2, "colour"), TIMEOUT);
    host.status = PMIX_SUCCESS; /* without data */
    fails(get(one, "job", 2, "colour"), NOT_FOUND);
    host.bytes = "\x02\xff\xff";
    host.n_bytes = 3;
    ck_assert_int_lt(get(one, "job", 2, "colour"), 0);
}

PX_TEST(a_job_of_another_place_can_be_asked_for)
{
    px_reader r;

    start();
    host_brings("colour", 9);
    ok(raw_request(one, raw_get("faraway", 5, "colour", NULL), &r));
    ck_assert_uint_eq(raw_value_in(&r, "colour"), 9);
}

PX_TEST(an_answer_that_nobody_waits_for_any_more_makes_no_namespace)
{
    start();
    host.how = HOST_HELD;
    host_brings("colour", 9);
    raw_send(one, 300, raw_get("faraway", 5, "colour", NULL));
    host_await("direct_modex", 1);
    close(one);
    raw_await_gone(0);
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(raw_quiet(two));
    ck_assert_ptr_null(px_nspace_find(px_process.model, "faraway"));
}

PX_TEST(the_host_may_deregister_the_job_while_it_is_asked)
{
    start();
    host.within = raw_drop_it;
    fails(get(one, "job", 2, "colour"), NOT_FOUND);
    ck_assert(raw_closed(one));
}

/* ---- requests of the host ------------------------------------------------------------------------- */

static bool answer_has(const char *key)
{
    return memmem(answer_data, answer_n, key, strlen(key));
}

PX_TEST(the_host_gets_what_a_rank_committed_for_other_nodes_once_it_has)
{
    start();
    ask_for(0);
    ck_assert(raw_quiet(one));
    ck_assert_int_ne(sem_trywait(&answered), 0);
    ok(raw_commit(one, "colour", 7));
    ok(await_answer());
    ck_assert(answer_has("colour"));
    ok(answer_for(0));
    ok(answer_for(PMIX_RANK_WILDCARD));
    ck_assert(answer_has(PMIX_JOB_SIZE));
}

PX_TEST(the_host_gets_an_error_for_what_will_never_come)
{
    start();
    fails(answer_for(3), NOT_FOUND); /* rank of another node */
    ask_for(0);
    ask_for(0);
    close(one);
    fails(await_answer(), NOT_FOUND);
    fails(await_answer(), NOT_FOUND);
    fails(answer_for(0), NOT_FOUND);
    ask_for(1);
    raw_server_stop();
    fails(await_answer(), LOST_CONNECTION);
}

static void on_data_drop(pmix_status_t status, char *data, size_t n, void *cbdata)
{
    raw_drop_it();
    on_data(status, data, n, cbdata);
}

PX_TEST(the_host_may_deregister_the_job_when_it_is_answered)
{
    pmix_proc_t p = raw_proc("job", 1);

    start();
    send_get(one, 300, 1, "colour");
    ck_assert(raw_quiet(one));
    for (int i = 0; i < 3; i++)
        ok(PMIx_server_dmodex_request(&p, on_data_drop, &answered));
    raw_on_loop(NULL, NULL);
    close(two);
    for (int i = 0; i < 3; i++)
        fails(await_answer(), NOT_FOUND);
}

static void setup(void)
{
    sem_init(&answered, 0, 0);
}

PX_TEST_MAIN("server/data", setup, host_end)
