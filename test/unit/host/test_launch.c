/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to spawn: refused for a reason before anything runs, or carried out in
 * full. */
#include "core/host/launch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/model/nspace.h"
#include "core/rt/call.h"
#include "host_scene.h"

/* ---- programs -------------------------------------------------------------------- */

/* One process, in the jobs' folder, unless the application says otherwise. */
static pmix_status_t try(pmix_app_t app)
{
    if (!app.cwd)
        app.cwd = (char *)px_test_dir();
    if (!app.maxprocs)
        app.maxprocs = 1;
    return PMIx_Spawn(NULL, 0, &app, 1, job_name);
}

static pmix_status_t try_info(const char *key, const char *value)
{
    char name[] = "true";
    pmix_info_t info;

    PMIx_Info_load(&info, key, value, PMIX_STRING);
    pmix_status_t rc = try((pmix_app_t){.cmd = name, .info = &info, .ninfo = 1});
    PMIx_Info_destruct(&info);
    return rc;
}

PX_TEST(programs_that_cannot_be_started_are_refused)
{
    char nothing[] = "", name[] = "true", *empty[] = {NULL}, *blank[] = {nothing, NULL};
    static const struct {
        const char *program, *cwd;
        int n;
        pmix_status_t status;
    } rows[] = {{"no-such-program", NULL, 1, PMIX_ERR_JOB_EXE_NOT_FOUND},
                {"/etc/passwd", NULL, 1, PMIX_ERR_JOB_APP_NOT_EXECUTABLE},
                {"true", "/no/such/dir", 1, PMIX_ERR_JOB_WDIR_NOT_FOUND},
                {"true", "/etc/passwd", 1, PMIX_ERR_JOB_WDIR_NOT_FOUND},
                {"true", NULL, -1, PMIX_ERR_BAD_PARAM},
                {"true", NULL, INT_MAX, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
                {"", NULL, 1, PMIX_ERR_JOB_NO_EXE_SPECIFIED},
                {NULL, NULL, 1, PMIX_ERR_BAD_PARAM}};

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_int_eq(try((pmix_app_t){.cmd = (char *)rows[i].program,
                                          .cwd = (char *)rows[i].cwd,
                                          .maxprocs = rows[i].n}),
                         rows[i].status);
    pmix_app_t none = {.cmd = name};
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &none, 1, job_name), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try((pmix_app_t){.argv = empty}), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try((pmix_app_t){.argv = blank}), PMIX_ERR_JOB_NO_EXE_SPECIFIED);
    ck_assert_str_eq(job_name, "");
}

PX_TEST(the_first_argument_or_the_command_names_the_program)
{
    char sh[] = "sh", c[] = "-c", body[] = "[ \"$0\" = sh ] && touch ran",
         name[] = "true";
    char *argv[] = {sh, c, body, NULL}, *empty[] = {NULL};
    const pmix_app_t apps[] = {
        {.argv = argv}, {.cmd = name}, {.cmd = name, .argv = empty}};

    for (size_t i = 0; i < PX_COUNT(apps); i++) {
        ok(try(apps[i]));
        await_end(PMIX_SUCCESS);
    }
    remove_file("ran");
}

PX_TEST(all_are_started_or_none)
{
    const char *script = px_test_path("bad");
    int fd = open(script, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    char sh[] = "sh", c[] = "-c", body[] = "touch started; exec sleep 20";
    char *argv[] = {sh, c, body, NULL}, *bad[] = {(char *)script, NULL};
    pmix_app_t apps[] = {
        {.cmd = sh, .argv = argv, .cwd = (char *)px_test_dir(), .maxprocs = 2},
        {.cmd = (char *)script, .argv = bad, .maxprocs = 1}};
    uint64_t began = px_clock_ms();

    /* It is there and executable, and only the attempt shows what is wrong with it. */
    ck_assert_int_eq(dprintf(fd, "#!/no/such/interpreter\n"), 23);
    close(fd);
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, apps, 2, job_name),
                     PMIX_ERR_JOB_EXE_NOT_FOUND);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    ck_assert(px_list_empty(&launcher()->jobs));
    ck_assert_int_eq(seen.n_failures, 0);
}

