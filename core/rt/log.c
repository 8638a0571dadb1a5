/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnostics. A line is composed on the stack and written at once. So lines of several
 * processes do not mix on a terminal, and memory exhaustion can be reported. Other
 * processes share stderr, and its reader may stop. A line without room is dropped and
 * counted, because a server must not wait for its log. */
#include "core/rt/log.h"

#include "core/base/str.h"
#include "core/rt/loop.h"
#include "core/rt/process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* A ready pipe takes PIPE_BUF bytes at once, more than two lines. */
enum { LINE = 1024 };

/* Writes "tenon[host:pid] area: "; returns its length. */
static size_t begin(char *line, const char *area)
{
    char host[sizeof(px_process.host)];

    px_str_copy(host, sizeof(host), px_process.host);
    if (!host[0] && gethostname(host, sizeof(host)))
        px_str_copy(host, sizeof(host), "?");
    host[sizeof(host) - 1] = '\0';
    int n = snprintf(line, LINE / 2, "tenon[%s:%ld] %s: ", host, (long)getpid(), area);
    return n < 0 ? 0 : n < LINE / 2 ? (size_t)n : LINE / 2 - 1;
}

bool px_log_wants(enum px_log_level level)
{
    return (int)level <=
           atomic_load_explicit(&px_process.log_level, memory_order_relaxed);
}

/* Writes a line if stderr has room. O_NONBLOCK would avoid the poll, but other
 * processes share the flag. POLLOUT alone excludes a reader that has gone, which avoids
 * SIGPIPE. */
static void put(const char *line, size_t len)
{
    struct pollfd wanted = {.fd = STDERR_FILENO, .events = POLLOUT};
    bool ready = poll(&wanted, 1, 0) == 1 && wanted.revents == POLLOUT;
    unsigned lost = ready ? atomic_exchange(&px_process.log_lost, 0) : 0;
    char text[LINE];
    struct iovec parts[] = {{text, 0}, {(void *)(uintptr_t)line, len}};

    if (lost) {
        size_t at = begin(text, "log");
        int n = snprintf(text + at, sizeof(text) - at,
                         "%u messages are lost: stderr was full\n", lost);
        parts[0].iov_len = at + (size_t)n;
    }
    if (!ready || PX_RETRY(writev(STDERR_FILENO, parts, 2)) < 0)
        atomic_fetch_add(&px_process.log_lost, lost + 1);
}

void px_vlog(enum px_log_level level, const char *area, const char *fmt, va_list args)
{
    char line[LINE + 1]; /* and the newline */
    int errnum = errno;  /* for %m, and for the caller */

    if (!px_log_wants(level))
        return;
    size_t len = begin(line, area);
    errno = errnum;
    if (vsnprintf(line + len, LINE - len, fmt, args) >= (int)(LINE - len))
        memcpy(line + LINE - 4, "...", 4);
    /* The text may come from a peer. It must not end the line or control the
     * terminal. */
    for (char *c = line; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    len = strlen(line);
    line[len] = '\n';
    put(line, len + 1);
    errno = errnum;
}

void px_log(enum px_log_level level, const char *area, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    px_vlog(level, area, fmt, args);
    va_end(args);
}

/* ---- limited rate ---------------------------------------------------------------- */

/* A fixed number of counters: peers that cause log lines must not cause memory use. */
enum { COUNTERS = 16 };

struct px_log_rate {
    struct counter {
        uid_t uid;
        pmix_status_t reason; /* PMIX_SUCCESS: unused */
        unsigned n_lines, n_more;
        const char *area;
    } counters[COUNTERS];   /* used from the first on; the last counts for all others */
    struct px_timer *timer; /* ends the common period of the counters */
    uint64_t period_ms;
};

static void on_period(void *arg)
{
    struct px_log_rate *r = arg;

    for (size_t i = 0; i < COUNTERS; i++) {
        struct counter *c = &r->counters[i];
        char who[40] = "others";

        if (i + 1 < COUNTERS)
            snprintf(who, sizeof(who), "uid %ld, %s", (long)(int32_t)c->uid,
                     PMIx_Error_string(c->reason));
        if (c->n_more)
            px_log(PX_LOG_WARN, c->area, "%u more like it: %s", c->n_more, who);
        *c = (struct counter){0};
    }
}

struct px_log_rate *px_log_rate_create(struct px_loop *loop, uint64_t period_ms)
{
    struct px_log_rate *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->period_ms = period_ms;
    r->timer = px_timer_create(loop, on_period, r);
    if (!r->timer)
        free(px_take(&r));
    return r;
}

void px_log_rate_destroy(struct px_log_rate *r)
{
    if (!r)
        return;
    on_period(r);
    px_timer_free(r->timer);
    free(r);
}

void px_log_limited(struct px_log_rate *r, uid_t uid, pmix_status_t reason,
                    const char *area, const char *fmt, ...)
{
    struct counter *c = r->counters;
    va_list args;

    if (!c->reason) /* the first line of this period */
        px_timer_set(r->timer, r->period_ms);
    while (c < &r->counters[COUNTERS - 1] && c->reason &&
           (c->uid != uid || c->reason != reason))
        c++;
    c->uid = uid;
    c->reason = reason;
    c->area = area;
    if (c->n_lines == PX_LOG_RATE_LINES) {
        c->n_more++;
        return;
    }
    c->n_lines++;
    va_start(args, fmt);
    px_vlog(PX_LOG_WARN, area, fmt, args);
    va_end(args);
}
