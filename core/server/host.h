/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface between the server and the built-in host (core/host). The server calls that
 * host by a module of functions, like any host. The built-in host uses only this header
 * of the server. On the loop thread, these functions do the work of PMIx_server_*
 * calls. */
#ifndef PX_SERVER_HOST_H
#define PX_SERVER_HOST_H

#include "core/base/err.h"
#include "core/role/support.h"
#include "core/types/type.h"
#include "pmix_server.h"

#include <sys/stat.h>

struct px_server;

/* ---- given by the host ----------------------------------------------------------- */

struct px_host_job {
    bool is_active;       /* being launched, or running */
    pmix_status_t status; /* of an active job PMIX_SUCCESS; else see job's end */
    uint64_t left_ms;     /* time until the job's limit; UINT64_MAX: no limit */
    char *command;        /* command lines of the applications; malloc'd, or NULL */
};

struct px_host_allocation {
    const char *id, *request_id; /* request_id: of the requestor, or NULL */
    const char *owner;           /* namespace */
    pmix_status_t status;        /* of the description */
    px_infos infos;              /* description; the caller frees it */
};

struct px_builtin_host {
    /* Fills module with the host's functions. Later px_server_builtin_self() returns
     * *self. info: of PMIx_server_init. */
    pmix_status_t (*create)(struct px_server *srv, const pmix_info_t *info, size_t n,
                            pmix_server_module_t *module, void **self,
                            struct px_err *err);
    /* Ends every process that the host started: TERM, grace period, KILL. Blocks up to
     * the grace period; not on the loop thread. */
    void (*end_jobs)(void *self);
    void (*destroy)(void *self);
    /* Handles a tool that has finalized, or has lost its connection. */
    void (*tool_left)(void *self, const pmix_proc_t *tool);
    /* Describes the process row->proc, whose texts the host keeps until the next turn.
     * False: not a process of this host. */
    bool (*describe)(void *self, pmix_proc_info_t *row);
    /* Describes a job. False: not a job of this host. The caller frees command. */
    bool (*job)(void *self, const char *nspace, struct px_host_job *job);
    /* Returns the bytes that a process has written to stdout and stderr. False: not a
     * process of this host. */
    bool (*output)(void *self, const pmix_proc_t *proc, uint64_t *bytes);
    /* Describes allocation i. False: there are not so many. */
    bool (*allocation)(void *self, size_t i, struct px_host_allocation *out);
    const struct px_support *support; /* attributes that the host supports */
    size_t n_support;
};

extern const struct px_builtin_host px_host_builtin;

/* Bounds of the memory that the built-in host occupies for a lookup that waits, and for
 * each of its keys. The server charges them to the requester, for every host. */
#define PX_LOOKUP_B     576u
#define PX_LOOKUP_KEY_B 256u

/* Bound of the memory that the built-in host occupies for a spawn that waits. */
#define PX_SPAWN_B 512u

/* ---- services of the server for the built-in host alone (host.c) ----------------- */

/* Returns the self of the built-in host of this process's server. */
void *px_server_builtin_self(void);
const pmix_proc_t *px_server_name(const struct px_server *srv);
/* Returns the server's private folder, or NULL without one. */
const char *px_server_dir(const struct px_server *srv);
/* Removes a folder in px_server_dir(), with its content, in the background. The
 * server's end removes the rest. */
void px_server_drop_dir(struct px_server *srv, const char *path, const struct stat *st);
bool px_server_has_peer(struct px_server *srv, const pmix_proc_t *proc);
/* True if a connected process has had work since this turn of the loop, other than proc
 * and the processes of a namespace. */
bool px_server_others_work(const struct px_server *srv, const pmix_proc_t *proc,
                           const char *nspace, uint64_t turn);
/* Registers a process that the host started itself. The process ends with the server,
 * and the host will report its end. */
void px_server_client_started(struct px_server *srv, const pmix_proc_t *proc,
                              pid_t pid);
/* Records that the process runs its program. */
void px_server_client_runs(struct px_server *srv, const pmix_proc_t *proc);
/* Sets whether the host will restart a process that ends. */
void px_server_client_revives(struct px_server *srv, const pmix_proc_t *proc,
                              bool revives);
