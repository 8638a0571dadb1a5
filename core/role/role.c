/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends roles: parameters, loop, components, model and event handlers, in
 * this order, and back. */
#include "core/role/role.h"

#include "core/base/str.h"
#include "core/config/core_params.h"
#include "core/config/param.h"
#include "core/iof/receivers/receivers.h"
#include "core/model/nspace.h"
#include "core/notify/notify.h"
#include "core/plugin/select.h"
#include "core/topo/topo.h"
#include "core/types/type.h"

#include <assert.h>

/* ---- the machine: below the model ------------------------------------------------ */

/* The thread first: processes that components have told to end do so meanwhile. */
static void stop_machine(void)
{
    if (px_process.loop)
        px_loop_stop_thread(px_process.loop);
    px_selection_destroy(px_take(&px_process.selection));
    px_process_end_loop();
    px_params_destroy(px_take(&px_process.params));
    px_topo_drop();
    atomic_store(&px_process.log_level, PX_LOG_WARN);
}

static const char *name_of(enum px_role role)
{
    return role == PX_ROLE_CLIENT   ? "info of PMIx_Init"
           : role == PX_ROLE_SERVER ? "info of PMIx_server_init"
                                    : "info of PMIx_tool_init";
}

/* Finds the libevent base that the program runs our loop in. */
static pmix_status_t find_base(const pmix_info_t *info, size_t n,
                               struct event_base **base, struct px_err *err)
{
    static const char *const keys[] = {PMIX_EXTERNAL_AUX_EVENT_BASE, PMIX_EVENT_BASE};

    *base = NULL;
    for (size_t i = 0; i < PX_COUNT(keys) && !*base; i++) {
        const pmix_info_t *found = px_info_find(info, n, keys[i]);

        if (!found)
            continue;
        if (found->value.type != PMIX_POINTER || !found->value.data.ptr)
            return px_err_set(
                err, PMIX_ERR_BAD_PARAM,
                "cannot use %s: expected a PMIX_POINTER to a libevent base", keys[i]);
        *base = found->value.data.ptr;
    }
    return PMIX_SUCCESS;
}

/* If it fails, stop_machine removes what it has made. */
static pmix_status_t start_machine(enum px_role role, const pmix_info_t *info,
                                   size_t n_info, struct px_err *err)
{
    const enum px_progress progress = px_info_flag(info, n_info, PMIX_EXTERNAL_PROGRESS)
                                          ? PX_PROGRESS_EXTERNAL
                                          : PX_PROGRESS_LAZY;
    /* The launcher's name of this node, for tests that simulate several. */
    const char *given = secure_getenv("PMIX_HOSTNAME");
    char *host = px_process.host;
    struct px_base_conf conf = {0};
    struct px_iof_conf iof = {0};
    struct event_base *base;
    struct px_params *params;

    if (given && *given)
        px_str_copy(host, sizeof(px_process.host), given);
    else if (gethostname(host, sizeof(px_process.host)))
        host[0] = '\0';
    host[sizeof(px_process.host) - 1] = '\0';
    pmix_status_t rc = px_params_create(info, n_info, name_of(role), &params, err);
    if (rc)
        return rc;
    px_process.params = params;
    rc = px_params_check_core(params, err);
    if (!rc)
        rc = px_params_parse(params, "mca_base_", px_base_params, &conf, err);
    if (!rc)
        rc = px_params_parse(params, "iof_", px_iof_params, &iof, err);
    if (rc)
        return rc;
    px_process.iof_gather_ms = iof.gather_time;
    px_process.iof_drain_ms = iof.drain_timeout;
    atomic_store(&px_process.log_level, (int)conf.verbose);
    rc = find_base(info, n_info, &base, err);
    if (rc)
        return rc;
    rc = px_process_start_loop(progress, base);
    if (rc)
        return px_err_set(
            err, rc, "cannot start the event loop: out of memory, threads or files");
    return px_selection_create(params, px_process.loop, &conf, &px_process.selection,
                               err);
}

/* A server calls its host's functions at any point. */
static void set_roles(unsigned roles)
{
    px_process.roles = roles;
    px_loop_let_guests(px_process.loop, !(roles & PX_ROLE_SERVER));
}