/* ---- attributes ------------------------------------------------------------------ */

PX_TEST(hosts_are_those_that_name_this_one)
{
    char hosts[4 * PMIX_MAX_NSLEN];
    static const struct {
        const char *before, *after;
        pmix_status_t status;
    } rows[] = {{"", "", PMIX_SUCCESS},
                {",,", ",", PMIX_SUCCESS},
                {"localhost,", ":2", PMIX_SUCCESS},
                {"localhost:4,", "", PMIX_SUCCESS},
                {"", "x", PMIX_ERR_NOT_SUPPORTED},
                {"x", "", PMIX_ERR_NOT_SUPPORTED},
                {"localhosT,", "", PMIX_ERR_NOT_SUPPORTED}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        snprintf(hosts, sizeof(hosts), "%s%s%s", rows[i].before,
                 px_process.model->hostname, rows[i].after);
        ck_assert_int_eq(try_info(PMIX_HOST, hosts), rows[i].status);
        if (!rows[i].status)
            await_end(PMIX_SUCCESS);
    }
    ck_assert_int_eq(try_info(PMIX_HOSTFILE, "file"), PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST(a_demand_that_is_not_understood_is_refused)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_PERSONALITY, "ompi", PMIX_STRING));
    ok(spawn_with(&infos, 1, "true"));
    await_end(PMIX_SUCCESS);
    PMIx_Info_required(&infos.v[0]);
    ck_assert_int_eq(spawn_with(&infos, 1, "true"), PMIX_ERR_NOT_SUPPORTED);
}

static pmix_status_t spawn_info(const char *key, const void *value,
                                pmix_data_type_t type)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, key, value, type));
    return spawn_with(&infos, 2, "true");
}

PX_TEST(standard_input_goes_to_one_process_of_the_job)
{
    pmix_proc_t second, all;
    uint32_t one = 1, two = 2;
    const struct {
        const void *target;
        pmix_data_type_t type;
        pmix_status_t status;
    } rows[] = {{&second, PMIX_PROC, PMIX_SUCCESS},
                {&one, PMIX_UINT32, PMIX_SUCCESS},
                {&all, PMIX_PROC, PMIX_ERR_NOT_SUPPORTED},
                {&two, PMIX_UINT32, PMIX_ERR_NOT_SUPPORTED},
                {"first", PMIX_STRING, PMIX_ERR_BAD_PARAM}};

    px_proc_set(&second, "", 1);
    px_proc_set(&all, "", PMIX_RANK_WILDCARD);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_int_eq(spawn_info(PMIX_STDIN_TGT, rows[i].target, rows[i].type),
                         rows[i].status);
        if (!rows[i].status)
            await_end(PMIX_SUCCESS);
    }
}

/* ---- environment ----------------------------------------------------------------- */

PX_TEST(text_that_is_no_variable_is_refused)
{
    static char *wrong[][3] = {{(char *)"A=1", (char *)"novalue", NULL},
                               {(char *)"=1", NULL, NULL},
                               {(char *)"", NULL, NULL}};
    char sh[] = "sh", c[] = "-c",
         body[] = "[ \"$A\" = 1=2 ] && [ -z \"$B\" ] && touch ran";
    char *argv[] = {sh, c, body, NULL}, a[] = "A=1=2",
         b[] = "B=", *right[] = {a, b, NULL};

    for (size_t i = 0; i < PX_COUNT(wrong); i++)
        ck_assert_int_eq(try((pmix_app_t){.argv = argv, .env = wrong[i]}),
                         PMIX_ERR_BAD_PARAM);
    ck_assert(!exists("ran"));
    ok(try((pmix_app_t){.argv = argv, .env = right}));
    await_end(PMIX_SUCCESS);
    remove_file("ran");
}

