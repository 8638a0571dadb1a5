/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded library that stops the program after loading. A tracer of the system calls then continues the
 * program. Child programs are not stopped. */
#include <signal.h>
#include <stdlib.h>

__attribute__((constructor)) static void stop(void)
{
    unsetenv("LD_PRELOAD");
    raise(SIGSTOP);
}
