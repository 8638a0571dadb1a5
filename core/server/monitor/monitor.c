/* SPDX-License-Identifier: BSD-3-Clause */
/* A kind of monitor is a row of a table: the keys of its directives, how it begins, and
 * what it does when a period ends. One timer serves all monitors, and delays them a
 * little, so that many wake the server once. */
#include "core/server/monitor/monitor.h"

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/vec.h"
#include "core/link/conn.h"
#include "core/link/required.h"
#include "core/os/proc.h"
#include "core/rt/log.h"
#include "core/server/event/event.h"
#include "core/server/monitor/beats.h"
#include "core/server/monitor/usage.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_MONITORS = 64, /* of one process, with requests that are not answered yet */
    LATE_MS = 50,      /* monitors that are due within this time share a wake-up */
    CHECKS_PER_TURN = 256,
    AGAIN_MS = 10, /* until a busy reader is asked again */
    READ_MS = 500, /* after which heartbeats in sockets are read in any case */
};

struct monitor {
    struct px_list link;
    struct px_peer *peer; /* referenced by the charge */
    const struct kind *kind;
    struct px_upcall *upcall; /* until the request is answered */
    struct px_charge charge;
    char *id;
    pmix_proc_t source; /* of its events: the peer, or the process that it stands for */
    pmix_status_t code;
    pmix_data_range_t range;
    bool app_control;
    uint32_t period_s; /* 0: reports once */
    size_t at;         /* place among the dates; NO_DATE */
    uint32_t drops, n_missed;
    bool alerted;     /* since the last sign of life */
    bool has_beats;   /* px_beats_begin was called */
    bool waits;       /* heartbeats may wait in the peer's socket */
    uint64_t n_beats; /* of the peer, at the last check */
    struct {
        char *path;                    /* as read */
        const char *name;              /* as in the request; inside path */
        bool size, accessed, modified; /* changes that count */
        bool known;
        struct px_probe_state state;
        struct px_probe probe;
    } file;
    struct {
        struct px_usage_want want;
        struct px_sample sample;
    } usage;
};

#define NO_DATE SIZE_MAX

/* When a monitor with a period is due. The dates of all monitors stand in one array,
 * because each wake-up reads all of them. */
struct px_date {
    uint64_t due_ms;
    struct monitor *m;
};

struct kind {
    const char *key;
    pmix_status_t code; /* unless the request gives one */
    pmix_data_range_t range;
    const char *time, *drops; /* keys of directives */
    bool once;                /* reports once without a time */
    enum px_usage_of of;
    /* Starts a monitor; later calls answer(). NULL: there is nothing to start. */
    pmix_status_t (*begin)(struct monitor *m, const struct px_args *args,
                           struct px_err *err);
    void (*due)(struct monitor *m);
};

/* Sets the timer for a monitor that is due. */
static void arm(struct px_server *srv, uint64_t due_ms)
{
    struct px_monitors *all = srv->part.monitors;
    const uint64_t now = px_clock_ms();

    if (due_ms + LATE_MS >= all->next_ms)
        return;
    all->next_ms = due_ms + LATE_MS;
    px_timer_set(all->timer, all->next_ms > now ? all->next_ms - now : 0);
}

/* Sets when a monitor is due. False without memory for its first date. */
static bool set_due(struct monitor *m, uint64_t due_ms)
{
    struct px_monitors *all = m->peer->server->part.monitors;

    if (m->at == NO_DATE) {
        struct px_date *d = px_vec_add(&all->dates, &all->n_dates, &all->cap_dates);

        if (!d)
            return false;
        d->m = m;
        m->at = all->n_dates - 1;
    }
    all->dates[m->at].due_ms = due_ms;
    return true;
}

/* Removes a date. The last date takes its place. */
static void remove_date(struct monitor *m)
{
    struct px_monitors *all = m->peer->server->part.monitors;

    if (m->at == NO_DATE)
        return;
    all->dates[m->at] = all->dates[--all->n_dates];
    all->dates[m->at].m->at = m->at;
    m->at = NO_DATE;
}

/* ---- answers and events ---------------------------------------------------------- */

