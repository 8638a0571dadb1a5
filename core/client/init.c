/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Init and _Finalize: connecting to a server, or being a singleton without one. */
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/model/conn.h"
#include "core/notify/notify.h"
#include "core/notify/roles.h"
#include "core/rt/log.h"
#include "core/rt/param.h"

#include <stdio.h>
#include <string.h>

static const struct px_param params[] = {
    /* Long, because a server busy with a large launch answers late; finite, because nothing
     * hangs. */
    PX_PARAM_DURATION(struct px_client_conf, connect_timeout, "60s", 1, 3600000,
                      "How long PMIx_Init waits for each of the server's answers"),
    /* A server that has nothing more to say must not keep a program from ending. */
    PX_PARAM_DURATION(struct px_client_conf, finalize_timeout, "5s", 1, 3600000,
                      "How long PMIx_Finalize waits for the server's goodbye"),
    PX_PARAM_END,
};

struct connecting {
    pmix_proc_t self;
    struct px_uplink up; /* codec, server, version */
    int fd;
    uint32_t pindex;
    struct px_call *call;
    struct px_timer *timer;
    struct px_err err;
};

/* ---- the connection ------------------------------------------------------------------------- */

static void on_frame(void *arg PX_UNUSED, const struct px_frame *frame,
                     const uint8_t *payload)
{
    struct px_uplink *up = &px_process.model->uplink;
    px_reader r;

    if (frame->tag == PX_TAG_NOTIFY) {
        px_reader_init(&r, up->codec, payload, frame->nbytes);
        px_client_on_notify(&r);
    } else if (frame->tag == PX_TAG_IOF) {
        px_reader_init(&r, up->codec, payload, frame->nbytes);
        px_client_on_iof(&r);
    } else if (frame->tag > PX_TAG_DYNAMIC) {
        if (px_uplink_reply(up, frame->tag, payload, frame->nbytes))
            px_log(PX_LOG_WARN, "client", "reply to a request never made (tag %u)",
                   frame->tag);
    }
}

static void on_lost(void *arg PX_UNUSED, pmix_status_t why PX_UNUSED)
{
    struct px_model *m = px_process.model;
    pmix_proc_t server = m->uplink.server;

    px_conn_destroy(px_process.client->conn);
    px_process.client->conn = NULL;
    px_uplink_fail(&m->uplink, PMIX_ERR_LOST_CONNECTION);
    (void)px_notify_deliver(px_process.notify, PMIX_ERR_LOST_CONNECTION, &server,
                            PMIX_RANGE_PROC_LOCAL, NULL, 0);
}

static const struct px_conn_ops conn_ops = {.on_frame = on_frame, .on_lost = on_lost};

static pmix_status_t send_frame(void *ctx, uint32_t tag, px_buf *payload)
{
    struct px_client *c = ctx;

    return px_conn_send(c->conn, (int32_t)c->pindex, tag, payload);
}

/* ---- starting ------------------------------------------------------------------------------- */

static void started(struct connecting *c, pmix_status_t rc)
{
    struct px_call *call = c->call;

    px_timer_free(c->timer);
    c->timer = NULL;
    c->call = NULL;
    if (call)
        px_call_done(call, rc);
}

/* A server that cannot tell says why, in place of the name. */
static pmix_status_t read_job_info(px_reader *reply)
{
    px_reader again = *reply;
    pmix_status_t why, rc = px_client_store_job(reply);

    if (rc && px_unpack_status(&again, &why) == PMIX_SUCCESS &&
        px_reader_done(&again) && why < 0)
        return why;
    return rc;
}

static void on_job_info(void *arg, pmix_status_t status, px_reader *reply)
{
    struct connecting *c = arg;

    if (!status) {
        reply->trusted = true; /* all of it is the server's own */
        status = read_job_info(reply);
    }
    if (status)
        px_err_set(&c->err, status, "cannot read the job's information: %s",
                   PMIx_Error_string(status));
    started(c, status);
}

/* The connection goes, and with it the request: on_job_info reports. */
static void on_no_answer(void *arg)
{
    struct connecting *c = arg;

    px_conn_destroy(px_process.client->conn);
    px_process.client->conn = NULL;
    px_uplink_fail(&px_process.model->uplink, PMIX_ERR_TIMEOUT);
    (void)c;
}

static pmix_status_t set_self(const pmix_proc_t *self)
{
    struct px_model *m = px_process.model;

    m->self = *self;
    return px_nspace_get(m, self->nspace, &m->own);
}

