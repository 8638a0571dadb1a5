/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank runs on which node: parsed from what hosts pass, and made from lists, into
 * one block of bytes that processes can share. Regular layouts and numbered names take
 * some hundred bytes, others 12 for each stretch of consecutive ranks. Immutable once
 * built. wire.md's "regex" forms are the field's own. */
#ifndef PX_MODEL_PROCMAP_H
#define PX_MODEL_PROCMAP_H

#include "core/base/err.h"

#include <stdint.h>

#define PX_MAX_NODES     1048576u
#define PX_MAX_RANKS     16777216u
#define PX_MAX_NODE_NAME 255u

enum px_procmap_part_id {
    PX_MAP_GROUPS,  /* of names, in order */
    PX_MAP_ORDER,   /* of groups, by hash and number */
    PX_MAP_COUNTS,  /* of ranks: nodes that have equally many */
    PX_MAP_PIECES,  /* of the order of ranks, for regular layouts; else: */
    PX_MAP_RUNS,    /* of consecutive ranks, in order */
    PX_MAP_BY_RANK, /* runs by rank */
    PX_MAP_TEXT,    /* of names */
    PX_MAP_N_PARTS
};

struct px_procmap {
    uint32_t n_nodes, n_rows;   /* rows: nodes of the map first, then others */
    uint32_t n_ranks, n_mapped; /* highest rank + 1; ranks that have a node */
    uint32_t depth;             /* private from here on */
    struct px_procmap_part {
        const uint8_t *at;
        uint32_t n, size;
    } parts[PX_MAP_N_PARTS];
    const uint8_t *bytes;
    size_t n_bytes;
    uint8_t own[];
};

/* Either argument NULL or "" is an empty list. Accepts pmix[...], raw:..., and plain
 * lists (comma between names; ';' between nodes, ',' and a-b within).
 * PMIX_ERR_BAD_PARAM on syntax, on a rank named twice, or on more rank fields than
 * nodes; PMIX_ERR_OUT_OF_RESOURCE beyond the limits above. */
pmix_status_t px_procmap_create(const char *nodes, const char *ranks,
                                struct px_procmap **map, struct px_err *err);
/* A copy of old, which may be NULL, with more rows: nodes that no rank is on, with a
 * name each or NULL. */
pmix_status_t px_procmap_extend(const struct px_procmap *old, char *const *names,
                                size_t n, struct px_procmap **out);
void px_procmap_destroy(struct px_procmap *map); /* NULL is fine */
/* The block, which lives as long as the map does. */
const void *px_procmap_bytes(const struct px_procmap *map, size_t *n);
/* A map in n bytes of a block, which outlive it and may change meanwhile: each access
 * checks them, and nonsense is not there. PMIX_ERR_BAD_PARAM: they are no block. */
pmix_status_t px_procmap_borrow(const void *bytes, size_t n, struct px_procmap **map);

/* Length of the name; 0, and "", if the row has none, or is none. */
size_t px_procmap_name(const struct px_procmap *map, uint32_t row,
                       char name[PX_MAX_NODE_NAME + 1]);
/* The first row of that name; UINT32_MAX: none. */
uint32_t px_procmap_find(const struct px_procmap *map, const char *name);
/* The same as "n1" and "n1.cluster" are one host: see px_same_host. */
uint32_t px_procmap_find_host(const struct px_procmap *map, const char *name);
/* All names of nodes with commas between them; malloc'd. *len, if not NULL, is their
 * length. */
char *px_procmap_names(const struct px_procmap *map, size_t *len);
bool px_procmap_same_nodes(const struct px_procmap *a, const struct px_procmap *b);

/* UINT32_MAX: nowhere. *local, if not NULL, is the rank's place among those of the
 * node. */
uint32_t px_procmap_node_of(const struct px_procmap *map, uint32_t rank,
                            uint16_t *local);
/* How many ranks the node has. */
uint32_t px_procmap_size(const struct px_procmap *map, uint32_t node);
/* *first is the rank at a place on a node; returns how many consecutive ones begin
 * there. 0: none. */
uint32_t px_procmap_run(const struct px_procmap *map, uint32_t node, uint32_t local,
                        uint32_t *first);
/* The lowest rank on a node; UINT32_MAX: none. */
uint32_t px_procmap_lowest(const struct px_procmap *map, uint32_t node);
/* "0,1,5" of the ranks on a node; malloc'd. */
char *px_procmap_peers(const struct px_procmap *map, uint32_t node);

/* The list form to the compact form; malloc'd. As PMIx_generate_regex and _ppn. */
pmix_status_t px_procmap_pack_nodes(const char *list, char **out);
pmix_status_t px_procmap_pack_ranks(const char *list, char **out);
/* A map in n bytes, as in a PMIX_REGEX value, as text for the functions above. Only
 * here can the "blob:" form be read: it holds NULs, so that its length has to be
 * known. */
pmix_status_t px_procmap_text(const void *bytes, size_t n, char **text,
                              struct px_err *err);
/* The list of a PMIX_REGEX2 value, malloc'd: PMIX_ERR_BAD_PARAM if it is damaged,
 * PMIX_ERR_NOT_SUPPORTED if its type is not known. */
pmix_status_t px_regex2_text(const pmix_regex2_t *regex, char **text,
                             struct px_err *err);
/* The same of a value in any of these forms. PMIX_ERR_BAD_PARAM: it is none. */
pmix_status_t px_procmap_of_value(const pmix_value_t *value, char **text,
                                  struct px_err *err);

#endif
