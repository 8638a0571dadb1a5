/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this room: the registered handlers in the order they are
 * called. */
#ifndef PX_NOTIFY_NOTIFY_IMPL_H
#define PX_NOTIFY_NOTIFY_IMPL_H

#include "core/base/list.h"
#include "core/notify/notify.h"

#include <limits.h>

enum px_category {
    PX_FIRST_OF_ALL, /* at most one, as in PX_LAST_OF_ALL */
    PX_SINGLE_CODE,
    PX_MULTI_CODE,
    PX_DEFAULT,
    PX_LAST_OF_ALL,
};

struct px_handler {
    struct px_list link;
    enum px_category category;
    int edge; /* -1: first in its category; 1: last in it; 0: between */
    size_t id;
    char *name;
    pmix_status_t *codes;
    size_t n_codes; /* 0: default handler */
    pmix_proc_t *affected;
    size_t n_affected;
    pmix_data_range_t range; /* events from outside of it are not wanted; UNDEF: any */
    pmix_proc_t *sources;    /* custom range */
    size_t n_sources;
    pmix_notification_fn_t fn;
    void *object; /* PMIX_EVENT_RETURN_OBJECT */
    bool has_object;
    bool oneshot;
};

struct px_handlers {
    struct px_list list;
    size_t next_id;
};

void px_handlers_fini(struct px_handlers *all);
/* Places a new handler as info asks. PMIX_ERR_EVENT_REGISTRATION if the place is taken,
 * or info names a missing handler or the far side of an edge; PMIX_ERR_BAD_PARAM. */
pmix_status_t px_handlers_add(struct px_handlers *all, const pmix_status_t *codes,
                              size_t n_codes, const pmix_info_t *info, size_t n_info,
                              pmix_notification_fn_t fn, struct px_handler **added);
struct px_handler *px_handlers_find(const struct px_handlers *all, size_t id);
/* Takes it out and frees it. */
void px_handlers_remove(struct px_handler *handler);
/* Stands for default handlers, on the wire when the last of them goes. */
#define PX_DEFAULT_CODE INT_MIN
/* The codes that no other handler has; malloc'd, NULL without memory. */
pmix_status_t *px_handlers_only_of(const struct px_handlers *all,
                                   const struct px_handler *handler, size_t *n);

struct px_notify {
    struct px_client *client;
    struct px_handlers handlers;
    struct px_list running; /* events whose handlers are being called */
    struct px_list cached;
    size_t n_cached;
    struct px_notify_hooks hooks;
    atomic_uint n_sent; /* PMIx_Notify_event calls that block */
};

/* Delivers an event that this process notifies, as px_notify_deliver does. An event for
 * which the server has a later handler's copy is not kept here. */
pmix_status_t px_notify_deliver_own(struct px_notify *n, pmix_status_t code,
                                    const pmix_proc_t *source, pmix_data_range_t range,
                                    const pmix_info_t *info, size_t n_info);
/* Events that came before this handler did. */
void px_notify_replay(struct px_notify *n, const struct px_handler *h);
/* A server's own handlers see what passes through it; only those that are none, or
 * have left events to their own server, have one to ask. */
bool px_notify_has_server(const struct px_notify *n);
/* Takes a handler out; the server learns which codes have no handler here any more. */
void px_notify_retire(struct px_notify *n, struct px_handler *h);

#endif
