/* SPDX-License-Identifier: BSD-3-Clause */
/* Unrequested messages to clients: events, some of which the server keeps for later clients. Also
 * scenes of forwarded output; more of these are in test_iof.c. */

#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/server/event/interests.h"
#include "core/server/peer/peer.h"
#include "core/wire/frame.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"
#include "pmix_tool.h"
#include "scene.h"

#include "alloc_fail.h"

#include <limits.h>
#include <semaphore.h>
#include <time.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define CODE        (-777)
#define SYSTEM_CODE (PMIX_EVENT_SYS_BASE - 1)
#define OUT         PMIX_FWD_STDOUT_CHANNEL
#define ERR         PMIX_FWD_STDERR_CHANNEL
#define REFUSED     PMIX_ERR_NO_PERMISSIONS

static const struct scene scenes[] = {
    SCENE("default handlers get everything until they are removed", 3, 0, {1, WANTS},
          {0, NOTIFIES, CODE}, {1, RECEIVES, CODE}, {1, FORGETS, INT_MIN}, {1, QUIET},
          {0, NOTIFIES, CODE}, {1, QUIET}, {1, WANTS}, {0, NOTIFIES, CODE},
          {1, RECEIVES, CODE}, {1, FORGETS, INT_MAX}, {1, QUIET}, {0, NOTIFIES, CODE},
          {1, QUIET}),
    SCENE("events reach registered clients and not their source", 3, 0,
          {0, WANTS, CODE}, {1, WANTS, CODE}, {2, WANTS, CODE - 1}, {0, NOTIFIES, CODE},
          {1, RECEIVES, CODE}, {2, QUIET}, {0, QUIET}),
    SCENE("an event is replayed once to a later registration", 2, 0,
          {0, NOTIFIES, CODE}, {1, WANTS, CODE}, {1, RECEIVES, CODE}, {1, WANTS, CODE},
          {1, QUIET}),
    SCENE("a finalized client gets nothing more", 2, 0, {1, WANTS}, {1, FINALIZES},
          {0, NOTIFIES, CODE}, {0, SERVER_STOPS}, {1, CLOSED}),
    SCENE("old events come after the host has answered", 2, 0,
          {0, NOTIFIES, SYSTEM_CODE, .tag = PMIX_RANGE_LOCAL}, {0, HOST_IS, HOST_HELD},
          {1, WANTS, SYSTEM_CODE, .tag = 1}, {0, HOST_AWAITS, 1, "register_events"},
          {1, QUIET}, {0, HOST_ANSWERS}, {1, ENDS, .tag = 1},
          {1, RECEIVES, SYSTEM_CODE}),
    SCENE("a client that deregisters while the host is asked gets no old events", 2, 0,
          {0, NOTIFIES, SYSTEM_CODE, .tag = PMIX_RANGE_LOCAL}, {0, HOST_IS, HOST_HELD},
          {1, WANTS, SYSTEM_CODE, .tag = 1}, {0, HOST_AWAITS, 1, "register_events"},
          {1, FORGETS, SYSTEM_CODE}, {1, QUIET}, {0, HOST_ANSWERS}, {1, ENDS, .tag = 1},
          {1, QUIET}),
    SCENE("each gets what it asked for and no more", 3, 0,
          {0, PULLS, -1, .tag = OUT | ERR}, {0, ENDS}, {1, PULLS, 2, .tag = ERR},
          {1, ENDS}, {0, HOST_WRITES, 2, "out", OUT}, {0, HOST_WRITES, 2, "err", ERR},
          {0, HOST_WRITES, 1, "other", ERR}, {0, READS, 2, "out", OUT},
          {0, READS, 2, "err", ERR}, {0, READS, 1, "other", ERR},
          {1, READS, 2, "err", ERR}, {0, QUIET}, {1, QUIET}),
    SCENE("what a process wrote does not come back to it, and no bytes are the end", 3,
          0, {0, PULLS, -1, .tag = OUT}, {0, ENDS}, {0, HOST_WRITES, 0, "own", OUT},
          {0, QUIET}, {0, HOST_WRITES, 2, "", OUT}, {0, READS, 2, "", OUT}),
    SCENE("a host that refuses ends the request", 1, 0,
          {0, HOST_IS, HOST_ERROR, .tag = REFUSED}, {0, PULLS, 2, .tag = OUT},
          {0, ENDS, REFUSED}, {0, HOST_WRITES, 2, "out", OUT}, {0, QUIET}),
    SCENE("bytes come before the host has agreed", 1, 0, {0, HOST_IS, HOST_HELD},
          {0, PULLS, 2, .tag = OUT}, {0, HOST_AWAITS, 1, "iof_pull"},
          {0, HOST_WRITES, 2, "early", OUT}, {0, READS, 2, "early", OUT},
          {0, HOST_ANSWERS}, {0, ENDS}),
    SCENE("a client that leaves pulls no more", 3, 0, {0, PULLS, -1, .tag = OUT},
          {0, ENDS}, {1, PULLS, -1, .tag = OUT}, {1, ENDS}, {2, PULLS, -1, .tag = OUT},
          {2, ENDS}, {0, DIES}, {1, FINALIZES}, {0, HOST_AWAITS, 5, "iof_pull"},
          {0, HOST_WRITES, 0, "last", OUT}, {2, READS, 0, "last", OUT}),
    SCENE("a client that leaves before the host answers is forgotten", 1, 0,
          {0, HOST_IS, HOST_HELD}, {0, PULLS, 2, .tag = OUT},
          {0, HOST_AWAITS, 1, "iof_pull"}, {0, DIES}, {0, HOST_ANSWERS},
          {0, HOST_WRITES, 2, "late", OUT}),
};

