/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment of children, and the contents of a launch. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/server/fabric/job.h"
#include "fake_host.h"
#include "pmix_envars.h"
#include "pmix_version.h"
#include "raw.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(void)
{
    sem_init(&raw_ended, 0, 0);
    raw_start(&host_module, 3, 0);
}

/* ---- children -------------------------------------------------------------------------------- */

/* Returns the value of a variable, or NULL. The variable must not occur twice. */
static const char *value(char *const *env, const char *name)
{
    const char *found = NULL;
    size_t n = strlen(name);

    for (; *env; env++) {
        if (strncmp(*env, name, n) != 0 || (*env)[n] != '=')
            continue;
        ck_assert_msg(!found, "%s is there twice", name);
        found = *env + n + 1;
    }
    return found;
}

PX_TEST(a_child_gets_exactly_what_the_protocol_asks_for)
{
    PX_AUTO(px_strv) env = NULL;
    pmix_proc_t p = raw_proc("job", 1);

    setenv("PMIX_SERVER_TMPDIR", "/tmp", 1);
    setenv("PMIX_SYSTEM_TMPDIR", "/var/tmp", 1);
    start();
    const char *uri = px_process.server->uri;
    const struct {
        const char *name, *value;
    } vars[] = {
        {"PMIX_NAMESPACE", "job"},
        {"PMIX_RANK", "1"},
        {"PMIX_ID", "job.1"},
        {"PMIX_SECURITY_MODE", "native"},
        {"PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC"},
        {"PMIX_GDS_MODULE", "shm,hash"},
        {"PMIX_VERSION", TENON_CLAIMED_VERSION},
        {"PMIX_SERVER_URI41", uri},
        {"PMIX_SERVER_URI4", uri},
        {"PMIX_SERVER_URI3", uri},
        {"PMIX_SERVER_URI21", uri},
        {"PMIX_SERVER_URI2", uri},
        {"TENON_SERVER_URI", px_process.server->own_uri},
        {"PMIX_SERVER_TMPDIR", "/tmp"},
        {"PMIX_SYSTEM_TMPDIR", "/var/tmp"},
        {"PMIX_HOSTNAME", px_process.host},
    };
    ok(PMIx_server_setup_fork(&p, &env));
    for (size_t i = 0; i < PX_COUNT(vars); i++)
        ck_assert_pstr_eq(value(env, vars[i].name), vars[i].value);
    ck_assert_uint_eq(px_strv_count(env), PX_COUNT(vars));
}

PX_TEST(an_outer_servers_traces_go_and_everything_else_stays)
{
    static const char *const vars[] = {"PATH=/bin",
                                       "PMIX_MCA_ptl=tcp",
                                       "URI=PMIX_SERVER_URI",
                                       "PMIX_SERVER_URi2=x",
                                       "PMIX_SERVER_URI2=x",
                                       "PMIX_SERVER_URI61=x",
                                       "PMIX_SERVER_URI=x",
                                       "PMIX_SERVER_URI3=x",
                                       "PMIX_DSTORE_21_BASE_PATH=/x",
                                       "TENON_SERVER_URI=x;y",
                                       "TENON_TIMELINE=1",
                                       "PMIX_NAMESPACE=outer",
                                       "PMIX_ID=outer.7",
                                       "PMIX_MCA_server_report_uri=7",
                                       "PMIX_MCA_ptl_base_report_uri=7",
                                       "PMIX_MCA_ptl_tcp_report_uri=7"};
    enum { N_OTHERS = 4 };
    PX_AUTO(px_strv) env = NULL;
    pmix_proc_t p = raw_proc("job", 0);

    for (size_t i = 0; i < PX_COUNT(vars); i++)
        ok(px_strv_append(&env, vars[i]));
    /* Without a faster transport, TENON_SERVER_URI is not set. */
    setenv("PMIX_MCA_ptl", "tcp", 1);
    start();
    ok(PMIx_server_setup_fork(&p, &env));
    ok(PMIx_server_setup_fork(&p, &env)); /* the second call changes nothing */
    for (size_t i = 0; i < PX_COUNT(vars); i++)
        ck_assert_msg(px_strv_has(env, vars[i]) == (i < N_OTHERS), "%s", vars[i]);
    ck_assert_str_eq(value(env, "PMIX_SERVER_URI2"), px_process.server->uri);
    ck_assert_ptr_null(value(env, "PMIX_SERVER_URI61"));
    ck_assert_ptr_null(value(env, "TENON_SERVER_URI"));
    ck_assert_str_eq(value(env, "PMIX_NAMESPACE"), "job");
    ck_assert_str_eq(value(env, "PMIX_ID"), "job.0");
}

