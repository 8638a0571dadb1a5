/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Log for a host without a log function. Each text goes to the component of plog
 * that has its channel: as lines to a stream, or in a child process to a service. One
 * child at a time writes all texts of one user that wait. */
#include "core/server/service/log.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/iof/stream.h"
#include "core/plugin/errand.h"
#include "core/plugin/select.h"
#include "core/reclaim/process.h"
#include "core/rt/log.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "frameworks/framework.h"
#include "tenon/plog.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BATCH = 64,                /* texts for one child */
    LAST_MS = 2000,            /* for texts that wait when the server ends */
    MAX_PRIORITY = 191,        /* of syslog(3), with the last facility */
    MAX_TEXTS = 512,           /* of a request */
    MAX_FORMATTED_B = 1048576, /* of the texts of a request with heads */
};

struct px_plog {
    struct px_server *server;
    bool is_gateway; /* PMIX_SERVER_GATEWAY: the log of this node is the global one */
    const struct px_iof_std *std; /* NULL while no text is under way */
    struct px_timer *idle;
    struct px_list sinks; /* other targets that were opened */
    struct px_list requests;
    struct px_list queue; /* texts for the next child */
    struct px_errand errand;
    struct text *batch[BATCH]; /* texts of the running child */
    size_t n_batch;
};

/* The sink of a component's channel. */
struct target {
    struct px_list link;
    const struct px_module *module;
    const char *channel;
    struct px_iof_sink *sink;
};

struct text {
    struct px_list link; /* in px_plog.queue */
    struct request *request;
    const struct px_module *module;
    const char *channel, *string;
    struct px_iof_sink *sink; /* of a stream */
    struct px_stream *stream; /* NULL once written */
};

/* Directives of a request. */
struct way {
    bool once, tag, xml, timed;
    time_t stamp; /* 0: none given */
    int priority; /* -1: none given */
};

struct request {
    struct px_list link;
    struct px_plog *plog;
    struct px_upcall *upcall;
    uid_t uid;
    gid_t gid;
    struct way way;
    pmix_status_t status;
    size_t n_left; /* texts under way, and 1 while texts are started */
    size_t n, n_started, formatted_b;
    struct text texts[];
};

/* ---- channels -------------------------------------------------------------------- */

/* Returns the best component that has the channel, and the component's name of the
 * channel; or NULL. */
static const struct px_module *find_channel(const struct px_plog *plog, const char *key,
                                            const char **channel)
{
    size_t n;
    const struct px_module *m = px_modules("plog", &n);

    if (plog->is_gateway && PMIx_Check_key(key, PMIX_LOG_GLOBAL_SYSLOG))
        key = PMIX_LOG_LOCAL_SYSLOG;
    for (size_t i = 0; i < n; i++)
        for (const char *const *c = PX_OPS(plog, &m[i])->channels; *c; c++)
            if (PMIx_Check_key(key, *c)) {
                *channel = *c;
                return &m[i];
            }
    return NULL;
}

