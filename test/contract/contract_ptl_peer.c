/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of ptl: the kernel's report about the connecting and the listening
 * process. A missing identity is better than a wrong one. */
#include "contract_ptl.h"

#include "core/base/clock.h"
#include "core/base/fd.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { N_IDLE = 50, TRIES = 20 };

/* ---- another user ------------------------------------------------------------------ */

/* A process of another user, controlled by one-letter orders. */
struct other {
    pid_t pid;
    int orders, reports; /* ends of this process */
    struct listener listener;
};

struct other_ends {
    int orders, reports;
    int others
        [2]; /* the parent's ends; a copy left open here would prevent end-of-file */
    struct listener listener;
};

static int be_other(void *arg)
{
    struct other_ends *e = arg;
    struct px_ptl_peer peer;
    int conn = -1;
    char order;

    close(e->others[0]);
    close(e->others[1]);
    process_become_other();
    while (read(e->orders, &order, 1) == 1) {
        bool good = true;

        if (order == 'c') { /* connect */
            good = !ptl_try_connect(e->listener.address, SOON_MS, &conn);
        } else if (order == 'l') { /* listen and report the address */
            e->listener = ptl_listen();
            good = write(e->reports, e->listener.address,
                         sizeof(e->listener.address)) == sizeof(e->listener.address);
        } else if (order == 'a') { /* accept a connection of root */
            conn = ptl_accept(&e->listener, &peer);
            good = peer.has_uid && peer.uid == 0 && (!peer.has_gid || peer.gid == 0) &&
                   (!peer.has_pid || peer.pid == getppid());
        } else if (order == 'h') { /* close the connection */
            close(conn);
        } else { /* stop listening */
            ptl_unlisten(&e->listener);
        }
        if (write(e->reports, good ? "y" : "n", 1) != 1)
            return 1;
    }
    return 0;
}

/* Starts a process of another user, which can connect to l. */
static struct other hire(const struct listener *l)
{
    int orders[2], reports[2];

    ck_assert_int_eq(pipe(orders), 0);
    ck_assert_int_eq(pipe(reports), 0);
    struct other_ends e = {.orders = orders[0],
                           .reports = reports[1],
                           .others = {orders[1], reports[0]},
                           .listener = *l};
    struct other o = {.pid = process_fork(be_other, &e),
                      .orders = orders[1],
                      .reports = reports[0],
                      .listener = {.fd = -1}};
    close(orders[0]);
    close(reports[1]);
    return o;
}

/* Sends an order; returns true if the other process succeeded. */
static bool order(const struct other *o, char what)
{
    char answer = 0;

    ck_assert_int_eq(write(o->orders, &what, 1), 1);
    ok(px_fd_read_all(o->reports, &answer, 1, px_clock_ms() + LATE_MS));
    return answer == 'y';
}

static struct other hire_server(void)
{
    struct other o = hire(&(struct listener){.fd = -1});

    ck_assert_int_eq(chown(contract.dir, OTHER_UID, OTHER_UID), 0);
    ck_assert_int_eq(write(o.orders, "l", 1), 1);
    ok(px_fd_read_all(o.reports, o.listener.address, sizeof(o.listener.address),
                      px_clock_ms() + LATE_MS));
    ok(px_fd_read_all(o.reports, &(char){0}, 1, px_clock_ms() + LATE_MS));
    return o;
}

static void dismiss(const struct other *o)
{
    close(o->orders);
    ck_assert_int_eq(process_wait(o->pid, LATE_MS), 0);
    close(o->reports);
}

/* ---- the connecting process -------------------------------------------------------- */

static void expect_us(const struct px_ptl_peer *peer)
{
    ck_assert(peer->has_uid && peer->uid == geteuid());
    ck_assert(!peer->has_gid || peer->gid == getegid());
    ck_assert(!peer->has_pid || peer->pid == getpid());
}

