/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of the host: copied in the thread that gives them, handled on the loop. */
#include "core/server/cleanup/request.h"
#include "core/server/upcall/upcall.h"

#include "core/base/str.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/query/answers.h"
#include "core/server/server.h"

#include <string.h>

struct px_upcall *px_upcall_new(struct px_server *srv, px_upcall_fn fn, void *arg)
{
    struct px_upcall *u = malloc(sizeof(*u));

    if (!u)
        return NULL;
    *u = (struct px_upcall){.fn = fn, .arg = arg};
    px_list_append(&srv->upcalls, &u->link);
    return u;
}

struct px_upcall *px_upcall_for(struct px_req *req, px_upcall_fn fn)
{
    struct px_upcall *u = px_upcall_new(req->peer->server, fn, req);

    if (u)
        u->proc = req->peer->proc;
    return u;
}

void px_upcall_drop(struct px_upcall *u)
{
    if (!u)
        return;
    px_list_remove(&u->link);
    px_infos_cleanup(&u->infos);
    if (u->answers)
        px_answers_cleanup(u->answers);
    free(u->answers);
    if (u->cleanup)
        px_cleanup_request_fini(u->cleanup);
    free(u->cleanup);
    px_type_free_array(PMIX_PDATA, u->pdata, u->n_pdata);
    px_buf_cleanup(&u->bytes);
    px_args_cleanup(&u->args);
    px_buf_cleanup(&u->blob);
    if (u->release)
        u->release(u->release_data);
    free(u);
}

static void on_answer(struct px_msg *msg)
{
    struct px_upcall *u = PX_CONTAINER_OF(msg, struct px_upcall, msg);

    if (u->function && !u->orphan && u->status == PMIX_ERR_NOT_SUPPORTED) {
        struct px_req *req = u->arg; /* of each upcall with a function */

        px_req_refused(req, u->function,
                       req->peer->server->host
                           ? "the built-in host does not support the request"
                           : "the host does not support the request");
    }
    if (!u->orphan && u->fn)
        u->fn(u->arg, u);
    px_upcall_drop(u);
}

/* True for the first answer, which counts. Some hosts call back and return an error,
 * too. */
static bool is_first_answer(struct px_upcall *u)
{
    return !atomic_exchange(&u->is_answered, true);
}

static void answered(struct px_upcall *u, pmix_status_t status)
{
    u->status = status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
    u->msg.run = on_answer;
    if (!px_process_post(&u->msg))
        px_upcall_drop(u); /* the host answers after the server's end */
}

/* Handles an answer that has a release function. counts: it is the first answer. */
static void answered_releasing(struct px_upcall *u, bool counts, pmix_status_t status,
                               pmix_release_cbfunc_t release, void *release_data)
{
    if (counts) {
        u->release = release;
        u->release_data = release_data;
        answered(u, status);
    } else if (release) {
        release(release_data);
    }
}

void px_upcall_returned(struct px_upcall *u, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS && is_first_answer(u))
        answered(u, rc);
}

void px_upcalls_stop(struct px_server *srv)
{
    while (!px_list_empty(&srv->upcalls)) {
        struct px_upcall *u = PX_CONTAINER_OF(srv->upcalls.next, struct px_upcall,
                                              link);
        /* Not u itself, as the host may be writing to it in another thread. */
        const struct px_upcall lost = {.status = PMIX_ERR_LOST_CONNECTION};

        px_list_remove(&u->link); /* not freed: the host may still have it */
        u->orphan = true;
        if (u->fn)
            u->fn(u->arg, &lost);
    }
}

void px_upcall_op_cb(pmix_status_t status, void *cbdata)
{
    if (is_first_answer(cbdata))
        answered(cbdata, status);
}

void px_upcall_info_cb(pmix_status_t status, pmix_info_t *info, size_t n, void *cbdata,
                       pmix_release_cbfunc_t release, void *release_data)
{
    struct px_upcall *u = cbdata;
    bool counts = is_first_answer(u);

    if (counts && px_infos_add_copy(&u->infos, info, info ? n : 0))
        status = PMIX_ERR_NOMEM;
    answered_releasing(u, counts, status, release, release_data);
}

void px_upcall_lookup_cb(pmix_status_t status, pmix_pdata_t *pdata, size_t n,
                         void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    if (!pdata)
        n = 0;
    if (n > 0 && px_type_copy_array(PMIX_PDATA, (void **)&u->pdata, pdata, n))
        status = PMIX_ERR_NOMEM;
    else
        u->n_pdata = n;
    answered(u, status);
}

void px_server_found(pmix_status_t status, pmix_pdata_t pdata[], size_t n, void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u)) {
        px_type_free_array(PMIX_PDATA, pdata, n);
        return;
    }
    u->pdata = pdata;
    u->n_pdata = n;
    answered(u, status);
}

void px_upcall_spawn_cb(pmix_status_t status, char *nspace, void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    px_str_copy(u->name.nspace, sizeof(u->name.nspace), nspace);
    answered(u, status);
}

void px_upcall_tool_cb(pmix_status_t status, pmix_proc_t *proc, void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    if (proc)
        px_proc_set(&u->name, proc->nspace, proc->rank);
    answered(u, status);
}

void px_upcall_credential_cb(pmix_status_t status, pmix_byte_object_t *credential,
                             pmix_info_t info[], size_t n, void *cbdata)
{
    struct px_upcall *u = cbdata;

    if (!is_first_answer(u))
        return;
    if (credential && credential->bytes &&
        px_buf_add(&u->bytes, credential->bytes, credential->size))
        status = PMIX_ERR_NOMEM;
    if (px_infos_add_copy(&u->infos, info, info ? n : 0))
        status = PMIX_ERR_NOMEM;
    answered(u, status);
}

void px_upcall_validation_cb(pmix_status_t status, pmix_info_t info[], size_t n,
                             void *cbdata)
{
    px_upcall_info_cb(status, info, n, cbdata, NULL, NULL);
}

void px_upcall_modex_cb(pmix_status_t status, const char *data, size_t n, void *cbdata,
                        pmix_release_cbfunc_t release, void *release_data)
{
    struct px_upcall *u = cbdata;
    bool counts = is_first_answer(u);

    if (counts && data && px_buf_add(&u->bytes, data, n))
        status = PMIX_ERR_NOMEM;
    answered_releasing(u, counts, status, release, release_data);
}
