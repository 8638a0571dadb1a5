/* SPDX-License-Identifier: BSD-3-Clause */
/* Event handlers of this process: registration, order, the chain, late delivery. All
 * roles use these functions. Loop thread only, unless noted. */
#ifndef PX_NOTIFY_NOTIFY_H
#define PX_NOTIFY_NOTIFY_H

#include "core/rt/process.h"
#include "core/types/type.h"

struct px_notify;
struct px_client;
struct px_model;

/* Creates the event state. client outlives n. */
pmix_status_t px_notify_create(struct px_client *client, struct px_notify **n);
void px_notify_destroy(struct px_notify *n);

/* Calls the handlers that want this event in order, on the loop, each after the answer
 * of the previous one. Copies everything. Events without a handler are cached (bounded)
 * for later handlers. A declared programming model of this process
 * (PMIX_MODEL_DECLARED, PMIX_RANGE_PROC_LOCAL) is cached in any case, for all later
 * handlers. */
pmix_status_t px_notify_deliver(struct px_notify *n, pmix_status_t code,
                                const pmix_proc_t *source, pmix_data_range_t range,
                                const pmix_info_t *info, size_t n_info);

/* Works like px_notify_deliver, but takes the infos unless memory is exhausted. Caches
 * the event only if may_keep is true. */
pmix_status_t px_notify_take(struct px_notify *n, pmix_status_t code,
                             const pmix_proc_t *source, pmix_data_range_t range,
                             px_infos *infos, bool may_keep);

/* True if proc is in the range of an event from source. info may contain a custom
 * range, whose members m localizes. */
bool px_range_includes(const struct px_model *m, pmix_data_range_t range,
                       const pmix_proc_t *source, const pmix_info_t *info,
                       size_t n_info, const pmix_proc_t *proc);
/* True if a registration with these codes (n_codes 0: default handler) takes the event.
 * Default handlers do not take PMIX_EVENT_NON_DEFAULT events. Affected processes in the
 * registration must match. */
bool px_event_wanted(const struct px_model *m, const pmix_status_t *codes,
                     size_t n_codes, const pmix_proc_t *affected, size_t n_affected,
                     pmix_status_t code, const pmix_info_t *info, size_t n_info);

/* Hook of a server process, whose own notifications go to its clients. */
struct px_notify_hooks {
    void (*own_event)(void *ctx, pmix_status_t code, const pmix_proc_t *source,
                      pmix_data_range_t range, const pmix_info_t *info, size_t n_info);
    void *ctx;
};
void px_notify_set_hooks(struct px_notify *n, const struct px_notify_hooks *hooks);

/* Return the processes of a PMIX_PROC value or array: malloc'd, or borrowed. */
pmix_status_t px_value_procs(const pmix_value_t *v, pmix_proc_t **procs, size_t *n);
pmix_status_t px_value_borrow_procs(const pmix_value_t *v, const pmix_proc_t **procs,
                                    size_t *n);

#endif
