/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash map: compared with a model, under many insertions and removals, and without
 * memory. */
#include "alloc_fail.h"
#include "core/base/map.h"
#include "px_test.h"

#include <stdbool.h>
#include <string.h>

/* The map never dereferences values, so any distinct addresses do. */
static char values[4096];
static struct px_map map;

static void empty(void)
{
    px_map_fini(&map);
}

PX_TEST(a_map_is_empty_at_first_and_after_fini)
{
    size_t pos = 0;

    for (int again = 0; again < 2; again++) {
        ck_assert_ptr_null(px_map_sget(&map, "a"));
        ck_assert_ptr_null(px_map_sremove(&map, "a"));
        ck_assert_ptr_null(px_map_next(&map, &pos, NULL, NULL));
        ok(px_map_sput(&map, "a", &values[1], NULL));
        px_map_fini(&map);
    }
}

PX_TEST(keys_are_bytes_of_any_value_and_length)
{
    const void *key = NULL;
    char keys[40] = {0}, abc[] = "abcdef";
    size_t pos = 0;

    ok(px_map_put(&map, abc, 3, &values[99], NULL));
    abc[0] = 'x'; /* the map keeps a terminated copy */
    ck_assert_ptr_eq(px_map_sget(&map, "abc"), &values[99]);
    ck_assert_ptr_nonnull(px_map_next(&map, &pos, &key, NULL));
    ck_assert_str_eq((const char *)key, "abc");
    for (size_t len = 0; len < sizeof(keys); len++)
        ok(px_map_put(&map, keys, len, &values[len], NULL));

    for (size_t len = 0; len < sizeof(keys); len++)
        ck_assert_ptr_eq(px_map_get(&map, keys, len), &values[len]);
    ck_assert_ptr_eq(px_map_get(&map, NULL, 0), &values[0]);
}

PX_TEST(a_null_value_is_refused_and_changes_nothing)
{
    void *old = &values[9];

    ok(px_map_sput(&map, "a", &values[1], NULL));

    fails(px_map_sput(&map, "a", NULL, &old), BAD_PARAM);
    ck_assert_ptr_eq(old, &values[9]);
    ck_assert_ptr_eq(px_map_sget(&map, "a"), &values[1]);
}

PX_TEST(constant_churn_does_not_grow_the_table)
{
    enum { LIVE = 10 };

    for (unsigned i = 0; i < 100000; i++) {
        unsigned gone = i - LIVE;

        ok(px_map_put(&map, &i, sizeof(i), &values[1], NULL));
        if (i >= LIVE)
            ck_assert_ptr_nonnull(px_map_remove(&map, &gone, sizeof(gone)));
    }

    ck_assert_uint_eq(map.n_used, LIVE);
    ck_assert_uint_le(map.n_slots, 64);
}

/* Most ranks commit few keys, and each rank has maps. */
PX_TEST(a_few_keys_take_one_small_table)
{
    for (unsigned i = 0; i < 6; i++)
        ok(px_map_put(&map, &i, sizeof(i), &values[i + 1], NULL));
    ck_assert_uint_eq(map.n_slots, 8);
    ck_assert_ptr_null(map.old);
#if SIZE_MAX > UINT32_MAX
    fails(px_map_put(&map, "k", (size_t)UINT32_MAX + 1, &values[1], NULL), BAD_PARAM);
    ck_assert_uint_eq(map.n_used, 6);
#endif
}

PX_TEST(removing_and_putting_back_does_not_rebuild_the_table)
{
    enum { N = 11 }; /* one less than a table of 16 slots holds */

    for (unsigned i = 0; i < N; i++)
        ok(px_map_put(&map, &i, sizeof(i), &values[i], NULL));
    const struct px_map_slot *slots = map.slots;
    for (unsigned round = 0; round < 1000; round++) {
        unsigned i = round % N;

        ck_assert_ptr_eq(px_map_remove(&map, &i, sizeof(i)), &values[i]);
        ok(px_map_put(&map, &i, sizeof(i), &values[i], NULL));
    }

    ck_assert_ptr_eq(map.slots, slots);
    ck_assert_uint_eq(map.n_slots, 16);
}

PX_TEST(a_quarter_of_the_slots_stays_empty)
{
    for (unsigned i = 0; i < 3000; i++) {
        unsigned gone = i / 2;

        ok(px_map_put(&map, &i, sizeof(i), &values[1], NULL));
        if (i % 3 == 0)
            px_map_remove(&map, &gone, sizeof(gone));
        if ((map.n_used + map.n_dead) * 4 > map.n_slots * 3)
            ck_abort_msg("%zu used and %zu dead of %zu", map.n_used, map.n_dead,
                         map.n_slots);
    }
}

/* The longest probe shows how the hash spreads keys that differ in few bits. */
PX_TEST(similar_keys_spread_over_the_table)
{
    char key[64];
    size_t run = 0;
    size_t longest = 0;

    for (unsigned i = 0; i < 48000; i++) {
        snprintf(key, sizeof(key), "job-%u.rank", i);
        ok(px_map_sput(&map, key, &values[1], NULL));
    }
    size_t pos = 0;
    for (size_t before = 0; px_map_next(&map, &pos, NULL, NULL); before = pos) {
        run = pos == before + 1 ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }

    ck_assert_uint_eq(map.n_slots, 65536);
    ck_assert_uint_lt(longest, 500); /* about 150 for an ideal hash at this load */
}

