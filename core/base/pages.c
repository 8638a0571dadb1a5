/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

void px_pages_populate(void *at, size_t n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)at & ~(page - 1);
    const uintptr_t to = ((uintptr_t)at + n + page - 1) & ~(page - 1);

    if (n > 0)
        (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}
