/* SPDX-License-Identifier: BSD-3-Clause */
/* Framed connections over a socket pair, with bytes in pieces of any size. */
#include "core/link/conn.h"

#include "core/base/fd.h"
#include "core/rt/loop.h"
#include "px_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct px_loop *loop;
static struct px_conn *conn;
static int peer;
static sem_t event;
static struct px_frame last;
static uint8_t *last_payload;
static unsigned n_frames;
static pmix_status_t lost;
static bool destroy_in_frame, leave_fd, pause_in_frame;
static size_t echo_b; /* size of the reply to each frame */
static atomic_uint n_rooms;
static struct px_payload *shared;
static ino_t brought[8]; /* inode of the descriptor of each frame; 0: none */

static uint64_t long_sum; /* of the payload of the last frame with tag 1 */

static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
    uint64_t sum = n;

    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + bytes[i];
    return sum;
}

static void on_frame(void *arg PX_UNUSED, const struct px_frame *f,
                     const uint8_t *payload)
{
    last = *f;
    if (f->tag == 1)
        long_sum = sum_of(payload, f->nbytes);
    free(last_payload);
    last_payload = malloc(f->nbytes + 1);
    memcpy(last_payload, payload, f->nbytes);
    PX_AUTOCLOSE int fd = leave_fd ? -1 : px_conn_take_fd(conn);
    struct stat st;
    if (n_frames < PX_COUNT(brought))
        brought[n_frames] = fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
    n_frames++;
    if (destroy_in_frame) {
        px_conn_destroy(px_take(&conn));
    }
    if (pause_in_frame)
        px_conn_pause(conn, true);
    if (echo_b) {
        px_buf answer = {.data = calloc(1, echo_b), .len = echo_b, .cap = echo_b};

        (void)px_conn_send(conn, 0, f->tag, &answer); /* fails after a loss */
    }
    sem_post(&event);
}

static void on_room(void *arg PX_UNUSED)
{
    n_rooms++;
}

static void on_lost(void *arg PX_UNUSED, pmix_status_t why)
{
    lost = why;
    px_conn_destroy(px_take(&conn));
    sem_post(&event);
}

/* Counts the messages; replaces the C library's sendmsg. */
static atomic_uint n_messages;

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    n_messages++;
    return syscall(SYS_sendmsg, fd, msg, flags);
}

static atomic_uint n_changes;
static atomic_int refused; /* the refused epoll operation; 0: none */
static int watched;

PX_EXPORT int epoll_ctl(int ep, int op, int fd, struct epoll_event *event)
{
    n_changes++;
    if (op == refused && fd == watched) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, ep, op, fd, event);
}

static atomic_size_t largest_read;

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    if (fd == watched && n > largest_read)
        largest_read = n;
    return syscall(SYS_recvfrom, fd, bytes, n, flags, NULL, NULL);
}

static struct px_conn_ops ops = {.on_frame = on_frame, .on_lost = on_lost};

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

    ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv));
    peer = sv[1];
    ok(px_loop_create(PX_PROGRESS_THREAD, NULL, &loop));
    sem_init(&event, 0, 0);
    ck_assert_int_eq(fcntl(sv[0], F_SETFL, O_NONBLOCK), 0);
    watched = sv[0];
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
    ck_assert_int_eq(write(peer, header, sizeof(header)), (ssize_t)sizeof(header));
    if (n)
        ck_assert_int_eq(write(peer, payload, n), (ssize_t)n);
}

/* The frames arrive whole, in the second round byte by byte. */
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

enum { N_OFTEN = 400 };