PX_TEST_LOOP(each_scene_of_events_and_output_goes_as_written, PX_COUNT(scenes))
{
    scene_play(&scenes[_i]);
}

static void start(void)
{
    raw_start(&host_module, 3, 0);
}

static pmix_status_t want_one(int fd, pmix_status_t code)
{
    return scene_want(fd, &code, 1);
}

static pmix_status_t notify(int fd, pmix_status_t code, pmix_data_range_t range)
{
    return scene_notify(fd, code, range, NULL);
}

/* ---- registrations ------------------------------------------------------------------------------ */

PX_TEST(one_code_of_several_may_be_given_up)
{
    static const pmix_status_t codes[] = {CODE, CODE - 1};

    start();
    ok(scene_want(two, codes, 2));
    scene_forget(two, CODE);
    ck_assert(raw_quiet(two));
    ok(notify(one, CODE, PMIX_RANGE_NAMESPACE));
    ck_assert(raw_quiet(two));
    ok(notify(one, CODE - 1, PMIX_RANGE_NAMESPACE));
    ck_assert_int_eq(raw_next_event(two, NULL), CODE - 1);
    scene_forget(two, CODE - 1);
    scene_forget(two, CODE - 1);
    ck_assert(raw_quiet(two));
}

/* Restricts by a custom range, or by the processes that an event is about. */
PX_TEST(events_and_handlers_that_name_processes_concern_only_these)
{
    PX_AUTO(px_infos) of_two = {0}, of_three = {0};
    pmix_proc_t p = raw_proc("job", 1), q = raw_proc("job", 2);
    pmix_status_t code = CODE;

    start();
    ok(px_infos_add(&of_two, PMIX_EVENT_CUSTOM_RANGE, &p, PMIX_PROC));
    ok(px_infos_add(&of_two, PMIX_EVENT_AFFECTED_PROC, &p, PMIX_PROC));
    ok(px_infos_add(&of_three, PMIX_EVENT_AFFECTED_PROC, &q, PMIX_PROC));
    ok(scene_want(two, NULL, 0));
    ok(raw_request(three, raw_want(&code, 1, &of_three), NULL));
    ok(scene_notify(one, CODE, PMIX_RANGE_CUSTOM, &of_two));
    ck_assert_int_eq(raw_next_event(two, NULL), CODE);
    ok(scene_notify(one, CODE, PMIX_RANGE_NAMESPACE, &of_two));
    ck_assert(raw_quiet(three));
    ok(scene_notify(one, CODE, PMIX_RANGE_NAMESPACE, &of_three));
    ck_assert_int_eq(raw_next_event(three, NULL), CODE);
}

