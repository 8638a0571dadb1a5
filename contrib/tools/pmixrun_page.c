/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of jobs as one page of HTML, without scripts or other files: the slowest ranks,
 * and two charts of each job, of its start and of its whole run. */
#include "pmixrun_timeline.h"

#include <stdlib.h>

#include "toolkit.h"

enum {
    LEFT = 110, /* of the bars, in pixels */
    WIDTH = 1000,
    ROW = 16,
    TOP = 24,
    MAX_BARS = 20000, /* of collectives, in a chart */
};

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<title>Timeline</title>\n<style>\n"
    "body{font:14px sans-serif;margin:2em;max-width:1140px;color:#222}\n"
    "svg{font:11px sans-serif;background:#fafafa}\n"
    ".life{fill:#e4e4e4}.s0{fill:#7f8c9b}.s1{fill:#c9a227}.s2{fill:#2f7ed8}"
    ".s3{fill:#9fd39f}.s4{fill:#8e5ea2}.c{fill:#d9534f}.p{stroke:#000}\n"
    ".tick{stroke:#ccc}.key{display:inline-block;width:1em;height:.8em;margin:0 "
    ".3em 0 1em}\n</style>\n</head>\n<body>\n";

static const char *const colours[N_SPANS + 1] = {"#7f8c9b", "#c9a227", "#2f7ed8",
                                                 "#9fd39f", "#8e5ea2", "#d9534f"};

/* Writes text with the characters that HTML reserves as references. */
static void put_text(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(f, "&#%d;", *text);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, f);
}

/* ---- a chart --------------------------------------------------------------------- */

struct chart {
    const struct timeline *t;
    FILE *f;
    uint64_t from, to;
};

static double x_at(const struct chart *c, uint64_t ns)
{
    const uint64_t at = ns < c->from ? c->from : ns > c->to ? c->to : ns;

    return LEFT + WIDTH * ((double)(at - c->from) / (double)(c->to - c->from));
}

static void put_bar(const struct chart *c, size_t row, const char *style,
                    const struct rank *r, const char *label, uint64_t from, uint64_t to,
                    const char *more)
{
    const double x = x_at(c, from), width = x_at(c, to) - x;

    if (to < c->from || from > c->to)
        return;
    fprintf(c->f,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\">"
            "<title>rank %u: %s, %.3f to %.3f ms%s</title></rect>\n",
            style, x, TOP + row * ROW + 2, width < 1 ? 1 : width, ROW - 4, r->rank,
            label, ms_at(c->t, from), ms_at(c->t, to), more);
}

static void put_line(const struct chart *c, size_t row, const struct rank *r,
                     enum step step)
{
    const double x = x_at(c, r->at[step]);

    if (r->at[step] < c->from || r->at[step] > c->to)
        return;
    fprintf(c->f,
            "<line class=\"p\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%zu\" y2=\"%zu\"><title>"
            "rank %u: %s, %.3f ms</title></line>\n",
            x, x, TOP + row * ROW + 1, TOP + row * ROW + ROW - 1, r->rank,
            step_names[step], ms_at(c->t, r->at[step]));
}

static void put_rank(const struct chart *c, size_t row, const struct rank *r,
                     size_t n_bars)
{
    static const char *const styles[N_SPANS] = {"s0", "s1", "s2", "s3", "s4"};

    fprintf(c->f, "<text x=\"4\" y=\"%zu\">rank %u</text>\n", TOP + row * ROW + 12,
            r->rank);
    if (r->at[FORK])
        put_bar(c, row, "life", r, "process", r->at[FORK],
                r->at[EXIT] ? r->at[EXIT] : c->to, "");
    for (int i = 0; i < N_SPANS; i++) {
        const struct span s = span_of(r, i);

        if (s.to)
            put_bar(c, row, styles[i], r, s.name, s.from, s.to, "");
    }
    for (size_t i = 0; i < r->n_collectives && i < n_bars; i++) {
        const struct collective *one = &r->collectives[i];
        char *label = need_text("%s %llu%s", kind_name(one->kind),
                                (unsigned long long)one->number,
                                one->left ? "" : ", not left");

        put_bar(c, row, "c", r, label, one->entered, one->left ? one->left : c->to,
                last_of(one).text);
        free(label);
    }
    put_line(c, row, r, PUT);
    put_line(c, row, r, COMMIT);
}

