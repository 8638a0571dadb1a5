/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting where no memory may be allocated, as qsort may do. */
#ifndef PX_RECLAIM_SORT_H
#define PX_RECLAIM_SORT_H

#include <stdbool.h>
#include <stddef.h>

/* less: whether a comes before b. */
void px_heap_sort(void *base, size_t n, size_t size,
                  bool (*less)(const void *a, const void *b));

#endif
