/* SPDX-License-Identifier: BSD-3-Clause */
/* The injector of allocation failures. If it did not inject, other tests would pass
 * without testing anything. */
#include "alloc_fail.h"
#include "px_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

PX_TEST(every_function_of_the_allocator_can_fail)
{
    PX_TEST_NEEDS_ALLOC;
    void *volatile p[4];
    char *volatile old = malloc(1);
    size_t volatile n = 10;

    px_alloc_fail_at(1);
    p[0] = malloc(n);
    px_alloc_fail_at(1);
    p[1] = calloc(n, n);
    px_alloc_fail_at(1);
    p[2] = realloc(old, n);
    px_alloc_fail_at(1);
    p[3] = reallocarray(old, n, n);
    px_alloc_fail_end();

    for (int i = 0; i < 4; i++)
        ck_assert_ptr_null(p[i]);
    free(old);
}

PX_TEST(allocations_within_libc_fail_too)
{
    char *text = NULL;

    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(1);
    char *volatile copy = strdup("text");
    px_alloc_fail_at(1);
    int len = asprintf(&text, "%d", 1);
    px_alloc_fail_end();

    ck_assert_ptr_null(copy);
    ck_assert_int_eq(len, -1);
}

PX_TEST(only_the_nth_fails_and_sets_errno)
{
    /* volatile: a compiler may otherwise assume that malloc does not change errno. */
    void *(*volatile take)(size_t) = malloc;

    PX_TEST_NEEDS_ALLOC;
    errno = 0;
    px_alloc_fail_at(2);
    void *volatile first = take(1);
    int errno_before = errno;
    void *volatile second = take(1);
    int errno_after = errno;
    void *volatile third = take(1);
    bool failed = px_alloc_fail_end();

    ck_assert_ptr_nonnull(first);
    ck_assert_int_eq(errno_before, 0);
    ck_assert_ptr_null(second);
    ck_assert_int_eq(errno_after, ENOMEM);
    ck_assert_ptr_nonnull(third);
    ck_assert(failed);
    ck_assert_uint_eq(px_alloc_count(), 3);
    free(first);
    free(third);
}

PX_TEST(the_balance_is_what_was_allocated_and_not_freed)
{
    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(3);
    void *volatile kept = malloc(1);
    void *volatile freed = calloc(1, 1);
    void *volatile failed = realloc(kept, 100);
    kept = realloc(kept, 200);
    free(freed);
    free(NULL);
    px_alloc_fail_end();

    ck_assert_ptr_null(failed);
    ck_assert_int_eq(px_alloc_balance(), 1);
    free(kept);
    ck_assert_int_eq(px_alloc_balance(), 1);
}

PX_TEST_MAIN("test/alloc_fail", NULL, NULL)
