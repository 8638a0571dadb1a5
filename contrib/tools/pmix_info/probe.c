/* SPDX-License-Identifier: BSD-3-Clause */
/* Probing of a component in a forked child, which sends back the descriptor: a size,
 * and so many bytes. A component's code may crash while it is loaded, so not in this
 * process. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { DEADLINE_S = 5, MAX_BYTES = 4 << 20, MAX_ROWS = 10000 };

static const char ok[] = "ok";

/* ---- child: fields, each "+text" or, for NULL, "-", with NUL behind ------------- */

static void put(FILE *f, const char *text)
{
    fputc(text ? '+' : '-', f);
    fputs(text ? text : "", f);
    fputc('\0', f);
}

static void put_number(FILE *f, int64_t n)
{
    fprintf(f, "+%" PRId64 "%c", n, '\0');
}

/* Returns the component's objection to the value in use, or NULL. */
static char *refusal(const struct px_param *p, const char *prefix,
                     const struct px_params *settings)
{
    PX_AUTO(px_param_candidates) h = {0};
    PX_AUTOFREE char *name = need_text("%s%s", prefix, p->name);
    char why[256];

    if (!p->check || px_params_candidates(settings, name, &h) || !h.n)
        return NULL;
    const struct px_setting *s = h.v[0].setting;
    if (px_params_fits(settings, p, s->value))
        return NULL;
    px_param_mistake(p, s->value, why, sizeof(why));
    return need_text("%s: %s%s = \"%.80s\": %s", s->where,
                     s->source == PX_SOURCE_ENV ? "PMIX_MCA_" : "", s->name, s->value,
                     why);
}

static void put_param(FILE *f, const struct px_param *p, const char *prefix,
                      const struct px_params *settings)
{
    PX_AUTOFREE char *refused = refusal(p, prefix, settings);
    int64_t n = 0;

    put(f, p->name);
    put_number(f, p->kind);
    put(f, p->def);
    put_number(f, p->min);
    put_number(f, p->max);
    put(f, p->help);
    put(f, p->old_names);
    put_number(f, p->level);
    put(f, refused);
    while (p->names && p->names[n].name)
        n++;
    put_number(f, n);
    for (int64_t i = 0; i < n; i++) {
        put(f, p->names[i].name);
        put_number(f, p->names[i].value);
    }
}

static void put_component(FILE *f, const struct px_component *c,
                          const struct px_params *settings)
{
    PX_AUTOFREE char *prefix = need_text("%s_%s_", c->framework, c->name);
    int64_t n = 0;

    put(f, ok);
    put(f, c->version);
    while (c->params && c->params[n].kind != PX_PARAM_KIND_END)
        n++;
    put_number(f, n);
    for (int64_t i = 0; i < n; i++)
        put_param(f, &c->params[i], prefix, settings);
}

static void PX_NORETURN run_child(const struct px_found *found,
                                  const struct px_params *settings, int fd)
{
    const struct rlimit none = {0, 0};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct px_loaded loaded;
    struct px_err err = {0};
    char *bytes = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&bytes, &size);

    /* Discards the component's output, and prevents a core file after a crash. */
    for (int i = STDIN_FILENO; null >= 0 && i <= STDERR_FILENO; i++)
        dup2(null, i);
    setrlimit(RLIMIT_CORE, &none);
    if (!f)
        _exit(1);
    if (px_loader_load(found, &loaded, &err))
        put(f, err.text);
    else
        put_component(f, &loaded.component, settings);
    _exit(fclose(f) || px_fd_write_all(fd, &size, sizeof(size), 0) ||
          px_fd_write_all(fd, bytes, size, 0));
}

/* ---- parent: what the child has written ----------------------------------------- */

struct answer {
    char *bytes; /* NULL: none; never freed, because fields point into it */
    size_t n;
    size_t at; /* position of the next field */
    bool broken;
};

