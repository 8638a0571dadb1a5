/* SPDX-License-Identifier: BSD-3-Clause */
/* A process of a job may start others and end before them, even make daemons of
 * them. As a "subreaper" this process becomes their parent, and kills what outlives
 * the job. */
#include "pmixrun.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_OLD = 64, /* children before exec of pmixrun: few programs have more */
    NAP_MS = 2,
    PATIENCE_MS = 2000, /* one in a dead file system cannot be killed */
};

static pid_t old[MAX_OLD];
static int n_old;
static bool knows_old; /* else none is killed: it might be one of those */

/* The kernel gives orphans to the process, and lists them with its first thread; that
 * is also where children of threads that have ended are. */
static FILE *open_children(void)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    return fopen(path, "re");
}

void orphans_adopt(void)
{
    FILE *list = open_children();
    int pid;

    while (list && n_old < MAX_OLD && fscanf(list, "%d", &pid) == 1)
        old[n_old++] = pid;
    knows_old = list && feof(list);
    if (list)
        fclose(list);
    /* Fails on no kernel since 3.4; without it, orphans are init's as ever. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool is_old(pid_t pid)
{
    for (int i = 0; i < n_old; i++)
        if (old[i] == pid)
            return true;
    return false;
}

/* Those who clean up after a server, be it ours or one that a rank was: they end when
 * they have done that, and are given the time for it. */
static bool is_cleaner(pid_t pid)
{
    static const char *const names[] = {"tenon-janitor\n", "tenon-sweep\n"};
    char path[64], name[32];
    bool is_one = false;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
    f = fopen(path, "re");
    if (!f)
        return errno != ENOENT; /* perhaps: the next round may tell */
    if (fgets(name, sizeof(name), f))
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            is_one = is_one || strcmp(name, names[i]) == 0;
    fclose(f);
    return is_one;
}

/* False if there are none, or none that can be known. */
static bool kill_all(void)
{
    FILE *list = knows_old ? open_children() : NULL;
    bool any = knows_old && !list && errno != ENOENT; /* a kernel may have no list */
    int pid;

    while (list && fscanf(list, "%d", &pid) == 1) {
        if (is_old(pid))
            continue;
        any = true;
        if (!is_cleaner(pid))
            kill(pid, SIGKILL);
        waitpid(pid, NULL, WNOHANG); /* mostly on a later round */
    }
    any = any || (list && ferror(list));
    if (list)
        fclose(list);
    return any;
}

void orphans_end(void)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};

    /* The children of each are ours by the next round. */
    for (int ms = 0; kill_all() && ms < PATIENCE_MS; ms += NAP_MS)
        nanosleep(&nap, NULL);
}
