/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of processes in the canonical form, and the participants of a collective: local
 * processes that have arrived, are awaited, or can no longer arrive. */
#include "core/base/clock.h"
#include "core/base/vec.h"
#include "core/model/nspace.h"
#include "core/server/collective/collective.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rt/log.h"

#define MAX_NAMES 8 /* in a line of the log */

int px_members_order(const void *a, const void *b)
{
    const pmix_proc_t *x = a, *y = b;
    int order = strcmp(x->nspace, y->nspace);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* ---- sets ------------------------------------------------------------------------ */

/* Returns PMIX_ERR_NOT_FOUND for a namespace or rank that cannot exist. Hosts may have
 * jobs without ranks on this node, or register jobs later. The built-in host does
 * neither. A namespace of tools has the tools that are connected. */
static pmix_status_t check(struct px_server *srv, const pmix_proc_t *p)
{
    const struct px_nspace *ns = px_nspace_find(srv->model, p->nspace);
    bool special = p->rank == PMIX_RANK_WILDCARD || p->rank == PMIX_RANK_LOCAL_NODE;

    if (ns && px_nspace_is_tools(ns))
        return special || px_local_find(srv, p) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
    if (srv->host && (!ns || !ns->hosted))
        return PMIX_ERR_NOT_FOUND;
    return special || !ns || ns->job_size == 0 || p->rank < ns->job_size
               ? PMIX_SUCCESS
               : PMIX_ERR_NOT_FOUND;
}

/* Returns the job of PMIX_RANK_LOCAL_NODE if all its local ranks are registered, or the
 * job of all tools of a namespace: more tools may connect later. */
static const struct px_nspace *listed_job(const struct px_server *srv,
                                          const pmix_proc_t *p)
{
    const struct px_nspace *ns = p->rank == PMIX_RANK_LOCAL_NODE ||
                                         p->rank == PMIX_RANK_WILDCARD
                                     ? px_nspace_find(srv->model, p->nspace)
                                     : NULL;

    return ns && (p->rank == PMIX_RANK_LOCAL_NODE || px_nspace_is_tools(ns)) &&
                   !px_list_empty(&ns->locals) &&
                   px_list_length(&ns->locals) >= ns->n_local
               ? ns
               : NULL;
}

/* Replaces PMIX_RANK_LOCAL_NODE by the ranks of this node, and all tools of a namespace
 * by their ranks. */
static pmix_status_t expand(const struct px_server *srv, pmix_proc_t **procs, size_t *n)
{
    size_t n_more = 0, at = 0;
    pmix_proc_t *v;

    for (size_t i = 0; i < *n; i++) {
        const struct px_nspace *ns = listed_job(srv, &(*procs)[i]);

        n_more += ns ? px_list_length(&ns->locals) : 0;
    }
    if (n_more == 0)
        return PMIX_SUCCESS;
    v = calloc(*n + n_more, sizeof(*v));
    if (!v)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < *n; i++) {
        const struct px_nspace *ns = listed_job(srv, &(*procs)[i]);

        if (!ns) {
            v[at++] = (*procs)[i];
            continue;
        }
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            px_proc_set(&v[at++], ns->name, l->rank);
    }
    free(*procs);
    *procs = v;
    *n = at;
    return PMIX_SUCCESS;
}

/* Sorts processes of one job, whose ranks exist, in linear time. Returns false if they
 * are of several jobs, or the job's size is unknown. */
static bool sort_ranks(const struct px_nspace *ns, pmix_proc_t *v, size_t *n)
{
    PX_AUTOFREE uint8_t *has = ns ? calloc((size_t)ns->job_size + 1, 1) : NULL;
    const uint32_t size = has ? ns->job_size : 0;
    size_t kept = 0;
    bool all = false, local = false;

    for (size_t i = 0; i < *n; i++) {
        const pmix_rank_t rank = v[i].rank;

        all |= rank == PMIX_RANK_WILDCARD;
        local |= rank == PMIX_RANK_LOCAL_NODE;
        if (strcmp(v[i].nspace, v[0].nspace) != 0 ||
            (rank >= size && rank != PMIX_RANK_WILDCARD &&
             rank != PMIX_RANK_LOCAL_NODE))
            return false;
        if (rank < size)
            has[rank] = 1;
    }
    for (uint32_t rank = 0; rank < size; rank++)
        if (has[rank])
            v[kept++].rank = rank;
    if (local)
        v[kept++].rank = PMIX_RANK_LOCAL_NODE;
    if (all)
        v[kept++].rank = PMIX_RANK_WILDCARD;
    *n = kept;
    return true;
}

