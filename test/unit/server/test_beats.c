/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitors of heartbeats: alerts, and the work of the server for each heartbeat. */
#include "core/base/fd.h"
#include "core/plugin/select.h"
#include "core/rt/process.h"
#include "core/server/monitor/monitor.h"
#include "core/server/peer/peer.h"
#include "core/wire/frame.h"
#include "core/wire/ops.h"
#include "monitor_scene.h"

#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CODE (-777)

static void send_beat(int fd)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    raw_send(fd, PX_TAG_HEARTBEAT, w);
}

static void beat(int fd)
{
    send_beat(fd);
    ck_assert(raw_quiet(fd));
}

PX_TEST(missing_heartbeats_cause_one_alert_until_the_next_beat)
{
    want(one, ALERT);
    ok(watch_beats(one, NULL, 2));
    pass(2);
    ck_assert(raw_quiet(one));
    beat(one);
    pass(3); /* one period has the beat */
    ck_assert(raw_quiet(one));
    pass(1);
    ck_assert_int_eq(raw_next_event(one, NULL), ALERT);
    pass(10);
    ck_assert(raw_quiet(one));
    beat(one);
    pass(4);
    ck_assert_int_eq(raw_next_event(one, NULL), ALERT);
}

PX_TEST(an_alert_names_the_process_and_the_request)
{
    PX_AUTO(px_infos) how = {0}, got = {0};
    const pmix_proc_t self = raw_proc("job", 1);
    pmix_info_t what;

    want(three, CODE);
    want(two, CODE);
    add_u32(&how, PMIX_MONITOR_HEARTBEAT_TIME, PERIOD_S);
    ok(px_infos_add(&how, PMIX_MONITOR_ID, "mine", PMIX_STRING));
    ok(px_infos_add(&how, PMIX_MONITOR_APP_CONTROL, NULL, PMIX_BOOL));
    PMIX_INFO_REQUIRED(&how.v[0]);
    PMIX_INFO_REQUIRED(&how.v[2]);
    PMIx_Info_load(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_POINTER);
    ok(monitor(two, &what, CODE, &how, NULL));
    pass(1);
    ck_assert_int_eq(raw_next_event(three, NULL), CODE);
    ck_assert_int_eq(raw_next_event(two, &got), CODE);
    ck_assert_str_eq(px_info_str(got.v, got.n, PMIX_MONITOR_ID), "mine");
    ck_assert(px_info_flag(got.v, got.n, PMIX_MONITOR_APP_CONTROL));
    ck_assert(px_proc_same(
        px_info_find(got.v, got.n, PMIX_EVENT_AFFECTED_PROC)->value.data.proc, &self));
    host_await("notify_event", 1); /* for processes on other nodes */
    ck_assert_uint_eq(host.proc.rank, 1);
}

PX_TEST(a_range_limits_the_receivers_of_an_alert)
{
    PX_AUTO(px_infos) how = {0};
    pmix_data_range_t range = PMIX_RANGE_CUSTOM;

    want(one, ALERT);
    want(two, ALERT);
    add_u32(&how, PMIX_MONITOR_HEARTBEAT_TIME, PERIOD_S);
    ok(px_infos_add(&how, PMIX_RANGE, &range, PMIX_DATA_RANGE));
    ok(monitor_as(one, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL, &how, NULL));
    pass(1);
    ck_assert_int_eq(raw_next_event(one, NULL), ALERT);
    ck_assert(raw_quiet(two));
}

PX_TEST(a_late_check_counts_as_one_period)
{
    want(one, ALERT);
    ok(watch_beats(one, NULL, 1));
    monitor_ahead_ms += 60 * 1000 * PERIOD_S; /* the server was stopped */
    monitor_check();
    ck_assert(raw_quiet(one));
    pass(1);
    ck_assert_int_eq(raw_next_event(one, NULL), ALERT);
}

PX_TEST(a_heartbeat_may_be_a_request)
{
    want(one, ALERT);
    ok(watch_beats(one, NULL, 0));
    ok(monitor_as(one, PMIX_SEND_HEARTBEAT, NULL, PMIX_BOOL, NULL, NULL));
    pass(1);
    ck_assert(raw_quiet(one));
}

PX_TEST(monitors_that_are_due_together_wake_the_server_once)
{
    enum { EACH = 64 };
    const int fds[] = {one, two, three};
    struct px_monitors *all = px_process.server->part.monitors;
    uint64_t before;

    want(one, ALERT);
    for (size_t i = 0; i < PX_COUNT(fds) * EACH; i++)
        ok(watch_beats(fds[i / EACH], NULL, 0));
    before = all->n_wakeups;
    monitor_ahead_ms += 1000 * PERIOD_S;
    monitor_check();
    ck_assert_uint_eq(all->n_wakeups, before + 1);
    for (size_t i = 0; i < PX_COUNT(fds) * EACH; i++)
        ck_assert_int_eq(raw_next_event(one, NULL), ALERT);
}

static struct px_peer *peer_of(pmix_rank_t rank)
{
    const pmix_proc_t proc = raw_proc("job", rank);

    return px_peer_find(px_process.server, &proc);
}

struct reading {
    uint64_t n_beats; /* of rank 0 in messages */
    uint64_t read_ms; /* changes when sockets are read without a due monitor */
};

static void read_reading(void *arg)
{
    *(struct reading *)arg = (struct reading){
        .n_beats = peer_of(0)->n_beats,
        .read_ms = px_process.server->part.monitors->read_ms};
}

