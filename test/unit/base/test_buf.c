/* SPDX-License-Identifier: BSD-3-Clause */
/* The growable buffer, and arrays that grow. */
#include "alloc_fail.h"
#include "core/base/buf.h"
#include "core/base/vec.h"
#include "px_test.h"

#include <stdint.h>
#include <string.h>

static px_buf buf;

static void cleanup(void)
{
    px_buf_cleanup(&buf);
}

PX_TEST(all_bytes_stay_in_order_over_many_growths)
{
    enum { N = 100000 };

    px_alloc_fail_at(0);
    for (unsigned i = 0; i < N; i++)
        px_buf_add(&buf, &(uint8_t){(uint8_t)(i * 7)}, 1);
    px_alloc_fail_end();

    ck_assert_uint_eq(buf.len, N);
    for (unsigned i = 0; i < N; i++)
        if (buf.data[i] != (uint8_t)(i * 7))
            ck_abort_msg("byte %u is %u", i, buf.data[i]);
    ck_assert_uint_le(px_alloc_count(), 17); /* growth is geometric */
}

PX_TEST(what_was_reserved_is_added_without_moving)
{
    ok(px_buf_add(&buf, NULL, 0));
    ck_assert_ptr_null(buf.data);
    ok(px_buf_add(&buf, "a", 1));
    ok(px_buf_reserve(&buf, 1000));
    const uint8_t *data = buf.data;
    for (int i = 0; i < 1000; i++)
        ok(px_buf_add(&buf, "b", 1));

    ck_assert_ptr_eq(buf.data, data);
    ck_assert_uint_eq(buf.len, 1001);
}

PX_TEST(a_large_addition_makes_room_for_what_follows)
{
    ok(px_buf_add(&buf, "a", 1));
    ok(px_buf_reserve(&buf, 65536));

    ck_assert_uint_eq(buf.cap, 131072);
}

PX_TEST(a_failed_growth_leaves_the_buffer_unchanged)
{
    char more[200] = {0};

    ok(px_buf_add(&buf, "abc", 3));
    px_buf before = buf;
    fails(px_buf_reserve(&buf, SIZE_MAX), NOMEM);
    ck_assert_mem_eq(&buf, &before, sizeof(buf));

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 0; px_alloc_next(&nth);)
        if (px_alloc_check(px_buf_add(&buf, more, sizeof(more))))
            ck_assert_mem_eq(&buf, &before, sizeof(buf));
    ck_assert_mem_eq(buf.data, "abc", 4);
}

PX_TEST(take_moves_the_content_out_and_cleanup_may_be_repeated)
{
    ok(px_buf_add(&buf, "abc", 3));
    px_buf taken = px_buf_take(&buf);

    ck_assert(!buf.data && buf.len == 0 && buf.cap == 0);
    ck_assert_uint_eq(taken.len, 3);
    ck_assert_mem_eq(taken.data, "abc", 3);
    free(taken.data); /* plain malloc memory */
    ok(px_buf_add(&buf, "abc", 3));
    px_buf_cleanup(&buf);
    px_buf_cleanup(&buf);
    ck_assert(!buf.data && buf.cap == 0);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

struct item {
    char name[3];
    int number;
};

PX_TEST(elements_are_added_zeroed_and_stay)
{
    PX_AUTOFREE struct item *v = NULL;
    size_t n = 0, cap = 0;

    for (int i = 0; i < 1000; i++) {
        struct item *it = px_vec_add(&v, &n, &cap);

        ck_assert_ptr_eq(it, &v[i]);
        ck_assert_int_eq(it->number, 0);
        ck_assert_int_eq(it->name[0], 0);
        it->number = i;
    }
    ck_assert_uint_eq(n, 1000);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(v[i].number, i);
}

PX_TEST(what_was_reserved_is_there)
{
    PX_AUTOFREE uint32_t *v = NULL;
    size_t cap = 0;

    for (uint32_t n = 0; n < 300; n += 7) {
        ck_assert(px_vec_reserve(&v, n, &cap, 7));
        for (uint32_t i = n; i < n + 7; i++)
            v[i] = i;
    }
    for (uint32_t i = 0; i < 300; i++)
        ck_assert_uint_eq(v[i], i);
    ck_assert(px_vec_reserve(&v, 300, &cap, cap - 300));
}

PX_TEST(an_array_of_others_grows_too)
{
    PX_AUTOFREE int *v = calloc(3, sizeof(*v));
    size_t n = 3, cap = 3;

    ck_assert_ptr_nonnull(v);
    v[2] = 7;
    *px_vec_add(&v, &n, &cap) = 8;
    ck_assert_int_eq(v[2], 7);
    ck_assert_int_eq(v[3], 8);
    ck_assert_uint_eq(cap, 16);
}

PX_TEST(too_many_are_refused)
{
    static const size_t more[] = {SIZE_MAX, SIZE_MAX - 4, SIZE_MAX / 2, SIZE_MAX / 8,
                                  SIZE_MAX / 16};
    PX_AUTOFREE uint64_t *v = NULL;
    size_t n = 0, cap = 0;

    PX_TEST_NEEDS_ALLOC; /* a sanitizer's ends the process */
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_nonnull(px_vec_add(&v, &n, &cap));
    const uint64_t *before = v;
    for (size_t i = 0; i < PX_COUNT(more); i++)
        ck_assert(!px_vec_reserve(&v, n, &cap, more[i]));
    ck_assert_ptr_eq(v, before);
    ck_assert_uint_eq(cap, 8);
}

PX_TEST(without_memory_nothing_changes_and_growth_is_rare)
{
    PX_AUTOFREE int *v = NULL;
    size_t n = 0, cap = 0;

    PX_TEST_NEEDS_ALLOC;
    for (int i = 0; i < 16; i++)
        *px_vec_add(&v, &n, &cap) = i;
    const int *before = v;
    px_alloc_fail_at(1);
    const int *added = px_vec_add(&v, &n, &cap);
    ck_assert(px_alloc_fail_end());
    ck_assert_ptr_null(added);
    ck_assert_ptr_eq(v, before);
    ck_assert_uint_eq(n, 16);

    px_alloc_fail_at(0);
    while (n < 1024)
        *px_vec_add(&v, &n, &cap) = (int)n;
    px_alloc_fail_end();
    ck_assert_uint_eq(px_alloc_count(), 6); /* 32, 64, ... 1024 */
}

PX_TEST_MAIN("base/buf", NULL, cleanup)
