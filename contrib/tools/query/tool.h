/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of the programs that ask a server: options as tables, the choice of the
 * server, and output as a table, as lines for programs, or as JSON. Public headers
 * only. The program ends when out of memory. */
#ifndef TOOL_H
#define TOOL_H

#include "../toolkit.h"

#include <jansson.h>
#include <pmix_tool.h>
#include <stdio.h>

/* ---- options (options.c) --------------------------------------------------------- */

/* Attributes, from options or for a request. */
struct infos {
    pmix_info_t *v;
    size_t n;
};

struct tool_option {
    const char *names; /* with "|" between them, without dashes */
    /* Arguments with a space between them; NULL: none. In brackets: the first only
     * after "=", the second only if the first has no colon. */
    const char *argument;
    const char *help; /* of OPTION_REFUSED: the reason */
    enum {
        OPTION_FLAG,    /* sets a bool */
        OPTION_TEXT,    /* sets a const char *; "" without an argument */
        OPTION_NUMBER,  /* sets an int to a number from 1 */
        OPTION_LIST,    /* appends to a char **, which NULL ends */
        OPTION_INFO,    /* adds an attribute to a struct infos */
        OPTION_CALL,    /* calls a function */
        OPTION_REFUSED, /* ends the program with the reason */
    } kind;
    void *to;
    const char *key;       /* of OPTION_INFO */
    pmix_data_type_t type; /* of OPTION_INFO; PMIX_BOOL: true without an argument */
    void (*call)(const char *text); /* text: "FIRST=SECOND" for two arguments */
};

/* Rows of a table of options. */
#define TAKES_FLAG(names, flag, help)                          \
    {                                                          \
        names, NULL, help, OPTION_FLAG, &(flag), NULL, 0, NULL \
    }
#define TAKES_ARGUMENT(names, argument, kind, to, help)   \
    {                                                     \
        names, argument, help, kind, &(to), NULL, 0, NULL \
    }
#define TAKES_INFO(names, argument, infos, key, type, help)           \
    {                                                                 \
        names, argument, help, OPTION_INFO, &(infos), key, type, NULL \
    }
#define TAKES_CALL(names, argument, call, help)                 \
    {                                                           \
        names, argument, help, OPTION_CALL, NULL, NULL, 0, call \
    }
#define REFUSES(names, argument, reason)                             \
    {                                                                \
        names, argument, reason, OPTION_REFUSED, NULL, NULL, 0, NULL \
    }

struct tool {
    const char *name;
    const char *operands;              /* "[KEY]..." */
    const char *summary;               /* one sentence */
    const char *description;           /* of the man page; NULL: the page is a file */
    const struct tool_option *options; /* the last row is zero */
    bool alone;                        /* the tool has no server */
    bool one_format;                   /* the output has one form */
    bool has_program;                  /* options end at the first operand */
    void (*version)(void);             /* NULL: print the library's, and exit */
    /* Does the work after the connection. operands: the rest of the command line,
     * NULL-terminated. Returns the exit status. */
    int (*run)(char **operands);
};

/* Reads the command line, connects to the server, runs the tool, and disconnects.
 * Returns the exit status. */
int tool_main(const struct tool *tool, char **argv);
/* Adds an attribute. */
void infos_add(struct infos *infos, const char *key, const void *value,
               pmix_data_type_t type);
/* Appends to a list that NULL ends. */
void list_add(char ***list, char *text);

/* Tables of options in their order on a page, with a title for each. */
struct option_group {
    const char *title;
    const struct tool_option *options;
};
enum { MAX_GROUPS = 4 };
/* Fills the tables of a tool, and returns their number. */
size_t option_groups(const struct tool *tool, struct option_group groups[MAX_GROUPS]);
/* Returns the names of an option as "-V, --version", malloc'd. */
char *option_names(const struct tool_option *option, const char *between);
/* Returns the largest number of an option's arguments, and the least. */
int option_arguments(const struct tool_option *option, int *least);

/* ---- texts made from the tables (texts.c) ---------------------------------------- */

void print_help(const struct tool *tool);
/* Prints a page for man(1). */
void print_man(const struct tool *tool);
/* Prints a completion for bash or zsh. */
void print_completion(const struct tool *tool, bool zsh);

/* ---- the server (server.c) ------------------------------------------------------- */

extern const struct tool_option server_options[];

/* Connects. Ends the program after an error. */
void server_begin(void);
void server_end(void);
/* Returns the argument of --timeout, or 0. */
int server_timeout(void);
/* Ends the program with status 124 after this time from now; 0: never. */
void server_limit(int seconds);
/* True if a request has failed because no server is connected. */
bool server_is_lost(pmix_status_t status);
/* Asks for one key. qualifiers may be NULL. The caller frees *found. */
pmix_status_t server_query(const char *key, const struct infos *qualifiers,
                           pmix_info_t **found, size_t *n_found);
/* Ends the program with a line "cannot VERB OBJECT: REASON". */
void fail_status(pmix_status_t status, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* ---- output (sheet.c) ------------------------------------------------------------ */

extern const struct tool_option format_options[];

enum format { FORMAT_TABLE, FORMAT_PARSABLE, FORMAT_JSON };
/* Returns the chosen format. Ends the program if the options name two. */
enum format format_now(void);

/* Rows of one kind. */
struct sheet {
    const char *name;            /* of the list in JSON, and of each parsable line */
    const char *const *columns;  /* names in JSON, NULL-terminated */
    const char *const *headings; /* of the table; NULL: without a line of headings */
    json_t *rows;                /* arrays in the order of columns */
};

/* Adds a row, packed as by json_pack: "[o, i]". */
void sheet_add(struct sheet *sheet, const char *fmt, ...);
/* Prints sheets in the chosen format, and frees their rows. */
void sheets_show(struct sheet *const *sheets, size_t n);
/* Returns a text for JSON; NULL is null. Bytes that are not UTF-8 become "?". */
json_t *text_json(const char *text);
/* Prints one object as a line at once. */
void json_line(json_t *object);

/* ---- values (values.c) ----------------------------------------------------------- */

/* Returns a value, or an array of infos as an object, for JSON. */
json_t *value_json(const pmix_value_t *value);
json_t *infos_json(const pmix_info_t *infos, size_t n);
/* Returns a process as "NSPACE:RANK", with "*" for all ranks; malloc'd. */
char *proc_text(const pmix_proc_t *proc);
/* Reads "NSPACE" (all ranks), "NSPACE:RANK", "NSPACE:*", or ranks as "NSPACE:0-3". Adds
 * the processes to a list. Ends the program after an error. */
void procs_add(const char *text, pmix_proc_t **procs, size_t *n);
/* Reads "NAME=VALUE" or "NAME:TYPE=VALUE", with the name of an attribute or its key.
 * Ends the program after an error. */
void infos_read(const char *text, struct infos *infos);
/* Returns the status of a name or number. Ends the program after an error. */
pmix_status_t status_read(const char *text);
/* Returns the number of a signal: "TERM", "SIGTERM" or "15". Ends the program after an
 * error. */
int signal_read(const char *text);

#endif
