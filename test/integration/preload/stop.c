/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: the program stops when all it needs is loaded, until somebody who looks at its system
 * calls from there on lets it go on. What it starts is not stopped. */
#include <signal.h>
#include <stdlib.h>

__attribute__((constructor)) static void stop(void)
{
    unsetenv("LD_PRELOAD");
    raise(SIGSTOP);
}
