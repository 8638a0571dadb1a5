/* SPDX-License-Identifier: BSD-3-Clause */
/* events: notifications between ranks: to the namespace with a payload, to one rank
 * only, to nobody once the handler is gone, and in the order that handlers asked
 * for. */
#include "client.h"

#define EVENT_ALL  (PMIX_EXTERNAL_ERR_BASE - 11)
#define EVENT_ONE  (PMIX_EXTERNAL_ERR_BASE - 12)
#define EVENT_DONE (PMIX_EXTERNAL_ERR_BASE - 13)

static atomic_int n_all, n_first, n_one, n_done, wrong_order;
static _Atomic uint32_t payload;
static pmix_proc_t source;

#define HANDLER_ARGS                                                              \
    size_t id, pmix_status_t status, const pmix_proc_t *from, pmix_info_t info[], \
        size_t n_info, pmix_info_t results[], size_t n_results,                   \
        pmix_event_notification_cbfunc_fn_t done, void *arg
#define UNUSED_ARGS                                                              \
    (void)id, (void)status, (void)from, (void)info, (void)n_info, (void)results, \
        (void)n_results

static void on_first(HANDLER_ARGS)
{
    UNUSED_ARGS;
    n_first++;
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, arg);
}

static void on_all(HANDLER_ARGS)
{
    UNUSED_ARGS;
    source = *from;
    for (size_t i = 0; i < n_info; i++)
        if (PMIX_CHECK_KEY(&info[i], "my.payload"))
            payload = info[i].value.data.uint32;
    if (n_first != n_all + 1)
        wrong_order = 1;
    n_all++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_one_or_done(HANDLER_ARGS)
{
    UNUSED_ARGS;
    if (status == EVENT_ONE)
        n_one++;
    else
        n_done++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static atomic_int registered;
static pmix_status_t register_status;
static size_t register_id;

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    (void)arg;
    register_status = status;
    register_id = id;
    registered = 1;
}

static size_t watch(pmix_status_t *codes, size_t n, pmix_info_t *info, size_t n_info,
                    pmix_notification_fn_t handler)
{
    registered = 0;
    PMIx_Register_event_handler(codes, n, info, n_info, handler, on_registered, NULL);
    CHECK(wait_for(&registered, 10));
    GOOD(register_status);
    return register_id;
}

/* The host's own default handler, which may end the job, must not see these. */
static void notify(pmix_status_t code, pmix_data_range_t range, pmix_info_t extra)
{
    pmix_info_t info[2] = {info_bool(PMIX_EVENT_NON_DEFAULT), extra};
    pmix_status_t rc = PMIx_Notify_event(code, &me, range, info, 2, NULL, NULL);

    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
}

static void to_the_namespace(void)
{
    pmix_info_t extra;
    uint32_t n = 77;

    PMIX_INFO_LOAD(&extra, "my.payload", &n, PMIX_UINT32);
    if (me.rank == 0)
        notify(EVENT_ALL, PMIX_RANGE_NAMESPACE, extra);
    CHECK(wait_for(&n_all, 10));
    CHECK(payload == 77 && source.rank == 0 && !wrong_order);
    barrier();
    CHECK(n_all == 1 && n_first == 1);
}

static void to_the_last_rank(void)
{
    pmix_proc_t last = rank_of(job_size - 1);
    pmix_data_array_t targets = {.type = PMIX_PROC, .size = 1, .array = &last};
    pmix_info_t extra;

    PMIX_INFO_LOAD(&extra, PMIX_EVENT_CUSTOM_RANGE, &targets, PMIX_DATA_ARRAY);
    if (me.rank == 0)
        notify(EVENT_ONE, PMIX_RANGE_CUSTOM, extra);
    if (me.rank == last.rank)
        CHECK(wait_for(&n_one, 10));
    barrier();
    sleep_ms(100);
    CHECK(n_one == (me.rank == last.rank));
    PMIX_INFO_DESTRUCT(&extra);
}

int main(void)
{
    pmix_status_t all = EVENT_ALL, two[] = {EVENT_ONE, EVENT_DONE};
    pmix_info_t first[2], unused = info_bool("my.unused");
    size_t id;

    begin();
    id = watch(&all, 1, NULL, 0, on_all);
    first[0] = info_bool(PMIX_EVENT_HDLR_FIRST);
    PMIX_INFO_LOAD(&first[1], PMIX_EVENT_HDLR_NAME, "first", PMIX_STRING);
    watch(&all, 1, first, 2, on_first);
    PMIX_INFO_DESTRUCT(&first[1]);
    watch(two, 2, NULL, 0, on_one_or_done);
    barrier();
    to_the_namespace();
    to_the_last_rank();
    barrier();
    PMIx_Deregister_event_handler(id, NULL, NULL);
    barrier();
    if (me.rank == 0) { /* what comes second proves that the first has been here */
        notify(EVENT_ALL, PMIX_RANGE_NAMESPACE, unused);
        notify(EVENT_DONE, PMIX_RANGE_NAMESPACE, unused);
    }
    CHECK(wait_for(&n_done, 10));
    CHECK(n_all == 1);
    barrier();
    return end("events");
}