static pmix_status_t start(struct connecting *c)
{
    struct px_uplink *up = &px_process.model->uplink;
    struct px_client *client = px_process.client;
    px_writer w;
    pmix_status_t rc = set_self(&c->self);

    if (!rc)
        rc = px_conn_create(px_process.loop, c->fd, &conn_ops, NULL, &client->conn);
    if (rc)
        return rc;
    c->fd = -1;
    client->pindex = c->pindex;
    up->send = send_frame;
    up->ctx = client;
    up->codec = c->up.codec;
    up->server = c->up.server;
    up->server_version = c->up.server_version;
    c->timer = px_timer_create(px_process.loop, on_no_answer, c);
    if (!c->timer)
        return PMIX_ERR_NOMEM;
    px_timer_set(c->timer, client->conf.connect_timeout);
    px_writer_init(&px_process.model->put_local, up->codec);
    px_writer_init(&px_process.model->put_remote, up->codec);
    px_uplink_begin(up, &w, PX_OP_REQ);
    rc = px_uplink_request(up, &w, on_job_info, c);
    px_writer_cleanup(&w);
    return rc;
}

static void on_start(struct px_call *call, void *args)
{
    struct connecting *c = args;
    pmix_status_t rc;

    c->call = call;
    rc = start(c);
    if (rc)
        started(c, rc);
}

static pmix_status_t put_job_u32(struct px_nspace *ns, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    return px_store_put(ns, PX_GDS_JOB, PMIX_RANK_WILDCARD, key, &v);
}

/* A job of one on one node: what such a program asks for first must have an answer. */
static void on_start_alone(struct px_call *call, void *args)
{
    struct connecting *c = args;
    struct px_model *m = px_process.model;
    PX_AUTO(px_infos) infos = {0};
    uint32_t one = 1;
    pmix_status_t rc = set_self(&c->self);

    m->standalone = true;
    px_writer_init(&m->put_local, px_codec_default);
    px_writer_init(&m->put_remote, px_codec_default);
    m->uplink.codec = px_codec_default;
    if (!rc)
        rc = px_infos_add(&infos, PMIX_NODE_MAP, m->hostname, PMIX_STRING);
    if (!rc)
        rc = px_infos_add(&infos, PMIX_PROC_MAP, "0", PMIX_STRING);
    if (!rc)
        rc = px_infos_add(&infos, PMIX_JOB_SIZE, &one, PMIX_UINT32);
    if (!rc)
        rc = px_jobinfo_register(m, m->own, infos.v, infos.n, &c->err);
    if (!rc)
        rc = put_job_u32(m->own, PMIX_UNIV_SIZE, 1);
    px_call_done(call, rc);
}

static void on_stop(struct px_call *call, void *args PX_UNUSED)
{
    struct px_client *c = px_process.client;
    struct px_model *m = px_process.model;

    px_conn_destroy(c->conn);
    c->conn = NULL;
    if (m->uplink.ctx == c)
        px_uplink_fail(&m->uplink, PMIX_ERR_UNREACH);
    if (m->client_left)
        m->client_left(m);
    px_call_done(call, PMIX_SUCCESS);
}

static void stop(void)
{
    (void)px_call(px_process.loop, on_stop, NULL);
    free(px_process.client);
    px_process.client = NULL;
    px_role_end(PX_ROLE_CLIENT);
}

/* ---- who we are ------------------------------------------------------------------------------- */

static pmix_status_t read_identity(pmix_proc_t *self, bool *alone, struct px_err *err)
{
    const char *nspace = getenv("PMIX_NAMESPACE");
    const char *rank = getenv("PMIX_RANK");
    uint64_t n;

    *alone = !nspace;
    if (*alone) {
        char name[PMIX_MAX_NSLEN + 1];
        char host[128] = "localhost";

        gethostname(host, sizeof host - 1);
        snprintf(name, sizeof name, "singleton.%s.%ld", host, (long)getpid());
        px_proc_set(self, name, 0);
        return PMIX_SUCCESS;
    }
    if (!nspace[0] || strlen(nspace) > PMIX_MAX_NSLEN)
        return px_err_set(err, PMIX_ERR_INVALID_NAMESPACE,
                          "PMIX_NAMESPACE is no namespace: \"%s\"", nspace);
    if (!rank)
        return px_err_set(err, PMIX_ERR_DATA_VALUE_NOT_FOUND,
                          "PMIX_NAMESPACE is set, but PMIX_RANK is not");
    if (!px_str_to_u64(rank, 0, PMIX_RANK_VALID - 1, &n))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "PMIX_RANK is no rank: \"%s\"",
                          rank);
    px_proc_set(self, nspace, (pmix_rank_t)n);
    return PMIX_SUCCESS;
}

