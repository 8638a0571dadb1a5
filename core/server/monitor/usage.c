/* SPDX-License-Identifier: BSD-3-Clause */
/* Targets and samples of resource usage. A sample of processes reads one process after
 * the other, so that many processes take many short turns of the loop. */
#include "core/server/monitor/usage.h"

#include "core/os/proc.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/model/lookup.h"
#include "core/model/nspace.h"
#include "core/model/procmap.h"
#include "core/server/cleanup/registry.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_TARGETS 4096u /* processes, pids, nodes and devices of one request */
/* Memory of the figures of one process. */
#define FIGURES_B (20 * sizeof(pmix_info_t))

/* ---- targets of a request -------------------------------------------------------- */

static pmix_status_t wrong_type(struct px_err *err, const pmix_info_t *info,
                                const char *expected)
{
    return px_err_set(err, PMIX_ERR_BAD_PARAM,
                      "cannot read %s: got %s, expected an array of %s", info->key,
                      PMIx_Data_type_string(info->value.type), expected);
}

/* Borrows the elements of an array of this type, and counts them. */
static pmix_status_t read_array(const pmix_info_t *info, pmix_data_type_t type,
                                const void **elements, size_t *n, size_t *total,
                                struct px_err *err)
{
    const pmix_data_array_t *array = info->value.type == PMIX_DATA_ARRAY
                                         ? info->value.data.darray
                                         : NULL;

    if (!array || array->type != type || (array->size > 0 && !array->array))
        return wrong_type(err, info, PMIx_Data_type_string(type));
    *elements = array->array;
    *n = array->size;
    *total += array->size;
    return *total <= MAX_TARGETS
               ? PMIX_SUCCESS
               : px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                            "cannot monitor %zu targets: expected at most %u", *total,
                            MAX_TARGETS);
}

bool px_usage_is_here(const struct px_server *srv, const pmix_proc_t *proc)
{
    const struct px_nspace *ns = px_nspace_find(srv->model, proc->nspace);
    const struct px_procmap *map = ns ? ns->map : NULL;

    if (!map)
        return ns != NULL; /* one node */
    return proc->rank == PMIX_RANK_WILDCARD
               ? map->n_nodes <= 1
               : px_procmap_node_of(map, proc->rank, NULL) == ns->this_node;
}

/* Checks a process that a request names. */
static pmix_status_t check_proc(const struct px_peer *peer, const pmix_proc_t *proc,
                                struct px_usage_want *want, struct px_err *err)
{
    const struct px_nspace *ns = px_nspace_find(peer->server->model, proc->nspace);

    if (!px_peer_may(peer, proc->nspace))
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "cannot monitor processes of %.255s: they belong to another "
                          "user",
                          proc->nspace);
    if (ns &&
        (px_usage_is_here(peer->server, proc) || proc->rank == PMIX_RANK_WILDCARD))
        want->everything |= want->of != PX_USAGE_PROC;
    want->elsewhere |= !px_usage_is_here(peer->server, proc);
    return PMIX_SUCCESS;
}

static pmix_status_t read_procs(const struct px_peer *peer, const pmix_info_t *info,
                                struct px_usage_want *want, size_t *total,
                                struct px_err *err)
{
    const void *found = NULL;
    size_t n = 0;
    pmix_status_t rc = read_array(info, PMIX_PROC, &found, &n, total, err);
    const pmix_proc_t *procs = found;

    for (size_t i = 0; !rc && i < n; i++)
        rc = check_proc(peer, &procs[i], want, err);
    if (rc || n == 0)
        return rc;
    if (!px_vec_reserve(&want->procs, want->n_procs, &want->cap_procs, n))
        return PMIX_ERR_NOMEM;
    memcpy(&want->procs[want->n_procs], procs, n * sizeof(*procs));
    want->n_procs += n;
    return PMIX_SUCCESS;
}

/* Notes a node that a request names. */
static void add_node(const struct px_peer *peer, const char *name, uint32_t id,
                     struct px_usage_want *want)
{
    const struct px_model *m = peer->server->model;
    const struct px_nspace *ns = px_nspace_find(m, peer->proc.nspace);
    bool here = name ? px_same_host(name, m->hostname) ||
                           px_same_host(name, peer->server->node_name)
                     : ns && px_node_by_id(ns, id) == ns->this_node;

    want->everything |= here;
    want->elsewhere |= !here;
}

