/* SPDX-License-Identifier: BSD-3-Clause */
/* The dictionary of attributes, which keys.py makes from the lines of the public
 * headers when the library is built. */
#ifndef PX_TYPES_KEYS_H
#define PX_TYPES_KEYS_H

#include "pmix_common.h"

#include <stddef.h>
#include <stdint.h>

struct px_key {
    const char *name;      /* "PMIX_TIMEOUT" */
    const char *key;       /* "pmix.timeout" */
    const char *newer;     /* what later releases use for it instead; NULL */
    pmix_data_type_t type; /* of its value; PMIX_UNDEF: varies */
    const char *text;      /* what it means */
};

/* Which name a key is called by, where several share it. */
struct px_key_owner {
    const char *key;
    uint16_t index; /* into px_keys */
};

/* In order of names and of keys; case does not count. */
extern const struct px_key px_keys[];
extern const size_t px_n_keys;
extern const struct px_key_owner px_key_owners[];
extern const size_t px_n_key_owners;

/* In any case of letters; NULL if there is none, or for NULL. */
const struct px_key *px_key_by_name(const char *name);
const struct px_key *px_key_by_string(const char *key);

#endif
