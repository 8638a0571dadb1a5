/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits on what one peer can register, and on its work in a turn of the loop: requests about
 * events, deliveries, and gets that end together. */

#include "core/base/fd.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/data/gets.h"
#include "core/server/event/interests.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/wire/frame.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"
#include "scene.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define CODE (-777)

/* Counts messages that begin with an event; replaces the C library's sendmsg. */
static atomic_uint n_wakes;

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    struct px_frame f;

    n_wakes += !px_frame_decode(msg->msg_iov->iov_base, &f) && f.tag == PX_TAG_NOTIFY;
    return syscall(SYS_sendmsg, fd, msg, flags);
}

static void start(void)
{
    raw_start(&host_module, 3, 0);
}

/* ---- registrations ------------------------------------------------------------------------------ */

/* Returns codes from CODE downwards. */
static const pmix_status_t *many_codes(pmix_status_t first)
{
    static pmix_status_t codes[PX_MAX_INTEREST_CODES + 1];

    for (size_t i = 0; i < PX_COUNT(codes); i++)
        codes[i] = first - (pmix_status_t)i;
    return codes;
}

/* Adds n processes of "far" as this attribute. */
static void add_procs(px_infos *infos, const char *key, size_t n)
{
    PX_AUTOFREE pmix_proc_t *procs = calloc(n, sizeof(*procs));
    pmix_data_array_t array = {PMIX_PROC, n, procs};

    for (size_t i = 0; i < n; i++)
        px_proc_set(&procs[i], "far", (pmix_rank_t)i);
    ok(px_infos_add(infos, key, &array, PMIX_DATA_ARRAY));
}

/* Returns a registration of n_codes codes (0: a default handler) about n_procs processes. */
static px_writer want_for(pmix_status_t first, size_t n_codes, size_t n_procs)
{
    PX_AUTO(px_infos) infos = {0};

    if (n_procs)
        add_procs(&infos, PMIX_EVENT_AFFECTED_PROCS, n_procs);
    return raw_want(many_codes(first), n_codes, &infos);
}

static pmix_status_t want_many(int fd, pmix_status_t first, size_t n_codes,
                               size_t n_procs)
{
    return raw_request(fd, want_for(first, n_codes, n_procs), NULL);
}

/* Gives up n codes from first downwards. */
static void forget_many(int fd, pmix_status_t first, size_t n)
{
    px_writer w = raw_begin(PX_OP_DEREGEVENTS);

    for (size_t i = 0; i < n; i++)
        px_pack_status(&w, many_codes(first)[i]);
    raw_send(fd, 1000, w); /* has no reply */
}

PX_TEST(registrations_have_limits)
{
    static const struct {
        size_t n_codes, n_procs, n_accepted;
        pmix_status_t then;
    } rows[] = {{PX_MAX_CODES + 1, 0, 0, PMIX_ERR_BAD_PARAM},
                {1, PX_MAX_AFFECTED + 1, 0, PMIX_ERR_BAD_PARAM},
                {PX_MAX_CODES, 0, 4, PMIX_ERR_OUT_OF_RESOURCE},
                {1, PX_MAX_AFFECTED, 4, PMIX_ERR_OUT_OF_RESOURCE},
                {1, 0, PX_MAX_INTERESTS, PMIX_ERR_OUT_OF_RESOURCE},
                {0, 0, PX_MAX_INTERESTS, PMIX_ERR_OUT_OF_RESOURCE}};
    px_writer w = raw_begin(PX_OP_REGEVENTS);

    start();
    px_pack_size(&w, sizeof(size_t) > 4 ? (size_t)(UINT64_C(1) << 33) : SIZE_MAX);
    ck_assert_int_lt(raw_request(one, w, NULL), 0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        for (uint32_t n = 0; n < rows[i].n_accepted; n++)
            raw_send(one, 5000 + n, want_for(CODE, rows[i].n_codes, rows[i].n_procs));
        if (rows[i].n_accepted)
            ok(raw_status(one, 5000 + (uint32_t)rows[i].n_accepted - 1));
        ck_assert_int_eq(want_many(one, CODE, rows[i].n_codes, rows[i].n_procs),
                         rows[i].then);
        /* More codes than a peer can have are refused, and nothing is removed. */
        forget_many(one, CODE, PX_MAX_INTEREST_CODES + 1);
        if (rows[i].n_accepted)
            fails(want_many(one, CODE, rows[i].n_codes, rows[i].n_procs),
                  OUT_OF_RESOURCE);
        forget_many(one, CODE, PX_MAX_CODES);
        scene_forget(one, INT_MIN);
        ok(scene_want(one, &(pmix_status_t){CODE}, 1));
        scene_forget(one, CODE);
    }
}

