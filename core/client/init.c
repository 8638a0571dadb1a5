/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Init and _Finalize: connecting to a server, or being a singleton without one;
 * and what a tool, which is a client with more ways to servers, begins and ends in
 * the same way. */
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/client/link.h"
#include "core/role/role.h"
#include "core/rt/log.h"
#include "core/config/param.h"

#include <stdio.h>
#include <string.h>

/* ---- starting -------------------------------------------------------------------- */

static void started(struct px_start *c, pmix_status_t rc)
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

static pmix_status_t be_job_of_one(struct px_err *err);

/* A server need not know anything of a tool; the tool still does. */
static pmix_status_t do_without(struct px_start *c, pmix_status_t why)
{
    px_log(PX_LOG_INFO, "tool", "the server tells nothing of this tool's job: %s",
           PMIx_Error_string(why));
    return be_job_of_one(&c->err);
}

static void on_job_info(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_start *c = arg;
    pmix_status_t why = status;

    if (!status) {
        reply->trusted = true; /* all of it is the server's own */
        why = read_job_info(reply);
    }
    if (why && !status && c->addr.flag != PX_FLAG_CLIENT)
        why = do_without(c, why);
    if (why)
        px_err_set(&c->err, why, "cannot read the job's information: %s",
                   PMIx_Error_string(why));
    started(c, why);
}

/* The connection goes, and with it the request: on_job_info reports. */
static void on_no_answer(void *arg)
{
    struct px_start *c = arg;
    struct px_link *link = px_link_find(&c->addr.uri.server);

    if (link)
        px_link_close(link, PMIX_ERR_TIMEOUT);
}

/* Writers for values that are put, before their form is known. */
static void prepare_puts(struct px_codec codec)
{
    struct px_model *m = px_process.model;

    if (m->put_local.codec.dialect)
        return;
    px_writer_init(&m->put_local, codec);
    px_writer_init(&m->put_remote, codec);
}

static pmix_status_t ask_for_job(struct px_start *c, struct px_link *link)
{
    struct px_channel *up = px_link_channel(link);
    pmix_status_t rc;
    px_writer w;

    c->timer = px_timer_create(px_process.loop, on_no_answer, c);
    if (!c->timer)
        return PMIX_ERR_NOMEM;
    px_timer_set(c->timer, px_process.client->conf.connect_timeout);
    px_channel_begin(up, &w, PX_OP_REQ);
    rc = px_channel_request(up, &w, on_job_info, c);
    px_writer_cleanup(&w);
    return rc;
}

/* *done: there was nothing to ask. */
static pmix_status_t start(struct px_start *c, bool *done)
{
    struct px_model *m = px_process.model;
    struct px_link *link;
    pmix_status_t rc = m->own ? PMIX_SUCCESS : px_model_set_self(m, &c->addr.self);

    if (!rc)
        rc = px_link_open(&c->addr, &link);
    if (rc)
        return rc;
    prepare_puts(c->addr.codec);
    rc = c->primary ? px_link_make_primary(link) : PMIX_SUCCESS;
    *done = m->own->complete;
    if (!rc && !*done)
        rc = ask_for_job(c, link);
    if (rc)
        px_link_close(link, rc);
    return rc;
}

static void on_start(struct px_call *call, void *args)
{
    struct px_start *c = args;
    bool done = false;
    pmix_status_t rc;

    c->call = call;
    rc = start(c, &done);
    if (rc || done)
        started(c, rc);
}

static pmix_status_t put_job_u32(struct px_nspace *ns, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    return px_store_put(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, key, &v);
}

/* On one node: what such a program asks for first must have an answer. */
static pmix_status_t be_job_of_one(struct px_err *err)
{
    struct px_model *m = px_process.model;
    PX_AUTO(px_infos) infos = {0};
    uint32_t one = 1;
    pmix_status_t rc = px_infos_add(&infos, PMIX_NODE_MAP, m->hostname, PMIX_STRING);

    if (!rc)
        rc = px_infos_add(&infos, PMIX_PROC_MAP, "0", PMIX_STRING);
    if (!rc)
        rc = px_infos_add(&infos, PMIX_JOB_SIZE, &one, PMIX_UINT32);
    if (!rc)
        rc = px_jobinfo_register(m, m->own, infos.v, infos.n, err);
    if (!rc)
        rc = put_job_u32(m->own, PMIX_UNIV_SIZE, 1);
    return rc;
}

static void on_start_alone(struct px_call *call, void *args)
{
    struct px_start *c = args;
    struct px_model *m = px_process.model;
    pmix_status_t rc = px_model_set_self(m, &c->addr.self);

    m->standalone = true;
    prepare_puts(px_codec_default);
    m->channel.codec = px_codec_default;
    if (!rc)
        rc = be_job_of_one(&c->err);
    px_call_done(call, rc);
}

static void on_stop(struct px_call *call, void *args PX_UNUSED)
{
    struct px_model *m = px_process.model;

    PX_LIST_EACH (&px_process.client->links, struct px_link, l, link)
        px_link_close(l, PMIX_ERR_UNREACH);
    if (m->client_left)
        m->client_left(m);
    px_call_done(call, PMIX_SUCCESS);
}

