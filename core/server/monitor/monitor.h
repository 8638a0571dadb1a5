/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitors: heartbeats of a process, changes of a file, and usage of resources, on
 * this node. Each monitor belongs to the connection that requested it, and ends with
 * the connection. Loop thread only. */
#ifndef PX_SERVER_MONITOR_MONITOR_H
#define PX_SERVER_MONITOR_MONITOR_H

#include "core/base/list.h"
#include "core/rt/loop.h"
#include "pmix_common.h"

#include <stdint.h>

struct px_server;
struct px_upcall;

/* Part state. */
struct px_monitors {
    struct px_server *server;
    struct px_list all;
    struct px_date *dates; /* of the monitors with a period, in no order */
    size_t n_dates, cap_dates;
    size_t n_waiting; /* monitors whose heartbeats may wait in sockets */
    struct px_timer *timer;
    struct px_msg check; /* checks the monitors that are due at now_ms */
    bool is_posted;
    bool is_off; /* PMIX_SERVER_ENABLE_MONITORING is false: only the host monitors */
    uint64_t now_ms;
    uint64_t read_ms;   /* when waiting heartbeats are read in any case */
    uint64_t next_ms;   /* when the timer is set to run; UINT64_MAX: never */
    uint64_t n_wakeups; /* checks with due monitors */
};

/* Serves PMIx_Process_monitor. Returns PMIX_SUCCESS if px_upcall_info_cb answers later,
 * else the answer. PMIX_ERR_NOT_SUPPORTED: only the host can serve the request. The
 * results have the reason of an error. */
pmix_status_t px_monitor(struct px_server *srv, struct px_upcall *u);

/* Posts a check of the monitors that are due at now_ms. The timer calls this
 * function. */
void px_monitors_check(struct px_server *srv, uint64_t now_ms);

#endif
