/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the shared parts of the process come and go. */
#include "core/notify/roles.h"

#include "core/model/nspace.h"
#include "core/notify/notify.h"
#include "core/rt/call.h"

static struct px_model *swap_model(struct px_model *model)
{
    struct px_model *old = px_process.model;

    px_gate_close(&px_process.model_gate);
    px_process.model = model;
    px_gate_open(&px_process.model_gate);
    return old;
}

static pmix_status_t begin(void)
{
    struct px_model *model = NULL;
    pmix_status_t rc = px_model_create(&model);

    if (rc)
        return rc;
    px_process.channel = &model->channel;
    swap_model(model);
    return px_notify_create(&px_process.notify);
}

static void end(void)
{
    px_notify_destroy(px_process.notify);
    px_process.notify = NULL;
    px_process.channel = NULL;
    px_model_destroy(swap_model(NULL));
}

static void on_begin(struct px_call *call, void *args PX_UNUSED)
{
    pmix_status_t rc = begin();

    if (rc)
        end();
    px_call_done(call, rc);
}

static void on_end(struct px_call *call, void *args PX_UNUSED)
{
    end();
    px_call_done(call, PMIX_SUCCESS);
}

pmix_status_t px_role_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                            struct px_err *err)
{
    pmix_status_t rc = px_process_acquire(role, info, n_info, err);

    if (rc || px_process.users > 1)
        return rc;
    rc = px_call(px_process.loop, on_begin, NULL);
    if (rc) {
        px_process_release(role);
        return px_err_set(err, rc, "cannot set up: out of memory");
    }
    return PMIX_SUCCESS;
}

void px_role_end(enum px_role role)
{
    if (px_process.users == 1)
        (void)px_call(px_process.loop, on_end, NULL);
    px_process_release(role);
}
