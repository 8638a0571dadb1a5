/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect messages of clients and tools: read without blocking, checked against the
 * host's registrations and the kernel's attestation, answered. A silent stranger
 * occupies one slot for a few seconds and delays no other connection. The host names or
 * refuses a tool. */
#include "core/link/conn.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/role/security.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/door/remote.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/rpc.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_HANDSHAKES  128 /* beyond it, one is ended: px_handshake_evict */
#define MAX_CONNECTIONS 64  /* of one rank at a time */
#define MAX_VISITS      64  /* tools without the host's answer yet */

struct handshake {
    struct px_list link; /* in px_door.handshakes; in no list: a tool that waits for the
                          * host's answer */
    struct px_server *server;
    bool is_remote; /* of another machine */
    bool is_ours;   /* a tool of this library */
    int fd;
    struct px_ptl_peer who;
    struct px_remote_check check; /* of a remote tool's credential */
    struct px_watch *watch;
    struct px_timer *timer;
    uint8_t header[PX_HELLO_HEADER_B];
    uint8_t *body;
    size_t have, body_len; /* have: bytes of header, then of body */
    bool in_body;
    struct px_hello hello;
};

/* Returns the peer's uid, or -1 if neither the kernel nor a credential proves it. */
static uid_t uid_of(const struct handshake *h)
{
    return h->who.has_uid ? h->who.uid : (uid_t)-1;
}

static void handshake_end(struct handshake *h)
{
    struct px_door *door = h->server->part.door;

    --*(px_list_linked(&h->link) ? &door->n_handshakes : &door->n_visits);
    px_list_remove(&h->link);
    px_remote_cancel(door->remote, &h->check);
    px_watch_free(h->watch);
    px_timer_free(h->timer);
    if (h->fd >= 0)
        close(h->fd);
    px_hello_fini(&h->hello);
    free(h->body);
    free(h);
}

static void on_slow(void *arg)
{
    struct handshake *h = arg;

    px_log_limited(h->server->part.door->rate, uid_of(h), PMIX_ERR_TIMEOUT, "server",
                   "connection dropped: no %s within %llu ms (uid %ld)",
                   h->check.done ? "answer about its credential" : "connect message",
                   (unsigned long long)h->server->conf.handshake_timeout,
                   (long)(int32_t)uid_of(h));
    handshake_end(h);
}

static void answer(int fd, pmix_status_t status, const uint32_t *index)
{
    uint32_t words[2] = {htonl((uint32_t)status), index ? htonl(*index) : 0};

    px_door_answer(fd, words, index ? sizeof(words) : sizeof(words[0]));
}

/* Replies with STATUS, the name given to a tool without one, the server's name, and 0,
 * in network order. */
static void answer_tool(const struct handshake *h, pmix_status_t status,
                        const pmix_proc_t *name)
{
    const pmix_proc_t *procs[] = {h->hello.has_proc ? NULL : name, &h->server->proc};
    uint8_t bytes[2 * sizeof(pmix_proc_t) + 2 * sizeof(uint32_t)] = {0};
    uint32_t word = htonl((uint32_t)status);
    size_t n = sizeof(word);

    memcpy(bytes, &word, sizeof(word));
    for (size_t i = 0; !status && i < PX_COUNT(procs); i++) {
        if (!procs[i])
            continue;
        memcpy(bytes + n, procs[i]->nspace, sizeof(procs[i]->nspace));
        n += sizeof(procs[i]->nspace);
        word = htonl(procs[i]->rank);
        memcpy(bytes + n, &word, sizeof(word));
        n += sizeof(word);
    }
    px_door_answer(h->fd, bytes, status ? n : n + sizeof(word));
}

static pmix_status_t check_credential(const struct handshake *h, uid_t uid, gid_t gid,
                                      struct px_err *err)
{
    const struct px_hello *hello = &h->hello;
    char *const names[] = {(char *)(uintptr_t)hello->psec, NULL};
    const struct px_module *m = px_security_find(names);

