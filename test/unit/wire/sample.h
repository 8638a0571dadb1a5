/* SPDX-License-Identifier: BSD-3-Clause */
/* A property, tried on generated objects of every type, in every dialect and both buffer forms.
 * PX_TEST_SEED=<number> makes other objects than those of every day. */
#ifndef PX_WIRE_SAMPLE_H
#define PX_WIRE_SAMPLE_H

#include "gen.h"
#include "px_test.h"

enum { SAMPLE_MAX_N = 3, SAMPLE_LAST_TYPE = 80 };

struct sample {
    struct px_codec codec;
    pmix_data_type_t type;
    unsigned seed; /* of those of this type */
    int32_t n;
    char *values;
    px_writer w; /* the values, packed */
};

struct sample_plan {
    unsigned first, n; /* seeds */
    bool wild;
};

/* Calls f with so many samples of each type in each codec: in turn up to SAMPLE_MAX_N objects, a
 * data array of them, and a value that holds one where a value can. */
void sample_every(struct sample_plan plan, void (*f)(struct sample *));

/* Room for what may be unpacked, to be freed with sample_drop. */
char *sample_room(const struct sample *s);
/* Unpacks len bytes into room; frees all of it again, whatever came of it. */
pmix_status_t sample_try(const struct sample *s, const void *bytes, size_t len);
void sample_drop(const struct sample *s, char *room, int32_t n);

/* A condition that should hold for sample s. */
#define SAMPLE_MUST(s, condition)                                              \
    ck_assert_msg(condition, "%s in %s%s, sample %u of PX_TEST_SEED=%llu: %s", \
                  px_type_find((s)->type)->name, (s)->codec.dialect->name,     \
                  (s)->codec.described ? " described" : "", (s)->seed,         \
                  (unsigned long long)gen_seed(), #condition)

#endif
