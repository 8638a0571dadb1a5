/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of every type to try the walkers on: made by ../wire/gen.c, the same for the
 * same seed. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "core/types/type.h"

enum { SAMPLE_SEEDS = 40, SAMPLE_MAX_SIZE = 1024, SAMPLE_MAX_ID = 75 };

/* A literal where the public structures want a char * but only read it. */
#define TEXT(literal) ((char *)(literal))

/* Room for an object of any type. */
union sample {
    char bytes[SAMPLE_MAX_SIZE];
    max_align_t align;
};

/* Fills uninitialised memory with an object the caller destructs. */
void sample_fill(pmix_data_type_t id, void *obj, unsigned seed);

/* For walking all types: for (pmix_data_type_t id = 0; sample_type(&id); id++). Moves
 * *id on to the next number that has a row; false beyond the last. */
bool sample_type(pmix_data_type_t *id);

#endif
