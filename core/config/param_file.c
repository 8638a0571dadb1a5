/* SPDX-License-Identifier: BSD-3-Clause */
/* The syntax of parameter files, and its parser.
 *
 *     name = value            # a comment ends the value, if white space precedes it
 *     name = "value # as is"  # single or double quotes keep everything between them
 *     name = one, \
 *            two              # a backslash at the end continues the line
 *     include other.conf      # relative to this file's folder
 *
 * White space around names and values is dropped. Comments are not continued. */
#include "core/base/str.h"
#include "core/config/param_impl.h"

#include <ctype.h>
#include <string.h>

bool px_param_is_name(const char *name)
{
    if (!*name)
        return false;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && !strchr("_-.", *name))
            return false;
    }
    return true;
}

/* Ends the value at its closing quote. False if the quote is missing, or anything
 * except a comment follows. */
static bool unquote(char **value)
{
    char *s = *value;
    char *end = strchr(s + 1, s[0]);

    if (!end)
        return false;
    *end = '\0';
    *value = s + 1;
    s = px_str_trim(end + 1);
    return *s == '\0' || *s == '#';
}

static void cut_comment(char *value)
{
    for (char *s = value; *s; s++) {
        if (*s == '#' && (s == value || isspace((unsigned char)s[-1]))) {
            *s = '\0';
            return;
        }
    }
}

/* Parses the text after = or include, quoted or not. False if the quotes are wrong. */
static bool take_value(char **value)
{
    *value = px_str_trim(*value);
    if (**value == '"' || **value == '\'')
        return unquote(value);
    cut_comment(*value);
    *value = px_str_trim(*value);
    return true;
}

/* Cuts off the first line, including its continuation lines. */
static char *next_line(struct px_param_text *t, unsigned long *number)
{
    char *line = t->rest;
    char *first = line; /* first character that is not white space */
    char *to = line;
    char *from = line;

    *number = t->line;
    for (;;) {
        size_t len = strcspn(from, "\n");
        bool last = from[len] == '\0';
        char *next = from + len + !last;
        if (len && from[len - 1] == '\r')
            len--;
        t->line++;
        memmove(to, from, len);
        to += len;
        t->rest = last ? NULL : next;
        if (last || to == line || to[-1] != '\\') {
            *to = '\0';
            return line;
        }
        *to = '\0';
        first += strspn(first, " \t\r\v\f");
        if (*first == '#')
            return line;
        to[-1] = ' ';
        from = next;
    }
}

/* True for "include other.conf". False for "include = x", an ordinary name. */
static bool is_include(const char *line)
{
    const size_t len = strlen("include");

    if (strncmp(line, "include", len) != 0 || !isspace((unsigned char)line[len]))
        return false;
    line += len;
    return line[strspn(line, " \t")] != '=';
}

static const char *const bad_quotes =
    "a quoted value must end with the same quote, and the line with it";

static const char *split(char *line, struct px_param_line *out)
{
    char *equals = strchr(line, '=');

    if (is_include(line)) {
        out->include = line + strlen("include");
        if (!take_value(&out->include))
            return bad_quotes;
        return *out->include ? NULL : "expected the name of a file after include";
    }
    if (*line == '[')
        return "expected name = value: sections are not supported";
    if (!equals)
        return "expected name = value";
    *equals = '\0';
    out->name = px_str_trim(line);
    out->value = equals + 1;
    if (!take_value(&out->value))
        return bad_quotes;
    return px_param_is_name(out->name) ? NULL
                                       : "a name has letters, digits and _ - . only";
}

bool px_param_next_line(struct px_param_text *t, struct px_param_line *out)
{
    while (t->rest) {
        *out = (struct px_param_line){0};
        char *line = px_str_trim(next_line(t, &out->number));
        if (*line == '\0' || *line == '#')
            continue;
        px_str_copy(out->shown, sizeof(out->shown), line);
        out->wrong = split(line, out);
        return true;
    }
    return false;
}
