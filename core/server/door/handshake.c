/* SPDX-License-Identifier: BSD-3-Clause */
/* The connect message of a client: read without blocking, checked against what the host
 * registered and what the kernel attests, answered. A silent stranger costs one slot
 * for a few seconds and no other connection any time. */
#include "core/rt/log.h"
#include "core/plugin/select.h"
#include "core/server/door/door.h"
#include "core/server/upcall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_HANDSHAKES  128 /* beyond it one has to go: px_handshake_evict */
#define MAX_CONNECTIONS 64  /* of one rank at a time */

struct handshake {
    struct px_list link;
    struct px_server *server;
    int fd;
    struct px_ptl_peer who;
    struct px_watch *watch;
    struct px_timer *timer;
    uint8_t header[PX_HELLO_HEADER_B];
    uint8_t *body;
    size_t have, body_len; /* have: of header, then of body */
    bool in_body;
};

/* (uid_t)-1: the kernel does not say. */
static uid_t uid_of(const struct handshake *h)
{
    return h->who.has_uid ? h->who.uid : (uid_t)-1;
}

static void handshake_end(struct handshake *h)
{
    px_list_remove(&h->link);
    h->server->part.door->n_handshakes--;
    px_watch_free(h->watch);
    px_timer_free(h->timer);
    if (h->fd >= 0)
        close(h->fd);
    free(h->body);
    free(h);
}

static void answer(int fd, pmix_status_t status, const uint32_t *index)
{
    uint32_t words[2] = {htonl((uint32_t)status), index ? htonl(*index) : 0};

    px_door_answer(fd, words, index ? sizeof words : sizeof words[0]);
}

static pmix_status_t check_credential(const struct handshake *h,
                                      const struct px_hello *hello,
                                      const struct px_local *local, struct px_err *err)
{
    const struct px_module *m = px_module_find("psec", hello->psec);

    if (!h->who.has_uid)
        return px_err_set(err, PMIX_ERR_INVALID_CRED,
                          "the kernel does not attest its uid");
    if (h->who.uid != local->uid)
        return px_err_set(err, PMIX_ERR_INVALID_CRED, "uid %u, expected %u",
                          (unsigned)h->who.uid, (unsigned)local->uid);
    if (!m)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "security module \"%s\" is not available", hello->psec);
    const struct px_psec_ops *ops = m->component->ops;
    pmix_status_t rc = ops->validate(m->self, hello->cred, hello->cred_len, local->uid,
                                     local->gid, &h->who);
    if (rc)
        return px_err_set(err, rc, "credential refused by psec/%s", hello->psec);
    return PMIX_SUCCESS;
}

static unsigned n_connections(struct px_server *srv, const struct px_local *local)
{
    unsigned n = 0;

    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        n += p->local == local;
    return n;
}

/* Identity is checked before abilities: a stranger learns nothing about ours. */
static pmix_status_t check_hello(struct handshake *h, const struct px_hello *hello,
                                 struct px_local **local, struct px_err *err)
{
    if (!px_nspace_find(px_process.model, hello->proc.nspace))
        return px_err_set(err, PMIX_ERR_NOT_FOUND, "no such namespace");
    *local = px_local_find(h->server, &hello->proc);
    if (!*local)
        return px_err_set(err, PMIX_ERR_NOT_FOUND, "no such rank here");
    pmix_status_t rc = check_credential(h, hello, *local, err);
    if (rc)
        return rc;
    if (!px_dialect_find(hello->dialect))
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "dialect \"%s\" is not spoken",
                          hello->dialect);
    if (!px_store_of_peer(hello->gds))
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "datastore \"%s\" is not served",
                          hello->gds);
    if (n_connections(h->server, *local) >= MAX_CONNECTIONS)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                          "it has %d connections already", MAX_CONNECTIONS);
    return PMIX_SUCCESS;
}

/* The host does not want the process; it is asked again when the next one comes by that
 * name. */
static void turn_away(struct px_peer *peer, pmix_status_t why)
{
    px_log(PX_LOG_WARN, "server", "the host refused %s.%u: %s", peer->proc.nspace,
           peer->proc.rank, PMIx_Error_string(why));
    if (peer->local)
        peer->local->connected = false;
    px_server_peer_lost(peer->server, peer, PMIX_SUCCESS);
}

static void on_host_answer(void *arg, const struct px_upcall *answer)
{
    struct px_peer *peer = arg;

    if (answer->status && !peer->gone && !peer->server->stopping)
        turn_away(peer, answer->status);
    px_peer_unref(peer);
}

static pmix_status_t ask_host(struct px_server *srv, struct px_peer *peer)
{
    struct px_upcall *u = px_upcall_new(on_host_answer, peer);
    pmix_status_t rc;

    if (!u)
        return PMIX_ERR_NOMEM;
    px_peer_ref(peer);
    u->proc = peer->proc;
    rc = srv->module.client_connected2(&u->proc, peer->local->object, NULL, 0,
                                       px_upcall_op_cb, u);
    px_upcall_returned(u, rc);
    return rc;
}

/* Notifies the host once per rank. Its callback may come late or never (older hosts
 * ignore it), so the client is not made to wait; a refusal that comes later closes the
 * connection. */
