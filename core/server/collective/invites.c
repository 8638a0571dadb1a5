/* SPDX-License-Identifier: BSD-3-Clause */
/* Invitations to groups, which leader and invited processes exchange as events. The
 * server follows the events of its clients, and those that the host brings from other
 * nodes. If a process ends before the group is complete, the server notifies the
 * others. After the end of a leader, its server has the processes that have accepted
 * choose a new one: see PX_GROUP_ELECTS. Then the server of the new leader follows the
 * invitation. Servers of invited processes report the ends of these only. */
#include "core/model/proc_names.h"
#include "core/notify/notify.h"
#include "core/server/collective/collective.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <stdlib.h>
#include <string.h>

#define MAX_INVITES  32u    /* of one leader */
#define MAX_INVITED  16384u /* processes in the invitations of a user */
#define PER_ITEM     8      /* processes that are compared; see px_work */
#define NSPACE_ITEMS 8      /* for the owner of a namespace */

/* The invitation of a leader to a group. */
struct invite {
    struct px_list link; /* in part.invites */
    struct px_charge charge;
    pmix_nspace_t name;
    pmix_proc_t leader;
    uid_t user;            /* of the first leader, which is charged */
    bool is_remote;        /* the leader's server on another node decides */
    bool elects;           /* the leader has ended */
    size_t n_awaited;      /* answers in the choice of a new leader */
    pmix_proc_t candidate; /* the first process that wants to lead; or no name */
    size_t n;
    uint8_t *accepts;    /* enum accepts of each process, behind procs */
    pmix_proc_t procs[]; /* invited, without those that have declined */
};

enum accepts { NOT_YET, ACCEPTS, ANSWERED };

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
    const struct px_joint j = {.procs = to,
                               .n_procs = n,
                               .id = "",
                               .nspace = i->name,
                               .is_group = true,
                               .elects = i->elects};

    if (n > 0)
        px_joint_event(srv, &j, code, ended, true);
}

static void remove_at(struct invite *i, size_t k)
{
    i->n--;
    i->procs[k] = i->procs[i->n];
    i->accepts[k] = i->accepts[i->n];
}

/* ---- a new leader ---------------------------------------------------------------- */

/* Ends the choice when no answer is awaited. May free i. */
static void check_choice(struct px_server *srv, struct invite *i)
{
    const pmix_proc_t failed = i->leader;

    if (!i->elects || i->n_awaited > 0 || i->is_remote)
        return;
    i->elects = i->candidate.nspace[0] != '\0';
    report(srv, i, i->procs, i->n, PMIX_GROUP_LEADER_SELECTED,
           i->elects ? &i->candidate : &failed);
    if (!i->elects) {
        invite_free(i);
        return;
    }
    i->leader = i->candidate;
    i->is_remote = !px_local_find(srv, &i->leader);
    memset(&i->candidate, 0, sizeof(i->candidate));
    i->elects = false;
    for (size_t k = i->n; k-- > 0;) {
        i->accepts[k] = NOT_YET; /* they accept the new leader */
        if (px_proc_same(&i->procs[k], &i->leader))
            remove_at(i, k);
    }
}

/* Starts the choice. Without a process that has accepted, the invitation ends. */
static void lose_leader(struct px_server *srv, struct invite *i)
{
    const pmix_proc_t failed = i->leader;

    if (i->elects)
        return;
    for (size_t k = 0; k < i->n; k++)
        i->n_awaited += i->accepts[k] == ACCEPTS;
    i->elects = i->n_awaited > 0;
    report(srv, i, i->procs, i->n, PMIX_GROUP_LEADER_FAILED, &failed);
    if (!i->elects)
        invite_free(i);
}

static bool has_local(struct px_server *srv, const pmix_proc_t *procs, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (px_local_find(srv, &procs[k]))
            return true;
    return false;
}

