/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a component in a forked child, which sends back what its descriptor says.
 * Its code may do anything while it is loaded, but not in this process. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { DEADLINE_S = 5, MAX_BYTES = 4 << 20, MAX_ROWS = 10000 };

static const char ok[] = "ok", end[] = "end";

/* ---- child: fields, each "+text" or, for NULL, "-", with NUL behind ------------- */

static void put(FILE *f, const char *text)
{
    fputc(text ? '+' : '-', f);
    fputs(text ? text : "", f);
    fputc('\0', f);
}

static void put_number(FILE *f, int64_t n)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, n);
    put(f, text);
}

static void put_param(FILE *f, const struct px_param *p)
{
    int64_t n = 0;

    put(f, p->name);
    put_number(f, p->kind);
    put(f, p->def);
    put_number(f, p->min);
    put_number(f, p->max);
    put(f, p->help);
    put(f, p->old_names);
    put_number(f, p->level);
    while (p->names && p->names[n].name)
        n++;
    put_number(f, n);
    for (int64_t i = 0; i < n; i++) {
        put(f, p->names[i].name);
        put_number(f, p->names[i].value);
    }
}

static void put_component(FILE *f, const struct px_component *c)
{
    int64_t n = 0;

    put(f, ok);
    put(f, c->version);
    while (c->params && c->params[n].kind != PX_PARAM_KIND_END)
        n++;
    put_number(f, n);
    for (int64_t i = 0; i < n; i++)
        put_param(f, &c->params[i]);
}

/* Its own output is not wanted, and a crash leaves no core. */
static void be_quiet(void)
{
    const struct rlimit none = {0, 0};

    PX_AUTOCLOSE int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = STDIN_FILENO; fd >= 0 && i <= STDERR_FILENO; i++)
        dup2(fd, i);
    setrlimit(RLIMIT_CORE, &none);
}

static void PX_NORETURN run_child(const struct px_found *found, int fd)
{
    struct px_loaded loaded;
    struct px_err err = {0};

    be_quiet();
    FILE *f = fdopen(fd, "w");
    if (!f)
        _exit(1);
    if (px_loader_load(found, &loaded, &err))
        put(f, err.text);
    else
        put_component(f, &loaded.component);
    put(f, end);
    _exit(fflush(f) ? 1 : 0);
}

/* ---- parent: what the child has written ----------------------------------------- */

struct answer {
    char *bytes;
    size_t n;
    size_t at; /* of the next field */
    bool broken;
};

static const char *get(struct answer *a)
{
    const char *field = a->bytes ? a->bytes + a->at : "";
    const char *nul = a->at < a->n ? memchr(field, '\0', a->n - a->at) : NULL;

    if (!nul || nul == field) {
        a->broken = true;
        return NULL;
    }
    a->at += (size_t)(nul - field) + 1;
    return field[0] == '+' ? field + 1 : NULL;
}

static char *get_copy(struct answer *a)
{
    const char *text = get(a);

    return text ? need(strdup(text)) : NULL;
}

static int64_t get_number(struct answer *a, int64_t min, int64_t max)
{
    int64_t n = min;
    const char *text = get(a);

    if (!text || !px_str_to_i64(text, min, max, &n))
        a->broken = true;
    return n;
}

static void get_param(struct answer *a, struct px_param *p)
{
    p->name = get_copy(a);
    p->kind = (enum px_param_kind)get_number(a, PX_PARAM_KIND_END + 1, INT16_MAX);
    p->def = get_copy(a);
    p->min = get_number(a, INT64_MIN, INT64_MAX);
    p->max = get_number(a, INT64_MIN, INT64_MAX);
    p->help = get_copy(a);
    p->old_names = get_copy(a);
    p->level = (int)get_number(a, INT32_MIN, INT32_MAX);
    size_t n = (size_t)get_number(a, 0, MAX_ROWS);
    struct px_param_name *names = need(calloc(n + 1, sizeof(*names)));
    p->names = names;
    for (size_t i = 0; i < n && !a->broken; i++) {
        names[i].name = get_copy(a);
        names[i].value = get_number(a, INT64_MIN, INT64_MAX);
    }
}

