/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that a host makes in callbacks of each kind, and in its own functions (docs/callbacks.md). */
#include "core/model/nspace.h"
#include "core/base/str.h"
#include "fake_host.h"
#include "raw.h"

#include <semaphore.h>
#include <string.h>

#define CODE (-4711)

static sem_t made, event;
static pmix_status_t answer;
static size_t row; /* index of the call that the callback makes */
static pmix_nspace_t job = "job", more = "more";
static pmix_byte_object_t bytes = {.bytes = (char *)"x", .size = 1};

/* ---- calls --------------------------------------------------------------------------------- */

static pmix_status_t notify(void)
{
    return PMIx_Notify_event(CODE, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL);
}

static pmix_status_t deregister(void)
{
    return PMIx_Deregister_event_handler(4711, NULL, NULL);
}

static pmix_status_t deliver(void)
{
    pmix_proc_t from = raw_proc("job", 0);

    return PMIx_server_IOF_deliver(&from, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0,
                                   NULL, NULL);
}

static pmix_status_t add_nspace(void)
{
    return PMIx_server_register_nspace(more, 1, NULL, 0, NULL, NULL);
}

static pmix_status_t add_client(void)
{
    pmix_proc_t proc = raw_proc("more", 0);

    return PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL);
}

static pmix_status_t support(void)
{
    return PMIx_server_setup_local_support(more, NULL, 0, NULL, NULL);
}

static pmix_status_t fence(void)
{
    return PMIx_Fence(NULL, 0, NULL, 0);
}

static pmix_status_t unpublish(void)
{
    return PMIx_Unpublish(NULL, NULL, 0);
}

static pmix_status_t spawn(void)
{
    pmix_app_t app = {.cmd = (char *)"true", .maxprocs = 1};
    pmix_nspace_t name;

    return PMIx_Spawn(NULL, 0, &app, 1, name);
}

static const struct {
    const char *name;
    pmix_status_t (*call)(void);
    pmix_status_t answer;
} calls[] = {
    {"notify", notify, PMIX_SUCCESS},
    {"deregister", deregister, PMIX_SUCCESS},
    {"deliver", deliver, PMIX_OPERATION_SUCCEEDED},
    {"register_nspace", add_nspace, PMIX_OPERATION_SUCCEEDED},
    {"register_client", add_client, PMIX_OPERATION_SUCCEEDED},
    {"setup_local_support", support, PMIX_OPERATION_SUCCEEDED},
    {"fence", fence, PMIX_ERR_WOULD_BLOCK},
    {"unpublish", unpublish, PMIX_ERR_WOULD_BLOCK},
    {"spawn", spawn, PMIX_ERR_WOULD_BLOCK},
};

static void call_row(void)
{
    answer = calls[row].call();
    sem_post(&made);
}

/* ---- callbacks ----------------------------------------------------------------------------- */

static void in_op(pmix_status_t status PX_UNUSED, void *cbdata PX_UNUSED)
{
    call_row();
}

static void in_setup(pmix_status_t status PX_UNUSED, pmix_info_t *info PX_UNUSED,
                     size_t n PX_UNUSED, void *arg PX_UNUSED, pmix_op_cbfunc_t release,
                     void *release_data)
{
    if (release)
        release(PMIX_SUCCESS, release_data);
    call_row();
}

static void in_data(pmix_status_t status PX_UNUSED, char *data PX_UNUSED,
                    size_t n PX_UNUSED, void *cbdata PX_UNUSED)
{
    call_row();
}

static void in_spawn(pmix_status_t status PX_UNUSED, char *nspace PX_UNUSED,
                     void *cbdata PX_UNUSED)
{
    call_row();
}

static void in_upcall(void)
{
    host.within = NULL;
    call_row();
}

PX_TEST_HANDLER(on_event)
{
    sem_post(&event);
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void from_upcall(void)
{
    host.within = in_upcall;
    ok(PMIx_Unpublish(NULL, NULL, 0));
}

static void from_registration(void)
{
    ok(PMIx_server_register_nspace(job, 1, NULL, 0, in_op, NULL));
}

static void from_setup(void)
{
    ok(PMIx_server_setup_application(job, NULL, 0, in_setup, NULL));
}

static void from_modex(void)
{
    pmix_proc_t proc = raw_proc("job", 0);

    ok(PMIx_server_dmodex_request(&proc, in_data, NULL));
    ok(raw_commit(one, "key", 1));
}

static void from_deliver(void)
{
    pmix_proc_t from = raw_proc("job", 0);

    ok(PMIx_server_IOF_deliver(&from, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, in_op,
                               NULL));
}

static void from_spawn(void)
{
    pmix_app_t app = {.cmd = (char *)"true", .maxprocs = 1};

    ok(PMIx_Spawn_nb(NULL, 0, &app, 1, in_spawn, NULL));
}

PX_TEST(no_call_of_a_host_waits_in_a_callback_and_none_is_lost)
{
    static void (*const callbacks[])(void) = {from_upcall,  from_registration,
                                              from_setup,   from_modex,
                                              from_deliver, from_spawn};
    pmix_status_t code = CODE;

    sem_init(&made, 0, 0);
    sem_init(&event, 0, 0);
    raw_start(&host_module, 1, 0);
    PMIx_Load_nspace(host.nspace, "spawned");
    ck_assert_int_ge(
        PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL), 0);
    for (size_t i = 0; i < PX_COUNT(callbacks); i++)
        for (row = 0; row < PX_COUNT(calls); row++) {
            callbacks[i]();
            sem_wait(&made);
            ck_assert_msg(answer == calls[row].answer, "%s in callback %zu: %s",
                          calls[row].name, i, PMIx_Error_string(answer));
            if (calls[row].call == notify)
                sem_wait(&event); /* an accepted call is carried out */
        }
    ck_assert_ptr_nonnull(px_nspace_find(px_process.model, "more"));
}

PX_TEST_MAIN("server/callbacks", NULL, host_end)
