/* SPDX-License-Identifier: BSD-3-Clause */
/* Sample objects of every type for the tests of walkers, made by ../wire/gen.c from a
 * seed. They use no dialect, because they never travel. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "../wire/gen.h"

enum { SAMPLE_SEEDS = 40, SAMPLE_MAX_SIZE = 1024, SAMPLE_MAX_ID = 75 };

/* A literal for a public structure with a char * member that is only read. */
#define TEXT(literal) ((char *)(literal))

/* Room for an object of any type. */
union sample {
    char bytes[SAMPLE_MAX_SIZE];
    max_align_t align;
};

/* Fills uninitialised memory with an object; the caller destructs it. */
static inline void sample_fill(pmix_data_type_t id, void *obj, unsigned seed)
{
    struct gen g = {.state = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1) ^ id};

    gen_object(&g, id, obj);
}

/* Moves *id to the next type in the table; false after the last. For loops over all
 * types: for (pmix_data_type_t id = 0; sample_type(&id); id++). */
static inline bool sample_type(pmix_data_type_t *id)
{
    while (*id <= SAMPLE_MAX_ID && !px_type_find(*id))
        ++*id;
    return *id <= SAMPLE_MAX_ID;
}

#endif
