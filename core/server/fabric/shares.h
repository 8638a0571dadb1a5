/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoded contributions, by component of this node. */
#ifndef PX_SERVER_FABRIC_SHARES_H
#define PX_SERVER_FABRIC_SHARES_H

#include "core/base/err.h"
#include "core/wire/codec.h"

struct px_module;

struct px_share {
    const struct px_module *module; /* of the component; NULL ends an array */
    pmix_info_t *info;
    size_t n;
    bool present; /* received; may be empty */
};

/* Creates empty shares, one for each component in use, in their order. NULL if out of
 * memory. */
struct px_share *px_shares_create(void);
void px_shares_free(struct px_share *shares); /* NULL is fine */
/* True if the share is present and its component, from another library, must apply it
 * in a child process first. */
bool px_share_is_tried(const struct px_share *share);
/* Decodes a blob of a job, or of an inventory (job NULL), into empty shares. Skips a
 * share for a component that is not in use, with a log line. err has the reason of a
 * failure. */
pmix_status_t px_shares_read(struct px_share *shares, const pmix_value_t *blob,
                             const char *job, struct px_err *err);

/* Encodes the contributions in body, and adds them to out. */
pmix_status_t px_shares_seal(const px_writer *body, const char *key, px_infos *out);

/* Checks that an info of a component can be packed. packed_b gets its size, or is NULL.
 * PMIX_ERR_BAD_PARAM, a mistake of the component; PMIX_ERR_NOMEM. */
pmix_status_t px_share_try(const pmix_info_t *info, size_t *packed_b);
/* True if a component in use has the operation at that offset of struct px_pnet_ops. */
bool px_served_at(size_t op);
/* Logs that no component serves the function. Returns PMIX_ERR_NOT_SUPPORTED. */
pmix_status_t px_unserved(const char *function);

#endif
