/* SPDX-License-Identifier: BSD-3-Clause */
/* Invitations to groups, which leader and invited processes exchange as events. The
 * server follows the events of its clients. If a process ends before the group is
 * complete, the server notifies the others. After the end of a leader, the processes of
 * this node that have accepted choose a new one: see PX_GROUP_ELECTS. */
#include "core/model/proc_names.h"
#include "core/notify/notify.h"
#include "core/server/collective/collective.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <string.h>

#define MAX_INVITES 32u    /* of one leader */
#define MAX_INVITED 16384u /* processes in the invitations of a user */
#define PER_ITEM    8      /* processes that are compared; see px_work */

/* The invitation of a leader to a group. */
struct invite {
    struct px_list link; /* in part.invites */
    struct px_charge charge;
    pmix_nspace_t name;
    pmix_proc_t leader;
    uid_t user;            /* of the first leader */
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

    if (!i->elects || i->n_awaited > 0)
        return;
    i->elects = i->candidate.nspace[0] != '\0';
    report(srv, i, i->procs, i->n, PMIX_GROUP_LEADER_SELECTED,
           i->elects ? &i->candidate : &failed);
    if (!i->elects) {
        invite_free(i);
        return;
    }
    i->leader = i->candidate;
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

/* Removes an invited process that has ended or declined. May free i. */
static void lose_invited(struct px_server *srv, struct invite *i, size_t k)
{
    i->n_awaited -= i->elects && i->accepts[k] == ACCEPTS;
    if (px_proc_same(&i->candidate, &i->procs[k]))
        memset(&i->candidate, 0, sizeof(i->candidate));
    remove_at(i, k);
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
static bool is_full(const struct px_server *srv, const struct px_peer *peer, size_t n)
{
    size_t n_open = 0;

    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        n_open += px_proc_same(&i->leader, &peer->proc);
        n += i->user == peer->uid ? i->n : 0;
    }
    return n_open >= MAX_INVITES || n > MAX_INVITED;
}

/* Adds an invitation. Beyond the limits, the server does not follow it. */
static void open_invite(struct px_server *srv, struct px_peer *peer, const char *name,
                        const pmix_proc_t *procs, size_t n)
{
    const size_t size_b = sizeof(struct invite) + n * (sizeof(*procs) + 1);
    struct invite *i;

    if (!name || n == 0)
        return;
    close_invites(srv, &peer->proc, name);
    i = is_full(srv, peer, n) ? NULL : calloc(1, size_b);
    if (!i || px_charge(&i->charge, peer, size_b)) {
        free(i);
        return;
    }
    PMIx_Load_nspace(i->name, name);
    i->leader = peer->proc;
    i->user = peer->uid;
    i->n = n;
    memcpy(i->procs, procs, n * sizeof(*procs));
    i->accepts = (uint8_t *)&i->procs[n];
    px_list_append(&srv->part.invites, &i->link);
    (void)px_work(peer, n / PER_ITEM);
}

/* Handles the answer of an invited process to the leader, or to the end of the
 * leader. */
static void take_answer(struct px_server *srv, struct px_peer *peer, pmix_status_t code,
                        const char *name, const pmix_proc_t *leader,
                        const px_infos *infos)
{
    size_t n_steps = 0;

    PX_LIST_EACH (&srv->part.invites, struct invite, i, link) {
        size_t k;

        n_steps += PER_ITEM;
        if (!is_named(i, name) || !px_proc_same(&i->leader, leader))
            continue;
        k = find_invited(i, &peer->proc);
        n_steps += k;
        if (k == i->n)
            continue;
        if (code == PMIX_GROUP_INVITE_DECLINED) {
            lose_invited(srv, i, k);
        } else if (code == PMIX_GROUP_INVITE_ACCEPTED) {
            if (!i->elects && px_info_flag(infos->v, infos->n, PX_GROUP_CONSTRUCTS))
                i->accepts[k] = ACCEPTS;
        } else if (i->elects && i->accepts[k] == ACCEPTS) {
            i->accepts[k] = ANSWERED;
            i->n_awaited--;
            if (!i->candidate.nspace[0] &&
                px_info_flag(infos->v, infos->n, PMIX_GROUP_LEADER))
                i->candidate = i->procs[k];
            check_choice(srv, i);
        }
    }
    (void)px_work(peer, n_steps / PER_ITEM);
}

/* Follows invitations by the events that a peer sends. */
static void follow(struct px_server *srv, struct px_peer *peer, pmix_status_t code,
                   const px_infos *infos)
{
    const char *name = px_info_str(infos->v, infos->n, PMIX_GROUP_ID);
    const pmix_info_t *range = px_info_find(infos->v, infos->n,
                                            PMIX_EVENT_CUSTOM_RANGE);
    const pmix_proc_t *procs = NULL;
    size_t n = 0;

    switch (code) {
    case PMIX_GROUP_INVITED:
    case PMIX_GROUP_INVITE_ACCEPTED:
    case PMIX_GROUP_INVITE_DECLINED:
    case PMIX_GROUP_LEADER_SELECTED:
        if (range && px_value_borrow_procs(&range->value, &procs, &n))
            n = 0;
        if (code == PMIX_GROUP_INVITED)
            open_invite(srv, peer, name, procs, n);
        else if (n > 0)
            take_answer(srv, peer, code, name, procs, infos);
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
            if (!i->elects)
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
    .rank_gone = rank_gone,
};
