/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the pfexec suite share: starting something and learning how it
 * ended and what it wrote. */
#ifndef PX_CONTRACT_PFEXEC_H
#define PX_CONTRACT_PFEXEC_H

#include "contract.h"
#include "core/base/attr.h"
#include "process.h"
#include "tenon/pfexec.h"

enum {
    SOON_MS = 5000, /* for what takes a millisecond on a machine that is not busy */
    LATE_MS = 20000,
    NOT_ENDED = -1,
};

struct job {
    struct px_pfexec_spec spec; /* the streams are /dev/null unless set */
    pid_t pid;
    int wait_status; /* NOT_ENDED until on_exit */
    int n_exits;
    char why[512];
};

const struct px_pfexec_ops *pfexec_ops(void);
struct job job_with(const char *program, char *const *argv);
/* Of /bin/sh -c script. */
struct job job_of_script(const char *script);
struct job job_of(const char *program);
pmix_status_t job_try_spawn(struct job *job);
/* Succeeds. */
void job_spawn(struct job *job);
/* Its stdout becomes a pipe; returns the end to read. For before it is spawned; call
 * job_close_stdout after. */
int job_pipe_stdout(struct job *job);
void job_close_stdout(struct job *job);
/* Runs the loop until it has ended; returns the wait status. */
int job_wait(struct job *job);
/* All of it: what the job writes, in malloc memory. */
char *job_output(struct job *job);
/* True if no child, live or dead, is left of this process. */
bool has_no_children(void);

/* Append the tests of contract_pfexec_fail.c and contract_pfexec_life.c; return how
 * many. */
size_t pfexec_fail_tests(const TTest **tests);
size_t pfexec_life_tests(const TTest **tests);

#endif
