/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool's servers: connecting to another server, leaving a server, choosing the
 * primary one. */
#include "core/rt/log.h"
#include "core/tool/tool.h"

#include <string.h>

/* ---- attach ---------------------------------------------------------------------- */

pmix_status_t px_tool_attach(const pmix_info_t *info, size_t n_info, bool has_name,
                             struct px_start *s)
{
    size_t n = px_client_servers(s->client, NULL, 0); /* the number can only decrease
                                                       * afterwards */
    PX_AUTOFREE pmix_proc_t *have = calloc(n + 1, sizeof(*have));
    struct px_discovery d = {.client = s->client,
                             .info = info,
                             .n_info = n_info,
                             .has_name = has_name,
                             .have = have,
                             .addr = &s->addr};
    pmix_status_t rc;

    if (!have)
        return PMIX_ERR_NOMEM;
    d.n_have = px_client_servers(s->client, have, n);
    s->primary = d.n_have == 0 || px_info_flag(info, n_info, PMIX_PRIMARY_SERVER);
    s->addr.self = s->client->model->self;
    rc = px_tool_discover(&d, &s->err);
    if (rc == PMIX_ERR_EXISTS)
        return PMIX_SUCCESS;
    return rc ? rc : px_client_start(s);
}

/* Takes the process lock, unless it fails. Checks the role (PMIX_ERR_INIT) before the
 * arguments. */
static pmix_status_t enter_as(bool tool_only, bool sound, struct px_client **client)
{
    bool has_role;
    pmix_status_t rc;

    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    px_process_lock();
    *client = px_process.client;
    has_role = tool_only ? px_tool_of(*client) != NULL : *client && (*client)->role;
    rc = !has_role ? PMIX_ERR_INIT : sound ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    if (rc)
        px_process_unlock();
    return rc;
}

static pmix_status_t enter(bool sound, struct px_client **client)
{
    return enter_as(true, sound, client);
}

pmix_status_t px_tool_ready(bool sound)
{
    struct px_client *client;
    pmix_status_t rc = enter(sound, &client);

    if (!rc)
        px_process_unlock();
    return rc;
}

static void on_arrival(struct px_call *call, void *client)
{
    if (px_tool_of(client))
        px_tool_wake(client, PMIX_SUCCESS);
    px_call_done(call, PMIX_SUCCESS);
}

PX_EXPORT pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t *proc,
                                                   pmix_proc_t *server,
                                                   pmix_info_t info[], size_t ninfo)
{
    struct px_start s = {.addr = {.fd = -1}};
    pmix_status_t rc = enter_as(false, ninfo == 0 || info, &s.client);

    if (rc)
        return rc;
    rc = px_required_check("PMIx_tool_attach_to_server", NULL, info, ninfo);
    if (!rc)
        rc = px_tool_attach(info, ninfo, true, &s);
    if (!rc) {
        (void)px_call(s.client->loop, on_arrival, s.client);
        if (proc)
            *proc = s.client->model->self;
        if (server)
            *server = s.addr.uri.server;
    }
    px_process_unlock();
    if (rc && s.err.text[0])
        px_log(PX_LOG_INFO, "tool", "PMIx_tool_attach_to_server: %s", s.err.text);
    return rc;
}

/* Attaches to a server and makes it primary. Older tools had a single server. */
PX_EXPORT pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t *proc,
                                                    pmix_info_t info[], size_t ninfo)
{
    PX_AUTO(px_infos) more = {0};
    bool yes = true;
    pmix_status_t rc = px_tool_ready(ninfo == 0 || info);

    if (!rc)
        rc = px_infos_add_copy(&more, info, ninfo);
    if (!rc)
        rc = px_infos_add(&more, PMIX_PRIMARY_SERVER, &yes, PMIX_BOOL);
    return rc ? rc : PMIx_tool_attach_to_server(proc, NULL, more.v, more.n);
}

