/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of PMIx_Spawn in the built-in host. Tests check the effect of each attribute, for a
 * job and for one application. Tests also check the handling of attributes that the host does not
 * honour. */
#include "jobs.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#include "core/model/nspace.h"
#include "core/server/host.h"
#include "core/topo/topo.h"
#include "core/types/keys.h"

/* ---- scene ----------------------------------------------------------------------- */

static void setup(void)
{
    ck_assert_ptr_nonnull(freopen("/dev/null", "r", stdin));
    setenv("OLD", "old", 1);
    jobs_setup();
}

static void ends_with(pmix_status_t wanted, const char *of_what)
{
    await_any_end();
    ck_assert_msg(seen.verdict == wanted, "%s: %s", of_what,
                  PMIx_Error_string(seen.verdict));
}

/* Spawns a process of a shell script, with infos for the job and for the application. A process
 * that starts has to end with success. */
static pmix_status_t run(const char *script, pmix_info_t *of_job, pmix_info_t *of_app)
{
    PX_AUTOFREE char *shell = realpath("/bin/sh", NULL); /* links are not preloaded */
    pmix_app_t app = shell_of(1, script);

    app.cmd = shell;
    app.info = of_app;
    app.ninfo = of_app ? 1 : 0;
    pmix_status_t rc = PMIx_Spawn(of_job, of_job ? 1 : 0, &app, 1, NULL);

    if (!rc)
        ends_with(PMIX_SUCCESS, script);
    return rc;
}

static const char *write_file(const char *name, const char *text, mode_t mode)
{
    const char *path = px_test_path(name);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, mode);

    ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    return path;
}

static const char *name_of(const char *key)
{
    const struct px_key *known = px_key_by_string(key);

    return known ? known->name : key;
}

/* True if the host announces key for PMIx_Spawn. */
static bool is_announced(const char *key)
{
    PX_AUTOFREE char *name = px_strf(",%s,", name_of(key));

    for (size_t i = 0; i < px_host_builtin.n_support; i++) {
        PX_AUTOFREE char *all = px_strf(",%s,", px_host_builtin.support[i].attributes);

        if (strcmp(px_host_builtin.support[i].function, "PMIx_Spawn") == 0)
            /* Attributes of this library are not in the dictionary. */
            return strstr(all, name) || !px_key_by_string(key);
    }
    return false;
}

/* ---- every attribute ------------------------------------------------------------- */

/* Proof of attributes that the library itself adds. The host reads these attributes, but does not
 * announce them. */
static const char added[] = "true";

struct row {
    const char *key;
    const void *value;
    pmix_data_type_t type;
    /* script that succeeds if the attribute is honoured; NULL: not honoured */
    const char *proof;
};

/* Makes an allocation of one CPU, and sets its id; or releases the allocation. */
static void allocate(pmix_alloc_directive_t directive, char id[PMIX_MAX_NSLEN])
{
    const bool makes = directive == PMIX_ALLOC_NEW;
    pmix_info_t info, *results = NULL;
    uint64_t one = 1;
    size_t n = 0;

    ok(PMIx_Info_load(&info, makes ? PMIX_ALLOC_NUM_CPUS : PMIX_ALLOC_ID,
                      makes ? (void *)&one : id, makes ? PMIX_UINT64 : PMIX_STRING));
    ok(PMIx_Allocation_request(directive, &info, 1, &results, &n));
    if (makes)
        px_str_copy(id, PMIX_MAX_NSLEN, px_info_str(results, n, PMIX_ALLOC_ID));
    PMIx_Info_destruct(&info);
    PMIx_Info_free(results, n);
}

static pmix_status_t plan_for(pmix_info_t *of_job, pmix_info_t *of_app)
{
    char name[] = "true";
    const pmix_app_t app = {
        .cmd = name, .maxprocs = 1, .info = of_app, .ninfo = of_app ? 1 : 0};
    const struct px_spawn_request request = {.model = px_process.model,
                                             .info = of_job,
                                             .n_info = of_job ? 1 : 0,
                                             .apps = &app,
                                             .n_apps = 1,
                                             .own = true};
    PX_AUTO(px_plan) plan = {0};

    return px_plan_make(&plan, &request, NULL);
}