PX_TEST(it_works_in_a_forked_child_where_some_hosts_call_it)
{
    pmix_proc_t p = raw_proc("job", 0);
    int status;

    start();
    pid_t pid = fork();
    if (pid == 0) {
        char **env = NULL;

        _exit(PMIx_server_setup_fork(&p, &env) || !value(env, "PMIX_SERVER_URI41"));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ok(WEXITSTATUS(status));
}

/* ---- contents of a launch -------------------------------------------------------------------- */

static const pmix_nspace_t job = "job";
static px_infos gathered; /* result of the last setup_application */

static void on_gathered(pmix_status_t status, pmix_info_t l[], size_t n, void *cbdata,
                        pmix_op_cbfunc_t cb, void *their_cbdata)
{
    px_infos_cleanup(&gathered);
    ok(px_infos_add_copy(&gathered, l, n));
    if (cb)
        cb(PMIX_SUCCESS, their_cbdata);
    raw_on_end(status, cbdata);
}

/* Gathers for a job. The result is in gathered. */
static pmix_status_t gather(const char *nspace, const pmix_info_t *info, size_t n)
{
    pmix_proc_t p = raw_proc(nspace, 0);
    pmix_status_t rc = PMIx_server_setup_application(p.nspace, (pmix_info_t *)info, n,
                                                     on_gathered, &raw_ended);

    return rc ? rc : raw_await_end();
}

PX_TEST(nothing_need_go_along_with_a_launch)
{
    static const pmix_nspace_t empty = "";
    pmix_proc_t p = raw_proc("job", 0);
    char **env = NULL;

    start();
    ok(gather("job", NULL, 0));
    ck_assert_uint_eq(gathered.n, 0);
    ok(PMIx_server_setup_local_support(job, NULL, 0, raw_on_end, &raw_ended));
    ok(raw_await_end());
    at_once(PMIx_server_setup_local_support(job, NULL, 0, NULL, NULL));
    fails(PMIx_server_setup_application(job, NULL, 0, NULL, NULL), BAD_PARAM);
    fails(PMIx_server_setup_application(empty, NULL, 0, on_gathered, &raw_ended),
          BAD_PARAM);
    fails(PMIx_server_setup_local_support(job, NULL, 1, raw_on_end, &raw_ended),
          BAD_PARAM);
    fails(PMIx_server_setup_application(job, NULL, 1, on_gathered, &raw_ended),
          BAD_PARAM);
    /* An error does not also call back. */
    ck_assert_int_eq(sem_trywait(&raw_ended), -1);
    raw_server_stop();
    fails(PMIx_server_setup_fork(&p, &env), INIT);
    fails(PMIx_server_setup_application(job, NULL, 0, on_gathered, &raw_ended), INIT);
    fails(PMIx_server_setup_local_support(job, NULL, 0, NULL, NULL), INIT);
    ck_assert_ptr_null(env);
}

/* ---- forwarded variables ---------------------------------------------------------------------- */

static px_infos of_host; /* infos of each launch */

static void launch(const char *nspace)
{
    pmix_proc_t p = raw_proc(nspace, 0);

    ok(gather(nspace, of_host.v, of_host.n));
    at_once(
        PMIx_server_setup_local_support(p.nspace, gathered.v, gathered.n, NULL, NULL));
}

/* Returns the environment of rank 0 of a job. It contains entry from the beginning, if entry is not
 * NULL. */
static char **child_env(const char *nspace, const char *entry)
{
    pmix_proc_t p = raw_proc(nspace, 0);
    char **env = NULL;

    if (entry)
        ok(px_strv_append(&env, entry));
    ok(PMIx_server_setup_fork(&p, &env));
    return env;
}

static const char *const named[] = {"FW_A", "FW_B",  "FW_AB",  "FW_ABC",
                                    "FWX",  "LD_FW", "PMIX_FW"};

/* Launches a job, and checks the names of the variables above that the job gets. */
static void got(const char *nspace, const char *wanted, const char *why)
{
    launch(nspace);
    PX_AUTO(px_strv) env = child_env(nspace, NULL);
    char names[128] = "";

    for (size_t i = 0; i < PX_COUNT(named); i++) {
        const char *v = value(env, named[i]);

        if (v)
            ck_assert_str_eq(v, getenv(named[i]));
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
                 v && names[0] ? " " : "", v ? named[i] : "");
    }
    ck_assert_msg(strcmp(names, wanted) == 0, "%s: %s, not %s", why, names, wanted);
}

