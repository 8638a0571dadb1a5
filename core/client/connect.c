/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the server in the environment and shakes hands with it. */
#include "core/base/clock.h"
#include "core/base/env.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/client/client.h"
#include "core/os/proc.h"
#include "core/plugin/select.h"
#include "core/role/security.h"
#include "core/rt/log.h"
#include "core/wire/frame.h"
#include "core/wire/hello.h"
#include "core/wire/ops.h"
#include "tenon/psec.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>

static const struct {
    const char *name, *dialect;
} uri_vars[] = {
    /* in order of preference */
    {"PMIX_SERVER_URI41", "v41"},
    {"PMIX_SERVER_URI4", "v4"},
    {"PMIX_SERVER_URI3", "v3"},
    {"PMIX_SERVER_URI21", "v21"},
};

static const struct px_module *transport_for(const char *address)
{
    size_t n;
    const struct px_module *m = px_modules("ptl", &n);

    for (size_t i = 0; i < n; i++) {
        const struct px_ptl_ops *ops = m[i].component->ops;

        if (ops->handles(m[i].self, address))
            return &m[i];
    }
    return NULL;
}

/* Returns the server's URI from the environment, or NULL. */
static const char *server_uri(size_t *i)
{
    for (*i = 0; *i < PX_COUNT(uri_vars); ++*i) {
        const char *text = px_env(uri_vars[*i].name);
        if (text)
            return text;
    }
    return NULL;
}

/* Returns the faster address that servers of Tenon offer, or NULL. The address counts
 * only together with the URI in force, because an outer server's variable may still be
 * in the environment. */
static const char *faster_address(const char *uri_text)
{
    const char *own = px_env("TENON_SERVER_URI");
    size_t n = strlen(uri_text);

    if (!own || strncmp(own, uri_text, n) != 0 || own[n] != ';')
        return NULL;
    return own + n + 1;
}

const char *px_client_address(void)
{
    size_t i;
    const char *text = server_uri(&i);
    const char *faster = text ? faster_address(text) : NULL;
    const char *common = text ? strchr(text, ';') : NULL;

    return faster ? faster : common ? common + 1 : NULL;
}

pmix_status_t px_server_addr_from_env(struct px_server_addr *c, struct px_err *err)
{
    const char *type = px_env("PMIX_BFROP_BUFFER_TYPE");
    const char *version = px_env("PMIX_VERSION");
    size_t i;
    const char *text = server_uri(&i);

    if (!text)
        return PMIX_ERR_UNREACH;
    pmix_status_t rc = px_uri_parse(text, &c->uri);
    if (rc)
        return px_err_set(err, rc, "%s: \"%s\" is not a server address",
                          uri_vars[i].name, text);
    c->codec.dialect = px_dialect_find(uri_vars[i].dialect);
    c->codec.described = type && strcmp(type, "PMIX_BFROP_BUFFER_FULLY_DESC") == 0;
    px_version_parse(version ? version : "", &c->version);
    c->faster = faster_address(text);
    c->from_environment = true;
    c->has_owner = false; /* the author of the environment controls this process
                           * anyway */
    return PMIX_SUCCESS;
}

pmix_status_t px_server_addr_from_uri(struct px_server_addr *c, const char *text,
                                      struct px_err *err)
{
    const char *rest = strchr(text, ';');

    if (rest && strchr(rest + 1, ';'))
        text = rest + 1;
    /* Open MPI passes the line that a server has reported, with its end. */
    PX_AUTOFREE char *line = strndup(text, strcspn(text, "\r\n"));
    if (!line)
        return px_err_nomem(err, "read a server address");
    c->codec = px_codec_default;
    return px_uri_parse(line, &c->uri)
               ? px_err_set(err, PMIX_ERR_BAD_PARAM, "\"%s\" is not a server address",
                            text)
               : PMIX_SUCCESS;
}

/* Adds the command line, which lists of tools show. Ignores a command line that cannot
 * be read. */
static pmix_status_t add_command(px_infos *infos)
{
    char text[4096];

    if (!px_osproc_command_line(text, sizeof(text)))
        return PMIX_SUCCESS;
    return px_infos_add(infos, PMIX_CMD_LINE, text, PMIX_STRING);
}

