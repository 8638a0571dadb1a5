/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers such as "0-3,8". Parsing counts the numbers before allocating:
 * twelve characters can denote four billion numbers. */
#include "core/base/ranges.h"

#include <string.h>

static pmix_status_t count(const char *s, const char *end, size_t max, size_t *n)
{
    uint32_t first, last;
    uint64_t total = 0;

    while (s < end) {
        if (!px_ranges_next(&s, end, &first, &last))
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
    const char *end = s + strlen(s);
    pmix_status_t rc = count(s, end, max > *n ? max - *n : 0, &more);
    if (rc || more == 0)
        return rc;
    uint32_t *v = reallocarray(*out, *n + more, sizeof(*v));
    if (!v)
        return PMIX_ERR_NOMEM;

    *out = v;
    while (px_ranges_next(&s, end, &first, &last)) {
        for (uint64_t x = first; x <= last; x++)
            v[(*n)++] = (uint32_t)x;
    }
    return PMIX_SUCCESS;
}

char *px_number_put(char *out, uint32_t number)
{
    char digits[10];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n > 0)
        *out++ = digits[--n];
    return out;
}

char *px_range_put(char *out, uint32_t first, uint32_t last)
{
    out = px_number_put(out, first);
    if (first < last)
        *out++ = '-';
    return first < last ? px_number_put(out, last) : out;
}

char *px_ranges_format(const uint32_t *v, size_t n)
{
    char *text = malloc(n * sizeof(",4294967295") + 1), *at = text;

    for (size_t i = 0, end; text && i < n; i = end) {
        for (end = i + 1; end < n && v[end] == (uint64_t)v[end - 1] + 1;)
            end++;
        if (i > 0)
            *at++ = ',';
        at = px_range_put(at, v[i], v[end - 1]);
    }
    if (text)
        *at = '\0';
    return text;
}