static unsigned *users_of(enum px_role role)
{
    return &px_process.role_users[role == PX_ROLE_CLIENT   ? 0
                                  : role == PX_ROLE_SERVER ? 1
                                                           : 2];
}

static pmix_status_t acquire_machine(enum px_role role, const pmix_info_t *info,
                                     size_t n_info, struct px_err *err)
{
    bool is_first = !px_process.users;
    pmix_status_t rc = is_first ? start_machine(role, info, n_info, err) : PMIX_SUCCESS;

    for (size_t i = 0; !is_first && i < n_info; i++)
        if (px_str_starts(info[i].key, "PMIX_MCA_"))
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "%s: %.64s: the library runs already, and parameters are "
                              "read when it starts",
                              name_of(role), info[i].key);
    if (!rc && role != PX_ROLE_CLIENT && px_loop_need_thread(px_process.loop))
        rc = px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                        "cannot start the event loop: out of threads or files");
    if (!rc)
        rc = px_selection_open(
            px_process.selection, px_process.roles | role,
            role == PX_ROLE_CLIENT ? px_process.server_address : NULL, err);
    /* Reports what is wrong with the parameters, also of components that are not
     * used. */
    if (px_process.params && rc != PMIX_ERR_NOMEM) {
        bool nomem = px_process.selection &&
                     px_selection_declare_unused(px_process.selection);
        pmix_status_t reported = nomem
                                     ? px_err_nomem(rc ? NULL : err, "read parameters")
                                     : px_params_report(px_process.params,
                                                        rc ? NULL : err);
        if (!rc && reported) {
            px_selection_close(px_process.selection, px_process.roles);
            rc = reported;
        }
    }
    if (rc) {
        if (is_first)
            stop_machine();
        return rc;
    }
    px_topo_given(info, n_info);
    px_process.users++;
    set_roles(px_process.roles | role);
    (*users_of(role))++;
    return PMIX_SUCCESS;
}

static void release_machine(enum px_role role)
{
    unsigned *of_role = users_of(role);

    assert(*of_role > 0);
    if (--*of_role == 0)
        set_roles(px_process.roles & ~(unsigned)role);
    if (--px_process.users == 0)
        stop_machine();
    else
        px_selection_close(px_process.selection, px_process.roles);
}

/* ---- model and event handlers: on the loop --------------------------------------- */

static struct px_model *swap_model(struct px_model *model)
{
    struct px_model *old = px_process.model;

    px_gate_close(&px_process.model_gate);
    px_process.model = model;
    px_gate_open(&px_process.model_gate);
    return old;
}

static void end(void)
{
    px_notify_destroy(px_take(&px_process.notify));
    px_process.channel = NULL;
    px_iof_receivers_destroy(px_take(&px_process.receivers));
    px_model_destroy(swap_model(NULL));
}

static void on_begin(struct px_call *call, void *args PX_UNUSED)
{
    struct px_model *model = NULL;
    pmix_status_t rc = px_model_create(&model);

    if (!rc) {
        px_process.channel = &model->channel;
        swap_model(model);
        rc = px_notify_create(&px_process.notify);
    }
    if (!rc)
        rc = px_iof_receivers_create(&px_process.receivers);
    if (rc)
        end();
    px_call_done(call, rc);
}

static void on_forwarded(void *call)
{
    end();
    px_call_done(call, PMIX_SUCCESS);
}

static void on_end(struct px_call *call, void *args PX_UNUSED)
{
    px_iof_receivers_end(px_process.receivers, on_forwarded, call);
}

pmix_status_t px_role_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                            struct px_err *err)
{
    if (px_loop_is_current(px_process.loop))
        return px_err_set(err, PMIX_ERR_WOULD_BLOCK,
                          "not possible from within a callback");
    pmix_status_t rc = acquire_machine(role, info, n_info, err);
    if (rc || px_process.users > 1)
        return rc;
    rc = px_call(px_process.loop, on_begin, NULL);
    if (rc) {
        release_machine(role);
        return px_err_nomem(err, "set up the model");
    }
    return PMIX_SUCCESS;
}

void px_role_end(enum px_role role)
{
    if (px_process.users == 1)
        (void)px_call(px_process.loop, on_end, NULL);
    release_machine(role);
}