/* Orders processes and removes duplicates, unless they are in order. */
static void order(const struct px_server *srv, pmix_proc_t *v, size_t *n)
{
    size_t i = 1;

    while (i < *n && px_members_order(&v[i - 1], &v[i]) < 0)
        i++;
    if (i < *n && !sort_ranks(px_nspace_find(srv->model, v->nspace), v, n))
        qsort(v, *n, sizeof(*v), px_members_order);
}

/* Sorts processes, and removes duplicates and ranks that a wildcard covers. known: all
 * ranks of a known job become its wildcard. */
static void sort(const struct px_server *srv, pmix_proc_t *v, size_t *n, bool known)
{
    size_t kept = 0;

    if (*n == 1 && v->rank == PMIX_RANK_WILDCARD)
        return;
    order(srv, v, n);
    for (size_t i = 0, first; i < *n;) {
        const struct px_nspace *ns = px_nspace_find(srv->model, v[i].nspace);
        bool all = false;

        for (first = kept;
             i < *n && (kept == first || strcmp(v[first].nspace, v[i].nspace) == 0);
             i++) {
            all |= v[i].rank == PMIX_RANK_WILDCARD;
            if (kept == first || v[kept - 1].rank != v[i].rank)
                v[kept++] = v[i];
        }
        all |= known && ns && !px_nspace_is_tools(ns) && ns->job_size > 0 &&
               v[kept - 1].rank < PMIX_RANK_VALID && kept - first == ns->job_size;
        if (all) {
            v[first].rank = PMIX_RANK_WILDCARD;
            kept = first + 1;
        }
    }
    *n = kept;
}

static pmix_proc_t *copy(const pmix_proc_t *v, size_t n)
{
    pmix_proc_t *copied = malloc(n * sizeof(*copied));

    if (copied)
        memcpy(copied, v, n * sizeof(*v));
    return copied;
}

void px_members_sort(const struct px_server *srv, pmix_proc_t *v, size_t *n)
{
    sort(srv, v, n, true);
}

pmix_status_t px_members_settle(struct px_server *srv, struct px_args *a,
                                struct px_members *set)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < a->n_procs && !rc; i++)
        rc = check(srv, &a->procs[i]);
    if (rc)
        return rc;
    sort(srv, a->procs, &a->n_procs, false); /* so duplicates are expanded once */
    set->n = a->n_procs;
    set->v = copy(a->procs, set->n);
    rc = set->v ? expand(srv, &set->v, &set->n) : PMIX_ERR_NOMEM;
    if (rc)
        return rc;
    px_members_sort(srv, set->v, &set->n);
    if (strcmp(set->v[0].nspace, set->v[set->n - 1].nspace) != 0 ||
        px_members_same(a->procs, a->n_procs, set->v, set->n))
        return PMIX_SUCCESS;
    free(a->procs);
    a->n_procs = set->n;
    a->procs = copy(set->v, set->n);
    return a->procs ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t px_members_single(const pmix_proc_t *proc, struct px_members *set)
{
    set->v = copy(proc, 1);
    set->n = 1;
    return set->v ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

size_t px_next_nspace(const pmix_proc_t *procs, size_t n, size_t i)
{
    const char *nspace = procs[i].nspace;

    while (++i < n && strcmp(procs[i].nspace, nspace) == 0)
        ;
    return i;
}

bool px_members_same(const pmix_proc_t *a, size_t n_a, const pmix_proc_t *b, size_t n_b)
{
    size_t same = 0;

    while (n_a == n_b && same < n_a && px_proc_same(&a[same], &b[same]))
        same++;
    return n_a == n_b && same == n_a;
}

/* ---- local participants ---------------------------------------------------------- */

static bool has_proc(const struct px_collective *c, const char *nspace,
                     pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    return bsearch(&p, c->procs, c->n_procs, sizeof(p), px_members_order);
}

bool px_collective_has_local(const struct px_collective *c,
                             const struct px_local *local)
{
    const char *nspace = local->ns->name;

    return has_proc(c, nspace, local->rank) ||
           has_proc(c, nspace, PMIX_RANK_WILDCARD) ||
           has_proc(c, nspace, PMIX_RANK_LOCAL_NODE);
}

void px_collective_locals(const struct px_collective *c, px_local_fn fn, void *arg)
{
    for (size_t i = 0; i < c->n_procs; i = px_next_nspace(c->procs, c->n_procs, i)) {
        struct px_nspace *ns = px_nspace_find(c->server->model, c->procs[i].nspace);
        bool all = c->procs[i].rank == PMIX_RANK_WILDCARD; /* alone in its job */

        if (!ns)
            continue;
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            if (all || px_collective_has_local(c, l))
                fn(arg, l);
    }
}

bool px_collective_takes_part(const struct px_collective *c, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&c->reqs, struct px_req, r, link)
        if (px_proc_same(&r->peer->proc, proc))
            return true;
    return false;
}

