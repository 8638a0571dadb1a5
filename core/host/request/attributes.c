/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of PMIx_Spawn, and their effects on the plan. An attribute applies to
 * the whole job or to one application. An application's own infos win over those of the
 * job. docs/processes.md has the table for users. */
#include "core/host/request/plan.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/types/keys.h"
#include "pmix.h"
#include "pmix_tool.h"

#define MAX_HOST_FILE 65536 /* bytes */

/* Infos that are read, and their destination. */
struct reading {
    const struct px_spawn_request *request;
    px_plan *plan;
    struct px_app_plan *app; /* NULL: attributes of the whole job only */
    const pmix_app_t *asked; /* application with these infos; NULL: the job's infos */
    const pmix_app_t *later; /* application whose infos are read later, and win; NULL:
                              * none */
    struct px_err *err;
    bool *foreign; /* set when a named host is not this node; NULL: unused */
};

static const char *name_of(const pmix_info_t *info)
{
    const struct px_key *key = px_key_by_string(info->key);

    return key ? key->name : info->key;
}

/* Returns PMIX_ERR_NOT_SUPPORTED, which is an error only for a required attribute. */
static pmix_status_t cannot(const struct reading *r, const char *why)
{
    return px_err_set(r->err, PMIX_ERR_NOT_SUPPORTED, "%s", why);
}

/* ---- hosts ----------------------------------------------------------------------- */

bool px_host_is_here(const char *here, const char *name, size_t len)
{
    const char *colon = memchr(name, ':', len);
    size_t n = colon ? (size_t)(colon - name) : len;

    return (n == strlen(here) && strncmp(name, here, n) == 0) ||
           (n == strcspn(here, ".") && strncmp(name, here, n) == 0) ||
           (n == strlen("localhost") && strncmp(name, "localhost", n) == 0);
}

/* Checks that name means this node. file: source of the name, or NULL. */
static pmix_status_t need_here(const struct reading *r, const char *name, size_t len,
                               const char *file)
{
    const char *here = r->request->model->hostname;

    if (px_host_is_here(here, name, len))
        return PMIX_SUCCESS;
    if (r->foreign)
        *r->foreign = true;
    return px_err_set(r->err, PMIX_ERR_JOB_ALLOC_FAILED,
                      "cannot spawn: host %.*s%s%s is not this node, %s; a resource "
                      "manager is needed to run on others",
                      (int)len, name, file ? " of " : "", file ? file : "", here);
}

static pmix_status_t check_hosts(const struct reading *r, const pmix_info_t *info)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (const char *host = info->value.data.string; !rc && *host;) {
        size_t len = strcspn(host, ",");

        rc = len > 0 ? need_here(r, host, len, NULL) : rc;
        host += len + (host[len] == ',');
    }
    return rc;
}

/* Reads a host file, relative to the inherited directory. *text is malloc'd, even if
 * empty. */
static pmix_status_t read_text(const struct reading *r, const char *name, char **text)
{
    const struct px_app_plan *parent = r->request->parent;
    PX_AUTOFREE char *path = *name == '/'
                                 ? strdup(name)
                                 : px_path_join(parent ? parent->cwd : NULL, name);
    PX_AUTOFREE char *bytes = calloc(1, MAX_HOST_FILE + 1);
    struct stat st;
    ssize_t got = -1;

    if (!path || !bytes)
        return px_err_nomem(r->err, "spawn");
    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0)
        got = read(fd, bytes, MAX_HOST_FILE + 1);
    if (got < 0) {
        px_err_errno(r->err, "cannot spawn: host file %s", path);
        return PMIX_ERR_JOB_ALLOC_FAILED;
    }
    if (!S_ISREG(st.st_mode) || got > MAX_HOST_FILE)
        return px_err_set(r->err, PMIX_ERR_JOB_ALLOC_FAILED,
                          "cannot spawn: host file %s is %s", path,
                          S_ISREG(st.st_mode) ? "too long" : "not a regular file");
    *text = px_take(&bytes);
    return PMIX_SUCCESS;
}

