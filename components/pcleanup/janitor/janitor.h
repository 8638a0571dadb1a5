/* SPDX-License-Identifier: BSD-3-Clause */
/* The janitor process, and how its server talks to it: orders by a packet socket. */
#ifndef PX_PCLEANUP_JANITOR_H
#define PX_PCLEANUP_JANITOR_H

#include "core/reclaim/worker.h"

enum janitor_order {
    ORDER_JOURNAL =
        1,      /* with the descriptors of folder and journal, for earlier ones */
    ORDER_END,  /* the server has ended in order: nothing is left to do */
    ORDER_LEFT, /* it has ended in order, but scopes are left whose processes live */
};

struct janitor_plan {
    int sock;
    pid_t server;
    const char *dir;
    const char *node;
    uint32_t timeout_ms;
    bool reports; /* what stays, and why */
};

/* In a process made by px_reclaim_fork. Ends when the server has, and nothing is left
 * to do. */
PX_NORETURN void px_janitor_main(const struct janitor_plan *plan);

#endif
