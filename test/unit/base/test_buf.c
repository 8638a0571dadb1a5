/* SPDX-License-Identifier: BSD-3-Clause */
/* The growable buffer. */
#include "alloc_fail.h"
#include "core/base/buf.h"
#include "px_test.h"

#include <string.h>

PX_TEST(an_all_zero_buffer_is_empty_and_can_be_added_to)
{
    PX_AUTO(px_buf) buf = {0};

    ok(px_buf_add(&buf, "abc", 3));

    ck_assert_uint_eq(buf.len, 3);
    ck_assert_mem_eq(buf.data, "abc", 3);
}

PX_TEST(keeps_all_bytes_in_order_over_many_growths)
{
    PX_AUTO(px_buf) buf = {0};
    enum { N = 100000 };

    for (unsigned i = 0; i < N; i++) {
        uint8_t byte = (uint8_t)(i * 7);

        ok(px_buf_add(&buf, &byte, 1));
    }

    ck_assert_uint_eq(buf.len, N);
    for (unsigned i = 0; i < N; i++) {
        if (buf.data[i] != (uint8_t)(i * 7))
            ck_abort_msg("byte %u is %u", i, buf.data[i]);
    }
}

PX_TEST(growth_is_geometric)
{
    PX_AUTO(px_buf) buf = {0};

    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(0);
    for (unsigned i = 0; i < 1 << 20; i++)
        px_buf_add(&buf, "x", 1);
    px_alloc_fail_end();

    ck_assert_uint_le(px_alloc_count(), 20);
}

PX_TEST(adding_nothing_allocates_nothing_and_accepts_null)
{
    PX_AUTO(px_buf) buf = {0};

    ok(px_buf_add(&buf, NULL, 0));
    ok(px_buf_reserve(&buf, 0));

    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.len, 0);
}

PX_TEST(what_was_reserved_is_added_without_moving)
{
    PX_AUTO(px_buf) buf = {0};

    ok(px_buf_add(&buf, "a", 1));
    ok(px_buf_reserve(&buf, 1000));
    const uint8_t *data = buf.data;
    for (int i = 0; i < 1000; i++)
        ok(px_buf_add(&buf, "b", 1));

    ck_assert_ptr_eq(buf.data, data);
    ck_assert_uint_eq(buf.len, 1001);
}

PX_TEST(a_size_that_overflows_is_out_of_memory)
{
    PX_AUTO(px_buf) buf = {0};

    ok(px_buf_add(&buf, "abc", 3));
    px_buf before = buf;

    fails(px_buf_reserve(&buf, SIZE_MAX), NOMEM);
    ck_assert_mem_eq(&buf, &before, sizeof(buf));
}

PX_TEST(take_moves_the_content_out)
{
    px_buf buf = {0};

    ok(px_buf_add(&buf, "abc", 3));
    px_buf taken = px_buf_take(&buf);

    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_uint_eq(buf.cap, 0);
    ck_assert_uint_eq(taken.len, 3);
    ck_assert_mem_eq(taken.data, "abc", 3);
    free(taken.data); /* plain malloc memory */
}

PX_TEST(cleanup_may_be_repeated)
{
    px_buf buf = {0};

    ok(px_buf_add(&buf, "abc", 3));
    px_buf_cleanup(&buf);
    px_buf_cleanup(&buf);

    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.cap, 0);
}

PX_TEST(a_failed_growth_leaves_the_buffer_unchanged)
{
    PX_AUTO(px_buf) buf = {0};
    char more[200] = {0};

    PX_TEST_NEEDS_ALLOC;
    ok(px_buf_add(&buf, "abc", 3));
    px_buf before = buf;
    px_alloc_fail_at(1);
    pmix_status_t rc = px_buf_add(&buf, more, sizeof(more));
    bool failed = px_alloc_fail_end();

    ck_assert(failed);
    fails(rc, NOMEM);
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_mem_eq(&buf, &before, sizeof(buf));
    ck_assert_mem_eq(buf.data, "abc", 3);
    ok(px_buf_add(&buf, more, sizeof(more)));
}

PX_TEST_MAIN("base/buf", NULL, NULL)
