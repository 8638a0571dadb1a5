/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner of a TCP socket.
 *
 * The kernel shows uid 0 for a socket that no process holds: an orphan that its owner
 * has closed, or a socket in TIME_WAIT. If that counted, any user could connect, claim
 * to be root, and close. So only an established socket with an inode counts. */
#include "owner.h"

#include "core/base/attr.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
    /* Replies to earlier requests may come first. */
    MAX_STALE_ANSWERS = 16,
    /* Entries may move during a read of the table. A second read finds an entry that
     * stays. */
    MAX_PASSES = 2,
};

/* Socket as the kernel shows it. inode 0: no process holds the socket. */
struct entry {
    unsigned state;
    uid_t uid;
    unsigned long inode;
};

/* ---- sock_diag ------------------------------------------------------------------- */

static int open_netlink(void)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    PX_AUTOCLOSE int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                 NETLINK_SOCK_DIAG);

    /* A connected socket gets messages from the kernel only. */
    if (fd < 0 || connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        return -1;
    return px_take_fd(&fd);
}

static in_port_t port_of(const union px_owner_end *end)
{
    return end->any.sa_family == AF_INET6 ? end->v6.sin6_port : end->v4.sin_port;
}

static void copy_address(const union px_owner_end *end, __be32 to[4])
{
    if (end->any.sa_family == AF_INET6)
        memcpy(to, &end->v6.sin6_addr, sizeof(end->v6.sin6_addr));
    else
        to[0] = end->v4.sin_addr.s_addr;
}

/* Requests data about exactly one socket. */
static bool send_question(struct px_owner *o, const struct px_owner_pair *pair)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } question = {
        .head = {.nlmsg_len = sizeof(question),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = ++o->seq},
        .body = {.sdiag_family = (uint8_t)pair->local.any.sa_family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_sport = port_of(&pair->local),
                        .idiag_dport = port_of(&pair->remote),
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };

    copy_address(&pair->local, question.body.id.idiag_src);
    copy_address(&pair->remote, question.body.id.idiag_dst);
    return send(o->netlink, &question, sizeof(question), MSG_DONTWAIT) ==
           (ssize_t)sizeof(question);
}

