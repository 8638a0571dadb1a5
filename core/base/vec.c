/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow: doubling keeps many small additions linear. */
#include "core/base/vec.h"

#include <stdint.h>
#include <string.h>

enum { LEAST_B = 64 };

bool px_vec_reserve_of(void *v, size_t n, size_t *cap, size_t more, size_t size)
{
    size_t wanted = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
    void *array;

    if (more <= *cap - n)
        return true;
    if (more > SIZE_MAX - n)
        return false;
    if (wanted < n + more)
        wanted = n + more;
    if (wanted < LEAST_B / size)
        wanted = LEAST_B / size;
    memcpy(&array, v, sizeof(array)); /* v is of another pointer's type */
    array = reallocarray(array, wanted, size);
    if (!array)
        return false;
    memcpy(v, &array, sizeof(array));
    *cap = wanted;
    return true;
}

void *px_vec_add_of(void *v, size_t *n, size_t *cap, size_t size)
{
    char *array;

    if (!px_vec_reserve_of(v, *n, cap, 1, size))
        return NULL;
    memcpy(&array, v, sizeof(array));
    return memset(array + (*n)++ * size, 0, size);
}
