/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: their destruction, departures, and queries. A group is a namespace of its
 * members (server/nspaces) with the group's name. forming.c constructs groups. */
#include "core/server/collective/groups.h"

#include "core/base/strv.h"
#include "core/link/required.h"
#include "core/model/nspace.h"
#include "core/server/nspaces/nspaces.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/query/answers.h"
#include "core/server/server.h"

#include <string.h>

#define GROUP_ITEMS 20 /* work for a group, see px_work */

struct px_joined *px_group_find(const struct px_server *srv, const char *name)
{
    struct px_joined *j = px_joined_find(srv, name);

    return j && j->is_group ? j : NULL;
}

pmix_status_t px_group_read_name(const struct px_args *a, px_collective_key *key)
{
    if (strlen(a->text) > PMIX_MAX_NSLEN)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Load_nspace(key->label, a->text);
    return key->label[0] ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

pmix_status_t px_group_name_one(struct px_args *a, const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t *one = calloc(1, sizeof(*one));

    if (!one)
        return PMIX_ERR_NOMEM;
    px_proc_set(one, nspace, rank);
    free(a->procs);
    a->procs = one;
    a->n_procs = 1;
    return PMIX_SUCCESS;
}

pmix_status_t px_group_call_host(const struct px_collective *c, struct px_upcall *u)
{
    const bool constructs = c->kind->request->op == PX_OP_GROUP_CONSTRUCT;
    const px_infos *l = &u->args.info;

    if (!c->server->module.group)
        return PMIX_ERR_NOT_SUPPORTED;
    u->args.text = strdup(c->label);
    if (!u->args.text)
        return PMIX_ERR_NOMEM;
    return c->server->module.group(
        constructs ? PMIX_GROUP_CONSTRUCT : PMIX_GROUP_DESTRUCT, u->args.text,
        u->args.procs, u->args.n_procs, l->v, l->n, px_upcall_info_cb, u);
}

/* ---- destruct -------------------------------------------------------------------- */

/* Takes the members that have not left. Of a group that only the host knows, the
 * request names the members. */
static pmix_status_t prepare_destruct(struct px_server *srv, const struct px_req *req,
                                      struct px_args *a, px_collective_key *key)
{
    pmix_status_t rc = px_group_read_name(a, key);
    const struct px_joined *j = rc ? NULL : px_group_find(srv, key->label);

    if (rc)
        return rc;
    if (!j)
        return a->n_procs > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
    if (!px_joined_has(j, &req->peer->proc))
        return PMIX_ERR_NOT_FOUND;
    key->forgives = j->may_end;
    return px_group_name_one(a, j->name, PMIX_RANK_WILDCARD);
}

static bool is_same_destruct(const struct px_collective *c,
                             const px_collective_key *key)
{
    return px_group_find(c->server, c->label) ||
           px_members_same(c->procs, c->n_procs, key->set.v, key->set.n);
}

/* The built-in host knows only the groups that are stored here. */
static pmix_status_t admit_destruct(const struct px_server *srv,
                                    const px_collective_key *key)
{
    return px_group_find(srv, key->label) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static bool is_at_host(const struct px_collective *c)
{
    const struct px_joined *j = px_group_find(c->server, c->label);

    return (!j || j->at_host) && c->server->module.group;
}

/* Ends the group, because it can never be destructed otherwise. */
static pmix_status_t lose_destruct(struct px_collective *c)
{
    px_collective_log_away(c, "has ended without leaving the group");
    px_joint_end(px_group_find(c->server, c->label));
    return PMIX_ERR_LOST_CONNECTION;
}

static pmix_status_t settle_destruct(struct px_collective *c, pmix_status_t status,
                                     const struct px_upcall *answer PX_UNUSED)
{
    if (px_collective_is_left_to_us(c, status))
        status = PMIX_SUCCESS;
    if (!status)
        px_joint_end(px_group_find(c->server, c->label));
    return status;
}

const struct px_collective_kind px_group_destruct_kind = {
    .request = &px_request_group_destruct,
    .old_request = &px_request_group_destruct_old,
    .name = "destruct group",
    .function = "PMIx_Group_destruct",
    .local = true,
    .prepare = prepare_destruct,
    .admit = admit_destruct,
    .same = is_same_destruct,
    .wants_host = is_at_host,
    .renew = px_collective_renew,
    .lost = lose_destruct,
    .call_host = px_group_call_host,
    .settle = settle_destruct,
};

/* ---- departures ------------------------------------------------------------------ */

static pmix_status_t on_leave(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) a = {0};
    pmix_status_t rc = px_req_unpack(req, &a, px_request_group_leave.args);
    struct px_joined *j = rc ? NULL : px_group_find(srv, a.text);

    if (!rc)
        rc = px_required_check("PMIx_Group_leave", NULL, a.info.v, a.info.n);
    if (rc)
        return rc;
    if (!j || !px_joined_has(j, &req->peer->proc))
        return PMIX_ERR_NOT_FOUND;
    px_joint_leave(srv, j->name, &req->peer->proc, true);
    px_collectives_check_later(srv);
    return PMIX_SUCCESS;
}

/* ---- queries --------------------------------------------------------------------- */

static bool may_see(const struct px_peer *peer, const struct px_joined *j)
{
    return j->is_group && px_peer_may(peer, j->name);
}

pmix_status_t px_groups_of(const struct px_peer *peer, const pmix_proc_t *proc,
                           char ***names, size_t *work)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n = 0, cap = 0;

    PX_LIST_EACH (&peer->server->part.joined, struct px_joined, j, link) {
        *work += GROUP_ITEMS;
        if (!rc && may_see(peer, j) && (!proc || px_joined_has(j, proc)))
            rc = px_strv_add(names, &n, &cap, j->name);
    }
    return rc;
}

