/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of ptl: what the kernel attests about who connects, and about who listens. Better
 * nothing than something wrong. */
#include "contract_ptl.h"

#include "core/base/clock.h"
#include "core/base/fd.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { N_IDLE = 50, TRIES = 20 };

/* Connects as somebody else and lives until it may go; exits with 1 if it is kept
 * out. */
struct stranger {
    struct listener *listener;
    int go; /* read end */
    bool hangs_up;
    int hung_up; /* write end: told once it has */
};

static int be_stranger(void *arg)
{
    const struct stranger *s = arg;
    int fd = -1;

    process_become_other();
    if (ptl_ops()->connect(contract.self, s->listener->address, SOON_MS, &fd))
        return 1;
    if (s->hangs_up)
        close(fd);
    if (write(s->hung_up, "", 1) != 1)
        return 2;
    return read(s->go, &(char){0}, 1) < 0 ? 3 : 0;
}

struct visit {
    pid_t pid;
    int go, told; /* our ends */
    bool is_in;
};

static struct visit send_stranger(struct listener *l, bool hangs_up)
{
    int go[2];
    int told[2];

    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(told), 0);
    struct stranger s = {
        .listener = l, .go = go[0], .hangs_up = hangs_up, .hung_up = told[1]};
    struct visit v = {
        .pid = process_fork(be_stranger, &s), .go = go[1], .told = told[0]};
    close(go[0]);
    close(told[1]);
    v.is_in = px_fd_read_all(v.told, &(char){0}, 1, px_clock_ms() + LATE_MS) == 0;
    return v;
}

/* One that was not let in has said so by its exit status. */
static void end_visit(const struct visit *v)
{
    if (v->is_in)
        ck_assert_int_eq(write(v->go, "", 1), 1);
    ck_assert_int_eq(process_wait(v->pid, LATE_MS), v->is_in ? 0 : 1);
    close(v->go);
    close(v->told);
}

static void expect_us(const struct px_ptl_peer *peer)
{
    ck_assert(peer->has_uid && peer->uid == geteuid());
    ck_assert(!peer->has_gid || peer->gid == getegid());
    ck_assert(!peer->has_pid || peer->pid == getpid());
}

/* Another user, if anything is said. */
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

/* Kept out by the file system, or let in under its own name. */
PX_TEST(attests_another_user)
{
    PX_TEST_NEEDS_ROOT;
    struct px_ptl_peer peer;
    struct listener l = ptl_listen();

    struct visit v = send_stranger(&l, false);
    if (v.is_in) {
        int server = ptl_accept(&l, &peer);
        ck_assert(peer.has_uid);
        ck_assert_uint_eq(peer.uid, OTHER_UID);
        ck_assert(!peer.has_gid || peer.gid == OTHER_UID);
        ck_assert(!peer.has_pid || peer.pid == v.pid);
        close(server);
    }
    end_visit(&v);
    ptl_unlisten(&l);
}

/* A server that is not root: sees that root connects. */
static int serve_root(void *arg)
{
    struct px_ptl_peer peer;
    int address_to = *(int *)arg;

    process_become_other();
    struct listener l = ptl_listen();
    if (write(address_to, l.address, sizeof(l.address)) != sizeof(l.address))
        return 1;
    int server = ptl_accept(&l, &peer);
    bool is_right = peer.has_uid && peer.uid == 0 && (!peer.has_gid || peer.gid == 0) &&
                    (!peer.has_pid || peer.pid == getppid());
    close(server);
    ptl_unlisten(&l);
    return is_right ? 0 : 2;
}

PX_TEST(attests_without_being_root)
{
    PX_TEST_NEEDS_ROOT;
    struct listener l = {.fd = -1};
    int ends[2];

    ck_assert_int_eq(chown(contract.dir, OTHER_UID, OTHER_UID), 0);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t server = process_fork(serve_root, &ends[1]);
    ok(px_fd_read_all(ends[0], l.address, sizeof(l.address), px_clock_ms() + LATE_MS));
    int client = ptl_connect(&l);

    ck_assert_int_eq(process_wait(server, LATE_MS), 0);
    close(client);
    close(ends[0]);
    close(ends[1]);
}

/* The kernel answers root for a socket that nobody has any more. */
PX_TEST(who_has_hung_up_is_not_taken_for_root)
{
    PX_TEST_NEEDS_ROOT;
    struct listener l = ptl_listen();

    for (int i = 0; i < TRIES; i++) {
        struct px_ptl_peer peer;
        int server;
        struct visit v = send_stranger(&l, true);

        if (ptl_try_accept(&l, &server, &peer) == PMIX_SUCCESS) {
            expect_other_or_none(&peer);
            close(server);
        }
        end_visit(&v);
    }
    ptl_unlisten(&l);
}

PX_TEST(silent_connections_hold_up_nobody)
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

/* Gone without a farewell, the worst way to leave a queue. */
PX_TEST(who_was_reset_does_not_disturb_who_comes_after)
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

/* Asking who it is may need a descriptor that is not to be had. */
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

/* ---- who listens ------------------------------------------------------------------ */