/* ---- work --------------------------------------------------------------------------------------- */

/* Resets the statistics of turns. */
static void reset_turns(void *turns)
{
    struct px_turns *t = px_process.server->part.turns;

    *(struct px_turns *)turns = *t;
    t->largest = t->n_rests = 0;
}

/* Returns the statistics since the last call. */
static struct px_turns turns(void)
{
    struct px_turns t;

    raw_on_loop(reset_turns, &t);
    return t;
}

static void cache_many(void)
{
    for (int i = 0; i < 256; i++)
        ok(scene_notify(three, CODE - i, PMIX_RANGE_LOCAL, NULL));
}

static void want_all_codes(void)
{
    for (pmix_status_t i = 0; i < 4; i++)
        ok(want_many(one, CODE - i * (pmix_status_t)PX_MAX_CODES, PX_MAX_CODES, 0));
}

static void want_all_procs(void)
{
    for (int i = 0; i < 4; i++)
        ok(want_many(one, CODE, 1, PX_MAX_AFFECTED));
}

static void want_any(void)
{
    ok(scene_want(one, NULL, 0));
}

static void forget_4000(void)
{
    forget_many(one, CODE, 4000);
    ck_assert(raw_quiet(one));
}

static void want_4096(void)
{
    ok(want_many(one, CODE - 1000, PX_MAX_CODES, 0));
}

static void want_1024_procs(void)
{
    ok(want_many(one, CODE, 1, PX_MAX_AFFECTED));
}

/* Notifies of n processes that no registration names. */
static pmix_status_t notify_of(const char *key, size_t n)
{
    PX_AUTO(px_infos) infos = {0};

    add_procs(&infos, key, n);
    for (size_t i = 0; i < n; i++)
        ((pmix_proc_t *)infos.v->value.data.darray->array)[i].nspace[0] = 'F';
    return scene_notify(two, CODE, PMIX_RANGE_LOCAL, &infos);
}

static void notify_of_4096(void)
{
    ok(notify_of(PMIX_EVENT_AFFECTED_PROCS, 4096));
}

static void notify_range_of_4096(void)
{
    ok(notify_of(PMIX_EVENT_CUSTOM_RANGE, 4096));
}

static void notify_of_too_many(void)
{
    fails(notify_of(PMIX_EVENT_AFFECTED_PROCS, 4097), OUT_OF_RESOURCE);
    fails(notify_of(PMIX_EVENT_CUSTOM_RANGE, 4097), OUT_OF_RESOURCE);
}

static pmix_status_t notify_infos(size_t n)
{
    PX_AUTOFREE pmix_info_t *v = calloc(n, sizeof(*v));

    return scene_notify(two, CODE, PMIX_RANGE_LOCAL, &(px_infos){.v = v, .n = n});
}

static void notify_too_many_infos(void)
{
    ok(notify_infos(2048));
    fails(notify_infos(2049), OUT_OF_RESOURCE); /* decoded, but not delivered */
    fails(notify_infos(PX_MAX_REQUEST_INFOS + 1), OUT_OF_RESOURCE); /* not decoded */
}

