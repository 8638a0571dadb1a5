/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_tool_init and PMIx_tool_finalize, and a tool's change into a server. */
#include "core/base/env.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/notify/notify.h"
#include "core/role/role.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/door/door.h"
#include "core/server/server.h"
#include "core/tool/tool.h"

#include <string.h>
#include <sys/stat.h>

/* ---- the tool's name ------------------------------------------------------------- */

static pmix_status_t name_from(const pmix_info_t *info, size_t n_info,
                               struct px_discovery *d, struct px_err *err)
{
    const char *nspace = px_info_str(info, n_info, PMIX_TOOL_NSPACE);
    bool has_rank = px_info_find(info, n_info, PMIX_TOOL_RANK) != NULL;
    uint32_t rank = px_info_u32(info, n_info, PMIX_TOOL_RANK, 0);

    if (has_rank && !nspace)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "PMIX_TOOL_RANK without PMIX_TOOL_NSPACE");
    if (!nspace) {
        pmix_status_t rc = px_client_identity(&d->addr->self, &d->inherited, err);

        d->has_name = d->inherited;
        return rc;
    }
    if (!nspace[0] || strlen(nspace) > PMIX_MAX_NSLEN || rank > PMIX_RANK_VALID)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "PMIX_TOOL_NSPACE or PMIX_TOOL_RANK is invalid");
    px_proc_set(&d->addr->self, nspace, rank);
    d->has_name = true;
    return PMIX_SUCCESS;
}

/* ---- the initiator --------------------------------------------------------------- */

static void on_keepalive(void *arg, int fd, unsigned events PX_UNUSED)
{
    const struct px_client *client = arg;
    char byte;

    if (read(fd, &byte, 1) != 0)
        return; /* bytes in the pipe have no meaning */
    /* Keep the pipe open. The environment still has its number, and a later tool of
     * this process must not take another descriptor for the pipe. */
    px_watch_free(px_take(&px_tool_of(client)->keepalive));
    (void)px_notify_deliver(client->notify, PMIX_EVENT_JOB_END, &client->model->self,
                            PMIX_RANGE_PROC_LOCAL, NULL, 0);
}

struct pipe {
    struct px_client *client;
    int fd;
};

static void on_watch_keepalive(struct px_call *call, void *args)
{
    const struct pipe *pipe = args;
    struct px_client *client = pipe->client;
    struct px_tool *tool = px_tool_of(client);

    if (!tool->keepalive)
        tool->keepalive = px_watch_create(client->loop, pipe->fd, PX_READABLE,
                                          on_keepalive, client);
    px_call_done(call, tool->keepalive ? PMIX_SUCCESS : PMIX_ERR_NOMEM);
}

/* Watches the initiator's pipe, which closes when the initiator ends. */
static void watch_keepalive(struct px_client *client)
{
    struct pipe pipe = {.client = client};
    const char *text = px_env(PMIX_KEEPALIVE_PIPE);
    struct stat st;
    uint64_t fd;

    if (!text || !px_str_to_u64(text, 0, INT32_MAX, &fd))
        return;
    pipe.fd = (int)fd;
    if (fstat(pipe.fd, &st) || !S_ISFIFO(st.st_mode) || px_fd_cloexec(pipe.fd) ||
        px_fd_nonblock(pipe.fd) || px_call(client->loop, on_watch_keepalive, &pipe))
        px_log(PX_LOG_WARN, "tool", PMIX_KEEPALIVE_PIPE "=%s cannot be watched", text);
}

/* Connects to the initiator of a launcher as well. The first server stays primary. */
static pmix_status_t call_back(struct px_client *client, struct px_err *err)
{
    struct px_start s = {.client = client, .addr = {.fd = -1}};
    const char *uri = px_env(PMIX_LAUNCHER_RNDZ_URI);
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc;

    if (!uri)
        return PMIX_SUCCESS;
    rc = px_infos_add(&infos, PMIX_SERVER_URI, uri, PMIX_STRING);
    if (!rc)
        rc = px_tool_attach(infos.v, infos.n, true, &s);
    if (rc)
        return px_err_set(err, rc, PMIX_LAUNCHER_RNDZ_URI ": %s", s.err.text);
    return PMIX_SUCCESS;
}

/* ---- init ------------------------------------------------------------------------ */

