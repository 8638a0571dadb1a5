/* SPDX-License-Identifier: BSD-3-Clause */
/* Start of connections. The connect message: its header is in the sender's byte order,
 * which the length reveals. The rest is big endian integers and NUL-terminated text.
 * The role flag determines which fields are present. The address of a server:
 * "<namespace>.<rank>;<scheme>://<address>". The header of later frames: i32 index, u32
 * tag, u32 length, u32 padding that readers ignore. */
#include "core/wire/hello.h"

#include "core/base/str.h"
#include "core/wire/frame.h"
#include "core/wire/number.h"

#include <stdlib.h>

static void put_be32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t get_be32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The fields that each role sends. */
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

/* The header of the connect message, in host byte order. */
struct header {
    int32_t index;
    uint32_t tag;
    uint32_t nbytes;
    uint32_t padding; /* ignored */
};

/* ---- writing --------------------------------------------------------------------- */

static void put_u32(px_writer *w, uint32_t v)
{
    uint8_t be[4];

    put_be32(be, v);
    px_put_raw(w, be, sizeof(be));
}

static void put_text(px_writer *w, const char *s)
{
    px_put_raw(w, s, strlen(s) + 1);
}

pmix_status_t px_hello_encode(const struct px_hello *h, px_buf *out)
{
    struct header head = {.index = -1, .tag = UINT32_MAX};

    if (h->flag >= PX_FLAG_MAX || h->cred_len > PX_MAX_HANDSHAKE_B ||
        h->blob_len > PX_MAX_HANDSHAKE_B)
        return PMIX_ERR_BAD_PARAM;
    PX_AUTO(px_writer) w;
    px_writer_init(&w, px_codec_default);
    px_put_raw(&w, &head, sizeof(head));
    put_text(&w, h->psec);
    put_u32(&w, (uint32_t)h->cred_len);
    px_put_raw(&w, h->cred, h->cred_len);
    px_put_byte(&w, h->flag);
    if (roles[h->flag].ids) {
        put_u32(&w, h->uid);
        put_u32(&w, h->gid);
    }
    if (roles[h->flag].proc) {
        put_text(&w, h->proc.nspace);
        put_u32(&w, h->proc.rank);
    }
    put_text(&w, h->version_text);
    put_text(&w, h->dialect);
    px_put_byte(&w, h->described ? PX_BUFFER_DESCRIBED : PX_BUFFER_PLAIN);
    put_text(&w, h->gds);
    px_put_raw(&w, h->blob, h->blob_len);
    if (w.status)
        return w.status;
    if (w.buf.len - sizeof(head) > PX_MAX_HANDSHAKE_B)
        return PMIX_ERR_BAD_PARAM;
    head.nbytes = (uint32_t)(w.buf.len - sizeof(head));
    memcpy(w.buf.data, &head, sizeof(head));
    return px_buf_add(out, w.buf.data, w.buf.len);
}

/* ---- reading --------------------------------------------------------------------- */

/* A position in the message. After the first error all reads return zero. */
struct cursor {
    const uint8_t *pos, *end;
    struct px_err *err;
    pmix_status_t rc;
};

static void too_short(struct cursor *c, const char *what)
{
    c->rc = px_err_set(c->err, PMIX_ERR_BAD_PARAM, "connect message ends inside its %s",
                       what);
}

static const uint8_t *take(struct cursor *c, size_t n, const char *what)
{
    const uint8_t *at = c->pos;

    if (c->rc)
        return NULL;
    if (n > (size_t)(c->end - at)) {
        too_short(c, what);
        return NULL;
    }
    c->pos += n;
    return at;
}

static uint32_t take_u32(struct cursor *c, const char *what)
{
    const uint8_t *at = take(c, 4, what);

    return at ? get_be32(at) : 0;
}

static uint8_t take_u8(struct cursor *c, const char *what)
{
    const uint8_t *at = take(c, 1, what);

    return at ? *at : 0;
}

static void take_text(struct cursor *c, char *dst, size_t size, const char *what)
{
    size_t left = (size_t)(c->end - c->pos);
    const uint8_t *nul = left ? memchr(c->pos, '\0', left) : NULL;

    if (c->rc)
        return;
    if (!nul)
        too_short(c, what);
    else if (!px_str_copy(dst, size, (const char *)c->pos))
        c->rc = px_err_set(c->err, PMIX_ERR_BAD_PARAM,
                           "the %s in a connect message is too long", what);
    else
        c->pos = nul + 1;
}

static void take_bytes(struct cursor *c, uint8_t **out, size_t *size, size_t n,
                       const char *what)
{
    const uint8_t *at = take(c, n, what);

    if (!at || !n)
        return;
    *out = malloc(n);
    if (!*out) {
        c->rc = PMIX_ERR_NOMEM;
        return;
    }
    memcpy(*out, at, n);
    *size = n;
}

static void take_identity(struct cursor *c, struct px_hello *h)
{
    h->flag = take_u8(c, "role");
    if (!c->rc && h->flag >= PX_FLAG_MAX)
        c->rc = px_err_set(c->err, PMIX_ERR_BAD_PARAM,
                           "unknown role %u in a connect message", h->flag);
    if (c->rc)
        return;
    h->has_ids = roles[h->flag].ids;
    h->has_proc = roles[h->flag].proc;
    if (h->has_ids) {
        h->uid = take_u32(c, "user id");
        h->gid = take_u32(c, "group id");
    }
    if (h->has_proc) {
        take_text(c, h->proc.nspace, sizeof(h->proc.nspace), "namespace");
        h->proc.rank = take_u32(c, "rank");
    }
}