static size_t count_all(void)
{
    size_t pos = 0, n = 0;

    while (px_map_next(&map, &pos, NULL, NULL))
        n++;
    return n;
}

/* Meanwhile entries of both tables are found, removed and listed. */
PX_TEST(a_large_table_moves_over_many_puts)
{
    enum { N = 12288, GONE = 1000 }; /* N: three quarters of 16,384 slots */

    for (unsigned i = 0; i < N; i++)
        ok(px_map_put(&map, &i, sizeof(i), &values[1 + i % 1000], NULL));
    ck_assert_ptr_null(map.old);
    for (unsigned i = N; i == N || map.old; i++) {
        const size_t moved = map.old_at;

        ok(px_map_put(&map, &i, sizeof(i), &values[1 + i % 1000], NULL));
        if (map.old)
            ck_assert_uint_le(map.old_at - moved, 4);
        if (i - N == 16384 / 6) { /* half of the slots are moved */
            ck_assert_ptr_nonnull(map.old);
            ck_assert_uint_eq(count_all(), map.n_used);
            for (unsigned k = 0; k < GONE; k++)
                ck_assert_ptr_eq(px_map_remove(&map, &k, sizeof(k)), &values[1 + k]);
            ck_assert_uint_eq(count_all(), map.n_used);
        }
        ck_assert_uint_le(i - N, 16384 / 2);
    }
    ck_assert_uint_eq(count_all(), map.n_used);
    for (unsigned i = 0; i < N; i++)
        ck_assert_ptr_eq(px_map_get(&map, &i, sizeof(i)),
                         i < GONE ? NULL : &values[1 + i % 1000]);
}

/* Compares a long random history with a plain array as the model. */
PX_TEST(a_random_history_gives_what_a_plain_array_gives)
{
    void *model[997] = {NULL};
    uint32_t random = 12345;
    size_t n_used = 0;

    for (unsigned step = 0; step < 100000; step++) {
        random = random * 1664525 + 1013904223;
        /* Alternates phases with mostly insertions and mostly removals, so that the
         * table grows and shrinks. */
        unsigned add_percent = step / 10000 % 2 ? 30 : 70;
        unsigned i = (random >> 8) % PX_COUNT(model);
        void *was = &random; /* no value */

        if ((random >> 20) % 100 < add_percent) {
            void *value = &values[step % sizeof(values)];

            ok(px_map_put(&map, &i, sizeof(i), value, &was));
            ck_assert(was == model[i]);
            n_used += !model[i];
            model[i] = value;
        } else {
            ck_assert(px_map_remove(&map, &i, sizeof(i)) == model[i]);
            n_used -= model[i] != NULL;
            model[i] = NULL;
        }
        ck_assert(map.n_used == n_used);
    }
    for (unsigned i = 0; i < PX_COUNT(model); i++)
        ck_assert_ptr_eq(px_map_get(&map, &i, sizeof(i)), model[i]);
    /* Iteration visits each element once, and may remove the current element. */
    size_t pos = 0, key_len;
    const void *key;
    for (void *value; (value = px_map_next(&map, &pos, &key, &key_len)); n_used--) {
        unsigned i;

        ck_assert_uint_eq(key_len, sizeof(i));
        memcpy(&i, key, sizeof(i));
        ck_assert_ptr_eq(value, model[i]);
        ck_assert_ptr_eq(px_map_remove(&map, key, key_len), value);
    }
    ck_assert(n_used == 0 && map.n_used == 0);
}

PX_TEST(put_without_memory_changes_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    for (unsigned n_before = 0; n_before < 30; n_before++) {
        struct px_map map = {0};
        void *old = &values[9];

        for (unsigned i = 0; i < n_before; i++)
            px_map_put(&map, &i, sizeof(i), &values[i], NULL);
        struct px_map before = map;
        for (unsigned nth = 0; px_alloc_next(&nth);)
            if (px_alloc_check(px_map_sput(&map, "new", &values[100], &old))) {
                ck_assert_ptr_eq(old, &values[9]);
                ck_assert_mem_eq(&map, &before, sizeof(map));
            }
        ck_assert_ptr_eq(px_map_sget(&map, "new"), &values[100]);
        for (unsigned i = 0; i < n_before; i++)
            ck_assert_ptr_eq(px_map_get(&map, &i, sizeof(i)), &values[i]);
        px_map_fini(&map);
    }
}

PX_TEST(looking_up_replacing_and_removing_allocate_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    ok(px_map_sput(&map, "a", &values[1], NULL));
    px_alloc_fail_at(0);
    px_map_sget(&map, "a");
    px_map_sput(&map, "a", &values[2], NULL);
    px_map_sremove(&map, "a");
    px_alloc_fail_end();

    ck_assert_uint_eq(px_alloc_count(), 0);
}

PX_TEST_MAIN("base/map", NULL, empty)
