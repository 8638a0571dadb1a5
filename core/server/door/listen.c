/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners: every selected transport has an address. Connections go to the
 * handshake. */
#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/server.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define MAX_ACCEPTS_PER_TURN 32
#define PAUSE_MS             100
#define LOG_PERIOD_MS        10000

static const struct px_ptl_ops *ops_of(const struct px_module *m)
{
    return m->component->ops;
}

static void on_pause_over(void *arg)
{
    struct px_listener *l = arg;

    if (px_watch_set(l->watch, PX_READABLE))
        px_timer_set(l->pause, PAUSE_MS);
}

/* Pauses when out of descriptors. Ending a silent handshake frees one; other
 * connections wait in the backlog. Without the pause the loop would spin on the ready
 * listener. */
static void pause_listening(struct px_listener *l)
{
    struct pollfd waiting = {.fd = l->fd, .events = POLLIN};

    if (poll(&waiting, 1, 0) <= 0) /* accept needs a descriptor first */
        return;
    px_log_limited(l->server->part.door->rate, (uid_t)-1, PMIX_ERR_OUT_OF_RESOURCE,
                   "server", "cannot accept a connection: out of file descriptors");
    px_handshake_evict(l->server);
    (void)px_watch_set(l->watch, 0);
    px_timer_set(l->pause, PAUSE_MS);
}

static void on_connection(void *arg, int fd, unsigned events PX_UNUSED)
{
    struct px_listener *l = arg;

    for (int i = 0; i < MAX_ACCEPTS_PER_TURN; i++) {
        struct px_ptl_peer who = {0};
        int conn = -1;
        pmix_status_t rc = ops_of(l->ptl)->accept(l->ptl->self, fd, &conn, &who);

        if (rc == PMIX_ERR_WOULD_BLOCK)
            return;
        if (rc == PMIX_ERR_OUT_OF_RESOURCE) {
            pause_listening(l);
            return;
        }
        if (rc)
            continue;
        px_handshake_start(l->server, conn, &who);
    }
}

static pmix_status_t listen_on(struct px_server *srv, const struct px_module *ptl,
                               struct px_err *err)
{
    struct px_listener *l = &srv->part.door->listeners[srv->part.door->n_listeners];

    *l = (struct px_listener){.ptl = ptl, .fd = -1, .server = srv};
    pmix_status_t rc = ops_of(ptl)->listen(ptl->self, srv->dir, &l->fd, l->address,
                                           sizeof(l->address));
    if (rc)
        return px_err_set(err, rc, "ptl/%s cannot listen: %s", ptl->component->name,
                          PMIx_Error_string(rc));
    l->watch = px_watch_create(srv->loop, l->fd, PX_READABLE, on_connection, l);
    l->pause = px_timer_create(srv->loop, on_pause_over, l);
    if (!l->watch || !l->pause) {
        px_watch_free(l->watch);
        px_timer_free(l->pause);
        ops_of(ptl)->unlisten(ptl->self, l->fd, l->address);
        return px_err_set(err, PMIX_ERR_NOMEM, "ptl/%s: out of memory",
                          ptl->component->name);
    }
    srv->part.door->n_listeners++;
    return PMIX_SUCCESS;
}

/* Sets the addresses. Other libraries support only tcp; this library uses the best
 * address, from TENON_SERVER_URI. */
static void set_uris(struct px_server *srv)
{
    const struct px_door *door = srv->part.door;
    const char *best = door->listeners[0].address, *common = best;

    for (size_t i = 0; i < door->n_listeners; i++)
        if (px_str_starts(door->listeners[i].address, "tcp"))
            common = door->listeners[i].address;
    snprintf(srv->uri, sizeof(srv->uri), "%s.%u;%s", srv->proc.nspace, srv->proc.rank,
             common);
    srv->own_uri[0] = '\0';
    if (strcmp(common, best) != 0)
        snprintf(srv->own_uri, sizeof(srv->own_uri), "%s;%s", srv->uri, best);
}

/* True if the host requires an attribute. Launchers set the attributes of listeners by
 * habit, so an attribute that is not required does not count. */
static bool requires(const struct px_server_start *start, const char *key)
{
    const pmix_info_t *info = px_info_find(start->info, start->n_info, key);

    return info && PMIX_INFO_IS_REQUIRED(info) && px_value_truth(&info->value);
}

/* Listens on every selected transport. A single listener is the one that clients of all
 * libraries know, if it is selected. */
static pmix_status_t listen_all(struct px_server *srv,
                                const struct px_server_start *start)
{
    size_t n;
    const struct px_module *ptls = px_modules("ptl", &n);
    const bool is_single = requires(start, PMIX_SINGLE_LISTENER);
    const bool no_unix = requires(start, PMIX_USOCK_DISABLE) || (is_single && n > 1);
    const size_t most = is_single ? 1 : PX_MAX_LISTENERS;
    struct px_err last = {.status = PMIX_ERR_NOT_FOUND,
                          .text = "no transport is selected"};
    struct px_err *err = start->err;

    for (size_t i = 0; i < n && srv->part.door->n_listeners < most; i++)
        if ((!no_unix || strcmp(ptls[i].component->name, "usock") != 0) &&
            listen_on(srv, &ptls[i], &last))
            px_log(PX_LOG_INFO, "server", "%s", last.text);
    if (srv->part.door->n_listeners == 0)
        return px_err_set(err, last.status, "%s", last.text);
    set_uris(srv);
    return PMIX_SUCCESS;
}

static void unlisten(struct px_server *srv)
{
    for (size_t i = 0; i < srv->part.door->n_listeners; i++) {
        struct px_listener *l = &srv->part.door->listeners[i];

        px_watch_free(l->watch);
        px_timer_free(l->pause);
        ops_of(l->ptl)->unlisten(l->ptl->self, l->fd, l->address);
    }
    srv->part.door->n_listeners = 0;
}

/* ---- the part -------------------------------------------------------------------- */

static void stop(struct px_server *srv)
{
    px_rendezvous_withdraw(srv);
    unlisten(srv);
    px_handshakes_stop(srv);
    px_log_rate_destroy(px_take(&srv->part.door->rate));
}

static pmix_status_t create(struct px_server *srv, const struct px_server_start *start)
{
    struct px_door *door = srv->part.door;
    bool wanted = px_rendezvous_wanted(srv, start->info, start->n_info);

    px_list_init(&door->handshakes);
    px_list_init(&door->files);
    door->rate = px_log_rate_create(srv->loop, LOG_PERIOD_MS);
    if (!door->rate)
        return PMIX_ERR_NOMEM;
    door->tools_foreign = px_info_flag(start->info, start->n_info,
                                       PMIX_SERVER_ALLOW_FOREIGN_TOOLS);
    /* Without a slot for tools, all would be refused. */
    door->tools = wanted && (srv->host || srv->module.tool_connected2 ||
                             srv->module.tool_connected);
    if (wanted && !door->tools)
        px_log(PX_LOG_WARN, "server",
               "tools are refused, and no rendezvous file is written: the host's "
               "module has no tool_connected");
    pmix_status_t rc = listen_all(srv, start);
    if (!rc)
        rc = px_rendezvous_publish(srv, start->info, start->n_info, start->err);
    if (rc)
        stop(srv);
    return rc;
}

const struct px_server_part px_door_part = {
    .name = "door",
    PX_PART_STATE(door, struct px_door),
    .create = create,
    .peer_gone = px_door_peer_gone,
    .stop = stop,
};
