/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash map from byte keys to pointers. Keys are copied; values stay the caller's. */
#ifndef PX_BASE_MAP_H
#define PX_BASE_MAP_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdint.h>

struct px_map_slot;

struct px_map { /* all zero is an empty map */
    struct px_map_slot *slots;
    size_t n_slots, n_used, n_dead;
    struct px_map_slot *old; /* the table before, while it is emptied; or NULL */
    size_t n_old, old_at;    /* its slots; those that are empty */
    uint64_t secret;         /* key of the hash; 0: the map never had a table */
};

void *px_map_get(const struct px_map *map, const void *key, size_t key_len);
/* Adds or replaces the value of key. Stores the old value or NULL in *old unless old is
 * NULL. A replacement does not allocate. Returns PMIX_ERR_BAD_PARAM for a key of 4 GiB
 * and for a NULL value, because NULL means absent. */
pmix_status_t px_map_put(struct px_map *map, const void *key, size_t key_len,
                         void *value, void **old);
/* Removes key and returns its value, or NULL if key was absent. key may be the pointer
 * that px_map_next returned. */
void *px_map_remove(struct px_map *map, const void *key, size_t key_len);
/* Returns the next value in arbitrary order, or NULL at the end. Start with *pos = 0.
 * The current element may be removed during iteration; no element may be added. *key is
 * borrowed and NUL-terminated; key and key_len may be NULL. */
void *px_map_next(const struct px_map *map, size_t *pos, const void **key,
                  size_t *key_len);
void px_map_fini(struct px_map *map); /* frees slots and keys, not values */

/* Variants for NUL-terminated keys. */
void *px_map_sget(const struct px_map *map, const char *key);
pmix_status_t px_map_sput(struct px_map *map, const char *key, void *value, void **old);
void *px_map_sremove(struct px_map *map, const char *key);

#endif
