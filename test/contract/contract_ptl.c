/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of ptl: listen, connect and transfer bytes. contract_ptl_peer.c covers
 * the identity of the peer. */
#include "contract_ptl.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BIG = 1 << 20,
    SHORT_MS = 200,
    MAX_FILLERS = 16,
    N_DEAD = 40,
};

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
    memset(peer, 0xff, sizeof(*peer)); /* every member must be set */
    return ptl_ops()->accept(contract.self, l->fd, fd, peer);
}

int ptl_accept(const struct listener *l, struct px_ptl_peer *peer)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    int fd;

    ck_assert_int_eq(poll(&p, 1, LATE_MS), 1);
    ok(ptl_try_accept(l, &fd, peer));
    ck_assert_int_ge(fd, 0);
    return fd;
}

struct ptl_pair ptl_connect_pair(void)
{
    struct ptl_pair p = {.listener = ptl_listen()};

    p.client = ptl_connect(&p.listener);
    p.server = ptl_accept(&p.listener, &p.peer);
    return p;
}

void ptl_end_pair(struct ptl_pair *p)
{
    close(p->client);
    close(p->server);
    ptl_unlisten(&p->listener);
}

static void expect_flags(int fd)
{
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static void send_text(int fd, const char *text)
{
    ok(px_fd_write_all(fd, text, strlen(text), px_clock_ms() + SOON_MS));
}

static void expect_text(int fd, const char *text)
{
    char got[64] = "";

    ok(px_fd_read_all(fd, got, strlen(text), px_clock_ms() + SOON_MS));
    ck_assert_str_eq(got, text);
}

/* ---- listening ------------------------------------------------------------------- */

PX_TEST(listens_at_an_address_of_its_own_scheme_that_fits_a_uri)
{
    static const char *const others[] = {"", ":", "://", "no-such-thing://1:2", "/tmp"};
    struct listener l = ptl_listen();

    expect_flags(l.fd);
    ck_assert_ptr_nonnull(strstr(l.address, "://"));
    ck_assert_ptr_null(strpbrk(l.address, "; \n"));
    ck_assert(ptl_ops()->handles(contract.self, l.address));
    ptl_unlisten(&l);
    l.address[0]++;
    ck_assert(!ptl_ops()->handles(contract.self, l.address));
    for (size_t i = 0; i < PX_COUNT(others); i++)
        ck_assert(!ptl_ops()->handles(contract.self, others[i]));
}

PX_TEST(unlisten_leaves_nothing)
{
    size_t n_fds = px_test_count_fds();

    for (int i = 0; i < 10; i++) {
        struct listener l = ptl_listen();
        ptl_unlisten(&l);
        ck_assert_int_eq(fcntl(l.fd, F_GETFD), -1);
        ck_assert_uint_eq(px_test_count_names(contract.dir), 2);
    }
    ck_assert_uint_le(px_test_count_fds(),
                      n_fds +
                          1); /* a transport may keep one descriptor open for queries */
}

PX_TEST(listening_in_a_dir_that_is_taken_disturbs_no_listener)
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

/* A transport that needs no directory may succeed here. */
static void expect_listens_or_logs_why(const char *dir)
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

PX_TEST(a_bad_directory_is_named_in_the_log)
{
    PX_AUTOFREE char *missing = px_strf("%s/missing", contract.dir);
    PX_AUTOFREE char *longer = px_strf("%s/%0200d", contract.dir, 0);
    size_t n_fds = px_test_count_fds();

    expect_listens_or_logs_why(NULL);
    expect_listens_or_logs_why(missing);
    expect_listens_or_logs_why(longer);
    expect_listens_or_logs_why("/tmp/a;b");
    ck_assert_uint_le(px_test_count_fds(), n_fds + 1);
}

PX_TEST(an_address_that_does_not_fit_is_refused)
{
    char address[256] = "as it was";
    int fd = -1;
    size_t n_fds = px_test_count_fds();
    struct listener l = ptl_listen();
    size_t enough = strlen(l.address) + 1;
    ptl_unlisten(&l);

    for (size_t size = 1; size < enough - 6;
         size++) { /* a port number may be shorter */
        ck_assert_int_ne(
            ptl_ops()->listen(contract.self, contract.dir, &fd, address, size),
            PMIX_SUCCESS);
        ck_assert_int_eq(fd, -1);
        ck_assert_str_eq(address, "as it was");
        ck_assert_uint_eq(px_test_count_names(contract.dir), 2);
    }
    ck_assert_uint_le(px_test_count_fds(), n_fds + 1);
}

/* ---- connections ----------------------------------------------------------------- */

PX_TEST(bytes_go_both_ways_and_without_a_connection_accept_would_block)
{
    struct ptl_pair p = ptl_connect_pair();
    int client = p.client, server = p.server, fd;

    expect_flags(client);
    expect_flags(server);
    send_text(client, "question");
    expect_text(server, "question");
    send_text(server, "answer");
    expect_text(client, "answer");
    ck_assert_int_eq(shutdown(client, SHUT_WR), 0);
    ck_assert_int_eq(read(server, &(char){0}, 1), 0);
    ck_assert_int_eq(ptl_try_accept(&p.listener, &fd, &p.peer), PMIX_ERR_WOULD_BLOCK);
    ck_assert_int_eq(fd, -1);
    ptl_end_pair(&p);
}

static int send_big(void *arg)
{
    PX_AUTOFREE uint8_t *bytes = malloc(BIG);

    for (size_t i = 0; i < BIG; i++)
        bytes[i] = (uint8_t)(i * 31 >> 3);
    return px_fd_write_all(*(int *)arg, bytes, BIG, px_clock_ms() + LATE_MS) != 0;
}

PX_TEST(a_stream_keeps_every_byte_in_order)
{
    PX_AUTOFREE uint8_t *bytes = malloc(BIG);
    struct ptl_pair p = ptl_connect_pair();
    pid_t sender = process_fork(send_big, &p.client);

    ok(px_fd_read_all(p.server, bytes, BIG, px_clock_ms() + LATE_MS));
    ck_assert_int_eq(process_wait(sender, LATE_MS), 0);
    for (size_t i = 0; i < BIG; i++)
        ck_assert_uint_eq(bytes[i], (uint8_t)(i * 31 >> 3));
    ptl_end_pair(&p);
}

static void *connect_in_thread(void *arg)
{
    return (void *)(intptr_t)ptl_connect(arg);
}

PX_TEST(connects_from_any_thread)
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

/* ---- what goes wrong ------------------------------------------------------------- */

/* In a private network with two ports, one is taken and the other was just released. A
 * careless transport connects to itself there. Without such a network the rule runs in
 * the host's. */
PX_TEST(connecting_without_a_listener_fails_at_once)
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

/* Fills the queue of a server that never accepts; its length varies. *took_ms is the
 * time of the connect that found no place. Returns the number of connections. */
static size_t fill_queue(const struct listener *l, int *fds, uint64_t *took_ms)
{
    size_t n = 0;
    pmix_status_t rc;

    ck_assert_int_eq(listen(l->fd, 0), 0); /* makes the queue short */
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

PX_TEST(connecting_to_a_server_that_does_not_accept_times_out)
{
    int fds[MAX_FILLERS];
    uint64_t took_ms;
    struct listener l = ptl_listen();
    size_t n = fill_queue(&l, fds, &took_ms);

    ck_assert_uint_ge(took_ms, SHORT_MS - 20);
    ck_assert_uint_lt(took_ms, SHORT_MS + SOON_MS);
    while (n > 0)
        close(fds[--n]);
    ptl_unlisten(&l);
}

static int accept_later(void *arg)
{
    struct px_ptl_peer peer;

    process_pause(SHORT_MS);
    for (int i = 0; i < MAX_FILLERS; i++)
        ptl_accept(arg, &peer);
    return 0;
}

PX_TEST(connecting_waits_for_a_busy_server)
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
    while (n > 0)
        close(fds[--n]);
    ptl_unlisten(&l);
}

PX_TEST(nonsense_is_no_address)
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

PX_TEST(running_out_of_descriptors_is_reported_and_passes)
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
    int server = ptl_accept(&l, &peer); /* the connection was waiting */
    ck_assert(peer.has_uid && peer.uid == geteuid());
    send_text(client, "still there");
    expect_text(server, "still there");
    close(client);
    close(server);
    ptl_unlisten(&l);
}

