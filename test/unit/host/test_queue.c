/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue of the built-in host: two slots, and jobs that tools submit. */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/server/host.h"

/* A request of a tool, and its answer. */
struct submitted {
    const char *tool;
    int n;
    const char *script;
    const struct px_fact *facts; /* up to a NULL key; NULL: none */
    atomic_int answer;           /* 1: none yet */
    pmix_nspace_t job;
    /* The arguments live until the answer, as those of a request do. */
    px_infos infos;
    pmix_app_t *app;
};

static void answer(struct submitted *s, pmix_status_t status)
{
    px_infos_cleanup(&s->infos);
    PMIx_App_free(s->app, 1);
    s->answer = status;
}

static void on_answer(pmix_status_t status, char nspace[], void *cbdata)
{
    struct submitted *s = cbdata;

    PMIx_Load_nspace(s->job, nspace);
    answer(s, status);
}

static void do_submit(struct px_call *call, void *arg)
{
    struct submitted *s = arg;
    const pmix_app_t app = shell_of(s->n, s->script);
    pmix_proc_t tool;

    s->answer = 1;
    px_proc_set(&tool, s->tool, 0);
    for (const struct px_fact *f = s->facts; f && f->key; f++)
        ok(px_infos_add(&s->infos, f->key, f->data, f->type));
    s->app = PMIx_App_create(1);
    s->app->cmd = strdup(app.cmd);
    s->app->argv = PMIx_Argv_copy(app.argv);
    s->app->cwd = strdup(app.cwd);
    s->app->maxprocs = app.maxprocs;
    const pmix_status_t rc = px_process.server->module.spawn(
        &tool, s->infos.v, s->infos.n, s->app, 1, on_answer, s);
    if (rc)
        answer(s, rc);
    px_call_done(call, PMIX_SUCCESS);
}

static void submit(struct submitted *s)
{
    ok(px_call(px_process.loop, do_submit, s));
}

static void await_answer(const struct submitted *s, pmix_status_t status)
{
    for (int i = 0; i < 20000 && s->answer == 1; i++)
        usleep(1000);
    ck_assert_int_eq(s->answer, status);
}

static void do_leave(struct px_call *call, void *tool)
{
    pmix_proc_t proc;
    pmix_info_t data;

    px_proc_set(&proc, tool, 0);
    PMIX_INFO_LOAD(&data, "published", "by a tool", PMIX_STRING);
    ok(px_pubs_publish(&launcher()->pubs, &proc, &data, 1));
    PMIX_INFO_DESTRUCT(&data);
    px_process.server->host->tool_left(launcher(), &proc);
    ck_assert_uint_eq(launcher()->pubs.n_pubs, 0);
    px_call_done(call, PMIX_SUCCESS);
}

static void leave(const char *tool)
{
    ok(px_call(px_process.loop, do_leave, (void *)(uintptr_t)tool));
}

#define UNTIL(name) "while ! test -e " name "; do sleep 0.01; done"
#define FACTS(key, to, ...) \
    ((struct px_fact[]){{key, to, __VA_ARGS__}, {NULL, NULL, 0}})

static const bool yes = true, no = false;

/* Takes both slots until the file "go" is there. */
static void take_all(struct submitted *s)
{
    *s = (struct submitted){.tool = "first", .n = 2, .script = UNTIL("go")};
    submit(s);
    await_answer(s, PMIX_SUCCESS);
}

static void give_back(void)
{
    make_file("go");
    await_any_end();
}

PX_TEST(requests_are_served_in_their_order)
{
    struct submitted all, two = {.tool = "b", .n = 2, .script = "echo two >>order"},
                          one = {.tool = "c", .n = 1, .script = "echo one >>order"};
    char line[32] = "";

    take_all(&all);
    submit(&two);
    submit(&one);
    usleep(20000);
    ck_assert_int_eq(two.answer, 1);
    ck_assert_int_eq(one.answer, 1);
    give_back();
    await_answer(&two, PMIX_SUCCESS);
    await_answer(&one, PMIX_SUCCESS);
    await_any_end();
    await_any_end();
    FILE *order = fopen(px_test_path("order"), "re");
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), order));
    ck_assert_str_eq(line, "two\n");
    fclose(order);
    remove_file("order");
    remove_file("go");
    ck_assert_uint_eq(launcher()->queue.n_taken, 0);
}

