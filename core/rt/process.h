/* SPDX-License-Identifier: BSD-3-Clause */
/* The process: the one writable global of the library, and the ways into its loop. */
#ifndef PX_RT_PROCESS_H
#define PX_RT_PROCESS_H

#include "core/base/gate.h"
#include "core/rt/loop.h"

#include <pthread.h>
#include <stdatomic.h>

struct px_params;
struct px_selection;
struct px_model;
struct px_notify;
struct px_iof_receivers;
struct px_client;
struct px_server;

/* Topology of the node, for core/topo. */
struct px_topo_state {
    pthread_mutex_t lock;
    void *handle; /* made on first use, with the lock held */
};

struct px_process {
    pthread_mutex_t lock; /* held during init and finalize of any role, nowhere else */
    _Atomic pid_t pid;    /* whose machine this is: a forked child's getpid() differs */
    _Atomic uint8_t *stamp; /* 1, but 0 in a forked child; NULL where kernels cannot */
    char host[256];         /* name of this node; "" before the first acquire */
    unsigned users;         /* roles that hold the machine, each as often as acquired */
    unsigned role_users[3]; /* client, server, tool */
    unsigned roles;         /* enum px_role, or-ed */
    _Atomic int log_level;
    atomic_uint log_lost; /* messages since stderr last took one */
    struct px_loop *loop;
    atomic_bool open;    /* px_process_post may use the loop */
    atomic_uint posters; /* calls of it that may be doing so */
    struct px_params *params;
    struct px_selection *selection; /* opened components per framework */
    const char *server_address; /* of a client that begins: see px_selection_open_for */
    struct px_model *model;
    struct px_read_gate
        model_gate; /* before readers of the model that are not the loop */
    struct px_notify *notify;
    struct px_client *client;    /* of all API calls, in every role */
    struct px_server *server;    /* NULL unless initialised as server */
    _Atomic unsigned init_count; /* init calls of all roles not yet undone */
    struct px_topo_state topology;
    void *iof; /* its own stdout and stderr as sinks, for ends.h; NULL until used */
    uint64_t iof_gather_ms, iof_drain_ms; /* parameters: core_params.h */
    unsigned nested_inits;      /* of PMIx_Init and PMIx_tool_init in a mere server */
    struct px_process *parents; /* left behind by a forked child; for leak checkers */
};

extern struct px_process px_process;

/* Takes the lock; every init and finalize goes through these two. In a forked child the
 * first call leaves what was the parent's behind, init_count and all, so that the child
 * can start a machine of its own, even if another thread held the lock during the fork.
 * Not on the loop thread (the holder of the lock may be waiting for it): see
 * px_loop_is_current. */
void px_process_lock(void);
/* Returns false if another thread holds the lock. */
bool px_process_trylock(void);
void px_process_unlock(void);

/* Ends it when the calls on their way have returned. For core/role. */
/* base: as for px_loop_create. */
pmix_status_t px_process_start_loop(enum px_progress progress, struct event_base *base);
void px_process_end_loop(void);

/* False in a forked child until it starts a machine of its own: the parent's has no
 * thread there. Any thread, no system call. */
bool px_process_is_mine(void);
/* Whether this thread runs the loop. */
bool px_process_on_loop(void);
/* Posts msg, unless the machine is stopping or has stopped: then false, and msg stays
 * the caller's. For what may come at any time: answers of hosts and event handlers. Any
 * thread. */
bool px_process_post(struct px_msg *msg);

/* px_call of an API function, which another thread may be about to take the loop from:
 * the machine stays until it has returned. PMIX_ERR_INIT: it is stopping or has
 * stopped; else as px_call. */
pmix_status_t px_process_call(px_call_fn fn, void *args);

#endif
