/* SPDX-License-Identifier: BSD-3-Clause */
/* tool_host NSPACE [ATTRIBUTE...]: a server that tools may connect to, for any release's headers.
 * ATTRIBUTES: tool, system, session, sched(uler), (system) ctrlr, foreign (allowed), domestic (foreign
 * refused), refuse (the host refuses every tool). Says "ready", then obeys its standard input, a word a line: "event"
 * sends PMIX_EVENT_JOB_END to whoever wants it; "die" ends it without any cleaning up; end of
 * file ends it well. */
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_status_t refusal = PMIX_SUCCESS;
static int n_tools;

static void tell(const char *what, const char *name, long n)
{
    printf("%s %s %ld\n", what, name, n);
    fflush(stdout);
}

static const char *text_of(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(info[i].key, key, PMIX_MAX_KEYLEN) == 0 &&
            info[i].value.type == PMIX_STRING)
            return info[i].value.data.string;
    return NULL;
}

static long number_of(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strncmp(info[i].key, key, PMIX_MAX_KEYLEN) != 0)
            continue;
        if (info[i].value.type == PMIX_PROC_RANK)
            return (long)info[i].value.data.rank;
        return (long)info[i].value.data.uint32;
    }
    return -1;
}

/* A tool that has no name is called after the server. */
static void tool_connected(pmix_info_t *info, size_t n,
                           pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    const char *nspace = text_of(info, n, PMIX_NSPACE);
    pmix_proc_t proc;

    memset(&proc, 0, sizeof(proc));
    if (nspace) {
        snprintf(proc.nspace, sizeof(proc.nspace), "%s", nspace);
        proc.rank = (pmix_rank_t)number_of(info, n, PMIX_RANK);
    } else {
        snprintf(proc.nspace, sizeof(proc.nspace), "given-%d", ++n_tools);
    }
    tell("tool", proc.nspace, (long)proc.rank);
    tell("uid", "of-tool", number_of(info, n, PMIX_USERID));
    cb(refusal, &proc, cbdata);
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t n,
                           pmix_info_cbfunc_t cb, void *cbdata)
{
    pmix_info_t *found = calloc(1, sizeof(*found));

    tell("query", proc->nspace, (long)proc->rank);
    (void)queries;
    (void)n;
    snprintf(found->key, sizeof(found->key), "%s", PMIX_QUERY_NAMESPACES);
    found->value.type = PMIX_STRING;
    found->value.data.string = strdup(
        getenv("TOOL_HOST_JOBS") ? getenv("TOOL_HOST_JOBS") : "job-a,job-b");
    cb(PMIX_SUCCESS, found, 1, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t job_control(const pmix_proc_t *proc, const pmix_proc_t *targets,
                                 size_t n_targets, const pmix_info_t *info, size_t n,
                                 pmix_info_cbfunc_t cb, void *cbdata)
{
    (void)targets;
    (void)n_targets;
    (void)info;
    (void)n;
    tell("control", proc->nspace, (long)proc->rank);
    cb(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t *info, size_t n,
                           const pmix_app_t *apps, size_t n_apps,
                           pmix_spawn_cbfunc_t cb, void *cbdata)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "spawned";

    (void)proc;
    (void)info;
    (void)n;
    tell("spawn", apps[0].cmd, (long)n_apps);
    cb(PMIX_SUCCESS, nspace, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t notified(pmix_status_t code, const pmix_proc_t *source,
                              pmix_data_range_t range, pmix_info_t *info, size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)range;
    (void)info;
    (void)n;
    (void)cb;
    (void)cbdata;
    tell("notified", source->nspace, (long)code);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_events(pmix_status_t *codes, size_t n_codes,
                                     const pmix_info_t *info, size_t n,
                                     pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)codes;
    (void)n_codes;
    (void)info;
    (void)n;
    (void)cb;
    (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

static void add(pmix_info_t *info, size_t *n, const char *key, bool yes)
{
    snprintf(info[*n].key, sizeof(info[*n].key), "%s", key);
    info[*n].value.type = PMIX_BOOL;
    info[*n].value.data.flag = yes;
    (*n)++;
}

static void add_text(pmix_info_t *info, size_t *n, const char *key, const char *text)
{
    snprintf(info[*n].key, sizeof(info[*n].key), "%s", key);
    info[*n].value.type = PMIX_STRING;
    info[*n].value.data.string = strdup(text);
    (*n)++;
}

static size_t directives(int argc, char **argv, pmix_info_t *info)
{
    size_t n = 0;

    add_text(info, &n, PMIX_SERVER_NSPACE, argv[1]);
    if (getenv("TOOL_HOST_SYSTEM_DIR"))
        add_text(info, &n, PMIX_SYSTEM_TMPDIR, getenv("TOOL_HOST_SYSTEM_DIR"));
    if (getenv("TOOL_HOST_LAUNCHER_FILE"))
        add_text(info, &n, "pmix.tool.lncrnd", getenv("TOOL_HOST_LAUNCHER_FILE"));
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "tool") == 0)
            add(info, &n, PMIX_SERVER_TOOL_SUPPORT, true);
        else if (strcmp(argv[i], "system") == 0)
            add(info, &n, PMIX_SERVER_SYSTEM_SUPPORT, true);
        else if (strcmp(argv[i], "session") == 0)
            add(info, &n, PMIX_SERVER_SESSION_SUPPORT, true);
        else if (strcmp(argv[i], "sched") == 0)
            add(info, &n, "pmix.srv.sched", true);
        else if (strcmp(argv[i], "ctrlr") == 0)
            add(info, &n, "pmix.srv.ctrlr", true);
        else if (strcmp(argv[i], "foreign") == 0)
            add(info, &n, "pmix.srvr.ftools", true);
        else if (strcmp(argv[i], "domestic") == 0)
            add(info, &n, "pmix.srvr.ftools", false);
        else if (strcmp(argv[i], "refuse") == 0)
            refusal = PMIX_ERR_NO_PERMISSIONS;
    }
    return n;
}

static void obey(const char *word)
{
    if (strcmp(word, "die") == 0)
        _exit(0);
    if (strcmp(word, "event") == 0)
        tell("notify", "job-end",
             PMIx_Notify_event(PMIX_EVENT_JOB_END, NULL, PMIX_RANGE_SESSION, NULL, 0,
                               NULL, NULL));
}

int main(int argc, char **argv)
{
    static pmix_server_module_t module = {.tool_connected = tool_connected,
                                          .query = query,
                                          .job_control = job_control,
                                          .spawn = spawn,
                                          .notify_event = notified,
                                          .register_events = register_events};
    pmix_info_t info[16];
    char line[80];
    size_t n;
    pmix_status_t rc;

    if (argc < 2)
        return 2;
    memset(info, 0, sizeof(info));
    n = directives(argc, argv, info);
    rc = PMIx_server_init(&module, info, n);
    tell(rc ? "failed" : "ready", PMIx_Get_version(), (long)getpid());
    if (rc)
        return 1;
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(line);
    }
    rc = PMIx_server_finalize();
    for (size_t i = 0; i < n; i++)
        if (info[i].value.type == PMIX_STRING)
            free(info[i].value.data.string);
    tell("ended", PMIx_Error_string(rc), rc);
    return rc != PMIX_SUCCESS;
}
