/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of the launcher, and the translation of a command line for it. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Numbers of Slurm's steps from this one on are shells and scripts of an allocation. */
#define FIRST_SHELL 0xfffffff0UL

static const struct engine engines[] = {
    {.name = "slurm",
     .program = "srun",
     .always = {"--mpi=pmix", "--export=ALL", "--wait=0"},
     .strict = "--kill-on-bad-exit=1",
     .label = "--label",
     .is_slurm = true},
    {.name = "flux",
     .program = "flux",
     .always = {"run", "--setopt=pmi=pmix"},
     .strict = "--setopt=exit-on-error",
     .label = "--label-io"},
};

/* ---- the choice ------------------------------------------------------------------ */

char *engine_find(const char *program)
{
    const char *dirs = getenv("PATH");

    while (dirs && *dirs) {
        const size_t n = strcspn(dirs, ":");
        char *path = need_text("%.*s/%s", (int)n, dirs, program);
        struct stat st;

        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111))
            return path;
        free(path);
        dirs += n + (dirs[n] == ':');
    }
    return NULL;
}

/* True in the shell or the script of an allocation of several nodes, and not in a
 * process of a step. */
static bool is_in_slurm(void)
{
    const char *nodes = getenv("SLURM_NNODES"), *step = getenv("SLURM_STEP_ID");

    return getenv("SLURM_JOB_ID") && nodes && strtoul(nodes, NULL, 10) > 1 &&
           (!step || strtoul(step, NULL, 10) >= FIRST_SHELL);
}

static bool is_in_flux(void)
{
    return getenv("FLUX_URI") && !getenv("FLUX_TASK_RANK");
}

const struct engine *engine_choose(const char *wanted)
{
    const bool any = !wanted || strcmp(wanted, "auto") == 0;
    const bool in_job = getenv("PMIX_NAMESPACE") != NULL;

    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
        const struct engine *e = &engines[i];
        const bool is_here = e->is_slurm ? is_in_slurm() : is_in_flux();
        char *path = any && is_here && !in_job ? engine_find(e->program) : NULL;

        free(path);
        if (any ? path != NULL : strcmp(wanted, e->name) == 0)
            return e;
    }
    if (!any && strcmp(wanted, "local") != 0)
        usage("--launcher \"%s\": auto, local, slurm or flux is needed", wanted);
    return NULL;
}

/* ---- the translation ------------------------------------------------------------- */

/* Options that take effect at the end of the translation. */
struct rest {
    struct engine_job *job;
    struct engine_nodes nodes;
    char *place;      /* word of --map-by that gives each process a node, or NULL */
    int per_node;     /* processes on a node before the next one, with place */
    bool is_limited;  /* a node gets no more than that */
    bool per_task;    /* a process for each task of the allocation */
    bool names_nodes; /* by --host or --hostfile */
    bool maps, has_stdin, no_oversubscribe, raw;
};

void engine_put(struct engine_job *job, char *word)
{
    job->words = grow(job->words, job->n + 2, sizeof(*job->words));
    job->words[job->n++] = word;
    job->words[job->n] = NULL;
}

/* True if the option is one of a row's. */
static bool has_name(const struct engine_row *row, const char *option)
{
    const size_t len = strlen(option);

    for (const char *name = row->options; *name;) {
        const size_t n = strcspn(name, "|");

        if (n == len && strncmp(name, option, n) == 0)
            return true;
        name += n + (name[n] == '|');
    }
    return false;
}

/* Compares a word with a pattern. *part: the part of the star, malloc'd. */
static bool fits(const char *pattern, const char *word, char **part)
{
    const size_t before = strcspn(pattern, "*");
    const char *after = pattern[before] ? pattern + before + 1 : "";
    const size_t len = strlen(word), rest = strlen(after);

    if (!pattern[before] ? strcasecmp(pattern, word) != 0
                         : len < before + rest || strncasecmp(pattern, word, before) ||
                               strcasecmp(word + len - rest, after))
        return false;
    *part = need_text("%.*s", pattern[before] ? (int)(len - before - rest) : 0,
                      word + before);
    return true;
}

