/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank runs on which node: parsed from what hosts pass, and made from lists.
 * Immutable once built. wire.md's "regex" forms are the field's own. */
#ifndef PX_MODEL_PROCMAP_H
#define PX_MODEL_PROCMAP_H

#include "core/base/err.h"

#include <stdint.h>

#define PX_MAX_NODES     1048576u
#define PX_MAX_RANKS     16777216u
#define PX_MAX_NODE_NAME 255u

struct px_procmap {
    uint32_t n_nodes, n_ranks; /* n_ranks: highest rank + 1 */
    char **nodes;
    uint32_t *first;    /* n_nodes + 1: index into ranks of each node's first */
    uint32_t *ranks;    /* by node, in the order given */
    uint32_t *node_of;  /* by rank; UINT32_MAX: nowhere */
    uint16_t *local_of; /* by rank: local rank on its node */
};

/* Either argument NULL or "" is an empty list. Accepts pmix[...], raw:..., and plain
 * lists (comma between names; ';' between nodes, ',' and a-b within).
 * PMIX_ERR_BAD_PARAM on syntax, on a rank named twice, or on more rank fields than
 * nodes; PMIX_ERR_OUT_OF_RESOURCE beyond the limits above. */
pmix_status_t px_procmap_create(const char *nodes, const char *ranks,
                                struct px_procmap **map, struct px_err *err);
void px_procmap_destroy(struct px_procmap *map); /* NULL is fine */
/* "0,1,5" of the ranks on a node; malloc'd. */
char *px_procmap_peers(const struct px_procmap *map, uint32_t node);

/* The list form to the compact form; malloc'd. As PMIx_generate_regex and _ppn. */
pmix_status_t px_map_pack_nodes(const char *list, char **out);
pmix_status_t px_map_pack_ranks(const char *list, char **out);
/* Node names of any of the accepted forms, in order; NULL for none. */
pmix_status_t px_map_expand_nodes(const char *text, char ***names, struct px_err *err);
/* A map in n bytes, as in a PMIX_REGEX value, as text for the functions above. Only
 * here can the "blob:" form be read: it holds NULs, so that its length has to be
 * known. */
pmix_status_t px_map_text(const void *bytes, size_t n, char **text, struct px_err *err);
/* The list of a PMIX_REGEX2 value, malloc'd: PMIX_ERR_BAD_PARAM if it is damaged,
 * PMIX_ERR_NOT_SUPPORTED if its type is not known. */
pmix_status_t px_regex2_text(const pmix_regex2_t *regex, char **text,
                             struct px_err *err);

#endif
