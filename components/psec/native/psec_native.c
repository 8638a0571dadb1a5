/* SPDX-License-Identifier: BSD-3-Clause */
/* psec/native: the effective user and group id, as all PMIx libraries send them: four
 * bytes each, in host order. The credential alone proves nothing. The server compares
 * it with the ids that the kernel reports for the connection.
 *
 * A credential for programs is another one: ids and time, with a code under a key that
 * only this process has. So the server that made a credential can validate it, for a
 * short time. */
#include "tenon/psec.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/sip.h"

#include <string.h>
#include <sys/random.h>

enum { PRIORITY = 10 }; /* components with proof go first */

struct conf {
    uint64_t lifetime; /* ms */
};

struct native {
    struct conf conf;
    bool has_key;
    uint8_t key[PX_SIP_KEY_B];
};

struct claim {
    uint32_t uid;
    uint32_t gid;
};

_Static_assert(sizeof(struct claim) == 8, "this structure is what travels");

/* A credential for programs, as it travels. */
struct token {
    char magic[8];
    uint32_t uid, gid;
    uint64_t made_ms; /* of the server's clock */
    uint8_t code[PX_SIP_CODE_B];
};

static const char magic[8] = {'t', 'n', '.', 'c', 'r', 'e', 'd', '1'};

static pmix_status_t native_open(const struct px_services *services PX_UNUSED,
                                 const void *conf, void **self)
{
    struct native *n = calloc(1, sizeof(*n));

    if (!n)
        return PMIX_ERR_NOMEM;
    n->conf = *(const struct conf *)conf;
    *self = n;
    return PMIX_SUCCESS;
}

static pmix_status_t native_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static pmix_status_t native_create(void *self PX_UNUSED, uint8_t **cred, size_t *n)
{
    struct claim *claim = malloc(sizeof(*claim));
    if (!claim)
        return PMIX_ERR_NOMEM;

    claim->uid = geteuid();
    claim->gid = getegid();
    *cred = (uint8_t *)claim;
    *n = sizeof(*claim);
    return PMIX_SUCCESS;
}

static pmix_status_t native_validate(void *self PX_UNUSED, const uint8_t *cred,
                                     size_t n, uid_t uid, gid_t gid,
                                     const struct px_ptl_peer *peer)
{
    struct claim claim;

    if (n != sizeof(claim))
        return PMIX_ERR_INVALID_CRED;
    memcpy(&claim, cred, sizeof(claim)); /* a packet may not be aligned */
    if (claim.uid != uid || (gid != (gid_t)-1 && claim.gid != gid))
        return PMIX_ERR_INVALID_CRED;
    if (peer && peer->has_uid && peer->uid != claim.uid)
        return PMIX_ERR_INVALID_CRED;
    if (peer && peer->has_gid && peer->gid != claim.gid)
        return PMIX_ERR_INVALID_CRED;
    return PMIX_SUCCESS;
}

static void make_code(const struct native *n, const struct token *token, uint8_t *code)
{
    px_sip_code(n->key, token, offsetof(struct token, code), code);
}

static pmix_status_t native_issue(void *self, uid_t uid, gid_t gid, uint8_t **cred,
                                  size_t *n)
{
    struct native *native = self;
    struct token *token;

    if (!native->has_key &&
        getrandom(native->key, sizeof(native->key), 0) != sizeof(native->key))
        return PMIX_ERR_NOT_AVAILABLE;
    native->has_key = true;
    token = malloc(sizeof(*token));
    if (!token)
        return PMIX_ERR_NOMEM;
    *token = (struct token){.uid = uid, .gid = gid, .made_ms = px_clock_ms()};
    memcpy(token->magic, magic, sizeof(magic));
    make_code(native, token, token->code);
    *cred = (uint8_t *)token;
    *n = sizeof(*token);
    return PMIX_SUCCESS;
}

static pmix_status_t native_inspect(void *self, const uint8_t *cred, size_t n,
                                    uid_t *uid, gid_t *gid)
{
    const struct native *native = self;
    struct token token;
    uint8_t code[PX_SIP_CODE_B], differs = 0;

    if (n != sizeof(token) || !native->has_key)
        return PMIX_ERR_INVALID_CRED;
    memcpy(&token, cred, sizeof(token)); /* a packet may not be aligned */
    make_code(native, &token, code);
    for (size_t i = 0; i < sizeof(code); i++) /* in constant time */
        differs |= code[i] ^ token.code[i];
    if (differs || memcmp(token.magic, magic, sizeof(magic)) != 0 ||
        px_clock_ms() - token.made_ms > native->conf.lifetime)
        return PMIX_ERR_INVALID_CRED;
    *uid = token.uid;
    *gid = token.gid;
    return PMIX_SUCCESS;
}

static const struct px_param params[] = {
    PX_PARAM_DURATION(struct conf, lifetime, "5m", 1, 86400000,
                      "How long a credential of PMIx_Get_credential is valid"),
    PX_PARAM_END,
};

static const struct px_psec_ops ops = {
    .create = native_create,
    .validate = native_validate,
    .issue = native_issue,
    .inspect = native_inspect,
};

_Static_assert(sizeof(struct token) == 40, "without padding");

PX_COMPONENT(psec, native) = {
    PX_COMPONENT_HEAD(psec, PSEC, native),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = native_open,
    .query = native_query,
    .close = free,
    .ops = &ops,
};
