/* SPDX-License-Identifier: BSD-3-Clause */
/* Growable arrays: a malloc'd pointer, a size_t count and a size_t capacity, side by
 * side in any structure. All zero is an empty array. */
#ifndef PX_BASE_VEC_H
#define PX_BASE_VEC_H

#include "core/base/attr.h"

#include <stdbool.h>
#include <string.h>

/* struct item *it = px_vec_add(&list->items, &list->n, &list->cap);
 * Appends a zeroed element and returns it. When out of memory, returns NULL and changes
 * nothing. */
#define px_vec_add(v, n, cap) \
    ((__typeof__(*(v)))px_vec_add_of((v), (n), (cap), sizeof(**(v))))

/* if (!px_vec_reserve(&list->items, list->n, &list->cap, more)) return PMIX_ERR_NOMEM;
 * Makes room for more elements. When out of memory, returns false and changes
 * nothing. */
#define px_vec_reserve(v, n, cap, more) \
    px_vec_reserve_of((v), (n), (cap), (more), sizeof(**(v)))

/* The functions behind both macros. v is the address of the pointer; size is the size
 * of an element. */
bool px_vec_reserve_of(void *v, size_t n, size_t *cap, size_t more, size_t size);
static inline void *px_vec_add_of(void *v, size_t *n, size_t *cap, size_t size)
{
    char *array;

    if (*n == *cap && !px_vec_reserve_of(v, *n, cap, 1, size))
        return NULL;
    memcpy(&array, v, sizeof(array));
    return memset(array + (*n)++ * size, 0, size);
}

#endif