/* Removes an invited process that has ended or declined. May free i. */
static void lose_invited(struct px_server *srv, struct invite *i, size_t k)
{
    i->n_awaited -= i->elects && !i->is_remote && i->accepts[k] == ACCEPTS;
    if (px_proc_same(&i->candidate, &i->procs[k]))
        memset(&i->candidate, 0, sizeof(i->candidate));
    remove_at(i, k);
    if (i->is_remote && !has_local(srv, i->procs, i->n))
        invite_free(i); /* no end is left to report */
    else
        check_choice(srv, i);
}

/* ---- events of clients ----------------------------------------------------------- */

static bool is_named(const struct invite *i, const char *name)
{
    return !name || strcmp(i->name, name) == 0;
}

static size_t find_invited(const struct invite *i, const pmix_proc_t *proc)
{
    size_t k = 0;

    while (k < i->n && !px_proc_same(&i->procs[k], proc))
        k++;
    return k;
}

/* Removes the invitations of a leader to a group, which are complete or aborted.
 * Without a leader, any process that was invited may abort. */
static void close_invites(struct px_server *srv, const pmix_proc_t *proc,
                          const char *name)
{
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link)
        if (is_named(i, name) && (px_proc_same(&i->leader, proc) ||
                                  (i->elects && find_invited(i, proc) < i->n)))
            invite_free(i);
}

/* True if the leader or its user has too many invitations. */
static bool is_full(const struct px_server *srv, const pmix_proc_t *leader, uid_t user,
                    size_t n)
{
    size_t n_open = 0;

    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        n_open += px_proc_same(&i->leader, leader);
        if (i->user == user)
            n += i->n;
    }
    return n_open >= MAX_INVITES || n > MAX_INVITED;
}

/* Copies the processes that the leader may notify. peer: see open_invite. */
static void take_invited(struct invite *i, struct px_peer *peer,
                         const pmix_proc_t *procs, size_t n)
{
    bool may = true;

    for (size_t k = 0; k < n; k++) {
        if (peer && (k == 0 || strcmp(procs[k].nspace, procs[k - 1].nspace) != 0)) {
            may = px_peer_may(peer, procs[k].nspace);
            (void)px_work(peer, NSPACE_ITEMS);
        }
        if (may && !px_proc_same(&procs[k], &i->leader))
            i->procs[i->n++] = procs[k];
    }
}

/* Adds an invitation. Beyond the limits, the server does not follow it. peer: the
 * leader, or NULL for a leader on another node. */
static void open_invite(struct px_server *srv, const pmix_proc_t *leader,
                        struct px_peer *peer, const char *name,
                        const pmix_proc_t *procs, size_t n)
{
    const size_t size_b = sizeof(struct invite) + n * (sizeof(*procs) + 1);
    const uid_t user = peer ? peer->uid : px_nspace_user(srv, leader->nspace);
    struct invite *i;

    if (!name || n == 0)
        return;
    close_invites(srv, leader, name);
    i = is_full(srv, leader, user, n) ? NULL : calloc(1, size_b);
    if (!i || (peer ? px_charge(&i->charge, peer, size_b)
                    : px_charge_user(&i->charge, srv, user, size_b))) {
        free(i);
        return;
    }
    PMIx_Load_nspace(i->name, name);
    i->leader = *leader;
    i->user = user;
    i->is_remote = !peer;
    take_invited(i, peer, procs, n);
    i->accepts = (uint8_t *)&i->procs[n];
    px_list_append(&srv->part.invites, &i->link);
    if (peer)
        (void)px_work(peer, n / PER_ITEM);
}

/* Counts the answer of an invited process to the end of the leader. May free i. */
static void take_vote(struct px_server *srv, struct invite *i, size_t k, bool leads)
{
    i->accepts[k] = ANSWERED;
    i->n_awaited--;
    if (!i->candidate.nspace[0] && leads)
        i->candidate = i->procs[k];
    check_choice(srv, i);
}