/* Checks that the peer, if reported, is the other user. */
static void expect_other_or_none(const struct px_ptl_peer *peer)
{
    ck_assert(!peer->has_uid || peer->uid == OTHER_UID);
}

PX_TEST(attests_this_process)
{
    struct ptl_pair p = ptl_connect_pair();
    struct stat st;

    expect_us(&p.peer);
    ck_assert_int_eq(fstat(p.client, &st), 0);
    ck_assert(p.peer.inode == 0 || p.peer.inode == st.st_ino);
    ptl_end_pair(&p);
}

/* The file system denies access, or the peer has its own uid. */
PX_TEST(attests_another_user)
{
    PX_TEST_NEEDS_ROOT;
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    struct other o = hire(&l);

    if (order(&o, 'c')) {
        int server = ptl_accept(&l, &peer);
        ck_assert(peer.has_uid && peer.uid == OTHER_UID);
        ck_assert(!peer.has_gid || peer.gid == OTHER_UID);
        ck_assert(!peer.has_pid || peer.pid == o.pid);
        close(server);
    }
    dismiss(&o);
    ptl_unlisten(&l);
}

PX_TEST(attests_without_being_root)
{
    PX_TEST_NEEDS_ROOT;
    struct other o = hire_server();
    int client = ptl_connect(&o.listener);

    ck_assert(order(&o, 'a'));
    close(client);
    order(&o, 'u');
    dismiss(&o);
}

/* For a socket that is closed on the other side, the kernel reports root. */
PX_TEST(a_closed_connection_is_not_taken_for_roots)
{
    PX_TEST_NEEDS_ROOT;
    struct listener l = ptl_listen();

    for (int i = 0; i < TRIES; i++) {
        struct px_ptl_peer peer;
        int server;
        struct other o = hire(&l);

        if (order(&o, 'c'))
            order(&o, 'h');
        if (ptl_try_accept(&l, &server, &peer) == PMIX_SUCCESS) {
            expect_other_or_none(&peer);
            close(server);
        }
        dismiss(&o);
    }
    ptl_unlisten(&l);
}

PX_TEST(silent_connections_hold_up_no_other)
{
    int clients[N_IDLE];
    int servers[N_IDLE];
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    uint64_t start_ms = px_clock_ms();

    for (int i = 0; i < N_IDLE; i++)
        clients[i] = ptl_connect(&l);
    for (int i = 0; i < N_IDLE; i++) {
        servers[i] = ptl_accept(&l, &peer);
        expect_us(&peer);
    }
    ck_assert_uint_lt(px_clock_ms() - start_ms, SOON_MS);
    for (int i = 0; i < N_IDLE; i++) {
        close(clients[i]);
        close(servers[i]);
    }
    ptl_unlisten(&l);
}

