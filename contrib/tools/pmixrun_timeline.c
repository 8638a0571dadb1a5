/* SPDX-License-Identifier: BSD-3-Clause */
/* --timeline: asks the server for the times of each job that ends, and writes them when
 * all jobs have ended. */
#include "pmixrun_timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "pmixrun.h"

const char *const step_names[N_STEPS] = {
    [FORK] = "fork",         [EXEC] = "exec",   [INIT] = "init", [CONNECT] = "connect",
    [JOB_INFO] = "job info", [READY] = "ready", [PUT] = "put",   [COMMIT] = "commit",
    [FINALIZE] = "finalize", [EXIT] = "exit"};

static struct timeline all;
static const struct form {
    const char *suffix;
    void (*write)(const struct timeline *t, FILE *f);
} forms[] = {{".json", write_trace}, {".html", write_page}, {"-", write_table}};
static const struct form *form; /* NULL: nothing is recorded */
static const char *path;
static int file = -1; /* -1: standard output */

/* ---- what the server has recorded ------------------------------------------------ */

/* Borrows the array of an info; *n is 0 for another type. */
static const void *array_of(const pmix_info_t *info, pmix_data_type_t type, size_t *n)
{
    const pmix_data_array_t *array = info->value.type == PMIX_DATA_ARRAY
                                         ? info->value.data.darray
                                         : NULL;
    const bool fits = array && array->type == type;

    *n = fits ? array->size : 0;
    return fits ? array->array : NULL;
}

/* Queries one key about a process; rank PMIX_RANK_WILDCARD: about its job. The caller
 * frees the infos. */
static pmix_info_t *ask(const char *nspace, pmix_rank_t rank, const char *key,
                        size_t *n)
{
    char copy[PMIX_MAX_KEYLEN + 1], *keys[] = {copy, NULL};
    pmix_info_t about[2], *found = NULL;
    pmix_query_t query = {.keys = keys, .qualifiers = about, .nqual = 1};

    PMIx_Load_key(copy, key);
    if (PMIx_Info_load(&about[0], PMIX_NSPACE, nspace, PMIX_STRING))
        need(NULL);
    if (rank != PMIX_RANK_WILDCARD)
        (void)PMIx_Info_load(&about[query.nqual++], PMIX_RANK, &rank, PMIX_PROC_RANK);
    *n = 0;
    if (PMIx_Query_info(&query, 1, &found, n) != PMIX_SUCCESS) {
        PMIx_Info_free(found, *n);
        found = NULL;
        *n = 0;
    }
    PMIx_Info_destruct(&about[0]);
    return found;
}

static void take_times(struct rank *r, const pmix_info_t *info)
{
    size_t n;
    const uint64_t *v = array_of(info, PMIX_UINT64, &n);

    if (PMIx_Check_key(info->key, TENON_TIMELINE_STEPS)) {
        for (size_t i = 0; i < n && i < N_STEPS; i++)
            r->at[i] = v[i];
    } else if (PMIx_Check_key(info->key, TENON_TIMELINE_COLLECTIVES)) {
        r->n_collectives = n / 5;
        r->collectives = grow(NULL, r->n_collectives + 1, sizeof(*r->collectives));
        for (size_t i = 0; i < r->n_collectives; i++, v += 5)
            r->collectives[i] = (struct collective){v[0], v[1], v[2], v[3], v[4]};
    } else if (PMIx_Check_key(info->key, TENON_TIMELINE_DROPPED)) {
        r->n_dropped = info->value.data.uint64;
    }
}

static void take_rank(struct rank *r, const pmix_proc_info_t *row)
{
    size_t n, n_infos;
    pmix_info_t *found = ask(row->proc.nspace, row->proc.rank, TENON_QUERY_TIMELINE,
                             &n);
    const pmix_info_t *infos = n ? array_of(&found[0], PMIX_INFO, &n_infos) : NULL;

    *r = (struct rank){.rank = row->proc.rank,
                       .pid = row->pid,
                       .host = need_text("%s", row->hostname ? row->hostname : "")};
    for (size_t i = 0; infos && i < n_infos; i++)
        take_times(r, &infos[i]);
    PMIx_Info_free(found, n);
}

