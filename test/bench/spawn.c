/* SPDX-License-Identifier: BSD-3-Clause */
/* For spawn.py, whose clock is CLOCK_MONOTONIC, too; a row is the time from a call until its process was
 * initialised:
 *   spawn ROW START         initialised by its launcher, which was started at that time
 *   spawn N...              starts jobs of so many, one after the other */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static pmix_proc_t me;

/* Runs a process of a spawned job, which notifies its parent by a byte into the pipe. */
static void be_child(const char *pipe)
{
    int fd = open(pipe, O_WRONLY | O_CLOEXEC);

    must_do(pipe, fd);
    must_do(pipe, write(fd, "", 1));
}

static void spawn(const char *self, const char *pipe, const char *row, int n)
{
    char start[32], *argv[] = {(char *)self, (char *)row, start, (char *)pipe, NULL};
    pmix_app_t app = {.cmd = (char *)self, .argv = argv, .maxprocs = n};
    pmix_proc_t job;
    char byte;

    must_do(pipe, mkfifo(pipe, 0600));
    int fd = open(pipe, O_RDWR | O_CLOEXEC);
    must_do(pipe, fd);
    snprintf(start, sizeof(start), "%.1f", now());
    must("spawn", PMIx_Spawn(NULL, 0, &app, 1, job.nspace));
    for (int i = 0; i < n; i++)
        must_do(pipe, read(fd, &byte, 1));
    close(fd);
    unlink(pipe);
}

int main(int argc, char **argv)
{
    char pipe[256], row[32], self[4096] = "";
    const char *top = getenv("TMPDIR");
    bool is_started = argc > 2 && strchr(argv[2], '.');

    must("init", PMIx_Init(&me, NULL, 0));
    double initialised = now();
    if (is_started)
        printf("%s %.1f\n", argv[1], initialised - atof(argv[2]));
    if (is_started && argc > 3)
        be_child(argv[3]);
    must_do("self", readlink("/proc/self/exe", self, sizeof(self) - 1));
    for (int i = 1; !is_started && i < argc; i++) {
        int n = atoi(argv[i]);

        snprintf(row, sizeof(row), "spawn-%d", n);
        snprintf(pipe, sizeof(pipe), "%s/%s.%d", top ? top : "/tmp", row,
                 (int)getpid());
        spawn(self, pipe, row, n);
    }
    must("finalize", PMIx_Finalize(NULL, 0));
    return EXIT_SUCCESS;
}