/* Each request is linear in its own size, or in what the peer has registered. */
PX_TEST(requests_about_events_have_bounded_work)
{
    static const struct {
        const char *what;
        void (*before)(void), (*act)(void);
        size_t least, most; /* items in one turn */
    } rows[] = {
        {"give up codes", want_all_codes, forget_4000, 4000, 4000 + 16384 + 100},
        {"register with cached events", cache_many, want_4096, 4096, 4096 + 1500},
        {"register processes with cached events", cache_many, want_1024_procs, 1024,
         7200},
        {"affected processes", want_all_procs, notify_of_4096, 4 * 4096, 10 * 4096},
        {"custom range", want_any, notify_range_of_4096, 4 * 4096, 7 * 4096},
        {"too many processes", want_all_procs, notify_of_too_many, 1, 6 * 4096},
        {"too many infos", NULL, notify_too_many_infos, 4096, 6 * 4096},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_turns t;

        start();
        if (rows[i].before)
            rows[i].before();
        turns();
        rows[i].act();
        t = turns();
        ck_assert_msg(t.largest >= rows[i].least && t.largest <= rows[i].most,
                      "%s: %zu items", rows[i].what, t.largest);
        raw_teardown();
    }
}

enum { N_FLOOD = 4 * PX_TURN_ITEMS / 8 };

/* Adds a request to a burst, which a single write sends. */
static void add_frame(px_buf *burst, uint32_t tag, px_writer w)
{
    uint8_t header[PX_FRAME_HEADER_B];

    px_frame_encode(header,
                    &(struct px_frame){.tag = tag, .nbytes = (uint32_t)w.buf.len});
    ok(px_buf_add(burst, header, sizeof(header)));
    ok(px_buf_add(burst, w.buf.data, w.buf.len));
    px_writer_cleanup(&w);
}

/* Queues many events of one and then an event of two, before the server reads any. */
static void flood(void *unused PX_UNUSED)
{
    PX_AUTO(px_buf) burst = {0};
    px_writer last = raw_begin(PX_OP_NOTIFY);

    for (int i = 0; i < N_FLOOD; i++) {
        px_writer w = raw_begin(PX_OP_DEREGEVENTS);

        px_pack_status(&w, CODE);
        add_frame(&burst, 1000, w);
    }
    ok(px_fd_write_all(one, burst.data, burst.len, 0));
    px_pack_args(&last, &(px_args){.code = CODE, .directive = PMIX_RANGE_LOCAL},
                 px_request_notify.args);
    raw_send(two, 1000, last);
}

/* Returns, from the loop, the number of early ends of turns. */
static void count_rests(void *n)
{
    *(size_t *)n = px_process.server->part.turns->n_rests;
}

PX_TEST(many_requests_of_one_peer_let_others_in_between)
{
    size_t n_at_event, n_at_end;
    struct px_turns t;

    start();
    ok(scene_want(three, NULL, 0));
    turns();
    raw_on_loop(flood, NULL);
    ck_assert_int_eq(raw_next_event(three, NULL), CODE);
    raw_on_loop(count_rests, &n_at_event);
    ck_assert(raw_quiet(one));
    raw_on_loop(count_rests, &n_at_end);
    ck_assert_uint_ge(n_at_end, 3);
    ck_assert_uint_le(n_at_event, n_at_end);
    t = turns();
    ck_assert_uint_le(t.largest, PX_TURN_ITEMS + 100);
}

/* Sends of old events to one registration take several turns. */
PX_TEST(old_events_come_in_order_over_several_turns)
{
    PX_AUTO(px_infos) infos = {0};

    start();
    add_procs(&infos, PMIX_EVENT_AFFECTED_PROCS, 2000);
    for (int i = 0; i < 30; i++)
        ok(scene_notify(two, CODE - i, PMIX_RANGE_LOCAL, &infos));
    turns();
    ok(want_many(one, CODE, 30, 900));
    for (int i = 0; i < 30; i++)
        ck_assert_int_eq(raw_next_event(one, NULL), CODE - i);
    ck_assert(raw_quiet(one));
    ck_assert_uint_ge(turns().n_rests, 2);
}

/* Returns an event about n processes that only the last of want_late's names. */
static px_writer event_about(size_t n)
{
    PX_AUTO(px_infos) infos = {0};
    px_writer w = raw_begin(PX_OP_NOTIFY);

    if (n)
        add_procs(&infos, PMIX_EVENT_AFFECTED_PROCS, n);
    for (size_t i = 0; i < n; i++)
        ((pmix_proc_t *)infos.v->value.data.darray->array)[i].nspace[0] = 'F';
    px_pack_args(&w,
                 &(px_args){.code = CODE, .directive = PMIX_RANGE_LOCAL, .info = infos},
                 px_request_notify.args);
    return w;
}

