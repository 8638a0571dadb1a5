/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of shell scripts, spawned by a server with the built-in host in the test's own process: starting
 * them, ordering them about, and seeing how they end. */
#ifndef TEST_HOST_JOBS_H
#define TEST_HOST_JOBS_H

#include "core/host/job.h"

#include <semaphore.h>
#include <stdatomic.h>

#include "core/base/str.h"
#include "core/rt/loop.h"
#include "core/server/server.h"
#include "px_test.h"

/* What the host has told of. */
extern struct seen {
    sem_t ended; /* once for each job */
    atomic_int n_failures, n_restarts;
    pmix_status_t failure, verdict; /* the first failure, and the last end */
    pmix_proc_t culprit;
    int exit_code;
    char text[PX_FAILURE_B], restart[512];
    pid_t restarted; /* process that failed */
} seen;
/* The job spawned last. Jobs run in px_test_dir(). */
extern char job_name[PMIX_MAX_NSLEN + 1];

/* For PX_TEST_MAIN. */
void jobs_setup(void);
void jobs_teardown(void);
struct px_launcher *launcher(void);

/* Waits until a job has ended; as it should: with this verdict. */
void await_any_end(void);
void await_end(pmix_status_t verdict);
/* A job, and with this text its process of that rank, has failed. Forgets that. */
void await_failure(pmix_status_t failure, pmix_status_t verdict, pmix_rank_t rank,
                   int exit_code, const char *text);

/* n processes of a shell script, with infos for the job, and for the application. */
pmix_status_t spawn_as(const px_infos *of_job, const px_infos *of_app, int n,
                       const char *script);
pmix_status_t spawn_with(const px_infos *infos, int n, const char *script);
void spawn(int n, const char *script);
void spawn_sleepers(int n);

/* As the host does for a process that is connected. */
pmix_status_t spawn_by(const pmix_proc_t *parent, const pmix_info_t *info, size_t n,
                       const pmix_app_t *app);

/* PMIx_Job_control with this value, or a flag if it is NULL, to target; NULL: to all
 * jobs. */
pmix_status_t control_by(const char *directive, const void *value,
                         pmix_data_type_t type, pmix_proc_t *target);
pmix_status_t control(const char *directive, pmix_proc_t *target);
pmix_status_t send_signal(int signum, pmix_proc_t *target);
/* Of the job spawned last, what PMIx_Get knows; the caller's to free. */
pmix_value_t *get(pmix_rank_t rank, const char *key);

/* Files in the jobs' folder. await_file waits for one, and removes it. */
bool exists(const char *name);
void remove_file(const char *name);
void make_file(const char *name);
void await_file(const char *name);

#endif
