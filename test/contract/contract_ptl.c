/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of ptl: listening and connecting, and the bytes between. Who is at the
 * other end is in contract_ptl_peer.c, what goes wrong in contract_ptl_net.c. */
#include "contract_ptl.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

enum { BIG = 1 << 20 };

const struct px_ptl_ops *ptl_ops(void)
{
    return contract.component->ops;
}

pmix_status_t ptl_try_listen(const char *dir, struct listener *l)
{
    *l = (struct listener){.fd = -1};
    return ptl_ops()->listen(contract.self, dir, &l->fd, l->address,
                             sizeof(l->address));
}

struct listener ptl_listen(void)
{
    struct listener l;

    ok(ptl_try_listen(contract.dir, &l));
    ck_assert_int_ge(l.fd, 0);
    return l;
}

void ptl_unlisten(struct listener *l)
{
    ptl_ops()->unlisten(contract.self, l->fd, l->address);
}

pmix_status_t ptl_try_connect(const char *address, uint64_t timeout_ms, int *fd)
{
    *fd = -1;
    return ptl_ops()->connect(contract.self, address, timeout_ms, fd);
}

int ptl_connect(const struct listener *l)
{
    int fd;

    ok(ptl_try_connect(l->address, SOON_MS, &fd));
    ck_assert_int_ge(fd, 0);
    return fd;
}

pmix_status_t ptl_try_accept(const struct listener *l, int *fd,
                             struct px_ptl_peer *peer)
{
    *fd = -1;
    memset(peer, 0xff, sizeof(*peer)); /* all of it has to be set */
    return ptl_ops()->accept(contract.self, l->fd, fd, peer);
}

