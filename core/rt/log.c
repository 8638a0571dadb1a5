/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnostics. A line is composed on the stack and written at once, so that lines of
 * several processes on one terminal do not mix, and running out of memory can be told
 * too. */
#include "core/rt/log.h"

#include "core/base/str.h"
#include "core/rt/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
    (void)!write(STDERR_FILENO, line, len + 1);
    errno = errnum;
}

void px_log(enum px_log_level level, const char *area, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    px_vlog(level, area, fmt, args);
    va_end(args);
}
