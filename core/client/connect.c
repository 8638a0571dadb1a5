/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the server in the environment and shaking hands with it. */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/client/client.h"
#include "core/rt/log.h"
#include "core/wire/hello.h"
#include "tenon/psec.h"

#include <arpa/inet.h>
#include <string.h>

#define OUR_VERSION   "4.2.9" /* what servers adapt their answers to */
#define OUR_DATASTORE "hash"  /* every server since 2.1 can serve it */

static const struct {
    const char *name, *dialect;
} uri_vars[] = {
    /* best first */
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

/* A server of ours names a faster address beside the common one. It counts only if it comes with
 * the very URI that is in force: an outer server's variable may still be in the environment. NULL
 * if there is none that we can use. */
static const char *faster_address(const char *uri_text)
{
    const char *own = getenv("TENON_SERVER_URI");
    size_t n = strlen(uri_text);

    if (!own || strncmp(own, uri_text, n) != 0 || own[n] != ';')
        return NULL;
    return transport_for(own + n + 1) ? own + n + 1 : NULL;
}

struct where {
    struct px_uri uri;
    const char *faster; /* address to try first, or NULL */
};

static pmix_status_t find_server(struct px_uplink *up, struct where *at,
                                 struct px_err *err)
{
    const char *type = getenv("PMIX_BFROP_BUFFER_TYPE");
    const char *version = getenv("PMIX_VERSION");

    for (size_t i = 0; i < PX_COUNT(uri_vars); i++) {
        const char *text = getenv(uri_vars[i].name);
        pmix_status_t rc;

        if (!text)
            continue;
        rc = px_uri_parse(text, &at->uri);
        if (rc)
            return px_err_set(err, rc, "%s: \"%s\" is not a server address",
                              uri_vars[i].name, text);
        up->codec.dialect = px_dialect_find(uri_vars[i].dialect);
        up->codec.described = type && strcmp(type, "PMIX_BFROP_BUFFER_FULLY_DESC") == 0;
        up->server = at->uri.server;
        px_version_parse(version ? version : "", &up->server_version);
        at->faster = faster_address(text);
        return PMIX_SUCCESS;
    }
    return px_err_set(
        err, PMIX_ERR_UNREACH,
        "PMIX_NAMESPACE is set, but no PMIX_SERVER_URI41, URI4, URI3 or URI21");
}

/* Our best module that the server named; without a list, our best. */
static const struct px_module *pick_psec(void)
{
    const char *modes = getenv("PMIX_SECURITY_MODE");
    PX_AUTO(px_strv) names = modes ? px_strv_split(modes, ',', false) : NULL;
    size_t n;
    const struct px_module *m = px_modules("psec", &n);

    for (size_t i = 0; i < n; i++)
        if (!modes || px_strv_has(names, m[i].component->name))
            return &m[i];
    return NULL;
}

static pmix_status_t make_hello(const pmix_proc_t *self, const struct px_uplink *up,
                                px_buf *out, struct px_err *err)
{
    const struct px_module *psec = pick_psec();
    struct px_hello hello = {.flag = PX_FLAG_CLIENT,
                             .has_proc = true,
                             .proc = *self,
                             .described = up->codec.described};
    const struct px_psec_ops *ops;
    pmix_status_t rc;

    if (!psec)
        return px_err_set(
            err, PMIX_ERR_NOT_SUPPORTED,
            "no security module of the server's list (PMIX_SECURITY_MODE=%s)",
            getenv("PMIX_SECURITY_MODE"));
    ops = psec->component->ops;
    px_str_copy(hello.psec, sizeof hello.psec, psec->component->name);
    px_str_copy(hello.version_text, sizeof hello.version_text, OUR_VERSION);
    px_str_copy(hello.dialect, sizeof hello.dialect, up->codec.dialect->name);
    px_str_copy(hello.gds, sizeof hello.gds, OUR_DATASTORE);
    rc = ops->create(psec->self, &hello.cred, &hello.cred_len);
    if (!rc)
        rc = px_hello_encode(&hello, out);
    px_hello_fini(&hello);
    return rc ? px_err_set(err, rc, "cannot make a credential with psec/%s: %s",
                           psec->component->name, PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

static pmix_status_t read_word(int fd, uint32_t *word, uint64_t deadline)
{
    pmix_status_t rc = px_fd_read_all(fd, word, sizeof *word, deadline);

    *word = ntohl(*word);
    return rc;
}

static pmix_status_t shake(int fd, const px_buf *hello, uint64_t timeout_ms,
                           uint32_t *pindex, struct px_err *err)
{
    uint64_t deadline = px_clock_ms() + timeout_ms;
    uint32_t word = 0;
    pmix_status_t rc = px_fd_write_all(fd, hello->data, hello->len, deadline);

    if (!rc)
        rc = read_word(fd, &word, deadline);
    if (rc)
        return px_err_set(err, rc == PMIX_ERR_TIMEOUT ? rc : PMIX_ERR_UNREACH,
                          "the server did not complete the handshake: %s",
                          PMIx_Error_string(rc));
    if ((pmix_status_t)word > 0)
        return px_err_set(err, PMIX_ERR_UNREACH,
                          "what answers there is no PMIx server");
    if (word != 0)
        return px_err_set(err, (pmix_status_t)word,
                          "the server refused the connection: %s",
                          PMIx_Error_string((pmix_status_t)word));
    rc = read_word(fd, pindex, deadline);
    if (rc)
        return px_err_set(err, PMIX_ERR_UNREACH, "the server broke the handshake off");
    return px_fd_nonblock(fd);
}

static pmix_status_t reach(const char *address, uint64_t timeout_ms, int *fd,
                           struct px_err *err)
{
    const struct px_module *ptl = transport_for(address);
    const struct px_ptl_ops *ops;
    pmix_status_t rc;

    if (!ptl)
        return px_err_set(err, PMIX_ERR_UNREACH, "no selected transport handles %s",
                          address);
    ops = ptl->component->ops;
    rc = ops->connect(ptl->self, address, timeout_ms, fd);
    return rc ? px_err_set(err, PMIX_ERR_UNREACH, "cannot reach the server at %s: %s",
                           address, PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* The faster one may be out of our sight, in a container for example. */
static pmix_status_t reach_any(const struct where *at, uint64_t timeout_ms, int *fd,
                               struct px_err *err)
{
    if (at->faster) {
        if (reach(at->faster, timeout_ms, fd, err) == PMIX_SUCCESS)
            return PMIX_SUCCESS;
        px_log(PX_LOG_INFO, "client", "%s", err->text);
    }
    return reach(at->uri.address, timeout_ms, fd, err);
}

pmix_status_t px_client_connect(const pmix_proc_t *self, uint64_t timeout_ms,
                                struct px_uplink *up, int *fd, uint32_t *pindex,
                                struct px_err *err)
{
    struct where at;
    PX_AUTOCLOSE int conn = -1;
    PX_AUTO(px_buf) hello = {0};
    pmix_status_t rc = find_server(up, &at, err);

    if (!rc)
        rc = make_hello(self, up, &hello, err);
    if (!rc)
        rc = reach_any(&at, timeout_ms, &conn, err);
    if (!rc)
        rc = shake(conn, &hello, timeout_ms, pindex, err);
    if (!rc)
        *fd = px_take_fd(&conn);
    return rc;
}
