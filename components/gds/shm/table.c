/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats of records and index, and the order of publication. */
#include "table.h"

#include "core/base/vec.h"

#include <string.h>

enum {
    FIRST_SLOTS = 64,
    APART = 256,        /* a value of this size is not stored in its first record */
    FAR = 256,          /* longest distance of a key from its place */
    TOO_FAR = 16 * FAR, /* longest distance of a search */
};

struct record {
    px_shm_word next; /* first record: next first record of its rank; rank record: its
                       * first record; free record: next free record */
    uint64_t first;   /* offset of the key's first record; rank record: previous rank of
                       * the table */
    uint32_t n_value;
    pmix_rank_t rank;
    pmix_data_type_t type;
    uint16_t n_key;
    uint8_t table;
    char bytes[]; /* key; at the next multiple of 8 the value */
};

/* Value of a rank record: the last record of its list. Writer only. */
struct rank_end {
    uint64_t last;
};

struct index {
    uint64_t n_slots; /* a power of two */
    px_shm_word slots[];
};

/* Slot: 0 if free, otherwise 16 bits of the hash, and the offset. */
#define DEAD        ((uint64_t)1)
#define OFFSET_BITS 48
#define OFFSET_MASK ((((uint64_t)1 << OFFSET_BITS) - 1) & ~DEAD)

static bool is_live(uint64_t slot)
{
    return slot && !(slot & DEAD);
}

static uint64_t round_up(uint64_t n)
{
    return n + -n % sizeof(uint64_t);
}

static uint64_t value_at(uint64_t n_key)
{
    return round_up(offsetof(struct record, bytes) + n_key);
}

/* Returns the size of a record. Reusable records are rounded up to few sizes, so that a
 * value can replace a slightly shorter or longer value. */
static uint64_t size_of(uint8_t table, uint64_t n_key, uint64_t n_value)
{
    const uint64_t size = value_at(n_key) + round_up(n_value);
    const uint64_t step = ((uint64_t)1 << (63 - __builtin_clzll(size))) / PX_SHM_STEPS;

    return px_shm_stays(table) ? size : size + -size % step;
}

