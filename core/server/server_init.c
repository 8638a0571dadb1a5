/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_server_init and _finalize: create and destroy the role's state in order. */
#include "core/base/fd.h"
#include "core/base/map.h"
#include "core/link/channel.h"
#include "core/link/required.h"
#include "core/model/nspace.h"
#include "core/model/resources.h"
#include "core/config/core_params.h"
#include "core/link/client_state.h"
#include "core/notify/notify.h"
#include "core/role/role.h"
#include "core/rt/loop.h"
#include "core/rt/log.h"
#include "core/config/param.h"
#include "core/rt/process.h"
#include "core/server/host.h"
#include "core/server/cleanup/cleanup.h"
#include "core/server/cleanup/session.h"
#include "core/server/event/event.h"
#include "core/server/iof/server_iof.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/rpc.h"
#include "core/server/server.h"
#include "core/server/peer/timeline.h"
#include "core/server/upcall/module.h"
#include "core/server/upcall/upcall.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Descriptors for some hundred clients. */
enum { ROOM_FDS = 1024 };

struct start {
    struct px_server_start infos;
    struct px_server_conf conf;
    const pmix_server_module_t *module;
};

static void name_self(struct px_server *srv, const struct start *a)
{
    const char *nspace = px_info_str(a->infos.info, a->infos.n_info,
                                     PMIX_SERVER_NSPACE);
    char made[64];

    /* No dots: older clients end the name at the first dot. */
    snprintf(made, sizeof(made), "tenon-%ld", (long)getpid());
    px_proc_set(&srv->proc, nspace ? nspace : made,
                px_info_u32(a->infos.info, a->infos.n_info, PMIX_SERVER_RANK, 0));
}

/* An API call of this process. It is posted, so that its handler never runs inside the
 * call. */
struct own_request {
    struct px_msg msg;
    uint32_t tag;
    px_buf payload;
};

static void on_own_request(struct px_msg *msg)
{
    struct own_request *r = PX_CONTAINER_OF(msg, struct own_request, msg);
    struct px_server *srv = px_process.server; /* NULL after the server's end */

    if (srv && !srv->stopping)
        px_server_dispatch(srv, srv->self, r->tag, r->payload.data, r->payload.len);
    px_buf_cleanup(&r->payload);
    free(r);
}

static pmix_status_t own_send(void *ctx, uint32_t tag, px_buf *payload)
{
    struct px_server *srv = ctx;
    struct own_request *r = calloc(1, sizeof(*r));

    if (!r) {
        px_buf_cleanup(payload);
        return PMIX_ERR_NOMEM;
    }
    r->msg.run = on_own_request;
    r->tag = srv->client->own.last_tag = tag; /* the answer may come in another role */
    r->payload = px_buf_take(payload);
    px_post(srv->loop, &r->msg);
    return PMIX_SUCCESS;
}

/* Delivers an event of this process to its handlers and its clients. */
static pmix_status_t deliver_event(void *ctx, pmix_status_t code,
                                   const pmix_proc_t *source, pmix_data_range_t range,
                                   const px_infos *info)
{
    struct px_server *srv = ctx;

    PX_PARTS_NOTIFY(srv, host_event, code, source ? source : &srv->proc, info);
    /* A source does not get its event, but a new leader does. */
    px_server_event(srv, code, code == PMIX_GROUP_LEADER_SELECTED ? NULL : source,
                    range, info->v, info->n);
    return PMIX_SUCCESS;
}

static void replay_events(void *ctx, const struct px_handler *h)
{
    struct px_server *srv = ctx;

    px_server_replay(srv, h);
    px_notify_replay_own(srv->notify, h);
}

static const struct px_event_route route = {.deliver = deliver_event,
                                            .replay = replay_events};

void px_server_take_module(struct px_server *srv, const pmix_server_module_t *module)
{
    px_module_take(module, NULL, 0, &srv->module);
    px_notify_set_route(srv->notify, &route, srv);
}

static pmix_status_t make_self(struct px_server *srv)
{
    struct px_peer *p = calloc(1, sizeof(*p));

    if (!p)
        return PMIX_ERR_NOMEM;
    *p = (struct px_peer){.refs = 1,
                          .server = srv,
                          .proc = srv->proc,
                          .uid = geteuid(),
                          .gid = getegid(),
                          .pid = getpid(),
                          .codec = px_codec_default};
    srv->self = p;
    return PMIX_SUCCESS;
}

/* ---- the parts ------------------------------------------------------------------- */

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Returns the bytes that an object of n bytes takes in the block of a server. */
static size_t room_of(size_t n)
{
    return round_up(n, _Alignof(max_align_t));
}