    /* Tools of other libraries name MUNGE wherever its daemon runs. Asking the daemon
     * may take long, and the kernel attests the user anyway. */
    if (!m && strcmp(hello->psec, "munge") == 0 && h->who.has_uid && h->who.uid == uid)
        return PMIX_SUCCESS;
    if (!m)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "security module \"%s\" is not available", hello->psec);
    const struct px_psec_ops *ops = m->component->ops;
    pmix_status_t rc = ops->validate(m->self, hello->cred, hello->cred_len, uid, gid,
                                     &h->who);
    return rc ? px_err_set(err, rc, "credential refused by psec/%s", hello->psec)
              : PMIX_SUCCESS;
}

static pmix_status_t check_dialect(const struct handshake *h, struct px_err *err)
{
    return px_dialect_find(h->hello.dialect)
               ? PMIX_SUCCESS
               : px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                            "dialect \"%s\" is not supported", h->hello.dialect);
}

/* ---- clients --------------------------------------------------------------------- */

/* Checks a client. Identity comes first: a stranger learns nothing about this server's
 * abilities. */
static pmix_status_t check_client(const struct handshake *h, struct px_local **local,
                                  struct px_err *err)
{
    const struct px_hello *hello = &h->hello;
    const struct px_ptl_peer *who = &h->who;
    unsigned n = 0;

    if (!px_nspace_find(h->server->model, hello->proc.nspace))
        return px_err_set(err, PMIX_ERR_NOT_FOUND, "no such namespace");
    *local = px_local_find(h->server, &hello->proc);
    if (!*local)
        return px_err_set(err, PMIX_ERR_NOT_FOUND, "no such rank here");
    if (!who->has_uid)
        return px_err_set(err, PMIX_ERR_INVALID_CRED,
                          "the kernel does not attest its uid");
    if (who->uid != (*local)->uid)
        return px_err_set(err, PMIX_ERR_INVALID_CRED, "uid %u, expected %u",
                          (unsigned)who->uid, (unsigned)(*local)->uid);
    pmix_status_t rc = check_credential(h, (*local)->uid, (*local)->gid, err);
    if (!rc)
        rc = check_dialect(h, err);
    if (rc)
        return rc;
    /* A singleton, like a tool, chooses its datastore before it knows a server. The
     * server sends it data in messages. */
    if (hello->flag != PX_FLAG_SINGLETON && !px_store_of_peer(hello->gds))
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "datastore \"%s\" is not supported", hello->gds);
    PX_LIST_EACH (&h->server->peers, struct px_peer, p, link)
        n += p->local == *local;
    if (n >= MAX_CONNECTIONS)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                          "it has %d connections already", MAX_CONNECTIONS);
    return PMIX_SUCCESS;
}

/* Closes a connection that the host refused. The host is asked again at the next
 * connection of that name. */
static void turn_client_away(struct px_peer *peer, pmix_status_t why)
{
    px_log(PX_LOG_WARN, "server", "the host refused %s.%u: %s", peer->proc.nspace,
           peer->proc.rank, PMIx_Error_string(why));
    if (peer->local)
        peer->local->connected = false;
    px_server_peer_lost(peer->server, peer, PMIX_SUCCESS);
}

static void on_client_answer(void *arg, const struct px_upcall *answer)
{
    struct px_peer *peer = arg;

    if (answer->status && !peer->gone && !peer->server->stopping)
        turn_client_away(peer, answer->status);
    px_peer_unref(peer);
}

