/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the library is. A program that is linked with the core itself, and is not the
 * library, has a px_library_file of its own instead: this file holds nothing else. */
#include "core/rt/process.h"
#include "core/rt/owner.h"

#include <dlfcn.h>

char *px_library_file(void)
{
    Dl_info info;

    if (!dladdr(&px_process, &info) || !info.dli_fname)
        return NULL;
    return realpath(info.dli_fname, NULL);
}