static void put_axis(const struct chart *c, size_t n_rows)
{
    enum { TICKS = 10 };

    for (int i = 0; i <= TICKS; i++) {
        const uint64_t at = c->from + (c->to - c->from) / TICKS * (uint64_t)i;
        const double x = x_at(c, at);

        fprintf(c->f,
                "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%zu\"/>"
                "<text x=\"%.1f\" y=\"12\" text-anchor=\"middle\">%.4g</text>\n",
                x, x, TOP - 6, TOP + n_rows * ROW, x, ms_at(c->t, at));
    }
}

static void put_chart(const struct chart *c, const struct job *job, const char *title)
{
    const size_t n_bars = MAX_BARS / (job->n ? job->n : 1) + 1;
    uint64_t n_left_out = 0;

    if (c->to <= c->from)
        return;
    fprintf(c->f,
            "<h3>%s</h3>\n<svg role=\"img\" width=\"%d\" height=\"%zu\">"
            "<title>%s</title>\n",
            title, LEFT + WIDTH + 30, TOP + job->n * ROW + 4, title);
    put_axis(c, job->n);
    for (size_t i = 0; i < job->n; i++) {
        const struct rank *r = &job->ranks[i];

        put_rank(c, i, r, n_bars);
        n_left_out += r->n_dropped +
                      (r->n_collectives > n_bars ? r->n_collectives - n_bars : 0);
    }
    fprintf(c->f, "</svg>\n");
    if (n_left_out)
        fprintf(c->f,
                "<p>%llu entries of ranks into later collectives are not shown.</p>\n",
                (unsigned long long)n_left_out);
}

/* ---- the page -------------------------------------------------------------------- */

static void put_slowest(FILE *f, const struct job *job)
{
    struct start slowest[N_SLOWEST];
    const size_t n = find_slowest(job, slowest);

    fprintf(f, "<h3>Slowest ranks</h3>\n<ol class=\"slowest\">\n");
    for (size_t i = 0; i < n; i++) {
        const struct start *s = &slowest[i];

        fprintf(f, "<li>rank %u (", s->rank->rank);
        put_text(f, s->rank->host);
        fprintf(f, ", pid %ld): %.3f ms to %s; longest: %s, %.3f ms</li>\n",
                (long)s->rank->pid, (double)s->ns / 1e6, s->until, s->longest.name,
                (double)(s->longest.to - s->longest.from) / 1e6);
    }
    fprintf(f, "</ol>\n");
}

static void put_key(FILE *f)
{
    static const struct rank none;

    fprintf(f, "<p>");
    for (int i = 0; i <= N_SPANS; i++)
        fprintf(f, "<span class=\"key\" style=\"background:%s\"></span>%s\n",
                colours[i], i < N_SPANS ? span_of(&none, i).name : "collective");
    fprintf(f, "; lines: first put, first commit. Times are ms since the start of "
               "pmixrun.</p>\n");
}

/* Finds the first start, the end of the last start, and the last time of a job. */
static void find_range(const struct job *job, uint64_t *first, uint64_t *started,
                       uint64_t *last)
{
    *first = UINT64_MAX;
    *started = *last = 0;
    for (const struct rank *r = job->ranks; r < job->ranks + job->n; r++) {
        for (int i = 0; i < N_STEPS; i++) {
            if (r->at[i] && r->at[i] < *first)
                *first = r->at[i];
            if (r->at[i] > *last)
                *last = r->at[i];
            if (i < COMMIT && r->at[i] > *started)
                *started = r->at[i];
        }
        for (size_t i = 0; i < r->n_collectives; i++) {
            const struct collective *c = &r->collectives[i];
            const uint64_t end = c->left ? c->left : c->entered;

            *last = end > *last ? end : *last;
            *started = i == 0 && end > *started ? end : *started;
        }
    }
}

void write_page(const struct timeline *t, FILE *f)
{
    fputs(head, f);
    for (const struct job *job = t->jobs; job < t->jobs + t->n; job++) {
        uint64_t first, started, last;

        find_range(job, &first, &started, &last);
        fprintf(f, "<h2>Job ");
        put_text(f, job->name);
        fprintf(f, ": %zu rank%s</h2>\n", job->n, job->n == 1 ? "" : "s");
        put_slowest(f, job);
        put_key(f);
        put_chart(&(struct chart){t, f, first, started}, job, "Start");
        put_chart(&(struct chart){t, f, first, last}, job, "Whole run");
    }
    fputs("</body>\n</html>\n", f);
}
