/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that is answered with a status and infos. */
#ifndef PX_CLIENT_INFO_CALL_H
#define PX_CLIENT_INFO_CALL_H

#include "core/client/client.h"

struct px_info_call {
    struct px_api
        api; /* without a start its request is sent, and the reply ends the call */
    pmix_info_t *results;
    size_t n_results;
    pmix_info_cbfunc_t cb; /* posted; may be NULL */
};

/* As px_api_wait. The results go to the caller, also with an error (a partial
 * answer), or nowhere if there is no place for them. */
pmix_status_t px_info_call_wait(struct px_info_call c, pmix_info_t **results,
                                size_t *n);
/* As px_api_post, and cb gets the answer. The user may keep the results until
 * calling the release function, which outlives the call. */
pmix_status_t px_info_call_post(struct px_info_call c, pmix_info_cbfunc_t cb,
                                void *cbdata);

/* The reply of such a call: ends it. op begins with a struct px_info_call. */
void px_info_call_reply(void *op, pmix_status_t status, px_reader *reply);
/* Reads "STATUS, infos" of a reply into the results; infos may be left out. */
pmix_status_t px_info_call_read(struct px_info_call *c, pmix_status_t status,
                                px_reader *reply);

/* support.c: takes over the call, and is true, if some query asks for supported
 * attributes. */
bool px_info_call_support(struct px_info_call *c);

#endif