/* Proofs that need hwloc. */
static const char one_cpu[] = "grep -q '^Cpus_allowed_list:.[0-9]*$' /proc/self/status",
                  on_topology[] = "true", on_first[] = "true";

/* A file system may not answer, so only the started process resolves the path. */
PX_TEST(the_server_does_not_look_at_the_path_of_a_program)
{
    static const char *const rows[][3] = {{"/no/such", "/no/dir", "/no/such"},
                                          {"./such", "/no/dir", "/no/dir/./such"},
                                          {"no/such", NULL, "no/such"}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_app_t app = {
            .cmd = (char *)rows[i][0], .cwd = (char *)rows[i][1], .maxprocs = 1};
        const struct px_spawn_request request = {
            .model = px_process.model, .apps = &app, .n_apps = 1};
        PX_AUTO(px_plan) plan = {0};

        ok(px_plan_make(&plan, &request, NULL));
        ck_assert_str_eq(plan.apps[0].program, rows[i][2]);
    }
}

static bool needs_terminal(const struct row *row)
{
    return strcmp(row->key, PMIX_SPAWN_PTY) == 0 ||
           strcmp(row->key, PMIX_PTY_TERMIO) == 0 ||
           strcmp(row->key, PMIX_PTY_WSIZE) == 0;
}

/* Tries an attribute for the job and for the application: optional, required, and with a wrong
 * type. */
static void try_row(const struct row *row)
{
    const bool varies = !px_key_by_string(row->key) ||
                        px_key_by_string(row->key)->type == PMIX_UNDEF;
    const float wrong = 1.5F;

    for (int level = 0; level < 2; level++) {
        for (int how = 0; how < (varies ? 2 : 3); how++) {
            pmix_info_t info;

            ok(PMIx_Info_load(&info, row->key, how == 2 ? &wrong : row->value,
                              how == 2 ? PMIX_FLOAT : row->type));
            if (how == 1)
                PMIx_Info_required(&info);
            pmix_info_t *of_job = level ? NULL : &info, *of_app = level ? &info : NULL;
            pmix_status_t rc = row->proof == added
                                   ? plan_for(of_job, of_app)
                                   : run(row->proof ? row->proof : "true", of_job,
                                         of_app);
            pmix_status_t wanted = how == 2                 ? PMIX_ERR_BAD_PARAM
                                   : row->proof || how == 0 ? PMIX_SUCCESS
                                                            : PMIX_ERR_NOT_SUPPORTED;
            ck_assert_msg(rc == wanted, "%s, level %d, %d: %s", name_of(row->key),
                          level, how, PMIx_Error_string(rc));
            PMIx_Info_destruct(&info);
        }
    }
    ck_assert_msg(is_announced(row->key) == (row->proof && row->proof != added), "%s",
                  name_of(row->key));
}

