/* SPDX-License-Identifier: BSD-3-Clause */
/* listener: commits a value, waits for an event of the host, sends one back, ends. */
#include "client.h"

#define FROM_HOST (PMIX_EXTERNAL_ERR_BASE - 21)
#define TO_HOST   (PMIX_EXTERNAL_ERR_BASE - 22)

static atomic_int heard, registered;
static pmix_proc_t speaker;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *from,
                     pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                     void *arg)
{
    (void)id, (void)status, (void)info, (void)n, (void)results, (void)n_results;
    speaker = *from;
    heard++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    (void)id, (void)arg;
    GOOD(status);
    registered = 1;
}

int main(void)
{
    pmix_status_t code = FROM_HOST, rc;

    begin();
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered, NULL);
    CHECK(wait_for(&registered, 10));
    put_u32(PMIX_GLOBAL, "listening", me.rank + 7);
    GOOD(PMIx_Commit());
    CHECK(wait_for(&heard, 20));
    CHECK(!PMIX_CHECK_NSPACE(speaker.nspace, me.nspace));
    rc = PMIx_Notify_event(TO_HOST, &me, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    barrier();
    CHECK(heard == 1);
    return end("listener");
}