static void monitor_free(struct monitor *m)
{
    px_list_remove(&m->link);
    remove_date(m);
    m->peer->server->part.monitors->n_waiting -= m->waits;
    m->peer->n_monitors--;
    if (m->has_beats)
        px_beats_end(m->peer);
    px_probe_cancel(&m->file.probe);
    px_sample_end(&m->usage.sample);
    px_usage_want_fini(&m->usage.want);
    px_charge_end(&m->charge);
    free(m->file.path);
    free(m->id);
    free(m);
}

/* Answers the request of a monitor. figures may be NULL, and are taken over. */
static void answer(struct monitor *m, pmix_status_t status, px_infos *figures)
{
    struct px_upcall *u = px_take(&m->upcall);

    if (u && figures) {
        u->infos = *figures;
        *figures = (px_infos){0};
    }
    if (u)
        px_upcall_info_cb(status, NULL, 0, u, NULL, NULL);
}

/* Ends a monitor, and refuses its request if that has no answer yet. */
static void fail(struct monitor *m, pmix_status_t status, const char *why)
{
    if (m->upcall) {
        struct px_err err;

        px_err_set(&err, status, "%s", why);
        (void)px_upcall_deny(m->upcall, &err);
        answer(m, status, NULL);
    }
    monitor_free(m);
}

/* Sends an event of a monitor. Takes over figures. */
static void notify(struct monitor *m, px_infos *figures)
{
    const bool once = m->range == PMIX_RANGE_CUSTOM;
    PX_AUTO(px_infos) infos = *figures;
    const struct px_fact facts[] = {
        {PMIX_MONITOR_ID, m->id, PMIX_STRING},
        {PMIX_MONITOR_FILE, m->file.name, PMIX_STRING},
        {PMIX_EVENT_AFFECTED_PROC, m->kind->once ? NULL : &m->source, PMIX_PROC},
        {PMIX_MONITOR_APP_CONTROL, m->app_control ? &m->app_control : NULL, PMIX_BOOL},
        {PMIX_EVENT_CUSTOM_RANGE, once ? &m->source : NULL, PMIX_PROC},
        {PMIX_EVENT_DO_NOT_CACHE, m->kind->once ? &m->kind->once : NULL, PMIX_BOOL},
    };

    *figures = (px_infos){0};
    if (px_facts_add(&infos, facts, PX_COUNT(facts))) {
        px_log(PX_LOG_WARN, "monitor", "cannot send event %s: out of memory",
               PMIx_Error_string(m->code));
        return;
    }
    px_server_event_for(m->peer, &m->source, m->code, m->range, &infos);
}

/* Counts a period with or without a sign of life. More periods without than the request
 * allows cause one alert, until the next sign. */
static void count(struct monitor *m, bool alive)
{
    px_infos none = {0};

    m->n_missed = alive ? 0 : m->n_missed + (m->n_missed < UINT32_MAX);
    m->alerted &= !alive;
    if (m->alerted || m->n_missed <= m->drops)
        return;
    m->alerted = true;
    notify(m, &none);
}

/* ---- heartbeats ------------------------------------------------------------------ */

static void beats_due(struct monitor *m)
{
    const uint64_t before = m->n_beats;

    m->n_beats = px_beats_of(m->peer);
    count(m, m->n_beats != before);
}

/* ---- files ----------------------------------------------------------------------- */

static bool has_changed(const struct monitor *m, const struct px_probe_state *now)
{
    const struct px_probe_state *then = &m->file.state;

    return (m->file.size && now->size != then->size) ||
           (m->file.accessed && now->accessed_ns != then->accessed_ns) ||
           (m->file.modified && now->modified_ns != then->modified_ns);
}

/* Compares the state of the file. A file that does not exist has no state to compare,
 * and does not count. */
static void on_state(void *arg, const struct px_probe_file *file)
{
    struct monitor *m = arg;
    const bool was_known = m->file.known;

    if (file->errnum && file->errnum != ENOENT) {
        if (m->upcall)
            fail(m,
                 file->errnum == EACCES || file->errnum == EPERM
                     ? PMIX_ERR_NO_PERMISSIONS
                     : PMIX_ERR_BAD_PARAM,
                 strerror(file->errnum));
        return;
    }
    answer(m, PMIX_SUCCESS, NULL);
    m->file.known = !file->errnum;
    if (m->file.known && was_known)
        count(m, has_changed(m, &file->state));
    m->file.state = file->state;
}

