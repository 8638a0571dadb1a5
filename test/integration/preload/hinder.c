/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded library that makes functions of shared memory fail. HINDER is "memfd", "space" or "map".
 * HINDER_AFTER is the number of calls that succeed before. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static atomic_int n_calls;

static int hinders(const char *what)
{
    const char *hinder = getenv("HINDER"), *after = getenv("HINDER_AFTER");

    return hinder && strcmp(hinder, what) == 0 &&
           atomic_fetch_add(&n_calls, 1) >= (after ? atoi(after) : 0);
}

static long fails(int error)
{
    errno = error;
    return -1;
}

SHOWN int memfd_create(const char *name, unsigned flags)
{
    return (int)(hinders("memfd") ? fails(EMFILE)
                                  : syscall(SYS_memfd_create, name, flags));
}

SHOWN int fallocate64(int fd, int mode, off_t from, off_t n)
{
    return (int)(hinders("space") ? fails(ENOSPC)
                                  : syscall(SYS_fallocate, fd, mode, from, n));
}

/* Fails only for readers of shared memory; RLIMIT_AS would hinder much else. */
SHOWN void *mmap64(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    if (protection == PROT_READ && (flags & MAP_TYPE) == MAP_SHARED && hinders("map"))
        return (void *)fails(ENOMEM);
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, from);
}
