/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Fabric_*, served by the host, or by components if the host has no function for
 * them. Each component numbers its own fabrics; the core gives each an index that is
 * unique while in use. Descriptions hold memory of the component for this process
 * alone, so its registrations are counted. Other processes never release a fabric, so
 * theirs last until the server ends. */
#include "core/base/vec.h"
#include "core/link/required.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/fabric/shares.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

/* A fabric of a component. Its index is its place in px_fabrics.v. */
struct fabric {
    const struct px_module *module;
    size_t number; /* number given by the component */
    size_t n_own;  /* registrations of this process */
    bool is_known; /* registered by other processes */
};

struct px_fabrics {
    struct fabric *v;
    size_t n, cap;
};

static bool is_used(const struct fabric *f)
{
    return f->n_own > 0 || f->is_known;
}

static void let_go(const struct px_module *m, size_t number)
{
    if (PX_OPS(pnet, m)->deregister_fabric)
        PX_OPS(pnet, m)->deregister_fabric(m->self, number);
}

/* ---- descriptions ---------------------------------------------------------------- */

/* Adds an info of a description. Pointers are for this process alone: see reply. */
static pmix_status_t add(void *arg, const pmix_info_t *info)
{
    pmix_status_t rc = info && info->value.type == PMIX_POINTER && info->key[0]
                           ? PMIX_SUCCESS
                           : px_share_try(info, NULL);

    return rc ? rc : px_infos_add_copy(arg, info, 1);
}

static pmix_status_t failed(const struct px_module *m, const char *what,
                            pmix_status_t rc, px_infos *out)
{
    px_infos_cleanup(out);
    if (rc != PMIX_ERR_NOT_FOUND)
        px_log(PX_LOG_ERROR, "pnet", "component pnet/%s cannot %s a fabric: %s",
               m->component->name, what, PMIx_Error_string(rc));
    return rc;
}

/* Gives a fabric an index, which replaces the component's number in out. */
static pmix_status_t number_it(struct px_fabrics *all, const struct px_module *m,
                               px_infos *out, struct fabric **fabric)
{
    const pmix_info_t *given = px_info_find(out->v, out->n, PMIX_FABRIC_INDEX);
    uint64_t number = 0;

    if (given && (!px_value_to_u64(&given->value, &number) || number > SIZE_MAX))
        return PMIX_ERR_BAD_PARAM;
    size_t i = 0, unused = 0;
    while (i < all->n && (all->v[i].module != m || all->v[i].number != number))
        i++;
    while (i == all->n && unused < i && is_used(&all->v[unused]))
        unused++;
    if (i == all->n)
        i = unused;
    struct fabric *f = i < all->n ? &all->v[i]
                                  : px_vec_add(&all->v, &all->n, &all->cap);
    pmix_status_t rc = f ? px_infos_set(out, PMIX_FABRIC_INDEX, &i, PMIX_SIZE)
                         : PMIX_ERR_NOMEM;
    if (f) {
        f->module = m;
        f->number = (size_t)number;
    }
    if (rc && (!f || !is_used(f)))
        let_go(m, (size_t)number);
    *fabric = f;
    return rc;
}

/* Describes the fabric by the first component that has one. */
static pmix_status_t describe(struct px_fabrics *all, bool own,
                              const px_infos *directives, px_infos *out)
{
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    struct fabric *f = NULL;
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    for (size_t i = 0; i < n; i++) {
        if (!PX_OPS(pnet, &m[i])->register_fabric)
            continue;
        rc = PX_OPS(pnet, &m[i])
                 ->register_fabric(m[i].self, directives->v, directives->n, add, out);
        if (!rc)
            rc = number_it(all, &m[i], out, &f);
        if (rc)
            failed(&m[i], "describe", rc, out);
        if (rc == PMIX_ERR_NOT_FOUND)
            continue;
        if (!rc && own)
            f->n_own++;
        else if (!rc)
            f->is_known = true;
        break;
    }
    return rc;
}

