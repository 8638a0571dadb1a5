/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to servers, and the choice of the primary server. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"

#include <string.h>

/* A private info of servers, removed before users see the event. */
#define SERVER_TAG "pmix.srvr.internal.notify"

/* ---- frames ---------------------------------------------------------------------- */

struct px_channel *px_uplink_channel(struct px_uplink *link)
{
    struct px_client *client = link->client;

    return client->role->primary == link ? &client->channel : &link->up;
}

static pmix_status_t on_event(struct px_client *client, px_reader *r)
{
    struct px_args e = {.directive = PMIX_RANGE_UNDEF};
    uint8_t op;
    pmix_status_t rc = px_unpack_u8(r, &op, PMIX_COMMAND);

    if (!rc && op != PX_OP_NOTIFY)
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        rc = px_unpack_args(r, &e, px_request_event.args);
    if (!rc) {
        px_infos_drop(&e.info, SERVER_TAG);
        /* The server has selected this process, so the range does not matter. */
        rc = px_notify_take(client->notify, e.code, e.procs, e.directive, &e.info,
                            true);
    }
    px_args_cleanup(&e);
    return rc;
}

/* Counts heartbeats by a descriptor of the server from now on. */
static void count_beats_by(struct px_uplink *link, int *fd)
{
    px_drop_fd(&link->beats_fd);
    link->beats_fd = px_take_fd(fd);
}

static void on_frame(void *arg, const struct px_frame *frame, const uint8_t *payload)
{
    struct px_uplink *link = arg;
    struct px_client *client = link->client;
    struct px_channel *up = px_uplink_channel(link);
    pmix_status_t rc;
    px_reader r;

    px_reader_init(&r, up->codec, payload, frame->nbytes);
    if (frame->tag == PX_TAG_NOTIFY) {
        rc = on_event(client, &r);
        if (rc)
            px_log(PX_LOG_WARN, "client", "event from the server dropped: %s",
                   PMIx_Error_string(rc));
    } else if (frame->tag == PX_TAG_IOF) {
        rc = px_iof_receive(link->output.receivers, &r);
        if (rc)
            px_log(rc == PMIX_ERR_NOT_FOUND ? PX_LOG_DEBUG : PX_LOG_WARN, "client",
                   "forwarded output dropped: %s", PMIx_Error_string(rc));
        if (px_iof_producer_is_stopped(&link->output))
            px_conn_pause(link->conn, true);
    } else if (frame->tag == PX_TAG_STORE) {
        PX_AUTOCLOSE int fd = px_conn_take_fd(link->conn);
        if (frame->nbytes > 0)
            (void)px_jobinfo_attach(client->model, &r, fd);
        else
            count_beats_by(link, &fd);
    } else if (frame->tag > PX_TAG_DYNAMIC &&
               px_channel_reply(up, frame->tag, payload, frame->nbytes)) {
        px_log(PX_LOG_WARN, "client", "reply to a request never made (tag %u)",
               frame->tag);
    }
}

static void on_lost(void *arg, pmix_status_t why PX_UNUSED)
{
    struct px_uplink *link = arg;
    struct px_client *client = link->client;
    pmix_proc_t server = link->server;

    px_uplink_close(link, PMIX_ERR_LOST_CONNECTION);
    (void)px_notify_deliver(client->notify, PMIX_ERR_LOST_CONNECTION, &server,
                            PMIX_RANGE_PROC_LOCAL, NULL, 0);
}

static const struct px_conn_ops conn_ops = {
    .on_frame = on_frame, .on_lost = on_lost, .fd_tag = PX_TAG_STORE};

static pmix_status_t send_frame(void *ctx, uint32_t tag, px_buf *payload)
{
    struct px_uplink *link = ctx;

    if (link->asked) {
        link->asked = false;
        px_buf_cleanup(payload);
        return PMIX_SUCCESS;
    }
    if (tag == PX_TAG_HEARTBEAT && link->beats_fd >= 0 &&
        PX_RETRY(write(link->beats_fd, &(uint64_t){1}, sizeof(uint64_t))) > 0)
        return PMIX_SUCCESS; /* such a frame has no payload */
    return px_conn_send(link->conn, (int32_t)link->pindex, tag, payload);
}

/* Reads again after the receivers have room. */
static void resume(void *arg)
{
    struct px_uplink *link = arg;

    px_conn_pause(link->conn, false);
}

/* ---- life ------------------------------------------------------------------------ */

pmix_status_t px_uplink_open(struct px_client *client, struct px_server_addr *c,
                             struct px_uplink **out)
{
    struct px_uplink *link = calloc(1, sizeof(*link));
    pmix_status_t rc;