static pmix_status_t ask_host(struct px_server *srv, struct px_peer *peer)
{
    struct px_upcall *u = px_upcall_new(srv, on_client_answer, peer);
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

/* Notifies the host once per rank. The host may call back late or never (older hosts
 * ignore the callback), so the client does not wait. A later refusal closes the
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
        /* Hosts with this older slot answer by the return value, and often never call
         * back. */
        rc = srv->module.client_connected(&peer->proc, local->object, NULL, NULL);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

pmix_status_t px_door_join(struct px_server *srv, struct px_peer *peer,
                           struct px_local *local)
{
    peer->uid = local->uid;
    px_list_append(&srv->peers, &peer->link);
    px_local_join(local, peer);
    PX_PARTS_NOTIFY(srv, peer_here, peer);
    return notify_host(srv, peer);
}

/* True for a client that expects the answer to a tool: a singleton of OpenPMIx before
 * release 5.0.9, or of 6.0. */
static bool reads_as_tool(const struct px_hello *hello)
{
    const struct px_version *v = &hello->version;

    return hello->flag == PX_FLAG_SINGLETON &&
           (!px_version_since(v, 5, 0, 9) ||
            (px_version_since(v, 6, 0, 0) && !px_version_since(v, 6, 1, 0)));
}

static void answer_client(const struct handshake *h, pmix_status_t status,
                          const struct px_peer *peer)
{
    if (reads_as_tool(&h->hello))
        answer_tool(h, status, NULL);
    else
        answer(h->fd, status, status ? NULL : &peer->pindex);
}

static void welcome(struct handshake *h, struct px_local *local)
{
    struct px_server *srv = h->server;
    struct px_peer *peer;

    px_watch_free(h->watch);
    h->watch = NULL;
    peer = px_peer_create(srv, h->fd, &h->who, &h->hello);
    if (!peer) {
        answer(h->fd, PMIX_ERR_NOMEM, NULL);
        return;
    }
    /* Hosts may not know the gid. */
    peer->gid = local->gid == (gid_t)-1 && h->who.has_gid ? h->who.gid : local->gid;
    px_peer_ref(peer); /* the host may deregister the client within the upcall */
    pmix_status_t rc = px_door_join(srv, peer, local);
    if (!peer->gone)
        answer_client(h, rc, peer);
    h->fd = -1; /* now the connection's */
    if (rc && !peer->gone)
        turn_client_away(peer, rc);
    px_peer_unref(peer);
}

/* ---- tools ----------------------------------------------------------------------- */

/* Checks that a tool's name is not this server's, and not registered by the host for
 * another user. A process that the host has registered is on this machine. */
static pmix_status_t check_name(const struct handshake *h, struct px_err *err)
{
    const struct px_hello *hello = &h->hello;
    struct px_server *srv = h->server;
    uid_t uid = h->who.uid;
    const struct px_nspace *ns = px_nspace_find(srv->model, hello->proc.nspace);
    const struct px_local *local = px_local_find(srv, &hello->proc);
    const struct px_peer *peer = px_peer_find(srv, &hello->proc);

    if (!hello->proc.nspace[0] || hello->proc.rank > PMIX_RANK_VALID)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "invalid name");
    if (strcmp(hello->proc.nspace, srv->proc.nspace) == 0)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "that is the server's name");
    if (local ? local->uid != uid || (h->is_remote && !local->of_tool)
              : ns && ns->hosted)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "the name does not belong to a process of uid %u here",
                          (unsigned)uid);
    if (peer && peer->uid != uid)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "uid %u has that name",
                          (unsigned)peer->uid);
    return PMIX_SUCCESS;
}

/* True if the host has registered the tool as a client, and so admits the tool. */
static bool is_registered(const struct handshake *h)
{
    const struct px_local *local = h->hello.has_proc
                                       ? px_local_find(h->server, &h->hello.proc)
                                       : NULL;

    return !h->is_remote && local && !local->of_tool && h->who.has_uid &&
           local->uid == h->who.uid;
}

/* True if a tool is the server's user, or root on another machine. Root there can make
 * credentials of any user. */
static bool is_own_user(const struct handshake *h)
{
    return h->who.uid == geteuid() || (h->is_remote && h->who.uid == 0);
}