PX_TEST(each_attribute_is_honoured_or_refused)
{
    char new_name[] = "NEW", old_name[] = "OLD", value[] = "value";
    const pmix_envar_t is_new = {new_name, value, ':'}, is_old = {old_name, value, ':'};
    const uint32_t zero = 0, one = 1, many = 1000;
    const bool yes = true, no = false;
    char allocation[PMIX_MAX_NSLEN] = "";
    pmix_proc_t first, target;
    size_t n_known = 0;
    cpu_set_t cpus;
    bool first_may_be_used = px_topo_possible() &&
                             sched_getaffinity(0, sizeof(cpus), &cpus) == 0 &&
                             CPU_ISSET(0, &cpus);
    const char *hosts = write_file("hosts", "# here\n\n localhost slots=2 # it is\n",
                                   0600);
    const char *agent = write_file("agent", "#!/bin/sh\nAGENT=yes exec \"$@\"\n", 0700);
    const char *out = px_test_path("out");
    struct termios terminal = {.c_cflag = CS8 | CREAD | B38400, .c_cc[VINTR] = 4};
    struct winsize size = {.ws_row = 7, .ws_col = 9};
    const pmix_byte_object_t settings = {(char *)&terminal, sizeof(terminal)},
                             window = {(char *)&size, sizeof(size)};
    const struct row rows[] = {
        {PMIX_WDIR, "/usr", PMIX_STRING, "test $(pwd) = /usr"},
        {PMIX_SET_SESSION_CWD, &yes, PMIX_BOOL,
         "case $(pwd) in */jobs/[1-9]*) ;; *) exit 1;; esac"},
        {PMIX_PREFIX, px_test_dir(), PMIX_STRING,
         "only-here && case $LD_LIBRARY_PATH in */lib*) ;; *) exit 1;; esac"},
        {PMIX_HOST, "localhost:2", PMIX_STRING, "true"},
        {PMIX_HOSTFILE, hosts, PMIX_STRING, "true"},
        {PMIX_ADD_HOST, "localhost", PMIX_STRING, "true"},
        {PMIX_ADD_HOSTFILE, hosts, PMIX_STRING, "true"},
        {PMIX_SET_ENVAR, &is_old, PMIX_ENVAR, "test $OLD = value"},
        {PMIX_ADD_ENVAR, &is_new, PMIX_ENVAR, "test $NEW = value"},
        {PMIX_UNSET_ENVAR, "OLD", PMIX_STRING, "test -z \"$OLD\""},
        {PMIX_PREPEND_ENVAR, &is_old, PMIX_ENVAR, "test $OLD = value:old"},
        {PMIX_APPEND_ENVAR, &is_old, PMIX_ENVAR, "test $OLD = old:value"},
        {PMIX_FIRST_ENVAR, &is_old, PMIX_ENVAR, "test $OLD = value:old"},
        {PMIX_EXEC_AGENT, agent, PMIX_STRING, "test $AGENT = yes -a $PMIX_RANK = 0"},
        {PMIX_NOTIFY_PROC_TERMINATION, &yes, PMIX_BOOL, "true"}, /* others: cross.sh */
        {PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, &yes, PMIX_BOOL, "true"},
        {PMIX_EVENT_SILENT_TERMINATION, &yes, PMIX_BOOL, "true"},
        {PMIX_NOHUP, &yes, PMIX_BOOL, "true"},
        {PMIX_FWD_ENVIRONMENT, &yes, PMIX_BOOL, "test $OLD = old"},
        {PMIX_INDEX_ARGV, &yes, PMIX_BOOL,
         "tr '\\0' ' ' </proc/$$/cmdline | "
         "grep -q '^sh-0 -c'"},
        {PMIX_NON_PMI, &yes, PMIX_BOOL, "test -z \"$PMIX_RANK$PMIX_NAMESPACE\""},
        {PMIX_FWD_STDIN, &yes, PMIX_BOOL, "true"},
        {PMIX_FWD_STDOUT, &yes, PMIX_BOOL, "true"},
        {PMIX_FWD_STDERR, &yes, PMIX_BOOL, "true"},
        {PMIX_STDIN_TGT, &first, PMIX_PROC, "true"},
        {PMIX_CMD_LINE, "run it", PMIX_STRING, "true"},
        {PMIX_SPAWN_CHILD_SEP, &yes, PMIX_BOOL, "true"},
        {PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL, "true"},
        {PMIX_JOB_RECOVERABLE, &yes, PMIX_BOOL, "true"},
        {PMIX_JOB_CONTINUOUS, &yes, PMIX_BOOL, "true"},
        {PMIX_JOB_TIMEOUT, &many, PMIX_UINT32, "true"},
        {PMIX_SPAWN_TIMEOUT, &many, PMIX_UINT32, "true"},
        {PMIX_TIMEOUT, &many, PMIX_UINT32, "true"},
        {PMIX_PRELOAD_BIN, &yes, PMIX_BOOL,
         "case $(readlink /proc/$$/exe) in */jobs/[1-9]*) ;; *) exit 1;; esac"},
        {PMIX_PRELOAD_FILES, hosts, PMIX_STRING, "true"},
        {PMIX_PERSONALITY, "ompi", PMIX_STRING, "true"},
        {PMIX_MAPPER, "round_robin", PMIX_STRING, "true"},
        {PMIX_DISPLAY_MAP, &yes, PMIX_BOOL, "true"},
        {PMIX_REPORT_BINDINGS, &yes, PMIX_BOOL, "true"},
        {PMIX_NO_PROCS_ON_HEAD, &yes, PMIX_BOOL, NULL},
        {PMIX_MAPBY, "hwthread", PMIX_STRING, one_cpu},
        {PMIX_RANKBY, "hwthread", PMIX_STRING, on_topology},
        {PMIX_BINDTO, "hwthread", PMIX_STRING, one_cpu},
        {PMIX_PPR, "1:hwthread", PMIX_STRING, one_cpu},
        {PMIX_CPUS_PER_PROC, &one, PMIX_UINT32, on_topology},
        {PMIX_CPU_LIST, "0", PMIX_STRING, on_first},
        {PMIX_NO_OVERSUBSCRIBE, &yes, PMIX_BOOL, on_topology},
        {PMIX_FWD_STDDIAG, &yes, PMIX_BOOL, "true"},
        {PMIX_TAG_OUTPUT, &yes, PMIX_BOOL, "true"}, /* others: test_output.c */
        {PMIX_IOF_TAG_OUTPUT, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_TAG_FULLNAME_OUTPUT, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_TAG_DETAILED_OUTPUT, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_RANK_OUTPUT, &yes, PMIX_BOOL, "true"},
        {PMIX_TIMESTAMP_OUTPUT, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_TIMESTAMP_OUTPUT, &yes, PMIX_BOOL, "true"},
        {PMIX_MERGE_STDERR_STDOUT, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_MERGE_STDERR_STDOUT, &yes, PMIX_BOOL, "true"},
        {PMIX_SPAWN_PTY, &yes, PMIX_BOOL, "test -t 1 -a ! -t 0 -a ! -t 2"},
        {PMIX_PTY_TERMIO, &settings, PMIX_BYTE_OBJECT,
         "stty -a </dev/tty | grep -q 'intr = ^D'"},
        {PMIX_PTY_WSIZE, &window, PMIX_BYTE_OBJECT,
         "test \"$(stty size </dev/tty)\" = '7 9'"},
        {PMIX_IOF_XML_OUTPUT, &yes, PMIX_BOOL, "true"},
        {TENON_IOF_JSON_OUTPUT, &yes, PMIX_BOOL, "true"},
        {PMIX_ALLOC_NOT_WAITING, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_OUTPUT_RAW, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_BUFFERING_SIZE, &many, PMIX_UINT32, "true"},
        {PMIX_IOF_BUFFERING_TIME, &one, PMIX_UINT32, "true"},
        {PMIX_OUTPUT_TO_FILE, out, PMIX_STRING, "rm out.0"},
        {PMIX_OUTPUT_TO_DIRECTORY, out, PMIX_STRING, "rm out/*/rank.0/stdout"},
        {PMIX_OUTPUT_NOCOPY, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_OUTPUT_TO_FILE, out, PMIX_STRING, "rm out.*.0.stdout"},
        {PMIX_IOF_OUTPUT_TO_DIRECTORY, out, PMIX_STRING, "rm out/*/rank.0/stdout"},
        {PMIX_IOF_FILE_PATTERN, &yes, PMIX_BOOL, "true"},
        {PMIX_IOF_FILE_ONLY, &yes, PMIX_BOOL, "true"},
        {PMIX_MAX_RESTARTS, &many, PMIX_UINT32,
         "mkdir life-$PPID || { rmdir life-$PPID; exit 0; }; exit 1"},
        {PMIX_TIMEOUT_STACKTRACES, &yes, PMIX_BOOL, "true"},
        {PMIX_TIMEOUT_REPORT_STATE, &yes, PMIX_BOOL, "true"},
        {PMIX_NOTIFY_JOB_EVENTS, &yes, PMIX_BOOL, "true"}, /* others: test_debug.c */
        {PMIX_DEBUGGER_DAEMONS, &yes, PMIX_BOOL, "true"},
        {PMIX_DEBUG_TARGET, &target, PMIX_PROC, "true"},
        {PMIX_DEBUG_DAEMONS_PER_NODE, &one, PMIX_UINT32, "true"},
        {PMIX_DEBUG_DAEMONS_PER_PROC, &zero, PMIX_UINT32, "true"},
        {PMIX_DEBUG_STOP_IN_INIT, &zero, PMIX_PROC_RANK, "true"},
        {PMIX_DEBUG_STOP_IN_APP, &zero, PMIX_PROC_RANK, "true"},
        {PMIX_DEBUG_STOP_ON_EXEC, &no, PMIX_BOOL, "true"},
        {PMIX_ALLOC_ID, allocation, PMIX_STRING, one_cpu},
        {PMIX_PARENT_ID, &first, PMIX_PROC, added},
        {PMIX_SPAWNED, &yes, PMIX_BOOL, added},
        {PMIX_REQUESTOR_IS_TOOL, &yes, PMIX_BOOL, added},
        {PMIX_REQUESTOR_IS_CLIENT, &yes, PMIX_BOOL, added},
        {PMIX_USERID, &zero, PMIX_UINT32, added},
        {PMIX_GRPID, &zero, PMIX_UINT32, added},
        {PMIX_WDIR_USER_SPECIFIED, &yes, PMIX_BOOL, added}};

    PX_TEST_NEEDS_PROC;
    px_proc_set(&first, "", 0);
    spawn(1, "exec sleep 60");
    px_proc_set(&target, job_name, PMIX_RANK_WILDCARD);
    ok(mkdir(px_test_path("bin"), 0700));
    (void)write_file("bin/only-here", "#!/bin/sh\n", 0700);
    for (const char *key; (key = px_attribute_key(n_known)); n_known++) {
        size_t i = 0;

        while (i < PX_COUNT(rows) && strcmp(rows[i].key, key) != 0)
            i++;
        ck_assert_msg(i < PX_COUNT(rows), "what is expected of %s?", name_of(key));
        const char *proof = rows[i].proof;
        if (proof == on_first                          ? first_may_be_used
            : proof == one_cpu || proof == on_topology ? px_topo_possible()
                                                       : true)
            if (!needs_terminal(&rows[i]) || px_test_has_terminals()) {
                if (rows[i].value == allocation)
                    allocate(PMIX_ALLOC_NEW, allocation);
                try_row(&rows[i]);
                if (rows[i].value == allocation)
                    allocate(PMIX_ALLOC_RELEASE, allocation);
            }
    }
    ck_assert_uint_eq(n_known, PX_COUNT(rows)); /* the host knows each attribute */
}

