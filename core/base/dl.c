/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/dl.h"

#include <dlfcn.h>

void *px_dl_open(const char *file, int flags, struct px_err *err)
{
    void *handle = dlopen(file, flags);
    const char *why = handle ? NULL : dlerror();

    if (!handle)
        px_err_set(err, PMIX_ERR_NOT_FOUND, "%s", why ? why : file);
    return handle;
}
