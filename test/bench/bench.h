/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of contrib/bench.sh share: clocks, a barrier, and the board on which the processes of a scene
 * write their figures. Only the public API of release 4.2.2 is used, so that they run on any libpmix. */
#ifndef PX_BENCH_H
#define PX_BENCH_H

#include <linux/futex.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CLIENTS = 256,
    MAX_CELLS = 32,
    NAME_B = 32,
    BIG_PPN = 100, /* ranks per node in jobs of many ranks */
};

/* One row of one client. */
struct cell {
    pmix_status_t status;
    double value; /* microseconds, or KiB */
    double p99;
    double switches; /* of context per call, of all threads: a round trip shows here */
    double cpu;      /* microseconds per call, of all threads */
};

/* Shared by the host of a scene and its clients, who write the same rows in the same order. */
struct board {
    _Atomic uint32_t arrived, round; /* the barrier */
    bool is_longest
        [MAX_CELLS]; /* the row is the largest of all clients; else the median */
    char names[MAX_CELLS][NAME_B];
    struct cell cells[MAX_CLIENTS][MAX_CELLS];
    double stamps[MAX_CLIENTS]; /* when a client was initialised; of the last event */
    _Atomic uint32_t n_done;
};

/* What a client of a scene knows. */
struct client {
    struct board *board;
    int x, index, n; /* the scene's argument; which client of how many */
    int n_cells;
    pmix_proc_t me, job;
};

extern struct client bench;

struct scene {
    const char *name;
    int n_clients;           /* 0: x */
    bool of_many;            /* the job has x ranks, on nodes of BIG_PPN */
    bool inits;              /* run() calls PMIx_Init itself */
    void (*run)(void);       /* in each client */
    void (*run_host)(int x); /* in the server, instead of clients */
    bool alone;              /* not even a server */
};

extern const struct scene scenes[];

/* ---- writing rows (sample.c) ------------------------------------------------------------------------- */

typedef pmix_status_t call_fn(void *arg);

enum { MAX_SAMPLES = 5000 };

/* How long each of some calls takes, and beside it reading the clock, right before: where
 * other processes slow this one down, they do so to both. */
struct times {
    double us[MAX_SAMPLES], clock_us[MAX_SAMPLES];
    size_t n;
};

pmix_status_t time_one(struct times *t, call_fn *call, void *arg);
double middle_of(struct times *t);

/* A row: how long each of many calls takes, of all clients at once. */
void sample(const char *row, call_fn *call, void *arg);
/* A row: how long n calls take together, divided by n. */
void time_all(const char *row, int n, call_fn *call, void *arg);
/* A row: how long a call takes that must be prepared, the median of n. */
void time_each(const char *row, int n, call_fn *prepare, call_fn *call, void *arg);
struct cell *add_row(const char *row, bool is_longest);
/* Shows to strace where a row begins (n = 0) and ends (after n calls): a system call that fails. */
void mark(const char *row, int n);
/* Waits for all clients. */
void meet(void);
double median(double *values, size_t n);
/* What this process has written to, KiB: pages of files are the system's, whoever looks at them. */
double private_kib(void);

/* A row of what has no clients. */
void print_row(const char *row, double value);

void run_codec(void); /* codec.c */
void run_parse(int nodes);
void run_register(int clients);
void run_maps(int nodes); /* datapath.c */
/* floor.c */
void floor_get(int x);
void floor_copy(int x);
void floor_trip(int x);
void floor_connect(int x);
void floor_fence(int x);
void floor_futex(int x);
void floor_spawn(int x);

/* ---- small things ---------------------------------------------------------------------------------------- */

static inline double now_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline double now(void)
{
    return now_us(CLOCK_MONOTONIC);
}

static inline void must(const char *what, pmix_status_t rc)
{
    if (rc) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(rc));
        exit(EXIT_FAILURE);
    }
}

static inline void must_do(const char *what, long rc)
{
    if (rc < 0) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

/* Its death ends who waits here: the host then ends all. */
static inline void barrier(struct board *board, uint32_t n)
{
    uint32_t round = atomic_load(&board->round);

    if (atomic_fetch_add(&board->arrived, 1) + 1 == n) {
        atomic_store(&board->arrived, 0);
        atomic_fetch_add(&board->round, 1);
        syscall(SYS_futex, &board->round, FUTEX_WAKE, MAX_CLIENTS, NULL, NULL, 0);
    }
    while (atomic_load(&board->round) == round)
        syscall(SYS_futex, &board->round, FUTEX_WAIT, round, NULL, NULL, 0);
}

#endif
