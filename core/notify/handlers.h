/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered handlers in the order they are called. */
#ifndef PX_NOTIFY_HANDLERS_H
#define PX_NOTIFY_HANDLERS_H

#include "core/base/list.h"
#include "core/types/type.h"
#include "pmix_common.h"

enum px_category { PX_SINGLE_CODE, PX_MULTI_CODE, PX_DEFAULT_CODE, PX_N_CATEGORIES };

struct px_handler {
    struct px_list link;
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
    bool in_category_first, in_category_last;
};

struct px_handlers {
    struct px_handler *first, *last; /* at most one each, before and after all others */
    struct px_list category[PX_N_CATEGORIES];
    size_t next_id;
};

void px_handlers_init(struct px_handlers *h);
void px_handlers_fini(struct px_handlers *h);
/* Places a new handler as info asks. PMIX_ERR_EVENT_REGISTRATION if the place is
 * taken or the handler it names does not exist; PMIX_ERR_BAD_PARAM. */
pmix_status_t px_handlers_add(struct px_handlers *h, const pmix_status_t *codes,
                              size_t n_codes, const pmix_info_t *info, size_t n_info,
                              pmix_notification_fn_t fn, struct px_handler **added);
struct px_handler *px_handlers_find(const struct px_handlers *h, size_t id);
/* Takes it out and frees it. */
void px_handlers_remove(struct px_handlers *h, struct px_handler *handler);
/* The one called after the handler with this id (SIZE_MAX: from the start); NULL at
 * the end. A handler that has gone since ends the chain. */
struct px_handler *px_handlers_next(const struct px_handlers *h, size_t after);
/* Procs of a PMIX_PROC or array-of-PMIX_PROC value: malloc'd, or borrowed. */
pmix_status_t px_value_procs(const pmix_value_t *v, pmix_proc_t **procs, size_t *n);
pmix_status_t px_value_borrow_procs(const pmix_value_t *v, const pmix_proc_t **procs,
                                    size_t *n);

#endif