PX_TEST(one_of_two_registrations_that_wait_for_the_host_gets_old_events)
{
    static const pmix_status_t code = SYSTEM_CODE;

    start();
    ok(notify(one, code, PMIX_RANGE_LOCAL));
    host.how = HOST_HELD;
    raw_send(two, 1001, raw_want(&code, 1, NULL));
    raw_send(two, 1002, raw_want(&code, 1, NULL));
    host_await("register_events", 2);
    ck_assert(host_answer(PMIX_SUCCESS) && host_answer(PMIX_SUCCESS));
    ck_assert_int_eq(raw_next_event(two, NULL), code);
    ok(raw_status(two, 1002));
    ck_assert(raw_quiet(two));
}

/* OpenPMIx keeps the events that a process has sent in the process itself before 4.2.3, and in the
 * server since. */
PX_TEST(a_source_gets_later_what_its_library_has_left_to_the_server)
{
    static const struct {
        const char *version;
        bool gets;
    } rows[] = {{"4.2.2", false}, {"4.2.3", true}, {"5.0.7", true}};

    start();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_hello hello = raw_hello("job", 0);
        int fd;

        px_str_copy(hello.version_text, sizeof(hello.version_text), rows[i].version);
        ok(raw_connect(&hello, &fd));
        ok(notify(fd, CODE - (pmix_status_t)i, PMIX_RANGE_NAMESPACE));
        ok(want_one(fd, CODE - (pmix_status_t)i));
        if (rows[i].gets)
            ck_assert_int_eq(raw_next_event(fd, NULL), CODE - (pmix_status_t)i);
        ok(want_one(fd, CODE - (pmix_status_t)i)); /* only once */
        ck_assert(raw_quiet(fd));
        close(fd);
    }
}

/* ---- receivers ----------------------------------------------------------------------------------- */

PX_TEST(a_range_that_does_not_exist_is_refused)
{
    start();
    ok(scene_want(two, NULL, 0));
    fails(notify(one, CODE, PMIX_RANGE_PROC_LOCAL + 1), BAD_PARAM);
    fails(notify(one, CODE, 200), BAD_PARAM);
    ck_assert(raw_quiet(two));
}

PX_TEST(events_of_one_user_do_not_reach_another)
{
    PX_TEST_NEEDS_ROOT;
    start();
    raw_add_job("theirs", 2, 0, 4711);
    int theirs = raw_client_as(4711, "theirs", 0),
        kin = raw_client_as(4711, "theirs", 1);
    ok(scene_want(one, NULL, 0));
    ok(scene_want(theirs, NULL, 0));
    ok(notify(kin, CODE, PMIX_RANGE_GLOBAL));
    ck_assert_int_eq(raw_next_event(theirs, NULL), CODE);
    ck_assert(raw_quiet(one));
    ok(want_one(one, CODE)); /* also not later */
    ck_assert(raw_quiet(one));
    ok(notify(one, CODE - 1, PMIX_RANGE_LOCAL));
    /* An event of root reaches all users. */
    ck_assert_int_eq(raw_next_event(theirs, NULL), CODE - 1);
}

