/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/reclaim/sort.h"

void px_heap_sort(void *base, size_t n, size_t size,
                  bool (*less)(const void *a, const void *b))
{
    char *at = base;

    for (size_t heap = n / 2, end = n; end > 1;) {
        if (heap)
            heap--;
        else
            for (size_t i = 0, last = --end * size; i < size; i++) {
                char c = at[i];

                at[i] = at[last + i];
                at[last + i] = c;
            }
        for (size_t i = heap, child; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && less(at + child * size, at + (child + 1) * size))
                child++;
            if (!less(at + i * size, at + child * size))
                break;
            for (size_t k = 0; k < size; k++) {
                char c = at[i * size + k];

                at[i * size + k] = at[child * size + k];
                at[child * size + k] = c;
            }
        }
    }
}
