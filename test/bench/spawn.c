/* SPDX-License-Identifier: BSD-3-Clause */
/* For spawn.py, whose clock is CLOCK_MONOTONIC, too; a row is the time from a call until its process was initialised:
 *   spawn ROW START         initialised by its launcher, which was started at that time
 *   spawn N...              starts jobs of so many, one after the other, then connects with one, and disconnects */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_CONNECT = 100 };

static pmix_proc_t me;

static void must_do(const char *what, int rc)
{
    if (rc < 0) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

/* Both jobs do this. */
static void connect_often(const pmix_proc_t *other)
{
    pmix_proc_t both[2];
    double start;

    PMIX_LOAD_PROCID(&both[0], me.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], other->nspace, PMIX_RANK_WILDCARD);
    must("connect", PMIx_Connect(both, 2, NULL, 0));
    must("disconnect", PMIx_Disconnect(both, 2, NULL, 0));
    start = now_us(CLOCK_MONOTONIC);
    for (int i = 0; i < N_CONNECT; i++) {
        must("connect", PMIx_Connect(both, 2, NULL, 0));
        must("disconnect", PMIx_Disconnect(both, 2, NULL, 0));
    }
    printf("connect %.1f\n", (now_us(CLOCK_MONOTONIC) - start) / N_CONNECT);
}

/* One of a job that was spawned: tells its parent by a byte into the pipe. */
static void be_child(const char *pipe, const char *parent)
{
    pmix_proc_t job;
    int fd = open(pipe, O_WRONLY | O_CLOEXEC);

    must_do(pipe, fd);
    must_do(pipe, (int)write(fd, "", 1));
    PMIX_LOAD_PROCID(&job, parent, PMIX_RANK_WILDCARD);
    if (strstr(pipe, "connect"))
        connect_often(&job);
}

static void spawn(const char *self, const char *pipe, const char *row, int n)
{
    char start[32],
        *argv[] = {(char *)self, (char *)row, start, (char *)pipe, me.nspace, NULL};
    pmix_app_t app = {.cmd = (char *)self, .argv = argv, .maxprocs = n};
    pmix_proc_t job;
    char byte;

    must_do(pipe, mkfifo(pipe, 0600));
    int fd = open(pipe, O_RDWR | O_CLOEXEC);
    must_do(pipe, fd);
    snprintf(start, sizeof start, "%.1f", now_us(CLOCK_MONOTONIC));
    must("spawn", PMIx_Spawn(NULL, 0, &app, 1, job.nspace));
    for (int i = 0; i < n; i++)
        must_do(pipe, (int)read(fd, &byte, 1));
    if (strstr(pipe, "connect"))
        connect_often(&job);
    close(fd);
    unlink(pipe);
}

int main(int argc, char **argv)
{
    char pipe[256], row[32], self[4096] = "";
    const char *top = getenv("TMPDIR");
    bool is_started = argc > 2 && strchr(argv[2], '.');

    must("init", PMIx_Init(&me, NULL, 0));
    double now = now_us(CLOCK_MONOTONIC);
    if (is_started)
        printf("%s %.1f\n", argv[1], now - atof(argv[2]));
    if (is_started && argc > 4)
        be_child(argv[3], argv[4]);
    must_do("self", (int)readlink("/proc/self/exe", self, sizeof self - 1));
    for (int i = 1; !is_started && i <= argc; i++) {
        int n = i < argc ? atoi(argv[i]) : 1;

        snprintf(row, sizeof row, i < argc ? "spawn-%d" : "for-connect", n);
        snprintf(pipe, sizeof pipe, "%s/%s.%d", top ? top : "/tmp", row, (int)getpid());
        spawn(self, pipe, row, n);
    }
    must("finalize", PMIx_Finalize(NULL, 0));
    return EXIT_SUCCESS;
}
