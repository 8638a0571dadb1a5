/* SPDX-License-Identifier: BSD-3-Clause */
/* plookup: values that processes have published. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

const char *tool_name = "plookup";

static struct infos directives;
static bool waits;

static void take_wait(const char *text)
{
    const int n = strcmp(text, "0") == 0 ? 0 : number("--wait", text, 1000000);

    infos_add(&directives, PMIX_WAIT, &n, PMIX_INT);
    waits = true;
}

static void take_range(const char *text)
{
    static const struct {
        const char *name;
        pmix_data_range_t range;
    } ranges[] = {{"local", PMIX_RANGE_LOCAL},
                  {"namespace", PMIX_RANGE_NAMESPACE},
                  {"session", PMIX_RANGE_SESSION},
                  {"global", PMIX_RANGE_GLOBAL}};
    size_t i = 0;

    while (i < sizeof(ranges) / sizeof(ranges[0]) && strcmp(ranges[i].name, text) != 0)
        i++;
    if (i == sizeof(ranges) / sizeof(ranges[0]))
        usage("--range \"%s\": local, namespace, session or global is needed", text);
    infos_add(&directives, PMIX_RANGE, &ranges[i].range, PMIX_DATA_RANGE);
}

/* clang-format off */
static const struct tool_option options[] = {
    TAKES_CALL("wait", "N", take_wait, "wait until N of the keys are published, or with 0 all; as long as that takes, or as --timeout permits"),
    TAKES_CALL("range", "local|namespace|session|global", take_range, "look up keys of this range; default session"),
    {0},
};
/* clang-format on */

static int run(char **operands)
{
    static const char *const columns[] = {"key", "publisher", "value", NULL};
    struct sheet sheet = {"values", columns, columns, NULL};
    struct sheet *const sheets[] = {&sheet};
    const int limit_s = server_timeout();
    size_t n = 0, n_found = 0;
    pmix_pdata_t *data;
    pmix_status_t rc;

    while (operands[n])
        n++;
    if (n == 0)
        usage("a key is needed");
    data = need(PMIx_Pdata_create(n));
    for (size_t i = 0; i < n; i++) {
        if (strlen(operands[i]) > PMIX_MAX_KEYLEN)
            usage("\"%s\": the key is too long", operands[i]);
        PMIx_Load_key(data[i].key, operands[i]);
    }
    /* The server's own answer to a time limit comes first. */
    if (limit_s)
        infos_add(&directives, PMIX_TIMEOUT, &limit_s, PMIX_INT);
    if (waits)
        server_limit(limit_s ? limit_s + 2 : 0);
    rc = PMIx_Lookup(data, n, directives.v, directives.n);
    for (size_t i = 0; i < n; i++) {
        char *publisher = proc_text(&data[i].proc);

        if (data[i].value.type != PMIX_UNDEF) {
            sheet_add(&sheet, "[s, o, o]", operands[i], text_json(publisher),
                      value_json(&data[i].value));
            n_found++;
        } else if (!rc || rc == PMIX_ERR_PARTIAL_SUCCESS || rc == PMIX_ERR_NOT_FOUND) {
            complain("%s is not published", operands[i]);
        }
        free(publisher);
    }
    if (n_found > 0)
        sheets_show(&sheets[0], 1);
    PMIx_Pdata_free(data, n);
    if (rc == PMIX_ERR_TIMEOUT) {
        complain("not all keys are published within %d seconds", limit_s);
        return EXIT_TIMEOUT;
    }
    if (rc && rc != PMIX_ERR_PARTIAL_SUCCESS && rc != PMIX_ERR_NOT_FOUND)
        fail_status(rc, "cannot look up the keys");
    return n_found == n ? EXIT_SUCCESS : EXIT_TROUBLE;
}

static const struct tool tool = {
    .name = "plookup",
    .operands = "KEY...",
    .summary = "Look up values that processes have published.",
    .description =
        "Prints the value of each key that a process has published by PMIx_Publish, and "
        "its publisher. The status is 1 if a key is not published.\n\n"
        "A parsable line has the fields values, key, publisher and value.",
    .options = options,
    .run = run,
};

int main(int argc, char **argv)
{
    (void)argc;
    return tool_main(&tool, argv);
}