/* True if all clean-up that the ended process registered is done. */
bool px_server_client_settled(struct px_server *srv, const pmix_proc_t *proc);
/* Resets a client that is about to be restarted, the n-th time. */
pmix_status_t px_server_restart_client(struct px_server *srv, const pmix_proc_t *proc,
                                       uint32_t n);
/* Returns the number of a client's loss: its last connection broke before it finalized.
 * Losses are numbered from 1 in their order. 0: the client is not lost. */
uint64_t px_server_client_lost(struct px_server *srv, const pmix_proc_t *proc);
/* True if counts returns true for a client of the namespace whose loss has a smaller
 * number than before; 0: for any lost client. */
bool px_server_any_lost(const char *nspace, uint64_t before,
                        bool (*counts)(void *arg, pmix_rank_t rank), void *arg);

/* Proxies: clients whose requests the host makes in their name (peer/proxy.c). A proxy
 * counts as a connection of the registered client. */
struct px_channel;
struct px_proxy;
/* PMIX_ERR_NOT_FOUND: the client is not registered; PMIX_ERR_NOMEM. */
pmix_status_t px_server_proxy_open(struct px_server *srv, const pmix_proc_t *proc,
                                   pid_t pid, struct px_proxy **out);
/* Returns the channel for requests. Without a connection they fail with
 * PMIX_ERR_UNREACH. A reply may come from inside the request. */
struct px_channel *px_server_proxy_channel(struct px_proxy *proxy);
/* Closes the connection and frees the proxy, which may be NULL. PMIX_SUCCESS: closed on
 * purpose; otherwise the client is lost. Pending requests fail. */
void px_server_proxy_close(struct px_proxy *proxy, pmix_status_t why);
/* Answers a lookup of the server as its callback would, and takes the array
 * (upcall/upcall.c). cbdata: that of the callback. Any thread. */
void px_server_found(pmix_status_t status, pmix_pdata_t pdata[], size_t n,
                     void *cbdata);

/* ---- services of the server that other hosts get by PMIx_server_* ---------------- */

/* Registration (reg.c). */
pmix_status_t px_server_add_nspace(struct px_server *srv, const char *nspace,
                                   uint32_t n_local, const pmix_info_t *info, size_t n,
                                   struct px_err *err);
void px_server_drop_nspace(struct px_server *srv, const char *nspace);
/* Adds the information of a job of one process of a user on this node. */
pmix_status_t px_server_describe_one(const struct px_server *srv, pmix_rank_t rank,
                                     uid_t uid, px_infos *infos);
/* Registers the singleton "nspace.rank" of this user. PMIX_ERR_BAD_PARAM. */
pmix_status_t px_server_add_singleton(struct px_server *srv, const char *name,
                                      struct px_err *err);
/* Adds to the job information of a registered namespace. */
pmix_status_t px_server_describe_nspace(struct px_server *srv, const char *nspace,
                                        const pmix_info_t *info, size_t n,
                                        struct px_err *err);
pmix_status_t px_server_add_client(struct px_server *srv, const pmix_proc_t *proc,
                                   uid_t uid, gid_t gid, void *object);
/* Ends the requests that wait for a local process which has ended, connected or not.
 * exit_code: value of PMIX_EXIT_CODE. */
void px_server_client_ended(struct px_server *srv, const pmix_proc_t *proc,
                            int exit_code);
/* Adds the contributions of fabric components to a job that runs on this node only
 * (fabric/apply.c). Calls fn once, from the loop, perhaps before this function returns;
 * why is a line for the log. Sets *setup before a call of fn, which ends the setup.
 * Until then px_server_setup_cancel may take it. */
struct px_server_setup;
typedef void (*px_server_setup_fn)(void *arg, pmix_status_t status, const char *why);
void px_server_setup_fabric(struct px_server *srv, const char *nspace,
                            const pmix_info_t *info, size_t n, px_server_setup_fn fn,
                            void *arg, struct px_server_setup **setup);
void px_server_setup_cancel(struct px_server_setup *setup); /* NULL is fine */
/* Adds variables to a malloc'd environment (node/environment.c). */
pmix_status_t px_server_child_env(struct px_server *srv, const pmix_proc_t *proc,
                                  char ***env);
