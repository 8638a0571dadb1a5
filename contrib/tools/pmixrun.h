/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of pmixrun. */
#ifndef PMIXRUN_H
#define PMIXRUN_H

#include "toolkit.h"

#include <pmix.h>

/* ---- the command line (pmixrun_options.c) --------------------------------------- */

/* The words between two colons. Everything points into argv. */
struct program {
    int n;       /* 0: as many as --map-by says */
    char **argv; /* NULL-terminated */
};

struct options {
    struct program *programs;
    size_t n_programs;
    char **env;          /* "NAME=VALUE" of -x, NULL-terminated */
    char *forwards;      /* patterns of -x, for PMIx_Forward_envars; NULL: none */
    char self[32];       /* name of the launcher's namespace, if there are any */
    pmix_info_t *params; /* for PMIx_server_init: --mca, --tune, --tools */
    size_t n_params;
    char *tune_files;   /* of --tune so far, separated by colons; or NULL */
    const char *dir;    /* NULL: where we are */
    pmix_info_t *asked; /* attributes of the job, all required */
    size_t n_asked;
    int output;           /* what --output says: bits of its words */
    const char *stdin_to; /* NULL: not said */
    int timeout_s;        /* 0: none */
    bool reports;         /* the library ends the job then, after reports on it */
    bool verbose;
    bool progress;
    bool runs; /* an option that has a meaning for programs only was given */
    bool clean;
    char **dirs; /* of --clean, absolute, NULL-terminated; NULL: a job is to be run */
};

/* Ends the program with one line if something is wrong, and for --help and --version.
 * Nothing of it is ever freed. */
void options_parse(struct options *o, int argc, char **argv);

/* ---- progress (pmixrun_progress.c) ----------------------------------------------- */

enum { PROGRESS_MS = 100 }; /* the line changes no more often */

/* On a terminal; else nothing of this has any effect. Before the library begins, and
 * after its end. */
void progress_begin(void);
void progress_end(void);
/* Asks how far the job has come, for the line. */
void progress_look(const char *job);

/* ---- signals, and a library that does not return (pmixrun_guard.c) --------------- */

/* Has a thread read the signals from signal_fd. Returns a descriptor, non-blocking,
 * from which the main thread reads them as struct signalfd_siginfo; -1 and errno. From
 * the first signal on that ends the program, the main thread is in the library for a
 * few seconds at a time at most: else the program ends with the signal's status. */
int guard_begin(int signal_fd);
/* The same, from now on, for another reason than a signal. */
void guard_expect_end(int status);
/* The main thread has returned from the library. */
void guard_returned(void);
/* Ends the guard: the end of the library has limits of its own. */
void guard_end(void);
/* True for signals that the processes get as they are, and that do not end the job. */
bool guard_is_passed_on(uint32_t signum);

/* ---- leftovers of dead servers (pmixrun_clean.c) --------------------------------- */

/* Removes them, from the usual folders or those that the options name, and reports how
 * much that was. The exit status. */
int clean(const struct options *o);

#endif
