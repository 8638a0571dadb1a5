/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements of a client, and their rows on the board. */
#include "bench.h"

#include <sys/resource.h>

enum { SAMPLE_US = 50000, FEWEST = 50 };

pmix_status_t time_one(struct times *t, call_fn *call, void *arg)
{
    const double before = now(), start = now();
    const pmix_status_t rc = call(arg);

    t->us[t->n] = now() - start;
    t->clock_us[t->n++] = start - before;
    return rc;
}

/* Sorts the values, and returns the mean of their middle half. The clock ticks in 10 ns,
 * so the median of short calls would be a whole number of ticks. */
static double mean_of_middle(double *values, size_t n)
{
    const size_t begin = n / 4, end = n - n / 4;
    double sum = 0;

    qsort(values, n, sizeof(*values), compare_values);
    for (size_t i = begin; i < end; i++)
        sum += values[i];
    return n ? sum / (double)(end - begin) : 0;
}

double middle_of(struct times *t)
{
    const double clock = mean_of_middle(t->clock_us, t->n);

    for (size_t i = 0; i < t->n; i++)
        t->us[i] -= clock;
    return mean_of_middle(t->us, t->n);
}

void print_row(const char *row, double value)
{
    printf("%s %.4f 0 0 0\n", row, value);
}

void sync_clients(void)
{
    barrier(bench.board, (uint32_t)bench.n);
}

struct cell *add_row(const char *row, bool is_longest)
{
    int i = bench.n_cells++;

    must("room for rows", i < MAX_CELLS ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE);
    bench.board->is_longest[i] = is_longest;
    snprintf(bench.board->names[i], NAME_B, "%s", row);
    return &bench.board->cells[bench.index][i];
}

void trace_row(const char *row, int n)
{
    char text[2 * NAME_B];

    if (bench.index == 0 && getenv("BENCH_COUNTS"))
        (void)!write(-1, text,
                     (size_t)snprintf(text, sizeof(text), "bench %s %d", row, n));
}

static void read_usage(struct cell *cell, double factor)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    cell->switches += factor * (double)u.ru_nvcsw;
    cell->cpu += factor * ((double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
                           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec));
}

static void count_per_call(struct cell *cell, int n)
{
    read_usage(cell, 1);
    cell->switches /= n;
    cell->cpu /= n;
}

void sample(const char *row, call_fn *call, void *arg)
{
    static struct times t;
    struct cell *cell = add_row(row, false);
    double end;

    sync_clients();
    cell->status = call(arg); /* the first may ask the server */
    if (cell->status)
        return;
    t.n = 0;
    end = now() + SAMPLE_US;
    read_usage(cell, -1);
    trace_row(row, 0);
    while (t.n < MAX_SAMPLES && !cell->status && (t.n < FEWEST || now() < end))
        cell->status = time_one(&t, call, arg);
    trace_row(row, (int)t.n);
    count_per_call(cell, (int)t.n);
    cell->value = middle_of(&t);
    cell->p99 = t.us[t.n * 99 / 100];
}

void time_all(const char *row, int n, call_fn *call, void *arg)
{
    struct cell *cell = add_row(row, true);
    double start;

    sync_clients();
    read_usage(cell, -1);
    trace_row(row, 0);
    start = now();
    for (int i = 0; i < n && !cell->status; i++)
        cell->status = call(arg);
    cell->value = (now() - start) / n;
    trace_row(row, n);
    count_per_call(cell, n);
}

void time_each(const char *row, int n, call_fn *prepare, call_fn *call, void *arg)
{
    double us[64];
    struct cell *cell = add_row(row, true);

    must("samples", n <= 64 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
    for (int i = 0; i < n; i++) { /* all of them, as the others wait, too */
        pmix_status_t rc = prepare ? prepare(arg) : PMIX_SUCCESS;

        sync_clients();
        trace_row(row, 0);
        us[i] = now();
        rc = rc ? rc : call(arg);
        us[i] = now() - us[i];
        trace_row(row, 1);
        cell->status = cell->status ? cell->status : rc;
    }
    sync_clients(); /* else what the first do next would be measured with the last, too */
    cell->value = median(us, cell->status ? 0 : (size_t)n);
}

double private_kib(void)
{
    char line[256];
    double sum = 0, kib;
    FILE *f = fopen("/proc/self/smaps_rollup", "re");

    must_do("smaps_rollup", f ? 0 : -1);
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "Private_Dirty: %lf", &kib) == 1)
            sum += kib;
    fclose(f);
    return sum;
}