static pmix_status_t connect_and_start(struct connecting *c)
{
    pmix_status_t rc = px_client_connect(&c->self,
                                         px_process.client->conf.connect_timeout,
                                         &c->up, &c->fd, &c->pindex, &c->err);

    if (!rc)
        rc = px_call(px_process.loop, on_start, c);
    if (c->fd >= 0)
        close(c->fd);
    return rc;
}

static pmix_status_t client_begin(const pmix_info_t *info, size_t n_info,
                                  struct connecting *c)
{
    bool alone;
    pmix_status_t rc = read_identity(&c->self, &alone, &c->err);

    if (rc)
        return rc;
    rc = px_role_begin(PX_ROLE_CLIENT, info, n_info, &c->err);
    if (rc)
        return rc;
    px_process.client = calloc(1, sizeof *px_process.client);
    if (!px_process.client) {
        px_role_end(PX_ROLE_CLIENT);
        return PMIX_ERR_NOMEM;
    }
    rc = px_params_parse(px_process.params, "client_", params, &px_process.client->conf,
                         &c->err);
    if (!rc)
        rc = alone ? px_call(px_process.loop, on_start_alone, c) : connect_and_start(c);
    if (rc)
        stop();
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    struct connecting c = {.fd = -1};
    pmix_status_t rc = PMIX_SUCCESS;

    if (ninfo && !info)
        return PMIX_ERR_BAD_PARAM;
    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    px_process_lock();
    if (px_process.client)
        px_process.client->refs++;
    else if (px_process.server)
        px_process.guests++;
    else
        rc = client_begin(info, ninfo, &c);
    if (!rc) {
        atomic_fetch_add(&px_process.init_count, 1);
        if (proc)
            *proc = px_process.model->self;
    }
    px_process_unlock();
    if (rc)
        px_log(PX_LOG_ERROR, "client", "PMIx_Init: %s",
               c.err.text[0] ? c.err.text : PMIx_Error_string(rc));
    return rc;
}

/* ---- ending ----------------------------------------------------------------------------------- */

struct goodbye {
    struct px_call *call;
    struct px_timer *timer;
};

static void goodbye_end(struct goodbye *g)
{
    struct px_call *call = g->call;

    px_timer_free(g->timer);
    g->call = NULL;
    if (call)
        px_call_done(call, PMIX_SUCCESS);
}

static void on_goodbye_reply(void *arg, pmix_status_t status PX_UNUSED,
                             px_reader *r PX_UNUSED)
{
    goodbye_end(arg);
}

/* No answer: the request is given up with the connection, which then reports to the above. */
static void on_goodbye_slow(void *arg PX_UNUSED)
{
    px_conn_destroy(px_process.client->conn);
    px_process.client->conn = NULL;
    px_uplink_fail(&px_process.model->uplink, PMIX_ERR_TIMEOUT);
}

static void on_goodbye(struct px_call *call, void *args)
{
    struct goodbye *g = args;
    struct px_uplink *up = &px_process.model->uplink;
    px_writer w;

    g->call = call;
    g->timer = px_timer_create(px_process.loop, on_goodbye_slow, g);
    px_uplink_begin(up, &w, PX_OP_FINALIZE);
    if (!g->timer || px_uplink_request(up, &w, on_goodbye_reply, g))
        goodbye_end(g);
    else
        px_timer_set(g->timer, px_process.client->conf.finalize_timeout);
    px_writer_cleanup(&w);
}

static void client_end(const pmix_info_t *info, size_t n_info)
{
    struct goodbye g = {0};

    if (!px_process.model->standalone) {
        if (px_info_flag(info, n_info, PMIX_EMBED_BARRIER))
            (void)PMIx_Fence(NULL, 0, NULL, 0);
        (void)px_call(px_process.loop, on_goodbye, &g);
    }
    atomic_fetch_sub(&px_process.init_count, 1);
    stop();
}

PX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    px_process_lock();
    if (px_process.client && px_process.client->refs > 0) {
        px_process.client->refs--;
        atomic_fetch_sub(&px_process.init_count, 1);
    } else if (px_process.client) {
        client_end(info, ninfo);
    } else if (px_process.guests > 0) {
        px_process.guests--;
        atomic_fetch_sub(&px_process.init_count, 1);
    } else {
        rc = PMIX_ERR_INIT;
    }
    px_process_unlock();
    return rc;
}

PX_EXPORT int PMIx_Initialized(void)
{
    return px_initialized();
}

PX_EXPORT const char *PMIx_Get_version(void)
{
    return "Tenon " TENON_VERSION_STRING " (PMIx Standard 4.2)";
}

PX_EXPORT void PMIx_Progress(void)
{
    if (px_initialized())
        px_loop_pump(px_process.loop);
}
