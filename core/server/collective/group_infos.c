/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that the members of a group share (PMIX_GROUP_INFO). They are kept for the
 * member until its job ends: programs destruct the group before they get the values. */
#include "core/model/group_values.h"
#include "core/model/nspace.h"
#include "core/server/collective/groups.h"
#include "core/server/data/memory.h"
#include "core/server/data/reply.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

#include <string.h>

#define NAME_B 32 /* of a name, beside the key's length */

static bool is_own(const pmix_info_t *info, const pmix_proc_t *sender)
{
    return info->value.type == PMIX_PROC && info->value.data.proc &&
           px_proc_same(info->value.data.proc, sender);
}

/* Adds an array of the sender's name and its infos. The name may be in the infos. */
static pmix_status_t take_one(px_infos *all, const pmix_value_t *value,
                              const pmix_proc_t *sender)
{
    const pmix_info_t *given;
    px_group_name name;
    px_infos own = {0};
    size_t n;
    pmix_status_t rc;

    if (!px_value_infos(value, &given, &n))
        return PMIX_ERR_BAD_PARAM;
    if (n > 0 && given->value.type == PMIX_PROC) {
        if (!is_own(given, sender))
            return PMIX_ERR_BAD_PARAM;
        given++, n--;
    }
    rc = n > 0 ? px_infos_add(&own, PMIX_PROCID, sender, PMIX_PROC) : PMIX_SUCCESS;
    for (size_t i = 0; !rc && i < n; i++)
        rc = px_group_name_of(given[i].key, 0, name);
    if (!rc)
        rc = px_infos_add_copy(&own, given, n);
    if (!rc && n > 0)
        rc = px_infos_add_array(all, PMIX_GROUP_INFO, &own);
    px_infos_cleanup(&own);
    return rc;
}

pmix_status_t px_group_infos_take(struct px_collective *c, const struct px_req *req,
                                  const px_infos *l, px_infos *all)
{
    const size_t before = all->n;
    bool charged = false;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < l->n; i++) {
        if (strcmp(l->v[i].key, PMIX_GROUP_INFO) != 0)
            continue;
        if (!charged)
            rc = px_charge(&c->charge, req->peer, req->charge.size_b);
        charged = true;
        if (!rc)
            rc = take_one(all, &l->v[i].value, &req->peer->proc);
    }
    while (rc && all->n > before) /* a refused request leaves nothing */
        px_type_destruct(PMIX_INFO, &all->v[--all->n]);
    return rc;
}

pmix_status_t px_group_infos_read(px_infos *all, const px_infos *answer)
{
    px_infos found = {0};
    const pmix_info_t *inner;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n;

    for (size_t i = 0; !rc && i < answer->n; i++) {
        const pmix_info_t *info = &answer->v[i];

        if (strcmp(info->key, PMIX_GROUP_INFO) == 0)
            rc = px_infos_add_copy(&found, info, 1);
        else if (strcmp(info->key, PMIX_GROUP_INFO_ARRAY) == 0 &&
                 px_value_infos(&info->value, &inner, &n))
            rc = px_infos_add_copy(&found, inner, n);
    }
    if (rc || found.n == 0) {
        px_infos_cleanup(&found);
        return rc;
    }
    px_infos_cleanup(all);
    *all = found;
    return PMIX_SUCCESS;
}

/* Stores the values of one member, and charges them to its user. */
static pmix_status_t keep_one(const struct px_collective *c, const pmix_proc_t *proc,
                              const pmix_info_t *infos, size_t n, uint64_t context)
{
    struct px_server *srv = c->server;
    const struct px_local *local = px_local_find(srv, proc);
    const enum px_gds_table table = px_reply_table(srv, proc);
    struct px_nspace *ns = px_nspace_find(srv->model, proc->nspace);
    size_t size_b = 0;
    pmix_status_t rc;

    for (size_t i = 0; i < n; i++)
        size_b += px_memory_of(infos[i].key, &infos[i].value) + NAME_B;
    if (!ns)
        return PMIX_SUCCESS; /* no process of this node asks for the job's values */
    rc = px_memory_keep(srv, ns, local ? local->uid : c->user, size_b);
    return rc ? rc : px_group_values_put(ns, table, proc->rank, infos, n, context);
}

pmix_status_t px_group_infos_keep(const struct px_collective *c, const px_infos *all,
                                  uint64_t context)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < all->n; i++) {
        const pmix_info_t *infos;
        size_t n;

        if (!px_value_infos(&all->v[i].value, &infos, &n) || n == 0 ||
            infos->value.type != PMIX_PROC || !infos->value.data.proc)
            return PMIX_ERR_BAD_PARAM;
        rc = keep_one(c, infos->value.data.proc, infos + 1, n - 1, context);
    }
    return rc;
}
