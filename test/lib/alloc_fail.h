/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets an allocation of this process fail, to prove that running out of memory is
 * handled. Link alloc_fail.c into the test executable. To fail each allocation of f in
 * turn:
 *
 *     PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
 *     for (unsigned nth = 1;; nth++) {
 *         px_alloc_fail_at(nth);
 *         rc = f();
 *         if (!px_alloc_fail_end())
 *             break;
 *         ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
 *         ck_assert_int_eq(px_alloc_balance(), 0);
 *     }
 *     ck_assert_int_eq(rc, PMIX_SUCCESS);
 *
 * Between fail_at and fail_end have only what is tested: Check allocates too. */
#ifndef PX_ALLOC_FAIL_H
#define PX_ALLOC_FAIL_H

#include <stdbool.h>

/* False where nothing can fail: sanitizers and valgrind have their own allocator. */
bool px_alloc_can_fail(void);
/* Counts allocations of all threads and libraries from now on, and fails the nth, once,
 * with NULL and ENOMEM. The first is 1; with 0 none fails. */
void px_alloc_fail_at(unsigned nth);
/* How many allocations were tried from px_alloc_fail_at to now or px_alloc_fail_end. */
unsigned px_alloc_count(void);
/* Allocations minus frees in that time: 0 after a call that failed and kept nothing. */
int px_alloc_balance(void);
/* Stops counting and failing; true if an allocation was made to fail. */
bool px_alloc_fail_end(void);

#endif
