/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets in, who does not, and that neither delays anybody else. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* The C library's, but so many of the server's fail; the raw client's do not wait. */
static atomic_int n_failures;
static atomic_int failure;

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    if (!(flags & MSG_DONTWAIT) && atomic_load(&n_failures) > 0) {
        atomic_fetch_sub(&n_failures, 1);
        errno = atomic_load(&failure);
        return -1;
    }
    return syscall(SYS_sendto, fd, bytes, n, flags, NULL, 0);
}

static void fail_sends(int n, int errnum)
{
    atomic_store(&failure, errnum);
    atomic_store(&n_failures, n);
}

static void setup(void)
{
    raw_server_start(&host_module, 2);
}

PX_TEST(a_registered_rank_of_the_right_user_gets_in)
{
    close(raw_client(0));
}

PX_TEST(strangers_are_refused_with_the_reason)
{
    static const struct {
        const char *nspace;
        pmix_rank_t rank;
        pmix_status_t status;
    } rows[] = {
        {"nojob", 0, PMIX_ERR_NOT_FOUND},
        {"job", 7, PMIX_ERR_NOT_FOUND},
    };
    int fd;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_hello h = raw_hello(rows[i].nspace, rows[i].rank);

        ck_assert_int_eq(raw_connect(&h, &fd), rows[i].status);
    }
    close(raw_client(1));
}

PX_TEST(a_claimed_identity_must_be_the_real_one)
{
    uint32_t ids[2] = {geteuid() + 1, getegid()};
    struct px_hello h = raw_hello("job", 0);
    int fd;

    h.cred = (uint8_t *)ids;
    ck_assert_int_eq(raw_connect(&h, &fd), PMIX_ERR_INVALID_CRED);
}

