/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for the programs of this folder: messages, exit statuses, arguments, and
 * allocation that ends the program on failure. Public headers only. */
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
    EXIT_SIGNAL = 128, /* plus the number of the signal */
};

/* Name of the program, e.g. "pmixrun"; each program defines it. */
extern const char *tool_name;

/* Prints a line on stderr, "NAME: message". */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints a line as complain(), and exits with EXIT_TROUBLE. */
void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Prints "NAME: message; see NAME --help", and exits with EXIT_USAGE. */
void usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Prints text on stdout, and exits. */
void print_and_exit(const char *text) __attribute__((noreturn));

/* Returns p; exits if p is NULL. */
void *need(void *p);
char *need_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Returns the array with room for n members. */
void *grow(void *array, size_t n, size_t size);

/* Compares text with each of several names with "|" between them. Case matters in names
 * of one letter only. */
enum match { DIFFERS, BEGINS, EQUAL };
enum match match_names(const char *names, const char *text, size_t len);
/* True if text is first or second. second may be NULL. */
bool is_option(const char *text, const char *first, const char *second);
/* Returns the argument of the option at *at, and moves *at to the argument. */
char *argument(char ***at);
/* Reads an option's number from 1 to max. */
int number(const char *option, const char *text, int max);

/* Returns the time of CLOCK_MONOTONIC. */
int64_t now_ms(void);

#endif
