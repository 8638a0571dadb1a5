/* SPDX-License-Identifier: BSD-3-Clause */
/* Framed connections over a socket pair, bytes arriving as they please. */
#include "core/link/conn.h"

#include "core/rt/loop.h"
#include "px_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

static struct px_loop *loop;
static struct px_conn *conn;
static int peer;
static sem_t event;
static struct px_frame last;
static uint8_t *last_payload;
static unsigned n_frames;
static pmix_status_t lost;
static bool destroy_in_frame;

static void on_frame(void *arg PX_UNUSED, const struct px_frame *f,
                     const uint8_t *payload)
{
    last = *f;
    free(last_payload);
    last_payload = malloc(f->nbytes + 1);
    memcpy(last_payload, payload, f->nbytes);
    n_frames++;
    if (destroy_in_frame) {
        px_conn_destroy(px_take(&conn));
    }
    sem_post(&event);
}

static void on_lost(void *arg PX_UNUSED, pmix_status_t why)
{
    lost = why;
    px_conn_destroy(px_take(&conn));
    sem_post(&event);
}

static const struct px_conn_ops ops = {.on_frame = on_frame, .on_lost = on_lost};

static void do_create(struct px_call *call, void *args)
{
    px_call_done(call, px_conn_create(loop, *(int *)args, &ops, NULL, &conn));
}

static void do_destroy(struct px_call *call, void *args PX_UNUSED)
{
    px_conn_destroy(px_take(&conn));
    px_call_done(call, PMIX_SUCCESS);
}

static void setup(void)
{
    int sv[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    peer = sv[1];
    ok(px_loop_create(false, &loop));
    sem_init(&event, 0, 0);
    ck_assert_int_eq(fcntl(sv[0], F_SETFL, O_NONBLOCK), 0);
    ok(px_call(loop, do_create, &sv[0]));
}

static void teardown(void)
{
    px_call(loop, do_destroy, NULL);
    px_loop_destroy(loop);
    free(last_payload);
    close(peer);
}

static void put(uint32_t tag, const void *payload, uint32_t n)
{
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f = {.pindex = 3, .tag = tag, .nbytes = n};

    px_frame_encode(header, &f);
    ck_assert_int_eq(write(peer, header, sizeof header), (ssize_t)sizeof header);
    if (n)
        ck_assert_int_eq(write(peer, payload, n), (ssize_t)n);
}

/* Whole, and in a second round byte by byte. */
PX_TEST_LOOP(delivers_frames, 2)
{
    static const char *const payloads[] = {"hello", "", "abc"};

    for (uint32_t i = 0; i < PX_COUNT(payloads); i++) {
        const uint32_t n = (uint32_t)strlen(payloads[i]);
        uint8_t bytes[64];
        struct px_frame f = {.tag = 101 + i, .nbytes = n};

        px_frame_encode(bytes, &f);
        memcpy(bytes + PX_FRAME_HEADER_B, payloads[i], n);
        for (size_t at = 0, step = _i ? 1 : PX_FRAME_HEADER_B + n;
             at < PX_FRAME_HEADER_B + n; at += step)
            ck_assert_int_eq(write(peer, bytes + at, step), (ssize_t)step);
        sem_wait(&event);
        ck_assert_uint_eq(n_frames, i + 1);
        ck_assert_uint_eq(last.tag, 101 + i);
        ck_assert_uint_eq(last.nbytes, n);
        ck_assert_mem_eq(last_payload, payloads[i], n);
    }
}

PX_TEST(delivers_many_frames_in_order)
{
    for (uint32_t i = 0; i < 1000; i++)
        put(200 + i, &i, sizeof i);
    for (uint32_t i = 0; i < 1000; i++)
        sem_wait(&event);

    ck_assert_uint_eq(n_frames, 1000);
    ck_assert_uint_eq(last.tag, 1199);
}

struct sending {
    uint32_t tag;
    size_t n;
};

static void do_send(struct px_call *call, void *args)
{
    struct sending *s = args;
    px_buf body = {.data = calloc(1, s->n), .len = s->n, .cap = s->n};

    memset(body.data, 'x', s->n);
    px_call_done(call, px_conn_send(conn, 0, s->tag, &body));
}

PX_TEST(sends_more_than_the_socket_takes_at_once)
{
    struct sending s = {.tag = 55, .n = 8u << 20};
    size_t got = 0, want = PX_FRAME_HEADER_B + s.n;
    char chunk[65536];

    ok(px_call(loop, do_send, &s));
    while (got < want) {
        ssize_t n = read(peer, chunk, sizeof chunk);

        ck_assert_int_gt(n, 0);
        got += (size_t)n;
    }

    ck_assert_uint_eq(got, want);
}

PX_TEST(reports_a_closed_peer_once)
{
    close(peer);
    peer = -1;
    sem_wait(&event);

    ck_assert_int_eq(lost, PMIX_ERR_LOST_CONNECTION);
}

PX_TEST(a_giant_length_ends_the_connection_at_the_header)
{
    uint8_t header[PX_FRAME_HEADER_B];

    memset(header, 0xff, sizeof header);
    ck_assert_int_eq(write(peer, header, sizeof header), (ssize_t)sizeof header);
    sem_wait(&event);

    ck_assert_int_ne(lost, PMIX_SUCCESS);
    ck_assert_uint_eq(n_frames, 0);
}

PX_TEST(may_be_destroyed_while_it_delivers)
{
    destroy_in_frame = true;
    put(1, "a", 1);
    sem_wait(&event);
    ok(px_call(loop, do_destroy, NULL));

    ck_assert_uint_eq(n_frames, 1);
    ok(lost);
}

PX_TEST(a_loss_found_while_sending_is_reported_later_and_once)
{
    struct sending s = {.tag = 1, .n = 100};

    destroy_in_frame = false;
    ck_assert_int_eq(shutdown(peer, SHUT_RD), 0);
    pmix_status_t rc = px_call(loop, do_send, &s);
    ck_assert_int_eq(rc, PMIX_ERR_LOST_CONNECTION);
    sem_wait(&event);

    ck_assert_int_eq(lost, PMIX_ERR_LOST_CONNECTION);
}

static void do_fail(struct px_call *call, void *and_destroy)
{
    px_conn_fail(conn, PMIX_ERR_NOMEM);
    px_conn_fail(conn, PMIX_ERR_TIMEOUT);
    ok(lost); /* not within */
    if (*(bool *)and_destroy)
        px_conn_destroy(px_take(&conn));
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST_LOOP(a_connection_given_up_is_reported_once_unless_it_is_destroyed, 2)
{
    bool and_destroy = _i;

    ok(px_call(loop, do_fail, &and_destroy));
    if (and_destroy)
        ok(px_call(loop, do_destroy, NULL));
    else
        sem_wait(&event);
    ck_assert_int_eq(lost, and_destroy ? PMIX_SUCCESS : PMIX_ERR_NOMEM);
    ck_assert_ptr_null(conn);
}

PX_TEST(a_payload_no_frame_can_hold_is_refused_and_the_connection_goes_on)
{
    struct sending s = {.tag = 1, .n = PX_MAX_FRAME_B + 1};
    char bytes[PX_FRAME_HEADER_B + 4];

    ck_assert_int_eq(px_call(loop, do_send, &s), PMIX_ERR_OUT_OF_RESOURCE);
    s.n = 4;
    ok(px_call(loop, do_send, &s));
    ck_assert_int_eq(read(peer, bytes, sizeof bytes), (ssize_t)sizeof bytes);
    ok(lost);
}

PX_TEST_MAIN("link/conn", setup, teardown)