PX_TEST(what_we_do_not_speak_is_refused)
{
    int fd;
    struct px_hello h = raw_hello("job", 0);

    strcpy(h.dialect, "v12");
    ck_assert_int_eq(raw_connect(&h, &fd), PMIX_ERR_NOT_SUPPORTED);
    h = raw_hello("job", 0);
    strcpy(h.gds, "ds21");
    ck_assert_int_eq(raw_connect(&h, &fd), PMIX_ERR_NOT_SUPPORTED);
    h = raw_hello("job", 0);
    strcpy(h.psec, "nosuch");
    ck_assert_int_eq(raw_connect(&h, &fd), PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST(garbage_and_giant_lengths_are_cut_off)
{
    uint8_t junk[64];
    char c;
    int fd = raw_socket();

    memset(junk, 0x5a, sizeof junk);
    ck_assert_int_eq(write(fd, junk, sizeof junk), (ssize_t)sizeof junk);
    ck_assert_int_le(recv(fd, &c, 1, 0), 0);
    close(fd);

    fd = raw_socket();
    memset(junk, 0xff, sizeof junk);
    ck_assert_int_eq(write(fd, junk, PX_HELLO_HEADER_B), PX_HELLO_HEADER_B);
    ck_assert_int_le(recv(fd, &c, 1, 0), 0);
    close(fd);
    close(raw_client(0));
}

PX_TEST(silent_connections_keep_nobody_out)
{
    for (int i = 0; i < 300; i++)
        (void)raw_socket();
    close(raw_client(0));
}

PX_TEST(who_cannot_be_answered_finds_the_connection_closed)
{
    struct px_hello h = raw_hello("job", 0);
    int fd;

    fail_sends(1, ENOBUFS);
    ck_assert_int_eq(raw_connect(&h, &fd), PMIX_ERR_UNREACH);
    ck_assert_int_eq(atomic_load(&n_failures), 0);
    raw_await_gone(0);
    close(raw_client(0));
}

PX_TEST(an_answer_that_is_interrupted_is_sent_again)
{
    fail_sends(3, EINTR);
    close(raw_client(0));
    ck_assert_int_eq(atomic_load(&n_failures), 0);
}

PX_TEST(a_rank_may_connect_twice)
{
    int one = raw_client(0), two = raw_client(0);
    px_writer w;

    raw_begin(&w, PX_OP_COMMIT);
    ok(raw_request(one, &w, NULL));
    close(one);
    raw_begin(&w, PX_OP_COMMIT);
    ok(raw_request(two, &w, NULL));
}

PX_TEST(a_rank_may_not_have_connections_without_end)
{
    struct px_hello h = raw_hello("job", 0);
    int fd[100], n = 0;
    pmix_status_t rc;

    while (n < 100 && (rc = raw_connect(&h, &fd[n])) == PMIX_SUCCESS)
        n++;
    ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
    close(raw_client(1)); /* another rank is not concerned */
    raw_server_stop();
    while (n > 0)
        close(fd[--n]);
}

PX_TEST(a_silent_connection_ends_after_its_time)
{
    raw_server_stop();
    setenv("PMIX_MCA_server_handshake_timeout", "20ms", 1);
    setup();
    int fd = raw_socket();
    ck_assert(raw_closed(fd));
}

PX_TEST(who_opens_connections_without_end_crowds_out_himself)
{
    enum { N = 140 };
    int greedy[N];

    PX_TEST_NEEDS(geteuid() == 0, "root");
    raw_add_job("theirs", 1, 0, 4711);
    int patient = raw_socket_as(4711);
    for (int i = 0; i < N; i++)
        greedy[i] = raw_socket();
    raw_on_loop(NULL, NULL);
    struct px_hello h = raw_hello("theirs", 0);
    uint32_t ids[] = {4711, getegid()};
    h.cred = (uint8_t *)ids;
    ok(raw_say_hello(patient, &h));
    ck_assert(raw_closed(greedy[0]));
}

/* ---- the host has a say -------------------------------------------------------------------- */

PX_TEST(a_host_that_refuses_is_asked_again_each_time)
{
    pmix_server_module_t older = host_module;
    int fd;

    older.client_connected2 = NULL;
    for (int i = 0; i < 2; i++) {
        struct px_hello h = raw_hello("job", 0);

        host.how_connected = HOST_ERROR;
        host.status = PMIX_ERR_NO_PERMISSIONS;
        ck_assert_int_eq(raw_connect(&h, &fd), PMIX_ERR_NO_PERMISSIONS);
        ck_assert_int_eq(raw_connect(&h, &fd), PMIX_ERR_NO_PERMISSIONS);
        host.how_connected = HOST_DONE;
        host.status = PMIX_SUCCESS;
        ok(raw_connect(&h, &fd));
        ck_assert_uint_eq(host_calls(i ? "client_connected" : "client_connected2"), 3);
        raw_server_stop();
        close(fd);
        if (i == 0)
            raw_server_start(&older, 2);
    }
}

PX_TEST(a_refusal_that_comes_later_closes_the_connection)
{
    int fd;

    for (int i = 0; i < 2; i++) {
        host.how_connected = i ? HOST_THREAD : HOST_INSIDE;
        host.status = PMIX_ERR_NO_PERMISSIONS;
        fd = raw_client(0);
        ck_assert(raw_closed(fd));
        close(fd);
    }
    host.status = PMIX_SUCCESS;
    fd = raw_client(0);
    ok(raw_commit(fd, "key", 1));
}

PX_TEST(a_client_need_not_wait_for_a_slow_host)
{
    host.how_connected = HOST_HELD;
    int fd = raw_client(0);
    ok(raw_commit(fd, "key", 1));
    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(host.args_lived);
    ok(raw_commit(fd, "key", 2));
    close(fd);
    raw_await_gone(0);
    fd = raw_client(1);
    raw_server_stop(); /* this one is never answered in its time */
}

static void deregister_it(void)
{
    pmix_proc_t p = host.proc;

    PMIx_server_deregister_client(&p, NULL, NULL);
}

PX_TEST(a_host_may_deregister_the_very_client_that_connects)
{
    struct px_hello h = raw_hello("job", 0);
    int fd;

    host.within = deregister_it;
    ck_assert_int_ne(raw_connect(&h, &fd), PMIX_SUCCESS);
    host.within = NULL;
    close(raw_client(1));
}

PX_TEST_MAIN("server/handshake", setup, host_end)
