/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the server and the host inside the library (core/host). The server sees a
 * module of functions, as any host gives. That host sees this page and nothing else of
 * the server: on the loop thread, these do what PMIx_server_* do for hosts that have a
 * thread of their own. */
#ifndef PX_SERVER_HOST_H
#define PX_SERVER_HOST_H

#include "core/base/err.h"
#include "core/role/support.h"
#include "core/types/type.h"
#include "pmix_server.h"

#include <sys/stat.h>

struct px_server;

/* ---- given by the host ----------------------------------------------------------- */

struct px_builtin_host {
    /* Fills module with functions of its own; *self is then
     * px_server_builtin_self(). */
    pmix_status_t (*create)(struct px_server *srv, pmix_server_module_t *module,
                            void **self, struct px_err *err);
    /* Ends every process it started: TERM, grace, KILL. Blocks up to the grace period;
     * not on the loop thread. */
    void (*end_jobs)(void *self);
    void (*destroy)(void *self);
    const struct px_support *support; /* attributes it honours */
    size_t n_support;
};

extern const struct px_builtin_host px_host_builtin;

/* ---- given by the server: for this host alone (host.c) --------------------------- */

/* Of the built-in host of this process's server. */
void *px_server_builtin_self(void);
const pmix_proc_t *px_server_name(const struct px_server *srv);
/* Private, made by the server; NULL: it has none. */
const char *px_server_dir(const struct px_server *srv);
/* Removes a folder in that one, with all that is in it, in the background. The
 * rest goes with px_server_dir(). */
void px_server_drop_dir(struct px_server *srv, const char *path, const struct stat *st);
bool px_server_has_peer(struct px_server *srv, const pmix_proc_t *proc);
/* A process that the host started itself: it ends with the server, and its end will be
 * reported. */
void px_server_client_started(struct px_server *srv, const pmix_proc_t *proc,
                              pid_t pid);
/* One that ends will be started again, or will not be after all. */
void px_server_client_revives(struct px_server *srv, const pmix_proc_t *proc,
                              bool revives);
/* Has all been removed that the process had registered, now that it has ended? */
bool px_server_client_settled(struct px_server *srv, const pmix_proc_t *proc);
/* It is about to be started again, the n-th time: what it has left is forgotten. */
pmix_status_t px_server_restart_client(struct px_server *srv, const pmix_proc_t *proc,
                                       uint32_t n);
/* Has the last connection of a client broken before it finalized? Of those that
 * count. */
bool px_server_any_lost(const char *nspace, bool (*counts)(void *arg, pmix_rank_t rank),
                        void *arg);

/* ---- given by the server: what PMIx_server_* do for hosts ------------------------ */

/* Registration (reg.c). */
pmix_status_t px_server_add_nspace(struct px_server *srv, const char *nspace,
                                   uint32_t n_local, const pmix_info_t *info, size_t n,
                                   struct px_err *err);
void px_server_drop_nspace(struct px_server *srv, const char *nspace);
pmix_status_t px_server_add_client(struct px_server *srv, const pmix_proc_t *proc,
                                   uid_t uid, gid_t gid, void *object);
/* A local process has ended, connected or not: the requests that wait for it end. */
void px_server_client_ended(struct px_server *srv, const pmix_proc_t *proc);
/* Adds the contributions of fabric components to a job whose only node is this one
 * (fabric/apply.c). fn is called once, from the loop and perhaps before this returns;
 * why is a line for the log. If it is still to come, *setup is what
 * px_server_setup_cancel takes until then, else NULL. A failure here is one that fn
 * does not hear of. */
struct px_server_setup;
typedef void (*px_server_setup_fn)(void *arg, pmix_status_t status, const char *why);
pmix_status_t px_server_setup_fabric(struct px_server *srv, const char *nspace,
                                     const pmix_info_t *info, size_t n,
                                     px_server_setup_fn fn, void *arg,
                                     struct px_server_setup **setup,
                                     struct px_err *err);
void px_server_setup_cancel(struct px_server_setup *setup); /* NULL is fine */
/* Adds to a malloc'd environment (node/environment.c). */
pmix_status_t px_server_child_env(struct px_server *srv, const pmix_proc_t *proc,
                                  char ***env);
/* Connects a process with the job that it spawns, if that is registered: until a
 * disconnect, or the end of either. apart: neither ends with the other. */
pmix_status_t px_server_connect(struct px_server *srv, const pmix_proc_t *parent,
                                const char *nspace, bool apart);
/* Calls fn with each set of processes that are connected, by a spawn or a connect, also
 * one that made a namespace. */
typedef void (*px_connected_fn)(void *arg, const pmix_proc_t *procs, size_t n,
                                bool apart);
void px_server_connected(const struct px_server *srv, px_connected_fn fn, void *arg);
/* Delivers to every local peer that wants it, of which it returns the number, and to
 * this process's own handlers; never to the host. source NULL: this server. */
size_t px_server_event(struct px_server *srv, pmix_status_t code,
                       const pmix_proc_t *source, pmix_data_range_t range,
                       const pmix_info_t *info, size_t n);

/* Output of a process for those that pull it (iof/deliver.c). No bytes are the end of
 * the channel. PMIX_OPERATION_SUCCEEDED: it is taken. PMIX_SUCCESS: it is, and cb comes
 * once, from the loop and never within, when there is room for more. Else nothing was
 * taken. Those that pull are told of bytes that directives have dropped. */
pmix_status_t px_server_iof_deliver(struct px_server *srv, const pmix_proc_t *source,
                                    pmix_iof_channel_t channel,
                                    const pmix_byte_object_t *bytes,
                                    const pmix_info_t *info, size_t n,
                                    pmix_op_cbfunc_t cb, void *cbdata);
enum px_iof_interest {
    PX_IOF_NOBODY,     /* and no tool can come */
    PX_IOF_LATER,      /* none now */
    PX_IOF_COPIED,     /* pulled */
    PX_IOF_REDIRECTED, /* and is to go nowhere else: PMIX_IOF_REDIRECT */
};
enum px_iof_interest px_server_iof_interest(const struct px_server *srv,
                                            const pmix_proc_t *source,
                                            pmix_iof_channel_t channel);
/* Lets px_server_iof_send reach a connected process with these channels of a namespace,
 * for the process's own stdout and stderr, as long as both are there.
 * PMIX_ERR_NOT_FOUND: the process is not connected. */
pmix_status_t px_server_iof_forward(struct px_server *srv, const pmix_proc_t *to,
                                    const char *nspace, pmix_iof_channel_t channels);
/* Ends the input of a namespace by the host's push_stdin when a connected process has
 * left and no other pushes there. PMIX_ERR_NOT_FOUND: the process has left already. */
pmix_status_t px_server_iof_feed(struct px_server *srv, const pmix_proc_t *from,
                                 const char *nspace);
/* Returns true for a tool of another library, which marks what it gets itself. */
bool px_server_iof_marks(struct px_server *srv, const pmix_proc_t *to);
/* Delivers output to the process that px_server_iof_forward has named, and to no other.
 * Arguments and results are those of px_server_iof_deliver. PMIX_ERR_NOT_FOUND: the
 * process has gone, and nothing was taken. */
pmix_status_t px_server_iof_send(struct px_server *srv, const pmix_proc_t *source,
                                 pmix_iof_channel_t channel,
                                 const pmix_byte_object_t *bytes,
                                 const pmix_info_t *info, size_t n, pmix_op_cbfunc_t cb,
                                 void *cbdata);

#endif