static pmix_status_t update(const struct px_fabrics *all, size_t index, px_infos *out)
{
    const struct fabric *f = index < all->n ? &all->v[index] : NULL;

    if (!f || !is_used(f))
        return px_served_at(offsetof(struct px_pnet_ops, register_fabric))
                   ? PMIX_ERR_NOT_FOUND
                   : PMIX_ERR_NOT_SUPPORTED;
    const struct px_module *m = f->module;
    if (!PX_OPS(pnet, m)->update_fabric)
        return failed(m, "update", PMIX_ERR_NOT_SUPPORTED, out);
    pmix_status_t rc = PX_OPS(pnet, m)->update_fabric(m->self, f->number, add, out);
    if (!rc)
        rc = px_infos_set(out, PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
    return rc ? failed(m, "update", rc, out) : PMIX_SUCCESS;
}

/* ---- requests -------------------------------------------------------------------- */

static const char no_component[] =
    "the host has no function for that, and no component of pnet supports the request";

static bool is_own(const struct px_req *req)
{
    return req->peer == req->peer->server->self;
}

static pmix_status_t call_register(const pmix_server_module_t *m, struct px_upcall *u)
{
    const struct px_req *req = u->arg;
    const px_infos *info = &u->args.info;

    if (m->fabric)
        return m->fabric(&u->proc, PMIX_FABRIC_REQUEST_INFO, info->v, info->n,
                         px_upcall_info_cb, u);
    pmix_status_t rc = px_required_check("PMIx_Fabric_register", NULL, info->v,
                                         info->n);
    if (!rc)
        rc = describe(req->peer->server->part.fabrics, is_own(req), info, &u->infos);
    if (rc == PMIX_ERR_NOT_SUPPORTED)
        px_req_refused(u->arg, u->function, no_component);
    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t prepare_update(struct px_req *req, struct px_upcall *u)
{
    pmix_status_t rc = px_infos_add(&u->args.info, PMIX_FABRIC_INDEX, &u->args.id,
                                    PMIX_SIZE);

    return rc ? rc : px_forward_user(req, u);
}

static pmix_status_t call_update(const pmix_server_module_t *m, struct px_upcall *u)
{
    const struct px_req *req = u->arg;

    if (m->fabric)
        return m->fabric(&u->proc, PMIX_FABRIC_UPDATE_INFO, u->args.info.v,
                         u->args.info.n, px_upcall_info_cb, u);
    pmix_status_t rc = update(req->peer->server->part.fabrics, u->args.id, &u->infos);
    if (rc == PMIX_ERR_NOT_SUPPORTED)
        px_req_refused(u->arg, u->function, no_component);
    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

/* Replies with a description. A pointer, such as PMIX_FABRIC_COST_MATRIX, is useless in
 * another process. This process gets it as a number, as messages have no pointers. */
static void reply(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    const px_infos *infos = &answer->infos;
    PX_AUTOFREE pmix_info_t *shown = calloc(infos->n + 1, sizeof(*shown));
    size_t n = 0;
    px_writer w;

    for (size_t i = 0; shown && i < infos->n; i++) {
        const pmix_info_t *info = &infos->v[i];
        const bool is_address = info->value.type == PMIX_POINTER;

        if (is_address && !is_own(req))
            continue;
        shown[n] = *info;
        if (is_address)
            shown[n].value = (pmix_value_t){
                .type = PMIX_UINT64, .data.uint64 = (uintptr_t)info->value.data.ptr};
        n++;
    }
    px_reply_begin(req, &w, shown ? answer->status : PMIX_ERR_NOMEM);
    px_pack_infos(&w, shown, n);
    px_req_reply(req, &w);
}

/* ---- deregistration -------------------------------------------------------------- */

static pmix_status_t on_deregister(struct px_server *srv, struct px_req *req)
{
    struct px_fabrics *all = srv->part.fabrics;
    size_t index;
    pmix_status_t rc = px_unpack_size(&req->in, &index);

    /* Fabrics of a host are not in this table. */
    if (rc || srv->module.fabric || index >= all->n || all->v[index].n_own == 0)
        return rc ? rc : PMIX_ERR_NOT_FOUND;
    all->v[index].n_own--;
    if (!is_used(&all->v[index]))
        let_go(all->v[index].module, all->v[index].number);
    return PMIX_SUCCESS;
}

static void stop(struct px_server *srv)
{
    struct px_fabrics *all = srv->part.fabrics;

    for (size_t i = 0; i < all->n; i++)
        if (is_used(&all->v[i]))
            let_go(all->v[i].module, all->v[i].number);
    free(all->v);
    *all = (struct px_fabrics){0};
}

static const struct px_forward register_it = {.request = &px_request_fabric_register,
                                              .function = "PMIx_Fabric_register",
                                              .call = call_register,
                                              .reply = reply};
static const struct px_forward update_it = {.request = &px_request_fabric_update,
                                            .function = "PMIx_Fabric_update",
                                            .prepare = prepare_update,
                                            .call = call_update,
                                            .reply = reply};
static const struct px_rpc rpcs[] = {
    {PX_OP_FABRIC_REGISTER, PX_BY_ANY, PX_BY_HOST, .forward = &register_it},
    {PX_OP_FABRIC_UPDATE, PX_BY_ANY, PX_BY_HOST, .forward = &update_it},
    {PX_OP_FABRIC_DEREGISTER, PX_BY_SELF, PX_OWN, .handler = on_deregister},
    {0},
};

const struct px_server_part px_fabrics_part = {
    .name = "fabrics",
    .rpcs = rpcs,
    PX_PART_STATE(fabrics, struct px_fabrics),
    .stop = stop,
};
