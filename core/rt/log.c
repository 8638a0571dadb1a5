/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnostics. A line is composed on the stack and written at once, so that lines of
 * several processes on one terminal do not mix, and running out of memory can be reported.
 * stderr is shared with others, who may not read: a line that does not fit is dropped and
 * counted, for a server must not wait for its log. */
#include "core/rt/log.h"

#include "core/base/str.h"
#include "core/rt/process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

/* A pipe that is ready takes PIPE_BUF bytes at once, more than two lines. */
enum { LINE = 1024 };

/* "tenon[host:pid] area: "; returns its length. */
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

/* Text may hold what a peer sent: it must not end the line or drive the terminal. */
static void tame(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

bool px_log_wants(enum px_log_level level)
{
    return (int)level <=
           atomic_load_explicit(&px_process.log_level, memory_order_relaxed);
}

/* With O_NONBLOCK it would be said once, but that is of the file, which is others' too. A
 * reader that has gone makes no line, and no SIGPIPE either. */
static bool is_ready(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};

    return poll(&wanted, 1, 0) == 1 && wanted.revents == POLLOUT;
}

static void put(const char *line, size_t len)
{
    bool ready = is_ready(STDERR_FILENO);
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
    tame(line);
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
