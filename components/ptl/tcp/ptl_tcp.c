/* SPDX-License-Identifier: BSD-3-Clause */
/* ptl/tcp: TCP, "tcp4://127.0.0.1:4711", as other PMIx libraries use it. Listens on
 * loopback, by IPv6 if IPv4 is off, and connects to any address of this machine. Both
 * sockets are on this machine, so the kernel attests the owner of the other socket. A
 * second listener serves other machines, where the kernel attests nothing. */
#include "tenon/ptl.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "owner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define SCHEME_4 "tcp4://"
#define SCHEME_6 "tcp6://"

enum {
    PRIORITY = 50,
    MAX_PROBES = 20,    /* attempts to find the listener */
    PROBE_NS = 1000000, /* pause between attempts */
    /* A machine that vanishes is noticed after IDLE_S + PROBES * PROBE_S seconds. */
    IDLE_S = 60,
    PROBE_S = 10,
    PROBES = 6,
};

struct conf {
    int64_t port_min;
    int64_t port_max;
    int64_t port_v6;
    bool remote, no_ipv4, no_ipv6;
    const char *interfaces, *no_interfaces; /* NULL: not set */
    int64_t attest;                         /* enum px_owner_source */
};

struct tcp {
    const struct px_services *services;
    struct conf conf;
    struct px_owner owner;
    bool can_attest; /* owner is open */
};

static const struct px_param_name attest_names[] = {
    {"auto", PX_OWNER_AUTO},
    {"sock_diag", PX_OWNER_SOCK_DIAG},
    {"proc", PX_OWNER_PROC},
    {NULL, 0},
};

static const struct px_param params[] = {
    PX_PARAM_INT(struct conf, port_min, "0", 0, 65535,
                 "Lowest port to listen on; 0: the system chooses"),
    PX_PARAM_INT(struct conf, port_max, "0", 0, 65535,
                 "Highest port to listen on; 0: only port_min"),
    PX_PARAM_INT(
        struct conf, port_v6, "0", 0, 65535,
        "Port to listen on by IPv6, which needs no_ipv4; 0: the system chooses "
        "(PMIX_TCP_IPV6_PORT)"),
    PX_PARAM_BOOL(
        struct conf, remote, "false",
        "Connect to servers on other machines too, without proof of the client's user"),
    PX_PARAM_BOOL(struct conf, no_ipv4, "false",
                  "Listen by IPv6, and do not connect by IPv4 (PMIX_TCP_DISABLE_IPV4)"),
    PX_PARAM_BOOL(struct conf, no_ipv6, "false",
                  "Neither listen nor connect by IPv6 (PMIX_TCP_DISABLE_IPV6)"),
    PX_PARAM_STRING(
        struct conf, interfaces, NULL,
        "Interfaces or networks to listen on, separated by commas. Without \"lo\" or "
        "a network of 127.0.0.0/8, not on loopback. Others count for tools of other "
        "machines (PMIX_TCP_IF_INCLUDE)"),
    PX_PARAM_STRING(struct conf, no_interfaces, NULL,
                    "Interfaces or networks not to listen on (PMIX_TCP_IF_EXCLUDE)"),
    PX_PARAM_ENUM(struct conf, attest, "auto", attest_names,
                  "Source of the user at the other end of a connection: sock_diag, "
                  "/proc/net/tcp, or the first of these that works"),
    PX_PARAM_END,
};

struct address {
    socklen_t len;
    union px_owner_end sa;
};

/* ---- life ------------------------------------------------------------------------ */

static pmix_status_t tcp_open(const struct px_services *services, const void *conf,
                              void **self)
{
    const struct conf *c = conf;

    if (c->port_max != 0 && (c->port_min == 0 || c->port_max < c->port_min)) {
        services->log(
            services, PX_LOG_ERROR,
            "ptl_tcp_port_min %d and ptl_tcp_port_max %d are not a range of ports",
            (int)c->port_min, (int)c->port_max);
        return PMIX_ERR_BAD_PARAM;
    }
    struct tcp *t = calloc(1, sizeof(*t));
    if (!t)
        return PMIX_ERR_NOMEM;
    t->services = services;
    t->conf = *c;
    t->owner.netlink = -1;
    *self = t;
    return PMIX_SUCCESS;
}

