/* SPDX-License-Identifier: BSD-3-Clause */
#include "jobs.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "core/server/host.h"

struct seen seen;
char job_name[PMIX_MAX_NSLEN + 1];

PX_TEST_HANDLER(on_event)
{
    const char *message = px_info_str(info, n, PMIX_EVENT_TEXT_MESSAGE);

    if (code == PMIX_ERR_PROC_RESTART) {
        px_str_copy(seen.restart, sizeof(seen.restart), message);
        seen.restarted = px_info_find(info, n, PMIX_PROC_PID)->value.data.pid;
        seen.n_restarts++;
        cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
        return;
    }
    seen.exit_code = (int)px_info_u32(info, n, PMIX_EXIT_CODE, 9999);
    if (code != PMIX_EVENT_JOB_END) {
        seen.n_failures++;
        seen.failure = code;
        seen.culprit = *source;
        px_str_copy(seen.text, sizeof(seen.text), message);
    } else {
        seen.verdict = px_info_find(info, n, PMIX_JOB_TERM_STATUS)->value.data.status;
        sem_post(&seen.ended);
    }
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

void jobs_setup(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END,
                             PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_EXIT_NONZERO_TERM,
                             PMIX_ERR_PROC_REQUESTED_ABORT,
                             PMIX_ERR_PROC_TERM_WO_SYNC,
                             PMIX_ERR_PROC_RESTART,
                             PMIX_ERR_TIMEOUT};

    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1); /* every directory is readable */
    sem_init(&seen.ended, 0, 0);
    setenv("PMIX_MCA_embedded_grace", "300ms", 1);
    setenv("PMIX_MCA_pfexec_linux_start_timeout", "1500ms", 1);
    setenv("PMIX_MCA_pfexec_posix_start_timeout", "1500ms", 1);
    ok(PMIx_server_init(NULL, NULL, 0));
    ck_assert_int_ge(PMIx_Register_event_handler(codes, PX_COUNT(codes), NULL, 0,
                                                 on_event, NULL, NULL),
                     0);
}

void jobs_teardown(void)
{
    ok(PMIx_server_finalize());
}

struct px_launcher *launcher(void)
{
    return px_server_builtin_self();
}

void await_any_end(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 30;
    ok(sem_timedwait(&seen.ended, &t));
}

void await_end(pmix_status_t verdict)
{
    await_any_end();
    ck_assert_int_eq(seen.verdict, verdict);
}

void await_failure(pmix_status_t failure, pmix_status_t verdict, pmix_rank_t rank,
                   int exit_code, const char *text)
{
    await_end(verdict);
    ck_assert_int_eq(seen.n_failures, 1);
    ck_assert_int_eq(seen.failure, failure);
    ck_assert_uint_eq(seen.culprit.rank, rank);
    ck_assert_int_eq(seen.exit_code, exit_code);
    ck_assert_str_eq(seen.text, text);
    seen.n_failures = 0;
}

static void do_count_running(struct px_call *call, void *nspace)
{
    const struct px_launch_job *job = px_job_find(launcher(), nspace);

    px_call_done(call, job ? (pmix_status_t)job->n_running : 0);
}

void await_running(const char *nspace, uint32_t n)
{
    pmix_status_t now = -1;

    for (int i = 0; i < 20000 && now != (pmix_status_t)n; i++) {
        usleep(i > 0 ? 1000 : 0);
        now = px_call(px_process.loop, do_count_running, (void *)(uintptr_t)nspace);
    }
    ck_assert_int_eq(now, (pmix_status_t)n);
}

pmix_app_t shell_of(int n, const char *script)
{
    static _Thread_local char sh[] = "sh", c[] = "-c", *argv[4];

    argv[0] = sh;
    argv[1] = c;
    argv[2] = (char *)script;
    return (pmix_app_t){
        .cmd = sh, .argv = argv, .cwd = (char *)px_test_dir(), .maxprocs = n};
}

pmix_status_t spawn_as(const px_infos *of_job, const px_infos *of_app, int n,
                       const char *script)
{
    pmix_app_t app = shell_of(n, script);

    app.info = of_app ? of_app->v : NULL;
    app.ninfo = of_app ? of_app->n : 0;
    return PMIx_Spawn(of_job ? of_job->v : NULL, of_job ? of_job->n : 0, &app, 1,
                      job_name);
}

pmix_status_t spawn_with(const px_infos *infos, int n, const char *script)
{
    return spawn_as(infos, NULL, n, script);
}

pmix_status_t spawn_asking(const char *key, const void *value, pmix_data_type_t type,
                           int n, const char *script)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, key, value, type));
    PMIx_Info_required(&infos.v[0]);
    return spawn_with(&infos, n, script);
}

void spawn(int n, const char *script)
{
    ok(spawn_with(NULL, n, script));
}

void spawn_sleepers(int n)
{
    spawn(n, "exec sleep 20");
}

struct request {
    const pmix_proc_t *parent;
    const pmix_info_t *info;
    size_t n;
    const pmix_app_t *app;
};

static void on_spawned(pmix_status_t status, char nspace[], void *cbdata)
{
    if (!status)
        px_str_copy(job_name, sizeof(job_name), nspace);
    px_call_done(cbdata, status);
}

static void do_spawn(struct px_call *call, void *arg)
{
    const struct request *q = arg;
    pmix_status_t rc = px_process.server->module.spawn(q->parent, q->info, q->n, q->app,
                                                       1, on_spawned, call);

    if (rc)
        px_call_done(call, rc);
}

pmix_status_t spawn_by(const pmix_proc_t *parent, const pmix_info_t *info, size_t n,
                       const pmix_app_t *app)
{
    return px_call(px_process.loop, do_spawn, &(struct request){parent, info, n, app});
}

pmix_status_t control_by(const char *directive, const void *value,
                         pmix_data_type_t type, pmix_proc_t *target)
{
    bool yes = true;
    pmix_info_t info;

    ok(PMIx_Info_load(&info, directive, value ? value : &yes,
                      value ? type : PMIX_BOOL));
    pmix_status_t rc = PMIx_Job_control(target, target ? 1 : 0, &info, 1, NULL, NULL);
    PMIx_Info_destruct(&info);
    return rc;
}

pmix_status_t control(const char *directive, pmix_proc_t *target)
{
    return control_by(directive, NULL, PMIX_BOOL, target);
}

pmix_status_t send_signal(int signum, pmix_proc_t *target)
{
    return control_by(PMIX_JOB_CTRL_SIGNAL, &signum, PMIX_INT, target);
}

bool exists(const char *name)
{
    return access(px_test_path(name), F_OK) == 0;
}

void remove_file(const char *name)
{
    ok(unlink(px_test_path(name)));
}

void make_file(const char *name)
{
    close(open(px_test_path(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

void await_file(const char *name)
{
    for (int i = 0; i < 5000 && !exists(name); i++)
        usleep(1000);
    remove_file(name);
}

pmix_value_t *get(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc;
    pmix_value_t *v = NULL;

    px_proc_set(&proc, job_name, rank);
    ok(PMIx_Get(&proc, key, NULL, 0, &v));
    return v;
}
