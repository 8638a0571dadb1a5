/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Init and PMIx_Finalize. Connects to a server, or starts a singleton. Tools begin
 * and end with the same functions, and have more ways to find servers. */
#include "core/base/env.h"
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/client/singleton/singleton.h"
#include "core/config/param.h"
#include "core/notify/notify.h"
#include "core/role/role.h"
#include "core/rt/log.h"

#include <stdio.h>
#include <string.h>

/* ---- starting -------------------------------------------------------------------- */

static void started(struct px_start *c, pmix_status_t rc)
{
    px_timer_free(c->timer);
    if (!rc && c->was_alone)
        rc = px_client_commit_again(c->client);
    if (!rc && c->was_alone)
        rc = px_notify_connected(c->client->notify);
    if (rc && c->was_alone)
        c->client->standalone = true;
    px_call_done(c->call, rc);
}

/* Registers a job whose only process is this one, with the keys that programs read
 * first. */
static pmix_status_t be_job_of_one(struct px_model *m, struct px_err *err)
{
    const pmix_value_t universe = {.type = PMIX_UINT32, .data.uint32 = 1};
    PX_AUTO(px_infos) infos = {0};
    PX_AUTOFREE char *rank = px_strf("%u", m->self.rank);
    uint32_t one = 1;
    pmix_status_t rc = px_infos_add(&infos, PMIX_NODE_MAP, m->hostname, PMIX_STRING);

    if (!rc)
        rc = rank ? px_infos_add(&infos, PMIX_PROC_MAP, rank, PMIX_STRING)
                  : PMIX_ERR_NOMEM;
    if (!rc)
        rc = px_infos_add(&infos, PMIX_JOB_SIZE, &one, PMIX_UINT32);
    if (!rc)
        rc = px_jobinfo_register(m, m->own, infos.v, infos.n, err);
    return rc ? rc
              : px_store_put(&m->own->store, PX_GDS_JOB, PMIX_RANK_WILDCARD,
                             PMIX_UNIV_SIZE, &universe);
}

/* Reads the job information. Returns the server's status if the server sent a status in
 * place of the job's name. */
static pmix_status_t read_job_info(struct px_client *client, px_reader *reply)
{
    px_reader again = *reply;
    pmix_status_t why, rc;

    reply->trusted = true; /* the server is the author of the whole reply */
    rc = px_client_store_job(client, reply, NULL);
    if (rc && px_unpack_status(&again, &why) == PMIX_SUCCESS &&
        px_reader_done(&again) && why < 0)
        return why;
    return rc;
}

static void job_stored(struct px_start *c, pmix_status_t rc)
{
    if (rc)
        px_err_set(&c->err, rc, "cannot read the job's information: %s",
                   PMIx_Error_string(rc));
    started(c, rc);
}

/* Stores a job by messages, after the shared store could not be read in place. */
static void on_job_info_in_messages(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_start *c = arg;

    job_stored(c, px_client_read_values(c->client, status, reply));
}

static void on_job_info(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_start *c = arg;
    pmix_status_t rc = status ? status : read_job_info(c->client, reply);
    struct px_model *m = c->client->model;

    if (!rc && px_nspace_is_lost(m->own)) {
        rc = px_client_ask_job(c->client, m->own, true, on_job_info_in_messages, c);
        if (!rc)
            return;
    }
    if (rc && !status && (c->addr.flag != PX_FLAG_CLIENT || c->was_alone)) {
        /* A server need not have the job of a tool or singleton. */
        px_log(PX_LOG_INFO, "client", "the server does not know this process's job: %s",
               PMIx_Error_string(rc));
        rc = c->was_alone ? PMIX_SUCCESS : be_job_of_one(m, &c->err);
    }
    job_stored(c, rc);
}

/* Closes the link, which fails the request: on_job_info reports the timeout. */
static void on_no_answer(void *arg)
{
    struct px_start *c = arg;
    struct px_uplink *link = px_uplink_find(c->client, &c->addr.uri.server);

    if (link)
        px_uplink_close(link, PMIX_ERR_TIMEOUT);
}

