/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that the library reports in its own thread, kept until the main thread has
 * time for them. */
#ifndef PMIXRUN_NEWS_H
#define PMIXRUN_NEWS_H

#include <stdbool.h>

#include <pmix.h>

struct news {
    struct news *next;
    bool is_end; /* of the job; else of a process, as it should not */
    pmix_nspace_t job;
    int exit_code;
    /* of a failure only */
    pmix_rank_t rank;
    pid_t pid;
    char host[256];
    char text[512]; /* "killed by signal 9 (Killed)" */
};

/* Events are kept from now on. */
pmix_status_t news_subscribe(void);
/* Readable when there are news. */
int news_fd(void);
/* The oldest, the caller's to free; NULL if there are none. */
struct news *news_next(void);

#endif
