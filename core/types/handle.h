/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles behind pmix_cpuset_t and pmix_topology_t, which only their source
 * understands. hwloc's are handled here; of any other source a handle is just an
 * address. Stateless; any thread. `store` is PX_CPUSET or PX_TOPO everywhere. */
#ifndef PX_TYPES_HANDLE_H
#define PX_TYPES_HANDLE_H

#include "core/types/type.h"

/* Both types have this shape. */
struct px_opaque {
    char *source;
    void *handle;
};

struct px_opaque px_load_opaque(const void *obj);

/* Whether source names hwloc, of whatever version; NULL does not. */
bool px_source_is_hwloc(const char *source);

/* These take handles of hwloc only and answer PMIX_ERR_NOT_SUPPORTED to any other, and
 * where hwloc is not installed. A NULL handle is PMIX_ERR_BAD_PARAM. */
pmix_status_t px_handle_dup(enum px_store store, const struct px_opaque *o,
                            void **copy);
/* The wire form, malloc'd: a list ("0-3,8") or XML. */
pmix_status_t px_handle_text(enum px_store store, const struct px_opaque *o,
                             char **text);

/* A handle that is not hwloc's, or a topology that belongs to this process
 * (px_topo_mark), is left alone. */
void px_handle_free(enum px_store store, const struct px_opaque *o);
/* By content if both are hwloc's, else by address. */
int px_handle_compare(enum px_store store, const struct px_opaque *a,
                      const struct px_opaque *b);

/* Text to handle. PMIX_ERR_BAD_PARAM if it is no such text or asks for too much,
 * PMIX_ERR_NOMEM, PMIX_ERR_NOT_SUPPORTED without hwloc.
 *
 * A list is checked here before hwloc sees it, so it may come from any process. XML may
 * not: hwloc takes its structure at its word (a tree that contradicts itself ends in an
 * assertion), so the caller may give only text of a source that is trusted to end this
 * process anyway: its server or its own user. Text that costs nothing to refuse is
 * refused: entities, and more than PX_MAX_TOPO_B. */
pmix_status_t px_handle_parse(enum px_store store, const char *text, void **handle);
#define PX_MAX_TOPO_B (16u * 1024u * 1024u)
#define PX_MAX_CPU    (1u << 16) /* number of the last CPU that a list can name */

/* Takes "a", "a-b" or, to no end, "a-" (*last is UINT32_MAX then) from a list of CPUs,
 * and the comma behind it. False if it does not begin with one. */
bool px_cpus_take(const char **list, uint32_t *first, uint32_t *last);
/* Whether the whole text is such a list, within PX_MAX_CPU; "" is. */
bool px_cpus_valid(const char *list);

/* Marks a topology as this process's own, which users are lent: nothing that destructs
 * what they hold destroys it. false takes the mark away. */
void px_topo_mark(void *topology, bool shared);
/* A record of what hwloc can do with a topology travels beside the XML, as the bytes of
 * three of hwloc's structures. The bytes are as many as px_topo_support_size says;
 * PX_TOPO_SUPPORT_MAX are room enough. False without hwloc. */
enum { PX_TOPO_SUPPORT_MAX = 128 };
size_t px_topo_support_size(void);
bool px_topo_support(void *topology, uint8_t *get,
                     const uint8_t *set); /* either may be NULL */

#endif