/* Values of the right type that request something impossible or make no sense. */
PX_TEST(values_that_cannot_be_honoured_are_refused)
{
    char name[] = "NAME", value[] = "value";
    const pmix_envar_t nameless = {NULL, value, ':'}, empty = {name, NULL, ':'};
    const uint32_t one = 1, minute = 60;
    const pmix_byte_object_t window = {name, sizeof(name)};
    const bool no = false;
    pmix_proc_t all;
    const char *here = px_process.model->hostname;
    PX_AUTOFREE char *foreign = px_strf("localhost,%sx", here),
                     *mine = px_strf(",%s:2,,localhost,", here);
    const struct {
        const char *key;
        const void *value;
        pmix_data_type_t type;
        pmix_status_t status; /* NOT_SUPPORTED: only if the attribute is required */
    } rows[] = {
        {PMIX_HOST, mine, PMIX_STRING, PMIX_SUCCESS},
        {PMIX_HOST, foreign, PMIX_STRING, PMIX_ERR_JOB_ALLOC_FAILED},
        {PMIX_HOSTFILE, write_file("two", "localhost\nnode7 slots=2\n", 0600),
         PMIX_STRING, PMIX_ERR_JOB_ALLOC_FAILED},
        {PMIX_HOSTFILE, write_file("none", "# none\n", 0600), PMIX_STRING,
         PMIX_ERR_JOB_ALLOC_FAILED},
        {PMIX_HOSTFILE, "/no/such/file", PMIX_STRING, PMIX_ERR_JOB_ALLOC_FAILED},
        {PMIX_HOSTFILE, "/", PMIX_STRING, PMIX_ERR_JOB_ALLOC_FAILED},
        {PMIX_ADD_HOST, foreign, PMIX_STRING, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_ADD_HOSTFILE, "/no/such/file", PMIX_STRING, PMIX_ERR_JOB_ALLOC_FAILED},
        {PMIX_ADD_HOSTFILE, write_file("more", "localhost\nnode7\n", 0600), PMIX_STRING,
         PMIX_ERR_NOT_SUPPORTED},
        {PMIX_WDIR, "/no/such/dir", PMIX_STRING, PMIX_ERR_JOB_WDIR_NOT_FOUND},
        {PMIX_PREFIX, "/etc/passwd", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_PREFIX, "relative", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_SET_ENVAR, &nameless, PMIX_ENVAR, PMIX_ERR_BAD_PARAM},
        {PMIX_ADD_ENVAR, &empty, PMIX_ENVAR, PMIX_ERR_BAD_PARAM},
        {PMIX_APPEND_ENVAR, &empty, PMIX_ENVAR, PMIX_ERR_BAD_PARAM},
        {PMIX_UNSET_ENVAR, "A=B", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_UNSET_ENVAR, "", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_STDIN_TGT, &all, PMIX_PROC, PMIX_SUCCESS},
        {PMIX_STDIN_TGT, &one, PMIX_UINT32, PMIX_ERR_BAD_PARAM},
        {PMIX_PTY_WSIZE, &window, PMIX_BYTE_OBJECT, PMIX_ERR_BAD_PARAM},
        {PMIX_FWD_STDIN, &no, PMIX_BOOL, PMIX_SUCCESS},
        {PMIX_FWD_STDOUT, &no, PMIX_BOOL, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_FWD_STDERR, &no, PMIX_BOOL, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_TAG_OUTPUT, &no, PMIX_BOOL, PMIX_SUCCESS},
        {PMIX_MAPBY, "foo", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_MAPBY, "rankfile", PMIX_STRING, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_RANKBY, "foo", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_BINDTO, "none:foo", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_BINDTO, "cpu-list", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_PPR, "many:node", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_MAPPER, "seq", PMIX_STRING, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_MAPPER, "ppr", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_CPU_LIST, "-1", PMIX_STRING, PMIX_ERR_BAD_PARAM},
        {PMIX_NO_PROCS_ON_HEAD, &no, PMIX_BOOL, PMIX_SUCCESS},
        {PMIX_ALLOC_TIME, &minute, PMIX_UINT32, PMIX_ERR_NOT_SUPPORTED}, /* always */
        {"no.such.key", &no, PMIX_BOOL, PMIX_SUCCESS},
        {"no.such.key", "x", PMIX_STRING, PMIX_ERR_NOT_SUPPORTED}};

    px_proc_set(&all, "", PMIX_RANK_WILDCARD);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        for (int how = 0; how < 4; how++) {
            pmix_info_t info;

            ok(PMIx_Info_load(&info, rows[i].key, rows[i].value, rows[i].type));
            if (how & 1)
                PMIx_Info_required(&info);
            pmix_status_t rc = run("true", how & 2 ? NULL : &info,
                                   how & 2 ? &info : NULL);
            bool has_no_effect = !(how & 1) &&
                                 rows[i].status == PMIX_ERR_NOT_SUPPORTED &&
                                 strcmp(rows[i].key, PMIX_ALLOC_TIME) != 0;
            ck_assert_msg(rc == (has_no_effect ? PMIX_SUCCESS : rows[i].status),
                          "row %zu, %d: %s", i, how, PMIx_Error_string(rc));
            PMIx_Info_destruct(&info);
        }
    }
}

