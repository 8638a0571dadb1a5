/* SPDX-License-Identifier: BSD-3-Clause */
/* Files, in the fewest words. */
#ifndef PX_TEST_FILES_H
#define PX_TEST_FILES_H

#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of any kind; a link is not followed. */
static inline bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* Makes an empty file. */
static inline void touch(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

#endif
