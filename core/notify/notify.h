/* SPDX-License-Identifier: BSD-3-Clause */
/* Event handlers of this process: registration, order, the chain, late delivery. All
 * roles use it; where events come from is theirs. Loop thread only, except where
 * said. */
#ifndef PX_NOTIFY_NOTIFY_H
#define PX_NOTIFY_NOTIFY_H

#include "core/rt/process.h"
#include "core/types/type.h"

struct px_notify;
struct px_client;
struct px_model;

/* client: outlives n. */
pmix_status_t px_notify_create(struct px_client *client, struct px_notify **n);
void px_notify_destroy(struct px_notify *n);

/* Runs the chain of handlers that want this event, one after the other, each called
 * on the loop when the one before has answered. Copies everything. Events without a
 * handler are kept (bounded) for handlers that register later. A declared programming
 * model of this process (PMIX_MODEL_DECLARED, PMIX_RANGE_PROC_LOCAL) is kept for each
 * of them, also if it had a handler. */
pmix_status_t px_notify_deliver(struct px_notify *n, pmix_status_t code,
                                const pmix_proc_t *source, pmix_data_range_t range,
                                const pmix_info_t *info, size_t n_info);

/* The same, but it takes the infos, unless there is no memory. */
pmix_status_t px_notify_take(struct px_notify *n, pmix_status_t code,
                             const pmix_proc_t *source, pmix_data_range_t range,
                             px_infos *infos);

/* True if proc is in the range of an event from source. info may carry a custom range,
 * whose members m localizes. */
bool px_range_includes(const struct px_model *m, pmix_data_range_t range,
                       const pmix_proc_t *source, const pmix_info_t *info,
                       size_t n_info, const pmix_proc_t *proc);
/* True if a registration with these codes (n_codes 0: default handler) takes the event.
 * A PMIX_EVENT_NON_DEFAULT event passes default handlers by. Affected processes, if the
 * registration named some, must match. */
bool px_event_wanted(const struct px_model *m, const pmix_status_t *codes,
                     size_t n_codes, const pmix_proc_t *affected, size_t n_affected,
                     pmix_status_t code, const pmix_info_t *info, size_t n_info);

/* How this process tells its server; set by the client role's init (through the
 * channel), used by PMIx_Register_event_handler, _Deregister_event_handler and
 * PMIx_Notify_event. A server process sets own_event so that its notifications go to
 * its clients. */
struct px_notify_hooks {
    void (*own_event)(void *ctx, pmix_status_t code, const pmix_proc_t *source,
                      pmix_data_range_t range, const pmix_info_t *info, size_t n_info);
    void *ctx;
};
void px_notify_set_hooks(struct px_notify *n, const struct px_notify_hooks *hooks);

/* Procs of a PMIX_PROC or array-of-PMIX_PROC value: malloc'd, or borrowed. */
pmix_status_t px_value_procs(const pmix_value_t *v, pmix_proc_t **procs, size_t *n);
pmix_status_t px_value_borrow_procs(const pmix_value_t *v, const pmix_proc_t **procs,
                                    size_t *n);

#endif