/* A reset is the worst way to leave a queue of connections. */
PX_TEST(a_reset_connection_does_not_disturb_the_next)
{
    const struct linger at_once = {.l_onoff = 1};
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    int gone = ptl_connect(&l);
    int client = ptl_connect(&l);
    bool has_come = false;

    setsockopt(gone, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(gone);
    ok(px_fd_write_all(client, "x", 1, px_clock_ms() + SOON_MS));

    for (int i = 0; i < 2 && !has_come; i++) {
        char c = 0;
        int server = ptl_accept(&l, &peer);

        has_come = px_fd_read_all(server, &c, 1, px_clock_ms() + SOON_MS) == 0 &&
                   c == 'x';
        ck_assert(!has_come || (peer.has_uid && peer.uid == geteuid()));
        close(server);
    }
    ck_assert(has_come);
    close(client);
    ptl_unlisten(&l);
}

/* The query about the peer may need a descriptor that is not available. */
PX_TEST(attests_nothing_wrong_with_the_last_descriptor)
{
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();
    int client = ptl_connect(&l);
    int server;

    process_limit_fds(1);
    pmix_status_t rc = ptl_try_accept(&l, &server, &peer);
    process_limit_fds(SIZE_MAX);

    ok(rc);
    ck_assert(!peer.has_uid || peer.uid == geteuid());
    close(client);
    close(server);
    ptl_unlisten(&l);
}

/* ---- the listening process -------------------------------------------------------- */

/* Returns the component's report about the other end. */
static struct px_ptl_peer ask_peer(int fd)
{
    struct px_ptl_peer peer;

    memset(&peer, 0xff, sizeof(peer)); /* every member must be set */
    ok(ptl_ops()->peer(contract.self, fd, &peer));
    return peer;
}

#define NEEDS_PEER() \
    PX_TEST_NEEDS(ptl_ops()->peer, "an operation that its header did not have")

PX_TEST(attests_the_listener_before_and_after_it_accepts)
{
    NEEDS_PEER();
    struct listener l = ptl_listen();
    size_t n_fds = px_test_count_fds();
    int client = ptl_connect(&l);
    struct px_ptl_peer peer = ask_peer(client);

    expect_us(&peer);
    int server = ptl_accept(&l, &peer);
    peer = ask_peer(client);
    expect_us(&peer);
    ck_assert_uint_eq(px_test_count_fds(), n_fds + 2);
    close(client);
    close(server);
    ptl_unlisten(&l);
}

PX_TEST(attests_that_another_user_listens)
{
    NEEDS_PEER();
    PX_TEST_NEEDS_ROOT;
    struct other o = hire_server();
    int client = ptl_connect(&o.listener);
    struct px_ptl_peer peer = ask_peer(client);

    ck_assert(peer.has_uid && peer.uid == OTHER_UID);
    order(&o, 'a');
    peer = ask_peer(client);
    ck_assert(peer.has_uid && peer.uid == OTHER_UID);
    order(&o, 'h'); /* closed at the other end: not root's */
    peer = ask_peer(client);
    expect_other_or_none(&peer);
    close(client);
    order(&o, 'u');
    dismiss(&o);
}

PX_TEST(attests_no_other_once_the_listener_has_gone)
{
    NEEDS_PEER();
    PX_TEST_NEEDS_ROOT;
    struct other o = hire_server();
    int client = ptl_connect(&o.listener);

    order(&o, 'u');
    struct px_ptl_peer peer;
    pmix_status_t rc = ptl_ops()->peer(contract.self, client, &peer);
    ck_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_UNREACH);
    ck_assert(rc || !peer.has_uid || peer.uid == OTHER_UID);
    close(client);
    dismiss(&o);
}

/* The peer is the process that accepted, not the one listening there now. */
PX_TEST(a_former_listener_is_not_taken_for_its_successor)
{
    NEEDS_PEER();
    if (!contract_has_param("port_min"))
        return;
    PX_TEST_NEEDS(process_own_network(FIRST_PORT), "root, for a network of its own");
    ok(contract_reopen("port_min", "5001"));
    struct other o = hire_server();
    int client = ptl_connect(&o.listener);

    order(&o, 'a');
    order(&o, 'u');
    struct listener l = ptl_listen();
    ck_assert_str_eq(l.address, o.listener.address);
    struct px_ptl_peer peer = ask_peer(client);
    ck_assert(peer.has_uid && peer.uid == OTHER_UID);
    close(client);
    ptl_unlisten(&l);
    dismiss(&o);
}

/* A listener on all addresses, also of both families, is not bound to the address used
 * by the client. */
PX_TEST(attests_who_listens_on_every_address)
{
    NEEDS_PEER();
    if (!ptl_ops()->handles(contract.self, "tcp4://127.0.0.1:1"))
        return;
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in6 sa = {.sin6_family = i ? AF_INET6 : AF_INET};
        socklen_t len = sizeof(sa);
        char address[64];
        int fd;
        int s = socket(sa.sin6_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        PX_TEST_NEEDS(s >= 0 && bind(s, (struct sockaddr *)&sa, len) == 0, "IPv6");
        ck_assert_int_eq(listen(s, 4), 0);
        ck_assert_int_eq(getsockname(s, (struct sockaddr *)&sa, &len), 0);
        snprintf(address, sizeof(address), "tcp4://127.0.0.1:%d", ntohs(sa.sin6_port));
        ok(ptl_try_connect(address, SOON_MS, &fd));
        struct px_ptl_peer peer = ask_peer(fd);
        expect_us(&peer);
        int server = accept4(s, NULL, NULL, SOCK_CLOEXEC);
        ck_assert_int_ge(server, 0);
        peer = ask_peer(fd);
        expect_us(&peer);
        close(server);
        close(fd);
        close(s);
    }
}

