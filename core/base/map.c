/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash map with open addressing, linear probing and a power of two of slots. At most
 * 3/4 of the slots are live or dead. Keys come from clients, so the hash is keyed
 * (SipHash-1-3). Otherwise a client could choose colliding keys, and each lookup would
 * be a scan. The hash key is made of addresses, which ASLR hides. Each map has its own,
 * so entries of one map enter another in no special order. Further puts empty a large
 * old table, some slots each, so that no put takes long. A new table keeps the hashes:
 * neighbours of the old table become neighbours, which touches few pages. */
#include "core/base/map.h"

#include "core/base/sip.h"

#include <stdbool.h>
#include <string.h>

enum {
    MIN_SLOTS = 8,
    AT_ONCE = 1024, /* slots of an old table that are moved at once */
};

/* A slot. A live slot has a value. A dead slot had a value, and probes must continue
 * past it. Other slots are empty; calloc gives empty slots. */
struct px_map_slot {
    uint64_t hash;
    char *key; /* key_len bytes and a NUL */
    void *value;
    uint32_t key_len;
    bool dead;
};

/* Returns the SipHash of key. The constants are SipHash's. */
static uint64_t hash_of(const struct px_map *map, const void *key, size_t len)
{
    const uint64_t secret = map->secret;
    uint64_t v[4] = {
        secret ^ 0x736f6d6570736575,
        0x646f72616e646f6d,
        secret ^ 0x6c7967656e657261,
        0x7465646279746573,
    };
    const uint8_t *bytes = key;
    uint64_t word;

    for (size_t left = len; left >= sizeof(word); left -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        bytes += sizeof(word);
        v[3] ^= word;
        px_sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)len << 56;
    for (size_t i = 0; i < len % sizeof(word); i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    v[3] ^= word;
    px_sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    px_sip_round(v);
    px_sip_round(v);
    px_sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Returns the live slot of key, or NULL. The loop ends because a quarter of the slots
 * is always empty. */
static struct px_map_slot *find_in(struct px_map_slot *slots, size_t n_slots,
                                   uint64_t hash, const void *key, size_t key_len)
{
    const size_t mask = n_slots - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct px_map_slot *slot = &slots[i];

        if (slot->value && slot->hash == hash && slot->key_len == key_len &&
            (key_len == 0 || memcmp(slot->key, key, key_len) == 0))
            return slot;
        if (!slot->value && !slot->dead)
            return NULL;
    }
}

static struct px_map_slot *find(const struct px_map *map, const void *key,
                                size_t key_len)
{
    if (map->n_used == 0)
        return NULL;
    const uint64_t hash = hash_of(map, key, key_len);
    struct px_map_slot *slot = find_in(map->slots, map->n_slots, hash, key, key_len);
    return slot || !map->old ? slot : find_in(map->old, map->n_old, hash, key, key_len);
}

/* Stores content in the first slot that is not live. True if that slot was dead. */
static bool place(struct px_map_slot *slots, size_t n_slots,
                  const struct px_map_slot *content)
{
    size_t i = content->hash & (n_slots - 1);

    while (slots[i].value)
        i = (i + 1) & (n_slots - 1);
    bool was_dead = slots[i].dead;
    slots[i] = *content;
    return was_dead;
}

/* Moves the next n slots of the old table, which goes with its last slot. */
static void move_old(struct px_map *map, size_t n)
{
    for (; map->old && n > 0; n--) {
        struct px_map_slot *from = &map->old[map->old_at++];
        const struct px_map_slot content = *from;

        if (content.value) {
            *from = (struct px_map_slot){.dead = true};
            map->n_dead -= place(map->slots, map->n_slots, &content);
        }
        if (map->old_at < map->n_old)
            continue;
        free(px_take(&map->old));
        map->n_old = map->old_at = 0;
    }
}

/* Makes a new table that will be at most half full. The new table has no dead slots, so
 * it may be smaller. */
static pmix_status_t rebuild(struct px_map *map)
{
    size_t n_slots = MIN_SLOTS;

    move_old(map, SIZE_MAX);
    while (n_slots / 2 < map->n_used + 1)
        n_slots *= 2;
    struct px_map_slot *slots = calloc(n_slots, sizeof(*slots));
    if (!slots)
        return PMIX_ERR_NOMEM;
    if (!map->secret)
        map->secret = (uintptr_t)slots ^ (uint64_t)(uintptr_t)map << 32;
    map->old = map->slots;
    map->n_old = map->n_slots;
    map->slots = slots;
    map->n_slots = n_slots;
    map->n_dead = 0;
    if (map->n_old <= AT_ONCE)
        move_old(map, AT_ONCE);
    return PMIX_SUCCESS;
}

/* Returns the slots that a put moves. The old table is empty before the new one is
 * full, because at least a quarter of the new slots is free for puts. */
static size_t moves_per_put(const struct px_map *map)
{
    return 1 + map->n_old / (map->n_slots / 4);
}

static pmix_status_t add(struct px_map *map, const void *key, size_t key_len,
                         void *value)
{
    PX_AUTOFREE char *copy = malloc(key_len + 1);
    if (!copy)
        return PMIX_ERR_NOMEM;
    if (key_len)
        memcpy(copy, key, key_len);
    copy[key_len] = '\0';
    if (map->n_used + map->n_dead >= map->n_slots / 4 * 3) {
        pmix_status_t rc = rebuild(map);
        if (rc)
            return rc;
    }

    const struct px_map_slot content = {
        .hash = hash_of(map, key, key_len),
        .key = px_take(&copy),
        .value = value,
        .key_len = (uint32_t)key_len,
    };
    map->n_dead -= place(map->slots, map->n_slots, &content);
    map->n_used++;
    move_old(map, moves_per_put(map));
    return PMIX_SUCCESS;
}

void *px_map_get(const struct px_map *map, const void *key, size_t key_len)
{
    const struct px_map_slot *slot = find(map, key, key_len);

    return slot ? slot->value : NULL;
}

pmix_status_t px_map_put(struct px_map *map, const void *key, size_t key_len,
                         void *value, void **old)
{
    if (!value || (uint32_t)key_len != key_len)
        return PMIX_ERR_BAD_PARAM;
    struct px_map_slot *slot = find(map, key, key_len);
    void *was = slot ? slot->value : NULL;
    if (slot) {
        slot->value = value;
    } else {
        pmix_status_t rc = add(map, key, key_len, value);
        if (rc)
            return rc;
    }
    if (old)
        *old = was;
    return PMIX_SUCCESS;
}

/* Empties dead slots that stand directly before an empty slot. Such slots only lengthen
 * probes. */
static void sweep_back(struct px_map *map, size_t from)
{
    const size_t mask = map->n_slots - 1;
    const struct px_map_slot *next = &map->slots[(from + 1) & mask];

    if (next->value || next->dead)
        return;
    for (size_t i = from; map->slots[i].dead; i = (i - 1) & mask) {
        map->slots[i].dead = false;
        map->n_dead--;
    }
}

void *px_map_remove(struct px_map *map, const void *key, size_t key_len)
{
    struct px_map_slot *slot = find(map, key, key_len);
    if (!slot)
        return NULL;

    void *value = slot->value;
    free(slot->key);
    *slot = (struct px_map_slot){.dead = true};
    map->n_used--;
    if (slot >= map->slots && slot < map->slots + map->n_slots) { /* not an old one */
        map->n_dead++;
        sweep_back(map, (size_t)(slot - map->slots));
    }
    return value;
}

void *px_map_next(const struct px_map *map, size_t *pos, const void **key,
                  size_t *key_len)
{
    while (*pos < map->n_old + map->n_slots) {
        const size_t i = (*pos)++;
        const struct px_map_slot *slot = i < map->n_old ? &map->old[i]
                                                        : &map->slots[i - map->n_old];

        if (!slot->value)
            continue;
        if (key)
            *key = slot->key;
        if (key_len)
            *key_len = slot->key_len;
        return slot->value;
    }
    return NULL;
}

void px_map_fini(struct px_map *map)
{
    move_old(map, SIZE_MAX);
    for (size_t i = 0; i < map->n_slots; i++)
        free(map->slots[i].key);
    free(map->slots);
    *map = (struct px_map){0};
}

void *px_map_sget(const struct px_map *map, const char *key)
{
    return px_map_get(map, key, strlen(key));
}

pmix_status_t px_map_sput(struct px_map *map, const char *key, void *value, void **old)
{
    return px_map_put(map, key, strlen(key), value, old);
}

void *px_map_sremove(struct px_map *map, const char *key)
{
    return px_map_remove(map, key, strlen(key));
}