/* ---- levels ---------------------------------------------------------------------- */

/* An attribute of the application overrides the attribute of the job. Both override the directory
 * of the application, which libraries fill in. */
PX_TEST(the_word_of_the_application_wins)
{
    const bool yes = true, no = false;
    pmix_info_t of_job, of_app;

    ok(PMIx_Info_load(&of_job, PMIX_WDIR, "/usr", PMIX_STRING));
    ok(PMIx_Info_load(&of_app, PMIX_WDIR, "/etc", PMIX_STRING));
    ok(run("test $(pwd) = /etc", &of_job, &of_app));
    PMIx_Info_destruct(&of_app);
    ok(PMIx_Info_load(&of_app, PMIX_SET_SESSION_CWD, &yes, PMIX_BOOL));
    ok(run("case $(pwd) in */jobs/[1-9]*) ;; *) exit 1;; esac", &of_job, &of_app));
    PMIx_Info_destruct(&of_app);
    PMIx_Info_destruct(&of_job);
    ok(PMIx_Info_load(&of_job, PMIX_NON_PMI, &yes, PMIX_BOOL));
    ok(PMIx_Info_load(&of_app, PMIX_NON_PMI, &no, PMIX_BOOL));
    ok(run("test $PMIX_RANK = 0", &of_job, &of_app));
    ok(PMIx_Info_load(&of_job, PMIX_RANKBY, "nowhere", PMIX_STRING));
    ok(PMIx_Info_load(&of_app, PMIX_RANKBY, "slot", PMIX_STRING));
    ok(run("true", &of_job, &of_app));
    PMIx_Info_destruct(&of_app);
    PMIx_Info_destruct(&of_job);
    ok(PMIx_Info_load(&of_job, PMIX_HOST, "nowhere", PMIX_STRING));
    ok(PMIx_Info_load(&of_app, PMIX_HOST, "localhost", PMIX_STRING));
    ok(run("true", &of_job, &of_app));
    PMIx_Info_destruct(&of_app);
    PMIx_Info_destruct(&of_job);
}

