/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the user's parameters and namespace as this process reads them. test_param.c makes a setuid
 * copy. */
#include "core/base/env.h"
#include "core/config/param.h"
#include "core/rt/owner.h"

#include <stdio.h>

/* The leak checker traces its own process, which the kernel forbids in a setuid one. */
PX_EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

int main(void)
{
    struct px_params *params;
    struct px_err err;

    if (px_params_create(NULL, 0, "", &params, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const char *from_env = px_params_text(params, "probe_env", NULL, NULL);
    const char *from_home = px_params_text(params, "probe_home", NULL, NULL);
    const char *nspace = px_env("PMIX_NAMESPACE");
    printf("setuid %d, environment %s, home %s, namespace %s\n", px_is_setuid(),
           from_env ? from_env : "none", from_home ? from_home : "none",
           nspace ? nspace : "none");
    px_params_destroy(params);
    return 0;
}
