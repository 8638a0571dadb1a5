/* SPDX-License-Identifier: BSD-3-Clause */
/* Invitations to groups, which leader and invited processes exchange as events. The
 * server follows the events of its clients. If a process ends before the group is
 * complete, the server notifies the others. */
#include "core/model/proc_names.h"
#include "core/notify/notify.h"
#include "core/server/collective/collective.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <string.h>

#define MAX_INVITES 32u /* of one leader */

/* The invitation of a leader to a group. */
struct invite {
    struct px_list link; /* in part.invites */
    struct px_charge charge;
    pmix_nspace_t name;
    pmix_proc_t leader;
    size_t n;
    pmix_proc_t procs[]; /* invited, without those that have declined */
};

static void invite_free(struct invite *i)
{
    px_list_remove(&i->link);
    px_charge_end(&i->charge);
    free(i);
}

/* Notifies processes that one of the invitation has ended. */
static void report(struct px_server *srv, const struct invite *i, const pmix_proc_t *to,
                   size_t n, pmix_status_t code, const pmix_proc_t *ended)
{
    const struct px_joint j = {
        .procs = to, .n_procs = n, .id = "", .nspace = i->name, .is_group = true};

    if (n > 0)
        px_joint_event(srv, &j, code, ended, true);
}

/* ---- events of clients ----------------------------------------------------------- */

static bool is_named(const struct invite *i, const char *name)
{
    return !name || strcmp(i->name, name) == 0;
}

/* Removes the invitations of a leader to a group, which are complete or aborted. */
static void close_invites(struct px_server *srv, const pmix_proc_t *leader,
                          const char *name)
{
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link)
        if (is_named(i, name) && px_proc_same(&i->leader, leader))
            invite_free(i);
}

/* Adds an invitation. Beyond the limits, the server does not follow it. */
static void open_invite(struct px_server *srv, struct px_peer *peer, const char *name,
                        const px_infos *infos)
{
    const pmix_info_t *range = px_info_find(infos->v, infos->n,
                                            PMIX_EVENT_CUSTOM_RANGE);
    const pmix_proc_t *procs;
    struct invite *i;
    size_t n = 0, n_open = 0;

    if (!name || !range || px_value_borrow_procs(&range->value, &procs, &n))
        return;
    close_invites(srv, &peer->proc, name);
    PX_LIST_EACH (&srv->part.invites, struct invite, other, link)
        n_open += px_proc_same(&other->leader, &peer->proc);
    i = n_open < MAX_INVITES ? calloc(1, sizeof(*i) + n * sizeof(*procs)) : NULL;
    if (!i || px_charge(&i->charge, peer, sizeof(*i) + n * sizeof(*procs))) {
        free(i);
        return;
    }
    PMIx_Load_nspace(i->name, name);
    i->leader = peer->proc;
    i->n = n;
    memcpy(i->procs, procs, n * sizeof(*procs));
    px_list_append(&srv->part.invites, &i->link);
}

/* Removes a process that has declined. */
static void remove_invited(struct px_server *srv, const pmix_proc_t *proc,
                           const char *name)
{
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link)
        for (size_t k = 0; is_named(i, name) && k < i->n;)
            if (px_proc_same(&i->procs[k], proc))
                i->procs[k] = i->procs[--i->n];
            else
                k++;
}

/* Follows invitations by the events that a peer sends. */
static void follow(struct px_server *srv, struct px_peer *peer, pmix_status_t code,
                   const px_infos *infos)
{
    const char *name = px_info_str(infos->v, infos->n, PMIX_GROUP_ID);
    size_t n_steps = 0;

    if (code == PMIX_GROUP_INVITED)
        open_invite(srv, peer, name, infos);
    else if (code == PMIX_GROUP_INVITE_DECLINED)
        remove_invited(srv, &peer->proc, name);
    else if (name && (code == PMIX_GROUP_CONSTRUCT_COMPLETE ||
                      code == PMIX_GROUP_CONSTRUCT_ABORT))
        close_invites(srv, &peer->proc, name);
    else
        return;
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link)
        n_steps += 1 + i->n / 8;
    (void)px_work(peer, n_steps);
}

/* ---- ends of processes ----------------------------------------------------------- */

/* Runs more than once for a rank. */
static void rank_gone(struct px_server *srv, const pmix_proc_t *proc)
{
    const struct px_local *local = px_local_find(srv, proc);

    if (srv->stopping || (local && local->n_peers > 0))
        return;
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        if (px_proc_same(&i->leader, proc)) {
            report(srv, i, i->procs, i->n, PMIX_GROUP_LEADER_FAILED, proc);
            invite_free(i);
            continue;
        }
        for (size_t k = 0; k < i->n; k++) {
            if (!px_proc_match(&i->procs[k], proc))
                continue;
            report(srv, i, &i->leader, 1, PMIX_GROUP_INVITE_FAILED, proc);
            if (i->procs[k].rank != PMIX_RANK_WILDCARD)
                i->procs[k] = i->procs[--i->n];
            break;
        }
    }
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link)
        invite_free(i);
}

const struct px_server_part px_invites_part = {
    .name = "invites",
    .destroy = destroy,
    .peer_event = follow,
    .rank_gone = rank_gone,
};