static pmix_status_t check_tool(const struct handshake *h, struct px_err *err)
{
    const struct px_door *door = h->server->part.door;
    const struct px_hello *hello = &h->hello;
    const struct px_ptl_peer *who = &h->who;
    const bool known = is_registered(h);
    pmix_status_t rc;

    if ((!door->tools && !known) || hello->flag == PX_FLAG_TOOL_LEGACY ||
        hello->flag == PX_FLAG_LAUNCHER_LEGACY)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "role %u is not served",
                          hello->flag);
    if (!who->has_uid || who->uid != hello->uid)
        return px_err_set(err, PMIX_ERR_INVALID_CRED, "%s does not confirm its uid",
                          h->is_remote ? "the credential" : "the kernel");
    if (!is_own_user(h) && !door->tools_foreign && !known)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "tools of other users are not allowed");
    rc = h->is_remote ? PMIX_SUCCESS : check_credential(h, who->uid, (gid_t)-1, err);
    if (!rc && hello->has_proc)
        rc = check_name(h, err);
    if (!rc)
        rc = check_dialect(h, err);
    if (rc)
        return rc;
    if (door->n_visits >= MAX_VISITS)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE, "too many tools wait");
    return PMIX_SUCCESS;
}

static void turn_away(struct handshake *h, pmix_status_t why)
{
    px_log_limited(h->server->part.door->rate, h->who.uid, why, "server",
                   "tool of uid %u refused: %s", (unsigned)h->who.uid,
                   PMIx_Error_string(why));
    answer_tool(h, why, NULL);
    handshake_end(h);
}

/* Registers a job of one process for a tool, unless the host has registered its job.
 * The tool, and a job that the tool spawns, read its size. */
static void describe_job(const struct handshake *h, const pmix_proc_t *name)
{
    PX_AUTO(px_infos) infos = {0};
    struct px_model *m = h->server->model;
    struct px_nspace *ns = NULL;

    if (px_nspace_find(m, name->nspace) || name->rank >= PMIX_RANK_VALID)
        return;
    pmix_status_t rc = px_server_describe_one(h->server, name->rank, h->who.uid,
                                              &infos);
    if (!rc)
        rc = px_nspace_get(m, name->nspace, &ns);
    if (!rc)
        rc = px_jobinfo_register(m, ns, infos.v, infos.n, NULL);
    if (!rc) {
        ns->of_tool = ns->complete = true;
        return;
    }
    px_nspace_remove(m, ns);
    px_log(PX_LOG_WARN, "server", "cannot describe the job of tool %s.%u: %s",
           name->nspace, name->rank, PMIx_Error_string(rc));
}

/* Gives a tool its rank: the registered one, or a new one in a job of tools, or in a
 * job of which the host has registered no such rank. */
static void give_rank(const struct handshake *h, struct px_peer *peer)
{
    struct px_nspace *ns = px_nspace_find(h->server->model, peer->proc.nspace);
    struct px_local *local = px_local_find(h->server, &peer->proc);

    if (!local && ns && (ns->of_tool || ns->hosted) &&
        peer->proc.rank < PMIX_RANK_VALID) {
        local = px_local_get(ns, peer->proc.rank);
        if (!local) {
            px_conn_fail(peer->conn, PMIX_ERR_NOMEM);
            return;
        }
        local->uid = peer->uid;
        local->gid = peer->gid;
        local->of_tool = local->end_reported = true;
    }
    if (local && local->uid == peer->uid)
        px_local_join(local, peer);
}

