/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of a tool, by tables of options: those of the tool, of the server,
 * of the output, and of all programs. */
#include "tool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct tool *this_tool;

/* ---- options of all programs ----------------------------------------------------- */

static void take_help(const char *text)
{
    (void)text;
    print_help(this_tool);
    print_and_exit("");
}

static void take_version(const char *text)
{
    (void)text;
    if (this_tool->version) {
        this_tool->version();
        return;
    }
    print_and_exit(need_text("%s, %s\n", this_tool->name, PMIx_Get_version()));
}

static void take_completion(const char *shell)
{
    const bool zsh = strcmp(shell, "zsh") == 0;

    if (!zsh && strcmp(shell, "bash") != 0)
        usage("--completion \"%s\": bash or zsh is needed", shell);
    print_completion(this_tool, zsh);
    print_and_exit("");
}

static void take_man(const char *text)
{
    (void)text;
    print_man(this_tool);
    print_and_exit("");
}

static void take_parameter(const char *text)
{
    if (putenv(need_text("PMIX_MCA_%s", text)))
        need(NULL);
}

static void take_verbose(const char *text)
{
    (void)text;
    take_parameter("mca_base_verbose=info");
}

/* clang-format off */
static const struct tool_option general[] = {
    TAKES_CALL("man", NULL, take_man, "print the page for man(1)"),
    TAKES_CALL("pmixmca|mca", "NAME VALUE", take_parameter, "set a parameter of the library"),
    TAKES_CALL("v|verbose", NULL, take_verbose, "have the library log its steps"),
    TAKES_CALL("completion", "bash|zsh", take_completion, "print a completion for a shell"),
    TAKES_CALL("h|help", NULL, take_help, "list the options"),
    TAKES_CALL("V|version", NULL, take_version, "show the version"),
    {0},
};
/* clang-format on */

size_t option_groups(const struct tool *tool, struct option_group groups[MAX_GROUPS])
{
    size_t n = 0;

    groups[n++] = (struct option_group){"Options", tool->options};
    if (!tool->alone)
        groups[n++] = (struct option_group){"Server", server_options};
    if (!tool->one_format)
        groups[n++] = (struct option_group){"Output", format_options};
    groups[n++] = (struct option_group){"General", general + !tool->description};
    return n;
}

char *option_names(const struct tool_option *option, const char *between)
{
    char *all = need_text("%s", "");

    for (const char *name = option->names; *name;) {
        const size_t n = strcspn(name, "|");
        char *before = all;

        all = need_text("%s%s%s%.*s", before, *before ? between : "",
                        n == 1 ? "-" : "--", (int)n, name);
        free(before);
        name += n + (name[n] == '|');
    }
    return all;
}

int option_arguments(const struct tool_option *option, int *least)
{
    const int most = !option->argument ? 0 : strchr(option->argument, ' ') ? 2 : 1;

    *least = !most || *option->argument == '[' ? 0
             : strstr(option->argument, " [")  ? 1
                                               : most;
    return most;
}

/* ---- lists ----------------------------------------------------------------------- */

void infos_add(struct infos *infos, const char *key, const void *value,
               pmix_data_type_t type)
{
    infos->v = grow(infos->v, infos->n + 1, sizeof(*infos->v));
    if (PMIx_Info_load(&infos->v[infos->n], key, value, type))
        need(NULL);
    infos->n++;
}

void list_add(char ***list, char *text)
{
    size_t n = 0;

    while (*list && (*list)[n])
        n++;
    *list = grow(*list, n + 2, sizeof(**list));
    (*list)[n] = text;
    (*list)[n + 1] = NULL;
}

/* ---- one option ------------------------------------------------------------------ */

