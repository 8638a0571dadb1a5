/* SPDX-License-Identifier: BSD-3-Clause */
/* Benchmark of /bin/true by pfexec on a server's loop, beside posix_spawn and waitpid in this process.
 * Starts one process at a time, and 64 at a time, in turns; prints medians. Exit status 1 if pfexec takes
 * more than 1.5 times as long. */
#include "bench.h"

#include "core/host/job.h"
#include "core/server/host.h"
#include "frameworks/framework.h"
#include "core/rt/loop.h"
#include "tenon/pfexec.h"

#include <spawn.h>
#include <sys/wait.h>

enum { ROUNDS = 41, N = 64, LIMIT = 150 /* per cent */ };

static char *const argv[] = {(char *)"/bin/true", NULL};
extern char **environ;

/* ---- theirs ----------------------------------------------------------------------- */

static void plain(int at_once)
{
    pid_t pids[N];
    int status;

    for (int done = 0; done < N; done += at_once) {
        for (int i = 0; i < at_once; i++)
            must_do("posix_spawn",
                    -posix_spawn(&pids[i], argv[0], NULL, NULL, argv, environ));
        for (int i = 0; i < at_once; i++)
            must_do("waitpid",
                    waitpid(pids[i], &status, 0) == pids[i] && status == 0 ? 0 : -1);
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

    must_do("exit status", -status);
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
    must("pfexec", PX_OPS(pfexec, b->pfexec)
                       ->spawn(b->pfexec->self, &spec, &pid, why, sizeof(why)));
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
    must("pfexec", px_call(px_process.loop, do_begin, &at_once));
}

/* ---- both ------------------------------------------------------------------------- */

int main(void)
{
    static const int at_once[] = {1, N};
    bool slow = false;

    must("init", PMIx_server_init(NULL, NULL, 0));
    printf("%-20s %10s %10s %7s\n", "ms", "pfexec", "plain", "ratio");
    for (size_t k = 0; k < PX_COUNT(at_once); k++) {
        double ms[2][ROUNDS];

        for (int i = 0; i < 2 * ROUNDS; i++) {
            const double start = now();

            (i % 2 ? plain : by_pfexec)(at_once[k]);
            ms[i % 2][i / 2] = (now() - start) / 1e3;
        }
        double ours = median(ms[0], ROUNDS), theirs = median(ms[1], ROUNDS);
        printf("%d, %d at a time     %10.2f %10.2f %7.3f\n", N, at_once[k], ours,
               theirs, ours / theirs);
        slow |= 100 * ours > LIMIT * theirs;
    }
    must("finalize", PMIx_server_finalize());
    return slow;
}
