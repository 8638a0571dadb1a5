/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers as "0-3,8". Parsing counts first: twelve characters can ask for four
 * billion numbers, so the cap must be known to hold before anything is allocated. */
#include "core/base/ranges.h"

#include "core/base/buf.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static bool take_number(const char **s, uint32_t *out)
{
    uint64_t value = 0;

    if (**s < '0' || **s > '9')
        return false;
    for (; **s >= '0' && **s <= '9'; (*s)++) {
        value = value * 10 + (uint64_t)(**s - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *out = (uint32_t)value;
    return true;
}

/* Takes "a" or "a-b" and the comma behind it; a comma must have something behind it. */
static bool take_range(const char **s, uint32_t *first, uint32_t *last)
{
    if (!take_number(s, first))
        return false;
    *last = *first;
    if (**s == '-') {
        (*s)++;
        if (!take_number(s, last) || *last < *first)
            return false;
    }
    if (**s == '\0')
        return true;
    return *(*s)++ == ',' && **s != '\0';
}

static pmix_status_t count(const char *s, size_t max, size_t *n)
{
    uint32_t first, last;
    uint64_t total = 0;

    while (*s) {
        if (!take_range(&s, &first, &last))
            return PMIX_ERR_BAD_PARAM;
        total += (uint64_t)last - first + 1;
        if (total > max)
            return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *n = (size_t)total;
    return PMIX_SUCCESS;
}

pmix_status_t px_ranges_parse(const char *s, size_t max, uint32_t **out, size_t *n)
{
    size_t more;
    uint32_t first, last;

    if (!s)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = count(s, max > *n ? max - *n : 0, &more);
    if (rc || more == 0)
        return rc;
    uint32_t *v = reallocarray(*out, *n + more, sizeof(*v));
    if (!v)
        return PMIX_ERR_NOMEM;

    *out = v;
    while (*s && take_range(&s, &first, &last)) {
        for (uint64_t x = first; x <= last; x++)
            v[(*n)++] = (uint32_t)x;
    }
    return PMIX_SUCCESS;
}

char *px_ranges_format(const uint32_t *v, size_t n)
{
    PX_AUTO(px_buf) text = {0};
    size_t end;

    for (size_t i = 0; i < n; i = end) {
        char item[sizeof(",4294967295-4294967295")];
        const char *comma = i ? "," : "";

        for (end = i + 1; end < n && v[end] == (uint64_t)v[end - 1] + 1;)
            end++;
        int len = end - i > 1 ? snprintf(item, sizeof(item), "%s%" PRIu32 "-%" PRIu32,
                                         comma, v[i], v[end - 1])
                              : snprintf(item, sizeof(item), "%s%" PRIu32, comma, v[i]);
        if (px_buf_add(&text, item, (size_t)len))
            return NULL;
    }
    if (px_buf_add(&text, "", 1))
        return NULL;
    return (char *)px_buf_take(&text).data;
}