/* Returns why no component has the channel. */
static const char *why_not(const char *key)
{
    static const struct {
        const char *key, *why;
    } rows[] = {
        {PMIX_LOG_EMAIL, "no component of plog sends e-mail"},
        {PMIX_LOG_GLOBAL_SYSLOG, "only a host reaches the system log of a gateway, and "
                                 "this server is not one (PMIX_SERVER_GATEWAY)"},
        {PMIX_LOG_GLOBAL_DATASTORE, "only a host has a data store"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (PMIx_Check_key(key, rows[i].key))
            return rows[i].why;
    return "no component of plog has the channel";
}

static void refuse(const struct px_upcall *u, const char *key)
{
    char reason[PMIX_MAX_KEYLEN + 128];

    snprintf(reason, sizeof(reason), "cannot log to %s: %s", key, why_not(key));
    px_req_refused(u->arg, "PMIx_Log", reason);
}

/* ---- the request ----------------------------------------------------------------- */

static pmix_status_t wrong(const pmix_info_t *info, const char *expected)
{
    px_log(PX_LOG_WARN, "log", "cannot log with %s: got %s, expected %s", info->key,
           PMIx_Data_type_string(info->value.type), expected);
    return PMIX_ERR_BAD_PARAM;
}

static pmix_status_t read_directive(struct way *way, const pmix_info_t *info)
{
    const pmix_value_t *v = &info->value;
    uint64_t n = 0;

    if (PMIx_Check_key(info->key, PMIX_LOG_SYSLOG_PRI)) {
        if (!px_value_to_u64(v, &n) || n > MAX_PRIORITY)
            return wrong(info, "a priority of syslog");
        way->priority = (int)n;
    } else if (PMIx_Check_key(info->key, PMIX_LOG_TIMESTAMP)) {
        if (v->type != PMIX_TIME)
            return wrong(info, "PMIX_TIME");
        way->stamp = v->data.time;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t read_way(struct way *way, const px_infos *infos)
{
    const pmix_info_t *shown = px_info_find(infos->v, infos->n,
                                            PMIX_LOG_TIMESTAMP_OUTPUT);
    pmix_status_t rc = PMIX_SUCCESS;

    *way = (struct way){
        .once = px_info_flag(infos->v, infos->n, PMIX_LOG_ONCE),
        .tag = px_info_flag(infos->v, infos->n, PMIX_LOG_TAG_OUTPUT),
        .xml = px_info_flag(infos->v, infos->n, PMIX_LOG_XML_OUTPUT),
        .priority = -1,
    };
    for (size_t i = 0; !rc && i < infos->n; i++)
        rc = read_directive(way, &infos->v[i]);
    way->timed = shown ? px_value_truth(&shown->value) : way->stamp != 0;
    if (way->timed && !way->stamp)
        way->stamp = time(NULL);
    return rc;
}

/* Returns text number i of an info: the string, or a PMIX_LOG_MSG of the array. NULL
 * after the last one, or *bad if the info has another type. */
static const char *text_of(const pmix_info_t *info, size_t i, bool *bad)
{
    const pmix_info_t *parts = NULL;
    size_t n = 0, n_found = 0;

    if (info->value.type == PMIX_STRING) {
        *bad |= !info->value.data.string;
        return i == 0 ? info->value.data.string : NULL;
    }
    *bad |= !px_value_infos(&info->value, &parts, &n);
    for (size_t p = 0; !*bad && p < n; p++) {
        if (!PMIx_Check_key(parts[p].key, PMIX_LOG_MSG))
            continue;
        *bad |= parts[p].value.type != PMIX_STRING || !parts[p].value.data.string;
        if (n_found++ == i && !*bad)
            return parts[p].value.data.string;
    }
    *bad |= n_found == 0;
    return NULL;
}

/* Checks the data before anything is written. *n is the number of texts, *partial true
 * if a channel is left out. */
static pmix_status_t check(const struct px_plog *plog, const struct px_upcall *u,
                           size_t *n, bool *partial)
{
    const px_infos *data = &u->args.info;
    const char *channel;

    for (size_t i = *n = 0; i < data->n; i++) {
        const pmix_info_t *info = &data->v[i];
        bool bad = false;
        size_t t = 0;

        if (!find_channel(plog, info->key, &channel)) {
            *partial = true;
            if (PMIx_Info_is_required(info)) {
                refuse(u, info->key);
                return PMIX_ERR_NOT_SUPPORTED;
            }
            continue;
        }
        while (text_of(info, t, &bad))
            t++;
        if (bad)
            return wrong(info, "PMIX_STRING, or an array with PMIX_LOG_MSG");
        *n += t;
    }
    if (*n == 0 && data->n > 0)
        refuse(u, data->v[0].key);
    if (*n > MAX_TEXTS)
        px_log(PX_LOG_WARN, "log", "cannot log %zu texts of one request: more than %d",
               *n, MAX_TEXTS);
    return *n == 0          ? PMIX_ERR_NOT_SUPPORTED
           : *n > MAX_TEXTS ? PMIX_ERR_OUT_OF_RESOURCE
                            : PMIX_SUCCESS;
}

/* Releases the standard streams. A host may replace its own streams, and await that
 * nothing holds the old ones. slurmstepd does. */
static void on_idle(void *arg)
{
    struct px_plog *plog = arg;

    if (!plog->std || !px_list_empty(&plog->requests))
        return;
    plog->std = NULL;
    px_iof_std_put();
}

static void add_texts(struct request *r, const px_infos *data)
{
    bool bad = false;

    for (size_t i = 0; i < data->n; i++) {
        const char *channel = NULL, *string;
        const struct px_module *m = find_channel(r->plog, data->v[i].key, &channel);

        for (size_t t = 0; m && (string = text_of(&data->v[i], t, &bad)); t++)
            r->texts[r->n++] = (struct text){
                .request = r, .module = m, .channel = channel, .string = string};
    }
}

static void request_put(struct request *r)
{
    if (--r->n_left > 0)
        return;
    px_list_remove(&r->link);
    if (r->plog->std)
        px_timer_set(r->plog->idle, 0);
    px_upcall_op_cb(r->status, r->upcall);
    free(r);
}

static void start_texts(struct request *r);

/* Completes a text. With PMIX_LOG_ONCE, starts the next text after a failure. */
static void text_done(struct text *t, pmix_status_t status)
{
    struct request *r = t->request;

    if (status || r->way.once)
        r->status = status;
    if (status && r->way.once && !r->upcall->orphan)
        start_texts(r);
    request_put(r);
}

/* ---- streams --------------------------------------------------------------------- */

/* Finds or opens the sink of a text. Returns NULL if it cannot be opened. */
static struct px_iof_sink *find_sink(struct px_plog *plog, const struct text *t)
{
    struct px_piof_target wanted = {
        .size = sizeof(wanted), .fd = -1, .mode = S_IRUSR | S_IWUSR, .keep = true};
    struct px_err err = {0};
    struct target *made;

    PX_LIST_EACH (&plog->sinks, struct target, old, link)
        if (old->module == t->module && old->channel == t->channel)
            return old->sink;
    if (PX_OPS(plog, t->module)->target(t->module->self, t->channel, &wanted))
        return NULL;
    if (wanted.fd == STDOUT_FILENO || wanted.fd == STDERR_FILENO)
        return plog->std || !px_iof_std_get(&plog->std)
                   ? plog->std->of[wanted.fd - STDOUT_FILENO]
                   : NULL;
    made = malloc(sizeof(*made));
    if (!made ||
        px_iof_sink_open(&wanted, t->module->component->name, &made->sink, &err)) {
        px_log(PX_LOG_WARN, "log", "cannot log to %s: %s", t->channel,
               made ? err.text : "out of memory");
        free(made);
        return NULL;
    }
    made->module = t->module;
    made->channel = t->channel;
    px_list_append(&plog->sinks, &made->link);
    return made->sink;
}

/* Returns the maximum length of a text with heads. */
static size_t formatted_b(const char *text, size_t len, const struct px_iof_format *f)
{
    size_t n_lines = 1;

    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        n_lines++;
    return PX_IOF_HEAD_MAX_B + n_lines * (strlen(f->head) + 128) +
           (f->form == PX_IOF_PLAIN ? 1 : 8) * len;
}

/* Returns the text as whole lines, malloc'd: with heads if they are wanted. */
static pmix_status_t make_lines(const struct text *t, char **lines)
{
    struct request *r = t->request;
    const pmix_proc_t *source = &r->upcall->proc;
    const char *name = strrchr(t->channel, '.');
    const struct px_iof_way how = {
        .xml = r->way.xml, .tag = r->way.tag && !r->way.xml, .timed = r->way.timed};
    const struct px_iof_origin origin = {.nspace = source->nspace,
                                         .rank = source->rank,
                                         .channel = name ? name + 1 : t->channel};
    const size_t len = strlen(t->string);
    struct px_iof_format format;
    const bool has_heads = px_iof_format_make(&format, &how, &origin);
    const size_t room = has_heads ? formatted_b(t->string, len, &format) : len + 1;
    struct px_req *req = r->upcall->arg;
    size_t used = 0, n = len;

    r->formatted_b += has_heads ? room : 0;
    if (r->formatted_b > MAX_FORMATTED_B || px_charge(&req->charge, req->peer, room))
        return PMIX_ERR_OUT_OF_RESOURCE;
    *lines = malloc(room + 1);
    if (!*lines)
        return PMIX_ERR_NOMEM;
    format.stamp_s = r->way.stamp;
    if (has_heads)
        n = px_iof_format_apply(&format, (const uint8_t *)t->string, len, &used,
                                (uint8_t *)*lines, room);
    else
        memcpy(*lines, t->string, len);
    if (n == 0 || (*lines)[n - 1] != '\n')
        (*lines)[n++] = '\n';
    (*lines)[n] = '\0';
    return PMIX_SUCCESS;
}

static void on_written(void *arg)
{
    struct text *t = arg;

    t->stream = NULL;
    text_done(t,
              px_iof_sink_is_broken(t->sink) ? PMIX_ERR_NOT_AVAILABLE : PMIX_SUCCESS);
}

/* Writes whole lines, so that other output begins on a new line. */
static pmix_status_t write_lines(struct px_plog *plog, struct text *t)
{
    char *lines = NULL;
    pmix_status_t rc = PMIX_ERR_NOT_AVAILABLE;

    t->sink = find_sink(plog, t);
    if (t->sink && !px_iof_sink_is_broken(t->sink))
        rc = make_lines(t, &lines);
    if (!rc)
        rc = px_stream_report(t->sink, lines, on_written, t, &t->stream);
    if (rc)
        free(lines);
    return rc;
}

/* ---- services -------------------------------------------------------------------- */

_Noreturn static void run_child(const struct px_plog *plog, int out)
{
    const struct request *first = plog->batch[0]->request;

    px_drop_privileges(first->uid, first->gid);
    for (size_t i = 0; i < plog->n_batch; i++) {
        const struct text *t = plog->batch[i];
        const struct request *r = t->request;
        const struct px_plog_text text = {
            .size = sizeof(text),
            .channel = t->channel,
            .text = t->string,
            .priority = r->way.priority,
            .stamp = r->way.timed ? r->way.stamp : 0,
            .source = &r->upcall->proc,
        };
        const pmix_status_t rc = PX_OPS(plog, t->module)->write(t->module->self, &text);

        if (px_fd_write_all(out, &rc, sizeof(rc), 0))
            break;
    }
    _exit(EXIT_SUCCESS);
}

/* Starts a child for the waiting texts of one user, unless a child runs. */
static void start_child(struct px_plog *plog)
{
    struct px_err err = {0};
    int out;

    if (plog->n_batch > 0 || px_list_empty(&plog->queue))
        return;
    PX_LIST_EACH (&plog->queue, struct text, t, link) {
        const struct request *first = plog->n_batch > 0 ? plog->batch[0]->request
                                                        : t->request;

        if (plog->n_batch == BATCH || t->request->uid != first->uid ||
            t->request->gid != first->gid)
            break;
        px_list_remove(&t->link);
        plog->batch[plog->n_batch++] = t;
    }
    pid_t pid = px_errand_start(&plog->errand, "tenon-log",
                                plog->server->conf.service_timeout, &out, &err);
    if (pid == 0)
        run_child(plog, out);
    if (pid < 0) {
        px_log(PX_LOG_WARN, "log", "cannot pass texts to the system's log: %s",
               err.text);
        plog->errand.done(&plog->errand, PX_ERRAND_EXCESS, -1);
    }
}

/* Handles the statuses that the child wrote: one for each text that it has passed. */
static void on_child_end(struct px_errand *e, enum px_errand_end how,
                         int wait_status PX_UNUSED)
{
    struct px_plog *plog = PX_CONTAINER_OF(e, struct px_plog, errand);
    struct text *batch[BATCH];
    pmix_status_t status[BATCH];
    const size_t n = plog->n_batch, n_known = e->answer.len / sizeof(status[0]);

    for (size_t i = 0; i < n; i++) {
        batch[i] = plog->batch[i];
        status[i] = how == PX_ERRAND_LATE ? PMIX_ERR_TIMEOUT : PMIX_ERR_NOT_AVAILABLE;
        if (i < n_known)
            memcpy(&status[i], e->answer.data + i * sizeof(status[0]),
                   sizeof(status[0]));
    }
    if (n_known < n)
        px_log(PX_LOG_WARN, "log", "component plog/%s has not taken %zu texts%s",
               batch[n_known]->module->component->name, n - n_known,
               how == PX_ERRAND_LATE ? " within server_service_timeout" : "");
    px_errand_stop(e);
    plog->n_batch = 0;
    for (size_t i = 0; i < n; i++)
        text_done(batch[i], status[i]);
    start_child(plog);
}

/* True if a child process can take the ids of the user. Fills in an unknown group of
 * this process's own user. */
static bool can_become(struct request *r)
{
    const bool is_own = r->uid == geteuid();

    if (is_own && r->gid == (gid_t)-1)
        r->gid = getegid();
    return r->gid != (gid_t)-1 && (is_own || geteuid() == 0);
}

/* Starts a text. After a success text_done follows, perhaps within. */
static pmix_status_t start_text(struct px_plog *plog, struct text *t)
{
    if (!PX_OPS(plog, t->module)->write)
        return write_lines(plog, t);
    if (!can_become(t->request))
        return PMIX_ERR_NO_PERMISSIONS;
    px_list_append(&plog->queue, &t->link);
    start_child(plog);
    return PMIX_SUCCESS;
}

/* Starts the remaining texts; with PMIX_LOG_ONCE one of them. The caller keeps the
 * request. */
static void start_texts(struct request *r)
{
    while (r->n_started < r->n) {
        r->n_left++;
        pmix_status_t rc = start_text(r->plog, &r->texts[r->n_started++]);
        if (!rc && r->way.once)
            return;
        if (rc) {
            r->n_left--;
            r->status = rc;
        }
    }
}

pmix_status_t px_log_serve(struct px_server *srv, struct px_upcall *u)
{
    struct px_req *req = u->arg;
    struct request *r;
    struct way way;
    bool partial = false;
    size_t n = 0;
    pmix_status_t rc = read_way(&way, &u->args.more);

    if (!rc)
        rc = check(srv->part.plog, u, &n, &partial);
    if (!rc)
        rc = px_charge(&req->charge, req->peer, sizeof(*r) + n * sizeof(r->texts[0]));
    if (rc)
        return rc;
    r = malloc(sizeof(*r) + n * sizeof(r->texts[0]));
    if (!r)
        return PMIX_ERR_NOMEM;
    *r = (struct request){.plog = srv->part.plog,
                          .upcall = u,
                          .uid = req->peer->uid,
                          .gid = req->peer->gid,
                          .way = way,
                          .n_left = 1};
    if (partial && !way.once)
        r->status = PMIX_ERR_PARTIAL_SUCCESS;
    add_texts(r, &u->args.info);
    px_list_append(&r->plog->requests, &r->link);
    start_texts(r);
    request_put(r);
    return PMIX_SUCCESS;
}

/* ---- the part -------------------------------------------------------------------- */

static pmix_status_t create(struct px_server *srv, const struct px_server_start *start)
{
    struct px_plog *plog = srv->part.plog;

    plog->server = srv;
    plog->is_gateway = px_info_flag(start->info, start->n_info, PMIX_SERVER_GATEWAY);
    plog->errand = (struct px_errand){.loop = srv->loop,
                                      .max_b = BATCH * sizeof(pmix_status_t),
                                      .done = on_child_end};
    px_list_init(&plog->requests);
    px_list_init(&plog->sinks);
    px_list_init(&plog->queue);
    plog->idle = px_timer_create(srv->loop, on_idle, plog);
    return plog->idle ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Waits a short time for texts that are on their way to a service. */
static void stop(struct px_server *srv)
{
    struct px_plog *plog = srv->part.plog;
    const uint64_t end_ms = px_clock_ms() + LAST_MS;

    while (plog->n_batch > 0 && px_errand_wait(&plog->errand, end_ms))
        on_child_end(&plog->errand, PX_ERRAND_ENDED, -1);
}

/* Drops texts that no reader has taken. */
static void destroy(struct px_server *srv)
{
    struct px_plog *plog = srv->part.plog;

    px_errand_stop(&plog->errand);
    PX_LIST_EACH (&plog->requests, struct request, r, link) {
        px_log(PX_LOG_WARN, "log", "text of PMIx_Log lost: the reader stopped reading");
        for (size_t i = 0; i < r->n; i++)
            px_stream_close(r->texts[i].stream);
        r->n_left = 1;
        request_put(r);
    }
    PX_LIST_EACH (&plog->sinks, struct target, t, link) {
        px_iof_sink_close(t->sink);
        free(t);
    }
    px_timer_free(plog->idle);
    if (plog->std)
        px_iof_std_put();
}

const struct px_server_part px_plog_part = {
    .name = "log",
    PX_PART_STATE(plog, struct px_plog),
    .create = create,
    .stop = stop,
    .destroy = destroy,
};
