/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared declarations of this room: registered handlers in call order. */
#ifndef PX_NOTIFY_NOTIFY_IMPL_H
#define PX_NOTIFY_NOTIFY_IMPL_H

#include "core/base/list.h"
#include "core/notify/notify.h"

#include <limits.h>

enum px_category {
    PX_FIRST_OF_ALL, /* at most one handler; also for PX_LAST_OF_ALL */
    PX_SINGLE_CODE,
    PX_MULTI_CODE,
    PX_DEFAULT,
    PX_LAST_OF_ALL,
};

struct px_handler {
    struct px_list link;
    enum px_category category;
    int edge; /* -1: first in its category; 1: last in its category; 0: between */
    size_t id;
    char *name;
    pmix_status_t *codes; /* sorted, each once */
    size_t n_codes;       /* 0: a default handler */
    pmix_proc_t *affected;
    size_t n_affected;
    pmix_data_range_t range; /* wanted range of sources; UNDEF: any */
    pmix_proc_t *sources;    /* members of a custom range */
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
/* Adds a handler at the position that info describes. Returns
 * PMIX_ERR_EVENT_REGISTRATION if the position is taken, info names a missing handler,
 * or the far side of an edge. Returns PMIX_ERR_BAD_PARAM for a bad info. */
pmix_status_t px_handlers_add(struct px_handlers *all, const pmix_status_t *codes,
                              size_t n_codes, const pmix_info_t *info, size_t n_info,
                              pmix_notification_fn_t fn, struct px_handler **added);
struct px_handler *px_handlers_find(const struct px_handlers *all, size_t id);
/* Removes and frees a handler. */
void px_handlers_remove(struct px_handler *handler);
/* Code of default handlers in messages, sent after the last default handler is
 * removed. */
#define PX_DEFAULT_CODE INT_MIN
/* Returns the codes that no other handler has; malloc'd, NULL without memory. */
pmix_status_t *px_handlers_only_of(const struct px_handlers *all,
                                   const struct px_handler *handler, size_t *n);

struct px_notify {
    struct px_client *client;
    struct px_handlers handlers;
    struct px_list running; /* events whose handlers are being called */
    struct px_list cached;
    size_t n_cached, cached_b;
    const struct px_event_route *route;
    void *route_ctx; /* first argument of the route's functions */
    struct px_event_watch watch;
    size_t watch_id; /* handler that keeps the codes of the watch registered */
    bool watches;
    atomic_uint n_sent; /* blocking PMIx_Notify_event calls, see must_wait */
};

/* True if the process has a route of its own, as servers have. */
bool px_notify_serves(const struct px_notify *n);
/* Removes a handler. Reports to the server the codes that have no handler here any
 * more. */
void px_notify_retire(struct px_notify *n, struct px_handler *h);

#endif
