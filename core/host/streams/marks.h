/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of output with a mark before each: when they came, and whose they are. Knows
 * nothing of where they come from or go. */
#ifndef PX_HOST_MARKS_H
#define PX_HOST_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PX_MARK_MAX_B 704u /* no mark is longer */

struct px_marks {
    bool timed;
    char source[PX_MARK_MAX_B - 64]; /* behind the time: "[1,0]<stdout>:" */
};

/* Writes bytes[0..n) to out, each line with its mark, as far as it fits; a rest without
 * a newline is a line, too, and gets one. Returns how much was written; *used is how
 * much of bytes that was. Something is used if room is PX_MARK_MAX_B + n. */
size_t px_marks_apply(const struct px_marks *marks, const uint8_t *bytes, size_t n,
                      size_t *used, uint8_t *out, size_t room);

#endif