/* Allocates a server and the zeroed states of its parts. Returns NULL without memory.
 * After each fork of the host, the first write to a page copies the page. One message
 * changes the states of many parts, which therefore share a few pages. */
static struct px_server *server_alloc(void)
{
    const struct px_server_part *const *p;
    const size_t page_b = (size_t)sysconf(_SC_PAGESIZE);
    size_t n = room_of(sizeof(struct px_server));

    for (p = px_server_parts; *p; p++)
        n += room_of((*p)->state_b);
    struct px_server *srv = aligned_alloc(page_b, round_up(n, page_b));

    if (!srv)
        return NULL;
    memset(srv, 0, n);
    char *state = (char *)srv + room_of(sizeof(*srv));
    for (p = px_server_parts; *p; p++)
        if ((*p)->state_b) {
            *(void **)((char *)&srv->part + (*p)->state_at) = state;
            state += room_of((*p)->state_b);
        }
    srv->parts = px_server_parts;
    return srv;
}

static void parts_stop(struct px_server *srv)
{
    for (size_t i = srv->n_parts; i-- > 0;)
        if (srv->parts[i]->stop)
            srv->parts[i]->stop(srv);
}

static void server_free(struct px_server *srv)
{
    if (srv->builtin)
        srv->host->destroy(srv->builtin);
    while (srv->n_parts > 0) {
        const struct px_server_part *part = srv->parts[--srv->n_parts];

        if (part->destroy)
            part->destroy(srv);
    }
    px_peer_unref(srv->self);
    free(srv->rows);
    free(srv->tmpdir);
    free(srv->system_tmpdir);
    free(srv);
}