void px_door_peer_gone(struct px_server *srv, struct px_peer *peer)
{
    struct px_nspace *ns = peer->tool ? px_nspace_find(srv->model, peer->proc.nspace)
                                      : NULL;

    if (peer->local && peer->local->of_tool && peer->local->n_peers == 0) {
        if (!srv->stopping)
            PX_PARTS_NOTIFY(srv, local_gone, peer->local);
        px_local_free(srv, px_take(&peer->local));
    }
    if (!ns || !px_nspace_is_tools(ns))
        return;
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (strcmp(p->proc.nspace, ns->name) == 0)
            return;
    if (!srv->stopping)
        PX_PARTS_NOTIFY(srv, nspace_gone, ns->name, ns);
    px_nspace_remove(srv->model, ns);
}

/* Returns the tool's group, or -1. Over TCP the kernel attests no group, and a claimed
 * group does not count. */
static gid_t gid_of(const struct handshake *h)
{
    return h->who.has_gid            ? h->who.gid
           : h->who.uid == geteuid() ? getegid()
                                     : (gid_t)-1;
}

static void let_in(struct handshake *h, const pmix_proc_t *name)
{
    struct px_peer *peer = px_peer_create(h->server, h->fd, &h->who, &h->hello);

    if (!peer) {
        turn_away(h, PMIX_ERR_NOMEM);
        return;
    }
    peer->tool = true;
    peer->is_ours = h->is_ours;
    peer->proc = *name;
    peer->uid = h->who.uid;
    peer->gid = gid_of(h);
    px_list_append(&h->server->peers, &peer->link);
    describe_job(h, name);
    give_rank(h, peer);
    PX_PARTS_NOTIFY(h->server, peer_here, peer);
    answer_tool(h, PMIX_SUCCESS, name);
    h->fd = -1; /* now the connection's */
    handshake_end(h);
}

static void on_tool_answer(void *arg, const struct px_upcall *host)
{
    struct handshake *h = arg;
    pmix_proc_t name = h->hello.proc;

    if (!host->status && !h->hello.has_proc)
        name = host->name;
    pmix_status_t rc = host->status;

    /* The host may have registered the name during the call. */
    if (!rc && h->hello.has_proc)
        rc = check_name(h, NULL);
    if (rc || h->server->stopping)
        turn_away(h, rc ? rc : PMIX_ERR_LOST_CONNECTION);
    else if (!name.nspace[0])
        turn_away(h, PMIX_ERR_NOT_FOUND); /* the host has not named the tool */
    else
        let_in(h, &name);
}

/* Takes the tool's own infos, except those that the server knows itself. */
static void take_own(struct handshake *h, px_infos *out)
{
    static const char *const known[] = {PMIX_NSPACE,  PMIX_RANK,    PMIX_VERSION_INFO,
                                        PMIX_USERID,  PMIX_GRPID,   PMIX_REALUID,
                                        PMIX_REALGID, PX_HELLO_OURS};
    struct px_codec codec = {.dialect = px_dialect_find(h->hello.dialect),
                             .described = h->hello.described};
    px_reader r;

    px_reader_init(&r, codec, h->hello.blob, h->hello.blob_len);
    if (!h->hello.blob || px_unpack_infos(&r, &out->v, &out->n))
        return; /* older tools append other data */
    out->cap = out->n;
    h->is_ours = px_info_flag(out->v, out->n, PX_HELLO_OURS);
    for (size_t i = 0; i < PX_COUNT(known); i++)
        px_infos_drop(out, known[i]);
}

static pmix_status_t describe(struct handshake *h, px_infos *out)
{
    const struct px_hello *hello = &h->hello;
    const pmix_proc_t *proc = hello->has_proc ? &hello->proc : NULL;
    const gid_t gid = gid_of(h);
    const struct px_fact facts[] = {
        {PMIX_VERSION_INFO, hello->version_text, PMIX_STRING},
        {PMIX_USERID, &h->who.uid, PMIX_UINT32},
        {PMIX_GRPID, gid == (gid_t)-1 ? NULL : &gid, PMIX_UINT32},
        {PMIX_NSPACE, proc ? proc->nspace : NULL, PMIX_STRING},
        {PMIX_RANK, proc ? &proc->rank : NULL, PMIX_PROC_RANK},
    };

    take_own(h, out);
    return px_facts_add(out, facts, PX_COUNT(facts));
}