static pmix_status_t look(struct monitor *m)
{
    const char *path = m->file.path;

    m->file.probe.fn = on_state;
    m->file.probe.arg = m;
    return px_probe_ask(m->peer->server, &m->file.probe, m->peer->uid, m->peer->gid,
                        PX_PROBE_STATE, &path, 1);
}

static void file_due(struct monitor *m)
{
    pmix_status_t rc;

    if (!px_probe_runs(&m->file.probe)) {
        rc = look(m);
        if (rc == PMIX_ERR_WOULD_BLOCK && set_due(m, px_clock_ms() + AGAIN_MS))
            arm(m->peer->server, px_clock_ms() + AGAIN_MS);
    } else if (m->upcall) {
        fail(m, PMIX_ERR_TIMEOUT, "the file system does not answer");
    } else if (m->file.known) {
        count(m, false); /* the file system has not answered for a period */
    }
}

static bool wants(const px_infos *directives, const char *key)
{
    const pmix_info_t *info = px_info_find(directives->v, directives->n, key);

    /* older releases have strings here */
    return info && (info->value.type == PMIX_STRING || px_value_truth(&info->value));
}

/* Returns the path to read. A relative path begins at the client's folder, which the
 * reader enters with the client's rights. */
static char *path_of(const struct px_peer *peer, const char *path)
{
    return path[0] == '/' ? strdup(path)
                          : px_strf(PX_OSPROC "/%ld/cwd/%s", (long)peer->pid, path);
}

static pmix_status_t file_begin(struct monitor *m, const struct px_args *args,
                                struct px_err *err)
{
    const char *path = px_value_string(&args->info.v->value);

    m->file.size = wants(&args->more, PMIX_MONITOR_FILE_SIZE);
    m->file.accessed = wants(&args->more, PMIX_MONITOR_FILE_ACCESS);
    m->file.modified = wants(&args->more, PMIX_MONITOR_FILE_MODIFY);
    if (!path || !path[0])
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s has no path", PMIX_MONITOR_FILE);
    if (path[0] != '/' && !m->peer->pid)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot resolve %.255s: the client's process is not known, "
                          "so the path must begin with /",
                          path);
    if (!m->file.size && !m->file.accessed && !m->file.modified)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot monitor %.255s: expected one of %s, %s, %s", path,
                          PMIX_MONITOR_FILE_SIZE, PMIX_MONITOR_FILE_ACCESS,
                          PMIX_MONITOR_FILE_MODIFY);
    m->file.path = path_of(m->peer, path);
    if (!m->file.path)
        return PMIX_ERR_NOMEM;
    m->file.name = m->file.path + strlen(m->file.path) - strlen(path);
    return look(m);
}

/* ---- usage of resources ---------------------------------------------------------- */

/* Sends a report: as the answer to the request, or as an event. */
static void on_figures(void *arg, pmix_status_t status, px_infos *figures)
{
    struct monitor *m = arg;

    if (m->upcall && status) {
        fail(m, status, PMIx_Error_string(status));
        return;
    }
    if (m->upcall)
        answer(m, PMIX_SUCCESS, figures);
    else if (!status && figures->n > 0)
        notify(m, figures);
    if (m->period_s == 0)
        monitor_free(m);
}

static pmix_status_t usage_begin(struct monitor *m, const struct px_args *args,
                                 struct px_err *err)
{
    struct px_usage_want *want = &m->usage.want;
    pmix_status_t rc = px_usage_read_want(m->peer, m->kind->of, &args->info.v->value,
                                          &args->more, want, err);

    if (rc)
        return rc;
    if (want->elsewhere && !want->local_only &&
        (m->peer->server->module.monitor ||
         !(want->everything || want->n_procs > 0 || want->n_pids > 0)))
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "cannot monitor other nodes: only the host can");
    rc = px_charge(&m->charge, m->peer, px_usage_want_b(want));
    return rc ? rc : px_sample_begin(&m->usage.sample, m->peer, want, on_figures, m);
}

/* Begins the next report, unless the last one is not complete or not read. */
static void usage_due(struct monitor *m)
{
    struct px_sample *s = &m->usage.sample;

    if (!px_probe_runs(&s->probe) && !(m->peer->conn && px_conn_is_full(m->peer->conn)))
        (void)px_sample_begin(s, m->peer, &m->usage.want, on_figures, m);
}

/* ---- requests -------------------------------------------------------------------- */