static void do_send_often(struct px_call *call, void *args)
{
    for (unsigned i = 0; i < N_OFTEN; i++) {
        px_buf body = {.data = calloc(1, 8), .len = 8, .cap = 8};

        ok(px_conn_send(conn, 0, *(uint32_t *)args + i, &body));
    }
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(frames_of_one_pass_go_out_in_one_message)
{
    uint8_t bytes[N_OFTEN * (PX_FRAME_HEADER_B + 8)];
    uint32_t tag = 100;
    struct px_frame f;

    n_messages = 0;
    ok(px_call(loop, do_send_often, &tag));
    ck_assert_int_eq(recv(peer, bytes, sizeof(bytes), MSG_WAITALL),
                     (ssize_t)sizeof(bytes));
    ck_assert_uint_eq(n_messages, 1);
    for (size_t at = 0; at < sizeof(bytes); at += PX_FRAME_HEADER_B + 8) {
        ok(px_frame_decode(bytes + at, &f));
        ck_assert_uint_eq(f.tag, tag++);
    }
}

/* The rest of a long frame is read into its payload. A short frame follows at once. */
PX_TEST(long_frames_arrive_whole_without_a_copy)
{
    static const uint32_t sizes[] = {PX_SCRATCH_B - PX_FRAME_HEADER_B,
                                     PX_SCRATCH_B,
                                     2 * PX_SCRATCH_B - 1,
                                     2 * PX_SCRATCH_B,
                                     200000,
                                     1u << 20,
                                     5000001};
    PX_AUTOFREE uint8_t *bytes = malloc(PX_FRAME_HEADER_B + 5000001);

    for (uint32_t i = 0; i < 5000001; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 0; i < PX_COUNT(sizes); i++) {
        put(1, bytes, sizes[i]);
        put(2, bytes + i, 3);
        sem_wait(&event);
        sem_wait(&event);
        ck_assert_uint_eq(n_frames, 2 * i + 2);
        ck_assert_uint_eq(last.tag, 2);
        ck_assert_mem_eq(last_payload, bytes + i, 3);
        ck_assert_uint_eq(long_sum, sum_of(bytes, sizes[i]));
    }
    ck_assert_uint_gt(largest_read, PX_SCRATCH_B);
}

PX_TEST(a_request_is_answered_without_a_change_of_what_is_watched)
{
    char answer[PX_FRAME_HEADER_B + 8];

    px_loop_let_guests(loop, false);
    ok(px_call(loop, do_send_often, &(uint32_t){1}));
    echo_b = 8;
    for (int i = 0; i < N_OFTEN; i++)
        ck_assert_int_eq(recv(peer, answer, sizeof(answer), MSG_WAITALL),
                         (ssize_t)sizeof(answer));
    for (int i = 0; i < 6; i++) {
        put(1, "a", 1);
        ck_assert_int_eq(recv(peer, answer, sizeof(answer), MSG_WAITALL),
                         (ssize_t)sizeof(answer));
        if (i == 0) /* the thread has become idle between the two */
            n_changes = 0;
    }
    ck_assert_uint_eq(n_changes, 0);
}

PX_TEST(a_giant_length_ends_the_connection_at_the_header)
{
    uint8_t header[PX_FRAME_HEADER_B];

    memset(header, 0xff, sizeof(header));
    ck_assert_int_eq(write(peer, header, sizeof(header)), (ssize_t)sizeof(header));
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

/* Short and long frames are written within the call or after it. */
PX_TEST_LOOP(a_loss_found_while_sending_is_reported_later_and_once, 2)
{
    struct sending s = {.tag = 1, .n = _i ? 100000 : 100};

    destroy_in_frame = false;
    ok(shutdown(peer, SHUT_RD));
    pmix_status_t rc = px_call(loop, do_send, &s);
    ck_assert_int_eq(rc, _i ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS);
    sem_wait(&event);

    ck_assert_int_eq(lost, PMIX_ERR_LOST_CONNECTION);
}

/* The frame exceeds the socket buffer; in the second round the replies to a peer do. */
PX_TEST_LOOP(a_connection_that_cannot_be_watched_is_lost, 2)
{
    struct sending s = {.tag = 55, .n = 8u << 20};

    refused = EPOLL_CTL_MOD;
    echo_b = s.n;
    if (_i)
        put(1, "a", 1);
    else
        ok(px_call(loop, do_send, &s));
    while (!lost)
        sem_wait(&event);
    ck_assert_int_eq(lost, PMIX_ERR_OUT_OF_RESOURCE);
}

static void do_fail(struct px_call *call, void *and_destroy)
{
    px_conn_fail(conn, PMIX_ERR_NOMEM);
    px_conn_fail(conn, PMIX_ERR_TIMEOUT);
    ok(lost); /* not within the call */
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

    fails(px_call(loop, do_send, &s), OUT_OF_RESOURCE);
    s.n = 4;
    ok(px_call(loop, do_send, &s));
    ck_assert_int_eq(read(peer, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
    ok(lost);
}

/* ---- descriptors ----------------------------------------------------------------- */

#define FD_TAG 99

/* Files to send, identified by their inodes. */
static struct {
    int fd;
    ino_t inode;
} files[3];

static void open_files(void)
{
    for (size_t i = 0; i < PX_COUNT(files); i++) {
        struct stat st;

        files[i].fd = open(px_test_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        ok(fstat(files[i].fd, &st));
        files[i].inode = st.st_ino;
    }
}

/* Sends one message on the socket. */
static void put_fds(const void *bytes, size_t n, const int *fds, size_t n_fds)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(4 * sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    if (n_fds) {
        memcpy(CMSG_DATA(&control.header), fds, n_fds * sizeof(int));
        msg.msg_control = &control;
        msg.msg_controllen = control.header.cmsg_len;
    }
    ck_assert_int_eq(sendmsg(peer, &msg, 0), (ssize_t)n);
}

static void put_frame(uint32_t tag, uint32_t n, size_t step, const int *fds,
                      size_t n_fds)
{
    struct px_frame f = {.tag = tag, .nbytes = n};
    uint8_t bytes[64] = {0};

    px_frame_encode(bytes, &f);
    for (size_t at = 0, end = PX_FRAME_HEADER_B + n; at < end; at += step)
        put_fds(bytes + at, step < end - at ? step : end - at, fds, at ? 0 : n_fds);
}

/* Ways in which a peer sends descriptors, and the descriptor of each of the frames 50,
 * 99, 99, 51. */
static const struct {
    const char *what;
    uint32_t fd_tag;  /* tag of frames with descriptors; 0: none */
    uint32_t carrier; /* tag of the frame that is sent with the first descriptor */
    size_t n_fds;     /* descriptors sent with that frame */
    bool no_room, leave;
    int want[4]; /* index of the expected file; -1: none */
} scenes[] = {
    {"each with its frame", FD_TAG, FD_TAG, 1, false, false, {-1, 0, 1, -1}},
    {"one at most of a frame", FD_TAG, FD_TAG, 3, false, false, {-1, 0, 1, -1}},
    {"one that is not taken", FD_TAG, FD_TAG, 1, false, true, {-1, -1, -1, -1}},
    {"none was asked for", 0, FD_TAG, 1, false, false, {-1, -1, -1, -1}},
    {"lost: the next keeps its own", FD_TAG, FD_TAG, 1, true, false, {-1, -1, 1, -1}},
    {"a stray one", FD_TAG, 50, 1, false, false, {-1, -1, 1, -1}},
};

/* Runs each scene with the bytes in pieces of 1, 7, or all. */
PX_TEST_LOOP(descriptors_come_with_their_frames_and_strays_are_closed,
             3 * PX_COUNT(scenes))
{
    static const size_t steps[] = {64, 7, 1};
    const int i = _i / 3;
    const size_t step = steps[_i % 3];
    static const uint32_t tags[] = {50, FD_TAG, FD_TAG, 51};
    struct rlimit rl, low;

    open_files();
    ops.fd_tag = scenes[i].fd_tag;
    leave_fd = scenes[i].leave;
    ok(getrlimit(RLIMIT_NOFILE, &rl));
    const size_t before = px_test_count_fds();
    for (unsigned t = 0, sent = 0; t < PX_COUNT(tags); t++) {
        const int all[] = {files[0].fd, files[2].fd, files[2].fd};
        bool first = tags[t] == scenes[i].carrier && sent == 0;

        if (first && scenes[i].no_room) {
            low = rl;
            low.rlim_cur = 3;
            ok(setrlimit(RLIMIT_NOFILE, &low));
        }
        if (first)
            put_frame(tags[t], 5, step, all, scenes[i].n_fds);
        else
            put_frame(tags[t], 5, step, &files[1].fd, t == 2);
        sent += first;
        sem_wait(&event);
        ok(setrlimit(RLIMIT_NOFILE, &rl));
    }
    for (unsigned t = 0; t < PX_COUNT(tags); t++)
        ck_assert_msg(brought[t] ==
                          (scenes[i].want[t] < 0 ? 0 : files[scenes[i].want[t]].inode),
                      "%s: frame %u", scenes[i].what, t);
    put(60, "", 0); /* the end of the operations on the previous descriptor */
    sem_wait(&event);
    ck_assert_uint_eq(px_test_count_fds(), before);
}

static void do_enclose(struct px_call *call, void *args)
{
    struct sending *s = args;
    px_buf body = {.data = calloc(1, s->n), .len = s->n, .cap = s->n};

    px_call_done(call, px_conn_enclose(conn, FD_TAG, &body, files[s->tag].fd));
}

/* Reads once from the peer: bytes, and the inode of a descriptor or 0. */
static ssize_t get(void *bytes, size_t n, ino_t *inode)
{
    struct iovec iov = {.iov_base = bytes, .iov_len = n};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    ssize_t got = recvmsg(peer, &msg, MSG_CMSG_CLOEXEC);
    struct stat st;
    int fd;

    *inode = 0;
    if (got > 0 && msg.msg_controllen > 0) {
        memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
        ok(fstat(fd, &st));
        *inode = st.st_ino;
        close(fd);
    }
    return got;
}

/* In the second round, more data than the socket buffer are queued first. */
PX_TEST_LOOP(a_descriptor_goes_out_with_the_next_frame_that_is_sent, 2)
{
    struct sending bulk = {.tag = 7, .n = 4u << 20}, none = {.tag = 8, .n = 3};
    struct sending first = {.tag = 0, .n = 10}, second = {.tag = 1, .n = 10};
    static uint8_t bytes[1u << 20];
    size_t left = _i ? PX_FRAME_HEADER_B + bulk.n : 0;
    size_t tail = 3 * PX_FRAME_HEADER_B + 23;
    unsigned n_fds = 0;
    ino_t inode;

    open_files();
    const size_t before = px_test_count_fds();
    if (_i)
        ok(px_call(loop, do_send, &bulk));
    ok(px_call(loop, do_enclose, &first));
    ok(px_call(loop, do_enclose, &second));
    if (!_i)
        ck_assert_int_eq(recv(peer, bytes, sizeof(bytes), MSG_DONTWAIT), -1);
    ok(px_call(loop, do_send, &none));
    while (left + tail > 0) {
        ssize_t n = get(bytes, sizeof(bytes), &inode);

        ck_assert_int_gt(n, 0);
        if (inode) {
            ck_assert_uint_eq(inode, files[n_fds].inode);
            n_fds++;
        }
        size_t of_bulk = left < (size_t)n ? left : (size_t)n;
        left -= of_bulk;
        tail -= (size_t)n - of_bulk;
    }
    ck_assert_uint_eq(n_fds, 2);
    ok(px_call(loop, do_send, &none)); /* the sent descriptor is closed now */
    ck_assert_uint_eq(px_test_count_fds(), before);
}

static void do_measure(struct px_call *call, void *args)
{
    *(size_t *)args = px_conn_unsent(conn);
    px_call_done(call, PMIX_SUCCESS);
}

static void do_pause(struct px_call *call, void *pause)
{
    px_conn_pause(conn, *(bool *)pause);
    px_call_done(call, PMIX_SUCCESS);
}

/* In the second round a callback pauses the connection when the other requests have
 * been read. */
PX_TEST_LOOP(what_comes_to_one_that_is_paused_is_delivered_later_in_order, 2)
{
    bool yes = true, no = false;

    pause_in_frame = _i == 1;
    if (_i == 0)
        ok(px_call(loop, do_pause, &yes));
    for (uint32_t i = 0; i < 3; i++)
        put(200 + i, "abc", 3);
    for (uint32_t n = 0; n < 3; n++) {
        if (_i == 1)
            sem_wait(&event);
        ok(px_call(loop, do_pause, &yes));
        ck_assert_uint_eq(n_frames, _i == 1 ? n + 1 : 0);
        ok(px_call(loop, do_pause, &no));
        for (int i = 0; _i == 0 && i < 3; i++)
            sem_wait(&event);
        if (_i == 0)
            break;
    }
    ck_assert_uint_eq(n_frames, 3);
    ck_assert_uint_eq(last.tag, 202);
    shutdown(peer, SHUT_RDWR); /* the shutdown is detected, too */
    sem_wait(&event);
    ck_assert_int_eq(lost, PMIX_ERR_LOST_CONNECTION);
}

/* All requests arrive in one piece; the replies exceed the limit of unread bytes. */
PX_TEST(a_peer_that_does_not_read_is_not_read_either)
{
    enum { N = 40, ANSWER_B = 1 << 20 };
    uint8_t requests[N][PX_FRAME_HEADER_B];
    static uint8_t bytes[PX_FRAME_HEADER_B + ANSWER_B];
    struct px_frame f;
    size_t unsent = 0;

    ops.on_room = on_room;
    echo_b = ANSWER_B;
    for (uint32_t i = 0; i < N; i++)
        px_frame_encode(requests[i], &(struct px_frame){.tag = 100 + i});
    ck_assert_int_eq(write(peer, requests, sizeof(requests)),
                     (ssize_t)sizeof(requests));
    sem_wait(&event);
    ok(px_call(loop, do_measure, &unsent));
    ck_assert_uint_ge(unsent, PX_UNREAD_B / 2);
    ck_assert_uint_le(unsent, PX_UNREAD_B + sizeof(bytes));
    ck_assert_uint_lt(n_frames, N);
    for (uint32_t i = 0; i < N; i++) {
        ok(px_fd_read_all(peer, bytes, sizeof(bytes), 0));
        ok(px_frame_decode(bytes, &f));
        ck_assert_uint_eq(f.tag, 100 + i);
    }
    ck_assert_uint_eq(n_frames, N);
    ck_assert_uint_gt(n_rooms, 0);
    /* The end of the connection is detected, too. */
    ck_assert_int_eq(write(peer, requests, sizeof(requests)),
                     (ssize_t)sizeof(requests));
    ok(px_call(loop, do_measure, &unsent));
    close(peer);
    peer = -1;
    while (!lost)
        sem_wait(&event);
    ck_assert_int_eq(lost, PMIX_ERR_LOST_CONNECTION);
}

static void do_share_behind(struct px_call *call, void *args)
{
    px_buf head = {.data = (uint8_t *)(uintptr_t) "head", .len = 4};
    unsigned *n = args;

    for (; *n > 0; --*n)
        ok(px_conn_share(conn, 7, *n % 2 ? &head : NULL, shared, false));
    ck_assert_uint_eq(shared->refs, shared->bytes.len > 1024 ? 5 : 1);
    px_conn_await_room(conn);
    px_call_done(call, PMIX_SUCCESS);
}

static void do_share_waiting(struct px_call *call, void *n)
{
    for (unsigned i = *(unsigned *)n; i > 0; i--)
        ok(px_conn_share(conn, 7, NULL, shared, true));
    px_call_done(call, PMIX_SUCCESS);
}

static void do_flush(struct px_call *call, void *args PX_UNUSED)
{
    px_conn_flush(conn);
    px_call_done(call, PMIX_SUCCESS);
}

/* Waiting frames leave with another frame, at a flush, or when many frames wait. */
PX_TEST(frames_wait_for_other_frames)
{
    px_buf bytes = {.data = calloc(1, 1000), .len = 1000, .cap = 1000};
    unsigned few = 3, many = 100;
    size_t unsent = 0;

    shared = px_payload_take(&bytes);
    ok(px_call(loop, do_share_waiting, &few));
    for (int i = 0; i < 2; i++) { /* also after a turn */
        ok(px_call(loop, do_measure, &unsent));
        ck_assert_uint_eq(unsent, few * (PX_FRAME_HEADER_B + 1000));
    }
    n_messages = 0;
    ok(px_call(loop, do_flush, NULL));
    ok(px_call(loop, do_flush, NULL));
    ok(px_call(loop, do_share_waiting, &few));
    ok(px_call(loop, do_send, &(struct sending){.tag = 9, .n = 10}));
    ok(px_call(loop, do_measure, &unsent));
    ck_assert_uint_eq(unsent, 0);
    ck_assert_uint_eq(n_messages, 2);
    ok(px_call(loop, do_share_waiting, &many));
    ok(px_call(loop, do_measure, &unsent));
    ck_assert_uint_lt(unsent, many * 1000 / 2);
    px_payload_unref(shared);
}

/* Short payloads are copied, long ones are not; with and without a head. */
PX_TEST(payloads_are_shared_behind_heads_and_room_for_more_is_reported)
{
    static const size_t sizes[] = {3, 3000, 1024 * 1024};
    static uint8_t got[PX_FRAME_HEADER_B + 4 + 1024 * 1024];

    ops.on_room = on_room;
    for (size_t i = 0; i < PX_COUNT(sizes); i++) {
        px_buf bytes = {.data = malloc(sizes[i]), .len = sizes[i], .cap = sizes[i]};
        unsigned n = 4;
        struct px_frame f;
        size_t unsent = 0;

        memset(bytes.data, 'b', sizes[i]);
        shared = px_payload_take(&bytes);
        n_rooms = 0;
        n_messages = 0;
        ok(px_call(loop, do_share_behind, &n));
        ok(px_call(loop, do_measure, &unsent));
        ck_assert_uint_eq(n_rooms > 0, unsent <= PX_DRAINED_B);
        for (n = 4; n > 0; n--) {
            size_t head_b = n % 2 ? 4 : 0;

            ok(px_fd_read_all(peer, got, PX_FRAME_HEADER_B, 0));
            ok(px_frame_decode(got, &f));
            ck_assert_uint_eq(f.nbytes, head_b + sizes[i]);
            ok(px_fd_read_all(peer, got, f.nbytes, 0));
            ck_assert_mem_eq(got, "head", head_b);
            ck_assert_uint_eq(got[head_b], 'b');
            ck_assert_uint_eq(got[f.nbytes - 1], 'b');
        }
        while (n_rooms == 0)
            ok(px_call(loop, do_measure, &unsent));
        ok(px_call(loop, do_measure, &unsent));
        ck_assert_uint_eq(n_rooms, 1);
        if (i < 2)
            ck_assert_uint_eq(n_messages, 1);
        ck_assert_uint_eq(shared->refs, 1);
        px_payload_unref(shared);
    }
}

PX_TEST_MAIN("link/conn", setup, teardown)
