/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of collectives: fence, connect, disconnect, and the namespace forms of
 * RFC 0003 (docs/connected.md). groups.c has the kinds of groups. */
#include "core/server/collective/collective.h"

#include <string.h>

#include "core/model/proc_names.h"
#include "core/rt/log.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"
#include "pmix_connect.h"

static struct px_joint joint_of(const struct px_collective *c)
{
    return (struct px_joint){
        .procs = c->procs, .n_procs = c->n_procs, .infos = &c->infos, .id = c->label};
}

bool px_collective_is_left_to_us(const struct px_collective *c, pmix_status_t status)
{
    return status == PMIX_ERR_NOT_SUPPORTED && !c->needs_host &&
           px_collective_is_here(c);
}

/* ---- requests -------------------------------------------------------------------- */

/* Reads the optional id of a connect or disconnect. */
static pmix_status_t read_id(struct px_server *srv PX_UNUSED,
                             const struct px_req *req PX_UNUSED, struct px_args *a,
                             px_collective_key *key)
{
    const pmix_info_t *id = px_info_find(a->info.v, a->info.n, PMIX_CONNECT_ID);
    const char *text = id ? px_value_string(&id->value) : NULL;

    if (!id)
        return PMIX_SUCCESS;
    if (!text || !text[0] || strlen(text) > PMIX_MAX_NSLEN)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Load_nspace(key->label, text);
    return PMIX_SUCCESS;
}

/* True if the request names one process or all processes of a connected namespace. The
 * name of a group stands for its members. */
static bool names_nspace(const struct px_server *srv, const struct px_args *a)
{
    const struct px_joined *j = a->n_procs == 1
                                    ? px_joined_find(srv, a->procs[0].nspace)
                                    : NULL;

    return j && !j->is_group;
}

static bool names_whole_nspace(const struct px_server *srv, const struct px_args *a)
{
    return names_nspace(srv, a) && a->procs[0].rank == PMIX_RANK_WILDCARD;
}

/* Takes the namespace that a request names, of which the sender has to be a member. */
static pmix_status_t read_nspace(struct px_server *srv, const struct px_req *req,
                                 struct px_args *a, px_collective_key *key)
{
    const struct px_joined *j = px_joined_find(srv, a->procs[0].nspace);

