/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of the server, by the attributes of PMIx_tool_init, and requests to it. */
#include "tool.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_S = 60 };

static struct infos chosen;
static int timeout_s;  /* of the command line; 0: not given */
static bool is_client; /* the program is a process of a job, and no tool */

/* ---- options --------------------------------------------------------------------- */

/* Reads a number, or "file:" and the name of a file with the number. */
static void take_pid(const char *text)
{
    char line[32] = "";
    pid_t pid;
    FILE *file;

    if (strncmp(text, "file:", 5) == 0) {
        file = fopen(text + 5, "re");
        if (!file || !fgets(line, sizeof(line), file))
            usage("cannot read --pid %s: %s", text, strerror(errno));
        fclose(file);
        line[strcspn(line, "\n")] = '\0';
        text = line;
    }
    pid = number("--pid", text, INT_MAX);
    infos_add(&chosen, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
}

/* clang-format off */
const struct tool_option server_options[] = {
    TAKES_CALL("pid", "PID", take_pid, "the server with this process number; file:FILE reads the number"),
    TAKES_INFO("nspace|namespace", "NAME", chosen, PMIX_SERVER_NSPACE, PMIX_STRING, "the server with this namespace"),
    TAKES_INFO("uri", "URI", chosen, PMIX_SERVER_URI, PMIX_STRING, "the server with this address; file:FILE reads the address"),
    TAKES_INFO("attachment-file", "FILE", chosen, PMIX_TOOL_ATTACHMENT_FILE, PMIX_STRING, "the server with this rendezvous file"),
    TAKES_INFO("system-server|system-server-only", NULL, chosen, PMIX_CONNECT_TO_SYSTEM, PMIX_BOOL, "the system's server"),
    TAKES_INFO("system-server-first", NULL, chosen, PMIX_CONNECT_SYSTEM_FIRST, PMIX_BOOL, "the system's server if it runs, else another"),
    TAKES_INFO("system-controller", NULL, chosen, PMIX_CONNECT_TO_SYS_CONTROLLER, PMIX_BOOL, "the system controller"),
    TAKES_INFO("scheduler", NULL, chosen, PMIX_CONNECT_TO_SCHEDULER, PMIX_BOOL, "the scheduler"),
    TAKES_INFO("do-not-connect", NULL, chosen, PMIX_TOOL_DO_NOT_CONNECT, PMIX_BOOL, "no server: only this library answers"),
    TAKES_INFO("connect-order", "LIST", chosen, PMIX_CONNECTION_ORDER, PMIX_STRING, "kinds of servers to try in order, as attributes with commas between them"),
    TAKES_INFO("num-connect-retries", "N", chosen, PMIX_CONNECT_MAX_RETRIES, PMIX_UINT32, "try again N times"),
    TAKES_INFO("wait-to-connect", "SECONDS", chosen, PMIX_CONNECT_RETRY_DELAY, PMIX_UINT32, "time between two tries"),
    TAKES_INFO("tmpdir", "DIR", chosen, PMIX_SERVER_TMPDIR, PMIX_STRING, "search for servers below this folder"),
    TAKES_ARGUMENT("timeout", "SECONDS", OPTION_NUMBER, timeout_s, "end with status 124 if the answer takes longer; default 60"),
    {0},
};
/* clang-format on */

/* ---- the time limit -------------------------------------------------------------- */

static void on_alarm(int signum)
{
    static const char text[] = ": the server has not answered in time\n";

    (void)signum;
    (void)!write(STDERR_FILENO, tool_name, strlen(tool_name));
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(EXIT_TIMEOUT);
}

int server_timeout(void)
{
    return timeout_s;
}

void server_limit(int seconds)
{
    alarm((unsigned)seconds);
}

/* ---- the connection -------------------------------------------------------------- */

void server_begin(void)
{
    pmix_proc_t self;
    pmix_status_t rc;

    signal(SIGALRM, on_alarm);
    server_limit(timeout_s ? timeout_s : DEFAULT_TIMEOUT_S);
    /* Some servers admit processes of their jobs, but no tools. */
    is_client = chosen.n == 0 && secure_getenv("PMIX_NAMESPACE") &&
                secure_getenv("PMIX_RANK");
    rc = is_client ? PMIx_Init(&self, NULL, 0)
                   : PMIx_tool_init(&self, chosen.v, chosen.n);
    if (rc) /* the library has logged the reason */
        fail("cannot connect to a server: %s", PMIx_Error_string(rc));
}

void server_end(void)
{
    (void)(is_client ? PMIx_Finalize(NULL, 0) : PMIx_tool_finalize());
}

bool server_is_lost(pmix_status_t status)
{
    return status == PMIX_ERR_UNREACH || status == PMIX_ERR_LOST_CONNECTION;
}

pmix_status_t server_query(const char *key, const struct infos *qualifiers,
                           pmix_info_t **found, size_t *n_found)
{
    char *keys[] = {need_text("%s", key), NULL};
    pmix_query_t query = {.keys = keys};

    if (qualifiers) {
        query.qualifiers = qualifiers->v;
        query.nqual = qualifiers->n;
    }
    *found = NULL;
    *n_found = 0;
    const pmix_status_t rc = PMIx_Query_info(&query, 1, found, n_found);
    free(keys[0]);
    return rc;
}

void fail_status(pmix_status_t status, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        need(NULL);
    va_end(args);
    complain("%s: %s", text, PMIx_Error_string(status));
    free(text);
    server_end();
    exit(EXIT_TROUBLE);
}