void timeline_take(const char *name)
{
    size_t n, n_rows;
    struct job *job;

    for (size_t i = 0; i < all.n; i++)
        if (PMIx_Check_nspace(all.jobs[i].name, name))
            return;
    if (!form || !*name)
        return;
    pmix_info_t *found = ask(name, PMIX_RANK_WILDCARD, PMIX_QUERY_PROC_TABLE, &n);
    const pmix_proc_info_t *rows = n ? array_of(&found[0], PMIX_PROC_INFO, &n_rows)
                                     : NULL;
    if (rows) {
        all.jobs = grow(all.jobs, all.n + 1, sizeof(*all.jobs));
        job = &all.jobs[all.n++];
        *job = (struct job){.ranks = grow(NULL, n_rows + 1, sizeof(*job->ranks)),
                            .n = n_rows};
        PMIx_Load_nspace(job->name, name);
        for (size_t i = 0; i < n_rows; i++)
            take_rank(&job->ranks[i], &rows[i]);
    } else {
        complain("--timeline: the times of job %s are gone", name);
    }
    PMIx_Info_free(found, n);
}

/* ---- meanings -------------------------------------------------------------------- */

const char *kind_name(uint64_t kind)
{
    return kind == 3    ? "fence"
           : kind == 10 ? "connect"
           : kind == 11 ? "disconnect"
           : kind == 24 ? "construct group"
           : kind == 28 ? "destruct group"
                        : "collective";
}

struct last last_of(const struct collective *c)
{
    struct last l = {""};

    if (c->last < PMIX_RANK_VALID)
        snprintf(l.text, sizeof(l.text), ", last rank %u", (unsigned)c->last);
    return l;
}

double ms_at(const struct timeline *t, uint64_t ns)
{
    return ns < t->begin ? -(double)(t->begin - ns) / 1e6
                         : (double)(ns - t->begin) / 1e6;
}

/* The server's time stands for a time that the process did not give. */
static uint64_t either(const struct rank *r, enum step first, enum step second)
{
    return r->at[first] ? r->at[first] : r->at[second];
}

struct span span_of(const struct rank *r, int i)
{
    const uint64_t init = either(r, INIT, CONNECT), ready = either(r, READY, JOB_INFO);
    const uint64_t first = r->n_collectives ? r->collectives[0].entered : 0;
    const struct span spans[N_SPANS] = {{"start", r->at[FORK], r->at[EXEC]},
                                        {"load", r->at[EXEC], init},
                                        {"PMIx_Init", init, ready},
                                        {"program", ready, first},
                                        {"end", r->at[FINALIZE], r->at[EXIT]}};
    struct span s = spans[i];

    if (!s.from || s.to < s.from)
        s.to = 0;
    return s;
}

static struct start start_of(const struct rank *r)
{
    const uint64_t ready = either(r, READY, JOB_INFO);
    struct start s = {.rank = r, .until = "its end"};
    uint64_t end = r->at[EXIT];

    if (r->n_collectives > 0) {
        s.until = "its first collective";
        end = r->collectives[0].entered;
    } else if (ready) {
        s.until = "the end of PMIx_Init";
        end = ready;
    }
    if (r->at[FORK] && end > r->at[FORK])
        s.ns = end - r->at[FORK];
    for (int i = 0; i < N_SPANS; i++) {
        const struct span p = span_of(r, i);

        if (p.to && p.to <= end && p.to - p.from >= s.longest.to - s.longest.from)
            s.longest = p;
    }
    return s;
}

size_t find_slowest(const struct job *job, struct start out[N_SLOWEST])
{
    size_t n = 0;

    for (size_t i = 0; i < job->n; i++) {
        const struct start s = start_of(&job->ranks[i]);
        size_t at = n < N_SLOWEST ? n++ : N_SLOWEST;

        if (!s.ns) {
            n -= at < N_SLOWEST;
            continue;
        }
        for (; at > 0 && out[at - 1].ns < s.ns; at--)
            if (at < N_SLOWEST)
                out[at] = out[at - 1];
        if (at < N_SLOWEST)
            out[at] = s;
    }
    return n;
}

/* ---- the table ------------------------------------------------------------------- */

/* A collective of all its ranks. */
struct meeting {
    struct collective c; /* entered first, left last */
    size_t n;
    uint64_t last_entered;
};