PX_TEST(the_host_gets_marked_events_that_must_leave_the_node)
{
    PX_AUTO(px_infos) stays = {0};

    start();
    ok(px_infos_add(&stays, PMIX_EVENT_STAYS_LOCAL, NULL, PMIX_BOOL));
    ok(notify(two, CODE, PMIX_RANGE_LOCAL));
    ok(notify(two, CODE, PMIX_RANGE_PROC_LOCAL));
    ok(scene_notify(two, CODE, PMIX_RANGE_GLOBAL, &stays));
    ck_assert_uint_eq(host_calls("notify_event"), 0);

    host.how = HOST_THREAD;
    host.status = PMIX_ERR_NOT_SUPPORTED;
    fails(notify(two, CODE, PMIX_RANGE_GLOBAL), NOT_SUPPORTED);
    ck_assert_int_eq(host.code, CODE);
    ck_assert_uint_eq(host.n_keys, PMIX_RANGE_GLOBAL);
    ck_assert_uint_eq(host.proc.rank, 1);
    ck_assert(px_info_flag(host.given.v, host.given.n, "pmix.srvr.internal.notify"));
}

PX_TEST(the_host_learns_of_interest_in_system_events_only)
{
    static const pmix_status_t codes[] = {CODE, SYSTEM_CODE};

    start();
    ok(scene_want(one, codes, 1));
    ck_assert_uint_eq(host_calls("register_events"), 0);
    ok(scene_want(one, codes, 2));
    ck_assert_uint_eq(host_calls("register_events"), 1);
    ck_assert_uint_eq(host.n_keys, 1);
    ck_assert_int_eq(host.code, SYSTEM_CODE);
    host.status = PMIX_ERR_NOT_SUPPORTED; /* is ignored */
    ok(scene_want(one, codes, 2));
    host.status = REFUSED;
    fails(scene_want(one, codes, 2), NO_PERMISSIONS);
}

/* ---- kept events ---------------------------------------------------------------------------------- */

PX_TEST(only_so_many_events_are_kept_and_some_not_at_all)
{
    PX_AUTO(px_infos) secret = {0};

    start();
    ok(px_infos_add(&secret, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL));
    ok(scene_notify(one, CODE, PMIX_RANGE_LOCAL, &secret));
    ok(notify(one, CODE - 1, PMIX_RANGE_LOCAL));
    for (int i = 0; i < 300; i++)
        ok(notify(one, CODE - 2, PMIX_RANGE_LOCAL));
    ok(want_one(two, CODE));
    ok(want_one(two, CODE - 1));
    ck_assert(raw_quiet(two));
    ok(want_one(two, CODE - 2));
    for (int i = 0; i < 256; i++)
        ck_assert_int_eq(raw_next_event(two, NULL), CODE - 2);
    ck_assert(raw_quiet(two));
}

PX_TEST(only_so_many_bytes_of_events_are_kept)
{
    static const size_t sizes_b[] = {1, 7 << 20, 7 << 20, 17 << 20, 3 << 20};

    start();
    for (size_t i = 0; i < PX_COUNT(sizes_b); i++) {
        PX_AUTOFREE char *bytes = calloc(1, sizes_b[i]);
        pmix_byte_object_t bo = {bytes, sizes_b[i]};
        PX_AUTO(px_infos) infos = {0};

        ok(px_infos_add(&infos, "pmix.much", &bo, PMIX_BYTE_OBJECT));
        ok(scene_notify(one, CODE - (int)i, PMIX_RANGE_LOCAL, &infos));
    }
    for (size_t i = 0; i < PX_COUNT(sizes_b); i++) {
        ok(want_one(two, CODE - (int)i));
        if (i == 2 || i == 4) /* the last events that fit */
            ck_assert_int_eq(raw_next_event(two, NULL), CODE - (int)i);
        else
            ck_assert(raw_quiet(two));
    }
}

/* Replaces the function of the C library. */
static atomic_long ahead_s;

PX_EXPORT int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);

    t->tv_sec += atomic_load(&ahead_s);
    return rc;
}

struct account {
    size_t held_b; /* charges of the client */
    size_t n, b;   /* cached events */
};

static void read_account(void *arg)
{
    struct account *a = arg;
    struct px_server *srv = px_process.server;
    const pmix_proc_t proc = raw_proc("job", 0);
    const struct px_peer *peer = px_peer_find(srv, &proc);

    *a = (struct account){peer ? peer->pending_b : 0, srv->part.n_cached_events,
                          srv->part.cached_events_b};
}