static pmix_status_t ask_for_job(struct px_start *c, struct px_uplink *link)
{
    struct px_channel *up = px_uplink_channel(link);
    px_writer w;

    c->timer = px_timer_create(c->client->loop, on_no_answer, c);
    if (!c->timer)
        return PMIX_ERR_NOMEM;
    px_timer_set(c->timer, c->client->role->conf.connect_timeout);
    px_channel_begin(up, &w, PX_OP_REQ);
    return px_channel_request(up, &w, on_job_info, c);
}

static void on_start(struct px_call *call, void *args)
{
    struct px_start *c = args;
    struct px_client *client = c->client;
    struct px_model *m = client->model;
    struct px_uplink *link = NULL;
    pmix_status_t rc = m->own ? PMIX_SUCCESS : px_model_set_self(m, &c->addr.self);

    c->call = call;
    c->was_alone = client->standalone;
    if (!rc)
        rc = px_uplink_open(client, &c->addr, &link);
    if (!rc && c->primary)
        rc = px_uplink_make_primary(client, link);
    if (!rc && client->role->self_named && c->addr.flag == PX_FLAG_CLIENT) {
        /* OpenPMIx's servers cannot answer this request from a singleton. */
        rc = c->was_alone ? PMIX_SUCCESS : be_job_of_one(m, &c->err);
    } else if (!rc && !m->own->complete) {
        rc = ask_for_job(c, link);
        if (!rc)
            return;
    }
    if (rc && link)
        px_uplink_close(link, rc);
    started(c, rc);
}

pmix_status_t px_client_start(struct px_start *c)
{
    pmix_status_t rc = px_call(c->client->loop, on_start, c);

    px_drop_fd(&c->addr.fd);
    return rc;
}

static void on_start_alone(struct px_call *call, void *args)
{
    struct px_start *c = args;
    struct px_client *client = c->client;
    pmix_status_t rc = px_model_set_self(client->model, &c->addr.self);

    client->standalone = true;
    client->channel.codec = px_codec_default;
    px_call_done(call, rc ? rc : be_job_of_one(client->model, &c->err));
}

void px_client_name(pmix_proc_t *self, const char *kind)
{
    char name[PMIX_MAX_NSLEN + 1], host[128] = "localhost";

    gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "%s.%s.%ld", kind, host, (long)getpid());
    px_proc_set(self, name, 0);
}

pmix_status_t px_client_start_alone(struct px_start *c)
{
    return px_call(c->client->loop, on_start_alone, c);
}

static void on_stop(struct px_call *call, void *args)
{
    struct px_client *client = args;

    px_invitations_end(client, PMIX_ERR_UNREACH);
    PX_LIST_EACH (&client->role->links, struct px_uplink, l, link)
        px_uplink_close(l, PMIX_ERR_UNREACH);
    client->receivers->shows_unasked = false;
    px_map_fini(&client->put_alone);
    if (client->own.send && px_role_serve_self(client))
        px_log(PX_LOG_ERROR, "client",
               "cannot connect this process to its own server: out of memory");
    px_call_done(call, PMIX_SUCCESS);
}

void px_client_end(struct px_client *client)
{
    enum px_role role = client->role->role;

    (void)px_call(client->loop, on_stop, client);
    px_singleton_end(client);
    free(px_take(&client->role));
    px_role_end(role);
}

pmix_status_t px_client_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                              struct px_start *s)
{
    pmix_status_t rc = px_role_begin(role, info, n_info, &s->err);
    struct px_client_role *made;

    if (rc)
        return rc;
    made = calloc(1, sizeof(*made));
    if (!made) {
        px_role_end(role);
        return PMIX_ERR_NOMEM;
    }
    made->role = role;
    made->own_ns[PX_OWN_INIT] = s->begun_ns;
    px_list_init(&made->links);
    s->client = px_process.client;
    s->client->role = made;
    rc = px_params_parse(px_process.params, "client_", px_client_params, &made->conf,
                         &s->err);
    if (rc)
        px_client_end(s->client);
    return rc;
}

