/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared code of the programs of contrib/bench.sh: clocks, a barrier, and the board for the figures of a
 * scene's processes. The programs use only the public API of release 4.2.2, so they run on any libpmix. */
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
    double
        switches; /* context switches per call, of all threads; a round trip adds some */
    double cpu;   /* microseconds per call, of all threads */
};

/* Memory shared by the host of a scene and its clients. All clients write the same rows in the same order. */
struct board {
    _Atomic uint32_t arrived, round; /* the barrier */
    bool is_longest
        [MAX_CELLS]; /* the row is the largest of all clients; else the median */
    char names[MAX_CELLS][NAME_B];
    struct cell cells[MAX_CLIENTS][MAX_CELLS];
    double stamps[MAX_CLIENTS]; /* when a client was initialised; of the last event */
    _Atomic uint32_t n_done;
};

/* State of a client of a scene. */
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

/* Times of some calls, each with the time of reading the clock right before. Other
 * processes slow down both. */
struct times {
    double us[MAX_SAMPLES], clock_us[MAX_SAMPLES];
    size_t n;
};

pmix_status_t time_one(struct times *t, call_fn *call, void *arg);
/* Returns the mean of the middle half of the times, without the clock's. Sorts the times. */
double middle_of(struct times *t);

/* Adds a row: the time of each of many calls, of all clients at once. */
void sample(const char *row, call_fn *call, void *arg);
/* Adds a row: the time of n calls together, divided by n. */
void time_all(const char *row, int n, call_fn *call, void *arg);
/* Adds a row: the median time of n calls, each after a call of prepare. */
void time_each(const char *row, int n, call_fn *prepare, call_fn *call, void *arg);
struct cell *add_row(const char *row, bool is_longest);
/* Makes a failing system call for strace at the begin (n = 0) and at the end (after n calls) of a row. */
void trace_row(const char *row, int n);
/* Waits for all clients. */
void sync_clients(void);
/* Returns the private memory of this process in KiB, without pages of files. */
double private_kib(void);

/* Prints a row of a scene without clients. */
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

static inline int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), compare_values);
    return n ? values[n / 2] : 0;
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

/* Waits for n processes. The host ends all clients when one of them dies. */
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
