/* SPDX-License-Identifier: BSD-3-Clause */
/* pquery: keys of PMIx_Query_info, their answers, and the part that has answered. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

const char *tool_name = "pquery";

static struct infos qualifiers; /* of all keys */

static void take_qualifier(const char *text)
{
    infos_read(text, &qualifiers);
}

static void take_job(const char *text)
{
    pmix_proc_t *procs = NULL;
    size_t n = 0;

    procs_add(text, &procs, &n);
    if (n != 1)
        usage("--job \"%s\": one process or one job is needed", text);
    infos_add(&qualifiers, PMIX_NSPACE, procs[0].nspace, PMIX_STRING);
    if (procs[0].rank != PMIX_RANK_WILDCARD)
        infos_add(&qualifiers, PMIX_RANK, &procs[0].rank, PMIX_PROC_RANK);
    free(procs);
}

/* clang-format off */
static const struct tool_option options[] = {
    TAKES_CALL("job", "NSPACE[:RANK]", take_job, "ask about this job or process"),
    TAKES_CALL("qualifier", "NAME=VALUE", take_qualifier, "a qualifier of all keys; the option may be repeated"),
    TAKES_INFO("local", NULL, qualifiers, PMIX_QUERY_LOCAL_ONLY, PMIX_BOOL, "have the server answer without its host"),
    TAKES_INFO("refresh", NULL, qualifiers, PMIX_QUERY_REFRESH_CACHE, PMIX_BOOL, "pass over data that this process has already"),
    {0},
};
/* clang-format on */

/* ---- one key --------------------------------------------------------------------- */

static const char *const columns[] = {"key", "by", "value", "status", NULL};
static struct sheet sheet = {"answers", columns, columns, NULL};

/* Returns the part that has answered. Servers of other libraries do not name it. */
static const char *source_of(const pmix_info_t *found, size_t n)
{
    const char *source = "server or host";

    for (size_t i = 0; i < n; i++)
        if (PMIx_Check_key(found[i].key, TENON_QUERY_SOURCE) &&
            found[i].value.type == PMIX_STRING)
            source = found[i].value.data.string;
    return source;
}

/* Returns the reason of a missing answer. */
static const char *reason_of(pmix_status_t rc, const char *key)
{
    const bool known = strcmp(PMIx_Get_attribute_name(key), key) != 0;

    return rc == PMIX_ERR_NOT_FOUND && !known ? "unknown key: no part has an answer"
           : rc == PMIX_ERR_NOT_FOUND ? "neither library, server nor host has an answer"
           : rc == PMIX_ERR_NOT_SUPPORTED  ? "the host does not support the request"
           : rc == PMIX_ERR_NO_PERMISSIONS ? "this user may not ask"
           : rc == PMIX_ERR_UNREACH || rc == PMIX_ERR_LOST_CONNECTION
               ? "no server is connected"
               : "the request failed";
}

/* Adds a row for a key and its answer. True if there is one. */
static bool add_answer(const char *name, const char *key, const struct infos *of_key)
{
    pmix_info_t *found = NULL;
    size_t n = 0, n_answers = 0;
    const pmix_status_t rc = server_query(key, of_key, &found, &n);

    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(found[i].key, TENON_QUERY_SOURCE))
            continue;
        n_answers++;
        sheet_add(
            &sheet, "[o, s, o, s]", text_json(name), source_of(found, n),
            value_json(&found[i].value),
            PMIx_Error_string(rc == PMIX_ERR_PARTIAL_SUCCESS ? PMIX_SUCCESS : rc));
    }
    if (!n_answers) {
        const pmix_status_t why = rc ? rc : PMIX_ERR_NOT_FOUND;

        sheet_add(&sheet, "[o, n, n, s]", text_json(name), PMIx_Error_string(why));
        complain("cannot answer %s: %s", name, reason_of(why, key));
    }
    PMIx_Info_free(found, n);
    return n_answers > 0;
}

/* Reads "KEY" or "KEY[NAME=VALUE;NAME=VALUE]", and asks for the key. */
static bool ask(const char *text)
{
    char *copy = need_text("%s", text), *open = strchr(copy, '['), *rest, *word;
    const size_t len = strlen(copy);
    struct infos own = {NULL, 0};
    bool answered;

    infos_add(&own, TENON_QUERY_SOURCE, &(const bool){true}, PMIX_BOOL);
    for (size_t i = 0; i < qualifiers.n; i++) {
        own.v = grow(own.v, own.n + 1, sizeof(*own.v));
        own.v[own.n] = (pmix_info_t){.flags = 0};
        if (PMIx_Info_xfer(&own.v[own.n++], &qualifiers.v[i]))
            need(NULL);
    }
    if (open) {
        if (copy[len - 1] != ']')
            usage("\"%s\": KEY[NAME=VALUE;NAME=VALUE] is needed", text);
        copy[len - 1] = *open = '\0';
        rest = open + 1;
        while ((word = strsep(&rest, ";")))
            if (*word)
                infos_read(word, &own);
    }
    const char *key = PMIx_Get_attribute_string(copy);
    if (!*key || strlen(key) > PMIX_MAX_KEYLEN)
        usage("\"%s\" is not a key", text);
    answered = add_answer(copy, key, &own);
    PMIx_Info_free(own.v, own.n);
    free(copy);
    return answered;
}

static int run(char **operands)
{
    struct sheet *const sheets[] = {&sheet};
    bool all = true;

    if (!operands[0])
        all = ask("PMIX_QUERY_SUPPORTED_KEYS");
    for (; *operands; operands++)
        all &= ask(*operands);
    sheets_show(sheets, 1);
    return all ? EXIT_SUCCESS : EXIT_TROUBLE;
}

static const struct tool tool = {
    .name = "pquery",
    .operands = "[KEY]...",
    .summary = "Ask a PMIx server for keys of PMIx_Query_info.",
    .description =
        "Prints the answer to each key, and the part that has answered: \"library\" is "
        "the library in this program, \"server\" the one in the server, \"host\" the "
        "program of the server, such as a resource manager. A server of another library "
        "does not name the part: \"server or host\". A key without an answer has its "
        "status, and a line on stderr with the reason.\n\n"
        "A key is the name of an attribute, such as PMIX_QUERY_NAMESPACES, or its text, "
        "such as pmix.qry.ns. Qualifiers may follow in brackets: "
        "PMIX_JOB_SIZE[PMIX_NSPACE=job1]. A qualifier with a type is NAME:TYPE=VALUE; "
        "the types are string, bool, int, uint32, uint64, size, rank, status, proc and "
        "float. Without a key the answer is the list of supported keys.\n\n"
        "A parsable line has the fields answers, key, part, value and status.",
    .options = options,
    .run = run,
};

int main(int argc, char **argv)
{
    (void)argc;
    return tool_main(&tool, argv);
}
