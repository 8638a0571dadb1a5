/* SPDX-License-Identifier: BSD-3-Clause */
/* Orphans: processes that outlive the job's processes. A process of a job may start
 * daemons, or end before its children. pmixrun is a "subreaper": the kernel makes
 * pmixrun the parent of such orphans. pmixrun kills orphans that outlive the job. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pmixrun.h"

enum {
    MAX_OLD = 64, /* children before exec of pmixrun: few programs have more */
    NAP_MS = 2,
    ORPHANS_MS = 2000, /* a process in a dead file system cannot be killed */
    OF_JOB_MS = 100,   /* of a job, while other jobs go on */
};

static pid_t old[MAX_OLD];
static int n_old;
static bool knows_old; /* false: no orphan is killed, because it may be an old child */

void orphans_adopt(void)
{
    FILE *list = os_children();
    int pid;

    while (list && n_old < MAX_OLD && fscanf(list, "%d", &pid) == 1)
        old[n_old++] = pid;
    knows_old = list && feof(list);
    if (list)
        fclose(list);
    os_adopt_orphans();
}

/* True for a process that removes a server's files, for our server or for a rank
 * that is a server. Such a process ends by itself, and is not killed. */
static bool is_cleaner(pid_t pid)
{
    static const char *const names[] = {"tenon-janitor\n", "tenon-sweep\n",
                                        "tenon-files\n"};
    char name[32];
    bool is_one = false;
    FILE *f = os_process_file(pid, "comm");

    if (!f)
        return errno != ENOENT; /* unknown: not killed before the next round */
    if (fgets(name, sizeof(name), f))
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            is_one = is_one || strcmp(name, names[i]) == 0;
    fclose(f);
    return is_one;
}

static bool is_old(pid_t pid)
{
    int i = 0;

    while (i < n_old && old[i] != pid)
        i++;
    return i < n_old;
}

bool orphans_exist(void)
{
    FILE *list = knows_old ? os_children() : NULL;
    bool any = knows_old && !list && errno != ENOENT;
    int pid;

    while (list && !any && fscanf(list, "%d", &pid) == 1)
        any = !is_old(pid) && !is_cleaner(pid);
    any = any || (list && ferror(list));
    if (list)
        fclose(list);
    return any;
}

/* True if the environment of a process names the job. */
static bool is_of(pid_t pid, const char *job)
{
    static const char name[] = "PMIX_NAMESPACE=";
    FILE *f = os_process_file(pid, "environ");
    char *line = NULL;
    size_t size = 0;
    bool is_one = false;

    while (f && !is_one && getdelim(&line, &size, '\0', f) > 0)
        is_one = strncmp(line, name, sizeof(name) - 1) == 0 &&
                 strcmp(line + sizeof(name) - 1, job) == 0;
    free(line);
    if (f)
        fclose(f);
    return is_one;
}

/* Reaps a killed process. Its environment is empty in a later round. */
static void await_end_of(pid_t pid)
{
    const struct timespec nap = {.tv_nsec = 1000000L};

    for (int ms = 0; ms < OF_JOB_MS && waitpid(pid, NULL, WNOHANG) == 0; ms++)
        nanosleep(&nap, NULL);
}

/* Kills the orphans of a job, or all orphans: job NULL. kills false: only reaps them.
 * False if there are none, or if this kernel does not list them. */
static bool kill_all(const char *job, bool kills)
{
    FILE *list = knows_old ? os_children() : NULL;
    bool any = knows_old && !list && errno != ENOENT; /* ENOENT: not in this kernel */
    int pid;

    while (list && fscanf(list, "%d", &pid) == 1) {
        if (is_old(pid) || (job && is_cleaner(pid)))
            continue;
        const bool counts = !job || is_of(pid, job);

        any = any || counts;
        if (kills && counts && !is_cleaner(pid))
            kill(pid, SIGKILL);
        if (job && counts)
            await_end_of(pid);
        else
            waitpid(pid, NULL, WNOHANG); /* reaps most processes in a later round */
    }
    any = any || (list && ferror(list));
    if (list)
        fclose(list);
    return any;
}

/* Kills and reaps orphans. Children of a killed one are orphans in the next round. */
static void end_all(const char *job, bool kills, int limit_ms)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};

    for (int ms = 0; kill_all(job, kills) && ms < limit_ms; ms += NAP_MS)
        nanosleep(&nap, NULL);
}

void orphans_end(void)
{
    end_all(NULL, true, ORPHANS_MS);
}

void orphans_await(int ms)
{
    end_all(NULL, false, ms);
}

void orphans_end_of(const char *job)
{
    end_all(job, true, OF_JOB_MS);
}