    PMIx_Load_nspace(key->label, j->name);
    key->forgives = j->may_end;
    return px_joined_has(j, &req->peer->proc) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Adds the name and the id of the namespace for the host. */
static pmix_status_t describe_nspace(const struct px_collective *c, px_infos *infos)
{
    const struct px_joined *j = px_joined_find(c->server, c->label);

    if (j && j->id[0] && px_infos_set(infos, PMIX_CONNECT_ID, j->id, PMIX_STRING))
        return PMIX_ERR_NOMEM;
    return px_infos_set(infos, PMIX_NSPACE, c->label, PMIX_STRING);
}

/* ---- fence ----------------------------------------------------------------------- */

void px_collective_renew(struct px_collective *c)
{
    PX_AUTO(px_args) a = {.n_procs = 1};
    PX_AUTO(px_members) set = {0};

    if (!px_joined_find(c->server, c->label) ||
        !(a.procs = calloc(1, sizeof(*a.procs))))
        return;
    px_proc_set(a.procs, c->label, PMIX_RANK_WILDCARD);
    if (px_procs_expand(c->server->model, &a.procs, &a.n_procs) ||
        px_members_settle(c->server, &a, &set))
        return;
    free(c->procs);
    free(c->host_procs);
    c->procs = px_take(&set.v);
    c->n_procs = set.n;
    c->host_procs = px_take(&a.procs);
    c->n_host_procs = a.n_procs;
}

static pmix_status_t pack_fence(const struct px_collective *c, px_buf *data)
{
    return c->collect ? px_modex_pack(c, data) : PMIX_SUCCESS;
}

/* Calls fence_nb. Existing hosts free the data, contrary to the Standard. */
static pmix_status_t call_fence(const struct px_collective *c, struct px_upcall *u)
{
    const pmix_server_module_t *m = &c->server->module;
    const px_infos *l = &u->args.info;

    if (!m->fence_nb)
        return PMIX_ERR_NOT_SUPPORTED;
    px_buf data = px_buf_take(&u->blob);
    return m->fence_nb(u->args.procs, u->args.n_procs, l->v, l->n, (char *)data.data,
                       data.len, px_upcall_modex_cb, u);
}

static pmix_status_t settle_fence(struct px_collective *c, pmix_status_t status,
                                  const struct px_upcall *answer)
{
    if (status || !answer || answer->bytes.len == 0)
        return status;
    status = px_modex_unpack(c, &answer->bytes);
    if (status)
        px_log(PX_LOG_ERROR, "server", "cannot read the data of a fence: %s",
               PMIx_Error_string(status));
    return status;
}

/* ---- connect --------------------------------------------------------------------- */

static bool asks_nspace(const struct px_server *srv PX_UNUSED, const struct px_args *a)
{
    return px_info_flag(a->info.v, a->info.n, PX_CONNECT_MAKES);
}

static pmix_status_t prepare_connect(struct px_server *srv, const struct px_req *req,
                                     struct px_args *a, px_collective_key *key)
{
    px_infos_drop(&a->info, PX_CONNECT_MAKES);
    key->forgives = px_info_flag(a->info.v, a->info.n, PMIX_CONNECT_OPTIONAL);
    return read_id(srv, req, a, key);
}

/* Reports that a process has joined, and asks the others to connect. */
static void announce(struct px_collective *c, const px_collective_key *key,
                     const pmix_proc_t *proc, bool first)
{
    const struct px_joint j = joint_of(c);

    if (first && px_collective_count(c).lost_some)
        return;
    if (key->notifies_each || px_collective_has_flag(c, PMIX_CONNECT_NOTIFY_EACH))
        px_joint_event(c->server, &j, PMIX_PROC_HAS_CONNECTED, proc, false);
    if (key->asks_others && !c->requested)
        px_joint_event(c->server, &j, PMIX_CONNECT_REQUESTED, proc,
                       !px_collective_is_here(c));
    c->requested |= key->asks_others;
}

static pmix_status_t lose_connect(struct px_collective *c)
{
    px_collective_log_away(c, "has left before it took part");
    return PMIX_ERR_LOST_CONNECTION;
}

/* Calls the host's connect or disconnect. */
static pmix_status_t call_connect(const struct px_collective *c, struct px_upcall *u)
{
    const pmix_server_module_t *m = &c->server->module;
    pmix_server_connect_fn_t call = c->kind->request->op == PX_OP_CONNECT
                                        ? m->connect
                                        : m->disconnect;

    return call ? call(u->args.procs, u->args.n_procs, u->args.info.v, u->args.info.n,
                       px_upcall_op_cb, u)
                : PMIX_ERR_NOT_SUPPORTED;
}

/* Adds the proposed name of the namespace. A server that does not know the sizes of all
 * jobs cannot name the namespace before the host answers. */
static pmix_status_t describe_connect_nspace(const struct px_collective *c,
                                             px_infos *infos)
{
    const struct px_joint j = joint_of(c);
    pmix_nspace_t name;

    if (px_collective_has_flag(c, PMIX_CONNECT_XCHG_ONLY) ||
        px_joint_name(c->server, &j, name))
        return PMIX_SUCCESS;
    return px_infos_set(infos, PMIX_NSPACE, name, PMIX_STRING);
}

/* Connects the processes after a success. ours is false if the host handles the loss of
 * a member. A namespace without local members is only counted. */
static pmix_status_t settle_connect(struct px_collective *c, pmix_status_t status,
                                    const struct px_upcall *answer PX_UNUSED)
{
    const bool wait = !px_list_empty(&c->reqs),
               alone = px_collective_is_left_to_us(c, status);
    const bool ours = alone || c->server->host;
    const struct px_joint j = joint_of(c);

    if (alone)
        status = PMIX_SUCCESS;
    if (!status && c->lost_some && wait)
        status = lose_connect(c);
    if (status || px_collective_has_flag(c, PMIX_CONNECT_XCHG_ONLY))
        return status;
    if (c->kind->makes)
        return px_joint_make(c->server, &j, ours, wait ? &c->made : NULL);
    return wait ? px_connected_add(c, ours) : PMIX_SUCCESS;
}

void px_collective_pack_jobs(const struct px_collective *c, struct px_peer *to,
                             px_writer *w)
{
    const bool several = strcmp(c->procs[0].nspace, c->procs[c->n_procs - 1].nspace) !=
                         0;

    for (size_t i = 0; several && i < c->n_procs;
         i = px_next_nspace(c->procs, c->n_procs, i)) {
        const struct px_nspace *ns = px_nspace_find(c->server->model,
                                                    c->procs[i].nspace);

        if (ns)
            px_peer_pack_named(to, ns, w);
    }
}

/* Adds the information of each job, and of the new namespace. */
static void pack_jobs(const struct px_collective *c, struct px_peer *to, px_writer *w)
{
    px_collective_pack_jobs(c, to, w);
    if (c->made)
        px_peer_pack_named(to, c->made, w);
}

/* ---- disconnect ------------------------------------------------------------------ */

static pmix_status_t prepare_leave(struct px_server *srv, const struct px_req *req,
                                   struct px_args *a, px_collective_key *key)
{
    pmix_status_t rc = read_id(srv, req, a, key);