static struct account account(void)
{
    struct account a;

    raw_on_loop(read_account, &a);
    return a;
}

/* Also events for handlers of the server's process alone. */
PX_TEST(kept_events_are_charged_to_their_sender_and_go_after_a_minute)
{
    static const pmix_data_range_t ranges[] = {PMIX_RANGE_LOCAL, PMIX_RANGE_PROC_LOCAL};
    enum { MB = 1 << 20 };
    PX_AUTOFREE char *bytes = calloc(1, MB);
    PX_AUTO(px_infos) infos = {0};
    struct account a;

    start();
    ok(px_infos_add(&infos, "much", &(pmix_byte_object_t){bytes, MB},
                    PMIX_BYTE_OBJECT));
    for (size_t i = 0; i < PX_COUNT(ranges); i++)
        ok(scene_notify(one, CODE, ranges[i], &infos));
    a = account();
    ck_assert_uint_eq(a.n, 2);
    ck_assert(a.held_b >= 2 * MB && a.held_b < 2 * MB + 10000);
    close(one);
    raw_await_gone(0);
    ck_assert_uint_ge(account().b,
                      2 * MB); /* later registrations still get the events */
    ok(want_one(two, CODE));
    ck_assert_int_eq(raw_next_event(two, NULL), CODE);
    atomic_fetch_add(&ahead_s, 61);
    ok(want_one(two, CODE)); /* wakes the server */
    a = account();
    ck_assert_uint_eq(a.n + a.b, 0);
    one = raw_client(0);
}

static atomic_uint n_handled;

PX_TEST_HANDLER(count_it)
{
    n_handled++;
    cb(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

/* The first handler of the server's process gets the old events, also those of clients alone. */
PX_TEST(a_late_handler_of_the_server_gets_old_events_once)
{
    static const struct {
        pmix_data_range_t range;
        bool secret;
    } rows[] = {{PMIX_RANGE_LOCAL, false},
                {PMIX_RANGE_PROC_LOCAL, false},
                {PMIX_RANGE_LOCAL, true}};
    PX_AUTO(px_infos) secret = {0};

    start();
    ok(px_infos_add(&secret, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_status_t code = CODE - (pmix_status_t)i;

        ok(scene_notify(one, code, rows[i].range, rows[i].secret ? &secret : NULL));
        n_handled = 0;
        for (int k = 0; k < 2; k++) {
            int id = PMIx_Register_event_handler(&code, 1, NULL, 0, count_it, NULL,
                                                 NULL);

            ck_assert_int_ge(id, 0);
            raw_on_loop(NULL, NULL);
            raw_on_loop(NULL, NULL);
            ck_assert_uint_eq(n_handled, !rows[i].secret);
            ok(PMIx_Deregister_event_handler((size_t)id, NULL, NULL));
        }
        ck_assert_uint_eq(account().n, 1); /* the first row stays for clients */
    }
}

/* Slurm's handler ends the step at any event. */
PX_TEST(a_custom_range_reaches_the_servers_handlers_if_it_names_the_server)
{
    const pmix_status_t none = CODE - 1;
    pmix_status_t code = CODE;

    start();
    const pmix_proc_t rows[] = {raw_proc("job", 1), px_process.server->proc};
    n_handled = 0;
    ck_assert_int_ge(
        PMIx_Register_event_handler(&code, 1, NULL, 0, count_it, NULL, NULL), 0);
    for (unsigned i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) to = {0};

        ok(px_infos_add(&to, PMIX_EVENT_CUSTOM_RANGE, &rows[i], PMIX_PROC));
        ok(scene_notify(one, CODE, PMIX_RANGE_CUSTOM, &to));
        ok(scene_notify(one, none, PMIX_RANGE_CUSTOM, &to)); /* is not kept for later */
        raw_on_loop(NULL, NULL);
        raw_on_loop(NULL, NULL);
        ck_assert_uint_eq(n_handled, i);
    }
    code = none;
    ck_assert_int_ge(
        PMIx_Register_event_handler(&code, 1, NULL, 0, count_it, NULL, NULL), 0);
    raw_on_loop(NULL, NULL);
    raw_on_loop(NULL, NULL);
    ck_assert_uint_eq(n_handled, 2);
}

PX_TEST(an_event_of_the_server_itself_reaches_its_clients)
{
    start();
    ok(want_one(one, CODE));
    ok(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL));
    ck_assert_int_eq(raw_next_event(one, NULL), CODE);
}

/* ---- bursts ----------------------------------------------------------------------------------------- */

enum { N_BURST = 100, EVENT_B = 64 };

/* Replaces sendmsg of the C library, and counts the calls. */
static atomic_uint n_messages;

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    n_messages++;
    return syscall(SYS_sendmsg, fd, msg, flags);
}

