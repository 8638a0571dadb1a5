/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to servers, and the functions that begin and end a client or tool. The
 * API calls work in every role. They use struct px_client, whose members a server
 * process sets for itself. */
#ifndef PX_CLIENT_CLIENT_H
#define PX_CLIENT_CLIENT_H

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/map.h"
#include "core/config/core_params.h"
#include "core/iof/receivers/receivers.h"
#include "core/link/api.h"
#include "core/link/conn.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "pmix.h"

struct px_singleton;
struct px_tool;

/* Own times of a client: PMIx_Init begins and ends, first put. */
enum px_own_time { PX_OWN_INIT, PX_OWN_READY, PX_OWN_PUT, PX_N_OWN_TIMES };

/* Connections of a client or tool, in px_client. The process lock guards the counts and
 * the role. The other members belong to the loop. */
struct px_client_role {
    struct px_list links; /* of struct px_uplink */
    struct px_uplink
        *primary; /* the link whose channel is px_client.channel; NULL without a
                   * server */
    unsigned inits, tool_inits;
    enum px_role role; /* role of the first init call */
    bool self_named;   /* true of a singleton, whose name its server does not have */
    struct px_client_conf conf;
    struct px_tool *tool;            /* NULL unless the process is a tool */
    uint64_t own_ns[PX_N_OWN_TIMES]; /* 0: none, or the server records no times */
    struct px_singleton *singleton;  /* start of a host; NULL before the first request
                                     * that needs a host */
};

/* Records the first time of a step if the server records times. role may be NULL. */
static inline void px_client_stamp(struct px_client_role *role, enum px_own_time step)
{
    if (role && !role->own_ns[step] && role->own_ns[PX_OWN_INIT])
        role->own_ns[step] = px_clock_ns();
}

/* ---- connect.c: in the caller's thread ------------------------------------------- */

/* Address of a server, the caller's identity, and the results of the handshake. */
struct px_server_addr {
    struct px_uri uri;
    const char *faster; /* address to try first, or NULL; borrowed from the
                         * environment */
    struct px_codec codec;
    struct px_version version; /* the server's */
    bool from_environment;     /* true if environment variables describe the server */
    bool has_owner;            /* true if the kernel must confirm that the server runs
                                * as owner */
    uid_t owner;
    bool asked;       /* the connect message included the first request (servers of
                   * Tenon) */
    uint8_t flag;     /* enum px_role_flag: our role */
    pmix_proc_t self; /* our name; assigned by the server for PX_FLAG_..._NEEDS_ID */
    int fd;           /* connected and non-blocking, or -1 */
    uint32_t pindex;  /* our index, assigned by the server */
};

/* Returns the address that px_server_addr_connect tries first, or NULL if the
 * environment names none. */
const char *px_client_address(void);
/* Fills c from the environment. Returns PMIX_ERR_UNREACH without a text if the
 * environment names no server. */
pmix_status_t px_server_addr_from_env(struct px_server_addr *c, struct px_err *err);
/* Fills c from text: "nspace.rank;address". A list of variables that carry this text
 * may precede, with a ';' behind the list. Returns PMIX_ERR_BAD_PARAM for other
 * texts. */
pmix_status_t px_server_addr_from_uri(struct px_server_addr *c, const char *text,
                                      struct px_err *err);
/* Connects and shakes hands. timeout_ms limits each of the two steps. */
pmix_status_t px_server_addr_connect(struct px_server_addr *c, uint64_t timeout_ms,
                                     struct px_err *err);

/* ---- link.c: on the loop --------------------------------------------------------- */

/* A connection to a server. A client has one, a tool may have several. The primary
 * link's channel is px_client.channel, which every API call uses. */
struct px_uplink {
    struct px_list link; /* in px_client_role.links, in order of creation */
    struct px_client *client;
    struct px_conn *conn;
    pmix_proc_t server;
    char address[sizeof((struct px_uri){0}.address)];
    uint32_t pindex;
    bool asked;           /* the first request was part of the connect message */
    bool is_ours;         /* the server is of this library */
    int beats_fd;         /* the server's eventfd that counts heartbeats; or -1 */
    struct px_channel up; /* empty in the primary link, see px_client.channel */
    struct px_iof_producer output; /* source of output for the receivers */
};

/* Opens a link and takes c->fd. The caller makes the first link the primary link. */
pmix_status_t px_uplink_open(struct px_client *client, struct px_server_addr *c,
                             struct px_uplink **link);
/* Closes and frees a link. Its pending requests fail with status why. */
void px_uplink_close(struct px_uplink *link, pmix_status_t why);
/* Makes link the primary link; NULL removes the primary link. Returns
 * PMIX_ERR_NOT_SUPPORTED if values were put, but not committed, in an encoding that
 * this server cannot read. */
pmix_status_t px_uplink_make_primary(struct px_client *client, struct px_uplink *link);
/* Finds a link by server; rank WILDCARD matches any server of the namespace. Returns
 * NULL if there is none. */
struct px_uplink *px_uplink_find(const struct px_client *client,
                                 const pmix_proc_t *server);
struct px_channel *px_uplink_channel(struct px_uplink *link);
/* Returns the channel to a server, in any role; NULL if the server has gone. */
struct px_channel *px_uplink_way_to(struct px_client *client,
                                    const pmix_proc_t *server);

/* Disconnects from a server. Sends a finalize request, waits up to
 * conf.finalize_timeout for its answer, and closes the link. The calling thread holds
 * the process lock. Returns PMIX_ERR_NOT_FOUND if the link does not exist. */