static pmix_status_t tcp_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static void tcp_close(void *self)
{
    struct tcp *t = self;

    if (!t)
        return;
    px_owner_close(&t->owner);
    free(t);
}

/* ---- addresses ------------------------------------------------------------------- */

static bool tcp_handles(void *self PX_UNUSED, const char *address)
{
    return px_str_starts(address, SCHEME_4) || px_str_starts(address, SCHEME_6);
}

/* Splits "host:port". Drops the brackets of an IPv6 host. */
static bool split(const char *s, char *host, size_t size, in_port_t *port)
{
    uint64_t number;
    const char *colon = strrchr(s, ':');

    if (!colon || !px_str_to_u64(colon + 1, 1, UINT16_MAX, &number))
        return false;
    size_t len = (size_t)(colon - s);
    if (len >= 2 && s[0] == '[' && s[len - 1] == ']') {
        s++;
        len -= 2;
    }
    if (len >= size)
        return false;
    memcpy(host, s, len);
    host[len] = '\0';
    *port = htons((uint16_t)number);
    return true;
}

static bool parse(const char *text, struct address *a)
{
    char host[INET6_ADDRSTRLEN];
    in_port_t port;

    if (!tcp_handles(NULL, text) ||
        !split(text + strlen(SCHEME_4), host, sizeof(host), &port))
        return false;
    *a = (struct address){0};
    if (px_str_starts(text, SCHEME_4)) {
        a->len = sizeof(a->sa.v4);
        a->sa.v4.sin_family = AF_INET;
        a->sa.v4.sin_port = port;
        return inet_pton(AF_INET, host, &a->sa.v4.sin_addr) == 1;
    }
    a->len = sizeof(a->sa.v6);
    a->sa.v6.sin6_family = AF_INET6;
    a->sa.v6.sin6_port = port;
    return inet_pton(AF_INET6, host, &a->sa.v6.sin6_addr) == 1;
}

static bool is_loopback(const union px_owner_end *a)
{
    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static bool is_same_host(const union px_owner_end *a, const union px_owner_end *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return IN6_ARE_ADDR_EQUAL(&a->v6.sin6_addr, &b->v6.sin6_addr);
}

/* True if a is an address of this machine. Returns if_unknown if the system does not
 * list its interfaces. */
static bool is_own(const union px_owner_end *a, bool if_unknown)
{
    struct ifaddrs *all, *i;

    if (is_loopback(a))
        return true;
    if (getifaddrs(&all) < 0)
        return if_unknown;
    for (i = all; i; i = i->ifa_next)
        if (i->ifa_addr && is_same_host(a, (const union px_owner_end *)i->ifa_addr))
            break;
    freeifaddrs(all);
    return i;
}

/* Turns off Nagle's algorithm: requests and replies are small, and processes wait for
 * them. A failure costs only speed. */
static void send_at_once(int fd)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

/* Has the kernel look for a machine that no longer answers. A failure leaves its dead
 * connections open. */
static void watch_machine(int fd)
{
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){IDLE_S}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){PROBE_S}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){PROBES}, sizeof(int));
}

/* ---- the server's end ------------------------------------------------------------ */

/* Listens on a port of host. */
static int bind_one(const struct address *host, in_port_t port)
{
    struct address a = *host;
    PX_AUTOCLOSE int fd = socket(a.sa.any.sa_family,
                                 SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    *(a.sa.any.sa_family == AF_INET ? &a.sa.v4.sin_port
                                    : &a.sa.v6.sin6_port) = htons(port);
    /* A configured port may have connections of an earlier server in TIME_WAIT. */
    if (port && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) < 0)
        return -1;
    if (bind(fd, &a.sa.any, a.len) < 0 || listen(fd, SOMAXCONN) < 0)
        return -1;
    return px_take_fd(&fd);
}

