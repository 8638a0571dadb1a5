/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes in which contributions to a launch travel: frameworks/pnet/README.md has
 * their layout. */
#ifndef PX_SERVER_FABRIC_BLOB_H
#define PX_SERVER_FABRIC_BLOB_H

#include "core/base/err.h"
#include "core/wire/codec.h"
#include "core/wire/ops.h"

#define PX_BLOB_KEY   "tenon.pnet"
#define PX_BLOB_MAX_B PX_MAX_INFLATED_B

/* Appends the contribution of a component. body's status tells of one that does not
 * pack, and by PMIX_ERR_OUT_OF_RESOURCE of one that is beyond the bound of a blob. */
void px_blob_add(px_writer *body, const char *component, const char *version,
                 const px_infos *share);
/* blob is initialized. */
pmix_status_t px_blob_seal(const px_writer *body, px_writer *blob);

/* Of bytes that came from elsewhere. body reads in them, or in *plain, which the caller
 * frees. On failure err has the reason, and *plain is NULL. */
pmix_status_t px_blob_open(const void *bytes, size_t n, px_reader *body,
                           uint8_t **plain, struct px_err *err);

struct px_blob_share {
    char *component, *version; /* malloc'd, and not NULL */
    px_reader infos;           /* for px_unpack_infos() */
};

/* At the end of body there is none: see px_reader_done(). */
pmix_status_t px_blob_next(px_reader *body, struct px_blob_share *share);
void px_blob_share_fini(struct px_blob_share *share);

#endif
