/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding hwloc at run time. */
#include "core/types/hwloc_api.h"

#include "core/base/attr.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define F(name) {"hwloc_" #name, offsetof(struct px_hwloc, name)},
    PX_HWLOC_FUNCTIONS(F)
#undef F
};

static bool find_all(void *library, struct px_hwloc *h)
{
    for (size_t i = 0; i < PX_COUNT(functions); i++) {
        void *function = dlsym(library, functions[i].name);

        if (!function)
            return false;
        memcpy((char *)h + functions[i].offset, &function, sizeof(function));
    }
    return true;
}

bool px_hwloc_open(struct px_hwloc *h)
{
    /* It stays loaded: bitmaps and topologies of its making are in the hands of users. So this
     * reference can be given back, and counts do not grow. */
    void *library = dlopen(PX_HWLOC_FILE, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

    if (!library)
        return false;
    bool found = find_all(library, h);
    dlclose(library);
    return found;
}