#define USAGE(key_, of_)                                                              \
    {                                                                                 \
        .key = key_, .of = of_, .code = PMIX_MONITOR_RESUSAGE_UPDATE,                 \
        .range = PMIX_RANGE_CUSTOM, .time = PMIX_MONITOR_RESOURCE_RATE, .once = true, \
        .begin = usage_begin, .due = usage_due                                        \
    }

static const struct kind kinds[] = {
    {.key = PMIX_MONITOR_HEARTBEAT,
     .code = PMIX_MONITOR_HEARTBEAT_ALERT,
     .range = PMIX_RANGE_NAMESPACE,
     .time = PMIX_MONITOR_HEARTBEAT_TIME,
     .drops = PMIX_MONITOR_HEARTBEAT_DROPS,
     .due = beats_due},
    {.key = PMIX_MONITOR_FILE,
     .code = PMIX_MONITOR_FILE_ALERT,
     .range = PMIX_RANGE_NAMESPACE,
     .time = PMIX_MONITOR_FILE_CHECK_TIME,
     .drops = PMIX_MONITOR_FILE_DROPS,
     .begin = file_begin,
     .due = file_due},
    USAGE(PMIX_MONITOR_PROC_RESOURCE_USAGE, PX_USAGE_PROC),
    USAGE(PMIX_MONITOR_NODE_RESOURCE_USAGE, PX_USAGE_NODE),
    USAGE(PMIX_MONITOR_DISK_RESOURCE_USAGE, PX_USAGE_DISK),
    USAGE(PMIX_MONITOR_NET_RESOURCE_USAGE, PX_USAGE_NET),
};

static const struct kind *find_kind(const pmix_info_t *monitor)
{
    for (size_t i = 0; i < PX_COUNT(kinds); i++)
        if (PMIx_Check_key(monitor->key, kinds[i].key))
            return &kinds[i];
    return NULL;
}

/* Reads a number. A missing directive leaves *out. */
static pmix_status_t read_number(const px_infos *directives, const char *key,
                                 uint32_t *out, struct px_err *err)
{
    const pmix_info_t *info = px_info_find(directives->v, directives->n, key);

    if (!info || px_value_to_u32(&info->value, out))
        return PMIX_SUCCESS;
    return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s has no number: got %s, expected %s",
                      key, PMIx_Data_type_string(info->value.type), "PMIX_UINT32");
}

/* Returns the process that a request is for. The host may stand for a process of
 * another node. */
static pmix_proc_t requestor_of(const struct px_peer *peer, const px_infos *directives)
{
    const pmix_info_t *proxy = px_info_find(directives->v, directives->n,
                                            PMIX_MONITOR_PROXY);

    return proxy && peer == peer->server->self && proxy->value.type == PMIX_PROC &&
                   proxy->value.data.proc
               ? *proxy->value.data.proc
               : peer->proc;
}

/* Reads the directives that all kinds share. */
static pmix_status_t read_directives(struct monitor *m, const struct px_args *args,
                                     struct px_err *err)
{
    const struct kind *k = m->kind;
    const px_infos *d = &args->more;
    const pmix_info_t *range = px_info_find(d->v, d->n, PMIX_RANGE),
                      *period = px_info_find(d->v, d->n, k->time);
    const char *id = px_info_str(d->v, d->n, PMIX_MONITOR_ID);
    pmix_status_t rc = read_number(d, k->time, &m->period_s, err);

    if (!rc && k->drops)
        rc = read_number(d, k->drops, &m->drops, err);
    if (rc)
        return rc;
    if (m->period_s == 0 && (period || !k->once))
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "%s needs %s: a number of seconds, at least 1", k->key,
                          k->time);
    m->range = k->range;
    if (range && range->value.type != PMIX_DATA_RANGE)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "%s has no range: got %s, expected PMIX_DATA_RANGE",
                          PMIX_RANGE, PMIx_Data_type_string(range->value.type));
    if (range && range->value.data.range > PMIX_RANGE_PROC_LOCAL)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s is unknown: got %u", PMIX_RANGE,
                          range->value.data.range);
    if (range)
        m->range = range->value.data.range;
    m->source = requestor_of(m->peer, d);
    m->app_control = px_info_flag(d->v, d->n, PMIX_MONITOR_APP_CONTROL);
    if (!id)
        return PMIX_SUCCESS;
    m->id = strdup(id);
    return m->id ? px_charge(&m->charge, m->peer, strlen(id) + 1) : PMIX_ERR_NOMEM;
}