/* Fills the part of the connect message that only tools send. */
static pmix_status_t describe(const struct px_server_addr *c, struct px_hello *hello)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTO(px_writer) w = {0};
    pid_t pid = getpid();
    pmix_status_t rc;

    hello->uid = geteuid();
    hello->gid = getegid();
    rc = px_infos_add(&infos, PMIX_PROC_PID, &pid, PMIX_PID);
    if (!rc)
        rc = px_infos_add(&infos, PX_HELLO_OURS, NULL, PMIX_BOOL);
    if (!rc)
        rc = add_command(&infos);
    if (rc)
        return rc;
    px_writer_init(&w, c->codec);
    px_pack_infos(&w, infos.v, infos.n);
    if (!w.status) {
        hello->blob_len = w.buf.len;
        hello->blob = px_buf_take(&w.buf).data;
    }
    return w.status;
}

/* Chooses the security module that a server accepts. modes: its list, or NULL. */
static pmix_status_t choose_psec(const char *modes, const struct px_module **psec,
                                 struct px_err *err)
{
    PX_AUTO(px_strv) names = modes ? px_strv_split(modes, ',', false) : NULL;

    *psec = !modes || names ? px_security_find(names) : NULL;
    return *psec ? PMIX_SUCCESS
                 : px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                              "no security module of the server's list "
                              "(PMIX_SECURITY_MODE=%s)",
                              modes ? modes : "");
}

pmix_status_t px_client_credential(pmix_value_t *out)
{
    const struct px_module *psec;
    const struct px_psec_ops *ops;
    uint8_t *cred = NULL;
    size_t n = 0;
    pmix_status_t rc = choose_psec(px_env("PMIX_SECURITY_MODE"), &psec, NULL);

    if (rc)
        return rc;
    ops = psec->component->ops;
    rc = ops->create(psec->self, &cred, &n);
    if (rc)
        return rc;
    *out = (pmix_value_t){.type = PMIX_BYTE_OBJECT,
                          .data.bo = {.bytes = (char *)cred, .size = n}};
    return PMIX_SUCCESS;
}

/* True for an address that a server may use for tools on other machines. Our own
 * machine may have the address, too. */
static bool is_wide(const char *address)
{
    return px_str_starts(address, "tcp") && !px_str_starts(address, "tcp4://127.") &&
           !px_str_starts(address, "tcp6://[::1]:");
}

/* Makes a tool's credential for a server that may be on another machine. Returns the
 * module, or NULL without a service for such credentials. */
static const struct px_module *prove(const struct px_server_addr *c,
                                     uint64_t timeout_ms, struct px_hello *hello)
{
    const struct px_module *m = c->flag != PX_FLAG_CLIENT && !c->from_environment &&
                                        is_wide(c->uri.address)
                                    ? px_security_remote()
                                    : NULL;
    pmix_status_t rc = m ? px_security_create(m, timeout_ms, &hello->cred,
                                              &hello->cred_len)
                         : PMIX_SUCCESS;

    if (!rc)
        return m;
    px_log(PX_LOG_WARN, "client", "cannot make a credential with psec/%s: %s",
           m->component->name, PMIx_Error_string(rc));
    return NULL;
}

/* Makes the connect message. proves: with a credential for another machine, if there is
 * one; false afterwards if there is none. */