pmix_status_t px_uplink_leave(struct px_client *client, const pmix_proc_t *server);
/* Fills servers with up to n connected servers, the primary server first. Returns the
 * number of connected servers. The calling thread holds the process lock. */
size_t px_client_servers(struct px_client *client, pmix_proc_t *servers, size_t n);

/* ---- init.c: the process lock is held, the caller is not the loop ---------------- */

/* State of one connection attempt. */
struct px_start {
    struct px_client *client; /* set by px_client_begin */
    struct px_server_addr addr;
    uint64_t begun_ns; /* begin of PMIx_Init, if the server records times; else 0 */
    bool primary;      /* the server is to become the primary server */
    bool was_alone;    /* the process had no server before */
    bool alone; /* the process continues without a server; PMIx_Init reports UNREACH */
    struct px_call *call;
    struct px_timer *timer;
    struct px_err err;
};

/* Begins the role without connecting to a server. */
pmix_status_t px_client_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                              struct px_start *s);
/* Closes all connections and ends the role. */
void px_client_end(struct px_client *client);
/* Adds the connection to the links. The first connection gives the process its name and
 * its job's information. */
pmix_status_t px_client_start(struct px_start *s);
/* Starts the process as a singleton without a server. */
pmix_status_t px_client_start_alone(struct px_start *s);
/* Makes a name that is unique on this node while the process lives. */
void px_client_name(pmix_proc_t *self, const char *kind);
/* Reads the process's name from the environment. Sets *given to false if the
 * environment has none. */
pmix_status_t px_client_identity(pmix_proc_t *self, bool *given, struct px_err *err);

/* Performs PMIx_Init and PMIx_tool_init, and takes the process lock. Calls begin for
 * the first init call of a process that is not a server. Later init calls use again,
 * which may be NULL. */
typedef pmix_status_t (*px_begin_fn)(const pmix_info_t *info, size_t n_info,
                                     struct px_start *s);
pmix_status_t px_client_init(enum px_role role, px_begin_fn begin, px_begin_fn again,
                             pmix_proc_t *proc, const pmix_info_t *info, size_t n_info);
/* Waits for a debugger if the host asks for that (hold.c). Called by the first
 * PMIx_Init. */
void px_client_hold(void);
/* Performs PMIx_Finalize and PMIx_tool_finalize. before_last (unless NULL) runs on the
 * loop before the last finalize call of this role. Its argument is the struct
 * px_client. */
pmix_status_t px_client_finalize(enum px_role role, px_call_fn before_last,
                                 const pmix_info_t *info, size_t n_info);

/* ---- fence.c: on the loop -------------------------------------------------------- */

/* A blocking collective, which may sleep on the fence futex of the job. */
struct px_blocking_op {
    struct px_api op;
    uint32_t id, turns; /* state of the futex when the request was sent */
    uint32_t tag;
    /* Completes the collective after success. has_number: the server has set number. */
    void (*woken)(struct px_api *op, bool has_number, uint64_t number);
};
/* Sends the request with the futex's id and waits on the futex (adr/0023). op is part
 * of a px_blocking_op unless op->call is NULL. Failures, and replies that the futex
 * cannot express, arrive as messages. Returns false if the caller must send an ordinary
 * request. */
bool px_client_sleep(struct px_api *op, const struct px_args *args, px_reply_fn reply);

/* True while a call of PMIx_Fence_nb that names the process is pending. */
bool px_client_is_fencing(const struct px_client *client, const pmix_proc_t *proc);

/* ---- get.c: on the loop ---------------------------------------------------------- */

/* Repeats the gets that waited for a fence. */
void px_client_get_again(struct px_client *client);

/* ---- invite.c: on the loop ------------------------------------------------------- */

/* Ends all pending invites and joins. */
void px_invitations_end(struct px_client *client, pmix_status_t why);

/* ---- put.c: on the loop ---------------------------------------------------------- */

/* Returns and clears the failure of an earlier commit, which the next fence or commit
 * reports. */
pmix_status_t px_client_commit_status(struct px_client *client);
/* Packs values that were put without a server, for the next commit. */
pmix_status_t px_client_put_again(struct px_client *client);
/* Sends the committed values of px_client_put_again. Packs only the others for the next
 * commit. */
pmix_status_t px_client_commit_again(struct px_client *client);

/* ---- received.c: on the loop ----------------------------------------------------- */

/* Stores the job information in a reply: the job's name and KVALs. px_client_store_jobs
 * stores any number of jobs, each in a BYTE_OBJECT. stored and last (unless NULL)
 * return the last stored namespace. */
pmix_status_t px_client_store_job(struct px_client *client, px_reader *r,
                                  struct px_nspace **stored);
pmix_status_t px_client_store_jobs(struct px_client *client, px_reader *r,
                                   struct px_nspace **last);
/* Makes a credential of this process as for a connection to its server, a
 * PMIX_BYTE_OBJECT (connect.c). */
pmix_status_t px_client_credential(pmix_value_t *out);
/* Requests all information of a job. in_messages: the client stops reading in place,
 * for namespaces that px_nspace_is_lost reports. px_client_read_values stores the reply
 * to this request or to any get. */
pmix_status_t px_client_ask_job(struct px_client *client, const struct px_nspace *ns,
                                bool in_messages, px_reply_fn fn, void *arg);
pmix_status_t px_client_read_values(struct px_client *client, pmix_status_t status,
                                    px_reader *reply);

#endif