/* ---- programming models ---------------------------------------------------------- */

/* Copies the description of a programming model from info. Only the first keys, whose
 * values are strings, declare a model, as in OpenPMIx. The other keys are optional. */
static pmix_status_t read_model(const pmix_info_t *info, size_t n, px_infos *model)
{
    enum { N_DECLARING = 4 };
    static const char *const keys[] = {
        PMIX_PROGRAMMING_MODEL, PMIX_MODEL_LIBRARY_NAME,    PMIX_MODEL_LIBRARY_VERSION,
        PMIX_THREADING_MODEL,   PMIX_MODEL_NUM_THREADS,     PMIX_MODEL_NUM_CPUS,
        PMIX_MODEL_CPU_TYPE,    PMIX_MODEL_AFFINITY_POLICY,
    };
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(keys); i++) {
        const pmix_info_t *given = px_info_find(info, n, keys[i]);

        if (!given || (i >= N_DECLARING && model->n == 0))
            continue;
        if (i < N_DECLARING && !px_value_string(&given->value))
            px_log(PX_LOG_WARN, "client",
                   "cannot declare attribute %s of PMIx_Init: wrong type (got %s, "
                   "expected PMIX_STRING)",
                   keys[i], PMIx_Data_type_string(given->value.type));
        else
            rc = px_infos_add_copy(model, given, 1);
    }
    return rc;
}

struct declaration {
    const struct px_client *client;
    px_infos model;
};

/* Lets the first handler run before PMIx_Init returns, as in OpenPMIx. Open MPI's
 * handler passes the event to another thread, and MPI_Finalize unloads that thread's
 * code. */
static void on_declare(struct px_call *call, void *args)
{
    struct declaration *d = args;

    px_call_done_last(call, px_notify_take(d->client->notify, PMIX_MODEL_DECLARED,
                                           &d->client->model->self,
                                           PMIX_RANGE_PROC_LOCAL, &d->model, true));
}

/* Notifies handlers of this process of the programming model that a library names in
 * PMIx_Init. */
