/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of any type, made from the type table; a seed always gives the same
 * objects. */
#ifndef PX_GEN_H
#define PX_GEN_H

#include "core/wire/codec.h"

struct gen {
    uint64_t state; /* seed */
    /* Objects travel without loss in this dialect. NULL: objects need not travel, so
     * members that exist only in memory are filled, too. */
    const struct px_dialect *dialect;
    const pmix_data_type_t
        *leave_out,    /* excluded types, ending in UNDEF; may be NULL */
        *not_in_array; /* types excluded from data arrays, too */
    bool wild;         /* favours extreme lengths, numbers and nesting */

    unsigned depth;  /* nested objects, so far */
    unsigned levels; /* nested values and data arrays, so far */
    size_t n_made;   /* objects made */
};

uint64_t gen_seed(void); /* PX_TEST_SEED, or 1 */
uint64_t gen_number(struct gen *g);
size_t gen_below(struct gen *g, size_t n);
/* False for excluded types and for types unknown to the dialect. */
bool gen_can(const struct gen *g, pmix_data_type_t id);
/* Fills *obj without freeing old content. Makes NULLs, empty lists and nested arrays,
 * too. Aborts for a type with an unknown kind of storage. */
void gen_object(struct gen *g, pmix_data_type_t id, void *obj);
/* Makes n objects in malloc memory; returns NULL if n is 0. */
void *gen_array(struct gen *g, pmix_data_type_t id, size_t n);

#endif