/* Checks the first word of each line; "slots=4" and the like may follow. */
static pmix_status_t check_host_file(const struct reading *r, const pmix_info_t *info)
{
    static const char space[] = " \t\r\n";
    PX_AUTOFREE char *text = NULL;
    char *line, *rest;
    size_t n = 0;
    pmix_status_t rc = read_text(r, info->value.data.string, &text);

    for (line = rc ? NULL : strtok_r(text, "\n", &rest); !rc && line;
         line = strtok_r(NULL, "\n", &rest)) {
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, space);
        size_t len = strcspn(line, space);
        if (len > 0) {
            n++;
            rc = need_here(r, line, len, info->value.data.string);
        }
    }
    if (!rc && n == 0)
        rc = px_err_set(r->err, PMIX_ERR_JOB_ALLOC_FAILED,
                        "cannot spawn: host file %s names no host",
                        info->value.data.string);
    return rc;
}

/* Accepts this node, which the job has already. */
static pmix_status_t add_hosts(const struct reading *r, const pmix_info_t *info)
{
    bool foreign = false;
    struct reading reading = *r;

    reading.foreign = &foreign;
    pmix_status_t rc = strcmp(info->key, PMIX_ADD_HOST) == 0
                           ? check_hosts(&reading, info)
                           : check_host_file(&reading, info);

    return foreign ? cannot(r, "this node is the only one") : rc;
}

/* ---- environment ----------------------------------------------------------------- */

static pmix_status_t set_env(const struct reading *r, const pmix_info_t *info)
{
    static const char *const keys[] = {
        [PX_ENV_SET] = PMIX_SET_ENVAR,         [PX_ENV_ADD] = PMIX_ADD_ENVAR,
        [PX_ENV_PREPEND] = PMIX_PREPEND_ENVAR, [PX_ENV_APPEND] = PMIX_APPEND_ENVAR,
        [PX_ENV_FIRST] = PMIX_FIRST_ENVAR,     [PX_ENV_UNSET] = PMIX_UNSET_ENVAR};
    const pmix_envar_t *e = &info->value.data.envar;
    enum px_env_how how = PX_ENV_SET;
    char empty[] = "";
    pmix_envar_t unset = {.value = empty};

    while (how < PX_ENV_UNSET && strcmp(info->key, keys[how]) != 0)
        how++;
    if (how == PX_ENV_UNSET) {
        unset.envar = (char *)px_value_string(&info->value);
        e = &unset;
    }
    pmix_status_t rc = !e->envar || !e->value
                           ? PMIX_ERR_BAD_PARAM
                           : px_env_edit_change(&r->app->changes, how, e->envar,
                                                strlen(e->envar), e->value,
                                                e->separator);
    return rc ? px_err_set(r->err, rc, "cannot change the environment: bad value of %s",
                           name_of(info))
              : rc;
}

/* Adds the folders of an installation to PATH and LD_LIBRARY_PATH. */
static pmix_status_t set_prefix(const struct reading *r, const pmix_info_t *info)
{
    const char *prefix = info->value.data.string;
    PX_AUTOFREE char *bin = px_path_join(prefix, "bin"),
                     *lib = px_path_join(prefix, "lib");
    const struct {
        enum px_env_how how;
        const char *name, *value;
    } changes[] = {{PX_ENV_ADD, "PATH", "/bin:/usr/bin"},
                   {PX_ENV_PREPEND, "PATH", bin},
                   {PX_ENV_PREPEND, "LD_LIBRARY_PATH", lib}};
    struct stat st;
    pmix_status_t rc = bin && lib ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (*prefix != '/' || stat(prefix, &st) < 0 || !S_ISDIR(st.st_mode))
        return px_err_set(r->err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: %s \"%s\" is not the path of a folder",
                          name_of(info), prefix);
    for (size_t i = 0; !rc && i < PX_COUNT(changes); i++)
        rc = px_env_edit_change(&r->app->changes, changes[i].how, changes[i].name,
                                strlen(changes[i].name), changes[i].value, ':');
    return rc ? px_err_nomem(r->err, "spawn") : rc;
}

