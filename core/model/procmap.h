/* SPDX-License-Identifier: BSD-3-Clause */
/* Map of ranks to nodes, parsed from hosts' text or lists. The map is one block of
 * bytes that processes can share. Regular layouts and numbered names take about a
 * hundred bytes, others 12 for each run of consecutive ranks. Immutable after creation.
 * wire.md describes the "regex" forms of other implementations. */
#ifndef PX_MODEL_PROCMAP_H
#define PX_MODEL_PROCMAP_H

#include "core/base/err.h"

#include <stdint.h>

#define PX_MAX_NODES     1048576u
#define PX_MAX_RANKS     16777216u
#define PX_MAX_NODE_NAME 255u

enum px_procmap_part_id {
    PX_MAP_GROUPS,  /* groups of names, in order */
    PX_MAP_ORDER,   /* groups sorted by hash and number */
    PX_MAP_COUNTS,  /* ranges of nodes with the same number of ranks */
    PX_MAP_PIECES,  /* order of ranks in regular layouts, otherwise runs */
    PX_MAP_RUNS,    /* consecutive ranks, in order of nodes */
    PX_MAP_BY_RANK, /* runs sorted by rank */
    PX_MAP_TEXT,    /* bytes of names */
    PX_MAP_N_PARTS
};

struct px_procmap {
    uint32_t n_nodes, n_rows;   /* rows: the map's nodes, then additional nodes */
    uint32_t n_ranks, n_mapped; /* highest rank + 1; number of ranks with a node */
    uint32_t depth;             /* private from here on */
    struct px_procmap_part {
        const uint8_t *at;
        uint32_t n, size;
    } parts[PX_MAP_N_PARTS];
    const uint8_t *bytes;
    size_t n_bytes;
    uint8_t own[];
};

/* Parses a map. NULL or "" is an empty list. Accepts pmix[...], raw:..., and plain
 * lists (commas between names; ';' between nodes, ',' and a-b inside a node). Returns
 * PMIX_ERR_BAD_PARAM on a syntax error, a repeated rank, or more rank fields than
 * nodes. Returns PMIX_ERR_OUT_OF_RESOURCE beyond the limits above. */
pmix_status_t px_procmap_create(const char *nodes, const char *ranks,
                                struct px_procmap **map, struct px_err *err);
/* Copies old (may be NULL) and adds rows: nodes without ranks, each with a name or
 * NULL. */
pmix_status_t px_procmap_extend(const struct px_procmap *old, char *const *names,
                                size_t n, struct px_procmap **out);
void px_procmap_destroy(struct px_procmap *map); /* map may be NULL */
/* Returns the block, which lives as long as the map. */
const void *px_procmap_bytes(const struct px_procmap *map, size_t *n);
/* Converts a block from a machine of the other byte order, in place. */
void px_procmap_take_order(void *bytes, size_t n);
/* Opens a map in a block of n bytes, which must outlive the map. The bytes may change
 * meanwhile: each access checks them and ignores invalid records. Returns
 * PMIX_ERR_BAD_PARAM if the bytes are not a block. */
pmix_status_t px_procmap_borrow(const void *bytes, size_t n, struct px_procmap **map);

/* Returns the length of the name; 0 and "" if the row has none or does not exist. */
size_t px_procmap_name(const struct px_procmap *map, uint32_t row,
                       char name[PX_MAX_NODE_NAME + 1]);
/* Returns the first row with that name; UINT32_MAX if there is none. */
uint32_t px_procmap_find(const struct px_procmap *map, const char *name);
/* Finds a row by host name; "n1" and "n1.cluster" match, see px_same_host. */
uint32_t px_procmap_find_host(const struct px_procmap *map, const char *name);
/* Returns the nodes' names, separated by commas; malloc'd. *len (unless NULL) is their
 * length. */
char *px_procmap_names(const struct px_procmap *map, size_t *len);
bool px_procmap_same_nodes(const struct px_procmap *a, const struct px_procmap *b);

/* Returns the node of a rank; UINT32_MAX if there is none. *local (unless NULL) is the
 * rank's position among the node's ranks. */
uint32_t px_procmap_node_of(const struct px_procmap *map, uint32_t rank,
                            uint16_t *local);
/* Returns the number of ranks on a node. */
uint32_t px_procmap_size(const struct px_procmap *map, uint32_t node);
/* Finds the rank at a position on a node. Returns the number of consecutive ranks that
 * begin there, 0 if there is none. */
uint32_t px_procmap_run(const struct px_procmap *map, uint32_t node, uint32_t local,
                        uint32_t *first);
/* Returns the lowest rank on a node; UINT32_MAX if there is none. */
uint32_t px_procmap_lowest(const struct px_procmap *map, uint32_t node);
/* Returns the ranks on a node as "0,1,5"; malloc'd. */
char *px_procmap_peers(const struct px_procmap *map, uint32_t node);
/* Returns the ranks of all nodes as "0,1;2,3"; malloc'd. */
char *px_procmap_all_peers(const struct px_procmap *map);
/* Returns the map in the notation of PMI-1: "(vector,(0,2,4),(0,1,2))"; malloc'd. Each
 * piece has the first node, the number of nodes, and the ranks on each of them. The map
 * has a node for each rank. */
char *px_procmap_vector(const struct px_procmap *map);

/* Convert lists to the compact form; malloc'd. Used by PMIx_generate_regex and
 * PMIx_generate_ppn. */
pmix_status_t px_procmap_pack_nodes(const char *list, char **out);
pmix_status_t px_procmap_pack_ranks(const char *list, char **out);
/* Converts a map of n bytes, for example a PMIX_REGEX value, to text for the functions
 * above. The "blob:" form contains NULs, so only this function reads it. */
pmix_status_t px_procmap_text(const void *bytes, size_t n, char **text,
                              struct px_err *err);
/* Returns the list of a PMIX_REGEX2 value, malloc'd. Returns PMIX_ERR_BAD_PARAM for
 * damaged data, PMIX_ERR_NOT_SUPPORTED for an unknown type. */
pmix_status_t px_regex2_text(const pmix_regex2_t *regex, char **text,
                             struct px_err *err);
/* Returns the list of a value in any of these forms. Returns PMIX_ERR_BAD_PARAM for
 * other values. */
pmix_status_t px_procmap_of_value(const pmix_value_t *value, char **text,
                                  struct px_err *err);

#endif
