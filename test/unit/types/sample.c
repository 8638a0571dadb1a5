/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of the generator, without a dialect: they need not travel. */
#include "sample.h"

#include "../wire/gen.h"

bool sample_type(pmix_data_type_t *id)
{
    while (*id <= SAMPLE_MAX_ID && !px_type_find(*id))
        ++*id;
    return *id <= SAMPLE_MAX_ID;
}

void sample_fill(pmix_data_type_t id, void *obj, unsigned seed)
{
    struct gen g = {.state = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1) ^ id};

    gen_object(&g, id, obj);
}