PX_TEST(contradictions_are_refused)
{
    const bool yes = true, no = false;
    char sh[] = "true";
    pmix_info_t two[2];
    pmix_app_t apps[2] = {{.cmd = sh, .maxprocs = 1, .info = &two[0], .ninfo = 1},
                          {.cmd = sh, .maxprocs = 1, .info = &two[1], .ninfo = 1}};

    ok(PMIx_Info_load(&two[0], PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL));
    ok(PMIx_Info_load(&two[1], PMIX_NOTIFY_COMPLETION, &no, PMIX_BOOL));
    fails(PMIx_Spawn(NULL, 0, apps, 2, NULL), BAD_PARAM);
    ok(PMIx_Info_load(&two[0], PMIX_FWD_STDIN, &yes, PMIX_BOOL));
    ok(PMIx_Info_load(&two[1], PMIX_FWD_STDIN, &yes, PMIX_BOOL));
    fails(PMIx_Spawn(NULL, 0, apps, 2, NULL), NOT_SUPPORTED);
    ok(PMIx_Spawn(two, 1, apps, 1, NULL));
    ends_with(PMIX_SUCCESS, "input for one application");
    ok(PMIx_Info_load(&two[0], PMIX_WDIR, "/usr", PMIX_STRING));
    ok(PMIx_Info_load(&two[1], PMIX_SET_SESSION_CWD, &yes, PMIX_BOOL));
    fails(PMIx_Spawn(two, 2, apps, 1, NULL), BAD_PARAM);
    PMIx_Info_destruct(&two[0]);
}

