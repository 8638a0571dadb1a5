/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of PMIx_Job_control that are signals to processes of this node. The reader of
 * the requestor's user sends the signals, so the kernel checks the permission. */
#include "core/server/upcall/control.h"

#include "core/server/monitor/usage.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct row {
    const char *key;
    int signum; /* 0: the value of the directive */
} rows[] = {
    {PMIX_JOB_CTRL_KILL, SIGKILL},   {PMIX_JOB_CTRL_TERMINATE, SIGTERM},
    {PMIX_JOB_CTRL_SIGNAL, 0},       {PMIX_JOB_CTRL_PAUSE, SIGSTOP},
    {PMIX_JOB_CTRL_RESUME, SIGCONT},
};

/* Part state: the orders under way. */
struct px_control {
    struct px_list orders;
};

struct order {
    struct px_list link;
    struct px_probe probe;
    struct px_upcall *upcall;
    struct px_peer *peer; /* referenced */
    int signum;
    struct px_usage_target *targets;
    size_t n, at, n_sent;
};

/* ---- requests -------------------------------------------------------------------- */

static const struct row *find_row(const pmix_info_t *info)
{
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (PMIx_Check_key(info->key, rows[i].key))
            return &rows[i];
    return NULL;
}

/* Reads the one order of a request. */
static pmix_status_t read_order(const px_infos *infos, int *signum, struct px_err *err)
{
    const struct row *found = NULL;
    int64_t number = 0;

    for (size_t i = 0; i < infos->n; i++) {
        const pmix_info_t *info = &infos->v[i];
        const struct row *row = find_row(info);

        if (!row && strncmp(info->key, "pmix.jctrl.", strlen("pmix.jctrl.")) == 0 &&
            !PMIx_Check_key(info->key, PMIX_JOB_CTRL_ID))
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                              "the host has no function for %.255s", info->key);
        if (!row || (row->signum && !px_value_truth(&info->value)))
            continue;
        if (found)
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "cannot carry out two orders in one request: %s and %s",
                              found->key, row->key);
        found = row;
        number = row->signum;
        if (number == 0 &&
            (!px_value_to_i64(&info->value, &number) || number < 1 || number >= NSIG))
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "cannot send signal %lld: expected 1 to %d in %s",
                              (long long)number, NSIG - 1, row->key);
    }
    *signum = (int)number;
    return found ? PMIX_SUCCESS
                 : px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "the request has no order");
}

static int compare_procs(const void *a, const void *b)
{
    return px_type_compare(PMIX_PROC, a, b);
}

/* Lists the processes to signal. All targets must be on this node. */
static pmix_status_t list_targets(struct px_upcall *u, struct order *o,
                                  struct px_err *err)
{
    struct px_server *srv = o->peer->server;
    pmix_proc_t own;
    struct px_usage_want want = {.of = PX_USAGE_PROC,
                                 .procs = u->args.n_procs ? u->args.procs : &own,
                                 .n_procs = u->args.n_procs ? u->args.n_procs : 1};
    pmix_status_t rc;

    px_proc_set(&own, o->peer->proc.nspace, PMIX_RANK_WILDCARD);
    want.everything = !u->args.n_procs && o->peer == srv->self;
    for (size_t i = 0; i < want.n_procs && !want.everything; i++)
        if (!px_usage_is_here(srv, &want.procs[i]))
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                              "cannot control processes of %.255s on other nodes: the "
                              "host has no function for job control",
                              want.procs[i].nspace);
    qsort(want.procs, want.n_procs, sizeof(*want.procs), compare_procs);
    rc = px_usage_list(o->peer, &want, &o->targets, &o->n);
    if (rc || o->n > 0)
        return rc;
    return px_err_set(err, PMIX_ERR_NOT_FOUND, "no such process is known here");
}

/* ---- signals --------------------------------------------------------------------- */

static void order_free(struct order *o)
{
    px_list_remove(&o->link);
    px_probe_cancel(&o->probe);
    px_peer_unref(o->peer);
    free(o->targets);
    free(o);
}

static void finish(struct order *o, pmix_status_t status)
{
    struct px_upcall *u = o->upcall;

    order_free(o);
    px_upcall_info_cb(status, NULL, 0, u, NULL, NULL);
}

static void on_sent(void *arg, const struct px_probe_file *files);

/* Signals the next processes. */
static pmix_status_t send_some(struct order *o)
{
    char orders[PX_PROBE_FILES][64];
    const char *texts[PX_PROBE_FILES];
    size_t n = 0;

    for (; n < PX_PROBE_FILES && o->at + n < o->n; n++) {
        const struct px_usage_target *t = &o->targets[o->at + n];

        snprintf(orders[n], sizeof(orders[n]), "%ld %llu %d", (long)t->pid,
                 (unsigned long long)t->start, o->signum);
        texts[n] = orders[n];
    }
    o->probe.fn = on_sent;
    o->probe.arg = o;
    return px_probe_ask(o->peer->server, &o->probe, o->peer->uid, o->peer->gid,
                        PX_PROBE_SIGNAL, texts, n);
}

/* Counts the signals that were sent. A process that has ended is left out. */
static void on_sent(void *arg, const struct px_probe_file *files)
{
    struct order *o = arg;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < o->probe.n; i++) {
        o->n_sent += files[i].errnum == 0;
        if (files[i].errnum && files[i].errnum != ESRCH)
            rc = px_status_of_errno(files[i].errnum);
    }
    o->at += o->probe.n;
    if (!rc && o->at < o->n)
        rc = send_some(o);
    else if (!rc)
        rc = o->n_sent > 0 ? PX_DEFERRED : PMIX_ERR_NOT_FOUND;
    if (rc)
        finish(o, rc == PX_DEFERRED ? PMIX_SUCCESS : rc);
}

pmix_status_t px_control(struct px_server *srv, struct px_upcall *u)
{
    struct px_err err = {0};
    struct order *o = calloc(1, sizeof(*o));
    pmix_status_t rc;

    if (!o)
        return PMIX_ERR_NOMEM;
    o->upcall = u;
    o->peer = ((struct px_req *)u->arg)->peer;
    px_peer_ref(o->peer);
    px_list_append(&srv->part.control->orders, &o->link);
    rc = read_order(&u->args.info, &o->signum, &err);
    if (!rc)
        rc = list_targets(u, o, &err);
    if (!rc)
        rc = send_some(o);
    if (rc)
        order_free(o);
    return err.status ? px_upcall_deny(u, &err) : rc;
}

/* ---- the part -------------------------------------------------------------------- */

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    px_list_init(&srv->part.control->orders);
    return PMIX_SUCCESS;
}

static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.control->orders, struct order, o, link)
        finish(o, PMIX_ERR_LOST_CONNECTION);
}

const struct px_server_part px_control_part = {
    .name = "control",
    PX_PART_STATE(control, struct px_control),
    .create = create,
    .stop = stop,
};