static pmix_status_t read_nodes(const struct px_peer *peer, const pmix_info_t *info,
                                pmix_data_type_t type, struct px_usage_want *want,
                                size_t *total, struct px_err *err)
{
    const void *found = NULL;
    size_t n = 0;
    pmix_status_t rc = read_array(info, type, &found, &n, total, err);

    for (size_t i = 0; !rc && i < n; i++)
        if (type == PMIX_STRING)
            add_node(peer, ((char *const *)found)[i] ? ((char *const *)found)[i] : "",
                     0, want);
        else
            add_node(peer, NULL, ((const uint32_t *)found)[i], want);
    return rc;
}

/* Reads processes that are named by node and pid. */
static pmix_status_t read_pids(const struct px_peer *peer, const pmix_info_t *info,
                               struct px_usage_want *want, size_t *total,
                               struct px_err *err)
{
    const void *found = NULL;
    size_t n = 0;
    pmix_status_t rc = read_array(info, PMIX_NODE_PID, &found, &n, total, err);
    const pmix_node_pid_t *list = found;

    for (size_t i = 0; !rc && i < n; i++) {
        struct px_usage_want node = {0};
        pid_t *pid;

        if (list[i].hostname || list[i].nodeid != UINT32_MAX)
            add_node(peer, list[i].hostname, list[i].nodeid, &node);
        want->elsewhere |= node.elsewhere;
        want->everything |= !node.elsewhere && list[i].pid == (pid_t)-1;
        if (node.elsewhere || list[i].pid == (pid_t)-1)
            continue;
        pid = px_vec_add(&want->pids, &want->n_pids, &want->cap_pids);
        if (pid)
            *pid = list[i].pid;
        else
            rc = PMIX_ERR_NOMEM;
    }
    return rc;
}

static pmix_status_t read_devices(const pmix_info_t *info, struct px_usage_want *want,
                                  size_t *total, struct px_err *err)
{
    const void *found = NULL;
    size_t n = 0;
    pmix_status_t rc = read_array(info, PMIX_STRING, &found, &n, total, err);
    char *const *names = found;

    for (size_t i = 0; !rc && i < n; i++)
        if (names[i])
            rc = px_strv_append(&want->devices, names[i]);
    return rc;
}

static pmix_status_t read_target(const struct px_peer *peer, const pmix_info_t *info,
                                 struct px_usage_want *want, size_t *total,
                                 struct px_err *err)
{
    if (PMIx_Check_key(info->key, PMIX_MONITOR_TARGET_PROCS))
        return read_procs(peer, info, want, total, err);
    if (PMIx_Check_key(info->key, PMIX_MONITOR_TARGET_NODES))
        return read_nodes(peer, info, PMIX_STRING, want, total, err);
    if (PMIx_Check_key(info->key, PMIX_MONITOR_TARGET_NODEIDS))
        return read_nodes(peer, info, PMIX_UINT32, want, total, err);
    if (PMIx_Check_key(info->key, PMIX_MONITOR_TARGET_PIDS) &&
        want->of == PX_USAGE_PROC)
        return read_pids(peer, info, want, total, err);
    if (PMIx_Check_key(info->key, want->of == PX_USAGE_DISK
                                      ? PMIX_MONITOR_TARGET_DISKS
                                      : PMIX_MONITOR_TARGET_NETS) &&
        want->of >= PX_USAGE_DISK)
        return read_devices(info, want, total, err);
    return PMIX_SUCCESS;
}

static int compare_procs(const void *a, const void *b)
{
    return px_type_compare(PMIX_PROC, a, b);
}