static void take_protocol(struct cursor *c, struct px_hello *h)
{
    take_text(c, h->version_text, sizeof(h->version_text), "version");
    px_version_parse(h->version_text, &h->version);
    if (!c->rc && c->pos == c->end) /* 2.0.x ends here, and has another dialect */
        c->rc = px_err_set(c->err, PMIX_ERR_NOT_SUPPORTED,
                           "PMIx %s names no dialect; 2.1 is the oldest supported",
                           h->version_text);
    take_text(c, h->dialect, sizeof(h->dialect), "dialect");
    uint8_t kind = take_u8(c, "buffer type");
    if (!c->rc && kind != PX_BUFFER_PLAIN && kind != PX_BUFFER_DESCRIBED)
        c->rc = px_err_set(c->err, PMIX_ERR_BAD_PARAM,
                           "unknown buffer type %u in a connect message", kind);
    h->described = kind == PX_BUFFER_DESCRIBED;
    take_text(c, h->gds, sizeof(h->gds), "data store");
}

pmix_status_t px_hello_header(const uint8_t in[PX_HELLO_HEADER_B], size_t *body_len)
{
    struct header head;

    memcpy(&head, in, sizeof(head));
    if (head.nbytes > PX_MAX_HANDSHAKE_B) /* a sender of the other byte order */
        head.nbytes = __builtin_bswap32(head.nbytes);
    if (head.index != -1 || head.tag != UINT32_MAX || head.nbytes > PX_MAX_HANDSHAKE_B)
        return PMIX_ERR_BAD_PARAM;
    *body_len = head.nbytes;
    return PMIX_SUCCESS;
}

pmix_status_t px_hello_decode(const uint8_t *body, size_t len, struct px_hello *h,
                              struct px_err *err)
{
    struct cursor c = {body, body + len, err, PMIX_SUCCESS};

    memset(h, 0, sizeof(*h));
    take_text(&c, h->psec, sizeof(h->psec), "security module");
    take_bytes(&c, &h->cred, &h->cred_len, take_u32(&c, "credential"), "credential");
    take_identity(&c, h);
    take_protocol(&c, h);
    if (c.end - c.pos > 1) /* the stray byte of 4.0 - 4.2.2; packed infos are longer */
        take_bytes(&c, &h->blob, &h->blob_len, (size_t)(c.end - c.pos), "infos");
    if (c.rc)
        px_hello_fini(h);
    return c.rc;
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
    if (*text == 'v') /* in rendezvous files of 3.2 */
        text++;
    v->major = (unsigned)strtoul(text, &end, 10);
    if (*end == '.')
        v->minor = (unsigned)strtoul(end + 1, &end, 10);
    if (*end == '.')
        v->release = (unsigned)strtoul(end + 1, &end, 10);
}

bool px_version_since(const struct px_version *v, unsigned major, unsigned minor,
                      unsigned release)
{
    if (v->major != major)
        return v->major > major;
    return v->minor != minor ? v->minor > minor : v->release >= release;
}

/* ---- addresses ------------------------------------------------------------------- */

pmix_status_t px_uri_parse(const char *text, struct px_uri *uri)
{
    char owner[PMIX_MAX_NSLEN + 16]; /* namespace, dot, rank */
    const char *semicolon = text ? strchr(text, ';') : NULL;
    const char *address, *scheme_end;
    struct px_uri parsed = {0};
    char *dot;
    int64_t rank;

    if (!semicolon || (size_t)(semicolon - text) >= sizeof(owner))
        return PMIX_ERR_BAD_PARAM;
    memcpy(owner, text, (size_t)(semicolon - text));
    owner[semicolon - text] = '\0';
    dot = strrchr(owner, '.'); /* namespaces may contain dots, ranks do not */
    if (!dot || dot == owner)
        return PMIX_ERR_BAD_PARAM;
    *dot = '\0';
    /* 3.x prints ranks as signed numbers */
    if (!px_str_to_i64(dot + 1, INT32_MIN, UINT32_MAX, &rank) ||
        !px_str_copy(parsed.server.nspace, sizeof(parsed.server.nspace), owner))
        return PMIX_ERR_BAD_PARAM;
    parsed.server.rank = (pmix_rank_t)rank;

    address = semicolon + 1;
    scheme_end = strstr(address, "://");
    if (!scheme_end || scheme_end == address || !scheme_end[3] ||
        strchr(address, ';') ||
        !px_str_copy(parsed.address, sizeof(parsed.address), address))
        return PMIX_ERR_BAD_PARAM;
    *uri = parsed;
    return PMIX_SUCCESS;
}

/* ---- frames ---------------------------------------------------------------------- */

void px_frame_encode(uint8_t out[PX_FRAME_HEADER_B], const struct px_frame *f)
{
    put_be32(out, (uint32_t)f->pindex);
    put_be32(out + 4, f->tag);
    put_be32(out + 8, f->nbytes);
    put_be32(out + 12, 0);
}

pmix_status_t px_frame_decode(const uint8_t in[PX_FRAME_HEADER_B], struct px_frame *f)
{
    uint32_t nbytes = get_be32(in + 8);

    if (nbytes > PX_MAX_FRAME_B)
        return PMIX_ERR_BAD_PARAM;
    *f = (struct px_frame){(int32_t)get_be32(in), get_be32(in + 4), nbytes};
    return PMIX_SUCCESS;
}