bool engine_refuses(const struct engine *engine, const char *option, const char *word)
{
    bool is_known = false;

    for (const struct engine_row *row = engine_rows; row->options; row++) {
        const char *as = engine->is_slurm ? row->slurm : row->flux;
        char *part = NULL;

        if (!has_name(row, option))
            continue;
        if (!row->words || (!is_known && strcmp(row->words, "*") == 0))
            return *as == '!'; /* the only row of the option */
        is_known = true;
        if (word && !strpbrk(word, ":,") && fits(row->words, word, &part)) {
            free(part);
            return *as == '!';
        }
    }
    return !is_known;
}

/* Appends the meaning of a row. shown: the option for an error; value: for %1. */
static void apply(struct engine_job *job, const struct engine_row *row,
                  const char *shown, const char *value)
{
    const char *as = job->engine->is_slurm ? row->slurm : row->flux;

    if (*as == '!')
        usage("option %s cannot be given to %s: %s", shown, job->engine->program,
              as + 2);
    if (*as == '~')
        return;
    while (*as) {
        const size_t len = strcspn(as, " "), before = strcspn(as, "%");

        job->binds |= strncmp(as, "--cpu-bind=", strlen("--cpu-bind=")) == 0 ||
                      strncmp(as, "--setopt=cpu-", strlen("--setopt=cpu-")) == 0;
        if (before < len)
            engine_put(job, need_text("%.*s%s", (int)before, as, value));
        else
            engine_put(job, need_text("%.*s", (int)len, as));
        as += len + (as[len] == ' ');
    }
}

/* Appends the meaning of a word of an option's argument. value: for %1; NULL: the part
 * of the star. */
static void take_word(struct engine_job *job, const char *option, const char *word,
                      const char *value)
{
    for (const struct engine_row *row = engine_rows; row->options; row++) {
        char *part = NULL;

        if (has_name(row, option) && row->words && fits(row->words, word, &part)) {
            char *shown = need_text("%s %s", option, word);

            apply(job, row, shown, value ? value : part);
            free(shown);
            free(part);
            return;
        }
    }
    usage("option %s %s cannot be given to %s", option, word, job->engine->program);
}

/* Reads one word of --map-by. */
static void take_map_word(struct rest *r, const char *word)
{
    static const char ppr[] = "ppr:", per_node[] = ":node";
    const size_t len = strlen(word), tail = strlen(per_node);
    const bool is_slurm = r->job->engine->is_slurm;

    r->no_oversubscribe |= strcasecmp(word, "nooversubscribe") == 0 ||
                           strncasecmp(word, "pe=", 3) == 0;
    if (is_slurm && strcasecmp(word, "oversubscribe") == 0)
        return; /* at the end */
    r->maps |= !strchr(word, '=') && !strstr(word, "subscribe");
    if (strncasecmp(word, ppr, strlen(ppr)) == 0 && len > tail &&
        strcasecmp(word + len - tail, per_node) == 0) {
        char *text = need_text("%.*s", (int)(len - tail - strlen(ppr)),
                               word + strlen(ppr));

        r->per_node = number("--map-by ppr", text, INT32_MAX);
        r->is_limited = true;
        free(text);
    } else if (is_slurm && strcasecmp(word, "ppr:1:core") == 0) {
        r->per_task = true;
        take_word(r->job, "--map-by", word, NULL);
        return;
    } else if (strcasecmp(word, "node") == 0) {
        r->per_node = 1;
        r->is_limited = false;
    } else {
        take_word(r->job, "--map-by", word, NULL);
        return;
    }
    r->place = need_text("%s", word);
    if (!is_slurm)
        take_word(r->job, "--map-by", word, NULL);
}

/* Reads the words of --map-by and --bind-to. "ppr:2:node" is one word. */
static void take_place(struct rest *r, const char *option, const char *text)
{
    const bool is_map = strcmp(option, "--map-by") == 0;
    char *copy = need_text("%s", text), *rest = copy, *word;

    if (is_map && strncasecmp(copy, "ppr:", 4) == 0) {
        size_t n = 4 + strcspn(copy + 4, ":");

        n += copy[n] == ':' ? 1 + strcspn(copy + n + 1, ":,") : 0;
        rest = copy[n] ? copy + n + 1 : NULL;
        copy[n] = '\0';
        take_map_word(r, copy);
    }
    while (rest && (word = strsep(&rest, ":,"))) {
        if (is_map && *word)
            take_map_word(r, word);
        else if (*word)
            take_word(r->job, option, strcasecmp(word, "socket") ? word : "package",
                      NULL);
    }
    free(copy);
}