/* ---- networks -------------------------------------------------------------------- */

/* The addresses are reserved for documentation. */
PX_TEST(other_machines_are_refused_unless_permitted)
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

PX_TEST(a_version_of_ip_can_be_turned_off)
{
    static const char *const rows[][2] = {
        {"no_ipv4", "tcp4://127.0.0.1:9"},
        {"no_ipv6", "tcp6://[::1]:9"}}; /* then both */
    static const char v6[] = "tcp6://[::1]:";
    struct px_ptl_peer peer;
    struct listener l;
    int fd;

    for (size_t i = 0; contract_has_param("no_ipv4") && i < PX_COUNT(rows); i++) {
        ok(contract_reopen(rows[i][0], "true"));
        ck_assert_int_eq(ptl_try_connect(rows[i][1], SOON_MS, &fd),
                         PMIX_ERR_NOT_SUPPORTED);
        if (ptl_try_listen(contract.dir, &l)) /* also on a machine without IPv6 */
            continue;
        ck_assert_uint_eq(i, 0);
        ck_assert_int_eq(strncmp(l.address, v6, strlen(v6)), 0);
        int client = ptl_connect(&l), server = ptl_accept(&l, &peer);
        ck_assert(peer.has_uid && peer.uid == geteuid());
        close(client);
        close(server);
        ptl_unlisten(&l);
    }
}

PX_TEST(connects_over_ipv6_loopback)
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

    for (int i = 0; i < 2; i++) { /* without brackets, then with brackets */
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

/* A network with the loopback interface alone. test/integration/remote.sh has a second one. */
PX_TEST(there_is_no_address_for_other_machines_but_those_of_the_site)
{
    struct listener l = {.fd = -1};

    if (!ptl_ops()->listen_remote)
        return;
    PX_TEST_NEEDS(process_own_network(FIRST_PORT), "root, for a network of its own");
    ck_assert_int_eq(
        ptl_ops()->listen_remote(contract.self, &l.fd, l.address, sizeof(l.address)),
        PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(l.fd, -1);
    ck_assert_ptr_nonnull(strstr(contract.host.last_log, "other machines"));
}

static bool has_port(const struct listener *l, int port)
{
    const char *colon = strrchr(l->address, ':');

    return colon && atoi(colon + 1) == port;
}

PX_TEST(ports_can_be_prescribed)
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
        peer; /* Earlier data of a connection do not delay the next one. */
    int client = ptl_connect(&first);
    close(ptl_accept(&first, &peer));
    close(client);
    ptl_unlisten(&first);
    ok(ptl_try_listen(contract.dir, &third));
    ck_assert(has_port(&third, 5001));
    ptl_unlisten(&second);
    ptl_unlisten(&third);
}

PX_TEST(a_range_of_ports_that_is_none_is_refused)
{
    if (!contract_has_param("port_min"))
        return;
    ck_assert_int_eq(contract_reopen("port_max", "5001"), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(contract_reopen("port_min", "5002"), PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(contract.host.last_log, "5002"));
    ok(contract_reopen("port_min", "5001"));
}
