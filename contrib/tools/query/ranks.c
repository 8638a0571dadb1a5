/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks.h"
#include "../os.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *rank_state(pmix_proc_state_t state)
{
    return state == PMIX_PROC_STATE_LAUNCH_UNDERWAY ? "starting"
           : state == PMIX_PROC_STATE_RESTART       ? "restarting"
           : state == PMIX_PROC_STATE_RUNNING       ? "running"
           : state == PMIX_PROC_STATE_CONNECTED     ? "connected"
           : state == PMIX_PROC_STATE_TERMINATED    ? "ended"
           : state > PMIX_PROC_STATE_ERROR          ? "failed"
                                                    : "unknown";
}

/* Returns the array of an info, or of its PMIX_QUERY_RESULTS; NULL: another value. */
static const pmix_data_array_t *array_of(const pmix_info_t *info, pmix_data_type_t type)
{
    const pmix_data_array_t *array = info->value.type == PMIX_DATA_ARRAY
                                         ? info->value.data.darray
                                         : NULL;

    if (array && array->type == PMIX_INFO && type != PMIX_INFO && array->size == 1)
        return array_of(array->array, type);
    return array && array->type == type ? array : NULL;
}

static char *copy_of(const char *text)
{
    return text && *text ? need_text("%s", text) : NULL;
}

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void take_table(const pmix_data_array_t *table, struct rank **all, size_t *n)
{
    const pmix_proc_info_t *rows = table->array;

    *all = grow(NULL, table->size + 1, sizeof(**all));
    *n = table->size;
    for (size_t i = 0; i < *n; i++)
        (*all)[i] = (struct rank){.rank = rows[i].proc.rank,
                                  .node = copy_of(rows[i].hostname),
                                  .program = copy_of(rows[i].executable_name),
                                  .state = rows[i].state,
                                  .pid = rows[i].pid};
    qsort(*all, *n, sizeof(**all), by_rank);
}

static struct rank *find(struct rank *all, size_t n, pmix_rank_t rank)
{
    const struct rank key = {.rank = rank};

    return n ? bsearch(&key, all, n, sizeof(*all), by_rank) : NULL;
}

pmix_status_t ranks_find(const char *job, struct rank **all, size_t *n)
{
    char table[] = PMIX_QUERY_PROC_TABLE, output[] = TENON_QUERY_OUTPUT;
    char *keys[] = {table, output, NULL};
    pmix_info_t *found = NULL, of_job;
    pmix_query_t query = {.keys = keys, .qualifiers = &of_job, .nqual = 1};
    const pmix_data_array_t *a;
    size_t n_found = 0;

    *all = NULL;
    *n = 0;
    if (PMIx_Info_load(&of_job, PMIX_NSPACE, job, PMIX_STRING))
        need(NULL);
    pmix_status_t rc = PMIx_Query_info(&query, 1, &found, &n_found);
    for (size_t i = 0; i < n_found; i++)
        if (!*all && (a = array_of(&found[i], PMIX_PROC_INFO)))
            take_table(a, all, n);
    for (size_t i = 0; i < n_found; i++)
        if ((a = array_of(&found[i], PMIX_UINT64)))
            for (size_t r = 0; r < *n; r++)
                if ((*all)[r].rank < a->size)
                    (*all)[r].output_b = ((const uint64_t *)a->array)[(*all)[r].rank];
    PMIx_Info_free(found, n_found);
    PMIx_Info_destruct(&of_job);
    return *all ? PMIX_SUCCESS : rc ? rc : PMIX_ERR_NOT_FOUND;
}

/* ---- usage ----------------------------------------------------------------------- */

/* Reads the figures of one process. */
static void take_usage(const pmix_data_array_t *figures, struct rank *all, size_t n)
{
    const pmix_info_t *info = figures->array;
    struct rank *one = NULL;

    for (size_t i = 0; i < figures->size; i++) {
        const pmix_value_t *v = &info[i].value;

        if (PMIx_Check_key(info[i].key, PMIX_PROCID) && v->type == PMIX_PROC) {
            one = find(all, n, v->data.proc->rank);
        } else if (one && v->type == PMIX_TIMEVAL) {
            one->cpu_s = (double)v->data.tv.tv_sec + (double)v->data.tv.tv_usec / 1e6;
            one->is_measured = true;
        } else if (one && PMIx_Check_key(info[i].key, PMIX_PROC_RSS)) {
            one->memory_mb = v->data.fval;
        }
    }
}

/* Asks the server for the figures of all processes of the job. */
static void ask_usage(const char *job, struct rank *all, size_t n)
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

/* Reads a file of a process, at most size - 1 bytes. Returns their number. */
static size_t read_file(pid_t pid, const char *name, char *to, size_t size)
{
    FILE *file = os_process_file(pid, name);
    size_t got = file ? fread(to, 1, size - 1, file) : 0;

    if (file)
        fclose(file);
    to[got] = '\0';
    return got;
}

/* True if the environment of a process on this node names it as this rank. The number
 * of a process may mean another one in a container. */
static bool is_of(pid_t pid, const char *job, pmix_rank_t rank)
{
    static char text[1 << 18];
    const size_t n = read_file(pid, "environ", text, sizeof(text));
    bool of_job = false, of_rank = false;

    for (const char *at = text; at < text + n; at += strlen(at) + 1) {
        of_job |= strncmp(at, "PMIX_NAMESPACE=", 15) == 0 && strcmp(at + 15, job) == 0;
        of_rank |= strncmp(at, "PMIX_RANK=", 10) == 0 &&
                   strtoul(at + 10, NULL, 10) == rank;
    }
    return of_job && of_rank;
}

/* Reads the figures of a process of this node. */
static void read_usage(struct rank *r)
{
    unsigned long user, system, pages;
    char text[1024];
    const char *rest;

    (void)read_file(r->pid, "stat", text, sizeof(text));
    rest = strrchr(text, ')');
    if (!rest ||
        sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) != 2)
        return;
    (void)read_file(r->pid, "statm", text, sizeof(text));
    if (sscanf(text, "%*u %lu", &pages) != 1)
        return;
    r->cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    r->memory_mb = (float)pages * (float)sysconf(_SC_PAGESIZE) / 1048576;
    r->is_measured = true;
}

void ranks_measure(const char *job, struct rank *all, size_t n)
{
    ask_usage(job, all, n);
    for (size_t i = 0; i < n; i++)
        if (!all[i].is_measured && all[i].pid > 0 &&
            is_of(all[i].pid, job, all[i].rank))
            read_usage(&all[i]);
}

double rank_share(const struct rank *rank, const struct rank *before, size_t n_before,
                  int64_t elapsed_ms)
{
    const struct rank *b = find((struct rank *)before, n_before, rank->rank);

    if (!b || !b->is_measured || !rank->is_measured || b->pid != rank->pid ||
        elapsed_ms <= 0 || rank->cpu_s < b->cpu_s)
        return -1;
    return 1e5 * (rank->cpu_s - b->cpu_s) / (double)elapsed_ms;
}

void ranks_free(struct rank *ranks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(ranks[i].node);
        free(ranks[i].program);
    }
    free(ranks);
}