/* Registers n times for events about many processes, and last about one that the event names. */
static void want_late(int fd, int n)
{
    const pmix_status_t code = CODE;
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t p = raw_proc("Far", 7);

    for (int i = 0; i < n; i++)
        ok(want_many(fd, CODE, 1, PX_MAX_AFFECTED));
    ok(px_infos_add(&infos, PMIX_EVENT_AFFECTED_PROC, &p, PMIX_PROC));
    ok(raw_request(fd, raw_want(&code, 1, &infos), NULL));
}

/* The event reaches all peers before the next request of its sender, which may leave. A later
 * registration gets the event from the cache. */
PX_TEST_LOOP(an_event_takes_several_turns_and_stays_in_order, 2)
{
    enum { N = 12 };
    const bool leaves = _i == 1;
    int fds[N];
    struct px_turns t;

    start();
    for (int i = 0; i < N; i++)
        want_late(fds[i] = raw_client(2), 3);
    turns();
    raw_send(two, 1001, event_about(4096));
    if (leaves)
        close(two);
    else
        raw_send(two, 1002, event_about(0));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(raw_next_event(fds[i], NULL), CODE);
    t = turns();
    ck_assert_uint_ge(t.n_rests, 2);
    ck_assert_uint_le(t.largest, PX_TURN_ITEMS + 6 * 4096);
    if (!leaves) {
        ok(raw_status(two, 1001));
        ok(raw_status(two, 1002));
    }
    ok(scene_want(three, &(pmix_status_t){CODE}, 1));
    fds[N - 1] = three;
    for (int i = 0; i < N; i++) {
        if (fds[i] == three)
            ck_assert_int_eq(raw_next_event(three, NULL), CODE);
        if (!leaves)
            ck_assert_int_eq(raw_next_event(fds[i], NULL), CODE);
        ck_assert(raw_quiet(fds[i]));
    }
}

/* Queues events before the server reads any. */
static void send_burst(void *n)
{
    PX_AUTO(px_buf) burst = {0};

    for (unsigned i = 0; i < *(unsigned *)n; i++)
        add_frame(&burst, 1000 + i, event_about(8));
    n_wakes = 0;
    ok(px_fd_write_all(two, burst.data, burst.len, 0));
}

PX_TEST(a_burst_of_events_wakes_a_receiver_once)
{
    unsigned n = 18;
    struct px_turns t;

    start();
    want_late(three, 1);
    turns();
    raw_on_loop(send_burst, &n);
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(raw_next_event(three, NULL), CODE);
    for (unsigned i = 0; i < n; i++)
        ok(raw_status(two, 1000 + i));
    t = turns();
    ck_assert_uint_ge(t.n_rests, 2);
    ck_assert_uint_le(n_wakes, 1 + t.n_rests / (PX_MOST_WAITS + 1));
}

static size_t n_deliveries(void)
{
    return px_list_length(&px_process.server->part.deliveries);
}

/* Notifies of an event about many processes, and then of one about none. */
static void notify_own(void *infos)
{
    struct px_server *srv = px_process.server;
    const px_infos *l = infos;

    ck_assert_uint_ge(px_server_event(srv, CODE, NULL, PMIX_RANGE_LOCAL, l->v, l->n),
                      1);
    ck_assert_uint_eq(n_deliveries(), 1);
    ck_assert_uint_eq(px_server_event(srv, CODE, NULL, PMIX_RANGE_LOCAL, NULL, 0), 1);
    ck_assert_uint_eq(n_deliveries(), 2);
}

static void note_deliveries(void *n)
{
    *(size_t *)n = n_deliveries();
}

PX_TEST(an_event_of_the_server_itself_takes_several_turns_and_stays_in_order)
{
    enum { N = 12 };
    PX_AUTO(px_infos) infos = {0};
    size_t n = 1;
    int fds[N];

    start();
    for (int i = 0; i < N; i++)
        want_late(fds[i] = raw_client(2), 3);
    add_procs(&infos, PMIX_EVENT_AFFECTED_PROCS, 4096);
    for (size_t i = 0; i < 4096; i++)
        ((pmix_proc_t *)infos.v->value.data.darray->array)[i].nspace[0] = 'F';
    raw_on_loop(notify_own, &infos);
    px_infos_cleanup(&infos); /* the server has copies */
    for (int i = 0; i < N; i++) {
        for (int nth = 0; nth < 2; nth++) {
            PX_AUTO(px_infos) got = {0};

            ck_assert_int_eq(raw_next_event(fds[i], &got), CODE);
            ck_assert_int_eq(px_info_find(got.v, got.n, PMIX_EVENT_AFFECTED_PROCS) !=
                                 NULL,
                             nth == 0);
        }
        ck_assert(raw_quiet(fds[i]));
    }
    while (n > 0)
        raw_on_loop(note_deliveries, &n);
}

