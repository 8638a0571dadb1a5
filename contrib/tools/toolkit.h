/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the programs of this folder: messages and exit statuses, arguments, memory
 * that is there or the program ends. Public headers only. */
#ifndef TENON_TOOLKIT_H
#define TENON_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses, as shells and timeout(1) have them. */
enum {
    EXIT_TROUBLE = 1,
    EXIT_USAGE = 2,
    EXIT_TIMEOUT = 124,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128, /* plus its number */
};

/* Each program defines it: "pmixrun". */
extern const char tool_name[];

/* A line on stderr, "NAME: message". */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end with EXIT_TROUBLE. */
void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* "NAME: message; see NAME --help", and the end with EXIT_USAGE. */
void usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Prints text on stdout, and the end. */
void print_and_exit(const char *text) __attribute__((noreturn));

/* p, unless it is NULL: then the end. */
void *need(void *p);
char *need_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* An array with room for n members. */
void *grow(void *array, size_t n, size_t size);

/* Is text one of these? second may be NULL. */
bool is_option(const char *text, const char *first, const char *second);
/* The argument of the option at *at, which moves on to it. */
char *argument(char ***at);
/* Of an option: a number from 1 to max. */
int number(const char *option, const char *text, int max);

/* Of a clock that is never set. */
int64_t now_ms(void);

#endif