/* Returns the address to listen on. */
static const char *loopback(const struct tcp *t)
{
    return t->conf.no_ipv4 ? "[::1]" : "127.0.0.1";
}

/* Writes the URI of an address. False if size is too small. */
static bool write_uri(const union px_owner_end *a, char *to, size_t size)
{
    const bool v6 = a->any.sa_family == AF_INET6;
    const void *host = v6 ? (const void *)&a->v6.sin6_addr : &a->v4.sin_addr;
    char text[INET6_ADDRSTRLEN];

    return inet_ntop(a->any.sa_family, host, text, sizeof(text)) &&
           snprintf(to, size, v6 ? SCHEME_6 "[%s]:%d" : SCHEME_4 "%s:%d", text,
                    ntohs(v6 ? a->v6.sin6_port : a->v4.sin_port)) < (int)size;
}

/* True if a list of interfaces and networks contains the loopback interface. */
static bool has_loopback(const char *list)
{
    while (list && *list) {
        const size_t n = strcspn(list, ",");

        if ((n == strlen("lo") && strncmp(list, "lo", n) == 0) ||
            px_str_starts(list, "127."))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

/* True if the site allows connections on the loopback interface. */
static bool may_listen(const struct tcp *t)
{
    const struct conf *c = &t->conf;
    const char *why = c->no_ipv4 && c->no_ipv6
                          ? "ptl_tcp_no_ipv4 and ptl_tcp_no_ipv6 are set"
                      : c->interfaces && *c->interfaces && !has_loopback(c->interfaces)
                          ? "ptl_tcp_interfaces lacks the loopback interface"
                      : has_loopback(c->no_interfaces)
                          ? "ptl_tcp_no_interfaces has the loopback interface"
                          : NULL;

    if (why)
        t->services->log(t->services, PX_LOG_WARN, "cannot listen on %s: %s",
                         loopback(t), why);
    return !why;
}

/* Binds the first free port of the range. */
static pmix_status_t bind_any(const struct tcp *t, const struct address *host, int *fd)
{
    const struct conf *c = &t->conf;
    const int64_t first = c->no_ipv4 ? c->port_v6 : c->port_min;
    const int64_t last = c->port_max && !c->no_ipv4 ? c->port_max : first;
    char text[sizeof(SCHEME_6) + INET6_ADDRSTRLEN + 16] = "";
    struct px_err err;

    for (int64_t port = first; port <= last; port++) {
        *fd = bind_one(host, (in_port_t)port);
        if (*fd >= 0)
            return PMIX_SUCCESS;
        if (errno != EADDRINUSE && errno != EACCES)
            break;
    }
    const int errnum = errno;
    (void)write_uri(&host->sa, text, sizeof(text));
    errno = errnum;
    pmix_status_t rc = px_err_errno(&err, "cannot listen on %s, port %d to %d", text,
                                    (int)first, (int)last);
    t->services->log(t->services, PX_LOG_WARN, "%s", err.text);
    return rc;
}

/* Checks that owners of connections can be found. Otherwise every client would be
 * refused, so the server does not listen. */
static pmix_status_t find_attester(struct tcp *t, const union px_owner_end *listener)
{
    if (t->can_attest)
        return PMIX_SUCCESS;
    const struct px_owner_pair pair = {.local = *listener,
                                       .remote.any.sa_family = listener->any.sa_family};
    t->can_attest = px_owner_open(&t->owner, t->conf.attest, &pair);
    if (!t->can_attest) {
        t->services->log(
            t->services, PX_LOG_WARN,
            "cannot listen: neither sock_diag nor /proc/net/tcp shows the owner of "
            "a connection");
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (t->owner.source == PX_OWNER_PROC)
        t->services->log(t->services, PX_LOG_INFO,
                         "owners of connections: from /proc/net/tcp");
    return PMIX_SUCCESS;
}

/* Listens on a host. attests: the kernel must show the owners of its connections. */
static pmix_status_t listen_on(struct tcp *t, const struct address *host, bool attests,
                               int *fd, char *address, size_t size)
{
    struct address bound = {.len = sizeof(bound.sa)};
    char text[sizeof(SCHEME_6) + INET6_ADDRSTRLEN + 16];
    PX_AUTOCLOSE int s = -1;
    pmix_status_t rc = bind_any(t, host, &s);

    if (rc)
        return rc;
    if (getsockname(s, &bound.sa.any, &bound.len) < 0)
        return px_status_of_errno(errno);
    if (attests)
        rc = find_attester(t, &bound.sa);
    if (rc)
        return rc;
    if (!write_uri(&bound.sa, text, sizeof(text)) || strlen(text) >= size)
        return PMIX_ERR_BAD_PARAM;
    px_str_copy(address, size, text);
    *fd = px_take_fd(&s);
    return PMIX_SUCCESS;
}

static pmix_status_t tcp_listen(void *self, const char *dir PX_UNUSED, int *fd,
                                char *address, size_t size)
{
    struct tcp *t = self;
    struct address host;
    char text[64];

    snprintf(text, sizeof(text), "%s%s:1", t->conf.no_ipv4 ? SCHEME_6 : SCHEME_4,
             loopback(t));
    if (size < sizeof(SCHEME_4 "127.0.0.1:65535") || !parse(text, &host))
        return PMIX_ERR_BAD_PARAM;
    if (!may_listen(t))
        return PMIX_ERR_NOT_SUPPORTED;
    return listen_on(t, &host, true, fd, address, size);
}

/* True if an address is in the network "10.1.0.0/16", or is the address "10.1.0.7". */
static bool is_in_network(const union px_owner_end *a, const char *network)
{
    const bool v6 = a->any.sa_family == AF_INET6;
    const uint8_t *bytes = v6 ? a->v6.sin6_addr.s6_addr
                              : (const uint8_t *)&a->v4.sin_addr;
    const size_t n_bits = v6 ? 128 : 32, n = strcspn(network, "/");
    uint8_t net[sizeof(struct in6_addr)];
    char host[INET6_ADDRSTRLEN];
    uint64_t bits = n_bits;

    if (n >= sizeof(host) ||
        (network[n] && !px_str_to_u64(network + n + 1, 0, n_bits, &bits)))
        return false;
    memcpy(host, network, n);
    host[n] = '\0';
    if (inet_pton(a->any.sa_family, host, net) != 1)
        return false;
    for (size_t i = 0; i < bits; i++)
        if ((bytes[i / 8] ^ net[i / 8]) & (0x80 >> i % 8))
            return false;
    return true;
}

/* True if a list of interfaces and networks has an address of an interface. */
static bool is_listed(const char *list, const char *name, const union px_owner_end *a)
{
    char item[64];

    while (list && *list) {
        const size_t n = strcspn(list, ",");

        if (n < sizeof(item)) {
            memcpy(item, list, n);
            item[n] = '\0';
            if (strcmp(item, name) == 0 || is_in_network(a, item))
                return true;
        }
        list += n + (list[n] == ',');
    }
    return false;
}

/* True if other machines may reach this address, and the site allows the address. */
static bool may_serve(const struct conf *c, const struct ifaddrs *i)
{
    const union px_owner_end *a = (const union px_owner_end *)i->ifa_addr;
    const int family = c->no_ipv4 ? AF_INET6 : AF_INET;

    return a && a->any.sa_family == family && (i->ifa_flags & IFF_UP) &&
           !(i->ifa_flags & IFF_LOOPBACK) && !is_loopback(a) &&
           (family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&a->v6.sin6_addr)) &&
           (!c->interfaces || !*c->interfaces ||
            is_listed(c->interfaces, i->ifa_name, a)) &&
           !is_listed(c->no_interfaces, i->ifa_name, a);
}

/* Listens on the first address that the site allows. */
static pmix_status_t tcp_listen_remote(void *self, int *fd, char *address, size_t size)
{
    struct tcp *t = self;
    struct address host = {0};
    struct ifaddrs *all = NULL, *i;

    if (t->conf.no_ipv4 && t->conf.no_ipv6)
        return PMIX_ERR_NOT_SUPPORTED;
    if (getifaddrs(&all) < 0)
        return px_status_of_errno(errno);
    for (i = all; i && !may_serve(&t->conf, i); i = i->ifa_next)
        ;
    if (i) {
        host.len = t->conf.no_ipv4 ? sizeof(host.sa.v6) : sizeof(host.sa.v4);
        memcpy(&host.sa, i->ifa_addr, host.len);
    }
    freeifaddrs(all);
    if (host.len)
        return listen_on(t, &host, false, fd, address, size);
    t->services->log(t->services, PX_LOG_WARN,
                     "cannot listen for other machines: no interface other than "
                     "loopback has an address that ptl_tcp_interfaces and "
                     "ptl_tcp_no_interfaces allow");
    return PMIX_ERR_NOT_SUPPORTED;
}

static void tcp_unlisten(void *self PX_UNUSED, int fd, const char *address PX_UNUSED)
{
    close(fd);
}

/* Finds the peer's owner. to: our address, which is the peer's remote address. */
static void attest(struct tcp *t, const struct address *to, const struct address *from,
                   struct px_ptl_peer *peer)
{
    const struct px_owner_pair theirs = {.local = from->sa, .remote = to->sa};

    if (t->can_attest)
        peer->has_uid = px_owner_probe(&t->owner, &theirs, &peer->uid, &peer->inode) ==
                        PX_OWNER_HELD;
}

static pmix_status_t tcp_accept(void *self, int listen_fd, int *fd,
                                struct px_ptl_peer *peer)
{
    for (;;) {
        struct address from = {.len = sizeof(from.sa)}, to = from;
        PX_AUTOCLOSE int conn = accept4(listen_fd, &from.sa.any, &from.len,
                                        SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (conn < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue; /* the client gave up; others may wait */
        if (conn < 0)
            return px_status_of_errno(errno);
        if (getsockname(conn, &to.sa.any, &to.len) < 0)
            continue;
        *peer = (struct px_ptl_peer){0};
        if (!is_loopback(&to.sa))
            watch_machine(conn); /* of the listener for other machines */
        else if (is_loopback(&from.sa))
            attest(self, &to, &from, peer);
        else
            continue; /* refuse other hosts, even if routing lets them in */
        send_at_once(conn);
        *fd = px_take_fd(&conn);
        return PMIX_SUCCESS;
    }
}

/* ---- the client's end ------------------------------------------------------------ */

/* Waits for a pending connect, and returns its result. */
static pmix_status_t await(int fd, uint64_t deadline_ms)
{
    int error = 0;
    socklen_t len = sizeof(error);
    pmix_status_t rc = px_fd_await(fd, POLLOUT, deadline_ms);

    if (!rc && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    return error ? px_status_of_errno(error) : rc;
}

/* True if the socket is connected to itself. The system may choose the wanted port for
 * our end if no process listens there. */
static bool is_own_echo(int fd)
{
    struct address ours = {.len = sizeof(ours.sa)};
    struct address theirs = {.len = sizeof(theirs.sa)};

    return getsockname(fd, &ours.sa.any, &ours.len) == 0 &&
           getpeername(fd, &theirs.sa.any, &theirs.len) == 0 &&
           ours.len == theirs.len && memcmp(&ours.sa, &theirs.sa, ours.len) == 0;
}

static pmix_status_t tcp_connect(void *self, const char *address, uint64_t timeout_ms,
                                 int *fd)
{
    const uint64_t deadline_ms = px_clock_ms() + timeout_ms;
    const struct tcp *t = self;
    struct address to;

    if (!parse(address, &to))
        return PMIX_ERR_BAD_PARAM;
    if (to.sa.any.sa_family == AF_INET ? t->conf.no_ipv4 : t->conf.no_ipv6)
        return PMIX_ERR_NOT_SUPPORTED;
    if (!t->conf.remote && !is_own(&to.sa, false)) {
        t->services->log(t->services, PX_LOG_WARN,
                         "cannot connect to %s: not an address of this machine "
                         "(ptl_tcp_remote=true permits others)",
                         address);
        return PMIX_ERR_NO_PERMISSIONS;
    }
    PX_AUTOCLOSE int s = socket(to.sa.any.sa_family,
                                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return px_status_of_errno(errno);
    if (connect(s, &to.sa.any, to.len) < 0) {
        if (errno != EINPROGRESS && errno != EINTR)
            return px_status_of_errno(errno);
        pmix_status_t rc = await(s, deadline_ms);
        if (rc)
            return rc;
    }
    if (is_own_echo(s))
        return PMIX_ERR_UNREACH;
    if (!is_loopback(&to.sa))
        watch_machine(s);
    send_at_once(s);
    *fd = px_take_fd(&s);
    return PMIX_SUCCESS;
}

/* Finds the user whose process holds the other socket. While the socket waits to be
 * accepted, the listener will get it. The listener may accept the socket and be
 * replaced between two look-ups. So the socket must still wait after the second
 * look-up. */
static bool find_server(struct px_owner *o, const struct px_owner_pair *theirs,
                        uid_t *uid)
{
    uint64_t inode;
    uid_t listener, holder;
    enum px_owner_state state = px_owner_probe(o, theirs, uid, &inode);

    if (state != PX_OWNER_WAITS ||
        !px_owner_of_listener(o, &theirs->local, &listener) ||
        px_owner_probe(o, theirs, &holder, &inode) != PX_OWNER_WAITS)
        return state == PX_OWNER_HELD;
    *uid = listener;
    return true;
}

/* Finds the server's owner. Opens a source of its own, since t->owner belongs to the
 * loop. A busy kernel may show the other socket a moment later. */
static pmix_status_t tcp_peer(void *self, int fd, struct px_ptl_peer *peer)
{
    const struct timespec moment = {.tv_nsec = PROBE_NS};
    const struct tcp *t = self;
    struct px_owner_pair ours = {0}, theirs;
    socklen_t len[2] = {sizeof(ours.local), sizeof(ours.remote)};
    struct px_owner owner;

    *peer = (struct px_ptl_peer){0};
    if (getsockname(fd, &ours.local.any, &len[0]) < 0 ||
        getpeername(fd, &ours.remote.any, &len[1]) < 0)
        return PMIX_ERR_UNREACH; /* the connection has been closed */
    theirs = (struct px_owner_pair){ours.remote, ours.local};
    bool is_here = is_own(&theirs.local, true);
    if (px_owner_open(&owner, t->conf.attest, &ours)) {
        for (int i = 0; i < (is_here ? MAX_PROBES : 1) && !peer->has_uid; i++) {
            if (i > 0)
                nanosleep(&moment, NULL);
            peer->has_uid = find_server(&owner, &theirs, &peer->uid);
        }
        px_owner_close(&owner);
    }
    return is_here || peer->has_uid ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
}

static const struct px_ptl_ops ops = {
    .listen = tcp_listen,
    .unlisten = tcp_unlisten,
    .accept = tcp_accept,
    .handles = tcp_handles,
    .connect = tcp_connect,
    .peer = tcp_peer,
    .listen_remote = tcp_listen_remote,
};

PX_COMPONENT(ptl, tcp) = {
    PX_COMPONENT_HEAD(ptl, PTL, tcp),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = tcp_open,
    .query = tcp_query,
    .close = tcp_close,
    .ops = &ops,
};