/* Handles the answer of an invited process to the leader, or to the end of the leader.
 * Returns the work in items. */
static size_t take_answer(struct px_server *srv, const pmix_proc_t *from,
                          pmix_status_t code, const char *name,
                          const pmix_proc_t *leader, const px_infos *infos)
{
    size_t n_steps = 0;

    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        size_t k;

        n_steps += PER_ITEM;
        if (!is_named(i, name) || !px_proc_same(&i->leader, leader) ||
            (i->is_remote && code != PMIX_GROUP_INVITE_DECLINED))
            continue;
        k = find_invited(i, from);
        n_steps += k;
        if (k == i->n)
            continue;
        if (code == PMIX_GROUP_INVITE_DECLINED) {
            lose_invited(srv, i, k);
        } else if (code == PMIX_GROUP_INVITE_ACCEPTED) {
            if (!i->elects && px_info_flag(infos->v, infos->n, PX_GROUP_CONSTRUCTS))
                i->accepts[k] = ACCEPTS;
        } else if (i->elects && i->accepts[k] == ACCEPTS) {
            take_vote(srv, i, k, px_info_flag(infos->v, infos->n, PMIX_GROUP_LEADER));
        }
    }
    return n_steps / PER_ITEM;
}

/* Processes that an event names. */
typedef struct {
    pmix_proc_t *v;
    size_t n;
} named;

static void named_cleanup(named *l)
{
    free(l->v);
}

/* Returns the processes under a key, by their names in this cluster. None if memory is
 * missing. */
static named procs_in(const struct px_server *srv, const px_infos *infos,
                      const char *key)
{
    const pmix_info_t *info = px_info_find(infos->v, infos->n, key);
    named l = {0};

    if (info && px_value_procs(&info->value, &l.v, &l.n))
        l = (named){0};
    for (size_t k = 0; k < l.n; k++)
        px_proc_localize(srv->model, &l.v[k]);
    return l;
}

/* Follows invitations by the events that a peer sends. */
static void follow(struct px_server *srv, struct px_peer *peer, pmix_status_t code,
                   const px_infos *infos)
{
    const char *name = px_info_str(infos->v, infos->n, PMIX_GROUP_ID);
    PX_AUTO(named) to = {0};

    switch (code) {
    case PMIX_GROUP_INVITED:
    case PMIX_GROUP_INVITE_ACCEPTED:
    case PMIX_GROUP_INVITE_DECLINED:
    case PMIX_GROUP_LEADER_SELECTED:
        to = procs_in(srv, infos, PMIX_EVENT_CUSTOM_RANGE);
        if (code == PMIX_GROUP_INVITED)
            open_invite(srv, &peer->proc, peer, name, to.v, to.n);
        else if (to.n > 0)
            (void)px_work(peer, take_answer(srv, &peer->proc, code, name, to.v, infos));
        break;
    case PMIX_GROUP_CONSTRUCT_COMPLETE:
    case PMIX_GROUP_CONSTRUCT_ABORT:
        if (name)
            close_invites(srv, &peer->proc, name);
        break;
    default:
        break;
    }
}

/* ---- events of other nodes ------------------------------------------------------- */

/* Handles the end of a leader on another node, whose server has a new one chosen. */
static void await_leader(struct px_server *srv, const char *name,
                         const pmix_proc_t *leader, bool elects)
{
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        if (!i->is_remote || !is_named(i, name) || !px_proc_same(&i->leader, leader))
            continue;
        i->elects = elects;
        if (!elects)
            invite_free(i);
    }
}

/* Takes the leader that the server of the former leader has found. Only an invited
 * process can lead, and only after the end of the former leader. */
