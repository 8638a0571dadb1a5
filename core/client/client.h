/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to servers, and what begins and ends a client; a tool is one, too. The
 * API calls work in every role: struct px_client has what they need, and a server
 * process sets its members for itself. */
#ifndef PX_CLIENT_CLIENT_H
#define PX_CLIENT_CLIENT_H

#include "core/base/err.h"
#include "core/base/map.h"
#include "core/config/core_params.h"
#include "core/iof/receivers/receivers.h"
#include "core/link/api.h"
#include "core/link/conn.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "pmix.h"

struct px_tool;

/* Connections of a client or tool, in px_client. The process lock guards the counts and
 * the role. The other members belong to the loop. */
struct px_client_role {
    struct px_list links; /* of struct px_uplink */
    struct px_uplink
        *primary; /* the link that px_client.channel uses; NULL: no server */
    unsigned inits, tool_inits;
    enum px_role role; /* of the first init call */
    bool self_named;   /* a singleton, whose name no server knows */
    struct px_client_conf conf;
    struct px_tool *tool; /* NULL: not a tool */
};

/* ---- connect.c: in the caller's thread ------------------------------------------- */

/* How to reach a server, as whom, and what came of it. */
struct px_server_addr {
    struct px_uri uri;
    const char *faster; /* to try first, or NULL; borrowed from the environment */
    struct px_codec codec;
    struct px_version version; /* the server's */
    bool from_environment;     /* its variables tell what the server can do */
    bool has_owner;            /* the kernel must say that the server is owner's */
    uid_t owner;
    bool asked;   /* the connect message has brought that request to a server of ours */
    uint8_t flag; /* enum px_role_flag: what we are to it */
    pmix_proc_t self; /* our name; the server's gift for PX_FLAG_..._NEEDS_ID */
    int fd;           /* connected and non-blocking, or -1 */
    uint32_t pindex;  /* what the server calls us */
};

/* The address that it will try first; NULL if the environment has none. */
const char *px_client_address(void);
/* The server that the environment names. PMIX_ERR_UNREACH without a text: none. */
pmix_status_t px_server_addr_from_env(struct px_server_addr *c, struct px_err *err);
/* The server that text names: "nspace.rank;address". A list of the variables that would
 * bring this text may precede, with a ';' behind. PMIX_ERR_BAD_PARAM. */
pmix_status_t px_server_addr_from_uri(struct px_server_addr *c, const char *text,
                                      struct px_err *err);
/* Connects and shakes hands, within timeout_ms for each of the two. */
pmix_status_t px_server_addr_connect(struct px_server_addr *c, uint64_t timeout_ms,
                                     struct px_err *err);

/* ---- link.c: on the loop --------------------------------------------------------- */

/* A connection to a server. A client has one, tools may have several. One of them is
 * primary: its channel is px_client.channel, which every call of the API uses. */
struct px_uplink {
    struct px_list link; /* in px_client_role.links, in the order they were made */
    struct px_client *client;
    struct px_conn *conn;
    pmix_proc_t server;
    char address[sizeof((struct px_uri){0}.address)];
    uint32_t pindex;
    bool asked;           /* its first request has been sent */
    struct px_channel up; /* empty in the primary link: see px_client.channel */
    struct px_iof_producer output; /* brings output to the receivers */
};

/* Takes c->fd. The first one becomes no primary by itself. */
pmix_status_t px_uplink_open(struct px_client *client, struct px_server_addr *c,
                           struct px_uplink **link);
/* Fails what is pending there, closes, frees. */
void px_uplink_close(struct px_uplink *link, pmix_status_t why);
/* NULL: no server is primary. PMIX_ERR_NOT_SUPPORTED if values were put and not
 * committed that this server could not read. */
pmix_status_t px_uplink_make_primary(struct px_client *client, struct px_uplink *link);
/* rank WILDCARD: any of the namespace. NULL. */
struct px_uplink *px_uplink_find(const struct px_client *client,
                               const pmix_proc_t *server);
