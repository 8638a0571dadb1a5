/* SPDX-License-Identifier: BSD-3-Clause */
/* The two forms of a test that takes long: the short one, which every run has, and the long one of
 * `contrib/check.sh --long` (PX_TEST_LONG=1). PX_TEST_LONG=10 is ten times as long. */
#ifndef PX_TEST_TIMES_H
#define PX_TEST_TIMES_H

#include <stdlib.h>

/* Returns the first number, or the second in the long form. */
static inline unsigned px_test_times(unsigned short_form, unsigned long_form)
{
    const char *text = getenv("PX_TEST_LONG");
    int factor = text ? atoi(text) : 0;

    return factor > 0 ? long_form * (unsigned)factor : short_form;
}

#endif