bool px_collective_has_come(const struct px_collective *c, const struct px_local *local,
                            const pmix_proc_t *proc)
{
    for (size_t i = 0; i < c->n_refused; i++)
        if (px_proc_same(&c->refused[i], proc))
            return true;
    if (local && local->n_collecting == 0) /* the usual case: no comparison is needed */
        return false;
    return px_collective_takes_part(c, proc);
}

static bool has_come(const struct px_collective *c, const struct px_local *local)
{
    pmix_proc_t proc;

    px_proc_set(&proc, local->ns->name, local->rank);
    return px_collective_has_come(c, local, &proc);
}

static bool is_away(const struct px_local *local)
{
    return local->lost || local->finalized;
}

static void count_local(void *arg, struct px_local *local)
{
    struct px_census *n = arg;

    n->n_locals++;
    if (!is_away(local))
        return;
    n->n_away++;
    n->lost_some |= !n->c->forgives && !has_come(n->c, local);
}

static void count_absent(void *arg, struct px_local *local)
{
    struct px_census *n = arg;

    n->n_absent += !is_away(local) && !has_come(n->c, local);
}

/* Counts the local processes that wait. Each is a participant, and waits once. */
static size_t count_come(const struct px_collective *c)
{
    size_t n = 0;

    PX_LIST_EACH (&c->reqs, struct px_req, r, link)
        n += r->peer->local != NULL;
    return n;
}

/* Counts ranks that the host has announced and not registered as missing. */
struct px_census px_collective_count(const struct px_collective *c)
{
    struct px_census n = {.c = c, .lost_some = c->lost_some};

    for (size_t i = 0; i < c->n_procs; i++) {
        const struct px_nspace *ns = px_nspace_find(c->server->model,
                                                    c->procs[i].nspace);

        if (ns && c->procs[i].rank == PMIX_RANK_WILDCARD &&
            ns->n_local > px_list_length(&ns->locals))
            n.missing += ns->n_local - px_list_length(&ns->locals);
    }
    px_collective_locals(c, count_local, &n);
    if (n.n_away == 0 && !c->failed) /* else participants may have come and gone */
        n.n_absent = n.n_locals - count_come(c);
    else
        px_collective_locals(c, count_absent, &n);
    n.missing += n.n_absent;
    return n;
}

/* ---- after a loss ---------------------------------------------------------------- */

pmix_status_t px_collective_refuse(struct px_collective *c, const pmix_proc_t *proc)
{
    pmix_proc_t *p = px_vec_add(&c->refused, &c->n_refused, &c->cap_refused);

    if (!p)
        return PMIX_ERR_NOMEM;
    *p = *proc;
    return PMIX_SUCCESS;
}

static void refuse_away(void *arg, struct px_local *local)
{
    struct px_collective *c = arg;
    pmix_proc_t proc;

    px_proc_set(&proc, local->ns->name, local->rank);
    if (is_away(local) && px_collective_refuse(c, &proc))
        c->failed = false;
}

