/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded times of jobs, and the forms in which pmixrun --timeline writes them. */
#ifndef PMIXRUN_TIMELINE_H
#define PMIXRUN_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <pmix.h>

/* Steps in the order of TENON_TIMELINE_STEPS. */
enum step {
    FORK,
    EXEC,
    INIT,
    CONNECT,
    JOB_INFO,
    READY,
    PUT,
    COMMIT,
    FINALIZE,
    EXIT,
    N_STEPS
};
extern const char *const step_names[N_STEPS];

/* Times are nanoseconds of CLOCK_MONOTONIC; 0: not seen. */
struct collective {
    uint64_t number, kind, entered, left, last;
};

struct rank {
    pmix_rank_t rank;
    pid_t pid;
    char *host;
    uint64_t at[N_STEPS];
    struct collective *collectives;
    size_t n_collectives;
    uint64_t n_dropped;
};

struct job {
    pmix_nspace_t name;
    struct rank *ranks;
    size_t n;
};

struct timeline {
    struct job *jobs;
    size_t n;
    uint64_t begin; /* time 0 of all output */
};

/* A part of a rank's life: from one step to another. */
struct span {
    const char *name;
    uint64_t from, to;
};
enum { N_SPANS = 5 };
/* Returns part i of a rank's life; to is 0 if a step of it was not seen. */
struct span span_of(const struct rank *r, int i);

/* Returns "fence" or another name. */
const char *kind_name(uint64_t kind);

/* Writes " by rank N", or nothing if the last rank is not known. */
struct last {
    char text[32];
};
struct last last_of(const struct collective *c);

/* Start of a rank: from its fork to its first collective; without one to the end of
 * PMIx_Init, or to its end. */
struct start {
    const struct rank *rank;
    const char *until;
    uint64_t ns; /* 0: not known */
    struct span longest;
};
enum { N_SLOWEST = 3 };
/* Finds the ranks with the longest start, longest first; returns their number. */
size_t find_slowest(const struct job *job, struct start out[N_SLOWEST]);

/* Returns the milliseconds since time 0, or of a duration. */
double ms_at(const struct timeline *t, uint64_t ns);

/* Forms of output: a table, a trace in JSON (pmixrun_trace.c), a page (pmixrun_page.c).
 * Errors of the file are left to the caller. */
void write_table(const struct timeline *t, FILE *f);
void write_trace(const struct timeline *t, FILE *f);
void write_page(const struct timeline *t, FILE *f);

#endif
