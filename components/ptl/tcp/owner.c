/* SPDX-License-Identifier: BSD-3-Clause */
/* Who owns a TCP socket.
 *
 * The kernel gives uid 0 to a socket that no process holds any more: an orphan whose
 * owner closed it, or what is left in TIME_WAIT. Believing that would let anybody
 * connect, claim to be root, and close. So only an established socket that still has an
 * inode counts. */
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
    /* Answers to a question that was given up may come first. */
    MAX_STALE_ANSWERS = 16,
    /* While the table is being read, entries move; one that stays is met the next
     * time. */
    MAX_PASSES = 2,
};

/* ---- sock_diag ------------------------------------------------------------------- */

static int open_netlink(void)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    PX_AUTOCLOSE int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                 NETLINK_SOCK_DIAG);

    /* Connected, it takes messages from the kernel only. */
    if (fd < 0 || connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        return -1;
    return px_take_fd(&fd);
}

/* Asks for exactly one socket. */
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
        .body = {.sdiag_family = AF_INET,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_sport = pair->local.sin_port,
                        .idiag_dport = pair->remote.sin_port,
                        .idiag_src = {pair->local.sin_addr.s_addr},
                        .idiag_dst = {pair->remote.sin_addr.s_addr},
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };

    return send(o->netlink, &question, sizeof(question), MSG_DONTWAIT) ==
           (ssize_t)sizeof(question);
}

/* The kernel answers within send, so what is not there by now does not come. */
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
                SOCK_DIAG_BY_FAMILY || /* an error: there is none */
            !NLMSG_OK(&answer.head, (size_t)n) ||
            answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
            return false;
        memcpy(found, NLMSG_DATA(&answer.head), sizeof(*found));
        return true;
    }
    return false;
}

/* For want of that connection the kernel may offer a listener on the same port: its
 * state tells. The ports are compared, the addresses not: those of an IPv6 socket that
 * talks to an IPv4 one come in another form. */
static bool ask_diag(struct px_owner *o, const struct px_owner_pair *pair,
                     uint8_t state, uid_t *uid)
{
    struct inet_diag_msg found;

    if (!send_question(o, pair) || !receive_answer(o, &found))
        return false;
    if (found.idiag_state != state || found.idiag_inode == 0 ||
        found.id.idiag_sport != pair->local.sin_port ||
        found.id.idiag_dport != pair->remote.sin_port)
        return false;
    *uid = found.idiag_uid;
    return true;
}

/* ---- /proc/net/tcp --------------------------------------------------------------- */

/* A row: "  3: 0100007F:8F98 0100007F:894F 01 tx:rx tr:when retrnsmt uid timeout
 * inode". Addresses are printed as the number they are in memory. */
static bool read_row(const char *row, const char *wanted, uid_t *uid)
{
    unsigned owner;
    unsigned long inode;
    const char *at = strstr(row, ": ");

    if (!at || strncmp(at + 2, wanted, strlen(wanted)) != 0)
        return false;
    if (sscanf(at + 2 + strlen(wanted), " %*x:%*x %*x:%*x %*x %u %*d %lu", &owner,
               &inode) != 2 ||
        inode == 0)
        return false;
    *uid = owner;
    return true;
}

static bool read_table(const struct px_owner_pair *pair, uint8_t state, uid_t *uid)
{
    char wanted[64];
    char row[256];
    bool is_found = false;
    FILE *table = fopen("/proc/net/tcp", "re");
    if (!table)
        return false;

    snprintf(wanted, sizeof(wanted), "%08X:%04X %08X:%04X %02X ",
             pair->local.sin_addr.s_addr, ntohs(pair->local.sin_port),
             pair->remote.sin_addr.s_addr, ntohs(pair->remote.sin_port), state);
    while (!is_found && fgets(row, sizeof(row), table))
        is_found = read_row(row, wanted, uid);
    fclose(table);
    return is_found;
}

/* ---- both ------------------------------------------------------------------------ */

static bool find(struct px_owner *o, const struct px_owner_pair *pair, uint8_t state,
                 uid_t *uid)
{
    bool is_found = false;

    if (o->source == PX_OWNER_SOCK_DIAG)
        return ask_diag(o, pair, state, uid);
    for (int pass = 0; !is_found && pass < MAX_PASSES; pass++)
        is_found = read_table(pair, state, uid);
    return is_found;
}

bool px_owner_open(struct px_owner *o, enum px_owner_source source,
                   const struct sockaddr_in *listener)
{
    const struct px_owner_pair self = {.local = *listener};
    uid_t uid;

    *o = (struct px_owner){.netlink = -1, .source = PX_OWNER_SOCK_DIAG};
    if (source != PX_OWNER_PROC) {
        o->netlink = open_netlink();
        if (o->netlink >= 0 && find(o, &self, TCP_LISTEN, &uid))
            return true;
        px_owner_close(o);
    }
    o->source = PX_OWNER_PROC;
    return source != PX_OWNER_SOCK_DIAG && find(o, &self, TCP_LISTEN, &uid);
}

void px_owner_close(struct px_owner *o)
{
    if (o->netlink >= 0)
        close(o->netlink);
    o->netlink = -1;
}

bool px_owner_find(struct px_owner *o, const struct px_owner_pair *pair, uid_t *uid)
{
    return find(o, pair, TCP_ESTABLISHED, uid);
}
