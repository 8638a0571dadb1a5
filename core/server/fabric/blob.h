/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding of contributions to a launch. frameworks/pnet/README.md has the layout. */
#ifndef PX_SERVER_FABRIC_BLOB_H
#define PX_SERVER_FABRIC_BLOB_H

#include "core/base/err.h"
#include "core/wire/codec.h"
#include "core/wire/ops.h"

#define PX_BLOB_KEY   "tenon.pnet"
#define PX_BLOB_MAX_B PX_MAX_INFLATED_B

/* Appends the contribution of a component. Errors are in body's status:
 * PMIX_ERR_OUT_OF_RESOURCE if the blob becomes too large, else the packing error. */
void px_blob_add(px_writer *body, const char *component, const char *version,
                 const px_infos *share);
/* Encodes body as a blob. blob is initialized. */
pmix_status_t px_blob_seal(const px_writer *body, px_writer *blob);

/* Decodes a received blob. body reads in bytes or in *plain, which the caller frees. On
 * failure err has the reason, and *plain is NULL. */
pmix_status_t px_blob_open(const void *bytes, size_t n, px_reader *body,
                           uint8_t **plain, struct px_err *err);

struct px_blob_share {
    char *component, *version; /* malloc'd, not NULL */
    px_reader infos;           /* for px_unpack_infos() */
};

/* Reads the next contribution. px_reader_done() is true at the end of body. */
pmix_status_t px_blob_next(px_reader *body, struct px_blob_share *share);
void px_blob_share_fini(struct px_blob_share *share);

#endif