/* Accepts the attribute if the job inherits the environment of this process anyway. */
static pmix_status_t forward_env(const struct reading *r, const pmix_info_t *info)
{
    return r->request->own || !px_value_truth(&info->value)
               ? PMIX_SUCCESS
               : cannot(r,
                        "processes of a job inherit the environment that the job was "
                        "started with");
}

/* ---- directories ----------------------------------------------------------------- */

static pmix_status_t set_cwd(const struct reading *r, const pmix_info_t *info)
{
    char *copy = strdup(info->value.data.string);

    if (!copy)
        return px_err_nomem(r->err, "spawn");
    free(r->app->cwd);
    r->app->cwd = copy;
    r->app->in_job_dir = false;
    return PMIX_SUCCESS;
}

static pmix_status_t set_session_cwd(const struct reading *r, const pmix_info_t *info)
{
    r->app->in_job_dir = px_value_truth(&info->value);
    if (r->app->in_job_dir)
        free(px_take(&r->app->cwd));
    return PMIX_SUCCESS;
}

/* Keeps the program that starts the application's program. */
static pmix_status_t set_agent(const struct reading *r, const pmix_info_t *info)
{
    const char *path = info->value.data.string;

    if (!path[0])
        return px_err_set(r->err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: attribute %s: expected a program",
                          name_of(info));
    free(r->app->agent);
    r->app->agent = strdup(path);
    return r->app->agent ? PMIX_SUCCESS : px_err_nomem(r->err, "spawn");
}

static pmix_status_t set_command(const struct reading *r, const pmix_info_t *info)
{
    free(r->plan->command);
    r->plan->command = strdup(info->value.data.string);
    return r->plan->command ? PMIX_SUCCESS : px_err_nomem(r->err, "spawn");
}

/* ---- standard streams ------------------------------------------------------------ */

static pmix_status_t set_input(const struct reading *r, const pmix_info_t *info)
{
    bool wanted = px_value_truth(&info->value);

    r->app->input = !wanted ? PX_INPUT_NONE : r->asked ? PX_INPUT_OWN : PX_INPUT_OF_JOB;
    return PMIX_SUCCESS;
}

/* Has the job end with its tool on request: jobs go on without a tool otherwise. */
static pmix_status_t set_nohup(const struct reading *r, const pmix_info_t *info)
{
    r->plan->tied = !px_value_truth(&info->value);
    return PMIX_SUCCESS;
}

static pmix_status_t set_target(const struct reading *r, const pmix_info_t *info)
{
    const pmix_value_t *v = &info->value;

    if (v->type == PMIX_PROC)
        r->plan->stdin_rank = v->data.proc->rank;
    else
        (void)px_value_to_u32(v, &r->plan->stdin_rank);
    r->plan->has_target = true;
    return PMIX_SUCCESS;
}

static pmix_status_t forward_output(const struct reading *r, const pmix_info_t *info)
{
    bool wanted = px_value_truth(&info->value);

    if (!wanted && r->request->own)
        return cannot(r, "the output of a job comes out here");
    pmix_iof_channel_t channel = strcmp(info->key, PMIX_FWD_STDOUT) == 0
                                     ? PMIX_FWD_STDOUT_CHANNEL
                                 : strcmp(info->key, PMIX_FWD_STDERR) == 0
                                     ? PMIX_FWD_STDERR_CHANNEL
                                     : PMIX_FWD_STDDIAG_CHANNEL;
    if (!wanted)
        r->app->forwards &= (pmix_iof_channel_t)~channel;
    else if (!r->request->own)
        r->app->forwards |= channel;
    return PMIX_SUCCESS;
}