int ptl_accept(const struct listener *l, struct px_ptl_peer *peer)
{
    struct pollfd waiting = {.fd = l->fd, .events = POLLIN};
    int fd;

    ck_assert_int_eq(poll(&waiting, 1, LATE_MS), 1);
    ok(ptl_try_accept(l, &fd, peer));
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void expect_flags(int fd)
{
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static void expect_closed(int fd)
{
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}

void ptl_send_text(int fd, const char *text)
{
    ok(px_fd_write_all(fd, text, strlen(text), px_clock_ms() + SOON_MS));
}

void ptl_expect_text(int fd, const char *text)
{
    char got[64] = "";

    ok(px_fd_read_all(fd, got, strlen(text), px_clock_ms() + SOON_MS));
    ck_assert_str_eq(got, text);
}

/* ---- listening ------------------------------------------------------------------- */

START_TEST(listens_at_an_address_that_fits_a_uri)
{
    struct listener l = ptl_listen();

    expect_flags(l.fd);
    ck_assert_ptr_nonnull(strstr(l.address, "://"));
    ck_assert_ptr_null(strpbrk(l.address, "; \n"));
    ck_assert(ptl_ops()->handles(contract.self, l.address));
    ptl_unlisten(&l);
}
END_TEST

START_TEST(handles_its_own_scheme_only)
{
    static const char *const others[] = {"", ":", "://", "no-such-thing://1:2", "/tmp"};
    struct listener l = ptl_listen();

    for (size_t i = 0; i < PX_COUNT(others); i++)
        ck_assert(!ptl_ops()->handles(contract.self, others[i]));
    l.address[0]++;
    ck_assert(!ptl_ops()->handles(contract.self, l.address));
    l.address[0]--;
    ptl_unlisten(&l);
}
END_TEST

START_TEST(unlisten_leaves_nothing)
{
    size_t n_fds = px_test_count_fds();

    for (int i = 0; i < 10; i++) {
        struct listener l = ptl_listen();
        ptl_unlisten(&l);
        expect_closed(l.fd);
        ck_assert(process_dir_is_empty(contract.dir));
    }
    ck_assert_uint_le(px_test_count_fds(), n_fds + 1); /* one may be kept for asking */
}
END_TEST

START_TEST(listening_in_a_dir_that_is_taken_disturbs_nobody)
{
    struct px_ptl_peer peer;
    struct listener first = ptl_listen();
    struct listener second;

    if (ptl_try_listen(contract.dir, &second) == PMIX_SUCCESS) {
        ck_assert_str_ne(first.address, second.address);
        ptl_unlisten(&second);
    } else {
        ck_assert_int_eq(second.fd, -1);
        ck_assert_str_eq(second.address, "");
    }
    int client = ptl_connect(&first);
    int server = ptl_accept(&first, &peer);
    close(client);
    close(server);
    ptl_unlisten(&first);
}
END_TEST

/* What needs no directory may listen all the same. */
static void expect_listens_or_says_why(const char *dir)
{
    struct listener l;

    contract.host.last_log[0] = '\0';
    pmix_status_t rc = ptl_try_listen(dir, &l);
    if (rc == PMIX_SUCCESS) {
        ptl_unlisten(&l);
        return;
    }
    ck_assert_int_eq(l.fd, -1);
    ck_assert_str_eq(l.address, "");
    if (dir)
        ck_assert_ptr_nonnull(strstr(contract.host.last_log, dir));
}

START_TEST(a_bad_directory_is_told_clearly)
{
    PX_AUTOFREE char *missing = px_strf("%s/missing", contract.dir);
    PX_AUTOFREE char *longer = px_strf("%s/%0200d", contract.dir, 0);
    size_t n_fds = px_test_count_fds();

    expect_listens_or_says_why(NULL);
    expect_listens_or_says_why(missing);
    expect_listens_or_says_why(longer);
    expect_listens_or_says_why("/tmp/a;b");
    ck_assert_uint_le(px_test_count_fds(), n_fds + 1);
}
END_TEST

START_TEST(an_address_that_does_not_fit_is_refused)
{
    char address[256] = "as it was";
    int fd = -1;
    size_t n_fds = px_test_count_fds();
    struct listener l = ptl_listen();
    size_t enough = strlen(l.address) + 1;
    ptl_unlisten(&l);

    for (size_t size = 1; size < enough - 6; size++) { /* a number may be shorter */
        ck_assert_int_ne(
            ptl_ops()->listen(contract.self, contract.dir, &fd, address, size),
            PMIX_SUCCESS);
        ck_assert_int_eq(fd, -1);
        ck_assert_str_eq(address, "as it was");
        ck_assert(process_dir_is_empty(contract.dir));
    }
    ck_assert_uint_le(px_test_count_fds(), n_fds + 1);
}
END_TEST

/* ---- connections ----------------------------------------------------------------- */

START_TEST(accept_without_a_connection_would_block)
{
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    int fd;

    ck_assert_int_eq(ptl_try_accept(&l, &fd, &peer), PMIX_ERR_WOULD_BLOCK);
    ck_assert_int_eq(fd, -1);
    ptl_unlisten(&l);
}
END_TEST

START_TEST(bytes_go_both_ways)
{
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    int client = ptl_connect(&l);
    int server = ptl_accept(&l, &peer);

    expect_flags(client);
    expect_flags(server);
    ptl_send_text(client, "question");
    ptl_expect_text(server, "question");
    ptl_send_text(server, "answer");
    ptl_expect_text(client, "answer");
    close(client);
    ck_assert_int_eq(read(server, &(char){0}, 1), 0);
    close(server);
    ptl_unlisten(&l);
}
END_TEST

static int send_big(void *arg)
{
    PX_AUTOFREE uint8_t *bytes = malloc(BIG);

    for (size_t i = 0; i < BIG; i++)
        bytes[i] = (uint8_t)(i * 31 >> 3);
    return px_fd_write_all(*(int *)arg, bytes, BIG, px_clock_ms() + LATE_MS) != 0;
}

START_TEST(a_stream_keeps_every_byte_in_order)
{
    PX_AUTOFREE uint8_t *bytes = malloc(BIG);
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    int client = ptl_connect(&l);
    int server = ptl_accept(&l, &peer);
    pid_t sender = process_fork(send_big, &client);

    ck_assert_int_eq(px_fd_read_all(server, bytes, BIG, px_clock_ms() + LATE_MS), 0);
    ck_assert_int_eq(process_wait(sender, LATE_MS), 0);
    for (size_t i = 0; i < BIG; i++)
        ck_assert_uint_eq(bytes[i], (uint8_t)(i * 31 >> 3));
    close(client);
    close(server);
    ptl_unlisten(&l);
}
END_TEST

static void *connect_in_thread(void *arg)
{
    return (void *)(intptr_t)ptl_connect(arg);
}

START_TEST(connects_from_any_thread)
{
    enum { N_THREADS = 8 };
    pthread_t threads[N_THREADS];
    struct listener l = ptl_listen();

    for (int i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, connect_in_thread, &l), 0);
    for (int i = 0; i < N_THREADS; i++) {
        struct px_ptl_peer peer;
        close(ptl_accept(&l, &peer));
    }
    for (int i = 0; i < N_THREADS; i++) {
        void *fd;
        ck_assert_int_eq(pthread_join(threads[i], &fd), 0);
        close((int)(intptr_t)fd);
    }
    ptl_unlisten(&l);
}
END_TEST

size_t contract_ptl(const TTest **tests)
{
    const TTest *const own[] = {
        listens_at_an_address_that_fits_a_uri,
        handles_its_own_scheme_only,
        unlisten_leaves_nothing,
        listening_in_a_dir_that_is_taken_disturbs_nobody,
        a_bad_directory_is_told_clearly,
        an_address_that_does_not_fit_is_refused,
        accept_without_a_connection_would_block,
        bytes_go_both_ways,
        a_stream_keeps_every_byte_in_order,
        connects_from_any_thread,
    };
    size_t n = PX_COUNT(own);

    memcpy(tests, own, sizeof(own));
    n += ptl_net_tests(tests + n);
    n += ptl_peer_tests(tests + n);
    return n;
}
