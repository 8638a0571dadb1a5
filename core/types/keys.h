/* SPDX-License-Identifier: BSD-3-Clause */
/* The dictionary of attributes. keys.py generates it from the public headers during the
 * build. */
#ifndef PX_TYPES_KEYS_H
#define PX_TYPES_KEYS_H

#include "pmix_common.h"

#include <stddef.h>
#include <stdint.h>

struct px_key {
    const char *name;      /* "PMIX_TIMEOUT" */
    const char *key;       /* "pmix.timeout" */
    const char *newer;     /* replacement in later releases, or NULL */
    pmix_data_type_t type; /* type of the value; PMIX_UNDEF if it varies */
    const char *text;      /* description */
};

/* The preferred name of a key that several names share. */
struct px_key_owner {
    const char *key;
    uint16_t index; /* into px_keys */
};

/* Sorted by name and by key, ignoring case. */
extern const struct px_key px_keys[];
extern const size_t px_n_keys;
extern const struct px_key_owner px_key_owners[];
extern const size_t px_n_key_owners;

/* Find an attribute by name or key, ignoring case. Return NULL for NULL or an unknown
 * one. */
const struct px_key *px_key_by_name(const char *name);
const struct px_key *px_key_by_string(const char *key);

#endif