static int order(const void *a, const void *b)
{
    const struct collective *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static void print_collective(const struct timeline *t, const struct meeting *m, FILE *f)
{
    fprintf(f, "%s %llu: %zu rank%s, entered %.3f to %.3f", kind_name(m->c.kind),
            (unsigned long long)m->c.number, m->n, m->n == 1 ? "" : "s",
            ms_at(t, m->c.entered), ms_at(t, m->last_entered));
    if (m->c.left)
        fprintf(f, ", left %.3f", ms_at(t, m->c.left));
    else
        fprintf(f, ", not left");
    fprintf(f, "%s\n", last_of(&m->c).text);
}

static void print_collectives(const struct timeline *t, const struct job *job, FILE *f)
{
    struct collective *v = NULL;
    size_t n = 0, at = 0;

    for (size_t i = 0; i < job->n; i++)
        n += job->ranks[i].n_collectives;
    v = grow(NULL, n + 1, sizeof(*v));
    for (size_t i = 0; i < job->n; at += job->ranks[i++].n_collectives)
        memcpy(&v[at], job->ranks[i].collectives,
               job->ranks[i].n_collectives * sizeof(*v));
    qsort(v, n, sizeof(*v), order);
    for (size_t i = 0; i < n;) {
        struct meeting m = {.c = v[i], .last_entered = v[i].entered};

        for (; i < n && v[i].number == m.c.number; i++, m.n++) {
            m.c.entered = v[i].entered < m.c.entered ? v[i].entered : m.c.entered;
            m.c.left = v[i].left > m.c.left ? v[i].left : m.c.left;
            if (v[i].entered > m.last_entered)
                m.last_entered = v[i].entered;
        }
        print_collective(t, &m, f);
    }
    free(v);
}

static void print_slowest(const struct job *job, FILE *f)
{
    struct start slowest[N_SLOWEST];
    const size_t n = find_slowest(job, slowest);

    for (size_t i = 0; i < n; i++)
        fprintf(
            f,
            "slowest %zu: rank %u (%s, pid %ld), %.3f ms to %s; longest: %s, %.3f ms\n",
            i + 1, slowest[i].rank->rank, slowest[i].rank->host,
            (long)slowest[i].rank->pid, (double)slowest[i].ns / 1e6, slowest[i].until,
            slowest[i].longest.name,
            (double)(slowest[i].longest.to - slowest[i].longest.from) / 1e6);
}

void write_table(const struct timeline *t, FILE *f)
{
    for (const struct job *job = t->jobs; job < t->jobs + t->n; job++) {
        fprintf(f, "job %s: ms since the start of pmixrun\n%6s %8s", job->name, "rank",
                "pid");
        for (int i = 0; i < N_STEPS; i++)
            fprintf(f, " %9s", step_names[i]);
        fprintf(f, "\n");
        for (const struct rank *r = job->ranks; r < job->ranks + job->n; r++) {
            fprintf(f, "%6u %8ld", r->rank, (long)r->pid);
            for (int i = 0; i < N_STEPS; i++)
                if (r->at[i])
                    fprintf(f, " %9.3f", ms_at(t, r->at[i]));
                else
                    fprintf(f, " %9s", "-");
            fprintf(f, "\n");
            if (r->n_dropped)
                fprintf(f, "rank %u: %llu more collectives were not recorded\n",
                        r->rank, (unsigned long long)r->n_dropped);
        }
        print_collectives(t, job, f);
        print_slowest(job, f);
    }
}

/* ---- beginning and end ----------------------------------------------------------- */

bool timeline_is_name(const char *name)
{
    const size_t len = strlen(name);

    if (strcmp(name, "-") == 0)
        return true;
    return len > 5 && (strcmp(name + len - 5, ".json") == 0 ||
                       strcmp(name + len - 5, ".html") == 0);
}

void timeline_begin(const char *name)
{
    struct timespec now;
    size_t len = strlen(name), i = 0;

    clock_gettime(CLOCK_MONOTONIC, &now);
    all.begin = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    while (strlen(forms[i].suffix) > len ||
           strcmp(name + len - strlen(forms[i].suffix), forms[i].suffix) != 0)
        i++;
    path = name;
    form = &forms[i];
    if (strcmp(name, "-") != 0) {
        file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0)
            fail("cannot open %s: %s", name, strerror(errno));
    }
}

/* Writes to a file whose old content is removed first. */
static bool write_file(void)
{
    FILE *f = file < 0                                     ? stdout
              : ftruncate(file, 0) == 0 || errno == EINVAL ? fdopen(file, "w")
                                                           : NULL;

    if (!f)
        return false;
    form->write(&all, f);
    const bool failed = ferror(f);
    return (f == stdout ? fflush(f) : fclose(f)) == 0 && !failed;
}

bool timeline_end(void)
{
    bool ok = !form || write_file();

    if (!ok)
        complain("cannot write %s: %s", path, strerror(errno));
    for (size_t i = 0; i < all.n; i++) {
        for (size_t r = 0; r < all.jobs[i].n; r++) {
            free(all.jobs[i].ranks[r].collectives);
            free(all.jobs[i].ranks[r].host);
        }
        free(all.jobs[i].ranks);
    }
    free(all.jobs);
    return ok;
}