static const struct {
    const char *pattern, *exclude;
    const char *wanted; /* NULL: the pattern is refused */
} patterns[] = {
    {"FW_A", NULL, "FW_A"},
    {"FW_A;FW_B", NULL, "FW_A FW_B"},
    {";FW_A;;", NULL, "FW_A"},
    {"FW_?", NULL, "FW_A FW_B"},
    {"FW_A*", NULL, "FW_A FW_AB FW_ABC"},
    {"FW_*", NULL, "FW_A FW_B FW_AB FW_ABC"},
    {"FW*", NULL, "FW_A FW_B FW_AB FW_ABC FWX"},
    {"FW??", NULL, "FW_A FW_B"},
    {"?W?", NULL, "FWX"},
    {"FW_?*", NULL, "FW_A FW_B FW_AB FW_ABC"},
    {"FW_AB?*", NULL, "FW_ABC"},
    {"fw_a", NULL, ""},
    {"FW_", NULL, ""},
    {"one", NULL, ""}, /* a value, not a name */
    {"FW_*;!FW_A*", NULL, "FW_B"},
    {"^FW_B;FW_?", NULL, "FW_A"},
    {"FW_*", "FW_A?*;FW_B", "FW_A"},
    {"*", "A*;B*;H*;P*;T*", "FW_A FW_B FW_AB FW_ABC FWX"},
    {"LD_*", NULL, ""},
    {"LD_FW", NULL, "LD_FW"},
    {"PMIX_F?;PMIX_*", NULL, ""},
    {"FW*B", NULL, NULL},
    {"FW_A=one", NULL, NULL},
    {"FW_A;=", NULL, NULL},
    {"FW_[AB]", NULL, NULL},
    {"FW_A B", NULL, NULL},
    {"!", NULL, NULL},
    {"", NULL, NULL},
    {";", NULL, NULL},
    {"FW_A;PMIX_FOO", NULL, NULL},
    {"FW_A", "*A", NULL},
};

PX_TEST_LOOP(variables_whose_names_fit_are_forwarded, PX_COUNT(patterns))
{
    const char *exclude = patterns[_i].exclude, *wanted = patterns[_i].wanted;
    pmix_info_t without = {
        .key = PMIX_FORWARD_ENVARS_EXCLUDE,
        .value = {.type = PMIX_STRING, .data.string = (char *)exclude}};

    for (size_t i = 0; i < PX_COUNT(named); i++)
        setenv(named[i], i % 2 ? "two" : "one", 1);
    start();
    pmix_status_t rc = PMIx_Forward_envars(job, patterns[_i].pattern, &without,
                                           !!exclude);
    ck_assert_int_eq(rc, wanted ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
    got("job", wanted ? wanted : "", patterns[_i].pattern);
    got("other", "", "another job");
}

/* The parameter falls back to its default, so forwarding stays possible. */
PX_TEST(a_parameter_that_is_no_pattern_does_not_end_forwarding)
{
    setenv("FW_A", "one", 1);
    setenv("PMIX_MCA_forward_envars", "A*B", 1);
    start();
    ok(PMIx_Forward_envars(job, "FW_A", NULL, 0));
    got("job", "FW_A", "a pattern");
}

PX_TEST(what_is_forwarded_adds_up_and_ends_with_the_job)
{
    pmix_info_t unknown = {.key = "unknown", .flags = PMIX_INFO_REQD};

    setenv("FW_A", "one", 1);
    setenv("PMIX_MCA_forward_envars", "FWX", 1);
    setenv("PMIX_MCA_forward_envars_exclude", "FW_B", 1);
    start();
    unsetenv("FW_ABC");
    ok(PMIx_Forward_envars(job, "FW_A", NULL, 0));
    ok(PMIx_Forward_envars(job, "FW_?;FW_ABC", NULL, 0));
    setenv("FW_ABC", "late", 1); /* the value at the time of gathering counts */
    setenv("FWX", "by parameter", 1);
    got("job", "FW_A FW_ABC FWX", "three patterns");
    got("other", "FWX", "another job");
    fails(PMIx_Forward_envars(job, "FW_B;*B", NULL, 0), BAD_PARAM);
    fails(PMIx_Forward_envars(job, "FW_B", &unknown, 1), NOT_SUPPORTED);
    unknown.flags = 0;
    ok(PMIx_Forward_envars(job, "FW_ABC", &unknown, 1));
    raw_drop_job("job");
    raw_add_job("job", 3, 0, geteuid());
    got("job", "FWX", "another job of that name");
}

/* A value that the child's environment has is kept, unless this process has the same value. */
PX_TEST(what_is_set_for_the_application_stays)
{
    static const struct {
        const char *entry, *wanted;
    } rows[] = {
        {NULL, "theirs"}, {"FW_A=ours", "theirs"}, {"FW_A=set", "set"}, {"FW_A=", ""}};

    setenv("FW_A", "theirs", 1);
    start();
    ok(PMIx_Forward_envars(job, "FW_A", NULL, 0));
    launch("job");
    setenv("FW_A", "ours", 1); /* value on this node */
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        char **env = child_env("job", rows[i].entry);

        ck_assert_str_eq(value(env, "FW_A"), rows[i].wanted);
        px_strv_free(env);
    }
}