/* What the component says of the other end. */
static struct px_ptl_peer ask_peer(int fd)
{
    struct px_ptl_peer peer;

    memset(&peer, 0xff, sizeof(peer)); /* all of it has to be set */
    ok(ptl_ops()->peer(contract.self, fd, &peer));
    return peer;
}

#define NEEDS_PEER() \
    PX_TEST_NEEDS(ptl_ops()->peer, "an operation that its header did not have")

PX_TEST(tells_who_listens_before_and_after_it_accepts)
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

/* A server of another user: tells its address, then does as it is bid, a letter each. */
struct foreign_server {
    int orders, reports;
    int others[2]; /* whose ends would keep its orders from ending */
};

static int be_foreign_server(void *arg)
{
    const struct foreign_server *s = arg;
    struct px_ptl_peer peer;
    int conn = -1;
    char order;

    close(s->others[0]);
    close(s->others[1]);
    process_become_other();
    struct listener l = ptl_listen();
    if (write(s->reports, l.address, sizeof(l.address)) != sizeof(l.address))
        return 1;
    while (read(s->orders, &order, 1) == 1) {
        if (order == 'a')
            conn = ptl_accept(&l, &peer);
        else if (order == 'h')
            close(conn);
        else
            ptl_unlisten(&l);
        if (write(s->reports, &order, 1) != 1)
            return 2;
    }
    return 0;
}

struct foreigner {
    pid_t pid;
    int orders, reports; /* our ends */
    struct listener listener;
};

static struct foreigner hire_foreigner(void)
{
    int orders[2], reports[2];

    ck_assert_int_eq(chown(contract.dir, OTHER_UID, OTHER_UID), 0);
    ck_assert_int_eq(pipe(orders), 0);
    ck_assert_int_eq(pipe(reports), 0);
    struct foreign_server s = {
        .orders = orders[0], .reports = reports[1], .others = {orders[1], reports[0]}};
    struct foreigner f = {.pid = process_fork(be_foreign_server, &s),
                          .orders = orders[1],
                          .reports = reports[0],
                          .listener = {.fd = -1}};
    close(orders[0]);
    close(reports[1]);
    ok(px_fd_read_all(f.reports, f.listener.address, sizeof(f.listener.address),
                      px_clock_ms() + LATE_MS));
    return f;
}

static void order(const struct foreigner *f, char what)
{
    char answer = 0;

    ck_assert_int_eq(write(f->orders, &what, 1), 1);
    ok(px_fd_read_all(f->reports, &answer, 1, px_clock_ms() + LATE_MS));
    ck_assert_int_eq(answer, what);
}

static void dismiss(const struct foreigner *f)
{
    close(f->orders);
    ck_assert_int_eq(process_wait(f->pid, LATE_MS), 0);
    close(f->reports);
}

PX_TEST(tells_that_another_user_listens)
{
    NEEDS_PEER();
    PX_TEST_NEEDS_ROOT;
    struct foreigner f = hire_foreigner();
    int client = ptl_connect(&f.listener);
    struct px_ptl_peer peer = ask_peer(client);

    ck_assert(peer.has_uid && peer.uid == OTHER_UID);
    order(&f, 'a');
    peer = ask_peer(client);
    ck_assert(peer.has_uid && peer.uid == OTHER_UID);
    order(&f, 'h'); /* nobody has that end now: it is not root's */
    peer = ask_peer(client);
    expect_other_or_none(&peer);
    close(client);
    order(&f, 'u');
    dismiss(&f);
}

PX_TEST(tells_nobody_where_nobody_listens_any_more)
{
    NEEDS_PEER();
    PX_TEST_NEEDS_ROOT;
    struct foreigner f = hire_foreigner();
    int client = ptl_connect(&f.listener);

    order(&f, 'u');
    struct px_ptl_peer peer;
    pmix_status_t rc = ptl_ops()->peer(contract.self, client, &peer);
    ck_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_UNREACH);
    ck_assert(rc || !peer.has_uid || peer.uid == OTHER_UID);
    close(client);
    dismiss(&f);
}

/* Who has accepted counts, not who listens there now. */
PX_TEST(who_made_way_is_not_taken_for_his_successor)
{
    NEEDS_PEER();
    if (!contract_has_param("port_min"))
        return;
    PX_TEST_NEEDS(process_own_network(FIRST_PORT), "root, for a network of its own");
    ok(contract_reopen("port_min", "5001"));
    struct foreigner f = hire_foreigner();
    int client = ptl_connect(&f.listener);

    order(&f, 'a');
    order(&f, 'u');
    struct listener l = ptl_listen();
    ck_assert_str_eq(l.address, f.listener.address);
    struct px_ptl_peer peer = ask_peer(client);
    ck_assert(peer.has_uid && peer.uid == OTHER_UID);
    close(client);
    ptl_unlisten(&l);
    dismiss(&f);
}

/* Listening on all addresses, those of both families too, is not listening on the one connected to. */
PX_TEST(tells_who_listens_on_every_address)
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

PX_TEST(tells_nothing_wrong_of_a_server_with_the_last_descriptor)
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
