/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a job needs before it starts: copies, and those its output goes to. A
 * child of this process makes them, as any of that may take long, or never end.
 * Loop thread only. */
#ifndef PX_HOST_FILES_H
#define PX_HOST_FILES_H

#include "core/base/err.h"
#include "core/rt/loop.h"

#include <stdbool.h>

/* Paths are absolute. */
struct px_file {
    char *from; /* of a copy, which is new and private; NULL: a file for output */
    char *to;
    bool follows; /* a copy of what a symbolic link leads to: a program */
    /* Of a file for output: folders that are missing are made, a file that is there is
     * emptied. Links may lead there in the first so many bytes of the path alone. */
    size_t n_given;
    struct px_iof_sink *sink; /* of a file for output; made when first needed */
    int fd;      /* of a file for output, once it is made, for appending; else -1 */
    bool is_new; /* for the child: there was none */
};

struct px_files {
    struct px_loop *loop;
    struct px_file *v;
    size_t n;
    uint64_t limit_b; /* of all that is copied */
    pid_t pid;        /* 0: the child has ended, or there was none */
    int line;
    struct px_watch *watch;
    void (*done)(void *arg, pmix_status_t status, const char *why);
    void *arg;
};

/* Begins to make the files. done runs once, from the loop: all files are there, or why
 * names the file and the reason. Without files done runs before this returns. */
pmix_status_t px_files_make(struct px_files *files, struct px_err *err);
/* Stops the making of files. Files that are there stay. Idempotent. */
void px_files_cancel(struct px_files *files);
/* Cancels, then closes and frees all. Files stay. */
void px_files_free(struct px_files *files);

#endif