static void declare_model(const struct px_client *client, const pmix_info_t *info,
                          size_t n)
{
    struct declaration d = {.client = client};
    pmix_status_t rc = read_model(info, n, &d.model);

    if (!rc && d.model.n == 0)
        return;
    if (!rc)
        rc = px_infos_add(&d.model, PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
    if (!rc)
        rc = px_call(client->loop, on_declare, &d);
    px_infos_cleanup(&d.model);
    if (rc)
        px_log(PX_LOG_WARN, "client", "cannot declare a programming model: %s",
               PMIx_Error_string(rc));
}

/* ---- init and finalize ----------------------------------------------------------- */

/* Returns the count of init calls of the role. A server that is neither client nor tool
 * has one count for both. */
static unsigned *inits_of(struct px_process *p, enum px_role role)
{
    struct px_client_role *c = p->client ? p->client->role : NULL;

    return !c ? &p->nested_inits : role == PX_ROLE_TOOL ? &c->tool_inits : &c->inits;
}

pmix_status_t px_client_init(enum px_role role, px_begin_fn begin, px_begin_fn again,
                             pmix_proc_t *proc, const pmix_info_t *info, size_t n_info)
{
    const char *name = role == PX_ROLE_TOOL ? "tool" : "client";
    struct px_process *p = &px_process;
    struct px_start s = {.addr = {.fd = -1},
                         .begun_ns = px_env("TENON_TIMELINE") ? px_clock_ns() : 0,
                         .primary = true};
    pmix_status_t rc = PMIX_SUCCESS;

    if (n_info && !info)
        return PMIX_ERR_BAD_PARAM;
    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    rc = px_required_check(role == PX_ROLE_TOOL ? "PMIx_tool_init" : "PMIx_Init", NULL,
                           info, n_info);
    if (rc)
        return rc;
    px_process_lock();
    s.client = p->client;
    if (s.client && s.client->role)
        rc = again ? again(info, n_info, &s) : PMIX_SUCCESS;
    else if (!p->server) /* a server answers its own calls */
        rc = begin(info, n_info, &s);
    if (!rc || s.alone) {
        ++*inits_of(p, role);
        atomic_fetch_add(&p->init_count, 1);
        if (proc)
            *proc = s.client->model->self;
        if (role == PX_ROLE_CLIENT)
            declare_model(s.client, info, n_info);
        px_client_stamp(s.client->role, PX_OWN_READY);
    }
    px_process_unlock();
    if (rc && (!s.alone || s.err.text[0]))
        px_log(PX_LOG_ERROR, name, "PMIx_%s: %s",
               role == PX_ROLE_TOOL ? "tool_init" : "Init",
               s.err.text[0] ? s.err.text : PMIx_Error_string(rc));
    return rc;
}

/* Leaves every server, after the embedded barrier if info asks for a barrier. */
static void leave_all(struct px_client *client, const pmix_info_t *info, size_t n_info)
{
    pmix_proc_t any;

    if (px_client_servers(client, NULL, 0) &&
        px_info_flag(info, n_info, PMIX_EMBED_BARRIER))
        (void)PMIx_Fence(NULL, 0, NULL, 0);
    while (px_client_servers(client, &any, 1))
        (void)px_uplink_leave(client, &any);
}

pmix_status_t px_client_finalize(enum px_role role, px_call_fn before_last,
                                 const pmix_info_t *info, size_t n_info)
{
    struct px_process *p = &px_process;
    struct px_client_role *c;
    unsigned *inits;
    bool last;

    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    px_process_lock();
    inits = inits_of(p, role);
    if (*inits == 0) {
        px_process_unlock();
        return PMIX_ERR_INIT;
    }
    c = p->client->role;
    last = c && c->inits + c->tool_inits == 1;
    if (c && *inits == 1 && before_last)
        (void)px_call(p->loop, before_last, p->client);
    if (last) {
        px_singleton_settle(p->client);
        leave_all(p->client, info, n_info);
    }
    --*inits;
    atomic_fetch_sub(&p->init_count, 1);
    if (last)
        px_client_end(p->client);
    px_process_unlock();
    return PMIX_SUCCESS;
}

pmix_status_t px_client_identity(pmix_proc_t *self, bool *given, struct px_err *err)
{
    const char *nspace = px_env("PMIX_NAMESPACE");
    const char *rank = px_env("PMIX_RANK");
    uint64_t n;

    *given = nspace;
    if (!nspace)
        return PMIX_SUCCESS;
    if (!nspace[0] || strlen(nspace) > PMIX_MAX_NSLEN)
        return px_err_set(err, PMIX_ERR_INVALID_NAMESPACE,
                          "PMIX_NAMESPACE is not a namespace: \"%s\"", nspace);
    if (!rank)
        return px_err_set(err, PMIX_ERR_DATA_VALUE_NOT_FOUND,
                          "PMIX_NAMESPACE is set, but PMIX_RANK is not");
    if (!px_str_to_u64(rank, 0, PMIX_RANK_VALID - 1, &n))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "PMIX_RANK is not a rank: \"%s\"",
                          rank);
    px_proc_set(self, nspace, (pmix_rank_t)n);
    return PMIX_SUCCESS;
}

/* Shakes hands with the server that info names, otherwise with the environment's.
 * Returns PMIX_ERR_UNREACH without a text if neither names a server. */
static pmix_status_t find_server(const pmix_info_t *info, size_t n_info,
                                 struct px_start *c)
{
    const char *uri = px_info_str(info, n_info, PMIX_SERVER_URI);
    const char *nspace = px_env("PMIX_NAMESPACE");
    pmix_status_t rc = PMIX_ERR_UNREACH;

    c->addr.flag = PX_FLAG_CLIENT;
    if (uri)
        rc = px_server_addr_from_uri(&c->addr, uri, &c->err);
    else if (nspace)
        rc = px_server_addr_from_env(&c->addr, &c->err);
    if (rc && !uri && nspace && !c->err.text[0])
        px_err_set(
            &c->err, rc,
            "PMIX_NAMESPACE is set, but no PMIX_SERVER_URI41, URI4, URI3 or URI21");
    return rc ? rc
              : px_server_addr_connect(&c->addr, c->client->role->conf.connect_timeout,
                                       &c->err);
}

