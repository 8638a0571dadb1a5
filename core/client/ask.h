/* SPDX-License-Identifier: BSD-3-Clause */
/* A request whose answer is a status and infos: the first member of the operation of every call of
 * that kind. */
#ifndef PX_CLIENT_ASK_H
#define PX_CLIENT_ASK_H

#include "core/client/client.h"

struct px_ask {
    struct px_api api;
    pmix_info_t *results;
    size_t n_results;
    pmix_info_cbfunc_t cb; /* not blocking; NULL: nobody wants to know */
};

/* Sends w; the reply ends the call. */
void px_ask_send(struct px_ask *ask, px_writer *w);
/* As px_api_wait. The results go to the caller, also with an error (a partial answer), or nowhere
 * if he has no place for them. */
pmix_status_t px_ask_wait(struct px_ask *ask, pmix_info_t **results, size_t *n);
/* Reads "STATUS, infos" of a reply; infos may be left out. */
pmix_status_t px_ask_read(px_reader *reply, pmix_info_t **results, size_t *n);
/* As px_api_post, and cb gets the answer. The user may keep the results until he calls the release
 * function, which outlives the call. */
pmix_status_t px_ask_post(struct px_ask *ask, size_t size, pmix_info_cbfunc_t cb,
                          void *cbdata);

/* support.c: takes over the call, and is true, if some query asks for supported attributes. */
bool px_ask_support(struct px_ask *ask, const pmix_query_t *queries, size_t n);

#endif
