/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of a server that is its own host, started by itself: what is refused, and what is passed on. How
 * they end is in test_embedded_end.c. */
#include "core/host/builtin.h"
#include "core/server/cleanup/session.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "host_scene.h"
#include "px_test.h"

/* ---- refused --------------------------------------------------------------------- */

static pmix_status_t try_app(const char *program, const char *cwd, int n,
                             const char *key, const char *value)
{
    char *argv[] = {(char *)program, NULL};
    pmix_info_t info;
    pmix_app_t app = {.cmd = (char *)program,
                      .argv = argv,
                      .cwd = (char *)cwd,
                      .maxprocs = n,
                      .info = &info,
                      .ninfo = key ? 1 : 0};
    pmix_status_t rc;

    if (key)
        PMIx_Info_load(&info, key, value, PMIX_STRING);
    rc = PMIx_Spawn(NULL, 0, &app, 1, embedded_job);
    if (key)
        PMIx_Info_destruct(&info);
    return rc;
}

START_TEST(what_cannot_be_started_is_refused)
{
    ck_assert_int_eq(try_app("no-such-program", NULL, 1, NULL, NULL),
                     PMIX_ERR_JOB_EXE_NOT_FOUND);
    ck_assert_int_eq(try_app("/etc/passwd", NULL, 1, NULL, NULL),
                     PMIX_ERR_JOB_APP_NOT_EXECUTABLE);
    ck_assert_int_eq(try_app("true", "/no/such/dir", 1, NULL, NULL),
                     PMIX_ERR_JOB_WDIR_NOT_FOUND);
    ck_assert_int_eq(try_app("true", "/etc/passwd", 1, NULL, NULL),
                     PMIX_ERR_JOB_WDIR_NOT_FOUND);
    ck_assert_int_eq(try_app("true", NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try_app("true", NULL, -1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try_app("true", NULL, INT_MAX, NULL, NULL),
                     PMIX_ERR_JOB_INSUFFICIENT_RESOURCES);
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOST, "no-such-host"),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOSTFILE, "file"),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_UNSET_ENVAR, "A=B"),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_str_eq(embedded_job, "");
}
END_TEST

START_TEST(this_host_by_its_name_is_fine)
{
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOST, px_process.model->hostname),
                     PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOST, "localhost:4"), PMIX_SUCCESS);
    await_end();
}
END_TEST

START_TEST(a_demand_that_is_not_understood_is_refused)
{
    PX_AUTO(px_infos) infos = {0};

    ck_assert_int_eq(px_infos_add(&infos, PMIX_PERSONALITY, "ompi", PMIX_STRING), 0);
    ck_assert_int_eq(spawn_with(&infos, 1, "true"), PMIX_SUCCESS);
    await_end();
    PMIx_Info_required(&infos.v[0]);
    ck_assert_int_eq(spawn_with(&infos, 1, "true"), PMIX_ERR_NOT_SUPPORTED);
}
END_TEST

START_TEST(all_are_started_or_none)
{
    char script[] = "/tmp/tenon-bad.XXXXXX";
    int fd = mkstemp(script);
    char sh[] = "sh", c[] = "-c", body[] = "touch started; exec sleep 20";
    char *argv[] = {sh, c, body, NULL}, *bad[] = {script, NULL};
    pmix_app_t apps[] = {{.cmd = sh, .argv = argv, .cwd = embedded_dir, .maxprocs = 2},
                         {.cmd = script, .argv = bad, .maxprocs = 1}};
    uint64_t began = px_clock_ms();
    bool known;

    /* It is there and executable, and only the attempt shows what is wrong with it. */
    ck_assert_int_eq(dprintf(fd, "#!/no/such/interpreter\n"), 23);
    ck_assert_int_eq(fchmod(fd, 0700), 0);
    close(fd);
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, apps, 2, embedded_job),
                     PMIX_ERR_JOB_EXE_NOT_FOUND);
    unlink(script);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    ck_assert_int_eq(count_jobs(&known), 0);
    ck_assert_int_eq(told.n_failures, 0);
    if (exists("started"))
        remove_file("started");
}
END_TEST

/* ---- passed on ------------------------------------------------------------------- */

static void add_envar(px_infos *l, const char *key, const char *name, const char *value)
{
    pmix_envar_t e = {.envar = (char *)name, .value = (char *)value, .separator = ':'};

    ck_assert_int_eq(px_infos_add(l, key, &e, PMIX_ENVAR), 0);
}