static void take_leader(struct px_server *srv, const char *name,
                        const pmix_proc_t *leader, const px_infos *infos)
{
    PX_AUTO(named) all = procs_in(srv, infos, PMIX_GROUP_MEMBERSHIP);
    struct px_peer *peer = px_peer_find(srv, leader);

    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        if (!i->is_remote || !i->elects || !is_named(i, name) ||
            find_invited(i, leader) == i->n)
            continue;
        i->leader = *leader;
        i->elects = false;
        if (peer) { /* this server decides from now on */
            open_invite(srv, leader, peer, name, all.v, all.n);
            return;
        }
    }
}

/* Handles the end of an invited process on another node. */
static void lose_remote(struct px_server *srv, const char *name,
                        const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        const size_t k = find_invited(i, proc);

        if (is_named(i, name) && k < i->n)
            lose_invited(srv, i, k);
    }
}

/* Handles the choice of a leader, or an answer in the choice. */
static void follow_choice(struct px_server *srv, const char *name,
                          const pmix_proc_t *from, const px_infos *infos)
{
    const pmix_info_t *chosen = px_info_find(infos->v, infos->n, PMIX_GROUP_LEADER);
    PX_AUTO(named) to = {0};

    if (chosen &&
        chosen->value.type == PMIX_PROC) { /* the source of a server's event */
        PX_AUTO(named) leader = procs_in(srv, infos, PMIX_GROUP_LEADER);

        if (leader.n == 1 && px_proc_same(leader.v, from))
            take_leader(srv, name, from, infos);
        return;
    }
    to = procs_in(srv, infos, PMIX_EVENT_CUSTOM_RANGE);
    if (to.n > 0)
        (void)take_answer(srv, from, PMIX_GROUP_LEADER_SELECTED, name, to.v, infos);
    await_leader(srv, name, from, false); /* no leader was found */
}

/* Follows invitations by the events of processes on other nodes. A process speaks for
 * itself only. */
static void host_event(struct px_server *srv, pmix_status_t code,
                       const pmix_proc_t *source, const px_infos *infos)
{
    const char *name = px_info_str(infos->v, infos->n, PMIX_GROUP_ID);
    pmix_proc_t from = *source;
    PX_AUTO(named) to = {0};

    if (!name)
        return;
    px_proc_localize(srv->model, &from);
    switch (code) {
    case PMIX_GROUP_INVITED:
        to = procs_in(srv, infos, PMIX_EVENT_CUSTOM_RANGE);
        if (!px_local_find(srv, &from) && has_local(srv, to.v, to.n))
            open_invite(srv, &from, NULL, name, to.v, to.n);
        break;
    case PMIX_GROUP_INVITE_ACCEPTED:
    case PMIX_GROUP_INVITE_DECLINED:
        to = procs_in(srv, infos, PMIX_EVENT_CUSTOM_RANGE);
        if (to.n > 0)
            (void)take_answer(srv, &from, code, name, to.v, infos);
        break;
    case PMIX_GROUP_INVITE_FAILED:
        lose_remote(srv, name, &from);
        break;
    case PMIX_GROUP_LEADER_FAILED:
        await_leader(srv, name, &from,
                     px_info_flag(infos->v, infos->n, PX_GROUP_ELECTS));
        break;
    case PMIX_GROUP_LEADER_SELECTED:
        follow_choice(srv, name, &from, infos);
        break;
    case PMIX_GROUP_CONSTRUCT_COMPLETE:
    case PMIX_GROUP_CONSTRUCT_ABORT:
        close_invites(srv, &from, name);
        break;
    default:
        break;
    }
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
            lose_leader(srv, i);
            continue;
        }
        for (size_t k = 0; k < i->n; k++) {
            if (!px_proc_match(&i->procs[k], proc))
                continue;
            if (!i->elects || i->is_remote)
                report(srv, i, &i->leader, 1, PMIX_GROUP_INVITE_FAILED, proc);
            if (i->procs[k].rank != PMIX_RANK_WILDCARD)
                lose_invited(srv, i, k);
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
    .host_event = host_event,
    .rank_gone = rank_gone,
};
