/* SPDX-License-Identifier: BSD-3-Clause */
/* Short functions for files. */
#ifndef PX_TEST_FILES_H
#define PX_TEST_FILES_H

#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if a file of any kind exists. Does not follow a link. */
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

/* Reads the rest of a stream as one text, malloc'd, and closes the stream. */
static inline char *text_of_stream(FILE *f)
{
    char *text = NULL;
    size_t size = 0;

    ck_assert_ptr_nonnull(f);
    if (getdelim(&text, &size, '\0', f) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(f);
    return text;
}

static inline char *text_of_file(const char *path)
{
    return text_of_stream(fopen(path, "re"));
}

#endif
