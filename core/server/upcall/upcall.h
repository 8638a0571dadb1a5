/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcalls: calls of host functions, and their answers. An answer comes from any thread,
 * inside the upcall, or never. One object serves every type of callback of the
 * module. */
#ifndef PX_SERVER_UPCALL_UPCALL_H
#define PX_SERVER_UPCALL_UPCALL_H

#include "core/base/list.h"
#include "core/rt/loop.h"
#include "core/wire/requests.h"
#include "pmix_server.h"

#include <stdatomic.h>

struct px_answers;
struct px_cleanup_request;
struct px_req;
struct px_server;

struct px_upcall;

/* Called on the loop, once, with the host's answer (see the members below). When the
 * server stops first, answer has PMIX_ERR_LOST_CONNECTION and nothing else. */
typedef void (*px_upcall_fn)(void *arg, const struct px_upcall *answer);

struct px_upcall {
    struct px_msg msg;
    struct px_list link; /* in px_server.upcalls */
    px_upcall_fn fn;
    void *arg;
    bool orphan; /* the server stopped: the answer is dropped */
    atomic_bool is_answered;
    const char *function; /* the caller's, for the log; NULL: the server itself calls */
    /* the host's answer */
    pmix_status_t status;
    px_infos infos;
    pmix_pdata_t *pdata;
    size_t n_pdata;
    pmix_proc_t name; /* name of a tool; of a new job, the namespace */
    px_buf bytes;
    /* The host's release function, called on the loop: hosts answer with a lock held
     * that the function takes, too. */
    pmix_release_cbfunc_t release;
    void *release_data;
    /* data the host may read until it answers; freed with the object */
    pmix_proc_t proc;
    struct px_args args;
    px_buf blob;
    struct px_answers *answers;         /* of a query; else NULL */
    struct px_cleanup_request *cleanup; /* of job control; else NULL */
    bool done; /* job control: this server has done everything */
};

/* Creates an upcall, which px_upcalls_stop ends. fn NULL: the answer does not matter.
 * Returns NULL if out of memory. */
struct px_upcall *px_upcall_new(struct px_server *srv, px_upcall_fn fn, void *arg);
/* Creates an upcall for a request, which is fn's argument. proc is the process that
 * made the request. */
struct px_upcall *px_upcall_for(struct px_req *req, px_upcall_fn fn);
/* Frees an upcall before the host is called. NULL is fine. */
void px_upcall_drop(struct px_upcall *u);
/* Handles the return value of the host's function. Any value but PMIX_SUCCESS is the
 * answer, without a callback (PMIX_OPERATION_SUCCEEDED: PMIX_SUCCESS). */
void px_upcall_returned(struct px_upcall *u, pmix_status_t rc);
/* Answers all pending upcalls, as the server stops. Later answers of the host are
 * dropped. */
void px_upcalls_stop(struct px_server *srv);

/* Callbacks for the host; cbdata is the upcall. Any thread. */
void px_upcall_op_cb(pmix_status_t status, void *cbdata);
void px_upcall_info_cb(pmix_status_t status, pmix_info_t *info, size_t n, void *cbdata,
                       pmix_release_cbfunc_t release, void *release_data);
void px_upcall_lookup_cb(pmix_status_t status, pmix_pdata_t *pdata, size_t n,
                         void *cbdata);
void px_upcall_spawn_cb(pmix_status_t status, char *nspace, void *cbdata);
void px_upcall_tool_cb(pmix_status_t status, pmix_proc_t *proc, void *cbdata);
void px_upcall_credential_cb(pmix_status_t status, pmix_byte_object_t *credential,
                             pmix_info_t info[], size_t n, void *cbdata);
void px_upcall_validation_cb(pmix_status_t status, pmix_info_t info[], size_t n,
                             void *cbdata);
void px_upcall_modex_cb(pmix_status_t status, const char *data, size_t n, void *cbdata,
                        pmix_release_cbfunc_t release, void *release_data);

#endif
