/* SPDX-License-Identifier: BSD-3-Clause */
/* The process: the one writable global of the library, and what starts and ends it. */
#ifndef PX_RT_PROCESS_H
#define PX_RT_PROCESS_H

#include "core/base/err.h"
#include "core/base/gate.h"
#include "core/rt/call.h"
#include "core/rt/loop.h"
#include "core/config/param.h"
#include "tenon/component.h"

#include <pthread.h>
#include <stdatomic.h>

struct px_params;
struct px_selection;
struct px_channel;
struct px_model;
struct px_notify;
struct px_client;
struct px_server;
struct px_tool;

struct px_process {
    pthread_mutex_t lock; /* held during init and finalize of any role, nowhere else */
    _Atomic pid_t pid;    /* whose machine this is: a forked child's getpid() differs */
    _Atomic uint8_t *stamp; /* 1, but 0 in a forked child; NULL where kernels cannot */
    char host[256];         /* name of this node; "" before the first acquire */
    unsigned users;         /* roles that hold the machine, each as often as acquired */
    unsigned role_users[3]; /* client, server, tool */
    unsigned roles;         /* enum px_role, or-ed */
    _Atomic int log_level;
    struct px_loop *loop;
    atomic_bool open;    /* px_process_post may use the loop */
    atomic_uint posters; /* calls of it that may be doing so */
    struct px_params *params;
    struct px_selection *selection; /* opened components per framework */
    const char *server_address; /* of a client that begins: see px_selection_open_for */
    struct px_model *model;
    struct px_gate model_gate;  /* before readers of the model that are not the loop */
    struct px_channel *channel; /* of the model: the way to this process's server */
    struct px_notify *notify;
    struct px_client *client;      /* NULL unless initialised; a server has one too */
    struct px_server *server;      /* NULL unless initialised as server */
    struct px_tool *tool;          /* NULL unless initialised as tool */
    _Atomic unsigned init_count;   /* init calls of all roles not yet undone */
    pthread_mutex_t topology_lock; /* for the member below and whoever makes it */
    void *topology;                /* the node's, for topo.h; NULL until asked for */
    unsigned
        guests; /* those of PMIx_Init and PMIx_tool_init in a process that is server only */
    struct px_process *parents; /* left behind by a forked child; for leak checkers */
};

extern struct px_process px_process;

extern const struct px_param px_mca_base_params[]; /* mca_base_* */

/* Takes the lock; every init and finalize goes through these two. In a forked child the
 * first call leaves what was the parent's behind, init_count and all, so that the child
 * can start a machine of its own, even if another thread held the lock during the fork.
 * Not on the loop thread (the holder of the lock may be waiting for it): see
 * px_loop_is_current. */
void px_process_lock(void);
void px_process_unlock(void);

/* First user: reads parameters (info may carry PMIX_EXTERNAL_PROGRESS), starts the
 * loop. Each user: opens the frameworks its role needs. The lock must be held. On
 * failure nothing stays. PMIX_ERR_BAD_PARAM: a parameter has a bad value or selects a
 * component that does not exist; PMIX_ERR_NOT_FOUND: a framework is left without a
 * component; PMIX_ERR_WOULD_BLOCK: on the loop thread. Whether to log err is the
 * caller's choice; nothing else logs it. */
pmix_status_t px_process_acquire(enum px_role role, const pmix_info_t *info,
                                 size_t n_info, struct px_err *err);
/* Last user: closes components, stops the loop, frees everything, so that leak checkers
 * are content and a later acquire starts afresh. Other users: closes what only this
 * role needed. The lock must be held. Not on the loop thread. Model, notify, client and
 * server, which others put into px_process, are theirs to take out before. */
void px_process_release(enum px_role role);

/* False in a forked child until it starts a machine of its own: the parent's has no thread
 * there. Any thread, no system call. */
bool px_process_is_mine(void);
/* Whether this thread runs the loop. */
bool px_process_on_loop(void);
/* Posts msg, unless the machine is stopping or has stopped: then false, and msg stays the
 * caller's. For what may come at any time: answers of hosts and event handlers. Any
 * thread. */
bool px_process_post(struct px_msg *msg);

/* px_call of an API function, which another thread may be about to take the loop from: the
 * machine stays until it has returned. PMIX_ERR_INIT: it is stopping or has stopped; else as
 * px_call. */
pmix_status_t px_process_call(px_call_fn fn, void *args);

/* Selected components of a framework, best first; count in *n. Any thread; valid until
 * the role that opened the framework is released. */
const struct px_module *px_modules(const char *framework, size_t *n);
/* Opens also those which a client that begins did not seem to need. The lock must be
 * held. */
pmix_status_t px_modules_open_deferred(struct px_err *err);
/* By component name; NULL if it is not selected. */
const struct px_module *px_module_find(const char *framework, const char *name);

#endif
