/* SPDX-License-Identifier: BSD-3-Clause */
#include "toolkit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* Writes one line at once, so that no other output comes into the middle. */
static void print_line(const char *end, const char *fmt, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, fmt, args) < 0)
        text = NULL;
    dprintf(STDERR_FILENO, "%s: %s%s\n", tool_name, text ? text : fmt, end);
    free(text);
}

void complain(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print_line("", fmt, args);
    va_end(args);
}

void fail(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print_line("", fmt, args);
    va_end(args);
    exit(EXIT_TROUBLE);
}

void usage(const char *fmt, ...)
{
    char end[64];
    va_list args;

    snprintf(end, sizeof(end), "; see %s --help", tool_name);

    va_start(args, fmt);
    print_line(end, fmt, args);
    va_end(args);
    exit(EXIT_USAGE);
}

void print_and_exit(const char *text)
{
    fputs(text, stdout);
    exit(fflush(stdout) ? EXIT_TROUBLE : EXIT_SUCCESS);
}

void *need(void *p)
{
    if (!p)
        fail("out of memory");
    return p;
}

char *need_text(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    return need(n < 0 ? NULL : text);
}

void *grow(void *array, size_t n, size_t size)
{
    return need(reallocarray(array, n, size));
}

enum match match_names(const char *names, const char *text, size_t len)
{
    enum match best = DIFFERS;

    for (const char *name = names; *name && best != EQUAL;) {
        size_t n = strcspn(name, "|");

        if (n == 1) {
            if (len == 1 && *name == *text)
                best = EQUAL;
        } else if (len <= n && strncasecmp(name, text, len) == 0) {
            best = len == n ? EQUAL : BEGINS;
        }
        name += n + (name[n] == '|');
    }
    return best;
}

bool is_option(const char *text, const char *first, const char *second)
{
    return strcmp(text, first) == 0 || (second && strcmp(text, second) == 0);
}

char *argument(char ***at)
{
    const char *option = **at;

    if (!(*at)[1])
        usage("%s needs an argument", option);
    return *++*at;
}

int number(const char *option, const char *text, int max)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > max)
        usage("%s \"%s\": a number from 1 to %d is needed", option, text, max);
    return (int)value;
}

int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
