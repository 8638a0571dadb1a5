/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for tests of the built-in host: they spawn jobs of shell scripts, control them and check
 * their end. The server runs in the test's own process. */
#ifndef TEST_HOST_JOBS_H
#define TEST_HOST_JOBS_H

#include "core/host/job.h"

#include <semaphore.h>
#include <stdatomic.h>

#include "core/base/str.h"
#include "core/rt/loop.h"
#include "core/server/server.h"
#include "px_test.h"

/* Events that the host has sent. */
extern struct seen {
    sem_t ended; /* one post for each ended job */
    atomic_int n_failures, n_restarts;
    pmix_status_t failure, verdict; /* last failure; verdict of the last ended job */
    pmix_proc_t culprit;
    int exit_code;
    char text[PX_FAILURE_B], restart[512];
    pid_t restarted; /* process that failed */
} seen;
/* Name of the job spawned last. Jobs run in px_test_dir(). */
extern char job_name[PMIX_MAX_NSLEN + 1];

/* Fixtures for PX_TEST_MAIN. */
void jobs_setup(void);
void jobs_teardown(void);
struct px_launcher *launcher(void);

/* Waits until a job has ended. await_end also checks the verdict of the job. */
void await_any_end(void);
void await_end(pmix_status_t verdict);
/* Waits for the end of a job. Checks its verdict, its one failure, and the text of the failed rank.
 * Resets seen.n_failures. */
void await_failure(pmix_status_t failure, pmix_status_t verdict, pmix_rank_t rank,
                   int exit_code, const char *text);

/* Waits until n processes of a job run. A job that is not known any more has none. */
void await_running(const char *nspace, uint32_t n);

/* Returns n processes of a shell script, until the next call of this thread. */
pmix_app_t shell_of(int n, const char *script);
/* Spawns n processes of a shell script. of_job: infos for the job; of_app: infos for the
 * application. Both may be NULL. */
pmix_status_t spawn_as(const px_infos *of_job, const px_infos *of_app, int n,
                       const char *script);
pmix_status_t spawn_with(const px_infos *infos, int n, const char *script);
/* Spawns with one attribute, which is required. */
pmix_status_t spawn_asking(const char *key, const void *value, pmix_data_type_t type,
                           int n, const char *script);
void spawn(int n, const char *script);
void spawn_sleepers(int n);

/* Spawns a job on behalf of a connected process. */
pmix_status_t spawn_by(const pmix_proc_t *parent, const pmix_info_t *info, size_t n,
                       const pmix_app_t *app);

/* Calls PMIx_Job_control for target (NULL: all jobs). A NULL value means the flag true. */
pmix_status_t control_by(const char *directive, const void *value,
                         pmix_data_type_t type, pmix_proc_t *target);
pmix_status_t control(const char *directive, pmix_proc_t *target);
pmix_status_t send_signal(int signum, pmix_proc_t *target);
/* Returns the value of key for a rank of the job spawned last. The caller frees the value. */
pmix_value_t *get(pmix_rank_t rank, const char *key);

/* Files in the jobs' folder. await_file waits for a file and removes the file. */
bool exists(const char *name);
void remove_file(const char *name);
void make_file(const char *name);
void await_file(const char *name);

#endif
