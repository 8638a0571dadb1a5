/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a job as its server knows them: states, CPU time and memory. */
#ifndef RANKS_H
#define RANKS_H

#include "../toolkit.h"

#include <pmix_tool.h>
#include <sys/types.h>

struct rank {
    pmix_rank_t rank;
    char *node, *program; /* NULL: unknown */
    pmix_proc_state_t state;
    pid_t pid;
    bool is_measured; /* cpu_s and memory_mb are known */
    double cpu_s;
    float memory_mb;
    uint64_t output_b;
};

/* Asks for the processes of a job, and for the bytes of their output. The caller frees
 * *ranks by ranks_free. Returns the status of the query. */
pmix_status_t ranks_find(const char *job, struct rank **ranks, size_t *n);
/* Asks for the CPU time and the memory of all processes. Reads the figures of processes
 * on this node that the server does not measure. */
void ranks_measure(const char *job, struct rank *ranks, size_t n);
/* Returns the share of a CPU since an earlier look, in percent; negative if unknown. */
double rank_share(const struct rank *rank, const struct rank *before, size_t n_before,
                  int64_t elapsed_ms);
void ranks_free(struct rank *ranks, size_t n);
const char *rank_state(pmix_proc_state_t state);

#endif
