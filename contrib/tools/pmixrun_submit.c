/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands for a server that stays: --submit runs a job there, --terminate ends the
 * server. Both are tools. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "pmixrun.h"

enum {
    END_MS = 10000, /* for the end of a server with all its jobs */
};

extern char **environ;

/* ---- options --------------------------------------------------------------------- */

/* Attributes with names of files. The server has another folder. */
static const struct {
    const char *key;
    bool is_list;
} files[] = {
    {PMIX_OUTPUT_TO_DIRECTORY, false},
    {PMIX_OUTPUT_TO_FILE, false},
    {PMIX_IOF_OUTPUT_TO_DIRECTORY, false},
    {PMIX_IOF_OUTPUT_TO_FILE, false},
    {PMIX_HOSTFILE, false},
    {PMIX_PRELOAD_FILES, true},
};

/* Returns the names, separated by commas if it is a list, as absolute paths. */
static char *absolute(const char *names, bool is_list, const char *dir)
{
    char *copy = need_text("%s", names), *rest = copy, *all = NULL, *name;

    while ((name = is_list ? strsep(&rest, ",") : rest)) {
        char *before = all;

        all = need_text("%s%s%s%s%s", before ? before : "", before ? "," : "",
                        *name == '/' ? "" : dir, *name == '/' ? "" : "/", name);
        free(before);
        rest = is_list ? rest : NULL;
    }
    free(copy);
    return all;
}

static void make_absolute(struct options *o)
{
    for (size_t i = 0; i < o->n_asked; i++)
        for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
            if (PMIx_Check_key(o->asked[i].key, files[k].key)) {
                char **text = &o->asked[i].value.data.string;
                char *path = absolute(*text, files[k].is_list, o->dir);

                free(*text);
                *text = path;
            }
}

/* Refuses options whose effect would be the server's. */
static void check_asked(const struct options *o)
{
    if (o->timeline || o->report_uri || o->forwards)
        usage("%s is not supported with --submit", o->timeline ? "--timeline"
                                                   : o->report_uri
                                                       ? "--report-uri"
                                                       : "-x with a pattern");
}

void submit_check(struct options *o)
{
    const bool yes = true, no = false;

    if (o->dvm.slots || o->dvm.quiet)
        usage("%s is for a server", o->dvm.slots ? "--slots" : "--no-ready-msg");
    if (o->dvm.name || !o->dvm.server)
        add_param(o, PMIX_SERVER_NSPACE, dvm_name(o), PMIX_STRING);
    if (o->launcher)
        usage("--launcher is for a server");
    if (o->dvm.task == DVM_TERMINATE) {
        if (o->runs || o->chooses || o->clean || o->singleton.nspace[0] ||
            o->dvm.no_wait)
            usage("--terminate goes without options for programs");
        return;
    }
    check_asked(o);
    o->dir = o->dir ? realpath(o->dir, NULL) : getcwd(NULL, 0);
    if (!o->dir)
        usage("the folder of the programs: %s", strerror(errno));
    make_absolute(o);
    add_asked(o, PMIX_FWD_STDOUT, &yes, PMIX_BOOL);
    add_asked(o, PMIX_FWD_STDERR, &yes, PMIX_BOOL);
    add_asked(o, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
    add_asked(o, PMIX_NOHUP, &no, PMIX_BOOL);
    if (o->dvm.no_wait)
        add_asked(o, PMIX_ALLOC_NOT_WAITING, &yes, PMIX_BOOL);
}

/* ---- the server ------------------------------------------------------------------ */

bool submit_begin(const struct options *o)
{
    pmix_proc_t me;
    pmix_status_t rc = PMIx_tool_init(&me, o->params, o->n_params);

    if (rc) /* the library has logged the reason */
        complain("cannot connect to the server: %s", PMIx_Error_string(rc));
    return rc == PMIX_SUCCESS;
}

char **submit_environment(const struct program *p)
{
    size_t n = 0;
    char **env = NULL;

    for (char **const lists[] = {environ, p->env}, **const *list = lists;
         list < lists + 2; list++)
        for (char **at = *list; at && *at; at++) {
            env = grow(env, n + 2, sizeof(*env));
            env[n++] = *at;
            env[n] = NULL;
        }
    return env;
}

void submit_started(const struct options *o, const char *job)
{
    const bool yes = true;
    pmix_info_t own;
    pmix_proc_t target;
    pmix_status_t rc;

    if (o->stdin_to && strcmp(o->stdin_to, "none") == 0)
        return;
    PMIx_Load_procid(&target, job, PMIX_RANK_WILDCARD); /* that have an input */
    rc = PMIx_Info_load(&own, PMIX_IOF_PUSH_STDIN, &yes, PMIX_BOOL);
    if (!rc)
        rc = PMIx_IOF_push(&target, 1, NULL, &own, 1, NULL, NULL);
    PMIx_Info_destruct(&own);
    if (rc && rc != PMIX_OPERATION_SUCCEEDED)
        complain("cannot forward the input: %s", PMIx_Error_string(rc));
}

const char *submit_refusal(pmix_status_t status)
{
    return status == PMIX_ERR_RESOURCE_BUSY ? "all slots are taken"
           : status == PMIX_ERR_JOB_INSUFFICIENT_RESOURCES
               ? "it needs more than the server has"
               : PMIx_Error_string(status);
}

/* ---- the end of a server --------------------------------------------------------- */

static int lost_fds[2];

static void on_lost(size_t id, pmix_status_t code, const pmix_proc_t *source,
                    pmix_info_t info[], size_t n_info, pmix_info_t *results,
                    size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                    void *cbdata)
{
    (void)id;
    (void)code;
    (void)source;
    (void)info;
    (void)n_info;
    (void)results;
    (void)n_results;
    close(lost_fds[1]);
    lost_fds[1] = -1;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Returns the members of an array of infos, or none. */
static const pmix_info_t *members_of(const pmix_info_t *info, size_t *n)
{
    const pmix_data_array_t *a = info->value.type == PMIX_DATA_ARRAY
                                     ? info->value.data.darray
                                     : NULL;

    *n = a && a->type == PMIX_INFO ? a->size : 0;
    return *n > 0 ? a->array : NULL;
}

/* Returns the process number in the description of a server, if its namespace is name;
 * otherwise 0. */
static pid_t pid_of(const pmix_info_t *server, const char *name)
{
    size_t n;
    const pmix_info_t *is = members_of(server, &n);
    bool same = false;
    pid_t pid = 0;

    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(is[i].key, PMIX_NSPACE) && is[i].value.type == PMIX_STRING)
            same = strcmp(is[i].value.data.string, name) == 0;
        if (PMIx_Check_key(is[i].key, PMIX_SERVER_PIDINFO))
            pid = is[i].value.data.pid;
    }
    return same ? pid : 0;
}

