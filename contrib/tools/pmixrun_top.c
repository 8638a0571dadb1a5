/* SPDX-License-Identifier: BSD-3-Clause */
/* --top: state, CPU, memory and output of each rank, by the queries and the monitor
 * that every tool has. */
#include "pmixrun.h"

#include "query/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct rank *before; /* the look before this one */
static size_t n_before;
static int64_t before_ms;

/* ---- what is shown --------------------------------------------------------------- */

static void print(FILE *f, const struct rank *all, size_t n, int64_t now)
{
    fprintf(f, "  rank      pid state        CPU %%   memory MB    output B\n");
    for (const struct rank *r = all; r < all + n; r++) {
        const double share = rank_share(r, before, n_before, now - before_ms);

        fprintf(f, "%6u %8ld %-10s", r->rank, (long)r->pid, rank_state(r->state));
        if (r->is_measured)
            fprintf(f, " %7.1f %11.1f", share < 0 ? 0 : share, (double)r->memory_mb);
        else
            fprintf(f, " %7s %11s", "-", "-");
        fprintf(f, " %11llu\n", (unsigned long long)r->output_b);
    }
}

void top_look(const char *job)
{
    struct rank *all = NULL;
    const int64_t now = now_ms();
    char *text = NULL;
    size_t len = 0, n = 0;
    FILE *f;

    if (!*job || ranks_find(job, &all, &n) || n == 0) {
        ranks_free(all, n);
        return;
    }
    ranks_measure(job, all, n);
    f = open_memstream(&text, &len);
    if (f) {
        print(f, all, n, now);
        if (fclose(f) == 0 && !progress_show(text))
            (void)!write(STDERR_FILENO, text, len);
    }
    free(text);
    ranks_free(before, n_before);
    before = all;
    n_before = n;
    before_ms = now;
}