    if (!rc)
        rc = read_nspace(srv, req, a, key);
    a->procs[0] = req->peer->proc;
    return rc;
}

/* The built-in host knows only the sets that are stored here. */
static pmix_status_t admit_disconnect(const struct px_server *srv,
                                      const px_collective_key *key)
{
    return px_connected_has(srv, &key->set, key->label) ? PMIX_SUCCESS
                                                        : PMIX_ERR_INVALID_OPERATION;
}

static pmix_status_t lose_disconnect(struct px_collective *c)
{
    (void)px_connected_drop(c, true);
    return lose_connect(c);
}

static pmix_status_t settle_disconnect(struct px_collective *c, pmix_status_t status,
                                       const struct px_upcall *answer PX_UNUSED)
{
    const bool ours = px_collective_is_left_to_us(c, status);

    if ((status && !ours) || px_list_empty(&c->reqs))
        return ours ? PMIX_SUCCESS : status;
    status = px_connected_drop(c, false);
    return ours || c->server->host ? status : PMIX_SUCCESS; /* else the host decides */
}

/* Removes a process from a namespace, also if the host does not support that. */
static pmix_status_t settle_leave(struct px_collective *c, pmix_status_t status,
                                  const struct px_upcall *answer PX_UNUSED)
{
    if (status == PMIX_ERR_NOT_SUPPORTED && !c->needs_host)
        status = PMIX_SUCCESS;
    if (status)
        return status;
    px_joint_leave(c->server, c->label, &c->procs[0],
                   px_collective_has_flag(c, PMIX_CONNECT_NOTIFY_EACH));
    px_collectives_check_later(c->server); /* fences do not wait for the process */
    return PMIX_SUCCESS;
}

/* ---- the tables ------------------------------------------------------------------ */

static const struct px_collective_kind kinds[] = {
    {.request = &px_request_fence,
     .name = "fence",
     .function = "PMIx_Fence",
     .pipelined = true,
     .local = true,
     .matches = names_whole_nspace,
     .prepare = read_nspace,
     .renew = px_collective_renew,
     .describe = describe_nspace,
     .pack = pack_fence,
     .call_host = call_fence,
     .settle = settle_fence},
    {.request = &px_request_fence,
     .name = "fence",
     .function = "PMIx_Fence",
     .pipelined = true,
     .local = true,
     .wakes = true,
     .pack = pack_fence,
     .call_host = call_fence,
     .settle = settle_fence},
    {.request = &px_request_connect,
     .name = "connect",
     .function = "PMIx_Connect_nspace",
     .makes = true,
     .matches = asks_nspace,
     .prepare = prepare_connect,
     .joined = announce,
     .lost = lose_connect,
     .describe = describe_connect_nspace,
     .call_host = call_connect,
     .settle = settle_connect,
     .pack_reply = pack_jobs},
    {.request = &px_request_connect,
     .name = "connect",
     .function = "PMIx_Connect",
     .wakes = true,
     .prepare = prepare_connect,
     .joined = announce,
     .lost = lose_connect,
     .call_host = call_connect,
     .settle = settle_connect,
     .pack_reply = pack_jobs},
    {.request = &px_request_disconnect,
     .name = "disconnect",
     .function = "PMIx_Disconnect_nspace",
     .single = true,
     .matches = names_nspace,
     .prepare = prepare_leave,
     .lost = lose_disconnect,
     .describe = describe_nspace,
     .call_host = call_connect,
     .settle = settle_leave},
    {.request = &px_request_disconnect,
     .name = "disconnect",
     .function = "PMIx_Disconnect",
     .wakes = true,
     .prepare = read_id,
     .admit = admit_disconnect,
     .lost = lose_disconnect,
     .call_host = call_connect,
     .settle = settle_disconnect},
};

const struct px_collective_kind *const px_collective_kinds[] = {
    &kinds[0],
    &kinds[1],
    &kinds[2],
    &kinds[3],
    &kinds[4],
    &kinds[5],
    &px_group_alone_kind,
    &px_group_construct_kind,
    &px_group_destruct_kind,
    NULL,
};

const struct px_rpc px_collective_rpcs[] = {
    {PX_OP_FENCE, PX_BY_ANY, PX_MEMBERS, .handler = px_collective_request},
    {PX_OP_CONNECT, PX_BY_ANY, PX_MEMBERS, .handler = px_collective_request},
    {PX_OP_DISCONNECT, PX_BY_ANY, PX_MEMBERS, .handler = px_collective_request},
    {PX_OP_GROUP_CONSTRUCT, PX_BY_ANY, PX_MEMBERS, .handler = px_collective_request},
    {PX_OP_GROUP_DESTRUCT, PX_BY_ANY, PX_MEMBERS, .handler = px_collective_request},
    {0},
};
