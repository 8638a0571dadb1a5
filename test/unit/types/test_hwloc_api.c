/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc is loaded by who asks for it, and by nobody else. */
#include "core/types/hwloc_api.h"
#include "px_test.h"

#include <dlfcn.h>

static void *loaded(void)
{
    return dlopen(PX_HWLOC_FILE, RTLD_NOLOAD | RTLD_LAZY);
}

PX_TEST(it_is_loaded_when_opened_and_stays)
{
    struct px_hwloc h;

    ck_assert_ptr_null(loaded());
    PX_TEST_NEEDS(px_hwloc_open(&h), "hwloc");
    ck_assert_ptr_nonnull(loaded());
    ck_assert(px_hwloc_open(&h));
    hwloc_bitmap_t set = h.bitmap_alloc();
    ck_assert(h.bitmap_iszero(set));
    h.bitmap_free(set);
}

PX_TEST_MAIN("types/hwloc_api", NULL, NULL)