/* A large event of another user costs a registration nothing. */
PX_TEST(old_events_of_other_users_are_not_read)
{
    enum { N_EVENTS = 6, N_INFOS = 2048, N_WANTS = 50 };
    PX_AUTOFREE pmix_info_t *v = calloc(N_INFOS, sizeof(*v));
    struct px_turns before;

    PX_TEST_NEEDS_ROOT;
    start();
    raw_add_job("theirs", 1, 0, 4711);
    raw_add_job("others", 1, 0, 4712);
    int theirs = raw_client_as(4711, "theirs", 0),
        other = raw_client_as(4712, "others", 0);
    for (int i = 0; i < N_EVENTS; i++)
        ok(scene_notify(theirs, CODE, PMIX_RANGE_LOCAL,
                        &(px_infos){.v = v, .n = N_INFOS}));
    before = turns();
    for (int i = 0; i < N_WANTS; i++)
        ok(want_many(other, CODE, 1, 0));
    ck_assert(raw_quiet(other));
    ck_assert_uint_lt(turns().n_items - before.n_items, N_WANTS * 200);
}

/* ---- commits ------------------------------------------------------------------------------------ */

enum { N_TEXTS = 40 };

/* Returns a commit of n values: "v0" is 0, and so on, and "s0" is "0" for the first few. damaged: the
 * last value is not complete. */
static px_writer commit_of(uint32_t n, bool damaged)
{
    px_writer w = raw_begin(PX_OP_COMMIT);
    char key[16];

    px_pack_u8(&w, PMIX_GLOBAL, PMIX_SCOPE);
    const struct px_pack_nest body = px_pack_buffer_begin(&w);
    for (uint32_t i = 0; i < N_TEXTS; i++) {
        snprintf(key, sizeof(key), "s%u", i);
        px_pack_kval(&w, key,
                     &(pmix_value_t){.type = PMIX_STRING, .data.string = key + 1});
        key[0] = 'b';
        px_pack_kval(&w, key,
                     &(pmix_value_t){.type = PMIX_BYTE_OBJECT,
                                     .data.bo = {key + 1, strlen(key + 1)}});
    }
    for (uint32_t i = 0; i < n; i++) {
        snprintf(key, sizeof(key), "v%u", i);
        px_pack_kval(&w, key, &(pmix_value_t){.type = PMIX_UINT32, .data.uint32 = i});
    }
    if (damaged)
        ok(px_buf_add(&w.buf, "\x02\xff", 2));
    px_pack_buffer_end(&w, body);
    return w;
}

enum { N_VALUES = 20000 };

/* Compares the texts and bytes in the store. */
static void check_texts(void *unused PX_UNUSED)
{
    struct px_nspace *ns = px_nspace_find(px_process.model, "job");
    char key[16];

    for (uint32_t i = 0; i < 2 * N_TEXTS; i++) {
        pmix_value_t v = {0};

        snprintf(key, sizeof(key), "%c%u", i % 2 ? 'b' : 's', i / 2);
        ok(px_store_fetch(&ns->store, PX_GDS_LOCAL, 1, key, NULL, 0, &v));
        const char *text = i % 2 ? v.data.bo.bytes : v.data.string;
        ck_assert(strncmp(text, key + 1, strlen(key + 1)) == 0);
        px_type_destruct(PMIX_VALUE, &v);
    }
}

/* Another request of the sender comes after the commit. The server keeps the memory of the large
 * message, and copies the small one, which is in the buffer of all connections. */
