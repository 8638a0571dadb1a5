/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/host/builtin.h"
#include "core/server/host.h"

struct seen seen;
char job_name[PMIX_MAX_NSLEN + 1];

static void on_event(size_t id PX_UNUSED, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t *results PX_UNUSED,
                     size_t n_results PX_UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *message = px_info_str(info, n, PMIX_EVENT_TEXT_MESSAGE);
    const pmix_info_t *status = px_info_find(info, n, PMIX_JOB_TERM_STATUS);

    seen.exit_code = (int)px_info_u32(info, n, PMIX_EXIT_CODE, 9999);
    if (code != PMIX_EVENT_JOB_END) {
        seen.n_failures++;
        seen.failure = code;
        seen.culprit = *source;
        snprintf(seen.text, sizeof(seen.text), "%s", message ? message : "");
    } else {
        seen.verdict = status->value.data.status;
        sem_post(&seen.ended);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

void host_setup(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_REQUESTED_ABORT,
                             PMIX_ERR_PROC_TERM_WO_SYNC};

    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1); /* all of them readable */
    sem_init(&seen.ended, 0, 0);
    setenv("PMIX_MCA_embedded_grace", "300ms", 1);
    ok(PMIx_server_init(NULL, NULL, 0));
    ck_assert_int_ge(PMIx_Register_event_handler(codes, PX_COUNT(codes), NULL, 0,
                                                 on_event, NULL, NULL),
                     0);
}

void host_teardown(void)
{
    ok(PMIx_server_finalize());
}

struct px_launcher *launcher(void)
{
    return &((struct px_host_builtin *)px_server_builtin_self())->launcher;
}

void await_end(pmix_status_t verdict)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 10;
    ok(sem_timedwait(&seen.ended, &t));
    ck_assert_int_eq(seen.verdict, verdict);
}

pmix_status_t spawn_with(const px_infos *infos, int n, const char *script)
{
    char sh[] = "sh", c[] = "-c", *argv[] = {sh, c, (char *)script, NULL};
    pmix_app_t app = {
        .cmd = sh, .argv = argv, .cwd = (char *)px_test_dir(), .maxprocs = n};

    return PMIx_Spawn(infos ? infos->v : NULL, infos ? infos->n : 0, &app, 1, job_name);
}

void spawn(int n, const char *script)
{
    ok(spawn_with(NULL, n, script));
}

void spawn_sleepers(int n)
{
    spawn(n, "exec sleep 20");
}

pmix_status_t control(const char *directive, int signum, pmix_proc_t *target)
{
    bool yes = true;
    pmix_info_t info;

    ok(PMIx_Info_load(&info, directive, signum ? (void *)&signum : &yes,
                      signum ? PMIX_INT : PMIX_BOOL));
    return PMIx_Job_control(target, target ? 1 : 0, &info, 1, NULL, NULL);
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