static pmix_status_t answer_names(struct px_server *srv PX_UNUSED,
                                  const pmix_query_t *q PX_UNUSED, const char *key,
                                  struct px_answers *a)
{
    PX_AUTO(px_strv) names = NULL;
    size_t work = 0;
    pmix_status_t rc = px_groups_of(a->req->peer, NULL, &names, &work);

    (void)px_work(a->req->peer, work);
    return rc ? rc : px_answer_names(a, key, names);
}

static pmix_status_t answer_number(struct px_server *srv,
                                   const pmix_query_t *q PX_UNUSED, const char *key,
                                   struct px_answers *a)
{
    size_t n = 0, work = 0;

    PX_LIST_EACH (&srv->part.joined, struct px_joined, j, link) {
        n += may_see(a->req->peer, j);
        work += GROUP_ITEMS;
    }
    (void)px_work(a->req->peer, work);
    return px_answer(a, key, &n, PMIX_SIZE, 0);
}

static pmix_status_t answer_members(struct px_server *srv, const pmix_query_t *q,
                                    const char *key, struct px_answers *a)
{
    const char *name = px_info_str(q->qualifiers, q->nqual, PMIX_GROUP_ID);
    const struct px_joined *j = name ? px_group_find(srv, name) : NULL;
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    size_t n;

    if (!j || !may_see(a->req->peer, j))
        return PMIX_ERR_NOT_FOUND;
    procs = px_joined_members(j, &n);
    return procs ? px_answer_array(a, key, procs, n, PMIX_PROC, n * sizeof(*procs))
                 : PMIX_ERR_NOT_FOUND;
}

/* ---- the part -------------------------------------------------------------------- */

static const struct px_rpc rpcs[] = {
    {PX_OP_GROUP_LEAVE, PX_BY_ANY, PX_OWN, .handler = on_leave},
    {0},
};

static const struct px_query_key keys[] = {
    {PMIX_QUERY_NUM_GROUPS, answer_number, NULL, false},
    {PMIX_QUERY_GROUP_NAMES, answer_names, NULL, false},
    {PMIX_QUERY_GROUP_MEMBERSHIP, answer_members, PMIX_GROUP_ID, false},
    {0},
};

const struct px_server_part px_groups_part = {
    .name = "groups",
    .rpcs = rpcs,
    .query_keys = keys,
};