/* Sends a burst on the loop, so that the server reads all its requests at once. */
static void send_burst(void *unused PX_UNUSED)
{
    PX_AUTO(px_buf) burst = {0};

    for (int i = 0; i < N_BURST; i++) {
        px_args args = {.code = CODE - i, .directive = PMIX_RANGE_LOCAL};
        px_writer w = raw_begin(PX_OP_NOTIFY);
        uint8_t header[PX_FRAME_HEADER_B];

        px_pack_args(&w, &args, px_request_notify.args);
        px_frame_encode(header, &(struct px_frame){.tag = 1000 + (uint32_t)i,
                                                   .nbytes = (uint32_t)w.buf.len});
        ok(px_buf_add(&burst, header, sizeof(header)));
        ok(px_buf_add(&burst, w.buf.data, w.buf.len));
        px_writer_cleanup(&w);
    }
    ok(px_fd_write_all(one, burst.data, burst.len, 0));
    n_messages = 0;
    px_alloc_fail_at(0);
}

/* Reads all events of a burst from the socket. The events differ only in their codes. */
static void read_burst(int fd)
{
    static uint8_t bytes[N_BURST * EVENT_B];
    ssize_t each = recv(fd, bytes, PX_FRAME_HEADER_B, MSG_PEEK | MSG_WAITALL);
    struct px_frame f;
    px_reader r;
    uint8_t op;
    pmix_status_t code;

    ok(px_frame_decode(bytes, &f));
    each += f.nbytes;
    (void)!recv(fd, bytes, N_BURST * (size_t)each, MSG_WAITALL);
    for (int i = 0; i < N_BURST; i++) {
        px_reader_init(&r, px_codec_default, bytes + i * each + PX_FRAME_HEADER_B,
                       f.nbytes);
        ok(px_unpack_u8(&r, &op, PMIX_COMMAND));
        ok(px_unpack_status(&r, &code));
        ck_assert_int_eq(code, CODE - i);
    }
}

/* Each receiver gets one message, and the sender one with all replies. A second receiver of the
 * same dialect costs no further packing, as the number of allocations shows. */
PX_TEST(a_burst_goes_out_in_one_message_to_each_packed_once)
{
    unsigned n_allocs[2];

    start();
    ok(scene_want(two, NULL, 0));
    for (int more = 0; more < 2; more++) {
        if (more)
            ok(scene_want(three, NULL, 0));
        raw_on_loop(send_burst, NULL);
        (void)!recv(two, &(char){0}, 1, MSG_PEEK);
        raw_on_loop(NULL, NULL); /* the loop has ended its pass */
        n_allocs[more] = px_alloc_count();
        read_burst(two);
        if (more)
            read_burst(three);
        ok(raw_reply(one, 1000 + N_BURST - 1, NULL));
        ck_assert_uint_eq(n_messages, 2 + (unsigned)more);
    }
    ck_assert(raw_quiet(two) && raw_quiet(three));
    px_alloc_fail_end();
    if (px_alloc_can_fail())
        ck_assert_uint_lt(n_allocs[1], n_allocs[0] + N_BURST / 2);
}

PX_TEST_MAIN("server/event", NULL, host_end)