static pmix_status_t set_way(const struct reading *r, const pmix_info_t *info)
{
    pmix_status_t rc = px_iof_way_read(&r->app->output.way, info, 1, r->err);

    return rc ? px_err_prefix(r->err, "cannot spawn") : PMIX_SUCCESS;
}

/* Sets the terminal's modes or size. Implies a terminal. */
static pmix_status_t set_terminal(const struct reading *r, const pmix_info_t *info)
{
    const pmix_byte_object_t *bytes = &info->value.data.bo;
    bool is_size = strcmp(info->key, PMIX_PTY_WSIZE) == 0;
    size_t n = is_size ? sizeof(struct winsize) : sizeof(struct termios);
    void **to = is_size ? (void **)&r->app->winsize : (void **)&r->app->termios;

    if (!bytes->bytes || bytes->size != n)
        return px_err_set(r->err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: attribute %s: %zu bytes, %zu expected",
                          name_of(info), bytes->size, n);
    if (!*to)
        *to = malloc(n);
    if (!*to)
        return px_err_nomem(r->err, "spawn");
    memcpy(*to, bytes->bytes, n);
    r->app->pty = true;
    return PMIX_SUCCESS;
}

/* ---- places ---------------------------------------------------------------------- */

static pmix_status_t set_place(const struct reading *r, const pmix_info_t *info)
{
    pmix_status_t rc = px_plan_placement(r->app, info, r->err);

    if (rc && rc != PMIX_ERR_NOT_SUPPORTED)
        px_err_prefix(r->err, "cannot spawn: attribute %s", name_of(info));
    return rc;
}

/* ---- files ----------------------------------------------------------------------- */

static pmix_status_t set_files(const struct reading *r, const pmix_info_t *info)
{
    return px_plan_files(r->app, info, r->asked, r->request, r->err);
}

/* ---- debuggers ------------------------------------------------------------------- */

/* Reads a flag for all ranks, a rank, PMIX_RANK_WILDCARD, or an array of ranks. */
static pmix_status_t read_stops(struct px_stops *stops, const pmix_value_t *v)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    pmix_rank_t rank;
    const void *ranks = &rank;
    size_t n = 1;

    if (v->type == PMIX_BOOL || v->type == PMIX_UNDEF) {
        stops->all = px_value_truth(v);
        return PMIX_SUCCESS;
    }
    if (a && (a->type == PMIX_PROC_RANK || a->type == PMIX_UINT32) && a->size > 0) {
        ranks = a->array;
        n = a->size;
    } else if (!px_value_to_u32(v, &rank)) {
        return PMIX_ERR_BAD_PARAM;
    }
    stops->ranks = calloc(n, sizeof(rank));
    if (!stops->ranks)
        return PMIX_ERR_NOMEM;
    memcpy(stops->ranks, ranks, n * sizeof(rank));
    stops->n = n;
    return PMIX_SUCCESS;
}

/* Replaces an earlier value. */
static pmix_status_t set_stops(const struct reading *r, const pmix_info_t *info)
{
    struct px_stops stops = {.of_app = r->asked};
    enum px_stop where = strcmp(info->key, PMIX_DEBUG_STOP_ON_EXEC) == 0
                             ? PX_STOP_ON_EXEC
                         : strcmp(info->key, PMIX_DEBUG_STOP_IN_INIT) == 0
                             ? PX_STOP_IN_INIT
                             : PX_STOP_IN_APP;
    pmix_status_t rc = read_stops(&stops, &info->value);

    if (!rc) {
        free(r->app->stops[where].ranks);
        r->app->stops[where] = stops;
    }
    return rc == PMIX_ERR_BAD_PARAM
               ? px_err_set(r->err, rc,
                            "cannot spawn: attribute %s: expected a flag or ranks",
                            name_of(info))
           : rc ? px_err_nomem(r->err, "spawn")
                : rc;
}

