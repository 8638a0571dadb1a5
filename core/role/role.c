/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends roles: parameters, loop, components, model, client state and event
 * handlers, in this order, and back. */
#include "core/role/role.h"

#include "core/base/env.h"
#include "core/base/str.h"
#include "core/config/core_params.h"
#include "core/config/param.h"
#include "core/iof/receivers/receivers.h"
#include "core/link/client_state.h"
#include "core/model/nspace.h"
#include "core/notify/notify.h"
#include "core/plugin/select.h"
#include "core/topo/topo.h"
#include "core/types/type.h"

#include <assert.h>

/* ---- the machine: below the model ------------------------------------------------ */

/* Stops the thread first. Processes that components signalled may end meanwhile. */
static void stop_machine(struct px_process *p)
{
    if (p->loop)
        px_loop_stop_thread(p->loop);
    px_selection_destroy(px_take(&p->selection));
    px_process_end_loop();
    px_params_destroy(px_take(&p->params));
    px_topo_drop();
    atomic_store(&p->log_level, PX_LOG_WARN);
}

static const char *name_of(enum px_role role)
{
    return role == PX_ROLE_CLIENT   ? "info of PMIx_Init"
           : role == PX_ROLE_SERVER ? "info of PMIx_server_init"
                                    : "info of PMIx_tool_init";
}

/* Finds the libevent base in which the program runs our loop. */
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

/* Starts parameters, loop and selection. After a failure, the caller calls
 * stop_machine. */
static pmix_status_t start_machine(struct px_process *p, enum px_role role,
                                   const pmix_info_t *info, size_t n_info,
                                   struct px_err *err)
{
    const enum px_progress progress = px_info_flag(info, n_info, PMIX_EXTERNAL_PROGRESS)
                                          ? PX_PROGRESS_EXTERNAL
                                          : PX_PROGRESS_LAZY;
    /* The launcher may set this node's name, for tests that simulate several nodes. */
    const char *given = px_env("PMIX_HOSTNAME");
    char *host = p->host;
    struct px_base_conf conf = {0};
    struct px_iof_conf iof = {0};
    struct event_base *base;
    struct px_params *params;

    if (given && *given)
        px_str_copy(host, sizeof(p->host), given);
    else if (gethostname(host, sizeof(p->host)))
        host[0] = '\0';
    host[sizeof(p->host) - 1] = '\0';
    pmix_status_t rc = px_params_create(info, n_info, name_of(role), &params, err);
    if (rc)
        return rc;
    p->params = params;
    rc = px_params_check_core(params, err);
    if (!rc)
        rc = px_params_parse(params, "mca_base_", px_base_params, &conf, err);
    if (!rc)
        rc = px_params_parse(params, "iof_", px_iof_params, &iof, err);
    if (rc)
        return rc;
    p->iof_gather_ms = iof.gather_time;
    p->iof_drain_ms = iof.drain_timeout;
    atomic_store(&p->log_level, (int)conf.verbose);
    rc = find_base(info, n_info, &base, err);
    if (rc)
        return rc;
    rc = px_process_start_loop(progress, base);
    if (rc)
        return px_err_set(
            err, rc, "cannot start the event loop: out of memory, threads or files");
    return px_selection_create(params, p->loop, &conf, &p->selection, err);
}

/* Sets the roles. A server's loop allows no guests, because it calls host functions at
 * any time. */
static void set_roles(struct px_process *p, unsigned roles)
{
    p->roles = roles;
    px_loop_let_guests(p->loop, !(roles & PX_ROLE_SERVER));
}

static unsigned *users_of(struct px_process *p, enum px_role role)
{
    return &p->role_users[role == PX_ROLE_CLIENT ? 0 : role == PX_ROLE_SERVER ? 1 : 2];
}

static pmix_status_t acquire_machine(struct px_process *p, enum px_role role,
                                     const pmix_info_t *info, size_t n_info,
                                     struct px_err *err)
{
    bool is_first = !p->users;
    pmix_status_t rc = is_first ? start_machine(p, role, info, n_info, err)
                                : PMIX_SUCCESS;

