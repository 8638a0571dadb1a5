/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of pmixrun. */
#ifndef PMIXRUN_H
#define PMIXRUN_H

#include "toolkit.h"

#include <pmix.h>

/* ---- the command line (pmixrun_options.c) --------------------------------------- */

/* The words between two colons. Everything points into argv. */
struct program {
    int n;
    char **argv; /* NULL-terminated */
};

struct options {
    struct program *programs;
    size_t n_programs;
    char **env;          /* "NAME=VALUE" of -x, NULL-terminated */
    pmix_info_t *params; /* of --mca and --tune, for PMIx_server_init */
    char **owned;        /* the same as variables of env */
    size_t n_params;
    char *tune_files; /* of --tune so far, separated by colons; or NULL */
    const char *dir;  /* NULL: where we are */
    int timeout_s;    /* 0: none */
    bool verbose;
    bool runs; /* an option that has a meaning for programs only was given */
    bool clean;
    char **dirs; /* of --clean, absolute, NULL-terminated; NULL: a job is to be run */
};

/* Ends the program with one line if something is wrong, and for --help and
 * --version. */
void options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);

/* ---- events of the library, kept until the main thread has time (pmixrun_news.c) - */

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

/* ---- processes that those of the job leave behind (pmixrun_orphans.c) ------------ */

/* From now on they become children of this process. Earlier children stay out of it. */
void orphans_adopt(void);
/* Kills and reaps them all. No thread may be starting processes any more. */
void orphans_end(void);

/* ---- leftovers of dead servers (pmixrun_clean.c) --------------------------------- */

/* Removes them, from the usual folders or those that the options name, and reports how
 * much that was. The exit status. */
int clean(const struct options *o);

#endif
