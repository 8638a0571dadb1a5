/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners: every selected transport has an address. One more listener may serve tools
 * on other machines. Connections go to the handshake. */
#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/role/security.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/door/remote.h"
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
        px_handshake_start(l, conn, &who);
    }
}

static pmix_status_t listen_on(struct px_server *srv, const struct px_module *ptl,
                               bool is_remote, struct px_err *err)
{
    struct px_listener *l = &srv->part.door->listeners[srv->part.door->n_listeners];

    *l = (struct px_listener){
        .ptl = ptl, .fd = -1, .server = srv, .is_remote = is_remote};
    pmix_status_t rc = is_remote
                           ? ops_of(ptl)->listen_remote(ptl->self, &l->fd, l->address,
                                                        sizeof(l->address))
                           : ops_of(ptl)->listen(ptl->self, srv->dir, &l->fd,
                                                 l->address, sizeof(l->address));
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
            listen_on(srv, &ptls[i], false, &last))
            px_log(PX_LOG_INFO, "server", "%s", last.text);
    if (srv->part.door->n_listeners == 0)
        return px_err_set(err, last.status, "%s", last.text);
    set_uris(srv);
    return PMIX_SUCCESS;
}

/* True if a parameter or the host asks for tools on other machines, and the host does
 * not forbid them. */
static bool wants_remote(const struct px_server *srv,
                         const struct px_server_start *start)
{
    const pmix_info_t *info = px_info_find(start->info, start->n_info,
                                           PMIX_SERVER_REMOTE_CONNECTIONS);

    return srv->conf.remote_connections && (!info || px_value_truth(&info->value));
}

/* Listens for other machines on the first transport that can. */
static pmix_status_t listen_far(struct px_server *srv, const struct px_module *psec,
                                struct px_err *err)
{
    struct px_door *door = srv->part.door;
    size_t n;
    const struct px_module *ptls = px_modules("ptl", &n);
    pmix_status_t rc = px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                                  "no selected transport listens for other machines");

    for (size_t i = 0; i < n && rc; i++)
        if (ops_of(&ptls[i])->listen_remote)
            rc = listen_on(srv, &ptls[i], true, err);
    if (rc)
        return rc;
    snprintf(door->remote_uri, sizeof(door->remote_uri), "%s.%u;%s", srv->proc.nspace,
             srv->proc.rank, door->listeners[door->n_listeners - 1].address);
    door->remote = px_remote_create(srv, psec);
    return door->remote ? PMIX_SUCCESS : px_err_nomem(err, "listen");
}

/* Admits tools on other machines, if they are wanted. Nothing but a credential proves
 * their users. Where they cannot be admitted, only a host that requires them gets an
 * error. */
static pmix_status_t admit_remote(struct px_server *srv,
                                  const struct px_server_start *start)
{
    const struct px_module *psec = px_security_remote();
    const bool is_required = requires(start, PMIX_SERVER_REMOTE_CONNECTIONS);
    struct px_err why = {0};
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;

    if (!wants_remote(srv, start) && !is_required)
        return PMIX_SUCCESS;
    if (!wants_remote(srv, start))
        px_err_set(&why, rc, "server_remote_connections is false");
    else if (!srv->part.door->tools)
        px_err_set(&why, rc, "the host's module has no tool_connected");
    else if (!psec)
        px_err_set(&why, rc, "psec/munge cannot be used: %s",
                   px_component_unused("psec", "munge"));
    else
        rc = listen_far(srv, psec, &why);
    if (!rc || rc == PMIX_ERR_NOMEM)
        return rc;
    if (is_required)
        return px_err_set(start->err, PMIX_ERR_NOT_SUPPORTED,
                          "cannot honour PMIX_SERVER_REMOTE_CONNECTIONS: %s", why.text);
    px_log(PX_LOG_WARN, "server", "cannot admit tools on other machines: %s", why.text);
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
    px_remote_destroy(px_take(&srv->part.door->remote));
    px_log_rate_destroy(px_take(&srv->part.door->rate));
}

static pmix_status_t create(struct px_server *srv, const struct px_server_start *start)
{
    struct px_door *door = srv->part.door;
    bool wanted = wants_remote(srv, start) ||
                  px_rendezvous_wanted(srv, start->info, start->n_info);

    px_list_init(&door->handshakes);
    px_list_init(&door->files);
    door->rate = px_log_rate_create(srv->loop, LOG_PERIOD_MS);
    if (!door->rate)
        return PMIX_ERR_NOMEM;
    door->tools_foreign = px_info_flag(start->info, start->n_info,
                                       PMIX_SERVER_ALLOW_FOREIGN_TOOLS);
    /* Without a slot for tools, all would be refused. */
    door->tools_asked = wanted && (srv->host || srv->module.tool_connected2 ||
                                   srv->module.tool_connected);
    /* A launcher's user may look at the jobs, unless the launcher decides about
     * tools. */
    door->tools_private = srv->host && !px_info_find(start->info, start->n_info,
                                                     PMIX_SERVER_TOOL_SUPPORT);
    door->tools = door->tools_asked || door->tools_private;
    if (wanted && !door->tools)
        px_log(PX_LOG_WARN, "server",
               "tools are refused, and no rendezvous file is written: the host's "
               "module has no tool_connected");
    pmix_status_t rc = listen_all(srv, start);
    if (!rc)
        rc = admit_remote(srv, start);
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
