/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the built-in host: a server that starts jobs of shell scripts, and the
 * events of their failures and ends. */
#ifndef TEST_HOST_SCENE_H
#define TEST_HOST_SCENE_H

#include <semaphore.h>
#include <stdatomic.h>

#include "core/types/type.h"
#include "px_test.h"

extern struct seen {
    sem_t ended; /* once for each job */
    atomic_int n_failures;
    pmix_status_t failure, verdict; /* the first failure, and the last end */
    pmix_proc_t culprit;
    int exit_code;
    char text[512];
} seen;
/* The job spawned last. Jobs run in px_test_dir(). */
extern char job_name[PMIX_MAX_NSLEN + 1];

/* For PX_TEST_MAIN: a server with the built-in host, which writes nothing to
 * stderr. */
void host_setup(void);
void host_teardown(void);

struct px_launcher *launcher(void);

/* n processes of a shell script, with infos for the job. */
pmix_status_t spawn_with(const px_infos *infos, int n, const char *script);
void spawn(int n, const char *script);
/* Spawns one that waits to be ended, and returns when it runs. */
void spawn_sleepers(int n);
/* Waits until a job has ended, as it should: with this verdict. */
void await_end(pmix_status_t verdict);
/* PMIx_Job_control with a signal, or a flag if that is 0, to target; NULL: to all
 * jobs. */
pmix_status_t control(const char *directive, int signum, pmix_proc_t *target);

/* Files in the jobs' folder. await_file waits for one, and removes it. */
bool exists(const char *name);
void make_file(const char *name);
void remove_file(const char *name);
void await_file(const char *name);

#endif