static px_plan plan_of(pmix_info_t *of_job, pmix_info_t *of_app)
{
    char name[] = "true";
    const pmix_app_t apps[2] = {
        {.cmd = name, .maxprocs = 2},
        {.cmd = name, .maxprocs = 2, .info = of_app, .ninfo = of_app ? 1 : 0}};
    const struct px_spawn_request request = {.model = px_process.model,
                                             .info = of_job,
                                             .n_info = of_job ? 1 : 0,
                                             .apps = apps,
                                             .n_apps = 2,
                                             .own = true};
    px_plan plan = {0};

    ok(px_plan_make(&plan, &request, NULL));
    px_plan done = plan;
    px_plan_cleanup(&done);
    return plan; /* cleanup has freed the applications */
}

/* An attribute of the job works at either level. The second application may override the job. */
PX_TEST(attributes_of_the_job_may_stand_at_an_application)
{
    static const struct {
        const char *key;
        size_t offset;
    } rows[] = {{PMIX_NOTIFY_COMPLETION, offsetof(px_plan, notify)},
                {PMIX_SPAWN_CHILD_SEP, offsetof(px_plan, detached)},
                {PMIX_JOB_RECOVERABLE, offsetof(px_plan, recoverable)},
                {PMIX_JOB_CONTINUOUS, offsetof(px_plan, continuous)}};
    bool flag = true;
    pmix_info_t yes, no;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(PMIx_Info_load(&yes, rows[i].key, &flag, PMIX_BOOL));
        ok(PMIx_Info_load(&no, rows[i].key, &(bool){false}, PMIX_BOOL));
        for (int how = 0; how < 4; how++) {
            const px_plan plan = plan_of(how & 1 ? &yes : NULL,
                                         how & 2 ? (how & 1 ? &no : &yes) : NULL);

            ck_assert_msg(*(const bool *)((const char *)&plan + rows[i].offset) ==
                              (how == 1 || how == 2),
                          "%s, %d", rows[i].key, how);
        }
    }
    ok(PMIx_Info_load(&yes, PMIX_FWD_STDIN, &flag, PMIX_BOOL));
    ck_assert_uint_eq(plan_of(NULL, NULL).stdin_rank, PMIX_RANK_UNDEF);
    ck_assert_uint_eq(plan_of(&yes, NULL).stdin_rank, 0);
    ck_assert_uint_eq(plan_of(&yes, &yes).stdin_rank, 2);
}

