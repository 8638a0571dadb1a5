/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a connect message, as a server's address, and as a stream of frames. Each decoded value can
 * be encoded and decoded again. */
#include "fuzz.h"
#include "core/wire/frame.h"
#include "core/wire/hello.h"

#include <string.h>

static bool same(const struct px_hello *a, const struct px_hello *b)
{
    return strcmp(a->psec, b->psec) == 0 && a->cred_len == b->cred_len &&
           (!a->cred_len || memcmp(a->cred, b->cred, a->cred_len) == 0) &&
           a->flag == b->flag && a->has_ids == b->has_ids &&
           a->has_proc == b->has_proc && a->uid == b->uid && a->gid == b->gid &&
           strcmp(a->proc.nspace, b->proc.nspace) == 0 &&
           a->proc.rank == b->proc.rank &&
           strcmp(a->version_text, b->version_text) == 0 &&
           strcmp(a->dialect, b->dialect) == 0 && a->described == b->described &&
           strcmp(a->gds, b->gds) == 0 && a->blob_len == b->blob_len &&
           (!a->blob_len || memcmp(a->blob, b->blob, a->blob_len) == 0);
}

static void decode_message(const uint8_t *data, size_t size)
{
    PX_AUTO(px_buf) out = {0};
    struct px_hello hello, again;
    struct px_err err;
    size_t len;

    if (size < PX_HELLO_HEADER_B || px_hello_header(data, &len) != PMIX_SUCCESS)
        return;
    data += PX_HELLO_HEADER_B;
    size -= PX_HELLO_HEADER_B;
    if (len > size) /* the rest is still to come */
        len = size;
    if (px_hello_decode(data, len, &hello, &err))
        return;
    FUZZ_MUST(px_hello_encode(&hello, &out) == PMIX_SUCCESS);
    FUZZ_MUST(px_hello_header(out.data, &len) == PMIX_SUCCESS);
    FUZZ_MUST(len == out.len - PX_HELLO_HEADER_B);
    FUZZ_MUST(px_hello_decode(out.data + PX_HELLO_HEADER_B, len, &again, NULL) ==
              PMIX_SUCCESS);
    FUZZ_MUST(same(&hello, &again));
    px_hello_fini(&hello);
    px_hello_fini(&again);
}

static void parse_address(const uint8_t *data, size_t size)
{
    PX_AUTOFREE char *text = fuzz_text(data, size);
    struct px_uri uri;

    if (px_uri_parse(text, &uri) != PMIX_SUCCESS)
        return;
    FUZZ_MUST(strlen(uri.server.nspace) <= PMIX_MAX_NSLEN);
    FUZZ_MUST(strstr(text, uri.address));
}

/* Splits the bytes into frames as a reader does. */
static void read_frames(const uint8_t *data, size_t size)
{
    struct px_frame f, again;
    uint8_t header[PX_FRAME_HEADER_B];

    while (size >= PX_FRAME_HEADER_B && px_frame_decode(data, &f) == PMIX_SUCCESS) {
        FUZZ_MUST(f.nbytes <= PX_MAX_FRAME_B);
        px_frame_encode(header, &f);
        FUZZ_MUST(memcmp(header, data, 12) == 0); /* all but the padding */
        FUZZ_MUST(px_frame_decode(header, &again) == PMIX_SUCCESS);
        FUZZ_MUST(again.pindex == f.pindex && again.tag == f.tag &&
                  again.nbytes == f.nbytes);
        data += PX_FRAME_HEADER_B;
        size -= PX_FRAME_HEADER_B;
        if (f.nbytes > size)
            break;
        data += f.nbytes;
        size -= f.nbytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_message(data, size);
    parse_address(data, size);
    read_frames(data, size);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char address[] = "a.job.0;tcp4://127.0.0.1:4321";
    uint8_t cred[8] = {0}, blob[] = {2, 1, 2, 4, 'k', 0, 0, 14, 7};
    struct px_hello h = {.psec = "native",
                         .cred = cred,
                         .cred_len = sizeof(cred),
                         .flag = (uint8_t)(i / 2),
                         .uid = 1000,
                         .gid = 1000,
                         .proc = {"job-ns", i},
                         .version_text = "4.2.2rc2",
                         .dialect = "v41",
                         .described = i & 1,
                         .gds = "hash",
                         .blob = blob,
                         .blob_len = i & 1 ? sizeof(blob) : 0};

    if (i < 2 * PX_FLAG_MAX)
        return px_hello_encode(&h, out) == PMIX_SUCCESS;
    if (i == 2 * PX_FLAG_MAX)
        return px_buf_add(out, address, sizeof(address) - 1) == PMIX_SUCCESS;
    i -= 2 * PX_FLAG_MAX;
    for (unsigned k = 0; i <= 4 && k < 3; k++) {
        struct px_frame f = {.pindex = (int32_t)i - 2, .tag = 100 * i, .nbytes = i - 1};
        uint8_t header[PX_FRAME_HEADER_B];

        px_frame_encode(header, &f);
        px_buf_add(out, header, sizeof(header));
        px_buf_add(out, "data", f.nbytes);
    }
    return i <= 4;
}
