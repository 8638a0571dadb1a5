/* SPDX-License-Identifier: BSD-3-Clause */
/* pps: the processes of the jobs of a server. */
#include "ranks.h"
#include "tool.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tool_name = "pps";

/* A job at one look. */
struct job {
    char *name;
    struct rank *ranks;
    size_t n;
    pmix_status_t status; /* of the query of its processes */
};

/* All jobs at one look. */
struct look {
    struct job *jobs;
    size_t n;
    int64_t at_ms;
    pmix_status_t status; /* of the query of the jobs */
};

static bool by_node;
static char **wanted; /* --job; NULL: all jobs */
static const char *period;

/* clang-format off */
static const struct tool_option options[] = {
    TAKES_ARGUMENT("job", "NSPACE", OPTION_LIST, wanted, "show this job only; the option may be repeated"),
    TAKES_FLAG("nodes", by_node, "show the sums of each node"),
    TAKES_ARGUMENT("watch", "[=SECONDS]", OPTION_TEXT, period, "show the table again and again, each second or in this period, until the server ends"),
    {0},
};
/* clang-format on */

/* ---- the server ------------------------------------------------------------------ */

/* Returns the namespaces of the server's jobs. *rc: a server that is lost. */
static char **find_jobs(pmix_status_t *rc)
{
    pmix_info_t *found = NULL;
    size_t n_found = 0;
    char **jobs = NULL, *rest, *name;

    *rc = server_query(PMIX_QUERY_NAMESPACES, NULL, &found, &n_found);
    if (*rc && !(period && server_is_lost(*rc)))
        fail_status(*rc, "cannot list the jobs");
    for (size_t i = 0; i < n_found; i++)
        if (found[i].value.type == PMIX_STRING && found[i].value.data.string) {
            rest = found[i].value.data.string;
            while ((name = strsep(&rest, ",")))
                if (*name)
                    list_add(&jobs, need_text("%s", name));
        }
    PMIx_Info_free(found, n_found);
    return jobs;
}

static void look_free(struct look *look)
{
    for (size_t i = 0; i < look->n; i++) {
        ranks_free(look->jobs[i].ranks, look->jobs[i].n);
        free(look->jobs[i].name);
    }
    free(look->jobs);
}

static struct look take_look(void)
{
    struct look look = {.at_ms = now_ms()};
    char **all = find_jobs(&look.status);
    char **names = wanted ? wanted : all;

    for (char **name = names; name && *name; name++) {
        struct job job = {.name = need_text("%s", *name)};

        job.status = ranks_find(job.name, &job.ranks, &job.n);
        if (!job.status)
            ranks_measure(job.name, job.ranks, job.n);
        look.jobs = grow(look.jobs, look.n + 1, sizeof(*look.jobs));
        look.jobs[look.n++] = job;
    }
    for (char **name = all; name && *name; name++)
        free(*name);
    free(all);
    return look;
}

static const struct job *find_job(const struct look *look, const char *name)
{
    for (size_t i = 0; i < look->n; i++)
        if (strcmp(look->jobs[i].name, name) == 0)
            return &look->jobs[i];
    return NULL;
}

/* ---- what is shown --------------------------------------------------------------- */

static json_t *real_or_null(bool known, double value)
{
    return known ? need(json_real(value)) : json_null();
}

static void show_ranks(const struct look *look, const struct look *before)
{
    static const char *const columns[] = {
        "node",  "job",         "rank",      "pid",     "state",
        "cpu_s", "cpu_percent", "memory_mb", "program", NULL};
    static const char *const headings[] = {"node",    "job",   "rank",  "pid",
                                           "state",   "CPU s", "CPU %", "memory MB",
                                           "program", NULL};
    struct sheet sheet = {"processes", columns, headings, NULL};
    struct sheet *const sheets[] = {&sheet};

    for (const struct job *j = look->jobs; j < look->jobs + look->n; j++) {
        const struct job *old = find_job(before, j->name);

        for (const struct rank *r = j->ranks; r < j->ranks + j->n; r++) {
            const double share = old ? rank_share(r, old->ranks, old->n,
                                                  look->at_ms - before->at_ms)
                                     : -1;

            sheet_add(&sheet, "[o, o, I, o, s, o, o, o, o]", text_json(r->node),
                      text_json(j->name), (json_int_t)r->rank,
                      r->pid > 0 ? json_integer(r->pid) : json_null(),
                      rank_state(r->state), real_or_null(r->is_measured, r->cpu_s),
                      real_or_null(share >= 0, share),
                      real_or_null(r->is_measured, (double)r->memory_mb),
                      text_json(r->program));
        }
    }
    sheets_show(sheets, 1);
}

