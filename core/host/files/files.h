/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a job needs before it starts: copies, files for its output, and folders. A
 * child process makes them, since file systems may block. Loop thread only. */
#ifndef PX_HOST_FILES_H
#define PX_HOST_FILES_H

#include "core/base/err.h"
#include "core/rt/loop.h"

#include <stdbool.h>

/* Paths are absolute. */
struct px_file {
    char *from; /* source of a private copy; NULL: output file */
    char *to;
    bool follows;   /* copies the target of a symbolic link (programs) */
    bool is_folder; /* a private folder in a private one; a failure does not count */
    /* Output files: length of the part of the path in which links are followed. Missing
     * folders are made, and an existing file is truncated. */
    size_t n_given;
    struct px_iof_sink *sink; /* output files; made when first needed */
    int fd;                   /* output files: descriptor for appending; -1: none */
    bool is_new;              /* for the child: the child has made the file */
};

struct px_files {
    struct px_loop *loop;
    struct px_file *v;
    size_t n;
    uint64_t limit_b; /* limit for all copies together */
    pid_t pid;        /* 0: the child has ended or was not started */
    int line;
    struct px_watch *watch;
    void (*done)(void *arg, pmix_status_t status, const char *why);
    void *arg;
};

/* Begins to make the files. done runs once, on the loop. On failure why names the file
 * and the reason. Without files done runs before this function returns. */
pmix_status_t px_files_make(struct px_files *files, struct px_err *err);
/* Stops the making of files. Existing files stay. Idempotent. */
void px_files_cancel(struct px_files *files);
/* Cancels, closes the descriptors and frees the list. Files stay. */
void px_files_free(struct px_files *files);

#endif