/* Keeps infos about files and access, for the time when the tool becomes a server. */
static pmix_status_t keep_for_server(px_infos *kept, const pmix_info_t *info, size_t n)
{
    static const char *const keys[] = {
        PMIX_SERVER_TMPDIR,         PMIX_SYSTEM_TMPDIR,
        PMIX_TDIR_RMCLEAN,          PMIX_LAUNCHER_RENDEZVOUS_FILE,
        PMIX_TCP_REPORT_URI,        PMIX_SERVER_ALLOW_FOREIGN_TOOLS,
        PMIX_SERVER_TOOL_SUPPORT,   PMIX_SERVER_SESSION_SUPPORT,
        PMIX_SERVER_SYSTEM_SUPPORT, PMIX_SERVER_SCHEDULER,
        PMIX_SERVER_SYS_CONTROLLER};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(keys); i++) {
        const pmix_info_t *found = px_info_find(info, n, keys[i]);

        if (found) {
            px_infos_drop(kept, keys[i]);
            rc = px_infos_add_copy(kept, found, 1);
        }
    }
    return rc;
}

static pmix_status_t make_state(struct px_client_role *role, const pmix_info_t *info,
                                size_t n_info)
{
    struct px_tool *tool = role->tool;

    if (!tool) {
        tool = role->tool = calloc(1, sizeof(*tool));
        if (!tool)
            return PMIX_ERR_NOMEM;
        px_list_init(&tool->waiters);
    }
    return tool->serves ? PMIX_SUCCESS
                        : keep_for_server(&tool->as_server, info, n_info);
}

static void on_drop(struct px_call *call, void *client)
{
    struct px_tool *tool = px_tool_of(client);

    px_tool_wake(client, PMIX_ERR_INIT);
    px_watch_free(tool->keepalive);
    px_infos_cleanup(&tool->as_server);
    free(px_take(&((struct px_client *)client)->role->tool));
    px_call_done(call, PMIX_SUCCESS);
}

static bool may_do_without(pmix_status_t rc, const pmix_info_t *info, size_t n_info)
{
    return (rc == PMIX_ERR_UNREACH || rc == PMIX_ERR_TIMEOUT) &&
           px_info_flag(info, n_info, PMIX_TOOL_CONNECT_OPTIONAL);
}

static pmix_status_t start_alone(const struct px_discovery *d, struct px_start *s)
{
    if (!d->has_name)
        px_client_name(&s->addr.self, "tool");
    return px_client_start_alone(s);
}

static pmix_status_t connect_first(const pmix_info_t *info, size_t n_info,
                                   struct px_discovery *d, struct px_start *s)
{
    pmix_status_t rc;

    if (px_info_flag(info, n_info, PMIX_TOOL_DO_NOT_CONNECT))
        return start_alone(d, s);
    rc = px_tool_discover(d, &s->err);
    if (!rc)
        rc = px_client_start(s);
    if (may_do_without(rc, info, n_info)) {
        px_log(PX_LOG_INFO, "tool", "going on without a server: %s", s->err.text);
        return start_alone(d, s);
    }
    return rc ? rc : call_back(s->client, &s->err);
}

static pmix_status_t tool_begin(const pmix_info_t *info, size_t n_info,
                                struct px_start *s)
{
    struct px_discovery d = {.info = info, .n_info = n_info, .addr = &s->addr};
    pmix_status_t rc = name_from(info, n_info, &d, &s->err);

    if (!rc)
        rc = px_client_begin(PX_ROLE_TOOL, info, n_info, s);
    if (rc)
        return rc;
    rc = make_state(s->client->role, info, n_info);
    d.client = s->client;
    if (!rc)
        rc = connect_first(info, n_info, &d, s);
    if (!rc) {
        watch_keepalive(s->client);
        return rc;
    }
    if (px_tool_of(s->client))
        (void)px_call(s->client->loop, on_drop, s->client);
    px_client_end(s->client);
    return rc;
}

/* Begins a tool in a client or tool. Searches again without a server. */
static pmix_status_t tool_again(const pmix_info_t *info, size_t n_info,
                                struct px_start *s)
{
    pmix_status_t rc = make_state(s->client->role, info, n_info);

    if (!rc && !px_info_flag(info, n_info, PMIX_TOOL_DO_NOT_CONNECT) &&
        !px_client_servers(s->client, NULL, 0)) {
        rc = px_tool_attach(info, n_info, true, s);
        if (may_do_without(rc, info, n_info))
            rc = PMIX_SUCCESS;
    }
    if (rc && px_tool_of(s->client) && s->client->role->tool_inits == 0)
        (void)px_call(s->client->loop, on_drop, s->client);
    return rc;
}

/* ---- serving others -------------------------------------------------------------- */

static void refuse(pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                   pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    cb(PMIX_ERR_NOT_SUPPORTED, NULL, cbdata);
}

/* Module of a launcher that has a rendezvous file and does not serve yet. */
static const pmix_server_module_t no_module = {.tool_connected = refuse};

struct serving {
    struct px_client *client;
    struct px_server *server;
    pmix_server_module_t *module; /* new module of a running server; or NULL */
};