PX_TEST(a_small_job_does_not_pass_a_large_one)
{
    struct submitted one = {.tool = "a", .n = 1, .script = UNTIL("go")},
                     two = {.tool = "b", .n = 2, .script = "true"},
                     small = {.tool = "c", .n = 1, .script = "true"};

    submit(&one);
    await_answer(&one, PMIX_SUCCESS);
    submit(&two);
    submit(&small); /* one slot is free */
    usleep(20000);
    ck_assert_int_eq(small.answer, 1);
    give_back();
    await_answer(&small, PMIX_SUCCESS);
    ck_assert_int_eq(two.answer, PMIX_SUCCESS);
    await_any_end();
    await_any_end();
    remove_file("go");
}

PX_TEST(requests_that_cannot_wait_are_refused)
{
    struct submitted all;
    const struct {
        int n;
        const struct px_fact *facts;
        pmix_status_t answer;
    } rows[] = {
        {1, FACTS(PMIX_ALLOC_NOT_WAITING, &yes, PMIX_BOOL), PMIX_ERR_RESOURCE_BUSY},
        {3, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {1, FACTS(PMIX_SPAWN_TIMEOUT, &(uint32_t){1}, PMIX_UINT32), PMIX_ERR_TIMEOUT},
        {0, NULL, PMIX_ERR_BAD_PARAM},
    };

    take_all(&all);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct submitted s = {
            .tool = "b", .n = rows[i].n, .script = "true", .facts = rows[i].facts};

        submit(&s);
        await_answer(&s, rows[i].answer);
    }
    ck_assert(px_list_empty(&launcher()->queue.waiting));
    ck_assert_uint_eq(launcher()->queue.n_taken, 2);
    give_back();
    struct submitted free_now = {
        .tool = "b",
        .n = 2,
        .script = "true",
        .facts = FACTS(PMIX_ALLOC_NOT_WAITING, &yes, PMIX_BOOL)};
    submit(&free_now);
    await_answer(&free_now, PMIX_SUCCESS);
    await_any_end();
    struct submitted many = {
        .tool = "b",
        .n = 5,
        .script = "true",
        .facts = FACTS(PMIX_MAPBY, "slot:oversubscribe", PMIX_STRING)};
    submit(&many);
    await_answer(&many, PMIX_SUCCESS);
    await_any_end();
    ck_assert_uint_eq(launcher()->queue.n_taken, 0);
    remove_file("go");
}

PX_TEST(a_process_that_holds_slots_does_not_wait)
{
    struct submitted all, child = {.n = 2, .script = "true"};

    take_all(&all);
    child.tool = all.job; /* its rank 0 */
    submit(&child);
    await_answer(&child, PMIX_SUCCESS);
    await_any_end();
    spawn(1, "true"); /* of the program that runs the host */
    await_any_end();
    give_back();
    remove_file("go");
}

PX_TEST(the_end_of_a_tool_removes_its_requests)
{
    struct submitted all, lost = {.tool = "b", .n = 1, .script = "echo >lost"},
                          other = {.tool = "c", .n = 1, .script = "echo >other"};

    take_all(&all);
    submit(&lost);
    submit(&other);
    leave("b");
    await_answer(&lost, PMIX_ERR_LOST_CONNECTION);
    ck_assert_int_eq(other.answer, 1);
    give_back();
    await_any_end();
    await_file("other");
    ck_assert(!exists("lost"));
    remove_file("go");
}

PX_TEST(the_end_of_a_tool_ends_its_tied_jobs)
{
    struct submitted tied = {.tool = "a",
                             .n = 1,
                             .script = "exec sleep 60",
                             .facts = FACTS(PMIX_NOHUP, &no, PMIX_BOOL)},
                     loose = {.tool = "a", .n = 1, .script = UNTIL("go")};

    submit(&tied);
    submit(&loose);
    await_answer(&tied, PMIX_SUCCESS);
    await_answer(&loose, PMIX_SUCCESS);
    leave("a");
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    await_running(loose.job, 1);
    make_file("go");
    await_end(PMIX_SUCCESS);
    remove_file("go");
}

PX_TEST(a_failed_start_gives_slots_back)
{
    struct submitted s = {.tool = "a",
                          .n = 2,
                          .script = "true",
                          .facts = FACTS(PMIX_WDIR, "/nowhere", PMIX_STRING)};

    submit(&s);
    await_answer(&s, PMIX_ERR_JOB_WDIR_NOT_FOUND);
    ck_assert_uint_eq(launcher()->queue.n_taken, 0);
}