static pmix_status_t begin(struct px_server *srv, struct px_upcall *u,
                           const struct kind *kind, struct px_err *err)
{
    struct px_monitors *all = srv->part.monitors;
    struct px_peer *peer = ((struct px_req *)u->arg)->peer;
    struct monitor *m;
    pmix_status_t rc;

    if (peer->n_monitors >= MAX_MONITORS)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                          "the process has %d monitors already", MAX_MONITORS);
    m = calloc(1, sizeof(*m));
    if (!m)
        return PMIX_ERR_NOMEM;
    m->peer = peer;
    m->at = NO_DATE;
    m->kind = kind;
    m->code = u->args.code ? u->args.code : kind->code;
    px_list_append(&all->all, &m->link);
    peer->n_monitors++;
    rc = px_charge(&m->charge, peer, sizeof(*m) + PATH_MAX);
    if (!rc)
        rc = read_directives(m, &u->args, err);
    if (!rc && m->period_s > 0 &&
        !set_due(m, px_clock_ms() + 1000 * (uint64_t)m->period_s))
        rc = PMIX_ERR_NOMEM;
    if (!rc && kind->begin)
        rc = kind->begin(m, &u->args, err);
    if (rc) {
        monitor_free(m);
        return rc;
    }
    m->has_beats = kind->due == beats_due && px_beats_begin(peer);
    m->waits = m->has_beats && px_beats_wait(peer);
    all->n_waiting += m->waits;
    m->n_beats = px_beats_of(peer);
    if (m->period_s > 0)
        arm(srv, m->waits ? px_clock_ms() + READ_MS : all->dates[m->at].due_ms);
    if (!kind->begin)
        return PMIX_OPERATION_SUCCEEDED;
    m->upcall = u;
    return PMIX_SUCCESS;
}

/* Ends the monitors of the requestor with this id. */
static pmix_status_t cancel(struct px_server *srv, struct px_upcall *u,
                            struct px_err *err)
{
    const struct px_peer *peer = ((struct px_req *)u->arg)->peer;
    const pmix_value_t *v = &u->args.info.v->value;
    const char *id = px_value_string(v);
    const px_infos *d = &u->args.more;
    const pmix_proc_t requestor = requestor_of(peer, d);
    bool all = v->type == PMIX_UNDEF || (v->type == PMIX_STRING && (!id || !id[0]));
    size_t n = 0;

    if (!all && !id)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "%s has no name: got %s, expected PMIX_STRING",
                          PMIX_MONITOR_CANCEL, PMIx_Data_type_string(v->type));
    PX_LIST_EACH (&srv->part.monitors->all, struct monitor, m, link) {
        if (m->peer != peer || !px_proc_same(&m->source, &requestor) ||
            (!all && (!m->id || strcmp(m->id, id) != 0)))
            continue;
        answer(m, PMIX_ERR_JOB_CANCELED, NULL);
        monitor_free(m);
        n++;
    }
    if (n > 0 || all)
        return PMIX_OPERATION_SUCCEEDED;
    if (!srv->module.monitor || px_info_flag(d->v, d->n, PMIX_MONITOR_LOCAL_ONLY))
        return px_err_set(err, PMIX_ERR_NOT_FOUND, "the process has no monitor %.255s",
                          id);
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t serve(struct px_server *srv, struct px_upcall *u,
                           struct px_err *err)
{
    const pmix_info_t *monitor = u->args.info.v;
    const px_infos *directives = &u->args.more;
    const struct kind *kind = find_kind(monitor);
    const pmix_info_t *unknown;

    if (PMIx_Check_key(monitor->key, PMIX_SEND_HEARTBEAT)) {
        ((struct px_req *)u->arg)->peer->n_beats++;
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (PMIx_Check_key(monitor->key, PMIX_MONITOR_CANCEL))
        return cancel(srv, u, err);
    if (srv->part.monitors->is_off)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "PMIX_SERVER_ENABLE_MONITORING is false");
    if (!kind)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "unknown monitor %.255s",
                          monitor->key);
    unknown = px_required_unknown("PMIx_Process_monitor", NULL, directives->v,
                                  directives->n);
    if (unknown)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "the required directive %.255s is not supported",
                          unknown->key);
    return begin(srv, u, kind, err);
}

