/* SPDX-License-Identifier: BSD-3-Clause */
/* The server role: listeners, peers, requests. Everything here is for the loop thread
 * only. */
#ifndef PX_SERVER_SERVER_H
#define PX_SERVER_SERVER_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/config/core_params.h"
#include "core/link/api.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/link/channel.h"
#include "core/rt/process.h"
#include "core/server/part.h"
#include "pmix_server.h"

#include <stdlib.h>

struct px_builtin_host;
struct px_hello;
struct px_ptl_peer;

/* A client the host has announced. Lives in px_nspace.locals, in the order of ranks. */
struct px_local {
    struct px_list link;
    struct px_nspace *ns;
    pmix_rank_t rank;
    uid_t uid;
    gid_t gid;
    void *object;     /* the host's, passed back in upcalls */
    unsigned n_peers; /* connections that have neither finalized nor gone */
    unsigned n_meets; /* their requests that wait in collectives */
    bool connected;   /* the host was notified */
    bool finalized;   /* by the last of its connections */
    bool committed;   /* at least one commit has arrived */
    bool lost;        /* its last connection broke before it finalized */
    bool left_sets;   /* and those it is connected with have heard of its end */
    bool is_told;     /* and fabric components have: fabric/ends.c */
};

/* One connection. A rank may hold several (fork, re-init). The server's own API calls
 * come from a peer without a connection, server->self. */
struct px_peer {
    struct px_list link;
    unsigned refs;
    struct px_server *server;
    struct px_conn *conn;   /* NULL: gone, or the server itself */
    struct px_local *local; /* NULL for the server itself, and once deregistered */
    pmix_proc_t proc;
    const struct px_module *gds; /* the datastore component it has named */
    bool reads_in_place;         /* what that component shares */
    struct px_map stores;        /* namespace -> digest of what it was told to read */
    struct px_map told;          /* process -> values it was sent: data/reply.c */
    uid_t uid;
    gid_t gid;
    struct px_user *user; /* data/memory.c */
    pid_t pid;            /* 0: the kernel does not say */
    struct px_codec codec;
    struct px_version version;
    uint32_t pindex;
    bool finalized, gone;
    bool commit_failed; /* since the last collective that has answered it */
    bool tool;          /* has no struct px_local */
    uint64_t inode;     /* of the socket at its end; 0: not known */
    struct px_cleanup_proc *cleanup; /* the process that it is */
    struct px_list interests; /* events it has registered for: event/on_event.c */
    size_t pending_b;         /* of its charges */
};

/* Memory that a message of a peer makes the server keep, for which the peer's user is
 * charged until it is given back: data/memory.h. Zeroed: none. */
struct px_charge {
    struct px_peer *peer; /* referenced */
    size_t size_b;
};

/* One request of a peer. Handlers return a status, which is then the reply, or
 * PX_DEFERRED and see to it that px_req_done or px_req_reply is called exactly once
 * later. */
struct px_req {
    struct px_peer *peer; /* referenced */
    uint32_t tag;
    uint8_t op;
    const struct px_rpc *rpc;
    struct px_charge charge; /* from before the handler to the reply */
    px_reader in;            /* after the command byte; valid during the handler only */
    struct px_list link;     /* free for the handler's queue */
    void *state;             /* free for the handler */
    struct px_msg msg;       /* carries the reply to a request of our own */
    px_buf reply;
};
#define PX_DEFERRED ((pmix_status_t)1)

/* The senders that may make a request. */
enum px_senders {
    PX_BY_CLIENT = 1,
    PX_BY_TOOL = 2,
    PX_BY_SELF = 4,    /* calls of this process */
    PX_BY_LEAVING = 8, /* also after its goodbye */
    PX_BY_ANY = PX_BY_CLIENT | PX_BY_TOOL | PX_BY_SELF,
};

/* The processes that it may concern, which px_req_may checks. A server may serve
 * several users. */
