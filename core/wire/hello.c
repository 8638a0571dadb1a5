/* SPDX-License-Identifier: BSD-3-Clause */
/* The connect message. Its header is in the sender's byte order, the rest is big endian and
 * NUL-terminated text. Which fields are there depends on the role flag. */
#include "core/wire/hello.h"

#include "core/base/str.h"

#include <stdlib.h>
#include <string.h>

/* What each role says about itself. */
static const struct {
    bool ids, proc;
} roles[PX_FLAG_MAX] = {
    [PX_FLAG_CLIENT] = {false, true},
    [PX_FLAG_TOOL_LEGACY] = {true, false},
    [PX_FLAG_LAUNCHER_LEGACY] = {true, false},
    [PX_FLAG_TOOL_NEEDS_ID] = {true, false},
    [PX_FLAG_TOOL_HAS_ID] = {true, true},
    [PX_FLAG_TOOL_CLIENT] = {true, true},
    [PX_FLAG_LAUNCHER_NEEDS_ID] = {true, false},
    [PX_FLAG_LAUNCHER_HAS_ID] = {true, true},
    [PX_FLAG_LAUNCHER_CLIENT] = {true, true},
    [PX_FLAG_SINGLETON] = {true, true},
    [PX_FLAG_SCHEDULER] = {true, true},
};

/* Host byte order, as every field of it. */
struct header {
    int32_t index;
    uint32_t tag;
    uint32_t nbytes;
    uint32_t padding; /* not looked at */
};

/* ---- writing ------------------------------------------------------------------------------- */

static pmix_status_t add_u32(px_buf *b, uint32_t v)
{
    uint8_t be[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
                     (uint8_t)v};

    return px_buf_add(b, be, sizeof(be));
}

static pmix_status_t add_text(px_buf *b, const char *s)
{
    return px_buf_add(b, s, strlen(s) + 1);
}

static pmix_status_t add_identity(px_buf *b, const struct px_hello *h)
{
    pmix_status_t rc = px_buf_add(b, &h->flag, 1);

    if (!rc && roles[h->flag].ids) {
        rc = add_u32(b, h->uid);
        if (!rc)
            rc = add_u32(b, h->gid);
    }
    if (!rc && roles[h->flag].proc) {
        rc = add_text(b, h->proc.nspace);
        if (!rc)
            rc = add_u32(b, h->proc.rank);
    }
    return rc;
}

static pmix_status_t add_body(px_buf *b, const struct px_hello *h)
{
    uint8_t kind = h->described ? PX_BUFFER_DESCRIBED : PX_BUFFER_PLAIN;
    pmix_status_t rc = add_text(b, h->psec);

    if (!rc)
        rc = add_u32(b, (uint32_t)h->cred_len);
    if (!rc && h->cred_len)
        rc = px_buf_add(b, h->cred, h->cred_len);
    if (!rc)
        rc = add_identity(b, h);
    if (!rc)
        rc = add_text(b, h->version_text);
    if (!rc)
        rc = add_text(b, h->dialect);
    if (!rc)
        rc = px_buf_add(b, &kind, 1);
    if (!rc)
        rc = add_text(b, h->gds);
    if (!rc && h->blob_len)
        rc = px_buf_add(b, h->blob, h->blob_len);
    return rc;
}

pmix_status_t px_hello_encode(const struct px_hello *h, px_buf *out)
{
    struct header head = {.index = -1, .tag = UINT32_MAX};
    PX_AUTO(px_buf) b = {0};
    pmix_status_t rc;

    if (h->flag >= PX_FLAG_MAX || h->cred_len > PX_MAX_HANDSHAKE_B ||
        h->blob_len > PX_MAX_HANDSHAKE_B)
        return PMIX_ERR_BAD_PARAM;
    rc = px_buf_add(&b, &head, sizeof(head));
    if (!rc)
        rc = add_body(&b, h);
    if (rc)
        return rc;
    if (b.len - sizeof(head) > PX_MAX_HANDSHAKE_B)
        return PMIX_ERR_BAD_PARAM;
    head.nbytes = (uint32_t)(b.len - sizeof(head));
    memcpy(b.data, &head, sizeof(head));
    return px_buf_add(out, b.data, b.len);
}

/* ---- reading ------------------------------------------------------------------------------- */

struct cursor {
    const uint8_t *pos, *end;
    struct px_err *err;
};

static pmix_status_t too_short(struct cursor *c, const char *what)
{
    return px_err_set(c->err, PMIX_ERR_BAD_PARAM, "connect message ends inside its %s",
                      what);
}

static pmix_status_t take_u32(struct cursor *c, uint32_t *v, const char *what)
{
    const uint8_t *p = c->pos;

    if (c->end - p < 4)
        return too_short(c, what);
    *v = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    c->pos += 4;
    return PMIX_SUCCESS;
}

static pmix_status_t take_u8(struct cursor *c, uint8_t *v, const char *what)
{
    if (c->pos == c->end)
        return too_short(c, what);
    *v = *c->pos++;
    return PMIX_SUCCESS;
}