static uint64_t record_size(const volatile struct record *r)
{
    return size_of(r->table, r->n_key, r->n_value);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* Hashes a key. Readers could find colliding keys for any hash, so FAR limits the
 * search. */
static uint64_t hash_of(const struct px_shm_key *key)
{
    uint64_t h = mix(key->table + 1u, key->rank), word = 0;
    const char *text = key->text;
    size_t left = key->length;

    for (; left > sizeof(word); left -= sizeof(word), text += sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        h = mix(h, word);
    }
    if (key->length >= sizeof(word)) { /* the last bytes, which overlap earlier bytes */
        memcpy(&word, text + left - sizeof(word), sizeof(word));
    } else {
        for (size_t i = 0; i < left; i++)
            word |= (uint64_t)(uint8_t)text[i] << 8 * i;
    }
    return mix(mix(h, word), key->length);
}

/* ---- reading --------------------------------------------------------------------- */

/* Returns a record. Volatile: memory that another process may change is read once, then
 * checked, then used. */
static const volatile struct record *record_at(struct px_shm_segment *s,
                                               uint64_t offset)
{
    return px_shm_at(s, offset, offsetof(struct record, bytes));
}

static inline struct index *index_of(struct px_shm_segment *s, uint64_t *n_slots)
{
    struct px_shm_header *h = px_shm_head(s);
    uint64_t at = h ? px_shm_load(&h->index) : 0, room = 0;
    struct index *index = at ? px_shm_span(s, at, &room) : NULL;

    *n_slots = room > sizeof(*index) ? *(volatile uint64_t *)&index->n_slots : 0;
    if (*n_slots == 0 || (*n_slots & (*n_slots - 1)) ||
        *n_slots > (room - sizeof(*index)) / sizeof(index->slots[0]))
        return NULL;
    return index;
}

/* Finds the slot of a key, and its content *has. If *has is 0, the slot is the free one
 * for the key. NULL: too far, or no index. */
static inline px_shm_word *find_slot(struct px_shm_segment *s,
                                     const struct px_shm_key *key, uint64_t far,
                                     uint64_t *has)
{
    uint64_t n_slots, hash = hash_of(key);
    struct index *index = index_of(s, &n_slots);

    for (uint64_t i = 0; index && i < n_slots && i < far; i++) {
        px_shm_word *slot = &index->slots[(hash + i) & (n_slots - 1)];

        *has = px_shm_load(slot);
        if (!*has)
            return slot;
        if ((*has ^ hash) >> OFFSET_BITS)
            continue;
        px_shm_step(NULL, false); /* the record may be reused from here on */
        const struct record *whole = px_shm_at(s, *has & OFFSET_MASK,
                                               value_at(key->length));
        const volatile struct record *r = whole;
        if (r && r->rank == key->rank && r->table == key->table &&
            r->n_key == key->length &&
            memcmp(whole->bytes, key->text, key->length) == 0)
            return slot;
    }
    *has = 0;
    return NULL;
}

/* Returns the offset of the newest record of a key; 0: none. */
static inline uint64_t find_record(struct px_shm_segment *s,
                                   const struct px_shm_key *key)
{
    uint64_t has;

    find_slot(s, key, TOO_FAR, &has);
    return is_live(has) ? has & OFFSET_MASK : 0;
}

static inline bool read_value(struct px_shm_segment *s, uint64_t offset, uint64_t n_key,
                              struct px_shm_value *value)
{
    const uint64_t at = value_at(n_key);
    uint64_t room = 0;
    const volatile struct record *r = px_shm_span(s, offset, &room);

    if (at > room)
        return false;
    value->n = r->n_value;
    value->type = r->type;
    value->bytes = (const char *)r + at;
    return value->n <= room - at;
}

bool px_shm_find(struct px_shm_segment *s, const struct px_shm_key *key,
                 struct px_shm_value *value)
{
    const struct px_shm_header *h = px_shm_head(s);

    value->turn = px_shm_turn(s);
    if (!h || px_shm_load(&h->retired))
        return false;
    uint64_t at = find_record(s, key);
    return at && read_value(s, at, key->length, value);
}

/* ---- walking --------------------------------------------------------------------- */

/* Returns the next record in the list of a rank; 0 at the end. A hostile writer may
 * build cyclic or mixed lists, so offsets must grow and the rank must match. */
static uint64_t next_of(struct px_shm_segment *s, uint64_t offset,
                        const struct px_shm_key *of)
{
    const struct record *r = px_shm_at(s, offset, offsetof(struct record, bytes));
    uint64_t at = r ? px_shm_load(&r->next) : 0;
    const volatile struct record *next = at > offset ? record_at(s, at) : NULL;

    return next && next->rank == of->rank && next->table == of->table ? at : 0;
}

static struct px_shm_key rank_key(uint8_t table, pmix_rank_t rank)
{
    return (struct px_shm_key){.table = table, .rank = rank, .text = ""};
}

/* Returns the offset of the newest record of the key whose first record is at offset;
 * 0: the key is gone. Fills key, with its text in room. */
static uint64_t current_of(struct px_shm_segment *s, uint64_t offset,
                           struct px_shm_key *key, pmix_key_t room)
{
    const volatile struct record *r = record_at(s, offset);
    uint16_t n = r ? r->n_key : 0;
    const struct record *whole = n && n < sizeof(pmix_key_t)
                                     ? px_shm_at(s, offset, value_at(n))
                                     : NULL;
    if (!whole)
        return 0;
    memcpy(room, whole->bytes, n);
    room[n] = '\0';
    key->text = room;
    key->length = n;
    uint64_t newest = find_record(s, key);
    const volatile struct record *same = newest ? record_at(s, newest) : NULL;
    return same && same->first == offset ? newest : 0;
}

static pmix_status_t walk_first(struct px_shm_segment *s, uint64_t at,
                                struct px_shm_key key, px_shm_walk_fn fn, void *arg)
{
    struct px_shm_value value;
    pmix_key_t room;

    for (unsigned i = 0; i < PX_SHM_TRIES; i++) {
        value.turn = px_shm_turn(s);
        uint64_t newest = current_of(s, at, &key, room);
        bool found = newest && read_value(s, newest, key.length, &value);
        pmix_status_t rc = found                     ? fn(arg, &key, &value)
                           : px_shm_holds(s, &value) ? PMIX_SUCCESS
                                                     : PX_SHM_AGAIN;
        if (rc != PX_SHM_AGAIN)
            return rc;
    }
    return PMIX_SUCCESS;
}

/* Walks the keys of a rank. Rank records and first records are never reused. */
static pmix_status_t walk_rank(struct px_shm_segment *s, struct px_shm_key key,
                               px_shm_walk_fn fn, void *arg)
{
    struct px_shm_value value = {.turn = px_shm_turn(s)};
    uint64_t at = find_record(s, &key);
    pmix_status_t rc = PMIX_SUCCESS;

    for (unsigned i = 1; !px_shm_holds(s, &value) && i < PX_SHM_TRIES; i++) {
        value.turn = px_shm_turn(s);
        at = find_record(s, &key);
    }
    while (!rc && at && (at = next_of(s, at, &key)))
        rc = walk_first(s, at, key, fn, arg);
    return rc;
}

/* Steps to the previous rank; 0: none. */
static uint64_t rank_before(struct px_shm_segment *s, uint64_t offset,
                            pmix_rank_t *rank)
{
    const volatile struct record *r = record_at(s, offset);
    uint64_t before = r ? r->first : 0;

    *rank = r ? r->rank : PMIX_RANK_UNDEF;
    return before < offset ? before : 0;
}

static int by_number(const void *a, const void *b)
{
    const pmix_rank_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static uint64_t last_rank(struct px_shm_segment *s, enum px_gds_table table)
{
    const struct px_shm_header *h = px_shm_head(s);

    return h ? px_shm_load(&h->ranks[table]) : 0;
}

static pmix_status_t walk_table(struct px_shm_segment *s, enum px_gds_table table,
                                px_shm_walk_fn fn, void *arg)
{
    PX_AUTOFREE pmix_rank_t *ranks = NULL;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n = 0, cap = 0;

    for (uint64_t at = last_rank(s, table); at;) {
        pmix_rank_t *rank = px_vec_add(&ranks, &n, &cap);

        if (!rank)
            return PMIX_ERR_NOMEM;
        at = rank_before(s, at, rank);
    }
    if (n > 1)
        qsort(ranks, n, sizeof(*ranks), by_number);
    for (size_t i = 0; !rc && i < n; i++) {
        if (i == 0 || ranks[i] != ranks[i - 1])
            rc = walk_rank(s, rank_key((uint8_t)table, ranks[i]), fn, arg);
    }
    return rc;
}

pmix_status_t px_shm_walk(struct px_shm_segment *s, enum px_gds_table table,
                          pmix_rank_t rank, px_shm_walk_fn fn, void *arg)
{
    const struct px_shm_header *h = px_shm_head(s);

    if (!h || px_shm_load(&h->retired))
        return PMIX_SUCCESS;
    if (rank == PMIX_RANK_UNDEF)
        return walk_table(s, table, fn, arg);
    return walk_rank(s, rank_key((uint8_t)table, rank), fn, arg);
}

/* ---- growth of the index --------------------------------------------------------- */

/* Copies a slot to the new index, which no reader uses yet. */
static bool take_over(struct px_shm_segment *s, struct index *index, uint64_t slot)
{
    const uint64_t offset = slot & OFFSET_MASK;
    const struct record *r = px_shm_at(s, offset, sizeof(*r));
    const struct px_shm_key key = {
        .rank = r->rank, .table = r->table, .length = r->n_key, .text = r->bytes};
    uint64_t hash = hash_of(&key);

    for (uint64_t i = 0; i < TOO_FAR; i++) {
        px_shm_word *free_slot = &index->slots[(hash + i) & (index->n_slots - 1)];

        if (atomic_load_explicit(free_slot, memory_order_relaxed))
            continue;
        atomic_store_explicit(free_slot, slot, memory_order_relaxed);
        return true;
    }
    return false;
}

/* Makes room for two slots: a key and perhaps its rank. At most half of the slots are
 * used. */
static bool index_reserve(struct px_shm_segment *s)
{
    uint64_t n_old, n_new = FIRST_SLOTS, n_used = 0;
    struct index *old = index_of(s, &n_old);

    if (old && (s->n_used + 2) * 2 <= n_old)
        return true;
    for (uint64_t i = 0; old && i < n_old; i++)
        n_used += is_live(px_shm_load(&old->slots[i]));
    while (n_new < (n_used + 2) * 3)
        n_new *= 2;
    const uint64_t size = sizeof(*old) + n_new * sizeof(old->slots[0]);
    uint64_t at = px_shm_alloc(s, size);
    struct index *larger = at ? px_shm_at(s, at, size) : NULL;
    if (!larger)
        return false;
    larger->n_slots = n_new;
    old = index_of(s, &n_old); /* may have moved */
    n_used = 0;
    for (uint64_t i = 0; old && i < n_old; i++) {
        uint64_t slot = px_shm_load(&old->slots[i]);

        if (!is_live(slot))
            continue;
        if (!take_over(s, larger, slot)) {
            s->garbage += size;
            return false;
        }
        n_used++;
    }
    s->garbage += old ? sizeof(*old) + n_old * sizeof(old->slots[0]) : 0;
    s->n_used = n_used;
    px_shm_publish(&px_shm_head(s)->index, at);
    return true;
}

/* ---- reuse of memory ------------------------------------------------------------- */

/* Returns the free list of records of this size. */
static uint64_t *spare_of(struct px_shm_segment *s, uint64_t size)
{
    unsigned n = 63 - (unsigned)__builtin_clzll(size);

    return &s->spare[n][(size >> (n - 3)) % PX_SHM_STEPS];
}

/* Frees the replaced records. Readers that began before have to repeat their reads. */
static void release_left(struct px_shm_segment *s)
{
    px_shm_publish(&px_shm_head(s)->reused, px_shm_turn(s) + 1);
    px_shm_fence(); /* later writes must not move up */
    for (uint64_t at = s->left; at;) {
        struct record *r = px_shm_at(s, at, sizeof(*r));
        uint64_t *list = spare_of(s, record_size(r)), next = r->next;

        r->next = *list;
        *list = at;
        at = next;
    }
    s->left = s->left_b = 0;
}

static uint64_t take_spare(struct px_shm_segment *s, uint64_t size)
{
    uint64_t at = s->spare ? *spare_of(s, size) : 0;

    /* Wait for more bytes than a reader copies, so that readers seldom repeat a
     * read. */
    if (!at && s->left_b > px_shm_spare && s->left_b > 4 * s->largest) {
        if (!s->spare)
            s->spare = calloc(PX_SHM_POWERS, sizeof(*s->spare));
        if (!s->spare)
            return 0;
        release_left(s);
        at = *spare_of(s, size);
    }
    if (at) {
        const struct record *r = px_shm_at(s, at, sizeof(*r));

        *spare_of(s, size) = r->next;
        s->garbage -= size;
    }
    return at;
}

/* Gives up a record that a newer record replaces. */
static void give_up(struct px_shm_segment *s, uint64_t at)
{
    struct record *r = px_shm_at(s, at, sizeof(*r));

    s->garbage += record_size(r);
    if (px_shm_stays(r->table) || r->first == at) /* still in a list */
        return;
    r->next = s->left;
    s->left = at;
    s->left_b += record_size(r);
}

/* ---- writing --------------------------------------------------------------------- */

/* Makes an unpublished record. 0: no memory. */
static uint64_t record_add(struct px_shm_segment *s, const struct px_shm_key *key,
                           struct px_shm_value value)
{
    const uint64_t into = value_at(key->length);
    const uint64_t size = size_of(key->table, key->length, value.n);
    const uint64_t own = (uintptr_t)value.bytes - (uintptr_t)s->base;
    const bool is_own = own < s->size; /* a view, which may move */
    const bool stays = px_shm_stays(key->table);
    uint64_t at = stays ? 0 : take_spare(s, size);
    at = at ? at : px_shm_alloc(s, size);
    struct record *r = at ? px_shm_at(s, at, size) : NULL;

    if (!r)
        return 0;
    if (is_own)
        value.bytes = s->base + own;
    if (value.n > s->largest && !stays)
        s->largest = value.n;
    r->next = 0;
    r->first = 0;
    r->n_value = value.n;
    r->rank = key->rank;
    r->type = value.type;
    r->n_key = key->length;
    r->table = key->table;
    memcpy(r->bytes, key->text, key->length);
    if (value.n)
        memcpy((char *)r + into, value.bytes, value.n);
    return at;
}

static void count_lost(struct px_shm_segment *s, const struct px_shm_key *key)
{
    px_shm_word *lost = &px_shm_head(s)->lost;

    if (key->table == PX_GDS_INTERNAL)
        px_shm_publish(lost, px_shm_load(lost) + 1);
}

static void slot_publish(struct px_shm_segment *s, const struct px_shm_key *key,
                         uint64_t at)
{
    uint64_t has;
    px_shm_word *slot = find_slot(s, key, TOO_FAR, &has);

    s->n_used += !has;
    px_shm_publish(slot, (hash_of(key) >> OFFSET_BITS) << OFFSET_BITS | at);
    if (!is_live(has))
        return;
    count_lost(s, key);
    give_up(s, has & OFFSET_MASK);
}

/* Returns the offset of the rank's record, which is made if missing; 0: no memory. */
static uint64_t rank_need(struct px_shm_segment *s, const struct px_shm_key *of)
{
    const struct px_shm_key key = rank_key(of->table, of->rank);
    const struct rank_end end = {0};
    const struct px_shm_value value = {.bytes = &end, .n = sizeof(end)};
    uint64_t at = find_record(s, &key), has;

    if (at || !find_slot(s, &key, FAR, &has))
        return at;
    at = record_add(s, &key, value);
    if (!at)
        return 0;
    struct record *r = px_shm_at(s, at, sizeof(*r));
    px_shm_word *ranks = &px_shm_head(s)->ranks[of->table];
    r->first = px_shm_load(ranks);
    slot_publish(s, &key, at);
    px_shm_publish(ranks, at);
    return at;
}

static struct rank_end *end_of(struct px_shm_segment *s, uint64_t rank)
{
    return px_shm_at(s, rank + value_at(0), sizeof(struct rank_end));
}

static pmix_status_t put(struct px_shm_segment *s, const struct px_shm_key *key,
                         struct px_shm_value value)
{
    uint64_t first = find_record(s, key), rank = 0, has;

    if (first)
        first = record_at(s, first)->first;
    else if (!index_reserve(s) || !find_slot(s, key, FAR, &has) ||
             !(rank = rank_need(s, key)))
        return PMIX_ERR_NOMEM;
    bool apart = !first && value.n >= APART && !px_shm_stays(key->table);
    if (apart && !(first = record_add(s, key, (struct px_shm_value){.n = 0})))
        return PMIX_ERR_NOMEM;
    uint64_t at = record_add(s, key, value);
    if (!at) {
        s->garbage += apart ? size_of(key->table, key->length, 0) : 0;
        return PMIX_ERR_NOMEM;
    }
    px_shm_word *keys = px_shm_keys(px_shm_head(s), key);
    if (rank && !px_shm_may_have(s, key))
        px_shm_publish(keys, px_shm_load(keys) | px_shm_key_bit(key));
    struct record *r = px_shm_at(s, at, sizeof(*r));
    r->first = first ? first : at;
    slot_publish(s, key, at);
    if (!rank)
        return PMIX_SUCCESS;
    struct rank_end *end = end_of(s, rank);
    struct record *last = px_shm_at(s, end->last ? end->last : rank, sizeof(*last));
    end->last = r->first;
    px_shm_publish(&last->next, r->first);
    return PMIX_SUCCESS;
}

static pmix_status_t put_again(void *arg, const struct px_shm_key *key,
                               const struct px_shm_value *value)
{
    return put(arg, key, *value);
}

/* Moves all live records to a new segment. Without memory nothing changes. */
static void renew(struct px_shm_segment *s)
{
    struct px_shm_segment next;
    pmix_status_t rc = px_shm_segment_create(&next, s->limit);

    s->tolerated = 2 * s->garbage;
    if (rc)
        return;
    for (uint8_t table = 0; !rc && table < PX_GDS_N_TABLES; table++)
        rc = px_shm_walk(s, table, PMIX_RANK_UNDEF, put_again, &next);
    if (!rc)
        px_shm_publish(&px_shm_head(s)->retired, 1);
    px_shm_segment_close(rc ? &next : s);
    if (!rc)
        *s = next;
}

pmix_status_t px_shm_put(struct px_shm_segment *s, const struct px_shm_key *key,
                         struct px_shm_value value)
{
    const uint64_t taken = s->taken;
    pmix_status_t rc = put(s, key, value);

    /* A put that only reused garbage needs no renewal. */
    if ((rc || s->taken > taken) && s->garbage > px_shm_garbage &&
        s->garbage > s->filled / 2 && s->garbage > s->tolerated)
        renew(s);
    return rc;
}

void px_shm_remove(struct px_shm_segment *s, const struct px_shm_key *key)
{
    uint64_t has;
    px_shm_word *slot = find_slot(s, key, TOO_FAR, &has);

    if (!is_live(has))
        return;
    s->garbage += record_size(record_at(s, has & OFFSET_MASK));
    px_shm_publish(slot, has | DEAD);
    count_lost(s, key);
}

static void clear_rank(struct px_shm_segment *s, uint8_t table, pmix_rank_t rank)
{
    struct px_shm_key key = rank_key(table, rank);
    uint64_t rank_at = find_record(s, &key);
    pmix_key_t room;

    if (!rank_at)
        return;
    for (uint64_t at = next_of(s, rank_at, &key); at; at = next_of(s, at, &key)) {
        if (current_of(s, at, &key, room))
            px_shm_remove(s, &key);
    }
    end_of(s, rank_at)->last = 0;
    struct record *r = px_shm_at(s, rank_at, sizeof(*r));
    px_shm_publish(&r->next, 0);
}

void px_shm_clear(struct px_shm_segment *s, enum px_gds_table table, pmix_rank_t rank)
{
    if (rank != PMIX_RANK_UNDEF) {
        clear_rank(s, (uint8_t)table, rank);
        return;
    }
    for (uint64_t at = last_rank(s, table); at;) {
        at = rank_before(s, at, &rank);
        clear_rank(s, (uint8_t)table, rank);
    }
}
