/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures of callbacks that users and hosts pass to the library. */
#ifndef PMIX_CALLBACKS_H
#define PMIX_CALLBACKS_H

#include "pmix_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Common rules. The library calls these functions on its own thread. If the program
 * drives progress itself, they run within PMIx_Progress, in the caller's thread. A
 * callback must not block, and must not call a blocking PMIx function: such a call
 * returns PMIX_ERR_WOULD_BLOCK. docs/callbacks.md lists the calls that work at once or
 * are deferred instead. cbdata is the caller's pointer, unchanged. The library owns the
 * arrays and pointers it passes. They are valid until the callback returns; with a
 * release function, until the callee has called that function.
 */

/**
 * Returns the data of a callback to the library: call once, with the release_cbdata
 * received.
 */
typedef void (*pmix_release_cbfunc_t)(void *cbdata);

/** Reports the end of an operation without a result. */
typedef void (*pmix_op_cbfunc_t)(pmix_status_t status, void *cbdata);

/** Returns a requested value; @p value is NULL unless @p status is PMIX_SUCCESS. */
typedef void (*pmix_value_cbfunc_t)(pmix_status_t status, pmix_value_t *value,
                                    void *cbdata);

/** Returns the @p ninfo infos of a reply; @p release_fn may be NULL. */
typedef void (*pmix_info_cbfunc_t)(pmix_status_t status, pmix_info_t *info,
                                   size_t ninfo, void *cbdata,
                                   pmix_release_cbfunc_t release_fn,
                                   void *release_cbdata);

/** Returns published data; incomplete results come with PMIX_ERR_PARTIAL_SUCCESS. */
typedef void (*pmix_lookup_cbfunc_t)(pmix_status_t status, pmix_pdata_t data[],
                                     size_t ndata, void *cbdata);

/** Reports a spawned job, whose namespace is @p nspace. */
typedef void (*pmix_spawn_cbfunc_t)(pmix_status_t status, pmix_nspace_t nspace,
                                    void *cbdata);

/** Reports the end of a fence or a direct fetch, with @p ndata bytes of @p data. */
typedef void (*pmix_modex_cbfunc_t)(pmix_status_t status, const char *data,
                                    size_t ndata, void *cbdata,
                                    pmix_release_cbfunc_t release_fn,
                                    void *release_cbdata);

/** Reports the registration of a handler, which @p refid identifies. */
typedef void (*pmix_hdlr_reg_cbfunc_t)(pmix_status_t status, size_t refid,
                                       void *cbdata);

/** Returns a new credential, with @p info about it. */
typedef void (*pmix_credential_cbfunc_t)(pmix_status_t status,
                                         pmix_byte_object_t *credential,
                                         pmix_info_t info[], size_t ninfo,
                                         void *cbdata);

/** Reports the result of a credential check; @p info lists the proven facts. */
typedef void (*pmix_validation_cbfunc_t)(pmix_status_t status, pmix_info_t info[],
                                         size_t ninfo, void *cbdata);

/** Returns the computed distances to devices. */
typedef void (*pmix_device_dist_cbfunc_t)(pmix_status_t status,
                                          pmix_device_distance_t *dist, size_t ndist,
                                          void *cbdata,
                                          pmix_release_cbfunc_t release_fn,
                                          void *release_cbdata);

/**
 * Ends an event handler. The handler calls this function once, from any thread.
 *
 * @param status       PMIX_EVENT_ACTION_COMPLETE ends the chain; others go on to the
 *                     next
 * @param results      the handler's; passed to later handlers. NULL if none
 * @param cbfunc       called when the library does not need results any more; may be
 *                     NULL
 * @param thiscbdata   passed to cbfunc
 * @param notification_cbdata  the cbdata the handler was called with
 */
typedef void (*pmix_event_notification_cbfunc_fn_t)(
    pmix_status_t status, pmix_info_t *results, size_t nresults,
    pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata);

/**
 * Handles an event for the user. Must call @p cbfunc at the end unless NULL.
 *
 * @param evhdlr_registration_id  the refid of this handler
 * @param status                  the event
 * @param source                  process that raised the event
 * @param info                    facts about the event
 * @param results                 results of earlier handlers in the chain
 */
typedef void (*pmix_notification_fn_t)(size_t evhdlr_registration_id,
                                       pmix_status_t status, const pmix_proc_t *source,
                                       pmix_info_t info[], size_t ninfo,
                                       pmix_info_t *results, size_t nresults,
                                       pmix_event_notification_cbfunc_fn_t cbfunc,
                                       void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