START_TEST(the_environment_is_as_asked_for)
{
    PX_AUTO(px_infos) l = {0};

    setenv("OLD", "old", 1);
    setenv("LIST", "b", 1);
    setenv("GONE", "x", 1);
    add_envar(&l, PMIX_SET_ENVAR, "NEW", "new");
    add_envar(&l, PMIX_ADD_ENVAR, "OLD", "not this");
    add_envar(&l, PMIX_ADD_ENVAR, "ADDED", "added");
    add_envar(&l, PMIX_PREPEND_ENVAR, "LIST", "a");
    add_envar(&l, PMIX_APPEND_ENVAR, "LIST", "c");
    add_envar(&l, PMIX_APPEND_ENVAR, "ALONE", "z");
    ck_assert_int_eq(px_infos_add(&l, PMIX_UNSET_ENVAR, "GONE", PMIX_STRING), 0);
    ck_assert_int_eq(
        spawn_with(&l, 2,
                   "test \"$NEW/$OLD/$ADDED/$LIST/$ALONE/${GONE-gone}\" = "
                   "new/old/added/a:b:c/z/gone && test $PMIX_RANK -lt 2 && "
                   "test -n \"$PMIX_NAMESPACE\" && test -n \"$PMIX_SERVER_URI41\""),
        PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.verdict, PMIX_SUCCESS);
    ck_assert_int_eq(told.exit_code, 0);
    ck_assert_int_eq(told.n_failures, 0);
}
END_TEST

struct fact {
    pmix_rank_t rank;
    const char *key;
    uint32_t value;
};

static void do_read_fact(struct px_call *call, void *args)
{
    struct fact *f = args;
    struct px_nspace *ns = px_nspace_find(px_process.model, embedded_job);

    px_call_done(call, px_store_u32(ns, PX_GDS_JOB, f->rank, f->key, &f->value)
                           ? PMIX_SUCCESS
                           : PMIX_ERR_NOT_FOUND);
}

static uint32_t fact(pmix_rank_t rank, const char *key)
{
    struct fact f = {.rank = rank, .key = key};

    ck_assert_int_eq(px_call(px_process.loop, do_read_fact, &f), PMIX_SUCCESS);
    return f.value;
}

START_TEST(a_job_is_described_as_launchers_do)
{
    spawn(1, "true");
    spawn(3, "sleep 20");
    ck_assert_uint_eq(fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
    ck_assert_uint_eq(fact(PMIX_RANK_WILDCARD, PMIX_NPROC_OFFSET), 1);
    ck_assert_uint_eq(fact(2, PMIX_GLOBAL_RANK), 3);
    ck_assert_uint_eq(fact(2, PMIX_APP_RANK), 2);
    ck_assert_uint_eq(fact(0, PMIX_REINCARNATION), 0);
}
END_TEST

struct dirs {
    char *top, *job, *rank;
};

static void do_find_dirs(struct px_call *call, void *args)
{
    struct dirs *d = args;
    const struct px_job *j = px_job_find(px_process.server->embedded, embedded_job);

    d->top = px_job_top_dir(j);
    d->job = strdup(j->dir);
    d->rank = px_task_dir(&j->tasks[1]);
    px_call_done(call, PMIX_SUCCESS);
}

START_TEST(a_job_has_folders_until_it_ends)
{
    struct dirs d;
    struct stat st;

    PX_TEST_NEEDS(px_session_cleaner(px_process.server), "a component of pcleanup");
    spawn(2, "while test ! -e go; do sleep 0.01; done");
    ck_assert_int_eq(px_call(px_process.loop, do_find_dirs, &d), PMIX_SUCCESS);
    ck_assert(px_str_starts(d.rank, d.job) && px_str_starts(d.job, d.top) &&
              px_str_starts(d.top, px_process.server->dir));
    ck_assert_int_eq(lstat(d.rank, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    for (int i = 0; i < 100; i++) {
        PX_AUTOFREE char *file = px_strf("%s/%d", i % 2 ? d.job : d.rank, 1000 + i);

        ck_assert_int_eq(mkdir(file, 0700), 0);
    }
    make_file("go");
    await_end();
    remove_file("go");
    for (uint64_t until = px_clock_ms() + 5000;
         lstat(d.job, &st) == 0 && px_clock_ms() < until;)
        (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    ck_assert_int_ne(lstat(d.job, &st), 0);
    ck_assert_int_eq(lstat(d.top, &st), 0); /* the next job's will be there */
    free(d.top);
    free(d.job);
    free(d.rank);
}
END_TEST

PX_TEST_MAIN_WITH("server/embedded", embedded_setup, embedded_teardown,
                  what_cannot_be_started_is_refused, this_host_by_its_name_is_fine,
                  a_demand_that_is_not_understood_is_refused, all_are_started_or_none,
                  the_environment_is_as_asked_for, a_job_is_described_as_launchers_do,
                  a_job_has_folders_until_it_ends)
