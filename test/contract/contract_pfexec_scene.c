/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract_pfexec.h"

#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

const struct px_pfexec_ops *pfexec_ops(void)
{
    return contract.component->ops;
}

static void on_start_of_job(void *arg, pid_t pid, pmix_status_t status, const char *why)
{
    struct job *job = arg;

    ck_assert_int_eq(pid, job->pid);
    ck_assert_int_eq(job->n_exits, 0);
    job->n_starts++;
    job->started = status;
    px_str_copy(job->why, sizeof(job->why), why);
}

static void on_exit_of_job(void *arg, pid_t pid, int wait_status,
                           const struct rusage *usage)
{
    struct job *job = arg;

    ck_assert_int_eq(pid, job->pid);
    ck_assert_int_eq(job->n_starts, 1);
    ck_assert_int_eq(job->started, PMIX_SUCCESS);
    job->wait_status = wait_status;
    job->usage = usage ? *usage : (struct rusage){0};
    job->n_exits++;
}

struct job job_with(const char *program, char *const *argv)
{
    static char *const env[] = {(char *)"PATH=/usr/bin:/bin", NULL};

    return (struct job){
        .spec = {.program = program,
                 .argv = argv,
                 .env = env,
                 .fds = {-1, -1, -1},
                 .on_start = on_start_of_job,
                 .on_exit = on_exit_of_job,
                 .size = sizeof(struct px_pfexec_spec)},
        .wait_status = NOT_ENDED,
    };
}

struct job job_of_script(const char *script)
{
    static char *argv[4] = {(char *)"sh", (char *)"-c"};

    argv[2] = (char *)script;
    return job_with("/bin/sh", argv);
}

struct job job_of(const char *program)
{
    static char *argv[2];

    argv[0] = (char *)program;
    return job_with(program, argv);
}

pmix_status_t job_begin(struct job *job)
{
    job->pid = 0;
    job->n_starts = job->n_exits = 0;
    job->spec.arg = job;
    pmix_status_t rc = pfexec_ops()->spawn(contract.self, &job->spec, &job->pid,
                                           job->why, sizeof(job->why));
    ck_assert_int_eq(job->n_starts + job->n_exits, 0);
    ck_assert_int_eq(rc == PMIX_SUCCESS, job->pid > 0);
    return rc;
}

bool has_started(void *arg)
{
    return ((struct job *)arg)->n_starts > 0;
}

pmix_status_t job_try_spawn(struct job *job)
{
    pmix_status_t rc = job_begin(job);

    if (rc)
        return rc;
    ck_assert_msg(fake_host_run(&contract.host, LATE_MS, has_started, job),
                  "a start calls nothing back");
    ck_assert_int_eq(job->n_starts, 1);
    if (job->started)
        job->pid = 0;
    return job->started;
}

void job_spawn(struct job *job)
{
    pmix_status_t rc = job_try_spawn(job);

    ck_assert_msg(rc == PMIX_SUCCESS, "%d: %s", rc, job->why);
    ck_assert_int_gt(job->pid, 0);
}

int job_pipe_stdout(struct job *job)
{
    int ends[2];

    ok(pipe2(ends, O_CLOEXEC));
    job->spec.fds[1] = ends[1];
    return ends[0];
}

static bool has_ended(void *arg)
{
    return ((struct job *)arg)->n_exits > 0;
}

int job_wait(struct job *job)
{
    ck_assert_msg(fake_host_run(&contract.host, LATE_MS, has_ended, job),
                  "a child has not ended");
    ck_assert_int_eq(job->n_exits, 1);
    return job->wait_status;
}

bool has_no_children(void)
{
    return waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD;
}

void run_in_process(int (*run)(void *arg), void *arg)
{
    ok(process_wait(process_fork(run, arg), LATE_MS));
}

void job_expect_output(struct job *job, const char *text)
{
    PX_AUTOCLOSE int from = job_pipe_stdout(job);

    job_spawn(job);
    close(job->spec.fds[1]);
    PX_AUTOFREE char *got = process_read_end(from, LATE_MS);
    ok(job_wait(job));
    ck_assert_str_eq(got, text);
}

void job_expect_failure(struct job *job, pmix_status_t status, const char *why)
{
    size_t n_fds = px_test_count_fds();

    ck_assert_int_eq(job_try_spawn(job), status);
    ck_assert_str_eq(job->why, why);
    ck_assert_int_eq(job->pid, 0);
    ck_assert_uint_eq(px_test_count_fds(), n_fds);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
    ck_assert(has_no_children());
    ck_assert_int_eq(job->n_exits, 0);
}