/* ---- the job as components see it -------------------------------------------------------------- */

static px_infos describe(const char *nodes, const char *ranks)
{
    px_infos infos = {0};

    if (nodes)
        ok(px_infos_add(&infos, PMIX_NODE_MAP, nodes, PMIX_STRING));
    if (ranks)
        ok(px_infos_add(&infos, PMIX_PROC_MAP, ranks, PMIX_STRING));
    return infos;
}

/* Makes the view of a job with these maps, on this host. */
static void see(px_job_view *view, const char *host, const char *nodes,
                const char *ranks)
{
    PX_AUTO(px_infos) infos = describe(nodes, ranks);
    struct px_err err;

    ok(px_job_view_of_infos(view, host, "job", infos.v, infos.n, &err));
}

static const struct {
    const char *host;
    uint32_t node;
} hosts[] = {{"b", 2}, {"b.cluster", 2}, {"elsewhere", UINT32_MAX}};

PX_TEST_LOOP(components_get_the_places_of_ranks, PX_COUNT(hosts))
{
    static const uint32_t node_of[] = {0, 1, 0, UINT32_MAX, 2},
                          local_of[] = {0, 0, 1, UINT32_MAX, 0};
    static const char *const one_map[][2] = {
        {NULL, NULL}, {"a,b", NULL}, {NULL, "0;1"}};
    PX_AUTO(px_job_view) view = {0};

    see(&view, hosts[_i].host, "a,c,b", "0,2;1;4");
    ck_assert_uint_eq(view.job.n_nodes, 3);
    ck_assert_uint_eq(view.job.n_procs, PX_COUNT(node_of));
    ck_assert_uint_eq(view.job.most_on_a_node, 2);
    ck_assert_uint_eq(view.job.this_node, hosts[_i].node);
    ck_assert_uint_eq(view.job.n_info, 2);
    ck_assert_str_eq(view.job.nodes[1], "c");
    ck_assert_mem_eq(view.job.node_of, node_of, sizeof(node_of));
    ck_assert_mem_eq(view.job.local_of, local_of, sizeof(local_of));
    for (size_t i = 0; i < PX_COUNT(one_map); i++) {
        px_job_view_cleanup(&view);
        see(&view, "b", one_map[i][0], one_map[i][1]);
        ck_assert(view.job.n_nodes == 0 && !view.job.nodes && !view.job.node_of);
        ck_assert_uint_eq(view.job.this_node, UINT32_MAX);
    }
}