static void take_output_words(struct rest *r, const char *text)
{
    char *copy = need_text("%s", text), *rest = copy, *word;

    while ((word = strsep(&rest, ","))) {
        r->raw |= strcmp(word, "raw") == 0;
        take_word(r->job, "--output", word, NULL);
    }
    free(copy);
}

/* Reads the option at *at, and moves *at to its last argument. */
static void take_option(struct rest *r, char ***at)
{
    const char *option = **at;
    const struct engine_row *row = engine_rows;

    while (row->options && !has_name(row, option))
        row++;
    if (!row->options)
        usage("option %s cannot be given to %s", option, r->job->engine->program);
    r->no_oversubscribe |= is_option(option, "--nooversubscribe", "--cpus-per-proc");
    if (!row->words) {
        apply(r->job, row, option, "");
        return;
    }
    const char *text = argument(at);

    if (strcmp(option, "--mca") == 0)
        argument(at);
    else if (is_option(option, "--host", "--hostfile"))
        engine_nodes_read(&r->nodes, option, text);
    else if (is_option(option, "--map-by", "--bind-to"))
        take_place(r, option, text);
    else if (strcmp(option, "--output") == 0)
        take_output_words(r, text);
    else if (!is_option(option, "-n", "-np")) /* the programs have the numbers */
        take_word(r->job, option, text, NULL);
    r->has_stdin |= strcmp(option, "--stdin") == 0;
}

/* ---- numbers and nodes ----------------------------------------------------------- */

/* Returns the number of processes of all programs. 0: --map-by decides. */
static int count_ranks(const struct options *o)
{
    int64_t n = 0;

    for (size_t i = 0; i < o->n_programs; i++)
        n += o->programs[i].n;
    if (n > INT32_MAX)
        usage("too many processes");
    return (int)n;
}

/* Returns the number of tasks of the allocation, from "4(x2),3", or 0. */
static int count_tasks(void)
{
    const char *text = getenv("SLURM_TASKS_PER_NODE");
    long n = 0;

    while (text && *text) {
        char *end;
        const long tasks = strtol(text, &end, 10);
        const long nodes = strncmp(end, "(x", 2) == 0 ? strtol(end + 2, &end, 10) : 1;

        n += tasks * nodes;
        text = end + strcspn(end, ",");
        text += *text == ',';
    }
    return n > 0 && n <= INT32_MAX ? (int)n : 0;
}

/* Appends the number of nodes, and the node of each process if options determine
 * them. */
static void put_slurm_nodes(struct rest *r, int ranks)
{
    struct engine_nodes *nodes = &r->nodes;
    int used = (int)nodes->n < ranks ? (int)nodes->n : ranks;
    char *list = NULL;

    if (r->no_oversubscribe && nodes->has_slots && engine_nodes_slots(nodes) < ranks)
        usage("-n %d: the nodes have %ld slots", ranks, engine_nodes_slots(nodes));
    if (r->place || (nodes->has_slots && !r->maps)) {
        if (!nodes->n)
            usage("--map-by %s outside of an allocation needs --host", r->place);
        list = engine_nodes_file(nodes, r->place ? r->per_node : 0, ranks, &used);
        take_word(r->job, r->place ? "--map-by" : "--host",
                  r->place ? r->place : "NODE:SLOTS", list);
    } else if (r->names_nodes) {
        list = engine_nodes_list(nodes, (size_t)used);
        take_word(r->job, "--host", "NODES", list);
    }
    free(list);
    if (used)
        engine_put(r->job, need_text("--nodes=%d", used));
}

/* The same for Flux. Returns false if Flux counts the processes by the nodes. */
static bool put_flux_nodes(struct rest *r, int ranks)
{
    const int per_node = r->is_limited ? r->per_node : 0;
    const int needed = per_node ? ranks / per_node : (int)r->nodes.n;
    const int used = needed < ranks ? needed : ranks;
    char *list;

    if (per_node && ranks != needed * per_node)
        usage("-n %d with --map-by %s: flux fills each node", ranks, r->place);
    if (r->nodes.has_slots && !r->maps)
        take_word(r->job, "--host", "NODE:SLOTS", NULL);
    if (r->names_nodes) {
        list = engine_nodes_list(&r->nodes, r->nodes.n);
        take_word(r->job, "--host", "NODES", list);
        free(list);
    }
    if (used)
        engine_put(r->job, need_text("--nodes=%d", used));
    return !per_node;
}