    for (size_t i = 0; !is_first && i < n_info; i++)
        if (px_str_starts(info[i].key, "PMIX_MCA_"))
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "%s: %.64s: the library runs already, and parameters are "
                              "read when it starts",
                              name_of(role), info[i].key);
    if (!rc && role != PX_ROLE_CLIENT && px_loop_need_thread(p->loop))
        rc = px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                        "cannot start the event loop: out of threads or files");
    if (!rc)
        rc = px_selection_open(p->selection, p->roles | role,
                               role == PX_ROLE_CLIENT ? p->server_address : NULL, err);
    /* Reports bad parameters, also of components that are not used. */
    if (p->params && rc != PMIX_ERR_NOMEM) {
        bool nomem = p->selection && px_selection_declare_unused(p->selection);
        pmix_status_t reported = nomem
                                     ? px_err_nomem(rc ? NULL : err, "read parameters")
                                     : px_params_report(p->params, rc ? NULL : err);
        if (!rc && reported) {
            px_selection_close(p->selection, p->roles);
            rc = reported;
        }
    }
    if (rc) {
        if (is_first)
            stop_machine(p);
        return rc;
    }
    px_topo_given(info, n_info);
    p->users++;
    set_roles(p, p->roles | role);
    (*users_of(p, role))++;
    return PMIX_SUCCESS;
}

static void release_machine(struct px_process *p, enum px_role role)
{
    unsigned *of_role = users_of(p, role);

    assert(*of_role > 0);
    if (--*of_role == 0)
        set_roles(p, p->roles & ~(unsigned)role);
    if (--p->users == 0)
        stop_machine(p);
    else
        px_selection_close(p->selection, p->roles);
}

/* ---- model, client state and event handlers: on the loop ------------------------- */

static void swap_model(struct px_process *p, struct px_model *model)
{
    px_read_gate_close(&p->model_gate);
    p->model = model;
    px_read_gate_open(&p->model_gate);
}

static void end(struct px_process *p)
{
    struct px_model *model = p->model;

    px_notify_destroy(px_take(&p->notify));
    if (p->client)
        px_iof_receivers_destroy(px_take(&p->client->receivers));
    px_client_destroy(px_take(&p->client));
    swap_model(p, NULL);
    px_model_destroy(model);
}

static void on_begin(struct px_call *call, void *process)
{
    struct px_process *p = process;
    struct px_model *model = NULL;
    pmix_status_t rc = px_model_create(&p->model_gate, p->host, &model);

    if (!rc) {
        swap_model(p, model);
        p->client = px_client_create(p->loop, model);
        rc = p->client ? px_notify_create(p->client, &p->notify) : PMIX_ERR_NOMEM;
    }
    if (!rc)
        rc = px_iof_receivers_create(&p->client->receivers);
    if (rc)
        end(p);
    else
        p->client->notify = p->notify;
    px_call_done(call, rc);
}

struct ending {
    struct px_process *process;
    struct px_call *call;
};

static void on_forwarded(void *arg)
{
    const struct ending *e = arg;

    end(e->process);
    px_call_done(e->call, PMIX_SUCCESS);
}

static void on_end(struct px_call *call, void *ending)
{
    struct ending *e = ending;

    e->call = call;
    px_iof_receivers_end(e->process->client->receivers, on_forwarded, e);
}

pmix_status_t px_role_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                            struct px_err *err)
{
    struct px_process *p = &px_process;

    pmix_status_t rc = acquire_machine(p, role, info, n_info, err);
    if (rc || p->users > 1)
        return rc;
    rc = px_call(p->loop, on_begin, p);
    if (rc) {
        release_machine(p, role);
        return px_err_nomem(err, "set up the model");
    }
    return PMIX_SUCCESS;
}

void px_role_end(enum px_role role)
{
    struct ending e = {.process = &px_process};

    if (e.process->users == 1)
        (void)px_call(e.process->loop, on_end, &e);
    release_machine(e.process, role);
}

pmix_status_t px_role_serve_self(struct px_client *client)
{
    pmix_status_t rc;

    if (client->channel.send == client->own.send)
        return PMIX_SUCCESS;
    rc = px_model_set_self(client->model, &client->own.server);
    if (rc)
        return rc;
    client->standalone = false;
    px_client_reset_put(client, px_codec_default);
    client->channel = client->own;
    return PMIX_SUCCESS;
}