static void free_params(struct px_param *params)
{
    for (struct px_param *p = params; p && p->kind != PX_PARAM_KIND_END; p++) {
        for (const struct px_param_name *n = p->names; n && n->name; n++)
            free((char *)n->name);
        free((struct px_param_name *)p->names);
        free((char *)p->name);
        free((char *)p->def);
        free((char *)p->help);
        free((char *)p->old_names);
    }
    free(params);
}

void probe_free(struct probe *p)
{
    free(p->why);
    free(p->version);
    free_params(p->params);
    p->why = p->version = NULL;
    p->params = NULL;
}

/* False if the answer is not whole. */
static bool read_answer(struct answer *a, struct probe *out)
{
    const char *first = get(a);

    if (first && strcmp(first, ok) != 0) {
        out->why = need(strdup(first));
    } else if (first) {
        out->version = get_copy(a);
        size_t n = (size_t)get_number(a, 0, MAX_ROWS);
        out->params = need(calloc(n + 1, sizeof(*out->params)));
        for (size_t i = 0; i < n && !a->broken; i++)
            get_param(a, &out->params[i]);
    }
    const char *last = get(a);
    if (!a->broken && last && strcmp(last, end) == 0)
        return true;
    probe_free(out);
    return false;
}

static bool is_whole(const struct answer *a)
{
    const size_t n = sizeof(end) + 1; /* '+', text, NUL */

    return a->n >= n && a->bytes[a->n - n] == '+' &&
           memcmp(a->bytes + a->n - n + 1, end, sizeof(end)) == 0;
}

static int ms_left(const struct timespec *until)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (until->tv_sec - now.tv_sec) * 1000L +
              (until->tv_nsec - now.tv_nsec) / 1000000L;
    return ms > 0 ? (int)ms : 0;
}

/* Until the child has said all, or has gone. False: it does neither in time. */
static bool listen_to(int fd, struct answer *a)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += DEADLINE_S;
    while (!is_whole(a) && a->n < MAX_BYTES) {
        int left = ms_left(&until);
        if (left == 0)
            return false;
        if (poll(&wait, 1, left) <= 0)
            continue;
        a->bytes = need(realloc(a->bytes, a->n + 4096));
        ssize_t got = read(fd, a->bytes + a->n, 4096);
        if (got == 0)
            return true;
        if (got > 0)
            a->n += (size_t)got;
    }
    return true;
}

/* The fate of a child that did not answer. */
static char *last_words(pid_t pid, bool in_time)
{
    int status = 0;

    /* If it has ended, that does not change how. */
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return need(strdup("its process was lost while it was loaded"));
    }
    if (!in_time)
        return need_text("it was not loaded after %d s", DEADLINE_S);
    if (WIFSIGNALED(status))
        return need_text("it crashed while it was loaded: signal %d (%s)",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return need_text("it ended its process while it was loaded, with status %d",
                     WEXITSTATUS(status));
}

void probe_start(const struct px_found *found, struct probe *out)
{
    int fds[2];

    *out = (struct probe){.pid = -1, .fd = -1};
    fflush(NULL);
    if (pipe2(fds, O_CLOEXEC)) {
        out->why = need_text("it was not loaded: pipe: %s", strerror(errno));
        return;
    }
    out->pid = fork();
    if (out->pid == 0) {
        close(fds[0]);
        run_child(found, fds[1]);
    }
    if (out->pid < 0)
        out->why = need_text("it was not loaded: fork: %s", strerror(errno));
    close(fds[1]);
    out->fd = fds[0];
}

void probe_finish(struct probe *p)
{
    struct answer a = {0};

    if (p->pid > 0) {
        bool in_time = listen_to(p->fd, &a);
        PX_AUTOFREE char *words = last_words(p->pid, in_time);
        if (!read_answer(&a, p))
            p->why = px_take(&words);
        free(a.bytes);
    }
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}
