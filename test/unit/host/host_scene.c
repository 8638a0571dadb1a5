/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "core/model/nspace.h"
#include "core/host/builtin.h"
#include "px_test.h"

struct embedded_told told;
char embedded_job[PMIX_MAX_NSLEN + 1], embedded_dir[64];

static void on_event(size_t id PX_UNUSED, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t *results PX_UNUSED,
                     size_t n_results PX_UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *message = px_info_str(info, n, PMIX_EVENT_TEXT_MESSAGE);
    const pmix_info_t *status = px_info_find(info, n, PMIX_JOB_TERM_STATUS);

    told.exit_code = (int)px_info_u32(info, n, PMIX_EXIT_CODE, 9999);
    if (code != PMIX_EVENT_JOB_END) {
        told.n_failures++;
        told.failure = code;
        told.culprit = *source;
        snprintf(told.text, sizeof(told.text), "%s", message ? message : "");
    } else {
        told.verdict = status->value.data.status;
        sem_post(&told.ended);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

void embedded_setup(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_REQUESTED_ABORT,
                             PMIX_ERR_PROC_TERM_WO_SYNC};

    snprintf(embedded_dir, sizeof(embedded_dir), "/tmp/tenon-embedded.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(embedded_dir));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    sem_init(&told.ended, 0, 0);
    setenv("PMIX_MCA_embedded_grace", "300ms", 1);
    ck_assert_int_eq(PMIx_server_init(NULL, NULL, 0), PMIX_SUCCESS);
    ck_assert_int_ge(PMIx_Register_event_handler(codes, PX_COUNT(codes), NULL, 0,
                                                 on_event, NULL, NULL),
                     0);
}

void embedded_teardown(void)
{
    ck_assert_int_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    rmdir(embedded_dir);
}

void await_end(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 10;
    ck_assert_int_eq(sem_timedwait(&told.ended, &t), 0);
}

pmix_status_t spawn_with(const px_infos *infos, int n, const char *script)
{
    char sh[] = "sh", c[] = "-c", *argv[] = {sh, c, (char *)script, NULL};
    pmix_app_t app = {.cmd = sh, .argv = argv, .cwd = embedded_dir, .maxprocs = n};

    return PMIx_Spawn(infos ? infos->v : NULL, infos ? infos->n : 0, &app, 1,
                      embedded_job);
}

void spawn(int n, const char *script)
{
    ck_assert_int_eq(spawn_with(NULL, n, script), PMIX_SUCCESS);
}

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", embedded_dir, name);
    return path;
}

bool exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

void remove_file(const char *name)
{
    ck_assert_int_eq(unlink(path_of(name)), 0);
}

void make_file(const char *name)
{
    close(open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

void await_file(const char *name)
{
    for (int i = 0; i < 5000 && !exists(name); i++)
        usleep(1000);
    remove_file(name);
}

static void do_count_jobs(struct px_call *call, void *args)
{
    PX_LIST_EACH (&px_process.server->embedded->jobs, struct px_job, j, link)
        ++*(int *)args;
    px_call_done(call, px_nspace_find(px_process.model, embedded_job)
                           ? PMIX_SUCCESS
                           : PMIX_ERR_NOT_FOUND);
}

int count_jobs(bool *known)
{
    int n = 0;

    *known = px_call(px_process.loop, do_count_jobs, &n) == PMIX_SUCCESS;
    return n;
}
