/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries for the memory that this server and its clients use. */
#include "core/base/fd.h"
#include "core/os/proc.h"
#include "core/model/lookup.h"
#include "core/model/query.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/query/query.h"
#include "core/server/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB (1024.0f * 1024.0f)
/* Bytes of a process in a message, beside its namespace. */
#define ROW_B 128u
/* Reading a process takes about 15 us. */
#define ROW_ITEMS  150u
#define BARE_ITEMS 4u /* of a process without a pid */

bool px_query_is_here(const struct px_server *srv, const pmix_query_t *q,
                      const struct px_answers *a)
{
    const struct px_nspace *ns = px_nspace_find(srv->model, a->req->peer->proc.nspace);
    const char *host = px_info_str(q->qualifiers, q->nqual, PMIX_HOSTNAME);
    uint32_t id = px_info_u32(q->qualifiers, q->nqual, PMIX_NODEID, UINT32_MAX);

    if (host && !px_same_host(host, srv->model->hostname) &&
        !(ns && px_node_by_name(ns, host) == ns->this_node))
        return false;
    return id == UINT32_MAX || (ns && px_node_by_id(ns, id) == ns->this_node);
}

/* Reads the resident memory of a process, in MB. */
static bool read_memory(pid_t pid, float *mb)
{
    char path[64], text[128];
    unsigned long pages;
    ssize_t n = -1;
    int fd = px_osproc_path(pid, "/statm", path, sizeof(path))
                 ? open(path, O_RDONLY | O_CLOEXEC)
                 : -1;

    if (fd >= 0) {
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    if (n <= 0)
        return false;
    text[n] = '\0';
    if (sscanf(text, "%*u %lu", &pages) != 1)
        return false;
    *mb = (float)pages * (float)sysconf(_SC_PAGESIZE) / MIB;
    return true;
}

/* ---- the answer about many processes --------------------------------------------- */

static void pack_float(px_writer *w, const char *key, float mb)
{
    pmix_info_t info = {.value = {.type = PMIX_FLOAT, .data.fval = mb}};

    PMIx_Load_key(info.key, key);
    px_pack_bare(w, &info, PMIX_INFO);
}

static void pack_daemon(px_writer *w)
{
    float mb = 0;

    (void)read_memory(getpid(), &mb);
    pack_float(w, PMIX_DAEMON_MEMORY, mb);
}

static void pack_range(const struct px_slow *s, px_writer *w)
{
    px_pack_array_head(w, PMIX_QUERY_REPORT_MINMAX, PMIX_FLOAT, 2);
    px_pack_bare(w, &s->least, PMIX_FLOAT);
    px_pack_bare(w, &s->most, PMIX_FLOAT);
}

static float average(const struct px_slow *s)
{
    return s->n_read > 0 ? s->sum / (float)s->n_read : 0;
}

static void begin_usage(struct px_slow *s, px_writer *w)
{
    if (s->average)
        return;
    px_pack_array_head(w, s->key, PMIX_INFO, 1 + s->n + (s->range ? 1 : 0));
    pack_daemon(w);
}

static void pack_process(const pmix_proc_info_t *row, bool is_read, float mb,
                         px_writer *w)
{
    pmix_info_t info = {.key = PMIX_PROCID};
    pmix_proc_t proc = row->proc;

    px_pack_array_head(w, PMIX_PROC_RESOURCE_USAGE, PMIX_INFO, is_read ? 3 : 1);
    px_value_borrow(&info.value, &proc, PMIX_PROC);
    px_pack_bare(w, &info, PMIX_INFO);
    if (!is_read)
        return;
    PMIx_Load_key(info.key, PMIX_PROC_PID);
    info.value = (pmix_value_t){.type = PMIX_PID, .data.pid = row->pid};
    px_pack_bare(w, &info, PMIX_INFO);
    pack_float(w, PMIX_PROC_RSS, mb);
}

static void add_usage(struct px_slow *s, const pmix_proc_info_t *row, px_writer *w)
{
    float mb = 0;
    bool is_read = row->pid > 0 && read_memory(row->pid, &mb);

    if (is_read) {
        s->least = s->n_read == 0 || mb < s->least ? mb : s->least;
        s->most = mb > s->most ? mb : s->most;
        s->sum += mb;
        s->n_read++;
    }
    if (!s->average)
        pack_process(row, is_read, mb, w);
}

static void end_usage(struct px_slow *s, px_writer *w)
{
    if (s->average) {
        px_pack_array_head(w, s->key, PMIX_INFO, 2 + (s->range ? 1 : 0));
        pack_daemon(w);
        pack_float(w, PMIX_CLIENT_AVG_MEMORY, average(s));
    }
    if (s->range)
        pack_range(s, w);
}

static const struct px_slow_ops usage_ops = {.items = ROW_ITEMS,
                                             .again = BARE_ITEMS,
                                             .begin = begin_usage,
                                             .row = add_usage,
                                             .end = end_usage};

static void end_average(struct px_slow *s, px_writer *w)
{
    pack_float(w, s->key, average(s));
}

static const struct px_slow_ops average_ops = {
    .items = ROW_ITEMS, .again = BARE_ITEMS, .row = add_usage, .end = end_average};

/* ---- queries --------------------------------------------------------------------- */

/* True if the query is about the processes of ns. */
static bool is_asked(const struct px_answers *a, const struct px_nspace *ns,
                     const pmix_proc_t *target, bool any)
{
    return (any ? !px_nspace_is_tools(ns) : strcmp(ns->name, target->nspace) == 0) &&
           px_peer_may(a->req->peer, ns->name);
}

/* Lists the clients of a target, or all clients in the peer's reach. */
static pmix_status_t list_clients(struct px_server *srv, struct px_answers *a,
                                  const pmix_proc_t *target, bool any,
                                  pmix_proc_t **procs, size_t *n)
{
    const struct px_nspace *ns;
    size_t pos = 0, most = 1;

    while ((ns = px_map_next(&srv->model->nspaces, &pos, NULL, NULL)))
        most += px_list_length(&ns->locals);
    pmix_status_t rc = px_answers_work(a, most);
    *n = pos = 0;
    if (rc)
        return rc;
    *procs = calloc(most, sizeof(**procs));
    if (!*procs)
        return PMIX_ERR_NOMEM;
    while ((ns = px_map_next(&srv->model->nspaces, &pos, NULL, NULL))) {
        if (!is_asked(a, ns, target, any))
            continue;
        px_query_find_pids(a, ns->name);
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            if (target->rank == PMIX_RANK_WILDCARD || target->rank == l->rank)
                px_proc_set(&(*procs)[(*n)++], ns->name, l->rank);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t answer_usage(struct px_server *srv, const pmix_query_t *q,
                                  const char *key, struct px_answers *a)
{
    bool is_average = strcmp(key, PMIX_CLIENT_AVG_MEMORY) == 0;
    bool any = !px_info_find(q->qualifiers, q->nqual, PMIX_NSPACE) &&
               !px_info_find(q->qualifiers, q->nqual, PMIX_PROCID);
    struct px_slow *s = NULL;
    pmix_proc_t target, *procs = NULL;
    size_t n = 0;
    pmix_status_t rc = px_query_target(q, &a->req->peer->proc, &target);

    if (!rc && !px_query_is_here(srv, q, a))
        rc = PMIX_ERR_NOT_FOUND;
    if (!rc)
        rc = list_clients(srv, a, &target, any, &procs, &n);
    if (!rc && n == 0 && !any)
        rc = PMIX_ERR_NOT_FOUND;
    if (rc) {
        free(procs);
        return rc;
    }
    rc = px_answer_slowly(a, key, is_average ? &average_ops : &usage_ops, "", procs, n,
                          ROW_B, &s);
    if (rc)
        return rc;
    s->average = is_average || px_query_flag(q, PMIX_QUERY_REPORT_AVG);
    s->range = px_query_flag(q, PMIX_QUERY_REPORT_MINMAX);
    return PMIX_SUCCESS;
}

static pmix_status_t answer_daemon(struct px_server *srv, const pmix_query_t *q,
                                   const char *key, struct px_answers *a)
{
    float mb;

    return px_query_is_here(srv, q, a) && read_memory(getpid(), &mb)
               ? px_answer(a, key, &mb, PMIX_FLOAT, 0)
               : PMIX_ERR_NOT_FOUND;
}

#define ON_NODE PMIX_HOSTNAME "," PMIX_NODEID
#define OF_PROC PMIX_PROCID "," PMIX_NSPACE "," PMIX_RANK

static const struct px_query_key keys[] = {
    {PMIX_QUERY_MEMORY_USAGE, answer_usage,
     OF_PROC "," ON_NODE "," PMIX_QUERY_REPORT_AVG "," PMIX_QUERY_REPORT_MINMAX, true},
    {PMIX_CLIENT_AVG_MEMORY, answer_usage, ON_NODE, true},
    {PMIX_DAEMON_MEMORY, answer_daemon, ON_NODE, true},
    {0},
};

const struct px_server_part px_query_usage_part = {.name = "usage", .query_keys = keys};
