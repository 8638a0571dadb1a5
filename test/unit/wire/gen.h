/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of any type, made from the type table: the same ones for the same seed. */
#ifndef PX_GEN_H
#define PX_GEN_H

#include "core/wire/codec.h"

struct gen {
    uint64_t state; /* seed */
    /* What is made can travel in it without loss. NULL: it need not travel, so that all there is
     * to an object in memory is made, too. */
    const struct px_dialect *dialect;
    const pmix_data_type_t
        *leave_out,    /* types not to use, ending in UNDEF; may be NULL */
        *not_in_array; /* nor as what a data array holds */
    bool wild; /* more often the ends of what is allowed: lengths, numbers, nesting */

    unsigned depth;  /* of objects, so far */
    unsigned levels; /* of values and data arrays, so far */
    size_t n_made;   /* objects */
};

uint64_t gen_seed(void); /* PX_TEST_SEED, or 1 */
uint64_t gen_number(struct gen *g);
size_t gen_below(struct gen *g, size_t n);
/* False for types left out, and for those that the dialect does not know. */
bool gen_can(const struct gen *g, pmix_data_type_t id);
/* Fills *obj, whatever was there: NULLs, empty lists and nested arrays among it. Aborts for a
 * type stored in a way it has not learned. */
void gen_object(struct gen *g, pmix_data_type_t id, void *obj);
/* n of them, in malloc memory; NULL if n is 0. */
void *gen_array(struct gen *g, pmix_data_type_t id, size_t n);

#endif