static pmix_status_t take_text(struct cursor *c, char *dst, size_t size,
                               const char *what)
{
    size_t left = (size_t)(c->end - c->pos);
    const uint8_t *nul = left ? memchr(c->pos, '\0', left) : NULL;

    if (!nul)
        return too_short(c, what);
    if (!px_str_copy(dst, size, (const char *)c->pos))
        return px_err_set(c->err, PMIX_ERR_BAD_PARAM,
                          "the %s in a connect message is too long", what);
    c->pos = nul + 1;
    return PMIX_SUCCESS;
}

static pmix_status_t take_bytes(struct cursor *c, uint8_t **out, size_t n,
                                const char *what)
{
    if (n > (size_t)(c->end - c->pos))
        return too_short(c, what);
    if (!n)
        return PMIX_SUCCESS;
    *out = malloc(n);
    if (!*out)
        return PMIX_ERR_NOMEM;
    memcpy(*out, c->pos, n);
    c->pos += n;
    return PMIX_SUCCESS;
}

static pmix_status_t take_security(struct cursor *c, struct px_hello *h)
{
    uint32_t n = 0;
    pmix_status_t rc = take_text(c, h->psec, sizeof(h->psec), "security module");

    if (!rc)
        rc = take_u32(c, &n, "credential");
    if (!rc)
        rc = take_bytes(c, &h->cred, n, "credential");
    if (!rc)
        h->cred_len = n;
    return rc;
}

static pmix_status_t take_identity(struct cursor *c, struct px_hello *h)
{
    pmix_status_t rc = take_u8(c, &h->flag, "role");

    if (!rc && h->flag >= PX_FLAG_MAX)
        rc = px_err_set(c->err, PMIX_ERR_BAD_PARAM,
                        "unknown role %u in a connect message", h->flag);
    if (rc)
        return rc;
    h->has_ids = roles[h->flag].ids;
    h->has_proc = roles[h->flag].proc;
    if (h->has_ids) {
        rc = take_u32(c, &h->uid, "user id");
        if (!rc)
            rc = take_u32(c, &h->gid, "group id");
    }
    if (!rc && h->has_proc) {
        rc = take_text(c, h->proc.nspace, sizeof(h->proc.nspace), "namespace");
        if (!rc)
            rc = take_u32(c, &h->proc.rank, "rank");
    }
    return rc;
}

static pmix_status_t take_protocol(struct cursor *c, struct px_hello *h)
{
    uint8_t kind = 0;
    pmix_status_t rc = take_text(c, h->version_text, sizeof(h->version_text),
                                 "version");

    if (rc)
        return rc;
    px_version_parse(h->version_text, &h->version);
    if (c->pos == c->end) /* 2.0.x ends here, and speaks a dialect of its own */
        return px_err_set(c->err, PMIX_ERR_NOT_SUPPORTED,
                          "PMIx %s names no dialect; 2.1 is the oldest supported",
                          h->version_text);
    rc = take_text(c, h->dialect, sizeof(h->dialect), "dialect");
    if (!rc)
        rc = take_u8(c, &kind, "buffer type");
    if (!rc && kind != PX_BUFFER_PLAIN && kind != PX_BUFFER_DESCRIBED)
        rc = px_err_set(c->err, PMIX_ERR_BAD_PARAM,
                        "unknown buffer type %u in a connect message", kind);
    if (rc)
        return rc;
    h->described = kind == PX_BUFFER_DESCRIBED;
    return take_text(c, h->gds, sizeof(h->gds), "data store");
}

static pmix_status_t take_rest(struct cursor *c, struct px_hello *h)
{
    size_t left = (size_t)(c->end - c->pos);
    pmix_status_t rc;

    if (left <= 1) /* the stray byte of 4.0 - 4.2.2: no packed info is so short */
        return PMIX_SUCCESS;
    rc = take_bytes(c, &h->blob, left, "infos");
    if (!rc)
        h->blob_len = left;
    return rc;
}

pmix_status_t px_hello_header(const uint8_t in[PX_HELLO_HEADER_B], size_t *body_len)
{
    struct header head;

    memcpy(&head, in, sizeof(head));
    if (head.index != -1 || head.tag != UINT32_MAX || head.nbytes > PX_MAX_HANDSHAKE_B)
        return PMIX_ERR_BAD_PARAM;
    *body_len = head.nbytes;
    return PMIX_SUCCESS;
}

pmix_status_t px_hello_decode(const uint8_t *body, size_t len, struct px_hello *h,
                              struct px_err *err)
{
    struct cursor c = {body, body + len, err};
    pmix_status_t rc;

    memset(h, 0, sizeof(*h));
    rc = take_security(&c, h);
    if (!rc)
        rc = take_identity(&c, h);
    if (!rc)
        rc = take_protocol(&c, h);
    if (!rc)
        rc = take_rest(&c, h);
    if (rc)
        px_hello_fini(h);
    return rc;
}

void px_hello_fini(struct px_hello *h)
{
    free(h->cred);
    free(h->blob);
    memset(h, 0, sizeof(*h));
}

void px_version_parse(const char *text, struct px_version *v)
{
    char *end;

    memset(v, 0, sizeof(*v));
    if (*text == 'v') /* some rendezvous files of 3.2 */
        text++;
    v->major = (unsigned)strtoul(text, &end, 10);
    if (*end == '.')
        v->minor = (unsigned)strtoul(end + 1, &end, 10);
    if (*end == '.')
        v->release = (unsigned)strtoul(end + 1, &end, 10);
}