    if (!link)
        return PMIX_ERR_NOMEM;
    rc = px_conn_create(client->loop, c->fd, &conn_ops, link, &link->conn);
    if (rc) {
        free(link);
        return rc;
    }
    c->fd = link->beats_fd = -1;
    link->client = client;
    link->server = c->uri.server;
    memcpy(link->address, c->uri.address, sizeof(link->address));
    link->pindex = c->pindex;
    link->asked = c->asked;
    link->is_ours = c->faster;
    link->up = (struct px_channel){.send = send_frame,
                                   .ctx = link,
                                   .codec = c->codec,
                                   .server = c->uri.server,
                                   .server_version = c->version};
    px_list_append(&client->role->links, &link->link);
    link->output = (struct px_iof_producer){
        .server = link->server, .resume = resume, .arg = link};
    px_iof_producer_attach(&link->output, client->receivers);
    client->receivers->shows_unasked = true;
    *out = link;
    return PMIX_SUCCESS;
}

void px_uplink_close(struct px_uplink *link, pmix_status_t why)
{
    struct px_client *client = link->client;
    struct px_channel up;

    px_iof_producer_detach(&link->output);
    px_conn_destroy(link->conn);
    px_drop_fd(&link->beats_fd);
    px_iof_receivers_flush(client->receivers, &link->server);
    if (client->role->primary == link)
        (void)px_uplink_make_primary(client, NULL);
    px_list_remove(&link->link);
    /* Fail the requests after the link is gone: a callback may begin a new call. */
    up = link->up;
    free(link);
    px_channel_fail(&up, why);
}

struct px_channel *px_uplink_way_to(struct px_client *client, const pmix_proc_t *server)
{
    struct px_uplink *link;

    if (px_proc_same(&client->channel.server, server))
        return &client->channel;
    link = client->role ? px_uplink_find(client, server) : NULL;
    return link ? px_uplink_channel(link) : NULL;
}

struct px_uplink *px_uplink_find(const struct px_client *client,
                                 const pmix_proc_t *server)
{
    PX_LIST_EACH (&client->role->links, struct px_uplink, l, link)
        if (px_proc_match(&l->server, server))
            return l;
    return NULL;
}

/* Switches the encoding of values to put. Fails if values are packed already in another
 * encoding. */
static pmix_status_t adopt_codec(struct px_client *client, struct px_codec codec)
{
    const px_writer *put = &client->put;

    if (put->codec.dialect == codec.dialect && put->codec.described == codec.described)
        return PMIX_SUCCESS;
    if (put->buf.len)
        return PMIX_ERR_NOT_SUPPORTED;
    px_client_reset_put(client, codec);
    return PMIX_SUCCESS;
}

/* Stores the name and the address of the server as values that programs may get. */
static pmix_status_t note_server(struct px_model *m, const struct px_uplink *link)
{
    PX_AUTOFREE char *uri = px_strf("%s.%u;%s", link->server.nspace, link->server.rank,
                                    link->address);
    const struct {
        const char *key;
        const void *data;
        pmix_data_type_t type;
    } facts[] = {
        {PMIX_SERVER_URI, uri, PMIX_STRING},
        {PMIX_SERVER_NSPACE, link->server.nspace, PMIX_STRING},
        {PMIX_SERVER_RANK, &link->server.rank, PMIX_PROC_RANK},
    };
    pmix_status_t rc = uri ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    for (size_t i = 0; !rc && i < PX_COUNT(facts); i++) {
        pmix_value_t v;

        rc = px_value_borrow(&v, facts[i].data, facts[i].type);
        if (!rc)
            rc = px_store_put(&m->own->store, PX_GDS_INTERNAL, m->self.rank,
                              facts[i].key, &v);
    }
    return rc;
}

pmix_status_t px_uplink_make_primary(struct px_client *client, struct px_uplink *link)
{
    struct px_client_role *role = client->role;
    pmix_status_t rc;

    if (role->primary == link)
        return PMIX_SUCCESS;
    rc = link ? adopt_codec(client, link->up.codec) : PMIX_SUCCESS;
    if (link && !rc && client->standalone)
        rc = px_client_put_again(client);
    if (link && !rc)
        rc = note_server(client->model, link);
    if (rc)
        return rc;
    if (role->primary) {
        role->primary->up = client->channel;
        client->channel = (struct px_channel){.codec = client->put.codec};
    } else if (client->channel.send) {
        client->own.last_tag = client->channel.last_tag; /* answers may still come */
        px_channel_fail(&client->channel, PMIX_ERR_LOST_CONNECTION);
    }
    px_invitations_end(client, PMIX_ERR_LOST_CONNECTION);
    role->primary = link;
    if (!link)
        return PMIX_SUCCESS;
    client->channel = link->up;
    link->up = (struct px_channel){0};
    client->standalone = false;
    return PMIX_SUCCESS;
}

