/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbered names in short: "n[0-9,20-29].x". */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_MAX_NAME = 63,       /* bytes */
    SIM_MAX_RANGES = 32,     /* of one text */
    SIM_MAX_NAMES = 1 << 20, /* of one text */
};

/* One name, or names with numbers in brackets. */
struct sim_names {
    char prefix[SIM_MAX_NAME + 1], suffix[SIM_MAX_NAME + 1];
    struct {
        uint32_t first, last;
    } ranges[SIM_MAX_RANGES];
    uint32_t n_ranges; /* 0: the text has no brackets */
    uint32_t width; /* digits of each number, if the first one begins with 0; else 0 */
    uint32_t count; /* names */
};

/* Reads a text of at most SIM_MAX_NAME bytes; false if its syntax is wrong. */
bool sim_names_parse(const char *text, struct sim_names *out);
/* Writes name number i, which is less than count. */
void sim_names_put(const struct sim_names *names, uint32_t i,
                   char out[SIM_MAX_NAME + 1]);
/* Finds the number of a name; false if it is not among the names. */
bool sim_names_find(const struct sim_names *names, const char *name, uint32_t *i);

#endif
