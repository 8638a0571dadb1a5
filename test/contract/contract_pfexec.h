/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the pfexec suite share: children started by the component, and learning how that
 * went. */
#ifndef PX_CONTRACT_PFEXEC_H
#define PX_CONTRACT_PFEXEC_H

#include "contract.h"
#include "core/base/attr.h"
#include "process.h"
#include "tenon/pfexec.h"

#include <sys/resource.h>

enum {
    SOON_MS = 5000, /* for what takes a millisecond on a machine that is not busy */
    LATE_MS = 20000,
    NOT_ENDED = -1,
};

struct job {
    struct px_pfexec_spec spec; /* the streams are /dev/null unless set */
    pid_t pid;
    int n_starts;
    pmix_status_t started; /* what on_start said */
    int wait_status;       /* NOT_ENDED until on_exit */
    int n_exits;
    struct rusage usage;
    char why[512];
};

const struct px_pfexec_ops *pfexec_ops(void);

/* Not started yet. */
struct job job_with(const char *program, char *const *argv);
struct job job_of_script(const char *script);
struct job job_of(const char *program);
/* Its stdout; returns the end to read. */
int job_pipe_stdout(struct job *job);

/* Nothing is called back before this has returned. */
pmix_status_t job_begin(struct job *job);
/* For fake_host_run: on_start was called. */
bool has_started(void *job);
/* Begins, and waits for on_start; job_spawn with success. */
pmix_status_t job_try_spawn(struct job *job);
void job_spawn(struct job *job);
/* Waits for on_exit; returns the wait status. */
int job_wait(struct job *job);
/* Runs it to its end, a good one, and compares what it has written. */
void job_expect_output(struct job *job, const char *text);
/* Nothing of it is left, and nothing is called back any more. */
void job_expect_failure(struct job *job, pmix_status_t status, const char *why);
bool has_no_children(void);
/* Runs run(arg) in a process of its own, which has to return 0. */
void run_in_process(int (*run)(void *arg), void *arg);

#endif