/* True if programs written for OpenPMIx expect to continue without a server after
 * failure rc. A refusal by the server or a malformed address makes PMIx_Init fail. */
static bool goes_on_alone(pmix_status_t rc)
{
    return rc == PMIX_ERR_UNREACH || rc == PMIX_ERR_TIMEOUT;
}

static pmix_status_t client_begin(const pmix_info_t *info, size_t n_info,
                                  struct px_start *c)
{
    bool given;
    pmix_status_t rc = px_client_identity(&c->addr.self, &given, &c->err);

    if (rc)
        return rc;
    px_process.server_address = given ? px_client_address() : "";
    rc = px_client_begin(PX_ROLE_CLIENT, info, n_info, c);
    px_process.server_address = NULL;
    if (rc)
        return rc;
    if (!given)
        px_client_name(&c->addr.self, "singleton");
    c->client->role->self_named = !given;
    rc = find_server(info, n_info, c);
    if (!rc) {
        rc = px_client_start(c);
    } else if (goes_on_alone(rc)) {
        rc = px_client_start_alone(c);
        if (!rc) {
            c->alone = true;
            return PMIX_ERR_UNREACH;
        }
    }
    if (rc)
        px_client_end(c->client);
    return rc;
}

/* Connects a process that has no server, or that has lost its server and info names a
 * new one. */
static pmix_status_t client_again(const pmix_info_t *info, size_t n_info,
                                  struct px_start *c)
{
    const struct px_client *client = c->client;
    bool asked = px_info_find(info, n_info, PMIX_SERVER_URI);
    pmix_status_t rc;

    if (px_client_servers(c->client, NULL, 0) ||
        (!asked && (client->role->role != PX_ROLE_CLIENT || !client->standalone)))
        return PMIX_SUCCESS;
    c->addr.self = client->model->self;
    rc = find_server(info, n_info, c);
    if (!rc)
        return px_client_start(c);
    c->alone = goes_on_alone(rc);
    if (!asked) /* the first PMIx_Init has logged the reason */
        c->err.text[0] = '\0';
    return c->alone ? PMIX_ERR_UNREACH : rc;
}

PX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = px_client_init(PX_ROLE_CLIENT, client_begin, client_again, proc,
                                      info, ninfo);

    if (!rc)
        px_client_hold();
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = px_initialized()
                           ? px_required_check("PMIx_Finalize", NULL, info, ninfo)
                           : PMIX_SUCCESS;

    return rc ? rc : px_client_finalize(PX_ROLE_CLIENT, NULL, info, ninfo);
}

PX_EXPORT int PMIx_Initialized(void)
{
    return px_initialized();
}

PX_EXPORT const char *PMIx_Get_version(void)
{
    /* Programs read the first number as the release of the interface. */
    return "Tenon as PMIx " TENON_CLAIMED_VERSION
           " (PMIx Standard " TENON_CLAIMED_STANDARD "), release " TENON_VERSION_STRING;
}

PX_EXPORT void PMIx_Progress(void)
{
    if (px_initialized())
        px_loop_pump(px_process.loop);
}

PX_EXPORT void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo)
{
    const char *name;

    if ((ninfo && !info) || px_process_on_loop())
        return;
    if (px_required_check("PMIx_Progress_thread_stop", NULL, info, ninfo))
        return;
    /* Newer OpenPMIx releases use a separate key, older ones the shared key. */
    name = px_info_str(info, ninfo, "pmix.pthrdnm");
    if (!name)
        name = px_info_str(info, ninfo, PMIX_PROGRESS_THREAD_NAME);
    if (name && strcmp(name, PX_LOOP_THREAD_NAME) != 0)
        return;
    px_process_lock();
    if (px_initialized())
        px_loop_stop_thread(px_process.loop);
    px_process_unlock();
}
