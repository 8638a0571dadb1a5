/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Reads a number; returns the end, or NULL if the number is missing or too large. */
static const char *take_number(const char *at, uint32_t *out)
{
    const char *begin = at;
    uint64_t value = 0;

    for (; isdigit((unsigned char)*at) && value <= UINT32_MAX; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *out = (uint32_t)value;
    return at > begin && value <= UINT32_MAX ? at : NULL;
}

/* Reads "a" or "a-b"; returns its end, or NULL if the syntax is wrong. */
static const char *take_range(const char *at, uint32_t *first, uint32_t *last)
{
    at = take_number(at, first);
    *last = *first;
    if (at && *at == '-')
        at = take_number(at + 1, last);
    return at && *last >= *first ? at : NULL;
}

/* Reads "a-b,c]" with ascending numbers; returns the text after the bracket, or
 * NULL. */
static const char *take_ranges(const char *at, struct sim_names *names)
{
    do {
        const char *digits = at;
        uint32_t first, last;

        at = take_range(at, &first, &last);
        if (!at || names->n_ranges == SIM_MAX_RANGES ||
            (names->n_ranges > 0 && first <= names->ranges[names->n_ranges - 1].last) ||
            last - first >= SIM_MAX_NAMES - names->count)
            return NULL;
        if (names->n_ranges == 0 && *digits == '0')
            names->width = (uint32_t)strspn(digits, "0123456789");
        names->ranges[names->n_ranges].first = first;
        names->ranges[names->n_ranges++].last = last;
        names->count += last - first + 1;
    } while (*at++ == ',');
    return at[-1] == ']' ? at : NULL;
}

bool sim_names_parse(const char *text, struct sim_names *out)
{
    const size_t before = strcspn(text, "[");

    *out = (struct sim_names){.count = !text[before]};
    memcpy(out->prefix, text, before);
    if (!text[before])
        return !strchr(text, ']');
    const char *after = take_ranges(text + before + 1, out);
    if (!after || strpbrk(after, "[]") || isdigit((unsigned char)after[0]))
        return false;
    snprintf(out->suffix, sizeof(out->suffix), "%s", after);
    return before + strlen(after) + (out->width > 10 ? out->width : 10) <= SIM_MAX_NAME;
}

/* Copies a text with its end; returns the address of the end. */
static char *append(char *at, const char *text)
{
    const size_t len = strlen(text);

    memcpy(at, text, len + 1);
    return at + len;
}

void sim_names_put(const struct sim_names *names, uint32_t i,
                   char out[SIM_MAX_NAME + 1])
{
    char number[SIM_MAX_NAME + 1];
    uint32_t r = 0;

    out = append(out, names->prefix);
    if (names->n_ranges == 0)
        return;
    for (; i > names->ranges[r].last - names->ranges[r].first; r++)
        i -= names->ranges[r].last - names->ranges[r].first + 1;
    snprintf(number, sizeof(number), "%0*u", (int)names->width,
             names->ranges[r].first + i);
    append(append(out, number), names->suffix); /* sim_names_parse limits the length */
}

bool sim_names_find(const struct sim_names *names, const char *name, uint32_t *i)
{
    const size_t before = strlen(names->prefix);
    char again[SIM_MAX_NAME + 1];
    uint32_t number, skipped = 0;

    *i = 0;
    if (names->n_ranges == 0)
        return strcmp(name, names->prefix) == 0;
    if (strncmp(name, names->prefix, before) != 0 ||
        !take_number(name + before, &number))
        return false;
    for (uint32_t r = 0; r < names->n_ranges; r++) {
        if (number >= names->ranges[r].first && number <= names->ranges[r].last) {
            *i = skipped + number - names->ranges[r].first;
            sim_names_put(names, *i, again);
            return strcmp(name, again) == 0;
        }
        skipped += names->ranges[r].last - names->ranges[r].first + 1;
    }
    return false;
}
