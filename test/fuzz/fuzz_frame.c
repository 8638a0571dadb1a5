/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a stream of frames, as a reader takes them apart. */
#include "fuzz.h"
#include "core/wire/frame.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    struct px_frame f = {.pindex = (int32_t)i - 1, .tag = 100 * i, .nbytes = i};
    uint8_t header[PX_FRAME_HEADER_B];

    for (unsigned k = 0; i < 4 && k < 3; k++) {
        px_frame_encode(header, &f);
        px_buf_add(out, header, sizeof(header));
        px_buf_add(out, "data", f.nbytes);
    }
    return i < 4;
}