PX_TEST(a_spawned_job_gets_what_was_to_go_to_its_parents)
{
    pmix_proc_t procs[] = {raw_proc("mother", 3), raw_proc("father", 0)};
    char *names[] = {(char *)"mother", (char *)"father"};
    pmix_data_array_t arrays[] = {{PMIX_PROC, 2, procs}, {PMIX_STRING, 2, names}};
    const struct {
        pmix_data_type_t type;
        const void *data;
        const char *wanted;
    } rows[] = {{PMIX_PROC, &procs[0], "FW_A"},
                {PMIX_STRING, "father", "FW_B"},
                {PMIX_PROC_NSPACE, procs[0].nspace, "FW_A"},
                {PMIX_DATA_ARRAY, &arrays[0], "FW_A FW_B"},
                {PMIX_DATA_ARRAY, &arrays[1], "FW_A FW_B"}};

    for (size_t i = 0; i < PX_COUNT(named); i++)
        setenv(named[i], "one", 1);
    start();
    ok(PMIx_Forward_envars("mother", "FW_A", NULL, 0));
    ok(PMIx_Forward_envars("father", "FW_B", NULL, 0));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_infos_cleanup(&of_host);
        ok(px_infos_add(&of_host, PMIX_PARENT_ID, rows[i].data, rows[i].type));
        got("child", rows[i].wanted, PMIx_Data_type_string(rows[i].type));
    }
    px_infos_cleanup(&of_host);
    got("orphan", "", "no parent");
}

PX_TEST(what_describes_no_job_is_refused)
{
    uint32_t number = 7;
    char longer[PMIX_MAX_NSLEN + 2];
    pmix_data_array_t numbers = {PMIX_UINT32, 1, &number};
    const struct {
        const char *key;
        pmix_data_type_t type;
        const void *data;
    } rows[] = {{PMIX_PARENT_ID, PMIX_UINT32, &number},
                {PMIX_PARENT_ID, PMIX_STRING, ""},
                {PMIX_PARENT_ID, PMIX_STRING, longer},
                {PMIX_PARENT_ID, PMIX_DATA_ARRAY, &numbers},
                {PMIX_NODE_MAP, PMIX_UINT32, &number},
                {PMIX_PROC_MAP, PMIX_UINT32, &number},
                {PMIX_PROC_MAP, PMIX_STRING, "0;0"}};

    memset(longer, 'n', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    start();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = describe("a,b", NULL);

        ok(px_infos_add(&infos, rows[i].key, rows[i].data, rows[i].type));
        ck_assert_msg(gather("job", infos.v, infos.n) == PMIX_ERR_BAD_PARAM, "row %zu",
                      i);
    }
}

/* ---- variables of single ranks ----------------------------------------------------------------- */

/* Three ranks are local, two are not. The job is registered before or after the node is prepared. */
PX_TEST_LOOP(each_rank_has_the_ports_that_the_host_asked_for, 2)
{
    static const char *const own[] = {"7000-7001", "7002-7003", "7004-7005", NULL};
    const size_t per_proc = 2, per_node = 1;
    PX_AUTO(px_infos) request = {0};

    setenv("PMIX_MCA_pnet_ports_tcp", "7000-7013", 1); /* ports for two jobs */
    start();
    PX_AUTOFREE char *nodes = px_strf("%s,other", px_process.host);
    of_host = describe(nodes, "0-2;3-4");
    ok(px_infos_add(&request, PMIX_ALLOC_FABRIC_ID, "net", PMIX_STRING));
    ok(px_infos_add(&request, PMIX_ALLOC_FABRIC_TYPE, "tcp", PMIX_STRING));
    ok(px_infos_add(&request, PMIX_ALLOC_FABRIC_ENDPTS, &per_proc, PMIX_SIZE));
    ok(px_infos_add(&request, PMIX_ALLOC_FABRIC_ENDPTS_NODE, &per_node, PMIX_SIZE));
    ok(px_infos_add_array(&of_host, PMIX_ALLOC_FABRIC, &request));
    if (_i == 0)
        raw_add_job("net", 3, 2, geteuid());
    launch("net");
    if (_i == 1)
        raw_add_job("net", 3, 2, geteuid());
    raw_on_loop(NULL, NULL);
    for (pmix_rank_t r = 0; r < PX_COUNT(own); r++) {
        pmix_proc_t p = raw_proc("net", r);
        PX_AUTO(px_strv) env = NULL;

        ok(PMIx_server_setup_fork(&p, &env));
        ck_assert_pstr_eq(value(env, "PNET_TCP_PORTS"), own[r]);
        ck_assert_pstr_eq(value(env, "PNET_JOB_TCP_PORTS"), "7000-7006");
    }
    launch("elsewhere"); /* this node has no part in the job */
    raw_drop_job("elsewhere");
    raw_drop_job("net");
    raw_add_job("net", 3, 2, geteuid());
    launch("net");
    PX_AUTO(px_strv) env = child_env("net", NULL);
    ck_assert_pstr_eq(value(env, "PNET_JOB_TCP_PORTS"), "7000-7006");
    px_infos_cleanup(&of_host);
}

