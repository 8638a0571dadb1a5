/* SPDX-License-Identifier: BSD-3-Clause */
/* psec/munge: credentials that the daemon of MUNGE makes and validates, for all nodes
 * with its key. The daemon may not answer, so these credentials are made and checked in
 * child processes, for requests of programs and for tools on other machines. The child
 * loads libmunge. */
#include "tenon/psec.h"

#include "core/base/attr.h"
#include "core/base/fd.h"

#include <dlfcn.h>
#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIORITY = 20 }; /* above native, whose credentials one server can validate */

struct conf {
    const char *socket;
};

/* Functions of libmunge, with a context for the daemon's socket. */
struct munge {
    __typeof__(&munge_ctx_create) ctx_create;
    __typeof__(&munge_ctx_set) ctx_set;
    __typeof__(&munge_ctx_destroy) ctx_destroy;
    __typeof__(&munge_encode) encode;
    __typeof__(&munge_decode) decode;
    munge_ctx_t ctx;
};

static pmix_status_t munge_query(void *self, struct px_query *answer)
{
    const struct conf *conf = self;

    answer->priority = PRIORITY;
    if (px_fd_socket_is_served(conf->socket))
        return PMIX_SUCCESS;
    snprintf(answer->reason, sizeof(answer->reason), "cannot connect to %.128s: %m",
             conf->socket);
    return PMIX_ERR_NOT_AVAILABLE;
}

/* Loads the library and makes a context. The library stays loaded until the child
 * process ends. */
static pmix_status_t munge_load(const struct conf *conf, struct munge *m)
{
    void *library = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
    void **functions[] = {(void **)&m->ctx_create, (void **)&m->ctx_set,
                          (void **)&m->ctx_destroy, (void **)&m->encode,
                          (void **)&m->decode};
    static const char *const names[] = {"munge_ctx_create", "munge_ctx_set",
                                        "munge_ctx_destroy", "munge_encode",
                                        "munge_decode"};

    for (size_t i = 0; i < PX_COUNT(names); i++) {
        *functions[i] = library ? dlsym(library, names[i]) : NULL;
        if (!*functions[i])
            return PMIX_ERR_NOT_AVAILABLE;
    }
    m->ctx = m->ctx_create();
    return m->ctx &&
                   m->ctx_set(m->ctx, MUNGE_OPT_SOCKET, conf->socket) == EMUNGE_SUCCESS
               ? PMIX_SUCCESS
               : PMIX_ERR_NOMEM;
}

static pmix_status_t munge_create(void *self, uint8_t **cred, size_t *n)
{
    struct munge m;
    char *text = NULL;
    pmix_status_t rc = munge_load(self, &m);

    if (rc)
        return rc;
    const munge_err_t why = m.encode(&text, m.ctx, NULL, 0);
    m.ctx_destroy(m.ctx);
    if (why != EMUNGE_SUCCESS)
        return PMIX_ERR_NOT_AVAILABLE;
    *cred = (uint8_t *)text;
    *n = strlen(text) + 1;
    return PMIX_SUCCESS;
}

/* The daemon sees the ids of this process, which are the user's. */
static pmix_status_t munge_issue(void *self, uid_t uid PX_UNUSED, gid_t gid PX_UNUSED,
                                 uint8_t **cred, size_t *n)
{
    return munge_create(self, cred, n);
}

/* True for exactly one credential as text, with its NUL. libmunge ignores text around a
 * credential. */
static bool is_text(const uint8_t *cred, size_t n)
{
    static const char head[] = "MUNGE:";
    const size_t head_b = sizeof(head) - 1;

    return n > head_b + 2 && memchr(cred, '\0', n) == cred + n - 1 &&
           memcmp(cred, head, head_b) == 0 &&
           memchr(cred + head_b, ':', n - head_b) == cred + n - 2;
}

static pmix_status_t munge_inspect(void *self, const uint8_t *cred, size_t n,
                                   uid_t *uid, gid_t *gid)
{
    struct munge m;
    uid_t of_user;
    gid_t of_group;
    void *payload = NULL;
    int payload_b = 0;

    if (!is_text(cred, n))
        return PMIX_ERR_INVALID_CRED;
    pmix_status_t rc = munge_load(self, &m);
    if (rc)
        return rc;
    munge_err_t why = m.decode((const char *)cred, m.ctx, &payload, &payload_b,
                               &of_user, &of_group);
    m.ctx_destroy(m.ctx);
    free(payload);
    if (why == EMUNGE_SOCKET || why == EMUNGE_TIMEOUT)
        return PMIX_ERR_NOT_AVAILABLE;
    if (why != EMUNGE_SUCCESS)
        return PMIX_ERR_INVALID_CRED;
    *uid = of_user;
    *gid = of_group;
    return PMIX_SUCCESS;
}

static pmix_status_t munge_validate(void *self, const uint8_t *cred, size_t n,
                                    uid_t uid, gid_t gid,
                                    const struct px_ptl_peer *peer)
{
    uid_t of_user;
    gid_t of_group;

    if (munge_inspect(self, cred, n, &of_user, &of_group) || of_user != uid ||
        (gid != (gid_t)-1 && of_group != gid) ||
        (peer && peer->has_uid && peer->uid != of_user) ||
        (peer && peer->has_gid && peer->gid != of_group))
        return PMIX_ERR_INVALID_CRED;
    return PMIX_SUCCESS;
}

static const struct px_param params[] = {
    PX_PARAM_PATH(struct conf, socket, "/run/munge/munge.socket.2",
                  "Socket of the daemon of MUNGE"),
    PX_PARAM_END,
};

static const struct px_psec_ops ops = {
    .create = munge_create,
    .validate = munge_validate,
    .issue = munge_issue,
    .inspect = munge_inspect,
    .flags = PX_PSEC_WAITS,
};

PX_COMPONENT(psec, munge) = {
    PX_COMPONENT_HEAD(psec, PSEC, munge),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf), /* self is the conf */
    .query = munge_query,
    .ops = &ops,
};
