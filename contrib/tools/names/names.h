/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of other launchers, and their command lines: those of PRRTE 3, with the options
 * that Open MPI 5 adds. A command line is translated into one of pmixrun's. */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

/* An option, or a word of an option's list. */
struct names_row {
    /* Names with "|" between them, without dashes. "*": all other names of the list. */
    const char *names;
    /* Arguments with a space between them. In brackets: only after "=". */
    const char *arguments;
    /* Meaning: options of pmixrun, with %1 and %2 for the arguments, %t for a time as
     * seconds, and %P for PATH; or one of
     *   ""          accepted, and nothing to do
     *   "! REASON"  refused
     *   "? REASON"  accepted with a warning
     *   "@LIST"     the argument is read by the rows of LIST; with two arguments the
     *               first is a word, and the second its value
     * In the lists map, rank and bind: words of these options of pmixrun. "*" stands
     * for the object that processes are mapped by. */
    const char *as;
    const char *off; /* the same for the value "false"; NULL: nothing to do */
};

/* Words of an option's argument. */
struct names_list {
    const char *name;
    const char *between; /* characters between words */
    const struct names_row *rows;
};

/* Both tables end with a row without names (names_rows.c). */
extern const struct names_row names_options[];
extern const struct names_list names_lists[];

struct names_result {
    char **argv;  /* command line of pmixrun, NULL-terminated; a part after an error */
    char **notes; /* warnings, NULL-terminated; NULL: none */
    char *error;  /* NULL: none */
};

/* Returns the name of another launcher that is the last part of the path, or NULL. */
const char *names_known(const char *path);
/* Translates the command line of another launcher. The caller frees the result. */
void names_translate(char *const *argv, struct names_result *result);
void names_free(struct names_result *result);

/* Return the text for --help and --version under another launcher's name. The caller
 * frees both. */
char *names_help(const char *name);
char *names_version(const char *name);

#endif
