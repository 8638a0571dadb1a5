/* SPDX-License-Identifier: BSD-3-Clause */
/* pctrl: pauses, resumes, signals and ends processes by PMIx_Job_control. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

const char *tool_name = "pctrl";

static struct infos orders;
static pmix_proc_t *targets;
static size_t n_targets;
static char **sets; /* NULL: none */
static bool all, cancels;

/* ---- options --------------------------------------------------------------------- */

static void take_signal(const char *text)
{
    const int signum = signal_read(text);

    infos_add(&orders, PMIX_JOB_CTRL_SIGNAL, &signum, PMIX_INT);
}

static void take_targets(const char *text)
{
    char *copy = need_text("%s", text), *rest = copy, *word;

    while ((word = strsep(&rest, ",")))
        if (*word)
            procs_add(word, &targets, &n_targets);
    free(copy);
}

static void take_cancel(const char *text)
{
    infos_add(&orders, PMIX_JOB_CTRL_CANCEL, strcmp(text, "all") == 0 ? NULL : text,
              PMIX_STRING);
    cancels = true;
}

/* clang-format off */
static const struct tool_option options[] = {
    TAKES_INFO("pause", NULL, orders, PMIX_JOB_CTRL_PAUSE, PMIX_BOOL, "stop the processes"),
    TAKES_INFO("resume", NULL, orders, PMIX_JOB_CTRL_RESUME, PMIX_BOOL, "have them go on"),
    TAKES_INFO("kill", NULL, orders, PMIX_JOB_CTRL_KILL, PMIX_BOOL, "end them at once"),
    TAKES_INFO("terminate", NULL, orders, PMIX_JOB_CTRL_TERMINATE, PMIX_BOOL, "end them by SIGTERM, and later by SIGKILL"),
    TAKES_CALL("signal", "SIGNAL", take_signal, "send them a signal: a name or a number"),
    TAKES_INFO("checkpoint", "ID", orders, PMIX_JOB_CTRL_CHECKPOINT, PMIX_STRING, "save their state under this name"),
    TAKES_INFO("restart", "ID", orders, PMIX_JOB_CTRL_RESTART, PMIX_STRING, "start them again from this checkpoint"),
    TAKES_INFO("pset", "NAME", orders, PMIX_JOB_CTRL_DEFINE_PSET, PMIX_STRING, "make them a process set with this name"),
    TAKES_CALL("cancel", "ID", take_cancel, "cancel the request with this name, or all"),
    TAKES_INFO("request-id", "ID", orders, PMIX_JOB_CTRL_ID, PMIX_STRING, "name the request"),
    TAKES_CALL("targets", "LIST", take_targets, "processes with commas between them, as operands are"),
    TAKES_ARGUMENT("set", "NAME", OPTION_LIST, sets, "the processes of this process set; the option may be repeated"),
    TAKES_FLAG("all", all, "all processes of the server"),
    {0},
};
/* clang-format on */

/* ---- the request ----------------------------------------------------------------- */

/* Adds the processes of a process set. */
static void add_set(const char *name)
{
    struct infos of_set = {NULL, 0};
    pmix_info_t *found = NULL;
    size_t n_found = 0, before = n_targets;
    pmix_status_t rc;

    infos_add(&of_set, PMIX_PSET_NAME, name, PMIX_STRING);
    rc = server_query(PMIX_QUERY_PSET_MEMBERSHIP, &of_set, &found, &n_found);
    for (size_t i = 0; i < n_found; i++) {
        const pmix_data_array_t *a = found[i].value.type == PMIX_DATA_ARRAY
                                         ? found[i].value.data.darray
                                         : NULL;

        if (!a || a->type != PMIX_PROC || a->size == 0)
            continue;
        targets = grow(targets, n_targets + a->size, sizeof(*targets));
        memcpy(targets + n_targets, a->array, a->size * sizeof(*targets));
        n_targets += a->size;
    }
    if (n_targets == before)
        fail_status(rc ? rc : PMIX_ERR_NOT_FOUND, "cannot find the process set %s",
                    name);
    PMIx_Info_free(found, n_found);
    PMIx_Info_free(of_set.v, of_set.n);
}

static int run(char **operands)
{
    static const char *const columns[] = {"name", "value", NULL};
    struct sheet sheet = {"results", columns, NULL, NULL};
    struct sheet *const sheets[] = {&sheet};
    pmix_info_t *results = NULL;
    size_t n_results = 0;
    pmix_status_t rc;

    for (; *operands; operands++)
        take_targets(*operands);
    for (char **set = sets; set && *set; set++)
        add_set(*set);
    if (orders.n == 0)
        usage("an order is needed, such as --pause or --signal");
    if (!n_targets && !all && !cancels)
        usage("processes are needed: NSPACE, NSPACE:RANK, --set or --all");
    if (n_targets && all)
        usage("--all contradicts processes");
    /* A host that ignores an order must not report success. */
    for (size_t i = 0; i < orders.n; i++)
        PMIx_Info_required(&orders.v[i]);
    rc = PMIx_Job_control(targets, n_targets, orders.v, orders.n, &results, &n_results);
    if (rc && rc != PMIX_OPERATION_SUCCEEDED)
        fail_status(rc, "cannot control the processes");
    for (size_t i = 0; i < n_results; i++)
        sheet_add(&sheet, "[o, o]", text_json(PMIx_Get_attribute_name(results[i].key)),
                  value_json(&results[i].value));
    if (n_results > 0)
        sheets_show(sheets, 1);
    PMIx_Info_free(results, n_results);
    return EXIT_SUCCESS;
}

static const struct tool tool = {
    .name = "pctrl",
    .operands = "[PROCESS]...",
    .summary = "Pause, resume, signal and end processes of a PMIx server.",
    .description =
        "Sends an order about processes to the server. A process is NSPACE:RANK; "
        "NSPACE:FIRST-LAST are several ranks, and NSPACE or NSPACE:* all processes of a "
        "job. pps shows the jobs.\n\n"
        "Orders are required: a server that does not support an order refuses the "
        "request, and nothing happens.",
    .options = options,
    .run = run,
};

int main(int argc, char **argv)
{
    (void)argc;
    return tool_main(&tool, argv);
}