PX_TEST(changes_to_the_environment_that_make_no_sense_are_refused)
{
    char name[] = "NAME", value[] = "value";
    const pmix_envar_t wrong[] = {{NULL, value, ':'}, {name, NULL, ':'}},
                       right = {name, value, ':'};
    static const char *const keys[] = {PMIX_SET_ENVAR, PMIX_ADD_ENVAR,
                                       PMIX_PREPEND_ENVAR, PMIX_APPEND_ENVAR};
    uint32_t number = 7;

    for (size_t k = 0; k < PX_COUNT(keys); k++) {
        for (size_t i = 0; i < PX_COUNT(wrong); i++)
            ck_assert_int_eq(spawn_info(keys[k], &wrong[i], PMIX_ENVAR),
                             PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(spawn_info(keys[k], "NAME=value", PMIX_STRING),
                         PMIX_ERR_BAD_PARAM);
        ok(spawn_info(keys[k], &right, PMIX_ENVAR));
        await_end(PMIX_SUCCESS);
    }
    ck_assert_int_eq(try_info(PMIX_UNSET_ENVAR, ""), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try_info(PMIX_UNSET_ENVAR, "A=B"), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(spawn_info(PMIX_UNSET_ENVAR, &number, PMIX_UINT32),
                     PMIX_ERR_BAD_PARAM);
}

PX_TEST(the_environment_is_as_asked_for)
{
    PX_AUTO(px_infos) l = {0};
    static const struct {
        const char *key, *name, *value;
    } rows[] = {{PMIX_SET_ENVAR, "NEW", "new"},     {PMIX_ADD_ENVAR, "OLD", "not this"},
                {PMIX_ADD_ENVAR, "ADDED", "added"}, {PMIX_PREPEND_ENVAR, "LIST", "a"},
                {PMIX_APPEND_ENVAR, "LIST", "c"},   {PMIX_APPEND_ENVAR, "ALONE", "z"}};

    setenv("OLD", "old", 1);
    setenv("LIST", "b", 1);
    setenv("GONE", "x", 1);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_envar_t e = {(char *)rows[i].name, (char *)rows[i].value, ':'};

        ok(px_infos_add(&l, rows[i].key, &e, PMIX_ENVAR));
    }
    ok(px_infos_add(&l, PMIX_UNSET_ENVAR, "GONE", PMIX_STRING));
    ok(spawn_with(&l, 2,
                  "test \"$NEW/$OLD/$ADDED/$LIST/$ALONE/${GONE-gone}\" = "
                  "new/old/added/a:b:c/z/gone && test $PMIX_RANK -lt 2 && "
                  "test -n \"$PMIX_NAMESPACE\" && test -n \"$PMIX_SERVER_URI41\""));
    await_end(PMIX_SUCCESS);
    ck_assert_int_eq(seen.exit_code, 0);
    ck_assert_int_eq(seen.n_failures, 0);
}

/* ---- the job's information ------------------------------------------------------- */

static uint32_t fact(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc;
    pmix_value_t *v = NULL;
    uint32_t n = 0;

    px_proc_set(&proc, job_name, rank);
    ok(PMIx_Get(&proc, key, NULL, 0, &v));
    ck_assert(px_value_to_u32(v, &n));
    PMIx_Value_free(v, 1);
    return n;
}

PX_TEST(a_job_is_described_as_launchers_do)
{
    spawn(1, "true");
    spawn_sleepers(3);
    ck_assert_uint_eq(fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
    ck_assert_uint_eq(fact(PMIX_RANK_WILDCARD, PMIX_NPROC_OFFSET), 1);
    ck_assert_uint_eq(fact(2, PMIX_GLOBAL_RANK), 3);
    ck_assert_uint_eq(fact(2, PMIX_APP_RANK), 2);
    ck_assert_uint_eq(fact(0, PMIX_REINCARNATION), 0);
}

PX_TEST_MAIN("host/launch", host_setup, host_teardown)
