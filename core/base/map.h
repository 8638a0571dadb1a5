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
};

void *px_map_get(const struct px_map *map, const void *key, size_t key_len);
/* Sets or replaces; the old value, or NULL, goes to *old when old is not NULL. A
 * replacement allocates nothing. PMIX_ERR_BAD_PARAM for a NULL value, which would read
 * as absence. */
pmix_status_t px_map_put(struct px_map *map, const void *key, size_t key_len,
                         void *value, void **old);
/* Returns the value, NULL if there was none. key may be the one px_map_next gave. */
void *px_map_remove(struct px_map *map, const void *key, size_t key_len);
/* Iteration in no order: start with *pos = 0; NULL at the end. Removing the current
 * element is allowed, adding is not. The key is borrowed and has a NUL behind it; key
 * and key_len may be NULL. */
void *px_map_next(const struct px_map *map, size_t *pos, const void **key,
                  size_t *key_len);
void px_map_fini(struct px_map *map); /* frees slots and keys, not values */

/* The same with NUL-terminated keys. */
void *px_map_sget(const struct px_map *map, const char *key);
pmix_status_t px_map_sput(struct px_map *map, const char *key, void *value, void **old);
void *px_map_sremove(struct px_map *map, const char *key);

#endif
