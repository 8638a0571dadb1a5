/* SPDX-License-Identifier: BSD-3-Clause */
/* pattrs: functions and their attributes that each part supports. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

const char *tool_name = "pattrs";

/* A part and the functions whose attributes are wanted. */
static struct level {
    const char *name, *attributes_key, *functions_key;
    const char *wanted; /* functions, or "all"; NULL: not this part */
    bool lists;         /* the functions themselves are wanted */
} levels[] = {
    {"client", PMIX_CLIENT_ATTRIBUTES, PMIX_CLIENT_FUNCTIONS, NULL, false},
    {"server", PMIX_SERVER_ATTRIBUTES, PMIX_SERVER_FUNCTIONS, NULL, false},
    {"tool", PMIX_TOOL_ATTRIBUTES, PMIX_TOOL_FUNCTIONS, NULL, false},
    {"host", PMIX_HOST_ATTRIBUTES, PMIX_HOST_FUNCTIONS, NULL, false},
};
enum { N_LEVELS = sizeof(levels) / sizeof(levels[0]) };

#define LEVEL(i, name)                                                               \
    {.names = name,                                                                  \
     .argument = "FUNCTIONS",                                                        \
     .help = "attributes of these functions, with commas between them, or all",      \
     .kind = OPTION_TEXT,                                                            \
     .to = &levels[i].wanted},                                                       \
    {                                                                                \
        .names = name "-fns", .help = "functions of this part", .kind = OPTION_FLAG, \
        .to = &levels[i].lists                                                       \
    }

static const struct tool_option options[] = {
    LEVEL(0, "client"), LEVEL(1, "server"), LEVEL(2, "tool"), LEVEL(3, "host"), {0},
};

/* ---- answers --------------------------------------------------------------------- */

static const char *const columns[] = {"part", "function",    "attribute", "key",
                                      "type", "description", NULL};
static struct sheet attributes = {"attributes", columns, columns, NULL};
static const char *const function_columns[] = {"part", "function", NULL};
static struct sheet functions = {"functions", function_columns, function_columns, NULL};

static void add_attributes(const struct level *level, const pmix_info_t *info)
{
    const pmix_data_array_t *a = info->value.type == PMIX_DATA_ARRAY
                                     ? info->value.data.darray
                                     : NULL;
    const pmix_regattr_t *rows = a && a->type == PMIX_REGATTR ? a->array : NULL;

    for (size_t i = 0; rows && i < a->size; i++) {
        char *text = rows[i].description ? PMIx_Argv_join(rows[i].description, ' ')
                                         : NULL;

        sheet_add(&attributes, "[s, o, o, o, s, o]", level->name, text_json(info->key),
                  text_json(rows[i].name), text_json(rows[i].string),
                  PMIx_Data_type_string(rows[i].type), text_json(text));
        free(text);
    }
}

static void add_functions(const struct level *level, const char *list)
{
    char *copy = need_text("%s", list), *rest = copy, *word;

    while ((word = strsep(&rest, ",")))
        if (*word)
            sheet_add(&functions, "[s, o]", level->name, text_json(word));
    free(copy);
}

/* Reads an answer: an array of infos, or one of them. */
static void take(const struct level *level, const pmix_info_t *info)
{
    const pmix_data_array_t *a = info->value.type == PMIX_DATA_ARRAY
                                     ? info->value.data.darray
                                     : NULL;

    if (a && a->type == PMIX_INFO)
        for (size_t i = 0; i < a->size; i++)
            take(level, (const pmix_info_t *)a->array + i);
    else if (info->value.type == PMIX_STRING && info->value.data.string)
        add_functions(level, info->value.data.string);
    else
        add_attributes(level, info);
}

/* Asks for one part; false after a line about the reason. */
static bool ask(const struct level *level, bool lists)
{
    struct infos by = {NULL, 0};
    pmix_info_t *found = NULL;
    size_t n = 0;
    pmix_status_t rc;

    infos_add(&by, lists ? level->functions_key : level->attributes_key,
              lists ? NULL : level->wanted, lists ? PMIX_BOOL : PMIX_STRING);
    rc = server_query(PMIX_QUERY_ATTRIBUTE_SUPPORT, &by, &found, &n);
    for (size_t i = 0; i < n; i++)
        take(level, &found[i]);
    if (n == 0)
        complain("cannot list the %s of the %s: %s", lists ? "functions" : "attributes",
                 level->name, PMIx_Error_string(rc ? rc : PMIX_ERR_NOT_FOUND));
    PMIx_Info_free(found, n);
    PMIx_Info_free(by.v, by.n);
    return n > 0;
}

static int run(char **operands)
{
    struct sheet *sheets[2];
    size_t n = 0;
    bool any = false, lists = false, good = true;

    for (struct level *l = levels; l < levels + N_LEVELS; l++) {
        any |= l->wanted || l->lists;
        lists |= l->lists;
    }
    (void)operands;
    for (struct level *l = levels; l < levels + N_LEVELS; l++) {
        if (!any)
            l->wanted = "all";
        if (l->wanted)
            good &= ask(l, false) || !any;
        if (l->lists)
            good &= ask(l, true);
    }
    if (lists)
        sheets[n++] = &functions;
    if (!any || attributes.rows)
        sheets[n++] = &attributes;
    sheets_show(sheets, n);
    return good ? EXIT_SUCCESS : EXIT_TROUBLE;
}

static const struct tool tool = {
    .name = "pattrs",
    .summary = "Show the functions and attributes that a PMIx server supports.",
    .description =
        "Lists the attributes that each function supports: in the library of a client or "
        "tool, in the server's library, and in its host. Without options all parts are "
        "shown. With --do-not-connect only this library answers.\n\n"
        "A parsable line has the fields attributes, part, function, attribute, key, type "
        "and description, or functions, part and function.",
    .options = options,
    .run = run,
};

int main(int argc, char **argv)
{
    (void)argc;
    return tool_main(&tool, argv);
}
