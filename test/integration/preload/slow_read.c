/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded library that reads parameter files slowly: one byte at a time, with interruptions. At
 * the end the library writes the number of reads to the file SLOW_READ_LOG. */
#undef _FORTIFY_SOURCE /* its headers define read */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned long n_reads;

static int is_slow(int fd)
{
    char link[64], path[512];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    return n > 5 && memcmp(path + n - 5, ".conf", 5) == 0;
}

__attribute__((visibility("default"))) ssize_t read(int fd, void *buffer, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "read");
    if (!size || !is_slow(fd))
        return real(fd, buffer, size);
    if (++n_reads % 2) {
        errno = EINTR;
        return -1;
    }
    usleep(100);
    return real(fd, buffer, 1);
}

__attribute__((destructor)) static void write_log(void)
{
    const char *path = getenv("SLOW_READ_LOG");
    FILE *f = path ? fopen(path, "w") : NULL;

    if (f) {
        fprintf(f, "%lu\n", n_reads);
        fclose(f);
    }
}