/* ---- leaving --------------------------------------------------------------------- */

struct goodbye {
    struct px_client *client;
    pmix_proc_t server; /* the server found; a request may name any server of a
                         * namespace */
    struct px_call *call;
    struct px_timer *timer;
    size_t progress;   /* px_iof_receivers_progress when the timer was set */
    uint64_t since_ms; /* time of the last progress */
};

/* Closes the link if it still exists. A pending finalize request then fails and calls
 * on_goodbye_end. */
static void shut(void *goodbye)
{
    struct goodbye *g = goodbye;
    struct px_uplink *link = px_uplink_find(g->client, &g->server);

    if (link)
        px_uplink_close(link, PMIX_ERR_UNREACH);
}

/* Extends the timeout while output makes progress. The answer comes after all output
 * for this process. This process may have to wait for the reader of its own output. */
static void on_no_answer(void *goodbye)
{
    struct goodbye *g = goodbye;
    const struct px_iof_receivers *receivers = g->client->receivers;
    const uint64_t timeout_ms = g->client->role->conf.finalize_timeout;
    const uint64_t drain_ms = px_process.iof_drain_ms;
    uint64_t limit_ms = timeout_ms;
    uint64_t waited_ms = px_clock_ms() - g->since_ms;
    size_t held_b, progress = px_iof_receivers_progress(receivers, &held_b);

    if (held_b > 0 && limit_ms < drain_ms)
        limit_ms = drain_ms;
    if (progress != g->progress)
        g->since_ms += waited_ms;
    if (progress != g->progress || waited_ms < limit_ms) {
        g->progress = progress;
        px_timer_set(g->timer, timeout_ms);
        return;
    }
    if (!px_list_empty(&receivers->list))
        px_log(PX_LOG_ERROR, "client",
               "PMIx_Finalize: forwarded output may be lost: %s for %llu ms (%s)",
               held_b > 0 ? "the reader of this process's output has not read"
                          : "the server has sent nothing",
               (unsigned long long)waited_ms,
               held_b > 0 ? "iof_drain_timeout" : "client_finalize_timeout");
    shut(g);
}

static void on_goodbye_end(void *arg, pmix_status_t status PX_UNUSED,
                           px_reader *r PX_UNUSED)
{
    struct goodbye *g = arg;

    px_timer_free(g->timer);
    shut(g);
    px_call_done(g->call, PMIX_SUCCESS);
}

static void on_goodbye(struct px_call *call, void *args)
{
    struct goodbye *g = args;
    const struct px_client_role *role = g->client->role;
    struct px_uplink *link = px_uplink_find(g->client, &g->server);
    struct px_channel *up;
    size_t held_b;
    px_writer w;

    if (!link) {
        px_call_done(call, PMIX_ERR_NOT_FOUND);
        return;
    }
    up = px_uplink_channel(link);
    g->call = call;
    g->server = link->server;
    g->since_ms = px_clock_ms();
    g->progress = px_iof_receivers_progress(g->client->receivers, &held_b);
    g->timer = px_timer_create(g->client->loop, on_no_answer, g);
    if (g->timer) {
        px_timer_set(g->timer, g->client->role->conf.finalize_timeout);
        px_channel_begin(up, &w, PX_OP_FINALIZE);
        if (link->is_ours && role->own_ns[PX_OWN_INIT])
            px_pack(&w, role->own_ns, PX_N_OWN_TIMES, PMIX_UINT64);
    }
    if (!g->timer || px_channel_request(up, &w, on_goodbye_end, g))
        on_goodbye_end(g, PMIX_SUCCESS, NULL);
}

pmix_status_t px_uplink_leave(struct px_client *client, const pmix_proc_t *server)
{
    struct goodbye g = {.client = client, .server = *server};

    return px_call(client->loop, on_goodbye, &g);
}

/* ---- list of servers ------------------------------------------------------------- */

struct listing {
    const struct px_client_role *role;
    pmix_proc_t *servers;
    size_t room, n;
};

static void on_list(struct px_call *call, void *args)
{
    struct listing *all = args;
    const struct px_client_role *role = all->role;

    for (int primary = 1; primary >= 0; primary--) {
        PX_LIST_EACH (&role->links, struct px_uplink, l, link)
            if ((l == role->primary) == primary && all->n++ < all->room)
                all->servers[all->n - 1] = l->server;
    }
    px_call_done(call, PMIX_SUCCESS);
}

size_t px_client_servers(struct px_client *client, pmix_proc_t *servers, size_t n)
{
    struct listing all = {.role = client->role, .servers = servers, .room = n};

    (void)px_call(client->loop, on_list, &all);
    return all.n;
}