/* Waits until the kernel has put all that was sent into the socket of the server. */
static void await_arrival(int fd)
{
    int waiting = 1;

    for (int i = 0; i < 10000 && waiting; i++) {
        ck_assert_int_eq(ioctl(fd, SIOCOUTQ, &waiting), 0);
        if (waiting)
            usleep(1000);
    }
    ck_assert_int_eq(waiting, 0);
}

/* The loop runs twice after the message came, and would have read it. */
PX_TEST(a_heartbeat_of_another_library_waits_for_the_check)
{
    struct reading before, now;

    want(one, ALERT);
    ok(watch_beats(one, NULL, 0));
    for (int i = 0; i < 3; i++) {
        raw_on_loop(read_reading, &before);
        send_beat(one);
        await_arrival(one);
        raw_on_loop(NULL, NULL);
        raw_on_loop(read_reading, &now);
        ck_assert(now.n_beats == before.n_beats || now.read_ms != before.read_ms);
        pass(1);
        raw_on_loop(read_reading, &now);
        ck_assert_uint_eq(now.n_beats, before.n_beats + 1);
        ck_assert(raw_quiet(one));
    }
    pass(1);
    ck_assert_int_eq(raw_next_event(one, NULL), ALERT);
    ok(cancel(one, NULL));
    raw_on_loop(read_reading, &before);
    send_beat(one); /* nothing checks heartbeats any more */
    now = before;
    for (int i = 0; i < 10000 && now.n_beats == before.n_beats; i++) {
        usleep(1000);
        raw_on_loop(read_reading, &now);
    }
    ck_assert_uint_eq(now.n_beats, before.n_beats + 1);
}

/* Heartbeats and a request arrive in any pieces. The server answers without a check. */
PX_TEST(requests_between_heartbeats_are_read_at_once)
{
    px_writer w = raw_begin(PX_OP_MAX);
    uint8_t bytes[3 * PX_FRAME_HEADER_B + 16];
    const size_t n = 2 * PX_FRAME_HEADER_B + w.buf.len + PX_FRAME_HEADER_B;

    ok(watch_beats(one, NULL, 0));
    for (size_t at = 1; at < n; at++) {
        const struct px_frame f = {.tag = 5000 + (uint32_t)at,
                                   .nbytes = (uint32_t)w.buf.len};

        px_frame_encode(bytes, &(struct px_frame){.tag = PX_TAG_HEARTBEAT});
        px_frame_encode(bytes + PX_FRAME_HEADER_B, &f);
        memcpy(bytes + 2 * PX_FRAME_HEADER_B, w.buf.data, w.buf.len);
        px_frame_encode(bytes + n - PX_FRAME_HEADER_B,
                        &(struct px_frame){.tag = PX_TAG_HEARTBEAT});
        ck_assert_int_eq(write(one, bytes, at), (ssize_t)at);
        raw_on_loop(NULL, NULL);
        raw_on_loop(NULL, NULL);
        ck_assert_int_eq(write(one, bytes + at, n - at), (ssize_t)(n - at));
        fails(raw_status(one, f.tag), NOT_SUPPORTED);
    }
    px_writer_cleanup(&w);
}

/* Connects a client of this library, which asks for a monitor of its heartbeats. Returns
 * the connection, and the descriptor that comes before the reply. */
static int come_with_beats(int *counter)
{
    struct px_hello h = raw_hello("job", 2);
    PX_AUTO(px_infos) how = {0};
    uint8_t header[PX_FRAME_HEADER_B];
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {.iov_base = header, .iov_len = sizeof(header)};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    px_writer w = raw_begin(PX_OP_MONITOR);
    int fd = raw_near_socket();
    struct px_frame f;
    pmix_info_t what;

    strcpy(h.gds, "shm");
    ok(raw_send_hello(fd, &h));
    add_u32(&how, PMIX_MONITOR_HEARTBEAT_TIME, PERIOD_S);
    PMIx_Info_load(&what, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL);
    px_pack(&w, &what, 1, PMIX_INFO);
    px_pack_status(&w, PMIX_SUCCESS);
    px_pack_infos(&w, how.v, how.n);
    raw_send(fd, 5000, w);
    ck_assert_int_eq(recvmsg(fd, &msg, MSG_WAITALL | MSG_CMSG_CLOEXEC), sizeof(header));
    ok(px_frame_decode(header, &f));
    ck_assert_uint_eq(f.tag, PX_TAG_STORE);
    ck_assert_uint_eq(f.nbytes, 0);
    ck_assert_uint_eq(msg.msg_controllen, CMSG_SPACE(sizeof(int)));
    memcpy(counter, CMSG_DATA(&control.header), sizeof(*counter));
    ok(raw_status(fd, 5000));
    return fd;
}

/* The server reads the descriptor only when the monitor is due. */
PX_TEST(a_client_of_this_library_counts_its_heartbeats_in_a_descriptor)
{
    PX_AUTOCLOSE int counter = -1, fd = -1;
    uint64_t n;

    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    fd = come_with_beats(&counter);
    want(one, ALERT);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(write(counter, &(uint64_t){7}, sizeof(uint64_t)), 8);
        raw_on_loop(NULL, NULL);
        ck_assert_int_eq(read(counter, &n, sizeof(n)), sizeof(n)); /* still there */
        ck_assert_uint_eq(n, 7);
        ck_assert_int_eq(write(counter, &n, sizeof(n)), sizeof(n));
        pass(1);
        ck_assert(raw_quiet(one));
    }
    pass(1);
    ck_assert_int_eq(raw_next_event(one, NULL), ALERT);
    ok(cancel(fd, NULL));
    ck_assert_uint_eq(n_monitors(), 0);
}

PX_TEST_MAIN("server/beats", monitor_setup, monitor_teardown)