/* ---- by a process of a job ------------------------------------------------------- */

/* The client does not get this program's environment. Streams are forwarded to the client. */
PX_TEST(a_client_may_not_require_what_only_this_program_gets)
{
    static const char *const keys[] = {PMIX_FWD_ENVIRONMENT, PMIX_FWD_STDIN,
                                       PMIX_FWD_STDOUT, PMIX_FWD_STDERR,
                                       PMIX_FWD_STDDIAG};
    char name[] = "true";
    pmix_app_t app = {.cmd = name, .maxprocs = 1};
    pmix_proc_t client;

    px_proc_set(&client, "a-job", 1);
    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        for (int how = 0; how < 4; how++) {
            const bool value = how & 2;
            pmix_info_t info;

            ok(PMIx_Info_load(&info, keys[i], &value, PMIX_BOOL));
            if (how & 1)
                PMIx_Info_required(&info);
            pmix_status_t rc = spawn_by(&client, &info, 1, &app);
            ck_assert_int_eq(rc, how == 3 && i == 0 ? PMIX_ERR_NOT_SUPPORTED
                                                    : PMIX_SUCCESS);
            if (!rc)
                ends_with(PMIX_SUCCESS, keys[i]);
        }
    }
}

/* ---- time limits ----------------------------------------------------------------- */

/* The kernel delays the start of a program while another process holds a lease on the file. Here
 * the lease lasts until the call returns. */
PX_TEST(a_launch_that_takes_too_long_fails)
{
    static const char *const keys[] = {PMIX_SPAWN_TIMEOUT, PMIX_TIMEOUT};

    signal(SIGIO, SIG_IGN); /* the kernel asks the holder of a lease by SIGIO */
    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        const char *path = write_file(keys[i], "#!/bin/sh\nexec sleep 20\n", 0700);
        const pmix_app_t app = {.cmd = (char *)path, .maxprocs = 2};
        PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
        pmix_info_t info[2];

        PX_TEST_NEEDS(fcntl(fd, F_SETLEASE, F_WRLCK) == 0, "a file system with leases");
        ok(PMIx_Info_load(&info[0], keys[i], &(uint32_t){1}, PMIX_UINT32));
        ok(PMIx_Info_load(&info[1], PMIX_TIMEOUT_REPORT_STATE, NULL, PMIX_BOOL));
        PMIx_Info_required(&info[0]);
        fails(PMIx_Spawn(info, 2, &app, 1, NULL), TIMEOUT);
    }
}

PX_TEST_MAIN("host/attributes", setup, jobs_teardown)
