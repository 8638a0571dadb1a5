/* SPDX-License-Identifier: BSD-3-Clause */
/* Debugger support: PMIx_Init reports "ready for debug" to the host, then waits for
 * release or loss of the server. */
#include "core/client/client.h"
#include "core/rt/log.h"

#include <string.h>

struct hold {
    const struct px_client *client;
    struct px_call *call; /* NULL before PMIx_Init waits */
    bool is_over;
    pmix_status_t status; /* the result, if is_over */
};

static void on_release(size_t id PX_UNUSED, pmix_status_t code,
                       const pmix_proc_t *source, pmix_info_t info[], size_t n,
                       pmix_info_t *results PX_UNUSED, size_t n_results PX_UNUSED,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const pmix_info_t *object = px_info_find(info, n, PMIX_EVENT_RETURN_OBJECT);
    struct hold *h = object->value.data.ptr;
    /* Loss of a process of this job is not loss of the server. */
    bool counts = code == PMIX_DEBUGGER_RELEASE ||
                  strcmp(source->nspace, h->client->model->self.nspace) != 0;

    if (counts && !h->is_over) {
        h->is_over = true;
        h->status = code == PMIX_DEBUGGER_RELEASE ? PMIX_SUCCESS : code;
        if (h->call)
            px_call_done(h->call, h->status);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_wait(struct px_call *call, void *arg)
{
    struct hold *h = arg;

    h->call = call;
    if (h->is_over)
        px_call_done(call, h->status);
}

/* Reports to the host and waits. */
static pmix_status_t hold(struct hold *h)
{
    pmix_status_t codes[] = {PMIX_DEBUGGER_RELEASE, PMIX_ERR_LOST_CONNECTION};
    char init[] = "pmix-init";
    pmix_info_t object = {.key = PMIX_EVENT_RETURN_OBJECT,
                          .value = {.type = PMIX_POINTER, .data.ptr = h}};
    const pmix_info_t info[] = {
        {.key = PMIX_EVENT_NON_DEFAULT,
         .value = {.type = PMIX_BOOL, .data.flag = true}},
        {.key = PMIX_BREAKPOINT, .value = {.type = PMIX_STRING, .data.string = init}}};
    pmix_status_t id = PMIx_Register_event_handler(codes, PX_COUNT(codes), &object, 1,
                                                   on_release, NULL, NULL);
    pmix_status_t rc = id < 0 ? id
                              : PMIx_Notify_event(PMIX_READY_FOR_DEBUG, NULL,
                                                  PMIX_RANGE_RM, info, PX_COUNT(info),
                                                  NULL, NULL);

    if (!rc)
        rc = px_call(h->client->loop, on_wait, h);
    if (id >= 0)
        (void)PMIx_Deregister_event_handler((size_t)id, NULL, NULL);
    return rc;
}

static bool is_meant(const pmix_value_t *v, pmix_rank_t rank)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    const pmix_rank_t *ranks = a ? a->array : NULL;
    uint32_t one;

    for (size_t i = 0; a && a->type == PMIX_PROC_RANK && i < a->size; i++)
        if (ranks[i] == rank || ranks[i] == PMIX_RANK_WILDCARD)
            return true;
    if (a || v->type == PMIX_BOOL)
        return !a && v->data.flag;
    return px_value_to_u32(v, &one) && (one == rank || one == PMIX_RANK_WILDCARD);
}

void px_client_hold(void)
{
    const pmix_info_t here = {.key = PMIX_OPTIONAL,
                              .value = {.type = PMIX_BOOL, .data.flag = true}};
    pmix_value_t *v = NULL;
    struct hold h = {0};

    px_process_lock();
    h.client = px_process.client;
    bool first = h.client->role && h.client->role->inits == 1;
    const pmix_proc_t self = h.client->model->self;
    px_process_unlock();
    pmix_proc_t job = self;
    job.rank = PMIX_RANK_WILDCARD;
    if (!first || PMIx_Get(&job, PMIX_DEBUG_STOP_IN_INIT, &here, 1, &v))
        return;
    if (is_meant(v, self.rank)) {
        pmix_status_t rc = hold(&h);

        if (rc)
            px_log(PX_LOG_WARN, "client", "PMIx_Init does not wait for a debugger: %s",
                   PMIx_Error_string(rc));
    }
    PMIx_Value_free(v, 1);
}