static void on_serving(struct px_call *call, void *args)
{
    const struct serving *s = args;
    struct px_client *client = s->client;

    if (s->module)
        px_server_take_module(s->server, s->module);
    if (!px_tool_of(client)->has_module) /* the tool's own server gets its events, as
                                          * before */
        px_notify_set_route(client->notify, NULL, NULL);
    else if (!client->role->primary && px_role_serve_self(client))
        px_log(PX_LOG_ERROR, "tool",
               "cannot connect this process to its own server: out of memory");
    px_call_done(call, PMIX_SUCCESS);
}

/* Starts a server with the tool's name. Calls the function, not the header's macro. The
 * macro passes our size of the module, but the caller's module may be smaller
 * (adr/0006). */
static pmix_status_t start_server(const pmix_server_module_t *module,
                                  const pmix_proc_t *self, const px_infos *more)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = px_infos_add(&infos, PMIX_SERVER_NSPACE, self->nspace,
                                    PMIX_STRING);

    if (!rc)
        rc = px_infos_add(&infos, PMIX_SERVER_RANK, &self->rank, PMIX_PROC_RANK);
    if (!rc)
        rc = px_infos_add_copy(&infos, more->v, more->n);
    return rc ? rc
              : (PMIx_server_init)((pmix_server_module_t *)module, infos.v, infos.n);
}

/* Makes the tool a server, without the process lock, which PMIx_server_init takes.
 * module NULL: the server only listens, and has a rendezvous file. */
static pmix_status_t serve(pmix_server_module_t *module)
{
    PX_AUTO(px_infos) more = {0};
    const struct px_process *p = &px_process;
    struct px_tool *tool;
    pmix_proc_t self;
    bool listens = false, begun = false;
    pmix_status_t rc = PMIX_SUCCESS;

    px_process_lock();
    tool = px_tool_of(p->client);
    if (!tool || tool->has_module || (p->server && !tool->serves)) {
        rc = PMIX_ERR_INIT;
    } else {
        self = p->model->self;
        listens = tool->serves;
        rc = px_infos_add_copy(&more, tool->as_server.v, tool->as_server.n);
    }
    if (!rc) {
        begun = tool->serves = true;
        tool->has_module = module != NULL;
    }
    px_process_unlock();
    if (!rc && !listens)
        rc = start_server(module ? module : &no_module, &self, &more);
    px_process_lock();
    tool = px_tool_of(p->client);
    if (rc && begun && tool)
        tool->serves = tool->has_module = false;
    if (!rc && tool) {
        struct serving s = {p->client, p->server, listens ? module : NULL};

        (void)px_call(p->loop, on_serving, &s);
    }
    px_process_unlock();
    return rc;
}

PX_EXPORT pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t *module)
{
    pmix_status_t rc = px_tool_ready(module);

    return rc ? rc : serve(module);
}

/* Makes the launcher's rendezvous file, by which its parent finds it. The file exists
 * when init returns. */
static pmix_status_t have_file(const pmix_info_t *info, size_t n_info)
{
    /* The variable counts only for launchers: other tools may inherit it. */
    const bool asked = px_info_find(info, n_info, PMIX_LAUNCHER_RENDEZVOUS_FILE) ||
                       px_info_flag(info, n_info, PMIX_LAUNCHER);
    const char *path = asked ? px_rendezvous_launcher_file(info, n_info) : NULL;
    pmix_value_t value = {.type = PMIX_STRING};
    pmix_status_t rc;

    if (!path || px_process.server)
        return PMIX_SUCCESS;
    rc = serve(NULL);
    if (rc)
        return rc;
    value.data.string = (char *)(uintptr_t)path;
    return PMIx_Store_internal(NULL, PMIX_LAUNCHER_RENDEZVOUS_FILE, &value);
}

/* ---- init and finalize ----------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_tool_init(pmix_proc_t *proc, pmix_info_t info[],
                                       size_t ninfo)
{
    pmix_status_t rc = px_client_init(PX_ROLE_TOOL, tool_begin, tool_again, proc, info,
                                      ninfo);

    if (rc)
        return rc;
    rc = have_file(info, ninfo);
    if (rc) {
        (void)PMIx_tool_finalize();
        px_log(PX_LOG_ERROR, "tool", "PMIx_tool_init: %s", PMIx_Error_string(rc));
    }
    return rc;
}

PX_EXPORT pmix_status_t PMIx_tool_finalize(void)
{
    struct px_tool *tool;
    bool serves;

    if (px_process_on_loop())
        return PMIX_ERR_WOULD_BLOCK;
    /* The last tool of a process ends the server that it started. Without the lock,
     * which PMIx_server_finalize takes. */
    px_process_lock();
    tool = px_tool_of(px_process.client);
    serves = tool && tool->serves && px_process.client->role->tool_inits == 1;
    if (serves)
        tool->serves = false;
    px_process_unlock();
    if (serves)
        (void)PMIx_server_finalize();
    return px_client_finalize(PX_ROLE_TOOL, on_drop, NULL, 0);
}