static pmix_status_t make_hello(const struct px_server_addr *c, uint64_t timeout_ms,
                                bool *proves, px_buf *out, struct px_err *err)
{
    /* PMIX_SECURITY_MODE describes only the environment's server. */
    const char *modes = c->from_environment ? px_env("PMIX_SECURITY_MODE") : NULL;
    const struct px_module *psec, *proved;
    /* A server with a faster address is of this library, and shares its tables. */
    const struct px_module *gds = px_store_choose(c->from_environment
                                                      ? px_env("PMIX_GDS_MODULE")
                                                  : c->faster ? "shm"
                                                              : NULL);
    struct px_hello hello = {
        .flag = c->flag, .proc = c->self, .described = c->codec.described};
    pmix_status_t rc;

    rc = choose_psec(modes, &psec, err);
    if (rc)
        return rc;
    if (!gds)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "no selected datastore receives data in messages");
    proved = *proves ? prove(c, timeout_ms, &hello) : NULL;
    *proves = proved != NULL;
    psec = proved ? proved : psec;
    px_str_copy(hello.psec, sizeof(hello.psec), psec->component->name);
    px_str_copy(hello.version_text, sizeof(hello.version_text), TENON_CLAIMED_VERSION);
    px_str_copy(hello.dialect, sizeof(hello.dialect), c->codec.dialect->name);
    px_str_copy(hello.gds, sizeof(hello.gds), gds->component->name);
    if (!proved)
        rc = px_security_create(psec, timeout_ms, &hello.cred, &hello.cred_len);
    if (!rc && c->flag != PX_FLAG_CLIENT)
        rc = describe(c, &hello);
    if (!rc)
        rc = px_hello_encode(&hello, out);
    px_hello_fini(&hello);
    return rc ? px_err_set(err, rc, "cannot make a credential with psec/%s: %s",
                           psec->component->name, PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* Appends the channel's first request to the connect message. A server of Tenon answers
 * the connect message before it reads more. The server ignores the sender number in the
 * frame, which is not known yet. */
static pmix_status_t add_question(const struct px_server_addr *c, px_buf *out)
{
    uint8_t header[PX_FRAME_HEADER_B];
    PX_AUTO(px_writer) w;

    px_writer_init(&w, c->codec);
    px_pack_op(&w, PX_OP_REQ);
    if (w.status)
        return w.status;
    px_frame_encode(
        header, &(struct px_frame){.tag = PX_TAG_FIRST, .nbytes = (uint32_t)w.buf.len});
    pmix_status_t rc = px_buf_add(out, header, sizeof(header));
    return rc ? rc : px_buf_add(out, w.buf.data, w.buf.len);
}

static pmix_status_t no_server(struct px_err *err)
{
    return px_err_set(err, PMIX_ERR_UNREACH,
                      "the process at this address is not a PMIx server");
}

static pmix_status_t broken_off(struct px_err *err, pmix_status_t why)
{
    return px_err_set(err, why == PMIX_ERR_TIMEOUT ? why : PMIX_ERR_UNREACH,
                      "the server did not complete the handshake: %s",
                      PMIx_Error_string(why));
}

static pmix_status_t check_status(uint32_t word, struct px_err *err)
{
    pmix_status_t status = (pmix_status_t)ntohl(word);

    if (status > 0)
        return no_server(err);
    return status ? px_err_set(err, status, "the server refused the connection: %s",
                               PMIx_Error_string(status))
                  : PMIX_SUCCESS;
}

/* Checks and converts a process name of the handshake. */
static pmix_status_t take_proc(pmix_proc_t *to, const pmix_proc_t *from,
                               struct px_err *err)
{
    if (!from->nspace[0] || !memchr(from->nspace, '\0', sizeof(from->nspace)))
        return no_server(err);
    *to = *from;
    to->rank = ntohl(from->rank);
    return PMIX_SUCCESS;
}

/* True if a read or write failed because the server has ended the connection. */
static bool is_end(pmix_status_t rc)
{
    return rc && rc != PMIX_ERR_TIMEOUT;
}

/* Reads the rest of the answer to a tool, after the first status. The answer contains a
 * name only if the tool has none. */
static pmix_status_t tool_answer(struct px_server_addr *c, int fd, uint64_t deadline,
                                 bool *closed, struct px_err *err)
{
    struct {
        pmix_proc_t self, server;
        uint32_t status;
    } answer;
    bool named = c->flag != PX_FLAG_TOOL_NEEDS_ID &&
                 c->flag != PX_FLAG_LAUNCHER_NEEDS_ID;
    size_t skip = named ? sizeof(answer.self) : 0;
    pmix_proc_t self = c->self, server;
    pmix_status_t rc = px_fd_read_all(fd, (char *)&answer + skip, sizeof(answer) - skip,
                                      deadline);

    *closed = is_end(rc);
    if (rc)
        return broken_off(err, rc);
    if (!named)
        rc = take_proc(&self, &answer.self, err);
    if (!rc)
        rc = take_proc(&server, &answer.server, err);
    if (!rc)
        rc = check_status(answer.status, err);
    if (rc)
        return rc;
    c->self = self;
    c->uri.server = server;
    c->pindex = 0;
    return PMIX_SUCCESS;
}

/* *closed: the server has ended the connection before its last status. */
static pmix_status_t shake(struct px_server_addr *c, int fd, const px_buf *hello,
                           uint64_t timeout_ms, bool *closed, struct px_err *err)
{
    uint64_t deadline = px_clock_ms() + timeout_ms;
    uint32_t word;
    pmix_status_t rc = px_fd_write_all(fd, hello->data, hello->len, deadline);

    if (!rc)
        rc = px_fd_read_all(fd, &word, sizeof(word), deadline);
    *closed = is_end(rc);
    rc = rc ? broken_off(err, rc) : check_status(word, err);
    if (rc)
        return rc;
    if (c->flag != PX_FLAG_CLIENT) {
        rc = tool_answer(c, fd, deadline, closed, err);
    } else {
        if (px_fd_read_all(fd, &word, sizeof(word), deadline))
            rc = px_err_set(err, PMIX_ERR_UNREACH, "the server ended the handshake");
        c->pindex = ntohl(word);
    }
    return rc ? rc : px_fd_nonblock(fd);
}

static pmix_status_t reach(const char *address, uint64_t timeout_ms, int *fd,
                           struct px_err *err)
{
    const struct px_module *ptl = transport_for(address);
    const struct px_ptl_ops *ops;
    pmix_status_t rc = ptl ? PMIX_SUCCESS : px_modules_open_deferred(err);

    if (rc)
        return rc;
    if (!ptl && !(ptl = transport_for(address)))
        return px_err_set(err, PMIX_ERR_UNREACH, "no selected transport handles %s",
                          address);
    ops = ptl->component->ops;
    rc = ops->connect(ptl->self, address, timeout_ms, fd);
    return rc ? px_err_set(err, PMIX_ERR_UNREACH, "cannot reach the server at %s: %s",
                           address, PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* Checks that the server at the other end still belongs to owner. A different user may
 * listen at the address of a server that ended, and must not get our credentials. */
static pmix_status_t check_owner(const struct px_server_addr *c, const char *address,
                                 int fd, struct px_err *err)
{
    const struct px_module *ptl = transport_for(address);
    const struct px_ptl_ops *ops = ptl->component->ops;
    struct px_ptl_peer peer = {0};
    pmix_status_t rc = ops->peer ? ops->peer(ptl->self, fd, &peer) : PMIX_SUCCESS;

    if (rc == PMIX_ERR_NOT_SUPPORTED) /* the server is on another node, which the caller
                                       * permitted */
        return PMIX_SUCCESS;
    if (rc || !peer.has_uid)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "cannot determine the user of the server at %s", address);
    if (peer.uid != c->owner)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "what listens at %s is uid %u's, not uid %u's", address,
                          (unsigned)peer.uid, (unsigned)c->owner);
    return PMIX_SUCCESS;
}

/* Connects once. proves: see make_hello; closed: see shake. */
static pmix_status_t attempt(struct px_server_addr *c, uint64_t timeout_ms,
                             bool *proves, bool *closed, struct px_err *err)
{
    PX_AUTOCLOSE int conn = -1;
    PX_AUTO(px_buf) hello = {0};
    pmix_status_t rc = make_hello(c, timeout_ms, proves, &hello, err);

    /* The faster address may be unreachable, for example from a container. */
    if (!rc && c->faster && reach(c->faster, timeout_ms, &conn, err))
        px_log(PX_LOG_INFO, "client", "%s", err->text);
    c->asked = conn >= 0 && c->flag == PX_FLAG_CLIENT;
    if (c->asked)
        rc = add_question(c, &hello);
    const char *address = conn < 0 ? c->uri.address : c->faster;
    if (!rc && conn < 0)
        rc = reach(address, timeout_ms, &conn, err);
    if (!rc && c->has_owner)
        rc = check_owner(c, address, conn, err);
    if (!rc)
        rc = shake(c, conn, &hello, timeout_ms, closed, err);
    if (!rc)
        c->fd = px_take_fd(&conn);
    return rc;
}

/* A server of OpenPMIx without the service closes the connection of a tool that names
 * the service. Then the tool names its user by the module for one machine, which is
 * not a secret. A status is the server's decision, and ends the connect. */
pmix_status_t px_server_addr_connect(struct px_server_addr *c, uint64_t timeout_ms,
                                     struct px_err *err)
{
    bool proves = true, closed = false;
    pmix_status_t rc = attempt(c, timeout_ms, &proves, &closed, err);

    if (!rc || !proves || !closed)
        return rc;
    px_log(PX_LOG_INFO, "client",
           "the server at %s has closed the connection of a tool with a credential; "
           "connects without one",
           c->uri.address);
    proves = closed = false;
    return attempt(c, timeout_ms, &proves, &closed, err);
}
