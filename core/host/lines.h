/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of one output stream, cut where lines end: what several processes write
 * goes to one place, and no line may be torn by another's. No I/O here;
 * embedded_output.c does that. */
#ifndef PX_HOST_LINES_H
#define PX_HOST_LINES_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>
#include <stdint.h>

/* A longer line goes on in pieces, between which lines of others may come. */
#define PX_LINE_MAX_B 65536u

typedef struct px_lines {
    uint8_t *bytes; /* PX_LINE_MAX_B of them; pages nobody writes to cost nothing */
    size_t len;
    size_t ready; /* the first so many bytes may go on */
} px_lines;

pmix_status_t px_lines_init(px_lines *l);
void px_lines_cleanup(px_lines *l);
/* How many bytes may be put at *to; 0: first something has to be taken. */
size_t px_lines_room(const px_lines *l, uint8_t **to);
void px_lines_added(px_lines *l, size_t n);
/* Nothing more will come: what is left goes on, newline or not. */
void px_lines_end(px_lines *l);
/* n of the ready bytes have gone on. */
void px_lines_taken(px_lines *l, size_t n);

#endif
