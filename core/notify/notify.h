/* SPDX-License-Identifier: BSD-3-Clause */
/* Event handlers of this process: registration, order, the chain, late delivery. All
 * roles use these functions. Loop thread only, unless noted. */
#ifndef PX_NOTIFY_NOTIFY_H
#define PX_NOTIFY_NOTIFY_H

#include "core/model/proc_index.h"
#include "core/rt/process.h"
#include "core/types/type.h"

struct px_notify;
struct px_aim;
struct px_client;
struct px_handler;
struct px_model;

/* Creates the event state. client outlives n. */
pmix_status_t px_notify_create(struct px_client *client, struct px_notify **n);
void px_notify_destroy(struct px_notify *n);

/* Calls the handlers that want this event in order, on the loop, each after the answer
 * of the previous one. Copies everything. Events without a handler are cached for later
 * handlers, limited by number, bytes and age. A declared programming model of this
 * process (PMIX_MODEL_DECLARED, PMIX_RANGE_PROC_LOCAL) is cached in any case, for all
 * later handlers. */
pmix_status_t px_notify_deliver(struct px_notify *n, pmix_status_t code,
                                const pmix_proc_t *source, pmix_data_range_t range,
                                const pmix_info_t *info, size_t n_info);

/* Works like px_notify_deliver for an event that a server caches, and does not cache
 * the event here. only: the one handler that may get the event, or NULL. *taken: true
 * if a handler gets the event. */
pmix_status_t px_notify_offer(struct px_notify *n, struct px_aim *aim,
                              const pmix_proc_t *source, pmix_data_range_t range,
                              const px_infos *infos, const struct px_handler *only,
                              bool *taken);

/* Works like px_notify_deliver, but takes the infos unless memory is exhausted. Caches
 * the event only if may_keep is true. */
pmix_status_t px_notify_take(struct px_notify *n, pmix_status_t code,
                             const pmix_proc_t *source, pmix_data_range_t range,
                             px_infos *infos, bool may_keep);

/* Attributes of an event that decide about its receivers, read once for all. */
struct px_aim {
    pmix_status_t code;
    bool non_default; /* PMIX_EVENT_NON_DEFAULT: not for default handlers */
    bool is_custom;   /* has PMIX_EVENT_CUSTOM_RANGE, whose processes are in range */
    bool is_about;    /* names the processes in affected */
    struct px_proc_index range, affected;
};

/* Reads the infos of an event, which must outlive the aim. m localizes the named
 * processes. */
struct px_aim px_aim_of(const struct px_model *m, pmix_status_t code,
                        const pmix_info_t *info, size_t n_info);
void px_aim_fini(struct px_aim *aim);
/* True if proc is in the range of an event from source. aim NULL: no custom range. */
bool px_range_includes(struct px_aim *aim, pmix_data_range_t range,
                       const pmix_proc_t *source, const pmix_proc_t *proc);
/* True if the event names an affected process of a registration, or if the event or the
 * registration names none. */
bool px_aim_concerns(struct px_aim *aim, const pmix_proc_t *affected,
                     size_t n_affected);
/* Sorts codes and removes repeated ones. Returns the new number. */
size_t px_codes_sort(pmix_status_t *codes, size_t n);
bool px_codes_have(const pmix_status_t *sorted, size_t n, pmix_status_t code);

/* Registers the codes of all handlers at the server, for a process that had no server
 * before. Does not wait for the reply. */
pmix_status_t px_notify_connected(struct px_notify *n);

/* Info of PMIX_GROUP_INVITE_ACCEPTED and _CONSTRUCT_COMPLETE: the sender, or all
 * members, will construct the group. */
#define PX_GROUP_CONSTRUCTS "tenon.group.constructs"
/* Info of PMIX_GROUP_LEADER_FAILED: the server awaits PMIX_GROUP_LEADER_SELECTED of
 * each process that has accepted, with PMIX_GROUP_LEADER if the process offers to
 * lead. */
#define PX_GROUP_ELECTS "tenon.group.elects"

/* Answers of the handlers of an event. */
struct px_handled {
    bool aborts; /* the status PMIX_GROUP_CONSTRUCT_ABORT */
    bool leads;  /* the result PMIX_GROUP_LEADER */
};
/* A function that gets the events of some codes after the handlers. */
struct px_event_watch {
    void (*on_event)(void *ctx, pmix_status_t code, const pmix_proc_t *source,
                     const px_infos *infos, const struct px_handled *handled);
    void *ctx;
};
/* Starts to watch. Registers the codes at the server, also beside handlers that are
 * deregistered meanwhile. Another call with the same codes changes nothing. */
pmix_status_t px_notify_watch(struct px_notify *n, const pmix_status_t *codes,
                              size_t n_codes, const struct px_event_watch *watch);
void px_notify_unwatch(struct px_notify *n);
/* True if the events of this process come from a server, where it registers its codes.
 * False for a process that serves, whose handlers see all its events. */
bool px_notify_is_client(const struct px_notify *n);

/* The route of events in a process: one for clients (notify.c), and one for processes
 * that serve (server_init.c). */
struct px_event_route {
    /* Delivers an event of this process. A client then sends the event to its server,
     * too. */
    pmix_status_t (*deliver)(void *ctx, pmix_status_t code, const pmix_proc_t *source,
                             pmix_data_range_t range, const px_infos *info);
    /* Delivers cached events that a new handler wants. */
    void (*replay)(void *ctx, const struct px_handler *h);
};
/* Sets the route of a process that serves. route NULL: the route of clients, as after
 * px_notify_create. */
void px_notify_set_route(struct px_notify *n, const struct px_event_route *route,
                         void *ctx);
/* Delivers the events that n has cached, and that a new handler wants. */
void px_notify_replay_own(struct px_notify *n, const struct px_handler *h);

/* Return the processes of a PMIX_PROC value or array: malloc'd, or borrowed. */
pmix_status_t px_value_procs(const pmix_value_t *v, pmix_proc_t **procs, size_t *n);
pmix_status_t px_value_borrow_procs(const pmix_value_t *v, const pmix_proc_t **procs,
                                    size_t *n);

#endif