static pmix_status_t notify_host(struct px_server *srv, struct px_peer *peer)
{
    struct px_local *local = peer->local;
    pmix_status_t rc = PMIX_SUCCESS;

    if (local->connected)
        return PMIX_SUCCESS;
    local->connected = true;
    if (srv->module.client_connected2)
        rc = ask_host(srv, peer);
    else if (srv->module.client_connected)
        /* Hosts of this older slot answer by the return value and often never call
         * back. */
        rc = srv->module.client_connected(&peer->proc, local->object, NULL, NULL);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

static void welcome(struct handshake *h, const struct px_hello *hello,
                    struct px_local *local)
{
    struct px_server *srv = h->server;
    struct px_peer *peer;

    px_watch_free(h->watch);
    h->watch = NULL;
    peer = px_peer_create(srv, h->fd, &h->who, hello);
    if (!peer) {
        answer(h->fd, PMIX_ERR_NOMEM, NULL);
        return;
    }
    peer->local = local;
    peer->uid = local->uid;
    /* Hosts may not know it. */
    peer->gid = local->gid == (gid_t)-1 && h->who.has_gid ? h->who.gid : local->gid;
    px_peer_ref(peer); /* the host may deregister it from within */
    px_list_append(&srv->peers, &peer->link);
    local->n_peers++;
    local->finalized = local->lost = false;
    PX_PARTS_NOTIFY(srv, peer_here, peer);
    pmix_status_t rc = notify_host(srv, peer);
    if (!peer->gone)
        answer(h->fd, rc, rc ? NULL : &peer->pindex);
    h->fd = -1; /* the connection's now */
    if (rc && !peer->gone)
        turn_away(peer, rc);
    px_peer_unref(peer);
}

static void handshake_whole(struct handshake *h)
{
    struct px_hello hello = {0};
    struct px_local *local = NULL;
    struct px_err err = {0};
    pmix_status_t rc = px_hello_decode(h->body, h->body_len, &hello, &err);

    bool is_tool = !rc && px_tool_is(&hello);

    if (!rc)
        rc = is_tool ? px_tool_check(h->server, &hello, &h->who, &err)
                     : check_hello(h, &hello, &local, &err);
    if (rc) {
        px_log_limited(h->server->part.door->rate, uid_of(h), rc, "server",
                       "connection refused: %s.%u (uid %ld): %s",
                       hello.proc.nspace[0] ? hello.proc.nspace : "unknown",
                       hello.proc.rank, (long)(int32_t)uid_of(h), err.text);
        answer(h->fd, rc, NULL);
    } else if (is_tool) {
        px_watch_free(h->watch);
        h->watch = NULL;
        px_tool_visit(h->server, h->fd, &h->who, &hello);
        h->fd = -1;
    } else {
        welcome(h, &hello, local);
    }
    px_hello_fini(&hello);
    handshake_end(h);
}

/* True when the header is whole and acceptable, and the body has a place to go. */
static bool handshake_header(struct handshake *h)
{
    if (px_hello_header(h->header, &h->body_len) || h->body_len == 0) {
        px_log_limited(h->server->part.door->rate, uid_of(h), PMIX_ERR_BAD_PARAM,
                       "server", "connection refused: not a connect message (uid %ld)",
                       (long)(int32_t)uid_of(h));
        return false;
    }
    h->body = malloc(h->body_len);
    h->in_body = true;
    h->have = 0;
    return h->body != NULL;
}

static void on_bytes(void *arg, int fd, unsigned events PX_UNUSED)
{
    struct handshake *h = arg;

    for (;;) {
        uint8_t *to = (h->in_body ? h->body : h->header) + h->have;
        size_t want = (h->in_body ? h->body_len : sizeof h->header) - h->have;
        ssize_t n = recv(fd, to, want, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            handshake_end(h);
            return;
        }
        h->have += (size_t)n;
        if ((size_t)n < want)
            continue;
        if (h->in_body) {
            handshake_whole(h);
            return;
        }
        if (!handshake_header(h)) {
            handshake_end(h);
            return;
        }
    }
}

static void on_slow(void *arg)
{
    struct handshake *h = arg;

    px_log_limited(h->server->part.door->rate, uid_of(h), PMIX_ERR_TIMEOUT, "server",
                   "connection dropped: no connect message within %llu ms (uid %ld)",
                   (unsigned long long)h->server->conf.handshake_timeout,
                   (long)(int32_t)uid_of(h));
    handshake_end(h);
}

void px_handshake_start(struct px_server *srv, int fd, const struct px_ptl_peer *who)
{
    struct handshake *h = calloc(1, sizeof *h);

    if (!h) {
        close(fd);
        return;
    }
    h->server = srv;
    h->fd = fd;
    h->who = *who;
    px_list_append(&srv->part.door->handshakes, &h->link);
    srv->part.door->n_handshakes++;
    h->watch = px_watch_create(px_process.loop, fd, PX_READABLE, on_bytes, h);
    h->timer = px_timer_create(px_process.loop, on_slow, h);
    if (!h->watch || !h->timer) {
        handshake_end(h);
        return;
    }
    px_timer_set(h->timer, srv->conf.handshake_timeout);
    if (srv->part.door->n_handshakes > MAX_HANDSHAKES)
        px_handshake_evict(srv);
}

static bool same_user(const struct handshake *a, const struct handshake *b)
{
    return a->who.has_uid == b->who.has_uid && a->who.uid == b->who.uid;
}

static unsigned n_of_user(struct px_server *srv, const struct handshake *h)
{
    unsigned n = 0;

    PX_LIST_EACH (&srv->part.door->handshakes, struct handshake, other, link)
        n += same_user(other, h);
    return n;
}

void px_handshake_evict(struct px_server *srv)
{
    struct handshake *victim = NULL;
    unsigned most = 0;

    /* A user who opens connections without end crowds out only those. The list is in
     * the order they came. */
    PX_LIST_EACH (&srv->part.door->handshakes, struct handshake, h, link) {
        unsigned n = n_of_user(srv, h);

        if (n > most) {
            most = n;
            victim = h;
        }
    }
    if (victim)
        handshake_end(victim);
}

void px_handshakes_stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.door->handshakes, struct handshake, h, link)
        handshake_end(h);
}