/* Returns the process number of the connected server, from its rendezvous file; 0:
 * unknown. */
static pid_t find_server(void)
{
    char key[] = PMIX_QUERY_AVAIL_SERVERS, *keys[] = {key, NULL};
    pmix_query_t query = {.keys = keys};
    pmix_proc_t *own = NULL;
    size_t n_own = 0, n_all = 0, n = 0;
    pmix_info_t *all = NULL;
    const pmix_info_t *servers = NULL;
    pid_t pid = 0;

    if (PMIx_tool_get_servers(&own, &n_own) == PMIX_SUCCESS && n_own > 0 &&
        PMIx_Query_info(&query, 1, &all, &n_all) == PMIX_SUCCESS && n_all > 0)
        servers = members_of(&all[0], &n);
    for (size_t i = 0; !pid && i < n; i++)
        pid = pid_of(&servers[i], own[0].nspace);
    PMIx_Info_free(all, n_all);
    PMIx_Proc_free(own, n_own);
    return pid;
}

/* Waits until the descriptor is readable or closed. False: the time is over. */
static bool await_fd(int fd, int64_t end_ms)
{
    struct pollfd f = {.fd = fd, .events = POLLIN};
    int64_t left_ms;

    while ((left_ms = end_ms - now_ms()) > 0)
        if (poll(&f, 1, (int)left_ms) > 0)
            return true;
    return false;
}

int submit_terminate(const struct options *o)
{
    const int64_t end_ms = now_ms() +
                           (o->timeout_s ? o->timeout_s * INT64_C(1000) : END_MS);
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION, rc;
    const bool yes = true;
    pmix_info_t order, *results = NULL;
    size_t n = 0;
    int server = -1;
    bool ended;

    if (!submit_begin(o))
        return EXIT_TROUBLE;
    if (pipe2(lost_fds, O_CLOEXEC) < 0)
        fail("cannot wait for the server: %s", strerror(errno));
    const pid_t pid = find_server();
    if (pid)
        server = os_process_fd(pid);
    rc = PMIx_Register_event_handler(&code, 1, NULL, 0, on_lost, NULL, NULL);
    if (rc >= 0)
        rc = PMIx_Info_load(&order, PMIX_JOB_CTRL_TERMINATE, &yes, PMIX_BOOL);
    PMIx_Info_required(&order);
    if (!rc)
        rc = PMIx_Job_control(NULL, 0, &order, 1, &results, &n);
    PMIx_Info_free(results, n);
    PMIx_Info_destruct(&order);
    ended = !rc && await_fd(lost_fds[0], end_ms) &&
            (server < 0 || await_fd(server, end_ms));
    if (rc)
        complain("cannot end the server: %s", PMIx_Error_string(rc));
    else if (!ended)
        complain("the server has not ended in time");
    PMIx_tool_finalize();
    return ended ? EXIT_SUCCESS : rc ? EXIT_TROUBLE : EXIT_TIMEOUT;
}
