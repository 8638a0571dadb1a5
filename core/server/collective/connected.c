/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of connected processes. A member that leaves without a disconnect causes an
 * event for the other members. Exceptions are a host that raises the event, and sets of
 * spawns. */
#include "core/server/collective/collective.h"

#include <string.h>

#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

#define MAX_SETS 1024 /* of one namespace, without sets of spawns */

struct set {
    struct px_list node;
    bool ours;           /* no host handles the loss of a member */
    bool spawned, apart; /* see px_server_connect */
    pmix_nspace_t id;    /* of the connect; or "" */
    size_t n;
    pmix_proc_t procs[]; /* in the canonical form */
};

static void set_free(struct set *s)
{
    if (!s)
        return;
    px_list_remove(&s->node);
    free(s);
}

static struct set *find(const struct px_server *srv, const pmix_proc_t *procs, size_t n,
                        const char *id)
{
    PX_LIST_EACH (&srv->part.connected, struct set, s, node)
        if (strcmp(s->id, id) == 0 && px_members_same(s->procs, s->n, procs, n))
            return s;
    return NULL;
}

bool px_connected_has(const struct px_server *srv, const px_members *set,
                      const char *id)
{
    return find(srv, set->v, set->n, id) != NULL;
}

static bool has_nspace(const struct set *s, const char *nspace)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->procs[i].nspace, nspace) == 0)
            return true;
    return false;
}

static bool is_full(const struct px_server *srv, const char *nspace)
{
    size_t n = 0;

    PX_LIST_EACH (&srv->part.connected, struct set, s, node)
        n += !s->spawned && has_nspace(s, nspace);
    return n >= MAX_SETS;
}

static struct set *make(struct px_server *srv, const pmix_proc_t *procs, size_t n)
{
    struct set *s = calloc(1, sizeof(*s) + n * sizeof(*s->procs));

    if (!s)
        return NULL;
    s->n = n;
    memcpy(s->procs, procs, n * sizeof(*s->procs));
    px_list_append(&srv->part.connected, &s->node);
    return s;
}

pmix_status_t px_connected_add(const struct px_collective *c, bool ours)
{
    struct px_server *srv = c->server;
    struct set *s = find(srv, c->procs, c->n_procs, c->label);

    for (size_t i = 0; !s && i < c->n_procs;
         i = px_next_nspace(c->procs, c->n_procs, i))
        if (is_full(srv, c->procs[i].nspace))
            return PMIX_ERR_OUT_OF_RESOURCE;
    if (!s)
        s = make(srv, c->procs, c->n_procs);
    if (!s)
        return PMIX_ERR_NOMEM;
    PMIx_Load_nspace(s->id, c->label);
    s->ours = ours;
    s->spawned = s->apart = false;
    return PMIX_SUCCESS;
}

static bool has_proc(const struct set *s, const pmix_proc_t *proc)
{
    for (size_t i = 0; i < s->n; i++)
        if (px_proc_match(&s->procs[i], proc))
            return true;
    return false;
}

static bool has_all(const struct set *all, const struct set *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!has_proc(all, &s->procs[i]))
            return false;
    return true;
}

pmix_status_t px_connected_drop(const struct px_collective *c, bool broken)
{
    struct set *left = find(c->server, c->procs, c->n_procs, c->label);

    if (!left)
        return PMIX_ERR_INVALID_OPERATION;
    if (broken) {
        left->ours = false;
        return PMIX_SUCCESS;
    }
    PX_LIST_EACH (&c->server->part.connected, struct set, s, node)
        if (s != left && s->spawned && has_all(left, s))
            set_free(s);
    set_free(left);
    return PMIX_SUCCESS;
}

/* ---- for the built-in host ------------------------------------------------------- */

pmix_status_t px_server_connect(struct px_server *srv, const pmix_proc_t *parent,
                                const char *nspace, bool apart)
{
    pmix_proc_t procs[2] = {*parent};
    size_t n = PX_COUNT(procs);
    struct set *s;

    px_proc_set(&procs[1], nspace, PMIX_RANK_WILDCARD);
    px_members_sort(srv, procs, &n);
    s = make(srv, procs, n);
    if (!s)
        return PMIX_ERR_NOMEM;
    s->spawned = true;
    s->apart = apart;
    return PMIX_SUCCESS;
}

void px_server_connected(const struct px_server *srv, px_connected_fn fn, void *arg)
{
    PX_LIST_EACH (&srv->part.connected, struct set, s, node)
        fn(arg, s->procs, s->n, s->apart);
    px_joint_each(srv, fn, arg);
}

/* ---- losses ---------------------------------------------------------------------- */

/* Runs more than once for a rank, also while other connections of the rank count. */
static void rank_gone(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_local *local = px_local_find(srv, proc);

    if (srv->stopping || !local || local->n_peers > 0 || local->left_sets)
        return;
    local->left_sets = true;
    PX_LIST_EACH (&srv->part.connected, struct set, s, node) {
        const struct px_joint j = {.procs = s->procs, .n_procs = s->n, .id = ""};

        if (s->ours && has_proc(s, proc))
            px_joint_event(srv, &j, PMIX_ERR_INVALID_TERMINATION, proc, false);
    }
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->part.connected, struct set, s, node)
        if (has_nspace(s, nspace))
            set_free(s);
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.connected, struct set, s, node)
        set_free(s);
}

const struct px_server_part px_connected_part = {
    .name = "connected",
    .destroy = destroy,
    .rank_gone = rank_gone,
    .nspace_gone = nspace_gone,
};
