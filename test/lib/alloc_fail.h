/* SPDX-License-Identifier: BSD-3-Clause */
/* Failing allocations, to test the handling of out of memory. Link alloc_fail.c into the test executable.
 * To fail each allocation of f in turn:
 *
 *     PX_TEST_NEEDS_ALLOC;
 *     for (unsigned nth = 0; px_alloc_next(&nth);) {
 *         rc = f();
 *         px_alloc_check(rc);
 *     }
 *
 * In the last round no allocation fails. Between next, or fail_at, and check, or fail_end, call only the
 * tested function, because Check allocates too. */
#ifndef PX_ALLOC_FAIL_H
#define PX_ALLOC_FAIL_H

#include <stdbool.h>

#define PX_TEST_NEEDS_ALLOC PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator")

/* False where nothing can fail: sanitizers and valgrind have their own allocator. */
bool px_alloc_can_fail(void);
/* Counts allocations of all threads and libraries from now on, and fails the nth, once,
 * with NULL and ENOMEM. The first is 1; with 0 none fails. */
void px_alloc_fail_at(unsigned nth);
/* Returns the number of attempted allocations from px_alloc_fail_at to now or px_alloc_fail_end. */
unsigned px_alloc_count(void);
/* Returns allocations minus frees in that time: 0 after a call that failed and kept nothing. */
int px_alloc_balance(void);
/* Stops counting and failing; true if an allocation was made to fail. */
bool px_alloc_fail_end(void);

/* Increments nth, and lets that allocation fail; false if no allocation failed in the last round. */
bool px_alloc_next(unsigned *nth);
/* Ends the round; true if an allocation failed. Then the status must be PMIX_ERR_NOMEM, and all memory
 * must be freed. Otherwise the status must be PMIX_SUCCESS. */
#define px_alloc_check(status)                                     \
    ({                                                             \
        int rc_ = (status);                                        \
        int balance_ = px_alloc_balance();                         \
        bool failed_ = px_alloc_fail_end();                        \
        ck_assert_int_eq(rc_, failed_ ? PMIX_ERR_NOMEM : 0);       \
        ck_assert_msg(!failed_ || !balance_, "%d kept", balance_); \
        failed_;                                                   \
    })

#endif
