/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup [FOLDER ...]: compares px_rm_run with "rm -rf" on equal trees of 10000 files in 100 folders.
 * They take turns in changing order, so other load hits both. The result is the median of the ratios of
 * all turns, for each FOLDER (default: /tmp and /dev/shm). Exit status 1 if a result is above 1.2. */
#include "bench.h"

#include "core/reclaim/rmtree.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { N_FOLDERS = 100, N_FILES = 100, N_TURNS = 7 };

static const double limit = 1.2;

struct turn {
    double ours, theirs, ratio;
};

static void make_tree(const char *path)
{
    char name[32];

    must_do(path, mkdir(path, 0700));
    int top = open(path, O_PATH | O_CLOEXEC);
    for (int i = 0; i < N_FOLDERS; i++) {
        snprintf(name, sizeof(name), "folder-%d", i);
        must_do(path, mkdirat(top, name, 0700));
        int at = openat(top, name, O_PATH | O_CLOEXEC);
        for (int k = 0; k < N_FILES; k++) {
            snprintf(name, sizeof(name), "file-%d", k);
            must_do(path, mknodat(at, name, S_IFREG | 0600, 0));
        }
        close(at);
    }
    close(top);
}

static double by_us(const char *path)
{
    struct px_rm_item item = {path, PX_RM_DIR, PX_RM_RECURSE, 0, 0};
    struct px_pcleanup_totals totals = {0};
    double start = now();

    int rc = px_rm_run(&item, 1, geteuid(), getegid(), NULL, NULL, &totals);
    double ms = (now() - start) / 1e3;
    if (rc || totals.failed || totals.files != N_FILES * N_FOLDERS ||
        totals.dirs != N_FOLDERS + 1 || access(path, F_OK) == 0)
        must_do("removal", -1);
    return ms;
}

static double by_rm(const char *path)
{
    double start = now();
    int status = 0;

    pid_t pid = vfork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", path, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        must_do("rm -rf", -1);
    return (now() - start) / 1e3;
}

static int by_ratio(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

static const char *tree(const char *folder, int i)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%.3900s/%d", folder, i);
    return path;
}

static int compare(const char *in)
{
    struct turn turns[N_TURNS];
    char real[PATH_MAX], folder[PATH_MAX + 32];

    must_do(in, realpath(in, real) ? 0 : -1);
    snprintf(folder, sizeof(folder), "%s/cleanup_XXXXXX", real);
    must_do(folder, mkdtemp(folder) ? 0 : -1);
    /* All before the first removal: ext4 is slow at making files where some were removed just now. */
    for (int i = 0; i < 2 * N_TURNS; i++)
        make_tree(tree(folder, i));
    for (int i = 0; i < N_TURNS; i++) {
        struct turn *t = &turns[i];

        if (i % 2)
            t->ours = by_us(tree(folder, 2 * i));
        t->theirs = by_rm(tree(folder, 2 * i + 1));
        if (i % 2 == 0)
            t->ours = by_us(tree(folder, 2 * i));
        t->ratio = t->ours / t->theirs;
    }
    rmdir(folder);
    qsort(turns, N_TURNS, sizeof(turns[0]), by_ratio);
    const struct turn *median = &turns[N_TURNS / 2];
    int slow = !(median->ratio <= limit);
    printf("%-22s %10.2f %10.2f %8.2f%s\n", in, median->ours, median->theirs,
           median->ratio, slow ? "  TOO SLOW" : "");
    return slow;
}

int main(int argc, char **argv)
{
    int result = 0;

    printf("%-22s %10s %10s %8s\n", "10000 files in", "ours ms", "rm -rf ms", "ratio");
    for (int i = 1; i < argc; i++)
        result |= compare(argv[i]);
    if (argc == 1) {
        result |= compare("/tmp");
        if (access("/dev/shm", W_OK) == 0)
            result |= compare("/dev/shm");
    }
    return result;
}
