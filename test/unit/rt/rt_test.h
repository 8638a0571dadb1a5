/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of core/rt: functions run on the loop, temporary files, captured
 * stderr. */
#ifndef RT_TEST_H
#define RT_TEST_H

#include "core/base/attr.h"
#include "core/rt/loop.h"
#include "core/config/param_impl.h"
#include "files.h"
#include "px_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

/* ---- parameters ------------------------------------------------------------------ */

/* Checks that the problems are exactly these lines, in this order. */
static inline void rt_assert_problems(struct px_params *p, const char *wanted)
{
    char text[4096] = "";

    px_params_look_for_unknown(p);
    for (size_t i = 0; i < p->n_problems; i++) {
        size_t len = strlen(text);
        ck_assert_int_gt(
            snprintf(text + len, sizeof(text) - len, "%s\n", p->problems[i].text), 0);
    }
    ck_assert_str_eq(text, wanted);
}

/* ---- the loop -------------------------------------------------------------------- */

struct rt_job {
    void (*fn)(void *arg);
    void *arg;
};

static inline void rt_on_job(struct px_call *call, void *args)
{
    struct rt_job *job = args;

    job->fn(job->arg);
    px_call_done(call, PMIX_SUCCESS);
}

/* Runs fn(arg) on the loop and waits. */
static inline void rt_on_loop(struct px_loop *loop, void (*fn)(void *arg), void *arg)
{
    struct rt_job job = {fn, arg};

    ok(px_call(loop, rt_on_job, &job));
}

static inline struct px_loop *rt_loop(bool external)
{
    struct px_loop *loop = NULL;

    ok(px_loop_create(external ? PX_PROGRESS_EXTERNAL : PX_PROGRESS_THREAD, NULL,
                      &loop));
    return loop;
}

static inline void rt_do_nothing(void *arg PX_UNUSED)
{
}

/* A loop for a thread that destroys it. */
struct rt_destroyer {
    struct px_loop *loop;
    atomic_bool done;
};

static inline void *rt_destroy_it(void *arg)
{
    struct rt_destroyer *d = arg;

    px_loop_destroy(d->loop);
    atomic_store(&d->done, true);
    return NULL;
}

/* Runs an external loop until *count reaches n. Otherwise Check's time limit ends the
 * test. */
static inline void rt_pump_until(struct px_loop *loop, const int *count, int n)
{
    while (*count < n) {
        px_loop_pump(loop);
        sched_yield();
    }
}

/* Counts Tenon's threads by name, because sanitizers have threads, too. */
static inline int rt_count_threads(void)
{
    const struct dirent *entry;
    int n = 0;
    DIR *d = opendir("/proc/self/task");

    ck_assert_ptr_nonnull(d);
    while ((entry = readdir(d))) {
        char path[300];
        char name[32] = "";

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(name, sizeof(name), f))
            n += strcmp(name, "tenon-loop\n") == 0;
        if (f)
            fclose(f);
    }
    closedir(d);
    return n;
}

/* Waits for n threads; a joined thread stays in /proc for a moment. */
static inline void rt_await_threads(int n)
{
    while (rt_count_threads() != n)
        sched_yield();
}

/* ---- files ----------------------------------------------------------------------- */

/* A path below the test's 0700 folder, which is removed after the test. */
typedef char rt_path[256];

static inline void rt_make_dir(rt_path dir)
{
    snprintf(dir, sizeof(rt_path), "%.200s/XXXXXX", px_test_dir());
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline void rt_join(rt_path out, const char *dir, const char *name)
{
    ck_assert_int_lt(snprintf(out, sizeof(rt_path), "%s/%s", dir, name),
                     (int)sizeof(rt_path));
}

static inline void rt_write(const char *dir, const char *name, const char *text)
{
    rt_path path;

    rt_join(path, dir, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

/* Makes an executable copy; to must not exist. */
static inline void rt_copy(const char *from, const char *to)
{
    struct stat st;
    int in = open(from, O_RDONLY | O_CLOEXEC);

    ck_assert_msg(in >= 0 && fstat(in, &st) == 0, "cannot read %s", from);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    ck_assert_int_ge(out, 0);
    for (off_t done = 0; done < st.st_size;)
        ck_assert_int_gt(sendfile(out, in, &done, (size_t)(st.st_size - done)), 0);
    close(in);
    close(out);
}

/* ---- stderr ---------------------------------------------------------------------- */

struct rt_capture {
    FILE *file;
    int saved;
};

static inline struct rt_capture rt_capture_begin(void)
{
    struct rt_capture c = {tmpfile(), dup(STDERR_FILENO)};

    ck_assert_ptr_nonnull(c.file);
    ck_assert_int_ge(dup2(fileno(c.file), STDERR_FILENO), 0);
    return c;
}

/* Waits until the capture has a text. */
static inline void rt_capture_await(const struct rt_capture *c, const char *text)
{
    char got[65536] = "";

    for (int i = 0; i < 20000 && !strstr(got, text); i++) {
        ssize_t n = pread(fileno(c->file), got, sizeof(got) - 1, 0);

        got[n > 0 ? n : 0] = '\0';
        usleep(1000);
    }
    ck_assert(strstr(got, text));
}

/* Ends the capture and returns its text, malloc'd. */
static inline char *rt_capture_end(struct rt_capture *c)
{
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    rewind(c->file);
    return text_of_stream(c->file);
}

static inline int rt_count(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

#define rt_assert_has(text, part) \
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in \"%s\"", part, text)

#endif
