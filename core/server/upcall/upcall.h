/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcalls: what is handed to the host and how its answer comes back, from any thread,
 * inside the upcall or never. One object serves every shape of callback the host module
 * has. */
#ifndef PX_SERVER_UPCALL_UPCALL_H
#define PX_SERVER_UPCALL_UPCALL_H

#include "core/base/list.h"
#include "core/rt/loop.h"
#include "core/wire/requests.h"
#include "pmix_server.h"

#include <stdatomic.h>

struct px_req;
struct px_server;

struct px_upcall;

/* Runs on the loop, once, with the host's answer (see the members below), or with
 * PMIX_ERR_LOST_CONNECTION and nothing else when the server stops first. */
typedef void (*px_upcall_fn)(void *arg, const struct px_upcall *answer);

struct px_upcall {
    struct px_msg msg;
    struct px_list link; /* outstanding */
    px_upcall_fn fn;
    void *arg;
    bool orphan; /* the server stopped: the answer is dropped */
    atomic_bool is_answered;
    const char *function; /* of the caller, for the log; NULL: the server itself asks */
    /* the host's answer */
    pmix_status_t status;
    px_infos infos;
    pmix_pdata_t *pdata;
    size_t n_pdata;
    pmix_proc_t name; /* of a tool; of a new job, its namespace */
    px_buf bytes;
    /* The host's, called on the loop: hosts answer with a lock held that it takes
     * too. */
    pmix_release_cbfunc_t release;
    void *release_data;
    /* what the host may read until it answers; freed with the object */
    pmix_proc_t proc;
    struct px_args args;
    px_buf blob;
    px_infos known; /* of a query: what was answered here */
    bool done;      /* of job control: all of it was done here */
};

/* Makes a call of the host, which px_upcalls_stop ends. NULL: out of memory. */
struct px_upcall *px_upcall_new(struct px_server *srv, px_upcall_fn fn, void *arg);
/* Makes the same on behalf of a request, which is fn's argument; proc is the process
 * that made the request. */
struct px_upcall *px_upcall_for(struct px_req *req, px_upcall_fn fn);
/* Never handed out after all. NULL is fine. */
void px_upcall_drop(struct px_upcall *u);
/* The host function's return value: anything but PMIX_SUCCESS means that no callback
 * comes, and is itself the answer (PMIX_OPERATION_SUCCEEDED: PMIX_SUCCESS). */
void px_upcall_returned(struct px_upcall *u, pmix_status_t rc);
/* Server stops: everything outstanding is answered, late answers of the host are
 * swallowed. */
void px_upcalls_stop(struct px_server *srv);

/* Callbacks to hand out, cbdata is the upcall. Any thread. */
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