static pmix_status_t create_parts(struct px_server *srv, struct start *a)
{
    while (srv->parts[srv->n_parts]) {
        const struct px_server_part *part = srv->parts[srv->n_parts];
        pmix_status_t rc = part->create ? part->create(srv, &a->infos) : PMIX_SUCCESS;

        if (rc)
            return rc;
        srv->n_parts++;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t fill(struct px_server *srv, struct start *a)
{
    pmix_status_t rc;

    name_self(srv, a);
    px_read_gate_close(srv->gate);
    srv->model->nodes_alike = px_info_flag(a->infos.info, a->infos.n_info,
                                           PMIX_HOMOGENEOUS_SYSTEM);
    px_read_gate_open(srv->gate);
    rc = make_self(srv);
    if (!rc)
        rc = px_part_rows_make(srv);
    if (rc)
        return rc;
    srv->conf = a->conf;
    srv->host = a->module ? NULL : &px_host_builtin;
    if (a->module)
        px_module_take(a->module, a->infos.info, a->infos.n_info, &srv->module);
    else
        rc = srv->host->create(srv, a->infos.info, a->infos.n_info, &srv->module,
                               &srv->builtin, a->infos.err);
    if (!rc)
        rc = create_parts(srv, a);
    const char *singleton = px_info_str(a->infos.info, a->infos.n_info, PMIX_SINGLETON);
    return rc || !singleton ? rc
                            : px_server_add_singleton(srv, singleton, a->infos.err);
}

static void on_start(struct px_call *call, void *args)
{
    struct start *a = args;
    struct px_client *client = px_process.client;
    struct px_server *srv = server_alloc();
    pmix_status_t rc = srv ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (srv) {
        struct px_list *const lists[] = {&srv->peers,
                                         &srv->upcalls,
                                         &srv->part.attributes,
                                         &srv->part.cached_events,
                                         &srv->part.commits,
                                         &srv->part.connected,
                                         &srv->part.deliveries,
                                         &srv->part.gathers,
                                         &srv->part.generations,
                                         &srv->part.invites,
                                         &srv->part.joined,
                                         &srv->part.psets,
                                         &srv->part.readings};

        for (size_t i = 0; i < PX_COUNT(lists); i++)
            px_list_init(lists[i]);
        srv->loop = client->loop;
        srv->client = client;
        srv->model = client->model;
        srv->gate = client->model->gate;
        srv->notify = client->notify;
        srv->node_name = client->model->hostname;
        px_process.server = srv;
        rc = fill(srv, a);
        client->own = (struct px_channel){.send = own_send,
                                          .ctx = srv,
                                          .codec = px_codec_default,
                                          .server = srv->proc};
        /* A process that is already a client stays that client. */
        if (!rc && !client->model->own)
            rc = px_role_serve_self(client);
        if (!rc)
            px_notify_set_route(srv->notify, &route, srv);
    }
    if (rc && srv) {
        parts_stop(srv);
        server_free(srv);
        px_process.server = NULL;
        client->own = (struct px_channel){0};
        px_resources_clear(client->model);
    }
    px_call_done(call, rc);
}

static void on_drained(void *arg)
{
    px_cleanup_finish(px_process.server, arg);
}

static void on_clean_up(struct px_call *call, void *args)
{
    px_relay_drain(args, NULL, on_drained, call);
}

static void on_stop(struct px_call *call, void *args)
{
    struct px_server *srv = args;
    struct px_client *client = srv->client;

    srv->stopping = true;
    px_upcalls_stop(srv); /* before the parts free what the answers refer to */
    parts_stop(srv);
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        px_server_peer_lost(srv, p, PMIX_SUCCESS);
    PX_PARTS_NOTIFY(srv, peer_left, srv->self);
    client->own = (struct px_channel){0};
    if (client->channel.ctx == srv)
        px_channel_fail(&client->channel, PMIX_ERR_LOST_CONNECTION);
    px_call_done(call, PMIX_SUCCESS);
}

/* Removes the jobs of the ended server, even if the process goes on as the client of
 * another server. */
static void forget_jobs(struct px_model *m)
{
    struct px_nspace *ns;
    size_t it = 0;

    while ((ns = px_map_next(&m->nspaces, &it, NULL, NULL))) {
        PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
            px_list_remove(&l->link);
            px_timeline_free(l->timeline);
            free(l);
        }
        if (ns->hosted && ns != m->own)
            px_nspace_remove(m, ns);
    }
    px_resources_clear(m);
    px_read_gate_close(m->gate);
    m->nodes_alike = false;
    px_read_gate_open(m->gate);
}

/* Frees the server in a second pass of the loop. Messages that the first pass posted,
 * such as replies to this process, have run by now. */
static void on_free(struct px_call *call, void *args)
{
    struct px_server *srv = args;
    struct px_model *m = srv->model;

    px_notify_set_route(srv->notify, NULL, NULL);
    server_free(srv); /* first: the component's process may take a while to end */
    px_process.server = NULL;
    forget_jobs(m);
    px_call_done(call, PMIX_SUCCESS);
}

static pmix_status_t server_begin(struct start *a)
{
    px_fd_make_room(ROOM_FDS);
    pmix_status_t rc = px_role_begin(PX_ROLE_SERVER, a->infos.info, a->infos.n_info,
                                     a->infos.err);

    if (rc)
        return rc;
    rc = px_params_parse(px_process.params, "server_", px_server_params, &a->conf,
                         a->infos.err);
    if (!rc)
        rc = px_call(px_process.loop, on_start, a);
    if (rc)
        px_role_end(PX_ROLE_SERVER);
    return rc;
}

#undef PMIx_server_init /* undo the header's macro, which passes the module's size */
PX_EXPORT pmix_status_t PMIx_server_init(pmix_server_module_t *module,
                                         pmix_info_t info[], size_t ninfo)
{
    struct px_err err = {0};
    struct start a = {.infos = {info, ninfo, &err}, .module = module};
    struct px_server *srv;
    pmix_status_t rc = PMIX_SUCCESS;

    if (ninfo && !info)
        return PMIX_ERR_BAD_PARAM;
    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    rc = px_required_check("PMIx_server_init", NULL, info, ninfo);
    if (rc)
        return rc;
    px_process_lock();
    srv = px_process.server;
    if (srv)
        srv->refs++;
    else
        rc = server_begin(&a);
    if (!rc)
        atomic_fetch_add(&px_process.init_count, 1);
    px_process_unlock();
    if (rc)
        px_log(PX_LOG_ERROR, "server", "cannot start: %s",
               err.text[0] ? err.text : PMIx_Error_string(rc));
    return rc;
}

PX_EXPORT pmix_status_t PMIx_server_finalize(void)
{
    struct px_server *srv;

    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    px_process_lock();
    srv = px_process.server;
    if (!srv) {
        px_process_unlock();
        return PMIX_ERR_INIT;
    }
    atomic_fetch_sub(&px_process.init_count, 1);
    if (srv->refs > 0) {
        srv->refs--;
    } else {
        struct px_loop *loop = srv->loop;

        /* Inits by PMIx_Init inside the server end with the server. */
        atomic_fetch_sub(&px_process.init_count, px_process.nested_inits);
        px_process.nested_inits = 0;
        if (srv->builtin)
            srv->host->end_jobs(srv->builtin);
        (void)px_call(loop, on_clean_up, srv);
        (void)px_call(loop, on_stop, srv);
        px_made_remove(srv); /* may take long: not on the loop */
        (void)px_call(loop, on_free, srv);
        px_role_end(PX_ROLE_SERVER);
    }
    px_process_unlock();
    return PMIX_SUCCESS;
}
