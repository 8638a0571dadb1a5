/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded library that makes one allocation of a program fail. NOMEM_PROGRAM is the name of the program, of
 * which ranks other than 0 are not changed. NOMEM_AT is the number of the allocation, from 1; 0: none.
 * NOMEM_COUNT is a file that gets the number of allocations at the end. */
#include "alloc_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t counted; /* the process that counts; 0: none */

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("NOMEM_AT"), *program = getenv("NOMEM_PROGRAM");
    const char *rank = getenv("PMIX_RANK");

    if (!at || !program || strcmp(program_invocation_short_name, program) != 0 ||
        (rank && strcmp(rank, "0") != 0))
        return;
    counted = getpid();
    px_alloc_fail_at((unsigned)atoi(at));
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("NOMEM_COUNT");
    int fd = path && counted == getpid()
                 ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)
                 : -1;

    (void)px_alloc_fail_end();
    if (fd >= 0) {
        dprintf(fd, "%u\n", px_alloc_count());
        close(fd);
    }
}
