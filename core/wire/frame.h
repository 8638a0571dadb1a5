/* SPDX-License-Identifier: BSD-3-Clause */
/* The 16-byte header of every message after the handshake, all big endian. */
#ifndef PX_WIRE_FRAME_H
#define PX_WIRE_FRAME_H

#include "core/wire/ops.h"
#include "pmix_common.h"

#include <stdint.h>

#define PX_FRAME_HEADER_B 16

struct px_frame {
    int32_t pindex;
    uint32_t tag;
    uint32_t nbytes;
};

void px_frame_encode(uint8_t out[PX_FRAME_HEADER_B], const struct px_frame *f);
/* Decodes a header. PMIX_ERR_BAD_PARAM if the payload would exceed PX_MAX_FRAME_B. */
pmix_status_t px_frame_decode(const uint8_t in[PX_FRAME_HEADER_B], struct px_frame *f);

#endif
