/* SPDX-License-Identifier: BSD-3-Clause */
/* The other implementation, OpenPMIx, if it is installed. */
#ifndef PX_TEST_INCUMBENT_H
#define PX_TEST_INCUMBENT_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Loads OpenPMIx; returns a handle for dlsym, or NULL. PX_TEST_INCUMBENT names another
 * file than the system's. Paths are absolute, because the bare name could find ours. */
static inline void *px_test_incumbent(void)
{
    static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libpmix.so.2",
                                        "/usr/lib/aarch64-linux-gnu/libpmix.so.2",
                                        "/usr/lib64/libpmix.so.2",
                                        "/usr/lib/libpmix.so.2"};
    const char *named = getenv("PX_TEST_INCUMBENT");
    void *library = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *(*version)(void) = NULL;

    for (size_t i = 0; !library && i < sizeof(paths) / sizeof(paths[0]); i++)
        library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&version = dlsym(library, "PMIx_Get_version");
    return version && strstr(version(), "OpenPMIx") ? library : NULL;
}

#endif