/* Appends the numbers of nodes and processes. */
static void put_numbers(struct rest *r, int ranks)
{
    const bool is_slurm = r->job->engine->is_slurm;
    const char *allocation = is_slurm ? getenv("SLURM_JOB_NODELIST") : NULL;
    char *text;

    r->names_nodes = r->nodes.n > 0;
    if (allocation && r->names_nodes)
        engine_nodes_check(&r->nodes, allocation);
    else if (allocation)
        engine_nodes_expand(&r->nodes, allocation);
    if (!ranks && r->per_task)
        ranks = count_tasks();
    if (!ranks && (!r->nodes.n || r->per_task))
        usage("--map-by %s with %s needs -n%s", r->place ? r->place : "ppr:1:core",
              r->job->engine->program, r->per_task ? "" : " or --host");
    if (!ranks)
        ranks = (int)r->nodes.n * r->per_node;
    else if (r->is_limited && r->nodes.n && ranks > (int64_t)r->nodes.n * r->per_node)
        usage("-n %d: %zu nodes have room for %lld processes with --map-by %s", ranks,
              r->nodes.n, (long long)r->nodes.n * r->per_node, r->place);
    if (is_slurm)
        put_slurm_nodes(r, ranks);
    else if (!put_flux_nodes(r, ranks))
        return;
    text = need_text("%d", ranks);
    take_word(r->job, "-n", text, NULL);
    free(text);
}

/* Appends what pmixrun does on one node without an option. */
static void put_defaults(struct rest *r)
{
    if (!r->has_stdin)
        take_word(r->job, "--stdin", "0", NULL);
    if (!r->job->binds)
        take_word(r->job, "--bind-to", "none", NULL);
    if (!r->no_oversubscribe && r->job->engine->is_slurm)
        take_word(r->job, "--map-by", "oversubscribe", NULL);
}

/* True if the job has an attribute. */
static bool is_asked(const struct options *o, const char *key)
{
    size_t i = 0;

    while (i < o->n_asked && !PMIx_Check_key(o->asked[i].key, key))
        i++;
    return i < o->n_asked;
}

static void translate(struct engine_job *job)
{
    static struct rest r; /* lives until the end */
    char **at = job->options->words + 1;
    const struct engine *e = job->engine;

    r.job = job;
    engine_put(job, need_text("%s", e->program));
    for (size_t i = 0; e->always[i]; i++)
        engine_put(job, need_text("%s", e->always[i]));
    job->recoverable = is_asked(job->options, PMIX_JOB_RECOVERABLE) ||
                       is_asked(job->options, PMIX_JOB_CONTINUOUS);
    if (!job->recoverable)
        engine_put(job, need_text("%s", e->strict));
    for (; *at && **at == '-' && (*at)[1] && strcmp(*at, "--") != 0; at++)
        take_option(&r, &at);
    job->labelled = engine_output_is_shaped(job->options);
    if (job->labelled && r.raw)
        usage("--output raw cannot be given to %s with another form", e->program);
    if (job->labelled)
        engine_put(job, need_text("%s", e->label));
    put_numbers(&r, count_ranks(job->options));
    put_defaults(&r);
    engine_put_programs(job);
}

void engine_show(const struct options *o, const char *text)
{
    if (o->verbose || is_asked(o, PMIX_DISPLAY_MAP))
        complain("launcher %s", text);
}

int engine_run(const struct engine *engine, const struct options *options)
{
    static struct engine_job job; /* lives until the end */
    char *words, *line;

    job.engine = engine;
    job.options = options;
    translate(&job);
    words = need(PMIx_Argv_join(job.words, ' '));
    line = need_text("%s: %s", engine->name, words);
    engine_show(options, line);
    free(line);
    free(words);
    job.path = engine_find(engine->program);
    if (!job.path) {
        complain("cannot run %s: it is not in PATH", engine->program);
        return EXIT_NOT_FOUND;
    }
    return engine_start(&job);
}