PX_TEST_LOOP(a_commit_of_many_values_takes_several_turns, 2)
{
    enum { ITEMS = 16 + 32 }; /* of a value that is decoded and stored */
    const uint32_t n = _i == 0 ? N_VALUES : 2000;
    struct px_turns t;

    start();
    const size_t before = turns().n_items;
    raw_send(two, 5000, commit_of(n, false));
    raw_send(two, 5001,
             raw_get("job", 1, n == N_VALUES ? "v19999" : "v1999", PMIX_IMMEDIATE));
    ok(raw_status(two, 5000));
    ok(raw_status(two, 5001));
    t = turns();
    ck_assert_uint_ge(t.n_rests, n * ITEMS / PX_TURN_ITEMS);
    /* Each value is decoded once. */
    ck_assert_uint_le(t.n_items - before, n * ITEMS + PX_TURN_ITEMS);
    ck_assert_uint_le(t.largest, 2 * PX_TURN_ITEMS);
    for (uint32_t i = 0; i < n; i += 1999) {
        char key[16];

        snprintf(key, sizeof(key), "v%u", i);
        ck_assert_uint_eq(raw_value(one, "job", 1, key), i);
    }
    raw_on_loop(check_texts, NULL);
    ck_assert_uint_eq(raw_charged_b(1), 0);
}

PX_TEST(a_long_commit_that_is_damaged_changes_nothing)
{
    start();
    ck_assert_int_ne(raw_request(two, commit_of(N_VALUES, true), NULL), PMIX_SUCCESS);
    ck_assert_uint_eq(raw_value(one, "job", 1, "v0"), UINT32_MAX);
    ck_assert_uint_eq(raw_charged_b(1), 0);
    ok(raw_request(two, commit_of(N_VALUES, false), NULL));
    ck_assert_uint_eq(raw_value(one, "job", 1, "v0"), 0);
}

static void count_commits(void *n)
{
    *(size_t *)n = px_list_length(&px_process.server->part.commits);
}

/* The client leaves amid its commit, or the server ends. */
PX_TEST_LOOP(a_long_commit_ends_with_its_sender, 2)
{
    size_t n = 1;

    start();
    raw_send(two, 5000, commit_of(10 * N_VALUES, false));
    if (_i)
        return; /* the fixture ends the server */
    close(two);
    raw_await_gone(1);
    while (n > 0)
        raw_on_loop(count_commits, &n);
}

/* ---- bytes --------------------------------------------------------------------------------------- */

enum { LARGE_B = 1 << 20, LARGE_ITEMS = LARGE_B / PX_ITEM_B, N_LARGE = 24 };

static char large_bytes[LARGE_B];
static const pmix_value_t large = {.type = PMIX_BYTE_OBJECT,
                                   .data.bo = {large_bytes, LARGE_B}};

/* Commits large values at once. The server stores some of them in each turn. */
static pmix_status_t commit_large(void)
{
    px_writer w = raw_begin(PX_OP_COMMIT);
    char key[16];

    px_pack_u8(&w, PMIX_REMOTE, PMIX_SCOPE);
    const struct px_pack_nest body = px_pack_buffer_begin(&w);
    for (unsigned i = 0; i < N_LARGE; i++) {
        snprintf(key, sizeof(key), "v%u", i);
        px_pack_kval(&w, key, &large);
    }
    px_pack_buffer_end(&w, body);
    return raw_request(two, w, NULL);
}

/* Publishes a large value. The server reads and decodes the value, and the host copies it. */
static pmix_status_t publish_large(void)
{
    px_writer w = raw_begin(PX_OP_PUBLISH);
    pmix_info_t info = {.key = "key", .value = large};

    px_pack_u32(&w, geteuid());
    px_pack_infos(&w, &info, 1);
    return raw_request(two, w, NULL);
}

PX_TEST(copied_bytes_are_work)
{
    static const struct {
        pmix_status_t (*act)(void);
        size_t n_copied, n_rests; /* large values, in all */
    } rows[] = {{publish_large, 3, 0},
                {commit_large, N_LARGE + 1, N_LARGE * LARGE_ITEMS / PX_TURN_ITEMS}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        start();
        const size_t before = turns().n_items;
        ok(rows[i].act());
        const struct px_turns t = turns();
        ck_assert_uint_ge(t.n_items - before, rows[i].n_copied * LARGE_ITEMS);
        ck_assert_uint_le(t.n_items - before, rows[i].n_copied * LARGE_ITEMS + 4096);
        ck_assert_uint_ge(t.n_rests, rows[i].n_rests);
        ck_assert_uint_le(t.largest, PX_TURN_ITEMS + 3 * LARGE_ITEMS);
        raw_teardown();
    }
}