/* ---- directives of hosts ---------------------------------------------------------------------- */

PX_TEST(what_the_host_asks_for_is_gathered)
{
    static const struct {
        const char *keys[2];
        bool envars;
    } rows[] = {{{PMIX_SETUP_APP_ENVARS}, true},
                {{PMIX_SETUP_APP_NONENVARS}, false},
                {{PMIX_SETUP_APP_ALL}, true},
                {{PMIX_SETUP_APP_NONENVARS, PMIX_SETUP_APP_ALL}, true},
                {{PMIX_SETUP_APP_NONENVARS, PMIX_SETUP_APP_ENVARS}, true}};

    setenv("FW_A", "theirs", 1);
    start();
    ok(PMIx_Forward_envars(job, "FW_A", NULL, 0));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_info_t info[2] = {0};
        size_t n = rows[i].keys[1] ? 2 : 1;

        for (size_t k = 0; k < n; k++)
            ok(PMIx_Info_load(&info[k], rows[i].keys[k], NULL, PMIX_BOOL));
        ok(gather("job", info, n));
        ck_assert_msg((gathered.n == 1) == rows[i].envars, "row %zu", i);
    }
}

/* The type is unknown to all components, or missing. */
PX_TEST(fabric_resources_that_no_component_has_are_an_error_if_required)
{
    static const struct {
        const char *type;
        bool required;
        pmix_status_t rc;
    } rows[] = {
        {"ib", true, PMIX_ERR_NOT_SUPPORTED}, {"ib", false, 0}, {NULL, true, 0}};

    start();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = {0}, request = {0};

        ok(px_infos_add(&request, PMIX_ALLOC_FABRIC_ID, "net", PMIX_STRING));
        ok(px_infos_add(
            &request, rows[i].type ? PMIX_ALLOC_FABRIC_TYPE : PMIX_ALLOC_FABRIC_SEC_KEY,
            rows[i].type ? rows[i].type : "yes", PMIX_STRING));
        ok(px_infos_add_array(&infos, PMIX_ALLOC_FABRIC, &request));
        infos.v[0].flags = rows[i].required ? PMIX_INFO_REQD : 0;
        ck_assert_msg(gather("job", infos.v, infos.n) == rows[i].rc, "row %zu", i);
    }
}

PX_TEST(variables_that_no_component_forwards_are_an_error)
{
    pmix_info_t envars = {.key = PMIX_SETUP_APP_ENVARS,
                          .value = {.type = PMIX_BOOL, .data.flag = true}};

    setenv("PMIX_MCA_pnet", "^envar", 1);
    start();
    fails(PMIx_Forward_envars(job, "FW_A", NULL, 0), NOT_SUPPORTED);
    fails(gather("job", &envars, 1), NOT_SUPPORTED);
    ok(gather("job", NULL, 0));
}

/* Directives about the variable H, by their first letter: "=new" sets, "+new" adds, "-" unsets,
 * "<new" prepends, ">new" appends. */
static const struct {
    const char *directives, *entry, *wanted;
} changes[] = {
    {"=new", NULL, "new"},
    {"=new", "H=own", "new"},
    {"=new", "H=set", "set"},
    {"+new", NULL, "new"},
    {"+new", "H=own", "own"},
    {"-", "H=own", NULL},
    {"-", "H=set", "set"},
    {"-", NULL, NULL},
    {"<new", NULL, "new"},
    {"<new", "H=own", "new:own"},
    {"<new", "H=set", "new:set"},
    {">new", "H=own", "own:new"},
    {"=a =b", "H=own", "b"},
    {"=a -", "H=own", NULL},
    {"- =a", "H=own", "a"},
    {"=a +b", NULL, "a"},
    {"- +b", "H=own", "b"},
    {"=a <b >c", "H=own", "b:a:c"},
    {"<a <b", "H=set", "b:a:set"},
    {"<own", "H=ownership", "own:ownership"},
    {">ship", "H=ownership", "ownership:ship"},
    {"<own", "H=own", "own"},
    {"<new", "H", "new:"},
};