static int compare_pids(const void *a, const void *b)
{
    const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

pmix_status_t px_usage_read_want(const struct px_peer *peer, enum px_usage_of of,
                                 const pmix_value_t *asked, const px_infos *directives,
                                 struct px_usage_want *want, struct px_err *err)
{
    const struct px_nspace *ns = px_nspace_find(peer->server->model, peer->proc.nspace);
    const char *unknown = NULL;
    size_t total = 0;
    pmix_status_t rc;

    *want = (struct px_usage_want){.of = of};
    rc = px_usage_read_set(of, asked, &want->set, &unknown);
    if (rc)
        return px_err_set(err, rc, "cannot report the required figure %.511s",
                          unknown ? unknown : "");
    want->local_only = px_info_flag(directives->v, directives->n,
                                    PMIX_MONITOR_LOCAL_ONLY);
    for (size_t i = 0; !rc && i < directives->n; i++)
        rc = read_target(peer, &directives->v[i], want, &total, err);
    if (rc)
        return err->status ? rc : px_err_set(err, rc, "%s", PMIx_Error_string(rc));
    if (want->n_procs > 0)
        qsort(want->procs, want->n_procs, sizeof(*want->procs), compare_procs);
    if (want->n_pids > 0)
        qsort(want->pids, want->n_pids, sizeof(*want->pids), compare_pids);
    if (!want->everything && !want->elsewhere && want->n_procs + want->n_pids == 0) {
        /* no targets: all of the session, and disks and nets of this node */
        want->everything = true;
        want->elsewhere = of <= PX_USAGE_NODE && ns && ns->map && ns->map->n_nodes > 1;
    }
    return PMIX_SUCCESS;
}

void px_usage_want_fini(struct px_usage_want *want)
{
    free(want->procs);
    free(want->pids);
    px_strv_free(want->devices);
    *want = (struct px_usage_want){0};
}

size_t px_usage_want_b(const struct px_usage_want *want)
{
    return want->n_procs * sizeof(*want->procs) + want->n_pids * sizeof(*want->pids) +
           px_strv_count(want->devices) * 64;
}

/* ---- processes of this node ------------------------------------------------------ */

static bool is_wanted(const struct px_usage_want *want, const char *nspace,
                      const struct px_cleanup_proc *p)
{
    pmix_proc_t name;

    if (want->everything)
        return true;
    if (want->n_pids > 0 &&
        bsearch(&p->pid, want->pids, want->n_pids, sizeof(*want->pids), compare_pids))
        return true;
    px_proc_set(&name, nspace, p->rank->rank);
    if (want->n_procs == 0)
        return false;
    if (bsearch(&name, want->procs, want->n_procs, sizeof(name), compare_procs))
        return true;
    name.rank = PMIX_RANK_WILDCARD;
    return bsearch(&name, want->procs, want->n_procs, sizeof(name), compare_procs);
}

pmix_status_t px_usage_list(struct px_peer *peer, const struct px_usage_want *want,
                            struct px_usage_target **targets, size_t *n)
{
    const struct px_cleanup *c = peer->server->part.cleanup;
    size_t cap = 0, n_seen = 0;

    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link) {
        const pmix_rank_t *last = NULL;

        if (job == c->own || job->gone || !px_peer_may(peer, job->nspace))
            continue;
        px_cleanup_search(job, peer);
        PX_CLEANUP_EACH_PROC (job, p) {
            n_seen++;
            if (p->pid <= 0 || last == &p->rank->rank || *n >= MAX_TARGETS ||
                !is_wanted(want, job->nspace, p))
                continue;
            struct px_usage_target *t = px_vec_add(targets, n, &cap);

            if (!t)
                return PMIX_ERR_NOMEM;
            last = &p->rank->rank;
            px_proc_set(&t->proc, job->nspace, p->rank->rank);
            t->pid = p->pid;
            t->start = p->start;
        }
    }
    (void)px_work(peer, n_seen);
    return PMIX_SUCCESS;
}

/* ---- samples --------------------------------------------------------------------- */

static void finish(struct px_sample *s, pmix_status_t status)
{
    PX_AUTO(px_infos) figures = s->figures;
    const px_sample_fn fn = s->fn;
    void *arg = s->arg;

    s->figures = (px_infos){0};
    px_sample_end(s);
    fn(arg, status, &figures);
}