/* The sums of a node. */
struct node {
    const char *name;
    size_t n_ranks, n_measured;
    double cpu_s, memory_mb;
};

static void count_rank(struct node **nodes, size_t *n, const struct rank *r)
{
    const char *name = r->node ? r->node : "";
    struct node *node = *nodes;

    while (node < *nodes + *n && strcmp(node->name, name) != 0)
        node++;
    if (node == *nodes + *n) {
        *nodes = grow(*nodes, *n + 1, sizeof(**nodes));
        node = &(*nodes)[(*n)++];
        *node = (struct node){.name = name};
    }
    node->n_ranks++;
    node->n_measured += r->is_measured;
    node->cpu_s += r->cpu_s;
    node->memory_mb += (double)r->memory_mb;
}

static void show_nodes(const struct look *look)
{
    static const char *const columns[] = {"node", "processes", "cpu_s", "memory_mb",
                                          NULL};
    static const char *const headings[] = {"node", "processes", "CPU s", "memory MB",
                                           NULL};
    struct sheet sheet = {"nodes", columns, headings, NULL};
    struct sheet *const sheets[] = {&sheet};
    struct node *nodes = NULL;
    size_t n = 0;

    for (const struct job *j = look->jobs; j < look->jobs + look->n; j++)
        for (size_t i = 0; i < j->n; i++)
            count_rank(&nodes, &n, &j->ranks[i]);
    for (const struct node *node = nodes; node < nodes + n; node++)
        sheet_add(&sheet, "[o, I, o, o]", text_json(*node->name ? node->name : NULL),
                  (json_int_t)node->n_ranks,
                  real_or_null(node->n_measured > 0, node->cpu_s),
                  real_or_null(node->n_measured > 0, node->memory_mb));
    sheets_show(sheets, 1);
    free(nodes);
}

/* Reports jobs whose processes the server does not list. Returns the exit status. */
static int report_jobs(const struct look *look)
{
    int status = EXIT_SUCCESS;

    for (const struct job *j = look->jobs; j < look->jobs + look->n; j++)
        if (j->status && !(period && server_is_lost(j->status))) {
            complain("cannot list the processes of %s: %s", j->name,
                     PMIx_Error_string(j->status));
            status = EXIT_TROUBLE;
        }
    return status;
}

static int run(char **operands)
{
    const int period_s = !period || !*period ? 1 : number("--watch", period, 86400);
    struct look before = {0}, look;
    int status;

    (void)operands;
    if (period)
        server_limit(server_timeout());
    for (;;) {
        look = take_look();
        status = report_jobs(&look);
        if (look.status)
            break;
        if (period && isatty(STDOUT_FILENO))
            printf("\033[H\033[2J");
        if (by_node)
            show_nodes(&look);
        else
            show_ranks(&look, &before);
        look_free(&before);
        before = look;
        if (!period || ferror(stdout))
            break;
        (void)poll(NULL, 0, period_s * 1000);
    }
    return status;
}

static const struct tool tool = {
    .name = "pps",
    .summary = "Show the processes of the jobs of a PMIx server.",
    .description =
        "Lists each process of each job of a server: its node, job, rank and process "
        "number, its state, the CPU time and the memory that it uses, and its program.\n\n"
        "The server measures the processes. Of processes of this node that the server "
        "does not measure, the figures come from /proc. Unknown values are \"-\" in a "
        "table, null in JSON, and empty in parsable lines. The CPU share is known from "
        "the second table of --watch on.\n\n"
        "A parsable line begins with \"processes\", and has the columns of the table as "
        "fields; with --nodes it begins with \"nodes\".",
    .options = options,
    .run = run,
};

int main(int argc, char **argv)
{
    (void)argc;
    return tool_main(&tool, argv);
}