static void add_change(px_infos *infos, const char *name, char letter,
                       const char *value)
{
    static const char letters[] = "=+-<>";
    static const char *const keys[] = {PMIX_SET_ENVAR, PMIX_ADD_ENVAR, PMIX_UNSET_ENVAR,
                                       PMIX_PREPEND_ENVAR, PMIX_APPEND_ENVAR};
    const pmix_envar_t envar = {(char *)name, (char *)value, ':'};

    ok(px_infos_add(infos, keys[strchr(letters, letter) - letters],
                    letter == '-' ? (const void *)name : &envar,
                    letter == '-' ? PMIX_STRING : PMIX_ENVAR));
}

/* Other implementations send such infos, too, in place of a blob. A second setup_fork for the same
 * environment changes nothing. */
PX_TEST_LOOP(variables_of_the_host_are_honoured, PX_COUNT(changes))
{
    PX_AUTO(px_strv) directives = px_strv_split(changes[_i].directives, ' ', false);
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t p = raw_proc("job", 0);

    setenv("H", "own", 1);
    start();
    for (char **d = directives; *d; d++)
        add_change(&infos, "H", **d, *d + 1);
    add_change(&infos, "PMIX_H", '=', "x");
    at_once(PMIx_server_setup_local_support(job, infos.v, infos.n, NULL, NULL));
    PX_AUTO(px_strv) env = child_env("job", changes[_i].entry);
    for (int twice = 0; twice < 2; twice++) {
        ck_assert_pstr_eq(value(env, "H"), changes[_i].wanted);
        ck_assert_ptr_null(value(env, "PMIX_H"));
        ok(PMIx_server_setup_fork(&p, &env));
    }
    PX_AUTO(px_strv) other = child_env("other", changes[_i].entry);
    ck_assert(!changes[_i].entry || px_strv_has(other, changes[_i].entry));
}

PX_TEST(a_bad_variable_of_the_host_changes_nothing)
{
    static const char *const keys[] = {PMIX_SET_ENVAR, PMIX_ADD_ENVAR, PMIX_UNSET_ENVAR,
                                       PMIX_PREPEND_ENVAR, PMIX_APPEND_ENVAR};

    start();
    for (size_t i = 0; i < 2 * PX_COUNT(keys); i++) {
        pmix_envar_t bad = {(char *)(i % 2 ? "" : "A=B"), (char *)"x", ':'};
        bool unset = strcmp(keys[i / 2], PMIX_UNSET_ENVAR) == 0;
        pmix_info_t info;

        ok(PMIx_Info_load(&info, keys[i / 2], unset ? (void *)bad.envar : (void *)&bad,
                          unset ? PMIX_STRING : PMIX_ENVAR));
        fails(PMIx_server_setup_local_support(job, &info, 1, NULL, NULL), BAD_PARAM);
        info.value.type = PMIX_SIZE;
        fails(PMIx_server_setup_local_support(job, &info, 1, NULL, NULL), BAD_PARAM);
        info.value.type = unset ? PMIX_STRING : PMIX_ENVAR;
        PMIx_Info_destruct(&info);
    }
    PX_AUTO(px_strv) env = child_env("job", NULL);
    ck_assert_ptr_null(value(env, "A"));
}

PX_TEST(ten_thousand_variables_and_a_long_one_are_forwarded)
{
    enum { MANY = 10000, LONG_B = 1 << 20 };
    PX_AUTOFREE char *text = malloc(LONG_B + 1);
    char name[32];

    memset(text, 'x', LONG_B);
    text[LONG_B] = '\0';
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "FW_%d", i);
        setenv(name, name, 1);
    }
    setenv("FW_LONG", text, 1);
    start();
    ok(PMIx_Forward_envars(job, "FW_*", NULL, 0));
    launch("job");
    PX_AUTO(px_strv) env = child_env("job", NULL);
    ck_assert_str_eq(value(env, "FW_LONG"), text);
    ck_assert_uint_gt(px_strv_count(env), MANY + 1);
    ck_assert_str_eq(value(env, "FW_9999"), "FW_9999");
}

PX_TEST_MAIN("server/environment", NULL, host_end)