#define OWN_ADDRESS "192.0.2.1" /* an address reserved for documentation */
enum { OUR_PORT = 5001, OTHERS_PORT = 5002 };

/* Adds one address to the loopback interface of the private network. */
static bool add_own_address(void)
{
    struct ifreq alias = {.ifr_name = "lo:1"};
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_addr = {inet_addr(OWN_ADDRESS)}};
    PX_AUTOCLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memcpy(&alias.ifr_addr, &sa, sizeof(sa));
    return fd >= 0 && ioctl(fd, SIOCSIFADDR, &alias) == 0;
}

static int listen_at(in_port_t port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr = {inet_addr(OWN_ADDRESS)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) || listen(fd, 4))
        abort();
    return fd;
}

/* Listens as another user. fds: a pipe that ends with the test, read and write end, and
 * the write end of a pipe that reports readiness. */
static int listen_as_other(void *arg)
{
    const int *fds = arg;
    char byte = 'l';

    close(fds[1]);
    process_become_other();
    (void)listen_at(OTHERS_PORT);
    return write(fds[2], &byte, 1) != 1 || read(fds[0], &byte, 1) != 0;
}

/* Servers of other implementations listen on the address of a network interface. */
PX_TEST(addresses_of_own_interfaces_are_local_and_attested)
{
    NEEDS_PEER();
    int end[2], report[2], fd;

    if (!ptl_ops()->handles(contract.self, "tcp4://127.0.0.1:1"))
        return;
    PX_TEST_NEEDS(process_own_network(FIRST_PORT) && add_own_address(),
                  "root, for a network of its own");
    ck_assert(pipe(end) == 0 && pipe(report) == 0);
    pid_t other = process_fork(listen_as_other, (int[]){end[0], end[1], report[1]});
    ok(px_fd_read_all(report[0], &(char){0}, 1, px_clock_ms() + LATE_MS));
    int ours = listen_at(OUR_PORT);

    for (int i = 0; i < 4; i++) {
        const char *address = i % 2 ? "tcp4://" OWN_ADDRESS ":5001"
                                    : "tcp4://" OWN_ADDRESS ":5002";

        ok(contract_reopen("remote", i < 2 ? "false" : "true"));
        ok(ptl_try_connect(address, SOON_MS, &fd));
        struct px_ptl_peer peer = ask_peer(fd);
        ck_assert(peer.has_uid && peer.uid == (i % 2 ? geteuid() : OTHER_UID));
        close(fd);
    }
    ok(contract_reopen("remote", "false"));
    ck_assert_int_eq(ptl_try_connect("tcp4://192.0.2.2:9", SOON_MS, &fd),
                     PMIX_ERR_NO_PERMISSIONS);
    close(end[1]);
    ck_assert_int_eq(process_wait(other, LATE_MS), 0);
    close(ours);
}

PX_TEST(attests_no_wrong_server_with_the_last_descriptor)
{
    NEEDS_PEER();
    struct listener l = ptl_listen();
    int client = ptl_connect(&l);
    struct px_ptl_peer peer;

    process_limit_fds(0);
    pmix_status_t rc = ptl_ops()->peer(contract.self, client, &peer);
    process_limit_fds(SIZE_MAX);

    ck_assert(rc || !peer.has_uid || peer.uid == geteuid());
    close(client);
    ptl_unlisten(&l);
}