static pmix_status_t set_debugged(const struct reading *r, const pmix_info_t *info)
{
    const pmix_value_t *v = &info->value;
    const pmix_proc_t *proc = v->type == PMIX_PROC ? v->data.proc : NULL;
    const struct px_nspace *ns = proc ? px_nspace_find(r->request->model, proc->nspace)
                                      : NULL;

    if (!proc)
        return px_err_set(r->err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: attribute %s: expected PMIX_PROC",
                          name_of(info));
    if (!ns || !ns->hosted ||
        (proc->rank != PMIX_RANK_WILDCARD && proc->rank >= ns->job_size))
        return px_err_set(r->err, PMIX_ERR_NOT_FOUND,
                          "cannot spawn: attribute %s: there is no %s.%u here",
                          name_of(info), proc->nspace, proc->rank);
    r->app->target = *proc;
    r->app->n_targets = proc->rank == PMIX_RANK_WILDCARD ? ns->job_size : 1;
    return PMIX_SUCCESS;
}

/* ---- the table ------------------------------------------------------------------- */

enum how {
    GIVEN,   /* set by the library itself, or nothing to do */
    FLAG,    /* bool of the plan, at offset */
    NUMBER,  /* uint32_t of the plan, at offset */
    APPLIED, /* handled by the function */
    REFUSED,
};

/* Attribute of PMIx_Spawn. core/types/keys.h has the types of values. */
struct attribute {
    const char *key;
    enum how how;
    bool of_app; /* for one application; otherwise for the whole job, even if an
                  * application names it */
    size_t offset;
    pmix_status_t (*apply)(const struct reading *r, const pmix_info_t *info);
};

#define OF_APP(fn)         APPLIED, true, 0, fn
#define APP_FLAG(member)   FLAG, true, offsetof(struct px_app_plan, member), NULL
#define APP_NUMBER(member) NUMBER, true, offsetof(struct px_app_plan, member), NULL
#define JOB_FLAG(member)   FLAG, false, offsetof(px_plan, member), NULL
#define JOB_NUMBER(member) NUMBER, false, offsetof(px_plan, member), NULL
#define NOTHING            GIVEN, false, 0, NULL

