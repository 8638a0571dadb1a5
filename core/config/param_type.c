/* SPDX-License-Identifier: BSD-3-Clause */
/* Text to value, for every kind of parameter, and what to tell whoever wrote another
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

size_t px_param_size(enum px_param_kind kind)
{
    switch (kind) {
    case PX_PARAM_KIND_BOOL:
        return sizeof(bool);
    case PX_PARAM_KIND_INT:
    case PX_PARAM_KIND_ENUM:
        return sizeof(int64_t);
    case PX_PARAM_KIND_SIZE:
    case PX_PARAM_KIND_DURATION:
        return sizeof(uint64_t);
    case PX_PARAM_KIND_UINT:
        return sizeof(uint64_t);
    case PX_PARAM_KIND_STRING:
    case PX_PARAM_KIND_PATH:
        return sizeof(const char *);
    case PX_PARAM_KIND_LIST:
        return sizeof(const char *const *);
    case PX_PARAM_KIND_VERSION:
        return sizeof(struct px_param_version);
    case PX_PARAM_KIND_END:
        break;
    }
    return 0;
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

/* Decimal digits with one of units behind them, white space between them allowed. */
static bool from_quantity(const struct px_param *param, const struct unit *units,
                          const char *text, uint64_t *out)
{
    char digits[24];
    uint64_t n;
    size_t len = strspn(text, "0123456789");

    if (len == 0 || len >= sizeof(digits))
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    text += len + strspn(text + len, " \t");
    while (units->name && strcasecmp(units->name, text) != 0)
        units++;
    if (!units->name || !px_str_to_u64(digits, 0, UINT64_MAX / units->factor, &n))
        return false;
    n *= units->factor;
    if (n > INT64_MAX || (int64_t)n < param->min || (int64_t)n > param->max)
        return false;
    *out = n;
    return true;
}

/* One to three numbers with dots between them; those that are missing are 0. */
static bool from_version(const char *text, struct px_param_version *out)
{
    uint16_t parts[3] = {0};

    for (size_t i = 0; i < PX_COUNT(parts); i++) {
        size_t len = strspn(text, "0123456789");
        char digits[8];
        uint64_t n;

        if (len == 0 || len >= sizeof(digits))
            return false;
        memcpy(digits, text, len);
        digits[len] = '\0';
        if (!px_str_to_u64(digits, 0, UINT16_MAX, &n))
            return false;
        parts[i] = (uint16_t)n;
        text += len;
        if (*text == '\0') {
            *out = (struct px_param_version){parts[0], parts[1], parts[2]};
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

static void list_names(const struct px_param_name *names, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "one of");

    for (; names && names->name && len < size; names++)
        len += (size_t)snprintf(text + len, size - len, " %s%s", names->name,
                                names[1].name ? "," : "");
}

void px_param_expected(const struct px_param *param, char *text, size_t size)
{
    switch (param->kind) {
    case PX_PARAM_KIND_BOOL:
        snprintf(text, size, "true or false (or yes, no, on, off, 1, 0)");
        break;
    case PX_PARAM_KIND_INT:
        snprintf(text, size, "an integer from %" PRId64 " to %" PRId64, param->min,
                 param->max);
        break;
    case PX_PARAM_KIND_SIZE:
        snprintf(text, size,
                 "a size such as 64K, 1M or 2G, from %" PRId64 " to %" PRId64 " bytes",
                 param->min, param->max);
        break;
    case PX_PARAM_KIND_DURATION:
        snprintf(text, size,
                 "a duration such as 250ms, 5s, 2m or 1h, from %" PRId64 " to %" PRId64
                 " ms",
                 param->min, param->max);
        break;
    case PX_PARAM_KIND_ENUM:
        list_names(param->names, text, size);
        break;
    case PX_PARAM_KIND_UINT:
        snprintf(text, size, "an integer from %" PRId64 " to %" PRId64, param->min,
                 param->max);
        break;
    case PX_PARAM_KIND_PATH:
        snprintf(text, size, "an absolute path");
        break;
    case PX_PARAM_KIND_VERSION:
        snprintf(text, size, "a version such as 1, 1.2 or 1.2.3");
        break;
    case PX_PARAM_KIND_LIST:
        snprintf(text, size, "a list such as a, b, c");
        break;
    case PX_PARAM_KIND_STRING:
    case PX_PARAM_KIND_END:
        snprintf(text, size, "a text");
        break;
    }
}

const char *px_param_kind_name(enum px_param_kind kind)
{
    static const char *const names[] = {
        [PX_PARAM_KIND_END] = "none",        [PX_PARAM_KIND_BOOL] = "bool",
        [PX_PARAM_KIND_INT] = "integer",     [PX_PARAM_KIND_UINT] = "unsigned",
        [PX_PARAM_KIND_SIZE] = "size",       [PX_PARAM_KIND_DURATION] = "duration",
        [PX_PARAM_KIND_ENUM] = "choice",     [PX_PARAM_KIND_STRING] = "text",
        [PX_PARAM_KIND_LIST] = "list",       [PX_PARAM_KIND_PATH] = "path",
        [PX_PARAM_KIND_VERSION] = "version",
    };

    return (size_t)kind < PX_COUNT(names) ? names[kind] : "none";
}
