/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the contributions of components to a launch: as the whole block, which mostly fails at the
 * checksum, and as the part after the checksum. */
#include "fuzz.h"
#include "core/server/fabric/blob.h"

static void read_shares(px_reader *body)
{
    struct px_blob_share share;

    while (!px_reader_done(body) && px_blob_next(body, &share) == PMIX_SUCCESS) {
        pmix_info_t *info;
        size_t n;

        FUZZ_MUST(share.component && share.version);
        if (px_unpack_infos(&share.infos, &info, &n) == PMIX_SUCCESS)
            PMIx_Info_free(info, n);
        px_blob_share_fini(&share);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    px_reader body;
    uint8_t *plain;
    struct px_err err = {0};

    if (px_blob_open(data, size, &body, &plain, &err) == PMIX_SUCCESS)
        read_shares(&body);
    else
        FUZZ_MUST(!plain && err.text[0]);
    free(plain);
    px_reader_init(&body, px_codec_default, data, size);
    read_shares(&body);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    px_infos share = {0};
    px_writer body, blob;

    if (i >= 3)
        return false;
    px_writer_init(&body, px_codec_default);
    px_writer_init(&blob, px_codec_default);
    for (unsigned k = 0; k < 1 + 200 * i; k++)
        FUZZ_MUST(!px_infos_add(&share, "key", "value", PMIX_STRING));
    px_blob_add(&body, "envar", "1.0", &share);
    px_blob_add(&body, "ports", "1.0", &share);
    FUZZ_MUST(!px_blob_seal(&body, &blob));
    const px_buf *of = i == 2 ? &body.buf : &blob.buf;
    bool added = !px_buf_add(out, of->data, of->len);
    px_infos_cleanup(&share);
    px_writer_cleanup(&body);
    px_writer_cleanup(&blob);
    return added;
}