struct px_channel *px_uplink_channel(struct px_uplink *link);
/* In any role; NULL: this server has gone. */
struct px_channel *px_uplink_way_to(struct px_client *client, const pmix_proc_t *server);

/* Any thread that holds the process lock: tells the server that we leave, waits for
 * its answer as long as conf.finalize_timeout, closes. PMIX_ERR_NOT_FOUND: there is
 * no such link. */
pmix_status_t px_uplink_leave(struct px_client *client, const pmix_proc_t *server);
/* As well: fills servers with up to n of those connected, the primary one first;
 * returns how many there are. */
size_t px_client_servers(struct px_client *client, pmix_proc_t *servers, size_t n);

/* ---- init.c: the process lock is held, the caller is not the loop ---------------- */

/* One way from the address of a server to being connected. */
struct px_start {
    struct px_client *client; /* set by px_client_begin */
    struct px_server_addr addr;
    bool primary;   /* the server is to be the primary one */
    bool was_alone; /* the process has lived without a server so far */
    bool alone; /* the process lives on without a server; PMIx_Init reports UNREACH */
    struct px_call *call;
    struct px_timer *timer;
    struct px_err err;
};

/* Begins the role, without any server. */
pmix_status_t px_client_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                              struct px_start *s);
/* Closes all connections and ends the role. */
void px_client_end(struct px_client *client);
/* Takes the connection that was made: it joins the others. The first time, the
 * process gets its name from the address, and its job's information from the server. */
pmix_status_t px_client_start(struct px_start *s);
/* The same without a server. */
pmix_status_t px_client_start_alone(struct px_start *s);
/* Makes a name, unique on this node as long as the process lives. */
void px_client_name(pmix_proc_t *self, const char *kind);
/* The name that the environment gives; *given false if none. */
pmix_status_t px_client_identity(pmix_proc_t *self, bool *given, struct px_err *err);

/* Takes the lock: PMIX_Init and PMIx_tool_init. begin is the first one's of a process
 * that is no server, again (unless NULL) that of a client or tool. */
typedef pmix_status_t (*px_begin_fn)(const pmix_info_t *info, size_t n_info,
                                     struct px_start *s);
pmix_status_t px_client_init(enum px_role role, px_begin_fn begin, px_begin_fn again,
                             pmix_proc_t *proc, const pmix_info_t *info, size_t n_info);
/* The same for their ends. before_last (unless NULL) runs on the loop before the last
 * of this role, with the struct px_client as argument. */
/* Waits for a debugger if the host wants that (hold.c); in the first PMIx_Init. */
void px_client_hold(void);
pmix_status_t px_client_finalize(enum px_role role, px_call_fn before_last,
                                 const pmix_info_t *info, size_t n_info);

/* ---- put.c: on the loop ---------------------------------------------------------- */

/* Why an earlier commit failed, of which only the next fence or commit can tell. */
pmix_status_t px_client_commit_status(struct px_client *client);
/* Packs what was put without a server, for the next commit. */
pmix_status_t px_client_put_again(struct px_client *client);

/* ---- get.c: on the loop ---------------------------------------------------------- */

/* KVALs of a job in a reply, its name first; as many of those as there are, each a
 * BYTE_OBJECT. The last of them, if there is a place for it. */
pmix_status_t px_client_store_job(struct px_client *client, px_reader *r,
                                  struct px_nspace **stored);
pmix_status_t px_client_store_jobs(struct px_client *client, px_reader *r,
                                   struct px_nspace **last);
/* For a job whose information is lost, see px_nspace_is_lost: asks for all of it, by
 * message; and what fn, or the reply to any get, does with the answer. */
pmix_status_t px_client_ask_job(struct px_client *client, const struct px_nspace *ns,
                                px_reply_fn fn, void *arg);
pmix_status_t px_client_read_values(struct px_client *client, pmix_status_t status,
                                    px_reader *reply);

#endif