/* ---- gets --------------------------------------------------------------------------------------- */

enum { N_GETS = 3000, WALK = 512 /* gets that end in a turn */ };

/* Sends gets of two keys of rank 1. The reply of each has its own tag. */
static void get_many(void)
{
    for (uint32_t i = 0; i < N_GETS; i++)
        raw_send(one, 1000 + i, raw_get("job", 1, i % 2 ? "odd" : "even", NULL));
    ck_assert(raw_quiet(one));
}

static void note_turn(void *turn)
{
    *(uint64_t *)turn = px_loop_turn(px_process.server->loop);
}

/* Counts the processes whose data are awaited. */
static void count_targets(void *n)
{
    *(size_t *)n = px_process.server->part.gets->targets.n_used;
}

PX_TEST(many_gets_end_in_order_over_several_turns)
{
    uint64_t before, after;

    start();
    get_many();
    raw_on_loop(note_turn, &before);
    ok(raw_commit(two, "odd", 7));
    for (uint32_t i = 1; i < N_GETS; i += 2)
        ok(raw_status(one, 1000 + i));
    raw_on_loop(note_turn, &after);
    ck_assert_uint_ge(after - before, N_GETS / WALK);
    ck_assert(raw_quiet(one));
    ok(raw_finalize(two));
    for (uint32_t i = 0; i < N_GETS; i += 2)
        ck_assert_int_eq(raw_status(one, 1000 + i), PMIX_ERR_NOT_FOUND);
}

/* Drops a job, and counts the gets that still wait then. */
static void drop_far(void *n_left)
{
    struct px_server *srv = px_process.server;
    size_t n = 0;

    px_server_drop_nspace(srv, "far");
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (px_list_linked(&p->gets[0]))
            n += px_list_length(&p->gets[0]);
    *(size_t *)n_left = n;
}

/* However many processes the job has. */
PX_TEST(many_gets_end_with_a_job_over_several_turns)
{
    enum { N_RANKS = 8 };
    size_t n_left;

    start();
    raw_add_job("far", N_RANKS, 0, geteuid());
    for (uint32_t i = 0; i < N_GETS; i++)
        raw_send(one, 1000 + i, raw_get("far", i % N_RANKS, "key", NULL));
    ck_assert(raw_quiet(one));
    raw_on_loop(drop_far, &n_left);
    ck_assert_uint_eq(n_left, N_GETS - WALK);
    while (raw_charged_b(0) > 0)
        ;
}

PX_TEST(many_gets_of_a_client_that_leaves_are_forgotten)
{
    size_t n = 1;

    start();
    get_many();
    raw_on_loop(count_targets, &n);
    ck_assert_uint_eq(n, 1);
    close(one);
    while (n > 0)
        raw_on_loop(count_targets, &n);
}

/* A server's memory is freed soon after its stop, so messages posted after the stop would run in freed memory. */
static void rest_while_stopping(void *arg)
{
    struct px_peer *peer = px_peer_find(px_process.server, arg);

    px_process.server->stopping = true;
    px_rest(peer);
}

static void end_stopping(void *arg)
{
    px_process.server->stopping = false;
    *(bool *)arg = px_process.server->part.turns->is_posted;
}

PX_TEST(a_server_that_stops_posts_no_message_of_its_memory)
{
    pmix_proc_t name = raw_proc("job", 0);
    bool is_posted = true;

    start();
    PX_AUTOCLOSE int fd = raw_client(0);
    raw_on_loop(rest_while_stopping, &name);
    ck_assert(raw_quiet(fd)); /* meanwhile the timer of the rest runs out */
    ck_assert(px_peer_find(px_process.server, &name)->rests);
    raw_on_loop(end_stopping, &is_posted);
    ck_assert(!is_posted);
}

PX_TEST_MAIN("server/turn", NULL, host_end)