void px_client_end(void)
{
    enum px_role role = px_process.client->role;

    (void)px_call(px_process.loop, on_stop, NULL);
    free(px_process.client);
    px_process.client = NULL;
    px_role_end(role);
}

pmix_status_t px_client_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                              struct px_err *err)
{
    pmix_status_t rc = px_role_begin(role, info, n_info, err);

    if (rc)
        return rc;
    px_process.client = calloc(1, sizeof *px_process.client);
    if (!px_process.client) {
        px_role_end(role);
        return PMIX_ERR_NOMEM;
    }
    px_process.client->role = role;
    px_list_init(&px_process.client->links);
    rc = px_params_parse(px_process.params, "client_", px_client_params,
                         &px_process.client->conf, err);
    if (rc)
        px_client_end();
    return rc;
}

pmix_status_t px_client_start(struct px_start *c)
{
    pmix_status_t rc = px_call(px_process.loop, on_start, c);

    px_drop_fd(&c->addr.fd);
    return rc;
}

pmix_status_t px_client_start_alone(struct px_start *c)
{
    return px_call(px_process.loop, on_start_alone, c);
}

void px_client_leave_all(void)
{
    pmix_proc_t any;

    while (px_client_servers(&any, 1))
        (void)px_link_leave(&any);
}

/* ---- who we are ------------------------------------------------------------------ */

pmix_status_t px_client_identity(pmix_proc_t *self, bool *given, struct px_err *err)
{
    const char *nspace = getenv("PMIX_NAMESPACE");
    const char *rank = getenv("PMIX_RANK");
    uint64_t n;

    *given = nspace;
    if (!nspace)
        return PMIX_SUCCESS;
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

void px_client_name_self(pmix_proc_t *self, const char *kind)
{
    char name[PMIX_MAX_NSLEN + 1];
    char host[128] = "localhost";

    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%s.%s.%ld", kind, host, (long)getpid());
    px_proc_set(self, name, 0);
}

static pmix_status_t connect_and_start(struct px_start *c)
{
    pmix_status_t rc = px_server_addr_from_env(&c->addr, &c->err);

    if (rc && !c->err.text[0])
        px_err_set(
            &c->err, rc,
            "PMIX_NAMESPACE is set, but no PMIX_SERVER_URI41, URI4, URI3 or URI21");
    if (!rc)
        rc = px_server_addr_connect(&c->addr, px_process.client->conf.connect_timeout,
                                    &c->err);
    return rc ? rc : px_client_start(c);
}

static pmix_status_t client_begin(const pmix_info_t *info, size_t n_info,
                                  struct px_start *c)
{
    bool given;
    pmix_status_t rc = px_client_identity(&c->addr.self, &given, &c->err);

    if (rc)
        return rc;
    px_process.server_address = given ? px_client_address() : "";
    rc = px_client_begin(PX_ROLE_CLIENT, info, n_info, &c->err);
    px_process.server_address = NULL;
    if (rc)
        return rc;
    if (given) {
        rc = connect_and_start(c);
    } else {
        px_client_name_self(&c->addr.self, "singleton");
        rc = px_client_start_alone(c);
    }
    if (rc)
        px_client_end();
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    struct px_start c = {.addr = {.fd = -1, .flag = PX_FLAG_CLIENT}, .primary = true};
    pmix_status_t rc = PMIX_SUCCESS;

    if (ninfo && !info)
        return PMIX_ERR_BAD_PARAM;
    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    px_process_lock();
    if (!px_process.client && px_process.server)
        px_process.nested_inits++;
    else if (!px_process.client)
        rc = client_begin(info, ninfo, &c);
    if (!rc) {
        if (px_process.client)
            px_process.client->inits++;
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

/* ---- ending ---------------------------------------------------------------------- */

static void client_end(const pmix_info_t *info, size_t n_info)
{
    if (px_client_servers(NULL, 0) && px_info_flag(info, n_info, PMIX_EMBED_BARRIER))
        (void)PMIx_Fence(NULL, 0, NULL, 0);
    px_client_leave_all();
}

PX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    struct px_client *c;
    pmix_status_t rc = PMIX_SUCCESS;
    bool last;

    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    px_process_lock();
    c = px_process.client;
    if (c && c->inits > 0) {
        last = c->inits == 1 && c->tool_inits == 0;
        if (last)
            client_end(info, ninfo);
        c->inits--;
        atomic_fetch_sub(&px_process.init_count, 1);
        if (last)
            px_client_end();
    } else if (px_process.nested_inits > 0) {
        px_process.nested_inits--;
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

/* Newer releases have a key of its own, older ones share one. */
static bool is_for_our_thread(const pmix_info_t *info, size_t n_info)
{
    const char *name = px_info_str(info, n_info, "pmix.pthrdnm");

    if (!name)
        name = px_info_str(info, n_info, PMIX_PROGRESS_THREAD_NAME);
    return !name || strcmp(name, PX_LOOP_THREAD_NAME) == 0;
}

PX_EXPORT void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo)
{
    if ((ninfo && !info) || px_process_on_loop() || !is_for_our_thread(info, ninfo))
        return;
    px_process_lock();
    if (px_initialized())
        px_loop_stop_thread(px_process.loop);
    px_process_unlock();
}
