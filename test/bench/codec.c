/* SPDX-License-Identifier: BSD-3-Clause */
/* codec OURS [THEIRS]: how long PMIx_Data_pack and PMIx_Data_unpack take for 100000 mixed infos,
 * with our library and with the other implementation. Each library lives in a process of its own,
 * and they take turns, one repetition each, so that a busy machine is busy for both; what counts
 * is the median of the processor time of the calling thread. Exit status 1 if ours takes more than
 * half the time of the other, 77 if there is no other. */
#include "mixed.h"

#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_INFOS = 100000, N_ROUNDS = 9, SKIPPED = 77 };

static const double limit = 0.5;

/* In one call for all of them, and in a call for each. */
enum { PACK_ALL, UNPACK_ALL, PACK_EACH, UNPACK_EACH, N_STEPS };

/* What a process reports of one repetition. */
struct sample {
    double ms[N_STEPS];
    size_t bytes; /* the packed size in one call: both write the same */
};

struct library {
    const char *(*version)(void);
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t *info, size_t n);
    pmix_status_t (*pack)(const pmix_proc_t *target, pmix_data_buffer_t *buffer,
                          void *src, int32_t n, pmix_data_type_t type);
    pmix_status_t (*unpack)(const pmix_proc_t *source, pmix_data_buffer_t *buffer,
                            void *dest, int32_t *n, pmix_data_type_t type);
    void (*destruct)(pmix_value_t *value);
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "codec: %s: %s\n", what, why);
    _exit(EXIT_FAILURE);
}

/* ---- the measuring process -------------------------------------------------------------------- */

static void *symbol(void *handle, const char *name)
{
    void *at = dlsym(handle, name);

    if (!at)
        die(name, "no such function");
    return at;
}

/* As a process that nobody launched: there is no server, and none is needed. */
static struct library load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    struct library lib;
    pmix_proc_t me;

    if (!handle)
        die(path, dlerror());
    *(void **)&lib.version = symbol(handle, "PMIx_Get_version");
    *(void **)&lib.init = symbol(handle, "PMIx_Init");
    *(void **)&lib.pack = symbol(handle, "PMIx_Data_pack");
    *(void **)&lib.unpack = symbol(handle, "PMIx_Data_unpack");
    *(void **)&lib.destruct = symbol(handle, "PMIx_Value_destruct");
    pmix_status_t rc = lib.init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_UNREACH)
        die(path, "cannot initialise");
    fprintf(stderr, "%s: %s\n", path, lib.version());
    return lib;
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double pack(const struct library *lib, pmix_data_buffer_t *buffer,
                   pmix_info_t *infos, int32_t at_once)
{
    double start = now_ms();

    for (int32_t i = 0; i < N_INFOS; i += at_once)
        if (lib->pack(NULL, buffer, infos + i, at_once, PMIX_INFO) != PMIX_SUCCESS)
            die("pack", "failed");
    return now_ms() - start;
}

static double unpack(const struct library *lib, pmix_data_buffer_t *buffer,
                     pmix_info_t *infos, int32_t at_once)
{
    double start = now_ms();

    for (int32_t i = 0; i < N_INFOS; i += at_once) {
        int32_t n = at_once;

        if (lib->unpack(NULL, buffer, infos + i, &n, PMIX_INFO) != PMIX_SUCCESS ||
            n != at_once)
            die("unpack", "failed");
    }
    return now_ms() - start;
}

static size_t both_ways(const struct library *lib, pmix_info_t *from, pmix_info_t *to,
                        int32_t at_once, double ms[2])
{
    pmix_data_buffer_t buffer = {0};

    ms[0] = pack(lib, &buffer, from, at_once);
    ms[1] = unpack(lib, &buffer, to, at_once);
    for (size_t i = 0; i < N_INFOS; i++) {
        if (!mixed_same(&from[i], &to[i]))
            die(from[i].key, "is not what was packed");
        lib->destruct(&to[i].value);
    }
    size_t bytes = buffer.bytes_used;
    free(buffer.base_ptr);
    return bytes;
}

