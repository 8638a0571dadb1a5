/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of a server that is its own host: it starts jobs of shell scripts, and what is told of their
 * failures and ends is kept. */
#ifndef TEST_EMBEDDED_SCENE_H
#define TEST_EMBEDDED_SCENE_H

#include <semaphore.h>
#include <stdatomic.h>

#include "core/types/type.h"

extern struct embedded_told {
    sem_t ended; /* once for each job */
    atomic_int n_failures;
    pmix_status_t failure, verdict; /* the first failure, and the last end */
    pmix_proc_t culprit;
    int exit_code;
    char text[512];
} told;
/* The job spawned last, and the folder jobs run in. */
extern char embedded_job[PMIX_MAX_NSLEN + 1], embedded_dir[64];

/* What PX_TEST_MAIN_WITH wants: a server with its own host, which writes nothing to stderr. */
void embedded_setup(void);
void embedded_teardown(void);

/* n processes of a shell script, with infos for the job. */
pmix_status_t spawn_with(const px_infos *infos, int n, const char *script);
void spawn(int n, const char *script);
/* Waits until a job has ended. */
void await_end(void);
/* *known: whether the namespace of the last job is. */
int count_jobs(bool *known);

/* Files in the jobs' folder. await_file waits for one, and removes it. */
bool exists(const char *name);
void make_file(const char *name);
void remove_file(const char *name);
void await_file(const char *name);

#endif
