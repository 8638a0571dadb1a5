/* SPDX-License-Identifier: BSD-3-Clause */
/* Help, page for man(1) and completions, made from the tables of options. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 22, HELP_WIDTH = 80 };

static const char exits[] =
    "The exit status is 0; 1 after an error; 2 if the command line is wrong; 124 if\n"
    "the server has not answered in time.\n";

/* ---- help ------------------------------------------------------------------------ */

/* Prints a text from a column on, in lines of limited width. column: the current
 * one. */
static void print_wrapped(const char *text, int column)
{
    if (column >= HELP_COLUMN - 1) {
        printf("\n");
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    column = HELP_COLUMN;
    for (int n; *text; text += n + (text[n] == ' ')) {
        n = (int)strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + n > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += printf("%s%.*s", column > HELP_COLUMN ? " " : "", n, text);
    }
    printf("\n");
}

static const char *separator(const struct tool_option *o)
{
    return !o->argument ? "" : *o->argument == '[' ? "" : " ";
}

void print_help(const struct tool *tool)
{
    struct option_group groups[MAX_GROUPS];
    const size_t n = option_groups(tool, groups);

    printf("usage: %s [OPTIONS]%s%s\n%s\n", tool->name, tool->operands ? " " : "",
           tool->operands ? tool->operands : "", tool->summary);
    for (size_t g = 0; g < n; g++) {
        if (groups[g].options->names)
            printf("\n%s:\n", groups[g].title);
        for (const struct tool_option *o = groups[g].options; o->names; o++) {
            char *names = option_names(o, ", ");

            if (o->kind != OPTION_REFUSED)
                print_wrapped(o->help, printf("  %s%s%s", names, separator(o),
                                              o->argument ? o->argument : ""));
            free(names);
        }
    }
    printf("\n%s", exits);
}

/* ---- the page for man(1) --------------------------------------------------------- */

/* Prints a text for troff. */
static void print_troff(const char *text)
{
    for (const char *c = text; *c; c++) {
        const bool begins = c == text || c[-1] == '\n';

        if (c[0] == '\n' && c[1] == '\n') {
            printf("\n.PP\n");
            c++;
        } else if (*c == '-' || *c == '\\') {
            printf("\\%c", *c == '-' ? '-' : 'e');
        } else {
            printf("%s%c", begins && (*c == '.' || *c == '\'') ? "\\&" : "", *c);
        }
    }
}

static void print_man_option(const struct tool_option *o)
{
    char *names = option_names(o, ", ");

    printf(".TP\n\\fB");
    print_troff(names);
    printf("\\fR%s\\fI", separator(o));
    print_troff(o->argument ? o->argument : "");
    printf("\\fR\n");
    if (o->kind == OPTION_REFUSED)
        printf("Not supported: ");
    print_troff(o->help);
    printf("\n");
    free(names);
}

void print_man(const struct tool *tool)
{
    struct option_group groups[MAX_GROUPS];
    const size_t n = option_groups(tool, groups);

    printf(".\\\" SPDX-License-Identifier: BSD-3-Clause\n.TH ");
    for (const char *c = tool->name; *c; c++)
        putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    printf(" 1 \"\" \"Tenon\" \"User Commands\"\n.SH NAME\n%s \\- ", tool->name);
    print_troff(tool->summary);
    printf("\n.SH SYNOPSIS\n.B %s\n[\\fIOPTIONS\\fR] ", tool->name);
    print_troff(tool->operands ? tool->operands : "");
    printf("\n.SH DESCRIPTION\n");
    print_troff(tool->description);
    printf("\n.SH OPTIONS\n");
    for (size_t g = 0; g < n; g++) {
        if (groups[g].options->names)
            printf(".SS %s\n", groups[g].title);
        for (const struct tool_option *o = groups[g].options; o->names; o++)
            print_man_option(o);
    }
    printf(".SH EXIT STATUS\n");
    print_troff(exits);
    printf(".SH SEE ALSO\n.BR pmixrun (1),\n.BR pmix_info (1)\n");
}

/* ---- completions ----------------------------------------------------------------- */

/* True if the argument of an option is the name of a file or folder. */
static bool is_path(const struct tool_option *o)
{
    return strstr(o->argument, "FILE") || strcmp(o->argument, "DIR") == 0;
}

/* Prints the words of an argument such as "bash|zsh", with spaces between them. */
static void print_words(const char *argument)
{
    for (const char *c = argument; *c; c++)
        putchar(*c == '|' ? ' ' : *c);
}

static void print_bash(const struct tool *tool)
{
    struct option_group groups[MAX_GROUPS];
    const size_t n = option_groups(tool, groups);

    printf("# Completion of %s for bash, made by %s --completion bash.\n_%s()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    case $prev in\n",
           tool->name, tool->name, tool->name);
    for (size_t g = 0; g < n; g++)
        for (const struct tool_option *o = groups[g].options; o->names; o++) {
            char *names = option_names(o, "|");

            if (o->argument && *o->argument != '[') {
                printf("        %s) ", names);
                if (is_path(o)) {
                    printf("mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")");
                } else if (strchr(o->argument, '|')) {
                    printf("mapfile -t COMPREPLY < <(compgen -W '");
                    print_words(o->argument);
                    printf("' -- \"$cur\")");
                } else {
                    printf("COMPREPLY=()");
                }
                printf("; return ;;\n");
            }
            free(names);
        }
    printf("    esac\n    mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t g = 0; g < n; g++)
        for (const struct tool_option *o = groups[g].options; o->names; o++) {
            char *names = option_names(o, " ");

            if (o->kind != OPTION_REFUSED)
                printf("%s ", names);
            free(names);
        }
    printf("' -- \"$cur\")\n}\ncomplete -F _%s %s\n", tool->name, tool->name);
}

/* Prints a text within single quotes of zsh's _arguments. */
static void print_zsh_text(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            printf("'\\''");
        else
            printf("%s%c", strchr("[]:\\", *c) ? "\\" : "", *c);
}

static void print_zsh(const struct tool *tool)
{
    struct option_group groups[MAX_GROUPS];
    const size_t n = option_groups(tool, groups);

    printf("#compdef %s\n# Made by %s --completion zsh.\n_arguments \\\n", tool->name,
           tool->name);
    for (size_t g = 0; g < n; g++)
        for (const struct tool_option *o = groups[g].options; o->names; o++) {
            char *names = option_names(o, ",");
            int least;
            const int most = option_arguments(o, &least);

            if (o->kind != OPTION_REFUSED) {
                printf("    %s%s%s'[", strchr(names, ',') ? "{" : "", names,
                       strchr(names, ',') ? "}" : "");
                print_zsh_text(o->help);
                printf("]");
                for (int i = 0; i < most; i++) {
                    printf(i < least ? ":" : "::");
                    print_zsh_text(o->argument);
                    printf(":");
                    if (is_path(o))
                        printf("_files");
                    else if (strchr(o->argument, '|') && *o->argument != '[') {
                        printf("(");
                        print_words(o->argument);
                        printf(")");
                    }
                }
                printf("' \\\n");
            }
            free(names);
        }
    printf("    '*:argument:_files'\n");
}

void print_completion(const struct tool *tool, bool zsh)
{
    (zsh ? print_zsh : print_bash)(tool);
}