enum px_reach {
    PX_OWN = 1, /* the sender alone, what is of its user, or what all may have */
    PX_BY_HOST, /* as the host decides, by the user that the connection proves */
    PX_OF_USER, /* named processes of the sender's user; root's sender: of any */
    PX_MEMBERS, /* named processes that the sender is one of */
};

/* A row of the table that says all of a request: who may send it, whom it may concern,
 * and the handler, or how it goes to the host. */
struct px_rpc {
    uint8_t op;
    uint8_t senders, reach;
    bool passing; /* keeps nothing that is not counted elsewhere: not charged */
    pmix_status_t (*handler)(struct px_server *srv, struct px_req *req);
    const struct px_forward *forward; /* upcall.h */
};

static inline size_t px_list_length(const struct px_list *head)
{
    size_t n = 0;

    for (const struct px_list *l = head->next; l != head; l = l->next)
        n++;
    return n;
}

static inline void px_peer_ref(struct px_peer *p)
{
    p->refs++;
}

static inline void px_peer_unref(struct px_peer *p)
{
    if (p && --p->refs == 0) {
        px_map_fini(&p->stores);
        px_map_fini(&p->told);
        free(p);
    }
}

struct px_session;
struct px_cleanup;

struct px_server {
    pmix_server_module_t module;        /* NULL slots where the host has none */
    const struct px_builtin_host *host; /* no module was given; else NULL */
    void *builtin;                      /* its state */
    const struct px_server_part *const *parts;
    size_t n_parts; /* created */
    struct px_server_parts part;
    struct px_session *session;
    struct px_cleanup *cleanup;
    pmix_proc_t proc; /* our own name */
    char *tmpdir, *system_tmpdir,
        *dir;      /* dir: our private one, made by us; may be NULL */
    char uri[768]; /* the one foreign clients use */
    char own_uri
        [1280]; /* for our clients: "<uri>;<faster address>", "" if there is none */
    struct px_list peers;
    uint32_t next_pindex;
    struct px_list upcalls; /* asked of the host, not answered yet */
    struct px_peer *self;   /* for our own API calls */
    uint32_t last_own_tag;  /* of one of those */
    bool cleanup_left;      /* processes live that something waits for */
    bool stopping;
    unsigned refs;              /* further PMIx_server_init calls */
    struct px_server_conf conf; /* report_uri NULL: no report is wanted */
};

/* Takes the module of a tool, whose server was started without a module, and the events
 * from now on (server_init.c). Only the 28 slots of every release (adr/0006) count. */
void px_server_take_module(struct px_server *srv, const pmix_server_module_t *module);

/* NULL before init, after finalize, and in a forked child. Any thread. */
static inline struct px_server *px_server_here(void)
{
    return px_process.server && px_process_is_mine() ? px_process.server : NULL;
}

/* ---- authority.c ----------------------------------------------------------------- */

/* May a process of this user act on, or send events to, one of that user? */
bool px_user_may(uid_t user, uid_t other);
/* May the peer read of the processes of that namespace, or act on them? True for one
 * that has no clients here, nor a user that the host named: only the host knows. */
bool px_peer_may(const struct px_peer *peer, const char *nspace);
/* May the sender make the request at all? PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_INIT after
 * its goodbye. */
pmix_status_t px_req_admit(const struct px_req *req);
/* May the request concern these, which it names? PMIX_ERR_NO_PERMISSIONS;
 * PMIX_ERR_BAD_PARAM: its sender is not among them, and must be. */
pmix_status_t px_req_may(const struct px_req *req, const pmix_proc_t *procs, size_t n);
/* Puts the user that the connection proves in place of one that was claimed; hosts
 * decide by it. */
pmix_status_t px_infos_set_user(px_infos *infos, const struct px_peer *peer);

/* Checks directives that the built-in host alone reads; success for another host. */
pmix_status_t px_builtin_required(const struct px_server *srv, const char *function,
                                  const px_infos *infos);

/* ---- rpc.c ----------------------------------------------------------------------- */

