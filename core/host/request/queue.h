/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue of a host with a number of slots: a job takes a slot for each of its processes.
 * Requests that need more than the free slots wait, first come, first served. Loop
 * thread only. */
#ifndef PX_HOST_QUEUE_H
#define PX_HOST_QUEUE_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/host/request/plan.h"
#include "pmix_server.h"

struct px_loop;
struct px_timer;

/* Arguments of a spawn. The caller of the host keeps them until the answer. */
struct px_asked {
    pmix_proc_t proc; /* that asks, or in whose name another process asks */
    bool own;         /* the program that runs this host asks */
    bool is_exempt; /* does not wait: the program of this host, or a process that holds
                       * slots of its own job, and may wait for the new one */
    const pmix_info_t *info;
    size_t n_info;
    const pmix_app_t *apps;
    size_t n_apps;
    pmix_spawn_cbfunc_t cb;
    void *cbdata;
};

struct px_queue {
    struct px_list waiting; /* of struct px_waiting (queue.c), oldest first */
    uint32_t n_slots;       /* 0: no queue, no job waits */
    uint32_t n_taken;       /* may exceed n_slots by jobs of processes */
    struct px_timer *timer; /* serves the queue in the next turn; NULL: none yet */
    struct px_loop *loop;
    /* Starts the job of a request that has waited, and has its slots now. left_ms:
     * until the time limit for the launch; 0: no limit. */
    void (*start)(void *arg, const struct px_asked *asked, uint32_t n_slots,
                  uint64_t left_ms);
    void *arg;
};

/* Decides on the request of a plan. PMIX_SUCCESS: the job starts now, with its slots.
 * PMIX_OPERATION_IN_PROGRESS: the request waits; q->start follows, or an answer.
 * PMIX_ERR_JOB_INSUFFICIENT_RESOURCES: there are not so many slots.
 * PMIX_ERR_RESOURCE_BUSY: the request is not to wait. PMIX_ERR_NOMEM. */
pmix_status_t px_queue_ask(struct px_queue *q, const struct px_asked *asked,
                           const px_plan *plan, uint32_t *n_slots, struct px_err *err);
/* Gives slots back. Requests are served in the next turn. */
void px_queue_give_back(struct px_queue *q, uint32_t n_slots);
/* Removes and answers the requests of a process that has left; NULL: all requests. */
void px_queue_drop(struct px_queue *q, const pmix_proc_t *proc, pmix_status_t status);
void px_queue_fini(struct px_queue *q);

#endif