/* Adds an attribute with the type that the option has. */
static void take_info(const struct tool_option *o, const char *shown, const char *text)
{
    const bool yes = true;
    uint64_t n = 0;

    if (o->type == PMIX_BOOL || o->type == PMIX_STRING) {
        if (text && !*text)
            usage("%s \"\" is empty", shown);
        infos_add(o->to, o->key, o->type == PMIX_BOOL ? (const void *)&yes : text,
                  o->type);
        return;
    }
    n = (uint64_t)number(shown, text, INT_MAX); /* fits each type on each machine */
    if (o->type == PMIX_UINT64)
        infos_add(o->to, o->key, &n, PMIX_UINT64);
    else
        infos_add(o->to, o->key, &(const uint32_t){(uint32_t)n}, o->type);
}

static void apply(const struct tool_option *o, const char *shown, char *const *values)
{
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)o->to = true;
        break;
    case OPTION_TEXT:
        *(const char **)o->to = values[0] ? values[0] : "";
        break;
    case OPTION_NUMBER:
        *(int *)o->to = number(shown, values[0], INT_MAX / 1000);
        break;
    case OPTION_LIST:
        list_add(o->to, values[0]);
        break;
    case OPTION_INFO:
        take_info(o, shown, values[0]);
        break;
    case OPTION_CALL:
        o->call(values[1] ? need_text("%s=%s", values[0], values[1]) : values[0]);
        break;
    case OPTION_REFUSED:
        usage("%s is not supported: %s", shown, o->help);
    }
}

/* Finds the option of a name, or of the beginning of a name that one option has. */
static const struct tool_option *find(const char *shown, const char *name, size_t len)
{
    const struct tool_option *begins = NULL;
    struct option_group groups[MAX_GROUPS];
    const size_t n = option_groups(this_tool, groups);
    bool clear = true;

    for (size_t g = 0; g < n; g++)
        for (const struct tool_option *o = groups[g].options; o->names; o++) {
            const enum match m = match_names(o->names, name, len);

            if (m == EQUAL)
                return o;
            clear &= m == DIFFERS || !begins;
            if (m == BEGINS && len > 1)
                begins = o;
        }
    if (!begins)
        usage("unknown option %s", shown);
    if (!clear)
        usage("option %s is not clear: it begins more than one option", shown);
    return begins;
}

/* True for a word that begins like an option. A negative number is an operand. */
static bool begins_option(const char *word)
{
    return word[0] == '-' && word[1] && (word[1] < '0' || word[1] > '9');
}

/* Reads the option at *at, and moves *at to its last argument. */
static void take_option(char ***at)
{
    char *option = **at, *values[2] = {NULL, NULL};
    const char *name = option + 1 + (option[1] == '-');
    const size_t len = strcspn(name, "=");
    char *shown = need_text("%.*s", (int)(name - option + (long)len), option);
    const struct tool_option *o = find(shown, name, len);
    int least, got = 0;
    const int most = option_arguments(o, &least);

    if (name[len] == '=')
        values[got++] = option + (name - option) + len + 1;
    if (got > most)
        usage("%s has no argument", shown);
    for (; got < least; got++) {
        if (!(*at)[1])
            usage("%s needs an argument", shown);
        values[got] = *++*at;
    }
    if (got == 1 && least == 1 && most == 2 && !strchr(values[0], ':') && (*at)[1] &&
        !begins_option((*at)[1]))
        values[1] = *++*at;
    apply(o, shown, values);
    free(shown);
}

int tool_main(const struct tool *tool, char **argv)
{
    char **operands = NULL, **at = argv;
    int status;

    this_tool = tool;
    list_add(&operands, NULL);
    while (*at && *++at) {
        const bool ends = strcmp(*at, "--") == 0;

        if (ends || (tool->has_program && !begins_option(*at))) {
            for (at += ends; *at; at++)
                list_add(&operands, *at);
            break;
        }
        if (begins_option(*at))
            take_option(&at);
        else
            list_add(&operands, *at);
    }
    (void)format_now(); /* ends the program if two are given */
    if (!tool->operands && operands[0])
        usage("unexpected argument %s", operands[0]);
    if (!tool->alone)
        server_begin();
    status = tool->run(operands);
    if (!tool->alone)
        server_end();
    if (fflush(stdout) || ferror(stdout))
        fail("cannot write the output");
    return status;
}