static const struct attribute attributes[] = {
    {PMIX_WDIR, OF_APP(set_cwd)},
    {PMIX_SET_SESSION_CWD, OF_APP(set_session_cwd)},
    {PMIX_PREFIX, OF_APP(set_prefix)},
    {PMIX_HOST, OF_APP(check_hosts)},
    {PMIX_HOSTFILE, OF_APP(check_host_file)},
    {PMIX_ADD_HOST, OF_APP(add_hosts)},
    {PMIX_ADD_HOSTFILE, OF_APP(add_hosts)},
    {PMIX_SET_ENVAR, OF_APP(set_env)},
    {PMIX_ADD_ENVAR, OF_APP(set_env)},
    {PMIX_UNSET_ENVAR, OF_APP(set_env)},
    {PMIX_PREPEND_ENVAR, OF_APP(set_env)},
    {PMIX_APPEND_ENVAR, OF_APP(set_env)},
    {PMIX_FIRST_ENVAR, OF_APP(set_env)},
    {PMIX_FWD_ENVIRONMENT, OF_APP(forward_env)},
    {PMIX_FWD_STDIN, OF_APP(set_input)},
    {PMIX_FWD_STDOUT, OF_APP(forward_output)},
    {PMIX_FWD_STDERR, OF_APP(forward_output)},
    {PMIX_FWD_STDDIAG, OF_APP(forward_output)}, /* processes write diagnostics to
                                                 * stderr */
    {PMIX_TAG_OUTPUT, APP_FLAG(output.way.tag)},
    {PMIX_IOF_TAG_OUTPUT, APP_FLAG(output.way.tag)},
    {PMIX_IOF_TAG_FULLNAME_OUTPUT, APP_FLAG(output.way.tag_full)},
    {PMIX_IOF_TAG_DETAILED_OUTPUT, APP_FLAG(output.way.tag_detailed)},
    {PMIX_IOF_RANK_OUTPUT, APP_FLAG(output.way.tag_rank)},
    {PMIX_TIMESTAMP_OUTPUT, APP_FLAG(output.way.timed)},
    {PMIX_IOF_TIMESTAMP_OUTPUT, APP_FLAG(output.way.timed)},
    {PMIX_IOF_XML_OUTPUT, OF_APP(set_way)},
    {TENON_IOF_JSON_OUTPUT, OF_APP(set_way)},
    {PMIX_IOF_OUTPUT_RAW, OF_APP(set_way)},
    {PMIX_IOF_BUFFERING_SIZE, OF_APP(set_way)},
    {PMIX_IOF_BUFFERING_TIME, OF_APP(set_way)},
    {PMIX_MERGE_STDERR_STDOUT, APP_FLAG(output.way.merged)},
    {PMIX_IOF_MERGE_STDERR_STDOUT, APP_FLAG(output.way.merged)},
    {PMIX_SPAWN_PTY, APP_FLAG(pty)},
    {PMIX_PTY_TERMIO, OF_APP(set_terminal)},
    {PMIX_PTY_WSIZE, OF_APP(set_terminal)},
    {PMIX_MAPBY, OF_APP(set_place)},
    {PMIX_RANKBY, OF_APP(set_place)},
    {PMIX_BINDTO, OF_APP(set_place)},
    {PMIX_PPR, OF_APP(set_place)},
    {PMIX_MAPPER, OF_APP(set_place)},
    {PMIX_CPUS_PER_PROC, OF_APP(set_place)},
    {PMIX_CPU_LIST, OF_APP(set_place)},
    {PMIX_NO_OVERSUBSCRIBE, OF_APP(set_place)},
    {PMIX_NO_PROCS_ON_HEAD, OF_APP(set_place)},
    {PMIX_DISPLAY_MAP, JOB_FLAG(shows_map)},
    {PMIX_REPORT_BINDINGS, JOB_FLAG(shows_bindings)},
    {PMIX_OUTPUT_TO_FILE, OF_APP(set_files)},
    {PMIX_OUTPUT_TO_DIRECTORY, OF_APP(set_files)},
    {PMIX_IOF_OUTPUT_TO_FILE, OF_APP(set_files)},
    {PMIX_IOF_OUTPUT_TO_DIRECTORY, OF_APP(set_files)},
    {PMIX_IOF_FILE_PATTERN, APP_FLAG(output.is_pattern)},
    {PMIX_IOF_FILE_ONLY, APP_FLAG(output.files_only)},
    {PMIX_OUTPUT_NOCOPY, APP_FLAG(output.files_only)},
    {PMIX_PRELOAD_BIN, APP_FLAG(preloaded)},
    {PMIX_PRELOAD_FILES, OF_APP(set_files)},
    {PMIX_CMD_LINE, APPLIED, false, 0, set_command},
    {PMIX_STDIN_TGT, APPLIED, false, 0, set_target},
    {PMIX_INDEX_ARGV, APP_FLAG(indexed)},
    {PMIX_NON_PMI, APP_FLAG(non_pmi)},
    {PMIX_EXEC_AGENT, OF_APP(set_agent)},
    {PMIX_SPAWN_CHILD_SEP, JOB_FLAG(detached)},
    {PMIX_NOTIFY_COMPLETION, JOB_FLAG(notify)},
    {PMIX_NOTIFY_JOB_EVENTS, JOB_FLAG(job_events)},
    {PMIX_NOTIFY_PROC_TERMINATION, JOB_FLAG(proc_ends)},
    {PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, JOB_FLAG(proc_failures)},
    {PMIX_EVENT_SILENT_TERMINATION, JOB_FLAG(silent)},
    {PMIX_DEBUGGER_DAEMONS, APP_FLAG(daemons)},
    {PMIX_DEBUG_TARGET, OF_APP(set_debugged)},
    {PMIX_DEBUG_DAEMONS_PER_NODE, APP_NUMBER(per_node)},
    {PMIX_DEBUG_DAEMONS_PER_PROC, APP_NUMBER(per_proc)},
    {PMIX_DEBUG_STOP_ON_EXEC, OF_APP(set_stops)},
    {PMIX_DEBUG_STOP_IN_INIT, OF_APP(set_stops)},
    {PMIX_DEBUG_STOP_IN_APP, OF_APP(set_stops)},
    {PMIX_JOB_RECOVERABLE, JOB_FLAG(recoverable)},
    {PMIX_JOB_CONTINUOUS, JOB_FLAG(continuous)},
    {PMIX_MAX_RESTARTS, APP_NUMBER(max_restarts)},
    {PMIX_TIMEOUT_REPORT_STATE, JOB_FLAG(reports_state)},
    {PMIX_TIMEOUT_STACKTRACES, JOB_FLAG(traces_stacks)},
    {PMIX_JOB_TIMEOUT, JOB_NUMBER(limit_s)},
    {PMIX_SPAWN_TIMEOUT, JOB_NUMBER(launch_limit_s)},
    {PMIX_TIMEOUT, JOB_NUMBER(request_limit_s)},
    {PMIX_ALLOC_NOT_WAITING, JOB_FLAG(no_wait)},
    {PMIX_ALLOC_ID, NOTHING}, /* launch.c */
    {PMIX_PARENT_ID, NOTHING},
    {PMIX_SPAWNED, NOTHING},
    {PMIX_REQUESTOR_IS_TOOL, NOTHING},
    {PMIX_REQUESTOR_IS_CLIENT, NOTHING},
    {PMIX_USERID, NOTHING},
    {PMIX_GRPID, NOTHING},
    {PMIX_WDIR_USER_SPECIFIED, NOTHING},
    {PMIX_NOHUP, APPLIED, false, 0, set_nohup},
    {PMIX_PERSONALITY, NOTHING}, /* attributes mean the same in all personalities */
};

