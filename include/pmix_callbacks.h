/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures of the functions users and hosts hand to the library. */
#ifndef PMIX_CALLBACKS_H
#define PMIX_CALLBACKS_H

#include "pmix_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Common rules. The library calls these on its own thread (in the caller's thread
 * within PMIx_Progress where the program drives progress itself); a callback must not
 * block and must not call a blocking PMIx function: those answer PMIX_ERR_WOULD_BLOCK
 * there. docs/callbacks.md lists the calls that are taken for later instead.
 * cbdata is what the caller passed, untouched. Arrays and pointers the library
 * passes stay the library's and are good until the callback returns, or, where a
 * release function comes with them, until the callee has called it.
 */

/**
 * Gives back what came with a callback: call once, with the release_cbdata received.
 */
typedef void (*pmix_release_cbfunc_t)(void *cbdata);

/** An operation without a result has ended with @p status. */
typedef void (*pmix_op_cbfunc_t)(pmix_status_t status, void *cbdata);

/** A value was asked for; @p value is NULL unless @p status is PMIX_SUCCESS. */
typedef void (*pmix_value_cbfunc_t)(pmix_status_t status, pmix_value_t *value,
                                    void *cbdata);

/** A request was answered with @p ninfo infos; @p release_fn may be NULL. */
typedef void (*pmix_info_cbfunc_t)(pmix_status_t status, pmix_info_t *info,
                                   size_t ninfo, void *cbdata,
                                   pmix_release_cbfunc_t release_fn,
                                   void *release_cbdata);

/** Published data was found; partial results come with PMIX_ERR_PARTIAL_SUCCESS. */
typedef void (*pmix_lookup_cbfunc_t)(pmix_status_t status, pmix_pdata_t data[],
                                     size_t ndata, void *cbdata);

/** A job was spawned under @p nspace. */
typedef void (*pmix_spawn_cbfunc_t)(pmix_status_t status, pmix_nspace_t nspace,
                                    void *cbdata);

/** A fence or a direct fetch has ended with @p ndata bytes of @p data. */
typedef void (*pmix_modex_cbfunc_t)(pmix_status_t status, const char *data,
                                    size_t ndata, void *cbdata,
                                    pmix_release_cbfunc_t release_fn,
                                    void *release_cbdata);

/** A handler was registered; @p refid names it from now on. */
typedef void (*pmix_hdlr_reg_cbfunc_t)(pmix_status_t status, size_t refid,
                                       void *cbdata);

/** A credential was made, with @p info about it. */
typedef void (*pmix_credential_cbfunc_t)(pmix_status_t status,
                                         pmix_byte_object_t *credential,
                                         pmix_info_t info[], size_t ninfo,
                                         void *cbdata);

/** A credential was checked; @p info says what it proves. */
typedef void (*pmix_validation_cbfunc_t)(pmix_status_t status, pmix_info_t info[],
                                         size_t ninfo, void *cbdata);

/** Distances to devices were computed. */
typedef void (*pmix_device_dist_cbfunc_t)(pmix_status_t status,
                                          pmix_device_distance_t *dist, size_t ndist,
                                          void *cbdata,
                                          pmix_release_cbfunc_t release_fn,
                                          void *release_cbdata);

/**
 * An event handler calls this when it is done, once, from any thread.
 *
 * @param status       PMIX_EVENT_ACTION_COMPLETE ends the chain; others go on to the
 *                     next
 * @param results      the handler's; passed to later handlers. NULL if none
 * @param cbfunc       called when the library no longer needs results; may be NULL
 * @param thiscbdata   passed to cbfunc
 * @param notification_cbdata  the cbdata the handler was called with
 */
typedef void (*pmix_event_notification_cbfunc_fn_t)(
    pmix_status_t status, pmix_info_t *results, size_t nresults,
    pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata);

/**
 * An event handler of the user. It must call @p cbfunc when done unless that is NULL.
 *
 * @param evhdlr_registration_id  the refid of this handler
 * @param status                  the event
 * @param source                  who raised it
 * @param info                    what is known of it
 * @param results                 what earlier handlers in the chain returned
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
