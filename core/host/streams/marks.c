/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/streams/marks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/attr.h"

/* ISO 8601, "2026-11-22T14:35:00.123456+01:00". */
static size_t format_time(char *text, size_t size)
{
    struct timespec now = {0};
    struct tm local;
    char zone[8] = "";

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    strftime(zone, sizeof(zone), "%z", &local); /* "+0100" */
    size_t n = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &local);
    return n + (size_t)snprintf(text + n, size - n, ".%06ld%.3s:%s", now.tv_nsec / 1000,
                                zone, zone + 3);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

size_t px_marks_apply(const struct px_marks *marks, const uint8_t *bytes, size_t n,
                      size_t *used, uint8_t *out, size_t room)
{
    char mark[PX_MARK_MAX_B];
    size_t n_mark = marks->timed ? format_time(mark, sizeof(mark)) : 0;
    uint8_t *at = out;

    n_mark += (size_t)snprintf(mark + n_mark, sizeof(mark) - n_mark, "%s",
                               marks->source);
    for (*used = 0; *used < n;) {
        const uint8_t *line = bytes + *used;
        const uint8_t *newline = memchr(line, '\n', n - *used);
        size_t len = newline ? (size_t)(newline - line) : n - *used;

        if (n_mark + len + 1 > room - (size_t)(at - out))
            break;
        at = put(put(put(at, mark, n_mark), line, len), "\n", 1);
        *used += len + (newline != NULL);
    }
    return (size_t)(at - out);
}