PX_EXPORT pmix_status_t PMIx_tool_disconnect(const pmix_proc_t *server)
{
    struct px_client *client;
    pmix_status_t rc = enter(server, &client);

    if (rc)
        return rc;
    rc = px_uplink_leave(client, server);
    px_process_unlock();
    return rc;
}

/* ---- list of servers ------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_tool_get_servers(pmix_proc_t *servers[], size_t *nservers)
{
    struct px_client *client;
    pmix_status_t rc = enter(servers && nservers, &client);
    size_t room;

    if (rc)
        return rc;
    *nservers = 0;
    room = px_client_servers(client, NULL, 0);
    *servers = room ? px_type_create_array(PMIX_PROC, room) : NULL;
    if (*servers)
        *nservers = px_client_servers(client, *servers, room);
    px_process_unlock();
    if (*nservers)
        return PMIX_SUCCESS;
    free(*servers);
    rc = room && !*servers ? PMIX_ERR_NOMEM : PMIX_ERR_UNREACH;
    *servers = NULL;
    return rc;
}

static bool has_primary(const struct px_client *client)
{
    return px_tool_of(client) && client->role->primary;
}

static void on_connected(struct px_api *api)
{
    px_api_done(api, has_primary(api->client) ? PMIX_SUCCESS : PMIX_ERR_UNREACH);
}

PX_EXPORT bool PMIx_tool_is_connected(void)
{
    struct px_api op = {.start = on_connected};

    return px_process_on_loop() ? has_primary(px_process.client)
                                : px_api_wait(&op) == PMIX_SUCCESS;
}

/* ---- primary server -------------------------------------------------------------- */

struct set_op {
    struct px_api api;
    struct px_list link; /* in px_tool.waiters */
    const pmix_proc_t *server;
    struct px_timer *timer;
    bool wait;
    uint32_t seconds; /* 0: no limit */
};

static void set_end(struct set_op *op, pmix_status_t status)
{
    px_list_remove(&op->link);
    px_timer_free(op->timer);
    px_api_done(&op->api, status);
}

static void on_set_late(void *arg)
{
    set_end(arg, PMIX_ERR_TIMEOUT);
}

static void on_set(struct px_api *api)
{
    struct set_op *op = PX_CONTAINER_OF(api, struct set_op, api);
    struct px_client *client = api->client;
    struct px_tool *tool = px_tool_of(client);
    struct px_uplink *link = tool ? px_uplink_find(client, op->server) : NULL;

    if (!tool || link || !op->wait) {
        px_api_done(api, !tool  ? PMIX_ERR_INIT
                         : link ? px_uplink_make_primary(client, link)
                                : PMIX_ERR_UNREACH);
        return;
    }
    px_list_append(&tool->waiters, &op->link);
    if (!op->seconds)
        return;
    op->timer = px_timer_create(api->loop, on_set_late, op);
    if (op->timer)
        px_timer_set(op->timer, op->seconds * 1000ull);
    else
        set_end(op, PMIX_ERR_NOMEM);
}

void px_tool_wake(struct px_client *client, pmix_status_t status)
{
    PX_LIST_EACH (&px_tool_of(client)->waiters, struct set_op, op, link) {
        struct px_uplink *link = px_uplink_find(client, op->server);

        if (status)
            set_end(op, status);
        else if (link)
            set_end(op, px_uplink_make_primary(client, link));
    }
}

PX_EXPORT pmix_status_t PMIx_tool_set_server(const pmix_proc_t *server,
                                             pmix_info_t info[], size_t ninfo)
{
    struct set_op op = {.api = {.start = on_set}, .server = server};
    pmix_status_t rc = px_tool_ready(server && (ninfo == 0 || info));

    if (!rc)
        rc = px_required_check("PMIx_tool_set_server", NULL, info, ninfo);
    if (rc)
        return rc;
    op.wait = px_info_flag(info, ninfo, PMIX_WAIT_FOR_CONNECTION);
    op.seconds = px_info_u32(info, ninfo, PMIX_TIMEOUT, 0);
    return px_api_wait(&op.api);
}