pmix_status_t px_collective_fail(struct px_collective *c)
{
    c->failed = true;
    PX_LIST_EACH (&c->reqs, struct px_req, r, link)
        if (px_collective_refuse(c, &r->peer->proc))
            c->failed = false;
    px_collective_locals(c, refuse_away, c);
    return c->failed ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* ---- this node ------------------------------------------------------------------- */

/* True for a process of this node. The registration counts, not the connection. */
static bool is_local(struct px_server *srv, const pmix_proc_t *p)
{
    const struct px_nspace *ns = px_nspace_find(srv->model, p->nspace);

    if (p->rank == PMIX_RANK_LOCAL_NODE)
        return true;
    if (p->rank != PMIX_RANK_WILDCARD)
        return px_local_find(srv, p) != NULL;
    return ns && ns->job_size > 0 && px_list_length(&ns->locals) >= ns->job_size;
}

bool px_collective_is_here(const struct px_collective *c)
{
    for (size_t i = 0; i < c->n_procs; i++)
        if (!is_local(c->server, &c->procs[i]))
            return false;
    return true;
}

bool px_collective_knows_all(const struct px_collective *c)
{
    for (size_t i = 0; i < c->n_procs; i++)
        if (!px_nspace_find(c->server->model, c->procs[i].nspace))
            return false;
    return true;
}

/* ---- names for the log ----------------------------------------------------------- */

struct naming {
    const struct px_collective *c;
    const char *nspace; /* of ranks that go without their namespace; NULL: of none */
    bool away;
    size_t n;
    uint64_t now_ms;
    char text[MAX_NAMES * (PMIX_MAX_NSLEN + 16) + 32];
};

static void add_text(struct naming *a, const char *fmt, ...) PX_PRINTF(2, 3);

static void add_text(struct naming *a, const char *fmt, ...)
{
    size_t len = strlen(a->text);
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(a->text + len, sizeof(a->text) - len, fmt, args);
    va_end(args);
}

static const char *op_name(uint8_t op)
{
    static const char *const names[PX_OP_MAX] = {
        [PX_OP_REQ] = "init",
        [PX_OP_ABORT] = "abort",
        [PX_OP_COMMIT] = "commit",
        [PX_OP_FENCE] = "fence",
        [PX_OP_GET] = "get",
        [PX_OP_PUBLISH] = "publish",
        [PX_OP_LOOKUP] = "lookup",
        [PX_OP_UNPUBLISH] = "unpublish",
        [PX_OP_SPAWN] = "spawn",
        [PX_OP_CONNECT] = "connect",
        [PX_OP_DISCONNECT] = "disconnect",
        [PX_OP_NOTIFY] = "event",
        [PX_OP_REGEVENTS] = "registration of events",
        [PX_OP_DEREGEVENTS] = "deregistration of events",
        [PX_OP_QUERY] = "query",
        [PX_OP_LOG] = "log",
        [PX_OP_JOB_CONTROL] = "job control",
        [PX_OP_MONITOR] = "monitor",
        [PX_OP_GROUP_CONSTRUCT] = "construct group",
        [PX_OP_GROUP_DESTRUCT] = "destruct group",
    };

    return op < PX_OP_MAX && names[op] ? names[op] : "request";
}

static pid_t pid_of(struct px_server *srv, const struct px_local *local)
{
    if (local->pid)
        return local->pid;
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (p->local == local && p->pid)
            return p->pid;
    return 0;
}

/* Adds the pid of a process and its last request. */
static void add_state(struct naming *a, const struct px_local *local)
{
    const pid_t pid = pid_of(a->c->server, local);

    add_text(a, " (");
    if (pid)
        add_text(a, "pid %ld, ", (long)pid);
    if (local->finalized)
        add_text(a, "finalized");
    else if (local->lost)
        add_text(a, "lost");
    else if (!local->last_ms)
        add_text(a, "not connected");
    else
        add_text(a, "last: %s %.1f s ago", op_name(local->last_op),
                 (double)(a->now_ms - local->last_ms) / 1000);
    add_text(a, ")");
}

static void name_one(void *arg, struct px_local *local)
{
    struct naming *a = arg;

    if (has_come(a->c, local) || (a->away && !is_away(local)))
        return;
    if (++a->n > MAX_NAMES)
        return;
    if (a->n > 1)
        add_text(a, ", ");
    if (!a->nspace)
        add_text(a, "%s.%u", local->ns->name, local->rank);
    else if (strcmp(a->nspace, local->ns->name) == 0)
        add_text(a, "%u", local->rank);
    else
        add_text(a, "%u of %s", local->rank, local->ns->name);
    if (a->nspace)
        add_state(a, local);
}

static void name_all(struct naming *a)
{
    px_collective_locals(a->c, name_one, a);
    if (a->n > MAX_NAMES)
        add_text(a, " and %zu more", a->n - MAX_NAMES);
}

void px_collective_log_away(const struct px_collective *c, const char *how)
{
    struct naming a = {.c = c, .away = true};

    name_all(&a);
    px_log(PX_LOG_WARN, "server", "cannot %s: %s %s", c->kind->name,
           a.n ? a.text : "a participant", how);
}

void px_collective_log_timeout(const struct px_collective *c)
{
    struct naming a = {.c = c,
                       .nspace = c->n_procs ? c->procs[0].nspace : "",
                       .now_ms = px_clock_ms()};
    const char *object = c->label[0] ? c->label : a.nspace;

    name_all(&a);
    if (a.n == 0)
        px_log(PX_LOG_WARN, "server",
               "cannot %s %s: time limit of %u s: a participant has not entered",
               c->kind->name, object, c->limit_s);
    else
        px_log(PX_LOG_WARN, "server",
               "cannot %s %s: time limit of %u s: rank%s %s on %s ha%s not entered",
               c->kind->name, object, c->limit_s, a.n > 1 ? "s" : "", a.text,
               c->server->model->hostname, a.n > 1 ? "ve" : "s");
}