struct px_local *px_local_find(struct px_server *srv, const pmix_proc_t *proc);
/* The registered client of the greatest rank that is not above this one; NULL. */
struct px_local *px_local_before(const struct px_nspace *ns, pmix_rank_t rank);
/* First live connection of a proc; NULL. */
struct px_peer *px_peer_find(struct px_server *srv, const pmix_proc_t *proc);
/* Reads what the table lists, as px_unpack_args, and charges the memory that it takes:
 * also PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_req_unpack(struct px_req *req, struct px_args *args,
                            const struct px_arg *table);
/* px_procs_expand, charged likewise. */
pmix_status_t px_req_expand(struct px_req *req, struct px_args *args);
/* Replies with a status (PMIX_OPERATION_SUCCEEDED travels as 0) and ends the
 * request. */
void px_req_done(struct px_req *req, pmix_status_t status);
/* Success, told with the next message to the client, which does not wait for it. */
void px_req_done_meanwhile(struct px_req *req);
/* Replies to what was not even made a request. */
void px_peer_refuse(struct px_peer *peer, uint32_t tag, pmix_status_t why);
/* Ends a request that gets no answer. */
void px_req_drop(struct px_req *req);
/* Starts a reply in the peer's codec, status packed first. */
void px_reply_begin(const struct px_req *req, px_writer *w, pmix_status_t status);
/* Sends w (a packing error becomes a status reply) and ends the request. */
void px_req_reply(struct px_req *req, px_writer *w);
/* The peer says goodbye. */
void px_peer_finalized(struct px_server *srv, struct px_peer *peer);
/* Connection lost or finalized and closed. why PMIX_SUCCESS: on purpose, which is not
 * reported. */
void px_server_peer_lost(struct px_server *srv, struct px_peer *peer,
                         pmix_status_t why);

/* With its connection, in no list yet; fd stays the caller's on failure. */
struct px_peer *px_peer_create(struct px_server *srv, int fd,
                               const struct px_ptl_peer *who,
                               const struct px_hello *hello);
void px_server_dispatch(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                        const uint8_t *payload, size_t n);

/* ---- share.c --------------------------------------------------------------------- */

/* True: the peer reads the shared tables of ns in place; before the next answer goes
 * out it has been told how. */
bool px_peer_share(struct px_peer *peer, const struct px_nspace *ns);
/* It says that it finds them lacking. If it was not told of the newest ones it is now;
 * else it is sent all data in messages from now on. */
void px_peer_cannot_read(struct px_peer *peer, const struct px_nspace *ns);
/* px_jobinfo_pack and the like: as much of the job's information as the peer needs. */
void px_peer_pack_job(struct px_peer *peer, const struct px_nspace *ns, px_writer *w,
                      bool as_arrays);
/* The job's name, then that with arrays, as one BYTE_OBJECT. */
void px_peer_pack_named(struct px_peer *peer, const struct px_nspace *ns, px_writer *w);

/* ---- reg.c ----------------------------------------------------------------------- */

/* A call that works on the loop; the first member of each call's own structure. */
struct px_server_op {
    struct px_api api;
    /* Its status ends the call, but for PX_DEFERRED: then px_api_done does, now or
     * later. */
    pmix_status_t (*run)(struct px_server *srv, const struct px_server_op *op);
};
/* With the user's callback it is posted, else it waits. PMIX_ERR_INIT without a server;
 * PMIX_ERR_BAD_PARAM if its arguments are not sound. */
pmix_status_t px_server_submit(struct px_server_op *op, size_t size, bool sound);
/* Returns the answer of a public function that takes an optional callback. Success
 * without a callback is PMIX_OPERATION_SUCCEEDED, as hosts expect (adr/0030). */
static inline pmix_status_t px_server_answer(pmix_status_t rc, pmix_op_cbfunc_t cb)
{
    return !rc && !cb ? PMIX_OPERATION_SUCCEEDED : rc;
}

/* ---- data ------------------------------------------------------------------------ */

/* Data of this rank has arrived. */
void px_get_data_arrived(struct px_server *srv, const pmix_proc_t *proc);

#endif