PX_TEST(the_end_of_the_server_answers_what_waits)
{
    static struct submitted all, late = {.tool = "b", .n = 1, .script = "true"};

    all = (struct submitted){.tool = "a", .n = 2, .script = "exec sleep 60"};
    submit(&all);
    await_answer(&all, PMIX_SUCCESS);
    submit(&late);
    ok(PMIx_server_finalize());
    ck_assert_int_eq(late.answer, PMIX_ERR_NOT_AVAILABLE);
    ok(PMIx_server_init(NULL, NULL, 0));
}

/* Runs the script of the request once, for all its processes. */
static pmix_status_t translate(const pmix_info_t info[], size_t n_info,
                               const pmix_app_t apps[], size_t n_apps,
                               struct tenon_spawn *out)
{
    ck_assert_uint_eq(n_apps, 1);
    ck_assert_uint_ge(out->size, sizeof(*out));
    if (px_info_find(info, n_info, PMIX_RANKBY)) {
        px_str_copy(out->why, sizeof(out->why), "PMIX_RANKBY: no");
        return PMIX_ERR_NOT_SUPPORTED;
    }
    out->app = PMIx_App_create(1);
    out->app->cmd = strdup(apps->cmd);
    out->app->argv = PMIx_Argv_copy(apps->argv);
    out->app->cwd = strdup(apps->cwd);
    out->app->maxprocs = 1;
    out->n_slots = (uint32_t)apps->maxprocs;
    out->may_exceed = px_info_find(info, n_info, PMIX_MAPBY);
    return PMIX_SUCCESS;
}

static const struct tenon_spawner spawner = {.size = sizeof(spawner),
                                             .translate = translate};

PX_TEST(a_job_elsewhere_is_one_process_with_many_slots)
{
    struct submitted all = {.tool = "a", .n = 2, .script = UNTIL("go") "; exit 3"},
                     late = {.tool = "b", .n = 1, .script = "echo x >>order"},
                     more = {.tool = "b", .n = 9, .script = "true"};

    launcher()->spawner = &spawner;
    submit(&all);
    await_answer(&all, PMIX_SUCCESS);
    await_running(all.job, 1);
    ck_assert_uint_eq(launcher()->queue.n_taken, 2);
    submit(&late);
    usleep(20000);
    ck_assert_int_eq(late.answer, 1);
    give_back();
    /* The event is one of the job: the process of rank 0 is not one of the program. */
    ck_assert_int_eq(seen.verdict, PMIX_ERR_JOB_NON_ZERO_TERM);
    ck_assert_int_eq(seen.exit_code, 3);
    ck_assert_int_eq(seen.n_failures, 0);
    await_answer(&late, PMIX_SUCCESS);
    await_end(PMIX_SUCCESS);
    remove_file("order");
    remove_file("go");
    submit(&more);
    await_answer(&more, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES);
    more.facts = FACTS(PMIX_MAPBY, "node", PMIX_STRING);
    submit(&more);
    await_answer(&more, PMIX_SUCCESS);
    await_end(PMIX_SUCCESS);
    more.facts = FACTS(PMIX_RANKBY, "node", PMIX_STRING);
    submit(&more);
    await_answer(&more, PMIX_ERR_NOT_SUPPORTED);
    ck_assert_uint_eq(launcher()->queue.n_taken, 0);
}

PX_TEST(the_program_of_a_job_elsewhere_gets_the_stop)
{
    struct submitted s = {.tool = "a",
                          .n = 2,
                          .script = "trap 'echo >stopped' TSTP; trap 'exit 0' CONT; "
                                    "echo >up; while :; do :; done"};
    pmix_proc_t job;

    launcher()->spawner = &spawner;
    submit(&s);
    await_answer(&s, PMIX_SUCCESS);
    await_file("up");
    PMIx_Load_procid(&job, s.job, PMIX_RANK_WILDCARD);
    ok(control(PMIX_JOB_CTRL_PAUSE, &job));
    await_file("stopped");
    ck_assert_int_eq(control_by(PMIX_JOB_CTRL_RESTART, "", PMIX_STRING, &job),
                     PMIX_ERR_NOT_SUPPORTED);
    ok(control(PMIX_JOB_CTRL_RESUME, &job));
    await_end(PMIX_SUCCESS);
}

static void setup(void)
{
    setenv("PMIX_MCA_embedded_slots", "2", 1);
    jobs_setup();
}

PX_TEST_MAIN("host/queue", setup, jobs_teardown)