/* Returns the time since boot in seconds. */
static double since_boot(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static pmix_status_t add_process(struct px_sample *s, const struct px_usage_target *t,
                                 const char *const texts[PX_N_TEXTS])
{
    const struct px_model *m = s->peer->server->model;
    PX_AUTO(px_infos) members = {0};
    const time_t now = time(NULL);
    struct px_osproc_stat stat;
    pmix_status_t rc;

    if (!texts[PX_TEXT_STAT] || !px_osproc_stat_parse(texts[PX_TEXT_STAT], &stat) ||
        (t->start && stat.start != t->start))
        return PMIX_SUCCESS; /* the process has ended */
    const struct px_fact facts[] = {
        {PMIX_PROCID, &t->proc, PMIX_PROC},
        {PMIX_PROC_PID, &t->pid, PMIX_PID},
        {PMIX_HOSTNAME, m->hostname[0] ? m->hostname : NULL, PMIX_STRING},
    };

    rc = px_charge(&s->charge, s->peer, FIGURES_B);
    if (!rc)
        rc = px_facts_add(&members, facts, PX_COUNT(facts));
    if (!rc)
        rc = px_usage_add(&members, s->want->set, texts, since_boot());
    if (!rc)
        rc = px_infos_add(&members, PMIX_PROC_SAMPLE_TIME, &now, PMIX_TIME);
    return rc ? rc
              : px_infos_add_array(&s->figures, PMIX_PROC_RESOURCE_USAGE, &members);
}

static pmix_status_t add_node_figures(struct px_sample *s,
                                      const char *const texts[PX_N_TEXTS])
{
    const struct px_usage_want *want = s->want;
    const char *host = s->peer->server->model->hostname;
    const bool whole = want->of == PX_USAGE_NODE;
    PX_AUTO(px_infos) members = {0};
    px_infos *devices = whole ? &members : &s->figures;
    const time_t now = time(NULL);
    pmix_status_t rc = PMIX_SUCCESS;

    if (whole)
        rc = px_infos_add(&members, PMIX_HOSTNAME, host, PMIX_STRING);
    if (!rc && whole)
        rc = px_usage_add(&members, want->set, texts, 0);
    if (!rc && texts[PX_TEXT_DISKSTATS])
        rc = px_usage_add_devices(devices, PX_USAGE_DISK, want->set,
                                  texts[PX_TEXT_DISKSTATS], want->devices, now);
    if (!rc && texts[PX_TEXT_NETDEV])
        rc = px_usage_add_devices(devices, PX_USAGE_NET, want->set,
                                  texts[PX_TEXT_NETDEV], want->devices, now);
    if (!rc && whole)
        rc = px_infos_add(&members, PMIX_NODE_SAMPLE_TIME, &now, PMIX_TIME);
    if (!rc && whole)
        rc = px_infos_add_array(&s->figures, PMIX_NODE_RESOURCE_USAGE, &members);
    for (size_t i = 0; !rc && i < s->figures.n; i++)
        rc = px_charge(&s->charge, s->peer, px_type_size(PMIX_INFO, &s->figures.v[i]));
    return rc;
}

static void on_files(void *arg, const struct px_probe_file *files);

/* Asks for the texts of the next process, or of the node. */
static pmix_status_t ask(struct px_sample *s)
{
    const struct px_usage_target *t = s->targets ? &s->targets[s->at] : NULL;
    const unsigned texts = px_usage_texts(s->want->set) | (t ? 1u << PX_TEXT_STAT : 0u);
    char paths[PX_PROBE_FILES][64];
    const char *names[PX_PROBE_FILES];
    size_t n = 0;

    for (unsigned i = 0; i < PX_N_TEXTS && n < PX_PROBE_FILES; i++) {
        if (!(texts >> i & 1))
            continue;
        if (t)
            snprintf(paths[n], sizeof(paths[n]), PX_OSPROC "/%ld/%s", (long)t->pid,
                     px_usage_file(i));
        else
            snprintf(paths[n], sizeof(paths[n]), PX_OSPROC "/%s", px_usage_file(i));
        s->texts[n] = i;
        names[n] = paths[n];
        n++;
    }
    s->probe.fn = on_files;
    s->probe.arg = s;
    return px_probe_ask(s->peer->server, &s->probe, s->peer->uid, s->peer->gid,
                        PX_PROBE_CONTENT, names, n);
}

static void on_files(void *arg, const struct px_probe_file *files)
{
    struct px_sample *s = arg;
    const char *texts[PX_N_TEXTS] = {0};
    pmix_status_t rc;

    for (size_t i = 0; i < s->probe.n; i++)
        texts[s->texts[i]] = files[i].text;
    if (files[0].errnum == EPERM)
        rc = PMIX_ERR_NO_PERMISSIONS;
    else if (files[0].errnum == EIO)
        rc = PMIX_ERROR; /* the reader was killed */
    else if (s->targets)
        rc = add_process(s, &s->targets[s->at], texts);
    else
        rc = add_node_figures(s, texts);
    if (!rc && s->targets && ++s->at < s->n)
        rc = ask(s);
    else if (!rc)
        rc = PX_DEFERRED;
    if (rc)
        finish(s, rc == PX_DEFERRED ? PMIX_SUCCESS : rc);
}

pmix_status_t px_sample_begin(struct px_sample *s, struct px_peer *peer,
                              const struct px_usage_want *want, px_sample_fn fn,
                              void *arg)
{
    pmix_status_t rc = PMIX_SUCCESS;

    *s = (struct px_sample){.peer = peer, .want = want, .fn = fn, .arg = arg};
    if (want->of == PX_USAGE_PROC)
        rc = px_usage_list(peer, want, &s->targets, &s->n);
    if (!rc)
        rc = px_charge(&s->charge, peer, s->n * sizeof(*s->targets));
    if (!rc && want->of == PX_USAGE_PROC && s->n == 0)
        rc = PMIX_OPERATION_SUCCEEDED;
    else if (!rc)
        rc = ask(s);
    if (rc)
        px_sample_end(s);
    return rc;
}

void px_sample_end(struct px_sample *s)
{
    px_probe_cancel(&s->probe);
    px_infos_cleanup(&s->figures);
    px_charge_end(&s->charge);
    free(s->targets);
    s->targets = NULL;
    s->n = s->at = 0;
}