/* Asks the host about a tool. Ends the handshake, perhaps later. */
static void ask_about(struct handshake *h)
{
    const pmix_server_module_t *m = &h->server->module;
    struct px_upcall *u = px_upcall_new(h->server, on_tool_answer, h);
    pmix_status_t rc = u ? describe(h, &u->args.info) : PMIX_ERR_NOMEM;

    px_list_remove(&h->link);
    h->server->part.door->n_handshakes--;
    h->server->part.door->n_visits++;
    px_watch_free(px_take(&h->watch));
    px_timer_free(px_take(&h->timer));
    free(px_take(&h->body));
    if (!rc && !m->tool_connected2 && !m->tool_connected && !is_registered(h))
        rc = PMIX_ERR_NOT_SUPPORTED; /* the host cannot decide about tools */
    if (rc) {
        px_upcall_drop(u);
        turn_away(h, rc);
        return;
    }
    if (!m->tool_connected2 && !m->tool_connected)
        px_upcall_tool_cb(PMIX_SUCCESS, &h->hello.proc, u);
    else if (m->tool_connected2)
        px_upcall_returned(u, m->tool_connected2(u->args.info.v, u->args.info.n,
                                                 px_upcall_tool_cb, u));
    else
        m->tool_connected(u->args.info.v, u->args.info.n, px_upcall_tool_cb, u);
}

/* ---- tools on other machines ----------------------------------------------------- */

/* Checks what needs no credential. Only tools connect from other machines: clients and
 * singletons are processes of this machine. */
static pmix_status_t check_remote(const struct handshake *h, struct px_err *err)
{
    const struct px_hello *hello = &h->hello;

    if (hello->flag != PX_FLAG_TOOL_NEEDS_ID && hello->flag != PX_FLAG_TOOL_HAS_ID &&
        hello->flag != PX_FLAG_LAUNCHER_NEEDS_ID &&
        hello->flag != PX_FLAG_LAUNCHER_HAS_ID)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "role %u is not served on other machines", hello->flag);
    if (strcmp(hello->psec, px_security_remote()->component->name) != 0)
        return px_err_set(err, PMIX_ERR_INVALID_CRED,
                          "psec/%s does not prove users of other machines",
                          hello->psec);
    return PMIX_SUCCESS;
}

static void on_checked(struct px_remote_check *c, pmix_status_t rc, uid_t uid,
                       gid_t gid);

/* Has the credential checked. on_checked goes on. The time limit of the handshake
 * remains. */
static pmix_status_t begin_check(struct handshake *h, struct px_err *err)
{
    struct px_door *door = h->server->part.door;
    pmix_status_t rc = check_remote(h, err);

    if (rc)
        return rc;
    px_watch_free(px_take(&h->watch));
    if (!h->timer) {
        h->timer = px_timer_create(h->server->loop, on_slow, h);
        if (!h->timer)
            return px_err_nomem(err, "check a credential");
        px_timer_set(h->timer, h->server->conf.handshake_timeout);
    }
    h->check = (struct px_remote_check){
        .cred = h->hello.cred, .cred_b = h->hello.cred_len, .done = on_checked};
    rc = px_remote_check(door->remote, &h->check);
    return rc ? px_err_set(err, rc, "not a credential") : PMIX_SUCCESS;
}

/* ---- the message ----------------------------------------------------------------- */