static bool find(const char *key, struct attribute *found)
{
    for (size_t i = 0; i < PX_COUNT(attributes); i++) {
        if (strcmp(key, attributes[i].key) == 0) {
            *found = attributes[i];
            return true;
        }
    }
    *found = (struct attribute){.key = key, .how = REFUSED, .of_app = true};
    return false;
}

const char *px_attribute_key(size_t i)
{
    return i < PX_COUNT(attributes) ? attributes[i].key : NULL;
}

/* True if the value has the type of the attribute, or a type with the same meaning. */
static bool is_sound(const struct attribute *a, const pmix_value_t *v)
{
    const struct px_key *key = px_key_by_string(a->key);
    uint32_t number;

    switch (key ? key->type : PMIX_UNDEF) {
    case PMIX_UNDEF: /* any type */
        return true;
    case PMIX_BOOL: /* present without a value: true */
        return v->type == PMIX_BOOL || v->type == PMIX_UNDEF;
    case PMIX_STRING:
        return px_value_string(v) != NULL;
    case PMIX_ENVAR:
    case PMIX_BYTE_OBJECT:
        return v->type == key->type;
    case PMIX_PROC:
        return v->type == PMIX_PROC ? v->data.proc != NULL
                                    : a->how == APPLIED && px_value_to_u32(v, &number);
    default:
        return px_value_to_u32(v, &number);
    }
}

