/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

#include "../toolkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <pmix.h>

/* The translation in progress. Members after argv belong to one program's options. */
struct work {
    struct names_result *result;
    char **argv;
    size_t n_argv;
    /* "map", "rank" and "bind" with their objects and modifiers */
    struct place {
        char *object, *modifiers; /* "core", ":pe=2:span"; NULL: none */
    } map, rank, bind;
    char *file; /* for output; NULL: none */
    bool is_pattern, is_only;
    char *hosts, *hostfile; /* NULL: none */
    bool counted;           /* the number of processes is given */
    bool singleton;         /* no program runs */
    const char *name;       /* of the launcher */
    bool serves;            /* prte without a program stays as a server */
    bool quiet;             /* then without a line when the server is ready */
};

static void apply(struct work *w, const struct names_row *row, const char *shown,
                  const char *first, const char *second);

/* ---- small parts ----------------------------------------------------------------- */

/* Adds a string, which the list then owns. n: strings before. */
static void add(char ***list, size_t n, char *text)
{
    *list = grow(*list, n + 2, sizeof(**list));
    (*list)[n] = text;
    (*list)[n + 1] = NULL;
}

static void put(struct work *w, const char *text)
{
    add(&w->argv, w->n_argv++, need_text("%s", text));
}

static void note(struct work *w, char *text)
{
    size_t n = 0;

    while (w->result->notes && w->result->notes[n])
        n++;
    add(&w->result->notes, n, text);
}

static void put_option(struct work *w, const char *option, const char *value)
{
    put(w, option);
    put(w, value);
}

static void set(char **to, const char *text)
{
    free(*to);
    *to = need_text("%s", text);
}

/* Appends to a list with commas. */
static void append(char **to, const char *text)
{
    char *before = *to;

    *to = need_text("%s%s%s", before ? before : "", before ? "," : "", text);
    free(before);
}

/* Records the first error. */
static void wrong(struct work *w, char *why)
{
    if (w->result->error)
        free(why);
    else
        w->result->error = why;
}

