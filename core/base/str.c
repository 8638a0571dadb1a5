/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings. Nothing here depends on the locale: protocols and parameter files mean the
 * same everywhere. */
#include "core/base/str.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DISTANCE_MAX = 64 };

bool px_str_copy(char *dst, size_t size, const char *src)
{
    if (size == 0)
        return false;

    size_t len = src ? strnlen(src, size) : 0;
    bool fits = len < size;
    if (!fits)
        len = size - 1;
    if (len)
        memcpy(dst, src, len);
    dst[len] = '\0';
    return fits;
}

/* Formats like vsnprintf, with a fast path for formats that use only %s. Such formats
 * build hundreds of names and paths at startup, and printf takes ten times as long. */
static size_t put(char *to, size_t size, const char *fmt, va_list args)
{
    size_t len = 0;

    for (const char *at = strchr(fmt, '%'); at; at = strchr(at + 2, '%'))
        if (at[1] != 's')
            return (size_t)vsnprintf(to, size, fmt, args);
    while (*fmt) {
        const char *string = *fmt == '%' ? va_arg(args, const char *) : NULL;
        const char *from = *fmt != '%' ? fmt : string ? string : "(null)";
        const size_t n = *fmt != '%' ? strcspn(fmt, "%") : strlen(from);

        if (to)
            memcpy(to + len, from, n);
        len += n;
        fmt += *fmt != '%' ? n : 2;
    }
    if (to)
        to[len] = '\0';
    return len;
}

/* Formats twice instead of using vasprintf, whose allocations and error handling
 * vary. */
char *px_strf(const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    size_t len = put(NULL, 0, fmt, args);
    char *text = len < INT_MAX ? malloc(len + 1) : NULL;
    if (text)
        put(text, len + 1, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

bool px_str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Returns 0 to 15, or 16 if c is not a digit of any base. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

/* Parses digits only, at least one, up to the end of s. strtoull accepts more. */
static bool parse_digits(const char *s, uint64_t *out)
{
    unsigned base = 10;
    uint64_t value = 0;

    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
    }
    if (*s == '\0')
        return false;
    for (; *s; s++) {
        unsigned digit = digit_value(*s);

        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

bool px_str_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
    uint64_t value;

    if (!s || !parse_digits(s, &value) || value < min || value > max)
        return false;
    *out = value;
    return true;
}

bool px_str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out)
{
    bool negative = s && s[0] == '-';
    uint64_t size;

    if (!s || !parse_digits(s + negative, &size))
        return false;
    if (size > (uint64_t)INT64_MAX + negative)
        return false;
    /* -(size - 1) - 1, because INT64_MIN cannot be written as a negated int64_t. */
    int64_t value = negative && size ? -(int64_t)(size - 1) - 1 : (int64_t)size;
    if (value < min || value > max)
        return false;
    *out = value;
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

char *px_str_trim(char *s)
{
    while (is_space(*s))
        s++;

    size_t len = strlen(s);
    while (len && is_space(s[len - 1]))
        len--;
    s[len] = '\0';
    return s;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Computes the optimal string alignment distance with three rows of the table. Edits
 * need the row above, transpositions the row above that. */
size_t px_str_distance(const char *a, const char *b)
{
    size_t rows[3][DISTANCE_MAX + 1];
    size_t len_a = strnlen(a, DISTANCE_MAX + 1);
    size_t len_b = strnlen(b, DISTANCE_MAX + 1);

    if (len_a > DISTANCE_MAX || len_b > DISTANCE_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= len_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= len_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        const size_t *above2 = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= len_b; j++) {
            size_t replace = above[j - 1] + (a[i - 1] != b[j - 1]);

            row[j] = least(replace, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[len_a % 3][len_b];
}