static pmix_status_t carry_out(const struct reading *r, const struct attribute *a,
                               const pmix_info_t *info)
{
    const pmix_value_t *v = &info->value;
    char *to = (a->of_app ? (char *)r->app : (char *)r->plan) + a->offset;

    switch (a->how) {
    case FLAG:
        *(bool *)to = px_value_truth(v);
        return PMIX_SUCCESS;
    case NUMBER:
        (void)px_value_to_u32(v, (uint32_t *)(void *)to);
        return PMIX_SUCCESS;
    case APPLIED:
        return a->apply(r, info);
    case REFUSED: /* a false flag asks for nothing */
        return v->type == PMIX_BOOL && !v->data.flag ? PMIX_SUCCESS
                                                     : cannot(r, "it is not supported");
    default:
        return PMIX_SUCCESS;
    }
}

/* Applies an info if it fits the reading. Infos of the job are read once for the job,
 * and once for each application. */
static pmix_status_t read_one(const struct reading *r, const pmix_info_t *info)
{
    struct attribute a;
    bool is_known = find(info->key, &a);
    /* Without an allocation the job would be another job, so such a request fails. */
    bool allocates = px_str_starts(info->key, "pmix.alloc.");

    if (a.of_app ? !r->app : r->app && !r->asked)
        return PMIX_SUCCESS;
    if (is_known && !is_sound(&a, &info->value))
        return px_err_set(r->err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: attribute %s: its value is of type %s",
                          name_of(info), PMIx_Data_type_string(info->value.type));
    /* Changes of the environment add up. */
    if (r->later && a.apply != set_env &&
        px_info_find(r->later->info, r->later->ninfo, info->key))
        return PMIX_SUCCESS;
    pmix_status_t rc = carry_out(r, &a, info);
    if (rc != PMIX_ERR_NOT_SUPPORTED)
        return rc;
    if (allocates || (info->flags & PMIX_INFO_REQD))
        return px_err_prefix(r->err, "cannot spawn: attribute %s", name_of(info));
    if (r->asked || !r->app || r->app == r->plan->apps) /* log the job's infos once */
        px_log(PX_LOG_WARN, "spawn", "attribute %s has no effect: %s", name_of(info),
               r->err->text);
    return PMIX_SUCCESS;
}

static pmix_status_t read_all(const struct reading *r, const pmix_info_t *info,
                              size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (px_info_str(info, n, PMIX_WDIR) && px_info_flag(info, n, PMIX_SET_SESSION_CWD))
        return px_err_set(r->err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: PMIX_WDIR and PMIX_SET_SESSION_CWD name two "
                          "directories");
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_one(r, &info[i]);
    return rc;
}

pmix_status_t px_attributes_of_job(px_plan *plan, const struct px_spawn_request *req,
                                   struct px_err *err)
{
    const struct reading r = {req, plan, NULL, NULL, NULL, err, NULL};

    return read_all(&r, req->info, req->n_info);
}

pmix_status_t px_attributes_of_app(px_plan *plan, struct px_app_plan *app,
                                   const pmix_app_t *asked,
                                   const struct px_spawn_request *req,
                                   struct px_err *err)
{
    const struct reading of_job = {req, plan, app, NULL, asked, err, NULL};
    const struct reading own = {req, plan, app, asked, NULL, err, NULL};
    pmix_status_t rc = read_all(&of_job, req->info, req->n_info);

    return rc ? rc : read_all(&own, asked->info, asked->ninfo);
}

pmix_status_t px_attributes_agree(const struct px_spawn_request *req,
                                  struct px_err *err)
{
    for (size_t k = 0; k < PX_COUNT(attributes); k++) {
        const pmix_info_t *first = NULL;

        for (size_t i = 0; !attributes[k].of_app && i < req->n_apps; i++) {
            const pmix_info_t *info = px_info_find(
                req->apps[i].info, req->apps[i].ninfo, attributes[k].key);

            if (first && info &&
                px_type_compare(PMIX_VALUE, &first->value, &info->value) != 0)
                return px_err_set(err, PMIX_ERR_BAD_PARAM,
                                  "cannot spawn: the applications contradict each "
                                  "other on attribute %s",
                                  name_of(info));
            first = first ? first : info;
        }
    }
    return PMIX_SUCCESS;
}
