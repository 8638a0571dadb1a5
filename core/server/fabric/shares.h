/* SPDX-License-Identifier: BSD-3-Clause */
/* Blobs that other nodes have made, by component of this one. */
#ifndef PX_SERVER_FABRIC_SHARES_H
#define PX_SERVER_FABRIC_SHARES_H

#include "core/base/err.h"
#include "core/wire/codec.h"

struct px_share {
    pmix_info_t *info;
    size_t n;
    bool present; /* it may be empty */
};

/* One of each component in use, in their order; empty. NULL: out of memory. */
struct px_share *px_shares_create(void);
void px_shares_free(struct px_share *shares); /* NULL is fine */
/* True if the component of that place, which is not of this library, has a share that
 * it is to apply in a child process first. */
bool px_shares_is_tried(const struct px_share *shares, size_t i);
/* Reads all of a blob of a job, or of an inventory (NULL), into shares that are empty.
 * A share for a component that is not in use is left out with a line, which names it.
 * err has the reason why the blob cannot be read. */
pmix_status_t px_shares_read(struct px_share *shares, const pmix_value_t *blob,
                             const char *job, struct px_err *err);

/* The other way round: adds what px_blob_add has put into body to out. */
pmix_status_t px_shares_seal(const px_writer *body, const char *key, px_infos *out);

/* Whether an info of a component can travel, and in how many bytes; packed_b may be
 * NULL. PMIX_ERR_BAD_PARAM, which is the component's mistake; PMIX_ERR_NOMEM. */
pmix_status_t px_share_try(const pmix_info_t *info, size_t *packed_b);
/* Whether a component in use has the operation at that offset of struct px_pnet_ops. */
bool px_served_at(size_t op);
/* Logs that no component serves the function. PMIX_ERR_NOT_SUPPORTED. */
pmix_status_t px_unserved(const char *function);

#endif