static const char *get(struct answer *a)
{
    const char *field = a->bytes + a->at;
    const char *nul = a->at < a->n ? memchr(field, '\0', a->n - a->at) : NULL;

    if (!nul || nul == field) {
        a->broken = true;
        return NULL;
    }
    a->at += (size_t)(nul - field) + 1;
    return field[0] == '+' ? field + 1 : NULL;
}

static int64_t get_number(struct answer *a, int64_t min, int64_t max)
{
    int64_t n = min;
    const char *text = get(a);

    if (!text || !px_str_to_i64(text, min, max, &n))
        a->broken = true;
    return n;
}

static void get_param(struct answer *a, struct px_param *p, const char **refused)
{
    p->name = get(a);
    p->kind = (enum px_param_kind)get_number(a, PX_PARAM_KIND_END + 1, INT16_MAX);
    p->def = get(a);
    p->min = get_number(a, INT64_MIN, INT64_MAX);
    p->max = get_number(a, INT64_MIN, INT64_MAX);
    p->help = get(a);
    p->old_names = get(a);
    p->level = (int)get_number(a, INT32_MIN, INT32_MAX);
    *refused = get(a);
    size_t n = (size_t)get_number(a, 0, MAX_ROWS);
    struct px_param_name *names = need(calloc(n + 1, sizeof(*names)));
    p->names = names;
    for (size_t i = 0; i < n && !a->broken; i++) {
        names[i].name = get(a);
        names[i].value = get_number(a, INT64_MIN, INT64_MAX);
    }
}

/* Reads the answer; false if it is incomplete. */
static bool read_answer(struct answer *a, struct probe *out)
{
    const char *first = a->bytes ? get(a) : NULL;

    if (!first || strcmp(first, ok) != 0) {
        out->why = first;
        return first != NULL;
    }
    out->version = get(a);
    size_t n = (size_t)get_number(a, 0, MAX_ROWS);
    out->params = need(calloc(n + 1, sizeof(*out->params)));
    out->refused = need(calloc(n + 1, sizeof(*out->refused)));
    for (size_t i = 0; i < n && !a->broken; i++)
        get_param(a, &out->params[i], &out->refused[i]);
    return !a->broken;
}

/* Describes the end of a child that did not answer. */
static const char *last_words(int status, bool in_time)
{
    if (!in_time)
        return need_text("it was not loaded after %d s", DEADLINE_S);
    if (WIFSIGNALED(status))
        return need_text("it crashed while it was loaded: signal %d (%s)",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return need_text("it ended its process while it was loaded, with status %d",
                     WEXITSTATUS(status));
}

void probe_start(const struct px_found *found, const struct px_params *settings,
                 struct probe *out)
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
        run_child(found, settings, fds[1]);
    }
    if (out->pid < 0)
        out->why = need_text("it was not loaded: fork: %s", strerror(errno));
    close(fds[1]);
    out->fd = fds[0];
}

void probe_finish(struct probe *p)
{
    const uint64_t deadline_ms = px_clock_ms() + DEADLINE_S * 1000;
    PX_AUTOCLOSE int fd = px_take_fd(&p->fd);
    struct answer a = {0};
    int status = 0;

    if (p->pid < 0)
        return;
    pmix_status_t rc = px_fd_read_all(fd, &a.n, sizeof(a.n), deadline_ms);
    if (!rc && a.n <= MAX_BYTES) {
        a.bytes = need(malloc(a.n + 1));
        rc = px_fd_read_all(fd, a.bytes, a.n, deadline_ms);
    }
    kill(p->pid, SIGKILL); /* does not change the status of a child that has ended */
    bool lost = PX_RETRY(waitpid(p->pid, &status, 0)) < 0;
    if (rc || !read_answer(&a, p))
        *p = (struct probe){.why = lost ? "its process was lost while it was loaded"
                                        : last_words(status, rc != PMIX_ERR_TIMEOUT),
                            .fd = -1};
}
