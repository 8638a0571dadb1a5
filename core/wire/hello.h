/* SPDX-License-Identifier: BSD-3-Clause */
/* The connect message, a client's or tool's first message. */
#ifndef PX_WIRE_HELLO_H
#define PX_WIRE_HELLO_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/wire/ops.h"

#define PX_HELLO_HEADER_B 16

/* Info of a tool's connect message, without a value: the tool is of this library. */
#define PX_HELLO_OURS "tenon.hello"

struct px_version {
    unsigned major, minor, release;
};

struct px_hello {
    char psec[32];
    uint8_t *cred; /* malloc'd by decode */
    size_t cred_len;
    uint8_t flag; /* enum px_role_flag */
    bool has_ids; /* uid and gid are present */
    bool has_proc;
    uint32_t uid, gid; /* ids that the peer claims */
    pmix_proc_t proc;
    char version_text[64];
    struct px_version version;
    char dialect[16];
    bool described;
    char gds[64];
    uint8_t *blob; /* packed infos (SIZE n, INFO[n]) or NULL; malloc'd by decode */
    size_t blob_len;
};

/* Encodes header and body. */
pmix_status_t px_hello_encode(const struct px_hello *h, px_buf *out);
/* Reads the body's length from the header. Returns PMIX_ERR_BAD_PARAM if in is not a
 * connect message's header or the body exceeds PX_MAX_HANDSHAKE_B. */
pmix_status_t px_hello_header(const uint8_t in[PX_HELLO_HEADER_B], size_t *body_len);
/* Decodes a body. Every string must end inside the body. A stray trailing byte (4.0 -
 * 4.2.2) is accepted. */
pmix_status_t px_hello_decode(const uint8_t *body, size_t len, struct px_hello *h,
                              struct px_err *err);
void px_hello_fini(struct px_hello *h);

void px_version_parse(const char *text, struct px_version *v);
/* True if v is this version or later. */
bool px_version_since(const struct px_version *v, unsigned major, unsigned minor,
                      unsigned release);

/* A server's address, "nspace.rank;tcp4://127.0.0.1:1234". The last dot separates the
 * rank. */
struct px_uri {
    pmix_proc_t server;
    char address[256]; /* with scheme: "tcp4://..." */
};
pmix_status_t px_uri_parse(const char *text, struct px_uri *uri);

#endif
