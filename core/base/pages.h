/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of memory. */
#ifndef PX_BASE_PAGES_H
#define PX_BASE_PAGES_H

#include <stddef.h>

/* Backs all pages with a part of n bytes of own memory that will be written soon: one
 * system call instead of a fault for each page. Kernels before 5.14 ignore the
 * request. */
void px_pages_populate(void *at, size_t n);

#endif
