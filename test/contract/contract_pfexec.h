/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of the pfexec suite: children started by the component, and their
 * results. */
#ifndef PX_CONTRACT_PFEXEC_H
#define PX_CONTRACT_PFEXEC_H

#include "contract.h"
#include "core/base/attr.h"
#include "process.h"
#include "tenon/pfexec.h"

#include <sys/resource.h>

enum {
    SOON_MS =
        5000, /* limit for an operation that takes a millisecond on an idle machine */
    LATE_MS = 20000,
    NOT_ENDED = -1,
};

struct job {
    struct px_pfexec_spec spec; /* streams are /dev/null unless set */
    pid_t pid;
    int n_starts;
    pmix_status_t started; /* status passed to on_start */
    int wait_status;       /* NOT_ENDED until on_exit */
    int n_exits;
    struct rusage usage;
    char why[512];
};

const struct px_pfexec_ops *pfexec_ops(void);

/* Return a job that is not started yet. */
struct job job_with(const char *program, char *const *argv);
struct job job_of_script(const char *script);
struct job job_of(const char *program);
/* Makes a pipe the job's stdout; returns the read end. */
int job_pipe_stdout(struct job *job);

/* Calls spawn, which must not call back before it returns. */
pmix_status_t job_begin(struct job *job);
/* True if on_start was called; for fake_host_run. */
bool has_started(void *job);
/* Begins the job and waits for on_start; job_spawn also requires success. */
pmix_status_t job_try_spawn(struct job *job);
void job_spawn(struct job *job);
/* Waits for on_exit and returns the wait status. */
int job_wait(struct job *job);
/* Runs the job to its successful end and compares its output. */
void job_expect_output(struct job *job, const char *text);
/* Checks that the start fails, leaves nothing, and calls back no more. */
void job_expect_failure(struct job *job, pmix_status_t status, const char *why);
bool has_no_children(void);
/* Runs run(arg) in its own process; run must return 0. */
void run_in_process(int (*run)(void *arg), void *arg);

#endif