/* One repetition for each byte that comes, until the end of the input. */
static void serve(const char *path, int in, int out)
{
    /* What is freed stays in the process: the kernel's part in getting fresh memory is not what
     * is measured. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    pmix_info_t *from = mixed_infos(N_INFOS), *to = calloc(N_INFOS, sizeof(*to));
    struct library lib = load(path);
    struct sample s;
    char go;

    if (!from || !to)
        die(path, "out of memory");
    memset(to, 1,
           N_INFOS * sizeof(*to)); /* its pages are there before the clock runs */
    while (read(in, &go, 1) == 1) {
        s.bytes = both_ways(&lib, from, to, N_INFOS, &s.ms[PACK_ALL]);
        both_ways(&lib, from, to, 1, &s.ms[PACK_EACH]);
        if (write(out, &s, sizeof(s)) != sizeof(s))
            break;
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the judge -------------------------------------------------------------------------------- */

struct runner {
    int to, from;
    pid_t pid;
    struct sample samples[N_ROUNDS];
};

static void start(struct runner *r, const char *path)
{
    int to[2], from[2];

    if (pipe(to) || pipe(from))
        die(path, "no pipe");
    r->pid = fork();
    if (r->pid < 0)
        die(path, "no process");
    if (r->pid == 0) {
        clearenv(); /* no parameter of whoever runs this makes a difference */
        close(to[1]);
        close(from[0]);
        serve(path, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    r->to = to[1];
    r->from = from[0];
}

static void repeat(struct runner *r, struct sample *s)
{
    if (write(r->to, "", 1) != 1 || read(r->from, s, sizeof(*s)) != sizeof(*s))
        die("a measuring process", "has ended");
}

/* Both at once: each has inherited the other's pipe. */
static void stop(struct runner *a, struct runner *b)
{
    close(a->to);
    close(b->to);
    waitpid(b->pid, NULL, 0);
    waitpid(a->pid, NULL, 0);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(const struct runner *r, int first, int last)
{
    double all[N_ROUNDS] = {0};

    for (int i = 0; i < N_ROUNDS; i++)
        for (int step = first; step <= last; step++)
            all[i] += r->samples[i].ms[step];
    qsort(all, N_ROUNDS, sizeof(all[0]), ascending);
    return all[N_ROUNDS / 2];
}

static int judge(const struct runner *ours, const struct runner *theirs)
{
    static const struct {
        const char *what;
        int first, last;
    } rows[] = {{"pack, one call", PACK_ALL, PACK_ALL},
                {"unpack, one call", UNPACK_ALL, UNPACK_ALL},
                {"both, one call", PACK_ALL, UNPACK_ALL},
                {"pack, a call each", PACK_EACH, PACK_EACH},
                {"unpack, a call each", UNPACK_EACH, UNPACK_EACH},
                {"both, a call each", PACK_EACH, UNPACK_EACH}};
    int result = EXIT_SUCCESS;

    printf("%-22s %10s %10s %8s\n", "100000 mixed infos", "ours ms", "theirs ms",
           "ratio");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double a = median(ours, rows[i].first, rows[i].last);
        double b = median(theirs, rows[i].first, rows[i].last);
        int slow = !(a <= limit * b);

        printf("%-22s %10.2f %10.2f %8.2f%s\n", rows[i].what, a, b, a / b,
               slow ? "  TOO SLOW" : "");
        if (slow)
            result = EXIT_FAILURE;
    }
    return result;
}

static const char *find_theirs(const char *named)
{
    static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libpmix.so.2",
                                        "/usr/lib/aarch64-linux-gnu/libpmix.so.2",
                                        "/usr/lib64/libpmix.so.2",
                                        "/usr/lib/libpmix.so.2"};

    if (named)
        return named;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (access(paths[i], R_OK) == 0)
            return paths[i];
    return NULL;
}

int main(int argc, char **argv)
{
    static struct runner ours, theirs;
    struct sample warm[2];
    const char *other = find_theirs(argc > 2 ? argv[2] : getenv("PX_TEST_INCUMBENT"));

    if (argc < 2) {
        fprintf(stderr, "usage: codec OUR_LIBPMIX [THEIR_LIBPMIX]\n");
        return 2;
    }
    if (!other) {
        printf("SKIP codec: needs the other implementation\n");
        return SKIPPED;
    }
    signal(SIGPIPE, SIG_IGN);
    start(&ours, argv[1]);
    start(&theirs, other);
    repeat(&ours, &warm[0]);
    repeat(&theirs, &warm[1]);
    if (warm[0].bytes != warm[1].bytes)
        die("packed size", "not the same");
    for (int i = 0; i < N_ROUNDS; i++) {
        repeat(&ours, &ours.samples[i]);
        repeat(&theirs, &theirs.samples[i]);
    }
    stop(&ours, &theirs);
    return judge(&ours, &theirs);
}