/* Refuses or admits a process, whose message was read with this result. */
static void decide(struct handshake *h, pmix_status_t rc, struct px_err *err)
{
    const struct px_hello *hello = &h->hello;
    struct px_local *local = NULL;
    bool is_tool = hello->flag != PX_FLAG_CLIENT && hello->flag != PX_FLAG_SINGLETON;

    if (!rc)
        rc = is_tool ? check_tool(h, err) : check_client(h, &local, err);
    if (!rc && is_tool) {
        ask_about(h);
        return;
    }
    if (rc) {
        px_log_limited(h->server->part.door->rate, uid_of(h), rc, "server",
                       "connection refused: %s.%u (uid %ld): %s",
                       hello->proc.nspace[0] ? hello->proc.nspace : "unknown",
                       hello->proc.rank, (long)(int32_t)uid_of(h), err->text);
        answer(h->fd, rc, NULL);
    } else {
        welcome(h, local);
    }
    handshake_end(h);
}

static void on_checked(struct px_remote_check *c, pmix_status_t rc, uid_t uid,
                       gid_t gid)
{
    struct handshake *h = PX_CONTAINER_OF(c, struct handshake, check);
    struct px_err err = {0};

    if (rc)
        px_err_set(&err, rc, "credential refused by psec/%s: %s", h->hello.psec,
                   PMIx_Error_string(rc));
    else
        h->who = (struct px_ptl_peer){
            .has_uid = true, .uid = uid, .has_gid = true, .gid = gid};
    decide(h, rc, &err);
}

static void handshake_whole(struct handshake *h)
{
    struct px_server *srv = h->server;
    struct px_err err = {0};
    pmix_status_t rc = px_hello_decode(h->body, h->body_len, &h->hello, &err);

    if (rc || !h->is_remote) {
        decide(h, rc, &err);
        return;
    }
    rc = begin_check(h, &err);
    if (rc)
        decide(h, rc, &err);
    else if (srv->part.door->n_handshakes > MAX_HANDSHAKES)
        px_handshake_evict(srv);
}

/* Checks a complete header, and allocates the body. False ends the handshake. */
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

/* Reads the available bytes. False if the handshake has ended. */
static bool read_on(struct handshake *h)
{
    for (;;) {
        uint8_t *to = (h->in_body ? h->body : h->header) + h->have;
        size_t want = (h->in_body ? h->body_len : sizeof(h->header)) - h->have;
        ssize_t n = recv(h->fd, to, want, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (n <= 0) {
            handshake_end(h);
            return false;
        }
        h->have += (size_t)n;
        if ((size_t)n < want)
            continue;
        if (h->in_body) {
            handshake_whole(h);
            return false;
        }
        if (!handshake_header(h)) {
            handshake_end(h);
            return false;
        }
    }
}

static void on_bytes(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    (void)read_on(arg);
}

void px_handshake_start(const struct px_listener *l, int fd,
                        const struct px_ptl_peer *who)
{
    struct px_server *srv = l->server;
    struct handshake *h = calloc(1, sizeof(*h));

    if (!h) {
        close(fd);
        return;
    }
    h->server = srv;
    h->is_remote = l->is_remote;
    h->fd = fd;
    h->who = *who;
    px_list_append(&srv->part.door->handshakes, &h->link);
    srv->part.door->n_handshakes++;
    if (!read_on(h)) /* mostly everything has arrived */
        return;
    h->watch = px_watch_create(srv->loop, fd, PX_READABLE, on_bytes, h);
    h->timer = px_timer_create(srv->loop, on_slow, h);
    if (!h->watch || !h->timer) {
        handshake_end(h);
        return;
    }
    px_timer_set(h->timer, srv->conf.handshake_timeout);
    if (srv->part.door->n_handshakes > MAX_HANDSHAKES)
        px_handshake_evict(srv);
}

void px_handshake_evict(struct px_server *srv)
{
    struct handshake *victim = NULL;
    unsigned most = 0;

    /* A user who opens many connections loses only own ones. The list is in the order
     * of arrival. */
    PX_LIST_EACH (&srv->part.door->handshakes, struct handshake, h, link) {
        unsigned n = 0;

        PX_LIST_EACH (&srv->part.door->handshakes, struct handshake, other, link)
            n += uid_of(other) == uid_of(h);
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