/* Reads the reply. The kernel replies within send, so a missing reply will not come. */
static bool receive_answer(const struct px_owner *o, struct inet_diag_msg *found)
{
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;

    for (int i = 0; i < MAX_STALE_ANSWERS; i++) {
        ssize_t n = recv(o->netlink, &answer, sizeof(answer), MSG_DONTWAIT);

        if (n < (ssize_t)sizeof(answer.head))
            return false;
        if (answer.head.nlmsg_seq != o->seq)
            continue;
        if (answer.head.nlmsg_type !=
                SOCK_DIAG_BY_FAMILY || /* an error: no such socket */
            !NLMSG_OK(&answer.head, (size_t)n) ||
            answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
            return false;
        memcpy(found, NLMSG_DATA(&answer.head), sizeof(*found));
        return true;
    }
    return false;
}

/* ---- /proc/net/tcp --------------------------------------------------------------- */

/* Prints an end as in /proc/net/tcp: addresses as numbers in memory order. In IPv6 rows
 * an IPv4 address has its IPv6 form. */
static void print_end(char *to, size_t size, const union px_owner_end *end, bool in_v6)
{
    uint32_t n[4] = {0};

    copy_address(end, n);
    if (!in_v6) {
        snprintf(to, size, "%08X:%04X", n[0], ntohs(port_of(end)));
        return;
    }
    if (end->any.sa_family == AF_INET && n[0] != INADDR_ANY) {
        n[3] = n[0];
        n[2] = htonl(0xffff);
        n[0] = 0;
    }
    snprintf(to, size, "%08X%08X%08X%08X:%04X", n[0], n[1], n[2], n[3],
             ntohs(port_of(end)));
}

/* Reads a row: " 3: 0100007F:8F98 0100007F:894F 01 tx:rx tr:when retrnsmt uid timeout
 * inode". */
static bool read_row(const char *row, const char *wanted, struct entry *e)
{
    unsigned state, owner;
    unsigned long inode;
    const char *at = strstr(row, ": ");

    if (!at || strncmp(at + 2, wanted, strlen(wanted)) != 0)
        return false;
    if (sscanf(at + 2 + strlen(wanted), " %x %*x:%*x %*x:%*x %*x %u %*d %lu", &state,
               &owner, &inode) != 3)
        return false;
    *e = (struct entry){state, owner, inode};
    return true;
}

static bool read_table(const char *path, bool v6, const struct px_owner_pair *pair,
                       struct entry *e)
{
    char local[48], remote[48], wanted[100], row[256];
    bool is_found = false;
    FILE *table = fopen(path, "re");
    if (!table)
        return false;

    print_end(local, sizeof(local), &pair->local, v6);
    print_end(remote, sizeof(remote), &pair->remote, v6);
    snprintf(wanted, sizeof(wanted), "%s %s ", local, remote);
    while (!is_found && fgets(row, sizeof(row), table))
        is_found = read_row(row, wanted, e);
    fclose(table);
    return is_found;
}

/* ---- both sources ---------------------------------------------------------------- */

static bool find(struct px_owner *o, const struct px_owner_pair *pair, struct entry *e)
{
    bool v6 = pair->local.any.sa_family == AF_INET6;
    struct inet_diag_msg found;

    for (int pass = 0; o->source != PX_OWNER_SOCK_DIAG && pass < MAX_PASSES; pass++)
        if ((!v6 && read_table("/proc/net/tcp", false, pair, e)) ||
            read_table("/proc/net/tcp6", true, pair, e))
            return true;
    /* Without such a connection the kernel may return a listener on the same port,
     * which has another state and no remote port. Addresses are not compared: an IPv6
     * socket connected to an IPv4 socket shows another form. */
    if (o->source != PX_OWNER_SOCK_DIAG || !send_question(o, pair) ||
        !receive_answer(o, &found) || found.id.idiag_sport != port_of(&pair->local) ||
        found.id.idiag_dport != port_of(&pair->remote))
        return false;
    *e = (struct entry){found.idiag_state, found.idiag_uid, found.idiag_inode};
    return true;
}

static bool is_there(struct px_owner *o, const struct px_owner_pair *own)
{
    struct entry e;

    return find(o, own, &e) && e.inode != 0 &&
           e.state == (port_of(&own->remote) ? TCP_ESTABLISHED : TCP_LISTEN);
}

bool px_owner_open(struct px_owner *o, enum px_owner_source source,
                   const struct px_owner_pair *own)
{
    *o = (struct px_owner){.netlink = -1, .source = PX_OWNER_SOCK_DIAG};
    if (source != PX_OWNER_PROC) {
        o->netlink = open_netlink();
        if (o->netlink >= 0 && is_there(o, own))
            return true;
        px_owner_close(o);
    }
    o->source = PX_OWNER_PROC;
    return source != PX_OWNER_SOCK_DIAG && is_there(o, own);
}

void px_owner_close(struct px_owner *o)
{
    px_drop_fd(&o->netlink);
}

enum px_owner_state px_owner_probe(struct px_owner *o, const struct px_owner_pair *pair,
                                   uid_t *uid, uint64_t *inode)
{
    struct entry e;

    if (!find(o, pair, &e))
        return PX_OWNER_GONE;
    if (e.state == TCP_ESTABLISHED && e.inode != 0) {
        *uid = e.uid;
        *inode = e.inode;
        return PX_OWNER_HELD;
    }
    /* orphans are in other states */
    return e.state == TCP_ESTABLISHED || e.state == TCP_SYN_RECV ? PX_OWNER_WAITS
                                                                 : PX_OWNER_GONE;
}

bool px_owner_of_listener(struct px_owner *o, const union px_owner_end *at, uid_t *uid)
{
    struct px_owner_pair pair = {.local = *at};
    struct entry e;

    pair.remote.any.sa_family = at->any.sa_family;
    if (!find(o, &pair, &e)) { /* sock_diag also finds sockets that listen on all
                                * addresses */
        memset(&pair.local, 0, sizeof(pair.local));
        pair.local.any.sa_family = at->any.sa_family;
        if (at->any.sa_family == AF_INET6)
            pair.local.v6.sin6_port = at->v6.sin6_port;
        else
            pair.local.v4.sin_port = at->v4.sin_port;
        if (!find(o, &pair, &e))
            return false;
    }
    *uid = e.uid;
    return e.state == TCP_LISTEN && e.inode != 0;
}