const char *names_known(const char *path)
{
    static const char *const known[] = {"prterun",      "prte",         "prun",
                                        "pterm",        "mpirun",       "mpiexec",
                                        "mpirun.tenon", "mpiexec.tenon"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(name, known[i]) == 0)
            return known[i];
    return NULL;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Finds the row of a name, or of the beginning of a name that one row has. *other: a
 * second row with such a name, or NULL. */
static const struct names_row *find(const struct names_row *rows, const char *text,
                                    size_t len, const struct names_row **other)
{
    const struct names_row *begins = NULL;

    *other = NULL;
    for (; rows->names; rows++) {
        enum match m = *rows->names == '*' ? EQUAL
                                           : match_names(rows->names, text, len);

        if (m == EQUAL) {
            *other = NULL;
            return rows;
        }
        if (m == BEGINS && begins)
            *other = rows;
        else if (m == BEGINS)
            begins = rows;
    }
    return *other ? NULL : begins;
}

/* Returns the number of arguments that follow the option. */
static int arguments_of(const struct names_row *row)
{
    return !row->arguments || *row->arguments == '[' ? 0
           : strchr(row->arguments, ' ')             ? 2
                                                     : 1;
}

static bool is_false(const char *text)
{
    size_t n = text ? strlen(text) : 0;

    return n && (strcmp(text, "0") == 0 || strncasecmp(text, "false", n) == 0);
}

/* ---- meanings -------------------------------------------------------------------- */

/* Appends a time such as "1:20:30:05" (days to seconds) as seconds. */
static char *seconds_of(struct work *w, const char *text)
{
    static const long factors[] = {60, 60, 24}; /* of minutes, hours, days */
    long total = 0;
    int fields = 1;
    char *end;

    for (const char *c = text; *c; c++)
        fields += *c == ':';
    for (const char *at = text;; at = end + 1) {
        long n = strtol(at, &end, 10);

        if (end == at || *at == '-' || (*end && *end != ':') || fields > 4 ||
            n > 1000000)
            break;
        for (int i = 0; i < fields - 1; i++)
            n *= factors[i];
        total += n;
        fields--;
        if (!*end)
            return need_text("%ld", total);
    }
    wrong(w, need_text("\"%s\" is not a time", text));
    return need_text("%s", text);
}

/* Returns the word with its arguments, malloc'd. */
static char *fill(struct work *w, const char *word, size_t len, const char *first,
                  const char *second)
{
    char *text = need_text("%s", "");

    for (size_t i = 0; i < len; i++) {
        char *before = text, *seconds = NULL;
        const char *path = getenv("PATH");

        if (word[i] != '%') {
            text = need_text("%s%c", before, word[i]);
        } else {
            const char kind = word[++i];

            if (kind == 't')
                seconds = seconds_of(w, first);
            text = need_text("%s%s", before,
                             kind == '1'   ? first
                             : kind == '2' ? second
                             : kind == 't' ? seconds
                             : path        ? path
                                           : "/bin:/usr/bin");
        }
        free(before);
        free(seconds);
    }
    return text;
}

/* Adds a word such as "core", "pe=2" or "*:fill" to a directive of placement. begins:
 * the word begins with an object. */
static void take_place(struct place *p, const char *word, bool begins)
{
    const size_t n = begins || *word == '*' ? strcspn(word, ":") : 0;
    char *before = p->modifiers;

    if (begins) {
        free(p->object);
        p->object = need_text("%.*s", (int)n, word);
    }
    word += n + (n && word[n] == ':');
    if (!*word)
        return;
    p->modifiers = need_text("%s:%s", before ? before : "", word);
    free(before);
}

/* Sets a variable, or several of Open MPI's list. An unset variable is left out. */
static void take_variable(struct work *w, const char *text)
{
    static const char list[] = "OMPI_MCA_mca_base_env_list=";
    char *copy, *rest, *word;

    if (strncmp(text, list, sizeof(list) - 1) == 0) {
        copy = rest = need_text("%s", text + sizeof(list) - 1);
        while ((word = strsep(&rest, ";")))
            if (*word)
                take_variable(w, word);
        free(copy);
    } else if (!strpbrk(text, "=*?;!^") && !getenv(text)) {
        note(w, need_text("-x %s: no such variable is set", text));
    } else {
        put_option(w, "-x", text);
    }
}

/* Handles an option of pmixrun with a value. Options that depend on later ones wait. */
static void emit_value(struct work *w, const char *option, const char *value)
{
    const struct names_row policy = {
        option + 2, "POLICY", strcmp(option, "--map-by") == 0 ? "@map" : "@bind", NULL};

    if (strcmp(option, "--map-by") == 0 || strcmp(option, "--bind-to") == 0)
        apply(w, &policy, option, value, NULL);
    else if (strcmp(option, "-x") == 0)
        take_variable(w, value);
    else if (strcmp(option, "--host") == 0)
        append(&w->hosts, value);
    else if (strcmp(option, "--hostfile") == 0)
        set(&w->hostfile, value);
    else if (strcmp(option, "--output-file") == 0)
        set(&w->file, value);
    else
        put_option(w, option, value);
    w->counted = w->counted || strcmp(option, "-n") == 0;
    w->singleton = w->singleton || strcmp(option, "--singleton") == 0;
}

/* Appends the options of pmixrun that "as" has. */
static void emit(struct work *w, const char *as, const char *first, const char *second)
{
    char *option = NULL; /* whose value comes next */

    while (*as) {
        size_t len = strcspn(as, " ");
        const char *next = as + len + (as[len] == ' ');
        char *word = fill(w, as, len, first, second);

        if (option)
            emit_value(w, option, word);
        else if (strcmp(word, "--pattern") == 0)
            w->is_pattern = true;
        else if (strcmp(word, "--nocopy") == 0)
            w->is_only = true;
        else if (strcmp(word, "--no-ready-msg") == 0)
            w->quiet = true;
        else if (!*next || *next == '-' || *as != '-' || strcmp(word, "--mca") == 0)
            put(w, word);
        free(option);
        option = *as == '-' && *next && *next != '-' && strcmp(word, "--mca") != 0
                     ? need_text("%s", word)
                     : NULL;
        free(word);
        as = next;
    }
}

/* ---- lists of words -------------------------------------------------------------- */

static struct place *place_of(struct work *w, const char *list)
{
    return strcmp(list, "map") == 0    ? &w->map
           : strcmp(list, "rank") == 0 ? &w->rank
           : strcmp(list, "bind") == 0 ? &w->bind
                                       : NULL;
}

/* Reads one word of a list. begins: the first word. */
static void take_word(struct work *w, const struct names_list *list, const char *option,
                      char *word, const char *value, bool begins)
{
    const size_t len = strcspn(word, "=");
    const struct names_row *other, *row = find(list->rows, word, len, &other);
    struct place *p = place_of(w, list->name);
    char *shown = need_text("%s %.*s", option, (int)len, word);

    if (word[len] == '=')
        value = word + len + 1;
    if (!row && other)
        wrong(w, need_text("%s is not clear: it begins more than one word", shown));
    else if (!row)
        wrong(w, need_text("%s is not known", shown));
    else if (value && !row->arguments)
        wrong(w, need_text("%s has no value", shown));
    else if (arguments_of(row) && (!value || !*value))
        wrong(w, need_text("%s needs a value", shown));
    else if (p && row->as[0] && !strchr("!?@-", row->as[0])) {
        char *text = fill(w, row->as, strlen(row->as), value, NULL);

        take_place(p, text, begins);
        free(text);
    } else {
        apply(w, row, shown, value, NULL);
    }
    free(shown);
}

/* Reads the argument of an option by the rows of a list. */
static void take_list(struct work *w, const char *name, const char *option,
                      const char *text, const char *value)
{
    const struct names_list *list = names_lists;
    char *copy = need_text("%s", text), *rest = copy, *word;
    bool begins = true;

    while (strcmp(list->name, name) != 0)
        list++;
    /* "ppr:2:core" is one object */
    if (place_of(w, name) == &w->map && strncasecmp(copy, "ppr:", 4) == 0) {
        size_t n = 4 + strcspn(copy + 4, ":");

        n += copy[n] == ':' ? 1 + strcspn(copy + n + 1, ":") : 0;
        rest = copy[n] ? copy + n + 1 : NULL;
        copy[n] = '\0';
        free(w->map.object);
        w->map.object = need_text("%s", copy);
        begins = false;
    }
    while (!w->result->error && rest && (word = strsep(&rest, list->between))) {
        if (*word)
            take_word(w, list, option, word, value, begins);
        begins = false;
    }
    free(copy);
}

/* Applies a row to its arguments. shown: the option for messages. */
static void apply(struct work *w, const struct names_row *row, const char *shown,
                  const char *first, const char *second)
{
    const char *as = row->as;

    if (row->arguments && strcmp(row->arguments, "[BOOL]") == 0 && is_false(first))
        as = row->off ? row->off : "";
    switch (*as) {
    case '!':
        wrong(w, need_text("%s is not supported: %s", shown, as + 2));
        break;
    case '?':
        note(w, need_text("%s has no effect: %s", shown, as + 2));
        break;
    case '@':
        take_list(w, as + 1, shown, first, second);
        break;
    default:
        emit(w, as, first, second);
    }
}

/* ---- the command line ------------------------------------------------------------ */

/* Reads the option at *at, and moves *at behind its arguments. */
static void take_option(struct work *w, char *const **at)
{
    const char *option = **at, *name = option + 1 + (option[1] == '-');
    const size_t len = strcspn(name, "=");
    const struct names_row *other, *row = find(names_options, name, len, &other);
    const char *values[2] = {NULL, NULL};
    char *shown = need_text("%.*s", (int)(name - option + (long)len), option);
    int n, got = 0;

    ++*at;
    if (len == 1 && (!row || match_names(row->names, name, len) != EQUAL))
        row = other = NULL;
    n = row ? arguments_of(row) : 0;
    if (name[len] == '=')
        values[got++] = name + len + 1;
    for (; got < n && **at; ++*at)
        values[got++] = **at;
    if (!row)
        wrong(w,
              need_text(other ? "option %s is not clear: it begins more than one option"
                              : "unknown option %s",
                        shown));
    else if (got < n)
        wrong(w, need_text("%s needs an argument", shown));
    else if (got > n && !row->arguments)
        wrong(w, need_text("%s has no argument", shown));
    else
        apply(w, row, shown, values[0], values[1]);
    free(shown);
}

/* Appends a directive of placement. The jobs of a singleton or a server have their
 * own. */
static void put_place(struct work *w, const char *option, struct place *p)
{
    char *text = need_text("%s%s", p->object ? p->object : "",
                           p->modifiers ? p->modifiers : "");

    if (*text && !w->singleton && !w->serves)
        put_option(w, option, text);
    free(text);
    free(p->object);
    free(p->modifiers);
    *p = (struct place){NULL, NULL};
}

/* Appends the options for files of output. */
static void put_files(struct work *w)
{
    const bool plain = w->file && !w->is_pattern;
    char *text = !w->file ? NULL
                 : plain  ? need_text("%s%s", w->file, w->is_only ? ":nocopy" : "")
                          : need_text("file=%s", w->file);

    if (text)
        put_option(w, plain ? "--output-file" : "--output", text);
    if (w->is_only && !plain)
        put_option(w, "--output", "only");
    free(text);
    free(w->file);
    w->file = NULL;
    w->is_pattern = w->is_only = false;
}

/* Returns the sum of N of "name:N,name", malloc'd. A name alone counts once. */
static char *slots_of(const char *hosts)
{
    long sum = 0;

    for (const char *host = hosts; *host;) {
        size_t n = strcspn(host, ","), name = strcspn(host, ":,");

        sum += name < n ? strtol(host + name + 1, NULL, 10) : n > 0;
        host += n + (host[n] == ',');
    }
    return need_text("%ld", sum);
}

/* Gives a number of processes to a command line without one: the slots of the named
 * hosts, or one for each core. */
static void count(struct work *w)
{
    const bool by_thread = w->map.modifiers && strstr(w->map.modifiers, ":hwtcpus");

    if (w->map.object && strncasecmp(w->map.object, "ppr:", 4) == 0)
        return;
    if (w->hosts) {
        char *slots = slots_of(w->hosts);

        put_option(w, "-n", slots);
        free(slots);
    } else if (w->map.object || w->hostfile) {
        wrong(w, need_text("--np is needed with %s",
                           w->hostfile ? "--hostfile" : "--map-by"));
    } else {
        set(&w->map.object, by_thread ? "ppr:1:hwthread" : "ppr:1:core");
    }
}

/* Appends the options of a server that stays. */
static void put_server(struct work *w)
{
    if (w->quiet)
        put(w, "--no-ready-msg");
    put(w, "--serve");
}

/* Appends the options that waited. lone: there is one program. */
static void put_rest(struct work *w, bool lone)
{
    if (w->rank.object && *w->rank.object == '*') {
        if (w->map.object && strncasecmp(w->map.object, "ppr:", 4) != 0)
            set(&w->rank.object, w->map.object);
        else
            wrong(w, need_text("--rank-by fill and span need --map-by OBJECT"));
    }
    if (w->serves)
        put_server(w);
    else if (lone && !w->counted && !w->singleton)
        count(w);
    put_place(w, "--map-by", &w->map);
    put_place(w, "--rank-by", &w->rank);
    put_place(w, "--bind-to", &w->bind);
    put_files(w);
    /* The jobs of a singleton name their hosts. */
    if (w->hosts && !w->singleton)
        put_option(w, "--host", w->hosts);
    if (w->hostfile && !w->singleton)
        put_option(w, "--hostfile", w->hostfile);
    free(w->hosts);
    free(w->hostfile);
    w->hosts = w->hostfile = NULL;
    w->counted = false;
}

/* Reads the parameters of PRRTE that the environment has. */
static void take_environment(struct work *w)
{
    const struct names_list *list = names_lists;

    while (strcmp(list->name, "prtemca") != 0)
        list++;
    for (const struct names_row *row = list->rows; row->names; row++) {
        char *name = need_text("PRTE_MCA_%s", row->names);
        const char *value = getenv(name);

        if (value && *value)
            apply(w, row, name, value, NULL);
        free(name);
    }
}

static bool has_colon(char *const *at)
{
    while (*at && strcmp(*at, ":") != 0)
        at++;
    return *at != NULL;
}

/* Reads a program and its options; returns the colon or the end. */
static char *const *take_program(struct work *w, char *const *at, bool lone)
{
    bool dashes = false;

    while (!w->result->error && *at && (*at)[0] == '-' && (*at)[1] && !dashes) {
        dashes = strcmp(*at, "--") == 0;
        if (dashes)
            at++;
        else
            take_option(w, &at);
    }
    w->serves = !*at && !w->singleton && strcmp(w->name, "prte") == 0;
    put_rest(w, lone && strcmp(w->name, "pterm") != 0);
    if (w->singleton && *at && strcmp(*at, "&") == 0) /* Open MPI appends this word */
        at++;
    if (dashes)
        put(w, "--");
    for (; *at && strcmp(*at, ":") != 0; at++)
        put(w, *at);
    return at;
}

void names_translate(char *const *argv, struct names_result *result)
{
    struct work w = {.result = result, .name = argv[0] ? names_known(argv[0]) : NULL};
    const bool lone = !has_colon(argv + 1);

    *result = (struct names_result){NULL, NULL, NULL};
    w.name = w.name ? w.name : "prterun";
    put(&w, "pmixrun");
    if (strcmp(w.name, "prun") == 0)
        put(&w, "--submit");
    if (strcmp(w.name, "pterm") == 0)
        put(&w, "--terminate");
    else
        take_environment(&w);
    for (char *const *at = argv + 1;; at++) {
        at = take_program(&w, at, lone);
        if (result->error || !*at)
            break;
        put(&w, *at);
    }
    result->argv = w.argv;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

void names_free(struct names_result *result)
{
    free_list(result->argv);
    free_list(result->notes);
    free(result->error);
    *result = (struct names_result){NULL, NULL, NULL};
}

/* ---- texts ----------------------------------------------------------------------- */

/* Appends formatted text to malloc'd text. */
static char *join(char *text, const char *between, const char *more)
{
    char *all = need_text("%s%s%s", text ? text : "", text ? between : "", more);

    free(text);
    return all;
}

/* Returns all names of a row, malloc'd. dashes: with those of an option. */
static char *names_of(const struct names_row *row, bool dashes)
{
    char *copy = need_text("%s", row->names), *rest = copy, *all = NULL, *name;

    while ((name = strsep(&rest, "|"))) {
        char *shown = need_text("%s%s", !dashes ? "" : name[1] ? "--" : "-", name);

        all = join(all, ", ", shown);
        free(shown);
    }
    free(copy);
    return all;
}

/* Returns the meaning of a row in a line, malloc'd. */
static char *meaning_of(const struct names_row *row)
{
    const struct names_list *list = names_lists;
    char *all = NULL, first[32] = "", second[32] = "";
    struct names_result none = {NULL, NULL, NULL};
    struct work w = {.result = &none};

    if (row->arguments)
        sscanf(row->arguments, "%31s %31s", first, second);
    if (*row->as == '@') {
        while (strcmp(list->name, row->as + 1) != 0)
            list++;
        for (const struct names_row *r = list->rows; r->names; r++) {
            char *name = *r->as == '!' ? NULL : names_of(r, false);

            all = name ? join(all, ", ", name) : all;
            free(name);
        }
        return all;
    }
    all = *row->as == '!'   ? need_text("not supported: %s", row->as + 2)
          : *row->as == '?' ? need_text("no effect: %s", row->as + 2)
          : *row->as        ? fill(&w, row->as, strlen(row->as), first, second)
                            : need_text("accepted");
    names_free(&none);
    return all;
}

char *names_help(const char *name)
{
    char *text = need_text(
        "usage: %s [OPTIONS] PROGRAM [ARGS] [: [OPTIONS] PROGRAM2 [ARGS]]...\n"
        "Run processes by pmixrun, with the command line of PRRTE 3 and Open MPI 5. Each\n"
        "option is followed by its meaning for pmixrun. See pmixrun --help.\n\n",
        name);

    for (const struct names_row *row = names_options; row->names; row++) {
        char *names = names_of(row, true), *meaning = meaning_of(row);
        char *line = need_text("  %s%s%s\n      %s\n", names, row->arguments ? " " : "",
                               row->arguments ? row->arguments : "", meaning);

        text = join(text, "", line);
        free(names);
        free(meaning);
        free(line);
    }
    return text;
}

char *names_version(const char *name)
{
    const char *version = getenv("OMPI_VERSION"), *tool = getenv("OMPI_TOOL_NAME");

    if (version && tool) /* programs ask mpirun for the release of Open MPI */
        return need_text("%s (Open MPI) %s\n\n%s of Tenon, %s\n", tool, version, name,
                         PMIx_Get_version());
    return need_text("%s of Tenon, %s\n", name, PMIx_Get_version());
}
