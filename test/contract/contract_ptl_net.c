/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of ptl: connections that do not come about, and networks and their
 * ports. */
#include "contract_ptl.h"

#include "core/base/clock.h"
#include "core/base/str.h"

#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

enum {
    SHORT_MS = 200,
    MAX_FILLERS = 16,
    N_DEAD = 40,
};

/* ---- what goes wrong ------------------------------------------------------------- */

/* In a network where the system has two ports to give out: one is taken, the other is
 * the one just vacated, and a careless transport reaches itself. Where no such network can be made, in
 * that of the host. */
START_TEST(connecting_where_nobody_listens_fails_at_once)
{
    (void)process_own_network(FIRST_PORT);
    struct listener l = ptl_listen();
    struct listener other;
    bool has_other = ptl_try_listen(contract.dir, &other) == PMIX_SUCCESS;
    uint64_t start_ms = px_clock_ms();
    ptl_unlisten(&l);
    size_t n_fds = px_test_count_fds();

    for (int i = 0; i < N_DEAD; i++) {
        int fd;
        ck_assert_int_ne(ptl_try_connect(l.address, SOON_MS, &fd), PMIX_SUCCESS);
        ck_assert_int_eq(fd, -1);
    }
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_lt(px_clock_ms() - start_ms, SOON_MS);
    if (has_other)
        ptl_unlisten(&other);
}
END_TEST

/* Takes all places in the queue of a server that accepts nothing; how many there are
 * differs. Returns how long the one took that found none. */
static size_t fill_queue(const struct listener *l, int *fds, uint64_t *took_ms)
{
    size_t n = 0;
    pmix_status_t rc;

    ck_assert_int_eq(listen(l->fd, 0), 0); /* shortens the queue */
    for (;;) {
        uint64_t start_ms = px_clock_ms();

        ck_assert_uint_lt(n, MAX_FILLERS);
        rc = ptl_try_connect(l->address, SHORT_MS, &fds[n]);
        *took_ms = px_clock_ms() - start_ms;
        if (rc)
            break;
        n++;
    }
    ck_assert_int_eq(rc, PMIX_ERR_TIMEOUT);
    ck_assert_int_eq(fds[n], -1);
    return n;
}

static void close_all(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        close(fds[i]);
}

START_TEST(connecting_to_a_server_that_does_not_accept_times_out)
{
    int fds[MAX_FILLERS];
    uint64_t took_ms;
    struct listener l = ptl_listen();
    size_t n = fill_queue(&l, fds, &took_ms);

    ck_assert_uint_ge(took_ms, SHORT_MS - 20);
    ck_assert_uint_lt(took_ms, SHORT_MS + SOON_MS);
    close_all(fds, n);
    ptl_unlisten(&l);
}
END_TEST

static int accept_later(void *arg)
{
    struct px_ptl_peer peer;

    process_pause(SHORT_MS);
    for (int i = 0; i < MAX_FILLERS; i++)
        ptl_accept(arg, &peer);
    return 0;
}

START_TEST(connecting_waits_for_a_busy_server)
{
    int fds[MAX_FILLERS];
    uint64_t took_ms;
    int last;
    struct listener l = ptl_listen();
    size_t n = fill_queue(&l, fds, &took_ms);
    pid_t server = process_fork(accept_later, &l);

    ok(ptl_try_connect(l.address, LATE_MS, &last));

    kill(server, SIGKILL);
    ck_assert_int_eq(process_wait(server, SOON_MS), 128 + SIGKILL);
    close(last);
    close_all(fds, n);
    ptl_unlisten(&l);
}
END_TEST

