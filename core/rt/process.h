/* SPDX-License-Identifier: BSD-3-Clause */
/* The process: the only writable global of the library, and the entries to its loop. */
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
    void *handle; /* made on first use, under lock */
};

struct px_process {
    pthread_mutex_t lock;   /* held only during init and finalize of any role */
    _Atomic pid_t pid;      /* owner of the state; a forked child's getpid() differs */
    _Atomic uint8_t *stamp; /* 1, but 0 in a forked child; NULL on old kernels */
    char host[256];         /* name of this node; "" before the first role */
    _Atomic int log_level;
    atomic_uint log_lost; /* lines lost since the last one written */
    struct px_topo_state topology;
    _Atomic(void *) scratch; /* buffer of an earlier loop for the next one, or NULL */
    void *iof; /* own stdout and stderr as sinks (core/iof/ends.h); NULL before first
                * use */
    uint64_t iof_gather_ms, iof_drain_ms; /* parameters, see core_params.h */
    struct px_process *parents; /* the parent's state in a forked child, for leak
                                 * checkers */

    /* The members below are zero in a forked child. */
    unsigned users;         /* number of role begins without an end */
    unsigned role_users[3]; /* client, server, tool */
    unsigned roles;         /* enum px_role, or-ed */
    struct px_loop *loop;
    atomic_bool open;               /* px_process_post may use the loop */
    atomic_uint posters;            /* px_process_post calls in progress */
    _Atomic(struct px_msg *) spent; /* blocks of px_process_free_msg, newest first */
    atomic_uint n_spent;
    struct px_params *params;
    struct px_selection *selection; /* opened components of each framework */
    const char *server_address;     /* address for a starting client, see
                                 * px_selection_open */
    struct px_model *model;
    struct px_read_gate model_gate; /* gate for readers of the model in other threads */
    struct px_notify *notify;
    struct px_client *client;    /* for all API calls, in every role */
    struct px_server *server;    /* NULL unless initialised as server */
    _Atomic unsigned init_count; /* init calls of all roles without a finalize */
    unsigned nested_inits;       /* calls of PMIx_Init and PMIx_tool_init in a process
                                  * that is only a server */
};

extern struct px_process px_process;

/* Takes the lock; every init and finalize uses px_process_lock and px_process_unlock.
 * The first call in a forked child discards the parent's state, including init_count.
 * The child can then start its own machine, even if another thread held the lock during
 * the fork. Not on the loop thread, because the lock's holder may wait for it
 * (px_loop_is_current). */
void px_process_lock(void);
/* Takes the lock if it is free; otherwise returns false. */
bool px_process_trylock(void);
void px_process_unlock(void);

/* Starts the loop. base: see px_loop_create. px_process_end_loop ends the loop after
 * pending calls. Used by core/role. */
pmix_status_t px_process_start_loop(enum px_progress progress, struct event_base *base);
void px_process_end_loop(void);

/* True if this process started the machine. False in a forked child until it starts its
 * own, because the parent's has no thread there. Any thread, no system call. */
bool px_process_is_mine(void);
/* True if this thread runs the loop. */
bool px_process_on_loop(void);
/* Posts msg. Returns false if the machine is stopping or stopped; msg then stays the
 * caller's. Used for events at any time, such as answers of hosts and event handlers.
 * Any thread. */
bool px_process_post(struct px_msg *msg);
/* Allocates a structure of size bytes whose first member is a message to post.
 * Returns NULL without memory. Any thread. */
void *px_process_alloc_msg(size_t size);
/* Frees such a structure after its message has run: now, or in the next
 * px_process_alloc_msg. Two threads would otherwise wait for the lock of one heap, if
 * one allocates and the other frees. Any thread. */
void px_process_free_msg(void *msg);

/* Performs px_call for an API function, and holds the loop until px_call returns.
 * Returns PMIX_ERR_INIT if the machine is stopping or stopped. */
pmix_status_t px_process_call(px_call_fn fn, void *args);

#endif
