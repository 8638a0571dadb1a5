/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion of text to values for every kind of parameter, and messages about invalid
 * text. */
#include "core/config/param_impl.h"

#include "core/base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},
    {"K", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {NULL, 0},
};

static const struct unit duration_units[] = {
    {"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}, {NULL, 0},
};

static const struct px_param_name bool_names[] = {
    {"true", 1}, {"yes", 1}, {"on", 1}, {"1", 1},  {"false", 0},
    {"no", 0},   {"off", 0}, {"0", 0},  {NULL, 0},
};

/* The kinds. expected is a format for the minimum and maximum, or plain text. */
static const struct {
    const char *name;
    size_t size;
    const char *expected;
} kinds[] = {
    [PX_PARAM_KIND_END] = {"none", 0, "a text"},
    [PX_PARAM_KIND_BOOL] = {"bool", sizeof(bool),
                            "true or false (or yes, no, on, off, 1, 0)"},
    [PX_PARAM_KIND_INT] = {"integer", sizeof(int64_t),
                           "an integer from %" PRId64 " to %" PRId64},
    [PX_PARAM_KIND_SIZE] = {"size", sizeof(uint64_t),
                            "a size such as 64K, 1M or 2G, from %" PRId64 " to %" PRId64
                            " bytes"},
    [PX_PARAM_KIND_DURATION] = {"duration", sizeof(uint64_t),
                                "a duration such as 250ms, 5s, 2m or 1h, from %" PRId64
                                " to %" PRId64 " ms"},
    [PX_PARAM_KIND_ENUM] = {"choice", sizeof(int64_t), "one of"},
    [PX_PARAM_KIND_STRING] = {"text", sizeof(const char *), "a text"},
    [PX_PARAM_KIND_UINT] = {"unsigned", sizeof(uint64_t),
                            "an integer from %" PRId64 " to %" PRId64},
    [PX_PARAM_KIND_LIST] = {"list", sizeof(const char *const *),
                            "a list such as a, b, c"},
    [PX_PARAM_KIND_PATH] = {"path", sizeof(const char *), "an absolute path"},
    [PX_PARAM_KIND_VERSION] = {"version", sizeof(struct px_param_version),
                               "a version such as 1, 1.2 or 1.2.3"},
};

/* Returns the row of kind. Components may use kinds of later headers. */
static size_t row_of(enum px_param_kind kind)
{
    return (size_t)kind < PX_COUNT(kinds) ? (size_t)kind : PX_PARAM_KIND_END;
}

size_t px_param_size(enum px_param_kind kind)
{
    return kinds[row_of(kind)].size;
}

const char *px_param_kind_name(enum px_param_kind kind)
{
    return kinds[row_of(kind)].name;
}

static bool from_name(const struct px_param_name *names, const char *text, int64_t *out)
{
    for (; names && names->name; names++) {
        if (strcasecmp(names->name, text) == 0) {
            *out = names->value;
            return true;
        }
    }
    return false;
}

/* Parses decimal digits, and moves *text behind them. */
static bool take_number(const char **text, uint64_t most, uint64_t *out)
{
    char digits[24];
    size_t len = strspn(*text, "0123456789");

    if (len == 0 || len >= sizeof(digits))
        return false;
    memcpy(digits, *text, len);
    digits[len] = '\0';
    *text += len;
    return px_str_to_u64(digits, 0, most, out);
}

/* Parses a number, optional white space and a unit. */
static bool from_quantity(const struct px_param *param, const struct unit *units,
                          const char *text, uint64_t *out)
{
    uint64_t n;

    if (!take_number(&text, INT64_MAX, &n))
        return false;
    text += strspn(text, " \t");
    while (units->name && strcasecmp(units->name, text) != 0)
        units++;
    if (!units->name || n > INT64_MAX / units->factor)
        return false;
    n *= units->factor;
    if ((int64_t)n < param->min || (int64_t)n > param->max)
        return false;
    *out = n;
    return true;
}

/* Parses one to three numbers with dots. Missing numbers are 0. */
static bool from_version(const char *text, struct px_param_version *out)
{
    uint64_t parts[3] = {0};

    for (size_t i = 0; i < PX_COUNT(parts); i++) {
        if (!take_number(&text, UINT16_MAX, &parts[i]))
            return false;
        if (*text == '\0') {
            *out = (struct px_param_version){(uint16_t)parts[0], (uint16_t)parts[1],
                                             (uint16_t)parts[2]};
            return true;
        }
        if (*text++ != '.')
            return false;
    }
    return false;
}

bool px_param_from_text(const struct px_param *param, const char *text, void *member)
{
    int64_t number;

    switch (param->kind) {
    case PX_PARAM_KIND_BOOL:
        if (!from_name(bool_names, text, &number))
            return false;
        *(bool *)member = number != 0;
        return true;
    case PX_PARAM_KIND_INT:
        return px_str_to_i64(text, param->min, param->max, member);
    case PX_PARAM_KIND_SIZE:
        return from_quantity(param, size_units, text, member);
    case PX_PARAM_KIND_DURATION:
        return from_quantity(param, duration_units, text, member);
    case PX_PARAM_KIND_ENUM:
        return from_name(param->names, text, member);
    case PX_PARAM_KIND_UINT:
        return px_str_to_u64(text, (uint64_t)param->min, (uint64_t)param->max, member);
    case PX_PARAM_KIND_PATH:
        if (text[0] != '/')
            return false;
        *(const char **)member = text;
        return true;
    case PX_PARAM_KIND_STRING:
        *(const char **)member = text;
        return true;
    case PX_PARAM_KIND_VERSION:
        return from_version(text, member);
    case PX_PARAM_KIND_LIST:
    case PX_PARAM_KIND_END:
        break;
    }
    return false;
}

void px_param_expected(const struct px_param *param, char *text, size_t size)
{
    const char *expected = kinds[row_of(param->kind)].expected;
    size_t len = (size_t)snprintf(text, size, expected, param->min, param->max);

    for (const struct px_param_name *n = param->names; n && n->name && len < size; n++)
        len += (size_t)snprintf(text + len, size - len, " %s%s", n->name,
                                n[1].name ? "," : "");
}

void px_param_mistake(const struct px_param *param, const char *value, char *text,
                      size_t size)
{
    size_t at = 0;
    const char *why = param->check ? param->check(value, &at) : NULL;
    if (why) {
        snprintf(text, size, "%s, at byte %zu", why, at);
        return;
    }
    size_t len = (size_t)snprintf(text, size, "expected ");
    if (len < size)
        px_param_expected(param, text + len, size - len);
}