/* Defines a process set until the namespace definer is deregistered (node/psets.c).
 * PMIX_ERR_EXISTS: sets do not change; PMIX_ERR_OUT_OF_RESOURCE: too many sets;
 * PMIX_ERR_NOMEM. */
pmix_status_t px_server_define_set(struct px_server *srv, const char *name,
                                   const pmix_proc_t *procs, size_t n,
                                   const char *definer);
/* Deletes a process set. PMIX_ERR_NOT_FOUND, PMIX_ERR_NOMEM. */
pmix_status_t px_server_delete_set(struct px_server *srv, const char *name);
/* Connects a process with the registered job that it spawned, until a disconnect or the
 * end of either. apart: neither ends with the other. */
pmix_status_t px_server_connect(struct px_server *srv, const pmix_proc_t *parent,
                                const char *nspace, bool apart);
/* Calls fn with each set of processes connected by a spawn or a connect, including
 * connects that made a namespace. */
typedef void (*px_connected_fn)(void *arg, const pmix_proc_t *procs, size_t n,
                                bool apart);
void px_server_connected(const struct px_server *srv, px_connected_fn fn, void *arg);
/* Delivers an event to this process's handlers and to each local peer that registered
 * for it; never to the host. Returns the number of peers, of the first turn if the
 * delivery takes several turns. source NULL: this server. */
size_t px_server_event(struct px_server *srv, pmix_status_t code,
                       const pmix_proc_t *source, pmix_data_range_t range,
                       const pmix_info_t *info, size_t n);
/* True if the process is registered for events of this code itself. */
bool px_server_awaits_event(struct px_server *srv, const pmix_proc_t *proc,
                            pmix_status_t code);
/* Works like px_server_event for receivers that are not in *done, and adds those that
 * have the event. Without memory some are missing: the caller calls again. */
enum px_event_receivers { PX_EVENT_AT_PEERS = 1, PX_EVENT_HERE = 2, PX_EVENT_DONE = 3 };
size_t px_server_event_on(struct px_server *srv, pmix_status_t code,
                          const pmix_proc_t *source, pmix_data_range_t range,
                          const pmix_info_t *info, size_t n, unsigned *done);

/* Delivers output of a process to its receivers (iof/deliver.c). Zero bytes end the
 * channel. PMIX_OPERATION_SUCCEEDED: accepted. PMIX_SUCCESS: accepted, and the loop
 * calls cb later, once, when there is room for more. Any other status: nothing was
 * accepted. Receivers are notified of bytes that their directives dropped. forwarded:
 * delivers to the process that px_server_iof_forward named, and to no other;
 * PMIX_ERR_NOT_FOUND: that process has left. */
pmix_status_t px_server_iof_deliver(struct px_server *srv, const pmix_proc_t *source,
                                    pmix_iof_channel_t channel,
                                    const pmix_byte_object_t *bytes,
                                    const pmix_info_t *info, size_t n, bool forwarded,
                                    pmix_op_cbfunc_t cb, void *cbdata);
enum px_iof_interest {
    PX_IOF_NONE,       /* no receiver, and no tool can connect */
    PX_IOF_LATER,      /* no receiver now */
    PX_IOF_COPIED,     /* receivers get a copy */
    PX_IOF_REDIRECTED, /* receivers get the only copy: PMIX_IOF_REDIRECT */
};
enum px_iof_interest px_server_iof_interest(const struct px_server *srv,
                                            const pmix_proc_t *source,
                                            pmix_iof_channel_t channel);
/* Lets px_server_iof_deliver reach a connected process with these channels of a
 * namespace, for the process's own stdout and stderr, while both exist.
 * PMIX_ERR_NOT_FOUND: the process is not connected. */
pmix_status_t px_server_iof_forward(struct px_server *srv, const pmix_proc_t *to,
                                    const char *nspace, pmix_iof_channel_t channels);
/* Ends the input of a namespace by the host's push_stdin when a connected process
 * leaves and no other process pushes input. PMIX_ERR_NOT_FOUND: the process has left
 * already. */
pmix_status_t px_server_iof_feed(struct px_server *srv, const pmix_proc_t *from,
                                 const char *nspace);
/* True for a tool of another library, which tags the output itself. */
bool px_server_iof_tags(struct px_server *srv, const pmix_proc_t *to);

#endif
