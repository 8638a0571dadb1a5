/* SPDX-License-Identifier: BSD-3-Clause */
/* Benchmark of /bin/true by pfexec on a server's loop, beside posix_spawn and waitpid in this process.
 * Starts one process at a time, and 64 at a time, in turns; prints medians. Exit status 1 if pfexec takes
 * more than 1.5 times as long. */
#include "core/host/job.h"
#include "core/server/host.h"
#include "frameworks/framework.h"
#include "core/rt/loop.h"
#include "tenon/pfexec.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

enum { ROUNDS = 41, N = 64, LIMIT = 150 /* per cent */ };

static char *const argv[] = {(char *)"/bin/true", NULL};
extern char **environ;

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* ---- theirs ----------------------------------------------------------------------- */

static void plain(int at_once)
{
    pid_t pids[N];
    int status;

    for (int done = 0; done < N; done += at_once) {
        for (int i = 0; i < at_once; i++)
            must(posix_spawn(&pids[i], argv[0], NULL, NULL, argv, environ) == 0,
                 "posix_spawn");
        for (int i = 0; i < at_once; i++)
            must(waitpid(pids[i], &status, 0) == pids[i] && status == 0, "waitpid");
    }
}

/* ---- ours ------------------------------------------------------------------------- */

struct batch {
    struct px_call *call;
    const struct px_module *pfexec;
    int n_begun, n_ended;
};

static void begin_one(struct batch *b);

static void on_end(void *arg, pid_t pid PX_UNUSED, int status,
                   const struct rusage *usage PX_UNUSED)
{
    struct batch *b = arg;

    must(status == 0, "exit status");
    b->n_ended++;
    if (b->n_ended == N)
        px_call_done(b->call, PMIX_SUCCESS);
    else if (b->n_begun < N)
        begin_one(b);
}

static void begin_one(struct batch *b)
{
    const struct px_pfexec_spec spec = {.program = argv[0],
                                        .argv = argv,
                                        .env = environ,
                                        .fds = {0, 1, 2},
                                        .on_exit = on_end,
                                        .arg = b,
                                        .size = sizeof(spec)};
    char why[512];
    pid_t pid;

    b->n_begun++;
    must(PX_OPS(pfexec, b->pfexec)
                 ->spawn(b->pfexec->self, &spec, &pid, why, sizeof(why)) == 0,
         "pfexec");
}

static struct batch batch;

static void do_begin(struct px_call *call, void *arg)
{
    struct px_launcher *l = px_server_builtin_self();

    batch = (struct batch){.call = call, .pfexec = l->pfexec};
    for (int i = 0; i < *(const int *)arg; i++)
        begin_one(&batch);
}

static void by_pfexec(int at_once)
{
    must(px_call(px_process.loop, do_begin, &at_once) == 0, "pfexec");
}

/* ---- both ------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *ms)
{
    qsort(ms, ROUNDS, sizeof(*ms), by_size);
    return ms[ROUNDS / 2];
}

int main(void)
{
    static const int at_once[] = {1, N};
    bool slow = false;

    must(PMIx_server_init(NULL, NULL, 0) == 0, "init");
    printf("%-20s %10s %10s %7s\n", "ms", "pfexec", "plain", "ratio");
    for (size_t k = 0; k < PX_COUNT(at_once); k++) {
        double ms[2][ROUNDS];

        for (int i = 0; i < 2 * ROUNDS; i++) {
            double start = now_ms();

            (i % 2 ? plain : by_pfexec)(at_once[k]);
            ms[i % 2][i / 2] = now_ms() - start;
        }
        double ours = median(ms[0]), theirs = median(ms[1]);
        printf("%d, %d at a time     %10.2f %10.2f %7.3f\n", N, at_once[k], ours,
               theirs, ours / theirs);
        slow |= 100 * ours > LIMIT * theirs;
    }
    must(PMIx_server_finalize() == 0, "finalize");
    return slow;
}
