/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of jobs as a trace in JSON: the format of trace viewers of browsers ("Trace
 * Event Format"). A job is a process of the trace, and a rank a thread. Events are
 * written one by one, so that memory does not grow with their number. */
#include "pmixrun_timeline.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit.h"

struct trace {
    const struct timeline *t;
    FILE *f;
    size_t n_events;
    int job;
};

/* Makes a text. Names of hosts may hold bytes that are not valid UTF-8. */
static json_t *text(const char *s)
{
    json_t *value = json_string(s);

    if (value)
        return value;
    char *copy = need_text("%s", s);
    for (char *c = copy; *c; c++)
        *c = (unsigned char)*c > 0x7e ? '?' : *c;
    value = need(json_string(copy));
    free(copy);
    return value;
}

/* Writes an event and frees it. args may be NULL. */
static void put(struct trace *t, json_t *event, pmix_rank_t rank, json_t *args)
{
    need(event);
    if (json_object_set_new(event, "pid", json_integer(t->job)) ||
        json_object_set_new(event, "tid", json_integer(rank)) ||
        (args && json_object_set_new(event, "args", args)))
        need(NULL);
    fputs(t->n_events++ ? ",\n" : "\n", t->f);
    (void)json_dumpf(event, t->f,
                     JSON_COMPACT |
                         JSON_REAL_PRECISION(12)); /* ferror() shows a failure */
    json_decref(event);
}

static double us_at(const struct trace *t, uint64_t ns)
{
    return ms_at(t->t, ns) * 1000;
}

static void name(struct trace *t, const char *kind, pmix_rank_t rank, json_t *args)
{
    put(t, json_pack("{s:s, s:s}", "name", kind, "ph", "M"), rank, need(args));
}

static void put_span(struct trace *t, pmix_rank_t rank, const char *label,
                     const char *group, uint64_t from, uint64_t to, json_t *args)
{
    put(t,
        json_pack("{s:s, s:s, s:s, s:f, s:f}", "name", label, "cat", group, "ph", "X",
                  "ts", us_at(t, from), "dur", us_at(t, to) - us_at(t, from)),
        rank, args);
}

static void put_instant(struct trace *t, pmix_rank_t rank, const char *label,
                        uint64_t at)
{
    put(t,
        json_pack("{s:s, s:s, s:s, s:s, s:f}", "name", label, "cat", "step", "ph", "i",
                  "s", "t", "ts", us_at(t, at)),
        rank, NULL);
}

/* A collective that was not left ends with the process. */
static void put_collective(struct trace *t, const struct rank *r,
                           const struct collective *c)
{
    const uint64_t to = c->left ? c->left : r->at[EXIT] ? r->at[EXIT] : c->entered;
    json_t *args = need(
        json_pack("{s:I, s:b}", "number", (json_int_t)c->number, "left", c->left != 0));

    if (c->last < PMIX_RANK_VALID &&
        json_object_set_new(args, "last", json_integer((json_int_t)c->last)))
        need(NULL);
    put_span(t, r->rank, kind_name(c->kind), "collective", c->entered, to, args);
}

static void put_rank(struct trace *t, const struct rank *r)
{
    char *label = need_text("rank %u", r->rank);

    name(t, "thread_name", r->rank, json_pack("{s:s}", "name", label));
    name(t, "thread_sort_index", r->rank,
         json_pack("{s:I}", "sort_index", (json_int_t)r->rank));
    name(t, "rank", r->rank,
         json_pack("{s:o, s:I, s:I}", "host", text(r->host), "pid", (json_int_t)r->pid,
                   "dropped", (json_int_t)r->n_dropped));
    free(label);
    for (int i = 0; i < N_STEPS; i++)
        if (r->at[i])
            put_instant(t, r->rank, step_names[i], r->at[i]);
    for (int i = 0; i < N_SPANS; i++) {
        const struct span s = span_of(r, i);

        if (s.to)
            put_span(t, r->rank, s.name, "span", s.from, s.to, NULL);
    }
    for (size_t i = 0; i < r->n_collectives; i++)
        put_collective(t, r, &r->collectives[i]);
}

void write_trace(const struct timeline *t, FILE *f)
{
    struct trace trace = {.t = t, .f = f};

    fprintf(f, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    for (const struct job *job = t->jobs; job < t->jobs + t->n; job++) {
        trace.job++;
        name(&trace, "process_name", 0, json_pack("{s:o}", "name", text(job->name)));
        for (size_t i = 0; i < job->n; i++)
            put_rank(&trace, &job->ranks[i]);
    }
    fprintf(f, "\n]}\n");
}
