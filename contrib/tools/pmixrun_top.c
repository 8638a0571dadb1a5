/* SPDX-License-Identifier: BSD-3-Clause */
/* --top: state, CPU, memory and output of each rank, by the queries and the monitor
 * that every tool has. */
#include "pmixrun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_tool.h>

/* A rank at one look. */
struct look {
    pmix_proc_state_t state;
    pid_t pid;
    bool is_measured; /* cpu_s and memory_mb are known */
    double cpu_s, share;
    float memory_mb;
    uint64_t output_b;
};

static struct look *before; /* the look before this one */
static size_t n_before;
static int64_t before_ms;

static const char *state_name(pmix_proc_state_t state)
{
    return state == PMIX_PROC_STATE_LAUNCH_UNDERWAY ? "starting"
           : state == PMIX_PROC_STATE_RESTART       ? "restarting"
           : state == PMIX_PROC_STATE_RUNNING       ? "running"
           : state == PMIX_PROC_STATE_CONNECTED     ? "connected"
           : state == PMIX_PROC_STATE_TERMINATED    ? "ended"
           : state > PMIX_PROC_STATE_ERROR          ? "failed"
                                                    : "unknown";
}

/* ---- the server ------------------------------------------------------------------ */

static const pmix_data_array_t *array_of(const pmix_info_t *info, pmix_data_type_t type)
{
    const pmix_data_array_t *array = info->value.type == PMIX_DATA_ARRAY
                                         ? info->value.data.darray
                                         : NULL;

    return array && array->type == type ? array : NULL;
}

static void take_table(const pmix_data_array_t *table, struct look **all, size_t *n)
{
    const pmix_proc_info_t *rows = table->array;

    *all = grow(NULL, table->size + 1, sizeof(**all));
    *n = table->size;
    for (size_t i = 0; i < *n; i++)
        (*all)[i] = (struct look){.state = rows[i].state, .pid = rows[i].pid};
}

/* Queries the table of processes, and the bytes of their output. */
static size_t find_ranks(const char *job, struct look **all)
{
    char table[] = PMIX_QUERY_PROC_TABLE, output[] = TENON_QUERY_OUTPUT;
    char *keys[] = {table, output, NULL};
    pmix_info_t *found = NULL, of_job;
    pmix_query_t query = {.keys = keys, .qualifiers = &of_job, .nqual = 1};
    const pmix_data_array_t *a;
    size_t n = 0, n_found = 0;

    if (PMIx_Info_load(&of_job, PMIX_NSPACE, job, PMIX_STRING))
        return 0;
    pmix_status_t rc = PMIx_Query_info(&query, 1, &found, &n_found);
    for (size_t i = 0; !rc && i < n_found; i++)
        if (n == 0 && (a = array_of(&found[i], PMIX_PROC_INFO)))
            take_table(a, all, &n);
    for (size_t i = 0; !rc && i < n_found; i++)
        if ((a = array_of(&found[i], PMIX_UINT64)))
            for (size_t r = 0; r < n && r < a->size; r++)
                (*all)[r].output_b = ((const uint64_t *)a->array)[r];
    PMIx_Info_free(found, n_found);
    PMIx_Info_destruct(&of_job);
    return n;
}

/* Reads the figures of one process. */
static void take_usage(const pmix_data_array_t *figures, struct look *all, size_t n)
{
    const pmix_info_t *info = figures->array;
    struct look *one = NULL;

    for (size_t i = 0; i < figures->size; i++) {
        const pmix_value_t *v = &info[i].value;

        if (PMIx_Check_key(info[i].key, PMIX_PROCID) && v->type == PMIX_PROC) {
            one = v->data.proc->rank < n ? &all[v->data.proc->rank] : NULL;
        } else if (one && v->type == PMIX_TIMEVAL) {
            one->cpu_s = (double)v->data.tv.tv_sec + (double)v->data.tv.tv_usec / 1e6;
            one->is_measured = true;
        } else if (one && PMIx_Check_key(info[i].key, PMIX_PROC_RSS)) {
            one->memory_mb = v->data.fval;
        }
    }
}

/* Asks for the CPU time and the memory of all processes of the job. */
static void measure(const char *job, struct look *all, size_t n)
{
    pmix_info_t wanted[2] = {0}, target, *results = NULL;
    pmix_info_t monitor = {.key = PMIX_MONITOR_PROC_RESOURCE_USAGE};
    pmix_data_array_t figures = {.type = PMIX_INFO, .size = 2, .array = wanted};
    pmix_proc_t proc;
    const pmix_data_array_t procs = {.type = PMIX_PROC, .size = 1, .array = &proc};
    size_t n_results = 0;

    PMIx_Load_procid(&proc, job, PMIX_RANK_WILDCARD);
    PMIx_Load_key(wanted[0].key, PMIX_PROC_TIME);
    PMIx_Load_key(wanted[1].key, PMIX_PROC_RSS);
    monitor.value.type = PMIX_DATA_ARRAY;
    monitor.value.data.darray = &figures;
    if (PMIx_Info_load(&target, PMIX_MONITOR_TARGET_PROCS, &procs, PMIX_DATA_ARRAY))
        return;
    if (PMIx_Process_monitor(&monitor, PMIX_SUCCESS, &target, 1, &results,
                             &n_results) == PMIX_SUCCESS)
        for (size_t i = 0; i < n_results; i++)
            if (array_of(&results[i], PMIX_INFO))
                take_usage(array_of(&results[i], PMIX_INFO), all, n);
    PMIx_Info_free(results, n_results);
    PMIx_Info_destruct(&target);
}

/* ---- what is shown --------------------------------------------------------------- */

/* Sets the share of a CPU since the last look. */
static void compare(struct look *all, size_t n, int64_t now)
{
    for (size_t i = 0; i < n && i < n_before; i++)
        if (all[i].is_measured && before[i].is_measured &&
            all[i].pid == before[i].pid && now > before_ms &&
            all[i].cpu_s > before[i].cpu_s)
            all[i].share = 1e5 * (all[i].cpu_s - before[i].cpu_s) /
                           (double)(now - before_ms);
}

static void print(FILE *f, const struct look *all, size_t n)
{
    fprintf(f, "  rank      pid state        CPU %%   memory MB    output B\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%6zu %8ld %-10s", i, (long)all[i].pid, state_name(all[i].state));
        if (all[i].is_measured)
            fprintf(f, " %7.1f %11.1f", all[i].share, (double)all[i].memory_mb);
        else
            fprintf(f, " %7s %11s", "-", "-");
        fprintf(f, " %11llu\n", (unsigned long long)all[i].output_b);
    }
}

void top_look(const char *job)
{
    struct look *all = NULL;
    const int64_t now = now_ms();
    const size_t n = *job ? find_ranks(job, &all) : 0;
    char *text = NULL;
    size_t len = 0;
    FILE *f;

    if (n == 0)
        return;
    measure(job, all, n);
    compare(all, n, now);
    f = open_memstream(&text, &len);
    if (f) {
        print(f, all, n);
        if (fclose(f) == 0 && !progress_show(text))
            (void)!write(STDERR_FILENO, text, len);
    }
    free(text);
    free(before);
    before = all;
    n_before = n;
    before_ms = now;
}