START_TEST(nonsense_is_no_address)
{
    static const char *const tails[] = {"",    "?",    ":",     "[",        "[::1",
                                        "a b", "x:y:", "1.2.3", "127.0.0.1"};
    static const char *const ports[] = {"",    "0",   "65536",      "-1",
                                        "80x", " 80", "99999999999"};
    struct listener l = ptl_listen();
    int scheme = (int)(strstr(l.address, "://") + 3 - l.address);
    size_t n_fds = px_test_count_fds();
    int fd;

    for (size_t i = 0; i < PX_COUNT(tails) + PX_COUNT(ports); i++) {
        PX_AUTOFREE char *bad = i < PX_COUNT(tails)
                                    ? px_strf("%.*s%s", scheme, l.address, tails[i])
                                    : px_strf("%.*s127.0.0.1:%s", scheme, l.address,
                                              ports[i - PX_COUNT(tails)]);
        ck_assert_int_eq(ptl_try_connect(bad, SOON_MS, &fd), PMIX_ERR_BAD_PARAM);
    }
    PX_AUTOFREE char *longer = px_strf("%s%08000d", l.address, 0);
    ck_assert_int_eq(ptl_try_connect(longer, SOON_MS, &fd), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ptl_unlisten(&l);
}
END_TEST

START_TEST(running_out_of_descriptors_is_said_and_passes)
{
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    int client = ptl_connect(&l);
    int fd;

    process_limit_fds(0);
    pmix_status_t accepted = ptl_try_accept(&l, &fd, &peer);
    pmix_status_t connected = ptl_try_connect(l.address, SOON_MS, &fd);
    process_limit_fds(SIZE_MAX);

    ck_assert_int_eq(accepted, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(connected, PMIX_ERR_OUT_OF_RESOURCE);
    int server = ptl_accept(&l, &peer); /* it has waited */
    ck_assert(peer.has_uid && peer.uid == geteuid());
    ptl_send_text(client, "still there");
    ptl_expect_text(server, "still there");
    close(client);
    close(server);
    ptl_unlisten(&l);
}
END_TEST

/* ---- what goes over networks ----------------------------------------------------- */

/* Addresses that are documentation's, and so nobody's. */
START_TEST(other_machines_are_refused_unless_permitted)
{
    static const char *const far[] = {"tcp4://192.0.2.1:9", "tcp6://[2001:db8::1]:9"};
    int fd;

    for (size_t i = 0; i < PX_COUNT(far); i++) {
        if (!ptl_ops()->handles(contract.self, far[i]))
            continue;
        ck_assert_int_eq(ptl_try_connect(far[i], SOON_MS, &fd),
                         PMIX_ERR_NO_PERMISSIONS);
        ck_assert_ptr_nonnull(strstr(contract.host.last_log, far[i]));
        ok(contract_reopen("remote", "true"));
        pmix_status_t rc = ptl_try_connect(far[i], 10, &fd);
        ck_assert(rc == PMIX_ERR_TIMEOUT || rc == PMIX_ERR_UNREACH);
        ok(contract_reopen("remote", "false"));
    }
}
END_TEST

START_TEST(connects_over_ipv6_loopback)
{
    struct sockaddr_in6 sa = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    socklen_t len = sizeof(sa);
    struct px_ptl_peer peer;
    char address[64];
    int fd;

    if (!ptl_ops()->handles(contract.self, "tcp6://[::1]:1"))
        return;
    int s = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    PX_TEST_NEEDS(s >= 0 && bind(s, (struct sockaddr *)&sa, len) == 0, "IPv6");
    ck_assert_int_eq(listen(s, 4), 0);
    ck_assert_int_eq(getsockname(s, (struct sockaddr *)&sa, &len), 0);

    for (int i = 0; i < 2; i++) { /* with brackets and without */
        snprintf(address, sizeof(address), i ? "tcp6://::1:%d" : "tcp6://[::1]:%d",
                 ntohs(sa.sin6_port));
        ok(ptl_try_connect(address, SOON_MS, &fd));
        if (ptl_ops()->peer) {
            ok(ptl_ops()->peer(contract.self, fd, &peer));
            ck_assert(peer.has_uid && peer.uid == geteuid());
        }
        close(fd);
    }
    close(s);
}
END_TEST

static bool has_port(const struct listener *l, int port)
{
    const char *colon = strrchr(l->address, ':');

    return colon && atoi(colon + 1) == port;
}

START_TEST(ports_can_be_prescribed)
{
    struct listener first;
    struct listener second;
    struct listener third;

    if (!contract_has_param("port_min"))
        return;
    PX_TEST_NEEDS(process_own_network(FIRST_PORT), "root, for a network of its own");
    ok(contract_reopen("port_min", "5001"));
    ok(contract_reopen("port_max", "5002"));

    ok(ptl_try_listen(contract.dir, &first));
    ok(ptl_try_listen(contract.dir, &second));
    ck_assert(has_port(&first, 5001) && has_port(&second, 5002));
    ck_assert_int_eq(ptl_try_listen(contract.dir, &third), PMIX_ERR_RESOURCE_BUSY);
    ck_assert_ptr_nonnull(strstr(contract.host.last_log, "5001"));

    struct px_ptl_peer
        peer; /* what is left of a connection does not hold up the next */
    int client = ptl_connect(&first);
    close(ptl_accept(&first, &peer));
    close(client);
    ptl_unlisten(&first);
    ok(ptl_try_listen(contract.dir, &third));
    ck_assert(has_port(&third, 5001));
    ptl_unlisten(&second);
    ptl_unlisten(&third);
}
END_TEST

START_TEST(a_range_of_ports_that_is_none_is_refused)
{
    if (!contract_has_param("port_min"))
        return;
    ck_assert_int_eq(contract_reopen("port_max", "5001"), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(contract_reopen("port_min", "5002"), PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(contract.host.last_log, "5002"));
    ok(contract_reopen("port_min", "5001"));
}
END_TEST

size_t ptl_net_tests(const TTest **tests)
{
    const TTest *const own[] = {
        connecting_where_nobody_listens_fails_at_once,
        connecting_to_a_server_that_does_not_accept_times_out,
        connecting_waits_for_a_busy_server,
        nonsense_is_no_address,
        running_out_of_descriptors_is_said_and_passes,
        other_machines_are_refused_unless_permitted,
        connects_over_ipv6_loopback,
        ports_can_be_prescribed,
        a_range_of_ports_that_is_none_is_refused,
    };

    memcpy(tests, own, sizeof(own));
    return PX_COUNT(own);
}
