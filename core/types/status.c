/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes and their names, both ways. */
#include "core/base/attr.h"
#include "core/types/names.h"
#include "pmix_common.h"

#include <strings.h>

static const struct px_name texts[] = {
#define PX_STATUS(CONSTANT, text) {PMIX_##CONSTANT, text},
#include "core/types/status.def"
#undef PX_STATUS
};

/* Aliases included, unlike what a number can be turned back into. */
static const struct px_name constants[] = {
#define PX_STATUS(CONSTANT, text) {PMIX_##CONSTANT, "PMIX_" #CONSTANT},
#include "core/types/status.def"
#undef PX_STATUS
};

const char *px_status_name(int64_t value)
{
    return px_name_find(texts, PX_COUNT(texts), value);
}

/* A status goes by its text, "NOT-FOUND", and by its constant with and without
 * PMIX_. */
static bool is_called(size_t i, const char *name)
{
    const char *constant = constants[i].name;

    return strcasecmp(name, texts[i].name) == 0 || strcasecmp(name, constant) == 0 ||
           strcasecmp(name, constant + sizeof("PMIX_") - 1) == 0;
}

PX_EXPORT pmix_status_t PMIx_Error_code(const char *name)
{
    for (size_t i = 0; name && i < PX_COUNT(texts); i++) {
        if (is_called(i, name))
            return (pmix_status_t)texts[i].value;
    }
    return INT32_MIN;
}