pmix_status_t px_monitor(struct px_server *srv, struct px_upcall *u)
{
    struct px_err err = {0};
    pmix_status_t rc = serve(srv, u, &err);

    return err.status && !(rc == PMIX_ERR_NOT_SUPPORTED && srv->module.monitor)
               ? px_upcall_deny(u, &err)
               : rc;
}

/* ---- time ------------------------------------------------------------------------ */

/* Reads heartbeats that wait in the sockets of due monitors, and at intervals those of
 * all. */
static void read_beats(struct px_monitors *all, uint64_t now_ms)
{
    const bool is_time = now_ms >= all->read_ms;

    if (is_time)
        all->read_ms = now_ms + READ_MS;
    for (size_t i = 0; all->n_waiting > 0 && i < all->n_dates; i++)
        if (all->dates[i].m->waits && (is_time || all->dates[i].due_ms <= now_ms))
            px_beats_read(all->dates[i].m->peer);
}

/* Ends the period of the monitor that is due. */
static void end_period(struct px_date *date, uint64_t now_ms)
{
    struct monitor *m = date->m;
    const uint64_t period_ms = 1000 * (uint64_t)m->period_s;

    date->due_ms += period_ms;
    if (date->due_ms <= now_ms) /* the server was stopped */
        date->due_ms = now_ms + period_ms;
    m->kind->due(m); /* may free m, or set an earlier time */
}

static void check(struct px_server *srv, uint64_t now_ms)
{
    struct px_monitors *all = srv->part.monitors;
    uint64_t next_ms = all->n_waiting > 0 ? all->read_ms : UINT64_MAX;
    unsigned n = 0;

    all->next_ms = UINT64_MAX;
    for (size_t i = 0; i < all->n_dates;) {
        const struct monitor *m = all->dates[i].m;

        if (all->dates[i].due_ms <= now_ms && n < CHECKS_PER_TURN) {
            n++;
            end_period(&all->dates[i], now_ms);
            if (i >= all->n_dates || all->dates[i].m != m) /* the last date is here */
                continue;
        }
        if (all->dates[i].due_ms < next_ms)
            next_ms = all->dates[i].due_ms;
        i++;
    }
    all->n_wakeups += n > 0;
    if (next_ms != UINT64_MAX)
        arm(srv, next_ms);
}

static void on_check(struct px_msg *msg)
{
    struct px_monitors *all = PX_CONTAINER_OF(msg, struct px_monitors, check);

    all->is_posted = false;
    check(all->server, all->now_ms);
}

/* The sockets are read by messages that come before the check. */
void px_monitors_check(struct px_server *srv, uint64_t now_ms)
{
    struct px_monitors *all = srv->part.monitors;

    all->now_ms = now_ms;
    read_beats(all, now_ms);
    px_server_post(srv, &all->check, &all->is_posted);
}

static void on_timer(void *arg)
{
    px_monitors_check(arg, px_clock_ms());
}

/* ---- the part -------------------------------------------------------------------- */

static void peer_left(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.monitors->all, struct monitor, m, link)
        if (m->peer == peer) {
            answer(m, PMIX_ERR_LOST_CONNECTION, NULL);
            monitor_free(m);
        }
}

static pmix_status_t create(struct px_server *srv, const struct px_server_start *start)
{
    struct px_monitors *all = srv->part.monitors;
    const pmix_info_t *enabled = px_info_find(start->info, start->n_info,
                                              PMIX_SERVER_ENABLE_MONITORING);

    all->is_off = enabled && !px_value_truth(&enabled->value);
    px_list_init(&all->all);
    all->server = srv;
    all->check.run = on_check;
    all->next_ms = UINT64_MAX;
    all->timer = px_timer_create(srv->loop, on_timer, srv);
    return all->timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.monitors->all, struct monitor, m, link) {
        answer(m, PMIX_ERR_LOST_CONNECTION, NULL);
        monitor_free(m);
    }
}

static void destroy(struct px_server *srv)
{
    px_timer_free(srv->part.monitors->timer);
    free(srv->part.monitors->dates);
}

const struct px_server_part px_monitor_part = {
    .name = "monitor",
    PX_PART_STATE(monitors, struct px_monitors),
    .create = create,
    .stop = stop,
    .destroy = destroy,
    .peer_left = peer_left,
};
